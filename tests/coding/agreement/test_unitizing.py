"""The older alpha for stretches, against the example of its author."""

from __future__ import annotations

import pytest

from labapp.coding.agreement.coefficients import Continuum, Span, unitizing_alpha

FIRST = [(225, 70, "c"), (370, 30, "c"), (180, 60, "k"), (300, 50, "k")]
SECOND = [(220, 80, "c"), (355, 20, "c"), (400, 20, "c"), (180, 60, "k"), (300, 50, "k")]
EXAMPLE = Continuum(
    150,
    450,
    tuple(
        tuple(Span(start, start + length, code) for start, length, code in rater)
        for rater in (FIRST, SECOND)
    ),
)
"""Krippendorff 2004, p. 254."""


def test_as_published() -> None:
    of_c, of_k = unitizing_alpha(EXAMPLE, ["c"]), unitizing_alpha(EXAMPLE, ["k"])
    assert of_c.observed == pytest.approx(0.0144, abs=5e-5)
    assert of_c.expected == pytest.approx(0.0532, abs=5e-5)
    assert of_c.value == pytest.approx(0.7286, abs=5e-5)
    assert of_k.expected == pytest.approx(0.0490, abs=5e-5)
    assert of_k.value == 1
    assert unitizing_alpha(EXAMPLE).value == pytest.approx(0.859, abs=5e-4)


def test_without_codes_there_is_none() -> None:
    assert unitizing_alpha(Continuum(0, 10, ((), ()))).value is None
    with pytest.raises(ValueError, match="two raters"):
        unitizing_alpha(Continuum(0, 10, ((),)))
