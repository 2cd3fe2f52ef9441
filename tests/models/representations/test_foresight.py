"""The pictures of a question, of which it is known what will be looked at next."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pytest

from labapp.models.representations import decoding
from labapp.models.representations.decoding import Array, Foresight, compare
from labapp.models.representations.space import Continuous, LatentSpace

TARGET = np.full(4, 0.5, np.float32)


class Counted:
    """A decoder of one dial; remembers how many instances each call was asked for."""

    id = "sinelines/counted"
    space = LatentSpace((Continuous("dial", 0.0, 1000.0, 0.01),))
    latents = None
    percentiles: Mapping[int, Array] = MappingProxyType({})
    from_prior = False

    def __init__(self) -> None:
        self.calls: list[int] = []

    def decode(self, z: Array) -> Array:
        self.calls.append(len(z))
        return z * np.arange(4, dtype=np.float32)


def looked(looks: Foresight, value: float) -> None:
    """A look gives the picture of that state, and how far it is from the target."""
    picture, measured = looks.look((value,))
    np.testing.assert_array_equal(picture, np.float32(value) * np.arange(4, dtype=np.float32))
    assert measured == compare("mse/9", picture, TARGET)


def test_what_is_foreseen_comes_with_what_is_asked_for_and_is_not_asked_for_again() -> None:
    decoder = Counted()
    looks = Foresight(decoder, "mse/9", TARGET)
    looks.foresee(lambda: [(2.0,), (1.0,), (3.0,), (2.0,)])
    for value in (1, 2, 3, 1):
        looked(looks, value)
    assert decoder.calls == [3]


def test_what_is_foreseen_is_left_out_where_it_is_known_and_holds_once() -> None:
    decoder = Counted()
    looks = Foresight(decoder, "mse/9", TARGET)
    looks.foresee(tuple)
    looked(looks, 5)
    looks.foresee(lambda: [(5.0,)])
    looked(looks, 6)
    looked(looks, 7)
    assert decoder.calls == [1, 1, 1]


def test_where_nothing_is_foreseen_nothing_is_remembered() -> None:
    decoder = Counted()
    looks = Foresight(decoder, "mse/9", TARGET)
    looked(looks, 1)
    looked(looks, 1)
    assert decoder.calls == [1, 1]


def test_it_does_not_remember_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "KEPT", 8)
    decoder = Counted()
    looks = Foresight(decoder, "mse/9", TARGET)
    looks.foresee(tuple)
    for value in range(9):
        looked(looks, value)
    looked(looks, 8)
    assert len(decoder.calls) == 9
    looked(looks, 0)
    assert len(decoder.calls) == 10
