"""The example decoders are written by their own code, and come in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from labapp.models.representations.importing.importing import import_decoder
from labapp.models.representations.onnx_backend import graph
from tests.helpers.installed import EXAMPLE

SCRIPT = EXAMPLE.parent / "decoders" / "pca.py"


def test_the_pca_of_digits_is_written_in_three_forms_and_comes_in(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT), str(tmp_path)], check=True, timeout=300
    )
    latents = np.load(tmp_path / "latents.npy")
    rows = torch.tensor(latents)
    expected = torch.export.load(tmp_path / "pca.pt2").module()(rows).detach().numpy()
    with pytest.warns(DeprecationWarning, match="jit"):
        scripted = torch.jit.load(tmp_path / "pca.pt")(rows)
    np.testing.assert_allclose(scripted.detach().numpy(), expected, atol=1e-6)
    made = import_decoder(
        tmp_path / "pca.onnx", "onnx", tmp_path / "latents.npy", "digits8/pca5",
        out=tmp_path / "model",
    )  # fmt: skip
    assert made.card.shape == (8, 8)
    run = graph((tmp_path / "pca.onnx").read_bytes(), "pca", (5,), (8, 8), todo="")
    np.testing.assert_allclose(run(latents[:50]), expected[:50], atol=1e-5)
