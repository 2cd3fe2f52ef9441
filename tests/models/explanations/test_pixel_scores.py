"""Scores of pixels against other computations: differences, and passes written out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from labapp.base.errors import ModelError
from labapp.models.explanations import pixel_scores
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.cnn import layers
from labapp.models.explanations.data import SCORINGS, scorings
from labapp.models.explanations.photos import UInt8
from labapp.models.explanations.pixel_scores import Scoring
from tests.helpers.sample import examples

SIZE, CLASSES = 24, 3
Array = np.ndarray[Any, np.dtype[np.float64]]


def net(seed: int, *, bias: float = 0.1, channels: int = 1) -> nn.Sequential:
    """A network as it is trained, with weights by chance, in double precision."""
    torch.manual_seed(seed)
    made = layers(channels, SIZE, CLASSES).double().eval()
    with torch.no_grad():
        for layer in made:
            if isinstance(layer, nn.Conv2d | nn.Linear):
                assert layer.bias is not None
                layer.bias.uniform_(-bias, bias) if bias else layer.bias.zero_()
    return made


def inputs_of(seed: int, n: int = 3, channels: int = 1) -> Tensor:
    random = np.random.default_rng(seed)
    return torch.from_numpy(random.uniform(0.05, 1, (n, channels, SIZE, SIZE)))


class ByHand:
    """A network's passes in NumPy, a layer at a time, for one picture."""

    def __init__(self, network: nn.Sequential, picture: Array) -> None:
        self.network = network
        self.inputs: list[Array] = []
        for layer in network:
            self.inputs.append(picture)
            picture = self._forward(layer, picture)
        self.scores = picture

    def _forward(self, layer: nn.Module, x: Array) -> Array:
        match layer:
            case nn.Conv2d():
                return conv(x, numbers(layer.weight)) + numbers(layer.bias)[:, None, None]
            case nn.Linear():
                return numbers(layer.weight) @ x + numbers(layer.bias)
            case nn.ReLU():
                return np.maximum(x, 0)
            case nn.MaxPool2d():
                c, h, w = x.shape
                even = x[:, : h // 2 * 2, : w // 2 * 2]
                blocks = even.reshape(c, h // 2, 2, w // 2, 2)
                return np.asarray(blocks.max((2, 4)))
            case _:
                return x.reshape(-1)

    def gradient(self, target: int, *, guided: bool) -> Array:
        back = np.eye(len(self.scores))[target]
        for layer, x in self.down():
            match layer:
                case nn.Conv2d():
                    back = conv_back(back, numbers(layer.weight), x.shape)
                case nn.Linear():
                    back = numbers(layer.weight).T @ back
                case nn.ReLU():
                    back = back * (x > 0) * ((back > 0) if guided else 1)
                case nn.MaxPool2d():
                    back = unpool(back, x)
                case _:
                    back = back.reshape(x.shape)
        return back

    def lrp(self, target: int) -> list[tuple[str, Array]]:
        """Relevance of the scores, then of the input of each layer from the last to the first."""
        relevance = np.eye(len(self.scores))[target] * self.scores
        told = [("scores", relevance)]
        for layer, x in self.down():
            match layer:
                case nn.Conv2d():
                    positive = np.maximum(numbers(layer.weight), 0)
                    z = conv(x, positive) + numbers(layer.bias)[:, None, None]
                    share = np.divide(relevance, z, out=np.zeros_like(z), where=relevance != 0)
                    relevance = x * conv_back(share, positive, x.shape)
                case nn.Linear():
                    weight = numbers(layer.weight)
                    z = weight @ x + numbers(layer.bias)
                    z = z + 0.1 * np.where(z >= 0, 1, -1)
                    relevance = x * (weight.T @ (relevance / z))
                case nn.MaxPool2d():
                    relevance = unpool(relevance, x)
                case nn.Flatten():
                    relevance = relevance.reshape(x.shape)
            told.append((type(layer).__name__, relevance))
        return told

    def down(self) -> Iterator[tuple[nn.Module, Array]]:
        return zip(reversed(list(self.network)), reversed(self.inputs), strict=True)


def numbers(tensor: Tensor | None) -> Array:
    assert tensor is not None
    return tensor.detach().numpy()


def conv(x: Array, weight: Array) -> Array:
    side = weight.shape[-1]
    windows = np.lib.stride_tricks.sliding_window_view(x, (side, side), (1, 2))
    return np.asarray(np.einsum("chwij,ocij->ohw", windows, weight))


def conv_back(back: Array, weight: Array, shape: tuple[int, ...]) -> Array:
    out = np.zeros(shape)
    _, h, w = back.shape
    for i in range(weight.shape[2]):
        for j in range(weight.shape[3]):
            out[:, i : i + h, j : j + w] += np.einsum("ohw,oc->chw", back, weight[:, :, i, j])
    return out


def unpool(back: Array, x: Array) -> Array:
    """All to the first of the greatest of each four."""
    out = np.zeros_like(x)
    for c, row, column in np.ndindex(*back.shape):
        four = x[c, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        dy, dx = divmod(int(four.argmax()), 2)
        out[c, 2 * row + dy, 2 * column + dx] += back[c, row, column]
    return out


def test_the_gradient_is_what_differences_say() -> None:
    network, inputs = net(1), inputs_of(1)
    found = pixel_scores.of_network(network, "gradient", inputs, [0, 1, 2])
    step = 1e-6
    random = np.random.default_rng(0)
    with torch.no_grad():
        for n, target in enumerate([0, 1, 2]):
            for y, x in random.integers(0, SIZE, (40, 2)):
                moved = torch.zeros(1, 1, SIZE, SIZE, dtype=torch.float64)
                moved[0, 0, y, x] = step
                one = inputs[n : n + 1]
                difference = (network(one + moved) - network(one - moved))[0, target] / (2 * step)
                assert float(found[n, 0, y, x]) == pytest.approx(float(difference), abs=1e-8)
            way = torch.from_numpy(random.normal(size=(1, 1, SIZE, SIZE)))
            difference = (network(one + step * way) - network(one - step * way))[0, target]
            along = float((found[n] * way).sum())
            assert along == pytest.approx(float(difference) / (2 * step), rel=1e-6)
    assert (found < 0).any(), "it keeps its sign"


@examples(10)
@given(seed=st.integers(0, 10**6), bias=st.sampled_from([0.0, 0.1, 0.5]))
def test_each_method_is_what_passes_by_hand_give(seed: int, bias: float) -> None:
    network, inputs = net(seed, bias=bias), inputs_of(seed)
    found = {
        one: pixel_scores.of_network(network, one, inputs, [0, 1, 2]).numpy() for one in SCORINGS
    }
    for n, picture in enumerate(inputs.numpy()):
        passes = ByHand(network, picture)
        assert passes.scores == pytest.approx(numbers(network(inputs[n : n + 1]))[0], abs=1e-12)
        assert found["gradient"][n] == pytest.approx(passes.gradient(n, guided=False), abs=1e-12)
        guided = passes.gradient(n, guided=True)
        assert found["guided_backprop"][n] == pytest.approx(guided, abs=1e-12)
        # captum adds 1e-9 to every denominator.
        relevance = passes.lrp(n)[-1][1]
        assert found["lrp"][n] == pytest.approx(relevance, abs=1e-5 * np.abs(relevance).max())


@examples(10)
@given(seed=st.integers(0, 10**6))
def test_without_biases_relevance_is_neither_made_nor_lost(seed: int) -> None:
    """But for the epsilon of the dense layer, which keeps z / (z + 0.1) of a score z."""
    network, inputs = net(seed, bias=0), inputs_of(seed)
    found = pixel_scores.of_network(network, "lrp", inputs, [0, 1, 2])
    for n, picture in enumerate(inputs.numpy()):
        passes = ByHand(network, picture)
        score = float(passes.scores[n])
        left = score * abs(score) / (abs(score) + 0.1)
        sums = [float(relevance.sum()) for _, relevance in passes.lrp(n)]
        assert sums[0] == score
        assert sums[1:] == pytest.approx([left] * len(sums[1:]), abs=1e-9)
        assert float(found[n].sum()) == pytest.approx(left, abs=1e-5)


def test_with_biases_what_is_lost_is_what_the_biases_take() -> None:
    network, inputs = net(3, bias=0.3), inputs_of(3)
    found = pixel_scores.of_network(network, "lrp", inputs, [0, 1, 2])
    for n, picture in enumerate(inputs.numpy()):
        passes = ByHand(network, picture)
        told = passes.lrp(n)
        taken = 0.0
        for (layer, x), (_, above) in zip(passes.down(), told, strict=False):
            if isinstance(layer, nn.Conv2d):
                bias = numbers(layer.bias)[:, None, None]
                z = conv(x, np.maximum(numbers(layer.weight), 0)) + bias
                shares = np.divide(above, z, out=np.zeros_like(z), where=above != 0)
                taken += float((shares * bias).sum())
        dense = float(told[1][1].sum())
        assert abs(taken) > 1e-4
        assert float(found[n].sum()) == pytest.approx(dense - taken, abs=1e-5)


def test_where_theory_says_so_the_methods_agree() -> None:
    """A dense layer alone; and a network in which nothing is negative."""
    torch.manual_seed(0)
    dense = nn.Sequential(nn.Flatten(), nn.Linear(SIZE**2, CLASSES, bias=False)).double()
    inputs = inputs_of(4)
    times_input = pixel_scores.of_network(dense, "gradient", inputs, [0, 1, 2]) * inputs
    z = dense(inputs).detach()[[0, 1, 2], [0, 1, 2]].reshape(3, 1, 1, 1)
    relevance = pixel_scores.of_network(dense, "lrp", inputs, [0, 1, 2])
    assert torch.allclose(relevance, times_input * (z / (z + 0.1 * z.sign())), atol=1e-9)

    positive = net(5, bias=0)
    with torch.no_grad():
        for value in positive.parameters():
            value.abs_()
    gradient, guided, lrp = (
        pixel_scores.of_network(positive, method, inputs, [0, 1, 2]) for method in SCORINGS
    )
    assert torch.allclose(gradient, guided, rtol=1e-12)
    z = positive(inputs).detach()[[0, 1, 2], [0, 1, 2]].reshape(3, 1, 1, 1)
    assert torch.allclose(lrp, gradient * inputs * (z / (z + 0.1)), rtol=1e-5, atol=1e-9)


def test_all_channels_are_scored() -> None:
    network, inputs = net(6, channels=3), inputs_of(6, channels=3)
    for method in SCORINGS:
        found = pixel_scores.of_network(network, method, inputs, [0, 1, 2])
        assert found.shape == inputs.shape
        assert (found.abs().amax((0, 2, 3)) > 0).all()


@pytest.mark.parametrize("method", SCORINGS)
def test_pictures_are_scored_alike_alone_and_among_many(
    method: Scoring, faces_cnn: Classifier
) -> None:
    random = np.random.default_rng(2)
    size = faces_cnn.size
    pictures: UInt8 = random.integers(0, 256, (pixel_scores.CHUNK + 3, 1, size, size), np.uint8)
    classes = faces_cnn.predicted(pictures)
    before = {name: value.clone() for name, value in faces_cnn.network.state_dict().items()}
    together = pixel_scores.scores(faces_cnn, method, pictures, classes)
    assert together.shape == (pixel_scores.CHUNK + 3, size, size)
    assert together.dtype == np.float32
    for n in (0, pixel_scores.CHUNK, pixel_scores.CHUNK + 2):
        alone = pixel_scores.scores(faces_cnn, method, pictures[n : n + 1], classes[n : n + 1])
        assert together[n] == pytest.approx(alone[0], rel=1e-4, abs=1e-7)
    after = faces_cnn.network.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert not any(hasattr(layer, "rule") for layer in faces_cnn.network)
    again = pixel_scores.scores(faces_cnn, method, pictures, classes)
    assert again.tobytes() == together.tobytes(), "to the last digit, whatever was asked before"
    other = pixel_scores.scores(faces_cnn, method, pictures[:3], 1 - classes[:3])
    assert not np.allclose(other, together[:3]), "another class has other scores"


def test_a_network_that_the_methods_do_not_go_through_is_refused(resnet: Classifier) -> None:
    pictures = np.zeros((1, 3, 96, 96), np.uint8)
    with pytest.raises(ModelError, match="The pixels of birds/resnet, a resnet") as refused:
        pixel_scores.scores(resnet, "lrp", pictures, np.zeros(1, np.int64))
    assert "cnn" in refused.value.todo
    assert scorings() == SCORINGS
