"""What is planted in rows of known models and people is what the tests of H1 to H5 say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from labapp.analysis.tables import build_frame
from labapp.tasks.concept_repair.report import hypotheses, measures
from labapp.tasks.concept_repair.report.hypotheses import (
    AS_PREDICTED,
    EQUIVALENT,
    OPEN,
    OPPOSITE,
    Prediction,
)
from labapp.tasks.concept_repair.report.measures import (
    CONCEPT_PARTICIPANTS,
    MATCHED,
    RepairRows,
    StudyModels,
)
from tests.helpers.one_test import faults

PEOPLE, MODELS, PICTURES = 24, 6, 10
OIS = np.linspace(0.05, 0.55, MODELS)
WRONG = "an answer forecast wrongly"


def world(slope: float, seed: int = 2) -> tuple[RepairRows, StudyModels]:
    """Settings of people who met two models each; harm rises with OIS by `slope` log odds a
    standard deviation, and does not depend on NIS."""
    rng = np.random.default_rng(seed)
    known = pd.DataFrame(
        {
            "study": "s",
            "stimuli": [f"set{m}" for m in range(MODELS)],
            "manifest_sha256": "0",
            "model": [f"m{m}" for m in range(MODELS)],
            "name": [f"m{m}" for m in range(MODELS)],
            "learner": "cbm-logits",
            "task_accuracy": 90.0,
            "concept_accuracy": 90.0,
            "ois": OIS,
            "ois_common": [0.1, 0.2, 0.1, 0.2, 0.2, 0.1],
            "nis": [0.3, 0.1, 0.2, 0.15, 0.25, 0.2],
        }
    )
    z = (OIS - OIS.mean()) / OIS.std()
    rows: list[dict[str, Any]] = []
    for person in range(PEOPLE):
        lower, upper = person % 3, 3 + person % 3
        for model in (lower, upper):
            for picture in range(PICTURES):
                for kind in ("confirmation", "correction"):
                    effect = slope * z[model] if kind == "confirmation" else 0.0
                    odds = -0.3 + effect + 0.3 * rng.normal()
                    hit = bool(rng.random() < 1 / (1 + np.exp(-odds)))
                    rows.append(
                        {
                            "study": "s",
                            "participant": f"P{person:02}",
                            "session": "1",
                            "stage": f"stage-{model}",
                            "stimuli": f"set{model}",
                            "manifest_sha256": "0",
                            "model": f"m{model}",
                            "picture": f"p{picture}",
                            "item": ("repair", "control")[picture % 2],
                            "sample": MATCHED,
                            "trial": picture + 1,
                            "attempt": 1,
                            "change": 1,
                            "concept": f"c{picture % 4}",
                            "change_kind": kind,
                            "given": False,
                            "state_correct": True,
                            "correct_before": True,
                            "harm": hit,
                            "foretold_correct": not hit,
                            "seen_before": False,
                            "surprised": None,
                            "deviation_mean": float(OIS[model]),
                        }
                    )
    changes = pd.DataFrame(rows).astype({"surprised": "boolean"})
    grids = changes.iloc[:0].assign(ticked=None, deviation=None, other=None)
    people = build_frame(
        [
            {
                "study": "s",
                "participant": f"P{person:02}",
                "session": "1",
                "stimuli": f"set{model}",
                "manifest_sha256": "0",
                "model": f"m{model}",
                "sample": MATCHED,
                "instruction": "repair",
                "success": 0.8 + 0.02 * rng.normal(),
                "foresee": 0.7 - slope * 0.1 * z[model] + 0.02 * rng.normal(),
            }
            for person in range(PEOPLE)
            for model in (person % 3, 3 + person % 3)
        ],
        CONCEPT_PARTICIPANTS,
    )
    empty = changes.iloc[:0]
    return RepairRows(empty, changes, grids, empty, frozenset()), StudyModels("s", known, people)


def named(tests: Iterable[Prediction], hypothesis: str, outcome: str, term: str = "") -> Prediction:
    (test,) = [
        test
        for test in tests
        if (test.hypothesis, test.outcome, test.sample) == (hypothesis, outcome, MATCHED)
        and term in test.term
    ]
    return test


def estimate(test: Prediction) -> float | None:
    return test.difference and test.difference.difference


@pytest.fixture(scope="module", autouse=True)
def few_models() -> Iterator[None]:
    """The world of these tests has fewer models than a slope needs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hypotheses, "LEAST_MODELS", 2)
        yield


@pytest.fixture(scope="module")
def tests() -> list[Prediction]:
    return hypotheses.run_tests(*world(1.2))


def test_harm_and_wrong_foretelling_rise_with_ois(tests: list[Prediction]) -> None:
    for outcome in ("a harm", "an answer forecast wrongly"):
        test = named(tests, "H1", outcome)
        assert test.verdict == AS_PREDICTED
        assert (test.n, test.n_people, test.n_models) == (PEOPLE * 2 * PICTURES * 2, PEOPLE, MODELS)
        made = test.difference
        assert made is not None
        assert made.p is not None
        assert made.p_corrected is not None
        assert made.p <= made.p_corrected < 0.05
        assert made.significant


def test_each_row_is_one_test(tests: list[Prediction]) -> None:
    """Where nothing is expected, the verdict is that of the test against the bound, and the test of
    a difference has a row of its own."""
    rows = [replace(row, study="s").row() for test in tests for row in test.rows()]
    assert len([row for row in rows if row["p"] is not None]) > 8
    assert faults(rows) == []
    for test in tests:
        if test.expected == "nothing" and test.difference is not None:
            asked, other = test.rows()
            assert (asked.direction, other.direction) == ("equivalent", "")
            assert (asked.p or 1.0) < 0.05 or test.verdict != EQUIVALENT
            assert asked.why.startswith(test.verdict)


def test_nothing_is_said_of_surprises_where_nobody_coded(tests: list[Prediction]) -> None:
    test = named(tests, "H1", "a surprise after a setting")
    assert test.difference is None
    assert test.why


def test_wrong_foretelling_rises_with_the_deviation(tests: list[Prediction]) -> None:
    assert named(tests, "H2", "an answer forecast wrongly").verdict == AS_PREDICTED


def test_harm_follows_confirmations_and_not_corrections(tests: list[Prediction]) -> None:
    confirmed = named(tests, "H3", "a harm by a confirmation")
    corrected = named(tests, "H3", "a harm by a correction")
    assert confirmed.verdict == AS_PREDICTED
    assert estimate(confirmed) == pytest.approx(1.2, abs=0.5)
    assert corrected.verdict == EQUIVALENT


def test_nis_adds_nothing_to_ois(tests: list[Prediction]) -> None:
    test = named(tests, "H4", "a harm")
    assert test.expected == "nothing"
    assert test.bound == hypotheses.SLOPE_BOUND
    assert estimate(test) == pytest.approx(0.0, abs=0.5)


def test_success_is_the_same_and_foretelling_is_not(tests: list[Prediction]) -> None:
    assert named(tests, "H5", "success").verdict == EQUIVALENT
    assert named(tests, "H5", "forecast correctly").verdict == AS_PREDICTED


def test_the_opposite_is_called_so() -> None:
    test = named(hypotheses._first(*world(-1.2), MATCHED), "H1", "a harm")
    assert test.verdict == OPPOSITE


def test_sets_that_do_not_tell_a_measure_are_named() -> None:
    rows, models = world(0.5)
    lacking = replace(models, known=models.known.drop(columns=["nis", "ois_common"]))
    assert "NIS" in named(hypotheses._fourth(rows, lacking), "H4", "a harm").why
    assert "common" in named(hypotheses._third(rows, lacking), "H3", "a harm", "common").why


def test_two_models_have_no_intercepts_of_their_own() -> None:
    rows, models = world(0.5)
    two = rows.changes[rows.changes["model"].isin(["m0", "m3"])]
    tests = hypotheses._first(replace(rows, changes=two), models, MATCHED)
    test = named(tests, "H1", "a harm")
    assert test.n_models == 2
    assert "fewer than 3 models" in test.why


def test_no_slope_is_tested_with_fewer_than_twelve_models(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, models = world(0.5)
    monkeypatch.setattr(hypotheses, "LEAST_MODELS", measures.LEAST_MODELS)
    made = hypotheses.run_tests(rows, models)
    slopes = [test for test in made if test.hypothesis in ("H1", "H3", "H4")]
    assert {test.verdict for test in slopes} == {""}
    assert "fewer than 12 models" in named(made, "H1", "a harm").why


def test_correlations_over_models_and_people() -> None:
    _, models = world(1.2)
    found = models.correlate("foresee", "ois")
    assert found.n == MODELS
    assert found.statistic == pytest.approx(-1.0)
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low <= found.high < 0
    few = replace(models, known=models.known.iloc[:2])
    assert few.correlate("foresee", "ois").why
    assert not models.general  # six of a method say nothing of others


def test_a_participant_of_two_sessions_or_instructions_is_one() -> None:
    """A pair of models is within a participant, whatever session each was met in, and within an
    instruction: in an audit success is another thing."""
    _, models = world(1.2)
    upper = [f"m{model}" for model in range(3, MODELS)]
    later = models.people["session"].mask(models.people["model"].isin(upper), "2")
    audited = models.people.assign(
        instruction="audit", success=models.people["success"] - 0.5, foresee=np.nan
    )
    alone = {test.outcome: test for test in hypotheses._fifth(models)}
    for people in (
        models.people.assign(session=later),
        pd.concat([models.people, audited], ignore_index=True),
    ):
        changed = replace(models, people=people)
        assert changed.means("foresee")["n"].sum() == 2 * PEOPLE
        for test in hypotheses._fifth(changed):
            assert (test.n, test.verdict) == (PEOPLE, alone[test.outcome].verdict)
            assert estimate(test) == pytest.approx(estimate(alone[test.outcome]))


def test_a_concept_that_is_hard_to_foretell_is_one_value_and_not_hundreds() -> None:
    """Two models have eight deviations of concepts, however often these were set: that one concept
    is hard in both says nothing of the deviation."""
    rng = np.random.default_rng(0)
    rows, models = world(0.0)
    changes = rows.changes[rows.changes["model"].isin(["m0", "m3"])]
    deviations = {"c0": 0.30, "c1": 0.10, "c2": 0.34, "c3": 0.12}
    hard = changes["concept"] == "c0"
    wrong = rng.random(len(changes)) < np.where(hard, 0.8, 0.25)
    changes = changes.assign(
        deviation_mean=changes["concept"].map(deviations)
        + np.where(changes["model"] == "m0", 0.01, 0.0),
        foretold_correct=~wrong,
    )
    test = named(hypotheses._second(replace(rows, changes=changes), models), "H2", WRONG)
    assert test.n > 300
    assert test.verdict == OPEN
    # By rows alone it would be sure.
    sizes = changes["deviation_mean"].to_numpy()
    assert abs(np.corrcoef(sizes, wrong)[0, 1]) * np.sqrt(len(wrong)) > 3


def test_models_of_one_value_are_said_to_be_so() -> None:
    _, models = world(0.5)
    alike = replace(models, known=models.known.assign(ois=0.2))
    assert named(hypotheses._fifth(alike), "H5", "success").why == hypotheses.FEW_MODELS


def test_models_of_which_nobody_says_how_they_were_trained_are_no_family() -> None:
    _, models = world(0.5)
    many = pd.concat(
        [models.known.assign(model=models.known["model"] + part, name=models.known["name"] + part)
         for part in ("", "b")],
        ignore_index=True,
    )  # fmt: skip
    people = pd.concat(
        [models.people, models.people.assign(model=models.people["model"] + "b")],
        ignore_index=True,
    )
    twelve = replace(models, known=many, people=people)
    assert twelve.general
    for learners in (["imported"], ["imported", "cbm-logits"]):
        own = many.assign(learner=(learners * len(many))[: len(many)])
        assert not replace(twelve, known=own).general
    assert not replace(twelve, people=models.people).general  # six of them nobody met
