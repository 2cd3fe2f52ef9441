"""A study checked with what only the analysis knows: the names that outcomes can have."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

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
    return checked._replace(errors=(*checked.errors, *unknown_outcomes(checked.loaded)))


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
