"""Ids for what other tools call by any text."""

from __future__ import annotations

import re
from collections.abc import Container

_LONGEST = 60


def id_of(text: str, otherwise: str, taken: Container[str]) -> str:
    """A text as an id: small letters, digits and underscores. otherwise: what it begins with where
    no letter is left. taken: ids that others have."""
    word = re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")
    if not word or not word[0].isalpha():
        word = f"{otherwise}_{word}".rstrip("_")
    number, own = 1, word[:_LONGEST]
    while own in taken:
        number += 1
        own = f"{word[:_LONGEST]}_{number}"
    return own
