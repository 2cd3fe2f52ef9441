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
from labapp.tasks.concept_repair.report import planned, sections, statistics
from labapp.tasks.concept_repair.report.findings import RepairResults, findings
from labapp.tasks.concept_repair.report.measures import CONCEPT_PARTICIPANTS

if TYPE_CHECKING:
    from labapp.report.drawing import ReportFigure

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
    planned_tables = planned.TABLES

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
        return planned.slopes(counted)

    def defined(self, counted: Tables, findings: tuple[RepairResults, ...]) -> Mapping[str, str]:
        return self.definitions if findings else {}


REPORT = ConceptRepairReport()
