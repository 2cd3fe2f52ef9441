"""Tables of a study of one's own, made without sessions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from labapp.analysis.columns import table_columns
from labapp.analysis.declared import read_declared, with_declared
from labapp.analysis.tables import Tables, build_frame

MODELS = ("digits8/pca5", "mnist8k/ae5", "mnist8k/vae5")
"""Three models of two data sets."""


def study(
    declared: Mapping[str, Any] | None = None,
    *,
    n: int = 12,
    seed: int = 1,
    models: tuple[str, ...] = MODELS,
    gaps: int = 0,
    effect: float = 0.15,
    task: str = "reconstruction",
    hints: tuple[str, str] = ("with", "without"),
) -> Tables:
    """Everybody met all models in an order of their own, with five questions each; those with an
    even number have the hint. gaps: so many participants lack the last model."""
    rng = np.random.default_rng(seed)
    text = json.dumps(declared) if declared else ""
    missing = read_declared(text).missing
    columns = with_declared(table_columns(), [text])
    factors = [c.name for c in columns["participants"] if c.name.startswith("factor_")]
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in columns}
    for at in range(n):
        who: dict[str, Any] = {"study": "own", "participant": f"P{at + 1:02}", "session": "1"}
        levels = dict.fromkeys(factors, hints[at % 2])
        person = rng.normal(scale=0.1)
        rows["participants"].append(
            who | levels | {
                "study_version": 1, "outcome": "completed", "complete": True, "included": True,
                "assignment": "{}", "declared": text, "simulated": False, "models": "",
                "deidentified": False, "duration_s": 600.0, "sound_s": 0.0, "n_pauses": 0,
                "n_gaps": 0, "n_deviations": 0, "presentation": "improved", "language": "en",
                "started_utc": f"2026-01-{at + 1:02}T10:00:00Z",
            }
        )  # fmt: skip
        met = [models[(at + place) % len(models)] for place in range(len(models))]
        if at < gaps:
            met.remove(models[-1])
        for place, model in enumerate(met, start=1):
            chance = 0.6 + person + effect * models.index(model) - 0.1 * (at % 2)
            where = who | levels | {
                "stage": f"stage-{place}", "stage_number": place, "position": place, "task": task,
                "model": model, "included": True,
            }  # fmt: skip
            solved = rng.random(5) < chance
            counts = [missing.solved("solved" if done else "skipped") for done in solved]
            counted = [count for count in counts if count is not None]
            times = rng.lognormal(3 + person, 0.4, size=5)
            rows["stages"].append(
                where | {
                    "outcome": "completed", "n_planned": 5, "n_trials": 5,
                    "n_solved": int(solved.sum()),
                    "completion_rate": fmean(counted) if counted else None,
                    "response_time_s": float(times.mean()), "seq": float(rng.integers(1, 8)),
                }
            )  # fmt: skip
            rows["trials"] += [
                where | {
                    "role": "stage", "trial": k + 1, "attempt": 1, "excluded": False,
                    "outcome": "solved" if done else "skipped", "duration_s": float(seconds),
                }
                for k, (done, seconds) in enumerate(zip(solved, times, strict=True))
            ]  # fmt: skip
    frames = {name: build_frame(some, columns[name]) for name, some in rows.items()}
    return Tables.of(frames, frames["snapshots"])


def cells(tables: Tables, column: str) -> pd.DataFrame:
    """Participants' values of a column by model."""
    return tables.stages.pivot_table(index="participant", columns="model", values=column)
