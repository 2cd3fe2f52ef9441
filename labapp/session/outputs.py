"""What the explained model makes of the masked pictures of a plan.

It is asked before a session begins, and torch is imported then; once the session runs nobody is
asked any more, for its plan has the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from labapp.stimuli.library import StimulusSet
from labapp.stimuli.manifest import Photo
from labapp.stimuli.masking import Masking
from labapp.study.stimulus_stages import Logits, recorded_outputs


def outputs_of(found: StimulusSet, masking: Masking, photo: Photo, method: str) -> Sequence[Logits]:
    """What the set itself says of its masked pictures; where it does not, its model is asked, if it
    is installed (see `labapp.explanations.masked.outputs`).

    Raises StimuliError or ModelError where that model is another one, or is damaged.
    """
    if said := recorded_outputs(found, masking, photo, method):
        return said
    from labapp.explanations import masked

    return masked.outputs(found, masking, photo, method)


def could_be_asked(
    found: StimulusSet, masking: Masking, photo: Photo, method: str
) -> Sequence[Logits]:
    """As `outputs_of`, for plans that are only checked: nothing is loaded, and instead of what the
    model would say there is nothing. Raises what its card is enough to know of."""
    if not (said := recorded_outputs(found, masking, photo, method)):
        from labapp.explanations import masked

        masked.refuse_another(found)
    return said


@dataclass
class Askable:
    """`could_be_asked`, which remembers the masked pictures that nobody can be asked about.

    unknown: id of a set -> a masking of which neither the set says, nor an installed model can,
    what the model makes of its pictures.
    """

    unknown: dict[str, Masking] = field(default_factory=dict)

    def __call__(
        self, found: StimulusSet, masking: Masking, photo: Photo, method: str
    ) -> Sequence[Logits]:
        said = could_be_asked(found, masking, photo, method)
        if not said:
            from labapp.explanations import masked

            if not masked.installed(found):
                self.unknown[found.id] = masking
        return said

    def notices(self) -> Iterator[str]:
        """What whoever runs the study should know before the first session, a line a set."""
        for name, masking in self.unknown.items():
            shown = ", ".join(f"{one:g}" for one in masking.percents)
            yield (
                f"Note: what the model makes of the masked pictures of {name} is not known for "
                f"{shown} % (fill {masking.fill}, sign {masking.sign}), and cannot be added to "
                "sessions afterwards: a report will say nothing of the model alone. `labapp "
                "stimuli masks` writes these pictures for your model, or install the model that "
                "the set names."
            )
