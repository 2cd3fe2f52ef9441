"""The report's sections on models that are compared: as Tables 2 and A.3 of paper 000.

Also what the tests of a group assume, with tests that assume less (ours), the numbers of tests as
the report's tables show them, and the figures of the models as the report's page shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from labapp.analysis.columns import Metric
from labapp.analysis.inference import BROWN_FORSYTHE, GENERALISED, MAUCHLY
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import CHANGE, changes, summary, with_values
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.listing import NONE
from labapp.base.report.page import (
    Html,
    count,
    decimal,
    details,
    heading,
    join_parts,
    lines,
    paragraph,
    table,
    text,
    two_lines,
)
from labapp.papers.interactive_reconstruction import results as paper
from labapp.papers.interactive_reconstruction.results import (
    CHECKS,
    GREENHOUSE_GEISSER,
    MIXED,
    TASKS,
    VARIANCE,
    Compared,
    Facts,
    GroupResults,
    facts,
    not_published,
    shown_name,
)
from labapp.tasks.reconstruction.plan import TASK as RECONSTRUCTION
from labapp.tasks.reconstruction.report.contents import METRICS
from labapp.tasks.single_dimension.report import SINGLE_METRICS

FACTS = {"mse": "MSE", "dci": "DCI", "mig": "MIG"}
BESIDE = 3
"""So many pairs are columns; more are rows."""
NOT_THEIRS = (
    "“Paper” gives the values that Ross et al. (CHI 2021) report for such a study, task and "
    "data set. They come from other participants and, unless their models were imported, from "
    "other models of the same name. They are for orientation only; the results here need not "
    "match them. Their standard deviations are those of the population (σ)."
)
OF_CARDS = (
    "MSE, DCI and MIG come from the cards of the models with these ids on this computer. MSE is "
    "the sum of squared errors of a held-out instance, with encodings drawn from the posterior "
    "if there is one; DCI and MIG are computed as in the paper's code."
)
STARS = (
    "Stars are for the uncorrected p, as in the paper: * p < .05, ** < .01, *** < .001, "
    "**** < .0001; there are none if n is below 5."
)


def of_study(
    counted: Tables, results: Sequence[GroupResults], drawn: Callable[[str], Drawings]
) -> Iterator[Html]:
    """The models of one study: an overview, then task by task. counted: its rows that count; found:
    of it; drawn: the figures of a task. A study that does not declare the paper's analysis has its
    values and figures, and nothing of the paper."""
    follows = any(result.group.follows for result in results)
    if follows:
        yield from overview(results)
    for task in sorted(set(TASKS) & set(counted.stages["task"])):
        stages = counted.stages[counted.stages["task"] == task]
        reconstructs = task == RECONSTRUCTION
        metrics = with_values(stages, METRICS if reconstructs else SINGLE_METRICS)
        figures = drawn(task)
        title = "Metrics by model" if reconstructs else f"Metrics by model, {task}"
        yield heading(3, title)
        yield from about_models(stages["model"]) if follows else ()
        yield from figures.of(BOXES, title)
        if follows:
            yield from of_task(task, results)
        else:
            yield from _provenance([result for result in results if result.group.task == task])
            yield summary(stages, metrics)
        yield from figures.of(PAIRS)
        yield from figures.of(RATINGS)
        yield from changes(stages, metrics)
        yield from figures.of(CHANGES, CHANGE)
        yield from figures.of(DIMENSIONS)


def about_models(models: Iterable[str]) -> Iterator[Html]:
    """Which models stand for some of the paper's and are not those."""
    others: dict[str, list[str]] = {}
    for model in sorted(set(map(str, models))):
        if why := not_published(model):
            others.setdefault(why, []).append(model)
    for why, standing in others.items():
        yield paragraph(
            f"{', '.join(standing)}: {why} The published tables (from Table 2 on) describe other "
            "models; they are shown next to ours for orientation.",
            "note",
        )


def overview(results: Sequence[GroupResults]) -> Iterator[Html]:
    """Table 2: one row per model of the reconstruction task; found: of one study."""
    groups = [result for result in results if result.group.task == RECONSTRUCTION]
    if not groups:
        return
    yield heading(3, "Models and interactive reconstruction")
    yield from _provenance(groups)
    yield from _theirs(results)
    metrics = {each.metric.column: each.metric for group in groups for each in group.compared}
    columns = ("completion_rate", "seq", "error_auc_sum")
    shown = [metrics[name] for name in columns if name in metrics]
    rows: list[list[object]] = []
    beside = False
    for result in groups:
        for model in result.group.models:
            known = facts(model) or Facts()
            cells: list[object] = [model]
            for name in FACTS:
                model_fact = paper.model_fact(result.group.dataset, model, name)
                value = getattr(known, name)
                ours = NONE if value is None else decimal(value, 1 if name == "mse" else 2)
                printed = model_fact.printed if model_fact and paper.has(result.group) else ""
                cells.append(two_lines(ours, f"paper {printed}") if printed else ours)
            # A data set whose models lack what those of another have has a gap there.
            cells += [_mean(result, model, metric.column) or NONE for metric in shown]
            beside = beside or paper.has(result.group)
            rows.append(cells)
    yield table(
        ["Model", *FACTS.values(), *(two_lines(metric.called, metric.unit) for metric in shown)],
        rows,
        numeric=range(1, 1 + len(FACTS) + len(shown)),
        caption="Mean ± SD (n − 1) over participants, with the median and n below"
        + ("; “paper” marks values of the paper's Table 2." if beside else "."),
    )
    yield paragraph(OF_CARDS, "quiet")


def _mean(result: GroupResults, model: str, name: str) -> Html | None:
    comparison = next((each for each in result.compared if each.metric.column == name), None)
    if comparison is None:
        return None
    summary, decimals = comparison.values(model), comparison.metric.decimals
    mean = paper.mean(result.group, model, comparison.metric)
    return _lines(
        _spread(summary, decimals),
        "" if summary.median is None else f"median {decimal(summary.median, decimals)}",
        f"n = {summary.n}",
        "" if mean is None else f"paper {mean.spread}",
    )


def of_task(task: str, results: Sequence[GroupResults]) -> Iterator[Html]:
    """The groups of one study that did a task: values, tests and checks."""
    own = [result for result in results if result.group.task == task]
    yield from _provenance(own)
    if all(result.group.task != RECONSTRUCTION for result in results):
        yield from _theirs(own)  # else the overview of the study has said it
    for result in own:
        if len(own) > 1:
            yield heading(4, result.group.name.partition(", ")[2])
        yield from _group(result)
    if own:
        yield paragraph(_describe_tests(own[0]), "quiet")


def _describe_tests(result: GroupResults) -> str:
    n = result.n_tests
    if n == 0:
        return "Neither an analysis of variance nor a t test was possible."
    return (
        f"{count(n, 'test')} (analyses of variance and t tests) were made over all groups and "
        f"metrics of this analysis: Bonferroni's threshold is {plain(result.threshold)}, and p "
        f"corrected is p × {n}. {STARS} Effects with 95 % intervals (η²: 90 %), tests by ranks, "
        "checks and mixed models are ours, not the paper's, and are not counted."
    )


def _provenance(results: Sequence[GroupResults]) -> Iterator[Html]:
    programs = sum(result.group.simulated for result in results)
    people = sum(result.group.participants for result in results)
    if programs:
        of = "All" if programs == people else f"{programs} of {people}"
        yield paragraph(f"{of} participants here are simulated: programs, not people.", "note")


def _theirs(results: Sequence[GroupResults]) -> Iterator[Html]:
    if any(paper.has(result.group) for result in results):
        yield paragraph(NOT_THEIRS, "quiet")


def _group(result: GroupResults) -> Iterator[Html]:
    group = result.group
    design = "within" if group.within else "between"
    tests = "One-way ANOVA, independent t tests with pooled variance."
    if group.within:
        tests = "Repeated-measures ANOVA, paired t tests."
    about = (
        f"{count(group.participants, 'participant')}, {count(len(group.models), 'model')} "
        f"{design} participants."
    )
    if len(group.models) > 1:
        about += f" {tests}"
    if again := group.first_only:
        about += f" {count(again, 'participant')} also saw another model; only the first counts."
    yield paragraph(about)
    names = [shown_name(model) for model in group.models]
    shown = names if len(set(names)) == len(names) else list(group.models)
    several = any(comparison.omnibus is not None for comparison in result.compared)
    yield table(
        ["Metric", *shown, *(["Analysis of variance"] * several)],
        [
            [
                two_lines(comparison.metric.called, comparison.metric.unit),
                *(_values(result, comparison, model) for model in group.models),
                *([_omnibus(result, comparison)] * several),
            ]
            for comparison in result.compared
        ],
        numeric=range(1, 1 + len(names)),
        caption="Mean ± SD (n − 1) over participants; below them the median, the SD as the paper "
        "prints it (σ), and n" + ("; the paper's value." if paper.has(group) else "."),
    )
    if several:
        yield _pairs(result, dict(zip(group.models, shown, strict=True)))
        yield from _contradictions(result)
        yield checks(result, dict(zip(group.models, shown, strict=True)))


def _lines(*texts: str) -> Html:
    """A cell: its first line, and quieter ones; empty lines are left out."""
    first, *more = (line for line in texts if line)
    return two_lines(first, lines(more)) if more else text(first)


def _spread(summary: Statistic, decimals: int) -> str:
    if summary.mean is None:
        return NONE
    mean = decimal(summary.mean, decimals)
    if summary.sd is None:
        return mean
    return f"{mean} ± {decimal(summary.sd, decimals, like=summary.mean)}"


def _values(result: GroupResults, comparison: Compared, model: str) -> Html:
    summary, decimals = comparison.values(model), comparison.metric.decimals
    if summary.mean is None or summary.median is None or summary.sd_population is None:
        return text(NONE)
    mean = paper.mean(result.group, model, comparison.metric)
    middle = paper.median(result.group, model, comparison.metric)
    population = decimal(summary.sd_population, decimals, like=summary.mean)
    printed = mean.spread if mean is not None else ""
    if middle is not None and middle.spread:
        printed += f", median {middle.spread}"
    return _lines(
        _spread(summary, decimals),
        f"median {decimal(summary.median, decimals)}, σ {population}",
        f"n = {summary.n}",
        f"paper {printed.lstrip(', ')}" if printed else "",
    )


def _omnibus(result: GroupResults, comparison: Compared) -> Html:
    omnibus = comparison.omnibus
    if omnibus is None:
        return text(NONE)
    printed = f"paper {omnibus.published}" if omnibus.published else ""
    left = (
        f"{omnibus.n_left_out} without a value for every model left out"
        if omnibus.n_left_out
        else ""
    )
    if omnibus.p is None:
        return _lines(NONE, omnibus.why, left, printed)
    general = next(iter(comparison.of(VARIANCE, test=GENERALISED)), None)
    shown = ""
    if result.group.within and general is not None:
        shown = f"generalised η² = {decimal(general.effect or 0.0, 2)}"
    return _lines(
        f"{statistic(omnibus)} {omnibus.stars}",
        _p(omnibus.p, omnibus.p_corrected),
        effect(omnibus),
        shown,
        left,
        printed,
    )


def _p(p: float | None, corrected: float | None) -> str:
    if p is None or corrected is None:
        return ""
    return f"{p_value(p)}, corrected {plain(corrected)}"


def _pairs(result: GroupResults, names: dict[str, str]) -> Html:
    """Differences between models; pairs are columns if there are few."""
    pairs = (pair for comparison in result.compared for pair in comparison.pairs)
    keys = list(dict.fromkeys((pair.model, pair.compared_with) for pair in pairs))
    titles = [f"{names[key]} − {names[other]}" for key, other in keys]
    cells = [
        [_pair(comparison, comparison.pair(*key)) for key in keys] for comparison in result.compared
    ]
    metrics = [two_lines(each.metric.called, each.metric.unit) for each in result.compared]
    caption = (
        "Difference of the means with its 95 % interval, the t test, and the effect with its "
        f"interval; {'pairs' if result.group.within else 'participants of the two models'}: n."
    )
    if len(keys) <= BESIDE:
        beside = [[name, *own] for name, own in zip(metrics, cells, strict=True)]
        return table(["Metric", *titles], beside, numeric=range(1, 1 + len(keys)), caption=caption)
    turned = zip(*cells, strict=True)
    rows = [[name, *own] for name, own in zip(titles, turned, strict=True)]
    return table(["Models", *metrics], rows, numeric=range(1, 1 + len(metrics)), caption=caption)


def _pair(comparison: Compared, pair: Statistic | None) -> Html:
    if pair is None:
        return text(NONE)
    printed = f"paper {pair.published}" if pair.published else ""
    n = f"n = {pair.n}" if pair.n == pair.n_2 else f"n = {pair.n}, {pair.n_2}"
    first = difference(pair.difference, comparison.metric)
    if pair.p is None:
        return _lines(first, f"no test: {pair.why}", n, printed)
    ends = ", ".join(difference(end, comparison.metric) for end in (pair.low, pair.high))
    return _lines(
        f"{first} {pair.stars}",
        f"[{ends}]",
        f"{statistic(pair)}, {n}",
        _p(pair.p, pair.p_corrected),
        effect(pair),
        printed,
    )


def _contradictions(result: GroupResults) -> Iterator[Html]:
    """Where what stands here of the paper is contradicted elsewhere in it, or needs a word."""
    contradictions: dict[str, dict[str, dict[str, None]]] = {}
    for comparison in result.compared:
        for row in _list_printed(result, comparison):
            if row.note:
                models = " − ".join(filter(None, (row.model, row.compared_with)))
                what = f"{comparison.metric.called} ({row.source})"
                contradictions.setdefault(row.note, {}).setdefault(what, {})[models] = None
    if contradictions:
        notes = []
        for note, about in contradictions.items():
            # A metric, of the models if it is one cell that the note is of.
            cells = [
                f"{''.join(models)}, {what}" if len(models) == 1 and "" not in models else what
                for what, models in about.items()
            ]
            notes.append(f"{' and '.join(cells)}: {note}")
        yield paragraph(f"About the paper's values: {'; '.join(notes)}.", "quiet")


def _list_printed(result: GroupResults, comparison: Compared) -> Iterator[paper.Printed]:
    """Everything that the tables have of the paper beside a metric."""
    group, metric = result.group, comparison.metric
    for model in group.models:
        mean = paper.mean(group, model, metric)
        if mean is not None:
            yield mean
    if comparison.omnibus is not None:
        yield from paper.omnibus(group, metric)
    for pair in comparison.pairs:
        yield from paper.pair(group, pair.model, pair.compared_with, metric)


NORMAL = "Shapiro-Wilk W"
TITLES = {
    NORMAL: ("Normal residuals", "Shapiro-Wilk W"),
    BROWN_FORSYTHE: ("Same variances", "Brown-Forsythe F"),
    MAUCHLY: ("Sphericity", "Mauchly's W"),
    GREENHOUSE_GEISSER: ("Without sphericity", "ANOVA, Greenhouse-Geisser"),
}
"""By the name of a check over all models."""
READ = (
    "A small p in a check means that an assumption of a test does not hold. Tests by ranks do "
    "not assume a normal distribution, and the Greenhouse-Geisser correction does not assume "
    "sphericity. If a participant lacks a model, a mixed model is fitted to all values."
)


def checks(result: GroupResults, names: dict[str, str]) -> Html:
    """Folded away; names: of the models as the tables have them."""
    parts = [paragraph(READ, "quiet"), _over_all(result)]
    if any(comparison.pairs for comparison in result.compared):
        parts.append(_pairs_checked(result, names))
    return details("Assumption checks and tests with fewer assumptions (ours)", join_parts(parts))


def _over_all(result: GroupResults) -> Html:
    every = [
        {row.test: row for row in comparison.of(CHECKS, model="")} for comparison in result.compared
    ]
    made = [name for name in TITLES if any(name in checks for checks in every)]
    ranks = "Friedman" if result.group.within else "Kruskal-Wallis"
    mixed = any(comparison.of(MIXED) for comparison in result.compared)
    rows = []
    for comparison, checks in zip(result.compared, every, strict=True):
        robust = [row for row in comparison.of(VARIANCE, ours=True) if row.test != GENERALISED]
        tests = [test(checks[name]) if name in checks else "" for name in made]
        by_model = next(map(test, comparison.of(MIXED)), "no gaps")
        cells = [*tests, next(map(test, robust), ""), *([by_model] * mixed)]
        rows.append([comparison.metric.called, *cells])
    titles = [two_lines(*TITLES[name]) for name in made]
    more = [two_lines("Mixed model", "Wald")] * mixed
    return table(["Metric", *titles, two_lines("By ranks", ranks), *more], rows)


def _pairs_checked(result: GroupResults, names: dict[str, str]) -> Html:
    ranks = "Wilcoxon" if result.group.within else "Mann-Whitney"
    rows = []
    for comparison in result.compared:
        for pair in comparison.pairs:
            models = {"model": pair.model, "compared_with": pair.compared_with}
            checked = next(map(test, comparison.of(CHECKS, **models)), "")
            rows.append(
                [
                    comparison.metric.called,
                    f"{names[pair.model]} − {names[pair.compared_with]}",
                    *([checked] * result.group.within),
                    next(map(test, comparison.of(paper.PAIRS, ours=True, **models)), ""),
                ]
            )
    normal = [two_lines("Normal differences", "Shapiro-Wilk W")] * result.group.within
    return table(["Metric", "Models", *normal, two_lines("By ranks", ranks)], rows)


SYMBOLS = {"partial eta squared": "partial η²", "eta squared": "η²", "d_z": "d_z", "Hedges' g": "g"}
LETTERS = {
    "χ²": ("chi-square",),
    "F": ("ANOVA", "Forsythe"),
    "t": (" t",),
    "W": (" W", "Wilcoxon"),
    "U": (" U",),
    "H": (" H",),
}
"""Letters of statistics, and how the names of their tests are told, the first that fits."""
LEAST = 1e-15
"""Smaller p are of rounding: of three values two of which are equal, Shapiro and Wilk's is 0."""


def p_value(p: float | None) -> str:
    """p = 0.012, or p = 5.3e-08 as the paper writes small ones."""
    return NONE if p is None else f"p {'<' if p < LEAST else '='} {plain(p)}"


def plain(p: float) -> str:
    """Two digits that count, of `LEAST` at least."""
    return f"{max(p, LEAST):.2g}"


def statistic(outcome: Statistic) -> str:
    """F(2, 28) = 32.3; empty if there is none."""
    if outcome.statistic is None:
        return ""
    letter = next(
        symbol for symbol, names in LETTERS.items() if any(name in outcome.test for name in names)
    )
    freedom = [f"{value:.4g}" for value in (outcome.df, outcome.df_2) if value is not None]
    of = f"({', '.join(freedom)})" if freedom and letter != "W" else ""
    return f"{letter}{of} = {decimal(outcome.statistic, 2)}"


def test(outcome: Statistic) -> str:
    """F(2, 28) = 32.3, p = 5.3e-08; or why there is none."""
    if outcome.p is None:
        return f"none: {outcome.why}" if outcome.why else NONE
    text = f"{statistic(outcome)}, {p_value(outcome.p)}"
    return f"{text} ({outcome.why})" if outcome.why else text


def effect(row: Statistic) -> str:
    """g = −0.55 [−1.10, 0.02]."""
    if row.effect is None:
        return ""
    text = f"{SYMBOLS[row.effect_name]} = {decimal(row.effect, 2)}"
    if row.effect_low is None or row.effect_high is None:
        return text
    return f"{text} [{decimal(row.effect_low, 2)}, {decimal(row.effect_high, 2)}]"


def difference(value: float | None, metric: Metric) -> str:
    return NONE if value is None else decimal(value, metric.decimals, sign=True)


BOXES, PAIRS, CHANGES = "metrics", "differences", "changes"
DIMENSIONS, RATINGS = "dimensions", "ratings"


@dataclass(frozen=True)
class Drawings:
    """The figures of one study and task by what they are of, each to be placed beside the table of
    its numbers. anchor: prefix of the page's ids."""

    plates: Mapping[str, ReportFigure]
    anchor: str

    def of(self, kind: str, above: str = "") -> Iterator[Html]:
        """Nothing if there is no figure. above: the heading that stands above."""
        if (plate := self.plates.get(kind)) is not None:
            if plate.label != above:
                yield heading(4, plate.label)
            yield plate.html(self.anchor)
