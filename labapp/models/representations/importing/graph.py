"""ONNX graphs of somebody else: checked without running them; of decoders, given the layout of
pictures, and run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import ModelError
from labapp.models.datasets.split import Float32
from labapp.models.representations import onnx_backend
from labapp.models.representations.importing import memory
from labapp.models.representations.importing.child import session_options
from labapp.models.representations.importing.convert import import_onnx, try_graph

if TYPE_CHECKING:
    from onnx import ModelProto

DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml"})
"""Of operators that every ONNX runtime has."""
DRAWS = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli"}
) | {"Multinomial"}
LAYOUT = 13
"""From this version of ONNX's operators on the layout of pictures can be put behind a graph."""


def make_import_error(path: Path | str, problems: Sequence[str], todo: str) -> ModelError:
    """An error with all that is wrong with a file."""
    lines = problems[0] if len(problems) == 1 else "\n" + "\n".join(f"  {p}" for p in problems)
    return ModelError(f"{path} was not imported: {lines}", safe="Nothing was stored.", todo=todo)


def read(path: Path | str, content: bytes) -> ModelProto:
    """The graph of a decoder in a file. Raises ModelError with all faults."""
    return _check_graph(path, content, latents=True)


def check(path: Path | str, content: bytes) -> None:
    """Raises ModelError with all faults of a graph of any one input and output."""
    _check_graph(path, content, latents=False)


def _check_graph(path: Path | str, content: bytes, *, latents: bool) -> ModelProto:
    onnx = import_onnx()
    todo = (
        "Export it as one file (in torch: external_data=False) that uses only ONNX's own "
        "operators and accepts any number of rows."
    )
    try:
        model: ModelProto = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf raises kinds of its own
        raise make_import_error(
            path, ["it is not an ONNX file, or it is damaged."], todo
        ) from error
    problems = list(_problems(model, latents=latents))
    if not problems:
        try:
            onnx.checker.check_model(model, full_check=True)
        except Exception as error:  # noqa: BLE001 - of protobuf, of onnx, of its C++
            problems.append(f"ONNX's own check refuses it: {_line(error)}")
    if problems:
        raise make_import_error(path, problems, todo)
    return model


def _problems(model: ModelProto, *, latents: bool) -> list[str]:
    from onnx import TensorProto

    problems = []
    if not model.graph.node:
        return ["it is not an ONNX file, or it contains no graph."]
    tensors = list(_tensors(model))
    outside = [t.name or "a constant" for t in tensors if t.data_location == TensorProto.EXTERNAL]
    if outside:
        problems.append(
            f"{len(outside)} of its tensors are in other files ({', '.join(outside[:5])}); all "
            "must be in this one file."
        )
    nodes = list(_nodes(model))
    if foreign := sorted({f"{n.domain}::{n.op_type}" for n in nodes if n.domain not in DOMAINS}):
        problems.append(f"it uses operators that are not part of ONNX: {', '.join(foreign)}.")
    if drawing := sorted({node.op_type for node in nodes if node.op_type in DRAWS}):
        problems.append(
            f"it draws at random ({', '.join(drawing)}): the same input would give a different "
            "result each time."
        )
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    outputs = list(model.graph.output)
    if len(inputs) != 1 or len(outputs) != 1:
        names = f"{_names(inputs)} and {_names(outputs)}"
        problems.append(
            f"it has {len(inputs)} inputs and {len(outputs)} outputs ({names}), but needs "
            "exactly one of each."
        )
        return problems
    kind, shape = _read_type(inputs[0])
    if kind != TensorProto.FLOAT:
        problems.append("its input does not have 32-bit floating point numbers.")
    if latents and len(shape) != 2:
        problems.append(
            f"its input {inputs[0].name} has the shape {_format_shape(shape)}; a decoder takes "
            "latents of "
            "the shape (n, dimensions)."
        )
    elif shape and shape[0] is not None and shape[0] != 1:
        problems.append(f"it accepts exactly {shape[0]} rows at once, but n must be variable.")
    return problems


def width(model: ModelProto) -> int | None:
    """How many numbers it takes a picture; None if the graph leaves it open."""
    _, shape = _read_type(_input(model))
    return shape[1]


def _input(model: ModelProto) -> Any:
    weights = {tensor.name for tensor in model.graph.initializer}
    return next(value for value in model.graph.input if value.name not in weights)


def _read_type(value: Any) -> tuple[int, list[int | None]]:
    tensor = value.type.tensor_type
    return tensor.elem_type, [
        axis.dim_value if axis.HasField("dim_value") else None for axis in tensor.shape.dim
    ]


def _names(values: Sequence[Any]) -> str:
    return ", ".join(value.name for value in values) or "none"


def _format_shape(shape: Sequence[int | None]) -> str:
    return f"({', '.join('n' if size is None else str(size) for size in shape)})"


def _nodes(model: ModelProto) -> list[Any]:
    """Every node, those inside of others and of functions too."""
    from onnx import AttributeProto

    nodes: list[Any] = []
    waiting = [*model.graph.node, *(node for each in model.functions for node in each.node)]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        for attribute in node.attribute:
            graphs = [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs
            waiting += [inner for graph in graphs for inner in graph.node]
    return nodes


def _tensors(model: ModelProto) -> list[Any]:
    tensors = list(model.graph.initializer)
    for node in _nodes(model):
        for attribute in node.attribute:
            if attribute.HasField("t"):
                tensors.append(attribute.t)
            tensors += attribute.tensors
            if attribute.HasField("g"):
                tensors += attribute.g.initializer
    return tensors


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else f"{text[:297]}…"


class Runner:
    """A graph in onnxruntime, on one thread of the processor."""

    def __init__(self, path: Path | str, content: bytes, trial: Float32 | None = None) -> None:
        """trial: latents to try it on before, in a process of its own; None if that was done."""
        import onnxruntime

        if trial is not None:
            try_graph(path, content, trial)

        try:
            self._session = onnxruntime.InferenceSession(
                content, session_options(1), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises kinds of its own
            if memory.is_too_much(error):
                raise make_import_error(
                    path, [f"{memory.describe_shortage()}."], memory.ADVICE
                ) from error
            todo = "Export the decoder for the version of onnxruntime that is installed here."
            problem = f"onnxruntime {onnxruntime.__version__} cannot open it: {_line(error)}"
            raise make_import_error(path, [problem], todo) from error
        self._path = path
        self._name = self._session.get_inputs()[0].name

    def __call__(self, latents: Float32) -> NDArray[Any]:
        """What it makes of latents. Raises ModelError."""
        try:
            feeds = {self._name: latents}
            return np.asarray(
                onnx_backend.compute_output(self._session, None, feeds, str(self._path))
            )
        except ModelError:
            raise
        except Exception as error:
            if memory.is_too_much(error):
                raise make_import_error(
                    self._path, [f"{memory.describe_shortage()}."], memory.ADVICE
                ) from error
            todo = "Check that the latents belong to this decoder, with one column per dimension."
            problem = f"it fails on latents of the shape {latents.shape}: {_line(error)}"
            raise make_import_error(self._path, [problem], todo) from error


@dataclass(frozen=True)
class OutputLayout:
    """How the numbers that a graph makes become a picture or a series.

    Attributes
    ----------
    shape : of one instance: (points,), (rows, columns) or (rows, columns, 3).
    reshape : what each instance is reshaped to before.
    channels_first : whether colours come first there.
    """

    shape: tuple[int, ...]
    reshape: tuple[int, ...]
    channels_first: bool


def layout(made: tuple[int, ...], asked: tuple[int, ...] | None) -> OutputLayout:
    """The layout of instances of the shape `made`. Raises ValueError: it fits no picture, or not
    what was asked for. `asked`: what the user says it is: (points,), (rows, columns) or (rows,
    columns, 3)."""
    plain = made
    while len(plain) > 1 and plain[0] == 1 and not (len(plain) == 3 and plain[2] == 3):
        plain = plain[1:]
    if len(plain) == 3 and plain[2] == 1:
        plain = plain[:2]
    recognised = None
    if len(plain) in (1, 2) or (len(plain) == 3 and plain[2] == 3):
        recognised = OutputLayout(plain, plain, channels_first=False)
    elif len(plain) == 3 and plain[0] == 3:
        recognised = OutputLayout((*plain[1:], 3), plain, channels_first=True)
    if asked is not None:
        if recognised is not None and recognised.shape == asked:
            return recognised
        if math.prod(plain) == math.prod(asked) and len(plain) == 1:
            return OutputLayout(asked, asked, channels_first=False)
        raise ValueError(
            f"it makes instances of the shape {made}, which is not {'x'.join(map(str, asked))}"
        )
    if recognised is None:
        raise ValueError(
            f"it makes instances of the shape {made}, which is not a series, or "
            "a grey or colour picture"
        )
    return recognised


def append_layout(model: ModelProto, how: OutputLayout) -> bytes:
    """The graph with a picture's layout behind it, n left open, and one name for input and output.
    Raises ValueError for a graph of a version in which that cannot be said."""
    from onnx import TensorProto, helper, numpy_helper, version_converter

    version = next(each.version for each in model.opset_import if each.domain in ("", "ai.onnx"))
    if version < LAYOUT:
        model = version_converter.convert_version(model, LAYOUT)
    graph = model.graph
    made = graph.output[0].name
    taken = {name for node in graph.node for name in (*node.input, *node.output)}
    shaped, target, result = (_free(name, taken) for name in ("shaped", "shape", "picture"))
    graph.initializer.append(
        numpy_helper.from_array(np.array([-1, *how.reshape], np.int64), target)
    )
    graph.node.append(helper.make_node("Reshape", [made, target], [shaped]))
    order = [0, 2, 3, 1] if how.channels_first else list(range(1 + len(how.reshape)))
    graph.node.append(helper.make_node("Transpose", [shaped], [result], perm=order))
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info(result, TensorProto.FLOAT, ["n", *how.shape]))
    first = _input(model).type.tensor_type.shape.dim[0]
    first.ClearField("dim_value")
    first.dim_param = "n"
    del graph.value_info[:]  # with shapes of a fixed n
    return bytes(model.SerializeToString())


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
