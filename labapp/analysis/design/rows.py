"""The values of which the default analyses were made, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from labapp.analysis.column import number, text, whole
from labapp.analysis.design.layout import PARTICIPANT, VALUE, Factor
from labapp.analysis.design.sources import POSITION, STIMULUS

if TYPE_CHECKING:
    from labapp.analysis.design.analyses import StudyAnalyses

Row = dict[str, Any]
VALUES_TABLE = "analysed_values"
LEVELS = 8
"""Columns for the levels of factors in the table of values."""

ANALYSED_VALUES = (
    text("study", "id of the study"),
    whole("analysis", "number of the default analysis, as in the table statistics"),
    text("quantity", "the outcome"),
    text("rows", "cells: one value a participant and cell; trials: one a trial"),
    text("participant", "label of the participant (a pseudonym)"),
    text("stimulus", "of trials: what was shown"),
    whole("position", "place at which the participant met the cell, from 1"),
    *(
        text(f"level_{at}", f"level of factor {at} of the analysis; its name is in analysis.R")
        for at in range(1, LEVELS + 1)
    ),
    *(
        number(f"covariate_{at}", f"covariate {at} of the analysis; its name is in analysis.R")
        for at in range(1, 4)
    ),
    number("value", "the value that was analysed, after the transform"),
)
"""What every default analysis was made of, so that others can make it again."""


def values(results: StudyAnalyses) -> Iterator[Row]:
    """The rows of the table of values."""
    for analysis in results.analyses:
        layout = analysis.outcome.layout
        for kind, frame in (("cells", analysis.frame), ("trials", analysis.trials)):
            if frame is None:
                continue
            about = {
                "study": results.study,
                "analysis": analysis.number,
                "quantity": analysis.outcome.name,
                "rows": kind,
            }
            yield from (about | row for row in _values(frame, layout.factors, layout.covariates))


def _values(frame: Any, factors: Iterable[Factor], covariates: Iterable[str]) -> Iterator[Row]:
    names = {factor.name: f"level_{at}" for at, factor in enumerate(factors, start=1)}
    names |= {name: f"covariate_{at}" for at, name in enumerate(covariates, start=1)}
    names |= {PARTICIPANT: "participant", VALUE: "value"}
    names |= {name: name for name in (STIMULUS, POSITION) if name in frame}
    own = frame[list(names)].rename(columns=names)
    yield from (
        {str(name): None if value != value else value for name, value in row.items()}
        for row in own.to_dict("records")
    )
