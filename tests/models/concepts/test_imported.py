"""A lab's own concept model: exported in each format, brought in, and asked."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
import yaml
from PIL import Image
from torch import Tensor, nn

from labapp.base.errors import DatasetError, ModelError
from labapp.cli import own_models
from labapp.cli.main import main
from labapp.models.concepts import commands, imported, package
from labapp.models.concepts.learner import ConceptModel
from labapp.models.concepts.training import interventions
from labapp.models.stimuli import importing
from labapp.models.training import files
from tests.models.concepts.conftest import CONCEPTS, PICTURES, save


@pytest.mark.parametrize("format_", ["onnx", "torchscript", "torch-export"])
def test_a_model_answers_as_it_did_where_it_was_trained(
    described: Callable[..., Path], trained: ConceptModel, tmp_path: Path, format_: str
) -> None:
    path = described(format_)
    folder = imported.import_model(path, out=tmp_path / "models")
    model = package.load(folder)
    rows = package.task_of(model.card, path).split.test
    np.testing.assert_allclose(model.codes(rows), trained.codes(rows), atol=1e-3)
    np.testing.assert_allclose(model.task_logits(rows), trained.task_logits(rows), atol=1e-3)
    below, above = np.percentile(model.codes(rows), [5, 95], axis=0)
    np.testing.assert_allclose(model.values, np.stack([below, above], axis=1), atol=1e-4)
    right = (trained.task_logits(rows).argmax(axis=1) == rows.labels_of).mean()
    assert model.card.test.task == pytest.approx(right, abs=1e-4)


def test_its_table_of_answers_makes_a_stimulus_set(
    described: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("LABAPP_MODELS", str(tmp_path / "models"))
    path = described(codes="probabilities")

    def run(*arguments: str) -> Any:
        monkeypatch.setattr(sys, "argv", ["labapp", *arguments, "--json"])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert ended.value.code == 0, err
        return json.loads(out)

    assert run("concepts", "import", str(path))["id"] == "own/sprites"
    rows = {row["id"]: row for row in run("concepts", "list")}
    assert (rows["own/sprites"]["learner"], rows["own/sprites"]["size"]) == ("imported", None)
    assert {row["id"] for row in run("models", "list")} >= {"own/sprites"}
    assert run("concepts", "score", "own/sprites", "--data", str(path))["agrees"]
    curves = run("concepts", "intervene", "own/sprites", "--data", str(path))
    assert len(curves["fixed"]) == 5
    out = tmp_path / "set"
    made = run(
        "concepts", "stimuli", "own/sprites", "--data", str(path), "--out", str(out),
        "--items", "natural=12",
    )  # fmt: skip
    assert made["photos"] == 12
    manifest = importing.read_checked(out).manifest
    assert manifest is not None
    assert manifest.classes[3].name == "Kind 3"
    assert not manifest.invented
    model = package.load("own/sprites")
    ready = interventions(model, package.task_of(model.card, path).split.test)
    assert set(np.unique(ready.values)) == {0.0, 1.0}
    photo = manifest.photos[0]
    row = int(photo.id[1:])
    assert photo.prediction == f"k{ready.answers()[row, 0].argmax()}"
    assert own_models.remove("own/sprites") == ["removed: own/sprites"]


def test_a_class_without_a_picture_has_no_curve(
    described: Callable[..., Path], tmp_path: Path
) -> None:
    path = described()
    table = path.parent / "pictures.csv"
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join(line for line in lines if ",k3," not in line), encoding="utf-8")
    folder = imported.import_model(path, out=tmp_path / "models")
    assert len(package.measure_interventions(folder, data_folder=path)["fixed"]) == 5
    with pytest.raises(ModelError, match=r"has the class 3 .*no ROC curve"):
        package.measure_interventions(folder, auc=True, data_folder=path)


def test_other_pictures_than_those_of_the_card_are_refused(
    described: Callable[..., Path], tmp_path: Path
) -> None:
    path = described()
    folder = imported.import_model(path, out=tmp_path / "models")
    with pytest.raises(DatasetError, match="not kept with it"):
        package.score(folder)
    Image.new("L", (32, 32)).save(path.parent / "pictures/0.png")
    with pytest.raises(DatasetError, match="not those that own/sprites was imported with"):
        commands.build_stimuli(str(folder), tmp_path / "set", "own", data_folder=path)
    with pytest.raises(ModelError, match="never overwritten"):
        imported.import_model(path, out=tmp_path / "models")


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"size": 16}, ModelError, "cannot be used"),
        ({"concepts": [{"id": "a", "name": "A", "off": "x", "on": "y"}]}, DatasetError, "no col"),
        ({"predictor": "encoder.bin"}, ModelError, "cannot be used"),
        (
            {"classes": [{"id": f"k{n}", "name": "Kind"} for n in range(8)]},
            ModelError,
            r"classes\[1\]\.name: found 'Kind' again",
        ),
        (
            {
                "classes": [
                    {"id": f"k{n}", "name": f"Kind {n}", "concepts": {CONCEPTS[0][0]: n > 3}}
                    for n in range(8)
                ]
            },
            DatasetError,
            r"pictures\.csv, line \d+: .* but the description says that class 'k\d' has it",
        ),
        (
            {
                "concepts": [
                    {"id": name, "name": name.title(), "off": "alike", "on": "alike"}
                    for name, _, _ in CONCEPTS
                ]
            },
            ModelError,
            r"concepts\[0\]\.on: found 'alike', as `off` has",
        ),
        ({"encoder": "none.onnx"}, ModelError, "lacks|cannot be read"),
        ({"format": "torchscript"}, ModelError, "could not|cannot|not"),
        ({"channels": 2}, ModelError, "channels"),
        ({"classes": [{"id": "k0", "name": "Zero"}, {"id": "k1", "name": "One"}]}, DatasetError,
         "not one of the classes"),
        ({"mean": [0.1, 0.2]}, ModelError, "one for each of 1 channels"),
        ({"pictures": "none.csv"}, DatasetError, "cannot be read"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    described: Callable[..., Path],
    tmp_path: Path,
    changed: dict[str, Any],
    error: type[Exception],
    said: str,
) -> None:
    path = described("onnx", **changed)
    with pytest.raises(error, match=said):
        imported.import_model(path, out=tmp_path / "models")
    assert not (tmp_path / "models/own").exists()


def test_codes_that_are_no_probabilities_are_refused(
    described: Callable[..., Path], tmp_path: Path
) -> None:
    path = described()
    text = path.read_text(encoding="utf-8").replace("codes: logits", "codes: probabilities")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="are called probabilities"):
        imported.import_model(path, out=tmp_path / "models")


def test_a_predictor_that_ends_in_a_softmax_is_refused(
    described: Callable[..., Path], trained: ConceptModel, tmp_path: Path
) -> None:
    """Its probabilities would pass through a second one."""
    path = described()
    predictor = trained._learner.networks["predictor"]  # type: ignore[attr-defined]
    ended = nn.Sequential(predictor, nn.Softmax(dim=1))
    save(ended, torch.zeros(2, 4), path.parent / "predictor.bin", "onnx")
    with pytest.raises(ModelError, match=r"predictor\.bin are probabilities"):
        imported.import_model(path, out=tmp_path / "models")


class Broken(nn.Module):
    """Divides by 0 where the first code is above a bound."""

    def __init__(self, bound: float) -> None:
        super().__init__()
        self.bound = bound

    def forward(self, codes: Tensor) -> Tensor:
        chosen = (codes[:, :1] > self.bound).to(codes.dtype)
        return codes.sum(dim=1, keepdim=True).expand(-1, 8) + chosen / (1 - chosen)


@pytest.mark.parametrize("format_", ["onnx", "torchscript"])
@pytest.mark.parametrize("bound", [-1e9, 0.0])
def test_a_model_that_makes_nan_is_refused(
    described: Callable[..., Path], tmp_path: Path, format_: str, bound: float
) -> None:
    """Everywhere, and for some codes alone."""
    path = described(format_)
    save(Broken(bound), torch.zeros(2, 4), path.parent / "predictor.bin", format_)
    with pytest.raises(
        ModelError, match=r"for \d+ of \d+ inputs it makes NaN or infinite"
    ) as caught:
        imported.import_model(path, out=tmp_path / "models")
    assert "Fix the model" in str(caught.value)
    assert not (tmp_path / "models/own").exists()


class BrokenOnceSet(nn.Module):
    """Makes NaN where the first concept is set on and the second off, which no picture has."""

    def forward(self, codes: Tensor) -> Tensor:
        root = (codes[:, 1:2] - codes[:, :1] + 0.99).sqrt()
        return codes.sum(dim=1, keepdim=True).expand(-1, 8) + root


def test_a_model_is_tried_in_states_that_no_picture_has(
    described: Callable[..., Path], tmp_path: Path
) -> None:
    path = described(codes="probabilities")
    table = path.parent / "pictures.csv"
    lines = table.read_text("utf-8").splitlines()
    met = [line for line in lines if line.split(",")[2:4] != ["1", "0"]]
    assert len(met) < len(lines)
    table.write_text("\n".join(met), "utf-8")
    save(BrokenOnceSet(), torch.zeros(2, 4), path.parent / "predictor.bin", "onnx")
    with pytest.raises(ModelError, match=r"for \d+ of \d+ inputs it makes NaN"):
        imported.import_model(path, out=tmp_path / "models")


def test_pictures_so_few_that_ois_is_chance_are_told(described: Callable[..., Path]) -> None:
    truth = np.random.default_rng(1).integers(2, size=(60, 4))
    (remark,) = imported._few(truth)
    assert re.search(r"With only 60 pictures, .* would have about 0\.[1-9]", remark)
    assert not list(imported._few(np.tile(truth, (20, 1))))


def test_a_share_that_is_only_rounded_is_not_below_chance() -> None:
    """Ten of thirty are right, and ten of thirty are of each class."""
    assert not list(imported._chance(0.3333, np.repeat(np.arange(3), 10)))
    assert list(imported._chance(0.3, np.repeat(np.arange(3), 10)))


@pytest.mark.parametrize(
    ("file", "network", "takes"),
    [("encoder.bin", nn.Linear(7, 4), 7), ("predictor.bin", nn.Linear(7, 8), 7)],
)
@pytest.mark.parametrize("format_", ["onnx", "torchscript"])
def test_a_file_that_takes_something_else_is_refused_with_both_shapes(
    described: Callable[..., Path],
    tmp_path: Path,
    file: str,
    network: nn.Module,
    takes: int,
    format_: str,
) -> None:
    path = described(format_)
    save(network, torch.zeros(2, takes), path.parent / file, format_)
    with pytest.raises(ModelError) as caught:
        imported.import_model(path, out=tmp_path / "models")
    said = str(caught.value)
    wanted = "(n, 1, 32, 32)" if file == "encoder.bin" else "(n, 4)"
    assert wanted in said
    assert str(takes) in said
    assert "not swapped" in said
    assert "Traceback" not in said
    assert "latents" not in said


def test_weights_in_another_file_are_refused_and_never_looked_for(
    described: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch writes them so by default; ONNX Runtime would look for them where one stands."""
    path = described()
    folder = imported.import_model(path, out=tmp_path / "models")
    for name in ("encoder", "predictor"):
        graph = onnx.load(str(path.parent / f"{name}.bin"))
        onnx.save_model(
            graph,
            str(path.parent / f"{name}.bin"),
            save_as_external_data=True,
            location=f"{name}.data",
            size_threshold=0,
        )
    monkeypatch.chdir(path.parent)
    with pytest.raises(ModelError, match=r"tensors are in other files .* must be in this one file"):
        imported.import_model(path, out=tmp_path / "others")
    # And also of a package that came to hold such a graph.
    content = (path.parent / "encoder.bin").read_bytes()
    (folder / "encoder.onnx").write_bytes(content)
    card = (folder / "concepts.yaml").read_text("utf-8")
    digest = package.find(folder) and yaml.safe_load(card)["encoder_sha256"]
    (folder / "concepts.yaml").write_text(card.replace(digest, files.digest(content)), "utf-8")
    with pytest.raises(
        ModelError, match="its weights are in another file, which labapp does not read"
    ):
        package.load(folder)


def test_what_is_odd_in_a_model_is_told(
    described: Callable[..., Path], tmp_path: Path, trained: ConceptModel
) -> None:
    """A class without a picture, and scores in another order than the classes."""
    path = described(
        classes=[
            *({"id": f"k{n}", "name": f"Kind {n}"} for n in (1, 2, 3, 4, 5, 6, 7, 0)),
            {"id": "none", "name": "None"},
        ]
    )
    predictor = trained._learner.networks["predictor"]  # type: ignore[attr-defined]
    wider = nn.Sequential(predictor, nn.Linear(8, 9, bias=False))
    with torch.no_grad():
        wider[1].weight.copy_(torch.eye(9, 8))  # type: ignore[union-attr]
    save(wider, torch.zeros(2, 4), path.parent / "predictor.bin", "onnx")
    remarks = package.show(imported.import_model(path, out=tmp_path / "models"))["imported"][
        "remarks"
    ]
    assert remarks[0] == "No picture is of the class none."
    assert "Check that `classes` are in the order of the predictor's scores" in remarks[1]


def test_the_description_says_where_the_pictures_are_and_is_one(
    described: Callable[..., Path], tmp_path: Path
) -> None:
    path = described()
    model = package.load(imported.import_model(path, out=tmp_path / "models"))
    elsewhere = tmp_path / "elsewhere"
    path.parent.rename(elsewhere)
    (elsewhere / "pictures.csv").rename(elsewhere / "test.csv")
    path = elsewhere / path.name
    with pytest.raises(DatasetError, match=r"pictures\.csv cannot be read"):
        package.task_of(model.card, path)
    path.write_text(path.read_text("utf-8").replace("pictures.csv", "test.csv"), "utf-8")
    assert len(package.task_of(model.card, path).split.test) == PICTURES
    with pytest.raises(ModelError, match=r"test\.csv"):
        package.task_of(model.card, elsewhere / "test.csv")


def test_a_model_of_one_concept_has_a_set_whose_invented_names_can_be_drawn(
    described: Callable[..., Path], tmp_path: Path
) -> None:
    """Nothing can leak from another concept, so that no ICL is told."""
    name, off, on = CONCEPTS[0]
    path = described(
        concepts=[{"id": name, "name": name.title(), "off": off, "on": on}],
        classes=[{"id": f"k{n}", "name": f"Kind {n}"} for n in range(8)],
        invented=True,
    )
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(32 * 32, 1))
    save(encoder, torch.zeros(2, 1, 32, 32), path.parent / "encoder.bin", "onnx")
    save(nn.Linear(1, 8), torch.zeros(2, 1), path.parent / "predictor.bin", "onnx")
    folder = imported.import_model(path, out=tmp_path / "models")
    made = commands.build_stimuli(
        str(folder), tmp_path / "set", items="natural=6", data_folder=path
    )
    manifest = importing.read_checked(made.folder).manifest
    assert manifest is not None
    assert manifest.invented
    assert manifest.concept_model is not None
    assert "ctl" in manifest.concept_model.scores
    assert "icl" not in manifest.concept_model.scores
