"""The stream from the microphone: a callback that copies, and a bounded queue.

The callback runs on PortAudio's thread and needs Python's lock each time. So it is called rarely
(every 50 ms), does nothing but copy, and wakes nobody. It runs in a process of its own; see
`process`.

Time of the first frame. PortAudio gives (ADC time, current time) for each callback; their
difference d says how old the first frame is. On ALSA's PulseAudio plug-in d is wrong in two ways:
off by hundreds of milliseconds for the first second or two, and afterwards 5 to 15 ms for blocks of
20 ms, although the first frame of a block must have been captured at least one block before the
block could be handed over. `Packet.age_s` therefore never falls below the block's own length. With
that bound clicks land within 1 ms of the player's DAC times, without it 6 to 18 ms late, changing
from run to run (measured with benchmarks/sound_clicks.py).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from labapp.audio import portaudio
from labapp.audio.devices import Device
from labapp.errors import AudioError
from labapp.messages import Message

SAMPLE_BYTES = 2
LATENCY_S = 0.2
"""Latency that is asked of the host, in s: a recorder need not be quick, but must not lose sound
while the interpreter is busy."""
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


class InputStream(Protocol):
    """An open microphone. pid: the process that the sound server sees recording; beat_ns: when that
    process last showed that it runs, by `time.perf_counter_ns`, None where it is our own."""

    rate: int
    channels: int
    pid: int
    beat_ns: int | None

    def take(self) -> list[Packet]:
        """Everything captured since the last call, oldest first."""
        ...

    @property
    def finished(self) -> bool:
        """True once the host ended the stream by itself: the device is gone."""
        ...

    def close(self) -> None:
        """Close the stream, within a second; what was captured can still be taken."""
        ...


OpenInput = Callable[[Device], InputStream]


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

    Raises
    ------
    AudioError : the device cannot be opened at its own rate.
    """

    def __init__(self, device: Device, rate: int | None = None) -> None:
        sounddevice = portaudio.load()
        self.rate = rate or device.default_rate
        self._finished = False
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
                "microphone_not_opened",
                name=repr(device.label),
                problem=portaudio.in_words(problem),
            ),
            safe="Nothing was recorded from it.",
            todo="Close other programs that use it and check its permission, or choose another.",
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

    def _on_finished(self) -> None:
        self._finished = True

    def take(self) -> list[Packet]:
        """Everything captured since the last call, oldest first."""
        return self._queue.take()

    @property
    def finished(self) -> bool:
        """True once the host ended the stream by itself."""
        return self._finished

    def close(self) -> None:
        """Close the stream; a host whose device is gone may never return from this."""
        self._stream.abort(ignore_errors=True)
        self._stream.close(ignore_errors=True)
