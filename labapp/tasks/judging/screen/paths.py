"""The screens of the tasks that show the path of a decision tree: the photo and what is asked in
the end on the left, the steps on the right."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from labapp.tasks.judging.plan import (
    ABSENT,
    AFTER_ABSENT,
    AFTER_PRESENT,
    AGREEMENT,
    DISTINCTION_CONFIDENCE,
    FIRST,
    FIRST_STEP,
    JudgingPart,
    PlannedPhoto,
    PlannedRow,
    Question,
    applies,
    questions,
)
from labapp.tasks.judging.screen.photos import AGREEMENTS, CONFIDENCES
from labapp.tasks.judging.screen.pictures import row_of
from labapp.tasks.judging.screen.prototypes import RatedScreen
from labapp.tasks.judging.state import PhotoTrial
from labapp.ui import theme
from labapp.ui.images import Images
from labapp.ui.participant.view import SessionView
from labapp.ui.strings import Strings
from labapp.ui.widgets.label import PlainLabel
from labapp.ui.widgets.painting import metrics, restyle
from labapp.ui.widgets.path_view import PathList
from labapp.ui.widgets.photo_view import PhotoView
from labapp.ui.widgets.row_view import Columns, Row
from labapp.ui.widgets.segments import MISSING_WIDTH, QuestionRow

OPEN = (FIRST, AFTER_ABSENT, AFTER_PRESENT)
MISSING = {
    FIRST: "judging_missing_q1",
    AFTER_ABSENT: "judging_missing_q2_absent",
    AFTER_PRESENT: "judging_missing_q2_present",
    DISTINCTION_CONFIDENCE: "judging_missing_q3",
    FIRST_STEP: "judging_missing_first_step",
    AGREEMENT: "judging_missing_agreement",
}
DIGITS = 2
"""Of a similarity between 0 and 1."""
WAYS = 4
EDGE = 1
"""Of a card, in logical pixels."""


def path_columns(words: Strings, *, rating: bool = False, similarity: bool = False) -> Columns:
    """The columns of a path. rating: each step is rated; similarity: the model's is told."""
    decision = words("judging_decision")
    return Columns(
        photo=words("judging_photo"),
        region=words("judging_region"),
        joint=words("judging_compared_to"),
        prototype=words("judging_prototype"),
        prototype_photo=words("judging_prototype_photo"),
        row=words("judging_step", number="{number}"),
        step=words("judging_step_column"),
        decision=f"{decision} · {words('judging_similarity')}" if similarity else decision,
        rating=words("judging_similarity") if rating else "",
        ratings=("1", "2", "3", "4") if rating else (),
    )


def decision_words(words: Strings, row: PlannedRow, *, similarity: bool = False) -> str:
    """What the model decided at a step, and by which similarity."""
    text = words("judging_present" if row.present else "judging_absent")
    if not similarity or row.similarity is None:
        return text
    number = words.number(f"{row.similarity:.{DIGITS}f}")
    return f"{text}\n{number}"


def path_rows(
    words: Strings, images: Images, photo: PlannedPhoto, *, similarity: bool = False
) -> list[Row]:
    """The steps of a photo's path."""
    return [
        row_of(
            images,
            photo,
            row,
            step=words("judging_step", number=number),
            decision=decision_words(words, row, similarity=similarity),
        )
        for number, row in enumerate(photo.rows, start=1)
    ]


class PathScreen(RatedScreen):
    """A path beside its photo. task: what is to be done with its steps; empty for nothing."""

    rows: PathList
    tells_similarity = False
    _turn: Sequence[QWidget] = ()

    def turn(self) -> Sequence[QWidget]:
        """The path is looked at before anything is answered."""
        return self._turn

    def show_rows(self, photo: PlannedPhoto) -> None:
        words = self.session.words
        self.rows.show_rows(path_rows(words, self.images, photo, similarity=self.tells_similarity))

    def numbers(self) -> tuple[int, ...]:
        return tuple(range(1, len(self.photo.rows) + 1))

    def near(self) -> Sequence[PhotoView]:
        return self.rows.near()

    def tell_keys(self, last: int) -> None:
        """Say which keys answer; last: the digit of the last option."""
        words = self.session.words
        two = last == 2  # "1 to 2" would be odd
        text = words("judging_keys_two") if two else words("judging_keys_choose", last=last)
        self.keys.setText(text)
        self.keys.show()

    def missing_key(self, question: Question) -> str:
        return MISSING[question.id]


class BelievedScreen(PathScreen):
    """Besides the path it is asked whether one believes the prediction."""

    def ask_agreement(self) -> None:
        words = self.session.words
        row = QuestionRow(
            words("judging_q_agreement"),
            [words(key) for key in AGREEMENTS],
            self.session.palette,
            strong=True,
            upright=True,
        )
        # The first of four options is the answer 4.
        row.answered.connect(lambda place, device: self.judge(AGREEMENT, 5 - place, device))
        self.asked[AGREEMENT] = row

    def show_photo(self, photo: PlannedPhoto) -> None:
        name = self.part.explained.names[photo.prediction]
        self.above.setText(self.session.words("judging_predicts", name=name))
        super().show_photo(photo)

    def show_answers(self, trial: PhotoTrial, missing: Sequence[Question]) -> None:
        super().show_answers(trial, missing)
        value = trial.answers.get(AGREEMENT)
        self.asked[AGREEMENT].show_answer(None if value is None else 5 - value)


class PathAgreementScreen(BelievedScreen):
    """Every step is rated."""

    def __init__(self, session: SessionView, part: JudgingPart) -> None:
        super().__init__(session, part, session.words("judging_q_rows"))
        self.ask_agreement()
        self.lay_out(())

    def make_rows(self) -> PathList:
        columns = path_columns(self.session.words, rating=True)
        return PathList(columns, self.session.palette, self.enlarger)


class FirstStepScreen(BelievedScreen):
    """Which step is the first that one disagrees with."""

    tells_similarity = True

    def __init__(self, session: SessionView, part: JudgingPart) -> None:
        super().__init__(session, part, "")
        self.first = QuestionRow(
            session.words("judging_q_first_step"), ("1",), session.palette, strong=True, lines=2
        )
        self.ask(FIRST_STEP, self.first)
        self.ask_agreement()
        self.lay_out(())
        self._turn = [self.rows.area, *(row.choice for row in self.asked.values())]

    def make_rows(self) -> PathList:
        columns = path_columns(self.session.words, similarity=True)
        return PathList(columns, self.session.palette, self.enlarger)

    def show_photo(self, photo: PlannedPhoto) -> None:
        steps = [f"{number}" for number in self.numbers()]
        self.first.choice.show_texts([*steps, self.session.words("judging_agree_with_all")])
        self.tell_keys(len(steps))
        super().show_photo(photo)

    def show_answers(self, trial: PhotoTrial, missing: Sequence[Question]) -> None:
        super().show_answers(trial, missing)
        self.rows.mark_step(trial.answers.get(FIRST_STEP))

    def entrance(self) -> QWidget:
        """The path first: it is to be looked at before anything is answered."""
        return self.rows.area


class PathDistinctionScreen(PathScreen):
    """The first steps, then two that the participant decides: which species they lead to is the
    answer."""

    def __init__(self, session: SessionView, part: JudgingPart) -> None:
        super().__init__(session, part, "")
        words = session.words
        self._first: int | None = None
        self.steps = dict(zip(OPEN, self.rows.open, strict=True))
        for name, step in self.steps.items():
            step.answered.connect(lambda place, device, name=name: self.judge(name, place, device))
        confidence = QuestionRow(
            words("judging_q3_confidence"),
            [words(key) for key in CONFIDENCES],
            session.palette,
            strong=True,
            lines=2,
            px=theme.SECONDARY_PX,
        )
        self.ask(DISTINCTION_CONFIDENCE, confidence)
        self.key_of_species = SpeciesKey(words("judging_predicted"))
        self.above.hide()
        self.lay_out((), (self.key_of_species, confidence))
        self.tell_keys(2)
        steps = [step.choice for step in self.steps.values()]
        self._turn = [self.rows.area, *steps, confidence.choice]

    def make_rows(self) -> PathList:
        words = self.session.words
        return PathList(
            path_columns(words),
            self.session.palette,
            self.enlarger,
            headings=(words("judging_first_steps"), words("judging_final_steps")),
            open_steps=(
                (words("judging_q1"),),
                (words("judging_if_absent"), words("judging_q2_absent")),
                (words("judging_if_present"), words("judging_q2_present")),
            ),
            options=(words("judging_absent"), words("judging_present")),
        )

    def entrance(self) -> QWidget:
        """The path first: it is to be looked at before anything is answered."""
        return self.rows.area

    @property
    def asked_width(self) -> int:
        return max(super().asked_width, self.key_of_species.needed_width)

    def show_photo(self, photo: PlannedPhoto) -> None:
        final = photo.final
        assert final is not None, "a plan of this task has the final steps"
        words = self.session.words
        at = len(photo.rows) + 1
        open_steps = ((final.first, at), (final.absent, at + 1), (final.present, at + 1))
        self.rows.show_open(
            [
                row_of(self.images, photo, row, step=words("judging_step", number=number))
                for row, number in open_steps
            ]
        )
        labels = (words("judging_absent"), words("judging_present"))
        ways = [(first, second) for first in labels for second in labels]
        # By their place, as published, and not by their numbers in the set: whoever remembers those
        # would choose without looking.
        self.key_of_species.show_lines(
            [
                words(
                    "judging_leads_to",
                    first=first,
                    second=second,
                    species=words("judging_species", number=place),
                )
                for place, (first, second) in enumerate(ways, start=1)
            ]
        )
        super().show_photo(photo)

    def show_answers(self, trial: PhotoTrial, missing: Sequence[Question]) -> None:
        super().show_answers(trial, missing)
        lacking = {question.id for question in missing}
        first = trial.answers.get(FIRST)
        for question in questions(self.part.task, self.photo):
            if question.id in self.steps:
                on_way = applies(question, trial.answers)
                step = self.steps[question.id]
                step.show_answer(
                    trial.answers.get(question.id),
                    open_=on_way,
                    faint=first is not None and not on_way,
                )
                step.mark_missing(question.id in lacking)
        after = AFTER_ABSENT if first == ABSENT else AFTER_PRESENT
        if first != self._first:
            self._first = first
            if first is not None:  # what it leads to may stand below what is in sight
                self.rows.bring(self.steps[after])
        second = trial.answers.get(after)
        place = None if first is None or second is None else 2 * (first - 1) + second - 1
        self.key_of_species.show_place(place)

    def go_to(self, question: Question) -> None:
        step = self.steps.get(question.id)
        if step is None:
            super().go_to(question)
        else:
            step.choice.setFocus(Qt.FocusReason.OtherFocusReason)


class SpeciesKey(QWidget):
    """Which species the two decisions lead to, a line a way; the way taken is strong."""

    def __init__(self, title: str) -> None:
        super().__init__()
        card = QFrame()
        card.setProperty("role", "card")
        row = QHBoxLayout(self)
        row.setContentsMargins(MISSING_WIDTH, 0, 0, 0)
        row.addWidget(card)
        head = PlainLabel(title)
        head.setProperty("role", "heading")
        column = QVBoxLayout(card)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(head)
        self.lines = [PlainLabel() for _ in range(WAYS)]
        for line in self.lines:
            column.addWidget(line)
        self._place: int | None = None

    @property
    def needed_width(self) -> int:
        """Logical pixels that the longest line needs when it is strong."""
        strong = metrics(bold=True)
        longest = max(strong.horizontalAdvance(line.text()) for line in self.lines)
        return MISSING_WIDTH + 2 * theme.SPACE_M + ceil(longest) + 2 * EDGE

    def show_lines(self, lines: Sequence[str]) -> None:
        """Say where each of the four ways leads."""
        for label, text in zip(self.lines, lines, strict=True):
            label.setText(text)

    def show_place(self, place: int | None) -> None:
        """Show which way was taken, from 0."""
        if place == self._place:
            return
        self._place = place
        for number, label in enumerate(self.lines):
            restyle(label, "role", "chosen" if number == place else "")
