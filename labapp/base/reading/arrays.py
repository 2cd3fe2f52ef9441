"""Arrays as NumPy writes them, never more than their bytes hold, and never a pickle.

Picture files, their size known before a pixel is decoded.
"""

from __future__ import annotations

import io
import math
import struct
import warnings
import zlib
from collections.abc import Sequence
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image


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

    Raises ValueError: it is not an array, or its header does not match the bytes after it.
    """
    stream = io.BytesIO(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python 2, whose files are read as well
            version = np.lib.format.read_magic(stream)
            if version not in _HEADERS:
                raise ValueError(f"format {version} is not supported")
            shape, column_major, dtype = _HEADERS[version](stream)
    except _UNREADABLE as error:
        raise ValueError(f"its header is damaged ({type(error).__name__})") from error
    if dtype.hasobject:
        raise ValueError("it contains objects, which are pickled")
    if not dtype.itemsize:
        raise ValueError(f"it contains {dtype}, whose values have no bytes")
    rest = memoryview(content)[stream.tell() :]
    # Python's whole numbers do not overflow: a header cannot claim more than the bytes behind it.
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(rest):
        raise ValueError(
            f"its header gives the shape {shape} of {dtype}, but it contains {len(rest)} bytes"
        )
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.frombuffer(rest, dtype).reshape(shape, order="F" if column_major else "C")


_BROKEN = (
    OSError, SyntaxError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError,
    MemoryError, RecursionError, AssertionError, struct.error, zlib.error, Warning,
)  # fmt: skip
"""What Pillow raises besides ValueError at bytes that are no whole picture."""


PIXELS = 25_000_000
"""Most pixels that are decoded: 100 MB, and as much again for each step of the preparation."""


class TooManyPixels(ValueError):
    """More pixels than are decoded. size: columns and rows."""

    def __init__(self, size: tuple[int, int]) -> None:
        super().__init__(f"it has {size[0]} × {size[1]} pixels")
        self.size = size


def decode_image(content: bytes, formats: Sequence[str], pixels: int = PIXELS) -> Image:
    """A picture with one page, decoded and turned as its camera says. formats: Pillow's names.

    Raises TooLarge for one of more than `pixels`, and ValueError for what is no readable picture.
    """
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            # Cameras write tags that Pillow finds odd; only a bomb is a reason to refuse.
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(content), formats=tuple(formats))
            if image.width * image.height > pixels:
                raise TooManyPixels(image.size)
            if getattr(image, "n_frames", 1) > 1:
                raise ValueError("it has several pages")
            kind = "JPEG" if image.format == "MPO" else image.format
            image.load()
            turned = ImageOps.exif_transpose(image)
            turned.format = kind  # a turned copy has forgotten it
            return turned
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError("it has far too many pixels") from error
    except _BROKEN as error:
        raise ValueError(f"it is not a complete picture ({type(error).__name__})") from error
