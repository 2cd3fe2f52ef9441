"""Which pictures a participant sees where: no picture twice, over all stages and their practice,
of all sessions of the study's design.

Sets of several models share pictures, and one picture can be of another type for another model. So
the pictures of all stages are drawn together: as an assignment of pictures to the places that want
them, whose costs are drawn (`scipy.optimize.linear_sum_assignment`). It fills every place if that
can be done at all, and where sets share nothing each choice is as probable as any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from labapp.errors import LabappError, StimuliError
from labapp.plugins.item import Item
from labapp.stimuli import pictures
from labapp.stimuli.manifest import ItemType, Photo
from labapp.study import assignment
from labapp.study.conditions import Scope
from labapp.study.planner import Planner
from labapp.study.stimulus_stages import IncompatibleStimuliError, check_kind, photos_of, set_of
from labapp.tasks.concept_repair.examples import reserved_pictures
from labapp.tasks.concept_repair.plan import TASK
from labapp.tasks.concept_repair.study import ConceptRepairStages

TYPES: tuple[ItemType, ...] = ("repair", "control", "trap", "unrepairable")
NATURAL, PRACTICE = "natural", "practice"
MISSING = 1e4
"""Cost of a place without a picture; those of pictures are below 1."""


@dataclass(frozen=True)
class Wanted:
    """So many pictures of one kind at one place of the flow.

    Attributes
    ----------
    kind : str
        A type of picture, `NATURAL` or `PRACTICE`.
    photos : dict
        Those that fit, by what their picture shows.
    """

    place: int
    kind: str
    count: int
    photos: dict[str, Photo]


@dataclass(frozen=True)
class Drawn:
    """What was drawn for it, in random order; fewer where pictures are missing."""

    wanted: Wanted
    photos: tuple[Photo, ...]


def pictures_at(place: int, planner: Planner) -> dict[str, tuple[Photo, ...]]:
    """The pictures that this participant sees at a place of the flow, by kind.

    Raises IncompatibleStimuliError where some are missing.
    """
    key = (TASK, "pictures")
    if key not in planner.memory:
        planner.memory[key] = list(_drawn(planner))
    every: list[Drawn] = planner.memory[key]
    own = [drawn for drawn in every if drawn.wanted.place == place]
    if not own:
        list(_wanted_at(place, *planner.flow[place], planner))  # raises what is wrong with it
    for drawn in own:
        wanted = drawn.wanted
        if missing := wanted.count - len(drawn.photos):
            fitting, examples = len(wanted.photos), bool(reserved_pictures(planner))
            raise IncompatibleStimuliError(
                PRACTICE if wanted.kind == PRACTICE else "items",
                f"{wanted.count} pictures of the kind {wanted.kind!r} are asked for, and the set "
                f"has {fitting or 'none'}{' that are no examples' if examples else ''}; {missing} "
                "are missing, for nobody sees a picture twice, and other stages and practice need "
                "theirs",
                "Ask for fewer here or in another stage, or name a larger stimulus set.",
            )
    return {drawn.wanted.kind: drawn.photos for drawn in own}


def _drawn(planner: Planner) -> Iterator[Drawn]:
    from scipy.optimize import linear_sum_assignment  # slow to load

    every: list[Wanted] = []
    for place, item, scope in planner.in_all_sessions(ConceptRepairStages):
        # What is wrong with another stage is said when that one is planned.
        with suppress(IncompatibleStimuliError, LabappError):
            every += list(_wanted_at(place, item, scope, planner))
    # Where pictures are missing, practice goes without first, and then later stages.
    every.sort(key=lambda wanted: (wanted.kind == PRACTICE, wanted.place))
    slots = [number for number, wanted in enumerate(every) for _ in range(wanted.count)]
    shown = sorted({picture for wanted in every for picture in wanted.photos})
    draws = assignment.generator(
        planner.seed, planner.study.id, planner.participant, TASK, "pictures"
    )
    random = draws.random((len(every), len(shown)))
    there = np.array([[picture in wanted.photos for picture in shown] for wanted in every])
    cost = np.where(there, random, MISSING * (1 + len(every)))[slots]
    without = MISSING * (len(every) - np.array(slots, np.float64))
    rows, columns = linear_sum_assignment(
        np.hstack([cost, np.broadcast_to(without[:, None], (len(slots), len(slots)))])
    )
    for number, wanted in enumerate(every):
        own = [
            column
            for slot, column in zip(rows, columns, strict=True)
            if slots[slot] == number and column < len(shown)
        ]
        own.sort(key=lambda column: float(random[number, column]))
        yield Drawn(wanted, tuple(wanted.photos[shown[column]] for column in own))


def _wanted_at(place: int, item: Item, scope: Scope, planner: Planner) -> Iterator[Wanted]:
    """What one place of the flow wants. Raises IncompatibleStimuliError, and what reading its set
    raises."""
    stages = item.task_stages()
    assert isinstance(stages, ConceptRepairStages)
    stimuli, number = set_of(stages, scope, planner)
    check_kind(stimuli, TASK, "interventions")
    examples = reserved_pictures(planner)
    by_picture = {}
    for photo in photos_of(stimuli, number):
        try:
            picture = pictures.identity_of(stimuli.folder, photo.photo)
        except StimuliError as error:
            raise IncompatibleStimuliError("stimuli", error.what.rstrip("."), error.todo) from error
        if picture not in examples:
            by_picture[picture] = photo
    for kind in (*TYPES, NATURAL):
        own = {
            picture: photo
            for picture, photo in by_picture.items()
            if kind == (NATURAL if photo.natural else photo.item)
        }
        yield Wanted(place, kind, getattr(stages.items, kind), own)
    if stages.practice is not None:
        yield Wanted(place, PRACTICE, stages.practice.items, by_picture)
