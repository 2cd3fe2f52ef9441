"""`labapp stimuli build`: a set in a new folder, and what it took."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp.base.errors import StimuliError
from labapp.cli.main import app
from labapp.models.explanations import package
from labapp.models.explanations.building import sets
from labapp.models.explanations.building.sets import SetSize
from labapp.models.explanations.classifier import Classifier
from labapp.models.stimuli import importing, library


@pytest.fixture
def model(resnet: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of a classifier that has learned nothing, for a set of two times two photos."""
    spec, explainer = sets._known()["birds-gradcam"]
    small = replace(spec, wanted=SetSize(1, 1, sets=2))
    monkeypatch.setitem(sets._known(), "birds-gradcam", (small, explainer))
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "own"))
    weights = {
        name: value.numpy()
        for name, value in resnet.network.state_dict().items()
        if value.is_floating_point()
    }
    return package.write(tmp_path / "model", resnet.card, weights)


def test_a_set_is_built_and_what_it_took_is_told(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    command = ["stimuli", "build", "birds-gradcam", "--out", str(out), "--seed", "3"]
    done = CliRunner().invoke(app, [*command, "--model", str(model)])
    assert done.exception is None, done.output
    said = done.stdout.splitlines()
    assert re.fullmatch(r"photos:  4, chosen from \d+", said[0])
    assert re.fullmatch(r"size:    \d+ KiB", said[1])
    assert re.fullmatch(r"took:    \d+ s(, \d+ MiB of memory at most)?", said[2])
    assert said[3] == f"stimuli: {out}"
    assert importing.read_checked(out).manifest == library.load(out).manifest
    assert library.load(out).manifest.seed == 3


def test_a_shipped_set_is_not_hidden(model: Path) -> None:
    error = CliRunner().invoke(app, ["stimuli", "build", "birds-gradcam"]).exception
    assert isinstance(error, StimuliError)
    assert "birds-gradcam comes with the program" in error.what
    assert "--out" in error.todo
