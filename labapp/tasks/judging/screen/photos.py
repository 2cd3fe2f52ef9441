"""What the screens of all tasks share that judge explanations: a photo after the other, its
questions, and what is missing before the next one.

The pictures of a photo as a plan explains it: its heatmaps, and the rows that compare its regions
with prototypes.

The screens of the tasks that show the path of a decision tree: the photo and what is asked in
the end on the left, the steps on the right.

The screens of prototype-agreement and prototype-distinction: the photo and the main question on the
left, rows of region and prototype on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QImage, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget
from shiboken6 import isValid

from labapp.record.events.commands import Next
from labapp.tasks.judging import plan
from labapp.tasks.judging.events import (
    METHOD,
    TREE,
    CloseDescription,
    Judge,
    OpenDescription,
    OpenSpecies,
)
from labapp.tasks.judging.machine import JudgingState, PhotoTrial, missing
from labapp.tasks.judging.plan import (
    ExplainedModel,
    JudgingPart,
    MethodPart,
    PhotoQuestion,
    PlannedPhoto,
    PlannedRow,
    questions,
)
from labapp.ui import theme
from labapp.ui.participant.screen import Opened, Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.choice import COMMANDS, Choice
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.painting import metrics, restyle
from labapp.ui.widgets.photo_view import Enlarger, Images, PhotoView
from labapp.ui.widgets.row_view import ClassTabs, Columns, PathList, RowContent, RowList
from labapp.ui.widgets.segments import MISSING_WIDTH, QuestionRow

if TYPE_CHECKING:
    from labapp.tasks.judging.screen.description import Description


CONFIDENCES = (
    "judging_confidence_1",
    "judging_confidence_2",
    "judging_confidence_3",
    "judging_confidence_4",
    "judging_confidence_5",
)
AGREEMENTS = (
    "judging_agreement_4",
    "judging_agreement_3",
    "judging_agreement_2",
    "judging_agreement_1",
)
"""From top to bottom (paper 003)."""
SIMILARITIES = (
    "judging_similarity_1",
    "judging_similarity_2",
    "judging_similarity_3",
    "judging_similarity_4",
)
WIDEST = 1760
"""Wider than other screens: pictures as large as there is room for."""


class DescribedScreen(Screen):
    """A screen over which the description of its method can be opened, or the whole tree."""

    _described: Description | None = None

    def opened(self) -> Opened | None:
        what = self.state.description
        if what and self._described is None:
            # It shows its examples as screens do, which are made of this module's.
            from labapp.tasks.judging.screen.description import Description

            assert isinstance(self.planned, JudgingPart | MethodPart)
            self._described = Description(self, self.planned)
        if what and self._described is not None:
            self._described.show_what(what)
        return self._described if what else None

    def open_tree(self) -> None:
        self.send(OpenDescription(TREE))

    def close_opened(self) -> None:
        self.send(CloseDescription(self.state.description))


class JudgingScreen(DescribedScreen):
    """A stage of photos: they come and go in it without anything being rebuilt.

    A task's screen says in `show_photo` what it shows of a photo, in `show_answers` what of the
    answers, and names its questions' widgets in `asked`, keyed by the questions' ids.
    """

    asked: dict[str, QuestionRow]

    def __init__(self, session: SessionView, part: JudgingPart) -> None:
        super().__init__(session, part)
        assert session.images is not None, "a session that judges pictures keeps them"
        self.images: Images = session.images
        self.part = part
        self.asked = {}
        self._stage = stage_words(session, part)
        self._shown: tuple[int, int] | None = None
        words = session.words
        self.enlarger = Enlarger(
            session.palette,
            words("judging_zoom_hint"),
            lambda name: words("judging_enlarged", name=name),
        )

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()  # a question knows how high it is once it is laid out
        return handled

    @property
    def trial(self) -> PhotoTrial | None:
        """The photo on the screen and its answers."""
        state = self.state
        return state.trial if isinstance(state, JudgingState) else None

    @property
    def photo(self) -> PlannedPhoto:
        trial = self.trial
        return self.part.photos[trial.number - 1 if trial is not None else 0]

    @property
    def last(self) -> bool:
        trial = self.trial
        return trial is not None and trial.number == self.part.trials

    @property
    def onward(self) -> str:
        """What the button says that leads on."""
        return self.session.words("continue" if self.last else "judging_next_photo")

    def missing(self) -> tuple[PhotoQuestion, ...]:
        trial = self.trial
        return () if trial is None else missing(questions(self.part.task, self.photo), trial)

    def show_photo(self, photo: PlannedPhoto) -> None:
        raise NotImplementedError

    def show_answers(self, trial: PhotoTrial, missing: Sequence[PhotoQuestion]) -> None:
        """Show the answers; missing: what is to be marked as missing."""
        for name, row in self.asked.items():
            answer = trial.answers.get(name)
            row.show_answer(None if answer is None else self.place_of(name, answer))
            row.mark_missing(any(question.id == name for question in missing))

    def place_of(self, question: str, answer: int) -> int:
        """The place of an answer among the options, from 1, and so the answer at a place."""
        return answer

    def missing_words(self, missing: Sequence[PhotoQuestion]) -> list[str]:
        raise NotImplementedError

    def go_to(self, question: PhotoQuestion) -> None:
        """Lead to a question that is missing."""
        self.asked[question.id].entrance().setFocus(Qt.FocusReason.OtherFocusReason)

    def judge(self, question: str, value: int, device: str) -> None:
        self.send(Judge(question, value, device))

    @property
    def asked_width(self) -> int:
        """Logical pixels that the widest question needs."""
        return max(row.needed_width for row in self.asked.values())

    def ask(self, name: str, row: QuestionRow) -> QuestionRow:
        """Let this widget ask a question."""
        row.answered.connect(
            lambda place, device: self.judge(name, self.place_of(name, place), device)
        )
        self.asked[name] = row
        return row

    def render_state(self) -> None:
        trial = self.trial
        if trial is None:
            return
        if (trial.number, trial.attempt) != self._shown:
            self._shown = (trial.number, trial.attempt)
            self.reminded = False
            self.enlarger.leave()
            self.show_photo(self.photo)
            self.wish = "content"
        self.show_answers(trial, self.missing() if self.reminded else ())

    def head(self) -> Head:
        trial, words = self.trial, self.session.words
        number = trial.number if trial is not None else 1
        stage = self._stage if self.part.of > 1 else ""
        if self.part.chooses:  # nobody knows how many there will be
            return Head(
                stage, words("judging_photo_number", number=number), help=self._help_words()
            )
        text = words("judging_photo_of", number=number, of=self.part.trials)
        return Head(stage, text, number, self.part.trials, self._help_words())

    def _help_words(self) -> str:
        """GradCAM explains a model from outside; of the others the model itself is described."""
        words, explained, state = self.session.words, self.part.explained, self.state
        if isinstance(state, JudgingState) and state.description == METHOD:
            return words("judging_close_description")
        outside = explained.kind == "heatmaps" and explained.scale != "signed"
        return words("judging_method_description" if outside else "judging_model_description")

    def foot(self) -> Foot:
        lacking, words = self.missing(), self.session.words
        note = ""
        if lacking:
            note = words("answer_missing", items=", ".join(self.missing_words(lacking)))
        return Foot(
            right=self.onward,
            enabled=self.trial is not None,
            ready=not lacking,
            note=note,
            warn=bool(lacking) and self.reminded,
        )

    def right(self) -> None:
        lacking = self.missing()
        if not lacking:
            self.send(Next())
            return
        self.reminded = True
        self.render_state()
        self.altered.emit()
        self.go_to(lacking[0])

    def help(self) -> None:
        """Open the description of the method, or close it."""
        state = self.state
        if isinstance(state, JudgingState):
            opened = state.description == METHOD
            self.send(CloseDescription(METHOD) if opened else OpenDescription(METHOD))

    def near(self) -> Sequence[PhotoView]:
        """The pictures that the key for enlarging goes through; empty for all that can be seen."""
        return ()

    key_places = (Choice,)

    def take_key(self, event: QKeyEvent) -> bool:
        """Z enlarges; digits answer the question that had the focus last, else the first one
        without an answer."""
        if event.modifiers() & COMMANDS:
            return False
        if event.key() == Qt.Key.Key_Z:
            if not event.modifiers() and not event.isAutoRepeat():
                self.enlarger.turn(self.near())
            return True
        if not event.text().isdecimal():
            return False
        place = self.key_place
        if not (isinstance(place, Choice) and isValid(place) and place.isVisible()):
            if not (lacking := self.missing()):
                return False
            self.go_to(lacking[0])
        return self.give_key(event, self.key_place)

    def entrance(self) -> QWidget | None:
        return next(iter(self.asked.values())).entrance()


def columns(session: SessionView, *, rating: bool = True) -> Columns:
    """The columns of rows that compare a region with a prototype."""
    words = session.words
    return Columns(
        photo=words("judging_photo"),
        region=words("judging_region"),
        joint=words("judging_looks_like"),
        prototype=words("judging_prototype"),
        prototype_photo=words("judging_prototype_photo"),
        row=words("judging_row", number="{number}"),
        rating=words("judging_similarity") if rating else "",
        ratings=("1", "2", "3", "4") if rating else (),
    )


def similarity_key(session: SessionView) -> str:
    """What the numbers of the ratings mean, in a line."""
    lines = [f"{n}\N{NO-BREAK SPACE}{session.words(key)}" for n, key in enumerate(SIMILARITIES, 1)]
    return " · ".join(text.replace(" ", "\N{NO-BREAK SPACE}") for text in lines)


def heatmap(images: Images, photo: str, heat: str, explained: ExplainedModel) -> QImage:
    """A heatmap over its photo, in the colours of the plan."""
    scale, colours = explained.scale or "ready", explained.colour_map
    if scale == "ready" or not colours:
        return images.image(heat)
    return images.overlay(photo, heat, scale, colours)


def row_of(
    images: Images, photo: PlannedPhoto, row: PlannedRow, *, step: str = "", decision: str = ""
) -> RowContent:
    """The pictures of a row of a photo."""
    return RowContent(
        photo=images.image(photo.photo),
        photo_box=row.region,
        region=_part(images, photo.photo, row.region_crop, row.region),
        prototype=_part(images, row.photo, row.crop, row.box),
        prototype_photo=images.image(row.photo),
        prototype_box=row.box,
        step=step,
        decision=decision,
    )


def _part(
    images: Images, ref: str, crop: str | None, box: tuple[float, float, float, float] | None
) -> QImage:
    """A part of a picture: what was cut out before, or what is in the box."""
    return images.part(ref, box) if crop is None else images.image(crop)


LEFT_LEAST = 440
LEFT_SHARE = 0.33
LARGEST_PHOTO, LEAST_PHOTO = 620.0, 96.0


MISSING_OF_ROWS = {
    plan.AGREEMENT: "judging_missing_agreement",
    plan.DISTINCTION: "judging_missing_species",
    plan.DISTINCTION_CONFIDENCE: "judging_missing_confidence",
}
MISSING_OF_PATHS = {
    plan.FIRST: "judging_missing_q1",
    plan.AFTER_ABSENT: "judging_missing_q2_absent",
    plan.AFTER_PRESENT: "judging_missing_q2_present",
    plan.DISTINCTION_CONFIDENCE: "judging_missing_q3",
    plan.FIRST_STEP: "judging_missing_first_step",
    plan.AGREEMENT: "judging_missing_agreement",
}


class RatedScreen(JudgingScreen):
    """Rows that are rated, on the right; on the left the photo, which gives way to what the pointer
    is over, larger, as the photo stands in every row; below it what is asked in the end.

    task: what is to be done with the rows; empty if they are only looked at. missing_keys: the
    words for a question that is missing and about no row.
    """

    missing_keys = MISSING_OF_ROWS

    def __init__(self, session: SessionView, part: plan.JudgingPart, task: str) -> None:
        super().__init__(session, part)
        self.rows = self.make_rows()
        self.rows.rated.connect(self._rate)
        self.above = controls.make_label("", "strong", wrap=True)
        self.above.setIndent(MISSING_WIDTH)
        self.task, self.key = (
            controls.make_label(task, wrap=True),
            controls.make_label(similarity_key(session), "secondary", wrap=True),
        )
        self.keys = controls.make_label(session.words("judging_keys_rate"), "secondary", wrap=True)
        if not task:  # shown before it is in its window, a label would be a window of its own
            for line in (self.task, self.key, self.keys):
                line.hide()

    def make_rows(self) -> RowList:
        return RowList(columns(self.session), self.session.palette, self.enlarger)

    def lay_out(self, over_rows: Sequence[QWidget], below: Sequence[QWidget] = ()) -> None:
        """Put everything in its place, once the questions are made. below: under the photo, where
        it is more than the questions."""
        self._below = tuple(below) or tuple(self.asked.values())
        self._over_rows = tuple(over_rows)
        self._left = QWidget()
        place = QHBoxLayout()
        controls.fill(place, controls.Gap(MISSING_WIDTH), self.enlarger, 1)
        controls.fill(
            controls.column(self._left, theme.SPACE_S), self.above, place, *self._below, 1
        )
        above = (*over_rows, self.task, self.key)
        right = controls.fill(
            controls.column(None, theme.SPACE_S), *above, (self.rows, 1), self.keys
        )
        row = controls.fill(controls.row(None, theme.SPACE_XL), self._left, (right, 1))
        self.column(WIDEST).addLayout(row)

    def _fit(self) -> None:
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
        return tuple(range(1, len(self.photo.rows) + 1))

    def show_photo(self, photo: plan.PlannedPhoto) -> None:
        image = self.images.image(photo.photo)
        self.enlarger.rest(image, None, self.session.words("judging_photo"))
        self.show_rows(photo)
        self._fit()

    def show_rows(self, photo: plan.PlannedPhoto) -> None:
        planned = [photo.rows[number - 1] for number in self.numbers()]
        self.rows.show_rows([row_of(self.images, photo, row) for row in planned])

    def turn(self) -> Sequence[QWidget]:
        """Rows are judged before what is asked in the end."""
        ratings = [row.rating for row in self.rows.rows if row.rating is not None]
        asked = [row.choice for row in self.asked.values()]
        return [*self._over_rows, *ratings, *asked] if ratings else ()

    def show_answers(self, trial: PhotoTrial, missing: Sequence[plan.PhotoQuestion]) -> None:
        super().show_answers(trial, missing)
        lacking = {question.row for question in missing}
        for number, view in zip(self.numbers(), self.rows.shown, strict=True):
            view.show_rating(trial.answers.get(plan.SIMILARITY.format(number)))
            view.mark_missing(number in lacking)

    def _rate(self, place: int, value: int, device: str) -> None:
        """A row is rated; by keyboard the next one has the turn."""
        numbers = self.numbers()
        self.judge(plan.SIMILARITY.format(numbers[place - 1]), value, device)
        if device == "keyboard" and self.session.part is self.planned:
            self.after_row(place)

    def after_row(self, place: int) -> None:
        """The widget that gets the keyboard after a row was rated."""
        if not self.rows.focus_on(place + 1):
            self.go_to_first_asked()

    def go_to_first_asked(self) -> None:
        next(iter(self.asked.values())).entrance().setFocus(Qt.FocusReason.OtherFocusReason)

    def go_to(self, question: plan.PhotoQuestion) -> None:
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

    def missing_words(self, missing: Sequence[plan.PhotoQuestion]) -> list[str]:
        words = self.session.words
        count = sum(question.row is not None for question in missing)
        texts = [words("judging_missing_rows", count=count)] if count else []
        return texts + [words(self.missing_keys[key.id]) for key in missing if key.row is None]


class BelievedScreen(RatedScreen):
    """It says what the model predicts and asks whether one believes it."""

    def ask_agreement(self) -> None:
        words = self.session.words
        row = QuestionRow(
            words("judging_q_agreement"),
            [words(key) for key in AGREEMENTS],
            self.session.palette,
            strong=True,
            upright=True,
        )
        self.ask(plan.AGREEMENT, row)

    def place_of(self, question: str, answer: int) -> int:
        """Of the agreement the first of four options is the answer 4."""
        return 5 - answer if question == plan.AGREEMENT else answer

    def show_photo(self, photo: plan.PlannedPhoto) -> None:
        name = self.part.explained.names[photo.prediction]
        self.above.setText(self.session.words("judging_predicts", name=name))
        super().show_photo(photo)


class PrototypeAgreementScreen(BelievedScreen):
    """Every row of the predicted class is rated."""

    def __init__(self, session: SessionView, part: plan.JudgingPart) -> None:
        super().__init__(session, part, session.words("judging_q_rows"))
        self.ask_agreement()
        self.note = controls.make_label("", "secondary", wrap=True)
        self.lay_out((self.note,))

    def show_photo(self, photo: plan.PlannedPhoto) -> None:
        words = self.session.words
        species = self.part.explained.names[photo.prediction]
        order = words("judging_sorted" if self.part.rows == "sorted" else "judging_shuffled")
        self.note.setText(f"{words('judging_all_from', name=species)} {order}")
        super().show_photo(photo)


class PrototypeDistinctionScreen(RatedScreen):
    """The rows of four species, one species at a time, and which one is the right one."""

    def __init__(self, session: SessionView, part: plan.JudgingPart) -> None:
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
        if not birds:
            self.missing_keys = MISSING_OF_ROWS | {plan.DISTINCTION: "judging_missing_distinction"}
        self._option = 0
        self.tabs = ClassTabs(
            self.names,
            palette,
            words("judging_q_pairs"),
            lambda name, done, all_: words("judging_rated", name=name, done=done, of=all_),
        )
        self.tabs.opened.connect(lambda option: self.send(OpenSpecies(option)))
        self.ask(
            plan.DISTINCTION,
            QuestionRow(
                words(self._question, next=words("judging_next_photo")),
                self.names,
                palette,
                strong=True,
            ),
        )
        self.ask(
            plan.DISTINCTION_CONFIDENCE,
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

    def show_photo(self, photo: plan.PlannedPhoto) -> None:
        trial = self.trial
        self._option = trial.option if trial is not None else 1
        asked = self.asked[plan.DISTINCTION]
        asked.label.setText(self.session.words(self._question, next=self.onward))
        super().show_photo(photo)

    def show_answers(self, trial: PhotoTrial, missing: Sequence[plan.PhotoQuestion]) -> None:
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
            done = sum(plan.SIMILARITY.format(row) in trial.answers for row in rows)
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

    def go_to(self, question: plan.PhotoQuestion) -> None:
        if question.row is not None and question.row not in self.numbers():
            of = self.photo.rows[question.row - 1].of
            self.send(OpenSpecies(self.photo.options.index(of or "") + 1))
        super().go_to(question)


EDGE = 1
"""Of a card, in logical pixels."""


def path_columns(
    session: SessionView, *, rating: bool = False, similarity: bool = False
) -> Columns:
    """The columns of a path. rating: each step is rated; similarity: the model's is told."""
    words = session.words
    decision = words("judging_decision")
    return replace(
        columns(session, rating=rating),
        joint=words("judging_compared_to"),
        row=words("judging_step", number="{number}"),
        step=words("judging_step_column"),
        decision=f"{decision} · {words('judging_similarity')}" if similarity else decision,
    )


def path_rows(
    words: Strings, images: Images, photo: plan.PlannedPhoto, *, similarity: bool = False
) -> list[RowContent]:
    """The steps of a photo's path, with the similarity that decided them where it is told."""
    rows = []
    for number, row in enumerate(photo.rows, start=1):
        decision = words("judging_present" if row.present else "judging_absent")
        if similarity and row.similarity is not None:
            decision += f"\n{words.number(f'{row.similarity:.2f}')}"
        step = words("judging_step", number=number)
        rows.append(row_of(images, photo, row, step=step, decision=decision))
    return rows


class PathScreen(RatedScreen):
    """A path beside its photo. task: what is to be done with its steps; empty for nothing."""

    rows: PathList
    missing_keys = MISSING_OF_PATHS
    tells_similarity = False
    _turn: Sequence[QWidget] = ()

    def turn(self) -> Sequence[QWidget]:
        """The path is looked at before anything is answered."""
        return self._turn

    def entrance(self) -> QWidget | None:
        return self._turn[0] if self._turn else super().entrance()

    def show_rows(self, photo: plan.PlannedPhoto) -> None:
        words = self.session.words
        self.rows.show_rows(path_rows(words, self.images, photo, similarity=self.tells_similarity))

    def near(self) -> Sequence[PhotoView]:
        return self.rows.near()

    def tell_keys(self, last: int) -> None:
        """Say which keys answer; last: the digit of the last option."""
        words = self.session.words
        two = last == 2  # "1 to 2" would be odd
        text = words("judging_keys_two") if two else words("judging_keys_choose", last=last)
        self.keys.setText(text)
        self.keys.show()


class PathAgreementScreen(BelievedScreen, PathScreen):
    """Every step is rated."""

    def __init__(self, session: SessionView, part: plan.JudgingPart) -> None:
        super().__init__(session, part, session.words("judging_q_rows"))
        self.ask_agreement()
        self.lay_out(())

    def make_rows(self) -> PathList:
        columns = path_columns(self.session, rating=True)
        return PathList(columns, self.session.palette, self.enlarger)


class FirstStepScreen(BelievedScreen, PathScreen):
    """Which step is the first that one disagrees with."""

    tells_similarity = True

    def __init__(self, session: SessionView, part: plan.JudgingPart) -> None:
        super().__init__(session, part, "")
        self.first = QuestionRow(
            session.words("judging_q_first_step"), ("1",), session.palette, strong=True, lines=2
        )
        self.ask(plan.FIRST_STEP, self.first)
        self.ask_agreement()
        self.lay_out(())
        self._turn = [self.rows.area, *(row.choice for row in self.asked.values())]

    def make_rows(self) -> PathList:
        columns = path_columns(self.session, similarity=True)
        return PathList(columns, self.session.palette, self.enlarger)

    def show_photo(self, photo: plan.PlannedPhoto) -> None:
        steps = [f"{number}" for number in self.numbers()]
        self.first.choice.show_texts([*steps, self.session.words("judging_agree_with_all")])
        self.tell_keys(len(steps))
        super().show_photo(photo)

    def show_answers(self, trial: PhotoTrial, missing: Sequence[plan.PhotoQuestion]) -> None:
        super().show_answers(trial, missing)
        self.rows.mark_step(trial.answers.get(plan.FIRST_STEP))


class PathDistinctionScreen(PathScreen):
    """The first steps, then two that the participant decides: which species they lead to is the
    answer."""

    def __init__(self, session: SessionView, part: plan.JudgingPart) -> None:
        super().__init__(session, part, "")
        words = session.words
        self._first: int | None = None
        asked = (plan.FIRST, plan.AFTER_ABSENT, plan.AFTER_PRESENT)
        self.steps = dict(zip(asked, self.rows.open, strict=True))
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
        self.ask(plan.DISTINCTION_CONFIDENCE, confidence)
        self.key_of_species = SpeciesKey(words("judging_predicted"))
        self.above.hide()
        self.lay_out((), (self.key_of_species, confidence))
        self.tell_keys(2)
        steps = [step.choice for step in self.steps.values()]
        self._turn = [self.rows.area, *steps, confidence.choice]

    def make_rows(self) -> PathList:
        words = self.session.words
        return PathList(
            path_columns(self.session),
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

    @property
    def asked_width(self) -> int:
        return max(super().asked_width, self.key_of_species.needed_width)

    def show_photo(self, photo: plan.PlannedPhoto) -> None:
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
        # By their place, as published, and not by their numbers in the set: people who remember
        # those would choose without looking.
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

    def show_answers(self, trial: PhotoTrial, missing: Sequence[plan.PhotoQuestion]) -> None:
        super().show_answers(trial, missing)
        lacking = {question.id for question in missing}
        first = trial.answers.get(plan.FIRST)
        for question in plan.questions(self.part.task, self.photo):
            if question.id in self.steps:
                on_way = plan.applies(question, trial.answers)
                step = self.steps[question.id]
                step.show_answer(
                    trial.answers.get(question.id),
                    open_=on_way,
                    faint=first is not None and not on_way,
                )
                step.mark_missing(question.id in lacking)
        after = plan.AFTER_ABSENT if first == plan.ABSENT else plan.AFTER_PRESENT
        if first != self._first:
            self._first = first
            if first is not None:  # what it leads to may stand below what is in sight
                self.rows.bring(self.steps[after])
        second = trial.answers.get(after)
        place = None if first is None or second is None else 2 * (first - 1) + second - 1
        self.key_of_species.show_place(place)

    def go_to(self, question: plan.PhotoQuestion) -> None:
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
        head = controls.make_label(title, "heading")
        self.lines = [PlainLabel() for _ in range(4)]
        column = controls.fill(controls.column(card, theme.SPACE_XS), head, *self.lines)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        self._place: int | None = None

    @property
    def needed_width(self) -> int:
        """Logical pixels that the longest line needs when it is strong."""
        strong = metrics(bold=True)
        longest = max(strong.horizontalAdvance(line.text()) for line in self.lines)
        return MISSING_WIDTH + 2 * theme.SPACE_M + ceil(longest) + 2 * EDGE

    def show_lines(self, lines: Sequence[str]) -> None:
        for line, text in zip(self.lines, lines, strict=True):
            line.setText(text)

    def show_place(self, place: int | None) -> None:
        """Show which way was taken, from 0."""
        if place == self._place:
            return
        self._place = place
        for number, line in enumerate(self.lines):
            restyle(line, "role", "chosen" if number == place else "")
