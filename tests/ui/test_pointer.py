"""The path of the pointer, from the hand to the table, where the study asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.analysis.tables import load
from labapp.record.events import Source
from labapp.record.events.commands import Pause
from labapp.ui import controller
from labapp.ui.controller import PointerPath, SessionController
from labapp.ui.starting import RunOptions, open_new
from tests.helpers.rooms import skip_to
from tests.helpers.studies import write_study


def test_what_moves_is_recorded_with_its_question(
    open_room, open_window, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = [QPoint(0, 0)]
    monkeypatch.setattr(QCursor, "pos", staticmethod(lambda: hand[0]))
    room = open_room(write_study(tmp_path / "study", "sinelines/gt", think_aloud=False))
    window = open_window(room)
    skip_to(room, "stage-1")
    path = PointerPath(window, room.runner)
    path._timer.stop()

    def move(x: int, y: int) -> None:
        hand[0] = window.mapToGlobal(QPoint(x, y))
        path._look()

    move(10, 10)
    for step in range(1, 6):
        move(10 + step, 20)
    assert room.count("pointer.moved") == 0
    move(15, 20)  # it rests
    moved = room.last("pointer.moved")
    assert moved["x"] == (10, 11, 12, 13, 14, 15)
    assert moved["y"] == (10, 20, 20, 20, 20, 20)
    assert list(moved["t_ms"]) == sorted(moved["t_ms"])
    assert (moved["width"], moved["height"]) == (window.width(), window.height())
    path._look()
    assert room.count("pointer.moved") == 1, "a pointer that rests says nothing"
    move(-50, 20)  # it leaves the window
    move(30, 30)
    room.runner.send(Pause("technical"), Source.MODERATOR)
    move(40, 40)
    move(50, 50)
    assert room.last("pointer.moved")["x"] == (30,), "nobody sees the question in a pause"
    path.stop()
    window.close_for_good()
    room.session.close("test over")
    tables = load([room.session.folder.path])
    assert tables.pointer["stage"].tolist() == ["stage-1", "stage-1"]
    assert tables.pointer["trial"].tolist() == [1, 1]
    assert tables.pointer["x_px"].iloc[0] == [10, 11, 12, 13, 14, 15]


def test_a_long_movement_is_handed_over_every_second(
    open_room, open_window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller, "LONGEST_NS", 0)
    hand = [QPoint(0, 0)]
    monkeypatch.setattr(QCursor, "pos", staticmethod(lambda: hand[0]))
    room = open_room(write_study(tmp_path / "study", "sinelines/gt"))
    window = open_window(room)
    path = PointerPath(window, room.runner)
    path._timer.stop()
    for step in range(3):
        hand[0] = window.mapToGlobal(QPoint(10 + step, 20))
        path._look()
    assert room.count("pointer.moved") == 3


@pytest.mark.parametrize("asked", [True, False])
def test_only_a_study_that_asks_for_it_records_it(
    qapp: QApplication, tmp_path: Path, asked: bool
) -> None:
    study = write_study(tmp_path / "study", "sinelines/gt")
    if asked:
        study.write_text(study.read_text() + "recording: {pointer: true}\n")
    options = RunOptions(data=tmp_path / "data", private=tmp_path / "private", audio="off")
    controller = SessionController(open_new(str(study), "P01", "1", options), options)
    try:
        assert bool(controller.participant.findChildren(PointerPath)) is asked
    finally:
        controller._end()


def test_nothing_is_recorded_of_a_hand_that_signs(
    open_room, open_window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = [QPoint(0, 0)]
    monkeypatch.setattr(QCursor, "pos", staticmethod(lambda: hand[0]))
    room = open_room()
    window = open_window(room)
    path = PointerPath(window, room.runner)
    for step in range(5):
        hand[0] = window.mapToGlobal(QPoint(10 + step, 20))
        path._look()
    path.stop()
    assert room.runner.part is not None
    assert room.runner.part.part == "consent"
    assert room.count("pointer.moved") == 0
