"""Between studies of judged explanations that are analysed together, and over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from labapp.analysis import inference
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.tasks.judging.report import published as paper
from labapp.tasks.judging.report.opinions import of_opinions, people, understanding
from labapp.tasks.judging.report.statistics import (
    PERCENT,
    RIGHT,
    Group,
    accuracy,
    groups_of,
    noted,
    of_group,
    of_quantity,
    plain,
    result_of,
)

if TYPE_CHECKING:
    from labapp.base.report.drawing import ReportFigure

HEATMAPS = "heatmap-distinction"
TREE = frozenset({"path-agreement", "path-first-step"})


@dataclass(frozen=True)
class Findings:
    """Every statistic of the sessions that count: of each study by its id, between studies, and
    over all of them; and the groups they are of. counted: the tables they are made of."""

    counted: Tables
    groups: tuple[Group, ...]
    by_study: dict[str, list[Statistic]]
    between: list[Statistic]
    pooled: list[Statistic]

    @property
    def all(self) -> list[Statistic]:
        studies = [result for results in self.by_study.values() for result in results]
        return [*studies, *self.between, *self.pooled]

    @cached_property
    def drawn(self) -> Sequence[ReportFigure]:
        """The figures, drawn once for the page and the files. matplotlib is loaded here."""
        from labapp.tasks.judging.report.figures import plates

        return plates(self.counted, self.groups) if self.groups else ()


def findings(counted: Tables) -> Findings:
    """What the studies of judged explanations among these sessions, which all count, say."""
    groups = groups_of(counted)
    by_study = {}
    for study in dict.fromkeys(group.study for group in groups):
        own = [group for group in groups if group.study == study]
        of_photos = [result for group in own for result in of_group(group)]
        by_study[study] = [*of_photos, *of_opinions(counted, own)]
    over_all = list(pooled(counted, groups)) if groups else []
    return Findings(counted, tuple(groups), by_study, list(between(groups)), over_all)


def between(groups: Sequence[Group]) -> Iterator[Statistic]:
    """Item 3, labels against no labels and method against method with heatmaps, by two-sample t as
    in the paper; of item 4 (ours) the two ways to judge a tree. Ours besides: by ranks."""
    for pair, other in combinations(groups, 2):
        if {pair.task, other.task} == {HEATMAPS}:
            if (pair.method == other.method) != (pair.labels == other.labels):
                yield from _compared(pair, other, 3, ours=False)
        elif {pair.task, other.task} == TREE and pair.method == other.method:
            yield from _compared(pair, other, 4, ours=True)


def _compared(own: Group, other: Group, item: int, *, ours: bool) -> Iterator[Statistic]:
    for name in RIGHT:
        first, second = plain(accuracy(own, name)), plain(accuracy(other, name))
        if not (first.size and second.size):
            continue
        both = [paper.published(group.design, name) for group in (own, other)]
        # That the methods differ is said for both conditions; of the labels nothing was tested.
        compared = paper.compared(*both, significant=own.method != other.method)
        compared = noted(compared, own, other)
        of = of_quantity(f"{own.name} + {other.name}", own.design, item, name, PERCENT, compared)
        than = (other.name, second)
        yield result_of(of, first, inference.two_sample(first, second), other=than, ours=ours)
        yield result_of(of, first, inference.rank_sum(first, second), other=than, ours=True)


def pooled(counted: Tables, groups: Sequence[Group]) -> Iterator[Statistic]:
    """Of items 9 and 10 what the paper says of all studies together."""
    studies = list(dict.fromkeys(group.study for group in groups))
    counted = counted.of_study(*studies)
    name = " + ".join(studies)
    if len(studies) > 1:
        yield from understanding(counted, name, paper.POOLED)
    yield from people(counted, name)
