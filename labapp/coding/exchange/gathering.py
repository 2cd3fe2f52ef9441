"""A rater's coding of a session as sheets: one per sound file, or one in session time.

Writing a session's coding as a file of another tool, or as a folder of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from labapp.base import access, durable, leftovers
from labapp.base.clock import NS
from labapp.base.errors import ExchangeError
from labapp.base.messages import Message
from labapp.coding.annotations.codebook import Code, Codebook, Kind, Tier, codebooks_of
from labapp.coding.annotations.final import final_marks
from labapp.coding.annotations.model import FINAL, Mark, SessionAnnotations, Unit, Word
from labapp.coding.annotations.redacting import note_handed_out, redact_tree, session_folders
from labapp.coding.annotations.rounds import assignments_of
from labapp.coding.annotations.store import annotations_of, codebooks_in
from labapp.coding.annotations.texts import may_be_quoted
from labapp.coding.exchange import files
from labapp.coding.exchange.files import MS, refuse_existing, unwritable
from labapp.coding.exchange.model import Annotation, Format, Media, Sheet, Stamp, Utterance, losses
from labapp.coding.sound import SessionSound, write_sound
from labapp.record.audio.alignment import ClockFit
from labapp.record.journal.layout import FolderTree
from labapp.record.journal.record import Record

Base = Literal["files", "joined", "session"]
"""What times are of: each sound file's own, one sound file of the whole session, or the session."""
JOINED = ""
"""In the place of a sound file's name: the one sound file of the whole session."""


@dataclass(frozen=True, slots=True)
class FileClock:
    """Goes between session time and the time of a file.

    Attributes
    ----------
    name : of the sound file; empty for session time.
    t0_ns, t1_ns : session time that it covers; what begins in it is on its sheet.
    fit : of the sound file; None if its time is session time.
    """

    name: str
    t0_ns: int
    t1_ns: int
    fit: ClockFit | None = None

    def to_file(self, t_ns: int) -> int:
        """The time of the file at a session time: by its frames, as players count them."""
        if self.fit is None:
            return t_ns
        return round((t_ns - self.fit.offset_ns) * self.fit.rate / self.fit.nominal_rate)

    def to_session(self, t_ns: int) -> int:
        """The session time at a time of the file."""
        if self.fit is None:
            return t_ns
        return self.fit.offset_ns + round(t_ns * self.fit.nominal_rate / self.fit.rate)


@dataclass(frozen=True, slots=True)
class ExportedCoding:
    """What of a session goes out, in session time.

    Attributes
    ----------
    annotations : SessionAnnotations
        Without what is redacted, and without texts if the participant did not agree to them.
    codebook : by which they were given; of a rater without one, as a moderator, made of the marks.
    lost : what of the rater's marks is not among them, in words.
    """

    annotations: SessionAnnotations
    marks: tuple[Mark, ...]
    codebook: Codebook
    lost: tuple[str, ...] = ()


def coding_of(record: Record, rater: str, codebook: str = "") -> ExportedCoding:
    """A rater's coding of a session, or the `final` one. codebook: its id, if the rater coded
    by several. Raises AnnotationError if there is no such rater or codebook, or a file cannot be
    read."""
    annotations = annotations_of(record)
    lost: list[str] = []
    if rater == FINAL:
        ids = {sha256: book.id for sha256, book in codebooks_in(record).items()}
        marks: tuple[Mark, ...] = final_marks(annotations, assignments_of(record), ids)
    elif rater in annotations.raters:
        given_by = annotations.raters[rater]
        round_, every = given_by.round, given_by.marks
        marks = tuple(mark for mark in every if given_by.machine or mark.round == round_)
        if others := len(every) - len(marks):
            lost.append(Message("lost_rounds", n=others, round=round_))
    else:
        known = ", ".join([*sorted(annotations.raters), FINAL])
        raise ExchangeError(
            Message("no_marks", rater=rater, session=str(record.name)),
            todo=Message("there_are", known=known),
        )
    versions = codebooks_in(record)
    used = {versions[mark.codebook].id for mark in marks if mark.codebook in versions}
    if codebook or used:
        wanted = _choose_codebook_id(used, codebook, rater, record)
        chosen = [m for m in marks if m.codebook in versions and versions[m.codebook].id == wanted]
        if others := len(marks) - len(chosen):
            lost.append(Message("lost_codebooks", n=others, codebook=wanted))
        given = [versions[m.codebook] for m in chosen]
        book = max(given, key=lambda book: book.version)
        return ExportedCoding(annotations, tuple(chosen), book, tuple(lost))
    own = (None if marks else _study_codebook(record)) or make_codebook(rater, marks)
    return ExportedCoding(annotations, marks, own, tuple(lost))


def _choose_codebook_id(ids: set[str], codebook: str, rater: str, record: Record) -> str:
    known = ", ".join(sorted(ids))
    whose = {"rater": rater, "session": str(record.name)}
    if codebook and codebook not in ids:
        raise ExchangeError(
            Message("marks_other_codebook", codebook=repr(codebook), **whose),
            todo=Message("marks_by", known=known) if ids else Message("marks_by_none"),
        )
    if not codebook and len(ids) > 1:
        raise ExchangeError(
            Message("marks_several", known=known, **whose), todo=Message("marks_name_codebook")
        )
    return codebook or min(ids)


def _study_codebook(record: Record) -> Codebook | None:
    """The codebook of a study that has one, for a rater who gave no marks yet."""
    if record.kind != "session":
        return None
    books = codebooks_of(Path(record.source).absolute().parent)
    return books[0] if len(books) == 1 else None


def make_codebook(name: str, marks: Iterable[Mark | Annotation]) -> Codebook:
    """A codebook of the tiers and codes that marks have, if nobody wrote one."""
    tiers: dict[str, None] = {}
    codes: dict[str, Code] = {}
    for mark in marks:
        tiers.setdefault(mark.tier)
        point = mark.t0_ns == mark.t1_ns
        kind: Kind = "point" if point else "span"
        codes.setdefault(mark.code, Code(mark.code, mark.tier, mark.code, kind=kind))
    own = tuple(Tier(tier, tier, on="spans") for tier in tiers)
    return Codebook(name, 1, "", own, tuple(codes.values()))


def clocks_of(record: Record, base: Base, sound: SessionSound) -> list[FileClock]:
    """What times go out in: a clock a sound file, or one of the session."""
    if base == "files" and sound.spans:
        return [FileClock(s.file, s.t0_ns, s.t1_ns, sound.fit(s.file)) for s in sound.spans]
    end = max(sound.end_ns, record.rows[-1].t_ns) + 1
    return [FileClock("", 0, end)]


def sheets_of(
    record: Record,
    rater: str,
    base: Base = "files",
    codebook: str = "",
    media: Mapping[str, Path] | None = None,
) -> list[Sheet]:
    """The sheets of a rater's coding of a session, or of the `final` one, in order of time; marks
    that begin where there is no sound are told in the first one's `lost`. media: where each sound
    file lies, by its name, or by `JOINED`, with silence where it is redacted; those that are left
    out are not linked. Raises AnnotationError as `coding_of`."""
    coding = coding_of(record, rater, codebook)
    sound = SessionSound(record, silences(coding.annotations))
    try:
        clocks = clocks_of(record, base, sound)
        sheets = [sheet_of(record, rater, coding, clock, sound, media) for clock in clocks]
    finally:
        sound.close()
    lost = [*coding.lost]
    units = coding.annotations.segmentation.units
    placed: dict[str, Sequence[Mark | Unit]] = {"marks": coding.marks, "units": units}
    for what, things in placed.items():
        outside = sum(not any(c.t0_ns <= m.t0_ns < c.t1_ns for c in clocks) for m in things)
        lost += losses({f"lost_{what}_outside": outside})
    return [replace(sheets[0], lost=(*lost, *sheets[0].lost)), *sheets[1:]]


def silences(annotations: SessionAnnotations) -> list[tuple[int, int]]:
    """Session times that may be heard by nobody."""
    # A millisecond wider on either side: rounding lets nothing of it through.
    return [(r.t0_ns - MS, r.t1_ns + MS) for r in annotations.redactions]


def sound_path(record: Record, name: str) -> Path | None:
    """Where a sound file of a session lies on the disk; None in an archive."""
    if isinstance(record.tree, FolderTree) and record.tree.has(name):
        return (record.tree.path / name).absolute()
    return None


def sheet_of(
    record: Record,
    rater: str,
    coding: ExportedCoding,
    clock: FileClock,
    sound: SessionSound,
    media: Mapping[str, Path] | None = None,
) -> Sheet:
    """What of a coding begins in the time that a clock covers, in its time; see `sheets_of`."""
    own, lost = _media(clock, sound, media or {}), []
    end_ns = clock.to_file(clock.t1_ns)

    def times(t0_ns: int, t1_ns: int) -> tuple[int, int]:
        begin, end = max(0, clock.to_file(t0_ns)), clock.to_file(t1_ns)
        return begin, max(begin, min(end, end_ns) if clock.fit else end)

    annotations = coding.annotations
    texts = annotations.texts
    units = [u for u in annotations.segmentation.units if clock.t0_ns <= u.t0_ns < clock.t1_ns]
    marks = [m for m in coding.marks if clock.t0_ns <= m.t0_ns < clock.t1_ns]
    ends = [*(unit.t1_ns for unit in units), *(mark.t1_ns for mark in marks)]
    cut = sum(end > clock.t1_ns for end in ends) if clock.fit else 0
    if cut:
        lost.append(Message("lost_ends", n=cut, file=clock.name))
    utterances = []
    for unit in units:
        text = texts.get(unit.id)
        words = tuple(
            Word(*times(word.t0_ns, word.t1_ns), word.text, word.probability)
            for word in (text.words if text else ())
        )
        own_times, content = times(unit.t0_ns, unit.t1_ns), text.text if text else ""
        utterances.append(Utterance(unit.id, *own_times, unit.speaker, content, words))
    drafts = (texts[unit.id] for unit in units if unit.id in texts)
    lost += losses({"lost_unread": sum(bool(t.text) and not may_be_quoted(t) for t in drafts)})
    given = []
    for mark in marks:
        text = texts.get(mark.unit or "")
        content = text.text if text else ""
        own_times = times(mark.t0_ns, mark.t1_ns)
        place = (mark.tier, mark.code, *own_times, mark.unit)
        given.append(Annotation(mark.id, *place, content, mark.value, mark.memo))
    blind = not coding.marks or any("names" in mark.blind for mark in coding.marks)
    facts = {} if blind else {k: str(v) for k, v in record.planned.assignment.items()}
    stamp = Stamp(str(record.name), rater, sound=clock.name).of(utterances, given)
    return Sheet(
        str(record.name),
        record.participant,
        rater,
        tuple(utterances),
        tuple(given),
        coding.codebook,
        own,
        end_ns,
        stamp,
        record.rows[0].utc,
        facts,
        tuple(lost),
    )


def _media(clock: FileClock, sound: SessionSound, media: Mapping[str, Path]) -> Media | None:
    if clock.fit is not None:
        frames = round((clock.t1_ns - clock.fit.offset_ns) * clock.fit.rate / NS)
        path = media.get(clock.name)
        return Media(Path(clock.name).name, path, clock.fit.nominal_rate, frames)
    joined = media.get(JOINED)
    if joined is None:
        return None
    frames = round((clock.t1_ns - clock.t0_ns) * sound.rate / NS)
    return Media(joined.name, joined, sound.rate, frames)


EXPORT = "export"


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes
    ----------
    files : in order of time, sound files last.
    marks, units : how many are in them.
    lost : what the format, or the sound, has no place for, in words.
    """

    files: list[Path] = field(default_factory=list)
    marks: int = 0
    units: int = 0
    lost: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "files": [str(path) for path in self.files],
            "n_marks": self.marks,
            "n_units": self.units,
            "lost": self.lost,
        }


def export_coding(
    record: Record,
    rater: str,
    form: Format,
    out: Path,
    *,
    base: Base = "files",
    codebook: str = "",
    with_sound: bool = False,
) -> Exported:
    """Write a rater's coding of a session in a format.

    Times are those of each sound file, as other tools play it, and the sound is linked where it
    lies. It is copied, silent where it is redacted, if that is asked for, if several files
    become one, and where anything of it is redacted: nobody is led to what must not be heard.
    Without sound, or where the participant did not agree that it is passed on, times are session
    time. Raises AnnotationError: there are no such marks, the participant does not allow it, or it
    cannot be written.

    Parameters
    ----------
    rater : whose marks; `final` for those that count.
    form : see `labapp.coding.exchange.incoming`.
    out : a file that is not there yet; of several sound files a folder. Sound that is copied lies
        beside.
    base : `files`, `joined` or `session`, see `labapp.coding.exchange.gathering.Base`.
    """
    _refuse_withdrawn(record)
    lost: dict[str, None] = {}
    if form.name == "csv":
        base = "session"
    if not record.may("share_audio"):
        if with_sound or base == "joined":
            raise ExchangeError(
                Message("voice_not_shared", session=str(record.name)), todo=Message("export_silent")
            )
        if record.audio and base != "session":
            lost[Message("lost_sound")] = None
        base = "session"
    annotations = annotations_of(record)
    if annotations.segmentation.units and not record.may("transcript"):
        lost[Message("lost_words")] = None
    sound = SessionSound(record, silences(annotations))
    folders = session_folders(record)
    leftovers.clear_of(folders)
    stack = ExitStack()
    try:
        clocks = clocks_of(record, base, sound)
        several = len(clocks) > 1 and not form.many
        folder, stem = (out, str(record.name)) if several else (out.parent, out.stem)
        names = [clock.name for clock in clocks if clock.name]
        made: dict[str, Path] = {}
        linked = {name: path for name in names if (path := sound_path(record, name))}
        beside = with_sound or (annotations.redactions and form.links)
        if form.holds_sound:
            beside = annotations.redactions or len(linked) < len(names)
            if beside or base == "joined":
                refuse_existing(out)
                folder = stack.enter_context(_scratch(out, folders))
        if base == "joined":
            made = {JOINED: folder / f"{stem}.wav"}
        elif beside:
            made = {name: folder / f"{stem}_{Path(name).name}" for name in names}
        sheets = sheets_of(record, rater, base, codebook, made or linked)
        groups = [[sheet] for sheet in sheets] if several else [sheets]
        places = [out]
        if several:
            places = [
                out / f"{stem}_{Path(sheet.stamp.sound).stem}{form.suffix}" for sheet in sheets
            ]
        for path in (*places, *made.values()):
            refuse_existing(path)
        beside_it = [] if form.holds_sound else [*made.values()]
        for session in folders:
            for path in dict.fromkeys((out, *places, *beside_it)):
                note_handed_out(
                    session.parent, EXPORT, path, [session.name], rater=rater, format=form.name
                )
        lost |= {why: None for sheet in sheets for why in sheet.lost}
        _make_sound(record, sound, clocks[0], made, folders)
        for group, path in zip(groups, places, strict=True):
            with files.register_new_files(folders):
                told = form.write(group, path)
            for why in told:
                lost[Message("lost_of", file=path.name, why=why) if several else why] = None
        units = sum(len(sheet.utterances) for sheet in sheets)
        marks = sum(len(sheet.annotations) for sheet in sheets)
        return Exported([*places, *beside_it], marks, units, list(lost))
    finally:
        stack.close()
        sound.close()


@contextmanager
def _scratch(out: Path, sessions: Sequence[Path]) -> Iterator[Path]:
    """A folder beside a file, for sound on its way into it. Raises ExchangeError."""
    with ExitStack() as stack:
        try:
            access.make_above(out)
            (folder,) = stack.enter_context(leftovers.on_its_way(sessions, out))
            access.own_folder(folder, exist_ok=False)
        except OSError as error:
            raise unwritable(out, error) from error
        yield folder


def _make_sound(
    record: Record,
    sound: SessionSound,
    clock: FileClock,
    made: Mapping[str, Path],
    sessions: Sequence[Path],
) -> None:
    """Write sound files, silent where they are redacted. clock: of the whole session, if they
    become one."""
    if not made:
        return
    tree = redact_tree(record, annotations_of(record).redactions)
    for name, path in made.items():
        try:
            access.make_above(path)
            with leftovers.on_its_way(sessions, path) as (draft,):
                if name == JOINED:
                    write_sound(sound, clock.t0_ns, clock.t1_ns, draft)
                else:
                    with tree.open(name) as stream, draft.open("xb") as copy:
                        shutil.copyfileobj(stream, copy, 1 << 20)
                durable.take_name(draft, path)
        except OSError as error:
            raise unwritable(path, error) from error


def _refuse_withdrawn(record: Record) -> None:
    if record.withdrawn:
        raise ExchangeError(
            Message("participant_withdrew", session=str(record.name)), todo=Message("export_other")
        )
