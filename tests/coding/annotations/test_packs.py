"""Packs of annotations: sent, taken in whole or not at all, and verified."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, AnnotationsBusy, LabappError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import packs, redacting, store
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.ledger import as_bytes, parse, read
from labapp.coding.annotations.model import (
    Assignment,
    RaterMarks,
    Round,
    Text,
    Unit,
    annotations_folder,
    codebook_versions,
    rater_file,
)
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
from labapp.coding.annotations.store import (
    annotations_of,
    history_of,
    open_marks,
    open_texts,
    open_units,
    study_progress,
    table,
)
from labapp.coding.annotations.verifying import verify_annotations
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
    with pytest.raises(AnnotationError, match="is not a pack"):
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
    with pytest.raises(AnnotationError, match="no longer exists"):
        make_pack(session.parent, "ben", tmp_path / "more.zip")


def test_nobody_gets_a_pack_of_nothing(session: Path, tmp_path: Path) -> None:
    with pytest.raises(AnnotationError, match="Nothing in golden is assigned to cleo"):
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
    with pytest.raises(AnnotationError, match="another pack was written there in the meantime"):
        packs.make_pack(session.parent, "ben", out)
    assert out.read_bytes() == b"another pack"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".ben.zip")]


RECEIVING_UNITS = tuple(Unit(f"u{n}", (20 + 4 * n) * NS, (22 + 4 * n) * NS) for n in range(3))


@pytest.fixture
def sessions(tmp_path: Path) -> list[Path]:
    """Two sessions of which ben codes everything."""
    first = golden_session(tmp_path / "data")
    second = first.with_name(first.name.replace("ses-1", "ses-2"))
    shutil.copytree(first, second)
    book = resources.assets() / "codebooks" / "think-aloud.yaml"
    shutil.copy(book, first.parent / "codebook.yaml")
    for session in (first, second):
        with open_units(session, "anna") as units:
            units.put_all(RECEIVING_UNITS)
            units.freeze()
    drawn = (
        Assignment(first.name, "ben", 0, 130 * NS),
        Assignment(second.name, "ben", 0, 30 * NS),  # else both packed sessions were the same
    )
    save_draw(first.parent, Draw("d", ("ben",), 0, 1, drawn, 2, 0))
    return [first, second]


@pytest.fixture
def book_receiving(sessions: list[Path]) -> Codebook:
    return codebooks.read(sessions[0].parent / "codebook.yaml")


def handed_over(study: Path, tmp_path: Path) -> Pack:
    """A pack for ben, on another computer."""
    report = make_pack(study, "ben", tmp_path / "ben.zip")
    there = tmp_path / "elsewhere"
    there.mkdir()
    return open_pack(Path(shutil.copy(report.file, there)))


def give(
    session: Path, book: Codebook, code: str, unit: str, round_: Round = "independent"
) -> None:
    with open_marks(session, "ben", book, round=round_) as marks:
        marks.give(code, unit=unit)
        marks.set_status("done")


@pytest.fixture
def session_receiving(sessions: list[Path]) -> Path:
    return sessions[0]


@pytest.fixture
def pack(session_receiving: Path, tmp_path: Path, book_receiving: Codebook) -> Pack:
    """On another computer, where ben has given a code in the first session."""
    opened = handed_over(session_receiving.parent, tmp_path)
    give(opened.folder / session_receiving.name, book_receiving, "explore", "u0")
    return opened


def bens(session: Path) -> RaterMarks:
    return annotations_of(open_record(session)).raters["ben"]


def test_a_locked_round_takes_nothing_in_whichever_round_was_opened_last(
    session_receiving: Path, pack: Pack, book_receiving: Codebook
) -> None:
    receive(session_receiving.parent, pack.folder)
    with open_marks(session_receiving, "ben", book_receiving) as marks:
        marks.set_status("locked")
    with open_marks(pack.folder / session_receiving.name, "ben", book_receiving) as marks:
        marks.give("goal", unit="u0")
    give(pack.folder / session_receiving.name, book_receiving, "goal", "u1", "training")
    with pytest.raises(AnnotationError, match="are locked"):
        receive(session_receiving.parent, pack.folder)
    assert [m.code for m in bens(session_receiving).marks] == ["explore"]
    assert bens(session_receiving).status_of("independent") == "locked"


def test_training_is_taken_in_beside_a_locked_round(
    session_receiving: Path, pack: Pack, book_receiving: Codebook
) -> None:
    receive(session_receiving.parent, pack.folder)
    with open_marks(session_receiving, "ben", book_receiving) as marks:
        marks.set_status("locked")
    give(pack.folder / session_receiving.name, book_receiving, "goal", "u1", "training")
    receive(session_receiving.parent, pack.folder)
    assert [(m.code, m.round) for m in bens(session_receiving).marks] == [
        ("explore", "independent"),
        ("goal", "training"),
    ]
    assert bens(session_receiving).status_of("independent") == "locked"


def test_of_several_sessions_all_are_taken_in_or_none(
    sessions: list[Path], tmp_path: Path, book_receiving: Codebook
) -> None:
    study = sessions[0].parent
    pack = handed_over(study, tmp_path)
    for session in sessions:
        give(pack.folder / session.name, book_receiving, "explore", "u0")
    with open_marks(sessions[1], "ben", book_receiving), pytest.raises(AnnotationsBusy):
        receive(study, pack.folder)
    assert not rater_file(sessions[0], "ben").exists()
    assert [entry.marks for entry in receive(study, pack.folder)] == [1, 1]


def test_nobody_writes_between_reading_and_merging(
    session_receiving: Path, pack: Pack, book_receiving: Codebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(session_receiving, book_receiving, "goal", "u1")
    merged = packs.merge_lines

    def busy(*lines: Any) -> Any:
        with pytest.raises(AnnotationsBusy):
            give(session_receiving, book_receiving, "goal", "u2")
        return merged(*lines)

    monkeypatch.setattr(packs, "merge_lines", busy)
    receive(session_receiving.parent, pack.folder)
    assert [m.unit for m in bens(session_receiving).marks] == ["u0", "u1"]


def test_nobody_writes_between_reading_and_redacting(
    sessions: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = sessions[0]
    with open_texts(session, "anna") as texts:
        texts.put(Text("u0", "Jane was here"))
    shown_texts = redacting.select_visible_texts

    def busy(*given: Any) -> Any:
        with pytest.raises(AnnotationsBusy), open_texts(session, "anna") as texts:
            texts.put(Text("u1", "written meanwhile"))
        return shown_texts(*given)

    monkeypatch.setattr(redacting, "select_visible_texts", busy)
    redact(session, 20 * NS, 21 * NS, "anna")
    texts_now = annotations_of(open_record(session)).texts
    assert {unit: text.text for unit, text in texts_now.items()} == {"u0": "[…]"}


def test_what_was_cut_off_on_the_way_is_told(
    session_receiving: Path, pack: Pack, book_receiving: Codebook
) -> None:
    path = rater_file(pack.folder / session_receiving.name, "ben")
    path.write_bytes(path.read_bytes()[:-20])
    (received,) = receive(session_receiving.parent, path)
    assert "cut off" in received.remark
    assert received.status == "draft"


def test_a_rater_who_is_called_like_another_is_refused(
    session_receiving: Path, pack: Pack, book_receiving: Codebook
) -> None:
    with open_marks(session_receiving, "Ben", book_receiving) as marks:
        marks.give("goal", unit="u1")
    with pytest.raises(AnnotationError, match="There is a rater 'Ben'"):
        receive(session_receiving.parent, pack.folder)
    assert not rater_file(session_receiving, "ben").exists()


BOOK = resources.assets() / "codebooks" / "think-aloud.yaml"


@pytest.fixture
def session_verifying(tmp_path: Path) -> Path:
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


def test_what_is_whole_is_said_to_be(session_verifying: Path) -> None:
    for path in (session_verifying, session_verifying.parent):
        report = verify_annotations(path)
        assert report.ok, report.problems
        assert not report.remarks
        assert list(report.lines())[-1].endswith("whole")


def test_a_changed_byte_is_named_with_its_line(session_verifying: Path) -> None:
    path = rater_file(session_verifying, "anna")
    path.write_bytes(path.read_bytes().replace(b'"explore"', b'"exploro"'))
    problem, chain = verify_annotations(session_verifying).problems
    assert "raters/anna.jsonl, line 2: it was changed" in problem
    assert "raters/anna.jsonl, line 3: something above it was changed" in chain
    with pytest.raises(LabappError, match="line 2: it was changed"):
        store.annotations_of(open_record(session_verifying))


def test_a_file_that_nobody_knows_is_named(session_verifying: Path) -> None:
    (annotations_folder(session_verifying) / "more.csv").write_text("a")
    (session_verifying.parent / "annotations" / "notes.txt").write_text("b")
    problems = verify_annotations(session_verifying.parent).problems
    assert [problem.rsplit(": ", 1)[-1] for problem in problems] == ["unknown file"] * 2


def test_a_lost_codebook_is_named(session_verifying: Path) -> None:
    for path in codebook_versions(session_verifying.parent).glob("*.yaml"):
        path.unlink()
    problem, anchored = verify_annotations(session_verifying).problems
    assert "2 marks were made with a codebook that is missing" in problem
    assert ".yaml: it no longer exists; it had" in anchored


def test_annotations_without_their_session_are_named(session_verifying: Path) -> None:
    session_verifying.rename(session_verifying.with_name("elsewhere"))
    (problem,) = verify_annotations(session_verifying.parent).problems
    assert "it has annotations, but" in problem


def test_marks_of_units_that_are_gone_are_a_remark(session_verifying: Path) -> None:
    with store.open_units(session_verifying, "anna") as units:
        units.split("a", NS + 5)
        units.settle(units.proposals[0].id, True)
    report = verify_annotations(session_verifying)
    assert report.ok
    assert len(report.remarks) == 2
    assert "1 marks belong to units that were split" in report.remarks[0]
    assert "1 texts belong to units that no longer exist" in report.remarks[1]


def test_marks_by_an_older_definition_are_a_remark(session_verifying: Path) -> None:
    newer = session_verifying.parent / "codebook.yaml"
    text = BOOK.read_text("utf-8").replace("version: 1", "version: 2")
    newer.write_text(
        text.replace("moves a slider to see what it does", "moves any slider"), "utf-8"
    )
    with store.open_marks(session_verifying, "anna", codebooks.read(newer)):
        pass
    (remark,) = verify_annotations(session_verifying).remarks
    assert "1 marks were made under an older definition" in remark


@pytest.mark.parametrize(
    ("file", "kind", "change", "why"),
    [
        ("raters/anna.jsonl", "mark.put", {"t1_ns": 0}, "it goes from 1000000000 to 0 ns"),
        ("raters/anna.jsonl", "mark.put", {"t0_ns": -1}, "it goes from -1"),
        ("raters/anna.jsonl", "mark.put", {"t0_ns": "1"}, "its t0_ns"),
        ("raters/anna.jsonl", "mark.put", {"round": "final"}, "its round"),
        ("raters/anna.jsonl", "set.opened", {"rater": None}, "its rater is not text"),
        ("raters/anna.jsonl", "status", {"status": "over"}, "its status is 'over'"),
        ("units.jsonl", "unit.put", {"t0_ns": 2**60, "t1_ns": 2**60}, "it goes from"),
        ("units.jsonl", "unit.put", {"speaker": "dog"}, "its speaker"),
        ("units.jsonl", "units.frozen", {"frozen": 1}, "neither true nor false"),
        ("transcript.jsonl", "text.put", {"words": [1]}, "its words.0"),
    ],
)
def test_lines_that_no_labapp_wrote_are_refused(
    session_verifying: Path, file: str, kind: str, change: dict[str, Any], why: str
) -> None:
    """Their checksums are right: somebody made them anew."""
    path = annotations_folder(session_verifying) / file
    lines = [
        line._replace(body={**line.body, **change}) if line.kind == kind else line
        for line in read(path).lines
    ]
    path.write_bytes(as_bytes(lines))
    problems = verify_annotations(session_verifying).problems
    assert any(why in problem and kind in problem for problem in problems), problems
    with pytest.raises(AnnotationError, match="cannot be read"):
        store.annotations_of(open_record(session_verifying))


@pytest.mark.parametrize("journal", [None, [1], {}, 5, ""])
def test_a_file_that_names_no_session_is_of_another_one(
    session_verifying: Path, journal: Any
) -> None:
    path = rater_file(session_verifying, "anna")
    opened, *rest = read(path).lines
    path.write_bytes(as_bytes([opened._replace(body={**opened.body, "journal": journal}), *rest]))
    with pytest.raises(AnnotationError, match="its journal is not the one that was coded"):
        store.annotations_of(open_record(session_verifying))


def test_a_line_of_a_newer_labapp_is_told(session_verifying: Path) -> None:
    path = rater_file(session_verifying, "anna")
    lines = read(path).lines
    for newer in (lines[-1]._replace(v=2), lines[-1]._replace(kind="mark.sung")):
        path.write_bytes(as_bytes([*lines[:-1], newer]))
        with pytest.raises(AnnotationError, match="it was written by a newer version of labapp"):
            store.annotations_of(open_record(session_verifying))


def test_what_is_neither_a_session_nor_a_study(tmp_path: Path) -> None:
    with pytest.raises(LabappError):
        verify_annotations(tmp_path)


def test_everything_that_was_done_is_in_the_history(session_verifying: Path) -> None:
    record = open_record(session_verifying)
    steps = history_of(record)
    assert [step.line.kind for step in steps if not step.rater] == [
        "units.opened", "unit.put", "unit.put", "units.frozen", "texts.opened", "text.put",
    ]  # fmt: skip
    lines = [str(step) for step in history_of(record, "anna")]
    assert len(lines) == 4
    assert "anna  mark.put  0:01.00 to 0:02.00, tier strategy, code explore, unit a" in lines[1]
    assert lines[3].endswith("status done, round independent")


def test_how_far_a_study_is(session_verifying: Path) -> None:
    (row,) = study_progress(session_verifying.parent)
    assert (row.units, row.frozen, row.texts, row.reviewed) == (2, True, 1, 0)
    assert [(rater.rater, rater.units, rater.status) for rater in row.raters] == [
        ("anna", 1, "done")
    ]
    assert not row.second
    with store.open_marks(session_verifying, "ben", codebooks.read(BOOK)) as marks:
        marks.set_status("done")
    (row,) = study_progress(session_verifying.parent)
    assert row.second
    header, line = table([row])
    assert header.split()[:2] == ["session", "units"]
    assert "2 frozen" in line
    assert "anna 1/2 (done), ben 0/2 (done)" in line


def test_a_damaged_session_of_a_study_is_a_line_of_its_own(session_verifying: Path) -> None:
    path = rater_file(session_verifying, "anna")
    path.write_bytes(path.read_bytes().replace(b'"explore"', b'"exploro"'))
    (row,) = study_progress(session_verifying.parent)
    assert "was changed" in row.problem
    assert "was changed" in list(table([row]))[-1]


def test_two_raters_in_training_are_no_second_coding(session_verifying: Path) -> None:
    with store.open_marks(
        session_verifying, "ben", codebooks.read(BOOK), round="training"
    ) as marks:
        marks.give("explore", unit="a")
        marks.set_status("done")
    (row,) = study_progress(session_verifying.parent)
    assert not row.second
