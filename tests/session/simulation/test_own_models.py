"""A study that names a model of the user's runs from plan to bundle by configuration alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.session.bids.export import export
from labapp.session.bids.verify import verify
from labapp.session.simulation.simulation_job import simulate_study
from tests.helpers.packages import copied
from tests.helpers.studies import write_study


def test_a_session_with_a_model_of_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "own"))
    folder = copied(tmp_path / "own", "sinelines/lab")
    study = write_study(tmp_path, "sinelines/lab", trials=1)
    (session,) = simulate_study(str(study), 1, "understanding", tmp_path / "data")
    bundle = export([session], tmp_path / "bundle")
    assert verify(bundle).ok
    card = bundle / "sourcedata/labapp/models/sinelines/lab/model.yaml"
    assert card.read_bytes() == (folder / "model.yaml").read_bytes()
