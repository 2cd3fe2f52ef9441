"""Session folders made by hand: a journal writer without threads, and the golden session.

`SessionBuilder` writes a session folder from (time, payload) rows exactly as `records.layout` says,
with its own few lines instead of the program's writer, so that readers are tested against the
contract and not against themselves.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import numpy as np
import soundfile

from labapp.base.clock import NS, utc_label, utc_text
from labapp.record.events import GENESIS, Event, Payload, Source, UnstampedEvent, row_hash
from labapp.record.events.lifecycle import SegmentStarted, SessionPlanned
from labapp.record.events.registry import payload_text
from labapp.record.events.voice import AudioBlock
from labapp.record.journal.layout import (
    AUDIO,
    COLUMNS,
    ENVIRONMENT,
    JOURNAL,
    SCHEMA,
    SCHEMA_VERSION,
    STUDY,
    FolderName,
)

TEMPORARY = gettempdir()
"""As the process began: a test may have one of its own, which what is shared must not lie in."""

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
EPOCH = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
"""UTC of session time 0 in every session made here."""

Row = tuple[int, Source, UnstampedEvent]


def stamp(rows: Iterable[Row]) -> list[Event]:
    """Events numbered from 1; the segment is the one of the last segment.started."""
    events = []
    segment = 1
    for seq, (t_ns, source, unstamped) in enumerate(rows, start=1):
        payload = unstamped.payload
        if isinstance(payload, SegmentStarted):
            segment = payload.segment
        utc = utc_text(EPOCH + timedelta(microseconds=t_ns / 1000))
        events.append(
            Event(
                seq,
                segment,
                t_ns,
                utc,
                str(source),
                payload.kind,
                payload.version,
                unstamped.part_id,
                unstamped.trial,
                unstamped.attempt,
                payload.as_dict(),
            )
        )
    return events


def write_journal(path: Path, rows: Iterable[Row], *, wal: bool = False) -> None:
    """A journal of these rows. wal: leave it in WAL mode with its -wal file, as after a crash."""
    stored = []
    head = GENESIS
    for event in stamp(rows):
        text = payload_text(event.payload)
        head = row_hash(head, event, text)
        stored.append((*event[:10], text, head))
    insert = f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
    # A crash is a copy taken while the writer still has the database open.
    working = path.with_name(path.name + ".working") if wal else path
    connection = sqlite3.connect(working, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.executescript(SCHEMA)
    connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
    connection.execute("BEGIN")
    connection.executemany(insert, stored)
    connection.execute("COMMIT")
    if wal:
        for suffix in ("", "-wal"):
            shutil.copy(f"{working}{suffix}", f"{path}{suffix}")
    connection.close()
    if wal:
        working.unlink()


@dataclass
class SessionBuilder:
    """Collects rows and writes a session folder.

    >>> s = SessionBuilder()
    >>> s.at(1.5, PartStarted(0), stage="consent")
    >>> folder = s.write(data_root)
    """

    participant: str = "P01"
    session: str = "1"
    study: str = "golden"
    study_files: Path | None = GOLDEN / STUDY
    rows: list[Row] = field(default_factory=list)
    sounds: dict[str, np.ndarray] = field(default_factory=dict)
    rate: int = 1000
    environment: list[dict[str, Any]] = field(default_factory=list)

    def at(
        self,
        seconds: float,
        payload: Payload,
        stage: str | None = None,
        trial: int | None = None,
        *,
        source: Source = Source.SYSTEM,
        attempt: int | None = None,
    ) -> None:
        """Add an event at a session time in seconds; attempt is 1 where a trial is given."""
        if trial is not None and attempt is None:
            attempt = 1
        unstamped = UnstampedEvent(payload, stage, trial, attempt)
        self.rows.append((round(seconds * NS), source, unstamped))

    def plan(self, plan: Sequence[dict[str, Any]], **changes: Any) -> None:
        """The first event, at 0."""
        values: dict[str, Any] = {
            "study": self.study,
            "study_version": 1,
            "study_sha256": "0" * 64,
            "participant": self.participant,
            "session": self.session,
            "seed": 1,
            "assignment": {"number": 1},
            "presentation": "improved",
            "language": "en",
            "audio": "optional",
        }
        self.at(0, SessionPlanned(**(values | changes), plan=tuple(plan)))

    def of(self, participant: str) -> None:
        """Make it another participant's: the plan names the participant as the folder does."""
        seconds, source, planned = self.rows[0]
        assert isinstance(planned.payload, SessionPlanned)
        payload = replace(planned.payload, participant=participant)
        self.rows[0] = (seconds, source, replace(planned, payload=payload))
        self.participant = participant

    def segment(self, seconds: float, number: int, gap_from: float | None = None) -> None:
        """A run of the program begins."""
        gap = None if gap_from is None else round(gap_from * NS)
        utc = utc_text(EPOCH + timedelta(seconds=seconds))
        sha256 = self.rows[0][2].payload.as_dict()["study_sha256"]
        self.at(seconds, SegmentStarted(number, utc, f"boot-{number}", "0.1.0", sha256, gap))

    def sound(
        self, file: str, start: float, blocks: int, *, ppm: float = 0.0, crc32: bool = False
    ) -> list[tuple[float, AudioBlock]]:
        """One-second blocks of a tone for `file`, heard from session time `start`.

        The true rate is off by `ppm`; the first two seconds' times are 200 ms off, as
        PulseAudio's are. crc32: hashed as an earlier version did. Returns (session seconds,
        block) to be added where they fall.
        """
        true = self.rate * (1 + ppm * 1e-6)
        count = self.rate * blocks
        tone = ((np.arange(count) * 37) % 2001 - 1000).astype("<i2")
        self.sounds[file] = tone
        out = []
        for first in range(0, count, self.rate):
            data = tone[first : first + self.rate].tobytes()
            anchors = []
            for frame in (first, first + self.rate // 2):
                at = start + frame / true + (0.2 if frame < 2 * self.rate else 0.0)
                anchors.append((frame, round(5000 + at, 9), round(at * NS)))
            sha256 = "" if crc32 else hashlib.sha256(data).hexdigest()
            old = zlib.crc32(data) if crc32 else None
            block = AudioBlock(file, first, first + self.rate, sha256, tuple(anchors), old)
            out.append((start + (first + self.rate) / true, block))
        return out

    def write(self, root: Path, *, wal: bool = False) -> Path:
        """Make `<root>/<study>/sub-…_ses-…_<utc>/` and return it. Rows are put in time order."""
        name = FolderName(self.participant, self.session, utc_label(EPOCH))
        folder = root / self.study / str(name)
        folder.mkdir(parents=True)
        rows = sorted(self.rows, key=lambda row: row[0])
        write_journal(folder / JOURNAL, rows, wal=wal)
        (folder / AUDIO).mkdir()
        for file, samples in self.sounds.items():
            soundfile.write(folder / file, samples, self.rate, subtype="PCM_16", format="WAV")
        if self.study_files is not None:
            shutil.copytree(self.study_files, folder / STUDY)
        text = json.dumps(self.environment, indent=2, sort_keys=True, ensure_ascii=False)
        (folder / ENVIRONMENT).write_text(text + "\n")
        return folder


def golden_plan() -> dict[str, Any]:
    """The frozen plan: study_sha256, seed, assignment and plan rows."""
    plan: dict[str, Any] = json.loads((GOLDEN / "plan.json").read_text())
    return plan


def golden_session(root: Path, *, wal: bool = False) -> Path:
    """The golden session under the data root `root`; returns its folder."""
    made = Path(_golden(wal).name, "data")
    (session,) = made.glob("*/sub-*")
    shutil.copytree(session, root / session.relative_to(made))
    return root / session.relative_to(made)


@cache
def _golden(wal: bool) -> TemporaryDirectory[str]:
    """A folder with the golden session, which hundreds of tests want a copy of."""
    from tests.helpers.golden import golden_builder

    folder = TemporaryDirectory(prefix="labapp-tests-golden-", dir=TEMPORARY)
    golden_builder().write(Path(folder.name, "data"), wal=wal)
    return folder
