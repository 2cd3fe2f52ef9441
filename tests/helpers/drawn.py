"""A study with drawn cells whose sessions take no time, and processes that start them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from labapp.base.clock import FakeClock
from labapp.base.errors import ParticipantTaken, StudyFull
from labapp.record.events.commands import EndSession
from labapp.session import opening
from labapp.session.opening import OpenSession
from labapp.session.overview import next_free
from labapp.study.loading import LoadedStudy, load
from tests.session.sessions import surroundings

STUDY = """
id: drawn
title: Drawn
version: 1
unnamed_texts: shipped
assignment:
  condition:
    draw: {draw}
    included: {included}
    cells: {{{cells}}}
{lines}
flow:
{consent}  - each: condition
    flow:
      - stages: {{task: reconstruction, models: ["sinelines/{{kind}}"], trials: 1, skip: always}}
"""
KINDS = ("gt", "vae", "ae")


def drawn_study(
    folder: Path,
    cells: str = "abcdef",
    draw: int = 2,
    included: int = 1,
    lines: str = "",
    *,
    consent: bool = False,
) -> LoadedStudy:
    """A study whose cells are named by single letters; included: participants each needs."""
    named = ", ".join(f"{cell}: {{kind: {KINDS[n % 3]}}}" for n, cell in enumerate(cells))
    path = folder / "drawn.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    asked = "  - consent: shipped:consent\n" * consent
    text = STUDY.format(cells=named, draw=draw, included=included, lines=lines, consent=asked)
    path.write_text(text)
    return load(path)


def begun(loaded: LoadedStudy, folder: Path, participant: str, **more: Any) -> OpenSession:
    """A new session of the study under `folder / "data"` that has begun."""
    clock = FakeClock()
    session = opening.create(
        loaded,
        participant,
        surroundings(folder),
        data=folder / "data",
        make_clock=lambda start: clock,
        **more,
    )
    session.begin()
    return session


def interrupted(loaded: LoadedStudy, folder: Path, participant: str) -> Path:
    """A session that can be resumed."""
    session = begun(loaded, folder, participant)
    session.close("interrupted")
    return session.folder.path


def ended(loaded: LoadedStudy, folder: Path, participant: str, withdrawal: str = "") -> Path:
    """A session that was ended early."""
    session = begun(loaded, folder, participant)
    session.runner.send(EndSession("tired", withdrawal))
    session.close("ended")
    return session.folder.path


def start_until_full(study: Path, folder: Path) -> None:
    """Start one session after another, as another process may do at the same time."""
    loaded = load(study)
    while True:
        (label,) = next_free(loaded, folder / "data", 1)
        try:
            print(interrupted(loaded, folder, label).name, flush=True)
        except ParticipantTaken:
            continue
        except StudyFull:
            return


if __name__ == "__main__":
    start_until_full(Path(sys.argv[1]), Path(sys.argv[2]))
