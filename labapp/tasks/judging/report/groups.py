"""Which sessions are analysed together: those of one study, method, task and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from labapp.analysis.inference import Values, values_of
from labapp.analysis.tables import Tables
from labapp.tasks.judging.plan import TASKS, WARM_UP
from labapp.tasks.judging.report.lengths import lengths, remark, sentence
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
        """See `labapp.tasks.judging.report.lengths.lengths`."""
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
