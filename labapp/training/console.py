"""Training as seen in a terminal: a bar, an estimate and the losses, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from labapp.training.loop import Progress


@contextmanager
def progress_bar(name: str, console: Console | None = None) -> Iterator[Callable[[Progress], None]]:
    """A bar for the training of the model `name`; gives what is told how far it is."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%  {task.fields[phase]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[remaining]}  {task.fields[losses]}"),
    )
    with Bar(*columns, console=console or Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None, phase="making ready", remaining="", losses="")

        def show(progress: Progress) -> None:
            bar.update(
                task,
                total=progress.steps,
                completed=progress.step,
                phase=progress.phase,
                remaining=_remaining(progress),
                losses="  ".join(f"{name} {value:.3f}" for name, value in progress.losses.items()),
            )

        yield show


def _remaining(progress: Progress) -> str:
    """Time left; when learning is over, what takes the last seconds to minutes."""
    if progress.step == progress.steps:
        return "measuring the model"
    minutes, rest = divmod(round(progress.remaining_s), 60)
    return f"{minutes}:{rest:02d} left"
