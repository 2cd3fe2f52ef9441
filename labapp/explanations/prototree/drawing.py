"""The whole tree of a ProtoTree as one figure, for an introduction that offers it.

matplotlib is slow to load: nothing imports this module before a tree is to be drawn.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from labapp.datasets.split import Float32, Float64
from labapp.explanations.classifier import Classifier
from labapp.explanations.prototree.explaining import Prototype, of_network, prototypes
from labapp.explanations.prototree.network import ProtoTree
from labapp.explanations.prototree.tree import Tree
from labapp.figure_style import INK, SECONDARY, STYLE

SHARP = 384
"""Pixels of the pictures that prototypes are cut from."""
LEAF_WIDTH, STEP_HEIGHT = 0.62, 1.25
"""Inches from leaf to leaf, and from question to question."""
PATCH = 0.5
"""Width and height of a prototype, in inches."""


def draw(
    model: Classifier, path: Path, *, absent: str = "absent", present: str = "present"
) -> None:
    """Write the tree as SVG or PNG, by the ending of `path`.

    absent, present : what the two answers are called; absent is always on the left. Leaves carry
    the number of their species, from 1.

    Raises
    ------
    ModelError : the model is of another method.
    """
    known = prototypes(model)
    network = model.network
    assert isinstance(network, ProtoTree)
    tree = network.pruned().tree
    size = model.size
    said = of_network(network, np.zeros((1, 3, size, size), np.uint8)).leaf_species
    where = layout(tree)
    width = (len(tree.leaves) + 1) * LEAF_WIDTH
    height = (tree.depth + 1.2) * STEP_HEIGHT
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        at = np.add(where, (0.5, 0.6)) * (LEAF_WIDTH / width, STEP_HEIGHT / height)
        at[:, 1] = 1 - at[:, 1]
        page = figure.add_axes((0, 0, 1, 1))
        page.set_axis_off()
        page.set(xlim=(0, 1), ylim=(0, 1))
        for node in tree.inner:
            for child, answer, side in zip(
                tree.children[node], (absent, present), ("right", "left"), strict=True
            ):
                ends = at[[node, child]]
                page.plot(*ends.T, color=SECONDARY, linewidth=0.8, zorder=1)
                if node == 0:
                    x, y = ends.mean(0)
                    page.text(x, y, f" {answer} ", ha=side, va="bottom", fontsize=9, color=INK)
        for prototype in known:
            x, y = at[prototype.node]
            w, h = PATCH / width, PATCH / height
            patch = figure.add_axes((x - w / 2, y - h / 2, w, h))
            patch.imshow(crop(model, prototype).transpose(1, 2, 0), interpolation="nearest")
            patch.set(xticks=[], yticks=[])
            for spine in patch.spines.values():
                spine.set(visible=True, color=INK, linewidth=0.6)
        for leaf, species in zip(tree.leaves, said, strict=True):
            x, y = at[leaf]
            label = {"facecolor": "white", "edgecolor": SECONDARY, "boxstyle": "round,pad=0.3"}
            page.text(x, y, str(species + 1), ha="center", va="center", fontsize=10, bbox=label)
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)


def crop(model: Classifier, prototype: Prototype) -> Float32:
    """A prototype's patch of its training picture: float32 0 to 1, shape (3, h, w)."""
    rows = replace(model.card.recipe.data.load().train, size=SHARP)
    picture = rows.instances(np.array([prototype.row]))[0]
    left, top, right, bottom = (round(edge * SHARP) for edge in prototype.box)
    patch: Float32 = picture[:, top:bottom, left:right]
    return patch


def layout(tree: Tree) -> Float64:
    """Places of the nodes, (nodes, 2): leaves side by side, a node between its children, and how
    many questions are above.
    """
    where = np.zeros((len(tree.children), 2))
    beside = 0.0

    def place(node: int, depth: int) -> float:
        nonlocal beside
        if tree.children[node, 0] < 0:
            across = beside
            beside += 1
        else:
            across = sum(place(int(child), depth + 1) for child in tree.children[node]) / 2
        where[node] = across, depth
        return across

    place(0, 0)
    return where
