"""Whole runs of the program as a person starts it: in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sound import microphone as microphone
from tests.sound import sound_server as sound_server

Labapp = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """This process's environment with data and private records in `folder`."""
    return {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "LABAPP_DATA": str(folder / "data"),
        "LABAPP_PRIVATE": str(folder / "private"),
        **more,
    }


@pytest.fixture
def labapp(tmp_path: Path) -> Labapp:
    """Run `labapp …` to its end; keywords are environment variables."""

    def run(*arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "labapp", *map(str, arguments)],
            env=environment(tmp_path, **more),
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )

    return run
