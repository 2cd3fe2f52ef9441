"""The home's page on the chosen study: its parts, and what each dial of its models does."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from labapp.plugins.part import PlannedPart, with_trials
from labapp.plugins.part import stages_of as blocks_by_stage
from labapp.representations.card import ModelCard
from labapp.representations.sheets import TraversalSheet, brief
from labapp.study.schema import Study
from labapp.ui import theme
from labapp.ui.language import N_, counted, number, tr
from labapp.ui.moderator import bits, wording
from labapp.ui.moderator.part_words import words_of
from labapp.ui.moderator.study_making import StudyMaking
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button
from labapp.ui.widgets.traversals import TraversalView

SOUND = {
    "required": N_("sound required"),
    "optional": N_("sound optional"),
    "off": N_("no sound"),
}
UNBLINDS = N_(
    "This session is to be blind, and the preview shows what is hidden then: which representations "
    "and explanations the participant gets."
)
BLIND = N_(
    "Hidden while the session is blind: the pictures would tell which representation is on the "
    "participant’s screen."
)
SOURCES = {"prior": N_("the prior"), "sample": N_("the held-out sample")}


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
    facts = [card.title]
    error = card.held_out_error
    if error is not None and error.as_published is not None:
        ours = number(f"{error.as_published:.3g}")
        text = tr("held-out error {error}", error=ours)
        if error.published is not None:
            paper = number(f"{error.published:g}")
            text = tr("held-out error {error} (in the paper {paper})", error=ours, paper=paper)
        facts.append(text)
    return "  ·  ".join(facts)


def about(sheet: TraversalSheet, states: int) -> str:
    """What a drawing of a sheet shows that has room for so many states."""
    text = counted(
        states,
        "Each row turns one dial and leaves the others, at {n} state drawn from {source}.",
        "Each row turns one dial and leaves the others, at {n} states drawn from {source}.",
        source=tr(SOURCES["prior" if sheet.sampling == "prior" else "sample"]),
    )
    if sheet.display != "series":
        return text
    low, high = (number(brief(value)) for value in sheet.chart)
    return f"{text} {tr('Charts: y from {low} to {high}.', low=low, high=high)}"


class SheetCard(QFrame):
    """One model: its id, what is known of it, and its sheet once it is made."""

    def __init__(self, model: str, palette: Palette) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._palette = palette
        self.sheet: TraversalView | None = None
        self.facts = bits.label(role="secondary", wrap=True)
        self.note = bits.label(tr("Its pictures are being made …"), "secondary", wrap=True)
        self.column = bits.column(self, theme.SPACE_XS, theme.SPACE_XL)
        self.column.addWidget(bits.label(model, "title"))
        self.column.addWidget(self.facts)
        self.column.addWidget(self.note)
        self.facts.hide()

    def show_sheet(self, sheet: TraversalSheet, facts: str) -> None:
        if self.sheet is not None and self.sheet.sheet is sheet:
            return
        shown = TraversalView(sheet, self._palette)
        if self.sheet is None:
            self.column.addSpacing(theme.SPACE_M)
            self.column.addWidget(shown)
        else:  # of another model of the same id
            self.column.replaceWidget(self.sheet, shown)
            self.sheet.deleteLater()
        self.sheet = shown
        bits.set_property(self.note, "tone", "")
        bits.set_text(self.facts, facts)
        self.facts.show()
        self.sheet.placed.connect(self._say_states)
        self._say_states()

    def show_problem(self, text: str) -> None:
        bits.set_property(self.note, "tone", "alarm")
        bits.set_text(self.note, text)

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
    """Told through its setters, as the home is.

    Signals
    -------
    preview_requested()
        Show what the participant would see; while the session is blind, only when asked twice.
    """

    preview_requested = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette
        self._models: list[str] = []
        self._stages: list[tuple[str, str]] = []
        self._planned = self._previewing = False
        self.cards: dict[str, SheetCard] = {}
        self.stages: list[QFrame] = []
        self.setProperty("role", "page")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("The study and its models"))
        about = bits.card()
        self.title = bits.label(role="title", wrap=True)
        self.facts = bits.label(role="secondary", wrap=True)
        self.flow = bits.label(wrap=True)
        head = about.layout()
        assert isinstance(head, QVBoxLayout)
        head.setSpacing(theme.SPACE_S)
        self.preview = Button(tr("Preview"))
        self.preview.setEnabled(False)
        self.preview.clicked.connect(self._ask_preview)
        top = QHBoxLayout()
        top.addWidget(self.title, 1)
        top.addWidget(self.preview, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(top)
        head.addWidget(self.facts)
        head.addWidget(self.flow)
        self.unblinds = QWidget()
        question = QHBoxLayout(self.unblinds)
        question.setContentsMargins(0, 0, 0, 0)
        question.addWidget(bits.label(tr(UNBLINDS), wrap=True), 1)
        self.all_the_same = Button(tr("Show it all the same"))
        self.all_the_same.clicked.connect(self._preview)
        question.addWidget(self.all_the_same)
        head.addWidget(self.unblinds)
        self.unblinds.hide()
        self._is_blind = False
        self.blind = bits.card()
        body = self.blind.layout()
        assert body is not None
        body.addWidget(bits.label(tr(BLIND), "secondary", wrap=True))
        self.blind.hide()
        self.sheets = QWidget()
        self.stack = bits.column(self.sheets, theme.SPACE_L)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)  # in line with what stands above the page
        column.setSpacing(theme.SPACE_L)
        self.making = StudyMaking(palette)
        # What appeared has its room once the page is laid out again.
        self.making.opened.connect(
            lambda part: QTimer.singleShot(0, part, lambda: self.ensureWidgetVisible(part))
        )
        for part in (about, self.making, self.blind, self.sheets):
            column.addWidget(part)
        column.addStretch(1)
        self.setWidget(inside)

    def set_study(self, study: Study) -> None:
        bits.set_text(self.title, study.title)
        version = tr("{study}, version {version}", study=study.id, version=study.version)
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
        bits.set_property(self.flow, "tone", "alarm" if problem else "")
        bits.set_text(self.flow, problem or flow_of(parts))
        self._set_stages(stages_of(parts))
        models = models_shown(parts)
        if models == self._models:
            return
        self._models = models
        for card in self.cards.values():
            self.stack.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = {model: SheetCard(model, self._palette) for model in models}
        for card in self.cards.values():
            self.stack.addWidget(card)
        self.verticalScrollBar().setValue(0)

    def _set_stages(self, wanted: list[tuple[str, str]]) -> None:
        """A card, title and facts, for each stage about pictures of a stimulus set."""
        if wanted == self._stages:
            return
        self._stages = wanted
        for card in self.stages:
            self.stack.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.stages = []
        for title, facts in wanted:
            card = bits.card()
            inside = card.layout()
            assert inside is not None
            inside.addWidget(bits.label(title, "title"))
            inside.addWidget(bits.label(facts, "secondary", wrap=True))
            self.stack.addWidget(card)
            self.stages.append(card)

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
        self.preview.setText(tr("Preview started …") if previewing else tr("Preview"))

    def _ask_preview(self) -> None:
        if self._is_blind:
            self.unblinds.show()
            self.all_the_same.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self._preview()

    def _preview(self) -> None:
        self.unblinds.hide()
        self.preview_requested.emit()
