"""How long a person who starts labapp sees nothing: to the splash, and to the painted home.

    xvfb-run -s "-screen 0 1366x768x24" python benchmarks/splash.py [--n 7]

From the start of the process to the first pixels of another colour: in the middle of the screen for
the splash, at its upper edge for the home. On an empty screen of 1366 x 768, without a window
manager.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import subprocess
import sys
import tempfile
import time

SPLASH, HOME = (683, 384), (640, 62)
"""Where only the splash, and where only the home, draws."""
LONGEST_S, EVERY_S, REST_S = 60.0, 0.003, 0.6
ALL_PLANES, Z_PIXMAP = 0xFFFFFFFF, 2


class Screen:
    """The pixels of the display, asked by X11 itself: nothing of Qt is in the way."""

    def __init__(self) -> None:
        self._x = x = ctypes.CDLL("libX11.so.6")
        x.XOpenDisplay.restype = x.XGetImage.restype = ctypes.c_void_p
        x.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
        x.XDefaultRootWindow.restype = x.XGetPixel.restype = ctypes.c_ulong
        size = (ctypes.c_int, ctypes.c_int, ctypes.c_uint, ctypes.c_uint)
        x.XGetImage.argtypes = [
            ctypes.c_void_p,
            ctypes.c_ulong,
            *size,
            ctypes.c_ulong,
            ctypes.c_int,
        ]
        x.XGetPixel.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
        x.XDestroyImage.argtypes = [ctypes.c_void_p]
        self._display = x.XOpenDisplay(None)
        if not self._display:
            raise SystemExit("There is no X display. Run this with xvfb-run.")
        self._root = x.XDefaultRootWindow(self._display)

    def color(self, place: tuple[int, int]) -> int:
        """The colour of a pixel."""
        image = self._x.XGetImage(self._display, self._root, *place, 1, 1, ALL_PLANES, Z_PIXMAP)
        color = self._x.XGetPixel(image, 0, 0) & 0xFFFFFF
        self._x.XDestroyImage(image)
        return int(color)


def measure(screen: Screen) -> tuple[float, float]:
    """Seconds to the splash, and to the home."""
    waits = {place: screen.color(place) for place in (SPLASH, HOME)}
    seen: dict[tuple[int, int], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "labapp", "--data", folder, "--private", f"{folder}/names"]
        began = time.perf_counter()
        program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while len(seen) < len(waits) and (now := time.perf_counter() - began) < LONGEST_S:
                for place, before in waits.items():
                    if place not in seen and screen.color(place) != before:
                        seen[place] = now
                time.sleep(EVERY_S)
        finally:
            program.terminate()
            program.wait()
    time.sleep(REST_S)  # until the display has no window any more
    return seen[SPLASH], seen[HOME]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=7)
    options = parser.parse_args()
    screen = Screen()
    measure(screen)  # once for the disk
    times = [measure(screen) for _ in range(options.n)]
    for name, values in zip(("splash", "home"), zip(*times, strict=True), strict=True):
        middle = 1000 * statistics.median(values)
        print(f"{name:8} n {options.n}  median {middle:.0f} ms  max {1000 * max(values):.0f} ms")


if __name__ == "__main__":
    main()
