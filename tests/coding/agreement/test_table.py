"""Tables of ratings as spreadsheet programs save them, or a clear refusal."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from labapp.base.errors import AgreementError
from labapp.coding.agreement.coefficients import Level, agree, read_table
from tests.coding.agreement.examples import KRIPPENDORFF, from_lines

LINES = [
    "unit,A,B,C,D",
    *(
        f"u{at},{','.join('' if cell is None else str(cell) for cell in row)}"
        for at, row in enumerate(from_lines(KRIPPENDORFF), 1)
    ),
]
TEXT = "\n".join(LINES) + "\n"


def saved(folder: Path, content: str | bytes) -> Path:
    path = folder / "ratings.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        TEXT.replace(",", ";").encode(),
        TEXT.replace(",", "\t").encode("utf-16"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("unit", "Einheit – ä").encode("cp1252"),
        TEXT.replace("\n", ",,\n").encode(),
        f"\n{TEXT}\n\n".encode(),
        TEXT.replace("1", "1.0").encode(),
        TEXT.replace(",", ";").replace("1", "1,0").encode(),
    ],
)
def test_whatever_a_program_made_of_it(tmp_path: Path, content: bytes) -> None:
    table = read_table(saved(tmp_path, content))
    assert len(table.raters) == 4
    result = agree(table, "alpha", "interval")
    assert result.value == pytest.approx(0.8491071428571428, abs=1e-12)
    assert (result.n_units, result.n_comparable, result.n_raters) == (12, 11, 4)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("unit,A,B\n", "no unit below"),
        ("unit,A\nu1,x\n", "one rater only"),
        ("unit\nu1\n", "no column of a rater"),
        ("unit,A,B\nu1,x,y\nu2,x\n", "line 3 has 2 cells, and line 1 has 3"),
        ("unit,A,B\nu1,x,y,z\n", "line 2 has 4 cells, and line 1 has 3"),
        ("unit,A,A\nu1,x,y\n", "two columns are called “A”"),
        ("unit,A,,B\nu1,x,y,z\n", "column 3 has no name"),
        ("unit,A,B\nu1,x,y\nu1,y,x\n", "“u1” is in line 2 and in line 3"),
        ("unit,A,B\n,x,y\n", "line 2 names no unit"),
        ('unit,A,B\nu1,"x,y\n', "line 2 begins a quoted cell that never ends"),
        (b"PK\3\4", "a workbook of a spreadsheet program"),
        (TEXT.encode("utf-16-le"), "not text in UTF-8"),
        (b"unit,A,B\nu1,\x81,\x8d\n", "not text in UTF-8"),
        (b"\xff\xfex", "not text in UTF-8"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: str | bytes, words: str) -> None:
    path = saved(tmp_path, content)
    with pytest.raises(AgreementError) as refused:
        read_table(path)
    assert words in refused.value.what
    assert str(path) in refused.value.what
    assert refused.value.todo


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AgreementError, match="no such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(AgreementError, match="a folder"):
        read_table(tmp_path)


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
@pytest.mark.parametrize("cell", ["x", "NA", "nan", "inf", "1e999", '"1,5"', "1_0", "٣"])
def test_what_is_no_number_is_refused_where_numbers_are_needed(
    tmp_path: Path, level: Level, cell: str
) -> None:
    table = read_table(saved(tmp_path, f"unit,A,B\nu1,1,2\nu2,{cell},3\n"))
    with pytest.raises(AgreementError, match=r"line 3, column A: .* is no number"):
        agree(table, "alpha", level)
    assert agree(table, "alpha", "nominal").value is not None


def test_a_ratio_below_zero_is_refused(tmp_path: Path) -> None:
    table = read_table(saved(tmp_path, "unit,A,B\nu1,1,2\nu2,-1,3\n"))
    with pytest.raises(AgreementError, match=r"line 3, column A: .*below zero"):
        agree(table, "alpha", "ratio")
    assert agree(table, "alpha", "interval").value is not None


@pytest.mark.parametrize("measure", ["kappa", "fleiss"])
@pytest.mark.parametrize("level", get_args(Level)[1:])
def test_a_kappa_knows_codes_alone(tmp_path: Path, measure: str, level: Level) -> None:
    table = read_table(saved(tmp_path, TEXT))
    with pytest.raises(AgreementError, match="nominal alone"):
        agree(table, measure, level)  # type: ignore[arg-type]


def test_codes_that_look_like_missing_ratings_are_counted(tmp_path: Path) -> None:
    table = read_table(saved(tmp_path, "unit,A,B\nu1,NA,x\nu2,x,NA\nu3,x,.\n"))
    assert table.doubtful == {"NA": 2, ".": 1}


def test_texts_that_a_spreadsheet_would_carry_out_come_back(tmp_path: Path) -> None:
    table = read_table(saved(tmp_path, "unit,A,B\nu1,'=x,=x\nu2,y,y\n"))
    assert agree(table, "kappa", "nominal").value == 1
