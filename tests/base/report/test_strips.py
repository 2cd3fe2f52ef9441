"""Panels of strips have room for their names, however many and long."""

from __future__ import annotations

import numpy as np
import pytest

from labapp.base.figure_style import Look, looking
from labapp.base.report import kit


@pytest.mark.parametrize("width", [3.33, 10.0])
@pytest.mark.parametrize("count", [2, 6, 12, 30])
def test_names_leave_room_for_what_is_drawn(count: int, width: float) -> None:
    """A figure without room warns, and warnings are errors here."""
    models = [f"concepts/shapes-graded-logits-of-a-lab-16-8-{number}" for number in range(count)]
    values = np.random.default_rng(0).uniform(0, 100, (5, count))
    panels = [kit.StripPanel(name, "0–100", values, (0.0, 100.0)) for name in "ab"]
    with looking(Look(width_in=width)):
        drawing = kit.strip_panels(panels, models, "names", "Workload by model", 2)
    assert drawing.svg.count("<g id=") > 2 * count
