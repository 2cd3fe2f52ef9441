"""The tables of what is ours of the unmasking study: psychometric functions and tests between
methods."""

from __future__ import annotations

import numpy as np

from labapp.analysis.task_records import Row
from labapp.report.formats import decimal
from labapp.report.listing import NONE
from labapp.report.page import Html, table, two_lines
from labapp.tasks.unmasking.report.results import CORRECT, LABEL, Found
from labapp.tasks.unmasking.report.sentences import p_value
from labapp.tasks.unmasking.report.words import one_digit, rows_of, two_digits, with_interval

OF = {LABEL: "a class is named", CORRECT: "the true class is named"}
RATES = ("guess", "lapse")


def fits(result: Found) -> Html:
    """The parameters of the psychometric functions."""
    rows = []
    for row in rows_of(result.fits.pooled):
        ends = {
            name: with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"], form)
            for name, form in (("threshold", one_digit), ("slope", two_digits))
        }
        rates = [decimal(row[name], 3) if np.isfinite(row[name]) else NONE for name in RATES]
        name = two_lines(result.group.methods[row["method"]], OF[row["of"]])
        rows.append(
            [name, f"{row['n']:,}", ends["threshold"], ends["slope"], *rates, row["why"] or NONE]
        )
    names = (
        "Method",
        two_lines("Annotations", "n"),
        two_lines("Threshold", "% of pixels"),
        two_lines("Slope", "a unit of log %"),
        two_lines("Guess", "rate"),
        two_lines("Lapse", "rate"),
        "Note",
    )
    shown = len(names) if any(row[-1] != NONE for row in rows) else len(names) - 1
    return table(
        names[:shown],
        [row[:shown] for row in rows],
        numeric=range(1, 6),
        caption="Logistic functions of the logarithm of the percentage, by maximum likelihood. "
        "In brackets: 95 % intervals.",
    )


def tests(result: Found) -> Html:
    """Friedman's test by mask, and each pair of methods by Wilcoxon's."""
    compared = result.comparisons
    pairs = list(dict.fromkeys(zip(compared.pairs["method"], compared.pairs["other"], strict=True)))
    by_pair = {
        (_mask(row["percent"]), row["method"], row["other"]): row for row in rows_of(compared.pairs)
    }
    rows = []
    for row in rows_of(compared.friedman):
        known = np.isfinite(row["p"])
        printed: object = NONE
        if known:
            chi = f"χ²({row['df']:g}) = {decimal(row['statistic'], 1)}"
            printed = two_lines(chi, p_value(row["p_holm"]))
        elif row["why"]:
            printed = two_lines(NONE, row["why"])
        cells: list[object] = [_mask(row["percent"]), row["n"], printed]
        cells += [_pair(by_pair.get((_mask(row["percent"]), *pair))) for pair in pairs]
        rows.append(cells)
    methods = result.group.methods
    return table(
        (
            "Mask",
            two_lines("n", "participants"),
            two_lines("Friedman", "p by Holm"),
            *(two_lines(f"{methods[pair]} –", methods[other]) for pair, other in pairs),
        ),
        rows,
        numeric=range(1, 3 + len(pairs)),
        caption="Accuracy of the participants (“I don't know” is not correct). Pairs: mean "
        "difference in points, and p of Wilcoxon's signed rank test by Holm; * p < 0.05, never of "
        "fewer than five participants. Holm's correction is over all masks, and pairs; all masks "
        "together are a family of their own.",
    )


def mixed(result: Found) -> Html:
    """The mixed logistic model."""
    rows = [
        (
            _effect(result, row["effect"]),
            f"{row['n']:,}",
            decimal(row["estimate"], 2),
            decimal(row["sd"], 2),
            f"{decimal(row['low'], 2)} to {decimal(row['high'], 2)}",
        )
        for row in rows_of(result.comparisons.mixed)
    ]
    return table(
        (
            "Effect",
            two_lines("Annotations", "n"),
            two_lines("Estimate", "log odds"),
            "sd",
            "95 % interval",
        ),
        rows,
        numeric=range(1, 5),
        caption="Mixed logistic model of correct annotations (“I don't know” is not correct), with "
        "random intercepts of participants and of images. sd: standard error. "
        "Annotations of a sequence are taken as independent beyond that, so that these intervals "
        "are narrow.",
    )


def _effect(result: Found, name: str) -> str:
    methods = result.group.methods
    return f"{methods[name]}, against {next(iter(methods.values()))}" if name in methods else name


def _pair(row: Row | None) -> object:
    if row is None or not np.isfinite(row["mean_difference"]):
        return NONE
    text = decimal(100 * row["mean_difference"], 1, sign=True)
    if not np.isfinite(row["p_holm"]):
        return two_lines(text, row["why"] or NONE)
    return two_lines(text, f"{p_value(row['p_holm'])}{'*' if row['significant'] else ''}")


def _mask(value: float) -> str:
    return f"{value:g} %" if np.isfinite(value) else "all masks"
