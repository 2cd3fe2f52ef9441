"""Plays the sound of a session, at any speed, and knows what of it is heard now.

A window asks `heard_ns` for every picture that it draws: so picture and sound cannot drift apart.
Sound is made 150 ms ahead, in hops of 20 ms (`wsola`), and sent to the loudspeaker (`output`).
Without a loudspeaker, or until it is open, the same playhead moves by the machine's clock.

What is heard now is known by two maps, from the reports of the device to the samples, and from
these to session time. `HeardSamples` knows when each sample that was sent is heard, by the times
that the device gives: a single one of these jitters by milliseconds, so the median of half a second
is taken. `SessionTimes` knows which session time each sample has.

Speech slower or faster at its own pitch: overlap-add of similar waveforms (WSOLA).

Sound is put together from windows of 40 ms that overlap by half. Each is taken from about the place
that is due at this speed, within 10 ms of it where it is most like what would follow the one
before: so periods of a voice meet in phase, and its pitch stays. At the speed 1 the very same
samples come out. Faster sound leaves some out: a click of a millisecond may be among them.

The loudspeaker in a process of its own, for the reasons that the microphone has one.

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
import statistics
import struct
import sys
import threading
import time
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from labapp.base.clock import NS
from labapp.base.errors import AudioError
from labapp.base.messages import Message, decode_message, encode_message
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
    first, samples : the samples sent that it is: the number of the first, and how many; none if
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
        self._child = devices.start_child("labapp.record.audio.player", device, str(rate))
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
                decode_message(str(answer["what"]), answer.get("message"))
                if "what" in answer
                else Message("speaker_no_answer"),
                safe="The replay continues without sound.",
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
    """Between what is received and what the device takes; it waits for neither for long. ramp:
    samples in which sound begins and breaks off."""

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
        """Drop what is queued, except a few samples in which the sound fades out."""
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
        """So many samples, silence if there are too few, and where in them which are: place,
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
            safe="The replay continues without sound.",
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
        answer = {"what": error.what, "message": encode_message(error.what)}
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


DEFAULT = ""
"""The loudspeaker that the system chose."""
AHEAD_S = 0.15
"""So much sound is made before it is heard, so that a busy moment of the program is not."""
GRAIN_S = 0.06
GRAIN_EVERY_S = 0.04
SHORTEST_LOOP_NS = NS // 10
LATE_S = 0.5
STALL_S = 1.5
_FADE_S = 0.01


class SoundSource(Protocol):
    """What is played: `SessionSound`, for one."""

    @property
    def rate(self) -> int:
        """Frames a second."""
        ...

    @property
    def begin_ns(self) -> int: ...
    @property
    def end_ns(self) -> int: ...
    def read(self, t0_ns: int, frames: int) -> NDArray[np.int16]: ...


class Player:
    """Plays a session.

    All times are session time in ns. Every method may be called from any thread, and none waits for
    the device: it is opened in the background, and until then the playhead moves without sound.

    Parameters
    ----------
    source : what is played.
    device : str or None
        Name of the loudspeaker, `DEFAULT` for the system's choice; None to replay without sound.
    open_output : how it is opened.
    """

    def __init__(
        self,
        source: SoundSource,
        device: str | None = DEFAULT,
        *,
        open_output: OpenOutput = open_output,
    ) -> None:
        self._source = source
        self._device = device
        self._open_output = open_output
        self._lock = threading.RLock()
        self._wall = WallClock(source.begin_ns, source.end_ns)
        self._output: ProcessOutput | None = None
        self._opener: threading.Thread | None = None
        self._closed = False
        self.problem = ""
        """Why nothing is heard, as a sentence; empty if sound is, or is being opened."""
        self._target = float(source.begin_ns)
        self._playing = False
        self.speed = 1.0
        self.loop: tuple[int, int] | None = None
        self._times = SessionTimes()
        self._heard = HeardSamples(source.rate)
        self._latest = 0.0
        self._sent = self._fresh = 0
        self._made = 0.0
        self._at_end = False
        self._grain_ns: int | None = None
        self._next_grain = 0
        self._late_since: int | None = None
        self._stretcher = Stretcher(self._frames, source.rate)
        self._rate = source.rate
        self._open()

    @property
    def sounding(self) -> bool:
        """Whether a loudspeaker is open."""
        return self._output is not None

    @property
    def playing(self) -> bool:
        """False also once the end was heard."""
        self.heard_ns()
        with self._lock:
            return self._playing

    def heard_ns(self) -> int:
        """The position that is heard now; after a seek, the target position until the sound from
        there is heard. While it plays, it only moves forward, except for the jump of a loop."""
        with self._lock:
            now_ns = time.perf_counter_ns()
            self._watch(now_ns)
            return self._clip(self._position(now_ns))

    def play(self) -> None:
        """Go on from what was heard last. At the end of the session nothing happens."""
        with self._lock:
            now_ns = time.perf_counter_ns()
            t_ns = self._position(now_ns)
            if self._playing or t_ns >= self._source.end_ns:
                return
            if self._output is not None:
                # What the device took is heard, though it was paused meanwhile.
                t_ns = self._times.at(self._heard.taken) or t_ns
            self._playing = True
            self._go_on_from(self._clip(t_ns), now_ns)
        self._open()

    def try_again(self) -> None:
        """Look for the loudspeaker again, if none is open."""
        self._open()

    def pause(self) -> None:
        """Stop after what the device took already."""
        with self._lock:
            now_ns = time.perf_counter_ns()
            t_ns = self._position(now_ns)
            self._playing = False
            if self._output is not None:
                self._output.flush()
                self._fresh = self._sent
            else:
                self._set_wall(now_ns, t_ns)

    def seek(self, t_ns: int) -> None:
        """Go to another time, playing or not. A time outside the session is its nearest."""
        with self._lock:
            self._go_on_from(self._clip(t_ns), time.perf_counter_ns())

    def set_speed(self, speed: float) -> None:
        """Play slower or faster, 0.25 to 3, at the same pitch. What is made already sounds
        first."""
        with self._lock:
            now_ns = time.perf_counter_ns()
            t_ns = self._position(now_ns)
            self.speed = min(max(float(speed), SLOWEST), FASTEST)
            if self._output is None:
                self._set_wall(now_ns, t_ns)

    def set_loop(self, t0_ns: int | None, t1_ns: int | None = None) -> None:
        """Play a stretch again and again: whenever its end is reached, go to its beginning. None:
        no more. One of less than a tenth of a second is made as long."""
        with self._lock:
            now_ns = time.perf_counter_ns()
            t_ns = self._position(now_ns)
            self.loop = None
            if t0_ns is not None and t1_ns is not None:
                first = self._clip(min(t0_ns, t1_ns))
                last = min(max(t0_ns, t1_ns, first + SHORTEST_LOOP_NS), self._source.end_ns)
                self.loop = (first, last) if last > first else None
            if self._output is None:
                self._set_wall(now_ns, t_ns)

    def scrub(self, t_ns: int) -> None:
        """Stop there, and let 60 ms of what is there be heard; of many in a row 25 a second."""
        with self._lock:
            now_ns = time.perf_counter_ns()
            # The grain before sounds until there is another.
            if self._playing and self._output is not None:
                self._output.flush()
            self._playing = False
            self._aim(self._clip(t_ns), now_ns)
            self._grain_ns = self._clip(t_ns)
            self._send_grain(now_ns)

    def close(self) -> None:
        """Give the loudspeaker back. Harmless when closed before."""
        with self._lock:
            self._closed, self._playing = True, False
            output, self._output = self._output, None
        if output is not None:
            output.close()

    def _clip(self, t_ns: float) -> int:
        return min(max(round(t_ns), self._source.begin_ns), self._source.end_ns)

    def _position(self, now_ns: int) -> float:
        if self._output is None:
            t_ns = self._wall.at(now_ns)
            self._playing = self._wall.playing
            return t_ns
        self._latest = max(self._latest, self._heard.at(now_ns))
        t_ns_or_none = self._times.at(self._latest)
        if self._at_end and (self._latest >= self._sent or self._sent == self._fresh):
            self._playing = self._at_end = False
            self._target = float(self._source.end_ns)
            self._times.clear()
            return self._target
        return self._target if t_ns_or_none is None else t_ns_or_none

    def _go_on_from(self, t_ns: int, now_ns: int) -> None:
        """Forget what was to come, and continue there."""
        if self._output is not None:
            self._output.flush()
        self._aim(t_ns, now_ns)
        self._make()

    def _aim(self, t_ns: int, now_ns: int) -> None:
        """What is made from now on begins there."""
        self._target, self._at_end, self._grain_ns = float(t_ns), False, None
        if self._output is None:
            self._set_wall(now_ns, t_ns)
            return
        self._fresh = self._sent
        self._times.clear()
        self._stretcher.seek((t_ns - self._source.begin_ns) * self._rate / NS)
        self._made = float(t_ns)

    def _set_wall(self, now_ns: int, t_ns: float) -> None:
        self._wall.set(now_ns, t_ns, playing=self._playing, speed=self.speed, loop=self.loop)

    def _make(self) -> None:
        """Make sound as far ahead as it should be, and send it."""
        ahead = round(AHEAD_S * self._rate)
        output, stretcher, begin_ns = self._output, self._stretcher, self._source.begin_ns
        # Nor is more sent to one that takes nothing: it would not take that either.
        while (
            output is not None
            and self._playing
            and not self._at_end
            and not self._late(time.perf_counter_ns())
            and self._sent - max(self._heard.taken, self._fresh) < ahead
        ):
            due_ns = begin_ns + stretcher.at * NS / self._rate
            if self.loop is not None and due_ns >= self.loop[1]:
                stretcher.jump((self.loop[0] - begin_ns) * self._rate / NS)
                self._made = float(self.loop[0])
            elif due_ns >= self._source.end_ns:
                self._at_end = True
                return
            hop = stretcher.hop(self.speed)
            # The playhead does not go back with slow sound that says something again.
            first, last = (
                max(self._made, begin_ns + frame * NS / self._rate)
                for frame in (hop.first, hop.last)
            )
            self._times.add(self._sent, first, (last - first) / hop.samples.size)
            self._made = last
            self._send(output, hop.samples)

    def _send(self, output: ProcessOutput, samples: NDArray[np.int16]) -> None:
        output.write(samples.astype(np.int16).tobytes())
        self._sent += samples.size

    def _send_grain(self, now_ns: int) -> None:
        """Send the last grain that was asked for, if its time has come."""
        if self._grain_ns is None or self._output is None or now_ns < self._next_grain:
            return
        first = round((self._grain_ns - self._source.begin_ns) * self._rate / NS)
        grain = self._frames(first, round(GRAIN_S * self._rate)).astype(np.float32)
        fade = round(_FADE_S * self._rate)
        rise = np.linspace(0.0, 1.0, fade, dtype=np.float32)
        grain[:fade] *= rise
        grain[-fade:] *= rise[::-1]
        self._output.flush()
        self._fresh = self._sent
        self._send(self._output, np.rint(grain).astype(np.int16))
        self._grain_ns = None
        self._next_grain = now_ns + round(GRAIN_EVERY_S * NS)

    def _frames(self, first: int, frames: int) -> NDArray[np.int16]:
        """The source's sound at the rate of the loudspeaker, counted from the beginning."""
        source = self._source
        t0_ns = source.begin_ns + round(first * NS / self._rate)
        if source.rate == self._rate:
            return source.read(t0_ns, frames)
        step = source.rate / self._rate
        heard = source.read(t0_ns, int(frames * step) + 2)
        places = np.arange(frames) * step
        return np.asarray(np.rint(np.interp(places, np.arange(heard.size), heard)), np.int16)

    def _late(self, now_ns: int) -> bool:
        """Whether the loudspeaker should have taken something since it last did."""
        return now_ns - self._heard.last_ns > LATE_S * NS

    def _watch(self, now_ns: int) -> None:
        """Give the loudspeaker up that takes nothing for long. It is looked at twice: after a long
        moment in which nothing of the program ran, its reports are only waiting to be read."""
        if self._output is None or not self._late(now_ns):
            self._late_since = None
        elif self._late_since is None:
            self._late_since = now_ns
        elif now_ns - self._late_since > STALL_S * NS:
            self._lose(self._output, Message("speaker_stalled"))

    def _open(self) -> None:
        """Begin to open the loudspeaker, if there is to be one and none is."""
        with self._lock:
            if self._device is None or self._output is not None or self._closed:
                return
            if self._opener is not None and self._opener.is_alive():
                return
            self._opener = threading.Thread(
                target=self._follow, args=(self._device,), name="labapp-sound-output", daemon=True
            )
            self._opener.start()

    def _follow(self, device: str) -> None:
        """Open the loudspeaker, then follow what it takes until it is gone."""
        try:
            output = self._open_output(device, self._source.rate)
        except AudioError as error:
            self.problem = error.what
            return
        if not self._take_over(output):
            output.close()
            return
        for report in output.reports():
            with self._lock:
                if self._output is not output:
                    return
                self._heard.add(report)
                self._send_grain(report.perf_ns)
                self._make()
        with self._lock:
            if self._output is output:
                self._lose(output, Message("speaker_lost"))

    def _take_over(self, output: ProcessOutput) -> bool:
        """From the machine's clock to the loudspeaker, where the playhead is now. False if the
        player was closed meanwhile."""
        with self._lock:
            if self._closed:
                return False
            now_ns = time.perf_counter_ns()
            t_ns = self._clip(self._position(now_ns))
            self._rate = output.rate
            self._stretcher = Stretcher(self._frames, output.rate)
            self._heard = HeardSamples(output.rate)
            self._heard.last_ns = now_ns
            self._latest, self._sent, self._fresh = 0.0, 0, 0
            self._output, self.problem = output, ""
            self._go_on_from(t_ns, now_ns)
            return True

    def _lose(self, output: ProcessOutput, problem: Message) -> None:
        """The loudspeaker is gone: go on without it. The next `play` looks for it again."""
        now_ns = time.perf_counter_ns()
        t_ns = self._position(now_ns)
        self._output, self.problem = None, problem
        self._set_wall(now_ns, t_ns)
        threading.Thread(target=output.close, name="labapp-sound-close", daemon=True).start()


_REMEMBERED = 600
_STARTS = 25


class HeardSamples:
    """Which sample is heard at a time.

    Parameters
    ----------
    rate : frames a second of the device.

    Attributes
    ----------
    taken : number after the last sample that the device took.
    last_ns : `perf_counter_ns` of the last report.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._pieces: deque[Report] = deque(maxlen=_REMEMBERED)
        self._starts: deque[float] = deque(maxlen=_STARTS)
        self._start_ns = 0.0
        self.taken = 0
        self.last_ns = 0

    def add(self, report: Report) -> None:
        """Take in what the device took."""
        self._pieces.append(report)
        self._starts.append(report.perf_ns + (report.latency_s - report.frame / self._rate) * NS)
        self._start_ns = statistics.median(self._starts)
        self.taken = max(self.taken, report.first + report.samples)
        self.last_ns = report.perf_ns

    def at(self, perf_ns: int) -> float:
        """The number of the sample that is heard at a time, with its fraction; of the last one
        before a silence while that lasts."""
        frame = (perf_ns - self._start_ns) * self._rate / NS
        for piece in reversed(self._pieces):
            if piece.frame <= frame:
                return piece.first + min(float(piece.samples), frame - piece.frame)
        return float(self._pieces[0].first) if self._pieces else 0.0


class SessionTimes:
    """Which session time each sample has, piece by piece."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._pieces: list[tuple[float, float]] = []

    def clear(self) -> None:
        """Forget all: what is sent from now on has times of its own."""
        self._firsts, self._pieces = [], []

    def add(self, first: int, t_ns: float, step_ns: float) -> None:
        """From the sample `first` on: its session time, and how much passes with each."""
        self._firsts.append(first)
        self._pieces.append((t_ns, step_ns))
        if len(self._firsts) > 2 * _REMEMBERED:
            del self._firsts[:_REMEMBERED], self._pieces[:_REMEMBERED]

    def at(self, sample: float) -> float | None:
        """The session time in ns; None of a sample before all that are known."""
        index = bisect_right(self._firsts, sample) - 1
        if index < 0:
            return None
        t_ns, step_ns = self._pieces[index]
        return t_ns + (sample - self._firsts[index]) * step_ns


class WallClock:
    """Where a replay without sound is.

    Parameters
    ----------
    begin_ns, end_ns : session time between which it moves.

    Attributes
    ----------
    playing : whether it moves; it stops at the end by itself, which `at` finds out.
    """

    def __init__(self, begin_ns: int, end_ns: int) -> None:
        self._begin_ns, self._end_ns = begin_ns, end_ns
        self._t_ns = float(begin_ns)
        self._since_ns = 0
        self._speed = 1.0
        self._loop: tuple[int, int] | None = None
        self.playing = False

    def set(
        self,
        perf_ns: int,
        t_ns: float,
        *,
        playing: bool,
        speed: float,
        loop: tuple[int, int] | None,
    ) -> None:
        """From now on it is there and moves so."""
        self._since_ns, self._t_ns = perf_ns, t_ns
        self.playing, self._speed, self._loop = playing, speed, loop

    def at(self, perf_ns: int) -> float:
        """The session time in ns at a `perf_counter_ns`."""
        if not self.playing:
            return self._t_ns
        t_ns = self._t_ns + (perf_ns - self._since_ns) * self._speed
        if self._loop is not None and t_ns >= self._loop[1]:
            first, last = self._loop
            # Beyond the end already when the loop was set: from its beginning.
            return first + (t_ns - max(self._t_ns, last)) % (last - first)
        if t_ns >= self._end_ns:
            self.playing, self._t_ns = False, float(self._end_ns)
            return self._t_ns
        return t_ns


SLOWEST, FASTEST = 0.25, 3.0
HOP_S = 0.02
SEARCH_S = 0.01
_SPARSE = 4
"""The best place is looked for on every so manieth sample, and then sample by sample around it."""

Read = Callable[[int, int], NDArray[np.int16]]
"""Samples from a frame on, and how many: as many are given, zeros before and after the sound."""


@dataclass(frozen=True, slots=True)
class Hop:
    """20 ms of output.

    Attributes
    ----------
    samples : (n,) int16
        To be played.
    first, last : int
        The input's frame that is heard at the first of them, and the one that would be at the next
        after them. Slow sound goes back a little now and then, to say a period of a voice again.
    due : the input's frame that was due at the first, from which it is not further than the search
        goes.
    """

    samples: NDArray[np.int16]
    first: int
    last: int
    due: float


class Stretcher:
    """Makes output hop by hop, at a speed that may change with every one.

    Parameters
    ----------
    read : gives the input.
    rate : frames a second of input and output.

    Attributes
    ----------
    at : float
        The input's frame that is due next.
    hop_frames : int
        Samples of a hop.
    """

    def __init__(self, read: Read, rate: int) -> None:
        self._read = read
        self.hop_frames = max(2 * _SPARSE, round(rate * HOP_S))
        self._search = max(_SPARSE, round(rate * SEARCH_S))
        steps = (np.arange(self.hop_frames) + 0.5) / self.hop_frames
        self._rise = (0.5 - 0.5 * np.cos(np.pi * steps)).astype(np.float32)
        self._tail: NDArray[np.float32] | None = None
        self._follows = 0
        self._jumps = False
        self.at = 0.0

    def seek(self, frame: float) -> None:
        """Go on from another frame. What sounds now is not faded out."""
        self.at = frame
        self._tail = None

    def jump(self, frame: float) -> None:
        """The same without a break: what sounds now is faded over into what is there."""
        self.at = frame
        self._jumps = True

    def hop(self, speed: float) -> Hop:
        """The next 20 ms. speed: clipped to what can be made."""
        speed = min(max(speed, SLOWEST), FASTEST)
        frames, due, tail = self.hop_frames, self.at, self._tail
        if tail is None:
            first = place = round(due)
            window = self._floats(place, 2 * frames)
            made = window[:frames]
        else:
            # The middle of a window lies where its middle is due.
            wanted = round(due + frames * (speed - 1.0))
            place = wanted if wanted == self._follows else self._most_alike(wanted, tail)
            first = place if self._jumps else self._follows
            window = self._floats(place, 2 * frames)
            made = tail + (window[:frames] - tail) * self._rise
        self._tail = window[frames:]
        self._follows = place + frames
        self._jumps = False
        self.at = due + frames * speed
        return Hop(np.rint(made).astype(np.int16), first, place + frames, due)

    def _floats(self, place: int, frames: int) -> NDArray[np.float32]:
        return self._read(place, frames).astype(np.float32)

    def _most_alike(self, due: int, tail: NDArray[np.float32]) -> int:
        """The frame near `due` from which the input is most like what follows anyway."""
        reach, frames = self._search, tail.size
        around = self._floats(due - reach, 2 * reach + frames)
        if not tail.any() or not around.any():
            return due
        sparse = likeness(around[::_SPARSE], tail[::_SPARSE])
        near = int(np.argmax(sparse)) * _SPARSE
        first = max(0, near - _SPARSE + 1)
        last = min(2 * reach, near + _SPARSE - 1)
        exact = likeness(around[first : last + frames], tail)
        return due - reach + first + int(np.argmax(exact))


def likeness(around: NDArray[np.float32], tail: NDArray[np.float32]) -> NDArray[np.float64]:
    """The correlation of `tail` with each stretch of `around` that is as long, by its energy."""
    together = np.correlate(around, tail, mode="valid").astype(np.float64)
    energy = np.concatenate(([0.0], np.cumsum(np.square(around, dtype=np.float64))))
    length = tail.size
    own = energy[length:] - energy[:-length]
    # A stretch of near silence is like nothing.
    quiet = 1e-3 * own.max(initial=1.0)
    return np.asarray(together / np.sqrt(np.maximum(own, quiet) + 1.0))
