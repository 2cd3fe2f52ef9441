"""Packages of imported decoders of several sizes with weights nobody trained: for measuring speed,
and for tests of what is drawn. Each dial changes the picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from labapp.models.representations.card import ModelCard, dials_over
from labapp.models.representations.package import write_package
from labapp.models.representations.recipe import Task
from labapp.models.representations.space import Display

LATENTS = 400
SIDE = 8
"""Rows and columns from which pictures are made larger, twice a layer."""
CHANNELS = 128
"""Of the first layer of a deconvolution; half as many in each that follows, at least 16."""


def write(
    root: Path,
    model: str,
    shape: tuple[int, ...],
    *,
    dimensions: int = 5,
    seed: int = 0,
    display: Display | None = None,
    task: Task | None = None,
    dataset: str | None = None,
) -> Path:
    """Write a package below `root`; its folder.

    shape : (points,), (rows, columns) or (rows, columns, 3). Pictures of more than `SIDE` x `SIDE`
    are square, of `SIDE` times a power of two.
    """
    latents = np.random.default_rng(seed).standard_normal((LATENTS, dimensions), dtype=np.float32)
    usual: tuple[Display, ...] = ("series", "image", "colour")
    card = ModelCard(
        card=1,
        id=model,
        title="Random weights",
        notes="For measuring speed; its pictures mean nothing.",
        dataset=dataset or model.split("/")[0],
        architecture="onnx",
        backend="onnxruntime",
        shape=shape,
        display=display or usual[len(shape) - 1],
        chart=(-3.0, 3.0) if len(shape) == 1 else None,
        sampling="held-out",
        dimensions=dials_over(latents),
        task=task,
    )
    return write_package(root / model, card, graph(shape, dimensions, seed), latents)


def graph(shape: tuple[int, ...], width: int, seed: int = 0) -> bytes:
    """A decoder of this shape as an ONNX graph: one dense layer, and where there are more than
    `SIDE` x `SIDE` pixels a deconvolution for each doubling behind it."""
    rng = np.random.default_rng(seed)
    nodes: list[Any] = []
    tensors: list[Any] = []

    def weights(name: str, values: Any) -> str:
        tensors.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def layer(kind: str, inputs: list[str], **how: Any) -> str:
        out = f"x{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [out], **how))
        return out

    def random(*size: int, scale: float) -> Any:
        return (rng.standard_normal(size) * scale).astype(np.float32)

    def dense(size: int, scale: float) -> str:
        matrix = weights("dense", random(width, size, scale=scale))
        return layer("MatMul", ["z", matrix])

    channels = 3 if len(shape) == 3 else 1
    if len(shape) == 1 or max(shape[:2]) <= SIDE:
        x = dense(int(np.prod(shape)), 1.0)
        if len(shape) > 1:
            x = layer("Sigmoid", [x])
        x = layer("Reshape", [x, weights("shape", np.array([-1, *shape], np.int64))])
    else:
        now, into = SIDE, CHANNELS
        x = layer("Relu", [dense(CHANNELS * SIDE * SIDE, 1.0)])
        size = np.array([-1, CHANNELS, SIDE, SIDE], np.int64)
        x = layer("Reshape", [x, weights("folded", size)])
        while now < shape[0]:
            last = 2 * now == shape[0]
            out = channels if last else max(into // 2, 16)
            kernel = random(into, out, 4, 4, scale=(1.0 if last else 1.4) / np.sqrt(into * 4))
            name = weights(f"kernel{now}", kernel)
            pads = [1, 1, 1, 1]
            x = layer("ConvTranspose", [x, name], strides=[2, 2], pads=pads)
            x = layer("Sigmoid" if last else "Relu", [x])
            now, into = 2 * now, out
        if channels == 3:
            x = layer("Transpose", [x], perm=[0, 2, 3, 1])
        else:
            x = layer("Reshape", [x, weights("shape", np.array([-1, *shape], np.int64))])
    nodes[-1].output[0] = "x"
    made = helper.make_graph(
        nodes,
        "decoder",
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", width])],
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *shape])],
        tensors,
    )
    opset = [helper.make_opsetid("", 17)]
    whole: bytes = helper.make_model(made, opset_imports=opset, ir_version=8).SerializeToString()
    return whole
