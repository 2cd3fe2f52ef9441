"""`labapp analyze`: sessions and bundles in, tables and a report out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labapp.analysis.report import report
from labapp.analysis.sources import Progress
from labapp.analysis.tables import load
from labapp.analysis.writing import file_names, refuse_existing, unwritable, write

REPORT = "report.html"


def analyze(
    paths: Sequence[Path | str],
    out: Path,
    progress: Progress | None = None,
    *,
    withdrawn: bool = False,
) -> Path:
    """Write tables (CSV, Parquet) and report.html of sessions and bundles into the folder `out`.

    Returns the report's path. progress: called with the share done (0..1) and what is being done;
    what it raises ends the work. withdrawn: sessions too whose participants withdrew and let the
    data be kept. Raises ExportExists when `out` holds an analysis already, RecordError when a
    session cannot be read or is withdrawn, DataFolderError when `out` cannot be written.
    """
    refuse_existing(out, (*file_names(), REPORT))

    def part(start: float, end: float) -> Progress | None:
        if progress is None:
            return None
        return lambda share, what: progress(start + share * (end - start), what)

    tables = load(list(paths), part(0.0, 0.5), withdrawn=withdrawn)
    text = report(tables, progress=part(0.5, 0.8))
    if progress is not None:
        progress(0.8, "writing tables")
    write(tables, out)
    path = out / REPORT
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise unwritable(out, error) from error
    if progress is not None:
        progress(1.0, "done")
    return path
