"""`labapp stimuli build`, and the shipped sets."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from labapp.base.errors import StimuliError
from labapp.cli.main import app
from labapp.models.explanations import package
from labapp.models.explanations.building import sets
from labapp.models.explanations.building.sets import (
    ExplanationJob,
    SetSize,
    photo_id,
    photos_of,
    specs,
)
from labapp.models.explanations.classifier import Classifier
from labapp.models.stimuli import importing, library, pictures
from labapp.models.stimuli.manifest import Manifest, Photo
from tests.helpers import shipped_stimuli


@pytest.fixture(params=sorted(specs()))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_shipped_set_is_in_order_and_keeps_the_rules(name: str) -> None:
    found = importing.read_checked(library.shipped_folder() / name)
    assert found.warnings == []
    assert found.manifest is not None
    shipped_stimuli.holds(found.manifest, specs()[name])
    folder = library.shipped_folder() / name
    assert {path.name for path in folder.iterdir()} == {*found.files, "manifest.json"}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_200_000


def test_a_photo_of_a_shipped_set_is_what_its_model_says(name: str) -> None:
    shipped, spec = library.load(name), specs()[name]
    manifest = shipped.manifest
    model = package.load(spec.model)
    assert manifest.method.sha256 == model.card.weights_sha256
    assert manifest.method.accuracy == round(100 * model.card.test.accuracy, 2)
    explainer = sets.explainer_of(spec)
    assert explainer.prototypes(model) == manifest.prototypes
    chosen = manifest.photos[0] if spec.wanted.wrong == 0 else first_wrong_one(manifest)
    rows = sets.load_test_rows(model)
    _, seed, _, species, number = chosen.photo.split(":")
    assert int(seed) == rows.seed
    row = 20 * int(number) + int(species)
    assert photo_id(row) == chosen.id
    places = {one.id: place for place, one in enumerate(manifest.classes)}
    wide = replace(rows, per_species=max(rows.per_species, int(number) + 1))
    one = photos_of(model, wide).candidate(row, places[chosen.prediction], eligible=True)
    seen = sets.candidates(explainer, model, wide, row, lambda *_: None, last=row + 1)
    assert seen == [replace(one, eligible=seen[0].eligible)]
    assert one.visible == pytest.approx(chosen.facts["visible"], abs=1e-3)
    assert manifest.seed is not None
    (made,) = explainer.explain(
        model, wide, [ExplanationJob(chosen.id, one, example=False)], manifest.seed
    )
    built = sets.photo(
        ExplanationJob(chosen.id, seen[0], example=False), chosen.set, photos_of(model, wide), made
    )
    alike(built, chosen)
    for ref, content in made.files.items():
        now = pictures.decode_picture(content, ref).astype(int)
        assert np.abs(now - pictures.read(shipped.folder, ref)).max() <= 2, ref


def test_the_evidence_shown_adds_up_to_most_for_what_is_predicted() -> None:
    """People are told so. What is shown is cut at the strongest colour, which may cost a photo."""
    shipped = library.load("birds-bagnet")
    examples = (shipped.manifest.correct_example, shipped.manifest.incorrect_example)
    told = []
    for photo in (*shipped.manifest.photos, *filter(None, examples)):
        sums = [pictures.read(shipped.folder, ref).mean() for ref in photo.heatmaps]
        told.append(photo.options[int(np.argmax(sums))] == photo.prediction)
    assert all(told[-2:])
    assert np.mean(told) >= 0.97


def first_wrong_one(manifest: Manifest) -> Photo:
    return next(photo for photo in manifest.photos if not photo.correct)


def alike(built: Photo, shipped: Photo) -> None:
    """The same but for the last digits."""
    one, other = (photo.model_dump() for photo in (built, shipped))
    for key in ("logits", "strengths"):
        assert one.pop(key) == pytest.approx(other.pop(key), abs=2e-3)
    assert one.pop("facts") == pytest.approx(other.pop("facts"), abs=2e-3)
    for rows, expected in zip(numbers(one), numbers(other), strict=True):
        assert rows == pytest.approx(expected, abs=2e-3)
    assert one == other


def numbers(photo: dict[str, object]) -> list[list[float]]:
    """Takes similarities and boxes out of the rows of a photo."""
    final = photo["final"]
    rows = [*photo["rows"]]  # type: ignore[misc]
    if isinstance(final, dict):
        rows += [final[key] for key in ("first", "absent", "present")]
    return [[row.pop("similarity"), *row.pop("region")] for row in rows]


@pytest.fixture
def model(resnet: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of a classifier that has learned nothing, for a set of two times two photos."""
    spec, explainer = sets._list_specs()["birds-gradcam"]
    small = replace(spec, wanted=SetSize(1, 1, sets=2))
    monkeypatch.setitem(sets._list_specs(), "birds-gradcam", (small, explainer))
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
    assert "birds-gradcam comes with labapp" in error.what
    assert "--out" in error.todo
