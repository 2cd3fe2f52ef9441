"""A session that unmasks pictures: recorded, paused, gone on with, and asked of the model."""

from __future__ import annotations

import hashlib
import itertools
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from labapp.base.clock import FakeClock
from labapp.base.errors import StimuliError
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Logits, Photo
from labapp.models.stimuli.masked_pictures import Masking
from labapp.record.events import Event, Source, payload_of
from labapp.record.events.commands import Next, Pause, Resume
from labapp.record.events.lifecycle import InclusionDecided, StimuliStored
from labapp.record.journal.read import check_journal, read_rows
from labapp.session.bids.verify import verify
from labapp.session.gate import predict_masked
from labapp.session.opening import OpenSession
from labapp.session.overview import overview
from labapp.study.plan import pictures_of
from labapp.tasks.unmasking.events import Respond, StimulusPainted
from labapp.tasks.unmasking.plan import StimulusTrial, UnmaskingPart
from tests.helpers.unmasking import MASKS, made, play_unmasking, write_unmasking_study
from tests.session.sessions import resume_session

FIRST = "practice-intro"
"""The first part of the study: its flow has no consent."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> StimulusSet:
    return made(tmp_path_factory.mktemp("sets"))


@pytest.fixture
def study(tmp_path: Path, found: StimulusSet) -> Path:
    return write_unmasking_study(tmp_path / "study", found, blank_ms=500)


def events_of(session: OpenSession, *kinds: str) -> list[Event]:
    return [row.event() for row in read_rows(session.folder.path, kinds or None)]


def trial_of(session: OpenSession) -> StimulusTrial:
    trial = session.runner.state.part_state.trial
    assert isinstance(trial, StimulusTrial)
    return trial


def part_of(session: OpenSession) -> UnmaskingPart:
    part = session.runner.part
    assert isinstance(part, UnmaskingPart)
    return part


def test_a_session_is_recorded_from_the_example_to_its_end(
    begin: Callable[..., OpenSession], study: Path
) -> None:
    session = begin(part=FIRST, study=study)
    assert play_unmasking(session.runner, itertools.cycle((1, 2, 0))) == 3 + 24
    assert session.runner.finished
    session.close("test over")
    assert check_journal(session.folder.path) == []
    assert verify(session.folder.path).problems == []
    shown = events_of(session, "stimulus.shown")
    given = events_of(session, "response.given")
    assert len(shown) == len(given) == 27
    for one, other in zip(shown, given, strict=True):
        assert one.key == other.key
        assert other.payload["input_ns"] - one.payload["painted_ns"] == 400_000_000
    drawn = events_of(session, "stimulus.drawn")
    assert [one.payload["percent"] for one in drawn] == list(MASKS) * 9
    (decided,) = events_of(session, "inclusion.decided")
    payload = payload_of(decided)
    assert isinstance(payload, InclusionDecided)
    assert payload.included
    assert payload.facts["stimuli"] == 24, "the example does not count"


def test_every_stimulus_is_kept_as_it_is_shown(
    begin: Callable[..., OpenSession], study: Path, found: StimulusSet
) -> None:
    session = begin(part=FIRST, study=study)
    (kept,) = (payload_of(event) for event in events_of(session, "stimuli.kept"))
    assert isinstance(kept, StimuliStored)
    assert (kept.stimuli, kept.manifest_sha256) == (found.id, found.sha256)
    assert set(kept.files) == set(pictures_of(session.runner.machine.parts))
    gallery = session.runner.gallery
    assert gallery is not None
    for part in session.runner.machine.parts:
        for sequence in part.sequences if isinstance(part, UnmaskingPart) else ():
            whole = gallery.rgb(sequence.picture)
            for mask in sequence.masks:
                filled = (gallery.rgb(mask.picture) == 128).all(2)
                assert (gallery.rgb(mask.picture) == np.where(filled[..., None], 128, whole)).all()
                # Pixels of the picture may be of the very grey that fills the others.
                assert 0 <= filled.sum() - 4 * (576 - mask.pixels) < 60
    copied = session.folder.study / "stimuli" / found.id / "manifest.json"
    assert hashlib.sha256(copied.read_bytes()).hexdigest() == found.sha256


def test_a_pause_inside_a_stimulus_shows_it_again(
    begin: Callable[..., OpenSession], study: Path
) -> None:
    session = begin(part=FIRST, study=study)
    play_unmasking(session.runner, [1] * 5)
    assert trial_of(session).number == 3
    session.runner.send(Pause("a question"), Source.MODERATOR)
    session.runner.send(Respond(1, "key", session.runner.clock.now_ns(), "event"))
    session.runner.send(Resume("pause"), Source.MODERATOR)
    trial = trial_of(session)
    assert (trial.number, trial.attempt) == (3, 2)
    assert play_unmasking(session.runner, itertools.cycle((1, 2, 0))) == 22
    session.close("test over")
    ended = [event.payload["outcome"] for event in events_of(session, "trial.ended")]
    assert ended.count("interrupted") == 1
    assert ended.count("answered") == 27


def test_a_session_goes_on_with_the_stimulus_that_was_on_the_screen(
    tmp_path: Path, begin: Callable[..., OpenSession], study: Path
) -> None:
    session = begin(part=FIRST, study=study)
    play_unmasking(session.runner, [1] * 5)
    painted = trial_of(session).due_ns
    clock = session.runner.clock
    assert isinstance(clock, FakeClock)
    clock.set_ns(painted)
    session.runner.send(StimulusPainted(painted, "frame", None))
    before = trial_of(session)
    assert before.open
    session.close("broken off")
    resumed = resume_session(tmp_path, session.folder.path)
    try:
        resumed.begin()
        runner = resumed.runner
        runner.send(Respond(1, "key", runner.clock.now_ns(), "event"))
        assert trial_of(resumed).number == before.number, "the moderator goes on first"
        runner.send(Resume("resumed"), Source.MODERATOR)
        now = trial_of(resumed)
        assert (now.number, now.attempt) == (before.number, 2)
        assert now.due
        assert runner.gallery is not None
        _, mask = part_of(resumed).stimulus(*part_of(resumed).at(now.number))
        assert runner.gallery.rgb(mask.picture).shape == (48, 48, 3)
        assert len(events_of(resumed, "stimuli.kept")) == 1, "nothing had to be kept again"
    finally:
        resumed.close("test over")


def test_a_stage_that_is_to_begin_again_does_and_a_block_before_it_stands(
    tmp_path: Path, begin: Callable[..., OpenSession], found: StimulusSet
) -> None:
    study = write_unmasking_study(
        tmp_path / "study",
        found,
        breaks={"every": 2, "text": "rest.md"},
        when_interrupted="restart_stage",
    )
    session = begin(part=FIRST, study=study)
    play_unmasking(session.runner, [1] * (3 + 6 + 4))
    assert part_of(session).id == "stage-1-block-2"
    session.close("broken off")
    resumed = resume_session(tmp_path, session.folder.path)
    try:
        resumed.begin()
        resumed.runner.send(Resume("resumed"), Source.MODERATOR)
        trial = trial_of(resumed)
        assert (part_of(resumed).id, trial.number, trial.attempt) == ("stage-1-block-2", 1, 2)
        assert sum(part == "stage-1-block-1" for part, _ in resumed.runner.state.tally.trials) == 6
    finally:
        resumed.close("test over")


def test_a_break_parts_blocks_and_only_next_ends_it(
    tmp_path: Path, begin: Callable[..., OpenSession], found: StimulusSet
) -> None:
    breaks = {"every": 4, "text": "rest.md", "at_least_s": 20}
    session = begin(
        part=FIRST, study=write_unmasking_study(tmp_path / "study", found, breaks=breaks)
    )
    play_unmasking(session.runner, [1] * (3 + 12))
    assert session.runner.part is not None
    assert session.runner.part.id == "break-1"
    session.runner.send(Next())
    assert session.runner.part.id == "break-1", "too soon"
    assert play_unmasking(session.runner, itertools.cycle((1, 2))) == 12
    assert session.runner.finished
    (last,) = events_of(session, "inclusion.decided")
    assert last.payload["facts"]["stimuli"] == 24


def test_the_model_is_asked_when_the_session_is_opened_and_its_answers_are_in_the_plan(
    begin: Callable[..., OpenSession], study: Path
) -> None:
    def asked(found: StimulusSet, masking: Masking, photo: Photo, method: str) -> Sequence[Logits]:
        return [(percent, float(len(method))) for percent in masking.percents]

    session = begin(part=FIRST, study=study, predict_masked=asked)
    (planned,) = events_of(session, "session.planned")
    stage = next(part for part in planned.payload["plan"] if part["id"] == "stage-1")
    for sequence in stage["sequences"]:
        wanted = [[percent, float(len(sequence["method"]))] for percent in MASKS]
        assert [mask["logits"] for mask in sequence["masks"]] == wanted


def test_what_the_set_says_goes_before_the_model_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    model = ModuleType("labapp.models.explanations.masked")

    def answers(found: StimulusSet, masking: Masking, photo: Photo, method: str) -> list[Logits]:
        asked.append((photo.id, method))
        return [(0.0, 1.0)] * len(masking.percents)

    model.outputs = answers  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "labapp.models.explanations.masked", model)
    monkeypatch.setattr("labapp.models.explanations.masked", model, raising=False)
    found = made(tmp_path)
    photo = found.manifest.photos[0]
    assert predict_masked(found, Masking((5.0, 60.0)), photo, "edge")[0] != (0.0, 1.0)
    assert asked == []
    assert predict_masked(found, Masking((5.0, 50.0)), photo, "edge") == [(0.0, 1.0)] * 2
    assert asked == [(photo.id, "edge")], "50 % is not among what the set knows"


def test_a_model_that_does_not_fit_opens_no_session(
    tmp_path: Path, begin: Callable[..., OpenSession], study: Path
) -> None:
    def another(*_: object) -> Sequence[Logits]:
        raise StimuliError("It was made with another model.", todo="Put it back.")

    with pytest.raises(StimuliError, match="another model"):
        begin(part=FIRST, study=study, predict_masked=another)
    assert list(tmp_path.glob("**/sub-*")) == []


def test_lost_stimuli_are_made_again_as_they_were_or_told_of(
    tmp_path: Path, begin: Callable[..., OpenSession]
) -> None:
    own = made(tmp_path / "sets")
    session = begin(part=FIRST, study=write_unmasking_study(tmp_path / "study", own))
    session.close("broken off")
    home = session.folder.path
    kept = {path.name for path in (home / "stimuli").iterdir()}
    shutil.rmtree(home / "stimuli")
    resumed = resume_session(tmp_path, home)
    resumed.begin()
    resumed.close("test over")
    assert {path.name for path in (home / "stimuli").iterdir()} == kept
    shutil.rmtree(home / "stimuli")
    for photo in own.manifest.photos:
        scores = np.load(own.folder / photo.scores["edge"])
        np.save(own.folder / photo.scores["edge"], -scores)
    with pytest.raises(StimuliError, match="now has a different one in its place"):
        resume_session(tmp_path, home)


def test_the_study_is_told_in_lines(tmp_path: Path, study: Path) -> None:
    told = overview(str(study), 2, tmp_path / "data")
    lines = told.lines()
    assert "Next participants and the beginning of their order of sequences:" in lines
    stage = next(part for part in told.plans["P02"].parts if part.id == "stage-1")
    assert isinstance(stage, UnmaskingPart)
    first = [f"{one.image} {one.method}" for one in stage.sequences[:4]]
    assert lines[-1] == f"  P02  {' → '.join(first)} → …"
    assert "  Example: 3 masked pictures of one image" in lines
    assert "  Stage 1: 24 masked pictures (8 sequences of 3 masks), set 1 of tiny-scores" in lines
