"""Where the keyboard focus is in the participant's window: Tab reads, and what leaves a question
never has it by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from labapp.clock import FakeClock
from labapp.events.commands import Pause, Resume
from labapp.tasks.reconstruction.screen.dials import DialPanel
from labapp.ui.participant.panels import Question
from labapp.ui.participant.window import ParticipantWindow
from tests.helpers.rooms import Room, skip_to
from tests.helpers.studies import write_study
from tests.ui.desk import closed_forms

OpenRoom = Callable[..., Room]
OpenWindow = Callable[[Room], ParticipantWindow]

STUDIES = (
    "quickstart", "synthetic-crowd", "protopnet-agreement", "prototree-agreement-tree",
    "unmasking-faces",
)  # fmt: skip


def leaving(window: ParticipantWindow) -> list[QWidget]:
    """What skips, declines or leaves."""
    left = [window.bottom.left] if window.bottom.foot.leaves else []
    return [*left, *(q.go for q in window.findChildren(Question) if hasattr(q, "go"))]


def tab(window: ParticipantWindow, *, back: bool = False) -> QWidget | None:
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Backtab if back else Qt.Key.Key_Tab)
    return QApplication.focusWidget()


def stops(window: ParticipantWindow) -> list[QWidget]:
    """All that Tab stops at from nowhere on, once round."""
    window.setFocus()
    order: list[QWidget] = []
    while (widget := tab(window)) is not None and widget not in order and widget is not window:
        order.append(widget)
        assert len(order) < 200
    return order


def place(window: ParticipantWindow, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def reads(before: QRect, after: QRect) -> bool:
    """Whether a stop may follow another one: further right in the row, further down, or at the top
    of a column further right. Not back up, and not back to the left in the same row."""
    middle = after.center().y()
    if before.top() <= middle <= before.bottom():
        return after.center().x() >= before.left()
    return middle > before.bottom() or after.center().x() > before.center().x()


def shown_parts(room: Room) -> Iterator[str]:
    """One part of each kind."""
    kinds: dict[tuple[str, str], str] = {}
    for part in room.runner.machine.parts:
        kinds.setdefault((part.part, str(getattr(part, "task", ""))), part.id)
    for part_id in kinds.values():
        if part_id != room.runner.machine.parts[0].id:
            skip_to(room, part_id)
        QTest.qWait(40)  # until texts have the height that they ask for
        yield part_id


def check(window: ParticipantWindow, where: str) -> None:
    """Focus and Tab order of what is on the screen now."""
    assert QApplication.focusWidget() not in leaving(window), where
    order = stops(window)
    content = [w for w in order if window.stack.isAncestorOf(w)]
    rest = [w for w in order if w not in content]
    assert order == content + rest, where
    expected = [window.bottom.left, window.bottom.right, window.top.help]
    expected.sort(key=lambda button: button in leaving(window))
    assert rest == [w for w in expected if w.isVisible() and w.isEnabled()], where
    screen = window.screen_shown
    turn = [w.focusProxy() or w for w in screen.turn()] if screen is not None else []
    assert [w for w in content if w in turn] == [w for w in turn if w in content], where
    for before, after in pairwise(w for w in content if w not in turn):
        assert reads(place(window, before), place(window, after)), (where, before, after)
    for go in leaving(window):
        if go in order and go is not window.bottom.left:
            assert order.index(go) > 0, where
    # And back the same way.
    window.setFocus()
    back = [tab(window, back=True) for _ in order]
    assert back == order[::-1], where


@pytest.mark.parametrize("study", STUDIES)
def test_tab_reads_and_what_leaves_never_has_the_focus_by_itself(
    open_room: OpenRoom, open_window: OpenWindow, study: str
) -> None:
    window = open_window(room := open_room(study, clock=FakeClock(), decoders=closed_forms()))
    for part_id in shown_parts(room):
        check(window, part_id)
        # A pause, and back; the focus on what leaves does not come back with it.
        if window.bottom.left.isVisible() and window.bottom.foot.leaves:
            window.bottom.left.setFocus(Qt.FocusReason.TabFocusReason)
        room.runner.send(Pause("test"))
        assert QApplication.focusWidget() not in leaving(window), part_id
        room.runner.send(Resume("test"))
        QApplication.processEvents()
        assert QApplication.focusWidget() not in leaving(window), part_id
        # What has the focus is hidden, or switched off: Qt asks for the next one.
        for change in (QWidget.hide, QWidget.show, lambda w: w.setEnabled(False)):
            for widget in stops(window)[:3]:
                if widget in leaving(window) or widget is window.bottom.right:
                    continue
                widget.setFocus(Qt.FocusReason.TabFocusReason)
                was = widget.isVisible(), widget.isEnabled()
                change(widget)
                assert QApplication.focusWidget() not in leaving(window), (part_id, widget)
                widget.setVisible(was[0])
                widget.setEnabled(was[1])


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
