"""The figures of models that are compared, as the report's page has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from labapp.report.page import Html, heading

if TYPE_CHECKING:  # matplotlib is slow to load
    from labapp.report.drawing import ReportFigure

BOXES, PAIRS, CHANGES = "metrics", "differences", "changes"
DIMENSIONS, RATINGS = "dimensions", "ratings"


class Drawings:
    """Those of one study and task by what they are of, each to be placed beside the table of its
    numbers; nothing where there is no figure. anchor: prefix of the page's ids."""

    def __init__(self, plates: Mapping[str, ReportFigure], anchor: str) -> None:
        self._plates = plates
        self._anchor = anchor

    def metrics(self, above: str) -> Iterator[Html]:
        """Before the tables: every metric by model. above: the heading that stands above."""
        yield from self._of(BOXES, above)

    def differences(self) -> Iterator[Html]:
        """After the tests: the pairs, and what participants said of the models."""
        yield from self._of(PAIRS)
        yield from self._of(RATINGS)

    def changes(self, above: str) -> Iterator[Html]:
        """After the table of changes. above: the heading that stands above."""
        yield from self._of(CHANGES, above)

    def dimensions(self) -> Iterator[Html]:
        yield from self._of(DIMENSIONS)

    def _of(self, kind: str, above: str = "") -> Iterator[Html]:
        if (plate := self._plates.get(kind)) is not None:
            if plate.label != above:
                yield heading(4, plate.label)
            yield plate.html(self._anchor)
