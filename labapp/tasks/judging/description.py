"""The description of the method, and the picture of the whole tree, which can be looked at while
something else is on the screen; every opening and closing is an event."""

from __future__ import annotations

from collections.abc import Sequence

from labapp.events import Payload
from labapp.events.commands import Command
from labapp.tasks.judging.commands import CloseDescription, OpenDescription
from labapp.tasks.judging.events import DescriptionClosed, DescriptionOpened


def toggled(offered: Sequence[str], now: str, command: Command) -> Sequence[Payload]:
    """What a command leads to. offered: what can be opened; now: what is open, or nothing."""
    match command:
        case OpenDescription(what) if what in offered and what != now:
            return (*closed(now), DescriptionOpened(what))
        case CloseDescription(what) if what and what == now:
            return closed(now)
    return ()


def closed(now: str) -> Sequence[Payload]:
    """What is open is closed."""
    return (DescriptionClosed(now),) if now else ()


def after(now: str, payload: Payload) -> str:
    """What is open after an event."""
    match payload:
        case DescriptionOpened():
            return payload.what
        case DescriptionClosed():
            return ""
    return now
