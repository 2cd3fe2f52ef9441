"""How many participants a study needs, by example."""

from __future__ import annotations

import math

import numpy as np
import pytest

from labapp.planning import needs
from labapp.planning.needs import Need, group_powers, more, scenarios, smallest
from labapp.planning.people import weights
from tests.planning.people import cohort


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "DRAWS", 300)
    monkeypatch.setattr(needs, "POOLS", 20)
    monkeypatch.setattr(needs, "POOL_DRAWS", 50)
    monkeypatch.setattr(needs, "SCENARIO_DRAWS", 200)


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
    (found,) = group_powers(people, 1)
    assert found.group.within
    assert found.n_tests == 2, "F and t of the one metric that varies"
    completion = found.tests[0]
    assert (completion.metric, completion.test) == (
        "completion_rate",
        "sinelines/ae – sinelines/gt",
    )
    needed = completion.needs[0.05, 0.8]
    assert needed.n is not None
    assert 3 <= needed.n <= 8
    assert needed.low is not None
    assert needed.high is not None
    assert needed.low <= needed.n <= needed.high
    assert completion.needs[0.05, 0.9].n >= needed.n
    same = [test for test in found.tests if test.metric == "response_time_s"]
    assert [test.needs[0.05, 0.8] for test in same] == [Need(None, None, None)]


def test_other_shares_have_other_needs() -> None:
    people = cohort(
        {"understanding": (0.1, 0.9), "random": (0.5, 0.5)},
        shares={"understanding": 0.5, "random": 0.5},
    )
    powers = group_powers(people, 1)
    found = {one.name: one for one in scenarios(people, powers, 1)}
    assert list(found) == [
        "as assumed", "all alike", "more understanding", "more random",
        "only understanding", "only random",
    ]  # fmt: skip
    key = (f"{powers[0].group.name}: completion_rate", "sinelines/ae – sinelines/gt")
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
    assert found["all alike"].completion == pytest.approx(found["as assumed"].completion)
