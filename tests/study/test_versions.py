"""What two versions of a study say differently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from labapp.base.errors import StudyNotFound
from labapp.cli.main import app
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study.versions import Difference, compare, read_files
from tests.helpers.beside import put_beside

STUDY = """\
id: own
title: Own
version: 1
flow:
  - consent: texts/{language}/consent.md
  - questionnaire: mood
  - debrief: texts/{language}/debrief.md
"""
MOOD = """\
id: mood
version: 1
title: Mood
source: Ours
items:
  - {id: calm, kind: slider, text: Calm}
  - {id: glad, kind: scale, text: Glad, points: 5, low: l, high: h}
"""


def test_a_pilot_and_the_main_study_are_compared(tmp_path: Path) -> None:
    study = tmp_path / "own.yaml"
    put_beside(tmp_path)
    study.write_text(STUDY)
    mood, debrief = tmp_path / "instruments/mood.yaml", tmp_path / "texts/en/debrief.md"
    mood.write_text(MOOD)
    (tmp_path / "instruments/umux.yaml").unlink()
    (pilot,) = simulate_study(str(study), 1, "random", tmp_path / "pilot")
    out = CliRunner().invoke(app, ["studies", "diff", str(pilot), str(study)]).output
    assert out.strip() == "No differences."
    main = tmp_path / "main.yaml"
    study.rename(main)
    asked = "  - questionnaire: mood\n"
    new = STUDY.replace("version: 1", "version: 2")
    main.write_text(new.replace(asked, f"{asked}  - questionnaire: shipped:umux\n"))
    mood.write_text(MOOD.replace("points: 5", "points: 7").replace("Calm", "How calm"))
    text = debrief.read_text()
    debrief.write_text(f"{text}\nOne more line.\n")
    found = list(compare(read_files(str(pilot)), read_files(str(main))))
    assert [each for each in found if each.file != "texts/en/debrief.md"] == [
        Difference("study file", "version", "1", "2"),
        Difference("study file", "flow[2]", "–", '{"questionnaire": "shipped:umux"}'),
        Difference("instruments/mood.yaml", "items.calm.text", "Calm", "How calm"),
        Difference("instruments/mood.yaml", "items.glad.points", "5", "7"),
        Difference("instruments/umux.yaml", "", "–", "the file is there"),
    ]
    (line,) = [each for each in found if each.file == "texts/en/debrief.md"]
    assert line.place.startswith("line ")
    assert "One more line." in line.after
    arguments = ["studies", "diff", str(pilot), str(main)]
    listed = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert listed == [each._asdict() for each in found]
    shown = CliRunner().invoke(app, arguments).output
    assert "study file, version\n  1  " in shown
    with pytest.raises(StudyNotFound, match="no folder"):
        read_files(str(tmp_path / "pilot"))


def test_what_was_put_between_moves_nothing() -> None:
    before, after = (
        {"study file": f"flow:\n  - {{a: 1}}\n{more}  - {{b: 2}}\n".encode()}
        for more in ("", "  - {c: 3}\n")
    )
    assert [(each.place, each.before, each.after) for each in compare(before, after)] == [
        ("flow[1]", "–", '{"c": 3}')
    ]
