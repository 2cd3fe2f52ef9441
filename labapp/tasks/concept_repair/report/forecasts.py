"""What people forecast of models whose answers are withheld: sensitivity to leaks, and trust in the
rule card, tested over models.

In the test every model has the same numbers of three types of changes: the card says that the
answer moves, and it does so (A); the card says that it stays, and it does (B); the card says that
it stays, and it moves (C). So always forecasting the same answer, guessing, and reading the card
score the same in every model, and what differs between models is what people found out.

Of each participant and model there is a d' (forecasts that the answer moves, in C against B, with
half a trial added to each count; Hautus 1995) and a log odds (right forecasts in A and B, with the
same).
A test has three steps. A linear mixed model by restricted maximum likelihood, with the models and
the order in which they were met as fixed effects and an intercept of each participant, gives an
estimate for each model. These are regressed on the predictor, in standard deviations of the models.
The slope's standard error is that of the regression, with the number of models less two as degrees
of freedom: models are the units, and their pictures vary with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from labapp.analysis.inference import EQUIVALENT, holm, of_estimate, varies
from labapp.analysis.statistic import Statistic
from labapp.study.design import Hypothesis
from labapp.tasks.concept_repair.report.measures import LEAST_MODELS, MODEL, PERSON, SESSION

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

FOLLOWS, STAYS, LEAKS = "follows", "stays", "leaks"
PURITY, PURITY_SD, SEEDS = "ois_common_mean", "ois_common_sd", "ois_common_seeds"
LEAK_RATE, ACCURACY = "leak_rate", "task_accuracy"
RATES = {kind: f"rate_{kind}" for kind in (FOLLOWS, STAYS, LEAKS)}
SCORES = (
    PURITY, PURITY_SD, SEEDS, LEAK_RATE, *RATES.values(),
    *(f"pictures_{kind}" for kind in RATES),
)  # fmt: skip
"""Measures of models that sets of drawn changes tell."""
RELIABLE = 0.9
"""Reliability of a predictor from which on it tells models apart well enough."""
SENSITIVITY, TRUST, NATURAL = "sensitivity", "trust", "natural"
UNITS = {SENSITIVITY: "d' per SD", TRUST: "log odds per SD", NATURAL: "share per SD"}
SMALLEST = {SENSITIVITY: 0.3, TRUST: 0.5}
"""Slopes, a standard deviation of the models, that are too small to matter (ours)."""
FAMILY = "primary tests, holm"
METHOD = "models' estimates regressed on the predictor"


@dataclass(frozen=True)
class ForecastTest:
    """A test. outcome: one of `UNITS`; predictor: a measure of the models."""

    outcome: str
    predictor: str


TESTS: Mapping[str, ForecastTest] = MappingProxyType(
    {
        "leak_sensitivity": ForecastTest(SENSITIVITY, PURITY),
        "card_trust": ForecastTest(TRUST, PURITY),
        "leak_sensitivity_by_leak_rate": ForecastTest(SENSITIVITY, LEAK_RATE),
        "leak_sensitivity_by_accuracy": ForecastTest(SENSITIVITY, ACCURACY),
        "natural_rates": ForecastTest(NATURAL, PURITY),
    }
)
"""By the name by which studies declare them."""


def log_odds(right: Float64, of: Float64) -> Float64:
    """With half a trial added to each count."""
    return np.asarray(np.log((right + 0.5) / (of - right + 0.5)), np.float64)


def d_prime(hits: Float64, of: Float64, alarms: Float64, among: Float64) -> Float64:
    """With half a trial added to each count (Hautus, 1995)."""
    z = scipy.stats.norm.ppf((hits + 0.5) / (of + 1)) - scipy.stats.norm.ppf(
        (alarms + 0.5) / (among + 1)
    )
    return np.asarray(z, np.float64)


@dataclass(frozen=True, slots=True)
class Slope:
    """A slope over models. error: its standard error; df: degrees of freedom."""

    value: float
    error: float
    df: int

    @property
    def p(self) -> float:
        """Two-sided."""
        return float(2 * scipy.stats.t.sf(abs(self.value / self.error), self.df))


def model_estimates(values: Float64, person: Int64, block: Int64, model: Int64) -> Float64:
    """The estimate for each model, from a linear mixed model of values, shape (n,), with models and
    blocks as fixed effects and an intercept for each participant. The factors are numbers from
    0."""
    models, blocks = int(model.max()) + 1, int(block.max()) + 1
    design = np.zeros((values.size, models + blocks - 1))
    design[np.arange(values.size), model] = 1
    for at in range(1, blocks):  # sum coding: estimates are of the mean block
        design[:, models + at - 1] = (block == at).astype(float) - (block == 0)
    counts = np.bincount(person).astype(np.float64)
    known = counts > 0
    both = np.column_stack([design, values])
    sums = [np.bincount(person, column) for column in both.T]
    means: Float64 = np.stack(sums, axis=1).astype(np.float64)
    means[known] = means[known] / counts[known, None]

    def fitted(share: float) -> tuple[float, Float64]:
        """Twice the negative restricted log likelihood, and the effects, where this share of the
        variance is between participants."""
        ratio = share / (1 - share)
        shrink = 1 - 1 / np.sqrt(1 + counts * ratio)
        moved = both - (shrink[:, None] * means)[person]
        x, y = moved[:, :-1], moved[:, -1]
        effects, _, rank, singular = np.linalg.lstsq(x, y, rcond=None)
        residual = float(np.sum((y - x @ effects) ** 2))
        free = y.size - int(rank)
        if residual <= 0 or free <= 0:
            return -np.inf, np.asarray(effects, np.float64)
        height = free * np.log(residual / free) + np.log1p(counts * ratio).sum()
        height += 2 * np.log(singular[singular > 0]).sum()
        return float(height), np.asarray(effects, np.float64)

    best: Any = scipy.optimize.minimize_scalar(
        lambda share: fitted(float(share))[0], bounds=(0.0, 0.98), method="bounded",
        options={"xatol": 1e-4},
    )  # fmt: skip
    share = min((0.0, float(best.x)), key=lambda each: fitted(each)[0])
    return fitted(share)[1][:models]


def slope_over_models(estimates: Float64, predictor: Float64) -> Slope | None:
    """The slope of models' estimates on a predictor, in its standard deviations; None if they do
    not vary, so that there is nothing to test."""
    if not varies(estimates) or not varies(predictor) or estimates.size < 3:
        return None
    z = (predictor - predictor.mean()) / predictor.std(ddof=1)
    value = float(z @ estimates / (z @ z))
    residual = estimates - estimates.mean() - value * z
    df = estimates.size - 2
    error = float(np.sqrt(residual @ residual / df / (z @ z)))
    return Slope(value, error, df) if error > 0 else None


def fitted_line(estimates: Float64, predictor: Float64) -> tuple[Float64, Float64, Float64] | None:
    """The regression that `slope_over_models` tests: places along the predictor, the line there,
    and half the width of its pointwise 95 % band; None if there is no slope."""
    slope = slope_over_models(estimates, predictor)
    if slope is None:
        return None
    along = np.linspace(predictor.min(), predictor.max(), 100)
    z = (along - predictor.mean()) / predictor.std(ddof=1)
    n = estimates.size
    # The slope's variance is the residual one by n - 1; that of the mean is the same by n.
    error = slope.error * np.sqrt((n - 1) / n + z**2)
    half = scipy.stats.t.ppf(0.975, slope.df) * error
    return along, estimates.mean() + slope.value * z, np.asarray(half, np.float64)


@dataclass(frozen=True)
class Forecasts:
    """What one study's participants forecast of withheld answers.

    Attributes
    ----------
    people : one row per participant and model: `person`, `block` and `at` (numbers from 0), the
        counts `n_TYPE`, `moved_TYPE`, `right_TYPE` of each type, and the outcomes of `UNITS`.
    models : one row per model, in the order of `at`: `name`, and the measures that its set tells.
    declared : the hypotheses of the study that tests here can test, in their order.
    """

    people: pd.DataFrame
    models: pd.DataFrame
    declared: tuple[Hypothesis, ...]

    @property
    def reliability(self) -> float | None:
        """Of the predictor, a mean over metric seeds: the variance between models over it and the
        variance of that mean; None if the sets do not have it."""
        if not {PURITY, PURITY_SD, SEEDS} <= set(self.models) or len(self.models) < 2:
            return None
        means, sds, seeds = (
            self.models[name].to_numpy(np.float64) for name in (PURITY, PURITY_SD, SEEDS)
        )
        within = float(np.mean(sds**2 / seeds))
        between = max(0.0, float(means.var(ddof=1)) - within)
        return between / (between + within) if between + within > 0 else None

    def run(self, name: str) -> Statistic:
        """A test of `TESTS`, two-sided, not corrected."""
        test = TESTS[name]
        known = Statistic(
            test=METHOD, quantity=test.outcome, compared_with=test.predictor,
            unit=UNITS[test.outcome], n=len(self.people),
            n_participants=int(self.people["person"].nunique()),
        )  # fmt: skip
        slope, why = self._slope(test)
        if slope is None:
            return replace(known, why=why)
        made = of_estimate(slope.value, slope.error, slope.df, name=METHOD)
        return replace(
            made, quantity=known.quantity, compared_with=known.compared_with, unit=known.unit,
            n=known.n, n_participants=known.n_participants,
        )  # fmt: skip

    def equivalence(self, name: str) -> Statistic | None:
        """Whether the slope is too small to matter; None if no size was set beforehand."""
        test = TESTS[name]
        slope, _ = self._slope(test)
        if slope is None or test.outcome not in SMALLEST:
            return None
        bound = SMALLEST[test.outcome]
        made = of_estimate(slope.value, slope.error, slope.df, EQUIVALENT, bound)
        return replace(
            made, direction=EQUIVALENT, quantity=test.outcome, compared_with=test.predictor,
            unit=UNITS[test.outcome], n=len(self.people),
        )  # fmt: skip

    def _slope(self, test: ForecastTest) -> tuple[Slope | None, str]:
        """The slope; without one, why there is none."""
        if test.predictor not in self.models or self.models[test.predictor].isna().any():
            return None, f"the stimulus sets do not give {test.predictor}"
        if test.outcome not in self.people:
            return None, "the sets do not have how often their models' answers move"
        if len(self.models) < LEAST_MODELS:
            return None, f"fewer than {LEAST_MODELS} models: no slope is tested"
        estimates = self.estimates(test.outcome)
        if estimates is None:
            return None, "a model has no values"
        slope = slope_over_models(estimates, self.models[test.predictor].to_numpy(np.float64))
        return slope, "" if slope is not None else "all models have the same value"

    def estimates(self, outcome: str) -> Float64 | None:
        """Of each model, in the order of `models`, the estimate of an outcome; None if a model
        has no values, or fewer than two participants have any."""
        own = self.people.dropna(subset=[outcome])
        if own["person"].nunique() < 2 or own["at"].nunique() < len(self.models):
            return None
        return model_estimates(
            own[outcome].to_numpy(np.float64),
            pd.factorize(own["person"])[0].astype(np.int64),
            own["block"].to_numpy(np.int64),
            own["at"].to_numpy(np.int64),
        )

    def results(self) -> list[tuple[Hypothesis, Statistic, Statistic | None]]:
        """Each declared hypothesis with its test, and that of equivalence; Holm's correction over
        the primary ones."""
        made = [(each, self.run(each.test or "")) for each in self.declared]
        primary = [
            at
            for at, (each, row) in enumerate(made)
            if each.role == "primary" and row.p is not None
        ]
        p_values = [p for at in primary if (p := made[at][1].p) is not None]
        for at, p in zip(primary, holm(p_values).tolist() if primary else (), strict=True):
            each, row = made[at]
            made[at] = each, replace(row, p_corrected=float(p), family=FAMILY)
        return [
            (each, row, self.equivalence(each.test or "") if each.role == "primary" else None)
            for each, row in made
        ]


def forecasts_of(
    changes: pd.DataFrame, scores: pd.DataFrame, hypotheses: Sequence[Hypothesis]
) -> Forecasts | None:
    """What a study's rows say of withheld answers; None if none was withheld.

    Parameters
    ----------
    changes : rows of `concept_changes` that count, of stages.
    scores : of `concept_models`.
    hypotheses : that the study declares.
    """
    own = changes[changes["shown"].eq(other=False) & changes["change_type"].isin(list(RATES))]
    own = own[own["foretold_correct"].notna()]
    if own.empty:
        return None
    wide = scores.pivot_table(index=list(MODEL), columns="measure", values="value").reset_index()
    about = scores.drop_duplicates(list(MODEL))[[*MODEL, "learner", ACCURACY, "concept_accuracy"]]
    met = own.drop_duplicates(list(MODEL))[list(MODEL)]
    models = met.merge(about, on=list(MODEL), how="left").merge(
        wide[[*MODEL, *(name for name in SCORES if name in wide)]], on=list(MODEL), how="left"
    )
    models = models.sort_values([PURITY] if PURITY in models else ["model"], ignore_index=True)
    models = models.assign(name=models["model"], at=np.arange(len(models)))
    frame = own.merge(models[[*MODEL, "at"]], on=list(MODEL))
    frame = frame.assign(
        moved=(frame["foretold"] != frame["answer_before"]).astype(float),
        right=frame["foretold_correct"].astype(float),
        who=frame[PERSON[1]].astype(str),
    )
    return Forecasts(
        person_scores(frame, models),
        models,
        tuple(each for each in hypotheses if each.test in TESTS),
    )


def person_scores(frame: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """`Forecasts.people` of rows with `who`, `at`, `change_type`, `moved`, `right` and, for their
    order, `session` and `session_s`."""
    keys = ["who", "at"]
    counts = frame.pivot_table(
        index=keys, columns="change_type", values=["moved", "right"], aggfunc=["sum", "count"]
    )
    made = pd.DataFrame(index=counts.index)
    for kind in RATES:
        there = ("count", "right", kind) in counts
        made[f"n_{kind}"] = counts["count", "right", kind].fillna(0) if there else 0.0
        made[f"moved_{kind}"] = counts["sum", "moved", kind].fillna(0) if there else 0.0
        made[f"right_{kind}"] = counts["sum", "right", kind].fillna(0) if there else 0.0
    made = made.reset_index()
    order = [name for name in (SESSION[2], "session_s") if name in frame]
    first = frame.sort_values(order).drop_duplicates(keys)[keys]
    first = first.assign(block=first.groupby("who").cumcount())
    made = made.merge(first, on=keys).assign(person=lambda rows: pd.factorize(rows["who"])[0])
    return with_outcomes(made, models)


def with_outcomes(people: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """The rows with the outcomes; empty if a count is 0."""
    n = {kind: people[f"n_{kind}"].to_numpy(np.float64) for kind in RATES}
    right = {kind: people[f"right_{kind}"].to_numpy(np.float64) for kind in RATES}
    moved = {kind: people[f"moved_{kind}"].to_numpy(np.float64) for kind in RATES}
    made = people.assign(
        **{
            SENSITIVITY: np.where(
                (n[LEAKS] > 0) & (n[STAYS] > 0),
                d_prime(moved[LEAKS], n[LEAKS], moved[STAYS], n[STAYS]),
                np.nan,
            ),
            TRUST: np.where(
                n[FOLLOWS] + n[STAYS] > 0,
                log_odds(right[FOLLOWS] + right[STAYS], n[FOLLOWS] + n[STAYS]),
                np.nan,
            ),
        }
    )
    if set(RATES.values()) <= set(models):
        rates = {kind: models[name].to_numpy(np.float64) for kind, name in RATES.items()}
        total = sum(rates.values())
        at = people["at"].to_numpy(np.int64)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = [(rates[kind] / total)[at] * (right[kind] / n[kind]) for kind in RATES]
        card = ((rates[FOLLOWS] + rates[STAYS]) / total)[at]
        made = made.assign(
            natural_right=sum(shares),
            natural_same=(rates[STAYS] / total)[at],
            natural_card=card,
            **{NATURAL: sum(shares) - card},
        )
    return made
