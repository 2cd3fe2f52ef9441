"""The report's section on forecasts of withheld answers: the declared tests, and the models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from labapp.analysis.bootstrap import Float64, interval, weights
from labapp.analysis.statistic import Statistic
from labapp.analysis.task_report import HypothesisResult
from labapp.base.report.listing import NONE, number_words, p_cell, records, sentence
from labapp.base.report.page import Html, Verbatim, decimal, heading, paragraph, table, two_lines
from labapp.tasks.concept_repair.report.forecasts import (
    FOLLOWS,
    LEAK_RATE,
    LEAKS,
    NATURAL,
    PURITY,
    PURITY_SD,
    RATES,
    RELIABLE,
    SENSITIVITY,
    SMALLEST,
    STAYS,
    TRUST,
    Forecasts,
)

OUTCOMES = {
    SENSITIVITY: "Sensitivity to leaks (C against B)",
    TRUST: "Trust in the rule card (A and B)",
    NATURAL: "Gain over the rule card, natural rates",
}
TYPES = {
    FOLLOWS: "A: the card says that the answer moves, and it moves",
    STAYS: "B: the card says that the answer stays, and it stays",
    LEAKS: "C: the card says that the answer stays, and it moves",
}
PREDICTED = {PURITY: "OIS, common coordinates", LEAK_RATE: "leak rate"}
FORECAST_METHODS = (
    "Participants first saw a model's answers to some changes (exposure), and then forecast "
    "answers that were withheld (test). In the test every model had the same numbers of three "
    "types of changes: the rule card says that the answer moves, and it moves (A); the card says "
    "that it stays, and it stays (B); the card says that it stays, and it moves (C). Pictures and "
    "changes were drawn before anyone took part. Sensitivity to leaks is d' for forecasts that the "
    "answer moves, comparing C with B. Trust in the rule card is the log odds of correct forecasts "
    "in A and B. Half a trial is added to each count. A linear mixed model, with models and their "
    "order as fixed effects and an intercept for each participant, estimates each model's value. "
    "These estimates are regressed on the predictor, in standard deviations over the models, with "
    "two degrees of freedom fewer than there are models. OIS is the mean over several metric "
    "seeds. Holm's correction covers the primary tests. A slope counts as too small to matter if "
    f"its 90 % interval lies within {SMALLEST[SENSITIVITY]:g} d' or {SMALLEST[TRUST]:g} log odds. "
    "Everything that the study did not declare is exploratory."
)


def of_forecasts(forecasts: Forecasts) -> Iterator[Html]:
    """The declared tests, and what is known of the models and of forecasts of them."""
    yield heading(3, "Declared tests of forecasts")
    if forecasts.declared:
        yield _tests(forecasts)
    else:
        yield paragraph(
            "The study declares no tests of forecasts, so all analyses of them are exploratory.",
            "note",
        )
    yield _reliability(forecasts)
    yield _models(forecasts)


def _tests(forecasts: Forecasts) -> Html:
    rows = []
    for number, (hypothesis, made, equal) in enumerate(forecasts.results(), start=1):
        what = OUTCOMES[made.quantity]
        by = PREDICTED.get(made.compared_with, made.compared_with.replace("_", " "))
        p = [p_cell(made.p)]
        p += [p_cell(made.p_corrected)] if made.p_corrected is not None else []
        rows.append(
            (
                str(number),
                two_lines(f"{what} by {by}", f"{hypothesis.role}, {hypothesis.test}"),
                NONE
                if made.difference is None
                else two_lines(number_words(made.difference), made.unit),
                NONE if made.low is None else two_lines(_ends(made), "95 %"),
                (made.why or NONE)
                if made.statistic is None
                else two_lines(decimal(made.statistic, 2), f"df = {decimal(made.df or 0, 0)}"),
                two_lines(*p) if len(p) > 1 else p[0],
                NONE if equal is None else two_lines(_ends(equal), _within(equal)),
            )
        )
    return table(
        ("", "Test", "Slope", "Interval", "t", "p", "Equivalence"),
        rows,
        numeric=(2, 3, 4, 5),
        caption="Exactly the tests that the study file declares, in its order; all are "
        "two-sided. Below the p of a primary test is p with Holm's correction over the primary "
        "tests; p of secondary tests is not corrected. Equivalence: the 90 % interval, and "
        "whether it lies within the smallest slope that matters.",
    )


def _within(equal: Statistic) -> str:
    bound = equal.bound or 0.0
    return f"within ± {bound:g}" if _is_small(equal) else f"not within ± {bound:g}"


def _is_small(equal: Statistic) -> bool:
    """Whether the interval lies within the smallest slope that matters."""
    low, high, bound = equal.low, equal.high, equal.bound or 0.0
    return low is not None and high is not None and -bound < low and high < bound


def _reliability(forecasts: Forecasts) -> Html:
    reliability = forecasts.reliability
    if reliability is None:
        text = (
            "The stimulus sets do not give OIS for each metric seed, so its reliability is not "
            "known."
        )
        return paragraph(text, "note")
    text = (
        f"Reliability of OIS in common coordinates over {len(forecasts.models)} models: "
        f"{decimal(reliability, 3)}. This is the variance between models, divided by the sum of "
        "that variance and the variance of a mean over metric seeds."
    )
    if reliability < RELIABLE:
        text += f" Below {RELIABLE:g}: OIS does not distinguish these models well enough."
    return paragraph(text)


def _models(forecasts: Forecasts) -> Html:
    """One row per model: what its set says about it, and what people forecast."""
    people = forecasts.people.groupby("at")
    rows = []
    for model in records(forecasts.models):
        own = people.get_group(model["at"]) if model["at"] in people.groups else pd.DataFrame()
        cells: list[object] = [Verbatim(model["name"])]
        purity, sd = model.get(PURITY), model.get(PURITY_SD)
        cells.append(
            NONE
            if purity is None
            else two_lines(decimal(purity, 3), NONE if sd is None else f"SD {decimal(sd, 4)}")
        )
        right = (f"{decimal(model[name], 1)} %" for name in ("task_accuracy", "concept_accuracy"))
        cells.append(two_lines(*right))
        cells.append(_share(model.get(LEAK_RATE)))
        counts = [model.get(f"pictures_{kind}") for kind in RATES]
        cells.append(" / ".join(NONE if n is None else f"{n:g}" for n in counts))
        cells.append(str(len(own)))
        cells += [_mean(own, name) for name in (SENSITIVITY, TRUST)]
        natural = [_mean(own, f"natural_{name}", 100) for name in ("right", "card", "same")]
        cells.append(" / ".join(natural))
        rows.append(cells)
    columns: tuple[object, ...] = (
        "Model",
        two_lines("OIS, common", "SD over metric seeds"),
        two_lines("Class accuracy", "concepts"),
        two_lines("Leaks", "where the card says stays"),
        two_lines("Pictures", "A / B / C"),
        "n",
        two_lines("Sensitivity", "d'"),
        two_lines("Trust", "log odds"),
        two_lines("Natural rates, %", "people / card / same"),
    )
    return table(
        columns,
        rows,
        numeric=range(1, len(columns)),
        caption="Columns up to Pictures come from the stimulus sets, over all test pictures. "
        "Columns from n on are means over participants. Natural rates: share of correct "
        "forecasts, with each type weighted by how often it occurs in the model, then the shares "
        "reached by reading the rule card and by always forecasting the same answer.",
    )


def by_type(forecasts: Forecasts) -> Html:
    """A row a type of changes: how often people forecast that the answer moves, and correctly."""
    rows = []
    for kind, words in TYPES.items():
        own = forecasts.people[forecasts.people[f"n_{kind}"] > 0]
        counts = own.groupby("person")[[f"{name}_{kind}" for name in ("n", "moved", "right")]].sum()
        n, moved, right = (counts[name].to_numpy(np.float64) for name in counts)
        cells = [_with_interval(100 * some / n) for some in (moved, right)]
        rows.append((words, f"{n.sum():,.0f}", *cells))
    return table(
        (
            "Type of change",
            "Forecasts",
            two_lines("Forecast to move, %", "95 % interval"),
            two_lines("Forecast correctly, %", "95 % interval"),
        ),
        rows,
        numeric=(1, 2, 3),
        caption="Forecasts of withheld answers, all models together: means over participants, with "
        "percentile bootstraps over participants. In every model, always forecasting the same "
        "answer is right in B alone, and reading the rule card in A and B.",
    )


def _with_interval(values: Float64) -> object:
    if not values.size:
        return NONE
    drawing = weights(values.size)
    drawn = drawing @ values / values.size if values.size > 1 else np.empty(0)
    ends = interval(float(values.mean()), drawn)
    known = np.isfinite([ends.low, ends.high]).all()
    low, high = float(ends.low), float(ends.high)
    below = f"{decimal(low, 1)} to {decimal(high, 1)}" if known else NONE
    return two_lines(decimal(float(values.mean()), 1), below)


def declared_rows(forecasts: Forecasts) -> list[Statistic]:
    """The rows of the table of statistics: each declared test, and that of equivalence."""
    return [
        replace(
            row,
            item=f"4 {hypothesis.test}",
            role=hypothesis.role,
            group="withheld",
            mean=row.difference,
        )
        for hypothesis, made, equal in forecasts.results()
        for row in filter(None, (made, equal))
    ]


def hypothesis_results(forecasts: Forecasts) -> Iterator[HypothesisResult]:
    """Each declared hypothesis, for the summary."""
    for hypothesis, made, equal in forecasts.results():
        p = made.p if made.p_corrected is None else made.p_corrected
        words = sentence(
            "design.slope", row=made, equal=equal, small=equal is not None and _is_small(equal)
        )
        yield HypothesisResult(hypothesis, p, words)


def _share(value: float | None) -> object:
    return NONE if value is None else f"{decimal(100 * value, 1)} %"


def _mean(own: pd.DataFrame, name: str, factor: float = 1.0) -> str:
    if own.empty or name not in own or own[name].isna().all():
        return "–"
    return decimal(factor * float(own[name].mean()), 0 if factor > 1 else 2)


def _ends(row: Statistic) -> str:
    return f"{number_words(row.low or 0)} to {number_words(row.high or 0)}"
