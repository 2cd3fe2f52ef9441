"""What went otherwise than planned so far, as the moderator reads it.

The fold is the analysis's: what the console lists is what the tables will hold.
"""

from __future__ import annotations

from labapp.analysis.deviations import Deviation, Deviations
from labapp.clock import NS
from labapp.events import Event, body_of
from labapp.ui.language import N_, number, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.reports import gap, pause_reason, reported
from labapp.ui.moderator.state.alarms import raised

FREQUENT = frozenset({"dial.moved", "picture.decoded", "audio.block"})
"""Kinds that are no deviations and come by the ten thousand."""

WORDS = {
    "paused": N_("Paused"),
    "interrupted": N_("The program was not running"),
    "stage_restarted": N_("Stage began again"),
    "part_skipped": N_("Part skipped"),
    "skip_taken_back": N_("Skip taken back"),
    "ended_early": N_("Ended early"),
    "withdrawn": N_("Withdrew"),
    "unfinished": N_("No end is recorded"),
    "attempt_interrupted": N_("Attempt without an end"),
    "noted": "",
    "noted_taken_back": N_("Deviation taken back"),
    "unblinded": N_("Moderator unblinded"),
    "aligned_at_start": N_("Target and start agreed already"),
    "no_sound": N_("Without sound"),
    "sound_lost": N_("Sound lost"),
    "microphone_lost": N_("Microphone gone"),
    "sound_zeros": N_("Exact silence"),
    "sound_clipping": N_("Too loud"),
    "screen_changed": N_("Screen"),
    "focus_lost": N_("Participant’s window without keyboard"),
    "close_requested": N_("Participant wanted to stop"),
}
KEPT = {"keep": N_("the data are kept"), "delete": N_("the data are deleted")}
SKIPPED = {"trial": N_("a question"), "part": N_("the rest of a part")}
WAYS = {"escape": N_("pressed Escape"), "close": N_("tried to close the window")}


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
    text = tr(WORDS.get(one.kind, one.kind.replace("_", " ").capitalize()))
    head, _, rest = one.detail.partition(": ")
    detail = reported(one.detail)
    match one.kind:
        case "noted" | "noted_taken_back":
            detail = one.detail
        case "paused":
            detail = pause_reason(one.detail)
        case "alarm":
            text, detail = raised(head)[1], reported(rest)
        case "withdrawn":
            reason = "" if rest == wording.WITHDREW else reported(rest)
            detail = ": ".join(part for part in (tr(KEPT.get(head, head)), reason) if part)
        case "microphone_lost":
            detail = f"{head}: {reported(rest)}"
        case "sound_lost":
            detail = gap(one.detail)
        case "skip_taken_back":
            detail = tr(SKIPPED.get(one.detail, one.detail))
        case "close_requested":
            detail = tr(WAYS.get(one.detail, one.detail))
    said = ": ".join(part for part in (text, detail) if part)
    if one.duration_s is None:
        return said
    if one.kind == "sound_lost":
        return f"{said}, {number(f'{one.duration_s:.2g}')} s"
    return f"{said}, {wording.short_time(round(one.duration_s * NS))}"
