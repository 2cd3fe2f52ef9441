"""plan.html: a plan as one page without anything from outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labapp import __version__
from labapp.planning import said, thresholds, waiting
from labapp.planning.needs import GOALS, SIZES, GroupPower
from labapp.planning.normal import power_of
from labapp.planning.numbers import design
from labapp.planning.plan import Plan
from labapp.planning.thresholds import TRIES, UNDERSTANDS, Threshold
from labapp.report.formats import clock, count, decimal
from labapp.report.page import Html, figure, heading, joined, paragraph, table, two_lines
from labapp.report.page import page as whole_page
from labapp.report.plate import Plate

CHECKED_AT = (5, 10, 20, 50)
"""Numbers of participants at which resampled power stands beside that of normal theory."""


def page(plan: Plan, plates: Sequence[Plate]) -> str:
    """The whole page; plates: of `figures.plates`."""
    study = plan.loaded.study
    title = f"Plan: {study.title}"
    about = f"Study {study.id}, version {study.version}. {said.simulated(plan)}"
    header = joined([heading(1, title), paragraph(about, "quiet")])
    drawn = {plate.name: plate for plate in plates}
    body = joined(
        [
            *_summary(plan),
            *_threshold(plan, drawn),
            *_waiting(plan, drawn),
            *_length(plan),
            *_powers(plan, drawn),
            *_sensitivity(plan),
        ]
    )
    footer = paragraph(
        f"labapp {__version__}; study file {plan.loaded.sha256[:12]}; seed {plan.seed}. Every "
        "number of this page is in the CSV files beside it.",
        "quiet",
    )
    return whole_page(title, header, body, footer)


def _drawn(drawn: dict[str, Plate], name: str) -> Iterator[Html]:
    if (plate := drawn.get(name)) is not None:
        drawing = plate.drawing("plan")
        yield figure(drawing.svg, drawing.label, plate.caption)


def _summary(plan: Plan) -> Iterator[Html]:
    yield heading(2, "In short")
    for one in plan.thresholds:
        if one.model is None:
            yield paragraph(said.threshold(one))
            if note := said.warning(one):
                yield paragraph(note, "note")
    for wait in plan.waiting:
        yield paragraph(said.wait(wait))
    if plan.lengths:
        yield paragraph(f"Sessions: {said.length(plan.lengths[0])}, breaks not counted.")
    yield paragraph(said.RESTS_ON.format(shares=said.shares(plan)), "note")


def _threshold(plan: Plan, drawn: dict[str, Plate]) -> Iterator[Html]:
    if not plan.thresholds:
        return
    yield heading(2, "Threshold")
    yield paragraph(thresholds.RULE, "quiet")
    people = count(plan.open_participants, "participant")
    yield paragraph(
        f"The best alignments are those of {people} of each strategy who took part with a target "
        "out of reach.",
        "quiet",
    )
    if any(one.source == "calibration" for one in plan.thresholds):
        yield paragraph(
            "The target of a data set with calibration sessions is what separates the marks “far "
            "away” and “close enough” best, whatever the simulated participants reach.",
            "quiet",
        )
    yield table(
        (
            "Data set and model",
            two_lines("Target", "recommended"),
            two_lines("Epsilon", "0–1"),
            "Rests on",
            two_lines("Told apart at", "balanced accuracy"),
            two_lines("Understood", "now"),
            two_lines("Stumbled upon", "now"),
            two_lines("By chance", "now"),
            two_lines("95 % of pairs", "are below"),
            two_lines("Target", "now"),
        ),
        [_threshold_row(one) for one in plan.thresholds],
        numeric=(1, 2, *range(4, 10)),
        caption="Understood: questions of those who understand that reach the target; stumbled "
        "upon: of those who only try; by chance: pairs. In the second line, at the present target.",
    )
    yield from _drawn(drawn, "distances")
    yield from _drawn(drawn, "alignments")


def _threshold_row(one: Threshold) -> tuple[object, ...]:
    separated = one.separated
    return (
        one.model or two_lines(one.dataset, "all models"),
        said.target(one),
        f"{one.epsilon:.3g}",
        said.SOURCES[one.source],
        said.NONE
        if separated is None
        else two_lines(
            said.percent(separated.target, 1), said.percent(separated.balanced_accuracy)
        ),
        *(
            two_lines(said.percent(one.share(some)), said.percent(one.share(some, one.present)))
            for some in (UNDERSTANDS, TRIES)
        ),
        two_lines(said.percent(one.by_chance(), 1), said.percent(one.by_chance(one.present), 1)),
        said.percent(one.floor, 1),
        said.percent(one.present),
    )


def _waiting(plan: Plan, drawn: dict[str, Plate]) -> Iterator[Html]:
    if not plan.waiting:
        return
    yield heading(2, "Time to skip (T)")
    yield paragraph(waiting.RULE, "quiet")
    yield paragraph(
        "The questions were solved at the study's present target: with another one they take "
        "longer or shorter, so set the target first and plan again.",
        "quiet",
    )
    rows: list[tuple[object, ...]] = []
    for one in plan.waiting:
        rows.append(
            (
                two_lines(one.dataset, "mixture"),
                one.solved,
                said.NONE if one.median_s is None else decimal(one.median_s, 1),
                said.NONE if one.skip_after_s is None else one.skip_after_s,
                said.NONE if one.present_s is None else f"{one.present_s:g}",
            )
        )
        rows += [
            (
                name,
                len(seconds),
                decimal(waiting.quantile(seconds, [1.0] * len(seconds), 0.5), 1),
                "",
                "",
            )
            for name, seconds in one.active_s.items()
        ]
    yield table(
        (
            "Data set, strategy",
            two_lines("Solved questions", "n"),
            two_lines("Active time", "s, median"),
            two_lines("T", "s"),
            two_lines("T now", "s"),
        ),
        rows,
        numeric=range(1, 5),
    )
    yield from _drawn(drawn, "durations")


def _length(plan: Plan) -> Iterator[Html]:
    yield heading(2, "Length and completion")
    yield paragraph(
        "Working time of a session without breaks, pauses and interviews. Reading and filling in "
        "questionnaires take simulated people fixed times; add what greeting, consent and think-"
        "aloud talk take in your lab.",
        "quiet",
    )
    yield table(
        (
            "Strategy",
            "Sessions",
            two_lines("Median", "min:s"),
            two_lines("90 % within", "min:s"),
        ),
        [
            (one.strategy or "mixture", one.n, clock(one.median_s), clock(one.ninety_s))
            for one in plan.lengths
        ],
        numeric=range(1, 4),
    )
    if not plan.completions:
        return
    strategies = (None, *plan.shares)
    cells = {(one.model, one.strategy): one for one in plan.completions}
    models = list(dict.fromkeys(one.model for one in plan.completions))
    yield table(
        ("Completion rate, %", *(name or "mixture" for name in strategies)),
        [
            (
                model,
                *(
                    two_lines(decimal(found.mean * 100, 0), _deviation(found.sd))
                    if (found := cells.get((model, name)))
                    else said.NONE
                    for name in strategies
                ),
            )
            for model in models
        ],
        numeric=range(1, len(strategies) + 1),
        caption="Mean over participants, below it ± standard deviation.",
    )


def _deviation(sd: float | None) -> str:
    return said.NONE if sd is None else f"± {decimal(sd * 100, 0)}"


def _powers(plan: Plan, drawn: dict[str, Plate]) -> Iterator[Html]:
    if not any(powers.tests for powers in plan.powers):
        return
    yield heading(2, "Participants")
    yield paragraph(
        "Power: the share of studies of so many participants, drawn from the simulated ones, whose "
        "test is significant. The tests are the paper's: repeated-measures analysis of variance "
        "and paired t tests where each participant meets all models, else one-way analysis of "
        "variance and t tests with pooled variance. Numbers count participants who are included; "
        "recruit more where the study excludes some.",
        "quiet",
    )
    single = len(plan.powers) == 1
    for number, powers in enumerate(plan.powers, start=1):
        if powers.tests:
            yield heading(3, powers.group.name)
            yield _needs(powers)
            yield from _drawn(drawn, "power" if single else f"power-{number}")
            yield _check(powers)


def _needs(powers: GroupPower) -> Html:
    heads = [
        two_lines(f"{said.percent(goal)} power", f"p < {level:.2g}")
        for level in powers.levels
        for goal in GOALS
    ]
    each = "Participants" if powers.group.within else "Participants of each model"
    return table(
        ("Metric", "Test", two_lines("Effect", "simulated"), *heads),
        [
            (
                test.title,
                test.test,
                said.NONE
                if test.effect.value is None
                else f"{test.effect.name} = {decimal(test.effect.value, 2)}",
                *(said.need(test.needs[level, goal]) for level in powers.levels for goal in GOALS),
            )
            for test in powers.tests
        ],
        numeric=range(2, 3 + len(heads)),
        caption=f"{each} needed ({design(powers.group.within)} tests); in brackets the interval "
        "that holds 95 % of what other simulated people of the same kind would give. More than "
        f"{SIZES[-1]} were not looked at. p < {powers.levels[1]:.2g} is .05 over the "
        f"{powers.n_tests} tests that an analysis makes (Bonferroni).",
    )


def _check(powers: GroupPower) -> Html:
    """Resampled power beside that of normal theory, at .05."""
    level = powers.levels[0]

    def cell(power: float, normal: float | None) -> Html:
        return two_lines(decimal(power * 100, 0), said.percent(normal))

    return table(
        ("Metric", "Test", *(f"n = {n}" for n in CHECKED_AT)),
        [
            (
                test.title,
                test.test,
                *(
                    cell(
                        float(test.power[SIZES.index(n), 0]),
                        power_of(test.pool, test.effect, n, level),
                    )
                    for n in CHECKED_AT
                ),
            )
            for test in powers.tests
        ],
        numeric=range(2, 2 + len(CHECKED_AT)),
        caption="A check: power at .05 in % as resampled, below it by normal theory for the same "
        "effect (statsmodels; the repeated-measures analysis by the noncentral F). They agree "
        "where the values are about normal; completion rates are not.",
    )


def _sensitivity(plan: Plan) -> Iterator[Html]:
    if len(plan.scenarios) < 2:
        return
    yield heading(2, "With other shares of the strategies")
    yield paragraph(
        "The same simulated people, mixed otherwise. “More” adds 20 points to a share and takes "
        "them from the others in proportion.",
        "quiet",
    )
    models = list(plan.scenarios[0].completion)
    if models:
        yield table(
            ("Mixture", "Shares", *models),
            [
                (
                    one.name,
                    ", ".join(f"{name} {said.percent(x)}" for name, x in one.shares.items() if x),
                    *(said.percent(one.completion.get(model)) for model in models),
                )
                for one in plan.scenarios
            ],
            numeric=range(2, 2 + len(models)),
            caption="Completion rate by model.",
        )
    for powers in plan.powers:
        if not powers.tests:
            continue
        titles = {test.metric: test.title for test in powers.tests}
        tests = [(test.metric, test.test) for test in powers.tests]
        yield table(
            ("Metric", "Test", *(one.name for one in plan.scenarios)),
            [
                (
                    titles[metric],
                    name,
                    *(
                        said.need_of(one.needs[f"{powers.group.name}: {metric}", name])
                        for one in plan.scenarios
                    ),
                )
                for metric, name in tests
            ],
            numeric=range(2, 2 + len(plan.scenarios)),
            caption=f"{powers.group.name}: participants for a power of 80 % at .05.",
        )
