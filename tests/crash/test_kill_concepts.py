"""kill -9 while concepts are set: what was set stays set, and each picture is ended once."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from labapp.analysis.rows import SessionRecords
from labapp.record.events import payload_of
from labapp.record.journal.read import read_rows
from tests.crash.kills import tell
from tests.helpers import concepts


@pytest.mark.timeout(240)
@pytest.mark.parametrize("when_interrupted", ["resume", "restart_stage"])
def test_killed_sessions_go_on_with_the_picture(tmp_path: Path, when_interrupted: str) -> None:
    made = concepts.write(tmp_path / "sets", 4)
    study = concepts.write_study(
        tmp_path / "study", made, foresee="half", when_interrupted=when_interrupted
    )
    rng = random.Random(when_interrupted)
    moments = [rng.uniform(0.7, 1.1) for _ in range(2)]
    story = tell(tmp_path / "data", "P01", moments, "fast", tone=False, study=str(study))
    assert len(story.losses) == 2
    events = [row.event() for row in read_rows(story.path)]
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
