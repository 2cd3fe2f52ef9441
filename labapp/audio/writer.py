"""The WAV file: appended to, never overwritten, readable after any interruption.

PCM 16 bit mono. The header is brought up to date with every sync, so that even a file that was
never closed says how much sound it holds; what comes after that is found by `repair`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import struct
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from labapp import access, leftovers
from labapp.durable import sync_folder

HEADER_BYTES = 44
FRAME_BYTES = 2
_MAX_DATA = 0xFFFFFFFF - HEADER_BYTES
_SILENCE_CHUNK = 1 << 16


def wav_header(rate: int, data_bytes: int) -> bytes:
    """The 44 bytes before the samples of a mono 16-bit WAV file."""
    data_bytes = min(data_bytes, _MAX_DATA - _MAX_DATA % FRAME_BYTES)
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        data_bytes + HEADER_BYTES - 8,
        b"WAVE",
        b"fmt ",
        16,
        1,
        1,
        rate,
        rate * FRAME_BYTES,
        FRAME_BYTES,
        8 * FRAME_BYTES,
        b"data",
        data_bytes,
    )


@dataclass(frozen=True, slots=True)
class SyncPoint:
    """What one sync made safe: frames [first_frame, frames) and the SHA-256 of their bytes."""

    first_frame: int
    frames: int
    sha256: str


class WavWriter:
    """Appends sound to a new file; keeps it in memory while the disk refuses it.

    frames counts everything accepted, on disk or waiting, in order; on_disk what is in the file.

    Raises
    ------
    FileExistsError : the file exists; sound is never overwritten.
    OSError : the file cannot be made.
    """

    def __init__(self, path: Path, rate: int, max_waiting_s: float = 120.0) -> None:
        self.path = path
        self.rate = rate
        self.frames = 0
        self.on_disk = 0
        self._max_waiting = round(max_waiting_s * rate)
        self._waiting: deque[bytes | int] = deque()
        self._held_frames = 0
        self._written = 0
        self._digest = hashlib.sha256()
        self._synced = 0
        self._fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | _O_BINARY, access.file_mode())
        try:
            self._put(wav_header(rate, 0), 0)
            os.fsync(self._fd)
            sync_folder(path.parent)
        except OSError:
            os.close(self._fd)
            leftovers.drop(path)
            raise

    def append(self, data: bytes) -> int:
        """Accept whole frames; returns the frames that had to become silence (0 normally): while
        the disk refuses writes, only so much is kept in memory."""
        count = len(data) // FRAME_BYTES
        if self._held_frames + count > self._max_waiting:
            self.silence(count)
            return count
        self.frames += count
        self._held_frames += count
        self._waiting.append(data)
        return 0

    def silence(self, frames: int) -> None:
        """Accept silence; it takes no memory until it is written."""
        if frames <= 0:
            return
        self.frames += frames
        if self._waiting and isinstance(last := self._waiting[-1], int):
            self._waiting[-1] = last + frames
        else:
            self._waiting.append(frames)

    def flush(self) -> None:
        """Write what waits, in order; what was written stays so if the rest is refused.

        Raises
        ------
        OSError : the disk refuses (full, gone); nothing is lost, call again later.
        """
        while self._waiting:
            head = self._waiting[0]
            if isinstance(head, int):
                frames = min(head, _SILENCE_CHUNK)
                self._advance(self._put_data(bytes(frames * FRAME_BYTES)) // FRAME_BYTES, head)
            else:
                put = self._put_data(head)
                self._held_frames -= put // FRAME_BYTES
                if put == len(head):
                    self._waiting.popleft()
                else:
                    self._waiting[0] = head[put:]

    def sync(self) -> SyncPoint | None:
        """Make everything in the file durable; None if nothing came since the last sync.

        Raises
        ------
        OSError : the disk refuses; call again later.
        """
        if self.on_disk == self._synced:
            return None
        self._put(wav_header(self.rate, self._written), 0)
        os.fsync(self._fd)
        done = SyncPoint(self._synced, self.on_disk, self._digest.hexdigest())
        self._synced, self._digest = self.on_disk, hashlib.sha256()
        return done

    def close(self) -> None:
        """Give the file back; sync first."""
        os.close(self._fd)

    def _advance(self, put_frames: int, head: int) -> None:
        if put_frames == head:
            self._waiting.popleft()
        else:
            self._waiting[0] = head - put_frames

    def _put_data(self, data: bytes) -> int:
        """Write whole frames at the end of the data; returns the bytes that are in the file."""
        put = self._put(data, HEADER_BYTES + self._written)
        put -= put % FRAME_BYTES
        self._digest.update(memoryview(data)[:put])
        self._written += put
        self.on_disk += put // FRAME_BYTES
        return put

    def _put(self, data: bytes, offset: int) -> int:
        # Always at a place we know, so that a refused or short write leaves no hole. A disk that
        # fills up first writes short; the next write then raises.
        os.lseek(self._fd, offset, os.SEEK_SET)
        put = os.write(self._fd, data)
        if put < FRAME_BYTES <= len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        return put


_O_BINARY: int = getattr(os, "O_BINARY", 0)
