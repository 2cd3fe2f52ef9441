"""Picture files, their size known before a pixel is decoded."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

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
        raise ValueError(f"it is no whole picture ({type(error).__name__})") from error
