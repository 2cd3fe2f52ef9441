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
        "id of the study; if several are compared or pooled, their ids, separated by +"
    )
    design: str = _text(
        "for analyses according to the design: its factors; for judged explanations: method, task "
        "and labels, which distinguish the published studies; for masked pictures: the name of the "
        "task; for models: whether they are compared within or between participants"
    )
    item: str = _text(
        "what it belongs to. Judged explanations: number in the list of analyses, from 1 (accuracy)"
        " to 12 (forced score) and 13 (confidence in one's own answers). Masked pictures: 1, 2 "
        "tables and 3 to 9 figures of the paper, 10 psychometric functions, 11 tests between "
        "methods, 12 the mixed logistic model. Models: 1 values, 2 analyses of variance, 3 pairs of"
        " models, 4 checks of their assumptions, 5 mixed models. Repaired concepts: 1 means by "
        "model, 2 correlations with measures of the models, 3 the hypotheses. Empty for analyses "
        "according to the design, for which see kind"
    )
    analysis: int | None = _cell(
        "for analyses according to the design: number of the outcome's analysis, from 1"
    )
    kind: str = _text(
        "for analyses according to the design: values of a cell, test of a term, estimated mean, "
        "back-transformed (the estimated mean in the outcome's own unit), contrast, effect (Cohen's"
        " d of a contrast; for logarithms, the ratio), equivalence, check, sensitivity (the same "
        "question, analysed differently), further (an additional test that the study chose), "
        "without exclusions (the same test with all sessions; its kind is in model_name), passed "
        "the manipulation check (the same test with only those who did; its kind is in model_name),"
        " correlation (of two outcomes), answers by condition (a manipulation check), or the reason"
        " why it was left out"
    )
    role: str = _text(
        "for analyses according to the design: whether the outcome is primary, secondary or a "
        "manipulation check"
    )
    transform: str = _text("what was done to the values before tests: log, sqrt or logit")
    factors: str = _text("for analyses according to the design: the term; factors are joined by ×")
    levels: str = _text("for analyses according to the design: the levels of the cell or mean")
    contrast: str = _text("name of the contrast: what is compared")
    direction: str = _text(
        "for contrasts: two-sided, greater or less (p is then one-sided); for tests of equivalence:"
        " equivalent (statistic, df and p are then those of two one-sided tests)"
    )
    family: str = _text(
        "the family of tests over which p is corrected, and the method; for contrasts, also whether"
        " they test differences or equivalence, which are never corrected together"
    )
    model_name: str = _text(
        "for analyses according to the design: the statistical model that is tested"
    )
    group: str = _text(
        "for models: task, data set and, if needed, the models that are compared; for repaired "
        "concepts: the sample of pictures"
    )
    quantity: str = _text(
        "what was measured; for models: a column of the table stages, or the name of a score"
    )
    method: str = _text(
        "for masked pictures: id of the explanation method; empty if all are included"
    )
    model: str = _text("id of the model; for a pair, of the first; empty if all are included")
    percent: float | None = _cell(
        "for masked pictures: share of the pixels shown; empty if all are included", "%"
    )
    unit: str = _text("unit of the quantity")
    test: str = _text("mean, another measure (share, median), or the name of the test or interval")
    ours: bool | None = _cell("whether this analysis is ours, i.e. not in the paper")
    n: int | None = _cell(
        "number of values: for masked pictures, annotations (or images, if no participant is "
        "asked); for models, participants (or pairs, in a paired test)"
    )
    n_participants: int | None = _cell(
        "for masked pictures: number of participants who made the annotations"
    )
    n_left_out: int | None = _cell(
        "for models within participants: people who lack a value for a model, and are therefore not"
        " in the analysis of variance"
    )
    mean: float | None = _cell("mean, share or median of the values, or what was fitted")
    median: float | None = _cell("median of the values, if it is reported in addition to the mean")
    sd: float | None = _cell(
        "sample standard deviation of the values (n - 1); for a mixed model, the posterior sd"
    )
    sd_population: float | None = _cell(
        "for models: standard deviation of the values, as in paper 000 (n)"
    )
    compared_with: str = _text("the other group, method or model")
    n_2: int | None = _cell("number of values of the other group")
    mean_2: float | None = _cell("mean of the other group")
    sd_2: float | None = _cell("sample standard deviation of the other group")
    difference: float | None = _cell(
        "mean of the first group minus mean of the other (of pairs, in a paired test) or minus the "
        "value tested against; the value of a contrast; the slope"
    )
    standard_error: float | None = _cell(
        "standard error of the difference, slope or estimated mean"
    )
    bound: float | None = _cell("for tests of equivalence: the smallest difference that matters")
    epsilon: float | None = _cell(
        "Greenhouse and Geisser's epsilon, by which degrees of freedom were multiplied"
    )
    against: float | None = _cell("the value tested against")
    statistic: float | None = _cell(
        "t, r, rho, tau, W, U, H, F, chi-square or a Bayes factor; empty if it is undefined"
    )
    df: float | None = _cell("degrees of freedom of t or chi-square, or of the numerator of F")
    df_2: float | None = _cell("degrees of freedom of the denominator of F")
    p: float | None = _cell("two-sided p, unless direction says otherwise; never corrected")
    p_corrected: float | None = _cell(
        "for models: p times n_tests (Bonferroni), at most 1; for all others, see family"
    )
    n_tests: int | None = _cell(
        "number of tests over which p is corrected; for models, all counted tests"
    )
    counted: bool | None = _cell(
        "for models: one of the n_tests, i.e. the analyses of variance and t tests that have a p; "
        "an error summed over the pixels and its mean over them count as one test"
    )
    stars: str = _text(
        "for models: **** p < .0001, *** p < .001, ** p < .01, * p < .05, based on the uncorrected "
        "p, as in the paper; none if n is below 5"
    )
    significant: bool | None = _cell(
        "n of at least 5 in every group, and for judged explanations p < .001, as in the paper; for"
        " masked pictures, for which the paper gives no level, p < .05 with Holm's correction; for "
        "models p < .05 with Bonferroni's; for contrasts and for hypothesis H1 of repaired concepts"
        " p_corrected < .05"
    )
    low: float | None = _cell(
        "lower end of a 95 % interval (90 % for tests of equivalence): of the difference, if there "
        "is one; for masked pictures, by bootstrap over participants, or over images if no "
        "participant is asked"
    )
    high: float | None = _cell("upper end of that interval")
    effect_name: str = _text("for models: which standardised effect size is given (ours)")
    effect: float | None = _cell("value of the effect size")
    effect_low: float | None = _cell(
        "lower end of its interval: 95 % by noncentral t; for eta squared, 90 % by noncentral F"
    )
    effect_high: float | None = _cell("upper end of that interval")
    why: str = _text(
        "for models: why there is no value, or another remark; for judged explanations: their "
        "length compared with the paper's"
    )
    published: str = _text("the paper's value")

    def row(self) -> dict[str, Any]:
        """The cells by column, None if a text is empty."""
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
