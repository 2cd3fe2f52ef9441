"""What is being computed, and how far it is, for who watches a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from labapp.metrics.evaluation.scores import Say
from labapp.metrics.registry import METRICS


@contextmanager
def watched(console: Console | None = None) -> Iterator[Say]:
    """Gives a `Say` that shows the metric, and of one that may take minutes a bar and the time that
    is left. On standard error by default, for standard output is the table, or one JSON value;
    nothing of it stays, and where nobody watches nothing is written."""
    console = Console(stderr=True) if console is None else console
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[share]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task("", total=None, share="")

    def say(name: str, share: float | None) -> None:
        if share is None:
            label = METRICS[name].label
            bar.reset(task, total=None, description=f"computing {label}", share="")
        else:
            bar.update(task, total=1.0, completed=share, share=f"{share:.0%}")

    with bar:
        yield say
