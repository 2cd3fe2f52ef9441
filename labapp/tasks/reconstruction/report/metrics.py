"""The metrics of stages of reconstruction, as reports show them."""

from __future__ import annotations

from labapp.analysis.columns import Metric

METRICS = (
    Metric("completion_rate", "Completion rate", "% of questions", 100.0, 0, (0, 100)),
    Metric("response_time_s", "Response time", "s a question"),
    Metric("slide_distance", "Slide distance", "slider widths a question", decimals=2),
    Metric("error_auc_sum", "Error AUC, sum", "sum of squares × s, a stage", by_dataset=True),
    Metric(
        "error_auc_mean",
        "Error AUC, mean",
        "mean of squares × s, a stage",
        decimals=2,
        by_dataset=True,
    ),
    Metric("seq", "Difficulty (SEQ)", "1 very easy – 7 very difficult", limits=(1, 7)),
)
"""In the order of the figures and tables of the report."""

CALIBRATION_METRICS = METRICS[1:]
"""A calibration has no questions that are completed."""
