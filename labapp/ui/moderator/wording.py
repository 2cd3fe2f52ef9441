"""Times, sizes and outcomes as the moderator reads them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from labapp.base.clock import NS
from labapp.base.messages import decoded
from labapp.record.audio import portaudio
from labapp.study.people import PersonState
from labapp.ui.language import (
    N_,
    Phrases,
    counted,
    number,
    phrases,
    tr,
    translate_message,
    translate_phrase,
)

GAPS = {
    "overflow": N_("the computer was too slow"),
    "queue": N_("the computer was too slow"),
    "stalled": N_("the sound stood still"),
    "write_failed": N_("it could not be written"),
    "device_lost": N_("the microphone was gone"),
    "reopened": N_("the microphone was opened anew"),
}


def detail_of(payload: Mapping[str, Any]) -> str:
    """The text of an event (`detail` or `reason`), translated."""
    text = str(payload.get("detail", payload.get("reason", "")))
    words = translate_message(decoded(text, payload.get("message")))
    # Earlier versions stored PortAudio's own words.
    return portaudio.in_words(words, translate_message) if "PaErrorCode" in words else words


def pause_reason(reason: str) -> str:
    """Why a session paused; empty where nobody said."""
    if reason in PAUSE_REASONS:
        return tr(PAUSE_REASONS[reason])
    return "" if reason == PAUSED else tr(reason)


def gap(cause: str) -> str:
    """Why sound was lost."""
    return tr(GAPS.get(cause, cause))


STOOD_STILL = {
    "program": N_("The program stood still for {time}"),
    "computer": N_("The computer stood still for {time}"),
    "asleep": N_("The computer slept for {time}"),
    "recorder": N_("The sound recorder stood still for {time}"),
}


def stalled(payload: Mapping[str, Any]) -> str:
    """Who stood still, and for how long."""
    asleep_ns = int(payload["asleep_ns"])
    lasted_ns = int(payload["duration_ns"]) + asleep_ns
    form = STOOD_STILL["asleep" if asleep_ns else str(payload["who"])]
    short = lasted_ns < 60 * NS
    return tr(form, time=number(f"{lasted_ns / NS:.1f} s") if short else short_time(lasted_ns))


def clock_changed(payload: Mapping[str, Any]) -> str:
    """By how much the computer's clock was set, and what that means."""
    by_s = float(payload["by_s"])
    time = short_time(round(abs(by_s) * NS))
    by = tr("forward by {time}", time=time) if by_s > 0 else tr("back by {time}", time=time)
    if payload.get("certain", True):
        return tr("{by}; times in this session do not follow it", by=by)
    return tr("{by} or more; how long the interruption lasted is not known", by=by)


def alarm_text(kind: str, payload: Mapping[str, Any]) -> str | None:
    """What an event of some kinds means that a timeline marks as an alarm; None for others."""
    match kind:
        case "alarm.raised":
            return detail_of(payload)
        case "audio.device_lost":
            return tr("The microphone was gone")
        case "screen.changed" if payload["change"] == "removed":
            return tr("Screen {name} was gone", name=payload["screen"])
        case "close.requested":
            return tr("The participant wanted to stop")
        case "session.reopened":
            return tr("The end was taken back")
        case "program.stalled":
            return stalled(payload)
        case "clock.changed":
            return tr("The computer’s clock was changed")
    return None


def paused(reason: str) -> str:
    """That a session was paused, and why, where somebody said."""
    why = pause_reason(reason)
    return tr("Paused: {reason}", reason=why) if why else tr("Paused")


OUTCOMES = {
    "completed": N_("done"),
    "time_expired": N_("time is up"),
    "skipped": N_("skipped"),
    "declined": N_("declined"),
    "solved": N_("solved"),
    "marked": N_("marked"),
    "stage_skipped": N_("stage skipped"),
    "judged": N_("judged"),
    "answered": N_("answered"),
    "done": N_("done"),
    "gave_up": N_("given up"),
}

PAUSED = "moderator"
"""The reason of a pause for which none was given."""
PAUSE_REASONS = {
    "break": N_("Break"),
    "technical problem": N_("Technical problem"),
    "participant asks": N_("Participant has a question"),
}
"""Reasons as they are stored, and as they are read."""
ENDED, WITHDREW = N_("ended by the moderator"), N_("the participant withdrew")
"""Reasons of an end for which none was typed."""
ENDS = (ENDED, WITHDREW, N_("consent declined"))
NOT_COUNTED = {
    "completed": N_("a stage was skipped"),
    "practice_correct": N_("a practice question was answered wrongly"),
    "min_solved": N_("too few questions were solved"),
    "withdrawn": N_("the participant withdrew"),
    "by_hand": N_("excluded by hand"),
    "sessions": N_("too few sessions were completed"),
}
"""Why a session that came to its end does not count in the analysis, by the study's rule."""


def not_counted(rule: str) -> str:
    """Why a session does not count; a rule of the study's own by its name."""
    return tr(NOT_COUNTED[rule]) if rule in NOT_COUNTED else tr("rule {rule}", rule=rule)


PEOPLE: Mapping[PersonState, str] = {
    "included": N_("included"),
    "running": N_("running"),
    "awaited": N_("still to come"),
    "missed": N_("missed a session"),
    "excluded": N_("excluded"),
    "ended": N_("ended early"),
    "withdrawn": N_("withdrawn"),
    "declined": N_("declined"),
    "gone": N_("gone"),
}
"""What became of people, as `labapp.study.people` counts them."""


def people_text(people: Mapping[PersonState, int]) -> str:
    """How many people took part, such as `7 participants: 5 included, 2 withdrawn`."""
    single, many = N_("{n} participant: {states}"), N_("{n} participants: {states}")
    states = ", ".join(f"{n} {tr(PEOPLE[state])}" for state, n in people.items())
    return counted(sum(people.values()), single, many, states=states)


WITHDRAWN = {
    "keep": N_("■ withdrawn, the data are kept"),
    "delete": N_("■ withdrawn, the data are deleted at closing"),
}

# As a plan names its parts; questionnaires bring their own titles.
PART_TITLES = (
    N_("Consent"),
    N_("Payment"),
    N_("Tutorial"),
    N_("Before practice"),
    N_("Practice"),
    N_("Before stage {number}"),
    N_("Stage {number}, block {block}"),
    N_("Stage {number}, grid"),
    N_("Stage {number}"),
    N_("Break"),
    N_("Text"),
    N_("Interview"),
    N_("Debrief"),
    N_("Method"),
    N_("Warm-up"),
    N_("Before the example"),
    N_("Example"),
)

# Journals and the recorder say the same in English whoever sits at the console, so that the data of
# one study read alike. Sentences with values are messages (`labapp.base.messages`); those without
# any stand here. Any other text is shown as it came.
REASONS = (
    *ENDS,
    N_("consent not stored"),
    N_("the end was taken back"),
    N_("the microphone could not be opened"),
    N_("the study records no sound"),
    N_("the session began without sound"),
    N_("the session clock does not run at the speed of sound (--speed)"),
    N_("switched off (--audio off)"),
    N_("the participant did not agree to a sound recording"),
    N_("the disk does not answer"),
    N_("the device ended the recording"),
    N_("the sound recorder stood still and is started again"),
    N_("the sound server no longer knows our recording"),
    N_("The signed consent was deleted."),
)
"""Why a session paused or ended, or has no sound, and what else lower layers say without a value.
"""


def part_title(title: str) -> str:
    """The title of a part of the plan, which the journal keeps in English."""
    return translate_phrase(title, _titles())


@cache
def _titles() -> Phrases:
    return phrases(PART_TITLES, number=range(1, 100), block=range(1, 25))


def milliseconds(t_ns: int) -> str:
    """A reaction time: 812 ms, 12,345 ms."""
    return number(f"{round(t_ns / 1e6):,}\N{NO-BREAK SPACE}ms")


def short_time(t_ns: int) -> str:
    """Minutes and seconds, hours where there are any: 0:07, 23:41, 1:02:40."""
    seconds = max(0, t_ns) // NS
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def long_time(t_ns: int) -> str:
    """Always hours, minutes and seconds: 00:23:41."""
    seconds = max(0, t_ns) // NS
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def size(n_bytes: int) -> str:
    """`plain_size` as the language writes it."""
    return number(plain_size(n_bytes))


def plain_size(n_bytes: int) -> str:
    """Decimal units as disks are sold in: 840 MB, 2.4 GB, 212 GB, 1.8 TB."""
    value, unit = float(n_bytes), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 999.5 or unit == "TB":
            break
        value /= 1000
    decimals = 1 if value < 9.95 and unit not in ("B", "kB") else 0
    return f"{value:.{decimals}f} {unit}"


def sound_length(frames: int, rate: int) -> str:
    """Seconds of sound (0 s, 0.4 s, 47.3 s); frames where the rate is not known."""
    if frames and not rate:
        return count(frames, "frame")
    seconds = frames / rate if frames else 0.0
    return number(f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2g} s")


def percent(fraction: float) -> str:
    """63.2 %, with a no-break space."""
    return number(f"{fraction * 100:.1f}\N{NO-BREAK SPACE}%")


def count(n: int, text: str, many: str | None = None) -> str:
    """1 question, 2 questions."""
    return f"{n:,} {text if n == 1 else many or text + 's'}"


def listed(names: list[str]) -> str:
    """a, b and c."""
    if len(names) == 1:
        return names[0]
    return tr("{first} and {last}", first=", ".join(names[:-1]), last=names[-1])


def local_time(utc: str, now: datetime | None = None) -> str:
    """A moment (ISO 8601, UTC) on the clock on the wall: `today 14:02` or `2026-01-02 14:02`.

    A dash where a damaged session does not say when.
    """
    try:
        moment = datetime.fromisoformat(utc).astimezone()
    except (ValueError, OverflowError):
        return "–"
    today = (now or datetime.now(moment.tzinfo)).date()
    day = tr("today") if moment.date() == today else moment.date().isoformat()
    return f"{day} {moment:%H:%M}"
