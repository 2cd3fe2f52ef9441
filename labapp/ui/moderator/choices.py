"""The plain values that the home shows and asks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labapp.journal.sessions import SessionSummary
from labapp.study.loading import StudyHead
from labapp.ui.language import N_, number, tr
from labapp.ui.moderator import wording

STATE_WORDS = {
    "complete": N_("complete"),
    "ended_early": N_("ended early"),
    "interrupted": N_("interrupted"),
    "running": N_("open now"),
    "damaged": N_("damaged"),
}


@dataclass(frozen=True, slots=True)
class StudyChoice:
    """A study in the list: what to load (id or path) and its title."""

    study: str
    title: str


GROUPS = {
    "own": N_("Your studies"),
    "shipped": N_("Shipped studies"),
    "published": N_("Published studies, repeated"),
}
"""Headings of the list of studies, by `StudyShelf.group`, in their order."""


def about(head: StudyHead) -> str:
    """A line about a study: what it is, and how long a session takes."""
    return " · ".join(filter(None, (head.summary, lasts(head))))


def lasts(head: StudyHead) -> str:
    """How long a session takes; empty where the study does not say."""
    return tr("about {n} min", n=head.minutes) if head.minutes else ""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """An interrupted session; last_utc: UTC of its last event, ISO 8601; forbidden: its study does
    not let it go on."""

    path: Path
    study: str
    participant: str
    last_utc: str
    forbidden: bool = False


@dataclass(frozen=True, slots=True)
class StartRequest:
    """What Start asks for. audio: the spec of a microphone (audio.devices.Device.spec), None for no
    sound; blind: the console names no representation; pilot: a trial run, whose participant gets
    the next free label of the pilots."""

    study: str
    participant: str
    session: str
    audio: str | None
    screen: str
    blind: bool = False
    pilot: bool = False


def state_text(line: SessionSummary) -> str:
    """For example `complete, exported`."""
    state = tr(STATE_WORDS[line.state])
    if line.decision == "excluded":
        state = tr("{state}, excluded", state=state)
    elif line.decision:
        state = tr("{state}, included by hand", state=state)
    elif line.not_counted and line.state == "complete":
        state = tr("{state}, does not count", state=state)
    if line.pilot:
        state = tr("{state}, pilot", state=state)
    if line.withdrawn:
        state = tr("{state}, withdrawn", state=state)
    return tr("{state}, exported", state=state) if line.exported else state


def voice_text(line: SessionSummary) -> str:
    """What there is of sound."""
    if not line.sound:
        return tr("no sound")
    if not line.lost_s:
        return tr("nothing lost")
    return tr("{seconds} s lost", seconds=number(f"{line.lost_s:.1f}"))


def length_text(line: SessionSummary) -> str:
    """Working time, in whole seconds as the report and the command line round them."""
    return wording.short_time(round(line.length_s) * 1_000_000_000)
