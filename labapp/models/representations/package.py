"""Model packages: folders `<dataset>/<name>/` with a model card, weights and a latent sample.

    model.yaml            the card: what the model is, how it was made, hashes of the other files
    decoder.safetensors   the weights; none for a closed form
    decoder.onnx          in their place the whole graph, of an imported model
    latents.npz           `latents`: encodings of the held-out split, row for row; `percentiles`;
                          `spread`: standard deviations of the posteriors, if there are any

torch is imported with the first trained decoder, not before: importing this module, listing
packages and loading a closed form do without it.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from labapp.base import leftovers, resources
from labapp.base.errors import DeviceMissing, ModelError, ModelNotFound
from labapp.base.installation import install_command, pip_command
from labapp.models.datasets.split import Float32
from labapp.models.representations import card as cards
from labapp.models.representations import cpu_backend, onnx_backend, python_backend, recipe
from labapp.models.representations.card import ModelCard
from labapp.models.representations.decoders import PERCENTILES, LoadedDecoder, percentiles_of
from labapp.models.representations.recipe import (
    ID_PATTERN,
    ClosedForm,
    InTasks,
    OnnxGraph,
    PythonFunction,
    in_tasks,
)
from labapp.models.representations.space import Continuous
from labapp.models.training import files

TRIED = 32
"""Latents that a graph of somebody else is tried on before it is opened."""
PRIOR_SAMPLE = 5_000
PRIOR_SEED = 0
"""Size and seed of the sample in `LoadedDecoder.latents` of a model whose states are drawn from a
prior."""
KINDS = {
    cards.CARD: "a decoder with sliders",
    "classifier.yaml": "a classifier (without sliders)",
    "concepts.yaml": "a concept model (without sliders)",
}
"""Kinds of packages in words, by the name of the card's file."""
MAKING = {
    cards.CARD: "Import one (labapp models import, or import-tfjs for a published one) or "
    "train one (labapp models train)",
    "classifier.yaml": "Train one (labapp models train)",
    "concepts.yaml": "Import one (labapp concepts import) or train one (labapp concepts train)",
}
"""How one comes to be there, by the same."""
MANY = 12
"""Ids that a message lists at most."""
_SAFE = "No model was loaded."


def find(reference: str | Path, root: Path | None = None, *, card: str = cards.CARD) -> Path:
    """The folder of a package. Raises ModelError: no such package, an id that leads out of its root
    by a link, or one that names two packages: which one a study means must not depend on an order
    of folders.

    reference : an id `<dataset>/<name>`, or a folder. A relative path with `..` in it is refused
        when it comes as text (it may stand in a study file); give a Path or the full path.
    root : where ids are looked up; by default the shipped models and the user's.
    card : name of the card's file; classifiers have one of their own.
    """
    text = str(reference)
    if isinstance(reference, str) and re.fullmatch(ID_PATTERN, text):
        matches = places(text, root, card=card)
        if len(matches) > 1:
            raise ModelError(
                f"The id {text!r} names two models: {' and '.join(map(str, matches))}.",
                safe=f"{_SAFE} Both are unchanged.",
                todo="Move one of the two out of its models folder, or create it again under "
                "another id.",
            )
        if matches:
            return matches[0]
    folder = Path(reference)
    if isinstance(reference, str) and not folder.is_absolute() and ".." in folder.parts:
        raise ModelError(
            f"{text!r} is not the id of a model. An id has the form <dataset>/<name>, in lower "
            "case.",
            safe=_SAFE,
            todo="If you mean a folder, give its full path.",
        )
    if not (folder / card).is_file():
        for other in KINDS.keys() - {card}:
            if (folder / other).is_file() or text in list_packages(root, card=other):
                raise ModelError(
                    f"The model {text!r} is {KINDS[other]}, but {KINDS[card]} is needed.",
                    safe=_SAFE,
                    todo="Choose another model. `labapp models list` shows the kind of each.",
                )
        if package := resources.models_elsewhere().get(text):
            raise ModelNotFound(
                f"The model {text!r} comes with the package {package}, which is not installed.",
                safe=_SAFE,
                todo=f"Install it: {pip_command(package)}",
            )
        where = " and ".join(map(str, _roots(root)))
        known = list_packages(root, card=card)
        near = difflib.get_close_matches(text, known, MANY)
        # The most alike first, then the user's own.
        known.sort(key=lambda name: (resources.models() / name / card).is_file())
        known = list(dict.fromkeys((*near, *known)))
        there = ", ".join(known[:MANY]) or "none"
        more = f" and {len(known) - MANY} more" if len(known) > MANY else ""
        raise ModelNotFound(
            f"There is no model {text!r}: it is neither an id nor a folder with a {card}."
            + (f" Did you mean {near[0]!r}?" if near else ""),
            safe=_SAFE,
            todo=f"labapp looks for ids in {where}. {MAKING[card]} to add one. Models found "
            f"there: {there}{more}.",
        )
    return folder


def places(model: str, root: Path | None = None, *, card: str = cards.CARD) -> list[Path]:
    """The folders that hold a package under this id: none, one, or two with the same id. Raises
    ModelError when one of them is a link out of its root."""
    result = []
    for parent in _roots(root):
        folder = parent / model
        if not (folder / card).is_file():
            continue
        if folder.resolve() != parent.resolve() / model:
            raise ModelError(
                f"The model {model!r} is a link to a place outside the models folder {parent}.",
                safe=_SAFE,
                todo="If you mean that model, give the full path of its folder.",
            )
        result.append(folder)
    return result


def list_packages(root: Path | None = None, *, card: str = cards.CARD) -> list[str]:
    """Ids of the packages under `root` (by default the shipped and the user's), sorted."""
    folders = {
        path.parent.relative_to(folder).as_posix()
        for folder in _roots(root)
        for path in folder.glob(f"*/*/{card}")
    }
    return sorted(name for name in folders if re.fullmatch(ID_PATTERN, name))


def _roots(root: Path | None) -> tuple[Path, ...]:
    return resources.model_roots() if root is None else (root,)


def tasks_of(model: str) -> InTasks:
    """What the card of an installed model says of tasks. Raises ModelError."""
    return in_tasks(cards.read(find(model)))


def files_of(model: str) -> list[Path]:
    """The files of a package that are there; none of a model that is not. The title is none of
    them: it changes nothing that the model does."""
    try:
        folder = find(model)
    except ModelError:
        return []
    names = (cards.CARD, files.WEIGHTS, files.GRAPH, files.LATENTS)
    return [folder / name for name in names if (folder / name).is_file()]


def files_sha256(model: str) -> str:
    """SHA-256 over the files of a package, their places and contents. A file is read again only
    when it was written since. Empty if a file cannot be read: loading the model says why."""
    total = hashlib.sha256()
    try:
        for path in files_of(model):
            state = path.stat()
            written = (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
            total.update(f"{path}\n{_file_sha256(path, written)}\n".encode())
    except (ModelError, OSError):
        return ""
    return total.hexdigest()


@lru_cache(maxsize=1024)
def _file_sha256(path: Path, written: tuple[int, ...]) -> str:
    return files.digest(files.read_bytes(path))


def default_device() -> str:
    """What decodes if nobody says otherwise: "cpu", "cuda" or "mps"."""
    return os.environ.get("LABAPP_DEVICE") or "cpu"


def load_package(
    path_or_id: str | Path, device: str | None = None, threads: int = 1, *, root: Path | None = None
) -> LoadedDecoder:
    """A decoder, checked and ready. Raises ModelError: missing, foreign, damaged, pickled,
    mislabelled: the message says which.

    Parameters
    ----------
    path_or_id : see `find`.
    device : "cpu", "cuda" or "mps"; by default $LABAPP_DEVICE, else "cpu". Closed forms are
        computed on the CPU whatever is asked.
    threads : CPU threads of a decode; 1 is right for the slider path.
    root : where ids are looked up; see `find`.
    """
    device = device or default_device()
    folder = find(path_or_id, root)
    card = cards.read(folder)
    refuse_other_id(folder, card.id, path_or_id)
    if isinstance(card.made_by.source, ClosedForm):
        return _load_closed_form(folder, card, card.made_by.source)
    if isinstance(card.made_by.source, PythonFunction):
        sample = _sample(folder, card)
        pictures = read_arrays(folder, card)["pictures"]
        trial = card.space.encode_rows(sample[0][: len(pictures)]).astype(np.float32)
        return _make_decoder(card, sample, python_backend.build(card, trial, pictures))
    return _load_trained(folder, card, device, threads)


def refuse_other_id(folder: Path, card_id: str, path_or_id: str | Path) -> None:
    """Raises ModelError if a package was asked for by another id than the one on its card."""
    by_id = isinstance(path_or_id, str) and re.fullmatch(ID_PATTERN, path_or_id)
    if by_id and card_id != path_or_id:
        raise ModelError(
            f"The id in the package {folder} is {card_id!r}, not {path_or_id!r}.",
            safe=_SAFE,
            todo="Move the package back to the folder that matches its id.",
        )


def _make_decoder(
    card: ModelCard,
    sample: tuple[Float32, dict[int, Float32]],
    forward: Callable[[Float32], Float32],
    device: str = "cpu",
    threads: int = 1,
) -> LoadedDecoder:
    """sample: latents and their percentiles."""
    latents, percentiles = sample
    return LoadedDecoder(
        id=card.id,
        space=card.space,
        card=card,
        latents=latents,
        percentiles=percentiles,
        device=device,
        threads=threads,
        forward=forward,
    )


def _load_closed_form(folder: Path, card: ModelCard, source: ClosedForm) -> LoadedDecoder:
    stray = [
        name for name in (files.WEIGHTS, files.GRAPH, files.LATENTS) if (folder / name).exists()
    ]
    if stray or card.weights_sha256 or card.latents_sha256:
        raise ModelError(
            f"{folder} is a formula, which has no weights or latents, but "
            f"{', '.join(stray) or 'their hashes in the card'} was found.",
            safe=_SAFE,
            todo="Get a fresh copy of the package.",
        )
    latents = source.sample_prior(PRIOR_SAMPLE, PRIOR_SEED)
    return _make_decoder(card, (latents, percentiles_of(latents)), source.decode)


def _load_trained(folder: Path, card: ModelCard, device: str | None, threads: int) -> LoadedDecoder:
    if not (card.weights_sha256 and card.latents_sha256):
        raise ModelError(
            f"The card in {folder} does not state weights_sha256 and latents_sha256, so labapp "
            "cannot check whether its files are the right ones.",
            safe=_SAFE,
            todo="Get a fresh copy of the package.",
        )
    if isinstance(card.made_by.source, OnnxGraph):
        return _whole(folder, card, card.weights_sha256, device, threads)
    weights = files.read_weights(folder / files.WEIGHTS, card.weights_sha256)
    sample = _sample(folder, card)
    if device == "cpu" and (
        forward := cpu_backend.build(card.made_by, card.space.width, weights, threads=threads)
    ):
        return _make_decoder(card, sample, forward, "cpu", threads)
    if device != "cpu" and find_spec("torch") is None:
        raise DeviceMissing(
            f"Decoding {card.id} on {device} needs the package torch, which is not installed.",
            safe=_SAFE,
            todo="To decode on the processor, unset LABAPP_DEVICE and leave --device out. Or "
            f"install torch: {install_command('torch')}",
        )
    from labapp.models.representations import torch_backend

    chosen = torch_backend.choose_device(device)
    forward = torch_backend.build(
        card.made_by, card.space.width, weights, device=chosen, threads=threads
    )
    return _make_decoder(card, sample, forward, chosen.type, threads)


def _whole(
    folder: Path, card: ModelCard, sha256: str, device: str | None, threads: int
) -> LoadedDecoder:
    """A decoder whose graph lies in the package."""
    graph = files.read_checked(folder / files.GRAPH, sha256)
    sample = _sample(folder, card)
    chosen = onnx_backend.choose_device(device)
    return _make_decoder(
        card,
        sample,
        onnx_backend.build(
            card.made_by,
            card.space.width,
            graph,
            device=chosen,
            threads=threads,
            model=card.id,
            trial=None if _is_shipped(folder) else _trial(card, sample[0]),
        ),
        chosen,
        threads,
    )


def _is_shipped(folder: Path) -> bool:
    """Whether a package came with labapp: by where it lies, whatever it is called."""
    return folder.resolve().is_relative_to(resources.models().resolve())


def _trial(card: ModelCard, latents: Float32) -> Float32:
    """Encoded states to try a stranger's graph on: the ends of the dials, and some latents."""
    dials = card.space.dimensions
    ends = [
        [(d.low, d.high)[end] if isinstance(d, Continuous) else (0, d.k - 1)[end] for d in dials]
        for end in (0, 1)
    ]
    rows = np.concatenate([np.array(ends, np.float32), latents[:TRIED]])
    zero = np.zeros((1, card.space.width), np.float32)
    return np.concatenate([zero, card.space.encode_rows(rows).astype(np.float32)])


def try_graph(model: str) -> None:
    """See that the graph of an installed model answers, in a process of its own; others have none
    that could not. Raises ModelError."""
    folder = find(model)
    card = cards.read(folder)
    if not isinstance(card.made_by.source, OnnxGraph) or _is_shipped(folder):
        return
    graph = files.read_checked(folder / files.GRAPH, card.weights_sha256 or "")
    onnx_backend.try_graph(card.id, graph, _trial(card, _sample(folder, card)[0]))


def read_arrays(folder: Path, card: ModelCard) -> dict[str, Float32]:
    """The arrays of the package's latents.npz. Raises ModelError."""
    return files.read_arrays(folder / files.LATENTS, card.latents_sha256 or "")


def _sample(folder: Path, card: ModelCard) -> tuple[Float32, dict[int, Float32]]:
    arrays = read_arrays(folder, card)
    where = folder / files.LATENTS

    def refuse(what: str) -> ModelError:
        return ModelError(f"{where} {what}.", safe=_SAFE, todo="Get a fresh copy of the package.")

    needed = {"latents", "percentiles"}
    if card.architecture == cards.PYTHON:
        needed.add("pictures")
    if not needed <= arrays.keys() <= {*needed, "spread"}:
        names = " and ".join(sorted(needed))
        raise refuse(f"holds {', '.join(sorted(arrays)) or 'nothing'}, not {names}")
    latents, percentiles = arrays["latents"], arrays["percentiles"]
    dimensions = card.space.dimensions
    if latents.ndim != 2 or latents.shape[1] != len(dimensions) or not len(latents):
        raise refuse(
            f"has latents of shape {latents.shape}, but should have {len(dimensions)} columns"
        )
    if percentiles.shape != (len(PERCENTILES), len(dimensions)):
        raise refuse(f"has percentiles of shape {percentiles.shape}")
    if "spread" in arrays and arrays["spread"].shape != latents.shape:
        raise refuse(f"has spreads of shape {arrays['spread'].shape}")
    pictures = arrays.get("pictures")
    if pictures is not None and (
        pictures.shape[1:] != card.made_by.output_shape or not 0 < len(pictures) <= len(latents)
    ):
        raise refuse(f"has pictures of shape {pictures.shape}")
    for column, dimension in zip(latents.T, dimensions, strict=True):
        if isinstance(dimension, Continuous):
            inside = column.min() >= dimension.low and column.max() <= dimension.high
        else:
            inside = bool(np.isin(column, np.arange(dimension.k)).all())
        if not inside:
            raise refuse(f"has values of {dimension.name!r} outside the limits on the card")
    return latents, dict(zip(PERCENTILES, percentiles, strict=True))


def write_package(
    folder: Path,
    card: ModelCard,
    weights: Mapping[str, NDArray[np.floating]] | bytes | None,
    latents: Float32,
    spread: Float32 | None = None,
    percentiles: Float32 | None = None,
    pictures: Float32 | None = None,
) -> Path:
    """Write a trained model's package, whole or not at all. weights: by name, or a whole ONNX
    graph; none of a function in Python, which has `pictures` of the first latents instead.

    The hashes are set here; the rest of the card is the caller's. `percentiles`, float32 of shape
    (len(PERCENTILES), dimensions), are computed from `latents` unless they are known from more.
    Raises ModelError: `folder` exists (a package is never overwritten) or cannot be written.
    """
    refuse_existing(folder)
    if percentiles is None:
        percentiles = np.stack(list(percentiles_of(latents).values()))
    arrays = {"latents": latents, "percentiles": percentiles}
    if spread is not None:
        arrays["spread"] = spread
    if pictures is not None:
        arrays["pictures"] = pictures
    contents = {files.LATENTS: files.pack_arrays(arrays)}
    hashes = {"latents_sha256": files.digest(contents[files.LATENTS])}
    if weights is not None:
        decoder = files.GRAPH if isinstance(weights, bytes) else files.WEIGHTS
        contents[decoder] = weights if isinstance(weights, bytes) else files.pack_weights(weights)
        hashes["weights_sha256"] = files.digest(contents[decoder])
    card = ModelCard.model_validate(card.to_json() | hashes)
    return write_whole(folder, contents, cards.CARD, card)


def write_whole(
    folder: Path, contents: Mapping[str, bytes], card_name: str, card: BaseModel
) -> Path:
    """Write the files and the card of a package, or nothing. Raises ModelError."""
    with files.writing(folder), leftovers.write_atomically(folder) as draft:
        for name, content in contents.items():
            (draft / name).write_bytes(content)
        (draft / card_name).write_text(recipe.dump(card), encoding="utf-8")
    return folder


def refuse_existing(folder: Path, *, card: str = cards.CARD) -> None:
    """Raises ModelError when there is something at `folder`, or when its id is taken.

    In the folders where ids are looked up, two packages must not have the same id.
    """
    if folder.exists():
        raise ModelError(
            f"{folder} already exists, and a model package is never overwritten.",
            safe="The existing package was not touched.",
            todo="Give another output folder, or move the old package away.",
        )
    root, model = folder.parent.parent, f"{folder.parent.name}/{folder.name}"
    roots = resources.model_roots()
    if root.resolve() in [folder.resolve() for folder in roots] and (
        taken := places(model, card=card)
    ):
        raise ModelError(
            f"The id {model!r} is already used by the model in {taken[0]}, so a second model in "
            f"{root} cannot have it.",
            safe="The existing model was not touched, and nothing was written.",
            todo="Choose another id, or give the model an output folder of its own.",
        )
