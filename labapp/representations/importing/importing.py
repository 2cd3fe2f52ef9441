"""`labapp models import`: a decoder of somebody else as a model package, with every fault told now
and with numbers, not in a session."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from labapp import resources
from labapp.documents import Strict, parse_yaml, refusal
from labapp.errors import ModelError
from labapp.naming import reserved
from labapp.reading import arrays
from labapp.reading import files as reading
from labapp.representations import package
from labapp.representations.card import ONNX, Dial, ModelCard, Origin, slider
from labapp.representations.display import Chart
from labapp.representations.distance import named
from labapp.representations.importing import graph as graphs
from labapp.representations.recipe import ID_PATTERN
from labapp.representations.space import Continuous, LatentSpace
from labapp.representations.task import Task
from labapp.representations.timing import FRAME_BUDGET_MS
from labapp.training import files

if TYPE_CHECKING:
    from labapp.representations.display import Display

Float32 = NDArray[np.float32]
Source = Literal["onnx", "torchscript", "torch-export"]
CHECKED = 1000
"""Latents on which a decoder is tried."""
CLOSE = 1e-4
"""Most that a converted graph may differ from its file, of values of the size 1."""
BEYOND = 1e-3
"""So far values of a picture may lie outside 0 to 1, from rounding."""
TIMED = 100
FEW = 20
"""Latents that are needed at least: limits and questions are taken from them."""
AT_ONCE = 16
PAIRS = 500
TARGET, SKIP_AFTER_S = 0.9, 30.0
"""The target alignment and T of an imported model, until its study or a calibration says more."""
_SAFE = "Nothing was written."


class Dials(Strict):
    """The file of `--limits`: the dials in the order of the latents' columns."""

    dials: list[Dial] = Field(
        min_length=1, max_length=64, description="The dials, in the order of the latents' columns."
    )


@dataclass(frozen=True)
class Imported:
    """A package that was made.

    Attributes
    ----------
    folder : Path
    card : ModelCard
    notes : tuple of str
        What is to be known of it, such as how long a decode takes.
    """

    folder: Path
    card: ModelCard
    notes: tuple[str, ...]


@dataclass
class _Tried:
    """What a decoder made of the latents that it was tried on."""

    first: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    low: float = np.inf
    high: float = -np.inf
    instances: list[Float32] = field(default_factory=list)
    apart: float = 0.0


def import_decoder(
    path: Path,
    kind: Source,
    latents: Path,
    model_id: str,
    *,
    shape: tuple[int, ...] | None = None,
    distance: str | None = None,
    limits: Path | None = None,
    title: str | None = None,
    trusted: bool = False,
    out: Path | None = None,
) -> Imported:
    """Make a model package of a decoder.

    Parameters
    ----------
    path : Path
        An ONNX, TorchScript or torch.export file.
    latents : Path
        .npy, shape (n, dimensions): encodings of data that the model did not learn from, if there
        are any. Limits of dials and questions are taken from them.
    shape : tuple of int or None
        Of an instance, where the decoder makes flat rows: (points,), (rows, columns) or (rows,
        columns, 3).
    distance : str or None
        How two instances are compared; see `labapp.representations.distance`. By default the mean
        squared error. A usual one gets the scale of the model, unless the name says it.
    limits : Path or None
        YAML with `dials`, see `Dials`.
    trusted : bool
        Open a TorchScript file though it cannot be shut in.
    out : Path or None
        The folder to write; by default the user's models, where studies find the model by its id.

    Raises
    ------
    ModelError : with everything that is wrong with the decoder.
    """
    graphs.needed()
    _check_id(model_id)
    folder = resources.user_models() / model_id if out is None else out
    package.refuse_existing(folder)
    if distance is not None:
        _check_distance(distance)
    content = _content(path)
    rows = _latents(latents)
    dials = _dials(rows, latents, limits)
    space = LatentSpace.from_json([dial.model_dump() for dial in dials])
    rows, dropped = _inside(rows, space, latents)
    trial = space.encode_rows(_sample(rows)).astype(np.float32)
    operators: Mapping[str, str] = {}
    if kind == "onnx":
        model = graphs.read(path, content)
        expected = None
    else:
        from labapp.representations.importing.convert import convert

        conversion = convert(path, content, kind, trial, trusted=trusted)
        model, expected = graphs.read(path, conversion.graph), conversion.decoded
        operators = {"torch": conversion.torch}
    if (width := graphs.width(model)) not in (None, space.width):
        problem = (
            f"it takes {width} numbers a picture, and the latents in {latents} have "
            f"{len(space)} columns{_codes(space)}."
        )
        todo = "Give the latents of this decoder, or say with --limits which columns are choices."
        raise graphs.refused(path, [problem], todo)
    how = _layout(path, model, content if kind == "onnx" else conversion.graph, trial, shape)
    try:
        packed = graphs.laid_out(model, how)
    except Exception as error:
        problem = f"its layout cannot be said in its version of ONNX ({error})"
        raise graphs.refused(path, [problem], "Export it for opset 17.") from error
    runner = graphs.Runner(path, packed)
    tried = _try(path, runner, trial, how, expected)
    display: Display = {1: "series", 2: "image", 3: "colour"}[len(how.shape)]  # type: ignore[assignment]
    scaled, notes = _distance(distance or "mse", tried.instances)
    if expected is not None:
        notes.append(
            f"Its ONNX differs from {path.name} by at most {tried.apart:.1g} on {len(trial):,} "
            "latents."
        )
    notes += _idle(runner, space, rows)
    notes.append(_pace(runner, trial))
    if dropped:
        notes.append(f"{dropped} of the latents lie beyond the limits and were left out.")
    card = ModelCard(
        card=1,
        id=model_id,
        title=title or f"{model_id}, imported",
        notes=f"Imported from {path.name} on {time.strftime('%Y-%m-%d')}.",
        dataset=model_id.partition("/")[0],
        architecture=ONNX,
        display=display,
        shape=how.shape,
        chart=_chart(tried) if display == "series" else None,
        backend="onnxruntime",
        sampling="held-out",
        dimensions=list(dials),
        task=Task(
            distance=scaled,
            target_alignment=TARGET,
            skip_after_s=SKIP_AFTER_S,
            overlay_at_start=display == "series",
        ),
        origin=Origin(
            format=kind,
            files={path.name: files.digest(content), latents.name: files.digest(_content(latents))},
            package=dict(operators) or None,
        ),
    )
    package.write_package(folder, card, packed, rows)
    from labapp.representations.card import read

    return Imported(folder, read(folder), tuple(notes))


def _check_id(model_id: str) -> None:
    problem = None
    if not re.fullmatch(ID_PATTERN, model_id):
        problem = f"{model_id!r} is not the id of a model"
    elif why := reserved(model_id):
        problem = f"A model cannot be called {model_id!r}: {why}"
    if problem:
        raise ModelError(
            f"{problem}.",
            safe=_SAFE,
            todo="An id is DATASET/NAME: lower case, digits and hyphens, such as digits8/pca5.",
        )


def _check_distance(distance: str) -> None:
    try:
        named(distance)
    except ValueError as error:
        raise ModelError(
            f"{distance!r} is no distance; it is {error}.", safe=_SAFE, todo="Correct --distance."
        ) from error


def _content(path: Path) -> bytes:
    try:
        return reading.content(path, files.LARGEST)
    except OSError as error:
        why = error.strerror or error
        raise ModelError(f"{path} cannot be read: {why}.", safe=_SAFE, todo="Check it.") from error


def _latents(path: Path) -> Float32:
    """Raises ModelError with all that is wrong with them."""
    todo = "Save them with numpy.save: a row an instance, a column a dimension."
    try:
        values = arrays.npy(_content(path))
    except ValueError as error:
        raise graphs.refused(path, [f"it is no .npy file: {error}."], todo) from error
    problems = []
    if values.dtype.kind not in "fiu":
        problems.append(f"it holds {values.dtype}, not numbers.")
    elif values.ndim != 2:
        problems.append(f"its shape is {values.shape}, not (n, dimensions).")
    else:
        if len(values) < FEW:
            problems.append(f"it has {len(values)} rows; limits and questions need at least {FEW}.")
        if not 1 <= values.shape[1] <= 64:
            problems.append(f"it has {values.shape[1]} columns; there can be 1 to 64 dials.")
        broken = ~np.isfinite(values.astype(np.float64))
        if broken.any():
            columns = ", ".join(str(at + 1) for at in np.flatnonzero(broken.any(axis=0)))
            problems.append(
                f"{int(broken.any(axis=1).sum())} of its {len(values)} rows hold NaN or infinity "
                f"(in column {columns})."
            )
        elif len(values):
            still = np.flatnonzero(values.min(axis=0) == values.max(axis=0))
            problems += [
                f"column {at + 1} has one value only ({values[0, at]:g}): it is no dial."
                for at in still
            ]
    if problems:
        raise graphs.refused(path, problems, todo)
    return np.ascontiguousarray(values, np.float32)


def _dials(rows: Float32, latents: Path, limits: Path | None) -> list[Dial]:
    """Those of the file, or sliders over the range of each column, in steps of a half to a
    twentieth of a percent of it."""
    if limits is None:
        made: list[Dial] = []
        for index, column in enumerate(rows.T, start=1):
            low, high = float(column.min()), float(column.max())
            step = 10.0 ** floor(log10((high - low) / 200))
            made.append(slider(f"z{index}", low, high, step))
        return made
    located = parse_yaml(limits, _content(limits), ModelError)
    try:
        dials = Dials.model_validate(located.value).dials
    except ValidationError as error:
        raise refusal(limits, located, error, "list of dials", Dials, ModelError) from error
    if len(dials) != rows.shape[1]:
        raise ModelError(
            f"{limits} has {len(dials)} dials, and {latents} has {rows.shape[1]} columns.",
            safe=_SAFE,
            todo="Give a dial for each column, in their order.",
        )
    return dials


def _inside(rows: Float32, space: LatentSpace, path: Path) -> tuple[Float32, int]:
    """The latents within the limits, and how many are not. Raises ModelError for too few."""
    inside = np.ones(len(rows), bool)
    for column, dial in zip(rows.T, space.dimensions, strict=True):
        if isinstance(dial, Continuous):
            inside &= (column >= dial.low) & (column <= dial.high)
        else:
            inside &= np.isin(column, np.arange(dial.k))
    if inside.sum() < FEW:
        raise ModelError(
            f"Of the {len(rows)} latents in {path} only {int(inside.sum())} lie within the limits; "
            f"at least {FEW} must.",
            safe=_SAFE,
            todo="Widen the limits. A choice among k has the whole numbers from 0 to k - 1.",
        )
    return np.ascontiguousarray(rows[inside]), int((~inside).sum())


def _codes(space: LatentSpace) -> str:
    return (
        f", which are {space.width} numbers with the choices' codes"
        if (space.width != len(space))
        else ""
    )


def _sample(rows: Float32) -> Float32:
    """So many latents, the same for the same rows; each at least once where there are fewer."""
    rng = np.random.default_rng(0)
    more = rng.integers(len(rows), size=max(0, CHECKED - len(rows)))
    places = np.concatenate([rng.permutation(len(rows))[:CHECKED], more])
    return np.ascontiguousarray(rows[places])


def _layout(
    path: Path,
    model: Any,
    content: bytes,
    trial: Float32,
    shape: tuple[int, ...] | None,
) -> graphs.Layout:
    made = graphs.Runner(path, content)(trial[:1])
    if made.dtype != np.float32:
        raise graphs.refused(
            path, [f"it makes {made.dtype}, not 32-bit floating point numbers."], "Cast them."
        )
    if made.ndim < 2 or made.shape[0] != 1:
        problem = (
            f"of one row of latents it makes an array of the shape {made.shape}; "
            "the first axis must be that of the latents."
        )
        raise graphs.refused(path, [problem], "Export it so that n latents give n pictures.")
    try:
        how = graphs.layout(made.shape[1:], shape)
    except ValueError as error:
        raise graphs.refused(
            path, [f"{error}."], "Say the shape with --shape, such as 28x28 or 64x64x3."
        ) from error
    most = max(how.shape[:2])
    if len(how.shape) > 1 and most > graphs.LARGEST_SIDE:
        problem = (
            f"its pictures are {how.shape[1]} pixels wide and {how.shape[0]} high; at most "
            f"{graphs.LARGEST_SIDE} are shown."
        )
        raise graphs.refused(path, [problem], "Export a decoder of smaller pictures.")
    return how


def _try(
    path: Path,
    runner: graphs.Runner,
    trial: Float32,
    how: graphs.Layout,
    expected: Float32 | None,
) -> _Tried:
    """Decode all that it is tried on, alone and together. Raises ModelError with all faults."""
    tried = _Tried()
    broken, beyond, most, far = 0, 0, 0.0, 0
    for start in range(0, len(trial), AT_ONCE):
        made = runner(trial[start : start + AT_ONCE])
        if made.shape != (len(trial[start : start + AT_ONCE]), *how.shape):
            problem = (
                f"of {len(trial[start : start + AT_ONCE])} latents at once it makes an array of "
                f"the shape {made.shape}; each must give a picture of its own."
            )
            raise graphs.refused(path, [problem], "Export it with n left open (dynamic axes).")
        if start == 0 and not np.allclose(
            made[:1], runner(trial[:1]), rtol=0, atol=CLOSE, equal_nan=True
        ):
            problem = "a picture depends on the others that are decoded with it."
            todo = "Export it for evaluation (model.eval()), so that no batch is normalised."
            raise graphs.refused(path, [problem], todo)
        bad = ~np.isfinite(made).reshape(len(made), -1).all(axis=1)
        broken += int(bad.sum())
        fine = made[~bad]
        if fine.size:
            tried.low, tried.high = (
                min(tried.low, float(fine.min())),
                max(tried.high, float(fine.max())),
            )
            flat = fine.reshape(len(fine), -1)
            beyond += int(((flat < -BEYOND) | (flat > 1 + BEYOND)).any(axis=1).sum())
        if expected is not None:
            own = expected[start : start + AT_ONCE].reshape(-1, *how.reshape)
            own = np.moveaxis(own, 1, -1) if how.channels_first else own
            apart = np.abs(own - made).reshape(len(made), -1).max(axis=1)
            far += int((~(apart <= CLOSE * max(1.0, float(np.abs(own).max())))).sum())
            most = max(most, float(np.nanmax(apart, initial=0.0)))
        if len(tried.instances) * made[0].size < 1 << 22:
            tried.instances += list(fine)
    problems = []
    if broken:
        problems.append(f"{broken} of {len(trial)} latents give NaN or infinity.")
    if beyond and len(how.shape) > 1:
        problems.append(
            f"{beyond} of {len(trial)} pictures have values beyond 0 to 1 (from {tried.low:.3g} to "
            f"{tried.high:.3g}); 0 is drawn black and 1 white."
        )
    if far and not broken:
        problems.append(
            f"what it was converted to differs from it on {far} of {len(trial)} latents, by up to "
            f"{most:.2g}."
        )
    tried.apart = most
    if problems:
        todo = (
            "Let the decoder end with a sigmoid or torch.clamp(x, 0, 1)."
            if beyond and not broken and not far
            else "Correct the decoder, or give latents that it was made for."
        )
        raise graphs.refused(path, problems, todo)
    return tried


def _distance(name: str, instances: Sequence[Float32]) -> tuple[str, list[str]]:
    """The distance with the scale of the model, where it is a usual one without: the median of
    pairs of its pictures."""
    from labapp.representations.distance import USUAL

    if name not in USUAL:
        return name, []
    rng = np.random.default_rng(0)
    firsts, seconds = rng.integers(len(instances), size=(2, PAIRS))
    apart = [
        USUAL[name](instances[a], instances[b])
        for a, b in zip(firsts, seconds, strict=True)
        if a != b
    ]
    scale = float(np.median(apart)) if apart else 0.0
    if not scale > 0:
        return name, ["Most pictures of this decoder are equal, so that its distance has no scale."]
    note = (
        f"Alignment is 1 − {name} / {scale:.3g}: 1 of equal pictures, 0 of two that are as far "
        "apart as two of its pictures usually are."
    )
    return f"{name}/{scale:.3g}", [note]


def _idle(runner: graphs.Runner, space: LatentSpace, rows: Float32) -> list[str]:
    """Dials that change nothing, from one end to the other."""
    middle = np.median(rows, axis=0).astype(np.float32)
    idle = []
    for at, dial in enumerate(space.dimensions):
        ends = np.stack([middle, middle])
        if isinstance(dial, Continuous):
            ends[:, at] = (dial.low, dial.high)
        else:
            ends[:, at] = (0, dial.k - 1)
        first, last = runner(space.encode_rows(ends).astype(np.float32))
        if np.abs(first - last).max() < 1e-6:
            idle.append(dial.name)
    return [f"Turning {', '.join(idle)} changes nothing in the picture."] if idle else []


def _pace(runner: graphs.Runner, trial: Float32) -> str:
    times = []
    for row in trial[: TIMED + 5]:
        start = time.perf_counter()
        runner(row[None])
        times.append((time.perf_counter() - start) * 1000)
    median, slow = np.percentile(times[5:], (50, 95))
    text = f"A decode takes {median:.2f} ms here (95 %: {slow:.2f} ms), on one core."
    if slow <= FRAME_BUDGET_MS:
        return text
    return (
        f"{text} That is more than the {FRAME_BUDGET_MS:g} ms of a frame: the picture follows the "
        "hand in jerks. A smaller decoder, or smaller pictures, would be smooth."
    )


def _chart(tried: _Tried) -> Chart:
    """The limits of the y axis: those of what it makes, and a twentieth more."""
    room = (tried.high - tried.low) * 0.05 or 0.5
    return Chart(round(tried.low - room, 4), round(tried.high + room, 4))
