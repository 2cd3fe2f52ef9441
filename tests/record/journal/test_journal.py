"""Reading journals in whatever state they are found, and naming what was changed."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.analysis import load
from labapp.analysis.folding.folded import fold
from labapp.base.clock import FakeClock
from labapp.base.errors import JournalError, LabappError, RecordError
from labapp.record.events import GENESIS, Event, Payload, Source, UnstampedEvent, payload_of
from labapp.record.events.lifecycle import NoteAdded, SessionPlanned, SessionReopened, SkipRequested
from labapp.record.events.registry import frequent_kinds, loose, payload_text, registered_kinds
from labapp.record.journal.layout import COLUMNS, JOURNAL, LOCK, FolderTree, Tree, ZipTree
from labapp.record.journal.opening import SessionPlace, describe
from labapp.record.journal.read import (
    Row,
    check_chain,
    check_journal,
    check_rows,
    is_locked,
    payloads,
    plausible,
    read_rows,
    readable,
)
from labapp.record.journal.write import Journal
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.folder import SessionFolder
from labapp.session.resuming import recover
from labapp.study.plan import to_rows
from tests.helpers.golden import golden_builder
from tests.helpers.journals import golden_session, stamp
from tests.helpers.nightly import examples
from tests.helpers.play import Play, stage_machine
from tests.helpers.trees import snapshot
from tests.hostile import rehashed
from tests.hostile.rehashed import Change, set_in


def test_rows_are_those_that_were_written_with_a_whole_chain(tmp_path: Path) -> None:
    rows = read_rows(golden_session(tmp_path))
    written = stamp(sorted(golden_builder().rows, key=lambda row: row[0]))
    assert len(rows) == len(written) == 228
    head = GENESIS
    for row, event in zip(rows, written, strict=True):
        assert row.event().key == event.key
        assert row[:7] == (
            event.seq,
            event.segment,
            event.t_ns,
            event.utc,
            event.source,
            event.kind,
            event.v,
        )
        assert row.compute_hash(head) == row.hash
        head = row.hash


@pytest.mark.parametrize("wal", [False, True])
def test_reading_leaves_no_trace(tmp_path: Path, wal: bool) -> None:
    folder = golden_session(tmp_path, wal=wal)
    before = snapshot(folder)
    assert wal == (f"{JOURNAL}-wal" in before)
    assert len(read_rows(folder)) == 228
    assert snapshot(folder) == before


def test_some_kinds_only(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    assert [row.seq for row in read_rows(folder, ["session.planned", "segment.started"])] == [
        1,
        2,
        165,
    ]


def test_a_running_session_is_read_while_its_writer_goes_on(tmp_path: Path) -> None:
    home = SessionFolder(tmp_path)
    with home.lock(), Journal.create(home.journal, FakeClock()) as journal:
        assert is_locked(tmp_path)
        for number in range(5):
            receipt = journal.append(UnstampedEvent(NoteAdded(str(number), 0)), Source.MODERATOR)
            assert receipt.wait(60.0)
            found = read_rows(tmp_path)
            assert [row.event().payload["text"] for row in found] == list("01234"[: number + 1])
            assert is_locked(tmp_path)
    assert not is_locked(tmp_path)
    assert len(read_rows(tmp_path)) == 5


def test_a_lock_nobody_holds_is_not_held(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    (tmp_path / LOCK).touch()
    assert not is_locked(tmp_path)
    lock = SessionFolder(tmp_path).lock()
    assert is_locked(tmp_path)
    assert is_locked(tmp_path), "looking must not free the lock"
    lock.release()
    assert not is_locked(tmp_path)


def test_no_journal(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no journal") as told:
        read_rows(tmp_path)
    assert "Give a session folder" in told.value.todo
    lost = tmp_path / "sub-P01_ses-1_20260102T030405Z"
    lost.mkdir()
    with pytest.raises(RecordError, match="no journal") as told:
        read_rows(lost)
    assert "Look for a copy" in told.value.todo


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough for one" * 50])
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes) -> None:
    (tmp_path / JOURNAL).write_bytes(content)
    with pytest.raises(RecordError, match="damaged or cannot be read") as caught:
        read_rows(tmp_path)
    assert caught.value.safe
    assert caught.value.todo
    assert (tmp_path / JOURNAL).read_bytes() == content


def test_a_damaged_page(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    content = bytearray((folder / JOURNAL).read_bytes())
    content[8192:16384] = b"\xff" * 8192
    (folder / JOURNAL).write_bytes(bytes(content))
    with pytest.raises(RecordError, match="damaged"):
        read_rows(folder)


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    _change(folder, "UPDATE meta SET value = '99'")
    with pytest.raises(RecordError, match="schema version 99"):
        read_rows(folder)


def test_text_that_is_not_utf8_is_refused_or_shown_escaped(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    _change(folder, "UPDATE events SET payload = CAST(x'7bff7d' AS TEXT) WHERE seq = 7")
    with pytest.raises(RecordError, match="UTF-8"):
        read_rows(folder)
    assert read_rows(folder, lenient=True)[6].payload == r"{\xff}"


def _change(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / JOURNAL)
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("text", [5, None, ["a"], {"a": 1}])
def test_an_event_that_could_not_be_read_again_is_not_stored(tmp_path: Path, text: object) -> None:
    clock = FakeClock()
    folder = tmp_path / "s"
    folder.mkdir()
    journal = Journal.create(folder / JOURNAL, clock)
    whole = UnstampedEvent(NoteAdded("a note", 1))
    journal.append(whole, Source.MODERATOR)
    wrong = UnstampedEvent(NoteAdded(text, 1))  # type: ignore[arg-type]
    with pytest.raises(JournalError, match=r"note.added was not stored: its text is .*; a text"):
        journal.append_all((whole, wrong), Source.MODERATOR)
    journal.append(whole, Source.MODERATOR)
    journal.close()
    assert [row.seq for row in read_rows(folder)] == [1, 2], "half of what belongs together"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return read_rows(golden_session(tmp_path_factory.mktemp("golden")))


def test_the_golden_journal_is_whole(rows: list[Row], tmp_path: Path) -> None:
    assert check_rows(rows, "journal") == []
    assert check_chain(rows) is None
    assert check_journal(golden_session(tmp_path)) == []
    assert check_journal(golden_session(tmp_path / "killed", wal=True)) == []


@settings(max_examples=examples(60))
@given(data=st.data())
def test_any_changed_cell_is_named(rows: list[Row], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.sampled_from(Row._fields[: len(COLUMNS)]))
    old = getattr(rows[index], column)
    if isinstance(old, str):
        at = data.draw(st.integers(0, len(old) - 1))
        new: object = old[:at] + chr(ord(old[at]) ^ 1) + old[at + 1 :]
    else:
        new = (old or 0) + data.draw(st.sampled_from((-1, 1, 2**20)))
    damaged = [*rows]
    damaged[index] = rows[index]._replace(**{column: new})
    problems = check_rows(damaged, "j")
    assert any(f"event {rows[index].seq}" in p.place or column == "seq" for p in problems), problems
    assert check_chain(damaged) is not None


@settings(max_examples=examples(30))
@given(data=st.data())
def test_a_removed_row_is_a_gap(rows: list[Row], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(rows) - 2))
    problems = check_rows(rows[:index] + rows[index + 1 :], "j")
    assert any(f"event {index + 1} is missing" in p.what for p in problems)


def test_several_missing_rows_are_one_gap(rows: list[Row]) -> None:
    problems = check_rows(rows[:40] + rows[50:], "j")
    assert [str(p) for p in problems] == [
        "j, event 51: a gap: events 41 to 50 are missing before it"
    ]


def test_swapped_rows_are_out_of_order(rows: list[Row]) -> None:
    swapped = [*rows[:9], rows[10], rows[9], *rows[11:]]
    assert any("out of order" in p.what for p in check_rows(swapped, "j"))


def test_a_rewritten_chain_still_shows_running_back_and_strange_segments(rows: list[Row]) -> None:
    """Somebody who makes the hashes anew cannot make time run back unseen."""
    changed = [*rows]
    changed[100] = changed[100]._replace(t_ns=5)
    changed[150] = changed[150]._replace(segment=7)
    previous = GENESIS
    for index, row in enumerate(changed):
        changed[index] = row._replace(hash=row.compute_hash(previous))
        previous = changed[index].hash
    told = [str(p) for p in check_rows(changed, "j")]
    assert any("event 101: its time of 5 ns is before" in t for t in told)
    assert any("event 151: segment 7 follows segment 1" in t for t in told)


def test_one_changed_row_in_the_file_is_one_problem(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    connection = sqlite3.connect(folder / JOURNAL)
    with connection:
        connection.execute('UPDATE events SET payload = \'{"text":"other"}\' WHERE seq = 111')
    connection.close()
    told = [str(problem) for problem in check_journal(folder)]
    assert (
        f"{JOURNAL}, event 111: the hash chain is broken: this row (note.added) was changed" in told
    )
    assert all("event 111" in line for line in told)


def test_a_cut_off_file_is_damage(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    content = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).write_bytes(content[: len(content) // 2])
    try:
        problems = [str(problem) for problem in check_journal(folder)]
    except RecordError as error:
        problems = [error.what]
    assert problems


def test_no_rows() -> None:
    assert [str(p) for p in check_rows([], "j")] == ["j: it holds no event"]


SECOND = rehashed.GOLDEN / "journals" / "second.jsonl"


def without(kind: str) -> Change:
    """Without the first row of a kind."""

    def change(rows: list[Row]) -> list[Row]:
        at = next(index for index, row in enumerate(rows) if row.kind == kind)
        return rehashed.replaced(rows, at)

    return change


def plan_without(key: str) -> Change:
    """Without a key of every part of the plan."""

    def change(rows: list[Row]) -> list[Row]:
        plan = json.loads(rows[0].payload)["plan"]
        lacking = [{name: one for name, one in part.items() if name != key} for part in plan]
        return set_in("session.planned", {"plan": lacking})(rows)

    return change


CASES: dict[str, tuple[Change, str]] = {
    "a dial that is none": (set_in("dial.moved", {"dimension": 9}), "no slider 9"),
    "a dial before the first": (set_in("dial.moved", {"dimension": -1}), "its dimension is -1"),
    "a name of no dial": (set_in("label.edited", {"dimension": 99}), "no slider 99"),
    "a dial of no box": (set_in("tutorial.dial_moved", {"box": 9}), "no dial"),
    "too few dials": (set_in("trial.drawn", {"z_start": [0.5]}), "a state with 1 sliders, not"),
    "solved with too many": (set_in("trial.solved", {"z": [0.5] * 99}), "99 sliders, not"),
    "a part that is none": (set_in("part.started", {"index": 99}), "index 99"),
    "a stage that is none": (set_in("note.added", {}, part_id="nope"), "no part 'nope'"),
    "a question never drawn": (without("trial.drawn"), "was drawn"),
    "a question numbered 0": (set_in("trial.drawn", {}, trial=0), "of no question"),
    "a question of a text": (set_in("trial.drawn", {}, part_id="consent"), "no such questions"),
    "a plan without ids": (plan_without("id"), "id"),
    "planned twice": (lambda rows: [rows[0], rows[0], *rows[1:]], "planned once"),
    "a text for a number": (set_in("picture.decoded", {"alignment": "x"}), "its alignment is 'x'"),
    "a field too few": (set_in("session.planned", {"plan": 5}), "its plan is 5"),
    "a rate of nothing": (set_in("audio.started", {"nominal_rate": 0}), "its nominal_rate is 0"),
}


@pytest.mark.parametrize("case", CASES)
def test_every_reader_tells_it(case: str, tmp_path: Path) -> None:
    change, said = CASES[case]
    folder = rehashed.write(tmp_path, rehashed.chained(change(rehashed.rows_of(SECOND))))
    for read in (
        lambda: fold(SessionPlace(folder)),
        lambda: export([folder], tmp_path / "bundle"),
        lambda: export([folder], tmp_path / "bundle", deidentify=True),
        lambda: describe(folder),
        lambda: recover(folder),
    ):
        with pytest.raises(LabappError) as told:
            read()
        assert said in told.value.what
        assert told.value.todo
    assert any(said in problem for problem in verify(folder).problems)


@pytest.mark.parametrize("path", rehashed.JOURNALS, ids=lambda path: path.stem)
def test_what_was_recorded_is_plausible(path: Path) -> None:
    rows = rehashed.rows_of(path)
    assert len(list(plausible(payloads(rows)))) == len(rows)
    assert check_rows(rows, path.name) == []


def test_a_broken_chain_is_told_and_not_what_follows_from_it() -> None:
    rows: Sequence[Row] = without("trial.drawn")(rehashed.rows_of(SECOND))
    assert all("cannot be" not in problem.what for problem in check_rows(rows, "journal"))
    with pytest.raises(RecordError, match="was drawn"):
        list(plausible(payloads(rows)))


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (SkipRequested("trial", 99), "index 99"),
        (SkipRequested("part", 1), "is not 'stage-1'"),
        (SessionReopened(3), "event 3 is not an end"),
    ],
)
def test_what_is_taken_back_was_there(payload: Payload, why: str) -> None:
    play = Play(stage_machine()).start()
    rows = [planned_row(play), *play.events]
    event = rows[-1]._replace(
        seq=len(rows) + 1,
        kind=payload.kind,
        part_id="stage-1",
        payload=payload.as_dict(),
        v=payload.version,
    )
    with pytest.raises(RecordError, match=why):
        list(plausible((row, payload_of(row)) for row in (*rows, event)))


def planned_row(play: Play) -> Event:
    """What a session of a played machine begins with."""
    rows = to_rows(play.machine.parts)
    planned = SessionPlanned("s", 1, "0", "P01", "1", 7, {}, "improved", "en", "off", rows)
    first = play.events[0]
    return first._replace(seq=1, kind=planned.kind, payload=planned.as_dict(), v=planned.version)


def _rows(change: str) -> Callable[[Path], object]:
    def changed(journal: Path) -> None:
        connection = sqlite3.connect(journal)
        with connection:
            connection.execute(change)
        connection.close()

    return changed


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no journal": Path.unlink,
    "an empty one": lambda journal: journal.write_bytes(b""),
    "another file": lambda journal: journal.write_text("nothing"),
    "a part of it": lambda journal: journal.write_bytes(journal.read_bytes()[:20_000]),
    "no rows": _rows("DELETE FROM events"),
    "no first row": _rows("DELETE FROM events WHERE seq = 1"),
    "no table": _rows("DROP TABLE events"),
    "a plan without fields": _rows("UPDATE events SET payload = '{}' WHERE seq = 1"),
    "a row that is no JSON": _rows("UPDATE events SET payload = '{' WHERE seq = 2"),
    "a row that is no object": _rows("UPDATE events SET payload = '3' WHERE seq = 1"),
    "a row of a newer version": _rows("UPDATE events SET v = 99 WHERE seq = 1"),
    "a kind that nobody knows": _rows("UPDATE events SET kind = 'a.b' WHERE seq = 4"),
}


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data") / "root"
    for participant in ("P01", "P02"):
        builder = golden_builder()
        builder.of(participant)
        builder.write(root)
    return root


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_an_analysis_of_a_folder_names_the_session_that_it_cannot_read(
    sessions: Path, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    for session in sorted(sessions.glob("golden/sub-*")):
        copy = tmp_path / "golden" / session.name
        copy.mkdir(parents=True)
        (copy / "journal.sqlite").write_bytes((session / "journal.sqlite").read_bytes())
    damage(tmp_path / "golden" / session.name / "journal.sqlite")
    with pytest.raises(RecordError, match=session.name):
        load([tmp_path])


def test_a_name_that_is_there_is_not_put_before_again() -> None:
    with pytest.raises(RecordError) as named, readable("data/sub-P1"):
        raise RecordError("sub-P1 is damaged.", todo="Look.")
    assert named.value.what == "sub-P1 is damaged."
    with pytest.raises(RecordError) as added, readable("data/sub-P1"):
        raise RecordError("Event 3 is damaged.", todo="Look.")
    assert (added.value.what, added.value.todo) == ("data/sub-P1: Event 3 is damaged.", "Look.")


FILES = (
    "data/sub-P01/ses-1/a.json",
    "data/sub-P01/ses-1/audio/b.wav",
    "data/sub-P02/ses-2/a.json",
    "data/sub-P03/stray.txt",
    "data/other/ses-1/a.json",
    "sub-P04/ses-1/a.json",
)


@pytest.fixture(params=["folder", "zip"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    root = tmp_path / "bundle"
    for name in FILES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (root / "data/sub-P05/ses-1").mkdir(parents=True)
    if request.param == "folder":
        return FolderTree(root)
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as archive:
        for name in FILES:
            archive.write(root / name, f"bundle/{name}")
    return ZipTree(tmp_path / "bundle.zip", "bundle/")


def test_folders_that_hold_something_are_found(tree: Tree) -> None:
    assert tree.folders("data/sub-*/*") == ["data/sub-P01/ses-1", "data/sub-P02/ses-2"]
    assert tree.folders("sub-*") == ["sub-P04"]
    assert tree.folders("nothing/*") == []


def test_names_and_contents_are_the_same(tree: Tree) -> None:
    assert tree.names() == sorted(FILES)
    assert tree.below("data/sub-P01").names() == ["ses-1/a.json", "ses-1/audio/b.wav"]
    assert tree.read(FILES[0]) == FILES[0].encode()


SEED = 2**70 + 1

"""Whole numbers of a study are as large as its author likes; this one is no float."""

QUICK = sorted(name for name, cls in registered_kinds().items() if not loose(cls))


def row(kind: str, payload: str) -> Row:
    utc = "2026-01-02T03:04:05.000000Z"
    return Row(1, 1, 0, utc, "participant", kind, 1, "stage-1", 1, 1, payload, "")


@given(
    st.sampled_from(QUICK),
    st.dictionaries(
        st.text(),
        st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-(2**80), 2**80)
        | st.text()
        | st.lists(st.tuples(st.integers(0, 2**32), st.floats(0, 1e9)))
        | st.none()
        | st.booleans(),
    ),
)
def test_what_the_quick_reader_reads_is_the_same_to_the_last_bit(
    kind: str, payload: dict[str, object]
) -> None:
    text = payload_text(payload)
    assert repr(row(kind, text).event().payload) == repr(json.loads(text))


def test_frequent_kinds_and_blocks_of_sound_are_read_quickly() -> None:
    assert {*frequent_kinds(), "audio.block"} <= set(QUICK)
    assert not {"session.planned", "environment.recorded"} & set(QUICK)


@pytest.mark.parametrize("text", ['{"a": "\\ud800"}', '{"a": 1, "b": 2, "a": 3}'])
def test_what_only_the_slow_reader_takes_is_read_by_it(text: str) -> None:
    assert row("audio.block", text).event().payload == json.loads(text)


def test_a_large_whole_number_stays_one() -> None:
    assert row("session.planned", payload_text({"seed": SEED})).event().payload == {"seed": SEED}


@pytest.mark.parametrize("kind", ["dial.moved", "session.planned"])
@pytest.mark.parametrize("payload", ["", "{", '{"z_seq": 1} {}', "[1]", "1"])
def test_what_is_no_json_object_is_told(kind: str, payload: str) -> None:
    with pytest.raises(RecordError, match=f"Event 1 \\({kind}\\) cannot be read") as told:
        row(kind, payload).event()
    assert told.value.safe
    assert told.value.todo
