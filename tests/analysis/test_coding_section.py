"""The report's section on what participants said: counts over participants, figures and quotes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from labapp.analysis import coding_figures
from labapp.analysis.analyze import MISSING, analyze
from labapp.analysis.coding_figures import coding_plates
from labapp.analysis.coding_section import (
    LEAST,
    code_counts,
    code_names,
    coding_section,
    count_uncoded,
    find_comparison_columns,
    mean_interval,
    quotable,
    wilson,
)
from labapp.analysis.tables import Tables, frames, load
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.nightly import EVERYTHING

STUDY = """\
id: aloud
title: Aloud
version: 1
unnamed_texts: shipped
seed: 3
flow:
- stages:
    {task: reconstruction, models: [sinelines/gt, circles/gt], order: as_listed, trials: TRIALS}
""".replace("TRIALS", "2" if EVERYTHING else "1")


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aloud")
    (folder / "aloud.yaml").write_text(STUDY)
    simulate_study(
        str(folder / "aloud.yaml"), 2, "understanding", folder / "data", 1, thinks_aloud=True
    )
    return folder / "data" / "aloud"


@pytest.fixture(scope="module")
def tables(sessions: Path) -> Tables:
    return load(sessions).included()


def page(tables: Tables) -> str:
    return "".join(coding_section(tables, "aloud", "s1"))


@pytest.fixture(scope="module")
def html(tables: Tables) -> str:
    return page(tables)


def test_counts_figures_and_quotes_are_on_the_page(tables: Tables, html: str) -> None:
    assert "2 of 2" in html
    assert "sinelines/gt" in html
    assert html.count("<svg") == len(list(coding_plates(tables)))
    quoted = tables.coded["text"].iloc[0]
    assert f"“{quoted}”" in html
    assert "Means over fewer than 10 participants have no interval." in html


def test_nothing_is_quoted_that_may_not_be_and_that_is_told(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not EVERYTHING:  # the figures, which have no quotes, take most of the time
        for name in ("coding_figures", "timelines"):
            monkeypatch.setattr(coding_figures, name, lambda *_: [])
    refused = tables.participants.assign(consent_quote=False).astype({"consent_quote": "boolean"})
    html = page(Tables.of({**tables.small(), "participants": refused}, tables.snapshots))
    assert "not quoted, because the participant did not agree to it" in html
    for text in tables.coded["text"].unique():
        assert f"“{text}”" not in html


def test_a_study_without_speech_has_no_section(tables: Tables) -> None:
    silent = {**tables.small()}
    for name in ("utterances", "codes_all", "codes", "coded"):
        silent[name] = silent[name].iloc[:0]
    assert page(Tables.of(silent, tables.snapshots)) == ""


def test_what_is_uncoded_is_told(tables: Tables) -> None:
    uncoded = {**tables.small(), "coded": tables.coded.iloc[:0]}
    assert "They have not been coded." in page(Tables.of(uncoded, tables.snapshots))


def test_the_whole_section_is_there_in_german(sessions: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.yaml"
    words.write_text('"x": "y"\n')
    out = tmp_path / "out"
    analyze([sessions], out, language="de", words=words)
    html = (out / "report.html").read_text("utf-8")
    assert "Was die Teilnehmenden sagten" in html
    assert "2 von 2" in html
    missing = (out / MISSING).read_text("utf-8")
    for word in ("mark", "said", "coded", "coding", "quote", "panel", "participants"):
        lines = [line for line in missing.splitlines() if not line.startswith("#")]
        assert not [line for line in lines if f" {word}" in line], word
    for name in (
        "codes-aloud",
        "codes-aloud-by-model",
        "codes-aloud-timeline",
        "codes-aloud-P01-1",
    ):
        assert (out / "figures" / f"{name}.svg").is_file()
    assert (out / "code_counts.csv").is_file()


def test_how_much_was_said_stands_overall_and_by_condition(tables: Tables, html: str) -> None:
    assert "Words per minute" in html
    spoken = tables.utterances
    both = [spoken, spoken[spoken["model"] == "circles/gt"]]
    for units in both:
        lengths = units["offset_working_s"] - units["onset_working_s"]
        median = lengths.groupby(units["participant"]).sum().median() / 60
        assert f"{median:.1f}<" in html


def tables_coding_counts(
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
    counts = code_counts(tables_coding_counts(marks))
    told = row(counts, "nothing")
    assert (told["n_mentioned"], told["n_participants"], told["n_marks"]) == (8, 10, 36)
    assert told["share_mentioned_low"] == pytest.approx(0.4901, abs=1e-4)
    assert told["share_mentioned_high"] == pytest.approx(0.9433, abs=1e-4)
    assert told["mean_share"] == pytest.approx(0.8), "participants, not marks: 36 of 38 are"


def test_codes_are_called_by_their_names_and_told_apart() -> None:
    marks = tables_coding_counts(
        [("P01", "a/x", code) for code in ("nothing", "effect", "none", "other")]
    ).coded
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
    counts = code_counts(tables_coding_counts(marks, models=met))
    x, y = row(counts, "nothing", "model", "a/x"), row(counts, "nothing", "model", "a/y")
    assert (x["n_mentioned"], x["n_participants"]) == (1, 2)
    assert (y["n_mentioned"], y["n_participants"]) == (1, 2)
    assert (y["mean_share"], y["n_mean"]) == (0.5, 2)
    assert pd.isna(y["mean_share_low"])
    assert find_comparison_columns(tables_coding_counts(marks, models=met)) == ["model"]


def test_who_spoke_and_is_not_coded_is_told() -> None:
    assert count_uncoded(tables_coding_counts([("P01", "a/x", "nothing")], people=3)) == 2


def test_nobody_is_quoted_who_refused() -> None:
    made = tables_coding_counts([("P01", "a/x", "nothing"), ("P02", "a/x", "nothing")])
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
