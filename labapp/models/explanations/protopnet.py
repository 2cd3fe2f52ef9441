"""Training of a ProtoPNet: classify, warm up, train jointly with pushes, prune, fit the last layer.

The schedule is that of Chen et al. 2019, shortened for a small network that begins as a plain
classifier of the same pictures.

The steps of a ProtoPNet's training: its loss, the fit of the last layer, and pruning.

Loss (Chen et al. 2019, section 2.2): besides the right class, every picture should have a patch
near a prototype of its class (cluster) and none near a prototype of another (separation).

Last layer: the published training runs it through the network for many epochs. With everything
below it frozen the similarities do not change, so the same convex problem is solved here in
seconds, on similarities computed once. Where the classes can be told apart without error it has no
minimum: weights grow, and some prototypes come to speak against their own class. So the weights of
the own class are held near the values that the small steps of the published training leave.

Pruning (Chen et al. 2019, supplement, section S8): a prototype is removed if fewer than 3 of its 6
nearest training patches, at most one from each picture, are from its own class, because it is then
a patch of background; or if it is a copy of another.

ProtoPNet: similarities of patches to learned prototypes, and the classes; and its explanations.

After Chen et al. 2019, "This looks like that": squared L2 distances between the backbone's map and
prototypes of one cell, the smallest over the places, a similarity that falls with the distance's
logarithm, and a linear layer without bias over the similarities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from labapp.models.datasets.birds import SPECIES, BirdRows, Birds
from labapp.models.datasets.split import Float32, Float64, Int64
from labapp.models.explanations import evaluation, patches
from labapp.models.explanations.backbones import CHANNELS, PooledClassifier, ResidualBackbone, begin
from labapp.models.explanations.classifier import (
    Classifier,
    Phase,
    PhaseStep,
    classification_phase,
    network_of,
    one_off_phase,
    scores,
)
from labapp.models.explanations.data import ClassifierRecipe, Protopnet
from labapp.models.explanations.package import ProtopnetChecks
from labapp.models.explanations.patches import (
    PrototypeNetwork,
    around_peaks,
    first_prototypes,
    in_chunks,
    nearest_patches,
    squared_distances,
    strongest,
)
from labapp.models.explanations.photos import Batches, Photos, UInt8, as_input, load_photos
from labapp.models.training.loop import Losses

EPSILON = 1e-4
OWN, OTHER = 1.0, -0.5
"""Weights of the last layer before training: a prototype's own class, and every other."""
MAXIMUM = math.log(1 / EPSILON)
"""The largest similarity there is: that of a patch with itself."""


def similarity(distance: Tensor) -> Tensor:
    """log((d + 1) / (d + 1e-4)) of squared distances: 0 far away, `MAXIMUM` at no distance."""
    return torch.log((distance + 1) / (distance + EPSILON))


def add_on(channels: int, width: int) -> nn.Sequential:
    """The two 1 × 1 convolutions between backbone and prototypes; what leaves is within 0 to 1."""
    layers = nn.Sequential(
        nn.Conv2d(channels, width, 1), nn.ReLU(), nn.Conv2d(width, width, 1), nn.Sigmoid()
    )
    for layer in layers:
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
    return layers


class ProtoPNet(PrototypeNetwork):
    """Backbone, add-on layers, prototypes and the last layer.

    The shapes depend only on the recipe: a pruned prototype keeps its place, where `kept` is 0.
    `sources` (P, 3) are the training row, map row and map column that each prototype was taken
    from, -1 before the first push; `boxes` (P, 4) that place in the picture, see `regions`.

    Parameters
    ----------
    classes : how many classes there are; `each` : prototypes of a class.
    width : D, channels of the map that prototypes are compared with.
    field : pixels that a position of the map sees.
    """

    kept: Tensor
    sources: Tensor
    boxes: Tensor

    def __init__(self, classes: int, each: int, width: int, field: Literal[33, 49] = 33) -> None:
        owners = torch.arange(classes).repeat_interleave(each)
        count = len(owners)
        backbone, above = ResidualBackbone(field), add_on(CHANNELS, width)
        super().__init__(backbone, above, torch.rand(count, width))
        self.owners = owners
        self.last = nn.Linear(count, classes, bias=False)
        self.register_buffer("kept", torch.ones(count))
        self.register_buffer("sources", torch.full((count, 3), -1.0))
        self.register_buffer("boxes", torch.zeros(count, 4))
        with torch.no_grad():
            self.last.weight.copy_(first_weights(self.owners, classes))

    def nearest(self, pictures: Tensor) -> Tensor:
        """Smallest squared distance of each picture to each prototype, (n, P)."""
        return self.squared_distances(pictures).amin((2, 3))

    def logits(self, nearest: Tensor) -> Tensor:
        """From the smallest distances (n, P) to the classes, (n, classes)."""
        weights = (self.last.weight * self.kept).to(nearest.dtype)
        return similarity(nearest) @ weights.T

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits, (n, classes), float32."""
        return self.logits(self.nearest(pictures)).float()


def first_weights(owners: Tensor, classes: int) -> Tensor:
    """The last layer's weights before training, (classes, P)."""
    own = owners[None, :] == torch.arange(classes, device=owners.device)[:, None]
    return torch.where(own, OWN, OTHER)


def own_class(owners: Tensor, classes: int) -> Tensor:
    """(P, classes): true for the one class whose pictures a prototype may take a patch of."""
    return owners[:, None] == torch.arange(classes, device=owners.device)


CHUNK = 50
"""Pictures at a time."""


@dataclass(frozen=True, slots=True)
class ClassPrototype:
    """A patch of a training picture that speaks for a species.

    `number` is its column in an `ClassExplanation`; `row` the picture, in the training part of the
    card's data; `cell` row and column of the map; `box` left, top, right, bottom in shares of the
    picture; `weight` what its similarity is multiplied with in the score of its species.
    """

    number: int
    species: int
    row: int
    cell: tuple[int, int]
    box: tuple[float, float, float, float]
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class ClassExplanation:
    """Of n pictures, with the P prototypes that `prototypes` lists.

    `scores` (n, 20); `similarities` (n, P) at the most similar place, 0 to 9.21; `maps`
    (n, P, h, w) of the similarity at every place. All float32. Position (i, j) of a map is centred
    on pixel (8 i, 8 j) of 96.
    """

    scores: Float32
    similarities: Float32
    maps: Float32
    size: int

    @property
    def predicted(self) -> Int64:
        """Species predicted, from 0: int64, shape (n,)."""
        return np.asarray(self.scores.argmax(1).astype(np.int64))

    def boxes(self, picture: int, prototypes: Int64) -> Float64:
        """Where in a picture these prototypes are found: float64, shape (k, 4), see `regions`."""
        return patches.around_peaks(self.maps[picture, prototypes], self.size)


def prototypes(model: Classifier) -> list[ClassPrototype]:
    """The prototypes that are kept, those of a species together. ModelError: another method."""
    network = network_of(model, "protopnet", ProtoPNet)
    numbers = remaining_prototypes(network)
    sources = network.sources.numpy().astype(int)
    weights = network.last.weight.detach().numpy()
    result = []
    for number, at in enumerate(numbers.tolist()):
        species = int(network.owners[at])
        left, top, right, bottom = network.boxes[at].tolist()
        row, y, x = sources[at].tolist()
        weight = float(weights[species, at])
        box = (left, top, right, bottom)
        result.append(ClassPrototype(number, species, row, (y, x), box, weight))
    return result


def explain(model: Classifier, pictures: UInt8) -> ClassExplanation:
    """How alike the places of pictures, uint8 (n, 3, size, size), are to the prototypes. Raises
    ModelError: the model is of another method."""
    network = network_of(model, "protopnet", ProtoPNet)
    maps, scores = of_network(network, pictures)
    return ClassExplanation(scores, maps.max((2, 3)), maps, model.size)


def of_network(network: ProtoPNet, pictures: UInt8) -> tuple[Float32, Float32]:
    """Maps (n, P, h, w) of the kept prototypes, and scores (n, 20)."""
    numbers = remaining_prototypes(network)
    maps, scores = [], []
    with torch.inference_mode():
        for start in range(0, len(pictures), CHUNK):
            distances = network.squared_distances(as_input(pictures[start : start + CHUNK]))
            maps.append(similarity(distances[:, numbers]).float().numpy())
            scores.append(network.logits(distances.amin((2, 3))).float().numpy())
    return np.concatenate(maps), np.concatenate(scores)


def remaining_prototypes(network: ProtoPNet) -> Int64:
    """Numbers, in the network, of the prototypes that are kept."""
    return np.flatnonzero(network.kept.numpy()).astype(np.int64)


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
    terms = loss_terms(scores, nearest, network.last.weight, network.owners, species)
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
    """Fit the last layer for the prototypes that are kept."""
    remaining = network.kept.bool()
    with torch.no_grad():
        alike = similarity(nearest(network, train))[:, remaining]
        species = torch.from_numpy(train.species)
        weights = network.last.weight[:, remaining].to(alike.dtype)
    fitted = fit_last_layer(alike, species, weights, network.owners[remaining])
    with torch.no_grad():
        network.last.weight[:, remaining] = fitted.float()


def prune(network: ProtoPNet, train: Photos[BirdRows], own_at_least: int) -> None:
    """Drop copies and prototypes of no class in particular."""
    species = torch.from_numpy(train.species)
    with torch.no_grad():
        stays = staying(
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
    copies = duplicates(network.prototypes.detach(), network.owners)
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


CLUSTER, SEPARATION, OFF_CLASS = 0.8, 0.08, 1e-4
"""Weights of the terms of the loss, as published."""
SPARSE, HELD = 1e-3, 1e-3
"""Weights of the penalties of the last layer: on the absolute weights of other classes (ten times
the published value) and on the squared distance of own weights from 1 (not published)."""
NEIGHBOURS, OWN_AT_LEAST = 6, 3


@dataclass(frozen=True, slots=True)
class LossTerms:
    """The loss of a batch and its parts, each a scalar."""

    loss: Tensor
    cross_entropy: Tensor
    cluster: Tensor
    separation: Tensor


def cluster(nearest: Tensor, owners: Tensor, labels: Tensor) -> Tensor:
    """Mean over pictures of the smallest distance to a prototype of the picture's class. `nearest`:
    (n, P) smallest squared distances; `owners`: (P,) and labels : (n,) classes."""
    own = owners[None, :] == labels[:, None]
    return nearest.masked_fill(~own, torch.inf).amin(1).mean()


def separation(nearest: Tensor, owners: Tensor, labels: Tensor) -> Tensor:
    """Mean over pictures of the smallest distance to a prototype of another class."""
    own = owners[None, :] == labels[:, None]
    return nearest.masked_fill(own, torch.inf).amin(1).mean()


def off_class(weights: Tensor, owners: Tensor) -> Tensor:
    """Sum of the absolute weights (classes, P) between prototypes and classes not their own."""
    own = owners[None, :] == torch.arange(len(weights), device=owners.device)[:, None]
    return weights.masked_fill(own, 0).abs().sum()


def loss_terms(
    logits: Tensor, nearest: Tensor, weights: Tensor, owners: Tensor, labels: Tensor
) -> LossTerms:
    """The whole loss: cross-entropy + 0.8 cluster - 0.08 separation + 1e-4 off-class weights."""
    entropy = functional.cross_entropy(logits, labels)
    near, far = cluster(nearest, owners, labels), separation(nearest, owners, labels)
    loss = entropy + CLUSTER * near - SEPARATION * far + OFF_CLASS * off_class(weights, owners)
    return LossTerms(loss, entropy, near, far)


def fit_last_layer(
    similarities: Tensor, labels: Tensor, weights: Tensor, owners: Tensor, *, steps: int = 100
) -> Tensor:
    """Weights that minimise cross-entropy and the two penalties.

    Parameters
    ----------
    similarities : (n, P); labels : (n,) classes.
    weights : (classes, P), where to begin; owners : (P,) classes of the prototypes.
    steps : iterations of L-BFGS at most.

    Returns
    -------
    New weights, (classes, P).
    """
    fitted = weights.detach().clone().requires_grad_()
    own = torch.arange(len(owners))
    solver = torch.optim.LBFGS([fitted], max_iter=steps, line_search_fn="strong_wolfe")

    @torch.enable_grad()
    def loss() -> Tensor:
        solver.zero_grad()
        value = functional.cross_entropy(similarities @ fitted.T, labels)
        value = value + SPARSE * off_class(fitted, owners)
        value = value + HELD * (fitted[owners, own] - OWN).square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    solver.step(loss)  # type: ignore[no-untyped-call]
    return fitted.detach()


def duplicates(prototypes: Tensor, owners: Tensor) -> Tensor:
    """Whether each prototype (P, D) is a copy of an earlier one of its class, (P,)."""
    same = (prototypes[:, None] == prototypes[None]).all(2) & (owners[:, None] == owners[None])
    return torch.tril(same, diagonal=-1).any(1)


def find_misplaced(
    nearest: Tensor,
    labels: Tensor,
    owners: Tensor,
    *,
    neighbours: int = NEIGHBOURS,
    at_least: int = OWN_AT_LEAST,
) -> Tensor:
    """True for a prototype with too few of its own class among the nearest pictures, (P,).
    `nearest`: (n, P) smallest distance of each training picture; `labels`: (n,); `owners`: (P,)."""
    closest = nearest.topk(min(neighbours, len(nearest)), dim=0, largest=False).indices
    own = (labels[closest] == owners[None, :]).sum(0)
    return own < at_least


def staying(
    nearest: Tensor,
    labels: Tensor,
    prototypes: Tensor,
    owners: Tensor,
    at_least: int = OWN_AT_LEAST,
) -> Tensor:
    """True for the prototypes that stay, (P,).

    Every class keeps at least its best-placed prototype: a class without any has no reasons.
    """
    gone = find_misplaced(nearest, labels, owners, at_least=at_least) | duplicates(
        prototypes, owners
    )
    for owner in sorted(set(owners.tolist())):
        mine = (owners == owner).nonzero()[:, 0]
        if gone[mine].all():
            own = nearest[labels == owner][:, mine].amin(0)
            gone[mine[own.argmin()]] = False
    return ~gone
