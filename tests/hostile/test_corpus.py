"""The corpus of hostile inputs: no traceback, no hang, and never more than 500 MB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.cases import CASES

ROOT = Path(__file__).resolve().parents[2]
MOST_MB = 500


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """What came out of each case that is to be tested here, in one process of its own: its memory
    is that of the worst."""
    tests = [item for item in request.session.items if item.path == Path(__file__)]
    names = [test.callspec.params["name"] for test in tests if isinstance(test, pytest.Function)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.run_cases", *names],
        capture_output=True,
        text=True,
        timeout=110,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["name"]: line for line in lines}


@pytest.mark.parametrize("name", CASES)
def test_it_is_told(name: str, outcomes: dict[str, dict[str, Any]]) -> None:
    words = CASES[name][1]
    found = outcomes[name]
    assert found["ended"] == ("told" if words else "ok"), found
    assert words in found["said"]
    assert found["peak_mb"] < MOST_MB
