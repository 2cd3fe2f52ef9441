"""What studies and questionnaires are called in a report: by their titles, where sessions know
them."""

from __future__ import annotations

import pandas as pd


def study_title(participants: pd.DataFrame, study: str) -> str:
    """The title of a study, as the latest version of its file has it; its id where no session
    has one. participants: that table, of any studies."""
    rows = participants[(participants["study"] == study) & participants["study_title"].notna()]
    titles = rows.sort_values(["study_version", "started_utc"])["study_title"]
    return str(titles.iloc[-1]) if len(titles) else study


def questionnaire_name(items: pd.DataFrame, instrument: str) -> str:
    """The id of a questionnaire, which the tables have, with its title, where a session has its
    words. items: the table of items."""
    rows = items[(items["instrument"] == instrument) & items["title"].notna()]
    if rows.empty:
        return instrument
    title = str(rows.sort_values("instrument_version", kind="stable")["title"].iloc[-1])
    return f"{instrument}: {title}"
