"""kill -9 of a program with its two windows: it goes on in them, completes and verifies.

`make torture` does it 200 times, in all shipped studies and with sound.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.kills import ROOT


@pytest.mark.timeout(240)
def test_a_killed_session_goes_on_in_its_windows(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.torture.killer", "quickstart", str(tmp_path), "2", "7"]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [line["problems"] for line in told] == [[]] * len(told), done.stderr
    assert all(line["complete"] for line in told)
    assert sum(line["kills"] for line in told) >= 2
    assert sum(line["resumed"] for line in told) >= 1
    assert not any(line["acknowledged_lost"] for line in told)
