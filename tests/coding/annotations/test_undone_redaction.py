"""Someone undoes a redaction in the file that contains it: sound and words stay withheld, and the
check says what is missing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from labapp.base import resources
from labapp.base.clock import NS
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.ledger import as_bytes, read
from labapp.coding.annotations.model import Text, Unit, annotations_folder
from labapp.coding.annotations.packs import make_pack, open_pack
from labapp.coding.annotations.redacting import redact
from labapp.coding.annotations.rounds import assign_study
from labapp.coding.annotations.store import annotations_of, open_marks, open_texts, open_units
from labapp.coding.annotations.verifying import verify_annotations
from labapp.coding.exchange.gathering import export_coding
from labapp.coding.exchange.incoming import FORMATS
from labapp.coding.sound import SessionSound, write_clip
from labapp.record.journal import anchor
from labapp.record.journal.opening import open_record, open_records
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from tests.helpers.every_byte import contents, spelled
from tests.helpers.journals import GOLDEN, golden_session

SECRET = "Xanthippe"
BEGIN, END = 20 * NS, 22 * NS
Undo = Callable[[Path, Path], object]
"""Gets the folder of the session's annotations, and a copy of it from before the redaction."""


@pytest.fixture
def session(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A coded session of which two seconds with a name are redacted, and a `backup` from before."""
    monkeypatch.setattr(resources, "models", lambda: GOLDEN / "models")
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    (session,) = tmp_path.glob("data/golden/sub-*")
    return session


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with such a session in `data` and such a backup."""
    folder = tmp_path_factory.mktemp("made")
    session = golden_session(folder / "data")
    book = (resources.assets() / "codebooks" / "think-aloud.yaml").read_bytes()
    (session.parent / "codebook.yaml").write_bytes(book)
    with open_units(session, "anna") as units:
        units.put_all([Unit("a", BEGIN, END), Unit("b", END, 24 * NS)])
        units.freeze()
    with open_texts(session, "anna") as texts:
        texts.put(Text("a", f"{SECRET} is my name", reviewed=True))
        texts.put(Text("b", "let me turn this", reviewed=True))
    with open_marks(session, "anna", codebooks.read(session.parent / "codebook.yaml")) as marks:
        marks.give("explore", unit="a", memo=f"{SECRET}!")
        marks.set_status("done")
    assign_study(session.parent, ["anna"], 0.0, 1, "independent")
    shutil.copytree(annotations_folder(session), folder / "backup")
    redact(session, BEGIN, END, "anna")
    with open_texts(session, "anna") as texts:
        texts.put(Text("b", "let me turn this one", reviewed=True))
    return folder


def _cut(folder: Path, backup: Path) -> None:
    path = folder / "transcript.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if b'"redact.put"' in line)
    path.write_bytes(b"".join(lines[:first]))


def _restore(folder: Path, backup: Path) -> None:
    shutil.copy(backup / "transcript.jsonl", folder)


def _shorten(folder: Path, backup: Path) -> None:
    """The stretch is a hundredth of what it was; every sum and the chain are made again."""
    path = folder / "transcript.jsonl"
    lines = [
        line._replace(body={**line.body, "t1_ns": BEGIN + NS // 100})
        if line.kind == "redact.put"
        else line
        for line in read(path).lines
    ]
    path.write_bytes(as_bytes(lines, chained=True))


def _drop(folder: Path, backup: Path) -> None:
    """The one line is left out, and the chain is made again."""
    path = folder / "transcript.jsonl"
    lines = [line for line in read(path).lines if line.kind != "redact.put"]
    path.write_bytes(as_bytes(lines, chained=True))


def _take_back(folder: Path, backup: Path) -> None:
    """A line is added that takes the redaction back."""
    path = folder / "transcript.jsonl"
    lines = list(read(path).lines)
    name = next(line.body["id"] for line in lines if line.kind == "redact.put")
    taken = lines[-1]._replace(kind="redact.removed", body={"id": name})
    path.write_bytes(as_bytes([*lines, taken], chained=True))


def _replace_folder(folder: Path, backup: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(backup, folder)


WAYS: dict[str, Undo] = {
    "cut tail": _cut,
    "empty file": lambda folder, _: (folder / "transcript.jsonl").write_bytes(b""),
    "delete file": lambda folder, _: (folder / "transcript.jsonl").unlink(),
    "restore backup": _restore,
    "edit the line with sums made again": _shorten,
    "leave the line out with sums made again": _drop,
    "add a line that takes it back": _take_back,
    "replace the folder of annotations": _replace_folder,
    "delete the folder of annotations": lambda folder, _: shutil.rmtree(folder),
    "delete all annotations of the study": lambda folder, _: shutil.rmtree(folder.parent),
    "delete the anchor": lambda folder, _: (folder.parents[2] / anchor.ANCHOR).unlink(),
}


def _silent(sound: SessionSound) -> bool:
    """Whether the stretch is silent, and something else is not."""
    try:
        rate = sound.rate
        within = sound.read(BEGIN, 2 * rate)
        beyond = sound.read(sound.begin_ns, int((sound.end_ns - sound.begin_ns) / NS * rate))
        return not within.any() and bool(beyond.any())
    finally:
        sound.close()


@pytest.mark.parametrize("way", WAYS)
def test_the_sound_stays_withheld(way: str, session: Path, tmp_path: Path) -> None:
    folder, backup = annotations_folder(session), tmp_path / "backup"
    assert verify_annotations(session.parent).problems == []
    WAYS[way](folder, backup)

    problems = verify_annotations(session.parent).problems
    assert problems, "the check of the study says what is missing"
    if way != "delete the anchor":
        assert any("20.000 to 22.000 s" in p or "transcript.jsonl" in p for p in problems), problems
    assert verify(session).problems, "the check of the session says so, too"

    record = open_record(session)
    assert any(r.t0_ns <= BEGIN and r.t1_ns >= END for r in annotations_of(record).redactions)
    out = tmp_path / "out"
    out.mkdir()
    for name, private in (("bundle", None), ("reduced", tmp_path / "private")):
        reduced = private is not None
        bundle = export([session], out / name, deidentify=reduced, private=private, audio=True)
        (bundled,) = open_records(bundle)
        assert _silent(SessionSound(bundled)), name
        assert verify(bundle).problems == [], name
    write_clip(record, 19 * NS, 23 * NS, out / "clip.wav")
    clip = (out / "clip.wav").read_bytes()[44:]
    rate = len(clip) // 8
    assert not any(clip[2 * rate : 6 * rate])
    assert any(clip[: 2 * rate - 20])
    if annotations_of(record).raters.get("anna") and annotations_of(record).segmentation.units:
        export_coding(
            record, "anna", FORMATS["eaf"], out / "P01.eaf", with_sound=True, base="joined"
        )
        heard = (out / "P01.wav").read_bytes()[44:]
        assert any(heard), "the rest is there"
        span = slice(int(20.01 * 2 * rate) // 2 * 2, int(21.99 * 2 * rate) // 2 * 2)
        begin = SessionSound(record)
        offset = int(begin.begin_ns / NS * 2 * rate) // 2 * 2
        begin.close()
        assert not any(heard[span.start - offset : span.stop - offset])
        if (folder.parent / "assignments.jsonl").exists():
            make_pack(session.parent, "anna", out / "anna.zip")
            (packed,) = open_records(open_pack(out / "anna.zip").folder / session.name)
            assert not SessionSound(packed).read(BEGIN, 2 * rate).any()
    codes = spelled(SECRET)
    for name, content in contents(out):
        assert not [code for code in codes if code in content], name


def test_both_at_once_are_out_of_reach_and_named(session: Path, tmp_path: Path) -> None:
    """Someone who puts back the file and the anchor as they were yesterday has a data folder that
    holds nothing of the redaction: no key seals it. The check says that it cannot notice that."""
    _restore(annotations_folder(session), tmp_path / "backup")
    path = session.parents[1] / anchor.ANCHOR
    lines = path.read_bytes().splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if b'"redacted"' in line)
    path.write_bytes(b"".join(lines[:first]))
    assert annotations_of(open_record(session)).redactions == ()
    told = verify_annotations(session.parent)
    assert "restores both" in str(told.to_json()["not_noticed"])
    assert any("This check cannot detect" in line for line in told.lines())


def test_redacting_again_writes_it_down_again(session: Path, tmp_path: Path) -> None:
    _restore(annotations_folder(session), tmp_path / "backup")
    redact(session, BEGIN, END, "anna")
    path = annotations_folder(session) / "transcript.jsonl"
    assert SECRET.encode() not in path.read_bytes()
    assert b'"redact.put"' in path.read_bytes()
    told = verify_annotations(session)
    assert told.problems == []
    assert any("when it was rewritten on" in remark for remark in told.remarks), "and why"


def test_what_is_taken_back_in_the_program_is_heard_again(session: Path) -> None:
    with open_texts(session, "anna") as texts:
        (redaction,) = texts.redactions
        texts.redact(replace(redaction, id="later", t0_ns=END, t1_ns=END + NS))
        assert len(texts.redactions) == 2
        texts.undo()
        assert texts.redactions == (redaction,)
    assert annotations_of(open_record(session)).redactions == (redaction,)
    assert verify_annotations(session.parent).problems == []
