"""Counts of codes are over participants, and their intervals those of textbooks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from labapp.analysis.coding_section import (
    LEAST,
    code_counts,
    code_names,
    compared_by,
    mean_interval,
    quotable,
    uncoded,
    wilson,
)
from labapp.analysis.tables import Tables, frames


def tables(
    marks: list[tuple[str, str, str]],
    people: int = 10,
    *,
    models: dict[str, list[str]] | None = None,
) -> Tables:
    """marks: participant, model, code; models: by participant, what they met."""
    met = models or {f"P{n:02d}": ["a/x", "a/y"] for n in range(1, people + 1)}
    coded = [
        {
            "study": "s",
            "participant": who,
            "session": "1",
            "mark": f"m{n}",
            "rater": "anna",
            "round": "independent",
            "tier": "dial",
            "code": code,
            "speaker": "participant",
            "model": model,
            "text": "this one does nothing",
            "reviewed": True,
            "included": True,
        }
        for n, (who, model, code) in enumerate(marks)
    ]
    stages = [
        {"study": "s", "participant": who, "session": "1", "stage": model, "model": model}
        for who, own in met.items()
        for model in own
    ]
    participants = [
        {
            "study": "s",
            "participant": who,
            "session": "1",
            "included": True,
            "consent_quote": None if who != "P02" else False,
        }
        for who in met
    ]
    utterances = [
        {"study": "s", "participant": who, "session": "1", "speaker": "participant"} for who in met
    ]
    rows: dict[str, list[dict[str, Any]]] = {
        "coded": coded,
        "stages": stages,
        "participants": participants,
        "utterances": utterances,
    }
    from labapp.analysis.columns import table_columns

    every = {name: rows.get(name, []) for name in table_columns() if name != "snapshots"}
    return Tables.of(frames(every), pd.DataFrame(columns=["study", "participant", "session"]))


def row(counts: pd.DataFrame, code: str, by: str = "study", level: str | None = None) -> Any:
    some = counts[(counts["code"] == code) & (counts["by"] == by)]
    if level is not None:
        some = some[some["level"] == level]
    (only,) = some.to_dict("records")
    return only


def test_eight_of_ten_mentioned_it_however_often() -> None:
    marks = [(f"P{n:02d}", "a/x", "nothing") for n in range(1, 9) for _ in range(n)]
    marks += [("P09", "a/x", "effect"), ("P10", "a/y", "effect")]
    counts = code_counts(tables(marks))
    told = row(counts, "nothing")
    assert (told["n_mentioned"], told["n_participants"], told["n_marks"]) == (8, 10, 36)
    assert told["share_mentioned_low"] == pytest.approx(0.4901, abs=1e-4)
    assert told["share_mentioned_high"] == pytest.approx(0.9433, abs=1e-4)
    assert told["mean_share"] == pytest.approx(0.8), "participants, not marks: 36 of 38 are"


def test_codes_are_called_by_their_names_and_told_apart() -> None:
    marks = tables([("P01", "a/x", code) for code in ("nothing", "effect", "none", "other")]).coded
    assert set(code_names(marks).values()) == {"nothing", "effect", "none", "other"}
    marks["code_name"] = ["No effect", "Has an effect", "No effect", None]
    assert code_names(marks) == {
        ("dial", "nothing"): "No effect (nothing)",
        ("dial", "effect"): "Has an effect",
        ("dial", "none"): "No effect (none)",
        ("dial", "other"): "other",
    }
    later = marks.assign(code_name=["Nothing happens", "Has an effect", "No effect", None])
    names = code_names(pd.concat([marks, later]))
    assert names["dial", "nothing"] == "Nothing happens"
    assert names["dial", "none"] == "No effect"


def test_by_model_whoever_met_it_counts() -> None:
    met = {"P01": ["a/x"], "P02": ["a/x", "a/y"], "P03": ["a/y"]}
    marks = [("P01", "a/x", "nothing"), ("P02", "a/y", "nothing"), ("P03", "a/y", "effect")]
    counts = code_counts(tables(marks, models=met))
    x, y = row(counts, "nothing", "model", "a/x"), row(counts, "nothing", "model", "a/y")
    assert (x["n_mentioned"], x["n_participants"]) == (1, 2)
    assert (y["n_mentioned"], y["n_participants"]) == (1, 2)
    assert (y["mean_share"], y["n_mean"]) == (0.5, 2)
    assert pd.isna(y["mean_share_low"])
    assert compared_by(tables(marks, models=met)) == ["model"]


def test_who_spoke_and_is_not_coded_is_told() -> None:
    assert uncoded(tables([("P01", "a/x", "nothing")], people=3)) == 2


def test_nobody_is_quoted_who_refused() -> None:
    made = tables([("P01", "a/x", "nothing"), ("P02", "a/x", "nothing")])
    assert quotable(made)["participant"].tolist() == ["P01"]


@given(of=st.integers(1, 200), data=st.data())
def test_wilson_is_statsmodels(of: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, of))
    low, high = proportion_confint(successes, of, method="wilson")
    interval = wilson(successes, of)
    assert interval.low == pytest.approx(max(low, 0), abs=1e-12)
    assert interval.high == pytest.approx(min(high, 1), abs=1e-12)


def test_few_participants_have_no_interval_and_many_a_fair_one() -> None:
    few = mean_interval(np.linspace(0, 1, LEAST - 1))
    assert (few.low, few.high) == (None, None)
    values = np.random.default_rng(1).random(200)
    interval = mean_interval(values)
    assert interval.low is not None
    assert interval.high is not None
    error = 1.96 * values.std(ddof=1) / np.sqrt(200)
    assert interval.high - interval.low == pytest.approx(2 * error, rel=0.1)
