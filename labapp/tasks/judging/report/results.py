"""Rows of the table of statistics of judged explanations: means and tests, each with its n."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from labapp.analysis.inference import SIGNIFICANT, SMALLEST, Values, mean, sd
from labapp.analysis.statistic import Statistic

MEAN = "mean"


def of_quantity(
    study: str,
    design: str,
    item: int,
    name: str,
    unit: str,
    published: str = "",
    why: str = "",
) -> Statistic:
    """What was measured, where: a row without a number. study: its id, or several with + between
    them; name: for people; item: number in the list of analyses; published: what the paper found;
    why: what else is to be known."""
    return Statistic(
        study=study, design=design, item=str(item), quantity=name, unit=unit, published=published,
        why=why,
    )  # fmt: skip


def summary(of: Statistic, values: Values, *, ours: bool = False) -> Statistic:
    """Mean and sample standard deviation. ours: not in the paper."""
    return replace(of, test=MEAN, ours=ours, n=values.size, mean=mean(values), sd=sd(values))


def result_of(
    of: Statistic,
    values: Values,
    test: Statistic,
    *,
    ours: bool = False,
    against: float | None = None,
    other: tuple[str, Values] | None = None,
) -> Statistic:
    """A test of values, against a number or another group (its name and its values)."""
    sizes = [values.size]
    made = replace(
        test, study=of.study, design=of.design, item=of.item, quantity=of.quantity, unit=of.unit,
        published=of.published, why=of.why, ours=ours, n=values.size, mean=mean(values),
        sd=sd(values), against=against,
    )  # fmt: skip
    if other is not None:
        name, more = other
        sizes.append(more.size)
        made = replace(made, compared_with=name, n_2=more.size, mean_2=mean(more), sd_2=sd(more))
    if test.p is None:
        return made
    # As in the paper; never of fewer values than five in a group.
    return replace(made, significant=test.p < SIGNIFICANT and min(sizes) >= SMALLEST)


def of_item(rows: Sequence[Statistic], *items: int) -> list[Statistic]:
    """The rows of some items of the list of analyses."""
    return [row for row in rows if int(row.item) in items]
