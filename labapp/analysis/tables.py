"""Sessions as tables: pandas frames with the columns of `labapp.analysis.columns`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
import pyarrow as pa

from labapp.analysis.column import Column, Kind
from labapp.analysis.columns import list_task_tables, table_columns
from labapp.analysis.declared import DECLARED, own_languages, with_declared
from labapp.analysis.folding.folded import NAME as SNAPSHOTS
from labapp.analysis.folding.folded import frame, together, unpack_table
from labapp.analysis.merged import columns_of, with_merged
from labapp.analysis.participation import TableSession, mark_counted_people, out_of_order
from labapp.analysis.questionnaires import TABLES as QUESTIONNAIRES
from labapp.analysis.rows import SessionRecords
from labapp.analysis.snapshots import ReadWhenAsked, SnapshotFile, Snapshots, Who, get_attached
from labapp.analysis.sources import Progress, Read, read_sessions
from labapp.analysis.task_records import Columns, Row
from labapp.base.naming import natural
from labapp.base.report.labels import current_labels
from labapp.base.report.page import current_language
from labapp.record.journal.decisions import Choice
from labapp.record.journal.merged import MergedColumn

_DTYPES: dict[Kind, str] = {
    "text": "string",
    "integer": "Int64",
    "number": "float64",
    "boolean": "boolean",
    "numbers": "object",
}
NO_CARDS: Mapping[Who, Mapping[str, str]] = MappingProxyType({})
_OF_ALL = frozenset({"participants", "deviations", "notes"})
"""Tables that tell of all sessions."""


def _distinct_tables() -> dict[str, tuple[str, ...]]:
    """Tables of what is the same for every session, and what tells their rows apart."""
    own = {name: tuple(column.name for column in known) for name, known in QUESTIONNAIRES.items()}
    brought = list_task_tables()
    return own | {name: keys for tables in brought for name, keys in tables.distinct.items()}


@dataclass(frozen=True)
class Tables:
    """The data of sessions as pandas frames, one for each kind of row.

    `labapp.analysis.columns` has the meaning and unit of every column.

    Attributes
    ----------
    trials : a row for each attempt at a question.
    stages : a row for each participant and model.
    answers : a row for each item.
    scores : a row for each score of a questionnaire.
    items : a row for each item of a questionnaire, as it is worded.
    scales : a row for each item of a score that is a mean or sum.
    labels : a row for each edit of a dial's name.
    dials : a row for each dial of each model that was met.
    marks : a row for each mark of a calibration.
    judgements : a row for each attempt at judging an explanation.
    similarities : a row for each row of prototypes that was rated.
    annotations : a row for each attempt at a masked picture.
    masked_predictions : a row for each masked picture, no matter who saw it.
    pool : a row for each pair of classes of the photos from which masked pictures were chosen.
    tracks : a row for each track of an adaptive stage.
    participants : a row for each session.
    deviations : a row for everything that did not go as planned.
    notes : a row for each note, flag, prompt, deviation or interview question of the moderator,
        and for each correction of these.
    utterances : a row for each unit of speech.
    codes_all : a row for each mark of any rater.
    codes : a row for each mark of the final coding.
    coded : the same with what the participant did and how the trial came out.
    pointer : a row for each stretch of the pointer's path.
    snapshots : the published study's record of each question.
    more : tables of tasks that other packages bring, by their names.
    remarks : what the reader should know about the sources (a session given twice).
    cards : by session (study, participant and session) the hashes of its models' cards, by id.
    withdrawn : sessions of people who withdrew, which are in no table.
    merged : the columns of participants that hold answers of other tools.
    everybody : of rows of sessions that count, those of all sessions.
    """

    trials: pd.DataFrame
    stages: pd.DataFrame
    answers: pd.DataFrame
    scores: pd.DataFrame
    items: pd.DataFrame
    scales: pd.DataFrame
    labels: pd.DataFrame
    dials: pd.DataFrame
    marks: pd.DataFrame
    judgements: pd.DataFrame
    similarities: pd.DataFrame
    annotations: pd.DataFrame
    masked_predictions: pd.DataFrame
    pool: pd.DataFrame
    tracks: pd.DataFrame
    participants: pd.DataFrame
    deviations: pd.DataFrame
    notes: pd.DataFrame
    utterances: pd.DataFrame
    codes_all: pd.DataFrame
    codes: pd.DataFrame
    coded: pd.DataFrame
    pointer: pd.DataFrame
    snapshots: ReadWhenAsked = ReadWhenAsked()  # noqa: RUF009 - a descriptor, see there
    remarks: tuple[str, ...] = ()
    more: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    cards: Mapping[Who, Mapping[str, str]] = field(default_factory=dict)
    withdrawn: tuple[TableSession, ...] = ()
    merged: tuple[MergedColumn, ...] = ()
    everybody: Tables | None = None

    @classmethod
    def of(
        cls,
        frames: Mapping[str, pd.DataFrame],
        snapshots: Snapshots | pd.DataFrame,
        remarks: tuple[str, ...] = (),
        cards: Mapping[Who, Mapping[str, str]] = NO_CARDS,
        withdrawn: tuple[TableSession, ...] = (),
        merged: tuple[MergedColumn, ...] = (),
        everybody: Tables | None = None,
    ) -> Tables:
        """From frames by their names."""
        named = {field.name for field in fields(cls)}
        return cls(
            **{name: frame for name, frame in frames.items() if name in named - {SNAPSHOTS}},
            snapshots=snapshots,
            remarks=remarks,
            cards=cards,
            withdrawn=withdrawn,
            merged=merged,
            everybody=everybody,
            more={name: frame for name, frame in frames.items() if name not in named},
        )

    def by_name(self) -> dict[str, pd.DataFrame]:
        """The frames by their names, in the order they are written."""
        return {name: self._frame(name) for name in table_columns()}

    @property
    def columns(self) -> Mapping[str, Columns]:
        """The columns of every table, those of the factors of the studies among them."""
        sessions = self.participants
        texts = sessions[DECLARED.name].dropna().unique() if DECLARED.name in sessions else ()
        return with_merged(with_declared(table_columns(), map(str, texts)), self.merged)

    @property
    def worded(self) -> pd.DataFrame:
        """`items` in the language of the report that is being made, else in each study's own; an
        item that nobody read in it, as it was read."""
        return self.worded_in("" if current_labels() is None else current_language())

    def worded_in(self, language: str) -> pd.DataFrame:
        """The same in a language, for studies that have items in it."""
        items = self.items
        if items["language"].nunique() < 2:
            return items
        known = {*zip(items["study"], items["language"], strict=True)}
        languages = {
            of: language if (of, language) in known else last
            for of, (*_, last) in own_languages(self.participants).items()
        }
        own = items["language"] == items["study"].map(languages)
        keys = ["study", "instrument", "instrument_version", "item"]
        has_own = own.groupby([items[key] for key in keys]).transform("any")
        return items[own | ~has_own].drop_duplicates(keys)

    def _frame(self, name: str) -> pd.DataFrame:
        made: pd.DataFrame = self.more[name] if name in self.more else getattr(self, name)
        return made

    def of_study(self, *studies: str) -> Tables:
        """The rows of one study, or of several."""
        own = {name: frame[frame["study"].isin(studies)] for name, frame in self.small().items()}
        snapshots = self._snapshots(lambda who: who[0] in studies)
        left = tuple(each for each in self.withdrawn if each.study in studies)
        every = None if self.everybody is None else self.everybody.of_study(*studies)
        return Tables.of(own, snapshots, self.remarks, self.cards, left, self.merged, every)

    def included(self) -> Tables:
        """The rows of the sessions that count; all of the sessions, of deviations, of
        notes and of what is the same for every session."""
        counted = self.participants[self.participants["included"]]
        who = set(zip(counted["study"], counted["participant"], counted["session"], strict=True))
        frames = self.small()
        for name in frames.keys() - _OF_ALL - _distinct_tables().keys():
            frames[name] = _only(frames[name], who.__contains__)
        kept = self._snapshots(who.__contains__)
        return Tables.of(frames, kept, self.remarks, self.cards, self.withdrawn, self.merged, self)

    def snapshots_of(self, study: str, participant: str, session: str) -> pd.DataFrame:
        """The snapshots of one session, without unpacking those of the others."""
        own = self._snapshots((study, participant, session).__eq__)
        return own.frame() if isinstance(own, Snapshots) else own

    def small(self) -> dict[str, pd.DataFrame]:
        """The frames by their names, except the snapshots."""
        return {name: self._frame(name) for name in table_columns() if name != SNAPSHOTS}

    def _snapshots(self, keep: Callable[[Who], bool]) -> Snapshots | pd.DataFrame:
        given = get_attached(self)
        return given.only(keep) if isinstance(given, Snapshots) else _only(given, keep)


def _only(frame: pd.DataFrame, keep: Callable[[Who], bool]) -> pd.DataFrame:
    keys = (frame[key] for key in ("study", "participant", "session"))
    rows = [keep(who) for who in zip(*keys, strict=True)]
    return frame[pd.Series(rows, frame.index, dtype=bool)]


def load(
    paths: Path | str | Sequence[Path | str],
    progress: Progress | None = None,
    *,
    withdrawn: bool = False,
    pilot: bool = False,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    workers: int | None = 1,
    dask: str | None = None,
) -> Tables:
    """Read sessions and bundles (folders or zips, in any mixture) into tables, for a notebook.

    Parameters
    ----------
    paths : one path or several, each a session folder, a bundle, or a folder of these. A session
        that is given twice (as a session and in a bundle) is read once, with a note.
    progress : called with the share that is done (0..1) and what is being done.
    withdrawn : read sessions too whose participants withdrew and let the data be kept; they are
        marked and do not count.
    pilot : read trial runs, and nothing else; without it they are left out, with a note.
    only : read the sessions with any of these tags or phases, and no others.
    without : read none with one of these.
    workers : processes that read; 1 is this one alone, None as many as are worth it. In a script
        (not in a notebook) more than one needs `if __name__ == "__main__":` around the call.
    dask : address of a Dask scheduler whose workers read instead. They need the same versions and
        the sessions under the same paths.

    Returns
    -------
    The tables; the same, to the last bit, with any number of workers. Each is a pandas frame, and
    `columns.csv` of `labapp analyze` describes its columns. `.included()` gives the rows that count
    in metrics, `.of_study(id)` those of one study. Text is `string`, whole numbers
    `Int64`, numbers `float64`, yes or no `boolean`; a missing value is NA. A cell with one number
    per dial is a list. `snapshots` is made when it is first asked for and needs some 750 MB a
    million rows; `.snapshots_of(study, participant, session)` is one session's alone.

    Raises
    ------
    RecordError : something cannot be read, was changed or was withdrawn, or two different sessions
        have the same labels.
    SetupError : a worker is lost, or the cluster cannot be used.

    >>> tables = load("exports/quickstart")  # doctest: +SKIP
    >>> stages = tables.included().stages  # doctest: +SKIP
    >>> stages.groupby("model")["completion_rate"].describe()  # doctest: +SKIP
    """
    given = [paths] if isinstance(paths, Path | str) else list(paths)
    sessions, file, notes, left = read_sessions(
        [Path(path) for path in given],
        progress,
        withdrawn=withdrawn,
        pilot=pilot,
        choice=Choice(tuple(only), tuple(without)),
        workers=workers,
        dask=dask,
    )
    return _tables(sessions, file, notes, left)


def tables_of(sessions: Sequence[SessionRecords]) -> Tables:
    """Tables of sessions that were folded already, by study and participant."""
    file = SnapshotFile()
    return _tables([Read.of(session, file) for session in sessions], file, ())


def _tables(
    sessions: Sequence[Read],
    file: SnapshotFile,
    notes: Sequence[str],
    withdrawn: Sequence[TableSession] = (),
) -> Tables:
    ordered = sorted(sessions, key=lambda session: tuple(map(natural, session.who)))
    made = {}
    distinct = _distinct_tables()
    merged = columns_of(each for session in ordered for each in session.merged)
    every = with_merged(with_declared(table_columns(), map(_read_declared_text, ordered)), merged)
    for name, columns in every.items():
        if name == SNAPSHOTS:
            continue
        pieces = (session.tables[name] for session in ordered)
        # Of what is the same for every session, most say the same bytes.
        table = together(dict.fromkeys(pieces) if name in distinct else pieces, columns)
        if name in distinct:
            unique: dict[tuple[Any, ...], Row] = {}
            for row in table.to_pylist():
                unique.setdefault(tuple(row[key] for key in distinct[name]), row)
            # By study and set, then as they come.
            order = sorted(unique, key=lambda key: [(part is None, part) for part in key])
            table = pa.Table.from_pylist([unique[key] for key in order], table.schema)
        made[name] = frame(table, columns) if len(table) else build_frame((), columns)
    snapshots = Snapshots([(session.who, session.snapshots) for session in ordered], file)
    cards = {session.who: session.cards for session in ordered}
    made["participants"] = mark_counted_people(made["participants"])
    if early := out_of_order(made["participants"]):
        known = made["deviations"]
        added = build_frame(
            [dict.fromkeys(known.columns) | row for row in early], every["deviations"]
        )
        made["deviations"] = pd.concat([known, added], ignore_index=True)
        late = {tuple(row[key] for key in ("study", "participant", "session")) for row in early}
        people = made["participants"]
        keys = zip(people["study"], people["participant"], people["session"], strict=True)
        made["participants"] = people.assign(
            n_deviations=people["n_deviations"] + pd.array([who in late for who in keys], "Int64")
        )
    return Tables.of(made, snapshots, tuple(notes), cards, tuple(withdrawn), merged)


def _read_declared_text(session: Read) -> str:
    """What the study of a session declared; empty for nothing."""
    table = unpack_table(session.tables["participants"])
    return str(table[DECLARED.name][0]) if DECLARED.name in table.schema.names else ""


def frames(rows: Mapping[str, Sequence[Row]]) -> dict[str, pd.DataFrame]:
    """Typed frames of rows by table; a table without rows has its columns all the same."""
    texts = (row.get(DECLARED.name) for row in rows.get("participants", ()))
    columns = with_declared(table_columns(), filter(None, texts))
    return {name: build_frame(some, columns[name]) for name, some in rows.items()}


def build_frame(rows: Sequence[Row], columns: Sequence[Column]) -> pd.DataFrame:
    """A frame with these columns, each of its type."""
    return _frame(list(rows), columns) if rows else _without_rows(tuple(columns)).copy()


def _frame(rows: Sequence[Row], columns: Sequence[Column]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    return frame.astype({column.name: _DTYPES[column.kind] for column in columns})


@lru_cache(maxsize=256)
def _without_rows(columns: tuple[Column, ...]) -> pd.DataFrame:
    """Most tables of most analyses are empty, and to make one takes 10 ms."""
    return _frame([], columns)
