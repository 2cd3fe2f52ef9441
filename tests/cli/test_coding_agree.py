"""`labapp code agree --table`: one JSON value or a few lines, clear refusals."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.coding.agreement.examples import FLEISS, KRIPPENDORFF, from_counts, from_lines
from tests.helpers.commands import Run


@pytest.fixture
def agree(labapp: Run) -> Run:
    """Runs `labapp code agree …`."""
    return partial(labapp, "code", "agree")


def write(rows: list[list[int | None]] | list[list[int]], name: str = "ratings.csv") -> str:
    lines = ["unit," + ",".join(f"r{at}" for at in range(len(rows[0])))]
    for at, row in enumerate(rows):
        cells = ",".join("" if cell is None else str(cell) for cell in row)
        lines.append(f"u{at},{cells}")
    Path(name).write_text("\n".join(lines) + "\n", "utf-8")
    return name


@pytest.mark.parametrize(
    ("level", "value"),
    [
        ("nominal", 0.743421052631579),
        ("ordinal", 0.8153875037548814),
        ("interval", 0.8491071428571428),
        ("ratio", 0.7974027747116121),
    ],
)
def test_alpha_of_a_table_is_one_json_value(agree: Run, level: str, value: float) -> None:
    name = write(from_lines(KRIPPENDORFF))
    status, out, err = agree("--table", name, "--measure", "alpha", "--level", level, "--json")
    assert (status, err.count("\n")) == (0, 1)
    assert "11 of 12 units" in err
    assert json.loads(out) == {
        "measure": "alpha",
        "level": level,
        "value": pytest.approx(value, abs=1e-12),
        "n_units": 12,
        "n_raters": 4,
        "notes": ["11 of 12 units have two ratings or more; the others cannot be compared."],
    }


def test_fleiss_and_kappa_of_a_table(agree: Run) -> None:
    status, out, err = agree("--table", write(from_counts(FLEISS)), "--measure", "fleiss", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["value"] == pytest.approx(0.20993070442195522, abs=1e-12)
    status, out, err = agree("--table", write([[1, 1], [2, 2], [1, 2]]), "--measure", "kappa")
    assert (status, err) == (0, "")
    assert out.splitlines() == ["Cohen's kappa, nominal: 0.4", "3 units, 2 raters"]


def test_none_has_its_reason(agree: Run) -> None:
    name = write([[1, 1], [1, 1]])
    status, out, _ = agree("--table", name, "--measure", "kappa", "--json")
    assert status == 0
    assert json.loads(out) == {
        "measure": "kappa",
        "level": "nominal",
        "value": None,
        "n_units": 2,
        "n_raters": 2,
        "reason": "all gave “1” only, so that agreement by chance is certain",
    }
    assert "Why: all gave “1” only" in agree("--table", name, "--measure", "kappa")[1]


def test_a_code_that_looks_like_a_missing_rating_is_told(agree: Run) -> None:
    Path("ratings.csv").write_text("unit,a,b\nu1,NA,x\nu2,x,NA\n", "utf-8")
    status, _, err = agree("--table", "ratings.csv")
    assert status == 0
    assert "'NA' stands in 2 cells and counts as a code" in err


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, "Nothing to compare was given"),
        (("--table", "none.csv"), 2, "There is no file none.csv"),
        (("--table", "ratings.csv", "--measure", "pi"), 2, "one of alpha, kappa, fleiss"),
        (("--table", "ratings.csv", "--level", "big"), 2, "one of nominal, ordinal"),
        (("--table", "ratings.csv", "--level", "ratio"), 3, "line 2, column a: “x” is no number"),
        (("--table", "ratings.csv", "--measure", "kappa", "--level", "ratio"), 3, "nominal alone"),
    ],
)
def test_refusals_say_what_to_do(
    agree: Run, arguments: tuple[str, ...], status: int, words: str
) -> None:
    Path("ratings.csv").write_text("unit,a,b\nu1,x,y\n", "utf-8")
    code, out, err = agree(*arguments)
    assert (code, out) == (status, "")
    assert words in err
