"""Questionnaires and choices in windows: conditions, the text above, and screen readers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessibleActionInterface, QColor, QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from labapp.base import resources
from labapp.models.representations.space import Continuous
from labapp.record.events.commands import Next
from labapp.study.instruments import Instrument
from labapp.study.loading import load
from labapp.study.plugins import texts
from labapp.tasks.judging.events import Judge
from labapp.tasks.judging.plan import AGREEMENT, questions
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.questionnaire.moderator import sheet_lines
from labapp.tasks.questionnaire.screen.kinds.slider import NumberSlider
from labapp.tasks.questionnaire.screen.questionnaire import Page, TextAbove, halves
from labapp.tasks.unmasking.screen import CAP_HEIGHT, Response, ResponseButton, ResponseRow
from labapp.ui import theme
from labapp.ui.participant.screen import ReadOnly, centre
from labapp.ui.participant.window import WindowPicture
from labapp.ui.preview import Preview, open_preview, write_pictures
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls, dial
from labapp.ui.widgets.choice import Choice, Look, OptionList, Scale
from labapp.ui.widgets.dial import (
    BOTTOM_HEIGHT,
    DOT_PITCH,
    TOP_HEIGHT,
    BottomBar,
    DialSlider,
    Dots,
    Foot,
)
from labapp.ui.widgets.row_view import AnswerRow, ClassTabs
from labapp.ui.widgets.segments import Segments, Views
from tests.helpers.judging_studies import write_judging_study
from tests.helpers.own_questionnaires import USE, conditional_study
from tests.helpers.rooms import skip_to
from tests.tasks.screens.test_questionnaires import WORDS
from tests.ui.hearing import Role, interface_of, names, taken
from tests.ui.hearing import heard as heard_of
from tests.ui.keys import focus


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
    with open_preview(load(study), None, condition) as preview:
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
    with open_preview(load(study), None, "hint: without") as preview:
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
    with open_preview(load(study), None, "hint: without") as preview:
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

PARTICIPANT_ABOVE_WORDS = Strings(
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
    asked = Instrument.parse(path, path.read_bytes(), language).realise((), told)
    above = texts.fill((root / "texts" / language / f"{text}.md").read_text("utf-8"), told)
    assert "{" not in above, "every value is told"
    page = Page(
        asked.title,
        asked.instruction,
        asked.items,
        PARTICIPANT_ABOVE_WORDS,
        theme.LIGHT,
        above=above.strip(),
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


P = theme.LIGHT

HEARING_WORDS = ("low", "middle", "high")


def answers() -> AnswerRow:
    row = AnswerRow(P, "Which?")
    row.show_texts(HEARING_WORDS)
    return row


MADE: dict[str, Callable[[], Choice]] = {
    "segments": lambda: Segments(HEARING_WORDS, P, "Which?"),
    "views": lambda: Views(HEARING_WORDS, P, "Which?"),
    "scale": lambda: Scale(3, P, Look(), "Which?", dict(enumerate(HEARING_WORDS))),
    "cards": answers,
    "tabs": lambda: ClassTabs(HEARING_WORDS, P, "Which?", "{}: {} of {}".format),
    "list": lambda: OptionList(HEARING_WORDS, P, "Which?"),
    "several": lambda: OptionList(HEARING_WORDS, P, "Which?", several=True),
}


@pytest.fixture(params=MADE)
def choice(request: pytest.FixtureRequest, qtbot: QtBot) -> Iterator[Choice]:
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    made = MADE[request.param]()
    column.addWidget(made)
    column.addWidget(field := QLineEdit())
    window.show()
    window.activateWindow()
    QApplication.processEvents()
    # Another test may have left the pointer where an option is now.
    QTest.mouseMove(window, QPoint(1, 1))
    QApplication.processEvents()
    field.setFocus()
    yield made
    window.close()


def asked_of(choice: Choice) -> list[tuple[int, str]]:
    asked: list[tuple[int, str]] = []
    choice.chosen.connect(lambda index, device: asked.append((index, device)))
    return asked


def press(widget: QWidget, *, over: bool = False) -> None:
    """As a screen reader does; over: it turns an option over."""
    kind = QAccessibleActionInterface
    actions = interface_of(widget).actionInterface()
    actions.doAction(kind.toggleAction() if over else kind.pressAction())


def test_an_option_is_told_with_its_question_and_its_place(choice: Choice) -> None:
    choice.show_index(2)
    several = not choice.options[0].autoExclusive()
    told = heard_of(choice.options[2])
    assert told.role == (Role.CheckBox if several else Role.RadioButton)
    assert told[3:] == ("Which?", 3, 3, True)
    assert [said in name for said, name in zip(HEARING_WORDS, names(choice), strict=True)] == [
        True
    ] * 3
    assert taken(choice) == names(choice)[2:]


def test_a_screen_reader_presses_an_option_and_a_hand_does_too(
    choice: Choice, qtbot: QtBot
) -> None:
    choice.show_index(0)
    asked = asked_of(choice)
    press(choice.options[2], over=True)
    assert asked == [(2, "keyboard")]
    choice.show_index(0)
    assert taken(choice) == names(choice)[:1], "who asked decides, not the screen reader"
    press(choice.options[1])
    qtbot.waitUntil(lambda: len(asked) == 2)  # Qt lets go of the button a moment later
    QTest.mouseClick(choice.options[2], Qt.MouseButton.LeftButton)
    assert asked[1:] == [(1, "keyboard"), (2, "mouse")]


def test_it_is_one_stop_and_a_locked_one_is_none(choice: Choice) -> None:
    choice.show_index(1)
    choice.setFocus(Qt.FocusReason.TabFocusReason)
    assert choice.options[1].hasFocus()
    QTest.keyClick(choice.options[1], Qt.Key.Key_Tab)
    assert isinstance(QApplication.focusWidget(), QLineEdit)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Backtab)
    assert choice.options[1].hasFocus()
    asked = asked_of(choice)
    choice.set_locked(True)
    assert isinstance(QApplication.focusWidget(), QLineEdit)
    press(choice.options[2])
    QTest.mouseClick(choice.options[2], Qt.MouseButton.LeftButton)
    QTest.keyClick(choice, Qt.Key.Key_Right)
    assert asked == []


def test_keys_with_a_command_are_somebody_elses(choice: Choice) -> None:
    asked = asked_of(choice)
    choice.setFocus()
    for key in (Qt.Key.Key_2, Qt.Key.Key_Right, Qt.Key.Key_Space):
        QTest.keyClick(choice.options[0], key, Qt.KeyboardModifier.ControlModifier)
    assert asked == []


def test_what_is_pointed_at_looks_so_and_not_on_a_screen_that_is_only_read(choice: Choice) -> None:
    looks = choice.grab().toImage()
    place = QPointF(3, 3)
    QApplication.sendEvent(choice.options[2], QEnterEvent(place, place, place))
    assert choice.pointed is choice.options[2]
    if not isinstance(choice, (Views, AnswerRow)):  # these never looked otherwise
        assert choice.grab().toImage() != looks
    QApplication.sendEvent(choice.options[2], QEvent(QEvent.Type.Leave))
    assert choice.grab().toImage() == looks
    ReadOnly(choice)
    QApplication.sendEvent(choice.options[2], QEnterEvent(place, place, place))
    choice.show_index(1)
    choice.show_index(2)
    assert choice.pointed is None
    assert {option.focusPolicy() for option in choice.options} == {Qt.FocusPolicy.NoFocus}


def test_a_dial_is_told_with_its_value_and_a_screen_reader_moves_it(qtbot: QtBot) -> None:
    def german(number: str) -> str:
        return number.replace(".", ",")

    dial = DialSlider(Continuous("z", -2.5, 2.505), P, text_of=german)
    qtbot.addWidget(dial)
    dial.setAccessibleName("Dial 2")
    asked: list[tuple[float, str]] = []
    dial.moved.connect(lambda value, device: asked.append((value, device)))
    dial.show_value(0.53)
    assert asked == [], "what is shown was asked for already"
    assert heard_of(dial)[:3] == ("Dial 2", Role.Slider, "0,53")
    steps = interface_of(dial).valueInterface()
    assert (steps.minimumValue(), steps.currentValue(), steps.maximumValue()) == (-250, 53, 251)
    steps.setCurrentValue(54)
    steps.setCurrentValue(251)
    assert asked == [(0.54, "keyboard"), (2.505, "keyboard")], "a limit need not lie on a step"
    dial.set_locked(True)
    steps.setCurrentValue(10)
    assert len(asked) == 2
    assert dial.shown == 2.505


def test_a_number_is_given_by_a_screen_reader_too(qtbot: QtBot) -> None:
    slider = NumberSlider(60, 100, 76, "%", P)
    qtbot.addWidget(slider)
    given: list[int] = []
    slider.given.connect(given.append)
    slider.show_value(80, touched=True)
    interface_of(slider).valueInterface().setCurrentValue(90)
    assert given == [90]


def test_what_is_missing_is_said_at_once_and_once(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, bool]] = []
    tell = controls.announce

    def announced(widget: QWidget, text: str, *, urgent: bool = False) -> None:
        said.append((text, urgent))
        tell(widget, text, urgent=urgent)

    monkeypatch.setattr(dial, "announce", announced)
    bar = BottomBar(P)
    qtbot.addWidget(bar)
    bar.show_foot(Foot(right="Next", note="Still to answer: age"))
    bar.show_foot(Foot(right="Next", note="Still to answer: age", warn=True))
    bar.show_foot(Foot(right="Next", note="Still to answer: age", warn=True, ready=False))
    assert said == [("Still to answer: age", True)]


def test_a_choice_that_is_shown_can_get_fewer_options(qtbot: QtBot) -> None:
    choice = Segments(["1", "2", "3", "4", "5"], P, "Which?")
    qtbot.addWidget(choice)
    choice.show()
    choice.show_texts(["1", "2"])  # a photo with fewer steps than the one before
    assert len(choice.options) == 2
    assert choice.size() == choice.sizeHint()


def shown(qtbot: QtBot, names: list[str]) -> ResponseRow:
    responses = [Response(name, name[:1], Qt.Key(Qt.Key.Key_A + n)) for n, name in enumerate(names)]
    row = ResponseRow(responses, theme.LIGHT, "What is shown?")
    qtbot.addWidget(row)
    row.show()
    return row


def test_the_key_of_an_answer_is_painted_in_the_middle_of_its_button(qtbot: QtBot) -> None:
    row = shown(qtbot, ["anger"])
    button = row.findChild(ResponseButton)
    picture = button.grab().toImage()
    ground = QColor(theme.LIGHT.ground)
    assert ground != QColor(theme.LIGHT.card)
    painted = [
        y
        for y in range(picture.height())
        if any(picture.pixelColor(x, y) == ground for x in range(10, picture.width() - 10))
    ]
    assert len(painted) > CAP_HEIGHT / 2
    assert (painted[0] + painted[-1]) / 2 == pytest.approx(picture.height() / 2, abs=2)


def test_dots_stand_in_the_middle_of_their_line(qtbot: QtBot) -> None:
    dots = Dots(theme.LIGHT)
    qtbot.addWidget(dots)
    dots.show_progress(1, 1)
    dots.resize(round(DOT_PITCH), 60)
    picture = dots.grab().toImage()
    assert picture.pixelColor(round(DOT_PITCH / 2), 30) == QColor(theme.LIGHT.accent)


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
