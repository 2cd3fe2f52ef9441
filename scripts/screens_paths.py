"""Warm-up, introduction to a method and the tasks with paths of a tree, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtWidgets import QWidget

from labapp.events.commands import HandIn, Judge, Next
from labapp.ui.bridge import Bridge
from labapp.ui.participant.warm_up import WarmUpScreen
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.scheduler import QtScheduler
from labapp.ui.strings import strings_of
from tests.helpers.rooms import Room, make_runner

Shot = tuple[str, QWidget]
WARM_UP = """
id: warm
title: Warm-up
version: 1
language: {language}
flow:
  - warm_up: fruits
"""


def shots(folder: Path) -> Iterator[Shot]:
    for language in ("en", "de"):
        yield from warm_up(folder / language, language)


@contextmanager
def opened(folder: Path, study: Path) -> Iterator[tuple[Room, ParticipantWindow]]:
    room = make_runner(folder, study, scheduler=QtScheduler)
    window = ParticipantWindow(
        Bridge(room.runner),
        room.loaded,
        strings_of(room.loaded),
        room.loaded.study.presentation,
        room.session.give_consent,
    )
    room.session.begin()
    window.open_on()
    try:
        yield room, window
    finally:
        window.close_for_good()
        room.session.close("pictures taken")


def warm_up(folder: Path, language: str) -> Iterator[Shot]:
    """The introduction, both exercises: one answered wrongly, one rightly."""
    folder.mkdir(parents=True)
    study = folder / "warm.yaml"
    study.write_text(WARM_UP.format(language=language))
    with opened(folder / "data", study) as (room, window):
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
