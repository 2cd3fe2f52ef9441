"""The sessions of a study with what their data are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QAbstractItemView, QTableWidgetItem

from labapp.records.sessions import SessionSummary
from labapp.ui.language import N_, counted, number, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.choices import length_text, state_text
from labapp.ui.moderator.session_table import SIGNS, TONES, Rows
from labapp.ui.researcher.results import Key, Quality
from labapp.ui.theme import Palette

COLUMNS = (N_("Id"), N_("State"), N_("Length"), N_("Quality"))


def key_of(line: SessionSummary) -> Key:
    return line.study, line.participant, line.session


def usable(line: SessionSummary) -> bool:
    """Whether a session goes into results and exports when nothing is selected: it stands still, is
    whole, and nobody withdrew from it."""
    return line.state not in ("running", "damaged") and not line.withdrawn


def marks(line: SessionSummary, quality: Quality | None) -> tuple[str, str]:
    """What is to be known of a session's data, and its tone (good, warn, alarm or '').

    quality: None where the session was not analysed yet; then what the list itself knows."""
    if line.problem:
        return line.problem, "alarm"
    if quality is None:
        lost = line.lost_s
        return (_lost(lost), "warn") if lost else ("", "")
    said = []
    if not quality.counts:
        said.append(tr("does not count"))
    if quality.simulated:
        said.append(tr("simulated"))
    if quality.lost_s:
        said.append(_lost(quality.lost_s))
    elif not quality.sound_s:
        said.append(tr("no sound"))
    if quality.gaps:
        said.append(counted(quality.gaps, "{n} interruption", "{n} interruptions"))
    if quality.deviations:
        said.append(counted(quality.deviations, "{n} deviation", "{n} deviations"))
    poor = not quality.counts or quality.lost_s > 0 or quality.gaps > 0
    if not said:
        return tr("nothing amiss"), "good"
    return " · ".join(said), "warn" if poor else ""


def details(line: SessionSummary, quality: Quality | None) -> str:
    """All of it, with reasons and places, for the tool tip: a narrow column cuts the marks off."""
    said = [f"{line.id}", f"{tr('Started')}: {wording.local_time(line.started)}"]
    if known := marks(line, quality)[0]:
        said.append(known)
    if quality is not None and quality.excluded_because:
        said.append(tr("Does not count: {why}", why=quality.excluded_because))
    if quality is not None and quality.gaps:
        seconds = number(f"{quality.gap_s:.0f}")
        said.append(tr("Interrupted for {seconds} s in all", seconds=seconds))
    if line.exported:
        said.append(tr("Exported to {path}", path=", ".join(line.exported)))
    return "\n".join(said)


def _lost(seconds: float) -> str:
    return tr("{seconds} s of sound lost", seconds=number(f"{seconds:.1f}"))


class SessionList(Rows):
    """Several may be selected; nothing selected stands for all."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(COLUMNS, tr("Sessions of the study"), ("Quality",))
        self._palette = palette
        self.lines: tuple[SessionSummary, ...] = ()
        self._quality: Mapping[Key, Quality] = {}
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    def set_lines(
        self, lines: Sequence[SessionSummary], quality: Mapping[Key, Quality] | None = None
    ) -> None:
        """Show these sessions in this order; what was selected stays so."""
        quality = quality or {}
        if tuple(lines) == self.lines and quality == self._quality:
            return
        chosen = {line.path for line in self.selected()}
        self.lines, self._quality = tuple(lines), quality
        self.setRowCount(len(self.lines))
        for row, line in enumerate(self.lines):
            known = quality.get(key_of(line))
            said, tone = marks(line, known)
            texts = (
                line.participant + ("" if line.session == "1" else f" · {line.session}"),
                f"{SIGNS[line.state]}  {state_text(line)}",
                length_text(line),
                said,
            )
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setToolTip(details(line, known))
                self.setItem(row, column, item)
            if line.state in TONES:
                self._tint(row, 1, TONES[line.state])
            if tone:
                self._tint(row, 3, tone)
        for row, line in enumerate(self.lines):
            if line.path in chosen:
                for column in range(len(COLUMNS)):
                    self._cell(row, column).setSelected(True)

    def _tint(self, row: int, column: int, tone: str) -> None:
        self._cell(row, column).setForeground(QColor(getattr(self._palette, tone)))

    def _cell(self, row: int, column: int) -> QTableWidgetItem:
        found = self.item(row, column)
        assert found is not None
        return found

    def selected(self) -> list[SessionSummary]:
        """The sessions of the selected rows, in the list's order."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.lines[row] for row in rows if row < len(self.lines)]
