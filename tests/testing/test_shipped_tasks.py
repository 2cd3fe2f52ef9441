"""Every task that comes with labapp passes the kit that others are checked with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labapp.plugins import registry
from labapp.testing import check_task
from tests.helpers import concepts, stimuli

TEXT = "texts/{language}/debrief.md"
SEEN = {"text": TEXT}
CIRCLES = {"models": ["circles/gt"]}
JUDGED = {"set": 1, "intro": TEXT, "description": TEXT}
Item = dict[str, Any]
EXAMPLES = int(os.environ.get("LABAPP_KIT_EXAMPLES", "4"))
"""Random courses a task: a sample; `make check-tasks` goes through 200."""

STUDIES: dict[str, list[Item]] = {
    "consent": [{"consent": "shipped:consent"}, SEEN],
    "pages": [SEEN, {"debrief": TEXT}],
    "break": [SEEN, {"break": TEXT, "at_least_s": 2}, SEEN],
    "interview": [SEEN, {"interview": TEXT, "questions": ["How was it?", "And then?"]}],
    "questionnaire": [{"questionnaire": "shipped:nasa-tlx"}, {"questionnaire": "shipped:comments"}],
    "reconstruction": [
        {"tutorial": "reconstruction"},
        {"practice": "circles"},
        {"stages": {"task": "reconstruction", "trials": 2, "skip": "always", **CIRCLES}},
    ],
    "single-dimension": [
        {"tutorial": "exemplars"},
        {"stages": {"task": "single-dimension", "visualisation": "traversals", **CIRCLES}},
    ],
    "judging": [
        {"warm_up": "fruits"},
        {"method": TEXT},
        {"stages": {"task": "heatmap-distinction", "stimuli": "tiny-heatmaps", **JUDGED}},
        {"stages": {"task": "path-first-step", "stimuli": "tiny-path-agreement", **JUDGED}},
    ],
    "unmasking": [
        {
            "stages": {
                "task": "unmasking",
                "stimuli": "tiny-scores",
                "methods": ["edge"],
                "masks": [5.0, 60.0],
                "fill": "mean",
                "intro": TEXT,
            }
        }
    ],
    "concept-repair": [
        {
            "stages": {
                "task": "concept-repair",
                "stimuli": "tiny-concepts-2",
                "items": {"repair": 1, "control": 1},
                "foresee": "half",
                "practice": {"text": TEXT, "items": 1},
                "intro": TEXT,
            }
        },
        {
            "stages": {
                "task": "concept-repair",
                "stimuli": "tiny-concepts-4",
                "instruction": "audit",
                "items": {"repair": 1, "control": 0},
                "grid": False,
                "intro": TEXT,
            }
        },
    ],
}
"""The items of a short study for each task, by the task's name."""


@pytest.fixture(scope="module", autouse=True)
def small_sets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("stimuli")
    for name in ("heatmaps", "path-agreement", "scores"):
        stimuli.write(folder, name)
    concepts.write(folder, 2)
    concepts.write(folder, 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABAPP_STIMULI", str(folder))
        yield


def test_every_task_is_checked() -> None:
    assert list(STUDIES) == [task_type.name for task_type in registry.task_types()]


@pytest.mark.parametrize("name", STUDIES)
def test_a_shipped_task_is_in_order(tmp_path: Path, name: str) -> None:
    study = tmp_path / "short.yaml"
    flow = STUDIES[name]
    study.write_text(
        json.dumps(
            {
                "id": "short",
                "title": "Short",
                "version": 1,
                "unnamed_texts": "shipped",
                "flow": flow,
            }
        )
    )
    (task_type,) = [known for known in registry.task_types() if known.name == name]
    strategy = "knowing" if name == "reconstruction" else "random"  # one that is soon done
    check_task(task_type, study, examples=EXAMPLES, strategy=strategy)
