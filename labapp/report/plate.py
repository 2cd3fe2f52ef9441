"""A figure of the report that is a file of its own as well."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from labapp.figure_style import SECONDARY, STYLE
from labapp.report.drawing import svg_text, with_ids
from labapp.report.formats import count
from labapp.report.page import Html, figure

DPI = 200
DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'


@dataclass(frozen=True)
class Plate:
    """A figure with a file name of its own; label: what it shows, caption: how to read it."""

    name: str
    figure: Figure
    label: str
    caption: str

    @cached_property
    def svg(self) -> str:
        """As an `<svg>` element, drawn once for page and file."""
        with mpl.rc_context(STYLE):
            text = svg_text(self.figure)
        self.figure.set_layout_engine("none")  # it is laid out; again would take as long
        return text

    def html(self, prefix: str) -> Html:
        """For a page; prefix: of its ids."""
        return figure(with_ids(self.svg, f"{prefix}-{self.name}"), self.label, self.caption)

    def save(self, folder: Path) -> list[Path]:
        """As SVG and PNG; never over anything (FileExistsError)."""
        vector, picture = (folder / f"{self.name}.{ending}" for ending in ("svg", "png"))
        with vector.open("x", encoding="utf-8") as text:
            text.write(f"{DECLARATION}{self.svg}")
        FigureCanvasAgg(self.figure)
        with mpl.rc_context(STYLE), picture.open("xb") as file:
            self.figure.savefig(file, format="png", dpi=DPI)
        return [vector, picture]


def headed(figure: Figure, label: str, studies: str, people: int, programs: int) -> None:
    """Above a figure what it is and of whom, for where it stands alone. programs: how many of the
    participants are simulated."""
    simulated = f", {'all' if programs == people else programs} simulated" if programs else ""
    figure.suptitle(
        f"{label} · {studies}: {count(people, 'participant')}{simulated}",
        x=0.01,
        ha="left",
        fontsize=8.5,
        fontweight="normal",
        color=SECONDARY,
    )
