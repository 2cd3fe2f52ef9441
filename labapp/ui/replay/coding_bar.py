"""The head of a coding: who codes, what is hidden, how far it is, and whether it is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from labapp.ui import theme
from labapp.ui.language import N_, counted, number, tr
from labapp.ui.moderator import bits
from labapp.ui.replay.coding import Coding
from labapp.ui.replay.transport import Chip
from labapp.ui.widgets.controls import Button

if TYPE_CHECKING:
    from labapp.coding.annotations.reliability.so_far import SoFar

ROUND_NAMES = {
    "training": N_("coding.round.training"),
    "independent": N_("coding.round.independent"),
    "reconciled": N_("coding.round.reconciled"),
}
BLINDING_NAMES = {
    "names": N_("coding.hides.names"),
    "outcomes": N_("coding.hides.outcomes"),
    "future": N_("coding.hides.future"),
    "screen": N_("coding.hides.screen"),
}


class CodingBar(QWidget):
    """Signals
    -------
    done_pressed() : the rater wants to be done, or to go on.
    find_pressed() : something is to be searched for.
    exchange_pressed() : something is to go out to other tools, or to come in.
    """

    done_pressed = Signal()
    find_pressed = Signal()
    exchange_pressed = Signal()

    def __init__(self, coding: Coding) -> None:
        super().__init__()
        self._coding = coding
        self.rater, self.hidden, self.codebook, self.progress, self.mode, self.agreement = (
            Chip("") for _ in range(6)
        )
        self.saved = bits.label(role="caption")
        self.search = Button(tr("button.find"), "chip")
        self.exchange = Button(tr("button.exchange"), "chip")
        self.done = Button(tr("coding.finish_ask"), "compact")
        row = bits.row(self, theme.SPACE_S)
        chips = (self.rater, self.mode, self.hidden, self.codebook, self.progress, self.agreement)
        for chip in chips:
            row.addWidget(chip)
        row.addWidget(self.done)  # not in the corner, where the window is closed
        row.addSpacing(theme.SPACE_M)
        row.addStretch(1)
        for widget in (self.saved, self.search, self.exchange):
            row.addWidget(widget)
        self.setFixedHeight(theme.TARGET_HEIGHT)
        self.done.clicked.connect(self.done_pressed)
        self.search.clicked.connect(self.find_pressed)
        self.exchange.clicked.connect(self.exchange_pressed)
        coding.state_changed.connect(self.show_state)
        coding.units_changed.connect(self.show_state)
        self.show_state()

    def set_narrow(self, narrow: bool) -> None:
        """Leave out what can be done without where there is little room."""
        for widget in (self.codebook, self.search):
            widget.setVisible(not narrow)

    def show_state(self) -> None:
        coding = self._coding
        request = coding.request
        self.rater.set_full(f"{request.rater} · {tr(ROUND_NAMES[request.round])}")
        self.hidden.set_full(hidden_text(coding.blind))
        names = [tr(text) for name, text in BLINDING_NAMES.items() if name in coding.blind]
        self.hidden.setToolTip(tr("coding.hidden", what=", ".join(names)) if names else "")
        self.codebook.set_full(tr("coding.codebook_version", n=coding.codebook.version))
        self.codebook.setToolTip(f"{coding.codebook.title} · {coding.codebook.sha256[:12]}")
        coded, of = coding.progress()
        self.progress.set_full(tr("coding.units_of", n=coded, of=of))
        self.mode.set_full(self._mode())
        self.mode.setVisible(bool(self.mode.full()))
        self._show_agreement()
        bits.set_text(self.saved, self._saved())
        bits.set_property(self.saved, "tone", "alarm" if coding.files.problem else "")
        draft = coding.status == "draft"
        self.done.setText(tr("coding.finish_ask") if draft else tr("coding.go_on"))
        self.done.setVisible(coding.status != "locked" and coding.files.marks is not None)

    def _mode(self) -> str:
        coding = self._coding
        if coding.mode == "segment":
            begun = coding.segmenting.begun_ns is not None
            return tr("coding.unit_begun") if begun else tr("coding.segmenting")
        if coding.queue is not None and not coding.recoding:
            return tr("coding.assigned_alone")
        if coding.queue is not None:
            return counted(len(coding.queue), "coding.units_to_recode")
        if n := len(coding.files.segmentation.proposals):
            return counted(n, "coding.changes_proposed")
        return ""

    def _show_agreement(self) -> None:
        """Of the active tier; of every tier beside it."""
        coding = self._coding
        here = next((each for each in coding.agreement if each.tier.name == coding.tier), None)
        self.agreement.setVisible(here is not None)
        if here is not None:
            self.agreement.set_full(tr("coding.agreement", value=_value(here)))
        lines = [tr("coding.training_note")]
        lines += [
            tr(
                "coding.agreement_tip",
                tier=each.tier.title,
                measure=each.result.measure,
                value=_value(each),
                n=each.result.n_comparable,
                raters=", ".join(each.raters),
            )
            + (f" ({each.result.reason})" if each.result.reason else "")
            for each in coding.agreement
        ]
        self.agreement.setToolTip("\n".join(lines))

    def _saved(self) -> str:
        coding = self._coding
        if coding.files.problem:
            return tr("coding.state.unsaved")
        state = {"draft": "", "done": tr("outcome.done"), "locked": tr("coding.state.locked")}[
            coding.status
        ]
        saved = tr("coding.state.saved") if coding.files.saved else tr("coding.state.saving")
        return " · ".join(filter(None, (state, saved)))


def hidden_text(blind: frozenset[str]) -> str:
    """What a rater is not shown, as a chip: the screen itself may tell the condition, so that it is
    not called blind before the screen is hidden, too."""
    if not blind:
        return tr("coding.blind.nothing")
    if "screen" in blind:
        return tr("coding.blind.screen")
    return tr("coding.blind.names") if "names" in blind else tr("coding.blind.partly")


def _value(agreement: SoFar) -> str:
    value = agreement.result.value
    return "–" if value is None else number(f"{value:.2f}")
