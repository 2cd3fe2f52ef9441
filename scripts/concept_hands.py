"""A whole session of concept repair in real windows on two monitors, by real events of an X server:
introduction, examples, practice, pictures with answers foretold, a pause, kill -9 and a resumed
session, the grid, questionnaires and the end.

    python scripts/concept_hands.py [--study concept-repair-birds] [--display :112]
        [--pictures DIR] [--out FOLDER] [--language de] [--changes 6]

--changes is for a study whose changes are drawn beforehand, concept-forecast: so many of each
stage, from the first list; 0 leaves all of them.

Starts Xvfb with two monitors and a window manager (openbox). The session is a shipped study with
fewer pictures and without sound, in a process of its own that is killed while a change is foretold
and started again; another process presses keys and buttons by XTEST, odd pictures by mouse, even
ones by keyboard. It ends with 1 unless

* the journal has what the hands did: of every picture the same settings in the same order and the
  same end, with the device by which it was done, and of every change the answer that was forecast;
* the session was completed once, and `labapp sessions verify` says that it is whole;
* in no window anything of a timed picture had to be scrolled to;
* the replay draws what the participant's window showed, to the pixel, at each moment that was
  looked at, but for what was under the pointer, the bar of the time that is left, which is drawn
  some times a second, the line that says who has the keyboard, and a consent form.

--pictures keeps what both monitors show at each step. --out keeps the session; else it is deleted.
Needs Xvfb, openbox and xrandr (Debian: xvfb openbox x11-xserver-utils).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.two_hands import Hands, key, middle, on_monitors, typed
from tests.helpers.beside import put_beside

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from labapp.record.events import Event
    from labapp.ui.controller import SessionController

INSIDE = "--inside"
PAUSED_AT = "stage-1", 2
UNDONE_EVERY = 3
LOOK_MS, WAIT_S, SETTLES_S = 40, 2.5, 0.4
"""How often is looked, how long for what comes of a press, and until both windows show it."""
MOST_IN_VAIN = 4
NAME = "robin hands"
GIVEN = "plan"
"""The device of a change that the study gave."""
KEYS = {0: "Left", 2: "Right"}
DONE = "hands.jsonl"
MOMENTS = "moments"
SHORT = 6
"""Drawn changes of a stage, unless it is said."""
COMPARE = "--compare"
RING = 6
"""Pixels round a widget that are not compared, either."""
ONCE = {
    "session.completed": 1, "session.paused": 1, "session.resumed": 2,
    "note.added": 1, "flag.added": 1,
}  # fmt: skip
"""How often each is in the journal; it goes on after the pause and after the crash."""
COUNTED = (
    "repair.ended", "concept.set", "concept.undone", "answer.foretold", "grid.ticked",
    "questionnaire.submitted",
)  # fmt: skip
ITEMS = {"repair": 2, "control": 1, "natural": 1}


def shorten_changes(folder: Path, rows: dict[str, Any], name: str, most: int) -> None:
    """Write the first participant's list with so many changes of each stage, and leave the study
    its cell alone. Of a test, which has its three types one after the other, some of each."""
    from labapp.base.resources import assets

    (draw,) = (item for item in rows["assignment"].values() if "cells" in item)
    first = next(iter(draw["cells"]))
    draw["cells"] = {first: draw["cells"][first]}
    file = f"changes/{name}/{draw['cells'][first]['list']}.csv"
    head, *lines = (assets() / file).read_text("utf-8").splitlines()
    short = [head]
    for line in lines:
        stimuli, phase, changes = line.split(",")
        every = changes.split()
        kept = every[:: max(1, len(every) // most)][:most] if most else every
        short.append(f"{stimuli},{phase},{' '.join(kept)}")
    path = folder / file
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(short) + "\n", "utf-8")


def study(folder: Path, name: str, language: str, changes: int = SHORT) -> Path:
    """The shipped study with a few pictures and without sound, beside what it names."""
    import yaml

    from labapp.base.resources import assets

    rows = yaml.safe_load((assets() / "studies" / f"{name}.yaml").read_text("utf-8"))
    beside = put_beside(folder)
    if any("changes" in item.get("stages", {}) for item in rows["flow"]):
        shorten_changes(beside, rows, name, changes)
    rows |= {"id": "concept-hands", "recording": {"audio": "off"}, "language": language}
    for name_of_others in ("related", "labels"):  # studies and models that are not in it
        rows.pop(name_of_others, None)
    for item in rows["flow"]:
        if stages := item.get("stages"):
            if "changes" not in stages:
                stages["items"] = dict(ITEMS)
            if practice := stages.get("practice"):
                practice["items"] = 2
    path = beside / "concept-hands.yaml"
    path.write_text(yaml.safe_dump(rows, sort_keys=False, allow_unicode=True), "utf-8")
    return path


class Player:
    """Looks at a session again and again, and does what is to be done."""

    def __init__(self, shown: SessionController, arguments: argparse.Namespace) -> None:
        from PySide6.QtCore import QTimer

        self.shown, self.arguments = shown, arguments
        self.runner, self.window = shown.opened.runner, shown.participant
        self.hands = Hands()
        self.done = (arguments.folder / DONE).open("a", encoding="utf-8")
        self.waits: tuple[Any, ...] = ()
        self.until = 0.0
        self.settled = time.monotonic() + 2 * WAIT_S  # the windows come up
        self.in_vain = 0
        self.wrong: list[str] = []
        self.moderated: set[str] = set()
        self.photographed: set[str] = set()
        self.timer = QTimer()
        self.timer.timeout.connect(self.look)
        self.timer.start(LOOK_MS)

    def note(self, **values: Any) -> None:
        """Write down what the hands do, so that it outlives the process."""
        self.done.write(json.dumps(values) + "\n")
        self.done.flush()
        os.fsync(self.done.fileno())

    def state(self) -> tuple[Any, ...]:
        """What changes when something that was done has come to the session."""
        part, state = self.runner.part, self.runner.state
        focus = self.window.focusWidget()
        return (part and part.id, repr(state.part_state), state.pauses.paused, id(focus))

    def do(self, *actions: dict[str, Any]) -> None:
        """Press, and wait until something has changed; in vain more than a few times is wrong."""
        self.waits, self.until = self.state(), time.monotonic() + WAIT_S
        self.hands.do(*actions)

    def look(self) -> None:
        if self.hands.busy or time.monotonic() < self.settled:
            return
        if self.waits:
            if self.state() == self.waits and time.monotonic() < self.until:
                return
            self.in_vain = 0 if self.state() != self.waits else self.in_vain + 1
            self.waits = ()
            self.settled = time.monotonic() + SETTLES_S
            if self.in_vain > MOST_IN_VAIN:
                self.wrong.append(f"nothing comes of it: {self.state()[:2]}")
                self.shown.closed.emit(2)
            return
        if self.runner.finished:
            self.keep("end")
            self.do(middle(self.shown.console.header.done))
        elif self.runner.state.pauses.paused:
            self.keep("paused")
            self.do(middle(self.shown.console.header.pause))
        elif not self.window.isActiveWindow():
            self.hands.do({"at": (self.window.x() + 700, self.window.y() + 20), "then_ms": 300})
        else:
            self.play()

    def play(self) -> None:
        part = self.runner.part
        assert part is not None
        acts = {
            "concept_repair": self.repair,
            "concept_grid": self.grid,
            "questionnaire": self.answer,
            "consent": self.consent,
        }
        if part.part in acts:
            acts[part.part]()
        else:
            self.keep(part.id)
            self.do(middle(self.window.bottom.right))

    # What a participant does.

    def consent(self) -> None:
        from PySide6.QtWidgets import QLineEdit

        from labapp.ui.widgets.choice import CheckBox

        for box in self.seen(CheckBox):
            if not box.isChecked():
                self.do(middle(box))
                return
        for field in self.seen(QLineEdit):
            if field.text() != NAME:
                self.do(middle(field), key("Control_L", "a"), *typed(NAME), key("Tab"))
                return
        self.keep("consent")
        self.do(key("Return") if self.window.bottom.right.hasFocus() else key("Tab"))

    def repair(self) -> None:
        screen: Any = self.window.screen_shown
        part, trial = screen.part, screen.trial
        if trial is None or trial.started_ns is None or trial.phase == "over":
            return
        where, device = (part.id, trial.number), ("keyboard", "mouse")[trial.number % 2]
        bars = self.window.body.verticalScrollBar(), self.window.body.horizontalScrollBar()
        if any(bar.maximum() for bar in bars):
            self.wrong.append(f"{where} must be scrolled")
        if trial.phase == "foretelling":
            self.keep(f"{part.id}-foretelling-{device}")
            self.foretell(screen, device, where)
            return
        self.keep(f"{part.id}-{device}-{'changed' if trial.history else 'begun'}")
        if where == PAUSED_AT and trial.history and "pause" not in self.moderated:
            self.moderate()
            return
        item = part.items[trial.number - 1]
        left = [place for place in item.wrong() or (0,) if not trial.states[place]]
        given = part.instruction == "foresight"
        gives_up = trial.number % UNDONE_EVERY == 0 and not given
        if gives_up and len(trial.history) == 1 and self.times(where, "undo") == 0:
            self.note(where=where, undo=device)
            self.do(key("BackSpace") if device == "keyboard" else middle(screen.undo))
        elif gives_up and self.times(where, "undo"):
            self.note(where=where, end="gave_up")
            self.do(middle(self.window.bottom.left))
        elif left and not given:
            self.set(screen, left[0], 2 if item.concepts[left[0]] else 1, device, where)
        elif device == "mouse":
            self.note(where=where, end="done")
            self.do(middle(self.window.bottom.right))
        elif self.window.bottom.right.hasFocus():
            self.note(where=where, end="done")
            self.do(key("Return"))
        else:
            self.do(key("Tab"))

    def set(self, screen: Any, concept: int, to: int, device: str, where: tuple[str, int]) -> None:
        switch = screen.switches.switches[concept]
        self.note(where=where, set=[concept, to], device=device)
        if device == "mouse":
            self.do(middle(switch.options[switch.states.index(to)]))
        else:
            self.do(key(str(concept + 1), then_ms=120), key(KEYS[switch.states.index(to)]))

    def foretell(self, screen: Any, device: str, where: tuple[str, int]) -> None:
        trial = screen.trial
        if trial.picked is None:
            rows = len(screen.card.options)
            row = screen.card.options[where[1] % rows]
            self.do(middle(row) if device == "mouse" else key("Down"))
        elif "pause" in self.moderated:  # the first that is foretold after it
            print(f"killed at {where}, {trial.pending} foretold as {trial.picked!r}", flush=True)
            self.hands.close()
            os.kill(os.getpid(), signal.SIGKILL)
        elif device == "mouse" or screen.sure[0].hasFocus():
            self.note(where=where, foretold=trial.picked, device=device)
            if screen.part.withheld:
                self.note(where=where, end="done")
            self.do(middle(screen.sure[where[1] % 2]) if device == "mouse" else key("Return"))
        else:
            self.do(key("Tab"))

    def grid(self) -> None:
        screen: Any = self.window.screen_shown
        trial = screen.trial
        if trial is None or trial.started_ns is None or trial.outcome is not None:
            return
        if not trial.ticked:
            self.do(middle(screen.grid.options[3]))
        elif len(trial.ticked) == 1:
            self.do(key("Down", then_ms=80), key("space"))
        else:
            self.keep(self.runner.part.id)  # type: ignore[union-attr]
            self.do(middle(self.window.bottom.right))

    def answer(self) -> None:
        from labapp.tasks.questionnaire.screen.kinds.rating import RatingView
        from labapp.tasks.questionnaire.screen.kinds.slider import SliderView
        from labapp.tasks.questionnaire.screen.kinds.written import WrittenView

        screen: Any = self.window.screen_shown
        page = screen.pages[screen.state.page]
        for view in page.asked():
            if view.item.id in screen.state.answers:
                continue
            self.window.body.ensureWidgetVisible(view.entrance())
            if isinstance(view, WrittenView):
                self.do(middle(view.entrance()), *typed("it was easy"), key("Tab"))
            elif isinstance(view, SliderView):
                self.do(middle(view.slider))
            elif isinstance(view, RatingView):
                self.do(middle(view.entrance()), key("5"))
            else:
                self.do(middle(view.entrance()))
            return
        self.keep(self.runner.part.id)  # type: ignore[union-attr]
        self.do(middle(self.window.bottom.right))

    # What a moderator does.

    def moderate(self) -> None:
        """A note, a flag, and a pause, which `look` ends."""
        console = self.shown.console
        if "note" not in self.moderated:
            self.moderated.add("note")
            self.hands.do(middle(console.notes.input), *typed("looks long"), key("Return"))
        elif "flag" not in self.moderated:
            self.moderated.add("flag")
            self.hands.do(key("Control_L", "1"))
        else:
            self.moderated.add("pause")
            self.do({**middle(console.header.pause), "then_ms": 400})

    def times(self, where: tuple[str, int], what: str) -> int:
        rows = actions(self.arguments.folder)
        return sum(tuple(row["where"]) == where and what in row for row in rows)

    def seen(self, kind: type[QWidget]) -> list[Any]:
        return [widget for widget in self.window.findChildren(kind) if widget.isVisible()]

    def keep(self, name: str) -> None:
        """A picture of both monitors, once."""
        if name in self.photographed:
            return
        self.photographed.add(name)
        self.keep_moment()
        if self.arguments.pictures is None:
            return
        self.arguments.pictures.mkdir(parents=True, exist_ok=True)
        windows = {"participant": self.window, "moderator": self.shown.console}
        for who, window in windows.items():
            path = self.arguments.pictures / f"{len(self.photographed):02}-{name}-{who}.png"
            if self.arguments.resume:
                path = path.with_stem(f"resumed-{path.stem}")
            window.screen().grabWindow(0).save(str(path))

    def keep_moment(self) -> None:
        """The participant's window without its focus ring, with its time, and what is not compared.
        What is filled in on a consent form is in no journal."""
        from PySide6.QtCore import Qt
        from PySide6.QtGui import QCursor
        from PySide6.QtWidgets import QApplication

        if self.runner.part is not None and self.runner.part.part == "consent":
            return
        folder = self.arguments.folder / MOMENTS
        folder.mkdir(exist_ok=True)
        focus = self.window.focusWidget()
        if focus is not None:
            focus.clearFocus()
        t_ns = self.runner.clock.now_ns()
        self.window.grab().save(str(folder / f"{t_ns}.png"))
        if focus is not None:
            focus.setFocus(Qt.FocusReason.OtherFocusReason)
        masked = []
        time_left = getattr(self.window.screen_shown, "time", None)
        for widget in {time_left, self.window.top.keyboard, QApplication.widgetAt(QCursor.pos())}:
            if widget is not None and self.window.isAncestorOf(widget):
                corner = widget.mapTo(self.window, widget.rect().topLeft())
                masked.append([corner.x(), corner.y(), widget.width(), widget.height()])
        (folder / f"{t_ns}.json").write_text(json.dumps(masked), "utf-8")

    def close(self) -> None:
        self.timer.stop()
        self.hands.close()
        self.done.close()


def actions(folder: Path) -> list[dict[str, Any]]:
    """What the hands did, in both processes."""
    path = folder / DONE
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def inside(arguments: argparse.Namespace) -> int:
    """Play in this process, to the end or until it kills itself."""
    from labapp.ui.controller import SessionController
    from labapp.ui.qtapp import make_app
    from labapp.ui.starting import RunOptions, open_again, open_new

    app = make_app()
    options = RunOptions(
        data=arguments.folder / "data", private=arguments.folder / "private", audio="off"
    )
    if arguments.resume:
        opened = open_again(session_of(arguments.folder), options)
    else:
        opened = open_new(
            str(study(arguments.folder, arguments.study, arguments.language, arguments.changes)),
            "P01",
            "1",
            options,
        )
    shown = SessionController(opened, options)
    shown.closed.connect(app.exit)
    shown.start()
    player = Player(shown, arguments)
    status = app.exec()
    player.close()
    for line in player.wrong:
        print(f"WRONG: {line}", flush=True)
    return int(bool(status or player.wrong))


def session_of(folder: Path) -> Path:
    (path,) = (folder / "data").glob("*/sub-*")
    return path


def judge(events: Sequence[Event], done: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What of a journal is not what the hands did."""
    kinds = Counter(event.kind for event in events)
    for kind, wanted in ONCE.items():
        if kinds[kind] != wanted:
            yield f"{kinds[kind]} {kind}, not {wanted}"
    changes: dict[tuple[str, int], list[Any]] = {}
    foretold: dict[tuple[str, int], list[Any]] = {}
    ends: dict[tuple[str, int], str] = {}
    for event in events:
        where, payload = (event.part_id or "", event.trial or 0), event.payload
        if event.kind == "answer.foretold":
            foretold.setdefault(where, []).append((payload["answer"], payload["device"]))
        elif event.kind == "concept.set" and payload["device"] != GIVEN:
            change = [payload["concept"], payload["to"]], payload["device"]
            changes.setdefault(where, []).append(change)
        elif event.kind == "repair.ended":
            ends[where] = payload["how"]
    wanted_ends: dict[tuple[str, int], str] = {}
    wanted_changes: dict[tuple[str, int], list[Any]] = {}
    wanted_foretold: dict[tuple[str, int], list[Any]] = {}
    for row in done:
        part, trial = row["where"]
        if "set" in row:
            wanted_changes.setdefault((part, trial), []).append((row["set"], row["device"]))
        elif "foretold" in row:
            forecast = row["foretold"], row["device"]
            wanted_foretold.setdefault((part, trial), []).append(forecast)
        elif "end" in row:
            wanted_ends[part, trial] = row["end"]
    if foretold != wanted_foretold:
        yield f"answers forecast were {foretold}, not {wanted_foretold}"
    for where in sorted({*wanted_changes, *changes}):
        # What was chosen and lost with the process is chosen again.
        wanted_here = [change for change, _ in groupby(wanted_changes.get(where, []))]
        if changes.get(where, []) != wanted_here:
            yield f"{where}: {changes.get(where)} was set, not {wanted_here}"
    if ends != wanted_ends:
        yield f"pictures ended {ends}, not {wanted_ends}"
    for what, done_here in (("concepts were set", changes), ("answers were forecast", foretold)):
        devices = {device for each in done_here.values() for _, device in each}
        if done_here and devices != {"mouse", "keyboard"}:
            yield f"{what} by {sorted(devices)} alone"


def compare(folder: Path) -> int:
    """Draw each moment that was kept from the journal; returns 1 where a pixel differs."""
    import numpy as np
    from PySide6.QtGui import QImage
    from PySide6.QtWidgets import QApplication

    from labapp.record.journal.opening import open_record
    from labapp.session.replay.history import History
    from labapp.ui.qtapp import make_app
    from labapp.ui.replay.picture import PastWindow

    def pixels(image: QImage) -> Any:
        image = image.convertToFormat(QImage.Format.Format_RGB32)
        whole = np.frombuffer(image.constBits(), np.uint8)
        return whole.reshape(image.height(), image.width(), 4)[..., :3].copy()

    app = make_app()
    seen = sorted((folder / MOMENTS).glob("*.png"))
    wrong = masked = 0
    with History(open_record(session_of(folder))) as history:
        past = PastWindow(history)
        for path in seen:
            live = pixels(QImage(str(path)))
            past.show_time(int(path.stem))
            QApplication.processEvents()
            drawn = pixels(past.draw(past.picture.window.size(), 1.0).toImage())
            if drawn.shape != live.shape:
                print(f"WRONG: {path.name}: drawn {drawn.shape}, and it was {live.shape}")
                wrong += 1
                continue
            differs = np.any(drawn != live, axis=2)
            before = int(differs.sum())
            for x, y, width, height in json.loads(path.with_suffix(".json").read_text("utf-8")):
                differs[
                    max(0, y - RING) : y + height + RING, max(0, x - RING) : x + width + RING
                ] = 0
            masked += before > 0 and not differs.any()
            if differs.any():
                wrong += 1
                rows, columns = np.nonzero(differs)
                print(
                    f"WRONG: {path.name}: {differs.sum()} pixels differ, rows {rows.min()} to "
                    f"{rows.max()}, columns {columns.min()} to {columns.max()}"
                )
        past.close()
        for problem in history.problems:
            print(f"WRONG: {problem}")
        wrong += len(history.problems)
    print(
        f"{len(seen)} moments drawn again from the journal; {masked} differ below the pointer "
        f"or in the time that is left alone, {wrong} elsewhere"
    )
    app.processEvents()
    return int(bool(wrong or not seen))


def events_of(folder: Path) -> list[Event]:
    from labapp.record.journal.read import read_rows

    return [row.event() for row in read_rows(session_of(folder))]


def play_and_judge(arguments: argparse.Namespace, environment: dict[str, str]) -> int:
    """Both processes, one after the other, and what came of it."""
    command = [sys.executable, __file__, INSIDE, *sys.argv[1:], "--folder", str(arguments.folder)]
    first = subprocess.run(command, env=environment).returncode
    if first != -signal.SIGKILL:
        print(f"WRONG: the session ended with {first} before it was killed")
        return 1
    status = subprocess.run([*command, "--resume"], env=environment).returncode
    events = events_of(arguments.folder)
    kinds = Counter(event.kind for event in events)
    print(json.dumps({kind: kinds[kind] for kind in COUNTED}, indent=2))
    wrong = list(judge(events, actions(arguments.folder)))
    for line in wrong:
        print(f"WRONG: {line}")
    verify = [
        sys.executable,
        "-m",
        "labapp",
        "sessions",
        "verify",
        str(session_of(arguments.folder)),
    ]
    whole = subprocess.run(verify, env=environment).returncode
    compared = subprocess.run([*command, COMPARE], env=environment).returncode
    return int(bool(status or wrong or whole or compared))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--study", default="concept-repair-birds")
    parser.add_argument("--language", default="en")
    parser.add_argument("--display", default=":112")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="of both monitors")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="keep the session there")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--resume", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(
        "--changes", type=int, default=SHORT, metavar="N", help="of each drawn stage; 0: all"
    )
    parser.add_argument(COMPARE, action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.compare:
        return compare(arguments.folder)
    if arguments.inside:
        return inside(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        arguments.folder = (arguments.out or Path(temporary)).resolve()
        arguments.folder.mkdir(parents=True, exist_ok=True)
        return on_monitors(
            arguments.display, lambda environment: play_and_judge(arguments, environment)
        )


if __name__ == "__main__":
    raise SystemExit(main())
