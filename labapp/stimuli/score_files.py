"""Files of scores: a number for every pixel of a grid, as NumPy writes an array (.npy)."""

from __future__ import annotations

import io
import warnings
from functools import lru_cache
from pathlib import Path
from tokenize import TokenError

import numpy as np
from numpy.typing import NDArray

from labapp.errors import StimuliError
from labapp.stimuli import pictures

Scores = NDArray[np.float64]

SCORES = "score file"
"""What such a file is called in messages."""
UNREADABLE = (
    ValueError, TypeError, OSError, EOFError, MemoryError, SyntaxError, OverflowError,
    RecursionError, TokenError,
)  # fmt: skip
"""What numpy raises at bytes that are no array: the header is Python, and read as such."""
LARGEST_SIDE = 4096
"""Rows or columns of a grid. A picture has no use for more, and each is ranked."""


def read(folder: Path, ref: str) -> Scores:
    """The scores in a file of a set: float64, shape (rows, columns), not to be written to.

    Raises StimuliError: it is missing, or not what `decoded` takes.
    """
    return _read(folder, ref, pictures.written(folder, ref, SCORES))


@lru_cache(maxsize=128)
def _read(folder: Path, ref: str, written: tuple[int, int]) -> Scores:
    return decoded(pictures.content_of(folder, ref, SCORES), ref)


def decoded(content: bytes, ref: str) -> Scores:
    """The scores in the bytes of a .npy file; pickled objects are never read.

    Raises StimuliError: it is no .npy file, or does not hold real, finite numbers of shape
    (rows, columns).
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python 2, whose files are read as well
            values = np.load(io.BytesIO(content), allow_pickle=False)
    except UNREADABLE as error:
        raise StimuliError(
            f"The score file {ref!r} is not readable as .npy.",
            todo="Write it with numpy.save, numbers alone (no objects).",
        ) from error
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
        kind = getattr(values, "dtype", type(values).__name__)
        raise StimuliError(
            f"The score file {ref!r} holds {kind}.", todo="Save real numbers, e.g. float32."
        )
    if values.ndim != 2 or not all(0 < side <= LARGEST_SIDE for side in values.shape):
        raise StimuliError(
            f"The score file {ref!r} has the shape {values.shape}.",
            todo="Save one number a pixel, shape (rows, columns); sum the channels first.",
        )
    scores = values.astype(np.float64)
    if bad := int((~np.isfinite(scores)).sum()):
        raise StimuliError(
            f"The score file {ref!r} has {bad} values that are no finite numbers.",
            todo="Replace them, or leave the photo out.",
        )
    scores.flags.writeable = False
    return scores


def encoded(scores: NDArray[np.floating]) -> bytes:
    """Scores as this program writes them: float32, the same bytes for the same numbers."""
    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(scores, np.float32), allow_pickle=False)
    return out.getvalue()
