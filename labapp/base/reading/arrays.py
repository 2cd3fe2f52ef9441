"""Arrays as NumPy writes them, never more than their bytes hold, and never a pickle."""

from __future__ import annotations

import io
import math
import warnings
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_UNREADABLE = (
    TypeError, OSError, EOFError, MemoryError, SyntaxError, OverflowError, RecursionError,
    TokenError, LookupError, AttributeError,
)  # fmt: skip
"""What numpy raises besides ValueError at bytes that are no array: the header is Python, and read
as such."""


def npy(content: bytes) -> NDArray[Any]:
    """The array in the bytes of a .npy file, not to be written to; of any type but objects.

    Raises ValueError: it is none, or its header does not fit the bytes behind it.
    """
    stream = io.BytesIO(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python 2, whose files are read as well
            version = np.lib.format.read_magic(stream)
            if version not in _HEADERS:
                raise ValueError(f"format {version} is not read")
            shape, column_major, dtype = _HEADERS[version](stream)
    except _UNREADABLE as error:
        raise ValueError(f"its header is damaged ({type(error).__name__})") from error
    if dtype.hasobject:
        raise ValueError("it holds objects, which are pickles")
    if not dtype.itemsize:
        raise ValueError(f"it holds {dtype}, of which any number has no bytes")
    rest = memoryview(content)[stream.tell() :]
    # Python's whole numbers do not overflow: a header cannot claim more than the bytes behind it.
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(rest):
        raise ValueError(f"it states the shape {shape} of {dtype} but holds {len(rest)} bytes")
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.frombuffer(rest, dtype).reshape(shape, order="F" if column_major else "C")
