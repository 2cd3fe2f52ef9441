"""The live mirror of what the participant sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from labapp.clock import NS
from labapp.representations.decoding import Array
from labapp.representations.space import LatentSpace
from labapp.session.runner import Runner
from labapp.study.parts import BreakPart, QuestionnairePart
from labapp.tasks.interview.machine import InterviewState
from labapp.tasks.interview.plan import InterviewPart
from labapp.tasks.judging.plan import JudgingPart, WarmUpPart
from labapp.tasks.judging.state import JudgingState
from labapp.tasks.questionnaire.machine import QuestionnaireState, QuestionnaireTask
from labapp.tasks.reconstruction.plan import ReconstructionPart, TutorialPart
from labapp.tasks.reconstruction.state import MARKS, StageState, Trial
from labapp.tasks.single_dimension.plan import SingleDimensionPart
from labapp.tasks.single_dimension.state import SingleState
from labapp.tasks.unmasking.plan import UnmaskingPart
from labapp.tasks.unmasking.state import UnmaskingState
from labapp.ui import theme
from labapp.ui.language import N_, number, tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.curve_view import CurveView
from labapp.ui.moderator.dial_bars import DialBars
from labapp.ui.moderator.interview_mirror import InterviewMirror
from labapp.ui.moderator.judging_mirror import JudgingMirror
from labapp.ui.moderator.question_mirror import QuestionMirror
from labapp.ui.moderator.sheet_mirror import sheet_lines
from labapp.ui.moderator.state.console import ConsoleState
from labapp.ui.moderator.state.curve import Curve
from labapp.ui.moderator.state.plan import progress_of
from labapp.ui.moderator.state.stimuli import Stimuli
from labapp.ui.moderator.unmasking_mirror import UnmaskingMirror
from labapp.ui.moderator.warm_up_mirror import WarmUpMirror
from labapp.ui.participant.picture_panel import view_of
from labapp.ui.theme import Palette
from labapp.ui.widgets.pictures import ImageView
from labapp.ui.widgets.series import SeriesView

TRIAL, QUIET, QUESTION, PHOTO, WARM_UP, STIMULUS, INTERVIEW = range(7)
CAPTIONS = (N_("Own picture"), N_("Target"))
MOST_SIDE, LEAST_SIDE = 420, 96
CURVE_ROOM = 118
DIALS_ROOM = 200
CAPTION_ROOM = 36
BOX_SIDE = 128


class TrialMirror(QWidget):
    """A question: own picture, target, dials, and the alignment so far."""

    def __init__(self, palette: Palette, curve: Curve) -> None:
        super().__init__()
        self._palette = palette
        self._part: ReconstructionPart | None = None
        self._space: LatentSpace | None = None
        self._shown: tuple[Array, Array] | None = None
        self.own: ImageView | SeriesView | None = None
        self.target: ImageView | SeriesView | None = None
        self.dials = DialBars(palette)
        self.curve = CurveView(palette, curve)
        self.alignment = bits.label("", "number")
        self.goal = bits.label("", "secondary")
        self.state = bits.ElidedLabel("", "secondary")

        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        self._pictures = QHBoxLayout()
        self._pictures.setSpacing(theme.SPACE_M)
        self._holders = []
        for caption in CAPTIONS:
            holder = QVBoxLayout()
            holder.setSpacing(theme.SPACE_XS)
            holder.addWidget(bits.label(tr(caption), "caption"))
            holder.addStretch(1)
            self._holders.append(holder)
            self._pictures.addLayout(holder)
        self._pictures.addWidget(self.dials, 1)
        layout.addLayout(self._pictures, 1)
        line = QHBoxLayout()
        line.setSpacing(theme.SPACE_S)
        line.addWidget(bits.label(tr("Alignment, this question"), "secondary"))
        line.addWidget(self.state, 1)
        line.addWidget(self.alignment, 0, Qt.AlignmentFlag.AlignBaseline)
        line.addWidget(self.goal, 0, Qt.AlignmentFlag.AlignBaseline)
        layout.addLayout(line)
        self.curve.setFixedHeight(CURVE_ROOM - 40)
        layout.addWidget(self.curve)

    def show_trial(
        self, part: ReconstructionPart, stage: StageState, trial: Trial, runner: Runner
    ) -> None:
        """Bring what changed up to date."""
        if part is not self._part or self._space is None:
            self._begin(part, runner)
        assert self._space is not None
        names = tuple(
            name or tr("Dial {number}", number=index + 1) for index, name in enumerate(stage.labels)
        )
        self.dials.show_dials(self._space.dimensions, names, trial.z, trial.z_start, trial.selected)
        self._show_pictures(runner)
        tone = "good" if trial.solved else ""
        bits.set_property(self.alignment, "tone", tone)
        bits.set_text(self.alignment, wording.percent(trial.alignment))
        goal = "" if part.marks else f"/ {number(f'{part.target_alignment * 100:g}')} %"
        bits.set_text(self.goal, goal)
        words = [tr("· ✓ matched")] if trial.solved else []
        if part.marks:
            made = Counter(mark.mark for mark in trial.marks)
            counts = {name: made[name] for name in MARKS}
            words.append(tr("· marked: far away {far}, close enough {close}", **counts))
        if trial.overlay:
            words.append(tr("· overlay on"))
        self.state.set_full(" ".join(words))

    def show_curve(self, state: ConsoleState, now_ns: int, *, changed: bool) -> None:
        """The alignment curve; its time stands still in a pause and once solved."""
        curve = state.curve
        if self._part is None:
            return
        since = 0
        if curve.began_ns is not None:
            since = state.work.working_ns(now_ns) - curve.began_ns
        target = None if self._part.marks else self._part.target_alignment
        self.curve.show_curve(target, since, changed=changed)

    def _begin(self, part: ReconstructionPart, runner: Runner) -> None:
        """Another stage: other dials, perhaps other pictures."""
        self._part = part
        self._space = LatentSpace.from_json(part.dimensions)
        self._shown = None
        for holder, view in zip(self._holders, (self.own, self.target), strict=True):
            if view is not None:
                holder.removeWidget(view)
                discard(view)
        self.own = self.target = None

    def _show_pictures(self, runner: Runner) -> None:
        pictures = runner.pictures
        if pictures is None or self._part is None:
            return
        if self.own is None or self.target is None:
            display = self._part.display
            self.own, self.target = (
                view_of(display, picture, self._palette, tr(caption), improved=True)
                for picture, caption in zip((pictures.own, pictures.target), CAPTIONS, strict=True)
            )
            for holder, view in zip(self._holders, (self.own, self.target), strict=True):
                holder.insertWidget(0, view)
            self._fit()
        before = self._shown
        if before is None or before[0] is not pictures.own:
            show(self.own, pictures.own)
        if before is None or before[1] is not pictures.target:
            show(self.target, pictures.target, target=True)
        self._shown = (pictures.own, pictures.target)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Pictures as large as height and dials allow."""
        wide = (self.width() - DIALS_ROOM - 2 * theme.SPACE_M) / 2 - 2
        side = min(self.height() - CURVE_ROOM - CAPTION_ROOM, wide, MOST_SIDE)
        for view in (self.own, self.target):
            if view is not None:
                view.set_side(view.side_for(max(LEAST_SIDE, side)))


def show(view: ImageView | SeriesView, picture: Array, *, target: bool = False) -> None:
    """Show one picture or series alone; a target series has its band of allowed difference."""
    if target and isinstance(view, SeriesView):
        view.show_target(picture)
    else:
        view.show_picture(picture)


def discard(widget: QWidget) -> None:
    """Take a widget off the screen now and delete it when that is safe."""
    widget.hide()
    widget.deleteLater()


class QuietMirror(QWidget):
    """Everything that is no question: what is read, tried or answered."""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._of: object = None
        self._boxes: list[ImageView | SeriesView] = []
        self.headline = bits.label("", "title")
        self.text = bits.label("", "", wrap=True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_M, 0, 0)
        layout.setSpacing(theme.SPACE_M)
        layout.addWidget(self.headline)
        layout.addWidget(self.text)
        self._row = QHBoxLayout()
        self._row.setSpacing(theme.SPACE_M)
        layout.addLayout(self._row)
        layout.addStretch(1)

    def show_part(self, runner: Runner) -> None:
        """What is on the screen, in words, with the tutorial's pictures."""
        headline, text = describe(runner)
        bits.set_text(self.headline, headline)
        bits.set_text(self.text, text)
        part = runner.part
        boxes = (runner.pictures or ()) if isinstance(part, TutorialPart) else ()
        if part is not self._of or len(boxes) != len(self._boxes):
            self._begin(part, boxes)
        for view, picture in zip(self._boxes, boxes, strict=True):
            show(view, picture)

    def _begin(self, part: object, boxes: Sequence[Array]) -> None:
        self._of = part
        while (item := self._row.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                discard(widget)
        self._boxes = []
        if isinstance(part, TutorialPart) and boxes:
            name = tr("Tutorial box")
            for box, picture in zip(part.boxes, boxes, strict=True):
                view = view_of(box.display, picture, self._palette, name, improved=True)
                view.set_side(view.side_for(BOX_SIDE))
                self._boxes.append(view)
                self._row.addWidget(view)
            self._row.addStretch(1)


def describe(runner: Runner) -> tuple[str, str]:
    """What the participant has on the screen: a headline and details."""
    part, state = runner.part, runner.state
    if runner.finished:
        if state.withdrawal == "delete":
            return tr("The session is over"), tr(
                "Nothing that was recorded is kept once the console is closed."
            )
        return tr("The session is over"), tr("Everything that was recorded is kept.")
    if isinstance(part, BreakPart):
        text = tr("The participant rests and goes on when ready. Continue ends the break.")
        if part.at_least_s:
            least = wording.short_time(round(part.at_least_s * NS))
            text = tr(
                "The participant rests and may go on after {least}. Continue ends it at once.",
                least=least,
            )
        return wording.part_title(part.title), text
    if state.pending is not None and state.pending.what == "trial":
        return tr("Skipped"), tr("The participant skipped the question, and can take that back.")
    if state.pending is not None:
        return tr("Skipped"), tr("The participant sees a quiet screen until the part is skipped.")
    if state.pauses.paused:
        text = tr("The participant sees a quiet screen. Continue goes on where it was.")
        return tr("Paused"), text
    if part is None or not runner.ready:
        return tr("One moment"), tr("The next part is being made ready.")
    progress = progress_of(runner.machine, state)
    task = runner.machine.tasks[state.index]
    if isinstance(part, QuestionnairePart) and isinstance(task, QuestionnaireTask):
        now = state.part_state
        sheet = now if isinstance(now, QuestionnaireState) else QuestionnaireState()
        return part.title, "\n".join(sheet_lines(task.instrument, sheet))
    text = tr("On the screen: {progress}.", progress=progress) if progress else ""
    if progress == tr("reading"):
        text = tr("The participant reads a text.")
    if part.part == "consent":
        text = tr("The participant reads and signs the consent form.")
    return wording.part_title(part.title), text


def _place(part: str, number: int, of: int) -> str:
    return tr("{part} · question {number} of {all}", part=part, number=number, all=of)


class MirrorPanel(QFrame):
    """The card of the mirror. The session's state decides which of the mirrors is in front."""

    def __init__(
        self, palette: Palette, curve: Curve, stimuli: Stimuli, *, blind: bool = False
    ) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.trial = TrialMirror(palette, curve)
        self.quiet = QuietMirror(palette)
        self.title = bits.ElidedLabel("", "secondary")
        self.title.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.trial)
        self.stack.addWidget(self.quiet)
        self.question = QuestionMirror(palette)
        self.stack.addWidget(self.question)
        self.photo = JudgingMirror(palette)
        self.stack.addWidget(self.photo)
        self.warm_up = WarmUpMirror(palette)
        self.stack.addWidget(self.warm_up)
        self.stimulus = UnmaskingMirror(palette, stimuli, blind=blind)
        self.stack.addWidget(self.stimulus)
        self.interview = InterviewMirror(palette)
        self.stack.addWidget(self.interview)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        head = QHBoxLayout()
        head.addWidget(bits.label(tr("PARTICIPANT’S VIEW"), "section"))
        head.addWidget(self.title, 1)
        layout.addLayout(head)
        layout.addWidget(self.stack, 1)

    def show_session(self, runner: Runner) -> None:
        """Called when the runner's state or pictures changed."""
        part, now = runner.part, runner.state.part_state
        front = QUIET
        waits = runner.state.pauses.paused or runner.state.pending is not None
        title = "" if part is None else wording.part_title(part.title)
        match part if runner.ready and not waits else None:
            case ReconstructionPart() as part if isinstance(now, StageState) and now.trial:
                front = TRIAL
                self.trial.show_trial(part, now, now.trial, runner)
                title = _place(title, now.trial.number, part.trials)
            case SingleDimensionPart() as part if isinstance(now, SingleState) and now.trial:
                front = QUESTION
                self.question.show_question(part, now.trial, runner)
                title = _place(title, now.trial.number, part.trials)
            case JudgingPart() as part if isinstance(now, JudgingState) and now.trial:
                front = PHOTO
                self.photo.show_trial(part, now.trial, runner)
                number, of = now.trial.number, part.trials
                title = tr("{part} · photo {number} of {all}", part=title, number=number, all=of)
                if now.description:
                    title = tr("{place} · reads the description", place=title)
            case UnmaskingPart() as part if isinstance(now, UnmaskingState) and now.trial:
                front = STIMULUS
                self.stimulus.show_trial(part, now.trial, runner)
                number, of = part.first + now.trial.number, part.total
                title = tr("{part} · picture {number} of {all}", part=title, number=number, all=of)
            case InterviewPart() as part if isinstance(now, InterviewState):
                front = INTERVIEW
                self.interview.show_interview(part, now, sound=runner.recorder is not None)
            case WarmUpPart() as part if isinstance(now, JudgingState) and now.trial:
                front = WARM_UP
                self.warm_up.show_trial(part, now.trial)
                if now.trial.started_ns is not None:
                    number, of = now.trial.number, part.trials
                    title = tr(
                        "{part} · exercise {number} of {all}", part=title, number=number, all=of
                    )
            case _:
                self.quiet.show_part(runner)
        self.title.set_full(title)
        self.stack.setCurrentIndex(front)
