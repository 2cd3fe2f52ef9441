"""What the screens of all tasks share that judge explanations: a photo after the other, its
questions, and what is missing before the next one.

The pictures of a photo as a plan explains it: its heatmaps, and the rows that compare its regions
with prototypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QKeyEvent
from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget
from shiboken6 import isValid

from labapp.record.events.commands import Next
from labapp.tasks.judging.events import METHOD, TREE, CloseDescription, Judge, OpenDescription
from labapp.tasks.judging.machine import missing
from labapp.tasks.judging.plan import (
    ExplainedModel,
    JudgingPart,
    MethodPart,
    PlannedPhoto,
    PlannedRow,
    Question,
    questions,
)
from labapp.tasks.judging.state import JudgingState, PhotoTrial
from labapp.ui.images import Images
from labapp.ui.participant.screen import Opened, Screen, stage_words
from labapp.ui.participant.view import SessionView
from labapp.ui.widgets.choice import COMMANDS, Choice
from labapp.ui.widgets.controls import PlainLabel
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.enlarger import Enlarger
from labapp.ui.widgets.photo_view import PhotoView
from labapp.ui.widgets.row_view import Columns, Row
from labapp.ui.widgets.segments import QuestionRow

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


Box = TypeVar("Box", bound=QBoxLayout)
Laid = QWidget | QLayout


def filled(box: Box, spacing: int, *items: Laid | tuple[Laid, int] | int) -> Box:
    """A box without margins with these items, in their order; a number with an item is its stretch,
    one alone an empty stretch."""
    box.setContentsMargins(0, 0, 0, 0)
    box.setSpacing(spacing)
    for entry in items:
        item, stretch = entry if isinstance(entry, tuple) else (entry, 0)
        if isinstance(item, QWidget):
            box.addWidget(item, stretch)
        elif isinstance(item, QLayout):
            box.addLayout(item, stretch)
        else:
            box.addStretch(item)
    return box


def label(text: str = "", role: str = "") -> PlainLabel:
    """Words that go on in the next line where there is no more room."""
    made = PlainLabel(text)
    made.setWordWrap(True)
    made.setProperty("role", role)
    return made


class DescribedScreen(Screen):
    """A screen over which the description of its method can be opened, or the whole tree."""

    _described: Description | None = None

    def opened(self) -> Opened | None:
        what = self.state.description
        if what and self._described is None:
            # It shows its examples as screens do, which are made of this module's.
            from labapp.tasks.judging.screen.description import Description

            assert isinstance(self.planned, JudgingPart | MethodPart)
            self._described = Description(self.session, self.planned, self.open_tree)
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

    def missing(self) -> tuple[Question, ...]:
        trial = self.trial
        return () if trial is None else missing(questions(self.part.task, self.photo), trial)

    def show_photo(self, photo: PlannedPhoto) -> None:
        raise NotImplementedError

    def show_answers(self, trial: PhotoTrial, missing: Sequence[Question]) -> None:
        """Show the answers; missing: what is to be marked as missing."""
        for name, row in self.asked.items():
            answer = trial.answers.get(name)
            row.show_answer(None if answer is None else self.place_of(name, answer))
            row.mark_missing(any(question.id == name for question in missing))

    def place_of(self, question: str, answer: int) -> int:
        """The place of an answer among the options, from 1, and so the answer at a place."""
        return answer

    def missing_words(self, missing: Sequence[Question]) -> list[str]:
        raise NotImplementedError

    def go_to(self, question: Question) -> None:
        """Lead to a question that is missing."""
        self.asked[question.id].entrance().setFocus(Qt.FocusReason.OtherFocusReason)

    def judge(self, question: str, value: int, device: str) -> None:
        self.send(Judge(question, value, device))

    @property
    def asked_width(self) -> int:
        """Logical pixels that the widest question needs."""
        return max(row.needed_width for row in self.asked.values())

    def ask(self, name: str, row: QuestionRow) -> QuestionRow:
        """Have a question answered by this widget."""
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
        text = words("judging_photo_of", number=number, of=self.part.trials)
        stage = self._stage if self.part.of > 1 else ""
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
) -> Row:
    """The pictures of a row of a photo."""
    return Row(
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
    images: Images,
    ref: str,
    crop: str | None,
    box: tuple[float, float, float, float] | None,
) -> QImage:
    """A part of a picture: what was cut out before, or what is in the box."""
    return images.part(ref, box) if crop is None else images.image(crop)
