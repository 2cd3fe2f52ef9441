"""An interview: its guide, its end, and going on in it; and what the moderator corrects."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.clock import NS
from labapp.base.errors import StudyError
from labapp.record.events import Source
from labapp.record.events.commands import (
    AddDeviation,
    AddFlag,
    AddNote,
    AskToLeave,
    Command,
    ConfirmSkip,
    CorrectNote,
    EndSession,
    GivePrompt,
    Next,
    Pause,
    Resume,
    SkipStage,
)
from labapp.record.events.lifecycle import NoteCorrected
from labapp.session.opening import OpenSession
from labapp.session.overview import overview
from labapp.session.resuming import read_verified_events
from labapp.session.simulation.simulation_job import simulate
from labapp.study.loading import load
from labapp.study.overview import check, notices
from labapp.tasks.interview.events import AskQuestion, EndInterview
from labapp.tasks.interview.machine import InterviewState
from tests.session.sessions import begin_session, part_of, surroundings
from tests.session.test_resume import drop, go_on

STUDY = """\
id: talked
title: A study with an interview
version: 1
flow:
  - consent: shipped:consent
  - interview: shipped:interview
    questions:
      en: ["What did you look for?", "What was hard?"]
      de: ["Worauf haben Sie geachtet?"]
  - debrief: shipped:debrief
"""


def study(folder: Path, text: str = STUDY) -> Path:
    path = folder / "talked.yaml"
    path.write_text(text)
    return path


def in_interview(tmp_path: Path) -> OpenSession:
    session = begin_session(tmp_path, study=study(tmp_path))
    session.give_consent("A Name")
    assert part_of(session) == "interview-1"
    return session


def moderate(session: OpenSession, *commands: Command) -> None:
    for command in commands:
        session.runner.send(command, Source.MODERATOR)


def test_the_guide_stamps_its_questions_until_the_moderator_ends_it(tmp_path: Path) -> None:
    session = in_interview(tmp_path)
    session.runner.send(Next())
    assert part_of(session) == "interview-1", "the participant does not end it by a key"
    moderate(session, AskQuestion(2), AskQuestion(1), AskQuestion(2), AskQuestion(3))
    state = session.runner.state.part_state
    assert state == InterviewState(asked=(2, 1, 2), since_ns=0), "there is no third question"
    moderate(session, Pause("a phone"), AskQuestion(1), Resume("on"), EndInterview())
    assert part_of(session) == "debrief"
    assert session.runner.state.records[1].outcome == "completed"
    path = drop(session)
    asked = [
        event for event in read_verified_events(path) if event.kind == "interview.question_asked"
    ]
    assert [dict(event.payload) for event in asked][:2] == [
        {"question": 2, "text": "What was hard?"},
        {"question": 1, "text": "What did you look for?"},
    ]
    assert {event.part_id for event in asked} == {"interview-1"}
    assert len(asked) == 3


@pytest.mark.parametrize("end", [EndInterview(), SkipStage()])
def test_killed_in_an_interview(tmp_path: Path, end: Command) -> None:
    killed = in_interview(tmp_path)
    moderate(killed, AskQuestion(1))
    session = go_on(tmp_path, drop(killed))
    assert part_of(session) == "interview-1"
    moderate(session, Resume("everybody is back"), AskQuestion(2))
    assert session.runner.state.part_state.asked == (1, 2)
    moderate(session, end, ConfirmSkip())
    assert part_of(session) == "debrief"
    drop(session)


def test_who_asks_to_stop_is_let_out_of_the_interview(tmp_path: Path) -> None:
    session = in_interview(tmp_path)
    session.runner.send(AskToLeave("escape"))
    moderate(session, AskQuestion(1))
    assert session.runner.state.part_state.asked == (1,), "its time is not lost"
    moderate(session, EndInterview())
    assert part_of(session) == "debrief"
    assert not session.runner.state.pauses.leaving
    drop(session)


def test_a_simulated_session_asks_everything_and_goes_on(tmp_path: Path) -> None:
    loaded = load(study(tmp_path))
    around = surroundings(tmp_path)
    path = simulate(loaded, "P01", around, data=tmp_path / "data", strategy="understanding")
    events = read_verified_events(path)
    assert [event.kind for event in events].count("interview.question_asked") == 2
    assert events[-2].kind == "session.completed"


def test_the_flow_tells_of_the_interview(tmp_path: Path) -> None:
    told = overview(str(study(tmp_path)), 1, tmp_path / "data").lines()
    assert "  Interview: a guide of 2 questions, until the moderator ends it" in told


def test_an_interview_without_consent_is_worth_a_word(tmp_path: Path) -> None:
    assert notices(check(study(tmp_path))) == []
    without = STUDY.replace("  - consent: shipped:consent\n", "")
    (told,) = notices(check(study(tmp_path, without)))
    assert "name the interview" in told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("      en:", "      fr:"), "they are there in fr, de"),
        (("What did you look for?", " "), "a text that is not empty"),
    ],
)
def test_a_guide_that_cannot_be_asked_is_refused(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    with pytest.raises(StudyError, match=told):
        load(study(tmp_path, STUDY.replace(*change)))


def noted(session: OpenSession) -> list[str]:
    """How everything that was noted reads now."""
    return [noted.now for noted in session.runner.state.noted.values()]


def seqs(session: OpenSession) -> list[int]:
    return list(session.runner.state.noted)


def test_what_was_noted_is_corrected_and_taken_back(tmp_path: Path) -> None:
    session = in_interview(tmp_path)
    moderate(session, AddNote("turns teh dial", 1), AddDeviation("a door", 2), AddFlag(1))
    moderate(session, GivePrompt("Please keep talking"), AskQuestion(1))
    note, deviation, flag, prompt, question = seqs(session)
    moderate(session, CorrectNote(note, " turns the dial ", 3), CorrectNote(deviation, "", 4))
    moderate(session, *(CorrectNote(seq, "", 5) for seq in (flag, prompt, question)))
    assert noted(session) == ["turns the dial", "", "", "", ""]
    before = session.runner.journal.committed_seq
    for nothing in (
        CorrectNote(note, "turns the dial", 6),  # as it reads already
        CorrectNote(flag, "", 6),
        CorrectNote(flag, "another meaning", 6),  # the words are the study's
        CorrectNote(before, "a correction", 6),  # is no note
        CorrectNote(999, "nothing", 6),
    ):
        moderate(session, nothing)
    assert session.runner.journal.committed_seq == before
    moderate(session, CorrectNote(flag, "insight", 7), CorrectNote(deviation, "a window", 7))
    assert noted(session) == ["turns the dial", "a window", "insight", "", ""]
    state = session.runner.state
    moderate(session, EndInterview(), EndSession("enough"), CorrectNote(note, "at the end", 8 * NS))
    assert noted(session)[0] == "at the end", "also when the session is over"
    path = drop(session)
    written = [event for event in read_verified_events(path) if event.kind == NoteCorrected.kind]
    assert all(event.source == Source.MODERATOR for event in written)
    assert dict(written[0].payload) == {
        "seq": note, "text": "turns the dial", "typing_began_ns": 3,
    }  # fmt: skip
    folded = session.runner.machine.fold(read_verified_events(path))
    assert folded.noted == session.runner.state.noted != state.noted
