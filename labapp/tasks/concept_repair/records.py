"""What is recorded of concept repair, and its rows of tables.

One attempt at a picture whose concepts are set, and at the grid: what the journal says of it, and
what is true of it by the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, permutations
from statistics import fmean
from typing import Any, Literal, get_args

from labapp.analysis.answered import mean
from labapp.analysis.column import (
    INCLUDED,
    STALLED,
    TRIAL,
    WHERE,
    WHO,
    number,
    seconds,
    text,
    whole,
    yes,
)
from labapp.analysis.task_records import (
    INTERRUPTED,
    Attempt,
    Key,
    Ran,
    Row,
    TaskRecords,
    TaskTables,
    key_of,
)
from labapp.base.clock import NS
from labapp.base.errors import RecordError
from labapp.models.stimuli import interventions
from labapp.models.stimuli.interventions import AS_IT_IS, OFF, ON
from labapp.record.events import Event, Payload
from labapp.tasks.concept_repair import events
from labapp.tasks.concept_repair.plan import (
    GIVEN,
    ConceptGridPart,
    ConceptRepairPart,
    PlannedItem,
    Repaired,
)
from labapp.tasks.concept_repair.state import DONE, SAME

STATES = {AS_IT_IS: "model", OFF: "off", ON: "on"}
"""What tables call the states of a concept."""
PRACTICE = "practice"
ChangeKind = Literal["correction", "confirmation", "release", "undo"]


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was shown. working_ns: when; foretold: what was said of it before; undone: it
    was taken back later; p_truth: the model's probability of the true class then; seen_before: the
    answer to these states of the concepts had been on the screen before, be it before the
    stage began again."""

    event: events.ConceptMoved
    kind: ChangeKind
    correct: bool | None
    working_ns: int
    t_ns: int
    p_truth: float
    seen_before: bool
    foretold: events.AnswerForetold | None = None
    undone: bool = False

    @property
    def given(self) -> bool:
        """The plan gave it; the participant only foretold it."""
        return self.event.device == GIVEN


class RepairAttempt(Attempt):
    """One attempt at a picture.

    Attributes
    ----------
    item : the picture, as planned.
    answer : str
        The model's answer as it stands; `alone` as it was when left alone.
    states : list of int
        Of the concepts, as they stand.
    changes : what was shown, in its order.
    seen : set of tuple of int
        The states of this picture whose answers were on the screen in earlier attempts; those of
        this one are added.
    chosen_ns : when the participant first chose a change, shown at once or foretold first.
    """

    part: ConceptRepairPart

    def __init__(
        self,
        part: ConceptRepairPart,
        key: Key,
        drawn: events.ConceptsDrawn,
        seen: set[tuple[int, ...]],
    ) -> None:
        super().__init__(key)
        self.part = part
        self.item: PlannedItem = part.items[key[1] - 1]
        self.alone = self.answer = drawn.answer
        self.states = [AS_IT_IS] * len(drawn.beliefs)
        self.changes: list[Change] = []
        self.chosen_ns: int | None = None
        self.ended_ns: int | None = None
        self._seen = seen
        seen.add(tuple(self.states))
        self._standing: list[int] = []  # places of changes that were not taken back
        self._foretold: events.AnswerForetold | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case events.ConceptsShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case events.ConceptChosen():
                self._choose(working)
            case events.AnswerForetold():
                self._foretold = payload
            case events.ConceptSet():
                if payload.device != GIVEN:
                    self._choose(working)
                self._standing.append(len(self.changes))
                self._changed(event, payload, working, self._kind(payload))
            case events.ConceptUndone():
                if self._standing:
                    last = self._standing.pop()
                    self.changes[last] = replace(self.changes[last], undone=True)
                self._changed(event, payload, working, "undo")
            case events.RepairEnded():
                self.ended_ns, self.ended_session_ns = working, event.t_ns

    def _choose(self, working: int) -> None:
        if self.chosen_ns is None:
            self.chosen_ns = working

    def _kind(self, payload: events.ConceptSet) -> ChangeKind:
        if payload.to == AS_IT_IS:
            return "release"
        believed = interventions.believed(self.item.beliefs[payload.concept])
        return "confirmation" if payload.to == interventions.set_to(believed) else "correction"

    def _changed(
        self, event: Event, payload: events.ConceptMoved, working: int, kind: ChangeKind
    ) -> None:
        truth = interventions.set_to(self.item.concepts[payload.concept])
        correct = payload.to == truth if kind in ("correction", "confirmation") else None
        place = [class_.id for class_ in self.part.repaired.classes].index(self.item.truth)
        self.states[payload.concept] = payload.to
        states = tuple(self.states)
        self.changes.append(
            Change(
                event=payload,
                kind=kind,
                correct=correct,
                working_ns=working,
                t_ns=event.t_ns,
                p_truth=payload.probabilities[place],
                seen_before=states in self._seen,
                foretold=self._foretold,
            )
        )
        self._seen.add(states)
        self.answer, self._foretold = payload.answer_after, None

    @property
    def complete(self) -> bool:
        """The participant ended it, or its limit did."""
        return self.ended_ns is not None

    @property
    def excluded_because(self) -> str | None:
        """Why it does not count; practice never does."""
        return super().excluded_because or (PRACTICE if self.part.role == PRACTICE else None)

    @property
    def correct(self) -> bool | None:
        """Whether the model's answer is right as the picture was left; None while it is open."""
        return self.right(self.answer) if self.complete else None

    @property
    def response_s(self) -> float | None:
        return self.since_start(self.ended_ns)

    def right(self, answer: str) -> bool:
        return answer == self.item.truth

    def harm(self, change: Change) -> bool | None:
        """Whether a setting to what is true made a right answer wrong; None of other changes."""
        if not change.correct:
            return None
        event = change.event
        return self.right(event.answer_before) and not self.right(event.answer_after)

    def foretold(self, change: Change) -> str | None:
        """The class that was foretold of a change."""
        if change.foretold is None:
            return None
        answer = change.foretold.answer
        return change.event.answer_before if answer == SAME else answer

    def foretold_right(self, change: Change) -> bool | None:
        """Whether it came."""
        answer = self.foretold(change)
        return None if answer is None else answer == change.event.answer_after

    def foreseen(self) -> list[bool]:
        """Whether what was foretold came, of each answer that had not been on the screen before."""
        return [
            right
            for change in self.changes
            if not change.seen_before and (right := self.foretold_right(change)) is not None
        ]

    def _wrong_at_end(self) -> int:
        return sum(
            (interventions.believed(belief) if state == AS_IT_IS else state == ON) != there
            for state, belief, there in zip(
                self.states, self.item.beliefs, self.item.concepts, strict=True
            )
        )

    def row(self) -> Row:
        own = [change for change in self.changes if not change.given]
        settings = {
            kind: [change for change in own if change.kind == kind] for kind in get_args(ChangeKind)
        }
        foretold = self.foreseen()
        before, after = self.right(self.alone), self.correct
        if after is None or self.item.given is not None:
            success, gain = None, None
        else:
            success, gain = after and self.outcome == DONE, int(after) - int(before)
        return {
            **_of_picture(self),
            "foresee": self.item.foresee,
            "n_concepts": len(self.states),
            "n_concepts_wrong": len(self.item.wrong()),
            "n_classes": len(self.part.repaired.classes),
            "answer_alone": self.alone,
            "correct_alone": before,
            "answer_end": self.answer if self.complete else None,
            "correct_end": after,
            "success": success,
            "gain": gain,
            "n_changes": len(own) - len(settings["undo"]),
            "n_corrections": len(settings["correction"]),
            "n_corrections_right": sum(bool(c.correct) for c in settings["correction"]),
            "n_confirmations": len(settings["confirmation"]),
            "n_confirmations_right": sum(bool(c.correct) for c in settings["confirmation"]),
            "n_released": len(settings["release"]),
            "n_undone": len(settings["undo"]),
            "n_set_end": sum(state != AS_IT_IS for state in self.states),
            "n_concepts_wrong_end": self._wrong_at_end(),
            "n_harms": sum(bool(self.harm(change)) for change in own),
            "touched": self.chosen_ns is not None,
            "n_foretold": len(foretold),
            "n_foretold_correct": sum(foretold),
            "first_change_s": self.since_start(self.chosen_ns),
            "response_s": self.response_s,
            "outcome": self.outcome or INTERRUPTED,
            "excluded": self.excluded_because is not None,
            "excluded_because": self.excluded_because,
        }

    def change_row(self, place: int, change: Change) -> Row:
        repaired, event, foretold = self.part.repaired, change.event, change.foretold
        others = (place for place in range(len(self.states)) if place != event.concept)
        every = (repaired.deviation(event.concept, other) for other in others)
        deviations = [abs(deviation) for deviation in every if deviation is not None]
        effects = side_effects(repaired, change)
        return {
            **_of_picture(self),
            "change": place + 1,
            "change_s": self.since_start(change.working_ns),
            "session_s": change.t_ns / NS,
            "concept": repaired.concepts[event.concept].id,
            "concept_number": event.concept + 1,
            "change_kind": change.kind,
            "state_before": STATES[event.was],
            "state_after": STATES[event.to],
            "state_correct": change.correct,
            "undone": change.undone,
            "given": change.given,
            "answer_before": event.answer_before,
            "answer_after": event.answer_after,
            "correct_before": self.right(event.answer_before),
            "correct_after": self.right(event.answer_after),
            "p_truth_after": change.p_truth,
            "harm": self.harm(change),
            "foretold": self.foretold(change),
            "foretold_same": None if foretold is None else foretold.answer == SAME,
            "sure": None if foretold is None else foretold.sure,
            "foretold_correct": self.foretold_right(change),
            "seen_before": change.seen_before,
            "chance": 1 / len(repaired.classes),
            "side_effects": ";".join(repaired.concepts[other].id for other in effects or ())
            or None,
            "n_side_effects": None if effects is None else len(effects),
            "deviation_mean": fmean(deviations) if deviations else None,
            "deviation_largest": max(deviations, default=None),
            "device": event.device,
            "excluded": self.excluded_because is not None,
        }


class GridAttempt(Attempt):
    """One attempt at the grid. ticks: by pair how often it was ticked or its tick taken away;
    nothing: whether it is said that no concept changes another."""

    part: ConceptGridPart

    def __init__(self, part: ConceptGridPart, key: Key, drawn: events.GridDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.ticked: set[tuple[int, int]] = set()
        self.ticks: Counter[tuple[int, int]] = Counter()
        self.nothing = False
        self.ended_ns: int | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case events.GridShown():
                self.started_session_ns, self.started_ns = event.t_ns, working
            case events.GridTicked():
                pair = payload.concept, payload.other
                self.ticks[pair] += 1
                (self.ticked.add if payload.on else self.ticked.discard)(pair)
            case events.GridNothing():
                self.nothing = payload.on
        self.ended_ns = working

    @property
    def complete(self) -> bool:
        """The participant went on from it."""
        return self.outcome == "answered"

    @property
    def response_s(self) -> float | None:
        return self.since_start(self.ended_ns) if self.complete else None


def side_effects(repaired: Repaired, change: Change) -> tuple[int, ...] | None:
    """The other concepts that a change turned in the answer (`Repaired.side_effects`); None of
    undoing, and where classes do not say which concepts make them."""
    if change.kind == "undo" or not all(known.concepts for known in repaired.classes):
        return None
    event = change.event
    return repaired.side_effects(event.concept, event.answer_before, event.answer_after)


def foreign(event: Event, what: str) -> RecordError:
    """The error for an event of something that the plan does not have."""
    return RecordError(
        f"Event {event.seq} of this session {what}, which its plan does not have.",
        safe="The session is untouched.",
        todo="Check it with `labapp sessions verify`, and leave it out until then.",
    )


_MODEL = (
    text("stimuli", "id of the stimulus set"),
    text("manifest_sha256", "hash of the set's manifest"),
    text("model", "id of the concept model; perfect-switches in practice"),
)
_PICTURE = (
    *_MODEL,
    text("picture", "id of the picture in its stimulus set"),
    text("truth", "id of the true class"),
    text(
        "item",
        "what corrections do to the picture: repair, control, trap or unrepairable, see the "
        "glossary; empty where they do nothing of these, and in practice",
    ),
    text(
        "sample",
        "why it is shown: matched (for its type), natural (drawn whatever the model makes of it) "
        "or practice",
    ),
    text("instruction", "repair, audit or foresight"),
)
_COUNTS = (
    INCLUDED,
    yes(
        "keyboard_away",
        "the participant's keyboard was away for some of it: with the moderator, or with another "
        "program",
    ),
)

REPAIRS = (
    *WHO,
    *WHERE,
    text("role", "stage or practice"),
    *TRIAL,
    *_PICTURE,
    yes("foresee", "the model's answers to its changes were foretold before they were shown"),
    whole("n_concepts", "concepts that could be set"),
    whole("n_concepts_wrong", "of these, concepts that the model has wrong when left alone"),
    whole("n_classes", "classes that the model tells apart"),
    text("outcome", "done, gave_up, time_expired (the picture's limit) or as in the table trials"),
    text("answer_alone", "id of the class that the model answers when left alone"),
    yes("correct_alone", "that answer is right"),
    text("answer_end", "its answer as the picture was left"),
    yes("correct_end", "that answer is right"),
    yes(
        "success",
        "the picture was left by Done, and its answer is right; empty with instruction foresight",
    ),
    whole(
        "gain",
        "right at the end less right when left alone: 1, 0 or -1; empty with instruction foresight",
    ),
    whole(
        "n_changes",
        "settings of a concept by the participant, whichever way; what was taken back is counted, "
        "too; here and below, what the plan set is not",
    ),
    whole("n_corrections", "settings against what the model believes"),
    whole("n_corrections_right", "of these, to what is true"),
    whole("n_confirmations", "settings to what the model believes already"),
    whole("n_confirmations_right", "of these, to what is true"),
    whole("n_released", "times a concept was set back to what the model has"),
    whole("n_undone", "changes that were taken back"),
    whole("n_set_end", "concepts that were set, either way, as the picture was left"),
    whole(
        "n_concepts_wrong_end",
        "concepts that were wrong as it was left, by the setting, else by the belief",
    ),
    whole(
        "n_harms",
        "settings of a concept to what is true with the answer right before and wrong after",
    ),
    yes(
        "touched",
        "the participant chose a change, also where the limit came before it was shown",
    ),
    whole("n_foretold", "answers that were foretold and not seen before, see concept_changes"),
    whole("n_foretold_correct", "of these, those that came"),
    seconds(
        "first_change_s",
        "from the picture's appearance to the first change that the participant chose; what is "
        "foretold of it comes after",
    ),
    seconds("response_s", "from its appearance to its end, without pauses and gaps"),
    yes("excluded", "it does not count: an attempt that was broken off, or practice"),
    text("excluded_because", "why it does not count"),
    STALLED,
    *_COUNTS,
)
"""A row an attempt at a picture."""

CONCEPT_CHANGES = (
    *WHO,
    *WHERE,
    text("role", "stage or practice"),
    *TRIAL,
    *_PICTURE,
    whole("change", "number of the change in the attempt, from 1, undoing included"),
    seconds("change_s", "from the picture's appearance to the change, without pauses and gaps"),
    seconds("session_s", "session time (pauses included) of the change, as in the sound"),
    text("concept", "id of the concept"),
    whole("concept_number", "its place among the concepts of the model, from 1"),
    text(
        "change_kind",
        "correction (set against the model's belief), confirmation (set to what it believes), "
        "release (back to what the model has) or undo",
    ),
    text("state_before", "model (as the model has it), off or on"),
    text("state_after", "model, off or on"),
    yes("state_correct", "it was set to what is true; empty of releases and of undoing"),
    yes("undone", "the change was taken back later"),
    yes("given", "the change was given by the plan"),
    text("answer_before", "id of the class that the model answered before"),
    text("answer_after", "id of the class that it answered then"),
    yes("correct_before", "the answer before was right"),
    yes("correct_after", "the answer then was right"),
    number("p_truth_after", "the model's probability of the true class then", "0-1"),
    yes(
        "harm",
        "the answer was right before and is wrong after a concept was set to what is true; empty "
        "of other changes",
    ),
    text("foretold", "id of the class that was foretold, also where that was “the same”"),
    yes("foretold_same", "“the same” was foretold"),
    yes("sure", "the participant was sure of it"),
    yes("foretold_correct", "the class that was foretold came"),
    yes(
        "seen_before",
        "the answer to these states of the picture's concepts had been on the screen before, be it "
        "before the stage began again: whoever foretells it remembers it",
    ),
    number("chance", "how often a guess among the classes foretells rightly", "0-1"),
    text(
        "side_effects",
        "ids of other concepts of which the answer says the opposite then, with ; between them: "
        "the class before is made by the one state of the concept and the class after by the "
        "other; empty for none, and where classes do not say which concepts make them",
    ),
    whole("n_side_effects", "how many; empty where classes do not say it, and of undoing"),
    number(
        "deviation_mean",
        "mean over the other concepts of the absolute deviation of the concept that was set, see "
        "the table concept_purities",
        "0-1",
    ),
    number("deviation_largest", "the largest of these", "0-1"),
    text("device", "what set it: mouse, keyboard, touch, simulated; plan where it was given"),
    yes("excluded", "its attempt does not count"),
    *_COUNTS,
)
"""A row a change."""

CONCEPT_GRIDS = (
    *WHO,
    *WHERE,
    text("about", "id of the stage that the grid is about"),
    *TRIAL,
    *_MODEL,
    text("concept", "id of the concept that is set"),
    text("other", "id of the concept that is said to change with it"),
    yes("ticked", "the participant says so"),
    whole("ticks", "times the pair was ticked, or its tick taken away"),
    yes(
        "nothing",
        "the participant says that no switch changes anything else; without this and without a "
        "tick nothing was said, which earlier versions allowed",
    ),
    number("deviation", "of the pair, see the table concept_purities"),
    whole(
        "n_set",
        "times the concept was set in that stage, also by the plan, and also before the stage "
        "began again: what was met then was met",
    ),
    whole("n_side_effects", "of these, times that had a side effect on the other"),
    seconds("response_s", "from the grid's appearance to Next, without pauses and gaps"),
    yes("excluded", "an attempt that does not count"),
    *_COUNTS,
)
"""A row a pair of different concepts."""

CONCEPT_MODELS = (
    text("study", "id of the study"),
    *_MODEL,
    text("learner", "name of its method"),
    number("task_accuracy", "on its test photos", "%"),
    number("concept_accuracy", "mean over concepts", "%"),
    text("measure", "name of a measure, such as ois; empty where the set has none"),
    number("value", "what it says of the model"),
)
"""A row a model and measure, whoever met it."""

CONCEPT_PURITIES = (
    text("study", "id of the study"),
    *_MODEL,
    text("concept", "id of the concept whose code tells"),
    text("other", "id of the concept that is told"),
    number("purity", "area under the ROC curve of telling it from the model's code", "0-1"),
    number("oracle", "the same from the true concept", "0-1"),
    number("deviation", "purity less oracle"),
)
"""A row a model and pair of concepts (paper 001, section 3.1), whoever met it."""

CONCEPT_CURVES = (
    text("study", "id of the study"),
    *_MODEL,
    text("picture", "id of the picture in its stimulus set"),
    text("item", "what corrections do to the picture, see the table repairs"),
    text("sample", "matched or natural"),
    whole("n_set", "concepts that are set to what is true"),
    number("correct_any", "share of all choices of so many concepts with a right answer", "0-1"),
    yes("correct_in_order", "the answer with so many concepts set in the order of the set"),
    yes(
        "correct_wrong_first",
        "the same where those that the model has wrong come first, in the order of the set",
    ),
)
"""What the model answers as more and more concepts are set right, without people (paper 001, figure
5); a row a picture and number, whoever met it."""

_OF_A_MODEL = ("study", "stimuli", "manifest_sha256", "model")
TABLES = TaskTables(
    words={
        "tasks": "concept-repair (of a model that believes in concepts), concept-grid (which of "
        "them change with another)",
        "durations": "of a picture whose concepts are set, to its end",
    },
    outcomes={"done": "a picture whose concepts are set", "gave_up": "such a picture"},
    added={
        "stages": {
            "correctness_rate": (
                number(
                    "success_rate", "pictures left by Done with a right answer / pictures", "0-1"
                ),
                number("gain", "mean over pictures, see the table repairs", "-1 to 1"),
                number(
                    "harm_rate",
                    "harms / settings of a concept by the participant to what is true while the "
                    "answer was right; empty without such settings",
                    "0-1",
                ),
                number(
                    "foretold_rate",
                    "answers foretold rightly / answers foretold, of those not seen before",
                    "0-1",
                ),
            )
        }
    },
    own={
        "repairs": REPAIRS,
        "concept_changes": CONCEPT_CHANGES,
        "concept_grids": CONCEPT_GRIDS,
        "concept_models": CONCEPT_MODELS,
        "concept_purities": CONCEPT_PURITIES,
        "concept_curves": CONCEPT_CURVES,
    },
    distinct={
        "concept_models": (*_OF_A_MODEL, "measure"),
        "concept_purities": (*_OF_A_MODEL, "concept", "other"),
        "concept_curves": (*_OF_A_MODEL, "picture", "n_set"),
    },
)


Part = ConceptRepairPart | ConceptGridPart
Concepts = RepairAttempt | GridAttempt


class ConceptRepairRecords(TaskRecords[Any, Any]):
    """Every attempt at every picture, and at every grid."""

    tables = TABLES
    begins = events.ConceptsDrawn.kind
    kinds = frozenset(
        payload.kind
        for payload in (
            events.AnswerForetold,
            events.AnswerPicked,
            events.ConceptChosen,
            events.ConceptSet,
            events.ConceptUndone,
            events.ConceptsShown,
            events.GridDrawn,
            events.GridNothing,
            events.GridShown,
            events.GridTicked,
            events.RepairEnded,
        )
    )

    def __init__(self, parts: Mapping[str, Part]) -> None:
        super().__init__(parts)
        # By stage and picture, the states whose answers were on the screen, in whatever attempt.
        self._seen: dict[tuple[str, int], set[tuple[int, ...]]] = {}

    def take(self, event: Event, payload: Payload, working_ns: int) -> None:
        """The grid begins with an event of its own."""
        if isinstance(payload, events.GridDrawn) and (key := key_of(event)) is not None:
            self.by_key[key] = self.begin(self.parts[key[0]], key, event, payload)
        else:
            super().take(event, payload, working_ns)

    def begin(
        self, part: Part, key: Key, event: Event, payload: events.ConceptsDrawn | events.GridDrawn
    ) -> Concepts:
        if isinstance(payload, events.GridDrawn):
            if isinstance(part, ConceptGridPart):
                return GridAttempt(part, key, payload)
            raise foreign(event, "begins a grid")
        photos = [item.photo for item in part.items] if isinstance(part, ConceptRepairPart) else []
        if isinstance(part, ConceptRepairPart) and photos[key[1] - 1 : key[1]] == [payload.picture]:
            return RepairAttempt(part, key, payload, self._seen.setdefault(key[:2], set()))
        raise foreign(event, f"begins the picture {payload.picture!r}")

    @property
    def repairs(self) -> list[RepairAttempt]:
        return [attempt for attempt in self.attempts if isinstance(attempt, RepairAttempt)]

    def trial_row(self, attempt: Concepts) -> Row:
        return {"duration_s": attempt.response_s}

    def stage_row(self, part: Part, attempts: Sequence[Concepts], ran: Ran) -> Row:
        """Means over the pictures that count; of the grid its time."""
        counted = [attempt for attempt in attempts if attempt.excluded_because is None]
        times = [seconds for attempt in counted if (seconds := attempt.response_s) is not None]
        repairs = [each for each in counted if isinstance(each, RepairAttempt) and each.complete]
        rows = [attempt.row() for attempt in repairs]
        changes = [(attempt, change) for attempt in repairs for change in attempt.changes]
        could_harm = (
            attempt.harm(change)
            for attempt, change in changes
            if not change.given and attempt.right(change.event.answer_before)
        )
        harms = [harm for harm in could_harm if harm is not None]
        foretold = [right for attempt in repairs for right in attempt.foreseen()]
        return {
            "n_answered": len(times),
            "response_time_s": mean(times),
            "success_rate": mean([row["success"] for row in rows if row["success"] is not None]),
            "gain": mean([row["gain"] for row in rows if row["gain"] is not None]),
            "harm_rate": mean(harms),
            "foretold_rate": mean(foretold),
        }

    def own_rows(self) -> Mapping[str, Iterable[Row]]:
        parts = list(self.parts.values())
        return {
            "repairs": (attempt.row() for attempt in self.repairs),
            "concept_changes": (
                attempt.change_row(place, change)
                for attempt in self.repairs
                for place, change in enumerate(attempt.changes)
            ),
            "concept_grids": self._grid_rows(),
            "concept_models": _once(parts, _model_rows),
            "concept_purities": _once(parts, _purity_rows),
            "concept_curves": _curve_rows(parts),
        }

    def _grid_rows(self) -> Iterator[Row]:
        """Every pair of every grid, with what the participant met of it in the stage."""
        for attempt in self.attempts:
            if not isinstance(attempt, GridAttempt):
                continue
            part, repaired = attempt.part, attempt.part.repaired
            times_set, effects = self._met(part.about)
            for pair in permutations(range(len(repaired.concepts)), 2):
                concept, other = pair
                yield {
                    **_where(attempt),
                    "about": part.about,
                    **_of_model(repaired),
                    "concept": repaired.concepts[concept].id,
                    "other": repaired.concepts[other].id,
                    "ticked": pair in attempt.ticked if attempt.complete else None,
                    "ticks": attempt.ticks[pair],
                    "nothing": attempt.nothing if attempt.complete else None,
                    "deviation": repaired.deviation(concept, other),
                    "n_set": times_set[concept],
                    "n_side_effects": effects[pair],
                    "response_s": attempt.response_s,
                    "excluded": attempt.excluded_because is not None,
                }

    def _met(self, stage: str) -> tuple[Counter[int], Counter[tuple[int, int]]]:
        """How often each concept was set in a stage, and with which side effects, in all attempts:
        what was met before the stage began again was met."""
        times_set: Counter[int] = Counter()
        effects: Counter[tuple[int, int]] = Counter()
        for attempt in self.repairs:
            if attempt.part.id != stage:
                continue
            for change in attempt.changes:
                if change.kind == "undo":
                    continue
                times_set[change.event.concept] += 1
                for other in side_effects(attempt.part.repaired, change) or ():
                    effects[change.event.concept, other] += 1
        return times_set, effects


def _where(attempt: Attempt) -> Row:
    return {
        "stage": attempt.part.id,
        "stage_number": attempt.part.number,
        "trial": attempt.trial,
        "attempt": attempt.attempt,
    }


def _of_model(repaired: Repaired) -> Row:
    return {
        "stimuli": repaired.stimuli,
        "manifest_sha256": repaired.manifest_sha256,
        "model": repaired.model,
    }


def _of_picture(attempt: RepairAttempt) -> Row:
    item = attempt.item
    return {
        **_where(attempt),
        "role": attempt.part.role,
        **_of_model(attempt.part.repaired),
        "picture": item.photo,
        "truth": item.truth,
        "item": item.item,
        "sample": item.sample,
        "instruction": attempt.part.instruction,
    }


def _once(parts: Sequence[Part], rows: Any) -> Iterator[Row]:
    seen: set[tuple[str, str]] = set()
    for part in parts:
        repaired = part.repaired
        key = repaired.manifest_sha256, repaired.model
        if part.role == "stage" and key not in seen:
            seen.add(key)
            yield from rows(repaired)


def _model_rows(repaired: Repaired) -> Iterator[Row]:
    known: Iterable[tuple[str | None, float | None]] = repaired.scores.items() or [(None, None)]
    for measure, value in known:
        yield {
            **_of_model(repaired),
            "learner": repaired.learner,
            "task_accuracy": repaired.task_accuracy,
            "concept_accuracy": repaired.concept_accuracy,
            "measure": measure,
            "value": value,
        }


def _purity_rows(repaired: Repaired) -> Iterator[Row]:
    for i, concept in enumerate(repaired.concepts):
        for j, other in enumerate(repaired.concepts):
            yield {
                **_of_model(repaired),
                "concept": concept.id,
                "other": other.id,
                "purity": repaired.purity[i][j],
                "oracle": repaired.oracle[i][j],
                "deviation": repaired.deviation(i, j),
            }


def _curve_rows(parts: Sequence[Part]) -> Iterator[Row]:
    for part in parts:
        if not isinstance(part, ConceptRepairPart) or part.role != "stage":
            continue
        classes = tuple(known.id for known in part.repaired.classes)
        for item in part.items:
            for count, (share, in_order, wrong_first) in enumerate(
                _curve(item, classes.index(item.truth))
            ):
                yield {
                    **_of_model(part.repaired),
                    "picture": item.photo,
                    "item": item.item,
                    "sample": item.sample,
                    "n_set": count,
                    "correct_any": share,
                    "correct_in_order": in_order,
                    "correct_wrong_first": wrong_first,
                }


@lru_cache(maxsize=4096)
def _curve(item: PlannedItem, truth: int) -> tuple[tuple[float, bool, bool], ...]:
    """By how many concepts are set to what is true, from none to all: the share of all choices of
    them with a right answer, whether it is right in the listed order, and whether it is where those
    that the model has wrong come first. The sessions of a study share pictures."""
    concepts = range(len(item.concepts))

    def right(chosen: Iterable[int]) -> bool:
        state = [AS_IT_IS for _ in concepts]
        for place in chosen:
            state[place] = interventions.set_to(item.concepts[place])
        return int(item.table[interventions.place(state)].argmax()) == truth

    wrong = item.wrong()
    ordered = [*wrong, *(place for place in concepts if place not in wrong)]
    return tuple(
        (
            fmean(right(chosen) for chosen in combinations(concepts, count)),
            right(range(count)),
            right(ordered[:count]),
        )
        for count in range(len(item.concepts) + 1)
    )
