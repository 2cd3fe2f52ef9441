"""The screens of prototype-agreement and prototype-distinction: the photo and the main question on
the left, rows of region and prototype on the right."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from labapp.tasks.judging.commands import OpenSpecies
from labapp.tasks.judging.plan import (
    AGREEMENT,
    DISTINCTION,
    DISTINCTION_CONFIDENCE,
    SIMILARITY,
    JudgingPart,
    PlannedPhoto,
    Question,
    Rows,
)
from labapp.tasks.judging.screen.photos import (
    AGREEMENTS,
    CONFIDENCES,
    WIDEST,
    JudgingScreen,
    columns,
    similarity_key,
)
from labapp.tasks.judging.screen.pictures import row_of
from labapp.tasks.judging.state import PhotoTrial
from labapp.ui import theme
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.cards import ClassTabs
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.photo_view import PhotoView
from labapp.ui.widgets.row_view import RowList
from labapp.ui.widgets.segments import MISSING_WIDTH, QuestionRow

LEFT_LEAST = 440
LEFT_SHARE = 0.33
LARGEST_PHOTO, LEAST_PHOTO = 620.0, 96.0


class RatedScreen(JudgingScreen):
    """Rows that are rated, on the right; on the left the photo, which gives way to what the pointer
    is over, larger, as the photo stands in every row; below it what is asked in the end.

    task: what is to be done with the rows; empty where they are only looked at.
    """

    def __init__(self, session: SessionView, part: JudgingPart, task: str) -> None:
        super().__init__(session, part)
        self.rows = self.make_rows()
        self.rows.rated.connect(self._rate)
        self.above = PlainLabel()
        self.above.setProperty("role", "strong")
        self.above.setIndent(MISSING_WIDTH)
        self.task = PlainLabel(task)
        self.key = PlainLabel(similarity_key(session))
        self.keys = PlainLabel(session.words("judging_keys_rate"))
        for label in (self.key, self.keys):
            label.setProperty("role", "secondary")
        for label in (self.above, self.task, self.key, self.keys):
            label.setWordWrap(True)
        if not task:  # shown before it is in its window, a label would be a window of its own
            for label in (self.task, self.key, self.keys):
                label.hide()

    def make_rows(self) -> RowList:
        """The list of rows."""
        return RowList(columns(self.session), self.session.palette, self.enlarger)

    def lay_out(self, over_rows: Sequence[QWidget], below: Sequence[QWidget] = ()) -> None:
        """Put everything in its place, once the questions are made. below: under the photo, where
        it is more than the questions."""
        self._below = tuple(below) or tuple(self.asked.values())
        self._over_rows = tuple(over_rows)
        self._left = QWidget()
        left = QVBoxLayout(self._left)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(theme.SPACE_S)
        left.addWidget(self.above)
        place = QHBoxLayout()
        place.addSpacing(MISSING_WIDTH)
        place.addWidget(self.enlarger)
        place.addStretch(1)
        left.addLayout(place)
        for widget in self._below:
            left.addWidget(widget)
        left.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(theme.SPACE_S)
        for widget in (*over_rows, self.task, self.key):
            right.addWidget(widget)
        right.addWidget(self.rows, 1)
        right.addWidget(self.keys)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XL)
        row.addWidget(self._left)
        row.addLayout(right, 1)
        self.column(WIDEST).addLayout(row)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()  # a question knows how high it is once it is laid out
        return handled

    def _fit(self) -> None:
        """The photo as large as the questions below it leave room for."""
        wide = min(self.width() - 2 * theme.SPACE_XL, WIDEST)
        left = max(LEFT_LEAST, self.asked_width, floor(wide * LEFT_SHARE))
        self._left.setFixedWidth(left)
        others = sum(
            row.heightForWidth(left) if row.hasHeightForWidth() else row.sizeHint().height()
            for row in self._below
        )
        others += (len(self._below) + 1) * theme.SPACE_S + self.enlarger.overhead
        if not self.above.isHidden():
            others += self.above.heightForWidth(left) + theme.SPACE_S
        layout = self.layout()
        assert layout is not None, "it is laid out"
        edge = layout.contentsMargins()  # none in a preview
        high = self.height() - edge.top() - edge.bottom() - others
        self.enlarger.set_side(max(LEAST_PHOTO, min(left - MISSING_WIDTH, high, LARGEST_PHOTO)))

    def numbers(self) -> tuple[int, ...]:
        """The numbers, in the plan, of the rows that are shown."""
        raise NotImplementedError

    def show_photo(self, photo: PlannedPhoto) -> None:
        image = self.images.image(photo.photo)
        self.enlarger.rest(image, None, self.session.words("judging_photo"))
        self.show_rows(photo)
        self._fit()

    def show_rows(self, photo: PlannedPhoto) -> None:
        """Show the rows that are looked at."""
        planned = [photo.rows[number - 1] for number in self.numbers()]
        self.rows.show_rows([row_of(self.images, photo, row) for row in planned])

    def turn(self) -> Sequence[QWidget]:
        """Rows are judged before what is asked in the end."""
        ratings = [row.rating for row in self.rows.rows if row.rating is not None]
        asked = [row.choice for row in self.asked.values()]
        return [*self._over_rows, *ratings, *asked] if ratings else ()

    def show_answers(self, trial: PhotoTrial, missing: Sequence[Question]) -> None:
        super().show_answers(trial, missing)
        lacking = {question.row for question in missing}
        for number, view in zip(self.numbers(), self.rows.shown, strict=True):
            view.show_rating(trial.answers.get(SIMILARITY.format(number)))
            view.mark_missing(number in lacking)

    def _rate(self, place: int, value: int, device: str) -> None:
        """A row is rated; by keyboard the next one has the turn."""
        numbers = self.numbers()
        self.judge(SIMILARITY.format(numbers[place - 1]), value, device)
        if device == "keyboard" and self.session.part is self.planned:
            self.after_row(place)

    def after_row(self, place: int) -> None:
        """Where the keyboard goes from a row that was just rated."""
        if not self.rows.focus_on(place + 1):
            self.go_to_first_asked()

    def go_to_first_asked(self) -> None:
        next(iter(self.asked.values())).entrance().setFocus(Qt.FocusReason.OtherFocusReason)

    def go_to(self, question: Question) -> None:
        if question.row is None:
            super().go_to(question)
        elif question.row in self.numbers():
            self.rows.focus_on(self.numbers().index(question.row) + 1)

    def near(self) -> Sequence[PhotoView]:
        """The pictures of the row that has the keyboard, or of the first one."""
        row = self.rows.row_with_focus() or next(iter(self.rows.shown), None)
        return row.views if row is not None else ()

    def entrance(self) -> QWidget | None:
        return self.rows.shown[0].rating if self.rows.shown else super().entrance()

    def missing_words(self, missing: Sequence[Question]) -> list[str]:
        words = self.session.words
        count = sum(question.row is not None for question in missing)
        texts = [words("judging_missing_rows", count=count)] if count else []
        return texts + [words(self.missing_key(key)) for key in missing if key.row is None]

    def missing_key(self, question: Question) -> str:
        """The key of the words for a question that is missing and about no row."""
        return MISSING[question.id]


MISSING = {
    AGREEMENT: "judging_missing_agreement",
    DISTINCTION: "judging_missing_species",
    DISTINCTION_CONFIDENCE: "judging_missing_confidence",
}


ORDERS: dict[Rows, str] = {"sorted": "judging_sorted", "shuffled": "judging_shuffled"}
"""What is said of the order of the rows."""


class PrototypeAgreementScreen(RatedScreen):
    """What the model predicts, why, and whether one believes it."""

    def __init__(self, session: SessionView, part: JudgingPart) -> None:
        super().__init__(session, part, session.words("judging_q_rows"))
        words = session.words
        row = QuestionRow(
            words("judging_q_agreement"),
            [words(key) for key in AGREEMENTS],
            session.palette,
            strong=True,
            upright=True,
        )
        # The first of four options is the answer 4.
        row.answered.connect(lambda place, device: self.judge(AGREEMENT, 5 - place, device))
        self.asked[AGREEMENT] = row
        self.note = PlainLabel()
        self.note.setProperty("role", "secondary")
        self.note.setWordWrap(True)
        self.lay_out((self.note,))

    def numbers(self) -> tuple[int, ...]:
        return tuple(range(1, len(self.photo.rows) + 1))

    def show_photo(self, photo: PlannedPhoto) -> None:
        species = self.part.explained.names[photo.prediction]
        words = self.session.words
        self.above.setText(words("judging_predicts", name=species))
        order = words(ORDERS[self.part.rows])
        self.note.setText(f"{words('judging_all_from', name=species)} {order}")
        super().show_photo(photo)

    def show_answers(self, trial: PhotoTrial, missing: Sequence[Question]) -> None:
        super().show_answers(trial, missing)
        value = trial.answers.get(AGREEMENT)
        self.asked[AGREEMENT].show_answer(None if value is None else 5 - value)


class PrototypeDistinctionScreen(RatedScreen):
    """The rows of four species, one species at a time, and which one is the right one."""

    def __init__(self, session: SessionView, part: JudgingPart) -> None:
        super().__init__(session, part, session.words("judging_q_pairs"))
        words, palette = session.words, session.palette
        of = max(len(photo.options) for photo in part.photos)
        # Species or classes, as the set says.
        birds = part.explained.classes_are == "species"
        self.names = [
            words("judging_species", number=n) if birds else words("judging_class", number=n)
            for n in range(1, of + 1)
        ]
        self._question = "judging_q_species" if birds else "judging_q_class"
        self._option = 0
        self.tabs = ClassTabs(
            self.names,
            palette,
            words("judging_q_pairs"),
            lambda name, done, all_: words("judging_rated", name=name, done=done, of=all_),
        )
        self.tabs.opened.connect(lambda option: self.send(OpenSpecies(option)))
        self.ask(
            DISTINCTION,
            QuestionRow(
                words(self._question, next=words("judging_next_photo")),
                self.names,
                palette,
                strong=True,
            ),
        )
        self.ask(
            DISTINCTION_CONFIDENCE,
            QuestionRow(
                words("judging_q_confidence"),
                [words(key) for key in CONFIDENCES],
                palette,
                lines=2,
                px=theme.SECONDARY_PX,
            ),
        )
        self.above.hide()
        note = PlainLabel(words("judging_each_from" if birds else "judging_each_from_class"))
        note.setProperty("role", "secondary")
        self.lay_out((self.tabs, note))

    def numbers(self) -> tuple[int, ...]:
        return self.photo.rows_of(self._option) if self._option else ()

    def show_photo(self, photo: PlannedPhoto) -> None:
        trial = self.trial
        self._option = trial.option if trial is not None else 1
        asked = self.asked[DISTINCTION]
        asked.label.setText(self.session.words(self._question, next=self.onward))
        super().show_photo(photo)

    def show_answers(self, trial: PhotoTrial, missing: Sequence[Question]) -> None:
        photo = self.photo
        if trial.option != self._option:
            self._option = trial.option
            self.enlarger.leave()
            self.show_rows(photo)
        super().show_answers(trial, missing)
        lacking = {question.row for question in missing}
        counts, marked = [], []
        for option in range(1, len(photo.options) + 1):
            rows = photo.rows_of(option)
            done = sum(SIMILARITY.format(row) in trial.answers for row in rows)
            counts.append((done, len(rows)))
            marked.append(any(row in lacking for row in rows))
        self.tabs.show_state(trial.option, counts, marked)

    def after_row(self, place: int) -> None:
        """From the last row of a species to the next species that has rows left."""
        if self.rows.focus_on(place + 1):
            return
        left = [question for question in self.missing() if question.row is not None]
        if left:
            self.go_to(left[0])
        else:
            self.go_to_first_asked()

    def go_to(self, question: Question) -> None:
        if question.row is not None and question.row not in self.numbers():
            of = self.photo.rows[question.row - 1].of
            self.send(OpenSpecies(self.photo.options.index(of or "") + 1))
        super().go_to(question)

    def missing_key(self, question: Question) -> str:
        if question.id == DISTINCTION and self.part.explained.classes_are != "species":
            return "judging_missing_distinction"
        return super().missing_key(question)
