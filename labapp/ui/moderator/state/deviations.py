"""What went otherwise than planned so far, as the moderator reads it.

The fold is the analysis's: what the console lists is what the tables will hold.
"""

from __future__ import annotations

from labapp.analysis.deviations import Deviation, Deviations
from labapp.clock import NS
from labapp.events import Event, body_of
from labapp.ui.moderator import wording
from labapp.ui.moderator.state.alarms import RAISED

FREQUENT = frozenset({"dial.moved", "picture.decoded", "audio.block"})
"""Kinds that are no deviations and come by the ten thousand."""

WORDS = {
    "paused": "Pause",
    "interrupted": "The program was not running",
    "stage_restarted": "Stage began again",
    "part_skipped": "Part skipped",
    "ended_early": "Ended early",
    "withdrawn": "Withdrew",
    "noted": "",
    "aligned_at_start": "Target and start agreed already",
    "no_sound": "Without sound",
    "sound_lost": "Sound lost",
    "microphone_lost": "Microphone gone",
    "sound_zeros": "Exact silence",
    "sound_clipping": "Too loud",
    "screen_changed": "Screen",
    "focus_lost": "Participant’s window without keyboard",
    "close_requested": "Participant wanted to stop",
}
WAYS = {"escape": "pressed Escape", "close": "tried to close the window"}


class DeviationLog:
    """found: in the order of their events."""

    def __init__(self) -> None:
        self._fold = Deviations()

    @property
    def found(self) -> list[Deviation]:
        return self._fold.found

    def apply(self, event: Event) -> bool:
        """Take in the next event; True when `found` changed."""
        return event.kind not in FREQUENT and self._fold.apply(event, body_of(event))


def words_of(one: Deviation) -> str:
    """One deviation on a line: what, the detail, how long."""
    text = WORDS.get(one.kind, one.kind.replace("_", " ").capitalize())
    detail = WAYS.get(one.detail, one.detail)
    if one.kind == "alarm":
        code, _, detail = one.detail.partition(": ")
        text = RAISED[code][1] if code in RAISED else code.replace("_", " ").capitalize()
    said = ": ".join(part for part in (text, detail) if part)
    if one.duration_s is None:
        return said
    if one.kind == "sound_lost":
        return f"{said}, {one.duration_s:.2g} s"
    return f"{said}, {wording.short_time(round(one.duration_s * NS))}"
