"""What a participant is told of the own performance: the published split and its fair score."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base import resources
from labapp.study.plugins import texts
from labapp.tasks.judging.performance import compute, expected_hits, marked, split, values
from labapp.tasks.judging.plan import (
    AGREEMENT,
    DISTINCTION,
    DISTINCTION_CONFIDENCE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
)
from tests.helpers.play_judging import judging_part, photo

ratings = st.lists(st.integers(1, 4), min_size=1, max_size=10)
WORDS = {1: "surely wrong", 2: "rather wrong", 3: "rather right", 4: "surely right"}


@given(ratings, st.integers(0, 99))
def test_half_of_the_photos_are_believed_and_they_have_the_highest_ratings(
    given_: list[int], seed: int
) -> None:
    sides = split(given_, np.random.default_rng(seed))
    assert sum(sides) == len(given_) // 2
    believed = [rating for rating, side in zip(given_, sides, strict=True) if side]
    others = [rating for rating, side in zip(given_, sides, strict=True) if not side]
    assert not believed or min(believed) >= max(others)


@given(st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=10))
def test_expected_hits_are_the_mean_over_all_ways_to_break_the_ties(
    photos: list[tuple[int, bool]],
) -> None:
    given_, correct = [r for r, _ in photos], [c for _, c in photos]
    middle = median(given_)
    tied = [n for n, rating in enumerate(given_) if rating == middle]
    left = len(given_) // 2 - sum(rating > middle for rating in given_)
    hits = []
    for chosen in combinations(tied, left):
        sides = [rating > middle or n in chosen for n, rating in enumerate(given_)]
        hits.append(sum(side == is_so for side, is_so in zip(sides, correct, strict=True)))
    assert expected_hits(given_, correct) == Fraction(sum(hits), len(hits))


@given(st.lists(st.integers(1, 4), min_size=10, max_size=10), st.permutations(range(10)))
def test_with_halves_the_hits_on_both_sides_are_equal(given_: list[int], order: list[int]) -> None:
    """So one number carries the published score (a == b)."""
    part = judging_part(
        "prototype-agreement",
        photos=[photo("prototype-agreement", n + 1, correct=order[n] < 5) for n in range(10)],
    )
    answers = {n: {AGREEMENT: rating} for n, rating in enumerate(given_, start=1)}
    found = values(part, compute(part, answers, 7, "study", "P01"), answers)
    assert found["hits_correct"] == found["hits_incorrect"]
    assert found["photos_correct"] == found["photos_incorrect"] == "5"


def test_the_coin_is_seeded_and_all_participants_have_their_own() -> None:
    part = judging_part(
        "prototype-agreement",
        photos=[photo("prototype-agreement", n, correct=n % 2 == 0) for n in range(1, 11)],
    )
    answers = {n: {AGREEMENT: 3} for n in range(1, 11)}
    computed = [compute(part, answers, 7, "study", f"P{n:02d}") for n in range(20)]
    assert computed[0] == compute(part, answers, 7, "study", "P00")
    assert len({tuple(sorted(one.assigned.items())) for one in computed}) > 10
    for one in computed:
        assert len(one.ties) == 10
        assert one.expected_hits == 5
        assert one.photos == 10
        assert one.right == {AGREEMENT: 5}, "all were said to be right"
    assert len({one.hits for one in computed}) > 2
    assert compute(part, answers, 7, "study", "P00", attempt=2) != computed[0]


def test_the_agreement_page_lists_the_own_answers_in_the_order_they_were_given() -> None:
    part = judging_part("path-agreement")  # wrong, and so not correct: photos 2 and 4
    answers = {1: {AGREEMENT: 4}, 2: {AGREEMENT: 3}, 3: {AGREEMENT: 2}, 4: {AGREEMENT: 1}}
    performance = compute(part, answers, 7, "study", "P01")
    assert (performance.hits, performance.expected_hits, performance.ties) == (2, 2.0, ())
    found = values(part, performance, answers, lambda number, rating: f"{number} {WORDS[rating]}")
    assert found == {
        "method": "TestNet",
        "accuracy": "76.1",
        "photos": "4",
        "believed": "2",
        "photos_correct": "2",
        "hits_correct": "1",
        "own_correct": "- 1 surely right\n- 3 rather wrong",
        "photos_incorrect": "2",
        "hits_incorrect": "1",
        "own_incorrect": "- 2 rather right\n- 4 surely wrong",
    }


def test_half_of_the_photos_are_believed_however_many_the_model_has_right() -> None:
    part = judging_part("path-agreement")
    answers = {1: {AGREEMENT: 4}, 2: {AGREEMENT: 3}, 3: {AGREEMENT: 2}}  # two right, one wrong
    found = values(part, compute(part, answers, 7, "study", "P01"), answers)
    assert (found["photos"], found["photos_correct"], found["believed"]) == ("3", "2", "1")
    text = (resources.assets() / "texts" / "en" / "performance-agreement.md").read_text("utf-8")
    assert "assign the 1 predictions" in texts.fill(text, found)


def test_the_distinction_page_tells_counts_and_shares_with_one_decimal() -> None:
    part = judging_part(photos=[photo("heatmap-distinction", n) for n in (1, 2, 3)])
    right = {OUTPUT: 1, OUTPUT_CONFIDENCE: 1, DISTINCTION: 1, DISTINCTION_CONFIDENCE: 1}
    answers = {n: {**right, OUTPUT: 1 + n % 4, DISTINCTION: 2} for n in (1, 2, 3)}
    found = values(part, compute(part, answers, 7, "study", "P01"), answers)
    assert (found["right_output"], found["right_output_percent"]) == ("3", "100.0")
    assert (found["right_distinction"], found["right_distinction_percent"]) == ("1", "33.3")
    assert "hits_correct" not in found


def test_nothing_judged_is_nothing_right() -> None:
    part = judging_part()
    performance = compute(part, {}, 7, "study", "P01")
    assert (performance.photos, performance.right, performance.hits) == (
        0,
        {OUTPUT: 0, DISTINCTION: 0},
        None,
    )
    assert values(part, performance, {})["right_output_percent"] == "0.0"
    part = judging_part("path-agreement")
    performance = compute(part, {}, 7, "study", "P01")
    assert (performance.hits, performance.expected_hits) == (0, 0.0)
    found = values(part, performance, {})
    assert (found["hits_correct"], found["own_incorrect"]) == ("0", "")


@pytest.mark.parametrize(("first", "second", "right"), [(1, 2, True), (1, 1, False), (2, 2, False)])
def test_a_class_reached_by_a_path_needs_both_steps(first: int, second: int, right: bool) -> None:
    gull = photo("path-distinction", 1)
    after = "step_2_absent" if first == 1 else "step_2_present"
    answers = {"step_1": first, after: second, DISTINCTION_CONFIDENCE: 3}
    assert marked("path-distinction", gull, answers)[DISTINCTION] is right
