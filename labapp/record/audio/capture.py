"""The stream from the microphone: a callback that copies, and a bounded queue.

The callback runs on PortAudio's thread and needs Python's lock each time. So it is called rarely
(every 20 ms: somebody may be listening at another computer) and does nothing but copy and wake the
reader. It runs in a process of its own; see `process`.

Time of the first frame. PortAudio gives (ADC time, current time) for each callback; their
difference d says how old the first frame is. On ALSA's PulseAudio plug-in d is wrong in two ways:
off by hundreds of milliseconds for the first second or two, and afterwards 5 to 15 ms for blocks of
20 ms, although the first frame of a block must have been captured at least one block before the
block could be handed over. `Packet.age_s` therefore never falls below the block's own length. With
that bound clicks land within 1 ms of the player's DAC times, without it 6 to 18 ms late, changing
from run to run (measured with benchmarks/sound_clicks.py).

The WAV file: appended to, never overwritten, readable after any interruption.

PCM 16 bit mono. The header is brought up to date with every sync, so that even a file that was
never closed says how much sound it holds; what comes after that is found by `repair`.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import struct
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from labapp.base import access, leftovers
from labapp.base.durable import sync_folder
from labapp.base.errors import AudioError
from labapp.base.messages import Message
from labapp.record.audio import devices
from labapp.record.audio.devices import Device

SAMPLE_BYTES = 2
LATENCY_S = 0.2
"""Latency that is asked of the host, in s: a recorder need not be quick, but must not lose sound
while the interpreter is busy."""
PERIODS = 10
"""In so many pieces ALSA hands over what it can hold; PortAudio's own choice is 4."""
QUEUE_S = 60.0
"""Seconds of sound that the queue can hold while the writer waits for the disk."""


class Packet(NamedTuple):
    """One callback's worth of sound.

    Attributes
    ----------
    perf_ns : `time.perf_counter_ns` when the callback ran.
    adc_s, now_s : PortAudio's ADC time of the first frame and its current time, both in s on the
        stream's clock.
    overflow : the host lost sound before this packet.
    dropped : frames that found the queue full before this packet.
    data : 16-bit PCM, interleaved.
    """

    perf_ns: int
    adc_s: float
    now_s: float
    overflow: bool
    dropped: int
    data: bytes

    def age_s(self, block_s: float) -> float:
        """How old the first frame was when the callback ran, given the block's length in s."""
        return max(self.now_s - self.adc_s, block_s)


class PacketQueue:
    """A bounded queue between one callback and one reader; it never blocks either."""

    def __init__(self, max_frames: int, frame_bytes: int) -> None:
        self._packets: deque[Packet] = deque()
        self._max_bytes = max_frames * frame_bytes
        self._frame_bytes = frame_bytes
        self._put_bytes = 0
        self._taken_bytes = 0
        self._dropped = 0

    def put(self, perf_ns: int, adc_s: float, now_s: float, overflow: bool, data: bytes) -> None:
        """Called by the callback only."""
        size = len(data)
        # Each counter has one writer, so no lock is needed; a stale reading errs on the full side.
        if self._put_bytes - self._taken_bytes + size > self._max_bytes:
            self._dropped += size // self._frame_bytes
            return
        self._packets.append(Packet(perf_ns, adc_s, now_s, overflow, self._dropped, data))
        self._dropped = 0
        self._put_bytes += size

    def take(self) -> list[Packet]:
        """Called by the reader only."""
        taken = []
        while self._packets:
            packet = self._packets.popleft()
            self._taken_bytes += len(packet.data)
            taken.append(packet)
        return taken


class PortAudioInput:
    """An open PortAudio stream of 16-bit sound, at the device's own rate unless another is given.

    changed: is set when sound came or the stream ended. Raises AudioError: the device cannot be
    opened at its own rate.
    """

    def __init__(self, device: Device, rate: int | None = None) -> None:
        sounddevice = devices.load()
        self.rate = rate or device.default_rate
        self.finished = False
        self.changed = threading.Event()
        with suppress(AttributeError, OSError):  # built without ALSA
            ctypes.CDLL(sounddevice._libname).PaAlsa_SetNumPeriods(PERIODS)
        problem: Exception | None = None
        # Mono where the device can; some cards only open with all their channels.
        for channels in dict.fromkeys((1, min(device.channels, 2), device.channels)):
            self.channels = channels
            self._queue = PacketQueue(round(QUEUE_S * self.rate), channels * SAMPLE_BYTES)
            try:
                self._stream = sounddevice.RawInputStream(
                    samplerate=self.rate,
                    device=device.index,
                    channels=channels,
                    dtype="int16",
                    blocksize=0,
                    latency=LATENCY_S,
                    callback=self._callback,
                    finished_callback=self._on_finished,
                )
                self._stream.start()
            except (sounddevice.PortAudioError, ValueError) as error:
                problem = error
                continue
            return
        raise AudioError(
            Message(
                "microphone_not_opened", name=repr(device.label), problem=devices.in_words(problem)
            ),
            safe="Nothing was recorded from it.",
            todo="Close other programs that use it, check that you are allowed to use it, or "
            "choose another.",
        ) from problem

    def _callback(self, data: Any, frames: int, when: Any, status: Any) -> None:
        perf_ns = time.perf_counter_ns()
        self._queue.put(
            perf_ns,
            when.inputBufferAdcTime,
            when.currentTime,
            bool(status) and status.input_overflow,
            bytes(data),
        )
        self.changed.set()

    def _on_finished(self) -> None:
        self.finished = True
        self.changed.set()

    def take(self) -> list[Packet]:
        """Everything captured since the last call, oldest first."""
        return self._queue.take()

    def close(self) -> None:
        """Close the stream; a host whose device is gone may never return from this."""
        self._stream.abort(ignore_errors=True)
        self._stream.close(ignore_errors=True)


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
    Raises FileExistsError: the file exists; sound is never overwritten. OSError: the file cannot be
    made.
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
        """Write waiting data in order; data already written stay written if the rest is refused.
        Raises OSError: the disk refuses (full, gone); nothing is lost, call again later."""
        while self._waiting:
            head = self._waiting[0]
            if isinstance(head, int):
                silence = bytes(min(head, _SILENCE_CHUNK) * FRAME_BYTES)
                put = self._put_data(silence) // FRAME_BYTES
                if put == head:
                    self._waiting.popleft()
                else:
                    self._waiting[0] = head - put
            else:
                put = self._put_data(head)
                self._held_frames -= put // FRAME_BYTES
                if put == len(head):
                    self._waiting.popleft()
                else:
                    self._waiting[0] = head[put:]

    def sync(self) -> SyncPoint | None:
        """Make everything in the file durable; None if nothing came since the last sync. Raises
        OSError: the disk refuses; call again later."""
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
