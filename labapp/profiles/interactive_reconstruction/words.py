"""Numbers of tests as the tables of the report say them."""

from __future__ import annotations

from labapp.analysis.columns import Metric
from labapp.analysis.effects import Effect
from labapp.analysis.inference import Outcome
from labapp.report.formats import decimal
from labapp.report.listing import NONE

SYMBOLS = {
    "partial eta squared": "partial η²",
    "eta squared": "η²",
    "d_z": "d_z",
    "Hedges' g": "g",
}
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


def statistic(outcome: Outcome) -> str:
    """F(2, 28) = 32.3; empty where there is none."""
    if outcome.statistic is None:
        return ""
    letter = next(
        symbol for symbol, names in LETTERS.items() if any(name in outcome.test for name in names)
    )
    freedom = [f"{value:.4g}" for value in (outcome.df, outcome.df_2) if value is not None]
    of = f"({', '.join(freedom)})" if freedom and letter != "W" else ""
    return f"{letter}{of} = {decimal(outcome.statistic, 2)}"


def test(outcome: Outcome) -> str:
    """F(2, 28) = 32.3, p = 5.3e-08; or why there is none."""
    if outcome.p is None:
        return f"none: {outcome.why}" if outcome.why else NONE
    text = f"{statistic(outcome)}, {p_value(outcome.p)}"
    return f"{text} ({outcome.why})" if outcome.why else text


def effect(effect: Effect | None) -> str:
    """g = −0.55 [−1.10, 0.02]."""
    if effect is None:
        return ""
    text = f"{SYMBOLS[effect.name]} = {decimal(effect.value, 2)}"
    if effect.low is None or effect.high is None:
        return text
    return f"{text} [{decimal(effect.low, 2)}, {decimal(effect.high, 2)}]"


def difference(value: float | None, metric: Metric) -> str:
    """With its sign."""
    return NONE if value is None else decimal(value, metric.decimals, sign=True)
