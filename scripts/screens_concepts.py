"""The screens on which a model's concepts are set, for screenshots.py: each instruction, before and
after a change, and the grid, with small and large shipped sets, in English and German; and those of
the study concept-forecast."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labapp.base.resources import assets
from labapp.models.stimuli import library
from labapp.record.events.commands import Command
from labapp.study.authoring import new_study
from labapp.tasks.concept_repair.events import (
    Foretell,
    PickAnswer,
    SetConcept,
    TickNothing,
    TickPair,
)
from scripts.screens_participant import Shot, opened
from tests.helpers import concepts
from tests.helpers.rooms import skip_to

BY = "mouse"
KINDS: dict[str, dict[str, Any]] = {
    "repair": {},
    "audit": {"instruction": "audit"},
    "foresee": {"foresee": "all"},
    "foresight": {"instruction": "foresight", "foresee": "all"},
}
SETS = {"4": "dsprites-four-cbm", "6": "shapes-graded-logits-8", "b": "birds-cbm-logits"}
"""Four concepts and eight classes, six and twelve, six and sixteen."""
CHANGE, SECOND = SetConcept(3, 2, BY), SetConcept(0, 1, BY)
FORETOLD: tuple[Command, ...] = (Foretell(True, BY),)
COURSES: dict[str, tuple[Command, ...]] = {
    "repair": (CHANGE, SECOND),
    "audit": (CHANGE, SECOND),
    "foresee": (CHANGE, *FORETOLD),
    "foresight": FORETOLD,
}


def forecasts(folder: Path) -> Iterator[Shot]:
    """The shipped study of drawn changes: what introduces it, with answers shown, and withheld."""
    for language in ("en", "de"):
        where = folder / language
        study, _ = new_study("forecast", "concept-forecast", where / "study", language)
        with opened(where / "session", study=study) as (room, window):
            for part in ("practice-intro", "practice-examples", "practice", "stage-1-intro"):
                skip_to(room, part)
                yield f"f-{part}-{language}", window
            skip_to(room, "stage-1")
            yield f"f-exposure-0-{language}", window
            room.runner.send(PickAnswer("", BY))
            yield f"f-exposure-1-{language}", window
            room.runner.send(Foretell(True, BY))
            yield f"f-exposure-2-{language}", window
            for part in ("stage-1-forecast-check", "stage-2-intro", "stage-2"):
                skip_to(room, part)
                yield f"f-{part}-{language}", window
            room.runner.send(PickAnswer("", BY))
            yield f"f-test-1-{language}", window
            room.runner.send(Foretell(False, BY))
            yield f"f-test-2-{language}", window
            skip_to(room, "debrief")
            yield f"f-debrief-{language}", window


def shots(folder: Path) -> Iterator[Shot]:
    yield from forecasts(folder / "forecasts")
    for short, name in SETS.items():
        stimuli = library.load(assets() / "stimuli" / name)
        for language in ("en", "de"):
            for kind, stages in KINDS.items():
                where = folder / short / language / kind
                end = f"{short}-{language}"
                if kind == "repair":
                    practice = {"text": "practice.md", "items": 2}
                    stages = {"practice": practice, "examples": True}
                study = concepts.write_study(where / "study", stimuli, language=language, **stages)
                with opened(where / "session", study=study) as (room, window):
                    if kind == "repair":
                        skip_to(room, "practice-examples")
                        yield f"c-examples-{end}", window
                        skip_to(room, "practice")
                        yield f"c-practice-{end}", window
                    skip_to(room, "stage-1")
                    yield f"c-{kind}-0-{end}", window
                    for number, command in enumerate(COURSES[kind], start=1):
                        if isinstance(command, Foretell):
                            classes = stimuli.manifest.classes
                            room.runner.send(PickAnswer(classes[1].id, BY))
                        room.runner.send(command)
                        yield f"c-{kind}-{number}-{end}", window
                    assert window.screen_shown is not None
                    window.screen_shown.right()
                    yield f"c-{kind}-on-{end}", window
                    if kind == "repair":
                        skip_to(room, "stage-1-grid")
                        yield f"c-grid-0-{end}", window
                        room.runner.send(TickPair(0, 1, BY))
                        yield f"c-grid-1-{end}", window
                        room.runner.send(TickNothing(BY))
                        yield f"c-grid-2-{end}", window
