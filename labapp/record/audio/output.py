"""The loudspeaker in a process of its own, for the reasons that the microphone has one.

PortAudio can hang in native code for ever, looking for microphones ends every stream of a process,
and a busy window would be heard as crackling (see `process`).

What is played are mono samples of 16 bits, numbered in the order in which they are sent. `flush`
takes back what is not played yet, so that a seek is heard at once. For every block that the device
takes, a report says which samples were in it and when they are heard.

On the pipe to the child: a header and samples, or a header alone to flush. From it: one JSON line
(rate; or an error's what, safe and todo), then reports. The child ends when its input does.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import struct
import sys
import threading
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from labapp.base.errors import AudioError
from labapp.base.messages import Message, coded, decoded
from labapp.record.audio import devices

LATENCY_S = 0.05
"""Latency that is asked of the host: so late a seek is heard, and so long may this process wait for
its turn on a busy machine before sound breaks off."""
RAMP_S = 0.005
"""Sound that begins or breaks off does so within this, without a click."""
IDLE_REPORT_S = 0.1
_OPEN_TIMEOUT_S = 10.0
_HEADER = struct.Struct("<cI")
_REPORT = struct.Struct("<qdQQI")
_SAMPLES, _FLUSH = b"S", b"F"
_WIDTH = 2


class Report(NamedTuple):
    """What the device took.

    Attributes
    ----------
    perf_ns : `time.perf_counter_ns` when it did.
    latency_s : how much later the first frame of it is heard, as the host says.
    frame : number of that frame, of all that the device took since it was opened.
    first, samples : the samples sent that it is: the number of the first, and how many; none where
        the device was given silence. `first` is then the number after the last sample it took.
    """

    perf_ns: int
    latency_s: float
    frame: int
    first: int
    samples: int


class ProcessOutput:
    """A loudspeaker opened by a child process. rate: the one that it has, perhaps another than was
    asked for. Raises AudioError: there is none, it cannot be opened, or it does not answer."""

    def __init__(self, device: str, rate: int) -> None:
        self._child = devices.start_child("labapp.record.audio.output", device, str(rate))
        self._lock = threading.Lock()
        self.pid = self._child.pid
        assert self._child.stdout is not None
        late = threading.Timer(_OPEN_TIMEOUT_S, self._child.kill)
        late.start()
        try:
            first = self._child.stdout.readline()
        finally:
            late.cancel()
        answer = json.loads(first) if first.strip() else {}
        if "rate" not in answer:
            self.close()
            raise AudioError(
                decoded(str(answer["what"]), answer.get("message"))
                if "what" in answer
                else Message("speaker_no_answer"),
                safe="A replay goes on without sound.",
                todo="Choose an output in the system's sound settings.",
            )
        self.rate = int(answer["rate"])

    def write(self, samples: bytes) -> None:
        """Send samples to be played after those before. Harmless when it is gone."""
        self._send(_HEADER.pack(_SAMPLES, len(samples)) + samples)

    def flush(self) -> None:
        """Take back what is not played. Harmless when it is gone."""
        self._send(_HEADER.pack(_FLUSH, 0))

    def _send(self, content: bytes) -> None:
        pipe = self._child.stdin
        assert pipe is not None
        with self._lock, suppress(OSError, ValueError):  # gone; closed
            pipe.write(content)
            pipe.flush()

    def reports(self) -> Iterator[Report]:
        """What the device takes, as it does; ends when it is gone or closed."""
        pipe = self._child.stdout
        assert pipe is not None
        while len(content := pipe.read(_REPORT.size)) == _REPORT.size:
            yield Report(*_REPORT.unpack(content))

    def close(self) -> None:
        """Give the device back, at once."""
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                # Another thread may be reading: it finds the end of the pipe.
                with self._lock, suppress(OSError, ValueError):
                    pipe.close()


OpenOutput = Callable[[str, int], ProcessOutput]
"""Opens the loudspeaker of a name (empty: the system's own choice) at a rate in Hz, which the
stream may change."""


def open_output(device: str, rate: int) -> ProcessOutput:
    """Open a loudspeaker in a process of its own. Raises AudioError."""
    return ProcessOutput(device, rate)


class SampleQueue:
    """Between what is received and what the device takes; it waits for neither for long.

    Parameters
    ----------
    ramp : samples in which sound begins and breaks off.
    """

    def __init__(self, ramp: int) -> None:
        self._ramp = ramp
        self._lock = threading.Lock()
        self._parts: deque[tuple[int, array[int]]] = deque()
        self._received = 0
        self._taken = 0
        self._breaks = False

    def put(self, samples: bytes) -> None:
        """Queue samples. After silence they begin softly."""
        part = array("h", samples)
        with self._lock:
            if self._breaks or not self._parts:
                for number in range(min(self._ramp, len(part))):
                    part[number] = part[number] * number // self._ramp
            self._parts.append((self._received, part))
            self._received += len(part)
            self._breaks = False

    def flush(self) -> None:
        """Drop what is queued, but for a few samples in which it dies away."""
        with self._lock:
            if not self._parts:
                return
            first, part = self._parts[0]
            self._parts.clear()
            dying = part[: self._ramp]
            for number in range(len(dying)):
                dying[number] = dying[number] * (len(dying) - number) // len(dying)
            self._parts.append((first, dying))
            self._breaks = True

    def take(self, frames: int) -> tuple[array[int], list[tuple[int, int, int]]]:
        """So many samples, silence where there are too few, and where in them which are: place,
        number of the first, count. Without any: the number after the last one taken."""
        out = array("h", bytes(_WIDTH * frames))
        pieces: list[tuple[int, int, int]] = []
        at = 0
        with self._lock:
            while at < frames and self._parts:
                first, part = self._parts[0]
                count = min(frames - at, len(part))
                out[at : at + count] = part[:count]
                pieces.append((at, first, count))
                if count == len(part):
                    self._parts.popleft()
                else:
                    self._parts[0] = (first + count, part[count:])
                at += count
                self._taken = first + count
            if at < frames:
                pieces.append((at, self._taken, 0))
        return out, pieces


class _Speaker:
    """The child's side: PortAudio takes from the queue, and reports are put where they are sent
    from."""

    def __init__(self, device: str, rate: int) -> None:
        sounddevice = devices.load()
        self.reports: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._frame = 0
        self._next_idle = 0
        problem: Exception | None = None
        name = device or None
        rates = [rate]
        try:
            rates.append(round(sounddevice.query_devices(name, "output")["default_samplerate"]))
        except (sounddevice.PortAudioError, ValueError) as error:
            problem = error
        for self.rate in dict.fromkeys(rates):
            for self._channels in (1, 2):
                self.queue = SampleQueue(round(RAMP_S * self.rate))
                try:
                    self._stream = sounddevice.RawOutputStream(
                        samplerate=self.rate,
                        device=name,
                        channels=self._channels,
                        dtype="int16",
                        latency=LATENCY_S,
                        callback=self._callback,
                        finished_callback=lambda: self.reports.put(None),
                    )
                    self._stream.start()
                except (sounddevice.PortAudioError, ValueError) as error:
                    problem = error
                    continue
                return
        try:
            none = not any(each["max_output_channels"] for each in sounddevice.query_devices())
        except sounddevice.PortAudioError:
            none = False
        refused = Message("speaker_not_opened", problem=devices.in_words(problem))
        raise AudioError(
            Message("speaker_none") if none else refused,
            safe="A replay goes on without sound.",
            todo="Choose an output in the system's sound settings.",
        ) from problem

    def _callback(self, out: Any, frames: int, when: Any, _status: Any) -> None:
        perf_ns = time.perf_counter_ns()
        latency_s = when.outputBufferDacTime - when.currentTime
        samples, pieces = self.queue.take(frames)
        if self._channels == 2:
            both = array("h", bytes(2 * _WIDTH * frames))
            both[0::2] = both[1::2] = samples
            samples = both
        out[:] = samples.tobytes()
        for at, first, count in pieces:
            if count or at or perf_ns >= self._next_idle:
                report = (perf_ns, latency_s + at / self.rate, self._frame + at, first, count)
                self.reports.put(_REPORT.pack(*report))
                self._next_idle = perf_ns + round(IDLE_REPORT_S * 1e9)
        self._frame += frames


def main(device: str, rate: int) -> None:
    """The child: open, tell, then take samples until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = sys.stdout.buffer
    try:
        speaker = _Speaker(device, rate)
    except AudioError as error:
        answer = {"what": error.what, "message": coded(error.what)}
        out.write(json.dumps(answer).encode())
        out.flush()
        return

    def take_in() -> None:
        pipe = sys.stdin.buffer
        while len(header := pipe.read(_HEADER.size)) == _HEADER.size:
            kind, size = _HEADER.unpack(header)
            if kind == _FLUSH:
                speaker.queue.flush()
            else:
                speaker.queue.put(pipe.read(size))
        speaker.reports.put(None)

    threading.Thread(target=take_in, daemon=True).start()
    try:
        out.write(json.dumps({"rate": speaker.rate}).encode() + b"\n")
        out.flush()
        while (report := speaker.reports.get()) is not None:
            out.write(report)
            out.flush()
    except BrokenPipeError:
        pass  # nobody listens any more
    # Not sys.exit: PortAudio's own clean-up at exit may hang, and the system closes everything.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
