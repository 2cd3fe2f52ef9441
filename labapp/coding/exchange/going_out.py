"""Writing a session's coding as a file of another tool, or as a folder of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labapp.base import access, durable, leftovers
from labapp.base.errors import ExchangeError
from labapp.base.messages import Message
from labapp.coding.annotations.handed_out import note_handed_out, session_folders
from labapp.coding.annotations.redacting import redacted_tree
from labapp.coding.annotations.store import annotations_of
from labapp.coding.exchange import files
from labapp.coding.exchange.files import refuse_existing, unwritable
from labapp.coding.exchange.gathering import (
    JOINED,
    Base,
    FileClock,
    clocks_of,
    sheets_of,
    silences,
    sound_path,
)
from labapp.coding.exchange.model import Format
from labapp.coding.sound import SessionSound, write_sound
from labapp.record.journal.record import Record

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
    lies. It is copied, silent where it is redacted, where that is asked for, where several files
    become one, and where anything of it is redacted: nobody is led to what must not be heard.
    Without sound, or where the participant did not agree that it is passed on, times are session
    time.

    Parameters
    ----------
    rater : whose marks; `final` for those that count.
    form : see `labapp.coding.exchange.formats`.
    out : a file that is not there yet; of several sound files a folder. Sound that is copied lies
        beside.
    base : `files`, `joined` or `session`, see `labapp.coding.exchange.gathering.Base`.

    Raises
    ------
    AnnotationError
        There are no such marks, the participant does not allow it, or it cannot be written.
    """
    _refuse_withdrawn(record)
    lost: dict[str, None] = {}
    if form.name == "csv":
        base = "session"
    if not record.may("share_audio"):
        if with_sound or base == "joined":
            raise ExchangeError(
                Message("voice_not_shared", session=str(record.name)),
                safe=Message("nothing_written"),
                todo=Message("export_silent"),
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
            with files.registered(folders):
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
            out.parent.mkdir(parents=True, exist_ok=True)
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
    """Write sound files, silent where they are redacted. clock: of the whole session, where they
    become one."""
    if not made:
        return
    tree = redacted_tree(record, annotations_of(record).redactions)
    for name, path in made.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
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
            Message("participant_withdrew", session=str(record.name)),
            safe=Message("nothing_written"),
            todo=Message("export_other"),
        )
