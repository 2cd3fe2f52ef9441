"""Codes a session at a steady rate and says of every mark that it was given.

    python -m tests.crash.coding_child SESSION RATE

Each line on standard output is a JSON list: ["opened"], then ["mark", id, monotonic ns]. It is
meant to be killed at any moment.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from labapp.base import resources
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations import store


def say(*words: Any) -> None:
    """One write a line: shorter than a pipe's buffer, so it arrives whole or not at all."""
    os.write(1, json.dumps(words).encode() + b"\n")


def main(session: Path, rate: float) -> None:
    book = codebooks.read(resources.assets() / "codebooks" / "think-aloud.yaml")
    with store.open_marks(session, "anna", book) as file:
        say("opened")
        for number in itertools.count():
            mark = file.give("insight", t0_ns=number)
            say("mark", mark.id, time.monotonic_ns())
            if number % 7 == 6:
                file.undo()
                file.redo()
            time.sleep(1 / rate)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
