"""Checks a block of a sound file against the hash in its event."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from typing import IO, Protocol

from labapp.audio.writer import FRAME_BYTES
from labapp.events.voice import AudioBlock

_CHUNK = 1 << 20


class Checksum(Protocol):
    """Computes a checksum piece by piece, and compares it with that of the block."""

    def update(self, data: bytes, /) -> None: ...
    def fits(self) -> bool: ...


class _Sha256:
    def __init__(self, block: AudioBlock) -> None:
        self._expected = block.sha256
        self._digest = hashlib.sha256()
        self.update: Callable[[bytes], None] = self._digest.update

    def fits(self) -> bool:
        return self._digest.hexdigest() == self._expected


class _Crc32:
    def __init__(self, block: AudioBlock) -> None:
        self._expected = block.crc32
        self._crc = 0

    def update(self, data: bytes) -> None:
        self._crc = zlib.crc32(data, self._crc)

    def fits(self) -> bool:
        return self._crc == self._expected


def method(block: AudioBlock) -> str:
    """Name of the checksum that the block's event carries."""
    return "SHA-256" if block.sha256 or block.crc32 is None else "CRC-32"


def fits(stream: IO[bytes], block: AudioBlock) -> bool | None:
    """Whether a stream holds the sound of a block; None if the stream ends before the block does.

    stream : positioned at the block's first byte. It is read in pieces, because a block can be
        hours of silence after a machine slept.
    """
    checksum: Checksum = _Sha256(block) if method(block) == "SHA-256" else _Crc32(block)
    left = (block.frames - block.first_frame) * FRAME_BYTES
    while left > 0:
        data = stream.read(min(left, _CHUNK))
        if not data:
            return None
        checksum.update(data)
        left -= len(data)
    return checksum.fits()
