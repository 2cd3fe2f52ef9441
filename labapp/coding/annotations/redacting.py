"""Redacting a stretch of a session, and deleting its annotations when a participant withdraws.

The transcript is written again without any text that was replaced before, and remarks on marks in
the stretch are taken out of the raters' files; each file ends with a line that says so. The sound
as it was recorded stays in the session's folder, which is never touched; whatever leaves the lab is
read through `redact_tree`, which is silent there.

What left the lab of a study's annotations: `annotations/packs.jsonl`, one line per file.

Packs for raters, quotes, clips of sound: what makes such a file writes it down here first, so that
a withdrawal can say where something of a session still lies. Bundles are in `exports.jsonl`.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from filelock import FileLock, Timeout

from labapp.base.errors import AnnotationError, DataFolderError, RecordError, SessionBusy
from labapp.base.reading import files
from labapp.coding.annotations import ledger
from labapp.coding.annotations import marks as marks_file
from labapp.coding.annotations import settlements as settlements_file
from labapp.coding.annotations import texts as texts_file
from labapp.coding.annotations.codebook import quoting
from labapp.coding.annotations.ledger import (
    IMPORTED,
    Ledger,
    Line,
    Rewritten,
    body_of,
    new_id,
    rewrite,
)
from labapp.coding.annotations.marks import TOMBSTONE
from labapp.coding.annotations.model import (
    ANNOTATIONS,
    LINES,
    RATERS,
    TRANSCRIPT,
    UNITS,
    Redaction,
    Unit,
    annotations_folder,
)
from labapp.coding.annotations.settlements import SETTLEMENTS
from labapp.coding.annotations.store import annotations_of, open_texts
from labapp.coding.annotations.texts import (
    TextsFold,
    find_redacted_frames,
    is_redacted,
    read_anchored_redactions,
    select_visible_texts,
)
from labapp.coding.annotations.video_files import videos_of
from labapp.record.audio.alignment import fit_segment
from labapp.record.audio.capture import FRAME_BYTES, HEADER_BYTES
from labapp.record.journal import anchor
from labapp.record.journal.layout import Tree
from labapp.record.journal.opening import open_record
from labapp.record.journal.record import Record
from labapp.record.journal.sessions import exports_of

HANDED_OUT = "packs.jsonl"
PACK = "pack"
QUOTES = "quotes"
CLIP = "clip"


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A file that was made of sessions.

    Attributes
    ----------
    kind : `pack`, `quotes`, `clip`, `still` or another word for what it is.
    sessions : the names of the folders of the sessions that something of is in it.
    facts : more about it, such as the rater of a pack.
    """

    kind: str
    file: str
    sessions: tuple[str, ...]
    utc: str
    facts: Mapping[str, Any] = field(default_factory=dict)


def session_folders(*records: Record) -> list[Path]:
    """The folders of sessions among records, which their studies are told of; bundles have none."""
    return [Path(record.source).absolute() for record in records if record.kind == "session"]


def note_handed_out(
    study: Path, kind: str, file: Path, sessions: Iterable[str], **facts: Any
) -> None:
    """Write down that a file is about to be made; on the disk before this returns. sessions: the
    names of the folders of its sessions. Raises AnnotationError if it cannot be written down; then
    nothing may be handed out, for a withdrawal would not know."""
    body = {"file": str(file.absolute()), "sessions": sorted(set(sessions)), **facts}
    with Ledger(study / ANNOTATIONS / HANDED_OUT) as log:
        log.append(f"{kind}.made", body)
        log.flush()


def read_handed_out(study: Path) -> list[HandedOut]:
    """What was handed out of a study, oldest first. Raises AnnotationError: the list cannot be
    read, or a line of it is damaged."""
    path = study / ANNOTATIONS / HANDED_OUT
    result = []
    for line in ledger.read(path).lines:
        body = dict(line.body)
        file, sessions = body.pop("file", None), body.pop("sessions", None)
        if not isinstance(file, str) or not isinstance(sessions, list):
            raise AnnotationError(
                f"{path}, line {line.seq}: it names neither a file nor sessions.",
                todo="Restore a copy of the file.",
            )
        kind = line.kind.removesuffix(".made")
        result.append(HandedOut(kind, file, tuple(map(str, sessions)), line.utc, body))
    return result


def holders(study: Path, session: str) -> list[HandedOut]:
    """What was handed out of a session. Raises AnnotationError as `read_handed_out`."""
    return [entry for entry in read_handed_out(study) if session in entry.sessions]


Times = Mapping[str, tuple[int, int]]
"""Session time of units, by their ids."""


@dataclass(frozen=True)
class RedactionReport:
    """What a redaction did.

    Attributes
    ----------
    texts : how many texts have fewer words now.
    memos : how many remarks and reasons were taken away.
    notes : notes that the moderator wrote down in that time: they stay in the journal.
    exported : bundles made before, which still hold what is redacted.
    handed_out : packs, quotes, clips and sound made before, likewise.
    codebooks : codebooks that quote what was said there.
    videos : videos of the session that were taken at that time: they are not changed.
    """

    redaction: Redaction
    texts: int
    memos: int
    notes: int
    exported: tuple[str, ...]
    handed_out: tuple[HandedOut, ...]
    codebooks: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The report for people."""
        begin, end = self.redaction.t0_ns / 1e9, self.redaction.t1_ns / 1e9
        gone = f"words of {_count(self.texts, 'text')}, {_count(self.memos, 'remark')}"
        lines = [
            f"Redacted from {begin:.3f} to {end:.3f} s: silent in every sound that is released.",
            f"Removed from the annotation files: {gone}.",
        ]
        if self.notes:
            lines.append(
                f"{_count(self.notes, 'note')} from the moderator at that time stay in the "
                "journal, which is never changed; de-identified copies withhold them."
            )
        if made := [*self.exported, *(f"{made.kind} {made.file}" for made in self.handed_out)]:
            lines.append(f"Made before, and not changed: {', '.join(made)}")
        if self.videos:
            lines.append(
                f"{', '.join(self.videos)} still contains picture and sound of this stretch. "
                "Bundles leave it out while something is redacted. To delete it: *Files*, "
                "*Videos…* on the Coding page (`labapp videos remove`)."
            )
        if self.codebooks:
            lines.append(
                f"These codebooks quote words from this stretch: {', '.join(self.codebooks)}. "
                "Remove the words from the codebook itself; *Codebook…* on the Coding page "
                "(`labapp code codebook STUDY --withhold`) removes all free text from the "
                "stored versions."
            )
        return lines


def redact(
    session: Path, t0_ns: int, t1_ns: int, by: str, replacement: str = ""
) -> RedactionReport:
    """Let neither sound nor words of a stretch leave the lab, and take the words out of its files.
    Raises SessionBusy: a window has annotations of the session open. AnnotationError: the stretch
    has no length, or a file cannot be read or written. What was begun goes on when it is called
    again with the same stretch.

    Parameters
    ----------
    session : the session's folder.
    t0_ns, t1_ns : session time.
    by : who redacts; a rater's name.
    replacement : what stands for the words.
    """
    session = session.absolute()
    refuse_open(session, "Nothing was redacted yet.", "Close the coding window, and then redact.")
    record = open_record(session)
    known = annotations_of(record)
    same = (r.id for r in known.redactions if (r.t0_ns, r.t1_ns) == (t0_ns, t1_ns))
    name = next(same, "") or new_id()
    redaction = Redaction(name, t0_ns, t1_ns, replacement or Redaction("", 0, 0).replacement)
    spoken = [
        known.texts[unit.id].text
        for unit in known.segmentation.units
        if unit.id in known.texts and is_redacted(unit.t0_ns, unit.t1_ns, (redaction,))
    ]
    with open_texts(session, by, record=record) as texts:
        texts.restore_redactions()
        texts.redact(redaction)
    count = _compact_texts(session, by, name)
    folder = annotations_folder(session)
    times = {unit.id: (unit.t0_ns, unit.t1_ns) for unit in known.segmentation.units}
    memos = 0
    for path in sorted((folder / RATERS).glob(f"*{LINES}")):
        if not path.name.startswith("."):
            memos += _take_out(path, "memo", marks_file.PUT, redaction, by, times)
    settled = folder / SETTLEMENTS
    memos += _take_out(settled, "reason", settlements_file.PUT, redaction, by, times)
    notes = sum(
        mark.tier in ("note", "deviation") and is_redacted(mark.t0_ns, mark.t1_ns, (redaction,))
        for mark in known.raters["moderator"].marks
    )
    return RedactionReport(
        redaction,
        count,
        memos,
        notes,
        exports_of(session),
        tuple(holders(session.parent, session.name)),
        tuple(quoting(session.parent, spoken)),
        _videos_of(record, redaction),
    )


def _videos_of(record: Record, redaction: Redaction) -> tuple[str, ...]:
    """The videos that were taken at the time of a stretch."""
    return tuple(
        placed.video.id
        for placed in videos_of(record)
        if placed.alignment.offset_s * 1e9 < redaction.t1_ns
        and redaction.t0_ns < (placed.alignment.offset_s + placed.video.duration_s) * 1e9
    )


def _compact_texts(session: Path, by: str, redaction: str) -> int:
    """Write the transcript anew with what holds now; how many texts lost words."""
    record = open_record(session)
    units, anchored = annotations_of(record).segmentation.units, read_anchored_redactions(record)
    changed = 0

    def compact(lines: Sequence[Line]) -> Rewritten:
        nonlocal changed
        left, changed = _compact_transcript(lines, {unit.id: unit for unit in units}, anchored)
        return left, (TOMBSTONE, {"by": by, "redaction": redaction, "texts": changed})

    rewrite(annotations_folder(session) / TRANSCRIPT, compact)
    return changed


def _compact_transcript(
    lines: Sequence[Line], units: Mapping[str, Unit], anchored: Sequence[Redaction]
) -> tuple[list[Line], int]:
    """The lines of a transcript that hold, without redacted words; how many texts lost words."""
    fold = TextsFold(anchored=anchored)
    last: dict[tuple[str, str], Line] = {}
    for line in lines:
        fold.apply(line)
        if line.kind == texts_file.PUT:
            last[(line.kind, str(line.body["unit"]))] = line
        elif line.kind == texts_file.REDACTED:
            last[(line.kind, str(line.body["id"]))] = line
        elif line.kind in (texts_file.OPENED, texts_file.RECOGNISED, TOMBSTONE, IMPORTED):
            last[(line.kind, str(line.seq))] = line
    shown = select_visible_texts(fold.texts, units, fold.sort_redactions())
    left: list[Line] = []
    changed = 0
    for line in sorted(last.values(), key=lambda line: line.seq):
        if line.kind == texts_file.PUT:
            unit = str(line.body["unit"])
            if unit not in shown:
                continue
            changed += shown[unit] != fold.texts[unit]
            line = line._replace(body=body_of(shown[unit]))
        elif line.kind == texts_file.REDACTED and line.body["id"] not in fold.redactions:
            continue
        left.append(line)
    return left, changed


def _take_out(path: Path, key: str, kind: str, redaction: Redaction, by: str, times: Times) -> int:
    """Empty a remark in all lines of what was ever in the stretch; how many things had one."""
    count = 0

    def empty_remarks(lines: Sequence[Line]) -> Rewritten | None:
        nonlocal count
        left, count = without_remarks(lines, key, kind, (redaction,), times)
        tombstone = {"by": by, "redaction": redaction.id, key: count}
        return (left, (TOMBSTONE, tombstone)) if count else None

    rewrite(path, empty_remarks)
    return count


def without_remarks(
    lines: Sequence[Line], key: str, kind: str, redactions: Sequence[Redaction], times: Times
) -> tuple[list[Line], int]:
    """Lines in which a remark on anything that was ever in a redacted stretch is empty, and how
    many things had one. key, kind: where the remark stands, and in which lines."""
    put = [line for line in lines if line.kind == kind]
    within = {str(line.body["id"]) for line in put if _is_within(line.body, redactions, times)}
    remarked = {str(line.body["id"]) for line in put if line.body.get(key)} & within
    left = [
        line._replace(body={**line.body, key: ""})
        if line.kind == kind and str(line.body["id"]) in remarked
        else line
        for line in lines
    ]
    return left, len(remarked)


def _is_within(body: Mapping[str, Any], redactions: Sequence[Redaction], times: Times) -> bool:
    """Whether a mark lies in a stretch, as it was given or as its unit lies now."""
    own = (int(body["t0_ns"]), int(body["t1_ns"]))
    stretches = {own, times.get(str(body.get("unit")), own)}
    return any(is_redacted(*stretch, redactions) for stretch in stretches)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def refuse_open(
    session: Path,
    safe: str = "Nothing was deleted yet.",
    todo: str = "Close the coding window, and withdraw the session again.",
) -> None:
    """Raises SessionBusy if a window has annotations of a session open: it would continue writing
    to files that are deleted or rewritten.

    Parameters
    ----------
    session : its folder, which need not exist any more.
    safe, todo : what is safe then, and what to do.
    """
    folder = annotations_folder(session)
    if not files.is_folder(folder):
        return
    for path in sorted(folder.rglob(".*.lock")):
        lock = FileLock(path, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise SessionBusy(
                f"The annotations of {session.name} are open in a window.", safe=safe, todo=todo
            ) from error
        except OSError:
            continue  # what cannot be locked is told when it is deleted
        lock.release()


Kind = Literal["units", "texts", "codes"]


def forget_annotations(session: Path) -> tuple[Kind, ...]:
    """Delete all units, texts and marks of a session, and its videos. Raises DataFolderError: not
    all of it could be deleted; calling it again goes on. Returns which of units, texts and codes
    there were."""
    folder = annotations_folder(session)
    if not files.exists(folder):
        return ()
    there: dict[Kind, bool] = {
        "units": files.exists(folder / UNITS),
        "texts": files.exists(folder / TRANSCRIPT),
        "codes": any((folder / RATERS).glob(f"*{LINES}")),
    }
    try:
        anchor.note_gone(session.absolute().parent, folder, "withdrawal")
        shutil.rmtree(folder)
    except OSError as error:
        raise DataFolderError(
            f"The annotations of {session.name} in {folder} could not all be deleted "
            f"({error.strerror or error}).",
            safe="The withdrawal is recorded.",
            todo="Close programs that have its files open, and withdraw the session again: it "
            "continues where it stopped.",
        ) from error
    return tuple(kind for kind, is_there in there.items() if is_there)


Ranges = tuple[tuple[int, int], ...]
"""Half-open, in order, apart from each other."""


def silent_frames(record: Record, redactions: Sequence[Redaction]) -> dict[str, Ranges]:
    """Which frames of which sound files of a session are redacted, by the files' names; its sound
    need not be there. Raises AnnotationError if a file has no place in time, so that nobody knows
    what of it is redacted."""
    if not redactions:
        return {}
    events = [row.event() for row in record.rows if row.kind.startswith("audio.")]
    silent: dict[str, Ranges] = {}
    for sound in record.audio:
        try:
            fit = fit_segment(events, sound.file)
        except RecordError as error:
            raise AnnotationError(
                f"Stretches of {record.name} are redacted, but {sound.file} has no place in "
                "time, so it is unclear which part of its sound they are.",
                safe="No sound was released.",
                todo="Export the session without its sound.",
            ) from error
        # What a crash left behind the last block is sound, too; no WAV file has 2**31 frames.
        longest = max(sound.frames, sound.stopped_at or 0, 2**31)
        if ranges := find_redacted_frames(longest, fit.offset_ns, fit.rate, redactions):
            silent[sound.file] = tuple(ranges)
    return silent


def redact_tree(record: Record, redactions: Sequence[Redaction]) -> Tree:
    """The files of a session as they may leave the lab. Raises AnnotationError as
    `silent_frames`."""
    silent = silent_frames(record, redactions)
    return RedactedTree(record.tree, silent) if silent else record.tree


@dataclass(frozen=True)
class RedactedTree:
    """The files of a tree, with zeros in the redacted frames of its sound files. tree: where they
    lie; silent: frames that are zeros, by the names of files."""

    tree: Tree
    silent: Mapping[str, Ranges]

    def names(self) -> list[str]:
        return self.tree.names()

    def folders(self, pattern: str) -> list[str]:
        return self.tree.folders(pattern)

    def has(self, name: str) -> bool:
        return self.tree.has(name)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        with self.tree.open(name) as stream:
            if name in self.silent:
                yield io.BufferedReader(_SilencedFile(stream, self.silent[name]))
            else:
                yield stream

    def read(self, name: str, largest: int = files.DOCUMENT) -> bytes:
        with self.open(name) as stream:
            return files.within(stream, largest)

    def size(self, name: str) -> int:
        return self.tree.size(name)

    def below(self, prefix: str) -> RedactedTree:
        stem = f"{prefix.strip('/')}/"
        below = {
            name.removeprefix(stem): ranges
            for name, ranges in self.silent.items()
            if name.startswith(stem)
        }
        return RedactedTree(self.tree.below(prefix), below)


class _SilencedFile(io.RawIOBase):
    """A WAV file of which some frames read as zeros."""

    def __init__(self, stream: IO[bytes], frames: Ranges) -> None:
        self._stream = stream
        self._bytes = [
            (HEADER_BYTES + begin * FRAME_BYTES, HEADER_BYTES + end * FRAME_BYTES)
            for begin, end in frames
        ]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        at = self._stream.tell()
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        for begin, end in self._bytes:
            first, last = max(begin - at, 0), min(end - at, len(data))
            if first < last:
                buffer[first:last] = bytes(last - first)
        return len(data)
