"""What the report says of recruitment, against figures by hand and the paper's text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from labapp.analysis.retention import printed_of, recruitment
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import Tables, tables_of
from labapp.papers.interactive_reconstruction import results as paper
from labapp.record.events.lifecycle import (
    InclusionDecided,
    PartEnded,
    PartStarted,
    SegmentStarted,
    SessionCompleted,
)
from tests.analysis.sessions import paired, stage_row
from tests.analysis.test_methods import paragraph
from tests.analysis.test_report import Page
from tests.helpers.journals import SessionBuilder
from tests.helpers.nightly import EVERYTHING

EXEMPLARS, TRAVERSALS = "single-dimension-exemplars", "single-dimension-traversals"
CROWD = {"paper": "000", "study": "synthetic-crowd", "run": "crowd"}


def session(number: int, replicates: dict[str, str] | None = None) -> SessionRecords:
    made = SessionBuilder(participant=f"P{number:02d}", study="mine")
    made.plan([stage_row()], **({} if replicates is None else {"replicates": replicates}))
    made.at(0, SegmentStarted(1, "2026-01-02T03:04:05Z", "boot", "0.1.0", "0" * 64))
    made.at(1, PartStarted(0), stage="stage-1")
    made.at(61, PartEnded(0, "completed"), stage="stage-1")
    made.at(62, SessionCompleted())
    made.at(62, InclusionDecided(True, (), {}))
    return SessionRecords.of(paired(made), f"P{number:02d}")


def tables(replicates: dict[str, str] | None = CROWD, **changes: Any) -> Tables:
    """Eight sessions: four with exemplars, of whom all count, and four with traversals, of whom two
    do; 5, 10 … 40 minutes and $6 each."""
    made = tables_of([session(number, replicates) for number in range(1, 9)])
    people = made.participants.assign(
        tasks=[EXEMPLARS] * 4 + [TRAVERSALS] * 4,
        included=[True] * 4 + [True, True, False, False],
        duration_s=[300.0 * n for n in range(1, 9)],
        payment_total=6.0,
        payment_currency="$",
        models="a/b, a/c",
        **changes,
    )
    return replace(made, participants=people)


def said(of: Tables) -> str:
    return Page("".join(recruitment(of))).text


def test_retention_stands_beside_the_papers_by_visualisation() -> None:
    text = said(tables())
    assert f"{EXEMPLARS} 4 4 100 91" in text
    assert f"{TRAVERSALS} 4 2 50 71" in text


def test_durations_and_pay_an_hour_are_numpys_and_stand_beside_the_papers() -> None:
    text = said(tables())
    minutes = [5.0, 10.0, 15.0, 20.0]
    for value in (np.mean(minutes), np.percentile(minutes, 80), np.percentile(minutes, 95)):
        assert f"{value:.1f} (${60 * 6 / value:.2f} an hour)" in text
    assert "13 min, $27 an hour" in text


def test_nothing_of_the_paper_stands_beside_a_study_that_repeats_none() -> None:
    """By what the study file says, not by its id."""
    own = tables(None)
    own = replace(own, participants=own.participants.assign(study="synthetic-crowd"))
    assert printed_of(own.participants)[1] == ()
    text = said(own)
    assert "$27" not in text
    assert "91" not in text
    assert f"{TRAVERSALS} 4 2 50" in text


def test_who_took_part_is_told_in_percent_beside_the_paper_and_not_of_deidentified() -> None:
    made = tables()
    people = made.participants
    answers = pd.DataFrame(
        [
            {
                "participant": row["participant"],
                "session": row["session"],
                "instrument": "about-you",
                "about_person": True,
                "item": "education",
                "submitted": True,
                "value_text": ("high_school", "bachelor", "master", "master")[number % 4],
            }
            for number, row in enumerate(people.to_dict("records"))
        ]
    )
    shown = replace(made, answers=answers)
    # Six count; the fifth and the sixth say high_school and bachelor.
    assert "education: bachelor or master 4 6 67 79" in said(shown)
    hidden = people.assign(deidentified=[False] * 3 + [True] * 5)
    assert "education: bachelor or master 2 3 67 79" in said(replace(shown, participants=hidden))
    nobody = people.assign(deidentified=True)
    assert "education" not in said(replace(shown, participants=nobody))


def test_where_the_paper_contradicts_itself_it_is_told() -> None:
    assert "105 would have been enough" in said(tables())
    rates = {row.task: row.value for row in paper.recruitment("synthetic-crowd")
             if (row.quantity, row.measure) == ("retention", "share")}  # fmt: skip
    needed = 30 / (rates[EXEMPLARS] or 1) + 30 / (rates[TRAVERSALS] or 1) + 30
    assert needed == pytest.approx(105, abs=0.5)


def test_pay_an_hour_follows_from_pay_and_duration_as_printed() -> None:
    """5.2.2: $6 and $3.75, rounded down."""
    for study, amount in (("synthetic-crowd", 6.0), ("mnist-crowd", 3.75)):
        printed = {
            (row.task, row.measure, row.quantity): row.value or 0.0
            for row in paper.recruitment(study)
            if row.quantity in ("duration", "pay_per_hour")
        }
        hours = {key[:2]: value for key, value in printed.items() if key[2] == "pay_per_hour"}
        assert hours
        for (task, measure), pay in hours.items():
            exact = 60 * amount / printed[task, measure, "duration"]
            assert abs(pay - exact) < 1, (task, measure)


def test_the_methods_text_says_what_is_repeated_and_that_it_was_run_otherwise() -> None:
    text = paragraph(tables(), "mine")
    assert "It repeats the study synthetic-crowd of paper 000." in text
    assert "That was a crowd study: people took part on their own, over the internet. Here" in text
    assert "repeats" not in paragraph(tables(None), "mine")
    if EVERYTHING:
        lab = {"paper": "000", "study": "mnist-think-aloud", "run": "lab"}
        assert "crowd" not in paragraph(tables(lab), "mine")
