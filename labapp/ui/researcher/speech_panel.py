"""The line of the page *Coding* for writing down what was said: which model, of which sessions, and
how far it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QLineEdit, QProgressBar, QWidget

from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.combo import Combo
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.flow import FlowLayout

LONGEST = 2000
"""Characters of paths."""
MODEL_WIDTH, LANGUAGE_WIDTH, WORDS_WIDTH = 220, 190, 230
STEPS = 1000
"""Of the bar."""


@dataclass(frozen=True, slots=True)
class SpeechWanted:
    """What is to be written down.

    Attributes
    ----------
    sessions : their names.
    model : the path of a speech model.
    language : what was spoken, as `de`; empty for what the study says.
    words : the path of a file with words that may come up; empty for none.
    """

    sessions: tuple[str, ...]
    model: str
    language: str
    words: str


class SpeechPanel(QWidget):
    """Signals
    -------
    wanted(SpeechWanted) : sessions are to be written down.
    model_chosen(str) : the path of a model.
    stop_requested() : what is at work is to end.
    left() : it is put away.
    """

    wanted = Signal(object)
    model_chosen = Signal(str)
    stop_requested = Signal()
    left = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._session = ""
        self._pending: tuple[str, ...] = ()
        self._working = False
        self.state = bits.label(role="secondary", wrap=True)
        self.model = Combo(palette, tr("Speech model"))
        self.file = Button(tr("Model file…"), "compact")
        self.folder = Button(tr("Model folder…"), "compact")
        self.language = QLineEdit()
        self.language.setPlaceholderText(tr("Language as the study"))
        self.language.setAccessibleName(tr("Language that was spoken, such as de"))
        self.words = QLineEdit()
        self.words.setPlaceholderText(tr("File with words to expect"))
        self.words.setAccessibleName(tr("File with words to expect"))
        self.find_words = Button(tr("Choose…"), "compact")
        self.bar = QProgressBar()
        self.bar.setRange(0, STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("How much of the voice is written down"))
        self.single = Button(tr("This session"), "compact")
        self.all = Button(tr("All that are pending"), "compact")
        self.stop = Button(tr("Stop"), "compact")
        self.leave = Button(tr("Not now"), "compact")
        self.hide_ = Button(tr("Hide"), "compact")
        self._build()
        self.model.activated.connect(lambda at: self._choose(self.model.itemData(at)))
        self.file.clicked.connect(self._ask_file)
        self.folder.clicked.connect(self._ask_folder)
        self.find_words.clicked.connect(self._ask_words)
        self.single.clicked.connect(lambda: self._begin((self._session,)))
        self.all.clicked.connect(lambda: self._begin(self._pending))
        self.stop.clicked.connect(self.stop_requested)
        for button in (self.leave, self.hide_):
            button.clicked.connect(self.left)
        self.set_working(False)
        self.hide()

    def _build(self) -> None:
        column = bits.column(self, theme.SPACE_XS)
        column.addWidget(bits.hairline())
        self.bar.setFixedHeight(theme.SPACE_S)
        self.choices, self.work = QWidget(), QWidget()
        how = FlowLayout(theme.SPACE_S, theme.SPACE_XS)
        self.choices.setLayout(how)
        for field, width in (
            (self.model, MODEL_WIDTH),
            (self.language, LANGUAGE_WIDTH),
            (self.words, WORDS_WIDTH),
        ):
            field.setFixedWidth(width)
        for field in (self.language, self.words):
            bits.limit(field, LONGEST)
        for widget in (self.model, self.file, self.folder, self.language, self.words):
            how.addWidget(widget)
        how.addWidget(self.find_words)
        for button in (self.single, self.all, self.leave):
            how.addWidget(button)
        at_work = bits.row(self.work, theme.SPACE_S)
        at_work.addWidget(self.bar, 1)
        at_work.addWidget(self.stop)
        at_work.addWidget(self.hide_)
        column.addWidget(self.choices)
        column.addWidget(self.work)
        column.addWidget(self.state)

    # --- what is shown ----------------------------------------------------------------------------

    def set_models(self, paths: Sequence[str], chosen: str) -> None:
        """The models that can be chosen from, by their paths."""
        self.model.set_choices([(Path(path).name, path) for path in paths], chosen)
        self.model.setToolTip(chosen)
        self.model.setEnabled(bool(paths))
        self._look()

    def set_state(self, text: str, tone: str = "") -> None:
        """What is here, what is missing, or what came of it."""
        bits.set_property(self.state, "tone", tone)
        bits.set_text(self.state, text)

    def set_sessions(self, session: str, pending: Sequence[str]) -> None:
        """The session that is selected, empty for none; and those that are not written down."""
        self._session, self._pending = session, tuple(pending)
        self.all.setText(tr("All pending ({n})", n=len(pending)))
        self._look()

    def set_working(self, working: bool) -> None:
        """Whether something is being written down."""
        self._working = working
        self.stop.setEnabled(True)
        self.work.setVisible(working)
        self.choices.setVisible(not working)
        self._look()

    def set_share(self, share: float | None) -> None:
        """How much is done; None where nobody knows."""
        self.bar.setRange(0, 0 if share is None else STEPS)
        if share is not None:
            self.bar.setValue(round(share * STEPS))

    def _look(self) -> None:
        ready = self.model.currentData() is not None and not self._working
        self.single.setEnabled(ready and bool(self._session))
        self.all.setEnabled(ready and bool(self._pending))

    # --- what is asked for ------------------------------------------------------------------------

    def _choose(self, path: str) -> None:
        self.model.setToolTip(path)
        self.model_chosen.emit(path)

    def _ask_file(self) -> None:
        title = tr("A speech model of whisper.cpp, such as ggml-small.bin")
        path, _ = QFileDialog.getOpenFileName(self, title, self._at())
        if path:
            self._choose(path)

    def _ask_folder(self) -> None:
        title = tr("The folder of a speech model for faster-whisper or Vosk")
        if path := QFileDialog.getExistingDirectory(self, title, self._at()):
            self._choose(path)

    def _ask_words(self) -> None:
        title = tr("A text file with words that may come up, a line each")
        path, _ = QFileDialog.getOpenFileName(self, title, str(Path.home()))
        if path:
            self.words.setText(path)

    def _at(self) -> str:
        chosen = self.model.currentData()
        return str(Path(chosen).parent if chosen else Path.home())

    def _begin(self, sessions: tuple[str, ...]) -> None:
        if sessions and not self._working:
            self.wanted.emit(
                SpeechWanted(
                    sessions,
                    self.model.currentData(),
                    self.language.text().strip(),
                    self.words.text().strip(),
                )
            )
