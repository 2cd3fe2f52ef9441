"""The columns that single-dimension questions bring."""

from __future__ import annotations

from labapp.analysis.column import number, seconds, text, whole, yes
from labapp.analysis.task_records import TaskTables

SINGLE_TRIALS = (
    whole("dimension", "the dial asked about, from 1"),
    text("dimension_name", "the representation's own name of the dimension"),
    text("regime", "low, medium or high, from which the value was drawn; empty where discrete"),
    number("shown_value", "the dial's value in the picture asked about"),
    text("right_choice", "low, medium or high; of a discrete dial the index of its value, from 0"),
    text("choice", "the choice that counts, written likewise"),
    yes("correct", "the answer handed in was the right choice"),
    whole(
        "confidence", "“I'm confident I'm right”, 1 strongly disagree to 5 strongly agree", "1-5"
    ),
    whole("understanding", "“The dial makes sense”, 1 to 5 likewise", "1-5"),
    seconds(
        "response_s",
        "from the pictures' appearance to the answer handed in, without pauses and gaps: the "
        "response time of this task",
    ),
    seconds("first_choice_s", "from the pictures' appearance to the first choice"),
    whole("choice_changes", "choices after the first"),
    whole("rating_changes", "ratings after the first of each statement"),
    whole("resamples", "times other examples were asked for"),
)
"""Of single-dimension questions only; empty in other rows."""


_RATINGS = (
    number("confidence", "mean of “I'm confident I'm right”", "1-5"),
    number("understanding", "mean of “The dial makes sense”", "1-5"),
)
TABLES = TaskTables(
    added={
        "trials": {"keyboard_away": SINGLE_TRIALS},
        "stages": {"correctness_rate": _RATINGS},
    }
)
