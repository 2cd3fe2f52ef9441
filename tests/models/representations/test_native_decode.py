"""Decoding without importing torch: the same bits, and torch after all where it cannot be."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from labapp.base.errors import ModelError
from labapp.models.representations import folding, native_backend, torch_backend
from labapp.models.representations.native_backend import NotNative
from labapp.models.representations.networks import described
from labapp.models.representations.package import load_package
from labapp.models.representations.recipe import ARCHITECTURES, Architecture, TrainedNetwork
from tests.models.representations.test_fast_decode import (
    BATCHES,
    CPU,
    TRAINED,
    WIDTH,
    lively,
    states,
)

Float32 = NDArray[np.float32]
SHIPPED = ("sinelines/vae", "dsprites/vae", "mnist8k/ss5", "mnist8k/ig5")
"""One of each architecture."""


def network_of(name: str) -> tuple[Architecture, TrainedNetwork]:
    architecture = ARCHITECTURES[name]
    assert isinstance(architecture.source, TrainedNetwork)
    return architecture, architecture.source


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", TRAINED)
def test_the_same_bits_without_torch(name: str, exact: bool, half: bool) -> None:
    architecture, source = network_of(name)
    weights = lively(source.decoder(WIDTH), 0, half=half)
    fast = torch_backend.build(architecture, WIDTH, weights, device=CPU, threads=1, exact=exact)
    native = native_backend.build(architecture, WIDTH, weights, threads=1, exact=exact)
    assert native is not None
    assert native.how == fast.how
    generator = np.random.default_rng(0)
    for count in (*BATCHES, 1, 0):
        z = states(generator, count)
        x = native(z)
        assert np.array_equal(x, fast(z))
        assert not np.shares_memory(x, native(z))


@pytest.mark.parametrize("model", SHIPPED)
def test_shipped_models_show_the_same_pictures(model: str) -> None:
    native, usual = load_package(model, native=True), load_package(model, "cpu")
    z = usual.space.encode_rows(usual.latents[:100]).astype(np.float32)
    for row in z:
        assert np.array_equal(native.decode(row[None]), usual.decode(row[None]))


@pytest.mark.parametrize("name", TRAINED)
def test_layers_in_words_are_those_of_the_network(name: str) -> None:
    architecture, source = network_of(name)
    network, parts = source.decoder(WIDTH), source.parts
    assert parts is not None
    layers = described(network)
    assert layers is not None
    assert list(layers) == list(folding.named(parts(WIDTH)))
    weights = torch_backend.weights_of(network)
    shapes = {key: values.shape for key, values in weights.items()}
    assert folding.shapes(parts(WIDTH)) == shapes
    del weights[next(iter(weights))]
    with pytest.raises(ModelError, match=f"not those of {architecture.name}: the file lacks"):
        native_backend.build(architecture, WIDTH, weights, threads=1)


def test_weights_that_decode_to_nothing_are_refused() -> None:
    architecture, source = network_of("sinelines-mlp")
    weights = lively(source.decoder(WIDTH), 0)
    weights["body.4.bias"][:] = np.inf
    with pytest.raises(ModelError, match="not finite"):
        native_backend.build(architecture, WIDTH, weights, threads=1)


def test_where_the_library_cannot_torch_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = load_package("sinelines/vae", "cpu")

    def refuse() -> None:
        raise NotNative("of another version")

    monkeypatch.setattr(native_backend, "library", refuse)
    other = load_package("sinelines/vae", native=True)
    z = usual.space.encode_rows(usual.latents[:3]).astype(np.float32)
    assert np.array_equal(other.decode(z), usual.decode(z))


def test_a_function_that_fails_says_so() -> None:
    library = native_backend.library()
    one = library.tensor(np.ones((2, 3), np.float32))
    with pytest.raises(NotNative, match="addmm_out failed"), library.quiet():
        library("aoti_torch_cpu_addmm_out", *(4 * [one.handle]), 1.0, 1.0)


def test_a_network_that_no_words_describe_is_left_to_torch() -> None:
    _, source = network_of("sinelines-mlp")
    alone = TrainedNetwork(source.decoder, None, "gaussian")
    architecture = Architecture("of-a-lab", (64,), "series", alone)
    weights = torch_backend.weights_of(source.decoder(WIDTH))
    assert native_backend.build(architecture, WIDTH, weights, threads=1) is None


def test_recorded_pictures_are_there_without_torch_and_torch_comes_after_them() -> None:
    program = """
import sys
import numpy as np
from labapp.session.replay.history import RecordedDecoders
decoder = RecordedDecoders({"dsprites/vae": ""})["dsprites/vae"]
z = np.zeros((1, decoder.space.width), np.float32)
picture = decoder.decode(z)
assert picture.std() > 0.01
assert "torch" not in sys.modules
from labapp.models.representations.package import load_package
assert np.array_equal(load_package("dsprites/vae", "cpu").decode(z), picture)
assert "torch" in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_threads_are_those_of_torch() -> None:
    torch.set_num_threads(2)
    native_backend.library().set_threads(1)
    assert torch.get_num_threads() == 1
