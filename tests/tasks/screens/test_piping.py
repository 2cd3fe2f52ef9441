"""Answers filled into the words of later items: on the screen, at the console, in the replay, and
which ones are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from labapp.analysis.checking import check_study
from labapp.base.errors import StudyError
from labapp.record.events.commands import Next
from labapp.record.journal.opening import open_record
from labapp.session.replay.history import History
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.instruments import Instrument
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.questionnaire.moderator import sheet_lines
from labapp.ui.replay.picture import PastWindow
from tests.helpers.beside import put_beside
from tests.helpers.reach import out_of_reach
from tests.ui.hearing import Text as Told
from tests.ui.hearing import interface_of

TOOLS = [{"id": "hammer", "text": "a hammer"}, {"id": "saw", "text": "a saw"}]
FIRST = {
    "id": "first", "version": 1, "title": "First", "source": "Ours",
    "items": [
        {"id": "called", "kind": "written", "text": "What are you called?", "identifying": True},
        {"id": "years", "kind": "number", "text": "Since how many years?", "identifying": False},
    ],
}  # fmt: skip
THEN = {
    "id": "then", "version": 1, "title": "Then", "source": "Ours", "per_page": 1,
    "items": [
        {"id": "uses", "kind": "choices", "text": "What do you use, {answer:first.called}?",
         "options": TOOLS, "identifying": False},
        {"id": "why", "kind": "written", "name": "Your tools", "required": False,
         "text": "Why {answer:uses}, for {answer:first.years} years?"},
    ],
}  # fmt: skip


def write_study(folder: Path, *sheets: dict[str, Any]) -> Path:
    (folder / "instruments").mkdir(parents=True)
    for sheet in sheets:
        text = json.dumps(sheet, indent=1)
        (folder / f"instruments/{sheet['id']}.yaml").write_text(text)
    flow = "".join(f"  - questionnaire: {sheet['id']}\n" for sheet in sheets)
    path = folder / "own.yaml"
    path.write_text(f"id: own\ntitle: P\nversion: 1\nunnamed_texts: shipped\nflow:\n{flow}")
    put_beside(folder)
    return path


def shown(window: Any) -> str:
    page = window.screen_shown.pages[window.screen_shown.state.page]
    return " ".join(label.text() for label in page.findChildren(QLabel))


def test_what_was_answered_stands_in_later_words(
    tmp_path: Path, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    room = open_room(study=write_study(tmp_path / "own", FIRST, THEN))
    window = open_window(room)
    runner = room.runner
    runner.send(Answer("called", "Kim"))
    runner.send(Answer("years", 3))
    runner.send(Next())
    qapp.processEvents()
    assert "What do you use, Kim?" in shown(window)
    view = window.screen_shown.items[0]
    assert interface_of(view.group).text(Told.Name) == "What do you use, Kim?"
    runner.send(Answer("uses", {"chosen": ["hammer", "saw"]}))
    runner.send(Next())
    qapp.processEvents()
    assert "Why a hammer, a saw, for 3 years?" in shown(window)
    assert out_of_reach(window) == []
    t_ns = room.clock.now_ns()
    window.screen_shown.left()
    runner.send(Answer("uses", {"chosen": ["saw"]}))
    runner.send(Next())
    qapp.processEvents()
    assert "Why a saw, for 3 years?" in shown(window)

    task = runner.machine.tasks[runner.state.index]
    first_page = task.at_page(runner.state.part_state, 0)
    told = " ".join(sheet_lines(task, first_page))
    assert "What do you use, …?" in told, "who somebody is, is not told at the console"

    path = room.session.folder.path
    room.session.close("over")
    with History(open_record(path)) as history:
        past = PastWindow(history)
        past.show_time(t_ns)
        assert "Why a hammer, a saw, for 3 years?" in shown(
            type("Shown", (), {"screen_shown": past.picture.screen})
        )
        past.close()


def test_what_was_not_answered_is_a_dash(
    tmp_path: Path, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    first = {**FIRST, "items": [{**FIRST["items"][0], "required": False}, FIRST["items"][1]]}
    room = open_room(study=write_study(tmp_path / "own", first, THEN))
    window = open_window(room)
    room.runner.send(Answer("years", 3))
    room.runner.send(Next())
    qapp.processEvents()
    assert "What do you use, –?" in shown(window)


def test_simulated_participants_answer_them(tmp_path: Path) -> None:
    study = write_study(tmp_path / "own", FIRST, THEN)
    assert len(simulate_study(str(study), 2, "random", tmp_path / "sessions")) == 2


@pytest.mark.parametrize(
    ("text", "more", "told"),
    [
        ("{answer:nothing}", {}, "there is no item 'nothing'"),
        ("{answer:why}", {}, "is not on an earlier page"),
        ("{answer:uses}", {"per_page": 3}, "is not on an earlier page"),
        ("{answer:uses}", {"order": "shuffled"}, "is not on an earlier page"),
        ("{answer:then.uses}", {}, "only by its id: uses"),
        ("{answer:order}", {}, "use one of them, such as order_a"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, more: dict[str, Any], told: str) -> None:
    three = [{"id": name, "text": name} for name in "abc"]
    ranking = {"id": "order", "kind": "ranking", "text": "Order", "options": three}
    items = [ranking, THEN["items"][0], {"id": "why", "kind": "written", "text": text}]
    items[1] = {**items[1], "text": "What?"}
    content = json.dumps({**THEN, "per_page": 1, "items": items, **more}, indent=1)
    with pytest.raises(StudyError) as caught:
        Instrument.parse(Path("then.yaml"), content.encode())
    (fault,) = caught.value.faults
    assert told in fault.what
    assert fault.line is not None
    assert text in content.splitlines()[fault.line - 1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{answer:later.it}", "is asked before it"),
        ("{answer:first.nobody}", "has no item 'nobody'"),
    ],
)
def test_a_study_tells_what_is_not_asked_before(text: str, told: str, tmp_path: Path) -> None:
    then = {**THEN, "items": [{**THEN["items"][0], "text": text}]}
    faults = check_study(write_study(tmp_path / "own", FIRST, then)).errors
    assert any(told in fault.what for error in faults for fault in error.faults), faults


def test_it_is_filled_in_only_into_the_words_of_an_item(tmp_path: Path) -> None:
    then = {**THEN, "instruction": "Hello {answer:first.called}"}
    faults = check_study(write_study(tmp_path / "own", FIRST, then)).errors
    told = [fault.what for error in faults for fault in error.faults]
    assert any("only in the name and text of an item" in what for what in told), told
