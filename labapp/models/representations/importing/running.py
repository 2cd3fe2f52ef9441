"""The ONNX graph of a lab's own file that computes arrays from arrays, whatever its format."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from labapp.base.errors import ModelError
from labapp.models.representations import onnx_backend
from labapp.models.representations.importing import graph as graphs
from labapp.models.representations.importing.latents import content_of

Format = Literal["onnx", "torchscript", "torch-export"]

EXAMPLES = 50
CLOSE = 1e-3
"""Most that what a converted file gives may differ, of numbers of the size 1."""


def graph_of(
    path: Path,
    kind: Format,
    given: tuple[int, ...],
    made: tuple[int, ...],
    *,
    todo: str,
    trusted: bool = False,
) -> bytes:
    """The ONNX graph of a file, which was tried on random inputs. Raises ModelError: it cannot be
    read or converted, does not take or give these shapes, or what it was converted to gives other
    numbers.

    given, made : shapes of what it takes and gives, without the number of rows.
    todo : what to look at where it does not fit, for messages.
    trusted : whether a file that is a program is opened though it cannot be shut in.
    """
    content = content_of(path)
    if kind == "onnx":
        graphs.check(path, content)
        onnx_backend.graph(content, str(path), given, made, todo=todo)
        return content
    from labapp.models.representations.importing.convert import convert

    example = np.random.default_rng(0).random((EXAMPLES, *given)).astype(np.float32)
    conversion = convert(path, content, kind, example, trusted=trusted, todo=todo)
    run = onnx_backend.graph(conversion.graph, str(path), given, made, todo=todo)
    apart = float(np.abs(run(example) - conversion.decoded).max())
    if not apart <= CLOSE * max(1.0, float(np.abs(conversion.decoded).max())):
        raise ModelError(
            f"{path} is not used: what it was converted to gives numbers that differ by up to "
            f"{apart:.2g}.",
            safe="Nothing was written.",
            todo="Export it as ONNX, and give that.",
        )
    return conversion.graph
