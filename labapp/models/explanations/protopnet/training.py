"""Training of a ProtoPNet: classify, warm up, train jointly with pushes, prune, fit the last layer.

The schedule is that of Chen et al. 2019, shortened for a small network that begins as a plain
classifier of the same pictures.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from labapp.models.datasets.birds.dataset import SPECIES, BirdRows, Birds
from labapp.models.explanations import evaluation
from labapp.models.explanations.approach import classification_phase, one_off_phase
from labapp.models.explanations.backbones import CHANNELS, PooledClassifier, begin
from labapp.models.explanations.card import ProtopnetChecks
from labapp.models.explanations.classifier import scores
from labapp.models.explanations.data import ClassifierRecipe, Protopnet
from labapp.models.explanations.fitting import Phase, PhaseStep
from labapp.models.explanations.patches import (
    around_peaks,
    first_prototypes,
    in_chunks,
    nearest_patches,
    squared_distances,
    strongest,
)
from labapp.models.explanations.photos import Batches, Photos, as_input, load_photos
from labapp.models.explanations.protopnet import steps
from labapp.models.explanations.protopnet.network import (
    MAXIMUM,
    ProtoPNet,
    of_network,
    own_class,
    remaining_prototypes,
    similarity,
)
from labapp.models.training.loop import Losses

FALL = 0.1
"""Factor of the learning rate after each push."""
MOMENTS: tuple[Literal["before", "pushed", "weighed", "pruned"], ...] = (
    "before",
    "pushed",
    "weighed",
    "pruned",
)
"""Before the last push, after it, after the last layer was fitted to it, and after pruning with
the last layer fitted again: rows of `effects`."""


class TrainableProtoPNet(ProtoPNet):
    """A ProtoPNet with what it needs to learn: the plain classifier's head, and what is measured on
    the way: `effects`, accuracy on validation and test pictures at each of the `MOMENTS`."""

    effects: Tensor

    def __init__(self, method: Protopnet) -> None:
        super().__init__(SPECIES, method.each, method.width, method.field)
        self.head = nn.Linear(CHANNELS, SPECIES)
        self.register_buffer("effects", torch.zeros(len(MOMENTS), 2))


def network(recipe: ClassifierRecipe) -> TrainableProtoPNet:
    method = recipe.method
    assert isinstance(method, Protopnet)
    return begin(lambda: TrainableProtoPNet(method), recipe.seed)


def phases(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> list[Phase]:
    method = recipe.method
    assert isinstance(network, TrainableProtoPNet)
    assert isinstance(method, Protopnet)
    plain = PooledClassifier(network.backbone, SPECIES)
    plain.head = network.head
    train = load_photos(data.train)
    result = [
        classification_phase(recipe, plain, data),
        one_off_phase(
            "placing prototypes", lambda: place(network, train, method.each, recipe.seed)
        ),
        _warm(recipe, method, network, data),
    ]
    for time in range(method.pushes):
        last = time == method.pushes - 1
        result.append(_joint(recipe, method, network, data, time))
        result.append(one_off_phase(f"pushing {time + 1}", lambda: push(network, train)))
        result.append(one_off_phase(f"weighing {time + 1}", lambda: weigh(network, train)))
        if last:
            result.insert(
                -2, one_off_phase("measuring 1", lambda: _measure(network, data, "before"))
            )
            result.insert(
                -1, one_off_phase("measuring 2", lambda: _measure(network, data, "pushed"))
            )
    result += [
        one_off_phase("measuring 3", lambda: _measure(network, data, "weighed")),
        one_off_phase("pruning", lambda: prune(network, train, method.own_at_least)),
        one_off_phase("weighing again", lambda: weigh(network, train)),
        one_off_phase("measuring 4", lambda: _measure(network, data, "pruned")),
    ]
    return result


def _warm(
    recipe: ClassifierRecipe, method: Protopnet, network: TrainableProtoPNet, data: Birds
) -> Phase:
    """The layers above the backbone, which stays as it is."""
    batches = Batches(load_photos(data.train), method.batch, recipe.seed + 1)

    def loss(step: PhaseStep) -> Losses:
        network.backbone.eval()
        return _losses(network, *batches.take(step.number, step.random))

    optimiser = torch.optim.Adam(_above(network, method))
    return Phase("warming up", method.warm, loss, optimiser)


def _joint(
    recipe: ClassifierRecipe, method: Protopnet, network: TrainableProtoPNet, data: Birds, time: int
) -> Phase:
    """Everything but the last layer, up to the next push."""
    batches = Batches(load_photos(data.train), method.batch, recipe.seed + 2 + time)
    groups = _above(network, method)
    groups.append(
        {
            "params": list(network.backbone.parameters()),
            "lr": method.backbone_rate,
            "weight_decay": method.weight_decay,
        }
    )

    def loss(step: PhaseStep) -> Losses:
        return _losses(network, *batches.take(step.number, step.random))

    return Phase(
        f"learning jointly {time + 1}",
        method.joint,
        loss,
        torch.optim.Adam(groups),
        lambda _done: FALL**time,
    )


def _above(network: TrainableProtoPNet, method: Protopnet) -> list[dict[str, object]]:
    add_on = list(network.add_on.parameters())
    return [
        {"params": add_on, "lr": method.rate, "weight_decay": method.weight_decay},
        {"params": [network.prototypes], "lr": method.rate},
    ]


def _losses(network: TrainableProtoPNet, pictures: Tensor, species: Tensor) -> Losses:
    nearest = network.nearest(pictures)
    scores = network.logits(nearest)
    terms = steps.terms(scores, nearest, network.last.weight, network.owners, species)
    return {
        "loss": terms.loss,
        "cluster": terms.cluster,
        "separation": terms.separation,
        "accuracy": (scores.argmax(1) == species).float().mean(),
    }


def place(network: TrainableProtoPNet, train: Photos[BirdRows], each: int, seed: int) -> None:
    """Initialise prototypes with patches of which the plain classifier makes most evidence."""
    network.eval()
    species = torch.from_numpy(train.species)
    with torch.no_grad():
        features = torch.cat(list(in_chunks(network.backbone, train)))
        chosen = strongest(features, network.head.weight, species)
        centres = first_prototypes(
            network.add_on(features), chosen, species, SPECIES, each, seed=seed
        )
        network.prototypes.copy_(centres)


def push(network: ProtoPNet, train: Photos[BirdRows]) -> None:
    """Every prototype becomes the nearest patch of a training picture of its class."""
    network.eval()
    species = torch.from_numpy(train.species)
    allowed = own_class(network.owners, SPECIES)
    with torch.no_grad():
        patches = nearest_patches(
            in_chunks(network.latent, train), species, network.prototypes, allowed
        )
        network.prototypes.copy_(patches.vectors)
        network.sources.copy_(torch.from_numpy(np.column_stack((patches.rows, patches.cells))))
        rows = network.sources[:, 0].long().numpy()
        of_each = (network.squared_distances(as_input(train.pictures[[row]])) for row in rows)
        maps = np.concatenate([similarity(d)[:, number] for number, d in enumerate(of_each)])
        network.boxes.copy_(torch.from_numpy(around_peaks(maps, train.rows.size)))


def weigh(network: ProtoPNet, train: Photos[BirdRows]) -> None:
    """Fit the last layer of the prototypes that are kept."""
    remaining = network.kept.bool()
    with torch.no_grad():
        alike = similarity(nearest(network, train))[:, remaining]
        species = torch.from_numpy(train.species)
        weights = network.last.weight[:, remaining].to(alike.dtype)
    fitted = steps.fit_last_layer(alike, species, weights, network.owners[remaining])
    with torch.no_grad():
        network.last.weight[:, remaining] = fitted.float()


def prune(network: ProtoPNet, train: Photos[BirdRows], own_at_least: int) -> None:
    """Drop copies and prototypes of no class in particular."""
    species = torch.from_numpy(train.species)
    with torch.no_grad():
        stays = steps.staying(
            nearest(network, train), species, network.prototypes, network.owners, own_at_least
        )
        network.kept.copy_(stays)


def nearest(network: ProtoPNet, photos: Photos[BirdRows]) -> Tensor:
    """Smallest squared distances to all prototypes, (n, P), float64."""
    network.eval()
    with torch.no_grad():
        prototypes = network.prototypes.double()
        distances = [
            squared_distances(latent.double(), prototypes).amin((2, 3))
            for latent in in_chunks(network.latent, photos)
        ]
    return torch.cat(distances)


def _measure(network: TrainableProtoPNet, data: Birds, moment: str) -> None:
    for part, rows in enumerate((data.validation, data.test)):
        photos = load_photos(rows)
        right = scores(network, photos.pictures).argmax(1) == photos.species
        network.effects[MOMENTS.index(moment), part] = float(right.mean())


def checks(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> ProtopnetChecks:
    assert isinstance(network, TrainableProtoPNet)
    numbers = remaining_prototypes(network)
    rows, cells = (
        network.sources.numpy().astype(np.int64)[numbers, 0],
        network.sources.numpy()[numbers, 1:],
    )
    own, _ = of_network(network, load_photos(data.train).pictures[rows])
    test = load_photos(data.test, evaluation.POINTED)
    maps, scores = of_network(network, test.pictures)
    # The prototype that speaks most for the prediction, among those of the species predicted.
    weights = network.last.weight.detach().numpy()[:, numbers]
    chosen = scores.argmax(1)
    mine = network.owners.numpy()[numbers] == chosen[:, None]
    speaks = np.where(mine, maps.max((2, 3)) * weights[chosen], -np.inf).argmax(1)
    stride = network.backbone.stride
    places = (cells * stride).astype(np.float32)
    homes = [data.train.bird(int(row)) for row in rows]
    copies = steps.duplicates(network.prototypes.detach(), network.owners)
    return ProtopnetChecks(
        method="protopnet",
        accuracy={
            moment: round(float(part[1]), 4)
            for moment, part in zip(MOMENTS, network.effects, strict=True)
        },
        prototypes=len(network.owners),
        kept=len(numbers),
        fewest=int(np.bincount(network.owners.numpy()[numbers], minlength=SPECIES).min()),
        copies=int(copies.sum()),
        own_similarity=round(float(own.max((2, 3)).diagonal().min()), 4),
        greatest_similarity=round(MAXIMUM, 4),
        prototypes_on=evaluation.pointing(places, homes, recipe.data.size),
        on_parts=evaluation.on_parts(places, homes, recipe.data.size),
        pointing=evaluation.pointing(
            evaluation.peaks(maps[range(len(maps)), speaks], stride),
            [test.rows.bird(row) for row in range(len(test))],
            recipe.data.size,
        ),
    )
