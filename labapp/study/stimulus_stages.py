"""Finding the stimulus set that stages of a study show, and refusing one that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from labapp.base.errors import StudyError
from labapp.models.stimuli.check import inner_faults
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Kind, Logits, Photo
from labapp.models.stimuli.masked_pictures import Masking
from labapp.study import conditions
from labapp.study.conditions import Scope
from labapp.study.flow import walk_items
from labapp.study.stages import StimulusStages

if TYPE_CHECKING:
    from labapp.study.planner import Planner

StimuliOf = Callable[[str], StimulusSet]
"""A stimulus set by its id or folder."""
PredictMasked = Callable[[StimulusSet, Masking, Photo, str], Sequence[Logits]]
"""What the explained model makes of a photo masked by a method's scores: its logits, one a
percentage of the masking; nothing if there is no model to ask."""


class IncompatibleStimuliError(ValueError):
    """A stimulus set that a study cannot show. about: the key of `stages` that says so, with points
    between the keys on the way."""

    def __init__(self, about: str, what: str, todo: str) -> None:
        super().__init__(what)
        self.about, self.todo = about, todo


def set_of(stages: StimulusStages, scope: Scope, planner: Planner) -> tuple[StimulusSet, int]:
    """The stimulus set of stages, and the number of the set in it. Raises
    IncompatibleStimuliError."""
    number = conditions.fill(str(stages.set), scope)
    stimuli = planner.stimuli_of(conditions.fill(stages.stimuli, scope))
    if not number.isdecimal() or len(number) > 9:  # Python itself refuses more than 4,300 digits
        raise IncompatibleStimuliError(
            "set", f"{number[:40]!r} is not the number of a set", "Give a whole number."
        )
    return stimuli, int(number)


def check_kind(stimuli: StimulusSet, task: str, kind: Kind) -> None:
    """Refuse a set of another kind than a task needs, and one whose parts do not fit together: a
    folder that a study names was never imported. Raises IncompatibleStimuliError."""
    manifest = stimuli.manifest
    if manifest.kind != kind:
        raise IncompatibleStimuliError(
            "stimuli",
            f"the task {task} needs {kind}, but the stimulus set {manifest.id} has {manifest.kind}",
            "Choose a set of that kind, or another task.",
        )
    key = ("faults", "")
    if key not in stimuli.memory:
        stimuli.memory[key] = inner_faults(manifest)
    if faults := stimuli.memory[key]:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise IncompatibleStimuliError(
            "stimuli",
            f"the stimulus set {manifest.id} has errors: {faults[0]}{more}",
            f"Correct it. `labapp stimuli check {stimuli.folder}` lists all errors.",
        )


def photos_of(stimuli: StimulusSet, number: int) -> tuple[Photo, ...]:
    """The photos of a set, in its order.

    Raises IncompatibleStimuliError if there is no such set.
    """
    photos = stimuli.manifest.of_set(number)
    if not photos:
        there = ", ".join(map(str, stimuli.manifest.sets)) or "none"
        raise IncompatibleStimuliError(
            "set",
            f"the stimulus set {stimuli.id} has no set {number}; there are: {there}",
            "Correct the number, or the variable under `assignment`.",
        )
    return photos


@contextmanager
def fitting(stages: StimulusStages, planner: Planner) -> Iterator[None]:
    """A set that the stages cannot show is refused with the line that asks for it."""
    try:
        yield
    except IncompatibleStimuliError as error:
        loaded = planner.loaded
        places = (
            place for place, item in walk_items(planner.study.flow) if item.task_stages() is stages
        )
        place = next(places, ())
        key = (*loaded.origin.get(place, place), "stages", *error.about.split("."))
        raise StudyError.at(
            loaded.path, loaded.located.line(key), error.about, str(error), error.todo
        ) from error
