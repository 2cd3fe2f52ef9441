"""What the names of dials say: effects, coverage, agreement of raters, consistent names.

Agreement is given in per cent, and as Cohen's or Fleiss's kappa. The paper says only that
experimenters identified consistent names (Tables 1 and A.4); how many they were, and how far they
agreed, is ours to add.

The effect of each dial, where the model that the sessions met is installed here.

The tables of sessions hold no pictures; the decoder has to draw some. Models are looked up by id,
and taken only where the hash of the model card is the one that the sessions recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labapp.agreement.kappa import CohenKappa, FleissKappa
from labapp.agreement.measure import DRAWS, SEED, resample
from labapp.agreement.ratings import Ratings
from labapp.analysis.tables import Tables
from labapp.errors import ModelError, RatingError
from labapp.reading import files
from labapp.tasks.reconstruction.report.labels.names import COVERED, Dial, Model, Name, named
from labapp.tasks.reconstruction.report.labels.ratings import Rating, read_ratings
from labapp.tasks.reconstruction.report.labels.sheet import Sheet, draw

if TYPE_CHECKING:
    from labapp.report.drawing import ReportFigure
    from labapp.representations.effects import DialEffect


@dataclass(frozen=True, slots=True)
class Effects:
    """of: each dial's, in the order of the dials; empty where they are not known, and why_not says
    why."""

    of: tuple[DialEffect, ...] = ()
    why_not: str = ""


Measure = Callable[[Model], Effects]


def measure(model: Model) -> Effects:
    """Load the model and turn its dials (`representations.effects`)."""
    from labapp.representations.card import CARD
    from labapp.representations.package import find, load_package

    if len(model.cards) != 1:
        why = "several versions of it were met" if model.cards else "its hash was not recorded"
        return Effects(why_not=why)
    try:
        card = find(model.model) / CARD
        if sha256(files.content(card)).hexdigest() not in model.cards:
            return Effects(why_not="the model installed here under this id is another one")
        decoder = load_package(model.model, "cpu")
    except ModelError as error:
        return Effects(why_not=error.what.rstrip("."))
    if len(decoder.space) != len(model.dials):
        return Effects(why_not="the model installed here has other dials")
    from labapp.representations.effects import effects

    distances = {dial.distance for dial in model.dials}
    return Effects(effects(decoder, distances.pop() if len(distances) == 1 else None))


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of two raters or more, over the names that can agree with another one.

    n : names. percent : of names on which all raters say the same, 0-100; None without names.
    kappa : Cohen's of two raters (Cohen 1960), Fleiss's of more (Fleiss 1971); None where it is
        undefined. low, high : its 95 % interval, percentiles of `DRAWS` bootstrap draws of names;
        None without kappa, or where it is undefined in more than half of the draws.
    undefined : draws in which kappa is undefined, left out of the interval. why_not : why there is
        no kappa.
    """

    raters: int
    n: int
    percent: float | None
    kappa: float | None
    low: float | None
    high: float | None
    undefined: int
    why_not: str = ""

    @property
    def name(self) -> str:
        return "Cohen's kappa" if self.raters == 2 else "Fleiss's kappa"


def agreement(says: Sequence[Sequence[bool]]) -> Agreement:
    """says: by rater what he or she says of each name, in one order; two raters or more."""
    votes = np.asarray(says, dtype=bool).reshape(len(says), -1)
    raters, n = votes.shape
    if n == 0:
        return Agreement(raters, 0, None, None, None, None, 0, "there is no name to agree on")
    percent = 100 * float(np.mean((votes == votes[0]).all(axis=0)))
    if (votes == votes[0, 0]).all():
        text = "consistent" if votes[0, 0] else "not consistent"
        why = f"every rater calls every name {text}, so that agreement by chance is certain"
        return Agreement(raters, n, percent, None, None, None, 0, why)
    # A draw of names is a draw of how many there are of each kind of votes.
    kinds, counts = np.unique(votes.T.astype(np.int64), axis=0, return_counts=True)
    alone = np.arange(len(kinds))
    ratings = Ratings(kinds, (False, True), alone, alone)
    measure = CohenKappa() if raters == 2 else FleissKappa()
    sums = measure.sums(ratings)
    kappa = float(measure.value(np.tensordot(counts, sums, 1)))
    drawn = resample(measure, sums, counts / n, n, DRAWS, SEED)
    defined = drawn[np.isfinite(drawn)]
    undefined = DRAWS - defined.size
    if undefined > DRAWS / 2:
        return Agreement(raters, n, percent, kappa, None, None, undefined)
    low, high = (float(end) for end in np.percentile(defined, [2.5, 97.5]))
    return Agreement(raters, n, percent, kappa, low, high, undefined)


@dataclass(frozen=True)
class Found:
    """All names of an analysis.

    models: by study, then as the paper's tables list them; effects: of each of these; ratings: one
    a rater; agreement: where there are two raters or more. withheld: participants, by study, whose
    names a de-identified copy does not hold.
    """

    models: tuple[Model, ...]
    effects: tuple[Effects, ...]
    sheet: Sheet | None
    ratings: tuple[Rating, ...]
    agreement: Agreement | None
    withheld: dict[str, int]

    @property
    def studies(self) -> list[str]:
        """Those in which a dial was named, by id."""
        named = (model for model in self.models if any(dial.names for dial in model.dials))
        return sorted({model.study for model in named})

    def of_study(self, study: str) -> list[tuple[Model, Effects]]:
        """Its models with their effects."""
        both = zip(self.models, self.effects, strict=True)
        return [(model, effects) for model, effects in both if model.study == study]

    @cached_property
    def drawn(self) -> Mapping[str, Sequence[ReportFigure]]:
        """The figures by study, drawn once for the page and the files. matplotlib is loaded
        here."""
        from labapp.tasks.reconstruction.report.labels.figures import of_study

        return {study: of_study(study, self) for study in self.studies}

    def consistent(self, name: Name) -> bool | None:
        """Where every rater says so; None without raters."""
        if not self.ratings:
            return None
        return all(rating.says[name.id] for rating in self.ratings)

    def disputed(self, name: Name) -> bool:
        """Whether raters say different things of it."""
        return len({rating.says[name.id] for rating in self.ratings}) > 1

    def n_consistent(self, dial: Dial) -> int | None:
        """Its names that count as consistent; None without raters."""
        return sum(map(bool, map(self.consistent, dial.names))) if self.ratings else None


def coverage(model: Model, dial: Dial) -> float:
    """Share of the participants who met the model that named the dial, 0-1."""
    return len(dial.people) / len(model.met) if model.met else 0.0


def covered(model: Model) -> int:
    """Dials with a coverage of `COVERED` or more."""
    return sum(coverage(model, dial) >= COVERED for dial in model.dials)


NOTHING = Found((), (), None, (), None, {})


def find(counted: Tables, ratings: Sequence[Path] = (), measured: Measure = measure) -> Found:
    """counted: `Tables.included()`; ratings: files of raters; measured: gives the effects of a
    model's dials.

    Raises RatingError when a file does not fit the names, see `read_ratings`.
    """
    names = named(counted)
    if not names.names:
        if ratings:
            raise RatingError(
                f"{ratings[0]} was given, but no session that counts holds the name of a dial.",
                safe="No analysis was made.",
                todo="Leave --ratings out, or give the sessions that were rated.",
            )
        return NOTHING
    names, sheet = draw(names)
    says = read_ratings(ratings, sheet)
    together = None
    if len(says) > 1:
        open_ones = [line.name.id for line in sheet.lines if not line.alone]
        together = agreement([[rating.says[label] for label in open_ones] for rating in says])
    effects = tuple(measured(model) for model in names.models)
    return Found(names.models, effects, sheet, says, together, names.withheld)
