"""The result type: what is written down of a score."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from labapp.models.metrics.inputs import Score

SCORE = Score(
    metric="made-up",
    score=0.5,
    parts={"matrix": np.array([[0.25, np.nan], [1.0, 2.0]]), "other": 0.125, "none": np.nan},
    settings={"seed": 3, "as_published": False},
)


def test_json_is_plain_and_says_null_where_a_part_is_undefined() -> None:
    written = SCORE.to_json()
    assert json.loads(json.dumps(written, allow_nan=False)) == written
    assert written == {
        "metric": "made-up",
        "score": 0.5,
        "parts": {"matrix": [[0.25, None], [1.0, 2.0]], "other": 0.125, "none": None},
        "settings": {"seed": 3, "as_published": False},
    }


def test_a_score_stays_as_it_was_made() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SCORE.score = 1.0  # type: ignore[misc]
