"""Sessions with a task of another package leave the lab like any other."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from labapp.base.errors import RecordError
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from tests.helpers.bids import validator_errors
from tests.helpers.installed import without

pytestmark = pytest.mark.usefixtures("example")


def rows(bundle: Path, suffix: str) -> list[dict[str, str]]:
    (path,) = bundle.glob(f"sub-*/ses-1/beh/*_task-counterfactualchoice_{suffix}.tsv")
    described = json.loads(path.with_suffix(".json").read_text("utf-8"))
    with path.open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream, delimiter="\t"))
    assert set(table[0]) <= set(described)
    return table


def test_its_questions_are_in_the_bundle(
    simulated: dict[str, Path], tmp_path: Path, example_site: Path
) -> None:
    sessions = [simulated["understanding"]]
    bundle = export(sessions, tmp_path / "bundle")
    questions, events = rows(bundle, "beh"), rows(bundle, "events")
    assert len(questions) == 10
    answered = [row for row in events if row["trial_type"] == "answered"]
    assert [(row["stage"], row["trial"], row["candidate"], row["correct"]) for row in answered] == [
        (row["stage"], row["trial"], row["candidate"], row["correct"]) for row in questions
    ]
    trials = [row for row in events if row["trial_type"] == "trial"]
    assert all(float(row["working_duration"]) > 0 for row in trials)
    assert {row["outcome"] for row in trials} == {"answered"}
    codebook = json.loads((bundle / "sourcedata/labapp/codebook.json").read_text("utf-8"))
    assert set(codebook["task-counterfactualchoice_events.tsv"]) == set(events[0])
    assert validator_errors(bundle) == []
    report = verify(bundle)
    assert report.ok, report.problems
    with without(example_site):
        with pytest.raises(RecordError, match="labapp-counterfactual-choice"):
            export(sessions, tmp_path / "again")
        report = verify(bundle)
        assert not report.ok
        assert any("labapp-counterfactual-choice" in note for note in report.notes)
        assert not (tmp_path / "again").exists()
