"""Everything that the sessions that count say, of all studies: computed once for report, tables and
figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from labapp.analysis.judging import comparisons as judging
from labapp.analysis.labels import results as labels
from labapp.analysis.labels.columns import LABEL_TABLES
from labapp.analysis.labels.frames import frames as label_frames
from labapp.analysis.reconstruction import findings as models
from labapp.analysis.reconstruction import results as compared
from labapp.analysis.reconstruction.statistics import rows as model_rows
from labapp.analysis.statistics_columns import STATISTICS
from labapp.analysis.tables import Tables, typed
from labapp.analysis.unmasking import findings as unmasking
from labapp.analysis.unmasking.results import Found
from labapp.analysis.unmasking.statistics import rows as unmasked_rows

if TYPE_CHECKING:
    from labapp.analysis.plate import Plate

STATISTICS_TABLE = "statistics"
DERIVED = {STATISTICS_TABLE: STATISTICS, **LABEL_TABLES}
"""Columns of the tables that are computed from the others, by name."""


@dataclass(frozen=True)
class Findings:
    """judged: of judged explanations; unmasked: of masked pictures, a group each; labels: of names
    given to dials; models: of reconstruction and single dimensions, a group each of models that
    are compared."""

    judged: judging.Findings
    unmasked: tuple[Found, ...]
    labels: labels.Found
    models: tuple[compared.Found, ...]

    @cached_property
    def drawn(self) -> Mapping[tuple[str, str], Mapping[str, Plate]]:
        """The figures of models by study and task, and by what they are of; drawn once for the page
        and the files. matplotlib is loaded here."""
        from labapp.analysis.reconstruction.figures import by_kind

        groups: dict[tuple[str, str], list[compared.Found]] = {}
        for one in self.models:
            groups.setdefault((one.group.study, one.group.task), []).append(one)
        return {key: by_kind(own) for key, own in groups.items()}


def findings(counted: Tables, ratings: Sequence[Path] = ()) -> Findings:
    """counted: `Tables.included()`; ratings: files of raters, see `labels.ratings.read_ratings`."""
    return Findings(
        judging.findings(counted),
        unmasking.findings(counted),
        labels.find(counted, ratings),
        models.findings(counted),
    )


def statistics(found: Findings) -> pd.DataFrame:
    """The table of statistics: judged explanations by item, then masked pictures and models by
    group."""
    judged = sorted(found.judged.all, key=lambda one: one.of.item)
    unmasked = (row for one in found.unmasked for row in unmasked_rows(one))
    of_models = (row for one in found.models for row in model_rows(one))
    return typed([*(one.row() for one in judged), *unmasked, *of_models], STATISTICS)


def derived(found: Findings) -> dict[str, pd.DataFrame]:
    """The tables that are computed from the others, by name."""
    return {STATISTICS_TABLE: statistics(found), **label_frames(found.labels)}
