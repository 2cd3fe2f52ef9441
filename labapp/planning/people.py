"""The simulated participants of a plan: as many of each strategy, in every condition of the study.

Some take part with a target that hardly anybody reaches, which shows how near each strategy comes;
all take part in the study as it is.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labapp import __version__
from labapp.analysis.declared import is_of_design
from labapp.analysis.rows import SessionRecords
from labapp.analysis.task_records import Row
from labapp.analysis.task_report import reports
from labapp.audio import cached
from labapp.errors import ExportExists
from labapp.events.dials import Comparison
from labapp.journal.opening import open_record
from labapp.reading.values import json_value
from labapp.representations.card import dataset_of
from labapp.session import folder
from labapp.simulation.at_scale import in_order, wanted_models
from labapp.simulation.simulation_job import SimulationJob
from labapp.simulation.workers import Workers
from labapp.study.allocation import rule_of
from labapp.study.loading import LoadedStudy

if TYPE_CHECKING:  # slow to load
    import pandas as pd

    from labapp.analysis.tables import Tables
    from labapp.analysis.task_records import Row

BEST = "best_alignment"
KEPT = ("trials", "stages", "scores", "participants")
"""The tables that a plan is made of, besides those that reports name (`planned_tables`)."""
QUESTION = (
    "study", "participant", "session", "stage", "stage_number", "task", "role", "model", "trial",
    "attempt", "outcome", "duration_s", "active_s", "slide_distance", "error_auc_sum",
    "alignment_start", "excluded", "included",
)  # fmt: skip
"""What is kept of a question: of ten thousand participants all columns would fill the memory."""
OUT_OF_REACH = 1.0
"""The target alignment of those whose best alignment is wanted."""
STRATEGY = "strategy"
STOPPED, LARGEST = "plans", 64_000_000
"""Where the simulated sessions of a plan that is not made yet are kept, and most bytes of one."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class People:
    """Simulated participants, and what they recorded.

    Attributes
    ----------
    tables : of all sessions, where a participant is named after label and strategy.
    strategies : participant -> strategy.
    questions : those of the stages that have a target and count, with strategy, data set and the
        best alignment.
    shares : of the strategies, which add up to 1.
    """

    tables: Tables
    strategies: Mapping[str, str]
    questions: pd.DataFrame
    shares: Mapping[str, float]

    def weights(self, participants: Sequence[str]) -> Floats:
        """How much each of these participants counts in the mixture, adding up to 1: those of one
        strategy alike, together as much as its share. Strategies without anybody do not count."""
        return weights([self.strategies[name] for name in participants], self.shares)


def weights(strategies: Sequence[str], shares: Mapping[str, float]) -> Floats:
    """See `People.weights`; strategies: of the participants."""
    counts = Counter(strategies)
    each = np.array([shares.get(name, 0.0) / counts[name] for name in strategies], np.float64)
    total = each.sum()
    return each / total if total > 0 else each


def sessions(
    loaded: LoadedStudy,
    strategies: Sequence[str],
    participants: int,
    seed: int | None,
    pool: Workers,
    sessions_folder: Path | None = None,
) -> Iterator[SimulationJob]:
    """The sessions of so many participants of each strategy, those of one label side by side so
    that an interrupted run has some of each. sessions_folder: data root in which they stay."""
    models = None if pool.here else wanted_models(loaded)
    more = tuple(dict.fromkeys(name for report in reports() for name in report.planned_tables))
    rule = rule_of(loaded.study)
    used = loaded.study.seed if seed is None else seed
    counts: Counter[str] = Counter()
    for number in range(1, participants + 1):
        label = loaded.study.participants.label(number)
        drawn: tuple[str, ...] = ()
        if rule is not None:
            # All are wanted, whoever is included and however many a condition needs.
            drawn = rule.endless().draw(counts, used, loaded.study.id, label)
            counts.update(drawn)
        for strategy in strategies:
            yield SimulationJob(
                loaded,
                label,
                drawn,
                strategy,
                seed,
                models=models,
                scratch=pool.scratch,
                keep="nothing" if sessions_folder is None else "packed",
                fold=partial(fold, more=more),
            )


def simulate_people(
    loaded: LoadedStudy,
    shares: Mapping[str, float],
    participants: int,
    seed: int | None,
    pool: Workers,
    progress: Callable[[], None],
    sessions_folder: Path | None = None,
) -> People:
    """Simulate the sessions and fold each where it was simulated; progress is called after each.

    What was folded is kept until the plan is made (`forget`), so that one that is stopped goes on
    where it was. Raises ExportExists where sessions_folder has sessions of another plan."""
    jobs = list(sessions(loaded, tuple(shares), participants, seed, pool, sessions_folder))
    about = [__version__, loaded.study.model_dump_json(), loaded.sha256, wanted_models(loaded)]
    folded: dict[str, Mapping[str, Sequence[Row]]] = {}
    places: dict[str, Path] = {}
    there = set() if sessions_folder is None else {*sessions_folder.glob("*/*/sub-*")}
    others = set(there)
    for job in jobs:
        key = json.dumps([*about, "named", job.label, job.drawn, job.strategy, job.seed]).encode()
        places[_name(job)] = path = cached.place(STOPPED, sha256(key).hexdigest())
        if (known := cached.get(path, LARGEST)) is None:
            continue
        session_name, rows_of = json_value(known)
        if sessions_folder is not None:
            kept = sessions_folder / job.strategy / loaded.study.id / session_name
            if kept not in there:
                continue
            others.discard(kept)
        folded[_name(job)] = rows_of
        progress()
    if others:
        raise ExportExists(
            f"{sessions_folder} has sessions of another plan, such as {min(others).name}.",
            safe="Nothing in it was changed.",
            todo="Name a new folder with --out.",
        )
    for session in in_order(pool, (job for job in jobs if _name(job) not in folded)):
        name = _name(session.job)
        with suppress(TypeError, ValueError):  # JSON has no such value: it is simulated again
            told = json.dumps([session.name, session.folded], allow_nan=False)
            cached.put(places[name], told.encode())
        if sessions_folder is not None:
            strategy = session.job.strategy
            session.move(folder.study_folder(sessions_folder / strategy, loaded.study.id))
        folded[name] = session.folded
        progress()
    rows: dict[str, list[Row]] = {name: [] for name in KEPT}
    for job in jobs:
        for table, some in folded.pop(_name(job)).items():
            named = ({**row, "participant": _name(job)} for row in some)
            rows.setdefault(table, []).extend(named)
    return people(rows, {_name(job): job.strategy for job in jobs}, shares)


def _name(job: SimulationJob) -> str:
    return f"{job.label}-{job.strategy}"


def forget() -> None:
    """Take away what was kept of plans that were stopped."""
    shutil.rmtree(cached.place(STOPPED, ""), ignore_errors=True)


def people(
    rows: Mapping[str, Sequence[Row]], strategies: Mapping[str, str], shares: Mapping[str, float]
) -> People:
    """From rows by table, as `folding.fold` gives them. shares: of the strategies; they are made to
    add up to 1."""
    import pandas as pd

    from labapp.analysis.columns import table_columns
    from labapp.analysis.folding.snapshots import NAME as SNAPSHOTS
    from labapp.analysis.tables import Tables, frames

    every = frames({name: rows.get(name, ()) for name in table_columns()})
    tables = Tables.of(every, every[SNAPSHOTS])
    trials = tables.trials.assign(
        **{BEST: pd.array([r.get(BEST) for r in rows["trials"]], "Float64")}
    )
    questions = trials[trials[BEST].notna() & ~trials["excluded"]].reset_index(drop=True)
    questions = questions.assign(
        strategy=questions["participant"].map(dict(strategies)),
        dataset=questions["model"].map(dataset_of).astype("string"),
    )
    total = sum(shares.values())
    return People(
        tables, dict(strategies), questions, {name: share / total for name, share in shares.items()}
    )


def out_of_reach(loaded: LoadedStudy) -> LoadedStudy:
    """The study with a target in its stages that is hardly ever reached."""
    flow = tuple(
        item.with_stages(lambda stages: stages.with_target(OUT_OF_REACH))
        for item in loaded.study.flow
    )
    return replace(loaded, study=loaded.study.model_copy(update={"flow": flow}))


def fold(session: Path, more: Sequence[str] = ()) -> dict[str, list[Row]]:
    """The rows of a session folder, by table; questions without those of practice. more: further
    tables. Questions with a target also say how near the pictures ever were (`BEST`, alignment
    0-1); their end says so of solved ones only."""
    events = list(open_record(session).payloads())
    records = SessionRecords.of(events, session.name)
    parts = records.parts.planned.values()
    targets = {part.id for part in parts if part.target() is not None}
    best: dict[tuple[str, int, int], float] = {}
    for event, payload in events:
        if isinstance(payload, Comparison) and event.part_id in targets:
            key = (event.part_id, event.trial or 0, event.attempt or 0)
            best[key] = max(best.get(key, 0.0), payload.alignment)
    rows = records.rows()
    factors = [column.name for column in records.columns["trials"] if is_of_design(column)]
    rows["trials"] = [
        {name: row.get(name) for name in (*QUESTION, *factors)}
        | {BEST: best.get((row["stage"], row["trial"], row["attempt"]))}
        for row in rows["trials"]
        if row["role"] == "stage"
    ]
    return {name: rows[name] for name in (*KEPT, *more)}
