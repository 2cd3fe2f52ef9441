"""Sessions that are paused, broken off, skipped and left without an answer, and what the tables say
of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from labapp.analysis.column import Column, seconds
from labapp.analysis.rows import SessionRecords
from labapp.analysis.task_records import Row, TaskTables, records_class
from labapp.events import Source, payload_of
from labapp.events.commands import ConfirmSkip, HandIn, Next, Pause, Resume, SkipStage
from labapp.events.lifecycle import PartEnded
from labapp.events.trials import TrialEnded
from labapp.plugins.questions import ANSWERED
from labapp.plugins.task_type import TaskType
from labapp.testing.rehearsal import Rehearsal
from labapp.testing.watching import Notes

AWAY_S = 5_000.0
"""How long nobody works; no question of a simulated participant takes nearly as long."""
DURATION = seconds("duration_s", "working time of a trial")


def check_interruptions(
    task_type: TaskType[Any], rehearsal: Callable[[], Rehearsal], notes: Notes
) -> None:
    """Go through sessions in which something comes between, where the task has trials.

    rehearsal: a session from its beginning.
    """
    records = records_class(task_type)
    if not task_type.shown or records is None:
        return

    def pause(session: Rehearsal) -> None:
        session.runner.send(Pause("random"), Source.MODERATOR)
        session.clock.set_ns(session.clock.now_ns() + round(AWAY_S * 1e9))
        session.runner.send(Resume("goes on"), Source.MODERATOR)

    def skip(session: Rehearsal) -> None:
        part, seen = session.runner.part, len(session.events)
        for command in (SkipStage(), ConfirmSkip()):
            session.runner.send(command, Source.MODERATOR)
        if part is not None and not any(
            event.kind == PartEnded.kind and event.part_id == part.id
            for event in session.events[seen:]
        ):
            notes.add(
                f"The moderator skips {part.id!r}, and it does not end: let `decide` answer "
                "SkipStage with a `part.ended` whose outcome is `skipped`."
            )

    def leave(session: Rehearsal) -> None:
        seen = len(session.events)
        for command in (HandIn(), Next()):
            session.runner.send(command)
        ended = [event for event in session.events[seen:] if event.kind == TrialEnded.kind]
        if any(event.payload["outcome"] == ANSWERED for event in ended):
            notes.add(
                f"A question of {ended[0].part_id!r} can be left as answered before anything was "
                "answered: let `answered` hold once all of it was, so that `decide` gives nothing "
                "for *Next* until then."
            )

    def crash(session: Rehearsal) -> None:
        session.crash(AWAY_S)

    told: set[tuple[str, str]] = set()
    for happens in (pause, crash, skip, leave):
        session = rehearsal()
        if not _shown(task_type, session):
            return
        happens(session)
        session.back_to_work()
        session.go_on(lambda: session.runner.finished)  # noqa: B023 (called at once)
        events = [(event, payload_of(event)) for event in session.events]
        rows = SessionRecords.of(events, "rehearsed").rows()
        counted = set(_counted(records.tables, rows)) - told
        told |= counted
        for table, column in sorted(counted):
            what = "A pause" if happens is pause else "The time after a crash"
            notes.add(
                f"{what} is counted into the column {column!r} of the table {table!r}: take the "
                "working time that `take` of the records is given, in place of `event.t_ns`; if "
                "pauses belong in it, let its meaning say `with pauses`."
            )
        _agree(records.tables, rows, notes)


def _shown(task_type: TaskType[Any], session: Rehearsal) -> bool:
    """Go on until a question of a stage of the task is on the screen; whether one came."""

    def came() -> bool:
        part = session.runner.part
        last = part is not None and any(
            event.part_id == part.id and event.kind in task_type.shown for event in session.events
        )
        return last and part is not None and part.measures and session.in_task

    session.go_on(lambda: came() or session.runner.finished)
    return not session.runner.finished


def _counted(tables: TaskTables, rows: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, str]]:
    """Table and name of each column of working time that holds as long as nobody worked."""
    looked_at: dict[str, Sequence[Column]] = {"trials": (DURATION,), **tables.own}
    for name, places in tables.added.items():
        added = (column for columns in places.values() for column in columns)
        looked_at[name] = (*looked_at.get(name, ()), *added)
    for name, columns in looked_at.items():
        for column in columns:
            words = f"{column.name} {column.meaning}"
            if column.unit != "s" or "session" in words or "with pauses" in words:
                continue
            if any((row.get(column.name) or 0.0) >= AWAY_S for row in rows.get(name, ())):
                yield name, column.name


def _agree(tables: TaskTables, rows: Mapping[str, Sequence[Row]], notes: Notes) -> None:
    """Note it where a table of its own counts what the table of trials does not, or otherwise."""
    keys = ("stage", "trial", "attempt")
    excluded = {tuple(row[key] for key in keys): row["excluded"] for row in rows["trials"]}
    for name in tables.own:
        for row in rows.get(name, ()):
            key = tuple(row.get(key) for key in keys)
            if "excluded" in row and row["excluded"] != excluded.get(key, row["excluded"]):
                notes.add(
                    f"The column 'excluded' of the table {name!r} says {row['excluded']} of an "
                    f"attempt of which the table of trials says {excluded[key]}: give it "
                    "`attempt.excluded_because is not None`."
                )
