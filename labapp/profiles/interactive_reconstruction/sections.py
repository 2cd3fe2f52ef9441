"""The report's sections on models that are compared: as Tables 2 and A.3 of paper 000."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from labapp.analysis.by_task import about_models, changes, with_values
from labapp.analysis.tables import Tables
from labapp.profiles.interactive_reconstruction import published as paper
from labapp.profiles.interactive_reconstruction import words
from labapp.profiles.interactive_reconstruction.drawings import Drawings
from labapp.profiles.interactive_reconstruction.groups import TASKS, published_name
from labapp.profiles.interactive_reconstruction.model_cards import Facts, facts
from labapp.profiles.interactive_reconstruction.results import Compared, Found, Pair, Summary
from labapp.profiles.interactive_reconstruction.tables_checks import checks
from labapp.report.formats import count, decimal
from labapp.report.listing import NONE
from labapp.report.page import Html, heading, lines, paragraph, table, text, two_lines
from labapp.tasks.reconstruction.plan import TASK as RECONSTRUCTION
from labapp.tasks.reconstruction.report.metrics import METRICS
from labapp.tasks.single_dimension.report.metrics import SINGLE_METRICS

IN_OVERVIEW = ("completion_rate", "seq", "error_auc_sum")
FACTS = {"mse": "MSE", "dci": "DCI", "mig": "MIG"}
BESIDE = 3
"""So many pairs are columns; more are rows."""
NOT_THEIRS = (
    "“Paper” is what Ross et al. (CHI 2021, paper 000) print for a study, task and data set like "
    "these, with other participants and, unless their models were imported, with other models of "
    "the same name: for orientation, not to be reproduced. Standard deviations there are of the "
    "population (σ)."
)
OF_CARDS = (
    "MSE, DCI and MIG are from the cards of the models with these ids on this computer: the sum of "
    "squared errors of a held-out instance, with encodings drawn from the posterior where there is "
    "one, and disentanglement as the paper's code computes it."
)
STARS = (
    "Stars are of the p that is not corrected, as in the paper: * p < .05, ** < .01, *** < .001, "
    "**** < .0001; none where n is below 5."
)


def of_study(
    counted: Tables, found: Sequence[Found], drawn: Callable[[str], Drawings]
) -> Iterator[Html]:
    """The models of one study: an overview, then task by task. counted: its rows that count; found:
    of it; drawn: the figures of a task."""
    yield from overview(found)
    for task in sorted(set(TASKS) & set(counted.stages["task"])):
        stages = counted.stages[counted.stages["task"] == task]
        reconstructs = task == RECONSTRUCTION
        metrics = with_values(stages, METRICS if reconstructs else SINGLE_METRICS)
        figures = drawn(task)
        yield heading(3, "Metrics by model" if reconstructs else f"Metrics by model, {task}")
        yield from about_models(stages)
        yield from figures.metrics()
        yield from of_task(task, found)
        yield from figures.differences()
        yield from changes(stages, metrics)
        yield from figures.changes()
        yield from figures.dimensions()


def overview(found: Sequence[Found]) -> Iterator[Html]:
    """Table 2: a row a model of the reconstruction task; found: of one study."""
    groups = [one for one in found if one.group.task == RECONSTRUCTION]
    if not groups:
        return
    yield heading(3, "Models and interactive reconstruction")
    yield from _provenance(groups)
    yield from _theirs(found)
    metrics = {m.metric.column: m.metric for one in groups for m in one.compared}
    shown = [metrics[name] for name in IN_OVERVIEW if name in metrics]
    rows: list[list[object]] = []
    beside = False
    for one in groups:
        for model in one.group.models:
            known = facts(model) or Facts()
            cells: list[object] = [model]
            for name in FACTS:
                said = paper.model_fact(one.group.dataset, model, name)
                value = getattr(known, name)
                ours = NONE if value is None else decimal(value, 1 if name == "mse" else 2)
                printed = said.printed if said and paper.has(one.group) else ""
                cells.append(_beside(ours, printed))
            # A data set whose models lack what those of another have has a gap there.
            cells += [_mean(one, model, metric.column) or NONE for metric in shown]
            beside = beside or paper.has(one.group)
            rows.append(cells)
    yield table(
        ["Model", *FACTS.values(), *(two_lines(one.title, one.unit) for one in shown)],
        rows,
        numeric=range(1, 1 + len(FACTS) + len(shown)),
        caption="Mean ± sd (n − 1) over participants; below it the median and n"
        + ("; the paper's Table 2." if beside else "."),
    )
    yield paragraph(OF_CARDS, "quiet")


def _mean(found: Found, model: str, name: str) -> Html | None:
    one = next((one for one in found.compared if one.metric.column == name), None)
    if one is None:
        return None
    summary, decimals = one.summaries[model], one.metric.decimals
    said = paper.mean(found.group, model, one.metric)
    return _lines(
        _spread(summary, decimals),
        "" if summary.median is None else f"median {decimal(summary.median, decimals)}",
        f"n = {summary.n}",
        "" if said is None else f"paper {said.spread}",
    )


def _beside(ours: str, printed: str) -> object:
    return two_lines(ours, f"paper {printed}") if printed else ours


def of_task(task: str, found: Sequence[Found]) -> Iterator[Html]:
    """The groups of one study that did a task: values, tests and checks."""
    own = [one for one in found if one.group.task == task]
    yield from _provenance(own)
    if all(one.group.task != RECONSTRUCTION for one in found):
        yield from _theirs(own)  # else the overview of the study has said it
    for one in own:
        if len(own) > 1:
            yield heading(4, one.group.name.partition(", ")[2])
        yield from _group(one)
    if own:
        yield paragraph(_tested(own[0]), "quiet")


def _tested(found: Found) -> str:
    n = found.n_tests
    if n == 0:
        return "No analysis of variance and no t test could be made."
    threshold = words.plain(found.threshold)
    return (
        f"{count(n, 'test')} (analyses of variance and t tests) were made over all groups and "
        f"metrics of this analysis: Bonferroni's threshold is {threshold}, and p corrected is p × "
        f"{n}. {STARS} Effects with 95 % intervals, tests by ranks, checks and mixed models are "
        "ours, not the paper's, and are not counted."
    )


def _provenance(found: Sequence[Found]) -> Iterator[Html]:
    """Whose values these are."""
    programs = sum(one.group.simulated for one in found)
    people = sum(one.group.participants for one in found)
    if programs:
        of = "All" if programs == people else f"{programs} of {people}"
        yield paragraph(f"{of} participants here are simulated: programs, not people.", "note")


def _theirs(found: Sequence[Found]) -> Iterator[Html]:
    """What the paper's values are that stand beside these."""
    if any(paper.has(one.group) for one in found):
        yield paragraph(NOT_THEIRS, "quiet")


def _group(found: Found) -> Iterator[Html]:
    group = found.group
    design = "within" if group.within else "between"
    several = len(group.models) > 1
    tests = (
        " Repeated-measures ANOVA, paired t tests."
        if group.within
        else (" One-way ANOVA, independent t tests with pooled variance.")
    )
    yield paragraph(
        f"{count(group.participants, 'participant')}, {count(len(group.models), 'model')} "
        f"{design} participants.{tests * several}{_twice(group.first_only)}"
    )
    names = [published_name(model) for model in group.models]
    shown = names if len(set(names)) == len(names) else list(group.models)
    several = any(one.omnibus is not None for one in found.compared)
    yield table(
        ["Metric", *shown, *(["Analysis of variance"] * several)],
        [
            [
                two_lines(one.metric.title, one.metric.unit),
                *(_values(found, one, model) for model in group.models),
                *([_omnibus(found, one)] * several),
            ]
            for one in found.compared
        ],
        numeric=range(1, 1 + len(names)),
        caption="Mean ± sd (n − 1) over participants; below them the median, the sd as the paper "
        "prints it (σ), and n" + ("; the paper's value." if paper.has(group) else "."),
    )
    if several:
        yield _pairs(found, dict(zip(group.models, shown, strict=True)))
        yield from _contradictions(found)
        yield checks(found, dict(zip(group.models, shown, strict=True)))


def _twice(n: int) -> str:
    """Who took part more than once where each participant should meet one model."""
    return f" {count(n, 'participant')} met another model too: the first counts." if n else ""


def _lines(*said: str) -> Html:
    """A cell: its first line, and quieter ones; empty lines are left out."""
    first, *more = (line for line in said if line)
    return two_lines(first, lines(more)) if more else text(first)


def _spread(summary: Summary, decimals: int) -> str:
    if summary.mean is None:
        return NONE
    mean = decimal(summary.mean, decimals)
    if summary.sd is None:
        return mean
    return f"{mean} ± {decimal(summary.sd, decimals, like=summary.mean)}"


def _values(found: Found, one: Compared, model: str) -> Html:
    summary, decimals = one.summaries[model], one.metric.decimals
    if summary.mean is None or summary.median is None or summary.sd_population is None:
        return text(NONE)
    said = paper.mean(found.group, model, one.metric)
    middle = paper.median(found.group, model, one.metric)
    population = decimal(summary.sd_population, decimals, like=summary.mean)
    printed = said.spread if said is not None else ""
    if middle is not None and middle.spread:
        printed += f", median {middle.spread}"
    return _lines(
        _spread(summary, decimals),
        f"median {decimal(summary.median, decimals)}, σ {population}",
        f"n = {summary.n}",
        f"paper {printed.lstrip(', ')}" if printed else "",
    )


def _omnibus(found: Found, one: Compared) -> Html:
    omnibus = one.omnibus
    if omnibus is None:
        return text(NONE)
    said = ", ".join(row.said for row in paper.omnibus(found.group, one.metric))
    printed = f"paper {said}" if said else ""
    left = f"{omnibus.left_out} without all models left out" if omnibus.left_out else ""
    if omnibus.outcome.p is None:
        return _lines(NONE, omnibus.outcome.why, left, printed)
    general = ""
    if found.group.within and omnibus.generalised is not None:
        general = f"generalised η² = {decimal(omnibus.generalised, 2)}"
    return _lines(
        f"{words.statistic(omnibus.outcome)} {omnibus.stars}",
        _p(omnibus.outcome.p, omnibus.p_corrected),
        words.effect(omnibus.effect),
        general,
        left,
        printed,
    )


def _p(p: float | None, corrected: float | None) -> str:
    if p is None or corrected is None:
        return ""
    return f"{words.p_value(p)}, corrected {words.plain(corrected)}"


def _pairs(found: Found, names: dict[str, str]) -> Html:
    """Differences between models; pairs are columns where there are few."""
    keys = list(
        dict.fromkeys((pair.one, pair.other) for one in found.compared for pair in one.pairs)
    )
    titles = [f"{names[one]} − {names[other]}" for one, other in keys]
    cells = [[_pair(found, one, one.pair(*key)) for key in keys] for one in found.compared]
    metrics = [two_lines(one.metric.title, one.metric.unit) for one in found.compared]
    caption = (
        "Difference of the means with its 95 % interval, the t test, and the effect with its "
        f"interval; {'pairs' if found.group.within else 'participants of the two models'}: n."
    )
    if len(keys) <= BESIDE:
        beside = [[name, *own] for name, own in zip(metrics, cells, strict=True)]
        return table(["Metric", *titles], beside, numeric=range(1, 1 + len(keys)), caption=caption)
    turned = zip(*cells, strict=True)
    rows = [[name, *own] for name, own in zip(titles, turned, strict=True)]
    return table(["Models", *metrics], rows, numeric=range(1, 1 + len(metrics)), caption=caption)


def _pair(found: Found, one: Compared, pair: Pair | None) -> Html:
    if pair is None:
        return text(NONE)
    shown = paper.pair(found.group, pair.one, pair.other, one.metric)
    printed = f"paper {', '.join(row.said for row in shown)}" if shown else ""
    n = f"n = {pair.n}" if pair.n_one == pair.n_other else f"n = {pair.n_one}, {pair.n_other}"
    first = words.difference(pair.difference, one.metric)
    if pair.outcome.p is None:
        return _lines(first, f"no test: {pair.outcome.why}", n, printed)
    ends = ", ".join(words.difference(end, one.metric) for end in (pair.low, pair.high))
    return _lines(
        f"{first} {pair.stars}",
        f"[{ends}]",
        f"{words.statistic(pair.outcome)}, {n}",
        _p(pair.outcome.p, pair.p_corrected),
        words.effect(pair.effect),
        printed,
    )


def _contradictions(found: Found) -> Iterator[Html]:
    """Where what stands here of the paper is contradicted elsewhere in it, or needs a word."""
    said: dict[str, dict[str, dict[str, None]]] = {}
    for one in found.compared:
        for row in _printed(found, one):
            if row.note:
                models = " − ".join(filter(None, (row.model, row.compared_with)))
                what = f"{one.metric.title} ({row.source})"
                said.setdefault(row.note, {}).setdefault(what, {})[models] = None
    if said:
        notes = "; ".join(
            f"{' and '.join(_whose(what, list(whose)) for what, whose in about.items())}: {note}"
            for note, about in said.items()
        )
        yield paragraph(f"Of the paper's values: {notes}.", "quiet")


def _whose(what: str, models: Sequence[str]) -> str:
    """A metric, of the models if it is one cell that a note is of."""
    return f"{models[0]}, {what}" if len(models) == 1 and models[0] else what


def _printed(found: Found, one: Compared) -> Iterator[paper.Printed]:
    """Everything that the tables have of the paper beside a metric."""
    group, metric = found.group, one.metric
    for model in group.models:
        said = paper.mean(group, model, metric)
        if said is not None:
            yield said
    if one.omnibus is not None:
        yield from paper.omnibus(group, metric)
    for pair in one.pairs:
        yield from paper.pair(group, pair.one, pair.other, metric)
