"""Training on digits from recipe to package: labels, discrete dials, float16, a code's agreement.

The files of MNIST are written here, with digits that a network learns at once, and fewer of them
than MNIST has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from numpy.typing import NDArray
from torch import nn

from labapp.base.errors import DatasetError, ModelError
from labapp.models.datasets import mnist
from labapp.models.representations import card, measuring, package, torch_backend, training
from tests.helpers import digits
from tests.models.representations.conftest import RECIPE as SERIES

LEARNED, HELD_OUT = 300, 1_200

RECIPE = """\
id: tiny/digits
title: Tiny
data: {{dataset: mnist, digits: t10k, held_out: {held_out}, seed: 0}}
architecture: {architecture}
dimensions: 2
objective: {{name: {objective}}}
optimizer: {{learning_rate: 0.002, batch: 50, epochs: 2, precision: float32}}
weights: float16
seed: 0
"""


@pytest.fixture(scope="module", autouse=True)
def _few() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(mnist.COUNTS, "t10k", LEARNED + HELD_OUT)
        yield


def drawn(seed: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    return digits.draw(LEARNED + HELD_OUT, seed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("mnist")
    digits.write(where, "t10k", *drawn(seed=0))
    return where


def train(out: Path, folder: Path | None, architecture: str, objective: str) -> Path:
    recipe = out / "recipe.yaml"
    text = RECIPE.format(held_out=HELD_OUT, architecture=architecture, objective=objective)
    recipe.write_text(text, "utf-8")
    return training.train(recipe, out=out, device="cpu", data_folder=folder)


def test_a_semi_supervised_model_has_a_dial_of_labels(tmp_path: Path, folder: Path) -> None:
    where = train(tmp_path, folder, "mnist-conv", "ss-tcvae")
    found = card.read(where)
    assert [dial.type for dial in found.dimensions] == ["discrete", "continuous", "continuous"]
    assert found.sampling == "held-out"
    assert found.disentanglement is None  # digits have no true factors
    assert found.held_out_error is not None
    assert found.held_out_error.sampled is not None
    tensors = safetensors.numpy.load_file(where / "decoder.safetensors")
    assert {values.dtype for values in tensors.values()} == {np.dtype(np.float16)}

    decoder = package.load_package(where, "cpu")
    assert decoder.decode(decoder.space.encode((3, 0.1, -0.1))[None]).shape == (1, 28, 28)
    result = measuring.evaluate(where, "cpu", data_folder=folder)
    assert result["agrees"], result

    images = (folder / "t10k-images-idx3-ubyte").read_bytes()
    assert found.data_sha256 is not None
    assert found.data_sha256["t10k-images-idx3-ubyte"] == hashlib.sha256(images).hexdigest()
    other = tmp_path / "other"
    other.mkdir()
    digits.write(other, "t10k", *drawn(seed=1))
    with pytest.raises(DatasetError, match="not the file on which tiny/digits was trained"):
        measuring.evaluate(where, "cpu", data_folder=other)
    assert result["instances"] == HELD_OUT


def test_an_infogan_is_drawn_from_its_prior_and_asked_for_its_digits(
    tmp_path: Path, folder: Path
) -> None:
    where = train(tmp_path, folder, "mnist-infogan", "infogan")
    found = card.read(where)
    assert found.sampling == "prior"
    assert found.held_out_error is None
    assert found.code_agreement is not None
    assert found.code_agreement.classifier_accuracy > 0.9
    assert sorted(found.code_agreement.digits) == list(range(10))
    limits = [(dial.low, dial.high) for dial in found.dimensions if dial.type == "continuous"]
    assert limits == [(-1, 1), (-1, 1)]
    assert measuring.evaluate(where, "cpu", data_folder=folder)["agrees"]
    text = (where / "model.yaml").read_text(encoding="utf-8")
    flattering = text.replace(f"agreement: {found.code_agreement.agreement}", "agreement: 0.999")
    assert flattering != text
    stating_more = text + "held_out_error: {mean: 0.1}\n"  # which an InfoGAN does not have
    for untrue in (flattering, stating_more):
        (where / "model.yaml").write_text(untrue, encoding="utf-8")
        assert not measuring.evaluate(where, "cpu", data_folder=folder)["agrees"]


def test_weights_that_float16_cannot_hold_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of any data: series are learnt soonest."""
    taken = torch_backend.weights_of

    def large(network: nn.Module) -> dict[str, NDArray[np.float32]]:
        return {name: values * np.float32(1e6) for name, values in taken(network).items()}

    monkeypatch.setattr(torch_backend, "weights_of", large)
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(f"{SERIES}weights: float16\n", "utf-8")
    with pytest.raises(ModelError) as caught:
        training.train(recipe, out=tmp_path, device="cpu")
    assert "values that float16 cannot" in caught.value.what
    assert "weights: float32" in caught.value.todo
    assert not (tmp_path / "tiny").exists()


def test_without_their_folder_digits_cannot_be_trained_on(tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        train(tmp_path, None, "mnist-conv", "ss-tcvae")
    assert "--data" in caught.value.todo
    assert not (tmp_path / "tiny").exists()
