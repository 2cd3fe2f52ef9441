"""Nothing is left to `make nightly` without a reason and a quick test that remains."""

from __future__ import annotations

import functools
import re
from collections import Counter

import pytest

from tests.helpers import parts
from tests.helpers.nightly import LIST, ROOT, Entry, entries, kept, left_out


@functools.cache
def functions(file: str) -> frozenset[str]:
    """The test functions of a file, read and not imported."""
    text = (ROOT / file).read_text("utf-8")
    return frozenset(re.findall(r"^ *def (test_\w+)", text, re.MULTILINE))


def test_what_the_list_names_is_there() -> None:
    """A test that is renamed is renamed in the list, too."""
    unknown = [
        f"{entry.file}::{name}"
        for entry in entries()
        for name in entry.tests
        if not (ROOT / entry.file).is_file() or name not in functions(entry.file)
    ]
    assert unknown == [], f"{LIST.name} names tests that are not there"


def test_no_file_and_no_test_is_listed_twice() -> None:
    files = re.findall(r"^(tests/.*):$", LIST.read_text("utf-8"), re.MULTILINE)
    assert len(files) == len({*files}), "of a file that is there twice only the last would count"
    times = Counter(f"{entry.file}::{name}" for entry in entries() for name in entry.tests)
    assert [name for name, count in times.items() if count > 1] == []


def test_of_every_mechanism_a_quick_test_remains() -> None:
    whole = {
        f"{row.file}::{name}"
        for row in entries()
        if not (row.keep or row.leave)
        for name in row.tests
    }
    for entry in entries():
        assert entry.why, entry
        assert entry.tests, entry
        assert entry.keep or entry.leave or entry.stays, f"{entry}: nothing remains"
        for stays in entry.stays:
            name = stays if "::" in stays else f"{entry.file}::{stays}"
            file, _, function = name.partition("::")
            assert (ROOT / file).is_file(), name
            assert function in functions(file), name
            assert name not in whole, f"{name} is to remain and is left to nightly itself"


@pytest.mark.parametrize(
    ("keep", "places"),
    [((), []), (("b",), [1]), (1, [2]), (2, [1, 3]), (5, [0, 1, 2, 3, 4])],
)
def test_cases_are_kept_by_their_ids_or_spread_evenly(
    keep: tuple[str, ...] | int, places: list[int]
) -> None:
    assert sorted(kept(["a", "b", "c", "d", "e"], keep)) == places


def test_a_test_that_is_asked_for_by_name_is_never_left_out() -> None:
    listed = [
        Entry("tests/a.py", ("test_long",), "long", stays=("test_quick",)),
        Entry("tests/a.py", ("test_of_cases",), "long", keep=("y",)),
        Entry("tests/b.py", ("test_with_a_long_case",), "long", leave=("x",)),
    ]
    tests = [
        ("tests/a.py::test_long", ""),
        ("tests/a.py::test_of_cases", "x"),
        ("tests/a.py::test_of_cases", "y"),
        ("tests/b.py::test_long", ""),
        ("tests/b.py::test_with_a_long_case", "x"),
        ("tests/b.py::test_with_a_long_case", "y"),
    ]
    assert left_out(tests, listed) == {0, 1, 4}
    assert left_out(tests, listed, {"tests/a.py::test_long"}) == {1, 4}


def test_a_case_that_is_not_there_is_named() -> None:
    listed = [Entry("tests/a.py", ("test_of_cases",), "long", keep=("z",))]
    with pytest.raises(pytest.UsageError, match=r"test_of_cases has no case \['z'\]"):
        left_out([("tests/a.py::test_of_cases", "x")], listed)


def test_every_file_is_in_one_part() -> None:
    everything = parts.in_order(parts.TESTS)
    cut = parts.parts_of([str(parts.TESTS)], 3)
    assert sorted(path for part in cut for path in part) == sorted(everything)
    assert all(cut)


@pytest.mark.parametrize(
    ("seconds", "count", "expected"),
    [([1, 1, 1, 3], 2, [0, 0, 0, 1]), ([5, 1, 1], 2, [0, 1, 1]), ([1], 3, [1]), ([], 2, [])],
)
def test_parts_take_about_the_same_time(
    seconds: list[float], count: int, expected: list[int]
) -> None:
    assert parts.cut(seconds, count) == expected
