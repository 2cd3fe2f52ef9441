"""What a bundle has of concept repair: one row per picture, and one row per pair of the grid."""

from __future__ import annotations

import json
from typing import Any

from labapp.record.events import Event
from labapp.study.plugins.bids import STAGE_TYPE, Cells, Column, TaskFiles, TaskRows
from labapp.tasks.concept_repair import events
from labapp.tasks.concept_repair.records import STATES

STATE_WORDS = {"model": "as the model has it", "off": "set off", "on": "set on"}


class ConceptRows(TaskRows):
    """Concepts by their ids in place of their numbers, and states in words."""

    def shown(self, event: Event, payload: Any) -> Cells:
        return self._cells(event, self.drawn[event.key])

    def moment(self, event: Event, payload: Any) -> Cells:
        return self._cells(event, payload)

    def _cells(self, event: Event, payload: Any) -> Cells:
        cells = self.called_alike(payload)
        concepts = self.plan[str(event.part_id)].repaired.concepts
        for name in ("concept", "other"):
            if name in cells:
                cells[name] = concepts[cells[name]].id
        for name in ("to", "was"):
            if name in cells:
                cells[name] = STATES[cells[name]]
        for name in ("beliefs", "probabilities"):
            if name in cells:
                cells[name] = json.dumps(cells[name])
        return cells


_DEVICE = Column("device", "Input: mouse, keyboard, touch, simulated; plan if it was given.")
REPAIR = TaskFiles(
    parts=("concept_repair",),
    name="concept repair",
    label="conceptrepair",
    readme="`*_task-conceptrepair_*.tsv`: pictures for which concepts of a model were set, or "
    "the answer to a change was forecast; one row per attempt. `*_task-conceptgrid_*.tsv`: "
    "which concepts were said to change with which.",
    description="Concept repair: the participant sets what a concept learner believes of a picture "
    "off or on, and sees, or forecasts, the class that it then answers (after Zarlenga et al., "
    "Towards Robust Metrics for Concept Representation Evaluation, 2023).",
    event_columns=(
        Column("picture", "trial: id of the picture in its stimulus set."),
        Column("beliefs", "trial: JSON list, how sure the model is of each concept, 0 to 1."),
        Column(
            "answer",
            "trial: class that the model answers when left alone; picked, foretold: the class "
            "that is forecast, empty for the same as before; ended: class that it answers as it "
            "was left.",
        ),
        Column(
            "probabilities",
            "trial, set, undone: JSON list of the model's probabilities of the classes.",
        ),
        Column("concept", "chosen, set, undone: id of the concept."),
        Column("to", "chosen, set, undone: what it becomes.", levels=STATE_WORDS),
        Column("was", "chosen, set, undone: what it was.", levels=STATE_WORDS),
        Column("answer_before", "set, undone: class that the model answered before."),
        Column("answer_after", "set, undone: class that it answers now."),
        Column("sure", "foretold: whether the participant was sure."),
        Column("how", "ended: done, gave_up or time_expired."),
        _DEVICE,
    ),
    types={
        "stage": STAGE_TYPE,
        "trial": "A picture, from its appearance to its end.",
        "chosen": "A change was chosen, and its result is forecast before it is shown.",
        "picked": "The class that will be answered was picked, or another in its place.",
        "foretold": "The forecast was final; the change follows.",
        "set": "A concept was set, and the model answered again.",
        "undone": "The last change was undone.",
        "ended": "The participant, or the limit, ended the picture.",
    },
    kinds={
        events.ConceptChosen.kind: "chosen",
        events.AnswerPicked.kind: "picked",
        events.AnswerForetold.kind: "foretold",
        events.ConceptSet.kind: "set",
        events.ConceptUndone.kind: "undone",
        events.RepairEnded.kind: "ended",
    },
    drawn=events.ConceptsDrawn.kind,
    shown=events.ConceptsShown.kind,
    table="repairs",
    rows=ConceptRows,
)
GRID = TaskFiles(
    parts=("concept_grid",),
    name="concept grid",
    label="conceptgrid",
    readme="",
    description="Concept grid: the participant ticks which concept, when it is set, also changes "
    "which other in the model they worked with before.",
    event_columns=(
        Column("concept", "ticked: id of the concept that is set."),
        Column("other", "ticked: id of the concept that is said to change with it."),
        Column("on", "ticked, nothing: whether the participant says so now."),
        _DEVICE,
    ),
    types={
        "stage": "The grid, from its beginning to its end.",
        "trial": "The grid, from its appearance to Next.",
        "ticked": "A pair was ticked or unticked.",
        "nothing": "The participant said that no concept changes another, or took that back.",
    },
    kinds={events.GridTicked.kind: "ticked", events.GridNothing.kind: "nothing"},
    drawn=events.GridDrawn.kind,
    shown=events.GridShown.kind,
    table="concept_grids",
    rows=ConceptRows,
)
