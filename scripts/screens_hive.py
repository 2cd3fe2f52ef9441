"""Every page of the nine studies of paper 003, for screenshots.py.

A stimulus set that is not shipped is stood in for by a small one of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtWidgets import QApplication

from labapp.record.events.commands import HandIn, Next, ShowQuestion
from labapp.session.runner import Runner
from labapp.tasks.judging.events import TREE, CloseDescription, Judge
from labapp.tasks.judging.plan import (
    JudgingPart,
    WarmUpPart,
    applies,
    exercise_questions,
    questions,
)
from labapp.tasks.judging.screen.description import DescriptionPages
from labapp.tasks.judging.screen.photos import JudgingScreen
from labapp.tasks.judging.screen.warm_up import WarmUpScreen
from labapp.ui.participant.window import ParticipantWindow
from scripts.screens_participant import Shot, opened
from tests.helpers import hive
from tests.helpers.rooms import Room, skip_to


def shots(folder: Path) -> Iterator[Shot]:
    for name in hive.STUDIES:
        with opened(folder / name, study=name) as (room, window):
            for number, page in enumerate(pages(room, window), start=1):
                yield f"h-{name}-{number:02d}-{page}", window


def pages(room: Room, window: ParticipantWindow) -> Iterator[str]:
    """The name of each page when it is on the screen; of the photos of a stage only the first: as
    it comes, when something is missing, under its description, and answered."""
    runner = room.runner
    while (part := runner.part) is not None:
        QApplication.processEvents()
        yield part.id
        if isinstance(part, JudgingPart):
            yield from judge_all(runner, window, part)
        elif isinstance(part, WarmUpPart):
            yield from warm_up(runner, window, part)
        elif part.part in ("consent", "questionnaire"):
            skip_to(room, runner.machine.parts[runner.state.index + 1].id)
        else:
            runner.send(Next())
            while runner.part is part:
                QApplication.processEvents()
                yield part.id
                runner.send(Next())
    QApplication.processEvents()
    yield "ended"


def judge_all(runner: Runner, window: ParticipantWindow, part: JudgingPart) -> Iterator[str]:
    """Answer everything about every photo; the answers differ from photo to photo."""
    screen = window.screen_shown
    assert isinstance(screen, JudgingScreen)
    for number, photo in enumerate(part.photos):
        show(runner)
        if not number:
            screen.right()
            yield f"{part.id}-missing"
            yield from description(screen, window)
        for question in questions(part.task, photo):
            if applies(question, runner.state.part_state.trial.answers):
                span = question.last - question.first + 1
                value = question.first + (3 * number + len(question.id)) % span
                runner.send(Judge(question.id, value, "mouse"))
        if not number:
            yield f"{part.id}-answered"
        runner.send(Next())


def description(screen: JudgingScreen, window: ParticipantWindow) -> Iterator[str]:
    """The pages of the description, and the whole tree where there is one."""
    screen.help()
    inside = window.opened.inside
    assert isinstance(inside, DescriptionPages)
    for place in range(len(inside.pages)):
        inside.tabs.show_index(place)
        inside.tabs.changed.emit(place)
        yield f"description-{place + 1}"
    if not inside.tree.isHidden():
        inside.tree.click()
        yield "whole-tree"
        screen.send(CloseDescription(TREE))
    else:
        screen.help()


def warm_up(runner: Runner, window: ParticipantWindow, part: WarmUpPart) -> Iterator[str]:
    """The pages of the warm-up, each exercise before and after it is handed in."""
    screen = window.screen_shown
    assert isinstance(screen, WarmUpScreen)
    for exercise, panel in zip(part.exercises, screen.panels, strict=True):
        while screen.page is not panel:
            screen.right()
            QApplication.processEvents()
            yield part.id
        show(runner)
        for question in exercise_questions(exercise):
            runner.send(Judge(question.id, question.right or question.last, "mouse"))
        runner.send(HandIn())
        QApplication.processEvents()
        yield f"{exercise.id}-handed-in"
        runner.send(Next())
        QApplication.processEvents()


def show(runner: Runner) -> None:
    """See to it that the photo counts as shown."""
    QApplication.processEvents()
    if runner.state.part_state.trial.started_ns is None:
        runner.send(ShowQuestion())
