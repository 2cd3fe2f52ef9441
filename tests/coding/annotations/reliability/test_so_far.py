"""Agreement in a training round, on what each rater has reached."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sklearn.metrics import cohen_kappa_score

from labapp.coding.agreement.coefficients import Continuum, Span, unit_alpha
from labapp.coding.annotations.model import Mark
from labapp.coding.annotations.reliability.results import SoFar, agreement_so_far
from tests.coding.annotations.reliability.coded import BOOK, session, span_marks, unit_marks

ANNA = ["explore"] * 5 + ["goal"] * 4 + ["random"] * 3
BEN = ["explore"] * 4 + ["goal"] * 5 + ["random", "explore", "random"]


def so_far(**marks: Sequence[Mark]) -> dict[str, SoFar]:
    annotations = session([]).annotations
    return {each.tier.name: each for each in agreement_so_far(annotations, BOOK, marks)}


def test_what_is_not_reached_yet_is_not_compared() -> None:
    anna, ben = unit_marks("anna", ANNA), unit_marks("ben", BEN[:9])
    (strategy,) = so_far(anna=anna, ben=ben).values()
    assert strategy.tier.name == "strategy"
    assert strategy.result.measure == "Cohen's kappa"
    assert strategy.result.value == pytest.approx(cohen_kappa_score(ANNA[:9], BEN[:9]), abs=1e-12)
    assert (strategy.result.n_comparable, strategy.raters) == (9, ("anna", "ben"))


def test_three_raters_have_an_alpha_and_one_alone_has_nothing() -> None:
    marks = {name: unit_marks(name, given) for name, given in (("a", ANNA), ("b", BEN))}
    three = so_far(**marks, c=unit_marks("c", ANNA[:6]))["strategy"]
    assert three.result.measure == "Krippendorff's alpha"
    assert not so_far(a=marks["a"], b=())
    assert not so_far()


def test_spans_are_compared_up_to_where_both_are() -> None:
    anna = span_marks("anna", [(2, 6, "turning"), (20, 24, "turning")])
    ben = span_marks("ben", [(3, 6, "turning")])
    results = so_far(anna=anna, ben=ben)
    (name,) = results
    whole = Continuum(0, 6000, ((Span(2000, 6000, "turning"),), (Span(3000, 6000, "turning"),)))
    assert results[name].result.value == pytest.approx(unit_alpha([whole]).value, abs=1e-12)


def test_of_an_optional_tier_what_was_gone_through_without_a_code_counts() -> None:
    whole = ["explore"] * 12
    anna = unit_marks(
        "anna", [f"{code} glad" if at in (1, 5) else code for at, code in enumerate(whole)]
    )
    ben = unit_marks("ben", [f"{code} glad" if at == 5 else code for at, code in enumerate(whole)])
    mood = so_far(anna=anna, ben=ben)["mood"]
    assert mood.result.n_comparable == 6, "up to the last code of this tier"
