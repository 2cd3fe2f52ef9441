"""A model's encodings beside the true factors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labapp.base.errors import ModelError
from labapp.models.datasets import dsprites, mnist, sinelines
from labapp.models.representations import measuring, package
from labapp.models.representations.measuring import labelled_encodings
from tests.helpers import digits


def test_a_closed_form_encodes_factors_as_themselves() -> None:
    rows = labelled_encodings("sinelines/gt")
    assert rows is not None
    assert rows.codes.shape == rows.factors.shape == (5_000, 5)
    assert np.array_equal(rows.codes, rows.factors.astype(np.float32))
    assert rows.factor_names == sinelines.NAMES
    assert rows.code_names == sinelines.NAMES


def test_the_rows_are_those_that_the_card_was_measured_on() -> None:
    rows = labelled_encodings("dsprites/vae")
    assert rows is not None
    assert rows.codes.shape == rows.factors.shape == (measuring.INSTANCES, 5)
    assert rows.code_names == ("z1", "z2", "z3", "z4", "z5")
    assert rows.factor_names == dsprites.NAMES
    decoder = package.load_package("dsprites/vae", "cpu")
    held = measuring.held_out_data(decoder.card, None).held
    drawn = measuring.measured_rows(held)
    assert np.array_equal(rows.codes, decoder.latents[drawn])
    assert np.array_equal(rows.factors, held.factors(drawn))


def test_circles_have_no_data_to_be_scored_on() -> None:
    with pytest.raises(ModelError, match="no held-out data"):
        labelled_encodings("circles/gt")


@pytest.mark.parametrize("name", ["mnist8k/vae5", "mnist8k/ig5"])
def test_digits_have_no_true_factors(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On drawn digits: whether they are the ones of the card is asked elsewhere."""
    digits.write(tmp_path, "t10k", *digits.draw(mnist.COUNTS["t10k"], 1))
    monkeypatch.setattr(measuring, "_same_files", lambda *_: None)
    assert labelled_encodings(name, data_folder=tmp_path) is None
