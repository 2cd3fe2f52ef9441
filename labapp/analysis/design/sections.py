"""The report's section on the default analyses of a study: what was done, why, and the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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
from labapp.analysis.inference import EQUIVALENT, GENERALISED, TWO_SIDED
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
    paragraph,
    table,
    two_lines,
)
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
            first = next(term_tests(analysis), None)
            told = "" if first is None else f"{first.factors}: {test_words(first)}"
            yield details(
                f"{analysis.outcome.name} ({analysis.outcome.group}), {told}",
                joined(_body(analysis)),
            )
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
        "Hypotheses. Supported: the corrected p of the named contrast, or the p of the named term, "
        "is below .05."
    )
    return table(("Hypothesis", "Result", "Test"), rows, caption=caption)


def tested_words(analysis: Analysis, hypothesis: Hypothesis) -> tuple[str | None, str]:
    """What a hypothesis came to, None where it was not tested; and the test, or why not."""
    test, p = tested_pair(analysis, hypothesis)
    if p is None:
        return None, test
    return "supported" if p < ALPHA else "not supported", test


def term_tests(analysis: Analysis) -> Iterator[Statistic]:
    """The tests of the terms of its model, each without correction for sphericity."""
    return (row for row in analysis.select(TEST, epsilon=None) if row.p is not None)


def tested_pair(analysis: Analysis, hypothesis: Hypothesis) -> tuple[str, float | None]:
    """The test of a hypothesis in words, and its p; without p, why there is none."""
    if hypothesis.contrast is None:
        rows = list(term_tests(analysis))
        if hypothesis.term is not None:
            wanted = set(hypothesis.term)
            rows = [row for row in rows if set(row.factors.split(" × ")) == wanted]
            if not rows:
                return f"the analysis has no term {' × '.join(hypothesis.term)}", None
        told = "; ".join(f"{row.factors}: {test_words(row)}" for row in rows)
        if len(rows) == 1:
            return told, rows[0].p
        terms = ", ".join(f"[{row.factors.replace(' × ', ', ')}]" for row in rows)
        # Of several terms no single one says that all levels differ.
        return f"{told}. Which of them it is about is not declared: `term` as one of {terms}", None
    kind = EQUIVALENCE if hypothesis.direction == EQUIVALENT else CONTRAST
    about = {"contrast": hypothesis.contrast, "direction": hypothesis.direction}
    for row in analysis.select(kind, **about):
        if row.p_corrected is None:
            return row.why, None
        told = f"{hypothesis.contrast} ({row.direction}): corrected {p_words(row.p_corrected)}"
        return told, row.p_corrected
    why = next((text for text in analysis.remarks if f"“{hypothesis.contrast}”" in text), "")
    return why or f"there is no contrast {hypothesis.contrast}", None


def introduction(results: StudyAnalyses) -> str:
    """What was done with all outcomes, in words."""
    plan = results.declaration.analysis
    by = (
        "the design that the study declares"
        if results.declaration.design is not None
        else "the design that the sessions show, for the study declares none"
    )
    chosen = (
        "Contrasts are those that the study declares"
        if plan.contrasts
        else "Every pair of levels of each factor is compared, for the study declares no contrasts"
    )
    family = "of each outcome" if plan.family == "per_outcome" else "of all outcomes together"
    return (
        f"By {by}. {chosen}; their p has {CORRECTIONS[plan.correction]} over the contrasts "
        f"{family}. Tests of equivalence are a family of their own, corrected in the same way. The "
        "tests of terms and checks are not corrected. Every number is in the table statistics, and "
        "analysis.R computes it again."
    )


def test_words(test: Statistic) -> str:
    """F(2, 22) = 7.69, p = .003."""
    if test.p is None or test.statistic is None:
        return test.why
    degrees = [df_words(value) for value in (test.df, test.df_2) if value is not None]
    name = test.test.split(": ")[-1]
    letter = "F" if "F" in name.split(",")[0].split() else name.split()[0]
    told = f"{letter}({', '.join(degrees)})" if degrees else letter
    return f"{told} = {decimal(test.statistic, 2)}, {p_words(test.p)}"


def p_words(p: float) -> str:
    """p = .003, or p < .001."""
    return "p < .001" if p < 0.001 else f"p = {f'{p:.3f}'.lstrip('0')}"


def p_cell(p: float | None) -> str:
    """.003, or < .001."""
    if p is None:
        return NONE
    return "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0")


def df_words(value: float | None) -> str:
    """Degrees of freedom, with decimals where they are no whole number."""
    if value is None:
        return NONE
    return f"{value:.0f}" if abs(value - round(value)) < 1e-6 else f"{value:.2f}"


def _body(analysis: Analysis) -> Iterator[Html]:
    outcome = analysis.outcome
    yield paragraph(" ".join(_told(analysis)))
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


def _told(analysis: Analysis) -> Iterator[str]:
    outcome, main = analysis.outcome, analysis.main
    unit = f", in {outcome.unit}" if outcome.unit else ""
    yield f"{outcome.title[:1].upper()}{outcome.title[1:]}{unit}."
    yield f"Design: {outcome.layout.words}."
    if analysis.transform:
        yield f"Tests are of the {analysis.transform} of the values."
    if main.name == MIXED:
        yield (
            f"{count(main.n, 'participant')}, some of whom lack a cell: a linear mixed model with "
            "a random intercept of participants, type III F with Satterthwaite's degrees of "
            "freedom. The analysis of variance of those who have every cell is beside it."
        )
    else:
        yield f"{count(main.n, 'participant')}, each with every cell: analysis of variance."
    if main.remarks:
        yield f"Of the fit: {'; '.join(main.remarks)}."
    if outcome.on_success:
        yield "It is of solved questions alone, and so conditions on success."
    if outcome.name == "response_time_s" and outcome.trials is not None:
        yield "It is of questions that were solved or skipped."


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


def number_words(value: float) -> str:
    """An estimate, with three decimals where it is small."""
    size = abs(value)
    return decimal(value, 3 if size < 1 else 2)


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
    left = f"; {count(model.n_left_out, 'participant')} left out" if model.n_left_out else ""
    remarks = f". {'; '.join(model.remarks)}" if model.remarks else ""
    caption = f"{model.name[:1].upper()}{model.name[1:]}, n = {model.n}{left}{remarks}."
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
            "smaller" if (test.p_corrected or 1.0) < ALPHA else "not shown to be smaller",
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
