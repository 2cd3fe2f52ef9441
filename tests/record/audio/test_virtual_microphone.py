from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.sound import SCRIPT, VirtualMicrophone

pytestmark = pytest.mark.sound


def test_starting_twice_is_starting_once(microphone: VirtualMicrophone) -> None:
    pid = (microphone.folder / "pulse" / "pid").read_text()
    again = microphone.script("start")
    assert again.returncode == 0
    assert f"export PULSE_SERVER='unix:{microphone.folder}/pulse/native'" in again.stdout
    assert (microphone.folder / "pulse" / "pid").read_text() == pid
    assert microphone.script("status").returncode == 0
    assert microphone.pactl("get-default-source").strip() == "mic"


def test_stopping_twice_is_harmless(microphone: VirtualMicrophone) -> None:
    microphone.stop()
    assert microphone.script("status").returncode == 3
    assert microphone.script("stop").returncode == 0


def test_the_pid_of_another_program_is_left_alone(
    microphone: VirtualMicrophone, tmp_path: Path
) -> None:
    other = VirtualMicrophone(tmp_path)
    (tmp_path / "pulse").mkdir()
    (tmp_path / "pulse" / "pid").write_text(str(os.getpid()))
    assert other.script("status").returncode == 3
    assert other.script("stop").returncode == 0


def test_without_pulseaudio_it_says_what_to_install(tmp_path: Path) -> None:
    for tool in ("sh", "id", "cat"):
        (tmp_path / tool).symlink_to(f"/bin/{tool}" if tool != "id" else "/usr/bin/id")
    done = subprocess.run(
        [str(SCRIPT), "start"], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "apt-get install" in done.stderr
