"""What every screen of the participant's window is given and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from labapp.events.commands import Command
from labapp.plugins.part import PlannedPart, RepresentationPart
from labapp.session.runner import Runner
from labapp.study import texts
from labapp.study.loading import LoadedStudy
from labapp.study.schema import Presentation
from labapp.ui import theme
from labapp.ui.images import Images
from labapp.ui.strings import Strings
from labapp.ui.widgets.bars import Foot, Head

OnConsent = Callable[[str, str, Mapping[str, bool]], bool | None]
"""Stores the typed name or the drawn signature apart (as JSON, see `private.Consent`) and sends the
consent, with whether the participant agrees to each use that is asked. Returns False where it could
not be stored, and whoever did not store it told that: the participant gives it once more."""

Wish = Literal["", "content", "right"]


@dataclass(frozen=True)
class Setting:
    """The session behind a window, its words and its look.

    on_consent: takes the consent, see `OnConsent`. images: the pictures of
    photos to judge, where the session shows any.
    """

    runner: Runner
    loaded: LoadedStudy
    words: Strings
    palette: theme.Palette
    presentation: Presentation
    on_consent: OnConsent
    images: Images | None = None

    @property
    def improved(self) -> bool:
        return self.presentation == "improved"

    def pages(self, document: str, values: dict[str, str]) -> list[str]:
        """The pages of one of the study's texts, with values (numbers) filled in."""
        said = {name: self.words.number(value) for name, value in values.items()}
        return [texts.fill(page, said) for page in texts.pages(self.loaded.text(document))]


class Screen(QWidget):
    """One part of the plan. It renders the runner's state and sends commands, nothing else.

    altered: head or foot changed by itself (something was typed). wish: where the focus should go
    after the next rendering; the window fulfils it once.
    """

    altered = Signal()

    def __init__(self, setting: Setting, part: PlannedPart) -> None:
        super().__init__()
        self.setting = setting
        self.planned = part
        self.wish: Wish = "content"
        self._width = theme.CONTENT_WIDTH

    def column(self, width: int = theme.CONTENT_WIDTH) -> QVBoxLayout:
        """The screen's content column of at most `width`, centred."""
        self._width = width
        made = QVBoxLayout(self)
        made.setSpacing(0)
        return made

    def set_column_width(self, width: int) -> None:
        """Make the column narrower or wider."""
        self._width = width
        layout = self.layout()
        if layout is not None:
            side = max(theme.SPACE_XL, (self.width() - width) // 2)
            layout.setContentsMargins(side, theme.SPACE_XL, side, theme.SPACE_XL)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.set_column_width(self._width)
        super().resizeEvent(event)

    @property
    def state(self) -> Any:
        """The state of this part."""
        return self.setting.runner.state.part_state

    def send(self, command: Command) -> None:
        """Ask the session for something, while this part is the one that runs.

        A screen that is taken down loses the focus, and what a field gives then must not be taken
        for an answer to the part that comes next.
        """
        if self.setting.runner.part is self.planned:
            self.setting.runner.send(command)

    def unsent(self) -> Sequence[Command]:
        """What the hand did and did not send yet, such as a text that is still being written."""
        return ()

    def render_state(self) -> None:
        """Bring the screen in step with the state; called on every change, so it must be quick."""

    def head(self) -> Head:
        return Head()

    def foot(self) -> Foot:
        return Foot()

    def left(self) -> None:
        """The left button was pressed."""

    def right(self) -> None:
        """The right button was pressed."""

    def help(self) -> None:
        """The button on top was pressed that `head().help` names."""

    def left_alone(self, away: bool) -> None:
        """The participant asks to leave or another window is in front, or is back; called after
        every change, also where nothing is new."""

    def turn(self) -> Sequence[QWidget]:
        """What Tab visits in this order although it stands otherwise: the task is done so."""
        return ()

    def entrance(self) -> QWidget | None:
        """What takes the focus when the screen comes up; None: the right button."""
        return None


def stage_words(setting: Setting, part: PlannedPart) -> str:
    """The top bar's words for the stage that a part is, asks about or leads to; else empty."""
    parts = setting.runner.machine.parts
    if (about := part.belongs_to()) is not None:
        stage = next((other for other in parts if other.id == about), None)
    elif part.introduces:
        after = parts.index(part) + 1
        stage = parts[after] if after < len(parts) else None
    else:
        stage = part
    if not isinstance(stage, RepresentationPart):
        return ""
    if stage.role == "practice":
        return setting.words("practice")
    return setting.words("stage_of", number=stage.number, of=stage.of)
