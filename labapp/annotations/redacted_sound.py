"""A session's files with silence where it is redacted: whatever leaves the lab is read from here.

The session's own files stay as they were recorded.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from labapp.annotations.model import Redaction
from labapp.annotations.redaction import redacted_frames
from labapp.audio.alignment import fit_segment
from labapp.audio.writer import FRAME_BYTES, HEADER_BYTES
from labapp.errors import AnnotationError, RecordError
from labapp.journal.record import Record
from labapp.journal.tree import Tree
from labapp.reading import files

Ranges = tuple[tuple[int, int], ...]
"""Half-open, in order, apart from each other."""


def silent_frames(record: Record, redactions: Sequence[Redaction]) -> dict[str, Ranges]:
    """Which frames of which sound files of a session are redacted.

    Parameters
    ----------
    record : the session; its sound need not be there.
    redactions : of the session.

    Returns
    -------
    By the files' names; files of which nothing is redacted are left out.

    Raises
    ------
    AnnotationError : a file has no place in time, so that nobody knows what of it is redacted.
    """
    if not redactions:
        return {}
    events = [row.event() for row in record.rows if row.kind.startswith("audio.")]
    silent: dict[str, Ranges] = {}
    for sound in record.audio:
        try:
            fit = fit_segment(events, sound.file)
        except RecordError as error:
            raise AnnotationError(
                f"Stretches of {record.name} are redacted, and {sound.file} has no place in time: "
                "which of its sound they are cannot be told.",
                safe="No sound was let out.",
                todo="Let the session out without its sound.",
            ) from error
        # What a crash left behind the last block is sound, too.
        longest = max(sound.frames, sound.stopped_at or 0, _LATEST_FRAME)
        if ranges := redacted_frames(longest, fit.offset_ns, fit.rate, redactions):
            silent[sound.file] = tuple(ranges)
    return silent


_LATEST_FRAME = 2**31
"""Frames: more have no room in a WAV file."""


def redacted_tree(record: Record, redactions: Sequence[Redaction]) -> Tree:
    """The files of a session as they may leave the lab. Raises AnnotationError as
    `silent_frames`."""
    silent = silent_frames(record, redactions)
    return RedactedTree(record.tree, silent) if silent else record.tree


@dataclass(frozen=True)
class RedactedTree:
    """The files of a tree, with zeros in the redacted frames of its sound files.

    Attributes
    ----------
    tree : where they lie.
    silent : frames that are zeros, by the names of files.
    """

    tree: Tree
    silent: Mapping[str, Ranges]

    def names(self) -> list[str]:
        return self.tree.names()

    def folders(self, pattern: str) -> list[str]:
        return self.tree.folders(pattern)

    def has(self, name: str) -> bool:
        return self.tree.has(name)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        with self.tree.open(name) as stream:
            if name in self.silent:
                yield io.BufferedReader(_SilencedFile(stream, self.silent[name]))
            else:
                yield stream

    def read(self, name: str, largest: int = files.DOCUMENT) -> bytes:
        with self.open(name) as stream:
            return files.within(stream, largest)

    def size(self, name: str) -> int:
        return self.tree.size(name)

    def below(self, prefix: str) -> RedactedTree:
        stem = f"{prefix.strip('/')}/"
        below = {
            name.removeprefix(stem): ranges
            for name, ranges in self.silent.items()
            if name.startswith(stem)
        }
        return RedactedTree(self.tree.below(prefix), below)


class _SilencedFile(io.RawIOBase):
    """A WAV file of which some frames read as zeros."""

    def __init__(self, stream: IO[bytes], frames: Ranges) -> None:
        self._stream = stream
        self._bytes = [
            (HEADER_BYTES + begin * FRAME_BYTES, HEADER_BYTES + end * FRAME_BYTES)
            for begin, end in frames
        ]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        at = self._stream.tell()
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        for begin, end in self._bytes:
            first, last = max(begin - at, 0), min(end - at, len(data))
            if first < last:
                buffer[first:last] = bytes(last - first)
        return len(data)
