"""Conditional items in previews and on the moderator's console: as the participant has them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint

from labapp.record.events.commands import Next
from labapp.study.loading import load
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.questionnaire.moderator import sheet_lines
from labapp.tasks.questionnaire.screen.questionnaire import Page
from labapp.ui import theme
from labapp.ui.participant.screen import centre
from labapp.ui.participant.window import WindowPicture
from labapp.ui.preview import Preview, opened_preview, write_pictures
from tests.helpers.own_questionnaires import USE, conditional_study
from tests.tasks.screens.test_questionnaires import WORDS


def asked(screen) -> list[str]:
    return [view.item.id for view in screen.pages[screen.state.page].asked()]


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return conditional_study(tmp_path / "study")


def at(preview: Preview, part: str, page: int):
    place = next(p for p in preview.places if (p.part.id, p.page) == (part, page))
    preview.show(place)
    return preview.window.screen_shown


@pytest.mark.parametrize("condition", ["hint: with", "hint: without"])
def test_a_preview_is_of_the_condition_and_can_be_tried(study: Path, condition: str, qapp) -> None:
    with opened_preview(load(study), None, condition) as preview:
        screen = at(preview, "questionnaire-2", 0)
        assert asked(screen) == ["rely", "attention"]
        preview.runner.send(Answer("rely", 1))
        assert asked(screen) == ["rely", "bad", "attention"]
        hinted = at(preview, "questionnaire-2", 1)
        behind = asked(hinted)
        whole = preview.runner.state.part_state.whole
        assert whole or ("hinted" in behind) == (condition == "hint: with")
        assert not (whole and condition == "hint: with")


def test_every_page_is_a_picture_also_one_that_nobody_of_the_condition_is_asked(
    study: Path, tmp_path: Path, qapp
) -> None:
    none = USE.replace("only_if: {before.tools: python}", 'only_if: {hint: "with"}')
    none = none.replace("before.age: [70, 71]", 'hint: "with"')
    (study.parent / "instruments" / "use.yaml").write_text(none, "utf-8")
    with opened_preview(load(study), None, "hint: without") as preview:
        screen = at(preview, "questionnaire-2", 1)
        assert asked(screen) == ["hinted", "code", "pension"], "a page that is looked at is whole"
        names = [path.name for path in write_pictures(preview, tmp_path / "out")]
    assert {"02-questionnaire-2-1.png", "02-questionnaire-2-2.png"} <= set(names)


def test_a_questionnaire_that_nobody_is_asked_can_be_looked_at(study: Path, qapp) -> None:
    whole = USE.replace("{id: rely,", '{id: rely, only_if: {hint: "with"},')
    whole = whole.replace(", check: 2}", ', check: 2, only_if: {hint: "with"}}')
    whole = whole.replace("before.tools: python", 'hint: "with"').replace(
        "before.age: [70, 71]", 'hint: "with"'
    )
    (study.parent / "instruments" / "use.yaml").write_text(whole, "utf-8")
    with opened_preview(load(study), None, "hint: without") as preview:
        screen = at(preview, "questionnaire-2", 0)
        assert len(asked(screen)) == 3


def test_the_mirror_and_the_console_show_what_the_participant_has(
    open_room, open_window, study: Path, qapp
) -> None:
    room = open_room(study=study)
    window = open_window(room)
    room.runner.send(Answer("tools", {"chosen": ["python"]}))
    room.runner.send(Answer("age", {"value": 30, "touched": True}))
    room.runner.send(Next())
    mirror = WindowPicture(window.session.only_read())
    for rely, items in ((6, ["rely", "attention"]), (1, ["rely", "bad", "attention"])):
        room.runner.send(Answer("rely", rely))
        mirror.follow()
        assert mirror.screen is not window.screen_shown
        assert asked(mirror.screen) == asked(window.screen_shown) == items
        task = room.runner.machine.tasks[room.runner.state.index]
        lines = sheet_lines(task, room.runner.state.part_state)
        assert len(lines) == 1 + len(items)
    mirror.close()


def test_a_table_of_which_nothing_is_asked_has_no_head(open_room, open_window, study: Path, qapp):
    use = """\
id: use
version: 1
title: Use
source: Our own.
scale: {points: 7, low: not at all, high: completely}
items:
  - {id: rely, kind: statement, text: I would rely on it., only_if: {before.age: 71}}
  - {id: bad, kind: statement, text: It is bad., only_if: {before.age: 71}}
  - {id: attention, kind: written, text: What did you see, only_if: {before.age: [30, 31]}}
  - {id: end, kind: written, text: The end}
"""
    (study.parent / "instruments" / "use.yaml").write_text(use, "utf-8")
    room = open_room(study=study)
    window = open_window(room)
    room.runner.send(Answer("tools", {"chosen": ["python"]}))
    room.runner.send(Answer("age", {"value": 30, "touched": True}))
    room.runner.send(Next())
    qapp.processEvents()
    page = window.screen_shown.pages[0]
    assert [view.item.id for view in page.asked()] == ["attention", "end"]
    assert not any(heads.isVisible() for heads, _ in page._tables)
    first = page.views[2]
    alone = Page("Use", "", [first.item, page.views[3].item], WORDS, theme.LIGHT)
    centre(alone)
    alone.setStyleSheet(window.styleSheet())
    alone.resize(page.size())
    alone.show()
    qapp.processEvents()
    tops = [first.mapTo(page, QPoint()).y(), alone.views[0].mapTo(alone, QPoint()).y()]
    for pg in (page, alone):
        lab = pg._column.itemAt(1).widget()
        print(
            pg.size(),
            lab.font().toString(),
            lab.geometry(),
            pg.views[-1].geometry(),
            pg.views[-1].font().toString(),
            pg.styleSheet()[:80],
        )
    alone.close()
    assert abs(tops[0] - tops[1]) <= 1, "nothing is left of the table"
