"""Every way of seeking in the coding window, then every code key, by real events of an X server.

    python scripts/trial_coding.py [--display :112] [--out FILE.json] [--whole]

With --whole instead: two raters code a freshly simulated study from the home's page *Coding*, from
the codebook to the agreement between them, without one command. It ends with 1 unless the folder
of the agreement holds a kappa for what was coded.

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

from scripts.two_hands import Hands, key, middle, on_monitors, typed

if TYPE_CHECKING:
    from PySide6.QtCore import QPointF
    from PySide6.QtWidgets import QLineEdit, QWidget

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


PATIENCE_S = 90
MOST_UNITS = 12
"""That are coded of a session; the window asks about the others when the coding is done."""


def path_typed(path: Path) -> list[dict[str, Any]]:
    """The keys of a path."""
    signs = {"/": "slash", "-": "minus", ".": "period"}
    return [key(signs.get(sign, sign), hold_ms=20, then_ms=25) for sign in str(path)]


class WholeTrial:
    """Two raters and a home, by keys and the pointer alone."""

    def __init__(self, folder: Path) -> None:
        from labapp.session.simulation.simulation_job import simulate_study
        from labapp.ui.home import HomeController
        from labapp.ui.moderator.home import CODING

        self.folder, self.hands = folder, Hands()
        self.sessions = simulate_study(
            "quickstart", 2, "understanding", folder / "data", 1, thinks_aloud=True
        )
        self.home = HomeController(folder / "data", folder / "private")
        self.home.show()
        self.until(lambda: self.home.window.isActiveWindow())
        self.click(self.home.view.tabs[CODING])
        self.page = self.home.view.coding
        self.until(lambda: len(self.page.model.rows) == len(self.sessions))

    def until(self, ready: Callable[[], object], what: str = "") -> None:
        """Let the windows work until something is so."""
        from PySide6.QtWidgets import QApplication

        end = time.monotonic() + PATIENCE_S
        while not ready():
            QApplication.processEvents()
            time.sleep(0.01)
            if time.monotonic() > end:
                raise SystemExit(f"It never was so: {what or ready}; {self.page.about.text()}")

    def press(self, *actions: dict[str, Any]) -> None:
        self.hands.do(*actions)
        self.until(lambda: not self.hands.busy)
        end = time.monotonic() + 0.3
        self.until(lambda: time.monotonic() > end)

    def click(self, widget: QWidget) -> None:
        self.press(middle(widget))

    def fill(self, field: QLineEdit, text: str) -> None:
        for _ in range(3):
            self.click(field)
            self.press(key("Control_L", "a"), *typed(text))
            if field.text() == text:
                return
        raise SystemExit(f"{text} could not be typed: {field.text()}")

    def menu(self, menu: QWidget, place: int) -> None:
        """Open a menu of the page by the pointer, and choose by keys."""
        self.click(menu)
        self.press(*[key("Down", then_ms=60) for _ in range(place + 1)], key("Return"))

    def edit_codebook(self) -> None:
        """Add a code in the window of the codebook."""
        from labapp.coding.annotations.codebook import read

        self.click(self.page.edit_codebook)
        work = self.home.lists.coding
        self.until(lambda: work.form is not None and work.form.isActiveWindow(), "codebook open")
        form = work.form
        self.click(form.start)  # from the shipped one
        self.until(lambda: form.draft is not None, "codebook begun")
        self.fill(form.new_name, "wonders")
        self.press(key("Return"))
        self.click(form.go)
        book = self.sessions[0].parent / "codebook.yaml"
        self.until(lambda: read(book).code("wonders") is not None, "code saved")
        self.press(key("Escape"))
        self.until(lambda: not form.isVisible(), "codebook closed")

    def code(self, rater: str, place: int) -> None:
        """Code a whole session in its window, and say that it is done."""
        from labapp.coding.annotations.store import annotations_of
        from labapp.record.journal.opening import open_record

        self.until(lambda: self.home.window.isActiveWindow(), "home in front")
        self.fill(self.page.rater, rater)
        self.press(key("Tab"))
        row = self.page.table.visualRect(self.page.model.index(place, 0)).center()
        at = self.page.table.viewport().mapToGlobal(row)
        self.press({"at": (at.x(), at.y()), "then_ms": 60})
        name = self.page.model.rows[place].session
        session = next(path for path in self.sessions if path.name == name)
        self.click(self.page.open)

        def window() -> bool:
            named = subprocess.run(
                ["xdotool", "getactivewindow", "getwindowname"], capture_output=True, text=True,
                check=False,
            )  # fmt: skip
            # The home is called labapp; the window of a session is called after its participant.
            return bool(named.stdout.strip()) and named.stdout.strip() != "labapp"

        self.until(window, "coding window open")
        pause = time.monotonic() + 4.0
        self.until(lambda: time.monotonic() > pause)
        units = annotations_of(open_record(session)).segmentation.units
        letters = "eg" if rater == "anna" else "eegg"  # they agree on half of them
        self.press(key("Home"))
        for number in range(min(len(units), MOST_UNITS)):
            self.press(key(letters[number % len(letters)], hold_ms=20), key("Right", hold_ms=20))
        self.press(key("Control_L", "Return"), key("Return"))

        def done() -> bool:
            marks = annotations_of(open_record(session)).raters.get(rater)
            return marks is not None and marks.status == "done"

        self.until(done, f"{rater} done with {name}")
        open_ = self.home.lists.coding._windows
        for _ in range(3):  # on a busy machine the window may still be drawing
            again = time.monotonic() + PATIENCE_S / 6
            self.press(key("Control_L", "w"))
            self.until(lambda again=again: not open_ or time.monotonic() > again)
            if not open_:
                break
        self.until(lambda: not open_, "coding window closed")

    def lock(self) -> None:
        """Lock the coding of both."""
        entries = self.page._menus[self.page.raters_menu]
        self.menu(self.page.raters_menu, [e for e in entries if e.isEnabled()].index(
            self.page.raters_form))  # fmt: skip
        form = self.home.lists.coding.form
        self.until(lambda: form.isActiveWindow() and len(form.lines) > 1, "raters open")
        for place in range(2):
            self.until(lambda place=place: bool(form.lines[place].done), "done is known")
            row = form.table.visualRect(form.model.index(place, 0)).center()
            at = form.table.viewport().mapToGlobal(row)
            self.press({"at": (at.x(), at.y()), "then_ms": 60})
            self.click(form.lock)
            self.click(form.yes)
            self.until(lambda place=place: bool(form.lines[place].locked), "locked")
        self.press(key("Escape"))

    def agree(self) -> str:
        """Compute the agreement; what its page says."""
        from PySide6.QtWidgets import QApplication, QFileDialog

        out = self.folder / "agreement"
        entries = self.page._menus[self.page.raters_menu]
        place = [e for e in entries if e.isEnabled()].index(self.page.agreement)
        self.click(self.page.raters_menu)
        downs = [key("Down", then_ms=60) for _ in range(place + 1)]
        # The dialog has an event loop of its own: what is typed into it is asked for before.
        self.hands.do(*downs, key("Return", then_ms=2500), key("Control_L", "a"),
                      *path_typed(out), key("Return"))  # fmt: skip
        self.until(lambda: (out / "agreement.md").exists(), "agreement computed")
        assert not any(isinstance(w, QFileDialog) for w in QApplication.topLevelWidgets()
                       if w.isVisible())  # fmt: skip
        return (out / "agreement.md").read_text("utf-8")

    def close(self) -> None:
        self.hands.close()
        self.home.window.close()


def whole(out: str) -> int:
    """From a fresh study to the agreement, on a display of its own."""
    from labapp.ui.qtapp import make_app

    with tempfile.TemporaryDirectory() as folder:
        make_app()
        trial = WholeTrial(Path(folder))
        trial.edit_codebook()
        for place in range(2):
            for rater in ("anna", "ben"):
                trial.code(rater, place)
        trial.lock()
        page = trial.agree()
        trial.close()
    print(page)
    if out:
        Path(out).write_text(page, "utf-8")
    return 0 if "kappa" in page else 1


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
    counts = {
        "ways": number,
        "code keys": trial.tried,
        "codes given or taken back": trial.landed,
        "wrong": trial.wrong,
    }
    told = json.dumps(counts, indent=1)
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
    parser.add_argument("--whole", action="store_true")
    asked = parser.parse_args()
    if asked.inside:
        return whole(asked.out) if asked.whole else inside(asked.out)
    command = [sys.executable, __file__, INSIDE, "--out", asked.out]
    command += ["--whole"] if asked.whole else []
    return on_monitors(
        asked.display,
        lambda environment: subprocess.run(command, env=environment, check=False).returncode,
        monitors=1,
    )


if __name__ == "__main__":
    sys.exit(main())
