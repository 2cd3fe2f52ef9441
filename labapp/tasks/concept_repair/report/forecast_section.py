"""The report's section on forecasts of withheld answers: the declared tests, and the models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from labapp.analysis.statistic import Statistic
from labapp.analysis.task_report import HypothesisResult
from labapp.base.report.listing import NONE, records, sentence
from labapp.base.report.page import (
    Html,
    Verbatim,
    decimal,
    heading,
    paragraph,
    table,
    two_lines,
)
from labapp.tasks.concept_repair.report.forecasts import (
    LEAK_RATE,
    NATURAL,
    PURITY,
    PURITY_SD,
    RATES,
    RELIABLE,
    SENSITIVITY,
    SMALLEST,
    TRUST,
    Forecasts,
)

OUTCOMES = {
    SENSITIVITY: "Sensitivity to leaks (C against B)",
    TRUST: "Trust in the rule card (A and B)",
    NATURAL: "Gain over the rule card, natural rates",
}
PREDICTED = {PURITY: "OIS, common coordinates", LEAK_RATE: "leak rate"}
FORECAST_METHODS = (
    "Participants saw the pictures of their stimulus sets as the models saw them, enlarged. "
    "After a phase in which a model's answers were shown, they forecast answers that were "
    "withheld, with equal numbers of three types of changes for every model. The rule card says "
    "that the answer changes, and it does (A); it says that the answer stays, and it does (B); "
    "it says that the answer stays, but it changes (C). Pictures and changes were drawn before "
    "anybody took part. Sensitivity to leaks is d' of forecasts that the answer changes, in C "
    "against B; trust is the log odds of right forecasts in A and B; half a trial is added to "
    "each count. A linear mixed model with models and their order as fixed effects and a random "
    "intercept for each participant gives an estimate for each model. These estimates are "
    "regressed on the predictor, in standard deviations of the models, with the number of "
    "models minus two as degrees of freedom. OIS is the mean of several metric seeds. Holm's "
    "correction covers the primary tests; a slope is too small to matter if its 90 % interval "
    f"lies within {SMALLEST[SENSITIVITY]:g} d' or {SMALLEST[TRUST]:g} log odds. What the study "
    "did not declare is exploratory."
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
        p = [_p(made.p)] + ([_p(made.p_corrected)] if made.p_corrected is not None else [])
        rows.append(
            (
                str(number),
                two_lines(f"{what} by {by}", f"{hypothesis.role}, {hypothesis.test}"),
                NONE
                if made.difference is None
                else two_lines(decimal(made.difference, 3), made.unit),
                NONE if made.low is None else two_lines(_ends(made), "95 %"),
                NONE
                if made.statistic is None
                else f"t({decimal(made.df or 0, 0)}) = {decimal(made.statistic, 2)}",
                two_lines(*p) if len(p) > 1 else p[0],
                NONE if equal is None else two_lines(_ends(equal), _within(equal)),
                made.why or NONE,
            )
        )
    return table(
        ("", "Test", "Slope", "Interval", "Statistic", "p", "Equivalence", "Remark"),
        rows,
        numeric=(2, 3, 4, 5),
        caption="Exactly the tests that the study file declares, in its order; all are "
        "two-sided. For primary tests, p with Holm's correction over the primary tests is below "
        "p. Equivalence: the 90 % interval, and whether it lies within the smallest slope that "
        "matters.",
    )


def _within(equal: Statistic) -> str:
    low, high, bound = equal.low, equal.high, equal.bound or 0.0
    inside = low is not None and high is not None and -bound < low and high < bound
    return f"within ± {bound:g}" if inside else f"not within ± {bound:g}"


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
        f"{decimal(reliability, 3)} (variance between models / sum of this variance and that of "
        "the mean over metric seeds)."
    )
    if reliability < RELIABLE:
        text += f" Below {RELIABLE:g}: OIS does not distinguish these models well enough."
    return paragraph(text)


def _models(forecasts: Forecasts) -> Html:
    """A row a model: what its set says about it, and what people forecast."""
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
        cells += [f"{decimal(model[name], 1)} %" for name in ("task_accuracy", "concept_accuracy")]
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
        two_lines("Task", "accuracy"),
        two_lines("Concepts", "accuracy"),
        two_lines("Leaks", "of changes for which the card says “stays”"),
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
        caption="Left: what the stimulus sets say, over all test pictures; right: means over "
        "participants. Natural rates: share of right forecasts, with the three types "
        "weighted by how often they occur in the model; next to them, the scores for "
        "reading the rule card and for always forecasting the same answer.",
    )


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
    for hypothesis, made, _ in forecasts.results():
        p = made.p if made.p_corrected is None else made.p_corrected
        yield HypothesisResult(hypothesis, p, sentence("design.slope", row=made))


def _share(value: float | None) -> object:
    return NONE if value is None else f"{decimal(100 * value, 1)} %"


def _mean(own: pd.DataFrame, name: str, factor: float = 1.0) -> str:
    if own.empty or name not in own or own[name].isna().all():
        return "–"
    return decimal(factor * float(own[name].mean()), 0 if factor > 1 else 2)


def _p(p: float | None) -> str:
    return str(NONE) if p is None else "< .001" if p < 0.001 else decimal(p, 3)


def _ends(row: Statistic) -> str:
    return f"{decimal(row.low or 0, 2)} to {decimal(row.high or 0, 2)}"
