"""Evaluating and measuring representations, and how long decoding takes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.onnx_decoders import write
from labapp.base.errors import ModelError, UsageError
from labapp.models.datasets import dsprites, mnist, sinelines
from labapp.models.datasets.split import Float32, Split
from labapp.models.representations import effects, measuring, package
from labapp.models.representations.card import ModelCard, slider
from labapp.models.representations.effects import random_states
from labapp.models.representations.measuring import load_labelled_encodings
from labapp.models.representations.recipe import ARCHITECTURES, PublishedScores
from tests.helpers import digits
from tests.models.metrics.brief import few_trees


def test_a_closed_form_encodes_factors_as_themselves() -> None:
    rows = load_labelled_encodings("sinelines/gt")
    assert rows is not None
    assert rows.codes.shape == rows.factors.shape == (5_000, 5)
    assert np.array_equal(rows.codes, rows.factors.astype(np.float32))
    assert rows.factor_names == sinelines.NAMES
    assert rows.code_names == sinelines.NAMES


def test_the_rows_are_those_that_the_card_was_measured_on() -> None:
    rows = load_labelled_encodings("dsprites/vae")
    assert rows is not None
    assert rows.codes.shape == rows.factors.shape == (measuring.INSTANCES, 5)
    assert rows.code_names == ("z1", "z2", "z3", "z4", "z5")
    assert rows.factor_names == dsprites.NAMES
    decoder = package.load_package("dsprites/vae", "cpu")
    held = measuring.load_held_out(decoder.card, None).held
    drawn = measuring.choose_rows(held)
    assert np.array_equal(rows.codes, decoder.latents[drawn])
    assert np.array_equal(rows.factors, held.factors(drawn))


def test_circles_have_no_data_to_be_scored_on() -> None:
    with pytest.raises(ModelError, match="no held-out data"):
        load_labelled_encodings("circles/gt")


@pytest.mark.parametrize("name", ["mnist8k/vae5", "mnist8k/ig5"])
def test_digits_have_no_true_factors(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On drawn digits: whether they are the ones of the card is asked elsewhere."""
    digits.write(tmp_path, "t10k", *digits.draw(mnist.COUNTS["t10k"], 1))
    monkeypatch.setattr(measuring, "_same_files", lambda *_: None)
    assert load_labelled_encodings(name, data_folder=tmp_path) is None


HELD, MEASURED = 3_000, 1_000

CARD = ModelCard.model_validate(
    {
        "card": 1,
        "id": "dsprites/true",
        "title": "The factors themselves",
        "dataset": "dsprites",
        "architecture": "dsprites-conv",
        "display": ARCHITECTURES["dsprites-conv"].display,
        "sampling": "held-out",
        "dimensions": [
            slider(name, low, high).model_dump()
            for name, (low, high) in zip(dsprites.NAMES, dsprites.LIMITS, strict=True)
        ],
    }
)


def a_split() -> Split:
    """More held-out rows than are measured, in the grid's order, as `dsprites.split` has them."""
    rows = np.arange(0, dsprites.COUNT, dsprites.COUNT // HELD)[:HELD]
    held = dsprites.RenderedSprites(rows)
    return Split(train=held, held=held, factor_names=dsprites.NAMES, generative=True)


def test_the_rows_that_are_measured_show_every_value_of_the_factors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measuring, "INSTANCES", MEASURED)
    data = a_split()
    latents = data.held.factors(np.arange(HELD)).astype(np.float32)

    def decode(z: Float32) -> Float32:
        return dsprites.pictures(np.clip(z, *np.array(dsprites.LIMITS, np.float32).T))

    with few_trees():
        found = measuring.measure(CARD, decode, latents, None, data, published=PublishedScores())
    assert found.disentanglement is not None
    assert found.disentanglement.instances == MEASURED
    assert found.disentanglement.mig > 0.9
    assert found.disentanglement.dci.disentanglement > 0.98


def test_bench_gives_the_stable_keys_first() -> None:
    result = effects.bench(package.load_package("circles/gt"), n=5)
    keys = ["model", "device", "threads", "n", "median_ms", "p95_ms", "p99_ms"]
    assert list(result)[: len(keys)] == keys
    assert result["model"] == "circles/gt"


def test_bench_sets_times_against_a_frame_and_times_the_sheets() -> None:
    result = effects.bench(package.load_package("circles/gt"), n=5)
    share = result["median_ms"] / result["frame_budget_ms"]
    assert result["budget_share"] == pytest.approx(share, abs=1e-4)
    assert result["batch_24_ms"] > 0
    assert result["batch_35_ms"] > 0
    assert result["arithmetic"] == "closed form"


def test_bench_states_the_arithmetic_of_a_trained_model() -> None:
    assert effects.bench(package.load_package("sinelines/ae", "cpu"), 5)["arithmetic"] == "float32"


def test_random_states_lie_on_the_dials_and_repeat() -> None:
    decoder = package.load_package("circles/gt")
    states = random_states(decoder.space, 50)
    assert states.dtype == np.float32
    assert states.shape == (50, decoder.space.width)
    for column, dimension in zip(states.T, decoder.card.dimensions, strict=True):
        assert dimension.low <= column.min() < column.max() <= dimension.high
    np.testing.assert_array_equal(states, random_states(decoder.space, 50))
    assert not np.array_equal(states, random_states(decoder.space, 50, seed=1))


def test_several_models_are_timed_by_one_command(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from labapp.cli.models import models_app

    own = write(tmp_path, "own/model", (8, 8))
    args = [
        "bench",
        "circles/gt",
        str(own),
        "sinelines/ae",
        "--n",
        "3",
        "--device",
        "cpu",
        "--json",
    ]
    result = CliRunner().invoke(models_app, args)
    rows = json.loads(result.output)
    assert [row["model"] for row in rows] == ["circles/gt", "own/model", "sinelines/ae"]
    assert [row["backend"].split()[0] for row in rows] == ["numpy", "onnxruntime", "onnxruntime"]


@pytest.mark.parametrize("args", [[], ["--all", "circles/gt"]])
def test_it_is_said_how_to_name_what_is_timed(args: list[str]) -> None:
    from labapp.cli.models import models_bench

    with pytest.raises(UsageError, match="No model was named"):
        models_bench(args[1:], all_="--all" in args)
