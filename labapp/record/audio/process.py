"""The microphone in a process of its own.

PortAudio could take a session down with it. When its device dies at a bad moment, its ALSA part
loops for ever in native code, at full load, writing to stderr a million times a second; closing the
stream or exiting normally does not end it (seen with 19.6.0 when PulseAudio ended before the first
block). A child process can be killed whatever it does. Besides, its callback has an interpreter to
itself: it neither delays a busy window nor is delayed by it.

`time.perf_counter_ns` counts from the same moment in every process of a machine (Linux: monotonic
clock, macOS: Mach time, Windows: performance counter), so packets need no translation.

On the pipe: one JSON line (rate, channels; or an error's what, safe and todo), then packets, each
a fixed header and its data. One without data says that the child runs, so that a child that stands
still can be distinguished from a microphone that gives nothing. The child ends when its standard
input does, and so with its parent.
"""

from __future__ import annotations

import dataclasses
import json
import os
import queue
import signal
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import IO, Any

from labapp.base.errors import AudioError, DeviceGone
from labapp.base.installation import wait_or_kill
from labapp.base.messages import Message, decode_message, encode_message
from labapp.record.audio import devices
from labapp.record.audio.capture import Packet, PortAudioInput
from labapp.record.audio.devices import Device, list_devices

_HEADER = struct.Struct("<qdd?II")
_OPEN_TIMEOUT_S = 10.0
_CLOSE_TIMEOUT_S = 0.5
_BEAT_S = 0.25


class ProcessInput:
    """A microphone opened by a child process. Raises AudioError: the device is not there, cannot be
    opened, or does not answer.

    pid: the process that the sound server sees recording; beat_ns: when it last showed that it
    runs, by `time.perf_counter_ns`; finished: the host ended the stream by itself: the device is
    gone; overhear: is given each packet as it comes, in the thread that reads them.
    """

    def __init__(self, device: Device) -> None:
        described = json.dumps(dataclasses.asdict(device))
        self._child = devices.start_child("labapp.record.audio.process", described)
        self.pid = self._child.pid
        self.rate = self.channels = 0
        self.beat_ns: int | None = time.perf_counter_ns()
        self.finished = False
        self.overhear: Callable[[Packet], None] | None = None
        self._packets: deque[Packet] = deque()
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="labapp-sound-pipe", daemon=True)
        self._reader.start()
        try:
            answer = self._answers.get(timeout=_OPEN_TIMEOUT_S)
        except queue.Empty:
            answer = {}
        if "rate" not in answer:
            self.close()
            raise AudioError(
                decode_message(str(answer["what"]), answer.get("message"))
                if "what" in answer
                else Message("microphone_no_answer", name=repr(device.label)),
                safe=answer.get("safe", "Nothing was recorded from it."),
                todo=answer.get(
                    "todo", "Check the system's sound settings, or choose another microphone."
                ),
            )
        self.rate, self.channels = int(answer["rate"]), int(answer["channels"])

    def take(self) -> list[Packet]:
        """Everything captured since the last call, oldest first."""
        return [self._packets.popleft() for _ in range(len(self._packets))]

    def close(self) -> None:
        """Close the stream, within a second; what was captured can still be taken."""
        child = self._child
        if child.stdin is not None and not child.stdin.closed:
            child.stdin.close()
        wait_or_kill(child, _CLOSE_TIMEOUT_S)
        # What the child had written before it ended is still in the pipe.
        self._reader.join()

    def _read(self) -> None:
        pipe = self._child.stdout
        assert pipe is not None
        with pipe:
            first = pipe.readline()
            self._answers.put(json.loads(first) if first.strip() else {})
            while (packet := _read_packet(pipe)) is not None:
                self.beat_ns = time.perf_counter_ns()
                if packet.data:
                    self._packets.append(packet)
                    if self.overhear is not None:
                        self.overhear(packet)
        self.finished = True


OpenInput = Callable[[Device], ProcessInput]


def open_input(device: Device) -> ProcessInput:
    """Open a microphone, found by its name and host API among the devices of now."""
    return ProcessInput(device)


def _read_packet(pipe: IO[bytes]) -> Packet | None:
    header = pipe.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    perf_ns, adc_s, now_s, overflow, dropped, size = _HEADER.unpack(header)
    data = pipe.read(size)
    return Packet(perf_ns, adc_s, now_s, overflow, dropped, data) if len(data) == size else None


def _write_packet(pipe: IO[bytes], packet: Packet) -> None:
    pipe.write(_HEADER.pack(*packet[:5], len(packet.data)) + packet.data)


def _open(device: Device) -> PortAudioInput:
    """Open a device by its name, at the rate that it has now.

    Indexes are valid in one process only, and a device that comes back may have another rate, the
    only one at which it can be opened.
    """
    match = next((d for d in list_devices(refresh=False) if d.spec == device.spec), None)
    if match is None:
        raise DeviceGone(
            f"The microphone {device.label!r} is no longer available.",
            safe="Nothing was recorded from it.",
            todo="Plug it in again, or choose another one.",
        )
    return PortAudioInput(match, match.default_rate)


def main(description: str) -> None:
    """The child: open, tell, then pass packets on until the parent or the device is gone."""
    # The terminal's Ctrl-C is for the parent, which then ends us in good order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = sys.stdout.buffer
    try:
        stream = _open(Device(**json.loads(description)))
    except AudioError as error:
        answer = {"what": error.what, "message": encode_message(error.what)}
        out.write(json.dumps(answer | {"safe": error.safe, "todo": error.todo}).encode())
        out.flush()
        return
    parent_gone = threading.Event()

    def wait_for_parent() -> None:
        sys.stdin.buffer.read()
        parent_gone.set()
        stream.changed.set()

    threading.Thread(target=wait_for_parent, daemon=True).start()
    try:
        out.write(json.dumps({"rate": stream.rate, "channels": stream.channels}).encode() + b"\n")
        out.flush()
        while not (stream.finished or parent_gone.is_set()):
            stream.changed.wait(_BEAT_S)
            stream.changed.clear()
            if not _pass_on(stream, out):
                _write_packet(out, Packet(time.perf_counter_ns(), 0.0, 0.0, False, 0, b""))
                out.flush()
        _pass_on(stream, out)
    except BrokenPipeError:
        # The parent was killed; there is nobody left to record for.
        pass
    # Not sys.exit: PortAudio's own clean-up at exit may hang, and the system closes everything.
    os._exit(0)


def _pass_on(stream: PortAudioInput, out: IO[bytes]) -> bool:
    """Whether there was anything."""
    packets = stream.take()
    for packet in packets:
        _write_packet(out, packet)
    out.flush()
    return bool(packets)


if __name__ == "__main__":
    main(sys.argv[1])
