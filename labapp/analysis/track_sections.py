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

from labapp.analysis.declared import read_declaration
from labapp.analysis.inference import one_sample
from labapp.analysis.tables import Tables
from labapp.analysis.tracks import beyond
from labapp.base.figure_style import ACCENT, SECONDARY, style
from labapp.base.report import kit
from labapp.base.report.drawing import ReportFigure
from labapp.base.report.labels import labelled, place_of
from labapp.base.report.listing import NONE, sentence
from labapp.base.report.page import (
    Html,
    Verbatim,
    count,
    decimal,
    heading,
    lines,
    paragraph,
    say,
    table,
    two_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICKS = 7
"""The most numbers on an axis of levels."""
TITLE = "Thresholds of adaptive stages (ours)"
ENDED = {
    "trials": "trial limit",
    "reversals": "reversals",
    "se": "standard error",
    "criterion": "criterion",
}
"""Why tracks end, in words."""


@dataclass(frozen=True)
class AskedAbout:
    """What the tracks of a task ask about. name: for figures; tasks: as tables call them; about:
    what each track is of; level: what the levels are, of which a
    lower one is better."""

    name: str
    tasks: Sequence[str]
    about: str
    level: str

    @property
    def unit(self) -> str:
        """Of thresholds, with their direction."""
        return f"{self.level} (lower is better)"

    def name_of(self, about: object) -> Verbatim:
        """What one of them asks about: by its label, or by its number with what it is."""
        name = str(about)
        return Verbatim(f"{say(self.about)} {name}" if name.isdigit() else labelled(name))

    def of_stages(self, tables: Tables) -> pd.DataFrame:
        """Its tracks in stages, practice left out."""
        own = tables.tracks
        return own[(own["role"] == "stage") & own["task"].isin(self.tasks)]


def show(asked: AskedAbout, counted: Tables, anchor: str) -> Iterator[Html]:
    """The section of one study; nothing if it has no adaptive stage."""
    own = asked.of_stages(counted)
    if own.empty:
        return
    yield heading(3, TITLE)
    yield paragraph(
        sentence(
            "tracks.about", estimators=_estimators(own), level=asked.level,
            logarithms="log" in set(own["scale"]), transformed=_is_log(counted, own),
            beyond=int(beyond(own).sum()), of=len(own),
        )
    )  # fmt: skip
    yield show_thresholds(asked, own, logarithms=_is_log(counted, own))
    ended = own.loc[own["target"].notna(), "ended_by"]
    if 2 * (limit := int((ended == "trials").sum())) > len(ended):
        yield paragraph(sentence("tracks.limit", n=limit, of=len(ended)), "note")
    for plate in plates(asked, counted):
        yield plate.html(anchor)


def methods(asked: AskedAbout, counted: Tables) -> Iterator[str]:
    """A sentence for the paragraph on methods; nothing without an adaptive stage."""
    own = asked.of_stages(counted)
    own = own[own["target"].notna()]
    if not own.empty:
        n = own.groupby(["participant", "session", "stage"]).size()
        rules = set(map(str, own["rule"]))
        declaration = read_declaration(counted, str(own["study"].iloc[0]))
        told = [
            f"{name}: {'; '.join(map(say, settings))}"
            for name, *settings in declaration.adaptive
            if name in rules
        ]
        yield sentence(
            "tracks.methods", rules=list(map(Verbatim, told)) or sorted(rules),
            tracks=sorted({int(n.min()), int(n.max())}), trials=int(own["n_trials"].max()),
            abouts=list(map(asked.name_of, sorted(own["about"].unique()))),
            targets=sorted(map(float, own["target"].unique())), estimators=_estimators(own),
            logarithms="log" in set(own["scale"]), unit=asked.unit,
            beyond=int(beyond(own).sum()), of=len(own),
        )  # fmt: skip


def _estimators(own: pd.DataFrame) -> list[str]:
    return sorted(map(str, own["estimate"].dropna().unique()))


def _is_log(counted: Tables, own: pd.DataFrame) -> bool:
    """Whether the study analyses logarithms of thresholds."""
    declaration = read_declaration(counted, str(own["study"].iloc[0]))
    return declaration.analysis.transform.get("threshold") == "log"


def show_thresholds(asked: AskedAbout, own: pd.DataFrame, *, logarithms: bool = False) -> Html:
    """A row for each thing that is asked about, rule and target."""
    rows = []
    for (model, about, rule, scale, _), some in own.groupby(
        ["model", "about", "rule", "scale", "target"], sort=True, dropna=False
    ):
        people = [*some.groupby("participant")]
        value, low, high = average(people, str(scale), logarithms=logarithms)
        ended = some["ended_by"].fillna("not ended").value_counts().sort_index()
        turns = some["reversals"].dropna().astype(float)
        errors = some["threshold_se"].dropna().astype(float)
        target = some["target"].iloc[0]
        within = float(some["lowest_level"].min()), float(some["highest_level"].max())
        known = some["threshold"].dropna() if value is None else [value]
        shown = {describe_level(each, *within) for each in known}
        ends = NONE
        if low is not None and high is not None:
            ends = f"[{describe_level(low, *within)}, {describe_level(high, *within)}]"
        rows.append(
            [
                two_lines(asked.name_of(about), str(rule)),
                str(model),
                f"{some['participant'].nunique():,}",
                NONE if pd.isna(target) else f"{decimal(100 * float(target), 1)} %",
                two_lines(shown.pop(), ends) if len(shown) == 1 else NONE,
                f"{beyond(some).sum()} of {len(some)}",
                NONE
                if turns.empty
                else two_lines(decimal(turns.mean(), 1), f"{turns.min():.0f} to {turns.max():.0f}"),
                NONE if errors.empty else decimal(errors.median(), 2),
                lines(
                    f"{ENDED.get(str(name), str(name))}: {n} of {len(some)}"
                    for name, n in ended.items()
                ),
            ]
        )
    names = (
        two_lines(asked.about, "rule"),
        "Model",
        two_lines("Participants", "n"),
        two_lines("Target", "right answers"),
        two_lines("Threshold", asked.unit),
        two_lines("Beyond the levels", "tracks"),
        two_lines("Reversals", "per track, range"),
        two_lines(
            "Standard error",
            "of a track, median (natural logarithm)"
            if "log" in set(own["scale"])
            else "of a track, median",
        ),
        "Ended by",
    )
    return table(names, rows, numeric=range(2, 8), caption=TITLE)


def describe_level(value: float, lowest: float, highest: float) -> str:
    """A threshold by three digits; one beyond the levels by the level that it is beyond."""
    if value > highest:
        return f"> {highest:g}"
    if value < lowest:
        return f"< {lowest:g}"
    return decimal(value, max(0, 2 - floor(log10(abs(value)))) if value else 0)


def average(
    people: list[tuple[object, pd.DataFrame]], scale: str, *, logarithms: bool
) -> tuple[float | None, float | None, float | None]:
    """The mean threshold over participants and its 95 % interval; None if there is none.

    people: each participant's tracks, which are averaged on a scale, as in the table of stages; of
    those with one beyond the levels the threshold is not known. logarithms: over participants, too,
    as the study declares it of its analysis.
    """
    reached = (some["threshold"] for _, some in people if not beyond(some).any())
    values = (own.dropna().to_numpy(float) for own in reached)
    known = [np.log(each) if scale == "log" else each for each in values if len(each)]
    if not known:
        return None, None, None
    means = np.array([each.mean() for each in known])
    if scale == "log" and not logarithms:
        means = np.exp(means)
    elif logarithms and scale != "log":
        means = np.log(means)
    back = np.exp if logarithms else float
    test = one_sample(means, 0.0)
    low, high = (None if end is None else float(back(end)) for end in (test.low, test.high))
    return float(back(means.mean())), low, high


def plates(asked: AskedAbout, counted: Tables) -> list[ReportFigure]:
    """The levels of every track, by what was asked about; nothing if no rule chose among
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
            _draw_tracks(ax, some, logarithms=_is_log(counted, some))
            name = asked.name_of(about)
            ax.set_title(f"{model}, {name}" if several else name)
            ax.set_xlabel("trial of the track")
        panels[0].set_ylabel(asked.unit)
    people = count(int(own["participant"].nunique()), "participant")
    label = "Tracks of adaptive stages (ours)"
    figure.set_label(f"{label}: {people}")
    caption = (
        "Each grey line is a track, with the level at each of its trials. Blue: the mean of all "
        "tracks. Dashed: the mean of the thresholds that are not beyond the levels."
    )
    return [ReportFigure(f"{asked.name}-tracks", figure, label, caption)]


def _draw_tracks(ax: Axes, own: pd.DataFrame, *, logarithms: bool) -> None:
    """Tracks that ask about the same, their mean at each trial, and the mean threshold."""
    scale = str(own["scale"].iloc[0])
    drawn = [pd.Series(levels, index=np.arange(1, len(levels) + 1)) for levels in own["levels"]]
    for line in drawn:
        ax.step(line.index, line, where="mid", color=SECONDARY, alpha=0.35, linewidth=0.8)
    together = pd.concat(drawn, axis=1)
    mean = np.exp(np.log(together).mean(axis=1)) if scale == "log" else together.mean(axis=1)
    ax.plot(mean.index, mean.to_numpy(float), color=ACCENT, linewidth=1.8)
    value, _, _ = average([*own.groupby("participant")], scale, logarithms=logarithms)
    if value is not None:
        ax.axhline(value, color=ACCENT, linestyle="--", linewidth=1.0)
    ax.set_yscale("log" if scale == "log" else "linear")
    known = sorted({float(level) for line in drawn for level in line})
    shown = known[:: max(1, -(-len(known) // TICKS))]
    ax.yaxis.set_major_locator(FixedLocator(shown))
    ax.yaxis.set_major_formatter(FixedFormatter([f"{level:g}" for level in shown]))
    ax.yaxis.set_minor_locator(NullLocator())
    kit.grid(ax)
