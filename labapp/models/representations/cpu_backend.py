"""Trained decoders on the CPU, computed by ONNX Runtime: without torch, whose import takes a second
and 200 MiB.

Batch normalisation is folded into the layer before it. The graph of what remains is
written here, in the format of ONNX (onnx.proto, version 8 of its intermediate representation); it
is a kilobyte, and the weights are handed over beside it. One z and many at once give the same bits.

A decoder as a list of linear layers, with batch normalisation folded into them.

At inference a normalisation is itself linear: with s = gamma / sqrt(variance + eps),

    gamma (W x + b - mean) / sqrt(variance + eps) + beta  =  s (W x) + s (b - mean) + beta

so that each layer of the network comes down to act(scale * W x + shift). This is algebra, not an
approximation: only the rounding of float32 differs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labapp.base.errors import ModelError
from labapp.models.datasets.split import Float32, Float64
from labapp.models.representations import onnx_backend, recipe
from labapp.models.representations.decoders import Forward
from labapp.models.representations.importing.child import session_options
from labapp.models.representations.recipe import (
    Architecture,
    Deconvolution,
    Dense,
    Normalisation,
    Parts,
    Rectifier,
    TrainedNetwork,
    Unfold,
)


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """act(scale * W x + shift).

    Attributes
    ----------
    weight : W, float32: (out, in) of a dense layer, (in, out, k, k) of a deconvolution.
    shift : (out,), float64.
    scale : (out,), float64; None stands for ones.
    slope : of the leaky ReLU behind it, 0 for a ReLU, None for no activation.
    unfold : (channels, height, width) that a dense layer's output becomes, else None.
    stride, padding : of a deconvolution.
    """

    weight: Float32
    shift: Float64
    scale: Float64 | None = None
    slope: float | None = None
    unfold: tuple[int, int, int] | None = None
    stride: int = 1
    padding: int = 0

    @property
    def dense(self) -> bool:
        return self.weight.ndim == 2

    def scaled(self) -> Float32:
        """scale * W, float32."""
        if self.scale is None:
            return self.weight
        scale = self.scale.astype(np.float32)
        return self.weight * (scale[:, None] if self.dense else scale[None, :, None, None])

    def channels_last(self) -> Layer:
        """The layer with its output in the order (height, width, channels), if it unfolds."""
        if self.unfold is None:
            return self
        order = np.arange(len(self.weight)).reshape(self.unfold).transpose(1, 2, 0).ravel()
        return replace(
            self,
            weight=self.weight[order],
            shift=self.shift[order],
            scale=None if self.scale is None else self.scale[order],
        )


def walk_layers(parts: Parts) -> Iterator[tuple[str, recipe.Layer]]:
    """The layers of all parts in the order in which they run, with their names."""
    for part, made_of in parts.items():
        for place, layer in enumerate(made_of):
            yield f"{part}.{place}", layer


def shapes(parts: Parts) -> dict[str, tuple[int, ...]]:
    """The weights and statistics that a network of these parts has, by name."""
    result: dict[str, tuple[int, ...]] = {}
    for name, layer in walk_layers(parts):
        match layer:
            case Dense(into, out, bias):
                result[f"{name}.weight"] = (out, into)
            case Deconvolution(into, out, bias, size):
                result[f"{name}.weight"] = (into, out, size, size)
            case Normalisation(out):
                vectors = ("weight", "running_mean", "running_var")
                result |= {f"{name}.{vector}": (out,) for vector in vectors}
                bias = True
            case _:
                continue
        if bias:
            result[f"{name}.bias"] = (out,)
    return result


def fold(
    network: Iterable[tuple[str, recipe.Layer]], weights: Mapping[str, Float32]
) -> list[Layer] | None:
    """The layers of a network, each with its name, in the order in which they run.

    None when one stands at a place that this folding does not know.
    """
    folded: list[Layer] = []
    for name, layer in network:
        own = {
            key.removeprefix(f"{name}."): values
            for key, values in weights.items()
            if key.rpartition(".")[0] == name
        }
        last = folded[-1] if folded else None
        match layer:
            case Dense():
                folded.append(Layer(own["weight"], _shift(own, layer.out)))
                continue
            case Deconvolution():
                weight, shift = own["weight"], _shift(own, layer.out)
                folded.append(Layer(weight, shift, stride=layer.stride, padding=layer.padding))
                continue
            case Unfold() if last is not None and last.dense:
                last = replace(last, unfold=layer.shape)
            # Behind an activation, nothing but the shape can be folded in.
            case Normalisation() if last is not None and last.slope is None:
                last = _fold_normalisation(layer, own, last)
            case Rectifier() if last is not None and last.slope is None:
                last = replace(last, slope=layer.slope)
            case _:
                return None
        folded[-1] = last
    return folded


def _shift(own: Mapping[str, Float32], out: int) -> Float64:
    return own["bias"].astype(np.float64) if "bias" in own else np.zeros(out)


def _fold_normalisation(layer: Normalisation, own: Mapping[str, Float32], last: Layer) -> Layer:
    gamma, beta, mean, variance = (
        own[name].astype(np.float64) for name in ("weight", "bias", "running_mean", "running_var")
    )
    scale = gamma / np.sqrt(variance + layer.eps)
    before = 1.0 if last.scale is None else last.scale
    return replace(last, scale=scale * before, shift=scale * (last.shift - mean) + beta)


IR_VERSION = 8
OPERATORS = 13
"""The version of ONNX's operators."""
FLOAT, INT64 = 1, 7
"""Types of tensors, in TensorProto."""
_FLOAT, _INT, _INTS = 1, 2, 7
"""Types of attributes, in AttributeProto."""
_ELSEWHERE = 1
"""The `data_location` of a tensor whose numbers are not in the graph."""


def build(
    architecture: Architecture, width: int, weights: Mapping[str, Float32], *, threads: int
) -> Forward | None:
    """The decoder of `architecture` with these weights, as a function of float32 z.

    None for a network that does not say which layers it is made of, or whose layers cannot be
    folded: torch computes it as it was trained. Raises ModelError: the weights' names or shapes are
    not the architecture's, or what comes out is not finite or not of the architecture's shape.

    Parameters
    ----------
    width : of z.
    threads : CPU threads of a decode; 1 is right for the slider path.
    """
    source = architecture.source
    if not isinstance(source, TrainedNetwork) or source.parts is None:
        return None
    parts = source.parts(width)
    check_weights(architecture, shapes(parts), weights)
    layers = fold(walk_layers(parts), weights)
    if layers is None:
        return None
    run = graph_of(layers, width, sigmoid=source.likelihood == "bernoulli", threads=threads)
    shape = architecture.output_shape

    def compute(z: Float32) -> Float32:
        return run(z).reshape(-1, *shape)

    return try_decoder(architecture, width, Forward(compute, "float32", "onnxruntime"))


def graph_of(
    layers: Sequence[Layer], width: int, *, sigmoid: bool, threads: int
) -> onnx_backend.Run:
    """Folded layers as a function of float32 z of shape (n, width)."""
    import onnxruntime

    nodes: list[bytes] = []
    tensors: dict[str, Float32] = {}
    shapes: list[bytes] = []
    last = "z"

    def add(operator: str, inputs: Sequence[str], **attributes: float | Sequence[int]) -> None:
        nonlocal last
        output = f"{operator}-{len(nodes)}"
        nodes.append(_node(operator, [last, *inputs], output, attributes))
        last = output

    for number, layer in enumerate(layers):
        names = [f"weight-{number}", f"shift-{number}"]
        tensors |= zip(names, (layer.scaled(), layer.shift.astype(np.float32)), strict=True)
        if layer.dense:
            add("Gemm", names, transB=1)
        else:
            size, padding = layer.weight.shape[-1], layer.padding
            add(
                "ConvTranspose",
                names,
                kernel_shape=[size] * 2,
                strides=[layer.stride] * 2,
                pads=[padding] * 4,
            )
        if layer.slope is not None:
            add("LeakyRelu", [], alpha=float(layer.slope))
        if layer.unfold is not None:
            shapes.append(_tensor(f"shape-{number}", np.array([0, *layer.unfold], np.int64)))
            add("Reshape", [f"shape-{number}"])
    if sigmoid:
        add("Sigmoid", [])
    chosen = session_options(threads)
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(values) for values in tensors.values()]
    chosen.add_external_initializers(list(tensors), values)
    initializers = [*shapes, *(_tensor(name, tensors[name]) for name in tensors)]
    session = onnxruntime.InferenceSession(
        _model(nodes, initializers, last, width), chosen, providers=["CPUExecutionProvider"]
    )

    def run(z: Float32) -> Float32:
        decoded: Float32 = session.run(None, {"z": z})[0]
        return decoded

    return run


def _message(fields: Sequence[tuple[int, int | float | bytes]]) -> bytes:
    """A message of protocol buffers: numbers of fields, and their values."""
    parts = []
    for number, value in fields:
        match value:
            case int():
                parts += [_varint(number << 3), _varint(value)]
            case float():
                parts += [_varint(number << 3 | 5), struct.pack("<f", value)]
            case bytes():
                parts += [_varint(number << 3 | 2), _varint(len(value)), value]
    return b"".join(parts)


def _varint(value: int) -> bytes:
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _node(
    operator: str,
    inputs: Sequence[str],
    output: str,
    attributes: Mapping[str, float | Sequence[int]],
) -> bytes:
    return _message(
        [
            *((1, name.encode()) for name in inputs),
            (2, output.encode()),
            (4, operator.encode()),
            *((5, _message(list(_attribute(*each)))) for each in attributes.items()),
        ]
    )


def _attribute(
    name: str, value: float | Sequence[int]
) -> Iterator[tuple[int, int | float | bytes]]:
    yield 1, name.encode()
    match value:
        case float():
            yield from ((2, value), (20, _FLOAT))
        case int():
            yield from ((3, value), (20, _INT))
        case _:
            yield from ((8, each) for each in value)
            yield 20, _INTS


def _tensor(name: str, values: NDArray[np.float32] | NDArray[np.int64]) -> bytes:
    """A tensor: of whole numbers with them, of weights without."""
    dims: list[tuple[int, int | float | bytes]] = [(1, size) for size in values.shape]
    if values.dtype == np.int64:
        return _message(
            [*dims, (2, INT64), (8, name.encode()), (9, values.astype("<i8").tobytes())]
        )
    place = _message([(1, b"location"), (2, name.encode())])
    return _message([*dims, (2, FLOAT), (8, name.encode()), (13, place), (14, _ELSEWHERE)])


def _model(nodes: Sequence[bytes], tensors: Sequence[bytes], output: str, width: int) -> bytes:
    def value(name: str, sizes: Sequence[tuple[int, int | float | bytes]]) -> bytes:
        shape = _message([(1, _message([size])) for size in sizes])
        kind = _message([(1, FLOAT), *([(2, shape)] if sizes else [])])
        return _message([(1, name.encode()), (2, _message([(1, kind)]))])

    graph = _message(
        [
            *((1, node) for node in nodes),
            (2, b"decoder"),
            *((5, tensor) for tensor in tensors),
            (11, value("z", [(2, b"n"), (1, width)])),
            (12, value(output, [])),
        ]
    )
    return _message([(1, IR_VERSION), (7, graph), (8, _message([(1, b""), (2, OPERATORS)]))])


def check_weights(
    architecture: Architecture,
    expected: Mapping[str, tuple[int, ...]],
    weights: Mapping[str, NDArray[np.float32]],
) -> None:
    """Raises ModelError unless the weights have the expected names and shapes."""
    shapes = {name: values.shape for name, values in weights.items()}
    if expected == shapes:
        return
    problems = [f"lacks {name!r}" for name in sorted(expected.keys() - shapes.keys())]
    problems += [f"has {name!r} besides" for name in sorted(shapes.keys() - expected.keys())]
    problems += [
        f"has {name!r} of shape {shapes[name]} instead of {expected[name]}"
        for name in sorted(expected.keys() & shapes.keys())
        if shapes[name] != expected[name]
    ]
    more = f" and {len(problems) - 4} more differences" if len(problems) > 4 else ""
    raise ModelError(
        f"The weights do not fit {architecture.name}: the file {'; '.join(problems[:4])}{more}.",
        safe="No model was loaded.",
        todo="Check that model.yaml and decoder.safetensors belong to the same package.",
    )


def try_decoder(architecture: Architecture, width: int, forward: Forward) -> Forward:
    """The decoder, after a trial. Raises ModelError if the trial fails."""
    trial = forward(np.zeros((1, width), dtype=np.float32))
    if trial.shape != (1, *architecture.output_shape) or not np.isfinite(trial).all():
        raise ModelError(
            "The weights do not form a working decoder: z = 0 decodes to shape "
            f"{trial.shape[1:]}, or to values that are not finite.",
            todo="Get a fresh copy of the model package from where it was published.",
        )
    return forward
