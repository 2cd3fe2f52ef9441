"""Tables as files: CSV for people, Parquet for programs, and a dictionary of the columns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from labapp import access
from labapp.analysis.coding_counts import CODE_COUNTS, CODE_COUNTS_TABLE, code_counts
from labapp.analysis.columns import table_columns
from labapp.analysis.folding.snapshots import NAME as SNAPSHOTS
from labapp.analysis.snapshots import recorded
from labapp.analysis.statistics_columns import STATISTICS
from labapp.analysis.tables import Tables, typed
from labapp.analysis.talk_times import TALK_TIMES, TALK_TIMES_TABLE, talk_times
from labapp.analysis.task_records import Columns
from labapp.analysis.task_report import Findings, reports
from labapp.analysis.writing_snapshots import write_snapshots
from labapp.errors import DataFolderError, ExportExists
from labapp.text_tables import Lines, cell

STATISTICS_TABLE = "statistics"
DICTIONARY = "columns.csv"


def _columns(tables: Tables | None = None) -> dict[str, Columns]:
    """By table, those that are worked out from the others last. tables: with the columns of the
    factors of their studies."""
    return {**(table_columns() if tables is None else tables.columns), **derived_columns()}


def snapshot_files(out: Path) -> tuple[Path, Path]:
    """The files of the large table."""
    return out / f"{SNAPSHOTS}.csv", out / f"{SNAPSHOTS}.parquet"


def file_names() -> tuple[str, ...]:
    """Every file that `write` makes."""
    tables = [f"{name}.{ending}" for name in _columns() for ending in ("csv", "parquet")]
    return (*tables, DICTIONARY)


def write(tables: Tables, out: Path, findings: Findings | None = None) -> list[Path]:
    """Write every table as .csv and .parquet, and columns.csv, into the folder `out`.

    findings: what the sessions that count say, where that is known already.

    In CSV a cell with one number a dimension is a JSON list, a missing value is empty, and text
    is escaped as `labapp.text_tables` says; in Parquet they are a list and the text itself.
    Nothing is overwritten: raises ExportExists when one of the files is there, DataFolderError when
    the folder cannot be written.
    """
    refuse_existing(out, file_names())
    findings = Findings.find(tables.included()) if findings is None else findings
    try:
        access.own_folder(out)
        written = write_small(tables, out, findings)
        write_snapshots(recorded(tables), *snapshot_files(out))
    except OSError as error:
        raise unwritable(out, error) from error
    return [*written, *snapshot_files(out)]


def write_small(tables: Tables, out: Path, findings: Findings) -> list[Path]:
    """All but the large table, as `write` does it. Raises OSError."""
    written = []
    for name, frame in {**tables.small(), **derived(findings)}.items():
        written += [out / f"{name}.csv", out / f"{name}.parquet"]
        _to_csv(_as_text(name, frame), written[-2])
        with written[-1].open("xb") as file:
            frame.to_parquet(file, index=False, engine="pyarrow")
    written.append(out / DICTIONARY)
    _to_csv(dictionary(tables), written[-1])
    return written


def refuse_existing(out: Path, names: Iterable[str]) -> None:
    """Raise ExportExists when one of these names is in the folder already."""
    if out.exists() and not out.is_dir():
        raise ExportExists(f"{out} is a file, not a folder.", todo="Name another folder.")
    if there := [name for name in names if (out / name).exists()]:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise ExportExists(
            f"{out} holds an earlier analysis ({there[0]}{more}).",
            safe="Nothing was overwritten.",
            todo="Name a new folder, or move the old one away.",
        )


def unwritable(out: Path, error: OSError) -> DataFolderError:
    """The error for a folder that cannot be written."""
    return DataFolderError(
        f"The analysis cannot be written to {out}: {error.strerror or error}.",
        safe="The sessions are untouched.",
        todo="Free some space or name another folder.",
    )


def dictionary(tables: Tables | None = None) -> pd.DataFrame:
    """One row a column of every table: table, column, type, unit, meaning."""
    return pd.DataFrame(
        [
            (table, column.name, column.kind, column.unit, column.meaning)
            for table, columns in _columns(tables).items()
            for column in columns
        ],
        columns=["table", "column", "type", "unit", "meaning"],
    )


def _as_text(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    lists = [column.name for column in _columns()[name] if column.kind == "numbers"]
    return frame.assign(**{column: frame[column].map(json.dumps) for column in lists})


def _to_csv(frame: pd.DataFrame, path: Path) -> None:
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    made = frame.assign(**{str(name): frame[name].map(cell, na_action="ignore") for name in texts})
    with path.open("x", encoding="utf-8", newline="") as file:
        made.to_csv(Lines(file), index=False, lineterminator=Lines.END)  # type: ignore[call-overload]


def derived_columns() -> dict[str, Columns]:
    """Their columns, by name."""
    own = {name: columns for report in reports() for name, columns in report.tables.items()}
    return {
        STATISTICS_TABLE: STATISTICS,
        CODE_COUNTS_TABLE: CODE_COUNTS,
        TALK_TIMES_TABLE: TALK_TIMES,
        **own,
    }


def statistics(findings: Findings) -> pd.DataFrame:
    """The table of statistics, by task, those of published studies last."""
    rows = [
        dict(row) for report, results in findings.of.items() for row in report.statistics(results)
    ]
    return typed(rows, STATISTICS)


def derived(findings: Findings) -> dict[str, pd.DataFrame]:
    """The tables, by name."""
    frames = {
        STATISTICS_TABLE: statistics(findings),
        CODE_COUNTS_TABLE: code_counts(findings.counted),
        TALK_TIMES_TABLE: talk_times(findings.counted),
    }
    for report, results in findings.of.items():
        frames.update(report.frames(results))
    return frames
