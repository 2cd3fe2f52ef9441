"""`labapp plan STUDY --contrasts`: how many participants the declared contrasts need.

The effect is the declared smallest one, never what a pilot study found: an effect that a small
study found is most often too large. A pilot study tells how much participants vary, which an effect
in the outcome's own unit needs (an effect in standard deviations needs none), and how many of those
who are recruited count and have every cell. Power is that of the t test of the contrast (noncentral
t), with as many participants in each combination of the factors between them.

The plan is given in words, as rows, as a figure and as plan.html.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path

import numpy as np
import scipy

from labapp import __version__
from labapp.analysis.declared import Declaration
from labapp.analysis.design.analyses import analyse
from labapp.analysis.design.anova import variance
from labapp.analysis.design.layout import wide
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.base.errors import RecordError, UsageError
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.listing import NONE
from labapp.base.report.page import (
    Html,
    count,
    decimal,
    heading,
    join_parts,
    paragraph,
    table,
    two_lines,
)
from labapp.base.report.page import page as whole_page
from labapp.study.design import (
    AnalysisPlan,
    Contrast,
    Design,
    Hypothesis,
    SmallestEffect,
    of_design,
)
from labapp.study.loading import LoadedStudy

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
        return self.sd * sqrt(self.df / float(scipy.stats.chi2.ppf(1 - share, self.df)))

    @property
    def usable(self) -> float:
        """Share of recruited people who count and have a value in every cell."""
        return self.n / self.recruited

    @property
    def usable_low(self) -> float:
        """What the share is at least with 80 % confidence (Clopper and Pearson, 1934)."""
        return float(scipy.stats.beta.ppf(1 - UPPER, self.n, self.recruited - self.n + 1))


@dataclass(frozen=True)
class ContrastNeed:
    """Participants with every cell, every group having as many; None if `MOST` are not enough.

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
    needs: dict[float, ContrastNeed]

    def recruit(self, n: int | None, *, careful: bool = False) -> int | None:
        """How many to recruit so that n are left; None if that is not known."""
        if n is None or self.pilot is None:
            return None
        share = self.pilot.usable_low if careful else self.pilot.usable
        return -(-ceil(n / share - 1e-9) // self.groups) * self.groups


def plan_contrasts(loaded: LoadedStudy, pilot: Sequence[Path]) -> list[ContrastPower]:
    """The power of every declared smallest effect. pilot: sessions and bundles of the same study.

    Raises UsageError if the study declares none, or an effect in the outcome's own unit has no
    pilot study, and as `labapp.analysis.load` does.
    """
    study = loaded.study
    plan, design = study.analysis, study.design
    if not plan.smallest_effect:
        raise UsageError(
            f"{study.id} declares no smallest effect, so the number of participants cannot be "
            "computed.",
            safe="Nothing was planned.",
            todo="Declare analysis.smallest_effect: {OUTCOME: {contrast: NAME, raw: NUMBER}}.",
        )
    pilots = _pilots(loaded, pilot) if pilot else {}
    return [
        _plan_contrast(outcome, smallest, plan, design, of_design(study.hypotheses), pilots)
        for outcome, smallest, _ in plan.smallest_effects()
    ]


def left_out(loaded: LoadedStudy) -> list[str]:
    """What a study declares and a plan of contrasts cannot be made for, for want of a smallest
    effect; a sentence each for contrasts and for outcomes."""
    study = loaded.study
    plan, smallest = study.analysis, study.analysis.smallest_effect
    planned = {effect.contrast for _, effect, _ in plan.smallest_effects()}
    contrasts = [each.name for each in plan.contrasts if each.name not in planned]
    tested = (*plan.outcomes.primary, *(each.outcome for each in of_design(study.hypotheses)))
    outcomes = [name for name in dict.fromkeys(tested) if name not in smallest]
    return [
        f"Not planned, because no smallest effect of {of} is declared: {', '.join(names)}."
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
            f"None of the sessions given with --pilot is a session of {study.id} that counts.",
            safe="Nothing was planned.",
            todo="Give sessions or bundles of this study.",
        )
    took_part = people[people["outcome"] != "declined"]
    recruited = took_part["participant"].nunique()
    programs = took_part.loc[took_part["simulated"].fillna(False).astype(bool), "participant"]
    # Raw effects are in the outcome's own unit, so its values are not transformed.
    plan = study.analysis.model_copy(update={"transform": {}})
    declaration = Declaration.model_validate(
        {**study.declared, "study": study.id, "analysis": plan}
    )
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


def _plan_contrast(
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
            f"The smallest effect of {outcome} is given in the outcome's own unit "
            f"({smallest.raw:g}), but it is not known how much participants vary in "
            f"“{contrast.name}”.",
            safe="Nothing was planned.",
            todo="Use --pilot to give sessions of a pilot study in which at least a few "
            "participants have every cell, or declare the effect as `standardised`.",
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
    # A family of its own: the tests of equivalence.
    of_family = list(plan.smallest_effects()) if plan.family == "all" else plan.smallest_of(outcome)
    equal_tests = len(of_family)
    equal_level = LEVEL / equal_tests if plan.correction in ("holm", "bonferroni") else LEVEL
    equal = equivalence_power(effect, sizes, groups, scale, equal_level)
    needs = {
        goal: ContrastNeed(
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
    effect: float, sizes: Sequence[int], groups: int, scale: float, level: float, *, one_sided: bool
) -> list[float]:
    """Of the t test, by the number of participants."""
    made = []
    for n in sizes:
        df, shift = n - groups, effect * sqrt(n) / scale
        if one_sided:
            made.append(float(scipy.stats.nct.sf(scipy.stats.t.ppf(1 - level, df), df, shift)))
        else:
            critical = float(scipy.stats.t.ppf(1 - level / 2, df))
            # Far out the distribution cannot be computed, and the other tail holds nothing.
            other = float(np.nan_to_num(scipy.stats.nct.cdf(-critical, df, shift)))
            made.append(float(scipy.stats.nct.sf(critical, df, shift)) + other)
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
        room = effect * sqrt(n) / scale - float(scipy.stats.t.ppf(1 - level, df))
        made.append(max(0.0, float(2 * scipy.stats.t.cdf(room, df) - 1)))
        if made[-1] > 0.9999:
            break
    return [*made, *[1.0] * (len(sizes) - len(made))]


RULE = (
    "Power is that of the t test of the contrast, with groups of equal size. The effect is the "
    "smallest one that the study declares, never the effect found in a pilot study, since "
    "effects in small studies are usually too large. Equivalence: two one-sided tests at .05, "
    "if there is no difference at all."
)
WITHOUT_PILOT = (
    "Without a pilot study it is not known how many participants drop out, are excluded or "
    "lack a cell. The numbers are of participants who count and have every cell, so recruit "
    "more."
)


def percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def words(powers: Sequence[ContrastPower]) -> Iterator[str]:
    """A paragraph a contrast."""
    for each in powers:
        yield (
            f"{each.outcome}, “{each.contrast}” ({each.direction}): the smallest effect is "
            f"{_effect(each)}; level {each.level:.4g}."
        )
        if each.pilot is not None:
            yield f"  {pilot_words(each)}"
        for goal, need in each.needs.items():
            careful = (
                f"; {_n(need.careful)} if people vary as much as the upper limit"
                if _varies(each)
                else ""
            )
            recruit = each.recruit(need.difference)
            of_these = "" if recruit is None else f" (recruit {recruit})"
            yield (
                f"  For a power of {percent(goal)}: {_n(need.difference)}{of_these}{careful}; "
                f"{_n(need.equivalence)} to show that a difference is smaller."
            )
    if any(each.pilot is None for each in powers):
        yield WITHOUT_PILOT


def _varies(each: ContrastPower) -> bool:
    """Whether the numbers depend on how much the people of the pilot study varied."""
    return each.pilot is not None and each.smallest.raw is not None


def _effect(each: ContrastPower) -> str:
    standardised = f"{each.effect:.2f} standard deviations"
    return standardised if each.smallest.raw is None else f"{each.smallest.raw:g}, {standardised}"


def pilot_words(each: ContrastPower) -> str:
    """What the pilot study says, with how sure it is; empty without one."""
    pilot = each.pilot
    if pilot is None:
        return ""
    left = pilot.recruited - pilot.counted
    lack = pilot.counted - pilot.n
    told = (
        f"Pilot study: {_describe_recruited(pilot)}, {left} of them left out "
        f"(dropped out, excluded or withdrawn), {lack} more without a value in some cell, "
        f"{pilot.n} usable ({percent(pilot.usable)}; at least {percent(pilot.usable_low)} with "
        f"{percent(UPPER)} confidence)."
    )
    if not _varies(each):
        return told
    return (
        f"{told} Standard deviation of what the contrast compares: {pilot.sd:.3g}, 95 % interval "
        f"{pilot.sd_at(0.025):.3g} to {pilot.sd_at(0.975):.3g}, at most {pilot.sd_at(UPPER):.3g} "
        f"with {percent(UPPER)} confidence; this includes the effect of missing trials."
    )


def _describe_recruited(pilot: Pilot) -> str:
    people = count(pilot.recruited, "participant")
    if not pilot.simulated:
        return f"{people} recruited"
    if pilot.simulated == pilot.recruited:
        return f"{people}, all of them simulated"
    return f"{people}, {pilot.simulated} of them simulated"


def basis_words(powers: Sequence[ContrastPower]) -> str:
    """What the numbers are made of."""
    pilots = [each.pilot for each in powers if each.pilot is not None]
    if not pilots:
        return "The numbers follow only from the study file, because there is no pilot study."
    told = f"The pilot study has {_describe_recruited(pilots[0])}."
    if not pilots[0].simulated:
        return told
    return (
        f"{told} How much simulated participants vary, and how many of them are left out, says "
        "nothing about people."
    )


def _n(n: int | None) -> str:
    return f"more than {MOST:,} participants" if n is None else f"{n} participants"


def rows(powers: Sequence[ContrastPower]) -> list[dict[str, object]]:
    """One row per contrast and number of participants, up to where all powers are 1."""
    made: list[dict[str, object]] = []
    for each in powers:
        for n, difference, careful, equal in zip(
            each.sizes, each.power, each.careful, each.equivalence, strict=True
        ):
            made.append(
                {
                    "outcome": each.outcome,
                    "contrast": each.contrast,
                    "participants": n,
                    "power": difference,
                    "power_if_people_vary_more": careful if _varies(each) else None,
                    "power_of_equivalence": equal,
                }
            )
            if min(difference, careful, equal) > 0.999:
                break
    return made


def summary(powers: Sequence[ContrastPower]) -> list[dict[str, object]]:
    """One row per contrast and goal, for programs."""
    return [
        {
            "outcome": each.outcome,
            "contrast": each.contrast,
            "direction": each.direction,
            "effect": each.effect,
            "sd": each.pilot.sd if each.pilot else None,
            "sd_low": each.pilot.sd_at(0.025) if each.pilot else None,
            "sd_high": each.pilot.sd_at(0.975) if each.pilot else None,
            "sd_upper": each.pilot.sd_at(UPPER) if each.pilot else None,
            "n_pilot": each.pilot.n if each.pilot else None,
            "n_pilot_recruited": each.pilot.recruited if each.pilot else None,
            "n_pilot_counted": each.pilot.counted if each.pilot else None,
            "n_pilot_simulated": each.pilot.simulated if each.pilot else None,
            "usable": each.pilot.usable if each.pilot else None,
            "usable_low": each.pilot.usable_low if each.pilot else None,
            "level": each.level,
            "goal": goal,
            "participants": need.difference,
            "recruit": each.recruit(need.difference),
            "participants_upper": need.careful if _varies(each) else None,
            "recruit_upper": each.recruit(need.careful, careful=True) if _varies(each) else None,
            "participants_equivalence": need.equivalence,
            "recruit_equivalence": each.recruit(need.equivalence),
        }
        for each in powers
        for goal, need in each.needs.items()
    ]


def plate(powers: Sequence[ContrastPower]) -> ReportFigure:
    """The curves."""
    import matplotlib as mpl

    from labapp.base.figure_style import ACCENT, INK, SECONDARY, STYLE
    from labapp.base.report import kit

    with mpl.rc_context(STYLE):
        figure, axes = kit.panels(len(powers), min(3, len(powers)), 2.6, more_in=0.7)
        for ax, each in zip(axes, powers, strict=False):
            whole = [n for n, p in zip(each.sizes, each.careful, strict=True) if p < 0.999]
            end = min(len(each.sizes), max(len(whole) + 2, 8))
            sizes = each.sizes[:end]
            ax.plot(sizes, each.power[:end], color=ACCENT, label="difference")
            if _varies(each):
                ax.plot(
                    sizes, each.careful[:end], color=ACCENT, linestyle=kit.SHORT_DASHED,
                    label="difference, if people vary more",
                )  # fmt: skip
            ax.plot(sizes, each.equivalence[:end], color=INK, linestyle=":", label="equivalence")
            for goal in GOALS:
                ax.axhline(goal, color=SECONDARY, linewidth=0.6, linestyle=(0, (4, 3)))
            ax.set_ylim(0, 1.02)
            ax.set_title(f"{each.outcome}\n{each.contrast}", fontsize=9)
            ax.set_xlabel("Participants")
            ax.set_ylabel("Power")
            kit.grid(ax, "both")
        handles, labels = max(
            (ax.get_legend_handles_labels() for ax in axes), key=lambda both: len(both[1])
        )
        figure.legend(handles, labels, loc="outside upper left", ncols=3, frameon=False, fontsize=8)
    label = "Power of the declared contrasts by the number of participants"
    return ReportFigure(
        "power",
        figure,
        label,
        f"{label}, all of whom count and have every cell. Dashed: if people vary as much as the "
        f"upper limit with {percent(UPPER)} confidence.",
    )


def page(loaded: LoadedStudy, powers: Sequence[ContrastPower], figure: ReportFigure) -> str:
    """The whole page."""
    study = loaded.study
    title = f"Plan of the contrasts: {study.title}"
    about = f"Study {study.id}, version {study.version}. {basis_words(powers)}"
    parts = [heading(2, "Participants"), paragraph(RULE, "quiet"), _needs(powers)]
    if any(each.pilot is None for each in powers):
        parts.append(paragraph(WITHOUT_PILOT, "note"))
    parts += [paragraph(line, "note") for line in left_out(loaded)]
    parts.append(figure.html("plan"))
    if any(each.pilot is not None for each in powers):
        parts += [heading(2, "The pilot study"), _pilots_in_words(powers)]
        parts += [
            paragraph(f"{each.outcome}, “{each.contrast}”. {pilot_words(each)}")
            for each in powers
            if each.pilot is not None
        ]
        parts.append(paragraph(_spread_words(powers), "quiet"))
    footer = paragraph(
        f"labapp {__version__}; study file {loaded.sha256[:12]}. Every number on this page is in "
        "the CSV files next to it.",
        "quiet",
    )
    head = join_parts([heading(1, title), paragraph(about, "quiet")])
    return whole_page(title, head, join_parts(parts), footer)


def _needs(powers: Sequence[ContrastPower]) -> Html:
    heads = ["Outcome, contrast", two_lines("Smallest effect", "level")]
    made = []
    for goal in GOALS:
        heads += [
            two_lines(f"{percent(goal)} power", "difference"),
            two_lines(f"{percent(goal)} power", "if people vary more"),
            two_lines(f"{percent(goal)} power", "equivalence"),
        ]
    for each in powers:
        cells: list[object] = [
            two_lines(each.outcome, f"{each.contrast} ({each.direction})"),
            two_lines(_effect(each), f"p < {each.level:.3g}"),
        ]
        for need in each.needs.values():
            cells += [
                _cell(each, need.difference),
                _cell(each, need.careful, careful=True) if _varies(each) else NONE,
                _cell(each, need.equivalence),
            ]
        made.append(cells)
    caption = (
        "Participants who count and have every cell; the second line says how many to recruit "
        f"for that, according to the pilot study. Numbers above {MOST:,} were not tried. The "
        f"level is {LEVEL:g}, divided by the number of contrasts in the family if p is corrected "
        "by Holm or Bonferroni."
    )
    return table(heads, made, numeric=range(2, len(heads)), caption=caption)


def _cell(each: ContrastPower, n: int | None, *, careful: bool = False) -> object:
    if n is None:
        return f"> {MOST:,}"
    recruit = each.recruit(n, careful=careful)
    return n if recruit is None else two_lines(n, f"recruit {recruit}")


def _pilots_in_words(powers: Sequence[ContrastPower]) -> Html:
    made = [
        (
            two_lines(each.outcome, each.contrast),
            pilot.recruited, pilot.counted, pilot.n,
            two_lines(f"{percent(pilot.usable)}", f"at least {percent(pilot.usable_low)}"),
            two_lines(
                decimal(pilot.sd, 3),
                f"{decimal(pilot.sd_at(0.025), 3)} to {decimal(pilot.sd_at(0.975), 3)}",
            ),
        )
        for each in powers
        if (pilot := each.pilot) is not None
    ]  # fmt: skip
    heads = (
        "Outcome, contrast", "Recruited", "Count", "Have every cell",
        two_lines("Usable", "80 % confidence"), two_lines("sd", "95 % interval"),
    )  # fmt: skip
    return table(heads, made, numeric=range(1, 6))


def _spread_words(powers: Sequence[ContrastPower]) -> str:
    smallest = min(each.pilot.n for each in powers if each.pilot is not None)
    return (
        f"A standard deviation from {smallest} participants is known only roughly: for normal "
        "values, its interval comes from chi-square. The column “if people vary more” takes its "
        f"upper {percent(UPPER)} limit (Browne, 1995) and the lower one of the usable share, so "
        "that the study is large enough in four of five cases. Values are means over a "
        "participant's trials: with more trials per cell, people vary less."
    )
