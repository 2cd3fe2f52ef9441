"""A session that is moderated from another computer, by real key events of three X servers.

    python scripts/trial_two_rooms.py [--display 121] [--seed N] [--out FILE.json] [--pictures DIR]

The session of scripts/trial_keyboard.py, with the participant alone at its computer. The moderator
sits at a second X server, in a process of its own, and does with keys and clicks everything that
there is in the console, in every part; somebody observes at a third and writes notes, too. It ends
with 1 unless

* every key of the participant's was taken by the participant's window or fell into a pause: the
  keyboard never goes away;
* every note, flag and prompt is in the journal, with its letters and none of the participant's, and
  an observer's notes are an observer's;
* the moderator's program is killed in the end, and Ctrl+Shift+M at the session's computer takes
  over.

It measures how long after an event at the session's computer its console had folded and painted it,
and keeps pictures of the three screens at the same moments. Needs Xvfb, openbox and import
(Debian: xvfb openbox imagemagick).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.trial_keyboard import MS, Trial, spans_paused, spread, study
from scripts.two_hands import HIGH, WIDE, Hands, key, middle, typed

if TYPE_CHECKING:
    from labapp.ui.controller import SessionController
    from labapp.ui.joining import JoinController

SESSION, MODERATOR, OBSERVER = "session", "moderator", "observer"
GO_ON = 3
"""The flag with which the moderator lets the participant go on to the next part."""
LATE_S = 300


class Participant(Trial):
    """The participant's hands alone, at the session's computer."""

    def __init__(self, shown: SessionController, seed: int) -> None:
        super().__init__(shown, seed)
        self.mouse = Hands()
        self._flags_seen = 0
        self._chord = False

    def act(self) -> None:
        """Go on where the moderator has set the flag for it, and press what comes first."""
        if self.mouse.busy or time.monotonic() < self.rest_until or self.runner.finished:
            return
        part = self.runner.part
        kind = "" if part is None else part.part
        flags = [note for note in self.shown.console.state.notes if note.number == GO_ON]
        waits = kind in ("reconstruction", "questionnaire") and len(flags) <= self._flags_seen
        if waits or kind == "unmasking":
            return
        if kind in ("reconstruction", "questionnaire"):
            self._flags_seen = len(flags)
        bar = self.shown.participant.bottom
        self.mouse.do(middle(bar.left if kind == "reconstruction" else bar.right))
        self.rest_until = time.monotonic() + (4.5 if kind == "reconstruction" else 0.8)

    def close(self) -> None:
        super().close()
        self.mouse.close()


def run_session(asked: argparse.Namespace) -> int:
    """The session's computer. It tells its address and codes, and in the end what it saw."""
    from PySide6.QtCore import QTimer

    from labapp.ui.controller import SessionController
    from labapp.ui.qtapp import make_app
    from labapp.ui.starting import RunOptions, open_new

    app = make_app()
    folder = Path(asked.folder)
    options = RunOptions(
        data=folder / "data", private=folder / "private", audio="off", listen="127.0.0.1"
    )
    opened = open_new(str(study(folder)), "P01", "1", options)
    shown = SessionController(opened, options)
    shown.closed.connect(app.exit)
    shown.start()
    origin = -opened.runner.clock.from_perf_ns(0)
    trial: list[Participant] = []

    def wait_for_both() -> None:
        host = shown.others.host
        if host is None:
            return  # the session is over
        if host.listening.codes and not told:
            told.append(True)
            tell({"port": host.listening.port, "codes": host.listening.codes, "origin": origin})
        if len(host.members) == 2 and not trial:
            trial.append(Participant(shown, asked.seed))
        lost = host.moderator and not host.members[host.moderator].linked
        if lost and trial and not trial[0].mouse.busy and not chord:
            chord.append(time.monotonic())
            trial[0].mouse.do(key("Control_L", "Shift_L", "m"))
        if chord and not host.moderator and not over:
            over.append(True)
            tell({"took over, s": time.monotonic() - chord[0]})
            QTimer.singleShot(1500, lambda: shown._end())

    told: list[bool] = []
    chord: list[float] = []
    over: list[bool] = []
    watch = QTimer()
    watch.timeout.connect(wait_for_both)
    watch.start(50)
    QTimer.singleShot(LATE_S * 1000, lambda: app.exit(3))
    status = app.exec()
    watch.stop()
    for each in trial:
        each.close()
    if status == 3 or not over:
        print(f"not done: {shown.opened.runner.part}", file=sys.stderr)
        return 1
    figures, wrong = judge(trial[0], opened.folder.path, origin)
    tell({"figures": figures, "wrong": wrong})
    return 0


def run_person(asked: argparse.Namespace) -> int:
    """The moderator's or the observer's computer."""
    from PySide6.QtCore import QTimer

    from labapp.ui.joining import JoinController
    from labapp.ui.qtapp import make_app

    app = make_app()
    person = JoinController("", asked.role)
    person.show()
    hands = Hands()
    window = person.window
    for field, text in (
        (window.host, asked.where),
        (window.name, asked.role.capitalize()),
        (window.code, asked.code),
    ):
        field.setText(text)
    watched = Watched(person, asked.origin)
    plot = (
        moderate(person, hands, asked.seed) if asked.role == MODERATOR else observe(person, hands)
    )
    rest_until = time.monotonic() + 1.0

    def act() -> None:
        nonlocal rest_until
        watched.look()
        if hands.busy or time.monotonic() < rest_until:
            return
        try:
            rest_until = time.monotonic() + next(plot)
        except StopIteration:
            rest_until = time.monotonic() + 1.0
            if not finished:
                finished.append(True)
                tell({"latency": watched.figures(), "noted": NOTED})

    finished: list[bool] = []
    timer = QTimer()
    timer.timeout.connect(act)
    timer.start(10)
    person.ended.connect(app.quit)
    # Once the window manager has put the window in its place.
    QTimer.singleShot(1500, lambda: hands.do(middle(window.go)))
    threading.Thread(target=wait_for_end, args=(person,), daemon=True).start()
    status = app.exec()
    timer.stop()
    hands.close()
    return status


NOTED: dict[str, list[Any]] = {"notes": [], "flags": [], "prompts": [], "pauses": []}


def wait_for_end(person: JoinController) -> None:
    sys.stdin.read()
    person._posted.emit(person.close)


class Watched:
    """When events of the session were folded and painted here. origin: perf_counter at session
    time 0; the clocks of both processes are one."""

    def __init__(self, person: JoinController, origin: int) -> None:
        self._person, self._origin = person, origin
        self._seen = 0
        self.folded: list[float] = []
        self.painted: list[float] = []
        self._unpainted: list[int] = []
        self._hooked = False

    def look(self) -> None:
        session, console = self._person.session, self._person.console
        if session is None or console is None or self._hooked:
            return
        self._hooked = True
        session.subscribe(self._fold)
        shown = console.mirror.shown
        paint = shown.paintEvent

        def painted(event: Any) -> None:
            paint(event)
            now = time.perf_counter_ns() - self._origin
            self.painted += [(now - at) / MS for at in self._unpainted]
            self._unpainted.clear()

        shown.paintEvent = painted

    def _fold(self, event: Any) -> None:
        if event.kind in ("dial.moved", "item.answered", "response.changed"):
            self.folded.append((time.perf_counter_ns() - self._origin - event.t_ns) / MS)
            self._unpainted.append(event.t_ns)

    def figures(self) -> dict[str, Any]:
        return {"folded, ms": spread(self.folded), "painted, ms": spread(self.painted)}


def moderate(person: JoinController, hands: Hands, seed: int) -> Iterator[float]:
    """Everything that a moderator does with keys and clicks, once in each part with answers."""
    import random

    dice = random.Random(seed)

    def text() -> str:
        return "".join(dice.choice("abcdeghiklmnopqrstuvwxyz") for _ in range(6))

    while person.console is None or not person.console.controls:
        yield 0.2
    console, session = person.console, person.session
    assert session is not None
    yield 3.0
    last = None
    rounds = 0
    while rounds < 3:
        part = session.part
        kind = "" if part is None else part.part
        if kind not in ("reconstruction", "questionnaire", "unmasking") or part.id == last:
            yield 0.3
            continue
        last, rounds = part.id, rounds + 1
        yield 1.0
        noted, begun = text(), text()
        hands.do(middle(console.notes.input), *typed(noted), key("Return"))
        yield 0.8
        hands.do(key("Control_L", "n", then_ms=250), *typed(begun), key("Return"))
        NOTED["notes"] += [noted, begun]
        yield 0.8
        hands.do(key("Control_L", "4"))
        hands.do(middle(console.notes.buttons[1]))
        NOTED["flags"] += [4, 1]
        yield 0.8
        hands.do(key("F8"))
        NOTED["prompts"].append(1)
        yield 0.8
        hands.do(middle(console.notes.list))
        hands.do(middle(console.timeline.view))
        yield 0.6
        hands.do(key("F9"))
        NOTED["pauses"].append(1)
        yield 1.2
        hands.do(key(" "), key("Return"), key("Escape"))
        yield 0.8
        hands.do(middle(console.header.pause))
        yield 1.0
        hands.do(key("Control_L", str(GO_ON)))
        NOTED["flags"].append(GO_ON)
        yield 2.0
    yield 8.0


def observe(person: JoinController, hands: Hands) -> Iterator[float]:
    """Notes, and keys that an observer may not press."""
    while person.console is None:
        yield 0.2
    console = person.console
    yield 4.0
    for number in range(6):
        note = f"seen {'abcdef'[number]}"
        hands.do(key("Control_L", "n", then_ms=200), *typed(note), key("Return"))
        NOTED["notes"].append(note)
        yield 2.0
        hands.do(key("Control_L", "2"), key("F8"), key("F9"))
        yield 1.0
        hands.do(middle(console.header.end), middle(console.header.pause))
        yield 2.0


def judge(trial: Participant, folder: Path, origin: int) -> tuple[dict[str, Any], list[str]]:
    """Figures of the session's computer, and what is wrong."""
    from labapp.analysis.rows import spans_away, within
    from labapp.record.journal.opening import open_record
    from labapp.record.journal.read import payloads

    wrong: list[str] = []
    events = list(payloads(open_record(folder).rows))
    away, paused = spans_away(events), spans_paused(event for event, _ in events)
    moved = [e.t_ns for e, _ in events if e.kind == "moderator.changed"]
    lost = max(e.t_ns for e, p in events if e.kind == "remote.left" and p.why == "link_lost")
    mine = [press for press in trial.participant.presses if press[0] != "button"]
    seen = list(trial.witness.presses)
    taken = pauses = 0
    for name, press, slack in mine:
        at = press - origin
        got = next(
            (p for p in seen if p[0] == name.lower() and abs(p[1] - press) < slack + 25 * MS), None
        )
        if got is not None:
            seen.remove(got)
        if got is not None and got[2] == "participant" and got[3]:
            taken += 1
        elif at > lost:
            continue  # the console is brought in front of the participant's only screen
        elif within(paused, at - slack - 5 * MS, at + slack + 5 * MS):
            pauses += 1
        else:
            wrong.append(f"the participant's {name} at {at / 1e9:.3f} s is lost: {got}")
    # Until somebody else moderates, and after the end, the keyboard is two people's.
    elsewhere = [span for span in away if moved[0] < span[0] < lost]
    if elsewhere:
        wrong.append(f"the keyboard was away: {elsewhere}")
    kinds = ("note.added", "flag.added", "prompt.given", "session.paused", "remote.clock")
    counts = {kind: sum(event.kind == kind for event, _ in events) for kind in kinds}
    errors = [p.error_ns / MS for e, p in events if e.kind == "remote.clock"]
    return {
        "participant's keys": len(mine), "taken": taken, "in a pause": pauses,
        "events": counts, "notes": [p.text for e, p in events if e.kind == "note.added"],
        "flags": [p.number for e, p in events if e.kind == "flag.added"],
        "sources": sources(events), "clock error stated, ms": errors,
        "changes": [p.why for e, p in events if e.kind == "moderator.changed"],
    }, wrong  # fmt: skip


def sources(events: list[Any]) -> dict[str, int]:
    """How many notes are whose."""
    from labapp.analysis.deviations import fold_notes

    counts: dict[str, int] = {}
    for entry in fold_notes(events):
        if entry.kind == "note":
            counts[entry.source] = counts.get(entry.source, 0) + 1
    return counts


def tell(fact: dict[str, Any]) -> None:
    print(json.dumps(fact), flush=True)


def start(role: str, display: str, *more: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    environment["LABAPP_SETTINGS"] = tempfile.mkdtemp(prefix="labapp-trial-")
    command = [sys.executable, __file__, "--role", role, *more]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def told(process: subprocess.Popen[str], name: str) -> Any:
    """What a process tells under a name."""
    assert process.stdout is not None
    for line in process.stdout:
        if name in (fact := json.loads(line)):
            return fact
    raise SystemExit(f"a process ended before it told {name!r}")


def take_pictures(displays: dict[str, str], folder: Path, over: threading.Event) -> None:
    """The three screens, every few seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 0
    while not over.wait(5.0):
        number += 1
        taking = [
            subprocess.Popen(
                ["import", "-window", "root", str(folder / f"{number:02}-{role}.png")],
                env={**os.environ, "DISPLAY": display},
            )
            for role, display in displays.items()
        ]
        for each in taking:
            each.wait(20)


def run_all(asked: argparse.Namespace) -> int:
    displays = {
        role: f":{asked.display + place}"
        for place, role in enumerate((SESSION, MODERATOR, OBSERVER))
    }
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        for display in displays.values():
            server = ["Xvfb", display, "-screen", "0", f"{WIDE}x{HIGH}x24", "-noreset"]
            for command in (server, ["openbox", "--sm-disable"]):
                environment = {**os.environ, "DISPLAY": display}
                process = subprocess.Popen(command, env=environment, **quiet)  # type: ignore[call-overload]
                stack.callback(process.wait, 10)
                stack.callback(process.terminate)
                time.sleep(1.0)
        shared = ("--seed", str(asked.seed))
        session = start(SESSION, displays[SESSION], "--folder", folder, *shared)
        stack.callback(session.kill)
        facts = told(session, "port")
        people = {}
        for role in (MODERATOR, OBSERVER):
            where = f"127.0.0.1:{facts['port']}"
            more = ("--where", where, "--code", facts["codes"][role])
            people[role] = start(
                role, displays[role], *more, "--origin", str(facts["origin"]), *shared
            )
            stack.callback(people[role].kill)
        over = threading.Event()
        if asked.pictures is not None:
            taking = threading.Thread(target=take_pictures, args=(displays, asked.pictures, over))
            taking.start()
            stack.callback(taking.join)
        stack.callback(over.set)
        results = {role: told(people[role], "latency") for role in people}
        people[MODERATOR].kill()
        took_over = told(session, "took over, s")
        end = told(session, "figures")
        figures, wrong = end["figures"], end["wrong"]
        noted = [note for role in people for note in results[role]["noted"]["notes"]]
        if sorted(figures.pop("notes")) != sorted(noted):
            wrong.append(f"the notes are not {noted}")
        if figures.pop("flags") != results[MODERATOR]["noted"]["flags"]:
            wrong.append("the flags are others")
        for kind, name in (("prompt.given", "prompts"), ("session.paused", "pauses")):
            if figures["events"][kind] != len(results[MODERATOR]["noted"][name]):
                wrong.append(f"{figures['events'][kind]} {kind}")
        whose = {
            "moderator": len(results[MODERATOR]["noted"]["notes"]),
            "observer": len(results[OBSERVER]["noted"]["notes"]),
        }
        if figures["sources"] != whose:
            wrong.append(f"notes are of {figures['sources']}, not of {whose}")
        figures |= {f"{role}'s screen": results[role]["latency"] for role in results} | took_over
        print(json.dumps(figures, indent=2))
        if asked.out is not None:
            asked.out.write_text(json.dumps(figures, indent=2), "utf-8")
        for line in wrong:
            print(f"WRONG: {line}")
        return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--display", type=int, default=121, help="the first of three numbers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="of the three screens")
    for hidden in ("--role", "--folder", "--where", "--code"):
        parser.add_argument(hidden, default="", help=argparse.SUPPRESS)
    parser.add_argument("--origin", type=int, default=0, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.role == SESSION:
        return run_session(asked)
    return run_person(asked) if asked.role else run_all(asked)


if __name__ == "__main__":
    raise SystemExit(main())
