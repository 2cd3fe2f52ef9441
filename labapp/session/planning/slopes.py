"""Power of slopes over models, where studies draw models anew as well as people and pictures.

A slope over models that simulated participants showed is fitted once, as the study's analysis fits
it. Then studies are drawn from what was fitted, and each is fitted as a study is. Models are the
units of such a slope: their values are drawn from those of the study's models with replacement, and
each drawn model has an intercept of its own. So power does not rise to 1 with people alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic

import numpy as np
import pandas as pd
import scipy

from labapp.analysis import mixed_logistic
from labapp.analysis.bootstrap import Int64
from labapp.analysis.mixed_logistic import LogisticFit
from labapp.analysis.task_report import ComparedSlope
from labapp.session.planning.power import LEVEL, Floats, Whole
from labapp.session.planning.thresholds import People
from labapp.session.simulation.simulation_job import Workers

REPLICATIONS = 100
"""Studies of each number of people and models."""
SIZES = (24, 48, 96)
"""Participants."""
LEAST_SPREAD = 0.2
"""Log odds: the least standard deviation of the drawn models' intercepts (ours). A dozen models say
little of it, and 0, which is often the best estimate, would take every other model for the same."""
LEAST_MODELS = 3
"""From so many on a slope over models can be told from what models differ by anyway."""
LEAST_OUTCOMES = 10
"""Simulated observations of either outcome from which on anything is fitted (ours)."""
WIDEST = 4.0
"""Log odds: intercepts that differ by more say that nearly all of a level is alike."""
FEW = (
    f"with fewer than {LEAST_MODELS} models, a slope cannot be distinguished from ordinary "
    "differences between models, so the study's test says nothing about other models"
)
UNKNOWN = "simulated participants vary too little for this; more of them (--participants) may help"
SIMULATED, SMALLEST, NO_SLOPE = "as simulated", "smallest that matters", "none"
Progress = Callable[[int, int], None]
"""Called with how many numbers of people and models are done, and of how many."""


@dataclass(frozen=True)
class DrawnStudies:
    """Shares of drawn studies.

    Attributes
    ----------
    slope : from which they are drawn; effect: which one it is.
    n_people, n_models : in each study.
    power : share in which the slope is significant (.05, two-sided) in the expected direction;
        corrected: at the level with which Holm's correction begins.
    failed : share that could not be fitted; they found nothing.
    """

    effect: str
    slope: float
    n_people: int
    n_models: int
    power: float
    corrected: float
    failed: float


@dataclass(frozen=True)
class SlopePower:
    """What a plan says of one slope.

    Attributes
    ----------
    test : what is tested.
    fitted : what the simulated participants show; spreads: of participants, pictures and models.
    n_models : of the study.
    spread : standard deviation of the drawn models' intercepts.
    shares : by slope and numbers of people and models.
    why : why there is none.
    """

    test: ComparedSlope
    fitted: LogisticFit | None = None
    n_models: int = 0
    spread: float = 0.0
    shares: tuple[DrawnStudies, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class World:
    """What studies are drawn from.

    Attributes
    ----------
    rises, n_tests : see `ComparedSlope`.
    values : shape (models,), of the study's models, ascending; models are numbered so.
    starts : shape (people + 1,), where the observations of each simulated participant begin.
    weights : shape (people,), probability of each to be drawn.
    model, kind, picture : shape (observations,), of which model, of which kind of picture, and of
        which among these.
    pictures : shape (models, kinds), how many there are.
    odds : shape (kinds,), log odds of the outcome for each kind of picture, with a mean model.
    spreads : shape (3,), standard deviations of participants, pictures and models.
    """

    rises: bool
    n_tests: int
    values: Floats
    starts: Whole
    weights: Floats
    model: Whole
    kind: Whole
    picture: Whole
    pictures: Whole
    odds: Floats
    spreads: Floats


def slope_powers(
    tests: Sequence[ComparedSlope],
    people: People,
    seed: int,
    pool: Workers,
    progress: Progress = lambda done, of: None,
) -> tuple[list[SlopePower], float]:
    """The power of each slope, and the seconds that it took. The same seed gives the same numbers
    on every machine."""
    began = monotonic()
    known = [_estimate_slope(test, people) for test in tests]
    waiting: list[tuple[int, Future[DrawnStudies]]] = []
    for at, (power, world) in enumerate(known):
        if world is None:
            continue
        # Slopes, people and how many times the study's models: more people, then more models,
        # and without a slope how often one is found all the same.
        assert power.fitted is not None
        sign = 1.0 if power.test.rises else -1.0
        slopes = {SIMULATED: float(power.fitted.mean[1]), SMALLEST: sign * power.test.smallest}
        sizes = [*((n, 1) for n in SIZES), (SIZES[-1], 2)]
        cases = [
            (effect, slope, n, times) for effect, slope in slopes.items() for n, times in sizes
        ]
        for effect, slope, n, times in [*cases, (NO_SLOPE, 0.0, SIZES[-1], 1)]:
            job = (world, effect, slope, n, times, REPLICATIONS, [seed, at])
            waiting.append((at, pool.executor.submit(studies, *job)))
    shares: dict[int, list[DrawnStudies]] = {}
    try:
        for done, (at, future) in enumerate(waiting, start=1):
            shares.setdefault(at, []).append(future.result())
            progress(done, len(waiting))
    finally:
        for _, future in waiting:
            future.cancel()
    powers = [
        SlopePower(p.test, p.fitted, p.n_models, p.spread, tuple(shares.get(at, ())), p.why)
        for at, (p, _) in enumerate(known)
    ]
    return powers, monotonic() - began


def _estimate_slope(test: ComparedSlope, people: People) -> tuple[SlopePower, World | None]:
    if test.why:
        return SlopePower(test, why=test.why), None
    rows = test.rows.sort_values(["participant"], kind="stable").reset_index(drop=True)
    models = rows.drop_duplicates("model").sort_values(["value", "model"])
    n_models = len(models)
    if n_models < LEAST_MODELS or np.ptp(models["value"]) == 0:
        return SlopePower(test, n_models=n_models, why=FEW), None
    values = models["value"].to_numpy(np.float64)
    numbers = dict(zip(models["model"], range(n_models), strict=True))
    model = rows["model"].map(numbers).to_numpy(np.intp)
    kind, kinds = pd.factorize(rows["kind"], sort=True)
    own = rows.groupby([model, kind])["picture"]
    picture = own.transform(lambda names: pd.factorize(names, sort=True)[0]).to_numpy(np.intp)
    pictures = np.zeros((n_models, len(kinds)), np.intp)
    np.maximum.at(pictures, (model, kind), picture + 1)
    mixed = _in_shares(rows["participant"], people.strategies, people.shares)
    outcome = rows["outcome"].to_numpy(np.float64)[mixed]
    if min(outcome.sum(), (1 - outcome).sum()) < LEAST_OUTCOMES:
        return SlopePower(test, n_models=n_models, why=UNKNOWN), None
    fitted = mixed_logistic.fit(
        outcome,
        _design(((values - values.mean()) / values.std())[model[mixed]], kind[mixed]),
        [
            _number_codes(codes[mixed])
            for codes in (rows["participant"].to_numpy(str), _apart(picture, kind, model), model)
        ],
    )
    if fitted is None or max(abs(fitted.mean[1]), fitted.sd[1], *fitted.spreads) > WIDEST:
        return SlopePower(test, n_models=n_models, why=UNKNOWN), None
    spread = max(fitted.spreads[2], LEAST_SPREAD)
    # A kind of which all or nothing was seen has no finite log odds.
    odds = np.clip(fitted.mean[0] + np.append(0, fitted.mean[2:]), -WIDEST, WIDEST)
    kind_odds = np.full(len(kinds), odds.mean())
    kind_odds[np.unique(kind[mixed])] = odds
    who, starts = np.unique(rows["participant"].to_numpy(str), return_index=True)
    world = World(
        test.rises,
        test.n_tests,
        values,
        np.append(starts, len(rows)),
        people.weights([str(name) for name in who]),
        model,
        kind.astype(np.intp),
        picture,
        pictures,
        kind_odds,
        np.array([*fitted.spreads[:2], spread]),
    )
    return SlopePower(test, fitted, n_models, spread), world


def _in_shares(
    participants: pd.Series[str], strategies: Mapping[str, str], shares: Mapping[str, float]
) -> Whole:
    """The observations of as many participants of each strategy as its share of the mixture says:
    as many as there are of the one with the largest share."""
    names = sorted(set(participants))
    largest = max(shares.values())
    chosen: set[str] = set()
    for strategy, share in shares.items():
        own = [name for name in names if strategies[name] == strategy]
        chosen.update(own[: round(len(own) * share / largest)])
    return np.flatnonzero(participants.isin(chosen)).astype(np.intp)


def _apart(picture: Whole, kind: Whole, model: Whole) -> Whole:
    """One number per picture: each is of one kind, and a model's own."""
    return np.asarray(picture + (1 + picture.max()) * (kind + (1 + kind.max()) * model), np.intp)


def _design(value: Floats, kind: Whole) -> Floats:
    """Intercept, value, and each kind of picture but the first."""
    kinds = [kind == each for each in np.unique(kind)[1:]]
    return np.column_stack([np.ones(value.size), value, *kinds]).astype(np.float64)


def studies(
    world: World,
    effect: str,
    slope: float,
    n_people: int,
    times: int,
    replications: int,
    seed: Sequence[int],
) -> DrawnStudies:
    """So many studies. times: the models of each, in those of the world."""
    p: list[float] = []
    failed = 0
    effects = (SIMULATED, SMALLEST, NO_SLOPE)
    rng = np.random.default_rng([*seed, effects.index(effect), n_people, times])
    for _ in range(replications):
        fitted = _study(world, slope, n_people, times, rng)
        if fitted is None or not fitted.finite(1):
            failed += 1
        elif (fitted.mean[1] > 0) == world.rises:
            p.append(fitted.p(1))
    low = np.array(p)
    return DrawnStudies(
        effect,
        slope,
        n_people,
        times * world.values.size,
        float((low < LEVEL).sum()) / replications,
        float((low < LEVEL / world.n_tests).sum()) / replications,
        failed / replications,
    )


def _study(
    world: World, slope: float, n_people: int, times: int, rng: np.random.Generator
) -> LogisticFit | None:
    """One study, drawn and fitted; None if it cannot be fitted."""
    n_models = world.values.size * times
    values = np.sort(rng.choice(world.values, n_models))  # who met a pure model meets a pure one
    drawn = rng.choice(world.weights.size, n_people, p=world.weights)
    sizes = world.starts[drawn + 1] - world.starts[drawn]
    person = np.repeat(np.arange(n_people), sizes)
    rows = np.arange(person.size) + np.repeat(
        world.starts[drawn] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes
    )
    old, kind = world.model[rows], world.kind[rows]
    model = old * times + rng.integers(times, size=n_people)[person]
    # Other pictures of the same kind, in the same number.
    shift = rng.integers(world.pictures.max(), size=(n_people, *world.pictures.shape))
    picture = (world.picture[rows] + shift[person, old, kind]) % world.pictures[old, kind]
    picture = _apart(picture, kind, model)
    standard = (values - world.values.mean()) / world.values.std()
    eta = world.odds[kind] + slope * standard[model]
    factors = [_number_codes(codes) for codes in (person, picture, model)]
    for codes, spread in zip(factors, world.spreads, strict=True):
        eta += spread * rng.normal(size=codes.max() + 1)[codes]
    outcome = (rng.random(eta.size) < scipy.special.expit(eta)).astype(np.float64)
    met = standard[model]
    if np.ptp(outcome) == 0 or np.ptp(met) == 0:
        return None
    start = np.maximum(world.spreads, LEAST_SPREAD).tolist()
    return mixed_logistic.fit(outcome, _design(met, kind), factors, start, rough=True)


def _number_codes(codes: Whole) -> Int64:
    return np.asarray(np.unique(codes, return_inverse=True)[1], np.int64)
