"""Whether a study can be run as it is: `labapp studies check`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from labapp.documents import dotted, parse_yaml
from labapp.errors import LabappError, ModelError, StimuliError, StudyError
from labapp.plugins import registry, texts
from labapp.representations import card as cards
from labapp.representations import onnx_backend
from labapp.representations.package import find as find_model
from labapp.representations.space import LatentSpace
from labapp.stimuli import library
from labapp.stimuli.library import StimulusSet
from labapp.stimuli.manifest import Logits, Photo
from labapp.stimuli.masking import Masking
from labapp.study import loading, planner
from labapp.study.allocation import variants
from labapp.study.design_checks import uneven
from labapp.study.flow import items_of
from labapp.study.loading import LoadedStudy
from labapp.study.plan import Plan
from labapp.study.stimulus_stages import PredictMasked, recorded_outputs


def space_of(model: str) -> LatentSpace:
    """The latent space on a model's card, without loading the model. Raises ModelError, also where
    what computes the model is not installed: a session could not begin."""
    card = cards.read(find_model(model))
    if card.backend == "onnxruntime":
        onnx_backend.require(card.id)
    return card.space


def prior_of(model: str) -> bool:
    """Whether a model's card says that it has a prior and no encodings. Raises ModelError."""
    return cards.read(find_model(model)).sampling == "prior"


def _undeclared(loaded: LoadedStudy) -> list[str]:
    """A remark on items that do not say whether they identify, and are therefore left out of
    de-identified copies; at most one line."""
    items = [
        f"{instrument.id}.{item.id}"
        for instrument in loaded.instruments.values()
        for item in instrument.items
        if item.identifying is None and item.withheld
    ]
    warning = (
        "De-identified copies leave out the answers to these items, which declare neither "
        f"identifying: yes nor identifying: no: {', '.join(items)}."
    )
    return [warning] if items else []


def notices(loaded: LoadedStudy, plans: Sequence[Plan]) -> list[str]:
    """Remarks to whoever made a study that is in order; plans: of `check`."""
    return [
        *_undeclared(loaded),
        *_unheard(loaded),
        *_unfilled(loaded, plans),
        *_nobody_counts(loaded, plans),
        *_not_known(loaded),
        *_uneven(loaded),
    ]


def _unheard(loaded: LoadedStudy) -> list[str]:
    """Of an interview to which nobody agrees."""
    items = list(items_of(loaded.study.flow))
    if any(item.talks for item in items) and not any(item.consents for item in items):
        warning = (
            "The study has an interview and asks for no consent: name the interview, and that the "
            "voice is recorded in it, in what participants sign."
        )
        return [warning]
    return []


def _unfilled(loaded: LoadedStudy, plans: Sequence[Plan]) -> list[str]:
    """What is said of names in braces that no text of a part fills in, a line a text."""
    warnings: dict[str, list[str]] = {}
    for part in (part for plan in plans for part in plan.parts):
        names = {*part.filled(), *registry.task_type_of(part).fills_in}
        for document in part.documents():
            for name in texts.names(loaded.text(document)):
                if name not in names:
                    there = f" Known there: {', '.join(sorted(names))}." if names else ""
                    line = (
                        f"{document}: nothing is filled in for {{{name}}} in the part "
                        f"{part.id!r}: participants read it as it stands.{there}"
                    )
                    warnings.setdefault(f"{document} {name}", []).append(line)
    return [lines[0] for lines in warnings.values()]


def _nobody_counts(loaded: LoadedStudy, plans: Sequence[Plan]) -> list[str]:
    """Of more questions to be solved than anybody is asked."""
    needed = loaded.study.inclusion.min_solved
    solvable = max(sum(part.solvable for part in plan.parts) for plan in plans)
    if needed <= solvable:
        return []
    warning = (
        f"Nobody would count: inclusion.min_solved is {needed}, and the stages ask {solvable} "
        "questions that can be solved."
    )
    return [warning]


def _not_known(loaded: LoadedStudy) -> list[str]:
    """Of a published study of which nothing is known here."""
    if (repeated := loaded.study.replicates) is None:
        return []
    shipped = (loading.load(path.stem).study.replicates for path in loading.shipped())
    studies = [f"{of.study} ({of.paper})" for of in shipped if of is not None]
    name = f"{repeated.study} ({repeated.paper})"
    if name in studies:
        return []
    warning = (
        f"replicates: nothing is known here of {name}, so that what it printed of recruitment "
        f"cannot stand beside yours. Known are: {', '.join(studies)}."
    )
    return [warning]


def _uneven(loaded: LoadedStudy) -> list[str]:
    """Of a design whose orders cannot come out even, with the line."""
    located = parse_yaml(loaded.path, loaded.files[loaded.path.name])
    return [
        f"line {located.line(place)}, {dotted(place)}: {what}"
        for place, what in uneven(loaded.study)
    ]


def check(
    study: str | Path,
    predict_masked: PredictMasked = recorded_outputs,
    plans: list[Plan] | None = None,
) -> LoadedStudy:
    """Load a study and realise plans of every condition, so that a missing model, or a stimulus set
    that does not fit, is found too. predict_masked: see `planner.realise`; plans: gets the plans
    that were realised."""
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
            stimulus_set = library.load(reference)
        except StimuliError as error:
            raise in_the_study(reference, error) from error
        references[stimulus_set.sha256] = reference
        return stimulus_set

    def outputs(
        stimulus_set: StimulusSet, masking: Masking, photo: Photo, method: str
    ) -> Sequence[Logits]:
        try:
            return predict_masked(stimulus_set, masking, photo, method)
        except (StimuliError, ModelError) as error:
            raise in_the_study(references[stimulus_set.sha256], error) from error

    for number, drawn in variants(loaded.study):
        label = loaded.study.participants.label(number)
        plan = planner.realise(
            loaded,
            label,
            space_of=space,
            prior_of=prior_of,
            stimuli_of=stimuli,
            predict_masked=outputs,
            drawn=drawn,
        )
        if plans is not None:
            plans.append(plan)
    return loaded
