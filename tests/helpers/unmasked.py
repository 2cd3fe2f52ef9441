"""What a group of the unmasking study says, made up: for figures and sections, which only draw.

The numbers are smooth functions of the mask, so that a drawing can be held against them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd

from labapp.analysis.inference import FRIEDMAN, Values, outcome
from labapp.models.stimuli.manifest import Confusion
from labapp.models.stimuli.masked_pictures import sizes
from labapp.tasks.unmasking.report.results import (
    AGREED,
    CORRECT,
    DONT_KNOW,
    LABEL,
    MASKED,
    MODEL,
    OTHER,
    PEOPLE,
    WHOLE,
    AnnotationGroup,
    Bias,
    Fits,
    MethodComparisons,
    Ranks,
    UnmaskingResults,
)

METHODS = {
    "gradient": "Gradient",
    "guided_backprop": "Guided backpropagation",
    "lrp": "LRP",
}
THRESHOLDS = (18.0, 10.0, 13.0)
POOL = (
    Confusion(truth="anger", prediction="anger", count=48),
    Confusion(truth="anger", prediction="happiness", count=12),
    Confusion(truth="happiness", prediction="anger", count=6),
    Confusion(truth="happiness", prediction="happiness", count=54),
)
NAN = float("nan")


def rows_of(participants: int, percents: Sequence[float], images: int = 10) -> pd.DataFrame:
    """Rows of the table of annotations, with the columns that the sections read."""
    rows = [
        {
            "participant": f"P{person:02d}",
            "session": "1",
            "image": f"image-{image:02d}",
            "method": method,
            "percent": percent,
            "role": "stage",
            "trial": 1 + image,
            "attempt": 1,
            "outcome": "answered",
            "truth": "anger" if image % 2 else "happiness",
            "response": "anger",
            "dont_know": percent < 8,
            "correct": bool(image % 2) and percent >= 8,
            "follows_prediction": image % 3 == 0,
            "correct_prediction": image % 5 > 1,
            "reaction_time_ms": 700.0,
            "keyboard_away": False,
            "prior_exposures": 0,
            "shown_by": "frame" if person % 4 else "flush",
            "timed_by": "event" if image else "arrival",
            "device": "keyboard",
            "refresh_ms": 1000 / 60,
            "side_px": 384 if person % 3 else 768,
            "too_small": False,
            "due_to_paint_ms": 4.0 + image,
            "excluded": False,
            "excluded_because": None,
            "sequence": image + 1,
        }
        for person in range(1, participants + 1)
        for image in range(images)
        for method in METHODS
        for percent in percents
    ]
    return pd.DataFrame(rows)


@cache
def group(participants: int = 62, *, model: bool = True) -> AnnotationGroup:
    """A group of so many participants; model: with outputs on masked pictures."""
    percents = sizes()
    own = rows_of(participants, percents)
    predictions = own.drop_duplicates(["image", "method", "percent"])
    predicted = "anger" if model else None
    return AnnotationGroup(
        study="unmasking-faces",
        name="unmasking-faces",
        stimuli="faces-unmasking",
        manifest_sha256="ab" * 32,
        classifier="faces/cnn",
        accuracy=83.5,
        classes=("anger", "happiness"),
        methods=METHODS,
        percents=percents,
        fill="mean",
        sign="signed",
        grid=(48, 48),
        pool=POOL,
        annotations=own,
        every_annotation=own,
        predictions=predictions.assign(prediction_masked=predicted),
    )


def found(participants: int = 62, *, model: bool = True) -> UnmaskingResults:
    """Everything such a group says."""
    own = group(participants, model=model)
    percents = np.array(own.percents)
    by_method = [(name, _rise(percents, at)) for name, at in zip(METHODS, THRESHOLDS, strict=True)]
    each = participants * 10
    pooled = np.mean([rise for _, rise in by_method], axis=0)
    known = own.has_model
    return UnmaskingResults(
        group=own,
        labels=_counts(percents, pooled, each * 3),
        labels_by_method=_all(_counts(percents, rise, each, name) for name, rise in by_method),
        times=_all(_times(percents, name, at) for at, name in enumerate(METHODS)),
        accuracy=_all(_accuracy(percents, rise, each, name) for name, rise in by_method),
        model=_all(_model(percents, name, at) for at, name in enumerate(METHODS) if known),
        whole=pd.DataFrame({"n": [10], "share": [0.6]}),
        ranks=_ranks(percents, known),
        bias=_bias(percents, participants, known),
        classes=pd.DataFrame({"class": ["anger", "happiness"], "n": [60, 60], "n_shown": [5, 5]}),
        report=pd.DataFrame(
            {
                "class": ["anger", "happiness", ""],
                "precision": [48 / 54, 54 / 66, (48 / 54 + 54 / 66) / 2],
                "recall": [0.8, 0.9, 0.85],
                "f1": [0.842, 0.857, 0.850],
                "support": [60, 60, 120],
            }
        ),
        fits=_fits(participants),
        comparisons=_comparisons(percents, participants),
    )


def nobody() -> UnmaskingResults:
    """A study whose sessions hold no annotation that counts, and whose model is not at hand."""
    full = found(1, model=False)
    none = full.group.annotations.iloc[:0]
    empty = {
        name: getattr(full, name).iloc[:0]
        for name in ("labels", "labels_by_method", "times", "accuracy", "model", "whole")
    }
    return replace(
        full,
        **empty,
        group=replace(full.group, annotations=none, every_annotation=none),
        ranks=Ranks(*(frame.iloc[:0] for frame in vars(full.ranks).values())),
        bias=Bias(*(frame.iloc[:0] for frame in vars(full.bias).values())),
        fits=Fits(*(frame.iloc[:0] for frame in vars(full.fits).values())),
        comparisons=MethodComparisons(
            [],
            [],
            full.comparisons.mixed.iloc[:0],
            "there is no annotation",
        ),
    )


def _all(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    some = list(frames)
    return pd.concat(some, ignore_index=True) if some else _model(np.empty(0), "", 0)


def _rise(percents: Values, threshold: float) -> Values:
    rise: Values = 0.02 + 0.96 / (1 + np.exp(-4 * np.log(percents / threshold)))
    return rise


def _counts(percents: Values, rise: Values, n: int, method: str = "") -> pd.DataFrame:
    labels = np.round(rise * n).astype(int)
    shared = {"method": method} if method else {}
    return pd.DataFrame(
        {
            "percent": percents,
            **shared,
            "labels": labels,
            "dont_know": n - labels,
            "n": n,
            "share": labels / n,
            "low": np.clip(labels / n - 0.05, 0, 1),
            "high": np.clip(labels / n + 0.05, 0, 1),
        }
    )


def _times(percents: Values, method: str, place: int) -> pd.DataFrame:
    mean = 600 + 900 * np.exp(-(np.log(percents / (13 + 2 * place)) ** 2) * 2)
    frame = pd.DataFrame({"method": method, "percent": percents, "n": 620})
    for kind, values in (("mean", mean), ("median", mean * 0.85)):
        frame[kind] = values
        frame[f"{kind}_low"], frame[f"{kind}_high"] = values - 80, values + 110
    return frame


def _accuracy(percents: Values, rise: Values, n: int, method: str) -> pd.DataFrame:
    own = _counts(percents, rise * 0.97, n, method).drop(columns=["labels", "dont_know"])
    right = np.linspace(0.62, 0.99, percents.size)
    return own.assign(
        n_labels=np.round(rise * n).astype(int),
        share_of_labels=right,
        labels_low=right - 0.06,
        labels_high=np.minimum(right + 0.05, 1),
    )


def _model(percents: Values, method: str, place: int) -> pd.DataFrame:
    share = 0.5 + 0.05 * ((np.arange(percents.size) * 7 + place * 3) % 5)
    return pd.DataFrame(
        {
            "method": method,
            "percent": percents,
            "n": 10,
            "share": share,
            "low": share - 0.25,
            "high": np.minimum(share + 0.25, 1),
            "cross_entropy": 0.9 - 0.06 * np.arange(percents.size) + 0.05 * place,
        }
    )


def _ranks(percents: Values, model: bool) -> Ranks:
    overall, by_mask = [], []
    for who in (PEOPLE, MODEL):
        for at, method in enumerate(METHODS):
            rank = (2.7, 1.3, 2.0)[at] if who == PEOPLE else (2.1, 1.95, 1.95)[at]
            rank = rank if model or who == PEOPLE else NAN
            row = {"who": who, "method": method, "rank": rank, "low": rank - 0.1}
            overall.append(row | {"n": 100, "high": rank + 0.1})
            by_mask += [
                row
                | {
                    "percent": percent,
                    "n": 10,
                    "rank": np.clip(rank + 0.2 * np.sin(place + at), 1, 3),
                    "low": np.clip(rank + 0.2 * np.sin(place + at) - 0.2, 1, 3),
                    "high": np.clip(rank + 0.2 * np.sin(place + at) + 0.2, 1, 3),
                }
                for place, percent in enumerate(percents)
            ]
    agreement = [
        {
            "over": over,
            "coefficient": name,
            "n": n,
            "value": value if model else NAN,
            "low": NAN if over == "overall" else value - 0.1,
            "high": NAN if over == "overall" else value + 0.1,
            "why": "" if model else "there are no outputs of the model on masked pictures",
        }
        for over, n in (("overall", 3), ("units", 100))
        for name, value in (("Kendall's tau-b", 0.82), ("Spearman's rho", 0.87))
    ]
    return Ranks(pd.DataFrame(overall), pd.DataFrame(by_mask), pd.DataFrame(agreement))


def _bias(percents: Values, participants: int, model: bool) -> Bias:
    shares = [
        {
            "wrong": wrong,
            "method": method,
            "percent": percent,
            "n_images": 4 if wrong == WHOLE else 2 + place % 4,
            "n": 4 * participants,
            "share": 0.05 + 0.02 * at + 0.01 * place,
            "low": 0.03 + 0.02 * at + 0.01 * place,
            "high": 0.08 + 0.02 * at + 0.01 * place,
        }
        for wrong in (WHOLE, MASKED)
        for at, method in enumerate(METHODS)
        for place, percent in enumerate(percents)
        if model or wrong == WHOLE
    ]
    times = [
        {
            "wrong": wrong,
            "answer": answer,
            "n": 900 - 100 * at,
            "mean": 900.0 + 150 * at,
            "mean_low": 860.0 + 150 * at,
            "mean_high": 950.0 + 150 * at,
            "median": 800.0 + 150 * at,
            "median_low": 780.0 + 150 * at,
            "median_high": 830.0 + 150 * at,
        }
        for wrong in (WHOLE, MASKED)
        for at, answer in enumerate((AGREED, OTHER, DONT_KNOW))
        if model or wrong == WHOLE
    ]
    return Bias(pd.DataFrame(shares), pd.DataFrame(times))


def _fits(participants: int) -> Fits:
    spread = np.linspace(-0.3, 0.3, participants) if participants > 1 else np.zeros(1)
    pooled, own = [], []
    for of in (LABEL, CORRECT):
        for method, at in zip(METHODS, THRESHOLDS, strict=True):
            pooled.append(
                {
                    "of": of,
                    "method": method,
                    "n": participants * 100,
                    "n_participants": participants,
                    "threshold": at,
                    "threshold_low": at * 0.93,
                    "threshold_high": at * 1.07,
                    "slope": 4.0,
                    "slope_low": 3.6,
                    "slope_high": 4.5,
                    "guess": 0.02,
                    "lapse": 0.02,
                    "log_likelihood": -1234.5,
                    "why": "",
                }
            )
            own += [
                {
                    "of": of,
                    "method": method,
                    "participant": f"P{number:02d}",
                    "n": 100,
                    "threshold": at * float(np.exp(shift)),
                    "slope": 4.0,
                    "why": "",
                }
                for number, shift in enumerate(spread, start=1)
            ]
    return Fits(pd.DataFrame(pooled), pd.DataFrame(own))


def _comparisons(percents: Values, participants: int) -> MethodComparisons:
    masks = [None, *percents.tolist()]
    enough = participants > 1
    test = outcome(FRIEDMAN, 88.1, 2, 1e-9) if enough else outcome(FRIEDMAN)
    test = replace(test, n=participants, why="" if enough else "there is one participant")
    friedman = [replace(test, percent=at, p_corrected=test.p) for at in masks]
    pair = replace(test, test="Wilcoxon signed rank", mean=-0.15, significant=enough)
    if enough:
        pair = replace(pair, statistic=12.0, df=None, p_corrected=6e-9)
    pairs = [
        replace(pair, percent=at, method=one, compared_with=other)
        for at in masks
        for one, other in combinations(METHODS, 2)
    ]
    effects = ("intercept", "log percent", "guided_backprop", "lrp")
    mixed = [
        {"effect": name, "n": 18600, "estimate": 1.2, "sd": 0.1, "low": 1.0, "high": 1.4}
        for name in effects
    ]
    return MethodComparisons(friedman, pairs, pd.DataFrame(mixed), "")
