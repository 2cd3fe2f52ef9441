"""What items of the kinds that are typed, compared or put together take, and which mistakes in
their keys are told, each with its line."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.errors import StudyError
from labapp.study.instruments import Instrument, Item
from labapp.study.instruments.instrument import Score
from labapp.study.instruments.kinds import by_parts
from labapp.study.instruments.kinds.drawing import MOST_POINTS, simplify, strokes_of
from labapp.study.instruments.kinds.number import Number

HEAD = "id: own\nversion: 1\ntitle: Own\nsource: Ours\n"


def item(text: str, head: str = "") -> Item:
    content = f"{HEAD}{head}items:\n  - {{id: a, text: A, {text}}}\n"
    return Instrument.parse(Path("own.yaml"), content.encode()).items[0]


AXES = "across: {low: bad, high: good}, up: {low: calm, high: excited}"
FRUIT = "options: [{id: apple, text: A}, {id: pear, text: P}, {id: plum, text: L}]"


@pytest.mark.parametrize(
    ("keys", "typed", "stored"),
    [
        ("kind: number", "12", 12),
        ("kind: number", " -3 ", -3),
        ("kind: number", "1.5", {"typed": "1.5"}),
        ("kind: number, decimals: 1", "1,5", 1.5),
        ("kind: number, decimals: 1", "1.55", {"typed": "1.55"}),
        ("kind: number, low: 18, high: 99", "17", {"typed": "17"}),
        ("kind: number, low: 18, high: 99", "99", 99),
        ("kind: number", "1e5", {"typed": "1e5"}),
        ("kind: number", "nan", {"typed": "nan"}),
        ("kind: number", "twelve", {"typed": "twelve"}),
        ("kind: date", "2020-02-29", "2020-02-29"),
        ("kind: date", "29.2.2020", "2020-02-29"),
        ("kind: date", "29. 2. 2020", "2020-02-29"),
        ("kind: date", "2019-02-29", {"typed": "2019-02-29"}),
        ("kind: date", "2/3/2020", {"typed": "2/3/2020"}),
        ("kind: date, earliest: 2000-01-01", "1999-12-31", {"typed": "1999-12-31"}),
    ],
)
def test_what_is_typed_is_read_or_kept_as_it_is(keys: str, typed: str, stored: Any) -> None:
    asked = item(f"required: false, {keys}")
    value = asked.check({"typed": typed})
    assert value == stored
    assert asked.check(value) == value
    wrong = isinstance(stored, dict)
    assert asked.answered(value) is not wrong
    assert asked.is_missing(value) is wrong, "what is wrong is put right before one goes on"
    assert asked.cells(value) == {"": None if wrong else stored}
    assert not asked.is_missing(asked.check({"typed": ""}))


@given(st.integers(0, 6), st.floats(-1e6, 1e6))
def test_every_number_within_the_decimals_is_stored_as_it_is(decimals: int, number: float) -> None:
    asked = Number(id="a", kind="number", text="A", decimals=decimals)
    rounded = round(number, decimals) if decimals else int(number)
    assert asked.check(rounded) == rounded
    assert asked.check({"typed": asked.shown(rounded)}) == rounded


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("kind: number", True),
        ("kind: number", float("nan")),
        ("kind: number, high: 5", 7),
        ("kind: date", 20200229),
        (f"kind: ranking, {FRUIT}", {"apple": 2}),
        (f"kind: ranking, {FRUIT}", {"apple": 1, "pear": 1}),
        (f"kind: ranking, {FRUIT}", {"kiwi": 1}),
        (f"kind: best_worst, best: b, worst: w, {FRUIT}", {"best": "apple", "worst": "apple"}),
        (f"kind: best_worst, best: b, worst: w, {FRUIT}", {"best": "kiwi"}),
        (f"kind: best_worst, best: b, worst: w, {FRUIT}", {"first": "apple"}),
        (f"kind: constant_sum, {FRUIT}", {"apple": 101}),
        (f"kind: constant_sum, {FRUIT}", {"apple": -1}),
        (f"kind: constant_sum, {FRUIT}", {"apple": 1.5}),
        ("kind: matrix, points: 5, low: l, high: h, rows: [{id: r, text: R}]", {"r": 6}),
        ("kind: matrix, points: 5, low: l, high: h, rows: [{id: r, text: R}]", {"s": 1}),
        (f"kind: ranking, {FRUIT}", [1, 2]),
        (f"kind: grid, {AXES}", {"x": 10, "y": 1}),
        (f"kind: grid, {AXES}", {"x": 1}),
        (f"kind: grid, {AXES}", {"x": 1, "z": 1}),
        (f"kind: grid, {AXES}", {"x": True, "y": 1}),
        ("kind: drawing, media: a.png", {"strokes": [[[1, 101]]]}),
        ("kind: drawing, media: a.png", {"strokes": [[]]}),
        ("kind: drawing, media: a.png", {"strokes": [[[1, 1]] * 101]}),
        ("kind: drawing, media: a.png", {"strokes": [[[1, 1, 1]]]}),
        ("kind: drawing, media: a.png, strokes: 1", {"strokes": [[[1, 1]], [[2, 2]]]}),
    ],
)
def test_what_is_no_answer_is_refused(keys: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"a:|not a text"):
        item(keys).check(value)


def test_a_drawing_has_few_points_and_its_path_is_read_back() -> None:
    hand = [(x / 10, 50 + 40 * math.sin(x / 60)) for x in range(1000)]
    stroke = simplify(hand)
    assert len(stroke) < 60
    assert stroke[0] == hand[0]
    assert max(min(math.dist(point, near) for near in hand) for point in stroke) < 0.1
    wild = simplify([(50 + 50 * math.sin(n), 50 + 50 * math.cos(n * n)) for n in range(5000)])
    assert len(wild) <= MOST_POINTS
    assert simplify([(3.0, 4.0)]) == ((3.0, 4.0),)
    drawing = item("kind: drawing, media: a.png")
    value = drawing.check({"strokes": [stroke, wild, [[3, 4]]]})
    assert strokes_of(drawing.cells(value)["path"]) == [list(each) for each in value["strokes"]]
    assert not drawing.answered(drawing.check({"strokes": []}))
    assert drawing.cells({"strokes": ()}) == {}


@pytest.mark.parametrize(
    ("keys", "begun", "done"),
    [
        (f"kind: ranking, {FRUIT}", {"apple": 1}, {"apple": 1, "pear": 2, "plum": 3}),
        (f"kind: constant_sum, {FRUIT}", {"apple": 90}, {"apple": 90, "pear": 10}),
        (
            f"kind: best_worst, best: b, worst: w, {FRUIT}",
            {"best": "apple"},
            {"best": "apple", "worst": "plum"},
        ),
        (
            "kind: matrix, points: 5, low: l, high: h, rows: [{id: r, text: R}, {id: s, text: S}]",
            {"r": 1},
            {"r": 1, "s": 5},
        ),
    ],
)
def test_what_was_begun_is_completed_also_where_no_answer_is_required(
    keys: str, begun: Any, done: Any
) -> None:
    asked = item(f"required: false, {keys}")
    assert not asked.is_missing(None)
    assert asked.is_missing(asked.check(begun))
    assert not asked.is_missing(asked.check(done))
    assert not asked.is_missing(asked.check({}))


def test_a_score_counts_sliders_numbers_and_rows() -> None:
    slid = by_parts("s", {"value": 30, "touched": True})
    assert slid == {"s": 30}
    assert by_parts("s", {"value": 30, "touched": False}) == {}
    assert by_parts("m", {"x": 2, "y": 5}, "matrix") == {"m_x": 2, "m_y": 5}
    assert by_parts("c", {"chosen": ("often",)}) == {"c": {"chosen": ("often",)}}
    score = Score(mean=("s", "t"), reverse=("t",), numbers=(0, 100))
    assert score.of(slid | by_parts("t", {"value": 10, "touched": True})) == 60.0
    assert score.of(slid) is None


def test_conditions_name_the_parts_of_an_answer() -> None:
    content = (
        f"{HEAD}items:\n  - {{id: a, kind: ranking, text: A, {FRUIT}}}\n"
        "  - {id: b, kind: written, text: B, only_if: {a_apple: 1}}\n"
    )
    sheet = Instrument.parse(Path("own.yaml"), content.encode())
    first = {"a": {"apple": 1, "pear": 2, "plum": 3}}
    last = {"a": {"pear": 1, "plum": 2, "apple": 3}}
    assert sheet.asked(first, {}).ids == {"a", "b"}
    assert sheet.asked(last, {}).ids == {"a"}
    with pytest.raises(StudyError, match="a_apple is never 4"):
        Instrument.parse(Path("own.yaml"), content.replace("a_apple: 1", "a_apple: 4").encode())


OPTIONS = "options: [{id: x, text: X}, {id: y, text: Y}, {id: z, text: Z}]"
MISTAKES = {
    "kind: number, low: 5, high: 5": "low below high",
    "kind: number, low: five": "low: ",
    "kind: number, decimals: 11": "decimals",
    "kind: number, unti: cm": "did you mean 'unit'",
    "kind: date, earliest: 2020-02-30": "day is out of range",
    "kind: date, earliest: 2020-01-02, latest: 2020-01-01": "earliest before latest",
    "kind: matrix, points: 5, low: l, high: h": "rows: missing",
    "kind: matrix, points: 5, low: l, high: h, rows: []": "rows",
    "kind: matrix, rows: [{id: r, text: R}]": "points",
    "kind: matrix, points: 5, low: l, high: h, rows: [{id: r, text: R}, {id: r, text: S}]": "id",
    "kind: ranking": "options: missing",
    "kind: ranking, options: [{id: x, text: X}]": "options",
    "kind: ranking, options: [{id: x, text: X, alone: true}, {id: y, text: Y}, "
    "{id: z, text: Z}]": "alone",
    f"kind: best_worst, {OPTIONS}": "best: missing",
    f"kind: best_worst, best: most, {OPTIONS}": "worst: missing",
    f"kind: constant_sum, total: 0, {OPTIONS}": "total",
    f"kind: constant_sum, totals: 10, {OPTIONS}": "did you mean 'total'",
    "kind: dropdown, options: [{id: x, text: X}]": "options",
    "kind: dropdown, options: [{id: x, text: X}, {id: y, text: Y, media: a.png}]": "not shown in",
    "kind: matrix, points: 5, low: l, high: h, rows: [{id: r, text: R, media: a.png}]": "of rows",
    "kind: region, options: [{id: x, text: X, area: [0, 0, 1, 1]}, {id: y, text: Y, "
    "area: [0, 0, 1, 1]}]": "media: missing",
    "kind: region, media: a.png, options: [{id: x, text: X, area: [0.5, 0, 0.6, 1]}, "
    "{id: y, text: Y, area: [0, 0, 1, 1]}]": "area within the picture",
    "kind: region, media: a.png, options: [{id: x, text: X}, {id: y, text: Y}]": "area: missing",
    "kind: written, media: {fiel: a.png}": "did you mean 'file'",
    "kind: written, media: {file: a.png, width: 1}": "width",
    f"kind: choice, {OPTIONS}, check: {{right: x, attempt: 2}}": "did you mean 'attempts'",
    f"kind: choice, {OPTIONS}, check: {{right: w}}": "'w' is not an answer to it",
    f"kind: choice, {OPTIONS}, check: {{attempts: 2}}": "right: missing",
    f"kind: choice, {OPTIONS}, check: {{right: x, failed: stop}}": "failed",
    f"kind: choice, {OPTIONS}, required: false, check: {{right: x}}": "must be answered",
    f"kind: ranking, {OPTIONS}, check: {{right: x}}": "give a value for each of: x, y, z",
    f"kind: ranking, {OPTIONS}, check: {{right: {{x: 1, y: 1, z: 2}}}}": "not an answer to it",
    f"kind: ranking, {OPTIONS}, check: {{right: {{x: 1, y: 2}}}}": "it is not complete",
    f"kind: choice, {OPTIONS}, check: {{right: {{x: 1}}}}": "is not an answer to it",
    f"kind: choice, {OPTIONS}, dont_know: [a]": "dont_know",
    f"kind: choice, {OPTIONS}, dont_know: {{de: Nein}}": "in the study's language 'en'",
    "kind: choice, options: [{id: dont_know, text: X}, {id: y, text: Y}], dont_know: No idea": (
        "give it another id"
    ),
    "kind: grid, up: {low: a, high: b}": "across: missing",
    "kind: grid, up: {low: a}, across: {low: a, high: b}": "high: missing",
    f"kind: grid, points: 12, {AXES}": "points",
    f"kind: grid, corners: [a, b], {AXES}": "four texts",
    f"kind: grid, point: 5, {AXES}": "did you mean 'points'",
    "kind: drawing": "media: missing",
    "kind: drawing, media: a.png, strokes: 0": "strokes",
    "kind: drawing, media: a.png, check: {right: 1}": "needs a right answer",
    "kind: number, check: twelve": "is not a possible answer in the form",
}


@pytest.mark.parametrize("keys", MISTAKES)
def test_a_mistake_in_a_key_is_told_with_its_line(keys: str) -> None:
    content = (
        f"{HEAD}items:\n  - {{id: one, kind: written, text: One}}\n  - {{id: a, text: A, {keys}}}\n"
    )
    with pytest.raises(StudyError) as caught:
        Instrument.parse(Path("own.yaml"), content.encode())
    assert {fault.line for fault in caught.value.faults} == {7}
    assert MISTAKES[keys] in str(caught.value)


GUIDE = Path(__file__).resolve().parents[2] / "docs/guide/studies.md"
ROW = re.compile(r"^\| `[a-z_`, ]+` \|.*?`(\{id: .*?\})`", re.MULTILINE)
EXAMPLES = ROW.findall(GUIDE.read_text("utf-8"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_guide_can_be_asked(example: str) -> None:
    example = example.replace("options: …", FRUIT)
    content = f"{HEAD}items:\n  - {example}\n"
    (asked,) = Instrument.parse(Path("own.yaml"), content.encode()).items
    assert asked.parts()


def test_there_are_examples_of_most_kinds() -> None:
    assert len(EXAMPLES) >= 9


def test_all_mistakes_are_told_at_once() -> None:
    lines = [f"  - {{id: a{n}, text: A, {keys}}}" for n, keys in enumerate(MISTAKES)]
    # What can be told of checks and conditions alone needs items that can be read.
    content = HEAD + "items:\n" + "\n".join(lines) + "\n"
    with pytest.raises(StudyError) as caught:
        Instrument.parse(Path("own.yaml"), content.encode())
    told = {fault.line for fault in caught.value.faults}
    assert told == set(range(6, 6 + len(MISTAKES)))


def test_the_ends_of_a_slider_have_words_in_the_codebook() -> None:
    """In the description of its column and, by number, in the list of items."""
    slider = item("kind: slider, high: 10, ends: {low: {en: calm, de: ruhig}, high: excited}")
    assert slider.answer_words() == {"0": "calm", "10": "excited"}
    described = slider.column("after stage 1").description
    assert described == "A (after stage 1; 0 = calm, 10 = excited; empty where nobody touched it)"
    with pytest.raises(StudyError, match=r"ends\.high: missing"):
        item("kind: slider, ends: {low: calm}")


def test_a_slider_without_numbers_needs_words_at_its_ends() -> None:
    assert not item("kind: slider, ends: {low: calm, high: excited}, numbers: false").numbers
    with pytest.raises(StudyError, match="where no numbers are shown"):
        item("kind: slider, numbers: false")
