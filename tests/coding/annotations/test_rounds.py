"""Assigning and locking: what is left out is told, and who is called like another is refused."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, LabappError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import rounds
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.ledger import Ledger
from labapp.coding.annotations.marks import PUT, REMOVED
from labapp.coding.annotations.model import Assignment, Round, Unit, rater_file
from labapp.coding.annotations.packs import make_pack
from labapp.coding.annotations.rounds import (
    Draw,
    assign_study,
    assignments_of_study,
    close,
    save_draw,
)
from labapp.coding.annotations.store import open_marks, open_units
from labapp.coding.annotations.verifying import verify_annotations
from tests.helpers.journals import golden_session


@pytest.fixture
def book() -> Codebook:
    content = (resources.assets() / "codebooks" / "think-aloud.yaml").read_text()
    return codebooks.parse(
        content.replace("strategy: {exclusive: true, on: units, optional: true}",
                        "strategy: {exclusive: true, on: units}").encode(),
        Path("codebook.yaml"),
    )  # fmt: skip


@pytest.fixture
def session(tmp_path: Path, book: Codebook) -> Path:
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
    session: Path, book: Codebook
) -> None:
    code(session, "anna", book, "u0", "u1", "u2", round_="training")
    code(session, "anna", book, "u3")
    (locked,) = close(session.parent).closed
    assert (locked.marks, locked.uncoded) == (1, 3)


def test_a_rater_who_is_not_there_is_not_passed_over(session: Path, book: Codebook) -> None:
    code(session, "anna", book, "u0")
    with pytest.raises(LabappError, match="Ben has no marks"):
        close(session.parent, ["anna", "Ben"])
    assert "locked" not in rater_file(session, "anna").read_text()


def test_a_session_that_cannot_be_read_is_told(session: Path, book: Codebook) -> None:
    other = session.with_name(session.name.replace("ses-1", "ses-2"))
    shutil.copytree(session, other)
    for each in (session, other):
        with open_units(each, "anna") as units:
            if not units.frozen:
                units.put_all([Unit("v", NS, 2 * NS)])
                units.freeze()
        code(each, "anna", book)
    path = rater_file(other, "anna")
    path.write_bytes(path.read_bytes().replace(b"anna", b"anne"))
    report = close(session.parent)
    assert [entry.session for entry in report.closed] == [session.name]
    ((name, why),) = report.left_out
    assert (name, "damaged" in why or "changed" in why) == (other.name, True)
    left_out = rounds.study_disagreements(session.parent).left_out
    assert [name for name, _ in left_out] == [other.name]


def test_what_is_taken_back_meanwhile_is_not_locked(
    session: Path, book: Codebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anna goes on after her status was read."""
    code(session, "anna", book, "u0")
    study_sessions = rounds.study_sessions

    def meanwhile(study: Path) -> rounds.StudySessions:
        sessions = study_sessions(study)
        with open_marks(session, "anna", book) as marks:
            marks.set_status("draft")
        return sessions

    monkeypatch.setattr(rounds, "study_sessions", meanwhile)
    with pytest.raises(AnnotationError, match="Not done yet: anna"):
        close(session.parent)
    assert "locked" not in rater_file(session, "anna").read_text()


def test_raters_who_are_called_the_same_are_refused(session: Path) -> None:
    with pytest.raises(LabappError, match="named once"):
        assign_study(session.parent, ["anna", "Anna"], 0.2, 1)
    drawn = (Assignment("sub-P09_ses-1_20260102T030405Z", "Ben", 0, NS),)
    save_draw(session.parent, Draw("d", ("Ben",), 0, 1, drawn, 1, 0))
    with pytest.raises(LabappError, match="There is a rater 'Ben'"):
        assign_study(session.parent, ["anna", "ben"], 0.2, 1)


def test_what_somebody_else_assigns_meanwhile_is_not_assigned_twice(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_assignments = rounds.draw_assignments

    def meanwhile(*given: Any) -> Draw:
        monkeypatch.undo()
        assign_study(session.parent, ["cleo"], 0, 2)
        return draw_assignments(*given)

    monkeypatch.setattr(rounds, "draw_assignments", meanwhile)
    with pytest.raises(AnnotationError, match="by somebody else meanwhile"):
        assign_study(session.parent, ["anna"], 0, 1)
    assert {a.rater for a in assignments_of_study(session.parent)} == {"cleo"}


def test_assigned_sessions_that_are_gone_or_open_again_are_told(session: Path) -> None:
    other = session.with_name(session.name.replace("ses-1", "ses-2"))
    shutil.copytree(session, other)
    gone = session.name.replace("P01", "P77")
    drawn = tuple(Assignment(n, "ben", 0, 130 * NS) for n in (session.name, other.name, gone))
    save_draw(session.parent, Draw("d", ("ben",), 0, 1, drawn, 3, 0))
    with open_units(other, "anna") as units:
        units.put_all([Unit("v", NS, 2 * NS)])
    report = make_pack(session.parent, "ben", session.parent.parent / "ben.zip")
    assert [row.name for row in report.sessions] == [session.name]
    assert dict(report.left_out) == {
        gone: "it is not there any more",
        other.name: "its units are not frozen",
    }


def test_marks_that_changed_once_they_were_locked_are_a_problem(
    session: Path, book: Codebook
) -> None:
    code(session, "anna", book, "u0", "u1")
    close(session.parent)
    assert verify_annotations(session).ok
    path = rater_file(session, "anna")
    with Ledger(path) as file:
        bodies = [line.body for line in file.lines if line.kind == PUT]
        file.append(PUT, {**bodies[0], "code": "goal"})
        file.append(REMOVED, {"id": bodies[1]["id"]})
    (problem,) = verify_annotations(session).problems
    assert "2 marks of the round independent were changed after it was locked" in problem
    with open_marks(session, "anna", book, round="training") as marks:
        marks.give("goal", unit="u2")
    assert len(verify_annotations(session).problems) == 1
