"""The drawn pictures against those of the published decoder of the true factors.

It had learned the official pictures; its own error on those held out was published as 8.9, the
sum of squared differences of a picture (paper 000, Table 2, GT).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from labapp.models.datasets import dsprites
from labapp.models.representations import torch_backend
from labapp.models.representations.recipe import ARCHITECTURES

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/data/published-decoders/dsprites/gt"

pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"the published decoder is not at {PUBLISHED}"
)


def published_weights() -> dict[str, NDArray[np.float32]]:
    folder = PUBLISHED / "decoder_web"
    (group,) = json.loads((folder / "weights_manifest.json").read_text(encoding="utf-8"))
    content = b"".join((folder / path).read_bytes() for path in group["paths"])
    theirs: dict[str, NDArray[np.float32]] = {}
    at = 0
    for entry in group["weights"]:
        count = int(np.prod(entry["shape"]))
        values = np.frombuffer(content, "<f4", count, at).reshape(entry["shape"])
        theirs[entry["name"].removeprefix("ae/dec/")] = values
        at += values.nbytes
    # Theirs unfolds 512 values as 4 x 4 x 32, ours as 32 x 4 x 4.
    order = np.arange(512).reshape(4, 4, 32).transpose(2, 0, 1).ravel()
    ours = {
        "dense.0.weight": theirs["W_fc1"].T,
        "dense.0.bias": theirs["b_fc1"],
        "dense.2.weight": theirs["W_fc2"].T[order],
        "dense.2.bias": theirs["b_fc2"][order],
    }
    for layer, index in ((1, 1), (3, 2), (5, 3), (7, 4)):
        ours[f"deconv.{layer}.weight"] = theirs[f"W_deconv{index}"].transpose(3, 2, 0, 1)
        ours[f"deconv.{layer}.bias"] = theirs[f"b_deconv{index}"]
    return ours


@pytest.fixture(scope="module")
def settings_and_decoded() -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """1,000 random settings of the grid and the published decoder's pictures of them."""
    rows = np.random.Generator(np.random.PCG64(5)).integers(0, dsprites.COUNT, 1_000)
    factors = dsprites.grid_factors(rows)
    decode = torch_backend.build(
        ARCHITECTURES["dsprites-conv"],
        5,
        published_weights(),
        device=torch.device("cpu"),
        threads=1,
    )
    return factors, decode(factors.astype(np.float32)).reshape(-1, 64, 64)


def test_pictures_differ_no_more_than_the_decoder_differs_from_the_official_ones(
    settings_and_decoded: tuple[NDArray[np.float64], NDArray[np.float32]],
) -> None:
    factors, decoded = settings_and_decoded
    error = ((dsprites.pictures(factors) - decoded) ** 2).sum(axis=(1, 2))
    assert error.mean() < 8.9
    for shape, most in ((1, 12.5), (2, 5.5), (3, 8.5)):
        assert error[factors[:, 0] == shape].mean() < most


@pytest.mark.parametrize(
    ("column", "change"),
    [(1, -0.1), (2, 2 * np.pi / 39), (3, 1 / 31), (4, 1 / 31)],
    ids=dsprites.NAMES[1:],
)
def test_one_step_of_any_factor_would_show(
    settings_and_decoded: tuple[NDArray[np.float64], NDArray[np.float32]],
    column: int,
    change: float,
) -> None:
    factors, decoded = settings_and_decoded
    changed = factors.copy()
    changed[:, column] += change
    low, high = dsprites.LIMITS[column]
    inside = (changed[:, column] >= low) & (changed[:, column] <= high)
    error = ((dsprites.pictures(changed[inside]) - decoded[inside]) ** 2).sum(axis=(1, 2))
    assert error.mean() > 1.5 * 8.9
