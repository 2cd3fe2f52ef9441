"""Skips that nobody takes back, for tests in which it is not the skip that matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labapp.record.events import UnstampedEvent
from labapp.record.events.commands import Command, ConfirmSkip, Skip, SkipStage


def skip_question(sender: Any, *source: Any) -> Sequence[UnstampedEvent] | None:
    """Skip the question on the screen for good. sender: what has `send`; returns what that does,
    where something came of the skip."""
    return _skip(sender, Skip(), *source)


def skip_stage(sender: Any, *source: Any) -> Sequence[UnstampedEvent] | None:
    """Skip the part on the screen for good."""
    return _skip(sender, SkipStage(), *source)


def _skip(sender: Any, command: Command, *source: Any) -> Sequence[UnstampedEvent] | None:
    asked = sender.send(command, *source)
    if asked == ():
        return ()
    confirmed = sender.send(ConfirmSkip(), *source)
    return asked if confirmed == () else confirmed
