"""How often skips were taken back, by question and by stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from labapp.events import Body, Event
from labapp.events.undoing import SkipTakenBack

Place = tuple[str | None, int | None, int | None]
"""Stage, question and attempt; of a whole stage only the first."""


def fold_taken_back(events: Iterable[tuple[Event, Body]]) -> Counter[Place]:
    """Times that a skip was taken back: of a question by the participant, of the rest of a part by
    the moderator."""
    counts: Counter[Place] = Counter()
    for event, body in events:
        if isinstance(body, SkipTakenBack):
            counts[event.key if body.what == "trial" else (event.stage, None, None)] += 1
    return counts
