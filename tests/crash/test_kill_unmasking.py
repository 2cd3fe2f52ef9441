"""kill -9 while a masked picture is on the screen: it is shown again, and each is answered once."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from labapp.record.journal.read import read_rows
from tests.crash.kills import tell
from tests.helpers.unmasking import made, write_unmasking_study


@pytest.mark.timeout(240)
@pytest.mark.parametrize("when_interrupted", ["resume", "restart_stage"])
def test_killed_sessions_show_the_stimulus_again(tmp_path: Path, when_interrupted: str) -> None:
    found = made(tmp_path / "sets")
    study = write_unmasking_study(
        tmp_path / "study", found, when_interrupted=when_interrupted, blank_ms=20
    )
    rng = random.Random(when_interrupted)
    moments = [rng.uniform(0.7, 1.1) for _ in range(2)]
    story = tell(tmp_path / "data", "P01", moments, "fast", tone=False, study=str(study))
    assert len(story.losses) == 2
    events = [row.event() for row in read_rows(story.path)]
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
