"""The console while explanations are judged: what is true, and what is answered so far."""

from __future__ import annotations

import pytest

from labapp.events.commands import Judge, Next
from labapp.study.judging import (
    AGREEMENT,
    KIND_OF,
    OUTPUT,
    OUTPUT_CONFIDENCE,
    SIMILARITY,
    applies,
    questions,
)
from labapp.tasks.judging.state import PhotoTrial
from labapp.ui.moderator.judging_mirror import answers_of
from labapp.ui.moderator.mirror import PHOTO, QUIET
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
    mirror = console.mirror.photo
    right = photo.options.index(photo.prediction) + 1
    room.runner.send(Judge(OUTPUT, right, "mouse"))
    room.runner.send(Judge(OUTPUT_CONFIDENCE, 4, "mouse"))
    console.refresh()
    assert console.mirror.stack.currentIndex() == PHOTO
    assert console.mirror.title.full() == "Stage 1 · photo 1 of 4"
    name = part.explained.names[photo.truth]
    assert f"Correct: {photo.options.index(photo.truth) + 1} · {name}" in mirror.told.text()
    assert f"The model predicts: {right} ✓" in mirror.answers.text()
    assert "Confident of that: 4 of 5" in mirror.answers.text()
    assert "Correct is: –" in mirror.answers.text()
    assert len([view for view in mirror.heatmaps if view.image is not None]) == 4
    row = next(view for view in console.plan.list.views if view.row.title == "Stage 1")
    assert (row.row.detail, row.progress) == ("Tiny, set 1", "1 / 4")
    assert [block.label for block in console.state.timeline.trials] == ["Photo 1 of 4"]
    answer_all(room)
    room.runner.send(Next())
    console.refresh()
    assert console.mirror.title.full() == "Stage 1 · photo 2 of 4"
    assert "(wrong)" in mirror.told.text()


def test_the_console_counts_rated_rows(stage, consoles):
    room, _, _ = stage("prototype-agreement")
    console = consoles[0]
    console.show()
    room.runner.send(Judge(SIMILARITY.format(1), 2, "mouse"))
    room.runner.send(Judge(AGREEMENT, 3, "mouse"))
    console.refresh()
    answers = console.mirror.photo.answers.text()
    assert answers.splitlines() == [
        "Rows rated: 1 of 3",
        "Prediction is correct: yes, somewhat sure",
    ]
    assert console.mirror.stack.currentIndex() != QUIET


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
