"""Tables of codes that came from other programs and were misread once (tests/cases)."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import ExchangeError
from labapp.coding.exchange.incoming import read, read_translation
from labapp.coding.exchange.model import Utterance

CASES = Path(__file__).resolve().parents[2] / "cases"
NS = 1_000_000_000


def units(path: Path) -> list[tuple[float, float, str]]:
    (arrival,) = read(path).arrivals
    return [(u.t0_ns / NS, u.t1_ns / NS, u.text) for u in arrival.utterances]


@pytest.mark.parametrize(
    ("case", "line"),
    [
        ("csv-row-too-long/c14_7cells.csv", "line 2 has 7 cells"),
        ("csv-row-too-long/c3_extra_cells.csv", "line 2 has 7 cells"),
        ("csv-open-quote/c4_openquote.csv", "line 2 begins a quoted cell that never ends"),
    ],
)
def test_a_row_whose_cells_shifted_is_refused_with_its_line(case: str, line: str) -> None:
    with pytest.raises(ExchangeError, match=line):
        read(CASES / case)


@pytest.mark.parametrize("case", ["c11_caps", "c6_tab", "c7_cp1252"])
def test_a_table_is_read_as_spreadsheet_programs_save_it(case: str) -> None:
    ((begin, end, text),) = units(CASES / "table-encodings" / f"{case}.csv")
    assert (begin, end) == (1.5, 3.25)
    assert text in ("taller", "größer")


@pytest.mark.parametrize("case", ["map_caps", "map_tab"])
def test_so_is_a_map(case: str) -> None:
    translation = read_translation(CASES / "table-encodings" / f"{case}.csv")
    assert translation == {("P07 - words", ""): ("speech: participant", "")}


def test_times_with_decimal_commas_are_read_where_commas_separate_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        "sep=;\r\nTIER;CODE;ONSET_S;OFFSET_S\r\nspeech: participant;;1,5;3,25\r\n".encode("utf-16")
    )
    assert [row[:2] for row in units(path)] == [(1.5, 3.25)]


def test_a_cell_that_a_spreadsheet_would_carry_out_comes_back_as_it_was() -> None:
    texts = [text for _, _, text in units(CASES / "csv-formula/c13_formula.csv")]
    assert texts == ["-5 is too low", "=SUM(A1)"]
    (arrival,) = read(CASES / "csv-formula/c15_formula_mark.csv").arrivals
    assert [u.text for u in arrival.utterances] == ['=HYPERLINK("http://x.example","click")']
    assert [a.memo for a in arrival.annotations] == ["=1+2", "-5 stays"]


def test_names_in_other_scripts_keep_their_letters_composed() -> None:
    (arrival,) = read(CASES / "agree-nfc-nfd/x2_nfd.csv").arrivals
    assert [(a.tier, a.code) for a in arrival.annotations] == [("Gefühl", "fröhlich")]
    assert all(isinstance(u, Utterance) for u in arrival.utterances)
