"""What a study is and will do, for people: `labapp studies show` and `check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labapp.documents import parse_yaml
from labapp.errors import ModelError, StudyError
from labapp.records.layout import FolderName
from labapp.representations import card as cards
from labapp.representations.package import find as find_model
from labapp.representations.space import LatentSpace
from labapp.study import conditions, loading, plan, planner
from labapp.study.loading import LoadedStudy
from labapp.study.plan import PlannedPart, QuestionnairePart, ReconstructionPart
from labapp.study.single_dimension import SingleDimensionPart


def space_of(model: str) -> LatentSpace:
    """The latent space on a model's card, without loading the model. Raises ModelError."""
    return cards.read(find_model(model)).space


def prior_of(model: str) -> bool:
    """Whether a model's card says that it has a prior and no encodings. Raises ModelError."""
    return cards.read(find_model(model)).sampling == "prior"


def check(study: str | Path) -> LoadedStudy:
    """Load a study and realise plans of every condition, so that a missing model is found too."""
    loaded = loading.load(study)
    located = parse_yaml(loaded.path, loaded.files[loaded.path.name])

    def space(model: str) -> LatentSpace:
        try:
            return space_of(model)
        except ModelError as error:
            line = located.line_of_text(model)
            where = f"{loaded.path}, line {line}" if line else f"{loaded.path}"
            raise StudyError(f"{where}: {error.what}", todo=error.todo) from error

    for number, drawn in conditions.variants(loaded.study.assignment):
        label = loaded.study.participants.label(number)
        planner.realise(loaded, label, space_of=space, prior_of=prior_of, drawn=drawn)
    return loaded


def taken(data: Path, study: str) -> set[str]:
    """Participants who have a session of this study under the data root."""
    folder = data / study
    names = (FolderName.parse(child.name) for child in folder.iterdir()) if folder.is_dir() else ()
    return {name.participant for name in names if name}


def next_free(loaded: LoadedStudy, data: Path, count: int) -> list[str]:
    """The next `count` participant labels without a session."""
    used = taken(data, loaded.study.id)
    labels: list[str] = []
    number = 0
    while len(labels) < count:
        number += 1
        label = loaded.study.participants.label(number)
        if label not in used:
            labels.append(label)
    return labels


@dataclass(frozen=True)
class Overview:
    """loaded: the study; parts: the first of `plans`' parts; plans: by participant."""

    loaded: LoadedStudy
    recorded: int
    plans: dict[str, plan.Plan]

    def to_json(self) -> dict[str, Any]:
        study = self.loaded.study
        return {
            "id": study.id,
            "title": study.title,
            "version": study.version,
            "sha256": self.loaded.sha256,
            "recorded": self.recorded,
            "flow": [part.model_dump(mode="json") for part in self._parts],
            "next": {label: made.assignment for label, made in self.plans.items()},
        }

    @property
    def _parts(self) -> Sequence[PlannedPart]:
        return next(iter(self.plans.values())).parts

    def lines(self) -> list[str]:
        study = self.loaded.study
        out = [
            f"{study.title} ({study.id}, version {study.version})",
            f"Participants recorded so far: {self.recorded}. Sound: {study.recording.audio}.",
            "",
            "Flow:",
        ]
        out += [f"  {_flow_line(part)}" for part in self._parts]
        out += ["", "Next participants and their order of models:"]
        for label, made in self.plans.items():
            out.append(f"  {label}  {' → '.join(made.assignment.get('models', []))}")
        return out


def _flow_line(part: PlannedPart) -> str:
    if isinstance(part, ReconstructionPart):
        what = "practice" if part.role == "practice" else "questions"
        return f"{part.title}: {part.trials} {what}, target {part.target_alignment * 100:g} %"
    if isinstance(part, SingleDimensionPart):
        what = "practice questions" if part.role == "practice" else "questions"
        return f"{part.title}: {part.trials} single-dimension {what}, {part.visualisation}"
    if isinstance(part, QuestionnairePart):
        return f"Questionnaire {part.instrument}"
    return part.title


def overview(study: str, participants: int, data: Path) -> Overview:
    """The study and the plans of its next participants."""
    loaded = loading.load(study)
    labels = next_free(loaded, data, participants)
    drawn = next(conditions.variants(loaded.study.assignment))[1]
    plans = {
        label: planner.realise(loaded, label, space_of=space_of, prior_of=prior_of, drawn=drawn)
        for label in labels
    }
    return Overview(loaded, len(taken(data, loaded.study.id)), plans)
