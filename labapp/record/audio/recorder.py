"""The recording of one segment: from the microphone to `audio/segment-<NN>.wav`.

PortAudio runs in a child process (`process`), which passes on what its callback copies. Here one
writer comes by ten times a second, writes, syncs once a second, judges the level, and notices when
the device is gone. A caller of `level` reads a snapshot and never waits.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from labapp.base.clock import NS
from labapp.base.errors import AudioError
from labapp.base.messages import Message, encode_message
from labapp.record.audio import devices
from labapp.record.audio.capture import Packet
from labapp.record.audio.devices import Device, PulseWatcher, SourceWatcher
from labapp.record.audio.process import OpenInput, ProcessInput, open_input
from labapp.record.audio.track import FLOOR_DBFS, Emit, Outbox, Track
from labapp.record.events.lifecycle import ProgramStalled
from labapp.record.events.voice import AudioDeviceBack, AudioDeviceLost, AudioStarted

TICK_S = 0.1
RETRY_S = 1.0
STALL_S = 1.0
FIRST_PACKET_S = 5.0
MIN_FREE_BYTES = 256 * 1024 * 1024
Overhear = Callable[[int, int, Packet], None]
"""Takes a rate in Hz, a number of channels, and a packet of sound."""


@dataclass(frozen=True, slots=True)
class Level:
    """What the moderator's voice meter shows.

    Attributes
    ----------
    state : starting, heard, silent, zeros, clipping, lost (no device now) or stopped.
    frames : what was recorded at this rate, or would have been.
    lost_frames : how much of it is silence put in for lost sound.
    last_sync_ns : session time at which sound was last made durable.
    envelope : peaks (0 to 1) of the last 5 s, 20 a second, newest last.
    problem : empty, or why sound is not recorded or not written now, for people.
    """

    state: str = "starting"
    peak_dbfs: float = FLOOR_DBFS
    rms_dbfs: float = FLOOR_DBFS
    silent_for_s: float = 0.0
    frames: int = 0
    lost_frames: int = 0
    rate: int = 0
    last_sync_ns: int | None = None
    envelope: tuple[float, ...] = ()
    problem: str = ""


class Recorder:
    """Records one segment of a session.

    Parameters
    ----------
    folder : the session folder; the file is `audio/segment-<NN>.wav` in it, PCM 16 bit mono at the
        device's own rate; `audio/segment-<NN>-<take>.wav` from the second take on. A device that
        comes back with another rate begins another take: sound is not resampled, and each file has
        its own clock fit.
    segment : number of the run of the program on this session, from 1.
    take : number of the recording in this run: a session whose end is taken back has another.
    device : the microphone.
    emit : takes the events (labapp.record.events.voice, and alarms); called from the thread that
        calls
        `start` and then from the writer thread only. A LabappError from it is survived: the event
        is sent again at the next tick.
    from_perf_ns : session time of a `time.perf_counter_ns` reading (`Clock.from_perf_ns`).
    min_free_bytes : free disk space below which the alarm sound_disk_low is raised.
    silent_after_s : time without a voice after which the state is silent.
    watcher : says when the source behind the device changes; by default `pactl` is asked if the
        device is a door to PulseAudio or PipeWire.
    open_input : how a stream is opened, at first and again after a loss.
    """

    def __init__(
        self,
        folder: Path,
        segment: int,
        device: Device,
        *,
        emit: Emit,
        from_perf_ns: Callable[[int], int],
        min_free_bytes: int = MIN_FREE_BYTES,
        silent_after_s: float = 15.0,
        watcher: SourceWatcher | None = None,
        open_input: OpenInput = open_input,
        take: int = 1,
    ) -> None:
        self._folder, self._segment, self._take = folder, segment, take
        self.name = file_name(segment, take)
        self.path = folder / self.name
        self.device = device
        self._emit = emit
        self._out = Outbox(emit)
        self._earlier_s = self._earlier_lost_s = 0.0
        self._from_perf_ns = from_perf_ns
        self._min_free_bytes = min_free_bytes
        self._silent_after_s = silent_after_s
        behind = devices.behind_sound_server(device.name, device.host_api)
        self._watcher = watcher or (PulseWatcher() if behind else SourceWatcher())
        self._open_input = open_input
        self._stream: ProcessInput | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._level = Level()
        self._idle_s = 0.0
        self._last_tick = 0.0
        self._next_try = 0.0
        self._problem = ""
        self._still_since_ns: int | None = None
        self.overhear: Overhear | None = None
        """Is given what is recorded as it comes, in another thread; it must be quick."""

    def start(self) -> None:
        """Open microphone and file, and begin. Emits AudioStarted. Raises AudioError: the
        microphone cannot be opened, or the file cannot be made; nothing is left open, and an
        existing file is as it was."""
        stream = self._open_input(self.device)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._track = self._new_track(self.name, stream.rate)
        except OSError as error:
            stream.close()
            raise _no_file(self.path, error) from error
        self._track.begin_stream(stream.channels)
        self._stream = stream
        self._let_overhear(stream)
        self._watcher.follow(stream.pid)
        self._last_tick = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="labapp-sound-writer", daemon=True)
        self._thread.start()

    def _let_overhear(self, stream: ProcessInput) -> None:
        def pass_on(packet: Packet) -> None:
            if (overhear := self.overhear) is None or self._stopping.is_set():
                return
            try:
                overhear(stream.rate, stream.channels, packet)
            except Exception:  # noqa: BLE001 (the recording goes on, whatever a listener does)
                self.overhear = None
                traceback.print_exc()

        stream.overhear = pass_on

    def _new_track(self, name: str, rate: int) -> Track:
        """Make a file, and tell. Raises OSError."""
        track = Track(
            self._folder / name,
            name,
            rate,
            out=self._out,
            from_perf_ns=self._from_perf_ns,
            min_free_bytes=self._min_free_bytes,
            silent_after_s=self._silent_after_s,
        )
        device = self.device
        track.emit(AudioStarted(name, device.label, device.host_api, rate, 1, "PCM_16"))
        return track

    def stop(self, timeout_s: float = 5.0) -> None:
        """End the recording: write what is queued, close the file, emit AudioStopped. Harmless when
        not started or stopped before. Raises AudioError: the writer did not end in time (a disk or
        a sound system that hangs)."""
        self._stopping.set()
        thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.join(timeout_s)
        if thread.is_alive():
            raise AudioError(
                f"The sound recording did not stop within {timeout_s:g} s.",
                safe=f"All sound except perhaps the last second is in {self.path}.",
                todo="Close the program; `labapp sessions recover` repairs the file if needed.",
            )

    def again(self) -> Recorder:
        """A recorder with the same settings for the next take of the segment, or for this take if
        it never began."""
        again = Recorder(
            self._folder,
            self._segment,
            self.device,
            emit=self._emit,
            from_perf_ns=self._from_perf_ns,
            min_free_bytes=self._min_free_bytes,
            silent_after_s=self._silent_after_s,
            open_input=self._open_input,
            take=self._take + self.path.exists(),
        )
        again.overhear = self.overhear
        return again

    def level(self) -> Level:
        """The latest snapshot, at most a tenth of a second old; safe from any thread."""
        return self._level

    def _run(self) -> None:
        try:
            while not self._stopping.wait(TICK_S):
                self._tick()
        finally:
            self._finish()

    def _tick(self) -> None:
        now = time.monotonic()
        # A machine that slept or an interpreter that hung must not look like a silent device.
        elapsed = min(now - self._last_tick, 1.5 * TICK_S)
        self._last_tick = now
        if self._stream is None:
            if now >= self._next_try:
                self._try_again()
        else:
            self._drain(self._stream, elapsed)
        self._track.tick()
        self._level = self._snapshot()

    def _drain(self, stream: ProcessInput, elapsed: float) -> None:
        packets = stream.take()
        self._idle_s = 0.0 if packets else self._idle_s + elapsed
        self._track.take(packets)
        if packets and self._problem:
            self._problem = ""
            self._say_stalled()
            self._track.emit(AudioDeviceBack(self.device.label))
        reason = self._loss(stream)
        if reason:
            self._lose(stream, reason)

    def _loss(self, stream: ProcessInput) -> str:
        """Why the stream must be given up, or empty."""
        if stream.finished:
            return "the device ended the recording"
        limit = STALL_S if self._track.capturing else FIRST_PACKET_S
        if self._idle_s > limit:
            beat_ns = stream.beat_ns
            # A process that runs gives a sign of life four times a second, the last perhaps shortly
            # after its last sound.
            if beat_ns is not None and time.perf_counter_ns() - beat_ns > STALL_S / 2 * NS:
                self._still_since_ns = beat_ns
                return "the sound recorder froze and is being restarted"
            return Message("microphone_stalled", seconds=limit)
        return self._watcher.gone() or ""

    def _say_stalled(self) -> None:
        """The process that recorded stood still, until another one took its place."""
        if self._still_since_ns is None:
            return
        from_ns = self._from_perf_ns(self._still_since_ns)
        lasted_ns = self._from_perf_ns(time.perf_counter_ns()) - from_ns
        self._still_since_ns = None
        self._track.emit(ProgramStalled("recorder", max(0, from_ns), lasted_ns))

    def _lose(self, stream: ProcessInput, reason: str) -> None:
        self._watcher.unfollow()
        self._stream = None
        self._next_try = time.monotonic() + RETRY_S
        known, self._problem = self._problem, Message("microphone_lost", reason=reason)
        self._level = self._snapshot()  # before listeners hear of it: they may look at it
        if not known:
            self._track.emit(
                AudioDeviceLost(self.device.label, str(reason), encode_message(reason))
            )
        stream.close()
        self._track.take(stream.take())
        self._track.end_stream()

    def _try_again(self) -> None:
        if self._watcher.available():
            try:
                stream = self._open_input(self.device)
            except AudioError:
                stream = None
            if stream is not None and not self._fits(stream):
                stream.close()
                stream = None
            if stream is not None:
                self._stream, self._idle_s = stream, 0.0
                self._let_overhear(stream)
                self._track.begin_stream(stream.channels)
                self._watcher.follow(stream.pid)
        self._next_try = time.monotonic() + RETRY_S

    def _fits(self, stream: ProcessInput) -> bool:
        """Whether the stream can be recorded: into the file there is, or if its rate is another
        into a new one. False if that cannot be made; it is tried again."""
        before = self._track
        if stream.rate == before.rate:
            return True
        name = file_name(self._segment, self._take + 1)
        try:
            track = self._new_track(name, stream.rate)
        except OSError as error:
            self._problem = Message("microphone_lost", reason=str(error))
            return False
        # Silence to here: what is missing of the time before the new file is seen in the old one.
        before.fill_until(time.perf_counter_ns())
        before.close()
        self._earlier_s += before.frames / before.rate
        self._earlier_lost_s += before.lost_frames / before.rate
        self._take, self.name, self.path = self._take + 1, name, self._folder / name
        self._track = track
        return True

    def _finish(self) -> None:
        stream, self._stream = self._stream, None
        self._watcher.unfollow()
        self._say_stalled()
        if stream is not None:
            stream.close()
            self._track.take(stream.take())
        if stream is not None and self._track.capturing:
            self._track.end_stream()
        else:
            self._track.fill_until(time.perf_counter_ns())
        self._track.close()
        self._level = self._snapshot()
        self._watcher.close()

    def _snapshot(self) -> Level:
        track = self._track
        hearing = track.hearing
        state: str = hearing.state or "starting"
        if self._problem:
            state = "lost"
        elif self._stopping.is_set() and self._stream is None:
            state = "stopped"
        lost = state == "lost"
        return Level(
            state=state,
            peak_dbfs=FLOOR_DBFS if lost else hearing.peak_dbfs,
            rms_dbfs=FLOOR_DBFS if lost else hearing.rms_dbfs,
            silent_for_s=hearing.silent_for_s,
            frames=track.frames + round(self._earlier_s * track.rate),
            lost_frames=track.lost_frames + round(self._earlier_lost_s * track.rate),
            rate=track.rate,
            last_sync_ns=track.last_sync_ns,
            envelope=hearing.envelope,
            problem=self._problem or track.write_problem,
        )


def file_name(segment: int, take: int) -> str:
    """The name of a sound file in the session folder."""
    return f"audio/segment-{segment:02d}{'' if take == 1 else f'-{take}'}.wav"


def next_take(folder: Path, segment: int) -> int:
    """The number of the next recording in a run."""
    return next(take for take in count(1) if not (folder / file_name(segment, take)).exists())


def _no_file(path: Path, error: OSError) -> AudioError:
    if isinstance(error, FileExistsError) and path.exists():
        return AudioError(
            f"The sound file {path} already exists and is never overwritten.",
            safe="The file is unchanged.",
            todo="Continue the session with `labapp sessions resume`, which starts a new file.",
        )
    return AudioError(
        f"The sound file {path} cannot be created: {error.strerror or error}.",
        safe="Nothing was recorded, and the session folder is unchanged.",
        todo="Free some space, or choose another data folder (--data).",
    )
