"""What went otherwise than planned so far, as the moderator reads it.

The fold is the analysis's: what the console lists is what the tables will hold.
"""

from __future__ import annotations

from collections.abc import Mapping

from labapp.analysis.deviations import Deviation, Deviations
from labapp.clock import NS
from labapp.events import Event, payload_of
from labapp.ui.language import N_, number, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.state.alarms import raised
from labapp.ui.moderator.wording import detail_of, gap, pause_reason

FREQUENT = frozenset({"dial.moved", "picture.decoded", "audio.block"})
"""Kinds that are no deviations and come by the ten thousand."""

AWAY = "focus_lost"
WORDS = {
    "paused": N_("Paused"),
    "interrupted": N_("The program was not running"),
    "stalled": "",
    "clock_changed": N_("The computer’s clock was changed"),
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
    AWAY: N_("Participant’s window without keyboard"),
    "close_requested": N_("Participant wanted to stop"),
}
KEPT = {"keep": N_("the data are kept"), "delete": N_("the data are deleted")}
SKIPPED = {"trial": N_("a question"), "part": N_("the rest of a part")}
ADDED, REMOVED = N_("{screen} added"), N_("{screen} removed")
WAYS = {"escape": N_("pressed Escape"), "close": N_("tried to close the window")}


class DeviationLog:
    """deviations: in the order of their events.

    titles: of the parts of the plan, by their ids.
    """

    def __init__(self, titles: Mapping[str, str] | None = None) -> None:
        self._fold = Deviations()
        self._titles = titles or {}
        self._details: dict[int, str] = {}

    @property
    def deviations(self) -> list[Deviation]:
        return self._fold.deviations

    def apply(self, event: Event) -> bool:
        """Take in the next event; True when `deviations` changed."""
        if event.kind in FREQUENT or not self._fold.apply(event, payload_of(event)):
            return False
        if detail := _detail(event):
            self._details[event.seq] = detail
        return True

    def lines(self) -> list[tuple[Deviation, str]]:
        """What is listed, each with its words: every note takes the keyboard from the participant's
        window for a moment, so these times are one line, at the latest of them."""
        away = [deviation for deviation in self.deviations if deviation.kind == AWAY]
        listed = [d for d in self.deviations if d.kind != AWAY or d is away[-1]]
        return [(d, self._together(away) if d.kind == AWAY else self.words_of(d)) for d in listed]

    def words_of(self, deviation: Deviation) -> str:
        """One deviation: what, the detail, how long."""
        told = self._details.get(deviation.seq or 0)
        if deviation.kind == "part_skipped" and (title := self._titles.get(deviation.stage or "")):
            told = wording.part_title(title)
        return _words(deviation, told)

    def _together(self, away: list[Deviation]) -> str:
        if len(away) == 1:
            return self.words_of(away[0])
        in_all = sum(deviation.duration_s or 0.0 for deviation in away)
        return tr(
            "{what}: {n} times, {time} in all",
            what=tr(WORDS[AWAY]),
            n=len(away),
            time=wording.short_time(round(in_all * NS)),
        )


def _detail(event: Event) -> str:
    """The detail of a deviation that an event tells of, where it is a sentence with values."""
    payload = event.payload
    match event.kind:
        case "segment.started":
            return tr("segment {number} began", number=payload["segment"])
        case "program.stalled":
            return wording.stalled(payload)
        case "clock.changed":
            return wording.clock_changed(payload)
        case "part.restarted":
            return tr("attempt {number}", number=payload["attempt"])
        case "screen.changed" if payload["change"] in ("added", "removed"):
            form = ADDED if payload["change"] == "added" else REMOVED
            return tr(form, screen=payload["screen"])
        case "alarm.raised" | "audio.off":
            return detail_of(payload)
        case "audio.device_lost":
            return f"{payload['device']}: {detail_of(payload)}"
    return ""


def _words(deviation: Deviation, told: str | None) -> str:
    """told: the detail in the language of the console, where its event says it."""
    kind = deviation.kind
    text = tr(WORDS.get(kind, kind.replace("_", " ").capitalize()))
    head, _, rest = deviation.detail.partition(": ")
    match kind:
        case "noted" | "noted_taken_back":
            detail = deviation.detail
        case "paused":
            detail = pause_reason(deviation.detail)
        case "alarm":
            text, detail = raised(head)[1], rest if told is None else told
        case "withdrawn":
            reason = "" if rest == wording.WITHDREW else tr(rest)
            detail = ": ".join(part for part in (tr(KEPT.get(head, head)), reason) if part)
        case "sound_lost":
            detail = gap(deviation.detail)
        case "skip_taken_back":
            detail = tr(SKIPPED.get(deviation.detail, deviation.detail))
        case "close_requested":
            detail = tr(WAYS.get(deviation.detail, deviation.detail))
        case _:
            detail = tr(deviation.detail) if told is None else told
    line = ": ".join(part for part in (text, detail) if part)
    if deviation.duration_s is None or (kind == "stalled" and told is not None):
        return line  # of a standstill its words say how long it lasted
    if kind == "sound_lost":
        return f"{line}, {number(f'{deviation.duration_s:.2g}')} s"
    return f"{line}, {wording.short_time(round(deviation.duration_s * NS))}"
