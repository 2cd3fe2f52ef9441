"""A window and a console at the first photo of a stage that judges explanations."""

from __future__ import annotations

import pytest

from labapp.tasks.judging.events import Judge
from labapp.tasks.judging.plan import questions
from labapp.ui.moderator.console import ConsoleWindow
from tests.helpers.judging_studies import write_judging_study

SMALL = (1366, 768)


@pytest.fixture
def consoles() -> list[ConsoleWindow]:
    return []


@pytest.fixture
def stage(open_room, open_window, qapp, tmp_path, request):
    """A room and its window, on a small screen, at the first photo of a small set; its console is
    `consoles[0]`, in tests that ask for `consoles`."""
    watched = "consoles" in request.fixturenames
    consoles = request.getfixturevalue("consoles") if watched else []

    def open_one(name: str, **more):
        room = open_room(write_judging_study(tmp_path, name, **more))
        if watched:
            consoles.append(ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None))
        window = open_window(room, "stage-1")
        window.showNormal()
        window.resize(*SMALL)
        window.activateWindow()
        qapp.processEvents()
        return room, window, window.screen_shown

    return open_one


def trial_of(room):
    return room.runner.state.part_state.trial


def answer_all(room) -> None:
    """Answer every question of the photo with its first answer, as commands."""
    part, trial = room.runner.part, trial_of(room)
    for question in questions(part.task, part.photos[trial.number - 1]):
        room.runner.send(Judge(question.id, question.first, "simulated"))
