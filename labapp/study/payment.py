"""What a session earned: told to the participant on the last page, and written at its end."""

from __future__ import annotations

from labapp.events.lifecycle import PaymentComputed
from labapp.study.inclusion import Achieved
from labapp.study.rules import Incentive, to_the_cent


def earned(paid: Incentive, achieved: Achieved) -> PaymentComputed:
    """The base and the bonus for what was achieved so far.

    Whoever ends early has earned the same way; a study file says nothing of that, and what is paid
    then is the lab's decision.
    """
    bonus = paid.bonus(achieved.solved, achieved.correct, achieved.above_chance)
    total = to_the_cent((paid.base, 1), (bonus, 1))
    return PaymentComputed(
        paid.currency,
        paid.base,
        bonus,
        total,
        achieved.solved,
        achieved.correct,
        achieved.photos,
        achieved.above_chance,
    )
