"""Where prototypes begin."""

import torch

from labapp.explanations import evidence


def test_positions_with_the_most_evidence_for_the_own_class_are_chosen() -> None:
    features = torch.zeros(2, 3, 4, 5)
    features[0, 1, 2, 3] = 1  # speaks for class 1
    features[0, 2, 0, 0] = 9  # speaks against it
    features[1, 2, 3, 4] = 1
    head = torch.tensor([[0.0, 0, 2], [0, 2, -1]])
    chosen = evidence.strongest(features, head, torch.tensor([1, 0]))
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
    found = evidence.first_prototypes(latent, chosen, labels, 2, 2, seed=0)
    expected = [[0, 0], [10, 0], [0, 20], [10, 20]]
    found = torch.cat([part[part[:, 0].argsort()] for part in found.split(2)])
    torch.testing.assert_close(found, torch.tensor(expected).double(), atol=0.1, rtol=0)
