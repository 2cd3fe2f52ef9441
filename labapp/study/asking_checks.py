"""What conditions of questionnaires name beside their own items, and a study does not have where it
asks them: variables, and items of earlier questionnaires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from labapp.documents import Path_, Problem, dotted, parse_yaml, refused
from labapp.errors import LabappError
from labapp.study.conditions import Value, listed
from labapp.study.design_checks import values_at
from labapp.study.flow import placed_items
from labapp.study.instruments import Instrument
from labapp.study.instruments.asking import among, is_outside, never
from labapp.study.schema import Study


def asking_faults(
    study: Study, instruments: Mapping[str, tuple[Instrument, Path, bytes]]
) -> Iterator[LabappError]:
    """Every condition that is never met in a study, by questionnaire; instruments: those that it
    asks, by id, each with its file and what that holds."""
    asked = _asked(study)
    for name, (instrument, path, content) in instruments.items():
        problems: dict[Path_, str] = {}
        for place, values, before in asked.get(name, ()):
            for at, what in _faults(instrument, values, before, instruments):
                problems.setdefault(at, f"{what} (asked in {dotted(place)})")
        if problems:
            located = parse_yaml(path, content)
            lines = [Problem(located.line(at), dotted(at), what) for at, what in problems.items()]
            yield refused(path, sorted(lines), "instrument")


Place = tuple[Path_, dict[str, tuple[Value, ...]], tuple[str, ...]]
"""Where a questionnaire is asked, the values that each variable can have there, and the
questionnaires that were asked before."""


def _asked(study: Study) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = {}
    before: dict[str, None] = {}
    for place, item in placed_items(study.flow):
        values = values_at(study, place)
        for name in item.instruments():
            places.setdefault(name, []).append((place, values, tuple(before)))
            before[name] = None
    return places


def _faults(
    instrument: Instrument,
    values: Mapping[str, tuple[Value, ...]],
    before: tuple[str, ...],
    instruments: Mapping[str, tuple[Instrument, Path, bytes]],
) -> Iterator[tuple[Path_, str]]:
    own = [item.id for item in instrument.items]
    for index, item in enumerate(instrument.items):
        for name, wanted in item.only_if.items():
            at: Path_ = ("items", index, "only_if", name)
            if is_outside(name):
                for what in _of_another(instrument, name, listed(wanted), before, instruments):
                    yield at, what
            elif name in own:
                if name in values:
                    yield at, f"{name} is an item and a variable of the study: rename the item"
            elif name not in values:
                known = ", ".join((*own, *values))
                yield at, f"there is no item and no variable {name!r}; there are: {known}"
            else:
                for value in listed(wanted):
                    if not among(value, values[name]):
                        possible = ", ".join(dict.fromkeys(map(repr, values[name])))
                        yield at, f"{name} is never {value!r}; it is one of: {possible}"


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
