"""What is recorded of concept repair, and its rows of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from statistics import fmean
from typing import Any

from labapp.analysis.answered import mean
from labapp.analysis.task_records import (
    INTERRUPTED,
    Attempt,
    Key,
    Ran,
    Row,
    TaskRecords,
    key_of,
)
from labapp.events import Event, Payload
from labapp.stimuli import interventions
from labapp.stimuli.interventions import AS_IT_IS
from labapp.tasks.concept_repair.attempts import (
    GridAttempt,
    RepairAttempt,
    foreign,
    side_effects,
)
from labapp.tasks.concept_repair.events import (
    AnswerForetold,
    AnswerPicked,
    ConceptChosen,
    ConceptsDrawn,
    ConceptSet,
    ConceptsShown,
    ConceptUndone,
    GridDrawn,
    GridNothing,
    GridShown,
    GridTicked,
    RepairEnded,
)
from labapp.tasks.concept_repair.plan import (
    ConceptGridPart,
    ConceptRepairPart,
    PlannedItem,
    Repaired,
)
from labapp.tasks.concept_repair.tables import TABLES

Part = ConceptRepairPart | ConceptGridPart
Concepts = RepairAttempt | GridAttempt


class ConceptRepairRecords(TaskRecords[Any, Any]):
    """Every attempt at every picture, and at every grid."""

    tables = TABLES
    begins = ConceptsDrawn.kind
    kinds = frozenset(
        payload.kind
        for payload in (
            AnswerForetold,
            AnswerPicked,
            ConceptChosen,
            ConceptSet,
            ConceptUndone,
            ConceptsShown,
            GridDrawn,
            GridNothing,
            GridShown,
            GridTicked,
            RepairEnded,
        )
    )

    def __init__(self, parts: Mapping[str, Part]) -> None:
        super().__init__(parts)
        # By stage and picture, the states whose answers were on the screen, in whatever attempt.
        self._seen: dict[tuple[str, int], set[tuple[int, ...]]] = {}

    def take(self, event: Event, payload: Payload, working_ns: int) -> None:
        """The grid begins with an event of its own."""
        if isinstance(payload, GridDrawn) and (key := key_of(event)) is not None:
            self.by_key[key] = self.begin(self.parts[key[0]], key, event, payload)
        else:
            super().take(event, payload, working_ns)

    def begin(
        self, part: Part, key: Key, event: Event, payload: ConceptsDrawn | GridDrawn
    ) -> Concepts:
        if isinstance(payload, GridDrawn):
            if isinstance(part, ConceptGridPart):
                return GridAttempt(part, key, payload)
            raise foreign(event, "begins a grid")
        photos = [item.photo for item in part.items] if isinstance(part, ConceptRepairPart) else []
        if isinstance(part, ConceptRepairPart) and photos[key[1] - 1 : key[1]] == [payload.picture]:
            return RepairAttempt(part, key, payload, self._seen.setdefault(key[:2], set()))
        raise foreign(event, f"begins the picture {payload.picture!r}")

    @property
    def repairs(self) -> list[RepairAttempt]:
        """The attempts at pictures."""
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
        harms = [
            harm
            for attempt, change in changes
            if not change.given
            and attempt.right(change.event.answer_before)
            and (harm := attempt.harm(change)) is not None
        ]
        foretold = [right for attempt in repairs for right in attempt.foreseen()]
        return {
            "n_answered": len(times),
            "response_time_s": mean(times),
            "success_rate": mean(
                [float(row["success"]) for row in rows if row["success"] is not None]
            ),
            "gain": mean([float(row["gain"]) for row in rows if row["gain"] is not None]),
            "harm_rate": mean(harms),
            "foretold_rate": mean(foretold),
        }

    def own_rows(self) -> Mapping[str, Iterable[Row]]:
        parts = list(self.parts.values())
        return {
            "repairs": map(_repair_row, self.repairs),
            "concept_changes": (row for attempt in self.repairs for row in _change_rows(attempt)),
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
            for concept, known in enumerate(repaired.concepts):
                for other, changed in enumerate(repaired.concepts):
                    if concept == other:
                        continue
                    pair = concept, other
                    yield {
                        **_where(attempt),
                        "about": part.about,
                        **_of_model(repaired),
                        "concept": known.id,
                        "other": changed.id,
                        "ticked": pair in attempt.ticked if attempt.complete else None,
                        "ticks": attempt.ticks.get(pair, 0),
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


def _repair_row(attempt: RepairAttempt) -> Row:
    return {
        **_of_picture(attempt),
        **attempt.row(),
        "outcome": attempt.outcome or INTERRUPTED,
        "excluded": attempt.excluded_because is not None,
        "excluded_because": attempt.excluded_because,
    }


def _change_rows(attempt: RepairAttempt) -> Iterator[Row]:
    for place, change in enumerate(attempt.changes):
        yield {
            **_of_picture(attempt),
            **attempt.change_row(place, change),
            "excluded": attempt.excluded_because is not None,
        }


def _once(parts: Sequence[Part], rows: Any) -> Iterator[Row]:
    """The rows of each model of the stages, once."""
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
