"""The metrics of stages of the single-dimension task, as reports show them."""

from __future__ import annotations

from labapp.analysis.columns import Metric

SINGLE_METRICS = (
    Metric("correctness_rate", "Correctness", "% of questions", 100.0, 0, (0, 100)),
    Metric("response_time_s", "Response time", "s a question"),
    Metric("confidence", "Confidence", "1–5", limits=(1, 5), decimals=2),
    Metric("understanding", "Dial makes sense", "1–5", limits=(1, 5), decimals=2),
    Metric("seq", "Difficulty (SEQ)", "1 very easy – 7 very difficult", limits=(1, 7)),
)
"""In the order of the figures and tables of the report."""
