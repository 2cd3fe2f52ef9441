"""Packs: what a rater on another computer needs, and nothing that would unblind them.

A pack is the folder of a study in small: for each session the sound of the assigned stretches,
their units, their text and the codebooks, and who it is for in `pack.json`. It opens like any
study; marks come back as the rater's files (see `receiving`). Every pack is written down in
`packs.jsonl`.
"""

from __future__ import annotations

import shutil
import stat
import uuid
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from labapp import __version__, access, durable, leftovers
from labapp.annotations import assignments as assignments_file
from labapp.annotations import texts as texts_file
from labapp.annotations import units as units_file
from labapp.annotations.assignments import ASSIGNED, ASSIGNMENTS, assignments_of_study
from labapp.annotations.codebook import codebooks_of
from labapp.annotations.editing import body_of
from labapp.annotations.handed_out import PACK, note_handed_out
from labapp.annotations.lines import Line, as_bytes, next_utc
from labapp.annotations.model import Assignment, Round, SessionAnnotations, Unit
from labapp.annotations.pack_session import stretches_with_margin, write_pack_session
from labapp.annotations.places import ANNOTATIONS, TRANSCRIPT, UNITS, check_rater
from labapp.annotations.store import annotations_of
from labapp.annotations.study_sessions import AnnotatedSession, StudySessions, study_sessions
from labapp.errors import AnnotationError
from labapp.journal.layout import PACK as FILE
from labapp.journal.layout import refuse_inside
from labapp.journal.opening import open_record
from labapp.reading import archives, files
from labapp.reading.values import json_value

FORMAT = 1
NOT_SHARED = "the participant did not agree that it is passed on"


@dataclass(frozen=True)
class Pack:
    """A pack as it lies in a folder.

    Attributes
    ----------
    folder : where it was unpacked.
    id : by which it is known where it came from.
    study : the study's id.
    rater : whom it is for.
    round : see `Round`.
    sessions : the hash of the last event of each session's journal, by the names of the folders.
    """

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
    name : of its folder.
    units : how many are assigned.
    sound, text : whether these are in the pack.
    silent_because : why there is no sound; empty where there is.
    """

    name: str
    units: int
    sound: bool
    text: bool
    silent_because: str = ""


@dataclass(frozen=True)
class PackReport:
    """What a pack holds.

    Attributes
    ----------
    file : the archive.
    rater : whom it is for.
    sessions : in the order of their starts.
    left_out : assigned sessions that are not in it, and why.
    """

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
    """Write a pack of what a rater is assigned to.

    Parameters
    ----------
    study : the folder of the study's sessions.
    rater : whom it is for.
    out : the archive to write; `.zip` is added where it is missing.
    round : see `Round`.

    Raises
    ------
    AnnotationError : the rater is assigned to nothing, there is no codebook, there is something at
        that place, or it cannot be written.
    """
    study = study.absolute()
    check_rater(rater, study)
    leftovers.clear_of([study / "any"])
    out = (out if out.suffix == ".zip" else out.with_name(out.name + ".zip")).absolute()
    refuse_inside(out)
    if files.exists(out):
        raise AnnotationError(
            f"{out} exists; a pack never overwrites.", todo="Give another --out, or move it away."
        )
    own = [a for a in assignments_of_study(study) if (a.rater, a.round) == (rater, round)]
    if not own:
        raise AnnotationError(
            f"{rater} is assigned to nothing in {study.name} in the round {round}.",
            todo=f"labapp code assign {study.name} --raters {rater},…",
        )
    if not (books := codebooks_of(study)):
        raise AnnotationError(
            f"{study.name} has no codebook.", todo=f"Put one into {study / 'codebook.yaml'}."
        )
    assigned, left_out = _to_hand_out(study_sessions(study), own)
    if not assigned:
        why = "; ".join(f"{session}: {what}" for session, what in left_out)
        raise AnnotationError(f"Nothing that {rater} is assigned to can be handed out ({why}).")
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
            f"{out} exists; another pack was written there meanwhile.",
            safe="That file was not touched, and no pack was made.",
            todo="Give another --out, or move it away.",
        ) from error
    except durable.NotConfirmedError as error:
        raise AnnotationError(
            f"The pack {out} was written, but {error.strerror}.",
            safe="The pack is there and whole. A power cut could still lose it.",
            todo="Look after this disk, or make the pack on another one.",
        ) from error
    except OSError as error:
        raise AnnotationError(
            f"The pack cannot be written to {out} ({error.strerror or error}).",
            safe="No pack was made.",
            todo="Make room, or see that you may write there.",
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
            left_out.append((name, unusable.get(name, "it is not there any more")))
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
    stretches = stretches_with_margin(
        [(a.t0_ns, a.t1_ns) for a in own] + [(u.t0_ns, u.t1_ns) for u in units],
        max(record.rows[-1].t_ns, *(a.t1_ns for a in own)),
    )
    sound = bool(record.audio) and record.may("share_audio")
    folder = top / session.name
    head = write_pack_session(folder, record, stretches, annotations.redactions, sound=sound)
    identity = {"journal": head, "sound": {}, "by": annotations.segmentation.by or "units"}
    below = top / ANNOTATIONS / session.name
    spoken = _unit_lines(identity, units)
    _write_lines(below / UNITS, spoken)
    texts = _text_lines(identity, annotations, units)
    if len(texts) > 1:
        _write_lines(below / TRANSCRIPT, texts)
    heard = any((folder / "audio").glob("*.wav"))
    counts = {UNITS: len(spoken), TRANSCRIPT: len(texts) if len(texts) > 1 else 0}
    why = "" if heard else "none was recorded there" if sound or not record.audio else NOT_SHARED
    return head, counts, PackedSession(session.name, len(units), heard, len(texts) > 1, why)


Entries = list[tuple[str, Mapping[str, Any]]]


def _unit_lines(identity: Mapping[str, Any], units: Iterable[Unit]) -> Entries:
    entries: Entries = [(units_file.OPENED, identity)]
    entries += [(units_file.PUT, body_of(unit)) for unit in units]
    entries.append((units_file.FROZEN, {"frozen": True, "by": identity["by"]}))
    return entries


def _text_lines(
    identity: Mapping[str, Any], annotations: SessionAnnotations, units: Iterable[Unit]
) -> Entries:
    entries: Entries = [(texts_file.OPENED, identity)]
    shown = (annotations.texts[unit.id] for unit in units if unit.id in annotations.texts)
    entries += [(texts_file.PUT, body_of(text)) for text in shown]
    return entries


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
    """The pack in a folder.

    Raises
    ------
    AnnotationError : there is none, or it is of a newer labapp.
    """
    try:
        facts = json_value(files.content(folder / FILE, files.MIB))
        if facts["labapp_pack"] != FORMAT:
            raise ValueError(f"it has the format {facts['labapp_pack']}, and {FORMAT} is read")
        pack, study = facts["pack"], facts["study"]
        rater, round_, heads = facts["rater"], facts["round"], facts["sessions"]
        texts = (pack, study, rater, round_, *heads, *heads.values())
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("it does not say whose it is")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise AnnotationError(
            f"{folder} is no pack ({_reason(error)}).",
            todo="Give a pack as `labapp code pack` made it.",
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

    Raises
    ------
    AnnotationError
        It is none, it is damaged, or something else stands where it would be unpacked.
    """
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
            todo="Have it sent again; a pack is the .zip file that `labapp code pack` made.",
        ) from error
    return read_pack(folder)


def session_to_code(path: Path, rater: str) -> Path:
    """The session of a pack that its rater goes on with: the first that is not done.

    Parameters
    ----------
    path : the pack's archive or folder.
    rater : who opens it.

    Raises
    ------
    AnnotationError : it is no pack or it was made for another rater.
    """
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
    """The id of the pack in an archive; empty where it cannot be read."""
    try:
        with archives.archive(path) as archive:
            name = next(n for n in archive.namelist() if n.count("/") == 1 and n.endswith(FILE))
            with archives.member(archive, name) as stream:
                return str(json_value(files.within(stream, files.MIB))["pack"])
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return ""


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
