"""The report's table on how much participants said: talk time, words a minute, pauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from labapp.analysis.coding_counts import PERSON, compared_by
from labapp.analysis.tables import Tables
from labapp.analysis.talk_times import talk_times
from labapp.report.formats import count, decimal
from labapp.report.language import Verbatim
from labapp.report.listing import NONE
from labapp.report.page import Html, paragraph, table, two_lines

EVERYBODY = "All"


def talk_section(tables: Tables) -> Iterator[Html]:
    """How much participants said, overall and by what a study compares; nothing where nobody spoke.

    tables: of the sessions of one study that count.
    """
    spoken = tables.utterances[tables.utterances["speaker"] == "participant"]
    if spoken.empty:
        return
    pauses = talk_times(tables)
    rows = [_row(EVERYBODY, spoken, pauses)]
    for by in compared_by(tables):
        speech, between = (_placed(frame, tables, by) for frame in (spoken, pauses))
        rows += [
            _row(Verbatim(str(level)), speech[speech[by] == level], between[between[by] == level])
            for level in sorted(speech[by].dropna().unique())
        ]
    if told := _reservations(spoken):
        yield paragraph(told)
    yield table(
        (
            "",
            "Participants",
            two_lines("Talk time", "min, quartiles"),
            two_lines("Words a minute", "quartiles"),
            two_lines("Pauses", "quartiles"),
            two_lines("Length of a pause", "s, quartiles"),
        ),
        rows,
        numeric=range(1, 6),
        caption="Medians over participants, below them their quartiles; in working time. Words a "
        "minute: of the units that are written down, pauses between units left out. Pauses: "
        "between units that follow on each other at the same question, and their mean length for "
        "each participant.",
    )


def _reservations(spoken: pd.DataFrame) -> str:
    """What a reader must know of these numbers: who speaks, and who read the words."""
    told = []
    sessions = spoken.drop_duplicates([*PERSON, "session"])
    if unsaid := int((~sessions["speakers_said"].fillna(value=True).astype(bool)).sum()):
        told.append(
            f"In {count(unsaid, 'session')} of {len(sessions)}, nobody has said who speaks: all "
            "units there count as the participant's, the moderator's sentences included."
        )
    written = spoken[spoken["n_words"].notna() & spoken["text_withheld"].isna()]
    if unread := int((~written["reviewed"].fillna(value=False).astype(bool)).sum()):
        utterances = count(unread, "utterance")
        told.append(
            f"The words of {utterances} of {len(written)} were not read against the sound by a "
            "person; they count as they are."
        )
    return " ".join(told)


def _placed(frame: pd.DataFrame, tables: Tables, column: str) -> pd.DataFrame:
    """Rows with the level of a column, which is of their stage, or else of their participant."""
    if column in frame:
        return frame
    of = tables.stages if column in tables.stages else tables.participants
    keys = [*PERSON, "session", "stage"] if column in tables.stages else [*PERSON, "session"]
    levels = of[[*keys, column]].drop_duplicates(keys)
    return frame.merge(levels, on=keys, how="left")


def _row(name: str, spoken: pd.DataFrame, pauses: pd.DataFrame) -> list[object]:
    """A line of the table. spoken: units; pauses: rows of `talk_times`."""
    people = [spoken[column] for column in PERSON]
    lengths = spoken["offset_working_s"] - spoken["onset_working_s"]
    talk = lengths.groupby(people).sum() / 60
    is_written = spoken["n_words"].notna() & spoken["text_withheld"].isna()
    written = spoken[is_written]
    who = [written[column] for column in PERSON]
    minutes = lengths[is_written].groupby(who).sum() / 60
    words = written["n_words"].astype(float).groupby(who).sum()
    between = pauses.groupby(PERSON)[["n_pauses", "pauses_s"]].sum()
    count = between["n_pauses"].astype(float)
    length = between["pauses_s"].astype(float) / count.where(count > 0)
    return [
        name,
        len(talk),
        _spread(talk, 1),
        _spread(words / minutes.where(minutes > 0), 0),
        _spread(count, 0),
        _spread(length, 1),
    ]


def _spread(values: pd.Series, decimals: int) -> object:
    """The median of values, below it their quartiles where there are several."""
    own: Sequence[float] = [float(value) for value in values.dropna()]
    if not own:
        return NONE
    low, median, high = pd.Series(own).quantile([0.25, 0.5, 0.75])
    middle = decimal(float(median), decimals)
    if len(own) == 1:
        return middle
    return two_lines(middle, f"{decimal(float(low), decimals)} to {decimal(float(high), decimals)}")
