"""Architectures and objectives against the papers' own descriptions and hand-made values."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
import torch
from torch import nn

from benchmarks.random_weights import random_decoder
from labapp.base.errors import ModelError
from labapp.models.representations import networks, torch_backend
from labapp.models.representations.effects import warm_up
from labapp.models.representations.recipe import ARCHITECTURES, ClosedForm, TrainedNetwork

TRAINED = [name for name, one in ARCHITECTURES.items() if isinstance(one.source, TrainedNetwork)]


def parameters(name: str, width: int) -> int:
    source = ARCHITECTURES[name].source
    assert isinstance(source, TrainedNetwork)
    return sum(p.numel() for p in source.decoder(width).parameters())


def test_the_published_sizes_layer_by_layer() -> None:
    assert parameters("sinelines-mlp", 5) == (5 + 1) * 256 + (256 + 1) * 256 + (256 + 1) * 64
    deconvolutions = 3 * (32 * 32 * 16 + 32) + (32 * 16 + 1)
    assert parameters("dsprites-conv", 5) == (5 + 1) * 256 + (256 + 1) * 512 + deconvolutions
    dense = 10 * 1024 + 2 * 1024 + 1024 * 6272 + 2 * 6272
    assert parameters("mnist-conv", 10) == dense + 128 * 64 * 16 + 2 * 64 + 64 * 16 + 1


@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("dimensions", [5, 10])
def test_a_random_decoder_behaves_as_a_package(name: str, dimensions: int) -> None:
    decoder = random_decoder(name, dimensions=dimensions, seed=1, device="cpu")
    assert len(decoder.space) == dimensions
    assert decoder.latents.shape[1] == dimensions
    x = decoder.decode(decoder.latents[:3])
    assert x.shape == (3, *ARCHITECTURES[name].output_shape)
    assert x.dtype == np.float32
    assert np.isfinite(x).all()
    assert np.ptp(x[0] - x[1]) > 0
    again = random_decoder(name, dimensions=dimensions, seed=1, device="cpu")
    assert np.array_equal(x, again.decode(decoder.latents[:3]))
    other = random_decoder(name, dimensions=dimensions, seed=2, device="cpu")
    assert not np.array_equal(x, other.decode(decoder.latents[:3]))


@pytest.mark.parametrize("name", TRAINED)
def test_rows_of_a_batch_are_decoded_as_each_alone(name: str) -> None:
    decoder = random_decoder(name, device="cpu")
    z = decoder.latents[:4]
    alone = np.concatenate([decoder.decode(row[None]) for row in z])
    np.testing.assert_allclose(decoder.decode(z), alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [n for n, a in ARCHITECTURES.items() if a.display == "image"])
def test_pictures_lie_between_black_and_white(name: str) -> None:
    architecture = ARCHITECTURES[name]
    if isinstance(architecture.source, ClosedForm):
        x = architecture.source.decode(architecture.source.sample_prior(20, 0))
    else:
        decoder = random_decoder(name, device="cpu")
        x = decoder.decode(decoder.latents[:20])
    assert x.shape[1:] == architecture.output_shape
    assert x.min() >= 0
    assert x.max() <= 1


def test_an_architecture_without_weights_is_refused() -> None:
    with pytest.raises(ModelError, match="closed-form:circles"):
        random_decoder("closed-form:circles")


def test_decoding_runs_on_one_cpu_thread() -> None:
    """What a decode computes, it computes in the thread that asks."""
    decoder = random_decoder("mnist-conv", device="cpu")
    z = np.zeros((1, decoder.space.width), np.float32)
    whole, here = time.process_time(), time.thread_time()
    for _ in range(100):
        decoder.decode(z)
    whole, here = time.process_time() - whole, time.thread_time() - here
    assert here > 0.01
    assert whole < 1.5 * here


@pytest.mark.parametrize(
    "z",
    [
        np.zeros(5, np.float32),
        np.zeros((1, 4), np.float32),
        np.zeros((1, 5), np.float64),
        np.zeros((1, 1, 5), np.float32),
    ],
)
def test_a_state_of_another_shape_or_type_is_refused(z: np.ndarray) -> None:
    decoder = random_decoder("sinelines-mlp", device="cpu")
    with pytest.raises(ValueError, match=r"float32 z of shape \(n, 5\)"):
        decoder.decode(z)


def test_a_view_that_is_reversed_or_read_only_is_decoded_as_its_copy() -> None:
    decoder = random_decoder("sinelines-mlp", device="cpu")
    view = decoder.latents[:4][::-1]
    x = decoder.decode(view)
    assert np.array_equal(x, decoder.decode(view.copy()))
    fixed = view.copy()
    fixed.flags.writeable = False
    assert np.array_equal(x, decoder.decode(fixed))


def test_the_result_is_the_callers_own() -> None:
    decoder = random_decoder("sinelines-mlp", device="cpu")
    z = decoder.latents[:1].copy()
    first = decoder.decode(z)
    kept = first.copy()
    decoder.decode(decoder.latents[1:2])
    first += 1
    assert np.array_equal(decoder.decode(z), kept)


def test_weights_begin_glorot_uniform_from_the_seed() -> None:
    layer = nn.Linear(100, 200)
    networks.initialise(layer, torch.Generator().manual_seed(5))
    bound = math.sqrt(6 / 300)
    weight = layer.weight.detach()
    assert weight.abs().max() <= bound
    assert weight.abs().max() > 0.99 * bound
    assert not layer.bias.any()


def test_warming_up_tells_what_a_decode_takes() -> None:
    decoder = random_decoder("sinelines-mlp", device="cpu")
    result = warm_up(decoder, n=20)
    assert (result.device, result.threads, result.n) == ("cpu", 1, 20)
    assert 0 < result.median_ms <= result.p95_ms <= result.p99_ms
    with pytest.raises(ValueError, match="1 or more"):
        warm_up(decoder, n=0)


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"),
    [(True, True, "cuda"), (True, False, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_cuda_comes_before_mps_before_the_cpu(
    monkeypatch: pytest.MonkeyPatch, cuda: bool, mps: bool, chosen: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert torch_backend.choose_device().type == chosen
    assert torch_backend.choose_device("cpu").type == "cpu"
