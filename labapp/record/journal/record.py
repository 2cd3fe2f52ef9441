"""One recorded session, read the same way from a session folder and from a bundle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from labapp.base.errors import RecordError
from labapp.base.reading.values import json_value
from labapp.record.events import Event, Payload
from labapp.record.events.lifecycle import SessionPlanned
from labapp.record.events.voice import AudioBlock
from labapp.record.journal.decisions import Decision, Move, decisions, moves
from labapp.record.journal.layout import ENVIRONMENT, STUDY, FolderName
from labapp.record.journal.outline import AudioFile, Outline, Segment, State, outline
from labapp.record.journal.plausible import plausible
from labapp.record.journal.rows import Row, payloads
from labapp.record.journal.tree import Tree
from labapp.record.journal.withdrawn import withdrawal_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Record:
    """A session as recorded.

    kind: what it was read from; name: of the session folder; source: path of the session folder or
    bundle, for messages; tree: its files (`audio/…`, `study/…`, `environment.json`); rows: the
    journal; state: complete, ended_early, interrupted (no orderly end), or running (held by a
    process right now); bundled_withdrawal: what a bundle says of a withdrawal (see `withdrawn`);
    bundled_decision: of a decision by hand (see `decision`); bundled_move: of a move between the
    study and its pilots (see `move`); deidentified, dates_moved: whether it is a
    de-identified copy, and its dates are not the true ones.
    """

    kind: Literal["session", "bundle"]
    source: str
    name: FolderName
    tree: Tree
    rows: Sequence[Row]
    running: bool = False
    bundled_withdrawal: str = ""
    bundled_decision: Decision | None = None
    bundled_move: Move | None = None
    deidentified: bool = False
    dates_moved: bool = False

    def __post_init__(self) -> None:
        if not self.rows or not isinstance(self._first, SessionPlanned):
            raise RecordError(
                f"The journal of {self.source} does not begin with the session's plan.",
                safe="It was only read; nothing was changed.",
                todo="A session that was killed while it was being made holds nothing yet: "
                "start a new one.",
            )

    @cached_property
    def _first(self) -> Payload:
        return next(payloads(self.rows[:1]))[1]

    @property
    def planned(self) -> SessionPlanned:
        """The first event: study, assignment and the realised plan."""
        assert isinstance(self._first, SessionPlanned)
        return self._first

    @property
    def withdrawn(self) -> str:
        """Keep or delete where the participant withdrew, in the session or later; else empty."""
        withdrawal = self.course.withdrawal
        if self.kind == "session":
            return withdrawal_of(Path(self.source), withdrawal)
        return self.bundled_withdrawal or withdrawal

    @property
    def decision(self) -> Decision | None:
        """What was decided by hand about whether the session counts; None where nothing was. A
        de-identified copy withholds the reason, which a person wrote, and the time."""
        if self.kind == "session":
            folder = Path(self.source)
            decision = decisions(folder.parent).get(folder.name)
        else:
            decision = self.bundled_decision
        if decision is None or not self.redacted:
            return decision
        return Decision(decision.included, "")

    @property
    def move(self) -> Move | None:
        """That it was recorded as a pilot and moved into the study, or back, and why; None where it
        is as it was recorded. A de-identified copy withholds the reason and the time."""
        if self.kind == "session":
            folder = Path(self.source)
            move = moves(folder.parent).get(folder.name)
        else:
            move = self.bundled_move
        return Move(move.pilot, "") if move is not None and self.redacted else move

    @property
    def pilot(self) -> bool:
        """Whether it is a trial run, kept apart from the study."""
        return self.planned.pilot if (move := self.move) is None else move.pilot

    @property
    def participant(self) -> str:
        return self.planned.participant

    @property
    def session(self) -> str:
        return self.planned.session

    @property
    def study(self) -> str:
        return self.planned.study

    @property
    def other_labels(self) -> str:
        """Empty, or whose session the journal says it is, where the folder's name says another."""
        if (self.name.participant, self.name.session) == (self.participant, self.session):
            return ""
        return f"is of participant {self.participant}, session {self.session}"

    def events(self) -> Iterator[Event]:
        """Every event in the journal's order."""
        return (event for event, _ in self.payloads())

    def payloads(self) -> Iterator[tuple[Event, Payload]]:
        """Every event with its typed payload, old versions migrated.

        Raises RecordError: one cannot be read, or does not fit the plan and those before it.
        """
        return plausible(payloads(self.rows))

    @cached_property
    def course(self) -> Outline:
        """The outline without the blocks of its sound, one a second: most who open a record ask for
        no more, and reading those of an hour takes as long as all else."""
        rows = (row for row in self.rows if row.kind != AudioBlock.kind)
        return outline(rows, max(row.t_ns for row in self.rows))

    @cached_property
    def outline(self) -> Outline:
        """Segments, sound files, pauses and the end, folded once."""
        return outline(self.rows)

    @property
    def state(self) -> State:
        state = self.course.state
        return "running" if self.running and state == "interrupted" else state

    @property
    def segments(self) -> tuple[Segment, ...]:
        return self.outline.segments

    @property
    def audio(self) -> tuple[AudioFile, ...]:
        """Sound files as the journal knows them; a bundle may have left the sound out."""
        return self.outline.audio

    def may(self, use: str) -> bool:
        """Whether the participant's consent allows a use of the data: they agreed to it, or the
        consent form did not ask about it by itself (see `labapp.study.consent.Use`)."""
        return self.course.agreed.get(use, True)

    @property
    def working_s(self) -> float:
        """Length without pauses and gaps, in seconds."""
        return self.outline.working_ns / 1e9

    @cached_property
    def redacted(self) -> bool:
        """Whether the record is a de-identified copy."""
        return self.deidentified or any(row.redacted for row in self.rows)

    @cached_property
    def environment(self) -> list[dict[str, Any]]:
        """environment.json: an entry a segment. Empty when the session ended before it was written.

        Raises RecordError when it is not JSON.
        """
        if not self.tree.has(ENVIRONMENT):
            return []
        why = "it is not a list of objects"
        try:
            entries = json_value(self.tree.read(ENVIRONMENT))
            if isinstance(entries, list) and all(isinstance(e, dict) for e in entries):
                return entries
        except ValueError as error:
            why = str(error)
        raise RecordError(
            f"{ENVIRONMENT} of {self.source} is damaged ({why}).",
            safe="The journal is not affected; it holds the same facts.",
            todo="Run `labapp sessions verify` on it.",
        )

    def study_files(self) -> dict[str, bytes]:
        """The study as used: relative name -> content."""
        below = self.tree.below(STUDY)
        return {name: below.read(name) for name in below.names()}

    @cached_property
    def table(self) -> pa.Table:
        """The journal as an Arrow table: the columns of `layout.COLUMNS` and `redacted`."""
        from labapp.record.journal.arrow import table_of

        return table_of(self.rows)
