"""How well a masked picture comes when it is due, and how well a response is timed.

    python benchmarks/stimulus_timing.py [--n 300] [--blank MS] [--busy MS] [--console]
        [--json FILE]

The participant's window with a real journal, on the display that is there (on a machine without
one: xvfb-run -s "-screen 0 1920x1080x24" …), one session after the other until n stimuli were
answered, half of them by key and half by mouse. Three spans, in milliseconds:

* due to painted: from the time at which a stimulus is to appear, after the blank, to the frame that
  the session takes for its first;
* response error: what the session takes for the time of a response, less the time at which it was
  made. Another process makes the responses, through the XTEST extension, and notes the time before
  and after; the middle is taken. Beside it the same for the time at which the journal noted the
  response, which is what a program knows that does not look at time stamps;
* response to painted: from a response to the first frame of the next stimulus.

--console opens the moderator's console on the same session, as it always is in one, beside the
participant's window where the display is wide enough (xvfb-run -s "-screen 0 3840x1080x24" …).
--busy holds the window's event loop up again and again, for up to so long, as other work would.
Where the display is not X11, responses are posted events, and the second span says nothing.
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from labapp.tasks.unmasking.screen import UnmaskingScreen
    from tests.helpers.rooms import Room

MS = 1_000_000
LONGEST_S = 10.0
SOON_MS = (60.0, 180.0)
"""Responses are made so long after the frame."""
MAKE = "--make-responses"
KEYSYM_F = 0x66
Spans = dict[str, list[float]]


class Maker(Protocol):
    """Makes responses. soon: after so many ms, by key or by mouse at a place of the screen."""

    def soon(self, wait_ms: float, device: str, at: tuple[int, int]) -> None: ...

    def made(self) -> list[int]: ...


class XtestMaker:
    """Another process with a connection of its own to the X server."""

    def __init__(self) -> None:
        command = [sys.executable, __file__, MAKE]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def soon(self, wait_ms: float, device: str, at: tuple[int, int]) -> None:
        assert self._process.stdin is not None
        print(wait_ms, device, *at, file=self._process.stdin, flush=True)

    def made(self) -> list[int]:
        """Times of all responses, in ns of perf_counter; ends the process."""
        out, _ = self._process.communicate()
        return [int(line) for line in out.split()]


class PostedMaker:
    """Events posted in this process, where nothing else can be done."""

    def __init__(self, screen: UnmaskingScreen) -> None:
        self._screen = screen
        self._times: list[int] = []

    def soon(self, wait_ms: float, device: str, at: tuple[int, int]) -> None:
        from PySide6.QtCore import QTimer

        QTimer.singleShot(round(wait_ms), self._post)

    def _post(self) -> None:
        from PySide6.QtCore import QCoreApplication, QEvent, Qt
        from PySide6.QtGui import QKeyEvent

        event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_F, Qt.KeyboardModifier.NoModifier)
        self._times.append(time.perf_counter_ns())
        event.setTimestamp(self._times[-1] // MS)
        QCoreApplication.postEvent(self._screen.responses, event)

    def made(self) -> list[int]:
        return self._times


def make_responses() -> None:
    """The other process: a line of standard input a response, its time on standard output."""
    x11 = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
    xtst = ctypes.CDLL(ctypes.util.find_library("Xtst") or "libXtst.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XKeysymToKeycode.argtypes = (ctypes.c_void_p, ctypes.c_ulong)
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    assert display.value, "the X server does not answer"
    keycode = x11.XKeysymToKeycode(display, KEYSYM_F) & 0xFF
    for line in sys.stdin:
        wait_ms, device, x, y = line.split()
        if device == "mouse":
            xtst.XTestFakeMotionEvent(display, -1, int(x), int(y), 0)
            x11.XSync(display, 0)
        time.sleep(float(wait_ms) / 1000)
        fake, detail = (
            (xtst.XTestFakeButtonEvent, 1)
            if device == "mouse"
            else (xtst.XTestFakeKeyEvent, keycode)
        )
        before = time.perf_counter_ns()
        fake(display, detail, 1, 0)
        x11.XSync(display, 0)
        after = time.perf_counter_ns()
        fake(display, detail, 0, 0)
        x11.XSync(display, 0)
        print((before + after) // 2, flush=True)


@contextmanager
def stage(
    folder: Path, blank_ms: int, *, console: bool = False
) -> Iterator[tuple[Room, UnmaskingScreen]]:
    """A session at the first stimulus of 80: images of a small set, two methods, ten masks."""
    from labapp.tasks.unmasking.plan import UnmaskingPart
    from labapp.tasks.unmasking.screen import UnmaskingScreen
    from scripts.screens_participant import opened
    from tests.helpers.rooms import skip_to
    from tests.helpers.unmasking import made, write_unmasking_study

    masks = {"smallest": 5, "largest": 60, "count": 10}
    study = write_unmasking_study(folder, made(folder), masks=masks, blank_ms=blank_ms)
    with opened(folder / "data", study=study) as (room, window):
        parts = [part for part in room.runner.machine.parts if isinstance(part, UnmaskingPart)]
        desk = None
        if console:
            from labapp.ui.moderator.console import ConsoleWindow

            desk = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None)
            desk.move(window.frameGeometry().right() + 1, 0)
            desk.show()
        window.raise_()
        window.activateWindow()
        skip_to(room, next(part.id for part in parts if part.role == "stage"))
        screen = window.screen_shown
        assert isinstance(screen, UnmaskingScreen)
        yield room, screen
        if desk is not None:
            desk.shut()


def session(
    blank_ms: int,
    busy_ms: float,
    most: int,
    *,
    console: bool = False,
    shared: Callable[[Room], AbstractContextManager[None]] = lambda room: nullcontext(),
) -> Spans:
    """The spans of one session, in ms. shared: what goes on with the session meanwhile."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from labapp.tasks.unmasking.plan import UnmaskingPart

    dice = random.Random(most)
    with (
        tempfile.TemporaryDirectory() as folder,
        stage(Path(folder), blank_ms, console=console) as (room, screen),
        shared(room),
    ):
        origin = room.clock.from_perf_ns(0)
        x11 = QApplication.platformName() == "xcb"
        maker: Maker = XtestMaker() if x11 else PostedMaker(screen)
        holdup = QTimer()
        holdup.timeout.connect(lambda: time.sleep(dice.uniform(0, busy_ms) / 1000))
        if busy_ms:
            holdup.start(5)
        given = room.count("response.given")
        noted: list[int] = []
        room.runner.journal.subscribe(
            lambda e: noted.append(e.t_ns) if e.kind == "response.given" else None
        )
        ratio = screen.devicePixelRatioF()
        for number in range(most):
            part = room.runner.part
            if not isinstance(part, UnmaskingPart):
                break
            wait(lambda: room.runner.state.part_state.trial.open, "the stimulus was not painted")
            button = screen.responses.buttons[0]
            middle = button.mapToGlobal(button.rect().center())
            at = (round(middle.x() * ratio), round(middle.y() * ratio))
            maker.soon(dice.uniform(*SOON_MS), ("keyboard", "mouse")[number % 2], at)
            given += 1
            wait(
                lambda given=given: room.count("response.given") == given,  # type: ignore[misc]
                "the response did not come: has the window the focus?",
            )
        holdup.stop()
        return spans(room, [drawn_at + origin for drawn_at in maker.made()], noted)


def wait(come: Any, what: str) -> None:
    """Run the event loop, asleep where there is nothing to do, until something came. Raises
    TimeoutError."""
    from PySide6.QtCore import QEventLoop, QTimer
    from PySide6.QtWidgets import QApplication

    flags = QEventLoop.ProcessEventsFlag
    awake = QTimer()
    awake.start(100)
    end = time.monotonic() + LONGEST_S
    while not come():
        if time.monotonic() > end:
            raise TimeoutError(what)
        QApplication.processEvents(flags.AllEvents | flags.WaitForMoreEvents)
    awake.stop()


def spans(room: Room, made: list[int], noted: list[int]) -> Spans:
    """What a session's events say; made: times of the responses, session ns."""
    of = {
        kind: [payload for name, payload in room.events if name == kind]
        for kind in ("stimulus.shown", "response.given")
    }
    given = of["response.given"][-len(made) :]
    # The last one drawn may not be shown any more: each belongs to the one shown after it.
    drawn = []
    for kind, payload in room.events:
        if kind == "stimulus.drawn":
            newest = payload
        elif kind == "stimulus.shown":
            drawn.append(newest)
    intervals: Spans = {"due to painted": [], "response to painted": []}
    # The first stimulus is due when its screen is still being built.
    for picture, shown in list(zip(drawn, of["stimulus.shown"], strict=True))[1:]:
        intervals["due to painted"].append((shown["painted_ns"] - picture["due_ns"]) / MS)
    for answer, shown in zip(given, of["stimulus.shown"][1:], strict=False):
        intervals["response to painted"].append((shown["painted_ns"] - answer["input_ns"]) / MS)
    for answer, at, journal_ns in zip(given, made, noted[-len(made) :], strict=True):
        intervals.setdefault(f"response error, {answer['device']}", []).append(
            (answer["input_ns"] - at) / MS
        )
        intervals.setdefault("as the journal noted it", []).append((journal_ns - at) / MS)
    arrivals = sum(answer["timed_by"] == "arrival" for answer in given)
    print(f"  {len(given)} responses, {arrivals} timed by their arrival", file=sys.stderr)
    return intervals


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=300, help="stimuli answered")
    parser.add_argument("--blank", type=int, default=0, metavar="MS", help="between two stimuli")
    parser.add_argument("--busy", type=float, default=0.0, metavar="MS", help="hold up so long")
    parser.add_argument("--console", action="store_true", help="with the console open")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument(MAKE, action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.make_responses:
        make_responses()
        return
    from labapp.ui.qtapp import make_app

    app = make_app()
    every: Spans = {}
    done = 0
    while done < asked.n:
        measured = session(asked.blank, asked.busy, asked.n - done, console=asked.console)
        for name, times in measured.items():
            every.setdefault(name, []).extend(times)
        done += len(measured["as the journal noted it"])
    screen = app.primaryScreen()
    print(f"{app.platformName()}, {screen.refreshRate():.1f} Hz, blank {asked.blank} ms, ", end="")
    print(f"held up {asked.busy:g} ms, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'ms':28}" + "".join(f"{name:>9}" for name in ("n", "median", "p95", "p99", "max")))
    rows = {}
    for name, times in every.items():
        median, p95, p99 = np.percentile(times, (50, 95, 99))
        rows[name] = {"n": len(times), "median": median, "p95": p95, "p99": p99, "max": max(times)}
        figures = "".join(f"{rows[name][key]:9.2f}" for key in ("median", "p95", "p99", "max"))
        print(f"{name:28}{len(times):9}{figures}")
    if asked.json is not None:
        asked.json.write_text(json.dumps(rows, indent=2), "utf-8")


if __name__ == "__main__":
    main()
