"""Which faults tests/mutants.py puts into a function, and how it finds them again."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.helpers.marking.labapp_marks import functions
from tests.mutants import Mutant, broken, faults, follow, mutated, read, write

SOURCE = '''"""Module."""

def chosen(a: "1", b=2):
    """Nothing of this."""
    log(a,
        b)
    if a < b and not "ä" in b: return a * 3, f"{a + 1}"
    def inner(): return a == b
    return a < b
'''
PLACE = ("labapp/wing/module.py", "chosen")


def test_every_fault_changes_its_place_alone() -> None:
    expected = [
        ("log(a,\n        b)", "pass"),
        ("log(a,\n        b)", "(log(b, a))"),
        ('a < b and not "ä" in b', "(a < b or not 'ä' in b)"),
        ("if a < b", "if (a <= b)"),
        ('not "ä" in b', "('ä' in b)"),
        ('"ä" in b', "('ä' not in b)"),
        ('return a * 3, f"{a + 1}"', "return None"),
        ("a * 3", "(a / 3)"),
        ("3", "(4)"),
        ("return a < b", "return None"),
        ("return a < b", "return (a <= b)"),
    ]
    function = dict(functions(ast.parse(SOURCE)))["chosen"]
    found = [mutated(row, SOURCE.encode()).decode() for row, _ in faults(*PLACE, function)]
    assert sorted(found) == sorted(SOURCE.replace(*change, 1) for change in expected)
    for text in found:
        compile(text, "module", "exec")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "labapp/wing").mkdir(parents=True)
    (tmp_path / "labapp/wing/other.py").write_text(SOURCE)
    (tmp_path / "labapp/wing/renamed.py").write_text(SOURCE.replace("chosen", "taken"))
    return tmp_path


MUTANT = Mutant(*PLACE, "comparison", "a < b", "a <= b", 1)


@pytest.mark.parametrize(
    ("moved", "expected"),
    [
        ({}, ("labapp/wing/other.py", "chosen")),
        ({PLACE[0]: "labapp/wing/other.py"}, ("labapp/wing/other.py", "chosen")),
        ({"::".join(PLACE): "labapp/wing/renamed.py::taken"}, ("labapp/wing/renamed.py", "taken")),
        ({"::".join(PLACE): None}, None),
    ],
)
def test_a_mutant_is_followed(
    tree: Path, moved: dict[str, str | None], expected: tuple[str, str] | None
) -> None:
    """To the one module that has the function, or to where the map says it is."""
    found = follow(MUTANT, moved, tree)
    assert (found and (found.module, found.function)) == expected


def test_a_mutant_is_not_taken_for_another(tree: Path) -> None:
    other = Mutant(*PLACE, "comparison", "a < c", "a <= c")
    assert follow(other, {}, tree) is None
    (tree / "labapp/wing/third.py").write_text(SOURCE)
    assert follow(MUTANT, {}, tree) is None


def of(first: str, now: str) -> Mutant:
    return Mutant(*PLACE, "constant", "1", "2", first=first, now=now)


def test_what_was_killed_may_not_survive() -> None:
    assert broken([of("test", "test"), of("survived", "survived"), of("survived", "test")]) == []
    assert len(broken([of("nightly", "survived"), of("test", "survived")])) == 2


def test_few_may_be_left_to_the_night() -> None:
    quick = [of("test", "test")] * 19
    assert broken([*quick, of("test", "nightly")]) == []
    assert len(broken([*quick, of("test", "nightly"), of("test", "nightly")])) == 1


def test_the_table_keeps_to_the_rule(tmp_path: Path) -> None:
    moved, mutants = read()
    assert broken(mutants) == []
    assert [row for row in mutants if row.now == "survived" and not row.why] == []
    write(moved, mutants, tmp_path / "table.json")
    assert read(tmp_path / "table.json") == (moved, mutants)
