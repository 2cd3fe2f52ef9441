"""Finding and reading sessions: folders, bundles, zips, and folders of these; each session once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from labapp.analysis.rows import SessionRecords
from labapp.errors import RecordError
from labapp.records.integrity import check_chain
from labapp.records.opening import iter_records, places
from labapp.records.record import Record

Progress = Callable[[float, str], None]
"""Called with the share that is done (0..1) and what is being done."""


def read_sessions(
    paths: Sequence[Path], progress: Progress | None = None, *, withdrawn: bool = False
) -> tuple[list[SessionRecords], list[str]]:
    """Every session at the paths, folded, and notes on what the reader should know.

    A path may be a session folder, a bundle (folder or zip), a folder of sessions (a study under
    the data root, the data root itself), or else a folder of bundles. withdrawn: read sessions too
    whose participants withdrew and let the data be kept; they do not count. Raises RecordError when
    a path holds no session, one cannot be read or is withdrawn, or two different sessions have the
    same labels.
    """
    found = [place for path in paths for place in places(path)]
    chosen: dict[tuple[str, str, str], _Read] = {}
    notes: list[str] = []
    for done, place in enumerate(found):
        if progress is not None:
            progress(done / len(found), f"reading {place.name}")
        for record in iter_records(place):
            _refuse_withdrawn(record, withdrawn)
            if broken := check_chain(record.rows):
                raise RecordError(
                    f"{record.source}: the journal is not what was written ({broken}).",
                    safe="It was only read; nothing was changed.",
                    todo="`labapp sessions verify` tells more; leave this session out until then.",
                )
            read = _Read.of(record)
            key = (record.study, record.participant, record.session)
            chosen[key] = _better(chosen[key], read, notes) if key in chosen else read
    notes += [
        f"{read.source} is still running: it is shown as far as it was recorded."
        for read in chosen.values()
        if read.running
    ]
    return [read.session for read in chosen.values()], notes


@dataclass(frozen=True, slots=True)
class _Read:
    """A session that was read, with what tells it from others; its journal is let go.

    chain: a number for every row's hash; stamps: one for every row's stamps (session time in ns,
    UTC, kind, trial), which a de-identified copy shares with the original.
    """

    session: SessionRecords
    source: str
    running: bool
    chain: array[int]
    stamps: array[int]

    @classmethod
    def of(cls, record: Record) -> _Read:
        return cls(
            SessionRecords.of(
                list(record.bodies()),
                f"{record.name} ({record.kind})",
                deidentified=record.redacted,
                withdrawn=bool(record.withdrawn),
            ),
            record.source,
            record.running,
            array("q", (hash(row.hash) for row in record.rows)),
            array("q", (hash(row[:10]) for row in record.rows)),
        )

    @property
    def fullness(self) -> tuple[int, bool]:
        return len(self.chain), not self.session.deidentified

    def continues(self, other: _Read) -> bool:
        """Whether one of the two journals is the beginning of the other (or the same)."""
        shared = min(len(self.chain), len(other.chain))
        if self.session.deidentified or other.session.deidentified:
            # A de-identified copy has a hash chain of its own.
            return self.stamps[:shared] == other.stamps[:shared]
        return self.chain[shared - 1] == other.chain[shared - 1]


def _refuse_withdrawn(record: Record, withdrawn: bool) -> None:
    """A bundle was made with leave to keep such data; a session folder needs that leave here."""
    if record.kind == "bundle" or not record.withdrawn:
        return
    if record.withdrawn == "delete":
        raise RecordError(
            f"The participant of {record.name} withdrew and wants the data deleted.",
            safe="No analysis was made.",
            todo=f"Delete them: labapp sessions withdraw {record.name} --delete",
        )
    if not withdrawn:
        raise RecordError(
            f"The participant of {record.name} withdrew; the data were kept.",
            safe="No analysis was made.",
            todo="Leave the session out; or, where your consent form covers it, say --withdrawn: "
            "it is in the tables then and counts in no metric.",
        )


def _better(known: _Read, other: _Read, notes: list[str]) -> _Read:
    """The fuller of two records of one session, with a note; RecordError when they are not one."""
    who = known.session.who
    if not known.continues(other):
        raise RecordError(
            f"{known.source} and {other.source} are different sessions, but both call "
            f"themselves participant {who['participant']}, session {who['session']} of "
            f"{who['study']}.",
            safe="Nothing was changed.",
            todo="Analyse them apart, or leave one of them out.",
        )
    worse, better = sorted((known, other), key=lambda read: read.fullness)
    missing = len(better.chain) - len(worse.chain)
    why = f", because {worse.source} stops {missing} events earlier" if missing else ""
    notes.append(
        f"Participant {who['participant']}, session {who['session']} was given twice "
        f"({known.source} and {other.source}); {better.source} was read{why}."
    )
    return better
