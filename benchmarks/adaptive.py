"""Bias, error and coverage of the adaptive rules over simulated observers with lapses.

    python benchmarks/adaptive.py [OBSERVERS] [masks|sliders]

Each observer has a threshold of its own, half an e-fold around 15 % of 25 levels from 2 to 80 %
(masks), or around 0.2 or 2 on 8 levels from 0.02 to 1 (sliders: how far low, medium and high lie
apart, which is guessed rightly by one in three), and a slope of 3.5. 10,000 take about an hour; the
lines are printed as they are done. A row: guess and lapse rate of the observers (rules take the
lapse rate to be 2 %), their middle threshold, the rule, trials, mean difference of estimated and
true threshold in e-folds, its standard deviation, the mean standard error, the share of 95 %
intervals that hold the truth, the share of right answers in the last two thirds, the share of
estimates above the greatest level, and the longest time of a decision in milliseconds.
"""

from __future__ import annotations

import sys
import time
from math import log

import numpy as np

from labapp.study.adaptive.counting import UpDown, WeightedUpDown
from labapp.study.adaptive.posterior import Psi, Quest, probability
from labapp.study.adaptive.rule import Levels, Rule

MASKS = Levels(tuple(float(value) for value in np.geomspace(2, 80, 25)), "log")
SLIDERS = Levels((0.02, 0.04, 0.07, 0.12, 0.2, 0.35, 0.6, 1.0), "log")


def rules(guess: float, start: float, trials: int, most: int) -> list[Rule]:
    """What is compared. start: level of the first trial; trials, most: of rules that fit, and of
    staircases."""
    steps = [4, 2, 1] if most > 40 else [2, 1]
    stairs = {"start": start, "steps": steps, "trials": most, "guess": guess}
    own = {"trials": trials, "guess": guess}
    middle = start / 3
    return [
        UpDown.model_validate({"method": "up-down", "down": 2, **stairs}),
        UpDown.model_validate({"method": "up-down", "down": 2, **stairs, "estimate": "reversals"}),
        UpDown.model_validate({"method": "up-down", "down": 3, **stairs}),
        WeightedUpDown.model_validate({"method": "weighted-up-down", **stairs, "steps": [2, 1]}),
        Quest.model_validate({"method": "quest", "start": middle, "shape": "logistic", **own}),
        Psi.model_validate({"method": "psi", **own}),
    ]


def observe(rule: Rule, levels: Levels, around: float, observers: int, lapse: float) -> str:
    """One row."""
    rng = np.random.default_rng(0)
    observer = rule.model_copy(update={"lapse": lapse})
    away, errors, covered, rates, beyond, slowest = [], [], [], [], [], 0.0
    for _ in range(observers):
        start = levels.nearest(log(rule.starts[0])) if rule.starts else 0
        progress = rule.begin(levels, start)
        threshold = log(around) + rng.uniform(-0.5, 0.5)
        while not progress.over:
            x = levels.x[progress.level]
            p = float(probability(observer, x, threshold, 3.5, rule.share))
            right = bool(rng.random() < p)
            began = time.perf_counter()
            progress = rule.after(levels, progress, right)
            slowest = max(slowest, time.perf_counter() - began)
        estimate = rule.find_threshold(levels, progress)
        if estimate is None or estimate.se is None:
            continue
        away.append(estimate.x - threshold)
        errors.append(estimate.se)
        beyond.append(estimate.x > levels.x[-1])
        covered.append((estimate.low or 0.0) <= threshold <= (estimate.high or 0.0))
        rates.append(np.mean([right for _, right in progress.counted[rule.trials // 3 :]]))
    name = f"{rule.method} {getattr(rule, 'down', '')} {getattr(rule, 'estimate', '')}"
    return (
        f"{name:28} {rule.trials:3} {np.mean(away):+.3f} {np.std(away):.3f} "
        f"{np.mean(errors):.3f} {np.mean(covered):.3f} {np.mean(rates):.3f} {np.mean(beyond):.3f} "
        f"{1000 * slowest:.1f}"
    )


def main() -> None:
    """Print all rows."""
    observers = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    known = {
        "masks": [(MASKS, 15.0, rules(guess, 60, 40, 60), lapse, guess)
                  for guess in (0.0, 0.5) for lapse in (0.0, 0.03)],
        "sliders": [(SLIDERS, around, rules(1 / 3, 0.6, trials, trials), 0.03, 1 / 3)
                    for around, trials in ((0.2, 20), (0.2, 40), (2.0, 40))],
    }  # fmt: skip
    for each in sys.argv[2:] or known:
        for levels, around, compared, lapse, guess in known[each]:
            for rule in compared:
                row = observe(rule, levels, around, observers, lapse)
                print(f"{guess:.2f} {lapse:.2f} {around:4g} {row}", flush=True)


if __name__ == "__main__":
    main()
