"""What one group of sessions says about models: summaries, tests between models, effect sizes.

Paper 000, section 6 and Table A.3. All values are in the unit of their metric (`Metric.unit`), that
is, the column of the table times `Metric.factor`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from labapp.analysis.columns import Metric
from labapp.analysis.effects import Effect as Effect
from labapp.analysis.inference import SMALLEST, Outcome
from labapp.representations.card import dataset_of
from labapp.study.design import Missing

STARS = ((0.0001, "****"), (0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Of an uncorrected p, as in the captions of Figures 6 and A.11."""


@dataclass(frozen=True)
class Group:
    """Stages that are compared with each other: of one study and one task.

    models: ids in the order of the figures, of the least understood in the paper to the best where
    it names them (AE, VAE, IG, TC, SS, GT), else by id. within: participants met several models, so
    that tests are paired; else each participant met one. first_only: so many met another one too,
    and count with their first.
    values: one row a participant and model; columns participant, session, model, stage, one column
    a metric in the metric's unit (NaN where missing).
    trials: the questions of these stages that count, as in the table of trials. simulated: so many
    of the participants are programs. follows: the study declares the paper's analysis, so that its
    tests are made; else values are told and drawn alone. repeats: the study of the paper that is
    repeated, by the paper's name; empty for none. missing: what the study declares of what is
    missing.
    """

    study: str
    task: str
    name: str
    models: tuple[str, ...]
    within: bool
    values: pd.DataFrame
    trials: pd.DataFrame
    simulated: int = 0
    first_only: int = 0
    follows: bool = True
    repeats: str = ""
    missing: Missing = field(default_factory=Missing)

    @property
    def dataset(self) -> str:
        """The data sets of the models, as their cards have them."""
        return ", ".join(dict.fromkeys(map(dataset_of, self.models)))

    @property
    def participants(self) -> int:
        return int(self.values["participant"].nunique())


@dataclass(frozen=True, slots=True)
class Summary:
    """n values of one metric with one model. sd: of the sample (n - 1); sd_population: as the paper
    prints it (n). None where there are too few values."""

    n: int
    mean: float | None
    sd: float | None
    sd_population: float | None
    median: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models compared on one metric.

    n: pairs, or the smaller of the two groups; n_one, n_other: both of them. difference: mean of
    `model` minus mean of `other`, over the pairs where tests are paired; low, high: its 95 %
    interval. p_corrected: Bonferroni over the tests that were made. effect and robust (by ranks)
    are ours.
    """

    model: str
    other: str
    n: int
    difference: float | None
    low: float | None
    high: float | None
    outcome: Outcome
    p_corrected: float | None
    effect: Effect | None
    robust: Outcome | None
    n_one: int | None = None
    n_other: int | None = None

    @property
    def stars(self) -> str:
        """Of the uncorrected p as in the paper; none where n is below 5."""
        return stars(self.outcome.p, self.n)


@dataclass(frozen=True, slots=True)
class Omnibus:
    """The analysis of variance over all models. df_error: of the denominator; outcome.df: of the
    numerator. n: participants in it; smallest: of the smallest sample; left_out: those with a value
    who lack one with another model, and are not in it. generalised: generalised eta squared beside
    the partial one of `effect`, and robust: the test by ranks (ours)."""

    outcome: Outcome
    df_error: float | None
    n: int
    p_corrected: float | None
    effect: Effect | None
    left_out: int = 0
    generalised: float | None = None
    robust: Outcome | None = None
    smallest: int | None = None

    @property
    def stars(self) -> str:
        """Of the uncorrected p as in the paper; none where a sample has fewer than five values."""
        return stars(self.outcome.p, self.n if self.smallest is None else self.smallest)


@dataclass(frozen=True)
class Compared:
    """One metric over the models of a group. checks: the assumption checks a reviewer asks for
    (ours), by what they check; mixed: what a linear mixed model says, where data are unbalanced
    (ours). repeats: the metric of which this one is a multiple, so that its tests are the same
    tests again and are not counted."""

    metric: Metric
    summaries: Mapping[str, Summary]
    omnibus: Omnibus | None
    pairs: tuple[Pair, ...]
    checks: Mapping[str, Outcome]
    mixed: Outcome | None
    repeats: str = ""

    @property
    def tests(self) -> tuple[Outcome, ...]:
        """The analysis of variance and the t tests that have a p, as the paper counts them; none
        of a metric that repeats another."""
        if self.repeats:
            return ()
        made = [pair.outcome for pair in self.pairs]
        if self.omnibus is not None:
            made.insert(0, self.omnibus.outcome)
        return tuple(test for test in made if test.p is not None)

    def pair(self, text: str, other: str) -> Pair | None:
        """The test of two models, whichever stands first; None where none was made."""
        return next((p for p in self.pairs if {p.model, p.other} == {text, other}), None)


@dataclass(frozen=True)
class Found:
    """Everything of one group. n_tests: tests made over all groups of an analysis, over which
    Bonferroni corrects; threshold: .05 / n_tests."""

    group: Group
    compared: tuple[Compared, ...]
    n_tests: int

    @property
    def threshold(self) -> float:
        return 0.05 / self.n_tests if self.n_tests else 0.05


def stars(p: float | None, n: int) -> str:
    """Stars of a p; none without p or with fewer than five values."""
    if p is None or n < SMALLEST:
        return ""
    return next((shown for limit, shown in STARS if p < limit), "")
