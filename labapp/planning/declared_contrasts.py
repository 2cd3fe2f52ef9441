"""`labapp plan STUDY --contrasts`: how many participants the declared contrasts need.

The effect is the declared smallest one, never what a pilot study found: an effect that a small
study found is most often too large. A pilot study tells how much participants vary, which an effect
in the outcome's own unit needs; an effect in standard deviations needs none. Power is that of the
t test of the contrast (noncentral t), with as many participants in each combination of the factors
between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np
from scipy import stats

from labapp.analysis.declared import Declaration
from labapp.analysis.design.analyses import VARIANCE, analyse
from labapp.errors import UsageError
from labapp.study.design import AnalysisPlan, Contrast, Declared, Design, Hypothesis, SmallestEffect
from labapp.study.loading import LoadedStudy

LEVEL = 0.05
GOALS = (0.8, 0.9)
MOST = 2000
"""More participants than that are not looked for."""
UPPER = 0.8
"""Confidence of the upper limit of a pilot study's standard deviation (Browne, 1995)."""
PILOT_TEXT = "of a pilot study"


@dataclass(frozen=True)
class ContrastPower:
    """The power for one outcome and contrast.

    Attributes
    ----------
    effect : the smallest effect in standard deviations of what the contrast compares.
    sd, sd_upper : these standard deviations in the unit of the tests, as a pilot study has them and
        their upper 80 % limit; None where the effect is declared in standard deviations.
    n_pilot : participants of the pilot study.
    level : two-sided share of false findings, with Bonferroni's correction over the family, with
        which Holm's starts.
    sizes : numbers of participants, every cell having as many.
    power, equivalence : by these, of the test of a difference where the effect is the smallest one,
        and of the test of equivalence where there is none.
    needs : by goal the smallest number for the test, then that for the upper limit, then that for
        the test of equivalence; None where `MOST` are not enough.
    """

    outcome: str
    contrast: str
    direction: str
    effect: float
    sd: float | None
    sd_upper: float | None
    n_pilot: int | None
    level: float
    sizes: tuple[int, ...]
    power: tuple[float, ...]
    equivalence: tuple[float, ...]
    needs: dict[float, tuple[int | None, int | None, int | None]]


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
    spreads = _spreads(loaded, pilot) if pilot else {}
    return [
        _planned(outcome, smallest, plan, design, study.hypotheses, spreads)
        for outcome, smallest in plan.smallest_effect.items()
    ]


def _spreads(
    loaded: LoadedStudy, pilot: Sequence[Path]
) -> dict[tuple[str, str], tuple[float, float, int]]:
    """By outcome and contrast the standard deviation, its degrees of freedom, and participants."""
    from labapp.analysis import load

    study = loaded.study
    tables = load(list(pilot)).included().of_study(study.id)
    if tables.participants.empty:
        raise UsageError(
            f"The sessions given with --pilot hold none of {study.id} that counts.",
            safe="Nothing was planned.",
            todo="Give sessions or bundles of this study.",
        )
    own = {name: getattr(study, name) for name in Declared.model_fields}
    # Raw effects are in the outcome's own unit, so its values are not transformed.
    plan = study.analysis.model_copy(update={"transform": {}})
    declaration = Declaration(study=study.id, **{**own, "analysis": plan})
    result = {}
    for analysis in analyse(tables, declaration).analyses:
        for compared in analysis.compared:
            estimate = compared.estimate
            if estimate is None or estimate.df is None or analysis.main.name != VARIANCE:
                continue
            key = analysis.outcome.name, compared.comparison.name
            result[key] = estimate.spread, estimate.df, estimate.n
    return result


def _planned(
    outcome: str,
    smallest: SmallestEffect,
    plan: AnalysisPlan,
    design: Design | None,
    hypotheses: Sequence[Hypothesis],
    spreads: dict[tuple[str, str], tuple[float, float, int]],
) -> ContrastPower:
    contrast = next(each for each in plan.contrasts if each.name == smallest.contrast)
    sd, sd_upper, n_pilot = None, None, None
    if smallest.raw is None:
        effect = upper = smallest.standardised or 0.0
    elif (found := spreads.get((outcome, contrast.name))) is None:
        raise UsageError(
            f"The smallest effect of {outcome} is in its own unit ({smallest.raw:g}), and how much "
            f"participants vary in “{contrast.name}” is not known.",
            safe="Nothing was planned.",
            todo="Give sessions of a pilot study with --pilot in which everybody has every cell, "
            "or declare the effect as `standardised`.",
        )
    else:
        sd, df, n_pilot = found
        sd_upper = sd * sqrt(df / float(stats.chi2.ppf(1 - UPPER, df)))
        effect, upper = smallest.raw / sd, smallest.raw / sd_upper
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
    lower = power(upper, sizes, groups, scale, level, one_sided=one_sided)
    equal = equivalence_power(effect, sizes, groups, scale)
    needs = {
        goal: (_first(sizes, curve, goal), _first(sizes, lower, goal), _first(sizes, equal, goal))
        for goal in GOALS
    }
    return ContrastPower(
        outcome, contrast.name, direction, effect, sd, sd_upper, n_pilot, level, sizes,
        tuple(curve), tuple(equal), needs,
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
    effect: float, sizes: Sequence[int], groups: int, scale: float
) -> list[float]:
    """Of two one-sided tests at .05, where there is no difference (Schuirmann's approximation)."""
    made = []
    for n in sizes:
        df = n - groups
        room = effect * sqrt(n) / scale - float(stats.t.ppf(1 - LEVEL, df))
        made.append(max(0.0, float(2 * stats.t.cdf(room, df) - 1)))
        if made[-1] > 0.9999:
            break
    return [*made, *[1.0] * (len(sizes) - len(made))]


def _first(sizes: Sequence[int], curve: Sequence[float], goal: float) -> int | None:
    return next((n for n, value in zip(sizes, curve, strict=True) if value >= goal), None)


def words(powers: Sequence[ContrastPower]) -> Iterator[str]:
    """A paragraph a contrast."""
    for each in powers:
        unit = (
            f"{each.effect:.2f} standard deviations"
            if each.sd is None
            else f"{each.effect:.2f} standard deviations (sd {each.sd:.3g} of {each.n_pilot} "
            f"participants {PILOT_TEXT}; at most {each.sd_upper or 0:.3g} with 80 % confidence)"
        )
        yield (
            f"{each.outcome}, “{each.contrast}” ({each.direction}): the smallest effect is {unit}; "
            f"level {each.level:.4g}."
        )
        for goal, (n, upper, equal) in each.needs.items():
            careful = "" if each.sd is None else f"; {_n(upper)} if people vary as much as they may"
            yield (
                f"  For a power of {goal:.0%}: {_n(n)}{careful}; {_n(equal)} to show that a "
                "difference is smaller."
            )


def _n(n: int | None) -> str:
    return f"more than {MOST:,} participants" if n is None else f"{n} participants"


def rows(powers: Sequence[ContrastPower]) -> list[dict[str, object]]:
    """A row a contrast and number of participants, up to where all powers are 1."""
    made: list[dict[str, object]] = []
    for each in powers:
        for n, difference, equal in zip(each.sizes, each.power, each.equivalence, strict=True):
            made.append(
                {
                    "outcome": each.outcome,
                    "contrast": each.contrast,
                    "participants": n,
                    "power": difference,
                    "power_of_equivalence": equal,
                }
            )
            if min(difference, equal) > 0.999:
                break
    return made


def summary(powers: Sequence[ContrastPower]) -> list[dict[str, object]]:
    """A row a contrast and goal, for programs."""
    return [
        {
            "outcome": each.outcome,
            "contrast": each.contrast,
            "direction": each.direction,
            "effect": each.effect,
            "sd": each.sd,
            "sd_upper": each.sd_upper,
            "n_pilot": each.n_pilot,
            "level": each.level,
            "goal": goal,
            "participants": n,
            "participants_upper": upper,
            "participants_equivalence": equal,
        }
        for each in powers
        for goal, (n, upper, equal) in each.needs.items()
    ]


def draw(powers: Sequence[ContrastPower], out: Path) -> None:
    """The curves as files called power, as the report saves its figures. Raises OSError."""
    import matplotlib as mpl

    from labapp.figure_style import ACCENT, SECONDARY, STYLE
    from labapp.report import kit
    from labapp.report.drawing import ReportFigure

    with mpl.rc_context(STYLE):
        figure, axes = kit.panels(len(powers), min(3, len(powers)), 2.6, more_in=0.5)
        for ax, each in zip(axes, powers, strict=False):
            whole = [n for n, p in zip(each.sizes, each.power, strict=True) if p < 0.999]
            end = min(len(each.sizes), max(len(whole) + 2, 8))
            ax.plot(each.sizes[:end], each.power[:end], color=ACCENT, label="difference")
            ax.plot(
                each.sizes[:end], each.equivalence[:end], color=SECONDARY, linestyle="--",
                label="equivalence",
            )  # fmt: skip
            ax.axhline(GOALS[0], color=SECONDARY, linewidth=0.6, linestyle=":")
            ax.set_ylim(0, 1.02)
            ax.set_title(f"{each.outcome}\n{each.contrast}")
            ax.set_xlabel("Participants")
            ax.set_ylabel("Power")
        axes[0].legend(frameon=False)
    label = "Power of the declared contrasts by the number of participants"
    ReportFigure("power", figure, label, label).save(out)
