"""How well stimuli and responses were timed, as the journals say; in paper 004 nothing is said."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labapp.report.formats import decimal
from labapp.report.page import Html, paragraph, table
from labapp.tasks.unmasking.report.cells import truths
from labapp.tasks.unmasking.report.results import Group
from labapp.tasks.unmasking.report.words import labelled, percent

QUICK_MS = 150.0
"""Faster than people see and press: such a press was begun before the stimulus was there."""
SHOWN_BY = {
    "frame": "the window system confirmed the frame",
    "flush": "handed to the window system, which confirms nothing",
    "simulated": "simulated",
}
TIMED_BY = {
    "event": "the input event's own time stamp",
    "arrival": "when the program got it: the stamp could not be trusted",
    "simulated": "simulated",
}


def timing(group: Group) -> Iterator[Html]:
    """A table of what is known of the times, and of what was broken off."""
    rows = list(_rows(group))
    if rows:
        yield table(("What", "Value", "n"), rows, numeric=(2,))
    yield paragraph(_left_out(group), "quiet")


def _rows(group: Group) -> Iterator[tuple[object, object, object]]:
    counted = group.annotations
    for column, names, what in (
        ("shown_by", SHOWN_BY, "Appearance timed by"),
        ("timed_by", TIMED_BY, "Response timed by"),
    ):
        for value, n in counted[column].value_counts().items():
            text = f"{what}: {names.get(str(value), str(value))}"
            yield text, percent(n / len(counted)), f"{n:,}"
    # The first one of a part waits for its screen, and one that is shown again for the participant.
    waited = counted[(counted["attempt"] == 1) & (counted["trial"] > 1)]
    late = waited["due_to_paint_ms"].dropna().to_numpy(np.float64)
    if late.size:
        median, p95, p99 = (decimal(float(value), 1) for value in np.percentile(late, (50, 95, 99)))
        text = f"median {median} ms, 95th percentile {p95} ms, 99th {p99} ms"
        yield "From when it was due to its first painted frame", text, f"{late.size:,}"
    for value, n in counted["refresh_ms"].round(2).value_counts().items():
        shown = f"{value:.2f} ms ({1000 / float(str(value)):.0f} Hz)"
        yield "Refresh interval of the display", shown, f"{n:,}"
    if unknown := int(counted["refresh_ms"].isna().sum()):
        yield "Refresh interval of the display", "not told", f"{unknown:,}"
    for side, n in counted["side_px"].value_counts().items():
        yield "Side of the pictures on the display", f"{side} of its pixels", f"{n:,}"
    small = truths(counted["too_small"])
    if small.any():
        label = "Window too small for the study's size of the picture"
        yield label, percent(float(small.mean())), f"{int(small.sum()):,}"
    for device, n in counted["device"].value_counts().items():
        yield f"Answered by {device}", percent(n / len(counted)), f"{n:,}"
    away = truths(counted["keyboard_away"])
    if away.any():
        text = "Keyboard away, reaction time left out"
        yield text, percent(float(away.mean())), f"{int(away.sum()):,}"
    if again := int((counted["prior_exposures"] > 0).sum()):
        yield "Picture seen before in the session", percent(again / len(counted)), f"{again:,}"
    ms = counted["reaction_time_ms"].mask(away).dropna().to_numpy(np.float64)
    if ms.size:
        quick = int((ms < QUICK_MS).sum())
        yield f"Reaction times below {QUICK_MS:g} ms (kept)", percent(quick / ms.size), f"{quick:,}"


def _left_out(group: Group) -> str:
    every = group.every_annotation
    text = f"{labelled(len(group.annotations))} count."
    reasons = every.loc[every["excluded"], "excluded_because"].value_counts()
    if reasons.empty:
        return f"{text} None was left out."
    each = ", ".join(f"{n:,} {reason}" for reason, n in reasons.items())
    return f"{text} Attempts that do not count: {each}."
