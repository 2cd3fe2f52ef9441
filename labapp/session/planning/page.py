"""plan.html: a plan as one page without anything from outside; its words are in the template.

A plan for people, on a console.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from labapp import __version__
from labapp.analysis.task_report import PlannedTests
from labapp.base.console import escape_markup
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.page import (
    clock,
    count,
    decimal,
    heading,
    join_parts,
    paragraph,
    render,
    two_lines,
)
from labapp.base.report.page import page as whole_page
from labapp.session.planning import phrases, thresholds
from labapp.session.planning import plan as waiting
from labapp.session.planning.plan import Plan
from labapp.session.planning.power import GOALS, LEVEL, SIZES, GroupPower, normal_power
from labapp.session.planning.slopes import SlopePower
from labapp.session.planning.thresholds import TRIES, UNDERSTANDS, Threshold

CHECKED_AT = (5, 10, 20, 50)
"""Numbers of participants at which resampled power stands beside that of normal theory."""
Row = Sequence[object]


def page(plan: Plan, plates: Sequence[ReportFigure]) -> str:
    """The whole page; plates: of `figures.plates`."""
    study = plan.loaded.study
    title = f"Plan: {study.title}"
    about = f"Study {study.id}, version {study.version}. {phrases.describe_simulation(plan)}"
    models = tuple(plan.scenarios[0].completion) if plan.scenarios else ()
    body = render(
        "labapp.session.planning:plan.html",
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
        declared_tests=[
            (tests.title, tests.caption, tuple(tests.rows[0]), phrases.rows_of_tests(tests))
            for tests in plan.declared_tests
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
            (powers.group.name, _tabulate_needs(plan, powers))
            for powers in plan.powers
            if powers.tests
        ],
    )
    footer = paragraph(
        f"labapp {__version__}; study file {plan.loaded.sha256[:12]}; seed {plan.seed}. Every "
        "number on this page is in the CSV files next to it.",
        "quiet",
    )
    return whole_page(
        title, join_parts([heading(1, title), paragraph(about, "quiet")]), body, footer
    )


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
        "caption": phrases.describe_needs(group),
        "check_columns": ("Metric", "Test", *(f"n = {n}" for n in CHECKED_AT)),
        "check": check,
    }


def _tabulate_needs(plan: Plan, powers: GroupPower) -> list[Row]:
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


def show(plan: Plan, console: Console) -> None:
    """The recommendations, the power for numbers of participants, and what it all rests on."""
    study = plan.loaded.study
    console.print(f"[bold]{escape_markup(study.id)}[/bold]  {escape_markup(study.title)}")
    console.print(escape_markup(phrases.describe_simulation(plan)), highlight=False)
    for title, lines in _paragraphs(plan):
        console.print(f"\n[bold]{title}[/bold]")
        for line in lines:
            console.print(escape_markup(line), highlight=False)
    if plan.completions:
        console.print("\n[bold]Completion rate[/bold]")
        console.print(_completion(plan))
    for powers in plan.powers:
        if powers.tests:
            console.print(f"[bold]Participants needed[/bold]  {escape_markup(powers.group.name)}")
            console.print(_needs(powers))
    if plan.slopes:
        console.print("[bold]Power where models are drawn anew[/bold]")
        for power in plan.slopes:
            console.print(
                escape_markup(f"{power.test.name}: {power.why or phrases.slope_of(power)}")
            )
            if power.shares:
                console.print(_slopes(power))
        if any(power.shares for power in plan.slopes):
            console.print(escape_markup(phrases.slopes(plan)), highlight=False)
    for tests in plan.declared_tests:
        console.print(f"[bold]{escape_markup(tests.title)}[/bold]")
        console.print(escape_markup(tests.caption), highlight=False)
        console.print(_declared_tests(tests))
    if len(plan.scenarios) > 1:
        console.print("[bold]With other shares of the strategies[/bold]")
        console.print(_scenarios(plan))
    console.print(escape_markup(phrases.rests_on(plan)), highlight=False)


def _paragraphs(plan: Plan) -> Iterator[tuple[str, list[str]]]:
    whole = [threshold for threshold in plan.thresholds if threshold.model is None]
    if whole:
        warned = [note for threshold in whole if (note := phrases.warning(threshold))]
        yield "Threshold", [*map(phrases.threshold, whole), *warned]
        yield "Time to skip", [phrases.wait(wait) for wait in plan.waiting]
    yield (
        "Length of a session",
        [f"{length.strategy or 'mixture'}: {phrases.length(length)}" for length in plan.lengths],
    )


def _table(first: str) -> Table:
    table = Table(first, box=box.SIMPLE_HEAD, pad_edge=False)
    table.columns[0].no_wrap = True
    return table


def _completion(plan: Plan) -> Table:
    table = _table("model")
    models = list(dict.fromkeys(completion.model for completion in plan.completions))
    for name in ("mixture", *plan.shares):
        table.add_column(name, justify="right", no_wrap=True)
    for model in models:
        cells = {
            completion.strategy: phrases.percent(completion.mean)
            for completion in plan.completions
            if completion.model == model
        }
        table.add_row(
            escape_markup(model), *(cells.get(name, phrases.NONE) for name in (None, *plan.shares))
        )
    return table


def _needs(powers: GroupPower) -> Table:
    """At .05 and at the level of the correction, for both goals."""
    table = Table("test", box=box.SIMPLE_HEAD, pad_edge=False)
    for level in powers.group.levels:
        for goal in GOALS:
            table.add_column(
                f"{phrases.percent(goal)}\np < {level:.2g}", justify="right", no_wrap=True
            )
    for metric in dict.fromkeys(test.metric for test in powers.tests):
        own = [test for test in powers.tests if test.metric == metric]
        table.add_row(f"[bold]{escape_markup(own[0].title)}[/bold]")
        for test in own:
            cells = [
                phrases.need_at(test, (level, goal))
                if (level, goal) == (LEVEL, GOALS[0])
                else phrases.need_of(test.needs[level, goal].n)
                if (level, goal) in test.needs
                else phrases.NONE
                for level in powers.group.levels
                for goal in GOALS
            ]
            table.add_row(escape_markup(test.test), *cells)
    table.caption = (
        f"{powers.group.each}; in brackets the range of 95 % of results with other people of "
        "that kind"
    )
    table.caption_justify = "left"
    return table


def _slopes(power: SlopePower) -> Table:
    table = _table("slope, log odds")
    table.padding = (0, 1, 0, 0)  # for 80 columns
    table.add_column("p <", justify="right", no_wrap=True)
    for lines in phrases.slope_columns(power):
        table.add_column("\n".join(lines), justify="right", no_wrap=True)
    for row in phrases.slope_rows(power):
        table.add_row(*row)
    return table


def _declared_tests(tests: PlannedTests) -> Table:
    first, *columns = tests.rows[0]
    table = _table(first)
    for column in columns:
        table.add_column(column, justify="right")
    for row in phrases.rows_of_tests(tests):
        table.add_row(*row)
    return table


def _scenarios(plan: Plan) -> Table:
    """Completion by model where questions are solved, and participants for 80 % at .05 by the first
    contrast of each."""
    table = _table("mixture")
    models = list(plan.scenarios[0].completion)
    tests = [
        (powers, next((t for t in powers.tests if t.planned.corrected), powers.tests[0]))
        for powers in plan.powers
        if powers.tests
    ]
    for model in models:
        table.add_column(escape_markup(model), justify="right")
    marks = ["n"] if len(tests) == 1 else [f"n{at}" for at in range(1, len(tests) + 1)]
    for mark in marks:
        table.add_column(mark, justify="right", no_wrap=True)
    for scenario in plan.scenarios:
        needs = [scenario.needs[f"{powers.group.name}: {t.metric}", t.test] for powers, t in tests]
        table.add_row(
            escape_markup(scenario.name),
            *(phrases.percent(scenario.completion.get(model)) for model in models),
            *(phrases.need_of(n) for n in needs),
        )
    needs_of = (
        f"{mark}: participants for {phrases.percent(GOALS[0])} power at .05, "
        f"{powers.group.name}, {test.title.lower()}, {test.test}"
        for mark, (powers, test) in zip(marks, tests, strict=True)
    )
    table.caption = "; ".join([*(["Completion rate by model"] if models else []), *needs_of])
    table.caption_justify = "left"
    return table
