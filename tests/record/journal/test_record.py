"""The record: plan, segments, sound, state; the same from a session and from its bundle."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from labapp.base.clock import NS
from labapp.base.errors import RecordError
from labapp.record.events.lifecycle import NoteAdded, PartStarted, SessionEnded, SessionPaused
from labapp.record.journal.layout import COLUMNS, ENVIRONMENT, JOURNAL
from labapp.record.journal.opening import is_session, open_record, open_records
from labapp.record.journal.read import Row
from labapp.session.bids.export import export
from labapp.session.folder import SessionFolder
from tests.helpers.golden import golden_builder
from tests.helpers.journals import SessionBuilder, golden_session


def test_what_the_golden_session_is(tmp_path: Path) -> None:
    record = open_record(golden_session(tmp_path))
    assert (record.kind, record.study, record.participant, record.session) == (
        "session",
        "golden",
        "P01",
        "1",
    )
    assert record.state == "complete"
    assert record.working_s == 81, "what follows the end is not counted"
    assert len(record.planned.plan) == 14
    assert record.environment[1]["segment"] == 2
    assert record.study_files()["golden.yaml"].startswith(b"# The study of the golden")
    assert not record.redacted


def test_segments_pauses_and_sound(tmp_path: Path) -> None:
    record = open_record(golden_session(tmp_path))
    first, second = record.segments
    assert (first.number, first.ended, first.last_ns) == (1, None, round(72.25 * NS))
    assert (second.number, second.ended, second.gap_from_ns) == (2, "completed", first.last_ns)
    assert [(p.kind, p.start_ns / NS, (p.end_ns or 0) / NS) for p in record.outline.pauses] == [
        ("pause", 32, 42),
        ("gap", 72.25, 104.25),
    ]
    one, two = record.audio
    assert (one.file, one.frames, one.lost_frames, one.stopped) == (
        "audio/segment-01.wav",
        71_000,
        0,
        False,
    )
    assert (two.segment, two.frames, two.lost_frames, two.stopped) == (2, 20_000, 500, True)
    assert any(sound.blocks for sound in record.audio)
    without = tuple(replace(sound, blocks=()) for sound in record.audio)
    assert record.course == replace(record.outline, audio=without)


def test_events_bodies_and_table_agree(tmp_path: Path) -> None:
    record = open_record(golden_session(tmp_path))
    events = list(record.events())
    assert [event for event, _ in record.payloads()] == events
    table = record.table
    assert table.column_names == [*COLUMNS, "redacted"]
    assert table.num_rows == len(events) == 228
    assert [Row(*row.values()) for row in table.to_pylist()] == list(record.rows)


@pytest.mark.parametrize("zipped", [False, True])
def test_a_bundle_reads_like_its_session(tmp_path: Path, zipped: bool) -> None:
    folder = golden_session(tmp_path)
    session = open_record(folder)
    bundle = open_record(export([folder], tmp_path / "bundle", zip=zipped))
    assert bundle.kind == "bundle"
    assert bundle.name == session.name
    assert list(bundle.rows) == list(session.rows)
    assert bundle.outline == session.outline
    assert bundle.environment == session.environment
    assert bundle.study_files() == session.study_files()
    assert bundle.tree.read("audio/segment-01.wav") == session.tree.read("audio/segment-01.wav")


def test_a_bundle_of_several_sessions(tmp_path: Path) -> None:
    folders = [golden_session(tmp_path / "a")]
    other = golden_builder()
    other.of("P02")
    folders.append(other.write(tmp_path / "b"))
    bundle = export(folders, tmp_path / "bundle")
    assert [record.participant for record in open_records(bundle)] == ["P01", "P02"]
    with pytest.raises(RecordError, match="contains 2 sessions"):
        open_record(bundle)


def test_states(tmp_path: Path) -> None:
    assert open_record(_short().write(tmp_path / "cut")).state == "interrupted"
    ended = _short()
    ended.at(9, SessionEnded("The participant had to leave."))
    record = open_record(ended.write(tmp_path / "ended"))
    assert record.state == "ended_early"
    assert record.outline.reason == "The participant had to leave."
    open_ended = _short()
    open_ended.at(6, SessionPaused("break"))
    open_ended.at(10, NoteAdded("still waiting", 0))
    assert open_record(open_ended.write(tmp_path / "paused")).working_s == 6


def test_a_held_session_is_running(tmp_path: Path) -> None:
    folder = _short().write(tmp_path)
    with SessionFolder(folder).lock():
        assert open_record(folder).state == "running"
    assert open_record(folder).state == "interrupted"


def test_an_older_or_newer_or_unknown_kind_is_told(tmp_path: Path) -> None:
    record = open_record(_short().write(tmp_path))
    newer = record.rows[2]._replace(v=99)
    strange = record.rows[2]._replace(kind="dreamt.of")
    broken = record.rows[2]._replace(payload="[1]")
    for row, said in ((newer, "newer"), (strange, "unknown kind"), (broken, "not a JSON object")):
        changed = type(record)("session", "s", record.name, record.tree, [record.rows[0], row])
        with pytest.raises(RecordError, match=said):
            list(changed.payloads())


def test_a_journal_without_its_plan_is_refused(tmp_path: Path) -> None:
    builder = SessionBuilder()
    builder.at(0, PartStarted(0), "consent")
    with pytest.raises(RecordError, match="does not begin with the session's plan"):
        open_record(builder.write(tmp_path))


def test_a_session_without_environment_or_with_a_broken_one(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    (folder / ENVIRONMENT).write_text("[{")
    with pytest.raises(RecordError, match=r"environment\.json"):
        _ = open_record(folder).environment
    (folder / ENVIRONMENT).unlink()
    assert open_record(folder).environment == []


def test_what_is_neither_session_nor_bundle(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="does not exist"):
        open_record(tmp_path / "nowhere")
    with pytest.raises(RecordError, match="neither a session folder nor a bundle"):
        open_record(tmp_path)
    text = tmp_path / "x.zip"
    text.write_text("hello")
    with pytest.raises(RecordError, match="not a complete zip archive"):
        open_record(text)
    folder = golden_session(tmp_path)
    assert is_session(folder)
    renamed = tmp_path / "renamed"
    shutil.move(folder, renamed)
    assert (renamed / JOURNAL).is_file()
    assert not is_session(renamed)
    with pytest.raises(RecordError, match="neither"):
        open_record(renamed)


def test_links_out_of_a_record_are_not_followed(tmp_path: Path) -> None:
    folder = golden_session(tmp_path)
    secret = tmp_path / "secret.yaml"
    secret.write_text("name: somebody")
    (folder / "study" / "link.yaml").symlink_to(secret)
    with pytest.raises(RecordError, match="it is a link"):
        open_record(folder).study_files()


def _short() -> SessionBuilder:
    builder = SessionBuilder()
    builder.plan([])
    builder.segment(0, 1)
    builder.at(5, NoteAdded("hello", 0))
    return builder
