"""Packs: what is in them, that they open like a study, and that marks come back whole."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import packs
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.ledger import parse
from labapp.coding.annotations.model import Assignment, Text, Unit, rater_file
from labapp.coding.annotations.packs import (
    NOT_SHARED,
    Pack,
    is_pack,
    make_pack,
    open_pack,
    receive,
    session_to_code,
)
from labapp.coding.annotations.redacting import holders, redact
from labapp.coding.annotations.rounds import Draw, save_draw
from labapp.coding.annotations.store import annotations_of, open_marks, open_texts, open_units
from labapp.coding.sound import SessionSound
from labapp.record.journal.opening import open_record
from labapp.record.journal.record import Record
from labapp.session.withdrawal import withdraw
from tests.helpers.journals import golden_session

SECRET = "Xanthippe"
UNITS = tuple(Unit(f"u{n}", (20 + 4 * n) * NS, (22 + 4 * n) * NS) for n in range(6))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of which ben codes the units u1 and u2, that is from 24 to 30 s."""
    session = golden_session(tmp_path / "data")
    book = resources.assets() / "codebooks" / "think-aloud.yaml"
    shutil.copy(book, session.parent / "codebook.yaml")
    with open_units(session, "anna") as units:
        units.put_all(UNITS)
        units.freeze()
    with open_texts(session, "anna") as texts:
        texts.put(Text("u0", "not for ben"))
        texts.put(Text("u1", f"{SECRET} was here"))
        texts.put(Text("u2", "let me see"))
    name = session.name
    drawn = (Assignment(name, "anna", 0, 130 * NS),
             Assignment(name, "ben", 24 * NS, 30 * NS, "second"))  # fmt: skip
    save_draw(session.parent, Draw("d", ("anna", "ben"), 0.2, 1, drawn, 5, 1))
    redact(session, 24 * NS, 25 * NS, "anna", "[name]")
    return session


@pytest.fixture
def book(session: Path) -> Codebook:
    return codebooks.read(session.parent / "codebook.yaml")


def elsewhere(file: Path, tmp_path: Path) -> Pack:
    """The pack on another computer."""
    there = tmp_path / "elsewhere"
    there.mkdir(exist_ok=True)
    return open_pack(Path(shutil.copy(file, there)))


def coded(session: Path, tmp_path: Path, book: Codebook) -> Pack:
    """A pack in which ben has coded both units."""
    make_pack(session.parent, "ben", tmp_path / "ben.zip")
    pack = elsewhere(tmp_path / "ben.zip", tmp_path)
    with open_marks(pack.folder / session.name, "ben", book) as marks:
        marks.give("explore", unit="u1")
        marks.give("goal", unit="u2", memo="an aim")
        marks.set_status("done")
    return pack


def test_a_pack_has_the_assigned_sound_units_and_text(session: Path, tmp_path: Path) -> None:
    report = make_pack(session.parent, "ben", tmp_path / "ben")
    assert report.sessions == ((session.name, 2, True, True, ""),)
    assert is_pack(report.file)
    pack = elsewhere(report.file, tmp_path)
    record = open_record(pack.folder / session.name)
    annotations = annotations_of(record)
    assert annotations.segmentation.units == UNITS[1:3]
    assert annotations.segmentation.frozen
    assert {u: t.text for u, t in annotations.texts.items()} == {"u1": "[name]", "u2": "let me see"}
    there, here = SessionSound(record), SessionSound(open_record(session))
    (span,) = there.spans
    assert (span.t0_ns, span.t1_ns) == pytest.approx((23.5 * NS, 30.5 * NS), abs=2e6)
    rate = here.rate
    assert np.array_equal(there.read(26 * NS, 4 * rate), here.read(26 * NS, 4 * rate))
    assert not there.read(24 * NS, rate).any(), "redacted"
    assert there.read(23 * NS + 600_000_000, 300).any(), "some sound before it"
    assert not there.read(20 * NS, 3 * rate).any()
    assert open_pack(tmp_path / "elsewhere" / "ben.zip") == pack, "unpacked once"


def test_a_pack_tells_no_condition_no_outcome_and_no_redacted_word(
    session: Path, tmp_path: Path
) -> None:
    make_pack(session.parent, "ben", tmp_path / "ben.zip")
    record = open_record(session)
    pack = elsewhere(tmp_path / "ben.zip", tmp_path)
    kinds = {row.kind for row in open_record(pack.folder / session.name).rows}
    assert {kind for kind in kinds if not kind.startswith("audio.")} == {
        "session.planned",
        "segment.started",
        "session.completed",
        "segment.ended",
    }
    secrets = {SECRET, "not for ben", "third dial", "Table microphone", "solved", "sinelines"}
    secrets |= {str(value) for value in record.planned.assignment.values() if len(str(value)) > 3}
    with zipfile.ZipFile(tmp_path / "ben.zip") as archive:
        for name in archive.namelist():
            if not name.endswith("codebook-think-aloud.yaml"):
                content = archive.read(name)
                assert not [s for s in secrets if s.encode() in content], name
        modes = {entry.external_attr >> 16 & 0o077 for entry in archive.infolist()}
    assert modes == {0}, "for nobody else on that computer"


def test_marks_come_back_and_are_merged_once(session: Path, tmp_path: Path, book: Codebook) -> None:
    pack = coded(session, tmp_path, book)
    back = Path(shutil.make_archive(str(tmp_path / "back"), "zip", pack.folder))
    (received,) = receive(session.parent, back)
    assert (received.marks, received.beyond, received.status) == (2, 0, "done")
    annotations = annotations_of(open_record(session))
    assert [(m.unit, m.code) for m in annotations.raters["ben"].marks] == [
        ("u1", "explore"),
        ("u2", "goal"),
    ]
    content = rater_file(session, "ben").read_bytes()
    (again,) = receive(session.parent, pack.folder)
    assert again.lines == 0
    assert rater_file(session, "ben").read_bytes() == content
    with open_marks(pack.folder / session.name, "ben", book) as marks:
        marks.remove(marks.marks[0].id)
    (later,) = receive(session.parent, rater_file(pack.folder / session.name, "ben"))
    assert (later.marks, later.lines) == (1, 1)
    assert not parse(rater_file(session, "ben").read_bytes()).problems
    with open_marks(session, "ben", book) as marks:
        assert len(marks.marks) == 1, "and opens for work here"


def test_a_pack_from_before_a_redaction_brings_no_remark_back(
    session: Path, tmp_path: Path, book: Codebook
) -> None:
    pack = coded(session, tmp_path, book)
    with open_marks(pack.folder / session.name, "ben", book) as marks:
        marks.give("insight", t0_ns=26 * NS, memo="a moment")
        marks.give("explore", unit="u2", memo=f"{SECRET} again")
        marks.give("explore", unit="u2", memo=f"{SECRET} once more")
    receive(session.parent, pack.folder)
    redact(session, 28 * NS, 30 * NS, "anna")
    file = rater_file(session, "ben")
    redacted = file.read_bytes()
    assert SECRET.encode() not in redacted
    (received,) = receive(session.parent, pack.folder)
    assert (received.lines, received.redacted) == (0, 3)
    assert file.read_bytes() == redacted, "what is known already is not taken in twice"
    file.unlink()
    receive(session.parent, pack.folder)
    assert SECRET.encode() not in file.read_bytes()
    assert {m.memo for m in annotations_of(open_record(session)).raters["ben"].marks} == {
        "",
        "a moment",
    }


def test_changed_text_is_not_taken_in_and_told(
    session: Path, tmp_path: Path, book: Codebook
) -> None:
    pack = coded(session, tmp_path, book)
    before = annotations_of(open_record(session)).texts
    with open_texts(pack.folder / session.name, "ben") as texts:
        texts.put(Text("u2", "let me hear"))
    with open_units(pack.folder / session.name, "ben") as units:
        units.split("u2", 29 * NS)
    (received,) = receive(session.parent, pack.folder)
    assert received.ignored == 2
    assert annotations_of(open_record(session)).texts == before


def test_a_rater_goes_on_with_what_is_not_done(
    session: Path, tmp_path: Path, book: Codebook
) -> None:
    make_pack(session.parent, "ben", tmp_path / "ben.zip")
    assert session_to_code(tmp_path / "ben.zip", "ben") == tmp_path / "ben" / session.name
    with pytest.raises(AnnotationError, match="was made for ben"):
        session_to_code(tmp_path / "ben.zip", "anna")
    other = shutil.copy(tmp_path / "ben.zip", tmp_path / "more.zip")
    (tmp_path / "more").mkdir()
    with pytest.raises(AnnotationError, match="is no pack"):
        open_pack(Path(other))


def test_what_came_back_damaged_is_refused(session: Path, tmp_path: Path, book: Codebook) -> None:
    pack = coded(session, tmp_path, book)
    path = rater_file(pack.folder / session.name, "ben")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"explore", b"exploxe"))
    with pytest.raises(AnnotationError, match="line"):
        receive(session.parent, pack.folder)
    path.write_bytes(whole)
    with pytest.raises(AnnotationError, match="not coded in a pack"):
        receive(golden_session(tmp_path / "other").parent, pack.folder)
    assert not rater_file(session, "ben").exists()


def test_marks_of_another_codebook_are_refused(
    session: Path, tmp_path: Path, book: Codebook
) -> None:
    make_pack(session.parent, "ben", tmp_path / "ben.zip")
    pack = elsewhere(tmp_path / "ben.zip", tmp_path)
    own = tmp_path / "codebook.yaml"
    own.write_bytes(book.content + b"# mine\n")
    with open_marks(pack.folder / session.name, "ben", codebooks.read(own)) as marks:
        marks.give("explore", unit="u1")
    with pytest.raises(AnnotationError, match="a codebook that was not in the pack"):
        receive(session.parent, pack.folder)


def test_locked_marks_take_nothing_in(session: Path, tmp_path: Path, book: Codebook) -> None:
    pack = coded(session, tmp_path, book)
    receive(session.parent, pack.folder)
    with open_marks(session, "ben", book) as marks:
        marks.set_status("locked")
    with open_marks(pack.folder / session.name, "ben", book) as marks:
        marks.give("explore", unit="u2")
    with pytest.raises(AnnotationError, match="are locked"):
        receive(session.parent, pack.folder)


def test_what_was_refused_is_in_no_pack(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Record, "may", lambda self, use: use not in ("share_audio", "transcript"))
    report = make_pack(session.parent, "ben", tmp_path / "ben.zip")
    assert report.sessions == ((session.name, 2, False, False, NOT_SHARED),)
    with zipfile.ZipFile(report.file) as archive:
        assert not [n for n in archive.namelist() if n.endswith((".wav", "transcript.jsonl"))]


def test_a_withdrawal_names_the_pack_and_takes_no_marks_in(
    session: Path, tmp_path: Path, book: Codebook
) -> None:
    pack = coded(session, tmp_path, book)
    assert [entry.kind for entry in holders(session.parent, session.name)] == ["pack"]
    lines = withdraw(session, tmp_path / "private", delete=True).lines()
    assert any(f"pack {tmp_path / 'ben.zip'}" in line for line in lines)
    with pytest.raises(AnnotationError, match="cannot be coded"):
        receive(session.parent, pack.folder)
    with pytest.raises(AnnotationError, match="not there any more"):
        make_pack(session.parent, "ben", tmp_path / "more.zip")


def test_nobody_gets_a_pack_of_nothing(session: Path, tmp_path: Path) -> None:
    with pytest.raises(AnnotationError, match="cleo is assigned to nothing"):
        make_pack(session.parent, "cleo", tmp_path / "cleo.zip")
    assert not (tmp_path / "cleo.zip").exists()


def test_of_two_packs_to_one_file_one_is_refused(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "ben.zip"
    real = packs._zip

    def meanwhile(top: Path, stream: IO[bytes]) -> None:
        real(top, stream)
        out.write_bytes(b"another pack")

    monkeypatch.setattr(packs, "_zip", meanwhile)
    with pytest.raises(AnnotationError, match="another pack was written there meanwhile"):
        packs.make_pack(session.parent, "ben", out)
    assert out.read_bytes() == b"another pack"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".ben.zip")]
