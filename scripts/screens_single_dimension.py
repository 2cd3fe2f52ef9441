"""The screens of the single-dimension task, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labapp.record.events.commands import HandIn, Next
from labapp.tasks.single_dimension.events import Choose, Rate
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.participant.view import Bridge
from scripts.screens_participant import Shot, opened
from tests.helpers.languages import translated
from tests.helpers.packages import ring_model
from tests.helpers.rooms import Room, skip_to
from tests.helpers.single import write_single_study


def shots(folder: Path) -> Iterator[Shot]:
    for visualisation in ("traversals", "exemplars"):
        yield from sinelines(folder / visualisation, visualisation)
        for language in ("en", "de"):
            yield from published(folder / f"{visualisation}-{language}", visualisation, language)
        yield from pictures(folder / visualisation, visualisation)


def sinelines(folder: Path, visualisation: str) -> Iterator[Shot]:
    study = write_single_study(folder / "sinelines", visualisation=visualisation, practice=True)
    with opened(folder / "data", study=study) as (room, window):
        yield f"s01-{visualisation}-tutorial", window
        room.runner.send(Next())
        yield f"s02-{visualisation}-tutorial-example", window
        skip_to(room, "practice-intro")
        yield f"s03-{visualisation}-practice-text", window
        skip_to(room, "practice")
        yield f"s04-{visualisation}-practice", window
        skip_to(room, "stage-1-intro")
        yield f"s05-{visualisation}-stage-text", window
        skip_to(room, "stage-1")
        yield f"s06-{visualisation}-series", window
        answer(room, right=True)
        yield f"s07-{visualisation}-series-right", window


def published(folder: Path, visualisation: str, language: str) -> Iterator[Shot]:
    """As published: another wording, and a practice that tells nothing."""
    study = write_single_study(
        folder, visualisation=visualisation, practice=True, presentation="as_published"
    )
    study = translated(study, language)
    with opened(folder / "data", study=study) as (room, window):
        room.runner.send(Next())
        yield f"s20-{visualisation}-{language}-tutorial-example", window
        skip_to(room, "practice-intro")
        yield f"s21-{visualisation}-{language}-practice-text", window
        skip_to(room, "practice")
        yield f"s22-{visualisation}-{language}-practice", window
        answer(room, right=False)
        yield f"s23-{visualisation}-{language}-practice-next", window
        skip_to(room, "stage-1")
        answer(room, right=False)
        yield f"s24-{visualisation}-{language}-wrong", window


def pictures(folder: Path, visualisation: str) -> Iterator[Shot]:
    for model, continuous, discrete in (("dsprites/ae", 5, 0), ("mnist8k/ss5", 5, 10)):
        name = model.split("/")[0]
        study = write_single_study(folder / name, [model], visualisation)
        decoders = {model: ring_model(model, continuous, discrete)}
        data = folder / f"{name}-data"
        with opened(data, study=study, decoders=decoders) as (room, window):
            skip_to(room, "stage-1")
            dial = 0 if discrete else None
            while dial is not None and room.runner.state.part_state.trial.dimension != dial:
                answer(room, right=True)
                room.runner.send(Next())
            yield f"s08-{visualisation}-{name}", window
            screen = window.screen_shown
            assert screen is not None
            screen.right()
            yield f"s09-{visualisation}-{name}-missing", window
            answer(room, right=False)
            yield f"s10-{visualisation}-{name}-wrong", window
            console = ConsoleWindow(Bridge(room.runner), room.loaded, "P01", lambda: None)
            console.resize(window.size())
            console.show()
            console.refresh()
            yield f"s11-{visualisation}-{name}-console", console
            console.shut()


def answer(room: Room, *, right: bool) -> None:
    """Answer the question on the screen and hand it in."""
    correct = room.runner.state.part_state.trial.correct
    choice = correct if right else 0 if correct else 1
    room.runner.send(Choose(choice, "mouse"))
    room.runner.send(Rate("confidence", 4, "mouse"))
    room.runner.send(Rate("understanding", 2, "mouse"))
    room.runner.send(HandIn())
