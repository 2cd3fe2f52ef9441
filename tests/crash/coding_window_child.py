"""Codes a session in its window by keys at a steady rate and says of every key that it was pressed.

    python -m tests.crash.coding_window_child SESSION RATE

Each line on standard output is a JSON list: ["opened"], then ["given", marks, open spans, monotonic
ns] after each key. It is meant to be killed at any moment.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from tests.crash.coding_child import say


def main(session: Path, rate: float) -> None:
    """Press keys until it is killed."""
    import time

    from labapp.ui.qtapp import make_app

    app = make_app()
    from PySide6.QtTest import QTest

    from labapp.ui.replay.coding_state import CodingRequest
    from labapp.ui.replay.coding_window import open_coding_window

    coding = open_coding_window(session, CodingRequest("anna"))
    coding.window.open(0)
    app.processEvents()
    say("opened")
    units = coding.coding.units
    for number in itertools.count():
        coding.coding.choose(units[number // 2 % len(units)].id)
        coding.window.controller.seek((number + 1) * 10_000_000)
        QTest.keyClicks(app.focusWidget() or coding.window, "eu"[number % 2])
        marks = sorted((mark.id, mark.code, mark.t1_ns) for mark in coding.coding.marks.all)
        say("given", [name for name, _, _ in marks], time.monotonic_ns())
        app.processEvents()
        time.sleep(1 / rate)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
