"""A session that is coded in its window, without the window: what tests of coding begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from pytestqt.qtbot import QtBot

from labapp.coding.annotations.store import annotations_of
from labapp.record.journal.opening import open_record
from labapp.session.replay.lanes import lanes_of
from labapp.ui import theme
from labapp.ui.replay.coding import Coding, open_coding
from labapp.ui.replay.coding_desk import CodingDesk
from labapp.ui.replay.coding_state import CodingRequest
from tests.helpers.coded_session import add_codebook, add_units
from tests.helpers.journals import golden_session

Desk = Callable[..., CodingDesk]


@dataclass
class Clock:
    """A player without sound: it is where it was put."""

    t_ns: int = 0
    playing: bool = False
    loop: tuple[int, int] | None = None

    def now_ns(self) -> int:
        return self.t_ns

    def pause(self) -> None:
        self.playing = False

    def toggle(self) -> None:
        self.playing = not self.playing

    def seek(self, t_ns: int) -> None:
        self.t_ns = t_ns

    def seek_and_play(self, t_ns: int) -> None:
        self.t_ns, self.playing = t_ns, True


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session with seven frozen units and a codebook."""
    path = golden_session(tmp_path / "data")
    add_codebook(path.parent)
    add_units(path)
    return path


@pytest.fixture
def open_desk(session: Path, qtbot: QtBot) -> Iterator[Desk]:
    """Opens the coding of a rater, with a player."""
    desks: list[CodingDesk] = []

    def opened(rater: str = "anna", **how: object) -> CodingDesk:
        request = CodingRequest(rater, **how)  # type: ignore[arg-type]
        coding = open_coding(session, request, lanes_of(open_record(session)))
        coding.set_transport(Clock())
        desk = CodingDesk(coding, theme.LIGHT)
        for widget in (desk.said, desk.palette, desk.bar):
            qtbot.addWidget(widget)
        desk.said.resize(420, 600)
        desk.said.show()
        desks.append(desk)
        return desk

    yield opened
    for desk in desks:
        desk.coding.close()


def clock(desk: CodingDesk) -> Clock:
    transport = desk.coding._transport
    assert isinstance(transport, Clock)
    return transport


def press(desk: CodingDesk, *keys: str) -> None:
    """Letters and digits, as the window's router hands them over."""
    for key in keys:
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            code = Qt.Key(ord(key.upper()))
            event = QKeyEvent(kind, code, Qt.KeyboardModifier.NoModifier, key)
            assert desk.unclaimed(event)


def do(desk: CodingDesk, *actions: str) -> None:
    for action in actions:
        desk.commands()[action]()


def notices(desk: CodingDesk) -> list[str]:
    told: list[str] = []
    desk.notice.connect(told.append)
    return told


def codes(coding: Coding) -> list[list[str]]:
    """The codes of every unit, as the list shows them."""
    return [[chip.text for chip in row.chips] for row in coding.rows()]


def stored(session: Path, rater: str = "anna") -> list[tuple[str, str | None]]:
    marks = annotations_of(open_record(session)).raters[rater].marks
    return [(mark.code, mark.unit) for mark in marks]
