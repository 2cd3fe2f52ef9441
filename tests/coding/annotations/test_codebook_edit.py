"""Codebooks changed by clicks: the file keeps its form, versions count up, and marks follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from labapp.base.errors import AnnotationError
from labapp.base.resources import assets
from labapp.coding.annotations.codebook import codebooks_of, differences, read, versions_of
from labapp.coding.annotations.codebook_edit import (
    CodebookDraft,
    count_uses,
    make_blank,
    with_code,
)
from labapp.coding.annotations.store import annotations_of, history_of, open_marks
from labapp.record.journal.opening import open_record
from tests.helpers.coded_session import add_units
from tests.helpers.journals import golden_session

BLOCK = """\
# What we code.
codebook: own
version: 4
tiers:
  mood: {exclusive: true, optional: true}   # one a unit
codes:
  # the usual ones
  - id: glad
    tier: mood
    key: g
    colour: "#009E73"   # green
    name: Glad
    when: >
      someone laughs
      or smiles

  - id: sad
    tier: mood
    name: Sad
    parent: glad
  - {id: bored, tier: mood, key: b, name: "Bored"} # short
"""
FLOW = (
    "{codebook: own, version: 4, tiers: {mood: {exclusive: true, optional: true}}, codes: ["
    "{id: glad, tier: mood, key: g, name: Glad}, {id: sad, tier: mood, name: Sad, parent: glad}, "
    "{id: bored, tier: mood, key: b, name: Bored}]}\n"
)


def draft_of(study: Path, text: str = BLOCK) -> CodebookDraft:
    study.mkdir(parents=True, exist_ok=True)
    (study / "codebook.yaml").write_text(text)
    return CodebookDraft(study, read(study / "codebook.yaml"))


@pytest.mark.parametrize("text", [BLOCK, FLOW], ids=["block", "flow"])
def test_every_field_is_set_and_taken_away(tmp_path: Path, text: str) -> None:
    draft = draft_of(tmp_path, text)
    for code in ("glad", "sad", "bored"):
        for key, value in (
            *(("name", 'Very: "odd" #1'), ("key", "x"), ("key", ""), ("colour", "#AA4499")),
            *(("when", "a – b"), ("when", ""), ("not", "never"), ("retired", "too vague")),
            *(("retired", ""), ("name", "Plain")),
        ):
            draft.set_field(code, key, value)
            held = draft.codebook.code(code)
            assert held is not None
            name = {"not": "not_"}.get(key, key)
            if value:
                assert getattr(held, name) == value
    made = draft.save()
    assert made.version == 5
    assert [code.name for code in made.codes] == ["Plain"] * 3
    assert read(tmp_path / "codebook.yaml") == made
    if text == BLOCK:
        for comment in ("# What we code.", "# one a unit", "# the usual ones", "# short"):
            assert comment in (tmp_path / "codebook.yaml").read_text()


@pytest.mark.parametrize("text", [BLOCK, FLOW], ids=["block", "flow"])
def test_codes_and_tiers_are_added_merged_and_deleted(tmp_path: Path, text: str) -> None:
    draft = draft_of(tmp_path, text)
    assert draft.add_code("mood", "Glad to") == "glad_to"
    tier = draft.add_tier("Körper & Sprache", exclusive=False, spans=True)
    code = draft.add_code(tier, "Nods")
    made = draft.codebook
    assert made.tier(tier) is not None
    assert made.tier(tier).on == "spans"  # type: ignore[union-attr]
    assert made.code(code).key == "n"  # type: ignore[union-attr]
    draft.merge("glad", "bored")
    assert draft.codebook.following("glad") == ("bored",)
    assert draft.codebook.code("sad").parent == "bored"  # type: ignore[union-attr]
    draft.merge("bored", "sad")  # its own child: nothing is its parent any more
    assert draft.codebook.following("glad") == ("sad",)
    assert draft.codebook.code("sad").parent is None  # type: ignore[union-attr]
    draft.remove("glad_to")
    before = draft.before
    saved = draft.save()
    assert {each.what for each in differences(before, saved)} == {
        "merged", "added", "changed",
    }  # fmt: skip
    assert saved.sha256 not in versions_of(tmp_path)
    assert before.sha256 in versions_of(tmp_path)  # the one before is kept
    assert codebooks_of(tmp_path) == (saved,)


def test_what_is_not_allowed_changes_nothing(tmp_path: Path) -> None:
    draft = draft_of(tmp_path)
    for change in (
        lambda: draft.set_field("bored", "key", "g"),
        lambda: draft.set_field("bored", "colour", "green"),
        lambda: draft.set_field("none", "name", "x"),
        lambda: draft.add_code("mood", "Glad"),
        lambda: draft.add_code("nowhere", "x"),
        lambda: draft.merge("glad", "glad"),
        lambda: draft.remove("none"),
        lambda: draft.remove("glad"),  # it is a parent
    ):
        with pytest.raises(AnnotationError):
            change()
    assert not draft.changed
    assert (tmp_path / "codebook.yaml").read_text() == BLOCK
    assert draft.save() == draft.before


def test_a_file_that_somebody_else_changed_is_not_written_over(tmp_path: Path) -> None:
    draft = draft_of(tmp_path)
    draft.set_field("glad", "name", "Happy")
    other = BLOCK.replace("Bored", "Weary")
    (tmp_path / "codebook.yaml").write_text(other)
    with pytest.raises(AnnotationError, match="changed"):
        draft.save()
    assert (tmp_path / "codebook.yaml").read_text() == other


def test_the_last_code_stays(tmp_path: Path) -> None:
    path = make_blank(tmp_path, "First group", "Überrascht")
    (book,) = codebooks_of(tmp_path)
    assert (book.version, book.codes[0].name) == (1, "Überrascht")
    with pytest.raises(AnnotationError, match="needs at least one code"):
        CodebookDraft(tmp_path, book).remove(book.codes[0].id)
    with pytest.raises(AnnotationError, match="already exists"):
        make_blank(tmp_path, "x", "y")
    assert path.name == "codebook.yaml"


@pytest.mark.parametrize("name", ["think-aloud", "concept-repair"])
def test_the_shipped_ones_can_be_changed(tmp_path: Path, name: str) -> None:
    text = (assets() / "codebooks" / f"{name}.yaml").read_text("utf-8")
    draft = draft_of(tmp_path, text)
    for code in draft.codebook.codes:
        draft.set_field(code.id, "colour", "#117733")
        draft.set_field(code.id, "when", "now")
    tiers = [tier.name for tier in draft.codebook.tiers]
    tier = next(name for name in tiers if len(draft.codebook.given(name)) > 1)
    codes = draft.codebook.given(tier)
    draft.merge(codes[1].id, codes[0].id)
    made, _ = with_code(tmp_path, draft.save(), tier, "Another one")
    assert made.version == read(assets() / "codebooks" / f"{name}.yaml").version + 2
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert comments == [
        line for line in (tmp_path / "codebook.yaml").read_text("utf-8").splitlines()
        if line.startswith("#")
    ]  # fmt: skip
    assert yaml.safe_load((tmp_path / "codebook.yaml").read_text("utf-8"))["merged"]


def test_uses_count_every_rater(tmp_path: Path) -> None:
    session = golden_session(tmp_path / "data")
    add_units(session)
    draft_of(session.parent)
    book = read(session.parent / "codebook.yaml")
    units = annotations_of(open_record(session)).segmentation.units
    for rater in ("anna", "ben"):
        with open_marks(session, rater, book) as marks:
            marks.give("glad", unit=units[0].id)
    assert count_uses(session.parent) == {"glad": 2}
    with open_marks(session, "anna", book) as marks:
        (mark,) = marks.marks
        marks.follow([replace(mark, code="sad")], [])
        assert [each.code for each in marks.marks] == ["sad"]
        assert marks.undo()
        assert [each.code for each in marks.marks] == ["glad"]
        assert marks.redo()
    assert any("(followed)" in str(step) for step in history_of(open_record(session), "anna"))
