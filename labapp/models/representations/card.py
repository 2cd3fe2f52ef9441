"""The model card: model.yaml of a package, checked when read and written whole by training."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from labapp.base import resources
from labapp.base.documents import SHA256
from labapp.base.errors import LabappError, ModelError
from labapp.base.naming import NotReserved
from labapp.base.reading import files
from labapp.models.representations import recipe
from labapp.models.representations.recipe import (
    ARCHITECTURES,
    ID_PATTERN,
    Architecture,
    ClosedForm,
    Data,
    Objective,
    OnnxGraph,
    Optimizer,
    Part,
    PythonFunction,
    Task,
)
from labapp.models.representations.space import Chart, Display, LatentSpace
from labapp.models.training.files import read_bytes

CARD = "model.yaml"
TITLE = "title.txt"
"""The title that somebody gave a model of theirs later. It lies beside the card, whose hash
sessions and registrations know."""
LONGEST_TITLE = 200
"""Characters of it."""
UNKNOWN = "unknown data set"
"""The data set of a model whose card is not here."""
ONNX = "onnx"
"""The architecture of a model whose whole graph lies in its package."""
PYTHON = "python"
"""The architecture of a model that a function of an installed Python package computes."""
IMPORTED = {ONNX: "onnxruntime", PYTHON: "python"}
"""Architectures of imported models, whose cards say the shape of an instance, and what computes
each."""
LARGEST_SIDE = 512
"""Pixels of the longer side of a picture; points of a series are at most its square."""
SHA256_PATTERN = SHA256
Sha256 = Annotated[str, Field(pattern=SHA256_PATTERN)]


class ContinuousDial(Part):
    """A slider; see `space.Continuous`."""

    type: Literal["continuous"]
    name: str = Field(min_length=1)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)
    step: float = Field(gt=0, allow_inf_nan=False)


class DiscreteDial(Part):
    """A choice among k; see `space.Discrete`."""

    type: Literal["discrete"]
    name: str = Field(min_length=1)
    k: int = Field(ge=2, le=1000)


Dial = Annotated[ContinuousDial | DiscreteDial, Field(discriminator="type")]


class Training(Part):
    """How the weights were trained. `seconds`: time spent training, over all restarts."""

    recipe_sha256: str = Field(pattern=SHA256_PATTERN)
    optimizer: Optimizer
    iterations: int = Field(ge=1)
    seed: int = Field(ge=0)
    seconds: float = Field(ge=0)
    device: str
    threads: int = Field(ge=1)
    versions: dict[str, str]


class ImportTrial(Part):
    """What was found when a decoder was imported, if that was done.

    Attributes
    ----------
    latents : how many it was tried on.
    largest_difference : of a file that was converted, how far a value that the kept graph makes of
        these latents is from the file's own at most.
    decode_ms_median, decode_ms_95 : time of a single decode on one core, in milliseconds, and the
        95th percentile.
    remarks : what was told besides.
    """

    latents: int = Field(ge=1)
    largest_difference: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    decode_ms_median: float = Field(ge=0, allow_inf_nan=False)
    decode_ms_95: float = Field(ge=0, allow_inf_nan=False)
    remarks: list[str] = Field(default_factory=list)


class Origin(Part):
    """The source of an imported model.

    Attributes
    ----------
    format : of the files that were read.
    files : the files read, name -> SHA-256; of a Python function those of its package.
    package : of a Python function its name, and the package's name and version; else what
        converted the file.
    versions : of Python and of the packages that a Python function used at the import, by name.
    limits : the file that the limits of the dials were taken from.
    tried : what was found when the decoder was tried; none on cards of earlier versions.
    """

    format: Literal["tfjs", "onnx", "torchscript", "torch-export", "python"]
    files: dict[str, Sha256]
    package: dict[str, str] | None = None
    versions: dict[str, str] | None = None
    limits: str | None = None
    tried: ImportTrial | None = None


class PublishedModel(Part):
    """The model of a paper that this one is, or was trained to stand for.

    Attributes
    ----------
    paper : as studies name it in `replicates`.
    name : how the paper calls the model, ss10.
    """

    paper: str = Field(min_length=1)
    name: str = Field(min_length=1)


class HeldOutError(Part):
    """Sum of squared errors per instance, averaged over the held-out split.

    `mean` decodes the encoding (the posterior mean); `sampled` decodes one draw from the posterior,
    as the published numbers do, and is absent if there is no posterior. An imported model has
    only what was `published` with it.
    """

    unit: Literal["sum of squares per instance"] = "sum of squares per instance"
    mean: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    sampled: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    published: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    @property
    def as_published(self) -> float | None:
        """The error to compare with the paper's: the sampled one, if there is a posterior."""
        ours = self.mean if self.sampled is None else self.sampled
        return self.published if ours is None else ours


class HeldOutNll(Part):
    """-ln p(x|z) per instance, averaged over the held-out split: Bernoulli for pictures, for
    series Gaussian of variance 1/2. `mean` and `sampled` as for `HeldOutError`.
    """

    unit: Literal["nats per instance"] = "nats per instance"
    mean: float = Field(allow_inf_nan=False)
    sampled: float | None = Field(default=None, allow_inf_nan=False)


class Dci(Part):
    """Disentanglement, completeness and informativeness (R2 on held-back rows)."""

    disentanglement: float = Field(allow_inf_nan=False)
    completeness: float = Field(allow_inf_nan=False)
    informativeness: float = Field(allow_inf_nan=False)


class Disentanglement(Part):
    """Encodings against the true factors, over `instances` held-out rows: all of them, or a draw
    that is the same for every model of the data (`measuring`).

    `dci` predicts factors from codes, as Eastwood and Williams define it; `dci_exchanged` codes
    from factors, as the released code behind the published numbers does.
    """

    instances: int = Field(ge=1)
    mig: float = Field(allow_inf_nan=False)
    mig_published: float | None = Field(default=None, allow_inf_nan=False)
    dci: Dci
    dci_exchanged: Dci
    dci_published: float | None = Field(default=None, allow_inf_nan=False)


class CodeAgreement(Part):
    """Whether each value of a discrete code draws one digit.

    A classifier trained on the same digits labels pictures of random codes. Each value of the code
    is matched with one digit, and `agreement` is the share of pictures labelled as that digit.
    """

    pictures: int = Field(ge=1)
    agreement: float = Field(ge=0, le=1)
    digits: list[int]
    classifier: str
    classifier_accuracy: float = Field(ge=0, le=1)


class ModelCard(Part):
    """What a package says of its model. Fields that do not apply are left out.

    `data_sha256`: of the files that the model learned from, if its data set is one of files.
    `task`: how tasks go if the study does not say. Of the architectures `onnx` and `python`
    alone, `shape` is that of one instance, (points,), (rows, columns) or (rows, columns, 3), and
    `chart` the limits of the y axis on which a series is drawn. `backend` is what computes the
    decoder; it is part of the model, so the same on every machine.
    """

    card: Literal[1]
    id: Annotated[str, NotReserved] = Field(pattern=ID_PATTERN)
    title: str = Field(min_length=1)
    notes: str = ""
    dataset: str = Field(min_length=1)
    published: PublishedModel | None = None
    architecture: str
    display: Display
    shape: tuple[int, ...] | None = None
    chart: Chart | None = None
    backend: Literal["torch", "onnxruntime", "python"] = "torch"
    sampling: Literal["held-out", "prior"]
    dimensions: list[Dial] = Field(min_length=1, max_length=64)
    task: Task | None = None
    objective: Objective | None = None
    data: Data | None = None
    data_sha256: dict[str, Sha256] | None = Field(default=None, min_length=1)
    training: Training | None = None
    origin: Origin | None = None
    held_out_error: HeldOutError | None = None
    held_out_nll: HeldOutNll | None = None
    disentanglement: Disentanglement | None = None
    code_agreement: CodeAgreement | None = None
    weights_sha256: str | None = Field(default=None, pattern=SHA256_PATTERN)
    latents_sha256: str | None = Field(default=None, pattern=SHA256_PATTERN)

    @field_validator("architecture")
    @classmethod
    def _check_architecture(cls, value: str) -> str:
        if value not in IMPORTED and value not in ARCHITECTURES:
            raise ValueError(
                f"allowed: {', '.join(ARCHITECTURES)}; or install the package that brings {value!r}"
            )
        return value

    @field_validator("dimensions")
    @classmethod
    def _a_space(cls, value: list[Dial]) -> list[Dial]:
        LatentSpace.from_json([dial.model_dump() for dial in value])
        return value

    @model_validator(mode="after")
    def _consistent(self) -> ModelCard:
        if self.architecture in IMPORTED:
            self._check_imported()
            return self
        if self.shape is not None or self.chart is not None or self.backend != "torch":
            raise ValueError("shape, chart and backend are only on cards of imported models")
        architecture = self.made_by
        drawn = "image" if self.display == "binary_image" else self.display
        if drawn != architecture.display:
            raise ValueError(
                f"display is {self.display}, but {architecture.name} makes {architecture.display}"
            )
        source = architecture.source
        if isinstance(source, ClosedForm):
            limits = [
                (dial.name, (dial.low, dial.high))
                for dial in self.dimensions
                if isinstance(dial, ContinuousDial)
            ]
            if limits != list(zip(source.names, source.limits, strict=True)):
                raise ValueError(f"dimensions do not match those of {architecture.name}")
        return self

    def _check_imported(self) -> None:
        """Raises ValueError if shape, display and what computes it do not fit each other."""
        shape = self.shape
        axes = {"series": 1, "image": 2, "binary_image": 2, "colour": 3}[self.display]
        if self.backend != (needed := IMPORTED[self.architecture]):
            raise ValueError(f"backend: the architecture {self.architecture} needs {needed}")
        stated = (self.origin and self.origin.package) or {}
        if self.architecture == PYTHON and stated.keys() != {"function", "package", "version"}:
            raise ValueError(f"origin: a model of {PYTHON} names function, package and version")
        if shape is None or len(shape) != axes or min(shape) < 1 or shape[2:] not in ((), (3,)):
            raise ValueError(f"shape: display {self.display} needs {axes} sizes, found {shape}")
        largest = LARGEST_SIDE**2 if axes == 1 else LARGEST_SIDE
        if max(shape) > largest:
            raise ValueError(f"shape: at most {largest}, found {max(shape)}")
        if (self.chart is not None) != (axes == 1):
            raise ValueError("chart: required for a series, and allowed only there")
        if self.chart is not None and not self.chart.low < self.chart.high:
            raise ValueError("chart: the lower limit must come first")

    @property
    def space(self) -> LatentSpace:
        return LatentSpace.from_json([dial.model_dump() for dial in self.dimensions])

    @property
    def made_by(self) -> Architecture:
        if self.shape is not None:
            source = OnnxGraph() if self.architecture == ONNX else PythonFunction()
            return Architecture(self.architecture, self.shape, self.display, source)
        return ARCHITECTURES[self.architecture]

    def to_json(self) -> dict[str, Any]:
        """Plain values, absent fields omitted."""
        row = self.model_dump(mode="json", exclude_none=True)
        if self.backend == "torch":  # as cards said before there was another
            del row["backend"]
        return row


def dials_over(latents: NDArray[np.float32], step: float = 0.01) -> list[Dial]:
    """Sliders z1, z2 ... from the least to the greatest value of each column of `latents`.

    The published limits: the empirical minimum and maximum over the held-out split (paper 000,
    4.3). A column with a single value is not a dial, so its card is refused.
    """
    return [
        slider(f"z{index}", float(column.min()), float(column.max()), step)
        for index, column in enumerate(latents.T, start=1)
    ]


def slider(name: str, low: float, high: float, step: float = 0.01) -> ContinuousDial:
    """A continuous dial with the published step."""
    return ContinuousDial(type="continuous", name=name, low=low, high=high, step=step)


def choice(k: int) -> DiscreteDial:
    """The discrete dial in front of the sliders."""
    return DiscreteDial(type="discrete", name="c1", k=k)


_BUNDLED: dict[str, ModelCard] = {}
"""Cards that came with sessions, by the ids of their models."""


def know(model: str, card: ModelCard) -> None:
    """Take in the card of a model that came with sessions: it speaks if none is installed."""
    _BUNDLED[model] = card


def find_card(model: str) -> ModelCard | None:
    """The card of the model package with this id that is installed here, or else the one that came
    with sessions; None without one that can be read."""
    folder = _folder(model)
    if folder is None:
        return _BUNDLED.get(model)
    state = (folder / CARD).stat()
    return _read_once(folder, state.st_mtime_ns, state.st_size) or _BUNDLED.get(model)


def hash_installed_card(model: str) -> str:
    """The hash of the card of the installed model with this id; empty if none is installed.
    Sessions record it of each of their models."""
    folder = _folder(model)
    return "" if folder is None else sha256(files.content(folder / CARD)).hexdigest()


def _folder(model: str) -> Path | None:
    folders = (root / model for root in resources.model_roots())
    return next((folder for folder in folders if files.exists(folder / CARD)), None)


@lru_cache(maxsize=256)
def _read_once(folder: Path, changed_ns: int, size: int) -> ModelCard | None:
    """The card of a folder, read again if its file is another one by now."""
    try:
        return read(folder)
    except LabappError:
        return None


def dataset_of(model: str) -> str:
    """The data set of a model, as its card, not its id, has it; or else `UNKNOWN`."""
    card = find_card(model)
    return UNKNOWN if card is None else card.dataset


def find_published_name(model: str, paper: str) -> str:
    """How a paper calls the model that this one is or stands for, as its card says; empty if it
    says none, and of a model that is not installed here."""
    card = find_card(model)
    if card is None or card.published is None or card.published.paper != paper:
        return ""
    return card.published.name


def read(folder: Path) -> ModelCard:
    """The card of the package in `folder`. Raises ModelError (line, key, found, allowed)."""
    card = recipe.read_document(folder / CARD, "model card", ModelCard)
    title = title_of(folder)
    return card.model_copy(update={"title": title}) if title else card


def title_of(folder: Path) -> str:
    """The title that a model was given after its card was made, or "". Raises ModelError."""
    path = folder / TITLE
    if not path.is_file():
        return ""
    try:
        return " ".join(read_bytes(path).decode("utf-8").split())[:LONGEST_TITLE]
    except UnicodeDecodeError as error:
        raise ModelError(
            f"{path} is not UTF-8 text.", todo="Give the title again: labapp models title."
        ) from error
