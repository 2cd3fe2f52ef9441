"""Kinds of what is said in a session, as far as a program knows it at once."""

from __future__ import annotations

from labapp.record.events.registry import Payload, kind
from labapp.record.events.types import Whole, Word, Written


@kind("speech.simulated")
class SpeechSimulated(Payload):
    """A simulated participant says what it thinks.

    Attributes
    ----------
    t0_ns, t1_ns : session time at which the first word begins and the last one ends. It begins with
        the event, or where the participant still speaks, after that.
    text : the words.
    codes : by tier of the shipped codebooks, the code that the words were made from.
    """

    t0_ns: Whole
    t1_ns: Whole
    text: Written
    codes: dict[str, Word]
