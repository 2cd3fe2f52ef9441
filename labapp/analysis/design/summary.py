"""What a study came to, in half a screen: who was analysed, each hypothesis with its result, and
the primary outcomes with their estimates."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from labapp.analysis.design.analyses import VALUES, Analysis, StudyAnalyses, back
from labapp.analysis.design.contrasts import CONTRAST
from labapp.analysis.design.sections import term_tests, term_words, tested_words
from labapp.analysis.design.sources import UNDECLARED
from labapp.base.report.page import (
    Html,
    Verbatim,
    count,
    heading,
    lines,
    links,
    say,
    table,
    text,
    two_lines,
)
from labapp.base.report.sentences import number_words, sentence

_MEANS = {"": "Means", "log": "Geometric means"}
SHOWN_CONTRASTS, SHOWN_OUTCOMES = 3, 3
"""So many contrasts of an outcome, and outcomes where the study declares none as primary."""


def summary(
    participants: pd.DataFrame, results: StudyAnalyses | None, targets: dict[str, str]
) -> Iterator[Html]:
    """The section of one study.

    participants: its sessions; targets: by anchor the name of a section that follows.
    """
    rows: list[tuple[object, object]] = [("Analysed", lines(_analysed(participants)))]
    if results is not None:
        rows += _hypotheses(results)
        rows += [_outcome(analysis) for analysis in _shown(results)]
        left = [each.name for each in results.left_out if each.role != UNDECLARED]
        if left:
            rows.append(("Not analysed", Verbatim(", ".join(dict.fromkeys(left)))))
    rows.append(("More", links(targets.items(), ", ")))
    yield heading(3, "Summary")
    yield table(("What", "Result"), rows)


def _analysed(participants: pd.DataFrame) -> Iterator[object]:
    included = int(participants["included"].sum())
    yield f"{included} of {count(len(participants), 'session')}"
    others = participants[~participants["included"]]
    for why, n in others["excluded_because"].fillna("").value_counts().items():
        yield two_lines(f"left out: {n}", Verbatim(why)) if why else f"left out: {n}"


def _hypotheses(results: StudyAnalyses) -> Iterator[tuple[object, object]]:
    for hypothesis in results.declaration.hypotheses:
        own = [each for each in results.analyses if each.outcome.name == hypothesis.outcome]
        told = [tested_words(analysis, hypothesis) for analysis in own]
        results_told = [
            two_lines("not tested", test) if verdict is None else two_lines(verdict, test)
            for verdict, test in told
        ]
        name = two_lines(Verbatim(hypothesis.text), f"Hypothesis, {hypothesis.role}")
        yield name, lines(results_told or ["not tested"])


def _shown(results: StudyAnalyses) -> list[Analysis]:
    primary = [each for each in results.analyses if each.outcome.role == "primary"]
    declared = any(each.outcome.role != UNDECLARED for each in results.analyses)
    return primary if declared else results.analyses[:SHOWN_OUTCOMES]


def _outcome(analysis: Analysis) -> tuple[object, object]:
    """An outcome with its contrasts, or where it has none the tests of its terms."""
    estimated = [row for row in analysis.select(CONTRAST) if row.difference is not None]
    told: list[object] = []
    for row in estimated[:SHOWN_CONTRASTS]:
        unit = f" ({analysis.unit})" if analysis.transform else ""
        told.append(
            two_lines(Verbatim(f"{row.contrast}{unit}"), sentence("design.contrast", row=row))
        )
    if (more := len(estimated) - SHOWN_CONTRASTS) > 0:
        told.append(f"{count(more, 'more contrast')} below")
    if not told:
        told = list(map(term_words, term_tests(analysis)))
    role = analysis.outcome.role
    name = two_lines(analysis.outcome.name, role if role != UNDECLARED else analysis.outcome.group)
    own = {
        ", ".join(cell.levels.values()): back(row.mean, analysis.transform)
        for cell, row in zip(analysis.cells, analysis.select(VALUES), strict=True)
        if row.mean is not None
    }
    means = "; ".join(f"{cell}: {say(number_words(mean))}" for cell, mean in own.items())
    called = _MEANS.get(analysis.transform, "Back-transformed means")
    return name, lines([*told, two_lines(text(called), Verbatim(means))] if means else told)
