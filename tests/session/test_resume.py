"""Going on after an interruption."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from labapp.base.errors import RecordError, SessionError, StudyError
from labapp.record.audio.capture import WavWriter
from labapp.record.audio.recorder import Recorder
from labapp.record.events import Source
from labapp.record.events.commands import EndSession, Resume
from labapp.record.events.lifecycle import DecoderWarmed
from labapp.record.events.registry import Pauses
from labapp.record.events.voice import AudioBlock, AudioStarted
from labapp.record.journal.opening import open_record
from labapp.record.journal.read import check_journal
from labapp.record.journal.sessions import list_sessions
from labapp.session import opening, resuming
from labapp.session.bids.verify import verify
from labapp.session.opening import OpenSession
from labapp.session.resuming import read_verified_events, recover
from labapp.study.loading import load
from labapp.tasks.reconstruction.events import MoveDial
from labapp.tasks.reconstruction.machine import Trial
from tests.helpers.beside import put_beside
from tests.helpers.skips import skip_stage
from tests.helpers.trees import flip
from tests.session.sessions import (
    begin_session,
    opened,
    part_of,
    resume_session,
    surroundings,
    trial_of,
)


def at_stage_one(tmp_path: Path) -> OpenSession:
    session = begin_session(tmp_path)
    session.give_consent("Somebody")
    while session.runner.part is not None and session.runner.part.id != "stage-1":
        skip_stage(session.runner)
    return session


def states(tmp_path: Path) -> list[str]:
    """What the list of sessions says of each."""
    return [row.state for row in list_sessions(tmp_path / "data")]


def drop(session: OpenSession) -> Path:
    """As a kill leaves it: no last event, no unlocking by the session itself."""
    session.runner._closed = True
    session.runner.journal.close()
    session._lock.release()
    return session.folder.path


def go_on(tmp_path: Path, path: Path, **more: bool) -> OpenSession:
    session = opening.resume(path, lambda loaded, models: surroundings(tmp_path), **more)
    session.begin()
    return session


def test_a_session_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    killed = at_stage_one(tmp_path)
    killed.runner.send(MoveDial(0, 0.5, "mouse"))
    before = trial_of(killed)
    clock_ns = killed.runner.clock.now_ns()
    path = drop(killed)
    assert states(tmp_path) == ["interrupted"]
    assert not recover(path).finished

    session = go_on(tmp_path, path)
    runner = session.runner
    assert runner.journal.segment == 2
    after = trial_of(session)
    assert (after.z, after.z_target, after.z_seq) == (before.z, before.z_target, before.z_seq)
    assert runner.pictures is not None
    assert runner.state.pauses.paused, "stands still until the moderator goes on"
    working = runner.state.pauses.working_ns(runner.clock.now_ns())
    assert working == clock_ns, "the months since the fake clock's date do not count"
    assert runner.clock.now_ns() > clock_ns
    runner.send(Resume("on"), Source.MODERATOR)
    runner.send(MoveDial(0, 0.6, "mouse"))
    assert trial_of(session).z_seq == before.z_seq + 1
    assert trial_of(session).active.total_ns < 10**9
    session.close("test over")
    events = read_verified_events(path)
    assert not check_journal(path)
    pauses = Pauses()
    for event in events:
        pauses = pauses.apply(event)
    assert pauses.working_ns(events[-1].t_ns) < clock_ns + 60 * 10**9
    (gap,) = (e.payload["gap_from_ns"] for e in events if e.payload.get("gap_from_ns") is not None)
    assert gap == next(e for e in reversed(events) if e.segment == 1).t_ns


def test_the_sound_behind_the_last_block_is_covered_from_the_next_run_on(tmp_path: Path) -> None:
    killed = at_stage_one(tmp_path)
    file = "audio/segment-01.wav"
    wav = WavWriter(killed.folder.path / file, 1000)
    killed.runner.emit(AudioStarted(file, "Test Mic", "ALSA", 1000, 1, "PCM_16"))
    wav.append(bytes(range(200)) * 10)
    wav.flush()
    synced = wav.sync()
    assert synced is not None
    killed.runner.emit(AudioBlock(file, 0, synced.frames, synced.sha256, ()))
    wav.append(b"\1\2" * 300)
    wav.flush()
    wav.close()
    path = drop(killed)
    assert any("after the last block" in note for note in verify(path).notes)
    recover(path)
    session = go_on(tmp_path, path)
    session.close("test over")
    (sound,) = open_record(path).audio
    assert (sound.segment, sound.frames, len(sound.blocks)) == (1, 1300, 2)
    report = verify(path)
    assert report.ok
    assert not any("after the last block" in note for note in report.notes)
    flip(path / file, 44 + 2 * 1200)
    assert not verify(path).ok


def test_a_movement_whose_picture_was_lost_is_decoded_after_the_gap(tmp_path: Path) -> None:
    killed = at_stage_one(tmp_path)
    target = trial_of(killed).z_target
    for dimension, value in enumerate(target[:-1]):
        killed.runner.send(MoveDial(dimension, value, "mouse"))
    # The decode is asked for, and never comes.
    killed.runner._renderer._pictures._requested_seq = 10**6
    killed.runner.send(MoveDial(len(target) - 1, target[-1], "mouse"))
    assert not trial_of(killed).solved
    session = go_on(tmp_path, drop(killed))
    assert not trial_of(session).solved
    session.runner.send(Resume("on"), Source.MODERATOR)
    assert trial_of(session).solved
    session.close("test over")


def test_a_run_that_never_began_leaves_no_trace(tmp_path: Path) -> None:
    path = drop(at_stage_one(tmp_path))
    before = len(read_verified_events(path))
    resume_session(tmp_path, path).close("changed my mind")
    assert len(read_verified_events(path)) == before
    never = opened(tmp_path, participant="P02")
    never.close("changed my mind")
    assert not never.folder.path.exists(), "and takes no participant"


def test_killed_again_and_again(tmp_path: Path) -> None:
    path = drop(at_stage_one(tmp_path))
    for segment in range(2, 6):
        session = go_on(tmp_path, path)
        assert session.runner.journal.segment == segment
        assert isinstance(trial_of(session), Trial)
        drop(session)
    assert not check_journal(path)
    assert recover(path).events == len(read_verified_events(path))


def test_killed_while_paused(tmp_path: Path) -> None:
    from labapp.record.events.commands import Pause

    killed = at_stage_one(tmp_path)
    killed.runner.send(Pause("break"), Source.MODERATOR)
    session = go_on(tmp_path, drop(killed))
    assert session.runner.state.pauses.paused
    session.runner.send(Resume("on"), Source.MODERATOR)
    assert not session.runner.state.pauses.paused
    session.close("test over")


def test_a_finished_session_is_not_resumed(tmp_path: Path) -> None:
    session = at_stage_one(tmp_path)
    session.runner.send(EndSession("done"), Source.MODERATOR)
    session.close("done")
    path = session.folder.path
    assert states(tmp_path) == ["ended_early"]
    assert recover(path).finished
    with pytest.raises(SessionError, match="is finished"):
        go_on(tmp_path, path)


def test_a_changed_study_is_not_resumed(tmp_path: Path) -> None:
    path = drop(at_stage_one(tmp_path))
    consent = path / "study" / "texts" / "en" / "consent.md"
    original = consent.read_bytes()
    consent.write_bytes(original + b"\nOne more sentence.\n")
    with pytest.raises(SessionError, match="is not the one with which the session began"):
        go_on(tmp_path, path)
    consent.unlink()  # no shipped text takes its place, not even the very same one
    with pytest.raises(StudyError, match=f"Put the original back at {consent}"):
        go_on(tmp_path, path)
    consent.write_bytes(original)
    study = path / "study" / "quickstart.yaml"
    text = study.read_bytes()
    study.write_bytes(b"id: [")
    with pytest.raises(StudyError):
        go_on(tmp_path, path)
    study.unlink()
    with pytest.raises(SessionError, match="missing from its study folder"):
        go_on(tmp_path, path)
    study.write_bytes(text)
    before = len(read_verified_events(path))
    session = go_on(tmp_path, path)
    session.close("test over")
    assert len(read_verified_events(path)) > before, "refusals wrote nothing and let the lock go"


def test_another_version_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = drop(at_stage_one(tmp_path))
    monkeypatch.setattr(resuming, "__version__", "99.0")
    with pytest.raises(SessionError, match=r"this is 99\.0"):
        go_on(tmp_path, path)
    go_on(tmp_path, path, accept_version=True).close("test over")


def test_another_model_is_asked_about(tmp_path: Path) -> None:
    def warmed(sha256: str) -> tuple[DecoderWarmed, ...]:
        return (DecoderWarmed("sinelines/ae", "cpu", 1, 1, 0.1, 0.2, sha256),)

    killed = begin_session(tmp_path, warmed=warmed("a" * 64))
    path = drop(killed)

    def again(sha256: str, **more: bool) -> OpenSession:
        around = surroundings(tmp_path, warmed=warmed(sha256))
        return opening.resume(path, lambda loaded, models: around, **more)

    with pytest.raises(SessionError, match=r"The model sinelines/ae is not the one"):
        again("b" * 64)
    again("a" * 64).close("test over")
    again("b" * 64, accept_version=True).close("test over")


@pytest.mark.parametrize(
    "change", [{"backend_version": "1.21.0"}, {"backend": "torch"}, {"device": "cuda"}]
)
def test_what_computes_the_pictures_is_kept_through_all_segments(
    change: dict[str, str], tmp_path: Path
) -> None:
    first = DecoderWarmed("own/model", "cpu", 1, 1, 0.1, 0.2, "", "onnxruntime", "1.20.0")
    killed = begin_session(tmp_path, warmed=(first,))
    path = drop(killed)

    def again(**more: bool) -> OpenSession:
        around = surroundings(tmp_path, warmed=(replace(first, **change),))
        return opening.resume(path, lambda loaded, models: around, **more)

    with pytest.raises(SessionError, match=r"computed by onnxruntime 1.20.0 cpu. Here it is"):
        again()
    gone_on = again(accept_version=True)
    gone_on.begin()
    drop(gone_on)
    again().close("test over")  # what it was gone on with is what it is held to


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "UPDATE events SET payload = replace(payload, '0.5', '0.6') WHERE kind = 'dial.moved'",
            "",
        ),
        ("DELETE FROM events WHERE seq = 3", "gap"),
        ("DELETE FROM events", "no event"),
    ],
)
def test_a_damaged_journal_is_not_gone_on_with(tmp_path: Path, change: str, said: str) -> None:
    killed = at_stage_one(tmp_path)
    killed.runner.send(MoveDial(0, 0.5, "mouse"))
    path = drop(killed)
    shutil.copytree(path, tmp_path / "copy")
    connection = sqlite3.connect(path / "journal.sqlite")
    with connection:
        assert connection.execute(change).rowcount
    connection.close()
    content = (path / "journal.sqlite").read_bytes()
    for attempt in (lambda: recover(path), lambda: go_on(tmp_path, path)):
        with pytest.raises(RecordError) as caught:
            attempt()
        assert said in caught.value.what
    assert (path / "journal.sqlite").read_bytes() == content


def test_a_session_killed_before_it_began_goes_on_in_its_first_segment(tmp_path: Path) -> None:
    path = drop(opened(tmp_path))
    assert recover(path).events == 1
    session = go_on(tmp_path, path)
    session.runner.send(Resume("here"), Source.MODERATOR)
    assert part_of(session) == "consent"
    session.close("test over")
    assert not check_journal(path)
    assert {event.segment for event in read_verified_events(path)} == {1}


def test_a_study_file_with_the_other_ending_is_found_again(tmp_path: Path) -> None:
    study = put_beside(tmp_path / "own") / "study.yml"
    study.write_bytes(load("quickstart").files["quickstart.yaml"])
    killed = begin_session(tmp_path, study=study)
    session = go_on(tmp_path, drop(killed))
    assert session.loaded.study.id == "quickstart"
    session.close("test over")


def test_a_damaged_environment_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    path = drop(at_stage_one(tmp_path))
    environment = path / "environment.json"
    environment.write_text('[{"segment": 1')
    with pytest.raises(SessionError, match=r"environment\.json .* is damaged"):
        go_on(tmp_path, path)
    assert environment.read_text() == '[{"segment": 1'
    recover(path)  # the lock was let go


def test_a_session_that_began_without_sound_goes_on_without(tmp_path: Path) -> None:
    path = drop(at_stage_one(tmp_path))

    def never(*_: object) -> Recorder:
        raise AssertionError("nobody was told of a recording")

    again = resume_session(tmp_path, path, make_recorder=never)
    again.begin()
    assert not again.recording
    again.close("test over")
    off = [event for event in read_verified_events(path) if event.kind == "audio.off"]
    assert off[-1].payload["reason"] == "the session began without sound"
