"""From the files of studies to a folder of figures: what the command and windows call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.annotations.reliability.gathering import gather
from labapp.annotations.reliability.reading import read_studies
from labapp.annotations.reliability.results import TierResults, results_of
from labapp.annotations.reliability.writing import figure_rows, write
from labapp.errors import UsageError

STEP = 1_000
"""The grid of time-unit kappa unless it is said otherwise, in milliseconds."""


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """How far raters agree.

    Attributes
    ----------
    results : tuple of TierResults
        By codebook, version, round and tier.
    left_out : tuple of str
        What is not compared and why, a sentence each.
    page : Path or None
        The page that says all of it, where it was written.
    """

    results: tuple[TierResults, ...]
    left_out: tuple[str, ...]
    page: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        figures = list(figure_rows(self.results))
        return {"page": str(self.page or ""), "figures": figures, "left_out": list(self.left_out)}

    def lines(self) -> list[str]:
        """The main figure of each tier, a line each."""
        lines = []
        for tier in self.results:
            for figure in tier.figures[:1]:
                result = figure.result
                value = f"none ({result.reason})" if result.value is None else f"{result.value:.3f}"
                lines.append(
                    f"{tier.tier.tier.name}, {tier.tier.phase}: {result.measure} {value}, "
                    f"{result.n_comparable} {figure.basis}, {', '.join(figure.raters)}"
                )
        return lines or ["There is nothing to compare."]


def study_agreement(
    paths: Sequence[Path],
    out: Path | None = None,
    *,
    step: int = STEP,
    again: Sequence[tuple[str, str]] = (),
    everybody: bool = False,
) -> StudyAgreement:
    """Compare the raters of studies.

    Parameters
    ----------
    paths : sequence of Path
        Folders of studies, sessions or bundles.
    out : Path, optional
        A folder to write, which must not exist.
    step : int
        The grid of time-unit kappa in milliseconds.
    again : sequence of (str, str)
        Raters who coded twice: the names of the first and of the second coding.
    everybody : bool
        Whether units of all speakers are compared, not the participant's alone.

    Raises
    ------
    LabappError
        A place is no study, a name is nobody's, or the folder cannot be written.
    """
    coded = read_studies(paths)
    names = {rater for session in coded.sessions for rater in session.annotations.raters}
    if unknown := sorted({rater for pair in again for rater in pair} - names):
        raise UsageError(
            f"{unknown[0]} has no marks here.",
            todo=f"Raters here: {', '.join(sorted(names)) or 'none'}.",
        )
    gathered = gather(coded.sessions, coded.codebooks)
    results = tuple(
        results_of(tier, step=step, again=again, everybody=everybody) for tier in gathered.tiers
    )
    left_out = (*coded.remarks, *gathered.left_out)
    page = None if out is None else write(results, left_out, out, everybody=everybody)
    return StudyAgreement(results, left_out, page)
