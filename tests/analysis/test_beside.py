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


def own_models(folder: Path) -> Path:
    """A folder of models with one of a lab's own that stands for a published one."""
    models = folder / "models"
    shutil.copytree(resources.models() / "sinelines/ae", models / "lab/curves")
    file = models / "lab/curves/model.yaml"
    file.write_text(file.read_text("utf-8").replace("id: sinelines/ae", "id: lab/curves"), "utf-8")
    return models


def simulated(folder: Path, replicates: str) -> Path:
    (folder / "own.yaml").write_text(STUDY.format(replicates=replicates), "utf-8")
    (session,) = simulate_study(str(folder / "own.yaml"), 1, "random", folder / "data", 2)
    return session


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = own_models(tmp_path)
    monkeypatch.setenv("LABAPP_MODELS", str(folder))
    return folder


@pytest.fixture(scope="module")
def repeating(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A session with the model, of a study that repeats a published one, and its bundle."""
    folder = tmp_path_factory.mktemp("repeating")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABAPP_MODELS", str(own_models(folder)))
        session = simulated(folder, REPEATS)
        return session, export([session], folder / "bundle")


def test_a_bundle_is_analysed_where_its_model_is_not_installed(
    repeating: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bundle = repeating
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(card, "_BUNDLED", {})
    assert (card.dataset_of("lab/curves"), card.published_as("lab/curves", "000")) == (
        card.UNKNOWN, "",
    )  # fmt: skip
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", bundle.parent, "bundle"))
    for place in (bundle, packed):
        monkeypatch.setattr(card, "_BUNDLED", {})
        load(place)
        assert card.dataset_of("lab/curves") == "sinelines"
        assert card.published_as("lab/curves", "000") == "ae"
    assert list(bundled_cards(bundle)) == ["lab/curves"]


def test_a_model_that_is_another_one_here_than_at_the_session_is_told(
    repeating: tuple[Path, Path], models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, bundle = repeating
    assert load(session).remarks == ()
    file = models / "lab/curves/model.yaml"
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
    replicates: str,
    study: str | None,
    repeating: tuple[Path, Path],
    models: Path,
    tmp_path: Path,
) -> None:
    session = repeating[0] if replicates else simulated(tmp_path, replicates)
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
