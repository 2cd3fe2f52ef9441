"""What a study may say of adaptive stages of any task, and what their plans have of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from pydantic import model_validator

from labapp.base.documents import Path_, faults_at
from labapp.study import conditions
from labapp.study.adaptive import AnyRule
from labapp.study.adaptive.counting import Criterion
from labapp.study.adaptive.posterior import Psychometric
from labapp.study.adaptive.rule import Levels
from labapp.study.adaptive.tracks import PlannedTrack, Tracks
from labapp.study.plugins.item import TaskStages

ONE_LEVEL = (1.0,)
"""The levels of stages whose questions are all alike."""


class AdaptiveStages(TaskStages):
    """Stages in which a rule can choose what comes next.

    Attributes
    ----------
    adaptive : a rule that chooses the next level from the answers so far, with one or more tracks
        for each thing that is asked about; without it everything is planned.
    """

    adaptive: AnyRule | None = None

    def levels(self) -> tuple[float, ...]:
        """What a rule can choose from, ascending: the higher the easier."""
        return ONE_LEVEL

    def remarks(self) -> Iterator[tuple[Path_, str]]:
        """Of every start that is not a level: at which one its tracks start instead."""
        rule, levels = self.adaptive, self.levels()
        if rule is None or len(levels) < 2:
            return
        scale = Levels(levels, rule.scale)
        for start in rule.starts:
            nearest = levels[scale.nearest(scale.position(start))]
            if start != nearest:
                known = ", ".join(f"{level:g}" for level in levels)
                yield (
                    ("adaptive", "start"),
                    (
                        f"{start:g} is not one of the levels ({known}), so its tracks start at "
                        f"the nearest one, {nearest:g}."
                    ),
                )

    @model_validator(mode="after")
    def _of_a_rule(self) -> Self:
        if self.adaptive is None:
            return self
        wrong: dict[Path_, str] = {
            ("adaptive", key): what for key, what in find_rule_problems(self).items()
        }
        if wrong:
            raise faults_at(wrong)
        return self


def find_rule_problems(stages: AdaptiveStages) -> Mapping[str, str]:
    """What of the rule does not fit the levels, by key."""
    rule, levels = stages.adaptive, stages.levels()
    if rule is None:
        return {}
    if len(levels) < 2 and not isinstance(rule, Criterion):
        what = f"found {rule.method}; allowed: criterion, because there is only one level here"
        return {"method": what}
    return rule.problems(Levels(levels, rule.scale))


def spell_out(
    rule: AnyRule, levels: tuple[float, ...], answers: int, refuse: Callable[[str, str], Exception]
) -> AnyRule:
    """A rule with everything that the study left open. answers: how many there are to choose from;
    refuse: makes the error for a key and what is wrong there."""
    if not isinstance(rule, Psychometric) or rule.guess is not None:
        return rule
    spelt: AnyRule = rule.model_copy(update={"guess": 1 / answers})
    for key, what in spelt.problems(Levels(levels, rule.scale)).items():
        raise refuse(key, what)
    return spelt


def plan_tracks(
    rule: AnyRule, levels: tuple[float, ...], items: Mapping[str, tuple[int, ...]], *purpose: Any
) -> Tracks:
    """The tracks of a part: of each thing that is asked about as many as the rule has starts.

    items: by what is asked about, what is shown (`PlannedTrack.items`); purpose: the study's seed
    and what the draw is for (`labapp.study.conditions.generator`).
    """
    scale = Levels(levels, rule.scale)
    usual = len(levels) if isinstance(rule, Criterion) else 1
    starts = [scale.nearest(scale.position(start)) + 1 for start in rule.starts] or [usual]
    tracks = tuple(
        PlannedTrack(about=about, start=start, items=shown)
        for about, shown in items.items()
        for start in starts
    )
    numbers = range(1, len(tracks) + 1)
    if rule.interleave == "in-turn":
        turns = tuple(numbers) * rule.trials
    else:
        seed, *named = purpose
        turns = conditions.in_rounds(numbers, rule.trials * len(tracks), seed, *named)
    return Tracks(rule=rule, levels=levels, tracks=tracks, turns=turns)
