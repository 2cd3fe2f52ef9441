"""Scores against published worked examples and the rules of the publications."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.study.instruments.scoring import (
    RANGES,
    RATED,
    SCORINGS,
    TLX_PAIRS,
    TLX_SUBSCALES,
    as_answered,
    nasa_tlx,
    nasa_tlx_weights,
    seq,
    sus,
    ueq_s,
    weighted_tlx,
)


def compared(order: list[str]) -> dict[str, Any]:
    """The 15 comparisons of somebody who ranks the subscales so, the most demanding first."""
    return {
        item: {"chosen": [min(pair, key=order.index)]} for item, pair in sorted(TLX_PAIRS.items())
    }


def test_sus_as_in_brookes_worked_example() -> None:
    """Brooke (1996): contributions 4 1 1 4 1 2 1 1 4 3, total 22, score 55."""
    answers = dict(zip(RATED["sus"], (5, 4, 2, 1, 2, 3, 2, 4, 5, 2), strict=True))
    assert sus(answers) == {"sus": 55.0}


@pytest.mark.parametrize(("odd", "even", "score"), [(5, 1, 100), (1, 5, 0), (3, 3, 50)])
def test_sus_at_its_ends(odd: int, even: int, score: float) -> None:
    answers = {item: odd if n % 2 else even for n, item in enumerate(RATED["sus"], start=1)}
    assert sus(answers) == {"sus": score}


def test_raw_workload_is_the_mean_of_five_times_the_gradations() -> None:
    answers = dict(zip(TLX_SUBSCALES, (6, 3, 12, 8, 6, 8), strict=True))
    scores = nasa_tlx(answers)
    assert [scores[name] for name in TLX_SUBSCALES] == [30, 15, 60, 40, 30, 40]
    assert scores["raw_tlx"] == pytest.approx(215 / 6)


def test_weighted_workload_of_a_worked_example() -> None:
    """Ratings 30 15 60 40 30 40 with weights 3 0 5 1 3 3: 90 + 0 + 300 + 40 + 90 + 120 = 640 of
    15, that is 42.7 (the rule of the NASA TLX manual v. 1.0)."""
    ratings = nasa_tlx(dict(zip(TLX_SUBSCALES, (6, 3, 12, 8, 6, 8), strict=True)))
    taken = dict(zip(TLX_SUBSCALES, (3, 0, 5, 1, 3, 3), strict=True))
    weights = {f"weight_{name}": float(weight) for name, weight in taken.items()}
    assert weighted_tlx(ratings, weights) == {"weighted_tlx": pytest.approx(640 / 15)}


def test_weights_count_how_often_each_was_chosen() -> None:
    order = ["effort", "frustration", "mental_demand", "performance", "temporal_demand"]
    order.append("physical_demand")
    weights = nasa_tlx_weights(compared(order))
    assert [weights[f"weight_{name}"] for name in order] == [5, 4, 3, 2, 1, 0]
    assert len(TLX_PAIRS) == 15


def test_ueq_s_by_its_rule() -> None:
    answers = dict(zip(RATED["ueq-s"], (7, 7, 6, 4, 1, 2, 3, 4), strict=True))
    assert ueq_s(answers) == {"pragmatic": 2.0, "hedonic": -1.5, "overall": 0.25}


def test_what_is_missing_leaves_scores_out() -> None:
    for scoring in SCORINGS.values():
        assert scoring({}) == {}
    half = dict.fromkeys(TLX_SUBSCALES[:3], 20)
    assert nasa_tlx(half) == dict.fromkeys(TLX_SUBSCALES[:3], 100.0)
    assert weighted_tlx(nasa_tlx(half), nasa_tlx_weights(compared(list(TLX_SUBSCALES)))) == {}
    full = nasa_tlx(dict.fromkeys(TLX_SUBSCALES, 20))
    assert weighted_tlx(full, {}) == {}
    pairs = compared(list(TLX_SUBSCALES))
    pairs.popitem()
    assert nasa_tlx_weights(pairs) == {}
    assert set(ueq_s(dict.fromkeys(list(RATED["ueq-s"])[:4], 4))) == {"pragmatic"}
    assert seq({"comments": "none"}) == {}


def test_items_as_they_are() -> None:
    given_ = {"plan": 4, "comments": "fine", "gender": {"chosen": ["woman"]}, "easy": 0}
    assert as_answered(given_) == {"plan": 4.0, "easy": 0.0}


@pytest.mark.parametrize("name", RATED)
@given(data=st.data())
def test_scores_stay_in_their_range_and_follow_the_answers(name: str, data: st.DataObject) -> None:
    items = RATED[name]
    answers = {
        item: data.draw(st.integers(first, first + points - 1))
        for item, (points, first) in items.items()
    }
    before = SCORINGS[name](answers)
    for score, value in before.items():
        assert RANGES[score].low <= value <= RANGES[score].high
    item = data.draw(st.sampled_from(list(items)))
    points, first = items[item]
    if answers[item] == first + points - 1:
        return
    after = SCORINGS[name](answers | {item: answers[item] + 1})
    falls = name == "sus" and int(item.split("_")[1]) % 2 == 0
    changed = {score: after[score] - before[score] for score in before}
    assert any(changed.values())
    assert all(step <= 0 if falls else step >= 0 for step in changed.values())


@given(st.permutations(TLX_SUBSCALES), st.lists(st.integers(0, 20), min_size=6, max_size=6))
def test_weighted_workload_lies_among_the_subscales(order: list[str], given_: list[int]) -> None:
    ratings = nasa_tlx(dict(zip(TLX_SUBSCALES, given_, strict=True)))
    weights = nasa_tlx_weights(compared(list(order)))
    assert sum(weights.values()) == 15
    (score,) = weighted_tlx(ratings, weights).values()
    assert 5 * min(given_) - 1e-9 <= score <= 5 * max(given_) + 1e-9
