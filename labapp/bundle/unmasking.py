"""What a bundle says of masked pictures: columns, rows, and the pictures themselves.

BIDS wants what `stim_file` names below the dataset's own folder `stimuli`. A picture that many
sessions showed lies there once, named by its SHA-256; each session has its own copy in sourcedata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labapp.analysis.unmasking.parts import PART, UnmaskingPart
from labapp.bundle.folder import BundleFolder
from labapp.bundle.tsv import Column, seconds
from labapp.events.stimuli import StimuliKept
from labapp.records.layout import STIMULI
from labapp.records.record import Record
from labapp.records.rows import bodies
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn, StimulusShown

Cells = dict[str, Any]
Place = tuple[str, int]
"""The id of a part and the number of a stimulus in it, from 1."""

DONT_KNOW = "don't know"
RESPONSES = f"id of the class, or {DONT_KNOW}"
STIM_FILE = Column("stim_file", "The picture as it was shown, below the folder stimuli.")

UNMASKING_TYPES = {
    "stage": "A block of the stage, or the example sequence, from its beginning to its end.",
    "trial": "A masked picture, from the first painted frame of it to the input that answered it.",
    "response": "The answer, at the input event's own time stamp.",
}
UNMASKING_KIND_TYPES = {ResponseGiven.kind: "response"}
UNMASKING_COLUMNS = (
    Column("response_time", "trial: the reaction time, from painted to input.", "s"),
    Column("image", "trial: id of the image."),
    Column("method", "trial: id of the explanation method whose scores rank the pixels."),
    Column("percent", "trial: share of the pixels that are shown, in percent."),
    Column("sequence", "trial: number of the image and method in the part, from 1."),
    Column("mask", "trial: place of the mask in its sequence, from 1."),
    Column("truth", "trial: id of the true class."),
    Column("prediction", "trial: id of the class the model predicts for the whole image."),
    Column("response", f"trial, response: {RESPONSES}."),
    Column("correct", f"trial: whether the true class was named; not with {DONT_KNOW}."),
    Column("shown_by", "trial: what says when it was painted: frame, flush or simulated."),
    Column("timed_by", "response: what says when the input was: event, arrival or simulated."),
    Column("device", "response: what answered, such as mouse or keyboard."),
    STIM_FILE,
)
"""What the timeline of masked pictures has besides the columns of all tasks."""
OUTPUT_COLUMNS = (
    Column("logits", "The model's logits on the whole image: a JSON object by id of the class."),
    Column(
        "logits_masked",
        "The same on the masked image; n/a where there is no output of the model.",
    ),
    STIM_FILE,
)
"""What a row of _beh.tsv has besides the columns of the analysis' table of annotations."""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """A stimulus as planned. file: its picture in the session's folder, None where it is not there;
    logits: by class, on the whole and the masked picture, None without a model."""

    file: str | None
    logits: Mapping[str, float] | None
    logits_masked: Mapping[str, float] | None

    @property
    def stim_file(self) -> str | None:
        """As BIDS writes it: below the folder of all stimuli."""
        return None if self.file is None else self.file.removeprefix(f"{STIMULI}/")

    def cells(self) -> Cells:
        """The `OUTPUT_COLUMNS`."""
        said = {"logits": self.logits, "logits_masked": self.logits_masked}
        return {**said, STIM_FILE.name: self.stim_file}


def stimuli_of(record: Record) -> dict[Place, Stimulus]:
    """Every masked picture that a session planned."""
    kept: dict[str, str] = {}
    for _, body in bodies([row for row in record.rows if row.kind == StimuliKept.kind]):
        assert isinstance(body, StimuliKept)
        kept |= body.files
    found: dict[Place, Stimulus] = {}
    for row in record.planned.plan:
        if row["part"] != PART:
            continue
        classes = row["unmasked"]["classes"]
        planned = [(one, mask) for one in row["sequences"] for mask in one["masks"]]
        for number, (sequence, mask) in enumerate(planned, start=1):
            name = f"{STIMULI}/{kept.get(mask['picture'])}"
            found[str(row["id"]), number] = Stimulus(
                file=name if record.tree.has(name) else None,
                logits=_by_class(classes, sequence["logits"]),
                logits_masked=_by_class(classes, mask.get("logits", ())),
            )
    return found


def _by_class(classes: list[str], logits: list[float]) -> dict[str, float] | None:
    return dict(zip(classes, logits, strict=True)) if logits else None


def add_pictures(bundle: BundleFolder, record: Record, stimuli: Mapping[Place, Stimulus]) -> None:
    """The pictures that the session's journal says were shown, each once a bundle."""
    shown = {(row.stage, row.trial) for row in record.rows if row.kind == StimulusShown.kind}
    for place, stimulus in stimuli.items():
        file = stimulus.file
        if (
            file is not None
            and place in shown
            and f"{STIMULI}/{stimulus.stim_file}" not in (bundle.files)
        ):
            with record.tree.open(file) as source:
                bundle.add_stream(f"{STIMULI}/{stimulus.stim_file}", source)


def trial_cells(drawn: StimulusDrawn, shown: StimulusShown, stimulus: Stimulus | None) -> Cells:
    """The row of a stimulus when it is shown."""
    return {
        "onset": seconds(shown.painted_ns),
        "image": drawn.image,
        "method": drawn.method,
        "percent": drawn.percent,
        "sequence": drawn.sequence,
        "mask": drawn.mask,
        "truth": drawn.truth,
        "prediction": drawn.prediction,
        "shown_by": shown.shown_by,
        STIM_FILE.name: None if stimulus is None else stimulus.stim_file,
    }


def answer_cells(trial: Cells, painted_ns: int, given: ResponseGiven, part: UnmaskingPart) -> Cells:
    """The row of a response; what it says of its stimulus goes into that row too."""
    response = part.class_of(given.response) or DONT_KNOW
    trial |= {
        "response_time": seconds(given.input_ns - painted_ns),
        "response": response,
        "correct": response == trial["truth"],
    }
    return {
        "onset": seconds(given.input_ns),
        "response": response,
        "timed_by": given.timed_by,
        "device": given.device,
    }
