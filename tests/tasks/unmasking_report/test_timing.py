"""The table of times says of quick presses only what counts as a reaction time."""

from __future__ import annotations

import re
from dataclasses import replace

from labapp.tasks.unmasking.report.sections import QUICK_MS, timing
from tests.helpers.unmasked import group

QUICK = re.compile(rf"below {QUICK_MS:g} ms \(kept\)</th><td>[^<]*</td><td[^>]*>(\d+)</td>")


def test_times_that_are_left_out_are_not_told_as_kept() -> None:
    made = group(2)
    rows = made.annotations.assign(reaction_time_ms=400.0, keyboard_away=False)
    rows.iloc[:3, rows.columns.get_loc("reaction_time_ms")] = QUICK_MS - 50
    rows.iloc[:2, rows.columns.get_loc("keyboard_away")] = True
    said = "".join(timing(replace(made, annotations=rows)))
    assert "Keyboard away, reaction time left out" in said
    (kept,) = QUICK.findall(said)
    assert kept == "1"
    nothing = "".join(timing(replace(made, annotations=rows.assign(keyboard_away=True))))
    assert "(kept)" not in nothing
