"""The report's summary of a study in half a screen: who was analysed, each hypothesis with its
result, the primary outcomes with their estimates, secondary outcomes and manipulation checks with
their tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from labapp.analysis.design.analyses import VALUES, Analysis, StudyAnalyses, back
from labapp.analysis.design.anova import CONTRAST
from labapp.analysis.design.reviewing import Review, answered_in_short, not_passed
from labapp.analysis.design.sections import (
    deciding_tests,
    describe_test,
    is_term,
    short_share,
    term_tests,
    term_words,
    verdict,
)
from labapp.analysis.design.sources import (
    MANIPULATION,
    SECONDARY,
    UNDECLARED,
    in_words,
    unit_of_difference,
)
from labapp.analysis.statistic import Statistic
from labapp.analysis.task_report import HypothesisResult
from labapp.analysis.wording import list_rules, rules_in
from labapp.base.report.labels import labelled
from labapp.base.report.listing import number_words, sentence, with_decimals
from labapp.base.report.page import (
    Html,
    Verbatim,
    count,
    heading,
    lines,
    links,
    paragraph,
    say,
    table,
    two_lines,
)
from labapp.study.design import Hypothesis

UNCORRECTED = "No p value is corrected for the number of outcomes."
OVER_ALL = (
    "The p values of contrasts are corrected over all outcomes together; those of terms are not "
    "corrected."
)
_MEANS = {"": "Means", "log": "Geometric means"}
SHOWN_CONTRASTS, SHOWN_OUTCOMES = 3, 3
"""So many contrasts of an outcome, and outcomes if the study declares none as primary."""


def summary(
    participants: pd.DataFrame,
    results: StudyAnalyses | None,
    targets: dict[str, str],
    tested: Sequence[HypothesisResult] = (),
    reviewed: Review | None = None,
) -> Iterator[Html]:
    """The section of one study.

    participants: its sessions; targets: by anchor the name of a section that follows; tested: the
    hypotheses that tasks tested. Where there are some, outcomes that nothing declares are left to
    their own section. reviewed: what a reviewer asks for.
    """
    notes: list[object] = []
    rows: list[tuple[object, object]] = [("Analysed", lines(_list_analysed(participants)))]
    for each in tested:
        told = [(None if each.p is None else verdict(each.p), each.words)]
        rows.append(_hypothesis_in_short(each.hypothesis, told))
    if results is not None:
        results = results.shown
        rows += _hypotheses_in_short(results)
        shown = _select_shown(results)
        for analysis in shown:
            if not tested or analysis.outcome.role != UNDECLARED:
                rows += with_decimals(analysis.decimals, map(_outcome, [analysis]))
        others = [
            each for each in results.analyses if each.outcome.role in (SECONDARY, MANIPULATION)
        ]
        for analysis in others:
            rows += with_decimals(analysis.decimals, map(_tests_in_short, [analysis]))
        if sum(each.outcome.role == SECONDARY for each in others) > 1:
            together = results.declaration.analysis.family == "all"
            notes.append(OVER_ALL if together else UNCORRECTED)
        if reviewed is not None:
            rows += answered_in_short(reviewed)
            notes += not_passed(results, reviewed)
        # Two tasks may have an outcome of one name, and only one of them values.
        analysed = {each.outcome.name for each in results.analyses}
        left = [
            each.label
            for each in results.left_out
            if each.role != UNDECLARED and each.name not in analysed
        ]
        if left:
            rows.append(("Not analysed", Verbatim(", ".join(dict.fromkeys(left)))))
    rows.append(("More", links(targets.items(), ", ")))
    yield heading(3, "Summary")
    yield table(("What", "Result"), rows)
    yield from (paragraph(note, "note") for note in notes)


def _list_analysed(participants: pd.DataFrame) -> Iterator[object]:
    included = int(participants["included"].sum())
    yield f"{included} of {count(len(participants), 'session')}"
    others = participants[~participants["included"]]
    names = rules_in(participants)
    for failed, n in others["excluded_because"].fillna("").value_counts().items():
        why = list_rules(failed, names)
        yield two_lines(f"left out: {n}", why) if why else f"left out: {n}"


def _hypotheses_in_short(results: StudyAnalyses) -> Iterator[tuple[object, object]]:
    for hypothesis in results.declaration.hypotheses:
        own = [each for each in results.analyses if each.outcome.name == hypothesis.outcome]
        told = [describe_test(analysis, hypothesis) for analysis in own]
        yield _hypothesis_in_short(hypothesis, told)


def _hypothesis_in_short(
    hypothesis: Hypothesis, told: Iterable[tuple[str | None, str]]
) -> tuple[object, object]:
    """A row of the summary. told: the verdict, None without one, and the test in words."""
    results = [two_lines(verdict or "not tested", test) for verdict, test in told]
    name = two_lines(Verbatim(hypothesis.text), f"Hypothesis, {hypothesis.role}")
    return name, lines(results or ["not tested"])


def _select_shown(results: StudyAnalyses) -> list[Analysis]:
    primary = [each for each in results.analyses if each.outcome.role == "primary"]
    declared = any(each.outcome.role != UNDECLARED for each in results.analyses)
    return primary if declared else results.analyses[:SHOWN_OUTCOMES]


def _outcome(analysis: Analysis) -> tuple[object, object]:
    """An outcome with its tests, and its mean in each cell."""
    name, told = _tests_in_short(analysis)
    own = {
        ", ".join(map(labelled, cell.levels.values())): back(row.mean, analysis.transform)
        for cell, row in zip(analysis.cells, analysis.select(VALUES), strict=True)
        if row.mean is not None
    }
    means = "; ".join(f"{cell}: {say(number_words(mean))}" for cell, mean in own.items())
    called = say(_MEANS.get(analysis.transform, "Back-transformed means"))
    if unit := in_words(analysis.outcome.unit)["unit"]:
        called = f"{called}, {say(str(unit))}"
    return name, lines([told, two_lines(Verbatim(called), Verbatim(means))] if means else [told])


def _tests_in_short(analysis: Analysis) -> tuple[object, object]:
    """An outcome with the tests of its terms, and the contrasts that are none of these."""
    terms = list(term_tests(analysis))
    told: list[object] = [
        Verbatim(
            f"{term_words(test)}, {say(f'partial η² = {short_share(whole.effect)}')}"
            if whole.effect is not None
            else term_words(test)
        )
        for test, whole in zip(deciding_tests(analysis), terms, strict=True)
    ]
    apart = [
        row for row in analysis.select(CONTRAST) if not any(is_term(row, term) for term in terms)
    ]
    told += _contrasts_in_short(analysis, apart)
    role = analysis.outcome.role
    group = role if role != UNDECLARED else analysis.outcome.group
    return two_lines(analysis.outcome.label, group), lines(told)


def _contrasts_in_short(analysis: Analysis, rows: Iterable[Statistic]) -> list[object]:
    estimated = [row for row in rows if row.difference is not None]
    told: list[object] = []
    for row in estimated[:SHOWN_CONTRASTS]:
        unit = f" ({analysis.unit})" if analysis.transform else ""
        test = sentence("design.contrast", row=row, unit="" if unit else unit_of_difference(row))
        told.append(two_lines(Verbatim(f"{labelled(row.contrast)}{unit}"), test))
    if (more := len(estimated) - SHOWN_CONTRASTS) > 0:
        told.append(f"{count(more, 'more contrast')} below")
    return told
