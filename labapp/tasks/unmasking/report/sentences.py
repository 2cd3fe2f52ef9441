"""The main results of the unmasking study in sentences, each with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from labapp.analysis.task_records import Row
from labapp.report.formats import decimal
from labapp.tasks.unmasking.report import published as paper
from labapp.tasks.unmasking.report.overall import Overall
from labapp.tasks.unmasking.report.results import (
    AGREED,
    CORRECT,
    MODEL,
    OTHER,
    PEOPLE,
    WHOLE,
    Found,
)
from labapp.tasks.unmasking.report.words import (
    images,
    ms,
    percent,
    rows_of,
    two_digits,
    with_interval,
)

NO_RANKS = "There are none: no image was seen with every method at the same mask."
ONE_METHOD = "There are none: there is one method."


def main_results(result: Found, overall: Overall) -> Iterator[tuple[str, str, str]]:
    """Of each result its name, what was found here and what the paper says (empty where that is
    ours alone); what has no values is left out."""
    makers: tuple[tuple[str, Callable[[Found, Overall], str], str], ...] = (
        ("Confidence", _confidence, "labels"),
        ("Reaction time", _times, "times"),
        ("Accuracy", _accuracy, "accuracy"),
        ("The model alone", _model, "model"),
        ("Ranks", _ranks, "ranks"),
        ("Algorithmic bias", _bias, "bias"),
        ("Thresholds (ours)", _thresholds, ""),
        ("Methods compared (ours)", _tests, ""),
    )
    for name, make, key in makers:
        if sentence := make(result, overall):
            yield name, sentence, paper.SAID.get(key, "")


def _confidence(result: Found, overall: Overall) -> str:
    counts = result.labels[result.labels["n"] > 0].sort_values("percent")
    if counts.empty:
        return ""
    ends = [
        f"{_interval(row, 'share')} of annotations at {row['percent']:g} % of the pixels"
        for row in (rows_of(counts)[0], rows_of(counts)[-1])
    ]
    text = f"A class was named in {ends[0]}" + (f", and in {ends[1]}." if len(counts) > 1 else ".")
    for row in rows_of(counts[counts["percent"] == paper.LABELS_AT]):
        text += f" At {row['percent']:g} %: {row['labels']:,} of {row['n']:,}."
    return f"{text} Over all masks, {_ordered(result, overall.methods, 'labels', 'most with')}."


def _times(result: Found, overall: Overall) -> str:
    means = overall.by_mask.dropna()
    if means.empty:
        return ""
    longest = max(rows_of(means), key=lambda row: row["ms"])
    text = (
        f"The mean is longest at {longest['percent']:g} % ({ms(longest['ms'])}, all methods)"
        if len(means) > 1
        else f"The mean is {ms(longest['ms'])} over all methods"
    )
    each = "; ".join(
        f"{result.group.methods[row['method']]} mean {_interval(row, 'ms', ms)}, median "
        f"{ms(row['median_ms'])}"
        for row in rows_of(overall.methods)
        if np.isfinite(row["ms"])
    )
    return f"{text}. Over all masks: {each}."


def _accuracy(result: Found, overall: Overall) -> str:
    if overall.methods.empty:
        return ""
    counted = _ordered(result, overall.methods, "accuracy", "highest with")
    left = _ordered(result, overall.methods, "of_labels")
    guess = f"{100 / len(result.group.classes):.3g} %"
    text = f"Over all masks, {counted}."
    if left:
        text += f" Without “I don't know” (ours; guessing gets {guess}): {left}."
    return text


def _model(result: Found, _: Overall) -> str:
    if not result.group.has_model:
        return ""
    whole = result.whole[result.whole["n"] > 0]
    listed = "".join(
        f"On the whole images it is right on {round(row['share'] * row['n'])} of {row['n']:g} "
        f"({percent(row['share'])}). "
        for row in rows_of(whole)
    )
    means = result.model.dropna(subset=["share"]).groupby("method")["share"].mean()
    names = ", ".join(
        f"{result.group.methods[str(method)]} {percent(share)}"
        for method, share in means.sort_values(ascending=False, kind="stable").items()
    )
    return f"{listed}On the masked ones, mean over all masks: {names}."


def _ranks(result: Found, _: Overall) -> str:
    if len(result.group.methods) == 1:
        return ONE_METHOD
    sentences = []
    for who, name in ((PEOPLE, "people"), (MODEL, "the model")):
        own = result.ranks.overall
        own = own[(own["who"] == who) & own["rank"].notna()].sort_values("rank", kind="stable")
        if not own.empty:
            each = ", ".join(
                f"{result.group.methods[row['method']]} {_interval(row, 'rank', two_digits)}"
                for row in rows_of(own)
            )
            sentences.append(f"by {name} {each}")
    if not sentences:
        return NO_RANKS if result.group.participants else ""
    agreed = result.ranks.agreement
    agreed = agreed[(agreed["over"] == "units") & agreed["value"].notna()]
    between = "; ".join(
        f"{row['coefficient']} {_interval(row, 'value', two_digits)}" for row in rows_of(agreed)
    )
    more = f" Agreement of the two within an image and mask, on average: {between}." * bool(between)
    return f"Average ranks, 1 is best: {'; '.join(sentences)}.{more}"


def _bias(result: Found, overall: Overall) -> str:
    shares = result.bias.shares
    wrong = shares[(shares["wrong"] == WHOLE) & (shares["n"] > 0)]
    if wrong.empty:
        return ""
    text = (
        f"On {images(int(wrong['n_images'].max()))} the model is wrong. Its wrong prediction is "
        f"repeated {_ordered(result, overall.methods, 'repeated', 'most with')} of all annotations "
        "of them, over all masks."
    )
    times = result.bias.times
    own = times[(times["wrong"] == WHOLE) & times["mean"].notna()]
    names = {AGREED: "it is repeated", OTHER: "another class is named"}
    each = ", ".join(
        f"{names[row['answer']]} in {_interval(row, 'mean', ms)} (median {ms(row['median'])}, "
        f"n = {row['n']:,})"
        for row in rows_of(own)
        if row["answer"] in names
    )
    return f"{text} On average {each}." if each else text


def _thresholds(result: Found, _: Overall) -> str:
    own = result.fits.pooled
    own = own[own["of"] == CORRECT].sort_values("threshold", kind="stable")
    each = ", ".join(
        f"{result.group.methods[row['method']]} {_interval(row, 'threshold', _of_pixels)}"
        for row in rows_of(own[own["why"] == ""])
    )
    without = "; ".join(
        f"{result.group.methods[row['method']]} ({row['why']})"
        for row in rows_of(own[own["why"] != ""])
    )
    text = (
        f"The function of naming the true class is half-way between its ends at {each} of the "
        "pixels."
        if each
        else ""
    )
    return f"{text} No threshold: {without}.".strip() if without else text


def _tests(result: Found, _: Overall) -> str:
    friedman = result.comparisons.friedman
    whole = friedman[friedman["percent"].isna() & friedman["p"].notna()]
    if whole.empty:
        return ""
    row = rows_of(whole)[0]
    text = (
        "Accuracy of the participants over all masks, by method: Friedman's χ²"
        f"({row['df']:g}) = {decimal(row['statistic'], 1)}, {p_value(row['p'])} "
        f"(n = {row['n']:g})."
    )
    pairs = result.comparisons.pairs
    pairs = pairs[pairs["percent"].isna() & pairs["p_holm"].notna()]
    each = "; ".join(
        f"{result.group.methods[row['method']]} less {result.group.methods[row['other']]} "
        f"{decimal(100 * row['mean_difference'], 1, sign=True)} points, {p_value(row['p_holm'])}"
        for row in rows_of(pairs)
    )
    return f"{text} Pairs (Wilcoxon, Holm): {each}." if each else text


def p_value(p: float) -> str:
    """p < 0.001, or p = 0.012; a dash where there is none."""
    if not np.isfinite(p):
        return "–"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _ordered(result: Found, methods: pd.DataFrame, measure: str, most: str = "") -> str:
    """Methods by a measure, highest first: Guided backpropagation 63 % [60, 66]. most: said before
    the first of several."""
    known = methods[methods[measure].notna()].sort_values(measure, ascending=False, kind="stable")
    each = ", ".join(
        f"{result.group.methods[row['method']]} {_interval(row, measure)}" for row in rows_of(known)
    )
    return f"{most if len(known) > 1 else 'with'} {each}" if most else each


def _interval(row: Row, name: str, form: Callable[[float], str] = percent) -> str:
    """A value of a row with the ends of its interval."""
    shared = "" if name in ("share", "rank", "value") else f"{name}_"
    return with_interval(row[name], row[f"{shared}low"], row[f"{shared}high"], form)


def _of_pixels(value: float) -> str:
    return f"{decimal(value, 1)} %"
