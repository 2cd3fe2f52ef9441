"""Studies and questionnaires go by their titles where sessions know them."""

from __future__ import annotations

import pandas as pd

from labapp.analysis.task_report import questionnaire_name, study_title


def test_the_title_is_that_of_the_latest_version() -> None:
    rows = [
        ("own", 1, "Old", "a"),
        ("own", 2, "New", "b"),
        ("own", 3, None, "c"),
        ("b", 9, "B", ""),
    ]
    people = pd.DataFrame(rows, columns=["study", "study_version", "study_title", "started_utc"])
    assert study_title(people, "own") == "New"
    assert study_title(people[people["study_title"].isna()], "own") == "own"


def test_a_questionnaire_goes_by_its_id_and_title() -> None:
    rows = [("trust", 1, "Old"), ("trust", 2, "How much do you trust it?"), ("felt", 1, None)]
    items = pd.DataFrame(rows, columns=["instrument", "instrument_version", "title"])
    assert questionnaire_name(items, "trust") == "trust: How much do you trust it?"
    assert questionnaire_name(items, "felt") == "felt"
