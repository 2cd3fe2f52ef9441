"""Measures of agreement against published values, scikit-learn and statsmodels."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from labapp.coding.agreement.coefficients import (
    CohenKappa,
    Continuum,
    FleissKappa,
    GwetAC1,
    Intraclass,
    Level,
    Span,
    alpha_for,
    confusion,
    instants,
    kappa_max,
    labels_at,
    masi,
    masi_alpha,
    percent,
    prevalence,
    unit_alpha,
)
from labapp.coding.agreement.measure import coefficient, ratings_of
from tests.coding.agreement.examples import (
    FLEISS,
    KRIPPENDORFF,
    SHROUT_FLEISS,
    WIKIPEDIA,
    from_counts,
    from_lines,
    from_table,
)
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
        ([[1, 1], [2, None]], "it needs two units that every rater rated, but there are 1"),
        ([[3, 3], [3, 3]], "all gave only 3, so nothing varies"),
    ],
)
def test_why_there_is_no_intraclass_correlation(rows: list[list[int | None]], reason: str) -> None:
    result = coefficient(Intraclass(), ratings_of(rows))
    assert (result.value, result.reason) == (None, reason)


ALEX = [(0, 7, "1"), (7, 13, "2"), (30, 32, "5"), (32, 37, "6"), (37, 44, "6"), (44, 60, "7")]

PAUL = [(0, 7, "1"), (7, 13, "3"), (13, 21, "5"), (32, 44, "6")]

SUZAN = [(0, 7, "1"), (7, 13, "4"), (13, 21, "5"), (32, 37, "6"), (37, 41, "6"), (41, 44, "6")]


def example(scale: int) -> Continuum:
    return Continuum(
        0,
        60 * scale,
        tuple(
            tuple(Span(start * scale, end * scale, code) for start, end, code in rater)
            for rater in (ALEX, PAUL, SUZAN)
        ),
    )


@pytest.mark.parametrize(
    ("scale", "nominal", "binary"),
    [(1, 0.5100, 0.4136), (10, 0.5090, 0.4124), (1000, 0.5089, 0.4123)],
)
def test_u_alpha_as_published(scale: int, nominal: float, binary: float) -> None:
    result = unit_alpha([example(scale)])
    assert result.value == pytest.approx(nominal, abs=5e-5)
    assert (result.measure, result.n_raters, result.n_units) == ("nominal u-alpha", 3, 16)
    assert unit_alpha([example(scale)], binary=True).value == pytest.approx(binary, abs=5e-5)


@st.composite
def spans(draw: st.DrawFn, length: int = 40) -> tuple[Span, ...]:
    """Stretches of one rater, which do not overlap."""
    edges = sorted(draw(st.sets(st.integers(0, length), max_size=10)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    return tuple(Span(a, b, draw(st.sampled_from("xyz"))) for a, b in pairs)


CODED = st.lists(spans(), min_size=2, max_size=3)


@given(spans(), st.booleans())
def test_u_alpha_of_equal_codings_is_one(coded: tuple[Span, ...], binary: bool) -> None:
    value = unit_alpha([Continuum(0, 41, (coded, coded, coded))], binary=binary).value
    assert value == (pytest.approx(1, abs=1e-12) if coded else None)


@given(CODED, CODED, st.booleans())
def test_joining_sessions_that_follow_each_other_changes_nothing(
    first: list[tuple[Span, ...]], second: list[tuple[Span, ...]], binary: bool
) -> None:
    n = min(len(first), len(second))
    later = [tuple(Span(a + 41, b + 41, c) for a, b, c in rater) for rater in second]
    apart = [Continuum(0, 41, tuple(first[:n])), Continuum(41, 82, tuple(later[:n]))]
    joined = Continuum(0, 82, tuple(a + b for a, b in zip(first[:n], later[:n], strict=True)))
    value = unit_alpha(apart, binary=binary).value
    assert unit_alpha([joined], binary=binary).value == (
        None if value is None else pytest.approx(value, abs=1e-12)
    )


@given(CODED, st.randoms(use_true_random=False))
def test_u_alpha_hangs_on_no_name(coded: list[tuple[Span, ...]], random: Random) -> None:
    value = unit_alpha([Continuum(0, 41, tuple(coded))]).value
    names = list("pqr")
    random.shuffle(names)
    new = dict(zip("xyz", names, strict=True))
    others = [tuple(span._replace(code=new[span.code]) for span in rater) for rater in coded]
    random.shuffle(others)
    assert unit_alpha([Continuum(0, 41, tuple(others))]).value == (
        None if value is None else pytest.approx(value, abs=1e-12)
    )


def test_where_u_alpha_is_undefined_it_says_why() -> None:
    nobody = unit_alpha([Continuum(0, 10, ((), ()))])
    assert (nobody.value, nobody.reason) == (None, "nobody coded anything")
    everything = unit_alpha([Continuum(0, 10, ((Span(0, 10, "x"),), (Span(0, 10, "x"),)))])
    assert everything.value is None
    assert "the same value" in everything.reason
    assert unit_alpha([Continuum(0, 10, ((Span(0, 1, "x"),),))]).reason == "there is only one rater"


@pytest.mark.parametrize(
    "rater", [(Span(0, 5, "x"), Span(4, 6, "y")), (Span(3, 3, "x"),), (Span(8, 12, "x"),)]
)
def test_what_is_no_coding_of_a_continuum_is_refused(rater: tuple[Span, ...]) -> None:
    with pytest.raises(ValueError, match=r"overlap|no length"):
        unit_alpha([Continuum(0, 10, (rater, ()))])


@pytest.mark.parametrize(
    ("start", "step", "kappa"),
    [(1200, 1000, 0.636), (1200, 100, 0.860), (0, 1000, 0.867), (0, 100, 0.881)],
)
def test_time_unit_kappa_as_boris_has_it(start: int, step: int, kappa: float) -> None:
    """The same codings by four grids: four kappas."""
    rest = [Span(5000, 7420, "uncertain"), Span(7420, 9000, "insight")]
    grid = instants(start, 9000, step)
    labels: dict[frozenset[str], int] = {}
    codes = [
        labels_at([Span(*explore, "explore"), *rest], grid, labels)
        for explore in ((1200, 3850), (1600, 4250))
    ]
    ratings = ratings_of(np.stack(codes, axis=1).tolist())
    assert coefficient(CohenKappa(), ratings).value == pytest.approx(kappa, abs=5e-4)


def test_codes_that_overlap_are_a_label_of_their_own() -> None:
    labels: dict[frozenset[str], int] = {}
    spans = [Span(1, 4, "a"), Span(3, 6, "b"), Span(3, 4, "a")]
    numbers = labels_at(spans, instants(0, 7, 1), labels)
    names = {number: "".join(sorted(codes)) for codes, number in labels.items()}
    assert [names[number] for number in numbers] == ["", "a", "a", "ab", "ab", "b", "b", ""]


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
    assert kappa.reason == "all gave only “a”, so agreement by chance is certain"


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
        ([], "there is only one rater"),
        ([["a"]], "there is only one rater"),
        ([["a", None]], "there is no unit that two raters coded"),
        ([["a", "b", "a"]], "it compares two raters, but there are 3"),
    ],
)
def test_why_there_is_no_kappa(rows: list[list[str | None]], reason: str) -> None:
    result = coefficient(CohenKappa(), ratings_of(rows))
    assert (result.value, result.reason) == (None, reason)


def test_fleiss_needs_as_many_ratings_of_each_unit() -> None:
    result = coefficient(FleissKappa(), ratings_of([["a", "b", "a"], ["a", "b", None]]))
    assert result.value is None
    assert "the same number of ratings for each unit, but some have 2 and others 3" in (
        result.reason
    )


def test_one_code_against_the_rest() -> None:
    ratings = ratings_of([["a", "b"], ["a", "a"], ["c", None]]).of_code("a")
    assert ratings.codes.tolist() == [[1, 0], [1, 1], [0, -1]]


def test_what_is_not_of_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="'c' is not on the scale"):
        ratings_of([["a", "c"]], categories=["a", "b"])
    with pytest.raises(ValueError, match="from each rater"):
        ratings_of([["a", "c"], ["a"]])
