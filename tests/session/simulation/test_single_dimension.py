"""Whole sessions of the single-dimension task, from start to verified bundle and tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from labapp import analysis
from labapp.analysis.analyze import report, write
from labapp.base.clock import Clock, FakeClock
from labapp.record.events import Source
from labapp.record.events.commands import HandIn, Resume
from labapp.record.journal.opening import bundle_tree, open_record, open_records
from labapp.session import opening
from labapp.session.bids.export import export
from labapp.session.bids.verify import check_tables, verify
from labapp.session.opening import SessionDependencies
from labapp.session.pictures import load_warm
from labapp.session.runner import VirtualScheduler
from labapp.session.simulation.simulation_job import simulate, simulate_study
from labapp.study.loading import load
from labapp.tasks.single_dimension.events import Choose, Rate, ShowMoreExamples
from tests.helpers.nightly import EVERYTHING
from tests.helpers.packages import ring_model
from tests.helpers.single import write_single_study
from tests.helpers.skips import skip_stage


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
    check_refuses_a_row_less(bundle, tmp_path / "copy")
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
    copy = export(sessions, tmp_path / "shared", deidentify=True)
    assert verify(copy).problems == []
    pd.testing.assert_frame_equal(analysis.load(copy).trials, trials)  # nothing here is a person's
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
        assert row["change_questions"] == 4
        told = own.sort_values("trial")
        for column, values in (
            ("change_response_time_s", told["response_s"]),
            ("change_correctness_rate", told["correct"].astype(float)),
        ):
            expected = values.iloc[-4:].mean() - values.iloc[:4].mean()
            assert row[column] == pytest.approx(expected)
        assert pd.isna(row["change_completion_rate"])
        assert pd.isna(row["change_slide_distance"])
        assert 1 <= row["seq"] <= 7
    assert "between the last and the first 4 questions;" in report(tables)


def check_refuses_a_row_less(bundle: Path, copy: Path) -> None:
    """Tables that disagree with the journal are found although the manifest fits them."""
    shutil.copytree(bundle, copy)
    stem = copy / "sub-P01/ses-1/beh/sub-P01_ses-1_task-singledimension"
    for end in ("beh", "events"):
        path = Path(f"{stem}_{end}.tsv")
        lines = path.read_text().splitlines()
        path.write_text("\n".join(one for one in lines if one != lines[-2]) + "\n")
    tree = bundle_tree(copy)
    assert tree is not None
    told = [problem for record in open_records(copy) for problem in check_tables(tree, record)]
    assert len(told) == 2
    assert told[0].endswith("_beh.tsv: 22 questions, the journal has 23")
    assert "_events.tsv" in told[1]


def test_a_discrete_dial_and_a_time_limit(tmp_path: Path) -> None:
    model = "mnist8k/ss5"
    study = write_single_study(
        tmp_path, [model], "exemplars", lines=["time_limit_min: 2", "questions_per_dimension: 3"]
    )
    around = SessionDependencies(
        {model: ring_model(model, 5, 10)}, (), virtual, private=tmp_path / "p"
    )
    session = simulate(load(study), "P01", around, data=tmp_path, strategy="understanding")
    record = open_record(session)
    drawn = [row for row in record.payloads() if row[0].kind == "question.drawn"]
    ten = [payload for _, payload in drawn if payload.as_dict()["dimension"] == 0]
    trials = analysis.load(session).trials
    assert 5 < len(trials) < 18, "cut off after two minutes"
    assert list(trials["outcome"])[-1] == "time_expired"
    assert set(trials["outcome"]) == {"answered", "time_expired"}
    assert all(len(payload.as_dict()["examples"]) == 10 for payload in ten)
    discrete = trials[trials["dimension"] == 1]
    assert len(ten) == len(discrete)
    assert discrete["regime"].isna().all()
    assert (discrete["right_choice"].astype(float) == discrete["shown_value"]).all()


def test_a_session_killed_inside_a_question_goes_on_there(tmp_path: Path) -> None:
    model = "sinelines/gt"
    study = write_single_study(tmp_path, [model])
    warm = load_warm([model], "cpu")
    around = SessionDependencies(warm.decoders, warm.warmed, virtual, private=tmp_path / "p")
    loaded = load(study)
    killed = opening.create(
        loaded, "P01", around, data=tmp_path / "data", make_clock=lambda start: FakeClock()
    )
    killed.begin()
    while killed.runner.part is not None and killed.runner.part.id != "stage-1":
        skip_stage(killed.runner)
    for command in (ShowMoreExamples(), Choose(1, "mouse"), Rate("confidence", 2, "mouse")):
        killed.runner.send(command)
    before, shown = killed.runner.state.part_state.trial, killed.runner.pictures
    killed.runner._closed = True  # as a kill leaves it: no last event
    killed.runner.journal.close()
    killed._lock.release()

    session = opening.resume(killed.folder.path, lambda loaded, models: around)
    session.begin()
    runner = session.runner
    assert runner.state.part_state.trial == before
    assert runner.pictures is not None
    assert shown is not None
    np.testing.assert_array_equal(runner.pictures.rows, shown.rows)
    np.testing.assert_array_equal(runner.pictures.question, shown.question)
    assert runner.state.pauses.paused
    runner.send(Resume("on"), Source.MODERATOR)
    runner.send(Rate("understanding", 4, "mouse"))
    runner.send(HandIn())
    session.close("test over")
    trials = analysis.load(killed.folder.path).trials
    assert trials["attempt"].tolist() == [1]
    assert trials["choice"].tolist() == ["medium"]
    assert trials["response_s"].max() < 60, "the gap does not count"
    assert trials["resamples"].tolist() == [1]
    deviations = analysis.load(killed.folder.path).deviations
    assert "interrupted" in set(deviations["kind"]), "kept, and flagged"


def test_a_study_with_both_tasks_has_both_tables(tmp_path: Path) -> None:
    study = write_single_study(tmp_path, ["sinelines/gt"], "traversals")
    study.write_text(
        study.read_text()
        + "  - stages:\n      task: reconstruction\n      models: [sinelines/vae]\n"
        + "      trials: 1\n      skip: always\n"
    )
    warm = load_warm(["sinelines/gt", "sinelines/vae"], "cpu")
    around = SessionDependencies(warm.decoders, warm.warmed, virtual, private=tmp_path / "p")
    session = simulate(load(study), "P01", around, data=tmp_path, strategy="understanding")
    bundle = export([session], tmp_path / "bundle")
    assert verify(bundle).problems == []
    tables = analysis.load(bundle)
    assert list(tables.stages["task"]) == ["single-dimension-traversals", "reconstruction"]
    assert list(tables.stages["n_planned"]) == [10, 1]
    assert tables.stages["completion_rate"].notna().tolist() == [False, True]
    assert tables.participants["practice_asked"].isna().all()
    read = tables.trials
    if EVERYTHING:
        (tmp_path / "tables").mkdir()
        write(tables, tmp_path / "tables")
        read = pd.read_parquet(tmp_path / "tables" / "trials.parquet")
    assert read["z_start"].notna().tolist() == [False] * 10 + [True]
    assert read["correct"].notna().tolist() == [True] * 10 + [False]
