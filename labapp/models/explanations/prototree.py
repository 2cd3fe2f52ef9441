"""Training of a ProtoTree: classify, grow the tree, prune it, project its prototypes.

The schedule is that of Nauta et al. 2021, shortened for a small network that begins as a plain
classifier of the same pictures.

The initial tree: like the key in a field guide, genus first, then the marks of the species.

In a soft tree that starts at random, the last two steps seldom decide between sister species, and
often between the same four species of four genera. So the tree is initialised with a hard decision
tree on the distances of pictures to patches that the plain classifier relies on. Training changes
it from there.

A soft decision tree over prototypes: every leaf is reached, some more probably than others. And
its explanations: the tree, and the path of a picture along the likelier answers.

After Nauta et al. 2021, "Neural prototype trees for interpretable fine-grained image recognition",
section 3: the probability that a prototype is present is exp(-d), d its L2 distance (not squared)
to the nearest patch; a leaf's share is the product along its way, and the prediction the mean of
the leaves' class distributions weighted with their shares.

Inner nodes ask for a prototype; "absent" goes to the first child, "present" to the second. Nodes
are numbered from the root, parents before children.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from labapp.base.errors import ModelError
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
)
from labapp.models.explanations.data import ClassifierRecipe, Prototree
from labapp.models.explanations.package import PrototreeChecks, TreeAccuracy
from labapp.models.explanations.patches import (
    CHUNK,
    PrototypeNetwork,
    first_prototypes,
    in_chunks,
    nearest_patches,
    squared_distances,
    strongest,
)
from labapp.models.explanations.photos import Batches, Photos, UInt8, as_input, load_photos
from labapp.models.training.loop import Losses

HALF = math.log(2)
"""Below this distance a prototype is more likely present than absent."""
SMALLEST = 1e-14
"""Added to squared distances, so that the root has a gradient at none."""


class ProtoTree(PrototypeNetwork):
    """Backbone, a 1 × 1 convolution with sigmoid, the prototypes of a tree and its leaves.

    The tree begins complete. Pruning leaves everything in its place, so that a network has its
    shapes from the recipe alone: `telling` is 0 for a leaf that is gone, and `absent` and `present`
    (leaves, inner), 1 where a way passes a node so, skip nodes that are gone. `sources` (inner, 3)
    are the training row, map row and map column of each prototype, -1 before they are known.

    Parameters
    ----------
    depth : questions on every way before pruning; classes : how many there are.
    width : D, channels of the map that prototypes are compared with.
    field : pixels that a position of the map sees.
    """

    leaf_scores: Tensor
    epoch_scores: Tensor
    telling: Tensor
    absent: Tensor
    present: Tensor
    sources: Tensor

    def __init__(self, depth: int, classes: int, width: int, field: Literal[33, 49] = 33) -> None:
        whole = complete(depth)
        inner, leaves = len(whole.inner), len(whole.leaves)
        backbone = ResidualBackbone(field)
        add_on = nn.Sequential(nn.Conv2d(CHANNELS, width, 1, bias=False), nn.Sigmoid())
        super().__init__(backbone, add_on, torch.empty(inner, width).normal_(0.5, 0.1))
        self.whole = whole
        self.register_buffer("leaf_scores", torch.zeros(leaves, classes))
        self.register_buffer("epoch_scores", torch.zeros(leaves, classes))
        self.register_buffer("telling", torch.ones(leaves))
        absent, present = self.whole.ways()
        self.register_buffer("absent", torch.from_numpy(absent).float())
        self.register_buffer("present", torch.from_numpy(present).float())
        self.register_buffer("sources", torch.full((inner, 3), -1.0))

    def make_pruned(self) -> PrunedTree:
        """The tree as it is now, and which prototypes and leaves of the complete one it has."""
        return prune(self.whole, self.telling.numpy()[:, None], 0.5)

    def prune(self, threshold: float) -> None:
        """Remove every subtree whose leaves all say no class with more than `threshold`. Raises
        ModelError where fewer than two leaves would remain."""
        telling = (self.leaf_distributions().amax(1) > threshold) & self.telling.bool()
        if telling.sum() < 2:
            raise ModelError(
                f"Of {len(telling)} leaves, {int(telling.sum())} predict a class with a "
                f"probability above {threshold}: no tree remains after pruning.",
                safe="Nothing was pruned.",
                todo="Let the tree grow longer, or lower `threshold` in the recipe.",
            )
        self.keep(telling)

    def keep(self, telling: Tensor) -> None:
        """Remove every leaf that is not `telling`, (leaves,), and what leads to none any more."""
        self.telling.copy_(telling)
        left = self.make_pruned()
        for passed, way in zip((self.absent, self.present), left.tree.ways(), strict=True):
            passed.zero_()
            passed[np.ix_(left.leaves, left.inner)] = torch.from_numpy(way).float()

    def stretch(self, factor: float) -> None:
        """Make distances on the map larger by about this factor."""
        convolution = self.add_on[0]
        assert isinstance(convolution, nn.Conv2d)
        convolution.weight.mul_(factor)

    def leaf_distributions(self) -> Tensor:
        """Class probabilities of every leaf, (leaves, classes)."""
        return self.leaf_scores.softmax(1)

    def nearest(self, pictures: Tensor) -> Tensor:
        """Smallest distance of each picture to each prototype, (n, inner)."""
        return root(self.squared_distances(pictures)).amin((2, 3))

    def shares(self, nearest: Tensor) -> Tensor:
        """Probability of the way to each leaf, (n, leaves), from the smallest distances."""
        absent, present = self.absent.to(nearest.dtype), self.present.to(nearest.dtype)
        return leaf_shares(nearest, absent, present) * self.telling

    def soft(self, nearest: Tensor) -> Tensor:
        """Class probabilities over all ways, (n, classes), from the smallest distances."""
        return self.shares(nearest) @ self.leaf_distributions().to(nearest.dtype)

    def forward(self, pictures: Tensor) -> Tensor:
        """Class probabilities of the one leaf that the likelier answers lead to, (n, classes).

        It is what the explanation shows, and so it is the prediction.
        """
        leaf = greedy(self.nearest(pictures), self.absent, self.present, self.telling)
        return self.leaf_distributions()[leaf]


def root(squared: Tensor) -> Tensor:
    """Distances from squared distances, with a gradient also at 0."""
    return (squared + SMALLEST).sqrt()


def distances(latent: Tensor, prototypes: Tensor) -> Tensor:
    """L2 distance of every position of (n, D, h, w) to every prototype of (P, D): (n, P, h, w)."""
    return root(squared_distances(latent, prototypes))


def leaf_shares(distance: Tensor, absent: Tensor, present: Tensor) -> Tensor:
    """Probabilities of the ways, from the smallest distance to each prototype.

    distance : (n, inner), above 0; absent, present : (leaves, inner), 1 where a way passes the
    node so. Returns (n, leaves); each row sums to 1.
    """
    # log(1 - exp(-d)) without the loss of digits that 1 - exp(-d) has near 0.
    not_there = torch.log(-torch.expm1(-distance))
    return torch.exp(not_there @ absent.T - distance @ present.T)


def greedy(distance: Tensor, absent: Tensor, present: Tensor, telling: Tensor) -> Tensor:
    """The leaf at the end of the likelier answers, (n,). `distance`, `absent`, `present`: as for
    `leaf_shares`; `telling`: (leaves,), 0 for one that is gone."""
    there = (distance < HALF).to(absent.dtype)
    # The leaf whose way no answer contradicts; of leaves that are gone none is one.
    against = there @ absent.T + (1 - there) @ present.T + (1 - telling)
    return against.argmin(1)


Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """Children of each node, int64, shape (nodes, 2): absent, present; -1 twice at a leaf.

    Inner nodes and leaves are besides numbered among themselves, in the order of the nodes:
    prototype i belongs to the i-th inner node, distribution j to the j-th leaf.
    """

    children: Int64

    @property
    def inner(self) -> Int64:
        """Nodes that ask, ascending."""
        return np.flatnonzero(self.children[:, 0] >= 0)

    @property
    def leaves(self) -> Int64:
        """Nodes that answer, ascending."""
        return np.flatnonzero(self.children[:, 0] < 0)

    @property
    def parents(self) -> Int64:
        """The node above each, -1 at the root."""
        above = np.full(len(self.children), -1, np.int64)
        for node in self.inner:
            above[self.children[node]] = node
        return above

    @property
    def depth(self) -> int:
        """Questions on the longest way to a leaf."""
        absent, present = self.ways()
        return int((absent | present).sum(1).max())

    def ways(self) -> tuple[Bool, Bool]:
        """For each leaf the inner nodes passed as absent and as present: each (leaves, inner)."""
        above, number = self.parents, {int(node): i for i, node in enumerate(self.inner)}
        ways = np.zeros((2, len(self.leaves), len(number)), bool)
        for j, leaf in enumerate(self.leaves):
            node = int(leaf)
            while above[node] >= 0:
                parent = int(above[node])
                ways[int(self.children[parent, 1] == node), j, number[parent]] = True
                node = parent
        return ways[0], ways[1]

    def below(self, node: int) -> Int64:
        """Leaves under a node (itself, if it is one), as numbers among the leaves, ascending."""
        number = {int(leaf): j for j, leaf in enumerate(self.leaves)}
        leaves, ahead = [], [int(node)]
        while ahead:
            at = ahead.pop()
            if at in number:
                leaves.append(number[at])
            else:
                ahead += [int(child) for child in self.children[at]]
        return np.sort(np.array(leaves, np.int64))


def complete(depth: int) -> DecisionTree:
    """The tree in which every way has `depth` questions. ValueError: not at least one."""
    if depth < 1:
        raise ValueError(f"depth must be at least 1, found {depth}")
    inner = 2**depth - 1
    children = np.full((2 * inner + 1, 2), -1, np.int64)
    children[:inner] = 2 * np.arange(inner)[:, None] + (1, 2)
    return DecisionTree(children)


@dataclass(frozen=True, slots=True)
class PrunedTree:
    """A smaller tree, and which inner nodes and leaves of the old one are in it, in its order."""

    tree: DecisionTree
    inner: Int64
    leaves: Int64


def prune(tree: DecisionTree, distributions: NDArray[np.floating], threshold: float) -> PrunedTree:
    """Remove every subtree none of whose leaves says a class with more than `threshold`.

    What remains of a node that loses one child takes the node's place. After Nauta et al. 2021,
    section 3.4. `distributions`: (leaves, classes). Raises ValueError if nothing would remain.
    """
    telling = distributions.max(1) > threshold
    if not telling.any():
        raise ValueError(f"no leaf predicts a class with a probability above {threshold}")

    def find_replacement(node: int) -> int:
        """What stands in the place of a node, -1 if nothing does."""
        if tree.children[node, 0] < 0:
            return node if telling[np.searchsorted(tree.leaves, node)] else -1
        absent, present = (find_replacement(int(child)) for child in tree.children[node])
        if absent >= 0 and present >= 0:
            replaced[node] = (absent, present)
            return node
        return max(absent, present)

    replaced: dict[int, tuple[int, int]] = {}
    order = [find_replacement(0)]
    children: list[tuple[int, int]] = []
    for node in order:  # grows while it is gone through: breadth first
        if node in replaced:
            children.append((len(order), len(order) + 1))
            order += replaced[node]
        else:
            children.append((-1, -1))
    smaller = DecisionTree(np.array(children, np.int64))
    old = np.array(order)
    return PrunedTree(
        smaller,
        np.searchsorted(tree.inner, old[smaller.inner]),
        np.searchsorted(tree.leaves, old[smaller.leaves]),
    )


TREE_CHUNK = 50
"""Pictures at a time."""
Box = tuple[float, float, float, float]
"""Left, top, right, bottom in shares of the picture."""


@dataclass(frozen=True, slots=True)
class NodePrototype:
    """A patch of a training picture that a node asks for.

    `number` among the prototypes, `node` of the tree; `row` of the picture in the training part of
    the card's data; `cell` row and column of the map; `box` that place, see `regions`.
    """

    number: int
    node: int
    row: int
    cell: tuple[int, int]
    box: Box


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step of a picture's way: how probably the prototype of `node` is present, and where.

    `present` is the answer the way follows. `cell` and `box` are the most similar place of the
    picture, whatever the answer.
    """

    node: int
    prototype: int
    probability: float
    present: bool
    cell: tuple[int, int]
    box: Box


@dataclass(frozen=True, slots=True)
class FinalTwo:
    """The last two steps of a picture's way, if they decide between four species.

    `nodes` : the node two above the leaf, and its children for absent and present. `species` : of
    the four leaves, for absent and absent, absent and present, present and absent, present and
    present. `answers` : what the way answers at the two steps, true for present.
    """

    picture: int
    nodes: tuple[int, int, int]
    species: tuple[int, int, int, int]
    answers: tuple[bool, bool]


@dataclass(frozen=True, slots=True, eq=False)
class TreeExplanation:
    """Of n pictures, with the tree and its I prototypes and L leaves.

    `probabilities` (n, I) that a prototype is present, float64; `cells` (n, I, 2) its most similar
    place; `leaf` (n,) where the way of a picture ends, among the leaves; `distributions` (L, 20)
    what the leaves say; `soft` (n, 20) what all ways together say; `share_error` the greatest
    difference from 1 of the sum over all ways.
    """

    tree: DecisionTree
    distributions: Float32
    probabilities: Float64
    cells: Int64
    leaf: Int64
    soft: Float64
    share_error: float
    shape: tuple[int, int]

    @property
    def leaf_species(self) -> Int64:
        """The species each leaf says, int64, shape (L,)."""
        return np.asarray(self.distributions.argmax(1).astype(np.int64))

    @property
    def predicted(self) -> Int64:
        """Species predicted, from 0: int64, shape (n,)."""
        return self.leaf_species[self.leaf]

    def nodes(self, picture: int) -> list[int]:
        """Nodes that the way of a picture asks, from the root down."""
        above, path = self.tree.parents, []
        node = int(above[self.tree.leaves[self.leaf[picture]]])
        while node >= 0:
            path.append(node)
            node = int(above[node])
        return path[::-1]

    def path(self, picture: int) -> list[PathStep]:
        """The way of a picture, from the root down."""
        return self.steps(picture, self.nodes(picture))

    def steps(self, picture: int, nodes: Iterable[int]) -> list[PathStep]:
        """What any nodes would answer of a picture."""
        steps = []
        for node in nodes:
            number = int(np.searchsorted(self.tree.inner, node))
            cell = self.cells[picture, number]
            box = patches.around_cells(cell[None], self.shape)[0]
            probability = float(self.probabilities[picture, number])
            y, x = cell.tolist()
            steps.append(PathStep(node, number, probability, probability > 0.5, (y, x), _box(box)))
        return steps


def prototypes(model: Classifier) -> list[NodePrototype]:
    """The prototypes, in the order of the tree's inner nodes. ModelError: another method."""
    network = network_of(model, "prototree", ProtoTree)
    left = network.make_pruned()
    sources = network.sources.numpy().astype(np.int64)[left.inner]
    positions = model.size // network.backbone.stride
    boxes = patches.around_cells(sources[:, 1:], (positions, positions))
    return [
        NodePrototype(number, int(node), int(row), (int(y), int(x)), _box(box))
        for number, (node, (row, y, x), box) in enumerate(
            zip(left.tree.inner, sources, boxes, strict=True)
        )
    ]


def explain(model: Classifier, pictures: UInt8) -> TreeExplanation:
    """The ways of pictures, uint8 (n, 3, size, size), through the tree. Raises ModelError."""
    return of_network(network_of(model, "prototree", ProtoTree), pictures)


def of_network(network: ProtoTree, pictures: UInt8) -> TreeExplanation:
    left = network.make_pruned()
    places, least = [], []
    shape = (0, 0)
    with torch.inference_mode():
        prototypes = network.prototypes.double()
        for start in range(0, len(pictures), TREE_CHUNK):
            latent = network.latent(as_input(pictures[start : start + TREE_CHUNK])).double()
            shape = (latent.shape[2], latent.shape[3])
            near, where = distances(latent, prototypes).flatten(2).min(2)
            least.append(near)
            places.append(where)
        nearest = torch.cat(least)
        leaf = greedy(nearest, network.absent, network.present, network.telling).numpy()
        shares = network.shares(nearest)
        soft = network.soft(nearest).numpy()
        distributions = network.leaf_distributions().numpy()
    place = {int(old): new for new, old in enumerate(left.leaves)}
    flat = torch.cat(places).numpy()[:, left.inner]
    return TreeExplanation(
        tree=left.tree,
        distributions=distributions[left.leaves],
        probabilities=np.exp(-nearest.numpy()[:, left.inner]),
        cells=np.stack((flat // shape[1], flat % shape[1]), axis=2),
        leaf=np.array([place[node] for node in leaf.tolist()], np.int64),
        soft=soft,
        share_error=float((shares.sum(1) - 1).abs().max()),
        shape=shape,
    )


def final_twos(explanation: TreeExplanation) -> list[FinalTwo]:
    """The last two steps of every picture for which both children of the node two above its leaf
    are questions and the four leaves below predict four species, rightly or wrongly."""
    tree, species = explanation.tree, explanation.leaf_species
    number = {int(leaf): at for at, leaf in enumerate(tree.leaves)}
    result = []
    for picture in range(len(explanation.leaf)):
        way = explanation.nodes(picture)
        if len(way) < 2:
            continue
        node = way[-2]
        ends = [
            number.get(int(end))
            for child in tree.children[node]
            if tree.children[child, 0] >= 0
            for end in tree.children[child]
        ]
        if len(ends) < 4 or None in ends:
            continue
        four = [int(species[cast(int, end)]) for end in ends]
        if len(set(four)) < 4:
            continue
        absent, present = tree.children[node].tolist()
        first, second = (step.present for step in explanation.steps(picture, way[-2:]))
        result.append(
            FinalTwo(
                picture,
                (node, absent, present),
                (four[0], four[1], four[2], four[3]),
                (first, second),
            )
        )
    return result


def _box(values: Float64) -> Box:
    left, top, right, bottom = (float(value) for value in values)
    return left, top, right, bottom


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
    groups = [{"params": [*network.add_on.parameters(), network.prototypes], "lr": method.rate}]
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
    left = network.make_pruned()
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
    sources = network.sources.numpy().astype(np.int64)[network.make_pruned().inner]
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
    scores: Tensor, at_epoch_start: Tensor, shares: Tensor, labels: Tensor, *, batches: int
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
    which it divides, `thresholds` (inner,), NaN if nothing is asked; `counts` (leaves, classes)
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
