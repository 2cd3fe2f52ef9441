"""Reliability of the scales of questionnaires: alpha and omega, and each item's part in them.

Each scale of each version of a questionnaire stands by itself. Where people answered it several
times, each occasion does: answers of one person at several times are not of several people. An
occasion is what was asked about, by model and the design's factors within participants (and by
session where people come again), and the first, second … time that a person met it.

How well the items of a scale go together: Cronbach's alpha, and McDonald's omega total. All items
count the same way round already. Rows are people who answered all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from labapp.analysis.column import number, text, whole, yes
from labapp.analysis.declared import Declaration, factor_column
from labapp.analysis.inference import SMALLEST
from labapp.analysis.questionnaires import INSTRUMENT
from labapp.analysis.tables import Tables
from labapp.analysis.task_records import Row
from labapp.study.design import MODEL, SESSION

RELIABILITY_TABLE = "reliability"
RELIABILITY = (
    *INSTRUMENT,
    text("score", "name of the score"),
    text("occasion", "when it was answered, if people answered it several times; otherwise empty"),
    text("item", "id of the item; empty in the row of the whole scale"),
    yes("reversed", "for an item: it is reverse-scored"),
    whole("n_items", "items of the scale"),
    whole(
        "n",
        "people who answered all of them; alpha, omega and the items' numbers are based on them",
    ),
    whole("n_incomplete", "people who answered some of them"),
    whole("n_unscored", "people who answered too few of them for a score"),
    number("mean", "mean of their scores, or of the answers to the item as given"),
    number("sd", "its sample standard deviation (n - 1)"),
    number("alpha", "Cronbach's alpha; for an item: that of the scale without it"),
    number("low", "lower end of alpha's 95 % interval (Feldt)"),
    number("high", "upper end of that interval"),
    number("omega", "McDonald's omega total, from one factor by maximum likelihood"),
    number("loading", "for an item: its standardised loading on that factor"),
    number("item_rest", "for an item: correlation with the sum of the others"),
    text("why", "why there is no alpha"),
    text("omega_why", "why there is no omega, or a remark on it"),
)
"""One row per scale and occasion, and one each of its items."""
TWO_DEFINITIONS = "sessions with this version of the questionnaire declare it differently"


@dataclass(frozen=True, eq=False)
class Reliability:
    """One scale on one occasion.

    Attributes
    ----------
    about : study, instrument, instrument_version and score.
    occasion : empty if everybody answered once.
    cells : the columns of the table of answers that tell occasions apart.
    items : the scale's rows of the table of scales.
    answers : one row per person and one column per item, as answered; NaN if an answer is missing.
    why : why nothing is worked out; else empty.
    """

    about: Mapping[str, object]
    occasion: str
    cells: tuple[str, ...]
    items: pd.DataFrame
    answers: pd.DataFrame
    why: str = ""

    @property
    def complete(self) -> pd.DataFrame:
        """The people who answered all items."""
        return self.answers.dropna()

    @property
    def n_incomplete(self) -> int:
        """How many answered some of the items."""
        return len(self.answers) - len(self.complete)

    @property
    def n_unscored(self) -> int:
        """How many answered too few of them for a score."""
        return int((self.answers.notna().sum(axis=1) < int(self.items["enough"].iloc[0])).sum())

    @cached_property
    def counted(self) -> Matrix:
        """The complete answers as they count."""
        ends = (self.items["low"] + self.items["high"]).to_numpy(dtype=float)
        turned = self.items["reversed"].to_numpy(dtype=bool)
        given = self.complete.to_numpy(dtype=float)
        return np.asarray(np.where(turned, ends - given, given), dtype=np.float64)

    @cached_property
    def alpha(self) -> CronbachAlpha:
        return CronbachAlpha(why=self.why) if self.why else alpha(self.counted)

    @cached_property
    def omega(self) -> Omega:
        return Omega(why=self.why) if self.why else omega(self.counted)

    @cached_property
    def item_numbers(self) -> list[Row]:
        """By item: mean, sd, alpha (without it), item_rest, loading."""
        known = not self.why and len(self.complete) > 0
        without = alphas_if_dropped(self.counted) if known else []
        rest = item_rest(self.counted) if known else []
        rows = []
        for at, row in enumerate(self.items.itertuples()):
            values = self.complete[row.item] if known else pd.Series(dtype=float)
            rows.append(
                {
                    "item": str(row.item),
                    "reversed": bool(row.reversed),
                    "n": len(values),
                    "mean": float(values.mean()) if len(values) else None,
                    "sd": float(values.std(ddof=1)) if len(values) > 1 else None,
                    "alpha": without[at] if known else None,
                    "item_rest": rest[at] if known else None,
                    "loading": self.omega.loadings[at] if self.omega.loadings else None,
                }
            )
        return rows

    @property
    def score(self) -> Matrix:
        """The score of each person who answered all items."""
        first = self.items.iloc[0]
        counted = self.counted + float(first["moved"])
        made = counted.mean(axis=1) if first["rule"] == "mean" else counted.sum(axis=1)
        return np.asarray(made * float(first["times"]), dtype=np.float64)


def reliability(counted: Tables, declaration: Declaration) -> Iterator[Reliability]:
    """Every scale of several items that a study asked. counted: its rows of sessions that count."""
    if counted.scales.empty:
        return
    keys = [column.name for column in INSTRUMENT]
    answers = counted.answers[counted.answers["submitted"].fillna(False).astype(bool)]
    for about, definition in counted.scales.groupby([*keys, "score"], sort=True):
        _, instrument, version, _ = about
        own = answers[answers["instrument"] == instrument]
        own = own[own["instrument_version"] == version]
        items = definition.sort_values("listed", kind="stable")
        if own.empty or int(items["n_items"].iloc[0]) < 2:
            continue
        told = dict(zip([*keys, "score"], about, strict=True))
        if items["item"].duplicated().any() or len(items) != int(items["n_items"].iloc[0]):
            yield Reliability(told, "", (), items, pd.DataFrame(), TWO_DEFINITIONS)
            continue
        # By these columns a person's several answers to one questionnaire are told apart.
        design = declaration.design
        within = [] if design is None else map(factor_column, design.within_levels)
        columns = [name for name in dict.fromkeys([SESSION, MODEL, *within]) if name in own]
        texts = own[columns].astype(object).where(own[columns].notna(), "")
        several = texts.groupby(own["participant"]).nunique() > 1
        cells = tuple(name for name in columns if bool(several[name].any()))
        for occasion, sheets in _occasions(own, cells):
            given = sheets.pivot_table(
                index="who", columns="item", values="value", aggfunc="first", dropna=False
            )
            given = given.reindex(index=sheets["who"].unique(), columns=list(items["item"]))
            yield Reliability(told, occasion, cells, items, given)


def _occasions(answers: pd.DataFrame, cells: tuple[str, ...]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The answers of each occasion, with `who`, by its name."""
    texts = [answers[name].astype(object).where(answers[name].notna(), "") for name in cells]
    named = [", ".join(filter(None, map(str, row))) for row in zip(*texts, strict=True)]
    frame = answers.assign(who=answers["participant"].astype(str), met=named or [""] * len(answers))
    sheets = frame[["who", "met", SESSION, "stage"]].drop_duplicates()
    turns = (sheets.groupby(["who", "met"]).cumcount() + 1).to_list()
    frame = frame.merge(sheets.assign(turn=turns), on=list(sheets), how="left")
    for (met, turn), some in frame.groupby(["met", "turn"], sort=True):
        again = "" if turn == 1 else f"time {turn}"
        yield ", ".join(filter(None, (str(met), again))), some


def reliability_rows(results: Iterable[Reliability]) -> Iterator[Row]:
    """The rows of the table."""
    for result in results:
        about = {**result.about, "occasion": result.occasion or None, "n_items": len(result.items)}
        score = np.empty(0) if result.why else result.score
        yield about | {
            "n": len(result.complete),
            "n_incomplete": result.n_incomplete,
            "n_unscored": 0 if result.why else result.n_unscored,
            "mean": float(score.mean()) if score.size else None,
            "sd": float(score.std(ddof=1)) if score.size > 1 else None,
            "alpha": result.alpha.value,
            "low": result.alpha.low,
            "high": result.alpha.high,
            "omega": result.omega.value,
            "why": result.alpha.why or None,
            "omega_why": result.omega.why or None,
        }
        if not result.why:
            yield from (about | row for row in result.item_numbers)


Matrix = NDArray[np.float64]
LEAST_OWN = 0.005
"""The least share of an item's variance that is taken to be its own, as in R's `factanal`."""
FACTOR_ITEMS = 3
"""With fewer items the loadings of one factor are not determined."""


@dataclass(frozen=True)
class CronbachAlpha:
    """Cronbach's (1951) coefficient, with the 95 % interval of Feldt, Woodruff and Salih (1987).

    Attributes
    ----------
    value : None if it was not worked out.
    low, high : the ends of the interval.
    why : why there is no value; else empty.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Omega:
    """McDonald's (1999) omega total of one factor.

    Attributes
    ----------
    value : None if it was not worked out.
    loadings : of the standardised items; none without a value.
    why : why there is no value, or what is to be known of it; else empty.
    """

    value: float | None = None
    loadings: tuple[float, ...] = ()
    why: str = ""


def alpha(rows: Matrix) -> CronbachAlpha:
    """Cronbach's alpha.

    k / (k − 1) · (1 − Σ variances / variance of the sum), and its interval
    1 − (1 − alpha) · F of n − 1 and (n − 1)(k − 1) degrees of freedom.

    rows : float64 of shape (people, items)
    """
    people, items = rows.shape
    if why := _unfit(rows):
        return CronbachAlpha(why=why)
    covariances = np.cov(rows, rowvar=False)
    whole, own = float(covariances.sum()), float(np.trace(covariances))
    if whole <= own:
        return CronbachAlpha(
            why="the items are negatively correlated on average. Check whether an item was "
            "reversed by mistake, or should have been reversed"
        )
    value = items / (items - 1) * (1 - own / whole)
    degrees = people - 1, (people - 1) * (items - 1)
    low, high = (1 - (1 - value) * scipy.stats.f.ppf(q, *degrees) for q in (0.975, 0.025))
    return CronbachAlpha(float(value), float(low), float(high))


def _unfit(rows: Matrix) -> str:
    """Why nothing can be said of these rows; empty if something can."""
    people, items = rows.shape
    if items < 2:
        return "the scale has one item"
    if people < SMALLEST:
        return f"fewer than {SMALLEST} people answered all items"
    if (np.ptp(rows, axis=0) == 0).any():
        return "everybody gave the same answer to one of the items"
    return ""


def alphas_if_dropped(rows: Matrix) -> list[float | None]:
    """Alpha of the scale without each item; None if that cannot be worked out."""
    return [alpha(np.delete(rows, at, axis=1)).value for at in range(rows.shape[1])]


def item_rest(rows: Matrix) -> list[float | None]:
    """The correlation of each item with the sum of the others; None if one of the two is the
    same for everybody."""
    if len(rows) < SMALLEST:
        return [None] * rows.shape[1]
    correlations: list[float | None] = []
    for at, item in enumerate(rows.T):
        rest = np.delete(rows, at, axis=1).sum(axis=1)
        constant = np.ptp(item) == 0 or np.ptp(rest) == 0
        correlations.append(None if constant else float(np.corrcoef(item, rest)[0, 1]))
    return correlations


def omega(rows: Matrix) -> Omega:
    """McDonald's omega total: (Σ loadings)² / ((Σ loadings)² + Σ unique variances) of the items in
    their own units, from one factor fitted by maximum likelihood.

    rows : float64 of shape (people, items)
    """
    people, items = rows.shape
    if why := _unfit(rows):
        return Omega(why=why)
    if items < FACTOR_ITEMS:
        return Omega(why=f"with fewer than {FACTOR_ITEMS} items, a single factor is not identified")
    correlations: Matrix = np.asarray(np.corrcoef(rows, rowvar=False), dtype=np.float64)
    if people <= items or np.linalg.matrix_rank(correlations) < items:
        return Omega(
            why="some items can be computed from others, or there are too few people for a factor"
        )
    loadings, own, converged = one_factor(correlations)
    if not converged:
        return Omega(why="the fit of one factor did not converge")
    if (own <= LEAST_OWN * 1.001).any():
        return Omega(
            why="one factor explains an item completely (a Heywood case), so its fit is meaningless"
        )
    deviations = rows.std(axis=0, ddof=1)
    shared = float((loadings * deviations).sum()) ** 2
    value = shared / (shared + float((own * deviations**2).sum()))
    against = bool((loadings < 0).any())
    why = (
        "an item is negatively correlated with the others: check whether it should be reversed"
        if against
        else ""
    )
    return Omega(value, tuple(map(float, loadings)), why)


def one_factor(correlations: Matrix) -> tuple[Matrix, Matrix, bool]:
    """One factor by maximum likelihood (Jöreskog 1967): loadings, unique variances, and whether the
    fit came to an end. The factor points where most loadings are positive."""
    items = len(correlations)

    def extract(own: Matrix) -> tuple[Matrix, Matrix]:
        """The eigenvalues of the correlations in units of unique variances, and the loadings."""
        scale = 1 / np.sqrt(own)
        values, vectors = np.linalg.eigh(correlations * np.outer(scale, scale))
        loadings = np.sqrt(own) * vectors[:, -1] * np.sqrt(max(values[-1] - 1, 0.0))
        return values, np.asarray(loadings, np.float64)

    def misfit(own: Matrix) -> tuple[float, Matrix]:
        values, loadings = extract(own)
        rest = values[:-1]
        residual = np.outer(loadings, loadings) + np.diag(own) - correlations
        return -float(np.sum(np.log(rest) - rest)) + 1 - items, np.diag(residual) / own**2

    start = (1 - 0.5 / items) / np.diag(np.linalg.inv(correlations))
    fit = scipy.optimize.minimize(
        misfit,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(LEAST_OWN, 1.0)] * items,
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000},
    )
    own = np.asarray(fit.x, dtype=np.float64)
    loadings = extract(own)[1]
    if loadings.sum() < 0:
        loadings = -loadings
    inside = (own > LEAST_OWN) & (own < 1)
    steepest = float(np.abs(misfit(own)[1][inside]).max(initial=0.0))
    return loadings, own, bool(fit.success) or steepest < 1e-4
