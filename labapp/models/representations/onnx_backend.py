"""Decoders whose whole graph lies in the package as ONNX, computed by ONNX Runtime.

onnxruntime is imported with the first decoder, not before. A graph is given to it as bytes, weights
in other files are not looked for, and operators of other domains than ONNX's own are not
registered, so that nothing but the graph is run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from labapp.base.errors import DeviceMissing, ModelError
from labapp.models.datasets.split import Float32
from labapp.models.representations.decoders import Forward
from labapp.models.representations.importing.child import SECONDS, session_options
from labapp.models.representations.importing.convert import try_graph as try_graph
from labapp.models.representations.recipe import Architecture

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, RunOptions

Run = Callable[[Float32], Float32]

PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
_SAFE = "No model was loaded."
_FINITE = "Fix the model (a division by 0, a logarithm of 0, an overflow) and export it again."
_FRESH = "Get a fresh copy of the model package, or import the model again (labapp models import)."


def choose_device(configured: str | None) -> str:
    """The processor, unless CUDA is asked for. Raises DeviceMissing if ONNX Runtime has none."""
    if configured != "cuda":
        return "cpu"
    import onnxruntime

    if PROVIDERS["cuda"] not in onnxruntime.get_available_providers():
        raise DeviceMissing(
            "The ONNX Runtime that is installed here does not support CUDA.",
            safe=_SAFE,
            todo="Install onnxruntime-gpu instead, or leave --device out.",
        )
    return "cuda"


def build(
    architecture: Architecture,
    width: int,
    graph: bytes,
    *,
    device: str,
    threads: int,
    model: str,
    trial: Float32 | None,
) -> Forward:
    """The decoder of this graph as a function of float32 z. Raises ModelError: it does not answer,
    or takes too much memory; ONNX Runtime refuses the graph, or it does not make one instance of
    the card's shape, float32 and finite, of one z.

    threads : of the processor; 1 is right for the slider path (see `torch_backend`).
    model : its id, for messages.
    trial : z that it is tried on in a process of its own before it is opened here, shape (n,
        width); None for a graph that labapp brought with it.
    """
    if trial is not None:
        try_graph(model, graph, trial)
    session = _session(graph, device, threads, model)
    inputs, outputs = session.get_inputs(), session.get_outputs()
    if len(inputs) != 1 or len(outputs) != 1 or inputs[0].type != "tensor(float)":
        raise _make_graph_error(
            model, "it does not have exactly one input and one output, both float32"
        )
    given, wanted, batch = inputs[0].name, [outputs[0].name], inputs[0].shape[:1]
    shape = architecture.output_shape

    def run(z: Float32) -> Float32:
        return compute_output(session, wanted, {given: z}, model)

    def one_by_one(z: Float32) -> Float32:
        rows = [run(z[row : row + 1]) for row in range(len(z))]
        return np.concatenate(rows) if rows else np.empty((0, *shape), np.float32)

    forward = Forward(one_by_one if batch == [1] else run, "float32, one ONNX graph", "onnxruntime")
    try:
        first = forward(np.zeros((1, width), dtype=np.float32))
    except ModelError:
        raise
    except Exception as error:  # of onnxruntime, whose errors have no base of their own
        raise _make_graph_error(model, _one_line(error)) from error
    if first.shape != (1, *shape) or first.dtype != np.float32 or not np.isfinite(first).all():
        raise _make_graph_error(
            model,
            f"z = 0 decodes to {first.dtype} of shape {first.shape[1:]}, or to values that are not "
            f"finite; the card states {shape}",
        )
    return forward


def graph(
    content: bytes, name: str, given: tuple[int, ...], made: tuple[int, ...], *, todo: str
) -> Run:
    """A graph of one input and one output as a function of many instances: float32 (n, *given) ->
    float32 (n, *made). name: of the model, and todo: what to look at, for messages.

    Raises ModelError: ONNX Runtime refuses it, or it takes or makes another shape or
    type; and whenever it makes values that are not finite.
    """
    examples = np.random.default_rng(0).random((2, *given)).astype(np.float32)
    try_graph(name, content, np.concatenate([np.zeros((1, *given), np.float32), examples]))
    session = _session(content, "cpu", 1, name, todo)
    inputs, outputs = session.get_inputs(), session.get_outputs()
    if len(inputs) != 1 or len(outputs) != 1 or inputs[0].type != "tensor(float)":
        raise _make_graph_error(
            name, "it does not have exactly one input and one output, both float32", todo
        )
    key, wanted, alone = inputs[0].name, [outputs[0].name], inputs[0].shape[:1] == [1]
    takes = tuple(size if isinstance(size, int) else None for size in inputs[0].shape[1:])
    if inputs[0].shape and not (
        len(takes) == len(given)
        and all(size in (None, wanted) for size, wanted in zip(takes, given, strict=True))
    ):
        raise _make_graph_error(
            name, f"it takes {_format_shape(takes)}, but should take {_format_shape(given)}", todo
        )

    def run(values: Float32) -> Float32:
        parts = np.split(values, len(values)) if alone else [values]
        result: Float32 = np.concatenate(
            [compute_output(session, wanted, {key: part}, name) for part in parts]
        )
        if broken := int((~np.isfinite(result).reshape(len(result), -1).all(axis=1)).sum()):
            why = f"for {broken} of {len(result)} inputs it makes NaN or infinite numbers"
            raise _make_graph_error(name, why, _FINITE)
        return result

    try:
        trial = run(np.zeros((2, *given), np.float32))
    except ModelError:
        raise
    except Exception as error:
        raise _make_graph_error(name, _one_line(error), todo) from error
    if trial.shape != (2, *made):
        raise _make_graph_error(
            name,
            f"it makes {_format_shape(trial.shape[1:])}, but should make {_format_shape(made)}",
            todo,
        )
    if trial.dtype != np.float32:
        raise _make_graph_error(name, f"it makes {trial.dtype}, but should make float32", todo)
    return run


class _Watcher:
    """Ends what a graph computes for longer than `SECONDS`: that it answered for some inputs does
    not say that it does for all. One thread looks at all graphs, for one a run would cost more than
    a decode."""

    def __init__(self) -> None:
        self._runs: dict[int, tuple[float, RunOptions]] = {}
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(self) -> Iterator[RunOptions]:
        """The options of a run that is ended when it takes too long."""
        import onnxruntime

        if self._thread is None:
            self._thread = threading.Thread(target=self._look, name="graph-watcher", daemon=True)
            self._thread.start()
        options = onnxruntime.RunOptions()
        self._runs[id(options)] = time.monotonic() + SECONDS, options
        try:
            yield options
        finally:
            del self._runs[id(options)]

    def _look(self) -> None:
        while True:
            time.sleep(1)
            now = time.monotonic()
            for ends, options in list(self._runs.values()):
                if now > ends:
                    options.terminate = True


_WATCHER = _Watcher()


def compute_output(
    session: InferenceSession, wanted: Sequence[str] | None, feeds: dict[str, Float32], name: str
) -> Float32:
    """The first output of a graph. Raises ModelError: not in time; and what the runtime raises."""
    with _WATCHER.watching() as options:
        try:
            output: Float32 = session.run(wanted, feeds, options)[0]
        except Exception as error:
            if options.terminate:
                why = f"it was still computing after {SECONDS} seconds"
                raise _make_graph_error(
                    name, why, "Use another model, or import it again."
                ) from error
            raise
    return output


def _format_shape(shape: tuple[int | None, ...]) -> str:
    """A shape with its rows, for messages: (n, 3, 32, 32)."""
    return f"({', '.join(['n', *('any' if size is None else str(size) for size in shape)])})"


def _session(
    graph: bytes, device: str, threads: int, model: str, todo: str = _FRESH
) -> InferenceSession:
    import onnxruntime

    providers = dict.fromkeys((PROVIDERS[device], PROVIDERS["cpu"]))
    try:
        return onnxruntime.InferenceSession(
            graph, session_options(threads), providers=list(providers)
        )
    except Exception as error:
        raise _make_graph_error(model, _one_line(error), todo) from error


def _one_line(error: Exception) -> str:
    if "External data" in str(error):
        return "its weights are in another file, which labapp does not read"
    return " ".join(str(error).split())[:300]


def _make_graph_error(model: str, why: str, todo: str = _FRESH) -> ModelError:
    return ModelError(f"The graph of {model} cannot be used: {why}.", safe=_SAFE, todo=todo)
