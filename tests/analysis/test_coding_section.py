"""The report's section on what participants said: in English and German, and without words that may
not be quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis import coding_figures
from labapp.analysis.analyze import MISSING, analyze
from labapp.analysis.coding_figures import coding_plates
from labapp.analysis.coding_section import coding_section
from labapp.analysis.tables import Tables, load
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
    assert "not to be quoted, as the participant said" in html
    for text in tables.coded["text"].unique():
        assert f"“{text}”" not in html


def test_a_study_without_speech_has_no_section(tables: Tables) -> None:
    silent = {**tables.small()}
    for name in ("utterances", "codes_all", "codes", "coded"):
        silent[name] = silent[name].iloc[:0]
    assert page(Tables.of(silent, tables.snapshots)) == ""


def test_what_is_uncoded_is_told(tables: Tables) -> None:
    uncoded = {**tables.small(), "coded": tables.coded.iloc[:0]}
    assert "Nobody has coded them." in page(Tables.of(uncoded, tables.snapshots))


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
    assert "Words a minute" in html
    spoken = tables.utterances
    both = [spoken, spoken[spoken["model"] == "circles/gt"]]
    for units in both:
        lengths = units["offset_working_s"] - units["onset_working_s"]
        median = lengths.groupby(units["participant"]).sum().median() / 60
        assert f"{median:.1f}<" in html
