"""A loaded model as other rooms use it: a latent space and `decode`."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata

import numpy as np

from labapp.models.datasets.split import Float32
from labapp.models.representations.card import ModelCard
from labapp.models.representations.recipe import ClosedForm
from labapp.models.representations.space import LatentSpace

PERCENTILES = (1, 5, 48, 52, 95, 99)
"""Low, Medium and High of a continuous dimension lie between these, pairwise."""
AT_ONCE = 1 << 21
"""Values, 8 MiB of them, that one decode gives where many instances are wanted: large pictures are
decoded a few at a time."""


def percentiles_of(latents: Float32) -> dict[int, Float32]:
    """The `PERCENTILES` of every column of `latents`, each float32 of shape (dimensions,)."""
    rows = np.percentile(latents.astype(np.float64), PERCENTILES, axis=0).astype(np.float32)
    return dict(zip(PERCENTILES, rows, strict=True))


def onnxruntime_version() -> str:
    """The version of ONNX Runtime here, of whichever of its packages; empty without one."""
    for package in ("onnxruntime", "onnxruntime-gpu"):
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return ""


@dataclass(frozen=True, slots=True)
class Forward:
    """The computation of a decoder: z (n, width), float32 -> x (n, *shape), float32. how: its
    arithmetic, in words; engine: the package that computes it."""

    compute: Callable[[Float32], Float32]
    how: str
    engine: str

    def __call__(self, z: Float32) -> Float32:
        return self.compute(z)


@dataclass(frozen=True, slots=True)
class LoadedDecoder:
    """A loaded model.

    Attributes
    ----------
    id : `<dataset>/<name>`.
    space : the dials.
    card : the model card.
    latents : held-out dial states (posterior means, or draws of the prior if the card says
        so), float32, shape (m, dimensions). Not rounded to the dials' step.
    percentiles : percentile -> values, float32, shape (dimensions,); see `PERCENTILES`.
    device : "cpu", "cuda" or "mps".
    threads : CPU threads that a decode may use.
    forward : the computation behind `decode`, without its checks.
    """

    id: str
    space: LatentSpace
    card: ModelCard
    latents: Float32
    percentiles: Mapping[int, Float32]
    device: str
    threads: int
    forward: Callable[[Float32], Float32]

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of one instance x: (64,) for Sinelines, (64, 64) for dSprites."""
        return self.card.made_by.output_shape

    @property
    def backend(self) -> tuple[str, str]:
        """What computes it, and the version of that here."""
        if isinstance(self.card.made_by.source, ClosedForm):
            return "numpy", metadata.version("numpy")
        if self.card.backend == "python":
            package = (self.card.origin and self.card.origin.package) or {}
            stated = f"{package.get('package')} {package.get('version')}"
            return "python", f"{platform.python_version()}, {stated}"
        engine = self.forward.engine if isinstance(self.forward, Forward) else self.card.backend
        return engine, metadata.version("torch") if engine == "torch" else onnxruntime_version()

    @property
    def at_once(self) -> int:
        """How many instances to decode in one call where many are wanted, see `AT_ONCE`."""
        return max(1, AT_ONCE // math.prod(self.output_shape))

    @property
    def from_prior(self) -> bool:
        """Whether `latents` are draws of a prior, there being no encodings."""
        return self.card.sampling == "prior"

    def decode(self, z: Float32) -> Float32:
        """Instances of encoded dial states (`space.encode`). Returns float32, shape (n,
        *output_shape), the caller's own. Raises ValueError: z is not of that type and shape.

        z : float32, shape (n, space.width).
        """
        if z.ndim != 2 or z.shape[1] != self.space.width or z.dtype != np.float32:
            raise ValueError(
                f"{self.id} decodes float32 z of shape (n, {self.space.width}), "
                f"found {z.dtype} of shape {z.shape}"
            )
        return self.forward(z)
