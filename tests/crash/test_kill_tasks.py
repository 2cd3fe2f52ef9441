"""kill -9 within a task: it goes on inside the photo or the picture, and each is ended once."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from pathlib import Path

import pytest

from labapp.analysis.rows import SessionRecords
from labapp.record.events import Event, payload_of
from labapp.record.events.lifecycle import StimuliStored
from labapp.record.journal.read import read_rows
from labapp.tasks.judging.events import PhotoJudged
from labapp.tasks.judging.plan import JudgingTask
from tests.crash.kills import tell
from tests.helpers import concepts
from tests.helpers.judging import made_for, write_judging_study
from tests.helpers.unmasking import made, write_unmasking_study


def killed_twice(
    tmp_path: Path, study: Path, seed: str, earliest_s: float
) -> tuple[Path, list[Event]]:
    """A session of a study that was killed twice, and its events."""
    rng = random.Random(seed)
    moments = [rng.uniform(earliest_s, earliest_s + 0.4) for _ in range(2)]
    story = tell(tmp_path / "data", "P01", moments, "fast", tone=False, study=str(study))
    assert len(story.losses) == 2
    return story.path, [row.event() for row in read_rows(story.path)]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("task", ["path-distinction", "prototype-distinction"])
def test_killed_sessions_go_on_inside_a_photo(tmp_path: Path, task: JudgingTask) -> None:
    found = made_for(tmp_path / "sets", task)
    study = write_judging_study(tmp_path / "study", task, found)
    path, events = killed_twice(tmp_path, study, task, 0.5)
    kinds = [event.kind for event in events]
    photos = 2 if task == "prototype-distinction" else 4
    assert kinds.count("session.completed") == 1
    assert kinds.count("photo.drawn") == kinds.count("trial.ended") == photos
    assert kinds.count("photo.shown") == photos, "the same attempt goes on"
    assert kinds.count("performance.computed") == 1
    assert kinds.count("stimuli.kept") == 1, "kept once, for all runs"
    for event in events:
        payload = payload_of(event)
        if isinstance(payload, StimuliStored):
            for name in payload.files.values():
                content = (path / "stimuli" / name).read_bytes()
                assert hashlib.sha256(content).hexdigest() == Path(name).stem
        elif isinstance(payload, PhotoJudged):
            assert payload.answers == given(events, event), "the final answers are those given last"


def given(events: list[Event], judged: Event) -> dict[str, int]:
    """The answers to a photo, over all runs of the program, before it was handed in."""
    answers: dict[str, int | None] = {}
    for event in events[: judged.seq - 1]:
        of_it = (event.part_id, event.trial) == (judged.part_id, judged.trial)
        if event.kind == "judgement.made" and of_it:
            answers[event.payload["question"]] = event.payload["value"]
    return {name: value for name, value in answers.items() if value is not None}


@pytest.mark.timeout(240)
@pytest.mark.parametrize("when_interrupted", ["resume", "restart_stage"])
def test_killed_sessions_show_the_stimulus_again(tmp_path: Path, when_interrupted: str) -> None:
    found = made(tmp_path / "sets")
    study = write_unmasking_study(
        tmp_path / "study", found, when_interrupted=when_interrupted, blank_ms=20
    )
    _, events = killed_twice(tmp_path, study, when_interrupted, 0.7)
    kinds = Counter(event.kind for event in events)
    assert kinds["session.completed"] == 1
    assert kinds["stimuli.kept"] == 1, "kept once, for all runs"
    drawn = [event.key for event in events if event.kind == "stimulus.drawn"]
    assert len(set(drawn)) == len(drawn), "no key twice"
    again = [event.seq for event in events if event.kind == "part.restarted"]
    assert (len(again) > 0) == (when_interrupted == "restart_stage")
    last = max(again, default=0)
    answered = Counter(
        (event.part_id, event.trial)
        for event in events
        if event.kind == "response.given" and (event.seq > last or event.part_id == "practice")
    )
    assert set(answered.values()) == {1}, "each once"
    assert len(answered) == 3 + 24
    painted = {e.key: e.payload["painted_ns"] for e in events if e.kind == "stimulus.shown"}
    for event in events:
        if event.kind == "response.given":
            assert painted[event.key] <= event.payload["input_ns"] <= event.t_ns


@pytest.mark.timeout(240)
@pytest.mark.parametrize("when_interrupted", ["resume", "restart_stage"])
def test_killed_sessions_go_on_with_the_picture(tmp_path: Path, when_interrupted: str) -> None:
    found = concepts.write(tmp_path / "sets", 4)
    study = concepts.write_study(
        tmp_path / "study", found, foresee="half", when_interrupted=when_interrupted
    )
    _, events = killed_twice(tmp_path, study, when_interrupted, 0.7)
    assert Counter(event.kind for event in events)["session.completed"] == 1
    drawn = [event.key for event in events if event.kind in ("concepts.drawn", "grid.drawn")]
    assert len(set(drawn)) == len(drawn), "no key twice"
    again = [event.seq for event in events if event.kind == "part.restarted"]
    assert (len(again) > 0) == (when_interrupted == "restart_stage")
    ended = Counter(
        (event.part_id, event.trial) for event in events if event.kind == "repair.ended"
        and event.seq > max(again, default=0)
    )  # fmt: skip
    assert set(ended.values()) <= {1}, "each once"
    rows = SessionRecords.of([(event, payload_of(event)) for event in events], "killed").rows()
    counted = [row for row in rows["repairs"] if not row["excluded"]]
    assert sorted(row["trial"] for row in counted) == [1, 2, 3, 4]
    for row in counted:
        changes = [
            change
            for change in rows["concept_changes"]
            if (change["trial"], change["attempt"]) == (row["trial"], row["attempt"])
        ]
        before = row["answer_alone"]
        for change in changes:
            assert change["answer_before"] == before, "nothing between two changes is lost"
            before = change["answer_after"]
        assert row["answer_end"] == before
