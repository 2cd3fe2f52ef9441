"""What in a study does not fit together, though each of its keys says something possible: every
mistake with its line and key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from labapp.documents import Located, Path_, Problem, dotted, refused
from labapp.errors import LabappError, StudyError
from labapp.plugins.item import Item
from labapp.study import allocation, conditions
from labapp.study.conditions import Scope
from labapp.study.design_checks import contradictions, design_faults, values_at
from labapp.study.flow import items_of, placed_items, unroll
from labapp.study.partial import Partial
from labapp.study.schema import Study

_DECLARE = (
    "Correct it, or declare it under `design` (or `assignment`). What a participant goes through "
    "several of is known inside `each` only."
)
_FACTORS = ("assignment", "design")
"""The keys of a study on which it depends what factors and variables there are."""


def every_item(study: Study) -> Iterator[tuple[Item, Scope]]:
    """Every item of the flow as participants of every condition meet it in every session."""
    sessions = allocation.sessions_of(study)
    for session, (number, drawn) in product(sessions, allocation.variants(study)):
        place = allocation.place_of(study, number, drawn, session)
        yield from unroll(study.flow, place.scope, place.turns)


def factors_known(partial: Partial[Study]) -> bool:
    """Whether all that says which factors and variables there are could be read."""
    return not any(partial.lacks(key) for key in _FACTORS)


def mistakes(path: Path, partial: Partial[Study], located: Located) -> Iterator[LabappError]:
    """What does not fit together in a study; what may follow from a part that could not be read is
    passed over."""
    study = partial.model
    if study is None:
        return
    yield from _design(path, study, located, partial)
    if factors_known(partial):
        yield from _variables(path, study, located, partial.origin)


def _design(
    path: Path, study: Study, located: Located, partial: Partial[Study]
) -> Iterator[LabappError]:
    """A design that says a fact twice, and an analysis that does not fit it."""
    problems: list[Problem] = []

    def problem(place: Path_, what: str) -> None:
        # What is left of the document may stand elsewhere in the whole one.
        known = max((n for n in range(len(place) + 1) if place[:n] in partial.origin), default=0)
        place = (*partial.origin.get(place[:known], ()), *place[known:])
        problems.append(Problem(located.line(place), dotted(place), what))

    if study.design is not None:
        if study.assignment:
            problem(
                ("assignment",),
                f"line {located.line(('design',))} has a design: say in one of them who gets what",
            )
        for place, item in placed_items(study.flow):
            stages = item.task_stages()
            # Stages that list no models may have photos or sequences in an order of theirs.
            if stages is not None and stages.compared() and "order" in stages.model_fields_set:
                problem(
                    (*place, "stages", "order"),
                    f"the design in line {located.line(('design',))} says the order",
                )
    wrong = contradictions(
        study.design, study.analysis, study.hypotheses, study.factor_levels, partial.lacks
    )
    flow_is_whole = not partial.lacks("flow")
    for place, what in wrong:
        problem(place, what)
    if not partial.lacks("design"):
        for place, what in design_faults(study, flow_is_whole):
            problem(place, what)
    if problems:
        yield refused(path, sorted(problems), "study")


def _variables(
    path: Path, study: Study, located: Located, origin: Mapping[Path_, Path_]
) -> Iterator[LabappError]:
    """An `each`, an `only_if`, a model or a stimulus set with an unknown variable. origin: see
    `Partial`."""
    drawn = conditions.cells_of(study.assignment)
    for item in items_of(study.flow):
        variable = item.goes_through()
        if study.design is not None:
            break  # see `design_faults`
        if variable is not None and (drawn is None or variable != drawn[0]):
            reason = "none is declared" if drawn is None else f"the drawn variable is {drawn[0]!r}"
            yield StudyError.at(
                path,
                located.line_of_text(variable),
                f"each: {variable!r}",
                reason,
                "Name a variable that has cells under `assignment`.",
            )
    for place, item in placed_items(study.flow):
        yield from _only_if(path, place, study, item, located, origin)
    for item, scope in every_item(study):
        stages = item.task_stages()
        for name in () if stages is None else stages.names():
            try:
                conditions.fill(name, scope)
            except KeyError as error:
                yield unknown_variable(path, located, name, error, scope)


def _only_if(
    path: Path,
    place: Path_,
    study: Study,
    item: Item,
    located: Located,
    origin: Mapping[Path_, Path_],
) -> Iterator[LabappError]:
    """An `only_if` that never holds: its variable is not known where the item stands, or never has
    the value."""
    values = values_at(study, place)
    for name, wanted in item.only_if.items():
        line = located.line((*origin.get(place, place), "only_if", name))
        if name not in values:
            yield StudyError.at(
                path,
                line,
                "only_if",
                f"there is no variable {name!r} here; there are: {', '.join(values) or 'none'}",
                _DECLARE,
            )
            continue
        for value in conditions.listed(wanted):
            if value not in values[name]:
                possible = ", ".join(dict.fromkeys(map(repr, values[name])))
                yield StudyError.at(
                    path,
                    line,
                    "only_if",
                    f"{name} is never {value!r}; it is one of: {possible}",
                    "Correct the value, or the levels of the variable.",
                )


def unknown_variable(
    path: Path, located: Located, text: str, error: KeyError, scope: Scope
) -> StudyError:
    """Of a name that holds a variable which is not known there."""
    return StudyError.at(
        path,
        located.line_of_text(text),
        repr(text),
        f"there is no variable {error.args[0]!r} here; there are: "
        f"{', '.join(('language', *scope))}",
        _DECLARE,
    )


def unquoted(path: Path, located: Located) -> Iterator[StudyError]:
    """Levels of factors that are written as yes, no, on or off: without quotes they are true or
    false, and stand as True or False in texts and tables."""
    for place, written in located.switches.items():
        if written.lower() in ("yes", "no", "on", "off") and (
            place[0] == "assignment" or "only_if" in place
        ):
            key = dotted(place)
            yield StudyError.at(
                path,
                located.line(place),
                key,
                f"found {written}, which is {str(_is_true(written)).lower()} without quotes",
                f'Put it in quotes: "{written}"; or write true or false where that is meant.',
            )


def _is_true(written: str) -> bool:
    return written.lower() in ("yes", "on")
