"""How much a participant said at each question: talk time, words a minute, pauses."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from labapp.analysis.column import TRIAL, WHO, Column, number, seconds, text, whole, yes
from labapp.analysis.tables import Tables, typed

TALK_TIMES_TABLE = "talk_times"
TALK_TIMES: tuple[Column, ...] = (
    *WHO,
    text("stage", "part that ran; empty outside of stages"),
    text("model", "what that stage is about"),
    *TRIAL,
    text("conditions", "the study's variables for this participant, drawn cells in their order"),
    whole("n_utterances", "units of speech of the participant that begin there"),
    seconds("talk_s", "how long these are together, in working time"),
    whole("n_words", "words of those that are written down; empty where none is"),
    number(
        "words_per_min",
        "n_words by the talk time of the units that are written down, whole: pauses between units "
        "are not in it",
        "1/min",
    ),
    whole("n_unwritten", "of the units, those without words that may be seen"),
    whole("n_unread", "of those with words, the ones that nobody has read against the sound"),
    yes(
        "speakers_said",
        "somebody said who speaks in the session; where nobody did, what others said is counted "
        "here, too",
    ),
    whole("n_pauses", "pauses between units that follow on each other there"),
    seconds("pauses_s", "how long these are together, in working time"),
    seconds("pause_median_s", "their median"),
    seconds("pause_longest_s", "the longest of them"),
    seconds("sound_lost_s", "of how much of the units the sound was lost"),
)
_KEYS = [column.name for column in TALK_TIMES[: [c.name for c in TALK_TIMES].index("n_utterances")]]


def talk_times(tables: Tables) -> pd.DataFrame:
    """The table `talk_times`: a row a question at which the participant spoke, and one for what
    was said outside of questions in each stage. tables: of sessions that count."""
    return typed(list(_rows(tables.utterances)), TALK_TIMES)


def _rows(utterances: pd.DataFrame) -> Iterator[dict[str, object]]:
    spoken = utterances[utterances["speaker"] == "participant"]
    if spoken.empty:
        return
    for key, units in spoken.groupby(_KEYS, dropna=False, sort=False):
        there = units.sort_values("onset_working_s")
        talk = there["offset_working_s"] - there["onset_working_s"]
        # Nobody writes down a unit of which words were taken out, as far as counts go.
        written = there["n_words"].notna() & there["text_withheld"].isna()
        minutes = float(talk[written].sum()) / 60
        words = int(there["n_words"][written].sum())
        ended = there["offset_working_s"].cummax().shift()
        pauses = (there["onset_working_s"] - ended).dropna()
        pauses = pauses[pauses > 0]
        yield {
            **dict(zip(_KEYS, key, strict=True)),
            "n_utterances": len(there),
            "talk_s": float(talk.sum()),
            "n_words": words if written.any() else None,
            "words_per_min": words / minutes if minutes else None,
            "n_unwritten": int((~written).sum()),
            "n_unread": int((written & ~there["reviewed"].fillna(value=False).astype(bool)).sum()),
            "speakers_said": bool(there["speakers_said"].fillna(value=True).all()),
            "n_pauses": len(pauses),
            "pauses_s": float(pauses.sum()),
            "pause_median_s": float(pauses.median()) if len(pauses) else None,
            "pause_longest_s": float(pauses.max()) if len(pauses) else None,
            "sound_lost_s": float(there["sound_lost_s"].sum())
            if there["sound_lost_s"].notna().any()
            else None,
        }
