"""Pictures and sounds of a study: files in its folder. Texts show them as `![words](name)`; items
and options of questionnaires name them as `media`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from labapp.base.clock import NS
from labapp.base.reading import arrays
from labapp.study.instruments.items import NO_VIDEO, SOUNDS, is_video

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

    from labapp.base.documents import Path_
    from labapp.study.instruments import Instrument
    from labapp.study.instruments.items import Picture, Sound

FORMATS = {"PNG": (".png",), "JPEG": (".jpg", ".jpeg"), "WEBP": (".webp",)}
SUFFIXES = frozenset(suffix for suffixes in FORMATS.values() for suffix in suffixes)
LARGEST = 20 * 1024 * 1024
"""Bytes of a picture: it lies in every session's folder."""
NAMED = "a PNG, JPEG or WebP file"
_OTHERS = frozenset({".gif", ".svg", ".bmp", ".tif", ".tiff", ".pdf", ".heic", ".avif"})


LONGEST_S = 15 * 60
SOUND_NAMED = "a WAV, FLAC, Ogg or MP3 file"
_MOST_RATE = 192_000


class DecodedSound(NamedTuple):
    """A sound, as `labapp.record.audio.player.Player` plays it; stereo is mixed to one channel.

    Attributes
    ----------
    rate : samples a second.
    samples : array of int16, shape (samples,)
    """

    rate: int
    samples: NDArray[np.int16]

    @property
    def begin_ns(self) -> int:
        return 0

    @property
    def end_ns(self) -> int:
        return round(len(self.samples) * NS / self.rate)

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    def read(self, t0_ns: int, frames: int) -> NDArray[np.int16]:
        """So many samples from a time on; silence where it is over."""
        import numpy as np

        first = max(round(t0_ns * self.rate / NS), 0)
        heard = self.samples[first : first + frames]
        return np.pad(heard, (0, frames - len(heard)))


@lru_cache(maxsize=64)
def decode_sound(content: bytes) -> DecodedSound:
    """A sound file. Raises ValueError: it is none, it is empty, or it is too long."""
    import numpy as np
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(content)) as file:
            if not 0 < file.samplerate <= _MOST_RATE or file.channels > 8:
                raise ValueError(f"{file.samplerate} Hz and {file.channels} channels")
            most = LONGEST_S * file.samplerate
            samples = file.read(most + 1, dtype="float32", always_2d=True)
            rate = int(file.samplerate)
    except soundfile.LibsndfileError as error:
        raise ValueError(str(error)) from error
    if not 0 < len(samples) <= most:
        raise ValueError(f"it lasts longer than {LONGEST_S // 60} min" if len(samples) else "empty")
    mixed = np.clip(samples.mean(axis=1), -1.0, 1.0)
    return DecodedSound(rate, np.rint(mixed * 32767).astype(np.int16))


def is_sound(name: str) -> bool:
    """Whether a file is a sound, by its ending."""
    return PurePosixPath(name).suffix.lower() in SOUNDS


def is_file(name: str) -> bool:
    """Whether a picture of a text is a file, and not one of those that its task has."""
    return PurePosixPath(name).suffix.lower() in SUFFIXES | _OTHERS


def no_picture(name: str) -> tuple[str, str] | None:
    """Why a text cannot show a file, and what to do; None where it is no video."""
    if is_video(name):
        return f"{name!r}: {NO_VIDEO}", "Leave it out, or show a picture of it."
    return None


def decode(content: bytes) -> Image:
    """A picture, decoded and turned as its camera says. Raises ValueError."""
    return arrays.decode_image(content, tuple(FORMATS))


def find_fault(name: str, content: bytes) -> tuple[str, str] | None:
    """What is wrong with a picture or a sound, and what to do; None where it can be shown."""
    if is_sound(name):
        try:
            decode_sound(content)
        except ValueError as error:
            what = f"the sound {name!r} is not {SOUND_NAMED}: {error}"
            return what, f"Save it again as WAV, of at most {LONGEST_S // 60} minutes."
        return None
    suffix = PurePosixPath(name).suffix.lower()
    try:
        kind = str(decode(content).format)
    except arrays.TooManyPixels as error:
        what = f"the picture {name!r} has {error.size[0]} × {error.size[1]} pixels"
        return what, "Make it smaller; 2000 pixels per side are enough for any screen."
    except ValueError as error:
        return f"the picture {name!r} is not {NAMED}: {error}", "Save it again as PNG or JPEG."
    if suffix not in FORMATS.get(kind, ()):
        what = f"the picture {name!r} is a {kind} file with a different ending"
        stem = PurePosixPath(name).stem
        return what, f"Rename it to {stem}{FORMATS[kind][0]}, and use that name here."
    return None


def media_of(instrument: Instrument) -> Iterator[tuple[Path_, Picture | Sound]]:
    """The pictures and sounds of a questionnaire, with where its file names them."""
    for index, item in enumerate(instrument.items):
        if item.media is not None:
            yield ("items", index, "media"), item.media
        for key in ("options", "rows"):
            for at, option in enumerate(getattr(item, key, ())):
                if option.media is not None:
                    yield ("items", index, key, at, "media"), option.media
