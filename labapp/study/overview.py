"""Whether a study can be run as it is: `labapp studies check`."""

from __future__ import annotations

from pathlib import Path

from labapp.documents import parse_yaml
from labapp.errors import ModelError, StudyError
from labapp.representations import card as cards
from labapp.representations.package import find as find_model
from labapp.representations.space import LatentSpace
from labapp.study import conditions, loading, planner
from labapp.study.loading import LoadedStudy


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
