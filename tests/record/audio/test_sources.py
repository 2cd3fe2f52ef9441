from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from labapp.record.audio import devices
from labapp.record.audio.devices import PulseWatcher, behind_sound_server

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


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def watcher(server: Server) -> Any:
    watching = PulseWatcher(period_s=0.02)
    watching.follow(PID)
    until(lambda: watching.source == "mic")
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
    until(lambda: watcher.gone())
    assert watcher.gone() == "mic is gone; the sound server moved the recording to monitor"
    assert not watcher.available()


def test_a_stream_moved_although_its_source_is_there_is_moved_back(
    server: Server, watcher: PulseWatcher
) -> None:
    server.streams[7] = (PID, 0)
    until(lambda: server.moves)
    assert server.moves[0] == ("move-source-output", "7", "mic")
    assert watcher.gone() is None


def test_a_stream_that_the_server_forgot_is_gone(server: Server, watcher: PulseWatcher) -> None:
    del server.streams[7]
    until(lambda: watcher.gone())


def test_a_server_that_died_is_gone_and_not_available(
    server: Server, watcher: PulseWatcher
) -> None:
    server.alive = False
    until(lambda: watcher.gone())
    assert not watcher.available()


def test_after_a_loss_the_same_source_is_wanted_again(
    server: Server, watcher: PulseWatcher
) -> None:
    del server.sources[1]
    server.streams = {7: (PID, 0)}
    until(lambda: watcher.gone())
    watcher.unfollow()
    assert watcher.gone() is None
    server.sources[5] = "mic"
    assert watcher.available()
    server.streams = {9: (PID, 0)}
    watcher.follow(PID)
    until(lambda: server.streams[9][1] == 5)
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
