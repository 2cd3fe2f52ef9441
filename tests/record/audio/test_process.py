"""The microphone's own process: it ends with its parent, and cannot take the session with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labapp.base.errors import AudioError
from labapp.record.audio.devices import Device, choose
from labapp.record.audio.process import ProcessInput, open_input
from tests.sound import VirtualMicrophone

ROOT = Path(__file__).resolve().parents[3]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A child that ended but was not waited for is not alive.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def until_frames(stream: ProcessInput, frames: int) -> int:
    deadline = time.monotonic() + 15
    got = 0
    while got < frames:
        assert time.monotonic() < deadline
        got += sum(len(packet.data) // 2 for packet in stream.take())
        time.sleep(0.02)
    return got


def test_a_device_that_is_not_there_is_told_by_the_child() -> None:
    with pytest.raises(AudioError, match="not there any more"):
        open_input(Device(0, "no such microphone", "ALSA", 1, 48000, False))


def test_files_in_the_folder_one_works_in_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit('the wrong queue')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AudioError, match="not there any more"):
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
def test_a_child_that_hangs_is_ended(microphone: VirtualMicrophone) -> None:
    stream = open_input(choose())
    os.kill(stream.pid, signal.SIGSTOP)
    started = time.monotonic()
    stream.close()
    assert time.monotonic() - started < 10
    assert not alive(stream.pid)


@pytest.mark.sound
def test_a_child_that_dies_is_a_device_that_is_gone(microphone: VirtualMicrophone) -> None:
    stream = open_input(choose())
    os.kill(stream.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while not stream.finished:
        assert time.monotonic() < deadline
        time.sleep(0.02)
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
    deadline = time.monotonic() + 10
    while alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)
