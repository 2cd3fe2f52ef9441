"""What is not as it was written is named; the rest is whole. And how far a study is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, LabappError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import store
from labapp.coding.annotations.ledger import as_bytes, read
from labapp.coding.annotations.model import (
    Text,
    Unit,
    annotations_folder,
    codebook_versions,
    rater_file,
)
from labapp.coding.annotations.store import history_of, study_progress, table
from labapp.coding.annotations.verifying import verify_annotations
from labapp.record.journal.opening import open_record
from tests.helpers.journals import golden_session

BOOK = resources.assets() / "codebooks" / "think-aloud.yaml"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session that anna has coded."""
    session = golden_session(tmp_path)
    with store.open_units(session, "anna") as units:
        units.put_all([Unit("a", NS, 2 * NS), Unit("b", 2 * NS, 4 * NS)])
        units.freeze()
    with store.open_texts(session, "anna") as texts:
        texts.put(Text("a", "let me try"))
    with store.open_marks(session, "anna", codebooks.read(BOOK)) as marks:
        marks.give("explore", unit="a")
        marks.give("insight", t0_ns=NS)
        marks.set_status("done")
    return session


def test_what_is_whole_is_said_to_be(session: Path) -> None:
    for path in (session, session.parent):
        report = verify_annotations(path)
        assert report.ok, report.problems
        assert not report.remarks
        assert list(report.lines())[-1].endswith("whole")


def test_a_changed_byte_is_named_with_its_line(session: Path) -> None:
    path = rater_file(session, "anna")
    path.write_bytes(path.read_bytes().replace(b'"explore"', b'"exploro"'))
    problem, chain = verify_annotations(session).problems
    assert "raters/anna.jsonl, line 2: it was changed" in problem
    assert "raters/anna.jsonl, line 3: something above it was changed" in chain
    with pytest.raises(LabappError, match="line 2: it was changed"):
        store.annotations_of(open_record(session))


def test_a_file_that_nobody_knows_is_named(session: Path) -> None:
    (annotations_folder(session) / "more.csv").write_text("a")
    (session.parent / "annotations" / "notes.txt").write_text("b")
    problems = verify_annotations(session.parent).problems
    assert [problem.rsplit(": ", 1)[-1] for problem in problems] == [
        "labapp knows no such file"
    ] * 2


def test_a_lost_codebook_is_named(session: Path) -> None:
    for path in codebook_versions(session.parent).glob("*.yaml"):
        path.unlink()
    problem, anchored = verify_annotations(session).problems
    assert "2 marks were given by a codebook that is not there" in problem
    assert ".yaml: it is gone; it had" in anchored


def test_annotations_without_their_session_are_named(session: Path) -> None:
    session.rename(session.with_name("elsewhere"))
    (problem,) = verify_annotations(session.parent).problems
    assert "it has annotations, but" in problem


def test_marks_of_units_that_are_gone_are_a_remark(session: Path) -> None:
    with store.open_units(session, "anna") as units:
        units.split("a", NS + 5)
        units.settle(units.proposals[0].id, True)
    report = verify_annotations(session)
    assert report.ok
    assert len(report.remarks) == 2
    assert "1 marks are of units that were split" in report.remarks[0]
    assert "1 texts are of units that are gone" in report.remarks[1]


def test_marks_by_an_older_definition_are_a_remark(session: Path) -> None:
    newer = session.parent / "codebook.yaml"
    text = BOOK.read_text("utf-8").replace("version: 1", "version: 2")
    newer.write_text(text.replace("turns a dial to see what it does", "turns any dial"), "utf-8")
    with store.open_marks(session, "anna", codebooks.read(newer)):
        pass
    (remark,) = verify_annotations(session).remarks
    assert "1 marks were given by an older definition" in remark


@pytest.mark.parametrize(
    ("file", "kind", "change", "why"),
    [
        ("raters/anna.jsonl", "mark.put", {"t1_ns": 0}, "it goes from 1000000000 to 0 ns"),
        ("raters/anna.jsonl", "mark.put", {"t0_ns": -1}, "it goes from -1"),
        ("raters/anna.jsonl", "mark.put", {"t0_ns": "1"}, "its t0_ns"),
        ("raters/anna.jsonl", "mark.put", {"round": "final"}, "its round"),
        ("raters/anna.jsonl", "set.opened", {"rater": None}, "its rater is no text"),
        ("raters/anna.jsonl", "status", {"status": "over"}, "its status is 'over'"),
        ("units.jsonl", "unit.put", {"t0_ns": 2**60, "t1_ns": 2**60}, "it goes from"),
        ("units.jsonl", "unit.put", {"speaker": "dog"}, "its speaker"),
        ("units.jsonl", "units.frozen", {"frozen": 1}, "neither true nor false"),
        ("transcript.jsonl", "text.put", {"words": [1]}, "its words.0"),
    ],
)
def test_lines_that_no_labapp_wrote_are_refused(
    session: Path, file: str, kind: str, change: dict[str, Any], why: str
) -> None:
    """Their checksums are right: somebody made them anew."""
    path = annotations_folder(session) / file
    lines = [
        line._replace(body={**line.body, **change}) if line.kind == kind else line
        for line in read(path).lines
    ]
    path.write_bytes(as_bytes(lines))
    problems = verify_annotations(session).problems
    assert any(why in problem and kind in problem for problem in problems), problems
    with pytest.raises(AnnotationError, match="cannot be read"):
        store.annotations_of(open_record(session))


@pytest.mark.parametrize("journal", [None, [1], {}, 5, ""])
def test_a_file_that_names_no_session_is_of_another_one(session: Path, journal: Any) -> None:
    path = rater_file(session, "anna")
    opened, *rest = read(path).lines
    path.write_bytes(as_bytes([opened._replace(body={**opened.body, "journal": journal}), *rest]))
    with pytest.raises(AnnotationError, match="its journal is not the one that was coded"):
        store.annotations_of(open_record(session))


def test_a_line_of_a_newer_labapp_is_told(session: Path) -> None:
    path = rater_file(session, "anna")
    lines = read(path).lines
    for newer in (lines[-1]._replace(v=2), lines[-1]._replace(kind="mark.sung")):
        path.write_bytes(as_bytes([*lines[:-1], newer]))
        with pytest.raises(AnnotationError, match="a newer labapp wrote it"):
            store.annotations_of(open_record(session))


def test_what_is_neither_a_session_nor_a_study(tmp_path: Path) -> None:
    with pytest.raises(LabappError):
        verify_annotations(tmp_path)


def test_everything_that_was_done_is_in_the_history(session: Path) -> None:
    record = open_record(session)
    steps = history_of(record)
    assert [step.line.kind for step in steps if not step.rater] == [
        "units.opened", "unit.put", "unit.put", "units.frozen", "texts.opened", "text.put",
    ]  # fmt: skip
    lines = [str(step) for step in history_of(record, "anna")]
    assert len(lines) == 4
    assert "anna  mark.put  0:01.00 to 0:02.00, tier strategy, code explore, unit a" in lines[1]
    assert lines[3].endswith("status done, round independent")


def test_how_far_a_study_is(session: Path) -> None:
    (row,) = study_progress(session.parent)
    assert (row.units, row.frozen, row.texts, row.reviewed) == (2, True, 1, 0)
    assert [(rater.rater, rater.units, rater.status) for rater in row.raters] == [
        ("anna", 1, "done")
    ]
    assert not row.second
    with store.open_marks(session, "ben", codebooks.read(BOOK)) as marks:
        marks.set_status("done")
    (row,) = study_progress(session.parent)
    assert row.second
    header, line = table([row])
    assert header.split()[:2] == ["session", "units"]
    assert "2 frozen" in line
    assert "anna 1/2 (done), ben 0/2 (done)" in line


def test_a_damaged_session_of_a_study_is_a_line_of_its_own(session: Path) -> None:
    path = rater_file(session, "anna")
    path.write_bytes(path.read_bytes().replace(b'"explore"', b'"exploro"'))
    (row,) = study_progress(session.parent)
    assert "was changed" in row.problem
    assert "was changed" in list(table([row]))[-1]


def test_two_raters_in_training_are_no_second_coding(session: Path) -> None:
    with store.open_marks(session, "ben", codebooks.read(BOOK), round="training") as marks:
        marks.give("explore", unit="a")
        marks.set_status("done")
    (row,) = study_progress(session.parent)
    assert not row.second
