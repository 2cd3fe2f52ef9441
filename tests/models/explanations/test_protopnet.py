"""The pieces of a ProtoPNet, each against its definition."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from labapp.models.explanations import protopnet
from labapp.models.explanations.patches import nearest_patches
from labapp.models.explanations.protopnet import (
    MAXIMUM,
    ProtoPNet,
    first_weights,
    own_class,
    similarity,
)


def small(classes: int = 3, each: int = 2) -> tuple[ProtoPNet, torch.Tensor, torch.Tensor]:
    torch.manual_seed(3)
    network = ProtoPNet(classes, each, 5).eval()
    return network, torch.rand(12, 3, 48, 48), torch.arange(12) % classes


def test_similarity_is_largest_at_no_distance_and_falls() -> None:
    values = similarity(torch.tensor([0.0, 1e-4, 1.0, 5.0, 64.0], dtype=torch.float64))
    assert values[0] == pytest.approx(MAXIMUM) == pytest.approx(math.log(1e4))
    assert (values.diff() < 0).all()
    assert values[-1] > 0


def test_losses_are_those_of_a_slow_reference() -> None:
    random = np.random.default_rng(0)
    nearest = torch.from_numpy(random.random((7, 6)))
    owners, labels = torch.tensor([0, 0, 1, 1, 2, 2]), torch.from_numpy(random.integers(0, 3, 7))
    weights, logits = (
        torch.from_numpy(random.normal(size=(3, 6))),
        torch.from_numpy(random.normal(size=(7, 3))),
    )
    near, far, entropy = [], [], []
    for n in range(7):
        near.append(min(nearest[n, p].item() for p in range(6) if owners[p] == labels[n]))
        far.append(min(nearest[n, p].item() for p in range(6) if owners[p] != labels[n]))
        row = logits[n].tolist()
        entropy.append(math.log(sum(map(math.exp, row))) - row[labels[n]])
    off = sum(abs(weights[c, p].item()) for c in range(3) for p in range(6) if owners[p] != c)
    found = protopnet.loss_terms(logits, nearest, weights, owners, labels)
    assert found.cluster.item() == pytest.approx(np.mean(near))
    assert found.separation.item() == pytest.approx(np.mean(far))
    assert found.cross_entropy.item() == pytest.approx(np.mean(entropy))
    whole = np.mean(entropy) + 0.8 * np.mean(near) - 0.08 * np.mean(far) + 1e-4 * off
    assert found.loss.item() == pytest.approx(whole)


def test_after_the_push_a_prototype_is_as_similar_to_its_source_as_can_be() -> None:
    network, pictures, labels = small()
    with torch.no_grad():
        latent = network.latent(pictures)
        patches = nearest_patches(
            [latent], labels, network.prototypes, own_class(network.owners, 3)
        )
        network.prototypes.copy_(patches.vectors)
        alike = similarity(network.nearest(pictures))
    assert (labels[torch.from_numpy(patches.rows)] == network.owners).all()
    own = alike[torch.from_numpy(patches.rows), torch.arange(6)]
    # The float32 copy of a patch is some 1e-8 from it, which the similarity's logarithm shows.
    np.testing.assert_allclose(own.numpy(), MAXIMUM, atol=1e-6)


def test_the_last_layer_begins_with_own_and_other() -> None:
    assert first_weights(torch.tensor([0, 1, 1]), 2).tolist() == [[1, -0.5, -0.5], [-0.5, 1, 1]]


def test_the_last_layer_is_as_good_as_a_slow_descent_to_the_end() -> None:
    random = torch.Generator().manual_seed(2)
    similarities = torch.rand(60, 6, generator=random, dtype=torch.float64) * 4
    owners, labels = torch.tensor([0, 0, 1, 1, 2, 2]), torch.arange(60) % 3
    labels[::7] = 0
    begin = first_weights(owners, 3).double()
    mine = owners[None] == torch.arange(3)[:, None]

    def smooth(weights: torch.Tensor) -> torch.Tensor:
        entropy = nn.functional.cross_entropy(similarities @ weights.T, labels)
        return entropy + protopnet.HELD * (weights[mine] - 1).square().sum()

    def whole(weights: torch.Tensor) -> float:
        return float(smooth(weights) + protopnet.SPARSE * weights[~mine].abs().sum())

    # A step down the smooth part, then each weight of another class by so much towards 0.
    slow, step = begin.clone(), 0.1
    for _ in range(500):
        slow.requires_grad_()
        (slope,) = torch.autograd.grad(smooth(slow), slow)
        down = slow.detach() - step * slope
        shrunk = down.sign() * (down.abs() - step * protopnet.SPARSE).clamp_min(0)
        slow = torch.where(mine, down, shrunk)
    found = protopnet.fit_last_layer(similarities, labels, begin, owners)
    assert whole(found) <= whole(slow) + 1e-3
    assert whole(slow) < whole(begin) - 0.05


def test_prototypes_go_on_speaking_for_their_class_where_nothing_is_in_doubt() -> None:
    """Two prototypes of class 0; the second tells nothing that the first does not."""
    similarities = torch.tensor([[4.0, 1, 0], [4, 0, 0], [0, 1, 4], [0, 0, 4]]).double()
    owners, labels = torch.tensor([0, 0, 1]), torch.tensor([0, 0, 1, 1])
    weights = protopnet.fit_last_layer(
        similarities, labels, first_weights(owners, 2).double(), owners
    )
    own = weights[owners, torch.arange(3)]
    assert (own > 0.5).all()
    assert (own < 2).all()


def test_copies_within_a_class_are_found_and_the_first_stays() -> None:
    prototypes = torch.tensor([[0.0, 1], [0, 1], [0, 1], [2, 2], [2, 2]])
    owners = torch.tensor([0, 0, 1, 1, 1])
    assert protopnet.duplicates(prototypes, owners).tolist() == [False, True, False, False, True]


def test_a_prototype_whose_neighbours_are_of_other_classes_goes() -> None:
    labels = torch.tensor([0] * 6 + [1] * 6)
    nearest = torch.stack(
        (torch.arange(12.0), torch.arange(12.0), torch.arange(12.0).flip(0)), dim=1
    )
    owners = torch.tensor([0, 1, 1])
    assert protopnet.find_misplaced(nearest, labels, owners).tolist() == [False, True, False]
    three = torch.tensor([0, 1, 0, 1, 0, 1] + [0] * 6)
    assert not protopnet.find_misplaced(nearest, three, owners)[1]  # three of six are enough


def test_no_class_loses_its_last_prototype() -> None:
    labels = torch.tensor([0] * 6 + [1] * 6)
    nearest = torch.arange(12.0)[:, None].expand(12, 3).clone()
    nearest[:, 2] += 0.5  # farther from its own class
    owners, prototypes = torch.tensor([0, 1, 1]), torch.rand(3, 4)
    assert protopnet.staying(nearest, labels, prototypes, owners).tolist() == [True, True, False]


def test_dropped_prototypes_say_nothing() -> None:
    network, pictures, _ = small()
    kept = [0, 3, 5]
    with torch.no_grad():
        network.kept.zero_()
        network.kept[kept] = 1
        alike = similarity(network.nearest(pictures))[:, kept]
        weights = network.last.weight[:, kept].double()
        torch.testing.assert_close(network(pictures), (alike @ weights.T).float())
