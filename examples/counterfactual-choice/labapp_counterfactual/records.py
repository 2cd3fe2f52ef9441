"""What is recorded of the task, and its rows of tables."""

from __future__ import annotations

from collections.abc import Sequence

from labapp.analysis.answered import ANSWERS, AnsweredAttempt, AnsweredStage
from labapp.analysis.column import (
    INCLUDED,
    TRIAL,
    WHERE,
    WHO,
    number,
    of,
    seconds,
    text,
    whole,
    yes,
)
from labapp.analysis.task_records import Key, Ran, TaskRecords, TaskTables
from labapp.record.events import Event, Payload
from labapp_counterfactual.events import (
    CandidateChosen,
    ConfidenceRated,
    CounterfactualAnswered,
    CounterfactualDrawn,
    CounterfactualShown,
)
from labapp_counterfactual.plan import CounterfactualPart


class Question(AnsweredAttempt[CounterfactualPart, CounterfactualDrawn, CounterfactualAnswered]):
    """One attempt at a question."""

    part: CounterfactualPart
    confidence: int | None = None

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case CounterfactualShown():
                self.show(event, working)
            case CandidateChosen():
                self.choose(payload.choice, working)
            case ConfidenceRated():
                self.confidence = payload.confidence
            case CounterfactualAnswered():
                self.hand_in(payload, working)
        self.last_ns = working

    @property
    def candidate_dimension(self) -> int | None:
        return None if self.choice is None else self.drawn.changed[self.choice] + 1


CHOICES = of(
    Question,
    *WHO,
    *WHERE,
    text("model", "id of the representation", "part.model"),
    *TRIAL,
    whole("dimension", "the dial asked about, from 1"),
    text("dimension_name", "the representation's own name of the dimension"),
    whole("right_candidate", "place of the candidate that differs in that dial, from 1"),
    whole("candidate", "place of the candidate that counts, from 1; empty where none was taken"),
    whole("candidate_dimension", "the dial in which that one differs, from 1"),
    yes("correct", "the candidate handed in was the right one; empty without an answer"),
    whole("confidence", "how sure the participant was, 1 not at all to 5", "1-5"),
    whole("choice_changes", "candidates taken after the first"),
    seconds("response_s", "from the pictures' appearance to the answer, without pauses and gaps"),
    yes("excluded", "an attempt that does not count"),
    text("excluded_because", "why it does not count"),
    INCLUDED,
    dimension=lambda row: row.drawn.dimension + 1,
    dimension_name=lambda row: row.part.space.dimensions[row.drawn.dimension].name,
    right_candidate=lambda row: row.drawn.correct + 1,
    candidate=lambda row: None if row.choice is None else row.choice + 1,
)

TABLES = TaskTables(
    own={"counterfactual_choices": CHOICES},
    rows={"counterfactual_choices": lambda records: records.attempts},
    added={
        "stages": {
            "correctness_rate": (
                number(
                    "counterfactual_confidence",
                    "counterfactual-choice: mean of how sure the participant was",
                    "1-5",
                    lambda stage: stage.mean_of("confidence"),
                ),
            )
        }
    },
    shared={"trials": {"duration_s": "duration_s"}, "stages": ANSWERS},
)


class CounterfactualRecords(TaskRecords[CounterfactualPart, Question]):
    """Every attempt at every question."""

    tables = TABLES
    begins = CounterfactualDrawn.kind
    kinds = frozenset(
        payload.kind
        for payload in (
            CounterfactualShown,
            CandidateChosen,
            ConfidenceRated,
            CounterfactualAnswered,
        )
    )

    def begin(
        self, part: CounterfactualPart, key: Key, event: Event, payload: CounterfactualDrawn
    ) -> Question:
        return Question(part, key, payload)

    def stage(
        self, part: CounterfactualPart, attempts: Sequence[Question], ran: Ran
    ) -> AnsweredStage[Question]:
        return AnsweredStage(attempts)
