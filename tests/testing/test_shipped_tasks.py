"""Every task that comes with labapp passes the kit that others are checked with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labapp.analysis.rows import SessionRecords
from labapp.record.events import payload_of
from labapp.session.gate import predict_masked
from labapp.session.stimuli import stimuli_of
from labapp.study import loading, plan
from labapp.study.plugins import registry
from labapp.study.plugins.registry import TaskType
from labapp.testing import check_task
from labapp.testing.checking import Models, _make_plans
from labapp.testing.rehearsal import Notes, Rehearsal
from tests.helpers import concepts, stimuli

TEXT = "shipped:debrief"
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
    "survey": [
        SEEN,
        {"survey": TEXT, "link": "https://example.org/?pid={participant}", "open_with": "both"},
    ],
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


def rehearsal_of(task_type: TaskType[Any], study: Path, strategy: str) -> Rehearsal:
    """A session of a study, before anybody did anything."""
    loaded, models = loading.load(study), Models({})
    planned = next(iter(_make_plans(loaded, models, stimuli_of, predict_masked)))
    used = {name: models[name] for part in plan.parts_of(planned) for name in part.models()}
    return Rehearsal(task_type, loaded, planned, used, Notes(), strategy)


ASKING = [known.name for known in registry.task_types() if known.shown]
RULES = ("leave-out", "keep", "repeat-question")
LASTED_S = 500.0
LIMITS: dict[str, Item] = {
    "reconstruction": {"time_limit_min": 5},
    "single-dimension": {"time_limit_min": 5},
    "concept-repair": {"time_limit_s": 300},
}
"""How a study limits the time of its questions, where it can."""


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ASKING)
def test_a_question_in_which_the_computer_stood_still(tmp_path: Path, name: str, rule: str) -> None:
    """Of every task: no time limit runs out for it, durations follow the study's rule, the tables
    say how long it was, and a question is asked again where the study wants that."""
    study = tmp_path / "short.yaml"
    flow = [dict(item) for item in STUDIES[name] if "stages" in item]
    for item in flow:
        item["stages"] = {**item["stages"], **LIMITS.get(name, {})}
    asked: dict[str, Any] = {"id": "short", "title": "Short", "version": 1, "stalls": rule}
    study.write_text(json.dumps(asked | {"unnamed_texts": "shipped", "flow": flow}))
    (task_type,) = [known for known in registry.task_types() if known.name == name]
    strategy = "knowing" if name == "reconstruction" else "random"
    session = rehearsal_of(task_type, study, strategy)
    session.runner.machine.stalls = rule
    runner = session.runner

    def open_question() -> bool:
        state = runner.state
        task = runner.machine.tasks[max(0, state.index)]
        if runner.part is None or not runner.part.measures:
            return False
        shown = getattr(getattr(state.part_state, "trial", None), "open", False)
        return bool(task.asked_again(state.part_state)) or (name == "unmasking" and shown)

    session.go_on(open_question)
    key = runner.machine.trial_key(runner.state)
    working = runner.state.pauses.working_ns(session.clock.now_ns())
    session.stand_still(LASTED_S)
    passed = runner.state.pauses.working_ns(session.clock.now_ns()) - working
    assert passed == (LASTED_S * 1e9 if rule == "keep" else 0)
    kinds = [event.kind for event in session.events]
    if rule != "keep":
        assert "stage.time_expired" not in kinds
        assert not any(event.payload.get("outcome") == "time_expired" for event in session.events)
    again = runner.machine.trial_key(runner.state)
    repeats = rule == "repeat-question" or (name == "unmasking" and rule != "keep")
    assert again[:2] == key[:2] if rule != "keep" or name in ("judging", "unmasking") else True
    if repeats:
        assert task_type.asks_again
        assert (again[2] or 0) == (key[2] or 0) + 1
    session.go_on(lambda: runner.finished)
    session.replays()
    assert not session.notes.sentences
    records = SessionRecords.of([(event, payload_of(event)) for event in session.events], "it")
    rows = {(row["stage"], row["trial"], row["attempt"]): row for row in records.rows()["trials"]}
    row = rows[key]  # type: ignore[index]
    assert row["stalled_s"] == LASTED_S
    assert sum(other["stalled_s"] for other in rows.values()) == LASTED_S
    assert row["excluded"] == repeats
    for other in rows.values():
        if other["duration_s"] is not None and not other["excluded"]:
            assert (other["duration_s"] >= LASTED_S) == (rule == "keep" and other is row)
    (told,) = [d for d in records.deviations if d.kind == "stalled"]
    assert told.duration_s == LASTED_S
