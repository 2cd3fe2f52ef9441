"""The stimulus sets that can be built: one for each kind of task and method.

Nothing here needs torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from labapp.errors import UsageError
from labapp.explanations.building.selection import Wanted
from labapp.stimuli.manifest import Kind, Scale

Explains = Literal["gradcam", "bagnet", "protopnet", "prototree"]


@dataclass(frozen=True, slots=True)
class Spec:
    """A set to build. distinction: species are told apart; else predictions are agreed with."""

    id: str
    title: str
    explains: Explains
    model: str
    method: str
    kind: Kind
    distinction: bool
    wanted: Wanted
    scale: Scale | None = None

    @property
    def needs(self) -> str:
        """The method of the model, as recipes name it."""
        return "resnet" if self.explains == "gradcam" else self.explains


@dataclass(frozen=True, slots=True)
class ScoredSpec:
    """A set of pixel scores to build. each, wrong: images of a class, and how many of them the
    model takes for another (paper 004 shows five of each; its model erred in 41 % of all)."""

    id: str
    title: str
    model: str
    each: int = 5
    wrong: int = 2


HALF, RIGHT_4, RIGHT_10 = Wanted(5, 5), Wanted(4, 0), Wanted(10, 0)

SPECS: dict[str, Spec] = {
    built.id: built
    for built in (
        Spec(
            "birds-gradcam", "Birds: GradCAM", "gradcam", "birds/resnet", "GradCAM", "heatmaps",
            True, HALF, "positive",
        ),
        Spec(
            "birds-bagnet", "Birds: BagNet", "bagnet", "birds/bagnet", "BagNet", "heatmaps",
            True, HALF, "signed",
        ),
        Spec(
            "birds-protopnet-distinction", "Birds: ProtoPNet, four species each", "protopnet",
            "birds/protopnet", "ProtoPNet", "prototypes", True, RIGHT_4,
        ),
        Spec(
            "birds-protopnet", "Birds: ProtoPNet, the predicted species", "protopnet",
            "birds/protopnet", "ProtoPNet", "prototypes", False, HALF,
        ),
        Spec(
            "birds-prototree-distinction", "Birds: ProtoTree, the last two steps open", "prototree",
            "birds/prototree", "ProtoTree", "path", True, RIGHT_10,
        ),
        Spec(
            "birds-prototree", "Birds: ProtoTree, whole paths", "prototree", "birds/prototree",
            "ProtoTree", "path", False, HALF,
        ),
    )
}  # fmt: skip

SCORED_SPECS = {
    scored.id: scored
    for scored in (ScoredSpec("faces-unmasking", "Faces: anger and happiness", "faces/cnn"),)
}


def spec(name: str) -> Spec:
    """The set of that name. Raises UsageError."""
    if name not in SPECS:
        names = ", ".join((*SPECS, *SCORED_SPECS))
        raise UsageError(f"There is no set {name!r} to build.", todo=f"Use one of: {names}.")
    return SPECS[name]
