"""Scores of questionnaires: one pure function a published scoring rule.

A function takes the answers of one instrument by item (those that were given) and returns its
scores by name. A score whose answers are not all there is absent, never guessed and never NaN.
`SCORINGS` names them for the instrument files; `RANGES` has the limits and meaning of every score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

Answers = Mapping[str, Any]
Scores = dict[str, float]

TLX_SUBSCALES = (
    "mental_demand",
    "physical_demand",
    "temporal_demand",
    "performance",
    "effort",
    "frustration",
)
TLX_PAIRS = {f"{a}_or_{b}": (a, b) for a, b in combinations(TLX_SUBSCALES, 2)}
"""The 15 pairwise comparisons: id of the item -> its two subscales."""

_SUS_ITEMS = tuple(f"sus_{number}" for number in range(1, 11))
_UEQ_ITEMS = tuple(f"ueq_{number}" for number in range(1, 9))


def seq(answers: Answers) -> Scores:
    """`seq`, 1-7: the Single Ease Question as answered; here 7 is very difficult (paper 000, 4.4).

    Sauro and Dumas (2009), Comparison of three one-question, post-task usability questionnaires.
    """
    return {"seq": float(answers["seq"])} if "seq" in answers else {}


def nasa_tlx(answers: Answers) -> Scores:
    """Six subscales, each 0-100 (5 x the gradation 0-20), and `raw_tlx`, 0-100, their mean.

    Hart and Staveland (1988); the mean without weights: Hart (2006), NASA-Task Load Index; 20
    years later.
    """
    scores = {name: 5.0 * answers[name] for name in TLX_SUBSCALES if name in answers}
    if len(scores) == len(TLX_SUBSCALES):
        scores["raw_tlx"] = sum(scores.values()) / len(TLX_SUBSCALES)
    return scores


def nasa_tlx_weights(answers: Answers) -> Scores:
    """`weight_` and each subscale, 0-5: how often it was chosen in the 15 comparisons, 15 in all.

    Hart and Staveland (1988); NASA Task Load Index (TLX) v. 1.0 manual. Absent unless all 15 were
    answered.
    """
    chosen = [answers[pair]["chosen"] for pair in TLX_PAIRS if pair in answers]
    if len(chosen) < len(TLX_PAIRS) or not all(len(one) == 1 for one in chosen):
        return {}
    taken = [one[0] for one in chosen]
    return {f"weight_{name}": float(taken.count(name)) for name in TLX_SUBSCALES}


def weighted_tlx(ratings: Scores, weights: Scores) -> Scores:
    """`weighted_tlx`, 0-100: sum of weight x subscale over the six, divided by 15.

    ratings: of `nasa_tlx`; weights: of `nasa_tlx_weights`. NASA TLX v. 1.0 manual.
    """
    if "raw_tlx" not in ratings or len(weights) < len(TLX_SUBSCALES):
        return {}
    total = sum(weights[f"weight_{name}"] * ratings[name] for name in TLX_SUBSCALES)
    return {"weighted_tlx": total / len(TLX_PAIRS)}


def sus(answers: Answers) -> Scores:
    """`sus`, 0-100: odd items count answer - 1, even items 5 - answer; their sum times 2.5.

    Brooke (1996), SUS: a quick and dirty usability scale. Absent unless all ten were answered.
    """
    if not all(item in answers for item in _SUS_ITEMS):
        return {}
    parts = [
        answers[item] - 1 if number % 2 else 5 - answers[item]
        for number, item in enumerate(_SUS_ITEMS, start=1)
    ]
    return {"sus": 2.5 * sum(parts)}


def ueq_s(answers: Answers) -> Scores:
    """`pragmatic` (items 1-4), `hedonic` (5-8) and `overall` (all), each the mean of answers moved
    from 1-7 to -3..3; -3 is the negative word.

    Schrepp, Hinderks and Thomaschewski (2017), Design and evaluation of a short version of the
    User Experience Questionnaire (UEQ-S). A mean is absent unless all its items were answered.
    """
    groups = {"pragmatic": _UEQ_ITEMS[:4], "hedonic": _UEQ_ITEMS[4:], "overall": _UEQ_ITEMS}
    return {
        name: sum(answers[item] - 4 for item in items) / len(items)
        for name, items in groups.items()
        if all(item in answers for item in items)
    }


def as_answered(answers: Answers) -> Scores:
    """Likert items as they are: a score an item, in the item's own numbers."""
    return {
        item: float(value)
        for item, value in answers.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


SCORINGS: dict[str, Callable[[Answers], Scores]] = {
    "seq": seq,
    "nasa-tlx": nasa_tlx,
    "nasa-tlx-weights": nasa_tlx_weights,
    "sus": sus,
    "ueq-s": ueq_s,
    "as-answered": as_answered,
}
"""By the names of the instrument files."""


RATED: dict[str, dict[str, tuple[int, int]]] = {
    "seq": {"seq": (7, 1)},
    "nasa-tlx": dict.fromkeys(TLX_SUBSCALES, (21, 0)),
    "sus": dict.fromkeys(_SUS_ITEMS, (5, 1)),
    "ueq-s": dict.fromkeys(_UEQ_ITEMS, (7, 1)),
}
"""Points and first value of the ratings that a function scores, by item."""


@dataclass(frozen=True, slots=True)
class Range:
    """Limits of a score and what its ends mean."""

    low: float
    high: float
    meaning: str


RANGES: dict[str, Range] = {
    "seq": Range(1, 7, "1 very easy, 7 very difficult"),
    **{name: Range(0, 100, "NASA-TLX subscale, 100 most") for name in TLX_SUBSCALES},
    "performance": Range(0, 100, "NASA-TLX subscale, 0 perfect, 100 failure"),
    "raw_tlx": Range(0, 100, "mean of the six subscales, 100 most"),
    **{
        f"weight_{name}": Range(0, 5, "times chosen in the 15 comparisons")
        for name in TLX_SUBSCALES
    },
    "weighted_tlx": Range(0, 100, "weighted mean of the six subscales, 100 most"),
    "sus": Range(0, 100, "System Usability Scale, 100 best"),
    "pragmatic": Range(-3, 3, "UEQ-S pragmatic quality, 3 best"),
    "hedonic": Range(-3, 3, "UEQ-S hedonic quality, 3 best"),
    "overall": Range(-3, 3, "UEQ-S overall, 3 best"),
}
"""By score; scores of `as_answered` have the limits of their items."""
