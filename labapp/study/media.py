"""Pictures of a study: files in its folder that texts show as `![words](name)`, and items and
options of questionnaires as `media`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from labapp.base.reading import arrays

if TYPE_CHECKING:
    from PIL.Image import Image

    from labapp.base.documents import Path_
    from labapp.study.instruments import Instrument
    from labapp.study.instruments.items import Picture

FORMATS = {"PNG": (".png",), "JPEG": (".jpg", ".jpeg"), "WEBP": (".webp",)}
SUFFIXES = frozenset(suffix for suffixes in FORMATS.values() for suffix in suffixes)
LARGEST = 20 * 1024 * 1024
"""Bytes of a picture: it lies in every session's folder."""
NAMED = "a PNG, JPEG or WebP file"
_OTHERS = frozenset({".gif", ".svg", ".bmp", ".tif", ".tiff", ".pdf", ".heic", ".avif"})


def is_file(name: str) -> bool:
    """Whether a picture of a text is a file, and not one of those that its task has."""
    return PurePosixPath(name).suffix.lower() in SUFFIXES | _OTHERS


def decode(content: bytes) -> Image:
    """A picture, decoded and turned as its camera says. Raises ValueError."""
    return arrays.decode_image(content, tuple(FORMATS))


def find_fault(name: str, content: bytes) -> tuple[str, str] | None:
    """What is wrong with a picture, and what to do; None where it can be shown."""
    suffix = PurePosixPath(name).suffix.lower()
    try:
        kind = str(decode(content).format)
    except arrays.TooManyPixels as error:
        what = f"the picture {name!r} has {error.size[0]} × {error.size[1]} pixels"
        return what, "Make it smaller; 2000 pixels a side are enough for any screen."
    except ValueError as error:
        return f"the picture {name!r} is not {NAMED}: {error}", "Save it again as PNG or JPEG."
    if suffix not in FORMATS.get(kind, ()):
        what = f"the picture {name!r} is a {kind} file with another ending"
        return what, f"Call it {PurePosixPath(name).stem}{FORMATS[kind][0]}, and name it so here."
    return None


def pictures_of(instrument: Instrument) -> Iterator[tuple[Path_, Picture]]:
    """The pictures of a questionnaire, with where its file names them."""
    for index, item in enumerate(instrument.items):
        if item.media is not None:
            yield ("items", index, "media"), item.media
        for key in ("options", "rows"):
            for at, option in enumerate(getattr(item, key, ())):
                if option.media is not None:
                    yield ("items", index, key, at, "media"), option.media
