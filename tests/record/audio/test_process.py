"""The microphone's own process and its sources: it ends with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from labapp.base.errors import AudioError
from labapp.record.audio import devices
from labapp.record.audio.capture import Packet
from labapp.record.audio.devices import Device, PulseWatcher, behind_sound_server, choose
from labapp.record.audio.process import ProcessInput, open_input
from tests.helpers.waiting import wait_for
from tests.sound import VirtualMicrophone

ROOT = Path(__file__).resolve().parents[3]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A child that ended but was not waited for is not alive.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def until_frames(stream: ProcessInput, frames: int) -> None:
    got: list[Packet] = []

    def enough() -> bool:
        got.extend(stream.take())
        return sum(len(packet.data) // 2 for packet in got) >= frames

    wait_for(enough)


def test_a_device_that_is_not_there_is_told_by_the_child() -> None:
    with pytest.raises(AudioError, match="no longer available"):
        open_input(Device(0, "no such microphone", "ALSA", 1, 48000, False))


def test_files_in_the_folder_one_works_in_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit('the wrong queue')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AudioError, match="no longer available"):
        open_input(Device(0, "no such microphone", "ALSA", 1, 48000, False))


@pytest.mark.sound
def test_sound_comes_through_and_the_child_ends_when_closed(microphone: VirtualMicrophone) -> None:
    stream = open_input(choose())
    assert (stream.rate, stream.channels) == (48000, 1)
    until_frames(stream, 24000)
    assert not stream.finished
    stream.close()
    assert stream.finished
    assert not alive(stream.pid)
    stream.close()


@pytest.mark.sound
def test_a_listener_hears_what_is_recorded(microphone: VirtualMicrophone) -> None:
    stream = open_input(choose())
    heard: list[Packet] = []
    stream.overhear = heard.append
    taken: list[Packet] = []
    wait_for(lambda: len(taken) >= 20, lambda: taken.extend(stream.take()))
    stream.close()
    taken += stream.take()
    assert heard
    assert taken[-len(heard) :] == heard
    assert max(len(packet.data) for packet in taken) <= 0.03 * stream.rate * 2, "it comes soon"


@pytest.mark.sound
def test_a_child_that_hangs_is_ended(microphone: VirtualMicrophone) -> None:
    stream = open_input(choose())
    os.kill(stream.pid, signal.SIGSTOP)
    started = time.monotonic()
    stream.close()
    assert time.monotonic() - started < 30
    assert not alive(stream.pid)


@pytest.mark.sound
def test_a_child_that_dies_is_a_device_that_is_gone(microphone: VirtualMicrophone) -> None:
    stream = open_input(choose())
    os.kill(stream.pid, signal.SIGKILL)
    wait_for(lambda: stream.finished)
    stream.close()


@pytest.mark.sound
def test_the_server_ending_before_the_first_sound_cannot_hang_us(
    microphone: VirtualMicrophone,
) -> None:
    # In-process, PortAudio 19.6.0 loops for ever after this, and nothing can end it.
    stream = open_input(choose())
    microphone.stop()
    time.sleep(0.5)
    stream.close()
    assert not alive(stream.pid)


@pytest.mark.sound
def test_the_child_of_a_killed_parent_ends(microphone: VirtualMicrophone) -> None:
    code = (
        "from labapp.record.audio.devices import choose\n"
        "from labapp.record.audio.process import open_input\n"
        "import time; print(open_input(choose()).pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait(10)
    parent.stdout.close()
    wait_for(lambda: not alive(pid))


PID = 4711


class Server:
    """What `pactl` would say. streams: source-output index -> (pid, source index)."""

    def __init__(self) -> None:
        self.sources = {0: "monitor", 1: "mic"}
        self.streams = {7: (PID, 1), 8: (1, 0)}
        self.alive = True
        self.moves: list[tuple[str, ...]] = []

    def pactl(self, *arguments: str) -> Any:
        if not self.alive:
            return None
        if arguments == ("list", "sources"):
            return [
                {
                    "index": i,
                    "name": n,
                    "description": n,
                    "sample_specification": "s16le 2ch 48000Hz",
                }
                for i, n in self.sources.items()
            ]
        if arguments == ("list", "source-outputs"):
            return [
                {"index": i, "source": s, "properties": {"application.process.id": str(pid)}}
                for i, (pid, s) in self.streams.items()
            ]
        if arguments == ("info",):
            return {"default_source_name": "mic"}
        self.moves.append(arguments)
        index = int(arguments[1])
        wanted = next(i for i, name in self.sources.items() if name == arguments[2])
        self.streams[index] = (self.streams[index][0], wanted)
        return []


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    stand_in = Server()
    monkeypatch.setattr(devices, "pactl", stand_in.pactl)
    return stand_in


@pytest.fixture
def watcher(server: Server) -> Any:
    watching = PulseWatcher(period_s=0.02)
    watching.follow(PID)
    wait_for(lambda: watching.source == "mic")
    yield watching
    watching.close()


def test_all_is_well_while_the_source_stays(watcher: PulseWatcher) -> None:
    time.sleep(0.1)
    assert watcher.gone() is None
    assert watcher.available()


def test_a_stream_moved_because_its_source_went_is_gone(
    server: Server, watcher: PulseWatcher
) -> None:
    del server.sources[1]
    server.streams[7] = (PID, 0)
    wait_for(lambda: watcher.gone())
    assert watcher.gone() == "mic is gone, and the sound server now records from monitor"
    assert not watcher.available()


def test_a_stream_moved_although_its_source_is_there_is_moved_back(
    server: Server, watcher: PulseWatcher
) -> None:
    server.streams[7] = (PID, 0)
    wait_for(lambda: server.moves)
    assert server.moves[0] == ("move-source-output", "7", "mic")
    assert watcher.gone() is None


def test_a_stream_that_the_server_forgot_is_gone(server: Server, watcher: PulseWatcher) -> None:
    del server.streams[7]
    wait_for(lambda: watcher.gone())


def test_a_server_that_died_is_gone_and_not_available(
    server: Server, watcher: PulseWatcher
) -> None:
    server.alive = False
    wait_for(lambda: watcher.gone())
    assert not watcher.available()


def test_after_a_loss_the_same_source_is_wanted_again(
    server: Server, watcher: PulseWatcher
) -> None:
    del server.sources[1]
    server.streams = {7: (PID, 0)}
    wait_for(lambda: watcher.gone())
    watcher.unfollow()
    assert watcher.gone() is None
    server.sources[5] = "mic"
    assert watcher.available()
    server.streams = {9: (PID, 0)}
    watcher.follow(PID)
    wait_for(lambda: server.streams[9][1] == 5)
    assert watcher.gone() is None


def test_a_watcher_without_a_server_says_nothing(server: Server) -> None:
    server.alive = False
    watching = PulseWatcher(period_s=0.02)
    watching.follow(PID)
    time.sleep(0.15)
    assert watching.gone() is None
    assert watching.available()
    watching.close()


def test_the_default_source_and_its_rate(server: Server) -> None:
    found = devices.default_source()
    assert found is not None
    assert (found.name, found.rate, found.channels) == ("mic", 48000, 2)
    server.alive = False
    assert devices.default_source() is None


@pytest.mark.parametrize(
    ("name", "host_api", "behind"),
    [
        ("pulse", "ALSA", True),
        ("default", "ALSA", True),
        ("anything", "PulseAudio", True),
        ("USB Mic: Audio (hw:1,0)", "ALSA", False),
        ("Built-in Microphone", "Core Audio", False),
    ],
)
def test_which_devices_are_doors_to_a_sound_server(name: str, host_api: str, behind: bool) -> None:
    assert behind_sound_server(name, host_api) is behind
