"""Sound as FLAC in bundles: written, and read as the WAV files that the journal names.

A bundle whose session.json says `sound_format: flac` has `audio/segment-01.flac` where the journal
says `audio/segment-01.wav`. `FlacTree` shows the files under the journal's names, decoded while
they are read, so that everything that reads sound reads both formats in the same way. FLAC is
lossless: the decoded samples are the recorded ones, and the hashes in the journal hold for them.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeVar

from labapp.base.errors import RecordError
from labapp.base.reading import files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from labapp.record.journal.layout import Tree

WAV = "wav"
FLAC = "flac"
"""The formats that a bundle can have its sound in, as file names end."""
HIGHEST_RATE = 655_350
"""Frames a second that libFLAC writes (RFC 9639, 9.1.2)."""
ANY_RATE = 65_535
"""Frames a second up to which FLAC has every number; above it has multiples of ten."""
_FRAME_BYTES = 2
_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
Value = TypeVar("Value")
_PIECE = 8192
"""Frames that are decoded at once, and at most a quarter of a second, so that the place of damage
can be named."""
_LARGEST = 2**32 - 8
"""Bytes that a WAV file can have."""


def flac_name(name: str) -> str:
    """The name in a bundle of a sound file that the journal calls `….wav`."""
    return f"{name.removesuffix(f'.{WAV}')}.{FLAC}"


def cannot_be_flac(rate: int) -> str:
    """Why sound of so many frames a second cannot be written as FLAC; empty if it can."""
    if not 0 < rate <= HIGHEST_RATE:
        return f"it has {rate} frames a second, but FLAC allows at most {HIGHEST_RATE}"
    if rate > ANY_RATE and rate % 10:
        return (
            f"it has {rate} frames a second, but above {ANY_RATE} FLAC allows only multiples of ten"
        )
    return ""


def write_flac(pieces: Iterable[NDArray[np.int16]], rate: int, target: IO[bytes]) -> None:
    """Write mono sound of 16 bits. Raises OSError: it cannot be written.

    Parameters
    ----------
    pieces : the sound, (n,) int16 each.
    rate : frames a second, which `cannot_be_flac` has no objection to.
    target : a stream that can be written at any place, such as a new file.
    """
    import soundfile

    sink = _Guarded(target)
    try:
        with soundfile.SoundFile(sink, "w", rate, 1, "PCM_16", format="FLAC") as sound:
            for piece in pieces:
                sound.write(piece)
    except soundfile.LibsndfileError as error:
        raise sink.problem or OSError(str(error)) from error
    if sink.problem:
        raise sink.problem


@dataclass(frozen=True)
class FlacTree:
    """The files of a session in a bundle with FLAC sound, under the names that the journal has.
    tree: the files as they are; folder: of the sound files, with a slash at its end."""

    tree: Tree
    folder: str

    def names(self) -> list[str]:
        """Every file, sorted; twice a sound file that is there in both formats."""
        return sorted(self._find_shown_name(name) for name in self.tree.names())

    def folders(self, pattern: str) -> list[str]:
        return self.tree.folders(pattern)

    def has(self, name: str) -> bool:
        return self.tree.has(self._find_stored_name(name))

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        stored = self._find_stored_name(name)
        with self.tree.open(stored) as stream:
            if stored == name:
                yield stream
                return
            with _DecodedFile(stream, stored) as decoded:
                yield io.BufferedReader(decoded, _PIECE * _FRAME_BYTES)

    def read(self, name: str, largest: int = files.DOCUMENT) -> bytes:
        with self.open(name) as stream:
            return files.within(stream, largest)

    def size(self, name: str) -> int:
        """Of a sound file, the bytes of the WAV file that it is read as."""
        stored = self._find_stored_name(name)
        if stored == name:
            return self.tree.size(name)
        with self.tree.open(stored) as stream, _DecodedFile(stream, stored) as decoded:
            return decoded.size

    def below(self, prefix: str) -> Tree:
        stem = f"{prefix.strip('/')}/"
        below = self.tree.below(prefix)
        if self.folder == stem:
            return FlacTree(below, "")
        if self.folder.startswith(stem):
            return FlacTree(below, self.folder.removeprefix(stem))
        return below

    def _find_stored_name(self, name: str) -> str:
        """The name of the file itself. One without a single sample stays a WAV file, since FLAC has
        no files without sound."""
        if self._is_sound(name, WAV) and self.tree.has(flac_name(name)):
            return flac_name(name)
        return name

    def _find_shown_name(self, name: str) -> str:
        if not self._is_sound(name, FLAC):
            return name
        return f"{name.removesuffix(f'.{FLAC}')}.{WAV}"

    def _is_sound(self, name: str, form: str) -> bool:
        return name.startswith(self.folder) and name.endswith(f".{form}")


class _DecodedFile(io.RawIOBase):
    """A FLAC file as the WAV file that it was made from, 16 bits and mono.

    Raises RecordError, which names the file and the second, for what is damaged.

    Parameters
    ----------
    stream : the FLAC file; the caller closes it.
    name : of the file, for messages.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        import soundfile

        super().__init__()
        self._name = name
        self._source = _Guarded(stream)
        try:
            self._sound: Any = soundfile.SoundFile(self._source)
        except soundfile.LibsndfileError as error:
            raise self._make_damage_error("is not a FLAC file that can be read") from error
        form = (self._sound.format, self._sound.subtype, self._sound.channels)
        if form != ("FLAC", "PCM_16", 1):
            self._sound.close()
            raise self._make_damage_error(
                f"contains {form[0]} sound with {form[2]} channels in the form {form[1]}, but "
                "labapp writes FLAC with one channel of 16 bits"
            )
        self._frames: int = self._sound.frames
        self._rate: int = self._sound.samplerate
        self.size: int = _HEADER.size + self._frames * _FRAME_BYTES
        if self.size > _LARGEST:
            self._sound.close()
            raise self._make_damage_error(
                f"claims to have {self._frames} frames, which is impossible for a recording"
            )
        self._step = max(1, min(_PIECE, self._rate // 4))
        self._header = self._wav_header()
        self._at = 0
        self._decoded_at = 0
        self._piece = b""
        self._piece_at = 0

    def close(self) -> None:
        if not self.closed:
            self._sound.close()
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if self._at < _HEADER.size:
            data = self._header[self._at :]
        elif self._at >= self.size:
            return 0
        else:
            data = self._samples(self._at - _HEADER.size)
        taken = data[: len(buffer)]
        buffer[: len(taken)] = taken
        self._at += len(taken)
        return len(taken)

    def _samples(self, at: int) -> bytes:
        """Bytes of samples from the byte `at` on; at least one."""
        if not self._piece_at <= at < self._piece_at + len(self._piece):
            self._piece_at = at - at % (self._step * _FRAME_BYTES)
            self._piece = self._decode_piece(self._piece_at // _FRAME_BYTES)
        return self._piece[at - self._piece_at :]

    def _decode_piece(self, first: int) -> bytes:
        """The samples of a piece that begins at the frame `first`."""
        import soundfile

        wanted = min(self._step, self._frames - first)
        try:
            if first != self._decoded_at:
                self._sound.seek(first)
            samples = self._sound.read(wanted, dtype="int16")
        except soundfile.LibsndfileError as error:
            raise self._make_damage_error(f"is damaged at {first / self._rate:.1f} s") from error
        if len(samples) < wanted:
            end = (first + len(samples)) / self._rate
            whole = self._frames / self._rate
            raise self._make_damage_error(
                f"ends at {end:.1f} s, but claims to have {whole:.1f} s of sound"
            )
        self._decoded_at = first + wanted
        return bytes(samples.astype("<i2", copy=False))

    def _wav_header(self) -> bytes:
        data = self._frames * _FRAME_BYTES
        rate = self._rate
        return _HEADER.pack(
            *(b"RIFF", data + _HEADER.size - 8, b"WAVE", b"fmt ", 16, 1, 1, rate),
            *(rate * _FRAME_BYTES, _FRAME_BYTES, 8 * _FRAME_BYTES, b"data", data),
        )

    def _make_damage_error(self, what: str) -> RecordError:
        why = f" ({self._source.problem})" if self._source.problem else ""
        return RecordError(
            f"{self._name} {what}{why}.",
            safe="It was only read; nothing was changed.",
            todo="Use another copy of the bundle, or export the session again.",
        )


class _Guarded:
    """A stream as the library reads or writes it. An exception cannot pass through the library: it
    is kept in `problem`, and the library gets the end of the file, or a failure, instead."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.problem: Exception | None = None

    def readinto(self, buffer: Any) -> int:
        data = self._call_guarded(self._stream.read, b"", len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: bytes) -> int:
        return self._call_guarded(self._stream.write, 0, data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._call_guarded(self._stream.seek, -1, offset, whence)

    def tell(self) -> int:
        return self._call_guarded(self._stream.tell, -1)

    def _call_guarded(self, call: Callable[..., Value], failed: Value, *given: Any) -> Value:
        try:
            return call(*given)
        except Exception as error:  # noqa: BLE001 - the caller raises it
            self.problem = self.problem or error
            return failed
