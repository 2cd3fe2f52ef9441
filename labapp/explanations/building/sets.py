"""The stimulus sets that can be built: one for each kind of task and method.

Nothing here needs torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from labapp.discovery import load
from labapp.errors import UsageError
from labapp.explanations.building.selection import SetSize
from labapp.explanations.methods import METHODS, SCORINGS
from labapp.stimuli.manifest import Kind, Scale


@dataclass(frozen=True, slots=True)
class Spec:
    """A set to build. needs: the method of the model, as recipes name it; method: of explaining,
    its name for people; distinction: species are told apart, else predictions are agreed with."""

    id: str
    title: str
    needs: str
    model: str
    method: str
    kind: Kind
    distinction: bool
    wanted: SetSize
    scale: Scale | None = None


@dataclass(frozen=True, slots=True)
class ScoredSpec:
    """A set of pixel scores to build. each, wrong: images of a class, and how many of them the
    model takes for another (paper 004 shows five of each; its model erred in 41 % of all); methods:
    that score the pixels, by name."""

    id: str
    title: str
    model: str
    each: int = 5
    wrong: int = 2
    methods: tuple[str, ...] = SCORINGS


HALF, RIGHT_4, RIGHT_10 = SetSize(5, 5), SetSize(4, 0), SetSize(10, 0)

GRADCAM = (
    Spec(
        "birds-gradcam",
        "Birds: GradCAM",
        "resnet",
        "birds/resnet",
        "GradCAM",
        "heatmaps",
        True,
        HALF,
        "positive",
    ),
)
BAGNET = (
    Spec(
        "birds-bagnet",
        "Birds: BagNet",
        "bagnet",
        "birds/bagnet",
        "BagNet",
        "heatmaps",
        True,
        HALF,
        "signed",
    ),
)
PROTOPNET = (
    Spec(
        "birds-protopnet-distinction",
        "Birds: ProtoPNet, four species each",
        "protopnet",
        "birds/protopnet",
        "ProtoPNet",
        "prototypes",
        True,
        RIGHT_4,
    ),
    Spec(
        "birds-protopnet",
        "Birds: ProtoPNet, the predicted species",
        "protopnet",
        "birds/protopnet",
        "ProtoPNet",
        "prototypes",
        False,
        HALF,
    ),
)
PROTOTREE = (
    Spec(
        "birds-prototree-distinction", "Birds: ProtoTree, the last two steps open", "prototree",
        "birds/prototree", "ProtoTree", "path", True, RIGHT_10,
    ),
    Spec(
        "birds-prototree", "Birds: ProtoTree, whole paths", "prototree", "birds/prototree",
        "ProtoTree", "path", False, HALF,
    ),
)  # fmt: skip


@cache
def _known() -> dict[str, tuple[Spec, str]]:
    """By id the sets that explain birds, and where who explains them is."""
    return {
        spec.id: (spec, method.explainer)
        for method in METHODS.values()
        if method.sets
        for spec in load(method.sets)
    }


def specs() -> dict[str, Spec]:
    """The sets that explain birds, of every method, by their ids."""
    return {name: spec for name, (spec, _) in _known().items()}


def explainer_of(spec: Spec) -> Any:
    """Who explains the photos of a set, see `labapp.explanations.building.explainer.Explainer`."""
    return load(_known()[spec.id][1])(spec)


SCORED_SPECS = {
    scored.id: scored
    for scored in (ScoredSpec("faces-unmasking", "Faces: anger and happiness", "faces/cnn"),)
}


def spec(name: str) -> Spec:
    """The set of that name. Raises UsageError."""
    if name not in specs():
        known = ", ".join((*specs(), *SCORED_SPECS))
        raise UsageError(f"There is no set {name!r} to build.", todo=f"Use one of: {known}.")
    return specs()[name]
