"""What the names of dials say: effects, coverage, agreement of raters, consistent names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from labapp.analysis.tables import Tables
from labapp.errors import RatingError
from labapp.tasks.reconstruction.report.labels.agreement import Agreement, agreement
from labapp.tasks.reconstruction.report.labels.dial_effects import Effects, Measure, measure
from labapp.tasks.reconstruction.report.labels.names import Dial, Model, Name, named
from labapp.tasks.reconstruction.report.labels.published import COVERED
from labapp.tasks.reconstruction.report.labels.ratings import Rating, read_ratings
from labapp.tasks.reconstruction.report.labels.sheet import Sheet, draw

if TYPE_CHECKING:
    from labapp.report.drawing import ReportFigure


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
