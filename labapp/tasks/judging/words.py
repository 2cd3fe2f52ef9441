"""Which words of the participant's window belong to which of these tasks, for translations."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from labapp.tasks.judging.plan import JudgingTask

_AMONG: Mapping[str, tuple[str, ...]] = {
    "warm-up": (
        "attribute_*", "example", "exercise_of", "feedback_*", "fruit*", "missing_mistake",
        "missing_verdict", "none", "path_marked", "q_decision", "q_mistake", "q_verdict",
        "reason_*", "step_*_*", "submit", "verdict_*", "warm_up",
    ),
    "heatmap": (
        "bar_*", "cold_*", "heatmap", "hot_*", "missing_output", "q_distinction", "q_output*",
        "scale_text_*", "this_is",
    ),
    "prototype": (
        "all_from", "class", "each_from*", "missing_species",
        "q_class", "q_pairs", "q_species", "rated", "shuffled", "sorted",
    ),
    "path": (
        "absent", "agree_with_all", "compared_to", "decision", "final_steps", "first_steps",
        "if_*", "keys_two", "leads_to", "missing_first_step", "missing_q*", "predicted", "present",
        "q1", "q2_*", "q3_*", "q_first_step", "step", "step_column", "tree", "tree_*", "close_tree",
    ),
}  # fmt: skip
"""By kind the words, behind `judging_`, that its screens alone show; all others are of all."""


def of_stage(task: JudgingTask, key: str) -> bool:
    """Whether a stage can show a word."""
    return _kind(key) in (None, task.partition("-")[0])


def of_warm_up(key: str) -> bool:
    """Whether the warm-up can show a word."""
    return _kind(key) in (None, "warm-up")


def of_all(key: str) -> bool:
    """Whether a word is of no kind."""
    return _kind(key) is None


def _kind(key: str) -> str | None:
    name = key.removeprefix("judging_")
    kinds = (kind for kind, among in _AMONG.items() if any(fnmatchcase(name, a) for a in among))
    return next(kinds, None)
