"""A picture file of somebody's to a square of few pixels, or a refusal that names it."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.datasets.averaging import averaged
from labapp.errors import DatasetError

FORMATS = ("PNG", "JPEG", "TIFF", "BMP")
SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")
LARGEST_BYTES = 40 * 1024 * 1024
LARGEST_PIXELS = 50_000_000


def pixels(path: Path, *, size: int, channels: int) -> tuple[bytes, NDArray[np.uint8]]:
    """A file's content, and its picture: uint8, shape (channels, size, size).

    The largest square about the middle, turned as the camera says; what is transparent is white;
    grey is ITU-R 601 luma, and grey of 16 bits becomes 8.

    Raises
    ------
    DatasetError : it cannot be read, is no picture of the `FORMATS`, has several pages or far too
        many pixels, or is smaller than `size`.
    """
    from PIL import Image

    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST_BYTES + 1)
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        raise _refused(path, why, "Check its permissions.") from error
    if len(content) > LARGEST_BYTES:
        raise _refused(path, f"is larger than {LARGEST_BYTES // 1024**2} MiB", "Make it smaller.")
    try:
        with warnings.catch_warnings():
            # Cameras write tags that Pillow finds odd; only a bomb is a reason to refuse.
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(content), formats=FORMATS)
            if image.width * image.height > LARGEST_PIXELS:
                why = f"has {image.width} × {image.height} pixels"
                raise _refused(path, why, "Make it smaller.")
            if getattr(image, "n_frames", 1) > 1:
                raise _refused(path, "has several pages", "Save the one that counts by itself.")
            image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Warning) as error:
        why = f"is not a readable {', '.join(FORMATS[:-1])} or {FORMATS[-1]} file"
        raise _refused(path, why, "Save it again.") from error
    whole = _square(image, channels)
    if whole.shape[-1] < size:
        raise _refused(
            path,
            f"is {image.width} × {image.height} pixels, less than the {size} that the network sees",
            "Take a larger picture, or a smaller `size` in the recipe.",
        )
    return content, averaged(whole[None], size)[0]


def _square(image: object, channels: int) -> NDArray[np.uint8]:
    """The middle of a picture: uint8, shape (channels, side, side)."""
    from PIL import Image, ImageOps

    assert isinstance(image, Image.Image)
    if image.mode.startswith("I"):
        deep = np.asarray(image).astype(np.int64).clip(0, 65_535)
        image = Image.fromarray((deep // 257).astype(np.uint8))
    image = ImageOps.exif_transpose(image)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    image = image.convert("L" if channels == 1 else "RGB")
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    cut = np.asarray(image.crop((left, top, left + side, top + side)), np.uint8)
    return cut[None] if channels == 1 else np.ascontiguousarray(cut.transpose(2, 0, 1))


def _refused(path: Path, why: str, todo: str) -> DatasetError:
    return DatasetError(f"The picture {path} {why}.", todo=todo)
