"""The agreement of a discrete code with digits, on pictures whose digit is known."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.models.datasets.split import Float32, Split
from labapp.models.representations import measuring
from labapp.models.representations.space import Continuous, Discrete, LatentSpace
from tests.helpers import digits

SPACE = LatentSpace((Discrete("c1", 10), Continuous("z1", -1.0, 1.0)))
ORDER = np.array([3, 1, 4, 0, 5, 9, 2, 6, 8, 7])


@pytest.fixture(scope="module")
def data() -> Split:
    from labapp.models.datasets.mnist import DigitRows

    return Split(
        DigitRows(*digits.draw(600, seed=0)),
        DigitRows(*digits.draw(200, seed=1)),
        ("digit",),
        False,
    )


@pytest.fixture
def latents() -> Float32:
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(10, size=500), rng.uniform(-1, 1, 500)], 1).astype(np.float32)


def a_decoder(wrong: float):  # type: ignore[no-untyped-def]
    """Draws the digit ORDER[code]; where z1 < -1 + 2 * wrong, a one instead."""

    def decode(inputs: Float32) -> Float32:
        named = ORDER[inputs[:, :10].argmax(1)]
        named = np.where(inputs[:, 10] < -1 + 2 * wrong, 1, named)
        pictures = np.zeros((len(inputs), 28, 28), np.float32)
        for row, digit in enumerate(named):
            pictures[row, 4:24, 2 * digit + 4 : 2 * digit + 7] = 1
        return pictures

    return decode


def test_codes_that_each_draw_one_digit_agree_whatever_their_order(
    data: Split, latents: Float32
) -> None:
    found = measuring.code_agreement(SPACE, a_decoder(0.0), latents, data)
    assert found.classifier_accuracy > 0.95
    assert found.agreement == 1.0
    assert found.digits == ORDER.tolist()
    assert found.pictures == 500


def test_what_draws_another_digit_counts_against(data: Split, latents: Float32) -> None:
    found = measuring.code_agreement(SPACE, a_decoder(0.4), latents, data)
    # Four tenths are ones; a tenth of those belong to the code of the one.
    assert found.agreement == pytest.approx(1 - 0.4 * 0.9, abs=0.05)


def test_a_code_without_meaning_agrees_by_chance(data: Split, latents: Float32) -> None:
    shuffled = latents.copy()

    def decode(inputs: Float32) -> Float32:
        rng = np.random.default_rng(1)
        mixed = inputs.copy()
        mixed[:, :10] = np.eye(10, dtype=np.float32)[rng.integers(10, size=len(inputs))]
        return np.asarray(a_decoder(0.0)(mixed), np.float32)

    found = measuring.code_agreement(SPACE, decode, shuffled, data)
    assert found.agreement < 0.25
