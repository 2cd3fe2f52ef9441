"""The two rules that count active time, shared by the running task and the analysis.

Paper 000, 4.3: the hidden count that brings Skip pauses after some seconds without activity. The
published application instead adds up the gaps between snapshots that are shorter than that.
"""

from __future__ import annotations

ACTIVITIES = frozenset(
    {"dial.moved", "dial.selected", "overlay.toggled", "label.edited", "alignment.marked"}
)
"""The kinds that are something the participant did in a question."""


def counted_ns(gap_ns: int, inactivity_ns: int) -> int:
    """Active time of a stretch between two activities, in ns: at most the inactivity limit."""
    if gap_ns < 0:
        return 0
    return gap_ns if gap_ns < inactivity_ns else inactivity_ns


def counted_as_published_ns(gap_ns: int, inactivity_ns: int) -> int:
    """Active time of a stretch between two snapshots, in ns: all of it, or nothing."""
    return gap_ns if gap_ns < inactivity_ns else 0
