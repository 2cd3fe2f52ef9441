"""Training as seen in a terminal: a bar, an estimate and the losses, on standard error."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from labapp.representations import recipe as recipes
from labapp.representations import training


def train_with_progress(
    recipe: Path,
    out: Path | None = None,
    device: str | None = None,
    *,
    resume: bool = True,
    data_folder: Path | None = None,
    threads: int = 1,
    console: Console | None = None,
) -> Path:
    """Train a recipe while telling how far it is; see `training.train`.

    Interrupted (Ctrl+C), it leaves its last checkpoint, and the same call goes on from there.
    """
    console = Console(stderr=True) if console is None else console
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%  epoch {task.fields[epoch]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[remaining]}  {task.fields[losses]}"),
    )
    name = recipes.read(recipe).id  # a recipe that is refused shows no bar
    with Progress(*columns, console=console) as bar:
        task: TaskID = bar.add_task(name, total=None, epoch="-", remaining="", losses="")

        def show(progress: training.Progress) -> None:
            bar.update(
                task,
                total=progress.iterations,
                completed=progress.iteration,
                epoch=f"{progress.epoch}/{progress.epochs}",
                remaining=_remaining(progress),
                losses="  ".join(f"{name} {value:.3f}" for name, value in progress.losses.items()),
            )

        return training.train(
            recipe,
            out=out,
            device=device,
            resume=resume,
            progress=show,
            data_folder=data_folder,
            threads=threads,
        )


def _remaining(progress: training.Progress) -> str:
    """Time left; when learning is over, what takes the last seconds to minutes."""
    if progress.iteration == progress.iterations:
        return "measuring the model"
    minutes, rest = divmod(round(progress.remaining_s), 60)
    return f"{minutes}:{rest:02d} left"
