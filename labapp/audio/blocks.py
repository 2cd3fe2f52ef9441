"""Whether the sound of a block is what was written, by the hash that its event carries."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from typing import IO, Protocol

from labapp.audio.writer import FRAME_BYTES
from labapp.events.voice import AudioBlock

_CHUNK = 1 << 20


class Checksum(Protocol):
    """Takes in bytes, and says whether they were those of the block."""

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
    """What the block's sound is checked by, for people."""
    return "SHA-256" if block.sha256 or block.crc32 is None else "CRC-32"


def fits(stream: IO[bytes], block: AudioBlock) -> bool | None:
    """Whether the stream, which stands at the block's first byte, holds its sound; None where it
    ends before. Read in pieces: a block can be hours of silence after a machine slept.
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
