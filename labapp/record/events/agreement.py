"""Bases of the kinds that say whether the participant agreed to take part, whatever the form."""

from __future__ import annotations

from labapp.record.events.registry import Payload


class Agreement(Payload):
    """The participant agreed.

    Attributes
    ----------
    signed : how: by a click, a name or a drawn signature (click, name, drawn).
    uses : whether they agreed to each use of the data that was asked one by one.
    """

    signed: str
    uses: dict[str, bool]


class Refusal(Payload):
    """The participant did not agree."""
