"""What a plan says, in words: the same sentences and cells for the page and the terminal."""

from __future__ import annotations

from labapp.analysis.bootstrap import NORMAL
from labapp.analysis.task_report import PlannedTests
from labapp.base.report.page import clock, count, decimal
from labapp.session.planning.plan import Plan, SessionLength, Waiting
from labapp.session.planning.power import LEVEL, SIZES, Need, PlannedGroup, TestPower
from labapp.session.planning.slopes import LEAST_SPREAD, REPLICATIONS, SlopePower
from labapp.session.planning.thresholds import HARDLY, STUMBLES, TRIES, UNDERSTANDS, Threshold

NONE = "–"
RESTS_ON = (
    "All of this is based on simulated people. How they see, move sliders and give up is "
    "modelled on the participants of paper 000. How many real participants will understand, "
    "half understand or only try is an assumption ({shares}). Use the numbers as a first guess, "
    "check how they change with the shares, and pilot the study with people."
)
BY_RULES = (
    "All of this is based on simulated people. What they see and do, when they give up, and how "
    "models differ follows from rules that were set in advance; their pictures are drawn as for "
    "real participants. How many real participants would follow which rule is an assumption "
    "({shares}). Use the numbers as a first guess, check how they change with the shares, and "
    "pilot the study with people."
)
SOURCES = {
    "calibration": "calibration sessions",
    "simulation": "simulated participants",
    "chance": "pairs alone",
}


def percent(share: float | None, decimals: int = 0) -> str:
    return NONE if share is None else f"{decimal(share * 100, decimals)} %"


def shares(plan: Plan) -> str:
    return ", ".join(f"{name} {percent(share)}" for name, share in plan.shares.items())


def rests_on(plan: Plan) -> str:
    """What all of a plan rests on: people as paper 000 has them turn dials, where there are any."""
    return (RESTS_ON if plan.pairs else BY_RULES).format(shares=shares(plan))


def target(threshold: Threshold) -> str:
    """A recommended target, such as 90 % (epsilon 0.10)."""
    whole = abs(threshold.target * 100 - round(threshold.target * 100)) < 1e-9
    return percent(threshold.target, 0 if whole else 1)


def threshold(threshold: Threshold) -> str:
    """One sentence on a data set's threshold."""
    shares = (
        f"{percent(threshold.share(UNDERSTANDS))} of the questions of those who understand reach "
        f"it, {percent(threshold.share(TRIES))} of those who only try, and "
        f"{percent(threshold.by_chance(), 1)} of the pairs are this close from the start."
    )
    on = f"(from {SOURCES[threshold.source]}; the study has {percent(threshold.present)} now)"
    text = f"{threshold.dataset}: target alignment {target(threshold)}, "
    text += f"epsilon {threshold.epsilon:.3g} {on}."
    if threshold.share(UNDERSTANDS) is None or threshold.share(TRIES) is None:
        return (
            f"{text} {percent(threshold.by_chance(), 1)} of the pairs are this close from the "
            "start."
        )
    return f"{text} {shares}"


def warning(threshold: Threshold) -> str:
    """What to mind about a threshold; empty if there is nothing."""
    understood, tried = threshold.share(UNDERSTANDS), threshold.share(TRIES)
    if threshold.source == "calibration" or understood is None or tried is None:
        return ""
    if tried > STUMBLES:
        return (
            f"{threshold.dataset}: even {target(threshold)} is reached in more than "
            f"{percent(STUMBLES)} of the questions of those who only try, so some questions will "
            "be solved by luck."
        )
    if understood - tried < HARDLY:
        return (
            f"{threshold.dataset}: those who understand hardly reach the target more often than "
            "those who only try, so solving a question says little about understanding here."
        )
    return ""


def wait(waiting: Waiting) -> str:
    """One sentence on T."""
    if waiting.skip_after_s is None or waiting.median_s is None:
        return f"{waiting.dataset}: nothing was solved, so T cannot be computed."
    of = (
        "of the calibration's questions"
        if waiting.source == "calibration"
        else "of solved questions"
    )
    now = "does not wait with it" if waiting.present_s is None else f"has {waiting.present_s:g} s"
    return (
        f"{waiting.dataset}: T = {waiting.skip_after_s} s, twice the median active time {of} "
        f"({decimal(waiting.median_s, 1)} s), rounded (the study {now} now)."
    )


def length(length: SessionLength) -> str:
    return f"half end within {clock(length.median_s)} min, 90 % within {clock(length.ninety_s)} min"


def need_of(n: int | None) -> str:
    """A number of participants; more than what was looked at where there is none."""
    return f">{SIZES[-1]}" if n is None else str(n)


def need(need: Need) -> str:
    """A number of participants with its interval, such as 12 (9–20)."""
    if need.low is None:
        return need_of(need.n)
    return f"{need_of(need.n)} ({need.low}–{need_of(need.high)})"


def need_at(test: TestPower, pair: tuple[float, float]) -> str:
    """The number at a level and goal; nothing of a test that is not corrected."""
    return need(test.needs[pair]) if pair in test.needs else NONE


def describe_needs(group: PlannedGroup) -> str:
    """What the numbers of participants are."""
    text = (
        f"{group.each[:1].upper()}{group.each[1:]} needed: {group.words}. Brackets show the "
        "interval that contains 95 % of the results with other simulated people of the same "
        f"kind. Numbers above {SIZES[-1]} were not tried."
    )
    if len(group.levels) == 1:
        return text
    level = f"p < {group.levels[1]:.2g}"
    return f"{text} {level} is .05 over {group.n_tests} tests ({group.correction})."


def describe_counted(plan: Plan) -> str:
    """How many of the simulated sessions count, and what that means for the numbers."""
    told = "The numbers are included participants who have the values that a test needs."
    if plan.counted > 0.9995:
        return f"{told} All simulated sessions count. With people, some will not, so recruit more."
    return (
        f"{told} {percent(plan.counted, 1)} of the simulated sessions count, so recruit "
        f"{decimal(1 / max(plan.counted, 1e-9), 2)} times as many. With people, more may drop "
        "out."
    )


def describe_simulation(plan: Plan) -> str:
    """How many people, of which strategies."""
    return (
        f"{count(plan.participants, 'simulated participant')} of each strategy, "
        f"{len(plan.people.strategies)} in all, seed {plan.seed}; mixture: {shares(plan)}."
    )


def slopes(plan: Plan) -> str:
    """What the power over drawn models rests on."""
    fits = sum(len(power.shares) for power in plan.slopes) * REPLICATIONS
    return (
        "The mixed logistic model of the study's analysis was fitted to the simulated "
        "participants, with each strategy weighted by its share. Studies were drawn from it, "
        "with other participants (each with as many observations as a simulated one), other "
        "pictures and other models, and fitted again, less precisely than in the analysis: "
        "fixed effects stay at the mode of the intercepts (glmer's nAGQ = 0), for speed. The "
        "value of a model is drawn with replacement from those of the study's models; “twice as "
        "many models” means a study with twice as many. Assumptions: intercepts of "
        "participants, pictures and models are normal and independent, as wide as fitted, those "
        f"of models at least {LEAST_SPREAD:g} log odds (ours); people who met the lower of two "
        "values meet the lower one; the number of observations does not depend on the outcome. "
        "Power is the share of studies with p below the level (two-sided) in the expected "
        "direction: below .05, and below .05 over the number of tests, with which Holm's "
        "correction begins. Without a slope, 2.5 % should be significant at .05; more means "
        f"that a test with so few models is too liberal. {REPLICATIONS} studies per cell (shares "
        f"are accurate to ± {decimal(98 / REPLICATIONS**0.5, 0)} points): {fits:,} fits in "
        f"{clock(plan.slopes_s)} min."
    )


def rows_of_tests(tests: PlannedTests) -> list[list[str]]:
    """The rows of a table of declared tests, numbers with the decimals that they have, three at
    most."""
    return [
        [
            value if isinstance(value, str) else f"{value:.3f}".rstrip("0").rstrip(".")
            for value in row.values()
        ]
        for row in tests.rows
    ]


def slope_of(power: SlopePower) -> str:
    """A slope as simulated, with its interval, and how far apart models are drawn."""
    if power.fitted is None:
        return NONE
    mean, sd = float(power.fitted.mean[1]), float(power.fitted.sd[1])
    ends = f"{decimal(mean - NORMAL * sd, 2)} to {decimal(mean + NORMAL * sd, 2)}"
    apart = ", ".join(decimal(spread, 2) for spread in power.fitted.spreads)
    return (
        f"{decimal(mean, 2)} ({ends}); sd of participants, pictures and models {apart}, of models "
        f"as drawn {decimal(power.spread, 2)}"
    )


def slope_rows(power: SlopePower) -> list[tuple[str, ...]]:
    """A row a slope and level: what they are, and power by numbers of people and models
    (`slope_columns`)."""
    rows = []
    levels = dict.fromkeys((LEVEL, LEVEL / power.test.n_tests))
    for effect in dict.fromkeys(studies.effect for studies in power.shares):
        own = {
            (studies.n_people, studies.n_models): studies
            for studies in power.shares
            if studies.effect == effect
        }
        slope = decimal(next(iter(own.values())).slope, 2)
        cells = [own.get(size) for size in _sizes(power)]
        powers = [None if cell is None else (cell.power, cell.corrected) for cell in cells]
        for at, level in enumerate(levels):
            shares = (NONE if power is None else percent(power[at]) for power in powers)
            rows.append((f"{effect}: {slope}", f"{level:.2g}", *shares))
    return rows


def slope_columns(power: SlopePower) -> tuple[tuple[str, str], ...]:
    """The numbers of people and models, in two lines."""
    return tuple((f"n = {people}", count(models, "model")) for people, models in _sizes(power))


def _sizes(power: SlopePower) -> list[tuple[int, int]]:
    return list(dict.fromkeys((studies.n_people, studies.n_models) for studies in power.shares))
