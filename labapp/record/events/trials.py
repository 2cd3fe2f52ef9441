"""Kinds that the trials of all tasks share."""

from __future__ import annotations

from labapp.record.events.registry import Payload, kind
from labapp.record.events.types import Word


@kind("trial.ended", durable=True, of_trial=True)
class TrialEnded(Payload):
    """The question is over.

    Attributes
    ----------
    outcome : solved, marked (a calibration's), skipped (by the participant), answered (a
        single-dimension question, a stimulus), interrupted (a timed stimulus, which is shown
        again), time_expired or stage_skipped (by the moderator).
    """

    outcome: Word


@kind("stage.time_expired", durable=True)
class StageTimeExpired(Payload):
    """The stage's time limit was reached.

    Attributes
    ----------
    limit_s : the limit, in seconds.
    """

    limit_s: float
