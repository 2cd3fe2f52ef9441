"""Tables of ratings that came from other programs and were misread once (tests/cases)."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import AgreementError, MetricError
from labapp.coding.agreement.coefficients import TableMeasure, agree, read_table
from labapp.models.metrics.evaluation import scores

CASES = Path(__file__).resolve().parents[2] / "cases"


def value(path: Path, measure: TableMeasure = "kappa") -> float | None:
    return agree(read_table(path), measure, "nominal").value


def saved(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "ratings.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "text",
    [
        "unit,r1,r2\nu1,1,01\nu2,2,02\nu3,1,1\n",
        "unit;r1;r2\nu1;1;1,0\nu2;2;2,0\nu3;1;1\n",
        "unit,r1,r2\nu1,1,1e0\nu2,2,+2\nu3,1,1.\n",
    ],
)
def test_one_number_is_one_category_however_it_is_written(tmp_path: Path, text: str) -> None:
    assert value(saved(tmp_path, text)) == 1.0
    assert value(CASES / "agree-number-forms/a1_float_upcast.csv", "alpha") == 1.0


def test_composed_and_decomposed_letters_are_the_same(tmp_path: Path) -> None:
    assert value(CASES / "agree-nfc-nfd/a28_nfd.csv") == 1.0
    hangul = "unit,a,b\n1,\uac00,\u1100\u1161\n2,x,x\n"
    assert value(saved(tmp_path, hangul)) == 1.0


def test_the_line_in_which_excel_names_the_separator_is_no_header(tmp_path: Path) -> None:
    assert read_table(CASES / "agree-excel-sep/a12_sep.csv").raters == ("r1", "r2")
    tabs = saved(tmp_path, "sep=\t\r\nunit\tr1\tr2\r\nu1\t1\t1\r\n", "utf-16")
    assert read_table(tabs).raters == ("r1", "r2")


def test_categories_that_differ_in_capital_letters_alone_are_named(tmp_path: Path) -> None:
    table = read_table(CASES / "agree-case/a2_case.csv")
    assert table.differing_in_case == (("Yes", "yes"), ("No", "no"))
    assert read_table(saved(tmp_path, "unit,a,b\n1,Ä,ä\n2,b,c\n")).differing_in_case == (
        ("Ä", "ä"),
    )


def test_a_table_without_a_line_of_names_is_told(tmp_path: Path) -> None:
    (note,) = read_table(CASES / "agree-no-header/a29_noheader2.csv").notes
    assert "1, 2" in note
    assert read_table(saved(tmp_path, "u1,yes,no\nu2,yes,no\nu3,no,no\n")).notes
    assert not read_table(saved(tmp_path, "unit,anna,ben\nu1,yes,no\nu2,no,no\n")).notes


def test_an_index_before_the_unit_is_no_rater(tmp_path: Path) -> None:
    table = read_table(CASES / "index-column/a21_idx.csv")
    assert table.raters == ("r1", "r2")
    assert "left out" in table.notes[0]
    assert value(table.path, "alpha") == pytest.approx(0.5333, abs=1e-4)
    unit_itself = read_table(saved(tmp_path, ",r1,r2\n0,1,1\n1,2,1\n2,2,2\n"))
    assert unit_itself.raters == ("r1", "r2")
    from_r = read_table(saved(tmp_path, '"","unit","r1","r2"\n"1","a",1,1\n"2","b",2,1\n'))
    assert from_r.raters == ("r1", "r2")


@pytest.mark.parametrize("names", ["unit,rater,code", "Item,Coder,Value", "id,annotator,label"])
def test_a_line_a_rating_is_turned_into_a_line_a_unit(tmp_path: Path, names: str) -> None:
    long = "".join(f"u{u},{r},{(u * (r == 'a')) % 2}\n" for u in range(4) for r in "ab")
    table = read_table(saved(tmp_path, f"{names}\n{long}"))
    assert table.raters == ("a", "b")
    assert table.cells == (("0", "0"), ("1", "0"), ("0", "0"), ("1", "0"))
    with pytest.raises(AgreementError, match="a second rating"):
        read_table(saved(tmp_path, f"{names}\n{long}u0,a,1\n"))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_an_index_is_no_code_to_measure(tmp_path: Path, first: int, separator: str) -> None:
    rows = [["", "z1", "z2"], *([str(first + n), f"{n}.5", f"{n % 2}"] for n in range(5))]
    path = saved(tmp_path, "\n".join(separator.join(row) for row in rows))
    with pytest.raises(MetricError, match="first column has no name and counts the rows"):
        scores.read(path, "c")
    rows[1][0] = "7"
    path.write_text("\n".join(separator.join(row) for row in rows))
    assert scores.read(path, "c").names == ("c1", "z1", "z2")
