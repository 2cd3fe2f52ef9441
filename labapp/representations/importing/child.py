"""The process that first computes a file made by somebody else, within limits of memory and time.

A TorchScript or torch.export file is converted to ONNX, and its outputs are reported. For an ONNX
graph, the process reports whether it answers at all. Messages are frames (8 bytes of length, then
as many bytes) over two pipes. A file that is a program is opened only once the process has given up
its access to files and network.

Started by `labapp.representations.importing.convert`.
"""

from __future__ import annotations

import io
import json
import os
import struct
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import IO, Any, Protocol

from labapp.representations.importing import memory

MEMORY = 4 << 30
"""Bytes that opening, converting and computing may take."""
GRAPH_MEMORY, GRAPH_COPIES = 400 << 20, 6
"""Bytes that an ONNX graph may take besides its weights, and how often it may hold these."""
SECONDS = 20
"""That it may compute until its next answer: opening and converting, then each batch."""
LENGTH = struct.Struct("<Q")
BATCH = 16
"""Latents that are computed at once."""


def send(stream: IO[bytes], content: bytes) -> None:
    stream.write(LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes], largest: int = 1 << 32) -> bytes:
    """The next frame. Raises EOFError where the other side is gone, ValueError for a longer one."""
    (length,) = LENGTH.unpack(_exactly(stream, LENGTH.size))
    if length > largest:
        raise ValueError(f"a frame of {length} bytes")
    return _exactly(stream, length)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content


_ALLOWED = """
add sub rsub mul div neg abs exp exp2 expm1 log log1p log2 sqrt rsqrt pow square reciprocal clamp
clamp_min clamp_max sign floor ceil round trunc fmod remainder floor_divide floordiv maximum
minimum where sin cos tan asin acos atan atan2 sinh cosh tanh erf sigmoid relu relu6 leaky_relu
elu selu celu gelu silu mish hardtanh hardswish hardsigmoid softplus softsign log_sigmoid softmax
log_softmax prelu threshold glu matmul mm bmm addmm baddbmm mv dot linear einsum bilinear conv1d
conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution _convolution
conv_transpose2d_input batch_norm layer_norm group_norm instance_norm native_batch_norm
native_layer_norm native_group_norm _native_batch_norm_legit_no_training normalize max_pool1d
max_pool2d avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool2d
upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d
upsample_bicubic2d __interpolate interpolate pixel_shuffle pixel_unshuffle pad constant_pad_nd
reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d reshape reshape_as view
view_as _unsafe_view flatten unflatten squeeze unsqueeze permute transpose t numpy_T movedim
swapaxes contiguous expand expand_as repeat tile cat concat stack split split_with_sizes chunk
unbind slice select narrow index_select index gather embedding flip roll size sym_size dim len
numel zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full arange linspace
tensor scalar_tensor ScalarImplicit to type_as float double half int Int Float Bool IntImplicit
FloatImplicit _to_copy item is_floating_point mean sum prod amax amin max min var std norm cumsum
argmax argmin one_hot linalg_vector_norm eq ne lt gt le ge logical_and logical_or logical_not
__and__ __or__ __not__ __is__ __isnot__ __getitem__ __contains__ append list format dropout
feature_dropout alpha_dropout detach clone copy identity lift_fresh_copy fill masked_fill
broadcast_tensors meshgrid triu tril scaled_dot_product_attention multi_head_attention_forward
"""
ALLOWED = frozenset(_ALLOWED.split())
"""Operators of `aten` that compute and do nothing else; with _ at the end where they do it in
place."""
_ALLOWED_PRIMS = """
Constant If Loop ListConstruct TupleConstruct ListUnpack TupleUnpack DictConstruct GetAttr
RaiseException Uninitialized NumToTensor dtype device layout min max unchecked_cast CallMethod
CallFunction unchecked_unwrap_optional is_cuda Print shape
"""
ALLOWED_PRIMS = frozenset(_ALLOWED_PRIMS.split())
_DRAWS = """
rand randn rand_like randn_like randint normal bernoulli multinomial uniform poisson
"""
DRAWS = frozenset(_DRAWS.split())
"""Operators that draw: with them the same dials give another picture each time."""


def not_allowed(operators: set[str]) -> list[str]:
    """Those of the operators (`aten::relu`) that are not converted."""
    refused = []
    for operator in sorted(operators):
        room, _, name = operator.partition("::")
        name = name.removesuffix("_") if not name.endswith("__") else name
        known = ALLOWED if room == "aten" else ALLOWED_PRIMS if room == "prim" else frozenset()
        if name not in known:
            refused.append(operator)
    return refused


def draws(operators: list[str]) -> bool:
    return any(operator.partition("::")[2].rstrip("_") in DRAWS for operator in operators)


class _Script:
    """A TorchScript file."""

    def __init__(self, content: bytes) -> None:
        import torch

        self._module = torch.jit.load(io.BytesIO(content), map_location="cpu").eval()  # type: ignore[no-untyped-call]

    def operators(self) -> set[str]:
        return set(_kinds(self._module.inlined_graph)) - {"prim::GetAttr"}

    def onnx(self, latents: Any) -> bytes:
        import torch

        out = io.BytesIO()
        torch.onnx.export(
            self._module,
            (latents,),
            out,  # type: ignore[arg-type]
            dynamo=False,
            input_names=["latents"],
            output_names=["decoded"],
            dynamic_axes={"latents": {0: "n"}, "decoded": {0: "n"}},
            opset_version=17,
        )
        return out.getvalue()

    def __call__(self, latents: Any) -> Any:
        return self._module(latents)


def _kinds(graph: Any) -> Iterator[str]:
    for node in graph.nodes():
        yield node.kind()
        for block in node.blocks():
            yield from _kinds(block)


class _Exported:
    """A file of `torch.export`."""

    def __init__(self, content: bytes) -> None:
        import torch

        self._program = torch.export.load(io.BytesIO(content))

    def operators(self) -> set[str]:
        names = set()
        for module in self._program.graph_module.modules():
            graph = getattr(module, "graph", None)
            for node in () if graph is None else graph.nodes:
                if node.op == "call_function":
                    names.add(_operator(node.target))
        return names - {"python::getitem"}

    def onnx(self, latents: Any) -> bytes:
        import torch

        program = torch.onnx.export(
            self._program,
            (latents,),
            dynamo=True,
            verbose=False,
            input_names=["latents"],
            output_names=["decoded"],
        )
        assert program is not None
        return bytes(program.model_proto.SerializeToString())

    def __call__(self, latents: Any) -> Any:
        return self._program.module()(latents)


def _operator(target: Any) -> str:
    schema = getattr(target, "_schema", None)
    return schema.name if schema is not None else f"python::{getattr(target, '__name__', target)}"


class _Opened(Protocol):
    def operators(self) -> set[str]: ...
    def onnx(self, latents: Any) -> bytes: ...
    def __call__(self, latents: Any) -> Any: ...


FORMATS: dict[str, Callable[[bytes], _Opened]] = {"torchscript": _Script, "torch-export": _Exported}


def _warm_up(kind: str) -> None:
    """Load by one conversion all that another will need: from inside nothing can be loaded."""
    import torch

    class Line(torch.nn.Module):
        def forward(self, z: Any) -> Any:
            return (z * 2.0).sigmoid().reshape(-1, 1, 1)

    example, file = torch.zeros(2, 1), io.BytesIO()
    if kind == "torchscript":
        torch.jit.save(torch.jit.trace(Line(), example), file)  # type: ignore[no-untyped-call]
    else:
        axis = torch.export.Dim("n")
        torch.export.save(
            torch.export.export(Line(), (example,), dynamic_shapes=({0: axis},)), file
        )
    opened = FORMATS[kind](file.getvalue())
    opened.operators()
    opened.onnx(example)
    opened(example)


def serve(incoming: IO[bytes], outgoing: IO[bytes]) -> None:
    """Serve one file of the kind that is asked for."""
    asked = json.loads(receive(incoming))
    if asked["format"] == "onnx":
        _serve_graph(asked, incoming, outgoing)
    else:
        _serve_program(asked, incoming, outgoing)


def _serve_graph(asked: dict[str, Any], incoming: IO[bytes], outgoing: IO[bytes]) -> None:
    """One ONNX graph: computes each row that it is given, and all of them together. What else is
    wrong with it than that it takes too much is found again, and told, by who asked."""
    import numpy as np
    import onnxruntime

    from labapp.representations.onnx_backend import options

    if sys.platform == "linux":
        memory.limit(asked["memory"])
    send(outgoing, json.dumps({"ready": True}).encode())
    content, rows = receive(incoming), receive(incoming)
    answer: dict[str, str] = {}
    memory.limit_seconds(asked["seconds"])
    try:
        session = onnxruntime.InferenceSession(
            content, options(1), providers=["CPUExecutionProvider"]
        )
        given = session.get_inputs()[0]
        latents = np.load(io.BytesIO(rows), allow_pickle=False)
        parts = [latents[at : at + 1] for at in range(len(latents))]
        for part in parts if given.shape[:1] == [1] else [*parts, latents]:
            session.run(None, {given.name: part})
            memory.limit_seconds(asked["seconds"])
            send(outgoing, json.dumps({"more": True}).encode())
    except Exception as error:  # noqa: BLE001 - onnxruntime raises kinds of its own
        if memory.is_too_much(error):
            answer["refused"] = "memory"
    send(outgoing, json.dumps(answer).encode())


def _serve_program(asked: dict[str, Any], incoming: IO[bytes], outgoing: IO[bytes]) -> None:
    """One file: told what it is, then its content, then the latents; answers with what was found,
    the graph, and the pictures of each batch of latents."""
    import numpy as np
    import torch

    def answer(**fields: Any) -> None:
        send(outgoing, json.dumps(fields).encode())

    torch.set_num_threads(1)
    _warm_up(asked["format"])
    if not asked["trusted"]:
        from labapp.representations.importing import sandbox

        try:
            sandbox.shut_in(memory=asked["memory"])
        except sandbox.NoSandboxError as error:
            answer(refused="sandbox", why=str(error))
            return
    elif sys.platform == "linux":
        memory.limit(asked["memory"])
    answer(ready=True)
    content = receive(incoming)
    latents = torch.from_numpy(np.load(io.BytesIO(receive(incoming)), allow_pickle=False))
    memory.limit_seconds(asked["seconds"])
    try:
        opened = FORMATS[asked["format"]](content)
    except Exception as error:  # noqa: BLE001 - of a file of any kind
        answer(refused=memory.fault(error, "open"), why=_short(error, whole=True))
        return
    operators = opened.operators()
    if refused := not_allowed(operators):
        answer(refused="operators", operators=refused, draws=draws(refused))
        return
    try:
        with torch.no_grad():
            graph = opened.onnx(latents[:2])
    except Exception as error:  # noqa: BLE001 - of a file of any kind
        step, why = "convert", error
        try:  # does it itself fail on what it is given?
            with torch.no_grad():
                opened(latents[:2])
        except Exception as fault:  # noqa: BLE001 - of a file of any kind
            step, why = "run", fault
        answer(refused=memory.fault(why, step), why=_short(why))
        return
    answer(operators=sorted(operators), torch=torch.__version__)
    send(outgoing, graph)
    with torch.no_grad():
        for start in range(0, len(latents), BATCH):
            try:
                decoded = opened(latents[start : start + BATCH])
                made = decoded.detach().to(torch.float32).contiguous().numpy()
            except Exception as error:  # noqa: BLE001 - of a file of any kind
                answer(refused=memory.fault(error, "run"), why=_short(error))
                return
            memory.limit_seconds(asked["seconds"])
            file = io.BytesIO()
            np.save(file, made, allow_pickle=False)
            answer(batch=start)
            send(outgoing, file.getvalue())


def _short(error: BaseException, *, whole: bool = False) -> str:
    """What is wrong, unless `whole` without TorchScript's own traceback before it."""
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    if not whole and any("Traceback of TorchScript" in line for line in lines):
        lines = lines[-1:]
    text = " ".join(" ".join(lines).split())
    return text if len(text) <= 400 else f"{text[:397]}…"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    # What torch prints must not come between the frames.
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, frames)
