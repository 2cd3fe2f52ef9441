"""What reviewers ask for beside the tests: the same results without exclusions, correlations among
the outcomes, and manipulation checks that are answered in words.

All of it is of the outcomes that the study declares, and rows of the table of statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import atanh, sqrt, tanh

import numpy as np
import pandas as pd
import scipy

from labapp.analysis.declared import Declaration, factor_column, read_declaration
from labapp.analysis.design.analyses import Analysis, StudyAnalyses, analyse, in_percent
from labapp.analysis.design.anova import ALPHA, CONTRAST, EQUIVALENCE
from labapp.analysis.design.layout import PARTICIPANT, VALUE
from labapp.analysis.design.sections import deciding_tests, test_words
from labapp.analysis.design.sources import MANIPULATION, UNDECLARED, Outcome, answers_of
from labapp.analysis.inference import pearson, quantile
from labapp.analysis.questionnaires import FAILED
from labapp.analysis.statistic import Statistic
from labapp.analysis.tables import Tables
from labapp.analysis.wording import name_item
from labapp.base.report.labels import labelled
from labapp.base.report.listing import NONE, decimals_of, number_words, p_cell, sentence
from labapp.base.report.page import (
    Html,
    Verbatim,
    decimal,
    details,
    heading,
    join_parts,
    lines,
    paragraph,
    supplement,
    table,
    two_lines,
)

WITHOUT, CORRELATION, ANSWERS = "without exclusions", "correlation", "answers by condition"
PASSED_ONLY = "passed the manipulation check"
CHI_SQUARE, FISHER, CRAMER = "chi-square", "Fisher's exact test", "Cramér's V"
WITHIN = (
    "a check answered in words can only be tested between participants; here it needs numbers as "
    "answers"
)


@dataclass(frozen=True)
class Answered:
    """A manipulation check that is answered in words, by one factor between participants.

    Attributes
    ----------
    item, factor : their names.
    counts : participants by level (rows) and answer (columns).
    rows : the tests.
    """

    item: str
    factor: str
    counts: pd.DataFrame
    rows: tuple[Statistic, ...]


@dataclass(frozen=True)
class Review:
    """All of it for one study.

    Attributes
    ----------
    without : tests of all sessions, in the order of those of the sessions that count; empty if
        nobody with values is excluded.
    n_all : participants of all sessions.
    passed : tests of the participants who gave the right answer to every manipulation check that
        has one; empty if all did, or no check has one.
    n_passed : these participants.
    """

    without: tuple[Statistic, ...] = ()
    n_all: int = 0
    passed: tuple[Statistic, ...] = ()
    n_passed: int = 0
    correlations: tuple[Statistic, ...] = ()
    answered: tuple[Answered, ...] = ()

    @property
    def rows(self) -> Iterator[Statistic]:
        """Every row."""
        yield from self.without
        yield from self.passed
        yield from self.correlations
        for check in self.answered:
            yield from check.rows


def review(results: StudyAnalyses, counted: Tables) -> Review:
    """counted: the rows of the sessions that count, which know those of all sessions."""
    declared = declared_outcomes(results)
    every = counted.everybody
    everybody: list[Analysis] = []
    if declared and every is not None and not every.participants["included"].all():
        made = analyse(every, read_declaration(every, results.study), by_trials=False)
        everybody = declared_outcomes(made)
    n_all = _count_people(everybody)
    if n_all <= _count_people(declared):
        everybody = []  # nobody who is excluded has a value
    passed = _passed(results, counted) if declared else []
    return Review(
        tuple(_tests_again(everybody, WITHOUT)),
        n_all,
        tuple(_tests_again(passed, PASSED_ONLY)),
        _count_people(passed),
        tuple(correlations(results.study, declared)),
        tuple(answers_by_condition(results.declaration, counted)),
    )


def declared_outcomes(results: StudyAnalyses) -> list[Analysis]:
    """The analyses of outcomes that the study declares."""
    return [each for each in results.analyses if each.outcome.role != UNDECLARED]


def _count_people(analyses: Iterable[Analysis]) -> int:
    people: set[str] = set()
    for analysis in analyses:
        people.update(map(str, analysis.frame[PARTICIPANT]))
    return len(people)


def _passed(results: StudyAnalyses, counted: Tables) -> list[Analysis]:
    """The analyses without people who gave a wrong answer to a manipulation check."""
    names = results.declaration.analysis.outcomes.manipulation_checks
    answers = [answers_of(counted, name) for name in names]
    failed = {who for rows in answers for who in rows.loc[rows["check"] == FAILED, PARTICIPANT]}
    people = counted.participants
    if not failed or failed >= set(people[PARTICIPANT]):
        return []
    kept = people.assign(included=~people[PARTICIPANT].isin(failed))
    tables = Tables.of(counted.small() | {"participants": kept}, people.iloc[:0]).included()
    made = analyse(tables, read_declaration(tables, results.study), by_trials=False)
    return declared_outcomes(made)


def _tests_again(analyses: Iterable[Analysis], kind: str) -> Iterator[Statistic]:
    """The tests of terms, contrasts and equivalence, as rows of their own kind."""
    for analysis in analyses:
        contrasts = (*analysis.select(CONTRAST), *analysis.select(EQUIVALENCE))
        for row in (*deciding_tests(analysis), *contrasts):
            if row.p is not None:
                yield replace(row, kind=kind, model_name=row.kind, analysis=None)


def correlations(study: str, analyses: Sequence[Analysis]) -> Iterator[Statistic]:
    """Pearson's r of every two outcomes over the participants' means, with Fisher's interval. The
    means are over all that a participant met; differences between groups are in them."""
    means = [(each.outcome, each.frame.groupby(PARTICIPANT)[VALUE].mean()) for each in analyses]
    for (first, of_first), (other, of_other) in combinations(means, 2):
        both = pd.concat([of_first, of_other], axis=1, join="inner").dropna()
        test = pearson(*(both.iloc[:, at].to_numpy(np.float64) for at in (0, 1)))
        n = len(both)
        low = high = None
        if test.statistic is not None and n > 3 and abs(test.statistic) < 1:
            half = quantile(None) / sqrt(n - 3)
            low, high = (tanh(atanh(test.statistic) + sign * half) for sign in (-1, 1))
        yield replace(
            test, study=study, kind=CORRELATION, quantity=_reference(first),
            compared_with=_reference(other), n=n, low=low, high=high, ours=True,
        )  # fmt: skip


def _reference(outcome: Outcome) -> str:
    """The name of an outcome in a row of two, with its task if several have it."""
    return f"{outcome.group}.{outcome.name}" if outcome.shared else outcome.name


def answers_by_condition(declaration: Declaration, counted: Tables) -> Iterator[Answered]:
    """The manipulation checks that are answered in words, by each factor between participants."""
    design = declaration.design
    if design is None:
        return
    for name in declaration.analysis.outcomes.manipulation_checks:
        answers = answers_of(counted, name)
        if answers.empty:
            continue
        for factor in design.between:
            column = factor_column(factor)
            rows = answers.dropna(subset=[column])
            first = rows.drop_duplicates(PARTICIPANT)
            about = Statistic(
                study=declaration.study, kind=ANSWERS, quantity=name, role=MANIPULATION,
                factors=factor, n=len(first), ours=True,
            )  # fmt: skip
            if len(first) < len(rows):
                yield Answered(
                    name, factor, pd.DataFrame(), (replace(about, test=CHI_SQUARE, why=WITHIN),)
                )
                continue
            counts = pd.crosstab(first[column].astype(str), first["value_text"].astype(str))
            yield Answered(name, factor, counts, tuple(_association(counts, about)))


def _association(counts: pd.DataFrame, about: Statistic) -> Iterator[Statistic]:
    """Pearson's chi-square with Cramér's V, and of two by two Fisher's test, which is exact."""
    seen = counts.to_numpy(np.int64)
    about = replace(about, n=int(seen.sum()))
    if min(seen.shape, default=0) < 2:
        why = "everybody gave the same answer, or there was only one level"
        yield replace(about, test=CHI_SQUARE, why=why)
        return
    statistic, p, df, expected = scipy.stats.chi2_contingency(seen, correction=False)
    effect = sqrt(float(statistic) / (seen.sum() * (min(seen.shape) - 1)))
    cells = np.asarray(expected, np.float64)
    few = int((cells < 5).sum())
    have = "has" if few == 1 else "have"
    why = f"{few} of {cells.size} cells {have} an expected count below 5" if few else ""
    yield replace(
        about, test=CHI_SQUARE, statistic=float(statistic), df=float(df), p=float(p),
        effect_name=CRAMER, effect=effect, why=why,
    )  # fmt: skip
    if seen.shape == (2, 2):
        odds, exact = scipy.stats.fisher_exact(seen)
        known = bool(np.isfinite(odds))
        yield replace(
            about, test=FISHER, p=float(exact), effect_name="odds ratio" if known else "",
            effect=float(odds) if known else None,
        )  # fmt: skip


def review_sections(
    results: StudyAnalyses, reviewed: Review, figures: Iterable[Html] = ()
) -> Iterator[Html]:
    """The tables of one study. figures: those of the residuals."""
    for check in reviewed.answered:
        yield from _answered(check)
    if reviewed.passed:
        caption = sentence("review.passed", n=reviewed.n_passed)
        yield _compared(results, reviewed.passed, "Passed the check", caption)
    if reviewed.without:
        caption = sentence("review.without", n=reviewed.n_all)
        yield _compared(results, reviewed.without, "All sessions", caption)
    if reviewed.correlations:
        shown = _correlations(reviewed.correlations, results)
        yield from supplement([heading(4, "Correlations among outcomes"), shown])
    if plots := join_parts(figures):
        yield details("Residuals of the declared outcomes", plots)


def _answered(check: Answered) -> Iterator[Html]:
    item, options = name_item(check.item)
    of = f"{item}, {labelled(check.factor)}"
    told = lines(
        _association_words(row) if row.p is not None else row.why for row in check.rows
    )  # fmt: skip
    if check.counts.empty:
        yield paragraph(told)
        return
    given = list(map(str, check.counts.columns))
    answers = sorted(given, key=[*options, *given].index)
    rows = [
        (Verbatim(level), *(str(n) for n in counts))
        for level, counts in zip(check.counts.index, check.counts[answers].to_numpy(), strict=True)
    ]
    words = (Verbatim(options.get(answer, labelled(answer))) for answer in answers)
    heads = (Verbatim(check.factor), *words)
    caption = sentence("review.answers", of=Verbatim(of))
    yield table(heads, rows, numeric=range(1, len(heads)), caption=caption)
    yield paragraph(told)
    if not _differ(check.rows):
        yield paragraph(_say_not_passed(check.factor))


def _differ(tests: Iterable[Statistic]) -> bool:
    """Whether the last test is significant, which is the exact one if there is one; or there is
    none."""
    known = [row.p for row in tests if row.p is not None]
    return not known or known[-1] < ALPHA


def _say_not_passed(factor: str) -> Verbatim:
    return sentence("review.not_passed", factor=Verbatim(labelled(factor)))


def not_passed(results: StudyAnalyses, reviewed: Review) -> list[Verbatim]:
    """A sentence for each factor by which a manipulation check did not differ."""
    factors = [check.factor for check in reviewed.answered if not _differ(check.rows)]
    for analysis in results.analyses:
        if analysis.outcome.role == MANIPULATION:
            factors += [
                test.factors
                for test in deciding_tests(analysis)
                if " × " not in test.factors and not _differ([test])
            ]
    return list(dict.fromkeys(map(_say_not_passed, factors)))


def answered_in_short(reviewed: Review) -> Iterator[tuple[object, object]]:
    """A row of the summary for each check that is answered in words: counts and the last test,
    which is the exact one if there is one."""
    for check in reviewed.answered:
        item, options = name_item(check.item)
        counts = [
            f"{labelled(str(level))}: "
            f"{', '.join(f'{options.get(str(answer), answer)} {n}' for answer, n in own.items())}"
            for level, own in check.counts.iterrows()
        ]
        told = [_association_words(row) for row in check.rows if row.p is not None][-1:]
        name = two_lines(Verbatim(item), MANIPULATION)
        yield name, lines([Verbatim("; ".join(counts)), *told] if counts else told)


def _association_words(row: Statistic) -> Verbatim:
    return sentence("review.association", row=row, exact=row.test == FISHER)


def _compared(
    results: StudyAnalyses, reviewed: Sequence[Statistic], head: str, caption: str
) -> Html:
    """Each test beside the same one of other people."""
    rows: list[tuple[object, ...]] = []
    known = {
        (analysis.outcome.name, analysis.outcome.group): analysis.shown
        for analysis in declared_outcomes(results)
    }
    for row in map(in_percent, reviewed):
        same = {name: getattr(row, name) for name in _SAME}
        own = known.get((row.quantity, row.group))
        mine = [] if own is None else own.select(row.model_name, **same)
        label = Verbatim(row.quantity) if own is None else own.outcome.label
        with decimals_of(2 if own is None else own.decimals):
            rows.append(
                (
                    two_lines(label, _of(row)),
                    lines(_told(each) for each in mine) if mine else NONE,
                    _told(row),
                )
            )
    return table(("Test", "Analysed", head), rows, caption=caption)


def _of(row: Statistic) -> Verbatim:
    """The contrast or term of a row, and whether the test is of equivalence."""
    name = Verbatim(labelled(row.contrast or row.factors))
    return name if row.bound is None else sentence("review.equivalence", name=name, bound=row.bound)


_SAME = ("quantity", "group", "factors", "contrast", "direction", "test")


def _told(row: Statistic) -> object:
    test = test_words(row)
    return test if row.difference is None else two_lines(number_words(row.difference), test)


def _correlations(reviewed: Sequence[Statistic], results: StudyAnalyses) -> Html:
    rows = []
    declared = [each.outcome for each in declared_outcomes(results)]
    labels = {_reference(outcome): outcome.label for outcome in declared}
    for row in reviewed:
        known = row.statistic is not None
        interval = NONE if row.low is None else f"{_r(row.low)} to {_r(row.high)}"
        rows.append(
            (
                labels[row.quantity], labels[row.compared_with], str(row.n),
                _r(row.statistic) if known else row.why, interval, p_cell(row.p),
            )
        )  # fmt: skip
    heads = ("Outcome", "Other outcome", "n", "r", "95 % interval", "p")
    caption = (
        "Correlations of the participants' means (Pearson). p is not corrected; the correlations "
        "include differences between groups."
    )
    return table(heads, rows, numeric=range(2, 6), caption=caption)


def _r(value: float | None) -> str:
    return NONE if value is None else decimal(value, 2)
