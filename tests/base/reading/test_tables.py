"""One reader of tables, for whatever a spreadsheet program, R or pandas wrote; and what is no table
is refused with its line."""

from __future__ import annotations

import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base.reading import tables
from labapp.base.reading.tables import TableError, escape_cell

NAMES = ("unit", "größe", "c")
ROWS = (("u1", "ein, zwei", "1.5"), ("u2", "“drei”", ""), ("u3", "zwei\nZeilen", "-2"))
WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")) | st.sampled_from('",;\t\n=-'),
    max_size=8,
)


def written(separator: str = ",", names: tuple[str, ...] = NAMES, rows: object = ROWS) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows(rows)  # type: ignore[arg-type]
    return out.getvalue()


def read(content: bytes, **options: bool) -> list[tuple[str, ...]]:
    table = tables.read(content, **options)  # type: ignore[arg-type]
    return [table.first, *(cells for _, cells in table.rows)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("head", ["", "sep={}\r\n", "SEP={}\n", "\r\n"])
def test_it_is_read_as_any_program_saves_it(encoding: str, separator: str, head: str) -> None:
    text = head.format(separator) + written(separator)
    assert read(text.encode(encoding)) == [NAMES, *ROWS]
    table = tables.read(text.encode(encoding))
    assert table.separator == separator
    assert table.decimal_comma == (separator != ",")
    first = 2 if head else 1
    assert [table.line, *(line for line, _ in table.rows)] == [first + at for at in (0, 1, 2, 3)]


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=6), st.sampled_from(",;\t"))
def test_what_a_writer_of_csv_wrote_comes_back(
    rows: list[tuple[str, str, str]], separator: str
) -> None:
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    sent = [tuple(map(escape_cell, row)) for row in rows]
    composed = [tuple(unicodedata.normalize("NFC", cell) for cell in row) for row in rows]
    assert read(written(separator, ("a", "b", "c"), sent).encode())[1:] == composed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells, and line 1 has 2"),
        ("a,b\n\n1\n", "line 3 has 1 cells, and line 1 has 2"),
        ('a,b\n1,"two\n3,4\n', "line 2 begins a quoted cell that is never closed"),
        ('a,b\n1,"t"wo\n', "line 2 is not CSV"),
        ("", "it is empty"),
        (" , \n\n", "it is empty"),
        ("a\0b", "not text"),
        ("PK\3\4", "workbook"),
    ],
)
def test_what_is_no_table_is_refused(text: str, said: str) -> None:
    with pytest.raises(TableError, match=said) as refused:
        read(text.encode())
    assert refused.value.todo


def test_short_rows_are_padded_where_that_is_asked_for_and_long_ones_never() -> None:
    assert read(b"a,b,c\n1,2\n", padded=True)[1] == ("1", "2", "")
    assert read(b"a,b\n1,2,,\n")[1] == ("1", "2"), "a spreadsheet's empty cells behind the last"
    with pytest.raises(TableError):
        read(b"a,b\n1,2,3\n", padded=True)


def test_columns_are_found_whatever_their_case_and_form() -> None:
    table = tables.read("Tier, CODE ,Gro\u0308ße\n".encode())
    assert table.columns(("tier", "code"), ("text",)) == {"tier": 0, "code": 1, "Größe": 2}
    with pytest.raises(TableError, match="no column onset_s"):
        table.columns(("tier", "onset_s"))
    with pytest.raises(TableError, match="two columns called tier"):
        tables.read(b"tier,Tier\n1,2\n").columns(("tier",))
