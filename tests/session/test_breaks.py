"""Breaks, blinding and interrupted sessions: kept over resumes."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis.tables import load as load_tables
from labapp.base.errors import SessionError
from labapp.record.events import Event, Source
from labapp.record.events.commands import (
    Command,
    EndSession,
    HandIn,
    Next,
    Pause,
    Resume,
    SkipStage,
    Unblind,
)
from labapp.record.journal.opening import describe
from labapp.record.journal.read import check_journal, read_rows
from labapp.record.journal.record import outline
from labapp.record.journal.sessions import summary
from labapp.session import resuming
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.opening import OpenSession, resume
from labapp.session.resuming import read_verified_events, recover
from labapp.tasks.single_dimension.events import Choose, Rate
from tests.helpers.skips import skip_question, skip_stage
from tests.session.sessions import begin_session, part_of, resume_session, surroundings, trial_of
from tests.session.test_resume import drop, go_on

STUDY = """\
id: rested
title: A study with a break
version: 1
when_interrupted: restart_stage
flow:
  - text: shipped:consent
  - break: shipped:consent
    at_least_s: 60
  - questionnaire: shipped:seq
"""


def in_break(tmp_path: Path) -> OpenSession:
    path = tmp_path / "rested.yaml"
    path.write_text(STUDY)
    session = begin_session(tmp_path, study=path)
    skip_stage(session.runner)
    assert part_of(session) == "break-1"
    return session


def test_nothing_but_time_or_the_moderator_ends_a_break(tmp_path: Path) -> None:
    session = in_break(tmp_path)
    before = session.runner.journal.committed_seq
    for command in (Next(), Pause("again")):
        session.runner.send(command)
    assert part_of(session) == "break-1"
    assert session.runner.state.pauses.paused
    assert session.runner.journal.committed_seq == before
    skip_stage(session.runner, Source.MODERATOR)
    assert part_of(session) == "questionnaire-1"
    assert session.runner.state.records[1].outcome == "skipped"
    session.close("test over")


@pytest.mark.parametrize("command", [Next(), Resume("everybody is back"), SkipStage()])
def test_killed_in_a_break(tmp_path: Path, command: Command) -> None:
    killed = in_break(tmp_path)
    worked = killed.runner.state.pauses.working_ns(killed.runner.clock.now_ns())
    session = go_on(tmp_path, drop(killed))
    assert part_of(session) == "break-1", "it goes on, and its least time is over long since"
    assert session.runner.state.pauses.paused
    session.runner.send(command)
    assert part_of(session) == "questionnaire-1"
    pauses = session.runner.state.pauses
    assert not pauses.paused
    assert pauses.working_ns(session.runner.clock.now_ns()) < worked + 60 * 10**9
    path = drop(session)
    assert not check_journal(path)
    assert [pause.kind for pause in outline(read_rows(path)).pauses] == ["break"]
    kinds = [event.kind for event in read_verified_events(path)]
    assert kinds.count("session.paused") == kinds.count("session.resumed") == 1
    assert "part.restarted" not in kinds


def begun(tmp_path: Path, blind: bool | None) -> OpenSession:
    return begin_session(tmp_path, blind=blind)


def again(tmp_path: Path, path: Path, blind: bool | None) -> OpenSession:
    session = resume(path, lambda loaded, models: surroundings(tmp_path, blind=blind))
    session.begin()
    return session


def said(path: Path) -> list[bool]:
    return [
        event.payload["blind"]
        for event in read_verified_events(path)
        if event.kind == "blinding.set"
    ]


@pytest.mark.parametrize("asked", [True, False, None])
def test_a_blind_session_stays_blind_whoever_resumes_it(tmp_path: Path, asked: bool | None) -> None:
    session = begun(tmp_path, True)
    assert session.blind
    assert session.runner.state.blind is True
    path = drop(session)
    session = again(tmp_path, path, asked)
    assert session.blind
    drop(session)
    assert said(path) == [True], "it is said once"
    assert summary(path).blind is True
    assert describe(path)[0]["blind"] is True


def test_unblinding_is_an_event_and_for_good(tmp_path: Path) -> None:
    session = begun(tmp_path, True)
    session.runner.send(Unblind(), Source.MODERATOR)
    session.runner.send(Unblind(), Source.MODERATOR)
    path = drop(session)
    assert said(path) == [True, False]
    with pytest.raises(SessionError, match="can no longer be blind"):
        again(tmp_path, path, True)
    session = again(tmp_path, path, False)
    assert not session.blind
    drop(session)
    assert said(path) == [True, False]
    told = outline(read_rows(path))
    assert (told.blind, told.unblinded_ns is not None) == (True, True)
    assert describe(path)[0]["unblinded_s"] is not None
    assert summary(path).unblinded_s is not None


def test_who_was_not_blind_is_never_blinded(tmp_path: Path) -> None:
    session = begun(tmp_path, False)
    before = session.runner.journal.committed_seq
    session.runner.send(Unblind(), Source.MODERATOR)
    assert session.runner.journal.committed_seq == before
    path = drop(session)
    with pytest.raises(SessionError, match="can no longer be blind"):
        again(tmp_path, path, True)
    drop(again(tmp_path, path, None))
    assert summary(path).blind is False


@pytest.mark.parametrize("asked", [True, False])
def test_what_an_old_journal_does_not_say_stays_unknown(tmp_path: Path, asked: bool) -> None:
    path = drop(begun(tmp_path, None))
    assert summary(path).blind is None
    session = again(tmp_path, path, asked)
    assert session.blind is asked
    session.runner.send(EndSession("enough"), Source.MODERATOR)
    drop(session)
    assert said(path) == [asked], "from here on it is known"
    assert summary(path).blind is None, "of the session as a whole it is not"
    assert describe(path)[0]["blind"] is None


INTERRUPTED_STUDY = """\
id: broken-off
title: A study that is interrupted
version: 1
unnamed_texts: shipped
when_interrupted: {policy}
flow:
  - consent: shipped:consent
  - practice: circles
  - stages: {{task: reconstruction, models: [sinelines/gt], trials: 3, skip: always}}
  - stages: {{task: single-dimension, models: [sinelines/gt], visualisation: traversals}}
  - questionnaire: shipped:seq
"""


def at(tmp_path: Path, policy: str, part: str) -> OpenSession:
    """A session on the first question of a part."""
    path = tmp_path / "study" / "broken-off.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(INTERRUPTED_STUDY.format(policy=policy))
    session = begin_session(tmp_path, study=path)
    session.give_consent("Somebody")
    while session.runner.part is not None and session.runner.part.id != part:
        skip_stage(session.runner)
    return session


def resumed(tmp_path: Path, path: Path) -> OpenSession:
    session = go_on(tmp_path, path)
    session.runner.send(Resume("on"), Source.MODERATOR)
    return session


def answer(session: OpenSession) -> None:
    for command in (Choose(0, "x"), Rate("confidence", 3, "x"), Rate("understanding", 3, "x")):
        session.runner.send(command)
    session.runner.send(HandIn())
    session.runner.send(Next())


def keys(events: list[Event], kind: str) -> list[tuple[str | None, int | None, int | None]]:
    return [(event.part_id, event.trial, event.attempt) for event in events if event.kind == kind]


def test_a_stage_begins_again_with_other_questions(tmp_path: Path) -> None:
    killed = at(tmp_path, "restart_stage", "stage-1")
    skip_question(killed.runner)
    first = trial_of(killed)
    assert first.number == 2
    session = go_on(tmp_path, drop(killed))
    assert trial_of(session).number == 2, "nothing happens before the person goes on"
    session.runner.send(Resume("on"), Source.MODERATOR)
    trial = trial_of(session)
    assert (trial.number, trial.attempt) == (1, 2)
    assert trial.started_ns is not None
    assert session.runner.pictures is not None
    for _ in range(3):
        skip_question(session.runner)
    assert part_of(session) == "stage-2-intro"
    events = read_verified_events(drop(session))
    assert keys(events, "part.restarted") == [("stage-1", None, None)]
    drawn = [
        event for event in events if event.kind == "trial.drawn" and event.part_id == "stage-1"
    ]
    assert [(e.trial, e.attempt) for e in drawn] == [(1, 1), (2, 1), (1, 2), (2, 2), (3, 2)]
    pairs = [(tuple(e.payload["z_start"]), tuple(e.payload["z_target"])) for e in drawn]
    assert len(set(pairs)) == 5


def test_a_single_dimension_stage_begins_again_and_again(tmp_path: Path) -> None:
    killed = at(tmp_path, "restart_stage", "stage-2")
    answer(killed)
    session = resumed(tmp_path, drop(killed))
    question = session.runner.state.part_state.trial
    assert (question.number, question.attempt) == (1, 2)
    answer(session)
    session = resumed(tmp_path, drop(session))
    assert session.runner.state.part_state.trial.attempt == 3
    part = session.runner.part
    assert part is not None
    for _ in range(part.trials):  # type: ignore[union-attr]
        answer(session)
    path = session.folder.path
    events = read_verified_events(drop(session))
    drawn = [event for event in events if event.kind == "question.drawn"]
    pictures = [tuple(e.payload["z"]) for e in drawn if e.trial == 1]
    assert len(pictures) == len(set(pictures)) == 3
    assert session.runner.state.tally.trials.keys() <= {
        ("stage-2", n + 1) for n in range(part.trials)
    }  # type: ignore[union-attr]
    assert not check_journal(path)


@pytest.mark.parametrize("part", ["stage-1-intro", "practice", "questionnaire-1"])
def test_what_is_no_stage_goes_on(tmp_path: Path, part: str) -> None:
    killed = at(tmp_path, "restart_stage", part)
    session = resumed(tmp_path, drop(killed))
    assert session.runner.part is not None
    assert session.runner.part.id == part
    assert not keys(read_verified_events(drop(session)), "part.restarted")


def test_a_pause_restarts_nothing(tmp_path: Path) -> None:
    from labapp.record.events.commands import Pause

    session = at(tmp_path, "restart_stage", "stage-1")
    skip_question(session.runner)
    session.runner.send(Pause("a question"), Source.MODERATOR)
    session.runner.send(Resume("on"), Source.MODERATOR)
    assert trial_of(session).number == 2
    session.close("test over")


def test_killed_twice_before_anybody_goes_on(tmp_path: Path) -> None:
    killed = at(tmp_path, "restart_stage", "stage-1")
    path = drop(go_on(tmp_path, drop(killed)))
    session = resumed(tmp_path, path)
    assert trial_of(session).attempt == 2
    session.close("test over")


def test_by_default_a_stage_goes_on(tmp_path: Path) -> None:
    killed = at(tmp_path, "resume", "stage-1")
    skip_question(killed.runner)
    session = resumed(tmp_path, drop(killed))
    assert (trial_of(session).number, trial_of(session).attempt) == (2, 1)
    session.close("test over")


def test_earlier_attempts_are_kept_and_do_not_count(tmp_path: Path) -> None:
    killed = at(tmp_path, "restart_stage", "stage-1")
    for _ in range(2):
        skip_question(killed.runner)
    session = resumed(tmp_path, drop(killed))
    skip_question(session.runner)
    skip_stage(session.runner)  # the second question is cut off, the third never asked again
    while session.runner.part is not None and session.runner.part.id != "stage-2":
        skip_stage(session.runner)
    answer(session)
    session = resumed(tmp_path, drop(session))
    answer(session)
    while session.runner.part is not None:
        skip_stage(session.runner)
    session.close("done")
    tables = load_tables(session.folder.path)
    trials = tables.trials[tables.trials["stage"] == "stage-1"]
    told = list(zip(trials["trial"], trials["attempt"], trials["excluded_because"], strict=True))
    again = "its stage began again"
    assert told[:3] == [(1, 1, again), (2, 1, again), (3, 1, again)]
    assert trials["excluded"].tolist() == [True, True, True, False, True]
    assert trials["outcome"].tolist()[:3] == ["skipped", "skipped", "interrupted"]
    stage = tables.stages[tables.stages["stage"] == "stage-1"].iloc[0]
    assert stage["n_trials"] == 1
    single = tables.trials[tables.trials["stage"] == "stage-2"]
    assert single["attempt"].tolist()[:3] == [1, 1, 2]
    assert single["excluded_because"].tolist()[:2] == [again, again]
    asked = tables.trials[tables.trials["excluded_because"].fillna("") != again]
    (told_of,) = describe(session.folder.path)
    assert told_of["questions"] == asked["outcome"].value_counts().to_dict()
    kinds = tables.deviations["kind"].tolist()
    assert kinds.count("stage_restarted") == 2
    assert kinds.count("interrupted") == 2
    export([session.folder.path], tmp_path / "bundle")
    assert verify(tmp_path / "bundle").problems == []
    timeline = next((tmp_path / "bundle").rglob("*task-reconstruction_events.tsv")).read_text()
    rows = [line.split("\t") for line in timeline.splitlines()]
    kind, stage_at, outcome = (rows[0].index(n) for n in ("trial_type", "stage", "outcome"))
    stages = [row[outcome] for row in rows if row[kind] == "stage" and row[stage_at] == "stage-1"]
    assert stages == ["restarted", "skipped"]


def test_a_study_may_forbid_to_go_on(tmp_path: Path) -> None:
    path = drop(at(tmp_path, "block", "stage-1"))
    before = len(read_verified_events(path))
    assert not recover(path).finished
    assert resuming.forbids_resume(path)
    with pytest.raises(SessionError) as refused:
        resume_session(tmp_path, path)
    assert "does not allow" in refused.value.what
    assert "kept" in refused.value.safe
    assert len(read_verified_events(path)) == before
    export([path], tmp_path / "bundle")
    assert verify(tmp_path / "bundle").ok
    assert not resuming.forbids_resume(drop(at(tmp_path / "other", "resume", "stage-1")))
