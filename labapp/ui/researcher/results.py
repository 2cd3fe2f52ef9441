"""What an analysis wrote into its folder, as plain values for the window.

Read from the files of `labapp analyze`, so that window and command line say the same numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from labapp.errors import RecordError
from labapp.reading import files
from labapp.text_tables import original

Key = tuple[str, str, str]
"""Study, participant, session."""


LARGEST = 64 * files.MIB
"""Bytes of a table. That of the participants of a thousand sessions has one."""


@dataclass(frozen=True, slots=True)
class Quality:
    """How far a session can be relied on. lost_s: seconds of sound filled with silence; gap_s:
    seconds the program was not running; excluded_because: empty where the session counts."""

    counts: bool
    excluded_because: str
    deviations: int
    gaps: int
    gap_s: float
    sound_s: float
    lost_s: float
    simulated: bool
    deidentified: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A mean of the table of statistics: of which study, group of stages and quantity, of whom (a
    model, a method and the share of the picture it shows), over n values. None where there is
    none."""

    study: str
    group: str
    quantity: str
    unit: str
    of: str
    n: int
    mean: float | None
    sd: float | None
    median: float | None


@dataclass(frozen=True)
class Results:
    """report: the page; figures: pictures of the analysis, in the report's order."""

    folder: Path
    report: Path
    quality: Mapping[Key, Quality]
    lines: tuple[Line, ...]
    figures: tuple[Path, ...]


def read_results(folder: Path) -> Results:
    """Raises RecordError where the folder is not that of a whole analysis."""
    try:
        quality = dict(_qualities(folder / "participants.csv"))
        names = {
            (row["study"], row["method"]): row["method_name"]
            for row in _rows(folder / "masked_predictions.csv")
        }
        lines = tuple(_lines(folder / "statistics.csv", names))
    except (OSError, KeyError, ValueError, csv.Error) as error:
        raise RecordError(
            f"The analysis in {folder} cannot be read: {error}.",
            safe="The sessions are untouched.",
            todo="Analyse again.",
        ) from error
    return Results(folder, folder / "report.html", quality, lines, _figures(folder / "figures"))


def _figures(folder: Path) -> tuple[Path, ...]:
    """The pictures as they were drawn, which is the report's order: the metrics first."""
    return tuple(
        sorted(folder.glob("*.png"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    )


def _rows(path: Path) -> Iterator[dict[str, str]]:
    text = files.content(path, LARGEST).decode("utf-8")
    for row in csv.DictReader(io.StringIO(text, newline="")):
        yield {name: original(value) for name, value in row.items()}


def _qualities(path: Path) -> Iterator[tuple[Key, Quality]]:
    for row in _rows(path):
        yield (
            (row["study"], row["participant"], row["session"]),
            Quality(
                counts=_yes(row["included"]),
                excluded_because=row["excluded_because"],
                deviations=int(row["n_deviations"]),
                gaps=int(row["n_gaps"]),
                gap_s=_number(row["gap_s"]) or 0.0,
                sound_s=_number(row["sound_s"]) or 0.0,
                lost_s=_number(row["sound_lost_s"]) or 0.0,
                simulated=_yes(row["simulated"]),
                deidentified=_yes(row["deidentified"]),
            ),
        )


def _lines(path: Path, names: Mapping[tuple[str, str], str]) -> Iterator[Line]:
    """names: of explanation methods, by study and id."""
    for row in _rows(path):
        if row["test"] == "mean":
            yield Line(
                row["study"],
                row["group"],
                row["quantity"],
                row["unit"],
                _of(row, names),
                int(row["n"]),
                _number(row["mean"]),
                _number(row["sd"]),
                _number(row["median"]),
            )


def _of(row: Mapping[str, str], names: Mapping[tuple[str, str], str]) -> str:
    """For example `sinelines/ae`, or `Gradient, 2.5 %` of a mask that shows so much."""
    method = names.get((row["study"], row["method"]), row["method"])
    shown = f"{float(row['percent']):g}\N{NO-BREAK SPACE}%" if row["percent"] else ""
    return ", ".join(part for part in (row["model"] or method, shown) if part)


def _yes(text: str) -> bool:
    return text == "True"


def _number(text: str) -> float | None:
    return float(text) if text else None
