"""A lab's own images from a folder to a study that unmasks them, by the commands alone."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from labapp.base.errors import (
    DatasetError,
    LabappError,
    ModelError,
    ModelNotFound,
    StimuliError,
    UsageError,
)
from labapp.cli.main import app
from labapp.models.explanations import masked
from labapp.models.stimuli import importing, library
from labapp.models.stimuli.masked_pictures import Masking
from tests.helpers import picture_folder
from tests.helpers.unmasking import write_unmasking_study

RECIPE = """
id: own/cnn
title: Our faces
data: {dataset: folder, folder: images, group_by: prefix, test: 0.5, seed: 1}
method: {name: cnn}
schedule: {steps: 60, batch: 8, peak: 0.002, weight_decay: 0}
seed: 1
"""


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, args)])


def refused(*args: str | Path) -> LabappError:
    error = run(*args).exception
    assert isinstance(error, LabappError), error
    return error


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lab's folder: its images, the recipe beside them, and the model trained by it."""
    folder = tmp_path_factory.mktemp("lab")
    picture_folder.make(folder / "images", persons=16, each=2)
    (folder / "recipe.yaml").write_text(RECIPE, "utf-8")
    done = run("models", "train", folder / "recipe.yaml", "--out", folder / "models")
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def lab(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("LABAPP_MODELS", str(root / "models"))
    monkeypatch.setenv("LABAPP_STIMULI", str(tmp_path / "stimuli"))
    return root


def build(lab: Path, *more: str | Path) -> tuple[str | Path, ...]:
    return ("stimuli", "build", "--model", "own/cnn", "--data", lab / "images", *more)


def test_own_images_become_a_study(lab: Path, tmp_path: Path) -> None:
    few = ("--images-per-class", "2", "--wrong-per-class", "0")
    done = run(*build(lab, "--id", "my-faces", "--title", "Our faces", *few))
    assert done.exit_code == 0, (done.output, done.exception)
    assert done.stdout.splitlines()[-1] == f"stimuli: {tmp_path / 'stimuli' / 'my-faces'}"
    found = importing.read_checked(tmp_path / "stimuli" / "my-faces")
    assert found.warnings == ["the model is right about all photos: nobody can follow its errors"]
    made = library.load("my-faces")
    manifest = made.manifest
    assert (manifest.title, manifest.method.name) == ("Our faces", "Our faces")
    assert [one.id for one in manifest.classes] == ["anger", "happiness"]
    assert (manifest.licence, len(manifest.photos)) == ("", 4)
    assert all("S0" not in photo.id + photo.photo for photo in manifest.photos), "nobody is named"
    assert str(lab) not in (made.folder / "manifest.json").read_text("utf-8")
    photo = manifest.photos[0]
    said = masked.outputs(made, Masking((5.0, 100.0)), photo, "lrp")
    assert said[1] == pytest.approx(photo.logits, abs=1e-3)

    study = write_unmasking_study(
        tmp_path / "study", made, masks={"smallest": 5, "largest": 60, "count": 4}
    )
    assert run("studies", "check", study).exit_code == 0
    sheets, out = tmp_path / "sheets", tmp_path / "masked"
    assert run("stimuli", "sheet", "my-faces", "--out", sheets).exit_code == 0
    assert {path.name for path in sheets.iterdir()} == {"explanations.png", "masked.png"}
    options = ("--count", "4", "--fill", "black", "--sign", "absolute")
    done = run("stimuli", "masks", "my-faces", "--out", out, *options)
    assert done.stdout.splitlines()[0] == f"pictures: 60 in {out}"
    with (out / "masked.csv").open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert {(line["fill"], line["sign"]) for line in lines} == {("black", "absolute")}
    assert {line["percent"] for line in lines} == {"5", "11", "26", "60"}
    listed = tmp_path / "listed"
    assert run("stimuli", "masks", "my-faces", "--out", listed, "--masks", "4, 12.5").exit_code == 0
    with (listed / "masked.csv").open(encoding="utf-8", newline="") as stream:
        assert {line["percent"] for line in csv.DictReader(stream)} == {"4", "12.5"}


def test_the_same_command_gives_the_same_set(lab: Path, tmp_path: Path) -> None:
    few = ("--images-per-class", "2", "--wrong-per-class", "0", "--id", "mine", "--seed", "3")
    for name in ("one", "two"):
        assert run(*build(lab, *few, "--out", tmp_path / name)).exit_code == 0
    files = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "two").iterdir()}


def test_what_cannot_be_built_is_told(lab: Path, tmp_path: Path) -> None:
    model = ("--model", "own/cnn")
    for args, error, said in (
        (model, UsageError, "does not say which set"),
        (("--id", "mine"), UsageError, "does not say which set"),
        ((*model, "--id", "My Faces"), UsageError, "'My Faces' is not a valid id of a set"),
        (("faces-unmasking", "--id", "mine"), UsageError, "Both a set (faces-unmasking) and"),
        (("birds-gradcam", "--title", "x"), UsageError, "birds-gradcam is not made of pixel"),
        (
            ("birds-gradcam", "--data", lab, "--out", tmp_path / "birds"),
            UsageError,
            "birds/resnet was trained on birds, which need no --data folder",
        ),
        (("faces",), UsageError, "There is no set 'faces' to build"),
        (
            (*model, "--id", "mine", "--images-per-class", "2", "--wrong-per-class", "3"),
            UsageError,
            "3 wrong images cannot be chosen from 2 images of a class",
        ),
        ((*model, "--id", "faces-unmasking"), StimuliError, "comes with labapp"),
        ((*model, "--id", "mine"), ModelError, "was trained on the picture folder"),
        ((*model, "--id", "mine", "--data", tmp_path), DatasetError, "has no folder anger"),
        (("--model", "own/none", "--id", "mine"), ModelNotFound, "own/none"),
        (("--model", "birds/resnet", "--id", "mine"), ModelError, "The pixels of birds/resnet"),
    ):
        found = refused("stimuli", "build", *args)
        assert type(found) is error
        assert said in found.what
        assert found.todo or error is UsageError
    many = ("--images-per-class", "40", "--wrong-per-class", "20", "--id", "mine")
    assert "There are too few images of 'anger'" in refused(*build(lab, *many)).what
    assert not (tmp_path / "stimuli").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fill", "pink"), "--fill pink"),
        (("--sign", "both"), "--sign both"),
        (("--smallest", "0"), "--smallest 0"),
        (("--largest", "101"), "--largest 101"),
        (("--smallest", "50", "--largest", "5"), "--smallest 50"),
        (("--count", "90"), "are not distinct whole percents"),
        (("--masks", "5,x"), "--masks 5,x"),
        (("--masks", "20,10"), "--masks 20,10"),
    ],
)
@pytest.mark.parametrize("command", ["sheet", "masks"])
def test_masks_that_cannot_be_are_told(
    command: str, options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    found = refused("stimuli", command, "faces-unmasking", "--out", tmp_path / "out", *options)
    assert isinstance(found, UsageError)
    assert said in found.what
    assert not (tmp_path / "out").exists()
