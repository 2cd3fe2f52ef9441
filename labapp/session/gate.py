"""The one gate: what `labapp studies check` refuses is neither run nor simulated, planned or
registered.

What the explained model makes of the masked pictures of a plan.

The model is asked before a session begins, and torch is imported then. Once the session runs the
model is not asked any more, for the plan has its answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from labapp.analysis.checking import check_study
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Logits, Photo
from labapp.models.stimuli.masked_pictures import Masking, find_recorded_outputs
from labapp.study.loading import LoadedStudy
from labapp.study.overview import Checked, in_order
from labapp.study.plan import Plan
from labapp.study.stimulus_stages import PredictMasked


def predict_masked(
    stimulus_set: StimulusSet, masking: Masking, photo: Photo, method: str
) -> Sequence[Logits]:
    """The outputs that the set records for its masked pictures; if it records none, its model is
    asked, if it is installed (see `labapp.models.explanations.masked.outputs`).

    Raises StimuliError or ModelError if that model is another one, or is damaged.
    """
    if outputs := find_recorded_outputs(stimulus_set, masking, photo, method):
        return outputs
    from labapp.models.explanations import masked

    return masked.outputs(stimulus_set, masking, photo, method)


def check_predictable(
    stimulus_set: StimulusSet, masking: Masking, photo: Photo, method: str
) -> Sequence[Logits]:
    """As `predict_masked`, for plans that are only checked: no model is loaded, and where a model
    would have to be asked there are no outputs. Raises what the model's card alone can tell."""
    if not (outputs := find_recorded_outputs(stimulus_set, masking, photo, method)):
        from labapp.models.explanations import masked

        masked.refuse_another(stimulus_set)
    return outputs


@dataclass
class MaskedPredictor:
    """`check_predictable`, which remembers the sets whose masked pictures no model can be asked
    about.

    unknown: id of a set -> a masking whose outputs the set does not record and no installed model
    can give.
    """

    unknown: dict[str, Masking] = field(default_factory=dict)

    def __call__(
        self, stimulus_set: StimulusSet, masking: Masking, photo: Photo, method: str
    ) -> Sequence[Logits]:
        outputs = check_predictable(stimulus_set, masking, photo, method)
        if not outputs:
            from labapp.models.explanations import masked

            if not masked.has_model(stimulus_set):
                self.unknown[stimulus_set.id] = masking
        return outputs

    def notices(self) -> Iterator[str]:
        """What people running the study should know before the first session, by set."""
        for name, masking in self.unknown.items():
            percents = ", ".join(f"{percent:g}" for percent in masking.percents)
            yield (
                f"Note: the model's answers to the masked pictures of {name} are not known for "
                f"{percents} % (fill {masking.fill}, sign {masking.sign}) and cannot be added "
                "to sessions afterwards, so a report will not show the model's own results. "
                "Write these pictures for your model with `labapp stimuli masks`, or install "
                "the model to which the set refers."
            )


def look_at(
    study: str | Path,
    language: str | None = None,
    predict_masked: PredictMasked = check_predictable,
) -> Checked:
    """Everything that is wrong with a study and with what it names. Raises StudyError if there
    is no such study."""
    return check_study(study, predict_masked, language)


def gate(
    study: str | Path, language: str | None = None, plans: list[Plan] | None = None
) -> LoadedStudy:
    """The study, if it is in order.

    plans: gets the plans of every condition. Raises StudyError with every mistake.
    """
    return in_order(look_at(study, language), plans)
