"""The two published decoders, imported, give the published application's own output."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from labapp.models.representations import load_package
from labapp.models.representations.tfjs import import_package

PUBLISHED = Path(__file__).resolve().parents[5] / "shared/data/published-decoders"

pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"the published decoders are not at {PUBLISHED}"
)


@pytest.mark.parametrize(
    ("model", "shape", "error"), [("dsprites/gt", (64, 64), 8.9), ("sinelines/ae", (64,), 0.6)]
)
def test_output_limits_and_error(
    model: str, shape: tuple[int, ...], error: float, tmp_path: Path
) -> None:
    decoder = load_package(import_package(PUBLISHED / model, tmp_path / "out"), "cpu")
    dataset, name = model.split("/")
    expected = np.load(PUBLISHED / f"{dataset}_{name}_expected.npz", allow_pickle=False)
    for z, x in (("z", "x"), ("z_rounded", "x_rounded")):
        found = decoder.decode(expected[z].astype(np.float32))
        assert found.shape[1:] == shape
        assert np.abs(found.reshape(len(found), -1) - expected[x]).max() < 1e-5
    stated = json.loads((PUBLISHED / model / "config.json").read_text(encoding="utf-8"))
    limits = [(dial["low"], dial["high"]) for dial in decoder.space.to_json()]
    np.testing.assert_array_equal(limits, np.float32(stated["z_lims"]))
    np.testing.assert_array_equal(decoder.latents, np.float32(stated["z"]))
    np.testing.assert_array_equal(decoder.percentiles[95], np.float32(stated["z_pcts"]["95"]))
    assert decoder.card.held_out_error is not None
    assert decoder.card.held_out_error.published == pytest.approx(error, abs=0.05)
