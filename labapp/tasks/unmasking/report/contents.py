"""What the report has of unmasked pictures (paper 004)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from labapp.analysis.tables import Tables
from labapp.analysis.task_report import ReportedStudy, TaskReport
from labapp.report.page import Html
from labapp.tasks.unmasking.plan import TASK
from labapp.tasks.unmasking.report import curves, model, sections
from labapp.tasks.unmasking.report.bias import bias
from labapp.tasks.unmasking.report.cells import Cells
from labapp.tasks.unmasking.report.comparisons import comparisons
from labapp.tasks.unmasking.report.fits import fits
from labapp.tasks.unmasking.report.groups import groups_of
from labapp.tasks.unmasking.report.ranks import ranks
from labapp.tasks.unmasking.report.results import Found, Group
from labapp.tasks.unmasking.report.statistics import rows

if TYPE_CHECKING:
    from labapp.report.drawing import ReportFigure

DEFINITIONS = {
    "Unmasked images": (
        "An annotation is a response to one masked image; a label names a class. Accuracy: correct "
        "labels / all annotations, “I don't know” is not correct; without it, correct labels / "
        "labels. Reaction time: from the first painted frame of the stimulus to the input event's "
        "own time stamp; all of them, untrimmed. The model alone: its prediction for the masked "
        "image against the true class, and its cross-entropy there. Ranks: for each image and mask "
        "the methods by mean accuracy of the participants, and by the model's cross-entropy, 1 is "
        "best, ties have their average rank. Bias: of images whose prediction is wrong, the share "
        "of annotations equal to it, mean over images; of the whole image, or of the masked one. "
        "Threshold: the percentage at which a psychometric function is half-way between its guess "
        "and lapse rates. Intervals: 95 %, percentiles of 2,000 bootstrap draws of participants "
        "(of their ranks ± 1.96 standard deviations of the draws), of images for the model alone. "
        "All of it is in the tables annotations, masked_predictions and statistics."
    ),
}


def findings(counted: Tables) -> tuple[Found, ...]:
    """What each study with unmasked pictures among these sessions, which all count, says.

    counted: `Tables.included()`. Random draws are seeded, so that the same tables give the same
    intervals.
    """
    return tuple(found_of(group) for group in groups_of(counted))


def found_of(group: Group) -> Found:
    """What one group says."""
    cells = Cells.of(group)
    return Found(
        group=group,
        labels=curves.labels(cells),
        labels_by_method=curves.labels_by_method(cells),
        times=curves.times(cells),
        accuracy=curves.accuracy(cells),
        model=model.accuracy(group),
        whole=model.whole(group),
        ranks=ranks(group, cells),
        bias=bias(cells),
        classes=model.classes(group),
        report=model.report(group),
        fits=fits(cells),
        comparisons=comparisons(cells),
    )


class UnmaskingReport(TaskReport[tuple[Found, ...]]):
    activities: ClassVar = {TASK: "named what masked pictures showed"}
    tasks = (TASK,)
    definitions = DEFINITIONS

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> tuple[Found, ...]:
        return findings(counted)

    def statistics(self, findings: tuple[Found, ...]) -> Iterator[Mapping[str, Any]]:
        for results in findings:
            yield from rows(results)

    def sections(self, study: ReportedStudy, findings: tuple[Found, ...]) -> Iterator[Html]:
        yield from sections.of_study(study.name, findings, study.anchor)

    def plates(self, counted: Tables, findings: tuple[Found, ...]) -> Iterator[ReportFigure]:
        """Those of each group; their names tell groups apart where there are several."""
        for number, results in enumerate(findings, start=1):
            apart = f"-{number}-{results.group.study}" if len(findings) > 1 else ""
            for plate in results.drawn:
                yield replace(plate, name=plate.name.replace(TASK, f"{TASK}{apart}", 1))


REPORT = UnmaskingReport()
