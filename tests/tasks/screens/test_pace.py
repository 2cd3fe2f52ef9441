"""Pages that stay for a time at least, that are left by themselves, and items of which some are
drawn for each participant."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from labapp.analysis import load as load_tables
from labapp.base.errors import StudyError
from labapp.record.events.commands import Next
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.instruments import Instrument
from labapp.tasks.questionnaire.machine import Answer
from tests.helpers.beside import put_beside
from tests.ui.keys import press

ENDS = {"kind": "scale", "points": 5, "low": "not", "high": "very", "identifying": False}


def sheet(n: int = 3, **more: Any) -> dict[str, Any]:
    items = [{"id": f"q{place}", "text": f"Question {place}"} | ENDS for place in range(1, n + 1)]
    return {
        "id": "sheet", "version": 1, "title": "A sheet", "source": "Ours", "items": items, **more
    }  # fmt: skip


def write_study(folder: Path, content: dict[str, Any], language: str = "en") -> Path:
    (folder / "instruments").mkdir(parents=True)
    (folder / "instruments/sheet.yaml").write_text(json.dumps(content))
    path = folder / "own.yaml"
    path.write_text(
        f"id: own\ntitle: Pace\nversion: 1\nunnamed_texts: shipped\nlanguage: {language}\n"
        "flow:\n  - questionnaire: sheet\n"
    )
    put_beside(folder)
    return path


@pytest.mark.parametrize(("language", "note"), [("en", "continue in 1 s"), ("de", "in 1 s")])
def test_a_page_stays_for_its_time(
    language: str, note: str, tmp_path: Path, open_room: Any, open_window: Any
) -> None:
    study = write_study(tmp_path / "own", sheet(per_page=2, minimum_s=0.6), language)
    room = open_room(study=study)
    window = open_window(room)
    screen = window.screen_shown
    for item in ("q1", "q2"):
        room.runner.send(Answer(item, 3))
    assert note in screen.foot().note
    assert not screen.foot().ready
    room.runner.send(Next())
    assert screen.state.page == 0
    for _ in range(50):
        QTest.qWait(50)
        if screen.foot().ready:
            break
    assert screen.foot().note == ""
    room.runner.send(Next())
    assert screen.state.page == 1
    assert not screen.foot().ready, "each page has its own time"


def test_a_page_is_left_once_all_is_answered(
    tmp_path: Path, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    room = open_room(study=write_study(tmp_path / "own", sheet(per_page=1, advance=True)))
    window = open_window(room)
    screen = window.screen_shown
    QTest.mouseClick(screen.items[0].row.options[1], Qt.MouseButton.LeftButton)
    qapp.processEvents()
    assert (screen.state.page, screen.state.answers) == (1, {"q1": 2})
    screen.items[1].entrance().setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(2):
        press(Qt.Key.Key_Right)
    assert screen.state.page == 1, "an arrow key only goes to an answer"
    press(Qt.Key.Key_Space)
    assert (screen.state.page, screen.state.answers["q2"]) == (2, 3)
    screen.left()
    assert screen.state.page == 1, "the page can be turned back to"
    room.runner.send(Answer("q2", 4))
    room.runner.send(Answer("q3", 1))
    assert room.runner.part is None or room.runner.part.instrument != "sheet"


def test_some_items_are_drawn_for_each_participant(tmp_path: Path) -> None:
    content = sheet(8, samples=[{"draw": 2, "of": ["q2", "q3", "q4", "q5"]}])
    sessions = simulate_study(
        str(write_study(tmp_path / "own", content)), 12, "random", tmp_path / "sessions"
    )
    answers = load_tables(sessions[0].parent).answers
    asked = answers.groupby("participant")["item"].apply(frozenset)
    assert {len(items) for items in asked} == {6}
    assert all({"q1", "q6", "q7", "q8"} <= items for items in asked)
    drawn = Counter(item for items in asked for item in items & {"q2", "q3", "q4", "q5"})
    assert sum(drawn.values()) == 24
    assert len(drawn) == 4, "each is drawn for somebody"
    assert len(set(asked)) > 2


MISTAKES: dict[str, dict[str, Any]] = {
    "a draw of fewer than the 2 items": {"samples": [{"draw": 2, "of": ["q1", "q2"]}]},
    "is not an item of this questionnaire": {"samples": [{"draw": 1, "of": ["q1", "q9"]}]},
    "in another sample already": {
        "samples": [{"draw": 1, "of": ["q1", "q2"]}, {"draw": 1, "of": ["q2", "q3"]}]
    },
    "did you mean 'draw'": {"samples": [{"drawn": 1, "of": ["q1", "q2"]}]},
    "minimum_s": {"minimum_s": -1},
    "did you mean 'minimum_s'": {"minimum": 5},
}


@pytest.mark.parametrize("told", MISTAKES)
def test_a_mistake_is_told(told: str) -> None:
    content = json.dumps(sheet(**MISTAKES[told]), indent=1).encode()
    with pytest.raises(StudyError) as caught:
        Instrument.parse(Path("sheet.yaml"), content)
    assert told in str(caught.value)
    assert all(fault.line for fault in caught.value.faults)


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ({"kind": "written"}, "answered by a single press"),
        ({"kind": "choice", "options": [{"id": "a", "text": "A"},
          {"id": "b", "text": "B", "describe": True}]}, "answered by a single press"),
    ],
)  # fmt: skip
def test_only_items_of_one_press_lead_on(item: dict[str, Any], told: str) -> None:
    content = sheet(advance=True)
    content["items"].append({"id": "w", "text": "W", **item})
    with pytest.raises(StudyError, match=told):
        Instrument.parse(Path("sheet.yaml"), json.dumps(content, indent=1).encode())


def test_what_decides_about_another_item_is_always_asked() -> None:
    content = sheet(samples=[{"draw": 1, "of": ["q1", "q2"]}])
    content["items"][2]["only_if"] = {"q1": 3}
    with pytest.raises(StudyError, match="decides whether another item is asked"):
        Instrument.parse(Path("sheet.yaml"), json.dumps(content, indent=1).encode())
