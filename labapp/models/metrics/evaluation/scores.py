"""One metric or all of them, on codes and factors from files (.npy as numpy saves it, or .csv with
or without a line of names), shown in a terminal.

A folder of scores: every number as JSON and CSV, and figures of the matrices.

How strongly the attributes of a task that say most of its labels go together.

Paper 001, Figure 1(a), shows it of the ten attributes of CUB-200-2011 with the greatest mutual
information with the species: concepts that people annotate are seldom independent, so that a
score of purity has to allow for what concepts tell of each other.
"""

from __future__ import annotations

import inspect
import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from labapp.base import access
from labapp.base.console import escape_markup, make_printable
from labapp.base.errors import MetricError, UsageError
from labapp.base.mistakes import missing_extra
from labapp.base.progress import lines
from labapp.base.reading import arrays, files, tables
from labapp.base.reading.tables import TableError, TextTable, write_csv
from labapp.models.datasets.split import Float64, Int64
from labapp.models.metrics.information import binned_mutual_information
from labapp.models.metrics.information import labels as classes
from labapp.models.metrics.inputs import (
    JSON,
    Score,
    check_count,
    check_inputs,
    check_labels,
    check_vectors,
)
from labapp.models.metrics.registry import METRICS, OF_CONCEPTS, Metric

Say = Callable[[str, float | None], None]
"""Called with the name of each metric and None before it is computed; for metrics that may take
minutes, also with the share that is done, 0 to 1."""
LEARNT_WITHOUT_CONCEPTS = {"ois": {"align": True}, "ctl": {"align": True}, "icl": {"align": True}}
"""Settings, by metric, for codes that stand for no concepts of their own."""
MEDIAN = "above the median"
"""Value of the setting `factors_are` of OIS and NIS if measurements were divided at their
median."""


@dataclass(frozen=True, slots=True, eq=False)
class MetricOutcome:
    """What one metric gave: its score, or why there is none."""

    metric: Metric
    score: Score | None = None
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """As `Score.to_json`; without a score, "score" is null and "reason" says why."""
        if self.score is None:
            return {"metric": self.metric.name, "score": None, "reason": self.reason}
        return dict(self.score.to_json())


def without_labels() -> tuple[str, ...]:
    """The metrics that need no labels of a task."""
    return tuple(name for name, metric in METRICS.items() if not metric.labels)


def find(name: str) -> Metric:
    """The metric of a name on the command line. Raises UsageError, which lists them."""
    if name not in METRICS:
        raise UsageError(
            f"There is no metric {name!r}.", todo=f"Use one of: {', '.join(METRICS)}; or all."
        )
    return METRICS[name]


def compute(
    metric: Metric,
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    seed: int = 0,
    as_published: bool = False,
    cut: bool = False,
    settings: Mapping[str, object] | None = None,
    train: tuple[ArrayLike, ArrayLike] | None = None,
    labels: ArrayLike | None = None,
    train_labels: ArrayLike | None = None,
    say: Say | None = None,
) -> Score:
    """One metric. Raises MetricError: the metric refuses the data, or the settings, takes no rows
    to learn from, or lacks labels; or it is of another package and fails.

    cut : for a metric of concepts, take whether each factor is above its median. The settings of
        the score say so.
    settings : further ones of that metric, by name.
    train : codes and factors of other rows to learn from, for a metric that takes them; cut at
        medians of all rows.
    labels, train_labels : the labels of a task, of the rows that are scored and of those to learn
        from; for a metric that takes them, which needs them.
    """
    cut = cut and metric.concepts
    more: dict[str, object] = dict(settings or {})
    taken: ArrayLike
    if train is not None:
        if not metric.train:
            raise MetricError(
                f"{metric.label} cannot be trained on separate rows.", todo="Leave them out."
            )
        learnt, of_learnt = train
        taken = factors
        if cut:
            tables = [check_vectors(learnt, of_learnt)[1], check_vectors(codes, factors)[1]]
            if tables[0].shape[1] == tables[1].shape[1]:
                whole = above_medians(np.concatenate(tables))
                of_learnt, taken = whole[: len(tables[0])], whole[len(tables[0]) :]
        more["train"] = (learnt, of_learnt)
        if metric.labels:
            more["train"] = (
                learnt,
                of_learnt,
                _require_labels(metric, train_labels, "to learn from"),
            )
    else:
        taken = above_medians(check_vectors(codes, factors)[1]) if cut else factors
    if metric.labels:
        more["labels"] = _require_labels(metric, labels, "to score")
    if say is not None:
        say(metric.name, None)
        if metric.progress:
            more["progress"] = partial(say, metric.name)
    try:
        score = metric.load()(codes, taken, seed=seed, as_published=as_published, **more)
    except MetricError:
        raise
    except Exception as error:
        if metric.name in METRICS.shipped:
            raise
        raise MetricError(
            f"The metric {metric.name!r} of an installed package failed: "
            f"{type(error).__name__}: {error}.",
            todo="Report it to its authors. `labapp plugins list` shows the package.",
        ) from error
    if not cut:
        return score
    told = {**score.settings, "factors_are": MEDIAN}
    return replace(score, settings=told)


def compute_all(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    seed: int = 0,
    as_published: bool = False,
    cut: bool = False,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    names: Sequence[str] | None = None,
    labels: ArrayLike | None = None,
    say: Say | None = None,
) -> list[MetricOutcome]:
    """Every metric in the order of the registry. One that cannot be computed says why. Raises
    MetricError: no metric could be computed on such data.

    settings : further ones, by metric and name.
    names : of the metrics; by default all that there are.
    labels : of a task, for metrics that take them.
    """
    check_vectors(codes, factors)
    outcomes = []
    for name in METRICS if names is None else names:
        metric = find(name)
        try:
            score = compute(
                metric,
                codes,
                factors,
                seed=seed,
                as_published=as_published,
                cut=cut,
                settings=(settings or {}).get(name),
                labels=labels,
                say=say,
            )
        except (MetricError, ModuleNotFoundError) as error:
            why = error if isinstance(error, MetricError) else missing_extra(error)
            if why is None:
                raise
            outcomes.append(MetricOutcome(metric, reason=f"{why.what} {why.todo}".strip()))
        else:
            outcomes.append(MetricOutcome(metric, score))
    return outcomes


def _require_labels(metric: Metric, labels: ArrayLike | None, rows: str) -> ArrayLike:
    if labels is None:
        option = "--labels" if rows == "to score" else "--train-labels"
        raise MetricError(
            f"{metric.label} needs task labels for the rows {rows}.",
            todo=f"Give them with {option}.",
        )
    return labels


def above_medians(factors: ArrayLike) -> Float64:
    """Whether each factor is above its median, 0 or 1; of a factor of two values, which it is.

    A factor of which more than half of the rows have the greatest value is cut below that value,
    so that both classes occur.
    """
    table = np.asarray(factors, dtype=np.float64)
    middle = np.median(table, axis=0)
    above = np.where(middle < table.max(axis=0), table > middle, table >= middle)
    return np.asarray(above, dtype=np.float64)


def settings_of(metric: Metric) -> dict[str, inspect.Parameter]:
    """The further settings that a metric takes, plain values only."""
    shared = ("codes", "factors", "seed", "as_published")
    parameters = inspect.signature(metric.load()).parameters
    return {
        name: parameter
        for name, parameter in parameters.items()
        if name not in shared and _kind(parameter) is not None
    }


def parse_settings(metric: Metric, texts: Sequence[str]) -> dict[str, object]:
    """Settings written KEY=VALUE, as the types that the metric takes. Raises UsageError: not of
    this form, no setting of the metric, or a value of another type."""
    known = settings_of(metric)
    result: dict[str, object] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or key not in known:
            told = ", ".join(f"{name}={parameter.default}" for name, parameter in known.items())
            raise UsageError(
                f"--set {text}: {metric.name} has no such setting.",
                todo=f"Its settings and their defaults: {told}." if told else "It takes none.",
            )
        result[key] = _as(known[key], value)
    return result


def parse_all_settings(texts: Sequence[str]) -> dict[str, dict[str, object]]:
    """Settings written METRIC.KEY=VALUE. Raises UsageError as `find` and `parse_settings`."""
    result: dict[str, dict[str, object]] = {}
    for text in texts:
        name, dot, rest = text.partition(".")
        if not dot or "=" in name:
            raise UsageError(
                f"--set {text} does not say for which metric.",
                todo="With `all`, write METRIC.KEY=VALUE, for example mig.binning=equal-frequency.",
            )
        result.setdefault(name, {}).update(parse_settings(find(name), [rest]))
    return result


def _kind(parameter: inspect.Parameter) -> type | None:
    """The type of a plain setting, by its default or its annotation; None of any other."""
    kinds = {"bool": bool, "int": int, "float": float, "str": str}
    if parameter.default is None:
        return kinds.get(str(parameter.annotation).removesuffix(" | None"))
    return kinds.get(type(parameter.default).__name__)


def _as(parameter: inspect.Parameter, value: str) -> object:
    kind = _kind(parameter)
    assert kind is not None
    try:
        if kind is bool:
            return {"true": True, "false": False}[value.lower()]
        return kind(value)
    except (KeyError, ValueError) as error:
        allowed = "true or false" if kind is bool else f"of type {kind.__name__}"
        raise UsageError(
            f"--set {parameter.name}={value}: a value must be {allowed}.",
            todo=f"The default is {parameter.default}.",
        ) from error


ENDINGS = (".npy", ".csv")
LARGEST = {".npy": 384 * files.MIB, ".csv": 32 * files.MIB}
"""Bytes of a file. A CSV takes some ten times as much memory while it is read."""
MOST = 10_000_000
"""Values of a CSV."""
MOST_MEMORY = 16 * LARGEST[".csv"]
"""Bytes that its cells may take, of which few are kept at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class NumberTable:
    """`values`, an array of shape (n, columns) or, of codes of d numbers each, (n, columns, d);
    `names`, of its columns."""

    values: NDArray[Any]
    names: tuple[str, ...]


def read(path: Path, letter: str) -> NumberTable:
    """A file of codes or factors.

    Columns without names are called by `letter` and their number from 1: c1, c2. Whether the values
    can be scored is for the metrics to say. Raises MetricError: there is no such file, it cannot be
    read, its ending is another, it holds no array of numbers, or lines of different lengths.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise _refuse(
            path, "its ending is neither .npy nor .csv", "Save the array with numpy.save, or as CSV"
        )
    try:
        content = files.content(path, LARGEST[ending])
    except FileNotFoundError as error:
        raise _refuse(path, "there is no such file", "Check the name") from error
    except OSError as error:
        raise _refuse(path, error.strerror or str(error), "Check that you may read it") from error
    return _npy(path, content, letter) if ending == ".npy" else _csv(path, content, letter)


def default_names(letter: str, columns: int) -> tuple[str, ...]:
    """Names of columns that have none: c1, c2."""
    return tuple(f"{letter}{index}" for index in range(1, columns + 1))


def _npy(path: Path, content: bytes, letter: str) -> NumberTable:
    if content.startswith(b"PK"):
        raise _refuse(path, "it holds several arrays", "Save each array in a file of its own")
    try:
        values = arrays.npy(content)
    except ValueError as error:
        # Also what would have to be unpickled: that could run anything.
        raise _refuse(
            path,
            f"it does not contain a plain array of numbers ({error})",
            "Save one array of numbers with numpy.save",
        ) from error
    return NumberTable(values, default_names(letter, values.shape[1] if values.ndim > 1 else 1))


def _csv(path: Path, content: bytes, letter: str) -> NumberTable:
    if max(map(content.count, (b",", b";", b"\t"))) + content.count(b"\n") > MOST:
        raise _refuse(path, f"it has more than {MOST:,} values", "Save it as .npy, by numpy.save")
    read = array("d")
    try:
        table = tables.read(content, entries=MOST, memory=MOST_MEMORY)
        names = tuple(cell.strip() for cell in table.first)
        has_names = not any(_is_number(cell) for cell in names if cell)
        if not has_names:
            read.extend(_number(path, table, table.line, cell) for cell in names)
        for line, cells in table.rows:
            read.extend(_number(path, table, line, cell) for cell in cells)
    except TableError as error:
        raise _refuse(path, error.what, error.todo) from error
    values = np.array(read, dtype=np.float64).reshape(-1, len(names))
    counts = len(values) > 0 and values[0, 0] in (0, 1) and (np.diff(values[:, 0]) == 1).all()
    if has_names and not names[0] and counts:
        raise _refuse(
            path,
            "its first column has no name and only numbers the rows, as in files written by "
            "pandas and R",
            "Save the table without it (pandas: index=False; R: row.names = FALSE)",
        )
    named = tuple(name or f"{letter}{at}" for at, name in enumerate(names, 1))
    return NumberTable(values, named if has_names else default_names(letter, len(names)))


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _number(path: Path, table: TextTable, line: int, cell: str) -> float:
    try:
        return float(cell.replace(",", ".") if table.decimal_comma else cell)
    except ValueError as error:
        raise _refuse(
            path,
            f"line {line} contains {cell[:60]!r}, which is not a number",
            "Give numbers separated by commas, semicolons or tabs",
        ) from error


def _refuse(path: Path, what: str, todo: str) -> MetricError:
    return MetricError(f"{path} cannot be read: {what}.", todo=f"{todo}.")


MOST_CELLS = 24
"""A longer list or a wider matrix is told by its shape; --json has all of it."""


@contextmanager
def show_progress(console: Console | None = None) -> Iterator[Say]:
    """Gives a `Say` that shows which metric is computed; for those that may take minutes, with a
    bar and the time left.

    By default on standard error, because standard output is for the table or the JSON value. The
    line disappears at the end. In a file or a pipe, there is a line every ten seconds instead.
    """
    console = Console(stderr=True) if console is None else console
    if not console.is_interactive:
        with lines() as tell:
            yield lambda name, share: tell(share, f"computing {METRICS[name].label}")
        return
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[share]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("", total=None, share="")

    def say(name: str, share: float | None) -> None:
        if share is None:
            label = METRICS[name].label
            bar.reset(task, total=None, description=f"computing {label}", share="")
        else:
            bar.update(task, total=1.0, completed=share, share=f"{share:.0%}")

    with bar:
        yield say


def show_all(outcomes: Sequence[MetricOutcome]) -> None:
    """One line per metric on standard output."""
    table = Table("metric", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("better")
    table.add_column("what it is, or why there is no score")
    for outcome in outcomes:
        metric = outcome.metric
        score = "–" if outcome.score is None else number(outcome.score.score)
        table.add_row(metric.name, score, metric.better, escape_markup(describe(outcome)))
    console = _console()
    console.print(table)
    for metric in (outcome.metric for outcome in outcomes if outcome.score is not None):
        if metric.caution:
            console.print(f"{metric.name}: {make_printable(metric.caution)}", markup=False)


def describe(outcome: MetricOutcome) -> str:
    """The metric's title and what was done to the factors, or why there is no score."""
    if outcome.score is None:
        return outcome.reason
    cut = outcome.score.settings.get("factors_are") == MEDIAN
    note = f"; factors are whether they are {MEDIAN}" if cut else ""
    return outcome.metric.title + note


def show_one(outcome: MetricOutcome, codes: Sequence[str], factors: Sequence[str]) -> None:
    """A score with its parts and settings on standard output; codes, factors: names of columns."""
    assert outcome.score is not None
    score, console = outcome.score, _console()
    better = f"{outcome.metric.better} is better"
    console.print(f"{score.metric}  {number(score.score)}  ({describe(outcome)}; {better})")
    for name, part in score.parts.items():
        rows = factors if name in OF_CONCEPTS else codes
        console.print(*_part(name.replace("_", " "), np.asarray(part), rows, factors), sep="\n")
    for note in (*score.notes, *filter(None, [outcome.metric.caution])):
        console.print(f"note: {make_printable(note)}", markup=False)
    settings = ", ".join(f"{name}={value}" for name, value in score.settings.items())
    console.print(f"settings: {make_printable(settings)}", markup=False)


def show_correlations(result: Correlations, names: Sequence[str]) -> None:
    """The correlations of factors, called `names`, on standard output."""
    console = _console()
    if len(names) > 1:
        console.print(f"mean correlation of two factors, in size: {number(result.mean)}")
    told = zip(names, result.mutual_information, strict=True)
    cells = ", ".join(f"{name} {number(float(nats))}" for name, nats in told)
    console.print(f"mutual information with the label, nats: {make_printable(cells)}", markup=False)
    console.print(*_part("correlations", result.matrix, names, names))


def number(value: float) -> str:
    return f"{value:.4f}"


def _numbers(values: Any) -> list[str]:
    """Counts and places without decimals, if there is nothing else among them."""
    whole = bool((values == np.rint(values)).all())
    return [f"{value:.0f}" if whole else number(float(value)) for value in values]


def _part(name: str, part: Any, codes: Sequence[str], factors: Sequence[str]) -> list[Any]:
    """What is printed of one part."""
    if part.ndim == 0:
        return [f"{name}: {_numbers(part.reshape(1))[0]}"]
    if part.shape == (len(codes), len(factors)) and len(factors) <= MOST_CELLS:
        table = Table("", box=box.SIMPLE_HEAD, title=name, title_justify="left", pad_edge=False)
        for factor in factors:
            table.add_column(escape_markup(factor), justify="right")
        for code, row in zip(codes, part, strict=True):
            table.add_row(escape_markup(code), *(number(float(value)) for value in row))
        return [table]
    if part.ndim == 1 and len(part) <= MOST_CELLS:
        names = _names(name, len(part), codes, factors)
        cells = [name + value for name, value in zip(names, _numbers(part), strict=True)]
        return [escape_markup(f"{name}: {', '.join(cells)}")]
    return [f"{name}: {' x '.join(str(side) for side in part.shape)} numbers, see --json"]


def _names(name: str, length: int, codes: Sequence[str], factors: Sequence[str]) -> list[str]:
    """What stands before each number of a list: names of columns where it is said of them."""
    if name.startswith("per code") and length == len(codes):
        return [f"{code} " for code in codes]
    if name.startswith("per factor") and length == len(factors):
        return [f"{factor} " for factor in factors]
    return [""] * length


def _console() -> Console:
    """Without colours and guesses at what words mean: what is printed is what was said."""
    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = 100
    return console


SCORES = "scores.json"
TABLE = "scores.csv"
FIGURE = "matrices"
CORRELATIONS = "correlations"


@contextmanager
def new_folder(out: Path | None) -> Iterator[None]:
    """Make the folder `out` before the computation, and remove it if the block fails and it is
    still empty. With None, nothing is made. Raises MetricError: it exists, or cannot be made."""
    if out is None:
        yield
        return
    try:
        access.own_folder(out, exist_ok=False)
    except FileExistsError as error:
        raise MetricError(
            f"{out} exists.", safe="It was not touched.", todo="Name another folder with --out."
        ) from error
    except OSError as error:
        raise MetricError(
            f"The folder {out} could not be created: {error.strerror}.",
            safe="Nothing was computed.",
            todo="Use --out to choose a folder in which you may write.",
        ) from error
    try:
        yield
    except BaseException:
        # Only an empty folder can be removed so.
        with suppress(OSError):
            out.rmdir()
        raise


def write(
    outcomes: Sequence[MetricOutcome], codes: Sequence[str], factors: Sequence[str], out: Path
) -> list[Path]:
    """Write scores into a folder made by `new_folder`; codes, factors: the names of columns.

    scores.json holds {"codes", "factors", "scores"}, the last as `MetricOutcome.to_json`;
    scores.csv one line per metric; figures are SVG and PNG: all matrices, and each by itself.
    Raises MetricError: the disk refuses.
    """
    with _report_disk_errors(out):
        from labapp.models.metrics.evaluation import figures

        paths = [out / SCORES, out / TABLE]
        rows = [outcome.to_json() for outcome in outcomes]
        whole = {"codes": list(codes), "factors": list(factors), "scores": rows}
        with paths[0].open("x", encoding="utf-8") as file:
            json.dump(whole, file, indent=1, ensure_ascii=False, allow_nan=False)
            file.write("\n")
        with paths[1].open("x", encoding="utf-8", newline="") as file:
            lines = [
                (
                    outcome.metric.name,
                    outcome.metric.title,
                    outcome.score and outcome.score.score,
                    outcome.metric.better,
                    outcome.reason,
                )
                for outcome in outcomes
            ]
            write_csv(file, ("metric", "title", "score", "better", "reason"), lines)
        shown = figures.panels(outcomes, len(codes), len(factors))
        overview = [panel for panel in shown if panel.name not in figures.BESIDE]
        if overview:
            paths += figures.save(figures.draw(overview, codes, factors), out, FIGURE)
        for panel in shown:
            name = f"{panel.scores[0].metric}-{panel.name}"
            paths += figures.save(figures.draw([panel], codes, factors), out, name)
        return paths


@contextmanager
def _report_disk_errors(out: Path) -> Iterator[None]:
    """Says of a disk that refuses what is there."""
    try:
        yield
    except OSError as error:
        raise MetricError(
            f"The scores could not be written to {out}: {error.strerror}.",
            safe="Files that were already written are complete.",
            todo="Free some space, or name another folder with --out.",
        ) from error


def write_correlations(result: Correlations, names: Sequence[str], out: Path) -> list[Path]:
    """Write correlations of factors, called `names`, into a folder made by `new_folder`.

    correlations.json as `Correlations.to_json`; correlations.csv one line per factor, with what it
    reports the label and its correlations; a heat map as SVG and PNG. Raises MetricError: the disk
    refuses.
    """
    from labapp.models.metrics.evaluation import figures

    paths = [out / f"{CORRELATIONS}.json", out / f"{CORRELATIONS}.csv"]
    with _report_disk_errors(out):
        with paths[0].open("x", encoding="utf-8") as file:
            json.dump(result.to_json(names), file, indent=1, ensure_ascii=False, allow_nan=False)
            file.write("\n")
        with paths[1].open("x", encoding="utf-8", newline="") as file:
            rows = zip(names, result.mutual_information, result.matrix, strict=True)
            lines = [(name, nats, *row) for name, nats, row in rows]
            write_csv(file, ("factor", "mutual_information", *names), lines)
        panel = figures.Panel(CORRELATIONS, result.matrix)
        return paths + figures.save(figures.draw([panel], names, names), out, CORRELATIONS)


TOP = 10
"""As in the figure."""


@dataclass(frozen=True, slots=True, eq=False)
class Correlations:
    """Of the chosen factors, those that tell most of the label first.

    Attributes
    ----------
    chosen : int64, shape (top,), their numbers, from 0.
    mutual_information : float64, shape (top,), with the label, nats.
    matrix : float64, shape (top, top), absolute Pearson correlations; 1 on the diagonal.
    """

    chosen: Int64
    mutual_information: Float64
    matrix: Float64

    @property
    def mean(self) -> float:
        """Of the pairs; NaN of a single factor, which has none."""
        count = len(self.chosen)
        pairs = count * (count - 1)
        return float((self.matrix.sum() - count) / pairs) if pairs else float("nan")

    def to_json(self, names: Sequence[str]) -> dict[str, JSON]:
        """Plain values, with the names of the chosen factors."""
        return {
            "factors": list(names),
            "chosen": self.chosen.tolist(),
            "mutual_information": self.mutual_information.tolist(),
            "correlations": self.matrix.tolist(),
            "mean": self.mean if len(self.chosen) > 1 else None,
        }


def correlations(factors: ArrayLike, labels: ArrayLike, *, top: int = TOP) -> Correlations:
    """The absolute correlations of the factors that share most with the labels. Raises MetricError:
    see `inputs.check_inputs` and `inputs.check_labels`; or `top` below 1.

    Parameters
    ----------
    factors : real numbers, shape (n, K), none of them constant; with more than 20 values, shared
        information is counted in 20 bins of equal width.
    labels : the label of each row, whole or other numbers that stand for classes, shape (n,).
    top : how many factors; all where there are fewer. Of equal ones, the first.
    """
    check_count("top", top, 1)
    f = check_inputs(factors, factors)[1]
    y = np.unique(check_labels(labels, len(f)), return_inverse=True)[1].reshape(-1)
    mutual = np.array([binned_mutual_information(classes(column), y) for column in f.T])
    # Rounded, for sums of equal numbers in another order differ in the last digits.
    chosen = np.argsort(-mutual.round(12), kind="stable")[:top]
    matrix = np.abs(np.corrcoef(f[:, chosen], rowvar=False)).reshape(len(chosen), -1).clip(0, 1)
    np.fill_diagonal(matrix, 1.0)
    return Correlations(chosen, mutual[chosen], matrix)
