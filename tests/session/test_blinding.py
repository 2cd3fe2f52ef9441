"""Whether the moderator is blind is the session's state: kept over resumes, lifted by an event."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.errors import SessionError
from labapp.record.events import Source
from labapp.record.events.commands import EndSession, Unblind
from labapp.record.journal.opening import describe
from labapp.record.journal.read import read_rows
from labapp.record.journal.record import outline
from labapp.record.journal.sessions import summary
from labapp.session.opening import OpenSession, resume
from labapp.session.resuming import read_verified_events
from tests.session.sessions import begin_session, surroundings
from tests.session.test_resume import drop


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
    with pytest.raises(SessionError, match="cannot be made blind"):
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
    with pytest.raises(SessionError, match="cannot be made blind"):
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
