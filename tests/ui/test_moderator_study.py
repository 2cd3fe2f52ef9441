"""The home's page on the study: what each dial of its models does, made without blocking."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from labapp.base import resources
from labapp.models.representations.package import load_package
from labapp.models.representations.sheets import traversals
from labapp.models.stimuli import library
from labapp.study.loading import load
from labapp.study.planner import realise
from labapp.ui import session_lists, theme
from labapp.ui.home import HomeController, PreviewProcess
from labapp.ui.moderator.home import HomeWindow
from labapp.ui.moderator.study_page import TraversalView, facts_of
from labapp.ui.session_lists import SheetMaker
from tests.helpers.judging_studies import write_judging_study
from tests.helpers.packages import ring_model
from tests.helpers.studies import write_study
from tests.ui.said import said_in

QUICKSTART = ["sinelines/ae", "sinelines/gt", "sinelines/vae", "circles/gt"]


@pytest.fixture
def window(qtbot: QtBot) -> HomeWindow:
    made = HomeWindow()
    made.resize(1366, 768)
    made.show()
    qtbot.addWidget(made)
    return made


def open_page(window: HomeWindow) -> None:
    loaded = load("quickstart")
    space = load_package("sinelines/gt").space
    window.view.set_study(loaded.study)
    made = realise(loaded, "P01", space_of=lambda model: space, prior_of=lambda model: False)
    window.view.set_plan(made.parts)
    window.view.tabs[2].click()


def test_the_page_tells_the_study_and_its_models_in_no_order_of_the_plan(
    window: HomeWindow, qtbot: QtBot
) -> None:
    open_page(window)
    page = window.view.study
    assert page.title.text() == "Quick start: wavy lines"
    assert page.focusPolicy() == Qt.FocusPolicy.TabFocus, "it scrolls by keys, not by a click"
    assert page.facts.text() == "quickstart, version 1  ·  sound optional"
    assert page.flow.text().replace("\xa0", " ").startswith("Consent  →  Tutorial  →  Practice")
    assert list(page.cards) == QUICKSTART
    assert all(card.note.text() == "Drawing the pictures …" for card in page.cards.values())
    decoder = load_package("sinelines/gt")
    window.view.study.set_sheet("sinelines/gt", traversals(decoder), facts_of(decoder.card))
    card = page.cards["sinelines/gt"]
    qtbot.waitUntil(lambda: "at 2 states drawn from the prior" in card.note.text())
    assert "held-out error 0 (in the paper 0)" in card.facts.text()
    window.view.study.set_sheet("mnist/other", traversals(decoder), "")
    assert list(page.cards) == QUICKSTART


def test_where_there_is_room_for_one_state_one_is_shown_and_said(
    window: HomeWindow, qtbot: QtBot
) -> None:
    open_page(window)
    decoder = load_package("circles/gt")
    window.view.study.set_sheet("circles/gt", traversals(decoder), "")
    card = window.view.study.cards["circles/gt"]
    assert card.sheet is not None
    for width, said in ((980, "at 1 state"), (1366, "at 2 states"), (980, "at 1 state")):
        window.resize(width, 700)
        qtbot.waitUntil(lambda said=said: said in card.note.text())
        shown = card.sheet.layout_shown
        assert shown.width <= card.sheet.width()
        assert shown.height <= card.sheet.height()
        assert window.view.study.horizontalScrollBar().maximum() == 0


def test_blind_shows_no_pictures(window: HomeWindow) -> None:
    told: list[bool] = []
    window.view.study_opened.connect(lambda: told.append(True))
    window.view.session.blind.setChecked(True)
    open_page(window)
    page = window.view.study
    assert not page.sheets.isVisible()
    assert page.blind.isVisible()
    assert told == []
    window.view.tabs[0].click()
    window.view.session.blind.setChecked(False)
    window.view.tabs[2].click()
    assert page.sheets.isVisible()
    assert not page.blind.isVisible()
    assert told == [True]


def test_the_preview_of_a_blind_session_is_asked_for_twice(
    window: HomeWindow, qtbot: QtBot
) -> None:
    page = window.view.study
    asked: list[bool] = []
    page.preview_requested.connect(lambda: asked.append(True))
    assert not page.preview.isEnabled(), "there is no plan yet"
    open_page(window)
    page.preview.click()
    assert len(asked) == 1
    window.view.session.blind.setChecked(True)
    page.preview.click()
    assert len(asked) == 1
    assert page.unblinds.isVisible()
    page.all_the_same.click()
    assert len(asked) == 2
    assert not page.unblinds.isVisible()
    page.set_previewing(True)
    assert not page.preview.isEnabled(), "there is one at a time"
    page.set_previewing(False)
    assert page.preview.isEnabled()


def test_a_preview_that_cannot_be_shown_is_told(window: HomeWindow, qtbot: QtBot) -> None:
    open_page(window)
    page = window.view.study
    process = PreviewProcess(page)
    process.choose("no-such-study", "P01", ())
    with qtbot.waitSignal(process.failed, timeout=30_000) as failed:
        page.preview.click()
        assert not page.preview.isEnabled()
    (error,) = failed.args or ()
    assert "no-such-study" in error.todo
    assert page.preview.isEnabled()


def test_the_page_scrolls_by_keyboard(window: HomeWindow, qtbot: QtBot) -> None:
    open_page(window)
    for model in QUICKSTART:
        window.view.study.set_sheet(model, traversals(ring_model("dsprites/vae", 5)), "")
    page = window.view.study
    page.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: page.verticalScrollBar().maximum() > 0)
    qtbot.keyClick(page, Qt.Key.Key_PageDown)
    assert page.verticalScrollBar().value() > 0


def pixels(view: TraversalView) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """What a view shows, red, green and blue, uint8 (height, width, 3)."""
    image = view.grab().toImage().convertToFormat(view.grab().toImage().Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    # A copy: the picture's memory goes with the picture.
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


@pytest.mark.parametrize("model", ["dsprites/vae", "mnist8k/ss5"])
def test_the_pictures_are_the_decoded_ones(qtbot: QtBot, model: str) -> None:
    view = TraversalView(traversals(ring_model(model, 4, 10)), theme.LIGHT)
    qtbot.addWidget(view)
    view.resize(1040, 400)
    view.show()
    shown = pixels(view)
    times = 64 // 64 if model.startswith("dsprites") else 2
    for cell in view.layout_shown.cells[::5]:
        rows, columns = (side * times for side in cell.instance.shape)
        x, y = round(cell.x), round(cell.y)
        found = shown[y : y + rows : times, x : x + columns : times, 0].astype(int)
        assert np.abs(found - np.rint(cell.instance * 255)).max() <= 1


def test_charts_are_cut_off_at_their_frames(qtbot: QtBot) -> None:
    sheet = traversals(load_package("sinelines/gt"))
    high = [replace(row, instances=row.instances * 4) for row in sheet.rows]
    view = TraversalView(replace(sheet, rows=tuple(high)), theme.LIGHT)
    qtbot.addWidget(view)
    view.resize(1040, 400)
    view.show()
    shown = pixels(view).astype(int)
    blue = shown[..., 2] - shown[..., 0] > 60
    assert blue.any()
    for cell in view.layout_shown.cells:
        x, y = round(cell.x), round(cell.y)
        blue[y : y + 52, x : x + 64] = False
    assert not blue.any()


# --- at work -------------------------------------------------------------------------------------


def test_sheets_come_as_decoders_do_made_once_and_in_a_thread(
    home: HomeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers: list[str] = []

    def watched(decoder: object) -> object:
        makers.append(threading.current_thread().name)
        return traversals(decoder)  # type: ignore[arg-type]

    monkeypatch.setattr(session_lists, "traversals", watched)
    home.view.tabs[2].click()  # before any decoder is warm
    cards = home.view.study.cards
    assert list(cards) == QUICKSTART
    qtbot.waitUntil(lambda: all(card.sheet for card in cards.values()), timeout=30_000)
    assert len(makers) == len(QUICKSTART)
    assert all(name.startswith("sheets") for name in makers)

    home.view.tabs[0].click()
    home.choose_study("quickstart")
    home.view.tabs[2].click()
    assert all(card.sheet for card in home.view.study.cards.values())
    assert len(makers) == len(QUICKSTART), "they are kept"


def test_no_sheet_is_made_before_the_page_is_looked_at(home: HomeController, qtbot: QtBot) -> None:
    qtbot.waitUntil(home.view.ready.start_button.isEnabled, timeout=30_000)
    assert not [t for t in threading.enumerate() if t.name.startswith("sheets")]


def test_closing_while_sheets_are_made_leaves_no_thread(home: HomeController, qtbot: QtBot) -> None:
    qtbot.waitUntil(home.view.ready.start_button.isEnabled, timeout=30_000)
    home.view.tabs[2].click()
    home.window.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("sheets")]


def test_a_model_that_does_not_decode_is_told_on_its_card(window: HomeWindow, qtbot: QtBot) -> None:
    open_page(window)

    def broken(z: object) -> object:
        raise RuntimeError("out of memory")

    maker = SheetMaker(window)
    maker.failed.connect(window.view.study.set_problem)
    decoder = replace(load_package("sinelines/gt"), forward=broken)  # type: ignore[arg-type]
    maker.want(decoder)
    note = window.view.study.cards["sinelines/gt"].note
    qtbot.waitUntil(lambda: "out of memory" in note.text())
    assert note.property("tone") == "alarm"
    maker.close()


def test_a_missing_model_is_told_with_where_it_belongs(
    home: HomeController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "own"))
    home.choose_study(str(write_study(tmp_path, "mnist/ae5")))
    assert home.view.error.isVisible()
    said = home.view.error.text.text()
    for part in (tmp_path / "own", resources.models(), "import-tfjs"):
        assert str(part) in said
    assert "mnist/ae5" in home.view.study.flow.text()
    assert home.view.study.cards == {}
    home.choose_study("quickstart")
    assert home.view.error.isHidden()
    assert list(home.view.study.cards) == QUICKSTART


def test_a_stage_that_judges_explanations_has_its_card(window: HomeWindow, tmp_path: Path) -> None:
    loaded = load(write_judging_study(tmp_path, "heatmaps", labels=True))
    made = realise(
        loaded,
        "P01",
        space_of=lambda model: load_package(model).space,
        stimuli_of=library.load,
    )
    window.view.set_study(loaded.study)
    facts = [
        "stimulus set tiny-heatmaps",
        "4 photos",
        "the model is right in 81.5\N{NO-BREAK SPACE}%",
        "colours: jet",
        "the true class is shown",
    ]
    for _ in range(2):
        window.view.set_plan(made.parts)
        (card,) = window.view.study.stages
        assert said_in(card) >= {"Tiny, set 1", "  ·  ".join(facts)}
    assert window.view.session.order.text() == "1\N{NO-BREAK SPACE}Tiny, set 1"
    window.view.set_plan(())
    assert window.view.study.stages == []
