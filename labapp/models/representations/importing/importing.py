"""`labapp models import`: a decoder of somebody else as a model package, with every fault told now
and with numbers, not in a session.

What a decoder makes of latents, tried before anything is written: shapes, faults and numbers.
"""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.base.naming import find_name_problem
from labapp.models.datasets.split import Float32
from labapp.models.representations import package, python_backend
from labapp.models.representations.card import (
    IMPORTED,
    LARGEST_SIDE,
    ONNX,
    PYTHON,
    ImportTrial,
    ModelCard,
    Origin,
    read,
)
from labapp.models.representations.decoders import AT_ONCE
from labapp.models.representations.distance import USUAL, get_distance
from labapp.models.representations.effects import FRAME_BUDGET_MS
from labapp.models.representations.importing import convert, memory
from labapp.models.representations.importing import graph as graphs
from labapp.models.representations.importing import latents as rows_of
from labapp.models.representations.importing.graph import OutputLayout, layout, make_import_error
from labapp.models.representations.recipe import ID_PATTERN, Task
from labapp.models.representations.space import Chart, Continuous, Display, LatentSpace
from labapp.models.training import files

Run = Callable[[Float32], NDArray[Any]]
"""Latents, float32 (n, width) -> what a decoder makes of them."""
CLOSE = 1e-4
"""Most that a converted graph may differ from its file, of values of the size 1."""
BEYOND = 1e-3
"""So far values of a picture may lie outside 0 to 1, from rounding."""
TIMED = 100
TRIED_AT_ONCE = 16
PAIRS = 500
LEVEL = 1 / 255
"""The least difference of a pixel that a screen shows."""
ALIKE = 0.1
"""Pictures whose pixels differ less than this are told apart by few people."""


@dataclass
class Tried:
    """What a decoder made of the latents that it was tried on.

    Attributes
    ----------
    low, high : the least and the greatest value.
    instances : list of ndarray
        The first of them.
    apart : how far a converted graph is from its file at most.
    """

    low: float = np.inf
    high: float = -np.inf
    instances: list[Float32] = field(default_factory=list)
    apart: float = 0.0


def layout_of(
    name: Path | str, run: Run, trial: Float32, shape: tuple[int, ...] | None
) -> OutputLayout:
    """How what it makes of one row becomes a picture. Raises ModelError."""
    made = run(trial[:1])
    if made.dtype != np.float32:
        raise make_import_error(
            name, [f"it makes {made.dtype}, not 32-bit floating point numbers."], "Cast them."
        )
    if made.ndim < 2 or made.shape[0] != 1:
        problem = (
            f"from one row of latents it makes an array of the shape {made.shape}; the first "
            "axis must be that of the latents."
        )
        raise make_import_error(name, [problem], "Export it so that n latents give n pictures.")
    try:
        how = layout(made.shape[1:], shape)
    except ValueError as error:
        raise make_import_error(
            name, [f"{error}."], "Give the shape with --shape, such as 28x28 or 64x64x3."
        ) from error
    if len(how.shape) > 1 and max(how.shape[:2]) > LARGEST_SIDE:
        problem = (
            f"its pictures are {how.shape[1]} pixels wide and {how.shape[0]} high, but at most "
            f"{LARGEST_SIDE} can be shown."
        )
        raise make_import_error(name, [problem], "Export a decoder with smaller pictures.")
    return how


def decode(
    name: Path | str,
    run: Run,
    rows: Float32,
    space: LatentSpace,
    how: OutputLayout,
    expected: Float32 | None,
) -> Tried:
    """Decode all dial states that it is tried on, alone and together. Raises ModelError: with all
    faults.

    Parameters
    ----------
    rows : shape (n, dimensions).
    expected : what the file itself made of them, where it was converted.
    """
    tried = Tried()
    trial = space.encode_rows(rows).astype(np.float32)
    broken = np.zeros(len(trial), bool)
    beyond, far = 0, 0
    for start in range(0, len(trial), TRIED_AT_ONCE):
        part = trial[start : start + TRIED_AT_ONCE]
        made = run(part)
        if made.shape != (len(part), *how.shape):
            problem = (
                f"from {len(part)} latents at once it makes an array of the shape {made.shape}, "
                "but each must give its own picture."
            )
            raise make_import_error(name, [problem], "Export it with n left open (dynamic axes).")
        if start == 0:
            _same_again(name, run, trial, made)
        bad = ~np.isfinite(made).reshape(len(made), -1).all(axis=1)
        broken[start : start + TRIED_AT_ONCE] = bad
        fine = made[~bad]
        if fine.size:
            tried.low = min(tried.low, float(fine.min()))
            tried.high = max(tried.high, float(fine.max()))
            flat = fine.reshape(len(fine), -1)
            beyond += int(((flat < -BEYOND) | (flat > 1 + BEYOND)).any(axis=1).sum())
        if expected is not None:
            own = expected[start : start + TRIED_AT_ONCE].reshape(-1, *how.reshape)
            own = np.moveaxis(own, 1, -1) if how.channels_first else own
            apart = np.abs(own - made).reshape(len(made), -1).max(axis=1)
            far += int((~(apart <= CLOSE * max(1.0, float(np.abs(own).max())))).sum())
            tried.apart = max(tried.apart, float(np.nanmax(apart, initial=0.0)))
        if len(tried.instances) * made[0].size < 1 << 22:
            tried.instances += list(fine)
    problems = []
    if broken.any():
        problems.append(
            f"{int(broken.sum())} of {len(trial)} latents give NaN or infinity; "
            f"{rows_of.where(rows, broken, space)}."
        )
    if beyond and len(how.shape) > 1:
        problems.append(
            f"{beyond} of {len(trial)} pictures have values beyond 0 to 1 (from {tried.low:.3g} to "
            f"{tried.high:.3g}); 0 is drawn black and 1 white."
        )
    if far and not broken.any():
        problems.append(
            f"the converted decoder differs from the original on {far} of {len(trial)} latents, "
            f"by up to {tried.apart:.2g}."
        )
    if problems:
        todo = (
            "End the decoder with a sigmoid, torch.clamp(x, 0, 1) or numpy.clip(x, 0, 1)."
            if beyond and not broken.any() and not far
            else "Correct the decoder, or give the latents or --limits for which it was made."
        )
        raise make_import_error(name, problems, todo)
    return tried


def _same_again(name: Path | str, run: Run, trial: Float32, made: NDArray[Any]) -> None:
    """Raises ModelError if the first picture is another one alone, or another one each time."""
    alone, again = run(trial[:1]), run(trial[:1])
    if not np.allclose(alone, again, rtol=0, atol=CLOSE, equal_nan=True):
        problem = "the same latents give a different picture each time, so it draws at random."
        raise make_import_error(
            name,
            [problem],
            "Remove everything that draws random numbers, such as dropout or sampling.",
        )
    if not np.allclose(made[:1], alone, rtol=0, atol=CLOSE, equal_nan=True):
        problem = "a picture depends on the others that are decoded at the same time."
        todo = "Export it in evaluation mode (model.eval()), so that batches are not normalised."
        raise make_import_error(name, [problem], todo)


def differing(name: Path | str, distance: str, instances: Sequence[Float32]) -> list[str]:
    """How different the pictures are, as remarks, by the distance that is used. Raises ModelError
    if nobody could see a difference."""
    pairs = _pairs(instances)
    steps = [float(np.abs(instances[a] - instances[b]).max()) for a, b in pairs]
    greatest = max(steps, default=0.0)
    is_picture = instances[0].ndim > 1
    if greatest < (LEVEL if is_picture else 1e-6):
        least = f"a screen shows steps of {LEVEL:.2g}" if is_picture else "that is rounding"
        problem = (
            f"its pictures are all the same: in {len(pairs)} pairs of them, no value differs by "
            f"more than {greatest:.2g}, and {least}."
        )
        todo = (
            "Check that the latents belong to this decoder, and that it was trained: a VAE "
            "whose latents carry no information produces the same picture for all of them."
        )
        raise make_import_error(name, [problem], todo)
    measure = get_distance(distance)
    apart = [measure(instances[a], instances[b]) for a, b in pairs]
    middle = float(np.median(steps))
    remark = (
        f"Two of its pictures differ by {float(np.median(apart)):.3g} in {distance} (median of "
        f"{len(pairs)} pairs), and by {middle:.3g} in the pixel or point that differs most."
    )
    notes = [remark]
    if is_picture and middle < ALIKE:
        notes.append(
            "Warning: this is a small difference. People will hardly see what its sliders do "
            f"if pixels differ by less than {ALIKE:g} (on a scale from 0 to 1)."
        )
    return notes


def scale_distance(name: str, instances: Sequence[Float32]) -> tuple[str, list[str]]:
    """A usual distance without a scale gets the model's: the median of pairs of its pictures."""
    if name not in USUAL:
        return name, []
    apart = [USUAL[name](instances[a], instances[b]) for a, b in _pairs(instances)]
    scale = float(np.median(apart)) if apart else 0.0
    if not scale > 0:
        return name, [
            (
                "Most pictures of this decoder are identical, so no scale can be "
                "computed for its distance."
            )
        ]
    note = (
        f"Alignment is 1 − {name} / {scale:.3g}: 1 for equal pictures, 0 for two that are as far "
        "apart as two of its pictures usually are."
    )
    return f"{name}/{scale:.3g}", [note]


def _pairs(instances: Sequence[Float32]) -> list[tuple[int, int]]:
    rng = np.random.default_rng(0)
    firsts, seconds = rng.integers(len(instances), size=(2, PAIRS)).tolist()
    return [(a, b) for a, b in zip(firsts, seconds, strict=True) if a != b]


def idle_dials(run: Run, space: LatentSpace, rows: Float32) -> list[str]:
    """Dials that change nothing, from one end to the other."""
    middle = np.median(rows, axis=0).astype(np.float32)
    names = []
    for at, dial in enumerate(space.dimensions):
        ends = np.stack([middle, middle])
        if isinstance(dial, Continuous):
            ends[:, at] = (dial.low, dial.high)
        else:
            ends[:, at] = (0, dial.k - 1)
        first, last = run(space.encode_rows(ends).astype(np.float32))
        if np.abs(first - last).max() < 1e-6:
            names.append(dial.name)
    return [f"Moving {', '.join(names)} changes nothing in the picture."] if names else []


def measure_pace(run: Run, trial: Float32) -> tuple[float, float]:
    """How long single decodes take: median and 95th percentile, in milliseconds."""
    times = []
    for row in trial[: TIMED + 5]:
        start = time.perf_counter()
        run(row[None])
        times.append((time.perf_counter() - start) * 1000)
    median, slow = np.percentile(times[5:], (50, 95))
    return float(median), float(slow)


def pace_words(median: float, slow: float) -> str:
    """The same in words, beside the time of a frame."""
    text = f"Decoding a picture takes {median:.2f} ms here (95 %: {slow:.2f} ms) on one core."
    if slow <= FRAME_BUDGET_MS:
        return text
    return (
        f"{text} That is more than the {FRAME_BUDGET_MS:g} ms of a frame, so pictures will move "
        "in jerks. With a smaller decoder or smaller pictures, they would move smoothly."
    )


def chart(tried: Tried) -> Chart:
    """The limits of the y axis: those of what it makes, and a twentieth more."""
    room = (tried.high - tried.low) * 0.05 or 0.5
    return Chart(round(tried.low - room, 4), round(tried.high + room, 4))


Source = Literal["onnx", "torchscript", "torch-export", "python"]
TARGET, SKIP_AFTER_S = 0.9, 30.0
"""The target alignment and T of an imported model, until its study or a calibration says more."""
TRIED = 64
"""Latents that a graph is tried on in a process of its own, before this one opens it."""
KEPT = 16
"""Pictures that are kept of a function in Python, so that another one is noticed."""


@dataclass(frozen=True)
class Imported:
    """A package that was made. `notes`: what is to be known of it, such as its pace."""

    folder: Path
    card: ModelCard
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Opened:
    """A decoder that can be run.

    Attributes
    ----------
    name : for messages.
    run : latents -> instances of the layout's shape.
    how : Layout
    graph : ONNX; none of a function in Python.
    expected : ndarray or None
        What a converted file made itself of the latents that it is tried on.
    files : name -> SHA-256.
    package, versions : see `Origin`.
    """

    name: Path | str
    run: Run
    how: graphs.OutputLayout
    graph: bytes | None
    expected: Float32 | None
    files: dict[str, str]
    package: Mapping[str, str] | None
    versions: Mapping[str, str] | None = None


def import_decoder(
    source: Path | str,
    kind: Source,
    latents: Path,
    model_id: str,
    *,
    shape: tuple[int, ...] | None = None,
    distance: str | None = None,
    limits: Path | None = None,
    title: str | None = None,
    dataset: str | None = None,
    trusted: bool = False,
    out: Path | None = None,
) -> Imported:
    """Make a model package of a decoder. Raises ModelError: with everything that is wrong with the
    decoder.

    Parameters
    ----------
    source : an ONNX, TorchScript or torch.export file; or `package:function`, see `python_backend`.
    latents : .npy, shape (n, dimensions): encodings of data that the model did not learn from, if
        there are any. Limits of dials and questions are taken from them.
    shape : of an instance, if the decoder makes flat rows: (points,), (rows, columns) or (rows,
        columns, 3).
    distance : how two instances are compared; see `labapp.models.representations.distance`. By
        default the
        mean squared error. A usual one gets the scale of the model, unless the name says it.
    limits : YAML with `dials`, see `latents.Dials`.
    dataset : str or None
        Of which the model is, for its card; by default what stands before the stroke of its id.
    trusted : open a TorchScript file though it cannot be shut in.
    out : the folder to write; by default the user's models, where studies find the model by its id.
    """
    _check_id(model_id)
    folder = resources.user_models() / model_id if out is None else out
    package.refuse_existing(folder)
    if distance is not None:
        try:
            get_distance(distance)
        except ValueError as error:
            raise ModelError(
                f"{distance!r} is not a distance. It must be {error}.", todo="Correct --distance."
            ) from error
    rows = rows_of.read(latents)
    dials = rows_of.dials(rows, latents, limits)
    space = LatentSpace.from_json([dial.model_dump() for dial in dials])
    rows, dropped = rows_of.inside(rows, space, latents)
    states = rows_of.sample(rows)
    trial = space.encode_rows(states).astype(np.float32)
    with memory.limit_memory():
        if kind == "python":
            opened = _python(str(source), latents, space, trial, shape)
        else:
            opened = _file(Path(source), kind, latents, space, trial, shape, trusted=trusted)
        how, run = opened.how, opened.run
        tried = decode(opened.name, run, states, space, how, opened.expected)
        idle = idle_dials(run, space, rows)
        pace = measure_pace(run, trial)
        n_pictures = max(1, min(KEPT, len(rows), AT_ONCE // int(np.prod(how.shape))))
        pictures = run(space.encode_rows(rows[:n_pictures]).astype(np.float32))
    display: Display = {1: "series", 2: "image", 3: "colour"}[len(how.shape)]  # type: ignore[assignment]
    scaled, notes = scale_distance(distance or "mse", tried.instances)
    notes = [
        *([] if opened.graph is not None else [f"It stays a function in Python: {_stays(opened)}"]),
        rows_of.limits_of(dials, latents, limits),
        *notes,
        *differing(opened.name, (distance or "mse").partition("/")[0], tried.instances),
    ]
    if opened.expected is not None:
        notes.append(
            f"Its ONNX differs from {_short(opened.name)} by at most {tried.apart:.1g} on "
            f"{len(trial):,} latents."
        )
    notes += [*idle, pace_words(*pace)]
    if dropped:
        notes.append(f"{dropped} of the latents are outside the limits and were left out.")
    trial_of_import = ImportTrial(
        latents=len(trial),
        largest_difference=None if opened.expected is None else float(tried.apart),
        decode_ms_median=round(pace[0], 3),
        decode_ms_95=round(pace[1], 3),
        remarks=notes,
    )
    architecture = PYTHON if opened.graph is None else ONNX
    card = ModelCard(
        card=1,
        id=model_id,
        title=title or f"{model_id}, imported",
        notes=f"Imported from {_short(opened.name)} on {time.strftime('%Y-%m-%d')}.",
        dataset=dataset or model_id.partition("/")[0],
        architecture=architecture,
        display=display,
        shape=how.shape,
        chart=chart(tried) if display == "series" else None,
        backend=IMPORTED[architecture],  # type: ignore[arg-type]
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
            files={**opened.files, latents.name: files.digest(rows_of.content_of(latents))},
            package=dict(opened.package or {}) or None,
            versions=dict(opened.versions or {}) or None,
            limits=(limits or latents).name,
            tried=trial_of_import,
        ),
    )
    package.write_package(
        folder, card, opened.graph, rows, pictures=None if opened.graph is not None else pictures
    )
    return Imported(folder, read(folder), tuple(notes))


def _short(name: Path | str) -> str:
    return name.name if isinstance(name, Path) else name


def _stays(opened: _Opened) -> str:
    stated = opened.package or {}
    return (
        f"{stated.get('package')}, version {stated.get('version')}, must be installed wherever a "
        "study uses it, with the same files."
    )


def _file(
    path: Path,
    kind: Source,
    latents: Path,
    space: LatentSpace,
    trial: Float32,
    shape: tuple[int, ...] | None,
    *,
    trusted: bool,
) -> _Opened:
    convert.import_onnx(torch=kind != "onnx")
    content = rows_of.content_of(path)
    hashes = {path.name: files.digest(content)}
    if kind == "onnx":
        convert.refuse_other_kind(path, content, kind)
        return _graph(path, content, latents, space, trial, shape, hashes)
    return _convert_model(
        path, content, kind, latents, space, trial, shape, hashes, trusted=trusted
    )


def _convert_model(
    name: Path | str,
    content: bytes,
    kind: Any,
    latents: Path,
    space: LatentSpace,
    trial: Float32,
    shape: tuple[int, ...] | None,
    hashes: dict[str, str],
    *,
    trusted: bool,
) -> _Opened:
    conversion = convert.convert(name, content, kind, trial, trusted=trusted)
    opened = _graph(name, conversion.graph, latents, space, trial, shape, hashes)
    return replace(opened, expected=conversion.decoded, package={"torch": conversion.torch})


def _graph(
    name: Path | str,
    content: bytes,
    latents: Path,
    space: LatentSpace,
    trial: Float32,
    shape: tuple[int, ...] | None,
    hashes: dict[str, str],
) -> _Opened:
    model = graphs.read(name, content)
    if (width := graphs.width(model)) not in (None, space.width):
        problem = (
            f"it takes {width} numbers per picture, but the latents in {latents} have "
            f"{len(space)} columns{rows_of.codes(space)}."
        )
        todo = (
            "Give the latents of this decoder, or use --limits to state which columns are choices."
        )
        raise graphs.make_import_error(name, [problem], todo)
    how = layout_of(name, graphs.Runner(name, content, trial[:TRIED]), trial, shape)
    try:
        packed = graphs.append_layout(model, how)
    except Exception as error:
        problem = f"its layout cannot be expressed in its version of ONNX ({error})"
        raise graphs.make_import_error(name, [problem], "Export it for opset 17.") from error
    return _Opened(name, graphs.Runner(name, packed), how, packed, None, hashes, None)


def _python(
    function: str, latents: Path, space: LatentSpace, trial: Float32, shape: tuple[int, ...] | None
) -> _Opened:
    """A function of a package: a torch module becomes a graph, a function of latents stays one."""
    code = python_backend.locate(function)
    before = set(sys.modules)
    value = python_backend.call(code)
    hashes = {code.file: code.sha256}
    if python_backend.is_network(value):
        versions = python_backend.versions_used(code, before)
        convert.import_onnx()
        content = _export_module(function, value, space.width)
        opened = _convert_model(
            function, content, "torch-export", latents, space, trial, shape, hashes, trusted=False
        )
        stated = {**code.described, **(opened.package or {})}
        return replace(opened, package=stated, versions=versions)
    run = python_backend.runner(value, function)
    run(trial[:1])  # what it loads when it is run counts
    versions = python_backend.versions_used(code, before)
    how = layout_of(function, run, trial, shape)
    decode = python_backend.apply_layout(run, how)
    return _Opened(function, decode, how, None, None, hashes, code.described, versions)


def _export_module(function: str, network: Any, width: int) -> bytes:
    """A torch module as a file of torch.export. Raises ModelError."""
    import warnings

    import torch

    file = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.export(
                network.cpu().float().eval(),
                (torch.zeros(2, width),),
                dynamic_shapes=({0: torch.export.Dim("n")},),
            )
            torch.export.save(program, file)
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        problem = f"torch cannot export it for rows of {width} latents: {text}"
        todo = (
            "Check the latents, or write the function so that it takes latents and returns "
            "numpy arrays."
        )
        raise graphs.make_import_error(function, [problem], todo) from error
    return file.getvalue()


def _check_id(model_id: str) -> None:
    problem = None
    if not re.fullmatch(ID_PATTERN, model_id):
        problem = f"{model_id!r} is not the id of a model"
    elif why := find_name_problem(model_id):
        problem = f"A model cannot be called {model_id!r}: {why}"
    if problem:
        raise ModelError(
            f"{problem}.",
            todo="An id has the form DATASET/NAME, with lower-case letters, digits and "
            "hyphens, such as digits8/pca5.",
        )
