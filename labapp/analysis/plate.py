"""A figure of the report that is a file of its own as well."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from labapp.analysis.figures import Drawing, svg_of
from labapp.figure_style import STYLE

DPI = 200


@dataclass(frozen=True)
class Plate:
    """A figure with a file name of its own; label: what it shows, caption: how to read it."""

    name: str
    figure: Figure
    label: str
    caption: str

    def drawing(self, prefix: str) -> Drawing:
        """For a page; prefix: of its ids."""
        with mpl.rc_context(STYLE):
            return Drawing(svg_of(self.figure, f"{prefix}-{self.name}"), self.label)

    def save(self, folder: Path) -> list[Path]:
        """As SVG and PNG; never over anything (FileExistsError)."""
        paths = [folder / f"{self.name}.{ending}" for ending in ("svg", "png")]
        FigureCanvasAgg(self.figure)
        with mpl.rc_context(STYLE):
            for path in paths:
                with path.open("xb") as file:
                    facts = {"Date": None} if path.suffix == ".svg" else None
                    ending = path.suffix.removeprefix(".")
                    self.figure.savefig(file, format=ending, dpi=DPI, metadata=facts)
        return paths
