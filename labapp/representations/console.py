"""Training at the command line: a progress bar with losses and an estimate of the time left."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
)

from labapp.representations import training


def train_with_progress(
    recipe: Path, out: Path | None, device: str | None, *, resume: bool
) -> Path:
    """`training.train` with a bar on standard error; returns the package's folder."""
    columns: list[ProgressColumn | str] = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[losses]}"),
    ]
    with Progress(*columns, console=Console(stderr=True)) as bar:
        job = bar.add_task(recipe.stem, total=None, left="", losses="")

        def show(now: training.Progress) -> None:
            left = "" if now.remaining_s is None else f"{_duration(now.remaining_s)} left"
            losses = "  ".join(f"{name} {value:.4g}" for name, value in now.losses.items())
            bar.update(job, total=now.iterations, completed=now.iteration, left=left, losses=losses)

        return training.train(recipe, out=out, device=device, resume=resume, progress=show)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
