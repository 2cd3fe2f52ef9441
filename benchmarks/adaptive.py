"""Bias, error and coverage of the adaptive rules over simulated observers with lapses.

    python benchmarks/adaptive.py [OBSERVERS]

Each observer has a threshold of its own, half an e-fold around 15 % of 25 levels from 2 to 80 %,
and a slope of 3.5. 10,000 take about an hour; the lines are printed as they are done. A row: the
rule, guess and lapse rate of the observers (rules take the lapse rate to be 2 %), trials, mean
difference of estimated and true threshold in e-folds, its standard deviation, the mean standard
error, the share of 95 % intervals that hold the truth, the share of right answers in the last two
thirds, and the longest time of a decision in milliseconds.
"""

from __future__ import annotations

import sys
import time
from math import log

import numpy as np

from labapp.study.adaptive.counting import UpDown, WeightedUpDown
from labapp.study.adaptive.posterior import Psi, Quest, probability
from labapp.study.adaptive.rule import Levels, Rule

LEVELS = Levels(tuple(float(value) for value in np.geomspace(2, 80, 25)), "log")


def rules(guess: float) -> list[Rule]:
    """What is compared."""
    stairs = {"start": 60, "steps": [4, 2, 1], "trials": 60, "guess": guess}
    own = {"trials": 40, "guess": guess}
    return [
        UpDown.model_validate({"method": "up-down", "down": 2, **stairs}),
        UpDown.model_validate({"method": "up-down", "down": 2, **stairs, "estimate": "reversals"}),
        UpDown.model_validate({"method": "up-down", "down": 3, **stairs}),
        WeightedUpDown.model_validate({"method": "weighted-up-down", **stairs, "steps": [2, 1]}),
        Quest.model_validate({"method": "quest", "start": 20, "shape": "logistic", **own}),
        Psi.model_validate({"method": "psi", **own}),
    ]


def observe(rule: Rule, observers: int, lapse: float) -> str:
    """One row."""
    rng = np.random.default_rng(0)
    observer = rule.model_copy(update={"lapse": lapse})
    away, errors, covered, rates, slowest = [], [], [], [], 0.0
    for _ in range(observers):
        start = LEVELS.nearest(log(rule.starts[0])) if rule.starts else 0
        progress = rule.begin(LEVELS, start)
        threshold = log(15.0) + rng.uniform(-0.5, 0.5)
        while not progress.over:
            x = LEVELS.x[progress.level]
            p = float(probability(observer, x, threshold, 3.5, rule.share))
            right = bool(rng.random() < p)
            began = time.perf_counter()
            progress = rule.after(LEVELS, progress, right)
            slowest = max(slowest, time.perf_counter() - began)
        estimate = rule.find_threshold(LEVELS, progress)
        if estimate is None or estimate.se is None:
            continue
        away.append(estimate.x - threshold)
        errors.append(estimate.se)
        covered.append((estimate.low or 0.0) <= threshold <= (estimate.high or 0.0))
        rates.append(np.mean([right for _, right in progress.counted[rule.trials // 3 :]]))
    name = f"{rule.method} {getattr(rule, 'down', '')} {getattr(rule, 'estimate', '')}"
    return (
        f"{name:28} {rule.trials:3} {np.mean(away):+.3f} {np.std(away):.3f} "
        f"{np.mean(errors):.3f} {np.mean(covered):.3f} {np.mean(rates):.3f} {1000 * slowest:.1f}"
    )


def main() -> None:
    """Print all rows."""
    observers = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    for guess in (0.0, 0.5):
        for lapse in (0.0, 0.03):
            for rule in rules(guess):
                print(f"{guess:.1f} {lapse:.2f} {observe(rule, observers, lapse)}", flush=True)


if __name__ == "__main__":
    main()
