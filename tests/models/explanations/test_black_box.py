"""Stimulus sets about a classifier of which only outputs are known, and a lab's pictures."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from typer.testing import CliRunner

from labapp.base.errors import DatasetError, ModelError
from labapp.cli.main import app
from labapp.cli.stimuli import stimuli_app
from labapp.models.explanations import evaluation, package
from labapp.models.explanations import package as cards
from labapp.models.explanations.building.black_box import BlackBox, explain
from labapp.models.explanations.classifier import train
from labapp.models.explanations.package import ClassTest
from labapp.models.stimuli import importing, library, masked_pictures
from labapp.models.stimuli.manifest import Manifest
from labapp.models.stimuli.masked_pictures import MaskedRef, Masking, find_recorded_outputs
from tests.helpers import picture_folder

SIZE, CELLS = 16, 8

BRIGHT = (slice(4, 6), slice(10, 12))

"""The cell (row 2, column 5) whose level alone the classifier looks at."""


def classifier(path: Path) -> Path:
    """Calls a picture light by the mean level of one cell, dark by half less it."""
    weights = np.zeros((SIZE * SIZE, 2), np.float32)
    seen = np.zeros((SIZE, SIZE), np.float32)
    seen[BRIGHT] = 1
    weights[:, 0], weights[:, 1] = seen.ravel() / 4, -seen.ravel() / 4
    bias = np.array([0, 1], np.float32)
    made = helper.make_graph(
        [
            helper.make_node("Flatten", ["pictures"], ["flat"]),
            helper.make_node("Gemm", ["flat", "weights", "bias"], ["scores"]),
        ],
        "classifier",
        [helper.make_tensor_value_info("pictures", TensorProto.FLOAT, ["n", 1, SIZE, SIZE])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 2])],
        [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(bias, "bias")],
    )
    opset = [helper.make_opsetid("", 17)]
    path.write_bytes(helper.make_model(made, opset_imports=opset, ir_version=8).SerializeToString())
    return path


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Pictures of two classes; of each the last two look like the other."""
    random = np.random.default_rng(0)
    for name, light in (("light", True), ("dark", False)):
        folder = tmp_path / "pets" / name
        folder.mkdir(parents=True)
        for number in range(7):
            picture = random.integers(60, 190, (SIZE, SIZE)).astype(np.uint8)
            picture[BRIGHT] = 240 if light == (number < 5) else 20 - number
            Image.fromarray(picture).resize((64, 64), Image.Resampling.NEAREST).save(
                folder / f"{number}.png"
            )
    return tmp_path / "pets"


def test_both_methods_find_the_cell_that_the_classifier_looks_at(tmp_path: Path) -> None:
    box = BlackBox(classifier(tmp_path / "c.onnx"), ("light", "dark"), SIZE, channels=1)
    predict = box.predictor()
    picture = np.full((1, SIZE, SIZE), 100, np.uint8)
    picture[0][BRIGHT] = 250
    scores = explain(predict, picture, 0, (0.4,), CELLS, seed=1)
    for values in scores.values():
        assert np.unravel_index(values.argmax(), values.shape) == (2, 5)
    fall = (250 - round(0.4 * 255)) / 255
    assert scores["occlusion"][2, 5] == pytest.approx(fall, abs=1e-5)
    rest = np.delete(scores["occlusion"].ravel(), 2 * CELLS + 5)
    assert np.abs(rest).max() < 1e-5


def test_preprocessing_is_what_the_card_of_the_model_says(tmp_path: Path) -> None:
    file = classifier(tmp_path / "c.onnx")
    plain = BlackBox(file, ("light", "dark"), SIZE, channels=1).predictor()
    other = BlackBox(file, ("light", "dark"), SIZE, 1, (0.5,), (0.25,)).predictor()
    picture = np.full((1, 1, SIZE, SIZE), 255, np.uint8)
    assert plain(picture)[0, 0] == pytest.approx(1)
    assert other(picture)[0, 0] == pytest.approx((1 - 0.5) / 0.25)


def built(tmp_path: Path, images: Path, *more: str) -> tuple[int, str, Path]:
    """Exit code, what is said, and the folder."""
    file, out = classifier(tmp_path / "c.onnx"), tmp_path / "out" / "my-pets"
    args = ["explain", "--onnx", str(file), "--images", str(images), "--classes", "light,dark"]
    args += ["--size", str(SIZE), "--grey", "--id", "my-pets", "--out", str(out)]
    args += ["--images-per-class", "3", "--wrong-per-class", "1", *more]
    result = CliRunner().invoke(stimuli_app, args)
    return result.exit_code, f"{result.output}{result.exception or ''}", out


def test_the_command_makes_a_set_that_studies_can_show(tmp_path: Path, images: Path) -> None:
    code, said, out = built(tmp_path, images)
    assert code == 0, said
    checked = importing.read_checked(out)
    manifest = checked.manifest
    assert isinstance(manifest, Manifest)
    assert [method.id for method in manifest.methods] == ["occlusion", "rise"]
    assert len(manifest.photos) == 6
    assert sum(not photo.correct for photo in manifest.photos) == 2
    assert manifest.method.accuracy == pytest.approx(100 * 10 / 14, abs=0.01)
    stimulus_set = library.load(str(out))
    masking = Masking((5, 60), sign="absolute")
    predict = BlackBox(tmp_path / "c.onnx", ("light", "dark"), SIZE, channels=1).predictor()
    photo = manifest.photos[0]
    stated = find_recorded_outputs(stimulus_set, masking, photo, "rise")
    for percent, logits in zip((5, 60), stated, strict=True):
        ref = MaskedRef("my-pets", photo.id, "rise", "mean", "absolute", percent)
        seen = masked_pictures.picture(stimulus_set, ref)
        blocks = seen.reshape(SIZE, seen.shape[0] // SIZE, SIZE, -1).mean((1, 3))
        again = predict(np.rint(blocks).astype(np.uint8)[None, None])[0]
        assert logits == pytest.approx(again, abs=2e-3)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--classes", "light"), "Found --classes"),
        (("--mean", "0.1,0.2"), "Found --mean"),
        (("--std", "0"), "Found --std"),
        (("--id", "My Pets"), "Found --id"),
        (("--classes", "light,dark,grey"), "but should make (n, 3)"),
        (("--size", "17"), "Check --size"),
        (("--images-per-class", "9"), "too few images"),
        (("--kind", "tasting"), "The kind must be scores or heatmaps"),
        (("--method", "gradcam"), "one of occlusion, rise"),
        (("--kind", "heatmaps"), "light: 5 right, 2 wrong; dark: 5 right, 2 wrong"),
        (("--torchscript", "c.pt"), "Give one of --onnx"),
    ],
)
def test_what_does_not_fit_is_told(
    more: tuple[str, ...], told: str, tmp_path: Path, images: Path
) -> None:
    code, said, out = built(tmp_path, images, *more)
    assert code != 0
    assert told in said
    assert not out.exists()


def test_a_set_for_judging_has_a_heatmap_for_each_option(tmp_path: Path, images: Path) -> None:
    sizes = ("--right-per-set", "3", "--wrong-per-set", "2")
    code, told, out = built(tmp_path, images, "--kind", "heatmaps", *sizes)
    assert code == 0, told
    manifest = importing.read_checked(out).manifest
    assert isinstance(manifest, Manifest)
    assert manifest.kind == "heatmaps"
    assert [photo.correct for photo in manifest.photos].count(False) == 2
    assert manifest.classifier is not None
    assert manifest.classifier.pictures == 14
    assert (manifest.classifier.size, manifest.classifier.channels) == (SIZE, 1)
    assert manifest.classifier.sha256 == manifest.method.sha256
    for photo in manifest.photos:
        by_option = dict(zip(photo.options, photo.heatmaps, strict=True))
        light, dark = (
            np.array(Image.open(out / by_option[name])).reshape(CELLS, 8, CELLS, 8).mean((1, 3))
            for name in ("light", "dark")
        )
        # What speaks for the one class speaks against the other, and the rest says nothing.
        middle = 127.5
        assert light[2, 5] + dark[2, 5] == pytest.approx(2 * middle, abs=1)
        assert abs(light[2, 5] - middle) > 100
        assert np.abs(np.delete(light.ravel(), 2 * CELLS + 5) - middle).max() < 2


def test_a_classifier_of_torch_comes_in_as_its_onnx_does(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(4, 2),
    ).eval()
    file = tmp_path / "c.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.trace(network, torch.zeros(2, 3, SIZE, SIZE)), file)
    box = BlackBox(file, ("light", "dark"), SIZE, mean=(0.5,), std=(0.2,), format="torchscript")
    pictures = np.random.default_rng(0).integers(0, 256, (60, 3, SIZE, SIZE)).astype(np.uint8)
    with torch.no_grad():
        expected = network(torch.from_numpy((pictures / np.float32(255) - 0.5) / 0.2).float())
    np.testing.assert_allclose(box.predictor()(pictures), expected.numpy(), atol=1e-4)


RECIPE = """
id: own/expressions
title: Our pictures
data: {dataset: folder, folder: pictures, group_by: prefix, seed: 1}
method: {name: cnn}
schedule: {steps: 6, batch: 8, peak: 0.001}
seed: 1
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recipe, the pictures beside it, and the model that was trained on them."""
    root = tmp_path_factory.mktemp("lab")
    picture_folder.make(root / "pictures")
    (root / "recipe.yaml").write_text(RECIPE, encoding="utf-8")
    train(root / "recipe.yaml", out=root / "models")
    return root


def test_the_card_pins_the_pictures_and_not_where_they_lie(lab: Path) -> None:
    folder = lab / "models" / "own" / "expressions"
    text = (folder / cards.CARD).read_text(encoding="utf-8")
    assert str(lab) not in text
    card = cards.read(folder)
    assert card.recipe.data.dataset == "folder"
    assert card.recipe.data.folder == "pictures"
    assert card.recipe.data.names == ("anger", "happiness")
    assert re.fullmatch("[0-9a-f]{64}", card.recipe.data.sha256 or "")
    assert card.parts is not None
    assert set(card.parts) == {"train", "validation", "test"}
    assert sum(sum(part.values()) for part in card.parts.values()) == 48
    assert isinstance(card.test, ClassTest)
    assert {n: one.support for n, one in card.test.classes.items()} == card.parts["test"]
    classifier = package.load("own/expressions", root=lab / "models")
    assert classifier.names == ("anger", "happiness")
    assert classifier.size == 48


def test_its_numbers_are_computed_again_from_the_same_pictures_alone(
    lab: Path, tmp_path: Path
) -> None:
    root = lab / "models"
    with pytest.raises(ModelError, match="trained on the picture folder") as refused:
        evaluation.evaluate("own/expressions", root=root)
    assert "--data" in refused.value.todo
    assert evaluation.evaluate("own/expressions", root=root, data_folder=lab / "pictures")["agrees"]
    other = tmp_path / "pictures"
    shutil.copytree(lab / "pictures", other)
    Image.new("L", (96, 96), 50).save(next((other / "anger").iterdir()))
    with pytest.raises(DatasetError, match="do not match"):
        evaluation.evaluate("own/expressions", root=root, data_folder=other)


def test_where_the_pictures_lie_changes_nothing(lab: Path, tmp_path: Path) -> None:
    """A recipe elsewhere that names them by their whole path, or not at all but by --data."""
    text = RECIPE.replace("folder: pictures", f"folder: {lab / 'pictures'}")
    (tmp_path / "recipe.yaml").write_text(text, encoding="utf-8")
    train(tmp_path / "recipe.yaml", out=tmp_path / "models")
    shutil.copytree(lab / "pictures", tmp_path / "else")
    train(lab / "recipe.yaml", out=tmp_path / "again", data_folder=tmp_path / "else")
    weights = Path("own", "expressions", cards.WEIGHTS)
    for out in ("models", "again"):
        assert (tmp_path / out / weights).read_bytes() == (lab / "models" / weights).read_bytes()
        card = cards.read(tmp_path / out / "own" / "expressions")
        assert card.recipe == cards.read(lab / "models" / "own" / "expressions").recipe


def test_a_recipe_can_pin_its_pictures(lab: Path, tmp_path: Path) -> None:
    wrong = RECIPE.replace("seed: 1}", f"seed: 1, sha256: '{'0' * 64}'}}")
    path = lab / "pinned.yaml"
    path.write_text(wrong, encoding="utf-8")
    with pytest.raises(DatasetError, match="do not match `sha256`"):
        train(path, out=tmp_path)
    found = cards.read(lab / "models" / "own" / "expressions").recipe.data
    assert found.dataset == "folder"
    path.write_text(wrong.replace("0" * 64, str(found.sha256)), encoding="utf-8")
    train(path, out=tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("folder: pictures", "folder: elsewhere", "cannot be read"),
        ("seed: 1}", "seed: 1, classes: [anger, joy]}", "no folder joy"),
        ("seed: 1}", "seed: 1, size: 96}", ""),
    ],
)
def test_faults_come_before_anything_is_learned(
    lab: Path, tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = lab / "other.yaml"
    path.write_text(RECIPE.replace(old, new), encoding="utf-8")
    if not said:
        train(path, out=tmp_path)
        assert package.load("own/expressions", root=tmp_path).size == 96
        return
    with pytest.raises(DatasetError, match=said):
        train(path, out=tmp_path)
    assert not (tmp_path / "own").exists()


def test_the_commands_train_list_show_and_evaluate(
    lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path))
    run = CliRunner().invoke
    assert run(app, ["models", "train", str(lab / "recipe.yaml")]).exit_code == 0
    listed = json.loads(run(app, ["models", "list", "--json"]).stdout)
    (row,) = [one for one in listed if one["id"] == "own/expressions"]
    assert row["source"] == "own"
    assert row["dataset"] == "folder"
    shown = run(app, ["models", "show", "own/expressions"])
    assert "confusion:" in shown.stdout
    again = run(app, ["models", "evaluate", "own/expressions", "--data", str(lab / "pictures")])
    assert again.exit_code == 0
    assert again.stdout.splitlines()[-1] == "agrees"
