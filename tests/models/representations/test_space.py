"""Latent spaces: what a dial can stand at and what the decoder is given."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.models.representations.space import Continuous, Dimension, Discrete, LatentSpace

names = st.text("abcz", min_size=1, max_size=4)
limits = st.tuples(st.floats(-100, 99), st.floats(0.5, 50)).map(lambda p: (p[0], p[0] + p[1]))
continuous = st.builds(lambda name, at: Continuous(name, *at), names, limits)
discrete = st.builds(Discrete, names, st.integers(2, 10))
spaces = st.tuples(
    st.lists(discrete, max_size=2), st.lists(continuous, min_size=1, max_size=4)
).map(lambda parts: LatentSpace((*parts[0], *parts[1])))


def test_snapping_by_hand() -> None:
    dial = Continuous("z1", -1.234, 2.0)
    assert dial.snap(0.126) == 0.13
    assert dial.snap(0.29) == 0.29  # 29 * 0.01 is 0.29000000000000004 in floating point
    assert dial.snap(-5) == -1.234  # the limit itself, though it lies on no step
    assert dial.snap(9) == 2.0
    choice = Discrete("c", 3)
    assert (choice.snap(-1), choice.snap(1.2), choice.snap(7)) == (0, 1, 2)


@given(dial=continuous, value=st.floats(-1000, 1000))
def test_a_snapped_value_is_on_a_step_or_a_limit(dial: Continuous, value: float) -> None:
    snapped = dial.snap(value)
    assert dial.low <= snapped <= dial.high
    on_step = abs(snapped * 100 - round(snapped * 100)) < 1e-6
    assert on_step or snapped in (dial.low, dial.high)
    if snapped not in (dial.low, dial.high):
        assert dial.snap(snapped) == snapped
    if dial.low <= value <= dial.high:
        assert abs(snapped - value) <= 0.005 + 1e-9


@pytest.mark.parametrize("dimension", [Continuous("z", 0, 1), Discrete("c", 3)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(dimension: Dimension, value: float) -> None:
    with pytest.raises(ValueError):
        dimension.snap(value)


def test_one_hots_stand_before_the_continuous_values() -> None:
    space = LatentSpace((Discrete("digit", 4), Discrete("flag", 2), Continuous("z1", -1, 1)))
    assert (len(space), space.width) == (3, 7)
    encoded = space.encode((2, 0, 0.5))
    assert encoded.dtype == np.float32
    assert encoded.tolist() == [0, 0, 1, 0, 1, 0, 0.5]


@given(space=spaces, data=st.data())
def test_encoding_keeps_every_value(space: LatentSpace, data: st.DataObject) -> None:
    z = space.snap([data.draw(st.floats(-200, 200)) for _ in space.dimensions])
    encoded = space.encode(z)
    at = 0
    for dimension, value in zip(space.dimensions, z, strict=True):
        part = encoded[at : at + dimension.width]
        if isinstance(dimension, Discrete):
            assert part.sum() == 1
            assert part.argmax() == value
        else:
            assert part[0] == np.float32(value)
        at += dimension.width
    assert at == space.width


@given(space=spaces)
def test_a_space_survives_json(space: LatentSpace) -> None:
    assert LatentSpace.from_json(json.loads(json.dumps(space.to_json()))) == space


def test_what_is_no_space_is_refused() -> None:
    with pytest.raises(ValueError, match="not below"):
        Continuous("z", 1, 1)
    with pytest.raises(ValueError, match="step"):
        Continuous("z", 0, 1, 0)
    with pytest.raises(ValueError, match="2 or more"):
        Discrete("c", 1)
    with pytest.raises(ValueError, match="at least one"):
        LatentSpace(())
    with pytest.raises(ValueError, match="before continuous"):
        LatentSpace((Continuous("z", 0, 1), Discrete("c", 2)))
    with pytest.raises(ValueError, match="'ordinal'"):
        LatentSpace.from_json([{"type": "ordinal"}])


@pytest.mark.parametrize("z", [(), (0.5,), (0.5, 0.5, 0.5)])
def test_a_state_of_another_length_is_refused(z: tuple[float, ...]) -> None:
    space = LatentSpace((Continuous("a", 0, 1), Continuous("b", 0, 1)))
    with pytest.raises(ValueError, match="expected 2 values"):
        space.snap(z)
    with pytest.raises(ValueError, match="expected 2 values"):
        space.encode(z)
