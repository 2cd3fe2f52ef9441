"""How far verdicts hang on models that have not learnt a concept, and on the pooled variance."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.reproduction.results import BOTTLENECKS, Asked, Results
from benchmarks.reproduction.stopping import BAR
from benchmarks.reproduction.verdicts import DATA_SET, Claim, over_all

TASK = re.compile(DATA_SET.pattern + r"[\d.]+\)")
OWN_VARIANCE = "each difference with its own variance"
LEARNT_ONLY = "only models that learnt every concept"
LEARNT_ROWS = "OIS without the rows of codes whose concept is not learnt"


def unlearnt_concepts(result: Mapping[str, Any]) -> list[int]:
    """By number, the concepts that a bottleneck has not learnt, by validation rows; TabularToy has
    none of these, so that its test rows tell."""
    each = result.get("validation", result).get("concept_accuracies") or []
    return [number for number, accuracy in enumerate(each) if accuracy < BAR]


def _is_bottleneck(result: Mapping[str, Any]) -> bool:
    return result.get("recipe", {}).get("learner", {}).get("name") in BOTTLENECKS


def if_learnt(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The result of a model that learnt every concept, or that learns none by name."""
    return None if _is_bottleneck(result) and unlearnt_concepts(result) else result


def without_rows(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same result, its OIS without the rows of codes whose concept is not learnt."""
    rows = unlearnt_concepts(result) if _is_bottleneck(result) else []
    view = result.get("scores", {}).get("code", {})
    if not rows or "deviation" not in view:
        return result
    deviation = np.array(view["deviation"], dtype=np.float64)
    left = np.delete(deviation, rows, axis=0)
    score = 2 * np.linalg.norm(left) / np.sqrt(len(deviation) * max(1, len(left)))
    ois = {**view["ois"], "given": float(score)}
    return {**result, "scores": {**result["scores"], "code": {**view, "ois": ois}}}


def notes(results: Results, every: Sequence[Asked]) -> dict[str, str]:
    """By task, which bottlenecks did not learn every concept."""
    told: dict[str, list[str]] = {}
    for asked in dict.fromkeys(every):
        models = results.of(asked) if asked.learner in BOTTLENECKS else []
        failed = [model for model in models if unlearnt_concepts(model)]
        if failed:
            words = asked.name.replace(f" on {asked.data}", "")
            told.setdefault(asked.data, []).append(f"{words}: {len(failed)} of {len(models)}")
    return {
        data: f"models of {data} in which a concept is right for less than {BAR:.0%} of the rows: "
        + "; ".join(each)
        for data, each in told.items()
    }


def note(claim: Claim, of_tasks: Mapping[str, str]) -> str:
    """What to say next to a verdict; empty where every concept is learnt that it rests on."""
    tasks = {match[0] for test in claim.tests for match in TASK.finditer(test.label)}
    return ". ".join(text for task, text in of_tasks.items() if not tasks or task in tasks)


class Others:
    """What else would come out of a figure's claims."""

    def __init__(self, claims: Callable[[Results], Sequence[Claim]], results: Results) -> None:
        self._claims = {
            name: {claim.says: claim for claim in claims(replace(results, change=change))}
            for name, change in ((LEARNT_ONLY, if_learnt), (LEARNT_ROWS, without_rows))
        }

    def told(self, claim: Claim) -> str:
        """Each analysis with its verdict, and its number where a claim has one alone."""
        tests = {OWN_VARIANCE: claim.apart}
        tests |= {name: claims[claim.says].tests for name, claims in self._claims.items()}
        return "; ".join(
            f"{name}: *{over_all(every)}*{f', {every[0].number}' if len(every) == 1 else ''}"
            for name, every in tests.items()
        )
