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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import log
from types import MappingProxyType

import numpy as np

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

ENGLISH = MappingProxyType(
    {
        "across": ("left-right", "left/right", "horizontal"),
        "down": ("up-down", "up/down", "vertical"),
        "place": ("position", "moves it", "where it is"),
        "size": ("size", "bigger/smaller", "how big"),
        "brightness": ("brightness", "light/dark", "shade"),
        "thickness": ("thickness", "thick", "line thickness"),
        "stretch": ("width", "stretch", "narrow/wide"),
        "slant": ("slant", "tilt", "lean"),
        "turn": ("rotation", "rotate", "turns it"),
        "form": ("shape", "form", "changes shape"),
        "choice": ("which shape", "kind of shape", "picks the shape"),
        "height": ("height", "up-down", "how high"),
        "slope": ("slope", "steepness", "tilt"),
        "waves_height": ("wave height", "amplitude", "how tall the waves are"),
        "waves_closeness": ("wave spacing", "frequency", "how close the waves are"),
        "waves": ("waves", "waviness", "how wavy"),
        NOTHING: ("nothing", "does nothing", "no effect"),
    }
)
GERMAN = MappingProxyType(
    {
        "across": ("links-rechts", "links/rechts", "waagerecht"),
        "down": ("hoch-runter", "oben/unten", "senkrecht"),
        "place": ("Position", "verschiebt es", "wo es ist"),
        "size": ("Größe", "größer/kleiner", "wie groß"),
        "brightness": ("Helligkeit", "hell/dunkel", "Farbton"),
        "thickness": ("Dicke", "dick", "Strichdicke"),
        "stretch": ("Breite", "Streckung", "schmal/breit"),
        "slant": ("Neigung", "Schräge", "kippt"),
        "turn": ("Drehung", "drehen", "dreht es"),
        "form": ("Form", "Gestalt", "ändert die Form"),
        "choice": ("welche Form", "Art der Form", "wählt die Form"),
        "height": ("Höhe", "hoch-runter", "wie hoch"),
        "slope": ("Steigung", "Gefälle", "Neigung"),
        "waves_height": ("Wellenhöhe", "Amplitude", "wie hoch die Wellen sind"),
        "waves_closeness": ("Wellenabstand", "Frequenz", "wie dicht die Wellen sind"),
        "waves": ("Wellen", "Welligkeit", "wie wellig"),
        NOTHING: ("nichts", "tut nichts", "keine Wirkung"),
    }
)
"""By what a dial is known to change (see `naming`): what people may call it."""

THINK_S, POINT_S, HOME_S, KEY_S = 1.35, 1.1, 0.4, 0.28
"""Seconds to make up one's mind, to point at the name with the mouse, to bring a hand from the
mouse to the keyboard or back, and for a key: the keystroke-level model (Card, Moran and Newell
1980), whose average typist who is no secretary does 40 words a minute."""


def words_of(language: str) -> MappingProxyType[str, tuple[str, ...]]:
    """Those of a study's language, such as de or de-AT; for a language that is not here,
    English."""
    return GERMAN if language.partition("-")[0] == "de" else ENGLISH


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


@dataclass(frozen=True, slots=True)
class Thought:
    """A thought that can be said.

    Attributes
    ----------
    codes : by tier of the codebook.
    english, german : ways to say it; {what} is what it is about.
    """

    codes: Mapping[str, str]
    english: tuple[str, ...]
    german: tuple[str, ...]

    def ways(self, language: str) -> tuple[str, ...]:
        """Those of a study's language, such as de or de-AT; English for one that is not here."""
        return self.german if language.partition("-")[0] == "de" else self.english


THOUGHTS: Mapping[str, Thought] = MappingProxyType(
    {
        EXPLORES: Thought(
            {"strategy": "explore"},
            (
                "What does this one do?",
                "Let me see what happens with this one.",
                "I have not tried this one yet.",
            ),
            (
                "Was macht der hier?",
                "Mal sehen, was mit dem passiert.",
                "Den habe ich noch nicht probiert.",
            ),
        ),
        AIMS: Thought(
            {"strategy": "goal"},
            (
                "I know this one, it has to go further that way.",
                "This one has to come over a bit.",
                "I think I want this one about there.",
            ),
            (
                "Den kenne ich, der muss weiter in die Richtung.",
                "Der muss ein bisschen herüber.",
                "Den will ich ungefähr dort haben.",
            ),
        ),
        FOLLOWS_NUMBER: Thought(
            {"strategy": "number"},
            (
                "I just watch the number now.",
                "I turn it until the number goes down again.",
                "The number goes up, so that is good.",
            ),
            (
                "Ich schaue jetzt nur auf die Zahl.",
                "Ich drehe, bis die Zahl wieder sinkt.",
                "Die Zahl steigt, das ist also gut.",
            ),
        ),
        TRIES: Thought(
            {"strategy": "random"},
            (
                "I just turn something.",
                "No plan here, I am playing around.",
                "Let me try any of them.",
            ),
            (
                "Ich drehe einfach irgendwo.",
                "Ich habe keinen Plan, ich probiere herum.",
                "Ich nehme irgendeinen.",
            ),
        ),
        EFFECT: Thought(
            {"dial": "effect"},
            ("So this one is: {what}.", "I would call this one: {what}.", "That one, {what}."),
            ("Der hier ist also: {what}.", "Den nenne ich: {what}.", "Der da, {what}."),
        ),
        NO_EFFECT: Thought(
            {"dial": "nothing"},
            ("This one does nothing.", "I see no change with this one.", "That one is dead."),
            ("Der hier tut nichts.", "Bei dem sehe ich keine Änderung.", "Der da ist tot."),
        ),
        GIVES_UP: Thought(
            {"affect": "uncertain"},
            (
                "I am not sure what else to try.",
                "I don't get any closer, I have no idea.",
                "Hm, I don't know. I leave this one.",
            ),
            (
                "Ich weiß nicht, was ich noch versuchen soll.",
                "Ich komme nicht näher, keine Ahnung.",
                "Hm, ich weiß nicht. Ich lasse das.",
            ),
        ),
        SOLVED: Thought(
            {"affect": "sure"},
            ("There it is.", "Yes, that is it.", "Good, that fits."),
            ("Da ist es.", "Ja, das ist es.", "Gut, das passt."),
        ),
        RECOGNISES: Thought(
            {"strategy": "goal", "affect": "sure"},
            ("That looks like this row.", "Clearly this one.", "It is the same as these."),
            ("Das sieht aus wie diese Reihe.", "Eindeutig diese.", "Das ist wie diese hier."),
        ),
        GUESSES: Thought(
            {"strategy": "random", "affect": "uncertain"},
            ("I am guessing here.", "No idea, I take this one.", "They all look the same to me."),
            ("Da rate ich.", "Keine Ahnung, ich nehme die.", "Für mich sehen alle gleich aus."),
        ),
        KNOWS: Thought(
            {"affect": "sure"},
            ("I know what that is.", "That one I know.", "No doubt about this one."),
            ("Ich weiß, was das ist.", "Das kenne ich.", "Da habe ich keinen Zweifel."),
        ),
        TRUSTS: Thought(
            {"strategy": "explanation", "affect": "sure"},
            (
                "The explanation points there, so I go with it.",
                "If it says so, I believe it.",
                "I follow what it shows me.",
            ),
            (
                "Die Erklärung zeigt dorthin, also nehme ich das.",
                "Wenn es das sagt, glaube ich es.",
                "Ich folge dem, was es mir zeigt.",
            ),
        ),
        SEES: Thought(
            {"affect": "sure"},
            ("I can see it.", "Got it.", "That is clear."),
            ("Das sehe ich.", "Hab es.", "Das ist klar."),
        ),
        CANNOT_TELL: Thought(
            {"affect": "uncertain"},
            ("I can't tell.", "Too little to see.", "No idea what that is."),
            ("Das erkenne ich nicht.", "Zu wenig zu sehen.", "Keine Ahnung, was das ist."),
        ),
        EXPECTS: Thought(
            {"model": "expectation"},
            (
                "If I change {what}, it should get it right.",
                "I set {what}, then it ought to say the right name.",
                "With {what} corrected it has to change its mind.",
            ),
            (
                "Wenn ich {what} ändere, sollte es stimmen.",
                "Ich setze {what}, dann müsste es den richtigen Namen sagen.",
                "Wenn {what} stimmt, muss es sich anders entscheiden.",
            ),
        ),
        SURPRISED: Thought(
            {"surprise": "surprise"},
            (
                "Oh, that is not what I expected from {what}.",
                "Huh, why did it say that now?",
                "That is strange, I only changed {what}.",
            ),
            (
                "Oh, das hätte ich von {what} nicht erwartet.",
                "Hä, warum sagt es das jetzt?",
                "Das ist komisch, ich habe doch nur {what} geändert.",
            ),
        ),
        SEES_LEAK: Thought(
            {"model": "leak"},
            (
                "I think {what} also changes something else.",
                "So {what} is tied to another switch.",
                "Setting {what} moves more than {what}.",
            ),
            (
                "Ich glaube, {what} ändert noch etwas anderes.",
                "{what} hängt also mit einem anderen Schalter zusammen.",
                "Wenn ich {what} setze, ändert sich mehr als {what}.",
            ),
        ),
        GOES_ROUND: Thought(
            {"model": "workaround"},
            (
                "I take {what} back and try another way.",
                "Then I leave {what} wrong, as long as the name is right.",
            ),
            (
                "Ich nehme {what} zurück und versuche es anders.",
                "Dann lasse ich {what} eben falsch, Hauptsache, der Name stimmt.",
            ),
        ),
        BLAMES_MODEL: Thought(
            {"model": "blames_model"},
            (
                "Everything is right and it still says the wrong name.",
                "The model just does not get it.",
            ),
            (
                "Alles stimmt, und es sagt immer noch den falschen Namen.",
                "Das Modell begreift es einfach nicht.",
            ),
        ),
    }
)

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
