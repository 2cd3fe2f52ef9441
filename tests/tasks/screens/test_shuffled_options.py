"""Options of dropdowns and regions come in the order that the plan keeps."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from labapp.study.instruments.kinds.dropdown import Dropdown
from labapp.study.instruments.kinds.region import RegionChoice
from labapp.study.loading import load
from labapp.tasks.questionnaire.screen.kinds.dropdown import DropdownView
from labapp.tasks.questionnaire.screen.kinds.region import RegionView
from labapp.ui import theme
from labapp.ui.strings import strings_of

NAMES = ["anna", "anke", "anton"]
AREAS = [[0.0, 0.0, 0.2, 0.2], [0.4, 0.0, 0.2, 0.2], [0.8, 0.0, 0.2, 0.2]]
ORDER = ("anton", "anna", "anke")


def answers_of(view: Any) -> list[Any]:
    given: list[Any] = []
    view.answered.connect(given.append)
    return given


def test_a_dropdown_lists_what_matches_in_the_participant_s_order(qtbot: QtBot) -> None:
    options = [{"id": name, "text": name.title()} for name in NAMES]
    item = Dropdown.model_validate(
        {"id": "who", "kind": "dropdown", "text": "Who?", "options": options, "shuffle": True}
    ).in_order(ORDER)
    view = DropdownView(item, strings_of(load("quickstart")), theme.LIGHT)
    qtbot.addWidget(view)
    view.field.edit.setText("an")
    assert view._shown == list(ORDER)
    given = answers_of(view)
    view.group.chosen.emit(0, "mouse")
    assert given == [{"chosen": ("anton",)}]


def test_regions_are_gone_through_in_the_participant_s_order(qtbot: QtBot) -> None:
    options = [
        {"id": name, "text": name, "area": area} for name, area in zip(NAMES, AREAS, strict=True)
    ]
    item = RegionChoice.model_validate(
        {
            "id": "where",
            "kind": "region",
            "text": "Where?",
            "media": "pictures/bird.png",
            "options": options,
            "shuffle": True,
        }
    ).in_order(ORDER)
    view = RegionView(item, strings_of(load("quickstart")), theme.LIGHT)
    qtbot.addWidget(view)
    QApplication.processEvents()
    boxes = [view.group.box(index).x() for index in range(3)]
    assert boxes.index(max(boxes)) == 0, "the third region of the file comes first"
    given = answers_of(view)
    view.group.chosen.emit(0, "mouse")
    assert given == [{"chosen": ("anton",)}]
    view.show_value({"chosen": ("anke",)})
    assert view.group.index == 2
