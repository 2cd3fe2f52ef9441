"""A picture file of somebody's to a square of few pixels, or a refusal that names it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labapp.datasets.averaging import average_blocks
from labapp.errors import DatasetError
from labapp.reading import files, pictures

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "TIFF", "BMP")
SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")
LARGEST_BYTES = 40 * files.MIB


def pixels(path: Path, *, size: int, channels: int) -> tuple[bytes, NDArray[np.uint8]]:
    """A file's content, and its picture: uint8, shape (channels, size, size).

    The largest square about the middle, turned as the camera says; what is transparent is white;
    grey is ITU-R 601 luma, and grey of 16 bits becomes 8.

    Raises
    ------
    DatasetError : it cannot be read, is no picture of the `FORMATS`, has several pages or far too
        many pixels, or is smaller than `size`.
    """
    try:
        content = files.content(path, LARGEST_BYTES)
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        raise _refused(path, why, "Check it and its permissions.") from error
    try:
        image = pictures.decode_image(content, FORMATS)
    except ValueError as error:
        why = f"is not a readable {', '.join(FORMATS[:-1])} or {FORMATS[-1]} file: {error}"
        raise _refused(path, why, "Save the one picture that counts again.") from error
    whole = _square(image, channels)
    if whole.shape[-1] < size:
        raise _refused(
            path,
            f"is {image.width} × {image.height} pixels, less than the {size} that the network sees",
            "Take a larger picture, or a smaller `size` in the recipe.",
        )
    return content, average_blocks(whole[None], size)[0]


def _square(image: Image, channels: int) -> NDArray[np.uint8]:
    """The middle of a picture: uint8, shape (channels, side, side)."""
    from PIL import Image as images

    if image.mode.startswith("I"):
        deep = np.asarray(image).clip(0, 65_535)
        image = images.fromarray((deep // 257).astype(np.uint8))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        image = images.alpha_composite(images.new("RGBA", image.size, "white"), image)
    image = image.convert("L" if channels == 1 else "RGB")
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    cut = np.asarray(image.crop((left, top, left + side, top + side)), np.uint8)
    return cut[None] if channels == 1 else np.ascontiguousarray(cut.transpose(2, 0, 1))


def _refused(path: Path, why: str, todo: str) -> DatasetError:
    return DatasetError(f"The picture {path} {why}.", todo=todo)
