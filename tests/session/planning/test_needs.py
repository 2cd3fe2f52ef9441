"""How many participants a study needs, by example."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from labapp.analysis.declared import read_declaration
from labapp.analysis.design.analyses import analyse
from labapp.analysis.design.sections import term_tests
from labapp.session.planning import power
from labapp.session.planning.power import (
    GroupPower,
    _p,
    group_powers,
    more,
    plan_groups,
    scenarios,
    smallest,
)
from labapp.session.planning.thresholds import People, weights
from tests.analysis.design.studies import study
from tests.analysis.design.test_analyses import AGAINST, DESIGN
from tests.helpers.nightly import EVERYTHING
from tests.session.planning.people import cohort


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "SIZES", power.SIZES[::3])
    monkeypatch.setattr(power, "DRAWS", 300)
    monkeypatch.setattr(power, "POOLS", 8)
    monkeypatch.setattr(power, "POOL_DRAWS", 50)
    monkeypatch.setattr(power, "SCENARIO_DRAWS", 200)


def planned(people: People) -> list[GroupPower]:
    return group_powers(plan_groups(people)[0], people, 1)


def test_the_smallest_number_lies_between_the_sizes_that_were_looked_at() -> None:
    sizes = (3, 5, 10, 20)
    assert smallest(sizes, [0.1, 0.5, 0.7, 0.9], 0.8) == 15
    assert smallest(sizes, [0.1, 0.5, 0.8, 0.9], 0.8) == 10
    assert smallest(sizes, [0.85, 0.9, 0.95, 1.0], 0.8) == 3
    assert smallest(sizes, [0.1, 0.2, 0.3, 0.79], 0.8) == math.inf
    assert smallest(sizes, [0.1, 0.82, 0.78, 0.9], 0.8) == 5, "chance does not take it back"


def test_each_strategy_weighs_as_much_as_its_share() -> None:
    found = weights(["a", "a", "a", "b", "c"], {"a": 0.6, "b": 0.4, "d": 0.5})
    np.testing.assert_allclose(found, [0.2, 0.2, 0.2, 0.4, 0.0])
    assert weights(["a"], {"b": 1.0}).tolist() == [0.0]


def test_more_of_one_strategy_is_less_of_the_others() -> None:
    assert more({"a": 0.5, "b": 0.3, "c": 0.2}, "a") == pytest.approx(
        {"a": 0.7, "b": 0.18, "c": 0.12}
    )
    assert more({"a": 0.9, "b": 0.1}, "a") == {"a": 1.0, "b": 0.0}
    assert more({"a": 1.0}, "a") == {"a": 1.0}


def test_a_large_difference_needs_few_and_none_needs_more_than_anybody() -> None:
    people = cohort({"understanding": (0.2, 0.8), "random": (0.3, 0.7)})
    (found,) = planned(people)
    assert (found.group.each, found.group.n_tests) == ("participants", 1), "one pair an outcome"
    completion = found.tests[0]
    assert (completion.metric, completion.test) == (
        "completion_rate",
        "sinelines/ae − sinelines/gt",
    )
    needed = completion.needs[0.05, 0.8]
    assert needed.n is not None
    assert 3 <= needed.n <= 8
    assert needed.low is not None
    assert needed.high is not None
    assert needed.low <= needed.n <= needed.high
    assert completion.needs[0.05, 0.9].n >= needed.n
    (left,) = [left for left in plan_groups(people)[1] if left.name == "response_time_s"]
    assert "no variation" in left.why


def test_other_shares_have_other_needs() -> None:
    people = cohort(
        {"understanding": (0.1, 0.9), "random": (0.5, 0.5)},
        shares={"understanding": 0.5, "random": 0.5},
    )
    powers = planned(people)
    found = {one.name: one for one in scenarios(people, powers, 1)}
    assert list(found) == [
        "as assumed", "all the same", "more understanding", "more random",
        "only understanding", "only random",
    ]  # fmt: skip
    key = (f"{powers[0].group.name}: completion_rate", "sinelines/ae − sinelines/gt")
    assumed = next(one for one in powers[0].tests if one.metric == "completion_rate")
    assert found["as assumed"].needs[key] == assumed.needs[0.05, 0.8].n, "one number, twice"
    few, some = found["only understanding"].needs[key], found["as assumed"].needs[key]
    assert few is not None
    assert some is not None
    assert few < some
    none = found["only random"].needs[key]
    assert none is None or none > some
    rates = found["only understanding"].completion
    assert rates["sinelines/gt"] > 0.7 > 0.3 > rates["sinelines/ae"]
    assert found["all the same"].completion == pytest.approx(found["as assumed"].completion)


def test_other_shares_have_needs_of_every_pool_of_a_metric() -> None:
    """A metric has a pool for each pair of models that people met, of more than two models."""
    people = cohort({"understanding": (0.1, 0.9), "random": (0.5, 0.5)})
    powers = planned(people)
    test = powers[0].tests[0]
    planned_test = replace(test.planned, name="another pair")
    pool = replace(test.pool, tests=(planned_test,))
    other = replace(test, planned=planned_test, pool=pool)
    group = GroupPower(powers[0].group, (*powers[0].tests, other))
    keys = {(f"{group.group.name}: {test.metric}", test.test) for test in group.tests}
    assert len(keys) == len(group.tests)
    for scenario in scenarios(people, [group], 1):
        assert scenario.needs.keys() == keys


def test_what_is_planned_is_what_the_study_declares() -> None:
    """Three models of two data sets and a factor between participants: one comparison, with the
    declared contrasts, their direction and the level of their family."""
    tables = study(DESIGN, n=16)
    who = sorted(tables.participants["participant"])
    people = People(
        tables, dict.fromkeys(who, "understanding"), tables.trials, {"understanding": 1}
    )
    groups, _ = plan_groups(people)
    (group,) = groups
    assert group.name == "reconstruction: between hint; within model"
    assert (group.each, group.levels) == ("participants in each group of hint", (0.05, 0.025))
    completion, response = group.pools
    assert [test.name for test in completion.tests] == [
        "F, hint", "F, model", "F, hint × model", AGAINST["name"], "hint",
        f"{AGAINST['name']} (equivalent)",
    ]  # fmt: skip
    assert group.titles["response_time_s"].endswith("log")
    against, _, equal = completion.tests[3:]
    assert (against.direction, against.bound, against.corrected) == ("less", None, True)
    # The only test of its family.
    assert (equal.direction, equal.bound, equal.corrected) == ("equivalent", 0.2, False)
    assert not completion.tests[0].corrected
    # Everybody once: the study that was simulated.
    results = analyse(tables.included(), read_declaration(tables, "own"), by_trials=EVERYTHING)
    analysis = results.analyses[0]
    counts = [
        (own := np.flatnonzero(completion.groups == at), np.ones((1, own.size))) for at in range(2)
    ]
    expected = [
        row.p
        for row in analysis.rows
        if row.kind in ("contrast", "equivalence") or row in [*term_tests(analysis)]
    ]
    ours = [float(_p(test, completion.values, counts)[0]) for test in completion.tests]
    assert ours == pytest.approx(expected, rel=1e-9)
    assert response.values.max() < 6, "the log of seconds"


def test_a_study_with_a_profile_is_planned_with_the_papers_tests_alone() -> None:
    tables = study(n=8, models=("sinelines/ae", "sinelines/vae", "sinelines/gt"))
    tables.participants["replicates_paper"] = "000"
    tables.participants["replicates_study"] = "synthetic-crowd"
    who = sorted(tables.participants["participant"])
    people = People(tables, dict.fromkeys(who, "random"), tables.trials, {"random": 1})
    groups, left_out = plan_groups(people)
    assert [group.name for group in groups] == ["reconstruction, sinelines"]
    assert "paper" in groups[0].words
    assert left_out == []


@pytest.mark.parametrize("n_models", [3, 8])
def test_a_test_of_levels_that_nobody_meets_together_is_not_planned(n_models: int) -> None:
    models = tuple(f"sinelines/{number}" for number in range(n_models))
    declared = {"design": {"within": ["model"]}}
    tables = study(declared, n=2 * n_models, models=models)
    who = sorted(tables.participants["participant"])
    met = {person: {models[at % n_models], models[at // 2]} for at, person in enumerate(who)}
    stages, trials = (
        rows[[m in met[p] for p, m in zip(rows["participant"], rows["model"], strict=True)]]
        for rows in (tables.stages, tables.trials)
    )
    tables = replace(tables, stages=stages, trials=trials)
    people = People(tables, dict.fromkeys(who, "random"), tables.trials, {"random": 1})
    groups, left_out = plan_groups(people)
    tests = {test.name for group in groups for pool in group.pools for test in pool.tests}
    assert not any(name.startswith("F") for name in tests)
    if n_models == 3:
        pairs = {"sinelines/0 − sinelines/1", "sinelines/1 − sinelines/2"}
        assert tests == pairs, "nobody met the first and the last"
    else:
        assert not tests, "pairs of so many levels are not compared"
        whys = {left.name: left.why for left in left_out}
        assert "of which no participant sees both" in whys["completion_rate"]
