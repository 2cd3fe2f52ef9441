"""The warm-up: how a decision tree over fruits judges a photo, and two exercises about it.

The first pages explain the tree and show an example that is answered already. An exercise is
answered, handed in and explained; its answers stay as they were handed in.

Fruits of the warm-up, drawn as vectors: some of one colour and one shape on a plate of grey; and
the decision tree over them, with the path that the model takes drawn strong.

The tree of paper 003, appendix C: the colour first, then the count of green fruits or the shape of
yellow ones. It is drawn and not a picture, since its words are the study's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import ceil

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QSizePolicy, QWidget

from labapp.record.events.commands import HandIn, Next, ShowQuestion
from labapp.tasks.judging.events import Judge
from labapp.tasks.judging.machine import JudgingState, PhotoTrial
from labapp.tasks.judging.plan import (
    AGREEMENT,
    MISTAKE,
    VERDICT,
    Exercise,
    PhotoQuestion,
    WarmUpPart,
    attribute_of,
    exercise_questions,
)
from labapp.tasks.judging.screen.photos import AGREEMENTS
from labapp.ui import theme
from labapp.ui.participant.screen import Screen
from labapp.ui.participant.view import SessionView
from labapp.ui.strings import Strings
from labapp.ui.widgets import controls
from labapp.ui.widgets.controls import Picture
from labapp.ui.widgets.dial import Foot, Head
from labapp.ui.widgets.markdown import MarkdownView, text_width
from labapp.ui.widgets.painting import (
    brush,
    color,
    equip,
    metrics,
    pen,
    restyle,
    smooth,
    write_with,
)
from labapp.ui.widgets.row_view import RIGHT_MARK, WRONG_MARK
from labapp.ui.widgets.segments import MISSING_WIDTH, QuestionRow

LEFT_WIDTH, PHOTO_WIDTH = 540, 190
FEEDBACK_LINES = 3
SURE = 4
"""The answer to the question that has no right one, in the worked example."""
TREE_WORDS = {
    "colour": "judging_attribute_colour",
    "count": "judging_attribute_count",
    "shape": "judging_attribute_shape",
    "colour_green": "judging_step_colour_green",
    "colour_red": "judging_step_colour_red",
    "colour_yellow": "judging_step_colour_yellow",
    "count_few": "judging_step_count_few",
    "count_many": "judging_step_count_many",
    "shape_round": "judging_step_shape_round",
    "shape_skinny": "judging_step_shape_skinny",
}
REASONS = {
    "exercise-0": "judging_reason_exercise_0",
    "exercise-1": "judging_reason_exercise_1",
    "exercise-2": "judging_reason_exercise_2",
}
ASKED = {"exercise-2": "judging_q_decision"}
"""As published, the last exercise asks the second question in other words."""
MISSING = {
    VERDICT: "judging_missing_verdict",
    AGREEMENT: "judging_missing_agreement",
    MISTAKE: "judging_missing_mistake",
}


def tree_texts(words: Strings) -> dict[str, str]:
    """What stands at the nodes and answers of the tree."""
    fruits = {node: words("judging_fruit", letter=node) for node in PLACES if len(node) == 1}
    return {name: words(key) for name, key in TREE_WORDS.items()} | fruits


class ExercisePanel(QWidget):
    """An exercise: the photo and the tree's path on the left, what is asked about it on the right.

    Options stand as in the paper, which is not how they are counted: the best first, and for the
    first mistake "None" first.
    """

    def __init__(self, session: SessionView, exercise: Exercise) -> None:
        super().__init__()
        words, palette = session.words, session.palette
        self._words = words
        self.exercise = exercise
        self.asked = {question.id: question for question in exercise_questions(exercise)}
        texts = tree_texts(words)
        self.title = controls.make_label("", "title", wrap=True)
        self.photo = FruitPicture(palette, words("judging_photo"), exercise.picture)
        self.tree = FruitTree(palette, texts, words("judging_fruits_step"), exercise.steps)
        fruit = texts[exercise.prediction]
        on_left = QWidget()
        on_left.setFixedWidth(LEFT_WIDTH)
        predicts = controls.make_label(words("judging_predicts", name=fruit), "strong", wrap=True)
        marked = controls.make_label(words("judging_path_marked"), "secondary", wrap=True)
        beside = controls.fill(
            controls.column(None, theme.SPACE_S), self.title, predicts, marked, 1
        )
        above = controls.fill(controls.row(None, theme.SPACE_XL), self.photo, (beside, 1))
        above.setAlignment(self.photo, Qt.AlignmentFlag.AlignTop)
        controls.fill(controls.column(on_left, theme.SPACE_M), above, self.tree, 1)
        attributes = [texts[attribute] for attribute in exercise.asked]
        self.rows = {
            VERDICT: QuestionRow(
                words("judging_q_verdict"),
                (words("judging_verdict_right"), words("judging_verdict_wrong")),
                palette,
                strong=True,
            ),
            AGREEMENT: QuestionRow(
                words(ASKED.get(exercise.id, "judging_q_agreement")),
                [words(key) for key in AGREEMENTS],
                palette,
                strong=True,
                upright=True,
            ),
            MISTAKE: QuestionRow(
                words("judging_q_mistake"),
                (words("judging_none"), *attributes),
                palette,
                strong=True,
            ),
        }
        self.feedback = Feedback()
        told = QHBoxLayout()
        controls.fill(told, controls.Gap(MISSING_WIDTH), self.feedback)
        right = controls.fill(controls.column(None, theme.SPACE_L), *self.rows.values(), told, 1)
        controls.fill(controls.row(self, theme.SPACE_XXL), on_left, (right, 1))

    def options(self, question: str) -> Sequence[int]:
        """The answers to a question, in the order of its options."""
        first, last = self.asked[question].first, self.asked[question].last
        return (last, *range(first, last)) if question == MISTAKE else range(last, first - 1, -1)

    def show_answers(self, answers: Mapping[str, int], *, locked: bool) -> None:
        for name, row in self.rows.items():
            answer = answers.get(name)
            row.show_answer(None if answer is None else self.options(name).index(answer) + 1)
            row.choice.set_locked(locked)

    def mark_missing(self, missing: set[str]) -> None:
        for name, row in self.rows.items():
            row.mark_missing(name in missing)

    def show_solved(self) -> None:
        """As a worked example: with its right answers, and why they are."""
        right = {name: question.right or SURE for name, question in self.asked.items()}
        self.show_answers(right, locked=True)
        self.feedback.tell(self._words(REASONS[self.exercise.id]))

    def show_feedback(self, right: bool) -> None:
        """Say whether what was handed in is right, and why."""
        head = self._words("judging_feedback_right" if right else "judging_feedback_wrong")
        mark, tone = (RIGHT_MARK, "good") if right else (WRONG_MARK, "alarm")
        self.feedback.tell(self._words(REASONS[self.exercise.id]), f"{mark} {head}", tone)


class Feedback(QFrame):
    """What is told about an exercise; its room is kept while there is nothing to tell."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.head, self.text = (
            controls.make_label("", "strong", wrap=True),
            controls.make_label(wrap=True),
        )
        self.head.hide()
        column = controls.fill(controls.column(self, theme.SPACE_XS), self.head, self.text, 1)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        lines = (FEEDBACK_LINES + 1) * ceil(metrics(bold=True).lineSpacing())
        self.setFixedHeight(lines + theme.SPACE_XS + 2 * theme.SPACE_M + 2)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        policy.setHorizontalPolicy(QSizePolicy.Policy.Expanding)
        self.setSizePolicy(policy)
        self.hide()

    def tell(self, text: str, head: str = "", tone: str = "") -> None:
        self.text.setText(text)
        self.head.setText(head)
        self.head.setVisible(bool(head))
        restyle(self.head, "tone", tone)
        self.setAccessibleName(f"{head} {text}".strip())
        self.show()


class Explanation(QWidget):
    """A page of text beside the tree, of which no path is marked."""

    def __init__(self, session: SessionView, view: MarkdownView, page: str) -> None:
        super().__init__()
        words = session.words
        self.text = view
        self.text.show_text(page)
        self.tree = FruitTree(session.palette, tree_texts(words), words("judging_fruits_step"))
        self._row = controls.row(self, theme.SPACE_XXL)
        controls.fill(self._row, (self.text, 1), (self.tree, 1))
        for widget in (self.text, self.tree):
            self._row.setAlignment(widget, Qt.AlignmentFlag.AlignTop)
        self.text.setFixedWidth(min(text_width(), (theme.CONTENT_WIDTH - theme.SPACE_XXL) // 2))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The tree is placed below the text if there is no room next to it."""
        super().resizeEvent(event)
        least = self.text.width() + theme.SPACE_XXL + self.tree.minimumWidth()
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        beside = self.width() >= least
        self._row.setDirection(across if beside else down)
        whole = self.text.height_for(self.text.width())
        self.text.setMinimumHeight(0 if beside else whole)  # the page scrolls, not the text


class WarmUpScreen(Screen):
    """The pages before the exercises are known only to the screen: the session knows exercises."""

    def __init__(self, session: SessionView, part: WarmUpPart) -> None:
        super().__init__(session, part)
        self._part = part
        self._on_screen: tuple[int, int] | None = None
        self._told = False
        words = session.words
        self.explanations = [
            Explanation(session, self.text_view(), page)
            for page in session.pages(part.document, {})
        ]
        self.worked = ExercisePanel(session, part.worked)
        self.worked.title.setText(words("judging_example"))
        self.worked.show_solved()
        self.panels = [ExercisePanel(session, exercise) for exercise in part.exercises]
        for number, panel in enumerate(self.panels, start=1):
            panel.title.setText(words("judging_exercise_of", number=number, of=len(self.panels)))
            for name, row in panel.rows.items():
                row.answered.connect(
                    lambda place, device, name=name, panel=panel: self.send(
                        Judge(name, panel.options(name)[place - 1], device)
                    )
                )
        self._before: list[QWidget] = [*self.explanations, self.worked]
        self._begun, self._page = False, 0
        column = controls.fill(self.column(), 1)
        for page in (*self._before, *self.panels):
            page.hide()
            column.addWidget(page)
        column.addStretch(2)

    def _trial(self) -> PhotoTrial | None:
        state = self.state
        return state.trial if isinstance(state, JudgingState) else None

    @property
    def page_shown(self) -> int:
        """While it is introduced, the page; then, how many pages the participant went back."""
        return len(self._before) - self._page if self._begun else self._page

    def turn_to(self, page: int) -> None:
        of = len(self._before)
        self._page = max(0, of - page) if self._begun else min(page, of)
        self.render_state()

    @property
    def _introduces(self) -> bool:
        return self._page < len(self._before)

    @property
    def page(self) -> QWidget:
        trial = self._trial()
        if self._introduces or trial is None:
            return self._before[min(self._page, len(self._before) - 1)]
        return self.panels[trial.number - 1]

    def _missing(self, trial: PhotoTrial) -> list[PhotoQuestion]:
        asked = self.panels[trial.number - 1].asked.values()
        return [question for question in asked if question.id not in trial.answers]

    def render_state(self) -> None:
        trial = self._trial()
        if trial is not None and trial.started_ns is not None and not self._begun:
            self._begun = True
            self._page = len(self._before)
        page = self.page
        for panel in (*self._before, *self.panels):
            if panel.isHidden() == (panel is page):
                panel.setVisible(panel is page)
        if trial is None or self._introduces:
            return
        shown = self.panels[trial.number - 1]
        if (trial.number, trial.attempt) != self._on_screen:
            self._on_screen = (trial.number, trial.attempt)
            self.reminded = self._told = False
            self.wish = "content"
        done = trial.right is not None
        shown.show_answers(trial.answers, locked=done)
        missing = self._missing(trial) if self.reminded and not done else []
        shown.mark_missing({question.id for question in missing})
        if done and not self._told:
            self._told = True
            shown.show_feedback(all((trial.right or {}).values()))
            self.tell(shown.feedback.accessibleName())
            self.wish = "right"

    def head(self) -> Head:
        words, of, trial = self.session.words, len(self.panels), self._trial()
        if self._introduces or trial is None:
            return Head(words("judging_warm_up"), done=0, of=of)
        text = words("judging_exercise_of", number=trial.number, of=of)
        return Head(words("judging_warm_up"), text, trial.number, of)

    def foot(self) -> Foot:
        words, trial = self.session.words, self._trial()
        if trial is None or self._introduces:
            back = words("back") if self._page else ""
            return Foot(left=back, right=words("continue"), enabled=trial is not None)
        if trial.right is not None:
            return Foot(right=words("continue"))
        missing = ", ".join(words(MISSING[question.id]) for question in self._missing(trial))
        return Foot(
            left=words("back") if trial.number == 1 else "",
            right=words("judging_submit"),
            ready=not missing,
            note=words("answer_missing", items=missing) if missing else "",
            warn=bool(missing) and self.reminded,
        )

    def left(self) -> None:
        """Back to what was explained, as long as nothing is handed in."""
        self._turn(-1)

    def right(self) -> None:
        trial = self._trial()
        if trial is None:
            return
        if self._introduces:
            self._turn(1)
        elif trial.right is not None:
            self.send(Next())
        elif missing := self._missing(trial):
            self.reminded = True
            self.render_state()
            self.altered.emit()
            row = self.panels[trial.number - 1].rows[missing[0].id]
            row.entrance().setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.send(HandIn())

    def _turn(self, by: int) -> None:
        self._page += by
        self.wish = "content"
        trial = self._trial()
        if not self._introduces and trial is not None and trial.started_ns is None:
            self.send(ShowQuestion())
        self.render_state()
        self.altered.emit()

    def entrance(self) -> QWidget | None:
        page, trial = self.page, self._trial()
        if isinstance(page, Explanation):
            return page.text if page.text.focusPolicy() else None
        missing = [] if trial is None or self._introduces else self._missing(trial)
        if not missing or trial is None:
            return None
        return self.panels[trial.number - 1].rows[missing[0].id].entrance()


# Stimuli look the same in every theme: body, its shaded side, outline.
COLOURS = {
    "green": ("#7DB955", "#5E9A3C", "#3F6B28"),
    "red": ("#DD5A4E", "#B93F38", "#7E2823"),
    "yellow": ("#F2CB4A", "#D6A62C", "#8F6A12"),
}
GROUND = "#F1F1EE"
STEM, LEAF, SHINE = "#6B4F2E", "#4E8B3A", "#FFFFFF"
LIES: dict[str, dict[int, tuple[tuple[float, float], ...]]] = {
    "round": {
        1: ((0.5, 0.52),),
        2: ((0.29, 0.54), (0.71, 0.53)),
        3: ((0.2, 0.36), (0.5, 0.68), (0.8, 0.38)),
        4: ((0.29, 0.31), (0.71, 0.29), (0.27, 0.77), (0.73, 0.75)),
        5: ((0.18, 0.3), (0.5, 0.27), (0.82, 0.32), (0.33, 0.76), (0.68, 0.75)),
    },
    "skinny": {
        1: ((0.5, 0.5),),
        2: ((0.4, 0.32), (0.6, 0.72)),
        3: ((0.34, 0.24), (0.66, 0.53), (0.36, 0.81)),
        4: ((0.28, 0.3), (0.73, 0.25), (0.27, 0.74), (0.72, 0.72)),
        5: ((0.26, 0.24), (0.74, 0.22), (0.5, 0.52), (0.26, 0.8), (0.74, 0.81)),
    },
}
"""Where so many fruits of a shape lie, as shares of the picture."""
SIZES = {"round": (0.78, 0.62, 0.46, 0.44, 0.38), "skinny": (0.62, 0.5, 0.38, 0.35, 0.33)}
"""How large each of so many is, as a share of the picture's height."""
UNIT = 100.0


def parts_of(picture: str) -> tuple[str, str, int]:
    """Colour, shape and number of the fruits of a picture such as `yellow-round-4`.

    Raises ValueError for a picture that cannot be drawn.
    """
    colour, shape, number = picture.split("-")
    if colour not in COLOURS or int(number) not in LIES.get(shape, {}):
        raise ValueError(f"no picture of fruits is called {picture!r}")
    return colour, shape, int(number)


class FruitPicture(Picture):
    """Fruits in a frame. name: what it is called for who hears the screen; picture: see
    `parts_of`."""

    def __init__(self, palette: theme.Palette, name: str, picture: str) -> None:
        super().__init__()
        self._colors = palette
        self.picture = picture
        self.setAccessibleName(name)
        self.setFixedSize(PHOTO_WIDTH, round(PHOTO_WIDTH * 0.72))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        equip(painter, pen(self._colors.hairline), brush(GROUND))
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, theme.RADIUS, theme.RADIUS)
        paint_fruits(painter, frame, self.picture)
        painter.end()


def paint_fruits(painter: QPainter, area: QRectF, picture: str) -> None:
    colour, shape, number = parts_of(picture)
    size = area.height() * SIZES[shape][number - 1]
    for place, (x, y) in enumerate(LIES[shape][number]):
        painter.save()
        painter.translate(area.left() + x * area.width(), area.top() + y * area.height())
        painter.scale(size / UNIT, size / UNIT)
        # A little turned, each another way: they lie there, nobody put them in line.
        painter.rotate((-14, 9, 17, -8, 4)[place])
        (_paint_round if shape == "round" else _paint_skinny)(painter, COLOURS[colour])
        painter.restore()


def _paint_round(painter: QPainter, tones: tuple[str, str, str]) -> None:
    body, shade, rim = tones
    painter.setPen(pen(STEM, 5))
    painter.drawLine(QPointF(0, -34), QPointF(4, -50))
    leaf = QPainterPath(QPointF(3, -44))
    leaf.quadTo(QPointF(16, -60), QPointF(32, -50))
    leaf.quadTo(QPointF(20, -38), QPointF(3, -44))
    equip(painter, pen(rim, 2), brush(LEAF))
    painter.drawPath(leaf)
    painter.setBrush(brush(body))
    painter.drawEllipse(QPointF(0, 4), 40.0, 39.0)
    # The shaded lower right rim lies between two circles.
    whole, lit = QPainterPath(), QPainterPath()
    whole.addEllipse(QPointF(0, 4), 38.5, 37.5)
    lit.addEllipse(QPointF(-7, -3), 39.0, 38.0)
    equip(painter, Qt.PenStyle.NoPen, brush(shade))
    painter.drawPath(whole.subtracted(lit))
    painter.translate(-17, -12)
    painter.rotate(30)
    painter.setOpacity(0.55)
    painter.setBrush(brush(SHINE))
    painter.drawEllipse(QPointF(0, 0), 7.0, 10.0)


def _paint_skinny(painter: QPainter, tones: tuple[str, str, str]) -> None:
    """A long fruit, bent like a banana."""
    body, shade, rim = tones
    painter.setPen(pen(STEM, 6))
    painter.drawLine(QPointF(-62, -18), QPointF(-72, -28))
    pod = QPainterPath(QPointF(-64, -20))
    pod.cubicTo(QPointF(-40, 42), QPointF(40, 42), QPointF(65, -20))
    pod.cubicTo(QPointF(34, 2), QPointF(-34, 2), QPointF(-58, -24))
    pod.closeSubpath()
    equip(painter, pen(rim, 2), brush(body))
    painter.drawPath(pod)
    below = QPainterPath(QPointF(-60, -15))
    below.cubicTo(QPointF(-38, 40), QPointF(38, 40), QPointF(63, -17))
    below.cubicTo(QPointF(36, 28), QPointF(-36, 28), QPointF(-60, -15))
    equip(painter, Qt.PenStyle.NoPen, brush(shade))
    painter.drawPath(below)
    painter.setBrush(brush(rim))
    painter.drawEllipse(QPointF(63, -18), 4.0, 4.0)


NODE_H, NODE_PAD = 34.0, 14.0
STRONG = 3.0


EDGES = {
    "colour_green": "count",
    "colour_red": "C",
    "colour_yellow": "shape",
    "count_few": "A",
    "count_many": "B",
    "shape_round": "D",
    "shape_skinny": "E",
}
"""The node that each answer leads to."""
PLACES = {
    "colour": (0.5, 0.09),
    "count": (0.2, 0.5),
    "C": (0.5, 0.5),
    "shape": (0.8, 0.5),
    "A": (0.08, 0.91),
    "B": (0.35, 0.91),
    "D": (0.65, 0.91),
    "E": (0.92, 0.91),
}
"""Of each node, as shares of the drawing."""


class FruitTree(Picture):
    """texts: what stands at each node and answer, by its name; answers: of the path that is drawn
    strong."""

    def __init__(
        self,
        palette: theme.Palette,
        texts: Mapping[str, str],
        name: str,
        answers: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._colors = palette
        self._texts = texts
        self._taken = {answer: end for answer, end in EDGES.items() if answer in answers}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMinimumSize(500, 200)  # no answer lies over another, and no node over the edge
        self.setAccessibleName(name)
        if answers:
            told = ("colour", *chain.from_iterable(self._taken.items()))
            self.setAccessibleDescription(" → ".join(texts[key] for key in told))

    @property
    def path(self) -> tuple[str, ...]:
        """The nodes of the path that is drawn strong, from the root to its fruit."""
        return ("colour", *self._taken.values()) if self._taken else ()

    def sizeHint(self) -> QSize:
        return QSize(520, 330)

    def _box(self, node: str) -> QRectF:
        wide = metrics(bold=True).horizontalAdvance(self._texts[node]) + 2 * NODE_PAD
        x, y = PLACES[node]
        left = min(max(x * self.width() - wide / 2, 2.0), self.width() - wide - 2)
        return QRectF(left, y * self.height() - NODE_H / 2, wide, NODE_H)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = smooth(self)
        for answer in sorted(EDGES, key=self._taken.__contains__):  # those taken lie on top
            self._paint_edge(painter, answer, taken=answer in self._taken)
        for node in PLACES:
            self._paint_node(painter, node, taken=node in self.path)
        painter.end()

    def _paint_edge(self, painter: QPainter, answer: str, *, taken: bool) -> None:
        p = self._colors
        start = self._box(attribute_of(answer)).center()
        end = self._box(EDGES[answer]).center()
        painter.setPen(pen(p.accent, STRONG) if taken else pen(p.secondary, 1.2))
        painter.drawLine(start, end)
        words = self._texts[answer]
        wide = metrics(theme.SECONDARY_PX, taken).horizontalAdvance(words) + theme.SPACE_M
        at = start + (end - start) * 0.66  # where the lines of two answers are well apart
        area = QRectF(at.x() - wide / 2, at.y() - 10, wide, 20)
        painter.fillRect(area, brush(p.ground))
        write_with(painter, color(p.accent if taken else p.secondary), theme.SECONDARY_PX, taken)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_node(self, painter: QPainter, node: str, *, taken: bool) -> None:
        p, box = self._colors, self._box(node)
        leaf = len(node) == 1
        painter.setPen(pen(p.accent, 2.0) if taken else pen(p.secondary, 1.2))
        painter.setBrush(brush(p.accent_soft if taken else p.card))
        radius = NODE_H / 2 if leaf else theme.RADIUS
        painter.drawRoundedRect(box, radius, radius)
        write_with(painter, color(p.accent if taken else p.ink), bold=taken)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._texts[node])
