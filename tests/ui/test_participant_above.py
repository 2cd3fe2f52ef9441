"""The text above a questionnaire: what was achieved, in words, on one page with the questions."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from labapp.base import resources
from labapp.record.events.commands import Next
from labapp.study.instruments import Instrument
from labapp.study.plugins import texts
from labapp.tasks.judging.events import Judge
from labapp.tasks.judging.plan import AGREEMENT, questions
from labapp.tasks.questionnaire.screen.questionnaire import Page, TextAbove, halves
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.widgets.dial import BOTTOM_HEIGHT, TOP_HEIGHT
from tests.helpers.judging_studies import write_judging_study
from tests.helpers.rooms import skip_to
from tests.ui.keys import focus

TRADE, HOW_WELL = "hive-trade-off", "hive-understanding"
PAGES = [
    (HOW_WELL, "performance-agreement"),
    (HOW_WELL, "performance-distinction"),
    (HOW_WELL, "performance-heatmaps"),
    (HOW_WELL, "post-task"),
    (HOW_WELL, "understanding-first"),
    (f"{TRADE}-species", "trade-off-agreement"),
    (f"{TRADE}-species", "trade-off-distinction"),
    (f"{TRADE}-objects", "trade-off-heatmaps"),
]
SIDES = ("correct", "incorrect")
SURE = {
    "en": "Somewhat confident that prediction is incorrect",
    "de": "Einigermaßen sicher, dass die Vorhersage falsch ist",
}
WORDS = Strings(
    {
        "optional": "Optional",
        "selected_accuracy": "Selected Black-box model accuracy: {value} {unit}",
        "selected_value": "Selected: {value} {unit}",
        "slider_unanswered": "Not answered yet",
        "text_limit": "Only {n} characters",
    }
)


def values(language: str) -> dict[str, str]:
    """What a participant of ten photos is told at most."""
    told = {"method": "ProtoTree", "accuracy": "81.7", "classes": "20", "things": "bird species"}
    told |= {"photos": "10", "photos_correct": "5", "photos_incorrect": "5", "chance": "25"}
    told |= {"hits_correct": "4", "hits_incorrect": "4", "believed": "5"}
    for question in ("output", "distinction"):
        told |= {f"right_{question}": "4", f"right_{question}_percent": "40.0"}
    own = "\n".join(f"- Photo 10: {SURE[language]}" for _ in range(5))
    return told | {f"own_{side}": own for side in SIDES}


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(("instrument", "text"), PAGES)
def test_text_and_questions_fit_one_screen(instrument, text, language, qapp):
    """At 1280 x 720, which is 1920 x 1080 at 150 %: less than 1366 x 768."""
    root = resources.assets()
    path = root / "instruments" / f"{instrument}.yaml"
    told = values(language)
    asked = Instrument.parse(path, path.read_bytes(), language).realised((), told)
    above = texts.fill((root / "texts" / language / f"{text}.md").read_text("utf-8"), told)
    assert "{" not in above, "every value is told"
    page = Page(
        asked.title, asked.instruction, asked.items, WORDS, theme.LIGHT, above=above.strip()
    )
    holder = QWidget()
    holder.setStyleSheet(theme.stylesheet(theme.LIGHT))
    page.setParent(holder)
    height = 720 - TOP_HEIGHT - BOTTOM_HEIGHT - 2 * theme.SPACE_XL
    page.resize(theme.CONTENT_WIDTH, height)
    holder.resize(theme.CONTENT_WIDTH, height)
    holder.show()
    for _ in range(3):
        qapp.processEvents()
    for shown in page.findChildren(TextAbove):
        assert shown.height() >= shown.height_for(shown.width()), "nothing of it is cut off"
    assert page.verticalScrollBar().maximum() == 0
    titles = [label for label in page.findChildren(QLabel) if label.property("role") == "title"]
    assert not titles, "the text has a heading"
    holder.close()


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_own_answers_stand_together(language):
    path = resources.assets() / "texts" / language / "performance-agreement.md"
    first, second = halves(texts.fill(path.read_text("utf-8"), values(language)).strip())
    assert first.startswith("# ")
    assert (first.count("\n- "), second.count("\n- ")) == (0, 10)


@pytest.fixture
def judged(open_room, open_window, tmp_path, qapp):
    """The window behind a task on paths, of which the first two are believed."""
    above = "shipped:performance-agreement"
    after = [{"questionnaire": "shipped:hive-understanding", "above": above}]
    room = open_room(study=write_judging_study(tmp_path / "s", "path-agreement", after=after))
    window = open_window(room)
    skip_to(room, "stage-1")
    part = room.runner.part
    for number, photo in enumerate(part.photos):
        for question in questions(part.task, photo):
            value = 4 if number < 2 else 1
            room.runner.send(Judge(question.id, value if question.id == AGREEMENT else 1, "mouse"))
        room.runner.send(Next())
        QTest.qWait(10)
    qapp.processEvents()
    return room, window


def test_what_was_achieved_is_told_with_the_own_answers(judged):
    room, window = judged
    assert room.runner.part.part == "questionnaire"
    columns = window.screen_shown.findChildren(TextAbove)
    told = " ".join(column.toPlainText() for column in columns)
    assert told.startswith("Your performance")
    assert "you identified 1 out of 2 correct predictions and 1 out of 2 incorrect" in told
    answered = "Fairly confident that prediction is correct"
    assert told.count(answered) == 2
    photos = room.runner.machine.parts[room.runner.state.index - 1].photos
    for number, photo in enumerate(photos, start=1):
        column = next(one for one in columns if f"Photo {number}: " in one.toPlainText())
        right, wrong = column.toPlainText().split("And for the")
        assert f"Photo {number}: " in (right if photo.correct else wrong)
    assert "<i>" not in told
    assert "{" not in told


def test_nothing_is_told_of_a_stage_that_was_skipped(open_room, open_window, tmp_path, qapp):
    after = [
        {
            "questionnaire": "shipped:hive-trade-off-species",
            "above": f"shipped:{text}",
        }
        for text in ("performance-agreement", "trade-off-agreement")
    ]
    room = open_room(study=write_judging_study(tmp_path / "s", "path-agreement", after=after))
    window = open_window(room)
    for number, said in ((1, "Your performance"), (2, "Choose which model to use")):
        skip_to(room, f"questionnaire-{number}")
        qapp.processEvents()
        columns = window.screen_shown.findChildren(TextAbove)
        told = " ".join(column.toPlainText() for column in columns)
        assert told.startswith(said)
        assert "{" not in told
        assert ("81.5" in told) == ("Black-box" in told) == (number == 2)
        assert "You identified" not in told


def test_the_questions_follow_the_text_and_have_the_keyboard(judged):
    room, window = judged
    screen = window.screen_shown
    text = screen.findChild(TextAbove)
    row = screen.items[0].row
    assert focus() is row
    assert text.mapTo(screen, QPoint(0, text.height())).y() <= row.mapTo(screen, QPoint(0, 0)).y()
    QTest.keyClick(row, Qt.Key.Key_4)
    QTest.mouseClick(window.bottom.right, Qt.MouseButton.LeftButton)
    assert room.last("questionnaire.submitted")["answers"] == {"understanding": 4}
