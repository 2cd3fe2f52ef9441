"""What the published studies of judged explanations found (paper 003), to stand beside our numbers.

Source: sections 5.1 to 5.3, Table 1, Figures 4, 5 and A14 to A16, Tables A1 and A2. Percentages,
ratings and minutes as printed; where the paper contradicts itself, the table's value with a note.
Stimuli (ImageNet, CUB) and models were others than any of ours.
"""

from __future__ import annotations

from dataclasses import dataclass

NOT_OURS = (
    "The paper is Kim et al. 2022, “HIVE: Evaluating the human interpretability of visual "
    "explanations” (ECCV 2022). Its values come from other photos (ImageNet, CUB) and other "
    "models, with 50 participants per study. They are for orientation only; the results here need "
    "not match them."
)
INVENTED = (
    "The labels here are invented names. In the paper they were names of known objects, which "
    "is a different manipulation, so the two must not be compared."
)
KNOWN_OBJECTS = "with names of known objects"
SIGNIFICANT = "p < .001"


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A value of the paper; sd and p where it prints them. significant: whether it says that the
    value differs from chance, from the neutral rating or from the other group (p < .001). note:
    what it prints elsewhere, or why ours is no match for it."""

    mean: float
    sd: float | None = None
    p: float | None = None
    significant: bool | None = None
    note: str = ""

    @property
    def spread(self) -> str:
        """Without what it says of significance."""
        decimals = 1 if abs(self.mean) >= 1 else 2
        text = f"{self.mean:.{decimals}f}"
        if self.sd is not None:
            text += f" ± {self.sd:.{decimals}f}"
        return text.replace("-", "−")

    def __str__(self) -> str:
        text = self.spread
        if self.p is not None:
            text += f", p = {self.p:.{2 if self.p >= 0.01 else 3}f}"
        elif self.significant is not None:
            text += f", {SIGNIFICANT if self.significant else 'not significant'}"
        return f"{text} ({self.note})" if self.note else text


@dataclass(frozen=True, slots=True)
class ExplanationLength:
    """How many rows or steps an explanation of the paper has. rough: only about so many."""

    number: int
    unit: str
    source: str
    rough: bool = False

    @property
    def about(self) -> str:
        return f"about {self.number}" if self.rough else f"{self.number}"


DISTINCTION, OUTPUT, AGREEMENT = "distinction", "output prediction", "agreement"
CHANCE = 25.0
"""Per cent that guessing gets right of four classes, or of the four ends of two steps."""
UNDERSTANDING = tuple(
    f"understanding {when}" for when in ("after intro", "after task", "after results")
)
RISKS = ("low", "medium", "high")
POOLED = "pooled"
DECREASE = "p = 0.006"
"""Of understanding between task and results, over all studies."""

_VALUES = {
    "gradcam-distinction": {
        DISTINCTION: PublishedValue(27.8, 16.3, significant=False),
        OUTPUT: PublishedValue(34.6, 19.0),
        "duration": PublishedValue(7),
    },
    "gradcam-distinction-labels": {DISTINCTION: PublishedValue(45.4), OUTPUT: PublishedValue(53.2)},
    "bagnet-distinction": {
        DISTINCTION: PublishedValue(42.0, 15.7, significant=True),
        OUTPUT: PublishedValue(56.0, 16.4),
        "duration": PublishedValue(7.4),
    },
    "bagnet-distinction-labels": {DISTINCTION: PublishedValue(32.0), OUTPUT: PublishedValue(36.8)},
    "protopnet-distinction": {
        DISTINCTION: PublishedValue(54.5, 30.3, significant=True),
        "similarity, chosen": PublishedValue(2.9, significant=True),
        "similarity, others": PublishedValue(2.1),
        "similarity by rank": PublishedValue(-0.25, p=0.49),
        "duration": PublishedValue(10.9),
    },
    "protopnet-agreement": {
        AGREEMENT: PublishedValue(60.0, 18.3, significant=True),
        "similarity, chosen": PublishedValue(2.9, significant=True),
        "similarity, others": PublishedValue(2.0),
        "similarity by rank": PublishedValue(-0.52, p=0.12),
        "belief, all": PublishedValue(2.7, significant=True),
        "belief, model right": PublishedValue(3.0, significant=True),
        "belief, model wrong": PublishedValue(2.4, significant=False),
        "duration": PublishedValue(16.4),
    },
    "prototree-distinction": {
        DISTINCTION: PublishedValue(33.8, 15.9, significant=True),
        "duration": PublishedValue(10.8),
    },
    "prototree-agreement": {
        AGREEMENT: PublishedValue(53.6, 15.2, 0.10, note="section 5.3 prints 54.5"),
        "similarity, chosen": PublishedValue(2.4, significant=True),
        "similarity, others": PublishedValue(2.0),
        "similarity by similarity": PublishedValue(0.06),
        "belief, all": PublishedValue(2.7, significant=True),
        "belief, model right": PublishedValue(2.8, significant=True),
        "belief, model wrong": PublishedValue(2.7, significant=True),
        "duration": PublishedValue(10.1),
    },
    "prototree-agreement-tree": {AGREEMENT: PublishedValue(52.8, 19.9, 0.33)},
    POOLED: {
        UNDERSTANDING[0]: PublishedValue(3.8, 0.9),
        UNDERSTANDING[1]: PublishedValue(3.8, 0.9),
        UNDERSTANDING[2]: PublishedValue(3.6, 1.0),
        "ml experience": PublishedValue(2.6, 1.1),
        "warm-up": PublishedValue(86.5),
    },
}
_Pairs = tuple[tuple[float, float], ...]
_TRADE_OFF: dict[str, tuple[float, _Pairs]] = {
    "gradcam-distinction": (76.1, ((82.0, 8.0), (85.2, 7.2), (87.0, 8.5))),
    "bagnet-distinction": (66.7, ((73.6, 8.4), (77.2, 11.2), (79.7, 14.0))),
    "protopnet-agreement": (79.9, ((85.7, 6.6), (87.7, 4.9), (89.3, 6.6))),
    "protopnet-distinction": (79.9, ((84.0, 7.9), (86.0, 6.4), (89.6, 7.1))),
    "prototree-agreement": (81.7, ((85.5, 6.5), (85.9, 6.3), (86.8, 6.5))),
    "prototree-distinction": (81.7, ((86.8, 5.7), (88.1, 5.8), (90.9, 6.2))),
}
"""The explained model's accuracy, then the least accuracy at low, medium and high risk."""
OTHER_TREE = (
    "labapp's ProtoTree starts from a key of the species' marks that was learned with labels, and "
    "asks 19 questions; the paper's has 511"
)
"""To be read wherever the accuracies of both models stand together."""
_UNDERSTANDING: dict[str, _Pairs] = {
    "gradcam-distinction": ((3.8, 0.7), (3.9, 0.8), (3.7, 0.9)),
    "bagnet-distinction": ((3.8, 0.8), (3.7, 0.9), (3.5, 1.0)),
    "protopnet-agreement": ((3.9, 0.8), (4.0, 0.8), (3.7, 0.8)),
    "protopnet-distinction": ((4.1, 0.8), (3.9, 0.8), (3.7, 1.1)),
    "prototree-agreement": ((3.7, 0.8), (3.7, 1.0), (3.4, 0.8)),
    "prototree-distinction": ((3.4, 1.0), (3.6, 1.1), (3.3, 1.2)),
}
PEOPLE = {
    ("gender", "woman"): 46.0,
    ("gender", "man"): 51.0,
    ("gender", "non_binary"): 2.0,
    ("gender", ""): 1.0,
    ("race", "white"): 75.0,
    ("race", "black"): 7.0,
    ("race", "asian"): 8.0,
    ("race", "american_indian"): 1.0,
    ("race", "hispanic"): 3.0,
    ("race", "pacific_islander"): 0.0,
    ("race", ""): 7.0,
}
"""Percent by item and option, over all studies; the empty option: not reported."""

VALUES = {
    **{(design, name): row for design, some in _VALUES.items() for name, row in some.items()},
    **{
        (design, f"least accuracy, {risk} risk"): PublishedValue(*value)
        for design, (_, row) in _TRADE_OFF.items()
        for risk, value in zip(RISKS, row, strict=True)
    },
    **{
        (design, "model accuracy"): PublishedValue(
            own, note=OTHER_TREE if design.startswith("prototree") else ""
        )
        for design, (own, _) in _TRADE_OFF.items()
    },
    **{
        (design, name): PublishedValue(*value)
        for design, row in _UNDERSTANDING.items()
        for name, value in zip(UNDERSTANDING, row, strict=True)
    },
}
"""By design (see `design_of`) and quantity."""

_PROTOTYPES = ExplanationLength(10, "rows", "figure A14; 8.3 on average by appendix A", rough=True)
LENGTHS = {
    "protopnet-distinction": _PROTOTYPES,
    "protopnet-agreement": _PROTOTYPES,
    "prototree-distinction": ExplanationLength(7, "steps", "figure A15"),
    "prototree-agreement": ExplanationLength(9, "steps", "figure A16"),
    "prototree-agreement-tree": ExplanationLength(9, "steps", "figure A16"),
}
"""By design: rows of prototypes of a class, and steps of a path that are shown as decided."""

OUTPUT_DIFFERS = frozenset({"bagnet-distinction"})
"""Designs in which distinction and output prediction are said to differ (p < .001)."""

_KINDS = {
    "heatmap-distinction": "distinction",
    "prototype-distinction": "distinction",
    "prototype-agreement": "agreement",
    "path-distinction": "distinction",
    "path-agreement": "agreement",
    "path-first-step": "agreement-tree",
}


def design_of(method: str, task: str, *, labels: bool) -> str:
    """Method, task and labels, as the published studies are told apart: gradcam-distinction."""
    name = "".join(sign for sign in method.lower() if sign.isalnum())
    return f"{name}-{_KINDS[task]}{'-labels' if labels else ''}"


def find_published(design: str, quantity: str) -> PublishedValue | None:
    """The paper's result for a quantity; None if the paper does not report it."""
    return VALUES.get((design, quantity))


def compare_published(
    published: PublishedValue | None, other: PublishedValue | None, *, significant: bool
) -> str:
    """Two values beside each other, where the paper has both."""
    if published is None or other is None:
        return ""
    text = f"{published.spread} vs {other.spread}"
    return f"{text}, {SIGNIFICANT}" if significant else text
