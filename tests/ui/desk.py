"""A console on an open session whose time is moved by hand, for the tests of its panels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from labapp.base.clock import FakeClock
from labapp.record.audio.recorder import Level
from labapp.ui.moderator.console import ConsoleWindow
from tests.helpers.rooms import FormulaDecoder, Room, decoder_of

HEARD = Level("heard", -12.0, -20.0, 0.2, 48_000, rate=48_000, envelope=(0.3,) * 100)
SILENT = replace(HEARD, state="silent", silent_for_s=18.4, envelope=(0.001,) * 100)


class Desk:
    """A console on an open session whose time is moved by hand."""

    def __init__(self, room: Room, clock: FakeClock) -> None:
        self.room, self.clock = room, clock
        self.level: Level | None = HEARD
        self.console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: self.level)
        self.console.show()
        self.runner = room.runner

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.console.refresh()

    def plan(self) -> list[tuple[str, str, str]]:
        self.console.refresh()
        return [(v.row.title, v.state, v.progress) for v in self.console.plan.list.views]

    def alarms(self) -> list[str]:
        self.console.refresh()
        return [c.text.text() for c in self.console.alarms.chips if not c.isHidden()]


def closed_forms() -> dict[str, FormulaDecoder]:
    """The quickstart's three models, all in closed form: quick, and no torch."""
    gt = decoder_of("sinelines/gt")
    ids = ("sinelines/vae", "sinelines/ae")
    return {name: FormulaDecoder(name, gt.space, gt.latents, gt.decode) for name in ids}


@pytest.fixture
def desk(open_room: Callable[..., Room]) -> Desk:
    clock = FakeClock()
    made = Desk(open_room(clock=clock, decoders=closed_forms()), clock)
    made.room.session.begin()
    return made
