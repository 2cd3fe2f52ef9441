"""The columns that counterfactual choice brings to the tables of an analysis."""

from __future__ import annotations

from labapp.analysis.column import (
    INCLUDED,
    TRIAL,
    WHERE,
    WHO,
    number,
    seconds,
    text,
    whole,
    yes,
)
from labapp.analysis.task_records import TaskTables

CHOICES = (
    *WHO,
    *WHERE,
    text("model", "id of the representation"),
    *TRIAL,
    whole("dimension", "the dial asked about, from 1"),
    text("dimension_name", "the representation's own name of the dimension"),
    whole("right_candidate", "place of the candidate that differs in that dial, from 1"),
    whole("candidate", "place of the candidate that counts, from 1; empty where none was taken"),
    whole("candidate_dimension", "the dial in which that one differs, from 1"),
    yes("correct", "the candidate handed in was the right one; empty without an answer"),
    whole("confidence", "how sure the participant was, 1 not at all to 5", "1-5"),
    whole("choice_changes", "candidates taken after the first"),
    seconds("response_s", "from the pictures' appearance to the answer, without pauses and gaps"),
    yes("excluded", "an attempt that does not count"),
    text("excluded_because", "why it does not count"),
    INCLUDED,
)

TABLES = TaskTables(
    own={"counterfactual_choices": CHOICES},
    added={
        "stages": {
            "correctness_rate": (
                number(
                    "counterfactual_confidence",
                    "counterfactual-choice: mean of how sure the participant was",
                    "1-5",
                ),
            )
        }
    },
)
