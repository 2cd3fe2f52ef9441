"""What the report has of concept repair (after paper 001, section 4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from labapp.analysis.tables import Tables
from labapp.analysis.task_report import ComparedSlope, ReportedStudy, TaskReport
from labapp.report.page import Html
from labapp.tasks.concept_repair.plan import GRID, TASK
from labapp.tasks.concept_repair.report import sections, statistics
from labapp.tasks.concept_repair.report.findings import RepairResults, findings
from labapp.tasks.concept_repair.report.hypotheses import SLOPE_BOUND, outcomes
from labapp.tasks.concept_repair.report.measures import (
    CONCEPT_PARTICIPANTS,
    MATCHED,
    MODEL,
    PERSON,
    SAMPLES,
    Rows,
    by_person,
)
from labapp.tasks.concept_repair.report.models import OIS, PREDICTORS, models_of

if TYPE_CHECKING:
    from labapp.report.drawing import ReportFigure


TABLES = ("repairs", "concept_changes", "concept_grids", "concept_models", "concept_purities")
"""What it is worked out from."""
NO_OIS = "the sets do not tell OIS of their models"
NOTHING = {
    "harm": "nothing that is right is set where the answer is right, so that nothing can be harmed",
    "surprised": "simulated participants show nothing of it; what they say is coded by nobody",
    "wrong": "no answer is foretold in these pictures",
}
"""Why there is nothing to plan with, by the column of the outcome."""


def slopes(counted: Tables) -> Iterator[ComparedSlope]:
    """A slope on OIS an outcome of H1, in the primary and the secondary sample of pictures."""
    for study in sorted({str(name) for name in counted.small()["repairs"]["study"].dropna()}):
        own = counted.of_study(study)
        rows = Rows.of(own)
        models = models_of(own, study, by_person(rows)).known
        every = outcomes(rows)
        for sample in SAMPLES[:2]:
            if sample not in set(rows.repairs["sample"]):
                continue
            for outcome, frame, column in every:
                known = models[[*MODEL, "name", OIS]] if OIS in models else None
                shown = frame[(frame["sample"] == sample) & frame[column].notna()]
                yield ComparedSlope(
                    name=f"{study}, {sample}: {outcome} by {PREDICTORS[OIS]} (H1)",
                    rises=True,
                    smallest=SLOPE_BOUND,
                    n_tests=len(every) if sample == MATCHED else 1,  # p of others is not corrected
                    rows=pd.DataFrame() if known is None else _rows(shown, column, known),
                    why=NO_OIS if known is None else NOTHING[column] if shown.empty else "",
                )


def _rows(shown: pd.DataFrame, column: str, known: pd.DataFrame) -> pd.DataFrame:
    own = shown.merge(known, on=list(MODEL)).dropna(subset=[OIS])
    return pd.DataFrame(
        {
            "participant": own[PERSON[1]].astype(str),
            "model": own["name"].astype(str),
            "picture": own["picture"].astype(str),
            "kind": own["item"].fillna("none").astype(str),
            "value": own[OIS].astype(float),
            "outcome": own[column].astype(float),
        }
    )


TABLE = "concept_participants"
DEFINITIONS = {
    "Purity and people": (
        "Success: pictures left by Done with a right answer / all. Gain: right as a picture was "
        "left, less right when left alone. Harm: settings to what is true after which a right "
        "answer is wrong / all settings to what is true while the answer was right. Foresee: "
        "answers foretold rightly / answers foretold, of those not seen before in the picture, "
        "less one among the classes; less unchanged: less the share of these that stayed as they "
        "were. Side effect: the answer says the opposite of another concept "
        "than the one that was set. Deviation: how "
        "well the model's code of one concept tells another (an area under the ROC curve), less "
        "how well the true concept does; OIS sums it up over all pairs (paper 001, section 3.1). "
        "Grid: correlation over pairs of what was ticked with the absolute deviation. All of it is "
        "in the tables repairs, concept_changes, concept_grids, concept_participants, "
        "concept_models, concept_purities and statistics."
    ),
}


class ConceptRepairReport(TaskReport[tuple[RepairResults, ...]]):
    activities: ClassVar = {
        TASK: "set right what a model took a picture's concepts for",
        GRID: "said which concept changes with which",
    }
    tasks = (TASK, GRID)
    definitions = DEFINITIONS
    tables: ClassVar = {TABLE: CONCEPT_PARTICIPANTS}
    planned_tables = TABLES

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> tuple[RepairResults, ...]:
        return findings(counted)

    def frames(self, findings: tuple[RepairResults, ...]) -> Mapping[str, pd.DataFrame]:
        from labapp.analysis.tables import typed

        people = [results.models.people for results in findings]
        nobody = typed([], CONCEPT_PARTICIPANTS)
        return {TABLE: pd.concat(people, ignore_index=True) if people else nobody}

    def statistics(self, findings: tuple[RepairResults, ...]) -> Iterator[Mapping[str, Any]]:
        for results in findings:
            yield from statistics.rows(results)

    def sections(self, study: ReportedStudy, findings: tuple[RepairResults, ...]) -> Iterator[Html]:
        for results in findings:
            if results.study == study.name:
                yield from sections.of_study(results, study.anchor)

    def plates(
        self, counted: Tables, findings: tuple[RepairResults, ...]
    ) -> Iterator[ReportFigure]:
        """Those of each study; their names tell studies apart where there are several."""
        for number, results in enumerate(findings, start=1):
            apart = f"-{number}-{results.study}" if len(findings) > 1 else ""
            for plate in results.drawn:
                yield replace(plate, name=plate.name.replace(TASK, f"{TASK}{apart}", 1))

    def methods(self, study: ReportedStudy, findings: tuple[RepairResults, ...]) -> Iterator[str]:
        if any(results.study == study.name for results in findings):
            yield sections.METHODS

    def slopes(self, counted: Tables) -> Iterator[ComparedSlope]:
        return slopes(counted)

    def defined(self, counted: Tables, findings: tuple[RepairResults, ...]) -> Mapping[str, str]:
        return self.definitions if findings else {}


REPORT = ConceptRepairReport()
