"""Writes the model package of a published package's folder, whole or not at all.

config.json of a published package: its dials, and the latent sample the study drew from. Dz
continuous dimensions with limits `z_lims` and, in some files, percentiles `z_pcts`, both taken over
the whole held-out split; `Dc` gives the widths of discrete ones, which come first. `z` and `c` hold
250 rows of that split: numbers, and for each discrete dimension one-hots. InfoGAN has none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, TypeAdapter

from labapp import resources
from labapp.naming import reserved
from labapp.representations import package
from labapp.representations.architectures import ARCHITECTURES
from labapp.representations.card import (
    ContinuousDial,
    Dial,
    DiscreteDial,
    HeldOutError,
    ModelCard,
    Origin,
    PublishedModel,
)
from labapp.representations.decoders import PERCENTILES, percentiles_of
from labapp.representations.package import PRIOR_SAMPLE, PRIOR_SEED
from labapp.representations.recipe import ID_PATTERN
from labapp.representations.task import PUBLISHED, published_display
from labapp.representations.tfjs import document, layouts, manifest
from labapp.representations.tfjs.document import listed, refuse
from labapp.representations.tfjs.layouts import PublishedNetwork
from labapp.representations.tfjs.manifest import MANIFEST
from labapp.training import files

Float32 = NDArray[np.float32]

CONFIG = "config.json"
WITHOUT_SAMPLE = "mnist-infogan"
"""The only architecture without an encoder, and so without a sample."""

Finite = Annotated[float, Field(allow_inf_nan=False, ge=-1e30, le=1e30)]


class Config(BaseModel):
    """The keys that are used; the file has others for the published web application."""

    Dx: int
    Dz: int = Field(ge=1, le=64)
    Dc: list[Annotated[int, Field(ge=2, le=1000)]] = Field(max_length=16)
    z_lims: list[tuple[Finite, Finite]]
    z_pcts: dict[int, list[Finite]] | None = None
    z: list[list[Finite]] = []
    c: list[list[list[Finite]]] = []
    mse: float | None = Field(default=None, ge=0, allow_inf_nan=False)


def check(config: Config, network: PublishedNetwork) -> None:
    """Refuse a config that is not this network's, or contradicts itself. Raises ModelError."""
    problems = [*_of_the_network(config, network), *_of_the_sample(config, network)]
    if problems:
        raise refuse(f"{CONFIG} does not fit {network.architecture}: {listed(problems)}.")


def _of_the_network(config: Config, network: PublishedNetwork) -> list[str]:
    problems = []
    outputs = math.prod(ARCHITECTURES[network.architecture].output_shape)
    if config.Dx != outputs:
        problems.append(f"Dx is {config.Dx}, the decoder makes {outputs} values")
    inputs = sum(config.Dc) + config.Dz
    if inputs != network.width:
        problems.append(
            f"Dz {config.Dz} and Dc {config.Dc} make {inputs} inputs, the decoder takes "
            f"{network.width}"
        )
    if len(config.z_lims) != config.Dz:
        problems.append(f"z_lims has {len(config.z_lims)} pairs for {config.Dz} dimensions")
    problems += [
        f"z_lims[{index}] is no range: {low} to {high}"
        for index, (low, high) in enumerate(config.z_lims)
        if not np.float32(low) < np.float32(high)
    ]
    for percent in PERCENTILES if config.z_pcts is not None else ():
        assert config.z_pcts is not None
        count = len(config.z_pcts.get(percent, []))
        if count != config.Dz:
            problems.append(f"z_pcts[{percent}] has {count} values for {config.Dz} dimensions")
    return problems or _of_the_percentiles(config)


def _of_the_percentiles(config: Config) -> list[str]:
    """Low, Medium and High are drawn between these: they must ascend within the limits."""
    if config.z_pcts is None:
        return []
    rows = [[low for low, _ in config.z_lims]]
    rows += [config.z_pcts[percent] for percent in PERCENTILES]
    rows += [[high for _, high in config.z_lims]]
    falls = (np.diff(np.asarray(rows, np.float32), axis=0) < 0).any(axis=0)
    return [
        f"z_pcts of dimension {index} do not ascend within z_lims"
        for index in np.flatnonzero(falls) + 1
    ]


def _of_the_sample(config: Config, network: PublishedNetwork) -> list[str]:
    if not config.z:
        if network.architecture == WITHOUT_SAMPLE and not config.c:
            return []
        return ["z is missing: the rows of the held-out split that a study draws from"]
    problems = []
    if any(len(row) != config.Dz for row in config.z):
        problems.append(f"a row of z has not {config.Dz} values")
    elif len(config.z_lims) == config.Dz:
        limits = np.asarray(config.z_lims, np.float32)
        rows = np.asarray(config.z, np.float32)
        beyond = ((rows < limits[:, 0]) | (rows > limits[:, 1])).any(axis=1)
        if beyond.any():
            problems.append(f"z[{int(beyond.argmax())}] lies beyond z_lims")
    if len(config.c) != len(config.Dc):
        problems.append(f"c has {len(config.c)} discrete dimensions, Dc {len(config.Dc)}")
        return problems
    for index, (hots, width) in enumerate(zip(config.c, config.Dc, strict=True)):
        if len(hots) != len(config.z):
            problems.append(f"c[{index}] has {len(hots)} rows, z {len(config.z)}")
        elif any(sorted(row) != [0] * (width - 1) + [1] for row in hots):
            problems.append(f"a row of c[{index}] is not a one-hot of {width}")
    return problems


def dials(config: Config) -> list[Dial]:
    """c1, c2 ... and z1, z2 ...

    Limits are rounded to float32, as the latents are: a row at a limit stays inside.
    """
    discrete = [
        DiscreteDial(type="discrete", name=f"c{index}", k=width)
        for index, width in enumerate(config.Dc, start=1)
    ]
    continuous = [
        ContinuousDial(
            type="continuous",
            name=f"z{index}",
            low=float(np.float32(low)),
            high=float(np.float32(high)),
            step=0.01,
        )
        for index, (low, high) in enumerate(config.z_lims, start=1)
    ]
    return [*discrete, *continuous]


def latents(config: Config) -> Float32:
    """The sample as dial states, float32, shape (rows, dimensions).

    Without one, seeded draws of the prior: discrete values, and continuous ones within the limits,
    all equally likely (as the published application draws them).
    """
    if config.z:
        chosen = [np.asarray(hots).argmax(axis=1) for hots in config.c]
        return np.column_stack([*chosen, np.asarray(config.z)]).astype(np.float32)
    draws = np.random.Generator(np.random.PCG64(PRIOR_SEED)).random(
        (PRIOR_SAMPLE, len(config.Dc) + config.Dz)
    )
    first = len(config.Dc)
    low, high = np.asarray(config.z_lims).T
    chosen = np.floor(draws[:, :first] * np.asarray(config.Dc))
    return np.column_stack([chosen, low + (high - low) * draws[:, first:]]).astype(np.float32)


def percentiles(config: Config, sample: Float32) -> Float32:
    """`PERCENTILES` of each dimension, float32, shape (percentiles, dimensions).

    Those of the config, else (and for discrete dimensions) those of the sample.
    """
    out = np.stack(list(percentiles_of(sample).values()))
    if config.z_pcts is not None:
        out[:, len(config.Dc) :] = [config.z_pcts[percent] for percent in PERCENTILES]
    return out


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
    check(config, network)
    hashes = {CONFIG: files.digest(content), **published.hashes}
    sample = latents(config)
    card = _card(network.architecture, paths.name, model_id, config, hashes)
    return package.write_package(
        resources.user_models() / card.id if out is None else out,
        card,
        network.weights,
        sample,
        percentiles=percentiles(config, sample),
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
        dimensions=dials(config),
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
