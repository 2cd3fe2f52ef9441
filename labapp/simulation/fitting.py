"""Whether a strategy of simulated participants can do a study."""

from __future__ import annotations

from labapp.errors import UsageError
from labapp.study.flow import PracticeItem, StagesItem, TutorialItem, items_of
from labapp.study.schema import Study
from labapp.study.stages import JudgingStages, UnmaskingStages

RECONSTRUCTS = frozenset({"understanding"})
"""The strategies that can turn dials; the others only answer about explanations."""


def check_fits(strategy: str, study: Study) -> None:
    """Refuse a strategy that cannot do a part of the study. Raises UsageError."""
    if strategy in RECONSTRUCTS:
        return
    for item in items_of(study.flow):
        stages = item.stages if isinstance(item, StagesItem) else None
        answers = isinstance(stages, JudgingStages | UnmaskingStages)
        if answers or not isinstance(item, StagesItem | PracticeItem | TutorialItem):
            continue
        able = ", ".join(sorted(RECONSTRUCTS))
        raise UsageError(
            f"A simulated participant of the strategy {strategy!r} cannot do the study "
            f"{study.id!r}: it only answers about explanations, and this study asks about dials "
            "of representations.",
            safe="No session was begun.",
            todo=f"Take a strategy that can: {able}.",
        )
