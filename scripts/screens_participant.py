"""The participant's screens, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from labapp.base.clock import FakeClock
from labapp.record.events import Source
from labapp.record.events.commands import Next, Pause, Resume, Skip
from labapp.tasks.consent.screen import ConsentScreen
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.questionnaire.screen.questionnaire import QuestionnaireScreen
from labapp.tasks.reconstruction.events import EditLabel, MoveDial, ToggleOverlay
from labapp.tasks.reconstruction.screen.matching import ReconstructionScreen
from labapp.ui.participant.view import Bridge, QtScheduler
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.strings import strings_of
from tests.helpers.languages import translated
from tests.helpers.rooms import Room, make_runner, skip_to, solve
from tests.helpers.studies import ring_decoder, write_study

Shot = tuple[str, QWidget]


@contextmanager
def opened(folder: Path, **options: Any) -> Iterator[tuple[Room, ParticipantWindow]]:
    room = make_runner(folder, scheduler=QtScheduler, **options)
    room.bridge = bridge = Bridge(room.runner)
    window = ParticipantWindow(
        bridge,
        room.loaded,
        strings_of(room.loaded),
        room.loaded.study.presentation,
        room.session.give_consent,
    )
    room.session.begin()
    window.open_on()
    try:
        yield room, window
    finally:
        window.close_for_good()
        room.session.close("pictures taken")


def shots(folder: Path) -> Iterator[Shot]:
    yield from quickstart(folder / "quickstart")
    yield from mnist(folder / "mnist")
    yield from dsprites(folder / "dsprites")
    yield from skipping(folder / "skipping")


def quickstart(folder: Path, study: str | Path = "quickstart") -> Iterator[Shot]:
    with opened(folder, study=study) as (room, window):
        runner = room.runner
        screen = window.screen_shown
        assert isinstance(screen, ConsentScreen)
        yield "p01-consent", window
        screen.tick.click()
        screen.right()
        yield "p02-consent-missing", window
        screen.left()
        yield "p03-consent-decline", window
        room.session.give_consent("A Participant")
        yield "p04-tutorial", window
        runner.send(Next())
        yield "p05-tutorial-boxes", window
        runner.send(Next())
        yield "p06-practice-text", window
        runner.send(Next())
        yield "p07-practice", window
        solve(room)
        yield "p08-practice-matched", window
        skip_to(room, "stage-1-intro")
        yield "p09-stage-text", window
        skip_to(room, "stage-2")
        yield "p10-series-overlay", window
        runner.send(ToggleOverlay(False))
        runner.send(MoveDial(0, 0.5, "mouse"))
        yield "p11-series-side-by-side", window
        window.close()
        yield "p12-leaving", window
        window.leave.stay.click()
        runner.send(Pause("pictures"))
        yield "p13-pause", window
        runner.send(Resume("pictures"))
        solve(room)
        yield "p14-series-matched", window
        skip_to(room, "stage-2-seq")
        yield "p15-seq", window
        screen = window.screen_shown
        assert isinstance(screen, QuestionnaireScreen)
        screen.right()
        yield "p16-seq-missing", window
        runner.send(Answer("seq", 3))
        yield "p17-seq-answered", window
        skip_to(room, "debrief")
        yield "p18-debrief", window
        runner.send(Next())
        yield "p19-ended", window


def skipping(folder: Path, language: str = "en") -> Iterator[Shot]:
    """A question that was just skipped, with the seconds in which that can be taken back."""
    study = translated(write_study(folder / "study", "sinelines/gt", skip="always"), language)
    with opened(folder / "data", study=study, clock=FakeClock()) as (room, window):
        skip_to(room, "stage-1")
        room.runner.send(Skip(), Source.PARTICIPANT)
        room.clock.advance(1)
        window.refresh()
        yield "p27-skipped", window


def mnist(folder: Path) -> Iterator[Shot]:
    yield from eleven_dials(folder / "ss10")
    for model, continuous, discrete in (("mnist8k/ss5", 5, 10), ("mnist8k/ae10", 10, 0)):
        name = model.split("/")[1]
        study = write_study(folder / name, model, labels="editable")
        decoders = {model: ring_decoder(model, continuous, discrete)}
        with opened(folder / name / "data", study=study, decoders=decoders) as (room, window):
            skip_to(room, "stage-1")
            yield f"p25-mnist-{name}", window
            room.runner.send(EditLabel(0, "which of the ten kinds of ring it is"))
            solve(room)
            yield f"p26-mnist-{name}-matched", window


def eleven_dials(folder: Path) -> Iterator[Shot]:
    study = write_study(folder / "study", "mnist8k/ss10", labels="editable")
    decoders = {"mnist8k/ss10": ring_decoder("mnist8k/ss10", 10, 10)}
    with opened(folder, study=study, decoders=decoders) as (room, window):
        skip_to(room, "stage-1")
        room.runner.send(EditLabel(0, "number"))
        room.runner.send(EditLabel(3, "how much it leans over"))
        yield "p20-mnist-11-dials", window
        room.runner.send(ToggleOverlay(True))
        yield "p21-mnist-overlay", window
        rename(window)
        yield "p22-mnist-renaming", window


def rename(window: ParticipantWindow) -> None:
    """Open the third dial's name for editing."""
    screen = window.screen_shown
    assert isinstance(screen, ReconstructionScreen)
    screen.dials.rows[2].name.edit()


def dsprites(folder: Path) -> Iterator[Shot]:
    for presentation in ("improved", "as_published"):
        study = write_study(
            folder / presentation, "dsprites/ae", presentation=presentation, skip="after"
        )
        decoders = {"dsprites/ae": ring_decoder("dsprites/ae", 5)}
        with opened(folder / presentation, study=study, decoders=decoders) as (room, window):
            skip_to(room, "stage-1")
            yield f"p23-dsprites-{presentation}-overlay", window
            room.runner.send(ToggleOverlay(False))
            yield f"p24-dsprites-{presentation}", window
