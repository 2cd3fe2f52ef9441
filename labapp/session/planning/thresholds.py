"""The recommended epsilon: near enough that hardly anybody gets there without understanding.

Paper 000 (3.1, A.2.3) takes the alignment that best separates what people call far away from what
they call close enough; where calibrations were made, that is done here. Without them a rule of our
own is applied to simulated participants, see `RULE`: what counts as solved must not be reached by
trying, and should otherwise ask as little as possible, so that those who understand reach it.

There are as many simulated participants of each strategy, in every condition of the study. Some
take part with a target that hardly anybody reaches, which shows how near each strategy comes; all
take part in the study as it is. Pairs of start and target show how near these lie by chance.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from labapp import __version__
from labapp.analysis.calibration import Separation, Suggestion, separation
from labapp.analysis.declared import is_of_design
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import Tables
from labapp.analysis.task_records import Row
from labapp.analysis.task_report import reports
from labapp.base.errors import ExportExists
from labapp.models.representations.card import dataset_of
from labapp.models.representations.decoders import LoadedDecoder
from labapp.models.representations.distance import ALIGNMENT_SLACK, get_distance
from labapp.record.audio import recorded_sound
from labapp.record.events import Event, Payload
from labapp.record.events.trials import Comparison
from labapp.session import folder
from labapp.session.simulation.at_scale import hash_needed_models, in_order
from labapp.session.simulation.simulation_job import SimulationJob, Workers
from labapp.study import planner
from labapp.study.allocation import rule_of, variants
from labapp.study.conditions import draw_state, generator
from labapp.study.loading import LoadedStudy
from labapp.study.plugins.part import Target
from labapp.study.representations import PriorOf, SpaceOf

UNDERSTANDS = ("understanding",)
TRIES = ("ascent", "random")
"""Strategies that get anywhere without knowing what a dial does; `partial` is in between and in
neither."""
CHANCE, STUMBLES = 0.05, 0.1
"""At most so many of the sampled pairs may be aligned from the start, and so many of the questions
of those who only try may be solved."""
GRID = range(5, 100, 5)
"""Target alignments that are looked at, in per cent; beyond, precision is asked for, no insight."""
RULE = (
    f"The lowest round target alignment that at most {STUMBLES * 100:g} % of the questions of "
    "simulated participants who only try (ascent and random) reach, and that at most "
    f"{CHANCE * 100:g} % of the sampled pairs of start and target have from the start; epsilon "
    "is 1 minus this value. No target above 95 % is recommended. The simulated participants are "
    "not stopped at a target. With a lower target, people would succeed by luck; with a higher "
    "one, those who understand would miss it because it is too precise. The value next to it is "
    "the one that best separates the best alignments of those who understand from those of "
    "people who only try, by balanced accuracy, as in a calibration with people."
)
HARDLY = 0.25
"""Below this difference between the shares of understood and stumbled-upon questions the target
hardly tells the two apart."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Threshold:
    """The threshold of one model, or of all models of a data set (model None).

    Attributes
    ----------
    reached : best alignments by strategy.
    separated : where those who understand and those who try are told apart best, None if one
        kind is missing or nothing does.
    floor : the alignment that 95 % of the pairs fall short of.
    target : recommended.
    source : calibration, simulation, chance (of the pairs, where nobody only tries or chance asks
        for more).
    present : the study's own.
    """

    dataset: str
    model: str | None
    present: float
    floor: float
    separated: Separation | None
    target: float
    source: str
    reached: Mapping[str, Floats]
    pairs: Floats

    @property
    def epsilon(self) -> float:
        """The distance of the target, 0-1."""
        return round(1.0 - self.target, 10)

    def share(self, strategies: Sequence[str], target: float | None = None) -> float | None:
        """Of the questions of these strategies that reach a target, by default the recommended."""
        values = pool_reached(self.reached, strategies)
        wanted = self.target if target is None else target
        return reaching(values, wanted) if values.size else None

    def by_chance(self, target: float | None = None) -> float:
        """Of the pairs that have a target alignment from the start."""
        return reaching(self.pairs, self.target if target is None else target)


def reaching(values: Floats, target: float) -> float:
    """Share of alignments that count as the target's."""
    return float(np.mean(values >= target - ALIGNMENT_SLACK))


def pool_reached(reached: Mapping[str, Floats], strategies: Sequence[str]) -> Floats:
    samples = [reached[name] for name in strategies if name in reached]
    return np.concatenate(samples) if samples else np.empty(0)


def thresholds(
    every: Sequence[Pairs], questions: pd.DataFrame, calibrated: Sequence[Suggestion] = ()
) -> list[Threshold]:
    """By data set, the data set as a whole first, then its models.

    questions: of `People`, simulated with a target out of reach; calibrated: what calibration
    sessions suggest, which holds for the data set and all its models.
    """
    result = []
    for dataset in dict.fromkeys(pairs.dataset for pairs in every):
        own = [pairs for pairs in every if pairs.dataset == dataset]
        some = questions[questions["dataset"] == dataset]
        separation = next((c.separation for c in calibrated if c.dataset == dataset), None)
        together = np.concatenate([pairs.alignments for pairs in own])
        present = own[0].target_alignment
        result.append(_threshold(dataset, None, present, together, some, separation))
        result += [
            _threshold(
                dataset,
                pairs.model,
                pairs.target_alignment,
                pairs.alignments,
                some[some["model"] == pairs.model],
                separation,
            )
            for pairs in own
        ]
    return result


def _threshold(
    dataset: str,
    model: str | None,
    present: float,
    pairs: Floats,
    questions: pd.DataFrame,
    calibrated: Separation | None,
) -> Threshold:
    reached = {
        str(name): some[BEST].dropna().to_numpy(np.float64)
        for name, some in questions.groupby("strategy", sort=False)
    }
    tried, understood = pool_reached(reached, TRIES), pool_reached(reached, UNDERSTANDS)
    separated = separation(tried.tolist(), understood.tolist())
    low = float(np.quantile(pairs, 1 - CHANCE, method="higher"))
    target, source = recommend_threshold(pairs, tried, calibrated)
    return Threshold(dataset, model, present, low, separated, target, source, reached, pairs)


def recommend_threshold(
    pairs: Floats, tried: Floats, calibrated: Separation | None = None
) -> tuple[float, str]:
    """The target alignment and what it rests on. tried: best alignments of those who only try."""
    if calibrated is not None:
        return _round_in(calibrated), "calibration"
    by_chance = _lowest(pairs, CHANCE)
    by_trying = _lowest(tried, STUMBLES) if tried.size else 0
    source = "simulation" if by_trying >= by_chance else "chance"
    return max(by_chance, by_trying) / 100, source


def _lowest(values: Floats, most: float) -> int:
    """The lowest target of the grid that at most such a share reaches; its end where none is."""
    percents = (percent for percent in GRID if reaching(values, percent / 100) <= most)
    return next(percents, GRID[-1])


def _round_in(gap: Separation) -> float:
    """A round number in the interval of which a separation is the middle: above `low`, at most
    `high`."""
    for step in (5, 1):
        middle = round(gap.target * 100 / step) * step
        for percent in (middle, middle + step, middle - step):
            if gap.low * 100 < percent <= gap.high * 100:
                return percent / 100
    return round(gap.target, 3)


PAIRS = 1000
BATCH = 250


@dataclass(frozen=True)
class Pairs:
    """Starts and targets of one model. alignments: of pairs (z, z'), shape (n,), 0-1.
    target_alignment and skip_after_s: what the study has for it now; None if no skip waits for
    it."""

    model: str
    distance: str
    alignments: NDArray[np.float64]
    target_alignment: float
    skip_after_s: float | None

    @property
    def dataset(self) -> str:
        return dataset_of(self.model)


def targets_of(loaded: LoadedStudy, space_of: SpaceOf, prior_of: PriorOf) -> dict[str, Target]:
    """What is to be reached with each model of the study, in all of its conditions."""
    targets: dict[str, Target] = {}
    for number, drawn in variants(loaded.study):
        label = loaded.study.participants.label(number)
        plan = planner.realise(loaded, label, space_of=space_of, prior_of=prior_of, drawn=drawn)
        for part in plan.parts:
            if (target := part.target()) is not None:
                targets.setdefault(target.model, target)
    return targets


def pairs_of(target: Target, decoder: LoadedDecoder, seed: int, n: int = PAIRS) -> Pairs:
    """Draw and decode n pairs as the questions of a stage are drawn."""
    rng = generator(seed, target.model, "pairs of a plan")
    sample = decoder.latents
    rows = [
        draw_state(target.sampling, target.model, decoder.space, sample, rng) for _ in range(2 * n)
    ]
    distance = get_distance(target.distance)
    alignments: list[float] = []
    batch = 2 * min(BATCH, max(1, decoder.at_once // 2))
    for at in range(0, 2 * n, batch):
        some = rows[at : at + batch]
        x = decoder.decode(np.stack([decoder.space.encode(row) for row in some]))
        alignments += [1.0 - distance(*pair) for pair in zip(x[::2], x[1::2], strict=True)]
    return Pairs(
        target.model,
        target.distance,
        np.array(alignments, np.float64),
        target.alignment,
        target.skip_after_s,
    )


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
STOPPED, LARGEST = "plans", 64_000_000
"""Where the simulated sessions of a plan that is not made yet are kept, and most bytes of one."""


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
    models = None if pool.here else hash_needed_models(loaded)
    more = tuple(dict.fromkeys(name for report in reports() for name in report.planned_tables))
    rule = rule_of(loaded.study)
    used = loaded.study.seed if seed is None else seed
    counts: Counter[str] = Counter()
    for number in range(1, participants + 1):
        label = loaded.study.participants.label(number)
        drawn: tuple[str, ...] = ()
        if rule is not None:
            # All are wanted, no matter who is included and how many a condition needs.
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
    where it was. Raises ExportExists if sessions_folder has sessions of another plan."""
    jobs = list(sessions(loaded, tuple(shares), participants, seed, pool, sessions_folder))
    about = [__version__, loaded.study.model_dump_json(), loaded.sha256, hash_needed_models(loaded)]
    folded: dict[str, Mapping[str, Sequence[Row]]] = {}
    places: dict[str, Path] = {}
    there = set() if sessions_folder is None else {*sessions_folder.glob("*/*/sub-*")}
    others = set(there)
    for job in jobs:
        key = json.dumps([*about, "msgpack", job.label, job.drawn, job.strategy, job.seed]).encode()
        places[_name(job)] = path = recorded_sound.place(STOPPED, sha256(key).hexdigest())
        if (known := recorded_sound.get(path, LARGEST)) is None:
            continue
        session_name, rows_of = msgspec.msgpack.decode(known)
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
            todo="Choose a new folder with --out.",
        )
    for session in in_order(pool, (job for job in jobs if _name(job) not in folded)):
        name = _name(session.job)
        told = msgspec.msgpack.encode([session.name, session.folded])
        recorded_sound.put(places[name], told)
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
    shutil.rmtree(recorded_sound.place(STOPPED, ""), ignore_errors=True)


def people(
    rows: Mapping[str, Sequence[Row]], strategies: Mapping[str, str], shares: Mapping[str, float]
) -> People:
    """From rows by table, as `folding.fold` gives them. shares: of the strategies; they are made to
    add up to 1."""
    import pandas as pd

    from labapp.analysis.columns import table_columns
    from labapp.analysis.folding.folded import NAME as SNAPSHOTS
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


def fold(
    events: Sequence[tuple[Event, Payload]], name: str, more: Sequence[str] = ()
) -> dict[str, list[Row]]:
    """The rows of a session, by table; questions without those of practice. name: of its folder;
    more: further tables. Questions with a target also say how near the pictures ever were (`BEST`,
    alignment 0-1); their end says so of solved ones only."""
    records = SessionRecords.of(events, name)
    parts = records.parts.planned.values()
    targets = {part.id for part in parts if part.target() is not None}
    best: dict[tuple[str, int, int], float] = {}
    for event, payload in events:
        if isinstance(payload, Comparison) and event.part_id in targets:
            key = (event.part_id, event.trial or 0, event.attempt or 0)
            best[key] = max(best.get(key, 0.0), payload.alignment)
    rows = records.rows((*KEPT, *more))
    factors = [column.name for column in records.columns["trials"] if is_of_design(column)]
    rows["trials"] = [
        {name: row.get(name) for name in (*QUESTION, *factors)}
        | {BEST: best.get((row["stage"], row["trial"], row["attempt"]))}
        for row in rows["trials"]
        if row["role"] == "stage"
    ]
    return {name: rows[name] for name in (*KEPT, *more)}
