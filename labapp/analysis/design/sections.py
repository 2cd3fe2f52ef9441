"""The report's section on the default analyses of a study: what was done, why, and the numbers.

Also a summary of the study in half a screen: who was analysed, each hypothesis with its result, and
the primary outcomes with their estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pandas as pd

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
from labapp.analysis.design.contrasts import ALPHA, CONTRAST, EFFECT, EQUIVALENCE, MEAN
from labapp.analysis.design.layout import plain_name
from labapp.analysis.design.sources import POSITION, UNDECLARED
from labapp.analysis.inference import EQUIVALENT, GENERALISED, TOST, TWO_SIDED
from labapp.analysis.statistic import Statistic, select
from labapp.base.report.listing import NONE
from labapp.base.report.page import (
    Html,
    Verbatim,
    count,
    decimal,
    details,
    heading,
    joined,
    lines,
    links,
    paragraph,
    say,
    table,
    text,
    two_lines,
)
from labapp.base.report.sentences import df_words, number_words, p_cell, sentence
from labapp.study.design import Hypothesis

BACK_MEAN = "Back-transformed mean"


def sections(
    results: StudyAnalyses, anchor: str = "", figures: Iterable[Html] = ()
) -> Iterator[Html]:
    """Everything on one study; nothing where nothing was asked that could be analysed. anchor: the
    heading's id; figures: what is drawn of its outcomes."""
    if not results.analyses and not any(left.role != UNDECLARED for left in results.left_out):
        return
    yield heading(3, "Analyses by the design", anchor)
    yield paragraph(introduction(results))
    if results.declaration.remark:
        yield paragraph(results.declaration.remark, "note")
    if results.declaration.hypotheses:
        yield _hypotheses(results)
    yield from figures
    for analysis in results.analyses:
        if analysis.outcome.role == UNDECLARED:
            told = next(map(term_words, deciding_tests(analysis)), "")
            name = f"{analysis.outcome.name} ({analysis.outcome.group})"
            yield details(Verbatim(f"{name}, {told}"), joined(_body(analysis)))
        else:
            yield heading(4, f"{analysis.outcome.name} ({analysis.outcome.role})")
            yield from _body(analysis)
    if results.left_out:
        rows = [(left.name, left.group or NONE, left.why) for left in results.left_out]
        yield table(("Outcome", "Of", "Why"), rows, caption="Not analysed")


def _hypotheses(results: StudyAnalyses) -> Html:
    rows: list[tuple[object, ...]] = []
    for hypothesis in results.declaration.hypotheses:
        name = two_lines(Verbatim(hypothesis.text), f"{hypothesis.role}, {hypothesis.outcome}")
        own = [a for a in results.analyses if a.outcome.name == hypothesis.outcome]
        if not own:
            why = next((x.why for x in results.left_out if x.name == hypothesis.outcome), "")
            rows.append((name, "not tested", why or "the outcome is not among those analysed"))
        for analysis in own:
            verdict, test = tested_words(analysis, hypothesis)
            rows.append((name, verdict or "not tested", test))
    caption = (
        "Hypotheses. Supported: the corrected p of the named contrast, or the p of the named term "
        "(within participants with Greenhouse and Geisser's correction), is below .05."
    )
    return table(("Hypothesis", "Result", "Test"), rows, caption=caption)


def tested_words(analysis: Analysis, hypothesis: Hypothesis) -> tuple[str | None, str]:
    """What a hypothesis came to, None where it was not tested; and the test, or why not."""
    row, test = tested_row(analysis, hypothesis)
    if row is None:
        return None, test
    p = row.p_corrected if row.contrast else row.p
    return "supported" if _below(p) else "not supported", test


def _below(p: float | None) -> bool:
    return p is not None and p < ALPHA


def term_tests(analysis: Analysis) -> Iterator[Statistic]:
    """The tests of the terms of its model, each without correction for sphericity."""
    return (row for row in analysis.select(TEST, epsilon=None) if row.p is not None)


def deciding_tests(analysis: Analysis) -> Iterator[Statistic]:
    """The same, within participants with Greenhouse and Geisser's correction, as registered."""
    tests = analysis.select(TEST)
    return (beside(test, tests)[0] or test for test in term_tests(analysis))


def tested_row(analysis: Analysis, hypothesis: Hypothesis) -> tuple[Statistic | None, str]:
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
        unit = row.unit if analysis.transform or row.unit not in ("", "0-1") else ""
        return row, sentence(name, row=row, unit=unit, test=test_words(row))
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
    name = test.test.split(": ")[-1]
    letter = "F" if "F" in name.split(",")[0].split() else name.split()[0]
    return sentence("design.test", letter="t" if name == TOST else letter, test=test)


def term_words(test: Statistic) -> str:
    """A test with the term that it is of."""
    return Verbatim(f"{say(test.factors)}: {test_words(test)}")


def _body(analysis: Analysis) -> Iterator[Html]:
    outcome, main = analysis.outcome, analysis.main
    unit = f", in {outcome.unit}" if outcome.unit else ""
    title = f"{outcome.title[:1].upper()}{outcome.title[1:]}{unit}."
    yield paragraph(
        sentence(
            "design.outcome", title=title, design=outcome.layout.words,
            transform=analysis.transform, mixed=main.name == MIXED, n=main.n, remarks=main.remarks,
            on_success=outcome.on_success,
            ended=outcome.name == "response_time_s" and outcome.trials is not None,
        )
    )  # fmt: skip
    for remark in analysis.remarks:
        yield paragraph(f"{remark[:1].upper()}{remark[1:]}.", "note")
    names = [factor.name for factor in analysis.outcome.layout.factors]
    rows = cell_rows(analysis, number_words)
    heads = [*(plain_name(name) for name in names), "n", "Mean", "sd"]
    caption = "Participants' values in each cell."
    if analysis.transform:
        heads.append(BACK_MEAN)
        caption = f"Participants' values in each cell. Mean and sd are in {analysis.unit}."
    yield table(heads, rows, numeric=range(len(names), len(heads)), caption=caption)
    yield _tests(analysis.main, analysis.select(TEST))
    if contrasts := analysis.select(CONTRAST):
        yield _contrasts(analysis, contrasts)
    if equivalences := analysis.select(EQUIVALENCE):
        yield _equivalences(equivalences)
    more = [_means(analysis)]
    for model in analysis.beside:
        own = analysis.select(SENSITIVITY, model_name=model.name)
        more.append(_tests(model, select(own, contrast="")))
        if by_trials := [row for row in own if row.contrast]:
            more.append(_by_trials(model, by_trials))
    if analysis.select(CHECK):
        more.append(_checks(analysis))
    yield details(f"{outcome.name}: estimated means, sensitivity and checks", joined(more))


def cell_rows(analysis: Analysis, words: Callable[[float], str]) -> Iterator[tuple[str, ...]]:
    """A row a cell: levels, n, mean, sd, and of transformed values the mean in the outcome's unit.
    words: a number as the table has it."""
    for cell, row in zip(analysis.cells, analysis.select(VALUES), strict=True):
        yield (
            *map(Verbatim, (cell.levels[f.name] for f in analysis.outcome.layout.factors)),
            str(row.n),
            NONE if row.mean is None else words(row.mean),
            NONE if row.sd is None else words(row.sd),
            *(
                [NONE if row.mean is None else words(back(row.mean, analysis.transform))]
                if analysis.transform
                else []
            ),
        )


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
        degrees = ", ".join(df_words(value) for value in (test.df, test.df_2) if value is not None)
        rows.append(
            [
                test.factors, decimal(test.statistic or 0.0, 2), degrees, p_cell(test.p),
                NONE
                if corrected is None
                else two_lines(p_cell(corrected.p), f"ε = {corrected.epsilon or 0:.2f}"),
                _effect(test), _effect(general),
            ]
        )  # fmt: skip
    heads = (
        "Term", "F", "df", "p", two_lines("p", "Greenhouse-Geisser"),
        two_lines("Partial η²", "95 % interval"), two_lines("Generalised η²", "95 % interval"),
    )  # fmt: skip
    caption = sentence(
        "design.model", name=model.name, n=model.n, left_out=model.n_left_out, remarks=model.remarks
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
    for test in tests:
        name = two_lines(test.contrast, test.factors)
        if test.difference is None:
            rows.append([name, test.why, NONE, NONE, NONE, NONE, NONE, NONE])
            continue
        of = {"contrast": test.contrast, "factors": test.factors, "direction": test.direction}
        effects = analysis.select(EFFECT, **of)
        cohen = next((row for row in effects if row.effect_name.startswith("Cohen")), None)
        rows.append(
            [
                name, two_lines(number_words(test.difference), ends_words(test)), *_t(test),
                p_cell(test.p_corrected), _effect(test, named=True), _effect(cohen, named=True),
            ]
        )  # fmt: skip
    heads = (
        "Contrast", two_lines("Difference", "95 % interval"), "t", "df", "p",
        two_lines("p corrected", f"of {_family(tests)}"), two_lines("Effect", "95 % interval"),
        two_lines("Cohen's d", "95 % interval"),
    )  # fmt: skip
    unit = f" Differences are in {analysis.unit}." if analysis.transform else ""
    caption = f"Contrasts of estimated means.{unit}"
    return table(heads, rows, numeric=range(1, 8), caption=caption)


def _family(tests: Iterable[Statistic]) -> int:
    """Over how many tests p is corrected."""
    return next((test.n_tests for test in tests if test.n_tests), 0)


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
    rows = [
        (
            test.contrast, f"± {number_words(test.bound or 0.0)}", ends_words(test), *_t(test),
            p_cell(test.p_corrected),
            "smaller" if _below(test.p_corrected) else "not shown to be smaller",
        )
        for test in tests
    ]  # fmt: skip
    heads = (
        "Contrast", "Smallest effect", two_lines("Difference", "90 % interval"), "t", "df", "p",
        two_lines("p corrected", f"of {_family(tests)}"), "The difference is",
    )  # fmt: skip
    caption = (
        "Tests of equivalence: of two one-sided tests, the one with the larger p is shown. They "
        "are corrected apart from the tests of differences."
    )
    return table(heads, rows, numeric=range(1, 7), caption=caption)


def _means(analysis: Analysis) -> Html:
    rows = []
    for mean in analysis.select(MEAN):
        cells: list[object] = [
            mean.levels, number_words(mean.mean or 0.0), number_words(mean.standard_error or 0.0),
            ends_words(mean),
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
    return table(heads, rows, numeric=range(1, len(heads)), caption="Estimated means of levels.")


def _checks(analysis: Analysis) -> Html:
    rows = []
    for test in analysis.select(CHECK):
        if test.model_name not in ("", analysis.main.name):
            continue
        name = next((name for name in (BY_RANKS, POSITION) if test.test.startswith(name)), "")
        name = name or (f"{test.test}, sphericity" if test.model_name else test.test)
        told = test_words(test) if test.p is not None else test.why
        rows.append((bool(test.model_name), name, test.factors or NONE, told))
    shown = [row for _, *row in sorted(rows, key=lambda row: row[0])]
    return table(("Check", "Of", "Result"), shown, caption="Checks.")


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
        rows += _hypotheses_in_short(results)
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


def _hypotheses_in_short(results: StudyAnalyses) -> Iterator[tuple[object, object]]:
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
        told = list(map(term_words, deciding_tests(analysis)))
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
