"""Talk time, words a minute and pauses, counted by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from labapp.analysis.coding_section import talk_times
from labapp.analysis.columns import table_columns
from labapp.analysis.tables import Tables, frames


def unit(begins: float, ends: float, words: int | None, **more: Any) -> dict[str, Any]:
    return {
        "study": "s",
        "participant": "P01",
        "session": "1",
        "stage": "a",
        "model": "m/x",
        "trial": 0,
        "attempt": 1,
        "conditions": "slow",
        "speaker": "participant",
        "onset_working_s": begins,
        "offset_working_s": ends,
        "n_words": words,
        "sound_lost_s": 0.0,
        **more,
    }


def table(*units: dict[str, Any]) -> pd.DataFrame:
    rows: dict[str, list[dict[str, Any]]] = {"utterances": list(units)}
    every = {name: rows.get(name, []) for name in table_columns() if name != "snapshots"}
    people = pd.DataFrame(columns=["study", "participant", "session"])
    return talk_times(Tables.of(frames(every), people))


def test_units_of_a_question_are_counted() -> None:
    rows = table(
        unit(10.0, 12.0, 5),
        unit(13.0, 17.0, 7),
        unit(13.5, 14.0, 9, speaker="moderator"),
        unit(20.0, 21.0, None),
        unit(21.5, 22.5, 2, text_withheld="redacted"),
        unit(40.0, 42.0, 4, trial=1),
    )
    assert len(rows) == 2
    first = rows.iloc[0]
    assert (first["n_utterances"], first["n_unwritten"], first["n_words"]) == (4, 2, 12)
    assert first["talk_s"] == pytest.approx(8.0)
    assert first["words_per_min"] == pytest.approx(12 / 6 * 60)
    assert first["n_pauses"] == 3
    assert first["pauses_s"] == pytest.approx(1.0 + 3.0 + 0.5)
    assert (first["pause_median_s"], first["pause_longest_s"]) == (1.0, 3.0)
    assert first["conditions"] == "slow"
    assert rows.iloc[1]["words_per_min"] == pytest.approx(120)
    assert pd.isna(rows.iloc[1]["pause_median_s"])


def test_what_overlaps_or_is_of_no_question_is_a_row_without_a_pause() -> None:
    rows = table(
        unit(1.0, 9.0, None, trial=None, attempt=None),
        unit(2.0, 3.0, None, trial=None, attempt=None),
        unit(9.0, 10.0, None, trial=None, attempt=None),
    )
    (row,) = rows.to_dict("records")
    assert (row["n_utterances"], row["n_pauses"], row["n_unwritten"]) == (3, 0, 3)
    assert pd.isna(row["n_words"])
    assert pd.isna(row["words_per_min"])


def test_nobody_spoke() -> None:
    assert table().empty
    assert table(unit(1.0, 2.0, 3, speaker="moderator")).empty
