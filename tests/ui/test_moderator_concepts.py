"""The console while concepts are set and explanations are judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from labapp.base.clock import FakeClock
from labapp.record.events.commands import HandIn, Next, Resume, ShowQuestion
from labapp.tasks.concept_repair.events import (
    Foretell,
    PickAnswer,
    RepairDone,
    SetConcept,
    TickPair,
    UndoChange,
)
from labapp.tasks.concept_repair.moderator import NOTABLE, TYPES, Updates, facts_of
from labapp.tasks.concept_repair.plan import ConceptRepairPart, Repair
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
from labapp.ui.home import HomeController
from labapp.ui.language import speak, tr
from labapp.ui.moderator.console import SECOND_TICKS, ConsoleWindow, PlanPanel
from labapp.ui.moderator.state.console import WorkTime
from labapp.ui.participant.screen import Opened
from labapp.ui.starting import RunOptions, open_new
from tests.helpers import concepts
from tests.helpers.play_judging import judging_part, photo
from tests.helpers.rooms import Room, skip_to
from tests.ui.judging_stage import answer_all
from tests.ui.judging_stage import consoles as consoles
from tests.ui.judging_stage import stage as stage

BY = "mouse"


class Watched:
    """A console beside a session in which concepts are set by commands."""

    def __init__(self, room: Room, clock: FakeClock, *, blind: bool) -> None:
        self.room, self.clock, self.runner = room, clock, room.runner
        self.console = ConsoleWindow(room.bridge, room.loaded, "P01", lambda: None, blind=blind)
        self.console.resize(1366, 768)
        self.console.show()
        room.session.begin()
        skip_to(room, "stage-1")
        self.refresh()

    def refresh(self) -> None:
        for _ in range(SECOND_TICKS):
            self.console.refresh()

    def send(self, *commands: Any) -> None:
        for command in commands:
            self.runner.send(command)
        self.refresh()

    @property
    def part(self) -> ConceptRepairPart:
        assert isinstance(self.runner.part, ConceptRepairPart)
        return self.runner.part

    @property
    def trial(self) -> Repair:
        trial: Repair = self.runner.state.part_state.trial
        return trial

    @property
    def told(self) -> str:
        """What stands beside the participant's screen."""
        return self.console.mirror.facts.text


Watch = Callable[..., Watched]


@pytest.fixture
def watch(open_room: Callable[..., Room], tmp_path: Path) -> Watch:
    def open_one(*, blind: bool = False, **stages: Any) -> Watched:
        made = concepts.write(tmp_path / "sets", leak=9.0)
        clock = FakeClock()
        room = open_room(concepts.write_study(tmp_path / "study", made, **stages), clock=clock)
        return Watched(room, clock, blind=blind)

    return open_one


def test_what_is_true_of_a_picture_and_what_the_used_switch_also_tells(watch: Watch) -> None:
    watched = watch()
    item, repaired = watched.part.items[0], watched.part.repaired
    assert watched.console.mirror.title.full() == "Stage 1 · Picture 1 of 4"
    assert watched.told.startswith("Sets concepts\n1:00 left\nChanges in effect: 0\nCorrect: ")
    assert f"Correct: {repaired.class_(item.truth).name}\n" in watched.told
    assert tr(TYPES[item.item]) in watched.told
    said = f"The model says: {repaired.class_(watched.trial.answer).name}"
    assert said + ("" if watched.trial.answer == item.truth else " (wrong)") in watched.told
    names = [repaired.concepts[place].name for place in item.wrong()]
    assert ("wrong in the model: " + ", ".join(names) in watched.told) is bool(names)
    assert "also reveals" not in watched.told
    watched.clock.advance(12.2)
    watched.send(SetConcept(0, 2, BY))
    deviation = repaired.deviation(0, 1)
    assert deviation is not None
    assert deviation > NOTABLE
    assert "0:48 left" in watched.told
    told = f"“size” also reveals side: {deviation:.2f} more than the true concept"
    assert told in watched.told
    assert watched.told.count("also reveals") == 1
    changed = repaired.side_effects(0, watched.trial.history[-1].answer, watched.trial.answer)
    for place, known in enumerate(repaired.concepts):
        assert (f"Setting size also changed {known.name}" in watched.told) is (place in changed)


def test_a_blind_moderator_reads_nothing_of_model_truth_type_or_purity(watch: Watch) -> None:
    watched = watch(blind=True)
    watched.send(SetConcept(0, 2, BY))
    lines = watched.told.splitlines()
    assert lines == [
        "Sets concepts",
        "1:00 left",
        "Changes in effect: 1",
        "Do not ask about the model until the stage is over.",
    ]
    hidden = watched.part.repaired.model
    widgets = watched.console.findChildren(QWidget)
    texts = [str(widget.property("text") or "") for widget in widgets if widget.isVisible()]
    assert not any(hidden in text for text in (*texts, watched.told))
    plan = watched.console.plan
    assert isinstance(plan, PlanPanel)
    assert not any(hidden in view.row.detail for view in plan.list.views)
    watched.console.mirror.unblind()
    watched.refresh()
    assert "Correct: " in watched.told


def test_an_audit_names_what_is_not_confirmed(watch: Watch) -> None:
    watched = watch(instruction="audit")
    watched.send(SetConcept(1, 2, BY), SetConcept(3, 1, BY))
    assert "Not confirmed yet: size, height" in watched.told


def test_where_changes_are_given_the_answer_is_seen_and_nothing_is_set(watch: Watch) -> None:
    watched = watch(instruction="foresight", foresee="all", items={"repair": 2, "control": 2})
    assert watched.told.startswith("Forecasts: ")
    watched.send(PickAnswer("", BY), Foretell(True, BY))
    assert watched.told.startswith("Sees the model’s answer\n")


def test_what_came_otherwise_than_foretold_is_asked_about_after_the_stage(watch: Watch) -> None:
    watched = watch(blind=True, foresee="all")
    watched.send(SetConcept(0, 2, BY))
    assert watched.told.startswith("Forecasts: size → small\n")
    table = watched.part.items[0].probabilities((2, 0, 0, 0))
    came = watched.part.answer(table)
    other = next(known for known in watched.part.repaired.classes if known.id != came)
    watched.send(PickAnswer(other.id, BY), Foretell(True, BY))
    assert "Wrong forecasts so far: 1" in watched.told
    assert "expected" not in watched.told
    watched.send(SetConcept(1, 1, BY))
    states = (2, 1, 0, 0)
    right = watched.part.answer(watched.part.items[0].probabilities(states))
    watched.send(PickAnswer(right, BY), Foretell(True, BY), RepairDone())
    assert "Wrong forecasts so far: 1" in watched.told
    part = watched.part
    skip_to(watched.room, "stage-1-grid")
    watched.refresh()
    name = part.repaired.class_(came).name
    assert (
        f"Picture 1, size → small: you expected {other.name}, but the model said {name}. "
        "How do you explain that?" in watched.told
    )
    assert watched.console.mirror.title.full() == "Stage 1, grid · The grid"
    watched.send(TickPair(0, 1, BY), Next())


def test_changes_are_marks_of_the_timeline(watch: Watch) -> None:
    watched = watch()
    watched.send(SetConcept(2, 1, BY), SetConcept(2, 0, BY), UndoChange(BY))
    marks = [(mark.kind, mark.text) for mark in watched.console.state.timeline.marks]
    assert marks[-3:] == [
        ("answer", "height → low"),
        ("answer", "height → as in the model"),
        ("answer", "height → low"),  # what it is again
    ]
    assert watched.console.timeline.signs.text().startswith("⬢ answer")


def test_a_stage_in_a_line_and_all_of_it_in_german(watch: Watch) -> None:
    watched = watch(foresee="half")
    accuracy = f"{watched.part.repaired.task_accuracy:.1f}"
    assert facts_of(watched.part) == "  ·  ".join(
        [
            "stimulus set tiny-concepts-4",
            "4 pictures",
            "4 concepts",
            "correct what is wrong",
            f"the model is right in {accuracy}\N{NO-BREAK SPACE}%",
            "answer forecast in 2 pictures",
            "at most 60 s each",
        ]
    )
    speak("de")
    watched.send(SetConcept(0, 1, BY))
    assert watched.told.splitlines()[1].startswith("noch ")
    assert "4 Bilder" in facts_of(watched.part)
    assert "the " not in facts_of(watched.part)


def test_sessions_of_the_task_are_blind_unless_somebody_says_otherwise(
    home: HomeController, tmp_path: Path
) -> None:
    study = str(concepts.write_study(tmp_path / "study", concepts.write(tmp_path / "sets")))
    box = home.view.session.blind
    home.choose_study("quickstart")
    assert not box.isChecked()
    home.choose_study(study)
    assert box.isChecked()
    assert not home.shelf.choices.blind  # nothing was chosen by hand
    order = home.view.session.order
    assert order.text() == "1 stage, hidden while blind"
    box.click()
    assert not box.isChecked()
    assert order.text() == "1\N{NO-BREAK SPACE}concepts/tiny-concepts-4"
    home.choose_study("quickstart")
    assert not box.isChecked()


@pytest.mark.parametrize(("told", "blind"), [(None, True), (False, False), (True, True)])
def test_a_session_from_the_command_line_is_blind_likewise(
    told: bool | None, blind: bool, tmp_path: Path, qapp: QApplication
) -> None:
    study = str(concepts.write_study(tmp_path / "study", concepts.write(tmp_path / "sets")))
    options = RunOptions(
        data=tmp_path / "data", private=tmp_path / "private", audio="off", blind=told
    )
    opened = open_new(study, "P01", None, options)
    try:
        assert opened.blind is blind
    finally:
        opened.close("over")


def test_what_came_otherwise_before_a_stage_began_again_is_still_asked_about_once() -> None:
    part, grid = concepts.small_parts(4, foresee="all")
    play = concepts.ConceptPlay.of(part, grid, restarts=True)
    came = part.answer(part.items[0].probabilities((2, 0, 0, 0)))
    other = next(known.id for known in part.repaired.classes if known.id != came)
    change = SetConcept(0, 2, BY), PickAnswer(other, BY), Foretell(True, BY)
    for command in (*change, RepairDone()):
        play.send(command)
    play.crash(60)
    play.send(Resume("resumed"))
    updates = Updates()
    for event in play.events:
        updates.apply(event, WorkTime())
    assert "part.restarted" in {event.kind for event in play.events}
    assert [update.picture for update in updates.unexpected[part.id]] == [1]
    for command in change:
        play.send(command)
    for event in play.events[-3:]:
        updates.apply(event, WorkTime())
    assert len(updates.unexpected[part.id]) == 1


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
    assert "Confident about it: 4 of 5" in facts.text
    assert "Correct class: –" in facts.text
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
    assert facts.text.startswith("Is reading how it works\n")
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
        "Submitted: correct.",
    ]
    send(Next())
    send(ShowQuestion())
    for question, value in ((VERDICT, 2), (AGREEMENT, 4), (MISTAKE, 1)):
        send(Judge(question, value, "mouse"))
    send(HandIn())
    console.refresh()
    assert facts.text.endswith("Submitted: incorrect.")


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
