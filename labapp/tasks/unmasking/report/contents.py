"""What the report has of unmasked pictures: the tables (1, 2) and figures (3 to 9) of paper 004;
ours are 10 psychometric functions, 11 tests between methods, 12 the mixed logistic model.

Bias (section 4.4, figure 9): only images of which the model's prediction is wrong are looked at.
The paper does not say whether that is the prediction for the whole image or for the masked one: the
first is what is explained, and our default; the second is a second panel.

Ranks (section 4.3, figure 8): for each image and mask, methods are ranked by the mean accuracy over
participants, and by the model's cross-entropy on the masked picture. Rank 1 is best in both; ties
have the average of their ranks. The paper does not say which end is best: the rank is printed with
it.

Tests between methods (the paper names none): the unit of Friedman's and Wilcoxon's is a
participant's accuracy with a method, "I don't know" counted as not correct, over all masks and at
each mask. Participants who lack a method are left out there. The mixed logistic model is of correct
annotations (with "I don't know" as not correct) on method and the natural logarithm of the
percentage shown, with random intercepts of participants and of images, by maximum likelihood;
intervals are estimate ± 1.96 standard errors. Annotations of one sequence are taken as independent
beyond that, which they hardly are: the intervals are narrower than those over participants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from labapp.analysis import inference, mixed_logistic, track_sections
from labapp.analysis.bootstrap import (
    NORMAL,
    Float64,
    Interval,
    divide_or_nan,
    interval,
    ratio,
    sum_draws,
    weights,
)
from labapp.analysis.design.anova import correct_family
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.analysis.task_records import Row
from labapp.analysis.task_report import ReportedStudy, TaskReport
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.listing import records
from labapp.base.report.page import Html
from labapp.models.stimuli.manifest import Confusion
from labapp.tasks.unmasking.plan import TASK
from labapp.tasks.unmasking.report import curves, sections
from labapp.tasks.unmasking.report import published as paper
from labapp.tasks.unmasking.report.curves import (
    IMAGE,
    AnnotationCells,
    Bool,
    by_mask,
    columns,
    of_times,
    places_of,
    truths,
)
from labapp.tasks.unmasking.report.fits import fits
from labapp.tasks.unmasking.report.results import (
    AGREED,
    DONT_KNOW,
    LABEL,
    MASKED,
    MODEL,
    OTHER,
    PEOPLE,
    WHOLE,
    AnnotationGroup,
    Bias,
    MethodComparisons,
    Ranks,
    UnmaskingResults,
)
from labapp.tasks.unmasking.report.sections import rows_of

ASKED = track_sections.AskedAbout(TASK, (TASK,), "Method", "% of pixels shown")
FIXED = "Unmasked images at fixed levels"
"""What is defined of stages in which no rule chose the level."""
DEFINITIONS = {
    "Unmasked images": (
        "An annotation is a response to one masked image; a label names a class. Reaction time: "
        "from the first painted frame of the stimulus to the time stamp of the input event; no "
        "reaction times are trimmed."
    ),
    FIXED: (
        "Accuracy: correct labels divided by all annotations (“I don't know” is not correct); "
        "without “I don't know”, correct labels divided by labels. The model alone: whether its "
        "prediction for the masked image is the true class, and its cross-entropy there. Ranks: "
        "for each image and mask, the methods are ranked by the participants' mean accuracy and "
        "by the model's cross-entropy; 1 is best, and ties get their average rank. Bias: for "
        "images that the model gets wrong (whole or masked), the share of annotations that "
        "repeat its prediction, mean over images. Threshold: the percentage at which a "
        "psychometric function is half-way between its guess and lapse rates. Intervals: 95 %, "
        "percentiles of 2,000 bootstrap draws of participants (for their ranks, ± 1.96 standard "
        "deviations of the draws), or of images for the model alone. All of it is in the tables "
        "annotations, masked_predictions and statistics."
    ),
}


def findings(counted: Tables) -> tuple[UnmaskingResults, ...]:
    """What each study with unmasked pictures among these sessions, which all count, says. counted:
    `Tables.included()`. Random draws are seeded, so that the same tables give the same
    intervals."""
    return tuple(
        UnmaskingResults(
            group=group,
            labels=curves.labels(cells),
            labels_by_method=curves.labels_by_method(cells),
            times=curves.times(cells),
            accuracy=curves.accuracy(cells),
            model=accuracy(group),
            whole=whole(group),
            ranks=ranks(group, cells),
            bias=bias(cells),
            classes=classes(group),
            report=report(group),
            fits=fits(cells),
            comparisons=comparisons(cells),
        )
        for group in groups_of(counted)
        for cells in [AnnotationCells.of(group)]
    )


class UnmaskingReport(TaskReport[tuple[UnmaskingResults, ...]]):
    activities: ClassVar = {TASK: "named what masked pictures showed"}
    thresholds = ASKED.unit
    tasks = (TASK,)
    definitions = DEFINITIONS

    def methods(
        self, study: ReportedStudy, findings: tuple[UnmaskingResults, ...]
    ) -> Iterator[str]:
        yield from track_sections.methods(ASKED, study.counted)

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> tuple[UnmaskingResults, ...]:
        return findings(counted)

    def defined(self, counted: Tables, findings: tuple[UnmaskingResults, ...]) -> Mapping[str, str]:
        return {name: text for name, text in DEFINITIONS.items() if findings or name != FIXED}

    def statistics(self, findings: tuple[UnmaskingResults, ...]) -> Iterator[Mapping[str, Any]]:
        for results in findings:
            yield from rows(results)

    def sections(
        self, study: ReportedStudy, findings: tuple[UnmaskingResults, ...]
    ) -> Iterator[Html]:
        yield from sections.of_study(study.name, findings, study.anchor)
        yield from track_sections.show(ASKED, study.counted, study.anchor)

    def plates(
        self, counted: Tables, findings: tuple[UnmaskingResults, ...]
    ) -> Iterator[ReportFigure]:
        """Those of each group; their names tell groups apart where there are several."""
        for number, results in enumerate(findings, start=1):
            apart = f"-{number}-{results.group.study}" if len(findings) > 1 else ""
            for plate in results.drawn:
                yield replace(plate, name=plate.name.replace(TASK, f"{TASK}{apart}", 1))
        yield from track_sections.plates(ASKED, counted)


REPORT = UnmaskingReport()


_SET = ("study", "stimuli", "manifest_sha256", "classifier")
_KEY = (*_SET, "fill", "sign")


def groups_of(counted: Tables) -> list[AnnotationGroup]:
    """The groups by study; counted: the tables of the sessions that count. A group of which nobody
    counts has what the model makes of its pictures all the same."""
    chosen = counted.annotations["track"].notna()
    adaptive = _by_key(counted.annotations[chosen], _KEY)
    annotations = _by_key(counted.annotations[~chosen], _KEY)
    predictions = _by_key(counted.masked_predictions, _KEY)
    pool = _by_key(counted.pool, _SET)
    none = counted.annotations[:0]
    groups = [
        _group(
            annotations.get(key, none),
            predictions.get(key, counted.masked_predictions[:0]),
            pool.get(key[: len(_SET)], counted.pool[:0]),
        )
        for key in sorted({*annotations, *predictions})
        # Shares of right answers say nothing where a rule keeps them at its target: see `tracks`.
        if key not in adaptive or (annotations.get(key, none)["role"] == "stage").any()
    ]
    return [_name_group(group, groups) for group in groups]


def _by_key(frame: pd.DataFrame, names: Sequence[str]) -> dict[tuple[str, ...], pd.DataFrame]:
    """The rows that have the same in these columns; what is missing is empty text."""
    keys = [frame[name].fillna("").astype(str) for name in names]
    return {
        tuple(map(str, key)): rows.reset_index(drop=True)
        for key, rows in frame.groupby(keys, sort=True)
    }


def _group(every: pd.DataFrame, predictions: pd.DataFrame, pool: pd.DataFrame) -> AnnotationGroup:
    shown = predictions if len(predictions) else every
    about = shown.iloc[0]
    named = shown.sort_values("method_number").drop_duplicates("method")
    classifier = about["classifier"]
    return AnnotationGroup(
        study=str(about["study"]),
        name=str(about["study"]),
        stimuli=str(about["stimuli"]),
        manifest_sha256=str(about["manifest_sha256"]),
        classifier=None if pd.isna(classifier) else str(classifier),
        accuracy=float(about["model_accuracy"]),
        classes=tuple(str(about["classes"]).split(";")),
        methods=dict(zip(named["method"], named["method_name"], strict=True)),
        percents=tuple(sorted(float(percent) for percent in set(shown["percent"]))),
        fill=str(about["fill"]),
        sign=str(about["sign"]),
        grid=(int(about["grid_rows"]), int(about["grid_columns"])),
        pool=tuple(
            Confusion(truth=str(truth), prediction=str(prediction), count=int(count))
            for truth, prediction, count in zip(
                pool["truth"], pool["prediction"], pool["count"], strict=True
            )
        ),
        annotations=every[~every["excluded"]].reset_index(drop=True),
        every_annotation=every,
        predictions=predictions,
    )


def _name_group(group: AnnotationGroup, others: Sequence[AnnotationGroup]) -> AnnotationGroup:
    """Told apart from other groups of its study."""
    same = [other for other in others if other.study == group.study]
    if len(same) == 1:
        return group
    parts = [group.stimuli, f"fill {group.fill}", f"scores {group.sign}"]
    ways = {(other.stimuli, other.fill, other.sign) for other in same}
    if len(ways) < len(same):
        parts.append(f"manifest {group.manifest_sha256[:8]}")
    return replace(group, name=", ".join([group.study, *parts]))


def bias(cells: AnnotationCells) -> Bias:
    """Figure 9; see `Bias`."""
    shares, times = [], []
    for wrong, correct, follows in (
        (WHOLE, "correct_prediction", "follows_prediction"),
        (MASKED, "correct_prediction_masked", "follows_prediction_masked"),
    ):
        right = cells.rows[correct]
        of_wrong = right.notna().to_numpy(np.bool_) & ~truths(right)
        agreed = truths(cells.rows[follows])
        shares.append(_shares(cells, wrong, of_wrong, agreed))
        answers = {AGREED: agreed, OTHER: cells.label & ~agreed, DONT_KNOW: ~cells.label}
        about = pd.DataFrame({"wrong": wrong, "answer": list(answers)})
        taken = of_times(cells, [of_wrong & answer for answer in answers.values()])
        times.append(pd.concat([about, taken], axis=1))
    return Bias(pd.concat(shares, ignore_index=True), pd.concat(times, ignore_index=True))


def _shares(cells: AnnotationCells, wrong: str, of_wrong: Bool, agreed: Bool) -> pd.DataFrame:
    """The share of each image, then their mean, so that all images weigh alike."""
    over, under = cells.sums(agreed, of=of_wrong), cells.sums(np.ones(len(agreed)), of=of_wrong)
    value = _mean_of_images(over.sum(axis=0)[None], under.sum(axis=0)[None])[0]
    draws = _mean_of_images(sum_draws(cells.drawing, over), sum_draws(cells.drawing, under))
    frame = by_mask(cells.percents, cells.methods)
    frame.insert(0, "wrong", wrong)
    frame["n_images"] = (under.sum(axis=0) > 0).sum(axis=0).ravel()
    frame["n"] = under.sum(axis=(0, 1)).ravel().astype(np.int64)
    return frame.assign(**columns(interval(value, draws), "share", "low", "high"))


def _mean_of_images(over: Float64, under: Float64) -> Float64:
    """over, under : shape (draws, images, methods, masks)."""
    shares = divide_or_nan(over, under)
    known = np.isfinite(shares).sum(axis=1).astype(np.float64)
    return divide_or_nan(np.nan_to_num(shares).sum(axis=1), known)


KENDALL, SPEARMAN = "Kendall's tau-b", "Spearman's rho"
OVERALL, UNITS = "overall", "units"
BATCH = 100
"""Draws that are ranked at once, for memory."""


def rank_scores(scores: Float64) -> Float64:
    """Ranks along the last axis: float64, 1 for the greatest, ties with the average of their ranks,
    all NaN if one of the scores is, and of one score alone: there is nothing to rank."""
    first, other = scores[..., :, None], scores[..., None, :]
    above = (other > first).sum(axis=-1)
    same = (other == first).sum(axis=-1)
    ranks: Float64 = above + (same + 1) / 2
    ranks[~np.isfinite(scores).all(axis=-1)] = np.nan
    return ranks if scores.shape[-1] > 1 else np.full_like(ranks, np.nan)


def ranks(group: AnnotationGroup, cells: AnnotationCells) -> Ranks:
    """Figure 8; see `Ranks`."""
    model = rank_scores(-np.moveaxis(on_grid(group, "cross_entropy_masked"), 1, -1))
    people = _People(cells, model)
    methods = tuple(group.methods)
    overall, by_mask = [], []
    for who, units, low_high in (
        (PEOPLE, people.ranks, (people.overall, people.by_mask)),
        (MODEL, model, _of_images(model)),
    ):
        known = np.isfinite(units[..., 0])
        for place, method in enumerate(methods):
            about = {"who": who, "method": method}
            overall.append({**about, "n": int(known.sum()), **_at(low_high[0], place)})
            by_mask += [
                {
                    **about,
                    "percent": percent,
                    "n": int(known[:, mask].sum()),
                    **_at(low_high[1], mask, place),
                }
                for mask, percent in enumerate(group.percents)
            ]
    names = ["who", "method", "n", "rank", "low", "high"]
    return Ranks(
        pd.DataFrame(overall, columns=names),
        pd.DataFrame(by_mask, columns=[*names[:2], "percent", *names[2:]]),
        pd.DataFrame(_agreements(people, model)),
    )


def _at(interval: Interval, *place: int) -> dict[str, float]:
    return {
        "rank": float(interval.value[place]),
        "low": float(interval.low[place]),
        "high": float(interval.high[place]),
    }


def _mean(units: Float64, axis: tuple[int, ...]) -> Float64:
    """Means of what is known; NaN if nothing is."""
    known = np.isfinite(units)
    return divide_or_nan(
        np.nan_to_num(units).sum(axis=axis), known.sum(axis=axis).astype(np.float64)
    )


class _People:
    """ranks : of each unit, shape (images, masks, methods). overall, by_mask : average ranks with
    their intervals; draws : average ranks of each draw, shape (draws, methods); agreement : mean
    correlation with the model's ranks of each draw, by coefficient, shape (draws,)."""

    def __init__(self, cells: AnnotationCells, model: Float64) -> None:
        """model : its ranks of each unit."""
        right, count = cells.sums(cells.correct), cells.counts
        self.ranks = _by_accuracy(right, count, np.ones((1, len(cells.participants))))[0]
        methods, masks = len(cells.methods), len(cells.percents)
        overall, by_mask = [np.empty((0, methods))], [np.empty((0, masks, methods))]
        agreement = {name: [np.empty(0)] for name in (KENDALL, SPEARMAN)}
        for start in range(0, len(cells.drawing), BATCH):
            some = _by_accuracy(right, count, cells.drawing[start : start + BATCH])
            overall.append(_mean(some, (1, 2)))
            by_mask.append(_mean(some, (1,)))
            for name, means in agreement.items():
                means.append(_mean(correlation(some, model[None], name), (1, 2)))
        self.draws = np.concatenate(overall)
        limits = (1, methods)
        self.overall = _around(_mean(self.ranks, (0, 1)), self.draws, limits)
        self.by_mask = _around(_mean(self.ranks, (0,)), np.concatenate(by_mask), limits)
        self.agreement = {name: np.concatenate(means) for name, means in agreement.items()}


def _around(value: Float64, draws: Float64, limits: tuple[float, float]) -> Interval:
    """A value ± 1.96 standard deviations of its draws, within limits.

    Percentiles will not do for ranks: each draw adds noise of its own, by which methods change
    places, so that the ranks of draws lie nearer to the middle than those of the sample.
    """
    if not len(draws):
        return interval(value, draws)
    known = np.ma.masked_invalid(draws)
    half = NORMAL * np.ma.filled(known.std(axis=0, ddof=1), np.nan)
    return Interval(value, np.clip(value - half, *limits), np.clip(value + half, *limits))


def _by_accuracy(right: Float64, count: Float64, drawing: Float64) -> Float64:
    """Ranks by mean accuracy: shape (draws, images, masks, methods). right, count : see
    `Cells.sums`."""
    shares = divide_or_nan(sum_draws(drawing, right), sum_draws(drawing, count))
    return rank_scores(np.moveaxis(shares, 2, -1))


def _of_images(units: Float64) -> tuple[Interval, Interval]:
    """Average ranks overall and by mask, with intervals over images."""
    drawing = weights(len(units))
    known = np.isfinite(units).astype(np.float64)
    given = np.nan_to_num(units)
    by_mask = divide_or_nan(sum_draws(drawing, given), sum_draws(drawing, known))
    overall = divide_or_nan(
        sum_draws(drawing, given.sum(axis=1)), sum_draws(drawing, known.sum(axis=1))
    )
    return interval(_mean(units, (0, 1)), overall), interval(_mean(units, (0,)), by_mask)


def correlation(values: Float64, other: Float64, coefficient: str) -> Float64:
    """Kendall's tau-b or Spearman's rho of ranks along the last axis; NaN if one of the two does
    not vary, or is not there."""
    if coefficient == KENDALL:
        first, second = (np.sign(x[..., :, None] - x[..., None, :]) for x in (values, other))
        axes: tuple[int, ...] = (-2, -1)
    else:
        first, second = (x - x.mean(axis=-1, keepdims=True) for x in (values, other))
        axes = (-1,)
    under = np.sqrt((first**2).sum(axis=axes) * (second**2).sum(axis=axes))
    result = divide_or_nan((first * second).sum(axis=axes), np.nan_to_num(under))
    result[np.isnan(under)] = np.nan
    return result


def _agreements(people: _People, model: Float64) -> Iterator[dict[str, object]]:
    its = _order(_mean(model, (0, 1))[None])
    for coefficient in (KENDALL, SPEARMAN):
        value = correlation(_order(people.overall.value[None]), its, coefficient)[0]
        overall = interval(value, correlation(_order(people.draws), its, coefficient))
        units = correlation(people.ranks, model, coefficient)
        within = _around(_mean(units, (0, 1)), people.agreement[coefficient], (-1, 1))
        for over, n, agreed in (
            (OVERALL, its.size, overall),
            (UNITS, int(np.isfinite(units).sum()), within),
        ):
            known = np.isfinite(agreed.value)
            yield {
                "over": over,
                "coefficient": coefficient,
                "n": n,
                "value": float(agreed.value),
                "low": float(agreed.low),
                "high": float(agreed.high),
                "why": "" if known else "one of the two rankings has only ties, or is not there",
            }


def _order(averages: Float64) -> Float64:
    """Average ranks as ranks. Averages of the same ranks in another order may differ by rounding:
    that is a tie."""
    return rank_scores(-np.round(averages, 9))


SHARE, MS, PHOTOS = "0-1", "ms", "photos"
FIT, MIXED = "maximum likelihood", "mixed logistic model"
_ENDS = ("low", "high")


def rows(result: UnmaskingResults) -> list[Row]:
    about = {"study": result.group.name, "design": TASK}
    makers = (_model_tables, _people, _model, _ranks, _bias, _fits, _tests)
    return [row | about for make in makers for row in make(result)]


def _model_tables(result: UnmaskingResults) -> Iterator[Row]:
    for row in records(result.classes):
        if row["n"] is not None:
            printed = paper.IMAGES.get(row["class"])
            yield _stat(1, f"photos of {row['class']}", PHOTOS, "count", row["n"], n=row["n"]) | {
                "published": None if printed is None else str(printed)
            }
    for row in rows_of(result.report):
        known = paper.MODEL.get(row["class"])
        for name in ("precision", "recall", "f1"):
            of = row["class"] or "average weighted by class"
            yield _stat(2, f"{name}, {of}", SHARE, "share", row[name], n=row["support"]) | {
                "published": None if known is None else f"{getattr(known, name):.2f}"
            }


def _people(result: UnmaskingResults) -> Iterator[Row]:
    """Figures 3 to 6."""
    for row in rows_of(result.labels):
        printed = None
        if row["percent"] == paper.LABELS_AT:
            asked = paper.LABELS + paper.DONT_KNOW
            printed = f"{paper.LABELS / asked:.3f} ({paper.LABELS:,} of {asked:,})"
        yield _of_people(result, row, 3, "a class is named", SHARE, "share") | {
            "published": printed
        }
    for row in rows_of(result.labels_by_method):
        yield _of_people(result, row, 4, "a class is named", SHARE, "share")
    for row in rows_of(result.times):
        for kind in ("mean", "median"):
            ends = (f"{kind}_low", f"{kind}_high")
            yield _of_people(result, row, 5, "reaction time", MS, kind, kind, ends)
    for row in rows_of(result.accuracy):
        name = "correct, “I don't know” is not"
        yield _of_people(result, row, 6, name, SHARE, "share")
        labelled = row | {"n": row["n_labels"]}
        name, ends = "correct, of named classes", ("labels_low", "labels_high")
        yield _of_people(result, labelled, 6, name, SHARE, "share", "share_of_labels", ends)


def _model(result: UnmaskingResults) -> Iterator[Row]:
    """Figure 7."""
    for row in rows_of(result.whole):
        printed = paper.MODEL[""].recall
        whole = _stat(7, "model correct, whole images", SHARE, "share", row["share"], n=row["n"])
        yield whole | {"published": f"{printed:.2f} (all {paper.MODEL[''].support} images)"}
    for row in rows_of(result.model):
        yield _stat(7, "model correct, masked images", SHARE, "share", row["share"], row)
        name = "model's cross-entropy, masked images"
        yield _stat(7, name, "nats", "mean", row["cross_entropy"], row) | dict.fromkeys(_ENDS)


def _ranks(result: UnmaskingResults) -> Iterator[Row]:
    """Figure 8."""
    for frame in (result.ranks.overall, result.ranks.by_mask):
        for row in rows_of(frame):
            name = f"rank by {row['who']}, 1 is best"
            yield _stat(8, name, "rank", "mean", row["rank"], row)
    for row in rows_of(result.ranks.agreement):
        name = f"ranks by people and model, {row['over']}"
        yield _stat(8, name, "", row["coefficient"], None, row) | {
            "statistic": row["value"],
            "ours": True,
        }


def _bias(result: UnmaskingResults) -> Iterator[Row]:
    """Figure 9."""
    for row in rows_of(result.bias.shares):
        name = f"wrong prediction named, {row['wrong']} image"
        yield _of_people(result, row, 9, name, SHARE, "mean of the images' shares", "share")
    for row in rows_of(result.bias.times):
        for kind in ("mean", "median"):
            name = f"reaction time, wrong prediction of the {row['wrong']} image: {row['answer']}"
            ends = (f"{kind}_low", f"{kind}_high")
            yield _of_people(result, row, 9, name, MS, kind, kind, ends)


def _fits(result: UnmaskingResults) -> Iterator[Row]:
    """Empty if there is no fit, or its threshold means nothing."""
    for row in rows_of(result.fits.pooled):
        of = "a class is named" if row["of"] == LABEL else "correct"
        for name, unit in (
            ("threshold", "% shown"),
            ("slope", "logits per ln %"),
            ("guess", SHARE),
            ("lapse", SHARE),
        ):
            rate = " rate" if unit == SHARE else ""
            ends = (f"{name}_low", f"{name}_high")
            fitted = _stat(10, f"{name}{rate}, {of}", unit, FIT, row[name], row, ends=ends)
            nothing = dict.fromkeys(("mean", *_ENDS)) if row["why"] else {}
            yield fitted | {"n_participants": row["n_participants"], "ours": True} | nothing


def _tests(result: UnmaskingResults) -> Iterator[Row]:
    for test in (*result.comparisons.friedman, *result.comparisons.pairs):
        yield test.row()
    for row in rows_of(result.comparisons.mixed):
        effect = _stat(12, f"correct: {row['effect']}", "log odds", MIXED, row["estimate"], row)
        yield effect | {"sd": row["sd"], "ours": True, "n_participants": result.group.participants}


def _of_people(
    result: UnmaskingResults,
    row: Mapping[str, Any],
    item: int,
    name: str,
    unit: str,
    test: str,
    value: str = "share",
    ends: tuple[str, str] = _ENDS,
) -> Row:
    made = _stat(item, name, unit, test, row[value], row, ends=ends)
    return made | {"n_participants": result.group.participants}


def _stat(
    item: int,
    name: str,
    unit: str,
    test: str,
    value: float | None,
    given: Mapping[str, Any] | None = None,
    *,
    n: int | None = None,
    ends: tuple[str, str] = _ENDS,
) -> Row:
    """given: a row of a frame, whose method, mask, n and interval are taken where it has them."""
    row = given or {}
    low, high = ends
    return {
        "item": str(item),
        "quantity": name,
        "unit": unit,
        "test": test,
        "ours": False,
        "n": int(row["n"]) if n is None else int(n),
        "mean": value,
        "method": row.get("method"),
        "percent": row.get("percent"),
        "low": row.get(low),
        "high": row.get(high),
    }


FEW_METHODS = "Friedman's test is of three methods or more"
FEW_PEOPLE = "fewer than two participants have all methods"
FEW_PAIRS = "fewer than two participants have both methods"
NO_DIFFERENCE = "the methods do not differ for any participant"


def comparisons(cells: AnnotationCells) -> MethodComparisons:
    right, count = cells.sums(cells.correct).sum(IMAGE), cells.counts.sum(IMAGE)
    overall: dict[float | None, Float64] = {
        None: divide_or_nan(right.sum(axis=2), count.sum(axis=2))
    }
    shares = divide_or_nan(right, count)
    by_mask: dict[float | None, Float64] = {
        percent: shares[..., place] for place, percent in enumerate(cells.percents)
    }
    together = _family(cells.methods, overall, "all masks together")
    apart = _family(cells.methods, by_mask, "by mask")
    effects, why = fit_mixed_model(cells)
    friedman, pairs = (first + other for first, other in zip(together, apart, strict=True))
    return MethodComparisons(friedman, pairs, effects, why)


def _family(
    methods: Sequence[str], shares: Mapping[float | None, Float64], masks: str
) -> tuple[list[Statistic], list[Statistic]]:
    """Of one family. shares: accuracy by mask, each of shape (participants, methods)."""
    over_all, pairs = [], []
    for percent, own in shares.items():
        over_all.append(replace(_friedman(own), percent=percent))
        for first, other in combinations(range(len(methods)), 2):
            test = _pair(own[:, first] - own[:, other], methods[other])
            pairs.append(replace(test, percent=percent, method=methods[first]))
    return (
        correct_family(over_all, "holm", f"Friedman, {masks}, holm"),
        correct_family(pairs, "holm", f"pairs, {masks}, holm"),
    )


def _friedman(shares: Float64) -> Statistic:
    """shares : shape (participants, methods)."""
    complete = shares[np.isfinite(shares).all(axis=1)]
    few = FEW_PEOPLE if len(complete) < 2 else NO_DIFFERENCE
    why = FEW_METHODS if shares.shape[1] < 3 else few
    return _make_comparison_row(inference.friedman(complete), len(complete), why)


def _pair(differences: Float64, other: str) -> Statistic:
    known = inference.values_of(differences)
    why = FEW_PAIRS if known.size < 2 else NO_DIFFERENCE
    test = _make_comparison_row(inference.signed_rank(known), known.size, why)
    quantity = f"{test.quantity}: less that with {other}"
    return replace(test, mean=inference.mean(known), compared_with=other, quantity=quantity)


def _make_comparison_row(test: Statistic, n: int, why: str) -> Statistic:
    """A row for a comparison of methods. why: the reason, if there is no test."""
    return replace(
        test, item="11", quantity="correct, “I don't know” is not", unit=SHARE, ours=True, n=n,
        n_participants=n, why=why if test.p is None else "",
    )  # fmt: skip


INTERCEPT, LOG_PERCENT = "intercept", "log percent"
FEW = "it needs two participants, two images and two masks"
FLAT = "all annotations are correct, or none is"
FAILED = "the effects have no finite value: in a part of the annotations all or none are correct"


def fit_mixed_model(cells: AnnotationCells) -> tuple[pd.DataFrame, str]:
    """Fixed effects in log odds, and why there are none. The first method, and the middle of the
    masks' logarithms, are what the intercept is of."""
    none = pd.DataFrame(columns=["effect", "n", "estimate", "sd", "low", "high"])
    person, image, method, mask = cells.where
    if min(np.unique(factor).size for factor in (person, image, mask)) < 2:
        return none, FEW
    if cells.correct.all() or not cells.correct.any():
        return none, FLAT
    x = np.log(np.array(cells.percents))
    there = np.unique(method)
    fixed = np.column_stack(
        [np.ones(method.size), *(method == index for index in there[1:]), (x - x.mean())[mask]]
    ).astype(np.float64)
    names = [INTERCEPT, *(cells.methods[index] for index in there[1:]), LOG_PERCENT]
    fitted = mixed_logistic.fit(cells.correct.astype(np.float64), fixed, [person, image])
    if fitted is None or not all(map(fitted.finite, range(len(names)))):
        return none, FAILED
    return pd.DataFrame(
        {
            "effect": names,
            "n": method.size,
            "estimate": fitted.mean,
            "sd": fitted.sd,
            "low": fitted.mean - NORMAL * fitted.sd,
            "high": fitted.mean + NORMAL * fitted.sd,
        }
    ), ""


def on_grid(group: AnnotationGroup, column: str) -> Float64:
    """A column of the masked predictions: float64, shape (images, methods, masks); NaN if there
    is no output of the model."""
    rows = group.predictions
    values = np.full((len(group.images), len(group.methods), len(group.percents)), np.nan)
    values[places_of(group, rows)] = rows[column].to_numpy(np.float64, na_value=np.nan)
    return values


def accuracy(group: AnnotationGroup) -> pd.DataFrame:
    """Figure 7: see `Found.model`. Intervals are over images."""
    right = on_grid(group, "correct_prediction_masked")
    loss = on_grid(group, "cross_entropy_masked")
    known = np.isfinite(right)
    frame = by_mask(group.percents, tuple(group.methods))
    frame["n"] = known.sum(axis=0).ravel()
    shares = ratio(weights(len(right)), np.nan_to_num(right), known.astype(np.float64))
    frame = frame.assign(**columns(shares, "share", "low", "high"))
    losses = divide_or_nan(np.nan_to_num(loss).sum(axis=0), known.sum(axis=0).astype(np.float64))
    return frame.assign(cross_entropy=losses.ravel())


def whole(group: AnnotationGroup) -> pd.DataFrame:
    """The model on the whole pictures of the study: see `Found.whole`."""
    images = group.predictions.drop_duplicates("image")
    right = truths(images["correct_prediction"])
    share = float(right.mean()) if len(right) else np.nan
    return pd.DataFrame({"n": [len(images)], "share": [share]})


def classes(group: AnnotationGroup) -> pd.DataFrame:
    """Table 1: see `Found.classes`."""
    images = group.predictions.drop_duplicates("image")
    shown = images["truth"].value_counts()
    table = confusion(group)
    return pd.DataFrame(
        {
            "class": list(group.classes),
            "n": pd.array(table.sum(axis=1) if group.pool else [None] * len(table), "Int64"),
            "n_shown": [int(shown.get(class_, 0)) for class_ in group.classes],
        }
    )


def confusion(group: AnnotationGroup) -> Float64:
    """Photos of the pool by true and predicted class: float64, shape (classes, classes)."""
    table = np.zeros((len(group.classes), len(group.classes)))
    for pair in group.pool:
        table[group.classes.index(pair.truth), group.classes.index(pair.prediction)] += pair.count
    return table


def report(group: AnnotationGroup) -> pd.DataFrame:
    """Table 2: see `Found.report`. A quotient of nothing has no value and is left out of the
    average."""
    names = ["class", "precision", "recall", "f1", "support"]
    if not group.pool:
        return pd.DataFrame(columns=names)
    table = confusion(group)
    right, support, predicted = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    scores: Mapping[str, Float64] = {
        "precision": divide_or_nan(right, predicted),
        "recall": divide_or_nan(right, support),
        "f1": divide_or_nan(2 * right, support + predicted),
    }
    frame = pd.DataFrame({"class": list(group.classes), **scores, "support": support.astype(int)})
    average = {name: _average_weighted(values, support) for name, values in scores.items()}
    last = pd.DataFrame([{"class": "", **average, "support": int(support.sum())}])
    return pd.concat([frame, last], ignore_index=True)


def _average_weighted(values: Float64, by: Float64) -> float:
    known = np.isfinite(values) & (by > 0)
    return float(np.average(values[known], weights=by[known])) if known.any() else np.nan
