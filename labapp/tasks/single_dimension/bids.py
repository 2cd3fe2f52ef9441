"""What a bundle has of the single-dimension task."""

from __future__ import annotations

from typing import Any

from labapp.record.events import Event
from labapp.record.events.trials import StageTimeExpired
from labapp.study.plugins.bids import (
    STAGE_TYPE,
    TIME_EXPIRED_TYPE,
    Cells,
    Column,
    TaskFiles,
    TaskRows,
)
from labapp.tasks.single_dimension.events import (
    AnswerGiven,
    ChoiceMade,
    ExamplesRedrawn,
    QuestionDrawn,
    QuestionShown,
    RatingMade,
)


class SingleDimensionRows(TaskRows):
    def moment(self, event: Event, payload: Any) -> Cells:
        cells = self.called_alike(payload)
        match payload:
            case ChoiceMade() | AnswerGiven():
                cells["value"] = payload.choice
            case ExamplesRedrawn():
                cells["value"] = payload.number
            case StageTimeExpired():
                cells["value"] = payload.limit_s
        return cells


FILES = TaskFiles(
    parts=("single_dimension",),
    name="single-dimension",
    label="singledimension",
    readme="`*_task-singledimension_*.tsv`: the same for questions about one slider (choice, "
    "ratings, whether right).",
    description="Single-dimension task: the participant says how one slider of a representation "
    "is set in a picture, next to traversals or exemplars of that slider (Ross, Chen, Hang, "
    "Glassman and Doshi-Velez, Evaluating the Interpretability of Generative Models by "
    "Interactive Reconstruction, 2021).",
    left_out=("skips_taken_back",),
    event_columns=(
        Column("item", "rating: confidence or understanding."),
        Column(
            "value",
            "choice, answer: the choice, from 0 (low, medium, high; if discrete, the index "
            "of its value); rating: 1 to 5; more_examples: how often in this question; "
            "time_expired: the limit in s.",
        ),
        Column("device", "Input that chose or rated: mouse, keyboard, simulated."),
        Column("correct", "answer: whether it was the right choice."),
    ),
    types={
        "stage": STAGE_TYPE,
        "trial": "A question, from when its pictures appear to Next or another end.",
        "choice": "A choice was taken or changed.",
        "rating": "A rating was given or changed.",
        "more_examples": "Other examples were asked for and shown.",
        "answer": "Choice and ratings were submitted; the right choice was shown.",
        "time_expired": TIME_EXPIRED_TYPE,
    },
    kinds={
        ChoiceMade.kind: "choice",
        RatingMade.kind: "rating",
        ExamplesRedrawn.kind: "more_examples",
        AnswerGiven.kind: "answer",
        StageTimeExpired.kind: "time_expired",
    },
    drawn=QuestionDrawn.kind,
    shown=QuestionShown.kind,
    rows=SingleDimensionRows,
)
