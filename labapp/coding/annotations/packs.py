"""Packs: what a rater on another computer needs, and nothing that would unblind them.

A pack is the folder of a study in small: for each session the sound of the assigned stretches,
their units, their text and the codebooks, and who it is for in `pack.json`. Every pack is written
down in `packs.jsonl`. The journal of a session in it is a new one with the events of the sound
alone, so that a window on another computer plays and codes it like any session: no condition, no
outcome, no note and no answer is in it.

Marks that come back are checked, and merged into the rater's own files: lines that are there stay,
and what both have counts once.
"""

from __future__ import annotations

import hashlib
import shutil
import stat
import uuid
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import orjson

from labapp import __version__
from labapp.base import access, durable, leftovers
from labapp.base.clock import NS, FakeClock, utc_text
from labapp.base.errors import AnnotationError
from labapp.base.reading import archives, files
from labapp.base.reading.values import json_value
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import rounds as assignments_file
from labapp.coding.annotations import texts as texts_file
from labapp.coding.annotations import units as units_file
from labapp.coding.annotations.codebook import codebooks_of
from labapp.coding.annotations.ledger import (
    LARGEST,
    HeldFile,
    Line,
    as_bytes,
    body_of,
    fold_lines,
    lock_file,
    merge_lines,
    next_utc,
    parse,
    require_whole,
)
from labapp.coding.annotations.marks import OPENED, PUT, MarksFold
from labapp.coding.annotations.model import (
    ANNOTATIONS,
    LINES,
    RATERS,
    TRANSCRIPT,
    UNITS,
    Assignment,
    Mark,
    Redaction,
    Round,
    Unit,
    check_rater,
    rater_file,
)
from labapp.coding.annotations.redacting import (
    PACK,
    HandedOut,
    note_handed_out,
    read_handed_out,
    without_remarks,
)
from labapp.coding.annotations.rounds import ASSIGNED, ASSIGNMENTS, assignments_of_study
from labapp.coding.annotations.store import (
    AnnotatedSession,
    StudySessions,
    annotations_of,
    identity_of,
    study_sessions,
)
from labapp.coding.annotations.texts import join_ranges
from labapp.record.audio.capture import FRAME_BYTES, wav_header
from labapp.record.audio.recorded_sound import RecordedSound
from labapp.record.events import Payload, UnstampedEvent
from labapp.record.events.lifecycle import (
    SegmentEnded,
    SegmentStarted,
    SessionCompleted,
    SessionPlanned,
)
from labapp.record.events.registry import Source
from labapp.record.events.voice import AudioBlock, AudioStarted, AudioStopped
from labapp.record.journal.layout import AUDIO, JOURNAL, FolderTree, Tree, ZipTree, refuse_inside
from labapp.record.journal.layout import PACK as FILE
from labapp.record.journal.opening import open_record
from labapp.record.journal.read import payloads, read_rows
from labapp.record.journal.record import Record
from labapp.record.journal.write import Journal

FORMAT = 1
MARGIN_NS = NS // 2
"""So much sound before and after a stretch, for nobody begins to hear at its first sample."""
NOT_SHARED = "the participant did not agree to have it passed on"

Stretch = tuple[int, int]
Entries = list[tuple[str, Mapping[str, Any]]]
"""Lines of a file that are still to be numbered: their kinds and bodies."""


@dataclass(frozen=True)
class Pack:
    """A pack as it lies in a folder. id: by which it is known where it came from; sessions: the
    hash of the last event of each session's journal, by the names of the folders."""

    folder: Path
    id: str
    study: str
    rater: str
    round: str
    sessions: Mapping[str, str]


class PackedSession(NamedTuple):
    """A session in a pack.

    Attributes
    ----------
    units : how many are assigned.
    silent_because : why there is no sound; empty if there is.
    """

    name: str
    units: int
    sound: bool
    text: bool
    silent_because: str = ""


@dataclass(frozen=True)
class PackReport:
    """What a pack holds. sessions: in the order of their starts; left_out: assigned sessions that
    are not in it, and why."""

    file: Path
    rater: str
    sessions: tuple[PackedSession, ...]
    left_out: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "file": str(self.file),
            "rater": self.rater,
            "sessions": [
                {
                    "session": session.name,
                    "units": session.units,
                    "sound": session.sound,
                    "text": session.text,
                }
                for session in self.sessions
            ],
            "left_out": [{"session": name, "why": why} for name, why in self.left_out],
        }

    def lines(self) -> Iterable[str]:
        """The report for people."""
        for session in self.sessions:
            sound = "with sound" if session.sound else f"without sound ({session.silent_because})"
            text = "with text" if session.text else "without text"
            yield f"{session.name}: {session.units} units, {sound}, {text}"
        for name, why in self.left_out:
            yield f"Left out: {name}: {why}"
        yield f"pack: {self.file}"


def make_pack(
    study: Path,
    rater: str,
    out: Path,
    round: Round = "independent",  # noqa: A002 - the field's name
) -> PackReport:
    """Write a pack of what a rater is assigned to. out: the archive to write; `.zip` is added if
    it is missing. Raises AnnotationError if the rater is assigned to nothing, there is no codebook,
    there is something at that place, or it cannot be written."""
    study = study.absolute()
    check_rater(rater, study)
    leftovers.clear_of([study / "any"])
    out = (out if out.suffix == ".zip" else out.with_name(out.name + ".zip")).absolute()
    refuse_inside(out)
    if files.exists(out):
        raise AnnotationError(
            f"{out} already exists, and a pack never overwrites anything.",
            todo="Choose another --out, or move it away.",
        )
    own = [a for a in assignments_of_study(study) if (a.rater, a.round) == (rater, round)]
    if not own:
        raise AnnotationError(
            f"Nothing in {study.name} is assigned to {rater} in the round {round}.",
            todo="Assign sessions with *Raters*, *Assign…* on the Coding page (labapp code "
            f"assign {study.name} --raters {rater},…).",
        )
    if not (books := codebooks_of(study)):
        raise AnnotationError(
            f"{study.name} has no codebook.", todo=f"Put one into {study / 'codebook.yaml'}."
        )
    assigned, left_out = _to_hand_out(study_sessions(study), own)
    if not assigned:
        why = "; ".join(f"{session}: {what}" for session, what in left_out)
        raise AnnotationError(f"Nothing that is assigned to {rater} can be handed out ({why}).")
    name = uuid.uuid4().hex[:16]
    folders = [session.path for session, _ in assigned]
    try:
        with leftovers.on_its_way(folders, out) as (hidden,):
            access.own_folder(hidden, exist_ok=False)
            top = hidden / f"{study.name}-{rater}"
            access.own_folder(top)
            heads, counts, rows = {}, {}, []
            for session, mine in assigned:
                heads[session.name], counts[session.name], row = _add_session(top, session, mine)
                rows.append(row)
            for book in books:
                _write(top / f"codebook-{book.id}.yaml", book.content)
            bodies = assignments_file.session_bodies(own)
            _write_lines(
                top / ANNOTATIONS / ASSIGNMENTS,
                [(ASSIGNED, body) for body in bodies if body["session"] in heads],
            )
            facts = {
                "labapp_pack": FORMAT,
                "labapp": __version__,
                "pack": name,
                "study": study.name,
                "rater": rater,
                "round": round,
                "sessions": heads,
            }
            _write(top / FILE, orjson.dumps(facts, option=orjson.OPT_INDENT_2))
            note_handed_out(
                study,
                PACK,
                out,
                heads,
                rater=rater,
                pack=name,
                round=round,
                journals=heads,
                lines=counts,
                codebooks=sorted(book.sha256 for book in books),
            )
            archive = hidden / "pack.zip"
            with access.create(archive) as stream:
                _zip(top, stream)
            durable.take_name(archive, out)
    except FileExistsError as error:
        raise AnnotationError(
            f"{out} already exists: another pack was written there in the meantime.",
            safe="That file was not touched, and no pack was made.",
            todo="Choose another --out, or move it away.",
        ) from error
    except durable.NotConfirmedError as error:
        raise AnnotationError(
            f"The pack {out} was written, but {error.strerror}.",
            safe="The pack is complete, but a power cut could still lose it.",
            todo="Check this disk, or make the pack on another one.",
        ) from error
    except OSError as error:
        raise AnnotationError(
            f"The pack cannot be written to {out} ({error.strerror or error}).",
            safe="No pack was made.",
            todo="Free some space, or make sure that you may write there.",
        ) from error
    return PackReport(out, rater, tuple(rows), tuple(left_out))


def _to_hand_out(
    sessions: StudySessions, own: Sequence[Assignment]
) -> tuple[list[tuple[AnnotatedSession, list[Assignment]]], list[tuple[str, str]]]:
    """The sessions that a rater is assigned to with what of each, and those that cannot be in a
    pack with why."""
    usable = {session.name: session for session in sessions.usable}
    unusable = dict(sessions.left_out)
    mine: dict[str, list[Assignment]] = {}
    for assignment in own:
        mine.setdefault(assignment.session, []).append(assignment)
    assigned, left_out = [], []
    for name in sorted(mine, key=[*usable, *sorted(mine)].index):
        if name not in usable:
            left_out.append((name, unusable.get(name, "it no longer exists")))
        elif not usable[name].annotations.segmentation.frozen:
            left_out.append((name, "its units are not frozen"))
        else:
            assigned.append((usable[name], mine[name]))
    return assigned, left_out


def _add_session(
    top: Path, session: AnnotatedSession, own: Sequence[Assignment]
) -> tuple[str, dict[str, int], PackedSession]:
    """Write the folder of a session and its units and text; the head of its journal, how many lines
    units and text have, and its row of the report."""
    record, annotations = session.record, session.annotations
    units = [
        unit
        for unit in annotations.segmentation.units
        if any(entry.covers(unit.t0_ns) for entry in own)
    ]
    end_ns = max(record.rows[-1].t_ns, *(a.t1_ns for a in own))
    heard: list[Assignment | Unit] = [*own, *units]
    stretches = join_ranges(
        (max(0, each.t0_ns - MARGIN_NS), min(end_ns, each.t1_ns + MARGIN_NS)) for each in heard
    )
    sound = bool(record.audio) and record.may("share_audio")
    folder = top / session.name
    head = write_pack_session(folder, record, stretches, annotations.redactions, sound=sound)
    by = annotations.segmentation.by or "units"
    identity = {"journal": head, "sound": {}, "by": by}
    below = top / ANNOTATIONS / session.name
    spoken: Entries = [
        (units_file.OPENED, identity),
        *((units_file.PUT, body_of(unit)) for unit in units),
        (units_file.FROZEN, {"frozen": True, "by": by}),
    ]
    _write_lines(below / UNITS, spoken)
    shown = (annotations.texts[unit.id] for unit in units if unit.id in annotations.texts)
    texts: Entries = [
        (texts_file.OPENED, identity),
        *((texts_file.PUT, body_of(text)) for text in shown),
    ]
    if len(texts) > 1:
        _write_lines(below / TRANSCRIPT, texts)
    sounds = any((folder / "audio").glob("*.wav"))
    counts = {UNITS: len(spoken), TRANSCRIPT: len(texts) if len(texts) > 1 else 0}
    why = "" if sounds else "none was recorded there" if sound or not record.audio else NOT_SHARED
    return head, counts, PackedSession(session.name, len(units), sounds, len(texts) > 1, why)


def _write_lines(path: Path, entries: Entries) -> None:
    """Write a file of lines that stands for nobody's work on this computer: its times are those of
    the pack."""
    utc, lines = "", []
    for seq, (kind, body) in enumerate(entries, start=1):
        utc = next_utc(utc)
        lines.append(Line(seq, utc, kind, 1, body))
    _write(path, as_bytes(lines))


def _write(path: Path, content: bytes) -> None:
    access.own_folder(path.parent)
    with access.create(path) as file:
        file.write(content)


def _zip(top: Path, stream: IO[bytes]) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in files.below(top):
            entry = zipfile.ZipInfo.from_file(top / name, f"{top.name}/{name}")
            # Where it is unpacked it is its owner's alone, whatever the umask there.
            entry.external_attr = (stat.S_IFREG | 0o600) << 16
            with files.open_file(top / name) as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target)


def read_pack(folder: Path) -> Pack:
    """The pack in a folder. Raises AnnotationError: there is none, or it is of a newer labapp."""
    try:
        facts = json_value(files.content(folder / FILE, files.MIB))
        if facts["labapp_pack"] != FORMAT:
            raise ValueError(
                f"it has the format {facts['labapp_pack']}, but this version of "
                f"labapp reads {FORMAT}"
            )
        pack, study = facts["pack"], facts["study"]
        rater, round_, heads = facts["rater"], facts["round"], facts["sessions"]
        texts = (pack, study, rater, round_, *heads, *heads.values())
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("it does not say whom it is for")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise AnnotationError(
            f"{folder} is not a pack ({_reason(error)}).",
            todo="Give a pack that was made with *Pack…* on the Coding page (`labapp code pack`).",
        ) from error
    return Pack(folder, pack, study, rater, round_, dict(heads))


def is_pack(path: Path) -> bool:
    """Whether a path is a pack: its archive, or its folder."""
    if files.is_folder(path):
        return files.is_file(path / FILE)
    if not files.is_file(path):
        return False
    try:
        with archives.archive(path) as archive:
            return any(name.count("/") == 1 and name.endswith(f"/{FILE}")
                       for name in archive.namelist())  # fmt: skip
    except (OSError, ValueError):
        return False


def open_pack(path: Path) -> Pack:
    """A pack to work with: its folder, or its archive, unpacked beside it when it is opened first.
    Raises AnnotationError: it is not a pack, it is damaged, or the place to unpack it is taken."""
    if files.is_folder(path):
        return read_pack(path)
    folder = path.with_suffix("")
    if files.exists(folder):
        before = read_pack(folder)
        if before.id != _id_in(path):
            raise AnnotationError(
                f"Another pack was unpacked to {folder}.",
                todo="Rename that folder, or put the pack into a folder of its own.",
            )
        return before
    try:
        with leftovers.on_its_way((), folder) as (hidden,), archives.archive(path) as archive:
            archives.refuse_entries(archive)
            for name in archive.namelist():
                if name.endswith("/"):
                    continue
                target = hidden / name
                access.own_folder(target.parent)
                with archives.member(archive, name) as source, access.create(target) as copy:
                    shutil.copyfileobj(source, copy)
            (top,) = hidden.iterdir()
            read_pack(top)
            top.rename(folder)
    except (OSError, ValueError) as error:
        raise AnnotationError(
            f"{path} cannot be unpacked ({_reason(error)}).",
            todo="Have it sent again. A pack is a .zip file made with *Pack…* on the Coding "
            "page (`labapp code pack`).",
        ) from error
    return read_pack(folder)


def session_to_code(path: Path, rater: str) -> Path:
    """The session of a pack with which its rater continues: the first one that is not done. Raises
    AnnotationError if it is no pack or it was made for another rater."""
    pack = open_pack(path)
    if rater != pack.rater:
        raise AnnotationError(
            f"The pack was made for {pack.rater}.",
            todo=f"Open it with --rater {pack.rater}; or have a pack made for {rater}.",
        )
    folders = [pack.folder / name for name in sorted(pack.sessions)]
    for folder in folders:
        marks = annotations_of(open_record(folder)).raters.get(rater)
        if marks is None or marks.status_of(pack.round) == "draft":
            return folder
    return folders[0]


def _id_in(path: Path) -> str:
    """The id of the pack in an archive; empty if it cannot be read."""
    try:
        with archives.archive(path) as archive:
            name = next(n for n in archive.namelist() if n.count("/") == 1 and n.endswith(FILE))
            with archives.member(archive, name) as stream:
                return str(json_value(files.within(stream, files.MIB))["pack"])
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return ""


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def write_pack_session(
    folder: Path,
    record: Record,
    stretches: Sequence[Stretch],
    redactions: Sequence[Redaction],
    *,
    sound: bool,
) -> str:
    """Write the session folder of a pack; the hash of the last event of its journal, by which the
    files of the pack know it. stretches: session time that may be heard, in order and apart from
    each other. Redacted stretches are silent. Raises AnnotationError if something of the sound
    cannot be read, and OSError if it cannot be written."""
    access.own_folder(folder, exist_ok=False)
    clock = FakeClock(0, record.name.started)
    journal = Journal.create(folder / JOURNAL, clock)

    def add(t_ns: int, payload: Payload) -> None:
        clock.set_ns(max(clock.now_ns(), t_ns))
        journal.append(UnstampedEvent(payload), Source.SYSTEM)

    try:
        planned = record.planned
        add(
            0,
            SessionPlanned(
                study=planned.study,
                study_version=planned.study_version,
                study_sha256="",
                participant=planned.participant,
                session=planned.session,
                seed=0,
                assignment={},
                presentation="as_published",
                language=planned.language,
                audio=planned.audio,
                plan=(),
                pilot=record.pilot,
            ),
        )
        add(0, SegmentStarted(1, utc_text(record.name.started), "", __version__, ""))
        if sound:
            for t_ns, payload in _sound(folder, record, stretches, redactions):
                add(t_ns, payload)
        end_ns = max(record.rows[-1].t_ns, clock.now_ns())
        add(end_ns, SessionCompleted())
        add(end_ns, SegmentEnded("completed"))
    finally:
        journal.close()
    return read_rows(folder)[-1].hash


def _sound(
    folder: Path, record: Record, stretches: Sequence[Stretch], redactions: Sequence[Redaction]
) -> Sequence[tuple[int, Payload]]:
    """Cut the stretches out of the session's sound, a file each; the events that place them."""
    sounds = payloads(row for row in record.rows if row.kind.startswith("audio."))
    silenced = [(redaction.t0_ns, redaction.t1_ns) for redaction in redactions]
    source = RecordedSound(
        record.tree.open, (payload for _, payload in sounds), record.rows[-1].t_ns, silenced
    )
    events: list[tuple[int, Payload]] = []
    within = ((max(t0, source.begin_ns), min(t1, source.end_ns)) for t0, t1 in stretches)
    heard = (
        (begin, end)
        for begin, end in within
        if any(span.t0_ns < end and begin < span.t1_ns for span in source.spans)
    )
    try:
        for number, (begin, end) in enumerate(heard, start=1):
            name = f"{AUDIO}/segment-01{f'-{number}' if number > 1 else ''}.wav"
            events += _cut(folder, name, source, begin, end)
    except (OSError, ValueError) as error:
        raise AnnotationError(
            f"The sound of {record.name} cannot be read ({error}).",
            safe="No pack was made.",
            todo="`labapp sessions verify` shows what is wrong with it.",
        ) from error
    finally:
        source.close()
    return events


def _cut(
    folder: Path, name: str, source: RecordedSound, begin: int, end: int
) -> list[tuple[int, Payload]]:
    rate = source.rate
    frames = (end - begin) * rate // NS
    events: list[tuple[int, Payload]] = [(begin, AudioStarted(name, "", "", rate, 1, "PCM_16"))]
    access.own_folder((folder / name).parent)
    with access.create(folder / name) as file:
        file.write(wav_header(rate, frames * FRAME_BYTES))
        for first in range(0, frames, rate):
            last = min(frames, first + rate)
            at_ns = begin + first * NS // rate
            data = source.read(at_ns, last - first).astype("<i2").tobytes()
            file.write(data)
            # Two marks a block, as exact as the cut itself: the pack's clock is the session's.
            middle = (first + last) // 2
            anchors = tuple(
                (frame, frame / rate, begin + frame * NS // rate) for frame in (first, middle)
            )
            digest = hashlib.sha256(data).hexdigest()
            end_of_block = begin + last * NS // rate
            events.append((end_of_block, AudioBlock(name, first, last, digest, anchors)))
    events.append((end, AudioStopped(name, frames, 0)))
    return events


@dataclass(frozen=True, slots=True)
class Received:
    """What came of a rater's file.

    Attributes
    ----------
    beyond : marks that lie outside of what was assigned.
    ignored : changes of texts and units in the pack: these are the study's, and are not taken in.
    redacted : int
        Marks whose remark is not taken in: since the pack was made, something there was redacted.
    remark : what was cut off at the end of the file on its way, in words; empty if nothing was.
    """

    session: str
    rater: str
    marks: int
    lines: int
    beyond: int
    status: str
    ignored: int = 0
    redacted: int = 0
    remark: str = ""


@dataclass(frozen=True)
class _Returned:
    """A rater's file that came back, and is of this study."""

    session: AnnotatedSession
    rater: str
    lines: Sequence[Line]
    marks: Collection[Mark]
    ignored: int
    remark: str


def receive(study: Path, path: Path) -> list[Received]:
    """Take in the marks of a returned pack, or of single files of a rater: all of them or none.
    path: the folder of the pack, an archive of it, or a rater's file (`….jsonl`). Raises
    AnnotationError if a file is damaged or not of a pack of this study, or its session, units or
    codebook are not those that were handed out, and AnnotationsBusy if a window has the rater's
    file open."""
    study = study.absolute()
    packs = [entry for entry in read_handed_out(study) if entry.kind == PACK]
    sessions = study_sessions(study)
    usable = {session.name: session for session in sessions.usable}
    ready: list[_Returned] = []
    for place, content, beside in _rater_files(path):
        returned = require_whole(parse(content), place)
        fold = _fold(returned.lines, place)
        if not fold.opened:
            continue
        pack, name = _pack_of(place, fold.opened, packs)
        if name not in usable:
            why = dict(sessions.left_out).get(name, "it no longer exists")
            raise AnnotationError(
                f"{place} belongs to {name}, which cannot be coded: {why}.",
                safe="Nothing was received.",
                todo="If the participant withdrew, delete the marks and the pack.",
            )
        session, rater = usable[name], check_rater(str(fold.opened["rater"]), study)
        _refuse_changed(place, study, session, fold, pack)
        ignored, marks = _changes(beside, pack, name), fold.marks.values()
        ready.append(_Returned(session, rater, returned.lines, marks, ignored, returned.torn))
    if not ready:
        raise AnnotationError(
            f"{path} holds no marks.",
            todo="Give the pack's folder or an archive of it after coding, or the rater's file: "
            f"{ANNOTATIONS}/…/{RATERS}/….jsonl",
        )
    return _take_in(ready, assignments_of_study(study))


def _changes(beside: Mapping[str, bytes], pack: HandedOut, session: str) -> int:
    """How many changes of units and texts came back beside a rater's marks."""
    handed = pack.facts.get("lines")
    counts = handed.get(session, {}) if isinstance(handed, dict) else {}
    return sum(
        not line.kind.endswith(".opened")
        for name, content in beside.items()
        for line in parse(content).lines[int(counts.get(name, 0)) :]
    )


def _rater_files(path: Path) -> Iterator[tuple[str, bytes, dict[str, bytes]]]:
    """Name and content of each rater's file at a path, with the units and texts beside it. Raises
    AnnotationError."""
    try:
        if path.suffix == LINES:
            yield str(path), files.content(path, LARGEST), {}
            return
        tree: Tree
        if files.is_folder(path):
            tree = FolderTree(path)
        else:
            with archives.archive(path) as archive:
                archives.refuse_entries(archive)
            tree = ZipTree(path)
        for name in tree.names():
            parts = PurePosixPath(name).parts
            hidden = any(part.startswith(".") for part in parts)
            if name.endswith(LINES) and len(parts) > 1 and parts[-2] == RATERS and not hidden:
                folder = PurePosixPath(name).parent.parent
                beside = {
                    other: tree.read(str(folder / other), LARGEST)
                    for other in (UNITS, TRANSCRIPT)
                    if tree.has(str(folder / other))
                }
                yield f"{path}: {name}", tree.read(name, LARGEST), beside
    except (OSError, ValueError) as error:
        raise AnnotationError(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).",
            safe="Nothing was received.",
            todo="Have it sent again.",
        ) from error


def _pack_of(
    place: str, opened: Mapping[str, Any], packs: Sequence[HandedOut]
) -> tuple[HandedOut, str]:
    """The pack that a file was coded in, and the session. Raises AnnotationError."""
    for pack in packs:
        journals = pack.facts.get("journals")
        for name, head in (journals if isinstance(journals, dict) else {}).items():
            if head == opened.get("journal"):
                if opened["rater"] != pack.facts.get("rater"):
                    raise AnnotationError(
                        f"{place} has marks by {opened['rater']}, but the pack was made for "
                        f"{pack.facts.get('rater')}.",
                        safe="Nothing was received.",
                        todo="Make a pack for each rater.",
                    )
                return pack, name
    raise AnnotationError(
        f"{place} was not coded in a pack of this study.",
        safe="Nothing was received.",
        todo="Name the study that the pack was made from. If a file was coded in the study's "
        "own folder, put it back there by hand.",
    )


def _refuse_changed(
    place: str, study: Path, session: AnnotatedSession, fold: MarksFold, pack: HandedOut
) -> None:
    """Raises AnnotationError if units or codebook are not those that were handed out."""
    units = {unit.id for unit in session.annotations.segmentation.units}
    gone = [m for m in fold.marks.values() if m.unit is not None and m.unit not in units]
    if gone:
        raise AnnotationError(
            f"{place} has marks on {len(gone)} units that {session.name} does not have (or no "
            "longer has).",
            safe="Nothing was received.",
            todo="The units were changed after the pack was made. Have the rater code a new pack.",
        )
    handed = set(pack.facts.get("codebooks") or ())
    foreign = {mark.codebook for mark in fold.marks.values()} - handed
    if foreign:
        raise AnnotationError(
            f"{place} was coded with a codebook that was not in the pack ({sorted(foreign)[0]}…).",
            safe="Nothing was received.",
            todo="Change the codebook in the study, and hand it out in a new pack.",
        )
    known = {book.sha256: book for book in codebooks.codebooks_of(study)}
    stored = codebooks.versions_of(study)
    for sha256 in {mark.codebook for mark in fold.marks.values()} - stored.keys():
        if sha256 not in known:
            raise AnnotationError(
                f"{place} was coded with a version of the codebook that no longer exists.",
                safe="Nothing was received.",
                todo="Put the codebook from the pack back into the study's folder for a moment, "
                "and then receive the marks.",
            )
        codebooks.store_version(study, known[sha256])


def _take_in(ready: Sequence[_Returned], assignments: Sequence[Assignment]) -> list[Received]:
    """Merge what came back into the raters' files: all of it, or nothing. Raises AnnotationError,
    AnnotationsBusy."""
    received = []
    with ExitStack() as stack:
        open_: dict[Path, HeldFile] = {}
        after: dict[Path, tuple[Line, ...]] = {}
        for each in ready:
            path = rater_file(each.session.path, each.rater)
            if path not in open_:
                open_[path] = stack.enter_context(lock_file(path))
            before = after.get(path, open_[path].lines)
            after[path], redacted = _merge_returned(each, before, path)
            received.append(_summarise_received(each, before, after[path], redacted, assignments))
        for path, lines in after.items():
            if len(lines) != len(open_[path].lines):
                open_[path].replace(lines)
    return received


def _merge_returned(
    each: _Returned, before: Sequence[Line], path: Path
) -> tuple[tuple[Line, ...], int]:
    """The lines of a rater's file with those that came back, and how many marks of these lost their
    remarks. Raises AnnotationError if they would change what is locked."""
    identity = identity_of(each.session.record, each.session.path).to_json()
    own = [
        line._replace(body={**line.body, **identity}) if line.kind == OPENED else line
        for line in each.lines
    ]
    annotations = each.session.annotations
    times = {unit.id: (unit.t0_ns, unit.t1_ns) for unit in annotations.segmentation.units}
    own, redacted = without_remarks(own, "memo", PUT, annotations.redactions, times)
    after = merge_lines(before, own)
    known = _fold(before, str(path))
    locked = {round_ for round_, status in known.statuses.items() if status == "locked"}
    if _of_rounds(known, locked) != _of_rounds(_fold(after, str(path)), locked):
        raise AnnotationError(
            f"The marks of {each.rater} in {each.session.name} are locked, because agreement was "
            "computed from them.",
            safe="They are unchanged, and nothing was received.",
            todo="You can still settle later differences: *Raters*, *Settle differences…* on "
            "the Coding page (labapp code adjudicate).",
        )
    return after, redacted


def _of_rounds(fold: MarksFold, rounds: Collection[str]) -> tuple[set[Mark], dict[str, str]]:
    """The marks of rounds, and how far these are."""
    marks = {mark for mark in fold.marks.values() if mark.round in rounds}
    return marks, {round_: fold.statuses[round_] for round_ in rounds}


def _fold(lines: Sequence[Line], place: str) -> MarksFold:
    fold = MarksFold()
    fold_lines(fold, lines, place)
    return fold


def _summarise_received(
    each: _Returned,
    before: Sequence[Line],
    after: Sequence[Line],
    redacted: int,
    assignments: Sequence[Assignment],
) -> Received:
    stretches = [
        (a.t0_ns - MARGIN_NS, a.t1_ns + MARGIN_NS)
        for a in assignments
        if (a.session, a.rater) == (each.session.name, each.rater)
    ]
    beyond = sum(
        not any(begin <= mark.t0_ns < end for begin, end in stretches) for mark in each.marks
    )
    round_ = next(str(line.body["round"]) for line in reversed(each.lines) if line.kind == OPENED)
    fold = _fold(after, str(rater_file(each.session.path, each.rater)))
    return Received(
        each.session.name,
        each.rater,
        len(fold.marks),
        len(after) - len(before),
        beyond,
        fold.statuses.get(round_, "draft"),
        each.ignored,
        redacted,
        each.remark,
    )
