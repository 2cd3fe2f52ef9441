"""The report's section on the alignment over time, question by question."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from labapp.analysis.tables import Tables
from labapp.report.page import Html, heading, paragraph
from labapp.tasks.reconstruction.plan import CALIBRATION, TASK

SHOWN_SESSIONS = 12
"""Small multiples are drawn for so many sessions of a study; the tables hold the others."""
SHOWN_QUESTIONS = 130
"""They are drawn for fewer sessions where these have more questions than this together: a panel
takes some 20 ms to draw."""


def courses(tables: Tables, anchor: str) -> Iterator[Html]:
    """Small multiples of the alignment, a figure a session."""
    chosen = (tables.trials["role"] == "stage") & tables.trials["task"].isin([TASK, CALIBRATION])
    trials = tables.trials[chosen]
    groups = list(trials.groupby(["participant", "session"], sort=True))
    if not groups:
        return
    from labapp.tasks.reconstruction.report.figures_alignment import alignment

    yield heading(3, "Alignment over time, question by question")
    yield paragraph(
        "Dashed: the alignment asked for. Dot: solved; diamond: marked; cross: skipped; square: "
        "cut off. The time axis is the same along a row.",
        "quiet",
    )
    ends = accumulate(len(own) for _, own in groups)
    n = max(1, min(SHOWN_SESSIONS, sum(end <= SHOWN_QUESTIONS for end in ends)))
    for number, ((participant, session), own) in enumerate(groups[:n]):
        study = str(own["study"].iloc[0])
        taken = tables.snapshots_of(study, str(participant), str(session))
        drawing = alignment(own, taken, f"{anchor}-q{number}")
        who = f"Participant {participant}, session {session}"
        yield drawing.html(who, f". {who}")
    if len(groups) > n:
        yield paragraph(f"{len(groups) - n} more sessions are in the table snapshots.", "quiet")
