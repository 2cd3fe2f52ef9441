"""Table A1 of paper 001: other metrics of concepts, on the learners of Figure 4."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from benchmarks.reproduction.figure import OIS, TASK, Measure, Reproduction, Row, spread_table
from benchmarks.reproduction.figure_4 import KINDS, learner
from benchmarks.reproduction.printing import Table
from benchmarks.reproduction.results import Asked, Results
from benchmarks.reproduction.verdicts import Claim
from labapp.models.concepts.recipe import SizeName
from labapp.models.metrics.registry import METRICS

DATA = "dSprites(0)"
LISTED = {
    "modularity": "single codes",
    "mig": "single codes",
    "dci": "single codes",
    "alignment-accuracy": "single codes",
    "sap": "single codes",
    "r4": "single codes",
    "explicitness": "all codes",
    "informativeness": "all codes",
}
"""The metrics of the table by the registry's names, and what each is of; DCI's informativeness is a
part of `dci`."""
SAYS = (
    "A list without numbers: metrics of single codes (modularity, MIG, DCI disentanglement, Yeh's "
    "alignment, SAP, R4) and of all codes (explicitness, DCI informativeness)."
)


def rows() -> list[Row]:
    kinds = {"cbm": "CBM", "cbm-logits": "CBM-Logits"} | KINDS
    return [Row(f"{name}, {DATA}", learner(kind, DATA)) for kind, name in kinds.items()]


def measure(name: str) -> Measure:
    return Measure(name, ("others", name))


def body(results: Results) -> Sequence[str]:
    table = Table(["metric", "of", "in labapp"])
    for name, of in LISTED.items():
        where = "a part of dci" if name == "informativeness" else f"`labapp metrics {name}`"
        there = name == "informativeness" or name in METRICS
        table.add(name, of, where if there else "–")
    numbers = spread_table(results, rows(), (*map(measure, LISTED), OIS, TASK))
    return [str(table), "On dSprites(0), beside OIS and the task:", numbers]


def claims(results: Results) -> list[Claim]:
    return []


def draw(results: Results) -> dict[str, Figure]:
    return {}


def asked(size: SizeName) -> list[Asked]:
    return [row.asked for row in rows()]


REPRODUCTION = Reproduction(
    "table-a1",
    "Table A1: other metrics of concepts",
    SAYS,
    asked,
    body,
    claims,
    draw,
    frozenset({"others"}),
)
