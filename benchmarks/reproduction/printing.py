"""Tables in Markdown, and metrics by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from labapp.models.metrics.registry import METRICS, Function


def metric(name: str) -> Function:
    """The metric's function."""
    return METRICS[name].load()


@dataclass(slots=True)
class Table:
    """Rows of text under a head; numbers to the right."""

    head: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        if len(cells) != len(self.head):
            raise ValueError(f"{len(self.head)} cells, found {cells}")
        self.rows.append(cells)

    def __str__(self) -> str:
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(values: Sequence[float]) -> str:
    """Mean and standard deviation, as the released code takes it (of the runs, not of a
    population), in per cent."""
    return f"{100 * np.mean(values):.2f} ± {100 * np.std(values):.2f}"


def percent_as_plotted(values: Sequence[float]) -> str:
    """In per cent: the mean, twice the standard deviation of the runs, which is how the released
    code draws error bars, and the 95 % t interval, which the paper says they are."""
    text = f"{100 * np.mean(values):.2f} ± {200 * np.std(values):.2f}"
    if len(values) < 2:
        return text
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    low, high = (100 * (np.mean(values) + side * half) for side in (-1, 1))
    return f"{text} ({low:.1f} to {high:.1f})"


def p_value(p: float) -> str:
    if not np.isfinite(p):
        return "–"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"
