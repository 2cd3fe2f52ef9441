"""What is shown while metrics are computed."""

from __future__ import annotations

import io

from rich.console import Console

from labapp.models.metrics.evaluation.scores import show_progress


def shown(terminal: bool) -> str:
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100, color_system=None)
    with show_progress(console) as say:
        say("dci", None)
        console.print("seen")
        say("r4", None)
        say("r4", 0.25)
        console.print("seen")
    return text.getvalue()


def test_a_terminal_shows_the_metric_and_how_far_it_is() -> None:
    text = shown(terminal=True)
    assert "computing DCI" in text
    assert "computing R4" in text
    assert "25%" in text


def test_nothing_is_written_where_nobody_watches() -> None:
    assert shown(terminal=False) == "seen\nseen\n"
