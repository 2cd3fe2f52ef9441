"""u-alpha and time-unit kappa against published values."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.coding.agreement.coefficients import (
    CohenKappa,
    Continuum,
    Span,
    instants,
    labels_at,
    unit_alpha,
)
from labapp.coding.agreement.measure import coefficient, ratings_of

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
    assert "one value" in everything.reason
    assert unit_alpha([Continuum(0, 10, ((Span(0, 1, "x"),),))]).reason == "there is one rater only"


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
