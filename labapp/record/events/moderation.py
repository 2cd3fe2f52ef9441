"""Kinds that tell of the moderator: what was written down and corrected, and whether the console
named the representations."""

from __future__ import annotations

from labapp.record.events.registry import Payload, kind
from labapp.record.events.types import Number, Whole


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
