"""Quotes are chosen by code and condition, and nobody is quoted who refused."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from labapp.analysis.quotes import Quotes, as_markdown, as_page, as_table, choose_quotes, kind_of
from labapp.analysis.tables import Tables
from labapp.base.errors import TargetExists, UsageError
from tests.analysis.test_coding_counts import tables

MARKS = [
    ("P01", "a/x", "nothing"),
    ("P01", "a/y", "nothing"),
    ("P02", "a/x", "nothing"),
    ("P10", "a/x", "nothing"),
    ("P03", "a/y", "effect"),
]


def placed(made: Tables) -> Tables:
    """With onsets, conditions and words of their own."""
    coded = made.coded.assign(
        onset_s=[10.0 * n for n in range(len(made.coded))],
        onset_working_s=[10.0 * n for n in range(len(made.coded))],
        text=[f"*this* one, number {n}" for n in range(len(made.coded))],
        conditions="colour: red, warm; order: ab",
        solved=True,
    ).astype({"text": "string", "conditions": "string", "solved": "boolean"})
    return Tables.of({**made.small(), "coded": coded}, made.snapshots)


@pytest.fixture
def made() -> Tables:
    return placed(tables(MARKS))


def who(quotes: Quotes) -> list[str]:
    return [str(quote.row["participant"]) for quote in quotes.quotes]


def test_nobody_is_quoted_who_refused_and_that_is_told(made: Tables) -> None:
    quotes = choose_quotes(made)
    assert who(quotes) == ["P03", "P01", "P01", "P10"], "by code, then in the order people count"
    assert quotes.left_out == ("1 mark of participants who did not agree to be quoted.",)


def test_they_are_chosen_by_code_and_column(made: Tables) -> None:
    assert who(choose_quotes(made, ["effect"])) == ["P03"]
    assert who(choose_quotes(made, ["dial:effect"])) == ["P03"]
    assert who(choose_quotes(made, where={"model": "a/y"})) == ["P03", "P01"]
    assert who(choose_quotes(made, where={"condition": "red", "solved": "yes"})) == [
        "P03",
        "P01",
        "P01",
        "P10",
    ]
    assert who(choose_quotes(made, where={"condition": "order=ab", "participant": "P10"})) == [
        "P10"
    ]
    assert who(choose_quotes(made, where={"condition": "blue"})) == []
    with pytest.raises(UsageError, match="nobody"):
        choose_quotes(made, ["nobody"])
    with pytest.raises(UsageError, match="shoe"):
        choose_quotes(made, where={"shoe": "44"})


def test_each_participant_is_quoted_once_before_anybody_twice(made: Tables) -> None:
    quotes = choose_quotes(made, ["nothing"], most=2)
    assert who(quotes) == ["P01", "P10"]
    assert "1 more quote beyond 2 of a code." in quotes.left_out


def test_of_words_that_are_redacted_nothing_is_quoted_but_the_rest_of_a_sentence(
    made: Tables,
) -> None:
    texts = ["[…]", "it is […] here", "[a name]", "all", "of it"]
    coded = made.coded.assign(text=texts).astype({"text": "string"})
    quotes = choose_quotes(Tables.of({**made.small(), "coded": coded}, made.snapshots))
    assert [quote.row["text"] for quote in quotes.quotes] == ["of it", "it is […] here", "all"]
    assert "1 mark on words that are redacted as a whole." in quotes.left_out


def test_words_are_words_in_every_format(made: Tables, tmp_path: Path) -> None:
    coded = made.coded.assign(text="=1+1 <b>*bold*</b>").astype({"text": "string"})
    quotes = choose_quotes(Tables.of({**made.small(), "coded": coded}, made.snapshots), ["effect"])
    assert "> “=1+1 \\<b\\>\\*bold\\*\\</b\\>”" in as_markdown(quotes, tmp_path)
    assert "“=1+1 &lt;b&gt;*bold*&lt;/b&gt;”" in as_page(quotes, tmp_path)
    (row,) = csv.DictReader(as_table(quotes, tmp_path).splitlines())
    assert row["text"] == "'=1+1 <b>*bold*</b>", "no spreadsheet carries it out"
    assert (row["participant"], row["code"], row["model"]) == ("P03", "effect", "a/y")


def test_files_are_never_overwritten(tmp_path: Path) -> None:
    there = tmp_path / "quotes.md"
    there.write_text("mine")
    with pytest.raises(TargetExists, match="exists"):
        kind_of(there)
    with pytest.raises(UsageError, match="ending"):
        kind_of(tmp_path / "quotes.docx")
    assert kind_of(tmp_path / "other.md") is as_markdown
