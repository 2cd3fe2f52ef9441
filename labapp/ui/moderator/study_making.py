"""What the Study page offers to whoever writes studies: a new one, a copy, a check of its files;
every mistake stands in place, with file and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QGridLayout, QLineEdit

from labapp.errors import Fault
from labapp.ui import theme
from labapp.ui.language import tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.choices import StudyChoice
from labapp.ui.moderator.combo import Combo
from labapp.ui.widgets.buttons import Button


@dataclass(frozen=True)
class NewStudy:
    """What a new study is made of. language: empty for that of the source."""

    name: str
    source: str
    language: str
    folder: Path


class StudyMaking(QFrame):
    """A card.

    Signals
    -------
    check_requested()
        Look for every mistake in the chosen study.
    folder_requested()
        Open the folder in which it lies.
    new_requested(NewStudy)
        Write a study.
    opened(QWidget)
        This part of the card appeared, and is to be seen.
    """

    check_requested = Signal()
    folder_requested = Signal()
    new_requested = Signal(object)
    opened = Signal(object)

    def __init__(self, palette: theme.Palette) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.new = Button(tr("New study…"))
        self.copy = Button(tr("Duplicate…"))
        self.check = Button(tr("Check"))
        self.folder = Button(tr("Open folder"))
        self.check_result = bits.label(wrap=True)
        self.check_result.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.check_result.hide()
        self._chosen = ""
        self._titles: dict[str, str] = {}
        column = bits.column(self, theme.SPACE_S, theme.SPACE_L)
        row = bits.row(None, theme.SPACE_S)
        for button in (self.new, self.copy, self.check, self.folder):
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self._form(palette))
        column.addWidget(self.check_result)
        self.new.clicked.connect(lambda: self._open("quickstart"))
        self.copy.clicked.connect(lambda: self._open(self._chosen))
        self.check.clicked.connect(self.check_requested)
        self.folder.clicked.connect(self.folder_requested)
        self.set_chosen("")

    def _form(self, palette: theme.Palette) -> QFrame:
        self.form = QFrame()
        grid = QGridLayout(self.form)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        self.name, self.language, self.where = QLineEdit(), QLineEdit(), QLineEdit()
        self.language.setPlaceholderText(tr("Such as fr; empty: that of the study it is made of"))
        self.source = Combo(palette, tr("Made of"))
        for place, (text, field) in enumerate(
            (
                (tr("Name of the study"), self.name),
                (tr("Made of"), self.source),
                (tr("Language"), self.language),
                (tr("Folder"), self.where),
            )
        ):
            field.setAccessibleName(text)
            if isinstance(field, QLineEdit):
                bits.limit(field)
            label = bits.label(text)
            label.setBuddy(field)
            grid.addWidget(label, place, 0)
            grid.addWidget(field, place, 1)
        self.browse = Button(tr("Choose…"))
        self.browse.clicked.connect(self._browse)
        grid.addWidget(self.browse, 3, 2)
        row = bits.row(None, theme.SPACE_S)
        self.make, self.cancel = Button(tr("Write the study")), Button(tr("Cancel"))
        self.make.clicked.connect(self._make)
        self.cancel.clicked.connect(self.form.hide)
        row.addWidget(self.make)
        row.addWidget(self.cancel)
        row.addStretch(1)
        grid.addLayout(row, 4, 1)
        self.form.hide()
        return self.form

    def set_sources(self, studies: Sequence[StudyChoice]) -> None:
        """The studies that one can be made of."""
        self._titles = {choice.study: choice.title for choice in studies}

    def set_chosen(self, study: str) -> None:
        """The study that is chosen, by id or path; empty for none."""
        self._chosen = study
        for button in (self.copy, self.check, self.folder):
            button.setEnabled(bool(study))
        self.set_checking(False)
        self.show_faults(())
        self.form.hide()

    def set_checking(self, checking: bool) -> None:
        """Whether a check is under way: there is one at a time."""
        self.check.setEnabled(bool(self._chosen) and not checking)
        self.check.setText(tr("Checking …") if checking else tr("Check"))
        if checking:
            self.show_faults(())

    def show_faults(self, faults: Sequence[Fault], fine: str = "") -> None:
        """Every mistake, or what to say where there is none; nothing for neither."""
        lines = [f"{fault}.\n    {fault.todo}" if fault.todo else f"{fault}." for fault in faults]
        bits.set_text(self.check_result, "\n".join(lines) or fine)
        bits.set_property(self.check_result, "tone", "alarm" if faults else "")
        self.check_result.setVisible(bool(lines or fine))
        if faults:
            self.opened.emit(self.check_result)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.form.isVisible():
            self.form.hide()
            self.new.setFocus()
        else:
            super().keyPressEvent(event)

    def _open(self, source: str) -> None:
        titles = {source: Path(source).stem} | self._titles
        self.source.set_choices([(title, study) for study, title in titles.items()], source)
        self.name.clear()
        self.where.setText(str(Path.home()))
        self.form.show()
        self.name.setFocus()
        self.opened.emit(self.form)

    def _browse(self) -> None:
        if chosen := QFileDialog.getExistingDirectory(self, tr("Folder"), self.where.text()):
            self.where.setText(chosen)

    def _make(self) -> None:
        name = self.name.text().strip()
        folder = Path(self.where.text().strip()) / name
        self.new_requested.emit(
            NewStudy(name, str(self.source.currentData()), self.language.text().strip(), folder)
        )
