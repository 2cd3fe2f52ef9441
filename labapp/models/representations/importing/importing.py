"""`labapp models import`: a decoder of somebody else as a model package, with every fault told now
and with numbers, not in a session."""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.base.naming import reserved
from labapp.models.datasets.split import Float32
from labapp.models.representations import package, python_backend
from labapp.models.representations.card import (
    IMPORTED,
    ONNX,
    PYTHON,
    ImportTrial,
    ModelCard,
    Origin,
    read,
)
from labapp.models.representations.decoders import AT_ONCE
from labapp.models.representations.distance import named
from labapp.models.representations.importing import graph as graphs
from labapp.models.representations.importing import latents as rows_of
from labapp.models.representations.importing import memory, trying
from labapp.models.representations.recipe import ID_PATTERN, Task
from labapp.models.representations.space import LatentSpace
from labapp.models.training import files

if TYPE_CHECKING:
    from labapp.models.representations.space import Display

Source = Literal["onnx", "torchscript", "torch-export", "python"]
TARGET, SKIP_AFTER_S = 0.9, 30.0
"""The target alignment and T of an imported model, until its study or a calibration says more."""
TRIED = 64
"""Latents that a graph is tried on in a process of its own, before this one opens it."""
KEPT = 16
"""Pictures that are kept of a function in Python, so that another one is noticed."""
_SAFE = "Nothing was written."


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
    run: trying.Run
    how: graphs.Layout
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
    """Make a model package of a decoder.

    Parameters
    ----------
    source : an ONNX, TorchScript or torch.export file; or `package:function`, see `python_backend`.
    latents : .npy, shape (n, dimensions): encodings of data that the model did not learn from, if
        there are any. Limits of dials and questions are taken from them.
    shape : of an instance, where the decoder makes flat rows: (points,), (rows, columns) or (rows,
        columns, 3).
    distance : how two instances are compared; see `labapp.models.representations.distance`. By
        default the
        mean squared error. A usual one gets the scale of the model, unless the name says it.
    limits : YAML with `dials`, see `latents.Dials`.
    dataset : str or None
        Of which the model is, for its card; by default what stands before the stroke of its id.
    trusted : open a TorchScript file though it cannot be shut in.
    out : the folder to write; by default the user's models, where studies find the model by its id.

    Raises
    ------
    ModelError : with everything that is wrong with the decoder.
    """
    _check_id(model_id)
    folder = resources.user_models() / model_id if out is None else out
    package.refuse_existing(folder)
    if distance is not None:
        try:
            named(distance)
        except ValueError as error:
            raise ModelError(
                f"{distance!r} is no distance; it is {error}.",
                safe=_SAFE,
                todo="Correct --distance.",
            ) from error
    rows = rows_of.read(latents)
    dials = rows_of.dials(rows, latents, limits)
    space = LatentSpace.from_json([dial.model_dump() for dial in dials])
    rows, dropped = rows_of.inside(rows, space, latents)
    states = rows_of.sample(rows)
    trial = space.encode_rows(states).astype(np.float32)
    with memory.limited():
        if kind == "python":
            opened = _python(str(source), latents, space, trial, shape)
        else:
            opened = _file(Path(source), kind, latents, space, trial, shape, trusted=trusted)
        how, run = opened.how, opened.run
        tried = trying.decode(opened.name, run, states, space, how, opened.expected)
        idle = trying.idle_dials(run, space, rows)
        pace = trying.measured_pace(run, trial)
        n_pictures = max(1, min(KEPT, len(rows), AT_ONCE // int(np.prod(how.shape))))
        pictures = run(space.encode_rows(rows[:n_pictures]).astype(np.float32))
    display: Display = {1: "series", 2: "image", 3: "colour"}[len(how.shape)]  # type: ignore[assignment]
    scaled, notes = trying.scaled_distance(distance or "mse", tried.instances)
    notes = [
        *([] if opened.graph is not None else [f"It stays a function in Python: {_stays(opened)}"]),
        rows_of.limits_of(dials, latents, limits),
        *notes,
        *trying.differing(opened.name, (distance or "mse").partition("/")[0], tried.instances),
    ]
    if opened.expected is not None:
        notes.append(
            f"Its ONNX differs from {_short(opened.name)} by at most {tried.apart:.1g} on "
            f"{len(trial):,} latents."
        )
    notes += [*idle, trying.pace_words(*pace)]
    if dropped:
        notes.append(f"{dropped} of the latents lie beyond the limits and were left out.")
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
        chart=trying.chart(tried) if display == "series" else None,
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
    from labapp.models.representations.importing.convert import refuse_other_kind

    graphs.needed()
    content = rows_of.content_of(path)
    hashes = {path.name: files.digest(content)}
    if kind == "onnx":
        refuse_other_kind(path, content, kind)
        return _graph(path, content, latents, space, trial, shape, hashes)
    return _converted(path, content, kind, latents, space, trial, shape, hashes, trusted=trusted)


def _converted(
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
    from labapp.models.representations.importing.convert import convert

    conversion = convert(name, content, kind, trial, trusted=trusted)
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
            f"it takes {width} numbers a picture, and the latents in {latents} have "
            f"{len(space)} columns{rows_of.codes(space)}."
        )
        todo = "Give the latents of this decoder, or say with --limits which columns are choices."
        raise graphs.refused(name, [problem], todo)
    how = trying.layout_of(name, graphs.Runner(name, content, trial[:TRIED]), trial, shape)
    try:
        packed = graphs.laid_out(model, how)
    except Exception as error:
        problem = f"its layout cannot be said in its version of ONNX ({error})"
        raise graphs.refused(name, [problem], "Export it for opset 17.") from error
    return _Opened(name, graphs.Runner(name, packed), how, packed, None, hashes, None)


def _python(
    function: str,
    latents: Path,
    space: LatentSpace,
    trial: Float32,
    shape: tuple[int, ...] | None,
) -> _Opened:
    """A function of a package: a torch module becomes a graph, a function of latents stays one."""
    code = python_backend.locate(function)
    before = set(sys.modules)
    value = python_backend.call(code)
    hashes = {code.file: code.sha256}
    if python_backend.is_network(value):
        versions = python_backend.versions_used(code, before)
        graphs.needed()
        content = _exported(function, value, space.width)
        opened = _converted(
            function, content, "torch-export", latents, space, trial, shape, hashes, trusted=False
        )
        stated = {**code.described, **(opened.package or {})}
        return replace(opened, package=stated, versions=versions)
    run = python_backend.runner(value, function)
    run(trial[:1])  # what it loads when it is run counts
    versions = python_backend.versions_used(code, before)
    how = trying.layout_of(function, run, trial, shape)
    decode = python_backend.laid_out(run, how)
    return _Opened(function, decode, how, None, None, hashes, code.described, versions)


def _exported(function: str, network: Any, width: int) -> bytes:
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
        todo = "Check the latents; or let the function take latents and give arrays of numpy."
        raise graphs.refused(function, [problem], todo) from error
    return file.getvalue()


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
