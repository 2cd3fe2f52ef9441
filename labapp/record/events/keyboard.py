"""Who has the keyboard: one keyboard serves the participant and the moderator."""

from __future__ import annotations

from labapp.record.events.registry import Payload, kind
from labapp.record.events.types import Word


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
