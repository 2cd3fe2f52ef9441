"""Whole sessions of the single-dimension task, from start to verified bundle and tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from labapp import analysis
from labapp.analysis.writing import write
from labapp.bundle.export import export
from labapp.bundle.verify import verify
from labapp.clock import Clock, FakeClock
from labapp.records.opening import open_record
from labapp.session.models import load_warm
from labapp.session.opening import Surroundings
from labapp.session.scheduling import VirtualScheduler
from labapp.simulation.headless import simulate
from labapp.simulation.jobs import simulate_study
from labapp.study.loading import load
from tests.helpers.packages import ring_model
from tests.helpers.single import write_single_study


def virtual(clock: Clock) -> VirtualScheduler:
    return VirtualScheduler(FakeClock(clock.now_ns()))


@pytest.mark.parametrize("visualisation", ["traversals", "exemplars"])
def test_sessions_from_start_to_tables(tmp_path: Path, visualisation: str) -> None:
    models = ("sinelines/gt", "sinelines/vae")
    study = write_single_study(
        tmp_path, models, visualisation, practice=True, lines=["after: [seq]"]
    )
    sessions = simulate_study(str(study), 2, "understanding", tmp_path / "data")
    bundle = export(sessions, tmp_path / "bundle")
    assert verify(bundle).problems == []
    beh = bundle / "sub-P01/ses-1/beh"
    assert len((beh / "sub-P01_ses-1_task-singledimension_beh.tsv").read_text().split("\n")) == 25
    assert not list(beh.glob("*reconstruction*"))

    tables = analysis.load(bundle)
    trials = tables.trials
    assert set(trials["task"]) == {f"single-dimension-{visualisation}"}
    asked = trials[trials["role"] == "stage"]
    for _, own in asked.groupby(["participant", "stage"]):
        dials = list(own["dimension"])
        assert dials[::2] == dials[1::2]
        assert sorted(dials[::2]) == [1, 2, 3, 4, 5]
    assert (trials["correct"] == (trials["choice"] == trials["right_choice"])).all()
    assert (trials["choice"].isin(["low", "medium", "high"])).all()
    assert trials["confidence"].between(1, 5).all()
    assert (trials["response_s"] <= trials["duration_s"]).all()
    assert (trials["first_choice_s"] <= trials["response_s"]).all()
    assert asked["response_s"].median() == pytest.approx(14, abs=5), "about a person's time"
    assert 0.5 < asked["correct"].mean() < 1
    assert trials["resamples"].sum() > 0
    practice = trials[trials["role"] == "practice"]
    assert list(practice["right_choice"]) == ["low", "high", "medium"] * 2
    people = tables.participants.set_index("participant")
    assert list(people["practice_asked"]) == [3, 3]
    for participant, own in practice.groupby("participant"):
        assert people.loc[participant, "practice_correct"] == own["correct"].sum()

    stages = tables.stages.set_index(["participant", "stage"])
    for key, own in asked.groupby(["participant", "stage"]):
        row = stages.loc[key]
        assert row["correctness_rate"] == pytest.approx(own["correct"].mean())
        assert row["response_time_s"] == pytest.approx(own["response_s"].mean())
        assert row["confidence"] == pytest.approx(own["confidence"].mean())
        assert row["understanding"] == pytest.approx(own["understanding"].mean())
        assert row["n_trials"] == 10
        assert 1 <= row["seq"] <= 7


def test_a_discrete_dial_and_a_time_limit(tmp_path: Path) -> None:
    model = "mnist8k/ss5"
    study = write_single_study(
        tmp_path, [model], "exemplars", lines=["time_limit_min: 2", "questions_per_dimension: 3"]
    )
    around = Surroundings({model: ring_model(model, 5, 10)}, (), virtual, private=tmp_path / "p")
    session = simulate(load(study), "P01", around, data=tmp_path, strategy="understanding")
    record = open_record(session)
    drawn = [row for row in record.bodies() if row[0].kind == "question.drawn"]
    ten = [body for _, body in drawn if body.payload()["dimension"] == 0]
    trials = analysis.load(session).trials
    assert 5 < len(trials) < 18, "cut off after two minutes"
    assert list(trials["outcome"])[-1] == "time_expired"
    assert set(trials["outcome"]) == {"answered", "time_expired"}
    assert all(len(body.payload()["examples"]) == 10 for body in ten)
    discrete = trials[trials["dimension"] == 1]
    assert len(ten) == len(discrete)
    assert discrete["regime"].isna().all()
    assert (discrete["right_choice"].astype(float) == discrete["shown_value"]).all()


def test_a_study_with_both_tasks_has_both_tables(tmp_path: Path) -> None:
    study = write_single_study(tmp_path, ["sinelines/gt"], "traversals")
    study.write_text(
        study.read_text()
        + "  - stages:\n      task: reconstruction\n      models: [sinelines/vae]\n"
        + "      trials: 1\n      skip: always\n"
    )
    warm = load_warm(["sinelines/gt", "sinelines/vae"], "cpu")
    around = Surroundings(warm.decoders, warm.warmed, virtual, private=tmp_path / "p")
    session = simulate(load(study), "P01", around, data=tmp_path, strategy="understanding")
    bundle = export([session], tmp_path / "bundle")
    assert verify(bundle).problems == []
    tables = analysis.load(bundle)
    assert list(tables.stages["task"]) == ["single-dimension-traversals", "reconstruction"]
    assert list(tables.stages["n_planned"]) == [10, 1]
    assert tables.stages["completion_rate"].notna().tolist() == [False, True]
    assert tables.participants["practice_asked"].isna().all()
    (tmp_path / "tables").mkdir()
    write(tables, tmp_path / "tables")
    read = pd.read_parquet(tmp_path / "tables" / "trials.parquet")
    assert read["z_start"].notna().tolist() == [False] * 10 + [True]
    assert read["correct"].notna().tolist() == [True] * 10 + [False]
