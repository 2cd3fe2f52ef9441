"""Figure 2(a) of paper 001: two pairs of codes, of which one can hold more than the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.reproduction.figure import (
    BOTTLENECK_PURITY,
    NIS,
    OIS,
    OIS_LOGITS,
    OIS_RANKS,
    OIS_SIGMOID,
    PURITY,
    Measure,
    Reproduction,
    Row,
    ScoreName,
    gaps,
    scores,
    spread_table,
)
from benchmarks.reproduction.figure_4 import CELLS, TASKS, learner
from benchmarks.reproduction.printing import Table, p_value
from benchmarks.reproduction.results import Asked, Results
from benchmarks.reproduction.verdicts import (
    MARGIN,
    Claim,
    Evidence,
    Reading,
    Test,
    above,
    below,
    difference,
    scored,
    welch_p,
    within,
)
from labapp.base.figure_style import ACCENT, INK, STYLE
from labapp.base.report import kit
from labapp.models.concepts.recipe import SizeName

PAIRS = {
    "bottleneck": (("CBM", "cbm", "code"), ("CBM-Logits", "cbm-logits", "code")),
    "whitening": (
        ("CW MaxPool-Mean", "cw", "code"),
        ("CW Feature Map", "cw", "feature map"),
    ),
}
COMMON = (OIS_RANKS, OIS_SIGMOID, OIS_LOGITS)
"""Coordinates that both codes of the first pair can be put into."""
SAYS = (
    "CBM beside CBM-Logits, and CW's feature maps reduced to a number (MaxPool-Mean) beside whole "
    "ones, without and with correlations. The freer codes of each pair, logits and whole feature "
    "maps, have more OIS and NIS, but for NIS of CBM-Logits on 3dshapes. A picture without "
    "numbers to be had."
)
REMARK = (
    "In common coordinates the first pair is compared by what its codes tell and not by how: "
    "probabilities and logits are one-to-one. On TabularToy, a feature map is one number, so that "
    "the second pair differs on pictures alone."
)


def row(pair: str, place: int, data: str) -> Row:
    name, kind, view = PAIRS[pair][place]
    return Row(f"{name}, {data}", learner(kind, data), view)


def cells_of(pair: str) -> tuple[str, ...]:
    return CELLS if pair == "bottleneck" else TASKS["dSprites"] + TASKS["3dshapes"]


def both(results: Results, measure: Measure, pair: str, data: str) -> list[list[float]]:
    """The numbers of the freer code, and of the other."""
    return [measure.values(results, row(pair, place, data)) for place in (1, 0)]


def claims(results: Results) -> list[Claim]:
    def apart(name: ScoreName, pair: str, data: str, reading: Reading) -> Evidence:
        return difference(*(scores(results, row(pair, i, data), name, reading) for i in (1, 0)))

    def more(
        name: ScoreName, pair: str, cells: Sequence[str]
    ) -> Callable[[Reading], Sequence[Test]]:
        return lambda reading: [
            above(data, apart(name, pair, data, reading), 0.0) for data in cells
        ]

    others = [data for data in CELLS if data not in TASKS["3dshapes"]]
    maps = cells_of("whitening")
    rule = "the difference is above 0, in every task"
    made = [
        scored("CBM-Logits has more OIS than CBM.", rule, more("ois", "bottleneck", CELLS)),
        scored(
            "CW's whole feature maps have more OIS than MaxPool-Mean.",
            rule,
            more("ois", "whitening", maps),
        ),
        scored(
            "CBM-Logits has more NIS than CBM, but for 3dshapes.",
            rule,
            more("nis", "bottleneck", others),
        ),
        scored(
            "On 3dshapes, CBM-Logits has no more NIS than CBM.",
            f"the difference is below {MARGIN}, in both tasks (the number is ours)",
            lambda reading: [
                below(data, apart("nis", "bottleneck", data, reading), MARGIN)
                for data in TASKS["3dshapes"]
            ],
        ),
        scored(
            "CW's whole feature maps have more NIS than MaxPool-Mean.",
            rule,
            more("nis", "whitening", maps),
        ),
    ]
    made += [
        Claim(
            f"In common coordinates CBM and CBM-Logits are equally impure ({measure.name}).",
            f"CBM-Logits and CBM are less than {MARGIN} apart, in every task",
            tuple(
                within(data, difference(*both(results, measure, "bottleneck", data)), MARGIN)
                for data in CELLS
            ),
            "finding",
        )
        for measure in COMMON
    ]
    made += [
        Claim(
            f"In common coordinates CBM-Logits is nearer to CBM ({measure.name}).",
            "the difference as given less that in common coordinates is above 0, in every task",
            tuple(
                above(data, difference(*squashed(results, measure, "bottleneck", data)), 0.0)
                for data in CELLS
            ),
            "finding",
        )
        for measure in COMMON
    ]
    return made


def squashed(results: Results, measure: Measure, pair: str, data: str) -> list[list[float]]:
    """OIS as given less that in common coordinates, of the freer code and of the other."""
    return [gaps(results, measure, row(pair, place, data)) for place in (1, 0)]


def body(results: Results) -> Sequence[str]:
    table = Table(["task", "pair", "measure", "freer less other", "Welch p"])
    for pair, ((other, *_), (freer, *_)) in PAIRS.items():
        for data in cells_of(pair):
            measures = (OIS, *(COMMON if pair == "bottleneck" else (OIS_RANKS,)), NIS)
            for measure in measures:
                values = both(results, measure, pair, data)
                if all(values):
                    table.add(
                        data, f"{freer} less {other}", measure.name, difference(*values).told,
                        p_value(welch_p(*values)),
                    )  # fmt: skip
    tables = [str(table)] if table.rows else []
    for pair, measures in (("bottleneck", BOTTLENECK_PURITY), ("whitening", PURITY)):
        rows = [row(pair, place, data) for data in cells_of(pair) for place in (0, 1)]
        tables.append(spread_table(results, rows, measures))
    return [REMARK, *tables]


def draw(results: Results) -> dict[str, Figure]:
    shown = [
        pair
        for pair in PAIRS
        if any(
            OIS.values(results, row(pair, place, data))
            for data in cells_of(pair)
            for place in (0, 1)
        )
    ]
    if not shown:
        return {}
    with mpl.rc_context(STYLE):
        figure, axes = kit.panels(2 * len(shown), 2, 2.8, width_in=10.0)
        figure.set_label("OIS and NIS of both codes of each pair")
        for place, pair in enumerate(shown):
            for column, measure in enumerate((OIS, NIS)):
                ax = axes[2 * place + column]
                cells = cells_of(pair)
                for code, shift, colour in ((0, -0.17, ACCENT), (1, 0.17, INK)):
                    for at, data in enumerate(cells):
                        values = measure.values(results, row(pair, code, data))
                        kit.points(
                            ax, at + shift + kit.jitter(len(values), 0.06), values, color=colour
                        )
                        if values:
                            kit.diamond(
                                ax, at + shift, float(np.mean(values)), markeredgecolor=colour
                            )
                    kit.points(ax, [], [], color=colour, label=PAIRS[pair][code][0])
                kit.columns(ax, [cell.replace("(", "\n(") for cell in cells])
                ax.set_ylim(0, 1.05 * ax.dataLim.y1)
                ax.set_title(measure.name)
                kit.grid(ax)
            kit.diamond(axes[2 * place], np.nan, np.nan, label="mean")
            axes[2 * place].legend(frameon=False)
    return {"figure-2a": figure}


def asked(size: SizeName) -> list[Asked]:
    kinds = [kind for pair in PAIRS.values() for _, kind, _ in pair]
    return [learner(kind, data) for data in CELLS for kind in dict.fromkeys(kinds)]


REPRODUCTION = Reproduction(
    "figure-2a", "Figure 2(a): codes that can hold more", SAYS, asked, body, claims, draw
)
