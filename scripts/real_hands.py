"""Goes through an unmasking study in real windows by events of the X server.

    xvfb-run -a -s "-screen 0 1366x768x24" python scripts/real_hands.py [OPTIONS] -- LABAPP ...

LABAPP: what labapp is to be told, for example `run unmasking-faces --participant P01 --data DIR
--audio off`, or `sessions resume FOLDER`. Keys and mouse are pressed through the XTEST extension,
so that everything from the window system on is as with a person; what is answered, and how fast, is
that of the simulated observer. Pages are read, the consent is given, a resumed session is continued
on the console.

--hands keys|mouse|mixed   What answers (mixed: every ten stimuli the other).
--hurry X                  Reaction times are divided by X.
--kill-after N             Kill this process (SIGKILL) while the N-th stimulus is on the screen.
--pictures DIR             Keep a picture of every page, and of every 25th stimulus.
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, QTimer
from PySide6.QtWidgets import QLineEdit, QWidget

from labapp.base.clock import NS
from labapp.cli import main as cli
from labapp.tasks.unmasking.plan import DONT_KNOW, UnmaskingPart
from labapp.tasks.unmasking.screen import ResponseButton
from labapp.tasks.unmasking.simulated import Annotator, Reply
from labapp.ui import controller
from labapp.ui.widgets.choice import CheckBox

LOOK_MS = 20
HOLD_MS = 70
PAGE_MS = 1500
"""How long a page is read, a stroke of the console waited for."""
EVERY = 25
TURNS = 10
NAME = "robin hands"
CONSOLE = ("Control_L", "Shift_L", "m")


class XServer:
    """Presses keys and buttons. Raises OSError without an X server that has XTEST."""

    def __init__(self) -> None:
        self.x11 = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
        self.xtst = ctypes.CDLL(ctypes.util.find_library("Xtst") or "libXtst.so.6")
        self.x11.XOpenDisplay.restype = ctypes.c_void_p
        self.x11.XStringToKeysym.restype = ctypes.c_ulong
        self.x11.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
        self.display = ctypes.c_void_p(self.x11.XOpenDisplay(None))
        if not self.display:
            raise OSError("there is no X server; use xvfb-run")

    def keys(self, *names: str) -> None:
        """Press keys together, by their X names; they are let go a moment later."""
        codes = [
            self.x11.XKeysymToKeycode(self.display, self.x11.XStringToKeysym(name.encode()))
            for name in names
        ]
        for code in codes:
            self.xtst.XTestFakeKeyEvent(self.display, code, 1, ctypes.c_ulong(0))
        for code in reversed(codes):
            self.xtst.XTestFakeKeyEvent(self.display, code, 0, ctypes.c_ulong(HOLD_MS))
        self.x11.XFlush(self.display)

    def move(self, widget: QWidget, place: QPoint) -> None:
        """Move to a place of a widget; returns once the X server has done so."""
        there = widget.mapToGlobal(place)
        ratio = widget.devicePixelRatioF()
        x, y = round(there.x() * ratio), round(there.y() * ratio)
        self.xtst.XTestFakeMotionEvent(self.display, -1, x, y, ctypes.c_ulong(0))
        self.x11.XSync(self.display, 0)

    def hold(self, *, down: bool) -> None:
        """Press the left button, or let it go."""
        self.xtst.XTestFakeButtonEvent(self.display, 1, down, ctypes.c_ulong(0))
        self.x11.XSync(self.display, 0)

    def click(self, widget: QWidget) -> None:
        """Move to the middle of a widget and press the left button there."""
        self.move(widget, QPoint(widget.width() // 2, widget.height() // 2))
        self.xtst.XTestFakeButtonEvent(self.display, 1, 1, ctypes.c_ulong(0))
        self.xtst.XTestFakeButtonEvent(self.display, 1, 0, ctypes.c_ulong(HOLD_MS))
        self.x11.XFlush(self.display)


class Hands(QObject):
    """Looks at a session again and again, and does what is to be done."""

    def __init__(self, shown: controller.SessionController, options: argparse.Namespace) -> None:
        super().__init__(shown)
        self.shown, self.options = shown, options
        self.runner, self.window = shown.opened.runner, shown.participant
        self.server = XServer()
        self.answered = 0
        self.reply: tuple[object, Reply] | None = None
        self.busy_until_ns = 0
        self.rested_on = self.runner.part
        planned = shown.opened.planned
        stages = [part for part in self.runner.machine.parts if isinstance(part, UnmaskingPart)]
        images = {part.image for stage in stages for part in stage.sequences}
        seed = (planned.seed, planned.participant, "real hands")
        self.annotator = Annotator(seed, "understanding", images)
        self.timer = QTimer(self)
        self.timer.timeout.connect(self.look)
        self.timer.start(LOOK_MS)

    def look(self) -> None:
        now_ns = self.runner.clock.now_ns()
        if self.runner.part is not self.rested_on:
            self.busy_until_ns = 0  # a stimulus does not wait for the page before it
        if self.runner.finished or now_ns < self.busy_until_ns:
            return
        if self.runner.state.pauses.paused:
            self._continue()
        elif isinstance(self.runner.part, UnmaskingPart):
            self._respond(self.runner.part, now_ns)
        else:
            self._read()

    def _rest(self, milliseconds: float) -> None:
        """Look again after a while, or as soon as there is another part on the screen."""
        self.rested_on = self.runner.part
        self.busy_until_ns = self.runner.clock.now_ns() + round(milliseconds * NS / 1000)

    def _continue(self) -> None:
        """The moderator comes to the console, says that everybody is ready, and goes again."""
        console = self.shown.console
        if not console.isActiveWindow():
            self.server.keys(*CONSOLE)
        else:
            self._keep("console", console)
            self.server.click(console.header.pause)
        self._rest(PAGE_MS)

    def _read(self) -> None:
        """Do what a page asks for, and go on."""
        if not self.window.isActiveWindow():
            self.server.keys(*CONSOLE)
            self._rest(PAGE_MS)
            return
        for box in self._there(CheckBox):
            if not box.isChecked():
                self.server.keys("space")
                self._rest(PAGE_MS)
                return
        for field in self._there(QLineEdit):
            if not field.text():
                self._type(field)
                return
        part = self.runner.part
        self._keep(part.id if part is not None else "end", self.window)
        self.server.click(self.window.bottom.right)
        self._rest(PAGE_MS)

    def _type(self, field: QLineEdit) -> None:
        if not field.hasFocus():
            self.server.click(field)
        else:
            for letter in NAME:
                self.server.keys("space" if letter == " " else letter)
        self._rest(PAGE_MS)

    def _there(self, kind: type[QWidget]) -> list[QWidget]:
        return [widget for widget in self.window.findChildren(kind) if widget.isVisible()]

    def _respond(self, part: UnmaskingPart, now_ns: int) -> None:
        trial = self.runner.state.part_state.trial
        if not self.window.isActiveWindow():
            self.server.keys(*CONSOLE)
            self._rest(PAGE_MS)
            return
        if trial is None or not trial.open:
            return
        key = (part.id, trial.number, trial.attempt)
        if self.reply is None or self.reply[0] != key:
            self.reply = key, self.annotator.reply(part, trial)
            self.answered += 1
            if self.answered % EVERY == 1:
                self._keep(f"{part.id}-{trial.number:03d}", self.window)
        reply = self.reply[1]
        if now_ns - trial.painted_ns < reply.reaction_ms / 1000 * NS / self.options.hurry:
            return
        if self.answered == self.options.kill_after:
            print(f"killed at {part.id}, stimulus {trial.number}", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        place = len(part.buttons) - 1 if reply.response == DONT_KNOW else reply.response - 1
        turn = self.answered // TURNS % 2 if self.options.hands == "mixed" else None
        if self.options.hands == "mouse" or turn == 1:
            self.server.click(self._there(ResponseButton)[place])
        else:
            name = part.buttons[place].key
            self.server.keys(name.lower() if len(name) == 1 or name == "Space" else name)
        self._rest(2 * HOLD_MS)

    def _keep(self, name: str, window: QWidget) -> None:
        if self.options.pictures is not None:
            self.options.pictures.mkdir(parents=True, exist_ok=True)
            window.screen().grabWindow(0).save(str(self.options.pictures / f"{name}.png"))


def main() -> None:
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hands", choices=("keys", "mouse", "mixed"), default="mixed")
    parser.add_argument("--hurry", type=float, default=1.0)
    parser.add_argument("--kill-after", type=int, default=0)
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args(sys.argv[1:split])
    start: Callable[[controller.SessionController], None] = controller.SessionController.start

    def started(shown: controller.SessionController) -> None:
        start(shown)
        Hands(shown, options)

    controller.SessionController.start = started  # type: ignore[method-assign]
    sys.argv = ["labapp", *sys.argv[split + 1 :]]
    cli.main()


if __name__ == "__main__":
    main()
