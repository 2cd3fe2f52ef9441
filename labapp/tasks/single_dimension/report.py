"""What the report has of questions about single dimensions (paper 000).

The metrics of stages of the single-dimension task, as reports show them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pandas as pd

from labapp.analysis import track_sections
from labapp.analysis.columns import Metric
from labapp.analysis.tables import Tables
from labapp.analysis.task_report import ReportedStudy, TaskReport
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.page import Html, decimal, heading, table, two_lines

DEFINITIONS = {
    "Single-dimension questions": (
        "Correctness: questions answered correctly divided by questions submitted. Response "
        "time: seconds from when the pictures appear until the answer (choice and both ratings) "
        "is submitted; the moment of the first choice is in the table trials. Confidence and "
        "“dial makes sense”: mean rating from 1 (strongly disagree) to 5 (strongly agree)."
    )
}


ASKED = track_sections.AskedAbout(
    "single-dimension",
    ("single-dimension-traversals", "single-dimension-exemplars"),
    "Dial",
    "spread of the regimes",
)


class SingleDimensionReport(TaskReport[None]):
    activities: ClassVar = {
        "single-dimension-traversals": "chose the value of one dimension, shown as latent "
        "traversals",
        "single-dimension-exemplars": "chose the value of one dimension, shown by synthetic "
        "exemplars",
    }
    tasks = tuple(activities)
    thresholds = ASKED.unit
    definitions = DEFINITIONS

    def methods(self, study: ReportedStudy, findings: None) -> Iterator[str]:
        yield from track_sections.methods(ASKED, study.counted)

    def sections(self, study: ReportedStudy, findings: None) -> Iterator[Html]:
        trials = study.counted.trials
        for task in sorted(self.tasks):
            own = trials[trials["task"] == task]
            if len(own):
                yield heading(3, f"Correctness by dial, {task}")
                yield by_dimension(own)
        yield from track_sections.show(ASKED, study.counted, study.anchor)

    def plates(self, counted: Tables, findings: None) -> Iterator[ReportFigure]:
        yield from track_sections.plates(ASKED, counted)


def by_dimension(trials: pd.DataFrame) -> Html:
    """Correctness of single-dimension questions by dial (Figure 7), over all that were answered."""
    counted = trials[(trials["role"] == "stage") & ~trials["excluded"] & trials["correct"].notna()]
    rows = []
    for (model, dial, name), some in counted.groupby(
        ["model", "dimension", "dimension_name"], sort=True
    ):
        right = some["correct"].to_numpy(dtype=float)
        error = float(np.sqrt(right.mean() * (1 - right.mean()) / right.size))
        text = f"{decimal(100 * right.mean(), 0)} ± {decimal(100 * error, 0)}"
        rows.append((model, dial, name, right.size, text))
    return table(
        ("Model", "Dial", "Name", two_lines("Questions", "n"), two_lines("Correct", "% ± SE")),
        rows,
        numeric=(1, 3, 4),
        caption="Correctness by dial over all questions; SE: binomial standard error.",
    )


REPORT = SingleDimensionReport()


SINGLE_METRICS = (
    Metric("correctness_rate", "Correctness", "% of questions", 100.0, 0, (0, 100)),
    Metric("response_time_s", "Response time", "s per question"),
    Metric("confidence", "Confidence", "1–5", limits=(1, 5), decimals=2),
    Metric("understanding", "Dial makes sense", "1–5", limits=(1, 5), decimals=2),
    Metric("seq", "Difficulty (SEQ)", "1 very easy – 7 very difficult", limits=(1, 7)),
)
"""In the order of the figures and tables of the report."""
