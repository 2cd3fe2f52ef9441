"""Talk times and quotes, counted by hand; quotes are chosen by code and condition."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labapp.analysis.coding_section import talk_times
from labapp.analysis.columns import table_columns
from labapp.analysis.quotes import Quotes, as_markdown, as_page, as_table, choose_quotes, kind_of
from labapp.analysis.tables import Tables, frames
from labapp.base.errors import TargetExists, UsageError
from tests.analysis.test_coding_section import tables_coding_counts as tables


def unit(begins: float, ends: float, words: int | None, **more: Any) -> dict[str, Any]:
    return {
        "study": "s",
        "participant": "P01",
        "session": "1",
        "stage": "a",
        "model": "m/x",
        "trial": 0,
        "attempt": 1,
        "conditions": "slow",
        "speaker": "participant",
        "onset_working_s": begins,
        "offset_working_s": ends,
        "n_words": words,
        "sound_lost_s": 0.0,
        **more,
    }


def table(*units: dict[str, Any]) -> pd.DataFrame:
    rows: dict[str, list[dict[str, Any]]] = {"utterances": list(units)}
    every = {name: rows.get(name, []) for name in table_columns() if name != "snapshots"}
    people = pd.DataFrame(columns=["study", "participant", "session"])
    return talk_times(Tables.of(frames(every), people))


def test_units_of_a_question_are_counted() -> None:
    rows = table(
        unit(10.0, 12.0, 5),
        unit(13.0, 17.0, 7),
        unit(13.5, 14.0, 9, speaker="moderator"),
        unit(20.0, 21.0, None),
        unit(21.5, 22.5, 2, text_withheld="redacted"),
        unit(40.0, 42.0, 4, trial=1),
    )
    assert len(rows) == 2
    first = rows.iloc[0]
    assert (first["n_utterances"], first["n_unwritten"], first["n_words"]) == (4, 2, 12)
    assert first["talk_s"] == pytest.approx(8.0)
    assert first["words_per_min"] == pytest.approx(12 / 6 * 60)
    assert first["n_pauses"] == 3
    assert first["pauses_s"] == pytest.approx(1.0 + 3.0 + 0.5)
    assert (first["pause_median_s"], first["pause_longest_s"]) == (1.0, 3.0)
    assert first["conditions"] == "slow"
    assert rows.iloc[1]["words_per_min"] == pytest.approx(120)
    assert pd.isna(rows.iloc[1]["pause_median_s"])


def test_what_overlaps_or_is_of_no_question_is_a_row_without_a_pause() -> None:
    rows = table(
        unit(1.0, 9.0, None, trial=None, attempt=None),
        unit(2.0, 3.0, None, trial=None, attempt=None),
        unit(9.0, 10.0, None, trial=None, attempt=None),
    )
    (row,) = rows.to_dict("records")
    assert (row["n_utterances"], row["n_pauses"], row["n_unwritten"]) == (3, 0, 3)
    assert pd.isna(row["n_words"])
    assert pd.isna(row["words_per_min"])


def test_nobody_spoke() -> None:
    assert table().empty
    assert table(unit(1.0, 2.0, 3, speaker="moderator")).empty


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
    assert quotes.left_out == ("1 mark from participants who did not agree to be quoted.",)


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
    assert "1 more quote beyond the limit of 2 per code." in quotes.left_out


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
