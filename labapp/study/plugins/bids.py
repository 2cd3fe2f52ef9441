"""The files of a task in a bundle: `TaskFiles` says what stands in them, `TaskRows` fills them.

The bundle itself knows what all tasks share: stages and trials that last, pauses, file names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from labapp.base.clock import NS
from labapp.base.reading.tables import AsItIs
from labapp.record.events.lifecycle import NoteCorrected
from labapp.record.events.trials import LevelChosen, TrackEnded, TrialEnded

if TYPE_CHECKING:
    from labapp.record.events import Event, Payload
    from labapp.record.journal.record import Record

Cells = dict[str, Any]
"""The cells of a row, by the names of their columns."""
Key = tuple[str | None, int | None, int | None]
"""Stage, trial and attempt."""

STAGE, TRIAL = "stage", "trial"
"""The types of rows that every task has."""
STAGE_TYPE = "A stage, or the practice, from its first question to its end."
TIME_EXPIRED_TYPE = "The time limit of the stage was reached."
"""What types of rows mean that several tasks have."""
SESSION_LABEL = "session"
"""The label of the files about the session as a whole."""


def seconds(t_ns: int) -> AsItIs:
    """Nanoseconds as exact decimal seconds."""
    sign, t_ns = ("-", -t_ns) if t_ns < 0 else ("", t_ns)
    whole, part = divmod(t_ns, NS)
    return AsItIs(f"{sign}{whole}.{part:09d}".rstrip("0").rstrip("."))


@dataclass(frozen=True, slots=True)
class Column:
    """A column as its sidecar describes it. levels: meaning by value, where there are few."""

    name: str
    description: str
    units: str = ""
    levels: Mapping[str, str] = field(default_factory=dict)
    format: str = ""

    def sidecar(self) -> dict[str, Any]:
        entry: dict[str, Any] = {"Description": self.description}
        if self.units:
            entry["Units"] = self.units
        if self.levels:
            entry["Levels"] = dict(self.levels)
        if self.format:
            entry["Format"] = self.format
        return entry


@dataclass(frozen=True)
class CourseRow:
    """A type of row in the timeline of the session as a whole, for an event outside of trials.

    Attributes
    ----------
    kind : the kind of event that has the row; the type is called like it.
    meaning : what it says, for the sidecar.
    cells : from the event's payload the cells `value` and `text`, as far as there are any.
    behind : the type of row behind which the sidecar describes it; empty for the last place.
    """

    kind: str
    meaning: str
    cells: Callable[[Any], Cells] = lambda payload: {}
    behind: str = ""


class Answer(NamedTuple):
    """An event that ends its trial by itself, earlier than `trial.ended` says.

    Attributes
    ----------
    t_ns : session time at which the trial was over.
    outcome : how it ended.
    cells : what it adds to the trial's row.
    """

    t_ns: int
    outcome: str
    cells: Cells


class TaskRows:
    """Fills the rows of one task in one session. A task derives from it where the fields of its
    events are not called like the columns.

    Attributes
    ----------
    record : the session.
    plan : dict
        By id the parts of its plan that the files are about.
    drawn : dict
        By trial what was drawn for it: the payload of the event that made it.
    """

    def __init__(self, files: TaskFiles, record: Record) -> None:
        self.files = files
        self.record = record
        self.plan = files.plan(record)
        self.drawn: dict[Key, Any] = {}
        self._names = {column.name for column in files.event_columns}
        self._fields: dict[type[Any], tuple[str, ...]] = {}

    def noted(self, event: Event, payload: Payload) -> None:
        """Remember the content of an event that has no row of its own, such as what was drawn."""
        if event.kind == self.files.drawn:
            self.drawn[event.key] = payload

    def shown_ns(self, event: Event, payload: Any) -> int:
        """Session time at which a trial was on the screen."""
        return event.t_ns

    def shown(self, event: Event, payload: Any) -> Cells:
        """The cells of a trial, from the event that put it on the screen."""
        return self.called_alike(payload)

    def moment(self, event: Event, payload: Any) -> Cells:
        """The cells of an event that has a row."""
        return self.called_alike(payload)

    def answer(self, event: Event, payload: Any, shown_ns: int) -> Answer | None:
        """Whether an event alone ends the current trial, which was shown at `shown_ns`."""
        return None

    def question(self, row: Mapping[str, Any]) -> Cells:
        """What `_beh.tsv` adds to a trial's row of the analysis table, which is given."""
        return {}

    def pictures(self) -> Mapping[str, str]:
        """The pictures that `stim_file` names: where they are to be in the bundle's folder
        `stimuli`, and the files in the session's folder that they are."""
        return {}

    def called_alike(self, payload: Any) -> Cells:
        """The fields of an event that have the same name as a column."""
        kind = type(payload)
        if kind not in self._fields:
            self._fields[kind] = tuple(
                name for name in kind.__struct_fields__ if name in self._names
            )
        return {name: getattr(payload, name) for name in self._fields[kind]}


@dataclass(frozen=True, eq=False)
class TaskFiles:
    """What a bundle has of one task: `_beh.tsv`, one row per trial, and `_events.tsv`, one row per
    thing that happened.

    Attributes
    ----------
    parts : the kinds of parts of the plan whose trials they hold.
    name, label : of the task: for people, and as BIDS writes it in file names (letters and digits).
    description : what the participant does, with the source.
    table : the analysis' table whose rows `_beh.tsv` has.
    left_out : names of its columns that `_beh.tsv` does not have, besides those that the place of
        the file says already and those that other tasks bring.
    trial_columns : its columns by name, as packages listed them until 0.1; None for all but those
        `left_out`.
    more_columns : of `_beh.tsv` besides, which `TaskRows.question` fills.
    event_columns : of `_events.tsv`, besides those that the timelines of all tasks have.
    types : what the types of rows of `_events.tsv` mean, `stage` and `trial` first.
    kinds : the type of row by the kind of event that has one.
    drawn, shown : the kinds of events that make a trial, and that put it on the screen.
    without_row : the kinds of events of these parts that need no row: other rows say what they say.
        A kind that stands nowhere here has a row in the timeline of the session, with its fields.
    readme : what the README of a bundle says of its files; empty if that of other files of the
        task says it, None for `description`.
    rows : what fills the rows of a session: `TaskRows`, or a class derived from it.

    Raises
    ------
    ValueError : the label is none, or a type of row is used and not described.
    """

    parts: tuple[str, ...]
    name: str
    label: str
    description: str
    event_columns: tuple[Column, ...]
    types: Mapping[str, str]
    kinds: Mapping[str, str]
    drawn: str
    shown: str
    table: str = "trials"
    left_out: tuple[str, ...] = ()
    trial_columns: tuple[str, ...] | None = None
    more_columns: tuple[Column, ...] = ()
    without_row: tuple[str, ...] = ()
    readme: str | None = None
    rows: Callable[[TaskFiles, Record], TaskRows] = TaskRows

    def __post_init__(self) -> None:
        if not (self.label.isascii() and self.label.isalnum()) or self.label == SESSION_LABEL:
            raise ValueError(f"{self.label!r} is not a label of a task in names of BIDS files")
        for row in (STAGE, TRIAL, *self.kinds.values()):
            if row not in self.types:
                raise ValueError(f"rows of the type {row!r} are not described")

    @property
    def introduction(self) -> str:
        """What the README of a bundle says about these files."""
        if self.readme is None:
            return f"`*_task-{self.label}_*.tsv`: {self.description}"
        return self.readme

    @property
    def placed(self) -> frozenset[str]:
        """The kinds of events of these parts that the files record."""
        trial = (self.drawn, self.shown, TrialEnded.kind)
        return frozenset((*self.kinds, *trial, *self.without_row))

    def plan(self, record: Record) -> dict[str, Any]:
        """The parts of a session's plan that the files are about, by id. Raises RecordError."""
        from labapp.study.plugins.registry import read_part  # which asks tasks for such files

        rows = (row for row in record.planned.plan if row["part"] in self.parts)
        return {part.id: part for part in map(read_part, rows)}


ADAPTIVE = (
    CourseRow(
        LevelChosen.kind,
        "The rule of an adaptive stage chose the next level; value is the level, text is track, "
        "place of the level and place of the item, each from 1.",
        lambda payload: {
            "value": payload.value,
            "text": f"{payload.track} {payload.level} {payload.item}",
        },
        behind=NoteCorrected.kind,
    ),
    CourseRow(
        TrackEnded.kind,
        "The rule of an adaptive stage ended a track; value is the track, text the reason.",
        lambda payload: {"value": payload.track, "text": payload.because},
        behind=LevelChosen.kind,
    ),
)
"""What a bundle has of the decisions of adaptive stages, of any task."""
