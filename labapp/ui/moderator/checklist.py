"""What must be right before a session starts: plain values and rules, no Qt.

The controller finds out the facts (is a voice heard, how fast is the decoder, how full is the
disk), these functions judge them, and the home shows the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Literal

from labapp.base import access
from labapp.base.errors import LabappError
from labapp.base.naming import LABEL, find_name_problem
from labapp.record.journal.sessions import SessionSummary
from labapp.session.environment import network_warning
from labapp.session.folder import LOW_DISK_BYTES
from labapp.study.loading import StudyHead
from labapp.study.people import Visits
from labapp.study.plugins.texts import placeholders
from labapp.study.schema import Participants
from labapp.ui import fitting
from labapp.ui.language import N_, N_all, counted, number, tr, translate_message
from labapp.ui.moderator import wording

State = Literal["ok", "warn", "missing", "busy", "todo"]

ORDER = ("microphone", "screen", "decoders", "disk", "consent")
PICTURES = "pictures"
"""A row in the place of the decoders, for studies that show photos instead."""
LSL = "lsl"
"""A row for studies whose events are sent to other devices."""
LENGTH, COMPUTER, LOUDSPEAKER = "length", "computer", "loudspeaker"
BACKUP, ITEMS = "backup", "items"
"""Further rows, for which Start does not wait."""
ROWS = (
    *("microphone", "screen", "decoders", PICTURES, "disk", "consent", LSL),
    *(LENGTH, COMPUTER, LOUDSPEAKER, BACKUP, ITEMS),
)
"""All rows, from top to bottom. Those with nothing to say are not shown."""
OF_STUDY = ("microphone", "decoders", PICTURES, "consent", LSL)
"""The rows that say something of the chosen study."""
NEEDED = {
    "participant": N_("checklist.needs.participant"),
    "plan": N_("checklist.needs.study"),
    "microphone": N_("checklist.needs.microphone"),
    "screen": N_("checklist.needs.screen"),
    "decoders": N_("checklist.needs.models"),
    "pictures": N_("checklist.needs.pictures"),
    "disk": N_("checklist.needs.disk"),
    "consent": N_("checklist.needs.consent"),
    LSL: N_("word.lsl"),
}
"""How a row is called in the sentence beside Start."""

SESSION_BYTES_WITH_SOUND = 380_000_000
SESSION_BYTES_WITHOUT = 40_000_000
"""An hour: 48 kHz mono at 16 bit is 346 MB, a journal with all dial movements below 40 MB."""


ANY_VISIT = Visits()


@dataclass(frozen=True, slots=True)
class ChecklistRow:
    """A line of the checklist. text is the finding; required rows must be ok before Start. A row
    without text is not shown."""

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


def readiness(rows: Sequence[ChecklistRow]) -> Readiness:
    """Whether all required rows are ok, and if not, what Start waits for or needs."""
    needs, waits = (
        [tr(NEEDED[row.key]) for row in rows if row.blocks and (row.state == "busy") == busy]
        for busy in (False, True)
    )
    if needs:
        return Readiness(False, tr("checklist.needs", needs=wording.join_names(needs)))
    if waits:
        why = tr("checklist.still_checking", rows=wording.join_names(waits))
        return Readiness(False, why)
    if open_items := [row.text for row in rows if row.key == ITEMS and row.state == "todo"]:
        return Readiness(True, tr("checklist.ready_but", items=open_items[0]))
    return Readiness(True, tr("checklist.ready"))


def unknown(key: str) -> ChecklistRow:
    """A row that cannot be checked, because the study cannot be used or has no plan."""
    text = "" if key in (PICTURES, LSL) else tr("checklist.study_first")
    return ChecklistRow(key, "warn", text, required=False)


def participant_row(
    participants: Participants,
    taken: Mapping[str, Sequence[str]],
    label: str,
    session: str,
    refused: Mapping[str, str] | None = None,
    *,
    pilot: bool = False,
    visits: Visits = ANY_VISIT,
) -> ChecklistRow:
    """Whether this participant can have this session.

    taken: the participants that have sessions in this study, with their session labels; refused:
    those who may have no further one (`session.folder.refused`); pilot: all of this is of pilots;
    visits: the study's sessions.
    """
    key, refused = "participant", refused or {}
    free = participants.next_free([*taken, *refused], pilot=pilot)
    example = participants.next_free((), pilot=pilot)
    if not label:
        return ChecklistRow(key, "missing", tr("checklist.participant.type", example=example))
    number = participants.number(label) if pilot else participants.own_number(label)
    if number is None or number < 1 or not LABEL.fullmatch(label):
        return ChecklistRow(key, "missing", tr("checklist.participant.form", example=example))
    if not LABEL.fullmatch(session) or find_name_problem(session):
        return ChecklistRow(key, "missing", tr("checklist.participant.label"))
    known = taken.get(label, ())
    if (other := refused.get(label)) is not None:
        withdrew = tr("checklist.participant.withdrew", id=label)
        related = tr("checklist.participant.related", id=label, study=other)
        return ChecklistRow(key, "missing", related if other else withdrew)
    if session in known:
        text = tr("checklist.participant.taken", id=label, free=free)
        return ChecklistRow(key, "missing", text)
    if skipped := visits.skipped(session, known):
        text = counted(
            len(skipped),
            "checklist.participant.not_yet",
            id=label,
            sessions=wording.join_names(list(skipped)),
        )
        forbidden = visits.order == "refused"
        return ChecklistRow(key, "missing" if forbidden else "warn", text, required=forbidden)
    if known:
        text = counted(
            len(known),
            "checklist.participant.already",
            id=label,
            sessions=wording.join_names(sorted(known)),
        )
        return ChecklistRow(key, "ok", text)
    return ChecklistRow(
        key,
        "ok",
        tr("checklist.participant.next_free")
        if label == free
        else tr("checklist.participant.free"),
    )


@dataclass(frozen=True, slots=True)
class Microphone:
    """What is known of the microphone. device: its name, None when there is none or sound is off;
    heard: a voice was heard from it; state: of the level now (audio.level), or "unknown" before
    microphones were looked for; problem: why it cannot be used, or why there is none.
    """

    device: str | None
    heard: bool = False
    state: str = "starting"
    problem: str = ""


def microphone_row(
    policy: Literal["required", "optional", "off"], microphone: Microphone
) -> ChecklistRow:
    """policy: the study's `recording.audio`."""
    key = "microphone"
    if policy == "off":
        return ChecklistRow(key, "ok", tr("checklist.microphone.not_recorded"), required=False)
    if microphone.state == "unknown":
        return ChecklistRow(key, "busy", tr("state.checking"))
    required = policy == "required"
    if microphone.device is None:
        problem = f"{translate_message(microphone.problem)} " if microphone.problem else ""
        text = tr("checklist.microphone.none")
        if required:
            text = tr("checklist.microphone.missing")
        state: State = "missing" if required else "warn"
        return ChecklistRow(key, state, f"{problem}{text}", required=required)
    if microphone.problem:
        return ChecklistRow(key, "missing", translate_message(microphone.problem))
    # Once a voice came through, the microphone works: what it does now is worth a word, no more.
    if microphone.state == "zeros" and microphone.heard:
        text = tr("checklist.microphone.gated")
        return ChecklistRow(key, "warn", text, required=False)
    if microphone.state == "zeros":
        text = tr("checklist.microphone.zeros")
        return ChecklistRow(key, "missing", text)
    if microphone.state == "clipping":
        text = tr("checklist.microphone.loud")
        return ChecklistRow(key, "warn", text, required=not microphone.heard)
    if microphone.heard:
        return ChecklistRow(key, "ok", tr("checklist.microphone.heard"))
    state = "busy" if microphone.state == "starting" else "warn"
    return ChecklistRow(key, state, tr("checklist.microphone.speak"))


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
        text = f"{self.number} · {self.name} · {self.width} × {self.height}"
        if self.scale == 1:
            return text
        return tr("checklist.screen.scale", screen=text, percent=f"{self.scale * 100:.0f} %")


def screen_row(
    screens: Sequence[ScreenChoice], chosen: str | None, picture_px: int | None = None
) -> ChecklistRow:
    """chosen: name of the screen the participant gets; picture_px: of the largest picture whose
    size matters, see `PlannedPart.picture_px`."""
    names = [screen.name for screen in screens]
    if chosen not in names:
        gone = tr("checklist.screen.gone", screen=chosen)
        text = gone if chosen else tr("checklist.screen.none")
        return ChecklistRow("screen", "missing", text)
    if (small := _too_small(screens, chosen)) is not None:
        return small
    screen = next(screen for screen in screens if screen.name == chosen)
    width, height = screen.width / screen.scale, screen.height / screen.scale
    if picture_px is not None and not fitting.fits(width, height, fitting.for_picture(picture_px)):
        text = tr("checklist.screen.small_pictures", screen=screen.name, side=picture_px)
        return ChecklistRow("screen", "warn", text, required=False)
    if len(screens) == 1:
        text = tr("checklist.screen.single")
        return ChecklistRow("screen", "ok", text)
    return ChecklistRow("screen", "ok", tr("checklist.screen.console"))


def _too_small(screens: Sequence[ScreenChoice], chosen: str) -> ChecklistRow | None:
    """A warning of a screen on which a window is cut off: what lies outside cannot be reached."""
    for screen in screens:
        windows = [fitting.PARTICIPANT] if screen.name == chosen else [fitting.CONSOLE]
        if len(screens) == 1:
            windows = [fitting.PARTICIPANT, fitting.CONSOLE]
        width, height = screen.width / screen.scale, screen.height / screen.scale
        if not fitting.fits(width, height, *windows):
            text = tr(
                "checklist.screen.small_window",
                screen=screen.name,
                size=f"{width:.0f} × {height:.0f}",
                needed=fitting.format_needed_room(*windows),
            )
            return ChecklistRow("screen", "warn", text, required=False)
    return None


DEVICES = {"cpu": "CPU", "cuda": "GPU (CUDA)", "mps": "GPU (Apple)"}


@dataclass(frozen=True, slots=True)
class Warm:
    """A decoder that was warmed up."""

    model: str
    device: str
    p99_ms: float


def decoder_row(needed: Sequence[str], warm: Sequence[Warm], problem: str = "") -> ChecklistRow:
    """needed: ids of the study's models; warm: those that are ready; problem: why one cannot be."""
    if problem:
        return ChecklistRow("decoders", "missing", problem)
    ready = {decoder.model: decoder for decoder in warm}
    missing = [model for model in needed if model not in ready]
    if missing:
        form, of = N_("checklist.models.warming"), len(needed)
        text = tr(form, model=missing[0], now=of - len(missing) + 1, all=of)
        return ChecklistRow("decoders", "busy", text)
    if not needed:
        return ChecklistRow("decoders", "ok", tr("checklist.models.unneeded"), required=False)
    used = [ready[model] for model in needed]
    devices = wording.join_names(sorted({DEVICES.get(each.device, each.device) for each in used}))
    slowest = number(f"{max(1, *(ceil(warmed.p99_ms) for warmed in used)):,}")
    text = tr(
        "checklist.models.ready",
        models=", ".join(needed),
        devices=devices,
        time=f"{slowest}\N{NO-BREAK SPACE}ms",
    )
    return ChecklistRow("decoders", "ok", text)


def picture_row(done: int, of: int, problem: str = "") -> ChecklistRow:
    """The pictures of a study that shows photos; of = 0: it shows none."""
    if problem:
        return ChecklistRow(PICTURES, "missing", problem)
    if not of:
        return ChecklistRow(PICTURES, "ok", "", required=False)
    if not done:  # of masked pictures the model is asked, and how far that is is not known
        return ChecklistRow(PICTURES, "busy", tr("checklist.models.preparing"))
    if done < of:
        return ChecklistRow(PICTURES, "busy", tr("checklist.pictures.painting", done=done, all=of))
    text = counted(of, "checklist.pictures.ready")
    return ChecklistRow(PICTURES, "ok", text)


def disk_row(
    free_bytes: int | None, problem: str = "", *, sound: bool = True, network: str = ""
) -> ChecklistRow:
    """free_bytes: from `check_data_root`, which proved the folder writable; None: not yet known;
    network: the kind of network drive it lies on (`session.network`)."""
    if problem:
        return ChecklistRow("disk", "missing", problem)
    if free_bytes is None:
        return ChecklistRow("disk", "busy", tr("checklist.disk.testing"))
    if free_bytes < LOW_DISK_BYTES:
        free, least = wording.size(free_bytes), wording.size(LOW_DISK_BYTES)
        text = tr("checklist.disk.full", size=free, least=least)
        return ChecklistRow("disk", "missing", text)
    if network:
        return ChecklistRow(
            "disk", "warn", translate_message(network_warning(network)), required=False
        )
    each = SESSION_BYTES_WITH_SOUND if sound else SESSION_BYTES_WITHOUT
    hours = max(1, (free_bytes - LOW_DISK_BYTES // 2) // each)
    text = counted(hours, "checklist.disk.room", size=wording.size(free_bytes))
    return ChecklistRow("disk", "ok", text)


def access_row(data: Path, private: Path) -> ChecklistRow | None:
    """In the place of the disk's row, where others can read what they should not: no session starts
    while the private folder is open to them. None if all is as it should be."""
    if rights := access.wide(private, private=True):
        form = N_("checklist.disk.private_open")
        command = access.narrower(private, private=True)
        return ChecklistRow(
            "disk", "missing", tr(form, path=private, rights=rights, command=command)
        )
    if rights := access.wide(data):
        form = N_("checklist.disk.data_open")
        text = tr(form, path=data, rights=rights, command=access.narrower(data))
        return ChecklistRow("disk", "warn", text, required=False)
    return None


def consent_row(text: str | None, problem: str = "", named: str = "") -> ChecklistRow:
    """text: the consent document as Markdown, None if the study's flow has no consent; problem:
    why what is signed could not be stored; named: its file, with its hash."""
    if text is None:
        return ChecklistRow("consent", "warn", tr("checklist.consent.none"), required=False)
    if problem:
        return ChecklistRow("consent", "missing", translate_message(problem))
    if not text.strip():
        return ChecklistRow("consent", "missing", tr("checklist.consent.empty"))
    if left := placeholders(text):
        form = N_("checklist.consent.template")
        if len(left) > 1:
            form = N_("checklist.consent.template_more")
        return ChecklistRow("consent", "missing", tr(form, left=left[0], more=len(left) - 1))
    complete = tr("checklist.consent.complete")
    return ChecklistRow("consent", "ok", f"{complete} {named}".strip())


def lsl_row(
    policy: Literal["required", "optional", "off"], find_problem: Callable[[], LabappError | None]
) -> ChecklistRow:
    """policy: the study's `recording.lsl`; find_problem: why events cannot be sent."""
    if policy == "off":
        return ChecklistRow(LSL, "ok", "", required=False)
    if (problem := find_problem()) is not None:
        text = f"{translate_message(problem.what)} {problem.todo}".strip()
        required = policy == "required"
        return ChecklistRow(LSL, "missing" if required else "warn", text, required=required)
    text = tr("checklist.lsl.unencrypted")
    return ChecklistRow(LSL, "ok", text)


def length_row(minutes: int | None, now: datetime) -> ChecklistRow:
    """How long a session takes by its study, and when it ends if it begins now."""
    text = ""
    if minutes is not None:
        ends = f"{now + timedelta(minutes=minutes):%H:%M}"
        text = tr("checklist.length", minutes=minutes, time=ends)
    return ChecklistRow(LENGTH, "ok", text, required=False)


@dataclass(frozen=True, slots=True)
class Computer:
    """What is known of the computer.

    Attributes
    ----------
    battery : its charge in percent; None if there is none, or the system does not say.
    plugged : whether it is connected to the mains.
    held : what can be held off in a session; None before it was tried.
    restart : whether updates wait for a restart.
    """

    battery: int | None = None
    plugged: bool = True
    held: frozenset[str] | None = None
    restart: bool = False


LOW_BATTERY = 50
"""Percent."""
NOT_HELD = {
    frozenset[str](): N_("checklist.computer.nothing_held"),
    frozenset({"screen"}): N_("checklist.computer.sleep_not_held"),
    frozenset({"sleep"}): N_("checklist.computer.screen_not_held"),
}


def computer_row(computer: Computer) -> ChecklistRow:
    """Battery, pending restart, and whether sleep and screen saver can be held off."""
    good, bad = [], []
    if computer.restart:
        bad.append(tr("checklist.computer.restart"))
    if computer.battery is not None and computer.plugged:
        good.append(tr("checklist.computer.plugged", percent=computer.battery))
    elif computer.battery is not None:
        low = computer.battery < LOW_BATTERY
        form = N_("checklist.computer.low") if low else N_("checklist.computer.unplugged")
        bad.append(tr(form, percent=computer.battery))
    if computer.held is not None:
        not_held = NOT_HELD.get(frozenset[str](computer.held))
        (good if not_held is None else bad).append(tr(not_held or N_("checklist.computer.held")))
    elif not bad:
        return ChecklistRow(COMPUTER, "busy", tr("state.checking"), required=False)
    text = "\n".join((*bad, *good))
    return ChecklistRow(COMPUTER, "warn" if bad else "ok", text, required=False)


LOUDSPEAKERS: Mapping[str, tuple[State, str]] = {
    "untested": ("todo", N_("checklist.loudspeaker.untested")),
    "playing": ("busy", N_("checklist.loudspeaker.playing")),
    "asked": ("busy", N_("checklist.loudspeaker.asked")),
    "heard": ("ok", N_("checklist.loudspeaker.heard")),
    "unheard": ("warn", N_("checklist.loudspeaker.unheard")),
}


def loudspeaker_row(state: str, problem: str = "") -> ChecklistRow:
    """state: of `LoudspeakerTest`; problem: why no tone could be played."""
    mark, text = LOUDSPEAKERS[state]
    sentence = translate_message(problem) or tr(text)
    return ChecklistRow(LOUDSPEAKER, mark, sentence, required=False)


def backup_row(
    folder: str, sessions: int, waiting: int, *, there: bool, running: bool = False
) -> ChecklistRow:
    """folder: where finished sessions are copied to, empty if nobody chose one; sessions: how
    many there are; waiting: how many of them have no copy; there: the folder is; running: they are
    being copied."""
    state: State = "ok"
    if not folder:
        state, text = "todo", tr("checklist.backup.unset")
    elif running:
        state, text = "busy", tr("checklist.backup.running", folder=folder)
    elif waiting and not there:
        state, text = "warn", counted(waiting, "checklist.backup.away", folder=folder)
    elif waiting:
        state, text = "warn", counted(waiting, "checklist.backup.waiting", folder=folder)
    elif sessions:
        text = counted(sessions, "checklist.backup.done", folder=folder)
    else:
        text = tr("checklist.backup.ready", folder=folder)
    return ChecklistRow(BACKUP, state, text, required=False)


def items_row(items: Sequence[str], ticked: Collection[str]) -> ChecklistRow:
    """The study's own list."""
    open_items = [item for item in items if item not in ticked]
    if open_items:
        return ChecklistRow(ITEMS, "todo", ", ".join(open_items), required=False)
    return ChecklistRow(ITEMS, "ok", tr("checklist.items_done") if items else "", required=False)


STATE_WORDS = {
    **N_all("state", "complete", "ended_early", "interrupted", "damaged"),
    "running": N_("state.open_now"),
}


@dataclass(frozen=True, slots=True)
class StudyChoice:
    """A study in the list: what to load (id or path) and its title."""

    study: str
    title: str


GROUPS = N_all("studies", "own", "shipped", "published")
"""Headings of the list of studies, by `StudyShelf.group`, in their order."""


def about(head: StudyHead) -> str:
    """A line about a study: its phase, what it is, and how long a session takes."""
    phase = tr("results.only_phase", phase=head.phase) if head.phase else ""
    return " · ".join(filter(None, (phase, head.summary, lasts(head))))


def lasts(head: StudyHead) -> str:
    """How long a session takes; empty if the study does not say."""
    return tr("checklist.minutes", n=head.minutes) if head.minutes else ""


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
    the next free label of the pilots; language: the participant's, of a study in several."""

    study: str
    participant: str
    session: str
    audio: str | None
    screen: str
    blind: bool = False
    pilot: bool = False
    language: str | None = None


def state_text(line: SessionSummary) -> str:
    """For example `complete, exported`."""
    state = tr(STATE_WORDS[line.state])
    if line.decision == "excluded":
        state = tr("checklist.excluded", state=state)
    elif line.decision:
        state = tr("checklist.included", state=state)
    elif line.not_counted and line.state == "complete":
        state = tr("checklist.not_counted", state=state)
    if line.pilot:
        state = tr("checklist.pilot", state=state)
    if line.withdrawn:
        state = tr("checklist.withdrawn", state=state)
    return tr("checklist.exported", state=state) if line.exported else state


def voice_text(line: SessionSummary) -> str:
    """The state of the sound."""
    if not line.sound:
        return tr("state.no_sound")
    if not line.lost_s:
        return tr("checklist.nothing_lost")
    return tr("checklist.sound_lost", seconds=number(f"{line.lost_s:.1f}"))


def length_text(line: SessionSummary) -> str:
    """Working time, in whole seconds as the report and the command line round them."""
    return wording.short_time(round(line.length_s) * 1_000_000_000)
