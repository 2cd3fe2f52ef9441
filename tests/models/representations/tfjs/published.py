"""Published packages with random weights, written here, and what their networks compute.

The forward passes are numpy in float64 with TensorFlow's axes, and batch normalisation is done with
gamma, beta, mean, variance and TensorFlow's epsilon; only the files hold it frozen, as published.
Names, their order and the graph's integer constants are those of the published manifests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Tensors = dict[str, NDArray[Any]]

TF_EPSILON = 1e-3


@dataclass(frozen=True)
class Network:
    """Tensors by full name, in the file's order, and what they compute of z (n, width)."""

    architecture: str
    width: int
    tensors: Tensors
    forward: Callable[[Float64], Float64]


@dataclass(frozen=True)
class BatchNorm:
    gamma: Float64
    beta: Float64
    mean: Float64
    variance: Float64

    def __call__(self, x: Float64) -> Float64:
        return (x - self.mean) / np.sqrt(self.variance + TF_EPSILON) * self.gamma + self.beta

    @property
    def factor(self) -> Float64:
        return self.gamma / np.sqrt(self.variance + TF_EPSILON)

    @property
    def shift(self) -> Float64:
        return self.beta - self.mean * self.factor


class Draws:
    """Random weights that keep values near 1 from layer to layer, exact in float32."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def _normal(self, shape: tuple[int, ...], scale: float) -> Float64:
        values = self._generator.standard_normal(shape, dtype=np.float32) * np.float32(scale)
        return values.astype(np.float64)

    def dense(self, inputs: int, outputs: int) -> tuple[Float64, Float64]:
        return self._normal((inputs, outputs), inputs**-0.5), self._normal((outputs,), 0.3)

    def deconv(self, inputs: int, outputs: int) -> tuple[Float64, Float64]:
        kernel = self._normal((4, 4, outputs, inputs), (4 * inputs) ** -0.5)
        return kernel, self._normal((outputs,), 0.3)

    def norm(self, size: int) -> BatchNorm:
        gamma, beta, mean = (self._normal((size,), 0.5) for _ in range(3))
        # Small variances, so that a wrong epsilon shows.
        return BatchNorm(1 + gamma, beta, mean, self._generator.uniform(0.05, 1.0, size))


def relu(x: Float64) -> Float64:
    return np.maximum(x, 0)


def leaky(x: Float64) -> Float64:
    return np.where(x > 0, x, 0.2 * x)


def sigmoid(x: Float64) -> Float64:
    return 1 / (1 + np.exp(-x))


def deconvolve(x: Float64, kernel: Float64) -> Float64:
    """Stride 2, padding SAME, of (n, side, side, in): each input adds its 4 x 4 patch."""
    n, side, _, _ = x.shape
    out = np.zeros((n, 2 * side + 2, 2 * side + 2, kernel.shape[2]))
    for row in range(4):
        for column in range(4):
            rows, columns = slice(row, row + 2 * side, 2), slice(column, column + 2 * side, 2)
            out[:, rows, columns] += x @ kernel[row, column].T
    return out[:, 1:-1, 1:-1]


def _int32(*values: int) -> NDArray[np.int32]:
    return np.array(values, np.int32)


def _scalar(value: int) -> NDArray[np.int32]:
    return np.array(value, np.int32)


def sinelines(
    names: tuple[str, str, str] = ("ae/dec/fc0", "ae/dec/fc1", "ae/dec/out"),
    width: int = 5,
    seed: int = 0,
) -> Network:
    draws = Draws(seed)
    sizes = ((width, 256), (256, 256), (256, 64))
    layers = [(name, *draws.dense(*size)) for name, size in zip(names, sizes, strict=True)]

    def forward(z: Float64) -> Float64:
        for index, (_, kernel, bias) in enumerate(layers):
            z = z @ kernel + bias
            z = z if index == 2 else relu(z)
        return z

    tensors: Tensors = {}
    for name, kernel, bias in reversed(layers):
        tensors |= {f"{name}/bias": bias, f"{name}/kernel": kernel}
    return Network("sinelines-mlp", width, tensors, forward)


@cache
def dsprites(scope: str = "ae/dec", width: int = 5, seed: int = 1) -> Network:
    draws = Draws(seed)
    w1, b1 = draws.dense(width, 256)
    w2, b2 = draws.dense(256, 512)
    deconvs = [draws.deconv(32, outputs) for outputs in (32, 32, 32, 1)]

    def forward(z: Float64) -> Float64:
        x = relu(relu(z @ w1 + b1) @ w2 + b2).reshape(-1, 4, 4, 32)
        for index, (kernel, bias) in enumerate(deconvs):
            x = deconvolve(x, kernel) + bias
            x = x if index == 3 else relu(x)
        return sigmoid(x).reshape(-1, 64, 64)

    tensors: Tensors = {f"{scope}_1/Reshape_1/shape": _int32(-1, 4096)}
    tensors |= {f"{scope}/b_deconv{index}": deconvs[index - 1][1] for index in (4, 3, 2, 1)}
    tensors |= {
        f"{scope}_1/Reshape/shape": _int32(-1, 4, 4, 32),
        f"{scope}/b_fc2": b2,
        f"{scope}/W_fc2": w2,
        f"{scope}/b_fc1": b1,
        f"{scope}/W_fc1": w1,
        f"{scope}/W_deconv1": deconvs[0][0],
        f"{scope}_1/stack_2/1": _scalar(32),
        f"{scope}_1/strided_slice_3/stack_1": _int32(1),
        f"{scope}_1/strided_slice_3/stack": _int32(0),
    }
    tensors |= {f"{scope}/W_deconv{index}": deconvs[index - 1][0] for index in (2, 3, 4)}
    return Network("dsprites-conv", width, tensors, forward)


@cache
def mnist(width: int = 5, seed: int = 2) -> Network:
    draws = Draws(seed)
    w1, b1 = draws.dense(width, 1024)
    w2, b2 = draws.dense(1024, 6272)
    w3, _ = draws.deconv(128, 64)
    w4, _ = draws.deconv(64, 1)
    n1, n2, n3 = (draws.norm(size) for size in (1024, 6272, 64))

    def forward(z: Float64) -> Float64:
        x = leaky(n2(leaky(n1(z @ w1 + b1)) @ w2 + b2)).reshape(-1, 7, 7, 128)
        return sigmoid(deconvolve(leaky(n3(deconvolve(x, w3))), w4)).reshape(-1, 28, 28)

    tensors: Tensors = {
        "Reshape_5/shape": _int32(-1, 784),
        "ae/dec3_bn_1/FusedBatchNorm/Offset": n3.shift,
        "ae/dec3_bn_1/FusedBatchNorm/Scaled": n3.factor,
        "Reshape_4/shape": _int32(-1, 7, 7, 128),
        "ae/dec2_bn_1/batchnorm/sub": n2.shift,
        "ae/dec2_bn_1/batchnorm/mul": n2.factor,
        "ae/dec2/bias": b2,
        "ae/dec2/kernel": w2,
        "ae/dec1_bn_1/batchnorm/sub": n1.shift,
        "ae/dec1_bn_1/batchnorm/mul": n1.factor,
        "ae/dec1/bias": b1,
        "ae/dec1/kernel": w1,
        "ae/dec3/kernel": w3,
        "ae/dec3_1/stack/3": _scalar(64),
        "ae/dec4_1/mul/y": _scalar(2),
        "ae/dec4_1/strided_slice/stack_1": _int32(1),
        "ae/dec4_1/strided_slice_2/stack_1": _int32(3),
        "ae/dec4_1/strided_slice/stack": _int32(0),
        "ae/dec4/kernel": w4,
        "ae/dec4_1/stack/3": _scalar(1),
    }
    return Network("mnist-conv", width, tensors, forward)


@cache
def infogan(width: int = 15, seed: int = 3) -> Network:
    draws = Draws(seed)
    w1, b1 = draws.dense(width, 1024)
    w2, b2 = draws.dense(1024, 6272)
    w3, b3 = draws.deconv(128, 64)
    w4, b4 = draws.deconv(64, 1)
    n1, n2, n3 = (draws.norm(size) for size in (1024, 6272, 64))

    def forward(z: Float64) -> Float64:
        x = relu(n2(relu(n1(z @ w1 + b1)) @ w2 + b2)).reshape(-1, 7, 7, 128)
        return sigmoid(deconvolve(relu(n3(deconvolve(x, w3) + b3)), w4) + b4).reshape(-1, 28, 28)

    tensors: Tensors = {
        "Reshape/shape": _int32(-1, 784),
        "gen/deconv2/b": b4,
        "gen/deconv1_1/bn/FusedBatchNorm/Offset": n3.shift,
        "gen/deconv1_1/bn/FusedBatchNorm/Scaled": n3.factor,
        "gen/deconv1/b": b3,
        "gen/Reshape_1/shape": _int32(-1, 7, 7, 128),
        "gen/fc1_1/bn/batchnorm/sub": n2.shift,
        "gen/fc1_1/bn/batchnorm/mul": n2.factor,
        "gen/fc1/b": b2,
        "gen/fc1/W": w2,
        "gen/fc0_1/bn/batchnorm/sub": n1.shift,
        "gen/fc0_1/bn/batchnorm/mul": n1.factor,
        "gen/fc0/b": b1,
        "gen/fc0/W": w1,
        "gen/fc0_1/Reshape/shape": _int32(-1, width),
        "gen/deconv1/W": w3,
        "gen/deconv1_1/stack/3": _scalar(64),
        "gen/deconv2_1/mul/y": _scalar(2),
        "gen/deconv2_1/strided_slice_1/stack_1": _int32(2),
        "gen/deconv2/W": w4,
        "gen/deconv2_1/stack/3": _scalar(1),
    }
    return Network("mnist-infogan", width, tensors, forward)


def config(outputs: int, dz: int = 5, dc: Sequence[int] = (), *, pcts: bool = True) -> Any:
    """config.json as published: rows of a sample, its limits a little wider than the rows."""
    generator = np.random.default_rng(9)
    z = generator.normal(0, 1, (60, dz))
    hots = [np.eye(k, dtype=int)[generator.integers(k, size=60)] for k in dc]
    limits = np.stack([z.min(axis=0) - 0.5, z.max(axis=0) + 0.5], axis=1)
    limits[0] = z[:, 0].min(), z[:, 0].max()  # as in a split whose extremes are in the sample
    out: dict[str, Any] = {
        "Dx": outputs,
        "Dc": [*dc],
        "Dz": dz,
        "z": z.tolist(),
        "c": [one.tolist() for one in hots],
        "nll": 29.1,
        "mse": 8.25,
        "z_lims": limits.tolist(),
        "vars": [{"type": "categorical", "options": [[]] * k} for k in dc]
        + [{"type": "continuous"}] * dz,
    }
    if pcts:
        wanted = (0, 1, 2, 5, 25, 48, 50, 52, 75, 95, 98, 99, 100)
        out["z_pcts"] = {str(p): np.percentile(z * 0.9, p, axis=0).tolist() for p in wanted}
    return out


def entries(tensors: Tensors) -> list[dict[str, Any]]:
    """The manifest's lines; every float is kept as float32."""
    return [
        {
            "name": name,
            "shape": [*values.shape],
            "dtype": "int32" if values.dtype == np.int32 else "float32",
        }
        for name, values in tensors.items()
    ]


def content(tensors: Tensors) -> bytes:
    """The bytes of a group."""
    parts = (v.astype("<i4" if v.dtype == np.int32 else "<f4") for v in tensors.values())
    return b"".join(part.tobytes() for part in parts)


def write_group(folder: Path, tensors: Tensors, cuts: Sequence[int], number: int = 1) -> Any:
    """Write the shards of a group, cut at these bytes, and return its part of the manifest."""
    run = content(tensors)
    ends = [0, *sorted(cuts), len(run)]
    paths = [f"group{number}-shard{one}of{len(ends) - 1}.pb" for one in range(1, len(ends))]
    for path, start, end in zip(paths, ends[:-1], ends[1:], strict=True):
        (folder / path).write_bytes(run[start:end])
    return {"paths": paths, "weights": entries(tensors)}


def write(folder: Path, tensors: Tensors, stated: Any, cuts: Sequence[int] = ()) -> Path:
    """A published package with one group."""
    web = folder / "decoder_web"
    web.mkdir(parents=True)
    manifest = [write_group(web, tensors, cuts)]
    (web / "weights_manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(stated, indent=4), encoding="utf-8")
    return folder
