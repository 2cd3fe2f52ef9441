"""ONNX graphs that take too much: of time for every input, or for some; or of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def looping(width: int, shape: tuple[int, ...], *, above: float | None = None) -> bytes:
    """A decoder that never answers. above: it does where its first input is not above this."""
    often = numpy_helper.from_array(np.array(2**62, np.int64), "often")
    yes = numpy_helper.from_array(np.array(above is None), "yes")
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Identity", ["kept"], ["next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("at", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("kept", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, None),
        ],
    )
    nodes: list[Any] = []
    tensors = [often, yes]
    go = "yes"
    if above is not None:
        tensors.append(numpy_helper.from_array(np.array(above, np.float32), "bound"))
        nodes += [
            helper.make_node("ReduceMax", ["latents"], ["most"], keepdims=0),
            helper.make_node("Greater", ["most", "bound"], ["started"]),
        ]
        go = "started"
    nodes.append(helper.make_node("Loop", ["often", go, "latents"], ["same"], body=body))
    return _drawn(width, shape, nodes, tensors, "same")


def swelling(width: int, shape: tuple[int, ...], size: int) -> bytes:
    """A decoder that needs so many bytes to add nothing to its input."""
    tensors = [numpy_helper.from_array(np.array([size // 4], np.int64), "size")]
    nodes = [
        helper.make_node("ConstantOfShape", ["size"], ["zeros"]),
        helper.make_node("ReduceMax", ["latents"], ["most"], keepdims=0),
        helper.make_node("Mul", ["zeros", "most"], ["large"]),
        helper.make_node("ReduceMax", ["large"], ["none"], keepdims=0),
        helper.make_node("Add", ["latents", "none"], ["same"]),
    ]
    return _drawn(width, shape, nodes, tensors, "same")


def _drawn(
    width: int, shape: tuple[int, ...], nodes: list[Any], tensors: list[Any], name: str
) -> bytes:
    """These nodes, and behind them one layer that makes a picture of `name`."""
    matrix = np.random.default_rng(0).standard_normal((width, int(np.prod(shape))))
    tensors = [
        *tensors,
        numpy_helper.from_array(matrix.astype(np.float32), "matrix"),
        numpy_helper.from_array(np.array([-1, *shape], np.int64), "shape"),
    ]
    nodes = [
        *nodes,
        helper.make_node("MatMul", [name, "matrix"], ["flat"]),
        helper.make_node("Sigmoid", ["flat"], ["levels"]),
        helper.make_node("Reshape", ["levels", "shape"], ["picture"]),
    ]
    graph = helper.make_graph(
        nodes,
        "decoder",
        [helper.make_tensor_value_info("latents", TensorProto.FLOAT, ["n", width])],
        [helper.make_tensor_value_info("picture", TensorProto.FLOAT, ["n", *shape])],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())
