"""The report's section on the default analyses of a study: what was done, why, and the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from labapp.analysis.declared import CORRECTIONS
from labapp.analysis.design.analyses import (
    MIXED,
    TRIALS_LOGISTIC,
    Analysis,
    Model,
    StudyAnalyses,
    back,
)
from labapp.analysis.design.rows import (
    ALPHA,
    ODDS_RATIO,
    contrast_row,
    design_words,
    level_words,
    plain_name,
    ratio,
    term_name,
)
from labapp.analysis.design.sources import UNDECLARED
from labapp.analysis.inference import Effect, Outcome
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
            first = next((line for line in analysis.main.lines if line.test.p is not None), None)
            told = "" if first is None else f"{term_name(first.term)}: {test_words(first.test)}"
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


def tested_pair(analysis: Analysis, hypothesis: Hypothesis) -> tuple[str, float | None]:
    """The test of a hypothesis in words, and its p; without p, why there is none."""
    if hypothesis.contrast is None:
        lines = [line for line in analysis.main.lines if line.test.p is not None]
        if hypothesis.term is not None:
            wanted = set(hypothesis.term)
            lines = [line for line in lines if {plain_name(name) for name in line.term} == wanted]
            if not lines:
                return f"the analysis has no term {' × '.join(hypothesis.term)}", None
        told = "; ".join(f"{term_name(line.term)}: {test_words(line.test)}" for line in lines)
        if len(lines) == 1:
            return told, lines[0].test.p
        terms = ", ".join(f"[{', '.join(map(plain_name, line.term))}]" for line in lines)
        # Of several terms no single one says that all levels differ.
        return f"{told}. Which of them it is about is not declared: `term` as one of {terms}", None
    wanted_test = hypothesis.contrast, hypothesis.direction
    for compared in (*analysis.compared, *analysis.equivalences):
        if (compared.comparison.name, compared.comparison.direction) == wanted_test:
            p = compared.p_corrected
            if p is None:
                return compared.test.why, None
            return f"{hypothesis.contrast} ({hypothesis.direction}): corrected {p_words(p)}", p
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


def test_words(test: Outcome) -> str:
    """F(2, 22) = 7.69, p = .003."""
    if test.p is None or test.statistic is None:
        return test.why
    degrees = [df_words(value) for value in (test.df, test.df_2) if value is not None]
    letter = "F" if "F" in test.test.split(",")[0].split() else test.test.split()[0]
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
    yield _tests(analysis.main)
    if analysis.compared:
        yield _contrasts(analysis)
    if analysis.equivalences:
        yield _equivalences(analysis)
    more = [_means(analysis)]
    for model in analysis.beside:
        more += [_tests(model), *([_by_trials(model)] if model.compared else [])]
    if analysis.checks:
        more.append(_checks(analysis))
    yield details(f"{outcome.name}: estimated means, sensitivity and checks", joined(more))


def _told(analysis: Analysis) -> Iterator[str]:
    outcome, main = analysis.outcome, analysis.main
    unit = f", in {outcome.unit}" if outcome.unit else ""
    yield f"{outcome.title[:1].upper()}{outcome.title[1:]}{unit}."
    yield f"Design: {design_words(outcome.layout)}."
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
    for cell in analysis.cells:
        mean = float(cell.values.mean()) if cell.values.size else None
        yield (
            *map(Verbatim, (cell.levels[f.name] for f in analysis.outcome.layout.factors)),
            str(cell.values.size),
            NONE if mean is None else words(mean),
            words(float(cell.values.std(ddof=1))) if cell.values.size > 1 else NONE,
            *(
                [NONE if mean is None else words(back(mean, analysis.transform))]
                if analysis.transform
                else []
            ),
        )


def number_words(value: float) -> str:
    """An estimate, with three decimals where it is small."""
    size = abs(value)
    return decimal(value, 3 if size < 1 else 2)


def _tests(model: Model) -> Html:
    rows = []
    for line in model.lines:
        test = line.test
        cells: list[object] = [term_name(line.term)]
        if test.p is None:
            rows.append([*cells, test.why, NONE, NONE, NONE, NONE, NONE])
            continue
        degrees = ", ".join(df_words(value) for value in (test.df, test.df_2) if value is not None)
        cells += [decimal(test.statistic or 0.0, 2), degrees, p_cell(test.p)]
        if line.of is None:
            cells += [NONE, NONE, NONE]
        else:
            corrected = line.of.corrected
            cells.append(
                NONE
                if corrected is None
                else two_lines(p_cell(corrected.p), f"ε = {line.of.epsilon or 0:.2f}")
            )
            cells += [_effect(line.of.partial), _effect(line.of.generalised)]
        rows.append(cells)
    heads = (
        "Term", "F", "df", "p", two_lines("p", "Greenhouse-Geisser"),
        two_lines("Partial η²", "95 % interval"), two_lines("Generalised η²", "95 % interval"),
    )  # fmt: skip
    left = f"; {count(model.n_left_out, 'participant')} left out" if model.n_left_out else ""
    remarks = f". {'; '.join(model.remarks)}" if model.remarks else ""
    caption = f"{model.name[:1].upper()}{model.name[1:]}, n = {model.n}{left}{remarks}."
    return table(heads, rows, numeric=range(1, 7), caption=caption)


def _effect(effect: Effect | None, *, named: bool = False) -> object:
    if effect is None:
        return NONE
    low, high = (NONE if end is None else decimal(end, 2) for end in (effect.low, effect.high))
    name = f"{effect.name} = " if named else ""
    return two_lines(f"{name}{decimal(effect.value, 2)}", f"{low} to {high}")


def _contrasts(analysis: Analysis) -> Html:
    rows: list[list[object]] = []
    for compared in analysis.compared:
        name = two_lines(compared.comparison.name, contrast_row(compared)["factors"])
        if compared.estimate is None:
            rows.append([name, compared.test.why, NONE, NONE, NONE, NONE, NONE, NONE])
            continue
        test = compared.test
        ends = f"{number_words(test.low or 0.0)} to {number_words(test.high or 0.0)}"
        direction = compared.comparison.direction
        sided = "" if direction == "two-sided" else direction
        degrees = "" if test.df is None else df_words(test.df)
        rows.append(
            [
                name, two_lines(number_words(compared.estimate.value), ends),
                decimal(test.statistic or 0.0, 2), degrees,
                two_lines(p_cell(test.p), sided) if sided else p_cell(test.p),
                p_cell(compared.p_corrected), _effect(compared.effect, named=True),
                _effect(compared.cohen, named=True),
            ]
        )  # fmt: skip
    tests = next((each.n_tests for each in analysis.compared if each.n_tests), 0)
    heads = (
        "Contrast", two_lines("Difference", "95 % interval"), "t", "df", "p",
        two_lines("p corrected", f"of {tests}"), two_lines("Effect", "95 % interval"),
        two_lines("Cohen's d", "95 % interval"),
    )  # fmt: skip
    unit = f" Differences are in {analysis.unit}." if analysis.transform else ""
    caption = f"Contrasts of estimated means.{unit}"
    return table(heads, rows, numeric=range(1, 8), caption=caption)


def _by_trials(model: Model) -> Html:
    rows: list[list[object]] = []
    for compared in model.compared:
        test, estimate = compared.test, compared.estimate
        if estimate is None:
            rows.append([compared.comparison.name, test.why, NONE, NONE, NONE, NONE])
            continue
        ends = f"{number_words(test.low or 0.0)} to {number_words(test.high or 0.0)}"
        odds = ratio(compared, ODDS_RATIO) if model.name == TRIALS_LOGISTIC else None
        rows.append(
            [
                compared.comparison.name, two_lines(number_words(estimate.value), ends),
                decimal(test.statistic or 0.0, 2), "" if test.df is None else df_words(test.df),
                p_cell(test.p), _effect(odds),
            ]
        )  # fmt: skip
    logs = ", in log odds" if model.name == TRIALS_LOGISTIC else ""
    heads = (
        "Contrast", two_lines("Difference", "95 % interval"), "t", "df", "p",
        two_lines("Odds ratio", "95 % interval"),
    )  # fmt: skip
    caption = f"Contrasts by {model.name}{logs}. p is not corrected."
    return table(heads, rows, numeric=range(1, 6), caption=caption)


def _equivalences(analysis: Analysis) -> Html:
    rows = []
    for compared in analysis.equivalences:
        test, p = compared.test, compared.p_corrected
        ends = f"{number_words(test.low or 0.0)} to {number_words(test.high or 0.0)}"
        rows.append(
            (
                compared.comparison.name, f"± {number_words(compared.bound or 0.0)}", ends,
                decimal(test.statistic or 0.0, 2), "" if test.df is None else df_words(test.df),
                p_cell(test.p), p_cell(p),
                "smaller" if p is not None and p < ALPHA else "not shown to be smaller",
            )
        )  # fmt: skip
    tests = next((each.n_tests for each in analysis.equivalences if each.n_tests), 0)
    heads = (
        "Contrast", "Smallest effect", two_lines("Difference", "90 % interval"), "t", "df", "p",
        two_lines("p corrected", f"of {tests}"), "The difference is",
    )  # fmt: skip
    caption = (
        "Tests of equivalence: of two one-sided tests, the one with the larger p is shown. They "
        "are corrected apart from the tests of differences."
    )
    return table(heads, rows, numeric=range(1, 7), caption=caption)


def _means(analysis: Analysis) -> Html:
    rows = []
    for mean in analysis.means:
        if mean.estimate is None:
            continue
        ((factor, levels),) = mean.comparison.weights.items()
        ends = f"{number_words(mean.test.low or 0.0)} to {number_words(mean.test.high or 0.0)}"
        where = level_words({factor: next(iter(levels))})
        own: tuple[object, ...] = ()
        if analysis.transform:
            value, low, high = (
                number_words(back(end or 0.0, analysis.transform))
                for end in (mean.estimate.value, mean.test.low, mean.test.high)
            )
            own = (two_lines(value, f"{low} to {high}"),)
        rows.append(
            (
                where,
                number_words(mean.estimate.value),
                number_words(mean.estimate.error),
                ends,
                *own,
            )
        )
    heads: list[object] = ["Level", "Estimated mean", "Standard error", "95 % interval"]
    if analysis.transform:
        heads.append(two_lines("Back-transformed", "95 % interval"))
    return table(heads, rows, numeric=range(1, len(heads)), caption="Estimated means of levels.")


def _checks(analysis: Analysis) -> Html:
    rows = []
    for name, term, test in analysis.checks:
        told = test_words(test) if test.p is not None else test.why
        rows.append((name, term_name(term) or NONE, told))
    for line in analysis.main.lines:
        if line.of is not None and line.of.sphericity is not None:
            test = line.of.sphericity
            told = test_words(test) if test.p is not None else test.why
            rows.append(("Mauchly's W, sphericity", term_name(line.term), told))
    return table(("Check", "Of", "Result"), rows, caption="Checks.")
