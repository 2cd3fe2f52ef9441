"""Consent, texts, the tutorial, the introduction to a method and the debrief: pages that are read
and left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from labapp.events import Body, Draft, Event
from labapp.events.commands import (
    Back,
    CloseDescription,
    Command,
    DeclineConsent,
    GiveConsent,
    MoveTutorialDial,
    Next,
    OpenDescription,
    SkipStage,
)
from labapp.events.durations import Pauses
from labapp.events.lifecycle import (
    ConsentDeclined,
    ConsentGiven,
    PageTurned,
    PartEnded,
    TutorialDialMoved,
)
from labapp.representations.space import LatentSpace
from labapp.study.judging import MethodPart
from labapp.study.plan import BreakPart, ConsentPart, PagesPart, TutorialPart
from labapp.study.single_dimension import ExamplePart
from labapp.tasks.judging import description


@dataclass(frozen=True, slots=True)
class ConsentState:
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class ConsentTask:
    """The consent form. Typed names never pass through here: see session.private."""

    part: ConsentPart
    index: int

    def initial(self, pauses: Pauses) -> ConsentState:
        return ConsentState()

    def decide(self, state: ConsentState, command: Command, now_ns: int) -> Sequence[Draft]:
        if state.outcome is not None:
            return ()
        sha256 = self.part.document_sha256
        match command:
            case GiveConsent(uses):
                agreed: dict[str, bool] = {
                    use: uses is None or bool(uses.get(use, False)) for use in self.part.items
                }
                required = (use for use, asked in self.part.items.items() if asked == "required")
                if not all(agreed[use] for use in required):
                    return ()
                return (
                    Draft(ConsentGiven(sha256, self.part.sign, agreed), self.part.id),
                    Draft(PartEnded(self.index, "completed"), self.part.id),
                )
            case DeclineConsent():
                return (
                    Draft(ConsentDeclined(sha256), self.part.id),
                    Draft(PartEnded(self.index, "declined"), self.part.id),
                )
        return ()

    def apply(self, state: ConsentState, event: Event, body: Body) -> ConsentState:
        return ConsentState(body.outcome) if isinstance(body, PartEnded) else state

    def next_deadline(self, state: ConsentState) -> int | None:
        return None

    def wants_begin(self, state: ConsentState) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class PagesState:
    """page counts from 0; dials: the tutorial boxes' dial states (empty for plain texts);
    description: tree, while the picture of a method's whole tree is open."""

    page: int = 0
    dials: tuple[tuple[float, ...], ...] = ()
    description: str = ""
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class PagesTask:
    """A text of `pages` pages; a tutorial has live dials besides (spaces: one a box), and from the
    introduction to a method the picture of a whole tree can be opened."""

    part: PagesPart | TutorialPart | ExamplePart | BreakPart | MethodPart
    index: int
    pages: int
    spaces: tuple[LatentSpace, ...] = ()

    def initial(self, pauses: Pauses) -> PagesState:
        if isinstance(self.part, TutorialPart):
            boxes = zip(self.part.boxes, self.spaces, strict=True)
            return PagesState(dials=tuple(space.snap(box.start) for box, space in boxes))
        return PagesState()

    def decide(self, state: PagesState, command: Command, now_ns: int) -> Sequence[Draft]:
        if state.outcome is not None:
            return ()
        stage = self.part.id
        match command:
            case Next() if state.page + 1 < self.pages:
                return (Draft(PageTurned(state.page + 1), stage),)
            case Next():
                return self._end(state, "completed")
            case Back() if state.page > 0:
                return (Draft(PageTurned(state.page - 1), stage),)
            case SkipStage():
                return self._end(state, "skipped")
            case OpenDescription() | CloseDescription() if isinstance(self.part, MethodPart):
                offered = (description.TREE,) if self.part.explained.tree else ()
                bodies = description.toggled(offered, state.description, command)
                return [Draft(body, stage) for body in bodies]
            case MoveTutorialDial(box, dimension, value) if 0 <= box < len(self.spaces):
                dimensions = self.spaces[box].dimensions
                if not 0 <= dimension < len(dimensions) or not isfinite(value):
                    return ()
                snapped = dimensions[dimension].snap(value)
                if snapped == state.dials[box][dimension]:
                    return ()
                return (Draft(TutorialDialMoved(box, dimension, snapped), stage),)
        return ()

    def _end(self, state: PagesState, outcome: str) -> Sequence[Draft]:
        bodies = (*description.closed(state.description), PartEnded(self.index, outcome))
        return [Draft(body, self.part.id) for body in bodies]

    def apply(self, state: PagesState, event: Event, body: Body) -> PagesState:
        state = replace(state, description=description.after(state.description, body))
        match body:
            case PageTurned():
                return replace(state, page=body.page)
            case PartEnded():
                return replace(state, outcome=body.outcome)
            case TutorialDialMoved():
                z = list(state.dials[body.box])
                z[body.dimension] = body.value
                dials = list(state.dials)
                dials[body.box] = tuple(z)
                return replace(state, dials=tuple(dials))
        return state

    def next_deadline(self, state: PagesState) -> int | None:
        return None

    def wants_begin(self, state: PagesState) -> bool:
        return False
