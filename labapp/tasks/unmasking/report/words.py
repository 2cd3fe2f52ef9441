"""Words and numbers as the figures and the sections of the unmasking study say them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from labapp.analysis.task_records import Row
from labapp.report.formats import count, decimal
from labapp.report.listing import NONE
from labapp.tasks.unmasking.report.cells import truths
from labapp.tasks.unmasking.report.results import Group

INTERVAL = "Vertical lines: 95 % intervals, bootstrap over participants (ours)."
AT_EACH_MASK = "The n are annotations at each mask."
OVER_IMAGES = "Vertical lines: 95 % intervals, bootstrap over images (ours)."


def of_people(group: Group) -> str:
    """62 participants, 18,600 annotations. A figure goes around without its report: where a program
    took part, and no person, it says so."""
    simulated = group.annotations["timed_by"].fillna("") == "simulated"
    who = "simulated participant" if len(simulated) and simulated.all() else "participant"
    return f"{count(group.participants, who)}, {labelled(len(group.annotations))}"


def labelled(n: int) -> str:
    """1,860 annotations."""
    return f"{n:,} annotation{'' if n == 1 else 's'}"


def timed_of(group: Group) -> str:
    """Which reaction times are left out, to be put behind what is counted; empty for none."""
    n = int(truths(group.annotations["keyboard_away"]).sum())
    return f" but {n:,} in which the keyboard was away" if n else ""


def images(n: int) -> str:
    """10 images."""
    return count(n, "image")


def annotations_of(counts: pd.Series[int]) -> str:
    """How many stand behind each value of a line: n = 620, or n = 12 to 620."""
    known = counts.dropna()
    if known.empty:
        return "n = 0"
    least, most = int(known.min()), int(known.max())
    return f"n = {least:,}" if least == most else f"n = {least:,} to {most:,}"


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """The rows of a frame by column; numbers that are missing stay NaN."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def unbroken(text: str) -> str:
    """Never a line break between a number and its percent sign."""
    return text.replace(" %", "\u00a0%")


def percent(share: float) -> str:
    """Of a share from 0 to 1: 63.2 %."""
    return f"{decimal(100 * share, 1)} %"


def ms(value: float) -> str:
    """1,310 ms."""
    return f"{decimal(value, 0)} ms"


def with_interval(value: float, low: float, high: float, form: Callable[[float], str]) -> str:
    """63.2 % [60.1, 66.0]; a dash without a value."""
    if not np.isfinite(value):
        return NONE
    if not (np.isfinite(low) and np.isfinite(high)):
        return form(value)
    ends = (form(end).split(" ")[0] for end in (low, high))
    return f"{form(value)} [{', '.join(ends)}]"


def one_digit(value: float) -> str:
    """10.3."""
    return decimal(value, 1)


def two_digits(value: float) -> str:
    """1.32."""
    return decimal(value, 2)
