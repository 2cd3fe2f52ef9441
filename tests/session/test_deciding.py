"""Sessions excluded and included by hand, and an end that is taken back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labapp.analysis import load
from labapp.analysis.analyze import analyze
from labapp.base.clock import NS, Clock, FakeClock
from labapp.base.errors import AudioError, RecordError, SessionError, StudyFull, UsageError
from labapp.record.events import Source
from labapp.record.events.commands import (
    AddNote,
    EndSession,
    Reopen,
    Resume,
    Skip,
    StayHere,
    TakeBackSkip,
)
from labapp.record.events.lifecycle import InclusionDecided
from labapp.record.journal.decisions import decision_problems, decisions, withdrawals
from labapp.record.journal.layout import DECISIONS
from labapp.record.journal.opening import open_record
from labapp.record.journal.sessions import SessionIndex, list_problems, list_sessions, summary
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.condition_assignment import count_held_cells, people_of, preview, session_states
from labapp.session.opening import EmitBody, OpenSession
from labapp.session.resuming import is_finished, read_verified_events, recover
from labapp.session.simulation.simulation_job import simulate_study
from labapp.session.withdrawal import decide_by_hand, withdraw
from labapp.study.loading import LoadedStudy
from tests.analysis.test_report import Page
from tests.helpers.drawn import drawn_study
from tests.helpers.nightly import EVERYTHING
from tests.helpers.rooms import SilentRecorder
from tests.helpers.skips import skip_stage
from tests.session.sessions import begin_session, opened, resume_session
from tests.session.test_slots import slotted

FIRST, SECOND = "sub-P01_", "sub-P02_"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedStudy, Path]:
    folder = tmp_path_factory.mktemp("decided")
    loaded = slotted(folder / "study", per_cell=2)
    simulate_study(str(loaded.path), 4, "knowing", folder / "data")
    return loaded, folder / "data"


@pytest.fixture
def data(made: tuple[LoadedStudy, Path]) -> Path:
    (made[1] / "drawn" / DECISIONS).unlink(missing_ok=True)
    return made[1]


def session(data: Path, label: str = FIRST) -> Path:
    return next((data / "drawn").glob(f"{label}*"))


def included(data: Path) -> dict[str, bool]:
    people = load([data]).participants
    return dict(zip(people["participant"], map(bool, people["included"]), strict=True))


def test_an_exclusion_is_followed_everywhere_and_can_be_taken_back(
    made: tuple[LoadedStudy, Path], data: Path, tmp_path: Path
) -> None:
    loaded, path = made[0], session(data)
    (held,) = [row for row in session_states(data / loaded.study.id) if row.folder == path.name]
    with pytest.raises(StudyFull):
        preview(data, loaded, "P05")
    index = SessionIndex(data)
    index.read()
    _, lines = decide_by_hand(path, False, " fire \n alarm ")
    assert lines == [
        f"{path.name} was excluded by hand. Its data are kept.",
        "P01 no longer counts and no longer has a place in the study.",
    ]
    assert included(data) == {"P01": False, "P02": True, "P03": True, "P04": True}
    person = load([data]).participants.set_index("participant").loc["P01"]
    assert person["excluded_because"] == "by_hand"
    assert (person["decided_by_hand"], person["decision_reason"]) == ("excluded", "fire alarm")
    assert preview(data, loaded, "P05") == held.cells, "the place is handed out again"
    for line in (summary(path), next(line for line in index.read() if line.path == path)):
        assert (line.decision, line.decision_reason) == ("excluded", "fire alarm")
    assert verify(path).ok
    analyze([data], tmp_path / "out")
    report = Page((tmp_path / "out" / "report.html").read_text()).text
    assert "P01 1 excluded fire alarm" in report
    _, lines = decide_by_hand(path, True, "")
    assert lines[1].startswith("Before, it was excluded by hand (fire alarm).")
    assert all(included(data).values())
    with pytest.raises(StudyFull):
        preview(data, loaded, "P05")
    assert len((data / "drawn" / DECISIONS).read_text().splitlines()) == 2, "both are kept"


def test_whoever_fails_a_rule_can_count_all_the_same(data: Path, tmp_path: Path) -> None:
    loaded = slotted(tmp_path / "study", per_cell=2)
    simulate_study(str(loaded.path), 2, "knowing", tmp_path / "data", careless=1.0)
    own = tmp_path / "data"
    assert not any(included(own).values())
    _, lines = decide_by_hand(session(own), True, "the dials were mislabelled")
    assert lines[1] == "It counts even though it breaks these rules: min_solved."
    assert included(own) == {"P01": True, "P02": False}
    person = load([own]).participants.set_index("participant").loc["P01"]
    assert person["excluded_because"] == "min_solved", "what was overruled stays to be seen"
    analyze([own], tmp_path / "out")
    report = Page((tmp_path / "out" / "report.html").read_text()).text
    assert "P01 1 included min_solved the dials were mislabelled" in report


def test_a_bundle_takes_the_decision_along_and_a_copy_without_names_no_reason(
    data: Path, tmp_path: Path
) -> None:
    decide_by_hand(session(data), False, "Mrs Miller fell ill")
    sessions = sorted((data / "drawn").glob("sub-*"))
    for deidentify in (False, True):
        out = tmp_path / f"bundle-{deidentify}"
        export(sessions, out, deidentify=deidentify)
        assert verify(out).ok
        person = load([out]).participants.set_index("participant").loc["P01"]
        assert (bool(person["included"]), person["decided_by_hand"]) == (False, "excluded")
        told = [f for f in out.rglob("*") if f.is_file() and b"Miller" in f.read_bytes()]
        assert bool(told) is not deidentify, told


@pytest.mark.parametrize(
    ("included", "reason", "says"),
    [(False, "  ", "needs a reason"), (False, "x" * 1001, "1001 characters")],
)
def test_a_reason_that_is_none_is_refused(
    data: Path, included: bool, reason: str, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        decide_by_hand(session(data), included, reason)
    assert not (data / "drawn" / DECISIONS).exists()


def test_the_same_decision_twice_is_told(data: Path) -> None:
    decide_by_hand(session(data), False, "ill")
    with pytest.raises(UsageError, match="is already excluded by hand, for this reason"):
        decide_by_hand(session(data), False, "ill")
    decide_by_hand(session(data), False, "ill, as the doctor says")


def test_what_a_crash_cut_off_decides_nothing_and_is_told(data: Path) -> None:
    path = session(data)
    decide_by_hand(path, False, "ill")
    decide_by_hand(session(data, SECOND), False, "late")
    log = data / "drawn" / DECISIONS
    log.write_bytes(log.read_bytes()[:-20])
    assert list(decisions(data / "drawn")) == [path.name]
    assert decision_problems(data / "drawn") == [f"{log}, line 2: damaged and therefore ignored"]
    assert list_problems(data) == decision_problems(data / "drawn")
    decide_by_hand(session(data, SECOND), False, "late")
    assert len(decisions(data / "drawn")) == 2


def test_who_withdrew_cannot_be_included_and_leaves_no_reason_behind(tmp_path: Path) -> None:
    loaded = slotted(tmp_path / "study", per_cell=2)
    simulate_study(str(loaded.path), 2, "knowing", tmp_path / "data")
    data = tmp_path / "data"
    decide_by_hand(session(data), False, "ill")
    decide_by_hand(session(data, SECOND), False, "late")
    withdraw(session(data), tmp_path / "private", delete=True)
    entries = [json.loads(text) for text in (data / "drawn" / DECISIONS).read_text().splitlines()]
    assert [entry["text"] for entry in entries] == ["late"]
    withdraw(session(data, SECOND), tmp_path / "private", delete=False)
    with pytest.raises(RecordError, match="does not count in any case"):
        decide_by_hand(session(data, SECOND), True, "")


@settings(
    max_examples=25 if EVERYTHING else 4,
)
@given(steps=st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=8))
def test_places_and_tables_follow_every_decision(
    made: tuple[LoadedStudy, Path], data: Path, steps: list[tuple[int, bool]]
) -> None:
    """Whoever counts holds a place, and nobody else does."""
    loaded = made[0]
    (data / "drawn" / DECISIONS).unlink(missing_ok=True)
    counts = dict.fromkeys(("P01", "P02", "P03", "P04"), True)
    for number, (who, counted) in enumerate(steps):
        label = f"P0{who + 1}"
        decide_by_hand(session(data, f"sub-{label}_"), counted, f"step {number}")
        counts[label] = counted
    rows = session_states(data / loaded.study.id)
    assert {row.participant: row.state == "included" for row in rows} == counts
    assert sum(count_held_cells(people_of(data, loaded.study)).values()) == sum(counts.values())
    if all(counts.values()):
        with pytest.raises(StudyFull):
            preview(data, loaded, "P05")
    else:
        lost = {row.cells for row in rows if not counts[row.participant]}
        assert preview(data, loaded, "P05") in lost


def begun(tmp_path: Path, **more: object) -> OpenSession:
    """A session of the quick start in its tutorial."""
    session = opened(tmp_path, **more)  # type: ignore[arg-type]
    session.begin()
    session.give_consent("Somebody")
    return session


def end(session: OpenSession, withdrawal: str = "") -> None:
    session.runner.send(EndSession("too early", withdrawal), Source.MODERATOR)
    assert session.runner.finished


def reopen(session: OpenSession, after_s: float = 60.0) -> None:
    clock = session.runner.clock
    assert isinstance(clock, FakeClock)
    clock.advance(after_s)
    session.runner.send(Reopen(session.runner.state.end_seq or 0), Source.MODERATOR)
    assert not session.runner.finished


def sounds(session: OpenSession) -> list[str]:
    events = read_verified_events(session.folder.path)
    return [event.payload["file"] for event in events if event.kind == "audio.started"]


def to_the_end(session: OpenSession) -> None:
    session.runner.send(Resume("on"), Source.MODERATOR)
    while session.runner.part is not None:
        skip_stage(session.runner, Source.MODERATOR)
    assert session.runner.state.ended == "completed"


def copied(session: OpenSession, to: Path) -> Path:
    """What is on the disk now, as a kill would leave it."""
    shutil.copytree(session.folder.path.parent.parent, to)
    return to / session.folder.path.parent.name / session.folder.path.name


def test_a_session_that_was_reopened_goes_on_and_is_whole(tmp_path: Path) -> None:
    session = begun(tmp_path)
    end(session)
    working = session.runner.state.pauses.working_ns(session.runner.clock.now_ns())
    reopen(session)
    runner = session.runner
    assert runner.state.pauses.paused, "somebody has to be there before it goes on"
    assert runner.state.pauses.working_ns(runner.clock.now_ns()) == working
    to_the_end(session)
    session.close("completed")
    path = session.folder.path
    assert verify(path).problems == []
    (listed,) = list_sessions(tmp_path / "data")
    assert (listed.state, listed.withdrawn) == ("complete", "")
    tables = load([path])
    participant = tables.participants.iloc[0]
    assert (participant["outcome"], participant["ended_reason"]) == ("completed", "")
    early = tables.deviations[tables.deviations["kind"] == "ended_early"]
    assert early["duration_s"].tolist() == [60.0]
    assert participant["duration_s"] == pytest.approx(working / NS, abs=1e-6)
    bundle = export([path], tmp_path / "bundle")
    assert verify(bundle).problems == []
    (timeline,) = bundle.glob("sub-*/ses-*/beh/*_task-session_events.tsv")
    assert "session.reopened" in timeline.read_text()
    assert load([bundle]).participants.iloc[0]["outcome"] == "completed"


def test_what_was_decided_at_an_end_that_is_undone_does_not_count(tmp_path: Path) -> None:
    session = begun(tmp_path)
    end(session, "keep")
    assert session.runner.state.withdrawal == "keep"
    reopen(session)
    session.close("interrupted")
    path = session.folder.path
    events = read_verified_events(path)
    assert InclusionDecided.kind in [event.kind for event in events]
    assert not is_finished(events)
    assert withdrawals(path.parent) == {}
    (listed,) = list_sessions(tmp_path / "data")
    assert (listed.state, listed.withdrawn) == ("interrupted", "")
    participant = load([path]).participants.iloc[0]
    assert participant["outcome"] == "unfinished"
    assert "withdrawn" not in str(participant["excluded_because"])
    recover(path)
    again = resume_session(tmp_path, path)
    again.begin()
    assert again.runner.state.pauses.paused
    to_the_end(again)
    again.close("completed")
    assert open_record(path).state == "complete"


def test_who_dies_between_end_and_closing_leaves_a_session_that_ended(tmp_path: Path) -> None:
    session = begun(tmp_path)
    end(session)
    session.runner.send(AddNote("said goodbye", 0), Source.MODERATOR)
    path = copied(session, tmp_path / "killed")
    recover(path)
    (listed,) = list_sessions(tmp_path / "killed")
    assert listed.state == "ended_early"
    with pytest.raises(SessionError):
        resume_session(tmp_path, path)
    assert [event.kind for event in read_verified_events(path)].count("note.added") == 1
    session.close("over")


def test_nothing_is_deleted_before_the_console_is_closed(tmp_path: Path) -> None:
    session = begun(tmp_path)
    end(session, "delete")
    assert session.folder.path.is_dir()
    assert withdrawals(session.folder.path.parent) == {}
    reopen(session)
    session.close("interrupted")
    assert session.folder.path.is_dir(), "the decision was taken back"
    left = begun(tmp_path, participant="P02")
    end(left, "delete")
    left.close("over")
    assert not left.folder.path.exists()


def test_the_place_is_held_until_the_console_is_closed(tmp_path: Path) -> None:
    loaded = drawn_study(tmp_path / "study")
    session = begin_session(tmp_path, study=loaded.path)

    def state() -> str:
        (row,) = session_states(tmp_path / "data" / loaded.study.id)
        return row.state

    for withdrawal in ("", "keep"):
        end(session, withdrawal)
        assert state() == "open"
        reopen(session)
        assert state() == "open"
    end(session)
    killed = copied(session, tmp_path / "killed")
    session.close("over")
    assert state() == "ended"
    (row,) = session_states(killed.parent.parent / loaded.study.id)
    assert row.state == "ended", "looked at again after a crash"


def test_sound_stops_with_the_end_and_goes_on_in_another_file(tmp_path: Path) -> None:
    made: list[Recording] = []

    class Recording(SilentRecorder):
        def __init__(self, *rest: object) -> None:
            super().__init__(*rest)  # type: ignore[arg-type]
            made.append(self)
            self.running = False

        def start(self) -> None:
            super().start()
            self.running = True

        def stop(self, timeout_s: float = 5.0) -> None:
            self.running = False

        def again(self) -> Recording:
            assert not self.running, "until it is stopped it may begin another file itself"
            other = Recording(self.folder, self.segment, self.emit, self.clock)
            other.take = "-2"
            return other

    def maker(folder: object, segment: int, emit: EmitBody, clock: Clock) -> Recording:
        return Recording(folder, segment, emit, clock)

    session = begun(tmp_path, make_recorder=maker)
    assert session.recording
    end(session)
    session.stop_sound()
    assert not session.recording
    assert not made[0].running
    session.stop_sound()
    reopen(session)
    assert session.recording
    assert [recorder.running for recorder in made] == [False, True]
    session.close("over")
    assert not made[1].running
    assert sounds(session) == ["audio/segment-01.wav", "audio/segment-01-2.wav"]


def test_sound_that_does_not_stop_in_time_is_recorded_again_after_the_end(tmp_path: Path) -> None:
    class Hanging(SilentRecorder):
        def stop(self, timeout_s: float = 5.0) -> None:
            raise AudioError("The sound recording did not end.")

    session = begun(tmp_path, make_recorder=Hanging)
    end(session)
    with pytest.raises(AudioError):
        session.stop_sound()
    reopen(session)
    assert session.recording
    session.close("over")
    assert sounds(session) == ["audio/segment-01.wav", "audio/segment-01-2.wav"]


def test_nobody_is_asked_and_nothing_waits_after_the_end(tmp_path: Path) -> None:
    session = begun(tmp_path)
    end(session)
    stored = session.runner.journal.committed_seq
    for command in (Skip(), TakeBackSkip("trial"), StayHere(), Resume("on"), EndSession("again")):
        session.runner.send(command)
    assert session.runner.journal.committed_seq == stored
    session.close("over")
