"""Figure 1(a) of paper 001: how strongly concepts that people annotate go together. Not on CUB,
which is not to be had here: on the marks and genera of the painted birds."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.reproduction.figure import Reproduction
from benchmarks.reproduction.metric_ranks import asked
from benchmarks.reproduction.printing import Table
from benchmarks.reproduction.results import Results
from benchmarks.reproduction.verdicts import Claim
from labapp.base.figure_style import STYLE
from labapp.base.report import kit
from labapp.models.datasets.birds import (
    GENERA,
    SPECIES,
    STATES,
    FieldMark,
    genus_of,
    marks_of,
)
from labapp.models.metrics.evaluation.figures import SHADES
from labapp.models.metrics.evaluation.scores import TOP, Correlations, correlations

SAYS = (
    "Absolute correlations of the ten attributes of CUB-200-2011 with the greatest mutual "
    "information with the species: annotated concepts are far from independent. A picture without "
    "numbers."
)
STAND_IN = (
    "**Not CUB**, whose annotations are not to be had here, but the painted birds that labapp "
    "draws: six marks and the five genera (colour and build) as attributes, and twenty invented "
    "species, as often each. These attributes were made up by us, so their correlations say "
    "nothing about CUB, or about the paper's claim; they show what the command does. If you have "
    "CUB: `labapp metrics correlations --factors attributes.csv --labels labels.csv --top 10`."
)


def attributes() -> tuple[NDArray[np.int64], list[str]]:
    """Of each species, 0 or 1: int64 (species, attributes); and their names."""
    marks = np.array([marks_of(species) for species in range(SPECIES)])
    genera = np.array([genus_of(species) for species in range(SPECIES)])
    one_hot = (genera[:, None] == np.arange(len(GENERA))).astype(np.int64)
    names = [STATES[mark][1] for mark in FieldMark] + [genus.name for genus in GENERA]
    return np.concatenate([marks, one_hot], axis=1), names


def found() -> tuple[Correlations, list[str]]:
    """The correlations, and the names of the chosen attributes."""
    table, names = attributes()
    result = correlations(table, np.arange(SPECIES), top=TOP)
    return result, [names[place] for place in result.chosen]


def body(results: Results) -> Sequence[str]:
    result, names = found()
    table = Table(["attribute", "mutual information with the species, nats", "largest \\|r\\|"])
    for place, name in enumerate(names):
        others = np.delete(result.matrix[place], place)
        table.add(name, f"{result.mutual_information[place]:.3f}", f"{others.max():.2f}")
    return [STAND_IN, f"Mean \\|r\\| of two of them: {result.mean:.2f}.", str(table)]


def claims(results: Results) -> list[Claim]:
    """None can be judged on attributes that we made up."""
    return [
        Claim(
            "Concepts that people annotate are far from independent (CUB-200-2011).",
            "their mean \\|r\\| is above 0",
            (),
            why_not="CUB is not to be had here",
        )
    ]


def draw(results: Results) -> dict[str, Figure]:
    result, names = found()
    with mpl.rc_context(STYLE):
        figure, (ax,) = kit.panels(1, 1, 5.0, width_in=5.6)
        figure.set_label("Correlations of the painted birds' attributes, not of CUB's")
        kit.heat_map(ax, result.matrix, SHADES, (0.0, 1.0), lambda r: f"{r:.2f}")
        ax.set_title("Painted birds, not CUB: |r| of attributes")
        ax.set_xticks(range(len(names)), names, rotation=90)
        ax.set_yticks(range(len(names)), names)
        ax.set_aspect("equal")
    return {"figure-1a": figure}


REPRODUCTION = Reproduction(
    "figure-1a",
    "Figure 1(a): correlations of annotated concepts, a stand-in",
    SAYS,
    asked,
    body,
    claims,
    draw,
)
