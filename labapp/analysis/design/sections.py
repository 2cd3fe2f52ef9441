"""The report's section on the default analyses of a study: what was done, why, and the numbers.

The default analyses as tables for a paper: LaTeX with booktabs, and a word processor.

Words and numbers are in the report's language; the study's own words stay as they are.
Numbers are written as APA's seventh edition has it: no zero before the point of what cannot exceed
1, p to three decimals and not below .001, rules above and below the heads and below the body.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isclose
from pathlib import Path

from labapp.analysis.declared import CORRECTIONS
from labapp.analysis.design.analyses import (
    BACK,
    BY_RANKS,
    CHECK,
    MIXED,
    SENSITIVITY,
    TEST,
    TRIALS_LOGISTIC,
    VALUES,
    Analysis,
    Model,
    StudyAnalyses,
    back,
)
from labapp.analysis.design.anova import ALPHA, CONTRAST, EFFECT, EQUIVALENCE, MEAN
from labapp.analysis.design.further import ALIGNED, BAYES, FURTHER, PERMUTED, YUEN
from labapp.analysis.design.layout import Layout, level_words, plain_name
from labapp.analysis.design.sources import POSITION, UNDECLARED, in_words, unit_of_difference
from labapp.analysis.inference import EQUIVALENT, GENERALISED, HEDGES, TOST, TWO_SIDED
from labapp.analysis.statistic import Statistic, select
from labapp.analysis.wording import name_factor, name_item
from labapp.base.report.labels import Labels, current_labels, labelled
from labapp.base.report.listing import (
    NONE,
    decimals_of,
    df_words,
    number_words,
    p_cell,
    sentence,
    with_decimals,
)
from labapp.base.report.page import (
    Html,
    Verbatim,
    decimal,
    details,
    heading,
    join_parts,
    paragraph,
    say,
    strong,
    table,
    text,
    two_lines,
)
from labapp.study.design import Hypothesis

BACK_MEAN = "Back-transformed mean"
WEIGHTED = (
    "They give the same weight to every level of the other factors, regardless of how many "
    "participants it has, and can therefore differ from the means of all participants."
)
ONE_SIDED = (
    "Tests marked greater or less are one-sided; all other tests and all intervals are two-sided."
)


def sections(
    results: StudyAnalyses, anchor: str = "", figures: Iterable[Html] = ()
) -> Iterator[Html]:
    """Everything on one study; nothing if nothing was asked that could be analysed. anchor: the
    heading's id; figures: what is drawn of its outcomes."""
    if not results.analyses and not any(left.role != UNDECLARED for left in results.left_out):
        return
    results = results.shown
    yield heading(3, "Analyses according to the design", anchor)
    if {analysis.outcome.role for analysis in results.analyses} == {UNDECLARED}:
        yield paragraph("Exploratory: the study declares none of these outcomes.", "note")
    yield paragraph(introduction(results))
    if results.declaration.remark:
        yield paragraph(results.declaration.remark, "note")
    if results.declaration.hypotheses:
        yield _hypotheses(results)
    yield from _results(results)
    yield from figures
    for analysis in results.analyses:
        if analysis.outcome.role == UNDECLARED:
            told = next(map(term_words, deciding_tests(analysis)), "")
            outcome = analysis.outcome
            name = outcome.label if outcome.shared else f"{outcome.label} ({outcome.of})"
            yield details(Verbatim(f"{name}, {told}"), join_parts(_body(analysis)))
        else:
            role = say(analysis.outcome.role)
            yield heading(4, Verbatim(f"{analysis.outcome.label}, {role}"))
            yield from _body(analysis)
    if results.left_out:
        rows = [(left.label, left.group or NONE, left.why) for left in results.left_out]
        yield table(("Outcome", "Of", "Why"), rows, caption="Not analysed")


def _results(results: StudyAnalyses) -> Iterator[Html]:
    """The declared outcomes as a paper can take them over, in the style of APA's seventh edition:
    a table of means for each task or questionnaire, then sentences on tests of terms, contrasts and
    equivalence."""
    declared = [each for each in results.analyses if each.outcome.role != UNDECLARED]
    if declared:
        yield heading(4, "Results in sentences")
        yield from _means_of_cells(declared)
    correction = CORRECTIONS[results.declaration.analysis.correction]
    for analysis in declared:
        with decimals_of(analysis.decimals):
            made = _in_sentences(analysis, correction)
        yield made


def _in_sentences(analysis: Analysis, correction: str) -> Html:
    """One outcome."""
    outcome, labels = analysis.outcome, current_labels() or Labels({})
    covariates = outcome.layout.covariates
    name = labels.of_measure(outcome.measure, outcome.group)
    if not name:
        name = outcome.name.removesuffix("_s").replace("_", " ")
    of = outcome.of if outcome.shared else ""
    name = Verbatim(f"{name} ({of})" if of else name)
    tests, told = analysis.select(TEST), []
    contrasts = [
        row
        for kind in (CONTRAST, EQUIVALENCE)
        for row in analysis.select(kind)
        if row.difference is not None and row.p is not None
    ]
    for test in deciding_tests(analysis):
        whole = next(row for row in tests if row.factors == test.factors and row.epsilon is None)
        same = next((row for row in contrasts if is_term(row, whole)), None)
        if same is not None:
            contrasts.remove(same)
        told.append(
            sentence(
                "results.term",
                name=name,
                terms=[
                    name_item(term)[0] if term in covariates else name_factor(term)
                    for term in test.factors.split(" × ")
                ],
                related=test.factors in covariates,
                clear=_below(test.p),
                extremes=_extremes(analysis, test),
                test=test_words(test),
                corrected=test.epsilon is not None,
                effect=[
                    say(short_share(value))
                    for value in (whole.effect, whole.effect_low, whole.effect_high)
                    if whole.effect is not None
                ],
                contrast=same and _contrast_sentence(same, correction, of_term=True),
            )
        )
    told += [_contrast_sentence(row, correction) for row in contrasts]
    lead = Verbatim(f"{name[:1].upper()}{name[1:]}.")
    return paragraph(join_parts([strong(lead), text(Verbatim(f" {' '.join(told)}"))]))


def _means_of_cells(analyses: Iterable[Analysis]) -> Iterator[Html]:
    """A table for each task or questionnaire: one row per cell, one column per outcome."""
    groups: dict[object, list[Analysis]] = {}
    for analysis in analyses:
        factors = tuple((factor.name, factor.levels) for factor in analysis.outcome.layout.factors)
        groups.setdefault((analysis.outcome.group, factors), []).append(analysis)
    for some in groups.values():
        names = [factor.name for factor in some[0].outcome.layout.factors]
        columns = [analysis.select(VALUES) for analysis in some]
        alike = all(len({row.n for row in own}) == 1 for own in zip(*columns, strict=True))
        rows = [
            (
                *(Verbatim(labelled(cell.levels[name])) for name in names),
                *([str(own[0].n)] if alike else []),
                *(
                    _mean_and_sd(row, each.decimals, with_n=not alike)
                    for each, row in zip(some, own, strict=True)
                ),
            )
            for cell, own in zip(some[0].cells, zip(*columns, strict=True), strict=True)
        ]
        heads = [
            *map(plain_name, names),
            *(["n"] if alike else []),
            *(two_lines(each.outcome.label, _in_short(each.unit)) for each in some),
        ]
        caption = f"Means and standard deviations: {some[0].outcome.of}"
        yield table(heads, rows, numeric=range(len(names), len(heads)), caption=caption)


def _in_short(unit: str) -> str:
    """What a column of means has, with their unit if they have one."""
    words = in_words(unit)
    known = words["unit"]
    if isinstance(scale := words["scale"], tuple):
        known = f"{scale[0]:g} to {scale[1]:g}"
    return f"M (SD), {known}" if known else "M (SD)"


def _mean_and_sd(row: Statistic, decimals: int, *, with_n: bool) -> object:
    if row.mean is None:
        return NONE
    with decimals_of(decimals):
        sd = "" if row.sd is None else f" ({number_words(row.sd)})"
        told = f"{number_words(row.mean)}{sd}"
    return two_lines(told, f"n = {row.n}") if with_n else told


def is_term(row: Statistic, term: Statistic) -> bool:
    """Whether a contrast is the test of a term: of two levels, F is the square of t."""
    return (
        (row.kind, row.direction, row.factors, term.df) == (CONTRAST, TWO_SIDED, term.factors, 1)
        and isclose(term.statistic or 0.0, (row.statistic or 0.0) ** 2, rel_tol=1e-6, abs_tol=1e-9)
    )  # fmt: skip


def _extremes(analysis: Analysis, test: Statistic) -> list[str]:
    """Of a main effect the levels with the highest and the lowest estimated mean."""
    known = [
        (row.mean, Verbatim(labelled(level)))
        for factor in analysis.outcome.layout.factors
        if plain_name(factor.name) == test.factors
        for level in factor.levels
        for row in analysis.select(MEAN, levels=level_words({factor.name: level}))
        if row.mean is not None
    ]
    known.sort(key=lambda mean: mean[0], reverse=True)
    return [known[0][1], known[-1][1]] if len(known) > 1 else []


def _contrast_sentence(row: Statistic, correction: str, *, of_term: bool = False) -> Verbatim:
    """of_term: as a part of the sentence on a term whose test it is."""
    row = replace(row, contrast=labelled(row.contrast))
    return sentence(
        "results.contrast", row=row, of_term=of_term, letter=_letter(row), correction=correction,
        symbol="g" if row.effect_name == HEDGES else "d_z", equivalent=row.kind == EQUIVALENCE,
        unit=unit_of_difference(row),
        clear=_below(row.p if row.p_corrected is None else row.p_corrected),
    )  # fmt: skip


def _hypotheses(results: StudyAnalyses) -> Html:
    rows: list[tuple[object, ...]] = []
    for hypothesis in results.declaration.hypotheses:
        own = [a for a in results.analyses if a.outcome.name == hypothesis.outcome]
        role = say(hypothesis.role)

        def name(of: str, text: str = hypothesis.text, role: str = role) -> Html:
            return two_lines(Verbatim(text), Verbatim(f"{role}, {of}"))

        if not own:
            left = next((x for x in results.left_out if x.name == hypothesis.outcome), None)
            label = labelled(hypothesis.outcome) if left is None else left.label
            why = "the outcome is not among those analysed" if left is None else left.why
            rows.append((name(label), "not tested", why))
        for analysis in own:
            verdict, test = describe_test(analysis, hypothesis)
            rows.append((name(analysis.outcome.label), verdict or "not tested", test))
    caption = (
        "Hypotheses. Supported: the corrected p of the named contrast, or the p of the named term "
        "(within participants, with the Greenhouse-Geisser correction), is below .05."
    )
    return table(("Hypothesis", "Result", "Test"), rows, caption=caption)


def describe_test(analysis: Analysis, hypothesis: Hypothesis) -> tuple[str | None, str]:
    """The outcome of a hypothesis, None if it was not tested; and the test in words, or why
    there is none."""
    with decimals_of(analysis.decimals):
        row, test = find_tested_row(analysis.shown, hypothesis)
    if row is None:
        return None, test
    p = row.p_corrected if row.contrast else row.p
    return verdict(p), test


def verdict(p: float | None) -> str:
    return "supported" if _below(p) else "not supported"


def _below(p: float | None) -> bool:
    return p is not None and p < ALPHA


def term_tests(analysis: Analysis) -> Iterator[Statistic]:
    """The tests of the terms of its model, each without correction for sphericity."""
    return (row for row in analysis.select(TEST, epsilon=None) if row.p is not None)


def deciding_tests(analysis: Analysis) -> Iterator[Statistic]:
    """The same, within participants with Greenhouse and Geisser's correction, as registered."""
    tests = analysis.select(TEST)
    return (beside(test, tests)[0] or test for test in term_tests(analysis))


def find_tested_row(analysis: Analysis, hypothesis: Hypothesis) -> tuple[Statistic | None, str]:
    """The row by which a hypothesis is tested, and it in words; without one, why there is none."""
    if hypothesis.contrast is None:
        rows = list(deciding_tests(analysis))
        if hypothesis.term is not None:
            wanted = set(hypothesis.term)
            rows = [row for row in rows if set(row.factors.split(" × ")) == wanted]
            if not rows:
                return None, f"the analysis has no term {' × '.join(hypothesis.term)}"
        if len(rows) == 1:
            return rows[0], term_words(rows[0])
        terms = ", ".join(f"[{row.factors.replace(' × ', ', ')}]" for row in rows)
        # Of several terms no single one says that all levels differ.
        tests = list(map(term_words, rows))
        return None, sentence("design.several_terms", tests=tests, terms=terms)
    kind = EQUIVALENCE if hypothesis.direction == EQUIVALENT else CONTRAST
    about = {"contrast": hypothesis.contrast, "direction": hypothesis.direction}
    for row in analysis.select(kind, **about):
        if row.p_corrected is None:
            return None, row.why
        name = "design.equivalence" if kind == EQUIVALENCE else "design.hypothesis"
        named = replace(row, contrast=labelled(row.contrast))
        return row, sentence(name, row=named, unit=unit_of_difference(row), test=test_words(row))
    why = next((text for text in analysis.remarks if f"“{hypothesis.contrast}”" in text), "")
    return None, why or f"there is no contrast {hypothesis.contrast}"


def introduction(results: StudyAnalyses) -> str:
    """What was done with all outcomes, in words."""
    plan = results.declaration.analysis
    return sentence(
        "design.introduction", declared=results.declaration.design is not None,
        contrasts=bool(plan.contrasts), together=plan.family == "all",
        correction=CORRECTIONS[plan.correction],
    )  # fmt: skip


def test_words(test: Statistic) -> str:
    """F(2, 22) = 7.69, p = .003."""
    if test.p is None or test.statistic is None:
        return test.why
    if _letter(test) == "W":
        test = replace(test, df=None)  # those of a chi-square that approximates its p
    return sentence("design.test", letter=_letter(test), test=test)


def _letter(test: Statistic) -> str:
    """t, F, …"""
    name = test.test.split(": ")[-1]
    if name == TOST:
        return "t"
    words = name.split(",")[0].split()
    return next((letter for letter in ("F", "W") if letter in words), words[0])


def term_words(test: Statistic) -> str:
    """A test with the term that it is of."""
    return Verbatim(f"{say(test.factors)}: {test_words(test)}")


def _body(analysis: Analysis) -> Iterator[Html]:
    yield from with_decimals(analysis.decimals, _parts(analysis))


def _parts(analysis: Analysis) -> Iterator[Html]:
    outcome, main = analysis.outcome, analysis.main
    title = f"{outcome.title[:1].upper()}{outcome.title[1:]}"
    yield paragraph(
        sentence(
            "design.outcome", title=title, **in_words(outcome.unit),
            design=_design(outcome.layout), transform=analysis.transform,
            mixed=main.name == MIXED, n=main.n,
            remarks=list(map(_remark, main.remarks)),
            on_success=outcome.on_success,
            ended=outcome.skips,
        )
    )  # fmt: skip
    for remark in map(_remark, analysis.remarks):
        yield paragraph(f"{remark[:1].upper()}{remark[1:]}.", "note")
    if outcome.role == UNDECLARED or analysis.transform:
        yield _cells(analysis)
    yield _tests(analysis.main, analysis.select(TEST))
    if contrasts := analysis.select(CONTRAST):
        yield _contrasts(analysis, contrasts)
    if equivalences := analysis.select(EQUIVALENCE):
        yield _equivalences(equivalences)
    if further := analysis.select(FURTHER):
        yield _further(further)
    more = [_means(analysis)]
    for model in analysis.beside:
        own = analysis.select(SENSITIVITY, model_name=model.name)
        more.append(_tests(model, select(own, contrast="")))
        if by_trials := [row for row in own if row.contrast]:
            more.append(_by_trials(model, by_trials))
    if analysis.select(CHECK):
        more.append(_checks(analysis))
    more_about = say("estimated means, sensitivity and checks")
    yield details(Verbatim(f"{outcome.label}: {more_about}"), join_parts(more))


def _design(layout: Layout) -> Verbatim:
    """The factors of a design, as they are called."""
    names = {
        key: ", ".join(name_factor(plain_name(factor.name)) for factor in factors)
        for key, factors in (("between", layout.between), ("within", layout.within))
    }
    covariates = ", ".join(name_item(name)[0] for name in layout.covariates)
    return sentence("design.layout", covariates=covariates, **names)


_NAMES = re.compile(r"(?:(?<=\bfactor )|(?<=\blevel of )|(?<=\bcovariate ))[\w.-]+")
_FITTED, _REMOVED = "random effects ", "estimated as 0 and removed: "


def _remark(remark: str) -> str:
    """A remark on the data or the fit, with factors and random effects as they are called."""
    begin = next(filter(remark.startswith, (_FITTED, _REMOVED)), "")
    if not begin:
        return _NAMES.sub(lambda match: name_factor(plain_name(match[0])), remark)
    told = []
    for effect in remark.removeprefix(begin).strip("()").split("), ("):
        slope, _, of = effect.partition(" | ")
        names = (name_factor(plain_name(name)) for name in of.split(":"))
        of = " × ".join(say(name) if name == "participant" else name for name in names)
        told.append(sentence("design.effect", slope="" if slope == "1" else slope, of=of))
    joined = "; ".join(told)
    return say(f"{_REMOVED}{joined}") if begin == _REMOVED else joined


def _level(levels: str) -> Verbatim:
    """Levels of a row, as they are called: "Hint: With a hint"."""
    pairs = (level.partition("=") for level in levels.split("; "))
    return Verbatim("; ".join(f"{name_factor(name)}: {labelled(of)}" for name, _, of in pairs))


def _cells(analysis: Analysis) -> Html:
    """Of an outcome that no table of means above has, or that has them untransformed."""
    names = [factor.name for factor in analysis.outcome.layout.factors]
    rows = cell_rows(analysis, number_words)
    heads = [*(plain_name(name) for name in names), "n", "M", "SD"]
    caption = "Participants' values in each cell."
    if analysis.transform:
        heads.append(BACK_MEAN)
        caption = f"Participants' values in each cell. M and SD are in {analysis.unit}."
    return table(heads, rows, numeric=range(len(names), len(heads)), caption=caption)


def cell_rows(analysis: Analysis, words: Callable[[float], str]) -> Iterator[tuple[str, ...]]:
    """One row per cell: levels, n, mean, sd, and of transformed values the mean in the outcome's
    unit. words: a number as the table has it."""
    for cell, row in zip(analysis.cells, analysis.select(VALUES), strict=True):
        known = [row.mean, row.sd]
        if analysis.transform:
            known.append(None if row.mean is None else back(row.mean, analysis.transform))
        levels = (cell.levels[f.name] for f in analysis.outcome.layout.factors)
        numbers = (NONE if each is None else words(each) for each in known)
        yield (*map(Verbatim, levels), str(row.n), *numbers)


def ends_words(row: Statistic) -> str:
    """The interval of a difference or mean."""
    return f"{number_words(row.low or 0.0)} to {number_words(row.high or 0.0)}"


def _tests(model: Model, tests: list[Statistic]) -> Html:
    rows: list[list[object]] = []
    for test in select(tests, epsilon=None):
        if test.test == GENERALISED:
            continue
        if test.p is None:
            rows.append([test.factors, test.why, NONE, NONE, NONE, NONE, NONE])
            continue
        corrected, general = beside(test, tests)
        degrees = _degrees(test)
        rows.append(
            [
                test.factors, decimal(test.statistic or 0.0, 2), degrees, p_cell(test.p),
                NONE
                if corrected is None
                else two_lines(p_cell(corrected.p), f"ε = {corrected.epsilon or 0:.2f}"),
                _share_cell(test), _share_cell(general),
            ]
        )  # fmt: skip
    heads = (
        "Term", "F", "df", "p", two_lines("p", "Greenhouse-Geisser"),
        two_lines("Partial η²", "90 % interval"), two_lines("Generalised η²", "90 % interval"),
    )  # fmt: skip
    caption = sentence(
        "design.model",
        name=model.name,
        n=model.n,
        left_out=model.n_left_out,
        remarks=list(map(_remark, model.remarks)),
    )
    return table(heads, rows, numeric=range(1, 7), caption=caption)


def beside(
    test: Statistic, tests: Iterable[Statistic]
) -> tuple[Statistic | None, Statistic | None]:
    """What the same term has with Greenhouse and Geisser's correction, and as generalised eta
    squared."""
    own = [row for row in tests if row.factors == test.factors]
    corrected = next((row for row in own if row.epsilon is not None), None)
    return corrected, next((row for row in own if row.test == GENERALISED), None)


def _share_cell(row: Statistic | None) -> object:
    """An eta squared, which cannot exceed 1, with its interval."""
    if row is None or row.effect is None:
        return NONE
    low, high = short_share(row.effect_low), short_share(row.effect_high)
    return two_lines(short_share(row.effect), f"{low} to {high}")


def _effect(row: Statistic | None, *, named: bool = False) -> object:
    if row is None or row.effect is None:
        return NONE
    low, high = (
        NONE if end is None else decimal(end, 2) for end in (row.effect_low, row.effect_high)
    )
    name = f"{row.effect_name} = " if named else ""
    return two_lines(f"{name}{decimal(row.effect, 2)}", f"{low} to {high}")


def _t(row: Statistic) -> list[object]:
    """Statistic, degrees of freedom and p of a contrast."""
    sided = row.direction in (TWO_SIDED, EQUIVALENT)
    return [
        decimal(row.statistic or 0.0, 2),
        "" if row.df is None else df_words(row.df),
        p_cell(row.p) if sided else two_lines(p_cell(row.p), row.direction),
    ]


def _contrasts(analysis: Analysis, tests: list[Statistic]) -> Html:
    rows: list[list[object]] = []
    corrected = _correction_head(tests)
    for test in tests:
        name = two_lines(test.contrast, test.factors)
        if test.difference is None:
            rows.append([name, test.why, *[NONE] * (5 + len(corrected))])
            continue
        of = {"contrast": test.contrast, "factors": test.factors, "direction": test.direction}
        effects = analysis.select(EFFECT, **of)
        cohen = next((row for row in effects if row.effect_name.startswith("Cohen")), None)
        rows.append(
            [
                name, two_lines(number_words(test.difference), ends_words(test)), *_t(test),
                *(p_cell(test.p_corrected) for _ in corrected),
                _effect(test, named=True), _effect(cohen, named=True),
            ]
        )  # fmt: skip
    heads = (
        "Contrast", two_lines("Difference", "95 % interval"), "t", "df", "p", *corrected,
        two_lines("Effect", "95 % interval"), two_lines("Cohen's d", "95 % interval"),
    )  # fmt: skip
    caption = "Contrasts of estimated means."
    unit = analysis.unit if analysis.transform else next(map(unit_of_difference, tests), "")
    if unit:
        caption += f" Differences are in {unit}."
    if {test.direction for test in tests} - {TWO_SIDED}:
        caption += f" {ONE_SIDED}"
    return table(heads, rows, numeric=range(1, len(heads)), caption=caption)


def _correction_head(tests: Iterable[Statistic]) -> list[object]:
    """The head of the column of corrected p, where p is corrected over several tests."""
    n = next((test.n_tests for test in tests if test.n_tests), 0)
    return [two_lines("p corrected", f"of {n}")] if n > 1 else []


def _by_trials(model: Model, tests: list[Statistic]) -> Html:
    rows: list[list[object]] = []
    for test in tests:
        if test.difference is None:
            rows.append([test.contrast, test.why, NONE, NONE, NONE, NONE])
            continue
        difference = two_lines(number_words(test.difference), ends_words(test))
        statistic, df, _ = _t(test)
        rows.append([test.contrast, difference, statistic, df, p_cell(test.p), _effect(test)])
    logs = ", in log odds" if model.name == TRIALS_LOGISTIC else ""
    heads = (
        "Contrast", two_lines("Difference", "95 % interval"), "t", "df", "p",
        two_lines("Odds ratio", "95 % interval"),
    )  # fmt: skip
    caption = f"Contrasts by {model.name}{logs}. p is not corrected."
    return table(heads, rows, numeric=range(1, 6), caption=caption)


def _equivalences(tests: list[Statistic]) -> Html:
    corrected = _correction_head(tests)
    rows = [
        (
            test.contrast, f"± {number_words(test.bound or 0.0)}", ends_words(test), *_t(test),
            *(p_cell(test.p_corrected) for _ in corrected),
            "smaller" if _below(test.p_corrected) else "not shown to be smaller",
        )
        for test in tests
    ]  # fmt: skip
    heads = (
        "Contrast", "Smallest effect", two_lines("Difference", "90 % interval"), "t", "df", "p",
        *corrected, "The difference is",
    )  # fmt: skip
    caption = (
        "Tests of equivalence: of the two one-sided tests, the one with the larger p is shown. "
        "They are corrected separately from the tests of differences."
    )
    return table(heads, rows, numeric=range(1, len(heads) - 1), caption=caption)


BAYES_FOR_NONE = "Bayes factor, BF01"
BAYES_READ = (
    "BF10 is how many times more likely the data are if there is a difference than if there is "
    "none; BF01 is the reverse (1 / BF10)."
)
MOST_SHOWN = 1e6
"""A Bayes factor beyond it is only said to be larger."""
TITLES = {
    YUEN: "Yuen's test, t of 20 % trimmed means",
    PERMUTED: "Permutation test, t",
    ALIGNED: "ART ANOVA (aligned ranks), F",
}
"""What tests are called on pages, if that is not their name in the tables."""


def _further(tests: list[Statistic]) -> Html:
    rows: list[tuple[object, ...]] = []
    for test in tests:
        of: object = Verbatim(labelled(test.contrast or test.factors))
        if test.direction not in ("", TWO_SIDED):
            of = two_lines(of, test.direction)
        if test.statistic is None:
            rows.append((TITLES.get(test.test, test.test), of, test.why, NONE, NONE))
            continue
        value, called = test.statistic, TITLES.get(test.test, test.test)
        if test.test == BAYES and 0 < value < 1:
            value, called = 1 / value, BAYES_FOR_NONE
        degrees = _degrees(test)
        name = two_lines(called, test.why) if test.why else called
        number = decimal(value, 2) if value <= MOST_SHOWN else f"> {decimal(MOST_SHOWN, 0)}"
        rows.append((name, of, number, degrees, p_cell(test.p)))
    caption = (
        "Further tests that the study chose in advance, with the participants who have a value "
        "in every cell. p is not corrected, and these tests do not decide any hypothesis."
    )
    if any(test.test == BAYES for test in tests):
        caption += f" {BAYES_READ}"
    return table(("Test", "Of", "Value", "df", "p"), rows, numeric=range(2, 5), caption=caption)


def _means(analysis: Analysis) -> Html:
    rows = []
    for mean in analysis.select(MEAN):
        cells: list[object] = [
            _level(mean.levels), number_words(mean.mean or 0.0),
            number_words(mean.standard_error or 0.0), ends_words(mean),
        ]  # fmt: skip
        of = {"factors": mean.factors, "levels": mean.levels}
        cells += [
            two_lines(number_words(own.mean or 0.0), ends_words(own))
            for own in analysis.select(BACK, **of)
        ]
        rows.append(cells)
    heads: list[object] = ["Level", "Estimated mean", "Standard error", "95 % interval"]
    if analysis.transform:
        heads.append(two_lines("Back-transformed", "95 % interval"))
    caption = "Estimated means of levels."
    if unit := analysis.unit if analysis.transform else in_words(analysis.outcome.unit)["unit"]:
        caption += f" Values are in {unit}."
    if len(analysis.outcome.layout.factors) > 1 or analysis.outcome.layout.covariates:
        caption += f" {WEIGHTED}"
    return table(heads, rows, numeric=range(1, len(heads)), caption=caption)


def _degrees(test: Statistic) -> Verbatim | str:
    """The degrees of freedom, as they are in sentences."""
    return NONE if test.df is None else sentence("design.degrees", test=test)


def _checks(analysis: Analysis) -> Html:
    rows: list[tuple[bool, object, object, str]] = []
    for test in analysis.select(CHECK):
        if test.model_name not in ("", analysis.main.name):
            continue
        name = next((name for name in (BY_RANKS, POSITION) if test.test.startswith(name)), "")
        name = name or (f"{test.test}, sphericity" if test.model_name else test.test)
        told = test_words(test) if test.p is not None else test.why
        if (name, told) in {(row[1], row[3]) for row in rows}:
            continue  # the sphericity of an interaction is that of its factor within participants
        rows.append((bool(test.model_name), name, test.factors or NONE, told))
    shown = [row for _, *row in sorted(rows, key=lambda row: row[0])]
    return table(("Check", "Of", "Result"), shown, caption="Checks.")


TEX, DOCX = "tables.tex", "tables.docx"


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper. heads, rows: text, where *x* is set in italics; the first `texts` columns
    are words, the others numbers."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str
    texts: int = 1


def paper_tables(results: StudyAnalyses) -> Iterator[PaperTable]:
    """Of one study, in the report's language: values of every outcome, then tests, then contrasts
    and equivalence."""
    for made in _english(results.shown):
        yield PaperTable(
            say(made.title),
            tuple(map(say, made.heads)),
            tuple(tuple(map(say, row)) for row in made.rows),
            say(made.note),
            made.texts,
        )


def _english(results: StudyAnalyses) -> Iterator[PaperTable]:
    for analysis in results.analyses:
        yield from with_decimals(analysis.decimals, map(_values, [analysis]))
    if results.analyses:
        yield _apa_tests(results.analyses)
    if any(analysis.select(CONTRAST) for analysis in results.analyses):
        yield _apa_contrasts(results)
    if any(analysis.select(EQUIVALENCE) for analysis in results.analyses):
        yield _equivalence(results)


def _values(analysis: Analysis) -> PaperTable:
    names = [factor.name for factor in analysis.outcome.layout.factors]
    rows = tuple(cell_rows(analysis, _number))
    unit = f" Values are in {analysis.unit}." if analysis.unit else ""
    if analysis.transform:
        unit = f" Means and standard deviations are in {analysis.unit}."
    more = [BACK_MEAN] if analysis.transform else []
    heads = (*(Verbatim(plain_name(name)) for name in names), "*n*", "*M*", "*SD*", *more)
    factors = f" {say('and')} ".join(map(plain_name, names)) or say("participant")
    title = Verbatim(f"{analysis.outcome.label} {say('by')} {factors}")
    return PaperTable(title, heads, rows, f"One value per participant and cell.{unit}", len(names))


def _apa_tests(analyses: Sequence[Analysis]) -> PaperTable:
    rows = []
    for analysis in analyses:
        tests = analysis.select(TEST)
        for test in term_tests(analysis):
            corrected, general = beside(test, tests)
            use = corrected or test
            rows.append(
                (
                    analysis.outcome.label, Verbatim(test.factors), f"{test.statistic:.2f}",
                    df_words(use.df), df_words(use.df_2), p_cell(use.p),
                    NONE if test.effect is None else _share(test),
                    NONE if general is None else short_share(general.effect),
                )
            )  # fmt: skip
    heads = (
        "Outcome", "Effect", "*F*", "*df*_1", "*df*_2", "*p*", "*η*_p^2 [90% CI]", "*η*_G^2",
    )  # fmt: skip
    models = sorted({analysis.main.name for analysis in analyses})
    note = (
        f"Model: {', '.join(models)}. Within participants, degrees of freedom and p have the "
        "Greenhouse-Geisser correction. Mixed models have Satterthwaite's degrees of freedom."
    )
    designs = ", ".join(sorted({analysis.outcome.layout.words for analysis in analyses}))
    return PaperTable(f"Tests of effects ({designs})", heads, tuple(rows), note, 2)


def _in_unit(analysis: Analysis) -> str:
    """An outcome, with the unit of differences if that is not its own."""
    name = analysis.outcome.label
    return Verbatim(f"{name} ({analysis.unit})") if analysis.transform else name


def _apa_contrasts(results: StudyAnalyses) -> PaperTable:
    rows = []
    tests = [(analysis, row) for analysis in results.analyses for row in analysis.select(CONTRAST)]
    for analysis, row in tests:
        if row.difference is None:
            continue
        with decimals_of(analysis.decimals):
            difference = f"{_number(row.difference)} [{_number(row.low)}, {_number(row.high)}]"
        symbol = "*g* = " if row.effect_name == HEDGES else "*d*_z = "
        name = labelled(row.contrast)
        marked = name if row.direction == TWO_SIDED else f"{name} ({say(row.direction)})"
        rows.append(
            (
                _in_unit(analysis), Verbatim(marked),
                difference,
                f"{row.statistic:.2f}", df_words(row.df), p_cell(row.p), p_cell(row.p_corrected),
                NONE if row.effect is None else Verbatim(f"{symbol}{say(_interval(row))}"),
            )
        )  # fmt: skip
    plan = results.declaration.analysis
    family = "each outcome" if plan.family == "per_outcome" else "all outcomes"
    note = f"Corrected p: {CORRECTIONS[plan.correction]} over the contrasts of {family}."
    if {row.direction for _, row in tests} - {TWO_SIDED}:
        note += f" {ONE_SIDED}"
    heads = (
        "Outcome", "Contrast", "Difference [95% CI]", "*t*", "*df*", "*p*", "*p*_corr",
        "Effect [95% CI]",
    )  # fmt: skip
    return PaperTable("Contrasts of estimated means", heads, tuple(rows), note, 2)


def _bound_and_interval(analysis: Analysis, row: Statistic) -> tuple[str, str]:
    with decimals_of(analysis.decimals):
        return f"±{_number(row.bound)}", f"[{_number(row.low)}, {_number(row.high)}]"


def _equivalence(results: StudyAnalyses) -> PaperTable:
    rows = [
        (
            analysis.outcome.label if analysis.is_raw(row) else _in_unit(analysis),
            Verbatim(labelled(row.contrast)), *_bound_and_interval(analysis, row),
            f"{row.statistic:.2f}",
            df_words(row.df), p_cell(row.p), p_cell(row.p_corrected),
        )
        for analysis in results.analyses
        for row in analysis.select(EQUIVALENCE)
    ]  # fmt: skip
    heads = ("Outcome", "Contrast", "Smallest effect", "90% CI", "*t*", "*df*", "*p*", "*p*_corr")
    note = (
        "Of the two one-sided tests, the one with the larger p is shown. They are corrected "
        "separately from the tests of differences."
    )
    return PaperTable("Tests of equivalence", heads, tuple(rows), note, 2)


def _number(value: float | None) -> str:
    return NONE if value is None else number_words(value).replace("−", "-")


def short_share(value: float | None) -> str:
    if value is None:
        return NONE
    text = f"{value:.2f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def _share(row: Statistic) -> str:
    return (
        f"{short_share(row.effect)} [{short_share(row.effect_low)}, {short_share(row.effect_high)}]"
    )


def _interval(row: Statistic) -> str:
    ends = (row.effect_low, row.effect_high)
    low, high = (NONE if end is None else f"{end:.2f}" for end in ends)
    return f"{row.effect:.2f} [{low}, {high}]"


def tex(studies: Iterable[StudyAnalyses]) -> str:
    """Tables for LaTeX, each a `table` with `booktabs`."""
    parts = [
        "% Needs \\usepackage{booktabs}. Made by labapp from the analyses according to the design."
    ]
    number = 0
    for results in studies:
        for made in paper_tables(results):
            number += 1
            columns = "l" * made.texts + "r" * (len(made.heads) - made.texts)
            parts += [
                "",
                "\\begin{table}",
                f"  \\caption{{{_tex(f'{results.study}: {made.title}')}}}",
                f"  \\label{{tab:labapp-{number}}}",
                f"  \\begin{{tabular}}{{{columns}}}",
                "    \\toprule",
                f"    {' & '.join(map(_tex, made.heads))} \\\\",
                "    \\midrule",
                *(f"    {' & '.join(map(_tex, row))} \\\\" for row in made.rows),
                "    \\bottomrule",
                "  \\end{tabular}",
                f"  \\par\\smallskip\\textit{{{_tex(say('Note'))}.}} {_tex(made.note)}",
                "\\end{table}",
            ]
    return "\n".join(parts) + "\n"


_ESCAPES = {
    "\\": "\\textbackslash{}", "&": "\\&", "%": "\\%", "$": "\\$", "#": "\\#", "{": "\\{",
    "}": "\\}", "~": "\\textasciitilde{}", "<": "$<$", ">": "$>$", "±": "$\\pm$",
    "−": "$-$", "–": "--", "×": "$\\times$", "η": "$\\eta$", "²": "$^2$", "ε": "$\\epsilon$",
}  # fmt: skip


def _tex(text: str) -> str:
    """Escaped; *x* in italics and, behind it, _i and ^j as indices."""
    made = []
    for style, piece in _pieces(text):
        escaped = "".join(_ESCAPES.get(letter, letter) for letter in piece)
        escaped = escaped.replace("_", "\\_").replace("^", "\\textasciicircum{}")
        if style == "italic":
            escaped = f"\\textit{{{escaped}}}"
        elif style == "low":
            escaped = f"$_{{\\mathrm{{{piece}}}}}$"
        elif style == "high":
            escaped = f"$^{{{piece}}}$"
        elif piece.startswith("-") and piece[1:2].isdigit():
            escaped = f"$-${escaped[1:]}"
        made.append(escaped)
    return "".join(made)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """The text in pieces: plain, italic (between stars), low and high (indices behind italics)."""
    parts = text.split("*")
    if len(parts) % 2 == 0:  # a star that opens nothing is a star
        yield "plain", text
        return
    for at, part in enumerate(parts):
        if at % 2:
            yield "italic", part
            continue
        if at:
            for sign, style in (("_", "low"), ("^", "high")):
                if part.startswith(sign):
                    length = 1
                    while length < len(part) and part[length].isalnum():
                        length += 1
                    yield style, part[1:length]
                    part = part[length:]
        if part:
            yield "plain", part


def write_docx(studies: Iterable[StudyAnalyses], path: Path) -> None:
    """Tables for a word processor. Raises OSError."""
    from docx import Document
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Pt

    document = Document()
    document.styles["Normal"].font.name = "Times New Roman"
    document.styles["Normal"].font.size = Pt(11)
    number = 0
    for results in studies:
        for made in paper_tables(results):
            number += 1
            document.add_paragraph().add_run(say(f"Table {number}")).bold = True
            title = document.add_paragraph()
            title.add_run(f"{results.study}: {made.title}").italic = True
            grid = document.add_table(rows=1 + len(made.rows), cols=len(made.heads))
            rows = zip(grid.rows, (made.heads, *made.rows), strict=True)
            for place, (line, row) in enumerate(rows):
                # not grid.cell(): it lists all the table's cells for each one
                for column, (cell, written) in enumerate(zip(line.cells, row, strict=True)):
                    paragraph = cell.paragraphs[0]
                    if column >= made.texts:
                        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
                    for style, piece in _pieces(written):
                        run = paragraph.add_run(piece)
                        run.italic = style == "italic"
                        run.font.subscript = style == "low"
                        run.font.superscript = style == "high"
                    last = place in (0, len(made.rows))
                    _rule(cell, ["top"] * (place == 0) + ["bottom"] * last)
            note = document.add_paragraph()
            note.add_run(f"{say('Note')}. ").italic = True
            note.add_run(made.note)
            document.add_paragraph()
    with path.open("xb") as file:
        document.save(file)


def _rule(cell: object, edges: Sequence[str]) -> None:
    """Lines at edges of a cell; python-docx has no word for them."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    if not edges:
        return
    borders = OxmlElement("w:tcBorders")
    for edge in edges:
        line = OxmlElement(f"w:{edge}")
        for key, value in (("val", "single"), ("sz", "6"), ("space", "0"), ("color", "000000")):
            line.set(qn(f"w:{key}"), value)
        borders.append(line)
    cell._tc.get_or_add_tcPr().append(borders)  # type: ignore[attr-defined]
