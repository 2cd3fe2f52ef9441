"""A small cohort of the published studies of judged explanations, answered by seeded dice."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from labapp.analysis import Tables
from labapp.analysis.rows import SessionRecords
from labapp.analysis.tables import tables_of
from labapp.tasks.judging.machine import PhotoTrial
from labapp.tasks.judging.plan import JudgingTask, PhotoQuestion
from tests.analysis.sessions import paired
from tests.helpers.judged import JudgedSession, Said


class Study(NamedTuple):
    """A study, and what is said of the explained model."""

    id: str
    task: JudgingTask
    method: str
    labels: bool
    accuracy: float


STUDIES = (
    Study("gradcam-distinction", "heatmap-distinction", "GradCAM", False, 76.1),
    Study("gradcam-distinction-labels", "heatmap-distinction", "GradCAM", True, 76.1),
    Study("bagnet-distinction", "heatmap-distinction", "BagNet", False, 66.7),
    Study("bagnet-distinction-labels", "heatmap-distinction", "BagNet", True, 66.7),
    Study("protopnet-distinction", "prototype-distinction", "ProtoPNet", False, 79.9),
    Study("protopnet-agreement", "prototype-agreement", "ProtoPNet", False, 79.9),
    Study("prototree-distinction", "path-distinction", "ProtoTree", False, 81.7),
    Study("prototree-agreement", "path-agreement", "ProtoTree", False, 81.7),
    Study("prototree-agreement-tree", "path-first-step", "ProtoTree", False, 81.7),
)
RISKS = ("low_risk", "medium_risk", "high_risk")


def session(study: Study, number: int) -> JudgedSession:
    """Participant `number` of a study, who saw one of four sets of photos."""
    rng = random.Random(f"{study.id} {number}")

    def choose(trial: PhotoTrial, question: PhotoQuestion) -> int:
        if question.right is not None and rng.random() < 0.4:
            return question.right
        return rng.randint(question.first, question.last)

    before: list[Said] = [("hive-demographics", _who(rng)), _understanding(rng)]
    return JudgedSession(
        study.task,
        participant=f"P{number:02d}",
        study=study.id,
        method=study.method,
        labels=study.labels,
        set=1 + number % 4,
        photos=6,
        accuracy=study.accuracy,
        warm_up=study.task.startswith("path"),
        choose=choose,
        before=before,
        after=[_understanding(rng), _understanding(rng), ("hive-trade-off-species", _risks(rng))],
        pause_s=rng.choice((1.0, 1.5, 2.0)),
    )


def cohort(sessions: int = 7, studies: Sequence[Study] = STUDIES) -> Tables:
    """So many sessions of every study."""
    return tables_of(
        [
            SessionRecords.of(paired(session(study, number).builder()), f"{study.id} {number}")
            for study in studies
            for number in range(1, sessions + 1)
        ]
    )


def _who(rng: random.Random) -> dict[str, object]:
    said: dict[str, object] = {"ml_experience": {"chosen": [f"level_{rng.randint(1, 5)}"]}}
    if rng.random() < 0.8:
        said["gender"] = {"chosen": [rng.choice(["woman", "man", "non_binary"])]}
        said["race"] = {"chosen": rng.sample(["white", "asian", "hispanic"], rng.randint(1, 2))}
    return said


def _understanding(rng: random.Random) -> Said:
    return "hive-understanding", {"understanding": rng.randint(2, 5)}


def _risks(rng: random.Random) -> dict[str, object]:
    return {
        risk: {"value": min(100, rng.randint(70, 90) + 4 * place), "touched": rng.random() < 0.7}
        for place, risk in enumerate(RISKS)
    } | {"reason": f"because of {rng.randint(1, 99)}"}
