"""Training of a ProtoTree: classify, grow the tree, prune it, project its prototypes.

The schedule is that of Nauta et al. 2021, shortened for a small network that begins as a plain
classifier of the same pictures.

The initial tree: like the key in a field guide, genus first, then the marks of the species.

In a soft tree that starts at random, the last two steps seldom decide between sister species, and
often between the same four species of four genera. So the tree is initialised with a hard decision
tree on the distances of pictures to patches that the plain classifier relies on. Training changes
it from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from labapp.models.datasets.birds.dataset import SPECIES, BirdRows, Birds
from labapp.models.datasets.split import Float64, Int64
from labapp.models.explanations import evaluation
from labapp.models.explanations.backbones import CHANNELS, PooledClassifier, begin
from labapp.models.explanations.card import PrototreeChecks, TreeAccuracy
from labapp.models.explanations.classifier import classification_phase, one_off_phase
from labapp.models.explanations.data import ClassifierRecipe, Prototree
from labapp.models.explanations.fitting import Phase, PhaseStep
from labapp.models.explanations.patches import (
    CHUNK,
    first_prototypes,
    in_chunks,
    nearest_patches,
    strongest,
)
from labapp.models.explanations.photos import Batches, Photos, as_input, load_photos
from labapp.models.explanations.prototree.network import (
    HALF,
    ProtoTree,
    distances,
    final_twos,
    greedy,
    of_network,
)
from labapp.models.training.loop import Losses

CANDIDATES = 8
"""Candidate patches of each species for the questions of the initial tree."""
EPS = 1e-7
"""Epsilon of the optimiser, as published."""
TINY = 1e-12
"""Least probability whose logarithm is taken."""
MOMENTS: tuple[Literal["grown", "pruned", "projected"], ...] = ("grown", "pruned", "projected")
"""When the tree is measured: rows of `effects`."""


class TrainableProtoTree(ProtoTree):
    """A ProtoTree with what it needs to learn: the plain classifier's head, and what is measured on
    the way: `effects`, accuracy at each of the `MOMENTS`, on validation and on test pictures, over
    all ways and along the likeliest answers."""

    effects: Tensor

    def __init__(self, method: Prototree) -> None:
        super().__init__(method.depth, SPECIES, method.width, method.field)
        self.head = nn.Linear(CHANNELS, SPECIES)
        self.register_buffer("effects", torch.zeros(len(MOMENTS), 2, 2))


def network(recipe: ClassifierRecipe) -> TrainableProtoTree:
    method = recipe.method
    assert isinstance(method, Prototree)
    return begin(lambda: TrainableProtoTree(method), recipe.seed)


def phases(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> list[Phase]:
    method = recipe.method
    assert isinstance(network, TrainableProtoTree)
    assert isinstance(method, Prototree)
    plain = PooledClassifier(network.backbone, SPECIES)
    plain.head = network.head
    train = load_photos(data.train)
    return [
        classification_phase(recipe, plain, data),
        one_off_phase("placing prototypes", lambda: place(network, train, method, recipe.seed)),
        _growing(recipe, method, network, data, frozen=True),
        _growing(recipe, method, network, data, frozen=False),
        one_off_phase("measuring 1", lambda: _measure(network, data, "grown")),
        one_off_phase("pruning", lambda: network.prune(method.threshold)),
        one_off_phase("measuring 2", lambda: _measure(network, data, "pruned")),
        one_off_phase("projecting", lambda: project(network, train)),
        one_off_phase("measuring 3", lambda: _measure(network, data, "projected")),
    ]


def _growing(
    recipe: ClassifierRecipe,
    method: Prototree,
    network: TrainableProtoTree,
    data: Birds,
    *,
    frozen: bool,
) -> Phase:
    """Prototypes by descent, leaves by counting; the backbone too unless it is `frozen`."""
    epochs = method.frozen if frozen else method.epochs - method.frozen
    before = 0 if frozen else method.frozen
    batches = Batches(load_photos(data.train), method.batch, recipe.seed + (1 if frozen else 2))
    groups = [
        {"params": [*network.add_on.parameters(), network.prototypes], "lr": method.rate},
    ]
    if not frozen:
        late = list(network.backbone.blocks[-1].parameters())
        early = [*network.backbone.stem.parameters(), *network.backbone.blocks[:-1].parameters()]
        groups += [
            {"params": late, "lr": method.rate},
            {"params": early, "lr": method.backbone_rate},
        ]

    def loss(step: PhaseStep) -> Losses:
        pictures, species = batches.take(step.number, step.random)
        if frozen:
            network.backbone.eval()
        if step.number % method.epoch_steps == 0:
            network.epoch_scores.copy_(network.leaf_scores)
        shares = network.shares(network.nearest(pictures))
        shares_of_species = shares @ network.leaf_distributions()
        with torch.no_grad():
            network.leaf_scores.copy_(
                update_leaves(
                    network.leaf_scores,
                    network.epoch_scores,
                    shares,
                    species,
                    batches=method.epoch_steps,
                )
            )
        return {
            "loss": functional.nll_loss((shares_of_species + TINY).log(), species),
            "accuracy": (shares_of_species.argmax(1) == species).float().mean(),
        }

    def rate(done: float) -> float:
        epoch = before + done * epochs
        return 0.5 ** sum(epoch >= share * method.epochs for share in method.milestones)

    return Phase(
        "growing on a fixed network" if frozen else "growing",
        epochs * method.epoch_steps,
        loss,
        torch.optim.AdamW(groups, eps=EPS, weight_decay=0.0),
        rate,
    )


def place(
    network: TrainableProtoTree, train: Photos[BirdRows], method: Prototree, seed: int
) -> None:
    """Initialise the tree as an identification key over patches; see `initialisation`."""
    network.eval()
    species, genus = torch.from_numpy(train.species), train.genus
    with torch.no_grad():
        features = torch.cat(list(in_chunks(network.backbone, train)))
        chosen = strongest(features, network.head.weight, species)
        for last in (False, True):
            latent = network.add_on(features)
            patches = first_prototypes(latent, chosen, species, SPECIES, CANDIDATES, seed=seed)
            near = distances(latent.double(), patches).amin((2, 3)).numpy()
            key = initial_key(near, train.species, genus, method.depth)
            if not last:
                # "Present" is what is nearer than HALF: the map is stretched to make it so.
                thresholds = key.thresholds[np.isfinite(key.thresholds)]
                network.stretch(HALF / float(np.median(thresholds)))
        network.prototypes.copy_(patches[torch.from_numpy(key.candidates)])
        network.keep(torch.from_numpy(key.telling))
        epoch = method.epoch_steps * method.batch / len(train)
        network.leaf_scores.copy_(torch.from_numpy(key.counts * epoch))


def project(network: ProtoTree, train: Photos[BirdRows]) -> None:
    """Every prototype becomes the nearest patch of a picture of a class that is said below it."""
    left = network.pruned()
    best = network.leaf_distributions().argmax(1)[torch.from_numpy(left.leaves)]
    inner = torch.from_numpy(left.inner)
    allowed = torch.zeros(len(inner), SPECIES, dtype=torch.bool)
    for number, node in enumerate(left.tree.inner):
        allowed[number, best[torch.from_numpy(left.tree.below(int(node)))]] = True
    species = torch.from_numpy(train.species)
    network.eval()
    with torch.no_grad():
        prototypes = network.prototypes[inner]
        patches = nearest_patches(in_chunks(network.latent, train), species, prototypes, allowed)
        network.prototypes[inner] = patches.vectors.float()
        network.sources[inner] = torch.from_numpy(
            np.column_stack((patches.rows, patches.cells)).astype(np.float32)
        )


def _measure(network: TrainableProtoTree, data: Birds, moment: str) -> None:
    for part, rows in enumerate((data.validation, data.test)):
        photos = load_photos(rows)
        species = torch.from_numpy(photos.species)
        distances = [
            network.nearest(as_input(photos.pictures[start : start + CHUNK]))
            for start in range(0, len(photos), CHUNK)
        ]
        nearest = torch.cat(distances)
        soft = network.soft(nearest).argmax(1)
        leaf = greedy(nearest, network.absent, network.present, network.telling)
        walked = network.leaf_distributions()[leaf].argmax(1)
        for way, predicted in enumerate((soft, walked)):
            right = float((predicted == species).double().mean())
            network.effects[MOMENTS.index(moment), part, way] = right


def checks(recipe: ClassifierRecipe, network: nn.Module, data: Birds) -> PrototreeChecks:
    assert isinstance(network, TrainableProtoTree)
    test = load_photos(data.test)
    explanation = of_network(network, test.pictures)
    twos = final_twos(explanation)
    right = explanation.predicted == test.species
    tree = explanation.tree
    sources = network.sources.numpy().astype(np.int64)[network.pruned().inner]
    places = (sources[:, 1:] * network.backbone.stride).astype(np.float32)
    homes = [data.train.bird(int(row)) for row in sources[:, 0]]
    steps = [explanation.path(picture) for picture in range(len(test))]
    return PrototreeChecks(
        method="prototree",
        accuracy={
            moment: TreeAccuracy(soft=round(float(soft), 4), greedy=round(float(walked), 4))
            for moment, (soft, walked) in zip(MOMENTS, network.effects[:, 1], strict=True)
        },
        depth=tree.depth,
        questions=len(tree.inner),
        leaves=len(tree.leaves),
        mean_steps=round(float(np.mean([len(path) for path in steps])), 2),
        present=round(float(np.mean([step.present for path in steps for step in path])), 4),
        eligible=sum(bool(right[two.picture]) for two in twos),
        share_error=explanation.share_error,
        prototypes_on=evaluation.pointing(places, homes, recipe.data.size),
        on_parts=evaluation.on_parts(places, homes, recipe.data.size),
    )


def update_leaves(
    scores: Tensor,
    at_epoch_start: Tensor,
    shares: Tensor,
    labels: Tensor,
    *,
    batches: int,
) -> Tensor:
    """Scores of the leaves after a batch, (leaves, classes).

    Leaves learn without gradients: each counts the pictures of each class that reach it, weighted
    by its share in their prediction. A batch subtracts its share of the counts at the beginning of
    the epoch and adds its own (Nauta et al. 2021, section 3.3, equation 6, spread over the batches
    of an epoch).

    Parameters
    ----------
    scores : now, (leaves, classes), never negative.
    at_epoch_start : the same when the epoch began.
    shares : probability of the way to each leaf, (n, leaves).
    labels : (n,) classes.
    batches : in the epoch.
    """
    distributions = scores.softmax(1)
    right = distributions[:, labels].T  # (n, leaves): what each leaf says of the true class
    joint = shares * right
    responsible = joint / joint.sum(1, keepdim=True).clamp_min(1e-30)
    left = (scores - at_epoch_start / batches).clamp_min(0)
    return left.index_add(1, labels, responsible.T.to(left.dtype))


PURE = 0.9
"""Share of one genus among a node's pictures from which on the questions are about species."""
THRESHOLDS = np.linspace(0.04, 0.96, 47)
"""Quantiles of the distances at which a question may divide the pictures."""
LAST = 2
"""Number of last steps that decide between species."""


@dataclass(frozen=True, slots=True)
class DecisionKey:
    """Of a complete tree: `candidates` (inner,) asked at each inner node, and the distance below
    which it divides, `thresholds` (inner,), NaN where nothing is asked; `counts` (leaves, classes)
    of pictures that end at a leaf; `telling` (leaves,), false where no way leads."""

    candidates: Int64
    thresholds: Float64
    counts: Float64
    telling: NDArray[np.bool_]


def initial_key(distances: Float64, species: Int64, genus: Int64, depth: int) -> DecisionKey:
    """A decision tree in at most `depth` questions, the last two between species.

    Parameters
    ----------
    distances : smallest distance of each picture to each candidate, (n, candidates).
    species, genus : of each picture, from 0, (n,).
    depth : 2 or more.
    """
    inner, classes = 2**depth - 1, int(species.max()) + 1
    result = DecisionKey(
        np.zeros(inner, np.int64),
        np.full(inner, np.nan),
        np.zeros((inner + 1, classes)),
        np.ones(inner + 1, bool),
    )

    def grow(node: int, level: int, rows: Int64) -> None:
        if level == depth:
            np.add.at(result.counts[node - inner], species[rows], 1)
            return
        between_species = level >= depth - LAST
        # Where there is no picture, there is one genus at most.
        pure = not len(rows) or np.bincount(genus[rows]).max() / len(rows) >= PURE
        if pure and not between_species:
            count = 2 ** (depth - level - 1)
            first = (2 * node + 2) * count - 1 - inner  # of the leaves below the first child
            result.telling[first : first + count] = False
            grow(2 * node + 2, level + 1, rows)
            return
        labels = (species if between_species else genus)[rows]
        candidate, threshold = _question(distances[rows], labels)
        result.candidates[node], result.thresholds[node] = candidate, threshold
        near = distances[rows, candidate] < threshold
        grow(2 * node + 1, level + 1, rows[~near])
        grow(2 * node + 2, level + 1, rows[near])

    grow(0, 0, np.arange(len(species)))
    return result


def _question(distances: Float64, labels: Int64) -> tuple[int, float]:
    """The candidate and distance that leave the least entropy of the labels on both sides."""
    if len(labels) < 2:
        return 0, np.inf
    limits = np.quantile(distances, THRESHOLDS, axis=0)  # (thresholds, candidates)
    near = (distances[None] < limits[:, None]).astype(float)  # (thresholds, n, candidates)
    each = np.eye(int(labels.max()) + 1)[labels]
    inside = np.einsum("tnc,nk->tck", near, each, optimize=True)
    outside = each.sum(0) - inside
    left = _entropy(inside) + _entropy(outside)
    threshold, candidate = np.unravel_index(int(left.argmin()), left.shape)
    return int(candidate), float(limits[threshold, candidate])


def _entropy(counts: Float64) -> Float64:
    """Entropy of labels times how many they are, over the last axis of counts."""
    total = counts.sum(-1, keepdims=True)
    share = counts / np.maximum(total, 1)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-(counts * logs).sum(-1))
