"""Imported decoders: their graphs are computed by ONNX Runtime, which is a part of the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from benchmarks.onnx_decoders import graph, write
from labapp.base.errors import ModelError
from labapp.models.representations import card as cards
from labapp.models.representations import onnx_backend
from labapp.models.representations.package import load_package
from labapp.models.training import files

SHAPES = [(32,), (8, 8), (16, 16), (64, 64, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_package_with_a_graph_decodes_one_state_and_many_alike(
    shape: tuple[int, ...], tmp_path: Path
) -> None:
    decoder = load_package(write(tmp_path, "own/model", shape))
    z = decoder.latents[:7]
    many = decoder.decode(z)
    assert many.shape == (7, *shape)
    assert many.dtype == np.float32
    one = np.concatenate([decoder.decode(row[None]) for row in z])
    assert one == pytest.approx(many, abs=1e-5)
    assert decoder.output_shape == shape
    assert decoder.device == "cpu"
    assert decoder.backend[0] == "onnxruntime"
    assert decoder.backend[1].count(".") == 2


def test_a_graph_computes_what_numpy_does(tmp_path: Path) -> None:
    decoder = load_package(write(tmp_path, "own/flat", (8, 8), dimensions=3, seed=4))
    matrix = np.random.default_rng(4).standard_normal((3, 64)).astype(np.float32)
    z = decoder.latents[:5]
    expected = 1 / (1 + np.exp(-(z.astype(np.float64) @ matrix))).reshape(5, 8, 8)
    assert decoder.decode(z) == pytest.approx(expected, abs=1e-6)


def test_another_file_than_the_card_states_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, "own/model", (8, 8))
    (folder / files.GRAPH).write_bytes(graph((8, 8), 5, seed=1))
    with pytest.raises(ModelError, match="is not the file listed on its model card"):
        load_package(folder)


def refused(folder: Path, content: bytes) -> str:
    """What is said of a package whose graph is replaced, with its hash."""
    (folder / files.GRAPH).write_bytes(content)
    text = yaml.safe_load((folder / cards.CARD).read_text())
    text["weights_sha256"] = files.digest(content)
    (folder / cards.CARD).write_text(yaml.safe_dump(text))
    with pytest.raises(ModelError) as error:
        load_package(folder)
    return error.value.what


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: b"not a graph", "cannot be used"),
        (lambda: graph((8, 8), 4), "cannot be used"),
        (lambda: graph((4, 4), 5), "the card states (8, 8)"),
    ],
    ids=["no graph", "another width", "another shape"],
)
def test_what_is_no_decoder_is_refused(
    made: Callable[[], bytes], said: str, tmp_path: Path
) -> None:
    assert said in refused(write(tmp_path, "own/model", (8, 8)), made())


def test_a_graph_that_names_another_file_is_refused(tmp_path: Path) -> None:
    import onnx

    folder = write(tmp_path, "own/model", (8, 8))
    made = onnx.load_from_string(graph((8, 8), 5))
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(4 * 5 * 64))
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=str(secret))
    assert "cannot be used" in refused(folder, made.SerializeToString())


def test_an_operator_of_another_domain_is_refused(tmp_path: Path) -> None:
    import onnx

    folder = write(tmp_path, "own/model", (8, 8))
    made = onnx.load_from_string(graph((8, 8), 5))
    made.graph.node[1].domain = "lab.custom"
    made.opset_import.add(domain="lab.custom", version=1)
    assert "cannot be used" in refused(folder, made.SerializeToString())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"shape": [8, 8, 3]}, "shape: display image needs 2 sizes"),
        ({"shape": [600, 8]}, "shape: at most 512"),
        ({"shape": None}, "shape: display image needs 2 sizes"),
        ({"display": "colour", "shape": [8, 8, 4]}, "shape"),
        ({"display": "series", "shape": [64]}, "chart: required for a series"),
        ({"display": "series", "shape": [64], "chart": [1, -1]}, "chart: the lower limit"),
        ({"backend": "torch"}, "backend"),
    ],
)
def test_a_card_whose_shape_does_not_fit_is_refused(
    change: dict[str, Any], told: str, tmp_path: Path
) -> None:
    folder = write(tmp_path, "own/model", (8, 8))
    text = yaml.safe_load((folder / cards.CARD).read_text()) | change
    text = {key: value for key, value in text.items() if value is not None}
    (folder / cards.CARD).write_text(yaml.safe_dump(text))
    with pytest.raises(ModelError, match=told):
        cards.read(folder)


def test_cuda_is_refused_where_onnxruntime_has_none() -> None:
    import onnxruntime

    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        assert onnx_backend.choose_device("cuda") == "cuda"
        return
    with pytest.raises(ModelError, match="does not support CUDA"):
        onnx_backend.choose_device("cuda")
    assert onnx_backend.choose_device("mps") == "cpu"
