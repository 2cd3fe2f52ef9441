"""Writes the model package of a published TensorFlow.js package, whole or not at all, and without
trusting it.

config.json says the dials, and the latent sample the study drew from. Dz continuous dimensions with
limits `z_lims` and, in some files, percentiles `z_pcts`, both taken over the whole held-out split;
`Dc` gives the widths of discrete ones, which come first. `z` and `c` hold 250 rows of that split:
numbers, and for each discrete dimension one-hots. InfoGAN has none.

Networks are told by the names and shapes of their tensors, taken from the published files and
training scripts (dtak/interactive-reconstruction, quiz/public/models and src), which name some
layers differently, and for InfoGAN from dtak/tensorpack, examples/GAN/InfoGAN-mnist.py. The digits'
decoders differ in names only from InfoGAN's generator, which has biases in its deconvolutions and
plain ReLU.

TensorFlow keeps a dense kernel as (in, out), a deconvolution's as (height, width, out, in), and
pictures with their channels last; torch has them the other way round. In a frozen graph, batch
normalisation has become one factor and one shift a channel, with its epsilon inside the factor.

`weights_manifest.json` lists groups. The shards of a group are one run of bytes, cut anywhere, in
which its tensors lie one behind the other, little-endian, in the order listed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from labapp.base import resources
from labapp.base.errors import ModelError
from labapp.base.naming import find_name_problem
from labapp.base.reading import files as reading
from labapp.models.datasets.split import Float32
from labapp.models.representations import package
from labapp.models.representations.card import (
    ContinuousDial,
    Dial,
    DiscreteDial,
    HeldOutError,
    ModelCard,
    Origin,
    PublishedModel,
)
from labapp.models.representations.decoders import PERCENTILES, percentiles_of
from labapp.models.representations.package import PRIOR_SAMPLE, PRIOR_SEED
from labapp.models.representations.recipe import (
    ARCHITECTURES,
    ID_PATTERN,
    PUBLISHED,
    find_published_display,
)
from labapp.models.training import files

CONFIG = "config.json"

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
        raise refuse(f"{CONFIG} does not fit {network.architecture}: {format_problems(problems)}.")


def _of_the_network(config: Config, network: PublishedNetwork) -> list[str]:
    problems = []
    outputs = math.prod(ARCHITECTURES[network.architecture].output_shape)
    if config.Dx != outputs:
        problems.append(f"Dx is {config.Dx}, but the decoder makes {outputs} values")
    inputs = sum(config.Dc) + config.Dz
    if inputs != network.width:
        problems.append(
            f"Dz {config.Dz} and Dc {config.Dc} make {inputs} inputs, but the decoder takes "
            f"{network.width}"
        )
    if len(config.z_lims) != config.Dz:
        problems.append(f"z_lims has {len(config.z_lims)} pairs for {config.Dz} dimensions")
    problems += [
        f"z_lims[{index}] is not a range: {low} to {high}"
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
        # The only architecture without an encoder, and so without a sample.
        if network.architecture == "mnist-infogan" and not config.c:
            return []
        return ["z is missing: the rows of the held-out split that a study draws from"]
    problems = []
    if any(len(row) != config.Dz for row in config.z):
        problems.append(f"a row of z does not have {config.Dz} values")
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


@dataclass(frozen=True, slots=True)
class PackagePaths:
    """The name of a published package, and the paths of its parts."""

    name: str
    weights: Path
    config: Path


def import_package(source: Path, out: Path | None = None, model_id: str | None = None) -> Path:
    """Write the model package of a published TensorFlow.js package. Returns the folder that was
    written. Raises ModelError: the package is incomplete, of an unknown network or at odds with its
    config.json; `model_id` is no id; `out` exists or cannot be written.

    source : the published folder, or the `decoder_web` in it.
    out : the folder to write, which must not exist; by default `<id>` among the user's models.
    model_id : `<dataset>/<name>`; by default the data set the architecture is for, and
        `published-` with the name of the published folder.
    """
    paths = find(source)
    published = read(paths.weights)
    network = recognise(published.tensors)
    content = read_bytes(paths.config)
    config = parse(paths.config, content, _CONFIG)
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
        newer = (
            " It has a model.json, which newer versions write."
            if any((folder / "model.json").is_file() for folder in (source, source / WEB))
            else ""
        )
        raise refuse(
            f"There is no published package at {source}: neither {MANIFEST} nor "
            f"{WEB}/{MANIFEST} is there.{newer}",
            todo="Give the folder that contains config.json and decoder_web.",
        )
    if not (whole / CONFIG).is_file():
        raise refuse(f"{whole / CONFIG}, which belongs to the published package, is missing.")
    return PackagePaths(whole.name, weights, whole / CONFIG)


def _card(
    architecture: str, name: str, model_id: str | None, config: Config, hashes: Mapping[str, str]
) -> ModelCard:
    dataset = architecture.split("-", maxsplit=1)[0]
    shown = {"sinelines": "Sinelines", "dsprites": "dSprites", "mnist": "MNIST"}[dataset]
    match = re.fullmatch(r"(ae|vae|ig|tc|ss|gt)\d*", name.lower())
    return ModelCard(
        card=1,
        id=_checked(model_id) if model_id is not None else _derive_id(dataset, name),
        title=f"{shown} {name}, imported",
        notes=_notes(config),
        dataset=dataset,
        published=(None if match is None else PublishedModel(paper="000", name=match[0])),
        architecture=architecture,
        display=find_published_display(dataset, ARCHITECTURES[architecture].display),
        task=PUBLISHED.get(dataset),
        sampling="held-out" if config.z else "prior",
        dimensions=dials(config),
        origin=Origin(format="tfjs", files=dict(hashes)),
        held_out_error=None if config.mse is None else HeldOutError(published=config.mse),
    )


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
    return f"Imported from a TensorFlow.js package (`origin` lists its files). {rest}"


def _derive_id(dataset: str, name: str) -> str:
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
            todo="An id has the form <dataset>/<name>, with lower-case letters, digits and "
            "hyphens, for example mnist/published-ae5.",
        )
    if why := find_name_problem(model_id):
        raise refuse(f"A model cannot be called {model_id!r}: {why}.", todo="Give another --id.")
    return model_id


Shape = tuple[int | None, ...]
"""None stands for the width of z."""
EPSILON = 1e-5
"""What torch's batch normalisation adds to a variance."""


@dataclass(frozen=True, slots=True)
class TensorNames:
    """Names of a layer's tensors in the published file; some layers have no bias."""

    kernel: str
    bias: str | None


@dataclass(frozen=True, slots=True)
class Norm:
    """Frozen batch normalisation, y = x * factor + shift."""

    ours: str
    factor: str
    shift: str

    def convert(self, factor: Float32, shift: Float32, bias: Float32) -> dict[str, Float32]:
        """Ours, with a variance that torch makes 1; a `bias` added before goes into the mean."""
        return {
            f"{self.ours}.weight": factor,
            f"{self.ours}.bias": shift,
            f"{self.ours}.running_mean": -bias,
            f"{self.ours}.running_var": np.full_like(factor, 1.0 - EPSILON),
        }


@dataclass(frozen=True, slots=True)
class DenseLayer:
    """A dense layer; ours has a bias unless it stands in front of a `norm`.

    `channels`: what comes out is unfolded to squares with so many channels.
    """

    ours: str
    theirs: TensorNames
    inputs: int | None
    outputs: int
    norm: Norm | None = None
    channels: int = 1

    @property
    def tensors(self) -> dict[str, Shape]:
        return _tensors(self, (self.inputs, self.outputs))

    def convert(self, arrays: Mapping[str, Float32]) -> dict[str, Float32]:
        # Theirs unfold to (side, side, channels), ours to (channels, side, side).
        order = np.arange(self.outputs).reshape(-1, self.channels).T.ravel()
        out = {f"{self.ours}.weight": arrays[self.theirs.kernel].T[order]}
        bias = _bias(self, arrays)[order]
        if self.norm is None:
            return out | {f"{self.ours}.bias": bias}
        factor, shift = arrays[self.norm.factor][order], arrays[self.norm.shift][order]
        return out | self.norm.convert(factor, shift, bias)


@dataclass(frozen=True, slots=True)
class Deconv:
    """A 4 x 4 deconvolution; `biased` says whether ours has a bias."""

    ours: str
    theirs: TensorNames
    inputs: int
    outputs: int
    norm: Norm | None = None
    biased: bool = True

    @property
    def tensors(self) -> dict[str, Shape]:
        return _tensors(self, (4, 4, self.outputs, self.inputs))

    def convert(self, arrays: Mapping[str, Float32]) -> dict[str, Float32]:
        out = {f"{self.ours}.weight": arrays[self.theirs.kernel].transpose(3, 2, 0, 1)}
        bias = _bias(self, arrays)
        if self.biased:
            out[f"{self.ours}.bias"] = bias
            bias = np.zeros_like(bias)
        if self.norm is not None:
            out |= self.norm.convert(arrays[self.norm.factor], arrays[self.norm.shift], bias)
        return out


def _tensors(layer: DenseLayer | Deconv, kernel: Shape) -> dict[str, Shape]:
    out: dict[str, Shape] = {layer.theirs.kernel: kernel}
    if layer.theirs.bias is not None:
        out[layer.theirs.bias] = (layer.outputs,)
    if layer.norm is not None:
        out |= {layer.norm.factor: (layer.outputs,), layer.norm.shift: (layer.outputs,)}
    return out


def _bias(layer: DenseLayer | Deconv, arrays: Mapping[str, Float32]) -> Float32:
    if layer.theirs.bias is None:
        return np.zeros(layer.outputs, np.float32)
    return arrays[layer.theirs.bias]


@dataclass(frozen=True, slots=True)
class NetworkLayout:
    """A published network: our architecture's name, and the layers from z to x."""

    architecture: str
    layers: tuple[DenseLayer | Deconv, ...]

    @property
    def tensors(self) -> dict[str, Shape]:
        """Names (as `layouts.plain` gives them) and shapes."""
        return {name: shape for layer in self.layers for name, shape in layer.tensors.items()}

    def convert(self, arrays: Mapping[str, Float32]) -> dict[str, Float32]:
        """Our decoder's parameters and statistics by name, from tensors without `problems`."""
        return {name: w for layer in self.layers for name, w in layer.convert(arrays).items()}

    def problems(self, arrays: Mapping[str, Array]) -> Iterator[str]:
        """What keeps these tensors from being this network's; nothing if they are."""
        expected = self.tensors
        missing = sorted(expected.keys() - arrays.keys())
        if missing:
            yield f"lack {format_problems(missing)}"
        surplus = sorted(arrays.keys() - expected.keys())
        if surplus:
            yield f"have {format_problems(surplus)} besides"
        for name in sorted(expected.keys() & arrays.keys()):
            if arrays[name].dtype != np.float32:
                yield f"have {name} as {arrays[name].dtype}"
            elif not _fits(arrays[name].shape, expected[name]):
                drawn = ", ".join(
                    "width of z" if side is None else f"{side}" for side in expected[name]
                )
                yield f"have {name} of shape {arrays[name].shape} instead of ({drawn})"


def _fits(shape: tuple[int, ...], expected: Shape) -> bool:
    return len(shape) == len(expected) and all(
        wanted is None or side == wanted for side, wanted in zip(shape, expected, strict=True)
    )


@dataclass(frozen=True, slots=True)
class PublishedNetwork:
    """Our architecture, the width of its z, and our decoder's weights by name."""

    architecture: str
    width: int
    weights: dict[str, Float32]


def _layer(name: str) -> TensorNames:
    return TensorNames(f"{name}/kernel", f"{name}/bias")


def _tensorpack(name: str) -> TensorNames:
    return TensorNames(f"{name}/W", f"{name}/b")


def _norm(ours: str, theirs: str) -> Norm:
    """Of a dense layer."""
    return Norm(ours, f"{theirs}/batchnorm/mul", f"{theirs}/batchnorm/sub")


def _make_fused_norm(ours: str, theirs: str) -> Norm:
    """Of a deconvolution, which TensorFlow normalises by another operation."""
    return Norm(ours, f"{theirs}/FusedBatchNorm/Scaled", f"{theirs}/FusedBatchNorm/Offset")


def _sinelines(first: str, second: str, last: str) -> NetworkLayout:
    return NetworkLayout(
        "sinelines-mlp",
        (
            DenseLayer("body.0", _layer(first), None, 256),
            DenseLayer("body.2", _layer(second), 256, 256),
            DenseLayer("body.4", _layer(last), 256, 64),
        ),
    )


def _dsprites(scope: str) -> NetworkLayout:
    def of(name: str) -> TensorNames:
        return TensorNames(f"{scope}/W_{name}", f"{scope}/b_{name}")

    return NetworkLayout(
        "dsprites-conv",
        (
            DenseLayer("dense.0", of("fc1"), None, 256),
            DenseLayer("dense.2", of("fc2"), 256, 512, channels=32),
            Deconv("deconv.1", of("deconv1"), 32, 32),
            Deconv("deconv.3", of("deconv2"), 32, 32),
            Deconv("deconv.5", of("deconv3"), 32, 32),
            Deconv("deconv.7", of("deconv4"), 32, 1),
        ),
    )


_MNIST = NetworkLayout(
    "mnist-conv",
    (
        DenseLayer("dense.0", _layer("ae/dec1"), None, 1024, _norm("dense.1", "ae/dec1_bn")),
        DenseLayer("dense.3", _layer("ae/dec2"), 1024, 6272, _norm("dense.4", "ae/dec2_bn"), 128),
        Deconv(
            "deconv.1",
            TensorNames("ae/dec3/kernel", None),
            128,
            64,
            _make_fused_norm("deconv.2", "ae/dec3_bn"),
            biased=False,
        ),
        Deconv("deconv.4", TensorNames("ae/dec4/kernel", None), 64, 1),
    ),
)

_INFOGAN = NetworkLayout(
    "mnist-infogan",
    (
        DenseLayer("dense.0", _tensorpack("gen/fc0"), None, 1024, _norm("dense.1", "gen/fc0/bn")),
        DenseLayer(
            "dense.3", _tensorpack("gen/fc1"), 1024, 6272, _norm("dense.4", "gen/fc1/bn"), 128
        ),
        Deconv(
            "deconv.1",
            _tensorpack("gen/deconv1"),
            128,
            64,
            _make_fused_norm("deconv.2", "gen/deconv1/bn"),
        ),
        Deconv("deconv.4", _tensorpack("gen/deconv2"), 64, 1),
    ),
)

LAYOUTS = (
    _sinelines("ae/dec/fc0", "ae/dec/fc1", "ae/dec/out"),
    _sinelines("ae/dec1", "ae/dec2", "ae/dec3"),
    _dsprites("ae/dec"),
    _dsprites("ae/decoder"),
    _MNIST,
    _INFOGAN,
)


def plain(name: str) -> str:
    """A tensor's name without the counters that a graph gives to repeated scopes (dec1_bn_1)."""
    *scopes, last = name.split("/")
    return "/".join([*(re.sub(r"_\d+$", "", scope) for scope in scopes), last])


def recognise(tensors: Mapping[str, Array]) -> PublishedNetwork:
    """The network these tensors belong to.

    Integers are the graph's own constants (shapes to reshape to, bounds of slices): they are passed
    over, unless they have the name of a weight. Raises ModelError: no known network, or one with
    tensors missing, besides, or of another shape.
    """
    weights = {name for layout in LAYOUTS for name in layout.tensors}
    result: dict[str, Array] = {}
    for full, values in tensors.items():
        name = plain(full)
        if values.dtype != np.float32 and name not in weights:
            continue
        if name in result:
            raise refuse(f"The package has two tensors for {name}, one of them {full}.")
        result[name] = values
    nearest = max(LAYOUTS, key=lambda layout: _likeness(layout, result))
    if not nearest.tensors.keys() & result.keys():
        known = ", ".join(dict.fromkeys(layout.architecture for layout in LAYOUTS))
        raise refuse(
            "No known network has such tensors: "
            f"{format_problems(sorted(result)) or 'none of float32'}.",
            todo=f"Import a published decoder of one of these architectures: {known}.",
        )
    problems = list(nearest.problems(result))
    if problems:
        raise refuse(
            f"The tensors are most similar to those of {nearest.architecture}, but "
            f"{format_problems(problems)}."
        )
    floats = {name: values.astype(np.float32) for name, values in result.items()}
    width = len(floats[nearest.layers[0].theirs.kernel])
    return PublishedNetwork(nearest.architecture, width, nearest.convert(floats))


def _likeness(layout: NetworkLayout, arrays: Mapping[str, Array]) -> float:
    """The names that both have as a share of those that either has."""
    names = layout.tensors.keys()
    return len(names & arrays.keys()) / len(names | arrays.keys())


MANIFEST = "weights_manifest.json"

_DTYPES = {"float32": np.dtype("<f4"), "int32": np.dtype("<i4")}
_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")

Array = NDArray[np.float32] | NDArray[np.int32]
Side = Annotated[int, Field(ge=1, strict=True)]


class TensorEntry(BaseModel):
    """A tensor of a group."""

    name: str = Field(min_length=1, max_length=300)
    shape: list[Side] = Field(max_length=8)
    dtype: str
    quantization: dict[str, Any] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes in the shards; Python integers, so that no shape overflows."""
        size = _DTYPES[self.dtype].itemsize
        for side in self.shape:
            size *= side
        return size


class TensorGroup(BaseModel):
    """Tensors and the files that hold them."""

    paths: list[str] = Field(min_length=1, max_length=1000)
    weights: list[TensorEntry] = Field(max_length=10_000)


_GROUPS = TypeAdapter(Annotated[list[TensorGroup], Field(min_length=1, max_length=1000)])


@dataclass(frozen=True, slots=True)
class PublishedTensors:
    """Tensors by name, float32 or int32, and SHA-256 by name of the files they came from."""

    tensors: Mapping[str, Array]
    hashes: Mapping[str, str]


def read(folder: Path) -> PublishedTensors:
    """The tensors of the package whose manifest lies in `folder`. Raises ModelError: a file is
    missing, too large or leads out of the folder; a tensor is quantised or of a type that is not
    read; a group's bytes are fewer or more than its tensors need; a value is not finite."""
    path = folder / MANIFEST
    content = read_bytes(path)
    groups = parse(path, content, _GROUPS)
    _check(path, groups)
    hashes = {MANIFEST: files.digest(content)}
    tensors: dict[str, Array] = {}
    for number, group in enumerate(groups, start=1):
        run = _join(folder, number, group, hashes)
        at = 0
        for entry in group.weights:
            bytes_ = run[at : at + entry.nbytes]
            values: NDArray[Any] = np.frombuffer(bytes_, _DTYPES[entry.dtype])
            if not np.isfinite(values).all():
                raise refuse(
                    f"{folder}: the tensor {entry.name} contains values that are not finite."
                )
            native = values.astype(values.dtype.newbyteorder("="))
            tensors[entry.name] = native.reshape(entry.shape)
            at += entry.nbytes
    return PublishedTensors(tensors, hashes)


def _check(path: Path, groups: list[TensorGroup]) -> None:
    """Refuse what can be seen to be wrong before a shard is opened."""
    entries = [entry for group in groups for entry in group.weights]
    packed = [entry.name for entry in entries if entry.quantization is not None]
    if packed:
        raise refuse(
            f"{path} contains quantised tensors, which labapp does not read: "
            f"{format_problems(packed)}.",
            todo="Convert the model again, without quantisation.",
        )
    foreign = [
        f"{entry.name} is {entry.dtype}, not {' or '.join(_DTYPES)}"
        for entry in entries
        if entry.dtype not in _DTYPES
    ]
    if foreign:
        raise refuse(f"{path}: {format_problems(foreign)}.")
    paths = [name for group in groups for name in group.paths]
    leading = [repr(name) for name in paths if not _FILE_NAME.fullmatch(name)]
    if leading:
        raise refuse(
            f"{path} names files that may lie outside its folder: {format_problems(leading)}."
        )
    for kind, names in (("file", paths), ("tensor", [entry.name for entry in entries])):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise refuse(f"{path} lists a {kind} twice: {format_problems(twice)}.")


def _join(folder: Path, number: int, group: TensorGroup, hashes: dict[str, str]) -> bytes:
    """The bytes of a group's shards, as many as its tensors need; their hashes are added."""
    shards = [folder / name for name in group.paths]
    missing = [shard.name for shard in shards if not reading.is_file(shard)]
    if missing:
        raise refuse(f"{folder} lacks {format_problems(missing)}.")
    needed = sum(entry.nbytes for entry in group.weights)
    total = sum(shard.stat().st_size for shard in shards)
    if needed != total:
        more = "more" if total > needed else "fewer"
        raise refuse(
            f"{folder}: the files of group {number} hold {total} bytes, {abs(total - needed)} "
            f"{more} than the {needed} of the tensors that {MANIFEST} lists."
        )
    if needed > files.LARGEST:
        raise refuse(
            f"{folder} holds {needed} bytes of weights, but labapp reads at most {files.LARGEST}."
        )
    contents = [files.read_bytes(shard) for shard in shards]
    hashes |= {
        shard.name: files.digest(content) for shard, content in zip(shards, contents, strict=True)
    }
    return b"".join(contents)


LARGEST = 32 * 1024 * 1024
"""Bytes of a JSON file. The largest published one has a tenth of a megabyte."""
SHOWN = 4
"""Problems that are spelt out; the rest are counted."""
Value = TypeVar("Value")


def refuse(what: str, todo: str = "Get a fresh copy of the published package.") -> ModelError:
    """The error for a package that is not imported."""
    return ModelError(what, todo=todo)


def format_problems(problems: list[str]) -> str:
    """The first problems, and how many more there are."""
    more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
    return "; ".join(problems[:SHOWN]) + more


def read_bytes(path: Path) -> bytes:
    """The bytes of a JSON file. Raises ModelError: missing, too large, a link out of its folder."""
    content = files.read_bytes(path)
    if len(content) > LARGEST:
        raise refuse(f"{path} has {len(content)} bytes, but labapp reads at most {LARGEST}.")
    return content


def parse(path: Path, content: bytes, adapter: TypeAdapter[Value]) -> Value:
    """What `content` holds; `path` names it in messages. Raises ModelError."""
    try:
        return adapter.validate_json(content)
    except ValidationError as error:
        problems = [
            f"{_dotted(detail['loc'])}{detail['msg'][0].lower()}{detail['msg'][1:]}"
            for detail in error.errors(include_url=False, include_input=False)
        ]
        raise refuse(
            f"{path} does not look like a TensorFlow.js package: {format_problems(problems)}."
        ) from error


def _dotted(location: tuple[int | str, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return f"{text.removeprefix('.')}: " if text else ""
