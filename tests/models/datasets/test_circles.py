"""The practice pictures against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labapp.models.datasets import circles
from tests.helpers.sample import examples

unit = st.integers(0, 100).map(lambda step: step / 100)


def picture(radius: float, shade: float) -> NDArray[np.float32]:
    return circles.pictures(np.array([[radius, shade]], dtype=np.float32)).reshape(64, 64)


def test_the_smallest_disc_holds_the_lattice_points_strictly_inside_radius_4() -> None:
    white = picture(0, 0) > 0.5
    # Lattice points with a^2 + b^2 < 16: 7 + 2 * (7 + 7 + 5) = 45; (4, 0) lies on the edge.
    assert int(white.sum()) == 45
    assert white[31, 31]
    assert white[31, 34]
    assert not white[31, 35]
    assert white[33, 34]
    assert not white[34, 34]


def test_the_largest_disc_reaches_just_short_of_28_pixels() -> None:
    black = picture(1, 1) < 0.5
    assert black[31, 31 + 27]
    assert not black[31, 31 + 28]
    assert black[31 - 27, 31]
    assert not black[31 - 28, 31]


def test_shade_is_the_background_and_its_complement_the_disc() -> None:
    x = picture(0.5, 0.25)
    assert x[31, 31] == np.float32(0.75)
    assert x[0, 0] == np.float32(0.25)


def test_type_and_shape() -> None:
    x = circles.pictures(np.zeros((3, 2)))
    assert x.shape == (3, 64, 64)
    assert x.dtype == np.float32


@pytest.mark.parametrize("shape", [(2,), (1, 3), (1, 2, 1)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"\(n, 2\)"):
        circles.pictures(np.zeros(shape))


@examples(60)
@given(radius=unit, shade=unit)
def test_turning_the_shade_round_swaps_disc_and_background(radius: float, shade: float) -> None:
    np.testing.assert_allclose(picture(radius, shade), 1 - picture(radius, 1 - shade), atol=1e-6)


@examples(60)
@given(small=unit, large=unit)
def test_a_larger_radius_never_loses_a_pixel(small: float, large: float) -> None:
    small, large = sorted((small, large))
    assert (picture(small, 0) <= picture(large, 0)).all()


def test_prior_states_stand_on_the_dials_steps() -> None:
    z = circles.sample_prior(4_000, seed=1)
    assert z.shape == (4_000, 2)
    steps = z.astype(np.float64) * 100
    assert np.abs(steps - steps.round()).max() < 1e-4
    assert {0, 100} <= set(steps.round().astype(int).ravel())
    assert z.min() == 0
    assert z.max() == 1
    assert np.array_equal(z, circles.sample_prior(4_000, seed=1))
    assert not np.array_equal(z, circles.sample_prior(4_000, seed=2))
