"""Coding in the replay window: every key in every mode, and what a rater is not shown."""

from __future__ import annotations

import shutil
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QMenuBar
from pytestqt.qtbot import QtBot

from labapp.base import resources
from labapp.coding.annotations.store import annotations_of
from labapp.record.journal.opening import open_record
from labapp.ui.language import speak
from labapp.ui.replay import window as remembered
from labapp.ui.replay.coding_desk import WHILE_TYPING
from labapp.ui.replay.coding_window import CodingWindow
from labapp.ui.replay.transport import ACTIONS, Stroke, parse_stroke
from labapp.ui.replay.window import LEAST_SIZE
from labapp.ui.theme import DARK, LIGHT
from tests.helpers.coded_session import CODEBOOK, SECOND, add_codebook, add_units
from tests.helpers.reach import out_of_reach
from tests.helpers.sample import sample

CODE = sorted(ACTIONS["code"])
Open = Callable[..., CodingWindow]


def press(coding: CodingWindow, stroke: Stroke) -> None:
    widget = QApplication.focusWidget() or coding.window
    QTest.keyClick(widget, Qt.Key(stroke.key), Qt.KeyboardModifier(stroke.modifiers))


def keys(coding: CodingWindow, *texts: str) -> None:
    for text in texts:
        press(coding, parse_stroke(text))


def watched(coding: CodingWindow) -> list[str]:
    """Names of actions, as they are asked for from here on."""
    done: list[str] = []
    for name in list(coding.window.router.commands):
        coding.window.router.commands[name] = lambda name=name: done.append(name)
    return done


def codes(coding: CodingWindow) -> list[list[str]]:
    return [[chip.text for chip in row.chips] for row in coding.desk.units.rows]


def test_all_actions_of_coding_do_something(open_coding: Open) -> None:
    coding = open_coding()
    assert set(coding.window.router.commands) >= set(CODE)
    assert all(coding.window.keys.keys(action) for action in CODE)
    assert not coding.window.findChildren(QMenuBar)
    assert not coding.window.findChildren(QMenu)


def test_every_key_of_coding_is_taken(open_coding: Open) -> None:
    """While codes are given, while units are made, and with the focus on a button."""
    coding = open_coding()
    asked = dict(coding.window.router.commands)

    def assert_all_are_taken() -> None:
        done = watched(coding)
        for action in CODE:
            for stroke in coding.window.keys.keys(action):
                done.clear()
                press(coding, stroke)
                assert done == [action], stroke.text()
        coding.window.router.commands.update(asked)

    assert_all_are_taken()
    keys(coding, "Ctrl+U")
    assert coding.coding.mode == "segment"
    assert_all_are_taken()
    keys(coding, "Ctrl+U")
    coding.desk.bar.done.setFocus()
    assert_all_are_taken()


@pytest.mark.parametrize("field", ["words", "find", "time"])
def test_no_key_is_taken_from_what_is_typed(open_coding: Open, field: str) -> None:
    coding = open_coding()
    keys(coding, {"words": "Ctrl+T", "find": "Ctrl+F", "time": "Ctrl+G"}[field])
    target = QApplication.focusWidget()
    assert target is not None
    assert target in (
        coding.desk.units.editor,
        coding.desk.field.line,
        coding.window.transport.field,
    )
    target.clear()  # type: ignore[attr-defined]
    typed = string.ascii_letters + string.digits + ",.-=/?[]{}<>; "
    for character in typed:
        QTest.keyClicks(target, character)
    text = target.toPlainText() if field == "words" else target.text()  # type: ignore[attr-defined]
    assert text == typed
    assert QApplication.focusWidget() is target
    keys(coding, "Backspace", "Ctrl+Z", "Left", "Home", "End")
    assert QApplication.focusWidget() is target
    assert not len(coding.coding.marks)
    changes = [a for a in CODE if a not in WHILE_TYPING and a not in ("take_last", "tier_up")]
    before = (coding.coding.mode, coding.coding.tier, coding.coding.queue, coding.coding.status)
    for action in changes:
        for stroke in coding.window.keys.keys(action):
            if not stroke.typed and stroke.key < 0x01000000:
                press(coding, stroke)
    after = (coding.coding.mode, coding.coding.tier, coding.coding.queue, coding.coding.status)
    assert after == before
    assert not len(coding.coding.marks)
    keys(coding, "Escape")
    assert QApplication.focusWidget() is not target


def test_letters_and_digits_give_codes_and_nothing_else(open_coding: Open) -> None:
    coding = open_coding()
    given: list[str] = []
    coding.coding.press = given.append  # type: ignore[method-assign, assignment]
    done = watched(coding)
    for character in string.ascii_lowercase + string.digits:
        QTest.keyClicks(QApplication.focusWidget() or coding.window, character)
    assert given == list(string.ascii_lowercase + string.digits)
    assert done == []


def test_a_session_is_coded_by_keys_alone(open_coding: Open, recorded: Path, qtbot: QtBot) -> None:
    coding = open_coding()
    keys(coding, "E", "Right", "G", "Right", "R", "Up", "4", "Down")
    assert codes(coding)[:3] == [["Exploring"], ["Has a goal"], ["Tries at random", "Sure 4"]]
    assert coding.window.controller.playing  # going to a unit plays it
    keys(coding, "Space")
    assert not coding.window.controller.playing
    keys(coding, "Left", "Backspace", "Ctrl+Z")
    assert codes(coding)[1] == ["Has a goal"]
    keys(coding, "/")
    QTest.keyClicks(QApplication.focusWidget(), "names")
    keys(coding, "Return")
    assert codes(coding)[1] == ["Names a dial"]
    keys(coding, "Ctrl+M")
    QTest.keyClicks(QApplication.focusWidget(), "which one?")
    keys(coding, "Return", "Ctrl+T")
    QTest.keyClicks(QApplication.focusWidget(), "!")
    keys(coding, "Return", "Escape")
    assert coding.desk.units.rows[1].chips[0].memo  # it went on by itself since
    assert coding.coding.current == coding.coding.units[3]
    keys(coding, "Ctrl+Return", "Return")
    assert coding.coding.status == "done"
    rater = annotations_of(open_record(recorded)).raters["anna"]
    assert [mark.memo for mark in rater.marks].count("which one?") == 1
    qtbot.waitUntil(lambda: not coding._late.isActive())  # the timeline is drawn behind the list
    lanes = {row.lane.title: len(row.lane.items) for row in coding.window.timeline._codes}
    assert lanes == {"strategy": 3, "affect": 0, "surety": 1}


def test_enter_makes_units_while_segmenting(open_coding: Open) -> None:
    coding = open_coding()
    controller = coding.window.controller
    keys(coding, "Ctrl+U")
    controller.seek(70 * SECOND)
    keys(coding, "Return")
    controller.seek(72 * SECOND)
    keys(coding, "Return")
    assert len(coding.coding.files.segmentation.proposals) == 1  # they are frozen
    keys(coding, "Ctrl+Shift+D", "Escape")
    assert coding.coding.mode == "code"


def test_what_is_hidden_is_in_no_part_of_the_window(open_coding: Open) -> None:
    veiled = open_coding("anna")
    lanes = {lane.id for lane in veiled.window.lanes}
    assert not lanes & {"flags", "notes", "alignment", "answers"}
    assert all(not item.outcome for lane in veiled.window.lanes for item in lane.items)
    assert veiled.window.header.chips == []
    assert veiled.window.timeline.future_hidden
    assert veiled.window.seen.isVisible()
    assert veiled.desk.bar.hidden.full() == "names hidden"
    blind = open_coding("ben", blind=("names", "outcomes", "future", "screen"))
    assert not blind.window.seen.isVisible()
    assert not blind.window.shown.isVisible()
    assert blind.desk.bar.hidden.full() == "blind, screen hidden"
    open_ = open_coding("carl", blind=())
    assert "alignment" in {lane.id for lane in open_.window.lanes}
    assert not open_.window.timeline.future_hidden


def test_boundaries_are_drawn_with_the_pointer(open_coding: Open) -> None:
    coding = open_coding()
    unit = coding.coding.units[0]
    coding.window.timeline.boundary_moved.emit(unit.id, "end", unit.t1_ns + SECOND // 10)
    assert len(coding.coding.files.segmentation.proposals) == 1


TITLE = 19
NOTICE = "The sound output could not be opened: there is none. " * 4
SIZES = {
    "1366x768": (1366, 768 - TITLE),
    "1366x768 at 150 %": (911, 512 - TITLE),
    "900x560": (900, 560),
    "1920x1080 at 200 %": (960, 540 - TITLE),
    "1920x1080 at 150 %": (1280, 720 - TITLE),
    "1920x1080": (1920, 1080 - TITLE),
    "2732x1536 at 200 %": (1366, 768 - TITLE),
}
LARGE_CODEBOOK = """\
codebook: large
version: 1
tiers:
  act: {exclusive: true}
  topic: {exclusive: true, optional: true}
codes:
""" + "\n".join(
    f"  - {{id: {tier}_{key}, tier: {tier}, key: {key!r}, colour: '#0072B2', "
    f"name: {tier.title()} {key} said}}"
    for tier in ("act", "topic")
    for key in string.ascii_lowercase[:12]
)


@pytest.mark.parametrize("book", ["its own", "shipped", "large"])
@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("de", "dark")])
def test_units_and_codes_are_seen_at_every_setting(
    open_coding: Open, recorded: Path, language: str, theme: str, book: str
) -> None:
    shipped = (resources.assets() / "codebooks" / "think-aloud.yaml").read_text()
    texts = {"its own": CODEBOOK, "shipped": shipped, "large": LARGE_CODEBOOK}
    add_codebook(recorded.parent, texts[book])
    remembered.write(remembered.ReplayChoices(dark=theme))
    speak(language)
    coding = open_coding()
    window, desk = coding.window, coding.desk
    assert window.palette_ == (DARK if theme == "dark" else LIGHT)
    window.notices.set_sentences([NOTICE])
    for name in sample(tuple(SIZES), ("1366x768 at 150 %", "900x560", "1920x1080")):
        size = SIZES[name]
        window.resize(*size)
        for _ in range(10):
            QApplication.processEvents()
        assert window.size().toTuple() == size, name
        assert window.notices.isVisible(), name
        assert len(desk.units.seen()) >= 3, name
        assert desk.palette.hidden_codes() == [], name
        assert desk.palette.line.isVisible() or desk.palette.definition.isVisible(), name
        assert window.timeline.height() >= window.timeline.axis_rect().bottom(), name
        assert window.timeline.voice_rect().height() >= 64, name
        assert window.seen.isVisible(), name
        assert window.picture.height() >= 90, name
        assert out_of_reach(window) == [], name


def test_the_smallest_window_shows_them_once_the_notice_is_put_away(open_coding: Open) -> None:
    coding = open_coding()
    coding.window.resize(*LEAST_SIZE)
    for _ in range(10):
        QApplication.processEvents()
    assert coding.window.size().toTuple() == LEAST_SIZE
    assert len(coding.desk.units.seen()) >= 3
    assert coding.desk.palette.hidden_codes() == []
    assert out_of_reach(coding.window) == []


@pytest.fixture
def unsaid(simulated: Path, tmp_path: Path) -> Path:
    """A session with units that are not frozen, of which nobody has said who speaks."""
    path = Path(shutil.copytree(simulated, tmp_path / "unsaid" / simulated.name))
    add_codebook(path.parent)
    add_units(path, 5, frozen=False)
    return path


def test_units_are_frozen_by_key_once_it_is_said_who_speaks(
    open_coding: Open, unsaid: Path
) -> None:
    coding = open_coding(of=unsaid)
    assert "The speakers have not been set yet" in coding.window.notices.text.text()
    keys(coding, "Ctrl+Shift+F")
    assert coding.desk.field.no.hasFocus()
    keys(coding, "Return")
    assert not coding.coding.files.frozen
    keys(coding, "Ctrl+Shift+F")
    QTest.mouseClick(coding.desk.field.no, Qt.MouseButton.LeftButton)
    assert coding.desk.field.isHidden()
    keys(coding, "Ctrl+Shift+F")
    QTest.mouseClick(coding.desk.field.yes, Qt.MouseButton.LeftButton)
    assert coding.coding.files.frozen
    assert coding.coding.files.segmentation.speakers_said
    keys(coding, "E")
    assert len(coding.coding.marks) == 1


def test_where_somebody_said_who_speaks_freezing_asks_nothing(
    open_coding: Open, unsaid: Path
) -> None:
    coding = open_coding(of=unsaid)
    keys(coding, "Alt+P", "Ctrl+Shift+F")
    assert coding.coding.files.frozen
    coding.window.close()
    assert "Nobody has said" not in open_coding("ben", of=unsaid).window.notices.text.text()
