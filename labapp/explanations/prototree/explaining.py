"""Explanations of a ProtoTree: its tree, and the path of a picture along the likelier answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch

from labapp.datasets.split import Float32, Float64, Int64
from labapp.explanations import regions
from labapp.explanations.classifier import Classifier, network_of
from labapp.explanations.photos import UInt8, as_input
from labapp.explanations.prototree.network import ProtoTree, distances, greedy
from labapp.explanations.prototree.tree import DecisionTree

CHUNK = 50
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
    """The last two steps of a picture's way, where they decide between four species.

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
        species: Int64 = self.distributions.argmax(1).astype(np.int64)
        return species

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
            box = regions.around_cells(cell[None], self.shape)[0]
            probability = float(self.probabilities[picture, number])
            y, x = cell.tolist()
            steps.append(PathStep(node, number, probability, probability > 0.5, (y, x), _box(box)))
        return steps


def prototypes(model: Classifier) -> list[NodePrototype]:
    """The prototypes, in the order of the tree's inner nodes. ModelError: another method."""
    network = network_of(model, "prototree", ProtoTree)
    left = network.pruned()
    sources = network.sources.numpy().astype(np.int64)[left.inner]
    positions = model.size // network.backbone.stride
    boxes = regions.around_cells(sources[:, 1:], (positions, positions))
    return [
        NodePrototype(number, int(node), int(row), (int(y), int(x)), _box(box))
        for number, (node, (row, y, x), box) in enumerate(
            zip(left.tree.inner, sources, boxes, strict=True)
        )
    ]


def explain(model: Classifier, pictures: UInt8) -> TreeExplanation:
    """The ways of pictures, uint8 (n, 3, size, size), through the tree.

    Raises
    ------
    ModelError : the model is of another method.
    """
    return of_network(network_of(model, "prototree", ProtoTree), pictures)


def final_two(model: Classifier, pictures: UInt8) -> list[FinalTwo]:
    """See `final_twos`. ModelError: the model is of another method."""
    return final_twos(explain(model, pictures))


def of_network(network: ProtoTree, pictures: UInt8) -> TreeExplanation:
    """See `explain`."""
    left = network.pruned()
    places, least = [], []
    shape = (0, 0)
    with torch.inference_mode():
        prototypes = network.prototypes.double()
        for start in range(0, len(pictures), CHUNK):
            latent = network.latent(as_input(pictures[start : start + CHUNK])).double()
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
