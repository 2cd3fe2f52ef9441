"""Whether all of a session is in tables, and the BIDS tables of a bundle agree with its journals
and folders, by counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from labapp.analysis.walk import Parts, walk
from labapp.bids.tasks import tasks_of
from labapp.errors import RecordError, SessionError
from labapp.journal.integrity import Pairs
from labapp.journal.record import Record
from labapp.journal.tree import Tree
from labapp.plugins.bids import TaskFiles


def check_known(record: Record, events: Pairs) -> list[str]:
    """What of a session would be in no table: parts and events that no task knows."""
    try:
        walk(events, Parts.of(record.planned.plan))
    except (RecordError, SessionError) as error:
        return [error.what]
    return []


def check_tables(tree: Tree, record: Record) -> list[str]:
    """The tables of one session against its journal."""
    bids = record.name.bids
    return [
        problem
        for task in tasks_of(record)
        for problem in _check_task(
            tree, record, task, f"{bids}/beh/{bids.replace('/', '_')}_task-{task.label}"
        )
    ]


def _check_task(tree: Tree, record: Record, task: TaskFiles, stem: str) -> list[str]:
    stages = task.plan(record)
    kinds = Counter(row.kind for row in record.rows if row.part_id in stages)
    problems = []
    drawn = kinds[task.drawn]
    if len(rows := _rows(tree, f"{stem}_beh.tsv")) != drawn:
        problems.append(f"{stem}_beh.tsv: {len(rows)} questions, the journal has {drawn}")
    wanted = {task.kinds[kind]: count for kind, count in kinds.items() if kind in task.kinds}
    wanted["trial"] = kinds[task.shown]
    counts = Counter(row["trial_type"] for row in _rows(tree, f"{stem}_events.tsv"))
    problems += [
        f"{stem}_events.tsv: {counts[name]} rows of {name}, the journal has {count}"
        for name, count in sorted(wanted.items())
        if counts[name] != count
    ]
    return problems


def check_people(tree: Tree, sessions: Sequence[tuple[str, str]]) -> list[str]:
    """participants.tsv and sessions.tsv against the session folders (sub-…, ses-…)."""
    problems = _compare(
        "participants.tsv", _ids(tree, "participants.tsv"), [s[0] for s in sessions]
    )
    folders = [name.split("/")[0] for name in tree.names() if name.startswith("sub-")]
    problems += _compare("participants.tsv", _ids(tree, "participants.tsv"), folders)
    for participant in sorted({s[0] for s in sessions}):
        name = f"{participant}/{participant}_sessions.tsv"
        own = [s[1] for s in sessions if s[0] == participant]
        problems += _compare(name, _ids(tree, name), own)
    return sorted(set(problems))


def _compare(name: str, listed: Iterable[str], there: Iterable[str]) -> list[str]:
    listed, there = set(listed), set(there)
    return [
        f"{name}: {folder} is listed but has no folder" for folder in sorted(listed - there)
    ] + [f"{name}: {folder} has a folder but is not listed" for folder in sorted(there - listed)]


def _ids(tree: Tree, name: str) -> list[str]:
    """The first column."""
    return [next(iter(row.values())) for row in _rows(tree, name)]


def _rows(tree: Tree, name: str) -> list[dict[str, str]]:
    """The rows of a table; none when it is missing, which the manifest's check says."""
    if not tree.has(name):
        return []
    header, *lines = tree.read(name).decode("utf-8", "replace").splitlines()
    names = header.split("\t")
    return [dict(zip(names, line.split("\t"), strict=False)) for line in lines]
