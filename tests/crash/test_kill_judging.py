"""kill -9 while explanations are judged: it goes on inside the photo, with the pictures it began
with."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from labapp.record.events import Event, payload_of
from labapp.record.events.stimuli import StimuliStored
from labapp.record.journal.read import read_rows
from labapp.tasks.judging.events import PhotoJudged
from labapp.tasks.judging.plan import JudgingTask
from tests.crash.kills import tell
from tests.helpers.judging import made_for, write_judging_study


@pytest.mark.timeout(240)
@pytest.mark.parametrize("task", ["path-distinction", "prototype-distinction"])
def test_killed_sessions_go_on_inside_a_photo(tmp_path: Path, task: JudgingTask) -> None:
    found = made_for(tmp_path / "sets", task)
    study = write_judging_study(tmp_path / "study", task, found)
    rng = random.Random(task)
    moments = [rng.uniform(0.5, 0.9) for _ in range(2)]
    story = tell(tmp_path / "data", "P01", moments, "fast", tone=False, study=str(study))
    assert len(story.losses) == 2
    events = [row.event() for row in read_rows(story.path)]
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
                content = (story.path / "stimuli" / name).read_bytes()
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
