"""The look of figures on paper, for matplotlib: the report's and the sheets of models.

Ink on white with the colours of the screens; no colour carries meaning alone.
"""

from __future__ import annotations

from typing import Any

INK, SECONDARY, HAIRLINE, ACCENT = "#1F2328", "#57606A", "#D8DEE4", "#1F5FD6"
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": SECONDARY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "xtick.color": SECONDARY,
    "ytick.color": SECONDARY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    # Names are of studies and people: a $ in them begins no formula.
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "labapp",
}
