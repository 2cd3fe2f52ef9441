"""What a bundle has of the tasks that judge explanations, and of the warm-up before them."""

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
from labapp.tasks.judging import events
from labapp.tasks.judging.plan import SIMILARITY


class JudgingRows(TaskRows):
    def shown(self, event: Event, payload: events.PhotoShown) -> Cells:
        return {"photo": self.drawn[event.key].photo}

    def moment(self, event: Event, payload: Any) -> Cells:
        cells = self.called_alike(payload)
        match payload:
            case events.JudgementMade():
                cells["item"] = payload.question
                cells |= self._describe_rating(event, payload.question)
            case events.DescriptionOpened() | events.DescriptionClosed():
                cells["item"] = payload.what
            case events.SpeciesOpened():
                cells["value"] = payload.option
            case StageTimeExpired():
                cells["value"] = payload.limit_s
        return cells

    def _describe_rating(self, event: Event, question: str) -> Cells:
        """What a rating of similarity is about; nothing of other questions."""
        photo = self.drawn[event.key].photo
        for number, row in enumerate(self.plan[str(event.part_id)].judged[photo].rows, start=1):
            if question == SIMILARITY.format(number):
                return {
                    "prototype": row.prototype,
                    "prototype_class": row.of,
                    "model_similarity": row.similarity,
                    "model_rank": row.rank,
                }
        return {}


def _files(part: str, name: str, label: str, description: str, readme: str) -> TaskFiles:
    """Of the stages and of the warm-up, whose exercises are photos that are judged too."""
    return TaskFiles(
        parts=(part,),
        name=name,
        label=label,
        description=f"{description} (Kim, Meister, Ramaswamy, Fong and Russakovsky, HIVE: "
        "Evaluating the Human Interpretability of Visual Explanations, 2022).",
        readme=readme,
        event_columns=(
            Column("photo", "trial: id of the photo, or of the exercise."),
            Column(
                "item",
                "judgement: the question, similarity_N for the N-th row of the photo as planned; "
                "description: method or tree.",
            ),
            Column(
                "value",
                "judgement: the answer, n/a if it was taken back; species_opened: place of the "
                "class among the options, from 1; time_expired: the limit in s.",
            ),
            Column("device", "Input that answered: mouse, keyboard, simulated."),
            Column("prototype", "judgement of a row: id of its prototype."),
            Column("prototype_class", "judgement of a row: id of the class of its prototype."),
            Column("model_similarity", "judgement of a row: its similarity as the model has it."),
            Column(
                "model_rank", "The same as a rank among the rows of its class, 1 the most similar."
            ),
        ),
        types={
            "stage": STAGE_TYPE,
            "trial": "A photo, or an exercise of the warm-up, from its appearance to its end.",
            "judgement": "A question about the photo was answered, or its answer changed or taken "
            "back.",
            "judged": "The answers were submitted.",
            "species_opened": "The rows of another class were opened.",
            "description_opened": "The description of the method, or the whole tree, was opened.",
            "description_closed": "And closed.",
            "time_expired": TIME_EXPIRED_TYPE,
        },
        kinds={
            events.JudgementMade.kind: "judgement",
            events.PhotoJudged.kind: "judged",
            events.SpeciesOpened.kind: "species_opened",
            events.DescriptionOpened.kind: "description_opened",
            events.DescriptionClosed.kind: "description_closed",
            StageTimeExpired.kind: "time_expired",
        },
        drawn=events.PhotoDrawn.kind,
        shown=events.PhotoShown.kind,
        without_row=(events.PerformanceComputed.kind,),  # it follows from the answers
        table="judgements",
        rows=JudgingRows,
    )


JUDGING = _files(
    "judging",
    "judging explanations",
    "judging",
    "The participant judges explanations of a classifier's predictions: which class it predicts, "
    "which is correct, whether it is right, how similar its prototypes are",
    "`*_task-judging_*.tsv`, `*_task-warmup_*.tsv`: the same of photos whose explanations were "
    "judged.",
)
WARM_UP = _files(
    "warm_up",
    "warm-up with a decision tree",
    "warmup",
    "Exercises before explanations are judged: is the prediction of a small decision tree right, "
    "and what is the first mistake about",
    "",
)
