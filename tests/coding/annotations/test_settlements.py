"""What raters differ about, and what is settled of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.final import final_marks
from labapp.coding.annotations.model import Assignment, Mark, Segmentation, SessionAnnotations, Unit
from labapp.coding.annotations.rounds import (
    adjudicate_difference,
    close,
    settle,
    study_disagreements,
)
from labapp.coding.annotations.settlements import disagreements
from labapp.coding.annotations.store import annotations_of, open_marks, open_settlements, open_units
from labapp.record.journal.opening import open_record
from tests.coding.annotations.test_final import S, annotations, mark
from tests.helpers.journals import golden_session


@pytest.fixture
def book() -> Codebook:
    return codebooks.read(resources.assets() / "codebooks" / "think-aloud.yaml")


@pytest.fixture
def session(tmp_path: Path, book: Codebook) -> Path:
    """A session of which anna and ben coded two units otherwise, and are locked."""
    session = golden_session(tmp_path / "data")
    with open_units(session, "anna") as units:
        units.put_all([Unit(f"u{n}", (20 + n) * NS, (21 + n) * NS) for n in range(2)])
        units.freeze()
    for rater, codes in {"anna": ("explore", "goal"), "ben": ("goal", "explore")}.items():
        with open_marks(session, rater, book) as marks:
            for number, name in enumerate(codes):
                marks.give(name, unit=f"u{number}")
            marks.set_status("done")
    close(session.parent)
    return session


def test_what_was_settled_meanwhile_is_replaced_and_not_added_to(session: Path) -> None:
    study = session.parent
    first, _ = study_disagreements(study).differences
    settle(study, first, "cleo", first.marks["anna"], "as anna says")
    settle(study, first, "dora", first.marks["ben"], "no: as ben says")
    (settlement,) = annotations_of(open_record(session)).settlements
    assert (settlement.by, [m.code for m in settlement.marks]) == ("dora", ["goal"])
    whole = Assignment(session.name, "anna", 0, 100 * NS)
    final = final_marks(annotations_of(open_record(session)), [whole])
    assert [m.code for m in final if m.unit == "u0"] == ["goal"]


def test_a_disagreement_that_joins_two_replaces_what_was_settled_of_both(session: Path) -> None:
    one, other = study_disagreements(session.parent).differences
    beside = replace(other, unit=one.unit)
    both = {rater: (*one.marks[rater], *other.marks[rater]) for rater in one.marks}
    with open_settlements(session, "cleo") as settled:
        for each in (one, beside, replace(one, marks=both)):
            settled.settle(each, each.marks["anna"], "as anna says")
        (settlement,) = settled.settlements
    assert len(settlement.of) == 4


def test_what_holds_is_what_the_codebook_allows(session: Path, book: Codebook) -> None:
    first, _ = study_disagreements(session.parent).differences
    versions = {book.sha256: book}
    with pytest.raises(AnnotationError, match="one code"):
        adjudicate_difference(first, ["explore", "goal"], versions)
    retired = replace(
        book,
        codes=tuple(replace(c, retired="too wide") if c.id == "random" else c for c in book.codes),
    )
    with pytest.raises(AnnotationError, match="no code 'random'"):
        adjudicate_difference(first, ["random"], {book.sha256: retired})


def test_raters_by_two_codebooks_do_not_differ() -> None:
    ids = {"a1": "aims", "a2": "aims", "f1": "feelings"}
    aim = replace(mark("anna", 1, "goal"), codebook="a1")
    feeling = replace(mark("ben", 1, "glad"), codebook="f1")
    assert not disagreements(annotations_with_units(aim, feeling), codebook_ids=ids)
    later = replace(mark("ben", 1, "explore"), codebook="a2")
    (difference,) = disagreements(annotations_with_units(aim, feeling, later), codebook_ids=ids)
    assert [m.code for marks in difference.marks.values() for m in marks] == ["goal", "explore"]


def annotations_with_units(*marks: Mark) -> SessionAnnotations:
    units = tuple(Unit(f"u{n}", n * S, (n + 1) * S) for n in range(3))
    return replace(annotations(*marks), segmentation=Segmentation(units, True))
