"""The section, its figures and its rows of statistics, in English and German."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from matplotlib.axes import Axes

from labapp.analysis import Tables, analyze
from labapp.analysis.task_report import ReportedStudy
from labapp.base.report.page import join_parts, speaking, text
from labapp.tasks.concept_repair.report import figures
from labapp.tasks.concept_repair.report.contents import REPORT, TABLE
from labapp.tasks.concept_repair.report.hypotheses import RepairResults
from tests.helpers import repairers


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("report")
    return repairers.cohort(folder, ["learner", "stubborn", "misled"])


@pytest.fixture(scope="module")
def findings(tables: Tables) -> tuple[RepairResults, ...]:
    return REPORT.findings(tables.included(), ())


def page(tables: Tables, findings: tuple[RepairResults, ...]) -> str:
    study = ReportedStudy("repaired", "s1", tables, tables.included())
    return join_parts(REPORT.sections(study, findings))


def test_the_section_has_a_row_a_model_and_says_what_it_rests_on(
    tables: Tables, findings: tuple[RepairResults, ...]
) -> None:
    html = page(tables, findings)
    assert "Purity and people" in html
    for name in ("concepts/tiny-pure", "concepts/tiny-impure"):
        assert name in html
    assert "All participants are simulated" in html
    assert "These models only: there are 2 models of 1 method." in html
    for hypothesis in ("H1", "H2", "H3", "H4", "H5"):
        assert hypothesis in html
    # Beside OIS stands what of the pictures the model itself makes unsolvable, where sets tell it.
    assert "Traps" in html
    assert html.count("12.5 %") == 2
    assert "Unrepairable" not in html


def test_the_figures_are_people_against_purity_the_matrix_and_the_curves(
    tables: Tables, findings: tuple[RepairResults, ...]
) -> None:
    plates = list(REPORT.plates(tables.included(), findings))
    assert [plate.name for plate in plates] == [
        "concept-repair-purity",
        "concept-repair-deviation",
        "concept-repair-curves",
    ]
    for plate in plates:
        assert "3 simulated participants" in plate.told
        assert "<svg" in plate.svg


def test_nothing_of_the_section_is_english_in_german(
    tables: Tables, findings: tuple[RepairResults, ...]
) -> None:
    translation, _ = analyze.choose_language(tables, "de")
    assert translation is not None
    with speaking(translation):
        html = page(tables, findings)
        for plate in REPORT.plates(tables.included(), findings):
            assert plate.told
        for told in (*REPORT.definitions.values(), *REPORT.activities.values()):
            text(told)
    assert "Reinheit und Personen" in html
    numbers = re.compile(r"[\d\s.,:%−–+<=±n/()a-c]*|.*tiny.*|h[1-5]|ois|nis|p|n|s|%|t[dh]")
    english = [said for said in translation.missing if not numbers.fullmatch(said.lower())]
    assert not english


def test_statistics_and_tables_hold_every_number(findings: tuple[RepairResults, ...]) -> None:
    rows = list(REPORT.statistics(findings))
    assert {row["item"] for row in rows} == {"1", "2", *(f"3 H{n}" for n in range(1, 6))}
    (results,) = findings
    success = [r for r in rows if r["quantity"] == "success" and r["item"] == "1"]
    frame = REPORT.frames(findings)[TABLE]
    pd.testing.assert_frame_equal(frame, results.models.people.reset_index(drop=True))
    for row in success:
        own = frame[(frame["model"] == row["model"]) & (frame["sample"] == row["group"])]
        assert row["mean"] == pytest.approx(own["success"].mean())
        assert row["n"] == len(own)


def test_a_study_without_the_task_has_nothing(tables: Tables) -> None:
    frames = {name: frame.iloc[:0] for name, frame in tables.by_name().items()}
    empty = Tables.of(frames, frames["snapshots"])
    assert REPORT.findings(empty, ()) == ()
    assert REPORT.frames(())[TABLE].empty
    assert not REPORT.defined(empty, ())


def test_two_manifests_of_one_set_are_two_models_of_the_report(tables: Tables) -> None:
    """A set was corrected between two participants: both are told, apart."""
    frames = tables.by_name()
    stimuli = frames["repairs"]["stimuli"].iloc[0]

    def corrected(frame: pd.DataFrame, *, copied: bool) -> pd.DataFrame:
        if copied:
            other = frame[frame["stimuli"] == stimuli].assign(manifest_sha256="f" * 64)
            return pd.concat([frame, other], ignore_index=True)
        later = (frame["participant"] == "P02") & (frame["stimuli"] == stimuli)
        return frame.assign(manifest_sha256=frame["manifest_sha256"].mask(later, "f" * 64))

    for name in ("repairs", "concept_changes", "concept_grids"):
        frames[name] = corrected(frames[name], copied=False)
    for name in ("concept_models", "concept_purities", "concept_curves"):
        frames[name] = corrected(frames[name], copied=True)
    changed = Tables.of(frames, frames["snapshots"])
    found = REPORT.findings(changed.included(), ())
    (results,) = found
    names = results.models.known["name"].tolist()
    assert len(set(names)) == len(names) == 3
    html = page(changed, found)
    assert all(name in html for name in names)
    assert "ffffffff" in html
    assert {row["n"] for row in REPORT.statistics(found) if row["item"] == "2"} == {2}


def test_scores_of_any_name_are_no_columns_of_the_report(tables: Tables) -> None:
    frames = tables.by_name()
    own = frames["concept_models"]
    frames["concept_models"] = pd.concat(
        [own, *(own.head(1).assign(measure=name) for name in ("task_accuracy", "model", "name"))],
        ignore_index=True,
    )
    changed = Tables.of(frames, frames["snapshots"])
    assert page(changed, REPORT.findings(changed.included(), ()))


def test_traps_are_in_no_curve(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[pd.DataFrame] = []
    curve = figures._curve

    def kept(ax: Axes, alone: pd.DataFrame, repairs: pd.DataFrame) -> None:
        drawn.append(alone)
        curve(ax, alone, repairs)

    monkeypatch.setattr(figures, "_curve", kept)
    frames = tables.by_name()
    curves = frames["concept_curves"]
    trap = curves["picture"] == curves["picture"].iloc[0]
    frames["concept_curves"] = curves.assign(item=curves["item"].mask(trap, "trap"))
    changed = Tables.of(frames, frames["snapshots"])
    (results,) = REPORT.findings(changed.included(), ())
    assert figures.curves(results) is not None
    assert drawn
    assert not any((alone["item"] == "trap").any() for alone in drawn)


def test_how_well_codes_tell_their_own_concepts_is_a_rival_of_purity(
    tables: Tables, findings: tuple[RepairResults, ...]
) -> None:
    (results,) = findings
    pairs = tables.by_name()["concept_purities"]
    own = pairs[pairs["concept"] == pairs["other"]].groupby("model")["purity"].mean()
    known = results.models.known.set_index("model")["concept_auc"]
    assert known.to_dict() == pytest.approx(own.to_dict())
    assert "Concept AUC" in page(tables, findings)
