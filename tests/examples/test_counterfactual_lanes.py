"""A replay tells of the trials of a task that labapp does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.record.journal.opening import open_record
from labapp.session.replay.lanes import lanes_of, next_after
from labapp.study.plan import parts_of
from labapp.ui.replay.picture import item_label, join_trials

pytestmark = pytest.mark.usefixtures("example")


def test_its_trials_are_on_the_screen_and_have_words(simulated: dict[str, Path]) -> None:
    record = open_record(simulated["random"])
    lanes = lanes_of(record)
    screen = next(lane for lane in lanes if lane.id == "screen")
    trials = [item for item in screen.items if item.kind == "trial"]
    shown = [row for row in record.rows if row.kind == "counterfactual.shown"]
    assert [trial.t0_ns for trial in trials] == [row.t_ns for row in shown]
    assert all(trial.outcome for trial in trials)
    assert next_after(lanes, trials[0].t0_ns, ("trial",)) == trials[1].t0_ns
    parts = {part.id: part for part in parts_of(record.planned)}
    labels = [item_label(item, parts) for item in join_trials(screen, parts)]
    assert any(label.startswith("Question 1 of ") for label in labels)
