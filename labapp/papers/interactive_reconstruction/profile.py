"""The interactive reconstruction paper (paper 000) as a profile: what compares models of its tasks,
and what it prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from labapp.analysis.tables import Tables
from labapp.analysis.task_report import ComparedModels, Profile, ReportedStudy
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.page import Html, count
from labapp.papers.interactive_reconstruction import results, sections
from labapp.papers.interactive_reconstruction.results import (
    TASKS,
    GroupResults,
    Printed,
    comparisons,
    correct_tests,
    groups_of,
    in_order,
    metrics_of,
    published_name,
)
from labapp.papers.interactive_reconstruction.sections import Drawings
from labapp.tasks.reconstruction.report.labels.sheet import PAPER

DEFINITIONS = {
    "Difficulty (after the quiz)": "6 minus the answer to “Stage k was easy”, as in Table A.3 of "
    "Ross et al. 2021.",
    "First and last questions": (
        "Of the n questions that count, the last (n − 1) / 2 (rounded down) minus the first "
        "ones; error AUC is per question. For single-dimension questions, only submitted ones "
        "are used. Their sliders come in random order, so a change over time may also be a "
        "difference between sliders."
    ),
    "Models compared": (
        "As in Ross et al. 2021, if participants saw several models: repeated-measures ANOVA "
        "with the participants who have a value for every model, and paired t tests with those "
        "who have both models. If each participant saw only one model: one-way ANOVA and t tests "
        "with pooled variance (if somebody came back and saw another model, only the first "
        "counts). Models never shown to the same participant are compared separately. All p are "
        "two-sided. The corrected p is p times the number of all these tests in the analysis "
        "(Bonferroni); the error as a sum and as a mean over the pixels counts once. Ours: "
        "partial and generalised eta squared, d_z (mean difference / SD of the differences) and "
        "Hedges' g (with the exact correction for small samples), with intervals from "
        "noncentral F (90 %) and t (95 %); tests by ranks (Friedman, Kruskal-Wallis, Wilcoxon, "
        "Mann-Whitney); "
        "the Shapiro-Wilk test of residuals and differences, the Brown-Forsythe test of variances, "
        "and Mauchly's test of sphericity (chi-square approximation) with the "
        "Greenhouse-Geisser correction; and, if a participant lacks a model, a linear mixed "
        "model with a random intercept for each participant (restricted maximum likelihood, "
        "Wald test of the models). All of it is in the table statistics."
    ),
}
DONE = ("completion_rate", "correctness_rate", "response_time_s", "slide_distance", "error_auc_sum")
"""Metrics of what participants do: what a program answers to a questionnaire says nothing of what
people would, and error AUC as a mean repeats the sum."""
_DESIGNS = {
    True: "repeated-measures ANOVA and paired t tests where participants saw several models",
    False: "one-way ANOVA and independent t tests with pooled variance where each saw only one",
}
"""Tests within participants, and between them."""


@dataclass(frozen=True)
class GroupFindings:
    """What the models of each group say, and the figures of it."""

    groups: tuple[GroupResults, ...]

    def of_study(self, study: str) -> list[GroupResults]:
        return [results for results in self.groups if results.group.study == study]

    @cached_property
    def drawn(self) -> Mapping[tuple[str, str], Mapping[str, ReportFigure]]:
        """The figures by study and task, and by what they are of; drawn once for the page and the
        files. matplotlib is loaded here."""
        from labapp.papers.interactive_reconstruction.figures import by_kind

        groups: dict[tuple[str, str], list[GroupResults]] = {}
        for entry in self.groups:
            groups.setdefault((entry.group.study, entry.group.task), []).append(entry)
        return {key: by_kind(own) for key, own in groups.items()}


def findings(counted: Tables) -> tuple[GroupResults, ...]:
    """What each group among these sessions, which all count, says; p is corrected over the tests of
    all groups. counted: `Tables.included()`."""
    compared = [(group, comparisons(group)) for group in groups_of(counted)]
    n_tests = sum(len(result.tests) for _, some in compared for result in some)
    return tuple(
        GroupResults(group, tuple(correct_tests(result, n_tests) for result in some), n_tests)
        for group, some in compared
    )


class InteractiveReconstruction(Profile[GroupFindings]):
    tasks = TASKS
    definitions = DEFINITIONS
    draws_workload = TASKS

    def findings(self, counted: Tables, ratings: Sequence[Path]) -> GroupFindings:
        return GroupFindings(findings(counted))

    def compared(self, counted: Tables) -> Sequence[ComparedModels]:
        groups = []
        for group in groups_of(counted):
            if not group.follows:
                continue
            metrics = {metric.column: metric for metric in metrics_of(group.task)}
            done = [name for name in DONE if name in metrics and name in group.values]
            groups.append(
                ComparedModels(
                    group.name,
                    group.models,
                    group.within,
                    group.values,
                    {name: metrics[name].title for name in done},
                    sum(len(comparison.tests) for comparison in comparisons(group)),
                )
            )
        return groups

    def in_order(self, models: Sequence[str]) -> Sequence[str]:
        return in_order(models)

    def statistics(self, findings: GroupFindings) -> Iterator[Mapping[str, Any]]:
        for entry in findings.groups:
            yield from (row.row() for row in entry.rows)

    def sections(self, study: ReportedStudy, findings: GroupFindings) -> Iterator[Html]:
        def make_drawings(task: str) -> Drawings:
            return Drawings(findings.drawn.get((study.name, task), {}), study.anchor)

        yield from sections.of_study(study.counted, findings.of_study(study.name), make_drawings)

    def plates(self, counted: Tables, findings: GroupFindings) -> Iterator[ReportFigure]:
        for drawn in findings.drawn.values():
            yield from drawn.values()

    def methods(self, study: ReportedStudy, findings: GroupFindings) -> Iterator[str]:
        """How models were compared, if a test was made."""
        own = findings.of_study(study.name)
        tested = [each for each in own if any(metric.tests for metric in each.compared)]
        if not tested:
            return
        designs = {results.group.within for results in tested}
        tests = " and ".join(_DESIGNS[within] for within in (True, False) if within in designs)
        yield (
            f"Models were compared by {tests}; p is two-sided, and Bonferroni's correction is over "
            f"the {count(tested[0].n_tests, 'test')} of the whole analysis (threshold "
            f"{tested[0].threshold:.2g})."
        )

    def defined(self, counted: Tables, findings: GroupFindings) -> Mapping[str, str]:
        """Its tests if a study follows the paper; what no other study has."""
        there = {
            "First and last questions": bool((counted.stages["change_questions"] > 0).any()),
            "Difficulty (after the quiz)": any(
                results.group.values["post_quiz_difficulty"].notna().any()
                for results in findings.groups
                if "post_quiz_difficulty" in results.group.values
            ),
            "Models compared": any(
                metric.tests for results in findings.groups for metric in results.compared
            ),
        }
        return {name: text for name, text in DEFINITIONS.items() if there.get(name, True)}

    def printed(self, paper: str, study: str) -> Sequence[Printed]:
        return results.recruitment(study) if paper == PAPER else ()

    def published_name(self, model: str) -> str:
        return published_name(model)


PROFILE = InteractiveReconstruction()
