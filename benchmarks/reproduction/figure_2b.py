"""Figure 2(b) of paper 001: the capacity of a bottleneck's encoder and predictor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.reproduction.figure import (
    CONCEPTS,
    NIS,
    OIS,
    OIS_OFF_DIAGONAL,
    OIS_PUBLISHED,
    OIS_RANKS,
    TASK,
    Reproduction,
    Row,
    score_column,
    spread_table,
)
from benchmarks.reproduction.results import Asked, Results
from benchmarks.reproduction.verdicts import (
    Claim,
    Evidence,
    Reading,
    Test,
    above,
    below,
    over_seeds,
    rank_correlation,
    scored,
)
from labapp.base.figure_style import ACCENT, INK, STYLE
from labapp.base.report import kit
from labapp.models.concepts.recipe import SizeName

CAPACITIES = (4, 8, 16, 32, 64, 128, 256)
OTHER = (128, 64)
"""The hidden layers of the side that does not vary."""
SIDES = ("encoder", "predictor")
KINDS = {"cbm-logits": "CBM-Logits (as released)", "cbm": "CBM (as the text says)"}
MEASURES = (CONCEPTS, TASK, OIS, OIS_OFF_DIAGONAL, OIS_RANKS, OIS_PUBLISHED, NIS)
SAYS = (
    "On TabularToy(0), the hidden layers of the encoder are {c, c/2} with the predictor's {128, "
    "64}, and the other way. As a capacity falls, concept accuracy falls and OIS rises; the "
    "encoder's matters much more than the predictor's. A picture without numbers to be had; the "
    "text says a CBM, the released code trains CBM-Logits."
)
REMARK = (
    "At 4 units the encoder hardly learns the concepts at all, and OIS then mostly says that codes "
    "miss their own concept (the diagonal); OIS without the diagonal counts the leaks alone."
)


def row(kind: str, side: str, capacity: int) -> Row:
    layers = dict.fromkeys(SIDES, OTHER) | {side: (capacity, capacity // 2)}
    return Row(f"{KINDS[kind]}, {side} {capacity}", Asked.of("TabularToy(0)", kind, **layers))


Column = Callable[[Row], Sequence[float | None]]
"""A number of each seed of a row."""


def by_seed(results: Results, kind: str, side: str, column: Column) -> dict[int, list[float]]:
    """Of the seeds that have the number at every capacity, all of them."""
    every: dict[int, list[float]] = {}
    for capacity in CAPACITIES:
        of = row(kind, side, capacity)
        for result, value in zip(results.of(of.asked), column(of), strict=True):
            if value is not None:
                every.setdefault(int(result["seed"]), []).append(value)
    return {seed: numbers for seed, numbers in every.items() if len(numbers) == len(CAPACITIES)}


def claims(results: Results) -> list[Claim]:
    accuracies = partial(CONCEPTS.column, results)

    def ranks(kind: str, side: str, column: Column) -> Evidence:
        every = by_seed(results, kind, side, column).values()
        return over_seeds([rank_correlation(CAPACITIES, numbers) for numbers in every])

    def impurities(reading: Reading) -> Column:
        return lambda of: score_column(results, of, "ois", reading)

    def effects(kind: str, reading: Reading) -> list[Test]:
        """Half of what the encoder's least capacity adds to OIS, less what the predictor's adds or
        takes."""
        by_side = [by_seed(results, kind, side, impurities(reading)) for side in SIDES]
        of_seeds = [
            [side[seed][0] - side[seed][-1] for side in by_side]
            for seed in sorted(by_side[0].keys() & by_side[1].keys())
        ]
        return [
            above(name, over_seeds([e / 2 - sign * p for e, p in of_seeds]), 0.0)
            for name, sign in (("less the predictor's", 1), ("and the predictor's", -1))
        ]

    made = []
    for kind, name in KINDS.items():
        made += [
            scored(
                f"{name}: the less capacity the encoder has, the more OIS.",
                "Spearman's correlation of capacity and OIS below −0.8",
                lambda reading, kind=kind: [
                    below("", ranks(kind, "encoder", impurities(reading)), -0.8)
                ],
            ),
            Claim(
                f"{name}: the less capacity the encoder has, the lower the concept accuracy.",
                "Spearman's correlation of capacity and concept accuracy above 0",
                (above("", ranks(kind, "encoder", accuracies), 0.0),),
            ),
            scored(
                f"{name}: the less capacity the predictor has, the more OIS.",
                "Spearman's correlation of capacity and OIS below 0",
                lambda reading, kind=kind: [
                    below("", ranks(kind, "predictor", impurities(reading)), 0.0)
                ],
            ),
            Claim(
                f"{name}: the less capacity the predictor has, the lower the concept accuracy.",
                "Spearman's correlation of capacity and concept accuracy above 0",
                (above("", ranks(kind, "predictor", accuracies), 0.0),),
            ),
            scored(
                f"{name}: the encoder's capacity matters much more than the predictor's.",
                "half of what 4 units in place of 256 do to OIS in the encoder is more than what "
                "they do in the predictor, in either direction",
                partial(effects, kind),
            ),
        ]
    return made


def rows() -> list[Row]:
    return [row(kind, side, of) for kind in KINDS for side in SIDES for of in CAPACITIES]


def body(results: Results) -> Sequence[str]:
    return [REMARK, spread_table(results, rows(), MEASURES)]


def draw(results: Results) -> dict[str, Figure]:
    if not any(results.of(of.asked) for of in rows()):
        return {}
    shown = ((OIS, "OIS"), (CONCEPTS, "Concept accuracy"))
    with mpl.rc_context(STYLE):
        figure, axes = kit.panels(4, 2, 2.6, width_in=8.0, sharex=True)
        figure.set_label("OIS and concept accuracy by capacity of encoder and predictor")
        for place, kind in enumerate(KINDS):
            for column, (measure, title) in enumerate(shown):
                ax = axes[2 * place + column]
                for side, (line, mark), colour in zip(
                    SIDES, kit.LINES, (ACCENT, INK), strict=False
                ):
                    means = [
                        np.mean(values) if values else np.nan
                        for values in (
                            measure.values(results, row(kind, side, of)) for of in CAPACITIES
                        )
                    ]
                    ax.plot(
                        CAPACITIES, means, line, marker=mark, color=colour, markersize=4,
                        label=f"{side} varies",
                    )  # fmt: skip
                ax.set_xscale("log", base=2)
                ax.set_xticks(CAPACITIES, [str(of) for of in CAPACITIES])
                ax.set_ylim(0, None if measure is OIS else 1.02)
                ax.set_title(f"{title}, {KINDS[kind].split(' ')[0]}")
                kit.grid(ax)
                if place:
                    ax.set_xlabel("units of the first hidden layer")
        axes[0].legend(frameon=False)
    return {"figure-2b": figure}


def asked(size: SizeName) -> list[Asked]:
    """Released kind first; the ends of the scale before what lies between."""
    ends = (CAPACITIES[0], CAPACITIES[-1])
    order = [*ends, *(of for of in CAPACITIES if of not in ends)]
    return [row(kind, side, of).asked for kind in KINDS for of in order for side in SIDES]


REPRODUCTION = Reproduction(
    "figure-2b",
    "Figure 2(b): capacity",
    SAYS,
    asked,
    body,
    claims,
    draw,
    most_seeds=5,
)
