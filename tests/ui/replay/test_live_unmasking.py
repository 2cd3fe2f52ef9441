"""Live values in the replay, what opens it, and its notices."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.base.clock import NS, FakeClock
from labapp.record.events.commands import Command, Next
from labapp.record.journal.opening import open_record
from labapp.session.replay import history
from labapp.session.replay.history import History
from labapp.session.replay.lanes import Jump, lanes_of, next_after
from labapp.session.simulation.at_scale import simulate_at_scale
from labapp.study.loading import load
from labapp.tasks.concept_repair.events import (
    Foretell,
    PickAnswer,
    RepairDone,
    SetConcept,
    TickPair,
    UndoChange,
)
from labapp.tasks.unmasking.plan import UnmaskingPart
from labapp.ui.language import speak, tr
from labapp.ui.moderator.wording import every_mark
from labapp.ui.participant.window import ParticipantWindow, WindowPicture
from labapp.ui.preview import open_preview
from labapp.ui.replay.controller import open_session
from labapp.ui.replay.picture import PastWindow, still
from labapp.ui.replay.window import ReplayWindow
from tests.helpers import concepts
from tests.helpers.hands import key
from tests.helpers.journals import golden_session
from tests.helpers.rooms import Room, skip_to
from tests.helpers.unmasking import made, write_unmasking_study
from tests.ui.replay.test_live_equal import pixels
from tests.ui.test_blind_words import texts_of


def test_the_replayed_picture_is_the_one_that_was_live(
    open_room: Callable[..., Room],
    open_window: Callable[[Room], ParticipantWindow],
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    room = open_room(write_unmasking_study(tmp_path / "study", made(tmp_path)))
    window = open_window(room)
    window.showNormal()
    window.resize(1366, 768)
    window.activateWindow()
    runner = room.runner
    parts = [part for part in runner.machine.parts if isinstance(part, UnmaskingPart)]
    skip_to(room, next(part.id for part in parts if part.role == "stage"))
    seen = []

    def look() -> None:
        window.looks.look()
        focus = QApplication.focusWidget()
        assert focus is not None
        window.setFocus()
        WindowPicture.lay_out()
        seen.append((runner.clock.now_ns(), runner.state, pixels(window.grab().toImage())))
        focus.setFocus()

    for _ in range(12):
        qtbot.waitUntil(lambda: runner.state.part_state.trial.open)
        look()
        number = runner.state.part_state.trial.number
        key(Qt.Key.Key_F)
        look()  # the blank before the next one, where there is one
        qtbot.waitUntil(lambda n=number: runner.state.part_state.trial.number != n)
    room.session.close("over")
    with History(open_record(room.session.folder.path)) as history:
        past = PastWindow(history)
        compared = 0
        for t_ns, state, live in reversed(seen):
            if history.state_at(t_ns) != state:
                continue  # something happened while it was being looked at
            compared += 1
            past.show_time(t_ns)
            picture = pixels(past.draw(past.picture.window.size(), 1.0).toImage())
            assert np.array_equal(picture, live), t_ns
        past.close()
        assert compared > 8


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
    with open_preview(load(study), None, None) as preview:
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


MANY = 100


@pytest.fixture
def recorded(thinking_aloud: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of its own for each test, of which few events are read at once."""
    monkeypatch.setattr(history, "MANY", MANY)
    monkeypatch.setattr(history.History.read_on, "__defaults__", (MANY,))
    return Path(shutil.copytree(thinking_aloud, tmp_path / "quickstart" / thinking_aloud.name))


def test_the_screen_is_there_before_all_of_the_journal_is_read(
    recorded: Path, qtbot: QtBot
) -> None:
    session = open_session(recorded)
    window = ReplayWindow(session)
    qtbot.addWidget(window)
    read: list[int] = []
    read_on = session.history.read_on
    session.history.read_on = lambda most=MANY: read.append(most) or read_on(most)  # type: ignore
    window.open(30 * NS)
    before = sum(read)
    assert 0 < before < len(session.history.events)
    assert window.events.count() == 0
    qtbot.waitUntil(lambda: window.filled)
    assert window.events.count() > 0
    lanes, others = (
        [(lane.id, lane.items, lane.times.tolist()) for lane in each]
        for each in (
            window.lanes,
            lanes_of(session.record, sound=session.sound, answers=every_mark()),
        )
    )
    assert {lane[0] for lane in lanes} > {"screen", "dials", "alignment"}
    assert repr(lanes) == repr(others)
    assert not session.history.read_on(1), "some of it was left"


def test_a_late_screen_comes_behind_the_window(recorded: Path, qtbot: QtBot) -> None:
    session = open_session(recorded)
    window = ReplayWindow(session)
    qtbot.addWidget(window)
    late_ns = session.history.times[-50]
    assert session.history.is_far(late_ns)
    window.open(late_ns)
    window.repaint()
    assert session.history.is_far(late_ns), "it was folded before the window was there"
    qtbot.waitUntil(lambda: window.picture._pixmap is not None)
    assert not session.history.is_far(late_ns)
    assert window.picture.problem == ""


def test_what_cannot_be_read_is_told_soon_after_the_window_is_there(
    recorded: Path, qtbot: QtBot
) -> None:
    with sqlite3.connect(recorded / "journal.sqlite") as connection:
        (last,) = connection.execute("SELECT max(seq) FROM events WHERE kind = 'trial.ended'")
        connection.execute("UPDATE events SET payload = '{' WHERE seq = ?", last)
    connection.close()
    window = ReplayWindow(open_session(recorded))
    qtbot.addWidget(window)
    window.open(0)
    qtbot.waitUntil(lambda: window.filled)
    assert f"Event {last[0]} (trial.ended) cannot be read" in window.notices.text.text()


USUAL = "Screens are shown from the top, in a window of the usual size"


def notices(path: Path) -> str:
    session = open_session(path)
    session.close()
    return " ".join(session.notices)


def test_an_old_session_says_what_it_did_not_note(tmp_path: Path, qapp: QApplication) -> None:
    session = golden_session(tmp_path)
    rmtree(session / "audio")  # nothing is to be heard here
    assert USUAL in notices(session)


def test_a_simulated_session_had_no_window_to_note(tmp_path: Path, qapp: QApplication) -> None:
    session = simulate_at_scale("quickstart", 1, "understanding", tmp_path / "data", 1)[0]
    assert USUAL not in notices(session)


@pytest.mark.parametrize("spoken", ["en", "de"])
def test_no_window_sends_anybody_to_a_terminal(tmp_path: Path, qtbot: QtBot, spoken: str) -> None:
    """What a window advises can be done in a window, also without sound and without units."""
    session = simulate_at_scale("quickstart", 1, "understanding", tmp_path / "data", 1)[0]
    speak(spoken)
    window = ReplayWindow(open_session(session))
    window.open(0)
    qtbot.waitUntil(lambda: window.filled)
    assert window.units.empty.text() == tr("replay.silent_notice")
    advice = [text for text in texts_of(window) if re.search(r"labapp \w|`", text)]
    window.close()
    window.deleteLater()
    assert not advice
