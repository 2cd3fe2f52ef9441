"""`labapp plan STUDY --contrasts`: how many participants the declared contrasts need.

The effect is the declared smallest one, never what a pilot study found: an effect that a small
study found is most often too large. A pilot study tells how much participants vary, which an effect
in the outcome's own unit needs (an effect in standard deviations needs none), and how many of those
who are recruited count and have every cell. Power is that of the t test of the contrast (noncentral
t), with as many participants in each combination of the factors between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from labapp.analysis.declared import Declaration
from labapp.analysis.design.analyses import analyse
from labapp.analysis.design.anova import variance
from labapp.analysis.design.layout import wide
from labapp.analysis.statistic import Statistic
from labapp.base.errors import RecordError, UsageError
from labapp.study.design import AnalysisPlan, Contrast, Declared, Design, Hypothesis, SmallestEffect
from labapp.study.loading import LoadedStudy

if TYPE_CHECKING:
    from labapp.analysis.tables import Tables

LEVEL = 0.05
GOALS = (0.8, 0.9)
MOST = 2000
"""More participants than that are not looked for."""
UPPER = 0.8
"""Confidence of the upper limit of a pilot study's standard deviation (Browne, 1995)."""


@dataclass(frozen=True)
class Pilot:
    """What a pilot study says of one contrast.

    Attributes
    ----------
    sd, df : the standard deviation of what the contrast compares, in the unit of the tests, and its
        degrees of freedom.
    n : participants with every cell, from whom it is.
    recruited, counted : participants who took part, and of these those who count.
    simulated : those of `recruited` who were programs.
    """

    sd: float
    df: float
    n: int
    recruited: int
    counted: int
    simulated: int = 0

    def sd_at(self, share: float) -> float:
        """The value that the true standard deviation is below with this confidence (normal
        values)."""
        return self.sd * sqrt(self.df / float(stats.chi2.ppf(1 - share, self.df)))

    @property
    def usable(self) -> float:
        """Share of those recruited who count and have every cell."""
        return self.n / self.recruited

    @property
    def usable_low(self) -> float:
        """What the share is at least with 80 % confidence (Clopper and Pearson, 1934)."""
        return float(stats.beta.ppf(1 - UPPER, self.n, self.recruited - self.n + 1))


@dataclass(frozen=True)
class Need:
    """Participants with every cell, every group having as many; None where `MOST` are not enough.

    Attributes
    ----------
    difference : for the test of a difference.
    careful : the same where people vary as much as `UPPER` allows.
    equivalence : for the test that a difference is smaller.
    """

    difference: int | None
    careful: int | None
    equivalence: int | None


@dataclass(frozen=True)
class ContrastPower:
    """The power for one outcome and contrast.

    Attributes
    ----------
    smallest : the declared smallest effect.
    effect : the same in standard deviations of what the contrast compares.
    pilot : None without a pilot study that has this contrast.
    level : two-sided share of false findings, with Bonferroni's correction over the family, with
        which Holm's starts.
    groups : combinations of the factors between participants.
    sizes : numbers of participants, every group having as many.
    power, careful, equivalence : by these, of the test of a difference where the effect is the
        smallest one, the same where people vary as much as `UPPER` allows, and of the test of
        equivalence where there is no effect.
    needs : by goal.
    """

    outcome: str
    contrast: str
    direction: str
    smallest: SmallestEffect
    effect: float
    pilot: Pilot | None
    level: float
    groups: int
    sizes: tuple[int, ...]
    power: tuple[float, ...]
    careful: tuple[float, ...]
    equivalence: tuple[float, ...]
    needs: dict[float, Need]

    def recruit(self, n: int | None, *, careful: bool = False) -> int | None:
        """How many to recruit so that n are left; None where that is not known."""
        if n is None or self.pilot is None:
            return None
        share = self.pilot.usable_low if careful else self.pilot.usable
        return -(-ceil(n / share - 1e-9) // self.groups) * self.groups


def plan_contrasts(loaded: LoadedStudy, pilot: Sequence[Path]) -> list[ContrastPower]:
    """The power of every declared smallest effect. pilot: sessions and bundles of the same study.

    Raises UsageError where the study declares none, or an effect in the outcome's own unit has no
    pilot study, and as `labapp.analysis.load` does.
    """
    study = loaded.study
    plan, design = study.analysis, study.design
    if not plan.smallest_effect:
        raise UsageError(
            f"{study.id} declares no smallest effect: without it nobody can say how many "
            "participants are enough.",
            safe="Nothing was planned.",
            todo="Declare analysis.smallest_effect: {OUTCOME: {contrast: NAME, raw: NUMBER}}.",
        )
    pilots = _pilots(loaded, pilot) if pilot else {}
    return [
        _planned(outcome, smallest, plan, design, study.hypotheses, pilots)
        for outcome, smallest in plan.smallest_effect.items()
    ]


def left_out(loaded: LoadedStudy) -> list[str]:
    """What a study declares and a plan of contrasts cannot be made for, for want of a smallest
    effect; a sentence each for contrasts and for outcomes."""
    study = loaded.study
    plan, smallest = study.analysis, study.analysis.smallest_effect
    planned = {effect.contrast for effect in smallest.values()}
    contrasts = [each.name for each in plan.contrasts if each.name not in planned]
    tested = (*plan.outcomes.primary, *(each.outcome for each in study.hypotheses))
    outcomes = [name for name in dict.fromkeys(tested) if name not in smallest]
    return [
        f"Not planned, for no smallest effect of {of} is declared: {', '.join(names)}."
        for of, names in (("these contrasts", contrasts), ("these outcomes", outcomes))
        if names
    ]


def _sessions(paths: Sequence[Path]) -> Tables:
    """Those of a pilot study: trial runs where there are any (`run --pilot`), else ordinary ones.
    Who withdrew and let the data be kept is among those recruited."""
    from labapp.analysis import load

    try:
        return load(list(paths), pilot=True, withdrawn=True)
    except RecordError:
        return load(list(paths), withdrawn=True)


def _pilots(loaded: LoadedStudy, paths: Sequence[Path]) -> dict[tuple[str, str], Pilot]:
    """By outcome and contrast what the pilot study says."""
    study = loaded.study
    tables = _sessions(paths).of_study(study.id)
    people = tables.participants
    n_counted = people.loc[people["included"], "participant"].nunique()
    if not n_counted:
        raise UsageError(
            f"The sessions given with --pilot hold none of {study.id} that counts.",
            safe="Nothing was planned.",
            todo="Give sessions or bundles of this study.",
        )
    took_part = people[people["outcome"] != "declined"]
    recruited = took_part["participant"].nunique()
    programs = took_part.loc[took_part["simulated"].fillna(False).astype(bool), "participant"]
    own = {name: getattr(study, name) for name in Declared.model_fields}
    # Raw effects are in the outcome's own unit, so its values are not transformed.
    plan = study.analysis.model_copy(update={"transform": {}})
    declaration = Declaration(study=study.id, **{**own, "analysis": plan})
    result = {}
    for analysis in analyse(tables.included(), declaration, by_trials=False).analyses:
        # Also where some lack a cell: of those who have every one.
        model = variance(wide(analysis.frame, analysis.outcome.layout).complete)
        if isinstance(model, str):
            continue
        for comparison in analysis.comparisons:
            estimate = model.estimate(comparison.weights)
            if isinstance(estimate, Statistic) or estimate.df is None:
                continue
            key = analysis.outcome.name, comparison.name
            result[key] = Pilot(
                estimate.spread, estimate.df, estimate.n, recruited, n_counted, programs.nunique()
            )
    return result


def _planned(
    outcome: str,
    smallest: SmallestEffect,
    plan: AnalysisPlan,
    design: Design | None,
    hypotheses: Sequence[Hypothesis],
    pilots: dict[tuple[str, str], Pilot],
) -> ContrastPower:
    contrast = next(each for each in plan.contrasts if each.name == smallest.contrast)
    pilot = pilots.get((outcome, contrast.name))
    if smallest.raw is None:
        effect = careful = smallest.standardised or 0.0
    elif pilot is None:
        raise UsageError(
            f"The smallest effect of {outcome} is in its own unit ({smallest.raw:g}), and how much "
            f"participants vary in “{contrast.name}” is not known.",
            safe="Nothing was planned.",
            todo="Give sessions of a pilot study with --pilot in which at least a few have every "
            "cell, or declare the effect as `standardised`.",
        )
    else:
        effect, careful = smallest.raw / pilot.sd, smallest.raw / pilot.sd_at(UPPER)
    direction = next(
        (
            hypothesis.direction
            for hypothesis in hypotheses
            if (hypothesis.outcome, hypothesis.contrast) == (outcome, contrast.name)
        ),
        "two-sided",
    )
    outcomes = len(plan.outcomes.primary) + len(plan.outcomes.secondary)
    tests = len(plan.contrasts) * (max(outcomes, 1) if plan.family == "all" else 1)
    level = LEVEL / tests if plan.correction in ("holm", "bonferroni") else LEVEL
    scale, groups = scale_of(contrast, design)
    sizes = tuple(n for n in range(groups, MOST + 1, groups) if n - groups >= 1)
    one_sided = direction in ("greater", "less")
    curve = power(effect, sizes, groups, scale, level, one_sided=one_sided)
    lower = power(careful, sizes, groups, scale, level, one_sided=one_sided)
    # A family of its own: an outcome has one test of equivalence.
    equal_tests = len(plan.smallest_effect) if plan.family == "all" else 1
    equal_level = LEVEL / equal_tests if plan.correction in ("holm", "bonferroni") else LEVEL
    equal = equivalence_power(effect, sizes, groups, scale, equal_level)
    needs = {
        goal: Need(
            *(
                next((n for n, value in zip(sizes, powers, strict=True) if value >= goal), None)
                for powers in (curve, lower, equal)
            )
        )
        for goal in GOALS
    }
    return ContrastPower(
        outcome, contrast.name, direction, smallest, effect, pilot, level, groups, sizes,
        tuple(curve), tuple(lower), tuple(equal), needs,
    )  # fmt: skip


def scale_of(contrast: Contrast, design: Design | None) -> tuple[float, int]:
    """The standard error of the contrast of n participants is its standard deviation times this
    over the root of n; and how many groups there are."""
    between = {} if design is None else design.between
    weights = np.ones(1)
    for factor, levels in between.items():
        named = contrast.weights.get(factor)
        own = (
            np.full(len(levels), 1 / len(levels))
            if named is None
            else np.array(
                [{str(k): w for k, w in named.items()}.get(str(level), 0.0) for level in levels]
            )
        )
        weights = np.kron(weights, own)
    return sqrt(weights.size * float(np.square(weights).sum())), weights.size


def power(
    effect: float,
    sizes: Sequence[int],
    groups: int,
    scale: float,
    level: float,
    *,
    one_sided: bool,
) -> list[float]:
    """Of the t test, by the number of participants."""
    made = []
    for n in sizes:
        df, shift = n - groups, effect * sqrt(n) / scale
        if one_sided:
            made.append(float(stats.nct.sf(stats.t.ppf(1 - level, df), df, shift)))
        else:
            critical = float(stats.t.ppf(1 - level / 2, df))
            # Far out the distribution cannot be computed, and the other tail holds nothing.
            other = float(np.nan_to_num(stats.nct.cdf(-critical, df, shift)))
            made.append(float(stats.nct.sf(critical, df, shift)) + other)
        if made[-1] > 0.9999 and len(made) > 1:
            break
    return [*made, *[1.0] * (len(sizes) - len(made))]


def equivalence_power(
    effect: float, sizes: Sequence[int], groups: int, scale: float, level: float
) -> list[float]:
    """Of two one-sided tests, where there is no difference (Schuirmann's approximation)."""
    made = []
    for n in sizes:
        df = n - groups
        room = effect * sqrt(n) / scale - float(stats.t.ppf(1 - level, df))
        made.append(max(0.0, float(2 * stats.t.cdf(room, df) - 1)))
        if made[-1] > 0.9999:
            break
    return [*made, *[1.0] * (len(sizes) - len(made))]
