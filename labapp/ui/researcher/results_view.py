"""The results of a study so far: its means."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from labapp.ui import theme
from labapp.ui.language import N_, number, tr
from labapp.ui.moderator import bits
from labapp.ui.researcher.quantities import group_text, title, unit_text
from labapp.ui.researcher.results import Line, Results
from labapp.ui.researcher.scrolled import Scrolled

HEADINGS = (N_("Of"), "n", N_("Mean ± sd"), N_("Median"))
DECIMALS = ((100, 0), (10, 1), (1, 2))
"""So many decimals from such a size on; 3 below."""
WIDTHS = (theme.SPACE_XXL, 3 * theme.SPACE_XXXL - theme.SPACE_S, theme.SPACE_XXXL + theme.SPACE_L)
"""Least widths of the columns of numbers, so that they stand below each other."""
SHORT = 6
"""Characters of a unit that stands above the last column alone."""


def value(size: float | None, like: float | None = None) -> str:
    """A number with as many decimals as it needs to be compared; like: the number whose decimals
    are to be used (a mean's, for its standard deviation)."""
    if size is None:
        return "–"
    deciding = abs(size if like is None else like) or abs(size)
    decimals = next((some for limit, some in DECIMALS if deciding >= limit), 3) if deciding else 0
    return number(f"{size:,.{decimals}f}").replace("-", "−")


def spread(line: Line) -> str:
    """Mean and sample standard deviation."""
    return (
        value(line.mean) if line.sd is None else f"{value(line.mean)} ± {value(line.sd, line.mean)}"
    )


class ResultsView(Scrolled):
    """Means by measure."""

    def __init__(self) -> None:
        super().__init__(tr("Results so far"))
        self.show_text("")

    def show_text(self, text: str) -> None:
        """A sentence in place of results."""
        layout = self.begin()
        layout.addWidget(bits.label(text, "secondary", wrap=True))
        layout.addStretch(1)

    def show_results(self, results: Results, study: str) -> None:
        """The means of a study."""
        lines = [line for line in results.lines if study in line.study.split(" + ")]
        if not lines:
            self.show_text(tr("No session counts yet, or none asked a question."))
            return
        layout = self.begin()
        # Where nothing has a median (of judged and masked pictures) there is no column for it.
        columns = 3 if any(line.median is not None for line in lines) else 2
        for group, own in groupby(lines, key=lambda line: line.group):
            if group:
                layout.addWidget(bits.label(group_text(group), "heading", wrap=True))
            for (quantity, unit), some in groupby(own, key=lambda row: (row.quantity, row.unit)):
                layout.addWidget(_measure(quantity, unit, list(some), columns))
        layout.addStretch(1)


def _measure(quantity: str, unit: str, lines: Sequence[Line], columns: int) -> QWidget:
    """One measure: a row for each model. columns: of numbers."""
    box = QWidget()
    grid = QGridLayout(box)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme.SPACE_L)
    grid.setVerticalSpacing(theme.SPACE_XS)
    grid.setColumnStretch(0, 1)
    for column, width in enumerate(WIDTHS[:columns], start=1):
        grid.setColumnMinimumWidth(column, width)
    phrase = unit_text(unit)
    wide = 1 if len(phrase) > SHORT else columns  # of the title; the unit has the rest
    grid.addWidget(bits.label(title(quantity), "strong", wrap=True), 0, 0, 1, wide)
    right = _right(bits.label(phrase, "secondary", wrap=True))
    grid.addWidget(right, 0, wide, 1, columns + 1 - wide)
    for column, text in enumerate(HEADINGS[: columns + 1]):
        head = bits.label(text if text == "n" else tr(text), "caption")
        grid.addWidget(head if column == 0 else _right(head), 1, column)
    for row, line in enumerate(lines, start=2):
        grid.addWidget(bits.ElidedLabel(line.of or tr("all")), row, 0)
        numbers = (str(line.n), spread(line), value(line.median))
        for column, text in enumerate(numbers[:columns], start=1):
            grid.addWidget(_right(bits.label(text)), row, column)
    return box


def _right(label: QLabel) -> QLabel:
    label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return label
