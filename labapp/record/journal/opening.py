"""Opening what was recorded: a session folder, a bundle, or a bundle in a zip archive.

Sessions and bundles as text and plain values, for the command line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.base.clock import NS
from labapp.base.errors import RecordError
from labapp.base.naming import natural
from labapp.base.reading import archives, files
from labapp.base.reading.values import json_value
from labapp.record.events import Event
from labapp.record.events.lifecycle import ParticipantSimulated
from labapp.record.journal import layout
from labapp.record.journal.decisions import Decision, Move, Tags, Withdrawal, withdrawals
from labapp.record.journal.flac import FLAC, FlacTree
from labapp.record.journal.layout import FolderTree, Tree, ZipTree
from labapp.record.journal.merged import Merged
from labapp.record.journal.read import is_locked, read_rows, readable
from labapp.record.journal.record import Record, brief_kinds
from labapp.record.journal.sessions import SessionSummary, sessions_in

LARGEST_JOURNAL = 256 * files.MIB
"""Bytes of a journal in a bundle, packed; that of an hour has one or two MiB."""


def open_record(path: Path) -> Record:
    """The one session at `path`: a session folder, or a bundle that holds exactly one.

    Raises RecordError; for a bundle of several sessions use `open_records`.
    """
    records = open_records(path)
    if len(records) != 1:
        names = ", ".join(str(record.name) for record in records)
        raise RecordError(
            f"{path} contains {len(records)} sessions ({names}), not one.",
            todo="Use a command that takes bundles of several sessions.",
        )
    return records[0]


def open_records(path: Path) -> list[Record]:
    """Every session at `path`, in the order of their names. Raises RecordError."""
    return list(iter_records(path))


def iter_records(path: Path) -> Iterator[Record]:
    """As `open_records`, with one session in memory at a time."""
    return (place.open() for place in session_places(path))


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """Where one session lies. prefix: its folder in the bundle at `path`; empty if `path` is a
    session folder."""

    path: Path
    prefix: str = ""

    @property
    def name(self) -> str:
        """For messages: of the session folder or of the bundle."""
        return self.path.name

    def open(self) -> Record:
        """The session. Raises RecordError when it cannot be read."""
        if not self.prefix:
            return _open_folder(self.path)
        tree = bundle_tree(self.path)
        if tree is None:
            raise RecordError(
                f"{self.path} is not a bundle (or no longer is).",
                todo="Check that it still exists.",
            )
        return read_bundled_record(tree.below(self.prefix), f"{self.path}: {self.prefix}")


def session_places(path: Path) -> list[SessionPlace]:
    """Where the sessions at `path` lie, in the order of their names; nothing of them is read yet.

    Raises RecordError for a bundle without a session.
    """
    tree = bundle_tree(path)
    if tree is None:
        return [SessionPlace(path)]
    prefixes = session_prefixes(tree)
    if not prefixes:
        raise RecordError(
            f"The bundle {path} contains no session.", todo="Export it again, or use another copy."
        )
    return [SessionPlace(path, prefix) for prefix in prefixes]


def brief_record(path: Path) -> Record:
    """A session folder with only the rows of its outline: whose it is, and how it ended."""
    return _open_folder(path, brief_kinds())


def _open_folder(path: Path, kinds: Sequence[str] | None = None) -> Record:
    name = layout.FolderName.parse(path.resolve().name) or layout.FolderName.parse(path.name)
    if name is None or not files.is_folder(path):
        what = "is neither a session folder nor a bundle"
        what = what if files.exists(path) else "does not exist"
        raise RecordError(
            f"{path} {what}.",
            todo="Give a session folder (sub-…_ses-…_…), or a bundle made by `labapp export`.",
        )
    running = is_locked(path)
    rows = read_rows(path, kinds)
    return Record("session", str(path), name, FolderTree(path), rows, running)


def is_session(path: Path) -> bool:
    """Whether `path` looks like a session folder."""
    return (
        files.is_file(path / layout.JOURNAL)
        and layout.FolderName.parse(path.resolve().name) is not None
    )


def _looks_like_session(path: Path) -> bool:
    """Whether a folder is called like a session: one without a journal is told when it is opened,
    and not passed over. One that holds the annotations of a session is known by what is in it, for
    a study may be called `annotations`, too."""
    if not files.is_folder(path) or layout.FolderName.parse(path.name) is None:
        return False
    return path.parent.name != layout.ANNOTATIONS or not all(
        child.name in layout.ANNOTATION_FILES or child.name.startswith(".")
        for child in path.iterdir()
    )


def places(path: Path) -> list[Path]:
    """The sessions and bundles at a path: itself, or those in a folder of sessions (a study under
    the data root, the data root itself), or of bundles; itself if there is nothing else to try.
    """
    if not files.is_folder(path) or is_session(path) or bundle_tree(path) is not None:
        return [path]
    inside = [
        folder
        for pattern in ("*", "*/*")
        for folder in sorted(path.glob(pattern), key=natural)
        if is_session(folder) or _looks_like_session(folder)
    ]
    return inside or [child for child in sorted(path.iterdir()) if _is_bundle(child)] or [path]


def _is_bundle(path: Path) -> bool:
    return (files.is_folder(path) or path.suffix == ".zip") and bundle_tree(path) is not None


def bundle_tree(path: Path) -> Tree | None:
    """The root of the bundle at `path`, or None when there is no bundle."""
    if files.is_folder(path):
        return FolderTree(path) if files.is_folder(path / layout.SOURCEDATA) else None
    if not files.is_file(path):
        return None
    try:
        with archives.archive(path) as archive:
            archives.refuse_entries(archive)
            names = archive.namelist()
    except (OSError, ValueError) as error:
        raise RecordError(
            f"{path} is not a bundle: it is not a complete zip archive made by labapp ({error}).",
            safe="Nothing was unpacked from it.",
            todo="Give the folder of a session, a study or a bundle, or a bundle's .zip file.",
        ) from error
    roots = {name.split(layout.SOURCEDATA)[0] for name in names if f"{layout.SOURCEDATA}/" in name}
    return ZipTree(path, min(roots, key=len)) if roots else None


def session_prefixes(tree: Tree) -> list[str]:
    """Folders of the sessions in a bundle, for example `sourcedata/labapp/sub-P01/ses-1`."""
    return tree.folders(f"{layout.SOURCEDATA}/sub-*/*")


def read_bundled_record(tree: Tree, source: str) -> Record:
    """One session of a bundle; tree: its folder under sourcedata. Raises RecordError."""
    facts = session_facts(tree, source)
    name = layout.FolderName.parse(str(facts["folder"]))
    if name is None:
        raise _not_ours(source, "names no session folder")
    from labapp.record.journal.arrow import rows_of

    if facts["bundle_version"] == layout.FLAC_BUNDLE_VERSION:
        tree = FlacTree(tree, f"{layout.AUDIO}/")
    content = tree.read(layout.JOURNAL_PARQUET, LARGEST_JOURNAL)
    rows = rows_of(content, f"{source}/{layout.JOURNAL_PARQUET}")
    left = str(facts.get("withdrawn", ""))
    tagged = Tags.of(facts)
    return Record(
        "bundle",
        source,
        name,
        tree,
        rows,
        bundled_withdrawal=left,
        bundled_decision=Decision.of(facts.get("decision")),
        bundled_move=Move.of(facts.get("move")),
        bundled_tags=() if tagged is None else tagged.words,
        bundled_merged=_merged(facts, source),
        deidentified=bool(facts.get("deidentified")),
        dates_moved=facts.get("dates") == layout.DATES_MOVED,
    )


def _merged(facts: Mapping[str, object], source: str) -> tuple[Merged, ...]:
    entries = facts.get("merged", [])
    try:
        return tuple(map(Merged.of, entries if isinstance(entries, list) else [entries]))
    except ValueError as error:
        raise _not_ours(source, f"is damaged (merged: {error})") from error


def session_facts(tree: Tree, source: str) -> dict[str, object]:
    """session.json of a bundled session. Raises RecordError when it is not one of ours."""
    try:
        facts = json_value(tree.read(layout.SESSION))
        version = facts["bundle_version"]
    except (ValueError, KeyError, TypeError) as error:
        raise _not_ours(source, f"is damaged ({error})") from error
    sounds = {layout.BUNDLE_VERSION: None, layout.FLAC_BUNDLE_VERSION: FLAC}
    if version not in sounds or "folder" not in facts:
        raise _not_ours(
            source,
            f"has version {version}, but this version of labapp reads "
            f"{', '.join(map(str, sounds))}",
        )
    if (sound := facts.get("sound_format")) != sounds[version]:
        raise _not_ours(source, f"has version {version}, but its sound_format is {sound!r}")
    return dict(facts)


def _not_ours(source: str, why: str) -> RecordError:
    return RecordError(
        f"{layout.SESSION} of {source} {why}.",
        safe="It was only read; nothing was changed.",
        todo="Update labapp, or export the session again.",
    )


def find_withdrawn(sessions: Iterable[Path]) -> dict[Path, list[Withdrawal]]:
    """Who withdrew from each study of which all other sessions were given, by the study's folder.
    sessions: the session folders that were given."""
    given = {path.resolve() for path in sessions}
    result: dict[Path, list[Withdrawal]] = {}
    for folder in {path.parent for path in given}:
        withdrew = withdrawals(folder)
        whole = (path for path in sessions_in(folder) if is_session(path))
        if all(path in given or path.name in withdrew for path in whole):
            result[folder] = list(withdrew.values())
    return result


def count_withdrawn(bundles: Iterable[Path]) -> int:
    """How many people withdrew from a study before these bundles of it were made, by what the
    bundles say. Bundles that share a session are of the same people: the largest number counts."""
    groups: list[tuple[set[str], int]] = []
    for bundle in dict.fromkeys(bundles):
        tree = bundle_tree(bundle)
        assert tree is not None  # sessions of it were read
        sessions = set(session_prefixes(tree))
        number = _read_withdrawn_count(tree, bundle)
        same = [group for group in groups if group[0] & sessions]
        groups = [group for group in groups if group not in same]
        sessions.update(*(each for each, _ in same))
        groups.append((sessions, max(number, *(most for _, most in same), 0)))
    return sum(number for _, number in groups)


def _read_withdrawn_count(tree: Tree, bundle: Path) -> int:
    name = f"{layout.SOURCEDATA}/{layout.MANIFEST}"
    if not tree.has(name):
        return 0
    try:
        number = json_value(tree.read(name)).get("withdrawn", 0)
        if isinstance(number, int) and number >= 0:
            return number
        why = f"withdrawn is {number!r}, which is not a number of people"
    except (ValueError, AttributeError) as error:
        why = f"it is damaged ({error})"
    raise RecordError(
        f"{name} of {bundle}: {why}.",
        safe="It was only read; nothing was changed.",
        todo="Use another copy of the bundle, or export the sessions again.",
    )


def duration(seconds: float) -> str:
    """Hours, minutes and seconds: 1:02:40, or 23:41."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def line(session: SessionSummary) -> str:
    """A session in one line: name, state, length, sound, exports, or why it is damaged."""
    state = session.state.replace("_", " ")
    if session.problem:
        return f"{session.id}  {state}: {session.problem}"
    if session.state == "complete" and session.not_counted:
        state = f"{state}, does not count ({', '.join(session.not_counted)})"
    sound = f"sound, {session.lost_s:.1f} s lost" if session.sound else "no sound"
    exported = ", exported" if session.exported else ""
    length = duration(session.length_s)
    left = {"keep": ", withdrawn (data kept)", "delete": ", withdrawn (data to be deleted)"}
    decision = (
        f", {session.decision} by hand: {session.decision_reason}" if session.decision else ""
    )
    moved = ", a pilot" if session.pilot else ""
    if session.moved and not session.pilot:
        moved = f", moved from the pilots: {session.moved}"
    words = [f"phase {session.phase}"] if session.phase else []
    words += [f"tag {tag}" for tag in session.tags] + ["simulated"] * session.simulated
    moved = "".join(f", {word}" for word in words) + moved
    end = f"{moved}{exported}{decision.rstrip(': ')}{left.get(session.withdrawn, '')}"
    return f"{session.id}  {session.study}  {state}, {length}, {sound}{end}"


def describe(path: Path) -> list[dict[str, Any]]:
    """What a session, or each session of a bundle, holds. Raises RecordError."""
    result = []
    for record in open_records(path):
        with readable(record.source):
            result.append(_facts(record))
    return result


def _facts(record: Record) -> dict[str, Any]:
    planned = record.planned
    events = list(record.events())
    unblinded = record.outline.unblinded_ns
    return {
        "id": f"sub-{planned.participant}_ses-{planned.session}",
        "study": planned.study,
        "study_version": planned.study_version,
        "participant": planned.participant,
        "session": planned.session,
        "state": record.state,
        "withdrawn": record.withdrawn or None,
        "decision": record.decision.verdict if record.decision else None,
        "decision_reason": record.decision.reason if record.decision else None,
        "phase": planned.phase or None,
        "tags": list(record.tags),
        "simulated": any(event.kind == ParticipantSimulated.kind for event in events),
        "pilot": record.pilot,
        "moved": record.move.reason if record.move else None,
        "length_s": round(record.working_s, 3),
        "segments": len(record.segments),
        "events": len(events),
        "assignment": planned.assignment,
        "blind": record.outline.blind,
        "unblinded_s": None if unblinded is None else unblinded / NS,
        "questions": dict(_outcomes(events)),
        "notes": sum(event.kind == "note.added" for event in events),
        "flags": sum(event.kind == "flag.added" for event in events),
        "alarms": sum(event.kind == "alarm.raised" for event in events),
        "sound_files": len(record.audio),
        "lost_s": round(record.outline.lost_s, 3),
        "redacted": record.redacted,
    }


def _outcomes(events: Sequence[Event]) -> Counter[str]:
    """How questions ended, each by its last attempt; a stage that began again asks anew."""
    result: dict[tuple[str | None, int | None], str] = {}
    for event in events:
        if event.kind == "part.restarted":
            result = {key: outcome for key, outcome in result.items() if key[0] != event.part_id}
        elif event.kind == "trial.ended":
            result[event.part_id, event.trial] = str(event.payload["outcome"])
    return Counter(result.values())


def text(facts: Sequence[dict[str, Any]]) -> list[str]:
    """Facts as aligned lines, an empty one between sessions; what is not known has no line."""
    blocks = [
        [f"{key:15} {_value(value)}" for key, value in fact.items() if value is not None]
        for fact in facts
    ]
    return "\n\n".join("\n".join(block) for block in blocks).splitlines()


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list | tuple):
        return " → ".join(str(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
