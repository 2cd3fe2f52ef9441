"""Whether a study can be run as it is: `labapp studies check`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from labapp.documents import parse_yaml
from labapp.errors import LabappError, ModelError, StimuliError, StudyError
from labapp.representations import card as cards
from labapp.representations.package import find as find_model
from labapp.representations.space import LatentSpace
from labapp.stimuli import library
from labapp.stimuli.library import StimulusSet
from labapp.stimuli.manifest import Photo
from labapp.stimuli.masking import Masking
from labapp.study import conditions, loading, planner
from labapp.study.flow import ConsentItem, InterviewItem, items_of
from labapp.study.loading import LoadedStudy
from labapp.study.unmasking import Logits, OutputsOf, recorded_outputs


def space_of(model: str) -> LatentSpace:
    """The latent space on a model's card, without loading the model. Raises ModelError."""
    return cards.read(find_model(model)).space


def prior_of(model: str) -> bool:
    """Whether a model's card says that it has a prior and no encodings. Raises ModelError."""
    return cards.read(find_model(model)).sampling == "prior"


def undeclared(loaded: LoadedStudy) -> list[str]:
    """What is said of items that declare nothing and are therefore left out of de-identified
    copies; at most one line."""
    items = [
        f"{instrument.id}.{item.id}"
        for instrument in loaded.instruments.values()
        for item in instrument.items
        if item.identifying is None and item.withheld
    ]
    told = (
        "De-identified copies leave out the answers to these items, which declare neither "
        f"identifying: yes nor identifying: no: {', '.join(items)}."
    )
    return [told] if items else []


def notices(loaded: LoadedStudy) -> list[str]:
    """What is in order, and still worth a word to whoever made the study."""
    items = list(items_of(loaded.study.flow))
    talks = any(isinstance(item, InterviewItem) for item in items)
    if talks and not any(isinstance(item, ConsentItem) for item in items):
        told = (
            "The study has an interview and asks for no consent: name the interview, and that the "
            "voice is recorded in it, in what participants sign."
        )
        return [told]
    return []


def check(study: str | Path, outputs_of: OutputsOf = recorded_outputs) -> LoadedStudy:
    """Load a study and realise plans of every condition, so that a missing model, or a stimulus
    set that does not fit, is found too. outputs_of: see `planner.realise`."""
    loaded = loading.load(study)
    located = parse_yaml(loaded.path, loaded.files[loaded.path.name])

    def in_the_study(named: str, error: LabappError) -> StudyError:
        line = located.line_of_text(named)
        where = f"{loaded.path}, line {line}" if line else f"{loaded.path}"
        return StudyError(f"{where}: {error.what}", todo=error.todo)

    def space(model: str) -> LatentSpace:
        try:
            return space_of(model)
        except ModelError as error:
            raise in_the_study(model, error) from error

    references: dict[str, str] = {}

    @cache
    def stimuli(reference: str) -> StimulusSet:
        try:
            found = library.load(reference)
        except StimuliError as error:
            raise in_the_study(reference, error) from error
        references[found.sha256] = reference
        return found

    def outputs(
        found: StimulusSet, masking: Masking, photo: Photo, method: str
    ) -> Sequence[Logits]:
        try:
            return outputs_of(found, masking, photo, method)
        except (StimuliError, ModelError) as error:
            raise in_the_study(references[found.sha256], error) from error

    for number, drawn in conditions.variants(loaded.study.assignment):
        label = loaded.study.participants.label(number)
        planner.realise(
            loaded,
            label,
            space_of=space,
            prior_of=prior_of,
            stimuli_of=stimuli,
            outputs_of=outputs,
            drawn=drawn,
        )
    return loaded
