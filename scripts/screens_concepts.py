"""The screens on which a model's concepts are set, for screenshots.py: each instruction, before and
after a change, and the grid, in English and German."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labapp.events.commands import Command
from labapp.tasks.concept_repair.commands import (
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
CHANGE, SECOND = SetConcept(3, 2, BY), SetConcept(0, 1, BY)
FORETOLD: tuple[Command, ...] = (PickAnswer("c2", BY), Foretell(True, BY))
COURSES: dict[str, tuple[Command, ...]] = {
    "repair": (CHANGE, SECOND),
    "audit": (CHANGE, SECOND),
    "foresee": (CHANGE, *FORETOLD),
    "foresight": FORETOLD,
}


def shots(folder: Path) -> Iterator[Shot]:
    made = concepts.write(folder / "sets")
    for language in ("en", "de"):
        for kind, stages in KINDS.items():
            where = folder / language / kind
            study = concepts.write_study(where / "study", made, language=language, **stages)
            with opened(where / "session", study=study) as (room, window):
                skip_to(room, "stage-1")
                yield f"c-{kind}-0-{language}", window
                for number, command in enumerate(COURSES[kind], start=1):
                    room.runner.send(command)
                    yield f"c-{kind}-{number}-{language}", window
                assert window.screen_shown is not None
                window.screen_shown.right()
                yield f"c-{kind}-on-{language}", window
                if kind == "repair":
                    skip_to(room, "stage-1-grid")
                    yield f"c-grid-0-{language}", window
                    room.runner.send(TickPair(0, 1, BY))
                    yield f"c-grid-1-{language}", window
                    room.runner.send(TickNothing(BY))
                    yield f"c-grid-2-{language}", window
