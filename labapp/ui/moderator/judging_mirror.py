"""The mirror of a photo that is judged: what is on the screen, what is answered, and what is true.

What the model predicts and what is correct is for the moderator's eyes alone.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from labapp.session.runner import Runner
from labapp.tasks.judging import plan as judging
from labapp.tasks.judging.plan import JudgingPart, PlannedPhoto, Question
from labapp.tasks.judging.state import PhotoTrial
from labapp.ui import theme
from labapp.ui.images import Images
from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.rows_mirror import STEPS, RowsMirror, cells_of, marked
from labapp.ui.theme import Palette
from labapp.ui.widgets.photo_view import PhotoView

MOST_SIDE, LEAST_SIDE = 480, 96
FACTS_WIDTH = 230
ANY_WIDTH = 16_777_215
"""No limit (Qt's QWIDGETSIZE_MAX)."""
BESIDE_ROWS = (0.28, 190, 320)
"""How wide photo and facts are beside rows: share of the width, at least, at most."""
ACROSS = 2
ASKED = {
    judging.OUTPUT: N_("The model predicts"),
    judging.OUTPUT_CONFIDENCE: N_("Confident of that"),
    judging.DISTINCTION: N_("Correct is"),
    judging.DISTINCTION_CONFIDENCE: N_("Confident of that"),
    judging.AGREEMENT: N_("Prediction is correct"),
    judging.FIRST: N_("First final step"),
    judging.AFTER_ABSENT: N_("Second final step"),
    judging.AFTER_PRESENT: N_("Second final step"),
    judging.FIRST_STEP: N_("First step disagreed with"),
}
"""Questions as the moderator reads them."""
AGREED = {
    1: N_("no, fairly sure"),
    2: N_("no, somewhat sure"),
    3: N_("yes, somewhat sure"),
    4: N_("yes, fairly sure"),
}


class JudgingMirror(QWidget):
    """The photo, its heatmaps or rows where it has any, and the answers so far.

    Rows stand beside the photo, which has the facts below it then.
    """

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._images: Images | None = None
        self._shown: PlannedPhoto | None = None
        self.photo = PhotoView(palette, tr("Photo"))
        self.heatmaps: list[PhotoView] = []
        self.told = bits.label("", "", wrap=True)
        self.answers = bits.label("", "secondary", wrap=True)
        self._maps = QGridLayout()
        self._maps.setSpacing(theme.SPACE_S)
        self._facts = QWidget()
        facts = QVBoxLayout(self._facts)
        facts.setContentsMargins(0, 0, 0, 0)
        facts.setSpacing(theme.SPACE_M)
        facts.addWidget(self.told)
        facts.addWidget(self.answers)
        facts.addStretch(1)
        top = Qt.AlignmentFlag.AlignTop
        self._own = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._own.setSpacing(theme.SPACE_L)
        self._own.addWidget(self.photo, 0, top)
        self._own.addLayout(self._maps)
        self._own.setAlignment(self._maps, top)
        self._own.addWidget(self._facts, 1)
        self.head = bits.ElidedLabel("", "strong")
        self.rows = RowsMirror(palette)
        beside = QVBoxLayout()
        beside.setSpacing(theme.SPACE_S)
        beside.addWidget(self.head)
        beside.addWidget(self.rows, 1)
        self._all = QHBoxLayout(self)
        self._all.setContentsMargins(0, theme.SPACE_S, 0, 0)
        self._all.setSpacing(theme.SPACE_L)
        self._all.addLayout(self._own)
        self._all.addLayout(beside)

    def show_trial(self, part: JudgingPart, trial: PhotoTrial, runner: Runner) -> None:
        """Bring what changed up to date."""
        photo = part.photos[trial.number - 1]
        if photo is not self._shown:
            self._shown = photo
            self._show_photo(part, photo, runner)
        if photo.rows or photo.final is not None:
            self.head.set_full(head_of(part, photo, trial))
            self.rows.show_cells(cells_of(part, photo, trial), photo, self._images)
        bits.set_text(self.told, "\n".join(truth_of(part, photo)))
        bits.set_text(self.answers, "\n".join(answers_of(part, photo, trial)))

    def _show_photo(self, part: JudgingPart, photo: PlannedPhoto, runner: Runner) -> None:
        """Pictures come from the session's own folder; one without them is told in words."""
        if self._images is None and runner.gallery is not None:
            self._images = Images(runner.gallery)
        images = self._images
        self.photo.show_picture(None if images is None else images.image(photo.photo))
        while len(self.heatmaps) < len(photo.heatmaps):
            place = len(self.heatmaps)
            view = PhotoView(self._palette, tr("Heatmap {number}", number=place + 1))
            self._maps.addWidget(view, place // ACROSS, place % ACROSS)
            self.heatmaps.append(view)
        for place, view in enumerate(self.heatmaps):
            there = place < len(photo.heatmaps)
            view.setVisible(there)
            if there and images is not None:
                heat = photo.heatmaps[place]
                view.show_picture(images.heatmap(photo.photo, heat, part.explained))
        self._turn(with_rows=bool(photo.rows) or photo.final is not None)
        self.head.setVisible(part.task == "prototype-distinction")
        self._fit()

    def _turn(self, *, with_rows: bool) -> None:
        """Make room for rows beside the photo, or for the photo alone."""
        directions = QBoxLayout.Direction
        self._own.setDirection(directions.TopToBottom if with_rows else directions.LeftToRight)
        self.rows.setVisible(with_rows)
        self._all.setStretch(0, 0 if with_rows else 1)
        self._all.setStretch(1, 1 if with_rows else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Pictures as large as the facts beside them, or below them, allow."""
        if not self.rows.isHidden():
            share, least, most = BESIDE_ROWS
            wide = round(min(max(self.width() * share, least), most))
            self._facts.setFixedWidth(wide)
            self.photo.set_side(max(LEAST_SIDE, min(wide, self.height() / 2)))
            return
        self._facts.setMinimumWidth(0)
        self._facts.setMaximumWidth(ANY_WIDTH)
        shown = [view for view in self.heatmaps if not view.isHidden()]
        room = self.width() - FACTS_WIDTH - theme.SPACE_L
        side = min(self.height() - theme.SPACE_S, MOST_SIDE, room / 2 if shown else room)
        side = max(side, LEAST_SIDE)
        self.photo.set_side(side)
        for view in shown:
            view.set_side((side - theme.SPACE_S) / 2)


def named(part: JudgingPart, photo: PlannedPhoto, one: str) -> str:
    """A class by its place among the options, where it has one, and its name."""
    name = part.explained.names.get(one, one)
    return f"{photo.options.index(one) + 1} · {name}" if one in photo.options else name


def head_of(part: JudgingPart, photo: PlannedPhoto, trial: PhotoTrial) -> str:
    """Over the rows: whose they are, where a participant chooses whose to look at."""
    if part.task != "prototype-distinction":
        return ""
    return tr("Looking at: {name}", name=named(part, photo, photo.options[trial.option - 1]))


def truth_of(part: JudgingPart, photo: PlannedPhoto) -> list[str]:
    """What is correct and what the model predicts."""
    wrong = "" if photo.correct else tr(" (wrong)")
    lines = [
        tr("Correct: {name}", name=named(part, photo, photo.truth)),
        tr("Predicted: {name}", name=named(part, photo, photo.prediction)) + wrong,
    ]
    if part.task == "path-first-step" and photo.first_wrong is not None:
        lines.append(tr("First wrong step: {number}", number=photo.first_wrong))
    return lines


def answers_of(part: JudgingPart, photo: PlannedPhoto, trial: PhotoTrial) -> list[str]:
    """The answers so far, a line each; the ratings of rows as how many there are."""
    asked = judging.questions(part.task, photo)
    rows = [question for question in asked if question.row is not None]
    lines = []
    if rows:
        done = sum(question.id in trial.answers for question in rows)
        lines.append(tr("Rows rated: {done} of {all}", done=done, all=len(rows)))
    for question in asked:
        if question.row is None and judging.applies(question, trial.answers):
            said = _said(question, trial.answers.get(question.id), photo)
            lines.append(f"{tr(ASKED[question.id])}: {said}")
    return lines


def _said(question: Question, value: int | None, photo: PlannedPhoto) -> str:
    """An answer in words, with a mark where it can be right or wrong."""
    if value is None:
        return "–"
    match question.id:
        case judging.OUTPUT_CONFIDENCE | judging.DISTINCTION_CONFIDENCE:
            text = tr("{value} of {last}", value=value, last=question.last)
        case judging.AGREEMENT:
            text = tr(AGREED[value])
        case judging.FIRST | judging.AFTER_ABSENT | judging.AFTER_PRESENT:
            text = tr(STEPS[value])
        case judging.FIRST_STEP if value > len(photo.rows):
            text = tr("agrees with all")
        case _:
            text = str(value)
    return marked(text, value, question.right)
