"""The fast decoders against the networks as they were trained."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from labapp.models.representations import distance, fast_decode, folding, torch_backend
from labapp.models.representations.decoders import Forward
from labapp.models.representations.networks import described
from labapp.models.representations.recipe import ARCHITECTURES, Architecture, TrainedNetwork
from labapp.models.representations.torch_backend import TorchKernels

Float32 = NDArray[np.float32]

CPU = torch.device("cpu")
TRAINED = [name for name, one in ARCHITECTURES.items() if isinstance(one.source, TrainedNetwork)]
LARGE = [name for name in TRAINED if name.startswith("mnist")]
WIDTH = 12
BATCHES = (1, 2, 24, 35, 64)


def lively(network: nn.Module, seed: int, *, half: bool = False) -> dict[str, Float32]:
    """Weights and statistics under which a decoder uses its whole range, float16 ones if asked."""
    generator = torch.Generator().manual_seed(seed)

    def uniform(tensor: torch.Tensor, low: float, high: float) -> None:
        tensor.copy_(low + (high - low) * torch.rand(tensor.shape, generator=generator))

    def normal(tensor: torch.Tensor, spread: float) -> None:
        tensor.copy_(spread * torch.randn(tensor.shape, generator=generator))

    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, nn.Linear | nn.ConvTranspose2d):
                taps = module.weight[0].numel()
                if isinstance(module, nn.ConvTranspose2d):
                    taps = module.in_channels * 4  # of 16 taps, stride 2 leaves 4 to each pixel
                normal(module.weight, (2 / taps) ** 0.5)
                if module.bias is not None:
                    normal(module.bias, 0.3)
            elif isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
                assert module.running_mean is not None
                assert module.running_var is not None
                normal(module.running_mean, 0.5)
                uniform(module.running_var, 0.05, 4.0)
                uniform(module.weight, -1.5, 2.5)
                normal(module.bias, 0.5)
    weights = torch_backend.weights_of(network)
    if half:
        return {name: w.astype(np.float16).astype(np.float32) for name, w in weights.items()}
    return weights


def both(
    name: str, *, exact: bool, half: bool = False, seed: int = 0
) -> tuple[Forward, Forward, np.random.Generator]:
    """The network as trained, the fast one, and a generator for z."""
    architecture = ARCHITECTURES[name]
    assert isinstance(architecture.source, TrainedNetwork)
    weights = lively(architecture.source.decoder(WIDTH), seed, half=half)
    plain = torch_backend.plain(architecture, WIDTH, weights, device=CPU, threads=1)
    fast = torch_backend.build(architecture, WIDTH, weights, device=CPU, threads=1, exact=exact)
    return plain, fast, np.random.default_rng(seed)


def states(generator: np.random.Generator, count: int) -> Float32:
    return generator.standard_normal((count, WIDTH), dtype=np.float32)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", TRAINED)
def test_float32_decodes_as_the_network_does(name: str, seed: int) -> None:
    plain, fast, generator = both(name, exact=True, seed=seed)
    assert fast.how == "float32"
    for count in BATCHES:
        z = states(generator, count)
        expected = plain(z)
        assert expected.std() > 0.1
        np.testing.assert_allclose(fast(z), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", TRAINED)
def test_weights_kept_as_float16_are_decoded_as_exactly(name: str) -> None:
    plain, fast, generator = both(name, exact=False, half=True)
    assert "rounded" not in fast.how
    for count in BATCHES:
        z = states(generator, count)
        np.testing.assert_allclose(fast(z), plain(z), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", LARGE)
def test_rounding_the_large_layer_changes_little_and_is_stated(name: str) -> None:
    plain, fast, generator = both(name, exact=False)
    if not TorchKernels().has_half:
        assert fast.how == "float32"
        return
    assert fast.how == "float32; 1024 x 6272 weights rounded to float16"
    z = states(generator, 400)
    expected, found = plain(z), fast(z)
    assert 0 < np.abs(found - expected).max() < 2e-3
    pairs = range(1, len(z))
    exact = [distance.mnist(expected[i], expected[i - 1]) for i in pairs]
    halved = [distance.mnist(found[i], found[i - 1]) for i in pairs]
    change = np.abs(np.subtract(halved, exact))
    assert change.max() <= 0.02
    assert change.mean() <= 0.002


@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("exact", [True, False])
def test_a_row_of_a_sheet_is_the_picture_of_the_dials(name: str, exact: bool) -> None:
    _, fast, generator = both(name, exact=exact)
    z = states(generator, 35)
    alone = np.concatenate([fast(row[None]) for row in z])
    np.testing.assert_allclose(fast(z), alone, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", TRAINED)
def test_pictures_are_the_callers_own_and_z_is_left_alone(name: str) -> None:
    _, fast, generator = both(name, exact=False)
    for count in (1, 3):
        z = states(generator, count)
        given = z.copy()
        first = fast(z)
        kept = first.copy()
        second = fast(-z)
        np.testing.assert_array_equal(first, kept)
        np.testing.assert_array_equal(z, given)
        assert not np.shares_memory(first, second)
        first[:] = 0.25
        np.testing.assert_array_equal(fast(given), kept)


def test_any_layout_of_z_will_do() -> None:
    _, fast, generator = both("dsprites-conv", exact=False)
    z = states(generator, 6)
    read_only = z.copy()
    read_only.setflags(write=False)
    for same in (np.asfortranarray(z), read_only, np.repeat(z, 2, axis=0)[::2]):
        np.testing.assert_array_equal(fast(same), fast(z))
    assert fast(z[:0]).shape == (0, 64, 64)


def test_weights_beyond_float16_stay_float32() -> None:
    architecture = ARCHITECTURES["mnist-conv"]
    assert isinstance(architecture.source, TrainedNetwork)
    weights = lively(architecture.source.decoder(WIDTH), 0)
    weights["dense.3.weight"][7, 7] = 70_000.0
    fast = torch_backend.build(architecture, WIDTH, weights, device=CPU, threads=1)
    assert fast.how == "float32"


def test_a_build_without_float16_kernels_keeps_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_decode, "halves", lambda weight: False)
    plain, fast, generator = both("mnist-conv", exact=False)
    assert fast.how == "float32"
    z = states(generator, 3)
    np.testing.assert_allclose(fast(z), plain(z), rtol=1e-5, atol=1e-5)


class Foreign(nn.Module):
    """A decoder with an activation that the folding does not know."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 64), nn.Tanh())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        decoded: torch.Tensor = self.body(z)
        return decoded


def test_an_unknown_network_is_decoded_as_it_is() -> None:
    architecture = Architecture(
        "foreign", (64,), "series", TrainedNetwork(Foreign, None, "gaussian")
    )
    network = Foreign(WIDTH)
    weights = torch_backend.weights_of(network)
    forward = torch_backend.build(architecture, WIDTH, weights, device=CPU, threads=1)
    assert forward.how == "float32, layer by layer"
    z = states(np.random.default_rng(0), 5)
    with torch.no_grad():
        np.testing.assert_array_equal(forward(z), network(torch.from_numpy(z)).numpy())


def stack(*modules: nn.Module, seed: int = 0) -> nn.Module:
    network = nn.Sequential(*modules)
    lively(network, seed)
    return network.requires_grad_(False).eval()


def folded(network: nn.Module) -> list[folding.Layer] | None:
    layers = described(network)
    return None if layers is None else folding.fold(layers, torch_backend.weights_of(network))


def run(network: nn.Module, z: torch.Tensor) -> torch.Tensor:
    layers = folded(network)
    assert layers is not None
    steps, _ = fast_decode.steps(layers, TorchKernels(), sigmoid=False, exact=True)
    for step in steps:
        z = step(z)
    return z


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("channels", [1, 3])
def test_normalisation_folds_into_layers_with_and_without_bias(biased: bool, channels: int) -> None:
    network = stack(
        nn.Linear(WIDTH, 48, bias=biased),
        nn.BatchNorm1d(48, eps=1e-2),
        nn.BatchNorm1d(48),
        nn.LeakyReLU(0.3),
        nn.Unflatten(1, (3, 4, 4)),
        nn.ConvTranspose2d(3, 5, 4, stride=2, padding=1, bias=biased),
        nn.BatchNorm2d(5),
        nn.ReLU(),
        nn.ConvTranspose2d(5, channels, 3, stride=2, padding=0, bias=biased),
        nn.BatchNorm2d(channels),
        nn.LeakyReLU(0.1),
    )
    z = torch.randn(7, WIDTH, generator=torch.Generator().manual_seed(1))
    expected = network(z)
    assert expected.shape == (7, channels, 17, 17)
    torch.testing.assert_close(run(network, z), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "modules",
    [
        (nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4)),
        (nn.BatchNorm1d(4), nn.Linear(4, 4)),
        (nn.ReLU(), nn.Linear(4, 4)),
        (nn.Linear(4, 4), nn.ReLU(), nn.ReLU()),
        (nn.Linear(4, 4), nn.BatchNorm1d(4, affine=False)),
        (nn.Linear(4, 4), nn.BatchNorm1d(4, track_running_stats=False)),
        (nn.Linear(4, 4), nn.Unflatten(1, (1, 2, 2)), nn.ConvTranspose2d(1, 1, (2, 3))),
        (nn.Linear(4, 4), nn.Unflatten(1, (1, 2, 2)), nn.ConvTranspose2d(1, 1, 3, 2, 1, 1)),
        (nn.Linear(4, 4), nn.Unflatten(1, (2, 2, 1)), nn.ConvTranspose2d(2, 2, 3, groups=2)),
        (nn.Linear(4, 4), nn.Unflatten(1, (1, 2, 2)), nn.ConvTranspose2d(1, 1, 3, dilation=2)),
        (nn.Linear(4, 4), nn.Unflatten(1, (2, 2))),
    ],
)
def test_what_cannot_be_folded_is_left_to_the_network(modules: tuple[nn.Module, ...]) -> None:
    assert folded(nn.Sequential(*modules)) is None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
@pytest.mark.parametrize("name", TRAINED)
def test_a_cuda_graph_decodes_as_the_cpu_does(name: str) -> None:
    architecture = ARCHITECTURES[name]
    assert isinstance(architecture.source, TrainedNetwork)
    weights = lively(architecture.source.decoder(WIDTH), 0)
    plain = torch_backend.plain(architecture, WIDTH, weights, device=CPU, threads=1)
    cuda = torch.device("cuda")
    fast = torch_backend.build(architecture, WIDTH, weights, device=cuda, threads=1)
    generator = np.random.default_rng(0)
    for count in (*BATCHES, 1, 1):
        z = states(generator, count)
        first = fast(z)
        np.testing.assert_allclose(first, plain(z), rtol=1e-4, atol=1e-4)
        kept = first.copy()
        fast(-z)
        np.testing.assert_array_equal(first, kept)
