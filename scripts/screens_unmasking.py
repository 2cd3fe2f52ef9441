"""The screens on which masked pictures are named, for screenshots.py."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtWidgets import QApplication

from labapp.record.events.commands import Pause, Resume
from labapp.tasks.unmasking.events import Respond
from labapp.tasks.unmasking.plan import UnmaskingPart
from labapp.tasks.unmasking.screen import UnmaskingScreen
from labapp.ui.participant.window import ParticipantWindow
from scripts.screens_participant import Shot, opened
from tests.helpers.rooms import Room, skip_to
from tests.helpers.skips import skip_stage
from tests.helpers.unmasking import made, write_unmasking_study

PATIENCE_S = 20.0


def shots(folder: Path) -> Iterator[Shot]:
    small = made(folder / "set")
    for language in ("en", "de"):
        study = write_unmasking_study(folder / language, small, language=language, blank_ms=400)
        yield from unmasking(folder / f"{language}-data", study, f"small-{language}")
    yield from unmasking(folder / "faces", "unmasking-faces", "faces")


def unmasking(folder: Path, study: str | Path, name: str) -> Iterator[Shot]:
    """All screens of a study with one unmasking stage."""
    with opened(folder, study=study) as (room, window):
        example = next(part for part in room.runner.machine.parts if part.part == "unmasking")
        skip_to(room, example.id)
        until(room, window, lambda: painted(room))
        yield f"u01-{name}-example-first", window
        step(room, window, 2)
        yield f"u02-{name}-example-more", window
        stage = next(
            part
            for part in room.runner.machine.parts
            if isinstance(part, UnmaskingPart) and part.role == "stage"
        )
        skip_to(room, stage.id)
        until(room, window, lambda: painted(room))
        yield f"u03-{name}-first", window
        assert isinstance(window.screen_shown, UnmaskingScreen)
        window.screen_shown.responses.buttons[0].setFocus()
        step(room, window, len(stage.sequences[0].masks) - 1)
        yield f"u04-{name}-last-of-a-sequence", window
        room.runner.send(Respond(1, "mouse", room.clock.now_ns(), "event"))
        yield f"u05-{name}-blank", window
        until(room, window, lambda: painted(room))
        window.close()
        yield f"u06-{name}-leaving", window
        window.leave.stay.click()
        until(room, window, lambda: painted(room))
        room.runner.send(Pause("pictures"))
        yield f"u07-{name}-pause", window
        room.runner.send(Resume("pictures"))
        until(room, window, lambda: painted(room))
        yield f"u08-{name}-again", window
        while isinstance(room.runner.part, UnmaskingPart):
            skip_stage(room.runner)
        yield f"u09-{name}-after", window


def painted(room: Room) -> bool:
    """Whether a stimulus waits for a response, or the stage is over."""
    part = room.runner.part
    return not isinstance(part, UnmaskingPart) or room.runner.state.part_state.trial.open


def step(room: Room, window: ParticipantWindow, count: int) -> None:
    """Respond to so many stimuli, and wait for the next one."""
    for _ in range(count):
        room.runner.send(Respond(0, "mouse", room.clock.now_ns(), "event"))
        until(room, window, lambda: painted(room))


def until(room: Room, window: ParticipantWindow, come: Callable[[], bool]) -> None:
    """Let the window run until something came. Raises TimeoutError when it does not."""
    end = time.monotonic() + PATIENCE_S
    while not come():
        if time.monotonic() > end:
            raise TimeoutError(f"{room.runner.state.part_state} on {window.size()}")
        QApplication.processEvents()
        time.sleep(0.001)
