"""The sound or video of a study on the screen: a button to play it, how far it is, and how often
it can still be played; above them the pictures of a video."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from labapp.base.clock import NS
from labapp.record.audio.player import Player
from labapp.record.events.trials import SoundState
from labapp.study.media import DecodedSound
from labapp.ui import theme
from labapp.ui.strings import Strings
from labapp.ui.timers import make_repeating_timer
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import Button, PlainLabel, announce
from labapp.ui.widgets.painting import metrics
from labapp.ui.widgets.video_picture import VideoPicture

TICK_MS = 50
PICTURE_MS = 15
"""Between two looks at a video: shorter than its pictures are shown."""
WIDEST_VIDEO = 640
BAR_WIDTH = 200
CAPTION_WIDTH = 240


@dataclass(frozen=True, slots=True)
class Sounding:
    """What the session says of a sound now.

    Attributes
    ----------
    playing : whether it plays, and nothing holds the session.
    at_s : where it is, in seconds from its beginning.
    can_play : whether it can be started, or go on.
    note : what is said below the button.
    """

    playing: bool
    at_s: float
    can_play: bool
    note: str

    @classmethod
    def of(
        cls, now: SoundState, working_ns: int, held: bool, plays: int | None = None, note: str = ""
    ) -> Sounding:
        """What a session's state says at a working time. held: whether it is paused; plays: how
        often the sound can be started."""
        at_s = now.position(working_ns)
        return cls(now.playing and not held, at_s, now.can_play(plays), note)


MakePlayer = Callable[[DecodedSound], Player]


class SoundBar(QWidget):
    """It shows what the session says, and asks it to play or to pause; a player, where there is
    one, follows.

    asked(action, audible): `play` or `pause` is wanted, or the sound came to its `end`.

    Parameters
    ----------
    sound : what is played.
    name : of the sound, for people who hear the screen.
    look : says what the session says now.
    make_player : makes what is heard; None on a screen that is only read.
    caption : words before it, such as those of the option whose sound it is.
    width : of a video, in logical pixels, as the study states it; None for its own.
    most : for how wide a video there is room, in logical pixels.
    """

    asked = Signal(str, bool)
    leads: Callable[[], bool] = staticmethod(lambda: True)
    """Whether its player follows, where several bars show one sound."""

    def __init__(
        self,
        sound: DecodedSound,
        name: str,
        words: Strings,
        look: Callable[[], Sounding],
        make_player: MakePlayer | None = None,
        caption: str = "",
        width: int | None = None,
        most: int = WIDEST_VIDEO,
    ) -> None:
        super().__init__()
        self._sound, self._words, self._look, self._make = sound, words, look, make_player
        self._player: Player | None = None
        self._led = False  # whether the player was told to play
        self._name, self._problem = name, sound.problem
        self._shown: tuple[bool, bool, str, str] | None = None
        self.pictures = VideoPicture(sound, name, width, most) if sound.video else None
        self.button = Button(words("sound_play"), pressed=self._press)
        words_wide = (
            metrics().horizontalAdvance(words(key)) for key in ("sound_play", "sound_pause")
        )
        self.button.setFixedWidth(ceil(max(words_wide)) + 2 * theme.SPACE_XL)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setProperty("role", "sound")
        self.bar.setFixedWidth(BAR_WIDTH)
        self.bar.setRange(0, max(round(1000 * sound.seconds), 1))
        self.bar.setAccessibleName(name)
        self.time = PlainLabel(self._length(sound.seconds))
        self.note = controls.make_label(role="secondary", wrap=True)
        row = controls.row(None, theme.SPACE_M)
        if caption:
            words_before = controls.make_label(caption, wrap=True)
            words_before.setFixedWidth(CAPTION_WIDTH)
            row.addWidget(words_before)
        controls.fill(row, self.button, self.bar, self.time, 1)
        column = controls.column(self, theme.SPACE_XS, (0, theme.SPACE_S, 0, 0))
        if self.pictures is not None:
            column.addWidget(self.pictures)
        controls.fill(column, row, self.note)
        every_ms = TICK_MS if self.pictures is None else PICTURE_MS
        self._timer = make_repeating_timer(self, self.follow, every_ms)

    def _length(self, at_s: float) -> str:
        return self._words("sound_time", at=_minutes(at_s), of=_minutes(ceil(self._sound.seconds)))

    def _press(self) -> None:
        playing = self._look().playing
        self.asked.emit("pause" if playing else "play", self._audible)
        self.follow()

    @property
    def _audible(self) -> bool:
        return self._player is not None and self._player.sounding

    def follow(self) -> None:
        """Show, and let be heard, what the session says now."""
        now, words = self._look(), self._words
        at_s = min(now.at_s, self._sound.seconds)
        self.bar.setValue(round(1000 * at_s))
        if self.pictures is not None:
            self.pictures.show_at(at_s)
            if self.pictures.failed and not self._problem:
                self._problem = words("sound_problem")
                announce(self, self._problem)
        length, note = self._length(at_s), " ".join(filter(None, (now.note, self._problem)))
        shown = now.playing, now.can_play, length, note
        if shown != self._shown:  # a screen reader hears of each change, also of none
            self._shown = shown
            self.button.setText(words("sound_pause") if now.playing else words("sound_play"))
            self.button.setEnabled(now.playing or now.can_play)
            self.button.setAccessibleName(f"{self.button.text()}: {self._name}")
            self.button.setAccessibleDescription(f"{length}. {note}".strip())
            self.bar.setAccessibleDescription(length)
            self.time.setText(length)
            if note != self.note.text():
                self.note.setText(note)
                self.note.setVisible(bool(note))
        if self._player is not None:
            self._lead(self._player, now)

    def _lead(self, player: Player, now: Sounding) -> None:
        """Let the player do what the session says, and say where it came to the end."""
        if player.problem and not self._problem:
            self._problem = self._words("sound_problem")
            announce(self, self._problem)
        if now.playing and not self._led and self.leads():
            player.seek(round(now.at_s * NS))
            player.play()
            self._led = True
        elif not now.playing and self._led:
            player.pause()
            self._led = False
        elif self._led and not player.playing:
            self._led = False
            self.asked.emit("end", self._audible)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._make is not None and self._player is None:
            self._player = self._make(self._sound)
            self._timer.start()
        self.follow()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if event.spontaneous():  # a window that is minimised is still heard
            return
        self._timer.stop()
        if self.pictures is not None:
            self.pictures.close_video()
        if self._player is not None:
            self._player.close()
            self._player, self._led = None, False


def _minutes(seconds: float) -> str:
    """As `1:05`."""
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02}"
