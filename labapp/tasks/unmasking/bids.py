"""What a bundle has of the unmasking task: tables, and the masked pictures themselves.

BIDS wants what `stim_file` names below the dataset's own folder `stimuli`. A picture that many
sessions showed lies there once, named by its SHA-256; each session has its own copy in sourcedata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import StimuliStored
from labapp.record.journal.layout import STIMULI
from labapp.record.journal.read import payloads
from labapp.record.journal.record import Record
from labapp.study.plugins.bids import Answer, Cells, Column, Key, TaskFiles, TaskRows, seconds
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn, StimulusShown
from labapp.tasks.unmasking.plan import ANSWERED, Answered, UnmaskingPart

DONT_KNOW = "don't know"
STIM_FILE = Column("stim_file", "The picture as it was shown, below the folder stimuli.")


@dataclass(frozen=True, slots=True)
class Stimulus:
    """A stimulus as planned. file: name of its picture in the session's folder of pictures, None
    if it is not there; logits, masked: by class, on the whole and on the masked picture, None
    without a model."""

    file: str | None
    logits: Mapping[str, float] | None
    masked: Mapping[str, float] | None


class UnmaskingRows(TaskRows):
    def __init__(self, files: TaskFiles, record: Record) -> None:
        super().__init__(files, record)
        self._answered: dict[Key, Answered] = {}
        names: dict[str, str] = {}
        for _, payload in payloads([row for row in record.rows if row.kind == StimuliStored.kind]):
            assert isinstance(payload, StimuliStored)
            names |= payload.files
        self._files: dict[str, str] = names
        # Every masked picture that was drawn, by the id of its part and its number in it.
        self._stimuli: dict[tuple[str | None, int | None], Stimulus] = {}
        drawn = [row for row in record.rows if row.kind == StimulusDrawn.kind]
        for event, payload in payloads(drawn):
            if event.part_id in self.plan:
                part = self.plan[event.part_id]
                self._stimuli[event.part_id, event.trial] = self._stimulus(part, payload)

    def _stimulus(self, part: UnmaskingPart, drawn: Any) -> Stimulus:
        classes = part.unmasked.classes
        sequence, mask = part.stimulus(drawn.sequence, drawn.mask)
        name = self._files.get(mask.picture)
        there = name is not None and self.record.tree.has(f"{STIMULI}/{name}")
        return Stimulus(
            file=name if there else None,
            logits=_by_class(classes, sequence.logits),
            masked=_by_class(classes, mask.logits),
        )

    def noted(self, event: Event, payload: Payload) -> None:
        if isinstance(payload, StimulusDrawn):
            self._answered[event.key] = Answered(self.plan[str(event.part_id)], payload)
        elif event.key in self._answered:
            self._answered[event.key].apply(payload)

    def shown_ns(self, event: Event, payload: StimulusShown) -> int:
        return payload.painted_ns

    def shown(self, event: Event, payload: StimulusShown) -> Cells:
        stimulus = self._stimuli.get((event.part_id, event.trial))
        return {
            **self.called_alike(self._answered[event.key].drawn),
            **self.called_alike(payload),
            STIM_FILE.name: None if stimulus is None else stimulus.file,
        }

    def moment(self, event: Event, payload: ResponseGiven) -> Cells:
        return {
            "onset": seconds(payload.input_ns),
            **self.called_alike(payload),
            "response": self._answered[event.key].named or DONT_KNOW,
        }

    def answer(self, event: Event, payload: Any, shown_ns: int) -> Answer | None:
        """A response ends its stimulus, by the time of its input."""
        if not isinstance(payload, ResponseGiven):
            return None
        answered = self._answered[event.key]
        cells = {
            "response_time": seconds(answered.reaction_time_ns or 0),
            "response": answered.named or DONT_KNOW,
            "correct": answered.correct,
        }
        return Answer(payload.input_ns, ANSWERED, cells)

    def question(self, row: Mapping[str, Any]) -> Cells:
        stimulus = self._stimuli.get((row["stage"], row["trial"]))
        if stimulus is None:
            return {}
        outputs = {"logits": stimulus.logits, "logits_masked": stimulus.masked}
        return outputs | {STIM_FILE.name: stimulus.file}

    def pictures(self) -> Mapping[str, str]:
        shown = {(row.part_id, row.trial) for row in self.record.rows if row.kind == FILES.shown}
        return {
            stimulus.file: f"{STIMULI}/{stimulus.file}"
            for place, stimulus in self._stimuli.items()
            if stimulus.file is not None and place in shown
        }


def _by_class(classes: Sequence[str], logits: Sequence[float]) -> dict[str, float] | None:
    return dict(zip(classes, logits, strict=True)) if logits else None


FILES = TaskFiles(
    parts=("unmasking",),
    name="unmasking",
    label="unmasking",
    readme="`*_task-unmasking_*.tsv`: the same for masked pictures, with one row per attempt "
    "(response, reaction time, the model's own outputs), with the picture in `stim_file`, below "
    "`stimuli/`.",
    description="The participant names the class of a picture. Only the pixels that an "
    "explanation of a classifier's prediction ranks highest are visible, and more and more of "
    "them (Biessmann and Refiano, A psychophysics approach for quantitative comparison of "
    "interpretable computer vision models, 2019).",
    more_columns=(
        Column(
            "logits", "The model's logits on the whole image: a JSON object by id of the class."
        ),
        Column(
            "logits_masked", "The same on the masked image; n/a if there is no output of the model."
        ),
        STIM_FILE,
    ),
    event_columns=(
        Column("response_time", "trial: the reaction time, from painted to input.", "s"),
        Column("image", "trial: id of the image."),
        Column("method", "trial: id of the explanation method whose scores rank the pixels."),
        Column("percent", "trial: share of the pixels that are shown, in percent."),
        Column("sequence", "trial: number of the image and method in the part, from 1."),
        Column("mask", "trial: place of the mask in its sequence, from 1."),
        Column("truth", "trial: id of the true class."),
        Column("prediction", "trial: id of the class the model predicts for the whole image."),
        Column("response", f"trial, response: id of the class, or {DONT_KNOW}."),
        Column("correct", f"trial: whether the true class was named; not with {DONT_KNOW}."),
        Column("shown_by", "trial: what says when it was painted: frame, flush or simulated."),
        Column("timed_by", "response: what says when the input was: event, arrival or simulated."),
        Column("device", "response: what answered, such as mouse or keyboard."),
        STIM_FILE,
    ),
    types={
        "stage": "A block of the stage, or the example sequence, from its beginning to its end.",
        "trial": "A masked picture, from the first painted frame of it to the input that answered "
        "it.",
        "response": "The answer, at the input event's own time stamp.",
    },
    kinds={ResponseGiven.kind: "response"},
    drawn=StimulusDrawn.kind,
    shown=StimulusShown.kind,
    table="annotations",
    rows=UnmaskingRows,
)
