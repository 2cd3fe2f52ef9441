"""Who codes what: draws, lists, assigning and locking."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, LabappError, UsageError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import rounds
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.ledger import Ledger
from labapp.coding.annotations.marks import PUT, REMOVED
from labapp.coding.annotations.model import Assignment, Round, Unit, rater_file
from labapp.coding.annotations.packs import make_pack
from labapp.coding.annotations.redacting import holders, note_handed_out, read_handed_out
from labapp.coding.annotations.rounds import (
    BLOCK_NS,
    CodableSession,
    Draw,
    assign_study,
    assignments_of_study,
    close,
    draw_assignments,
    find_unassigned,
    save_draw,
)
from labapp.coding.annotations.store import open_marks, open_units
from labapp.coding.annotations.verifying import verify_annotations
from tests.helpers.journals import golden_session

S = 1_000_000_000


def session(number: int, condition: str, units: int = 60, seconds: int = 20) -> CodableSession:
    """One in which somebody speaks for 3 s every so often; its second half is another stage."""
    spoken = tuple(
        Unit(f"u{index}", index * seconds * S, (index * seconds + 3) * S) for index in range(units)
    )
    half = units * seconds * S // 2
    name = f"sub-P{number:02}_ses-1_20260102T030405Z"
    stages = ((0, "first"), (half, "second"))
    return CodableSession(name, condition, 0, units * seconds * S, spoken, stages)


STUDY = [session(number, "ab"[number % 2]) for number in range(12)]


def test_each_session_has_one_primary_rater_and_conditions_are_dealt_evenly() -> None:
    draw = draw_assignments(STUDY, ("anna", "ben"), 0.2, 1)
    primary = {a.session: a.rater for a in draw.assignments if a.role == "primary"}
    assert primary.keys() == {s.name for s in STUDY}
    dealt = Counter((s.condition, primary[s.name]) for s in STUDY)
    assert set(dealt.values()) == {3}, "two raters in two conditions, twelve sessions"


def test_a_fifth_is_coded_twice_in_every_condition_and_session() -> None:
    draw = draw_assignments(STUDY, ("anna", "ben"), 0.2, 1)
    seconds = [a for a in draw.assignments if a.role == "second"]
    by_session = Counter(a.session for a in seconds)
    assert by_session.keys() == {s.name for s in STUDY}
    assert max(by_session.values()) - min(by_session.values()) <= 1
    by_condition = Counter(next(s.condition for s in STUDY if s.name == a.session) for a in seconds)
    assert abs(by_condition["a"] - by_condition["b"]) <= 1
    assert draw.double == len(seconds)
    assert draw.double / draw.stretches == pytest.approx(0.2, abs=0.01)


def test_stretches_lie_within_a_stage_and_are_short() -> None:
    for entry in draw_assignments(STUDY, ("anna", "ben"), 1.0, 7).assignments:
        if entry.role == "second":
            of = next(s for s in STUDY if s.name == entry.session)
            assert entry.t1_ns - entry.t0_ns <= BLOCK_NS + 3 * S
            assert not entry.t0_ns < of.stages[1][0] < entry.t1_ns


def test_the_same_seed_gives_the_same_draw_whatever_the_order_of_sessions() -> None:
    first = draw_assignments(STUDY, ("anna", "ben"), 0.2, 1)
    assert draw_assignments(STUDY[::-1], ("anna", "ben"), 0.2, 1) == first
    assert draw_assignments(STUDY, ("anna", "ben"), 0.2, 2).assignments != first.assignments


def test_a_short_session_has_a_stretch_coded_twice_all_the_same() -> None:
    draw = draw_assignments([session(1, "a", units=2)], ("anna", "ben"), 0.01, 3)
    assert draw.double == 1


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20)), max_size=8),
    st.integers(1, 4),
    st.floats(0, 1),
    st.integers(),
)
def test_nobody_is_the_second_rater_of_a_session_of_their_own(
    rows: list[tuple[str, int]], raters: int, both: float, seed: int
) -> None:
    sessions = [session(n, condition, units) for n, (condition, units) in enumerate(rows)]
    names = [f"rater-{number}" for number in range(raters)]
    if both and raters < 2:
        with pytest.raises(UsageError, match="no stretch can be coded by two"):
            draw_assignments(sessions, names, both, seed)
        return
    draw = draw_assignments(sessions, names, both, seed)
    primary = {a.session: a.rater for a in draw.assignments if a.role == "primary"}
    assert len(primary) == len(sessions)
    seconds = [a for a in draw.assignments if a.role == "second"]
    assert all(a.rater != primary[a.session] for a in seconds)
    assert len({(a.session, a.t0_ns) for a in seconds}) == len(seconds)
    assert draw.double >= int(both * draw.stretches)
    if not both:
        assert not seconds


@pytest.mark.parametrize("both", [-0.1, 1.1])
def test_a_share_is_from_nought_to_one(both: float) -> None:
    with pytest.raises(UsageError, match="not a share"):
        draw_assignments(STUDY, ("anna", "ben"), both, 1)


def test_a_rater_is_named_once() -> None:
    with pytest.raises(UsageError, match="once"):
        draw_assignments(STUDY, ("anna", "anna"), 0.2, 1)


def test_a_draw_is_read_back_as_it_was_drawn(tmp_path: Path) -> None:
    assert assignments_of_study(tmp_path) == ()
    draw = draw_assignments(STUDY[:6], ("anna", "ben"), 0.2, 1)
    save_draw(tmp_path, draw)
    assert assignments_of_study(tmp_path) == draw.assignments
    later = find_unassigned(STUDY, assignments_of_study(tmp_path), "independent")
    assert later == STUDY[6:]
    more = draw_assignments(later, ("anna", "ben"), 0.2, 1)
    save_draw(tmp_path, more)
    assert assignments_of_study(tmp_path) == draw.assignments + more.assignments


def test_the_file_names_no_condition(tmp_path: Path) -> None:
    sessions = [s for s in STUDY if s.condition == "a"]
    plain = [type(s)(s.name, "SECRET-MODEL", 0, s.end_ns, s.units) for s in sessions]
    save_draw(tmp_path, draw_assignments(plain, ("anna", "ben"), 0.2, 1))
    assert b"SECRET-MODEL" not in (tmp_path / "annotations" / "assignments.jsonl").read_bytes()


def test_a_changed_byte_of_a_draw_is_refused(tmp_path: Path) -> None:
    save_draw(tmp_path, draw_assignments(STUDY, ("anna", "ben"), 0.2, 1))
    path = tmp_path / "annotations" / "assignments.jsonl"
    path.write_bytes(path.read_bytes().replace(b"anna", b"anne", 1))
    with pytest.raises(AnnotationError, match="line 1"):
        assignments_of_study(tmp_path)


def test_what_was_handed_out_is_known_by_session(tmp_path: Path) -> None:
    note_handed_out(tmp_path, "pack", tmp_path / "ben.zip", ["b", "a", "a"], rater="ben")
    note_handed_out(tmp_path, "quotes", tmp_path / "quotes.md", ["b"])
    assert [(e.kind, e.sessions) for e in read_handed_out(tmp_path)] == [
        ("pack", ("a", "b")),
        ("quotes", ("b",)),
    ]
    (entry,) = holders(tmp_path, "a")
    assert entry.file == str(tmp_path / "ben.zip")
    assert entry.facts == {"rater": "ben"}


@pytest.fixture
def book() -> Codebook:
    content = (resources.assets() / "codebooks" / "think-aloud.yaml").read_text()
    return codebooks.parse(
        content.replace("strategy: {exclusive: true, on: units, optional: true}",
                        "strategy: {exclusive: true, on: units}").encode(),
        Path("codebook.yaml"),
    )  # fmt: skip


@pytest.fixture
def session_rounds(tmp_path: Path, book: Codebook) -> Path:
    session = golden_session(tmp_path / "data")
    (session.parent / "codebook.yaml").write_bytes(book.content)
    with open_units(session, "anna") as units:
        units.put_all([Unit(f"u{n}", (20 + n) * NS, (21 + n) * NS) for n in range(4)])
        units.freeze()
    return session


def code(
    session: Path, rater: str, book: Codebook, *units: str, round_: Round = "independent"
) -> None:
    with open_marks(session, rater, book, round=round_) as marks:
        for unit in units:
            marks.give("explore", unit=unit)
        marks.set_status("done")


def test_what_was_coded_in_training_is_uncoded_where_it_counts(
    session_rounds: Path, book: Codebook
) -> None:
    code(session_rounds, "anna", book, "u0", "u1", "u2", round_="training")
    code(session_rounds, "anna", book, "u3")
    (locked,) = close(session_rounds.parent).closed
    assert (locked.marks, locked.uncoded) == (1, 3)


def test_a_rater_who_is_not_there_is_not_passed_over(session_rounds: Path, book: Codebook) -> None:
    code(session_rounds, "anna", book, "u0")
    with pytest.raises(LabappError, match="Ben has no marks"):
        close(session_rounds.parent, ["anna", "Ben"])
    assert "locked" not in rater_file(session_rounds, "anna").read_text()


def test_a_session_that_cannot_be_read_is_told(session_rounds: Path, book: Codebook) -> None:
    other = session_rounds.with_name(session_rounds.name.replace("ses-1", "ses-2"))
    shutil.copytree(session_rounds, other)
    for each in (session_rounds, other):
        with open_units(each, "anna") as units:
            if not units.frozen:
                units.put_all([Unit("v", NS, 2 * NS)])
                units.freeze()
        code(each, "anna", book)
    path = rater_file(other, "anna")
    path.write_bytes(path.read_bytes().replace(b"anna", b"anne"))
    report = close(session_rounds.parent)
    assert [entry.session for entry in report.closed] == [session_rounds.name]
    ((name, why),) = report.left_out
    assert (name, "damaged" in why or "changed" in why) == (other.name, True)
    left_out = rounds.study_disagreements(session_rounds.parent).left_out
    assert [name for name, _ in left_out] == [other.name]


def test_what_is_taken_back_meanwhile_is_not_locked(
    session_rounds: Path, book: Codebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anna goes on after her status was read."""
    code(session_rounds, "anna", book, "u0")
    study_sessions = rounds.study_sessions

    def meanwhile(study: Path) -> rounds.StudySessions:
        sessions = study_sessions(study)
        with open_marks(session_rounds, "anna", book) as marks:
            marks.set_status("draft")
        return sessions

    monkeypatch.setattr(rounds, "study_sessions", meanwhile)
    with pytest.raises(AnnotationError, match="Not done yet: anna"):
        close(session_rounds.parent)
    assert "locked" not in rater_file(session_rounds, "anna").read_text()


def test_raters_who_are_called_the_same_are_refused(session_rounds: Path) -> None:
    with pytest.raises(LabappError, match="each only once"):
        assign_study(session_rounds.parent, ["anna", "Anna"], 0.2, 1)
    drawn = (Assignment("sub-P09_ses-1_20260102T030405Z", "Ben", 0, NS),)
    save_draw(session_rounds.parent, Draw("d", ("Ben",), 0, 1, drawn, 1, 0))
    with pytest.raises(LabappError, match="There is a rater 'Ben'"):
        assign_study(session_rounds.parent, ["anna", "ben"], 0.2, 1)


def test_what_somebody_else_assigns_meanwhile_is_not_assigned_twice(
    session_rounds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_assignments = rounds.draw_assignments

    def meanwhile(*given: Any) -> Draw:
        monkeypatch.undo()
        assign_study(session_rounds.parent, ["cleo"], 0, 2)
        return draw_assignments(*given)

    monkeypatch.setattr(rounds, "draw_assignments", meanwhile)
    with pytest.raises(AnnotationError, match="by another process in the meantime"):
        assign_study(session_rounds.parent, ["anna"], 0, 1)
    assert {a.rater for a in assignments_of_study(session_rounds.parent)} == {"cleo"}


def test_assigned_sessions_that_are_gone_or_open_again_are_told(session_rounds: Path) -> None:
    other = session_rounds.with_name(session_rounds.name.replace("ses-1", "ses-2"))
    shutil.copytree(session_rounds, other)
    gone = session_rounds.name.replace("P01", "P77")
    drawn = tuple(
        Assignment(n, "ben", 0, 130 * NS) for n in (session_rounds.name, other.name, gone)
    )
    save_draw(session_rounds.parent, Draw("d", ("ben",), 0, 1, drawn, 3, 0))
    with open_units(other, "anna") as units:
        units.put_all([Unit("v", NS, 2 * NS)])
    report = make_pack(session_rounds.parent, "ben", session_rounds.parent.parent / "ben.zip")
    assert [row.name for row in report.sessions] == [session_rounds.name]
    assert dict(report.left_out) == {
        gone: "it no longer exists",
        other.name: "its units are not frozen",
    }


def test_marks_that_changed_once_they_were_locked_are_a_problem(
    session_rounds: Path, book: Codebook
) -> None:
    code(session_rounds, "anna", book, "u0", "u1")
    close(session_rounds.parent)
    assert verify_annotations(session_rounds).ok
    path = rater_file(session_rounds, "anna")
    with Ledger(path) as file:
        bodies = [line.body for line in file.lines if line.kind == PUT]
        file.append(PUT, {**bodies[0], "code": "goal"})
        file.append(REMOVED, {"id": bodies[1]["id"]})
    (problem,) = verify_annotations(session_rounds).problems
    assert "2 marks of the round independent were changed after it was locked" in problem
    with open_marks(session_rounds, "anna", book, round="training") as marks:
        marks.give("goal", unit="u2")
    assert len(verify_annotations(session_rounds).problems) == 1
