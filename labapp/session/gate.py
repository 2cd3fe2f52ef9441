"""The one gate: what `labapp studies check` refuses is neither run nor simulated, planned or
registered.
"""

from __future__ import annotations

from pathlib import Path

from labapp.analysis.checking import check_study
from labapp.session.masked_predictions import check_predictable
from labapp.study.loading import LoadedStudy
from labapp.study.overview import Checked, in_order
from labapp.study.plan import Plan
from labapp.study.stimulus_stages import PredictMasked


def look_at(
    study: str | Path,
    language: str | None = None,
    predict_masked: PredictMasked = check_predictable,
) -> Checked:
    """Everything that is wrong with a study and with what it names. Raises StudyError where there
    is no such study."""
    return check_study(study, predict_masked, language)


def gate(
    study: str | Path, language: str | None = None, plans: list[Plan] | None = None
) -> LoadedStudy:
    """The study, if it is in order.

    plans: gets the plans of every condition. Raises StudyError with every mistake.
    """
    return in_order(look_at(study, language), plans)
