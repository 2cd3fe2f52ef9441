"""Strategies that learn what the dials do from question to question, and can name them.

The picture as a person describes it: every dial changes its properties in its own way, whatever the
others stand at ("dial 4 moves it to the right"). So the memory is additive: each property is the
sum of one curve per dial, learnt from all that was seen in the stage, the latest best. Where the
dials of a model do that, a few turns of each tell how far to turn it; where what a dial does
depends on the others, the same memory predicts badly. (Paper 000, 6.1.2 and 6.2.2: people name what
a dial does, or cannot.)

People named dials after one thing that they saw ("thickness", "rotate", "stretch"; of the ten
buttons "number", "digit"), left those unnamed that they made nothing of, and called those that do
nothing just that (paper 000, Tables 1 and A.4). Here too: a dial gets a name where more than half
of what it changes is of one sort, and where that change was foretold whenever the dial was turned
for a purpose. It is all from the memory of what was seen: nothing is looked at or drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from labapp.models.representations.decoding import State
from labapp.session.simulation.motor import RISES, MotorModel, Solving
from labapp.session.simulation.percept import (
    ACROSS,
    CURVE_KINDS,
    DOWN,
    EXTENT,
    GROUND,
    HEIGHT,
    IMAGE_KINDS,
    INK,
    KINDS,
    LIGHT,
    SIZE_SD,
    SLANT,
    SLOPE,
    STRETCH,
    TINT_SD,
    WAVES_CLOSENESS,
    WAVES_HEIGHT,
    Eye,
    kinds_of,
    perceive_glances,
)
from labapp.session.simulation.person import NOTHING
from labapp.session.simulation.view import Acts, Array, DialMove, ScreenDial, View

Float64 = NDArray[np.float64]

GLANCES = 4
"""Glances of a look at what does not move, about one a quarter of a second."""
GRID = 41
"""Places of a slider that are thought of."""
NOTICED = 4.0
"""A gain below two just noticeable differences (squared) is not worth turning a dial for."""

RELIABLE = 0.5
"""Share of what a dial does that was expected, from which it is relied on (ours)."""


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """Where to turn a dial; gain: how much nearer that comes to the target, as far as is known
    (squared just noticeable differences)."""

    dial: int
    goal: float
    gain: float

    @property
    def worth_it(self) -> bool:
        return self.gain > NOTICED


class LearnerModel:
    """What one participant knows of the dials in one stage; made at its first view."""

    def __init__(self, eye: Eye, view: View) -> None:
        self.eye = eye
        self.kinds = kinds_of(view.target)
        self.by_kind = (self.kinds[:, None] == np.array(KINDS)).astype(np.float64)
        self.effects = EffectMemory(view.dials, len(self.kinds), perceive_glances)
        self._target = np.zeros(len(self.kinds))
        self._now: tuple[tuple[float, ...], Float64] | None = None
        self._plans: dict[tuple[State, int, int | None], PlannedTurn] = {}

    def begin(self, view: View) -> None:
        """A new question: look at both pictures."""
        self._target = self.eye.look(view.target, GLANCES)
        self._now = None
        self.see(view)

    def see(self, view: View) -> None:
        """Glance at the own picture, and remember it with the dials."""
        self._plans.clear()
        self.effects.see(view.z, self.eye.glance(view.picture))

    def now(self, view: View) -> Float64:
        """The own picture, looked at for a while."""
        if self._now is None or self._now[0] != view.z:
            self._now = view.z, self.eye.look(view.picture, GLANCES)
        return self._now[1]

    def gap(self, view: View) -> Float64:
        """What is still different, by property."""
        return self._target - self.now(view)

    def plan(self, view: View, dial: int, kind: int | None = None) -> PlannedTurn:
        """The best place of a dial, as far as is known of it, all others staying where they are.

        kind: only properties of this kind count.
        """
        key = (view.z, dial, kind)
        if key not in self._plans:  # who chooses a dial has planned its turn already
            self._plans[key] = self._plan(*key, self.gap(view))
        return self._plans[key]

    def _plan(self, z: State, dial: int, kind: int | None, gap: Float64) -> PlannedTurn:
        effect = self.effects.effect(dial, np.array([z[dial]]))
        changes = self.effects.over_range(dial) - effect
        counts = slice(None) if kind is None else self.kinds == kind
        left = np.square(gap[counts] - changes[:, counts]).sum(axis=1)
        best = int(np.argmin(left))
        gain = float(np.square(gap[counts]).sum() - left[best])
        return PlannedTurn(dial, float(self.effects.places[dial][best]), gain)

    def expected(self, view: View, dial: int, value: float) -> Float64:
        """What turning a dial to a value is expected to change."""
        effect = self.effects.effect(dial, np.array([view.z[dial], value]))
        change: Float64 = effect[1] - effect[0]
        return change

    def learn(self, dial: int, expected: Float64, before: Float64, view: View) -> None:
        """Compare what a turn was expected to change with what it did."""
        noise = self.eye.noise * np.sqrt(2 / GLANCES)
        self.effects.judge(dial, expected, self.now(view) - before, noise)

    def does(self, dial: int) -> Float64:
        """How strongly a dial changes each kind of property over its range, shape (kinds,)."""
        return np.asarray(self.effects.spread(dial) @ self.by_kind)

    def understanding(self, view: View) -> float:
        """How many of the dials mean something to it, 0..1: those that do what is expected of them,
        and that change one kind of property rather than all."""
        means = []
        for dial in range(len(view.dials)):
            does = self.does(dial)
            main = float(does.max() / (does.sum() + NOTICED))
            means.append(self.effects.reliable(dial) * main)
        return float(np.mean(means))

    def glance_along(self, states: Sequence[State], pictures: Array) -> None:
        """As `see`, of the pictures on the way of a movement."""
        self._plans.clear()
        for z, glance in zip(states, self.eye.glances(pictures), strict=True):
            self.effects.see(z, glance)

    def watch(self, acts: Generator[DialMove, View, View]) -> Acts:
        """Look at the picture after each move, and at those on its way."""
        view: View | None = None
        while True:
            try:
                move = next(acts) if view is None else acts.send(view)
            except StopIteration as end:
                last: View = end.value
                return last
            view = yield replace(move, watch=self.glance_along) if move.onward else move
            self.see(view)


PROBE = 0.3
"""Slider widths that an unknown dial is turned, to see what it does (ours)."""
CORRECTIONS = 2
"""Small movements after an aimed one, to get nearer (two-component model of aimed movements,
Woodworth 1899: one or two corrections)."""
NEARLY = 0.15
"""From this near to the goal on, the number is watched instead of the picture (ours)."""
NUDGE = 0.02
"""Slider widths of a first small stride then; halved to a quarter of that."""
CLOSER = 0.9
"""A pass that leaves more than this share of the (squared) difference has brought nothing."""
STRIDE = 0.05
"""Slider widths from look to look after a pass in vain. The dials are turned by the number then, as
people did with reluctance: "their strategy changed" to "finicking with the dials" (6.2.2)."""
IN_VAIN = 3
"""Passes in vain in a row before it gives up (ours)."""
BELONGS = 0.35
"""A dial belongs to the group of a kind of property that takes at least this share of its effect
(ours)."""
EXPERIMENT_STRIDE = 0.05
"""Slider widths from look to look while experimenting within a group; half as much after a loop in
vain."""
SMALLEST_STRIDE = 0.0125
"""Nobody looks more closely than that while experimenting (ours)."""


@dataclass
class LearningStrategy(ABC):
    """Remembers from question to question of a stage, and can tell what dials do.

    eye: how it sees; motor: how it moves.
    """

    eye: Eye
    motor: MotorModel
    _learner: LearnerModel | None = field(default=None, init=False)

    def understands(self, view: View) -> float:
        return self._learner.understanding(view) if self._learner is not None else 0.0

    def meanings(self, view: View) -> dict[int, str]:
        """What each dial is known to change, where that is understood; see `naming`."""
        return meanings(self._learner, view) if self._learner is not None else {}

    def tried(self, dial: int) -> bool:
        """Whether it knows a dial by having turned it."""
        return self._learner is not None and self._learner.effects.tried(dial)

    def solve(self, view: View) -> Solving:
        self._learner = learner = self._learner or LearnerModel(self.eye, view)
        learner.begin(view)
        return learner.watch(self.attempt(learner, view))

    @abstractmethod
    def attempt(self, learner: LearnerModel, view: View) -> Generator[DialMove, View, View]:
        """Move after move, until it does not know what else to try."""


def probe(learner: LearnerModel, motor: MotorModel, view: View, dial: int) -> Acts:
    """Turn an unknown dial to see what it does: to the side that has more room, or every button."""
    dimension, at = view.dials[dial], view.z[dial]
    if dimension.options:
        others = [float(k) for k in range(dimension.options) if k != at]
        for k in others:
            view = yield motor.press(view, dial, k, others)
        return view
    way = 1.0 if dimension.high - at > at - dimension.low else -1.0
    return (yield from motor.drag(view, dial, dimension.inside(at + way * PROBE * dimension.width)))


def turn(
    learner: LearnerModel,
    motor: MotorModel,
    view: View,
    dial: int,
    kind: int | None = None,
    more: int = 0,
) -> Acts:
    """Turn a dial to where it promises most; more: the most corrections after that."""
    for _ in range(1 + more):
        plan = learner.plan(view, dial, kind)
        if not plan.worth_it:
            break
        goal = motor.aim(view, dial, plan.goal)
        before, expected = learner.now(view), learner.expected(view, dial, goal)
        view = yield from motor.drag(view, dial, goal)
        learner.learn(dial, expected, before, view)
    return view


def settle(motor: MotorModel, view: View) -> Acts:
    """Small movements to and fro, watching the number, until they bring nothing."""
    stride = NUDGE
    while True:
        before = view.alignment
        for dial, dimension in enumerate(view.dials):
            if not dimension.options:
                view = yield from motor.climb(view, dial, stride)
        if view.alignment > before + RISES:
            continue
        if stride <= NUDGE / 4:
            return view
        stride /= 2


class UnderstandingStrategy(LearningStrategy):
    """One pass over the dials, each turned the right way and far enough.

    "When users felt they understood the meanings of dimensions, they could modify them in a single
    pass through the list, knowing in advance in which direction and how much to change them" (paper
    000, section 7). That knowledge is earned: in the first question each dial is turned to see what
    it does, and what was seen there and later predicts how far it must be turned. Each dial is
    thought of by itself, the one that promises most first ("used the dials that they understood
    first", 6.2.2), so that dials with effects of their own need one pass, and dials that share
    theirs many.
    """

    def attempt(self, learner: LearnerModel, view: View) -> Generator[DialMove, View, View]:
        vain = 0
        while vain < IN_VAIN:
            alignment, gap = view.alignment, float(np.square(learner.gap(view)).sum())
            view = yield from self._pass(learner, view)
            if view.goal - view.alignment <= NEARLY:
                view = yield from settle(self.motor, view)
            left = float(np.square(learner.gap(view)).sum())
            if view.alignment > alignment + RISES or left < CLOSER * gap:
                vain = 0
                continue
            vain += 1
            for dial in range(len(view.dials)):
                view = yield from self.motor.climb(view, dial, STRIDE)
        return view

    def _pass(self, learner: LearnerModel, view: View) -> Acts:
        """Each dial at most once: the unknown ones first, then whichever promises most."""
        left = list(range(len(view.dials)))
        while left:
            unknown = [dial for dial in left if not learner.effects.tried(dial)]
            if unknown:
                dial = unknown[0]
                view = yield from probe(learner, self.motor, view, dial)
            else:
                plans = [learner.plan(view, dial) for dial in left]
                best = max(plans, key=lambda plan: plan.gain)
                if not best.worth_it:
                    break
                dial = best.dial
            left.remove(dial)
            view = yield from turn(learner, self.motor, view, dial, more=CORRECTIONS)
        return view


class PartialStrategy(LearningStrategy):
    """Knows which dials have to do with what, and experiments within the group.

    On VAEs people found that some dials moved the object and others changed its form, without
    knowing how exactly: it made them "randomly experiment more within each group of dimensions"
    (paper 000, 6.1.2), with numerous loops through "a partial set" of them (section 7). Groups are
    found from what was seen: the dials that mostly change what differs most. One that does what is
    expected of it is turned there at once; the others are turned to a local maximum of the
    alignment.
    """

    def attempt(self, learner: LearnerModel, view: View) -> Generator[DialMove, View, View]:
        stride = EXPERIMENT_STRIDE
        while True:
            before = view.alignment
            for dial in range(len(view.dials)):
                if not learner.effects.tried(dial):
                    view = yield from probe(learner, self.motor, view, dial)
                    view = yield from turn(learner, self.motor, view, dial)
            for kind in self._wrong(learner, view):
                does = np.array([learner.does(dial) for dial in range(len(view.dials))])
                share = does[:, kind] / (does.sum(axis=1) + NOTICED)
                group = [dial for dial in range(len(view.dials)) if share[dial] >= BELONGS]
                for dial in sorted(group, key=lambda dial: -does[dial, kind]):
                    view = yield from self._try(learner, view, dial, kind, stride)
            if view.goal - view.alignment <= NEARLY:
                view = yield from settle(self.motor, view)
            if view.alignment > before + RISES:
                continue
            if stride <= SMALLEST_STRIDE:
                return view
            stride /= 2

    def _wrong(self, learner: LearnerModel, view: View) -> list[int]:
        """Kinds of properties that differ, the most different first; all where none is noticed."""
        gap = np.square(learner.gap(view))
        amount = dict(zip(KINDS, (gap @ learner.by_kind).tolist(), strict=True))
        order = sorted(KINDS, key=lambda kind: -amount[kind])
        return [kind for kind in order if amount[kind] > NOTICED] or list(order)

    def _try(self, learner: LearnerModel, view: View, dial: int, kind: int, stride: float) -> Acts:
        sure = learner.effects.reliable(dial) >= RELIABLE
        if sure and learner.plan(view, dial, kind).worth_it:
            return (yield from turn(learner, self.motor, view, dial, kind))
        return (yield from self.motor.climb(view, dial, stride))


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
    for meaning, parts in _order_meanings(sorts, choice=view.dials[dial].options > 0):
        amounts = [changes[part] for part in parts]
        if meaning in _EVENLY and min(amounts) < EVEN * max(amounts):
            continue
        # As with the other measures of understanding, what is hardly noticed is no change at all.
        main = sum(amounts) >= MAIN * (everything + NOTICED)
        if main and _is_predictable(learner, dial, [p for part in parts for p in sorts[part]]):
            return meaning
    return None


def _order_meanings(sorts: Properties, *, choice: bool) -> list[tuple[str, tuple[str, ...]]]:
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
    over = learner.effects.over_range(dial)
    spread = learner.effects.spread(dial)
    changes = {sort: float(spread[list(at)].sum() / np.sqrt(len(at))) for sort, at in sorts.items()}
    if THICKNESS in changes:
        # How much more or less of its own extent a thing fills. Seen like a length: in shares
        # of what it is, where the amount of ink is seen in shares of the picture.
        here = learner.effects.remembered(view.z)[INK]
        ink = here + over[:, INK] - learner.effects.effect(dial, np.array([view.z[dial]]))[0, INK]
        filled = np.log(np.maximum(ink * TINT_SD, LEAST_INK)) / SIZE_SD - 2 * over[:, EXTENT]
        changes[THICKNESS] = float(filled.var())
    return changes


def _is_predictable(learner: LearnerModel, dial: int, properties: Sequence[int]) -> bool:
    """Whether most of what a dial was seen to do to them was expected. What hardly changed tells
    nothing."""
    changed, mistaken = learner.effects.judged(dial, properties)
    return changed > NOTICED and 1 - mistaken / changed >= RELIABLE


KNOTS = 9
"""A slider's effect is remembered at so many places, and in between by straight lines."""
SMOOTH = 0.3
"""Weight of the expectation that a place goes on as its neighbours do; one look has weight 1."""
TIMID = 0.01
"""How much no effect is expected, of what was never tried."""
HALF_LIFE = 200
"""Looks after which one counts half as much: about half a minute of dragging."""
TRIED_PLACES, TRIED_BUTTONS = 3, 2
"""A dial counts as tried once it was seen at so many of its places."""
FORGIVES = 0.7
"""Share of the error at one turn of a dial that still counts at its next turn."""


class EffectMemory:
    """The additive memory of one stage. n: properties of a percept; percepts: gives the percepts of
    looks, shape (looks, n), which are the percepts themselves by default."""

    def __init__(
        self,
        dials: Sequence[ScreenDial],
        n: int,
        percepts: Callable[[Sequence[Any]], Float64] = np.stack,
    ) -> None:
        self._percepts = percepts
        self._dials = tuple(dials)
        self._columns: list[slice] = []
        at = 1  # column 0 is what is seen whatever the dials stand at
        for dial in dials:
            self._columns.append(slice(at, at + (dial.options or KNOTS)))
            at = self._columns[-1].stop
        self._seen = np.zeros((at, at))
        self._what = np.zeros((at, n))
        self._prior = np.eye(at) * TIMID
        self._prior[0, 0] = 1e-6
        bend = np.diff(np.eye(KNOTS), 2, axis=0)
        for dial, own in zip(dials, self._columns, strict=True):
            if not dial.options:
                self._prior[own, own] += SMOOTH * bend.T @ bend
        self._known: Float64 | None = None
        self.places = [np.linspace(dial.low, dial.high, dial.options or GRID) for dial in dials]
        self._of_places = [self._hats(dial, values) for dial, values in enumerate(self.places)]
        self._covariances = [np.cov(near.T, bias=True) for near in self._of_places]
        self._looks: list[tuple[Sequence[float], Any]] = []
        self._places: list[set[int]] = [set() for _ in dials]
        self._wrong = np.zeros(len(dials))
        self._all = np.zeros(len(dials))
        self._mistaken = np.zeros((len(dials), n))
        self._changed = np.zeros((len(dials), n))

    def _hats(self, dial: int, values: Float64) -> Float64:
        """How much each place of a dial has to do with values of it: shape (values, places)."""
        dimension = self._dials[dial]
        if dimension.options:
            return np.eye(dimension.options)[np.rint(values).astype(np.int64)]
        at = (values - dimension.low) / dimension.width * (KNOTS - 1)
        return np.maximum(0.0, 1.0 - np.abs(at[:, None] - np.arange(KNOTS)))

    def see(self, z: Sequence[float], look: Any) -> None:
        """Remember a look."""
        self._looks.append((z, look))

    def _take_in(self) -> None:
        """Add the looks since the last question in one step; doing it one by one takes a tenth of a
        simulated session."""
        if not self._looks:
            return
        z = np.array([z for z, _ in self._looks])
        percepts = self._percepts([look for _, look in self._looks])
        hats = [self._hats(dial, values) for dial, values in enumerate(z.T)]
        rows = np.concatenate((np.ones((len(z), 1)), *hats), axis=1)
        fades = 0.5 ** (np.arange(len(z), -1, -1) / HALF_LIFE)
        faded = (rows * fades[1:, None]).T
        self._seen = fades[0] * self._seen + faded @ rows
        self._what = fades[0] * self._what + faded @ percepts
        self._known = None
        for places, near in zip(self._places, hats, strict=True):
            places.update(near.argmax(axis=1).tolist())
        self._looks = []

    def tried(self, dial: int) -> bool:
        """Whether a dial was seen at several places, so that something is known of it."""
        self._take_in()
        least = TRIED_BUTTONS if self._dials[dial].options else TRIED_PLACES
        return len(self._places[dial]) >= least

    def judge(self, dial: int, expected: Float64, happened: Float64, noise: float) -> None:
        """Compare what turning a dial changed with what was expected; noise: sd of what was seen,
        which counts as no error."""
        mistaken = float(np.square(happened - expected).sum()) - happened.size * noise**2
        changed = float(np.square(happened).sum()) - happened.size * noise**2
        self._wrong[dial] = FORGIVES * self._wrong[dial] + max(mistaken, 0.0)
        self._all[dial] = FORGIVES * self._all[dial] + max(changed, 0.0)
        for average, new in ((self._mistaken, happened - expected), (self._changed, happened)):
            average[dial] = FORGIVES * average[dial] + np.square(new) - noise**2

    def reliable(self, dial: int) -> float:
        """How much of what a dial did was expected, 0..1: 0 while nothing was."""
        if self._all[dial] <= 0:
            return 0.0
        return float(np.clip(1 - self._wrong[dial] / self._all[dial], 0.0, 1.0))

    def judged(self, dial: int, properties: Sequence[int]) -> tuple[float, float]:
        """How much some properties were seen to change when a dial was turned, and how much of that
        was not expected (squared just noticeable differences, the latest turns most)."""
        at = list(properties)
        return float(self._changed[dial, at].sum()), float(self._mistaken[dial, at].sum())

    def effect(self, dial: int, values: Float64) -> Float64:
        """What a dial adds to the properties at values of it: shape (values, n)."""
        result: Float64 = self._hats(dial, values) @ self._solve()[self._columns[dial]]
        return result

    def over_range(self, dial: int) -> Float64:
        """What a dial adds to each property at each of its `places`, shape (places, n)."""
        return np.asarray(self._of_places[dial] @ self._solve()[self._columns[dial]])

    def spread(self, dial: int) -> Float64:
        """The variance of each property over the places of a dial, shape (n,)."""
        known = self._solve()[self._columns[dial]]
        return np.asarray(np.add.reduce(known * (self._covariances[dial] @ known)))

    def remembered(self, z: Sequence[float]) -> Float64:
        """The properties where the dials stand like that, without looking: shape (n,)."""
        hats = [self._hats(dial, np.array([value]))[0] for dial, value in enumerate(z)]
        result: Float64 = np.concatenate(([1.0], *hats)) @ self._solve()
        return result

    def _solve(self) -> Float64:
        """What each place of each dial adds, after all that was seen."""
        self._take_in()
        if self._known is None:
            self._known = np.linalg.solve(self._seen + self._prior, self._what).astype(np.float64)
        return self._known
