"""Where the keyboard focus is in the participant's window when a name is written, something is
skipped, or another window was in front; `test_every_screen` looks at every screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from labapp.tasks.reconstruction.screen.dials import DialPanel
from labapp.ui.participant.window import ParticipantWindow
from tests.helpers.rooms import Room, skip_to
from tests.helpers.studies import write_study
from tests.ui.desk import closed_forms

OpenRoom = Callable[..., Room]
OpenWindow = Callable[[Room], ParticipantWindow]


def tab(window: ParticipantWindow, *, back: bool = False) -> QWidget | None:
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Backtab if back else Qt.Key.Key_Tab)
    return QApplication.focusWidget()


def test_another_window_and_back_never_leaves(
    open_room: OpenRoom, open_window: OpenWindow, qtbot: object
) -> None:
    """Qt gives the focus of a window that comes back to whatever is first, or had it."""
    window = open_window(room := open_room(decoders=closed_forms()))
    skip_to(room, "stage-1")
    other = QWidget()
    other.show()
    left = window.bottom.left
    for prepare in (window._release_focus, left.setFocus, lambda: window.setFocus()):
        window.activateWindow()
        QApplication.processEvents()
        prepare()
        other.activateWindow()
        QApplication.processEvents()
        assert not window.isActiveWindow()
        window.activateWindow()
        QApplication.processEvents()
        assert QApplication.focusWidget() is not left
        before = room.count("trial.ended") + room.count("skip.requested")
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_Return)
        assert room.count("trial.ended") + room.count("skip.requested") == before
    other.close()
    other.deleteLater()


def test_tab_in_a_dials_name_goes_to_its_dial(
    open_room: OpenRoom, open_window: OpenWindow, tmp_path: Path
) -> None:
    study = write_study(tmp_path, "sinelines/gt", labels="editable")
    window = open_window(room := open_room(study, decoders=closed_forms()))
    skip_to(room, "stage-1")
    QApplication.processEvents()
    panel = window.findChild(DialPanel)
    assert panel is not None
    rows = panel.rows
    for number, row in enumerate(rows):
        row.name.edit()
        editor = row.name.editor
        assert isinstance(editor, QLineEdit)
        QTest.keyClick(window.windowHandle(), Qt.Key.Key_A)
        assert tab(window) is row.control
        assert room.count("label.edited") == number + 1
        row.name.edit()
        if number:
            assert tab(window, back=True) is rows[number - 1].control


def test_enter_after_skip_by_the_mouse_skips_no_second_question(
    open_room: OpenRoom, open_window: OpenWindow, tmp_path: Path
) -> None:
    """As published there is no cover over the next question."""
    study = write_study(tmp_path, "sinelines/gt", presentation="as_published")
    window = open_window(room := open_room(study, decoders=closed_forms()))
    skip_to(room, "stage-1")
    QApplication.processEvents()
    left = window.bottom.left
    QTest.mouseClick(left, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert QApplication.focusWidget() is not left
    ended = room.count("trial.ended")
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Return)
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Space)
    assert room.count("trial.ended") == ended
