"""The sound server ends in the middle of a session: an alarm and events, not a crash."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from labapp.record.journal.opening import open_record
from labapp.record.journal.read import read_rows
from tests.end_to_end.conftest import environment
from tests.end_to_end.test_command_line import only_session, without_training
from tests.sound import VirtualMicrophone


@pytest.mark.sound
def test_the_session_goes_on_without_its_microphone(
    sound_server: VirtualMicrophone, tmp_path: Path
) -> None:
    study = str(without_training(tmp_path))
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "labapp", "run", study, "--participant", "P03"),
            *("--simulate", "knowing", "--windowed"),
        ],
        env={**environment(tmp_path), **sound_server.env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and running.poll() is None:
            found = list((tmp_path / "data").glob("short/sub-*/journal.sqlite"))
            if found and any(r.kind == "audio.block" for r in read_rows(found[0].parent)):
                break
            time.sleep(0.1)
        sound_server.stop()
        _, told = running.communicate(timeout=100)
    finally:
        running.kill()
        sound_server.start()
    assert running.returncode == 0, told
    session = only_session(tmp_path)
    seen = [row.kind for row in read_rows(session)]
    assert "audio.device_lost" in seen
    assert "session.completed" in seen
    record = open_record(session)
    assert record.state == "complete"
    (file,) = record.audio
    assert file.frames > 0
