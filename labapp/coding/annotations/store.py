"""Reading and opening the annotations of a session: the way in for all other rooms.

Also what the moderator wrote down in the session, as the marks of a rater; the sessions of a study
whose annotations may be used (over, readable, not withdrawn); and what was done to a session's
annotations, in the order of time, with what was taken back.

Times of marks mean nothing in another session, so files of marks name the one they belong to, by
the last hash of its journal and its sound.

How far the sessions of a study are: segmented, transcribed, coded, coded twice, adjudicated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from labapp.base.errors import AnnotationError, LabappError
from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.base.resources import cache_root
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import Codebook
from labapp.coding.annotations.ledger import (
    LARGEST,
    WHY,
    EditedFile,
    Fold,
    Line,
    fold_lines,
    parse,
    require_whole,
)
from labapp.coding.annotations.marks import MarksFile, MarksFold
from labapp.coding.annotations.model import (
    ANNOTATIONS,
    CODEBOOKS,
    DETECTOR,
    LINES,
    MODERATOR,
    RATERS,
    RECOGNISER,
    SIMULATED,
    TRANSCRIPT,
    UNITS,
    Blinding,
    Mark,
    RaterMarks,
    Round,
    Segmentation,
    SessionAnnotations,
    annotations_folder,
    check_rater,
    rater_file,
)
from labapp.coding.annotations.settlements import SETTLEMENTS, SettlementsFile, SettlementsFold
from labapp.coding.annotations.simulated import read_simulated_speech
from labapp.coding.annotations.texts import (
    TextsFile,
    TextsFold,
    may_be_quoted,
    read_anchored_redactions,
    select_visible_texts,
    without_memos,
)
from labapp.coding.annotations.units import UnitsFile, UnitsFold
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import (
    DeviationNoted,
    FlagAdded,
    GuideQuestion,
    NoteAdded,
    NoteCorrected,
    Prompt,
)
from labapp.record.events.registry import kinds_of
from labapp.record.events.remote import Afar, RemoteAsked
from labapp.record.events.voice import SpeechSimulated
from labapp.record.journal import anchor
from labapp.record.journal.layout import FolderTree, Tree
from labapp.record.journal.opening import open_record, places
from labapp.record.journal.read import payloads
from labapp.record.journal.record import Record
from labapp.record.journal.sessions import sessions_in

File = TypeVar("File", bound=EditedFile)

VEILED: tuple[Blinding, ...] = ("names", "outcomes", "future")
"""What a rater is not shown unless it is said otherwise."""


def annotations_of(
    record: Record, events: Iterable[tuple[Event, Payload]] | None = None
) -> SessionAnnotations:
    """Everything that was said about a session after its end, as far as it may be shown.

    Redacted words, and remarks on marks in redacted stretches, are left out; all texts are where
    the participant did not agree to a transcript. Raises AnnotationError: a file
    of it cannot be read, a line is damaged, or a file is of another session.

    Parameters
    ----------
    record : a session folder or a bundle.
    events : its journal, where that was read already.
    """
    return annotations_in(annotations_tree(record), record, events)


def annotations_in(
    tree: Tree, record: Record, events: Iterable[tuple[Event, Payload]] | None = None
) -> SessionAnnotations:
    """As `annotations_of`, from files of annotations that lie elsewhere."""
    remarks: list[str] = []
    units, settled = UnitsFold(), SettlementsFold()
    texts = TextsFold(anchored=read_anchored_redactions(record))
    _fold(tree, UNITS, units, record, remarks)
    _fold(tree, TRANSCRIPT, texts, record, remarks)
    _fold(tree, SETTLEMENTS, settled, record, remarks)
    events = list(select_annotation_events(record) if events is None else events)
    spoken = read_simulated_speech(events)
    if not tree.has(UNITS):
        units.take(spoken.units, SIMULATED)
    words = {text.unit: text for text in spoken.texts if text.unit in units.units}
    texts.texts = words | texts.texts
    raters = {MODERATOR: moderator_marks(events)}
    if spoken.marks:
        raters[SIMULATED] = spoken.rater
    for name in rater_files(tree):
        marks = MarksFold()
        _fold(tree, f"{RATERS}/{name}{LINES}", marks, record, remarks)
        raters[name] = marks.rater_marks(name)
    redactions = texts.sort_redactions()
    allowed = record.may("transcript")
    shown = select_visible_texts(texts.texts, units.units, redactions, allowed=allowed)
    return SessionAnnotations(
        str(record.name),
        units.segmentation(),
        shown,
        {
            name: without_memos(_place_marks(rater, units), redactions)
            for name, rater in raters.items()
        },
        redactions,
        settled.ordered(),
        tuple(remarks),
    )


def segmentation_of(record: Record) -> Segmentation:
    """The units of a session, without its text and marks. Raises AnnotationError."""
    tree, fold = annotations_tree(record), UnitsFold()
    _fold(tree, UNITS, fold, record, [])
    if not tree.has(UNITS):
        fold.take(read_simulated_speech(select_annotation_events(record)).units, SIMULATED)
    return fold.segmentation()


def select_annotation_events(record: Record) -> Iterator[tuple[Event, Payload]]:
    """The events of a journal that become units, texts and marks (the moderator's notes, and what a
    simulated participant said), and the last event."""
    kinds = {SpeechSimulated.kind, *MODERATOR_KINDS, *kinds_of(Prompt)}
    last = record.rows[-1].seq
    return payloads(row for row in record.rows if row.kind in kinds or row.seq == last)


def annotations_tree(record: Record) -> Tree:
    """The files of a session's annotations; there need not be any."""
    if record.kind == "bundle":
        return record.tree.below(ANNOTATIONS)
    return FolderTree(annotations_folder(Path(record.source)))


def is_annotated(record: Record) -> bool:
    """Whether anything was said about a session after its end: units, texts, marks, redactions."""
    there = any(name.endswith(LINES) for name in annotations_tree(record).names())
    return there or bool(read_anchored_redactions(record))


def rater_files(tree: Tree) -> list[str]:
    """The raters who have a file among the annotations of a session, by name."""
    paths = (PurePosixPath(name) for name in tree.names())
    return [
        path.stem
        for path in paths
        if path.parent == PurePosixPath(RATERS) and path.suffix == LINES and path.stem[0] != "."
    ]


def codebooks_in(record: Record) -> dict[str, Codebook]:
    """Every version of a codebook that marks were given by, by its SHA-256: of the whole study for
    a session folder, of what travels with it for a bundle. Raises AnnotationError."""
    if record.kind == "session":
        return codebooks.versions_of(Path(record.source).absolute().parent)
    tree = annotations_tree(record).below(CODEBOOKS)
    parsed = (
        codebooks.as_named(
            codebooks.parse(tree.read(name, codebooks.LARGEST), Path(f"{record.source}/{name}")),
            PurePosixPath(name).stem,
        )
        for name in tree.names()
        if name.endswith(".yaml")
    )
    return {codebook.sha256: codebook for codebook in parsed}


def open_marks(
    session: Path,
    rater: str,
    codebook: Codebook,
    *,
    blind: Sequence[Blinding] = VEILED,
    round: Round = "independent",  # noqa: A002  (the field's word)
    machine: bool = False,
    record: Record | None = None,
) -> MarksFile:
    """Open a rater's marks in a session for work. Raises AnnotationsBusy: the file is open in
    another window; AnnotationError: the name cannot be a rater's, the session is being recorded,
    its units are not frozen, or the file is damaged or of another session.

    Parameters
    ----------
    codebook : by which they are given; this version is kept in the study.
    blind : what the rater is not shown, see `labapp.coding.annotations.model.Blinding`.
    machine : whether no person gives them.
    record : the session, where it was opened before.
    """
    session = session.absolute()
    check_rater(rater, session.parent)
    record = _open_finished(session, record)
    segmentation = segmentation_of(record)
    if codebook.needs_units and not segmentation.frozen:
        what = "has no units yet" if not segmentation.units else "has units that are not frozen"
        raise AnnotationError(
            f"{record.name} {what}, and codes of {codebook.id} apply to units, so raters would "
            "code different ones.",
            todo="*Units* on the Coding page finds them in the sound and freezes them (`labapp "
            f"code segment {record.name} --freeze`). Check them in the coding window first.",
        )
    codebooks.store_version(session.parent, codebook)
    versions = codebooks.versions_of(session.parent)
    fold = MarksFold()
    identity = identity_of(record, session)
    path = rater_file(session, rater)
    file = MarksFile(
        path,
        rater,
        codebook,
        blind=blind,
        round=round,
        segmentation=segmentation,
        foreign=(sha for sha, other in versions.items() if other.id != codebook.id),
        fold=fold,
        checked=_ours(path, fold, record, identity, rater),
    )
    return _note_opening(
        file,
        fold,
        identity,
        rater=rater,
        codebook=codebook.sha256,
        blind=list(blind),
        round=round,
        machine=machine,
    )


def open_units(session: Path, by: str, *, record: Record | None = None) -> UnitsFile:
    """Open the segmentation of a session for work. Raises AnnotationsBusy if the file is open in
    another window. Raises AnnotationError if the name cannot be a rater's, the session is being
    recorded, or the file is damaged or of another session."""
    session = session.absolute()
    check_rater(by, session.parent, nobody=DETECTOR)
    record = _open_finished(session, record)
    identity, fold = identity_of(record, session), UnitsFold()
    path = annotations_folder(session) / UNITS
    ours = _ours(path, fold, record, identity)
    file = UnitsFile(path, by, fold=fold, checked=ours)
    new = not fold.opened
    file = _note_opening(file, fold, identity, by=by)
    if new and (spoken := read_simulated_speech(select_annotation_events(record)).units):
        file.take_in(spoken)
    return file


def open_texts(
    session: Path, by: str, *, record: Record | None = None, patience_s: float = 0.0
) -> TextsFile:
    """Open the text of a session for work; as `open_units`. patience_s: how long to wait, in s,
    while somebody else has it open."""
    session = session.absolute()
    check_rater(by, session.parent, nobody=RECOGNISER)
    record = _open_finished(session, record)
    identity = identity_of(record, session)
    fold = TextsFold(
        read_simulated_speech(select_annotation_events(record)).texts,
        read_anchored_redactions(record),
    )
    path = annotations_folder(session) / TRANSCRIPT
    ours = _ours(path, fold, record, identity)
    may = record.may("transcript")
    file = TextsFile(path, by, fold=fold, checked=ours, allowed=may, patience_s=patience_s)
    return _note_opening(file, fold, identity, by=by)


def open_settlements(session: Path, by: str, *, record: Record | None = None) -> SettlementsFile:
    """Open what is settled between the raters of a session for work; as `open_units`. by: the
    adjudicator."""
    session = session.absolute()
    check_rater(by, session.parent)
    record = _open_finished(session, record)
    identity, fold = identity_of(record, session), SettlementsFold()
    path = annotations_folder(session) / SETTLEMENTS
    ours = _ours(path, fold, record, identity)
    file = SettlementsFile(path, by, fold=fold, checked=ours)
    return _note_opening(file, fold, identity, by=by)


def _ours(
    path: Path, fold: Fold, record: Record, identity: SessionIdentity, rater: str = ""
) -> Callable[[], None]:
    """What refuses a file, once it is folded, that is of another session or rater."""

    def refuse() -> None:
        _refuse_foreign(str(path), fold.opened, record, identity.sound)
        if rater and fold.opened and fold.opened["rater"] != rater:
            raise AnnotationError(
                f"{path} says that its marks were made by {fold.opened['rater']}.",
                todo="Change the file's name back to what it was.",
            )
        if isinstance(fold, MarksFold) and (lost := find_lost_locks(path, fold)):
            raise AnnotationError(
                f"{path} was locked (round {', '.join(lost)}), but it no longer says so: an "
                "older copy was put back, or its end was cut off.",
                todo="Restore the locked file; *Files*, *Check files* on the Coding page "
                "(`labapp code verify`) shows what is missing.",
            )

    return refuse


def find_lost_locks(path: Path, fold: MarksFold) -> list[str]:
    """The rounds that were locked in a rater's file, and are not any more. Raises RecordError."""
    return sorted(r for r in anchor.read_locked_rounds(path) if fold.statuses.get(r) != "locked")


def _note_opening(file: File, fold: Fold, identity: SessionIdentity, **facts: Any) -> File:
    """The file, which says by now who has it open; sound that was deleted since stays named."""
    stored = identity.to_json()
    before = fold.opened.get("sound")
    if isinstance(before, dict):
        stored["sound"] = before | stored["sound"]
    try:
        file.note_opened(stored | facts)
    except BaseException:
        file.close()
        raise
    return file


def _open_finished(session: Path, record: Record | None) -> Record:
    record = record or open_record(session)
    if record.kind != "session":
        raise AnnotationError(
            Message("coding_bundle", session=str(session)), todo=Message("coding_bundle_todo")
        )
    if record.running:
        raise AnnotationError(
            Message("coding_recorded", session=str(record.name)),
            todo=Message("coding_recorded_todo"),
        )
    if record.withdrawn:
        raise AnnotationError(
            Message("coding_withdrawn", session=str(record.name)),
            todo=Message("coding_withdrawn_todo"),
        )
    return record


def _fold(tree: Tree, name: str, fold: Fold, record: Record, remarks: list[str]) -> None:
    """Fold a file of a session's annotations, if there is one."""
    if not tree.has(name):
        return
    place = f"{ANNOTATIONS} of {record.name}: {name}"
    present = require_whole(parse(tree.read(name, LARGEST)), place)
    if present.torn:
        remarks.append(f"{place}: {present.torn}")
    fold_lines(fold, present.lines, place)
    _refuse_foreign(place, fold.opened, record)


def _refuse_foreign(
    place: str, opened: Mapping[str, Any], record: Record, sound: Mapping[str, str] | None = None
) -> None:
    if opened and (why := difference(opened, record, sound)):
        raise AnnotationError(
            f"{place} does not belong to the session {record.name}: {why}.",
            safe="It was only read; nothing was changed.",
            todo="Its times belong to another session. Put the file next to the session it was "
            "made with; `labapp sessions verify` shows whether the session itself was "
            "changed.",
        )


def _place_marks(rater: RaterMarks, units: UnitsFold) -> RaterMarks:
    """The marks with the times that their units have now."""
    if not any(mark.unit for mark in rater.marks):
        return rater
    marks = []
    for mark in rater.marks:
        unit = units.units.get(mark.unit or "")
        moved = unit is not None and (unit.t0_ns, unit.t1_ns) != (mark.t0_ns, mark.t1_ns)
        marks.append(replace(mark, t0_ns=unit.t0_ns, t1_ns=unit.t1_ns) if moved and unit else mark)
    marks.sort(key=lambda mark: (mark.t0_ns, mark.t1_ns, mark.id))
    return replace(rater, marks=tuple(marks))


FLAG, NOTE, DEVIATION = "flag", "note", "deviation"
PROMPT, QUESTION = "prompt", "question"
"""Tiers of these marks, and codes of all but flags, whose code is their number."""
MODERATOR_KINDS = tuple(
    payload.kind for payload in (FlagAdded, NoteAdded, DeviationNoted, NoteCorrected, RemoteAsked)
)
"""Kinds of events that marks come from, beside all that derive from `Prompt`."""


def moderator_marks(events: Iterable[tuple[Event, Payload]]) -> RaterMarks:
    """Flags, notes, deviations, prompts and questions of a journal, as they read in the end.

    Flags, prompts and questions are points; a note lasts from its first key to its end. What was
    taken back is left out. The id of a mark is that of its event, its memo what was written.
    """
    marks: dict[int, Mark] = {}
    taken_back: set[int] = set()
    afar = Afar()
    for event, payload in events:
        afar.apply(event, payload)
        key_ns = afar.time_ns(event)
        match payload:
            case FlagAdded():
                code = str(payload.number)
                marks[event.seq] = _mark(event, FLAG, code, key_ns, payload.meaning)
            case NoteAdded():
                marks[event.seq] = _mark(event, NOTE, NOTE, payload.typing_began_ns, payload.text)
            case DeviationNoted():
                began = payload.typing_began_ns
                marks[event.seq] = _mark(event, DEVIATION, DEVIATION, began, payload.text)
            case GuideQuestion():
                marks[event.seq] = _mark(event, QUESTION, QUESTION, key_ns, payload.text)
            case Prompt():
                marks[event.seq] = _mark(event, PROMPT, PROMPT, key_ns, payload.text)
            case NoteCorrected() if (before := marks.get(payload.seq)) is not None:
                marks[payload.seq] = replace(before, memo=payload.text or before.memo)
                taken_back.discard(payload.seq)
                if not payload.text:
                    taken_back.add(payload.seq)
            case _:
                """Nothing that the moderator wrote down."""
    left = (mark for seq, mark in marks.items() if seq not in taken_back)
    ordered = sorted(left, key=lambda mark: (mark.t0_ns, mark.t1_ns, mark.id))
    return RaterMarks(MODERATOR, tuple(ordered), "done", machine=True)


def _mark(event: Event, tier: str, code: str, t0_ns: int, memo: str) -> Mark:
    times = min(t0_ns, event.t_ns), event.t_ns
    mark = Mark(f"event-{event.seq}", MODERATOR, tier, code, *times, memo=memo, blind=())
    return replace(mark, utc=event.utc)


@dataclass(frozen=True)
class AnnotatedSession:
    """A session with what was said about it.

    Attributes
    ----------
    path : its folder.
    record : as recorded.
    annotations : what was said about it, as far as it may be shown.
    """

    path: Path
    record: Record
    annotations: SessionAnnotations

    @property
    def name(self) -> str:
        """Of its folder."""
        return self.path.name


@dataclass(frozen=True)
class StudySessions:
    """The sessions of a study. usable: in the order of their starts; left_out: the names of the
    others, and why each is left out."""

    usable: tuple[AnnotatedSession, ...]
    left_out: tuple[tuple[str, str], ...]


def study_sessions(study: Path) -> StudySessions:
    """The sessions of a study; none of somebody who withdrew is among the usable ones."""
    usable: list[AnnotatedSession] = []
    left_out: list[tuple[str, str]] = []
    for path in sessions_in(study.absolute()):
        try:
            record = open_record(path)
            if record.withdrawn:
                left_out.append((path.name, "its participant withdrew"))
            elif record.running:
                left_out.append((path.name, "it is being recorded"))
            else:
                usable.append(AnnotatedSession(path, record, annotations_of(record)))
        except LabappError as error:
            left_out.append((path.name, error.what))
    return StudySessions(tuple(usable), tuple(left_out))


_SHOWN = (
    "tier", "code", "value", "unit", "speaker", "origin", "text", "what", "status", "frozen",
    "accepted", "by", "rater", "round", "reason", "reviewed", "replacement", "memo",
)  # fmt: skip
"""What is shown of a body, in this order; ids and hashes are in the file."""
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class AnnotationStep:
    """A line of a file of annotations. rater: whose file it is; empty for what all share."""

    file: str
    rater: str
    line: Line

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        line = self.line._asdict()
        return {"file": self.file, **line, "body": dict(self.line.body)}

    def __str__(self) -> str:
        body = self.line.body
        facts = [_time(body)] if "t0_ns" in body else []
        facts += [f"{key} {_short(body[key])}" for key in _SHOWN if body.get(key) not in ("", None)]
        why = f" ({body[WHY]})" if body.get(WHY) else ""
        whose = self.rater or self.file
        return f"{self.line.utc[:19]}Z  {whose}  {self.line.kind}{why}  {', '.join(facts)}".rstrip()


def history_of(record: Record, rater: str | None = None) -> tuple[AnnotationStep, ...]:
    """Every line of a session's annotations, oldest first. Raises AnnotationError if a line is
    damaged."""
    return tuple(sorted(_steps(record, rater), key=lambda step: (step.line.utc, step.file)))


def _steps(record: Record, rater: str | None) -> Iterator[AnnotationStep]:
    tree = annotations_tree(record)
    for name in tree.names():
        path = PurePosixPath(name)
        if path.suffix != LINES or path.name.startswith("."):
            continue
        whose = path.stem if path.parent == PurePosixPath(RATERS) else ""
        if rater is not None and whose != rater:
            continue
        lines = require_whole(parse(tree.read(name, LARGEST)), f"{record.name}: {name}")
        yield from (AnnotationStep(name, whose, line) for line in lines.lines)


def _time(body: Mapping[str, Any]) -> str:
    begin, end = _clock(body["t0_ns"]), _clock(body.get("t1_ns", body["t0_ns"]))
    return begin if begin == end else f"{begin} to {end}"


def _clock(t_ns: Any) -> str:
    seconds = t_ns / 1e9 if isinstance(t_ns, int) else 0.0
    return f"{int(seconds // 60)}:{seconds % 60:05.2f}"


def _short(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


@dataclass(frozen=True, slots=True)
class SessionIdentity:
    """What a session is known by. journal: hash of its last event, which all events before go into;
    sound: SHA-256 of each sound file, by its name in the session's folder."""

    journal: str
    sound: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """As a line of a file has it."""
        return {"journal": self.journal, "sound": dict(self.sound)}


def identity_of(record: Record, session: Path) -> SessionIdentity:
    """What a recorded session is known by. session: its folder. Raises AnnotationError: a sound
    file cannot be read."""
    sound: dict[str, str] = {}
    for audio in record.audio:
        if files.is_file(session / audio.file):
            try:
                sound[audio.file] = hash_with_cache(session / audio.file)
            except OSError as error:
                raise AnnotationError(
                    f"{session / audio.file} cannot be read ({error.strerror or error}).",
                    todo="Make sure that the file can be read.",
                ) from error
    return SessionIdentity(record.rows[-1].hash, sound)


def difference(
    stored: Mapping[str, Any], record: Record, sound: Mapping[str, str] | None = None
) -> str:
    """Why a file does not belong to a session, in words; empty if it does. A session that was
    continued since is the same: the events it had are there. stored: what the file says of it, see
    `SessionIdentity.to_json`; sound: SHA-256 of the sound files that are there; if it is left
    out, sound is not compared."""
    journal = stored.get("journal")
    if not any(row.hash == journal for row in reversed(record.rows)):
        return "its journal is not the one that was coded"
    if sound is None:
        return ""
    before = stored.get("sound")
    for name, digest in sorted((before if isinstance(before, dict) else {}).items()):
        if name in sound and sound[name] != digest:
            return f"the sound {name} is not the one that was coded"
    return ""


def hash_with_cache(path: Path) -> str:
    """SHA-256 of a file, kept in the cache folder for as long as its size and time stay the same.

    Raises OSError if it cannot be read.
    """
    status = path.stat()
    known = f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}"
    cached = (
        cache_root() / "sound-sha256" / hashlib.sha256(known.encode("utf-8", "replace")).hexdigest()
    )
    try:
        text = files.content(cached, 64).decode("ascii", "replace")
        if len(text) == 64:
            return text
    except OSError:
        """It was not computed yet."""
    with files.open_file(path) as stream:
        text = hashlib.file_digest(stream, "sha256").hexdigest()
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        draft = cached.with_suffix(".draft")
        draft.write_bytes(text.encode())
        draft.replace(cached)
    except OSError:
        """It is computed again next time."""
    return text


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """How far a rater is.

    Attributes
    ----------
    units : how many units they coded.
    uncoded : units of theirs without a code on a tier that is not optional.
    status, independent : of the round that they are in; of coding that counts, empty if they
        gave none.
    uncoded : units of theirs without a code on a tier that is not optional.
    program : whether these are a simulated participant's own codes, and no person's.
    """

    rater: str
    marks: int
    units: int
    status: str
    independent: str = ""
    uncoded: int = 0
    program: bool = False


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """How far a session is.

    Attributes
    ----------
    speakers_said : bool
        Whether somebody said who speaks; if not, all units count as the participant's.
    texts, reviewed : how many units have a text, and one that a person has read against the sound.
    second : whether more than one of them is done with coding that counts, training left out.
    problem : why nothing is known, in words; empty if it is.
    """

    session: str
    units: int = 0
    frozen: bool = False
    proposals: int = 0
    speakers_said: bool = True
    texts: int = 0
    reviewed: int = 0
    raters: tuple[RaterProgress, ...] = ()
    second: bool = False
    adjudicated: int = 0
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


Uncoded = Callable[[SessionAnnotations, RaterMarks], int]


def progress_of(
    annotations: SessionAnnotations, uncoded: Uncoded = lambda annotations, rater: 0
) -> SessionProgress:
    """How far a session is. uncoded: how many units a rater still has to code."""
    units = annotations.segmentation.units
    ids = {unit.id for unit in units}
    texts = [text for text in annotations.texts.values() if text.unit in ids and text.text]
    people = {name: rater for name, rater in annotations.raters.items() if not rater.machine}
    shown = people | {k: v for k, v in annotations.raters.items() if k == SIMULATED}
    raters = tuple(
        RaterProgress(
            name,
            len(rater.marks),
            len({mark.unit for mark in rater.marks} & ids),
            rater.status,
            _independent(rater),
            0 if rater.machine else uncoded(annotations, rater),
            rater.machine,
        )
        for name, rater in sorted(shown.items())
    )
    return SessionProgress(
        annotations.session,
        len(units),
        annotations.segmentation.frozen,
        len(annotations.segmentation.proposals),
        annotations.segmentation.speakers_said,
        len(texts),
        sum(may_be_quoted(text) for text in texts),
        raters,
        sum(rater.status_of("independent") != "draft" for rater in people.values()) > 1,
        len(annotations.settlements),
    )


def _independent(rater: RaterMarks) -> str:
    """The status of a rater's coding that counts; empty if there is none."""
    given = any(mark.round == "independent" for mark in rater.marks)
    return rater.status_of("independent") if given or rater.round == "independent" else ""


def study_progress(
    study: Path, uncoded: Uncoded = lambda annotations, rater: 0
) -> Iterator[SessionProgress]:
    """How far each session of a study is whose participant did not withdraw, in the order of their
    names. study: its folder; uncoded: see `progress_of`."""
    for path in places(study):
        try:
            record = open_record(path)
            if not record.withdrawn:
                yield progress_of(annotations_of(record), uncoded)
        except LabappError as error:
            yield SessionProgress(path.name, problem=error.what)


UNSAID = (
    "Nobody has said who speaks in {where}, so all units there count as the participant's, even "
    "the moderator's sentences. {todo}"
)
UNSAID_ADVICE = (
    "Set the speakers with *Units*, *Who speaks…* on the Coding page (`labapp code speakers`), "
    "or with Alt+P in the coding window."
)
HEADER = ("session", "units", "text", "coded", "second", "adjudicated")


def table(rows: Sequence[SessionProgress]) -> Iterator[str]:
    """The same as text, one line per session."""
    cells = [HEADER, *map(_cells, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADER))]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield line.rstrip()
    for progress in rows:
        if progress.problem:
            yield f"{progress.session}: {progress.problem}"
    if unsaid := sum(not progress.speakers_said for progress in rows):
        yield UNSAID.format(where=f"{unsaid} of {len(rows)} sessions", todo=UNSAID_ADVICE)


def _cells(row: SessionProgress) -> tuple[str, ...]:
    if row.problem:
        return (row.session, "?", "?", "?", "?", "?")
    units = f"{row.units} {'frozen' if row.frozen else 'open'}" if row.units else "none"
    if not row.speakers_said:
        units += ", speakers not set"
    if row.proposals:
        units += f", {row.proposals} proposed"
    text = f"{row.texts} of {row.units}" if row.units else "none"
    if row.reviewed:
        text += f", {row.reviewed} read"
    coded = ", ".join(
        f"{rater.rater} {rater.units}/{row.units} "
        f"({'a program' if rater.program else rater.status})"
        for rater in row.raters
    )
    second = "yes" if row.second else "no"
    return (row.session, units, text, coded or "nobody", second, str(row.adjudicated or "no"))
