"""A rater's marks: exclusive tiers, taking back, rounds; all by random work, and read again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base.errors import AnnotationError
from labapp.coding.annotations.codebook import Codebook, find_outdated_marks, parse
from labapp.coding.annotations.ledger import lock_file, merge_lines, read
from labapp.coding.annotations.marks import MarksFile, MarksFold
from labapp.coding.annotations.model import Mark, Round, Segmentation, Unit
from tests.helpers.nightly import examples

BOOK: Codebook = parse(
    b"""
codebook: small
version: 1
tiers:
  act: {exclusive: true, on: units}
  topic: {on: units, values: [1, 2]}
  phase: {exclusive: true, on: spans}
  mood: {on: spans}
codes:
  - {id: a, tier: act, name: A}
  - {id: b, tier: act, name: B}
  - {id: t, tier: topic, name: T}
  - {id: p, tier: phase, name: P}
  - {id: q, tier: phase, name: Q, kind: point}
  - {id: m, tier: mood, name: M}
  - {id: old, tier: mood, name: Old, retired: nobody gave it}
""",
    Path("small.yaml"),
)
UNITS = Segmentation(tuple(Unit(f"u{n}", n * 10, n * 10 + 8) for n in range(4)), frozen=True)
NAMES = st.sampled_from([unit.id for unit in UNITS.units])
TIMES = st.integers(0, 30)

Act = Callable[[MarksFile], object]


def opened(
    path: Path,
    round: Round = "independent",  # noqa: A002
    units: Segmentation = UNITS,
) -> MarksFile:
    """Anna's file."""
    return MarksFile(
        path, "anna", BOOK, blind=(), round=round, segmentation=units, fold=MarksFold()
    )


def span(code: str, begin: int, length: int) -> Act:
    return lambda file: file.give(code, t0_ns=begin, t1_ns=begin + length)


def removing(place: int) -> Act:
    def act(file: MarksFile) -> None:
        if file.marks:
            file.remove(file.marks[place % len(file.marks)].id)

    return act


WORK: st.SearchStrategy[Act] = st.one_of(
    st.builds(lambda c, u: lambda file: file.give(c, unit=u), st.sampled_from("ab"), NAMES),
    st.builds(lambda u, v: lambda file: file.give("t", unit=u, value=v), NAMES, st.integers(1, 2)),
    st.builds(span, st.sampled_from("pm"), TIMES, st.integers(1, 12)),
    st.builds(span, st.just("q"), TIMES, st.just(0)),
    st.builds(removing, st.integers(0, 20)),
    st.just(lambda file: file.undo()),
    st.just(lambda file: file.redo()),
)


def alone(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """The marks without the times at which they were given."""
    from dataclasses import replace

    return tuple(replace(mark, utc="") for mark in marks)


@settings(max_examples=examples(60))
@given(st.lists(WORK, max_size=25))
def test_any_work_is_read_again_and_can_be_taken_back(work: list[Act]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "anna.jsonl"
        states: list[tuple[Mark, ...]] = []
        with opened(path) as file:
            for act in work:
                act(file)
                states.append(file.marks)
                for first, second in combinations(file.marks, 2):
                    if first.tier == second.tier and BOOK.tier(first.tier).exclusive:  # type: ignore[union-attr]
                        assert first.unit != second.unit or first.unit is None
                        if first.t0_ns < first.t1_ns and second.t0_ns < second.t1_ns:
                            assert first.t1_ns <= second.t0_ns or second.t1_ns <= first.t0_ns
            last = file.marks
        with opened(path) as again:
            assert again.marks == last, "the file says the same"
        with opened(path) as file:
            before = alone(file.marks)
            count = len(read(path).lines)
            done = [file.give("a", unit="u0"), file.give("p", t0_ns=0, t1_ns=40)]
            middle = alone(file.marks)
            assert len(done) == 2
            while file.undo():
                pass
            assert alone(file.marks) == before, "everything is as it was"
            while file.redo():
                pass
            assert alone(file.marks) == middle, "and is there again"
        assert len(read(path).lines) > count, "taking back only ever adds lines"


def test_a_code_on_an_exclusive_tier_takes_the_place_of_the_other(tmp_path: Path) -> None:
    with opened(tmp_path / "anna.jsonl") as file:
        file.give("a", unit="u0")
        second = file.give("b", unit="u0")
        assert file.marks == (second,)
        assert file.undo()
        assert [mark.code for mark in file.marks] == ["a"]


def test_marks_of_a_unit_that_was_split_go_with_the_last_unit_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "anna.jsonl"
    with opened(path) as file:
        before = [file.give("a", unit="u1"), file.give("t", unit="u1", value=2)]
        other = file.give("b", unit="u2")
    halves = (Unit("h1", 10, 14), Unit("h2", 14, 18))
    units = Segmentation((*UNITS.units[:1], *halves, *UNITS.units[2:]), frozen=True)
    outdated = find_outdated_marks([*before, other], BOOK, {BOOK.sha256: BOOK}, units.units)
    assert [(old.mark, old.units, old.suggestions) for old in outdated] == [
        (before[0], ("h1", "h2"), ("a",)),
        (before[1], ("h1", "h2"), ("t",)),
    ]
    with opened(path, units=units) as file:
        ids = {mark.id for mark in file.marks}
        file.give("b", unit="h1")
        assert ids < {mark.id for mark in file.marks}
        file.give("a", unit="h2")
        assert file.get(before[0].id) is None
        assert file.get(before[1].id) == before[1]
        assert file.undo()
        assert before[0].id in {mark.id for mark in file.marks}
        assert file.redo()
        assert before[0].id not in {mark.id for mark in file.marks}
        assert file.get(other.id) == other


def test_a_span_cuts_another_one_short(tmp_path: Path) -> None:
    with opened(tmp_path / "anna.jsonl") as file:
        long = file.give("p", t0_ns=0, t1_ns=100)
        file.give("p", t0_ns=40, t1_ns=60)
        spans = [(mark.t0_ns, mark.t1_ns) for mark in file.marks]
        assert spans == [(0, 40), (40, 60), (60, 100)]
        file.undo()
        assert alone(file.marks) == alone((long,))


def test_what_was_taken_back_stays_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "anna.jsonl"
    with opened(path) as file:
        mark = file.give("m", t0_ns=0, t1_ns=5)
        file.undo()
        file.redo()
        file.remove(mark.id)
    kinds = [(line.kind, line.body.get("why", "")) for line in read(path).lines]
    assert kinds == [
        ("mark.put", ""),
        ("mark.removed", "undo"),
        ("mark.put", "redo"),
        ("mark.removed", ""),
    ]


def test_a_retired_code_is_not_given(tmp_path: Path) -> None:
    with opened(tmp_path / "anna.jsonl") as file:
        with pytest.raises(AnnotationError, match=r"no longer used \(nobody gave it\)"):
            file.give("old", t0_ns=0, t1_ns=5)
        with pytest.raises(AnnotationError, match="has no mark"):
            file.remove("nothing")


def test_a_locked_round_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "anna.jsonl"
    with opened(path) as file:
        mark = file.give("a", unit="u0")
        file.set_status("done")
        file.set_status("locked")
        for act in (
            lambda: file.give("b", unit="u0"),
            lambda: file.remove(mark.id),
            lambda: file.set_status("draft"),
        ):
            with pytest.raises(AnnotationError, match="round independent are locked"):
                act()
        assert not file.undo(), "what was locked is not taken back"
    with opened(path, "reconciled") as file:
        assert file.status == "draft"
        with pytest.raises(AnnotationError, match="round independent are locked"):
            file.remove(mark.id)
        file.give("b", unit="u0")
        assert sorted((m.round, m.code) for m in file.marks) == [
            ("independent", "a"),
            ("reconciled", "b"),
        ]


def test_memos_are_taken_back_too(tmp_path: Path) -> None:
    with opened(tmp_path / "anna.jsonl") as file:
        file.put_memo("session", "she was tired")
        file.put_memo("session", "")
        assert file.memos == {}
        file.undo()
        assert file.memos == {"session": "she was tired"}


def test_two_copies_of_a_file_become_the_same_one_in_any_order(tmp_path: Path) -> None:
    """Work went on on two computers from one copy."""
    home, away = tmp_path / "home.jsonl", tmp_path / "away.jsonl"
    with opened(home) as file:
        common = file.give("m", t0_ns=0, t1_ns=5)
    away.write_bytes(home.read_bytes())
    with opened(home) as file:
        file.remove(common.id)
        there = file.give("a", unit="u0")
    with opened(away) as file:
        here = file.give("b", unit="u1")
    first, second = read(home).lines, read(away).lines
    results = []
    for lines in (merge_lines(first, second), merge_lines(second, first)):
        path = tmp_path / "merged.jsonl"
        with lock_file(path) as file_:
            file_.replace(lines)
        with opened(path) as file:
            results.append(file.marks)
    assert results[0] == results[1] == tuple(sorted((there, here), key=lambda m: m.t0_ns))
