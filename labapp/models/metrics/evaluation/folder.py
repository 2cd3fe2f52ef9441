"""A folder of scores: every number as JSON and CSV, and figures of the matrices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from labapp.base import access
from labapp.base.errors import MetricError
from labapp.base.text_tables import write_csv
from labapp.models.metrics.correlations import Correlations
from labapp.models.metrics.evaluation.scores import MetricOutcome

SCORES = "scores.json"
TABLE = "scores.csv"
FIGURE = "matrices"
CORRELATIONS = "correlations"


@contextmanager
def new_folder(out: Path | None) -> Iterator[None]:
    """Make the folder `out` before the computation, and remove it if the block fails and it is
    still empty. With None, nothing is made.

    Raises
    ------
    MetricError : it exists, or cannot be made.
    """
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
            f"The folder {out} cannot be made: {error.strerror}.",
            safe="Nothing was computed.",
            todo="Name a folder where you may write with --out.",
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
    scores.csv one line a metric; figures are SVG and PNG: all matrices, and each by itself.

    Raises
    ------
    MetricError : the disk refuses.
    """
    with _told(out):
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
def _told(out: Path) -> Iterator[None]:
    """Says of a disk that refuses what is there."""
    try:
        yield
    except OSError as error:
        raise MetricError(
            f"The scores cannot be written to {out}: {error.strerror}.",
            safe="Files that are already there are whole.",
            todo="Make room, or name another folder with --out.",
        ) from error


def write_correlations(result: Correlations, names: Sequence[str], out: Path) -> list[Path]:
    """Write correlations of factors, called `names`, into a folder made by `new_folder`.

    correlations.json as `Correlations.to_json`; correlations.csv one line a factor, with what it
    tells of the label and its correlations; a heat map as SVG and PNG.

    Raises
    ------
    MetricError : the disk refuses.
    """
    from labapp.models.metrics.evaluation import figures

    paths = [out / f"{CORRELATIONS}.json", out / f"{CORRELATIONS}.csv"]
    with _told(out):
        with paths[0].open("x", encoding="utf-8") as file:
            json.dump(result.to_json(names), file, indent=1, ensure_ascii=False, allow_nan=False)
            file.write("\n")
        with paths[1].open("x", encoding="utf-8", newline="") as file:
            rows = zip(names, result.mutual_information, result.matrix, strict=True)
            lines = [(name, nats, *row) for name, nats, row in rows]
            write_csv(file, ("factor", "mutual_information", *names), lines)
        panel = figures.Panel(CORRELATIONS, result.matrix)
        return paths + figures.save(figures.draw([panel], names, names), out, CORRELATIONS)
