"""The columns of the tables of unmasked pictures (paper 004)."""

from __future__ import annotations

from labapp.analysis.column import INCLUDED, STALLED, WHO, number, seconds, text, whole, yes
from labapp.analysis.task_records import TaskTables

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

MASKED_PREDICTIONS = (
    text("study", "id of the study"),
    *_MASK,
)
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
