"""How far the sessions of a study are: segmented, transcribed, coded, coded twice, adjudicated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labapp.base.errors import LabappError
from labapp.coding.annotations.model import SessionAnnotations
from labapp.coding.annotations.store import annotations_of
from labapp.coding.annotations.texts import may_be_quoted
from labapp.record.journal.opening import open_record, places


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """How far a rater is. units: of how many units."""

    rater: str
    marks: int
    units: int
    status: str


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """How far a session is.

    Attributes
    ----------
    speakers_said : bool
        Whether somebody said who speaks; where not, all units count as the participant's.
    texts, reviewed : how many units have a text, and one that a person has read against the sound.
    second : whether more than one of them is done with coding that counts, training left out.
    problem : why nothing is known, in words; empty where it is.
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


def progress_of(annotations: SessionAnnotations) -> SessionProgress:
    """How far a session is."""
    units = annotations.segmentation.units
    ids = {unit.id for unit in units}
    texts = [text for text in annotations.texts.values() if text.unit in ids and text.text]
    people = {name: rater for name, rater in annotations.raters.items() if not rater.machine}
    raters = tuple(
        RaterProgress(
            name, len(rater.marks), len({mark.unit for mark in rater.marks} & ids), rater.status
        )
        for name, rater in sorted(people.items())
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


def study_progress(study: Path) -> Iterator[SessionProgress]:
    """How far each session of a study is whose participant did not withdraw, in the order of their
    names. study: its folder."""
    for path in places(study):
        try:
            record = open_record(path)
            if not record.withdrawn:
                yield progress_of(annotations_of(record))
        except LabappError as error:
            yield SessionProgress(path.name, problem=error.what)


UNSAID = (
    "Nobody has said who speaks in {where}: all units there count as the participant's, the "
    "moderator's sentences included. {todo}"
)
UNSAID_ADVICE = "Say it with `labapp code speakers`, or with Alt+P in the coding window."
HEADER = ("session", "units", "text", "coded", "second", "adjudicated")


def table(rows: Sequence[SessionProgress]) -> Iterator[str]:
    """The same as text, a line a session."""
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
        units += ", speakers not said"
    if row.proposals:
        units += f", {row.proposals} proposed"
    text = f"{row.texts} of {row.units}" if row.units else "none"
    if row.reviewed:
        text += f", {row.reviewed} read"
    coded = ", ".join(
        f"{rater.rater} {rater.units}/{row.units} ({rater.status})" for rater in row.raters
    )
    second = "yes" if row.second else "no"
    return (row.session, units, text, coded or "nobody", second, str(row.adjudicated or "no"))
