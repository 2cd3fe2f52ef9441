"""Simulated people as rows, without a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from labapp.session.planning.thresholds import BEST, People, people

MODELS = ("sinelines/ae", "sinelines/gt")


def question(who: str, model: str, **facts: Any) -> dict[str, Any]:
    row = {
        "study": "s", "participant": who, "session": "1", "stage": "stage-1", "stage_number": 1,
        "task": "reconstruction", "role": "stage", "model": model, "trial": 1, "attempt": 1,
        "outcome": "solved", "active_s": 10.0, "duration_s": 12.0, "excluded": False,
        "included": True, BEST: 0.9,
    }  # fmt: skip
    return row | facts


def stage(who: str, model: str, **facts: Any) -> dict[str, Any]:
    row = {
        "study": "s", "participant": who, "session": "1", "stage": "stage-1", "stage_number": 1,
        "task": "reconstruction", "model": model, "completion_rate": 0.5, "response_time_s": 9.0,
        "included": True,
    }  # fmt: skip
    return row | facts


def session(who: str, **facts: Any) -> dict[str, Any]:
    row = {
        "study": "s", "participant": who, "session": "1", "included": True, "complete": True,
        "simulated": True, "duration_s": 600.0, "interview_s": 0.0,
    }  # fmt: skip
    return row | facts


def cohort(
    rates: Mapping[str, tuple[float, float]],
    size: int = 12,
    shares: Mapping[str, float] | None = None,
) -> People:
    """So many of each strategy; rates: mean completion rate with each of the two models."""
    rng = np.random.default_rng(3)
    rows: dict[str, list[dict[str, Any]]] = {
        "trials": [], "stages": [], "scores": [], "participants": []
    }  # fmt: skip
    strategies = {}
    for strategy, means in rates.items():
        for number in range(1, size + 1):
            who = f"P{number:02d}-{strategy}"
            strategies[who] = strategy
            rows["participants"].append(session(who, duration_s=600.0 + number))
            for place, (model, mean) in enumerate(zip(MODELS, means, strict=True), start=1):
                at = {"stage": f"stage-{place}", "stage_number": place}
                rate = float(np.clip(rng.normal(mean, 0.2), 0, 1))
                rows["stages"].append(stage(who, model, completion_rate=rate, **at))
                rows["trials"].append(question(who, model, **at))
    return people(rows, strategies, shares or dict.fromkeys(rates, 1.0))
