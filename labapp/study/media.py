"""Pictures, sounds and videos of a study: files in its folder. Texts show them as
`![words](name)`; items and options of questionnaires name them as `media`."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from labapp.base.clock import NS
from labapp.base.errors import VideoError
from labapp.base.reading import arrays
from labapp.study.instruments.items import SOUNDS, VIDEOS
from labapp.study.plugins.texts import PICTURE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

    from labapp.base.documents import Path_
    from labapp.coding.videos.decoding import OpenedVideo
    from labapp.study.instruments import Instrument
    from labapp.study.instruments.items import Picture, Sound

FORMATS = {"PNG": (".png",), "JPEG": (".jpg", ".jpeg"), "WEBP": (".webp",)}
SUFFIXES = frozenset(suffix for suffixes in FORMATS.values() for suffix in suffixes)
LARGEST = 20 * 1024 * 1024
"""Bytes of a picture, sound or video: it lies in every session's folder."""
NAMED = "a PNG, JPEG or WebP file"
_OTHERS = frozenset({".gif", ".svg", ".bmp", ".tif", ".tiff", ".pdf", ".heic", ".avif"})


LONGEST_S = 15 * 60
SOUND_NAMED = "a WAV, FLAC, Ogg or MP3 file"
VIDEO_NAMED = "an MP4, MOV, Matroska, WebM, AVI, MPEG or Ogg video"
_TOO_LONG = f"lasts longer than {LONGEST_S // 60} min"
_MOST_RATE = 192_000
_BLOCK = 1 << 20
"""Samples that are read of a sound at once, of all its channels."""
VIDEO_RATE = 48_000
"""Samples a second of a video's sound."""
MOST_PIXELS = 1920 * 1080
"""Of a video: its pictures are decoded while the participant works."""


class TooLarge(ValueError):
    """A sound or video is longer, or has more pixels, than labapp plays."""


class DecodedSound(NamedTuple):
    """A sound, as `labapp.record.audio.player.Player` plays it; stereo is mixed to one channel.

    Attributes
    ----------
    rate : samples a second.
    samples : array of int16, shape (samples,)
    video : the file whose sound it is, as long as its pictures; empty for a sound alone.
    size : width and height of the video's pictures, in pixels.
    problem : why it could not be decoded, and is only a moment of silence.
    """

    rate: int
    samples: NDArray[np.int16]
    video: bytes = b""
    size: tuple[int, int] = (0, 0)
    problem: str = ""

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
    """A sound file, or a video with its sound, which may be silence.

    Raises ValueError: it is neither, or empty. Raises TooLarge: it is too long, or has too many
    pixels. Raises VideoError if PyAV is not installed.
    """
    import numpy as np
    import soundfile

    from labapp.coding.videos import decoding

    if decoding.format_of(content[:256])[0] not in ("", "ogg"):
        return _decode_video(content)
    try:
        with soundfile.SoundFile(io.BytesIO(content)) as file:
            if not 0 < file.samplerate <= _MOST_RATE or file.channels > 8:
                raise ValueError(f"{file.samplerate} Hz and {file.channels} channels")
            rate = int(file.samplerate)
            most, at_once = LONGEST_S * rate, _BLOCK // file.channels
            blocks, length = [], 0
            # As a whole, a small file of silence could take gigabytes.
            while length <= most and len(read := file.read(at_once, "float32", always_2d=True)):
                mixed = np.clip(read.mean(axis=1), -1.0, 1.0)
                blocks.append(np.rint(mixed * 32767).astype(np.int16))
                length += len(read)
    except soundfile.LibsndfileError as error:
        if decoding.format_of(content[:256])[0]:
            return _decode_video(content)
        raise ValueError(error.error_string.rstrip(".")) from error
    if not blocks:
        raise ValueError("empty")
    if length > most:
        raise TooLarge(_TOO_LONG)
    return DecodedSound(rate, np.concatenate(blocks))


def open_video(content: bytes) -> AbstractContextManager[OpenedVideo]:
    """The pictures of a video. Raises VideoError."""
    from labapp.coding.videos import decoding

    return decoding.open_for_decoding(lambda: io.BytesIO(content), "the file")


def _decode_video(content: bytes) -> DecodedSound:
    """See `decode_sound`."""
    import numpy as np

    from labapp.coding.videos import decoding

    decoding.require()
    try:
        with open_video(content) as video:
            facts = decoding.facts_of(video)
            wrong = _TOO_LONG if facts.duration_s > LONGEST_S else ""
            if facts.width * facts.height > MOST_PIXELS:
                wrong = f"has {facts.width} × {facts.height} pixels"
            length = 1 if wrong else max(round(facts.duration_s * VIDEO_RATE), 1)
            samples = np.zeros(length, np.int16)
            for begins_s, piece in () if wrong else video.sound(VIDEO_RATE):
                first = max(round(begins_s * VIDEO_RATE), 0)
                heard = piece[: max(len(samples) - first, 0)]
                samples[first : first + len(heard)] = heard
    except VideoError as error:
        raise ValueError(error.what.rstrip(".")) from error
    if wrong:  # not where it was opened: it would be called damaged
        raise TooLarge(wrong)
    return DecodedSound(VIDEO_RATE, samples, content, (facts.width, facts.height))


def not_decoded(error: VideoError) -> DecodedSound:
    """Shown in place of a video on a computer that cannot play it; a moment of silence."""
    import numpy as np

    return DecodedSound(VIDEO_RATE, np.zeros(1, np.int16), problem=error.what)


def is_sound(name: str) -> bool:
    """Whether a file is played, by its ending: a sound or a video."""
    return PurePosixPath(name).suffix.lower() in SOUNDS | VIDEOS


def noun_of(name: str) -> tuple[str, str]:
    """What a file is, by its ending, and what is asked for: `sound`, `a WAV … file`."""
    if PurePosixPath(name).suffix.lower() in VIDEOS:
        return "video", VIDEO_NAMED
    return ("sound", SOUND_NAMED) if is_sound(name) else ("picture", NAMED)


def is_file(name: str) -> bool:
    """Whether a picture of a text is a file, and not one of those that its task has."""
    return PurePosixPath(name).suffix.lower() in SUFFIXES | _OTHERS


def decode(content: bytes) -> Image:
    """A picture, decoded and turned as its camera says. Raises ValueError."""
    return arrays.decode_image(content, tuple(FORMATS))


def require_players(files: Iterable[str]) -> None:
    """Raises VideoError if one of a study's files is a video and PyAV is not installed."""
    if any(noun_of(name)[0] == "video" for name in files):
        from labapp.coding.videos import decoding

        decoding.require()


def find_fault(name: str, content: bytes, *, shown: bool = True) -> tuple[str, str] | None:
    """What is wrong with a picture, sound or video, and what to do; None if nothing is.

    shown: whether it is going to be shown here. A session that was recorded elsewhere can be read
    without the package that plays its videos.
    """
    if is_sound(name):
        noun, named = noun_of(name)
        form = "MP4, at most 1920 × 1080 pixels" if noun == "video" else "WAV"
        todo = f"Save it again as {form}, and at most {LONGEST_S // 60} minutes long."
        try:
            decoded = decode_sound(content)
        except VideoError as error:
            what = f"the video {name!r} cannot be played here: PyAV is not installed"
            return (what, error.todo) if shown else None
        except TooLarge as error:
            return f"the {noun} {name!r} {error}", todo
        except ValueError as error:
            return f"the {noun} {name!r} is not {named}: {error}", todo
        # The ending says whether PyAV is needed, and what a file can state.
        other, ending = ("video", ".mp4") if decoded.video else ("sound", ".wav")
        if not shown or other == noun:
            return None
        todo = f"Give it the ending of a {other}, such as {ending}."
        return f"the {noun} {name!r} is a {other}", todo
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


def name_sounds(text: str) -> str:
    """A text for where nothing plays, such as paper: with the words of a sound in its place."""

    def name_sound(shown: re.Match[str]) -> str:
        words, name = shown.groups()
        return f"(♪ {words or PurePosixPath(name).name})" if is_sound(name) else shown[0]

    return PICTURE.sub(name_sound, text)


def media_of(instrument: Instrument) -> Iterator[tuple[Path_, Picture | Sound]]:
    """The pictures, sounds and videos of a questionnaire, with where its file names them."""
    for index, item in enumerate(instrument.items):
        if item.media is not None:
            yield ("items", index, "media"), item.media
        for key in ("options", "rows"):
            for at, option in enumerate(getattr(item, key, ())):
                if option.media is not None:
                    yield ("items", index, key, at, "media"), option.media
