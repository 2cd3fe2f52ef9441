"""A study that draws conditions, at the home and where its sessions are opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from labapp.base.errors import StudyFull
from labapp.session.condition_assignment import preview
from labapp.session.overview import next_free
from labapp.ui import starting
from labapp.ui.home import HomeController
from labapp.ui.starting import RunOptions, open_new
from tests.helpers.drawn import drawn_study, ended, interrupted
from tests.session.test_slots import slotted


def test_the_card_shows_what_would_be_drawn_and_when_all_is_done(
    home: HomeController, qtbot: QtBot, tmp_path: Path
) -> None:
    loaded = drawn_study(tmp_path, cells="ab", draw=1)
    ended(loaded, tmp_path, "P01", "delete")
    home.choose_study(str(loaded.path))
    card = home.view.session
    assert card.participant.text() == "P02", "the label of whoever withdrew stays taken"
    (cell,) = preview(tmp_path / "data", loaded, "P02")
    assert f"Drawn for now: {cell}." in card.order.text()
    card.blind.setChecked(True)
    assert "Drawn for now" not in card.order.text()
    for participant in ("P02", "P03"):
        interrupted(loaded, tmp_path, participant)
    home.choose_study(str(loaded.path))
    assert card.plan_row().state == "missing"
    assert "drawn is full" in card.order.text()


def test_a_slot_is_shown_to_whoever_is_not_blind(
    home: HomeController, qtbot: QtBot, tmp_path: Path
) -> None:
    loaded = slotted(tmp_path, per_cell=1)
    orders = set()
    card = home.view.session
    for participant in ("P01", "P02"):
        home.choose_study(str(loaded.path))
        (slot,) = preview(tmp_path / "data", loaded, participant)
        card.blind.setChecked(False)
        orders.add(card.order.text().splitlines()[0])
        assert f"Drawn for now: {slot}." in card.order.text()
        card.blind.setChecked(True)
        assert "hint" not in card.order.text()
        assert "sinelines" not in card.order.text()
        assert home._needed == ("sinelines/ae", "sinelines/gt", "sinelines/vae"), "in no order"
        interrupted(loaded, tmp_path, participant)
    assert len(orders) == 2
    home.choose_study(str(loaded.path))
    assert "drawn is full" in card.order.text()


def test_another_session_that_begins_meanwhile_is_no_hindrance(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, data = drawn_study(tmp_path, cells="ab", draw=1), tmp_path / "data"
    wanted = preview(data, loaded, "P01")
    labels = next_free(loaded, data, 40)[1:]
    other = next(label for label in labels if preview(data, loaded, label) == wanted)
    real = starting.session_dependencies
    loads: list[object] = []

    def slow(models: Any, *more: Any) -> Any:
        if not loads:
            interrupted(loaded, tmp_path, other)
        loads.append(models)
        return real(models, *more)

    monkeypatch.setattr(starting, "session_dependencies", slow)
    options = RunOptions(
        data=data, private=tmp_path / "private", audio="off", simulate="understanding"
    )
    opened = open_new(str(loaded.path), "P01", "1", options)
    assert set(opened.planned.assignment["condition"]).isdisjoint(wanted)
    assert len(loads) == 2
    with pytest.raises(StudyFull):
        open_new(str(loaded.path), "P39", "1", options)
    opened.close("test over")
