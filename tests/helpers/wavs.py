"""What the header of a WAV file says, and what its length says."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from labapp.record.audio.capture import HEADER_BYTES


@dataclass(frozen=True, slots=True)
class WavInfo:
    """The format of a WAV file of ours. frames by the length, header_frames by the header."""

    rate: int
    channels: int
    bits: int
    frames: int
    header_frames: int

    @property
    def whole(self) -> bool:
        """Whether header and length agree."""
        return self.frames == self.header_frames


def read_wav_info(path: Path) -> WavInfo:
    """Of a file with the header that labapp writes."""
    content = path.read_bytes()
    assert (content[:4], content[8:16], content[36:40]) == (b"RIFF", b"WAVEfmt ", b"data")
    _, channels, rate, _, frame_bytes, bits = struct.unpack("<HHIIHH", content[20:36])
    (data_bytes,) = struct.unpack("<I", content[40:HEADER_BYTES])
    frames = (len(content) - HEADER_BYTES) // frame_bytes
    return WavInfo(rate, channels, bits, frames, data_bytes // frame_bytes)
