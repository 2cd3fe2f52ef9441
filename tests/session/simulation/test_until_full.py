"""Simulations until a study is full, with participants who do not try and are replaced."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from labapp.base.errors import SessionError, UsageError
from labapp.session.condition_assignment import Coverage, coverage
from labapp.session.resuming import read_verified_events
from labapp.session.simulation import simulation_job
from labapp.session.simulation.simulation_job import included, simulate_study
from labapp.study.loading import load
from tests.helpers.drawn import drawn_study

RULES = "inclusion: {min_solved: 1, practice_correct: true}"
SINGLE = """
id: drawn
title: Drawn
version: 1
unnamed_texts: shipped
assignment:
  condition: {included: 2, cells: {a: {kind: traversals}, b: {kind: exemplars}}}
inclusion: {practice_correct: true}
flow:
  - each: condition
    flow:
      - practice: circles-traversals
      - stages: {task: single-dimension, visualisation: traversals, models: [sinelines/gt]}
"""


def covered(out: Path, study: Path) -> Coverage:
    found = coverage(out, load(study))
    assert found is not None
    return found


def test_the_careless_are_excluded_and_replaced_until_each_cell_has_its_own(
    tmp_path: Path,
) -> None:
    loaded = drawn_study(tmp_path, cells="abcd", draw=2, included=3, lines=RULES)
    out = tmp_path / "out"
    told: list[str] = []
    made = simulate_study(
        str(loaded.path), None, "understanding", out, 5, told.append, careless=0.4
    )
    assert len(made) == len(told) == len(set(told))
    counts = Counter(included(path) for path in made)
    assert counts[True] == 6
    assert 1 <= counts[False] <= 12, "the careless, and nobody else"
    found = covered(out, loaded.path)
    assert found.complete
    assert {cell: count["included"] for cell, count in found.counts().items()} == dict.fromkeys(
        "abcd", 3
    )
    assert found.retention() == (6, len(made))
    skipped = [
        [e.payload["outcome"] for e in read_verified_events(path) if e.kind == "trial.ended"]
        for path in made
    ]
    assert all(set(s) == {"skipped"} for s, p in zip(skipped, made, strict=True) if not included(p))
    again = simulate_study(
        str(loaded.path), None, "understanding", tmp_path / "again", 5, careless=0.4
    )
    assert [path.name for path in again] == [path.name for path in made]


def test_a_full_study_takes_no_more_than_it_wants(tmp_path: Path) -> None:
    loaded = drawn_study(tmp_path, included=1)
    assert len(simulate_study(str(loaded.path), 9, "knowing", tmp_path / "out")) == 3
    few = simulate_study(str(loaded.path), 2, "knowing", tmp_path / "few")
    assert len(few) == 2
    assert not covered(tmp_path / "few", loaded.path).complete


def test_who_guesses_in_practice_is_excluded(tmp_path: Path) -> None:
    study = tmp_path / "drawn.yaml"
    study.write_text(SINGLE)
    made = simulate_study(str(study), 6, "understanding", tmp_path / "out", 1, careless=1.0)
    assert [included(path) for path in made].count(True) <= 2, "three guesses in a row are rare"


def test_where_skipping_takes_a_while_the_careless_bide_their_time(tmp_path: Path) -> None:
    text = drawn_study(tmp_path, lines=RULES).path.read_text()
    study = tmp_path / "drawn.yaml"
    study.write_text(text.replace("skip: always", "skip: after"))
    (path,) = simulate_study(str(study), 1, "understanding", tmp_path / "out", careless=1.0)
    events = read_verified_events(path)
    assert [e.payload["outcome"] for e in events if e.kind == "trial.ended"] == ["skipped"] * 2
    assert any(e.kind == "skip.offered" for e in events)


def test_a_study_that_does_not_fill_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = drawn_study(tmp_path, lines=RULES)
    monkeypatch.setattr(simulation_job, "IN_VAIN", 3)
    with pytest.raises(SessionError, match="None of the last 3"):
        simulate_study(str(loaded.path), None, "understanding", tmp_path / "out", careless=1.0)
    with pytest.raises(UsageError, match="never full"):
        simulate_study("quickstart", None, "understanding", tmp_path / "other")
