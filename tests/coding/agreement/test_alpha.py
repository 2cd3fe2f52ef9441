"""Krippendorff's alpha and ICC against published values."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.coding.agreement.coefficients import Intraclass, Level, alpha_for, masi, masi_alpha
from labapp.coding.agreement.measure import coefficient, ratings_of
from tests.coding.agreement.examples import KRIPPENDORFF, SHROUT_FLEISS, WIKIPEDIA, from_lines
from tests.helpers.nightly import EVERYTHING

ROWS = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.none() | st.integers(1, 4), min_size=raters, max_size=raters), max_size=25
    )
)


def alpha(rows: list[list[int | None]], level: Level) -> float | None:
    ratings = ratings_of(rows)
    return coefficient(alpha_for(ratings, level), ratings).value


@pytest.mark.parametrize(
    ("lines", "level", "value"),
    [
        (KRIPPENDORFF, "nominal", 113 / 152),
        (KRIPPENDORFF, "ordinal", 0.8153875037548814),
        (KRIPPENDORFF, "interval", 0.8491071428571428),
        (KRIPPENDORFF, "ratio", 0.7974027747116121),
        (WIKIPEDIA, "nominal", 0.691358024691358),
        (WIKIPEDIA, "ordinal", 0.8067214199413153),
        (WIKIPEDIA, "interval", 0.8108448928121059),
        (WIKIPEDIA, "ratio", 0.8089436707842471),
    ],
)
def test_alpha_as_published(lines: list[str], level: Level, value: float) -> None:
    assert alpha(from_lines(lines), level) == pytest.approx(value, abs=1e-12)


def test_units_and_ratings_of_the_example() -> None:
    ratings = ratings_of(from_lines(KRIPPENDORFF))
    assert (ratings.n_units, ratings.n_comparable, ratings.n_raters) == (12, 11, 4)
    comparable = ratings.counts[ratings.counts.sum(axis=1) > 1]
    assert comparable.sum() == 40


@settings(max_examples=100 if EVERYTHING else 10)
@given(ROWS, st.randoms(use_true_random=False))
def test_alpha_hangs_on_no_name(rows: list[list[int | None]], random: Random) -> None:
    order = list(range(len(rows[0]) if rows else 0))
    random.shuffle(order)
    names: list[int | None] = [1, 2, 3, 4]
    random.shuffle(names)
    turned = [[row[at] for at in order] for row in rows]
    renamed = [[cell and names[cell - 1] for cell in row] for row in rows]
    levels: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
    for level in levels:
        value = alpha(rows, level)
        assert alpha(turned, level) == (None if value is None else pytest.approx(value, abs=1e-9))
    value = alpha(rows, "nominal")
    assert alpha(renamed, "nominal") == (None if value is None else pytest.approx(value, abs=1e-9))


@given(ROWS)
def test_equal_ratings_have_an_alpha_of_one(rows: list[list[int | None]]) -> None:
    equal = [[row[0]] * len(row) for row in rows]
    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert alpha(equal, level) in (None, pytest.approx(1))  # type: ignore[arg-type]


def test_a_ratio_has_no_numbers_below_zero() -> None:
    with pytest.raises(ValueError, match="below zero"):
        alpha([[-1, 2], [1, 1]], "ratio")


@pytest.mark.parametrize("level", ["interval", "ratio"])
@pytest.mark.parametrize("factor", [1e-300, 1e-5, 1e307])
def test_the_unit_of_measurement_plays_no_part(level: Level, factor: float) -> None:
    rows = from_lines(KRIPPENDORFF)
    larger = ratings_of([[cell and cell * factor for cell in row] for row in rows])
    value = coefficient(alpha_for(larger, level), larger).value
    assert value == pytest.approx(alpha(rows, level), abs=1e-12)


def test_zero_is_a_ratio() -> None:
    assert alpha([[0, 0], [1, 1], [2, 2]], "ratio") == 1


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [("", "", 1), ("a", "", 0), ("a", "b", 0), ("ab", "ab", 1), ("a", "ab", 1 / 3),
     ("ab", "bc", 1 / 9)],
)  # fmt: skip
def test_masi_by_hand(first: str, second: str, value: float) -> None:
    assert masi(set(first), set(second)) == pytest.approx(value)


def test_masi_of_single_codes_is_the_nominal_alpha() -> None:
    rows = from_lines(WIKIPEDIA)
    sets = ratings_of([[c and frozenset(str(c)) for c in row] for row in rows])
    value = coefficient(masi_alpha(sets), sets).value
    assert value == pytest.approx(alpha(rows, "nominal"), abs=1e-12)


def test_masi_gives_part_of_the_credit_for_part_of_the_codes() -> None:
    def value(second: str) -> float:
        rows = [("a", "a"), ("b", "b"), ("ab", second), ("", "")]
        ratings = ratings_of([[frozenset(cell) for cell in row] for row in rows])
        result = coefficient(masi_alpha(ratings), ratings).value
        assert result is not None
        return result

    assert 1 == value("ab") > value("a") > value("")


def test_intraclass_correlation_as_published() -> None:
    result = coefficient(Intraclass(), ratings_of(SHROUT_FLEISS))
    assert result.value == pytest.approx(0.29, abs=5e-3)
    assert result.value == pytest.approx(0.2897637795275591, abs=1e-12)
    assert (result.n_units, result.n_raters) == (6, 4)


def test_intraclass_correlation_of_equal_and_of_shifted_raters() -> None:
    def value(rows: list[list[int | None]]) -> float | None:
        return coefficient(Intraclass(), ratings_of(rows)).value

    assert value([[1, 1], [2, 2], [5, 5]]) == pytest.approx(1)
    assert value([[1, 2], [2, 3], [5, 6]]) == pytest.approx(26 / 29)
    # A unit that lacks a value is left out.
    assert value([[1, 2], [2, 3], [5, 6], [4, None]]) == pytest.approx(26 / 29)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[1, 1], [2, None]], "it needs two units that every rater gave a value, and there are 1"),
        ([[3, 3], [3, 3]], "all gave 3 only, so that nothing varies"),
    ],
)
def test_why_there_is_no_intraclass_correlation(rows: list[list[int | None]], reason: str) -> None:
    result = coefficient(Intraclass(), ratings_of(rows))
    assert (result.value, result.reason) == (None, reason)
