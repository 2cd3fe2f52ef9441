"""Which questionnaires ask who a participant is: the report has a section on them, and the console
does not show their answers. What de-identified copies leave out goes by what the items themselves
say (`labapp.study.instruments.items`)."""

from __future__ import annotations

DEMOGRAPHICS = frozenset({"demographics"})
"""Instruments that ask about the person. Variants of them have the name among the words of their
id: `hive-demographics`, a lab's own `demographics-…`."""


def is_demographic(instrument: object) -> bool:
    """Whether an instrument asks about the person: by its id, or a part of it between hyphens."""
    return not DEMOGRAPHICS.isdisjoint(str(instrument).split("-"))
