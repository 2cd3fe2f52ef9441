"""kill -9 of sessions in real windows, at random moments, until each came to its end.

    python -m tests.torture.killer STUDY FOLDER KILLS SEED [sound]

Each run of the program on a session is a process of its own, forked from this one, in which all is
imported and no application made. Prints a JSON list a session: study, kills, how many runs went on,
events made and lost with the kills, acknowledged events lost, whether it is complete, problems.
sound: recorded from a microphone of PulseAudio, at the speed of a real session.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from labapp.base.errors import LabappError
from labapp.record.journal.read import read_rows
from labapp.session import condition_assignment
from labapp.session.pictures import WarmDecoders
from labapp.session.simulation.simulation_job import Decoders
from labapp.study.loading import load
from labapp.ui import controller as _imported_once
from labapp.ui.starting import RunOptions, open_again, open_new
from tests.crash.child import Witness
from tests.crash.kills import Run
from tests.sound import VirtualMicrophone, missing
from tests.torture.rehearsal import strategy_for
from tests.torture.windows import HASTE, SPEED, Moderator, wrong

assert _imported_once
CHAIN = 6
"""Kills of one session, at most."""
LONGEST_S = 2.0
"""A run is killed so long after its first event is stored, at most."""
EARLY, EARLY_S = 0.15, 0.7
"""Share of the kills that fall into the start of a run, and how long that may take."""
PATIENCE_S = 240.0


@dataclass
class Told:
    """What came of one session."""

    study: str
    kills: int = 0
    resumed: int = 0
    made: int = 0
    lost: int = 0
    acknowledged_lost: int = 0
    complete: bool = False
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Killing:
    """How sessions of a study are run."""

    study: str
    options: RunOptions
    warm: WarmDecoders
    steps: int | None

    def run(self, label: str, session: Path | None, ahead: int, last: bool) -> None:
        """One run of the program, in a process that may be killed. ahead: parts that the moderator
        skips before anything else."""
        from PySide6.QtCore import QEventLoop

        from labapp.ui.qtapp import make_app

        app = make_app()
        if session is None:
            opened = open_new(self.study, label, "1", self.options, self.warm)
        else:
            opened = open_again(session, self.options, self.warm)
        Witness(opened.runner.journal)
        shown = _imported_once.SessionController(opened, self.options, pace=HASTE)
        statuses: list[int] = []
        shown.closed.connect(statuses.append)
        shown.start()
        skipping = Moderator(opened, 0)
        until = min(opened.runner.state.index + ahead, len(opened.runner.machine.parts) - 2)
        beside = Moderator(opened, self.steps if last else None)
        while not statuses:
            app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
            (skipping if opened.runner.state.index < until else beside).act()
        os._exit(statuses[0])


def chain(killing: Killing, label: str, kills: int, rng: random.Random) -> Told:
    """One session: killed so often, then left to complete."""
    told = Told(killing.study)
    acknowledged: dict[int, str] = {}
    for number in range(kills + 1):
        session = _session_of(killing, label)
        resumed = session is not None
        last = number == kills
        run = _one(killing, label, session, rng, last=last)
        session = _session_of(killing, label)
        told.kills += run.killed_ns is not None
        told.resumed += resumed
        if session is None:
            continue
        stored = {row.seq: row.kind for row in read_rows(session)}
        acknowledged |= {seq: run.appended[seq][0] for seq in run.durable}
        told.made += len(run.appended)
        told.lost += len([seq for seq in run.appended if seq not in stored])
        told.acknowledged_lost += len([s for s in acknowledged if stored.get(s) != acknowledged[s]])
        if last and run.killed_ns is not None:
            told.problems.append("it did not come to its end")
        if "session.completed" in stored.values():
            break  # it was quicker than the kill
    session = _session_of(killing, label)
    if session is None:
        told.problems.append("there is no session")
    else:
        told.complete = "session.completed" in {row.kind for row in read_rows(session)}
        told.problems += wrong(session)
    return told


def _session_of(killing: Killing, label: str) -> Path | None:
    assert killing.options.data is not None
    folders = list(killing.options.data.glob(f"*/sub-{label}_ses-1_*"))
    assert len(folders) <= 1, folders
    return folders[0] if folders else None


def _one(
    killing: Killing, label: str, session: Path | None, rng: random.Random, *, last: bool
) -> Run:
    """Fork a run and kill it, or let the last one end."""
    run = Run(began_ns=time.perf_counter_ns())
    ahead = rng.choice((0, 0, 1, 1, 2, 3))
    early = rng.random() < EARLY
    wait_s = rng.uniform(0.0, EARLY_S if early else LONGEST_S)
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        os.dup2(writes, 1)
        try:
            killing.run(label, session, 0 if last else ahead, last)
        finally:
            traceback.print_exc()
            os._exit(3)
    os.close(writes)
    began = time.monotonic()
    deadline = began + wait_s if early and not last else None
    patience = began + PATIENCE_S
    rest = b""
    while True:
        if deadline is None and not last and run.durable:
            deadline = time.monotonic() + wait_s
        due = min(patience, deadline or patience)
        left = due - time.monotonic()
        if left <= 0 and run.killed_ns is None:
            run.killed_ns = time.perf_counter_ns()
            os.kill(child, signal.SIGKILL)
        elif not select.select([reads], [], [], max(0.0, left))[0]:
            continue
        data = os.read(reads, 1 << 16)
        if not data:
            break
        *whole, rest = (rest + data).split(b"\n")
        for line in whole:
            with contextlib.suppress(ValueError):  # the windows' own lines are none of ours
                run.take(line)
    os.close(reads)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) != 0:
        raise AssertionError(f"a run of {killing.study} ended with {os.WEXITSTATUS(status)}")
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
        raise AssertionError(f"a run of {killing.study} died of signal {os.WTERMSIG(status)}")
    return run


def main(study: str, folder: str, kills: str, seed: str, sound: str = "") -> None:
    out = Path(folder)
    loaded = load(study)
    rng = random.Random(f"{study} {seed}")
    with contextlib.ExitStack() as stack:
        if sound:
            if lacking := missing():
                raise SystemExit(f"sound needs: {lacking}")
            where = stack.enter_context(tempfile.TemporaryDirectory(prefix="labapp-mic-"))
            server = VirtualMicrophone(Path(where))
            server.start()
            stack.callback(server.stop)
            server.load_source()
            os.environ.update(server.env)
        label = loaded.study.participants.label(1)
        drawn = condition_assignment.preview(out, loaded, label)
        around = Decoders().dependencies(loaded, label, drawn, None, out / "private")
        warm = WarmDecoders(dict(around.decoders), list(around.warmed))
        left = int(kills)
        number = 0
        while left > 0:
            number += 1
            options = RunOptions(
                data=out / str(number),
                private=out / "private",
                audio=None if sound else "off",
                simulate=strategy_for(loaded),
                speed=1.0 if sound else SPEED,
                windowed=True,
            )
            killing = Killing(study, options, warm, 8)
            many = min(CHAIN, left)
            try:
                told = chain(killing, label, many, rng)
            except (AssertionError, LabappError) as error:
                told = Told(study, many, problems=[f"{type(error).__name__}: {error}"])
            left -= max(1, told.kills)
            print(json.dumps(vars(told)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
