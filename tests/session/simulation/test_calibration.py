"""The shipped calibration, simulated: what it suggests is near what its participants judged by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labapp.analysis.tables import load as load_tables
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate
from labapp.study.loading import load
from labapp.tasks.reconstruction.report.contents import suggestions
from tests.helpers.formulas import formula_decoders
from tests.helpers.studies import ring_decoder
from tests.session.sessions import surroundings

STUDY = """\
id: how-near
title: How near is near enough
version: 1
unnamed_texts: shipped
flow:
  - stages:
      {task: reconstruction, marks: true, models: [mnist8k/ae5, mnist8k/ss5], trials: 4,
       skip: after}
  - break: shipped:debrief
    at_least_s: 30
  - stages: {task: reconstruction, marks: true, models: [sinelines/gt], trials: 3, skip: never}
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("how-near")
    path = folder / "how-near.yaml"
    path.write_text(STUDY)
    decoders = {
        "mnist8k/ae5": ring_decoder("mnist8k/ae5", 3),
        "mnist8k/ss5": ring_decoder("mnist8k/ss5", 3, 10),
    }
    around = surroundings(folder, decoders={**formula_decoders(), **decoders})
    return [
        simulate(load(path), label, around, data=folder / "data", strategy="knowing")
        for label in ("P01", "P02")
    ]


def test_marks_of_simulated_participants_suggest_what_they_judged_by(
    folders: list[Path],
) -> None:
    tables = load_tables(folders)
    assert len(tables.trials) == 2 * (4 + 4 + 3)
    assert set(tables.trials["outcome"]) == {"marked"}
    assert tables.stages["completion_rate"].isna().all()
    found = {one.dataset: one for one in suggestions(tables.trials, tables.marks)}
    for dataset, judged in (("mnist", 0.75), ("sinelines", 0.9)):
        best = found[dataset].separation
        assert best is not None
        assert best.balanced_accuracy > 0.9
        assert best.target < judged + 0.1, "the first picture that is close enough was marked"
        assert min(found[dataset].close) > judged - 0.1
        t = found[dataset].skip_after_s
        assert t is not None
        assert abs(t - 2 * np.median(_active(tables, dataset))) <= 2.5


def _active(tables, dataset: str) -> list[float]:  # type: ignore[no-untyped-def]
    own = tables.trials["model"].str.startswith(dataset)
    return list(tables.trials.loc[own, "active_s"])


def test_their_bundle_verifies_also_without_free_text(folders: list[Path], tmp_path: Path) -> None:
    export(folders, tmp_path / "bundle", deidentify=True)
    assert not verify(tmp_path / "bundle").problems
    again = load_tables(tmp_path / "bundle").marks
    assert again["mark"].tolist() == load_tables(folders).marks["mark"].tolist()
