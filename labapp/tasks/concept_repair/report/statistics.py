"""What concept repair says, as rows of the table of statistics: 1 means by model, 2 correlations
with what is known of the models, 3 the hypotheses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labapp.report.listing import records
from labapp.tasks.concept_repair.plan import TASK
from labapp.tasks.concept_repair.report.findings import RepairResults
from labapp.tasks.concept_repair.report.measures import MATCHED, MEASURES
from labapp.tasks.concept_repair.report.models import PREDICTORS

Row = dict[str, Any]
MIXED = "mixed logistic model"


def rows(results: RepairResults) -> Iterator[Row]:
    """The rows of a study, in the order of the items."""
    about = {"study": results.study, "design": TASK, "ours": True}
    for make in (_means, _correlations, _tests):
        for row in make(results):
            yield about | row


def _means(results: RepairResults) -> Iterator[Row]:
    for sample in results.samples:
        for name in results.measures:
            for row in records(results.models.means(name, sample)):
                if row["n"]:
                    yield {
                        "item": "1",
                        "group": sample,
                        "model": row["name"],
                        "quantity": name,
                        "unit": MEASURES[name].unit,
                        "test": "mean",
                        "n": row["n"],
                        "n_participants": row["n"],
                        "mean": row["mean"],
                        "low": row["low"],
                        "high": row["high"],
                    }


def _correlations(results: RepairResults) -> Iterator[Row]:
    for known in results.correlations:
        yield {
            "item": "2",
            "group": MATCHED,
            "quantity": known.measure,
            "compared_with": PREDICTORS.get(known.predictor, known.predictor),
            "test": "Spearman rho",
            "n": known.n,
            "statistic": known.rho,
            "low": known.low,
            "high": known.high,
            "why": known.why or None,
        }


def _tests(results: RepairResults) -> Iterator[Row]:
    for test in results.tests:
        yield {
            "item": f"3 {test.hypothesis}",
            "group": test.sample,
            "quantity": test.outcome,
            "compared_with": test.term,
            "unit": test.unit,
            "test": "paired t" if test.hypothesis == "H5" else MIXED,
            "n": test.n,
            "n_participants": test.n_people,
            "mean": test.estimate,
            "low": test.low,
            "high": test.high,
            "bound": test.bound,
            "p": test.p,
            "p_corrected": test.p_holm,
            "why": "; ".join(filter(None, (test.verdict, test.why))) or None,
        }
