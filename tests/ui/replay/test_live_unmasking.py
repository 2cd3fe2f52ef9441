"""A masked picture is replayed from when it was painted until it was taken off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.record.journal.opening import open_record
from labapp.session.replay.history import History
from labapp.tasks.unmasking.plan import UnmaskingPart
from labapp.ui.participant.window import ParticipantWindow, WindowPicture
from labapp.ui.replay.picture import PastWindow
from tests.helpers.hands import key
from tests.helpers.rooms import Room, skip_to
from tests.helpers.unmasking import made, write_unmasking_study
from tests.ui.replay.test_live_equal import pixels


def test_the_replayed_picture_is_the_one_that_was_live(
    open_room: Callable[..., Room],
    open_window: Callable[[Room], ParticipantWindow],
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    room = open_room(write_unmasking_study(tmp_path / "study", made(tmp_path)))
    window = open_window(room)
    window.showNormal()
    window.resize(1366, 768)
    window.activateWindow()
    runner = room.runner
    parts = [part for part in runner.machine.parts if isinstance(part, UnmaskingPart)]
    skip_to(room, next(part.id for part in parts if part.role == "stage"))
    seen = []

    def look() -> None:
        window.looks.look()
        focus = QApplication.focusWidget()
        assert focus is not None
        window.setFocus()
        WindowPicture.lay_out()
        seen.append((runner.clock.now_ns(), runner.state, pixels(window.grab().toImage())))
        focus.setFocus()

    for _ in range(12):
        qtbot.waitUntil(lambda: runner.state.part_state.trial.open)
        look()
        number = runner.state.part_state.trial.number
        key(Qt.Key.Key_F)
        look()  # the blank before the next one, where there is one
        qtbot.waitUntil(lambda n=number: runner.state.part_state.trial.number != n)
    room.session.close("over")
    with History(open_record(room.session.folder.path)) as history:
        past = PastWindow(history)
        compared = 0
        for t_ns, state, live in reversed(seen):
            if history.state_at(t_ns) != state:
                continue  # something happened while it was being looked at
            compared += 1
            past.show_time(t_ns)
            picture = pixels(past.draw(past.picture.window.size(), 1.0).toImage())
            assert np.array_equal(picture, live), t_ns
        past.close()
        assert compared > 8
