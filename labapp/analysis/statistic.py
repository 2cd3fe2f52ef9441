"""A row of the table of statistics: one number of an analysis with its n, or exactly one test.

The table is the only place where a statistic, its interval and its p are put together: pages, files
and figures select rows of it. So they can never come from different tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from labapp.analysis.column import Column, Kind

KINDS: dict[str, Kind] = {
    "str": "text", "int | None": "integer", "float | None": "number", "bool | None": "boolean",
}  # fmt: skip


def _text(meaning: str) -> Any:
    return field(default="", metadata={"meaning": meaning})


def _cell(meaning: str, unit: str = "") -> Any:
    return field(default=None, metadata={"meaning": meaning, "unit": unit})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A row of the table; what does not apply is empty. Each field is a column, with its meaning
    and unit. A row with a p is one test: its statistic, degrees of freedom, estimate and interval
    are those of that test."""

    study: str = _text(
        "id of the study; several with + between them where they are compared or pooled"
    )
    design: str = _text(
        "of analyses by the design its factors; of judged explanations method, task and labels, as "
        "the published studies are told apart; of masked pictures the name of the task; of models "
        "that are compared within participants, each of whom met several, or between participants"
    )
    item: str = _text(
        "what it belongs to. Judged explanations: by the list of analyses, 1 accuracy to 12 forced "
        "score and 13 confidence in the own answers. Masked pictures: 1, 2 tables and 3 to 9 "
        "figures of the paper, 10 psychometric functions, 11 tests between methods, 12 the mixed "
        "logistic model. Models: 1 values, 2 analyses of variance, 3 pairs of models, 4 checks of "
        "what they assume, 5 mixed models. Repaired concepts: 1 means by model, 2 correlations with"
        " measures of the models, 3 the hypotheses. Empty of analyses by the design: see kind"
    )
    analysis: int | None = _cell(
        "of analyses by the design: number of the outcome's analysis, from 1"
    )
    kind: str = _text(
        "of analyses by the design: values of a cell, test of a term, estimated mean, back-"
        "transformed (the estimated mean in the outcome's own unit), contrast, effect (Cohen's d of"
        " a contrast, and of logarithms the ratio), equivalence, check, sensitivity (the same asked"
        " in another way), further (a test that the study chose beside these), without exclusions "
        "(the same test of all sessions; model_name is its kind), passed the manipulation check "
        "(the same test of those who did; model_name is its kind), correlation (of two outcomes), "
        "answers by condition (a manipulation check), or left out and why"
    )
    role: str = _text(
        "of analyses by the design: whether the outcome is primary, secondary or a manipulation "
        "check"
    )
    transform: str = _text("what was done to the values before tests: log, sqrt or logit")
    factors: str = _text("of analyses by the design: the term, factors with × between them")
    levels: str = _text("of analyses by the design: the levels of the cell or mean")
    contrast: str = _text("name of the contrast: what is compared")
    direction: str = _text(
        "of a contrast: two-sided, greater or less (then p is one-sided); of tests of equivalence "
        "equivalent (then statistic, df and p are those of two one-sided tests)"
    )
    family: str = _text(
        "over the tests of what p is corrected, and how; of contrasts, whether these are tests of "
        "differences or of equivalence, which are never corrected together"
    )
    model_name: str = _text("of analyses by the design: the statistical model that the test is of")
    group: str = _text(
        "of models: task, data set and, where needed, models that are compared; of repaired "
        "concepts the sample of pictures"
    )
    quantity: str = _text(
        "what was measured; of models a column of the table stages or a score's name"
    )
    method: str = _text("of masked pictures: id of the explanation method; empty where all count")
    model: str = _text("id of the model; of a test of a pair the first one; empty where all count")
    percent: float | None = _cell(
        "of masked pictures: share of the pixels shown; empty where all count",
        "%",
    )
    unit: str = _text("its unit")
    test: str = _text("mean, another measure (share, median), or the name of the test or interval")
    ours: bool | None = _cell("not among the analyses of the paper")
    n: int | None = _cell(
        "values: of masked pictures annotations, or images where no participant is asked; of models"
        " participants, in a paired test pairs"
    )
    n_participants: int | None = _cell(
        "of masked pictures: the participants whose annotations they are"
    )
    n_left_out: int | None = _cell(
        "of models within participants: those who lack a value with a model and are not in the "
        "analysis of variance"
    )
    mean: float | None = _cell("their mean, share or median, or what was fitted")
    median: float | None = _cell("their median, where that is beside the mean")
    sd: float | None = _cell(
        "their sample standard deviation (n - 1); of a mixed model the posterior sd"
    )
    sd_population: float | None = _cell(
        "of models: their standard deviation as paper 000 prints it (n)"
    )
    compared_with: str = _text("the other group, method or model")
    n_2: int | None = _cell("values of the other group")
    mean_2: float | None = _cell("their mean")
    sd_2: float | None = _cell("their sample standard deviation")
    difference: float | None = _cell(
        "mean of the first minus mean of the other, of pairs if paired, or minus the value tested "
        "against; of a contrast its value; of a slope the slope"
    )
    standard_error: float | None = _cell("of the difference, slope or estimated mean")
    bound: float | None = _cell("of a test of equivalence: the smallest difference that matters")
    epsilon: float | None = _cell(
        "Greenhouse and Geisser's, by which degrees of freedom were multiplied"
    )
    against: float | None = _cell("the value tested against")
    statistic: float | None = _cell(
        "t, r, rho, tau, W, U, H, F, chi-square or a Bayes factor; empty where it has no value"
    )
    df: float | None = _cell("degrees of freedom of t or chi-square, or of the numerator of F")
    df_2: float | None = _cell("degrees of freedom of the denominator of F")
    p: float | None = _cell("two-sided p, unless direction says otherwise; never corrected")
    p_corrected: float | None = _cell(
        "of models: p times n_tests (Bonferroni), at most 1; of all others as family says"
    )
    n_tests: int | None = _cell("tests over which p is corrected; of models all that are counted")
    counted: bool | None = _cell(
        "of models: one of the n_tests. They are the analyses of variance and t tests that have a "
        "p; an error summed over the pixels and its mean over them count once"
    )
    stars: str = _text(
        "of models: **** p < .0001, *** p < .001, ** p < .01, * p < .05, of the p that is not "
        "corrected, as in the paper; none where n is below 5"
    )
    significant: bool | None = _cell(
        "n of at least 5 in every group, and p < .001 as in the paper of judged explanations; of "
        "masked pictures, whose paper names no level, p < .05 with Holm's correction; of models p <"
        " .05 with Bonferroni's; of contrasts and of hypothesis H1 of repaired concepts "
        "p_corrected < .05"
    )
    low: float | None = _cell(
        "lower end of a 95 % interval, of a test of equivalence of a 90 % one: of the "
        "difference where there is one; of masked pictures by bootstrap over participants, or over "
        "images where no participant is asked"
    )
    high: float | None = _cell("upper end of that interval")
    effect_name: str = _text("of models: which standardised effect (ours)")
    effect: float | None = _cell("its value")
    effect_low: float | None = _cell(
        "lower end of its interval: of 95 % by noncentral t, of eta squared of 90 % by noncentral F"
    )
    effect_high: float | None = _cell("upper end of that interval")
    why: str = _text(
        "of models: why there is no value, or what else is to be known; of judged explanations: how"
        " long they are beside the paper's"
    )
    published: str = _text("the paper's value")

    def row(self) -> dict[str, Any]:
        """The cells by column, None where a text is empty."""
        made = {name: getattr(self, name) for name in NAMES}
        return {name: None if value == "" else value for name, value in made.items()}


def select(rows: Iterable[Statistic], **cells: object) -> list[Statistic]:
    """The rows that have these cells."""
    return [
        row for row in rows if all(getattr(row, name) == value for name, value in cells.items())
    ]


STATISTICS = tuple(
    Column(
        each.name, KINDS[str(each.type)], each.metadata["meaning"], each.metadata.get("unit", "")
    )
    for each in fields(Statistic)
)
NAMES = tuple(column.name for column in STATISTICS)
