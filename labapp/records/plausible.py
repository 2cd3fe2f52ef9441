"""Whether the events of a session fit its plan and each other.

Every value of a journal can be of its type and still be none that a session has: a dial that the
model lacks, a question that was answered before it was drawn, a part that the plan does not have.
Readers look such things up, so they are looked at once, before anything is reckoned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from labapp.errors import RecordError
from labapp.events import Body, Event
from labapp.events.lifecycle import (
    PartEnded,
    PartRestarted,
    PartStarted,
    SessionEnded,
    SessionPlanned,
    TutorialDialMoved,
)
from labapp.events.single_dimension import QuestionDrawn
from labapp.events.trials import (
    DialMoved,
    DialSelected,
    LabelEdited,
    PictureDecoded,
    TrialDrawn,
    TrialSolved,
)
from labapp.events.undoing import SessionReopened, SkipRequested

DRAWN = {
    "trial.drawn": "reconstruction",
    "question.drawn": "single_dimension",
    "photo.drawn": "judging",
    "stimulus.drawn": "unmasking",
}
"""What a question begins with, and the kind of part that has such questions."""
WARM_UP = "warm_up"
"""Exercises of judging, on photos too."""
OF_A_QUESTION = frozenset(
    {
        *("trial.started", "trial.solved", "trial.ended", "dial.moved", "dial.selected"),
        *("picture.decoded", "alignment.marked", "overlay.toggled", "label.edited"),
        *("skip.offered", "question.shown", "examples.redrawn", "choice.made", "rating.made"),
        *("answer.given", "photo.shown", "judgement.made", "photo.judged", "species.opened"),
        *("stimulus.shown", "response.given"),
    }
)
"""Kinds that are of a question which was drawn before."""

NAMES = {
    "study": re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"),
    "participant": re.compile(r"[A-Za-z0-9]+"),
    "session": re.compile(r"[A-Za-z0-9]+"),
}

Key = tuple[str | None, int | None, int | None]


def plausible(events: Iterable[tuple[Event, Body]]) -> Iterator[tuple[Event, Body]]:
    """The same events. Raises RecordError at the first that a session cannot have."""
    course = _Course()
    drawn = course.drawn
    for pair in events:
        event, body = pair
        # Half of all events, with nothing in them to look up: a call less each.
        if type(body) is PictureDecoded and event[7:10] in drawn:
            yield pair
            continue
        if why := course.problem(event, body):
            raise RecordError(
                f"Event {event.seq} ({event.kind}) cannot be: {why}.",
                safe="The record was only read; nothing was changed.",
                todo="The journal is damaged, or was changed or made by something else than "
                "labapp: `labapp sessions verify` tells more. Take another copy of it, and leave "
                "the session out until then.",
            )
        yield pair


def implausible(events: Iterable[tuple[Event, Body]]) -> Iterator[tuple[int, str]]:
    """Seq of every event that a session cannot have, and why."""
    course = _Course()
    for event, body in events:
        if why := course.problem(event, body):
            yield event.seq, f"{event.kind} cannot be: {why}"


@dataclass
class _Course:
    """What is known at a place in the journal. dimensions: how many dials a part has."""

    parts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    dimensions: dict[str, int] = field(default_factory=dict)
    drawn: set[Key] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)

    def problem(self, event: Event, body: Body) -> str:
        """Why the event cannot be, empty where it can; it is taken in."""
        if type(body) is PictureDecoded or type(body) is DialMoved:  # nearly all of them
            if event[7:10] not in self.drawn:  # `event.key`, of thousands
                return self._undrawn(event)
            return self._dial(event, body.dimension) if type(body) is DialMoved else ""
        if isinstance(body, SessionPlanned):
            return self._planned(event, body)
        if event.stage is not None and event.stage not in self.parts:
            return f"the plan has no part {event.stage!r}"
        if event.kind in OF_A_QUESTION and event.key not in self.drawn:
            return self._undrawn(event)
        match body:
            case PartStarted() | PartEnded() | PartRestarted():
                if body.index >= len(self.order):  # its stage is what readers go by
                    return f"the plan has no part with the index {body.index}"
            case SkipRequested():
                return self._part(event, body.index)
            case SessionEnded():
                self.ends.add(event.seq)
            case SessionReopened() if body.seq not in self.ends:
                return f"event {body.seq} is no end that could be taken back"
            case DialSelected() | LabelEdited():
                return self._dial(event, body.dimension)
            case TrialSolved():
                return self._states(event, body.z)
            case TutorialDialMoved():
                return self._box(event, body)
        return self._draw(event, body) if event.kind in DRAWN else ""

    def _planned(self, event: Event, body: SessionPlanned) -> str:
        if event.seq != 1 or self.parts:
            return "a session is planned once, at its beginning"
        names = {"study": body.study, "participant": body.participant, "session": body.session}
        for what, said in names.items():
            if not NAMES[what].fullmatch(said):  # they stand in names of files
                return f"{said[:60]!r} is the name of no {what}"
        for row in body.plan:
            name, kind = row.get("id"), row.get("part")
            if not isinstance(name, str) or not isinstance(kind, str) or name in self.parts:
                return "a part of its plan has no id of its own, or does not say what it is"
            self.parts[name] = row
            self.order.append(name)
            dimensions = row.get("dimensions", ())
            if not _are_objects(dimensions) or not _are_objects(row.get("boxes", ())):
                return f"the dials of the part {name!r} are none"
            self.dimensions[name] = len(dimensions)
        return ""

    def _part(self, event: Event, index: int) -> str:
        if index >= len(self.order) or self.order[index] != event.stage:
            return f"the part with the index {index} of the plan is not {event.stage!r}"
        return ""

    def _draw(self, event: Event, body: Body) -> str:
        stage, trial, attempt = event.key
        if stage is None or trial is None or attempt is None or trial < 1 or attempt < 1:
            return f"it is of no question ({stage}, {trial}, {attempt})"
        kind = self.parts[stage]["part"]
        if kind != DRAWN[event.kind] and (kind, DRAWN[event.kind]) != (WARM_UP, "judging"):
            return f"the part {stage!r} of the plan has no such questions: it is {kind!r}"
        self.drawn.add(event.key)
        if isinstance(body, TrialDrawn):
            return self._states(event, body.z_start) or self._states(event, body.z_target)
        if isinstance(body, QuestionDrawn):
            return self._dial(event, body.dimension) or self._states(event, body.z)
        return ""

    def _undrawn(self, event: Event) -> str:
        return f"no question {event.trial} (attempt {event.attempt}) of {event.stage!r} was drawn"

    def _dial(self, event: Event, dimension: int) -> str:
        count = self.dimensions[event.stage or ""]
        return "" if dimension < count else f"{event.stage!r} has {count} dials, none {dimension}"

    def _states(self, event: Event, z: tuple[float, ...]) -> str:
        count = self.dimensions[event.stage or ""]
        return "" if len(z) == count else f"it has {len(z)} dials, and {event.stage!r} has {count}"

    def _box(self, event: Event, body: TutorialDialMoved) -> str:
        boxes = self.parts.get(event.stage or "", {}).get("boxes", ())
        if body.box >= len(boxes) or body.dimension >= len(boxes[body.box].get("dimensions", ())):
            return f"the tutorial has no dial {body.dimension} in a box {body.box}"
        return ""


def _are_objects(rows: Any) -> bool:
    return isinstance(rows, list | tuple) and all(isinstance(row, dict) for row in rows)
