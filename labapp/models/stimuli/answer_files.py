"""The file of what a concept learner answers, as NumPy writes an array (.npy)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import StimuliError
from labapp.models.stimuli import pictures, score_files
from labapp.models.stimuli.interventions import Answers

ANSWERS = "file of answers"
"""What it is called in messages."""
ROUNDED = 0.01
"""By how much the float16 probabilities of a photo may miss a sum of 1."""


def read(folder: Path, ref: str) -> Answers:
    """The answers in a file of a set, read-only. Raises StimuliError."""
    return _read(folder, ref, pictures.file_stamp(folder, ref, ANSWERS))


@lru_cache(maxsize=16)
def _read(folder: Path, ref: str, written: tuple[int, int]) -> Answers:
    return decode(pictures.content_of(folder, ref, ANSWERS), ref)


def decode(content: bytes, ref: str) -> Answers:
    """The answers in the bytes of a .npy file. Raises StimuliError: it is no .npy file of float16
    of the shape (photos, states, classes), or its rows are no probabilities."""
    values = score_files.decode(content, ref, ANSWERS)
    if values.dtype != np.float16 or values.ndim != 3:
        raise StimuliError(
            f"The file of answers {ref!r} holds {values.dtype} of the shape {values.shape}.",
            todo="Save float16 of the shape (photos, states, classes).",
        )
    with np.errstate(invalid="ignore", over="ignore"):
        sums = values.astype(np.float32).sum(2)
        low = values.min(2, initial=np.float16(0)) < 0
    wrong = ~(np.abs(sums - 1) <= ROUNDED) | low
    if wrong.any():
        photo, state = (int(at) for at in np.argwhere(wrong)[0])
        raise StimuliError(
            f"In the file of answers {ref!r}, {int(wrong.sum())} rows are no probabilities; the "
            f"first is of photo {photo + 1}, state {state}.",
            todo="Save probabilities of the classes, which sum to 1 in each state.",
        )
    values.flags.writeable = False
    return values


def encode(answers: NDArray[np.floating]) -> bytes:
    """Answers as this program writes them: float16."""
    return score_files.encode(np.asarray(answers, np.float16))
