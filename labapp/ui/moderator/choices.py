"""The plain values that the home shows and asks for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labapp.records.sessions import SessionSummary
from labapp.ui.moderator import wording

STATE_WORDS = {
    "complete": "complete",
    "ended_early": "ended early",
    "interrupted": "interrupted",
    "running": "open now",
    "damaged": "damaged",
}


@dataclass(frozen=True, slots=True)
class StudyChoice:
    """A study in the list: what to load (id or path) and its title."""

    study: str
    title: str


@dataclass(frozen=True, slots=True)
class Interrupted:
    """An interrupted session; last_utc: UTC of its last event, ISO 8601."""

    path: Path
    study: str
    participant: str
    last_utc: str


@dataclass(frozen=True, slots=True)
class StartRequest:
    """What Start asks for. audio: the spec of a microphone (audio.devices.Device.spec), None for no
    sound; blind: the console names no representation."""

    study: str
    participant: str
    session: str
    audio: str | None
    screen: str
    blind: bool = False


def state_text(line: SessionSummary) -> str:
    """For example `complete, exported`."""
    return STATE_WORDS[line.state] + (", exported" if line.exported else "")


def voice_text(line: SessionSummary) -> str:
    """What there is of sound."""
    if not line.sound:
        return "no sound"
    return f"{line.lost_s:.1f} s lost" if line.lost_s else "nothing lost"


def length_text(line: SessionSummary) -> str:
    """Working time."""
    return wording.short_time(round(line.length_s * 1e9))
