"""The benchmark of simulated studies finds the published number of each shipped model."""

from __future__ import annotations

import pytest

from benchmarks.simulated_studies import printed
from labapp.papers.interactive_reconstruction import results


@pytest.mark.parametrize(
    ("study", "model", "like"),
    [
        ("mnist-crowd", "mnist8k/ae5", ("mnist", "ae5")),
        ("synthetic-crowd", "sinelines/vae", ("sinelines", "vae")),
    ],
)
def test_a_shipped_model_has_the_number_of_the_model_like_it(
    study: str, model: str, like: tuple[str, str]
) -> None:
    rows = [
        row
        for row in results.rows()
        if (row.study, row.task, row.dataset, row.model) == (study, "reconstruction", *like)
        and (row.quantity, row.measure) == ("completion_rate", "mean")
        and row.source in results.TABLES
    ]
    assert printed(study, "reconstruction", model, "completion_rate").startswith(rows[0].printed)
