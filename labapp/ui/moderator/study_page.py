"""The home's page on the chosen study: its parts, and what each dial of its models does.

Also a traversal sheet as a widget, with as many states as its width has room for, and what the page
offers to authors of studies: a new one, a copy, a check of its files; every mistake is shown in
place, with file and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QWidget,
)

from labapp.base.errors import Fault
from labapp.models.representations.card import ModelCard
from labapp.models.representations.sheets import (
    Cell,
    SheetSizes,
    TraversalSheet,
    brief,
    lay_out,
    limits,
)
from labapp.models.representations.space import Dimension, Discrete
from labapp.study.plugins.part import PlannedPart, with_trials
from labapp.study.plugins.part import stages_of as blocks_by_stage
from labapp.study.schema import Study
from labapp.ui import theme
from labapp.ui.language import N_, counted, number, tr, tr_known
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.bits import Combo
from labapp.ui.moderator.checklist import StudyChoice
from labapp.ui.moderator.wording import words_of
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button
from labapp.ui.widgets.painting import (
    Array,
    brush,
    color,
    draw_chart,
    font,
    levels,
    metrics,
    smooth,
    write_with,
)

SOUND = {
    "required": N_("study.sound_required"),
    "optional": N_("study.sound_optional"),
    "off": N_("state.no_sound"),
}
UNBLINDS = N_("study.blind_note")
BLIND = N_("study.blind_hidden")
MARKS = {"Low": N_("regime.low"), "Medium": N_("regime.medium"), "High": N_("regime.high")}
"""What a sheet writes above the columns, where it has words."""
SOURCES = {"prior": N_("study.source.prior"), "sample": N_("study.source.sample")}


def models_shown(parts: Sequence[PlannedPart]) -> list[str]:
    """The models of a plan in an order that tells nothing of it: stages' first, by name."""
    stages = with_trials(parts)
    compared = {model for part in stages if part.measures for model in part.models()}
    every = {model for part in stages for model in part.models()}
    return [*sorted(compared), *sorted(every - compared)]


def flow_of(parts: Sequence[PlannedPart]) -> str:
    """The parts of a plan in few words, the texts between them left out."""
    titles = [
        # Lines break between parts, not in one.
        wording.part_title(part.title).replace(" ", "\N{NO-BREAK SPACE}")
        for part in parts
        if not part.introduces
    ]
    return "  →  ".join(titles)


def facts_of(card: ModelCard) -> str:
    """What is known of a model, in one line."""
    error = card.held_out_error
    if error is None or error.as_published is None:
        return card.title
    ours = number(f"{error.as_published:.3g}")
    text = tr("study.error", error=ours)
    if error.published is not None:
        paper = number(f"{error.published:g}")
        text = tr("study.error_in_paper", error=ours, paper=paper)
    return f"{card.title}  ·  {text}"


def about(sheet: TraversalSheet, states: int) -> str:
    """The caption of a sheet's drawing that has room for this number of states."""
    text = counted(
        states,
        "study.rows_note",
        source=tr(SOURCES["prior" if sheet.sampling == "prior" else "sample"]),
    )
    if sheet.display != "series":
        return text
    low, high = (number(brief(value)) for value in sheet.chart)
    return f"{text} {tr('study.charts_range', low=low, high=high)}"


class SheetCard(bits.Card):
    """One model: its id, what is known of it, and its sheet once it is made."""

    def __init__(self, model: str, palette: Palette) -> None:
        super().__init__(model, theme.SPACE_XS)
        self._palette = palette
        self.sheet: TraversalView | None = None
        self.facts = bits.label(role="secondary", wrap=True)
        self.note = bits.label(tr("study.pictures_busy"), "secondary", wrap=True)
        bits.fill(self.body, self.facts, self.note)
        self.facts.hide()

    def show_sheet(self, sheet: TraversalSheet, facts: str) -> None:
        if self.sheet is not None and self.sheet.sheet is sheet:
            return
        shown = TraversalView(sheet, self._palette)
        if self.sheet is None:
            bits.fill(self.body, bits.Gap(theme.SPACE_M), shown)
        else:  # of another model of the same id
            self.body.replaceWidget(self.sheet, shown)
            self.sheet.deleteLater()
        self.sheet = shown
        bits.set_property(self.note, "tone", "")
        bits.set_text(self.facts, facts)
        self.facts.show()
        self.sheet.placed.connect(self._say_states)
        self._say_states()

    def show_problem(self, text: str) -> None:
        bits.set_text(self.note, text, "alarm")

    def _say_states(self) -> None:
        if self.sheet is not None:
            bits.set_text(self.note, about(self.sheet.sheet, self.sheet.layout_shown.states))


def stages_of(parts: Sequence[PlannedPart]) -> list[tuple[str, str]]:
    """What each stage is about, with its facts, for stages of which anything is known before a
    session; the blocks of one are one."""
    told = []
    for blocks in blocks_by_stage(parts).values():
        words = words_of(blocks[0])
        if facts := words.facts(blocks):
            told.append((words.subject(blocks[0]), facts))
    return told


class StudyPage(QScrollArea):
    """Told through its setters, as the home is. preview_requested(): show what the participant
    would see; while the session is blind, only when asked twice."""

    preview_requested = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._models: list[str] = []
        self._stages: list[tuple[str, str]] = []
        self._planned = self._previewing = False
        self.cards: dict[str, SheetCard] = {}
        self.stages: list[bits.Card] = []
        self.setProperty("role", "page")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("study.title"))
        about = bits.Card(spacing=theme.SPACE_S)
        self.title = bits.label(role="title", wrap=True)
        self.facts = bits.label(role="secondary", wrap=True)
        self.flow = bits.label(wrap=True)
        self.preview = Button(tr("study.preview"), pressed=self._ask_preview)
        self.preview.setEnabled(False)
        top = bits.fill(QHBoxLayout(), (self.title, 1), (self.preview, Qt.AlignmentFlag.AlignTop))
        bits.fill(about.body, top, self.facts, self.flow)
        self.unblinds = QWidget()
        question = QHBoxLayout(self.unblinds)
        question.setContentsMargins(0, 0, 0, 0)
        question.addWidget(bits.label(tr(UNBLINDS), wrap=True), 1)
        self.all_the_same = Button(tr("study.show_anyway"), pressed=self._preview)
        question.addWidget(self.all_the_same)
        about.body.addWidget(self.unblinds)
        self.unblinds.hide()
        self._is_blind = False
        self.blind = bits.Card()
        self.blind.body.addWidget(bits.label(tr(BLIND), "secondary", wrap=True))
        self.blind.hide()
        self.sheets = QWidget()
        self.stack = bits.column(self.sheets, theme.SPACE_L)
        inside = QWidget()
        column = bits.column(inside, theme.SPACE_L)
        self.making = StudyMaking(palette)
        # What appeared has its room once the page is laid out again.
        self.making.opened.connect(
            lambda part: QTimer.singleShot(0, part, lambda: self.ensureWidgetVisible(part))
        )
        bits.fill(column, about, self.making, self.blind, self.sheets, 1)
        self.setWidget(inside)

    def set_study(self, study: Study) -> None:
        bits.set_text(self.title, study.title)
        version = tr("study.version", study=study.id, version=study.version)
        facts = [version, tr(SOUND[study.recording.audio])]
        bits.set_text(self.facts, "  ·  ".join(facts))

    def set_no_study(self) -> None:
        """The chosen study cannot be used."""
        bits.set_text(self.title, "")
        bits.set_text(self.facts, "")

    def set_plan(self, parts: Sequence[PlannedPart], problem: str = "") -> None:
        """The plan of the chosen participant; its models get a card each. problem: why there is
        none."""
        self._planned = bool(parts)
        self.set_previewing(self._previewing)
        bits.set_text(self.flow, problem or flow_of(parts), "alarm" if problem else "")
        self._set_stages(stages_of(parts))
        models = models_shown(parts)
        if models == self._models:
            return
        self._models = models
        self._discard(self.cards.values())
        self.cards = {model: SheetCard(model, self._palette) for model in models}
        bits.fill(self.stack, *self.cards.values())
        self.verticalScrollBar().setValue(0)

    def _discard(self, cards: Iterable[QWidget]) -> None:
        for card in cards:
            self.stack.removeWidget(card)
            card.hide()
            card.deleteLater()

    def _set_stages(self, wanted: list[tuple[str, str]]) -> None:
        """A card, title and facts, for each stage about pictures of a stimulus set."""
        if wanted == self._stages:
            return
        self._stages = wanted
        self._discard(self.stages)
        self.stages = [bits.Card(title) for title, _ in wanted]
        for card, (_, facts) in zip(self.stages, wanted, strict=True):
            card.body.addWidget(bits.label(facts, "secondary", wrap=True))
        bits.fill(self.stack, *self.stages)

    def set_sheet(self, model: str, sheet: TraversalSheet, facts: str) -> None:
        """The sheet of a model; one that the study does not use is not shown."""
        if model in self.cards:
            self.cards[model].show_sheet(sheet, facts)

    def set_problem(self, model: str, text: str) -> None:
        """Why there is no sheet of a model."""
        if model in self.cards:
            self.cards[model].show_problem(text)

    def set_blind(self, blind: bool) -> None:
        """Blind: no pictures, for they would name what the console must not."""
        self._is_blind = blind
        self.unblinds.hide()
        self.sheets.setVisible(not blind)
        self.blind.setVisible(blind)

    def set_previewing(self, previewing: bool) -> None:
        """Whether a preview is open: there is one at a time."""
        self._previewing = previewing
        self.preview.setEnabled(self._planned and not previewing)
        self.preview.setText(tr("study.preview_started") if previewing else tr("study.preview"))

    def _ask_preview(self) -> None:
        if self._is_blind:
            self.unblinds.show()
            self.all_the_same.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self._preview()

    def _preview(self) -> None:
        self.unblinds.hide()
        self.preview_requested.emit()


LABEL, GAP, LINE = 84, 2, 18
LEAST_SIDE = 56
"""Pictures are magnified by a whole number to about so many logical pixels."""
CHART = (64, 52)


class TraversalView(QWidget):
    """Shows one sheet; its height follows from its width. placed: another width has other room."""

    placed = Signal()

    def __init__(self, sheet: TraversalSheet, palette: theme.Palette) -> None:
        super().__init__()
        self.sheet = sheet
        self._colors = palette
        self._measures = _measures(sheet)
        self.layout_shown = lay_out(sheet, self._measures)  # in the widget's pixels
        self._images: dict[int, QImage] = {}
        self.setMinimumWidth(round(lay_out(sheet, self._measures, room=0).width))
        self.setAccessibleName(tr("study.dials_note", model=sheet.model))
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def _place(self) -> None:
        self.layout_shown = lay_out(self.sheet, self._measures, room=self.width())
        self._images.clear()
        self.setFixedHeight(round(self.layout_shown.height) + 1)
        self.update()
        self.placed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        dirty = QRectF(event.rect())
        p, m = self._colors, self._measures
        top, middle = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignHCenter
        small = font(theme.SECONDARY_PX)
        painter.setFont(small)
        painter.setPen(color(p.secondary))
        for mark in self.layout_shown.marks:
            box = QRectF(mark.x - m.cell_width, mark.y, 2 * m.cell_width, m.marks)
            painter.drawText(box, top | middle, tr_known(mark.text, MARKS))
        for y, row in self.layout_shown.labels:
            box = QRectF(0, y + (m.cell_height - 2 * LINE) / 2, LABEL - theme.SPACE_S, LINE)
            write_with(painter, color(p.ink), theme.SECONDARY_PX, bold=True)
            painter.drawText(box, top, _elide(row.dimension.name, box.width(), bold=True))
            painter.setFont(small)
            painter.setPen(color(p.secondary))
            box.translate(0, LINE)
            painter.drawText(box, top, _elide(_limits(row.dimension), box.width()))
        draw = self._draw_chart if self.sheet.display == "series" else self._draw_picture
        for index, cell in enumerate(self.layout_shown.cells):
            box = QRectF(cell.x, cell.y, m.cell_width, m.cell_height)
            if box.intersects(dirty):
                draw(painter, box, index, cell)

    def _draw_picture(self, painter: QPainter, box: QRectF, number: int, cell: Cell) -> None:
        image = self._images.get(number)
        if image is None:
            image = self._images[number] = _image(cell.instance)
        times = box.width() * self.devicePixelRatioF() / image.width()
        # A whole number of device pixels a pixel stays crisp; between them, it would be uneven.
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, times != round(times))
        painter.fillRect(box.adjusted(-1, -1, 1, 1), brush(self._colors.hairline))
        painter.drawImage(box, image)

    def _draw_chart(self, painter: QPainter, box: QRectF, number: int, cell: Cell) -> None:
        draw_chart(painter, box, cell.instance, self.sheet.chart, self._colors.hairline)


def _limits(dimension: Dimension) -> str:
    if isinstance(dimension, Discrete):
        return counted(dimension.k, "study.values")
    return number(limits(dimension))


def _measures(sheet: TraversalSheet) -> SheetSizes:
    if sheet.display == "series":
        width, height = CHART
    else:
        rows, columns = sheet.rows[0].instances.shape[2:4]
        times = max(1, -(-LEAST_SIDE // columns))
        width, height = columns * times, rows * times
    between = {"gap": GAP, "group": theme.SPACE_L, "row": theme.SPACE_S}
    return SheetSizes(label=LABEL, cell_width=width, cell_height=height, marks=22, **between)


def _image(picture: Array) -> QImage:
    values = np.ascontiguousarray(levels(picture))
    rows, columns = values.shape[:2]
    how = QImage.Format.Format_Grayscale8 if values.ndim == 2 else QImage.Format.Format_RGB888
    return QImage(values.data, columns, rows, values.strides[0], how).copy()


def _elide(text: str, room: float, *, bold: bool = False) -> str:
    known = metrics(theme.SECONDARY_PX, bold)
    return known.elidedText(text, Qt.TextElideMode.ElideRight, room)


@dataclass(frozen=True)
class NewStudy:
    """What a new study is made of. language: empty for that of the source."""

    name: str
    source: str
    language: str
    folder: Path


class StudyMaking(bits.Card):
    """Signals
    -------
    check_requested() : look for every mistake in the chosen study.
    folder_requested() : open the folder in which it lies.
    new_requested(NewStudy) : write a study.
    opened(QWidget) : this part of the card appeared, and is to be seen.
    """

    check_requested = Signal()
    folder_requested = Signal()
    new_requested = Signal(object)
    opened = Signal(object)

    def __init__(self, palette: theme.Palette) -> None:
        super().__init__(spacing=theme.SPACE_S, margins=theme.SPACE_L)
        self.new = Button(tr("study.new"), pressed=lambda: self._open("quickstart"))
        self.copy = Button(tr("study.duplicate"), pressed=lambda: self._open(self._chosen))
        self.check = Button(tr("study.check"), pressed=self.check_requested)
        self.folder = Button(tr("button.open_folder"), pressed=self.folder_requested)
        self.check_result = bits.label(wrap=True)
        self.check_result.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.check_result.hide()
        self._chosen = ""
        self._titles: dict[str, str] = {}
        row = bits.row(None, theme.SPACE_S)
        bits.fill(row, self.new, self.copy, self.check, self.folder, 1)
        bits.fill(self.body, row, self._form(palette), self.check_result)
        self.set_chosen("")

    def _form(self, palette: theme.Palette) -> QFrame:
        self.form = QFrame()
        grid = QGridLayout(self.form)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(1, 1)
        self.name, self.language, self.where = QLineEdit(), QLineEdit(), QLineEdit()
        self.language.setPlaceholderText(tr("study.language_hint"))
        self.source = Combo(palette, tr("study.made_of"))
        fields = (
            (tr("study.name"), self.name),
            (tr("study.made_of"), self.source),
            (tr("study.language"), self.language),
            (tr("study.folder"), self.where),
        )
        for place, (text, field) in enumerate(fields):
            field.setAccessibleName(text)
            if isinstance(field, QLineEdit):
                bits.limit(field)
            label = bits.label(text)
            label.setBuddy(field)
            grid.addWidget(label, place, 0)
            grid.addWidget(field, place, 1)
        self.browse = Button(tr("button.choose"), pressed=self._browse)
        grid.addWidget(self.browse, 3, 2)
        row = bits.row(None, theme.SPACE_S)
        self.make, self.cancel = Button(tr("study.write")), Button(tr("button.cancel"))
        self.make.clicked.connect(self._make)
        self.cancel.clicked.connect(self.form.hide)
        bits.fill(row, self.make, self.cancel, 1)
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
        self.check.setText(tr("state.checking") if checking else tr("study.check"))
        if checking:
            self.show_faults(())

    def show_faults(self, faults: Sequence[Fault], fine: str = "") -> None:
        """Every mistake, or what to say where there is none; nothing for neither."""
        lines = [f"{fault}.\n    {fault.todo}" if fault.todo else f"{fault}." for fault in faults]
        bits.set_text(self.check_result, "\n".join(lines) or fine, "alarm" if faults else "")
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
        if chosen := QFileDialog.getExistingDirectory(self, tr("study.folder"), self.where.text()):
            self.where.setText(chosen)

    def _make(self) -> None:
        name, language = self.name.text().strip(), self.language.text().strip()
        folder = Path(self.where.text().strip()) / name
        study = NewStudy(name, str(self.source.currentData()), language, folder)
        self.new_requested.emit(study)
