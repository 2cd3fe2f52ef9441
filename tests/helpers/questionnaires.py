"""A study of questionnaires, in a folder of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from labapp.tasks.questionnaire import simulated
from tests.helpers.beside import put_beside

ALL = (
    "seq",
    "nasa-tlx",
    "nasa-tlx-weights",
    "understanding",
    "synthetic-end",
    "demographics",
    "demographics-studies",
    "comments",
    "sus",
    "ueq-s",
    "model-trust",
    "explanation-satisfaction",
    "umux",
    "umux-lite",
    "forecast-check",
    "hive-demographics",
    "hive-understanding",
    "hive-feedback",
)
"""Every shipped instrument that any study can ask."""
ABOUT_A_MODEL = ("hive-trade-off-objects", "hive-trade-off-species")
"""Those that only a study of an explained model can ask."""


def questionnaire_study(
    folder: Path, instruments: Sequence[str] = ALL, language: str = "en", stages: int = 0
) -> Path:
    """A study file that asks these instruments, after so many stages of one question each."""
    folder.mkdir(parents=True, exist_ok=True)
    models = ("sinelines/gt", "sinelines/vae", "sinelines/ae")[:stages]
    lines = ["id: asked", "title: Questionnaires", "version: 1", f"language: {language}", "flow:"]
    if models:
        lines += [
            "  - stages:",
            "      task: reconstruction",
            f"      models: [{', '.join(models)}]",
            "      trials: 1",
            "      skip: always",
        ]
    lines += [f"  - questionnaire: {name}" for name in instruments]
    path = folder / "asked.yaml"
    put_beside(folder)
    path.write_text("\n".join(lines) + "\n")
    return path


WRITTEN = """\
id: sheet
version: 1
title: A sheet
per_page: 1
source: Made for the tests.
items:
  - {id: first, kind: written, text: "What is on your mind?"}
  - {id: why, kind: written, text: "Why?", lines: 3}
"""


def written_study(folder: Path, break_s: float | None = None) -> Path:
    """A study of a text, a questionnaire of two pages with a required written item on each, a break
    perhaps, and another text."""
    (folder / "instruments").mkdir(parents=True, exist_ok=True)
    (folder / "instruments" / "sheet.yaml").write_text(WRITTEN)
    (folder / "words.md").write_text("# Words\n\nThat is all.\n")
    pause = [] if break_s is None else [f"  - {{break: words.md, at_least_s: {break_s:g}}}"]
    lines = ["id: written", "title: Written answers", "version: 1", "flow:", "  - text: words.md"]
    path = folder / "written.yaml"
    lines += ["  - questionnaire: sheet", *pause, "  - debrief: words.md"]
    put_beside(folder)
    path.write_text("\n".join(lines) + "\n")
    return path


def written_session(data: Path) -> Path:
    """The one session of `written_study` in a data folder."""
    (path,) = (data / "written").glob("sub-*")
    return path


def leave_why_empty(patch: pytest.MonkeyPatch) -> None:
    """Let simulated participants give no answer to the required item `why` of `written_study`."""
    answer = simulated.answer

    def empty(item: Any, *rest: Any) -> Any:
        return "" if item.id == "why" else answer(item, *rest)

    patch.setattr(simulated, "answer", empty)


def own_study(folder: Path, instrument: str) -> Path:
    """The study `own`, which asks one instrument of its own, and then one question about dials that
    can be named; instrument: its file."""
    (folder / "instruments").mkdir(parents=True)
    name = instrument.partition("id:")[2].split()[0]
    (folder / "instruments" / f"{name}.yaml").write_text(instrument)
    path = folder / "own.yaml"
    lines = ["id: own", "title: Our own questions", "version: 1", "flow:"]
    stage = ["task: reconstruction", "models: [sinelines/gt]", "trials: 1", "labels: editable"]
    lines += [f"  - questionnaire: {name}", "  - stages:", *(f"      {line}" for line in stage)]
    put_beside(folder)
    path.write_text("\n".join(lines) + "\n")
    return path


TLX_SUBSCALES = (
    "mental_demand",
    "physical_demand",
    "temporal_demand",
    "performance",
    "effort",
    "frustration",
)
TLX_PAIRS = {f"{a}_or_{b}": (a, b) for a, b in combinations(TLX_SUBSCALES, 2)}
"""The 15 comparisons of NASA-TLX: id of the item -> its two subscales."""
