"""Which stages are compared with each other: of one study and one task.

Where a study declares the paper's analysis (paper 000), models of several data sets are compared
apart, as there; in any other, models that participants met in one task are one comparison, whatever
data set they are of.

Where participants meet several models each, models that no participant meets together are groups
apart (5 and 10 dimensions in the think-aloud study); where each meets one, all are one group. There
somebody who took part twice, with another model, counts with the first (5.2.2: each person once).

Also one metric over the models of a group: summaries, tests and effects (paper 000, section 6). As
in the paper, the tests are repeated-measures ANOVA and paired t tests where participants met
several models, one-way ANOVA and independent t tests with pooled variance where each met one. All
else is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, compress

import numpy as np
import pandas as pd

from labapp.analysis import inference
from labapp.analysis.columns import Metric
from labapp.analysis.declared import declared_of, follows, repeated_study
from labapp.analysis.design import anova, mixed
from labapp.analysis.inference import FEW, MAUCHLY, SAME, SMALLEST, Effect, Matrix, Values, outcome
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.analysis.task_records import Row
from labapp.models.representations.card import dataset_of
from labapp.papers.interactive_reconstruction.results import (
    CHECKS,
    MIXED,
    PAIRS,
    VALUES,
    VARIANCE,
    Compared,
    Group,
    mean,
    omnibus,
    pair,
    published_name,
    shown_name,
    stars,
)
from labapp.tasks.reconstruction.plan import TASK as RECONSTRUCTION
from labapp.tasks.reconstruction.report.contents import METRICS
from labapp.tasks.reconstruction.report.labels.names import NAME, PAPER
from labapp.tasks.single_dimension.report.contents import SINGLE_METRICS

TRAVERSALS, EXEMPLARS = "single-dimension-traversals", "single-dimension-exemplars"
TASKS = (RECONSTRUCTION, EXEMPLARS, TRAVERSALS)
"""In the order of Table A.3."""
FAMILIES = ("ae", "vae", "ig", "tc", "ss", "gt")
"""From the least understood to the best, by the names that the paper gives models."""
_WHO = ["study", "participant", "session"]


SCORE_METRICS = (
    Metric("post_quiz_difficulty", "Difficulty (after the quiz)", "1–5", 1.0, 2, (1, 5)),
    Metric("mental_demand", "Mental demand", "0–100", limits=(0, 100)),
    Metric("physical_demand", "Physical demand", "0–100", limits=(0, 100)),
    Metric("temporal_demand", "Temporal demand", "0–100", limits=(0, 100)),
    Metric("performance", "Performance", "0 perfect – 100 failure", limits=(0, 100)),
    Metric("effort", "Effort", "0–100", limits=(0, 100)),
    Metric("frustration", "Frustration", "0–100", limits=(0, 100)),
    Metric("raw_tlx", "Raw TLX", "0–100", limits=(0, 100)),
    Metric("weighted_tlx", "Weighted TLX", "0–100", limits=(0, 100)),
    Metric("systematic_plan", "Had a systematic plan", "1–5", 1.0, 2, (1, 5)),
    Metric("random_experimenting", "Experimented at random", "1–5", 1.0, 2, (1, 5)),
    Metric("understood_dimensions", "Understood the dimensions", "1–5", 1.0, 2, (1, 5)),
)
"""What questionnaires say of a stage, by the names of their scores (Table A.3, Figure 9); the
difficulty after the quiz is 6 less the answer to “Stage k was easy”."""


def metrics_of(task: str) -> tuple[Metric, ...]:
    """The metrics of a task's stages, those of the paper's figures first."""
    return (*(METRICS if task == RECONSTRUCTION else SINGLE_METRICS), *SCORE_METRICS)


def in_order(models: Iterable[str]) -> tuple[str, ...]:
    """Those of the paper, by their cards, by number of dimensions and then as `FAMILIES`; others by
    id."""

    def place(model: str) -> tuple[bool, int, int, str]:
        match = re.fullmatch(r"([a-z]+)(\d*)", published_name(model))
        if match is None or match[1] not in FAMILIES:
            return True, 0, 0, model
        return False, int(match[2] or 0), FAMILIES.index(match[1]), model

    return tuple(sorted(set(models), key=place))


def groups_of(counted: Tables) -> list[Group]:
    """The groups by study and task, and by data set where the study declares the paper's analysis;
    counted: the tables of the sessions that count."""
    stages = counted.stages[counted.stages["task"].isin(TASKS)]
    if stages.empty:
        return []
    stages = _with_scores(stages, counted.scores)
    studies = {str(study) for study in stages["study"].unique()}
    declared = {study: follows(counted, study, NAME, PAPER) for study in studies}
    sets = stages["model"].map(dataset_of).where(stages["study"].map(declared), "")
    stages = stages.assign(dataset=sets)
    trials = counted.trials
    trials = trials[(trials["role"] == "stage") & ~trials["excluded"]]
    programs = counted.participants[counted.participants["simulated"]]
    simulated = set(zip(programs["study"], programs["participant"], strict=True))
    result = []
    cells = [
        ((str(study), TASKS.index(str(task)), str(dataset)), own)
        for (study, task, dataset), own in stages.groupby(["study", "task", "dataset"])
    ]
    for (study, place, dataset), own in sorted(cells, key=lambda cell: cell[0]):
        task = TASKS[place]
        parts = list(_meeting(own))
        for models, within in parts:
            some = own[own["model"].isin(models)]
            # Where each meets one model, another than the first does not count.
            first = some.groupby("participant")["model"].transform("first")
            again = (some["model"] != first) & (not within)
            values = _values(some[~again], metrics_of(task))
            left_out = frozenset(
                zip(some.loc[again, "participant"], some.loc[again, "model"], strict=True)
            )
            of_group = (trials["study"] == study) & (trials["task"] == task)
            names = ", ".join(map(shown_name, models))
            apart = f" ({names})" if len(parts) > 1 else ""
            result.append(
                Group(
                    study=study,
                    task=task,
                    name=f"{task}{dataset and ', '}{dataset}{apart}",
                    models=models,
                    within=within,
                    values=values,
                    trials=_without(trials[of_group & trials["model"].isin(models)], left_out),
                    simulated=sum(
                        (study, value) in simulated for value in set(values["participant"])
                    ),
                    first_only=some.loc[again, "participant"].nunique(),
                    follows=declared[study],
                    repeats=repeated_study(counted, study, PAPER),
                    missing=declared_of(counted, study).missing,
                )
            )
    return result


def _meeting(stages: pd.DataFrame) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Sets of models that are compared, those of fewer dimensions first; of each whether within
    participants: at least half of them met several models."""
    met = stages.groupby("participant")["model"].agg(frozenset)
    together = sorted(set(met), key=sorted)
    parts: list[set[str]] = []
    for models in together:
        apart = [part for part in parts if not part & models]
        parts = [*apart, set(models).union(*(part for part in parts if part & models))]
    several = []
    for part in parts:
        own = [len(models) > 1 for models in met if models <= part]
        if 2 * sum(own) >= len(own):
            several.append(part)
    one_each = set().union(*(part for part in parts if part not in several))
    meetings = [(in_order(part), True) for part in several]
    if one_each:
        meetings.append((in_order(one_each), False))
    ordered = in_order(str(model) for part in parts for model in part)
    yield from sorted(meetings, key=lambda meeting: ordered.index(meeting[0][0]))


def _without(trials: pd.DataFrame, left_out: frozenset[tuple[str, str]]) -> pd.DataFrame:
    """left_out: participants and models."""
    counted = [
        both not in left_out for both in zip(trials["participant"], trials["model"], strict=True)
    ]
    return trials[np.array(counted, dtype=bool)].reset_index(drop=True)


def _with_scores(stages: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The stages with a column a score that a questionnaire gave them; NaN where none did."""
    named = [metric.column for metric in SCORE_METRICS]
    asked = scores[scores["about"].notna()][[*_WHO, "about", "instrument", "score", "value"]]
    asked = asked.rename(columns={"about": "stage"})
    # The questionnaire after the quiz, and its statement “Stage k was easy”.
    easy = asked[(asked["instrument"] == "synthetic-end") & (asked["score"] == "stage_easy")]
    difficulty = easy.assign(score=named[0], value=6 - easy["value"])
    both = pd.concat([difficulty, asked[asked["score"].isin(named[1:])]], ignore_index=True)
    wide = both.pivot_table(index=[*_WHO, "stage"], columns="score", values="value", aggfunc="mean")
    wide = wide.reindex(columns=named).reset_index()
    return stages.merge(wide, on=[*_WHO, "stage"], how="left")


def _values(stages: pd.DataFrame, metrics: Iterable[Metric]) -> pd.DataFrame:
    """One row a participant and model, in the metrics' units; metrics without a value are left out.
    A participant who had a model in several stages has the mean of them, and their names with ;
    between them."""
    columns = {
        metric.column: stages[metric.column].astype("float64") * metric.factor
        for metric in metrics
        if stages[metric.column].notna().any()
    }
    frame = stages[["participant", "session", "model", "stage"]].assign(**columns)
    by = frame.groupby(["participant", "model"], sort=True)
    names = by[["session", "stage"]].agg(_listed)
    table = pd.concat([names, by[list(columns)].mean()], axis=1).reset_index()
    return table[["participant", "session", "model", "stage", *columns]]


def _listed(names: pd.Series[str]) -> str:
    return ";".join(dict.fromkeys(names))


SUM_ERROR, MEAN_ERROR = "error_auc_sum", "error_auc_mean"
ONE_WAY, REPEATED = "one-way ANOVA", "repeated-measures ANOVA"
GREENHOUSE_GEISSER = "repeated-measures ANOVA, Greenhouse-Geisser"


def comparisons(group: Group) -> tuple[Compared, ...]:
    """Every metric with a value, in the order of the report, with the paper's tests where the study
    declares its analysis; nothing is corrected here."""
    known = [metric for metric in metrics_of(group.task) if metric.column in group.values]
    return tuple(
        _compared(group, metric, repeated_metric(group.values, metric), group.follows)
        for metric in known
    )


def repeated_metric(values: pd.DataFrame, metric: Metric) -> str:
    """The metric of which this one is a multiple: of pictures of one size the error is, as a sum
    or as a mean over the pixels."""
    if metric.column != MEAN_ERROR or SUM_ERROR not in values:
        return ""
    mean, total = (values[name].to_numpy(np.float64) for name in (MEAN_ERROR, SUM_ERROR))
    if (np.isnan(mean) != np.isnan(total)).any() or not np.nansum(total):
        return ""
    factor = np.nansum(mean) / np.nansum(total)
    same = np.allclose(mean, factor * total, rtol=1e-9, atol=0, equal_nan=True)
    return SUM_ERROR if same else ""


def _compared(group: Group, metric: Metric, repeats: str, tests: bool) -> Compared:
    matrix = matrix_of(group, metric)
    samples = {model: inference.values_of(matrix[:, at]) for at, model in enumerate(group.models)}
    rows = [_values_row(group, metric, model, own) for model, own in samples.items()]
    if tests and sum(sample.size > 0 for sample in samples.values()) > 1:
        made = list((_within if group.within else _between)(group.models, matrix))
        rows += [replace(row, ours=True) if row.ours is None else row for row in made]
        if group.within and bool(np.isnan(matrix).any()):
            rows.append(replace(mixed.wald(matrix), item=MIXED, ours=True, n=len(matrix)))
    about: Row = {
        "study": group.study,
        "design": f"{'within' if group.within else 'between'} participants",
        "group": group.name,
        "quantity": metric.column,
        "unit": metric.unit,
    }
    compared = Compared(metric, tuple(replace(row, **about) for row in rows), repeats)
    return replace(compared, rows=tuple(_of_paper(group, compared, row) for row in compared.rows))


def _of_paper(group: Group, compared: Compared, row: Statistic) -> Statistic:
    """With the stars, and what the paper printed, of a test that it makes too."""
    if row.ours or row.item not in (VARIANCE, PAIRS):
        return row
    printed = (
        omnibus(group, compared.metric)
        if row.item == VARIANCE
        else pair(group, row.model, row.compared_with, compared.metric)
    )
    shown = ", ".join(each.said for each in printed)
    return replace(row, stars=stars(row.p, compared.smallest(row)), published=shown)


def corrected(compared: Compared, n_tests: int) -> Compared:
    """With Bonferroni's correction over so many tests."""
    rows = []
    for row in compared.rows:
        if not row.ours and row.item in (VARIANCE, PAIRS):
            row = replace(row, n_tests=n_tests, counted=row.p is not None and not compared.repeats)
            if row.p is not None:
                p = min(1.0, row.p * n_tests)
                enough = compared.smallest(row) >= SMALLEST
                row = replace(row, p_corrected=p, significant=p < 0.05 and enough)
        rows.append(row)
    return replace(compared, rows=tuple(rows))


def matrix_of(group: Group, metric: Metric) -> Matrix:
    """Values of shape (participants with a value, models); NaN where there is none."""
    wide = group.values.pivot_table(
        index="participant", columns="model", values=metric.column, dropna=False
    ).reindex(columns=list(group.models))
    return wide.dropna(how="all").to_numpy(np.float64)


def _values_row(group: Group, metric: Metric, model: str, values: Values) -> Statistic:
    printed = mean(group, model, metric)
    row = Statistic(
        item=VALUES, model=model, test="mean", ours=False, n=values.size,
        published="" if printed is None else printed.spread,
    )  # fmt: skip
    if not values.size:
        return row
    return replace(
        row, mean=float(values.mean()), median=float(np.median(values)), sd=inference.sd(values),
        sd_population=float(values.std()),
    )  # fmt: skip


def _within(models: tuple[str, ...], values: Matrix) -> Iterator[Statistic]:
    """The analysis of variance is of the participants who have every model that has values, a t
    test of those who have both models."""
    there = np.asarray(np.isfinite(values).any(axis=0))
    models = tuple(compress(models, there))
    values = values[:, there]
    whole = values[np.isfinite(values).all(axis=1)]
    model = anova.of_one_factor(whole)
    of = {"n": len(whole), "n_left_out": len(values) - len(whole)}
    yield from _variance(model, REPEATED, inference.friedman(whole), of)
    normal = []
    for first, other in combinations(range(len(models)), 2):
        both = values[np.isfinite(values[:, [first, other]]).all(axis=1)]
        own = both[:, [first, other]].T
        apart = own[0] - own[1]
        test = inference.paired(*own)
        names: Row = {"model": models[first], "compared_with": models[other]}
        effect, ranks = inference.d_z(apart), inference.signed_rank(apart)
        yield from _pair(test, inference.mean(apart), effect, ranks, names | _sizes(own))
        normal.append(replace(inference.normality(apart), item=CHECKS, **names))
    if len(whole):
        yield _normality(model)
    if len(models) > 2:
        why = FEW if isinstance(model, str) else SAME
        term = None if isinstance(model, str) else model.terms()[0]
        sphericity = (term and term.sphericity) or outcome(MAUCHLY, why=why)
        yield replace(sphericity, item=CHECKS)
        without = (term and term.corrected) or outcome(GREENHOUSE_GEISSER, why=why)
        yield replace(without, item=CHECKS, test=GREENHOUSE_GEISSER)
    yield from normal


def _variance(
    model: anova.Variance | str, name: str, ranks: Statistic, of: Row
) -> Iterator[Statistic]:
    """The analysis of variance, generalised eta squared, and the test by ranks."""
    of = of | {"item": VARIANCE}
    if isinstance(model, str):
        yield replace(outcome(name, why=model), ours=False, **of)
    else:
        (term,) = model.terms()
        named = inference.PLAIN if name == ONE_WAY and term.plain.effect_name else None
        plain = replace(term.plain, effect_name=named or term.plain.effect_name)
        yield replace(plain, test=name, ours=False, **of)
        if term.generalised is not None:
            yield replace(term.generalised, **of)
    yield replace(ranks, **of)


def _normality(model: anova.Variance | str) -> Statistic:
    values = np.empty(0) if isinstance(model, str) else model.residuals()
    return replace(inference.normality(values), item=CHECKS)


def _between(models: tuple[str, ...], values: Matrix) -> Iterator[Statistic]:
    named = {
        model: inference.values_of(values[:, at])
        for at, model in enumerate(models)
        if np.isfinite(values[:, at]).any()
    }
    samples = list(named.values())
    groups = np.repeat(np.arange(len(samples)), [sample.size for sample in samples])
    model = anova.of_one_factor(np.concatenate(samples), groups)
    of = {"n": len(groups), "n_left_out": 0}
    yield from _variance(model, ONE_WAY, inference.kruskal(samples), of)
    for first, other in combinations(named, 2):
        own = named[first], named[other]
        apart = float(own[0].mean() - own[1].mean())
        effect, ranks = inference.hedges_g(*own), inference.rank_sum(*own)
        names = {"model": first, "compared_with": other} | _sizes(own)
        yield from _pair(inference.two_sample(*own), apart, effect, ranks, names)
    yield _normality(model)
    yield replace(inference.same_variances(samples), item=CHECKS)


def _sizes(samples: Iterable[Values]) -> dict[str, int]:
    first, other = samples
    return {"n": first.size, "n_2": other.size}


def _pair(
    test: Statistic,
    difference: float | None,
    effect: Effect | None,
    ranks: Statistic,
    of: Row,
) -> Iterator[Statistic]:
    """The t test of two models with its effect, and the test by ranks."""
    size = {} if effect is None else effect.cells
    yield replace(test, item=PAIRS, ours=False, difference=difference, **size, **of)
    yield replace(ranks, item=PAIRS, **of)
