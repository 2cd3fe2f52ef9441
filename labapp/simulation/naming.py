"""What a participant would call each dial: after what it saw the dial change most.

People named dials after one thing that they saw ("thickness", "rotate", "stretch"; of the ten
buttons "number", "digit"), left those unnamed that they made nothing of, and called those that do
nothing just that (paper 000, Tables 1 and A.4). Here too: a dial gets a name where more than half
of what it changes is of one sort, and where that change was foretold whenever the dial was turned
for a purpose. It is all from the memory of what was seen: nothing is looked at anew, nothing drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from labapp.simulation.learner import NOTICED, RELIABLE, LearnerModel
from labapp.simulation.percept import (
    ACROSS,
    CURVE_KINDS,
    DOWN,
    EXTENT,
    GROUND,
    HEIGHT,
    IMAGE_KINDS,
    INK,
    LIGHT,
    SIZE_SD,
    SLANT,
    SLOPE,
    STRETCH,
    TINT_SD,
    WAVES_CLOSENESS,
    WAVES_HEIGHT,
)
from labapp.simulation.view import View
from labapp.simulation.vocabulary import NOTHING

Properties = Mapping[str, Sequence[int]]

MAIN = 0.5
"""A change of one sort is the main one from this share of all that a dial changes (ours)."""
EVEN = 0.5
"""Two changes make up a third one where the smaller is at least this share of the larger (ours)."""
LEAST_INK = 0.01
"""Share of the picture: what has less is as good as gone, and has no thickness to speak of."""

FORM = "form"
"""Of an image, the cells of its form; of a curve, its course."""
THICKNESS = "thickness"

_IMAGE: Properties = MappingProxyType(
    {
        "across": (ACROSS,),
        "down": (DOWN,),
        "size": (EXTENT,),
        "brightness": (GROUND, LIGHT),
        THICKNESS: (INK,),
        "stretch": (STRETCH,),
        "slant": (SLANT,),
        FORM: range(SLANT + 1, len(IMAGE_KINDS)),
    }
)
_CURVE: Properties = MappingProxyType(
    {
        "height": (HEIGHT,),
        "slope": (SLOPE,),
        "waves_height": (WAVES_HEIGHT,),
        "waves_closeness": (WAVES_CLOSENESS,),
        FORM: range(WAVES_CLOSENESS + 1, len(CURVE_KINDS)),
    }
)
_TOGETHER = MappingProxyType(
    {
        "place": ("across", "down"),
        "turn": ("stretch", "slant"),
        FORM: ("stretch", "slant", FORM),
        "waves": ("waves_height", "waves_closeness", FORM),
    }
)
"""What several sorts of change are together, where none of them is the main one alone."""
_EVENLY = frozenset({"place", "turn"})
_SHAPES = frozenset({"stretch", "slant", "turn", THICKNESS, FORM})
CHOICE = "choice"
"""A choice of forms: buttons of which each shows another one. Another form has another stretch and
slant too, and fills more or less of its extent; from button to button nothing is seen to thicken.
"""


def meanings(learner: LearnerModel, view: View) -> dict[int, str]:
    """What each dial is known to change, a key of the vocabulary; dials that are not understood are
    left out."""
    sorts = _CURVE if view.picture.squeeze().ndim == 1 else _IMAGE
    dials = range(len(view.dials))
    changes = [_changes(learner, view, dial, sorts) for dial in dials]
    if any(change.get("brightness", 0.0) >= NOTICED for change in changes):
        # Where things get brighter and darker, there is more or less of them to see without their
        # being thicker or thinner.
        changes = [{**change, THICKNESS: 0.0} for change in changes]
    meanings = {dial: _meaning(learner, view, dial, sorts, changes[dial]) for dial in dials}
    return {dial: meaning for dial, meaning in meanings.items() if meaning is not None}


def _meaning(
    learner: LearnerModel, view: View, dial: int, sorts: Properties, changes: Mapping[str, float]
) -> str | None:
    if not learner.effects.tried(dial):
        return None
    everything = sum(changes.values())
    if everything < NOTICED:
        return NOTHING
    for meaning, parts in _thought_of(sorts, choice=view.dials[dial].options > 0):
        amounts = [changes[part] for part in parts]
        if meaning in _EVENLY and min(amounts) < EVEN * max(amounts):
            continue
        # As with the other measures of understanding, what is hardly noticed is no change at all.
        main = sum(amounts) >= MAIN * (everything + NOTICED)
        if main and _foretold(learner, dial, [p for part in parts for p in sorts[part]]):
            return meaning
    return None


def _thought_of(sorts: Properties, *, choice: bool) -> list[tuple[str, tuple[str, ...]]]:
    """The meanings in the order in which they are thought of, each with its sorts of change: the
    simple ones first, but two that go hand in hand before either of them."""
    alone = [(sort, (sort,)) for sort in sorts]
    together = [(m, parts) for m, parts in _TOGETHER.items() if set(parts) <= set(sorts)]
    evenly = [thought for thought in together if thought[0] in _EVENLY]
    loosely = [thought for thought in together if thought[0] not in _EVENLY]
    if not choice:
        return [*evenly, *alone, *loosely]
    forms = (CHOICE, tuple(sort for sort in sorts if sort in _SHAPES))
    simple = [thought for thought in evenly + alone if thought[0] not in _SHAPES]
    return [*simple, forms, *(thought for thought in loosely if thought[0] not in _SHAPES)]


def _changes(learner: LearnerModel, view: View, dial: int, sorts: Properties) -> dict[str, float]:
    """How much a dial changes over its range, by sort of change (variances, in squared just
    noticeable differences).

    Neighbouring cells of a form change together: n of them count as the root of n. So slanting a
    stroke, thickening or enlarging it is that more than it is another form.
    """
    over = learner.over_range(view, dial)
    spread = over.var(axis=0)
    changes = {sort: float(spread[list(at)].sum() / np.sqrt(len(at))) for sort, at in sorts.items()}
    if THICKNESS in changes:
        changes[THICKNESS] = _thickness(learner, view, dial, over)
    return changes


def _thickness(learner: LearnerModel, view: View, dial: int, over: np.ndarray) -> float:
    """How much more or less of its own extent a thing fills. Seen like a length: in shares of what
    it is, where the amount of ink is seen in shares of the picture."""
    here = learner.effects.remembered(view.z)[INK]
    ink = here + over[:, INK] - learner.effects.effect(dial, np.array([view.z[dial]]))[0, INK]
    filled = np.log(np.maximum(ink * TINT_SD, LEAST_INK)) / SIZE_SD - 2 * over[:, EXTENT]
    return float(filled.var())


def _foretold(learner: LearnerModel, dial: int, properties: Sequence[int]) -> bool:
    """Whether most of what a dial was seen to do to them was expected. What hardly changed tells
    nothing."""
    changed, mistaken = learner.effects.judged(dial, properties)
    return changed > NOTICED and 1 - mistaken / changed >= RELIABLE
