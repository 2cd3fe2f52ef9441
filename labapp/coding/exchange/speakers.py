"""Who speaks in the units of a session: what is suggested, and saying it for many units at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from labapp.base.clock import NS
from labapp.base.errors import AnnotationError
from labapp.base.reading import files
from labapp.coding.annotations.model import (
    MODERATOR,
    SPEAKERS,
    SessionAnnotations,
    Speaker,
    Unit,
    time_ns,
)
from labapp.coding.annotations.store import PROMPT, QUESTION, annotations_of, open_units
from labapp.coding.exchange.files import table_rows
from labapp.record.journal.opening import open_record

LARGEST = 5_000_000
"""Bytes of a table."""
NEAR_NS = 3 * NS
"""So far from the time at which a prompt was noted the moderator may have said it."""


@dataclass(frozen=True, slots=True)
class SpokenUnit:
    """A unit with who speaks in it, and who is suggested; suggested is empty for nobody else."""

    unit: str
    t0_s: float
    t1_s: float
    speaker: str
    suggested: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)

    def __str__(self) -> str:
        minutes, seconds = divmod(self.t0_s, 60)
        who = f"{self.speaker}, perhaps {self.suggested}" if self.suggested else self.speaker
        return f"{int(minutes)}:{seconds:04.1f}  {who}  {self.text}".rstrip()


@dataclass(frozen=True, slots=True)
class SpeakersSaid:
    """What became of it: units that changed, those whose change waits as a proposal, and whether
    all speakers are confirmed."""

    changed: int
    proposed: int
    confirmed: bool

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)

    def lines(self) -> Sequence[str]:
        """For people."""
        told = [f"{self.changed} units now have a different speaker."]
        if self.proposed:
            told.append(
                f"{self.proposed} changes wait until the person who froze the units accepts them "
                "in the coding window (Ctrl+Shift+A)."
            )
        if self.confirmed:
            told.append("The speakers of all units are confirmed.")
        return told


def suggest_speakers(annotations: SessionAnnotations) -> Mapping[str, Speaker]:
    """Suggested speakers by id of the unit: the moderator, for the unit next to each prompt or
    question noted in the session. It is a suggestion and no more: voices are not told apart, and
    what was said without a note is not found."""
    noted = annotations.raters.get(MODERATOR)
    suggested: dict[str, Speaker] = {}
    for mark in noted.marks if noted is not None else ():
        near = [
            (max(unit.t0_ns - mark.t0_ns, mark.t0_ns - unit.t1_ns, 0), unit)
            for unit in annotations.segmentation.units
            if mark.tier in (PROMPT, QUESTION) and unit.speaker == "participant"
        ]
        apart, unit = min(near, key=lambda pair: pair[0], default=(NEAR_NS + 1, None))
        if unit is not None and apart <= NEAR_NS:
            suggested[unit.id] = "moderator"
    return suggested


def speakers_of(session: Path) -> list[SpokenUnit]:
    """The units of a session in order of time, with who speaks. Raises AnnotationError."""
    annotations = annotations_of(open_record(session))
    suggested, texts = suggest_speakers(annotations), annotations.texts
    return [
        SpokenUnit(
            unit.id,
            unit.t0_ns / NS,
            unit.t1_ns / NS,
            unit.speaker,
            suggested.get(unit.id, ""),
            texts[unit.id].text if unit.id in texts else "",
        )
        for unit in annotations.segmentation.units
    ]


def say_speakers(
    session: Path,
    by: str,
    table: Path | None = None,
    *,
    suggested: bool = False,
    confirm: bool = False,
) -> SpeakersSaid:
    """Say who speaks in units of a session. Raises AnnotationError: the table cannot be read, or
    names a time at which nobody speaks; nothing is changed then.

    Parameters
    ----------
    table : a table with the columns `time` and `speaker`: who speaks in the unit at that time.
    suggested : whether what `suggest_speakers` has is taken over; the table goes before it.
    confirm : whether all other units have the right speaker as they are.
    """
    record = open_record(session)
    annotations = annotations_of(record)
    units = annotations.segmentation.units
    wanted: dict[str, Speaker] = dict(suggest_speakers(annotations)) if suggested else {}
    if table is not None:
        wanted |= _in_table(table, units)
    changes = [
        replace(unit, speaker=wanted[unit.id])
        for unit in units
        if wanted.get(unit.id, unit.speaker) != unit.speaker
    ]
    with open_units(session, by, record=record) as file:
        mine = file.segmentation.by == by
        waiting = 0
        for unit in changes:
            proposal = file.put(unit)
            if proposal is not None and mine:
                file.settle(proposal.id, True)
            waiting += proposal is not None and not mine
        if confirm:
            file.confirm_speakers()
    return SpeakersSaid(len(changes) - waiting, waiting, confirm)


def _in_table(path: Path, units: Sequence[Unit]) -> dict[str, Speaker]:
    speakers: dict[str, Speaker] = {}
    try:
        content = files.content(path, LARGEST)
        rows, _ = table_rows(content, path.name, ("time", "speaker"))
    except (OSError, ValueError) as error:
        raise AnnotationError(
            f"{path} cannot be read ({error}).", todo="Give a table with the columns time,speaker."
        ) from error
    for number, row in rows:
        time, speaker = row["time"].strip(), row["speaker"].strip()
        if speaker not in SPEAKERS:
            raise _make_line_error(path, number, f"{speaker!r} is not one of {', '.join(SPEAKERS)}")
        t_ns = time_ns(time)
        here = [unit for unit in units if unit.t0_ns <= t_ns < unit.t1_ns]
        if not here:
            raise _make_line_error(path, number, f"there is no unit at {time}")
        speakers |= {unit.id: cast(Speaker, speaker) for unit in here}
    return speakers


def _make_line_error(path: Path, number: int, why: str) -> AnnotationError:
    return AnnotationError(
        f"{path}, line {number}: {why}.",
        todo="*Units*, *Who speaks…* on the Coding page (`labapp code speakers NAME`) lists the "
        "units with their times.",
    )
