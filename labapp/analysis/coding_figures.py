"""Figures of what was said: how many said it, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from labapp.analysis.coding_section import (
    OVERALL,
    PERSON,
    code_counts,
    code_names,
    find_comparison_columns,
    levels,
    select_counted_marks,
)
from labapp.analysis.tables import Tables
from labapp.base.figure_style import (
    ACCENT,
    HAIRLINE,
    INK,
    SECONDARY,
    SERIES,
    figure_width,
    panels_across,
    style,
)
from labapp.base.naming import natural
from labapp.base.report import kit
from labapp.base.report.drawing import SAID, ReportFigure, add_heading, shorten_names
from labapp.base.report.listing import records
from labapp.base.report.page import Verbatim, count

MOST_LEVELS = 7
"""So many models, or levels of a factor, are told apart in a figure."""
LEVELS = (ACCENT, INK, SECONDARY, *SERIES)
"""Colours of levels; their marks differ, too."""
LETTERS_PER_IN = 12.0
"""Of names above a figure."""
MOST_SESSIONS = 12
"""Sessions with a timeline of their own."""
ROW_IN = 0.24
"""Height of a row with a name beside it, in inches."""
MIN = 60.0
SEEN = 0.003
"""Marks are drawn at least so long, as a share of the axis."""


def coding_plates(tables: Tables) -> Iterator[ReportFigure]:
    """The figures of all studies, as files. tables: of sessions that count."""
    for study in sorted(map(str, tables.coded["study"].unique())):
        own = tables.of_study(study)
        yield from coding_figures(own, code_counts(own), study)
        yield from timelines(own, study)


def coding_figures(tables: Tables, counts: pd.DataFrame, study: str) -> Iterator[ReportFigure]:
    """The figures of one study.

    tables: of its sessions that count; counts: its rows of the table `code_counts`.
    """
    if counts.empty:
        return
    people = tables.participants[tables.participants["included"]]
    programs = people[people["simulated"].fillna(value=False).astype(bool)]
    told = study, len(people[PERSON].drop_duplicates()), len(programs[PERSON].drop_duplicates())
    for by in (OVERALL, *find_comparison_columns(tables)):
        if by == OVERALL or 1 < len(levels(counts, by)) <= MOST_LEVELS:
            figure = _mentions(counts[counts["by"] == by], "" if by == OVERALL else by)
            name = f"codes-{study}" if by == OVERALL else f"codes-{study}-by-{by}"
            label = "Participants who said it, by code"
            if by != OVERALL:
                label += f" and {words_of(by)}"
            add_heading(figure, label, *told)
            yield ReportFigure(name, figure, label, MENTIONS_READ)
    figure = _study(tables)
    label = "Codes over time, by participant"
    add_heading(figure, label, *told)
    yield ReportFigure(f"codes-{study}-timeline", figure, label, STUDY_READ)


MENTIONS_READ = (
    "Percentages are of the participants who encountered the level and whose sessions are coded, "
    "with Wilson's 95 % interval. The numbers are counts out of totals. Each participant counts "
    "once, however often the code was given."
)
STUDY_READ = (
    "One panel per code, one row per participant. Each bar is a mark, from its onset to its "
    "offset. Time is session time, including pauses; the grey line shows how long the session "
    "lasted."
)
SESSION_READ = (
    "Upper rows: marks of the final coding, from onset to offset. Below them the trials: "
    "filled if solved or answered correctly, hollow if not. The lowest row is the alignment at "
    "onset and offset of each mark, from 0 to 1. Hatched: pauses. Time is session time."
)


def words_of(by: str) -> str:
    """A column in words."""
    return by.removeprefix("factor_").replace("_", " ")


def _mentions(counts: pd.DataFrame, by: str) -> Figure:
    """One row per code, in it one point per level with its interval."""
    codes = _order_codes(counts)
    names = sorted(counts["level"].dropna().unique()) if by else [""]
    high = ROW_IN * len(codes) * max(1.2, 0.7 * len(names)) + 0.9 + 0.2 * (len(names) > 1)
    with mpl.rc_context(style()):
        figure, (ax,) = kit.panels(1, 1, high, width_in=figure_width())
        kit.rows(ax, _names(_titles(counts, codes)))
        step = 0.72 / len(names)
        for place, level in enumerate(names):
            shift = (place - (len(names) - 1) / 2) * step
            _, marker = kit.LINES[place % len(kit.LINES)]
            for row, (tier, code) in enumerate(codes):
                own = counts[(counts["tier"] == tier) & (counts["code"] == code)]
                own = own[own["level"] == level] if by else own
                if own.empty or not int(own["n_participants"].iloc[0]):
                    continue
                _point(ax, records(own)[0], row + shift, marker, LEVELS[place])
            if by:
                kit.points(ax, [], [], marker, color=LEVELS[place], label=level, markersize=6)
        ax.set_xlim(-1.5, 101.5)
        ax.set_xticks(range(0, 101, 20))
        ax.set_xlabel("Participants who said it, %")
        if by:
            letters = LETTERS_PER_IN * figure_width()
            legend = figure.legend(
                loc="outside upper left",
                ncols=int(min(4, len(names), max(1, letters // (max(map(len, names)) + 6)))),
                frameon=False,
            )
            for told in legend.get_texts():
                told.set_label(SAID)
        return figure


def _names(names: Sequence[str]) -> list[Verbatim]:
    """Names beside an axis, which are never translated."""
    return [Verbatim(name) for name in shorten_names(names)]


def _point(ax: Axes, row: dict[str, Any], place: float, marker: str, colour: str) -> None:
    share, low, high = (
        100 * float(row[name])
        for name in ("share_mentioned", "share_mentioned_low", "share_mentioned_high")
    )
    kit.horizontal_interval(ax, (low, high), place, color=colour, linewidth=1.2)
    kit.points(ax, [share], [place], marker, color=colour, markersize=6, zorder=3, clip_on=False)
    ax.text(
        1.03,
        place,
        f"{row['n_mentioned']}/{row['n_participants']}",
        transform=ax.get_yaxis_transform(),
        va="center",
        color=INK,
    )


def _order_codes(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """By tier, and there the one that most participants said first."""
    sums: Counter[tuple[str, str]] = Counter()
    for row in records(rows):
        sums[row["tier"], row["code"]] += int(row.get("n_mentioned", 1))
    return sorted(sums, key=lambda key: (key[0], -sums[key], key[1]))


def _titles(rows: pd.DataFrame, codes: Sequence[tuple[str, str]]) -> list[str]:
    """What codes are called; with their tiers if there are several.

    rows: of a table of marks or counts.
    """
    names = code_names(rows)
    several = len({tier for tier, _ in codes}) > 1
    return [Verbatim(f"{key[0]}: {names[key]}" if several else names[key]) for key in codes]


def _spans(ax: Axes, rows: pd.DataFrame, place: float, most: float, thick: float = 6.0) -> None:
    """Marks as bars along a row, none too short to be seen. most: length of the axis, in min."""
    onset, offset = (rows[name].to_numpy(dtype=float) / MIN for name in ("onset_s", "offset_s"))
    lasts = np.maximum(offset - onset, SEEN * most)
    at = np.full(onset.shape, place)
    look: dict[str, Any] = {"color": ACCENT, "linewidth": thick, "zorder": 3}
    ax.hlines(at, onset, onset + lasts, **look, capstyle="butt")


def _study(tables: Tables) -> Figure:
    """One panel per code, one row per participant's session."""
    marks = select_counted_marks(tables.coded)
    codes = _order_codes(marks)
    sessions = tables.participants[tables.participants["included"]]
    keys = sorted(
        zip(sessions["participant"], sessions["session"], strict=True),
        key=lambda who: (natural(who[0]), natural(who[1])),
    )
    several = len({session for _, session in keys}) > 1
    names = [f"{who} {session}" if several else str(who) for who, session in keys]
    lasted = {
        (row["participant"], row["session"]): float(row["elapsed_s"] or 0.0)
        for row in records(sessions)
    }
    longest = max(lasted.values(), default=0.0) / MIN
    with mpl.rc_context(style()):
        high = max(1.1, ROW_IN * 0.8 * len(keys) + 0.5)
        figure, axes = kit.panels(len(codes), 3, high, sharex=True, sharey=True)
        titles = shorten_names(_titles(marks, codes))
        for ax, (tier, code), title in zip(axes, codes, titles, strict=True):
            own = marks[(marks["tier"] == tier) & (marks["code"] == code)]
            for row, who in enumerate(keys):
                ax.plot([0, lasted[who] / MIN], [row, row], color=HAIRLINE, linewidth=1, zorder=1)
                _spans(ax, own[_of(own, who)], row, longest, 4.0)
            kit.rows(ax, _names(names))
            ax.set_title(title).set_label(SAID)
            ax.set_xlim(left=0)
        for ax in axes[-panels_across(3) :]:
            ax.tick_params(labelbottom=True)
            ax.set_xlabel("min")
        return figure


def _of(rows: pd.DataFrame, who: tuple[str, str]) -> pd.Series[bool]:
    return (rows["participant"] == who[0]) & (rows["session"] == who[1])


def session_timeline(tables: Tables, who: tuple[str, str], study: str) -> ReportFigure:
    """What was said in a session, trial by trial. tables: of the study; who: participant and
    session."""
    marks = select_counted_marks(tables.coded)
    codes = _order_codes(marks)
    own = marks[_of(marks, who)]
    trials = tables.trials[_of(tables.trials, who)]
    pauses = tables.deviations[_of(tables.deviations, who)]
    pauses = pauses[pauses["kind"] == "paused"]
    person = tables.participants[_of(tables.participants, who)].iloc[0]
    longest = max(float(person["elapsed_s"] or 0.0) / MIN, 0.1)
    with mpl.rc_context(style()):
        high = ROW_IN * (len(codes) + 1) + 0.6
        curve = own["alignment_onset"].notna().any()
        figure, axes = kit.panels(
            2 if curve else 1,
            1,
            [high, 1.0] if curve else high,
            width_in=figure_width(),
            sharex=True,
        )
        ax = axes[0]
        for row, (tier, code) in enumerate(codes):
            some = own[(own["tier"] == tier) & (own["code"] == code)]
            _spans(ax, some, row, longest)
        _trials(ax, trials, pauses, len(codes))
        kit.rows(ax, [*_names(_titles(marks, codes)), "Trials"])
        if curve:
            _gains(axes[1], own)
        for panel in axes:
            for pause in records(pauses):
                begin = float(pause["session_s"]) / MIN
                end = begin + float(pause["duration_s"] or 0.0) / MIN
                panel.axvspan(
                    begin, end, facecolor="none", edgecolor=SECONDARY, hatch="////", linewidth=0
                )
        axes[-1].set_xlim(0, longest)
        axes[-1].set_xlabel("min")
    label = f"What {who[0]} said, session {who[1]}"
    simulated = bool(person["simulated"]) if pd.notna(person["simulated"]) else False
    add_heading(figure, label, study, 1, int(simulated))
    return ReportFigure(
        f"codes-{study}-{who[0]}-{who[1]}", figure, label, f"{label}. {SESSION_READ}"
    )


def _trials(ax: Axes, trials: pd.DataFrame, pauses: pd.DataFrame, row: int) -> None:
    """A box a trial, from its appearance to its end."""
    gaps = [
        (float(pause["session_s"]), float(pause["duration_s"] or 0.0)) for pause in records(pauses)
    ]
    for trial in records(trials):
        if trial["started_session_s"] is None or trial["duration_s"] is None:
            continue
        begin = float(trial["started_session_s"])
        end = begin + float(trial["duration_s"])
        for at, lasts in gaps:
            if begin <= at < end:
                end += lasts
        good = trial["outcome"] == "solved" or trial.get("correct") is True
        ax.barh(
            row,
            (end - begin) / MIN,
            0.6,
            begin / MIN,
            color=SECONDARY if good else "white",
            edgecolor="white" if good else SECONDARY,  # so that neighbours are told apart
            linewidth=0.8,
            zorder=2,
        )


def _gains(ax: Axes, marks: pd.DataFrame) -> None:
    """The alignment at onset and offset of each mark."""
    seen = marks.drop_duplicates(subset=["onset_s", "offset_s"])
    for mark in records(seen[seen["alignment_onset"].notna()]):
        ax.plot(
            [float(mark["onset_s"]) / MIN, float(mark["offset_s"]) / MIN],
            [float(mark["alignment_onset"]), float(mark["alignment_offset"])],
            color=ACCENT,
            linewidth=1.4,
        )
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("Alignment")
    kit.grid(ax)


def timelines(tables: Tables, study: str) -> Iterator[ReportFigure]:
    """A timeline of each session that is coded, of up to `MOST_SESSIONS`."""
    marks = select_counted_marks(tables.coded)
    keys = sorted(
        set(zip(marks["participant"], marks["session"], strict=True)),
        key=lambda who: (natural(who[0]), natural(who[1])),
    )
    for who in keys[:MOST_SESSIONS]:
        yield session_timeline(tables, (str(who[0]), str(who[1])), study)


def left_out(tables: Tables) -> str:
    """How many coded sessions have no timeline of their own, in words; empty for none."""
    marks = select_counted_marks(tables.coded)
    n = len(set(zip(marks["participant"], marks["session"], strict=True))) - MOST_SESSIONS
    return f"{count(n, 'more session')} without a timeline." if n > 0 else ""
