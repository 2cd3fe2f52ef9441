"""Finding and reading sessions: folders, bundles, zips, and folders of these; each session once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from labapp.analysis.rows import SessionRecords
from labapp.errors import RecordError
from labapp.records.opening import bundle_tree, is_session, open_records
from labapp.records.record import Record

Progress = Callable[[float, str], None]
"""Called with the share that is done (0..1) and what is being done."""


def read_sessions(
    paths: Sequence[Path], progress: Progress | None = None
) -> tuple[list[SessionRecords], list[str]]:
    """Every session at the paths, folded, and notes on what the reader should know.

    A path may be a session folder, a bundle (folder or zip), or a folder that holds such (a study
    under the data root, the data root itself). Raises RecordError when a path holds none, one
    cannot be read, or two different sessions have the same labels.
    """
    places = [place for path in paths for place in _places(path)]
    chosen: dict[tuple[str, str, str], Record] = {}
    notes: list[str] = []
    for done, place in enumerate(places):
        if progress is not None:
            progress(done / (2 * len(places)), f"reading {place.name}")
        for record in open_records(place):
            key = (record.study, record.participant, record.session)
            if (known := chosen.get(key)) is not None:
                record = _same(known, record, notes)
            chosen[key] = record
    sessions = []
    for done, record in enumerate(chosen.values()):
        if progress is not None:
            progress(0.5 + done / (2 * len(chosen)), f"folding {record.name}")
        if record.running:
            notes.append(f"{record.name} is still running: it is shown as far as it was recorded.")
        source = f"{record.name} ({record.kind})"
        sessions.append(
            SessionRecords.of(list(record.bodies()), source, deidentified=record.redacted)
        )
    return sessions, notes


def _places(path: Path) -> list[Path]:
    """The sessions and bundles at a path; the path itself where there is nothing else to try."""
    if not path.is_dir() or is_session(path) or bundle_tree(path) is not None:
        return [path]
    inside = [
        found
        for pattern in ("*", "*/*")
        for found in sorted(path.glob(pattern))
        if is_session(found)
    ]
    return inside or [path]


def _same(known: Record, other: Record, notes: list[str]) -> Record:
    """The fuller of two records of one session, with a note; RecordError when they are not one."""
    if not _one_session(known, other):
        raise RecordError(
            f"{known.source} and {other.source} are different sessions, but both call "
            f"themselves participant {known.participant}, session {known.session} of "
            f"{known.study}.",
            safe="Nothing was changed.",
            todo="Analyse them apart, or leave one of them out.",
        )
    better, worse = sorted(
        (known, other), key=lambda record: (len(record.rows), not record.redacted), reverse=True
    )
    notes.append(
        f"{known.name} was given twice ({known.source} and {other.source}); "
        f"{better.source} was read."
        if len(better.rows) == len(worse.rows)
        else f"{known.name} was given twice; {better.source} was read, because {worse.source} "
        f"stops {len(better.rows) - len(worse.rows)} events earlier."
    )
    return better


def _one_session(known: Record, other: Record) -> bool:
    """Whether one journal is the beginning of the other (or the same).

    The hash chain tells, but a de-identified copy has a chain of its own: there the stamps of the
    rows are compared, which it keeps (session time in ns, UTC, kind, trial).
    """
    shared = min(len(known.rows), len(other.rows))
    if not (known.redacted or other.redacted):
        return known.rows[shared - 1].hash == other.rows[shared - 1].hash
    pairs = zip(known.rows[:shared], other.rows[:shared], strict=True)
    return all(one[:10] == another[:10] for one, another in pairs)
