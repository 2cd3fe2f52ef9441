"""What must be right before a session starts: plain values and rules, no Qt.

The controller finds out the facts (is a voice heard, how fast is the decoder, how full is the
disk), these functions judge them, and the home shows the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from labapp.session.folder import LOW_DISK_BYTES
from labapp.study.schema import Participants
from labapp.study.strict import LABEL
from labapp.study.texts import placeholders
from labapp.ui.moderator import wording

State = Literal["ok", "warn", "missing", "busy"]

ORDER = ("microphone", "screen", "decoders", "disk", "consent")
NEEDED = {
    "participant": "a participant",
    "plan": "a study that can be run",
    "microphone": "the microphone",
    "screen": "a screen for the participant",
    "decoders": "the decoders",
    "disk": "room on the disk",
    "consent": "the consent text",
}
"""How a row is called in the sentence beside Start."""

SESSION_BYTES_WITH_SOUND = 380_000_000
SESSION_BYTES_WITHOUT = 40_000_000
"""An hour: 48 kHz mono at 16 bit is 346 MB, a journal with all dial movements below 40 MB."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the checklist. text is the finding; required rows must be ok before Start."""

    key: str
    state: State
    text: str
    required: bool = True

    @property
    def blocks(self) -> bool:
        return self.required and self.state != "ok"


@dataclass(frozen=True, slots=True)
class Readiness:
    """ready: Start may be pressed; why: the sentence beside it."""

    ready: bool
    why: str


def readiness(rows: Sequence[Row]) -> Readiness:
    """Whether all required rows are ok, and if not, what Start waits for or needs."""
    needs = [_needed(row) for row in rows if row.blocks and row.state != "busy"]
    waits = [_needed(row) for row in rows if row.blocks and row.state == "busy"]
    if needs:
        return Readiness(False, f"Start needs {wording.listed(needs)}.")
    if waits:
        return Readiness(False, f"One moment: still checking {wording.listed(waits)}.")
    return Readiness(True, "Everything is ready.")


def _needed(row: Row) -> str:
    return NEEDED.get(row.key, row.key)


def next_free(participants: Participants, taken: Mapping[str, Sequence[str]]) -> str:
    """The id after the highest one that has a session."""
    numbers = [participants.number(label) for label in taken]
    return participants.label(max((n for n in numbers if n is not None), default=0) + 1)


def participant_row(
    participants: Participants, taken: Mapping[str, Sequence[str]], label: str, session: str
) -> Row:
    """Whether this participant can have this session.

    taken: the participants that have sessions in this study, with their session labels.
    """
    example = participants.label(1)
    number = participants.number(label) if label else None
    if not label:
        return Row("participant", "missing", f"Type an id like {example}.")
    if number is None or number < 1 or not LABEL.fullmatch(label):
        return Row("participant", "missing", f"Ids of this study look like {example}.")
    if not LABEL.fullmatch(session):
        return Row("participant", "missing", "A session label is letters and digits, like 1.")
    known = taken.get(label, ())
    if session in known:
        free = next_free(participants, taken)
        return Row("participant", "missing", f"{label} is taken. The next free id is {free}.")
    if known:
        before = wording.listed(sorted(known))
        return Row("participant", "ok", f"{label} was here before (session {before}).")
    return Row(
        "participant", "ok", "next free" if label == next_free(participants, taken) else "free"
    )


@dataclass(frozen=True, slots=True)
class Microphone:
    """What is known of the microphone. device: its name, None when sound is switched off; heard: a
    voice was heard from it; state: of the level now (audio.level); problem: why it cannot be used.
    """

    device: str | None
    heard: bool = False
    state: str = "starting"
    problem: str = ""


def microphone_row(policy: Literal["required", "optional", "off"], found: Microphone) -> Row:
    """policy: the study's `recording.audio`."""
    key = "microphone"
    if policy == "off":
        return Row(key, "ok", "This study records no sound.", required=False)
    required = policy == "required"
    if found.device is None:
        if required:
            return Row(key, "missing", "This study needs sound: plug in or choose a microphone.")
        return Row(key, "warn", "Will be recorded without sound.", required=False)
    if found.problem:
        return Row(key, "missing", found.problem)
    if found.state == "zeros":
        return Row(key, "missing", "Exact silence: it is muted, or the system does not allow it.")
    if found.state == "clipping":
        return Row(key, "warn", "Too loud: turn it down or move it away.")
    if found.heard:
        return Row(key, "ok", "You were heard.")
    return Row(key, "busy" if found.state == "starting" else "warn", "Please say something now.")


@dataclass(frozen=True, slots=True)
class ScreenChoice:
    """A screen that windows can be put on; number counts from 1 as on the cards."""

    number: int
    name: str
    width: int
    height: int
    scale: float = 1.0

    @property
    def label(self) -> str:
        """For example `2 · DELL U2720 · 1920 × 1080`."""
        scale = "" if self.scale == 1 else f" at {self.scale * 100:.0f} %"
        return f"{self.number} · {self.name} · {self.width} × {self.height}{scale}"


def screen_row(screens: Sequence[ScreenChoice], chosen: str | None) -> Row:
    """chosen: name of the screen the participant gets."""
    names = [screen.name for screen in screens]
    if chosen not in names:
        text = f"{chosen} is not there any more." if chosen else "No screen was found."
        return Row("screen", "missing", text)
    if len(screens) == 1:
        return Row("screen", "ok", "One screen: your console waits behind it (Ctrl+Shift+M).")
    return Row("screen", "ok", "The console goes to the other screen.")


@dataclass(frozen=True, slots=True)
class Warm:
    """A decoder that was warmed up."""

    model: str
    device: str
    p99_ms: float


def decoder_row(needed: Sequence[str], warm: Sequence[Warm], problem: str = "") -> Row:
    """needed: ids of the study's models; warm: those that are ready; problem: why one cannot be."""
    if problem:
        return Row("decoders", "missing", problem)
    ready = {one.model: one for one in warm}
    missing = [model for model in needed if model not in ready]
    if missing:
        done = len(needed) - len(missing)
        return Row("decoders", "busy", f"Warming up {missing[0]} ({done + 1} of {len(needed)}) …")
    if not needed:
        return Row("decoders", "ok", "This study needs none.", required=False)
    used = [ready[model] for model in needed]
    devices = wording.listed(sorted({_device(one.device) for one in used}))
    slowest = max(one.p99_ms for one in used)
    names = ", ".join(needed)
    return Row("decoders", "ok", f"{names} warm · {devices}, p99 {slowest:.1f} ms")


def _device(name: str) -> str:
    return {"cpu": "CPU", "cuda": "GPU (CUDA)", "mps": "GPU (Apple)"}.get(name, name)


def disk_row(free_bytes: int | None, problem: str = "", *, sound: bool = True) -> Row:
    """free_bytes: from `check_data_root`, which proved the folder writable; None: not yet known."""
    if problem:
        return Row("disk", "missing", problem)
    if free_bytes is None:
        return Row("disk", "busy", "Writing a test file …")
    if free_bytes < LOW_DISK_BYTES:
        least = wording.size(LOW_DISK_BYTES)
        return Row("disk", "missing", f"{wording.size(free_bytes)} free; a session needs {least}.")
    each = SESSION_BYTES_WITH_SOUND if sound else SESSION_BYTES_WITHOUT
    hours = max(1, (free_bytes - LOW_DISK_BYTES // 2) // each)
    room = f"room for about {wording.count(hours, 'session')}"
    return Row("disk", "ok", f"{wording.size(free_bytes)} free, writable · {room}")


def consent_row(text: str | None) -> Row:
    """text: the consent document as Markdown, None where the study's flow has no consent."""
    if text is None:
        return Row("consent", "warn", "This study asks for no consent.", required=False)
    if not text.strip():
        return Row("consent", "missing", "The consent text is empty.")
    left = placeholders(text)
    if left:
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        return Row("consent", "missing", f"Still the template: fill in {left[0]}{more}.")
    return Row("consent", "ok", "Complete: nothing is left to fill in.")
