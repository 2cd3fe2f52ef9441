"""Training a classifier as seen in a terminal: a bar, an estimate and the losses."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from labapp.explanations import fitting, training
from labapp.explanations import recipe as recipes


def train_with_progress(
    recipe: Path,
    out: Path | None = None,
    *,
    data_folder: Path | None = None,
    resume: bool = True,
    threads: int = 1,
    console: Console | None = None,
) -> Path:
    """Train a recipe while telling on standard error how far it is; see `training.train`.

    Interrupted (Ctrl+C), it leaves its last checkpoint, and the same call goes on from there.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%  {task.fields[phase]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[remaining]}  {task.fields[losses]}"),
    )
    name = recipes.read(recipe).id  # a recipe that is refused shows no bar
    with Progress(*columns, console=console or Console(stderr=True)) as bar:
        task = bar.add_task(
            name, total=None, phase="making the pictures ready", remaining="", losses=""
        )

        def show(progress: fitting.Progress) -> None:
            bar.update(
                task,
                total=progress.steps,
                completed=progress.step,
                phase=progress.phase,
                remaining=_remaining(progress),
                losses="  ".join(f"{name} {value:.3f}" for name, value in progress.losses.items()),
            )

        return training.train(
            recipe,
            out=out,
            data_folder=data_folder,
            resume=resume,
            progress=show,
            threads=threads,
        )


def _remaining(progress: fitting.Progress) -> str:
    """Time left; when learning is over, what takes the last seconds."""
    if progress.step == progress.steps:
        return "measuring the model"
    minutes, rest = divmod(round(progress.remaining_s), 60)
    return f"{minutes}:{rest:02d} left"
