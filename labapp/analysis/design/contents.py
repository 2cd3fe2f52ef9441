"""The default analyses in the report, in the table of statistics, and as files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from labapp.analysis.column import Column, number, text, whole
from labapp.analysis.declared import declared_of
from labapp.analysis.design.analyses import StudyAnalyses, analyse
from labapp.analysis.design.apa import DOCX, TEX, tex, write_docx
from labapp.analysis.design.layout import PARTICIPANT, VALUE, Factor
from labapp.analysis.design.r_script import SCRIPT, script
from labapp.analysis.design.sections import sections
from labapp.analysis.design.sources import POSITION, STIMULUS
from labapp.analysis.reliability import (
    RELIABILITY,
    RELIABILITY_TABLE,
    Reliability,
    reliability,
    reliability_rows,
)
from labapp.analysis.tables import Tables, typed
from labapp.analysis.task_records import Row
from labapp.analysis.task_report import ReportedStudy, TaskReport
from labapp.base.report.page import Html

if TYPE_CHECKING:  # matplotlib is slow to load
    from labapp.base.report.drawing import ReportFigure

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


DEFINITIONS = {
    "Analyses by the design": (
        "Participants' means per cell. Where everybody has every cell: analysis of variance with "
        "type III sums of squares, within participants with Greenhouse and Geisser's correction "
        "beside it. Else a linear mixed model with a random intercept of participants (REML, "
        "Satterthwaite's degrees of freedom). Intervals are 95 % ones, of standardised effects by "
        "noncentral distributions; that of generalised eta squared is worked out from that of "
        "partial eta squared. d_z is a difference in standard deviations of the participants' "
        "differences, Hedges' g in those of participants within groups."
    )
}


@dataclass(frozen=True)
class DefaultFindings:
    """The analyses of all studies, by study, and the reliability of their scales."""

    studies: Mapping[str, StudyAnalyses]
    scales: Mapping[str, Sequence[Reliability]] = field(default_factory=dict)

    @cached_property
    def drawn(self) -> Mapping[str, ReportFigure]:
        """The figure of the outcomes of each study that has one; drawn once for page and files.
        matplotlib is loaded here."""
        from labapp.analysis.design.figures import outcomes_figure

        name = "outcomes" if len(self.studies) == 1 else "{}-outcomes"
        figures = {
            study: outcomes_figure(results, name.format(study))
            for study, results in self.studies.items()
        }
        return {study: figure for study, figure in figures.items() if figure is not None}


class DefaultAnalyses(TaskReport[DefaultFindings]):
    """What every study has, by the design that it declares or that its rows show."""

    definitions = DEFINITIONS
    files = (SCRIPT, TEX, DOCX)
    tables: ClassVar[Mapping[str, tuple[Column, ...]]] = {
        VALUES_TABLE: ANALYSED_VALUES,
        RELIABILITY_TABLE: RELIABILITY,
    }

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> DefaultFindings:
        """Every outcome of every study."""
        studies: dict[str, StudyAnalyses] = {}
        scales: dict[str, Sequence[Reliability]] = {}
        number = 1
        for study in sorted({str(study) for study in counted.participants["study"]}):
            own, declaration = counted.of_study(study), declared_of(counted, study)
            results = analyse(own, declaration, number)
            scales[study] = tuple(reliability(own, declaration))
            number += len(results.analyses)
            studies[study] = results
        return DefaultFindings(studies, scales)

    def statistics(self, findings: DefaultFindings) -> Iterable[Mapping[str, Any]]:
        """The rows of every study."""
        for results in findings.studies.values():
            yield from (row.row() for row in results.rows)

    def frames(self, findings: DefaultFindings) -> Mapping[str, pd.DataFrame]:
        """The values that were analysed, and the reliability of scales."""
        made = [row for results in findings.studies.values() for row in values(results)]
        scales = [row for known in findings.scales.values() for row in reliability_rows(known)]
        return {
            VALUES_TABLE: typed(made, ANALYSED_VALUES),
            RELIABILITY_TABLE: typed(scales, RELIABILITY),
        }

    def write(self, findings: DefaultFindings, folder: Path) -> None:
        """The script in R, and the tables for papers. Raises OSError."""
        studies = [results for results in findings.studies.values() if results.analyses]
        scales = [scale for known in findings.scales.values() for scale in known]
        if made := script(studies, scales):
            (folder / SCRIPT).write_text(made, encoding="utf-8")
        if not studies:
            return
        (folder / TEX).write_text(tex(studies), encoding="utf-8")
        write_docx(studies, folder / DOCX)

    def sections(self, study: ReportedStudy, findings: DefaultFindings) -> Iterator[Html]:
        """The analyses of one study, with the figure of its outcomes."""
        if results := findings.studies.get(study.name):
            figure = findings.drawn.get(study.name)
            shown = () if figure is None else (figure.html(study.anchor),)
            yield from sections(results, f"{study.anchor}-analyses", shown)

    def plates(self, counted: Tables, findings: DefaultFindings) -> Iterable[ReportFigure]:
        """The figure of each study's outcomes."""
        return findings.drawn.values()


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


REPORT = DefaultAnalyses()
