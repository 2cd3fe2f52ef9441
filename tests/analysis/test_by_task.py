"""The figure of a task whose models nothing compares."""

from __future__ import annotations

import pandas as pd
import pytest

from labapp.analysis.task_report import by_model
from labapp.tasks.reconstruction.report.contents import CALIBRATION_METRICS, METRICS
from tests.helpers.nightly import EVERYTHING


@pytest.mark.parametrize(
    ("models", "axes"),
    [
        (("dsprites/ae", "dsprites/vae"), {"": 2}),
        (("dsprites/ae", "sinelines/ae", "dsprites/vae"), {"dsprites": 2, "sinelines": 1}),
    ],
)
def test_errors_have_an_axis_a_data_set(models: tuple[str, ...], axes: dict[str, int]) -> None:
    stages = pd.DataFrame(
        [
            {"participant": f"P{n}", "session": "1", "model": model}
            | {metric.column: 1.0 + n / 7 for metric in METRICS}
            for n in range(3)
            for model in models
        ]
    )
    page = str(by_model(stages, "calibration", CALIBRATION_METRICS))
    assert page.count(">Error AUC, sum<") == page.count(">Error AUC, mean<") == len(axes)
    assert page.count(">Response time<") == 1
    for dataset in filter(None, axes):
        assert page.count(f">{dataset}<") == 2, "below both of its panels"
    errors, others = 2, len(CALIBRATION_METRICS) - 2
    labels = errors * sum(axes.values()) + others * len(models)
    if EVERYTHING:
        assert page.count("n\N{THIN SPACE}=\N{THIN SPACE}3<") == labels
    else:  # not drawn, an axis that shares its labels with another has them, too
        assert page.count("n\N{THIN SPACE}=\N{THIN SPACE}3<") >= labels
    assert "data set has an axis of its own" in page
    asked = [metric for metric in METRICS if not metric.by_dataset]
    assert "Error AUC" not in str(by_model(stages, "calibration", asked))
