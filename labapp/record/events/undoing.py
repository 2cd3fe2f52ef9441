"""Kinds of what can be taken back: a skip, the wish to leave, the end of a session."""

from __future__ import annotations

from typing import Any

from labapp.record.events.registry import Payload, kind, migration
from labapp.record.events.types import Index, Number, Whole, Word


@kind("skip.requested", durable=True)
class SkipRequested(Payload):
    """A question was skipped by the participant, or the rest of a part by the moderator; until
    skip.confirmed it can be taken back, and a neutral page covers it. No duration counts the time
    from here to skip.taken_back or skip.confirmed. A pause, a crash or the end of the session
    undoes it: the question goes on.

    Attributes
    ----------
    what : trial or part.
    index : the part's place in the plan, from 0.
    to : of a part, the place in the plan at which the session continues, from 0; the number of
        parts where nothing is left. The parts in between are skipped too, see part.skipped. Null
        where only the rest of the part is skipped, as in all older versions.
    """

    what: Word
    index: Index
    to: Whole | None = None


@kind("skip.taken_back", durable=True, lane="alarms")
class SkipTakenBack(Payload):
    """The skip was taken back: the question, or the part, goes on as it was.

    Attributes
    ----------
    what : trial or part.
    """

    what: Word


@kind("skip.confirmed", durable=True)
class SkipConfirmed(Payload):
    """The skip was not taken back in time; what it leads to follows.

    Attributes
    ----------
    what : trial or part.
    """

    what: Word


@kind("session.reopened", durable=True, lane="alarms")
class SessionReopened(Payload):
    """The moderator took the end of the session back before the console was closed. No duration
    counts the time in between.

    Attributes
    ----------
    seq : number of the session.ended that is undone, with what was decided and computed for it.
    """

    seq: Number


@kind("close.requested", version=2, durable=True, lane="alarms")
class CloseRequested(Payload):
    """The participant tried to leave the window (close button or Escape); nothing was closed. From
    version 2 on, no duration counts the time from here to close.withdrawn, or to a pause or the end
    of the session, and the task stands still.

    Attributes
    ----------
    how : by the window's button (close) or the key (escape).
    """

    how: str


@migration("close.requested", 1)
def _close_requested_from_1(payload: dict[str, Any]) -> dict[str, Any]:
    # The fields are the same: the version tells that time went on while the participant was asked.
    return payload


@kind("close.withdrawn", durable=True)
class CloseWithdrawn(Payload):
    """The participant who tried to leave the window goes on."""
