"""`labapp sessions verify`: whether a session or a bundle is, byte for byte, what was written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from labapp.annotations.redacted_sound import Ranges, silent_frames
from labapp.annotations.store import annotations_of, annotations_tree, is_annotated
from labapp.annotations.verifying import verify_annotations
from labapp.annotations.video_files import video_problems
from labapp.bids.archive import archive_problem, beside_top
from labapp.bids.facts_check import (
    check_cards,
    check_folder,
    check_manifest_facts,
    check_session_facts,
    check_session_files,
)
from labapp.bids.manifest import FileEntry, hash_stream, read_manifest
from labapp.bids.rebuild_check import check_rebuild, not_compared
from labapp.bids.sound_check import check_sound
from labapp.bids.stimuli_check import check_stimuli, split_manifests
from labapp.bids.tables_check import check_known, check_people, check_tables
from labapp.errors import AnnotationError, BundleError, RecordError
from labapp.events.lifecycle import EnvironmentRecorded
from labapp.journal.integrity import check_database, check_journal, check_rows
from labapp.journal.layout import ENVIRONMENT, JOURNAL, JOURNAL_PARQUET, MANIFEST, SOURCEDATA, STUDY
from labapp.journal.opening import (
    bundle_tree,
    bundled_record,
    open_record,
    session_facts,
    session_prefixes,
)
from labapp.journal.record import Record
from labapp.journal.tree import Tree, ZipTree
from labapp.parallel.long_work import gc_paused
from labapp.study.loading import files_digest

LIMITS = {
    "session": (
        "someone who computes all hashes again after a change, those of the anchor included",
        "an end that was cut off the journal of a session without an end",
    ),
    "bundle": (
        "somebody who computes the hashes, the manifest and all tables anew after a change",
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
            f"Not noticed would be: {'; '.join(LIMITS[self.kind])}. Nothing is sealed by a key."
        )
        return [*self.problems, *self.notes, *([limits] if self.ok else []), last]


def verify(path: Path) -> VerifyReport:
    """Check a session folder, a bundle, or a bundle in a zip archive.

    Damage is reported, not raised. Raises RecordError when `path` is neither.
    """
    tree = bundle_tree(path)
    if tree is not None:
        report = VerifyReport(path, "bundle")
        with gc_paused():
            _check_bundle(report, tree)
        return report
    report = VerifyReport(path, "session")
    _check_session(report, path)
    return report


def _check_session(report: VerifyReport, folder: Path) -> None:
    if not (folder / JOURNAL).is_file():
        open_record(folder)  # says what is wrong with the path
    with _reported(report):
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
        _note_state(report, record)
        _check_contents(report, record, "", sound=True)
        beside = verify_annotations(folder)
        report.problems += [each for each in beside.problems if each not in report.problems]
        report.notes += [each for each in beside.remarks if each not in report.notes]


def _note_state(report: VerifyReport, record: Record) -> None:
    if record.running:
        report.notes.append("The session is running: what was stored so far was checked.")
    elif record.state == "interrupted":
        report.notes.append(
            f"The session was interrupted: its journal stops at event {record.rows[-1].seq} "
            "without an end. `labapp sessions recover` makes it whole. Whether more was there and "
            "was taken away cannot be told."
        )
    elif record.segments and record.segments[-1].ended is None:
        report.notes.append("The session is over, but its last run came to no orderly end.")


def _check_events(report: VerifyReport, record: Record, journal: str, place: object) -> None:
    """One walk over the events: whether they are what was written, and all in a table. journal:
    the name of their file; place: of the session."""
    report.count("events", len(record.rows))
    unknown: list[str] = []
    report.problems += map(
        str,
        check_rows(record.rows, journal, lambda pairs: unknown.extend(check_known(record, pairs))),
    )
    if report.ok:  # of a damaged journal the damage is told already
        report.problems += [f"{place}: {what}" for what in unknown]


def _check_contents(report: VerifyReport, record: Record, place: str, *, sound: bool) -> None:
    """What session folders and bundles have in common; place: prefix of the files' names."""
    if labels := record.other_labels:
        report.problems.append(f"{place or record.name}: renamed; its journal {labels}")
    study, problems = split_manifests(record)
    report.problems += [f"{place}{STUDY}/{problem}" for problem in problems]
    if files_digest(study) != record.planned.study_sha256:
        report.problems.append(
            f"{place}{STUDY}: its files are not those the session was planned with"
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
    """environment.json must say what the journal says."""
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
            what = "the journal does not have; a run that ended at its start leaves one"
            report.notes.append(f"{name}: it has an entry of segment {segment} that {what}")
        else:
            report.problems.append(f"{name}: it has an entry that the journal does not have")


def _check_bundle(report: VerifyReport, tree: Tree) -> None:
    stated: dict[str, Any] = {}
    with _reported(report):
        stated = _check_manifest(report, tree)
    sessions: list[tuple[Record, dict[str, object]]] = []
    for prefix in session_prefixes(tree):
        with _reported(report):
            sessions.append(_check_bundled(report, tree, prefix))
    if stated:
        problems = check_manifest_facts(stated, [facts for _, facts in sessions])
        report.problems += [f"{SOURCEDATA}/{MANIFEST}: it {problem}" for problem in problems]
    with _reported(report):
        cards, problems = check_cards(tree, sessions)
        report.problems += problems
        if cards:
            report.count("model cards", cards)
    if unread := not_compared(stated):
        report.notes.append(unread)
        with _reported(report):
            for record, _ in sessions:
                report.problems += check_tables(tree, record)
            report.problems += check_people(tree, _labels(session_prefixes(tree)))
    elif report.ok:
        # Only now: of what was changed the file is named already.
        with _reported(report):
            files, problems = check_rebuild(tree, stated, sessions)
            report.problems += problems
            report.count("tables and texts made anew", files)
    if isinstance(tree, ZipTree):
        report.problems += beside_top(tree)
        if report.ok:
            # Only now: where a file was changed, that file is named instead.
            report.problems += archive_problem(tree)


@contextmanager
def _reported(report: VerifyReport) -> Iterator[None]:
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
        with _reported(report):
            _check_file(report, tree, file, listed[file])
    return facts


def _check_file(report: VerifyReport, tree: Tree, name: str, entry: FileEntry) -> None:
    with tree.open(name) as stream:
        digest = hash_stream(stream)
    if digest.size != entry.size:
        report.problems.append(f"{name}: {digest.size} bytes, {entry.size} were written")
    elif digest != entry:
        report.problems.append(f"{name}: changed since the export (SHA-256)")


def _check_bundled(
    report: VerifyReport, tree: Tree, prefix: str
) -> tuple[Record, dict[str, object]]:
    """Check one session of a bundle; the session and its session.json."""
    below = tree.below(prefix)
    facts = session_facts(below, prefix)
    record = bundled_record(below, prefix)
    report.count("sessions")
    journal = f"{prefix}/{JOURNAL_PARQUET}"
    _check_events(report, record, journal, f"{prefix}/")
    problems = [*check_session_facts(facts, record), *check_session_files(facts, record)]
    report.problems += [f"{prefix}/{problem}" for problem in problems]
    if prefix != f"{SOURCEDATA}/{record.name.bids}":
        report.problems.append(f"{prefix}: the session {record.name} lies in the folder of another")
    if record.audio and not facts.get("sound"):
        left = f"{len(record.audio)} of its sound files"
        report.notes.append(f"{prefix}: not in the bundle and not checked: {left}.")
    if facts.get("deidentified"):
        report.notes.append(f"{prefix}: de-identified; its hash chain was made at the export.")
    if record.state == "interrupted":
        report.notes.append(f"{prefix}: the session was interrupted and is not complete.")
    _check_contents(report, record, f"{prefix}/", sound=bool(facts.get("sound")))
    return record, facts


def _labels(prefixes: Sequence[str]) -> list[tuple[str, str]]:
    """(sub-…, ses-…) of each session folder."""
    return [(parts[-2], parts[-1]) for parts in (prefix.split("/") for prefix in prefixes)]
