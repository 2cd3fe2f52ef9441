"""Speech is where somebody speaks, to hundredths of a second, and never where sound was lost."""

from __future__ import annotations

import shutil
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labapp.record.audio.speech import joined, stretches, utterances
from tests.record.audio.spoken import RATE, in_noise, spoken
from tests.sound import require


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> list[NDArray[np.int16]]:
    require("" if shutil.which("espeak-ng") else "espeak-ng")
    return spoken(tmp_path_factory.mktemp("spoken"))


@pytest.mark.sound
@pytest.mark.parametrize("seed", range(5))
def test_ten_utterances_in_noise(sentences: list[NDArray[np.int16]], seed: int) -> None:
    samples, truth = in_noise(sentences, 20.0, seed)
    heard = utterances(samples, RATE)
    assert len(heard) == 10
    errors = 1e3 * np.abs(np.array(heard) - np.array(truth))
    onset_ms, offset_ms = np.median(errors, axis=0)
    assert onset_ms <= 40.0
    assert offset_ms <= 80.0


@pytest.mark.sound
def test_a_voice_between_zeros(sentences: list[NDArray[np.int16]]) -> None:
    """As a microphone with a noise gate records it."""
    zeros = np.zeros(2 * RATE, np.int16)
    samples = np.concatenate([part for spoken in sentences for part in (zeros, spoken)])
    assert len(utterances(samples, RATE)) == 10


@pytest.mark.sound
def test_lost_sound_is_no_speech(sentences: list[NDArray[np.int16]]) -> None:
    samples, truth = in_noise(sentences, 20.0, 0)
    lost = slice(round((truth[3][0] + 0.4) * RATE), round((truth[3][0] + 0.9) * RATE))
    samples[lost] = 0
    for begins, ends in stretches(samples, RATE):
        inside = samples[round(begins * RATE) : round(ends * RATE)]
        assert (ends <= lost.start / RATE + 0.011) or (begins >= lost.stop / RATE - 0.011)
        assert inside.any()


@pytest.mark.parametrize("size", [0, 1, 100, 441, RATE])
def test_zeros_and_shreds_of_sound(size: int) -> None:
    assert stretches(np.zeros(size, np.int16), RATE) == []
    assert all(ends * RATE <= size + 1 for _, ends in stretches(np.ones(size, np.int16), RATE))


def test_noise_alone_is_no_speech() -> None:
    noise = np.random.default_rng(3).normal(0.0, 300.0, 60 * RATE).astype(np.int16)
    assert stretches(noise, RATE) == []


def test_a_few_words_in_a_long_silence() -> None:
    """They are less than the loudest hundredth of the recording."""
    noise = np.random.default_rng(3).normal(0.0, 30.0, 300 * RATE)
    at = slice(200 * RATE, 201 * RATE)
    noise[at] += 3000 * np.sin(np.arange(RATE) * 2 * np.pi * 150 / RATE)
    ((begins, ends),) = utterances(noise.astype(np.int16), RATE)
    assert (begins, ends) == pytest.approx((200.0, 201.0), abs=0.03)


spans = st.lists(st.tuples(st.integers(1, 300), st.integers(1, 300)), max_size=20)


@given(spans, st.floats(0.01, 3.0))
def test_joined_stretches_hold_all_and_lie_apart(
    lengths: list[tuple[int, int]], pause_s: float
) -> None:
    heard, at = [], 0.0
    for pause, length in lengths:
        heard.append((at + pause / 100, at + (pause + length) / 100))
        at = heard[-1][1]
    together = joined(heard, pause_s)
    assert all(b[0] - a[1] >= pause_s for a, b in pairwise(together))
    assert all(any(a <= t0 and t1 <= b for a, b in together) for t0, t1 in heard)
    assert {t for pair in together for t in pair} <= {t for pair in heard for t in pair}
