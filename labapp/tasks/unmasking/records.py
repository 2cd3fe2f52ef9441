"""What is recorded of unmasked pictures, and its rows of tables: trials, stages, annotations,
masked predictions and the pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import exp
from statistics import fmean

import numpy as np
from scipy.special import log_softmax

from labapp.analysis.column import INCLUDED, STALLED, WHO, number, seconds, text, whole, yes
from labapp.analysis.task_records import (
    INTERRUPTED,
    Attempt,
    Key,
    Ran,
    Row,
    TaskRecords,
    TaskTables,
)
from labapp.base.clock import NS
from labapp.base.errors import RecordError
from labapp.record.events import Event, Payload
from labapp.tasks.unmasking.events import ResponseGiven, StimulusDrawn, StimulusShown
from labapp.tasks.unmasking.plan import DONT_KNOW, PlannedMask, PlannedSequence, UnmaskingPart

_SET = (
    text("stimuli", "id of the stimulus set"),
    text("manifest_sha256", "hash of the set's manifest"),
    text("classifier", "model package of the explained model; empty where the set names none"),
    number("model_accuracy", "accuracy of the explained model on its test photos", "%"),
    text("classes", "ids of the classes that the model tells apart, with ; between them"),
)
_MASK = (
    *_SET,
    text("image", "id of the image"),
    text("truth", "id of the true class"),
    text("method", "id of the explanation method that ranks the pixels"),
    text("method_name", "its name"),
    whole("method_number", "its place among the methods of the set, from 1"),
    number("percent", "share of the pixels that are shown", "%"),
    whole("pixels", "pixels of the scores' grid that are shown", "pixels"),
    whole("grid_rows", "rows of the scores' grid", "pixels"),
    whole("grid_columns", "columns of the scores' grid", "pixels"),
    text("fill", "what masked pixels become: mean (of the set's pictures), black, grey or white"),
    text("sign", "pixels are ranked by their scores (signed) or the absolute values (absolute)"),
    text("prediction", "id of the class that the model predicts for the whole image"),
    yes("correct_prediction", "that prediction is right"),
    number("p_truth", "the model's probability of the true class, whole image", "0-1"),
    number("p_prediction", "the model's probability of the predicted class, whole image", "0-1"),
    text(
        "prediction_masked",
        "id of the class that the model predicts for the masked image, the most probable one; "
        "empty, as are the next three, where there is no output of the model",
    ),
    yes("correct_prediction_masked", "that prediction is right"),
    number("p_truth_masked", "the model's probability of the true class, masked image", "0-1"),
    number(
        "cross_entropy_masked",
        "minus the natural logarithm of the probability before, the model's loss",
        "nats",
    ),
)

ANNOTATIONS = (
    *WHO,
    text("stage", "id of the plan's part: a block of the stage, or the example"),
    whole("stage_number", "place of the block among the stages (of the example: 1)"),
    text("role", "stage, or practice (the example sequence)"),
    whole("trial", "number of the stimulus in its part, from 1"),
    whole("attempt", "attempt at the stimulus, from 1; a pause while it is open begins another"),
    whole("number", "number of the stimulus over all blocks, from 1"),
    whole("sequence", "number of the sequence (an image and a method) in its part, from 1"),
    whole("mask", "place of the mask in its sequence, from 1, the smallest share shown first"),
    *_MASK,
    text("outcome", "answered, interrupted, or stage_skipped (by the moderator)"),
    whole("button", "the button pressed, from 1; 0 is “I don't know”"),
    text("response", "id of the class named; empty with “I don't know” and without a response"),
    yes("dont_know", "the response is “I don't know”"),
    yes("correct", "the true class was named; “I don't know” is not correct"),
    yes("follows_prediction", "the class named is the prediction for the whole image"),
    yes("follows_prediction_masked", "the class named is the prediction for the masked image"),
    number(
        "reaction_time_ms",
        "from the first painted frame of the stimulus to the input event's own time stamp",
        "ms",
    ),
    STALLED,
    yes(
        "keyboard_away",
        "the participant's keyboard was away for some of it: with the moderator, or with another "
        "program; its reaction time is left out of all that is said of times",
    ),
    whole(
        "prior_exposures",
        "how often the same image masked alike was on the screen before, in this session",
    ),
    text(
        "shown_by",
        "what says when it was painted: frame (the window system confirmed the frame), flush (it "
        "was handed to the window system) or simulated",
    ),
    text(
        "timed_by",
        "what says when the response was: event (the input event's own time stamp), arrival (when "
        "the program got it) or simulated",
    ),
    text("device", "what answered: keyboard, mouse, touch or simulated"),
    number("refresh_ms", "refresh interval of the display, where it says one", "ms"),
    whole("side_px", "longer side of the picture as it was shown, in pixels of the display", "px"),
    yes(
        "too_small",
        "the window had less room for the picture than the study says; empty where that was not "
        "looked at",
    ),
    seconds("due_s", "session time (pauses included) at which it was to appear"),
    seconds("painted_s", "session time of its first painted frame"),
    seconds("input_s", "session time of the input event"),
    number("due_to_paint_ms", "from when it was to appear to its first painted frame", "ms"),
    yes(
        "excluded",
        "it does not count: an attempt that was broken off, or practice; the report is of the rows "
        "that are included and not excluded",
    ),
    text("excluded_because", "why it does not count"),
    INCLUDED,
)

MASKED_PREDICTIONS = (text("study", "id of the study"), *_MASK)
"""What the explained model makes of each masked image that was planned, practice aside: no human
in the loop. A row an image, method and mask, whoever saw it."""

POOL = (
    text("study", "id of the study"),
    *_SET,
    text("truth", "id of the true class"),
    text("prediction", "id of the class that the model predicts"),
    whole("count", "photos of that class of which the model predicts that", "photos"),
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
    distinct={
        "masked_predictions": (*_OF_A_SET, "fill", "sign", "image", "method_number", "percent"),
        "pool": (*_OF_A_SET, "truth", "prediction"),
    },
)


MS = 1_000_000
"""ns in a millisecond."""
PRACTICE = "practice"


class StimulusRecord(Attempt):
    """One attempt at a stimulus. shown, response: what the journal says of it, None where it did
    not come to that; prior_exposures: how often the same picture was on the screen before."""

    part: UnmaskingPart

    def __init__(self, part: UnmaskingPart, key: Key, drawn: StimulusDrawn) -> None:
        super().__init__(key)
        self.part = part
        self.drawn = drawn
        self.sequence = part.sequences[drawn.sequence - 1]
        self.mask = self.sequence.masks[drawn.mask - 1]
        self.shown: StimulusShown | None = None
        self.response: ResponseGiven | None = None
        self.prior_exposures = 0

    def take(self, event: Event, payload: Payload, working: int) -> None:
        match payload:
            case StimulusShown():
                self.shown = payload
                self.started_session_ns, self.started_ns = payload.painted_ns, working
            case ResponseGiven():
                self.response, self.ended_session_ns = payload, payload.input_ns

    @property
    def complete(self) -> bool:
        return self.response is not None

    @property
    def planned_session_s(self) -> float:
        """Session time at which it appeared, or was to appear where it never did."""
        shown = self.started_session_s
        return self.drawn.due_ns / NS if shown is None else shown

    @property
    def excluded_because(self) -> str | None:
        """Why it does not count; practice never does."""
        return super().excluded_because or (PRACTICE if self.part.role == PRACTICE else None)

    @property
    def reaction_time_ns(self) -> int | None:
        """From the first painted frame to the input event's own time stamp."""
        if self.shown is None or self.response is None:
            return None
        return self.response.input_ns - self.shown.painted_ns

    @property
    def response_s(self) -> float | None:
        result = self.reaction_time_ns
        return None if result is None else result / NS

    @property
    def correct(self) -> bool | None:
        return self.equals(self.sequence.truth)

    @property
    def dont_know(self) -> bool | None:
        """Whether the response names no class; None without a response."""
        return None if self.response is None else self.named is None

    @property
    def named(self) -> str | None:
        return None if self.response is None else self.part.class_of(self.response.response)

    def equals(self, other: str | None) -> bool | None:
        """Whether a class was named and is this one; None without a response, or without it."""
        return None if self.response is None or other is None else self.named == other


def _foreign(event: Event, what: str) -> RecordError:
    return RecordError(
        f"Event {event.seq} of this session {what}, which its plan does not have.",
        safe="The session is untouched.",
        todo="Check it with `labapp sessions verify`, and leave it out until then.",
    )


@lru_cache(maxsize=8192)
def _log_probabilities(
    logits: tuple[float, ...], classes: tuple[str, ...]
) -> Mapping[str, float] | None:
    """What a model makes of a picture: the log of the probability of every class; None without
    logits. The sessions of a study have the same pictures: each is worked out once."""
    if not logits:
        return None
    result = log_softmax(np.asarray(logits, dtype=np.float64))
    return dict(zip(classes, result.tolist(), strict=True))


def _predicted(log_p: Mapping[str, float] | None) -> str | None:
    """The most probable class, the first of several."""
    return None if log_p is None else max(log_p, key=lambda name: log_p[name])


def _set_columns(part: UnmaskingPart) -> Row:
    shared = part.unmasked
    return {
        "stimuli": shared.stimuli,
        "manifest_sha256": shared.manifest_sha256,
        "classifier": shared.classifier,
        "model_accuracy": shared.accuracy,
        "classes": ";".join(shared.classes),
    }


def _mask_columns(part: UnmaskingPart, sequence: PlannedSequence, mask: PlannedMask) -> Row:
    """The columns that annotations and masked predictions share."""
    shared = part.unmasked
    whole = _log_probabilities(sequence.logits, shared.classes)
    masked = _log_probabilities(mask.logits, shared.classes)
    predicted = _predicted(masked)
    return {
        **_set_columns(part),
        "image": sequence.image,
        "truth": sequence.truth,
        "method": sequence.method,
        "method_name": shared.methods[sequence.method],
        "method_number": list(shared.methods).index(sequence.method) + 1,
        "percent": mask.percent,
        "pixels": mask.pixels,
        "grid_rows": shared.grid[0],
        "grid_columns": shared.grid[1],
        "fill": shared.fill,
        "sign": shared.sign,
        "prediction": sequence.prediction,
        "correct_prediction": sequence.prediction == sequence.truth,
        "p_truth": _p(whole, sequence.truth),
        "p_prediction": _p(whole, sequence.prediction),
        "prediction_masked": predicted,
        "correct_prediction_masked": None if predicted is None else predicted == sequence.truth,
        "p_truth_masked": _p(masked, sequence.truth),
        "cross_entropy_masked": None if masked is None else -masked[sequence.truth] + 0.0,
    }


def _p(log_p: Mapping[str, float] | None, of: str) -> float | None:
    return None if log_p is None else exp(log_p[of])


def annotation_row(record: StimulusRecord) -> Row:
    part, drawn, shown, response = record.part, record.drawn, record.shown, record.response
    masked = _log_probabilities(record.mask.logits, part.unmasked.classes)
    painted_ns = None if shown is None else shown.painted_ns
    reaction_ns = record.reaction_time_ns
    return {
        "stage": part.id,
        "stage_number": part.number,
        "role": part.role,
        "trial": record.trial,
        "attempt": record.attempt,
        "number": part.first + record.trial,
        "sequence": drawn.sequence,
        "mask": drawn.mask,
        **_mask_columns(part, record.sequence, record.mask),
        "outcome": record.outcome or INTERRUPTED,
        "button": None if response is None else response.response,
        "response": record.named,
        "dont_know": record.dont_know,
        "correct": record.correct,
        "follows_prediction": record.equals(record.sequence.prediction),
        "follows_prediction_masked": record.equals(_predicted(masked)),
        "reaction_time_ms": None if reaction_ns is None else reaction_ns / MS,
        "prior_exposures": record.prior_exposures,
        "shown_by": None if shown is None else shown.shown_by,
        "timed_by": None if response is None else response.timed_by,
        "device": None if response is None else response.device,
        "refresh_ms": None if shown is None else shown.refresh_ms,
        "side_px": None if shown is None else shown.side_px,
        "too_small": None if shown is None else shown.too_small,
        "due_s": drawn.due_ns / NS,
        "painted_s": None if painted_ns is None else painted_ns / NS,
        "input_s": None if response is None else response.input_ns / NS,
        "due_to_paint_ms": None if painted_ns is None else (painted_ns - drawn.due_ns) / MS,
        "excluded": record.excluded_because is not None,
        "excluded_because": record.excluded_because,
    }


def masked_prediction_rows(parts: Iterable[UnmaskingPart]) -> Iterator[Row]:
    """The columns of the table of masked predictions: a row of it for each stimulus planned."""
    for part in parts:
        if part.role != PRACTICE:
            for sequence in part.sequences:
                yield from (_mask_columns(part, sequence, mask) for mask in sequence.masks)


def pool_rows(parts: Iterable[UnmaskingPart]) -> Iterator[Row]:
    """The columns of the table of the pool: a row of it for each pair of classes."""
    for part in parts:
        counts = {(pair.truth, pair.prediction): pair.count for pair in part.unmasked.pool}
        if counts:
            for truth, prediction in product(part.unmasked.classes, repeat=2):
                count = counts.get((truth, prediction), 0)
                about = {"truth": truth, "prediction": prediction, "count": count}
                yield _set_columns(part) | about


class UnmaskingRecords(TaskRecords[UnmaskingPart, StimulusRecord]):
    """Every attempt at every stimulus."""

    tables = TABLES
    begins = StimulusDrawn.kind
    kinds = frozenset({StimulusShown.kind, ResponseGiven.kind})

    def begin(
        self, part: UnmaskingPart, key: Key, event: Event, payload: StimulusDrawn
    ) -> StimulusRecord:
        """Raises RecordError where the plan lacks the stimulus."""
        number, mask = payload.sequence, payload.mask
        sequence = part.sequences[number - 1] if 1 <= number <= len(part.sequences) else None
        if (
            sequence is None
            or not 1 <= mask <= len(sequence.masks)
            or (sequence.image, sequence.method) != (payload.image, payload.method)
        ):
            begins = f"begins mask {mask} of {payload.image!r} with {payload.method!r}"
            raise _foreign(event, begins)
        return StimulusRecord(part, key, payload)

    def take(self, event: Event, payload: Payload, working_ns: int) -> None:
        if isinstance(payload, ResponseGiven) and event.part_id is not None:
            buttons = len(self.parts[event.part_id].buttons)
            if not DONT_KNOW <= payload.response < buttons:
                raise _foreign(event, f"answers with button {payload.response}")
        super().take(event, payload, working_ns)

    def end(self, working_ns: int) -> None:
        """Counts, for each attempt, how many earlier ones showed the same image masked alike."""
        super().end(working_ns)
        seen: Counter[tuple[str, str, float]] = Counter()
        for record in self.attempts:
            picture = (record.sequence.image, record.sequence.method, record.mask.percent)
            record.prior_exposures = seen[picture]
            seen[picture] += record.shown is not None

    def trial_row(self, attempt: StimulusRecord) -> Row:
        return {"duration_s": attempt.response_s}

    def stage_row(self, part: UnmaskingPart, attempts: Sequence[StimulusRecord], ran: Ran) -> Row:
        """Reaction times during which the keyboard was away do not count."""
        counted = [stimulus for stimulus in attempts if stimulus.excluded_because is None]
        right = [stimulus.equals(stimulus.sequence.truth) is True for stimulus in counted]
        timed = [stimulus for stimulus in counted if stimulus.key not in ran.keyboard_away]
        times = [seconds for stimulus in timed if (seconds := stimulus.response_s) is not None]
        return {
            "n_answered": len(counted),
            "n_correct": sum(right),
            "correctness_rate": fmean(right) if right else None,
            "response_time_s": fmean(times) if times else None,
            "model_accuracy": part.unmasked.accuracy,
        }

    def own_rows(self) -> Mapping[str, Iterable[Row]]:
        return {
            "annotations": map(annotation_row, self.attempts),
            "masked_predictions": masked_prediction_rows(self.parts.values()),
            "pool": pool_rows(self.parts.values()),
        }
