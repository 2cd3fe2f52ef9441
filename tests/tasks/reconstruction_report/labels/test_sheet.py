"""The rating sheet: written so that no spreadsheet program changes a name, and read back whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.analysis.analyze import analyze
from labapp.base.errors import RatingError
from labapp.tasks.reconstruction.report.labels.sheet import (
    COLUMNS,
    RATED,
    WORDS,
    LabelledDial,
    LabelledModel,
    Name,
    NamedModels,
    Sheet,
    draw,
    names_in,
    read_ratings,
)
from tests.helpers.nightly import examples
from tests.tasks.reconstruction_report.labels.sheets import filled, rows_of, save

AWKWARD = (
    "a, b; c",
    'say "hi"',
    "two\nlines",
    "=1+1",
    "@cmd",
    "-3",
    "+x",
    "3-5-6",
    "1e5",
    "007",
    "TRUE",
    "“quoted”",
    "thick 🎉👩‍👩‍👧",
    "שלום",
    "e\u0301",
    "'",
    "\t tab",
)
"""What programs take for something else than text, or for the end of a cell."""


def sheet_of(*dials: tuple[str, ...]) -> Sheet:
    """A sheet of dials whose names are of different participants."""
    made = tuple(
        LabelledDial(
            number,
            f"Continuous {number}",
            f"z{number}",
            "mnist",
            tuple(Name(f"P{who}", "1", text, "stage-1") for who, text in enumerate(texts)),
        )
        for number, texts in enumerate(dials, start=1)
    )
    met = frozenset(f"P{who}" for who in range(9))
    return draw(NamedModels((LabelledModel("study", "mnist8k/tc5", met, frozenset(), made),)))[1]


SHEET = sheet_of(("thickness", "thick", "0-1"), ("rotate",), ("ccw", "6-7"))


def test_the_sheet_says_what_is_needed_and_not_who_gave_a_name() -> None:
    header, *rows = rows_of(SHEET)
    assert header == [*COLUMNS, RATED]
    assert [row[1] for row in rows] == ["N001", "N002", "N003", "N004", "N005", "N006"]
    assert {row[0] for row in rows} == {SHEET.id}
    assert not re.search(r"\bP\d\b", SHEET.text())
    of_first = {row[6]: row[7] for row in rows if row[4] == "1"}
    assert set(of_first) == {"'thickness", "'thick", "'0-1"}
    assert sorted(of_first["'thick"].split(", ")) == ["“0-1”", "“thickness”"]


def test_a_name_that_can_agree_with_none_is_answered_already() -> None:
    alone = [row for row in rows_of(SHEET)[1:] if row[7] == ""]
    assert [(row[6], row[8]) for row in alone] == [("'rotate", "no")]


def test_names_of_one_dial_stand_together_in_a_drawn_order() -> None:
    sheet = sheet_of(*(tuple(f"{dial}-{who}" for who in range(6)) for dial in range(8)))
    dials = [line.dial.number for line in sheet.lines]
    runs = [dial for at, dial in enumerate(dials) if at == 0 or dials[at - 1] != dial]
    assert len(runs) == 8  # each dial in one run
    assert runs != sorted(runs)
    orders = {
        dial: [int(line.name.participant[1:]) for line in sheet.lines if line.dial.number == dial]
        for dial in runs
    }
    assert len({tuple(order) for order in orders.values()}) > 1
    assert any(order != sorted(order) for order in orders.values())


def test_the_same_names_give_the_same_sheet_and_others_another() -> None:
    again = sheet_of(("thickness", "thick", "0-1"), ("rotate",), ("ccw", "6-7"))
    assert again.text() == SHEET.text()
    assert sheet_of(("thickness", "thick", "0-2"), ("rotate",), ("ccw", "6-7")).id != SHEET.id


def test_no_cell_of_a_name_begins_like_a_formula_a_number_or_a_date() -> None:
    for row in rows_of(sheet_of(AWKWARD))[1:]:
        assert row[6].startswith("'")
        assert row[7].startswith("“")


def test_it_opens_as_utf_8() -> None:
    assert SHEET.text().encode().startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_names_come_back(tmp_path: Path, text: str) -> None:
    sheet = sheet_of((text, "another"))
    path = save(tmp_path / "a.csv", filled(sheet, lambda name: "no" if name == text else "yes"))
    (rating,) = read_ratings([path], sheet)
    assert {line.name.text: rating.says[line.name.id] for line in sheet.lines} == {
        text: False,
        "another": True,
    }


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).map(
    lambda text: " ".join(text.replace("\0", "").split())
)
"""As a stage takes names: white space is single blanks."""


@settings(
    deadline=None,
    max_examples=examples(60),
)
@given(
    names=st.lists(st.lists(TEXTS.filter(bool), max_size=5), min_size=1, max_size=4),
    delimiter=st.sampled_from(",;\t"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    data=st.data(),
)
def test_a_round_trip_keeps_every_name_and_what_is_said(
    tmp_path: Path, names: list[list[str]], delimiter: str, encoding: str, data: st.DataObject
) -> None:
    sheet = sheet_of(*map(tuple, names))
    given_names = [text for some in names for text in some]
    assert sorted(line.name.text for line in sheet.lines) == sorted(given_names)
    rows = filled(sheet, lambda name: data.draw(st.sampled_from([*WORDS, "YES", " no "])))
    said = {row[1]: WORDS[row[8].strip().casefold()] for row in rows[1:]}
    assert {names_in(row[6])[0] for row in rows[1:]} == set(given_names)
    body = data.draw(st.permutations(rows[1:]))
    path = save(tmp_path / "a.csv", [rows[0], *body], delimiter, encoding)
    (rating,) = read_ratings([path], sheet)
    assert rating.says == said


def test_of_many_names_ids_keep_their_order() -> None:
    sheet = sheet_of(*(tuple(f"{dial} {who}" for who in range(9)) for dial in range(150)))
    ids = [line.name.id for line in sheet.lines]
    assert ids == sorted(ids)
    assert len(set(ids)) == 1350
    assert ids[0] == "N0001"


def refused(path: Path, sheet: Sheet = SHEET) -> str:
    with pytest.raises(RatingError) as error:
        read_ratings([path], sheet)
    assert "No analysis was made" in error.value.safe
    assert error.value.todo
    return str(error.value)


def changed(tmp_path: Path, line: int, column: str, value: str) -> Path:
    """The sheet filled in, with one cell of a line (from 1, the header is 1) changed."""
    rows = filled(SHEET)
    rows[line - 1][rows[0].index(column)] = value
    return save(tmp_path / "a.csv", rows)


def line_of(text: str) -> int:
    return next(at for at, row in enumerate(rows_of(SHEET), 1) if row[6] == f"'{text}")


def test_a_wrong_word_is_named_with_line_and_column(tmp_path: Path) -> None:
    message = refused(changed(tmp_path, 2 if line_of("rotate") != 2 else 3, RATED, "maybe"))
    assert re.search(
        r"a\.csv, line [23], column consistent: found maybe; allowed: yes, no", message
    )


def test_a_cell_left_empty_is_named(tmp_path: Path) -> None:
    at = line_of("ccw")
    message = refused(changed(tmp_path, at, RATED, " "))
    assert f"line {at}, column consistent: found nothing; allowed: yes, no" in message


def test_a_name_that_was_changed_is_named(tmp_path: Path) -> None:
    at = line_of("6-7")
    message = refused(changed(tmp_path, at, "name", "06/07/2026"))
    assert f"line {at}, column name: found 06/07/2026; allowed: '6-7." in message


def test_a_label_of_nothing_is_named(tmp_path: Path) -> None:
    message = refused(changed(tmp_path, 3, "label", "N999"))
    assert (
        "line 3, column label: found N999; allowed: a label of the sheet, N001 to N006" in message
    )


def test_a_label_that_comes_twice_is_named(tmp_path: Path) -> None:
    rows = filled(SHEET)
    message = refused(save(tmp_path / "a.csv", [*rows, rows[1]]))
    assert (
        "line 8, column label: found N001; allowed: each label once; it is already in line 2"
        in message
    )


def test_missing_labels_are_counted_and_named(tmp_path: Path) -> None:
    message = refused(save(tmp_path / "a.csv", filled(SHEET)[:2]))
    assert "column label: 5 names of 6 missing (N002, N003, N004 and 2 more)" in message
    message = refused(save(tmp_path / "b.csv", filled(SHEET)[:-1]))
    assert "1 name of 6 missing (N006)" in message


def test_a_file_of_another_analysis_is_told(tmp_path: Path) -> None:
    other = sheet_of(("thickness", "thin"))
    message = refused(save(tmp_path / "a.csv", filled(other)))
    assert f"line 2, column sheet: found {other.id}; allowed: {SHEET.id}" in message
    assert "a different analysis" in message


def test_yes_for_a_name_that_can_agree_with_none_is_refused(tmp_path: Path) -> None:
    at = line_of("rotate")
    message = refused(changed(tmp_path, at, RATED, "yes"))
    assert f"line {at}, column consistent: found yes; allowed: no." in message


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ([*COLUMNS], "no column consistent"),
        (["sheet", "label", "consistent"], "no column name"),
        ([*COLUMNS, RATED, RATED], "two columns called consistent"),
        (["", ""], "it is empty"),
    ],
)
def test_columns_that_are_missing_or_twice(tmp_path: Path, header: list[str], said: str) -> None:
    message = refused(save(tmp_path / "a.csv", [header]))
    assert said in message
    assert ("line 1" in message) == ("empty" not in said)
    assert ("sheet, label, name, consistent" in message) == ("no column" in said)
    assert "labels_to_rate.csv" in message


def test_a_file_that_is_not_there_or_no_csv(tmp_path: Path) -> None:
    missing = refused(tmp_path / "none.csv")
    assert "none.csv cannot be read: No such file" in missing
    assert "No analysis was made." in missing
    assert "labels_to_rate.csv" in missing
    workbook = tmp_path / "a.xlsx"
    workbook.write_bytes(b"PK\x03\x04 and so on")
    assert "workbook" in refused(workbook)
    (tmp_path / "empty.csv").write_bytes(b"")
    assert "it is empty" in refused(tmp_path / "empty.csv")
    (tmp_path / "open.csv").write_text('sheet,label,name,consistent\n"never closed\n')
    assert "line 2 begins a quoted cell that is never closed" in refused(tmp_path / "open.csv")


def test_a_file_that_is_none_is_refused_before_any_session_is_read(tmp_path: Path) -> None:
    """Reading many sessions takes a while, and they need not hold the name of a dial."""
    (tmp_path / "wrong.csv").write_text("word,another\nyes,no\n")
    for name, said in (
        ("none.csv", "No such file"),
        ("", "it is a folder, not a file"),
        ("wrong.csv", "found: word, another"),
    ):
        with pytest.raises(RatingError, match=said):
            analyze([tmp_path / "no session"], tmp_path / "out", ratings=[tmp_path / name])
    assert not (tmp_path / "out").exists()


def test_lines_are_counted_as_an_editor_counts_them(tmp_path: Path) -> None:
    sheet = sheet_of(("two\nlines", "more"))
    rows = filled(sheet)
    last = rows[2]
    last[8] = "?"
    message = refused(save(tmp_path / "a.csv", rows), sheet)
    before = "\n" in rows[1][6] + rows[1][7]
    lines = 1 + sum(cell.count("\n") for cell in rows[1]) if before else 1
    assert f"line {2 + lines}, column consistent" in message


def test_an_old_encoding_is_read_and_what_it_lost_is_told(tmp_path: Path) -> None:
    sheet = sheet_of(("größer", "wide"))
    path = save(tmp_path / "a.csv", filled(sheet), ";", "cp1252")
    assert set(read_ratings([path], sheet)[0].says.values()) == {True}
    sheet = sheet_of(("wide 🎉", "wide"))
    content = sheet.text().removeprefix("\ufeff").replace("🎉", "?").replace(",\r\n", ",yes\r\n")
    lost = tmp_path / "b.csv"
    lost.write_bytes(content.encode("cp1252"))
    message = refused(lost, sheet)
    assert "found 'wide ?; allowed: 'wide 🎉" in message
    assert "UTF-8" in message


def test_columns_may_be_added_rows_left_empty_and_rows_sorted(tmp_path: Path) -> None:
    header, *rows = filled(SHEET)
    noted = [[*header, "note"], *([*row, "hm"] for row in reversed(rows)), [""] * 10, []]
    assert len(read_ratings([save(tmp_path / "a.csv", noted)], SHEET)[0].says) == 6


def test_a_file_given_twice_is_refused_and_raters_are_told_apart(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", filled(SHEET))
    with pytest.raises(RatingError, match="given twice"):
        read_ratings([path, tmp_path / "." / "a.csv"], SHEET)
    (tmp_path / "second").mkdir()
    other = save(tmp_path / "second" / "a.csv", filled(SHEET))
    assert [one.rater for one in read_ratings([path, other], SHEET)] == ["a", "second/a"]
