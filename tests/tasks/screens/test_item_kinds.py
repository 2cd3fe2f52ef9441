"""Every kind of questionnaire items: by mouse, finger and keyboard, for a screen reader, in a small
window, in German, in the replay, simulated, in tables, the codebook, files and bundles. A new kind
is covered by an entry of `CASES`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from labapp.analysis import load
from labapp.analysis.data_files import long
from labapp.analysis.declared import read_declaration
from labapp.analysis.design.sources import outcomes_of
from labapp.analysis.item_sections import (
    item_sections,
    show_choices,
    show_texts,
    show_unknown,
)
from labapp.analysis.planes import draw_kinds
from labapp.base import resources
from labapp.base.errors import StudyError
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.replay.history import History
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.instruments import Instrument, dont_know
from labapp.study.instruments.kinds import ITEM_KINDS, by_parts, cells_of, form_of
from labapp.study.loading import load as load_study
from labapp.tasks.questionnaire.screen.kinds.slider import NumberSlider
from labapp.tasks.questionnaire.screen.questionnaire import Page
from labapp.ui import theme
from labapp.ui.preview import open_preview
from labapp.ui.replay.picture import PastWindow
from labapp.ui.strings import Strings
from labapp.ui.widgets.dial import BOTTOM_HEIGHT, TOP_HEIGHT
from tests.helpers.beside import put_beside
from tests.helpers.reach import ill_made, out_of_reach
from tests.ui.hearing import Text as Told
from tests.ui.hearing import interface_of
from tests.ui.keys import focus, press

Key = Qt.Key
Tap = Callable[..., None]
FRUIT = [{"id": name, "text": name.capitalize()} for name in ("apple", "pear", "plum", "fig")]
AT_ENDS = {"low": "not at all", "high": "completely"}
ENDS = {"points": 5, **AT_ENDS}


@dataclass(frozen=True)
class Case:
    """How an item of a kind is answered.

    Attributes
    ----------
    item : the item, without id and kind.
    answer : what is stored after a hand or a finger answered with `tap`, and after `keys`.
    tap : `(view, tap)` taps widgets of the view, and types where the focus is.
    keys : the keys, or texts, that answer it from where Tab comes to.
    reader : words that a screen reader says of the answered item, of any of its widgets.
    cells : the cells of the answer, by part.
    numbers : the ranges of the parts that are numbers.
    """

    item: dict[str, Any]
    answer: Any
    tap: Callable[[Any, Tap], None]
    keys: tuple[Key | str, ...]
    reader: tuple[str, ...]
    cells: dict[str, Any]
    numbers: dict[str, tuple[float, float]]


def _matrix(view: Any, tap: Tap) -> None:
    for row, index in (("apple", 1), ("pear", 4)):
        tap(view.rows[row].options[index])


def _typed(field: Any, text: str, tap: Tap) -> None:
    tap(field.edit)
    QTest.keyClicks(field.edit, text)


def _sum(view: Any, tap: Tap) -> None:
    for name, text in (("apple", "60"), ("pear", "40")):
        _typed(view.fields[name], text, tap)
    press(Key.Key_Return)


def _slide(view: Any, tap: Tap) -> None:
    slider = view.slider
    tap(slider, QPoint(round(slider.handle_x(30)), slider.height() // 2))


def _places(view: Any, tap: Tap) -> None:
    for at in (2, 0, 3, 1):
        tap(view.group.options[at])


def _found(view: Any, tap: Tap) -> None:
    _typed(view.field, "pl", tap)
    tap(view.group.options[0])


def _both(view: Any, tap: Tap) -> None:
    tap(view.groups["best"].options[0])
    tap(view.groups["worst"].options[3])


CASES = {
    "scale": Case(
        ENDS, 2, lambda view, tap: tap(view.row.options[1]),
        (Key.Key_Right, Key.Key_Right), ("2",), {"": 2}, {"": (1, 5)},
    ),
    "statement": Case(
        ENDS, 2, lambda view, tap: tap(view.row.options[1]),
        (Key.Key_2,), ("2",), {"": 2}, {"": (1, 5)},
    ),
    "slider": Case(
        {"start": 29, "ends": AT_ENDS}, {"value": 30, "touched": True}, _slide,
        (Key.Key_Right, Key.Key_Right), ("30", "not at all – completely"),
        {"": 30, "touched": True}, {"": (0, 100)},
    ),
    "choice": Case(
        {"options": FRUIT}, {"chosen": ("pear",)}, lambda view, tap: tap(view.group.options[1]),
        (Key.Key_Right, Key.Key_Space), ("Pear",), {"": "pear"}, {},
    ),
    "choices": Case(
        {"options": FRUIT}, {"chosen": ("apple", "pear")},
        lambda view, tap: [tap(view.group.options[at]) for at in (0, 1)],
        (Key.Key_Space, Key.Key_Right, Key.Key_Space), ("Pear",), {"": "apple;pear"}, {},
    ),
    "written": Case(
        {}, "A word", lambda view, tap: (_typed(view.field, "A word", tap), press(Key.Key_Return)),
        ("A word", Key.Key_Return), ("Q",), {"": "A word"}, {},
    ),
    "number": Case(
        {"low": 0, "high": 10, "decimals": 1, "unit": "cm"}, 7.5,
        lambda view, tap: (_typed(view.field, "7,5", tap), press(Key.Key_Return)),
        ("7.5", Key.Key_Return), ("cm", "from 0 to 10"), {"": 7.5}, {"": (0, 10)},
    ),
    "matrix": Case(
        {"rows": FRUIT[:2], **ENDS}, {"apple": 2, "pear": 5}, _matrix,
        (Key.Key_2, Key.Key_Tab, Key.Key_5), ("Apple", "Pear", "2", "5: completely"),
        {"apple": 2, "pear": 5}, {"apple": (1, 5), "pear": (1, 5)},
    ),
    "ranking": Case(
        {"options": FRUIT}, {"plum": 1, "apple": 2, "fig": 3, "pear": 4}, _places,
        (Key.Key_3, Key.Key_1, Key.Key_4, Key.Key_2), ("Plum", "Place 1 of 4"),
        {"plum": 1, "apple": 2, "fig": 3, "pear": 4},
        dict.fromkeys(("apple", "pear", "plum", "fig"), (1, 4)),
    ),
    "dropdown": Case(
        {"options": FRUIT}, {"chosen": ("plum",)}, _found,
        ("pl", Key.Key_Return), ("Plum",), {"": "plum"}, {},
    ),
    "constant_sum": Case(
        {"options": FRUIT}, {"apple": 60, "pear": 40, "plum": 0, "fig": 0}, _sum,
        ("60", Key.Key_Tab, "40", Key.Key_Return), ("Apple", "100 of 100 · 0 left"),
        {"apple": 60, "pear": 40, "plum": 0, "fig": 0},
        dict.fromkeys(("apple", "pear", "plum", "fig"), (0, 100)),
    ),
    "best_worst": Case(
        {"options": FRUIT, "best": "matters most", "worst": "matters least"},
        {"best": "apple", "worst": "fig"}, _both,
        (Key.Key_Space, Key.Key_Tab, Key.Key_End, Key.Key_Space),
        ("matters most", "matters least", "Apple", "Fig"), {"best": "apple", "worst": "fig"}, {},
    ),
    "date": Case(
        {"earliest": "1900-01-01", "latest": "2026-12-31"}, "2020-02-29",
        lambda view, tap: (_typed(view.field, "29.2.2020", tap), press(Key.Key_Return)),
        ("2020-02-29", Key.Key_Return), ("from 1900-01-01",), {"": "2020-02-29"}, {},
    ),
}  # fmt: skip


MAP = [
    {"id": name, "text": name.capitalize(), "area": [0.5 * at, 0, 0.5, 1]}
    for at, name in enumerate(("left", "right"))
]
CASES["region"] = Case(
    {"media": "pictures/map.png", "options": MAP}, {"chosen": ("right",)},
    lambda view, tap: tap(view.group.options[1]),
    (Key.Key_Right, Key.Key_Space), ("Right",), {"": "right"}, {},
)  # fmt: skip

CASES["grid"] = Case(
    {
        "across": {"low": "unpleasant", "high": "pleasant"},
        "up": {"low": "sleepy", "high": "excited", "name": "arousal"},
        "corners": ["stress", "excitement", "depression", "relaxation"],
    },
    {"x": 4, "y": 6}, lambda view, tap: tap(view.group.options[3 * 9 + 3]),
    (Key.Key_Left, Key.Key_Up, Key.Key_Space), ("pleasant: 4 of 9, arousal: 6 of 9",),
    {"x": 4, "y": 6}, {"x": (1, 9), "y": (1, 9)},
)  # fmt: skip


def _dots(view: Any, tap: Tap) -> None:
    board = view.board
    for x, y in ((50, 50), (75, 25), (95, 5)):
        box = board.picture_box()
        tap(board, QPoint(round(x * box.width() / 100), round(y * box.height() / 100)))
    QTest.qWait(500)  # the two taps are no double click
    tap(view.back)


CASES["drawing"] = Case(
    {"media": "pictures/map.png"},
    {"strokes": (((50.0, 50.0),), ((75.0, 25.0),))}, _dots,
    (
        Key.Key_Space, Key.Key_Space,
        *[Key.Key_Right] * 25, *[Key.Key_Up] * 25, Key.Key_Space, Key.Key_Space,
        Key.Key_Space, Key.Key_Right, Key.Key_Space, Key.Key_Backspace,
    ),
    ("2 of at most 20 strokes",),
    {"path": "M 50 50 M 75 25", "strokes": 2, "left": 50, "top": 25, "right": 75, "bottom": 50},
    {"strokes": (0, 20)} | dict.fromkeys(("left", "top", "right", "bottom"), (0, 100)),
)  # fmt: skip


def test_every_kind_has_a_case() -> None:
    assert list(CASES) == list(ITEM_KINDS)


def instrument_of(*kinds: str, dont_know: Any = None, check: Any = None, **more: Any) -> str:
    """The file of a questionnaire with an item of each of these kinds, called like it. dont_know,
    check: of each item."""
    own = {"dont_know": dont_know, "check": check}
    items = [
        {"id": f"i_{kind}", "kind": kind, "text": f"Q {kind}", "identifying": False}
        | CASES[kind].item
        | {key: value for key, value in own.items() if value is not None}
        for kind in kinds
    ]
    sheet = {"id": "kinds", "version": 1, "title": "Kinds", "source": "Ours", "per_page": 3}
    return json.dumps(sheet | {"items": items} | more)


def strings(language: str) -> Strings:
    path = resources.assets() / "texts" / language / "participant.yaml"
    return Strings(yaml.safe_load(path.read_text("utf-8")))


class Sheet:
    """A page with one item on it, which shows what was answered as a session does."""

    def __init__(self, kind: str, language: str = "en") -> None:
        file = Instrument.parse(Path("kinds.yaml"), instrument_of(kind).encode())
        self.item = file.items[0]
        self.value: Any = None
        self.holder = QWidget()
        self.holder.setStyleSheet(theme.stylesheet(theme.LIGHT))
        self.page = Page("Kinds", "", file.items, strings(language), theme.LIGHT)
        self.page.setParent(self.holder)
        (self.view,) = self.page.views
        self.view.show_as(published=False, layout=10)
        self.view.answered.connect(self.answer)
        self.resize(theme.CONTENT_WIDTH, 720 - TOP_HEIGHT - BOTTOM_HEIGHT)
        self.holder.show()
        self.page.show()
        QApplication.processEvents()

    def resize(self, width: int, height: int) -> None:
        self.holder.resize(width, height)
        self.page.resize(width, height)
        for _ in range(4):
            QApplication.processEvents()

    def answer(self, value: Any) -> None:
        self.value = self.item.check(value)
        self.view.show_value(self.value)

    def widgets(self) -> list[QWidget]:
        return [each for each in self.view.findChildren(QWidget) if each.isVisible()]


@pytest.fixture
def sheet(qapp: QApplication) -> Iterator[Callable[..., Sheet]]:
    made: list[Sheet] = []

    def make(kind: str, language: str = "en") -> Sheet:
        made.append(Sheet(kind, language))
        return made[-1]

    yield make
    for each in made:
        each.holder.close()
        each.holder.deleteLater()


def by_mouse(widget: QWidget, at: QPoint | None = None) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at or widget.rect().center())
    QApplication.processEvents()


def by_finger(widget: QWidget, at: QPoint | None = None) -> None:
    screen = _finger()
    place = at or widget.rect().center()
    QTest.touchEvent(widget.window(), screen).press(0, place, widget)
    QTest.touchEvent(widget.window(), screen).release(0, place, widget)
    QApplication.processEvents()
    if isinstance(widget, QLineEdit):
        assert widget.hasFocus(), "a finger puts the caret there"


_SCREENS: list[Any] = []


def _finger() -> Any:
    if not _SCREENS:
        _SCREENS.append(QTest.createTouchDevice())
    return _SCREENS[0]


@pytest.mark.parametrize("tap", [by_mouse, by_finger])
@pytest.mark.parametrize("kind", CASES)
def test_a_hand_or_a_finger_answers(kind: str, tap: Tap, sheet: Callable[..., Sheet]) -> None:
    asked = sheet(kind)
    assert asked.item.is_missing(None) is asked.item.required
    CASES[kind].tap(asked.view, tap)
    assert asked.value == CASES[kind].answer
    assert asked.item.answered(asked.value)
    assert not asked.item.is_missing(asked.value)
    assert asked.item.check(asked.value) == asked.value
    assert asked.item.said(asked.value)


def test_a_stroke_is_drawn_while_the_button_is_held(sheet: Callable[..., Sheet]) -> None:
    asked = sheet("drawing")
    board, left = asked.view.board, Qt.MouseButton.LeftButton
    width, height = board.picture_box().size().toTuple()
    places = [QPoint(round(x * width), round(y * height)) for x, y in ((0.1, 0.1), (0.9, 0.1))]
    QTest.mousePress(board, left, pos=places[0])
    for x in range(places[0].x(), places[1].x()):
        QTest.mouseMove(board, QPoint(x, places[0].y()))
    QTest.mouseMove(board, QPoint(round(2 * width), places[0].y()))
    assert asked.value is None, "a stroke is an answer once it is finished"
    QTest.mouseRelease(board, left, pos=places[1])
    (stroke,) = asked.value["strokes"]
    assert [round(x) for x, _ in stroke] == [10, 100], "it ends at the edge of the picture"
    QTest.mouseClick(asked.view.clear, left)
    assert not asked.item.answered(asked.value)


@pytest.mark.parametrize("kind", CASES)
def test_keys_alone_answer(kind: str, sheet: Callable[..., Sheet]) -> None:
    asked = sheet(kind)
    asked.view.entrance().setFocus(Qt.FocusReason.TabFocusReason)
    QApplication.processEvents()
    assert ill_made(asked.holder) == []
    for key in CASES[kind].keys:
        if isinstance(key, str):
            QTest.keyClicks(QApplication.focusWidget(), key)
        else:
            press(key)
    if isinstance(focus(), NumberSlider):
        assert asked.value["touched"]
    assert asked.value == CASES[kind].answer


@pytest.mark.parametrize("kind", CASES)
def test_a_screen_reader_says_what_is_asked_and_answered(
    kind: str, sheet: Callable[..., Sheet]
) -> None:
    asked = sheet(kind)
    named = [interface_of(each).text(Told.Name) for each in asked.widgets()]
    assert any(asked.item.title in name for name in named)
    asked.answer(CASES[kind].answer)
    heard = " ".join(
        interface_of(each).text(part)
        for each in asked.widgets()
        for part in (Told.Name, Told.Description, Told.Value)
    )
    assert [words for words in CASES[kind].reader if words not in heard] == []


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", CASES)
def test_it_fits_the_screens_of_the_lab(
    kind: str, language: str, sheet: Callable[..., Sheet]
) -> None:
    """1366 x 768 at 150 %, and the smallest window, in both languages."""
    asked = sheet(kind, language)
    for width, height in ((theme.CONTENT_WIDTH, 500), (852, 336)):
        asked.resize(width, height)
        for missing in (True, False):
            asked.view.mark_missing(missing)
        assert out_of_reach(asked.holder) == []
    asked.answer(CASES[kind].answer)
    QApplication.processEvents()
    assert out_of_reach(asked.holder) == []


UNKNOWN = {"en": "I don't know", "de": "Weiß ich nicht"}


@pytest.mark.parametrize("kind", CASES)
def test_every_kind_can_be_answered_by_not_knowing(
    kind: str, tmp_path: Path, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    """By mouse, finger and keys; taken back; answered after all; told to a screen reader."""
    room = open_room(study=write_study(tmp_path, "de", kinds=(kind,), dont_know=UNKNOWN))
    window = open_window(room)
    window.resize(1366, 768)
    qapp.processEvents()
    screen, item = window.screen_shown, window.screen_shown.pages[0].items[0]
    (view,), box = screen.pages[0].views, screen.pages[0].unknown[item.id]
    assert interface_of(box).text(Told.Name) == UNKNOWN["de"]
    assert item.title in interface_of(box).text(Told.Description)
    unknown = dont_know.unknown(item)

    def value() -> Any:
        qapp.processEvents()
        return screen.state.answers.get(item.id)

    for tap in (by_mouse, by_finger):
        tap(box)
        assert value() == unknown
        assert box.isChecked()
        tap(box)
        assert value() == dont_know.TAKEN_BACK
        assert not box.isChecked()
    view.answered.emit(CASES[kind].answer)
    assert value() == CASES[kind].answer
    box.setFocus()
    press(Key.Key_Space)
    assert value() == unknown
    assert out_of_reach(window) == []
    screen.right()
    qapp.processEvents()
    path = room.session.folder.path
    room.session.close("over")
    record = open_record(path)
    (submitted,) = [row for row in record.rows if row.kind == "questionnaire.submitted"]
    stored = submitted.event().payload["answers"]
    assert stored == json.loads(json.dumps({item.id: unknown}))
    tables = load(path.parent)
    rows = tables.answers.set_index("item")
    assert set(rows.index) == {part.id for part in item.parts()}
    assert rows["dont_know"].all()
    assert rows[["value", "value_text"]].isna().all(axis=None)
    assert set(rows["kind"]) == {ITEM_KINDS[kind].form or kind}
    frame = long(tables).frame
    assert all(frame[f"kinds_{part.id}_dont_know"].all() for part in item.parts())
    assert "Answered by not knowing" in "".join(map(str, show_unknown(tables.answers)))


@pytest.mark.parametrize("kind", CASES)
def test_not_knowing_has_no_value(kind: str) -> None:
    file = instrument_of(kind, dont_know="No idea")
    (item,) = Instrument.parse(Path("kinds.yaml"), file.encode()).items
    (silent,) = Instrument.parse(Path("kinds.yaml"), instrument_of(kind).encode()).items
    unknown = dont_know.unknown(item)
    assert dont_know.check(item, json.loads(json.dumps(unknown))) == unknown
    assert dont_know.answered(item, unknown)
    assert not dont_know.is_missing(item, unknown)
    assert dont_know.is_missing(item, dont_know.TAKEN_BACK) is item.required
    assert not dont_know.answered(item, dont_know.TAKEN_BACK)
    assert dont_know.say(item, unknown) == "No idea"
    cells = {f"{item.id}_{cell}" if cell else item.id for cell in cells_of(unknown, kind)}
    assert cells == {part.id for part in item.parts()}
    assert by_parts(item.id, unknown, kind) == {}
    values = dont_know.values_of_parts(item, unknown)
    assert values.pop(item.id) == ("dont_know",)
    assert set(values.values()) <= {()}
    with pytest.raises(ValueError, match="not offered"):
        dont_know.check(silent, unknown)


RIGHT = {
    kind: case.answer for kind, case in CASES.items() if "" not in case.cells and kind != "drawing"
}


@pytest.mark.parametrize("kind", RIGHT)
def test_items_with_parts_can_be_comprehension_checks(kind: str) -> None:
    right = {"right": RIGHT[kind], "attempts": 2}
    (item,) = Instrument.parse(Path("kinds.yaml"), instrument_of(kind, check=right).encode()).items
    assert item.is_right(item.check(RIGHT[kind]))
    assert item.is_right(item.answer_of((item.right,)))
    rng = np.random.default_rng(3)
    others = [item.simulate(rng, None) for _ in range(30)]
    assert not all(map(item.is_right, others))
    partial = dict(list(RIGHT[kind].items())[:1])
    with pytest.raises(StudyError, match=r"items\[0\].check.*give a value for each of"):
        Instrument.parse(Path("kinds.yaml"), instrument_of(kind, check={"right": partial}).encode())


@pytest.mark.parametrize("kind", CASES)
def test_simulated_answers_are_answers(kind: str) -> None:
    (item,) = Instrument.parse(Path("kinds.yaml"), instrument_of(kind).encode()).items
    rng = np.random.default_rng(1)
    for leaning in (None, 0.0, 1.0):
        value = item.simulate(rng, leaning)
        assert item.check(value) == value
        assert item.answered(value)
        assert not item.is_missing(value)
        assert json.loads(json.dumps(value)) is not None


@pytest.mark.parametrize("kind", CASES)
def test_cells_and_parts_belong_together(kind: str) -> None:
    case = CASES[kind]
    (item,) = Instrument.parse(Path("kinds.yaml"), instrument_of(kind).encode()).items
    named = "" if ITEM_KINDS[kind].form else kind
    assert cells_of(case.answer, named) == case.cells
    assert form_of(case.answer, named) == (ITEM_KINDS[kind].form or kind)
    parts = {part.id: part for part in item.parts()}
    several = "" not in case.cells
    names = {f"{item.id}_{cell}" for cell in case.cells} if several else {item.id}
    assert parts.keys() == names
    bounds = {part.id: part.bounds() for part in parts.values() if part.bounds() is not None}
    assert bounds == {
        f"{item.id}_{cell}" if cell else item.id: ends for cell, ends in case.numbers.items()
    }
    for part in parts.values():
        assert part.column("here").description
    told = item.values_of_parts(case.answer)
    assert told.keys() == {item.id, *parts}


def write_study(
    folder: Path, language: str = "en", kinds: Sequence[str] = tuple(CASES), **more: Any
) -> Path:
    """Write a study that asks an item of every kind, and scores those that are numbers. more: keys
    of the questionnaire, and of its items as `instrument_of` has them."""
    (folder / "instruments").mkdir(parents=True)
    (folder / "pictures").mkdir()
    Image.new("RGB", (300, 120), "olive").save(folder / "pictures" / "map.png")
    numeric = {"i_slider": "slid", "i_number": "typed"}
    scores: dict[str, Any] = {name: {"mean": [item]} for item, name in numeric.items()}
    scores |= {
        "rows": {"mean": ["i_matrix"], "reverse": ["i_matrix_pear"]},
        "fruit": {"sum": ["i_constant_sum_apple", "i_constant_sum_pear"]},
    }
    every = len(kinds) == len(CASES)
    more |= {"scores": scores} if every else {}
    (folder / "instruments" / "kinds.yaml").write_text(instrument_of(*kinds, **more))
    path = folder / "study.yaml"
    path.write_text(
        f"id: study\ntitle: Kinds\nversion: 1\nunnamed_texts: shipped\nlanguage: {language}\n"
        "flow:\n  - questionnaire: kinds\n"
        + every * "exclude: {far: {item: i_number, above: 9.5}, slow: {item: i_slider, below: 1}}\n"
        + every * "design: {measured: [i_slider, i_matrix_apple]}\n"
        + every * "analysis: {outcomes: {primary: [i_slider, i_ranking_plum, typed, rows]}}\n"
    )
    put_beside(folder)
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that asks an item of every kind, and scores those that are numbers."""
    folder = tmp_path_factory.mktemp("kinds")
    return write_study(folder)


@pytest.fixture(scope="module")
def sessions(study: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return simulate_study(str(study), 2, "random", tmp_path_factory.mktemp("data") / "all")


def test_tables_have_a_row_for_each_value(sessions: list[Path], study: Path) -> None:
    tables = load(sessions[0].parent)
    answers = tables.answers[tables.answers["participant"] == "P01"].set_index("item")
    file = Instrument.parse(
        Path("kinds.yaml"), (study.parent / "instruments/kinds.yaml").read_bytes()
    )
    codebook = tables.items.drop_duplicates("item").set_index("item")
    assert set(codebook.index) == file.parts().keys()
    given = open_record(sessions[0]).rows
    stored = next(row for row in given if row.kind == "questionnaire.submitted").event().payload
    for item in file.items:
        kind = item.kind
        if item.id not in stored["answers"]:
            continue
        value = stored["answers"][item.id]
        cells = cells_of(value, "" if ITEM_KINDS[kind].form else kind)
        for part in item.parts():
            row = answers.loc[part.id]
            cell = part.id.removeprefix(item.id).removeprefix("_")
            found = row["value"] if row["value"] == row["value"] else row["value_text"]
            assert found == cells[cell]
            assert row["kind"] == (ITEM_KINDS[kind].form or kind)
            assert codebook.loc[part.id, "kind"] == kind
            assert item.text in codebook.loc[part.id, "text"]
    scores = tables.scores[tables.scores["participant"] == "P01"].set_index("score")["value"]
    if "i_slider" in stored["answers"] and stored["answers"]["i_slider"]["touched"]:
        assert scores["slid"] == stored["answers"]["i_slider"]["value"]
    rows = stored["answers"]["i_matrix"]
    assert scores["rows"] == (rows["apple"] + 6 - rows["pear"]) / 2
    assert scores["typed"] == stored["answers"]["i_number"]


def test_files_and_bundles_have_a_labelled_column_for_each_value(
    sessions: list[Path], tmp_path: Path
) -> None:
    names = {variable.name: variable for variable in long(load(sessions[0].parent)).variables}
    label = names["kinds_i_matrix_apple"].label
    assert label == "Q matrix – Apple"
    assert names["kinds_i_matrix_apple"].values == {1.0: "not at all", 5.0: "completely"}
    bundle = export(sessions, tmp_path / "bundle")
    described = json.loads((bundle / "phenotype" / "kinds.json").read_text("utf-8"))
    column = next(name for name in described if name.endswith("i_best_worst_best"))
    assert described[column]["Levels"]["apple"] == "Apple"
    header = (bundle / "phenotype" / "kinds.tsv").read_text("utf-8").splitlines()[0].split("\t")
    for kind, case in CASES.items():
        for cell in case.cells:
            ending = f"i_{kind}_{cell}" if cell else f"i_{kind}"
            assert any(name.endswith(ending) for name in header), ending


def test_the_replay_shows_every_answer_as_the_session_did(
    study: Path, open_room: Any, open_window: Any, qapp: QApplication
) -> None:
    room = open_room(study=study)
    window = open_window(room)
    window.resize(1366, 768)
    seen = []
    while room.runner.part is not None and hasattr(window.screen_shown, "pages"):
        screen = window.screen_shown
        for view in screen.pages[screen.state.page].views:
            view.answered.emit(CASES[view.item.kind].answer)
            qapp.processEvents()
        for _ in range(4):
            qapp.processEvents()
            window.looks.look()
        window.setFocus()
        qapp.processEvents()
        seen.append((room.clock.now_ns(), _pixels(window)))
        screen.right()
        qapp.processEvents()
    size = window.size()
    path = room.session.folder.path
    room.session.close("over")
    assert len(seen) == 6
    with History(open_record(path)) as history:
        past = PastWindow(history)
        for t_ns, live in seen:
            past.show_time(t_ns)
            again = past.draw(size, 1.0).toImage().convertToFormat(live.format())
            assert again == live
        past.close()


def _pixels(window: QWidget) -> Any:
    image = window.grab().toImage()
    return image.convertToFormat(image.Format.Format_RGB32)


def test_the_report_shows_every_kind(sessions: list[Path], tmp_path: Path) -> None:
    counted = load(sessions[0].parent)
    page = "".join(map(str, item_sections(counted, "a")))
    answers = counted.answers
    page += "".join(map(str, show_choices(counted.participants, answers, set())))
    page += "".join(map(str, show_texts(counted.participants, answers)))
    page += "".join(map(str, draw_kinds(counted, "b")))
    assert page.count("b-plane-") > 2
    for kind, case in CASES.items():
        for cell in case.cells:
            assert (f"i_{kind}_{cell}" if cell and "" not in case.cells else f"i_{kind}") in page


def test_items_that_are_numbers_are_outcomes_and_covariates(sessions: list[Path]) -> None:
    counted = load(sessions[0].parent)
    outcomes = outcomes_of(counted, read_declaration(counted, "study"))
    assert [each.name for each in outcomes.left_out] == []
    names = [outcome.name for outcome in outcomes.analysed]
    assert names == ["i_slider", "i_ranking_plum", "typed", "rows"]
    ranks = counted.answers[counted.answers["item"] == "i_ranking_plum"]["value"]
    ranking = outcomes.analysed[1]
    assert sorted(ranking.frame["value"]) == sorted(ranks)
    assert ranking.unit == "1-4"
    assert "Plum" in ranking.title


def test_the_preview_shows_every_kind(study: Path, qapp: QApplication) -> None:
    with open_preview(load_study(study), None, None) as preview:
        pages = {place.page: place for place in preview.places if place.pages > 1}
        assert len(pages) == 6
        for place in (pages[1], pages[4], pages[5]):
            preview.show(place)
            shown = preview.window.screen_shown
            assert [view.item.kind for view in shown.pages[place.page].views] == list(CASES)[
                3 * place.page : 3 * place.page + 3
            ]
