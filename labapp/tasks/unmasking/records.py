"""What is recorded of unmasked pictures, and its rows of tables: trials, stages, annotations,
masked predictions and the pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import exp

import numpy as np
import scipy

from labapp.analysis.answered import mean
from labapp.analysis.column import (
    INCLUDED,
    STALLED,
    WHO,
    columns_in,
    number,
    of,
    seconds,
    text,
    through,
    whole,
)
from labapp.analysis.task_records import Attempt, Key, Ran, TaskRecords, TaskTables, not_planned
from labapp.base.clock import NS
from labapp.record.events import Event, Payload
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn, StimulusShown
from labapp.tasks.unmasking.plan import (
    DONT_KNOW,
    Answered,
    PlannedMask,
    PlannedSequence,
    Unmasked,
    UnmaskingPart,
)

MS = 1_000_000
"""ns in a millisecond."""
PRACTICE = "practice"


@lru_cache(maxsize=8192)
def _log_probabilities(
    logits: tuple[float, ...], classes: tuple[str, ...]
) -> Mapping[str, float] | None:
    """What a model makes of a picture: the log of the probability of every class; None without
    logits. The sessions of a study have the same pictures: each is worked out once."""
    if not logits:
        return None
    result = scipy.special.log_softmax(np.asarray(logits, dtype=np.float64))
    return dict(zip(classes, result.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class OfSet:
    """Something of a stimulus set."""

    set: Unmasked


@dataclass(frozen=True, slots=True)
class Pair(OfSet):
    """How often the model predicts one class for photos of another, in a pool."""

    truth: str
    prediction: str
    count: int


@dataclass(frozen=True, slots=True)
class Masked(OfSet):
    """A masked image, as it was planned."""

    sequence: PlannedSequence
    mask: PlannedMask

    @property
    def prediction_masked(self) -> str | None:
        """The most probable class, the first of several."""
        log_p = _log_probabilities(self.mask.logits, self.set.classes)
        return None if log_p is None else max(log_p, key=lambda name: log_p[name])

    @property
    def correct_prediction_masked(self) -> bool | None:
        predicted = self.prediction_masked
        return None if predicted is None else predicted == self.sequence.truth

    @property
    def cross_entropy_masked(self) -> float | None:
        log_p = _log_probabilities(self.mask.logits, self.set.classes)
        return None if log_p is None else -log_p[self.sequence.truth] + 0.0

    def p(self, image: PlannedSequence | PlannedMask, of: str) -> float | None:
        log_p = _log_probabilities(image.logits, self.set.classes)
        return None if log_p is None else exp(log_p[of])


class StimulusRecord(Answered, Attempt):
    """One attempt at a stimulus. prior_exposures: how often the same picture was on the screen
    before."""

    part: UnmaskingPart
    drawn: StimulusDrawn
    masked: Masked
    prior_exposures = 0

    def __init__(self, part: UnmaskingPart, key: Key, drawn: StimulusDrawn) -> None:
        Attempt.__init__(self, key)
        Answered.__init__(self, part, drawn)
        self.sequence = part.sequences[drawn.sequence - 1]
        self.masked = Masked(part.unmasked, self.sequence, self.sequence.masks[drawn.mask - 1])

    def take(self, event: Event, payload: Payload, working: int) -> None:
        self.apply(payload)
        match payload:
            case StimulusShown():
                self.started_session_ns, self.started_ns = payload.painted_ns, working
            case ResponseGiven():
                self.ended_session_ns = payload.input_ns

    @property
    def complete(self) -> bool:
        return self.response is not None

    @property
    def planned_session_s(self) -> float:
        """Session time at which it appeared, or was to appear where it never did."""
        shown = self.started_session_s
        return self.drawn.due_ns / NS if shown is None else shown

    @property
    def counts_right(self) -> bool | None:
        return None if self.dont_know else self.correct

    @property
    def excluded_because(self) -> str | None:
        """Why it does not count; practice never does."""
        return super().excluded_because or (PRACTICE if self.part.role == PRACTICE else None)

    @property
    def response_s(self) -> float | None:
        result = self.reaction_time_ns
        return None if result is None else result / NS


class BlockRecord:
    """A block's stimuli that count. Reaction times during which the keyboard was away do not."""

    def __init__(self, part: UnmaskingPart, attempts: Sequence[StimulusRecord], ran: Ran) -> None:
        self.part = part
        self.counted = [stimulus for stimulus in attempts if not stimulus.excluded]
        self.right = [stimulus.correct is True for stimulus in self.counted]
        timed = (stimulus for stimulus in self.counted if stimulus.key not in ran.keyboard_away)
        self.response_time_s = mean(stimulus.response_s for stimulus in timed)


def in_ms(t_ns: int | None) -> float | None:
    return None if t_ns is None else t_ns / MS


_SET = of(
    OfSet,
    text("stimuli", "id of the stimulus set"),
    text("manifest_sha256", "hash of the set's manifest"),
    text("classifier", "model package of the explained model; empty if the set names none"),
    number("model_accuracy", "accuracy of the explained model on its test photos", "%"),
    text("classes", "ids of the classes that the model distinguishes, separated by ;"),
    via=("set",),
    model_accuracy="set.accuracy",
    classes=lambda row: ";".join(row.set.classes),
)
_MASK = of(
    Masked,
    *_SET,
    text("image", "id of the image"),
    text("truth", "id of the true class"),
    text("method", "id of the explanation method that ranks the pixels"),
    text("method_name", "its name", lambda row: row.set.methods[row.sequence.method]),
    whole("method_number", "its place among the methods of the set, from 1"),
    number("percent", "share of the pixels that are shown", "%"),
    whole("pixels", "pixels of the scores' grid that are shown", "pixels"),
    whole("grid_rows", "rows of the scores' grid", "pixels", lambda row: row.set.grid[0]),
    whole("grid_columns", "columns of the scores' grid", "pixels", lambda row: row.set.grid[1]),
    *columns_in("""
        text fill: what masked pixels become: mean (of the set's pictures), black, grey or white
        text sign: pixels are ranked by their scores (signed) or the absolute values (absolute)
        text prediction: id of the class that the model predicts for the whole image
        yes correct_prediction: that prediction is right
        number p_truth [0-1]: the model's probability of the true class, whole image
        number p_prediction [0-1]: the model's probability of the predicted class, whole image
        text prediction_masked: id of the class that the model predicts for the masked image, the
            most probable one; empty, as are the next three, if there is no output of the model
        yes correct_prediction_masked: that prediction is right
        number p_truth_masked [0-1]: the model's probability of the true class, masked image
        number cross_entropy_masked [nats]: the model's loss: minus the natural logarithm of
            p_truth_masked
    """),
    via=("sequence", "mask", "set"),
    method_number=lambda row: list(row.set.methods).index(row.sequence.method) + 1,
    correct_prediction=lambda row: row.sequence.prediction == row.sequence.truth,
    p_truth=lambda row: row.p(row.sequence, row.sequence.truth),
    p_prediction=lambda row: row.p(row.sequence, row.sequence.prediction),
    p_truth_masked=lambda row: row.p(row.mask, row.sequence.truth),
)

ANNOTATIONS = of(
    StimulusRecord,
    *WHO,
    text("stage", "id of the plan's part: a block of the stage, or the example", "part.id"),
    whole("stage_number", "place of the block among the stages (of the example: 1)"),
    text("role", "stage, or practice (the example sequence)"),
    whole("trial", "number of the stimulus in its part, from 1"),
    whole("attempt", "attempt at the stimulus, from 1; a pause while it is open begins another"),
    whole("number", "number of the stimulus over all blocks, from 1"),
    whole("sequence", "number of the sequence (an image and a method) in its part, from 1"),
    whole("mask", "place of the mask in its sequence, from 1, the smallest share shown first"),
    *through("masked", *_MASK),
    whole("track", "adaptive stages: number of the track, from 1; empty if no rule chose it"),
    text("outcome", "answered, interrupted, or stage_skipped (by the moderator)", "ended_by"),
    *columns_in("""
        whole button: the button pressed, from 1; 0 is “I don't know”
        text response: id of the class named; empty with “I don't know” and without a response
        yes dont_know: the response is “I don't know”
        yes correct: the true class was named; “I don't know” is not correct
        yes follows_prediction: the class named is the prediction for the whole image
        yes follows_prediction_masked: the class named is the prediction for the masked image
        number reaction_time_ms [ms]: from the first painted frame of the stimulus to the input
            event's own time stamp
    """),
    STALLED,
    *columns_in("""
        yes keyboard_away: for part of it, the moderator or another program had the participant's
            keyboard; its reaction time is left out of all figures and statistics of times
        whole prior_exposures: how often the same image with the same mask was on the screen before,
            in this session
        text shown_by: source of the time when it was painted: frame (the window system confirmed
            the frame),
            flush (it was handed to the window system) or simulated
        text timed_by: source of the time of the response: event (the input event's own time stamp),
            arrival (when the program got it) or simulated
        text device: what answered: keyboard, mouse, touch or simulated
        number refresh_ms [ms]: refresh interval of the display, if known
        whole side_px [px]: longer side of the picture as it was shown, in pixels of the display
        yes too_small: the window had less room for the picture than the study requires; empty if
            this was not checked
        seconds due_s: session time (pauses included) at which it was to appear
    """),
    seconds("painted_s", "session time of its first painted frame", "started_session_s"),
    *columns_in("""
        seconds input_s: session time of the input event
        number due_to_paint_ms [ms]: from when it was to appear to its first painted frame
        yes excluded: it does not count: an interrupted attempt, or practice; the report uses the
            rows that are included and not excluded
        text excluded_because: why it does not count
    """),
    INCLUDED,
    via=("part", "drawn", "shown", "response"),
    stage_number="part.number",
    sequence="drawn.sequence",
    response="named",
    follows_prediction=lambda row: row.equals(row.sequence.prediction),
    follows_prediction_masked=lambda row: row.equals(row.masked.prediction_masked),
    reaction_time_ms=lambda row: in_ms(row.reaction_time_ns),
    due_s=lambda row: row.drawn.due_ns / NS,
    input_s=lambda row: row.response and row.response.input_ns / NS,
    due_to_paint_ms=lambda row: row.shown and in_ms(row.shown.painted_ns - row.drawn.due_ns),
    number=lambda row: row.part.first + row.trial,
    button="response.response",
)

MASKED_PREDICTIONS = (text("study", "id of the study"), *_MASK)
"""What the explained model makes of each masked image that was planned, practice aside: no human
in the loop. A row per image, method and mask, no matter who saw it."""

POOL = of(
    Pair,
    text("study", "id of the study"),
    *_SET,
    text("truth", "id of the true class"),
    text("prediction", "id of the class that the model predicts"),
    whole("count", "photos of that true class with that prediction", "photos"),
)
"""How the explained model does on all photos from which the images of a stimulus set were chosen
(tables 1 and 2); a row for every pair of classes."""

_OF_A_SET = ("study", "stimuli", "manifest_sha256", "classifier")
TABLES = TaskTables(
    words={
        "tasks": "unmasking (of masked pictures)",
        "durations": "of a masked picture its reaction time, from the first painted frame to the "
        "time stamp of the input event",
    },
    outcomes={
        "answered": "a masked picture",
        "interrupted": "a masked picture that a pause fell into",
    },
    own={"annotations": ANNOTATIONS, "masked_predictions": MASKED_PREDICTIONS, "pool": POOL},
    row_is={
        "annotations": "an attempt at a masked picture",
        "masked_predictions": "a masked picture, for all who saw it",
        "pool": "a pair of classes of the photos from which masked pictures were chosen",
    },
    rows={
        "annotations": lambda records: records.attempts,
        "masked_predictions": lambda records: walk_masked_images(records.parts.values()),
        "pool": lambda records: pairs(records.parts.values()),
    },
    shared={
        "trials": {"duration_s": "response_s"},
        "stages": {
            "n_answered": lambda stage: len(stage.counted),
            "n_correct": lambda stage: sum(stage.right),
            "correctness_rate": lambda stage: mean(stage.right),
            "response_time_s": "response_time_s",
            "model_accuracy": "part.unmasked.accuracy",
        },
    },
    distinct={
        "masked_predictions": (*_OF_A_SET, "fill", "sign", "image", "method_number", "percent"),
        "pool": (*_OF_A_SET, "truth", "prediction"),
    },
)


class UnmaskingRecords(TaskRecords[UnmaskingPart, StimulusRecord]):
    """Every attempt at every stimulus."""

    tables = TABLES
    begins = StimulusDrawn.kind
    kinds = frozenset({StimulusShown.kind, ResponseGiven.kind})

    def begin(
        self, part: UnmaskingPart, key: Key, event: Event, payload: StimulusDrawn
    ) -> StimulusRecord:
        """Raises RecordError if the plan lacks the stimulus."""
        number, mask = payload.sequence, payload.mask
        sequence = part.sequences[number - 1] if 1 <= number <= len(part.sequences) else None
        if (
            sequence is None
            or not 1 <= mask <= len(sequence.masks)
            or (sequence.image, sequence.method) != (payload.image, payload.method)
        ):
            begins = f"begins mask {mask} of {payload.image!r} with {payload.method!r}"
            raise not_planned(event, begins)
        return StimulusRecord(part, key, payload)

    def take(self, event: Event, payload: Payload, working_ns: int) -> None:
        if isinstance(payload, ResponseGiven) and event.part_id is not None:
            buttons = len(self.parts[event.part_id].buttons)
            if not DONT_KNOW <= payload.response < buttons:
                raise not_planned(event, f"answers with button {payload.response}")
        super().take(event, payload, working_ns)

    def end(self, working_ns: int) -> None:
        """Counts, for each attempt, how many earlier ones showed the same image masked alike."""
        super().end(working_ns)
        seen: Counter[tuple[str, str, float]] = Counter()
        for record in self.attempts:
            picture = (record.sequence.image, record.sequence.method, record.masked.mask.percent)
            record.prior_exposures = seen[picture]
            seen[picture] += record.shown is not None

    def stage(
        self, part: UnmaskingPart, attempts: Sequence[StimulusRecord], ran: Ran
    ) -> BlockRecord:
        return BlockRecord(part, attempts, ran)


def walk_masked_images(parts: Iterable[UnmaskingPart]) -> Iterator[Masked]:
    """Every masked image that was planned, practice aside."""
    for part in parts:
        for sequence in part.sequences if part.role != PRACTICE else ():
            yield from (Masked(part.unmasked, sequence, mask) for mask in sequence.masks)


def pairs(parts: Iterable[UnmaskingPart]) -> Iterator[Pair]:
    """Every pair of classes of the pools."""
    for part in parts:
        counts = {(pair.truth, pair.prediction): pair.count for pair in part.unmasked.pool}
        classes = part.unmasked.classes if counts else ()
        for truth, prediction in product(classes, repeat=2):
            count = counts.get((truth, prediction), 0)
            yield Pair(part.unmasked, truth, prediction, count)
