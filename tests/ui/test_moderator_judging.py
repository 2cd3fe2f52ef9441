"""The console while explanations are judged: what is true, and what is answered so far."""

from __future__ import annotations

import pytest

from labapp.events.commands import HandIn, Next, ShowQuestion
from labapp.tasks.judging.commands import Judge, OpenSpecies
from labapp.tasks.judging.plan import (
    AFTER_PRESENT,
    AGREEMENT,
    FIRST,
    FIRST_STEP,
    KIND_OF,
    MISTAKE,
    OUTPUT,
    OUTPUT_CONFIDENCE,
    PRESENT,
    SIMILARITY,
    VERDICT,
    applies,
    questions,
)
from labapp.tasks.judging.state import PhotoTrial
from labapp.ui.images import Images
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.moderator.judging_mirror import answers_of
from labapp.ui.moderator.mirror import PHOTO, QUIET, WARM_UP
from tests.helpers import stimuli
from tests.helpers.play_judging import judging_part, photo
from tests.helpers.rooms import skip_to
from tests.ui.judging_stage import SMALL, answer_all
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


def mirrored(consoles, qapp, size=SMALL):
    """The mirror of the first photo, laid out in a console of that size."""
    console = consoles[0]
    console.resize(*size)
    console.show()
    console.refresh()
    for _ in range(3):
        qapp.processEvents()
    return console.mirror.photo


def said(mirror) -> list[str]:
    """The words of every row that is to be seen."""
    labels = [(view.title, *view.lines) for view in mirror.rows.shown if view.isVisible()]
    return [" ".join(one.full() for one in each if one.full()) for each in labels]


def assert_whole(mirror) -> None:
    """Everything is inside the card, with pictures, and no row lies over another."""
    inside = mirror.window().rect()
    shown = mirror.rows.shown
    for view in shown:
        assert mirror.rows.rect().contains(view.geometry())
        assert all(one.image is not None and one.width() >= 40 for one in view.views)
        assert all(view.rect().contains(one.geometry()) for one in (*view.views, view.title))
        assert inside.contains(view.mapTo(mirror.window(), view.rect().bottomRight()))
    for place, one in enumerate(shown):
        assert not any(one.geometry().intersects(two.geometry()) for two in shown[:place])


@pytest.mark.parametrize("rows", [3, 10])
def test_rows_stand_beside_the_photo_with_their_ratings(stage, consoles, qapp, monkeypatch, rows):
    room, _, _ = stage("prototype-agreement", rows=rows)
    room.runner.send(Judge(SIMILARITY.format(2), 4, "mouse"))
    mirror = mirrored(consoles, qapp)
    rated = ["–"] * len(room.runner.part.photos[0].rows)
    rated[1] = "4"
    assert said(mirror) == [f"Row {n} rated {value}" for n, value in enumerate(rated, start=1)]
    assert_whole(mirror)
    assert mirror.head.isHidden()
    built = []
    monkeypatch.setattr(Images, "row", lambda self, photo, row: built.append(row))
    room.runner.send(Judge(SIMILARITY.format(1), 1, "mouse"))
    consoles[0].refresh()
    assert said(mirror)[0] == "Row 1 rated 1"
    assert not built  # a rating builds no pictures


def test_rows_of_the_species_that_is_opened(stage, consoles, qapp):
    room, _, _ = stage("prototype-distinction", rows=10)
    part, photo = room.runner.part, room.runner.part.photos[0]
    third = photo.rows_of(3)
    room.runner.send(Judge(SIMILARITY.format(third[4]), 3, "mouse"))
    mirror = mirrored(consoles, qapp)
    first = [view.views[1].image for view in mirror.rows.shown]
    assert mirror.head.full() == f"Looking at: 1 · {part.explained.names[photo.options[0]]}"
    assert not any("rated 3" in row for row in said(mirror))
    room.runner.send(OpenSpecies(3))
    mirror = mirrored(consoles, qapp)
    assert mirror.head.full() == f"Looking at: 3 · {part.explained.names[photo.options[2]]}"
    assert [row for row in said(mirror) if "rated 3" in row] == ["Row 5 rated 3"]
    assert [view.views[1].image for view in mirror.rows.shown] != first
    assert_whole(mirror)


def test_steps_tell_decisions_and_answers(stage, consoles, qapp):
    room, _, _ = stage("path-distinction")
    photo = room.runner.part.photos[0]
    room.runner.send(Judge(FIRST, PRESENT, "mouse"))
    room.runner.send(Judge(AFTER_PRESENT, PRESENT, "mouse"))
    mirror = mirrored(consoles, qapp)
    steps = [f"Step {n} {decided(row)}" for n, row in enumerate(photo.rows, start=1)]
    assert said(mirror)[: len(steps)] == steps
    place = photo.final.classes.index(photo.truth)
    marks = ["✓" if place >= 2 else "✗", {3: " ✓", 2: " ✗"}.get(place, "")]
    at = len(steps)
    assert said(mirror)[at:] == [
        f"Step {at + 1} to decide present {marks[0]}",
        f"Step {at + 2} if absent –",
        f"Step {at + 3} if present present{marks[1]}",
    ]
    assert_whole(mirror)


def decided(row) -> str:
    return "present" if row.present else "absent"


def test_steps_with_ratings_on_a_large_screen(stage, consoles, qapp):
    room, _, _ = stage("path-agreement")
    room.runner.send(Judge(SIMILARITY.format(1), 2, "mouse"))
    small = mirrored(consoles, qapp)
    side = small.rows.shown[0].views[0].width()
    large = mirrored(consoles, qapp, (1920, 1080))
    first = room.runner.part.photos[0].rows[0]
    assert said(large)[0] == f"Step 1 {decided(first)} rated 2"
    assert large.rows.shown[0].views[0].width() > side
    assert_whole(large)


def longer(manifest) -> None:
    """Every path four times as long."""
    for one in (*manifest["photos"], manifest["correct_example"], manifest["incorrect_example"]):
        one["rows"] = one["rows"] * 4


def test_a_long_path_has_its_words_in_fewer_lines(stage, consoles, qapp):
    room, _, _ = stage("path-agreement", change=longer)
    mirror = mirrored(consoles, qapp)
    rows = room.runner.part.photos[0].rows
    assert len(rows) >= 12
    assert said(mirror)[-1] == f"Step {len(rows)} {decided(rows[-1])} · rated –"
    view = mirror.rows.shown[-1]
    assert view.lines[0].geometry().top() >= view.title.geometry().bottom()
    assert view.rect().contains(view.lines[0].geometry())
    mirror = mirrored(consoles, qapp, (1920, 1080))
    assert said(mirror)[-1] == f"Step {len(rows)} {decided(rows[-1])} rated –"
    assert_whole(mirror)


def test_heatmaps_after_rows_have_the_card_to_themselves(stage, consoles, qapp, tmp_path):
    other = {
        "task": "heatmap-distinction",
        "stimuli": str(stimuli.write(tmp_path, "heatmaps").folder),
    }
    after = [{"stages": {**other, "set": 1, "description": "description.md", "intro": "intro.md"}}]
    room, _, _ = stage("prototype-agreement", after=after)
    mirror = mirrored(consoles, qapp)
    side = mirror.photo.width()
    skip_to(room, "stage-2")
    mirror = mirrored(consoles, qapp)
    assert mirror.rows.isHidden()
    assert mirror.head.isHidden()
    assert mirror.photo.width() > side
    beside = mirror.told.mapTo(mirror, mirror.told.rect().topLeft())
    assert beside.x() > mirror.heatmaps[1].geometry().right()


def test_the_step_that_is_disagreed_with_is_told_in_its_row(stage, consoles, qapp):
    room, _, _ = stage("path-agreement", task="path-first-step")
    row = room.runner.part.photos[0].rows[1]
    room.runner.send(Judge(FIRST_STEP, 2, "mouse"))
    words = said(mirrored(consoles, qapp))
    assert words[1] == f"Step 2 {decided(row)} {row.similarity:.2f} disagrees here"
    assert not any("disagrees" in one for one in words[:1] + words[2:])


WARM = """
id: warm
title: Warm-up
version: 1
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
    yield room, console
    console.shut()
    console.deleteLater()


def test_the_warm_up_is_mirrored(warm_up, consoles, qapp):
    room, console = warm_up
    part, send = room.runner.part, room.runner.send
    mirrored(consoles, qapp)
    mirror = console.mirror.warm_up
    assert console.mirror.stack.currentIndex() == WARM_UP
    assert console.mirror.title.full() == "Warm-up"
    assert mirror.headline.text() == "Reads how it works"
    assert mirror.fruits.picture == part.worked.picture
    assert mirror.answers.text() == ""
    send(ShowQuestion())
    send(Judge(VERDICT, 2, "mouse"))
    console.refresh()
    first, second = part.exercises
    assert console.mirror.title.full() == "Warm-up · exercise 1 of 2"
    assert mirror.headline.text() == "Exercise 1"
    assert mirror.fruits.picture == first.picture
    told = mirror.told.text().splitlines()
    assert told[:2] == [
        f"Correct: Fruit {first.truth}",
        f"Predicted: Fruit {first.prediction} (wrong)",
    ]
    assert told[2:] == ["Steps: green → more than 3", "First wrong step: 1"]
    assert mirror.answers.text().splitlines() == [
        "The prediction is: right ✗",
        "Prediction is correct: –",
        "First mistake: –",
    ]
    assert mirror.done.text() == ""
    for question, value in ((VERDICT, 1), (AGREEMENT, 1), (MISTAKE, 1)):
        send(Judge(question, value, "mouse"))
    send(HandIn())
    console.refresh()
    assert mirror.answers.text().splitlines() == [
        "The prediction is: wrong ✓",
        "Prediction is correct: no, fairly sure",
        "First mistake: colour ✓",
    ]
    assert (mirror.done.text(), mirror.done.property("tone")) == ("Handed in: right.", "good")
    send(Next())
    send(ShowQuestion())
    for question, value in ((VERDICT, 2), (AGREEMENT, 4), (MISTAKE, 1)):
        send(Judge(question, value, "mouse"))
    send(HandIn())
    console.refresh()
    assert mirror.fruits.picture == second.picture
    assert mirror.answers.text().splitlines()[2].endswith(" ✗")
    assert (mirror.done.text(), mirror.done.property("tone")) == ("Handed in: not right.", "alarm")


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
