"""Simulated participants answer every shipped instrument, validly, and so the same seed does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import labapp.analysis
from labapp.base import resources
from labapp.record.journal.opening import iter_records, open_record
from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.instruments import Instrument
from labapp.study.instruments.items import REMARK, Written
from labapp.tasks.questionnaire.simulated import answer
from tests.helpers.questionnaires import ALL, questionnaire_study


@pytest.mark.parametrize("name", ALL)
def test_every_item_is_answered_validly(name: str) -> None:
    path = resources.assets() / "instruments" / f"{name}.yaml"
    file = Instrument.parse(path, path.read_bytes())
    instrument = file.realised(file.item_ids(5))
    given = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        for item in instrument.items:
            value = answer(item, rng)
            if value is None:
                assert not item.required
            else:
                assert item.check(value) == value
                assert item.answered(value)
            given.append((item.id, str(value)))
    assert len(set(given)) > len(instrument.items), "not always the same"
    again = [answer(item, np.random.default_rng(5)) for item in instrument.items]
    assert again == [answer(item, np.random.default_rng(5)) for item in instrument.items]


@pytest.mark.parametrize("longest", [1, 9, 10, 17, 18, 20, 2000])
@pytest.mark.parametrize("lines", [1, 4])
def test_a_written_answer_fits_its_field(longest: int, lines: int) -> None:
    item = Written(kind="written", id="why", text="Why?", longest=longest, lines=lines)
    for seed in range(30):
        value = answer(item, np.random.default_rng(seed))
        assert item.check(value) == value
        assert item.answered(value)


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two participants of a study with every instrument."""
    folder = tmp_path_factory.mktemp("asked")
    study = questionnaire_study(folder / "study")
    return simulate_study(str(study), 2, "understanding", folder / "out", seed=3)


def test_a_study_of_all_instruments_runs_and_is_scored(sessions: list[Path]) -> None:
    tables = labapp.analysis.load(sessions)
    assert set(tables.participants["outcome"]) == {"completed"}
    assert set(tables.answers["instrument"]) >= set(ALL) - {"demographics", "comments"}
    scores = tables.scores[tables.scores["participant"] == "P01"].set_index("score")["value"]
    assert {"seq", "raw_tlx", "weighted_tlx", "sus", "overall", "frustrating"} <= set(scores.index)
    assert scores.filter(like="weight_").sum() == 15
    assert scores.notna().all()
    first = tables.answers[tables.answers["item"] == "mental_demand"].iloc[0]
    assert 0 < first["first_s"] <= first["last_s"] <= first["submitted_s"]


def test_the_bundle_describes_every_column_of_every_questionnaire(
    sessions: list[Path], tmp_path: Path
) -> None:
    bundle = export(sessions, tmp_path / "bundle")
    assert not verify(bundle).problems
    for name in ALL:
        table = bundle / "phenotype" / f"{name}.tsv"
        if not table.exists():
            assert name == "comments"
            continue
        header, *lines = table.read_text().splitlines()
        described = json.loads(table.with_suffix(".json").read_text())
        assert set(header.split("\t")) == set(described) - {"MeasurementToolMetadata"}
        assert all(len(line.split("\t")) == len(header.split("\t")) for line in lines)
        assert described["MeasurementToolMetadata"]["Source"]
    ages = json.loads((bundle / "phenotype" / "demographics.json").read_text())
    levels = [entry["Levels"] for name, entry in ages.items() if name.endswith("_age")]
    assert levels
    assert levels[0]["from_70"] == "70 and above"


def test_what_was_written_never_leaves_with_a_deidentified_copy(
    sessions: list[Path], tmp_path: Path
) -> None:
    plain = open_record(export(sessions[:1], tmp_path / "plain"))
    assert REMARK in str([row.payload for row in plain.rows])
    folder = export(sessions, tmp_path / "reduced", deidentify=True)
    for record in iter_records(folder):
        payloads = str([row.payload for row in record.rows])
        assert REMARK not in payloads
        assert "mental_demand_or_effort" in payloads
        weights = [row.payload for row in record.rows if "_or_" in row.payload]
        assert any('"chosen":["effort"]' in one for one in weights), "chosen options are kept"
    for path in folder.rglob("*.[tj]s*"):
        assert REMARK not in path.read_text(), path
    assert not (folder / "phenotype" / "demographics.tsv").exists()
    scores = labapp.analysis.load(folder).scores
    assert len(scores) == len(labapp.analysis.load(sessions).scores), "as good for statistics"
