"""plan.html: a plan as one page without anything from outside; its words are in the template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labapp import __version__
from labapp.planning import phrases, thresholds, waiting
from labapp.planning.needs import GOALS, SIZES, GroupPower
from labapp.planning.plan import Plan
from labapp.planning.power import normal_power
from labapp.planning.thresholds import TRIES, UNDERSTANDS, Threshold
from labapp.report.drawing import ReportFigure
from labapp.report.formats import clock, count, decimal
from labapp.report.page import heading, joined, paragraph, render, two_lines
from labapp.report.page import page as whole_page

CHECKED_AT = (5, 10, 20, 50)
"""Numbers of participants at which resampled power stands beside that of normal theory."""
Row = Sequence[object]


def page(plan: Plan, plates: Sequence[ReportFigure]) -> str:
    """The whole page; plates: of `figures.plates`."""
    study = plan.loaded.study
    title = f"Plan: {study.title}"
    about = f"Study {study.id}, version {study.version}. {phrases.simulated(plan)}"
    models = tuple(plan.scenarios[0].completion) if plan.scenarios else ()
    body = render(
        "labapp.planning:plan.html",
        plan=plan,
        figures={plate.name: plate.html("plan") for plate in plates},
        phrases=phrases,
        count=count,
        threshold_rule=thresholds.RULE,
        waiting_rule=waiting.RULE,
        threshold_rows=[_threshold(each) for each in plan.thresholds],
        waits=list(_waits(plan)),
        lengths=[
            (each.strategy or "mixture", each.n, clock(each.median_s), clock(each.ninety_s))
            for each in plan.lengths
        ],
        completion_columns=("Completion rate, %", "mixture", *plan.shares),
        completions=list(_completions(plan)),
        not_planned=[
            (left.name, left.group or phrases.NONE, left.why) for left in plan.not_planned
        ],
        powers=[
            _power(powers, "power" if len(plan.powers) == 1 else f"power-{number}")
            for number, powers in enumerate(plan.powers, start=1)
            if powers.tests
        ],
        slopes=[
            (
                power.test.name,
                power.why or phrases.slope_of(power),
                (
                    "Slope, log odds",
                    "p <",
                    *(two_lines(*lines) for lines in phrases.slope_columns(power)),
                ),
                phrases.slope_rows(power),
            )
            for power in plan.slopes
        ],
        models=models,
        scenarios=tuple(scenario.name for scenario in plan.scenarios),
        mixtures=[
            (
                scenario.name,
                ", ".join(
                    f"{name} {phrases.percent(x)}" for name, x in scenario.shares.items() if x
                ),
                *(phrases.percent(scenario.completion.get(model)) for model in models),
            )
            for scenario in plan.scenarios
        ],
        mixed_needs=[
            (powers.group.name, _mixed(plan, powers)) for powers in plan.powers if powers.tests
        ],
    )
    footer = paragraph(
        f"labapp {__version__}; study file {plan.loaded.sha256[:12]}; seed {plan.seed}. Every "
        "number of this page is in the CSV files beside it.",
        "quiet",
    )
    return whole_page(title, joined([heading(1, title), paragraph(about, "quiet")]), body, footer)


def _threshold(threshold: Threshold) -> Row:
    told = threshold.separated
    percents = (threshold.share(UNDERSTANDS), threshold.share(UNDERSTANDS, threshold.present))
    tried = (threshold.share(TRIES), threshold.share(TRIES, threshold.present))
    return (
        threshold.model or two_lines(threshold.dataset, "all models"),
        phrases.target(threshold),
        f"{threshold.epsilon:.3g}",
        phrases.SOURCES[threshold.source],
        phrases.NONE
        if told is None
        else two_lines(phrases.percent(told.target, 1), phrases.percent(told.balanced_accuracy)),
        two_lines(*map(phrases.percent, percents)),
        two_lines(*map(phrases.percent, tried)),
        two_lines(
            phrases.percent(threshold.by_chance(), 1),
            phrases.percent(threshold.by_chance(threshold.present), 1),
        ),
        phrases.percent(threshold.floor, 1),
        phrases.percent(threshold.present),
    )


def _waits(plan: Plan) -> Iterator[Row]:
    """The mixture of each data set, then its strategies."""
    for wait in plan.waiting:
        yield (
            two_lines(wait.dataset, "mixture"),
            wait.solved,
            phrases.NONE if wait.median_s is None else decimal(wait.median_s, 1),
            phrases.NONE if wait.skip_after_s is None else wait.skip_after_s,
            phrases.NONE if wait.present_s is None else f"{wait.present_s:g}",
        )
        for name, seconds in wait.active_s.items():
            middle = waiting.quantile(seconds, [1.0] * len(seconds), 0.5)
            yield name, len(seconds), decimal(middle, 1), "", ""


def _completions(plan: Plan) -> Iterator[Row]:
    cells = {
        (each.model, each.strategy): two_lines(
            decimal(each.mean * 100, 0),
            phrases.NONE if each.sd is None else f"± {decimal(each.sd * 100, 0)}",
        )
        for each in plan.completions
    }
    for model in dict.fromkeys(each.model for each in plan.completions):
        yield model, *(cells.get((model, name), phrases.NONE) for name in (None, *plan.shares))


def _power(powers: GroupPower, figure: str) -> dict[str, object]:
    """What the page has of one group; the check is at the first level, .05."""
    group = powers.group
    pairs = [(level, goal) for level in group.levels for goal in GOALS]
    heads = [
        two_lines(f"{phrases.percent(goal)} power", f"p < {level:.2g}") for level, goal in pairs
    ]
    needs, check = [], []
    for test in powers.tests:
        effect = test.effect
        size = (
            phrases.NONE if effect.value is None else f"{effect.name} = {decimal(effect.value, 2)}"
        )
        needs.append(
            (test.title, test.test, size, *(phrases.need_at(test, pair) for pair in pairs))
        )
        normal = (normal_power(test.planned, test.pool, n, group.levels[0]) for n in CHECKED_AT)
        resampled = (float(test.power[SIZES.index(n), 0]) for n in CHECKED_AT)
        cells = (
            two_lines(decimal(power * 100, 0), phrases.percent(theory))
            for power, theory in zip(resampled, normal, strict=True)
        )
        check.append((test.title, test.test, *cells))
    return {
        "name": group.name,
        "figure": figure,
        "columns": ("Metric", "Test", two_lines("Effect", "simulated"), *heads),
        "numeric": range(2, 3 + len(heads)),
        "needs": needs,
        "caption": phrases.needed(group),
        "check_columns": ("Metric", "Test", *(f"n = {n}" for n in CHECKED_AT)),
        "check": check,
    }


def _mixed(plan: Plan, powers: GroupPower) -> list[Row]:
    return [
        (
            test.title,
            test.test,
            *(
                phrases.need_of(scenario.needs[f"{powers.group.name}: {test.metric}", test.test])
                for scenario in plan.scenarios
            ),
        )
        for test in powers.tests
    ]
