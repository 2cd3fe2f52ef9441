"""Every look of the choice, and the sliders, as a screen reader hears and uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessibleActionInterface, QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from labapp.models.representations.space import Continuous
from labapp.tasks.questionnaire.screen.questionnaire import NumberSlider
from labapp.ui import theme
from labapp.ui.participant.screen import ReadOnly
from labapp.ui.widgets import controls, dial
from labapp.ui.widgets.choice import Choice, Look, OptionList, Scale
from labapp.ui.widgets.dial import BottomBar, DialSlider, Foot
from labapp.ui.widgets.row_view import AnswerRow, ClassTabs
from labapp.ui.widgets.segments import Segments, Views
from tests.ui.hearing import Role, interface_of, names, taken
from tests.ui.hearing import heard as heard_of

P = theme.LIGHT
WORDS = ("low", "middle", "high")


def answers() -> AnswerRow:
    row = AnswerRow(P, "Which?")
    row.show_texts(WORDS)
    return row


MADE: dict[str, Callable[[], Choice]] = {
    "segments": lambda: Segments(WORDS, P, "Which?"),
    "views": lambda: Views(WORDS, P, "Which?"),
    "scale": lambda: Scale(3, P, Look(), "Which?", dict(enumerate(WORDS))),
    "cards": answers,
    "tabs": lambda: ClassTabs(WORDS, P, "Which?", "{}: {} of {}".format),
    "list": lambda: OptionList(WORDS, P, "Which?"),
    "several": lambda: OptionList(WORDS, P, "Which?", several=True),
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
    assert [said in name for said, name in zip(WORDS, names(choice), strict=True)] == [True] * 3
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
