"""What the report has of judged explanations (paper 003)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from labapp.analysis.tables import Tables
from labapp.analysis.task_report import ReportedStudy, TaskReport
from labapp.report.page import Html
from labapp.stimuli.manifest import Manifest
from labapp.tasks.judging.plan import TASKS, WARM_UP
from labapp.tasks.judging.report import sections
from labapp.tasks.judging.report.comparisons import Findings, findings
from labapp.tasks.judging.report.lengths import of_set
from labapp.tasks.judging.report.opinions import RISK_ITEMS

if TYPE_CHECKING:
    from labapp.report.drawing import ReportFigure

DEFINITIONS = {
    "Judged explanations": (
        "Accuracy: photos answered rightly / photos judged, of each session. Distinction: the "
        "correct class; with the last two steps of a tree, both answered as the model does; "
        "chance is one of the classes to choose from, there one of the four ends. Agreement: 3 and "
        "4 say that the prediction is correct, 1 and 2 that it is not; chance is half. t tests "
        "are two-sided, two-sample ones with equal variances. The interval clustered by set takes "
        "sessions that saw the same photos as alike (cluster-robust variance, t with one degree of "
        "freedom less than there are sets); it is one of the logit of the share, transformed back, "
        "and so stays between 0 and 100 % (Korn and Graubard 1999). The score that was "
        "told splits the photos in halves by the ratings, ties by lot; without the lot it is the "
        "mean over all ways to break the ties. "
        "All of it is in the table statistics."
    ),
}


class JudgingReport(TaskReport[Findings]):
    activities: ClassVar = {
        "heatmap-distinction": "found the class of photos explained by heatmaps",
        "prototype-distinction": "found the class of photos explained by prototypes",
        "prototype-agreement": "judged predictions explained by prototypes",
        "path-distinction": "decided the last steps of a decision tree",
        "path-agreement": "judged predictions explained by the path through a tree",
        "path-first-step": "named the first step of a path through a tree that they disagreed with",
    }
    tasks = (*TASKS, WARM_UP)
    definitions = DEFINITIONS
    instruments = frozenset({"hive-understanding"})
    items = frozenset(RISK_ITEMS)

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> Findings:
        return findings(counted)

    def statistics(self, findings: Findings) -> Iterator[Mapping[str, Any]]:
        """By the list of analyses."""
        for result in sorted(findings.all, key=lambda result: result.of.item):
            yield result.row()

    def sections(self, study: ReportedStudy, findings: Findings) -> Iterator[Html]:
        yield from sections.of_study(study.name, findings)

    def chapter(
        self, counted: Tables, findings: Findings, anchor: str
    ) -> tuple[str, Iterator[Html]]:
        if not findings.groups:
            return "", iter(())
        return "Judged explanations, all studies", sections.together(findings, anchor)

    def plates(self, counted: Tables, findings: Findings) -> Sequence[ReportFigure]:
        return findings.drawn

    def methods(self, study: ReportedStudy, findings: Findings) -> Iterator[str]:
        """How long the explanations are beside those of the paper."""
        for group in findings.groups:
            if group.study == study.name and group.length_sentence:
                yield group.length_sentence

    def about_stimuli(self, manifest: Manifest) -> str:
        return of_set(manifest)


REPORT = JudgingReport()
