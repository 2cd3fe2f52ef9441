"""Which items of a questionnaire are asked, and what of its conditions and checks cannot be meant.

An item with `only_if` is asked where that condition holds (see `labapp.study.when`). It names an
item before it in the same questionnaire by its id, an item of an earlier questionnaire as
`questionnaire.item`, or a variable of the study. What was answered in an item that is not asked
does not count, also where it decides whether another one is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from labapp.base.documents import Path_
from labapp.study.conditions import OrderByGroup, Value, as_tuple
from labapp.study.instruments.dont_know import DONT_KNOW, values_of_parts
from labapp.study.instruments.items import Compound, Item, Picture, Typed
from labapp.study.when import ABOVE, BELOW, Known, Leaf, holds, is_answer, leaves, names

if TYPE_CHECKING:
    from labapp.study.instruments.instrument import Instrument


LISTED = "a rating, a slider, a whole number with low and high, or a choice"
"""Items of which every possible answer can be named."""


class AskedItems(NamedTuple):
    """The ids of the items that are asked; known: with the answers to them."""

    ids: frozenset[str]
    known: Known

    def awaited(self, page: Sequence[Item]) -> frozenset[str]:
        """The items of a page that are not asked, and may be after another answer on the same page:
        room is kept for them, so that nothing moves under the hand."""
        here = {item.id for item in page}
        ids: set[str] = set()
        for item in page:
            inside = here.intersection(names(item.only_if))
            outside = {
                key: wanted
                for key, wanted in item.only_if.items()
                if not inside.intersection(names({key: wanted}))
            }
            reached = bool(inside) and inside <= self.ids | ids
            if item.id not in self.ids and reached and holds(outside, self.known):
                ids.add(item.id)
        return frozenset(ids)


def select_asked(items: Sequence[Item], answers: Mapping[str, Any], known: Known) -> AskedItems:
    """Which items are asked.

    items: in their order; answers: as stored, also those to items that are not asked any more;
    known: variables, and answers in earlier questionnaires.
    """
    scope = dict(known)
    ids = set()
    for item in items:
        if holds(item.only_if, scope):
            ids.add(item.id)
            scope |= values_of_parts(item, answers.get(item.id))
    return AskedItems(frozenset(ids), scope)


def own_name(instrument: str, item: str) -> str:
    """What conditions of later questionnaires call an item."""
    return f"{instrument}.{item}"


def is_withheld(instruments: Mapping[str, Instrument], instrument: str, item_id: str) -> bool:
    """Whether a de-identified copy leaves out the answers to an item, and whether it was asked: its
    answers tell who somebody is, or those that decide whether it is asked do. Raises KeyError for
    an item that is not known."""
    item = instruments[instrument].part(item_id)
    if item.withheld:
        return True
    own = instruments[instrument].parts()
    for name in names(item.only_if):
        of, dot, alone = name.partition(".")
        deciding = (of, alone) if dot else (instrument, name)
        if not dot and name not in own:
            continue  # a variable of the study
        if deciding[0] not in instruments or is_withheld(instruments, *deciding):
            return True
    return False


def faults(instrument: Instrument) -> Iterator[tuple[Path_, str]]:
    """What can be told of the conditions and checks of a questionnaire without a study: where it
    stands, and what is wrong."""
    for index, item in enumerate(instrument.items):
        for leaf in leaves(item.only_if):
            for what in _impossible(instrument, index, leaf):
                yield ("items", index, "only_if", *leaf.place), what
        if item.dont_know and DONT_KNOW in item.offered():
            what = (
                "an option has the id dont_know, which is also what `dont_know` stores; "
                "give it another id"
            )
            yield ("items", index, "options"), what
        for at, option in enumerate(item.options_or_rows):
            if isinstance(option.media, Picture) and not getattr(item, "pictured", True):
                key = "rows" if hasattr(item, "rows") else "options"
                what = f"pictures of {key} are not shown in this kind of item"
                yield ("items", index, key, at, "media"), what
        if item.right is not None:
            for what in _no_check(instrument, item):
                yield ("items", index, "check"), what
        for name in item.piped:
            for what in _no_answer_yet(instrument, index, name):
                yield ("items", index, "text"), what
        if instrument.advance and (not item.at_once or _takes_text(item)):
            yield (
                ("items", index, "kind"),
                (
                    "with `advance`, each item must be answered by a single press, but this "
                    "one is not; leave out `advance`, or ask it in a separate questionnaire"
                ),
            )
    if isinstance(instrument.order, OrderByGroup):
        names_of_items = [item.id for item in instrument.items]
        for at_order, what in instrument.order.faults(None, names_of_items):
            yield ("order", *at_order), what
    yield from _impossible_samples(instrument)


def _no_answer_yet(instrument: Instrument, index: int, name: str) -> Iterator[str]:
    """Why the answer to an item cannot be filled into another one of its questionnaire."""
    of, dot, alone = name.partition(".")
    written = f"{{answer:{name}}}"
    if dot and of == instrument.id:
        yield f"{written}: give an item of the same questionnaire only by its id: {alone}"
    if dot:
        return  # a study says whether it is there
    place = places_of_parts(instrument).get(name)
    if place is None:
        yield f"{written}: there is no item {name!r} in this questionnaire"
        return
    decider = instrument.part(name)
    size = instrument.per_page or len(instrument.items)
    if decider.repeat is not None or instrument.items[place].repeat is not None:
        yield f"{written}: {name} is asked once for each stage; use an item that is asked only once"
    elif decider.parts() != (decider,):
        yield (
            f"{written}: the answer has several parts; use one of them, such as "
            f"{decider.parts()[0].id}"
        )
    elif instrument.order != "fixed" or place // size >= index // size:
        yield (
            f"{written}: {name} is not on an earlier page; set `order: fixed` and the number of "
            "items on a page (`per_page`), or ask it in an earlier questionnaire"
        )
    elif any(name in sample.of for sample in instrument.samples):
        yield f"{written}: not everyone is asked {name}, because it is drawn (`samples`)"


def _takes_text(item: Item) -> bool:
    return any(option.describe for option in getattr(item, "options", ()))


def _impossible_samples(instrument: Instrument) -> Iterator[tuple[Path_, str]]:
    """Why items cannot be drawn."""
    items = {item.id: item for item in instrument.items}
    deciding = {name for item in instrument.items for name in names(item.only_if)}
    seen: set[str] = set()
    for number, sample in enumerate(instrument.samples):
        for place, name in enumerate(sample.of):
            at: Path_ = ("samples", number, "of", place)
            item = items.get(name)
            if item is None:
                yield at, f"{name!r} is not an item of this questionnaire"
            elif name in seen:
                yield at, f"{name!r} is in another sample already"
            elif item.repeat is not None:
                yield at, f"{name!r} is asked once for each stage and cannot be drawn"
            elif deciding & {name, *(part.id for part in item.parts())}:
                yield at, f"{name!r} decides whether another item is asked and cannot be drawn"
        seen |= set(sample.of)


def _impossible(instrument: Instrument, index: int, leaf: Leaf) -> Iterator[str]:
    """Why what a condition of an item names never holds, or does not say what is meant."""
    name = leaf.name
    places = places_of_parts(instrument)
    of, dot, alone = name.partition(".")
    if dot and of == instrument.id:
        yield f"give an item of the same questionnaire only by its id: {alone}"
    elif (place := places.get(name)) is None:
        return  # a variable, or an item of another questionnaire: a study says whether it is there
    elif place >= index:
        yield (
            f"{name} is asked after it; use an item above it"
            if place > index
            else "it depends on itself; use an item above it"
        )
    elif instrument.order != "fixed":
        yield (
            f"{name} may be asked after it, because the items are shuffled; set `order: fixed`, "
            "or ask it in a separate questionnaire before this one"
        )
    else:
        decider = instrument.part(name)
        yield from never(name, decider, leaf.wanted)
        before = requirements(instrument, place) if leaf.always else {}
        own = _needed(instrument.items[index])
        for other in sorted(before.keys() & own.keys()):
            if not before[other] & own[other]:
                yield (
                    f"{name} is asked only if {other} is {_either(tuple(before[other]))}, and "
                    f"this item only if it is {_either(tuple(own[other]))}, so it is never asked"
                )


def _needed(item: Item) -> dict[str, frozenset[Value]]:
    """By name the values of which one must be there for its condition to hold."""
    return {
        leaf.name: frozenset(as_tuple(leaf.wanted))
        for leaf in leaves(item.only_if)
        if leaf.always and not isinstance(leaf.wanted, Mapping)
    }


def never(name: str, decider: Item, wanted: Any) -> Iterator[str]:
    """Why an item never has the answers, or is never within the limits, that a condition names."""
    if decider.repeat is not None:
        yield f"{name} is asked once for each stage; use an item that is asked only once"
        return
    if isinstance(wanted, Mapping):
        yield from _never_within(name, decider, wanted)
        return
    unknown = DONT_KNOW if decider.dont_know else None
    known = tuple(value for value in as_tuple(wanted) if value != unknown)
    if as_tuple(wanted) != known == ():
        return
    wanted = known
    if (possible := decider.possible()) is None:
        yield f"the possible answers to {name} cannot be listed; use {LISTED}"
    elif not wanted:
        yield "no value, so this is never true"
    for value in wanted:
        if possible is not None and not among(value, possible):
            yield f"{name} is never {value!r}; it is one of: {_format_values(possible)}"


def _never_within(name: str, decider: Item, limits: Mapping[str, float]) -> Iterator[str]:
    """Why a number is never within limits."""
    if (ends := decider.bounds()) is None:
        yield f"{name} has no number that could be below or above another"
    elif limits.get(ABOVE, -inf) >= ends[1] or limits.get(BELOW, inf) <= ends[0]:
        yield f"{name} ranges from {ends[0]:g} to {ends[1]:g}, so it is never within these limits"
    elif limits.get(ABOVE, -inf) >= limits.get(BELOW, inf):
        yield "no number is both above the first and below the second"


def places_of_parts(instrument: Instrument) -> dict[str, int]:
    """The places of its items, by their ids and by those of their parts."""
    items = enumerate(instrument.items)
    return {
        item_id: place
        for place, item in items
        for item_id in (item.id, *(part.id for part in item.parts()))
    }


def among(value: Value, possible: tuple[Value, ...]) -> bool:
    """Whether a value is one of those that are possible; true is no 1."""
    return any(value == other and type(value) is type(other) for other in possible)


def requirements(instrument: Instrument, index: int) -> dict[str, frozenset[Value]]:
    """The values, by name, one of which must exist for an item to be asked, including those for the
    items that decide about it. Of what can have several values at once nothing follows."""
    items = places_of_parts(instrument)
    required: dict[str, frozenset[Value]] = {}
    for name, values in _needed(instrument.items[index]).items():
        place = items.get(name)
        several = place is not None and instrument.items[place].several
        if not several and not is_answer(name):
            required[name] = required.get(name, values) & values
        if place is not None and place < index:
            for other, own in requirements(instrument, place).items():
                required[other] = required.get(other, own) & own
    return required


def _no_check(instrument: Instrument, item: Item) -> Iterator[str]:
    """Why an item cannot be the check that it is declared to be."""
    noun = "an attention check" if item.comprehension is None else "a comprehension check"
    possible = item.possible()
    right = as_tuple(item.right)
    by_parts = isinstance(item, Compound) and item.can_be_right
    if isinstance(item, Compound) and by_parts:
        yield from _no_check_of_parts(item, right)
    elif not right or (possible is None and not isinstance(item, Typed)):
        yield f"{noun} needs a right answer, so it must be {LISTED}"
        return
    for value in () if by_parts else right:
        if isinstance(item, Typed):
            if not item.holds(value):
                yield f"{value!r} is not a possible answer in the form in which answers are stored"
        elif possible is not None and not among(value, possible):
            yield f"{value!r} is not an answer to it; it is one of: {_format_values(possible)}"
    if not item.required:
        yield f"{noun} must be answered; leave out `required: false`"
    if item.comprehension is not None and item.repeat is not None:
        yield "a comprehension check is asked only once; leave out `repeat`"
    scores = instrument.scores if isinstance(instrument.scores, dict) else {}
    for name, score in scores.items():
        if item.id in score.needs:
            yield f"{noun} must not be part of a score, but it is in {name}; leave it out there"


def _no_check_of_parts(item: Compound, right: tuple[Any, ...]) -> Iterator[str]:
    """Why values are no right answers to an item with several parts."""
    if not right:
        yield "a check of it needs the right value for each of its parts"
    for value in right:
        try:
            if item.complete(item.check(value)):
                continue
            what = "it is not complete"
        except ValueError as error:
            what = str(error)
        parts = ", ".join(part.id.removeprefix(f"{item.id}_") for part in item.parts())
        yield f"{value!r} is not an answer to it ({what}); give a value for each of: {parts}"


def _format_values(values: tuple[Value, ...]) -> str:
    shown = [repr(value) for value in values]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:3], "…", shown[-1]])


def _either(values: tuple[Value, ...]) -> str:
    return " or ".join(sorted(map(repr, values)))
