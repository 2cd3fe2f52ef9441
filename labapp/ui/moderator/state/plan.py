"""The plan as the moderator ticks it off: parts that belong together are one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from labapp.plugins.part import PlannedPart, introduces
from labapp.session.machine import SessionMachine, SessionState
from labapp.ui.language import N_, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.part_words import words_of
from labapp.ui.moderator.state.fold import WorkTime

RowState = Literal["todo", "current", "done", "skipped"]


@dataclass(frozen=True, slots=True)
class PlanRow:
    """parts: indices into the plan. title is what is done, detail what it is done with."""

    title: str
    detail: str
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlanView:
    """A row as it stands: progress (`4 / 7`, `reading`), and its working time so far in ns."""

    row: PlanRow
    state: RowState
    progress: str
    working_ns: int | None


def rows_of(parts: Sequence[PlannedPart], *, blind: bool = False) -> tuple[PlanRow, ...]:
    """Rows for a plan: a stage takes in the text before it and the questionnaires about it.

    blind: representations are not named.
    """
    rows: list[PlanRow] = []
    waiting: list[int] = []
    owner: dict[str, int] = {}
    for index, part in enumerate(parts):
        if (about := part.belongs_to()) is not None and about in owner:
            row = rows[owner[about]]
            rows[owner[about]] = PlanRow(row.title, row.detail, (*row.parts, index))
        elif introduces(parts, index):
            waiting.append(index)
        else:
            detail = words_of(part).detail(part, blind=blind)
            if part.has_trials:
                owner[part.id] = len(rows)
            rows.append(PlanRow(part.title, detail, (*waiting, index)))
            waiting = []
    return tuple(rows)


def view_of(
    rows: Sequence[PlanRow],
    machine: SessionMachine,
    state: SessionState,
    work: WorkTime,
    now_ns: int,
) -> tuple[PlanView, ...]:
    """Every row as it stands at session time now_ns."""
    views = []
    for row in rows:
        records = [state.records[index] for index in row.parts]
        started = next((r.started_ns for r in records if r.started_ns is not None), None)
        outcomes = [r.outcome for r in records]
        standing: RowState
        if started is None:  # or skipped before it began
            standing, length = "todo" if None in outcomes else "skipped", None
        elif None in outcomes and state.ended is None:
            standing, length = "current", _length(work, started, now_ns)
        else:
            # A part that was going on when the session ended has no end of its own.
            begun = [r for r in records if r.started_ns is not None]
            ends = [now_ns if r.ended_ns is None else r.ended_ns for r in begun]
            length = _length(work, started, max(ends))
            whole = all(outcome in ("completed", "time_expired") for outcome in outcomes)
            standing = "done" if whole else "skipped"
        progress = progress_of(machine, state) if standing == "current" else ""
        if standing == "skipped":
            wrong = (o for o in outcomes if o not in ("completed", "time_expired"))
            progress = tr(wording.OUTCOMES.get(next(wrong) or "", N_("not finished")))
        views.append(PlanView(row, standing, progress, length))
    return tuple(views)


def _length(work: WorkTime, start_ns: int, end_ns: int) -> int:
    return work.working_ns(end_ns) - work.working_ns(start_ns)


def progress_of(machine: SessionMachine, state: SessionState) -> str:
    """How far the part on the screen is, in a word or two."""
    if not state.running:
        return ""
    part, task = machine.parts[state.index], machine.tasks[state.index]
    return words_of(part).progress(part, task, state.part_state)
