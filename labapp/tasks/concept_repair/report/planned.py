"""H1 as a plan takes it: what simulated participants show of the slopes that it tests."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from labapp.analysis.tables import Tables
from labapp.analysis.task_report import ComparedSlope
from labapp.tasks.concept_repair.report.hypotheses import SLOPE_BOUND, outcomes
from labapp.tasks.concept_repair.report.measures import (
    MATCHED,
    MODEL,
    PERSON,
    SAMPLES,
    Rows,
    by_person,
)
from labapp.tasks.concept_repair.report.models import OIS, PREDICTORS, models_of

TABLES = ("repairs", "concept_changes", "concept_grids", "concept_models", "concept_purities")
"""What it is worked out from."""
NO_OIS = "the sets do not tell OIS of their models"
NOTHING = {
    "harm": "nothing that is right is set where the answer is right, so that nothing can be harmed",
    "surprised": "simulated participants show nothing of it; what they say is coded by nobody",
    "wrong": "no answer is foretold in these pictures",
}
"""Why there is nothing to plan with, by the column of the outcome."""


def slopes(counted: Tables) -> Iterator[ComparedSlope]:
    """A slope on OIS an outcome of H1, in the primary and the secondary sample of pictures."""
    for study in sorted({str(name) for name in counted.small()["repairs"]["study"].dropna()}):
        own = counted.of_study(study)
        rows = Rows.of(own)
        models = models_of(own, study, by_person(rows)).known
        every = outcomes(rows)
        for sample in SAMPLES[:2]:
            if sample not in set(rows.repairs["sample"]):
                continue
            for outcome, frame, column in every:
                known = models[[*MODEL, "name", OIS]] if OIS in models else None
                shown = frame[(frame["sample"] == sample) & frame[column].notna()]
                yield ComparedSlope(
                    name=f"{study}, {sample}: {outcome} by {PREDICTORS[OIS]} (H1)",
                    rises=True,
                    smallest=SLOPE_BOUND,
                    n_tests=len(every) if sample == MATCHED else 1,  # p of others is not corrected
                    rows=pd.DataFrame() if known is None else _rows(shown, column, known),
                    why=NO_OIS if known is None else NOTHING[column] if shown.empty else "",
                )


def _rows(shown: pd.DataFrame, column: str, known: pd.DataFrame) -> pd.DataFrame:
    own = shown.merge(known, on=list(MODEL)).dropna(subset=[OIS])
    return pd.DataFrame(
        {
            "participant": own[PERSON[1]].astype(str),
            "model": own["name"].astype(str),
            "picture": own["picture"].astype(str),
            "kind": own["item"].fillna("none").astype(str),
            "value": own[OIS].astype(float),
            "outcome": own[column].astype(float),
        }
    )
