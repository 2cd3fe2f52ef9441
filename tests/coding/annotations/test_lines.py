"""Files of annotations: written, opened, read again, or refused in words."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.base import durable, resources
from labapp.base.clock import NS, utc_text
from labapp.base.errors import AnnotationError, AnnotationsBusy, LabappError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import ledger, marks, settlements, store, texts, units
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.ledger import (
    LONGEST,
    TOGETHER,
    Fold,
    Ledger,
    Line,
    as_bytes,
    body_of,
    decode,
    encode,
    fold_lines,
    lock_file,
    merge_lines,
    next_utc,
    parse,
    read,
    require_whole,
    rewrite,
)
from labapp.coding.annotations.marks import MarksFold
from labapp.coding.annotations.model import (
    TRANSCRIPT,
    UNITS,
    Mark,
    Redaction,
    Text,
    Unit,
    annotations_folder,
    rater_file,
)
from labapp.coding.annotations.settlements import SettlementsFold
from labapp.coding.annotations.texts import TextsFold
from labapp.coding.annotations.units import UnitsFold
from labapp.coding.annotations.verifying import verify_annotations
from labapp.record.journal.opening import open_record
from tests.helpers.journals import golden_session
from tests.helpers.nightly import EVERYTHING
from tests.helpers.waiting import wait_for

few = settings(max_examples=100 if EVERYTHING else 6)

BEGAN = datetime(2026, 1, 2, tzinfo=UTC)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)

BODIES = st.dictionaries(TEXT, VALUES, max_size=4)


def at(number: int) -> str:
    """A time, later for greater numbers."""
    return utc_text(BEGAN + timedelta(microseconds=number))


def lines_of(entries: list[tuple[int, dict[str, Any]]]) -> tuple[Line, ...]:
    """A file of bodies, each written at its time."""
    ordered = sorted(dict(entries).items())
    return tuple(
        Line(seq, at(time), "mark.put", 1, body)
        for seq, (time, body) in enumerate(ordered, start=1)
    )


FILES = st.lists(st.tuples(st.integers(0, 50), BODIES), max_size=8).map(lines_of)


@few
@given(FILES)
def test_what_is_written_is_read(lines: tuple[Line, ...]) -> None:
    read = parse(as_bytes(lines))
    assert read.lines == lines
    assert not read.problems
    assert not read.torn


@few
@given(FILES.filter(bool), st.data())
def test_every_changed_byte_is_found(lines: tuple[Line, ...], data: st.DataObject) -> None:
    content = as_bytes(lines)
    place = data.draw(st.integers(0, len(content) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda v: v != content[place]))
    changed = content[:place] + bytes([value]) + content[place + 1 :]
    read = parse(changed)
    number = content.count(b"\n", 0, place) + 1
    if place == len(content) - 1:
        assert read.torn, "the end of the last line"
        assert read.lines == lines[:-1]
        return
    assert read.problems
    assert read.problems[0].line == number
    with pytest.raises(AnnotationError, match=f"line {number}: "):
        require_whole(read, "anna.jsonl")


@few
@given(FILES.filter(bool), st.data())
def test_a_line_that_was_cut_off_is_left_out(lines: tuple[Line, ...], data: st.DataObject) -> None:
    content = as_bytes(lines)
    cut = data.draw(st.integers(1, len(encode(lines[-1]))))
    read = parse(content[:-cut])
    if cut == 1:
        assert read.lines == lines, "only the end of the line is missing"
        assert not read.ended
        return
    assert read.lines == lines[:-1]
    assert not read.problems
    assert ("cut off" in read.torn) == (content[-cut - 1 : -cut] != b"\n")


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "damaged"),
        (b"[]", "its keys are not those of a line"),
        (b'{"body":{}}', "its keys are not those of a line"),
        (b'{"body":[],"kind":"a","seq":1,"sum":"","utc":"","v":1}', "has the wrong type"),
        (b'{"body":{},"kind":"a","seq":true,"sum":"","utc":"","v":1}', "has the wrong type"),
        (b'{"body":{},"kind":"a","seq":1,"sum":"","utc":"","v":1}', "was changed"),
        (b"[" * 100, "damaged"),
        (b" " * (LONGEST + 1), "longer than"),
        (b"\xff", "damaged"),
    ],
)
def test_what_is_no_line(raw: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decode(raw)


def test_a_line_written_otherwise_is_told_from_a_changed_one() -> None:
    raw = encode(Line(1, at(0), "a", 1, {}))
    with pytest.raises(ValueError, match="written otherwise"):
        decode(raw.replace(b'"body":{}', b'"body": {}'))


def test_a_missing_and_a_doubled_line_are_found() -> None:
    first, second, third = (encode(Line(n, at(n), "a", 1, {})) + b"\n" for n in (1, 2, 3))
    assert [str(p) for p in parse(first + third).problems] == [
        "line 2: it has the number 3, but 2 was expected"
    ]
    assert [p.line for p in parse(first + second + second + third).problems] == [3]
    early = encode(Line(2, at(0), "a", 1, {})) + b"\n"
    assert "written before the line above" in str(parse(first + early).problems[0])


@pytest.mark.parametrize("body", [{"n": 2**70}, {"text": "\ud800"}, {"text": "x" * LONGEST}])
def test_what_cannot_be_stored(body: dict[str, Any]) -> None:
    with pytest.raises(AnnotationError):
        encode(Line(1, at(0), "a", 1, body))


@few
@given(FILES, FILES, FILES)
def test_merging_does_not_ask_for_an_order(
    a: tuple[Line, ...], b: tuple[Line, ...], c: tuple[Line, ...]
) -> None:
    assert merge_lines(a, b) == merge_lines(b, a)
    assert merge_lines(a, a) == a
    assert merge_lines(a, ()) == a
    assert not parse(as_bytes(merge_lines(a, b))).problems
    assert merge_lines(merge_lines(a, b), c) == merge_lines(a, merge_lines(b, c))


def test_time_goes_on_where_the_clock_was_set_back() -> None:
    late = "2999-01-01T00:00:00.000000Z"
    assert next_utc(late) == "2999-01-01T00:00:00.000001Z"
    assert next_utc("") > "2020"


KINDS = sorted(
    {
        value
        for module in (marks, units, texts, settlements)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str) and "." in value and " " not in value
    }
    | {marks.STATUS, marks.TOMBSTONE}
)

KEYS = st.sampled_from(
    ["id", "t0_ns", "t1_ns", "unit", "by", "rater", "round", "status", "text", "about", "frozen",
     "accepted", "put", "removed", "words", "journal", "sound", "codebook", "machine", "marks",
     "tier", "code", "speaker", "origin", "what", "reason", "of", "blind", "value", "memo"]
)  # fmt: skip

WORDS = st.sampled_from(["a", "independent", "participant", "done", "hand", ""])

STRANGE_FILES_BODIES = st.dictionaries(
    KEYS, VALUES | WORDS | st.integers(-5, 5) | st.booleans(), max_size=12
)

UNIT = body_of(Unit("u", 1, 5))

WHOLE: dict[str, dict[str, Any]] = {
    marks.OPENED: {"journal": "", "sound": {}, "rater": "anna", "codebook": "", "blind": [],
                   "round": "independent", "machine": False},
    marks.PUT: body_of(Mark("m", "anna", "a", "b", 1, 5)),
    marks.MEMO: {"about": "session", "text": "a"},
    marks.STATUS: {"status": "done", "round": "independent"},
    units.OPENED: {"journal": "", "sound": {}, "by": "anna"},
    units.PUT: UNIT,
    units.PROPOSED: {"id": "p", "what": "add", "removed": [], "put": [UNIT], "by": "",
                     "reason": ""},
    texts.PUT: body_of(Text("u", "words")),
    texts.REDACTED: body_of(Redaction("r", 1, 5)),
}  # fmt: skip


def with_change(kind: str, place: int, value: Any) -> tuple[str, dict[str, Any]]:
    """A whole body but for one key."""
    body = WHOLE[kind]
    return kind, {**body, sorted(body)[place % len(body)]: value}


CHANGED = st.builds(with_change, st.sampled_from(sorted(WHOLE)), st.integers(0, 20), VALUES)

STRANGE_FILES_FILES = st.lists(
    st.tuples(st.sampled_from(KINDS), STRANGE_FILES_BODIES) | CHANGED, max_size=6
).map(
    lambda entries: as_bytes(
        Line(seq, at(seq), kind, 1, body) for seq, (kind, body) in enumerate(entries, start=1)
    )
)

FOLDS: list[Callable[[], Fold]] = [MarksFold, UnitsFold, TextsFold, SettlementsFold]


@settings(max_examples=100 if EVERYTHING else 15)
@given(st.binary(max_size=400))
def test_any_bytes_are_lines_or_problems(content: bytes) -> None:
    read = parse(content)
    assert read.lines or read.problems or read.torn or not content.strip(b"\n")


@pytest.mark.parametrize("make", FOLDS)
@settings(max_examples=150 if EVERYTHING else 8)
@given(STRANGE_FILES_FILES)
def test_any_lines_are_taken_in_or_refused(make: Callable[[], Fold], content: bytes) -> None:
    fold: Any = make()
    try:
        fold_lines(fold, parse(content).lines, "a file")
    except AnnotationError as error:
        assert "cannot be read" in error.what  # noqa: PT017


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden_session(tmp_path_factory.mktemp("strange"))


@settings(
    max_examples=60 if EVERYTHING else 10,
)
@given(STRANGE_FILES_FILES | st.binary(max_size=100), st.sampled_from([UNITS, TRANSCRIPT, "rater"]))
def test_a_session_with_any_file_is_read_or_refused(
    session: Path, content: bytes, name: str
) -> None:
    path = rater_file(session, "anna") if name == "rater" else annotations_folder(session) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    try:
        record = open_record(session)
        for read in (
            store.annotations_of,
            lambda record: list(map(str, store.history_of(record))),
        ):
            try:
                read(record)
            except LabappError as error:
                assert error.what  # noqa: PT017
        verify_annotations(session)
    finally:
        path.unlink()


FIRST, SECOND = Unit("a", NS, 2 * NS), Unit("b", 2 * NS, 4 * NS)


@pytest.fixture
def session_store(tmp_path: Path) -> Path:
    """A session nobody has coded yet."""
    return golden_session(tmp_path / "data")


@pytest.fixture
def book() -> Codebook:
    """The codebook that is shipped."""
    return codebooks.read(resources.assets() / "codebooks" / "think-aloud.yaml")


@pytest.fixture
def frozen(session_store: Path) -> Path:
    """A session with two frozen units."""
    with store.open_units(session_store, "anna") as units:
        units.put_all([FIRST, SECOND])
        units.freeze()
    return session_store


def test_what_was_coded_is_read_again(frozen: Path, book: Codebook) -> None:
    with store.open_texts(frozen, "anna") as texts:
        texts.put(Text("a", "let me try"))
        texts.review("a")
    with store.open_marks(frozen, "ben", book) as marks:
        explore = marks.give("explore", unit="a")
        point = marks.give("insight", t0_ns=3 * NS, memo="ah")
        marks.set_status("done")
    annotations = store.annotations_of(open_record(frozen))
    assert annotations.segmentation.units == (FIRST, SECOND)
    assert annotations.segmentation.frozen
    assert annotations.texts["a"] == Text("a", "let me try", by="anna", reviewed=True)
    assert annotations.raters["ben"].marks == (explore, point)
    assert annotations.raters["ben"].status == "done"
    assert (explore.t0_ns, explore.t1_ns) == (FIRST.t0_ns, FIRST.t1_ns)
    assert explore.codebook == book.sha256
    assert store.codebooks_in(open_record(frozen)) == {book.sha256: book}


def test_what_the_moderator_wrote_down_are_marks(session_store: Path) -> None:
    marks = store.annotations_of(open_record(session_store)).raters["moderator"]
    assert marks.machine
    assert [(mark.tier, mark.code, mark.memo) for mark in marks.marks]


def test_units_that_are_not_frozen_cannot_be_coded(session_store: Path, book: Codebook) -> None:
    with pytest.raises(AnnotationError, match="has no units yet") as refused:
        store.open_marks(session_store, "anna", book)
    assert "labapp code segment" in refused.value.todo
    with store.open_units(session_store, "anna") as units:
        units.put(FIRST)
    with pytest.raises(AnnotationError, match="not frozen"):
        store.open_marks(session_store, "anna", book)
    assert not rater_file(session_store, "anna").exists()


def test_two_windows_do_not_write_one_file(frozen: Path, book: Codebook) -> None:
    with store.open_marks(frozen, "anna", book):
        with pytest.raises(AnnotationsBusy):
            store.open_marks(frozen, "anna", book)
        store.open_marks(frozen, "ben", book).close()
    store.open_marks(frozen, "anna", book).close()


def test_a_file_of_another_session_is_refused(frozen: Path, book: Codebook, tmp_path: Path) -> None:
    store.open_marks(frozen, "anna", book).close()
    other = golden_session(tmp_path / "other")
    (other / "journal.sqlite").unlink()
    from tests.helpers.golden import golden_builder

    builder = golden_builder()
    builder.rows = builder.rows[:-1]
    from tests.helpers.journals import write_journal

    write_journal(other / "journal.sqlite", sorted(builder.rows, key=lambda row: row[0])[:-1])
    target = rater_file(other, "anna")
    target.parent.mkdir(parents=True)
    target.write_bytes(rater_file(frozen, "anna").read_bytes())
    with pytest.raises(AnnotationError, match="journal is not the one that was coded"):
        store.annotations_of(open_record(other))


def test_sound_that_was_changed_is_refused(frozen: Path, book: Codebook) -> None:
    store.open_marks(frozen, "anna", book).close()
    sound = next(iter(sorted((frozen / "audio").glob("*.wav"))))
    content = bytearray(sound.read_bytes())
    content[-2] ^= 1
    sound.write_bytes(content)
    with pytest.raises(AnnotationError, match=f"{sound.name} is not the one that was coded"):
        store.open_marks(frozen, "anna", book)


def test_a_file_under_another_name_is_refused(frozen: Path, book: Codebook) -> None:
    store.open_marks(frozen, "anna", book).close()
    rater_file(frozen, "anna").rename(rater_file(frozen, "ben"))
    with pytest.raises(AnnotationError, match="made by anna"):
        store.open_marks(frozen, "ben", book)


@pytest.mark.parametrize("name", ["", "an na", "ä", "a" * 41, "moderator", "Moderator", "nul", "."])
def test_names_that_no_rater_can_have(frozen: Path, book: Codebook, name: str) -> None:
    with pytest.raises(AnnotationError):
        store.open_marks(frozen, name, book)


def test_two_raters_are_not_told_apart_by_capitals(frozen: Path, book: Codebook) -> None:
    store.open_marks(frozen, "anna", book).close()
    with pytest.raises(AnnotationError, match="There is a rater 'anna'"):
        store.open_marks(frozen, "Anna", book)


def test_marks_stand_where_their_units_stand(frozen: Path, book: Codebook) -> None:
    with store.open_marks(frozen, "ben", book) as marks:
        marks.give("explore", unit="a")
    with store.open_units(frozen, "ben") as units:
        units.move("a", t1_ns=NS + 5)
        (proposal,) = units.proposals
        with pytest.raises(AnnotationError, match="Only anna"):
            units.settle(proposal.id, True)
    with store.open_units(frozen, "anna") as units:
        units.settle(proposal.id, True)
    (mark,) = store.annotations_of(open_record(frozen)).raters["ben"].marks
    assert (mark.t0_ns, mark.t1_ns) == (NS, NS + 5)


@pytest.mark.parametrize(
    ("mark", "why"),
    [
        (Mark("1", "", "strategy", "zzz", NS, 2 * NS, "a"), "there is no code 'zzz'"),
        (Mark("1", "", "affect", "explore", NS, 2 * NS, "a"), "belongs to the tier 'strategy'"),
        (Mark("1", "", "strategy", "explore", NS, 2 * NS), "apply to units"),
        (Mark("1", "", "strategy", "explore", NS, 2 * NS, "z"), "apply to units"),
        (Mark("1", "", "moment", "frustrated", NS, 2 * NS, "a"), "apply to spans"),
        (Mark("1", "", "moment", "frustrated", NS, NS), "a span cannot begin"),
        (Mark("1", "", "moment", "insight", NS, 2 * NS), "a point cannot begin"),
        (Mark("1", "", "moment", "insight", -1, -1), "a point cannot begin"),
        (Mark("1", "", "strategy", "goal", NS, 2 * NS, "a", 1), "has no value 1"),
    ],
)
def test_what_cannot_be_coded(frozen: Path, book: Codebook, mark: Mark, why: str) -> None:
    with store.open_marks(frozen, "anna", book) as marks:
        with pytest.raises(AnnotationError, match=why):
            marks.put(mark)
        assert marks.marks == ()


def test_annotations_never_touch_the_session(frozen: Path, book: Codebook) -> None:
    before = {path: path.read_bytes() for path in frozen.rglob("*") if path.is_file()}
    with store.open_marks(frozen, "anna", book) as marks:
        marks.give("explore", unit="a")
    assert before == {path: path.read_bytes() for path in frozen.rglob("*") if path.is_file()}
    assert annotations_folder(frozen).is_dir()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a file that is not there yet, in a folder that is not there either."""
    return tmp_path / "raters" / "anna.jsonl"


def test_a_line_is_in_the_file_at_once(path: Path) -> None:
    with Ledger(path) as file:
        line = file.append("mark.put", {"id": "1"})
        assert read(path).lines == (line,)
        assert not file.saved
        wait_for(lambda: file.saved)  # nobody has to ask for it
    assert not [t for t in threading.enumerate() if t.name.startswith("annotations")]


def test_new_folders_outlast_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(durable, "sync_folder", synced.append)
    Ledger(tmp_path / "a" / "b" / "anna.jsonl").close()
    assert {tmp_path, tmp_path / "a", tmp_path / "a" / "b"} == set(synced)
    synced.clear()
    Ledger(tmp_path / "a" / "b" / "anna.jsonl").close()
    assert synced == []


def test_two_windows_and_the_second_one_waits(path: Path) -> None:
    with Ledger(path), pytest.raises(AnnotationsBusy, match="another window"):
        Ledger(path)
    Ledger(path).close()


def test_closing_twice_harms_nothing_and_closed_is_closed(path: Path) -> None:
    file = Ledger(path)
    file.close()
    file.close()
    with pytest.raises(AnnotationError, match="is closed"):
        file.append("a", {})


def test_a_torn_line_is_taken_away_and_told(path: Path) -> None:
    with Ledger(path) as file:
        first = file.append("a", {})
        file.append("b", {"text": "long enough"})
    path.write_bytes(path.read_bytes()[:-5])
    with Ledger(path) as file:
        assert "cut off" in file.torn
        assert file.lines == [first]
        second = file.append("c", {})
    assert read(path).lines == (first, second)
    assert not read(path).torn


def test_a_missing_last_line_end_costs_nothing(path: Path) -> None:
    with Ledger(path) as file:
        first = file.append("a", {})
    path.write_bytes(path.read_bytes()[:-1])
    with Ledger(path) as file:
        assert not file.torn
        second = file.append("b", {})
    assert read(path).lines == (first, second)


def test_a_damaged_file_is_not_written_to(path: Path) -> None:
    with Ledger(path) as file:
        file.append("a", {})
        file.append("b", {})
    content = path.read_bytes().replace(b'"kind":"a"', b'"kind":"x"')
    path.write_bytes(content)
    with pytest.raises(AnnotationError, match="line 1: it was changed"):
        Ledger(path)
    assert path.read_bytes() == content


def test_what_cannot_be_written_leaves_no_half(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger(path) as file:
        first = file.append("a", {})
        raw = file._file

        class Full:
            """A disk with room for five bytes more."""

            def write(self, content: memoryview) -> int:
                if raw.tell() > file._length:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return raw.write(content[:5]) or 0

            def __getattr__(self, name: str) -> object:
                return getattr(raw, name)

        monkeypatch.setattr(file, "_file", Full())
        with pytest.raises(AnnotationError, match="is full"):
            file.append("b", {})
        assert read(path).lines == (first,)
        assert not read(path).torn
        monkeypatch.undo()
        second = file.append("c", {})
    assert read(path).lines == (first, second)


def test_a_disk_that_does_not_sync_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    file = Ledger(path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refused)
        file.append("a", {})
        with pytest.raises(AnnotationError):
            file.flush()
        assert file.problem
        with pytest.raises(AnnotationError):
            file.append("b", {})
    with pytest.raises(AnnotationError):
        file.close()
    Ledger(path).close()


def test_a_file_that_grew_too_large_is_not_added_to(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "LARGEST", 300)
    with Ledger(path) as file:
        file.append("a", {"text": "x" * 100})
        with pytest.raises(AnnotationError, match="larger than the 300 bytes"):
            file.append("a", {"text": "x" * 100})


def test_rewriting_leaves_a_tombstone(path: Path) -> None:
    with Ledger(path) as file:
        file.append_all([("a", {"text": "secret"}), ("b", {})])
        with pytest.raises(AnnotationsBusy):
            rewrite(path, lambda lines: (lines[1:], ("rewritten", {})))
    rewrite(path, lambda lines: (lines[1:], ("rewritten", {"reason": "redaction"})))
    left = read(path).lines
    assert [(line.seq, line.kind) for line in left] == [(1, "b"), (2, "rewritten")]
    assert b"secret" not in path.read_bytes()


def test_writing_a_whole_file(path: Path) -> None:
    with Ledger(path) as file:
        lines = file.append_all([("a", {}), ("b", {})])
    other = path.with_name("ben.jsonl")
    with lock_file(other) as file_:
        file_.replace(lines)
    assert other.read_bytes() == path.read_bytes()


def test_lines_of_one_change_are_close_however_slow_the_computer_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the file is opened again, they are taken back together, by their times."""
    seconds = count()

    class Slow(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(seconds))

    monkeypatch.setattr("labapp.coding.annotations.ledger.datetime", Slow)
    with Ledger(path) as file:
        lines = [*file.append_all([("a", {}), ("b", {})]), file.append("c", {})]
    first, second, third = (datetime.fromisoformat(line.utc) for line in lines)
    assert second - first <= TOGETHER < third - second
