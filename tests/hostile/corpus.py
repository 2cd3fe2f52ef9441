"""Where the cases of the corpus are put down, and what several of them use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.hostile import rehashed

Case = Callable[[Path], Any]
CASES: dict[str, tuple[Case, str]] = {}
SECOND = rehashed.GOLDEN / "journals" / "second.jsonl"
DEEP = 100_000
MIB = 1024 * 1024


def case(name: str, words: str) -> Callable[[Case], Case]:
    def add(made: Case) -> Case:
        assert name not in CASES
        CASES[name] = made, words
        return made

    return add
