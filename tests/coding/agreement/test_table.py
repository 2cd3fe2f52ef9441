"""Tables of ratings, the measures asked of them, and why there is no interval."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from labapp.base.errors import AgreementError, MetricError
from labapp.coding.agreement.coefficients import (
    CohenKappa,
    FleissKappa,
    GwetAC1,
    Intraclass,
    Level,
    TableMeasure,
    agree,
    alpha_for,
    read_table,
)
from labapp.coding.agreement.measure import (
    DRAWS,
    SEED,
    Measure,
    Ratings,
    category_text,
    coefficient,
    ratings_of,
    resample,
)
from labapp.models.metrics.evaluation import scores
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
        ("unit,A,B\n", "no units below"),
        ("unit,A\nu1,x\n", "only one rater"),
        ("unit\nu1\n", "no column for a rater"),
        ("unit,A,B\nu1,x,y\nu2,x\n", "line 3 has 2 cells, and line 1 has 3"),
        ("unit,A,B\nu1,x,y,z\n", "line 2 has 4 cells, and line 1 has 3"),
        ("unit,A,A\nu1,x,y\n", "two columns are called “A”"),
        ("unit,A,,B\nu1,x,y,z\n", "column 3 has no name"),
        ("unit,A,B\nu1,x,y\nu1,y,x\n", "“u1” is in line 2 and in line 3"),
        ("unit,A,B\n,x,y\n", "line 2 does not name a unit"),
        ('unit,A,B\nu1,"x,y\n', "line 2 begins a quoted cell that is never closed"),
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
    with pytest.raises(AgreementError, match=r"line 3, column A: .* is not a number"):
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
    with pytest.raises(AgreementError, match="only with the level nominal"):
        agree(table, measure, level)  # type: ignore[arg-type]


def test_codes_that_look_like_missing_ratings_are_counted(tmp_path: Path) -> None:
    table = read_table(saved(tmp_path, "unit,A,B\nu1,NA,x\nu2,x,NA\nu3,x,.\n"))
    assert table.doubtful == {"NA": 2, ".": 1}


def test_texts_that_a_spreadsheet_would_carry_out_come_back(tmp_path: Path) -> None:
    table = read_table(saved(tmp_path, "unit,A,B\nu1,'=x,=x\nu2,y,y\n"))
    assert agree(table, "kappa", "nominal").value == 1


CASES = Path(__file__).resolve().parents[2] / "cases"


def value(path: Path, measure: TableMeasure = "kappa") -> float | None:
    return agree(read_table(path), measure, "nominal").value


def saved_table(folder: Path, text: str, encoding: str = "utf-8") -> Path:
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
    assert value(saved_table(tmp_path, text)) == 1.0
    assert value(CASES / "agree-number-forms/a1_float_upcast.csv", "alpha") == 1.0


def test_composed_and_decomposed_letters_are_the_same(tmp_path: Path) -> None:
    assert value(CASES / "agree-nfc-nfd/a28_nfd.csv") == 1.0
    hangul = "unit,a,b\n1,\uac00,\u1100\u1161\n2,x,x\n"
    assert value(saved_table(tmp_path, hangul)) == 1.0


def test_the_line_in_which_excel_names_the_separator_is_no_header(tmp_path: Path) -> None:
    assert read_table(CASES / "agree-excel-sep/a12_sep.csv").raters == ("r1", "r2")
    tabs = saved_table(tmp_path, "sep=\t\r\nunit\tr1\tr2\r\nu1\t1\t1\r\n", "utf-16")
    assert read_table(tabs).raters == ("r1", "r2")


def test_categories_that_differ_in_capital_letters_alone_are_named(tmp_path: Path) -> None:
    table = read_table(CASES / "agree-case/a2_case.csv")
    assert table.differing_in_case == (("Yes", "yes"), ("No", "no"))
    assert read_table(saved_table(tmp_path, "unit,a,b\n1,Ä,ä\n2,b,c\n")).differing_in_case == (
        ("Ä", "ä"),
    )


def test_a_table_without_a_line_of_names_is_told(tmp_path: Path) -> None:
    (note,) = read_table(CASES / "agree-no-header/a29_noheader2.csv").notes
    assert "1, 2" in note
    assert read_table(saved_table(tmp_path, "u1,yes,no\nu2,yes,no\nu3,no,no\n")).notes
    assert not read_table(saved_table(tmp_path, "unit,anna,ben\nu1,yes,no\nu2,no,no\n")).notes


def test_an_index_before_the_unit_is_no_rater(tmp_path: Path) -> None:
    table = read_table(CASES / "index-column/a21_idx.csv")
    assert table.raters == ("r1", "r2")
    assert "left out" in table.notes[0]
    assert value(table.path, "alpha") == pytest.approx(0.5333, abs=1e-4)
    unit_itself = read_table(saved_table(tmp_path, ",r1,r2\n0,1,1\n1,2,1\n2,2,2\n"))
    assert unit_itself.raters == ("r1", "r2")
    from_r = read_table(saved_table(tmp_path, '"","unit","r1","r2"\n"1","a",1,1\n"2","b",2,1\n'))
    assert from_r.raters == ("r1", "r2")


@pytest.mark.parametrize("names", ["unit,rater,code", "Item,Coder,Value", "id,annotator,label"])
def test_a_line_a_rating_is_turned_into_a_line_a_unit(tmp_path: Path, names: str) -> None:
    long = "".join(f"u{u},{r},{(u * (r == 'a')) % 2}\n" for u in range(4) for r in "ab")
    table = read_table(saved_table(tmp_path, f"{names}\n{long}"))
    assert table.raters == ("a", "b")
    assert table.cells == (("0", "0"), ("1", "0"), ("0", "0"), ("1", "0"))
    with pytest.raises(AgreementError, match="a second rating"):
        read_table(saved_table(tmp_path, f"{names}\n{long}u0,a,1\n"))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_an_index_is_no_code_to_measure(tmp_path: Path, first: int, separator: str) -> None:
    rows = [["", "z1", "z2"], *([str(first + n), f"{n}.5", f"{n % 2}"] for n in range(5))]
    path = saved_table(tmp_path, "\n".join(separator.join(row) for row in rows))
    with pytest.raises(MetricError, match="first column has no name and only numbers the rows"):
        scores.read(path, "c")
    rows[1][0] = "7"
    path.write_text("\n".join(separator.join(row) for row in rows))
    assert scores.read(path, "c").names == ("c1", "z1", "z2")


def coded(participants: int, units: int, seed: int = 1) -> Ratings:
    rng = np.random.default_rng(seed)
    first = rng.integers(1, 4, participants * units)
    second = np.where(rng.random(first.size) < 0.7, first, rng.integers(1, 4, first.size))
    clusters = np.repeat(np.arange(participants), units)
    return ratings_of(np.stack([first, second], 1).tolist(), clusters=clusters.tolist())


@pytest.mark.parametrize("participants", [1, 9])
def test_few_participants_have_no_interval(participants: int) -> None:
    result = coefficient(CohenKappa(), coded(participants, 20), interval=True)
    assert result.value is not None
    assert (result.interval.low, result.interval.clusters) == (None, participants)
    assert "too few" in result.interval.reason
    assert f"{participants} participant" in result.interval.reason


def test_ten_participants_have_one_and_it_is_always_the_same() -> None:
    result = coefficient(CohenKappa(), coded(10, 20), interval=True)
    assert result.value is not None
    assert result.interval.low is not None
    assert result.interval.high is not None
    assert result.interval.low < result.value < result.interval.high
    assert result == coefficient(CohenKappa(), coded(10, 20), interval=True)


def test_each_draw_is_the_coefficient_of_the_sessions_drawn() -> None:
    ratings = coded(12, 5)
    measures: list[Measure] = [CohenKappa(), FleissKappa(), GwetAC1(), Intraclass()]
    measures += [alpha_for(ratings, level) for level in ("nominal", "ordinal", "interval", "ratio")]
    times = np.random.Generator(np.random.PCG64(SEED)).multinomial(12, [1 / 12] * 12, DRAWS)
    for measure in measures:
        drawn = resample(measure, measure.sums(ratings), np.full(12, 1 / 12), 12, DRAWS, SEED)
        assert drawn.shape == (DRAWS,)
        for at in range(0, DRAWS, 199):
            sessions = np.repeat(np.arange(12), times[at])
            rows = np.concatenate([np.flatnonzero(ratings.clusters == s) for s in sessions])
            alone = np.arange(len(rows))
            again = Ratings(ratings.codes[rows], ratings.categories, alone, alone)
            assert drawn[at] == pytest.approx(coefficient(measure, again).value, abs=1e-9)


def test_sessions_that_hang_together_widen_the_interval() -> None:
    """Ten sessions in which both raters agree on all or on nothing: a unit more says nothing."""
    rows = [[s % 2 + 1, 2 if s % 4 < 2 else s % 2 + 1] for s in range(20) for _ in range(30)]
    clusters = [s for s in range(20) for _ in range(30)]
    wide = coefficient(CohenKappa(), ratings_of(rows, clusters=clusters), interval=True).interval
    narrow = coefficient(CohenKappa(), ratings_of(rows), interval=True).interval
    assert wide.high is not None
    assert wide.low is not None
    assert narrow.high is not None
    assert narrow.low is not None
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)


def test_no_interval_where_most_draws_have_no_value() -> None:
    rows = [["a", "a"]] * 11 + [["b", "b"]]
    result = coefficient(CohenKappa(), ratings_of(rows), interval=True)
    assert result.value == 1
    # A draw without the twelfth unit: (11 / 12) ** 12 of them, a third.
    assert result.interval.undefined == pytest.approx(DRAWS * (11 / 12) ** 12, rel=0.1)
    clusters = [*range(11), 11]
    rows = [["a", "a"], *[["a", None]] * 10, ["b", "b"]]
    result = coefficient(CohenKappa(), ratings_of(rows, clusters=clusters), interval=True)
    assert result.interval.low is None
    assert "most bootstrap draws" in result.interval.reason


def test_json_has_a_reason_where_there_is_no_value() -> None:
    assert coefficient(CohenKappa(), ratings_of([["a", "b"], ["b", "b"]])).to_json() == {
        "measure": "Cohen's kappa",
        "level": "nominal",
        "value": 0.0,
        "n_units": 2,
        "n_raters": 2,
    }
    assert coefficient(CohenKappa(), ratings_of([["a", "a"]])).to_json()["reason"]


def test_a_category_is_named_in_a_sentence() -> None:
    sets = (frozenset(), frozenset({"goal"}), frozenset({"goal", "aim"}))
    assert [category_text(category) for category in (*sets, "aim", 3.0)] == [
        "no code", "“goal”", "“aim” and “goal”", "“aim”", "3",
    ]  # fmt: skip
