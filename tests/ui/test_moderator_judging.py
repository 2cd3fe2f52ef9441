"""The console while explanations are judged: what is true, and what is answered so far."""

from __future__ import annotations

import pytest

from labapp.record.events.commands import HandIn, Next, ShowQuestion
from labapp.tasks.judging.events import (
    METHOD,
    CloseDescription,
    Judge,
    OpenDescription,
    OpenSpecies,
)
from labapp.tasks.judging.machine import PhotoTrial
from labapp.tasks.judging.moderator import answers_of
from labapp.tasks.judging.plan import (
    AGREEMENT,
    KIND_OF,
    MISTAKE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
    SIMILARITY,
    VERDICT,
    applies,
    questions,
)
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.participant.screen import Opened
from tests.helpers.play_judging import judging_part, photo
from tests.ui.judging_stage import answer_all
from tests.ui.judging_stage import consoles as consoles
from tests.ui.judging_stage import stage as stage


def test_the_console_tells_truth_and_answers(stage, consoles):
    room, _, _ = stage("heatmaps")
    console = consoles[0]
    console.show()
    console.refresh()
    part, photo = room.runner.part, room.runner.part.photos[0]
    facts = console.mirror.facts
    right = photo.options.index(photo.prediction) + 1
    room.runner.send(Judge(OUTPUT, right, "mouse"))
    room.runner.send(Judge(OUTPUT_CONFIDENCE, 4, "mouse"))
    console.refresh()
    assert console.mirror.shown.isVisibleTo(console.mirror)
    assert console.mirror.title.full() == "Stage 1 · Photo 1 of 4"
    name = part.explained.names[photo.truth]
    assert f"Correct: {photo.options.index(photo.truth) + 1} · {name}" in facts.text
    assert f"The model predicts: {right} ✓" in facts.text
    assert "Confident of that: 4 of 5" in facts.text
    assert "Correct is: –" in facts.text
    row = next(view for view in console.plan.list.views if view.row.title == "Stage 1")
    assert (row.row.detail, row.progress) == ("Tiny, set 1", "1 / 4")
    assert [block.label for block in console.state.timeline.trials] == ["Photo 1 of 4"]
    answer_all(room)
    room.runner.send(Next())
    console.refresh()
    assert console.mirror.title.full() == "Stage 1 · Photo 2 of 4"
    assert "(wrong)" in facts.text


def test_the_console_counts_rated_rows(stage, consoles):
    room, _, _ = stage("prototype-agreement")
    console = consoles[0]
    console.show()
    room.runner.send(Judge(SIMILARITY.format(1), 2, "mouse"))
    room.runner.send(Judge(AGREEMENT, 3, "mouse"))
    console.refresh()
    answers = console.mirror.facts.text
    assert answers.splitlines()[-2:] == [
        "Rows rated: 1 of 3",
        "Prediction is correct: yes, somewhat sure",
    ]


def test_the_species_that_is_opened_is_named(stage, consoles):
    room, _, _ = stage("prototype-distinction", rows=10)
    part, photo = room.runner.part, room.runner.part.photos[0]
    room.runner.send(OpenSpecies(3))
    console = consoles[0]
    console.show()
    console.refresh()
    name = part.explained.names[photo.options[2]]
    assert console.mirror.facts.text.startswith(f"Looking at: 3 · {name}\n")
    assert console.mirror.shown.picture.screen.tabs is not None


def test_the_description_is_mirrored_over_the_photo(stage, consoles):
    room, _, _ = stage("heatmaps")
    console = consoles[0]
    console.show()
    room.runner.send(OpenDescription(METHOD))
    console.refresh()
    picture = console.mirror.shown.picture
    assert isinstance(picture.stack.currentWidget(), Opened)
    assert console.mirror.title.full().endswith("· reads the description")
    room.runner.send(CloseDescription(METHOD))
    console.refresh()
    assert picture.stack.currentWidget() is picture.screen


WARM = """
id: warm
title: Warm-up
version: 1
unnamed_texts: shipped
language: en
flow:
  - warm_up: fruits
"""


@pytest.fixture
def warm_up(open_room, consoles, tmp_path):
    """A room in its warm-up, and its console."""
    study = tmp_path / "warm.yaml"
    study.write_text(WARM, "utf-8")
    room = open_room(study)
    room.session.begin()
    console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None)
    consoles.append(console)
    return room, console


def test_the_warm_up_is_told_beside_the_screen(warm_up):
    room, console = warm_up
    part, send = room.runner.part, room.runner.send
    console.show()
    console.refresh()
    facts = console.mirror.facts
    assert console.mirror.title.full().startswith("Warm-up")
    assert facts.text.startswith("Reads how it works\n")
    send(ShowQuestion())
    send(Judge(VERDICT, 2, "mouse"))
    console.refresh()
    first = part.exercises[0]
    assert console.mirror.title.full() == "Warm-up · Exercise 1 of 2"
    assert facts.text.splitlines() == [
        "Exercise 1",
        f"Correct: Fruit {first.truth}",
        f"Predicted: Fruit {first.prediction} (wrong)",
        "Steps: green → more than 3",
        "First wrong step: 1",
        "The prediction is: right ✗",
        "Prediction is correct: –",
        "First mistake: –",
    ]
    for question, value in ((VERDICT, 1), (AGREEMENT, 1), (MISTAKE, 1)):
        send(Judge(question, value, "mouse"))
    send(HandIn())
    console.refresh()
    assert facts.text.splitlines()[-4:] == [
        "The prediction is: wrong ✓",
        "Prediction is correct: no, fairly sure",
        "First mistake: colour ✓",
        "Handed in: right.",
    ]
    send(Next())
    send(ShowQuestion())
    for question, value in ((VERDICT, 2), (AGREEMENT, 4), (MISTAKE, 1)):
        send(Judge(question, value, "mouse"))
    send(HandIn())
    console.refresh()
    assert facts.text.endswith("Handed in: not right.")


@pytest.mark.parametrize("task", list(KIND_OF))
def test_the_console_has_words_for_every_question(task):
    one = photo(task, 1, correct=False)
    part = judging_part(task, photos=(one,))
    asked = questions(task, one)
    for answers in ({}, {q.id: q.first for q in asked}, {q.id: q.last for q in asked}):
        lines = answers_of(part, one, PhotoTrial(1, answers=answers))
        about = [q for q in asked if q.row is None and applies(q, answers)]
        assert len(lines) >= len(about)
        assert all(line.endswith(": –") for line in lines[-len(about) :]) == (not answers)
