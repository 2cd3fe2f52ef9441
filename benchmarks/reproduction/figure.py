"""A figure or table computed again: what it asks for, its tables, its claims, its drawing.

A module of this folder has one `REPRODUCTION`; the report is made of all of them, each from the
results alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from benchmarks.reproduction import sensitivity
from benchmarks.reproduction.printing import Table
from benchmarks.reproduction.results import Asked, Results
from benchmarks.reproduction.verdicts import Claim, Reading, claims_table, over_seeds
from labapp.base.figure_style import STYLE
from labapp.base.report.drawing import DECLARATION, svg_text
from labapp.models.concepts.recipe import SizeName

SEEDS: dict[SizeName, int] = {"S": 1, "M": 5, "L": 5}
"""How many a full report of each size has of a learner, as the paper; see `seeds_of`."""
TOY_SEEDS = 20
"""Of TabularToy: some models of it learn the concepts, and some the task without them."""
VIEW = "*"
"""In a path to a number, the place of the code that a row is about."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of tables: a learner, and which of its codes. `name`: as the paper calls it."""

    name: str
    asked: Asked
    view: str = "code"


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of a result. `unit`: what it is multiplied by in print."""

    name: str
    path: tuple[str | int, ...]
    unit: float = 1.0

    def values(self, results: Results, row: Row) -> list[float]:
        """Of each seed that has it."""
        return [number for number in self.column(results, row) if number is not None]

    def column(self, results: Results, row: Row) -> list[float | None]:
        """Of every seed, None of one that lacks it."""
        path = (row.view if part == VIEW else part for part in self.path)
        return results.column(row.asked, *path)


TASK = Measure("task accuracy, %", ("task_accuracy",), 100)
TASK_AUC = Measure("task AUC, %", ("task_auc",), 100)
CONCEPTS = Measure("concept accuracy, %", ("concept_accuracy",), 100)
OIS = Measure("OIS", ("scores", VIEW, "ois", "given"))
OIS_PUBLISHED = Measure("OIS, as published", ("scores", VIEW, "ois", "published"))
OIS_RANKS = Measure("OIS of ranks", ("scores", VIEW, "ois", "ranks"))
OIS_STANDARDISED = Measure("OIS of standardised codes", ("scores", VIEW, "ois", "standardised"))
OIS_SIGMOID = Measure("OIS of the sigmoid of its logits", ("scores", VIEW, "ois", "sigmoid"))
OIS_LOGITS = Measure(
    "OIS of its standardised logits", ("scores", VIEW, "ois", "standardised_logits")
)
OIS_OFF_DIAGONAL = Measure("OIS without the diagonal", ("scores", VIEW, "ois", "off_diagonal"))
NIS = Measure("NIS", ("scores", VIEW, "nis", "default"))
NIS_PUBLISHED = Measure("NIS, as published", ("scores", VIEW, "nis", "published"))
NIS_PUBLISHED_TRAIN = Measure(
    "NIS, as published, fitted on training codes", ("scores", VIEW, "nis", "published_train")
)
PURITY = (OIS, OIS_PUBLISHED, OIS_RANKS, OIS_STANDARDISED, NIS, NIS_PUBLISHED, NIS_PUBLISHED_TRAIN)
BOTTLENECK_PURITY = (
    OIS, OIS_PUBLISHED, OIS_RANKS, OIS_SIGMOID, OIS_LOGITS, NIS, NIS_PUBLISHED, NIS_PUBLISHED_TRAIN,
)  # fmt: skip

ScoreName = Literal["ois", "nis"]
SCORES: tuple[ScoreName, ...] = ("ois", "nis")
ALIGNED = ("ccd", "vae", "beta-vae", "ada-gvae", "ada-mlvae")
"""Kinds whose codes the released code aligns with the concepts; of SENN those of TabularToy."""


NisFit = Literal["training codes", "test codes"]
"""What the released code fits the helper of NIS on: training codes, scored on test codes, in
Figures 4 and 5; four fifths of the test codes, scored on the rest, in Figure 3."""


def scores(
    results: Results,
    row: Row,
    name: ScoreName,
    reading: Reading,
    fitted: NisFit = "training codes",
) -> list[float]:
    """OIS or NIS of each seed that has it, see `score_column`."""
    column = score_column(results, row, name, reading, fitted)
    return [score for score in column if score is not None]


def score_column(
    results: Results,
    row: Row,
    name: ScoreName,
    reading: Reading,
    fitted: NisFit = "training codes",
) -> list[float | None]:
    """OIS or NIS of each seed: labapp's default of the row's code, or what stands for the released
    code's score: its options, of the codes that it takes. OIS of aligned codes has the factor
    2 / K, which that code leaves out and the published numbers have.
    """
    if reading == "ours":
        return (OIS if name == "ois" else NIS).column(results, row)
    column: list[float | None] = []
    for result in results.of(row.asked):
        views = result["scores"]
        view = views.get("as released", views["code"]) if row.view == "code" else views[row.view]
        trained = name == "nis" and fitted == "training codes"
        score = view.get(name, {}).get("published_train" if trained else "published")
        factor = 1.0
        if name == "ois" and aligned_as_released(row.asked):
            factor = 2 / len(view["alignment"])
        column.append(None if score is None else factor * float(score))
    return column


def gaps(results: Results, measure: Measure, row: Row) -> list[float]:
    """Of each seed, OIS as given less OIS in other coordinates."""
    return steps(results, row, measure, OIS)


def steps(results: Results, row: Row, first: Measure, second: Measure) -> list[float]:
    """Of each seed that has both, the second number less the first."""
    every = zip(first.column(results, row), second.column(results, row), strict=True)
    return [after - before for before, after in every if before is not None and after is not None]


def aligned_as_released(asked: Asked) -> bool:
    """Whether the released code aligns the codes with the concepts."""
    return asked.learner in ALIGNED or (asked.learner == "senn" and not asked.pictures)


Published = dict[tuple[str, str], str]
"""By the names of a row and of a measure, as printed."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A figure or table of a paper.

    Attributes
    ----------
    name : on the command line, for example "figure-5".
    title : of its section.
    says : what the paper says of it, in our words.
    asked : the learners it needs at a size, the most valuable ones first.
    body : paragraphs and tables.
    claims : what it claims, judged.
    draw : its drawings by name, without ending; empty where there is nothing to draw.
    extra : measures beyond the usual ones that its learners need, see `concept_models.EXTRA`.
    most_seeds : it needs no more seeds of a learner, if there is a number.
    """

    name: str
    title: str
    says: str
    asked: Callable[[SizeName], Sequence[Asked]]
    body: Callable[[Results], Sequence[str]]
    claims: Callable[[Results], Sequence[Claim]]
    draw: Callable[[Results], dict[str, Figure]]
    extra: frozenset[str] = frozenset()
    most_seeds: int | None = None

    def needed(self, size: SizeName) -> dict[Asked, int]:
        """Of each learner, how many seeds a full report of that size has."""
        return {
            asked: min(seeds_of(asked, size), self.most_seeds or sys.maxsize)
            for asked in self.asked(size)
        }


UNFOLDED = 16
"""Rows of a table of all numbers that a reader sees without asking for them."""


def spread_table(
    results: Results,
    rows: Sequence[Row],
    measures: Sequence[Measure],
    published: Published | None = None,
) -> str:
    """A line for each row and measure that has a number, here or in the paper; folded if many."""
    table = Table(
        ["model", "measure", "published", "mean", "SD", "± 2 SD", "95 % interval", "seeds"]
    )
    for row in rows:
        for measure in measures:
            values = measure.values(results, row)
            printed = (published or {}).get((row.name, measure.name), "–")
            if values or printed != "–":
                table.add(row.name, measure.name, printed, *spread(values, measure.unit))
    if not table.rows:
        return "No model of it is trained yet."
    if len(table.rows) <= UNFOLDED:
        return str(table)
    summary = f"<summary>All numbers, {len(table.rows)} rows</summary>"
    return f"<details>{summary}\n\n{table}\n\n</details>"


def spread(values: Sequence[float], unit: float = 1.0) -> tuple[str, str, str, str, str]:
    """Mean, SD of the seeds (ddof 0, as plotted by the paper), twice that, the 95 % interval (of
    ddof 1), and how many there are."""
    if not values:
        return ("–", "–", "–", "–", "0")
    digits = 1 if unit == 100 else 3
    scaled = np.array(values) * unit
    mean, sd = f"{scaled.mean():.{digits}f}", float(scaled.std())
    if len(values) == 1:
        return (mean, "–", "–", "–", "1")
    ends = over_seeds(list(scaled))
    interval = f"{ends.low:.{digits}f} to {ends.high:.{digits}f}"
    return (mean, f"{sd:.{digits}f}", f"{2 * sd:.{digits}f}", interval, str(len(values)))


def section(figure: Reproduction, results: Results, drawings: Path | None) -> str:
    """The section in Markdown; its drawings are put into the folder, if there is one."""
    parts = [f"**The paper.** {figure.says}", _provenance(figure, results)]
    for name, drawn in figure.draw(results).items():
        with mpl.rc_context(STYLE):
            text = svg_text(drawn)
        if drawings is not None:
            drawings.mkdir(parents=True, exist_ok=True)
            (drawings / f"{name}.svg").write_text(f"{DECLARATION}{text}", encoding="utf-8")
        parts.append(f"![{drawn.get_label() or figure.title}](figures/{name}.svg)")
    # Findings have a section of their own.
    claims = [claim for claim in figure.claims(results) if claim.source != "finding"]
    if claims:
        parts.append(claims_table(claims, judged_beside(figure, results)))
    parts += figure.body(results)
    return "\n\n".join(parts)


def judged_beside(figure: Reproduction, results: Results) -> Callable[[Claim], tuple[str, str]]:
    """For `claims_table`: what is said next to a verdict, and the sensitivity analyses."""
    of_tasks = sensitivity.notes(results, figure.asked(results.size))
    others = sensitivity.Others(figure.claims, results)

    def beside(claim: Claim) -> tuple[str, str]:
        if not any(test.known for test in claim.tests) or not figure.asked(results.size):
            return "", ""
        return sensitivity.note(claim, of_tasks), others.told(claim)

    return beside


def seeds_of(asked: Asked, size: SizeName) -> int:
    """How many seeds of a learner a full report has."""
    return SEEDS[size] if asked.pictures or size == "S" else TOY_SEEDS


def missing(figure: Reproduction, results: Results) -> list[str]:
    """What a full report would have and the results lack, a line for each learner."""
    lines = []
    for asked, seeds in figure.needed(results.size).items():
        every = results.finished(asked)
        models = [model for model in every if figure.extra <= set(model["measured"])]
        lacking = seeds - len(models)
        if lacking > 0:
            lines.append(f"{asked.name}: {lacking} of {seeds} seeds")
    return lines


def _provenance(figure: Reproduction, results: Results) -> str:
    every = list(dict.fromkeys(figure.asked(results.size)))
    if not every:
        return "It needs no concept learner."
    table = Table(
        ["data set", "origin", "rows: training, validation, test", "size", "epochs", "models",
         "seeds", "CPU seconds a model: training, measuring"]
    )  # fmt: skip
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for asked in every:
        for result in results.of(asked):
            data = result["data"]
            rows = f"{data['train']:,}, {data['validation']:,}, {data['test']:,}"
            key = (data["name"], data["origin"], rows, result["size"], str(result["epochs"]))
            groups.setdefault(key, []).append(result)
    for key, models in groups.items():
        seeds = ", ".join(map(str, sorted({int(model["seed"]) for model in models})))
        training, measuring = (
            np.mean([model["cpu_seconds"][part] for model in models])
            for part in ("training", "measuring")
        )
        # Of a training that was broken off, the time of its last part alone is known.
        least = "at least " if any(model.get("resumed") for model in models) else ""
        table.add(*key, str(len(models)), seeds, f"{least}{training:.0f}, {measuring:.0f}")
    lacking = missing(figure, results)
    text = f"**Here.** {cost(results, every)}, with all that any section measures of these models."
    if lacking:
        shown = "; ".join(lacking[:6]) + (
            f"; and {len(lacking) - 6} more learners" if len(lacking) > 6 else ""
        )
        text += f" **Still missing:** {shown}."
    return "\n\n".join([text, str(table)] if table.rows else [text])


def cost(results: Results, every: Sequence[Asked]) -> str:
    """What the models of these learners took, each once: several may be of the same recipe."""
    models = {
        (result["digest"], result["seed"]): result
        for asked in every
        for result in results.of(asked)
    }.values()
    seconds = sum(sum(model["cpu_seconds"].values()) for model in models)
    least = "at least " if any(model.get("resumed") for model in models) else ""
    return f"{len(models)} models, {least}{seconds / 60:.0f} CPU minutes"
