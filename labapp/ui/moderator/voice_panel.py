"""Voice and recording: what is heard, when to prompt, and that everything is being kept.

Also the voice meter: the last seconds of sound as bars.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QWidget

from labapp.session.folder import LOW_DISK_BYTES
from labapp.ui import theme
from labapp.ui.language import N_, number, tr, translate_message
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.state.alarms import SLOW_MS
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button
from labapp.ui.widgets.painting import brush

if TYPE_CHECKING:
    from labapp.record.audio.recorder import Level
    from labapp.ui.moderator.state.console import Note, Sound

FIRST_KEY = "F8"
ROW_PX = 30
MOST_ROWS = 3


def key_of(place: int) -> str:
    """The key that gives a prompt, counted from 0."""
    return FIRST_KEY if place == 0 else f"Alt+{place + 1}"


class PromptBox(QWidget):
    """given(place): the moderator says one of the prompts, counted from 0."""

    given = Signal(int)

    def __init__(self, prompts: Sequence[str]) -> None:
        super().__init__()
        self.last = bits.label(role="caption")
        self.buttons: list[Button] = []
        rows = QWidget()
        column = bits.column(rows, 0)
        for place, prompt in enumerate(prompts):
            button = Button("", "chip", pressed=lambda _=False, place=place: self.given.emit(place))
            button.setFixedHeight(ROW_PX)
            button.setToolTip(tr("voice.prompt_tip", key=key_of(place), prompt=prompt))
            button.setAccessibleName(tr("voice.said", prompt=prompt))
            inside = QHBoxLayout(button)
            inside.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
            key = bits.label(key_of(place), "caption")
            key.setFixedWidth(36)
            for label in (key, words := bits.ElidedLabel(prompt, "fact")):
                label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            bits.fill(inside, key, (words, 1))
            column.addWidget(button)
            self.buttons.append(button)
        area = bits.Scrolling(rows)
        area.setFixedHeight(ROW_PX * min(MOST_ROWS, len(prompts)))
        head = bits.fill(QHBoxLayout(), (bits.label(tr("voice.prompts"), "caption"), 1), self.last)
        bits.fill(bits.column(self, 2), head, area)

    def show_last(self, notes: Sequence[Note], now_ns: int) -> None:
        """How long ago (session time) the last prompt was given."""
        last = next((note for note in reversed(notes) if note.kind == "prompt" and note.text), None)
        text = tr("voice.none_yet")
        if last is not None:
            text = tr("voice.last_ago", time=wording.short_time(now_ns - last.t_ns))
        bits.set_text(self.last, text)


BARS = 44
PROMPT_HEIGHT = 56
MOST_BARS_HEIGHT = 120
SAVED_LATE_S = 2.0
QUIET_S = 2.0
"""Pauses between words are shorter."""
FACTS = {
    "microphone": N_("word.microphone"),
    "lost": N_("voice.lost"),
    "saved": N_("voice.saved"),
    "disk": N_("word.disk"),
    "slowest": N_("voice.slowest"),
    "lsl": N_("word.lsl"),
}


@dataclass(frozen=True, slots=True)
class VoiceMessage:
    """What the panel says: a headline, a word of explanation, and whether to prompt."""

    headline: str
    detail: str
    tone: str
    prompt: bool = False


def hearing_of(
    level: Level | None, sound: Sound, prompt_after_s: float, *, expected_s: float | None
) -> VoiceMessage:
    """Tell the states of the voice apart.

    expected_s: for how long the participant has been expected to think aloud, None if they are
    not: in a pause, or while a text is read. Silence counts from then on, and a prompt is due
    after prompt_after_s of it.
    """
    if sound.off is not None:
        why = translate_message(sound.off)
        return VoiceMessage(tr("voice.no_sound"), tr("voice.recorded_without", why=why), "warn")
    if level is None:
        # Without a device yet it is to come; with one it is over.
        coming = "" if sound.device else tr("voice.awaits_consent")
        return VoiceMessage(tr("voice.not_recording"), coming, "")
    if sound.lost or level.state == "lost":
        problem = translate_message(level.problem)
        return VoiceMessage(
            tr("deviation.microphone_lost"), problem or tr("voice.looking"), "alarm"
        )
    match level.state:
        case "zeros" if sound.heard:
            return VoiceMessage(tr("voice.zeros"), tr("voice.gated_why"), "warn")
        case "zeros":
            return VoiceMessage(tr("voice.zeros"), tr("voice.zeros_why"), "alarm")
        case "clipping":
            return VoiceMessage(tr("alarm.clipping"), tr("voice.clipping_why"), "warn")
        case "starting":
            return VoiceMessage(tr("voice.listening"), "", "")
        case "stopped":
            return VoiceMessage(tr("voice.stopped"), translate_message(level.problem), "")
    if level.problem:
        return VoiceMessage(tr("voice.unwritten"), translate_message(level.problem), "alarm")
    if level.silent_for_s < QUIET_S:
        return VoiceMessage(tr("voice.heard"), "", "good")
    if expected_s is None:
        return VoiceMessage(tr("voice.silent"), tr("voice.need_not_speak"), "")
    silent_s = min(level.silent_for_s, expected_s)
    text = tr("voice.silent_for", seconds=f"{silent_s:.0f}")
    due = silent_s >= prompt_after_s
    return VoiceMessage(text, "", "warn" if due else "", prompt=due)


class VoicePanel(bits.Card):
    """prompt_given(place): the moderator says one of the study's prompts, counted from 0;
    microphone_taken(): record with the microphone that is offered.

    prompts: the first is the one that is due after prompt_after_s of silence.
    """

    prompt_given = Signal(int)
    microphone_taken = Signal()

    def __init__(self, palette: Palette, prompts: Sequence[str], prompt_after_s: float) -> None:
        around = (theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        super().__init__("", theme.SPACE_S, around)
        self._prompt_after_s = prompt_after_s
        self.bars = LevelBars(palette, BARS, QSize(200, 48))
        self.clip = bits.label(tr("voice.clip"), "clip", tone="alarm")
        keeps = self.clip.sizePolicy()  # nothing moves when it comes
        keeps.setRetainSizeWhenHidden(True)
        self.clip.setSizePolicy(keeps)
        self.clip.hide()
        self.headline = bits.label(role="title")
        self.detail = bits.label(role="secondary", wrap=True)
        self.detail.setAlignment(Qt.AlignmentFlag.AlignTop)
        say = tr("voice.say", prompt=prompts[0], key=FIRST_KEY)
        self.prompt = Button(say, "prompt", pressed=lambda: self.prompt_given.emit(0))
        self.offer = Button(tr("voice.record_with"), "prompt", pressed=self.microphone_taken)
        self.offer.hide()
        self.prompts = PromptBox(prompts)
        self.prompts.given.connect(self.prompt_given)

        head = bits.fill(QHBoxLayout(), (bits.label(tr("voice.heading"), "section"), 1), self.clip)
        self.bars.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.bars.setMaximumHeight(MOST_BARS_HEIGHT)
        # The prompt and an explanation take turns in one place: nothing moves when either comes.
        slot = QFrame()
        slot.setFixedHeight(PROMPT_HEIGHT)
        bits.fill(bits.column(slot, 0), self.prompt, self.offer, self.detail)
        bits.fill(self.body, head, (self.bars, 3), self.headline, slot, self.prompts, 1)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setVerticalSpacing(theme.SPACE_XS)
        grid.setColumnStretch(1, 1)
        self.facts: dict[str, bits.ElidedLabel] = {}
        self._titles: dict[str, QLabel] = {}
        for row, (name, key) in enumerate(FACTS.items()):
            value = bits.ElidedLabel(role="fact")
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            title = bits.label(tr(key), "secondary")
            grid.addWidget(title, row, 0)
            grid.addWidget(value, row, 1)
            self.facts[name] = value
            self._titles[name] = title
        self.show_lsl(None, received=False)
        self.body.addLayout(grid)

    def show_voice(
        self, level: Level | None, sound: Sound, *, expected_s: float | None
    ) -> VoiceMessage:
        """Meter, state and prompt; returns what it says. expected_s: see `hearing_of`."""
        hearing = hearing_of(level, sound, self._prompt_after_s, expected_s=expected_s)
        self.bars.set_peaks(level.envelope if level else ())
        self.clip.setVisible(level is not None and level.state == "clipping")
        bits.set_text(self.headline, hearing.headline, hearing.tone)
        bits.set_text(self.detail, hearing.detail)
        if self.prompt.isHidden() == hearing.prompt:
            self.prompt.setVisible(hearing.prompt)
            self.detail.setVisible(not hearing.prompt and self.offer.isHidden())
        return hearing

    def offer_microphone(self, name: str | None) -> None:
        """Offer to record with the microphone of this name; None takes the offer back."""
        if self.offer.isHidden() == (name is None):
            return
        self.offer.setToolTip(name or "")
        self.offer.setVisible(name is not None)
        self.detail.setVisible(name is None and self.prompt.isHidden())

    def show_facts(
        self,
        level: Level | None,
        sound: Sound,
        saved_ago_s: float,
        free_bytes: int | None,
        p99_ms: float | None,
        *,
        decodes: bool = True,
    ) -> None:
        """The numbers below; each is marked when it is not as it should be. decodes: the session
        has decoders."""
        rate = sound.rate or (level.rate if level else 0)
        khz = f" · {number(f'{rate / 1000:g}')} kHz" if rate else ""
        absent = tr("voice.none") if sound.off is not None else tr("voice.unopened")
        self._fact("microphone", f"{sound.device}{khz}" if sound.device else absent, False)
        # The recorder's count is of now, the journal's includes gaps it has not heard of yet.
        lost = max(sound.lost_frames, level.lost_frames if level else 0)
        self._fact("lost", wording.sound_length(lost, rate), lost > 0)
        late = saved_ago_s > SAVED_LATE_S
        self._fact("saved", tr("voice.seconds_ago", seconds=number(f"{saved_ago_s:.1f}")), late)
        if free_bytes is None:
            self._fact("disk", "…", False)
        else:
            free = tr("word.free", size=wording.size(free_bytes))
            self._fact("disk", free, free_bytes < LOW_DISK_BYTES)
        if p99_ms is None:
            self._fact("slowest", "…" if decodes else tr("voice.none"), False)
        else:
            self._fact("slowest", number(f"{p99_ms:.1f} ms"), p99_ms > SLOW_MS)

    def show_lsl(self, problem: str | None, *, received: bool) -> None:
        """problem: why events are not sent, empty if they are; None if nobody asked for it.
        received: whether anybody receives them."""
        for widget in (self._titles["lsl"], self.facts["lsl"]):
            widget.setVisible(problem is not None)
        if problem is None:
            return
        if problem:
            self._fact("lsl", translate_message(problem), True)
        elif received:
            self._fact("lsl", tr("voice.lsl_received"), False)
        else:
            self._fact("lsl", tr("voice.lsl_unreceived"), True)
        bits.set_text(self._titles["lsl"], tr("word.lsl") if problem else tr("voice.lsl_title"))

    def _fact(self, name: str, text: str, wrong: bool) -> None:
        label = self.facts[name]
        bits.set_property(label, "tone", "warn" if wrong else "")
        label.set_full(f"! {text}" if wrong else text)


FLOOR_DB = -54.0
CLIP = 0.998
QUIET = 0.15
"""Bars below this (some -46 dBFS) are the room, not a voice."""


def height_of(peak: float) -> float:
    """Height of a bar, 0 to 1, for a peak of 0 to 1: linear in decibel above -54 dBFS."""
    if peak <= 0.0:
        return 0.0
    return min(1.0, max(0.0, 1.0 - 20.0 * math.log10(peak) / FLOOR_DB))


class LevelBars(QWidget):
    """Peaks, newest at the right; bars at full scale stand out in the alarm colour with a cap."""

    def __init__(self, palette: Palette, bars: int, size: QSize) -> None:
        super().__init__()
        self._bars, self._palette = bars, palette
        self.peaks: tuple[float, ...] = ()
        self.setMinimumSize(size)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def set_peaks(self, peaks: Sequence[float]) -> None:
        """Peaks of 0 to 1, oldest first; the last ones that fit are shown."""
        shown = tuple(peaks[-self._bars :])
        if shown != self.peaks:
            self.peaks = shown
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        pitch = self.width() / self._bars
        thick = max(2.0, pitch * 0.66)
        full, low = float(self.height()), 3.0
        p = self._palette
        for index, peak in enumerate((0.0,) * (self._bars - len(self.peaks)) + self.peaks):
            high = height_of(peak)
            painter.setBrush(
                brush(p.track if high < QUIET else p.alarm if peak >= CLIP else p.good)
            )
            tall = max(low, high * full)
            painter.drawRect(QRectF(index * pitch, full - tall, thick, tall))
