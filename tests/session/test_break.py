"""A break of the plan: killed in it, gone on with, and ended by whom it may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.record.events import Source
from labapp.record.events.commands import Command, Next, Pause, Resume, SkipStage
from labapp.record.journal.read import check_journal, read_rows
from labapp.record.journal.record import outline
from labapp.session.opening import OpenSession
from labapp.session.resuming import read_verified_events
from tests.helpers.skips import skip_stage
from tests.session.sessions import begin_session, part_of
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
