"""Chains and anchors: written by several programs at once, begun in the middle of old files, and
brought along or not; what a file that leaves is noted as; and names that no rater has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import video_files
from labapp.coding.annotations.ledger import Ledger, Line, as_bytes, parse, read
from labapp.coding.annotations.model import FINAL, KEPT, Text, Unit, annotations_folder, rater_file
from labapp.coding.annotations.packs import make_pack
from labapp.coding.annotations.redacting import holders, redact
from labapp.coding.annotations.rounds import assign_study, close
from labapp.coding.annotations.store import (
    annotations_of,
    codebooks_in,
    open_marks,
    open_settlements,
    open_texts,
    open_units,
)
from labapp.coding.annotations.verifying import accept_files, verify_annotations
from labapp.coding.exchange import incoming
from labapp.coding.exchange.coming_in import plan_import
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import FORMATS
from labapp.record.journal import anchor
from labapp.record.journal.decisions import (
    add_comment,
    comments,
    decide,
    decisions,
    forget_comments,
)
from labapp.record.journal.opening import open_record, open_records
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.withdrawal import withdraw
from tests.helpers.journals import GOLDEN, golden_session

BOOK = """\
codebook: aloud
version: 1
tiers: {strategy: {exclusive: true}}
# he said: my name is Xanthippe, believe me
codes:
  - id: explore
    tier: strategy
    name: Exploring
    when: says such as so my name is Xanthippe
    not: whatever Xanthippe does
    examples: ["let me try this one"]
  - {id: goal, tier: strategy, name: Goal, retired: "Xanthippe disliked it"}
"""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(resources, "models", lambda: GOLDEN / "models")
    session = golden_session(tmp_path / "data")
    (session.parent / "codebook.yaml").write_text(BOOK)
    with open_units(session, "anna") as units:
        units.put_all([Unit("a", 20 * NS, 22 * NS), Unit("b", 22 * NS, 24 * NS)])
        units.freeze()
    with open_texts(session, "anna") as texts:
        texts.put(Text("a", "so my name is Xanthippe", reviewed=True))
        texts.put(Text("b", "let me try this one", reviewed=True))
    book = codebooks.read(session.parent / "codebook.yaml")
    with open_marks(session, "anna", book) as marks:
        marks.give("explore", unit="a")
        marks.give("explore", unit="b")
        marks.set_status("done")
    return session


def test_logs_that_several_programs_write_at_once_stay_chained(session: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from labapp.record.journal.decisions import add_comment\n"
        "from labapp.record.journal.decisions import decide\n"
        "from labapp.coding.annotations.redacting import note_handed_out\n"
        "s = Path(sys.argv[1])\n"
        "for n in range(8):\n"
        "    add_comment(s, f'{sys.argv[2]} {n}'); decide(s, n % 2 == 0, sys.argv[2])\n"
    )
    programs = [
        subprocess.Popen([sys.executable, "-c", code, str(session), name]) for name in "abc"
    ]
    assert [program.wait(100) for program in programs] == [0, 0, 0]
    assert len(comments(session.parent)[session.name]) == 24
    assert verify_annotations(session.parent).problems == []
    assert forget_comments(session) == 24
    add_comment(session, "after")
    assert verify_annotations(session.parent).problems == []


def test_files_of_older_versions_are_read_and_covered_from_the_next_line(session: Path) -> None:
    study, path = session.parent, rater_file(session, "anna")
    lines = read(path).lines
    path.write_bytes(as_bytes(lines))
    old = {"session": session.name, "utc": "2026-01-01T00:00:00Z", "included": False, "text": "x"}
    (study / "decisions.jsonl").write_text(json.dumps(old) + "\n")
    anchor.anchor_of(study).unlink()
    accept_files(study, "as before")
    with open_marks(session, "anna", codebooks.read(study / "codebook.yaml")) as marks:
        marks.set_status("draft")
    decide(session, True, "y")
    assert decisions(study)[session.name].reason == "y"
    told = verify_annotations(study)
    assert told.problems == []
    assert any(f"anna.jsonl: evidence begins with line {len(lines) + 1}" in r for r in told.remarks)
    assert any("decisions.jsonl: evidence begins with line 2" in r for r in told.remarks)
    path.write_bytes(path.read_bytes().replace(b'"explore"', b'"exploro"', 1))
    assert not verify_annotations(study).ok
    (study / "decisions.jsonl").write_text(
        (study / "decisions.jsonl").read_text().replace('"x"', '"z"')
    )
    assert any(
        "decisions.jsonl, line 2: something above" in p for p in verify_annotations(study).problems
    )


def test_what_a_crash_cut_off_breaks_no_chain(tmp_path: Path) -> None:
    path = tmp_path / "data" / "study" / "annotations" / "s" / "units.jsonl"
    with Ledger(path) as ledger:
        ledger.append("a", {"n": 1})
        ledger.append("a", {"n": 2})
    path.write_bytes(path.read_bytes()[:-7])
    with Ledger(path) as ledger:
        assert ledger.torn
        ledger.append("a", {"n": 3})
    assert parse(path.read_bytes()).breaks == ()
    problems, _ = anchor.check(path.parents[2])
    assert len(problems) == 1, "the line had been on the disk, and its end was cut off"


def test_a_study_without_its_anchor_is_taken_for_a_reason(session: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / session.parent.name
    moved.parent.mkdir()
    session.parent.rename(moved)
    assert any("not recorded in anchor.jsonl" in p for p in verify_annotations(moved).problems)
    assert accept_files(moved, "moved from the old computer") >= 4
    told = verify_annotations(moved)
    assert told.problems == []
    assert any("moved from the old computer" in remark for remark in told.remarks)


def test_a_file_without_a_chain_is_not_taken(session: Path) -> None:
    (annotations_folder(session) / "mine.jsonl").write_text('{"no": "chain"}\n', "utf-8")
    accept_files(session.parent, "moved")
    taken = {Path(entry["file"]).name for entry in anchor.entries(session.parent)}
    assert "units.jsonl" in taken
    assert "mine.jsonl" not in taken


def test_a_locked_file_that_lost_its_lock_is_not_coded_in(session: Path) -> None:
    assign_study(session.parent, ["anna"], 0.0, 1, "independent")
    path = rater_file(session, "anna")
    before = path.read_bytes()
    close(session.parent)
    path.write_bytes(before)
    book = codebooks.read(session.parent / "codebook.yaml")
    with pytest.raises(AnnotationError, match="was locked"):
        open_marks(session, "anna", book)
    assert any("was locked" in problem for problem in verify_annotations(session).problems)


def test_an_open_file_is_no_problem(session: Path) -> None:
    book = codebooks.read(session.parent / "codebook.yaml")
    with open_marks(session, "ben", book) as marks:
        marks.give("explore", unit="a")
        told = verify_annotations(session.parent)
        assert told.problems == []
        (remark,) = told.remarks
        assert "ben.jsonl: its last 2 lines are not in the anchor" in remark
    told = verify_annotations(session.parent)
    assert (told.problems, told.remarks) == ([], [])


@pytest.mark.parametrize("name", [n for kept in KEPT for n in (kept, kept.title(), kept.upper())])
def test_no_rater_has_a_kept_name(name: str, session: Path, tmp_path: Path) -> None:
    """At every place where a rater's name comes in."""
    study, record = session.parent, open_record(session)
    book = codebooks.read(study / "codebook.yaml")
    export_coding(record, "anna", FORMATS["csv"], tmp_path / "in.csv")
    given = incoming.read(tmp_path / "in.csv")
    for way in (
        lambda: open_marks(session, name, book),
        lambda: open_settlements(session, name),
        lambda: assign_study(study, [name, "anna"], 0.0, 1, "independent"),
        lambda: make_pack(study, name, tmp_path / "x.zip"),
        lambda: plan_import(record, name, given),
    ):
        with pytest.raises(AnnotationError, match="is reserved for"):
            way()
    if name not in ("detector", "recogniser"):
        for by in (lambda: open_units(session, name), lambda: open_texts(session, name)):
            with pytest.raises(AnnotationError, match="is reserved for"):
                by()
    assert FINAL in KEPT
    assert not rater_file(session, name).exists()


def test_every_file_of_an_export_is_noted_and_named(session: Path, tmp_path: Path) -> None:
    record = open_record(session)
    out = tmp_path / "out" / "P01.eaf"
    made = export_coding(record, "anna", FORMATS["eaf"], out, with_sound=True, base="joined")
    sounds = [path for path in made.files if path.suffix == ".wav"]
    assert sounds
    noted = {entry.file for entry in holders(session.parent, session.name)}
    assert {str(path) for path in made.files} <= noted
    written = {str(path) for path in out.parent.rglob("*") if path.is_file()}
    assert written <= noted, "and nothing else was written"
    told = " ".join(redact(session, 20 * NS, 22 * NS, "anna").lines())
    assert all(str(path) in told for path in made.files)
    told = " ".join(withdraw(session, tmp_path / "private", delete=True).lines())
    assert all(str(path) in told for path in made.files)


@pytest.mark.parametrize("declared", [False, True])
def test_free_text_of_codebooks_leaves_where_it_is_declared(
    declared: bool, session: Path, tmp_path: Path
) -> None:
    if declared:
        text = BOOK.replace("version: 1", "version: 2\nidentifying: no")
        (session.parent / "codebook.yaml").write_text(text)
        book = codebooks.read(session.parent / "codebook.yaml")
        with open_marks(session, "carl", book) as marks:
            marks.give("explore", unit="a")
    bundle = export([session], tmp_path / "reduced", deidentify=True, private=tmp_path / "private")
    (record,) = open_records(bundle)
    books = codebooks_in(record)
    marks_ = [mark for rater in annotations_of(record).raters.values() for mark in rater.marks]
    coded = [mark for mark in marks_ if mark.tier == "strategy"]
    assert len(coded) == 2 + declared
    for mark in coded:
        code = books[mark.codebook].code(mark.code)
        assert code is not None
        kept = books[mark.codebook].version == 2
        assert bool(code.when or code.not_ or code.examples) == kept
    stored = b"".join(path.read_bytes() for path in bundle.rglob("codebooks/*.yaml"))
    assert (b"Xanthippe" in stored) == declared
    assert verify(bundle).problems == []
    assert b"Xanthippe" in b"".join(
        path.read_bytes()
        for path in export([session], tmp_path / "whole").rglob("codebooks/*.yaml")
    )


def test_who_quotes_what_is_redacted_or_withdrawn_is_named(session: Path, tmp_path: Path) -> None:
    told = " ".join(redact(session, 20 * NS, 22 * NS, "anna").lines())
    assert "codebook.yaml (explore)" in told
    assert "annotations/codebooks/" in told
    assert "--withhold" in told
    assert codebooks.withhold_words(session.parent)
    assert codebooks.withhold_words(session.parent) == [], "once"
    assert verify_annotations(session.parent).problems == []
    (version,) = codebooks.versions_of(session.parent).values()
    assert version.code("explore") is not None
    (session.parent / "codebook.yaml").unlink()
    assert codebooks.quoting(session.parent, ["so my name is Xanthippe"]) == []
    (session.parent / "codebook.yaml").write_text(BOOK)
    told = " ".join(withdraw(session, tmp_path / "private", delete=True).lines())
    assert "codebook.yaml (explore)" in told, "the other unit is its example"


def test_a_line_holds_the_hash_of_all_above_it() -> None:
    line = Line(1, "2026-01-01T00:00:00.000000Z", "a", 1, {})
    content = as_bytes([line, line, line], chained=True)
    for number, raw in enumerate(content.splitlines()):
        above = b"".join(content.splitlines(keepends=True)[:number])
        assert json.loads(raw)["prev"] == anchor.head_of(above)
    assert parse(content).chained_from == 1
    assert parse(as_bytes([line, line])).chained_from == 0


def test_the_folder_of_annotations_is_where_the_anchor_says(session: Path) -> None:
    name = anchor.name_in(session.parent, annotations_folder(session) / "units.jsonl")
    assert name == f"{session.parent.name}/annotations/{session.name}/units.jsonl"


def test_redacting_names_the_videos_that_keep_the_stretch(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(video_files, "has_video_consent", lambda record: True)
    head = open_record(session).rows[-1].hash
    with video_files.VideosFile(video_files.list_file(session)) as known:
        for number, begins_s in enumerate((0.0, 100.0), start=1):
            name = f"video-{number}"
            video = video_files.Video(
                name, f"{name}.mp4", "0" * 64, 1, 60.0, 640, 480, True, head, "anna", "labapp"
            )
            known.add(video, video_files.VideoAlignment(begins_s))
    told = " ".join(redact(session, 20 * NS, 22 * NS, "anna").lines())
    assert "video-1 still contains picture and sound of this stretch" in told
    assert "video-2" not in told
