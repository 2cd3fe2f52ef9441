"""Files of scores: a number for every pixel of a grid, as NumPy writes an array (.npy).

The file of what a concept learner answers, as NumPy writes an array (.npy).
"""

from __future__ import annotations

import io
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import StimuliError
from labapp.base.reading import arrays
from labapp.models.stimuli import pictures
from labapp.models.stimuli.interventions import Answers

Scores = NDArray[np.float64]

SCORES = "score file"
"""What such a file is called in messages."""
LARGEST_SIDE = 4096
"""Rows or columns of a grid. A picture has no use for more, and each is ranked."""


def read(folder: Path, ref: str) -> Scores:
    """The scores in a file of a set: float64, (rows, columns), read-only. Raises StimuliError."""
    return _read(folder, ref, pictures.file_stamp(folder, ref, SCORES))


@lru_cache(maxsize=128)
def _read(folder: Path, ref: str, written: tuple[int, int]) -> Scores:
    return decode_scores(pictures.content_of(folder, ref, SCORES), ref)


def decode(content: bytes, ref: str, what: str) -> NDArray[Any]:
    """The array in the bytes of a .npy file; pickled objects are never read. Raises StimuliError,
    in which the file is called `what`."""
    try:
        return arrays.npy(content)
    except ValueError as error:
        raise StimuliError(
            f"The {what} {ref!r} is not readable as .npy: {error}.",
            todo="Write it with numpy.save, with only numbers (no objects).",
        ) from error


def encode(values: NDArray[Any]) -> bytes:
    """An array as this program writes it: the same bytes for the same numbers."""
    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(values), allow_pickle=False)
    return out.getvalue()


def decode_scores(content: bytes, ref: str) -> Scores:
    """The scores in the bytes of a .npy file. Raises StimuliError: it is no .npy file, or does not
    hold real, finite numbers of shape (rows, columns)."""
    values = decode(content, ref, SCORES)
    if values.dtype.kind not in "iuf":
        raise StimuliError(
            f"The score file {ref!r} contains {values.dtype}.",
            todo="Save real numbers, e.g. float32.",
        )
    if values.ndim != 2 or not all(0 < side <= LARGEST_SIDE for side in values.shape):
        raise StimuliError(
            f"The score file {ref!r} has the shape {values.shape}.",
            todo="Save one number per pixel, shape (rows, columns); sum the channels first.",
        )
    scores = values.astype(np.float64)
    if bad := int((~np.isfinite(scores)).sum()):
        raise StimuliError(
            f"The score file {ref!r} has {bad} values that are not finite numbers.",
            todo="Replace them, or leave the photo out.",
        )
    scores.flags.writeable = False
    return scores


def encode_scores(scores: NDArray[np.floating]) -> bytes:
    """Scores as this program writes them: float32."""
    return encode(np.asarray(scores, np.float32))


ANSWERS = "file of answers"
"""What it is called in messages."""
ROUNDED = 0.01
"""By how much the float16 probabilities of a photo may miss a sum of 1."""


def read_answers(folder: Path, ref: str) -> Answers:
    """The answers in a file of a set, read-only. Raises StimuliError."""
    return _read_answers(folder, ref, pictures.file_stamp(folder, ref, ANSWERS))


@lru_cache(maxsize=16)
def _read_answers(folder: Path, ref: str, written: tuple[int, int]) -> Answers:
    return decode_answers(pictures.content_of(folder, ref, ANSWERS), ref)


def decode_answers(content: bytes, ref: str) -> Answers:
    """The answers in the bytes of a .npy file. Raises StimuliError: it is no .npy file of float16
    of the shape (photos, states, classes), or its rows are no probabilities."""
    values = decode(content, ref, ANSWERS)
    if values.dtype != np.float16 or values.ndim != 3:
        raise StimuliError(
            f"The file of answers {ref!r} contains {values.dtype} of the shape {values.shape}.",
            todo="Save float16 of the shape (photos, states, classes).",
        )
    with np.errstate(invalid="ignore", over="ignore"):
        sums = values.astype(np.float32).sum(2)
        low = values.min(2, initial=np.float16(0)) < 0
    wrong = ~(np.abs(sums - 1) <= ROUNDED) | low
    if wrong.any():
        photo, state = (int(at) for at in np.argwhere(wrong)[0])
        raise StimuliError(
            f"In the file of answers {ref!r}, {int(wrong.sum())} rows are not probabilities; the "
            f"first is of photo {photo + 1}, state {state}.",
            todo="Save probabilities of the classes, which sum to 1 in each state.",
        )
    values.flags.writeable = False
    return values


def encode_answers(answers: NDArray[np.floating]) -> bytes:
    """Answers as this program writes them: float16."""
    return encode(np.asarray(answers, np.float16))
