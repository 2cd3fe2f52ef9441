"""One keyboard and two people, on two monitors, by real key events of an X server.

    python scripts/trial_keyboard.py [--display :111] [--seed N] [--out FILE.json]

Starts Xvfb with two monitors and a window manager (openbox), opens a session of three kinds of part
(reconstruction, a question of seven points, 100 unmasked pictures) through the real controller, and
lets two other processes press keys and buttons by XTEST. One is the participant's hands, who go on
all the time; the other the moderator's, who writes notes (begun by a click and by Ctrl+N, ended by
Enter, by Escape, or left lying), clicks and presses flags and prompts, clicks into the list of
notes and pauses, in every part. It ends with 1 unless

* every key of the participant's was taken by the participant's window, or fell into a pause or into
  a time during which the journal says that the keyboard was away;
* no such key became a flag, a prompt, a pause or a note of its own;
* every note, flag and prompt of the moderator's is in the journal, with its letters (the
  participant's keys fall into a note that is being written, and arrow keys move its cursor);
* every response that counts was given at the time at which it was injected;
* every stimulus that the keyboard was away from is marked, and no other.

What it measures goes to standard output: how often and how long the keyboard was away, and the
errors of response times as in benchmarks/stimulus_timing.py. Needs Xvfb, openbox and xrandr
(Debian: xvfb openbox x11-xserver-utils).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.two_hands import Hands, key, middle, on_monitors, typed
from tests.helpers.beside import put_beside

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from labapp.record.events import Event
    from labapp.ui.controller import SessionController

MS = 1_000_000
INSIDE = "--inside"
SLACK_MS = 4
"""The time of a press that is known less well says nothing of the error of a response."""
PARTICIPANTS = {"Left", "Right", "f", "j", *"1234567"}
LETTERS = "abcdeghik lmnopqrstuvwxyz"
"""Of the moderator: none that the participant presses, so that notes show whose keys they are."""


# --- the session ---


def study(folder: Path) -> Path:
    """A study of the three kinds of part, beside links to what it names."""
    import yaml

    flow = [
        {
            "stages": {
                "task": "reconstruction", "models": ["sinelines/gt"], "trials": 1,
                "skip": "always", "after": ["seq"],
            }
        },
        {
            "stages": {
                "task": "unmasking", "stimuli": "faces-unmasking", "set": 1,
                "methods": ["gradient"],
                "masks": {"smallest": 5, "largest": 60, "count": 10}, "fill": "mean",
                "keys": ["F", "J", "Space"], "size_px": 384, "blank_ms": 150,
                "intro": "texts/{language}/unmasking-announcement.md",
            }
        },
        {"debrief": "texts/{language}/debrief-unmasking.md"},
    ]  # fmt: skip
    path = put_beside(folder) / "keyboard-trial.yaml"
    reply = {
        "id": "keyboard-trial", "title": "One keyboard, two people", "version": 1,
        "language": "en", "presentation": "improved", "recording": {"audio": "off"},
        "flags": {1: "insight", 2: "prompt", 3: "confusion", 4: "technical"}, "flow": flow,
    }  # fmt: skip
    path.write_text(yaml.safe_dump(reply, sort_keys=False), "utf-8")
    return path


class Witness:
    """What both windows got, seen from outside of what is tried: every press with its time stamp,
    its window, and whether it counted; and when the participant's window had the keyboard."""

    def __init__(self, shown: SessionController) -> None:
        from PySide6.QtCore import QEvent, QObject
        from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence

        witness = self
        self.presses: list[tuple[str, int, str, bool]] = []
        self.away: list[tuple[int, int]] = []
        self._since: int | None = None
        self.shown = shown
        self.last: tuple[str, int, str] | None = None

        class Filter(QObject):
            def eventFilter(self, watched: QObject, event: QEvent) -> bool:
                if (
                    event.type() == QEvent.Type.KeyPress
                    and isinstance(event, QKeyEvent)
                    and not event.isAutoRepeat()
                ):
                    mine = watched is shown.participant.windowHandle()
                    name = QKeySequence(event.key()).toString().lower()
                    where = "participant" if mine else "console"
                    witness.last = (name, event.timestamp() * MS, where)
                return False

        self._filter: QObject = Filter()
        for window in (shown.participant, shown.console):
            window.windowHandle().installEventFilter(self._filter)
        take = shown.keyboard.keys.take

        def taken(key: int, kind: Any, *, repeated: bool) -> bool:
            counts = take(key, kind, repeated=repeated)
            if kind == "press" and not repeated and self.last is not None:
                self.presses.append((*self.last, counts))
                self.last = None
            self.look()
            return counts

        shown.keyboard.keys.take = taken  # type: ignore[method-assign]
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.focusWindowChanged.connect(lambda _: self.look())

    def look(self) -> None:
        """Note whether the participant's keys count now."""
        has = self.shown.participant.isActiveWindow() and not self.shown.keyboard.keys.waiting
        now = time.perf_counter_ns()
        if not has and self._since is None:
            self._since = now
        elif has and self._since is not None:
            self.away.append((self._since, now))
            self._since = None

    def within(self, start: int, end: int) -> bool:
        return any(a <= end and b >= start for a, b in self.away)


class Trial:
    """Lets both pairs of hands go through a session, on timers of the event loop."""

    def __init__(self, shown: SessionController, seed: int) -> None:
        from PySide6.QtCore import QTimer

        self.shown, self.runner = shown, shown.opened.runner
        self.dice = random.Random(seed)
        self.participant, self.moderator = Hands(), Hands()
        self.witness = Witness(shown)
        self.notes: list[str] = []
        self.flags: list[int] = []
        self.prompts = self.pauses = self.responded = 0
        self.answered: tuple[Any, ...] = ()
        self.rest_until = 0.0
        self.in_vain = 0
        self._plot = self.plot()
        self.timers: list[QObject] = []
        for every, function in ((5, self.go_on), (20, self.act)):
            timer = QTimer()
            timer.timeout.connect(function)
            timer.start(every)
            self.timers.append(timer)

    # The participant's hands: all the time, whatever the moderator does.

    def go_on(self) -> None:
        from labapp.tasks.unmasking.plan import UnmaskingPart

        if self.participant.busy or self.runner.finished:
            return
        # Who sees that the keyboard is away, and that twice nothing came of it, waits.
        away = self.shown.participant.top.keyboard.isVisible()
        self.in_vain = self.in_vain + 1 if away else 0
        if self.in_vain > 2:
            return
        part, dice = self.runner.part, self.dice
        if isinstance(part, UnmaskingPart):
            trial = self.runner.state.part_state.trial
            if trial is None or not trial.open or self.runner.state.pauses.paused:
                return
            again = (trial.number, trial.attempt) == self.answered
            self.answered = (trial.number, trial.attempt)
            wait = dice.uniform(400, 700) if again else dice.uniform(180, 600)
            self.participant.do(key(dice.choice("fj")), wait_ms=wait)
        elif part is not None and part.part == "reconstruction":
            self.participant.do(key(dice.choice(("Left", "Right"))), wait_ms=dice.uniform(80, 260))
        elif part is not None and part.part == "questionnaire":
            self.participant.do(key(dice.choice("1234567")), wait_ms=dice.uniform(120, 350))

    # The moderator's hands.

    def act(self) -> None:
        if self.moderator.busy or time.monotonic() < self.rest_until:
            return
        try:
            done = next(self._plot)
        except StopIteration:
            return
        self.rest_until = time.monotonic() + done

    def text(self) -> str:
        return "".join(self.dice.choice(LETTERS.replace(" ", "")) for _ in range(6))

    def a_moment(self) -> float:
        return self.dice.uniform(0.6, 1.6)

    def every_command(self, *, lie: bool) -> Iterator[float]:
        """Everything that a moderator does with keys and clicks, once; the value is how long to
        wait then. lie: a note is left lying, which takes 20 s."""
        console, hand = self.shown.console, self.moderator
        field, at = console.notes.input, self.a_moment
        shown = self.text()
        hand.do(middle(field), *typed(shown), key("Return"))
        self.notes.append(shown)
        yield at()
        begun, ended = self.text(), self.text()
        hand.do(key("Control_L", "n", then_ms=250), *typed(begun), key("Escape"))
        yield at()
        hand.do(key("Control_L", "n", then_ms=250), *typed(ended), key("Return"))
        self.notes.append(begun + ended)
        yield at()
        hand.do(key("Control_L", "4"))
        self.flags.append(4)
        yield at()
        hand.do(middle(console.notes.buttons[1]))
        self.flags.append(1)
        yield at()
        hand.do(key("F8"))
        self.prompts += 1
        yield at()
        if console.voice.prompts.isVisible():
            hand.do(middle(console.voice.prompts.buttons[0]))
            self.prompts += 1
            yield at()
        hand.do(middle(console.notes.list))
        yield at()
        hand.do(middle(console.timeline.view))
        yield at()
        hand.do(key("F9"))
        self.pauses += 1
        yield at()
        hand.do(middle(console.header.pause))
        yield at()
        if lie:
            shown = self.text()
            hand.do(middle(field), *typed(shown))
            yield 23.0
            hand.do(key("Control_L", "n", then_ms=250), key("Return"))
            self.notes.append(shown)
            yield at()

    def plot(self) -> Iterator[float]:
        from labapp.tasks.unmasking.plan import UnmaskingPart

        window, hand = self.shown.participant, self.moderator
        yield 1.0
        while self.runner.part is not None and not isinstance(self.runner.part, UnmaskingPart):
            kind = self.runner.part.part
            if kind in ("reconstruction", "questionnaire"):
                yield from self.every_command(lie=False)
            before = self.runner.part
            while self.runner.part is before:
                # What takes the participant on is pressed by the mouse, by either hand.
                bar = window.bottom
                button = bar.left if kind == "reconstruction" else bar.right
                hand.do(middle(button))
                yield 4.5 if kind == "reconstruction" else 0.8
        lie = True
        while isinstance(self.runner.part, UnmaskingPart):
            yield from self.every_command(lie=lie)
            lie = False
            yield 6.0
        while not self.runner.finished:
            hand.do(middle(window.bottom.right))
            yield 1.0
        while True:  # until the windows are gone
            hand.do(middle(self.shown.console.header.done))
            yield 1.5

    def close(self) -> None:
        for timer in self.timers:
            timer.stop()  # type: ignore[attr-defined]
        self.participant.close()
        self.moderator.close()


# --- what came of it ---


def spans_paused(events: Iterable[Event]) -> list[tuple[int, int]]:
    """When the session was paused: session times in ns, from and until."""
    from labapp.record.events.registry import Pauses

    spans: list[tuple[int, int]] = []
    pauses = Pauses()
    since: int | None = None
    for event in events:
        pauses = pauses.apply(event)
        if pauses.paused and since is None:
            since = event.t_ns
        elif not pauses.paused and since is not None:
            spans.append((since, event.t_ns))
            since = None
    return spans


def judge(trial: Trial, folder: Path, origin_ns: int) -> tuple[dict[str, Any], list[str]]:
    """Figures, and what is wrong. origin_ns: perf_counter at session time 0."""
    import numpy as np

    import labapp.analysis
    from labapp.analysis.rows import spans_away, within
    from labapp.record.journal.opening import open_record
    from labapp.record.journal.read import payloads

    wrong: list[str] = []
    record = open_record(folder)
    events = list(payloads(record.rows))
    away, paused = spans_away(events), spans_paused(event for event, _ in events)
    mine = [key for key in trial.participant.presses if key[0] != "button"]
    seen = [key for key in trial.witness.presses if key[0] in {k.lower() for k in PARTICIPANTS}]
    fate = dict.fromkeys(
        (
            "taken by the participant's window",
            "fell into a time marked as away",
            "fell into a pause",
        ),
        0,
    )
    held = {"with the moderator's Ctrl, which the keyboards share": 0}
    chords = [t for k, t, _ in trial.moderator.presses if k in ("n", "4")]
    for name, press, slack in mine:
        got = next(
            (
                key
                for key in seen
                if key[0] == name.lower() and abs(key[1] - press) < slack + 25 * MS
            ),
            None,
        )
        if got is not None:
            seen.remove(got)
        at = press - origin_ns
        if got is not None and got[2] == "participant" and got[3]:
            fate["taken by the participant's window"] += 1
        elif within(away, at - slack - 5 * MS, at + slack + 5 * MS):
            fate["fell into a time marked as away"] += 1
        elif within(paused, at - slack - 5 * MS, at + slack + 5 * MS):
            fate["fell into a pause"] += 1
        elif got is None and any(-20 * MS < press - chord < 90 * MS for chord in chords):
            held["with the moderator's Ctrl, which the keyboards share"] += 1
        else:
            wrong.append(f"the participant's {name} at {at / 1e9:.3f} s is lost: {got}")
    by_kind: dict[str, list[Any]] = {}
    for event, payload in events:
        by_kind.setdefault(event.kind, []).append(payload)
    notes = [payload.text for payload in by_kind.get("note.added", [])]
    own = ["".join(c for c in text if c not in "fj1234567") for text in notes]
    if list(map(sorted, own)) != list(map(sorted, trial.notes)):
        wrong.append(f"notes are {own}, not {trial.notes}")
    if (flags := [payload.number for payload in by_kind.get("flag.added", [])]) != trial.flags:
        wrong.append(f"flags are {flags}, not {trial.flags}")
    for kind, wanted in (("prompt.given", trial.prompts), ("session.paused", trial.pauses)):
        if (n := len(by_kind.get(kind, []))) != wanted:
            wrong.append(f"{n} {kind}, not {wanted}")
    tables = labapp.analysis.load(folder)
    rows = tables.annotations
    answered = rows[rows["outcome"] == "answered"]
    pressed = [(t - origin_ns, slack / MS) for k, t, slack in mine if k in "fj"]
    presses = np.array([t for t, _ in pressed], np.float64)
    errors: list[float] = []
    marks = {"marked": 0, "not marked": 0}
    for row in answered.itertuples():
        start, end = row.painted_s * 1e9, row.input_s * 1e9
        nearest = int(np.argmin(np.abs(presses - end)))
        error, slack_ms = (end - presses[nearest]) / MS, pressed[nearest][1]
        lent = trial.witness.within(int(start) + origin_ns, int(end) + origin_ns)
        if lent != row.keyboard_away:
            wrong.append(f"stimulus {row.trial}: away {lent}, marked {row.keyboard_away}")
        marks["marked" if row.keyboard_away else "not marked"] += 1
        if not row.keyboard_away:
            if slack_ms < SLACK_MS:
                errors.append(error)
            if abs(error) > slack_ms + 8:
                wrong.append(f"stimulus {row.trial} was answered {error:.1f} ms off its press")
    times = answered.loc[~answered["keyboard_away"].astype(bool), "reaction_time_ms"]
    lent_s = [(end - start) / 1e9 for start, end in away]
    whys: dict[str, int] = {}
    for payload in by_kind.get("keyboard.given", []):
        whys[f"{payload.to}: {payload.why}"] = whys.get(f"{payload.to}: {payload.why}", 0) + 1
    figures: dict[str, Any] = {
        "participant's keys": len(mine), **fate, **held,
        "of these in notes": sum(len(a) - len(b) for a, b in zip(notes, own, strict=True)),
        "moderator's actions": trial.moderator.asked,
        "keyboard given": whys,
        "times away": len(lent_s), "away, s": sum(lent_s),
        "stimuli answered": marks,
        "response error, ms": spread(errors),
        "reaction time of the others, ms": spread(list(times)),
    }  # fmt: skip
    return figures, wrong


def spread(values: list[float]) -> dict[str, float]:
    import numpy as np

    if not values:
        return {"n": 0}
    median, p95, p99 = np.percentile(values, (50, 95, 99))
    return {
        "n": len(values), "median": round(float(median), 2), "p95": round(float(p95), 2),
        "p99": round(float(p99), 2), "max": round(float(max(values)), 2),
    }  # fmt: skip


def inside(asked: argparse.Namespace) -> int:
    from PySide6.QtCore import QTimer

    from labapp.ui.controller import SessionController
    from labapp.ui.qtapp import make_app
    from labapp.ui.starting import RunOptions, open_new

    app = make_app()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        options = RunOptions(data=folder / "data", private=folder / "private", audio="off")
        opened = open_new(str(study(folder)), "P01", "1", options)
        shown = SessionController(opened, options)
        shown.closed.connect(app.exit)
        shown.start()
        print(shown.watcher.where, flush=True)
        origin = -opened.runner.clock.from_perf_ns(0)
        trial = Trial(shown, asked.seed)
        late = QTimer()
        late.setSingleShot(True)
        late.timeout.connect(lambda: app.exit(3))
        late.start(asked.limit * 1000)
        if asked.pictures is not None:
            _keep_pictures(shown, asked.pictures, trial.timers)
        status = app.exec()
        trial.close()
        if status == 3:
            part = opened.runner.part
            print(f"not done after {asked.limit} s, at {part.id if part else 'the end'}")
            return 1
        figures, wrong = judge(trial, opened.folder.path, origin)
        print(json.dumps(figures, indent=2))
        if asked.out is not None:
            asked.out.write_text(json.dumps(figures, indent=2), "utf-8")
        for line in wrong:
            print(f"WRONG: {line}")
        return 1 if wrong else 0


def _keep_pictures(shown: SessionController, folder: Path, timers: list[Any]) -> None:
    """A picture of both windows for each place that the keyboard was."""
    from PySide6.QtCore import QTimer

    folder.mkdir(parents=True, exist_ok=True)

    def look() -> None:
        where = shown.keyboard.standing.where
        if where != "participant" and not (folder / f"{where}-console.png").exists():
            shown.console.grab().save(str(folder / f"{where}-console.png"))
            shown.participant.grab().save(str(folder / f"{where}-participant.png"))

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(60)
    timers.append(timer)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--display", default=":111")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=600, metavar="S", help="give up after")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="of both windows")
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        return inside(asked)
    command = [sys.executable, __file__, INSIDE, *sys.argv[1:]]
    return on_monitors(
        asked.display, lambda environment: subprocess.run(command, env=environment).returncode
    )


if __name__ == "__main__":
    raise SystemExit(main())
