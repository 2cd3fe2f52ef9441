"""The quality of the data of a study, in one table: what was recorded, lost and interrupted."""

from __future__ import annotations

import pandas as pd

from labapp.report.formats import clock, count, decimal
from labapp.report.page import Html, table, two_lines

LOST = 0.01
"""A session that lost more than this share of its sound is counted as such."""


def quality(participants: pd.DataFrame) -> Html:
    """How many sessions each thing befell, and how much of them in all."""
    n = len(participants)
    sound = participants[participants["sound_s"] > 0]
    lost = sound[sound["sound_lost_s"] > 0]
    much = sound[sound["sound_lost_s"] > LOST * sound["sound_s"]]
    gaps = participants[participants["n_gaps"] > 0]
    pauses = participants[participants["n_pauses"] > 0]
    unfocused = participants[participants["focus_losses"] > 0]
    rows = [
        ("Completed", int(participants["complete"].sum()), ""),
        ("Sound recorded", len(sound), _time(sound["sound_s"])),
        ("Sound lost, filled with silence", len(lost), _seconds(lost["sound_lost_s"])),
        (f"More than {100 * LOST:.0f} % of the sound lost", len(much), ""),
        (
            "Interrupted (the program stopped) and resumed",
            len(gaps),
            f"{count(int(gaps['n_gaps'].sum()), 'time')}, {_time(gaps['gap_s'])}",
        ),
        (
            "Paused by the moderator",
            len(pauses),
            f"{count(int(pauses['n_pauses'].sum()), 'time')}, {_time(pauses['paused_s'])}",
        ),
        (
            "The participant's window lost the focus",
            len(unfocused),
            count(int(unfocused["focus_losses"].sum()), "time"),
        ),
        ("De-identified copies", int(participants["deidentified"].sum()), ""),
    ]
    return table(
        ("Data quality", two_lines("Sessions", f"of {n}"), two_lines("Together", "min:s")),
        [(what, some, together if some else "") for what, some, together in rows],
        numeric=(1, 2),
    )


def _time(seconds: pd.Series[float]) -> str:
    return clock(float(seconds.sum()))


def _seconds(seconds: pd.Series[float]) -> str:
    return f"{decimal(float(seconds.sum()), 1)} s"
