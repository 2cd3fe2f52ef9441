"""The windows for a deposit and for merged answers: they ask for what the commands do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QMenu
from pytestqt.qtbot import QtBot

from labapp.record.journal.merged import of_study
from labapp.record.journal.sessions import list_sessions
from labapp.session.bids.deposit import LICENSES as KNOWN
from labapp.session.merging import LeaveOut, get_args
from labapp.ui import theme
from labapp.ui.researcher.controller import Researcher
from labapp.ui.researcher.page import ResearcherPage
from labapp.ui.researcher.sharing import LEFT_OUT, LICENSES, DepositForm, MergeForm

PATIENCE_MS = 60_000


@pytest.fixture
def session(simulated: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(simulated, tmp_path / "data" / "quickstart" / simulated.name))


@pytest.fixture
def researcher(qtbot: QtBot, session: Path) -> Iterator[Researcher]:
    page = ResearcherPage(theme.LIGHT)
    qtbot.addWidget(page)
    page.show()
    made = Researcher(page)
    made.set_sessions(list_sessions(session.parents[1]))
    yield made
    made.close()


def test_the_windows_offer_what_the_commands_take() -> None:
    assert set(KNOWN) == set(LICENSES)
    assert set(LEFT_OUT) == set(get_args(LeaveOut))


def test_a_deposit_is_asked_for_by_every_option(qtbot: QtBot) -> None:
    form = DepositForm(theme.LIGHT, [Path("/data/q/sub-P01")], "q")
    qtbot.addWidget(form)
    assert form.arguments(Path("out")) == ["deposit", "/data/q/sub-P01", "--out", "out"]
    qtbot.mouseClick(form.go, Qt.MouseButton.LeftButton)
    assert form.state.text().startswith("Choose a licence.")
    form.license.setCurrentIndex(form.license.findData("CC0-1.0"))
    qtbot.mouseClick(form.go, Qt.MouseButton.LeftButton)
    assert form.state.text() == "Enter at least one creator."
    assert not form.voices.isEnabled()
    form.license.setCurrentIndex(form.license.findData("CC-BY-4.0"))
    form.creators.setPlainText("Curie, Marie\n\nNoether, Emmy; Göttingen\n")
    form.title.setText("Lines")
    form.keywords.setText("think-aloud, sliders,")
    form.doi.setText("10.5281/zenodo.1")
    form.bundle.click()
    form.voices.click()
    assert form.arguments(Path("out"))[4:] == [
        "--license", "CC-BY-4.0", "--creator", "Curie, Marie",
        "--creator", "Noether, Emmy; Göttingen", "--title", "Lines", "--doi", "10.5281/zenodo.1",
        "--keyword", "think-aloud", "--keyword", "sliders", "--bundle", "--with-audio",
    ]  # fmt: skip
    form.bundle.click()
    assert "--with-audio" not in form.arguments(Path("out")), "voices are in the BIDS dataset"


def test_a_merge_is_asked_for_by_every_option(qtbot: QtBot) -> None:
    form = MergeForm(theme.LIGHT, Path("/data/q"))
    qtbot.addWidget(form)
    form.show_form()
    assert form.focusWidget() is form.file, "Tab leads down the form from its first field"
    asked: list[list[str]] = []
    form.requested.connect(asked.append)
    qtbot.mouseClick(form.go, Qt.MouseButton.LeftButton)
    assert form.state.text() == "Choose the file first."
    form.file.setText("answers.sav")
    qtbot.mouseClick(form.go, Qt.MouseButton.LeftButton)
    assert form.state.text().startswith("Enter the name of the column")
    form.by.setText("pid")
    form.session.setText("visit")
    form.missing.setText("NA, -9")
    form.share.setText("age")
    form.left_out["twice"].click()
    form.replace_.click()
    qtbot.mouseClick(form.go, Qt.MouseButton.LeftButton)
    assert asked == [[
        "participants", "merge", "answers.sav", "--by", "pid", "--study", "/data/q",
        "--data", "/data", "--survey", "survey", "--session", "visit", "--missing", "NA",
        "--missing", "-9", "--share", "age", "--leave-out", "twice", "--replace", "--json",
    ]]  # fmt: skip


def test_answers_are_merged_by_the_window_and_an_error_keeps_what_was_typed(
    researcher: Researcher, qtbot: QtBot, tmp_path: Path, session: Path
) -> None:
    qtbot.mouseClick(researcher.page.more, Qt.MouseButton.LeftButton)
    (menu,) = researcher.page.findChildren(QMenu)
    menu.findChildren(QAction)[-1].trigger()
    menu.close()
    form = researcher.form
    assert isinstance(form, MergeForm)
    answers = tmp_path / "answers.csv"
    participant = session.name.partition("_")[0].removeprefix("sub-")
    answers.write_text(f"pid,age\n{participant},31\nP99,40\n")
    form.file.setText(str(answers))
    form.by.setText("pid")
    form.send()
    assert not form.go.isEnabled()
    qtbot.waitUntil(form.go.isEnabled, timeout=PATIENCE_MS)
    assert "'P99' is not a participant" in form.state.text()
    assert form.state.property("tone") == "alarm"
    assert of_study(session.parent) == {}
    form.left_out["unknown"].click()
    form.send()
    qtbot.waitUntil(form.go.isEnabled, timeout=PATIENCE_MS)
    assert form.state.text() == "Merged. Columns: 1. Sessions: 1. Rows left out: 1."
    merged = of_study(session.parent)[session.name]["survey"]
    assert merged.answers == {"survey_age": 31}
    form.send()
    qtbot.waitUntil(form.go.isEnabled, timeout=PATIENCE_MS)
    assert form.state.text() == "Nothing changed. These answers had already been merged."


def test_a_label_is_level_with_the_boxes_next_to_it(qtbot: QtBot) -> None:
    form = MergeForm(theme.LIGHT, Path("/data/q"))
    qtbot.addWidget(form)
    form.show_form()
    (label,) = (each for each in form.findChildren(QLabel) if each.text() == "Leave out rows")
    box = form.left_out["unknown"]
    inside = label.contentsRect()
    middle = inside.top() + label.fontMetrics().height() // 2
    of_label, of_box = label.mapTo(form, inside.topLeft()), box.mapTo(form, box.rect().center())
    assert abs(of_label.y() - inside.top() + middle - of_box.y()) <= 2


def test_a_deposit_is_made_by_the_window(
    researcher: Researcher, qtbot: QtBot, tmp_path: Path
) -> None:
    researcher.open_deposit()
    form = researcher.form
    assert isinstance(form, DepositForm)
    form.license.setCurrentIndex(1)
    form.creators.setPlainText("Curie, Marie")
    form.requested.emit(form.arguments(tmp_path / "deposit"))
    qtbot.waitUntil(form.go.isEnabled, timeout=PATIENCE_MS)
    assert str(tmp_path / "deposit") in form.state.text()
    assert (tmp_path / "deposit" / "CITATION.cff").is_file()
    researcher.stop()
    assert not form.isVisible(), "a session begins"
