"""What `labapp models bench` states."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.onnx_decoders import write
from labapp.base.errors import UsageError
from labapp.models.representations import effects, package
from labapp.models.representations.effects import random_states


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

    with pytest.raises(UsageError, match="Which models"):
        models_bench(args[1:], every="--all" in args)
