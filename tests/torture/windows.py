"""Going on with a session in the real windows, driven by a simulated participant and a moderator
who skips what is left; whatever goes wrong anywhere is told."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from PySide6.QtCore import QEventLoop, QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from labapp.record.events import Event, Source
from labapp.record.events.commands import (
    Command,
    ConfirmSkip,
    GiveConsent,
    Resume,
    ShowLook,
    ShowQuestion,
    SkipStage,
    StayHere,
)
from labapp.record.journal.read import read_rows
from labapp.session.bids.verify import verify
from labapp.session.opening import OpenSession
from labapp.session.pictures import WarmDecoders
from labapp.session.resuming import read_verified_events
from labapp.session.simulation.person import Pace
from labapp.study.plan import BreakPart
from labapp.tasks.reconstruction.events import SelectDial
from labapp.tasks.unmasking.events import StimulusPainted
from labapp.ui.controller import SessionController
from labapp.ui.starting import RunOptions, open_again

SPEED = 20.0
HASTE = Pace(stride_s=0.02, think_s=0.04, read_s=0.04, reaction=0.05)
SCREEN_SAYS = (StimulusPainted, ShowQuestion, GiveConsent, SelectDial, ShowLook)
"""What a screen sends without a hand: that something is on it, and how it looks. Consent is the
driver's, by way of the session; a dial is selected by the focus, which goes round here."""
PATIENCE_S = 90.0
STEPS = 12
"""So many events of the simulated participant are waited for before the rest is skipped."""


@dataclass
class Outcome:
    """How a resumed session went. problems: everything that was not as it should be."""

    driven: int = 0
    events: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


@contextmanager
def heard(problems: list[str]) -> Iterator[None]:
    """Collects what would otherwise only be printed: exceptions in slots, messages of Qt."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        where = ""
        while trace is not None:
            where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
            trace = trace.tb_next
        problems.append(f"{kind.__name__}: {error} ({where})")

    def message(kind: QtMsgType, context: QMessageLogContext, text: str | None) -> None:
        if kind != QtMsgType.QtDebugMsg and kind != QtMsgType.QtInfoMsg:
            problems.append(f"Qt says: {text}")

    before, sys.excepthook = sys.excepthook, hook
    handler = qInstallMessageHandler(message)
    try:
        yield
    finally:
        sys.excepthook = before
        qInstallMessageHandler(handler)


class Moderator:
    """Sits beside a driven session: answers what waits for a person, and skips what is left once
    enough was done.

    steps : events of the simulated participant before the rest is skipped; None: skip nothing.
    """

    def __init__(self, opened: OpenSession, steps: int | None) -> None:
        self._runner = opened.runner
        self._steps = steps
        self.driven = 0
        opened.runner.journal.subscribe(self._count)

    def _count(self, event: Event) -> None:
        self.driven += event.source == Source.SIMULATED and event.kind != "participant.simulated"

    def act(self) -> None:
        """What is to be done now, if anything."""
        runner = self._runner
        state = runner.state
        if runner.finished or runner.part is None:
            return
        if state.pauses.leaving:
            runner.send(StayHere(), Source.MODERATOR)
        elif state.pending is not None:
            runner.send(ConfirmSkip(), Source.MODERATOR)
        elif state.pauses.paused and not isinstance(runner.part, BreakPart):
            runner.send(Resume("everybody is here"), Source.MODERATOR)
        elif self._steps is not None and self.driven >= self._steps:
            runner.send(SkipStage(state.index), Source.MODERATOR)


def go_on(
    folder: Path,
    strategy: str,
    private: Path,
    warm: WarmDecoders | None = None,
    steps: int | None = STEPS,
) -> Outcome:
    """Resume a session in both windows and bring it to its end; see what came of it."""
    outcome = Outcome()
    began = time.monotonic()
    before = read_rows(folder)
    options = RunOptions(
        data=folder.parent.parent,
        private=private,
        audio="off",
        simulate=strategy,
        speed=SPEED,
        windowed=True,
    )
    with heard(outcome.problems):
        opened = open_again(folder, options, warm)
        _watch_commands(opened, outcome.problems)
        controller = SessionController(opened, options, pace=HASTE)
        moderator = Moderator(opened, steps)
        statuses: list[int] = []
        controller.closed.connect(statuses.append)
        controller.failed.connect(lambda error: outcome.problems.append(str(error)))
        controller.bridge.changed.connect(lambda: _move_focus(controller))
        controller.start()
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        while not statuses and time.monotonic() - began < PATIENCE_S:
            application.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
            moderator.act()
        if not statuses:
            part = opened.runner.part
            outcome.problems.append(f"it did not end; it stands in {part and part.id}")
            controller._end()
        elif statuses != [0]:
            outcome.problems.append(f"it ended with status {statuses[0]}")
        application.processEvents()
        for left in (controller.bridge, opened.runner.scheduler, controller):
            left.deleteLater()  # type: ignore[attr-defined]
        application.processEvents()
    outcome.driven = moderator.driven
    outcome.seconds = time.monotonic() - began
    rows = read_rows(folder)
    outcome.events = len(rows) - len(before)
    if rows[: len(before)] != before:
        outcome.problems.append("what was stored before is not what it was")
    outcome.problems += wrong(folder)
    return outcome


def _watch_commands(opened: OpenSession, problems: list[str]) -> None:
    """Rendering a state must send no command: there is no hand at these windows."""
    send = opened.runner.send

    def sent(command: Command, source: Source = Source.PARTICIPANT) -> None:
        if source == Source.PARTICIPANT and not isinstance(command, SCREEN_SAYS):
            problems.append(f"a screen sent {command} by itself")
        send(command, source)

    opened.runner.send = sent  # type: ignore[method-assign]


def _move_focus(controller: SessionController) -> None:
    """The focus goes round the screen: a field that has it must give nothing by itself."""
    screen = controller.participant.screen_shown
    if screen is not None and not controller.participant.covered:
        controller.participant.focusNextChild()


def wrong(folder: Path) -> list[str]:
    """What is not right about a session that came to its end."""
    problems = list(verify(folder).problems)
    events = read_verified_events(folder)
    kinds = [event.kind for event in events]
    if kinds.count("session.completed") != 1:
        problems.append(f"session.completed is there {kinds.count('session.completed')} times")
    alarms = [event.payload for event in events if event.kind == "alarm.raised"]
    problems += [f"alarm: {a['detail']}" for a in alarms if a["code"] == "program_error"]
    for name in ("part.started", "part.ended"):
        indices = [event.payload["index"] for event in events if event.kind == name]
        if len(set(indices)) != len(indices):
            problems.append(f"{name} twice for one part: {indices}")
    return problems + _trials(events)


def _trials(events: list[Event]) -> list[str]:
    """Every question was asked, and answered, once."""
    problems = []
    again = {event.part_id for event in events if event.kind == "part.restarted"}
    ended: dict[Any, list[str]] = {}
    for event in events:
        if event.kind == "trial.ended" and event.part_id not in again:
            outcomes = ended.setdefault((event.part_id, event.trial), [])
            outcomes.append(event.payload["outcome"])
    planned = {part["id"]: part.get("trials") for part in events[0].payload["plan"]}
    completed = {
        event.part_id
        for event in events
        if event.kind == "part.ended" and event.payload["outcome"] == "completed"
    }
    for (stage, trial), outcomes in ended.items():
        if sum(outcome != "interrupted" for outcome in outcomes) != 1:
            problems.append(f"question {trial} of {stage} ended as {outcomes}")
    for stage in completed - again:
        asked = len([trial for of, trial in ended if of == stage])
        if planned[stage] is not None and asked != planned[stage]:
            problems.append(f"{stage} was completed with {asked} of {planned[stage]} questions")
    return problems
