"""The buttons of a timed response, side by side or in rows."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from labapp.tasks.unmasking.screen import Response, ResponseRow
from labapp.ui import theme


def shown(qtbot: QtBot, names: list[str]) -> ResponseRow:
    responses = [Response(name, name[:1], Qt.Key(Qt.Key.Key_A + n)) for n, name in enumerate(names)]
    row = ResponseRow(responses, theme.LIGHT, "What is shown?")
    qtbot.addWidget(row)
    row.show()
    return row


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        (["anger", "happiness", "I don't know"], [3]),
        ([f"class {n}" for n in range(10)], [5, 5]),
        ([f"class {n}" for n in range(7)], [4, 3]),
        (["a name that is as long as the names of classes get to be " * 2] * 3, [1, 1, 1]),
    ],
)
def test_as_many_buttons_stand_in_a_row_as_the_content_has_room_for(
    qtbot: QtBot, names: list[str], rows: list[int]
) -> None:
    row = shown(qtbot, names)
    places = [button.geometry() for button in row.buttons]
    tops = [place.top() for place in places]
    assert [tops.count(top) for top in dict.fromkeys(tops)] == rows
    assert all(row.rect().contains(place) for place in places)
    assert not any(one.intersects(other) for n, one in enumerate(places) for other in places[:n])
    assert len({place.width() for place in places}) == 1
    assert row.width() <= theme.CONTENT_WIDTH or rows == [1, 1, 1]
