"""A language of tones: sound in which each word is a tone, and what recognises them by ear.

It hears what is in the samples and knows nothing else, so that what is written down shows which
sound was listened to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import TranscriptionError
from labapp.coding.transcription.session import HeardWord

PITCHES = {"turn": 500.0, "the": 800.0, "dial": 1100.0, "left": 1400.0, "wider": 1700.0}
WORD_S = 0.4
_FRAME_S = 0.02
_LOUD = 500.0


def spoken(text: str, rate: int) -> NDArray[np.float64]:
    """Words one after the other."""
    time = np.arange(round(WORD_S * rate)) / rate
    tones = [3000 * np.sin(2 * np.pi * PITCHES[word] * time) for word in text.split()]
    return np.concatenate(tones)


def speech(said: dict[float, str], seconds: float, rate: int) -> NDArray[np.int16]:
    """Sound of so many seconds with words from some seconds on, in a quiet room."""
    samples = np.random.default_rng(1).normal(0, 10, round(seconds * rate))
    for begins, text in said.items():
        tones = spoken(text, rate)
        first = round(begins * rate)
        samples[first : first + tones.size] += tones
    return samples.astype(np.int16)


@dataclass
class ToneModel:
    """Stands where a model's file would."""

    name: str = "tones"
    path: Path = Path("tones")

    def sha256(self) -> str:
        return "0" * 64


@dataclass
class ToneRecogniser:
    """Hears words of tones.

    Attributes
    ----------
    heard : list of ndarray
        What it was given to listen to.
    stops_after : int or None
        Ends the work, as Ctrl+C does, once it has listened so often.
    probability : float
        How sure it says that it is.
    """

    heard: list[NDArray[np.int16]] = field(default_factory=list)
    stops_after: int | None = None
    probability: float = 0.9
    versions: str = "tones 1"
    words: str = ""
    languages: tuple[str, ...] = ("en",)
    model: ToneModel = field(default_factory=ToneModel)

    def check_language(self, language: str) -> None:
        if language not in self.languages:
            raise TranscriptionError(f"It knows no {language}.")

    def hear(self, samples: NDArray[np.int16], rate: int, language: str) -> list[HeardWord]:
        if self.stops_after is not None and len(self.heard) >= self.stops_after:
            raise KeyboardInterrupt
        self.heard.append(samples)
        frame = round(_FRAME_S * rate)
        words: list[tuple[int, str]] = []
        for number, part in enumerate(samples[: samples.size // frame * frame].reshape(-1, frame)):
            if np.sqrt((part.astype(np.float64) ** 2).mean()) < _LOUD:
                continue
            pitch = np.argmax(np.abs(np.fft.rfft(part, 8 * frame))) * rate / (8 * frame)
            words.append((number, min(PITCHES, key=lambda word: abs(PITCHES[word] - pitch))))
        return self._words(words)

    def _words(self, frames: list[tuple[int, str]]) -> list[HeardWord]:
        """Frames with the same word behind each other are that word."""
        whole: list[list[tuple[int, str]]] = []
        for number, word in frames:
            if whole and whole[-1][-1] == (number - 1, word):
                whole[-1].append((number, word))
            else:
                whole.append([(number, word)])
        return [
            HeardWord(
                part[0][0] * _FRAME_S, (part[-1][0] + 1) * _FRAME_S, part[0][1], self.probability
            )
            for part in whole
            if len(part) > 4
        ]
