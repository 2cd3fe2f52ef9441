"""What simulated participants say when they think aloud, and the codes that it stands for.

A thought comes from what the participant knows or is about to do, never from its words; so the
codes of what is said are known without anybody listening. They are those of the shipped codebooks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

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
