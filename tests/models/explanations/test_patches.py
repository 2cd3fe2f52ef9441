"""Distances to patches, and the nearest patch of all."""

import numpy as np
import pytest
import torch

from labapp.models.explanations.patches import (
    first_prototypes,
    nearest_patches,
    squared_distances,
    strongest,
)


def test_distances_are_those_of_the_differences() -> None:
    random = torch.Generator().manual_seed(0)
    latent = torch.rand(3, 5, 4, 6, generator=random, dtype=torch.float64)
    prototypes = torch.rand(7, 5, generator=random, dtype=torch.float64)
    slow = (latent[:, None] - prototypes[None, :, :, None, None]).square().sum(2)
    torch.testing.assert_close(squared_distances(latent, prototypes), slow)


def test_distances_are_never_negative() -> None:
    latent = torch.rand(2, 64, 3, 3) * 100
    prototypes = latent[0, :, 1, 2][None].clone()
    near = squared_distances(latent, prototypes)
    assert near.min() >= 0


@pytest.mark.parametrize("batch", [1, 4, 100])
def test_the_nearest_patch_is_the_one_that_going_through_all_of_them_finds(batch: int) -> None:
    random = np.random.default_rng(1)
    latent = torch.from_numpy(random.random((10, 4, 3, 5)))
    labels = torch.from_numpy(random.integers(0, 3, 10))
    labels[:3] = torch.arange(3)
    prototypes = torch.from_numpy(random.random((6, 4)))
    allowed = torch.tensor([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 1, 1]]) > 0
    found = nearest_patches(latent.split(batch), labels, prototypes, allowed)
    for p in range(6):
        best = min(
            ((latent[n, :, y, x] - prototypes[p]).square().sum().item(), n, y, x)
            for n in range(10)
            if allowed[p, labels[n]]
            for y in range(3)
            for x in range(5)
        )
        assert (found.rows[p], *found.cells[p]) == best[1:]
        assert found.distances[p].item() == pytest.approx(best[0])
        assert torch.equal(found.vectors[p], latent[best[1], :, best[2], best[3]])


def test_a_prototype_without_any_picture_is_refused() -> None:
    latent, labels = torch.rand(2, 4, 3, 3), torch.tensor([0, 0])
    allowed = torch.tensor([[False, True]])
    with pytest.raises(ValueError, match="no training picture"):
        nearest_patches([latent], labels, torch.rand(1, 4), allowed)


def test_positions_with_the_most_evidence_for_the_own_class_are_chosen() -> None:
    features = torch.zeros(2, 3, 4, 5)
    features[0, 1, 2, 3] = 1  # speaks for class 1
    features[0, 2, 0, 0] = 9  # speaks against it
    features[1, 2, 3, 4] = 1
    head = torch.tensor([[0.0, 0, 2], [0, 2, -1]])
    chosen = strongest(features, head, torch.tensor([1, 0]))
    assert chosen.shape == (2, 2)
    assert chosen[:, 0].tolist() == [2 * 5 + 3, 3 * 5 + 4]
    assert chosen[0, 1] != 0


def test_prototypes_begin_in_the_clusters_of_their_class() -> None:
    random = torch.Generator().manual_seed(0)
    latent = torch.zeros(8, 2, 1, 4)
    labels = torch.arange(8) % 2
    # Two clusters a class, at positions 0 and 1; what is elsewhere is not chosen.
    latent[:, 0] = torch.tensor([0.0, 10, 99, 99])
    latent[:, 1] = 20.0 * labels[:, None, None]
    latent += 0.1 * torch.rand(latent.shape, generator=random)
    chosen = torch.tensor([[0, 1]]).expand(8, -1)
    found = first_prototypes(latent, chosen, labels, 2, 2, seed=0)
    expected = [[0, 0], [10, 0], [0, 20], [10, 20]]
    found = torch.cat([part[part[:, 0].argsort()] for part in found.split(2)])
    torch.testing.assert_close(found, torch.tensor(expected).double(), atol=0.1, rtol=0)
