"""Which Qt platform to use: the display if one answers, otherwise offscreen.

A dead DISPLAY makes Qt abort the process without an exception, so it is tried in a child process
first. Nothing here imports Qt.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from labapp.base import leftovers

PROBE_TIMEOUT_S = 15.0
ANSWERED = "LABAPP_DISPLAY_ANSWERED"
_PROBE = (
    "from PySide6.QtGui import QGuiApplication\n"
    "app = QGuiApplication([])\n"
    "print(app.platformName(), len(app.screens()))\n"
)


@dataclass(frozen=True, slots=True)
class Display:
    """visible: windows appear on a real or virtual screen; why: for people."""

    visible: bool
    why: str


def offscreen(width: int = 1920, height: int = 1080, dpr: float = 1.0, screens: int = 1) -> str:
    """A QT_QPA_PLATFORM value with screens of this size (in device pixels), side by side.

    Qt's own default for offscreen is a single screen of 800 x 800.
    """
    alike = {"width": width, "height": height, "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": dpr}
    rows = [
        {"name": f"Offscreen {index + 1}", "x": index * width, "y": 0} | alike
        for index in range(screens)
    ]
    handle, name = tempfile.mkstemp(prefix=leftovers.prefix("screens"), suffix=".json")
    with os.fdopen(handle, "w") as file:
        json.dump({"screens": rows}, file)
    atexit.register(Path(name).unlink, missing_ok=True)
    return f"offscreen:configfile={name}"


@cache
def choose() -> Display:
    """Decide once, before Qt is imported; sets QT_QPA_PLATFORM when windows cannot be shown."""
    chosen = os.environ.get("QT_QPA_PLATFORM", "")
    if chosen.startswith(("offscreen", "minimal")):
        if chosen == "offscreen":
            os.environ["QT_QPA_PLATFORM"] = offscreen()
        return Display(False, "QT_QPA_PLATFORM says so")
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or chosen
    ):
        os.environ["QT_QPA_PLATFORM"] = offscreen()
        return Display(False, "this machine has no display")
    if os.environ.get(ANSWERED, "") == _named():
        return Display(True, "the display answered the program that began this one")
    if sys.platform.startswith("linux") and (problem := _probe()):
        os.environ["QT_QPA_PLATFORM"] = offscreen()
        return Display(False, f"the display does not answer ({problem})")
    return Display(True, "the display answers")


def answered() -> dict[str, str]:
    """The environment that tells processes which this one begins that the display answers: so they
    need not try it, which takes half a second."""
    return {ANSWERED: _named()} if choose().visible else {}


def _named() -> str:
    """Which display it is; never empty."""
    variables = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return "/".join(os.environ.get(variable, "") for variable in variables)


def _probe(command: Sequence[str] = (sys.executable, "-c", _PROBE)) -> str | None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {PROBE_TIMEOUT_S:g} s"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[0].strip() if lines else f"Qt ended with status {done.returncode}"
