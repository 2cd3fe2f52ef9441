"""What a bundle has of interactive reconstruction."""

from __future__ import annotations

from typing import Any

from labapp.record.events import Event
from labapp.record.events.lifecycle import PageTurned
from labapp.record.events.trials import StageTimeExpired
from labapp.study.plugins.bids import (
    STAGE_TYPE,
    TIME_EXPIRED_TYPE,
    Cells,
    Column,
    CourseRow,
    TaskFiles,
    TaskRows,
)
from labapp.tasks.reconstruction.events import (
    AlignmentMarked,
    DialMoved,
    DialSelected,
    LabelEdited,
    OverlayToggled,
    PictureDecoded,
    SkipOffered,
    TrialDrawn,
    TrialSolved,
    TrialStarted,
    TutorialDialMoved,
)


class ReconstructionRows(TaskRows):
    def shown(self, event: Event, payload: TrialStarted) -> Cells:
        return self.called_alike(payload) | {"z_seq": 0}

    def moment(self, event: Event, payload: Any) -> Cells:
        cells = self.called_alike(payload)
        if "dimension" in cells:
            cells["dimension"] += 1
        match payload:
            case AlignmentMarked():
                cells["value"] = payload.mark
            case OverlayToggled():
                cells["value"] = payload.on
            case SkipOffered():
                cells["value"] = payload.active_s
            case StageTimeExpired():
                cells["value"] = payload.limit_s
        return cells


COURSE = (
    CourseRow(
        TutorialDialMoved.kind,
        "A slider of the tutorial was moved to value.",
        lambda payload: {
            "value": payload.value,
            "text": f"box {payload.box + 1}, slider {payload.dimension + 1}",
        },
        behind=PageTurned.kind,
    ),
)
FILES = TaskFiles(
    parts=("reconstruction",),
    name="reconstruction",
    label="reconstruction",
    readme="`sub-*/ses-*/beh/*_task-reconstruction_beh.tsv`: one row per question (start, "
    "target, outcome, durations, movement, error). `*_task-reconstruction_events.tsv`: stages, "
    "questions, movements of the sliders and pictures on one timeline.",
    description="Interactive reconstruction: the participant moves the sliders of a representation "
    "until its picture is aligned with a target picture (Ross, Chen, Hang, Glassman and "
    "Doshi-Velez, Evaluating the Interpretability of Generative Models by Interactive "
    "Reconstruction, 2021).",
    left_out=("task",),
    event_columns=(
        Column("dimension", "The slider, from 1 as on the screen."),
        Column(
            "value",
            "dial_moved: the slider's new value (index from 0 if it is discrete); mark: far "
            "(far away) or close (close enough); overlay: on or not; skip_offered: active time in "
            "s; time_expired: the limit in s.",
        ),
        Column(
            "device",
            "Input that moved or grabbed the slider: mouse, keyboard, wheel, touch, simulated.",
        ),
        Column("alignment", "Alignment with the target, 1 - distance.", "0-1"),
        Column("error_sum", "Sum over pixels of squared differences from the target's picture."),
        Column("error_mean", "Mean over pixels of squared differences from the target's picture."),
        Column(
            "z_seq", "Slider state of the question that a picture belongs to (changes, from 1)."
        ),
        Column("text", "What was typed, on one line."),
    ),
    types={
        "stage": STAGE_TYPE,
        "trial": "A question, from when the pictures appear to Next, Skip or another end.",
        "dial_selected": "A slider was grabbed.",
        "dial_moved": "A slider was moved to a new value.",
        "picture": "The picture of the sliders was decoded and compared with the target.",
        "solved": "The alignment reached the target; the sliders are locked.",
        "mark": "In a calibration, the participant said how near the pictures are.",
        "overlay": "Switched between side by side (false) and overlay (true).",
        "label": "A slider was renamed.",
        "skip_offered": "Skip became available.",
        "time_expired": TIME_EXPIRED_TYPE,
    },
    kinds={
        DialSelected.kind: "dial_selected",
        DialMoved.kind: "dial_moved",
        PictureDecoded.kind: "picture",
        TrialSolved.kind: "solved",
        AlignmentMarked.kind: "mark",
        OverlayToggled.kind: "overlay",
        LabelEdited.kind: "label",
        SkipOffered.kind: "skip_offered",
        StageTimeExpired.kind: "time_expired",
    },
    drawn=TrialDrawn.kind,
    shown=TrialStarted.kind,
    rows=ReconstructionRows,
)
