"""Studies that judge the explanations of small stimulus sets."""

from __future__ import annotations

from pathlib import Path

from labapp.models.stimuli.library import StimulusSet
from labapp.tasks.judging.plan import JudgingTask
from tests.helpers import stimuli

SET_OF: dict[JudgingTask, str] = {
    "heatmap-distinction": "heatmaps",
    "prototype-distinction": "prototype-distinction",
    "prototype-agreement": "prototype-agreement",
    "path-distinction": "path-distinction",
    "path-agreement": "path-agreement",
    "path-first-step": "path-agreement",
}
"""The small set of `helpers.stimuli` that a task is asked about."""

STUDY = """
id: judging
title: A study for tests
version: 1
unnamed_texts: shipped
recording: {{audio: "off"}}
assignment:
  shown: {{cells: {{s1: {{set: 1}}, s2: {{set: 2}}}}, draw: 1}}
incentive: {{text: paid.md, base: 2, per_above_chance: 0.1}}
flow:
  - consent: shipped:consent
  {warm_up}
  - method: method.md
  - stages:
      task: {task}
      stimuli: {stimuli}
      description: method.md
      intro: intro.md
      {more}
  - questionnaire: shipped:comments
  - debrief: shipped:debrief
"""


def made_for(folder: Path, task: JudgingTask) -> StimulusSet:
    """The small set for a task."""
    return stimuli.write(folder, SET_OF[task])


def write_judging_study(
    folder: Path, task: JudgingTask, found: StimulusSet, *, warm_up: bool = False, more: str = ""
) -> Path:
    """The file of a study with one stage of a task on a stimulus set; more: a further line of
    `stages`."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "paid.md": "You get {base}.\n\n{per_above_chance} beyond chance.",
        "method.md": "The method.\n\n![](correct)",
        "intro.md": "{photos} photos.",
    }
    for name, text in texts.items():
        (folder / name).write_text(f"# {name}\n\n{text}\n", "utf-8")
    path = folder / "judging.yaml"
    path.write_text(
        STUDY.format(
            task=task,
            stimuli=found.folder,
            warm_up="- warm_up: fruits" if warm_up else "",
            more=more,
        ),
        "utf-8",
    )
    return path
