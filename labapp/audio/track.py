"""The file side of a recording: packets become sound on disk, events, anchors and a level.

Runs wholly on the recorder's writer thread.
"""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labapp.audio.capture import Packet
from labapp.audio.level import VoiceActivity, hear
from labapp.audio.timeline import PacketTimeline, PlacedPacket
from labapp.audio.writer import FRAME_BYTES, WavWriter
from labapp.errors import LabappError
from labapp.events import Payload
from labapp.events.lifecycle import AlarmCleared, AlarmRaised
from labapp.events.voice import AudioBlock, AudioGap, AudioState, AudioStopped
from labapp.messages import Message, coded

SYNC_S = 1.0
DISK_CHECK_S = 5.0
ANCHOR_S = 0.1
LEVEL_S = 0.05
WRITE_FAILED = "sound_write_failed"
DISK_LOW = "sound_disk_low"

Emit = Callable[[Payload], None]


class Outbox:
    """Events in order; one that the journal refuses now is sent again at the next tick."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._waiting: deque[Payload] = deque()

    def put(self, payload: Payload) -> None:
        self._waiting.append(payload)
        self.send()

    def send(self) -> None:
        while self._waiting:
            try:
                self._emit(self._waiting[0])
            except LabappError:
                # The journal raises its own alarm; sound goes on without it.
                return
            self._waiting.popleft()


class Track:
    """One WAV file and its events.

    Parameters
    ----------
    path : the file to make; name : how events call it, relative to the session folder.
    rate : frames per second of the file and of every stream recorded into it.
    out : takes the events; the tracks of one recording share it, so that none is lost between.
    from_perf_ns : session time of a `time.perf_counter_ns` reading.
    min_free_bytes : free disk space below which an alarm is raised.
    silent_after_s : time without a voice after which the state is silent.

    Raises
    ------
    FileExistsError, OSError : the file cannot be made.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        rate: int,
        *,
        out: Outbox,
        from_perf_ns: Callable[[int], int],
        min_free_bytes: int,
        silent_after_s: float,
    ) -> None:
        self.name = name
        self.rate = rate
        self.hearing = VoiceActivity()
        self.lost_frames = 0
        self.last_sync_ns: int | None = None
        self.write_problem = ""
        self._wav = WavWriter(path, rate)
        self._out = out
        self._from_perf_ns = from_perf_ns
        self._min_free_bytes = min_free_bytes
        self._silent_after_s = silent_after_s
        self._disk_low = False
        self._refused: tuple[int, int] | None = None
        self._channels = 1
        self._timeline = PacketTimeline(rate)
        self._resume_ns: int | None = None
        self._anchors: deque[tuple[int, float, int]] = deque()
        self._last_anchor_ns = 0
        self._unheard = b""
        self._next_sync = time.monotonic() + SYNC_S
        self._next_disk_check = 0.0

    @property
    def frames(self) -> int:
        """Frames recorded so far, silence for lost ones included."""
        return self._wav.frames

    @property
    def capturing(self) -> bool:
        """True once a packet of the current stream has come."""
        return self._timeline.expected_ns() is not None

    def emit(self, payload: Payload) -> None:
        """Send an event after those that still wait."""
        self._out.put(payload)

    def begin_stream(self, channels: int) -> None:
        """A stream was opened; its first packet tells how much silence lies before it."""
        self._channels = channels
        self._timeline = PacketTimeline(self.rate, channels)

    def end_stream(self) -> None:
        """The stream is gone; time runs on without sound."""
        for placed in self._timeline.flush():
            self._place(placed)
        expected = self._timeline.expected_ns()
        if expected is not None:
            self._resume_ns = expected
        self._timeline = PacketTimeline(self.rate, self._channels)
        self._unheard = b""

    def take(self, packets: list[Packet]) -> None:
        """Take in what the stream delivered."""
        for packet in packets:
            if self._resume_ns is not None:
                frames = len(packet.data) // (FRAME_BYTES * self._channels)
                self.fill_until(packet.perf_ns - round(frames * 1e9 / self.rate))
            for placed in self._timeline.take(packet):
                self._place(placed)
        self._flush()

    def fill_until(self, perf_ns: int, cause: str = "device_lost") -> None:
        """Fill the time without a stream up to this moment with silence."""
        if self._resume_ns is None:
            return
        frames = round((perf_ns - self._resume_ns) * self.rate / 1e9)
        self._resume_ns = None
        self._gap(frames, cause)

    def tick(self) -> None:
        """Ten times a second: sync when it is time, watch the disk, send what waits."""
        now = time.monotonic()
        if now >= self._next_sync:
            self._next_sync = now + SYNC_S
            self._flush()
            self._sync()
        if now >= self._next_disk_check:
            self._next_disk_check = now + DISK_CHECK_S
            self._check_disk()
        self._out.send()

    def close(self) -> None:
        """Write and sync what there is, close the file, tell."""
        self._flush(report_refused=True)
        self._sync()
        self._wav.close()
        unwritten = self._wav.frames - self._wav.on_disk
        self.emit(AudioStopped(self.name, self._wav.on_disk, self.lost_frames + unwritten))

    def _place(self, placed: PlacedPacket) -> None:
        packet = placed.packet
        if placed.cause:
            self._gap(placed.lost, placed.cause)
        block_s = placed.frames / self.rate
        captured_ns = self._from_perf_ns(packet.perf_ns - round(packet.age_s(block_s) * 1e9))
        if packet.perf_ns - self._last_anchor_ns >= ANCHOR_S * 1e9:
            self._last_anchor_ns = packet.perf_ns
            self._anchors.append((self._wav.frames, packet.adc_s, captured_ns))
        at_frame = self._wav.frames
        sound = mono(packet.data, self._channels)
        refused = self._wav.append(sound)
        if refused:
            since, frames = self._refused or (at_frame, 0)
            self._refused = (since, frames + refused)
            self.lost_frames += refused
        self._listen(sound, captured_ns)

    def _gap(self, frames: int, cause: str) -> None:
        frames = max(0, frames)
        at_frame = self._wav.frames
        self._wav.silence(frames)
        self.lost_frames += frames
        self.emit(AudioGap(self.name, at_frame, frames, cause))

    def _listen(self, sound: bytes, start_ns: int) -> None:
        """Feed the level in steps of 50 ms, whatever the host's block size."""
        start_ns -= round(len(self._unheard) / FRAME_BYTES * 1e9 / self.rate)
        data = self._unheard + sound
        step = round(self.rate * LEVEL_S) * FRAME_BYTES
        whole = len(data) - len(data) % step
        state = self.hearing.state
        for at in range(0, whole, step):
            samples: NDArray[np.int16] = np.frombuffer(
                data, dtype="<i2", count=step // 2, offset=at
            )
            block_ns = start_ns + round(at / FRAME_BYTES * 1e9 / self.rate)
            self.hearing = hear(
                self.hearing, samples, block_ns, self.rate, silent_after_s=self._silent_after_s
            )
            if self.hearing.state is not None and self.hearing.state != state:
                state = self.hearing.state
                self.emit(AudioState(state, self.hearing.since_ns))
        self._unheard = data[whole:]

    def _flush(self, *, report_refused: bool = False) -> None:
        try:
            self._wav.flush()
        except OSError as error:
            self._write_failed(error)
            if not report_refused:
                return
        else:
            if self.write_problem:
                self.write_problem = ""
                self.emit(AlarmCleared(WRITE_FAILED))
        if self._refused is not None:
            at_frame, frames = self._refused
            self._refused = None
            self.emit(AudioGap(self.name, at_frame, frames, "write_failed"))

    def _sync(self) -> None:
        try:
            synced = self._wav.sync()
        except OSError as error:
            self._write_failed(error)
            return
        if synced is None:
            return
        self.last_sync_ns = self._from_perf_ns(time.perf_counter_ns())
        anchors = []
        while self._anchors and self._anchors[0][0] < synced.frames:
            anchors.append(self._anchors.popleft())
        self.emit(
            AudioBlock(self.name, synced.first_frame, synced.frames, synced.sha256, tuple(anchors))
        )

    def _write_failed(self, error: OSError) -> None:
        if self.write_problem:
            return
        self.write_problem = str(error)
        detail = Message("sound_not_written", error=str(error))
        self.emit(AlarmRaised(WRITE_FAILED, str(detail), coded(detail)))

    def _check_disk(self) -> None:
        try:
            free = shutil.disk_usage(self._wav.path.parent).free
        except OSError as error:
            self._write_failed(error)
            return
        low = free < self._min_free_bytes
        if low and not self._disk_low:
            minutes = free / (self.rate * FRAME_BYTES * 60)
            detail = Message("sound_disk_low", size=round(free / 1e6), minutes=round(minutes))
            self.emit(AlarmRaised(DISK_LOW, str(detail), coded(detail)))
        elif self._disk_low and not low:
            self.emit(AlarmCleared(DISK_LOW))
        self._disk_low = low


def mono(data: bytes, channels: int) -> bytes:
    """The mean of the channels: a microphone may be wired to any of them."""
    if channels == 1:
        return data
    samples: NDArray[np.int16] = np.frombuffer(data, dtype="<i2").reshape(-1, channels)
    means: NDArray[np.float32] = samples.mean(axis=1, dtype=np.float32)
    return bytes(means.round().astype("<i2"))
