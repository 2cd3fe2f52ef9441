"""Writes the model package of a published package's folder, whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from labapp import resources
from labapp.naming import reserved
from labapp.representations import package
from labapp.representations.architectures import ARCHITECTURES
from labapp.representations.card import HeldOutError, ModelCard, Origin, PublishedModel
from labapp.representations.recipe import ID_PATTERN
from labapp.representations.task import PUBLISHED, published_display
from labapp.representations.tfjs import config as configs
from labapp.representations.tfjs import document, layouts, manifest
from labapp.representations.tfjs.config import CONFIG, Config
from labapp.representations.tfjs.document import refuse
from labapp.representations.tfjs.manifest import MANIFEST
from labapp.training import files

WEB = "decoder_web"
"""The folder inside a published package that holds manifest and shards."""

_CONFIG = TypeAdapter(Config)
_TITLES = {"sinelines": "Sinelines", "dsprites": "dSprites", "mnist": "MNIST"}


@dataclass(frozen=True, slots=True)
class PackagePaths:
    """The name of a published package, and the paths of its parts."""

    name: str
    weights: Path
    config: Path


def import_package(source: Path, out: Path | None = None, model_id: str | None = None) -> Path:
    """Write the model package of a published TensorFlow.js package.

    Parameters
    ----------
    source : the published folder, or the `decoder_web` in it.
    out : the folder to write, which must not exist; by default `<id>` among the user's models.
    model_id : `<dataset>/<name>`; by default the data set the architecture is for, and
        `published-` with the name of the published folder.

    Returns
    -------
    The folder that was written.

    Raises
    ------
    ModelError : the package is incomplete, of an unknown network or at odds with its config.json;
        `model_id` is no id; `out` exists or cannot be written.
    """
    paths = find(source)
    published = manifest.read(paths.weights)
    network = layouts.recognise(published.tensors)
    content = document.read(paths.config)
    config = document.parse(paths.config, content, _CONFIG)
    configs.check(config, network)
    hashes = {CONFIG: files.digest(content), **published.hashes}
    sample = configs.latents(config)
    card = _card(network.architecture, paths.name, model_id, config, hashes)
    return package.write_package(
        resources.user_models() / card.id if out is None else out,
        card,
        network.weights,
        sample,
        percentiles=configs.percentiles(config, sample),
    )


def find(source: Path) -> PackagePaths:
    """The parts of the package at `source`. Raises ModelError when there is none."""
    whole = source.resolve()
    weights = whole / WEB if (whole / WEB / MANIFEST).is_file() else whole
    if weights.name == WEB:
        whole = weights.parent
    if not (weights / MANIFEST).is_file():
        newer = " It has a model.json, as newer versions write." if _newer(source) else ""
        raise refuse(
            f"There is no published package at {source}: neither {MANIFEST} nor "
            f"{WEB}/{MANIFEST} is there.{newer}",
            todo="Give the folder that holds config.json and decoder_web.",
        )
    if not (whole / CONFIG).is_file():
        raise refuse(f"The published package lacks {whole / CONFIG}.")
    return PackagePaths(whole.name, weights, whole / CONFIG)


def _newer(source: Path) -> bool:
    return any((folder / "model.json").is_file() for folder in (source, source / WEB))


def _card(
    architecture: str,
    name: str,
    model_id: str | None,
    config: Config,
    hashes: Mapping[str, str],
) -> ModelCard:
    dataset = architecture.split("-", maxsplit=1)[0]
    shown = _TITLES[dataset]
    return ModelCard(
        card=1,
        id=_checked(model_id) if model_id is not None else _derived(dataset, name),
        title=f"{shown} {name}, imported",
        notes=_notes(config),
        dataset=dataset,
        published=_published(name),
        architecture=architecture,
        display=published_display(dataset, ARCHITECTURES[architecture].display),
        task=PUBLISHED.get(dataset),
        sampling="held-out" if config.z else "prior",
        dimensions=configs.dials(config),
        origin=Origin(format="tfjs", files=dict(hashes)),
        held_out_error=None if config.mse is None else HeldOutError(published=config.mse),
    )


def _published(name: str) -> PublishedModel | None:
    """Which model of the paper it is, where its folder is named as the published ones are."""
    match = re.fullmatch(r"(ae|vae|ig|tc|ss|gt)\d*", name.lower())
    return None if match is None else PublishedModel(paper="000", name=match[0])


def _notes(config: Config) -> str:
    of_sample = f"the latent sample is its {len(config.z)} rows in {CONFIG}"
    if not config.z:
        rest = "It comes without a latent sample: codes are drawn from the prior."
    elif config.z_pcts is not None:
        rest = f"Limits and percentiles are those of the whole held-out split; {of_sample}."
    else:
        rest = (
            f"Limits are those of the whole held-out split; {of_sample}, and the percentiles were "
            "computed from them."
        )
    return f"Imported from a TensorFlow.js package, whose files origin lists. {rest}"


def _derived(dataset: str, name: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if not slug:
        raise refuse(
            f"No id can be made from the folder's name {name!r}.",
            todo=f"Give one with --id, for example {dataset}/published-vae.",
        )
    return f"{dataset}/published-{slug}"


def _checked(model_id: str) -> str:
    if not re.fullmatch(ID_PATTERN, model_id):
        raise refuse(
            f"{model_id!r} is not the id of a model.",
            todo="An id is <dataset>/<name>: lower case, digits and hyphens, "
            "for example mnist/published-ae5.",
        )
    if why := reserved(model_id):
        raise refuse(f"A model cannot be called {model_id!r}: {why}.", todo="Give another --id.")
    return model_id
