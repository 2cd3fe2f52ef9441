"""What `labapp stimuli build` does: choose the set, and build it with a progress bar."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from labapp.base.errors import UsageError
from labapp.base.progress import lines
from labapp.models.explanations.building import black_box, sets
from labapp.models.explanations.building.black_box import BlackBox
from labapp.models.explanations.building.pixel_score_sets import build_scored
from labapp.models.explanations.building.sets import SCORED_SPECS, ScoredSpec, SetSize
from labapp.models.explanations.data import METHODS, scorings
from labapp.models.stimuli import library
from labapp.models.stimuli.manifest import PATTERNS, SET_ID

KINDS = ("scores", "heatmaps")
"""Of sets from a lab's own classifier: scores of pixels, by which they are masked, or a
heatmap for each option."""


@dataclass(frozen=True, slots=True)
class BuildSummary:
    """A set that was built, with the time and memory used. `memory_mb`: peak memory of the process,
    in MiB; None if the system does not report it."""

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


def find_scored_spec(
    name: str | None,
    set_id: str | None,
    model: str | None,
    *,
    title: str | None = None,
    each: int | None = None,
    wrong: int | None = None,
    methods: str | None = None,
) -> ScoredSpec:
    """The set of pixel scores that is meant: a shipped one, or one of an own model by `set_id`.
    Raises UsageError: neither or both are named, there is no model, no such numbers of images, or
    no such method."""
    if name is not None and set_id is not None:
        raise UsageError(
            f"Both a set ({name}) and --id {set_id} were given.", todo="Leave one of them out."
        )
    if name is not None:
        spec = SCORED_SPECS[name]
        if model is not None:
            spec = replace(spec, model=model)
    else:
        if set_id is None or model is None:
            raise UsageError(
                "The command does not say which set to build.",
                todo="Name a set, or a model with --model and the id of its new set with --id.",
            )
        if not re.fullmatch(SET_ID, set_id):
            raise UsageError(f"{set_id!r} is not a valid id of a set: {PATTERNS[SET_ID]}.")
        spec = ScoredSpec(set_id, set_id, model)
    names = spec.methods if methods is None else tuple(methods.split(","))
    if unknown := [name for name in names if name not in scorings()]:
        raise UsageError(
            f"There is no method {unknown[0]!r} that scores pixels. {METHODS.left_out()}".strip(),
            todo=f"Use some of: {', '.join(scorings())}.",
        )
    if len(set(names)) != len(names):
        raise UsageError(f"Found --methods {methods}.", todo="Name each method once.")
    spec = replace(
        spec,
        methods=names,
        title=title or spec.title,
        each=spec.each if each is None else each,
        wrong=min(spec.wrong, (each or spec.each) // 2) if wrong is None else wrong,
    )
    if spec.wrong > spec.each:
        raise UsageError(
            f"{spec.wrong} wrong images cannot be chosen from {spec.each} images of a class."
        )
    return spec


def refuse_scored_options(name: str, **options: object) -> None:
    """Raises UsageError if an option is given that only sets of pixel scores have."""
    given = [key for key, value in options.items() if value is not None]
    if given and name in sets.specs():
        raise UsageError(
            f"{name} is not made of pixel scores, so it has no options for its images.",
            todo="Leave out --title, --images-per-class, --wrong-per-class and --methods.",
        )


def build_scored_with_progress(
    spec: ScoredSpec, out: Path | None, seed: int, data_folder: Path | None = None
) -> BuildSummary:
    """Build a set of pixel scores into a new folder, by default among the user's own sets.

    It raises what `pixel_score_sets.build_scored` raises, and StimuliError as
    `build_with_progress`.
    """
    return _build_and_write(
        spec.id,
        out,
        lambda progress: build_scored(spec, seed=seed, data_folder=data_folder, progress=progress),
    )


def explain_with_progress(
    box: BlackBox,
    images: Path,
    kind: str,
    *,
    set_id: str,
    title: str | None,
    each: int,
    wrong: int,
    method: str,
    sizes: SetSize,
    seed: int,
    out: Path | None,
) -> BuildSummary:
    """Build a set of pixel scores or heatmaps from a classifier of which nothing is known but its
    outputs, see `black_box`. Raises UsageError, what `black_box.build` raises, and StimuliError as
    `build_with_progress`."""
    if len(box.names) < 2 or len(set(box.names)) < len(box.names) or not all(box.names):
        raise UsageError(
            f"Found --classes {','.join(box.names)}.",
            todo="Name at least two classes, each once, in the order of the classifier's scores.",
        )
    if not re.fullmatch(SET_ID, set_id) or wrong > each:
        raise UsageError(
            f"Found --id {set_id} with {wrong} wrong images out of {each} per class.",
            todo="An id consists of lower-case letters, digits and hyphens. The number of "
            "wrong images must not be larger than the number of images per class.",
        )
    if kind not in KINDS or method not in black_box.METHODS:
        raise UsageError(
            f"Found --kind {kind} --method {method}.",
            todo=f"The kind must be {' or '.join(KINDS)}, and the method one of "
            f"{', '.join(black_box.METHODS)}.",
        )
    if kind == "heatmaps":
        return _build_and_write(
            set_id,
            out,
            lambda progress: black_box.build_heatmaps(
                box,
                images,
                set_id=set_id,
                title=title or set_id,
                method=method,
                wanted=sizes,
                seed=seed,
                progress=progress,
            ),
        )
    spec = ScoredSpec(
        set_id, title or set_id, str(box.file), each, wrong, methods=tuple(black_box.METHODS)
    )
    return _build_and_write(
        set_id,
        out,
        lambda progress: black_box.build(box, images, spec, seed=seed, progress=progress),
    )


def build_with_progress(
    name: str,
    out: Path | None,
    seed: int,
    model: str | Path | None = None,
    data_folder: Path | None = None,
) -> BuildSummary:
    """Build a set into a new folder, by default among the user's own sets. Raises UsageError: there
    is no such set to build. StimuliError: the folder exists, or its id is taken; there are too few
    photos. ModelError: the model cannot be used."""
    spec = sets.spec(name)
    return _build_and_write(
        spec.id,
        out,
        lambda progress: sets.build(
            spec, seed=seed, model=model, data_folder=data_folder, progress=progress
        ),
    )


def _build_and_write(
    name: str, out: Path | None, make: Callable[[sets.Progress], sets.BuiltSet]
) -> BuildSummary:
    """Build a set with a progress bar and write it into a new folder."""
    folder = library.own_folder() / name if out is None else out
    if out is None:
        library.refuse_shipped(name)
    library.refuse_existing(folder)
    start = time.perf_counter()
    with _shown_progress() as show_progress:
        built = make(show_progress)
    sets.write(built, folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return BuildSummary(
        folder,
        len(built.manifest.photos),
        built.looked_at,
        size / 1024,
        time.perf_counter() - start,
        peak_memory_mb(),
    )


@contextmanager
def _shown_progress() -> Iterator[sets.Progress]:
    """A bar for each job; in a file or a pipe a line every ten seconds."""
    console = Console(stderr=True)
    if not console.is_interactive:
        with lines() as tell:
            yield lambda what, done, of: tell(done / of if of else None, what)
        return
    with Progress(console=console) as bar:
        jobs = {}

        def show_progress(what: str, done: int, of: int) -> None:
            if what not in jobs:
                jobs[what] = bar.add_task(what)
            bar.update(jobs[what], completed=done, total=of)

        yield show_progress


def peak_memory_mb() -> float | None:
    """The most memory this process had at any time, in MiB; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)
