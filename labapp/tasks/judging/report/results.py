"""A number of the analysis of judged explanations, with its n: a row of the table of statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from labapp.analysis.inference import SIGNIFICANT, SMALLEST, Outcome, Values, mean, sd

MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Quantity:
    """What was measured, where. study: its id, or several with + between them; name: for people;
    item: number in the list of analyses; published: what the paper found; why: what else is to be
    known."""

    study: str
    design: str
    item: int
    name: str
    unit: str
    published: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A mean, or a test; see `labapp.analysis.analyze.STATISTICS`. ours: not in the
    paper."""

    of: Quantity
    test: str
    ours: bool
    n: int
    mean: float | None
    sd: float | None
    compared_with: str | None = None
    n_2: int | None = None
    mean_2: float | None = None
    sd_2: float | None = None
    against: float | None = None
    statistic: float | None = None
    df: float | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def significant(self) -> bool | None:
        """p < .001 as in the paper; never of fewer values than five in a group; None without p."""
        if self.p is None:
            return None
        smallest = self.n if self.n_2 is None else min(self.n, self.n_2)
        return self.p < SIGNIFICANT and smallest >= SMALLEST

    def row(self) -> dict[str, Any]:
        """The columns of the table of statistics."""
        of = self.of
        own = [field.name for field in fields(self) if field.name != "of"]
        return {
            "study": of.study,
            "design": of.design,
            "item": str(of.item),
            "quantity": of.name,
            "unit": of.unit,
            "published": of.published or None,
            "why": of.why or None,
            "significant": self.significant,
            **{name: getattr(self, name) for name in own},
        }


def summary(of: Quantity, values: Values, *, ours: bool = False) -> Result:
    """Mean and sample standard deviation."""
    return Result(of, MEAN, ours, values.size, mean(values), sd(values))


def result_of(
    of: Quantity,
    values: Values,
    outcome: Outcome,
    *,
    ours: bool = False,
    against: float | None = None,
    other: tuple[str, Values] | None = None,
) -> Result:
    """A test of values, against a number or another group (its name and its values)."""
    made = replace(
        summary(of, values, ours=ours),
        test=outcome.test,
        against=against,
        statistic=outcome.statistic,
        df=outcome.df,
        p=outcome.p,
        low=outcome.low,
        high=outcome.high,
    )
    if other is None:
        return made
    name, more = other
    return replace(made, compared_with=name, n_2=more.size, mean_2=mean(more), sd_2=sd(more))


def of_item(results: Sequence[Result], *items: int) -> list[Result]:
    return [result for result in results if result.of.item in items]
