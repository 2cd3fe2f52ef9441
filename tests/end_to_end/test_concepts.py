"""The shipped studies of concepts, from simulated participants to the report and the bundle."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from labapp.analysis import load
from labapp.coding.annotations.codebook import codebooks_of
from labapp.coding.annotations.simulated import leave_codebooks
from labapp.session.bids.export import export
from labapp.session.simulation.fitting import codebooks_of_tasks
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import loading
from labapp.tasks.concept_repair.report.contents import REPORT, TABLE
from tests.helpers.bids import validator_errors


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two participants of two strategies, who think aloud, with the shipped models."""
    out = tmp_path_factory.mktemp("concepts") / "data"
    strategies = "careful=0.5,learner=0.5"
    return simulate_study("concept-repair", 2, strategies, out, thinks_aloud=True)


def people(paths: list[Path]) -> pd.DataFrame:
    """The table of what participants did, from sessions or bundles."""
    return REPORT.frames(REPORT.findings(load(paths).included(), ()))[TABLE]


def test_a_bundle_is_valid_and_says_what_the_sessions_say(
    sessions: list[Path], tmp_path: Path
) -> None:
    bundle = tmp_path / "bundle"
    export(sessions, bundle)
    assert not validator_errors(bundle)
    recorded = people(sessions)
    assert len(recorded) == 2 * 2 * 2  # participants, models, samples
    assert recorded["n_pictures"].tolist() == [12, 6] * 4
    pd.testing.assert_frame_equal(people([bundle]), recorded)


def test_both_models_come_first_as_often(sessions: list[Path]) -> None:
    repairs = load(sessions).more["repairs"]
    first = repairs[(repairs["role"] == "stage") & (repairs["stage_number"] == 1)]
    assert first.groupby("participant")["model"].first().nunique() == 2


def test_what_they_say_is_coded_by_the_codebook_that_is_left_in_the_study(
    sessions: list[Path],
) -> None:
    study = loading.load("concept-repair").study
    leave_codebooks(sessions[0].parent, codebooks_of_tasks(study))
    assert [book.id for book in codebooks_of(sessions[0].parent)] == ["concept-repair"]
    coded = load(sessions).coded
    assert "expectation" in set(coded["code"])
    assert coded["code_name"].notna().all()
