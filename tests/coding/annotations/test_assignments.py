"""Draws and lists of what was handed out, as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import AnnotationError
from labapp.coding.annotations.redacting import handed_out, holders, note_handed_out
from labapp.coding.annotations.rounds import (
    assignments_of_study,
    draw_assignments,
    save_draw,
    undrawn,
)
from tests.coding.annotations.test_assigning import STUDY


def test_a_draw_is_read_back_as_it_was_drawn(tmp_path: Path) -> None:
    assert assignments_of_study(tmp_path) == ()
    draw = draw_assignments(STUDY[:6], ("anna", "ben"), 0.2, 1)
    save_draw(tmp_path, draw)
    assert assignments_of_study(tmp_path) == draw.assignments
    later = undrawn(STUDY, assignments_of_study(tmp_path), "independent")
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
    assert [(e.kind, e.sessions) for e in handed_out(tmp_path)] == [
        ("pack", ("a", "b")),
        ("quotes", ("b",)),
    ]
    (entry,) = holders(tmp_path, "a")
    assert entry.file == str(tmp_path / "ben.zip")
    assert entry.facts == {"rater": "ben"}
