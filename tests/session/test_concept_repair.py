"""A session in which concepts are set: recorded, verified, gone on with when the set is gone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from labapp.models.stimuli.library import StimulusSet
from labapp.record.events import Event, Source
from labapp.record.events.commands import Next, Resume
from labapp.record.journal.read import check_journal, read_rows
from labapp.session.bids.verify import verify
from labapp.session.opening import OpenSession
from labapp.study.plan import pictures_of
from labapp.study.plugins.part import TrialsPart
from labapp.tasks.concept_repair.events import RepairDone, SetConcept, TickNothing
from labapp.tasks.concept_repair.plan import ConceptGridPart, ConceptRepairPart, Repair
from tests.helpers import concepts
from tests.session.sessions import resume_session

FIRST = "stage-1-intro"
"""The first part of the study: its flow has no consent."""


@pytest.fixture
def made(tmp_path: Path) -> StimulusSet:
    return concepts.write(tmp_path / "sets", 4)


def trial_of(session: OpenSession) -> Repair:
    trial = session.runner.state.part_state.trial
    assert isinstance(trial, Repair)
    return trial


def events_of(session: OpenSession, *kinds: str) -> list[Event]:
    return [row.event() for row in read_rows(session.folder.path, kinds or None)]


def to_the_stage(session: OpenSession) -> None:
    while not isinstance(session.runner.part, TrialsPart):
        session.runner.send(Next())


def to_the_end(session: OpenSession) -> None:
    for _ in range(100):
        if session.runner.finished:
            return
        if isinstance(session.runner.part, ConceptGridPart):
            session.runner.send(TickNothing("mouse"))
        on_a_picture = isinstance(session.runner.state.part_state.trial, Repair)
        session.runner.send(RepairDone() if on_a_picture else Next())
    raise AssertionError("the session does not come to its end")


def test_a_session_goes_on_without_its_stimulus_set(
    tmp_path: Path, begin: Callable[..., OpenSession], made: StimulusSet
) -> None:
    """Its plan has the model's answers, its folder the pictures."""
    session = begin(part=FIRST, study=concepts.write_study(tmp_path / "study", made))
    to_the_stage(session)
    session.runner.send(SetConcept(1, 2, "mouse"))
    before = trial_of(session)
    assert before.states == (0, 2, 0, 0)
    session.close("broken off")
    shutil.rmtree(made.folder)
    resumed = resume_session(tmp_path, session.folder.path)
    try:
        resumed.begin()
        runner = resumed.runner
        runner.send(Resume("resumed"), Source.MODERATOR)
        assert trial_of(resumed) == before
        runner.send(SetConcept(3, 1, "mouse"))
        assert trial_of(resumed).states == (0, 2, 0, 1)
        assert runner.gallery is not None
        for picture in pictures_of(runner.machine.parts):
            assert runner.gallery.rgb(picture).shape == (concepts.SIDE, concepts.SIDE, 3)
        to_the_end(resumed)
    finally:
        resumed.close("test over")
    assert check_journal(resumed.folder.path) == []
    assert verify(resumed.folder.path).problems == []
    ended = [event.payload["how"] for event in events_of(resumed, "repair.ended")]
    assert ended == ["done"] * 4


def test_answers_are_of_the_set_as_it_was_planned(
    tmp_path: Path, begin: Callable[..., OpenSession], made: StimulusSet
) -> None:
    """A file of answers that is changed meanwhile changes no session that began before."""
    session = begin(part=FIRST, study=concepts.write_study(tmp_path / "study", made))
    to_the_stage(session)
    (made.folder / "answers.npy").write_bytes(b"nothing")
    part = session.runner.part
    assert isinstance(part, ConceptRepairPart)
    session.runner.send(SetConcept(0, 1, "mouse"))
    (event,) = events_of(session, "concept.set")
    item = part.items[trial_of(session).number - 1]
    assert tuple(event.payload["probabilities"]) == item.probabilities((1, 0, 0, 0))
    to_the_end(session)
    session.close("test over")
