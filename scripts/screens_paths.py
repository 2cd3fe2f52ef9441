"""Warm-up, introduction to a method and the tasks with paths of a tree, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.record.events.commands import HandIn, Next
from labapp.tasks.judging.events import Judge, OpenDescription
from labapp.tasks.judging.plan import AFTER_PRESENT, FIRST, FIRST_STEP, questions
from labapp.tasks.judging.screen.photos import PathDistinctionScreen
from labapp.tasks.judging.screen.warm_up import WarmUpScreen
from labapp.tasks.questionnaire.machine import Answer
from labapp.ui.participant.window import ParticipantWindow
from scripts.screens_participant import Shot, opened
from tests.helpers.judging_studies import write_judging_study
from tests.helpers.rooms import Room, skip_to

WARM_UP = """
id: warm
title: Warm-up
version: 1
unnamed_texts: shipped
language: {language}
flow:
  - warm_up: fruits
"""
INTRODUCED = {
    "path-distinction": "prototree",
    "path-agreement": "prototree",
    "prototype-agreement": "protopnet",
    "prototype-distinction": "protopnet",
    "heatmaps": "gradcam",
}
"""The text of each small set's introduction."""


def shots(folder: Path) -> Iterator[Shot]:
    for language in ("en", "de"):
        yield from warm_up(folder / "warm-up" / language, language)
        yield from paths(folder / "paths" / language, language)
        yield from introductions(folder / "introductions" / language, language)
        yield from questions_above(folder / "questions" / language, language)


def warm_up(folder: Path, language: str) -> Iterator[Shot]:
    """The introduction, both exercises: one answered wrongly, one rightly."""
    folder.mkdir(parents=True)
    study = folder / "warm.yaml"
    study.write_text(WARM_UP.format(language=language))
    with opened(folder / "data", study=study) as (room, window):
        screen = window.screen_shown
        assert isinstance(screen, WarmUpScreen)
        send = room.runner.send
        yield f"w01-warm-up-{language}", window
        screen.right()
        yield f"w02-worked-{language}", window
        screen.right()
        screen.right()
        yield f"w03-missing-{language}", window
        for number, answers in enumerate(((2, 3, 3), (2, 4, 3)), start=1):
            for question, value in zip(("verdict", "agreement", "mistake"), answers, strict=True):
                send(Judge(question, value, "mouse"))
            yield f"w0{2 * number + 2}-answered-{language}", window
            send(HandIn())
            yield f"w0{2 * number + 3}-told-{language}", window
            send(Next())


def paths(folder: Path, language: str) -> Iterator[Shot]:
    """The three tasks, on a photo, half answered, and with something missing."""
    study = write_judging_study(folder / "distinction", "path-distinction", language=language)
    with judged(folder / "distinction" / "data", study) as (room, window):
        yield f"t01-distinction-{language}", window
        judge(room, {FIRST: 2})
        screen = window.screen_shown
        assert isinstance(screen, PathDistinctionScreen)
        screen.go_to(screen.missing()[0])
        yield f"t02-distinction-present-{language}", window
        judge(room, {AFTER_PRESENT: 1})
        screen.right()
        yield f"t03-distinction-missing-{language}", window
    for task in ("path-agreement", "path-first-step"):
        study = write_judging_study(folder / task, "path-agreement", task=task, language=language)
        with judged(folder / task / "data", study) as (room, window):
            yield f"t10-{task}-{language}", window
            first = {"path-first-step": {FIRST_STEP: 5}}.get(task, {"similarity_1": 3})
            judge(room, first)
            window.screen_shown.right()
            yield f"t11-{task}-missing-{language}", window


@contextmanager
def judged(folder: Path, study: Path) -> Iterator[tuple[Room, ParticipantWindow]]:
    """The stage of a study on its first photo."""
    with opened(folder, study=study) as (room, window):
        skip_to(room, "stage-1")
        window.activateWindow()
        settle()
        yield room, window


def judge(room: Room, answers: dict[str, int]) -> None:
    for question, value in answers.items():
        room.runner.send(Judge(question, value, "mouse"))
    settle()


def introductions(folder: Path, language: str) -> Iterator[Shot]:
    """Every page of the introductions, and the description that can be opened in the task."""
    for name, text in INTRODUCED.items():
        study = write_judging_study(
            folder / name,
            name,
            language=language,
            rows=10 if name.startswith("prototype") else 0,
            before=[{"method": f"shipped:method-{text}"}],
            description=f"shipped:method-{text}",
        )
        with opened(folder / name / "data", study=study) as (room, window):
            skip_to(room, "method")
            window.activateWindow()
            part = room.runner.part
            page = 0
            while room.runner.part is part:
                page += 1
                settle()
                yield f"m{page:02d}-{name}-{language}", window
                room.runner.send(Next())
                settle()
            skip_to(room, "stage-1")
            room.runner.send(OpenDescription("method"))
            settle()
            yield f"m11-{name}-description-{language}", window
            window.opened.inside.tabs.changed.emit(1)
            settle()
            yield f"m12-{name}-described-{language}", window
            room.runner.send(OpenDescription("tree"))
            settle()
            if name.startswith("path"):
                yield f"m13-{name}-tree-{language}", window


def settle() -> None:
    """Until what was asked for is on the disk and on the screen."""
    for _ in range(10):
        QApplication.processEvents()
        QTest.qWait(20)


def questions_above(folder: Path, language: str) -> Iterator[Shot]:
    """The questionnaires behind a task, with a text about the own performance above them."""
    for name, text in {"path-agreement": "agreement", "heatmaps": "heatmaps"}.items():
        setting = "species" if name.startswith("path") else "objects"
        asked = {
            "hive-understanding": f"performance-{text}",
            f"hive-trade-off-{setting}": f"trade-off-{text}",
        }
        after = [
            {"questionnaire": f"shipped:{question}", "above": f"shipped:{above}"}
            for question, above in asked.items()
        ]
        study = write_judging_study(folder / name, name, language=language, after=after)
        with opened(folder / name / "data", study=study) as (room, window):
            skip_to(room, "stage-1")
            window.activateWindow()
            part = room.runner.part
            for number, photo in enumerate(part.photos):
                settle()
                judge(room, {q.id: 1 + number % q.last for q in questions(part.task, photo)})
                room.runner.send(Next())
            settle()
            yield f"o01-performance-{text}-{language}", window
            room.runner.send(Answer("understanding", 4))
            room.runner.send(Next())
            settle()
            yield f"o02-trade-off-{text}-{language}", window
            room.runner.send(Answer("low_risk", {"value": 92, "touched": True}))
            settle()
            yield f"o03-trade-off-{text}-moved-{language}", window
