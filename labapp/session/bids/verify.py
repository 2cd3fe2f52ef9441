"""`labapp sessions verify`: whether a session or a bundle is, byte for byte, what was written.

The manifest's hashes find changed files. This finds contradictions between files whose hashes are
right: what the manifest, each session.json and the models' cards say, files that are no part of a
session, and sound that is not, to the last byte, what the journal says was written. Sound that a
crash left behind the last block has no hash; in a bundle, redacted sound is silent and has none.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Literal

from labapp.analysis.task_records import Parts, walk
from labapp.base import leftovers
from labapp.base.errors import AnnotationError, BundleError, LabappError, RecordError, SessionError
from labapp.base.parallel.processes import gc_paused
from labapp.base.reading import files
from labapp.coding.annotations.redacting import Ranges, silent_frames
from labapp.coding.annotations.store import annotations_of, annotations_tree, is_annotated
from labapp.coding.annotations.verifying import verify_annotations
from labapp.coding.annotations.video_files import video_problems
from labapp.models.explanations import package as classifier_card
from labapp.models.representations import card
from labapp.record.audio.capture import FRAME_BYTES, HEADER_BYTES, wav_header
from labapp.record.audio.recorded_sound import fits, method
from labapp.record.events.lifecycle import EnvironmentRecorded, PartLeftOut, PartStarted
from labapp.record.journal.layout import (
    ANNOTATIONS,
    AUDIO,
    BUNDLE_VERSION,
    CLOCK_FIT,
    ENVIRONMENT,
    JOURNAL,
    JOURNAL_PARQUET,
    LOCK,
    MANIFEST,
    SESSION,
    SOURCEDATA,
    STIMULI,
    STUDY,
    FolderTree,
    Tree,
    ZipTree,
    study_files_of,
)
from labapp.record.journal.opening import (
    bundle_tree,
    open_record,
    read_bundled_record,
    session_facts,
    session_prefixes,
)
from labapp.record.journal.read import Pairs, check_database, check_journal, check_rows
from labapp.record.journal.record import AudioFile, Record
from labapp.session.bids.contents import (
    ABSENT,
    check_stimuli,
    classifiers_of,
    decoders_of,
    read_card_hashes,
    split_manifests,
)
from labapp.session.bids.derived import check_rebuild, not_compared
from labapp.session.bids.folder import ZIP_MODE, hash_stream, read_manifest, write_zip
from labapp.session.bids.tasks import tasks_of
from labapp.session.runner import machine_of
from labapp.study import loading
from labapp.study.loading import LoadedStudy, files_digest
from labapp.study.plugins.bids import TaskFiles
from labapp.study.when import describe, holds

LIMITS = {
    "session": (
        "changes by someone who recomputes all hashes afterwards, including those of the anchor",
        "events that were cut off the end of the journal of a session without an end",
    ),
    "bundle": (
        "changes by someone who recreates the hashes, the manifest and all tables afterwards",
    ),
}
"""What a check without keys cannot notice."""


@dataclass
class VerifyReport:
    """What a check found.

    problems: each names the file and the place in it; notes: what a reader should know but is no
    damage (a session that was interrupted); checked: numbers of things looked at.
    """

    path: Path
    kind: Literal["session", "bundle"]
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.problems

    def count(self, what: str, number: int = 1) -> None:
        self.checked[what] = self.checked.get(what, 0) + number

    def to_json(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "path": str(self.path),
            "kind": self.kind,
            "ok": self.ok,
            "problems": self.problems,
            "notes": self.notes,
            "checked": self.checked,
            "not_noticed": list(LIMITS[self.kind]),
        }

    def lines(self) -> list[str]:
        """The report for people, the verdict last."""
        checked = ", ".join(
            f"{number} {what.removesuffix('s') if number == 1 else what}"
            for what, number in self.checked.items()
        )
        count = len(self.problems)
        text = f"{count} problem{'' if count == 1 else 's'}; " if count else ""
        verdict = "is whole" if self.ok else "is NOT whole"
        last = f"{self.path} {verdict} ({text}checked: {checked or 'nothing'})."
        limits = (
            f"This check cannot detect: {'; '.join(LIMITS[self.kind])}. Nothing is sealed by a key."
        )
        return [*self.problems, *self.notes, *([limits] if self.ok else []), last]


def verify(path: Path) -> VerifyReport:
    """Check a session folder, a bundle, or a bundle in a zip archive.

    Damage is reported, not raised. Raises RecordError when `path` is neither.
    """
    tree = bundle_tree(path)
    report = VerifyReport(path, "session" if tree is None else "bundle")
    if tree is None:
        _check_session(report, path)
    else:
        with gc_paused():
            _check_bundle(report, tree)
    return report


def _check_session(report: VerifyReport, folder: Path) -> None:
    if not (folder / JOURNAL).is_file():
        open_record(folder)  # says what is wrong with the path
    with _report_errors(report):
        try:
            record = open_record(folder)
        except RecordError:
            report.problems += [str(problem) for problem in check_journal(folder)]
            raise  # behind what names the place of the damage
        report.problems += [str(problem) for problem in check_database(folder)]
        _check_events(report, record, JOURNAL, record.name)
        problems, notes = check_folder(record)
        report.problems += problems
        report.notes += notes
        report.count("sessions")
        if record.running:
            report.notes.append("The session is running: what was stored so far was checked.")
        elif record.state == "interrupted":
            report.notes.append(
                f"The session was interrupted: its journal stops at event {record.rows[-1].seq} "
                "without an end. `labapp sessions recover` repairs it. It is not known whether "
                "events after it were removed."
            )
        elif record.segments and record.segments[-1].ended is None:
            report.notes.append("The session is over, but its last run was not properly ended.")
        _check_contents(report, record, "", sound=True)
        beside = verify_annotations(folder)
        report.problems += [each for each in beside.problems if each not in report.problems]
        report.notes += [each for each in beside.remarks if each not in report.notes]


def _check_events(report: VerifyReport, record: Record, journal: str, place: object) -> None:
    """Whether the events are what was written, all in a table, and what the plan decides. journal:
    the name of their file; place: of the session."""
    report.count("events", len(record.rows))
    unknown: list[str] = []
    report.problems += map(
        str,
        check_rows(record.rows, journal, lambda pairs: unknown.extend(check_known(record, pairs))),
    )
    if report.ok:  # of a damaged journal the damage is told already
        report.problems += [f"{place}: {what}" for what in (*unknown, *check_branches(record))]


def _check_contents(report: VerifyReport, record: Record, place: str, *, sound: bool) -> None:
    """What session folders and bundles have in common; place: prefix of the files' names."""
    if labels := record.other_labels:
        report.problems.append(f"{place or record.name}: renamed; its journal {labels}")
    study, problems = split_manifests(record)
    report.problems += [f"{place}{STUDY}/{problem}" for problem in problems]
    if files_digest(study) != record.planned.study_sha256:
        report.problems.append(
            f"{place}{STUDY}: its files are not those with which the session was planned"
        )
    _check_environment(report, record, place)
    pictures, problems = check_stimuli(record)
    if pictures:
        report.count("pictures", pictures)
    report.problems += [f"{place}{problem}" for problem in problems]
    silent = _check_annotations(report, record, place)
    if not sound:
        return
    for file in record.audio:
        report.count("sound files")
        problems, notes = check_sound(record, file, silent.get(file.file, ()))
        report.problems += [f"{place}{file.file}: {problem}" for problem in problems]
        report.notes += [f"{place}{file.file}: {note}" for note in notes]


def _check_annotations(report: VerifyReport, record: Record, place: str) -> dict[str, Ranges]:
    """Whether the units, texts and marks are as they were written, and of this session; which
    frames of the sound of a bundle are redacted."""
    if not is_annotated(record):
        return {}
    try:
        names = [name for name in annotations_tree(record).names() if name.endswith(".jsonl")]
        report.count("annotation files", len(names))
        annotations = annotations_of(record)
        report.notes += [f"{place}{remark}" for remark in annotations.remarks]
        videos, problems = video_problems(record)
        report.problems += [f"{place}{problem}" for problem in problems]
        if videos:
            report.count("videos", videos)
        if record.kind == "bundle":
            return silent_frames(record, annotations.redactions)
    except AnnotationError as error:
        report.problems.append(error.what)
    return {}


def _check_environment(report: VerifyReport, record: Record, place: str) -> None:
    name = f"{place}{ENVIRONMENT}"
    try:
        entries = record.environment
    except RecordError as error:
        report.problems.append(f"{name}: {error.what}")
        return
    left = list(entries)
    for row in record.rows:
        if row.kind != EnvironmentRecorded.kind:
            continue
        recorded = {"segment": row.segment, **row.event().payload["environment"]}
        if recorded in left:
            left.remove(recorded)
        else:
            what = f"the entry of segment {row.segment} was changed or lost"
            report.problems.append(f"{name}: {what}")
    last = record.segments[-1].number if record.segments else 0
    for entry in left:
        segment = entry.get("segment")
        # It is written before the journal has the event: a run that ended there leaves its entry.
        if isinstance(segment, int) and 1 <= segment <= last + 1:
            what = "is not in the journal, which happens if a run ended at its start"
            report.notes.append(f"{name}: it has an entry for segment {segment} that {what}")
        else:
            report.problems.append(f"{name}: it has an entry that is not in the journal")


def _check_bundle(report: VerifyReport, tree: Tree) -> None:
    stated: dict[str, Any] = {}
    with _report_errors(report):
        stated = _check_manifest(report, tree)
    sessions: list[SessionCards] = []  # no record is kept: with many, memory would not hold them
    for prefix in session_prefixes(tree):
        with _report_errors(report):
            sessions.append(_check_bundled(report, tree, prefix))
    if stated:
        problems = check_manifest_facts(stated, [session.facts for session in sessions])
        report.problems += [f"{SOURCEDATA}/{MANIFEST}: it {problem}" for problem in problems]
    with _report_errors(report):
        cards, problems = check_cards(tree, sessions)
        report.problems += problems
        if cards:
            report.count("model cards", cards)
    if unread := not_compared(stated):
        report.notes.append(unread)
        with _report_errors(report):
            for session in sessions:
                record = read_bundled_record(tree.below(session.prefix), session.prefix)
                report.problems += check_tables(tree, record)
            parts = (prefix.split("/") for prefix in session_prefixes(tree))
            report.problems += check_people(tree, [(part[-2], part[-1]) for part in parts])
    elif report.ok:
        # Only now: of what was changed the file is named already.
        with _report_errors(report):
            files, problems = check_rebuild(tree, stated)
            report.problems += problems
            report.count("tables and texts made anew", files)
    if isinstance(tree, ZipTree):
        with zipfile.ZipFile(tree.path) as archive:
            names = sorted(set(archive.namelist()))
        report.problems += [
            f"{tree.path.name}: {name} is next to the bundle's folder"
            for name in names
            if not name.startswith(tree.prefix)
        ]
        if report.ok:
            # Only now: where a file was changed, that file is named instead.
            report.problems += archive_problem(tree)


@contextmanager
def _report_errors(report: VerifyReport) -> Iterator[None]:
    """What cannot be read is a problem of the report."""
    try:
        yield
    except (RecordError, BundleError) as error:
        report.problems.append(error.what)
    except (ValueError, TypeError, LookupError) as error:
        # A damaged row can hold anything, and the damage is told already; without damage this
        # would be a mistake of the program, and must be seen.
        if report.ok:
            raise
        report.notes.append(f"Not everything could be checked because of the damage ({error}).")


def _check_manifest(report: VerifyReport, tree: Tree) -> dict[str, Any]:
    """Check every file by the manifest; what it says besides of the bundle."""
    name = f"{SOURCEDATA}/{MANIFEST}"
    present = set(tree.names()) - {name}
    if not tree.has(name):
        report.problems.append(f"{name}: missing")
        return {}
    facts, listed = read_manifest(tree.read(name))
    report.problems += [f"{n}: missing" for n in sorted(listed.keys() - present)]
    report.problems += [f"{n}: not part of the export" for n in sorted(present - listed.keys())]
    for file in sorted(listed.keys() & present):
        report.count("files")
        with _report_errors(report):
            entry = listed[file]
            with tree.open(file) as stream:
                digest = hash_stream(stream)
            if digest.size != entry.size:
                report.problems.append(
                    f"{file}: {digest.size} bytes, but {entry.size} were written"
                )
            elif digest != entry:
                report.problems.append(f"{file}: changed since the export (SHA-256)")
    return facts


def _check_bundled(report: VerifyReport, tree: Tree, prefix: str) -> SessionCards:
    """Check one session of a bundle; what is needed of it later."""
    below = tree.below(prefix)
    facts = session_facts(below, prefix)
    record = read_bundled_record(below, prefix)
    report.count("sessions")
    journal = f"{prefix}/{JOURNAL_PARQUET}"
    _check_events(report, record, journal, f"{prefix}/")
    problems = [*check_session_facts(facts, record), *check_session_files(facts, record)]
    report.problems += [f"{prefix}/{problem}" for problem in problems]
    if prefix != f"{SOURCEDATA}/{record.name.bids}":
        report.problems.append(
            f"{prefix}: the session {record.name} is in the folder of another session"
        )
    if record.audio and not facts.get("sound"):
        left = f"{len(record.audio)} of its sound files"
        report.notes.append(f"{prefix}: not in the bundle and not checked: {left}.")
    if facts.get("deidentified"):
        report.notes.append(f"{prefix}: de-identified; its hash chain was made at the export.")
    if record.state == "interrupted":
        report.notes.append(f"{prefix}: the session was interrupted and is not complete.")
    _check_contents(report, record, f"{prefix}/", sound=bool(facts.get("sound")))
    hashes, decoders = read_card_hashes(record), decoders_of(record)
    return SessionCards(str(record.name), prefix, facts, hashes, decoders, classifiers_of(record))


EARLIER_MODE = 0o644
"""The rights that files had in archives of earlier versions; unpacked, others could read them."""


def archive_problem(tree: ZipTree) -> list[str]:
    """Write the archive again and compare; at most one problem.

    The manifest covers the contents of the files; this finds changes of the archive around them
    (names, dates, sizes, bytes between and behind the files).
    """
    with files.open_file(tree.path) as actual:
        compared = _ComparingFile(actual)
        write_zip(tree, tree.prefix.rstrip("/"), compared, _mode(tree))  # type: ignore[arg-type]
        size = actual.seek(0, os.SEEK_END)
    if compared.same and compared.end == size:
        return []
    what = "the archive around the files was changed or packed by another program"
    return [f"{tree.path.name}: {what}; the files in it are as exported"]


def _mode(tree: ZipTree) -> int:
    """The rights of the archive's files: those of today, or those of earlier versions."""
    with zipfile.ZipFile(tree.path) as archive:
        first = archive.infolist()[0].external_attr >> 16
    return EARLIER_MODE if stat.S_IMODE(first) == EARLIER_MODE else ZIP_MODE


class _ComparingFile(io.RawIOBase):
    """A file to write to that keeps nothing and compares with `actual`.

    zipfile goes back to complete headers it has written, so a place counts as it was written last.
    """

    def __init__(self, actual: IO[bytes]) -> None:
        self._actual = actual
        self._at = 0
        self._differing: set[int] = set()
        self._lost = False
        self.end = 0

    @property
    def same(self) -> bool:
        return not self._differing and not self._lost

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.end}[whence]
        self._at = base + offset
        return self._at

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._actual.seek(self._at)
        actual = self._actual.read(len(data))
        span = range(self._at, self._at + len(data))
        self._differing = {at for at in self._differing if at not in span}
        if actual != data:
            if len(data) > _HEADER:
                self._lost = True
            else:
                pairs = zip(span, data, actual.ljust(len(data), b"\0"), strict=True)
                self._differing.update(at for at, pair, other in pairs if pair != other)
        self._at += len(data)
        self.end = max(self.end, self._at)
        return len(data)


_HEADER = 1 << 12
"""No header is longer; a difference in a longer piece of data is never written again."""


def check_known(record: Record, events: Pairs) -> list[str]:
    """What of a session would be in no table, parts and events that no task knows; and decisions
    that are not those of the plan's rules."""
    try:
        tasks = walk(events, Parts.of(record.planned.plan))
    except (RecordError, SessionError) as error:
        return [error.what]
    return [doubt for task in tasks for doubt in task.doubts()]


def check_tables(tree: Tree, record: Record) -> list[str]:
    """The tables of one session against its journal."""
    bids = record.name.bids
    return [
        problem
        for task in tasks_of(record)
        for problem in _check_task(
            tree, record, task, f"{bids}/beh/{bids.replace('/', '_')}_task-{task.label}"
        )
    ]


def _check_task(tree: Tree, record: Record, task: TaskFiles, stem: str) -> list[str]:
    stages = task.plan(record)
    kinds = Counter(row.kind for row in record.rows if row.part_id in stages)
    problems = []
    # A question whose pair was drawn again is one row.
    drawn = len(
        {
            (row.part_id, row.trial, row.attempt)
            for row in record.rows
            if row.kind == task.drawn and row.part_id in stages
        }
    )
    if len(rows := _rows(tree, f"{stem}_beh.tsv")) != drawn:
        problems.append(f"{stem}_beh.tsv: {len(rows)} questions, the journal has {drawn}")
    wanted = {task.kinds[kind]: count for kind, count in kinds.items() if kind in task.kinds}
    wanted["trial"] = kinds[task.shown]
    counts = Counter(row["trial_type"] for row in _rows(tree, f"{stem}_events.tsv"))
    problems += [
        f"{stem}_events.tsv: {counts[name]} rows of {name}, the journal has {count}"
        for name, count in sorted(wanted.items())
        if counts[name] != count
    ]
    return problems


def check_people(tree: Tree, sessions: Sequence[tuple[str, str]]) -> list[str]:
    """participants.tsv and sessions.tsv against the session folders (sub-…, ses-…)."""
    problems = _compare(
        "participants.tsv", _ids(tree, "participants.tsv"), [s[0] for s in sessions]
    )
    folders = [name.split("/")[0] for name in tree.names() if name.startswith("sub-")]
    problems += _compare("participants.tsv", _ids(tree, "participants.tsv"), folders)
    for participant in sorted({s[0] for s in sessions}):
        name = f"{participant}/{participant}_sessions.tsv"
        own = [s[1] for s in sessions if s[0] == participant]
        problems += _compare(name, _ids(tree, name), own)
    return sorted(set(problems))


def _compare(name: str, listed: Iterable[str], there: Iterable[str]) -> list[str]:
    listed, there = set(listed), set(there)
    return [
        f"{name}: {folder} is listed, but has no folder" for folder in sorted(listed - there)
    ] + [f"{name}: {folder} has a folder, but is not listed" for folder in sorted(there - listed)]


def _ids(tree: Tree, name: str) -> list[str]:
    return [next(iter(row.values())) for row in _rows(tree, name)]


def _rows(tree: Tree, name: str) -> list[dict[str, str]]:
    """The rows of a table; none when it is missing, which the manifest's check says."""
    if not tree.has(name):
        return []
    header, *lines = tree.read(name).decode("utf-8", "replace").splitlines()
    names = header.split("\t")
    return [dict(zip(names, line.split("\t"), strict=False)) for line in lines]


LARGEST = 2**32 - 8
"""Bytes: more cannot be said in the header of a WAV file."""
_CHUNK = 1 << 20
"""Frames that are read at once."""
TAIL_S = 5.0
"""Sound beyond the last block; more than this was not lost in a crash, blocks are missing."""


def check_sound(
    record: Record, file: AudioFile, silent: Ranges = ()
) -> tuple[list[str], list[str]]:
    """Problems and notes about one sound file of a record. silent: its redacted frames."""
    problems: list[str] = []
    notes: list[str] = []
    try:
        size = record.tree.size(file.file)
        with record.tree.open(file.file) as stream:
            header = stream.read(HEADER_BYTES)
            problems += _blocks(stream, file, silent)
    except (OSError, KeyError):
        return ["missing"], []
    except RecordError as error:
        return [*problems, error.what], []
    if not HEADER_BYTES <= size < LARGEST:
        return [f"it has {size} bytes, which is impossible for a sound file of labapp"], []
    for more, remarks in (_header(header, file, size), _end(file, size, running=record.running)):
        problems += more
        notes += remarks
    if reduced := sum(_overlaps(silent, block.first_frame, block.frames) for block in file.blocks):
        notes.append(
            f"{reduced} of its {len(file.blocks)} blocks contain redacted sound, which is "
            "silent; their hashes in the journal are those of the recording"
        )
    if old := sum(method(block) == "CRC-32" for block in file.blocks):
        notes.append(
            f"{old} of its {len(file.blocks)} blocks were written by an earlier version, with a "
            "CRC-32, which detects accidental changes, but not deliberate ones"
        )
    return problems, notes


def _overlaps(silent: Ranges, first: int, end: int) -> bool:
    return any(begin < end and first < stop for begin, stop in silent)


def _silent_where_due(stream: IO[bytes], first: int, end: int, silent: Ranges) -> bool | None:
    """Whether redacted frames of a block are zeros; None if the file ends before the block. The
    stream stands at the block."""
    for at in range(first, end, _CHUNK):
        data = stream.read(min(_CHUNK, end - at) * FRAME_BYTES)
        if len(data) < min(_CHUNK, end - at) * FRAME_BYTES:
            return None
        for begin, stop in silent:
            if data[max(0, begin - at) * FRAME_BYTES : max(0, stop - at) * FRAME_BYTES].strip(
                b"\0"
            ):
                return False
    return True


def _blocks(stream: IO[bytes], file: AudioFile, silent: Ranges) -> Iterator[str]:
    """What is wrong with the sound that blocks cover; the stream stands behind the header."""
    expected = 0
    for block in file.blocks:
        start, end = (frame / file.nominal_rate for frame in (block.first_frame, block.frames))
        if block.first_frame != expected or block.frames <= block.first_frame:
            yield f"the journal has no block that begins at {expected / file.nominal_rate:.1f} s"
            return
        expected = block.frames
        if _overlaps(silent, block.first_frame, block.frames):
            right = _silent_where_due(stream, block.first_frame, block.frames, silent)
            if right is False:
                yield f"the sound from {start:.1f} to {end:.1f} s is redacted, but not silent"
                continue
        else:
            right = fits(stream, block)
        if right is None:
            yield f"it is cut off at {start:.1f} to {end:.1f} s"
            return
        if not right:
            yield f"the sound from {start:.1f} to {end:.1f} s was changed ({method(block)})"


def _header(header: bytes, file: AudioFile, size: int) -> tuple[list[str], list[str]]:
    """The 44 bytes before the sound. While the file is written they are brought up to date once a
    second; after a crash they may be older, or never have reached the disk."""
    data_bytes = size - HEADER_BYTES
    if header == wav_header(file.nominal_rate, data_bytes):
        return [], []
    if len(header) == HEADER_BYTES and not file.stopped:
        (stated,) = struct.unpack("<I", header[-4:])
        older = stated <= data_bytes and header == wav_header(file.nominal_rate, stated)
        if older or not header.strip(b"\0"):
            return [], ["its header is older than its last sound, as happens after a crash"]
    return ["its header does not match its length and format"], []


def _end(file: AudioFile, size: int, *, running: bool) -> tuple[list[str], list[str]]:
    """What lies behind the last block."""
    frames, half = divmod(max(0, size - HEADER_BYTES), FRAME_BYTES)
    beyond = frames - file.frames
    seconds = f"{beyond / file.nominal_rate:.1f} s of sound"
    if file.stopped_at is not None and (half or frames != file.stopped_at):
        more = " and a half" if half else ""
        return [f"it has {frames} frames{more}, but had {file.stopped_at} when it was closed"], []
    if running or (beyond <= 0 and not half):
        return [], []
    if beyond > TAIL_S * file.nominal_rate:
        return [f"{seconds} are after the last block of the journal"], []
    covered = "its last second was not yet covered by a hash"
    return [], [f"{seconds} are after the last block: {covered}"]


MODELS = f"{SOURCEDATA}/models"


def check_manifest_facts(
    facts: Mapping[str, Any], sessions: Sequence[Mapping[str, Any]]
) -> list[str]:
    """The manifest's facts against each session.json; no session, no comparison."""
    wanted: dict[str, Any] = {"bundle_version": BUNDLE_VERSION}
    if sessions:
        wanted["bundle_version"] = max(session["bundle_version"] for session in sessions)
        wanted["study"] = sessions[0].get("study")
        wanted["deidentified"] = any(session.get("deidentified") for session in sessions)
        if any(session.get("sound") for session in sessions):
            wanted["sound"] = True
    return [
        f"says {name} {facts.get(name)!r}, but the sessions say {value!r}"
        for name, value in wanted.items()
        if facts.get(name) != value
    ]


def check_session_facts(facts: Mapping[str, Any], record: Record) -> list[str]:
    """session.json against the journal it describes."""
    wanted = {
        "study": record.study,
        "state": record.outline.state,
        "deidentified": record.redacted,
        "events": len(record.rows),
        "head": record.rows[-1].hash,
        "chain": "made at export" if record.redacted else "of the recording",
    }
    problems = [
        f"{SESSION}: it says {name} {facts.get(name)!r}, but the journal says {value!r}"
        for name, value in wanted.items()
        if name not in ("events", "head") and facts.get(name) != value
    ]
    if (facts.get("events"), facts.get("head")) != (wanted["events"], wanted["head"]):
        problems.append(f"{JOURNAL_PARQUET}: it does not end where the session ended")
    return problems


def check_session_files(facts: Mapping[str, Any], record: Record) -> list[str]:
    """Files in the session's folder that no export puts there, and annotations that are missing."""
    own = {SESSION, JOURNAL_PARQUET, ENVIRONMENT}
    annotations = facts.get("annotations")
    stated = {f"{ANNOTATIONS}/{name}" for name in annotations or ()}
    own |= stated
    if facts.get("sound"):
        own |= {CLOCK_FIT, *(sound.file for sound in record.audio)}
    names = Counter(record.tree.names())
    lost = [f"{name}: missing" for name in sorted(stated - names.keys())]
    lost += [
        f"{name}: there are two copies, as WAV and as FLAC" for name in names if names[name] > 1
    ]
    return lost + [
        f"{name}: not mentioned in the journal" if name.startswith(f"{AUDIO}/") else
        f"{name}: not part of a session"
        for name in names
        if name not in own and not name.startswith((f"{STUDY}/", f"{STIMULI}/"))
    ]  # fmt: skip


@dataclass(frozen=True)
class SessionCards:
    """What a session of a bundle says of its models. prefix: its folder; facts: its session.json;
    hashes, decoders, weights: of its models, by their ids."""

    name: str
    prefix: str
    facts: Mapping[str, Any]
    hashes: Mapping[str, str]
    decoders: Collection[str]
    weights: Mapping[str, str | None]


def check_cards(tree: Tree, sessions: Sequence[SessionCards]) -> tuple[int, list[str]]:
    """How many cards of models the bundle has, and what is wrong with them.

    A decoder's card must have the hash that the journal noted when it was warmed up, a classifier's
    the hash of the weights that were planned with; a card must be one that a session includes.
    """
    problems: list[str] = []
    named: set[str] = set()
    for session in sessions:
        cards = session.facts.get("model_cards")
        cards = cards if isinstance(cards, Mapping) else {}
        hashes, decoders, weights = session.hashes, session.decoders, session.weights
        for model in sorted({*decoders, *weights} | cards.keys()):
            if model not in decoders and model not in weights:
                problems.append(f"{session.name}: its plan does not mention the model {model}")
                continue
            file = card.CARD if model in decoders else classifier_card.CARD
            name = f"{MODELS}/{model}/{file}"
            if cards.get(model, ABSENT) != "included":
                continue
            named.add(name)
            if not tree.has(name):
                problems.append(f"{name}: missing")
                continue
            content = tree.read(name)
            if model in decoders:
                right = not hashes.get(model) or sha256(content).hexdigest() == hashes[model]
            else:
                stated = re.search(rb"^weights_sha256: ['\"]?([0-9a-f]{64})", content, re.MULTILINE)
                right = (stated[1].decode() if stated else "") == weights[model]
            if not right:
                problems.append(f"{name}: not the card of the model that {session.name} used")
    there = {name for name in tree.names() if name.startswith(f"{MODELS}/")}
    problems += [f"{name}: not mentioned in any session's plan" for name in sorted(there - named)]
    return len(there & named), problems


_OWN = frozenset({JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm", LOCK, ENVIRONMENT})
_UNFINISHED = re.compile(
    rf"(environment|journal)\.partial(-wal|-shm|-journal)?|{STIMULI}/\..+-[0-9a-f]{{32}}"
)
"""Files that a run was writing when it was killed; another run writes its own."""
_SOUND = re.compile(rf"{AUDIO}/segment-[0-9]{{2,}}(-[0-9]+)?\.wav")
_NO_SOUND = 44
"""Bytes of a sound file that was just made: a header alone. A run that is killed then has not told
the journal of it."""
_DAMAGED = f"{STIMULI}/.damaged-"
_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


def check_folder(record: Record) -> tuple[list[str], list[str]]:
    """Problems and notes about the files of a session folder, each by its name.

    The folder holds the files of a session and nothing besides. Here only the places of pictures
    and of the study's files count; other checks read them one by one. Links, pipes and devices are
    no part of a session: its files are its own.
    """
    problems, notes = [], []
    sounds = {sound.file for sound in record.audio}
    folder = Path(record.source)
    for name in FolderTree(folder).names():
        status = (folder / name).lstat()
        odd = next((what for is_kind, what in _KINDS if is_kind(status.st_mode)), "")
        if odd:
            problems.append(f"{name}: {odd}, but a session contains only its own files")
        elif name in _OWN or name in sounds:
            continue
        elif _UNFINISHED.fullmatch(name) or (
            _SOUND.fullmatch(name) and status.st_size <= _NO_SOUND
        ):
            if not record.running:
                notes.append(f"{name}: left behind by a run that was killed while writing it")
        elif name.startswith(_DAMAGED):
            notes.append(
                f"{name}: a damaged picture that was put aside when the session was resumed"
            )
        elif name.startswith(f"{STIMULI}/."):
            problems.append(f"{name}: not mentioned in the journal")
        elif not name.startswith((f"{STUDY}/", f"{STIMULI}/")):
            problems.append(f"{name}: not part of the session")
    return problems, notes


def check_branches(record: Record) -> list[str]:
    """The first part that was shown or left out against its condition (`only_if`), in words.
    Nothing is said of a session without conditions, of a study that cannot be read, and of a
    de-identified copy, which lacks answers."""
    if record.redacted or not any(row.get("only_if") for row in record.planned.plan):
        return []
    with suppress(LabappError):
        machine = machine_of(_load_study(record), record.planned, {})
        state = machine.initial()
        for event, payload in record.payloads():
            if isinstance(payload, PartStarted | PartLeftOut):
                condition = machine.parts[payload.index].only_if
                if holds(condition, state.answers) != isinstance(payload, PartStarted):
                    what = f"event {event.seq} ({payload.kind}) of {event.part_id}"
                    return [
                        f"{what} contradicts the plan, which has it only if {describe(condition)}"
                    ]
            state = machine.apply(state, event, payload)
    return []


def _load_study(record: Record) -> LoadedStudy:
    """The study as the session had it. Raises LabappError."""
    below = record.tree.below(STUDY)
    with TemporaryDirectory(
        prefix=leftovers.prefix("verify"), ignore_cleanup_errors=True
    ) as folder:
        for name in below.names():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(below.read(name))
        studies = study_files_of(below.names())
        if len(studies) != 1:
            raise RecordError("The session has no copy of its study file.")
        return loading.load(Path(folder) / studies[0], record.planned.language, recorded=True)
