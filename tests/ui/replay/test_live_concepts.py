"""A picture whose concepts are set looks the same to the participant, in the mirror, in a replay
and as a figure: each is drawn from the state alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from labapp.base.clock import FakeClock
from labapp.record.events.commands import Command, Next
from labapp.record.journal.opening import open_record
from labapp.session.replay.history import History
from labapp.session.replay.lanes import Jump, lanes_of, next_after
from labapp.study.loading import load
from labapp.tasks.concept_repair.events import (
    Foretell,
    PickAnswer,
    RepairDone,
    SetConcept,
    TickPair,
    UndoChange,
)
from labapp.ui.participant.window import ParticipantWindow, WindowPicture
from labapp.ui.preview import opened_preview
from labapp.ui.replay.picture import PastWindow, still
from tests.helpers import concepts
from tests.helpers.rooms import Room, skip_to
from tests.ui.replay.test_live_equal import pixels

SIZE = (1366, 768)
BY = "mouse"
JUMPS: tuple[Jump, ...] = ("dial",)
Open = Callable[..., tuple[Room, ParticipantWindow, FakeClock]]


@pytest.fixture
def opened(
    open_room: Callable[..., Room],
    open_window: Callable[[Room], ParticipantWindow],
    tmp_path: Path,
) -> Open:
    def open_one(**stages: Any) -> tuple[Room, ParticipantWindow, FakeClock]:
        made = concepts.write(tmp_path / "sets")
        clock = FakeClock()
        room = open_room(concepts.write_study(tmp_path / "study", made, **stages), clock=clock)
        window = open_window(room)
        window.showNormal()
        window.resize(*SIZE)
        skip_to(room, "practice-examples" if stages.get("examples") else "stage-1")
        return room, window, clock

    return open_one


def seen(window: ParticipantWindow) -> NDArray[np.uint8]:
    """What the window shows, without a focus ring."""
    for _ in range(4):
        QApplication.processEvents()
        window.looks.look()
    window.setFocus()
    QApplication.processEvents()
    image: QImage = window.grab().toImage()
    return pixels(image)


COURSES: dict[str, tuple[dict[str, Any], tuple[Command, ...]]] = {
    "repair": (
        {},
        (SetConcept(3, 2, BY), SetConcept(0, 1, BY), UndoChange(BY), RepairDone()),
    ),
    "audit": ({"instruction": "audit"}, (SetConcept(0, 2, BY), SetConcept(2, 1, BY))),
    "foresee": (
        {"foresee": "all"},
        (SetConcept(3, 2, BY), PickAnswer("c2", BY), Foretell(True, BY), RepairDone()),
    ),
    "foresight": (
        {"instruction": "foresight", "foresee": "all"},
        (PickAnswer("", BY), Foretell(False, BY), RepairDone()),
    ),
    "examples": (
        {"examples": True, "items": {"repair": 2, "control": 1}},
        (Next(), Next(), SetConcept(3, 2, BY)),
    ),
}


@pytest.mark.parametrize("course", COURSES)
def test_what_was_live_is_what_the_mirror_and_the_replay_show(
    opened: Open, course: str, qapp: QApplication
) -> None:
    stages, commands = COURSES[course]
    room, window, clock = opened(**stages)
    mirror = WindowPicture(window.session.only_read())
    moments: list[tuple[int, NDArray[np.uint8]]] = []

    def look() -> None:
        live = seen(window)
        moments.append((clock.now_ns(), live))
        mirror.follow_at_once()
        drawn = pixels(mirror.draw(QSize(*SIZE), 1.0).toImage())
        assert np.array_equal(drawn, live), len(moments)

    look()
    for command in commands:
        clock.advance(1.7)
        room.runner.send(command)
        look()
    clock.advance(1)  # two moments are not one
    skip_to(room, "stage-1-grid")
    look()
    clock.advance(1)
    room.runner.send(TickPair(1, 2, BY))
    look()
    mirror.close()
    room.session.close("over")
    with History(open_record(room.session.folder.path)) as history:
        past = PastWindow(history)
        for t_ns, live in reversed(moments):
            past.show_time(t_ns)
            assert past.problem == ""
            drawn = pixels(past.draw(past.picture.window.size(), 1.0).toImage())
            assert np.array_equal(drawn, live), t_ns
        past.close()
        t_ns, live = moments[1]
        assert np.array_equal(pixels(still(history, t_ns)), live)


def test_each_change_is_an_anchor_for_coding_which_tells_no_outcome(opened: Open) -> None:
    """A rater from whom outcomes and the screen are hidden still sees when something was set."""
    room, _, clock = opened()
    begun = clock.now_ns()
    for concept, to in ((0, 2), (2, 1)):
        clock.advance(3)
        room.runner.send(SetConcept(concept, to, BY))
    clock.advance(3)
    room.runner.send(UndoChange(BY))
    room.session.close("over")
    record = open_record(room.session.folder.path)
    lanes = lanes_of(record, blind=("names", "outcomes", "future"), answers=("concept.set",))
    (moves,) = (lane for lane in lanes if lane.id == "dials")
    times = [begun + round(seconds * 1e9) for seconds in (3, 6, 9)]
    assert moves.times.tolist() == times
    assert moves.values.tolist() == [0, 2, 2]
    assert next_after(lanes, times[0], JUMPS) == times[1]
    assert not any(lane.id == "answers" for lane in lanes)
    seen_by_all = lanes_of(record, answers=("concept.set",))
    (answers,) = (lane for lane in seen_by_all if lane.id == "answers")
    assert [item.t0_ns for item in answers.items] == times[:2]
    with History(record) as history:
        trails = history.trails(begun, times[-1])
        assert {dial: [value for _, value in stops] for dial, stops in trails.items()} == {
            0: [2.0],
            2: [1.0, 0.0],
        }


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Path]:
    made = concepts.write(tmp_path / "sets")
    yield concepts.write_study(
        tmp_path / "study",
        made,
        practice={"text": "practice.md", "items": 2},
        items={"repair": 2, "control": 1},
        examples=True,
        foresee="half",
    )
    shutil.rmtree(made.folder)


def test_a_preview_shows_every_screen_and_lets_a_hand_try_it(study: Path) -> None:
    with opened_preview(load(study), None, None) as preview:
        preview.window.show()
        kinds = []
        for place in preview.places:
            preview.show(place)
            kinds.append(place.part.part)
            assert not preview.window.covered, place.title
            if place.part.part == "concept_repair":
                screen: Any = preview.window.screen_shown
                screen.switches.switches[1].options[2].click()
                trial = preview.runner.state.part_state.trial
                assert trial.states[1] == 2 or trial.pending == (1, 2)
                assert screen.switches.switches[1].index == 2
        assert kinds.count("concept_repair") >= 2
        assert {"concept_grid", "concept_examples"} <= {*kinds}
