"""Who takes part: how fast, how exact and how patient a simulated participant is, and its words.

Every constant below was fixed before any study was simulated with it, from what is written about
people in general or from what paper 000 reports over all of its models; none was fitted so that a
model comes out as published. What is said to be ours has no source.

The names that it types for dials are a participant's words, not the window's: short, lower case,
and not the same from one to the next, so that raters have to see that "tilt" and "slant" say the
same. A thought that it says aloud comes from what it knows or is about to do, never from its words;
so the codes of what is said are known without anybody listening. They are those of the shipped
codebooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import log
from typing import Any, NamedTuple

import numpy as np

from labapp.base import resources
from labapp.base.documents import parse_yaml
from labapp.base.reading import files
from labapp.study.conditions import generator

STRIDE_S = 0.12
"""Seconds between two places of a dial that is dragged, at a person's pace (see `driver.HUMAN`)."""

DRAG_WIDTHS_PER_S = 0.4
"""Middle speed of a hand. Paper 000, A.3: people move 0.08 to 0.17 slider widths in a second of a
question, all thinking and looking included; about a third of the time is taken to be dragging."""

SPEED_SD = 0.3
"""Of the logarithm, between participants: the fastest of twenty is about 2.5 times the slowest."""

THINKING_SD = 0.35
"""Of the logarithm, from decision to decision; reaction times are skewed like log-normal ones."""

AIM_SD = 0.06
"""Of where a first movement ends, as a share of its length: the endpoint scatter of aimed movements
(Fitts 1954: about 4 % of what is moved within the target's width), rounded up for sliders."""

PATIENCE_S, PATIENCE_SD = 75.0, 0.5
"""Median time after which a question is given up, and the sd of its logarithm. Paper 000, A.3:
where hardly anybody succeeds (dSprites AE, 15 % solved) a question takes 80.6 ± 47.2 s; a
log-normal time of this median and sd has the mean 85 and the sd 45."""

NEAR, STAYS_ON = 0.05, 1.5
"""So near to the goal, people stay on so much longer (ours)."""

FATIGUE = 0.9
"""Patience after each question given up in a stage, as a share of before: on autoencoders people
got worse from question to question, "suggesting users give up" (paper 000, figure 10). The share
is ours."""

NOISE_SD = 0.25
"""Of the logarithm of the noise of seeing, between participants (ours)."""


@dataclass(frozen=True, slots=True)
class ParticipantTraits:
    """The traits of one participant.

    speed: slider widths a second. thinking: its decisions' length, as a share of the middle one.
    noise: of its seeing, as a share of the middle one (see `percept`). patience_s: seconds.
    """

    speed: float = DRAG_WIDTHS_PER_S
    thinking: float = 1.0
    noise: float = 1.0
    patience_s: float = PATIENCE_S

    @classmethod
    def drawn(cls, seed: int, participant: str) -> ParticipantTraits:
        """A participant's traits: the same for the same seed, whatever the model or strategy."""
        rng = generator(seed, participant, "person")
        return cls(
            DRAG_WIDTHS_PER_S * float(rng.lognormal(0.0, SPEED_SD)),
            float(rng.lognormal(0.0, SPEED_SD)),
            float(rng.lognormal(0.0, NOISE_SD)),
            float(rng.lognormal(log(PATIENCE_S), PATIENCE_SD)),
        )

    @property
    def stride(self) -> float:
        """Slider widths from one place of a dragged dial to the next."""
        return self.speed * STRIDE_S

    def gives_up_after(self, skipped: int, near: bool) -> float:
        """Seconds for a question; skipped: questions of the stage given up before it; near: the
        goal is nearly reached."""
        return self.patience_s * FATIGUE**skipped * (STAYS_ON if near else 1.0)

    def hesitates(self, rng: np.random.Generator) -> float:
        """How long the next decision takes, as a share of the middle one."""
        return self.thinking * float(rng.lognormal(0.0, THINKING_SD))


NOTHING = "nothing"

THINK_S, POINT_S, HOME_S, KEY_S = 1.35, 1.1, 0.4, 0.28
"""Seconds to make up one's mind, to point at the name with the mouse, to bring a hand from the
mouse to the keyboard or back, and for a key: the keystroke-level model (Card, Moran and Newell
1980), whose average typist who is no secretary does 40 words a minute."""


@cache
def _words() -> Mapping[str, Any]:
    path = resources.assets() / "simulated.yaml"
    words: Mapping[str, Any] = parse_yaml(path, files.content(path)).value
    return words


def _spoken(language: str, words: Mapping[str, Any]) -> Any:
    """Those of a study's language, such as de or de-AT; English for one that is not there."""
    return words.get(language.partition("-")[0], words["en"])


def words_of(language: str) -> Mapping[str, Sequence[str]]:
    """By what a slider is known to change (see `naming`): what people may call it."""
    words: Mapping[str, Sequence[str]] = _spoken(language, _words()["names"])
    return words


def vocabulary(language: str, rng: np.random.Generator) -> dict[str, str]:
    """One participant's word for each change; nobody calls the same thing by two names."""
    words = words_of(language)
    return {meaning: words[meaning][int(rng.integers(len(words[meaning])))] for meaning in words}


def typing_s(text: str, thinking: float) -> float:
    """Seconds to give a dial a name, at a person's pace: to decide, point, type it over the old one
    (which a click selects) and press Enter. thinking: see `ParticipantTraits`."""
    return THINK_S * thinking + POINT_S + 2 * HOME_S + KEY_S * (len(text) + 1)


EXPLORES, AIMS, FOLLOWS_NUMBER, TRIES = "explores", "aims", "follows_number", "tries"
EFFECT, NO_EFFECT = "effect", "no_effect"
GIVES_UP, SOLVED, RECOGNISES, GUESSES = "gives_up", "solved", "recognises", "guesses"
KNOWS, TRUSTS, SEES, CANNOT_TELL = "knows", "trusts", "sees", "cannot_tell"
EXPECTS, SURPRISED, SEES_LEAK = "expects", "surprised", "sees_leak"
GOES_ROUND, BLAMES_MODEL = "goes_round", "blames_model"


class Thought(NamedTuple):
    """A thought that can be said.

    Attributes
    ----------
    codes : by tier of the codebook.
    ways : to say it; {what} is what it is about.
    """

    codes: Mapping[str, str]
    ways: Sequence[str]


def thoughts(language: str) -> dict[str, Thought]:
    """Everything that can be said in a study's language."""
    known = _words()["thoughts"]
    return {name: Thought(known[name]["codes"], _spoken(language, known[name])) for name in known}


ENOUGH_S = 60.0
"""Seconds a question after which half the effort that can be said is felt: the middle of the mean
response times of paper 000, table A.3 (49 to 99 s)."""


@dataclass
class Experience:
    """Of one stage, or of the stages so far.

    solved, missed : questions solved or answered rightly, and the others. seconds : of all
    questions. understanding : how well it thought it understood, 0..1. planned, tried : how far it
    went by a plan, and how far it tried out at random, 0..1.
    """

    solved: int = 0
    missed: int = 0
    seconds: list[float] = field(default_factory=list)
    understanding: float = 0.0
    planned: float = 0.5
    tried: float = 0.5

    @property
    def success(self) -> float:
        """Share of the questions solved."""
        questions = self.solved + self.missed
        return self.solved / questions if questions else 0.5

    @property
    def effort(self) -> float:
        """How long the questions took, 0..1: a half at ENOUGH_S seconds each."""
        mean = float(np.mean(self.seconds)) if self.seconds else ENOUGH_S
        return mean / (mean + ENOUGH_S)

    @property
    def difficulty(self) -> float:
        """0..1: failing weighs twice as much as taking long."""
        return (2 * (1 - self.success) + self.effort) / 3

    @classmethod
    def of_all(cls, experiences: Iterable[Experience]) -> Experience | None:
        """Of all stages together; None if there was none."""
        stages = list(experiences)
        if not stages:
            return None
        return cls(
            sum(stage.solved for stage in stages),
            sum(stage.missed for stage in stages),
            [seconds for stage in stages for seconds in stage.seconds],
            float(np.mean([stage.understanding for stage in stages])),
            float(np.mean([stage.planned for stage in stages])),
            float(np.mean([stage.tried for stage in stages])),
        )


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of session time: between two strides of a dial, before a decision, on a page.

    reaction: to a stimulus, as a share of what a person takes.
    """

    stride_s: float
    think_s: float
    read_s: float
    reaction: float = 1.0


FAST = Pace(stride_s=0.02, think_s=0.04, read_s=0.08, reaction=0.08)
"""Fast hands, for the demonstration and tests in real time."""

HUMAN = Pace(stride_s=STRIDE_S, think_s=1.2, read_s=6.0)
"""About a person's speed, for simulations on a virtual clock. A decision takes about 1.35 s, the
mental operator of the keystroke-level model (Card, Moran and Newell 1980), looking included."""
