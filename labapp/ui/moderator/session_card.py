"""The home's card where study, participant and session are chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
)

from labapp.plugins.part import PlannedPart, stages_of
from labapp.study.people import Visits
from labapp.study.schema import Participants
from labapp.ui import theme
from labapp.ui.language import counted, tr
from labapp.ui.moderator import bits, checklist
from labapp.ui.moderator.checklist import Row
from labapp.ui.moderator.choices import StudyChoice
from labapp.ui.moderator.combo import Combo, Described, FindingCombo
from labapp.ui.moderator.part_words import words_of
from labapp.ui.theme import Palette
from labapp.ui.widgets.buttons import Button

LABEL_WIDTH = 92
NO_BREAK = "\N{NO-BREAK SPACE}"


class SessionCard(QFrame):
    """study_changed(id or path), participant_changed(participant, session): the person chose."""

    study_changed = Signal(str)
    participant_changed = Signal(str, str)

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._participants = Participants()
        self._taken: Mapping[str, Sequence[str]] = {}
        self._refused: Mapping[str, str] = {}
        self._visits = checklist.ANY_VISIT
        self._drawn: Sequence[str] = ()
        self._parts: Sequence[PlannedPart] = ()
        self._problem = ""
        self._proposed = ""
        self._pilots = False

        self.study = FindingCombo(palette, tr("Study"))
        self.study.setMinimumContentsLength(4)
        self.open_file = Button(tr("Open file…"))
        self.about = bits.label(role="secondary", wrap=True)
        self.study_note = bits.label(role="secondary", wrap=True)
        self.study_note.hide()
        self.participant = QLineEdit()
        self.participant.setAccessibleName(tr("Participant"))
        bits.limit(self.participant, 40)
        self.session = QLineEdit("1")
        self.session.setAccessibleName(tr("Session label"))
        bits.limit(self.session, 20)
        self.session.setFixedWidth(72)
        self.verdict = bits.label(role="secondary", wrap=True)
        self.order = bits.label(wrap=True)
        self.blind = QCheckBox(tr("Blind: do not name the models"))
        self.pilot = QCheckBox(tr("Pilot"))
        self.pilot.setToolTip(
            tr("A trial run, kept apart from the study. It is off again for the next session.")
        )

        layout = bits.column(self, theme.SPACE_L, theme.SPACE_XL)
        layout.addWidget(bits.label(tr("Session"), "title"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setVerticalSpacing(theme.SPACE_M)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self._name(tr("Study"), self.study), 0, 0)
        grid.addWidget(self.study, 0, 1)
        below = bits.column(None, theme.SPACE_XS)
        below.addWidget(self.about)
        below.addWidget(self.study_note)
        below.addWidget(self.open_file, 0, Qt.AlignmentFlag.AlignLeft)
        grid.addLayout(below, 1, 1)
        grid.addWidget(self._name(tr("Participant"), self.participant), 2, 0)
        who = bits.row(None, theme.SPACE_M)
        who.addWidget(self.participant, 1)
        who.addWidget(self._name(tr("Session"), self.session))
        who.addWidget(self.session)
        grid.addLayout(who, 2, 1)
        grid.addWidget(self.verdict, 3, 1)
        grid.addWidget(self._name(tr("Order")), 4, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.order, 4, 1)
        grid.addWidget(self.blind, 5, 1)
        grid.addWidget(self.pilot, 6, 1)
        layout.addLayout(grid)

        self.study.activated.connect(self._study_chosen)
        self.open_file.clicked.connect(self._choose_file)
        self.participant.textEdited.connect(self._participant_edited)
        self.session.textEdited.connect(self._participant_edited)
        self.blind.toggled.connect(self._show_order)
        self._show_verdict()

    def _name(self, text: str, buddy: object = None) -> QLabel:
        made = bits.label(text)
        made.setProperty("role", "field")
        if isinstance(buddy, Combo | QLineEdit):
            made.setBuddy(buddy)
        return made

    def set_studies(self, choices: Sequence[StudyChoice], current: str) -> None:
        """The studies to choose from; current: the `study` of the one that is chosen."""
        self.study.set_choices([(c.title, c.study) for c in choices], current)

    def set_describe(self, describe: Callable[[str], Described], groups: Sequence[str]) -> None:
        """What the list of studies says of each, by its id or path; groups: its headings."""
        self.study.describe, self.study.groups = describe, groups

    def set_about(self, text: str) -> None:
        """A line about the chosen study."""
        bits.set_text(self.about, text)

    def set_participants(
        self,
        participants: Participants,
        taken: Mapping[str, Sequence[str]],
        refused: Mapping[str, str],
        *,
        pilot: bool = False,
        visits: Visits = checklist.ANY_VISIT,
    ) -> None:
        """How participants are named, which have sessions, and which may have none (see
        `session.folder.refused`); proposes the next free id unless the person typed one. pilot: all
        of this is of pilots; visits: the study's sessions."""
        self._participants, self._taken, self._refused = participants, taken, refused
        self._visits = visits
        untouched = self.participant.text() in ("", self._proposed) or pilot != self._pilots
        self._pilots = pilot
        self._proposed = participants.next_free([*taken, *refused], pilot=pilot)
        if untouched:
            self.participant.setText(self._proposed)
        self._show_verdict()

    def set_plan(
        self, parts: Sequence[PlannedPart], problem: str = "", drawn: Sequence[str] = ()
    ) -> None:
        """The plan realised for the participant; problem: why there is none; drawn: its conditions,
        which are only reserved when the session starts."""
        self._parts, self._problem, self._drawn = parts, problem, drawn
        self._show_order()

    def participant_row(self) -> Row:
        """Whether the typed participant can have this session."""
        return checklist.participant_row(
            self._participants,
            self._taken,
            self.participant.text().strip(),
            self.session_label,
            self._refused,
            pilot=self._pilots,
            visits=self._visits,
        )

    def plan_row(self) -> Row:
        """Whether the study can be run for this participant."""
        if self._problem or not self._parts:
            return Row("plan", "missing", self._problem or tr("No study is chosen."))
        return Row("plan", "ok", "")

    @property
    def session_label(self) -> str:
        return self.session.text().strip()

    def _study_chosen(self, index: int) -> None:
        self.study_changed.emit(str(self.study.itemData(index)))

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, tr("Open a study file"), str(Path.home()), f"{tr('Studies')} (*.yaml *.yml)"
        )
        if path:
            self.choose_file(Path(path))

    def choose_file(self, path: Path) -> None:
        """Ask for a study file of the lab's own, which is then one more of the choices."""
        self.study_changed.emit(str(path))

    def set_study_note(self, text: str) -> None:
        """A line below the study; empty for none."""
        bits.set_text(self.study_note, text)
        self.study_note.setVisible(bool(text))

    def _participant_edited(self) -> None:
        self._show_verdict()
        self.participant_changed.emit(self.participant.text().strip(), self.session_label)

    def _show_verdict(self) -> None:
        row = self.participant_row()
        bits.set_property(self.verdict, "tone", "" if row.state == "ok" else "alarm")
        bits.set_text(self.verdict, row.text)

    def _show_order(self) -> None:
        if self._problem:
            bits.set_property(self.order, "tone", "alarm")
            bits.set_text(self.order, self._problem)
            return
        bits.set_property(self.order, "tone", "")
        # The blocks of a stage are one.
        stages = {number: blocks[-1] for number, blocks in stages_of(self._parts).items()}
        if self.blind.isChecked():
            text = counted(
                len(stages), "{n} stage, hidden while blind", "{n} stages, hidden while blind"
            )
        else:
            text = "  →  ".join(
                f"{part.number}{NO_BREAK}{words_of(part).subject(part)}" for part in stages.values()
            )
            if self._drawn:
                text += "\n" + tr(
                    "Drawn for now: {conditions}. A session that starts first may change that.",
                    conditions=", ".join(self._drawn),
                )
        bits.set_text(self.order, text or tr("No stages"))
