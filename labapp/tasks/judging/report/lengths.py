"""How long the explanations are that participants met, beside those of the published studies.

Whoever rates ten rows does another task than whoever rates four, and a path of three steps leaves
other decisions open than one of nine: every number that hangs on it says so. What is known of a
group comes from the rows of its photos as they were planned, whichever stimulus set they are of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pandas as pd

from labapp.stimuli.manifest import Manifest
from labapp.tasks.judging.report import published as paper

PATH_DISTINCTION = "path-distinction"


def lengths(task: str, photos: pd.DataFrame, ratings: pd.DataFrame) -> Mapping[int, int]:
    """How many explanations have so many steps (of a path, as shown decided) or rows (of a class of
    prototypes), the shortest first; empty for other explanations. What several people judged counts
    once. photos, ratings: as in `Group`."""
    if task.startswith("path"):
        once = photos.drop_duplicates(["set", "photo"])["n_steps"].dropna()
        counts = Counter(int(n) for n in once)
    elif task.startswith("prototype"):
        rows = ratings.groupby(["set", "photo", "of"])["prototype"].nunique()
        counts = Counter(int(n) for n in rows)
    else:
        counts = Counter()
    return {n: counts[n] for n in sorted(counts)}


def remark(design: str, here: Mapping[int, int]) -> str:
    """What stands beside a number of the paper whose explanations are of another length: with 9
    steps, here 3 to 6. Empty where they are alike or nothing is known."""
    there = paper.LENGTHS.get(design)
    if there is None or not here or set(here) == {there.number}:
        return ""
    return f"with {there.about} {there.unit}, here {_range(here)}"


def sentence(design: str, task: str, here: Mapping[int, int]) -> str:
    """The same for the report and the paragraph on methods; empty as `remark` is."""
    there = paper.LENGTHS.get(design)
    if there is None or not remark(design, here):
        return ""
    in_paper = f"in the paper {there.about} ({there.source})"
    if task != PATH_DISTINCTION:
        what = "Paths have" if task.startswith("path") else "A class has"
        return f"{what} {_range(here)} {there.unit}, {in_paper}."
    least = min(here)
    seen = f"{here[least]} of {sum(here.values())} photos"
    return (
        f"Of a path {_range(here)} {there.unit} are shown before the two that are left open "
        f"({least} in {seen}), {in_paper}."
    )


def _range(here: Mapping[int, int]) -> str:
    least, most = min(here), max(here)
    return f"{least}" if least == most else f"{least} to {most}"


def of_set(manifest: Manifest) -> str:
    """How long the explanations of a stimulus set are, in a sentence, beside the paper's for its
    method; empty for other kinds."""
    open_end = any(photo.final is not None for photo in manifest.photos)
    prototype_of = {prototype.id: prototype.of for prototype in manifest.prototypes}
    if manifest.kind == "path":
        counts = Counter(len(photo.rows) for photo in manifest.photos)
        task = PATH_DISTINCTION if open_end else "path-agreement"
    elif manifest.kind == "prototypes":
        rows = (
            Counter(prototype_of[row.prototype] for row in photo.rows) for photo in manifest.photos
        )
        counts = Counter(n for of_one in rows for n in of_one.values())
        task = "prototype-agreement"
    else:
        return ""
    here = {n: counts[n] for n in sorted(counts)}
    beside = sentence(paper.design_of(manifest.method.name, task, labels=False), task, here)
    what = "steps of a path" if manifest.kind == "path" else "rows of a class"
    return beside or f"Shown: {_range(here)} {what}."
