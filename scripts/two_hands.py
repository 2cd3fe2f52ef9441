"""Pairs of hands at an X server: other processes that press keys and buttons by XTEST and tell
when; and an X server with two monitors and a window manager to try them on."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

HOLD_MS = 45
WIDE, HIGH = 1366, 768


def hands() -> None:
    """A line of JSON on standard input an action, one on standard output with the time of its press
    (ns of perf_counter), and one when all of it is done."""
    x11 = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
    xtst = ctypes.CDLL(ctypes.util.find_library("Xtst") or "libXtst.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XStringToKeysym.restype = ctypes.c_ulong
    x11.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    assert display.value, "the X server does not answer"

    def code(name: str) -> int:
        symbol = x11.XStringToKeysym(("space" if name == " " else name).encode())
        return int(x11.XKeysymToKeycode(display, symbol) & 0xFF)

    def fake(what: Any, detail: int, down: int) -> tuple[int, int]:
        """When, and how much sooner or later it may have been: this process can be held up."""
        before = time.perf_counter_ns()
        what(display, detail, down, 0)
        x11.XSync(display, 0)
        after = time.perf_counter_ns()
        return (before + after) // 2, (after - before) // 2

    for line in sys.stdin:
        asked = json.loads(line)
        time.sleep(asked.get("wait_ms", 0) / 1000)
        for action in asked["actions"]:
            if "at" in action:
                x, y = action["at"]
                xtst.XTestFakeMotionEvent(display, -1, x, y, 0)
                x11.XSync(display, 0)
                press = fake(xtst.XTestFakeButtonEvent, 1, 1)
                time.sleep(HOLD_MS / 1000)
                fake(xtst.XTestFakeButtonEvent, 1, 0)
                done = {"key": "button", "press": press}
            else:
                codes = [code(name) for name in action["keys"]]
                press = [fake(xtst.XTestFakeKeyEvent, keycode, 1) for keycode in codes][-1]
                time.sleep(action.get("hold_ms", HOLD_MS) / 1000)
                for keycode in reversed(codes):
                    fake(xtst.XTestFakeKeyEvent, keycode, 0)
                done = {"key": action["keys"][-1], "press": press}
            print(json.dumps(done), flush=True)
            time.sleep(action.get("then_ms", 0) / 1000)
        print(json.dumps({"done": asked["id"]}), flush=True)


class Hands:
    """A pair of hands. presses: what was pressed, when, in ns of perf_counter, and
    give or take how much."""

    def __init__(self) -> None:
        command = [sys.executable, __file__]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.presses: list[tuple[str, int, int]] = []
        self.asked = self.done = 0
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if "done" in message:
                self.done = message["done"]
            else:
                self.presses.append((message["key"], *message["press"]))

    @property
    def busy(self) -> bool:
        return self.done < self.asked

    def do(self, *actions: dict[str, Any], wait_ms: float = 0) -> None:
        self.asked += 1
        asked = {"id": self.asked, "wait_ms": wait_ms, "actions": actions}
        assert self._process.stdin is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._reader.join(5)


def key(*names: str, **more: Any) -> dict[str, Any]:
    return {"keys": names, **more}


def typed(text: str) -> list[dict[str, Any]]:
    return [key(letter, hold_ms=20, then_ms=25) for letter in text]


def middle(widget: QWidget) -> dict[str, Any]:
    at = widget.mapToGlobal(widget.rect().center())
    ratio = widget.devicePixelRatioF()
    return {"at": (round(at.x() * ratio), round(at.y() * ratio)), "then_ms": 60}


def on_monitors(display: str, run: Callable[[dict[str, str]], int], monitors: int = 2) -> int:
    """Run something on an X server of one or two monitors with a window manager."""
    environment = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ExitStack() as stack:
        size = f"{monitors * WIDE}x{HIGH}x24"
        server = ["Xvfb", display, "-screen", "0", size, "-noreset"]
        for command in (server, ["openbox", "--sm-disable"]):
            process = subprocess.Popen(command, env=environment, **quiet)  # type: ignore[call-overload]
            stack.callback(process.wait, 10)
            stack.callback(process.terminate)
            time.sleep(1.0)
            if command[0] == "Xvfb" and monitors == 2:
                for number, output in enumerate(("screen", "none")):
                    place = f"{WIDE}/361x{HIGH}/203+{number * WIDE}+0"
                    monitor = ["xrandr", "--setmonitor", f"M{number + 1}", place, output]
                    subprocess.run(monitor, env=environment, check=True)
        return run(environment)


if __name__ == "__main__":
    hands()
