"""Ten utterances of espeak-ng, laid at known times into noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from tests.sound import say

RATE = 22050
SENTENCES = (
    "let me just try this one",
    "this one does nothing",
    "I think it is the colour",
    "oh now it gets bigger",
    "no that was wrong",
    "maybe the third dial",
    "hmm so what happens here",
    "it turns to the left",
    "now I have got it I believe",
    "yes that looks the same",
)
AUDIBLE = 200


def spoken(folder: Path) -> list[NDArray[np.int16]]:
    """Each sentence from its first audible sample to its last, int16 at `RATE`."""
    sentences = []
    for number, text in enumerate(SENTENCES):
        samples, rate = soundfile.read(say(text, folder / f"{number}.wav"), dtype="int16")
        assert rate == RATE
        audible = np.flatnonzero(np.abs(samples) > AUDIBLE)
        sentences.append(samples[audible[0] : audible[-1] + 1])
    return sentences


def in_noise(
    sentences: list[NDArray[np.int16]], snr_db: float, seed: int
) -> tuple[NDArray[np.int16], list[tuple[float, float]]]:
    """The sentences 1.5 to 5 s apart in white noise, and where each lies, in s."""
    rng = np.random.default_rng(seed)
    parts, truth, at = [], [], 0
    for sentence in sentences:
        pause = int(rng.uniform(1.5, 5.0) * RATE)
        truth.append(((at + pause) / RATE, (at + pause + sentence.size) / RATE))
        parts += [np.zeros(pause), sentence.astype(np.float64)]
        at += pause + sentence.size
    parts.append(np.zeros(2 * RATE))
    loudness = float(np.sqrt(np.mean(np.concatenate(sentences).astype(np.float64) ** 2)))
    mixed = np.concatenate(parts)
    mixed += rng.normal(0.0, loudness * 10 ** (-snr_db / 20), mixed.size)
    return np.clip(mixed, -32768, 32767).astype(np.int16), truth
