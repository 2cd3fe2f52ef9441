"""What the sessions that count say of one study with concept repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.tasks.concept_repair.report import hypotheses
from labapp.tasks.concept_repair.report.hypotheses import Prediction
from labapp.tasks.concept_repair.report.measures import (
    MEASURES,
    SAMPLES,
    Models,
    Rows,
    by_person,
    models_of,
)

if TYPE_CHECKING:
    from labapp.base.report.drawing import ReportFigure


@dataclass(frozen=True)
class RepairResults:
    """One study. curves: its rows of the table `concept_curves`; tests: what was expected, tested;
    simulated: participants who are programs."""

    study: str
    rows: Rows
    models: Models
    curves: pd.DataFrame
    tests: tuple[Prediction, ...]
    simulated: int

    @property
    def participants(self) -> int:
        """How many have a picture that counts."""
        return int(self.models.people["participant"].nunique())

    @property
    def measures(self) -> list[str]:
        """The measures that have a value of anybody."""
        people = self.models.people
        return [name for name in MEASURES if people[name].notna().any()]

    @property
    def samples(self) -> list[str]:
        """The samples that were shown, the primary one first."""
        there = set(self.models.people["sample"].dropna())
        return [name for name in SAMPLES if name in there]

    @cached_property
    def correlations(self) -> Sequence[Statistic]:
        """Of every measure that is said to rise or fall with impurity, with every measure of the
        models."""
        return [
            self.models.correlated(measure, predictor)
            for measure in self.measures
            if MEASURES[measure].rises
            for predictor in self.models.predictors
        ]

    @cached_property
    def drawn(self) -> Sequence[ReportFigure]:
        """The figures, drawn once for the page and the files. matplotlib is loaded here."""
        from labapp.tasks.concept_repair.report.figures import plates

        return plates(self)


def findings(counted: Tables) -> tuple[RepairResults, ...]:
    """What each study says that has a picture of this task which counts.

    counted: `Tables.included()`. Random draws are seeded, so that the same tables give the same
    intervals.
    """
    studies = sorted({str(name) for name in counted.small()["repairs"]["study"].dropna()})
    return tuple(results_of(counted.of_study(study), study) for study in studies)


def results_of(counted: Tables, study: str) -> RepairResults:
    """What one study says; counted: its tables alone."""
    rows = Rows.of(counted)
    people = by_person(rows)
    models = models_of(counted, study, people)
    sessions = counted.participants
    programs = sessions[sessions["strategy"].notna()] if "strategy" in sessions else sessions[:0]
    programs = programs.drop_duplicates("participant")  # of whatever sessions
    return RepairResults(
        study=study,
        rows=rows,
        models=models,
        curves=counted.small()["concept_curves"],
        tests=tuple(hypotheses.tested(rows, models)),
        simulated=int(programs["participant"].isin(set(people["participant"])).sum()),
    )
