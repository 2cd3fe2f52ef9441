"""Thinking aloud, synthesized: known sentences at known times, with a dial that clicks."""

from __future__ import annotations

import io
import re
import subprocess
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from tests.helpers.recorded_sounds import Take, sounding_session

RATE = 48_000
SENTENCES = (
    "okay so this one makes it taller",
    "and the next one does nothing I think",
    "no wait it goes sideways so I will turn it back",
    "now I am going to try the third dial",
    "that changes the colour of the background",
    "I want it to look like the target picture",
    "it is getting closer but it is still too wide",
    "maybe the second dial makes it thinner",
    "yes that was the right one",
    "I do not know what the last one does",
    "let me turn it all the way to the left",
    "now it is almost the same as the target",
    "I am quite sure this is what they wanted",
    "so the first dial is the size and the second is the shape",
)
_QUIETEST = 200
_LOUDNESS = 0.35
_CLICK_S = 0.005


@dataclass(frozen=True)
class Spoken:
    """A session with what was said in it.

    Attributes
    ----------
    folder : Path
        Of the session.
    said : list of (float, float, str)
        Session time in s of the beginning and the end of each sentence.
    """

    folder: Path
    said: list[tuple[float, float, str]]

    @property
    def words(self) -> list[str]:
        return [word for *_, sentence in self.said for word in plain(sentence)]


def plain(text: str) -> list[str]:
    """Words as they are compared: small letters, nothing shortened."""
    small = re.sub(r"[^\w' ]", " ", text.casefold()).replace("'s ", " is ").replace("'m ", " am ")
    return small.split()


def word_errors(said: Sequence[str], written: Sequence[str]) -> float:
    """Words put in, left out or changed, as a share of those said."""
    row = np.arange(len(written) + 1)
    for number, word in enumerate(said, 1):
        before, row = row, np.empty_like(row)
        row[0] = number
        for at, other in enumerate(written, 1):
            row[at] = min(before[at - 1] + (word != other), before[at] + 1, row[at - 1] + 1)
    return float(row[-1]) / len(said)


def voice(text: str, name: str = "en-gb") -> NDArray[np.float64]:
    """A sentence, from its first sound to its last."""
    command = ("espeak-ng", "-v", name, "-s", "150", "--stdout", text)
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    with wave.open(io.BytesIO(done.stdout)) as sound:
        rate = sound.getframerate()
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(np.float64)
    heard = resample_poly(samples, RATE // 50, rate // 50)
    loud = np.flatnonzero(np.abs(heard) > _QUIETEST)
    return np.asarray(heard[loud[0] : loud[-1]] * _LOUDNESS)


def thinking_aloud(
    root: Path,
    sentences: Sequence[str] = SENTENCES,
    *,
    name: str = "en-gb",
    clicks: bool = True,
    lost: tuple[float, float] | None = None,
) -> Spoken:
    """A session in which sentences are said in a room with some noise, by a sound card whose clock
    is 40 ppm fast.

    Parameters
    ----------
    root : Path
        Below which its folder is made.
    sentences : sequence of str
        One after the other, with pauses of 1.6 to 2.6 s.
    name : str
        Of the voice.
    clicks : bool
        Whether a dial clicks all the time, three times in two seconds.
    lost : (float, float), optional
        Seconds of the file between which the sound was lost, and filled with zeros.
    """
    draw = np.random.default_rng(1)
    at, parts = 3.0, []
    for sentence in sentences:
        heard = voice(sentence, name)
        parts.append((at, heard, sentence))
        at += heard.size / RATE + draw.uniform(1.6, 2.6)
    samples = draw.normal(0, 25, round((at + 2) * RATE))
    for begins, heard, _ in parts:
        first = round(begins * RATE)
        samples[first : first + heard.size] += heard
    if clicks:
        length = round(_CLICK_S * RATE)
        fading = np.exp(-np.arange(length) / (length / 4))
        for begins in draw.uniform(0, at, round(at * 1.5)):
            first = round(begins * RATE)
            samples[first : first + length] += draw.normal(0, 1500, length) * fading
    gaps: tuple[tuple[int, int], ...] = ()
    if lost is not None:
        first, last = round(lost[0] * RATE), round(lost[1] * RATE)
        samples[first:last] = 0
        gaps = ((first, last - first),)
    sound = np.clip(samples, -32767, 32767).astype(np.int16)
    take = Take(sound, 1.0, RATE, ppm=40, gaps=gaps)
    folder = sounding_session(root, take, end_s=at + 8)
    said = [
        (take.heard_s(begins * RATE), take.heard_s(begins * RATE + heard.size), sentence)
        for begins, heard, sentence in parts
    ]
    return Spoken(folder, said)
