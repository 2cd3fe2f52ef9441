"""How a simulated participant says what masked pictures show.

Paper 004, sections 3.4 to 4.1. `understanding` is an observer whose psychometric function is known:
what an analysis makes of its sessions can be held against the parameters (`Observer`).
`explanation` follows the model: what it says of the masked picture, or of the whole one where
nobody asked it about the masked one. Any other name presses any button.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labapp.base.clock import NS
from labapp.record.events import Source
from labapp.session.simulation.person import CANNOT_TELL, SEES
from labapp.study.conditions import generator
from labapp.study.plugins.simulated import DEVICE, Actor, SimulatedParticipant, TrialKey
from labapp.tasks.unmasking.events import Respond, StimulusPainted
from labapp.tasks.unmasking.plan import (
    DONT_KNOW,
    PlannedMask,
    PlannedSequence,
    StimulusTrial,
    UnmaskingPart,
)


class Observing(Actor[UnmaskingPart]):
    """Says what the masked picture on the screen shows, as soon as that takes a participant."""

    def __init__(self, part: UnmaskingPart, participant: SimulatedParticipant) -> None:
        super().__init__(part, participant)
        self._trial: TrialKey | None = None
        self._reply: Reply | None = None

    def act(self) -> None:
        participant, runner, part = self.participant, self.participant.runner, self.part
        now_ns = runner.clock.now_ns()
        trial: StimulusTrial | None = self.state.trial
        if trial is not None and trial.due and participant.paints:
            if now_ns < trial.due_ns:
                participant.at(trial.due_ns)
                return
            runner.send(StimulusPainted(now_ns, DEVICE, None), Source.SIMULATED)
            trial = self.state.trial
        if trial is None or not trial.open or trial.painted_ns is None:
            participant.later(participant.pace.stride_s)
            return
        key = (part.id, trial.number, trial.attempt)
        if self._trial != key or self._reply is None:
            self._trial = key
            self._reply = self._annotator().reply(part, trial)
            named = part.class_of(self._reply.response) is not None
            participant.think_aloud(SEES if named else CANNOT_TELL)
        reply = self._reply
        reaction_ms = reply.reaction_ms * participant.pace.reaction
        wanted_ns = trial.painted_ns + round(reaction_ms * NS / 1000)
        if now_ns < wanted_ns:
            participant.at(wanted_ns)
            return
        runner.send(Respond(reply.response, DEVICE, now_ns, DEVICE), Source.SIMULATED)
        participant.at(now_ns)

    def _annotator(self) -> Annotator:
        """Who says what the pictures of this study show: the same in all its blocks."""
        participant, key = self.participant, ("unmasking",)
        if key not in participant.memory:
            images = {
                sequence.image
                for part in participant.runner.machine.parts
                if isinstance(part, UnmaskingPart) and part.role == "stage"
                for sequence in part.sequences
            }
            observer = participant.options.get("unmasking", Observer())
            participant.memory[key] = Annotator(
                participant.seed, participant.strategy, images, observer
            )
        annotator: Annotator = participant.memory[key]
        return annotator


Float64 = NDArray[np.float64]

THRESHOLDS = MappingProxyType({"guided_backprop": 10.0, "lrp": 13.0, "gradient": 18.0})
"""In the order that the paper found (4.1, figure 6); the numbers are ours. With what else
`Observer` has, about a third of the annotations at 6 % name a class, as published."""


@dataclass(frozen=True, slots=True)
class Observer:
    """The parameters of `understanding`; logarithms are natural ones of the percentage shown.

    Something is recognised in a picture of p percent with the probability
    ``1 / (1 + exp(-slope * (ln p - ln threshold - offset)))``, where the offset is that of the
    participant plus that of the image. It is drawn once for image and method, so that what is
    recognised stays recognised as more is shown, with this very function at each mask.

    thresholds : method -> percent; any other method has `elsewhere`.
    slope : per unit of ln percent.
    guess : share of labels where nothing is recognised, any class as likely as the others.
    lapse : share of "I don't know" where something is recognised.
    participants_sd, images_sd : of the offsets. Those of the images sum to nothing, so that the
        thresholds of a study are the ones given here, whatever its images.
    misread : share of image and method that are at first recognised as another class.
    follows : the same where the model is wrong about the image, and then it is the class that the
        model says (paper 004, 4.4).
    corrected : they are recognised as what they are at so many times the percentage at which they
        were recognised at all.
    fastest_ms, reaction_ms, reaction_sd : a reaction time is the fastest plus a log-normal time of
        that median and that sd of its logarithm, at most slowest_ms.
    doubt : how much longer the median is where just as much is shown as is needed to recognise
        something (paper 004, figure 5), as a share.
    doubt_sd : how far from there that fades, in ln percent.
    again : the median of giving the same answer as to the mask before, as a share.
    paces_sd : of the participants' paces, logarithms.
    """

    thresholds: Mapping[str, float] = field(default_factory=lambda: THRESHOLDS)
    elsewhere: float = 13.0
    slope: float = 3.0
    guess: float = 0.25
    lapse: float = 0.02
    participants_sd: float = 0.2
    images_sd: float = 0.15
    misread: float = 0.08
    follows: float = 0.3
    corrected: float = 1.6
    fastest_ms: float = 250.0
    reaction_ms: float = 450.0
    reaction_sd: float = 0.4
    slowest_ms: float = 3000.0
    doubt: float = 0.8
    doubt_sd: float = 0.4
    again: float = 0.75
    paces_sd: float = 0.15

    def threshold(self, method: str) -> float:
        """Percent shown at which half is recognised by the middle participant."""
        return self.thresholds.get(method, self.elsewhere)

    def compute_recognition(
        self, percent: ArrayLike, method: str, offset: ArrayLike = 0.0
    ) -> Float64:
        """Probability that something is recognised: float64, percent and offset broadcast."""
        beyond = np.log(percent) - np.log(self.threshold(method)) - np.asarray(offset)
        values: Float64 = np.asarray(1 / (1 + np.exp(-self.slope * beyond)), np.float64)
        return values

    def compute_labelling(
        self, percent: ArrayLike, method: str, offset: ArrayLike = 0.0
    ) -> Float64:
        """Probability of an answer other than "I don't know"; as `recognised`."""
        seen = self.compute_recognition(percent, method, offset)
        return self.guess * (1 - seen) + (1 - self.lapse) * seen

    def correct(
        self,
        percent: ArrayLike,
        method: str,
        offset: ArrayLike = 0.0,
        *,
        classes: int = 2,
        model_wrong: bool = False,
    ) -> Float64:
        """Probability of the right class, "I don't know" counted as not right; as `recognised`."""
        seen = self.compute_recognition(percent, method, offset)
        late = self.compute_recognition(np.asarray(percent) / self.corrected, method, offset)
        misread = self.follows if model_wrong else self.misread
        right = (1 - misread) * seen + misread * late
        return self.guess / classes * (1 - seen) + (1 - self.lapse) * right


@dataclass(frozen=True, slots=True)
class Reply:
    """What an annotator presses, and how long after the picture was painted."""

    response: int
    reaction_ms: float


class Annotator:
    """One participant: the same seed answers the same, also after an interruption. images: all that
    the stages show, for each of them is as hard as its place among them says; that of an example is
    in the middle."""

    def __init__(
        self,
        seed: tuple[int, *tuple[str, ...]],
        strategy: str,
        images: Iterable[str],
        observer: Observer | None = None,
    ) -> None:
        self._seed = seed
        self._strategy = strategy
        self.observer = observer or Observer()
        rng = generator(*seed, "observer")
        self.offset = float(rng.normal(0.0, self.observer.participants_sd))
        self.pace = float(np.exp(rng.normal(0.0, self.observer.paces_sd)))
        self.difficulties = difficulties(images, self.observer.images_sd)
        self._before: tuple[str, int, int] | None = None
        self._drawn: tuple[tuple[str, int], tuple[float, bool, str]] = ("", 0), (0.0, False, "")

    def reply(self, part: UnmaskingPart, trial: StimulusTrial) -> Reply:
        """The answer to a stimulus of a part."""
        place = trial.sequence
        sequence, mask = part.stimulus(place, trial.mask)
        rng = generator(*self._seed, part.id, trial.number, trial.attempt)
        if self._strategy == "understanding":
            response, beyond = self._choose_response(part, place, sequence, mask, rng)
        elif self._strategy == "explanation":
            response, beyond = _button(part, find_predicted_class(part, sequence, mask)), np.inf
        else:
            response, beyond = int(rng.integers(len(part.buttons))), np.inf
        observer, again = self.observer, self._before == (part.id, place, response)
        self._before = (part.id, place, response)
        median = observer.reaction_ms * self.pace
        median *= 1 + observer.doubt * np.exp(-0.5 * (beyond / observer.doubt_sd) ** 2)
        median *= observer.again if again else 1.0
        taken = observer.fastest_ms + median * np.exp(rng.normal(0.0, observer.reaction_sd))
        return Reply(response, float(min(taken, observer.slowest_ms)))

    def _choose_response(
        self,
        part: UnmaskingPart,
        place: int,
        sequence: PlannedSequence,
        mask: PlannedMask,
        rng: np.random.Generator,
    ) -> tuple[int, float]:
        """The answer, and how far the mask is beyond what is needed to recognise something."""
        observer = self.observer
        if part.adaptive is not None:
            # Pictures come again, more or less of them: each time there is other luck.
            self._drawn = (part.id, place), self._once(part, sequence, rng)
        elif self._drawn[0] != (part.id, place):
            of = (part.id, f"sequence {place}", sequence.image, sequence.method)
            drawn = self._once(part, sequence, generator(*self._seed, *of))
            self._drawn = (part.id, place), drawn
        needed, misread, mistaken = self._drawn[1]
        beyond = float(np.log(mask.percent) - needed)
        if beyond < 0:
            guesses = rng.random() < observer.guess
            classes = part.unmasked.classes
            label = classes[int(rng.integers(len(classes)))] if guesses else None
        elif rng.random() < observer.lapse:
            label = None
        elif misread and beyond < np.log(observer.corrected):
            label = mistaken
        else:
            label = sequence.truth
        return _button(part, label), beyond

    def _once(
        self, part: UnmaskingPart, sequence: PlannedSequence, rng: np.random.Generator
    ) -> tuple[float, bool, str]:
        """Of all masks of a sequence: the logarithm of the percentage that is needed to recognise
        something, whether it is then recognised as another class, and as which."""
        observer = self.observer
        luck = rng.logistic(0.0, 1 / observer.slope)
        needed = np.log(observer.threshold(sequence.method)) + self.offset + luck
        needed += self.difficulties.get(sequence.image, 0.0)
        wrong = sequence.prediction != sequence.truth
        misread = rng.random() < (observer.follows if wrong else observer.misread)
        others = [class_ for class_ in part.unmasked.classes if class_ != sequence.truth]
        mistaken = sequence.prediction if wrong else others[int(rng.integers(len(others)))]
        return float(needed), misread, mistaken


def difficulties(images: Iterable[str], sd: float) -> dict[str, float]:
    """How much more of each image has to be shown than of the middle one, in ln percent.

    The quantiles of a normal distribution, dealt out by the images' names: the same for all
    participants, and their sum is nothing.
    """
    dealt = sorted(set(images), key=lambda image: generator(0, "difficulty", image).random())
    normal = NormalDist()
    return {
        image: sd * normal.inv_cdf((place + 0.5) / len(dealt)) for place, image in enumerate(dealt)
    }


def find_predicted_class(part: UnmaskingPart, sequence: PlannedSequence, mask: PlannedMask) -> str:
    """The class that the model says the masked picture shows; of the whole picture, where it was
    not asked about the masked one."""
    if not mask.logits:
        return sequence.prediction
    return part.unmasked.classes[int(np.argmax(mask.logits))]


def _button(part: UnmaskingPart, label: str | None) -> int:
    """The response that says so."""
    if label is None:
        return DONT_KNOW
    return next(place for place, button in enumerate(part.buttons, start=1) if button.of == label)
