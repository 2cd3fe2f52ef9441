"""Sessions as tables: pandas frames with the columns of `labapp.analysis.columns`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from labapp.analysis.column import Column, Kind
from labapp.analysis.columns import COLUMNS
from labapp.analysis.rows import Row, SessionRecords
from labapp.analysis.sources import Progress, read_sessions

_DTYPES: dict[Kind, str] = {
    "text": "string",
    "integer": "Int64",
    "number": "float64",
    "boolean": "boolean",
    "numbers": "object",
}
_SET = ("study", "stimuli", "manifest_sha256", "classifier")
_DISTINCT = {
    "dials": ("study", "model", "card_sha256", "dimension"),
    "masked_predictions": (*_SET, "fill", "sign", "image", "method_number", "percent"),
    "pool": (*_SET, "truth", "prediction"),
}
"""Tables of what is the same for every session, and what tells their rows apart."""
_OF_ALL = frozenset({"participants", "deviations", *_DISTINCT})
"""Tables that tell of all sessions, or of no session."""


@dataclass(frozen=True)
class Tables:
    """What sessions say, one table a question a reader may have.

    trials: one row an attempt at a question; stages: one a participant and model; answers: one
    an item; scores: one a score of a questionnaire; labels: one an edit of a dial's name; dials:
    one a dial of each model that was met; marks: one a mark of a calibration; judgements: one an
    attempt at judging an explanation; similarities: one a row of prototypes that was rated;
    annotations: one an attempt at a masked picture; masked_predictions: one a masked picture,
    whoever saw it; pool: one a pair of classes, of the photos from which masked pictures were
    chosen; participants: one a session; deviations: one a thing that did not go as planned;
    snapshots: the published study's record of each question.
    notes: what the reader should know about the sources (a session given twice).
    `labapp.analysis.columns` has the meaning and unit of every column.
    """

    trials: pd.DataFrame
    stages: pd.DataFrame
    answers: pd.DataFrame
    scores: pd.DataFrame
    labels: pd.DataFrame
    dials: pd.DataFrame
    marks: pd.DataFrame
    judgements: pd.DataFrame
    similarities: pd.DataFrame
    annotations: pd.DataFrame
    masked_predictions: pd.DataFrame
    pool: pd.DataFrame
    participants: pd.DataFrame
    deviations: pd.DataFrame
    snapshots: pd.DataFrame
    notes: tuple[str, ...] = ()

    def by_name(self) -> dict[str, pd.DataFrame]:
        """The frames by their names, in the order they are written."""
        return {name: getattr(self, name) for name in COLUMNS}

    def of_study(self, *studies: str) -> Tables:
        """The rows of one study, or of several."""
        own = {name: frame[frame["study"].isin(studies)] for name, frame in self.by_name().items()}
        return Tables(**own, notes=self.notes)

    def included(self) -> Tables:
        """The rows of the sessions that count; all of the sessions, of deviations and of what is
        the same for every session."""
        kept = self.participants[self.participants["included"]]
        who = set(zip(kept["study"], kept["participant"], kept["session"], strict=True))
        frames = self.by_name()
        for name in frames.keys() - _OF_ALL:
            keys = (frames[name][key] for key in ("study", "participant", "session"))
            counts = [one in who for one in zip(*keys, strict=True)]
            frames[name] = frames[name][pd.Series(counts, frames[name].index, dtype=bool)]
        return Tables(**frames, notes=self.notes)


def load(
    paths: Path | str | Sequence[Path | str],
    progress: Progress | None = None,
    *,
    withdrawn: bool = False,
) -> Tables:
    """Read sessions and bundles (folders or zips, in any mixture) into tables.

    paths: one path or several. A session that is given twice (as a session and in a bundle) is
    read once, with a note. withdrawn: sessions too whose participants withdrew and let the data be
    kept; they are marked and do not count. Raises RecordError when something cannot be read or is
    withdrawn, or when two different sessions have the same labels.

    >>> load("exports/quickstart").stages  # doctest: +SKIP
    """
    given = [paths] if isinstance(paths, Path | str) else list(paths)
    sessions, notes = read_sessions([Path(path) for path in given], progress, withdrawn=withdrawn)
    return tables_of(sessions, notes)


def tables_of(sessions: Sequence[SessionRecords], notes: Sequence[str] = ()) -> Tables:
    """Tables of sessions that were folded already, by study and participant."""
    ordered = sorted(sessions, key=lambda one: tuple(one.who.values()))
    rows: dict[str, list[Row]] = {name: [] for name in COLUMNS}
    for session in ordered:
        for name, some in session.rows().items():
            rows[name].extend(some)
    for name, keys in _DISTINCT.items():
        rows[name] = _distinct(rows[name], keys)
    return Tables(**frames(rows), notes=tuple(notes))


def _distinct(rows: Sequence[Row], keys: Sequence[str]) -> list[Row]:
    """Each row once, however many sessions have it: by study and set, then as they come."""
    found: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in keys), row)
    return [
        found[key] for key in sorted(found, key=lambda key: [(one is None, one) for one in key])
    ]


def frames(rows: Mapping[str, Sequence[Row]]) -> dict[str, pd.DataFrame]:
    """Typed frames of rows by table; a table without rows has its columns all the same."""
    return {name: typed(some, COLUMNS[name]) for name, some in rows.items()}


def typed(rows: Sequence[Row], columns: Sequence[Column]) -> pd.DataFrame:
    """A frame with these columns, each of its type."""
    frame = pd.DataFrame(list(rows), columns=[column.name for column in columns])
    return frame.astype({column.name: _DTYPES[column.kind] for column in columns})
