"""What the participant is told of the payment, for screenshots.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labapp.record.events.commands import Next
from scripts.screens_participant import Shot, opened
from tests.helpers.languages import translated
from tests.helpers.rooms import skip_to, solve
from tests.helpers.studies import write_study

PAYS = """\
incentive: {text: "texts/{language}/incentive-bonus.md", base: 3.75, per_solved: 0.15}
flow:
  - consent: texts/{language}/consent.md
"""
DEBRIEF = "  - debrief: texts/{language}/debrief.md\n"


def shots(folder: Path) -> Iterator[Shot]:
    for language in ("en", "de"):
        study = write_study(folder / language, "sinelines/gt")
        study.write_text(study.read_text().replace("flow:\n", PAYS) + DEBRIEF)
        data = folder / language / "data"
        with opened(data, study=translated(study, language)) as (room, window):
            skip_to(room, "incentive")
            yield f"{language}-p90-payment", window
            skip_to(room, "stage-1")
            solve(room)
            room.runner.send(Next())
            skip_to(room, "debrief")
            yield f"{language}-p91-paid", window
