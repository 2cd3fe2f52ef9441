"""What a bundle has of the task: a row a question in `_beh.tsv`, a row a press in `_events.tsv`."""

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
from labapp_counterfactual.events import (
    CandidateChosen,
    ConfidenceRated,
    CounterfactualAnswered,
    CounterfactualDrawn,
    CounterfactualShown,
)


class CounterfactualRows(TaskRows):
    """Most fields of the events are called like their columns; these are not."""

    def moment(self, event: Event, payload: Any) -> Cells:
        cells = super().moment(event, payload)
        match payload:
            case CandidateChosen() | CounterfactualAnswered():
                cells["candidate"] = payload.choice + 1
            case StageTimeExpired():
                cells["limit"] = payload.limit_s
        return cells


FILES = TaskFiles(
    parts=("counterfactual_choice",),
    name="counterfactual choice",
    label="counterfactualchoice",
    description="The participant says which of several pictures differs from another in one dial "
    "of a representation.",
    event_columns=(
        Column("candidate", "chosen, answered: place of the candidate, from 1."),
        Column("confidence", "rated, answered: 1 (not at all sure) to 5.", "1-5"),
        Column("correct", "answered: whether it was the right one."),
        Column("limit", "time_expired: the limit.", "s"),
        Column("device", "chosen, rated: the input: mouse, keyboard, simulated."),
    ),
    types={
        "stage": STAGE_TYPE,
        "trial": "A question, from when its pictures appear to Next or another end.",
        "chosen": "A candidate was taken, or changed for another.",
        "rated": "The participant said, or said anew, how sure they are.",
        "answered": "The answer was handed in; the right one was told.",
        "time_expired": TIME_EXPIRED_TYPE,
    },
    kinds={
        CandidateChosen.kind: "chosen",
        ConfidenceRated.kind: "rated",
        CounterfactualAnswered.kind: "answered",
        StageTimeExpired.kind: "time_expired",
    },
    drawn=CounterfactualDrawn.kind,
    shown=CounterfactualShown.kind,
    table="counterfactual_choices",
    rows=CounterfactualRows,
)
