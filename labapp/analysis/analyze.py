"""`labapp analyze`: sessions and bundles in, tables and a report out.

Tables are written as CSV for people and as Parquet for programs, with a dictionary of the columns.

report.html: what the sessions show, in one page that can be printed and sent.

The language of a report: that of its studies, if there is a table of it.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from labapp import __version__
from labapp.analysis import sections
from labapp.analysis.coding_section import (
    CODE_COUNTS,
    CODE_COUNTS_TABLE,
    TALK_TIMES,
    TALK_TIMES_TABLE,
    code_counts,
    talk_times,
)
from labapp.analysis.columns import table_columns
from labapp.analysis.declared import Registration, labels_of, models_of, own_languages
from labapp.analysis.folding.folded import NAME as SNAPSHOTS
from labapp.analysis.folding.folded import SAFE
from labapp.analysis.participation import flow_figures
from labapp.analysis.snapshots import Snapshots, get_attached
from labapp.analysis.sources import Progress, count_phases, describe_phases
from labapp.analysis.statistic import STATISTICS
from labapp.analysis.tables import Tables, build_frame, load
from labapp.analysis.task_records import Columns
from labapp.analysis.task_report import Findings, TaskReport, left_out, reports, study_title
from labapp.analysis.wording import titles_of_models, words_of_items
from labapp.analysis.writing_snapshots import write_snapshots
from labapp.base import access, leftovers, messages, resources, translations
from labapp.base.errors import DataFolderError, ExportExists, RecordError, SetupError
from labapp.base.figure_style import USUAL_LOOK, FigureLook, looking
from labapp.base.parallel.processes import processes
from labapp.base.reading.tables import Lines, cell
from labapp.base.report import listing
from labapp.base.report.labels import Labels, current_labels, labelling
from labapp.base.report.page import (
    ENGLISH,
    Html,
    Translation,
    Verbatim,
    count,
    definitions,
    heading,
    join_parts,
    links,
    navigation,
    page,
    paragraph,
    say,
    speaking,
)
from labapp.record.journal.layout import refuse_inside
from labapp.record.journal.opening import is_session, places

if TYPE_CHECKING:
    from labapp.base.report.drawing import ReportFigure

FILE = "report.yaml"
"""Beside the words for participants and moderators, in `texts/<language>`."""

MISSING = "report-words.yaml"
"""In the folder of an analysis: the sentences for which a file of one's own has no words."""


def choose_language(
    tables: Tables, asked: str | None, words: Path | None = None
) -> tuple[Translation | None, str]:
    """The language that is asked for, else that of the studies; and what is to be told of it, if
    it is not that. words: a table of one's own, whose words come before those that are shipped.

    Raises SetupError for a table that cannot be used, or that is of no certain language.
    """
    of_studies = sorted(
        {each for own in own_languages(tables.participants).values() for each in own}
    )
    if words is not None:
        language = asked or (of_studies[0] if len(of_studies) == 1 else ENGLISH)
        if language == ENGLISH:
            raise SetupError(
                f"{words} contains text in another language, but the report would be in English.",
                todo="Choose it with --language, such as --language fr.",
            )
        return _translation(language, "Correct the file, or leave --words out.", words), ""
    if asked is None and len(of_studies) != 1:
        told = (
            f"The studies are in several languages ({', '.join(of_studies)}), so this report is "
            "in English."
        )
        return None, told if of_studies else ""
    language = asked or of_studies[0]
    if language == ENGLISH:
        return None, ""
    if table_of(language) is None:
        return None, (
            f"The report has no translation into {language}, so it is in English. Translations "
            f"exist for: {', '.join(available())}."
        )
    return _translation(language, f"Correct the file, or use --language {ENGLISH}."), ""


def language_of(translation: Translation | None) -> str:
    """The language of a report with this translation."""
    return ENGLISH if translation is None else translation.language


def _translation(language: str, todo: str, words: Path | None = None) -> Translation:
    """Later words come before earlier ones: of the windows, shipped, of one's own."""
    known, ids = _of_windows(language), listing.catalogue(ENGLISH)
    for path in (table_of(language), words):
        if path is not None:
            known |= translations.load(path, "the report", todo, ids)
    templates = {name: known.pop(name) for name in ids if name in known}
    listing.check(templates, todo)
    return Translation(language, known, templates)


def write_missing(translation: Translation, folder: Path) -> None:
    """Write the sentences that have no translation, each with an empty one, as a file for
    `--words`. Raises OSError."""
    lines = [
        "# What the report says in English. Fill in the words, put them into the file that",
        "# --words names, and analyse again. Numbers and names go in {braces}: see the",
        "# guide, Analysis and report.",
    ]
    for text in sorted(translation.missing):
        if english := listing.catalogue(ENGLISH).get(text):
            lines.append(f"# {english}")
        lines.append(f'{json.dumps(text, ensure_ascii=False)}: ""')
    (folder / MISSING).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _of_windows(language: str) -> dict[str, str]:
    """What the moderator's windows say too, such as the names of metrics: sentences without
    fields, by which nothing else can be meant."""
    if language not in messages.available():
        return {}
    words = messages.catalogue(language).texts()
    return {
        english: words[key]
        for key, english in messages.catalogue(ENGLISH).texts().items()
        if key in words and not translations.fields(english)
    }


def table_of(language: str) -> Path | None:
    """The table of a language, if there is one."""
    path = resources.assets() / "texts" / language / FILE
    return path if path.is_file() else None


def available() -> list[str]:
    """The languages that reports can be in, English first."""
    return [
        ENGLISH,
        *sorted(path.parent.name for path in (resources.assets() / "texts").glob(f"*/{FILE}")),
    ]


REPORT = "report.html"
FIGURES = "figures"
"""Folder of the figures of tasks and published studies, as SVG, PNG and PDF."""
DATA_FILES = ("data.xlsx", "long.sav", "wide.sav", "long.dta", "wide.dta", "variables.csv")
"""Of the program that somebody goes on with, see `labapp.analysis.data_files`."""
CAPTIONS = "captions.md"
"""Beside them what each shows, of whom, and how to read it: nothing of it is drawn into a file."""


def analyze(
    paths: Sequence[Path | str],
    out: Path,
    progress: Progress | None = None,
    *,
    withdrawn: bool = False,
    pilot: bool = False,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    ratings: Sequence[Path] = (),
    registrations: Sequence[Path] = (),
    workers: int | None = None,
    dask: str | None = None,
    look: FigureLook = USUAL_LOOK,
    language: str | None = None,
    words: Path | None = None,
    formats: Sequence[str] = (),
) -> Path:
    """Write tables (CSV, Parquet), figures and report.html of sessions and bundles into a folder.

    Parameters
    ----------
    paths : session folders, bundles, or folders of these.
    out : the folder, which must not hold an analysis yet.
    progress : called with the share that is done (0..1) and what is being done; what it raises ends
        the work.
    withdrawn : also use sessions whose participants withdrew and let the data be kept.
    pilot : use only pilots; without it they are left out.
    only : use the sessions with any of these tags or phases, and no others.
    without : use none with one of these.
    ratings : sheets with the ratings of dial names.
    registrations : of studies; the report compares what was done with them.
    workers : processes that read the sessions; None for as many as are useful.
    dask : address of a Dask scheduler whose workers read them instead.
    look : width, text size, font and palette of the figures.
    language : of the report, by default that of the studies.
    words : a file with your own translations, which come before the shipped ones. The folder then
        has `MISSING`, which lists the words without a translation.
    formats : `xlsx`, `sav` or `dta`: also one file with all numbers and labels for each.

    Returns
    -------
    Path of the report. All files appear at the end, the report last: an analysis that was
    interrupted leaves none.

    Raises
    ------
    ExportExists : `out` holds an analysis already.
    RecordError : a session cannot be read or was withdrawn, none is chosen, or there are several
        phases of a study and nobody said which.
    RatingError : a sheet does not fit the sessions.
    SetupError : a worker is lost, or the cluster or the file of words cannot be used.
    DataFolderError : `out` cannot be written.
    """
    leftovers.clear_of(session_folders_in(paths))
    brought = (name for report in reports() for name in report.files)
    refuse_existing(out, (*file_names(), *DATA_FILES, *brought, MISSING, REPORT, FIGURES))
    for each in reports():
        each.check_ratings(ratings)
    registered = [Registration.read(path) for path in registrations]

    def part(start: float, end: float) -> Progress | None:
        if progress is None:
            return None
        return lambda share, what: progress(start + share * (end - start), what)

    tables = load(
        list(paths),
        part(0.0, 0.5),
        withdrawn=withdrawn,
        pilot=pilot,
        only=only,
        without=without,
        workers=workers,
        dask=dask,
    )
    if not only:
        _refuse_phases(tables)
    translation, remark = choose_language(tables, language, words)
    with _wording(tables, translation):
        findings = Findings.find(tables.included(), ratings, registered)
    try:
        with (
            stage_output(out, REPORT, session_folders_in(paths)) as folder,
            _beside(tables, workers) as executor,
            looking(look),
            _wording(tables, translation),
        ):
            large = executor.submit(write_snapshots, get_attached(tables), *snapshot_files(folder))
            text = report(
                tables, progress=part(0.5, 0.8), findings=findings, remarks=filter(None, [remark])
            )
            if progress is not None:
                progress(0.8, "writing tables")
            write_small(tables, folder, findings)
            _draw(tables, findings, folder / FIGURES)
            for each, results in findings.of.items():
                each.write(results, folder)
            if formats:
                from labapp.analysis import data_files  # openpyxl and pyreadstat are slow to load

                data_files.write(tables, folder, formats)
            large.result()
            if words is not None and translation is not None:
                write_missing(translation, folder)
            (folder / REPORT).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataFolderError.unwritten(
            "The analysis", out, error, "The sessions are untouched."
        ) from error
    if progress is not None:
        progress(1.0, "done")
    return out / REPORT


@contextmanager
def _wording(tables: Tables, translation: Translation | None) -> Iterator[None]:
    """Make what is read of these sessions in a language, with their studies' labels and words."""
    language = language_of(translation)
    with (
        speaking(translation),
        labelling(
            titles_of_models(tables.participants) | labels_of(tables.participants, language),
            listing.measure_labels(),
            words_of_items(tables.worded_in(language)),
            models_of(tables.participants),
        ),
    ):
        yield


def _refuse_phases(tables: Tables) -> None:
    """Raise RecordError if a study has several phases: nobody said that they belong together."""
    people = tables.participants
    pairs = zip(people["study"], people["phase"].fillna(""), strict=True)
    for study, phases in count_phases(pairs).items():
        if len(phases) > 1:
            together = " ".join(f"--only {phase}" for phase in sorted(phases))
            raise RecordError(
                f"The sessions of {study} belong to several phases: {describe_phases(phases)}.",
                safe="No analysis was made.",
                todo=f"Give the phase to analyse, such as --only {max(phases)}. To analyse "
                f"several together, give all of them: {together}.",
            )


def _beside(tables: Tables, workers: int | None) -> AbstractContextManager[Executor]:
    """Who writes the large table while the report is made. Where it is worth it, another process: a
    thread of this one makes the report wait, though Arrow needs little of Python."""
    snapshots = get_attached(tables)
    if workers == 1 or not isinstance(snapshots, Snapshots) or not snapshots.many:
        return ThreadPoolExecutor(1)
    return processes(1, safe=SAFE)


def figures(tables: Tables, findings: Findings | None = None) -> list[ReportFigure]:
    """Every figure of a report that is also saved as files.

    Parameters
    ----------
    tables : of sessions or bundles, all of them.
    findings : of the sessions that count; computed if it is None.
    """
    if findings is None:
        findings = Findings.find(tables.included())
    plates = [
        plate
        for report, results in findings.of.items()
        for plate in report.plates(findings.counted, results)
    ]
    plates += flow_figures(tables.participants, tables.withdrawn)
    if not findings.counted.coded.empty:
        from labapp.analysis.coding_figures import coding_plates  # matplotlib is slow to load

        plates += coding_plates(findings.counted)
    return plates


def _draw(tables: Tables, findings: Findings, folder: Path) -> None:
    """The figures that are files, if there are any. Raises OSError."""
    plates = figures(tables, findings)
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
def stage_output(out: Path, last: str, sessions: Iterable[Path] = ()) -> Iterator[Path]:
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
                    raise FileExistsError(
                        f"{out / made.name} was created by another program in the meantime"
                    )
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

    findings: what the sessions that count say, if that is known already.

    In CSV a cell with one number per dimension is a JSON list, a missing value is empty, and text
    is escaped as `labapp.base.reading.tables` says; in Parquet they are a list and the text itself.
    Nothing is overwritten: raises ExportExists when one of the files is there, DataFolderError when
    the folder cannot be written.
    """
    refuse_existing(out, file_names())
    findings = Findings.find(tables.included()) if findings is None else findings
    try:
        access.own_folder(out)
        written = write_small(tables, out, findings)
        write_snapshots(get_attached(tables), *snapshot_files(out))
    except OSError as error:
        raise DataFolderError.unwritten(
            "The analysis", out, error, "The sessions are untouched."
        ) from error
    return [*written, *snapshot_files(out)]


def write_small(tables: Tables, out: Path, findings: Findings) -> list[Path]:
    """All but the large table, as `write` does it. Raises OSError."""
    written = []
    for name, frame in {**tables.small(), **derive_tables(findings)}.items():
        written += [out / f"{name}.csv", out / f"{name}.parquet"]
        _to_csv(with_lists(frame, _columns()[name]), written[-2])
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
            f"{out} contains an earlier analysis ({there[0]}{more}).",
            safe="Nothing was overwritten.",
            todo="Choose a new folder, or move the old one away.",
        )


def dictionary(tables: Tables | None = None) -> pd.DataFrame:
    """One row per column of every table: table, column, type, unit, meaning."""
    return pd.DataFrame(
        [
            (table, column.name, column.kind, column.unit, column.meaning)
            for table, columns in _columns(tables).items()
            for column in columns
        ],
        columns=["table", "column", "type", "unit", "meaning"],
    )


def with_lists(frame: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """A table with the cells of one number per dimension as JSON lists."""
    lists = [column.name for column in columns if column.kind == "numbers"]
    return frame.assign(**{column: frame[column].map(json.dumps) for column in lists})


def _to_csv(frame: pd.DataFrame, path: Path) -> None:
    with path.open("x", encoding="utf-8", newline="") as file:
        csv_into(frame, file)


def csv_into(frame: pd.DataFrame, file: IO[str]) -> None:
    """A table as CSV, with texts escaped as `labapp.base.reading.tables` says."""
    texts = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    made = frame.assign(**{str(name): frame[name].map(cell, na_action="ignore") for name in texts})
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
    return build_frame(rows, STATISTICS)


def derive_tables(findings: Findings) -> dict[str, pd.DataFrame]:
    """The derived tables, by name."""
    frames = {
        STATISTICS_TABLE: statistics(findings),
        CODE_COUNTS_TABLE: code_counts(findings.counted),
        TALK_TIMES_TABLE: talk_times(findings.counted),
    }
    for task, results in findings.of.items():
        frames.update(task.frames(results))
    return frames


DEFINITIONS = {
    "Time": (
        "All durations are working time: the moderator's pauses do not count, nor does the time "
        "when the program was stopped."
    ),
    "Sessions that count": (
        "The rules of its study decide at the end of each session whether it is included. A session"
        " without that decision (unfinished, or recorded by an older version of labapp) is included"
        " if it was completed. People who withdrew, during the session or later, are not included. "
        "Retention is the number of included sessions divided by the number of recruited sessions; "
        "people who did not consent were not recruited."
    ),
    "Questions that count": (
        "All questions of the stages count, except practice, interrupted or repeated attempts, "
        "questions cut off because the moderator skipped the stage, and those in which start and "
        "target matched from the beginning (these are flagged)."
    ),
    "Difficulty (SEQ)": (
        "The score `seq` of the questionnaire that follows the stage. In the shipped "
        "questionnaire it is the Single Ease Question, from 1 (very easy) to 7 (very difficult). "
        "Only submitted answers count."
    ),
    "Scores of questionnaires": (
        "Scores are computed from submitted answers by the rules of each questionnaire, which "
        "the table of scales lists item by item. If an answer is missing, there is no score, "
        "unless the study says how many answers are enough."
    ),
    "Mean, SD, median": (
        "These are computed over participants, with one value each. SD is the sample standard "
        "deviation (n − 1 in the denominator)."
    ),
}
"""How the numbers of all tasks are defined, in the words that the report prints."""
_ONLY_WHERE: Mapping[str, Callable[[Tables], bool]] = {
    "Difficulty (SEQ)": lambda tables: bool(tables.stages["seq"].notna().any()),
    "Scores of questionnaires": lambda tables: not tables.scores.empty,
}
"""Where a definition defines something that stands on the page."""
IN_TITLE = 3
"""So many studies are named in the title; more are counted there and listed below it."""


def report(
    tables: Tables,
    made: datetime | None = None,
    progress: Progress | None = None,
    findings: Findings | None = None,
    remarks: Iterable[str] = (),
) -> str:
    """The page as text. made: the time printed on it (now, if not given); findings: what the
    sessions that count say, if that is known already; remarks: more of what the reader should
    know, beside those of the tables."""
    made = made or datetime.now(UTC)
    if findings is None:
        findings = Findings.find(tables.included())
    studies = [str(study) for study in sorted(tables.participants["study"].unique())]
    parts: list[Html] = []
    spoke: set[TaskReport[Any]] = set()
    for done, study in enumerate(studies):
        if progress is not None:
            progress(done / len(studies), f"report on {study}")
        of_study = sections.study(tables.of_study(study), study, f"s{done + 1}", findings, spoke)
        parts.extend(of_study)
    chapters: list[tuple[str, str]] = []
    for number, (each, results) in enumerate(findings.of.items(), start=1):
        anchor = f"all-{number}"
        chapter, contents = each.chapter(findings.counted, results, anchor)
        if chapter:
            spoke.add(each)
            chapters.append((anchor, chapter))
            parts.append(heading(2, chapter, anchor))
            parts.extend(contents)
    parts.append(heading(2, "How the numbers are defined", "definitions"))
    # Of what stands nowhere on the page, no definition helps.
    known = [
        item
        for item in DEFINITIONS.items()
        if (where := _ONLY_WHERE.get(item[0])) is None or where(tables)
    ]
    for each, results in findings.of.items():
        if each in spoke:
            known.extend(each.defined(findings.counted, results).items())
    labels = current_labels() or Labels({})
    named = ((Verbatim(labels.rename(say(name))), meaning) for name, meaning in known)
    parts.append(definitions(named))
    titles = [study_title(tables.participants, study) for study in studies]
    title = ", ".join(titles) if len(studies) <= IN_TITLE else f"{len(studies)} studies"
    title = f"Report: {title}"
    header = join_parts(_header(tables, title, titles, made, chapters, remarks))
    return page(title, header, join_parts(parts), _footer(tables))


def _header(
    tables: Tables,
    title: str,
    titles: list[str],
    made: datetime,
    chapters: list[tuple[str, str]],
    remarks: Iterable[str],
) -> Iterator[Html]:
    sessions = tables.participants
    people = sessions.groupby(["study", "participant"]).ngroups
    yield heading(1, title)
    yield paragraph(
        f"{count(len(sessions), 'session')} of {count(people, 'participant')}, "
        f"written {made:%Y-%m-%d %H:%M} UTC.",
        "quiet",
    )
    simulated = int(sessions["simulated"].sum())
    if simulated:
        yield paragraph(
            f"Simulated: {simulated} of {count(len(sessions), 'session')}. In these sessions, a "
            "program took the place of a person.",
            "note",
        )
    for remark in (*remarks, *tables.remarks, *left_out()):
        yield paragraph(remark, "note")
    targets = [(f"s{at}", Verbatim(title)) for at, title in enumerate(titles, start=1)]
    if len(titles) > IN_TITLE:
        # In print there is no navigation, and the page is to say what it is of.
        yield paragraph(links(targets, ", "), "quiet")
        targets = []
    yield navigation([*targets, *chapters, ("definitions", "How the numbers are defined")])


def _footer(tables: Tables) -> Html:
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("numpy", "pandas", "scipy", "matplotlib", "pyarrow")
    )
    told = tables.participants["app_versions"].dropna()
    recorded = sorted({part for some in told for part in str(some).split(", ") if part})
    return paragraph(
        f"Analysed with labapp {__version__} (Python {platform.python_version()}, {packages}). "
        f"Recorded with labapp {', '.join(recorded) or 'of unknown version'}.",
        "quiet",
    )
