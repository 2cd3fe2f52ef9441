"""What was measured, and in what, in the words of the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from labapp.ui.language import N_, Phrases, phrases, tr, translate_phrase

TITLES = {
    "completion_rate": N_("Completion rate"),
    "response_time_s": N_("Response time"),
    "slide_distance": N_("Slide distance"),
    "error_auc_sum": N_("Error AUC, sum"),
    "error_auc_mean": N_("Error AUC, mean"),
    "seq": N_("Difficulty (SEQ)"),
    "correctness_rate": N_("Correctness"),
    "confidence": N_("Confidence"),
    "understanding": N_("Dial makes sense"),
    "post_quiz_difficulty": N_("Difficulty (after the quiz)"),
    "mental_demand": N_("Mental demand"),
    "physical_demand": N_("Physical demand"),
    "temporal_demand": N_("Temporal demand"),
    "performance": N_("Performance"),
    "effort": N_("Effort"),
    "frustration": N_("Frustration"),
    "raw_tlx": N_("Raw TLX"),
    "weighted_tlx": N_("Weighted TLX"),
    "systematic_plan": N_("Had a systematic plan"),
    "random_experimenting": N_("Experimented at random"),
    "understood_dimensions": N_("Understood the dimensions"),
}
"""Titles of the metrics of stages, by their columns."""
QUANTITIES = (
    N_("distinction"),
    N_("output prediction"),
    N_("agreement"),
    N_("warm-up, prediction rightly judged"),
    N_("warm-up, first mistake found"),
    N_("first step disagreed with, {photos}: {error}"),
    N_("similarity, chosen"),
    N_("similarity, others"),
    N_("rating at rank {rank}"),
    N_("photos rightly assigned, as told"),
    N_("photos rightly assigned, mean over all ways to break the ties"),
    N_("photos among which the lot decided"),
    N_("least accuracy, {risk} risk, not answered"),
    N_("least accuracy, {risk} risk"),
    N_("understanding after intro"),
    N_("understanding after task"),
    N_("understanding after results"),
    N_("confidence, {question}, answered rightly"),
    N_("confidence, {question}, answered wrongly"),
    N_("confidence, {question}"),
    N_("duration"),
    N_("gender: {who}"),
    N_("race: {who}"),
    N_("experience with ML"),
    N_("reaction time, wrong prediction of the {which} image: {answer}"),
    N_("reaction time"),
    N_("model's cross-entropy, masked images"),
    N_("rank by {whom}, 1 is best"),
)
"""Quantities that the analysis writes in words, of judged explanations and masked pictures."""
GAPS: Mapping[str, Sequence[str]] = {
    "photos": (N_("all photos"), N_("model wrong"), N_("model right")),
    "error": (N_("exact"), N_("too early"), N_("too late")),
    "rank": tuple(map(str, range(1, 51))),
    "risk": (N_("low"), N_("medium"), N_("high")),
    "question": (N_("distinction"), N_("output prediction"), N_("agreement")),
    "who": (
        N_("woman"),
        N_("man"),
        N_("non binary"),
        N_("self described"),
        N_("not reported"),
        N_("white"),
        N_("black"),
        N_("asian"),
        N_("american indian"),
        N_("pacific islander"),
        N_("hispanic"),
    ),
    "which": (N_("whole"), N_("masked")),
    "answer": (N_("agreed"), N_("other label"), N_("don't know")),
    "whom": (N_("people"), N_("model")),
}
"""What stands in their gaps."""
GROUPS = (N_("reconstruction, {of}"), N_("single-dimension, {of}"))
"""Groups of stages: the task, and behind it models and data sets."""
UNITS = (
    N_("% of questions"),
    N_("s a question"),
    N_("slider widths a question"),
    N_("sum of squares × s, a stage"),
    N_("mean of squares × s, a stage"),
    N_("1 very easy – 7 very difficult"),
    N_("0 perfect – 100 failure"),
    N_("photos"),
    N_("rank"),
)
"""Their units, where these have words."""


def title(quantity: str) -> str:
    """What was measured, as a heading."""
    text = tr(TITLES[quantity]) if quantity in TITLES else translate_phrase(quantity, _quantities())
    return text[:1].upper() + text[1:]


def unit_text(unit: str) -> str:
    """In what; a sign is the same everywhere."""
    return tr(unit) if unit in UNITS else unit


def group_text(group: str) -> str:
    """Which stages were counted together."""
    task, comma, models = group.partition(", ")
    phrase = f"{task}, {{of}}"
    return tr(phrase, of=models) if comma and phrase in GROUPS else tr(group)


@cache
def _quantities() -> Phrases:
    return phrases(QUANTITIES, **GAPS)
