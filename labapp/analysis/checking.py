"""A study checked with what only the analysis knows: the names that outcomes can have."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from math import inf
from pathlib import Path

from labapp.analysis.column import ends_of
from labapp.analysis.columns import STAGES, TRIALS, outcome_columns, table_columns
from labapp.analysis.task_records import records_class
from labapp.base.documents import Path_, format_path
from labapp.base.errors import StimuliError, StudyError
from labapp.models.stimuli import library
from labapp.models.stimuli.masked_pictures import find_recorded_outputs
from labapp.study.flow import items_of
from labapp.study.loading import LoadedStudy
from labapp.study.measures import (
    Called,
    has_unread,
    items,
    meanings,
    numeric_items,
    resolve,
    scores,
    with_items,
)
from labapp.study.overview import Checked, check_all
from labapp.study.plugins.item import TaskStages
from labapp.study.plugins.registry import task_types
from labapp.study.schema import Study
from labapp.study.stimulus_stages import PredictMasked


def check_study(
    study: str | Path,
    predict_masked: PredictMasked = find_recorded_outputs,
    language: str | None = None,
) -> Checked:
    """Everything that is wrong with a study and with what it names: as `check_all`, with the
    outcomes that nothing measures and effects that cannot be."""
    checked = check_all(study, predict_masked, language)
    if checked.loaded is None:
        return checked
    unfit = (
        *unknown_outcomes(checked.loaded),
        *unfit_labels(checked.loaded),
        *impossible_effects(checked.loaded),
        *impossible_transforms(checked.loaded),
    )
    return checked._replace(errors=(*checked.errors, *unfit))


def unfit_labels(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Labels of names that the study does not have, of numbers, of names with several meanings, and
    those that two names share."""
    study = loaded.study
    if not study.labels or loaded.origin:
        return
    levels = study.factor_levels
    factors = [*levels, *(level for own in levels.values() for level in own)]
    columns = [column.name for _, column in outcome_columns()]
    spelt: dict[str, set[str]] = {}
    for of, name in (*scores(loaded), *items(loaded)):
        spelt.setdefault(name, set()).add(f"{of}.{name}")
    own = items(loaded).values()
    options = [str(option.id) for item in own for option in getattr(item, "options", ())]
    others = (*study.exclude, *study.quotas, *options, *_names_of_stages(study))
    only_short = {*factors, *others, *({*columns} - _columns_of_other_tasks(study))}
    measures = [*columns, *spelt, *(longer for own in spelt.values() for longer in own)]
    known = dict.fromkeys((*factors, *measures, *others))
    known |= dict.fromkeys(_models_of_sets(known))
    plan = study.analysis.outcomes
    outcomes = {*plan.primary, *plan.secondary, *plan.manipulation_checks}

    def meant(name: str) -> list[str]:
        """What has the label of a name, and of an outcome that is the end of the name."""
        own = name.rpartition(".")[2]
        if own != name and (own in study.labels or own not in outcomes):
            return [name]
        longer = spelt.get(own, set()) - ({*study.labels} - {name}) - {f"{own}.{own}"}
        return [f"{own} itself"] * (own in only_short) + sorted(longer)

    met: dict[str, str] = {}
    for name, label in study.labels.items():
        place = ("labels", name)
        line = loaded.located.line(place)
        what = todo = ""
        if name not in known and has_unread(loaded):
            continue  # a questionnaire that could not be read may have it
        if name not in known:
            near = difflib.get_close_matches(name, list(known), 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            what = (
                f"{name!r} is not a factor, level, model, outcome, item, option, rule, quota or "
                f"task of the study{hint}"
            )
            todo = f"Factors and levels are: {', '.join(dict.fromkeys(factors)) or 'none'}."
        elif name not in only_short and name in spelt and spelt[name] <= {*study.labels}:
            longer = " and ".join(sorted(spelt[name]))
            what = f"{name!r} is {longer}, which has its own label"
            todo = "Leave one of them out."
        elif len(things := meant(name)) > 1:
            what = f"{name.rpartition('.')[2]!r} has several meanings: {' and '.join(things)}"
            todo = (
                "Write the questionnaire, a dot and the name, in outcomes too, or give each of "
                "them its own label."
            )
        elif re.fullmatch(r"[-+\d.]+", name):
            what = f"{name} is a number, which would be replaced wherever it occurs"
            todo = "In the design, use words as the name of the level."
        elif isinstance(label, str) and met.setdefault(label, name) != name:
            what = f"{label!r} is already the label of {met[label]}"
            todo = "Give each of them its own label."
        elif isinstance(label, dict) and (
            lacking := [each for each in study.languages if each not in label]
        ):
            what = f"it has no label in {lacking[0]!r}"
            todo = "Add it, or write one text for all languages."
        if what:
            yield StudyError.at(loaded.path, line, format_path(place), what, todo)


def _names_of_stages(study: Study) -> Iterator[str]:
    """The tasks of a study's stages, their stimulus sets, and the methods that they name."""
    for group in _stages(study):
        yield group.task
        yield from (str(name) for key in ("stimuli", "methods") for name in _listed(group, key))


def _columns_of_other_tasks(study: Study) -> set[str]:
    """The columns of tables that only tasks bring which the study does not have."""
    met = {type(group) for group in _stages(study)}
    own = {True: {column.name for column in (*TRIALS, *STAGES)}, False: set()}
    for each in task_types():
        if (records := records_class(each)) is not None:
            brought = (*records.tables.own.values(), *map(records.tables.columns, table_columns()))
            own[bool(met & {*each.stages})] |= {column.name for some in brought for column in some}
    return own[False] - own[True]


def _stages(study: Study) -> Iterator[TaskStages]:
    return filter(None, (item.task_stages() for item in items_of(study.flow)))


def _listed(group: object, key: str) -> Iterable[object]:
    value = getattr(group, key, ())
    return (value,) if isinstance(value, str) else value or ()


def _models_of_sets(names: Iterable[str]) -> Iterator[str]:
    """The models that answer in those stimulus sets that are among the names, or are explained."""
    known = {folder.name for folder in library.set_folders()}
    for name in filter(known.__contains__, names):
        with suppress(StimuliError):  # a set that cannot be read has an error of its own
            manifest = library.load(name).manifest
            if manifest.concept_model is not None:
                yield manifest.concept_model.model
            if manifest.method.classifier:
                yield manifest.method.classifier


_DEFINED: dict[str, tuple[str, float, float]] = {
    "log": ("above 0", 0.0, inf),
    "sqrt": ("from 0", 0.0, inf),
    "logit": ("from 0 to 1", 0.0, 1.0),
}
"""By transform the values that have one: in words, and their ends."""


def notices(loaded: LoadedStudy) -> list[str]:
    """Remarks on logits of outcomes that can be 0 or 1."""
    transforms = loaded.study.analysis.transform
    ranges = _ranges(loaded, transforms)
    told = []
    for outcome, transform in transforms.items():
        ends = [end for end in ranges.get(outcome, ()) if end in (0, 1)]
        if transform == "logit" and ends:
            place = ("analysis", "transform", outcome)
            told.append(
                f"line {loaded.located.line(place)}, {format_path(place)}: {outcome} can be "
                f"{' or '.join(f'{end:g}' for end in ends)}, which has no logit. Such values are "
                "left out of its tests, and the report says how many there were."
            )
    return told


def impossible_transforms(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Transforms that some values of the outcome do not have, such as the log of a share of 0:
    they would be missing in the analysis."""
    transforms = loaded.study.analysis.transform
    ranges = _ranges(loaded, transforms)
    for outcome, transform in transforms.items():
        where, least, most = _DEFINED[transform]
        low, high = ranges.get(outcome, (1.0, 1.0))
        if low < least or high > most or (transform == "log" and low == 0):
            place = ("analysis", "transform", outcome)
            yield StudyError.at(
                loaded.path,
                loaded.located.line(place),
                format_path(place),
                f"{outcome} ranges from {low:g} to {high:g}, but only values {where} have a "
                f"{transform}: the others would be missing in the analysis",
                "Use another transform, or none.",
            )


def impossible_effects(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Smallest effects that no difference can reach, such as 15 for a share from 0 to 1: every
    test of equivalence would succeed, and no number of participants would be found."""
    plan = loaded.study.analysis
    contrasts = {contrast.name: contrast for contrast in plan.contrasts}
    ranges = _ranges(loaded, plan.smallest_effect)
    for outcome, effect, at in plan.smallest_effects():
        contrast = contrasts.get(effect.contrast)
        if effect.raw is None or contrast is None or outcome not in ranges:
            continue
        low, high = ranges[outcome]
        weights = (sum(map(abs, levels.values())) for levels in contrast.weights.values())
        largest = (high - low) * math.prod(weights) / 2
        if effect.raw < largest:
            continue
        place = ("analysis", "smallest_effect", *at, "raw")
        yield StudyError.at(
            loaded.path,
            loaded.located.line(place),
            format_path(place),
            f"{outcome} ranges from {low:g} to {high:g}, so the contrast {contrast.name!r} can "
            f"be at most {largest:g}, and {effect.raw:g} is not below that",
            "Give the smallest effect in the unit of the outcome.",
        )


def _ranges(loaded: LoadedStudy, names: Iterable[str]) -> dict[str, tuple[float, float]]:
    """By name of an outcome its lowest and its highest value, if they are known."""
    ends = {
        ("", column.name): ends_of(column.unit)
        for _, column in outcome_columns()
        # A change over questions goes below 0 as well.
        if not column.name.startswith("change_")
    }
    known = {called: own for called, own in ends.items() if own is not None}
    numbers = numeric_items(loaded)
    asked = {
        called: ends
        for called, ends in (numbers | scores(loaded)).items()
        if inf not in map(abs, ends)
    }
    scored = [called for called in asked if called not in numbers or called in scores(loaded)]
    possible = {name: meanings(name, with_items(name, [*known, *scored], asked)) for name in names}
    known |= asked
    return {name: known[own[0]] for name, own in possible.items() if len(own) == 1}


def unknown_outcomes(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Outcomes that no table has and no questionnaire of the flow scores, or whose name stands for
    several, each with its line."""
    scored = [*{("", column.name) for _, column in outcome_columns()}, *scores(loaded)]
    numbers = numeric_items(loaded)
    outcomes: dict[Called, str] = {}
    whole = not loaded.origin
    for place, name in _walk_names(loaded.study):
        unknown = (
            f"{name!r} is not a number in a table, a score of a questionnaire in the flow, or an "
            "item that is answered with a number"
        )
        # A manipulation check may be answered in words.
        asked = items(loaded) if "manipulation_checks" in place else numbers
        known = with_items(name, scored, asked)
        todo = "The tables are under “Tables” in the documentation (labapp docs)."
        try:
            outcome = resolve(loaded, place, name, known, unknown, todo)
        except StudyError as error:
            whole = False
            if not has_unread(loaded) or meanings(name, known):
                yield error
            continue
        if place[1] != "outcomes":
            if place[0] == "hypotheses" and whole and outcomes and outcome not in outcomes:
                yield StudyError.at(
                    loaded.path,
                    loaded.located.line(place),
                    format_path(place),
                    f"{name!r} is not among the outcomes that are analysed: "
                    f"{', '.join(outcomes.values())}",
                    "Add it to `analysis.outcomes`, as primary or secondary.",
                )
        elif (first := outcomes.setdefault(outcome, name)) != name:
            yield StudyError.at(
                loaded.path,
                loaded.located.line(place),
                format_path(place),
                f"{name!r} is {first!r} again, but each outcome is analysed only once",
                "Leave one of them out.",
            )


def _walk_names(study: Study) -> Iterator[tuple[Path_, str]]:
    plan = study.analysis
    for role in ("primary", "secondary", "manipulation_checks"):
        for index, name in enumerate(getattr(plan.outcomes, role)):
            yield ("analysis", "outcomes", role, index), name
    for key in ("transform", "smallest_effect"):
        for name in getattr(plan, key):
            yield ("analysis", key, name), name
    for index, hypothesis in enumerate(study.hypotheses):
        if hypothesis.test is not None:
            continue
        yield ("hypotheses", index, "outcome"), hypothesis.outcome
