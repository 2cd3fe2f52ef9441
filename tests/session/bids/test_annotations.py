"""Units, texts and marks in bundles: given back equal, and without a redacted word or sample."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base import resources
from labapp.base.clock import NS
from labapp.base.errors import AnnotationError, SessionBusy
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import redacting
from labapp.coding.annotations.bundling import bundle_annotations, leaving_annotations
from labapp.coding.annotations.final import final_marks
from labapp.coding.annotations.ledger import rewrite
from labapp.coding.annotations.model import Redaction, Text, Unit, Word, annotations_folder
from labapp.coding.annotations.redacting import redact
from labapp.coding.annotations.rounds import (
    assignments_of,
    codable,
    draw_assignments,
    save_draw,
)
from labapp.coding.annotations.settlements import disagreements
from labapp.coding.annotations.store import (
    annotations_of,
    codebooks_in,
    open_marks,
    open_settlements,
    open_texts,
    open_units,
)
from labapp.coding.sound import SessionSound
from labapp.record.journal.opening import open_record
from labapp.record.journal.record import Record
from labapp.session.bids.export import export
from labapp.session.bids.folder import hash_stream, manifest_text, read_manifest
from labapp.session.bids.verify import verify
from tests.helpers.bids import validator_errors
from tests.helpers.journals import GOLDEN, golden_session
from tests.helpers.nightly import examples, sample

CODEBOOK = resources.assets() / "codebooks" / "think-aloud.yaml"
SECRET = "Xanthippe"
"""The name that is redacted: as a word, in a text that was corrected, and in remarks."""
OTHER = "Brunhilde"
"""A name in a text that nobody has read against the sound."""
UNITS = (
    Unit("a", 20 * NS, 24 * NS),
    Unit("b", 24 * NS, 28 * NS),
    Unit("c", 110 * NS, 112 * NS, "moderator"),
)


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session that two raters coded, of which something is to be redacted."""
    session = golden_session(tmp_path_factory.mktemp("coded"))
    shutil.copy(CODEBOOK, session.parent / "codebook.yaml")
    book = codebooks.read(CODEBOOK)
    with open_units(session, "anna") as units:
        units.put_all(UNITS)
        units.freeze()
    words = ("I", "am", SECRET, "and", "turn", "it")
    times = tuple(Word(20 * NS + n * NS // 2, 20 * NS + (n + 1) * NS // 2, w)
                  for n, w in enumerate(words))  # fmt: skip
    with open_texts(session, "anna") as texts:
        texts.put(Text("a", f"I am {SECRET}, and turn it, {SECRET} says"))
        texts.put(Text("a", " ".join(words), times))
        texts.review("a")
        texts.put(Text("b", f"{OTHER} told me so"))
    with open_marks(session, "anna", book) as marks:
        first = marks.give("explore", unit="a", memo=f"{SECRET} again")
        marks.put(replace(first, memo="a name is said"))
        marks.give("explore", unit="b", memo="sure")
        marks.give("insight", t0_ns=21 * NS, memo=SECRET)
        marks.set_status("done")
    with open_marks(session, "ben", book) as marks:
        marks.give("explore", unit="a")
        marks.give("goal", unit="b")
    record = open_record(session)
    save_draw(
        session.parent,
        draw_assignments(
            [codable(record, annotations_of(record).segmentation)], ("anna", "ben"), 1, 1
        ),
    )
    differ = disagreements(annotations_of(record), assignments_of(record))
    with open_settlements(session, "cleo") as settled:
        settled.settle(differ[-1], differ[-1].marks["ben"], "an aim is named")
    return session


@pytest.fixture
def session(coded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(resources, "models", lambda: GOLDEN / "models")
    shutil.copytree(coded.parents[1], tmp_path / "data")
    return tmp_path / "data" / coded.parent.name / coded.name


def redacted(session: Path) -> None:
    redact(session, 21 * NS, 21 * NS + NS // 2, "anna", "[name]")


def contents(root: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder, or in an archive."""
    if root.is_file():
        with zipfile.ZipFile(root) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist())
        return
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield path.relative_to(root).as_posix(), path.read_bytes()


def holding(root: Path, word: str) -> list[str]:
    """The files that have a word, in UTF-8 or UTF-16."""
    codes = (word.encode(), word.encode("utf-16-le"), word.encode("utf-16-be"))
    return [name for name, content in contents(root) if any(code in content for code in codes)]


def test_a_bundle_gives_the_annotations_back_equal(session: Path, tmp_path: Path) -> None:
    for zipped in sample((False, True), (False,)):
        out = export([session], tmp_path / f"bundle-{zipped}", zip=zipped)
        before, after = open_record(session), open_record(out)
        assert annotations_of(after) == annotations_of(before)
        assert assignments_of(after) == assignments_of(before)
        assert codebooks_in(after) == codebooks_in(before)
        final = final_marks(annotations_of(after), assignments_of(after))
        assert final == final_marks(annotations_of(before), assignments_of(before))
        report = verify(out)
        assert report.ok, report.lines()
        assert report.checked["annotation files"] == 6
    again = export([tmp_path / "bundle-False"], tmp_path / "again")
    assert annotations_of(open_record(again)) == annotations_of(open_record(session))


def test_a_bundle_with_annotations_is_valid_bids(session: Path, tmp_path: Path) -> None:
    redacted(session)
    assert not validator_errors(export([session], tmp_path / "bundle"))


def test_what_was_corrected_is_in_no_bundle(session: Path, tmp_path: Path) -> None:
    """Without a redaction the word itself may go out, and what it replaced may not."""
    text = f"{SECRET} says"
    assert holding(session.parent / "annotations", text)
    bundle = export([session], tmp_path / "bundle")
    assert holding(bundle, SECRET)
    assert not holding(bundle, text)


def test_a_redacted_word_is_in_no_exported_byte(session: Path, tmp_path: Path) -> None:
    redacted(session)
    assert not holding(session.parent, SECRET), "nor in the files of the lab"
    ways = {"plain": {}, "zip": {"zip": True}, "reduced": {"deidentify": True},
            "heard": {"deidentify": True, "audio": True}}  # fmt: skip
    for name in sample([*ways], ["plain", "heard"]):
        out = export([session], tmp_path / name, private=tmp_path / "private", **ways[name])  # type: ignore[arg-type]
        assert not holding(out, SECRET), name
        assert verify(out).ok, verify(out).lines()
    annotations = annotations_of(open_record(tmp_path / "plain"))
    assert annotations == annotations_of(open_record(session))
    assert annotations.texts["a"].text == "I am [name] and turn it"


def test_redacted_sound_is_silent_and_only_there(session: Path, tmp_path: Path) -> None:
    def heard(record: Record) -> np.ndarray:
        sound = SessionSound(record)
        return sound.read(20 * NS, 3 * sound.rate)

    before = heard(open_record(session))
    redacted(session)
    after = heard(open_record(export([session], tmp_path / "bundle")))
    assert before[1000:1500].any()
    assert not after[1000:1500].any()
    assert np.array_equal(after[:990], before[:990])
    assert np.array_equal(after[1510:], before[1510:])
    assert np.array_equal(heard(open_record(session)), before), "the recording is as it was"
    report = verify(tmp_path / "bundle")
    assert any("1 of its 71 blocks contain redacted sound" in note for note in report.notes)
    again = export([tmp_path / "bundle"], tmp_path / "again")
    assert verify(again).ok, verify(again).lines()


def test_sound_that_ought_to_be_silent_is_found(session: Path, tmp_path: Path) -> None:
    """The recording put back in the place of the redacted sound, and the manifest made anew."""
    redacted(session)
    bundle = export([session], tmp_path / "bundle")
    (sound,) = bundle.rglob("segment-01.wav")
    sound.write_bytes((session / "audio" / "segment-01.wav").read_bytes())
    manifest = bundle / "sourcedata" / "labapp" / "manifest.json"
    facts, files = read_manifest(manifest.read_bytes())
    with sound.open("rb") as stream:
        files[sound.relative_to(bundle).as_posix()] = hash_stream(stream)
    manifest.write_text(manifest_text(facts, files))
    problems = verify(bundle).problems
    assert any("is redacted, but not silent" in problem for problem in problems), problems


def test_a_de_identified_copy_has_reviewed_texts_no_remarks_and_no_raters(
    session: Path, tmp_path: Path
) -> None:
    bundle = export([session], tmp_path / "b", deidentify=True, private=tmp_path / "private")
    annotations = annotations_of(open_record(bundle))
    assert list(annotations.texts) == ["a"], "b was not read against the sound"
    assert not holding(bundle, OTHER)
    assert not holding(bundle, "a name is said")
    assert not holding(bundle, "an aim is named")
    for person in ("anna", "ben", "cleo"):
        assert not holding(bundle / "sourcedata" / "labapp" / "sub-P01", person)
    people = {name for name, rater in annotations.raters.items() if not rater.machine}
    assert people == {"rater-1", "rater-2"}
    assert {len(annotations.raters[name].marks) for name in people} == {3, 2}
    assert assignments_of(open_record(bundle))[0].session == annotations.session
    year = json.dumps(str(open_record(session).name.started.year))[1:-1]
    for name, content in contents(bundle):
        if "/annotations/" in name and name.endswith(".jsonl"):
            assert f'"utc":"{year}'.encode() not in content, name
    assert final_marks(annotations, assignments_of(open_record(bundle)))


def test_marks_of_another_session_are_not_exported(session: Path, tmp_path: Path) -> None:
    path = annotations_folder(session) / "raters" / "ben.jsonl"
    content = path.read_bytes()
    path.write_bytes(content.replace(b"explore", b"exploxe"))
    with pytest.raises(AnnotationError, match="line"):
        export([session], tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()
    assert not verify(session).ok


def test_nothing_is_redacted_while_a_window_is_open(session: Path) -> None:
    with open_texts(session, "ben"), pytest.raises(SessionBusy, match="open in a window"):
        redacted(session)
    assert annotations_of(open_record(session)).redactions == ()


def test_redacting_twice_is_redacting_once(session: Path) -> None:
    redacted(session)
    first = annotations_of(open_record(session))
    redacted(session)
    assert annotations_of(open_record(session)) == first
    assert first.redactions[0] == Redaction(
        first.redactions[0].id, 21 * NS, 21 * NS + NS // 2, "[name]"
    )


def test_a_participant_who_refused_a_transcript_has_no_text(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Record, "may", lambda self, use: use != "transcript")
    assert not annotations_of(open_record(session)).texts
    with open_texts(session, "anna") as texts, pytest.raises(AnnotationError, match="not agree"):
        texts.put(Text("a", "once more"))
    bundle = export([session], tmp_path / "bundle")
    assert not holding(bundle, f"am {SECRET}")
    assert not holding(bundle, OTHER)


CODES = ("explore", "goal", "number", "random")
EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("give"), st.sampled_from("ab"), st.sampled_from(CODES)),
        st.tuples(st.just("point"), st.integers(20, 27), st.just("insight")),
        st.tuples(st.just("remove"), st.integers(0, 9), st.just("")),
        st.tuples(st.just("text"), st.sampled_from("ab"), st.text("ab ", max_size=5)),
        st.tuples(st.sampled_from(["undo", "redo"]), st.just(0), st.just("")),
    ),
    max_size=12,
)


@given(EDITS)
@settings(max_examples=examples(25))
def test_whatever_was_done_what_leaves_is_what_holds(
    session: Path, edits: list[tuple[str, Any, str]]
) -> None:
    """Codes, texts, undoing and redoing in any order: the compacted files fold to the same."""
    book = codebooks.codebooks_of(session.parent)[0]
    with open_marks(session, "dora", book) as marks, open_texts(session, "dora") as texts:
        for what, where, name in edits:
            if what == "give":
                marks.give(name, unit=where)
            elif what == "point":
                marks.give(name, t0_ns=where * NS)
            elif what == "remove" and marks.marks:
                marks.remove(marks.marks[where % len(marks.marks)].id)
            elif what == "text":
                texts.put(Text(where, name))
            elif what in ("undo", "redo"):
                getattr(marks, what)()
                getattr(texts, what)()
    record = open_record(session)
    leaving = leaving_annotations(record)
    assert leaving == annotations_of(record)
    lines = bundle_annotations(record)["raters/dora.jsonl"].splitlines()
    assert len(lines) == len(leaving.raters["dora"].marks) + 1, "no line of before"


@pytest.mark.parametrize("failing", [0, 1])
def test_a_redaction_that_was_cut_short_lets_nothing_out_and_goes_on(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """The disk is full at the first or the second file that is written anew."""
    calls: list[Path] = []

    def full(path: Path, *rest: Any) -> None:
        calls.append(path)
        if len(calls) > failing:
            raise AnnotationError("The disk is full.")
        rewrite(path, *rest)

    monkeypatch.setattr(redacting, "rewrite", full)
    with pytest.raises(AnnotationError, match="full"):
        redacted(session)
    assert holding(session.parent / "annotations", SECRET)
    assert not holding(export([session], tmp_path / "bundle"), SECRET)
    monkeypatch.undo()
    monkeypatch.setattr(resources, "models", lambda: GOLDEN / "models")
    redacted(session)
    assert not holding(session.parent / "annotations", SECRET)
    assert len(annotations_of(open_record(session)).redactions) == 1
