"""Which sessions are analysed together: those of one study, method, task and labels.

How long the explanations are that participants met, beside those of the published studies.

Whoever rates ten rows does another task than whoever rates four, and a path of three steps leaves
other decisions open than one of nine: every number that hangs on it says so. What is known of a
group comes from the rows of its photos as they were planned, whichever stimulus set they are of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from labapp.analysis.inference import Values, values_of
from labapp.analysis.tables import Tables
from labapp.stimuli.manifest import Manifest
from labapp.tasks.judging.plan import TASKS, WARM_UP
from labapp.tasks.judging.report import published as paper
from labapp.tasks.judging.report.published import design_of

WHO = ["participant", "session"]
"""What tells sessions of a study apart: the unit of analysis. A participant of several sessions
counts once a session."""


@dataclass(frozen=True)
class Group:
    """The photos that were judged in one kind of stage of one study, of sessions that count.

    design: see `published.design_of`; name: the study, and what else tells this group from others
    of it. photos, ratings: rows of the tables of judgements and
    similarities; warm_up: of judgements too. stages: rows of the table of stages.
    """

    study: str
    name: str
    design: str
    method: str
    task: str
    labels: bool
    invented: bool
    photos: pd.DataFrame
    ratings: pd.DataFrame
    warm_up: pd.DataFrame
    stages: pd.DataFrame

    @cached_property
    def lengths(self) -> Mapping[int, int]:
        """See `labapp.tasks.judging.report.groups.lengths`."""
        return lengths(self.task, self.photos, self.ratings)

    @property
    def length_remark(self) -> str:
        """Beside a number of the paper; empty where explanations are as long as there."""
        return remark(self.design, self.lengths)

    @property
    def length_sentence(self) -> str:
        """The same in a sentence."""
        return sentence(self.design, self.task, self.lengths)

    @property
    def model_accuracy(self) -> float | None:
        """In percent, as the participants were told; None where they were told several."""
        told = self.stages["model_accuracy"].dropna().unique()
        return float(told[0]) if len(told) == 1 else None


def groups_of(counted: Tables) -> list[Group]:
    """The groups by study; counted: the tables of the sessions that count."""
    judged = counted.judgements[counted.judgements["judged"] & ~counted.judgements["excluded"]]
    rated = counted.similarities[~counted.similarities["excluded"]]
    stages = counted.stages[counted.stages["task"].isin(TASKS)]
    warm_up = judged[judged["task"] == WARM_UP]
    result = []
    keys = ["study", "method", "task", "labels"]
    for key, photos in judged[judged["task"].isin(TASKS)].groupby(keys, sort=True):
        study, method, task, labels = str(key[0]), str(key[1]), str(key[2]), bool(key[3])
        design = design_of(method, task, labels=labels)
        result.append(
            Group(
                study=study,
                name=study,
                design=design,
                method=method,
                task=task,
                labels=labels,
                invented=bool(photos["invented"].any()),
                photos=photos,
                ratings=_same(rated, keys, key),
                warm_up=warm_up[warm_up["study"] == study],
                stages=_same(stages, keys, key),
            )
        )
    return [_named(group, result) for group in result]


def _same(frame: pd.DataFrame, keys: Sequence[str], values: Sequence[object]) -> pd.DataFrame:
    chosen = np.ones(len(frame), dtype=bool)
    for name, value in zip(keys, values, strict=True):
        chosen &= (frame[name] == value).fillna(False).to_numpy(dtype=bool)
    return frame[chosen]


def _named(group: Group, others: Sequence[Group]) -> Group:
    if sum(other.study == group.study for other in others) == 1:
        return group
    return replace(group, name=f"{group.study}, {group.design}")


def per_session(frame: pd.DataFrame, column: str, factor: float = 1.0) -> pd.Series[float]:
    """The mean of a column by session, of the rows that have a value."""
    known = frame[frame[column].notna()]
    values = known[column].astype(float) * factor
    return values.groupby([known[name] for name in WHO], sort=True).mean()


def plain(values: pd.Series[float]) -> Values:
    """As floats, without those that are missing."""
    return values_of(values.to_numpy(dtype=np.float64, na_value=np.nan))


def joined(first: pd.Series[float], other: pd.Series[float]) -> tuple[Values, Values]:
    """The values of the sessions that have both, in the same order."""
    both = pd.concat([first, other], axis=1, join="inner").dropna().to_numpy(dtype=np.float64)
    return both[:, 0], both[:, 1]


def sets_of(photos: pd.DataFrame, index: pd.Index[Any]) -> list[object]:
    """The number of the set of photos of each session in the index."""
    return list(photos.groupby(WHO)["set"].first().reindex(index))


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
