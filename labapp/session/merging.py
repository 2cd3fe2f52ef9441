"""Answers of the lab's own survey tool, merged into a study by the ids of its participants.

Every row of the file belongs to one session, by an exact match, or is listed; rows that belong to
none are left out only where that is asked for. A file that was merged before changes nothing, and a
changed one replaces it only after what differs was said.
"""

from __future__ import annotations

import difflib
import hashlib
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from labapp.analysis.columns import table_columns
from labapp.analysis.declared import format_declaration, with_declared
from labapp.base.clock import utc_text
from labapp.base.errors import MergeError, NotFoundError, UsageError
from labapp.base.reading import archives, files, tables
from labapp.base.reading.tables import TableError
from labapp.base.reading.values import ENTRIES, json_value
from labapp.base.report.page import count
from labapp.record.journal import merged as log
from labapp.record.journal.decisions import withdrawals
from labapp.record.journal.layout import FolderName
from labapp.record.journal.merged import Kind, Merged, MergedColumn, Value
from labapp.record.journal.opening import brief_record
from labapp.session.folder import sessions_of

LeaveOut = Literal["unknown", "twice", "without-id", "withdrawn"]
"""Rows that can be left out: of nobody in the study, of somebody who has another row, without an
id, and of somebody who withdrew."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
TOLD = 20
"""At most so many rows, or differences, are listed one by one."""
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,14})")
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})([.,]\d{1,17})?([eE][+-]?\d{1,2})?")


@dataclass(frozen=True)
class Sheet:
    """A table from outside.

    Attributes
    ----------
    headers : of the columns.
    rows : their numbers in the file, each with its cells; a missing cell is empty.
    labels : by header what a column means, as far as the file says.
    values : by header what its numbers stand for.
    comma : whether a comma within a number is a decimal point.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    comma: bool = False

    def place(self, header: str, option: str) -> int:
        """Where a column is. Raises NotFoundError if there is none, or two."""
        places = [place for place, each in enumerate(self.headers) if each == header]
        if len(places) == 1:
            return places[0]
        near = difflib.get_close_matches(header, self.headers, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        what = "has no column" if not places else "has several columns called"
        raise NotFoundError(
            f"{option}: the file {what} {header!r}.{hint}",
            safe="Nothing was merged.",
            todo=f"Its columns are: {', '.join(self.headers)}.",
        )


def read_sheet(path: Path) -> tuple[Sheet, str]:
    """The table in a file (CSV, a workbook of Excel, or data of SPSS), and the SHA-256 of the file.
    Raises MergeError, NotFoundError."""
    try:
        content = files.content(path, files.DOCUMENT)
        read = {".xlsx": _of_workbook, ".sav": _of_spss}.get(path.suffix.lower(), _of_text)
        return read(content), hashlib.sha256(content).hexdigest()
    except FileNotFoundError as error:
        raise NotFoundError(
            f"There is no file {path}.", safe="Nothing was merged.", todo="Check the path."
        ) from error
    except OSError as error:
        raise _unread(
            path, error.strerror or str(error), "Make sure that you may read it."
        ) from error
    except TableError as error:
        raise _unread(path, error.what, f"{error.todo}.") from error


def _unread(path: Path, why: str, todo: str) -> MergeError:
    return MergeError(f"{path} cannot be read: {why}.", safe="Nothing was merged.", todo=todo)


def _of_text(content: bytes) -> Sheet:
    table = tables.read(content)
    headers, rows = table.first, list(table.rows)
    labels: dict[str, str] = {}
    if len(rows) > 1 and all(map(_is_import_id, filter(None, rows[1][1]))) and any(rows[1][1]):
        # Qualtrics: below the names the questions, and below these its own ids.
        labels = dict(zip(headers, rows[0][1], strict=True))
        rows = rows[2:]
    return Sheet(headers, tuple(rows), labels, comma=table.decimal_comma)


def _is_import_id(cell: str) -> bool:
    try:
        return cell.startswith("{") and "ImportId" in json_value(cell)
    except ValueError:
        return False


def _of_workbook(content: bytes) -> Sheet:
    """The sheet *Data* of a workbook, or its first one; the sheets *Variables* and *Values*, as
    labapp writes them, say what its columns and numbers mean."""
    from openpyxl import load_workbook

    try:
        with archives.archive(io.BytesIO(content)) as archive:
            archives.refuse_entries(archive)
        values = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        formulas = load_workbook(io.BytesIO(content), read_only=True)
        with closing(values), closing(formulas):
            names = values.sheetnames
            own = "Data" if "Data" in names else names[0]
            made = [
                (number, tuple(_cell(own, number, value, written) for value, written in pairs))
                for number, pairs in _rows(values[own], formulas[own])
            ]
            variables = _dictionary(values, "Variables", "variable", "label")
            stand_for = _dictionary(values, "Values", "variable", "value", "stands for")
    except TableError:
        raise
    except Exception as error:  # openpyxl raises whatever a broken part of a workbook leads to
        todo = "Open it in a spreadsheet program and save it again, or save it as CSV"
        raise TableError(f"it is not a readable workbook ({error})", todo) from error
    made = [(number, cells) for number, cells in made if any(cells)]
    if not made:
        raise TableError(
            "it is empty", "Give a first line with the names of the columns, and rows below it"
        )
    headers = made[0][1]
    while headers and not headers[-1]:
        headers = headers[:-1]
    rows = []
    for number, cells in made[1:]:
        if any(cells[len(headers) :]):
            what = f"line {number} of the sheet {own!r} has a cell outside the named columns"
            raise TableError(what, "Name all columns in the first line")
        rows.append((number, (cells + ("",) * len(headers))[: len(headers)]))
    known: dict[str, dict[str, str]] = {}
    for variable, value, text in stand_for:
        known.setdefault(variable, {})[value] = text
    return Sheet(headers, tuple(rows), {row[0]: row[1] for row in variables}, known)


def _of_spss(content: bytes) -> Sheet:
    """The data of SPSS: its missing values, of both kinds, are empty cells; its rows are counted as
    its data view does."""
    import pyreadstat

    try:
        columns, meta = pyreadstat.read_sav(
            io.BytesIO(content), output_format="dict", row_limit=ENTRIES + 1
        )
    except Exception as error:  # whatever a broken file leads to
        todo = "Open it in SPSS, PSPP or jamovi and save it again, or save it as CSV"
        raise TableError(f"it is not a readable SPSS file ({error})", todo) from error
    rows = list(zip(*(map(_spss_cell, cells) for cells in columns.values()), strict=True))
    if not rows:
        raise TableError("it has no rows", "Check that it is the right file")
    if len(rows) > ENTRIES:
        raise TableError(f"it has more than {ENTRIES:,} rows", "Check that it is the right file")
    labels = {name: label for name, label in meta.column_names_to_labels.items() if label}
    values = {
        name: {_spss_cell(value): text for value, text in known.items()}
        for name, known in meta.variable_value_labels.items()
    }
    return Sheet(tuple(columns), tuple(enumerate(rows, start=1)), labels, values)


def _spss_cell(value: Any) -> str:
    if value is None or value != value:  # not a number, nor a time
        return ""
    return _cell("", 0, value.item() if hasattr(value, "item") else value, None)


def _rows(values: Any, formulas: Any) -> Iterator[tuple[int, list[tuple[Any, Any]]]]:
    pairs = zip(
        values.iter_rows(values_only=True), formulas.iter_rows(values_only=True), strict=True
    )
    for number, (row, written) in enumerate(pairs, start=1):
        if number > ENTRIES:
            raise TableError(
                f"it has more than {ENTRIES:,} rows", "Check that it is the right file"
            )
        yield number, list(zip(row, written, strict=True))


def _cell(sheet: str, line: int, value: Any, written: Any) -> str:
    if value is None and isinstance(written, str) and written.startswith("="):
        what = (
            f"line {line} of the sheet {sheet!r} has a formula whose value is not stored in "
            "the file"
        )
        raise TableError(what, "Open it in a spreadsheet program and save it again")
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _dictionary(book: Any, sheet: str, *columns: str) -> list[tuple[str, ...]]:
    """The cells of these columns of a sheet, by row; none if there is no such sheet."""
    if sheet not in book.sheetnames:
        return []
    rows = book[sheet].iter_rows(values_only=True)
    first = [str(cell or "") for cell in next(rows, ())]
    if not set(columns) <= set(first):
        return []
    places = [first.index(column) for column in columns]
    return [tuple(_cell(sheet, 0, row[place], None) for place in places) for row in rows]


@dataclass(frozen=True, slots=True)
class LeftRow:
    """A row of the file that belongs to no session. why: for people."""

    kind: LeaveOut
    line: int
    id: str
    why: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.why}"


@dataclass(frozen=True)
class Merge:
    """What merging a file comes to.

    Attributes
    ----------
    study, survey, file, sha256 : what is merged into what.
    given : by name of a session's folder.
    left : the rows that belong to no session.
    differences : what differs from what the survey had before; empty if it had nothing.
    gone : folders of which the file has nothing any more.
    before : whether the survey was merged before.
    """

    study: str
    survey: str
    file: str
    sha256: str
    given: Mapping[str, Merged]
    left: tuple[LeftRow, ...]
    differences: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    before: bool = False

    @property
    def changes(self) -> bool:
        """Whether anything is to be written."""
        return not self.before or bool(self.differences)

    @property
    def columns(self) -> tuple[MergedColumn, ...]:
        return next(iter(self.given.values())).columns if self.given else ()

    def to_json(self) -> dict[str, Any]:
        return {
            "study": self.study,
            "survey": self.survey,
            "file": self.file,
            "sha256": self.sha256,
            "changed": self.changes,
            "sessions": sorted(self.given),
            "columns": [
                {"name": column.name, "header": column.header, "kind": column.kind,
                 "label": column.label, "shared": column.shared}
                for column in self.columns
            ],
            "left_out": [
                {"kind": row.kind, "line": row.line, "id": row.id, "why": row.why}
                for row in self.left
            ],
            "differences": list(self.differences),
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """For people."""
        for row in self.left:
            yield f"Left out, {row}"
        if not self.changes:
            yield f"Nothing changed, because {self.file} was already merged with the same answers."
            return
        yield from self.differences
        kinds = Counter(column.kind for column in self.columns)
        told = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
        yield (
            f"Merged {count(len(self.columns), 'column')} ({told}) of "
            f"{count(len(self.given), 'session')} of {self.study} from {self.file}."
        )
        shared = [column.name for column in self.columns if column.shared]
        yield (
            "De-identified bundles leave them out, except: " + ", ".join(shared) + "."
            if shared
            else "De-identified bundles leave them out; use --share to keep columns."
        )


def prepare(
    file: Path,
    study: Path,
    by: str,
    *,
    survey: str = "survey",
    session: str = "",
    columns: Sequence[str] = (),
    own_names: bool = False,
    share: Sequence[str] = (),
    missing: Collection[str] = (),
    leave_out: Collection[str] = (),
    who: str = "",
) -> Merge:
    """What merging a file into a study comes to; nothing is written.

    Parameters
    ----------
    study : the folder of its sessions.
    by, session : the columns with the participant's id and, where participants have several
        sessions, the label of the session.
    survey : what the survey is called in the study; names of columns begin with it.
    columns : the headers of the columns to take; all of them by default.
    own_names : columns keep the names in the file.
    share : headers of the columns that de-identified copies keep.
    missing : cells that mean a missing answer, besides empty ones.
    leave_out : which rows without a session may be left out, see `LeaveOut`.
    who : by whom it is merged.

    Raises
    ------
    MergeError : the file cannot be read, or a row of it belongs to no session.
    UsageError, NotFoundError : an option does not fit, or the file has no such column.
    RecordError : what was merged before cannot be read.
    """
    if not NAME.fullmatch(survey):
        raise UsageError(
            f"{survey!r} cannot be the name of a survey.",
            safe="Nothing was merged.",
            todo="Use lower-case letters, digits and _, beginning with a letter.",
        )
    if strange := sorted(set(leave_out) - set(get_args(LeaveOut))):
        raise UsageError(
            f"--leave-out {strange[0]}: there is no such kind of row.",
            safe="Nothing was merged.",
            todo=f"Use one of: {', '.join(get_args(LeaveOut))}.",
        )
    sheet, sha256 = read_sheet(file)
    matched, left = _matched(sheet, study, by, session)
    if refused := [row for row in left if row.kind not in leave_out]:
        told = "\n".join(f"  {row}" for row in refused[:TOLD])
        more = f"\n  and {len(refused) - TOLD} more" if len(refused) > TOLD else ""
        kinds = " ".join(f"--leave-out {kind}" for kind in dict.fromkeys(r.kind for r in refused))
        raise MergeError(
            f"{count(len(refused), 'row')} of {file.name} cannot be merged:\n{told}{more}",
            safe="Nothing was merged.",
            todo=f"Correct the ids in the file, or leave these rows out: {kinds}",
        )
    keys = {by, session} - {""}
    taken = [header for header in columns or sheet.headers if header not in keys and header]
    for header in taken:
        sheet.place(header, "--column")
    for header in share:
        if header not in taken:
            sheet.place(header, "--share")
            raise UsageError(f"--share {header}: this column is not being merged.")
    made = _columns(sheet, taken, survey, own_names, share, missing)
    _refuse_taken(study, survey, made)
    utc = utc_text(datetime.now(UTC))
    given = {}
    for folder, (line, cells) in matched.items():
        answers = {
            column.name: _value(cells[sheet.headers.index(column.header)], column, sheet, missing)
            for column in made
        }
        given[folder] = Merged(survey, file.name, sha256, line, utc, who, made, answers)
    known = {folder: own[survey] for folder, own in log.of_study(study).items() if survey in own}
    gone = tuple(sorted(known.keys() - given.keys()))
    return Merge(
        study.name, survey, file.name, sha256, given, tuple(left),
        tuple(_differences(known, given)) if known else (), gone, bool(known),
    )  # fmt: skip


def merge(prepared: Merge, study: Path, *, replace_: bool = False) -> None:
    """Write down what was prepared. Raises MergeError if the survey has other answers already
    and they are not to be replaced, DataFolderError."""
    if not prepared.changes:
        return
    if prepared.before and not replace_:
        told = "\n".join(f"  {line}" for line in prepared.differences)
        raise MergeError(
            f"{prepared.file} differs from what was previously merged as "
            f"{prepared.survey!r}:\n{told}",
            todo="Replace the earlier answers with --replace, or merge the file as another "
            "survey (--survey NAME).",
        )
    log.add(study, prepared.given, prepared.gone, prepared.survey)


def _matched(
    sheet: Sheet, study: Path, by: str, session: str
) -> tuple[dict[str, tuple[int, tuple[str, ...]]], list[LeftRow]]:
    """By name of a session's folder its row; and the rows that belong to none."""
    at = sheet.place(by, "--by")
    session_at = sheet.place(session, "--session") if session else None
    withdrew = withdrawals(study)
    gone = {each.participant for each in withdrew.values()}
    known: dict[str, dict[str, str]] = {}
    for home in sessions_of(study.parent, study.name):
        if home.path.name not in withdrew and (name := FolderName.parse(home.path.name)):
            known.setdefault(name.participant, {})[name.session] = home.path.name
    if not known:
        raise UsageError(
            f"{study} has no sessions.",
            safe="Nothing was merged.",
            todo="Give the study with --study. `labapp sessions list` shows the studies.",
        )
    rows: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    left: list[LeftRow] = []
    several: dict[str, None] = {}
    for line, cells in sheet.rows:
        who = cells[at]
        if not who.strip():
            left.append(LeftRow("without-id", line, "", f"the cell in {by} is empty"))
        elif who in gone:
            left.append(LeftRow("withdrawn", line, who, f"{who} withdrew from the study"))
        elif who not in known:
            alike = {each.casefold(): each for each in known}
            near = difflib.get_close_matches(who.strip().casefold(), alike, 1, 0.9)
            hint = f"; did you mean {alike[near[0]]}?" if near else ""
            what = f"{who!r} is not a participant of {study.name}{hint}"
            left.append(LeftRow("unknown", line, who, what))
        elif session_at is not None and cells[session_at] not in known[who]:
            what = f"{who} has no session {cells[session_at]!r}"
            left.append(LeftRow("unknown", line, who, what))
        elif session_at is None and len(known[who]) > 1:
            several[who] = None
        else:
            label = next(iter(known[who])) if session_at is None else cells[session_at]
            rows.setdefault(known[who][label], []).append((line, cells))
    if several:
        raise MergeError(
            f"{', '.join(several)} have several sessions in {study.name}, but the file does not "
            "say to which one its answers belong.",
            safe="Nothing was merged.",
            todo="Name the column that contains the session's label: --session COLUMN. In a "
            f"link, this is {session}.",
        )
    for own in rows.values():
        if len(own) > 1:
            lines = ", ".join(str(line) for line, _ in own)
            who = own[0][1][at]
            left += [LeftRow("twice", line, who, f"{who} is in lines {lines}") for line, _ in own]
    left.sort(key=lambda row: row.line)
    return {folder: own[0] for folder, own in rows.items() if len(own) == 1}, left


def _columns(
    sheet: Sheet,
    taken: Sequence[str],
    survey: str,
    own_names: bool,
    share: Collection[str],
    missing: Collection[str],
) -> tuple[MergedColumn, ...]:
    """The columns that are merged. A column without any answer is one of text."""
    made: list[MergedColumn] = []
    for header in taken:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", header).strip("_") or "column"
        name = plain if own_names else f"{survey}_{plain}"
        if same := next((each for each in made if each.name.lower() == name.lower()), None):
            raise MergeError(
                f"The columns {same.header!r} and {header!r} would both be called {name}.",
                safe="Nothing was merged.",
                todo="Rename one of them in the file, or choose columns with --column.",
            )
        place = sheet.headers.index(header)
        cells = [row[place] for _, row in sheet.rows if not _is_missing(row[place], missing)]
        made.append(
            MergedColumn(
                name,
                _kind(cells, sheet.comma),
                header,
                sheet.labels.get(header, ""),
                dict(sheet.values.get(header, {})),
                header in share,
            )
        )
    return tuple(made)


def _is_missing(cell: str, missing: Collection[str]) -> bool:
    return not cell.strip() or cell in missing


def _kind(cells: Sequence[str], comma: bool) -> Kind:
    if cells and all(_INTEGER.fullmatch(cell) for cell in cells):
        return "integer"
    if cells and all(_NUMBER.fullmatch(cell) and (comma or "," not in cell) for cell in cells):
        return "number"
    if cells and {cell.casefold() for cell in cells} <= {"true", "false"}:
        return "boolean"
    return "text"


def _value(cell: str, column: MergedColumn, sheet: Sheet, missing: Collection[str]) -> Value:
    if _is_missing(cell, missing):
        return None
    match column.kind:
        case "integer":
            return int(cell)
        case "number":
            return float(cell.replace(",", ".") if sheet.comma else cell)
        case "boolean":
            return cell.casefold() == "true"
    return cell


def _refuse_taken(study: Path, survey: str, made: Sequence[MergedColumn]) -> None:
    """Names that the table of participants has already, or another survey."""
    first = next(iter(sessions_of(study.parent, study.name)))
    declared = format_declaration(brief_record(first.path).planned)
    own = with_declared(table_columns(), [declared])["participants"]
    taken = {column.name.lower(): "the table of participants" for column in own}
    for surveys in log.of_study(study).values():
        for name, merged in surveys.items():
            if name != survey:
                taken |= {c.name.lower(): f"the survey {name!r}" for c in merged.columns}
    for column in made:
        if (where := taken.get(column.name.lower())) is not None:
            raise MergeError(
                f"{where[:1].upper()}{where[1:]} already has a column {column.name}.",
                safe="Nothing was merged.",
                todo="Leave --own-names out, or give the survey another name: --survey NAME.",
            )


def _differences(known: Mapping[str, Merged], given: Mapping[str, Merged]) -> Iterator[str]:
    """What is not as it was merged before, for people."""
    before = {c.name: c for each in known.values() for c in each.columns}
    now = {c.name: c for each in given.values() for c in each.columns}
    for what, names in (
        ("New columns", now.keys() - before.keys()),
        ("Columns that are gone", before.keys() - now.keys()),
        ("New sessions", given.keys() - known.keys()),
        ("Sessions that are gone", known.keys() - given.keys()),
    ):
        if names:
            yield f"{what}: {', '.join(sorted(names))}."
    both = [name for name in now if name in before]
    for name in both:
        if now[name] != replace(before[name], shared=now[name].shared):
            yield f"{name}: {before[name].kind} before, {now[name].kind} now, or a different label."
        elif now[name].shared != before[name].shared:
            does = "keep" if now[name].shared else "leave out"
            yield f"{name}: de-identified bundles {does} it now."
    changed = [
        f"{folder}, {name}: {known[folder].answers[name]!r} before, {each.answers[name]!r} now."
        for folder, each in sorted(given.items())
        if folder in known
        for name in both
        if name in known[folder].answers and known[folder].answers[name] != each.answers[name]
    ]
    yield from changed[:TOLD]
    if len(changed) > TOLD:
        yield f"{len(changed) - TOLD} more answers differ."


def study_in(root: Path, study: str) -> Path:
    """The folder of a study's sessions under a data root; without a name that of the only one
    there. Raises NotFoundError, UsageError."""
    if study:
        folder = Path(study) if Path(study).is_dir() else root / study
        if folder.is_dir():
            return folder
        raise NotFoundError(
            f"There is no study {study!r} in {root}.",
            safe="Nothing was merged.",
            todo="`labapp sessions list` shows the sessions of each study.",
        )
    studies = sorted(
        child for child in (root.iterdir() if root.is_dir() else ()) if _has_sessions(child)
    )
    if len(studies) == 1:
        return studies[0]
    names = ", ".join(child.name for child in studies) or "none"
    raise UsageError(
        f"{root} has sessions of several studies, or of none: {names}.",
        safe="Nothing was merged.",
        todo="Give the study: --study ID.",
    )


def _has_sessions(folder: Path) -> bool:
    return folder.is_dir() and any(FolderName.parse(child.name) for child in folder.iterdir())
