"""`labapp analyze`: sessions and bundles in, tables and a report out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from labapp import access, leftovers
from labapp.analysis.folding.workers import SAFE
from labapp.analysis.language import MISSING, chosen, write_missing
from labapp.analysis.participation import flow_figures
from labapp.analysis.registration import Registration
from labapp.analysis.report import report
from labapp.analysis.snapshots import Snapshots, recorded
from labapp.analysis.sources import Progress
from labapp.analysis.tables import Tables, load
from labapp.analysis.task_report import Findings, reports
from labapp.analysis.writing import (
    file_names,
    refuse_existing,
    snapshot_files,
    unwritable,
    write_small,
)
from labapp.analysis.writing_snapshots import write_snapshots
from labapp.figure_style import USUAL_LOOK, Look, looking
from labapp.journal.layout import refuse_inside
from labapp.journal.opening import is_session, places
from labapp.parallel.processes import processes
from labapp.report.language import speaking

REPORT = "report.html"
FIGURES = "figures"
"""Folder of the figures of tasks and published studies, as SVG, PNG and PDF."""
CAPTIONS = "captions.md"
"""Beside them what each shows, of whom, and how to read it: nothing of it is drawn into a file."""


def analyze(
    paths: Sequence[Path | str],
    out: Path,
    progress: Progress | None = None,
    *,
    withdrawn: bool = False,
    pilot: bool = False,
    ratings: Sequence[Path] = (),
    registrations: Sequence[Path] = (),
    workers: int | None = None,
    dask: str | None = None,
    look: Look = USUAL_LOOK,
    language: str | None = None,
    words: Path | None = None,
) -> Path:
    """Write tables (CSV, Parquet) and report.html of sessions and bundles into the folder `out`,
    the figures as files, and the names of dials as a sheet for raters.

    Returns the report's path. progress: called with the share done (0..1) and what is being done;
    what it raises ends the work. withdrawn: sessions too whose participants withdrew and let the
    data be kept; pilot: trial runs, and nothing else, which are left out otherwise. ratings: sheets
    that raters filled in. registrations: of studies, with which the report compares what was done.
    workers: processes that read the sessions, None for as many as are worth it; dask: address of a
    Dask scheduler whose workers do it instead. look: of the figures; language: of the report, by
    default that of the studies; words: a file with translations of one's own, over those that are
    shipped, and then the folder has `MISSING` with what no word was found for. All files appear at
    the end, the report last: an analysis that was broken off leaves none.

    Raises ExportExists when `out` holds an analysis already, RecordError when a session cannot be
    read or is withdrawn, RatingError when a sheet does not fit the sessions, SetupError when a
    worker is lost, or the cluster or a file of words cannot be used, DataFolderError when `out`
    cannot be written.
    """
    leftovers.clear_of(session_folders_in(paths))
    brought = (name for report in reports() for name in report.files)
    refuse_existing(out, (*file_names(), *brought, MISSING, REPORT, FIGURES))
    for each in reports():
        each.check_ratings(ratings)
    registered = [Registration.read(path) for path in registrations]

    def part(start: float, end: float) -> Progress | None:
        if progress is None:
            return None
        return lambda share, what: progress(start + share * (end - start), what)

    tables = load(
        list(paths), part(0.0, 0.5), withdrawn=withdrawn, pilot=pilot, workers=workers, dask=dask
    )
    translation, remark = chosen(tables, language, words)
    findings = Findings.find(tables.included(), ratings, registered)
    try:
        with (
            staged(out, REPORT, session_folders_in(paths)) as folder,
            _beside(tables, workers) as executor,
            looking(look),
            speaking(translation),
        ):
            large = executor.submit(write_snapshots, recorded(tables), *snapshot_files(folder))
            text = report(
                tables, progress=part(0.5, 0.8), findings=findings, remarks=filter(None, [remark])
            )
            if progress is not None:
                progress(0.8, "writing tables")
            write_small(tables, folder, findings)
            _draw(tables, findings, folder / FIGURES)
            for each, results in findings.of.items():
                each.write(results, folder)
            large.result()
            if words is not None and translation is not None:
                write_missing(translation, folder)
            (folder / REPORT).write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(out, error) from error
    if progress is not None:
        progress(1.0, "done")
    return out / REPORT


def _beside(tables: Tables, workers: int | None) -> AbstractContextManager[Executor]:
    """Who writes the large table while the report is made. Where it is worth it, another process: a
    thread of this one makes the report wait, though Arrow and duckdb need little of Python."""
    snapshots = recorded(tables)
    if workers == 1 or not isinstance(snapshots, Snapshots) or not snapshots.many:
        return ThreadPoolExecutor(1)
    return processes(1, safe=SAFE)


def _draw(tables: Tables, findings: Findings, folder: Path) -> None:
    """The figures that are files, where there are any. Raises OSError."""
    plates = [
        plate
        for report, results in findings.of.items()
        for plate in report.plates(findings.counted, results)
    ]
    plates += flow_figures(tables.participants, tables.withdrawn)
    if not findings.counted.coded.empty:
        from labapp.analysis.coding_figures import coding_plates  # matplotlib is slow to load

        plates += coding_plates(findings.counted)
    if not plates:
        return
    folder.mkdir()
    for plate in plates:
        plate.save(folder)
    told = (f"## {plate.name}\n\n{plate.told}\n" for plate in plates)
    (folder / CAPTIONS).write_text("\n".join(told), encoding="utf-8")


def session_folders_in(paths: Sequence[Path | str]) -> Iterator[Path]:
    """The session folders at paths."""
    return (each for path in paths for each in places(Path(path)) if is_session(each))


UNFINISHED = ".unfinished"
"""How the name of the folder begins in which an analysis is written. What a program that was killed
left of one is removed by the next analysis that is written to the same place."""


@contextmanager
def staged(out: Path, last: str, sessions: Iterable[Path] = ()) -> Iterator[Path]:
    """A folder to write into; its files are moved into `out` at the end, the one named `last` last.

    Ctrl-C, a full disk or a loss of power leave no half of an analysis that looks like a whole.
    Nothing that is in `out` already is touched. After an error `out` is as it was before; what is
    left of an analysis that was killed is in a folder of its own, which the studies of the sessions
    know. Raises OSError.
    """
    refuse_inside(out)
    new = not out.exists()
    access.own_folder(out)
    place = out / leftovers.prefix_in(out, UNFINISHED).strip(".-")
    try:
        with leftovers.on_its_way(sessions, place, needed=False) as (folder,):
            folder.mkdir(mode=0o700)
            yield folder
            for made in sorted(folder.iterdir(), key=lambda path: (path.name == last, path.name)):
                if (out / made.name).exists():
                    raise FileExistsError(f"{out / made.name} was made by somebody else meanwhile")
                made.rename(out / made.name)
    finally:
        if new:
            with suppress(OSError):  # only an empty folder can be removed so
                out.rmdir()
