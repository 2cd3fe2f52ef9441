"""The report's section on adaptive stages (ours): thresholds by what was asked about, and every
track.

How often answers are right is no result there, since the rule keeps it at its target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from labapp.analysis.tables import Tables
from labapp.base.figure_style import ACCENT, SECONDARY, style
from labapp.base.report import kit
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.labels import place_of
from labapp.base.report.listing import NONE
from labapp.base.report.page import Html, count, decimal, heading, paragraph, table, two_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICKS = 7
"""The most numbers on an axis of levels."""
TITLE = "Thresholds of adaptive stages (ours)"
ABOUT = (
    "A rule chose what was shown next from the answers so far. The threshold is the level at "
    "which the share of right answers equals the target, by the estimator that the study "
    "declares. A participant's tracks in a row are averaged on the scale of the rule, and "
    "so are the participants; brackets show the 95 % interval over participants (Student's t). "
    "A threshold above the highest level was not reached: so many answers were right at no level. "
    "It is shown as > and that level, since a number beyond it is extrapolated. The share of right "
    "answers is not a result here, because the rule keeps it at its target. Every track is in the "
    "table tracks."
)


@dataclass(frozen=True)
class AskedAbout:
    """What the tracks of a task ask about. name: for figures; tasks: as tables call them; about:
    what each track is of; level: what the levels are."""

    name: str
    tasks: Sequence[str]
    about: str
    level: str

    def of_stages(self, tables: Tables) -> pd.DataFrame:
        """Its tracks in stages, practice left out."""
        own = tables.tracks
        return own[(own["role"] == "stage") & own["task"].isin(self.tasks)]


def show(asked: AskedAbout, counted: Tables, anchor: str) -> Iterator[Html]:
    """The section of one study; nothing where it has no adaptive stage."""
    own = asked.of_stages(counted)
    if own.empty:
        return
    yield heading(3, TITLE)
    yield paragraph(ABOUT)
    yield show_thresholds(asked, own)
    for plate in plates(asked, counted):
        yield plate.html(anchor)


def show_thresholds(asked: AskedAbout, own: pd.DataFrame) -> Html:
    """A row for each thing that is asked about, rule and target."""
    rows = []
    for (model, about, rule, scale, _), some in own.groupby(
        ["model", "about", "rule", "scale", "target"], sort=True, dropna=False
    ):
        value, low, high = average([*some.groupby("participant")], str(scale))
        ended = some["ended_by"].fillna("not ended").value_counts().sort_index()
        target = some["target"].iloc[0]
        within = float(some["lowest_level"].min()), float(some["highest_level"].max())
        shown = NONE if value is None else describe_level(value, *within)
        ends = NONE
        if low is not None and high is not None:
            ends = f"[{describe_level(low, *within)}, {describe_level(high, *within)}]"
        rows.append(
            [
                two_lines(str(about), str(rule)),
                str(model),
                f"{some['participant'].nunique():,}",
                f"{len(some):,}",
                NONE if pd.isna(target) else f"{decimal(100 * float(target), 1)} %",
                NONE if value is None else two_lines(shown, ends),
                f"{(some['threshold'] > some['highest_level']).sum():,}",
                ", ".join(f"{name} {n}" for name, n in ended.items()),
            ]
        )
    names = (
        two_lines(asked.about, "rule"),
        "Model",
        two_lines("Participants", "n"),
        two_lines("Tracks", "n"),
        two_lines("Target", "right answers"),
        two_lines("Threshold", asked.level),
        two_lines("Not reached", "tracks"),
        "Ended by",
    )
    return table(names, rows, numeric=range(2, 7), caption=TITLE)


def describe_level(value: float, lowest: float, highest: float) -> str:
    """A threshold by three digits; one beyond the levels by the level that it is beyond."""
    if value > highest:
        return f"> {highest:g}"
    if value < lowest:
        return f"< {lowest:g}"
    return decimal(value, max(0, 2 - floor(log10(abs(value)))) if value else 0)


def average(
    people: list[tuple[object, pd.DataFrame]], scale: str
) -> tuple[float | None, float | None, float | None]:
    """The mean threshold over participants on a scale and its 95 % interval; None where there is
    none. people: each participant's tracks."""
    from scipy import stats

    values = (some["threshold"].dropna().to_numpy(float) for _, some in people)
    known = [np.log(each) if scale == "log" else each for each in values if len(each)]
    if not known:
        return None, None, None
    means = np.array([each.mean() for each in known])
    middle = float(means.mean())
    back = np.exp if scale == "log" else float
    if len(means) < 2:
        return float(back(middle)), None, None
    half = float(stats.t.ppf(0.975, len(means) - 1) * means.std(ddof=1) / np.sqrt(len(means)))
    return float(back(middle)), float(back(middle - half)), float(back(middle + half))


def plates(asked: AskedAbout, counted: Tables) -> list[ReportFigure]:
    """The levels of every track, by what was asked about; nothing where no rule chose among
    levels."""
    own = asked.of_stages(counted)
    own = own[own["target"].notna()]
    if own.empty:
        return []
    with mpl.rc_context(style()):
        groups = sorted(
            own.groupby(["model", "about"]), key=lambda group: [*map(place_of, map(str, group[0]))]
        )
        several = own["model"].nunique() > 1
        figure, panels = kit.panels(len(groups), 2, 3.0, sharey=True)
        for ax, ((model, about), some) in zip(panels, groups, strict=False):
            _draw_tracks(ax, some)
            ax.set_title(f"{model}, {about}" if several else str(about))
            ax.set_xlabel("trial of the track")
        panels[0].set_ylabel(asked.level)
    people = count(int(own["participant"].nunique()), "participant")
    label = "Tracks of adaptive stages (ours)"
    figure.set_label(f"{label}: {people}")
    caption = (
        "Each grey line is a track, with the level at each of its trials. Blue: the mean of all "
        "tracks. Dashed: the mean threshold, where it is among the levels."
    )
    return [ReportFigure(f"{asked.name}-tracks", figure, label, caption)]


def _draw_tracks(ax: Axes, own: pd.DataFrame) -> None:
    """Tracks that ask about the same, their mean at each trial, and the mean threshold."""
    scale = str(own["scale"].iloc[0])
    lines = [pd.Series(levels, index=np.arange(1, len(levels) + 1)) for levels in own["levels"]]
    for line in lines:
        ax.step(line.index, line, where="mid", color=SECONDARY, alpha=0.35, linewidth=0.8)
    together = pd.concat(lines, axis=1)
    mean = np.exp(np.log(together).mean(axis=1)) if scale == "log" else together.mean(axis=1)
    ax.plot(mean.index, mean.to_numpy(float), color=ACCENT, linewidth=1.8)
    value, _, _ = average([*own.groupby("participant")], scale)
    if value is not None and own["lowest_level"].min() <= value <= own["highest_level"].max():
        ax.axhline(value, color=ACCENT, linestyle="--", linewidth=1.0)
    ax.set_yscale("log" if scale == "log" else "linear")
    known = sorted({float(level) for line in lines for level in line})
    shown = known[:: max(1, -(-len(known) // TICKS))]
    ax.yaxis.set_major_locator(FixedLocator(shown))
    ax.yaxis.set_major_formatter(FixedFormatter([f"{level:g}" for level in shown]))
    ax.yaxis.set_minor_locator(NullLocator())
    kit.grid(ax)
