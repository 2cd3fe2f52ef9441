"""Figures as SVG text, drawn without pyplot: nothing global is touched and any thread may draw.

matplotlib is slow to load: nothing imports this module before a figure is due.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from labapp.report.page import Html, figure

WIDTH_IN = 10.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """svg: an inline `<svg>` element; label: what it shows, in words."""

    svg: str
    label: str

    def html(self, caption: str, more: str = "") -> Html:
        """For a page; more: put behind the label for those who hear it."""
        return figure(self.svg, f"{self.label}{more}", caption)


def model_names(models: Sequence[str]) -> list[str]:
    """Ids of models as a figure's axis says them, without the data set where all have the same."""
    if len({model.split("/", 1)[0] for model in models}) == 1:
        return [model.split("/", 1)[-1] for model in models]
    return [model.replace("/", "/\n") for model in models]


def svg_of(figure: Figure, name: str) -> str:
    """The figure as an element that can stand in a page beside others: ids carry its name."""
    return with_ids(svg_text(figure), name)


def svg_text(figure: Figure) -> str:
    """The figure as an `<svg>` element."""
    stream = io.StringIO()
    figure.savefig(
        stream,
        format="svg",
        metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
    )
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"(\d\.\d\d)\d+", r"\1", text)  # a hundredth of a point is fine enough
    return re.sub(r"\n\s+", "\n", text)


def with_ids(text: str, name: str) -> str:
    """An `<svg>` element with a name before all of its ids."""
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    return re.sub(r"url\(#", f"url(#{name}-", text)
