"""Every question of the console over every screen of the participant, by real X events.

    python scripts/trial_questions.py [--display :111] [--monitors 2] [--study ID ...]

Starts Xvfb with one or two monitors and a window manager (openbox), opens each study through the
real controller and goes through its plan. Over each kind of screen it opens every question that the
console asks (why a pause was made, whether to skip, end, withdraw, delete, name the
representations, take a flag back), a note, and the line of a skip that can be taken back.

Then it clicks into the participant's window, as a participant does who goes on with the mouse. It
presses Space, Enter, digits, arrow keys and letters by XTEST, closes the question by Escape, and
presses a key of the participant's. At the end it ends the session and types a sentence without a
click. It ends with 1 unless

* no key that was pressed while a question was open reached the participant's screen or became
  anything in the journal;
* a pause begins at once, and is shown in the participant's window before a reason is given;
* after the question, keys reach the participant's window again;
* what was typed after the end is in the note field, and becomes a note when the console is closed.

Needs Xvfb, openbox and xrandr (Debian: xvfb openbox x11-xserver-utils).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.two_hands import Hands, key, middle, on_monitors, typed
from tests.helpers.beside import put_beside

if TYPE_CHECKING:
    from PySide6.QtCore import QObject
    from PySide6.QtWidgets import QWidget

    from labapp.record.events import Event
    from labapp.ui.controller import SessionController

INSIDE = "--inside"
STUDIES = (
    "unmasking-faces", "gradcam-distinction", "prototree-agreement-tree", "concept-repair",
    "synthetic-crowd", "dsprites-demo", "calibration", "concept-foresight", "protopnet-distinction",
    "prototree-distinction", "quickstart", "concept-audit", "protopnet-agreement", "mnist-crowd",
)  # fmt: skip
"""Between them they have every kind of part and screen."""
LOOKS = ("part", "task", "instrument", "visualisation", "sign", "labels_editable", "instruction")
PRESSED = ("space", "Return", "1", "2", "Left", "Down", "f", "z", "BackSpace")
"""What is pressed while a question is open."""
BY_ITSELF = frozenset(
    {"stimulus.shown", "stimulus.hidden", "window.focus", "keyboard.given", "window.shown"}
)
"""Kinds of events that leaving a window makes, no matter who is named as their source."""
SENTENCE = "so 1 2 that was it"
ARMED_S = 1.15
WAIT_S = 3.0

Step = Iterator[float]


class Trial:
    """Goes through one session, on a timer of the event loop. wrong: what did not hold."""

    def __init__(self, shown: SessionController, seen: set[tuple[str, ...]], alone: bool) -> None:
        from PySide6.QtCore import QEvent, QObject, QTimer
        from PySide6.QtGui import QKeyEvent

        self.shown, self.runner, self.seen, self.alone = shown, shown.opened.runner, seen, alone
        self.console, self.window = shown.console, shown.participant
        self.header = shown.console.header
        self.hand = Hands()
        self.events: list[Event] = []
        self.wrong: list[str] = []
        self.asked = self.screens = self.keys = self.stray = 0
        self.pictures: Path | None = None
        self.runner.journal.subscribe(self.events.append)
        trial = self
        self.got: list[int] = []

        class Filter(QObject):
            def eventFilter(self, watched: QObject, event: QEvent) -> bool:
                if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                    trial.got.append(event.key())
                return False

        self._filter: QObject = Filter()
        self.window.windowHandle().installEventFilter(self._filter)
        self._plot = self.plot()
        self._until = time.monotonic() + 1.5
        self._timer = QTimer()
        self._timer.timeout.connect(self._go_on)
        self._timer.start(15)

    def _go_on(self) -> None:
        if self.hand.busy or time.monotonic() < self._until:
            return
        try:
            self._until = time.monotonic() + next(self._plot)
        except StopIteration:
            self._timer.stop()

    def close(self) -> None:
        self._timer.stop()
        self.hand.close()

    # --- small steps ---

    def fail(self, what: str) -> None:
        part = self.runner.part
        self.wrong.append(f"{part.id if part else 'the end'}: {what}")
        print(f"WRONG: {self.wrong[-1]}", flush=True)

    def until(self, true: Callable[[], bool], what: str) -> Step:
        late = time.monotonic() + WAIT_S
        while not true():
            if time.monotonic() > late:
                self.fail(f"in vain: {what}")
                return
            yield 0.03

    def click(self, widget: QWidget) -> Step:
        self.hand.do(middle(widget))
        yield 0.12

    def press(self, *names: str) -> Step:
        self.hand.do(key(*names))
        yield 0.12

    def to_console(self) -> Step:
        if self.alone and not self.console.isActiveWindow():
            yield from self.press("Control_L", "Shift_L", "m")
            yield from self.until(self.console.isActiveWindow, "the console comes to the front")

    def to_participant(self) -> Step:
        if self.alone:
            yield 0.5  # the window system may be about to bring it back
        if self.alone and self.console.isActiveWindow():
            yield from self.press("Control_L", "Shift_L", "m")
        where = self.shown.keyboard
        yield from self.until(
            lambda: where.standing.where == "participant", "the participant has the keyboard"
        )

    # --- the plot ---

    def plot(self) -> Step:
        from labapp.record.events import Source
        from labapp.record.events.commands import ConfirmSkip, GiveConsent, SkipStage

        while (part := self.runner.part) is not None:
            yield from self.until(lambda: not self.window.covered, "its screen comes up")
            look = tuple(str(getattr(part, name, "")) for name in LOOKS)
            if look not in self.seen:
                self.seen.add(look)
                self.screens += 1
                before = time.monotonic()
                yield from self.over_a_screen()
                print(f"{' '.join(look)}: {time.monotonic() - before:.0f} s", flush=True)
            if part.consents:
                self.runner.send(GiveConsent())
            else:
                self.runner.send(SkipStage(self.runner.state.index), Source.MODERATOR)
                self.runner.send(ConfirmSkip())
            yield 0.2
            if not any(self.unseen(other) for other in self.rest()):
                break
        yield from self.after_the_end()

    def rest(self) -> list[Any]:
        return list(self.runner.machine.parts[self.runner.state.index :])

    def unseen(self, part: Any) -> bool:
        return tuple(str(getattr(part, name, "")) for name in LOOKS) not in self.seen

    def over_a_screen(self) -> Step:
        """Every question over the screen that is up."""
        for open_it, close_it in (
            (self.note, self.escape), (self.pause, self.go_on), (self.pause_for, self.go_on),
            (self.skip, self.escape), (self.skipping, self.escape), (self.end, self.escape),
            (self.withdraw, self.escape), (self.delete, self.escape), (self.name, self.escape),
            (self.flag, self.escape),
        ):  # fmt: skip
            yield from self.to_participant()
            before = len(self.events)
            opened = yield from open_it()
            if not opened:
                continue
            self.asked += 1
            name = open_it.__name__
            if name != "pause" or not self.alone:
                yield from self.until(self.console.isActiveWindow, f"{name} has the keyboard")
            if not self.alone:
                # The participant goes on with the mouse, which takes the moderator no key away.
                yield from self.click(self.window.top)
            at, got = len(self.events), len(self.got)
            # Enter keeps what is written in a field.
            writes = open_it in (self.note, self.pause_for)
            pressed = [each for each in PRESSED if not (writes and each == "Return")]
            self.hand.do(*(key(each, hold_ms=20, then_ms=25) for each in pressed))
            yield 0.25
            self.keys += len(pressed)
            self.look(name, before, at, got)
            yield from close_it()
            yield from self.to_participant()
            got = len(self.got)
            yield from self.press("F7")
            if len(self.got) != got + 1:
                self.fail(f"after {name} a key does not reach the participant's window")
        self.console.notes.input.clear()

    def look(self, name: str, before: int, at: int, got: int) -> None:
        """What has come of the keys."""
        from labapp.record.events import Source

        mine = [e for e in self.events[before:] if e.source == Source.PARTICIPANT]
        for event in mine:
            if event.payload.get("outcome") == "interrupted":
                continue  # the console covers the picture
            if event.kind not in BY_ITSELF and not event.kind.startswith("screen."):
                self.stray += 1
                self.fail(f"{name}: {event.kind} {dict(event.payload)} of the participant")
        for event in self.events[at:]:
            if event.source == Source.MODERATOR or event.kind == "close.requested":
                self.fail(f"{name}: a key became {event.kind}")
        if len(self.got) != got and not (self.alone and name == "pause"):
            self.stray += len(self.got) - got
            self.fail(f"{name}: {len(self.got) - got} keys came to the participant's window")

    def escape(self) -> Step:
        yield from self.press("Escape")
        if self.console.notes.correction.asks:
            self.fail("Escape leaves the correction open")
        if self.console.asking is not None:
            self.fail(f"Escape leaves {self.console.asking} open")

    def go_on(self) -> Step:
        yield from self.press("F9")
        if self.runner.state.pauses.paused:
            self.fail("F9 does not continue")

    def note(self) -> Any:
        yield from self.press("Control_L", "n")
        return True

    def pause(self) -> Any:
        resting = self.runner.part is not None and self.runner.part.rests
        if resting:
            return False
        if self.alone:
            yield from self.press("F9")
        else:
            yield from self.click(self.header.pause)
        yield from self.until(
            lambda: self.runner.state.pauses.paused and self.window.covered,
            "the pause begins, and the participant sees it",
        )
        return True

    def pause_for(self) -> Any:
        if self.runner.part is not None and self.runner.part.rests:
            return False
        yield from self.to_console()
        yield from self.click(self.header.pause)
        yield from self.until(self.header.reasons.isVisible, "it asks why")
        yield from self.click(self.header.reasons.buttons[-1])
        self.hand.do(*typed("fire"))
        yield 0.1
        return True

    def skip(self) -> Any:
        yield from self.to_console()
        if not self.header.skip.isEnabled():
            return False
        yield from self.click(self.header.skip)
        return True

    def skipping(self) -> Any:
        if not (yield from self.skip()):
            return False
        yield ARMED_S
        yield from self.click(self.header.questions.yes)
        yield from self.until(self.header.skipping.isVisible, "the part is being skipped")
        return True

    def end(self) -> Any:
        yield from self.to_console()
        yield from self.click(self.header.end)
        return True

    def withdraw(self) -> Any:
        yield from self.end()
        yield ARMED_S
        yield from self.click(self.header.questions.other)
        return True

    def delete(self) -> Any:
        yield from self.withdraw()
        yield ARMED_S
        yield from self.click(self.header.questions.other)
        return True

    def name(self) -> Any:
        yield from self.to_console()
        if not self.header.blind.isVisible():
            return False
        yield from self.click(self.header.blind)
        return True

    def flag(self) -> Any:
        if not self.console.notes.buttons:
            return False
        yield from self.press("Control_L", str(min(self.console.notes.buttons)))
        yield 0.1
        yield from self.press("Control_L", "Shift_L", "n")
        return True

    def after_the_end(self) -> Step:
        """The session is ended; a sentence is typed where the keyboard is then."""
        if not self.runner.finished:
            yield from self.end()
            yield ARMED_S
            yield from self.click(self.header.questions.yes)
        yield from self.to_console()
        yield from self.until(lambda: self.header.done.isVisible(), "the session is over")
        yield from self.until(self.console.isActiveWindow, "the console has the keyboard")
        self.hand.do(*(key(letter, hold_ms=20, then_ms=25) for letter in SENTENCE))
        yield 0.3
        text = self.console.notes.input.text()
        if text != SENTENCE or not self.runner.finished:
            self.fail(f"after the end {text!r} is in the note field, not {SENTENCE!r}")
        yield ARMED_S
        yield from self.click(self.header.done)
        notes = [event.payload["text"] for event in self.events if event.kind == "note.added"]
        if notes[-1:] != [SENTENCE]:
            self.fail(f"the notes are {notes}")


def without_sound(study: str, folder: Path) -> Path:
    """A shipped study that needs no microphone, in a folder of its own with what it names."""
    import yaml

    from labapp.base.resources import assets

    path = put_beside(folder) / f"{study}.yaml"
    asked = yaml.safe_load((assets() / "studies" / path.name).read_text("utf-8"))
    asked.setdefault("recording", {})["audio"] = "off"
    path.write_text(yaml.safe_dump(asked, sort_keys=False, allow_unicode=True), "utf-8")
    if (drawn := assets() / "changes" / study).is_dir():
        shutil.copytree(drawn, folder / "changes" / study)
    return path


def inside(asked: argparse.Namespace) -> int:
    from PySide6.QtCore import QTimer

    from labapp.ui.controller import SessionController
    from labapp.ui.qtapp import make_app
    from labapp.ui.starting import RunOptions, open_new

    app = make_app()
    seen: set[tuple[str, ...]] = set()
    wrong: list[str] = []
    total = {"screens": 0, "questions": 0, "keys": 0, "keys that reached the other person": 0}
    with tempfile.TemporaryDirectory() as temporary:
        for study in asked.study or STUDIES:
            folder = Path(temporary) / study
            options = RunOptions(
                data=folder / "data", private=folder / "private", audio="off", blind=True
            )
            folder.mkdir()
            opened = open_new(str(without_sound(study, folder)), "P01", "1", options)
            shown = SessionController(opened, options)
            shown.closed.connect(app.exit)
            shown.start()
            trial = Trial(shown, seen, alone=asked.monitors == 1)
            late = QTimer()
            late.setSingleShot(True)
            late.timeout.connect(lambda: app.exit(3))
            late.start(asked.limit * 1000)
            status = app.exec()
            late.stop()
            if status == 3:
                trial.fail(f"{study} is not done after {asked.limit} s")
                shown._end()
            trial.close()
            wrong += [f"{study}: {line}" for line in trial.wrong]
            for name, value in zip(
                total, (trial.screens, trial.asked, trial.keys, trial.stray), strict=True
            ):
                total[name] += value
    print(f"{asked.monitors} monitor(s): {total}")
    for line in wrong:
        print(f"WRONG: {line}")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--display", default=":111")
    parser.add_argument("--monitors", type=int, choices=(1, 2), default=2)
    parser.add_argument("--study", action="append", metavar="ID", help="only these")
    parser.add_argument("--limit", type=int, default=900, metavar="S", help="for each study")
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        return inside(asked)
    command = [sys.executable, __file__, INSIDE, *sys.argv[1:]]
    return on_monitors(
        asked.display,
        lambda environment: subprocess.run(command, env=environment).returncode,
        monitors=asked.monitors,
    )


if __name__ == "__main__":
    raise SystemExit(main())
