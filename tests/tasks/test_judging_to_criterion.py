"""Judging explanations until enough answers are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis.analyze import analyze
from labapp.analysis.tables import load
from labapp.base.errors import LabappError
from labapp.record.journal.opening import open_record
from labapp.session.bids.verify import verify
from labapp.session.gate import gate
from labapp.session.simulation.simulation_job import simulate_study
from labapp.tasks.judging.plan import JudgingTask
from tests.helpers.judging import made_for, write_judging_study


@pytest.mark.parametrize("task", ["path-distinction", "path-agreement"])
def test_photos_are_judged_until_enough_are_right(tmp_path: Path, task: JudgingTask) -> None:
    found = made_for(tmp_path / "sets", task)
    rule = "adaptive: {method: criterion, right: 2, trials: 4}"
    study = write_judging_study(tmp_path / "study", task, found, more=rule)
    text = study.read_text().replace("  - stages:", "  - name: judged\n    stages:", 1)
    after = "  - {text: shipped:debrief, only_if: {judged.right: 1}}\n  - questionnaire"
    study.write_text(text.replace("  - questionnaire", after, 1))
    ends = set()
    folders = [
        folder
        for strategy in ("understanding", "random")
        for folder in simulate_study(str(study), 3, strategy, tmp_path / strategy)
    ]
    for folder in folders:
        assert (report := verify(folder)).ok, report.problems
        events = [event for event, _ in open_record(folder).payloads()]
        judged = [event for event in events if event.kind == "photo.judged"]
        right = [
            all(value for name, value in event.payload["right"].items() if "step" not in name)
            for event in judged
        ]
        (ended,) = [event for event in events if event.kind == "track.ended"]
        assert ended.payload["because"] == ("criterion" if right[-2:] == [True] * 2 else "trials")
        assert len(judged) <= 4
        assert all(right[n : n + 2] != [True, True] for n in range(len(right) - 2)), "no longer"
        drawn = [event.payload["photo"] for event in events if event.kind == "photo.drawn"]
        assert len(set(drawn)) == len(drawn), "no photo comes twice"
        shown = [event.part_id for event in events if event.kind == "part.started"]
        assert ("text-1" in shown) == all(right)
        ends.add(ended.payload["because"])
    tables = load(folders[3:])
    assert set(tables.stages["criterion"]) <= {"reached", "missed"}
    assert "criterion" in ends
    assert analyze(folders[3:], tmp_path / "report").exists()


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{method: criterion, right: 2, trials: 400}", "found 400, but set 1 has"),
        ("{method: psi, trials: 4}", "allowed: criterion"),
        ("{method: criterion, right: 9, trials: 4}", "at least 9, the number of right answers"),
    ],
)
def test_a_rule_that_does_not_fit_the_photos_is_refused(
    tmp_path: Path, rule: str, said: str
) -> None:
    found = made_for(tmp_path / "sets", "path-agreement")
    more = f"adaptive: {rule}"
    study = write_judging_study(tmp_path / "study", "path-agreement", found, more=more)
    with pytest.raises(LabappError) as refused:
        gate(study)
    assert said in str(refused.value)
    line = next(n for n, text in enumerate(study.read_text().split("\n"), 1) if more in text)
    assert f"line {line}" in str(refused.value)
