"""A study checked with what only the analysis knows: the names that outcomes can have."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from pathlib import Path

from labapp.analysis.column import ends_of
from labapp.analysis.columns import table_columns
from labapp.documents import dotted
from labapp.errors import StudyError
from labapp.study.design import Place
from labapp.study.instruments.scoring import declared
from labapp.study.loading import LoadedStudy
from labapp.study.overview import Checked, check_all
from labapp.study.schema import Study
from labapp.study.stimulus_stages import PredictMasked, recorded_outputs

NO_OUTCOMES = ("scores", "snapshots", "pointer", "deviations", "notes", "items", "scales")
"""Tables whose columns are no outcomes: scores are named by themselves."""


def check_study(
    study: str | Path,
    predict_masked: PredictMasked = recorded_outputs,
    language: str | None = None,
) -> Checked:
    """As `check_all`, with the outcomes that nothing measures."""
    checked = check_all(study, predict_masked, language)
    if checked.loaded is None:
        return checked
    return checked._replace(errors=(*checked.errors, *_unfit_outcomes(checked.loaded)))


def _unfit_outcomes(loaded: LoadedStudy) -> Iterator[StudyError]:
    yield from unknown_outcomes(loaded)
    yield from impossible_effects(loaded)


def impossible_effects(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Smallest effects that no difference can reach, such as 15 for a share from 0 to 1: every
    test of equivalence would succeed, and no number of participants would be found."""
    plan = loaded.study.analysis
    contrasts = {contrast.name: contrast for contrast in plan.contrasts}
    ranges = _ranges(loaded)
    for outcome, effect in plan.smallest_effect.items():
        contrast = contrasts.get(effect.contrast)
        if effect.raw is None or contrast is None or outcome not in ranges:
            continue
        low, high = ranges[outcome]
        weights = (sum(map(abs, levels.values())) for levels in contrast.weights.values())
        largest = (high - low) * math.prod(weights) / 2
        if effect.raw < largest:
            continue
        place = ("analysis", "smallest_effect", outcome, "raw")
        yield StudyError.at(
            loaded.path,
            loaded.located.line(place),
            dotted(place),
            f"{outcome} goes from {low:g} to {high:g}, and so the contrast {contrast.name!r} to "
            f"{largest:g} at most; {effect.raw:g} is not below that",
            "Say the smallest effect in the unit of the outcome.",
        )


def _ranges(loaded: LoadedStudy) -> dict[str, tuple[float, float]]:
    """By outcome its lowest and its highest value, where they are known."""
    ranges: dict[str, tuple[float, float]] = {}
    for table, columns in table_columns().items():
        for column in columns if table not in NO_OUTCOMES else ():
            ends = ends_of(column.unit)
            # A change over questions goes below 0 as well.
            if ends is not None and not column.name.startswith("change_"):
                ranges[column.name] = ends
    for instrument in loaded.instruments.values():
        scores = declared(instrument.planned_scores())
        if scores is None or isinstance(scores, str):
            continue
        for name, score in scores.items():
            if score.low is not None and score.high is not None:
                for known in (name, f"{instrument.id}.{name}"):
                    ranges[known] = score.low, score.high
    return ranges


def unknown_outcomes(loaded: LoadedStudy) -> Iterator[StudyError]:
    """Outcomes that no table has and no questionnaire of the flow scores, each with its line."""
    known = _columns() | _scores(loaded)
    for place, name in _named(loaded.study):
        if name in known:
            continue
        near = difflib.get_close_matches(name, sorted(known), 3)
        todo = f"Perhaps {' or '.join(near)}? " if near else ""
        yield StudyError.at(
            loaded.path,
            loaded.located.line(place),
            dotted(place),
            f"{name!r} is neither a number of a table nor a score of a questionnaire of the flow",
            f"{todo}The tables are under “Tables” in the documentation (labapp docs).",
        )


def _named(study: Study) -> Iterator[tuple[Place, str]]:
    plan = study.analysis
    for role in ("primary", "secondary"):
        for index, name in enumerate(getattr(plan.outcomes, role)):
            yield ("analysis", "outcomes", role, index), name
    for key in ("transform", "smallest_effect"):
        for name in getattr(plan, key):
            yield ("analysis", key, name), name
    for index, hypothesis in enumerate(study.hypotheses):
        yield ("hypotheses", index, "outcome"), hypothesis.outcome


def _columns() -> set[str]:
    return {
        column.name
        for table, columns in table_columns().items()
        if table not in NO_OUTCOMES
        for column in columns
        if column.kind in ("number", "integer", "boolean")
    }


def _scores(loaded: LoadedStudy) -> set[str]:
    names: set[str] = set()
    for instrument in loaded.instruments.values():
        scoring = declared(instrument.planned_scores())
        if scoring is None:
            continue
        rated = (item.id for item in instrument.items if item.numbers_rated() is not None)
        own = set(rated) if isinstance(scoring, str) else set(scoring)
        names |= own | {f"{instrument.id}.{name}" for name in own}
    return names
