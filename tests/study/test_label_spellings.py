"""Labels of outcomes that are written with and without their questionnaire."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.base.report.labels import label_measure, labelling
from labapp.session.overview import overview
from labapp.study.design import Declared


@pytest.mark.parametrize("written", ["understood", "experience.understood"])
@pytest.mark.parametrize("key", ["understood", "experience.understood"])
def test_a_label_is_shown_for_an_outcome_however_both_are_written(written: str, key: str) -> None:
    declared = Declared.model_validate(
        {"analysis": {"outcomes": {"primary": [written]}}, "labels": {key: "Felt understanding"}}
    )
    labels = declared.labels_in("en")
    assert labels[written] == "Felt understanding"
    with labelling(labels):
        for name in ("understood", "experience.understood"):
            assert label_measure(name, "experience") == "Felt understanding"


def test_a_longer_key_is_only_of_its_own_questionnaire() -> None:
    with labelling({"before.trust": "Trust before", "trust": "Trust"}):
        assert label_measure("before.trust", "before") == "Trust before"
        assert label_measure("trust", "before") == "Trust before"
        assert label_measure("after.trust", "after") == "Trust"


SHOWN = """\
id: shown
title: Shown
version: 1
unnamed_texts: shipped
design: {between: {hint: ["with", "without"]}, within: [{net: [gt, vae]}], per_cell: 2}
labels: {hint: Hint, "with": With a hint, net: Model, gt: The true factors, vae: VAE}
flow:
- each: net
  flow:
  - questionnaire: shipped:seq
"""


def test_columns_of_labels_are_aligned_and_next_participants_have_them(tmp_path: Path) -> None:
    path = tmp_path / "shown.yaml"
    path.write_text(SHOWN)
    lines = overview(str(path), 3, tmp_path / "data").lines()
    balance = lines[next(at for at, line in enumerate(lines) if line.startswith("Balance now")) :]
    assert balance[2:4] == ["    The true factors  0  0", "    VAE               0  0"]
    head = next(at for at, line in enumerate(lines) if line.startswith("Next participants"))
    assert lines[head].endswith("and their order of Model:")
    first = lines[head + 1].strip()
    assert first.startswith("P01  Hint: ")
    assert "The true factors" in first
    assert "gt" not in first
    cells = [line.index("0 of 2 included") for line in lines if "0 of 2 included" in line]
    assert len(set(cells)) == 1
