"""What in a study does not fit together, though each of its keys says something possible: every
mistake with its line and key.

What conditions of questionnaires name beside their own items, and a study does not have where it
asks them: variables, and items of earlier questionnaires. What of a declared design does not fit
the flow that it is of, and what cannot come out even.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import Path
from typing import Any

from labapp.base.discovery import PROFILE_NAMES
from labapp.base.documents import (
    Located,
    Path_,
    Problem,
    format_path,
    make_document_error,
    parse_yaml,
)
from labapp.base.errors import LabappError, StudyError
from labapp.study import allocation, conditions
from labapp.study.conditions import OrderByGroup, Scope, Value, as_tuple, values_of
from labapp.study.design import MODEL, SESSION, AnalysisPlan, Design, Hypothesis
from labapp.study.flow import items_of, task_tests, unroll, walk_items
from labapp.study.instruments import Instrument
from labapp.study.instruments.asking import among, never, places_of_parts
from labapp.study.partial import Partial
from labapp.study.plugins import registry
from labapp.study.plugins.item import Item
from labapp.study.results import find_never
from labapp.study.schema import Study
from labapp.study.when import Leaf, holds, is_answer, leaves, names

_DECLARE = (
    "Correct it, or declare it under `design` (or `assignment`). Factors within participants "
    "can be used only inside `each`."
)


def every_item(study: Study) -> Iterator[tuple[Item, Scope]]:
    """Every item of the flow as participants of every condition meet it in every session."""
    sessions = allocation.sessions_of(study)
    for session, (number, drawn) in product(sessions, allocation.variants(study)):
        place = allocation.place_of(study, number, drawn, session)
        yield from unroll(study.flow, place.scope, place.turns)


def factors_known(partial: Partial[Study]) -> bool:
    """Whether all that says which factors and variables there are could be read."""
    return not any(partial.lacks(key) for key in ("assignment", "design"))


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
        problems.append(Problem(located.line(place), format_path(place), what))

    if study.design is not None:
        if study.assignment:
            problem(
                ("assignment",),
                f"line {located.line(('design',))} already has a design; define who gets what "
                "in only one of them",
            )
        for place, item in walk_items(study.flow):
            stages = item.task_stages()
            # Stages that list no models may have photos or sequences in an order of theirs.
            if stages is not None and stages.compared() and "order" in stages.model_fields_set:
                problem(
                    (*place, "stages", "order"),
                    f"the design in line {located.line(('design',))} already sets the order",
                )
    tests = task_tests(study.flow)
    for index, hypothesis in enumerate(() if partial.lacks("flow") else study.hypotheses):
        if hypothesis.test is not None and hypothesis.test not in tests:
            known = ", ".join(tests) or "none"
            what = f"none of the study's tasks has a test {hypothesis.test!r}; there are: {known}"
            problem(("hypotheses", index, "test"), what)
    wrong = contradictions(
        study.design, study.analysis, study.hypotheses, study.factor_levels, partial.lacks
    )
    if not partial.lacks("design"):
        wrong = chain(wrong, design_faults(study, flow_is_whole=not partial.lacks("flow")))
    for place, what in wrong:
        problem(place, what)
    if problems:
        yield make_document_error(path, sorted(problems), "study")


def _variables(
    path: Path, study: Study, located: Located, origin: Mapping[Path_, Path_]
) -> Iterator[LabappError]:
    """An `each`, an `only_if`, a model or a stimulus set with an unknown variable. origin: see
    `Partial`."""
    drawn = conditions.cells_of(study.assignment)
    for item in items_of(study.flow) if study.design is None else ():  # else see `design_faults`
        variable = item.goes_through()
        if variable is not None and (drawn is None or variable != drawn[0]):
            reason = "none is declared" if drawn is None else f"the drawn variable is {drawn[0]!r}"
            yield StudyError.at(
                path,
                located.line_of_text(variable),
                f"each: {variable!r}",
                reason,
                "Name a variable that has cells under `assignment`.",
            )
    for place, item in walk_items(study.flow):
        yield from _only_if(path, place, study, item, located, origin)
        yield from _find_unfilled_names(path, place, study, item, located, origin)
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
    the value. Answers are looked at with the questionnaires (`asking_faults`)."""
    values = values_at(study, place)
    for leaf in leaves(item.only_if):
        name, wanted = leaf.name, leaf.wanted
        line = located.line((*origin.get(place, place), "only_if", *leaf.place))
        if is_answer(name):
            if item.first_only or item.inside():
                what = f"this cannot depend on an answer ({name})"
                todo = "Use a variable, or put the condition on the items inside."
                yield StudyError.at(path, line, "only_if", what, todo)
            continue
        if name not in values:
            yield StudyError.at(
                path,
                line,
                "only_if",
                f"there is no variable {name!r} here; there are: {', '.join(values) or 'none'}",
                _DECLARE,
            )
            continue
        if isinstance(wanted, Mapping):
            if not any(holds({name: wanted}, {name: value}) for value in values[name]):
                what = f"{name} is never within these limits; it is one of: "
                what += ", ".join(map(repr, values[name]))
                yield StudyError.at(path, line, "only_if", what, "Correct the limits.")
            continue
        for value in conditions.as_tuple(wanted):
            if value not in values[name]:
                possible = ", ".join(dict.fromkeys(map(repr, values[name])))
                yield StudyError.at(
                    path,
                    line,
                    "only_if",
                    f"{name} is never {value!r}; it is one of: {possible}",
                    "Correct the value or the levels of the variable.",
                )


def _find_unfilled_names(
    path: Path,
    place: Path_,
    study: Study,
    item: Item,
    located: Located,
    origin: Mapping[Path_, Path_],
) -> Iterator[LabappError]:
    """A name in braces in what an item says that nothing is filled in for, such as in a link."""
    known = (*item.fills_in, *values_at(study, place))
    for key, text in item.filled_in().items():
        at = (*origin.get(place, place), key)
        for name in dict.fromkeys(conditions.VARIABLE.findall(text)):
            if name not in known:
                yield StudyError.at(
                    path,
                    located.line(at),
                    format_path(at),
                    f"there is no value for {{{name}}} here; there are: {', '.join(known)}",
                    _DECLARE,
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


def find_unquoted_levels(path: Path, located: Located) -> Iterator[StudyError]:
    """Levels of factors that are written as yes, no, on or off: without quotes they are true or
    false, and stand as True or False in texts and tables."""
    for place, written in located.switches.items():
        if written.lower() in ("yes", "no", "on", "off") and (
            place[0] == "assignment" or "only_if" in place
        ):
            is_true = written.lower() in ("yes", "on")
            yield StudyError.at(
                path,
                located.line(place),
                format_path(place),
                f"found {written}, which is {'true' if is_true else 'false'} without quotes",
                f'Put it in quotes: "{written}". Or write true or false, if you mean that.',
            )


Before = dict[str, frozenset[str] | None]
"""What conditions can name in front of a point: questionnaires, and named tasks, these with their
results."""


@dataclass
class _QuestionnairePlace:
    """Where a questionnaire is asked.

    Attributes
    ----------
    at : in the study file.
    scopes : the variables of everybody who is asked there.
    before : what some of them met before in the same session, see `Before`.
    """

    at: Path_
    scopes: list[Scope] = field(default_factory=list)
    before: Before = field(default_factory=dict)

    def values(self, name: str) -> tuple[Value, ...]:
        """The values that a variable has there; nothing if there is none of that name."""
        return tuple(dict.fromkeys(scope[name] for scope in self.scopes if name in scope))

    def names(self) -> list[str]:
        return list(dict.fromkeys(name for scope in self.scopes for name in scope))


def asking_faults(
    study_file: Path,
    written: Located,
    study: Study,
    instruments: Mapping[str, tuple[Instrument, Path, bytes]],
) -> Iterator[LabappError]:
    """Every condition that is never met in a study, by questionnaire. written: what the study
    file holds; instruments: those that it asks, by id, each with its file and what that holds."""
    if not any(
        instrument.order not in ("fixed", "shuffled")
        or any(item.only_if or item.piped for item in instrument.items)
        for instrument, *_ in instruments.values()
    ):
        return
    places = _places(study)
    for name, (instrument, path, content) in instruments.items():
        problems: dict[Path_, str] = {}
        for place in places.get(name, ()):
            for at, what in _faults(instrument, place, instruments):
                line = written.line(place.at)
                problems.setdefault(at, f"{what} (asked in {study_file.name}, line {line})")
        if problems:
            located = parse_yaml(path, content)
            lines = [
                Problem(located.line(at), format_path(at), what) for at, what in problems.items()
            ]
            yield make_document_error(path, sorted(lines), "instrument")


def part_faults(
    path: Path,
    located: Located,
    study: Study,
    instruments: Mapping[str, tuple[Instrument, Path, bytes]],
) -> Iterator[LabappError]:
    """Every answer or result on which an item of the flow depends and that is not given before it,
    or never so, and names of what has no results. path, located: the study file; instruments: as in
    `asking_faults`."""
    places: dict[Path_, tuple[Item, Before]] = {}
    if any(map(is_answer, chain.from_iterable(names(i.only_if) for i in items_of(study.flow)))):
        for at, item, _, before in _walk_everybody(study):
            met = places.setdefault(at, (item, {}))[1]
            met.update(before)
            met.pop(item.name or "", None)  # it would decide about its own later parts
    problems = {
        Problem(located.line((*at, "name")), format_path((*at, "name")), what)
        for at, item in walk_items(study.flow)
        for what in _find_name_faults(item, study)
    }
    problems |= {
        Problem(located.line((*at, "only_if", *leaf.place)), format_path((*at, "only_if")), what)
        for at, (item, before) in places.items()
        for leaf in leaves(item.only_if)
        if is_answer(leaf.name)
        for what in _of_another(None, leaf.name, leaf.wanted, before, instruments)
    }
    if problems:
        yield make_document_error(path, sorted(problems), "study")


def _find_name_faults(item: Item, study: Study) -> Iterator[str]:
    """What is wrong with the name of an item's results."""
    if item.name is not None and not _results_of(item):
        yield "found a name; allowed: only for stages or a practice with right and wrong answers"
    if item.name in {asked for each in items_of(study.flow) for asked in each.instruments()}:
        yield (
            f"found {item.name!r}; allowed: a name that is not used by a questionnaire in the flow"
        )


def _results_of(item: Item) -> frozenset[str]:
    if item.inside():
        return frozenset()
    return registry.task_type_of_item(item).results(item.task_stages() or item)


def _walk_everybody(study: Study) -> Iterator[tuple[Path_, Item, Scope, Before]]:
    """Every item of the flow as participants of every condition and session meet it: where it
    stands, the variables there, and what they met before."""
    at = {id(item): place for place, item in walk_items(study.flow)}
    for number, drawn in allocation.variants(study):
        for session in allocation.sessions_of(study):
            given = allocation.place_of(study, number, drawn, session)
            before: Before = {}
            for item, scope in unroll(study.flow, given.scope, given.turns):
                yield at[id(item)], item, scope, dict(before)
                before |= _add_results(item) | dict.fromkeys(item.instruments())


def _add_results(item: Item) -> Before:
    """By its name what an item gives to those behind it."""
    return {} if item.name is None else {item.name: _results_of(item)}


def _places(study: Study) -> dict[str, list[_QuestionnairePlace]]:
    """By questionnaire where it is asked, as participants of every condition and session meet
    it."""
    places: dict[tuple[Path_, str], _QuestionnairePlace] = {}
    for where, item, scope, before in _walk_everybody(study):
        before |= _add_results(item)
        for name in item.instruments():
            place = places.setdefault((where, name), _QuestionnairePlace(where))
            place.scopes.append(scope)
            place.before |= before
            before[name] = None
    by_name: dict[str, list[_QuestionnairePlace]] = {}
    for (_, name), place in places.items():
        by_name.setdefault(name, []).append(place)
    return by_name


def _faults(
    instrument: Instrument,
    place: _QuestionnairePlace,
    instruments: Mapping[str, tuple[Instrument, Path, bytes]],
) -> Iterator[tuple[Path_, str]]:
    own = list(places_of_parts(instrument))
    if isinstance(by_group := instrument.order, OrderByGroup):
        if levels := place.values(by_group.by):
            for at, what in by_group.faults(levels, ()):
                yield ("order", *at), what
        else:
            known = ", ".join(place.names()) or "none"
            yield ("order", "by"), f"there is no variable {by_group.by!r}; there are: {known}"
    for index, item in enumerate(instrument.items):
        impossible = False
        for name in filter(is_answer, item.piped):
            for what in _of_another(instrument.id, name, None, place.before, instruments):
                yield ("items", index, "text"), f"{{answer:{name}}}: {what}"
        for leaf in leaves(item.only_if):
            name = leaf.name
            if is_answer(name):
                told = _of_another(instrument.id, name, leaf.wanted, place.before, instruments)
            elif name in own:
                clash = f"{name} is both an item and a variable of the study; rename the item"
                told = iter([clash] if name in place.names() else [])
            else:
                told = _of_variable(leaf, place, own)
            for what in told:
                impossible = True
                yield ("items", index, "only_if", *leaf.place), what
        variables = {
            key: wanted
            for key, wanted in item.only_if.items()
            if not any(is_answer(name) or name in own for name in names({key: wanted}))
        }
        if not impossible and not any(holds(variables, scope) for scope in place.scopes):
            yield ("items", index, "only_if"), "nobody who is asked can have all of these together"


def _of_variable(leaf: Leaf, place: _QuestionnairePlace, own: list[str]) -> Iterator[str]:
    """Why a variable never decides."""
    name, wanted = leaf.name, leaf.wanted
    if not (possible := place.values(name)):
        known = ", ".join((*own, *place.names()))
        yield f"there is no item and no variable {name!r}; there are: {known}"
        return
    if isinstance(wanted, Mapping):
        if not any(holds({name: wanted}, {name: value}) for value in possible):
            yield f"{name} is never within these limits; it is {', '.join(map(repr, possible))}"
        return
    for value in as_tuple(wanted):
        if not among(value, possible):
            yield f"{name} is never {value!r}; it is one of: {', '.join(map(repr, possible))}"


def _of_another(
    instrument: str | None,
    name: str,
    wanted: Any,
    before: Before,
    instruments: Mapping[str, tuple[Instrument, Path, bytes]],
) -> Iterator[str]:
    """Why an item of another questionnaire, or a result, never decides, or has no answer that can
    be shown. instrument: the one that names it, None for a part; wanted: the answers that decide;
    None if its answer is shown."""
    of, _, own = name.partition(".")
    if of == instrument:
        return  # told by the questionnaire itself
    if of not in before:
        earlier = ", ".join(before) or "none"
        yield f"nothing called {of!r} is asked before it; asked earlier: {earlier}"
        return
    if (results := before[of]) is not None:
        if wanted is None:
            yield f"{name} is not an answer and cannot be shown"
        elif own not in results:
            yield f"{of} has no result {own!r}; it has: {', '.join(sorted(results))}"
        else:
            yield from find_never(name, own, wanted)
        return
    if of not in instruments:
        return  # it cannot be read, which is told there
    other = instruments[of][0]
    if own not in places_of_parts(other):
        known = ", ".join(places_of_parts(other))
        yield f"the questionnaire {of!r} has no item {own!r}; it has: {known}"
        return
    item = other.part(own)
    if wanted is not None:
        yield from never(name, item, wanted)
    elif item.repeat is not None:
        yield f"{name} is asked once for each stage; use an item that is asked only once"
    elif item.parts() != (item,):
        yield f"the answer has several parts; use one of them, such as {of}.{item.parts()[0].id}"


def design_faults(study: Study, flow_is_whole: bool = True) -> Iterator[tuple[Path_, str]]:
    """What is wrong with a design and its flow: where it stands, and what is wrong and allowed.
    flow_is_whole: whether all of the flow could be read."""
    design = study.design
    factors = {} if design is None else design.within_levels
    brought = [name for name, levels in factors.items() if levels is not None]
    gone_through = set()
    for place, item in walk_items(study.flow):
        if (variable := item.goes_through()) is None:
            continue
        gone_through.add(variable)
        if rounds := min(map(len, _rounds_of_all(study, variable)), default=0):
            yield from (((*place, *at), what) for at, what in item.interruption_faults(rounds))
        if variable in around(study, place):
            yield (*place, "each"), f"it is inside another `each: {variable}`"
        if design is not None and variable not in brought:
            what = f"{variable!r} is not a factor within participants with levels of its own"
            yield (*place, "each"), f"{what}; there are: {', '.join(brought) or 'none'}"
    if design is None:
        return
    cells = [allocation.cell_name(cell) for cell in design.cells]
    if again := next((cell for cell in cells if cells.count(cell) > 1), None):
        yield (
            ("design", "between"),
            (f"two cells are both called {again!r}; give the levels different names"),
        )
    for index, factor in enumerate(factors if flow_is_whole else ()):
        at: Path_ = ("design", "within", index)
        if factor == MODEL:
            yield from ((at, what) for what in _models(study))
            by_group = design.orders.get(MODEL)
            faults = by_group.faults(None, allocation.models_met(study)) if by_group else ()
            yield from ((("design", "orders", MODEL, *at), what) for at, what in faults)
        elif factor not in gone_through:
            yield (
                at,
                (
                    f"nothing in the flow runs through the levels of {factor}; write `each: "
                    f"{factor}` there"
                ),
            )


def _rounds_of_all(study: Study, variable: str) -> Iterator[Sequence[Scope]]:
    """What an `each` goes through for participants of every condition, in every session."""
    sessions = allocation.sessions_of(study)
    for session, (number, drawn) in product(sessions, allocation.variants(study)):
        yield allocation.place_of(study, number, drawn, session).turns.get(variable, ())


def _models(study: Study) -> Iterator[str]:
    """What is wrong with the models as levels of a factor within participants."""
    try:
        by_cell = allocation.models_by_cell(study)
    except KeyError:
        return  # an unknown variable in braces, which is told where it stands
    names = {cell: ", ".join(sorted(models)) for cell, models in by_cell.items()}
    if not any(names.values()):
        yield "no stages in the flow list models"
        return
    first = next(iter(by_cell))
    for cell, models in names.items():
        if models != names[first]:
            yield (
                f"everybody must see every model, but for {cell} these are {models or 'none'}, "
                f"and for {first} {names[first] or 'none'}"
            )
            return
    if len(by_cell[first]) < 2:
        yield f"a factor needs at least two levels, but the stages list only {names[first]}"


def around(study: Study, place: Path_) -> set[str]:
    """What each `each` around a place of the flow goes through."""
    outer = (item for at, item in walk_items(study.flow) if place[: len(at)] == at != place)
    return {variable for item in outer if (variable := item.goes_through()) is not None}


def values_at(study: Study, place: Path_) -> dict[str, tuple[Value, ...]]:
    """Every value that each variable can have where an item of the flow stands."""
    design = study.design
    outer = around(study, place)
    if design is None:
        return values_of(study.assignment, inside=bool(outer))
    values: dict[str, tuple[Value, ...]] = dict(design.between)
    if design.sessions:
        values[SESSION] = design.sessions
    brought = design.within_levels.items()
    return values | {name: own for name, own in brought if own is not None and name in outer}


def uneven(study: Study) -> Iterator[tuple[Path_, str]]:
    """What a design asks for that cannot come out even, or leaves open: where it stands, and what
    could be asked for instead. It can be run as it is."""
    for place, item in walk_items(study.flow):
        if item.interrupts() and (variable := item.goes_through()) is not None:
            rounds = max(map(len, _rounds_of_all(study, variable)), default=0)
            if not item.interrupted_after(rounds, conditions.generator(0)):
                what = f"It never comes, because {variable} has {rounds} rounds at most."
                yield (*place, "interrupt"), what
    design = study.design
    if design is None:
        return
    models = next(iter(allocation.models_by_cell(study).values()))
    sizes = {
        factor: len(models if levels is None else levels)
        for factor, levels in design.within_levels.items()
    }
    listed = allocation.count_listed(study)
    if listed > 1 and MODEL not in sizes:
        yield (
            ("design",),
            (
                f"Stages list {listed} models, but `within` does not name `model`, so "
                "everybody sees them in the listed order."
            ),
        )
    if design.sizes is None:
        return
    if design.assign == "number":
        yield (
            ("design", "per_cell"),
            (
                "`assign: number` does not take other sessions into account. It does not show "
                "when a cell is full, and a replacement participant gets the slot of a new "
                "number."
            ),
        )
    drawn = {factor: n for factor, n in sizes.items() if factor not in design.orders}
    for wanted, (factor, n) in product(dict.fromkeys(design.sizes), drawn.items()):
        rows = allocation.rows_of(design.order, n)
        if n < 2 or wanted % rows == 0:
            continue
        below = wanted // rows * rows
        nearest = f"{below} or {below + rows}" if below else f"{rows}"
        what = (
            f"{wanted} participants per cell do not fully balance the {n} levels of {factor}: "
            f"order {design.order} needs a multiple of {rows}, such as {nearest}. With "
            f"{wanted}, a level is in a position at most once more often than another level."
        )
        yield ("design", "per_cell"), what


def contradictions(
    design: Design | None,
    analysis: AnalysisPlan,
    hypotheses: tuple[Hypothesis, ...],
    levels: Mapping[str, tuple[str, ...]],
    lacks: Callable[..., bool] = lambda *start: False,
) -> Iterator[tuple[Path_, str]]:
    """What in these does not fit together: where it stands, and what is wrong and allowed.

    Parameters
    ----------
    levels : by factor its levels as texts; () where only the sessions tell them.
    lacks : whether anything could not be read at or below a place: what may follow from that is
        passed over.
    """
    if analysis.profile not in (None, *PROFILE_NAMES):
        known = ", ".join(PROFILE_NAMES)
        what = f"there is no profile {analysis.profile!r}; there are: {known}, or none"
        yield ("analysis", "profile"), what
    if lacks("flow"):  # the models may stand there
        levels = {**levels, MODEL: ()}
    whole = not (lacks("design") or lacks("assignment"))
    for index, contrast in enumerate(analysis.contrasts if whole else ()):
        for factor, weights in contrast.weights.items():
            at: Path_ = ("analysis", "contrasts", index, factor)
            if factor not in levels:
                yield at, f"there is no factor {factor!r}; there are: {', '.join(levels) or 'none'}"
                continue
            for level in weights:
                if levels[factor] and str(level) not in levels[factor]:
                    known = ", ".join(levels[factor])
                    what = f"{level!r} is not a level of {factor}; its levels are: {known}"
                    yield (*at, str(level)), what
    names = [contrast.name for contrast in analysis.contrasts]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield (
                ("analysis", "contrasts", index, "name"),
                f"{name!r} is already the name of a contrast; give each its own name",
            )
    known = ", ".join(map(repr, names)) or "none"
    names_known = not lacks("analysis", "contrasts")
    for _, effect, at_effect in analysis.smallest_effects():
        if names_known and effect.contrast not in names:
            yield (
                ("analysis", "smallest_effect", *at_effect, "contrast"),
                f"there is no contrast {effect.contrast!r}; there are: {known}",
            )
    for index, hypothesis in enumerate(hypotheses):
        if hypothesis.test is not None:
            continue
        place: Path_ = ("hypotheses", index)
        if names_known and hypothesis.contrast is not None and hypothesis.contrast not in names:
            yield (
                (*place, "contrast"),
                f"there is no contrast {hypothesis.contrast!r}; there are: {known}",
            )
        # What could not be read may be what is missed here, or what would name it.
        whole_hypotheses = not lacks("hypotheses")
        factors = list(levels)
        unknown = [name for name in hypothesis.term or () if name not in levels] if whole else []
        if unknown:
            allowed = ", ".join(factors) or "none"
            yield (*place, "term"), f"there is no factor {unknown[0]!r}; there are: {allowed}"
        untested = hypothesis.contrast is None and hypothesis.term is None and whole_hypotheses
        if whole and design is not None and len(factors) > 1 and untested:
            terms = ", ".join(f"[{name}]" for name in factors)
            what = (
                "with several factors a hypothesis needs the contrast or the term that tests "
                f"it: `contrast`, or `term` as one of {terms} or their interaction "
                f"[{', '.join(factors[:2])}]"
            )
            yield place, what
        unnamed = hypothesis.contrast is None and whole_hypotheses
        if unnamed and hypothesis.direction != "two-sided":
            yield (
                (*place, "direction"),
                f"{hypothesis.direction!r} belongs to a contrast, but no contrast is given",
            )
        of_outcome = analysis.smallest_of(hypothesis.outcome)
        if hypothesis.direction == "equivalent" and not (
            any(effect.contrast == hypothesis.contrast for effect in of_outcome)
            or lacks("analysis", "smallest_effect")
        ):
            what = f"'equivalent' needs the smallest effect of {hypothesis.outcome}"
            what += f" in {hypothesis.contrast!r}" if of_outcome else ""
            yield (*place, "direction"), f"{what} under analysis.smallest_effect"
    if design is None or lacks("design"):
        return
    if design.per_cell is not None and not design.between and not design.within:
        yield ("design", "per_cell"), "there is no factor, so there are no cells"
