"""The samples of a sound file, read where they are asked for.

They are read at their place in the file instead of being mapped into memory: 90 minutes would weigh
500 MB in there, and a drive that is pulled out would end the program instead of one reading.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import struct
import tempfile
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.base.reading.files import UnreadableFileError
from labapp.record.audio.capture import FRAME_BYTES, HEADER_BYTES

OpenFile = Callable[[str], AbstractContextManager[IO[bytes]]]
"""Opens a file of a session by its name, such as `Tree.open`."""

LARGEST_HEADER = 1 << 16
"""Bytes in which the samples of a WAV file begin. labapp's begin after 44."""
_PCM, _EXTENSIBLE = 1, 0xFFFE
_CHUNK = struct.Struct("<4sI")
_FORMAT = struct.Struct("<HHIIHH")


class Samples(Protocol):
    """Mono sound of which a part can be had."""

    @property
    def size(self) -> int:
        """How many samples there are."""
        ...

    def __getitem__(self, part: slice, /) -> NDArray[np.int16]: ...


@dataclass(frozen=True, slots=True)
class WavForm:
    """Where the samples of a WAV file lie.

    Attributes
    ----------
    rate : frames a second; 0 where the header never reached the disk.
    first_byte : of the samples.
    frames : as the length of the file says: the header of a killed run is a second old.
    """

    rate: int
    first_byte: int
    frames: int


class WavSamples:
    """The samples of a WAV file, 16 bits and mono; from any thread. Raises OSError: it cannot be
    read, or is no such file; the text is the reason in words.

    Parameters
    ----------
    opened : context manager of a binary stream
        The file; of one that is no file on a disk, such as a member of an archive, a temporary copy
        is made.
    """

    def __init__(self, opened: AbstractContextManager[IO[bytes]]) -> None:
        with opened as stream:
            self._file = _own(stream)
        self._lock = threading.Lock()
        # Whoever forgets to close it leaves nothing open either.
        self._close = weakref.finalize(self, os.close, self._file)
        try:
            self.form = _form(self._file)
        except OSError:
            self._close()
            raise

    @property
    def size(self) -> int:
        """How many samples there are."""
        return self.form.frames

    def __getitem__(self, part: slice, /) -> NDArray[np.int16]:
        """Samples [start, stop), (n,) int16; fewer where the file ends, or cannot be read any more.
        A step is not taken."""
        start, stop, _ = part.indices(self.size)
        wanted = max(0, stop - start) * FRAME_BYTES
        content = self._bytes(self.form.first_byte + start * FRAME_BYTES, wanted)
        return np.frombuffer(content[: len(content) // FRAME_BYTES * FRAME_BYTES], "<i2")

    def head(self) -> bytes:
        """What the file has before its samples."""
        return self._bytes(0, self.form.first_byte)

    def tail(self) -> bytes:
        """What it has behind them; of what labapp wrote at most half a sample."""
        first = self.form.first_byte + self.size * FRAME_BYTES
        return self._bytes(first, max(0, self.stat().st_size - first))

    def _bytes(self, place: int, size: int) -> bytes:
        with self._lock:
            return _read(self._file, place, size) if self._close.alive else b""

    def stat(self) -> os.stat_result:
        """Of the open file. Raises OSError where it was closed."""
        with self._lock:
            if not self._close.alive:
                raise _no_sound("it is closed")
            return os.fstat(self._file)

    def close(self) -> None:
        """Give the file back. Harmless when closed before."""
        with self._lock:
            self._close()


def _own(stream: IO[bytes]) -> int:
    """A descriptor of our own of the file, which outlasts the stream."""
    try:
        return os.dup(stream.fileno())
    except (io.UnsupportedOperation, AttributeError):
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(stream, copy, 1 << 20)
            copy.flush()
            return os.dup(copy.fileno())


def _read(descriptor: int, place: int, size: int) -> bytes:
    """Bytes of a file at a place; fewer where it ends there, none where it cannot be read."""
    try:
        if hasattr(os, "pread"):
            return os.pread(descriptor, size, place)
        os.lseek(descriptor, place, os.SEEK_SET)
        return os.read(descriptor, size)
    except OSError:  # gone with its drive
        return b""


def _form(descriptor: int) -> WavForm:
    """Raises OSError for what is no WAV file with 16 bits and one channel."""
    size = os.fstat(descriptor).st_size
    head = _read(descriptor, 0, min(size, LARGEST_HEADER))
    if not head[:HEADER_BYTES].strip(b"\0"):
        # A killed run's: neither the header nor what it says had reached the disk.
        return WavForm(0, HEADER_BYTES, max(0, size - HEADER_BYTES) // FRAME_BYTES)
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE":
        raise _no_sound("it is no WAV file")
    rate, at = 0, 12
    while at + _CHUNK.size <= len(head):
        name, length = _CHUNK.unpack_from(head, at)
        at += _CHUNK.size
        if name == b"data":
            if not rate:
                break
            there = size - at
            # Of a file that labapp wrote the samples reach to its end.
            data = there if at == HEADER_BYTES else min(length, there)
            return WavForm(rate, at, data // FRAME_BYTES)
        if name == b"fmt ":
            if length < _FORMAT.size or at + _FORMAT.size > len(head):
                break
            encoding, channels, rate, _, _, bits = _FORMAT.unpack_from(head, at)
            if encoding not in (_PCM, _EXTENSIBLE) or (channels, bits) != (1, 8 * FRAME_BYTES):
                raise _no_sound(f"it has {channels} channels of {bits} bits, not one of 16")
        at += length + length % 2
    raise _no_sound("its header is damaged")


def _no_sound(why: str) -> OSError:
    return UnreadableFileError(errno.EINVAL, why)
