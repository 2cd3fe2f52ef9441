"""`labapp plan`: a study's threshold, time to skip, number of participants and length.

T, after which a question may be skipped, and how long a session takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from labapp.analysis.calibration import Suggestion, skip_after_s
from labapp.analysis.design.sources import LeftOut
from labapp.analysis.task_report import PlannedTests, in_order, reports
from labapp.base.errors import UsageError
from labapp.models.representations.card import dataset_of
from labapp.session.gate import gate
from labapp.session.planning import thresholds
from labapp.session.planning.power import (
    Completion,
    GroupPower,
    Scenario,
    completions,
    group_powers,
    plan_groups,
    scenarios,
)
from labapp.session.planning.slopes import REPLICATIONS, SlopePower, slope_powers
from labapp.session.planning.thresholds import (
    Pairs,
    People,
    Threshold,
    forget,
    out_of_reach,
    simulate_people,
)
from labapp.session.simulation.fitting import check_fits, usual_shares
from labapp.session.simulation.simulation_job import workers
from labapp.study import loading
from labapp.study.allocation import rule_of
from labapp.study.flow import items_of
from labapp.study.loading import LoadedStudy
from labapp.study.overview import prior_of, space_of

Floats = NDArray[np.float64]
RULE = (
    "The multiple of 5 s that is nearest to twice the median active time of the solved "
    "questions, as solved by the participants of the mixture; active time is the time that "
    "is counted before Skip appears."
)


@dataclass(frozen=True)
class Waiting:
    """The time after which a question of one data set may be skipped.

    Attributes
    ----------
    active_s : of the solved questions by strategy.
    median_s : of the mixture.
    skip_after_s : T, None if nothing was solved.
    source : calibration or simulation.
    present_s : the study's own, None if it never waits with the skip.
    """

    dataset: str
    present_s: float | None
    median_s: float | None
    skip_after_s: int | None
    source: str
    active_s: Mapping[str, Floats]
    solved: int


@dataclass(frozen=True, slots=True)
class SessionLength:
    """Working time of a session in seconds, interviews left out, for nobody can say how long people
    talk: median and 90th percentile. strategy: None for the
    mixture; n: sessions."""

    strategy: str | None
    n: int
    median_s: float
    ninety_s: float


def quantile(values: ArrayLike, weights: ArrayLike, share: float) -> float:
    """The least value up to which the weights make up a share of their sum; the middle between it
    and the next where they make up exactly that."""
    x, w = np.asarray(values, np.float64), np.asarray(weights, np.float64)
    x, w = x[w > 0], w[w > 0]
    order = np.argsort(x, kind="stable")
    x, up_to = x[order], np.cumsum(w[order]) / w.sum()
    at = int(np.searchsorted(up_to, share - 1e-12))
    if at + 1 < x.size and abs(up_to[at] - share) < 1e-12:
        return float((x[at] + x[at + 1]) / 2)
    return float(x[min(at, x.size - 1)])


def waiting(
    every: Sequence[Pairs], people: People, calibrated: Sequence[Suggestion] = ()
) -> list[Waiting]:
    """T by data set; calibrated: what calibration sessions suggest takes precedence."""
    import pandas as pd

    solved = people.questions[people.questions["outcome"] == "solved"]
    result = []
    for dataset in dict.fromkeys(pairs.dataset for pairs in every):
        own = solved[solved["dataset"] == dataset]
        by_strategy = {
            str(name): some["active_s"].to_numpy(np.float64)
            for name, some in own.groupby("strategy", sort=False)
        }
        questions = people.questions[people.questions["dataset"] == dataset]
        middle = None
        if len(own):
            # A strategy counts by what its participants solve: its share over its questions asked.
            each = pd.Series(people.shares) / questions.groupby("strategy").size()
            weights = own["strategy"].map(each)
            if weights.sum() > 0:
                middle = quantile(own["active_s"], weights, 0.5)
        measured = next((c for c in calibrated if c.dataset == dataset), None)
        source = "simulation"
        wait = None if middle is None else skip_after_s([middle])
        if measured is not None and measured.skip_after_s is not None:
            middle, wait = measured.median_active_s, measured.skip_after_s
            source = "calibration"
        present = next(pairs.skip_after_s for pairs in every if pairs.dataset == dataset)
        result.append(Waiting(dataset, present, middle, wait, source, by_strategy, len(own)))
    return result


def lengths(people: People) -> list[SessionLength]:
    """Lengths of the sessions that came to an end: of the mixture, then of each strategy."""
    done = people.tables.participants
    done = done[done["complete"] & done["duration_s"].notna()]
    result = [_length(None, done, people)]
    for strategy in people.shares:
        own = done[done["participant"].map(people.strategies.get) == strategy]
        if len(own):
            result.append(_length(strategy, own, people))
    return result


def _length(strategy: str | None, sessions: pd.DataFrame, people: People) -> SessionLength:
    seconds = (sessions["duration_s"] - sessions["interview_s"]).to_numpy(np.float64)
    weights = people.weights(list(sessions["participant"]))
    if strategy is not None:
        weights = np.ones(len(seconds))
    return SessionLength(
        strategy, len(seconds), quantile(seconds, weights, 0.5), quantile(seconds, weights, 0.9)
    )


PARTICIPANTS = 12
PER_CELL = 6
"""Participants of each strategy by default: so many, or so many for each drawn condition."""
PART = 3
"""The threshold is taken from so many times fewer, but at least from `LEAST`."""
LEAST = 4

Progress = Callable[[float, str], None]
"""Called with the share that is done (0-1) and what is being done."""


@dataclass(frozen=True)
class Plan:
    """What is recommended for a study, and everything that it rests on.

    Attributes
    ----------
    participants : simulated of each strategy.
    shares : of the strategies in the mixture.
    open : those for whom the target was out of reach.
    people : those who took part in the study as it is.
    not_planned : outcomes that are analysed and not planned, and why.
    slopes, slopes_s : power over drawn models, and the seconds that it took.
    declared_tests : power and false positives of tests that the study declares and a task carries
        out.
    """

    loaded: LoadedStudy
    seed: int
    participants: int
    shares: Mapping[str, float]
    open: People
    people: People
    pairs: Sequence[Pairs]
    calibrated: Sequence[Suggestion]
    thresholds: Sequence[Threshold]
    waiting: Sequence[Waiting]
    lengths: Sequence[SessionLength]
    completions: Sequence[Completion]
    powers: Sequence[GroupPower]
    not_planned: Sequence[LeftOut]
    scenarios: Sequence[Scenario]
    slopes: Sequence[SlopePower] = ()
    slopes_s: float = 0.0
    declared_tests: Sequence[PlannedTests] = ()

    @property
    def counted(self) -> float:
        """Share of the simulated sessions that count, each strategy by its share of the mixture."""
        sessions = self.people.tables.participants
        weights = self.people.weights(list(sessions["participant"]))
        return float(weights @ sessions["included"].to_numpy(np.float64))

    @property
    def open_participants(self) -> int:
        """The participants of each strategy who could not reach the target."""
        return len(self.open.strategies) // len(self.shares)


def _check_strategies(shares: Mapping[str, float], loaded: LoadedStudy) -> None:
    """Raises UsageError for a strategy that cannot do the study, with those that can."""
    cannot: list[UsageError] = []
    able = []
    for strategy in shares:
        try:
            check_fits(strategy, loaded.study)
        except UsageError as error:
            cannot.append(error)
        else:
            able.append(strategy)
    if cannot:
        todo = (
            f"Give only those that can: --strategies {','.join(able)}." if able else cannot[0].todo
        )
        raise UsageError(cannot[0].what, safe="Nothing was simulated.", todo=todo) from cannot[0]


def plan(
    study: str,
    *,
    shares: Mapping[str, float] | None = None,
    participants: int | None = None,
    calibration: Sequence[Path] = (),
    seed: int | None = None,
    number: int | None = None,
    dask: str | None = None,
    sessions_folder: Path | None = None,
    progress: Progress = lambda share, what: None,
) -> Plan:
    """Simulate the study's participants and say what follows. Raises UsageError: where there is
    nothing to plan, and as `gate`, `load_package`, `analysis.load` and `workers` do.

    Parameters
    ----------
    shares : strategy -> share of the mixture; None for those usual in the study.
    participants : of each strategy.
    calibration : sessions and bundles of calibrations, from which epsilon and T are then taken.
    number, dask : see `simulation.workers`.
    sessions_folder : data root for the sessions of the study as it is; None keeps none.
    """
    loaded = gate(study)
    check_plannable(loaded)
    shares = usual_shares(loaded.study) if shares is None else shares
    _check_strategies(shares, loaded)
    calibrated = _collect_suggestions(calibration, loaded)
    used = loaded.study.seed if seed is None else seed
    of_each = participants or default_participants(loaded)
    some = min(of_each, max(LEAST, of_each // PART))
    done = 0

    def report_session() -> None:
        nonlocal done
        done += 1
        progress(0.05 + 0.75 * done / sessions, f"simulated {done} of {sessions} sessions")

    def fitting(done: int, of: int) -> None:
        progress(
            0.8 + 0.05 * done / of,
            f"drew and fitted studies: {done * REPLICATIONS} of {of * REPLICATIONS}",
        )

    if dask is not None:
        progress(0.0, f"asking the Dask cluster at {dask}")
    safe = f"Finished sessions are in {sessions_folder}. The same command continues from there."
    safe = "No plan was made." if sessions_folder is None else safe
    with workers(number, dask, safe=safe) as pool:
        every = _pairs(loaded, used, lambda share, what: progress(0.05 * share, what))
        apart = bool(every)
        sessions = (of_each + some * apart) * len(shares)
        progress(0.05, f"simulating {sessions} sessions")
        people = simulate_people(
            loaded, shares, of_each, seed, pool, report_session, sessions_folder
        )
        unreached = (
            simulate_people(out_of_reach(loaded), shares, some, seed, pool, report_session)
            if apart
            else people
        )
        compared = [
            slope for report in reports() for slope in report.slopes(people.tables.included())
        ]
        slopes, seconds = slope_powers(compared, people, used, pool, fitting)
    progress(0.85, "computing power")
    declared_tests = [tests for report in reports() for tests in report.planned_tests(loaded)]
    groups, not_planned = plan_groups(people)
    powers = group_powers(groups, people, used)
    progress(0.95, "trying other mixtures")
    others = scenarios(people, powers, used)
    forget()
    progress(1.0, "done")
    return Plan(
        loaded,
        used,
        of_each,
        people.shares,
        unreached,
        people,
        every,
        calibrated,
        thresholds.thresholds(every, unreached.questions, calibrated),
        waiting(every, people, calibrated),
        lengths(people),
        completions(people),
        powers,
        not_planned,
        others,
        slopes,
        seconds,
        declared_tests,
    )


def check_plannable(loaded: LoadedStudy) -> None:
    """Raises UsageError for a study that asks nothing about dials of representations."""
    if not _about_dials(loaded):
        shipped = (path.stem for path in loading.list_shipped())
        able = [study for study in shipped if _about_dials(loading.load(study))]
        raise UsageError(
            f"{loaded.study.id} cannot be planned. Simulated participants can stand for people "
            "only in slider questions with right and wrong answers and in tasks in which "
            "concepts of a model are set, but this study has neither. Their answers about "
            "explanations and masked pictures, and their marks in a calibration, are fixed in "
            "advance.",
            safe="Nothing was simulated.",
            todo="With --contrasts you can plan the declared contrasts of any study. These "
            f"studies can be planned by simulation: {', '.join(able)}. Use the sessions of "
            "a calibration in the plan of the study for which they were recorded, with "
            "--calibration.",
        )


def default_participants(loaded: LoadedStudy) -> int:
    """Participants of each strategy, where nobody says how many."""
    rule = rule_of(loaded.study)
    if rule is None:
        return PARTICIPANTS
    return max(PARTICIPANTS, -(-PER_CELL * len(rule.cells) // rule.draws))


def _about_dials(loaded: LoadedStudy) -> bool:
    every = (item.task_stages() for item in items_of(loaded.study.flow))
    return any(stages is not None and stages.plannable for stages in every)


def _collect_suggestions(paths: Sequence[Path], loaded: LoadedStudy) -> list[Suggestion]:
    """What calibrations suggest for the study's data sets. Raises UsageError if they are of none of
    these: the plan would not rest on people then, although it seems to."""
    if not paths:
        return []
    from labapp.analysis import load

    counted = load(list(paths)).included()
    suggested = [known for report in reports() for known in report.suggested(counted)]
    if not suggested:
        raise UsageError(
            "The sessions given with --calibration contain no calibration questions.",
            safe="Nothing was simulated.",
            todo="Give sessions of the study `calibration`, or of another study with `marks: "
            "true`.",
        )
    targets = thresholds.targets_of(loaded, space_of, prior_of)
    datasets = sorted({dataset_of(model) for model in targets})
    own = [suggestion for suggestion in suggested if suggestion.dataset in datasets]
    if not own:
        others = ", ".join(suggestion.dataset for suggestion in suggested)
        raise UsageError(
            f"The sessions given with --calibration are about {others}, but {loaded.study.id} "
            f"asks about the sliders of {', '.join(datasets) or 'nothing'}.",
            safe="Nothing was simulated.",
            todo="Give calibrations with models of the same data set, or leave --calibration "
            "out: the threshold and T are then computed from simulated participants.",
        )
    return own


def _pairs(loaded: LoadedStudy, seed: int, progress: Progress) -> list[Pairs]:
    from labapp.models.representations.package import load_package

    targets = thresholds.targets_of(loaded, space_of, prior_of)
    result = []
    for done, model in enumerate(in_order(targets)):
        progress(done / len(targets), f"drawing pairs of {model}")
        result.append(
            thresholds.pairs_of(targets[model], load_package(model, "cpu", threads=1), seed)
        )
    return result
