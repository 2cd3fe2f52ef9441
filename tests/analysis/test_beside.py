"""Bundles bring the cards of their models, and older sessions say by their study file what they
repeat."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from labapp.analysis.answered import bundled_cards, with_replicates
from labapp.analysis.tables import load
from labapp.base import resources
from labapp.models.representations import card
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.journal.opening import open_record
from labapp.session.bids.export import export
from labapp.session.simulation.simulation_job import simulate_study

STUDY = """
id: own
title: Own
version: 1
unnamed_texts: shipped
seed: 8
{replicates}
flow:
  - stages: {{task: reconstruction, models: [lab/curves], trials: 1, skip: always}}
"""
REPEATS = 'replicates: {paper: "000", study: synthetic-crowd, run: crowd}'


def simulated(folder: Path, replicates: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session with a model of a lab's own that stands for a published one."""
    models = folder / "models"
    shutil.copytree(resources.models() / "sinelines/ae", models / "lab/curves")
    file = models / "lab/curves/model.yaml"
    file.write_text(file.read_text("utf-8").replace("id: sinelines/ae", "id: lab/curves"), "utf-8")
    monkeypatch.setenv("LABAPP_MODELS", str(models))
    (folder / "own.yaml").write_text(STUDY.format(replicates=replicates), "utf-8")
    (session,) = simulate_study(str(folder / "own.yaml"), 1, "random", folder / "data", 2)
    return session


def test_a_bundle_is_analysed_where_its_model_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = simulated(tmp_path, REPEATS, monkeypatch)
    bundle = tmp_path / "bundle"
    export([session], bundle)
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(card, "_BUNDLED", {})
    assert (card.dataset_of("lab/curves"), card.published_as("lab/curves", "000")) == (
        card.UNKNOWN, "",
    )  # fmt: skip
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "bundle"))
    for place in (bundle, packed):
        monkeypatch.setattr(card, "_BUNDLED", {})
        load(place)
        assert card.dataset_of("lab/curves") == "sinelines"
        assert card.published_as("lab/curves", "000") == "ae"
    assert list(bundled_cards(bundle)) == ["lab/curves"]


def test_a_model_that_is_another_one_here_than_at_the_session_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = simulated(tmp_path, REPEATS, monkeypatch)
    bundle = tmp_path / "bundle"
    export([session], bundle)
    assert load(session).remarks == ()
    file = tmp_path / "models/lab/curves/model.yaml"
    file.write_text(file.read_text("utf-8").replace("\ndataset: sinelines", "\ndataset: waves"))
    for place in (session, bundle):
        (note,) = load(place).remarks
        assert note.startswith("The model lab/curves that is installed here has another card")
        assert "than at 1 session. " in note
        assert "of the installed model" in note
    assert card.dataset_of("lab/curves") == "waves", "as the note says"
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "elsewhere"))
    assert load(bundle).remarks == (), "the bundle's card speaks"
    assert card.dataset_of("lab/curves") == "sinelines"


@pytest.mark.parametrize(("replicates", "study"), [(REPEATS, "synthetic-crowd"), ("", None)])
def test_an_older_session_repeats_what_its_study_file_says(
    replicates: str, study: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = simulated(tmp_path, replicates, monkeypatch)
    record = open_record(session)
    (event, planned), *rest = record.payloads()
    assert isinstance(planned, SessionPlanned)
    older = [(event, replace(planned, replicates={})), *rest]
    (_, read), *others = with_replicates(older, record)
    assert isinstance(read, SessionPlanned)
    assert read.replicates.get("study") == study
    assert others == rest
    assert load(session).participants["replicates_study"].dropna().tolist() == (
        [study] if study else []
    )
