"""Building with a progress bar, and what it took."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from labapp.errors import StimuliError
from labapp.explanations.building import build, sets
from labapp.stimuli import library


@dataclass(frozen=True, slots=True)
class Done:
    """A set that was built and what it took. memory_mb: the most the process had at any time;
    None where the system does not tell."""

    folder: Path
    photos: int
    looked_at: int
    kilobytes: float
    seconds: float
    memory_mb: float | None

    def lines(self) -> list[str]:
        memory = "" if self.memory_mb is None else f", {self.memory_mb:.0f} MiB of memory at most"
        return [
            f"photos:  {self.photos}, chosen from {self.looked_at}",
            f"size:    {self.kilobytes:.0f} KiB",
            f"took:    {self.seconds:.0f} s{memory}",
            f"stimuli: {self.folder}",
        ]


def build_with_progress(
    name: str, out: Path | None, seed: int, model: str | Path | None = None
) -> Done:
    """Build a set into a new folder, by default among one's own.

    Raises
    ------
    UsageError : there is no such set to build.
    StimuliError : the folder exists, or its id is taken; there are too few photos.
    ModelError : the model cannot be used.
    """
    spec = sets.spec(name)
    folder = library.own() / spec.id if out is None else out
    if out is None and (library.shipped() / spec.id).exists():
        raise StimuliError(
            f"{spec.id} comes with the program; studies that name it show that one.",
            todo="Say with --out where yours goes, and name its folder in your study.",
        )
    if folder.exists():
        raise StimuliError(
            f"{folder} exists; nothing is overwritten.", todo="Name a folder that does not exist."
        )
    start = time.perf_counter()
    with Progress(console=Console(stderr=True)) as bar:
        jobs = {}

        def told(what: str, done: int, of: int) -> None:
            if what not in jobs:
                jobs[what] = bar.add_task(what)
            bar.update(jobs[what], completed=done, total=of)

        built = build.build(spec, seed=seed, model=model, progress=told)
    build.write(built, folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return Done(
        folder,
        len(built.manifest.photos),
        built.looked_at,
        size / 1024,
        time.perf_counter() - start,
        peak_memory_mb(),
    )


def peak_memory_mb() -> float | None:
    """The most memory this process had at any time, in MiB; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)
