"""The Study page makes studies, checks them, and shows every mistake in place."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from labapp.base.errors import Fault
from labapp.study.loading import load
from labapp.ui import fitting, language, theme
from labapp.ui.moderator.checklist import StudyChoice
from labapp.ui.moderator.home import STUDY, HomeWindow
from labapp.ui.moderator.study_page import NewStudy, StudyMaking
from labapp.ui.qtapp import make_app
from tests.study.test_mistakes import FAR_APART, faults, write
from tests.ui.quiet import restless_widgets


@pytest.fixture
def card(qtbot: QtBot) -> StudyMaking:
    make_app()
    made = StudyMaking(theme.LIGHT)
    qtbot.addWidget(made)
    made.set_sources([StudyChoice(name, name.title()) for name in ("quickstart", "mnist-crowd")])
    made.show()
    return made


def test_every_mistake_stands_in_place_with_its_line(card: StudyMaking, tmp_path: Path) -> None:
    told = faults(write(tmp_path, *FAR_APART[:3]))
    card.show_faults(told)
    assert card.check_result.isVisible()
    for fault in told:
        assert f"line {fault.line}, {fault.key}: {fault.what}" in card.check_result.text()
    card.show_faults((), "The study is in order.")
    assert card.check_result.text() == "The study is in order."
    card.show_faults(())
    assert not card.check_result.isVisible()


def test_a_new_study_and_a_copy_are_asked_for(
    card: StudyMaking, qtbot: QtBot, tmp_path: Path
) -> None:
    assert not card.copy.isEnabled(), "nothing is chosen"
    card.set_chosen("mnist-crowd")
    asked: list[NewStudy] = []
    card.new_requested.connect(asked.append)
    for button, source in ((card.new, "quickstart"), (card.copy, "mnist-crowd")):
        button.click()
        assert card.form.isVisible()
        assert card.source.currentText() == source.title()
        card.name.setText("mine")
        card.language.setText("fr")
        card.where.setText(str(tmp_path))
        card.make.click()
        assert asked[-1] == NewStudy("mine", source, "fr", tmp_path / "mine")
    card.cancel.click()
    assert not card.form.isVisible()
    card.new.click()
    QTest.keyClick(card.name, Qt.Key.Key_Escape)
    assert not card.form.isVisible()


def test_a_mistake_without_a_file_is_told_as_it_is(card: StudyMaking) -> None:
    card.show_faults([Fault("", 0, "", "there is no such study", "Give its path.")])
    assert card.check_result.text() == "there is no such study.\n    Give its path."


@pytest.mark.parametrize("language_", ["en", "de"])
def test_the_form_is_seen_whole_in_the_smallest_window(qtbot: QtBot, language_: str) -> None:
    make_app()
    language.speak(language_)
    window = HomeWindow()
    qtbot.addWidget(window)
    window.show()
    window.resize(*fitting.HOME)
    page = window.view.study
    page.making.set_sources([StudyChoice("quickstart", "Quick start: wavy lines")])
    window.view.pages.setCurrentWidget(page)
    window.view.tabs[STUDY].click()
    page.set_study(load("quickstart").study)
    page.set_plan([], "What is wrong with the study takes several lines. " * 9)
    page.making.new.click()
    shown = page.making.form
    assert not restless_widgets(), "what is laid out later would be cut off then"
    qtbot.waitUntil(lambda: shown.visibleRegion().boundingRect() == shown.rect())
