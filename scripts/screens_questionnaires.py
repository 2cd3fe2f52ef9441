"""Every shipped questionnaire, for screenshots.py: untouched, with something missing, answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QWidget

from labapp.record.events.commands import Next
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.questionnaire.screen.questionnaire import QuestionnaireScreen
from labapp.tasks.questionnaire.simulated import answer
from labapp.ui.participant.view import Bridge, QtScheduler
from labapp.ui.participant.window import ParticipantWindow
from labapp.ui.strings import strings_of
from tests.helpers.questionnaires import ALL, questionnaire_study
from tests.helpers.rooms import Room, make_runner, skip_to

Shot = tuple[str, QWidget]


def shots(folder: Path) -> Iterator[Shot]:
    for language in ("en", "de"):
        study = questionnaire_study(folder / language, language=language, stages=3)
        room = make_runner(folder / language / "room", study, scheduler=QtScheduler)
        bridge = Bridge(room.runner)
        window = ParticipantWindow(
            bridge,
            room.loaded,
            strings_of(room.loaded),
            room.loaded.study.presentation,
            room.session.give_consent,
        )
        room.session.begin()
        window.open_on()
        try:
            for number, name in enumerate(ALL, start=1):
                skip_to(room, f"questionnaire-{number}")
                yield from _asked(room, window, f"q{number:02d}-{name}-{language}")
        finally:
            window.close_for_good()
            room.session.close("pictures taken")


def _asked(room: Room, window: ParticipantWindow, name: str) -> Iterator[Shot]:
    """The first page untouched and missing; every page half answered, then the rest."""
    screen = window.screen_shown
    assert isinstance(screen, QuestionnaireScreen)
    rng = np.random.default_rng(4)
    yield f"{name}-untouched", window
    if any(item.required for item in screen.pages[0].items):
        screen.right()
        yield f"{name}-missing", window
    for number, page in enumerate(screen.pages, start=1):
        for item in page.items:
            value = None
            while value is None:
                value = answer(item, rng)
            room.runner.send(Answer(item.id, value))
        yield f"{name}-page-{number}", window
        if screen.pages[number - 1].items[-1].id == "region":
            own = {"chosen": ["woman", "self_described"], "described": "in my own words"}
            room.runner.send(Answer("gender", own))
            yield f"{name}-described", window
        room.runner.send(Next())
