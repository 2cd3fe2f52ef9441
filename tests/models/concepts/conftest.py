"""Recipes that train in a second, models of them, and the folder of a lab with its own model."""

from __future__ import annotations

import csv
import io
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import torch
import yaml
from PIL import Image
from torch import Tensor, nn

from labapp.models.concepts import package, training
from labapp.models.concepts.learner import ConceptModel
from labapp.models.concepts.recipe import ConceptRecipe
from labapp.models.datasets.concepts.rows import ConceptRows
from labapp.models.metrics import nis
from labapp.models.metrics.ois import ois
from tests.helpers.sample import EVERYTHING

Thing = TypeVar("Thing")


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)


brief_ois = ois if EVERYTHING else partial(ois, epochs=3)


@contextmanager
def measured_briefly() -> Iterator[None]:
    """Training ends with scores, most of whose time the networks of NIS and OIS take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "ois", brief_ois)
        if not EVERYTHING:
            patch.setattr(nis, "EPOCHS", 30)
        yield


@pytest.fixture(autouse=True, scope="module")
def _measured_briefly() -> Iterator[None]:
    """Not longer than the tests of this folder: those of NIS need it whole."""
    with measured_briefly():
        yield


def toy(name: str = "cbm-logits", **learner: Any) -> ConceptRecipe:
    """TabularToy in the size for tests."""
    settings = {"alpha": 0.1, "predictor": [128, 64], **learner, "name": name}
    return recipe({"dataset": "toy"}, settings)


def sprites(name: str = "cbm", **learner: Any) -> ConceptRecipe:
    """dSprites in the size for tests."""
    data = {"dataset": "dsprites", "concepts": 4, "pixels": 32, "noise": 0.1}
    return recipe(data, {**learner, "name": name})


def recipe(data: dict[str, Any], learner: dict[str, Any]) -> ConceptRecipe:
    whole = ConceptRecipe.model_validate(
        {"id": "tiny/model", "title": "Tiny", "data": data, "learner": learner, "size": "S"}
    )
    return ConceptRecipe.model_validate(whole.model_dump())


BOTTLENECKS = ("cbm", "cbm-logits")


class Made(dict[str, Thing]):
    """By the learner's name what is made of it, when it is first asked for."""

    def __init__(self, make: Callable[[str], Thing]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> Thing:
        self[name] = self._make(name)
        return self[name]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The packages of learners of TabularToy."""
    root = tmp_path_factory.mktemp("concepts")
    return Made(lambda name: training.train(toy(name), out=root / name))


@pytest.fixture(scope="session")
def models(folders: dict[str, Path]) -> dict[str, ConceptModel]:
    return Made(lambda name: package.load(folders[name]))


def rows_of(model: ConceptModel) -> ConceptRows:
    recipe = model.card.recipe
    return recipe.data.load(recipe.measures).split.test


PICTURES = 60


CONCEPTS = (("size", "large", "small"), ("side", "right", "left"))


CONCEPTS += (("height", "bottom", "top"), ("shape", "heart", "other"))


class Encoder(nn.Module):
    """The encoder of a trained model, which takes levels that were normalised."""

    def __init__(self, network: nn.Module, sigmoid: bool) -> None:
        super().__init__()
        self.network, self.sigmoid = network, sigmoid

    def forward(self, x: Tensor) -> Tensor:
        codes: Tensor = self.network(x * 0.5 + 0.25)
        return codes.sigmoid() if self.sigmoid else codes


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> ConceptModel:
    out = tmp_path_factory.mktemp("trained")
    with measured_briefly():
        return package.load(training.train(sprites("cbm-logits", predictor=[8]), out=out))


def save(network: nn.Module, example: Tensor, file: Path, format_: str) -> None:
    network.eval()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        if format_ == "onnx":
            torch.onnx.export(
                network,
                (example,),
                str(file),
                dynamo=False,
                input_names=["x"],
                output_names=["y"],
                dynamic_axes={"x": {0: "n"}, "y": {0: "n"}},
            )
        elif format_ == "torchscript":
            torch.jit.save(torch.jit.trace(network, example), str(file))
        else:
            rows = torch.export.Dim("n")
            exported = torch.export.export(network, (example,), dynamic_shapes=({0: rows},))
            torch.export.save(exported, file)


@pytest.fixture(scope="session")
def exported(
    trained: ConceptModel, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, bool], Path]:
    """A folder with both files in a format, the encoder's codes as logits or as probabilities, with
    pictures and their table. Each is made once."""

    @cache
    def make(format_: str, sigmoid: bool) -> Path:
        networks = trained._learner.networks  # type: ignore[attr-defined]
        folder = tmp_path_factory.mktemp("exported")
        (folder / "pictures").mkdir()
        x, codes = torch.zeros(2, 1, 32, 32), torch.zeros(2, 4)
        save(Encoder(networks["encoder"], sigmoid), x, folder / "encoder.bin", format_)
        save(networks["predictor"], codes, folder / "predictor.bin", format_)
        rows = trained.card.recipe.data.load(trained.card.recipe.measures).split.test
        table = io.StringIO()
        writer = csv.writer(table)
        writer.writerow(["picture", "class", *(name for name, _, _ in CONCEPTS)])
        for row in np.linspace(0, len(rows) - 1, PICTURES).astype(int).tolist():
            levels = np.rint(255 * rows.instances(np.array([row]))[0, 0]).astype(np.uint8)
            Image.fromarray(levels).save(folder / f"pictures/{row}.png")
            truths = rows.concepts_of[row].tolist()
            writer.writerow([f"pictures/{row}.png", f"k{rows.labels_of[row]}", *truths])
        (folder / "pictures.csv").write_text(table.getvalue(), encoding="utf-8")
        return folder

    return make


@pytest.fixture
def described(exported: Callable[[str, bool], Path], tmp_path: Path) -> Callable[..., Path]:
    """Writes a lab's folder: both files, pictures, their table and the description."""

    def write(format_: str = "onnx", **changed: Any) -> Path:
        made = exported(format_, changed.get("codes") == "probabilities")
        folder = shutil.copytree(made, tmp_path / "lab")
        description = {
            "id": "own/sprites",
            "title": "Our sprites",
            "encoder": "encoder.bin",
            "predictor": "predictor.bin",
            "format": format_,
            "codes": "logits",
            "size": 32,
            "channels": 1,
            "mean": [0.25],
            "std": [0.5],
            "concepts": [
                {"id": name, "name": name.title(), "off": off, "on": on}
                for name, off, on in CONCEPTS
            ],
            "classes": [{"id": f"k{n}", "name": f"Kind {n}"} for n in range(8)],
            "pictures": "pictures.csv",
            **changed,
        }
        path = folder / "description.yaml"
        path.write_text(yaml.safe_dump(description), encoding="utf-8")
        return path

    return write
