"""Kinds that tell of the moderator: what was written down and corrected, and whether the console
named the representations.

Also who has the keyboard, which participant and moderator share, and where the participant's
pointer was, if the study records it.
"""

from __future__ import annotations

from labapp.record.events.registry import Payload, kind
from labapp.record.events.types import Number, Whole, Word


class Prompt(Payload):
    """Base of the kinds with which the moderator said something that the study has the words for:
    it can be taken back, and not be put into other words.

    Attributes
    ----------
    text : the words that were said.
    """

    text: str


class GuideQuestion(Prompt):
    """Base of the kinds with which the moderator asked a question of a guide.

    Attributes
    ----------
    question : its number in the guide, from 1.
    """

    question: Whole


@kind("note.corrected", durable=True)
class NoteCorrected(Payload):
    """What the moderator wrote down reads otherwise from now on; the former words stay where they
    are.

    Attributes
    ----------
    seq : number of the corrected note.added, deviation.noted, flag.added, prompt.given or
        interview.question_asked, never of another correction.
    text : how it reads now, empty where it is taken back; the last three kinds are taken back or,
        with their own words, given again.
    typing_began_ns : session time of the correction's first key.
    """

    seq: Number
    text: str
    typing_began_ns: Whole


@kind("blinding.set", durable=True)
class BlindingSet(Payload):
    """Whether the console hides from the moderator which representation is on the screen. Stored as
    a session opens; later only blind false follows blind true: the moderator was unblinded at this
    time. A journal without one was recorded by an older labapp, or without a console.

    Attributes
    ----------
    blind : whether it is hidden from here on.
    """

    blind: bool


@kind("keyboard.given")
class KeyboardGiven(Payload):
    """The keyboard changed hands; until the first of these events the participant has it. Where
    another program has the keyboard, window.focus alone says so.

    Attributes
    ----------
    to : moderator or participant, to whom keys count from here on.
    why : of the moderator: note, deviation, correction, reason or text (something is typed on the
        console), question (the console asks something), console (it is in front of the
        participant's window, on the only screen), window (the window system put it there, as a
        click into the console can do), refused (the window system does not let the participant have
        it). Of the participant: enter, escape, idle (nothing was typed for a while), left (the
        field was left), answered (the question was closed), button, console (no longer in front),
        window.
    """

    to: Word
    why: Word


@kind("pointer.moved")
class PointerMoved(Payload):
    """A stretch of the pointer's path in the participant's window, at most 30 points a second, only
    while it moves.

    Attributes
    ----------
    began_ns : session time of the first point.
    width, height : of the window, in logical pixels.
    t_ms : of each point, milliseconds from the first.
    x, y : of each point, logical pixels from the window's upper left corner.
    """

    began_ns: Whole
    width: Whole
    height: Whole
    t_ms: tuple[Whole, ...]
    x: tuple[Whole, ...]
    y: tuple[Whole, ...]
