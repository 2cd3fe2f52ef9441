"""The latents that a decoder is imported with, and the dials that are made of them.

The ONNX graph of a lab's own file that computes arrays from arrays, whatever its format.
"""

from __future__ import annotations

from math import floor, log10
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from labapp.base.documents import Strict, parse_yaml, refusal
from labapp.base.errors import ModelError
from labapp.base.reading import arrays
from labapp.base.reading import files as reading
from labapp.models.datasets.split import Float32
from labapp.models.representations import onnx_backend
from labapp.models.representations.card import Dial, slider
from labapp.models.representations.importing import graph as graphs
from labapp.models.representations.importing.graph import make_import_error
from labapp.models.representations.space import Continuous, LatentSpace
from labapp.models.training import files

CHECKED = 1000
"""Latents on which a decoder is tried."""
FEW = 20
"""Latents that are needed at least: limits and questions are taken from them."""
SHOWN = 3
"""Latents that are listed as examples."""


class Dials(Strict):
    """The file of `--limits`: the dials in the order of the latents' columns."""

    dials: list[Dial] = Field(
        min_length=1,
        max_length=64,
        description="The sliders, in the order of the latents' columns.",
    )


def content_of(path: Path) -> bytes:
    try:
        return reading.content(path, files.LARGEST)
    except OSError as error:
        why = error.strerror or error
        raise ModelError(f"{path} cannot be read: {why}.", todo="Check it.") from error


def read(path: Path) -> Float32:
    """Raises ModelError with all that is wrong with them."""
    todo = "Save them with numpy.save, with one row per instance and one column per dimension."
    try:
        values = arrays.npy(content_of(path))
    except ValueError as error:
        raise make_import_error(path, [f"it is not an .npy file: {error}."], todo) from error
    problems = []
    if values.dtype.kind not in "fiu":
        problems.append(f"it contains {values.dtype}, not numbers.")
    elif values.ndim != 2:
        problems.append(f"its shape is {values.shape}, not (n, dimensions).")
    else:
        if len(values) < FEW:
            problems.append(
                f"it has {len(values)} rows, but limits and questions need at least {FEW}."
            )
        if not 1 <= values.shape[1] <= 64:
            problems.append(
                f"it has {values.shape[1]} columns, but there can be only 1 to 64 sliders."
            )
        broken = ~np.isfinite(values.astype(np.float64))
        if broken.any():
            columns = ", ".join(str(at + 1) for at in np.flatnonzero(broken.any(axis=0)))
            problems.append(
                f"{int(broken.any(axis=1).sum())} of its {len(values)} rows contain NaN or "
                f"infinity (in column {columns})."
            )
        elif len(values):
            still = np.flatnonzero(values.min(axis=0) == values.max(axis=0))
            problems += [
                f"column {at + 1} has only one value ({values[0, at]:g}), so it cannot be a slider."
                for at in still
            ]
    if problems:
        raise make_import_error(path, problems, todo)
    return np.ascontiguousarray(values, np.float32)


def dials(rows: Float32, latents: Path, limits: Path | None) -> list[Dial]:
    """Those of the file, or sliders over each column's range, of 200 to 2,000 steps."""
    if limits is None:
        made: list[Dial] = []
        for index, column in enumerate(rows.T, start=1):
            low, high = float(column.min()), float(column.max())
            step = 10.0 ** floor(log10((high - low) / 200))
            made.append(slider(f"z{index}", low, high, step))
        return made
    located = parse_yaml(limits, content_of(limits), ModelError)
    try:
        dials = Dials.model_validate(located.value).dials
    except ValidationError as error:
        raise refusal(limits, located, error, "list of sliders", Dials, ModelError) from error
    if len(dials) != rows.shape[1]:
        raise ModelError(
            f"{limits} has {len(dials)} sliders, but {latents} has {rows.shape[1]} columns.",
            todo="Give a slider for each column, in the same order.",
        )
    return dials


def inside(rows: Float32, space: LatentSpace, path: Path) -> tuple[Float32, int]:
    """The latents within the limits, and how many are not. Raises ModelError for too few."""
    inside = np.ones(len(rows), bool)
    for column, dial in zip(rows.T, space.dimensions, strict=True):
        if isinstance(dial, Continuous):
            inside &= (column >= dial.low) & (column <= dial.high)
        else:
            inside &= np.isin(column, np.arange(dial.k))
    if inside.sum() < FEW:
        raise ModelError(
            f"Only {int(inside.sum())} of the {len(rows)} latents in {path} are within the "
            f"limits, but at least {FEW} must be.",
            todo="Widen the limits. The values of a choice among k are the whole numbers from "
            "0 to k - 1.",
        )
    return np.ascontiguousarray(rows[inside]), int((~inside).sum())


def codes(space: LatentSpace) -> str:
    return (
        f", which are {space.width} numbers with the choices' codes"
        if (space.width != len(space))
        else ""
    )


def sample(rows: Float32) -> Float32:
    """So many latents, the same for the same rows; each at least once if there are fewer."""
    rng = np.random.default_rng(0)
    more = rng.integers(len(rows), size=max(0, CHECKED - len(rows)))
    places = np.concatenate([rng.permutation(len(rows))[:CHECKED], more])
    return np.ascontiguousarray(rows[places])


def limits_of(dials: list[Dial], latents: Path, limits: Path | None) -> str:
    """Where each dial goes, and what says so, in a line."""
    ranges = ", ".join(
        f"{dial.name} {dial.low:.3g} to {dial.high:.3g}"
        if dial.type == "continuous"
        else f"{dial.name} one of {dial.k}"
        for dial in dials
    )
    return f"Sliders, as {(limits or latents).name} says: {ranges}."


def where(rows: Float32, broken: NDArray[np.bool_], space: LatentSpace) -> str:
    """Which of these dial states are broken: the dial that tells them apart best, and examples.
    rows: shape (n, dimensions); broken: shape (n,), of which one at least is."""
    ours, others = rows[broken], rows[~broken]
    low, high = ours.min(axis=0), ours.max(axis=0)
    among = ((others >= low) & (others <= high)).sum(axis=0)
    at = int(among.argmin())
    name = space.dimensions[at].name
    text = f"in all of them {name} lies from {low[at]:.3g} to {high[at]:.3g}"
    if len(others):
        text += f", as in {among[at]:,} of the {len(others):,} others"
    states = "; ".join(
        "(" + ", ".join(f"{value:.3g}" for value in row) + ")" for row in ours[:SHOWN]
    )
    return f"{text}. {'Such as' if len(ours) > SHOWN else 'They are'} {states}"


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
    todo : what to look at if it does not fit, for messages.
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
            f"{path} was not used: after conversion, its numbers differ by up to {apart:.2g}.",
            todo="Export it as ONNX, and give that.",
        )
    return conversion.graph
