"""Listens to the microphone without recording, for the checklist and `labapp doctor`."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import AudioError, DeviceGone
from labapp.base.messages import Message
from labapp.record.audio import devices
from labapp.record.audio.devices import Device
from labapp.record.audio.process import OpenInput, ProcessInput, open_input
from labapp.record.audio.recorder import FIRST_PACKET_S, STALL_S, TICK_S, Level
from labapp.record.audio.track import FLOOR_DBFS, VoiceActivity, dbfs, hear, mono

TONE_HZ = 1000.0
TONE_DBFS = -20.0


class MicrophoneProbe:
    """Listens to a microphone for a meter; keeps nothing but the last `keep_s` seconds in memory.

    Call `close` at the end (or use `contextlib.closing`). Raises AudioError: the microphone cannot
    be opened.
    """

    def __init__(
        self,
        device: Device,
        *,
        keep_s: float = 0.0,
        silent_after_s: float = 5.0,
        open_input: OpenInput = open_input,
    ) -> None:
        self.device = device
        self._stream = open_input(device)
        self.rate = self._stream.rate
        self._keep_frames = round(keep_s * self.rate)
        self._kept: deque[bytes] = deque()
        self._kept_frames = 0
        self._silent_after_s = silent_after_s
        self._hearing = VoiceActivity()
        self._level = Level(rate=self.rate)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="labapp-sound-probe", daemon=True)
        self._thread.start()

    def level(self) -> Level:
        """The latest snapshot, at most a tenth of a second old; safe from any thread."""
        return self._level

    def samples(self) -> NDArray[np.int16]:
        """What was kept, (n,) int16 mono."""
        return np.frombuffer(b"".join(tuple(self._kept)), dtype="<i2")

    def close(self) -> None:
        """Give the microphone back."""
        self._closing.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        stream = self._stream
        idle_s = 0.0
        try:
            while not self._closing.wait(TICK_S):
                heard = self._drain(stream)
                idle_s = 0.0 if heard else idle_s + TICK_S
                limit = STALL_S if self._hearing.started_ns is not None else FIRST_PACKET_S
                if stream.finished or idle_s > limit:
                    problem = Message("microphone_dead", device=self.device.label)
                    self._level = replace(self._level, state="lost", problem=problem)
                    return
        finally:
            stream.close()

    def _drain(self, stream: ProcessInput) -> bool:
        packets = stream.take()
        for packet in packets:
            data = mono(packet.data, stream.channels)
            samples: NDArray[np.int16] = np.frombuffer(data, dtype="<i2")
            start_ns = packet.perf_ns - round(packet.age_s(samples.size / self.rate) * 1e9)
            self._hearing = hear(
                self._hearing, samples, start_ns, self.rate, silent_after_s=self._silent_after_s
            )
            if not self._keep_frames:
                continue
            self._kept.append(data)
            self._kept_frames += len(data) // 2
            while self._kept_frames - len(self._kept[0]) // 2 >= self._keep_frames:
                self._kept_frames -= len(self._kept.popleft()) // 2
        if packets:
            hearing = self._hearing
            self._level = Level(
                state=hearing.state or "starting",
                peak_dbfs=hearing.peak_dbfs,
                rms_dbfs=hearing.rms_dbfs,
                silent_for_s=hearing.silent_for_s,
                rate=self.rate,
                envelope=hearing.envelope,
            )
        return bool(packets)


@dataclass(frozen=True, slots=True)
class RecordTest:
    """What a test recording heard: its peak and its loudest 50 ms (`rms_dbfs`), in dBFS.

    zeros : whether every sample was 0.
    """

    device: str
    rate: int
    frames: int
    peak_dbfs: float
    rms_dbfs: float
    zeros: bool
    samples: NDArray[np.int16]


def record_test(device: Device, seconds: float) -> RecordTest:
    """Record for some seconds into memory, counted from the first sound that arrives. Raises
    AudioError: the microphone cannot be opened; DeviceGone: it gives no sound."""
    with closing(MicrophoneProbe(device, keep_s=seconds)) as probe:
        samples = _wait_for(probe, seconds)
    values = samples.astype(np.float64) / 32768.0
    step = max(1, probe.rate // 20)
    blocks = values[: values.size - values.size % step].reshape(-1, step)
    loudest = float(np.sqrt((blocks**2).mean(axis=1)).max()) if blocks.size else 0.0
    peak = float(np.abs(values).max()) if values.size else 0.0
    return RecordTest(
        probe.device.label,
        probe.rate,
        samples.size,
        dbfs(peak),
        dbfs(loudest),
        peak == 0.0,
        samples,
    )


@dataclass(frozen=True, slots=True)
class LoopbackCheck:
    """Whether a tone that was played was heard.

    tone_dbfs, before_dbfs : level at the tone's frequency while it was played, and before.
    """

    heard: bool
    tone_dbfs: float
    before_dbfs: float
    device: str


def loopback(device: Device, seconds: float = 1.0) -> LoopbackCheck:
    """Play a soft tone on the default output and listen for it.

    A headset's microphone need not hear it: not heard is a hint, not a failure. Raises AudioError:
    microphone or output cannot be opened; DeviceGone: the microphone gives no sound.
    """
    sounddevice = devices.load()
    with closing(MicrophoneProbe(device, keep_s=seconds)) as probe:
        before = tone_level(_wait_for(probe, seconds), probe.rate)
        length = np.arange(round((seconds + 1.0) * probe.rate))
        tone = 10 ** (TONE_DBFS / 20) * np.sin(2 * np.pi * TONE_HZ * length / probe.rate)
        try:
            # The output's own buffers hold the tone back at first, so listen until its end.
            sounddevice.play(tone.astype(np.float32), probe.rate, blocking=False)
            deadline = time.monotonic() + seconds + 1.5
            during = FLOOR_DBFS
            while time.monotonic() < deadline:
                time.sleep(TICK_S)
                during = max(during, tone_level(probe.samples(), probe.rate))
        except (sounddevice.PortAudioError, ValueError) as error:
            raise AudioError(
                f"The sound output could not be opened: {devices.in_words(error)}.",
                safe="The microphone works on its own.",
                todo="Choose an output in the system's sound settings.",
            ) from error
        finally:
            sounddevice.stop()
    heard = during > before + 10.0 and during > -70.0
    return LoopbackCheck(heard, during, before, device.label)


def tone_level(samples: NDArray[np.int16], rate: int, hz: float = TONE_HZ) -> float:
    """Level of one frequency in (n,) samples, dBFS; a full-scale sine is 0."""
    if samples.size == 0:
        return FLOOR_DBFS
    turns = np.exp(-2j * np.pi * hz / rate * np.arange(samples.size))
    return dbfs(2.0 * float(np.abs(np.dot(turns, samples / 32768.0))) / samples.size)


def _wait_for(probe: MicrophoneProbe, seconds: float) -> NDArray[np.int16]:
    wanted = round(seconds * probe.rate)
    deadline = time.monotonic() + seconds + FIRST_PACKET_S + 1.0
    while (samples := probe.samples()).size < wanted:
        level = probe.level()
        if level.state == "lost" or time.monotonic() > deadline:
            raise DeviceGone(
                f"The microphone {probe.device.label!r} delivers no sound.",
                safe="Nothing was recorded.",
                todo="Plug it in again, or choose another one.",
            )
        time.sleep(TICK_S)
    return samples[-wanted:]
