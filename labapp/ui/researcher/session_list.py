"""The sessions of a study with what their data are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QAbstractItemView

from labapp.journal.sessions import SessionSummary
from labapp.ui.language import N_, counted, number, tr
from labapp.ui.moderator import wording
from labapp.ui.moderator.session_table import ID, LENGTH, STATE, Column, SessionView
from labapp.ui.researcher.results import Key, Quality
from labapp.ui.theme import Palette


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
    result = []
    if not quality.counts:
        result.append(tr("does not count"))
    if quality.simulated:
        result.append(tr("simulated"))
    if quality.lost_s:
        result.append(_lost(quality.lost_s))
    elif not quality.sound_s:
        result.append(tr("no sound"))
    if quality.gaps:
        result.append(counted(quality.gaps, "{n} interruption", "{n} interruptions"))
    if quality.deviations:
        result.append(counted(quality.deviations, "{n} deviation", "{n} deviations"))
    poor = not quality.counts or quality.lost_s > 0 or quality.gaps > 0
    if not result:
        return tr("nothing amiss"), "good"
    return " · ".join(result), "warn" if poor else ""


def details(line: SessionSummary, quality: Quality | None) -> str:
    """All of it, with reasons and places, for the tool tip: a narrow column cuts the marks off."""
    lines = [f"{line.id}", f"{tr('Started')}: {wording.local_time(line.started)}"]
    if known := marks(line, quality)[0]:
        lines.append(known)
    if quality is not None and quality.excluded_because:
        lines.append(tr("Does not count: {why}", why=quality.excluded_because))
    if quality is not None and quality.gaps:
        seconds = number(f"{quality.gap_s:.0f}")
        lines.append(tr("Interrupted for {seconds} s in all", seconds=seconds))
    if line.exported:
        lines.append(tr("Exported to {path}", path=", ".join(line.exported)))
    return "\n".join(lines)


def _lost(seconds: float) -> str:
    return tr("{seconds} s of sound lost", seconds=number(f"{seconds:.1f}"))


class SessionList(SessionView):
    """Several may be selected; nothing selected stands for all."""

    def __init__(self, palette: Palette) -> None:
        self._quality: Mapping[Key, Quality] = {}
        quality = Column(
            N_("Quality"),
            lambda line: self._marks(line)[0],
            tone=lambda line: self._marks(line)[1],
            tip=lambda line: details(line, self._quality.get(key_of(line))),
            wide=True,
        )
        columns = (ID, STATE, LENGTH, quality)
        super().__init__(columns, tr("Sessions of the study"), palette)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    def _marks(self, line: SessionSummary) -> tuple[str, str]:
        return marks(line, self._quality.get(key_of(line)))

    def set_lines(
        self, lines: Sequence[SessionSummary], quality: Mapping[Key, Quality] | None = None
    ) -> None:
        """Show these sessions in this order; what was selected stays so."""
        quality = quality or {}
        if quality == self._quality:
            super().set_lines(lines)
            return
        self._quality = quality
        self.keeping(lambda: self.sessions.set_lines(lines))
