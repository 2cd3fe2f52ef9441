"""Simulated sessions of an unmasking study: recorded like real ones, and found again in tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from labapp.analysis.tables import Tables, load
from labapp.bundle.verify import verify
from labapp.records.opening import open_record
from labapp.session.past import read_past
from labapp.simulation.jobs import simulate_study
from labapp.simulation.unmasking import Observer
from labapp.stimuli.library import StimulusSet
from labapp.stimuli.masking import sizes
from tests.helpers.unmasking import METHODS, made, write_unmasking_study

PEOPLE = 16
OBSERVER = Observer(thresholds={"middle": 9.0, "edge": 18.0})
BLANK_MS = 250
STIMULI = 4 * len(METHODS) * len(sizes())
"""Of the stage: four images."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> StimulusSet:
    return made(tmp_path_factory.mktemp("set"))


Run = Callable[[str], list[Path]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, found: StimulusSet) -> Run:
    known: dict[str, list[Path]] = {}

    def simulated(strategy: str) -> list[Path]:
        if strategy not in known:
            folder = tmp_path_factory.mktemp(strategy)
            study = write_unmasking_study(
                folder / "study",
                found,
                masks=list(sizes()),
                blank_ms=BLANK_MS,
                breaks={"every": 4, "text": "rest.md"},
            )
            known[strategy] = simulate_study(
                str(study), PEOPLE, strategy, folder / "out", seed=11, observer=OBSERVER
            )
        return known[strategy]

    return simulated


def tables(folders: list[Path]) -> Tables:
    return load([*folders])


def counted(folders: list[Path]) -> pd.DataFrame:
    every = tables(folders).annotations
    return every[~every["excluded"] & (every["role"] == "stage")]


@pytest.mark.parametrize("strategy", ["understanding", "explanation", "random"])
def test_every_strategy_comes_to_the_end(run: Run, strategy: str) -> None:
    folders = run(strategy)
    assert len(folders) == PEOPLE
    for folder in folders[:2]:
        assert verify(folder).problems == []
    rows = [event for event, _ in open_record(folders[0]).bodies()]
    answered = [e for e in rows if e.kind == "response.given"]
    assert len(answered) == STIMULI + len(sizes()), "an example, and every stimulus"
    assert {e.source for e in answered} == {"simulated"}
    assert rows[-1].kind == "segment.ended"
    assert any(e.kind == "session.completed" for e in rows)


def test_times_are_those_of_a_person(run: Run) -> None:
    """A stimulus is painted when it is due, a blank after the response before; the response comes
    after it by the reaction time, to the nanosecond."""
    due_ns = painted_ns = before_ns = None
    times = []
    for event in read_past(run("understanding")[0]):
        said: Any = event.payload
        if event.kind == "stimulus.drawn":
            due_ns = said["due_ns"]
            if before_ns is not None and event.trial != 1:
                assert due_ns == before_ns + BLANK_MS * 1_000_000
        elif event.kind == "stimulus.shown":
            assert said == {"painted_ns": due_ns, "shown_by": "simulated", "refresh_ms": None}
            painted_ns = said["painted_ns"]
        elif event.kind == "response.given":
            assert painted_ns is not None
            assert (said["device"], said["timed_by"]) == ("simulated", "simulated")
            assert said["input_ns"] == event.t_ns
            before_ns = event.t_ns
            times.append((said["input_ns"] - painted_ns) / 1e6)
    assert min(times) > 250
    assert max(times) <= OBSERVER.slowest_ms + 0.001
    assert 500 < float(np.median(times)) < 1200


def test_the_same_seed_gives_the_same_session(run: Run, tmp_path: Path, found: StimulusSet) -> None:
    study = write_unmasking_study(tmp_path / "study", found, blank_ms=BLANK_MS)
    paths = [
        simulate_study(str(study), 1, "understanding", tmp_path / f"{n}", seed=seed)[0]
        for n, seed in enumerate((1, 1, 2))
    ]
    stories = [
        [
            (e.t_ns, e.kind, e.key, e.payload)
            for e in read_past(path)
            if e.kind not in ("session.planned", "segment.started", "environment.recorded")
        ]
        for path in paths
    ]
    assert stories[0] == stories[1]
    assert stories[0] != stories[2]


def test_what_the_observers_do_is_found_in_the_tables(run: Run) -> None:
    rows = counted(run("understanding"))
    assert len(rows) == PEOPLE * STIMULI
    named = rows["response"].notna()
    assert (rows["dont_know"] == ~named).all()
    assert (rows["correct"] == (rows["response"] == rows["truth"])).all()
    by_method = rows.groupby("method")["correct"].mean()
    assert by_method["middle"] > by_method["edge"] + 0.1
    # The model is wrong about some images, and those who follow it say what it says.
    wrong = rows[~rows["correct_prediction"] & named]
    right = rows[rows["correct_prediction"] & named]
    assert (wrong["response"] != wrong["truth"]).mean() > (
        right["response"] != right["truth"]
    ).mean()


def test_who_follows_the_model_agrees_with_its_prediction_on_the_mask(run: Run) -> None:
    rows = counted(run("explanation"))
    told = rows["prediction_masked"].where(rows["prediction_masked"].notna(), rows["prediction"])
    assert (rows["response"] == told).all()


def test_who_guesses_is_right_a_third_of_the_time_with_every_method(run: Run) -> None:
    rows = counted(run("random"))
    for _, own in rows.groupby("method"):
        assert binomtest(int(own["correct"].sum()), len(own), 1 / 3).pvalue > 1e-3
        assert binomtest(int(own["dont_know"].sum()), len(own), 1 / 3).pvalue > 1e-3
