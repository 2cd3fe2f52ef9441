"""`labapp analyze`: sessions and bundles in, tables and a report out.

Tables as files: CSV for people, Parquet for programs, and a dictionary of the columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pandas as pd

from labapp.analysis.coding_section import CODE_COUNTS, CODE_COUNTS_TABLE, code_counts
from labapp.analysis.column import number, text, whole, yes
from labapp.analysis.columns import table_columns
from labapp.analysis.folding.folded import NAME as SNAPSHOTS
from labapp.analysis.folding.workers import SAFE
from labapp.analysis.language import MISSING, chosen, write_missing
from labapp.analysis.participation import flow_figures
from labapp.analysis.registration import Registration
from labapp.analysis.report import report
from labapp.analysis.snapshots import Snapshots, recorded
from labapp.analysis.sources import Progress
from labapp.analysis.tables import Tables, load, typed
from labapp.analysis.talk_times import TALK_TIMES, TALK_TIMES_TABLE, talk_times
from labapp.analysis.task_records import Columns
from labapp.analysis.task_report import Findings, reports
from labapp.analysis.writing_snapshots import write_snapshots
from labapp.base import access, leftovers
from labapp.base.errors import DataFolderError, ExportExists
from labapp.base.figure_style import USUAL_LOOK, Look, looking
from labapp.base.parallel.processes import processes
from labapp.base.report.page import speaking
from labapp.base.text_tables import Lines, cell
from labapp.record.journal.layout import refuse_inside
from labapp.record.journal.opening import is_session, places

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
    is escaped as `labapp.base.text_tables` says; in Parquet they are a list and the text itself.
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
        lists = [column.name for column in _columns()[name] if column.kind == "numbers"]
        _to_csv(
            frame.assign(**{column: frame[column].map(json.dumps) for column in lists}), written[-2]
        )
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
    for task, results in findings.of.items():
        frames.update(task.frames(results))
    return frames


STATISTICS = (
    text("study", "id of the study; several with + between them where they are compared or pooled"),
    text(
        "design",
        "of analyses by the design its factors; "
        "of judged explanations method, task and labels, as the published studies are told apart; "
        "of masked pictures the name of the task; of models that are compared within participants, "
        "each of whom met several, or between participants",
    ),
    text(
        "item",
        "what it belongs to. Judged explanations: by the list of analyses, 1 accuracy to 12 forced "
        "score and 13 confidence in the own answers. Masked pictures: 1, 2 tables and 3 to 9 "
        "figures of the paper, 10 psychometric functions, 11 tests between methods, 12 the mixed "
        "logistic model. Models: 1 values, 2 analyses of variance, 3 pairs of models, 4 checks of "
        "what they assume, 5 mixed models. Repaired concepts: 1 means by model, 2 correlations "
        "with measures of the models, 3 the hypotheses. Empty of analyses by the design: see kind",
    ),
    whole("analysis", "of analyses by the design: number of the outcome's analysis, from 1"),
    text(
        "kind",
        "of analyses by the design: values of a cell, test of a term, estimated mean, "
        "back-transformed (the estimated mean in the outcome's own unit), contrast, effect "
        "(Cohen's d of a contrast, and of logarithms the ratio), equivalence, check, sensitivity "
        "(the same asked in another way), or left out and why",
    ),
    text("role", "of analyses by the design: whether the outcome is primary or secondary"),
    text("transform", "what was done to the values before tests: log, sqrt or logit"),
    text("factors", "of analyses by the design: the term, factors with × between them"),
    text("levels", "of analyses by the design: the levels of the cell or mean"),
    text("contrast", "name of the contrast: what is compared"),
    text(
        "direction",
        "of a contrast: two-sided, greater or less (then p is one-sided); equivalent in rows of "
        "the kind equivalence (then statistic, df and p are those of two one-sided tests)",
    ),
    text(
        "family",
        "of a contrast: over the tests of what p is corrected, how, and whether these are tests of "
        "differences or of equivalence, which are never corrected together",
    ),
    text("model_name", "of analyses by the design: the statistical model that the test is of"),
    text(
        "group",
        "of models: task, data set and, where needed, models that are compared; of repaired "
        "concepts the sample of pictures",
    ),
    text("quantity", "what was measured; of models a column of the table stages or a score's name"),
    text("method", "of masked pictures: id of the explanation method; empty where all count"),
    text("model", "id of the model; of a test of a pair the first one; empty where all count"),
    number("percent", "of masked pictures: share of the pixels shown; empty where all count", "%"),
    text("unit", "its unit"),
    text("test", "mean, another measure (share, median), or the name of the test or interval"),
    yes("ours", "not among the analyses of the paper"),
    whole(
        "n",
        "values: of masked pictures annotations, or images where no participant is asked; of "
        "models participants, in a paired test pairs",
    ),
    whole("n_participants", "of masked pictures: the participants whose annotations they are"),
    whole(
        "n_left_out",
        "of models within participants: those who lack a value with a model and are not in the "
        "analysis of variance",
    ),
    number("mean", "their mean, share or median, or what was fitted"),
    number("median", "their median, where that is beside the mean"),
    number("sd", "their sample standard deviation (n - 1); of a mixed model the posterior sd"),
    number("sd_population", "of models: their standard deviation as paper 000 prints it (n)"),
    text("compared_with", "the other group, method or model"),
    whole("n_2", "values of the other group"),
    number("mean_2", "their mean"),
    number("sd_2", "their sample standard deviation"),
    number(
        "difference", "of models: mean of the first minus mean of the other, of pairs if paired"
    ),
    number("standard_error", "of the difference or estimated mean"),
    number("bound", "of a test of equivalence: the smallest difference that matters"),
    number("epsilon", "Greenhouse and Geisser's, by which degrees of freedom were multiplied"),
    number("against", "the value tested against"),
    number("statistic", "t, r, rho, tau, W, U, H, F or chi-square; empty where it has no value"),
    number("df", "degrees of freedom of t or chi-square, or of the numerator of F"),
    number("df_2", "degrees of freedom of the denominator of F"),
    number(
        "p",
        "two-sided p, unless direction says otherwise; of masked pictures with Holm's correction",
    ),
    number(
        "p_corrected",
        "of models: p times n_tests (Bonferroni), at most 1; of contrasts as family says",
    ),
    whole("n_tests", "of models: tests over which p is corrected, all that are counted"),
    yes(
        "counted",
        "of models: one of the n_tests. They are the analyses of variance and t tests that have a "
        "p; an error summed over the pixels and its mean over them count once",
    ),
    text(
        "stars",
        "of models: **** p < .0001, *** p < .001, ** p < .01, * p < .05, of the p that is not "
        "corrected, as in the paper; none where n is below 5",
    ),
    yes(
        "significant",
        "n of at least 5 in every group, and p < .001 as in the paper of judged explanations; of "
        "masked pictures, whose paper names no level, p < .05 with Holm's correction; of models "
        "p < .05 with Bonferroni's",
    ),
    number(
        "low",
        "lower end of a 95 % interval; of masked pictures by bootstrap over participants, or over "
        "images where no participant is asked; of models of the difference",
    ),
    number("high", "upper end of that interval"),
    text("effect_name", "of models: which standardised effect (ours)"),
    number("effect", "its value"),
    number("effect_low", "lower end of its 95 % interval, by noncentral t or F"),
    number("effect_high", "upper end of that interval"),
    text(
        "why",
        "of models: why there is no value, or what else is to be known; of judged explanations: "
        "how long they are beside the paper's",
    ),
    text("published", "the paper's value"),
)
"""A number of an analysis, with its n: a row of the table of statistics."""
