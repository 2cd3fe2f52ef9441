"""Bundles verified, and made again from their journals."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
import weakref
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from labapp.analysis import load
from labapp.base import resources
from labapp.base.errors import RecordError
from labapp.record.audio.capture import wav_header
from labapp.record.events import Event, Payload, payload_of
from labapp.record.events.voice import AudioBlock
from labapp.record.journal import read
from labapp.record.journal.arrow import parquet_bytes
from labapp.record.journal.layout import JOURNAL, MANIFEST, SOURCEDATA
from labapp.record.journal.opening import open_record, places
from labapp.record.journal.read import Row, read_rows
from labapp.record.journal.record import Record
from labapp.session.bids import derived
from labapp.session.bids.derived import TABLE_FORMAT, codebook, readme
from labapp.session.bids.export import export
from labapp.session.bids.folder import FileEntry, json_text, manifest_text
from labapp.session.bids.verify import VerifyReport, verify
from labapp.session.folder import SessionFolder
from labapp.session.simulation.simulation_job import simulate_study
from labapp.tasks.reconstruction.events import DialMoved, TrialDrawn
from tests.helpers.forging import keep_crc32
from tests.helpers.golden import golden_builder
from tests.helpers.golden_bundle import comparable, exported
from tests.helpers.journals import GOLDEN, golden_session
from tests.helpers.nightly import EVERYTHING, examples
from tests.helpers.trees import flip, snapshot
from tests.session.bids.test_export import killed, renamed
from tests.tampering.places import reseal

SOURCE = f"{SOURCEDATA}/sub-P01/ses-1"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("bundle")
    return export([golden_session(root / "data")], root / "bundle")


@pytest.fixture
def copy(bundle: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bundle, tmp_path / "copy"))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return golden_session(tmp_path / "data")


def problems(path: Path) -> str:
    report = verify(path)
    assert not report.ok
    return "\n".join(report.problems)


def test_every_movement_is_read_once(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times: Counter[int] = Counter()

    def count(event: Event) -> Payload:
        times[event.seq] += event.kind == DialMoved.kind
        return payload_of(event)

    monkeypatch.setattr(read, "payload_of", count)
    assert verify(session).ok
    assert times.total() == sum(row.kind == DialMoved.kind for row in read_rows(session)) > 0
    assert max(times.values()) == 1


def test_what_is_whole(bundle: Path, session: Path, tmp_path: Path) -> None:
    checked = {"sessions": 1, "events": 228, "sound files": 2}
    assert verify(session) == VerifyReport(session, "session", [], [], checked)
    report = verify(bundle)
    assert report.ok
    files = {"files": len(snapshot(bundle)) - 1, "model cards": 2, "tables and texts made anew": 16}
    assert report.checked == checked | files
    assert json.loads(json.dumps(report.to_json()))["ok"] is True
    assert verify(export([session], tmp_path / "zip", zip=True)).problems == []
    assert verify(golden_session(tmp_path / "killed", wal=True)).problems == []


@pytest.fixture(scope="module")
def of_four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of four people, beside the data that it is made of."""
    folder = tmp_path_factory.mktemp("four")
    sessions = [renamed(f"P{n}").write(folder / "data") for n in (100, 2, 10, 1)]
    return export(sessions, folder / "bundle")


def test_of_many_sessions_one_is_in_memory_at_a_time(
    of_four: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[weakref.ref[Record]] = []
    most = 0
    made = Record.__post_init__

    def counted(record: Record) -> None:
        nonlocal most
        made(record)
        opened.append(weakref.ref(record))
        most = max(most, sum(ref() is not None for ref in opened))

    monkeypatch.setattr(Record, "__post_init__", counted)
    assert verify(of_four).problems == []
    assert most <= 2, "the next one is opened while a name still holds the last"


def test_people_are_in_the_order_in_which_one_counts(of_four: Path) -> None:
    for table in (
        "participants.tsv",
        *(f.relative_to(of_four) for f in of_four.glob("pheno*/*.tsv")),
    ):
        lines = (of_four / table).read_text("utf-8").splitlines()[1:]
        people = [line.split("\t")[0] for line in lines]
        assert people == ["sub-P1", "sub-P2", "sub-P10", "sub-P100"], table
    tables = load([of_four])
    assert [*tables.participants["participant"]] == ["P1", "P2", "P10", "P100"]
    assert [
        place.name.split("_")[0] for place in places(of_four.with_name("data") / "golden")
    ] == people


@settings(max_examples=50 if EVERYTHING else 6)
@given(data=st.data())
def test_any_flipped_byte_of_a_bundle_is_found(bundle: Path, data: st.DataObject) -> None:
    files = sorted(p.relative_to(bundle).as_posix() for p in bundle.rglob("*") if p.is_file())
    name = data.draw(st.sampled_from(files))
    at = data.draw(st.integers(0, (bundle / name).stat().st_size - 1))
    flip(bundle / name, at)
    try:
        told = problems(bundle)
    finally:
        flip(bundle / name, at)
    assert name in told or name.endswith(MANIFEST), told


@pytest.fixture(scope="module")
def archive(bundle: Path) -> Path:
    return export([bundle], bundle.parent / "archive", zip=True, audio=False)


@settings(max_examples=50 if EVERYTHING else 6)
@given(data=st.data())
def test_any_flipped_byte_of_an_archive_is_found(archive: Path, data: st.DataObject) -> None:
    size = archive.stat().st_size
    # Half of the places in the directory at the end, which is small and full of plain numbers.
    at = data.draw(st.one_of(st.integers(0, size - 1), st.integers(size - 4000, size - 1)))
    flip(archive, at)
    try:
        assert _damage_is_found(archive)
    finally:
        flip(archive, at)


def _damage_is_found(archive: Path) -> bool:
    try:
        return not verify(archive).ok
    except RecordError:
        # So damaged that it is no archive, or no bundle, any more.
        return True


def test_a_missing_file_is_named(copy: Path) -> None:
    (copy / "participants.json").unlink()
    assert problems(copy) == "participants.json: missing"


def test_an_extra_file_is_named(copy: Path) -> None:
    (copy / "notes.txt").write_text("later")
    (copy / SOURCE / "link").symlink_to(copy / "README")
    told = problems(copy)
    assert "notes.txt: not part of the export" in told
    assert f"{SOURCE}/link: not part of the export" in told


def test_a_manifest_that_is_missing_or_made_up(copy: Path) -> None:
    path = copy / SOURCEDATA / MANIFEST
    content = json.loads(path.read_text())
    content["created"] = "2020-01-01T00:00:00.000000Z"
    path.write_text(json.dumps(content, indent=2) + "\n")
    assert "manifest was changed or damaged after it was written" in problems(copy)
    path.unlink()
    assert f"{SOURCEDATA}/{MANIFEST}: missing" in problems(copy)


def test_a_missing_sound_or_journal_is_named(copy: Path) -> None:
    (copy / SOURCE / "audio/segment-01.wav").unlink()
    told = problems(copy)
    assert f"{SOURCE}/audio/segment-01.wav: missing" in told
    (copy / SOURCE / "journal.parquet").unlink()
    assert f"{SOURCE}/journal.parquet: missing" in problems(copy)


def reseal_verify(copy: Path) -> None:
    """A manifest that fits: what somebody would do who wants to hide a change."""
    from labapp.session.bids.folder import hash_stream

    path = copy / SOURCEDATA / MANIFEST
    files: dict[str, FileEntry] = {}
    for file in copy.rglob("*"):
        if file.is_file() and file != path:
            with file.open("rb") as stream:
                files[file.relative_to(copy).as_posix()] = hash_stream(stream)
    stated = json.loads(path.read_text())
    names = ("labapp", "created", "study", "deidentified", "sound")
    path.write_text(manifest_text({n: stated[n] for n in names if n in stated}, files))


def rewrite(copy: Path, rows: list[Row]) -> str:
    """Put another journal in, with a fitting manifest; what verify says."""
    (copy / SOURCE / "journal.parquet").write_bytes(parquet_bytes(rows))
    reseal_verify(copy)
    return problems(copy)


def test_a_journal_changed_under_a_fitting_manifest(copy: Path) -> None:
    rows = list(open_record(copy).rows)
    changed = [*rows]
    changed[110] = rows[110]._replace(payload=rows[110].payload.replace("third", "first"))
    assert "journal.parquet, event 111: the hash chain is broken" in rewrite(copy, changed)
    told = rewrite(copy, rows[:60] + rows[70:])
    assert "events 61 to 70 are missing" in told
    told = rewrite(copy, rows[:200])
    assert "does not end where the session ended" in told
    assert "the journal has" in told, "the tables have more than the journal"


def test_a_bundle_with_the_columns_names_of_before_is_read(copy: Path) -> None:
    """An older labapp wrote `sessions` and `task` as they are."""
    was = load(copy)
    for path in (*copy.glob("*.tsv"), *copy.glob("*.json"), *copy.glob("sub-*/**/beh/*")):
        path.write_text(path.read_text().replace("labapp_sessions", "sessions"))
        path.write_text(path.read_text().replace("labapp_task", "task"))
    assert "labapp_" not in (copy / "participants.tsv").read_text()
    reseal_verify(copy)
    assert verify(copy).problems == []
    pd.testing.assert_frame_equal(load(copy).trials, was.trials)


def test_tables_that_disagree_with_the_journal(copy: Path) -> None:
    beh = copy / "sub-P01/ses-1/beh/sub-P01_ses-1_task-reconstruction_beh.tsv"
    beh.write_text("\n".join(beh.read_text().splitlines()[:-1]) + "\n")
    events = copy / "sub-P01/ses-1/beh/sub-P01_ses-1_task-reconstruction_events.tsv"
    lines = events.read_text().splitlines()
    events.write_text("\n".join(line for line in lines if "\tsolved\t" not in line[:12]) + "\n")
    people = copy / "participants.tsv"
    people.write_text(people.read_text() + "sub-P02\tgolden\t1\ttrue\n")
    reseal_verify(copy)
    told = problems(copy)
    assert "_beh.tsv: 8 questions, the journal has 9" in told
    assert "rows of solved, the journal has 8" in told
    assert "sub-P02 is listed, but has no folder" in told


def test_a_session_with_a_changed_study(session: Path) -> None:
    flip(session / "study/texts/en/consent.md", 5)
    assert "study: its files are not those with which the session was planned" in problems(session)


def test_a_session_with_a_study_file_too_many(session: Path) -> None:
    (session / "study/more.md").write_text("?")
    assert "study: its files" in problems(session)


def test_a_session_with_changed_sound(session: Path) -> None:
    path = session / "audio/segment-01.wav"
    flip(path, 44 + 2 * 10_500)
    assert problems(session) == (
        "audio/segment-01.wav: the sound from 10.0 to 11.0 s was changed (SHA-256)"
    )
    flip(path, 44 + 2 * 10_500)
    flip(path, 24)
    assert "its header does not match" in problems(session)
    flip(path, 24)
    content = path.read_bytes()
    path.write_bytes(content[:-3000])
    told = problems(session)
    assert "it is cut off at 69.0 to 70.0 s" in told
    path.write_bytes(content + bytes(2 * 6_000))
    assert "6.0 s of sound are after the last block of the journal" in problems(session)
    path.unlink()
    assert problems(session) == "audio/segment-01.wav: missing"


@pytest.mark.parametrize("extra", [b"!", bytes(2), bytes(2000)])
def test_no_byte_can_be_put_behind_a_file_that_was_closed(session: Path, extra: bytes) -> None:
    path = session / "audio/segment-02.wav"
    sound = path.read_bytes()[44:] + extra
    path.write_bytes(wav_header(1000, len(sound)) + sound)
    frames, half = divmod(len(sound), 2)
    there = f"it has {frames} frames{' and a half' if half else ''}"
    assert f"{there}, but had 20000 when it was closed" in problems(session)


def test_any_byte_of_the_header_counts_also_where_a_crash_left_an_older_one(
    tmp_path: Path,
) -> None:
    folder = killed(tmp_path)
    path = folder / "audio/segment-01.wav"
    sound = path.read_bytes()[44:]
    path.write_bytes(wav_header(1000, len(sound) - 2000) + sound)
    assert any("older than its last sound" in note for note in verify(folder).notes)
    for at in range(44):
        flip(path, at)
        report = verify(folder)
        length = at >= 40 or 4 <= at < 8
        assert not report.ok or (length and any("older" in note for note in report.notes)), at
        flip(path, at)


def test_sound_with_its_crc32_forged_is_noticed_unless_an_earlier_version_wrote_it(
    tmp_path: Path,
) -> None:
    """CRC-32 is linear: four bytes make up for any change. SHA-256 is not."""
    for crc32 in (False, True):
        builder = golden_builder()
        file = "audio/segment-02.wav"
        builder.rows = [
            row
            for row in builder.rows
            if getattr(row[2].payload, "file", "") != file
            or not isinstance(row[2].payload, AudioBlock)
        ]
        for t, block in builder.sound(file, 103.0, 20, ppm=100.0, crc32=crc32):
            builder.at(t, block)
        folder = builder.write(tmp_path / str(crc32))
        path = folder / file
        content = bytearray(path.read_bytes())
        second = bytes(content[44 + 2000 : 44 + 4000])
        forged = keep_crc32(second, bytes(reversed(second[:1000])) + second[1000:])
        assert forged != second
        content[44 + 2000 : 44 + 4000] = forged
        path.write_bytes(content)
        report = verify(folder)
        if crc32:
            assert report.ok
            (note,) = [note for note in report.notes if file in note]
            assert note.startswith(
                f"{file}: 20 of its 20 blocks were written by an earlier version"
            )
        else:
            assert report.problems == [f"{file}: the sound from 1.0 to 2.0 s was changed (SHA-256)"]


@settings(max_examples=examples(40))
@given(data=st.data())
def test_any_flipped_byte_of_sound_study_and_environment_is_found(
    session: Path, data: st.DataObject
) -> None:
    name = data.draw(
        st.sampled_from(sorted(n for n in snapshot(session) if not n.startswith(JOURNAL)))
    )
    at = data.draw(st.integers(0, (session / name).stat().st_size - 1))
    flip(session / name, at)
    try:
        assert not verify(session).ok
    finally:
        flip(session / name, at)


@settings(max_examples=examples(40))
@given(data=st.data())
def test_any_flipped_character_in_the_journal_file_is_found(
    session: Path, data: st.DataObject
) -> None:
    rows = open_record(session).rows
    row = rows[data.draw(st.integers(1, len(rows) - 1))]
    content = (session / JOURNAL).read_bytes()
    start = content.index(row.payload.encode() + row.hash.encode())
    at = start + data.draw(st.integers(0, len(row.payload) + 63))
    flip(session / JOURNAL, at)
    try:
        assert f"event {row.seq}" in problems(session)
    finally:
        (session / JOURNAL).write_bytes(content)


def test_a_session_whose_journal_has_a_gap_or_is_no_database(session: Path) -> None:
    connection = sqlite3.connect(session / JOURNAL)
    with connection:
        connection.execute("DELETE FROM events WHERE seq BETWEEN 30 AND 33")
    connection.close()
    assert "events 30 to 33 are missing before it" in problems(session)
    (session / JOURNAL).write_bytes(b"?" * 5000)
    assert JOURNAL in problems(session)


def test_a_killed_session_is_whole_but_noted(tmp_path: Path) -> None:
    folder = killed(tmp_path)
    path = folder / "audio/segment-01.wav"
    # The header is a second behind, and half a second of sound came after the last block.
    sound = path.read_bytes()[44:]
    path.write_bytes(wav_header(1000, len(sound) - 2000) + sound + bytes(1000))
    report = verify(folder)
    assert report.ok, report.problems
    assert any("stops at event" in note for note in report.notes)
    assert any("header" in note for note in report.notes)
    assert any("0.5 s of sound are after the last block" in note for note in report.notes)
    with SessionFolder(folder).lock():
        assert any("running" in note for note in verify(folder).notes)


def test_a_session_killed_after_its_end_is_noted(tmp_path: Path) -> None:
    builder = golden_builder()
    builder.rows.pop()
    report = verify(builder.write(tmp_path))
    assert report.ok
    assert report.notes == ["The session is over, but its last run was not properly ended."]


def test_what_is_neither(tmp_path: Path) -> None:
    with pytest.raises(RecordError):
        verify(tmp_path)
    with pytest.raises(RecordError):
        verify(tmp_path / "nowhere")


def test_an_archive_packed_by_another_program_is_told_from_damage(
    bundle: Path, tmp_path: Path
) -> None:
    path = tmp_path / "repacked.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(bundle.rglob("*")):
            archive.write(file, f"b/{file.relative_to(bundle)}")
    assert problems(path).endswith("the files in it are as exported")


def test_the_report_for_people(bundle: Path, copy: Path) -> None:
    limits, line = verify(bundle).lines()
    assert limits.startswith(
        "This check cannot detect: changes by someone who recreates the hashes"
    )
    assert line.startswith(f"{bundle} is whole (")
    assert "228 events" in line
    (copy / "README").unlink()
    first, last = verify(copy).lines()
    assert first == "README: missing"
    assert last.startswith(f"{copy} is NOT whole (1 problem; ")


def test_the_sound_of_a_de_identified_bundle_is_checked_too(session: Path, tmp_path: Path) -> None:
    made = export([session], tmp_path / "bundle", deidentify=True, audio=True)
    assert verify(made).problems == []
    path = made / SOURCE / "audio/segment-01.wav"
    flip(path, 44 + 2 * 10_500)
    reseal_verify(made)
    assert "10.0 to 11.0 s was changed (SHA-256)" in problems(made)


@pytest.mark.parametrize("written", [0, 44])
def test_a_sound_file_that_a_kill_left_empty_is_no_fault(session: Path, written: int) -> None:
    """A run that is killed as it makes the file has not told the journal of it."""
    (session / "audio" / "segment-03.wav").write_bytes(wav_header(44_100, 0)[:written])
    report = verify(session)
    assert report.ok, report.problems
    assert any("audio/segment-03.wav: left behind by a run" in note for note in report.notes)


FORMATS = {
    1: "04e671156e45bcac",
    2: "c483d9ef5458e957",
    3: "fe431ccf0a5cf23d",
    4: "997f7855b2bda64e",
    5: "17896590ee28743a",
    6: "95537cbda711a962",
    7: "0811ebccf8e2d917",
    8: "42c9fa2f31a82ee8",
    9: "2308bc3beaaebde2",
    10: "42ca5f5d7f340c5b",
    11: "6b48808db40bbdd2",
    12: "42808365dcb8eae4",
    13: "9f0842af3e97ef87",
    14: "6e6e9625c5ae483e",
    15: "e1daae95fcbe332f",
    16: "d10e48c4adda2038",
    17: "137195ef11af3f28",
    18: "05399827f2020b87",
    19: "9d7d1d595182f59f",
    20: "44da65026c935539",
    21: "5dfd3a2f95293a2b",
    22: "33275d0b0c4eace9",
    23: "0d5ed5f20bbb6b6a",
    24: "9a11707f9ee8e1ba",
    25: "a5ff5538d00446fb",
    26: "38edeb61001b0d83",
    27: "03a5e3417bb5b1ba",
}

"""What each format of the tables comes to, see `test_a_changed_table_has_a_new_format`."""


@pytest.fixture(scope="module")
def bundle_rebuild_check(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("remade")
    return export([golden_session(root / "data")], root / "bundle")


def rebuilt(bundle: Path) -> list[str]:
    """The files that are made of the journals."""
    own = f"{SOURCEDATA}/sub-"
    names = sorted(path.relative_to(bundle).as_posix() for path in bundle.rglob("*.*"))
    return [
        name
        for name in [*names, "README"]
        if (bundle / name).is_file()
        and not name.startswith((own, f"{SOURCEDATA}/models"))
        and not name.endswith(MANIFEST)
    ]


@settings(
    max_examples=20 if EVERYTHING else 3,
)
@given(data=st.data())
def test_another_character_in_any_of_them_is_found(
    bundle_rebuild_check: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(rebuilt(bundle_rebuild_check)))
    text = (bundle_rebuild_check / name).read_text("utf-8")
    at = data.draw(st.sampled_from([n for n, letter in enumerate(text) if letter.isalnum()]))
    letter = "x" if text[at] != "x" else "y"
    copy = tmp_path_factory.mktemp("copy") / "bundle"
    shutil.copytree(bundle_rebuild_check, copy)
    (copy / name).write_text(text[:at] + letter + text[at + 1 :], "utf-8")
    reseal(copy)
    problems = verify(copy).problems
    assert problems
    assert all(problem.startswith(name) for problem in problems), problems
    shutil.rmtree(copy)


@pytest.mark.parametrize("audio", [True, False])
@pytest.mark.parametrize("deidentify", [True, False])
def test_a_reduced_bundle_gives_its_own_tables(
    bundle_rebuild_check: Path, tmp_path: Path, audio: bool, deidentify: bool
) -> None:
    reduced = export(
        [bundle_rebuild_check],
        tmp_path / "b",
        zip=True,
        deidentify=deidentify,
        audio=audio,
        private=tmp_path,
    )
    report = verify(reduced)
    assert report.ok, report.problems
    assert report.checked["tables and texts made anew"] >= 14


def test_the_order_of_the_sessions_is_the_export_s(tmp_path: Path) -> None:
    sessions = simulate_study("quickstart", 2, "understanding", tmp_path / "data")
    backwards = export(sessions[::-1], tmp_path / "bundle")
    assert verify(backwards).problems == []
    reseal(backwards, sessions=["sub-P01/ses-1"])
    assert any("does not name the sessions" in problem for problem in verify(backwards).problems)


@pytest.mark.parametrize("stated", [0, TABLE_FORMAT + 1, "old", None])
def test_another_format_is_no_fault(
    bundle_rebuild_check: Path, tmp_path: Path, stated: object
) -> None:
    copy = Path(shutil.copytree(bundle_rebuild_check, tmp_path / "copy"))
    path = copy / "sub-P01/ses-1/beh/sub-P01_ses-1_task-reconstruction_beh.json"
    path.write_text(path.read_text("utf-8").replace("Description", "Meaning"), "utf-8")
    reseal(copy, table_format=stated)
    report = verify(copy)
    assert report.ok
    assert f"they have the format {stated}" in "\n".join(report.notes)


def test_a_question_that_was_drawn_again_is_one_row_of_another_format(tmp_path: Path) -> None:
    made = golden_builder()
    place, (t_ns, source, drawn) = next(
        (i, row) for i, row in enumerate(made.rows) if isinstance(row[2].payload, TrialDrawn)
    )
    again = structs.replace(drawn.payload, redrawn=1)
    made.rows.insert(place + 1, (t_ns, source, replace(drawn, payload=again)))
    copy = export([made.write(tmp_path / "data")], tmp_path / "bundle")
    reseal(copy, table_format=0)
    assert verify(copy).problems == []


def test_a_package_that_made_them_and_is_not_here_is_named(
    bundle_rebuild_check: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(bundle_rebuild_check, tmp_path / "copy"))
    reseal(copy, packages=[{"package": "labapp-maze", "version": "2.1"}])
    report = verify(copy)
    assert report.ok
    assert "labapp-maze 2.1, which is not installed here" in "\n".join(report.notes)


def test_what_a_package_adds_here_is_not_missing_there(
    bundle_rebuild_check: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def more(declared: object) -> dict[str, object]:
        return codebook() | {"task-maze_beh.tsv": {}}

    monkeypatch.setattr("labapp.session.bids.derived.codebook", more)
    assert verify(bundle_rebuild_check).problems == [
        f"{SOURCEDATA}/codebook.json: task-maze_beh.tsv: missing"
    ]
    here = [{"package": "labapp-maze", "version": "2.1"}]
    monkeypatch.setattr(derived, "packages", lambda: here)
    assert verify(bundle_rebuild_check).problems == []


def test_numbers_that_another_processor_rounds_otherwise_are_equal() -> None:
    compared = derived._equal_cells
    assert compared("0.30000000000000004", "0.3")
    assert compared("[1,0.30000000000000004]", "[1,0.3]")
    assert not compared("0.3001", "0.3")
    assert not compared("[1]", "[1,2]")
    assert not compared("true", "1")
    assert not compared("7", "n/a")


def test_a_changed_table_has_a_new_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When tables, descriptions or README of a bundle come out otherwise, raise
    `labapp.session.bids.derived.TABLE_FORMAT` and put the new fingerprint beside it into `FORMATS`:
    a check would call older bundles damaged."""
    monkeypatch.setattr(resources, "models", lambda: GOLDEN / "models")
    files = comparable(exported(tmp_path))
    texts = [f"{name}\n{files[name]}" for name in sorted(files) if not name.startswith(SOURCEDATA)]
    texts.append(json_text(codebook()))
    texts += [
        readme(
            study="s",
            title="t",
            sessions=2,
            participants=1,
            audio=True,
            heard=heard,
            deidentified=heard,
            unshared=["sub-P01/ses-1"],
            version="0",
        )
        for heard in (True, False)
    ]
    named = re.findall(r"labapp\.\w+", json_text(codebook()))
    assert named == [], "a module that moves would make a new format"
    digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]
    assert FORMATS.get(TABLE_FORMAT) == digest, (
        f"after an intended change: set TABLE_FORMAT in labapp/session/bids/derived.py to "
        f'{max(FORMATS) + 1}, and add {max(FORMATS) + 1}: "{digest}" to FORMATS'
    )
