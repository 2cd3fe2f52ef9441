"""Our architectures with the published weights give the published application's own output."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from labapp.representations import torch_backend
from labapp.representations.architectures import ARCHITECTURES

PUBLISHED = Path(__file__).resolve().parents[3] / "shared/data/published-decoders"

pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"the published decoders are not at {PUBLISHED}"
)


def published_weights(model: str) -> dict[str, np.ndarray]:
    folder = PUBLISHED / model / "decoder_web"
    (group,) = json.loads((folder / "weights_manifest.json").read_text(encoding="utf-8"))
    content = b"".join((folder / path).read_bytes() for path in group["paths"])
    weights: dict[str, np.ndarray] = {}
    at = 0
    for entry in group["weights"]:
        dtype = np.dtype(entry["dtype"]).newbyteorder("<")
        count = int(np.prod(entry["shape"]))
        values = np.frombuffer(content, dtype, count, at).reshape(entry["shape"])
        weights[entry["name"].removeprefix("ae/dec/")] = values
        at += values.nbytes
    assert at == len(content)
    return weights


def decode(architecture: str, weights: dict[str, np.ndarray], z: np.ndarray) -> np.ndarray:
    forward = torch_backend.build(
        ARCHITECTURES[architecture], 5, weights, device=torch.device("cpu"), threads=1
    )
    return forward(z.astype(np.float32))


def test_sinelines_autoencoder() -> None:
    theirs = published_weights("sinelines/ae")
    ours = {}
    for layer, name in ((0, "fc0"), (2, "fc1"), (4, "out")):
        ours[f"body.{layer}.weight"] = theirs[f"{name}/kernel"].T
        ours[f"body.{layer}.bias"] = theirs[f"{name}/bias"]
    expected = np.load(PUBLISHED / "sinelines_ae_expected.npz", allow_pickle=False)
    x = decode("sinelines-mlp", ours, expected["z"])
    np.testing.assert_allclose(x, expected["x"], rtol=1e-4, atol=1e-4)


def test_dsprites_ground_truth() -> None:
    theirs = published_weights("dsprites/gt")
    # The published network unfolds 512 values as 4 x 4 x 32, ours as 32 x 4 x 4.
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
    expected = np.load(PUBLISHED / "dsprites_gt_expected.npz", allow_pickle=False)
    x = decode("dsprites-conv", ours, expected["z"])
    np.testing.assert_allclose(x.reshape(5, -1), expected["x"], atol=1e-4)
