"""Which questionnaires ask who a participant is: their answers are nobody's but the lab's."""

from __future__ import annotations

DEMOGRAPHICS = frozenset({"demographics"})
"""Instruments that ask about the person; a lab's own variants of them are called
`demographics-…`."""


def is_demographic(instrument: object) -> bool:
    """Whether an instrument asks about the person: by its id, or the part of it before a hyphen."""
    return str(instrument).split("-")[0] in DEMOGRAPHICS
