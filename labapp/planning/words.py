"""A plan for people, on a console."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table

from labapp.console import marked
from labapp.planning import phrases
from labapp.planning.needs import GOALS, GroupPower
from labapp.planning.plan import Plan
from labapp.planning.pools import LEVEL
from labapp.planning.slopes import SlopePower


def show(plan: Plan, console: Console) -> None:
    """The recommendations, the power for numbers of participants, and what it all rests on."""
    study = plan.loaded.study
    console.print(f"[bold]{marked(study.id)}[/bold]  {marked(study.title)}")
    console.print(marked(phrases.simulated(plan)), highlight=False)
    for title, lines in _paragraphs(plan):
        console.print(f"\n[bold]{title}[/bold]")
        for line in lines:
            console.print(marked(line), highlight=False)
    if plan.completions:
        console.print("\n[bold]Completion rate[/bold]")
        console.print(_completion(plan))
    for powers in plan.powers:
        if powers.tests:
            console.print(f"[bold]Participants needed[/bold]  {marked(powers.group.name)}")
            console.print(_needs(powers))
    if plan.slopes:
        console.print("[bold]Power where models are drawn anew[/bold]")
        for power in plan.slopes:
            console.print(marked(f"{power.test.name}: {power.why or phrases.slope_of(power)}"))
            if power.shares:
                console.print(_slopes(power))
        if any(power.shares for power in plan.slopes):
            console.print(marked(phrases.slopes(plan)), highlight=False)
    if len(plan.scenarios) > 1:
        console.print("[bold]With other shares of the strategies[/bold]")
        console.print(_scenarios(plan))
    console.print(marked(phrases.rests_on(plan)), highlight=False)


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
            marked(model), *(cells.get(name, phrases.NONE) for name in (None, *plan.shares))
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
        table.add_row(f"[bold]{marked(own[0].title)}[/bold]")
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
            table.add_row(marked(test.test), *cells)
    table.caption = f"{powers.group.each}; in brackets 95 % of what other people of that kind give"
    table.caption_justify = "left"
    return table


def _slopes(power: SlopePower) -> Table:
    """Shares of studies that find a slope, by their size."""
    table = _table("slope, log odds")
    table.padding = (0, 1, 0, 0)  # for 80 columns
    table.add_column("p <", justify="right", no_wrap=True)
    for lines in phrases.slope_columns(power):
        table.add_column("\n".join(lines), justify="right", no_wrap=True)
    for row in phrases.slope_rows(power):
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
        table.add_column(marked(model), justify="right")
    marks = ["n"] if len(tests) == 1 else [f"n{at}" for at in range(1, len(tests) + 1)]
    for mark in marks:
        table.add_column(mark, justify="right", no_wrap=True)
    for scenario in plan.scenarios:
        needs = [scenario.needs[f"{powers.group.name}: {t.metric}", t.test] for powers, t in tests]
        table.add_row(
            marked(scenario.name),
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
