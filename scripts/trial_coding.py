"""Every way of seeking in the coding window, then every code key, by real events of an X server.

    python scripts/trial_coding.py [--display :112] [--out FILE.json]

Starts Xvfb with a window manager (openbox), simulates a session, opens it to be coded, and lets
another process press keys and buttons by XTEST. After every key of the window, every kind of click
and drag, a time that is typed and words that are found, each letter of the codebook is pressed, at
rest and while it plays. It ends with 1 unless every code landed on the unit that list and timeline
lit at that moment. Needs Xvfb, openbox and xrandr (Debian: xvfb openbox x11-xserver-utils).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.two_hands import Hands, key, on_two_monitors, typed

if TYPE_CHECKING:
    from PySide6.QtCore import QPointF
    from PySide6.QtWidgets import QWidget

    from labapp.ui.replay.coding_window import CodingWindow

INSIDE = "--inside"
CODES = "egrds"
"""Letters of the codebook that is coded by; all of them are given to units."""
LEFT_ALONE = {"close", "freeze", "redact", "new_code"}
"""Actions that end the window or change what the next ones are tried on for good."""
NAMES = {
    ",": "comma", ".": "period", ";": "semicolon", "-": "minus", "=": "equal", "/": "slash",
    "[": "bracketleft", "]": "bracketright", "PgDown": "Next", "PgUp": "Prior", "Space": "space",
    "Backspace": "BackSpace", "Ctrl": "Control_L", "Alt": "Alt_L", "Shift": "Shift_L",
}  # fmt: skip
SHIFTED = {
    "<": ",", ">": ".", ":": ";", "_": "-", "+": "=", "?": "/", "{": "[", "}": "]",
}  # fmt: skip
WAIT_S = 0.12
"""After the last press, for what comes of it."""

Way = Callable[[], list[dict[str, Any]]]


def symbols(text: str) -> list[str]:
    """The keys of an X server that make a stroke of the file of keys."""
    *held, last = text.replace("++", "+=").split("+") if text != "+" else ["+"]
    if last in SHIFTED:
        held, last = [*held, "Shift"], SHIFTED[last]
    names = [*held, last]
    return [NAMES.get(name, name if len(name) > 1 else name.lower()) for name in names]


def strokes() -> Iterator[tuple[str, str]]:
    """Every action of the window with each of its keys, as the file of keys has them."""
    import yaml

    from labapp.base.resources import assets

    keys = yaml.safe_load((assets() / "replay" / "keys.yaml").read_text("utf-8"))
    for section in ("replay", "code"):
        for action, texts in keys[section].items():
            if action not in LEFT_ALONE:
                yield from ((action, text) for text in texts)


class Trial:
    """Presses, and looks where each code lands."""

    def __init__(self, coding: CodingWindow) -> None:
        self.coding, self.hands = coding, Hands()
        self.given: list[tuple[str | None, str | None, str | None]] = []
        self.wrong: list[dict[str, Any]] = []
        self.tried = self.landed = 0
        state = coding.coding
        put, remove = state._put, state._remove

        def lit(unit: str | None) -> None:
            shown = coding.window.timeline.current_unit
            self.given.append((unit, shown, coding.desk.units.current))

        def watched_put(mark: Any) -> bool:
            lit(mark.unit)
            return put(mark)

        def watched_remove(mark_id: str) -> bool:
            mark = state.marks.get(mark_id)
            lit(None if mark is None else mark.unit)
            return remove(mark_id)

        state._put, state._remove = watched_put, watched_remove  # type: ignore[method-assign]

    def do(self, *actions: dict[str, Any]) -> None:
        """Press, and let the window do what comes of it."""
        from PySide6.QtWidgets import QApplication

        self.hands.do(*actions)
        until = time.monotonic() + 20
        while self.hands.busy and time.monotonic() < until:
            QApplication.processEvents()
            time.sleep(0.002)
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            QApplication.processEvents()
            time.sleep(0.002)

    def begin(self, number: int, *, playing: bool) -> None:
        """A place to begin from, with nothing open and nothing done."""
        state, window = self.coding.coding, self.coding.window
        state.settings.advance, state.settings.hold = False, False
        if state.status != "draft":
            state.set_done(False)
        if state.mode == "segment":
            state.leave_segmenting()
        if state.queue is not None:
            state.set_queue(None)
        window.controller.set_loop(None)
        window.controller.set_speed(1.0)
        units = state.units
        state.go_to(units[number % (len(units) - 2) + 1].id, play=playing)
        if not playing:
            window.controller.pause()
        window.setFocus()

    def codes(self, way: str) -> None:
        """Every code key, behind a way of seeking."""
        state = self.coding.coding
        for _ in range(3):
            self.do(key("Escape", hold_ms=15))
        if state.mode == "segment":
            state.leave_segmenting()
        if state.status != "draft":
            state.set_done(False)
        for letter in CODES:
            self.given.clear()
            self.do(key(letter, hold_ms=15))
            self.tried += 1
            self.landed += bool(self.given)
            if not self.given or any(len(set(where)) > 1 for where in self.given):
                self.wrong.append({"way": way, "key": letter, "given": list(self.given)})


def ways(coding: CodingWindow) -> Iterator[tuple[str, Way]]:
    """What is done with the pointer, and what is typed."""
    from PySide6.QtCore import QPointF

    window, line = coding.window, coding.window.timeline
    units = coding.coding.units

    def at(widget: QWidget, where: QPointF) -> dict[str, Any]:
        place = widget.mapToGlobal(where.toPoint())
        ratio = widget.devicePixelRatioF()
        return {"at": (round(place.x() * ratio), round(place.y() * ratio)), "then_ms": 80}

    def middle_of(number: int) -> int:
        return (units[number].t0_ns + units[number].t1_ns) // 2

    def on_line(number: int, y: float) -> dict[str, Any]:
        line.show_stretch(0, units[-1].t1_ns)
        return at(line, QPointF(line.scale.x(middle_of(number)), y))

    for number in (1, 4, 6):
        yield (
            f"click timeline {number}",
            lambda n=number: [on_line(n, line.voice_rect().center().y())],
        )
        yield f"click axis {number}", lambda n=number: [on_line(n, line.axis_rect().center().y())]
        yield (
            f"click list {number}",
            lambda n=number: [
                at(coding.desk.units.viewport(), QPointF(coding.desk.units._rect(n).center()))
            ],
        )
        yield (
            f"type time {number}",
            lambda n=number: [
                key("Control_L", "g"),
                key("Control_L", "a"),
                *typed(str(middle_of(n) // 1_000_000_000)),
                key("Return"),
            ],
        )
    yield "click strip", lambda: [at(line, line.strip_rect().center())]
    yield (
        "find a word",
        lambda: [key("Control_L", "f"), *typed("taller"), key("Return"), key("Escape")],
    )
    yield "click what happened", lambda: [at(window.events.viewport(), QPointF(60, 30))]
    yield (
        "step by seconds over an end",
        lambda: [key("period", hold_ms=15, then_ms=30) for _ in range(6)],
    )
    yield (
        "click play",
        lambda: [at(window.transport.play, QPointF(window.transport.play.rect().center()))],
    )


def inside(out: str) -> int:
    """The trial, on a display of its own."""
    from PySide6.QtWidgets import QApplication

    from labapp.session.simulation.simulation_job import simulate_study
    from labapp.ui.qtapp import make_app
    from labapp.ui.replay.coding_state import CodingRequest
    from labapp.ui.replay.coding_window import open_coding_window
    from tests.helpers.coded_session import add_codebook, add_units

    with tempfile.TemporaryDirectory() as folder:
        session = simulate_study(
            "quickstart", 1, "understanding", Path(folder) / "data", 1, lambda label: None
        )[0]
        add_codebook(session.parent)
        add_units(session, 10)
        make_app()
        coding = open_coding_window(session, CodingRequest("anna"))
        coding.window.open(0)
        coding.window.activateWindow()
        until = time.monotonic() + 20
        while not coding.window.filled and time.monotonic() < until:
            QApplication.processEvents()
        trial = Trial(coding)
        number = 0
        for action, text in strokes():
            for playing in (False, True):
                number += 1
                trial.begin(number, playing=playing)
                trial.do(key(*symbols(text), hold_ms=20))
                trial.codes(f"{action} ({text}){', playing' if playing else ''}")
        for name, way in ways(coding):
            number += 1
            trial.begin(number, playing=False)
            trial.do(*way())
            trial.codes(name)
        trial.hands.close()
        coding.window.close()
        QApplication.processEvents()
    found = {
        "ways": number,
        "code keys": trial.tried,
        "codes given or taken back": trial.landed,
        "wrong": trial.wrong,
    }
    told = json.dumps(found, indent=1)
    print(told)
    if out:
        Path(out).write_text(told, "utf-8")
    return 1 if trial.wrong else 0


def main() -> int:
    """Start an X server, and the trial on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--display", default=":112")
    parser.add_argument("--out", default="")
    parser.add_argument(INSIDE, action="store_true")
    asked = parser.parse_args()
    if asked.inside:
        return inside(asked.out)
    command = [sys.executable, __file__, INSIDE, "--out", asked.out]
    return on_two_monitors(
        asked.display,
        lambda environment: subprocess.run(command, env=environment, check=False).returncode,
    )


if __name__ == "__main__":
    sys.exit(main())
