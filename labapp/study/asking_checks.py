"""What conditions of questionnaires name beside their own items, and a study does not have where it
asks them: variables, and items of earlier questionnaires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labapp.documents import Path_, Problem, dotted, parse_yaml, refused
from labapp.errors import LabappError
from labapp.study import allocation
from labapp.study.conditions import Scope, Value, listed, matches
from labapp.study.flow import placed_items, unroll
from labapp.study.instruments import Instrument
from labapp.study.instruments.asking import among, is_outside, never
from labapp.study.schema import Study


@dataclass
class _Place:
    """Where a questionnaire is asked.

    Attributes
    ----------
    at : in the study file.
    scopes : the variables of everybody who is asked there.
    before : the questionnaires that some of them were asked before, in the same session.
    """

    at: Path_
    scopes: list[Scope] = field(default_factory=list)
    before: dict[str, None] = field(default_factory=dict)

    def values(self, name: str) -> tuple[Value, ...]:
        """The values that a variable has there; nothing where there is none of that name."""
        return tuple(dict.fromkeys(scope[name] for scope in self.scopes if name in scope))

    def names(self) -> list[str]:
        return list(dict.fromkeys(name for scope in self.scopes for name in scope))


def asking_faults(
    study: Study, instruments: Mapping[str, tuple[Instrument, Path, bytes]]
) -> Iterator[LabappError]:
    """Every condition that is never met in a study, by questionnaire; instruments: those that it
    asks, by id, each with its file and what that holds."""
    if not any(
        item.only_if for instrument, *_ in instruments.values() for item in instrument.items
    ):
        return
    places = _places(study)
    for name, (instrument, path, content) in instruments.items():
        problems: dict[Path_, str] = {}
        for place in places.get(name, ()):
            for at, what in _faults(instrument, place, instruments):
                problems.setdefault(at, f"{what} (asked in {dotted(place.at)})")
        if problems:
            located = parse_yaml(path, content)
            lines = [Problem(located.line(at), dotted(at), what) for at, what in problems.items()]
            yield refused(path, sorted(lines), "instrument")


def _places(study: Study) -> dict[str, list[_Place]]:
    """By questionnaire where it is asked, as participants of every condition and session meet
    it."""
    at = {id(item): place for place, item in placed_items(study.flow)}
    places: dict[tuple[Path_, str], _Place] = {}
    for number, drawn in allocation.variants(study):
        for session in allocation.sessions_of(study):
            given = allocation.place_of(study, number, drawn, session)
            before: dict[str, None] = {}
            for item, scope in unroll(study.flow, given.scope, given.turns):
                for name in item.instruments():
                    where = at[id(item)]
                    place = places.setdefault((where, name), _Place(where))
                    place.scopes.append(scope)
                    place.before |= before
                    before[name] = None
    by_name: dict[str, list[_Place]] = {}
    for (_, name), place in places.items():
        by_name.setdefault(name, []).append(place)
    return by_name


def _faults(
    instrument: Instrument,
    place: _Place,
    instruments: Mapping[str, tuple[Instrument, Path, bytes]],
) -> Iterator[tuple[Path_, str]]:
    own = [item.id for item in instrument.items]
    for index, item in enumerate(instrument.items):
        variables = {}
        impossible = False
        for name, wanted in item.only_if.items():
            at: Path_ = ("items", index, "only_if", name)
            if is_outside(name):
                before = tuple(place.before)
                told = _of_another(instrument, name, listed(wanted), before, instruments)
            elif name in own:
                told = iter(
                    [f"{name} is an item and a variable of the study: rename the item"]
                    if name in place.names()
                    else []
                )
            else:
                variables[name] = wanted
                told = _of_variable(name, listed(wanted), place, own)
            for what in told:
                impossible = True
                yield at, what
        if not impossible and not any(matches(variables, scope) for scope in place.scopes):
            yield ("items", index, "only_if"), "nobody who is asked has all of these together"


def _of_variable(
    name: str, wanted: tuple[Value, ...], place: _Place, own: list[str]
) -> Iterator[str]:
    """Why a variable never decides."""
    if not (possible := place.values(name)):
        known = ", ".join((*own, *place.names()))
        yield f"there is no item and no variable {name!r}; there are: {known}"
        return
    for value in wanted:
        if not among(value, possible):
            yield f"{name} is never {value!r}; it is one of: {', '.join(map(repr, possible))}"


def _of_another(
    instrument: Instrument,
    name: str,
    wanted: tuple[Value, ...],
    before: tuple[str, ...],
    instruments: Mapping[str, tuple[Instrument, Path, bytes]],
) -> Iterator[str]:
    """Why an item of another questionnaire never decides."""
    of, _, own = name.partition(".")
    if of == instrument.id:
        return  # told by the questionnaire itself
    if of not in before:
        earlier = ", ".join(before) or "none"
        yield f"the questionnaire {of!r} is not asked before it; before it are asked: {earlier}"
        return
    if of not in instruments:
        return  # it cannot be read, which is told there
    other = instruments[of][0]
    decider = next((item for item in other.items if item.id == own), None)
    if decider is None:
        known = ", ".join(item.id for item in other.items)
        yield f"the questionnaire {of!r} has no item {own!r}; it has: {known}"
        return
    yield from never(name, decider, wanted)
