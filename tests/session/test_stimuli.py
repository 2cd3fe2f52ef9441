"""The pictures of a session that judges explanations: kept at its opening, found again later."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from labapp.base.clock import FakeClock
from labapp.base.errors import StimuliError
from labapp.models.stimuli.library import StimulusSet
from labapp.record.events import payload_of
from labapp.record.events.commands import Next
from labapp.record.events.lifecycle import StimuliStored
from labapp.record.journal.read import read_rows
from labapp.session import opening
from labapp.session.bids.verify import verify
from labapp.session.opening import OpenSession
from labapp.session.resuming import read_verified_events
from labapp.study import plan
from labapp.study.loading import load
from labapp.study.plan import pictures_of
from labapp.tasks.judging.events import Judge
from labapp.tasks.judging.machine import JudgingState
from labapp.tasks.judging.plan import JudgingPart
from tests.helpers import stimuli
from tests.helpers.judging import made_for, write_judging_study
from tests.session.sessions import resume_session, surroundings


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> StimulusSet:
    return made_for(tmp_path_factory.mktemp("sets"), "heatmap-distinction")


@pytest.fixture
def study(tmp_path: Path, found: StimulusSet) -> Path:
    return write_judging_study(tmp_path / "study", "heatmap-distinction", found)


def kept_by(session: OpenSession) -> list[StimuliStored]:
    rows = read_rows(session.folder.path, ("stimuli.kept",))
    return [
        payload for row in rows if isinstance(payload := payload_of(row.event()), StimuliStored)
    ]


def to_the_stage(session: OpenSession) -> None:
    while not isinstance(session.runner.part, JudgingPart):
        session.runner.send(Next())


def test_every_picture_is_kept_under_its_hash(
    begin: Callable[..., OpenSession], study: Path, found: StimulusSet
) -> None:
    session = begin(study=study)
    home = session.folder
    (kept,) = kept_by(session)
    assert (kept.stimuli, kept.manifest_sha256) == (found.id, found.sha256)
    refs = pictures_of(session.runner.machine.parts)
    assert set(kept.files) == set(refs)
    assert len(refs) == 2 * 5 + 4 * 5, "two examples and four photos, each with four heatmaps"
    for ref, name in kept.files.items():
        content = (home.path / "stimuli" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == Path(name).stem
        assert session.runner.gallery is not None
        assert session.runner.gallery.rgb(ref).ndim == 3
    copied = home.study / "stimuli" / found.id / "manifest.json"
    assert hashlib.sha256(copied.read_bytes()).hexdigest() == found.sha256


def test_a_session_without_windows_keeps_no_pictures(
    begin: Callable[..., OpenSession], study: Path, found: StimulusSet
) -> None:
    session = begin(study=study, keeps_pictures=False)
    assert session.runner.gallery is None
    assert not (session.folder.path / "stimuli").exists()
    assert (session.folder.study / "stimuli" / found.id / "manifest.json").is_file()
    assert kept_by(session) == []


def test_a_session_goes_on_inside_a_photo_with_its_pictures(
    tmp_path: Path, begin: Callable[..., OpenSession], study: Path
) -> None:
    session = begin(study=study)
    session.give_consent("Somebody")
    to_the_stage(session)
    session.runner.send(Judge("output", 2, "mouse"))
    session.close("broken off")
    resumed = resume_session(tmp_path, session.folder.path)
    try:
        resumed.begin()
        state = resumed.runner.state.part_state
        assert isinstance(state, JudgingState)
        assert state.trial is not None
        assert dict(state.trial.answers) == {"output": 2}
        assert state.trial.attempt == 1
        assert resumed.runner.gallery is not None
        part = resumed.runner.part
        assert isinstance(part, JudgingPart)
        assert resumed.runner.gallery.rgb(part.photos[0].photo).shape == (512, 512, 3)
        assert len(kept_by(resumed)) == 1, "nothing had to be kept again"
    finally:
        resumed.close("test over")


def test_lost_and_damaged_pictures_are_kept_again_from_the_set(
    tmp_path: Path, begin: Callable[..., OpenSession], study: Path
) -> None:
    session = begin(study=study)
    session.close("broken off")
    (kept,) = kept_by(session)
    pictures = session.folder.path / "stimuli"
    lost, damaged = (pictures / name for name in sorted(set(kept.files.values()))[:2])
    for times in (1, 2):
        lost.unlink()
        damaged.write_bytes(b"something else" * times)
        resumed = resume_session(tmp_path, session.folder.path)
        resumed.begin()
        resumed.close("test over")
        for file in (lost, damaged):
            assert hashlib.sha256(file.read_bytes()).hexdigest() == file.stem
    for times in (1, 2):  # put aside, and never over another
        aside = damaged.with_name(f".damaged-{times}-{damaged.name}")
        assert aside.read_bytes() == b"something else" * times
    assert verify(session.folder.path).problems == []
    _, *more = kept_by(session)
    assert [set(one.files.values()) for one in more] == [{lost.name, damaged.name}] * 2


def test_a_manifest_that_was_changed_is_found(
    begin: Callable[..., OpenSession], study: Path, found: StimulusSet
) -> None:
    session = begin(study=study)
    session.close("test over")
    home = session.folder
    assert verify(home.path).problems == []
    copied = home.study / "stimuli" / found.id / "manifest.json"
    copied.write_bytes(copied.read_bytes() + b" ")
    (told,) = verify(home.path).problems
    assert (
        told == f"study/stimuli/{found.id}/manifest.json: not the one with which the session "
        "was planned (SHA-256)"
    )
    copied.unlink()
    (told,) = verify(home.path).problems
    assert told.endswith("manifest.json: missing")


def test_pictures_that_are_gone_with_their_set_are_told_of(
    tmp_path: Path, begin: Callable[..., OpenSession]
) -> None:
    own = made_for(tmp_path / "sets", "heatmap-distinction")
    session = begin(study=write_judging_study(tmp_path / "study", "heatmap-distinction", own))
    session.close("broken off")
    before = len(read_verified_events(session.folder.path))
    shutil.rmtree(session.folder.path / "stimuli")
    shutil.rmtree(own.folder)
    with pytest.raises(StimuliError, match="tiny-heatmaps") as told:
        resume_session(tmp_path, session.folder.path)
    assert told.value.safe
    assert told.value.todo
    assert len(read_verified_events(session.folder.path)) == before, "it is as it was"


def test_a_headless_session_is_resumed_with_windows(
    tmp_path: Path, begin: Callable[..., OpenSession], study: Path
) -> None:
    session = begin(study=study, keeps_pictures=False)
    session.close("broken off")
    resumed = resume_session(tmp_path, session.folder.path)
    try:
        resumed.begin()
        assert resumed.runner.gallery is not None
        (kept,) = kept_by(resumed)
        assert set(kept.files) == set(pictures_of(plan.parts_of(resumed.planned)))
    finally:
        resumed.close("test over")


def test_a_set_without_its_pictures_opens_no_session(tmp_path: Path) -> None:
    own = made_for(tmp_path / "sets", "heatmap-distinction")
    study = write_judging_study(tmp_path / "study", "heatmap-distinction", own)
    for picture in own.folder.glob("*.png"):
        picture.unlink()
    with pytest.raises(StimuliError):
        opening.create(
            load(study),
            "P01",
            surroundings(tmp_path),
            data=tmp_path / "data",
            make_clock=lambda start: FakeClock(),
        )
    assert list((tmp_path / "data" / "judging").glob("sub-*")) == []


def test_a_manifest_that_changes_meanwhile_opens_no_session(
    tmp_path: Path, begin: Callable[..., OpenSession]
) -> None:
    own = made_for(tmp_path / "sets", "heatmap-distinction")
    study = write_judging_study(tmp_path / "study", "heatmap-distinction", own)
    stimuli.edited(own, lambda manifest: manifest.update(title="Another"))
    with pytest.raises(StimuliError, match="changed while the session was being opened"):
        begin(study=study, stimuli_of=lambda _: own)


def test_two_sets_of_one_id_open_no_session(
    tmp_path: Path, begin: Callable[..., OpenSession]
) -> None:
    first, second = (made_for(tmp_path / name, "heatmap-distinction") for name in ("a", "b"))
    second = stimuli.edited(second, lambda manifest: manifest.update(title="Another"))
    study = write_judging_study(tmp_path / "study", "heatmap-distinction", first)
    text = study.read_text("utf-8")
    stages = text[text.index("  - stages:") : text.index("  - questionnaire:")]
    more = stages.replace(str(first.folder), str(second.folder))
    study.write_text(text.replace(stages, stages + more), "utf-8")
    with pytest.raises(StimuliError, match="both have the id") as told:
        begin(study=study)
    assert str(second.folder) in told.value.what
