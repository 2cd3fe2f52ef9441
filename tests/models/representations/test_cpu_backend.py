"""Decoders computed by ONNX Runtime against the networks as they were trained."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import nn

from labapp.base.errors import ModelError
from labapp.models.datasets.split import Float32
from labapp.models.representations import cpu_backend, torch_backend
from labapp.models.representations.decoders import Forward
from labapp.models.representations.package import find, load_package
from labapp.models.representations.recipe import (
    ARCHITECTURES,
    Architecture,
    Deconvolution,
    Dense,
    Layer,
    Normalisation,
    Rectifier,
    TrainedNetwork,
    Unfold,
)
from labapp.models.training import files

CPU = torch.device("cpu")
TRAINED = [name for name, one in ARCHITECTURES.items() if isinstance(one.source, TrainedNetwork)]
SHIPPED = ("sinelines/vae", "dsprites/vae", "mnist8k/ss5", "mnist8k/ig5")
"""One of each architecture."""
WIDTH = 12
BATCHES = (1, 2, 24, 35, 64)


def lively(network: nn.Module, seed: int) -> dict[str, Float32]:
    """Weights and statistics under which a decoder uses its whole range."""
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
    return torch_backend.weights_of(network)


def built(architecture: Architecture, weights: dict[str, Float32]) -> Forward:
    forward = cpu_backend.build(architecture, WIDTH, weights, threads=1)
    assert forward is not None
    return forward


def both(name: str, seed: int = 0) -> tuple[Forward, Forward, np.random.Generator]:
    """The network as trained, the graph of it, and a generator for z."""
    architecture = ARCHITECTURES[name]
    assert isinstance(architecture.source, TrainedNetwork)
    weights = lively(architecture.source.decoder(WIDTH), seed)
    plain = torch_backend.plain(architecture, WIDTH, weights, device=CPU, threads=1)
    return plain, built(architecture, weights), np.random.default_rng(seed)


def states(generator: np.random.Generator, count: int) -> Float32:
    return generator.standard_normal((count, WIDTH), dtype=np.float32)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", TRAINED)
def test_a_graph_decodes_as_the_network_does(name: str, seed: int) -> None:
    plain, fast, generator = both(name, seed)
    assert (fast.how, fast.engine) == ("float32", "onnxruntime")
    for count in BATCHES:
        z = states(generator, count)
        expected = plain(z)
        assert expected.std() > 0.1
        np.testing.assert_allclose(fast(z), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", TRAINED)
def test_a_row_of_a_sheet_is_the_picture_of_the_dials(name: str) -> None:
    _, fast, generator = both(name)
    z = states(generator, 35)
    alone = np.concatenate([fast(row[None]) for row in z])
    np.testing.assert_array_equal(fast(z), alone)


@pytest.mark.parametrize("name", TRAINED)
def test_pictures_are_the_callers_own_and_z_is_left_alone(name: str) -> None:
    _, fast, generator = both(name)
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
    _, fast, generator = both("dsprites-conv")
    z = states(generator, 6)
    read_only = z.copy()
    read_only.setflags(write=False)
    for same in (np.asfortranarray(z), read_only, np.repeat(z, 2, axis=0)[::2]):
        np.testing.assert_array_equal(fast(same), fast(z))
    assert fast(z[:0]).shape == (0, 64, 64)


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
    assert cpu_backend.build(architecture, WIDTH, weights, threads=1) is None
    forward = torch_backend.build(architecture, WIDTH, weights, device=CPU, threads=1)
    assert (forward.how, forward.engine) == ("float32, layer by layer", "torch")
    z = states(np.random.default_rng(0), 5)
    with torch.no_grad():
        np.testing.assert_array_equal(forward(z), network(torch.from_numpy(z)).numpy())


def stack(*modules: nn.Module, seed: int = 0) -> nn.Module:
    network = nn.Sequential(*modules)
    lively(network, seed)
    return network.requires_grad_(False).eval()


def describe_layers(network: nn.Module) -> Iterator[tuple[str, Layer]] | None:
    """The layers of a network whose modules run in the order in which they are registered, each
    with its name; None when it holds a module of a kind that `layers` does not know."""
    pairs = [
        (name, _layer(module))
        for name, module in network.named_modules()
        if not any(module.children())
    ]
    known = [(name, layer) for name, layer in pairs if layer is not None]
    return iter(known) if len(known) == len(pairs) else None


def _layer(module: nn.Module) -> Layer | None:
    match module:
        case nn.Linear():
            return Dense(module.in_features, module.out_features, module.bias is not None)
        case nn.ConvTranspose2d() if _plain(module):
            size, stride = module.kernel_size[0], module.stride[0]
            bias, padding = module.bias is not None, int(module.padding[0])
            return Deconvolution(
                module.in_channels, module.out_channels, bias, size, stride, padding
            )
        case nn.BatchNorm1d() | nn.BatchNorm2d():
            pictures = isinstance(module, nn.BatchNorm2d)
            whole = module.affine and module.track_running_stats
            return Normalisation(module.num_features, pictures, module.eps) if whole else None
        case nn.ReLU():
            return Rectifier()
        case nn.LeakyReLU():
            return Rectifier(module.negative_slope)
        case nn.Unflatten() if len(module.unflattened_size) == 3:
            channels, height, width = map(int, module.unflattened_size)
            return Unfold((channels, height, width))
    return None


def _plain(module: nn.ConvTranspose2d) -> bool:
    """Whether stride and padding are one number each and nothing else is set."""
    square = all(len(set(pair)) == 1 for pair in (module.kernel_size, module.stride))
    return (
        square
        and module.padding == (module.padding[0],) * 2
        and module.output_padding == (0, 0)
        and module.dilation == (1, 1)
        and module.groups == 1
    )


def folded(network: nn.Module) -> list[cpu_backend.Layer] | None:
    layers = describe_layers(network)
    return None if layers is None else cpu_backend.fold(layers, torch_backend.weights_of(network))


def run(network: nn.Module, z: torch.Tensor) -> torch.Tensor:
    layers = folded(network)
    assert layers is not None
    graph = cpu_backend.graph_of(layers, z.shape[1], sigmoid=False, threads=1)
    return torch.from_numpy(graph(z.numpy()))


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


@pytest.mark.parametrize("name", TRAINED)
def test_layers_in_words_are_those_of_the_network(name: str) -> None:
    architecture = ARCHITECTURES[name]
    assert isinstance(architecture.source, TrainedNetwork)
    network, parts = architecture.source.decoder(WIDTH), architecture.source.parts
    assert parts is not None
    layers = describe_layers(network)
    assert layers is not None
    assert list(layers) == list(cpu_backend.walk_layers(parts(WIDTH)))
    weights = torch_backend.weights_of(network)
    shapes = {key: values.shape for key, values in weights.items()}
    assert cpu_backend.shapes(parts(WIDTH)) == shapes
    del weights[next(iter(weights))]
    with pytest.raises(ModelError, match=f"not fit {architecture.name}: the file lacks"):
        built(architecture, weights)


def test_weights_that_decode_to_nothing_are_refused() -> None:
    architecture = ARCHITECTURES["sinelines-mlp"]
    assert isinstance(architecture.source, TrainedNetwork)
    weights = lively(architecture.source.decoder(WIDTH), 0)
    weights["body.4.bias"][:] = np.inf
    with pytest.raises(ModelError, match="not finite"):
        built(architecture, weights)


def test_a_network_that_no_words_describe_is_left_to_torch() -> None:
    source = ARCHITECTURES["sinelines-mlp"].source
    assert isinstance(source, TrainedNetwork)
    alone = TrainedNetwork(source.decoder, None, "gaussian")
    architecture = Architecture("of-a-lab", (64,), "series", alone)
    weights = torch_backend.weights_of(source.decoder(WIDTH))
    assert cpu_backend.build(architecture, WIDTH, weights, threads=1) is None


@pytest.mark.parametrize("model", SHIPPED)
def test_shipped_models_decode_as_the_networks_do(model: str) -> None:
    """Within 3e-5 of layer by layer; grey levels differ by one in a few pixels of a million."""
    decoder = load_package(model)
    assert decoder.backend[0] == "onnxruntime"
    folder = find(model)
    card = decoder.card
    weights = files.read_weights(folder / files.WEIGHTS, card.weights_sha256 or "")
    plain = torch_backend.plain(card.made_by, card.space.width, weights, device=CPU, threads=1)
    z = decoder.space.encode_rows(decoder.latents[:100]).astype(np.float32)
    expected, decoded = plain(z), decoder.decode(z)
    np.testing.assert_allclose(decoded, expected, rtol=0, atol=3e-5)
    if model.startswith("sinelines"):
        return
    grey = [np.round(255 * np.clip(x, 0, 1)).astype(int) for x in (expected, decoded)]
    apart = np.abs(grey[0] - grey[1])
    assert apart.max() <= 1
    assert apart.mean() <= 1e-5


def test_the_environment_says_where_to_decode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABAPP_DEVICE", "abacus")
    with pytest.raises(ModelError, match="'abacus' is not available"):
        load_package("dsprites/vae")
    assert load_package("dsprites/vae", "cpu").device == "cpu"


def test_decoding_leaves_torch_out() -> None:
    program = """
import sys
import numpy as np
from labapp.session.pictures import load_warm
decoder = load_warm(["dsprites/vae"]).decoders["dsprites/vae"]
assert decoder.decode(np.zeros((1, decoder.space.width), np.float32)).std() > 0.01
assert "torch" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


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
