"""The recipe "add a metric"."""

from __future__ import annotations

import json

from labapp.models.metrics.registry import METRICS
from tests.recipes.conftest import Follow


def test_a_metric_is_computed_as_the_page_says(follow: Follow) -> None:
    with follow("metric") as recipe:
        assert "usage" in METRICS
        told, strict = (out for command, out in recipe.outputs.items() if "usage" in command)
    assert "0.5" in told
    score = json.loads(strict)
    assert (score["metric"], score["score"]) == ("usage", 0.5)
    assert score["settings"]["threshold"] == 0.99
    assert len(score["parts"]["per_code"]) == 2
    assert "usage" not in METRICS
