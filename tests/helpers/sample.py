"""What is large is looked at in a sample by the suite, and whole by `make torture`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Thing = TypeVar("Thing")

EVERYTHING = os.environ.get("LABAPP_TESTS_ALL") == "1"


def sample(everything: Sequence[Thing], few: Sequence[Thing]) -> Sequence[Thing]:
    """`everything` where LABAPP_TESTS_ALL is 1, else `few` of it."""
    assert set(few) <= set(everything)
    return everything if EVERYTHING else few
