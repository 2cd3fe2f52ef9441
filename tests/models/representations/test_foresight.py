"""A decoder that is told what will be looked at next."""

from __future__ import annotations

import numpy as np

from labapp.models.representations import decoding
from labapp.models.representations.decoding import Array, Foresight


class Counted:
    """Doubles; remembers how many instances each call was asked for."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, z: Array) -> Array:
        self.calls.append(len(z))
        return 2 * z


def row(*values: float) -> Array:
    return np.array(values, np.float32)


def foresight(forward: Counted) -> Foresight:
    return Foresight(forward, lambda state: row(*state))


def test_what_is_foreseen_comes_with_what_is_asked_for_and_is_not_asked_for_again() -> None:
    forward = Counted()
    decode = foresight(forward)
    decode.foresee(lambda: [(2.0,), (1.0,), (3.0,), (2.0,)])
    for value in (1, 2, 3, 1):
        np.testing.assert_array_equal(decode(row(value)[None]), [[2 * value]])
    assert forward.calls == [3]


def test_what_is_foreseen_is_left_out_where_it_is_known_and_holds_once() -> None:
    forward = Counted()
    decode = foresight(forward)
    decode(row(5)[None])
    decode.foresee(lambda: [(5.0,)])
    decode(row(6)[None])
    decode(row(7)[None])
    assert forward.calls == [1, 1, 1]


def test_many_at_once_pass_by() -> None:
    forward = Counted()
    decode = foresight(forward)
    decode(np.ones((4, 1), np.float32))
    decode(row(1)[None])
    assert forward.calls == [4, 1]


def test_it_does_not_remember_without_end() -> None:
    forward = Counted()
    decode = foresight(forward)
    for value in range(decoding.KEPT + 1):
        decode(row(value)[None])
    decode(row(decoding.KEPT)[None])
    assert len(forward.calls) == decoding.KEPT + 1
    decode(row(0)[None])
    assert len(forward.calls) == decoding.KEPT + 2
