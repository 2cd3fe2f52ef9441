"""For a blind moderator: what the program tells of itself (an error of a decoder, say) is shown
without the names of models. The journal keeps them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from labapp.events import Event

Veil = Callable[[Event], Event]
UNNAMED = "a model"


def no_veil(event: Event) -> Event:
    """Everything as it is."""
    return event


def veil_of(models: Iterable[str]) -> Veil:
    """Takes ids of models, and their names within their data sets, out of what an alarm says."""
    ids = set(models)
    names = sorted(ids | {model.rpartition("/")[2] for model in ids}, key=len, reverse=True)
    named = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)

    def veil(event: Event) -> Event:
        if event.kind != "alarm.raised" or not ids:
            return event
        detail = named.sub(UNNAMED, str(event.payload["detail"]))
        return event._replace(payload={**event.payload, "detail": detail})

    return veil
