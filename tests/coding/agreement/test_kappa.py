"""Kappas and AC1 against published values, scikit-learn and statsmodels."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from labapp.coding.agreement.coefficients import (
    CohenKappa,
    FleissKappa,
    GwetAC1,
    confusion,
    kappa_max,
    percent,
    prevalence,
)
from labapp.coding.agreement.measure import coefficient, ratings_of
from tests.coding.agreement.examples import FLEISS, from_counts, from_table

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("table", "kappa", "most"),
    [
        ([[20, 5], [10, 15]], 0.4, 0.8),
        ([[45, 15], [25, 15]], 0.13043478260869565, 0.782608695652174),
        ([[25, 35], [5, 35]], 0.25925925925925924, 0.4444444444444444),
    ],
)
def test_cohens_kappa_as_published(table: list[list[int]], kappa: float, most: float) -> None:
    ratings = ratings_of(from_table(table))
    result = coefficient(CohenKappa(), ratings)
    assert result.value == pytest.approx(kappa, abs=1e-12)
    assert confusion(ratings).tolist() == table
    assert kappa_max(confusion(ratings)) == pytest.approx(most, abs=1e-12)
    assert (result.n_units, result.n_raters) == (np.sum(table), 2)


def test_fleiss_kappa_as_published() -> None:
    ratings = ratings_of(from_counts(FLEISS))
    value = coefficient(FleissKappa(), ratings).value
    assert value == pytest.approx(0.20993070442195522, abs=1e-12)
    assert value == pytest.approx(fleiss_kappa(np.array(FLEISS)), abs=1e-12)
    assert value == pytest.approx((0.378022 - 0.212755) / (1 - 0.212755), abs=1e-6)


def test_ac1_as_published() -> None:
    """Gwet 2008: 118 and 2 alike of 125 is an agreement of .94, and a kappa below zero."""
    ratings = ratings_of(from_table([[118, 5], [2, 0]]))
    assert coefficient(GwetAC1(), ratings).value == pytest.approx(0.9408, abs=5e-5)
    assert coefficient(CohenKappa(), ratings).value == pytest.approx(-0.0234, abs=5e-5)
    assert percent(ratings) == pytest.approx(94.4)
    assert prevalence(ratings) == pytest.approx([0.972, 0.028])


def test_ac1_is_defined_where_all_give_one_code_of_several() -> None:
    ratings = ratings_of([["a", "a"]] * 4, categories=["a", "b"])
    assert coefficient(GwetAC1(), ratings).value == 1
    kappa = coefficient(CohenKappa(), ratings)
    assert kappa.value is None
    assert kappa.reason == "all gave “a” only, so that agreement by chance is certain"


@given(PAIRS, st.sampled_from(["none", "linear", "quadratic"]))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]], weights: str) -> None:
    ratings = ratings_of(pairs, categories=range(4))
    value = coefficient(CohenKappa(weights), ratings).value  # type: ignore[arg-type]
    if len({rating for pair in pairs for rating in pair}) == 1:
        assert value is None
        return
    sklearn = cohen_kappa_score(
        *zip(*pairs, strict=True),
        labels=[0, 1, 2, 3],
        weights=None if weights == "none" else weights,
    )
    assert value == pytest.approx(sklearn, abs=1e-12)


def test_weights_follow_the_values_of_the_scale() -> None:
    pairs = [[1, 1], [1, 2], [1, 1], [2, 2], [2, 2], [7, 7]]
    even = coefficient(CohenKappa("linear"), ratings_of(pairs)).value
    apart = coefficient(CohenKappa("linear", (1, 2, 7)), ratings_of(pairs)).value
    assert even != apart


@given(PAIRS, st.randoms(use_true_random=False))
def test_nothing_hangs_on_the_names_of_raters_and_codes(
    pairs: list[tuple[int, int]], random: Random
) -> None:
    renamed = list("abcd")
    random.shuffle(renamed)
    others = [(renamed[second], renamed[first]) for first, second in pairs]
    for measure in (CohenKappa(), FleissKappa(), GwetAC1()):
        before = coefficient(measure, ratings_of(pairs))
        after = coefficient(measure, ratings_of(others))
        assert (before.value is None) == (after.value is None)
        if before.value is not None:
            assert after.value == pytest.approx(before.value, abs=1e-12)


def test_a_unit_that_only_one_rater_coded_is_not_compared() -> None:
    rows = [["a", "a"], ["a", "b"], ["b", "b"]]
    value = coefficient(CohenKappa(), ratings_of(rows)).value
    more = coefficient(CohenKappa(), ratings_of([*rows, ["a", None], [None, "b"], [None, None]]))
    assert (more.value, more.n_units, more.n_comparable) == (value, 6, 3)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "there is one rater only"),
        ([["a"]], "there is one rater only"),
        ([["a", None]], "there is no unit that two raters coded"),
        ([["a", "b", "a"]], "it compares two raters, and there are 3"),
    ],
)
def test_why_there_is_no_kappa(rows: list[list[str | None]], reason: str) -> None:
    result = coefficient(CohenKappa(), ratings_of(rows))
    assert (result.value, result.reason) == (None, reason)


def test_fleiss_needs_as_many_ratings_of_each_unit() -> None:
    result = coefficient(FleissKappa(), ratings_of([["a", "b", "a"], ["a", "b", None]]))
    assert result.value is None
    assert "as many ratings for each unit, and there are 2 for some and 3 for others" in (
        result.reason
    )


def test_one_code_against_the_rest() -> None:
    ratings = ratings_of([["a", "b"], ["a", "a"], ["c", None]]).of_code("a")
    assert ratings.codes.tolist() == [[1, 0], [1, 1], [0, -1]]


def test_what_is_not_of_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="'c' is not of the scale"):
        ratings_of([["a", "c"]], categories=["a", "b"])
    with pytest.raises(ValueError, match="of each rater"):
        ratings_of([["a", "c"], ["a"]])
