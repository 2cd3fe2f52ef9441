"""GradCAM against hooks and algebra, and the scale that a picture's maps share."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labapp.base.errors import ModelError
from labapp.models.explanations.classifier import Classifier
from labapp.models.explanations.photos import UInt8, as_input
from labapp.models.explanations.resnet import gradcam, of_network, scaled


def by_hooks(model: Classifier, pictures: UInt8, species: int) -> np.ndarray:
    """Mean gradient of the score for each channel, times the channel, summed, without negatives."""
    held: dict[str, torch.Tensor] = {}
    layer = model.network.get_submodule("backbone")
    handle = layer.register_forward_hook(lambda _m, _i, out: held.update(map=out))
    scores = model.network(as_input(pictures))
    handle.remove()
    (gradient,) = torch.autograd.grad(scores[:, species].sum(), held["map"])
    weight = gradient.mean((2, 3), keepdim=True)
    return (weight * held["map"]).sum(1).clamp(min=0).detach().numpy()


def test_maps_are_those_of_hooks_by_hand(resnet: Classifier, pictures: UInt8) -> None:
    maps, scores = of_network(resnet.network, pictures)  # type: ignore[arg-type]
    assert maps.shape == (10, 20, 12, 12)
    assert maps.dtype == np.float32
    assert np.allclose(scores, resnet.scores(pictures), atol=1e-5)
    speaking = np.flatnonzero(maps.max((0, 2, 3)) > 0)
    assert len(speaking) > 3
    for species in (*speaking[:3], int(maps.max((0, 2, 3)).argmin())):
        assert np.allclose(maps[:, species], by_hooks(resnet, pictures, species), atol=1e-6)


def test_after_mean_pooling_the_weights_are_those_of_the_head(
    resnet: Classifier, pictures: UInt8
) -> None:
    maps, _ = of_network(resnet.network, pictures[:2])  # type: ignore[arg-type]
    features = resnet.network.get_submodule("backbone")(as_input(pictures[:2])).detach()
    head = resnet.network.get_submodule("head").weight.detach()
    expected = torch.einsum("kc,nchw->nkhw", head, features).clamp(min=0) / 144
    assert np.allclose(maps, expected.numpy(), atol=1e-6)


def test_all_species_of_a_picture_share_one_scale(resnet: Classifier, pictures: UInt8) -> None:
    raw, _ = of_network(resnet.network, pictures)  # type: ignore[arg-type]
    maps = gradcam(resnet, pictures)
    assert (maps.min((1, 2, 3)) == 0).all()
    assert (maps.max((1, 2, 3)) == 1).all()
    assert (maps.max((2, 3)) < 0.99).any(), "some species' map must not reach the top by itself"
    for one, before in zip(maps, raw, strict=True):
        assert np.allclose(one * (before.max() - before.min()) + before.min(), before, atol=1e-6)


def test_maps_without_anything_stay_nothing() -> None:
    assert (scaled(np.zeros((1, 20, 3, 3), np.float32)) == 0).all()


def test_another_kind_of_classifier_is_refused(bagnet: Classifier, pictures: UInt8) -> None:
    with pytest.raises(ModelError, match="birds/bagnet is a ") as refused:
        gradcam(bagnet, pictures)
    assert refused.value.todo
