"""The file side of a recording: packets become sound on disk, events, anchors and a level.

Runs wholly on the recorder's writer thread.

Where sound was lost, and how much: a pure fold over packets.

A host's overflow flag does not say how much was lost, and neither flag nor ADC time can be trusted
on every host. What cannot lie is arrival: frame n can never arrive before it was captured. Let
lateness be the arrival time of a packet's last frame minus that frame's place in the stream. A busy
machine makes lateness jump up and come back when the backlog is delivered; lost sound makes it jump
up and stay. So a suspicious packet and what follows is held back until half a second of sound has
come without any catching up, and only what is left of the jump at its lowest is taken as lost.

What the microphone hears: a pure fold over blocks of sound.

Its states are

* heard: somebody speaks, or spoke a short while ago;
* silent: nobody has spoken for a given time;
* zeros: every sample is exactly 0, because the permission is missing, the device is muted or the
  source is dead; a microphone with a noise gate does so between words, too;
* clipping: samples are at full scale.
"""

from __future__ import annotations

import math
import shutil
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import LabappError
from labapp.base.messages import Message, encode_message
from labapp.record.audio.capture import FRAME_BYTES, SAMPLE_BYTES, Packet, WavWriter
from labapp.record.events import Payload
from labapp.record.events.lifecycle import AlarmCleared, AlarmRaised
from labapp.record.events.voice import AudioBlock, AudioGap, AudioState, AudioStopped

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
        self._anchor: tuple[float, tuple[int, float, int]] | None = None
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
        at_frame = self._wav.frames
        # Of several packets the one that was handed over soonest says best when it was captured.
        late_ns = packet.perf_ns - (at_frame + placed.frames) * 1e9 / self.rate
        if self._anchor is None or late_ns < self._anchor[0]:
            self._anchor = (late_ns, (at_frame, packet.adc_s, captured_ns))
        if packet.perf_ns - self._last_anchor_ns >= ANCHOR_S * 1e9:
            self._last_anchor_ns = packet.perf_ns
            self._anchors.append(self._anchor[1])
            self._anchor = None
        sound = mono(packet.data, self._channels)
        refused = self._wav.append(sound)
        if refused:
            since, frames = self._refused or (at_frame, 0)
            self._refused = (since, frames + refused)
            self.lost_frames += refused
        self._listen(sound, captured_ns)

    def _gap(self, frames: int, cause: str) -> None:
        frames = max(0, frames)
        self._anchor = None
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
        self.emit(AlarmRaised(WRITE_FAILED, str(detail), encode_message(detail)))

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
            self.emit(AlarmRaised(DISK_LOW, str(detail), encode_message(detail)))
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


HOLD_S = 0.5
WINDOW_S = 2.0
SETTLE_S = WINDOW_S + 1.0
SUSPICIOUS_S = 0.08
LOST_S = 0.02
CATCH_UP_S = 0.005


@dataclass(frozen=True, slots=True)
class PlacedPacket:
    """A packet that is ready to be written, and the silence that belongs before it.

    Attributes
    ----------
    frames : frames of the packet.
    lost : frames to fill with silence before it.
    cause : empty, or overflow, queue or stalled. If the host reports an overflow although no time
        is missing, there is a cause, and `lost` is 0.
    """

    packet: Packet
    frames: int
    lost: int
    cause: str


class PacketTimeline:
    """One stream from its start to its end. rate: frames per second; channels: channels interleaved
    in the packets."""

    def __init__(self, rate: int, channels: int = 1) -> None:
        self._rate = rate
        self._frame_bytes = channels * SAMPLE_BYTES
        self._frames = 0
        self._started_ns: int | None = None
        self._window: deque[tuple[int, float]] = deque()
        self._held: list[Packet] = []
        self._held_lateness: list[float] = []
        self._reference = 0.0
        self._level = 0.0
        self._steady = 0

    def take(self, packet: Packet) -> list[PlacedPacket]:
        """Take in one packet; returns the packets that can be written now, in order."""
        if self._started_ns is None:
            self._started_ns = packet.perf_ns
        self._frames += packet.dropped + self._count(packet)
        lateness = packet.perf_ns / 1e9 - self._frames / self._rate
        if self._held:
            return self._hold(packet, lateness)
        while len(self._window) > 1 and packet.perf_ns - self._window[0][0] > WINDOW_S * 1e9:
            self._window.popleft()
        settled = packet.perf_ns - self._started_ns >= SETTLE_S * 1e9 and bool(self._window)
        if settled:
            self._reference = min(value for _, value in self._window)
            if packet.overflow or lateness - self._reference > SUSPICIOUS_S:
                return self._hold(packet, lateness)
        self._window.append((packet.perf_ns, lateness))
        return [self._place(packet, overflow=packet.overflow)]

    def flush(self) -> list[PlacedPacket]:
        """Release what is held back, based on what is known so far; call this at the end of the
        stream."""
        return self._release() if self._held else []

    def expected_ns(self) -> int | None:
        """`perf_counter_ns` at which the frame after the last one taken would have been captured,
        by the earliest arrival seen lately; None before the first packet."""
        values = [value for _, value in self._window] + self._held_lateness
        if not values:
            return None
        return round((min(values) + self._frames / self._rate) * 1e9)

    def _hold(self, packet: Packet, lateness: float) -> list[PlacedPacket]:
        self._held.append(packet)
        self._held_lateness.append(lateness)
        caught_up = lateness - self._reference < LOST_S
        # Counted in sound, not in time: while nothing is delivered nothing can catch up either.
        begins = len(self._held) == 1
        if not begins and self._level - CATCH_UP_S <= lateness <= self._level + SUSPICIOUS_S:
            self._steady += self._count(packet)
        else:
            # Still catching up, or one more stall: the half second begins anew.
            self._level, self._steady = lateness, 0
        if caught_up or self._steady >= HOLD_S * self._rate:
            return self._release()
        return []

    def _release(self) -> list[PlacedPacket]:
        held, lateness = self._held, self._held_lateness
        self._held, self._held_lateness = [], []
        missing_s = min(lateness) - self._reference
        lost = round(missing_s * self._rate) if missing_s >= LOST_S else 0
        first, rest = held[0], held[1:]
        overflow = any(packet.overflow for packet in held)
        placed = self._place(first, overflow=overflow, missing=lost)
        self._frames += lost
        shift = lost / self._rate
        self._window.extend(
            (packet.perf_ns, value - shift) for packet, value in zip(held, lateness, strict=True)
        )
        return [placed, *(self._place(packet, overflow=False) for packet in rest)]

    def _place(self, packet: Packet, *, overflow: bool, missing: int = 0) -> PlacedPacket:
        cause = "overflow" if overflow else "stalled" if missing else ""
        if packet.dropped:
            cause = cause or "queue"
        return PlacedPacket(packet, self._count(packet), packet.dropped + missing, cause)

    def _count(self, packet: Packet) -> int:
        return len(packet.data) // self._frame_bytes


State = Literal["heard", "silent", "zeros", "clipping"]

FLOOR_DBFS = -100.0
ZEROS_AFTER_S = 1.0
CLIP_HOLD_S = 2.0
CLIP_AT = 32_700
CLIP_RUN = 3
OPEN_ABOVE_FLOOR_DB = 10.0
CLOSE_ABOVE_FLOOR_DB = 6.0
OPEN_AT_LEAST_DBFS = -55.0
CLOSE_AT_LEAST_DBFS = -60.0
FLOOR_RISE_DB_PER_S = 1.0
START_FLOOR_DBFS = -65.0
ENVELOPE_LENGTH = 100


@dataclass(frozen=True, slots=True)
class VoiceActivity:
    """The state of the fold; times are session times in ns, levels in dBFS.

    envelope: peaks of the last 100 blocks, 0 to 1, newest last.
    """

    state: State | None = None
    since_ns: int = 0
    started_ns: int | None = None
    now_ns: int = 0
    peak_dbfs: float = FLOOR_DBFS
    rms_dbfs: float = FLOOR_DBFS
    noise_dbfs: float = START_FLOOR_DBFS
    gate_open: bool = False
    voice_ns: int | None = None
    zeros_since_ns: int | None = None
    clipped_ns: int | None = None
    envelope: tuple[float, ...] = ()

    @property
    def silent_for_s(self) -> float:
        """Time since a voice was last heard, or since the start if none ever was."""
        last = self.voice_ns if self.voice_ns is not None else self.started_ns
        return 0.0 if last is None else max(0, self.now_ns - last) / 1e9


def dbfs(amplitude: float) -> float:
    """Level of an amplitude between 0 and 1, never below -100 dBFS."""
    return max(FLOOR_DBFS, 20.0 * math.log10(amplitude)) if amplitude > 0.0 else FLOOR_DBFS


def hear(
    before: VoiceActivity,
    samples: NDArray[np.int16],
    start_ns: int,
    rate: int,
    *,
    silent_after_s: float = 15.0,
) -> VoiceActivity:
    """Take in one block of mono sound, about 50 ms of it.

    Parameters
    ----------
    samples : (n,) int16.
    start_ns : session time of the first, in ns.
    rate : samples a second.
    silent_after_s : time without a voice after which the state is silent.
    """
    if samples.size == 0:
        return before
    duration_s = samples.size / rate
    end_ns = start_ns + round(duration_s * 1e9)
    values = samples.astype(np.float32)
    peak = float(np.abs(values).max())
    rms_dbfs = dbfs(math.sqrt(float(np.dot(values, values)) / samples.size) / 32768.0)

    zeros_since = None
    if peak == 0.0:
        zeros_since = start_ns if before.zeros_since_ns is None else before.zeros_since_ns
    noise = before.noise_dbfs
    if peak > 0.0:
        # Down at once, up slowly: pauses between words show the room, speech must not raise it.
        noise = min(rms_dbfs, noise + FLOOR_RISE_DB_PER_S * duration_s)
        noise = max(noise, FLOOR_DBFS)
    above, at_least = (
        (CLOSE_ABOVE_FLOOR_DB, CLOSE_AT_LEAST_DBFS)
        if before.gate_open
        else (OPEN_ABOVE_FLOOR_DB, OPEN_AT_LEAST_DBFS)
    )
    gate_open = rms_dbfs >= max(noise + above, at_least)
    hearing = replace(
        before,
        started_ns=start_ns if before.started_ns is None else before.started_ns,
        now_ns=end_ns,
        peak_dbfs=dbfs(peak / 32768.0),
        rms_dbfs=rms_dbfs,
        noise_dbfs=noise,
        gate_open=gate_open,
        voice_ns=end_ns if gate_open else before.voice_ns,
        zeros_since_ns=zeros_since,
        clipped_ns=end_ns if _clips(samples, peak) else before.clipped_ns,
        envelope=(*before.envelope, peak / 32768.0)[-ENVELOPE_LENGTH:],
    )
    return _judge(hearing, start_ns, silent_after_s)


def _clips(samples: NDArray[np.int16], peak: float) -> bool:
    """Whether several samples in a row stand at full scale: one alone may be a click."""
    if peak < CLIP_AT:
        return False
    high = np.abs(samples.astype(np.int32)) >= CLIP_AT
    runs = np.convolve(high, np.ones(CLIP_RUN), mode="valid") if high.size >= CLIP_RUN else high
    return bool((runs >= CLIP_RUN).any())


def _judge(hearing: VoiceActivity, start_ns: int, silent_after_s: float) -> VoiceActivity:
    now = hearing.now_ns
    state, since = hearing.state, start_ns
    zeros = hearing.zeros_since_ns
    if zeros is not None and now - zeros >= ZEROS_AFTER_S * 1e9:
        state, since = "zeros", zeros
    elif hearing.clipped_ns is not None and now - hearing.clipped_ns < CLIP_HOLD_S * 1e9:
        state = "clipping"
    elif hearing.silent_for_s >= silent_after_s:
        last = hearing.voice_ns if hearing.voice_ns is not None else hearing.started_ns
        state, since = "silent", start_ns if last is None else last
    elif hearing.voice_ns is not None and zeros is None:
        state = "heard"
    if state == hearing.state:
        return hearing
    return replace(hearing, state=state, since_ns=since)
