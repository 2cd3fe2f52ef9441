"""The figures of the unmasking study: they show the numbers they were given, and say what they
are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from labapp.analysis.inference import Values
from labapp.base.figure_style import STYLE
from labapp.base.report.drawing import ReportFigure
from labapp.tasks.unmasking.report import figures
from labapp.tasks.unmasking.report.figures import plates
from labapp.tasks.unmasking.report.results import MODEL, PEOPLE, WHOLE, UnmaskingResults
from labapp.tasks.unmasking.report.sections import of_people
from tests.helpers.nightly import EVERYTHING
from tests.helpers.unmasked import METHODS, found, nobody

DRAWN = True

FULL = found()
NAMES = (
    "3-confidence",
    "4-confidence-by-method",
    "5-reaction-time",
    "6-accuracy",
    "7-model-accuracy",
    "8-ranks",
    "9-bias",
    "9-bias-times",
    "psychometric",
    "thresholds",
)


@pytest.fixture(scope="module")
def drawn() -> dict[str, ReportFigure]:
    return by_name(FULL)


def by_name(of: UnmaskingResults) -> dict[str, ReportFigure]:
    return {plate.name.removeprefix("unmasking-"): plate for plate in plates(of)}


def lines(ax: Axes) -> list[tuple[Line2D, Values, Values]]:
    """Every line that shows something, with what it shows."""
    shown = []
    for line in ax.lines:
        x, y = (np.asarray(some, np.float64) for some in line.get_data())
        if x.size:
            shown.append((line, x, y))
    return shown


def named(ax: Axes) -> dict[str, Line2D]:
    """What the legend shows."""
    handles, labels = ax.get_legend_handles_labels()
    return {
        label: handle
        for label, handle in zip(labels, handles, strict=True)
        if isinstance(handle, Line2D)
    }


def curves(ax: Axes) -> dict[str, tuple[Values, Values]]:
    """The lines that the legend names: percentages and values."""

    def look(line: Line2D) -> tuple[object, object]:
        return line.get_marker(), line.get_color()

    return {
        label: next((x, y) for line, x, y in lines(ax) if look(line) == look(handle))
        for label, handle in named(ax).items()
    }


def intervals(ax: Axes) -> Values:
    """Both ends of every vertical line: shape (lines, 2)."""
    ends = [
        np.asarray(segment)[:, 1]
        for some in ax.collections
        if isinstance(some, LineCollection)
        for segment in some.get_segments()
    ]
    return np.array(ends).reshape(-1, 2)


def test_every_figure_is_there_and_says_whose_it_is(drawn: dict[str, ReportFigure]) -> None:
    assert tuple(drawn) == NAMES
    for name, plate in drawn.items():
        number = name[0]
        whose = f"(Biessmann and Refiano 2019, Figure {number})" if number.isdigit() else "(ours)"
        assert (whose if name != "9-bias-times" else "(ours)") in plate.label
        burnt = [text for text in plate.figure.texts if plate.label in text.get_text()]
        assert not burnt, "a venue's caption says it, from captions.md"
        of = "10 images" if name == "7-model-accuracy" else "62 participants, 18,600 annotations"
        assert plate.figure.get_label() == f"{plate.label} · unmasking-faces: {of}"
        assert plate.caption.endswith(".")


@pytest.mark.parametrize(
    ("name", "panel", "frame", "column", "factor"),
    [
        ("4-confidence-by-method", 0, "labels_by_method", "share", 100),
        ("5-reaction-time", 0, "times", "mean", 1),
        ("5-reaction-time", 1, "times", "median", 1),
        ("6-accuracy", 0, "accuracy", "share", 100),
        ("6-accuracy", 1, "accuracy", "share_of_labels", 100),
        ("7-model-accuracy", 0, "model", "share", 100),
        ("7-model-accuracy", 1, "model", "cross_entropy", 1),
        ("psychometric", 0, "labels_by_method", "share", 100),
        ("psychometric", 1, "accuracy", "share", 100),
    ],
)
def test_lines_are_the_numbers(
    drawn: dict[str, ReportFigure], name: str, panel: int, frame: str, column: str, factor: int
) -> None:
    given_ = getattr(FULL, frame)
    shown = curves(drawn[name].figure.axes[panel])
    assert [label.rsplit(", n", 1)[0] for label in shown] == list(METHODS.values())
    for method, (x, y) in zip(METHODS, shown.values(), strict=True):
        own = given_[given_["method"] == method]
        assert y == pytest.approx(own[column] * factor)
        # Marks stand beside each other, never nearer to another mask.
        assert np.abs(np.log(x / own["percent"])).max() <= 0.05


def test_intervals_are_drawn_from_end_to_end(drawn: dict[str, ReportFigure]) -> None:
    ends = intervals(drawn["6-accuracy"].figure.axes[0])
    assert ends == pytest.approx(100 * FULL.accuracy[["low", "high"]].to_numpy())
    both = intervals(drawn["5-reaction-time"].figure.axes[1])
    assert both == pytest.approx(FULL.times[["median_low", "median_high"]].to_numpy())


def test_ranks_stand_best_on_top_and_say_so(drawn: dict[str, ReportFigure]) -> None:
    first, second, third = drawn["8-ranks"].figure.axes
    assert first.get_ylabel() == "average rank, 1 = best"
    assert "Rank 1, at the top, is best" in drawn["8-ranks"].caption
    assert all(ax.get_ylim()[0] > ax.get_ylim()[1] for ax in (first, second, third))
    for ax, who in ((second, MODEL), (third, PEOPLE)):
        own = FULL.ranks.by_mask
        own = own[own["who"] == who]
        for method, (_, y) in zip(METHODS, curves(ax).values(), strict=True):
            assert y == pytest.approx(own.loc[own["method"] == method, "rank"])


def test_the_bias_is_of_the_whole_picture_first(drawn: dict[str, ReportFigure]) -> None:
    left, right = drawn["9-bias"].figure.axes
    own = FULL.bias.shares
    own = own[own["wrong"] == WHOLE]
    for method, (_, y) in zip(METHODS, curves(left).values(), strict=True):
        assert y == pytest.approx(100 * own.loc[own["method"] == method, "share"])
    assert "(ours)" in right.get_title("left")
    assert "(ours)" not in left.get_title("left")
    assert "on the left 4 images, on the right 2 to 5 images" in drawn["9-bias"].caption


def test_counts_of_labels_stand_above_the_bars(drawn: dict[str, ReportFigure]) -> None:
    said = [text.get_text() for text in drawn["3-confidence"].figure.axes[0].texts]
    for column in ("labels", "dont_know"):
        assert {f"{n:,}" for n in FULL.labels[column]} <= set(said)


def test_the_axis_is_logarithmic_with_the_masks_as_ticks(drawn: dict[str, ReportFigure]) -> None:
    by_mask = [plate.figure.axes for name, plate in drawn.items() if name != "9-bias-times"]
    for ax in [ax for panels in by_mask[:-1] for ax in panels if "logarithmic" in ax.get_xlabel()]:
        assert ax.get_xscale() == "log"
        assert tuple(ax.xaxis.get_majorticklocs()) == FULL.group.percents


def test_methods_are_told_apart_without_colour(drawn: dict[str, ReportFigure]) -> None:
    for name in NAMES[3:7]:
        shown = named(drawn[name].figure.axes[-1]).values()
        assert len({(one.get_linestyle(), one.get_marker()) for one in shown}) == len(METHODS)
    assert len({(one.line, one.mark) for one in figures.LOOKS}) == len(figures.LOOKS)


def test_a_fitted_function_runs_half_way_up_at_its_threshold(
    drawn: dict[str, ReportFigure],
) -> None:
    functions = [(x, y) for _, x, y in lines(drawn["psychometric"].figure.axes[0]) if x.size > 100]
    for (x, y), threshold in zip(functions, (18.0, 10.0, 13.0), strict=True):
        assert np.interp(np.log(threshold), np.log(x), y) == pytest.approx(50.0, abs=0.1)


def test_without_the_model_its_figure_is_missing_and_the_others_say_why() -> None:
    without = found(5, model=False)
    assert figures.model(without) is None
    for make, why in (
        (figures.ranks, "no outputs of the model\non masked images"),
        (figures.bias, "no such image, or no outputs of the model"),
    ):
        plate = make(without)
        assert plate is not None
        assert [text.get_text() for text in plate.figure.axes[1].texts] == [why]


def test_lines_and_marks_without_values_leave_the_panels_where_they_are() -> None:
    """Warnings are errors: a layout that collapses is one."""
    own = FULL.fits.own
    why = own["why"].mask(own["method"] == "gradient", "it lies outside the range of the masks")
    unsure = replace(
        FULL,
        fits=replace(FULL.fits, own=own.assign(why=why)),
        accuracy=FULL.accuracy.assign(
            n_labels=0, share_of_labels=np.nan, labels_low=np.nan, labels_high=np.nan
        ),
    )
    for plate in plates(unsure):
        assert plate.svg.startswith("<svg")
        for ax in plate.figure.axes:
            assert ax.get_position().width > 0.15
    names = by_name(unsure)["thresholds"].figure.axes[0].get_xticklabels()
    assert [one.get_text().split("n = ")[1] for one in names] == ["0", "62", "62"]


def test_of_one_participant_there_are_no_intervals() -> None:
    one = found(1)
    alone = replace(one, accuracy=one.accuracy.assign(low=np.nan, high=np.nan))
    plate = figures.accuracy(alone)
    assert plate is not None
    assert intervals(plate.figure.axes[0]).size == 0


def test_without_a_threshold_of_anybody_there_is_no_figure_of_them() -> None:
    none = FULL.fits.own.assign(why="the share does not grow with what is shown")
    without = replace(FULL, fits=replace(FULL.fits, own=none))
    assert figures.thresholds(without) is None
    assert figures.psychometric(without) is not None


def test_of_nobody_there_is_no_figure() -> None:
    assert plates(nobody()) == []


def test_a_figure_says_where_no_person_took_part() -> None:
    rows = FULL.group.annotations.assign(timed_by="simulated")
    assert of_people(replace(FULL.group, annotations=rows)) == (
        "62 simulated participants, 18,600 annotations"
    )
    some = rows.assign(timed_by=["event", *rows["timed_by"][1:]])
    assert "simulated" not in of_people(replace(FULL.group, annotations=some))
    assert of_people(replace(FULL.group, annotations=rows[:0])).startswith("0 participants")


def test_figures_are_saved_as_files_and_never_over_others(
    drawn: dict[str, ReportFigure], tmp_path: Path
) -> None:
    saved = drawn["6-accuracy"].save(tmp_path)
    assert [path.name for path in saved] == [
        "unmasking-6-accuracy.svg",
        "unmasking-6-accuracy.png",
        "unmasking-6-accuracy.pdf",
    ]
    assert "% of all annotations" in saved[0].read_text("utf-8")
    assert saved[1].read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FileExistsError):
        drawn["6-accuracy"].save(tmp_path)


@settings(max_examples=100 if EVERYTHING else 10)
@given(st.lists(st.floats(0.5, 100), min_size=1, max_size=25, unique=True))
def test_numbers_of_ticks_stand_apart(percents: list[float]) -> None:
    with mpl.rc_context(STYLE):
        ax = Figure().subplots()
        figures.percents(ax, percents)
    ticks = ax.xaxis.get_majorticklocs()
    assert list(ticks) == sorted(percents)
    said = ax.xaxis.get_major_formatter().format_ticks(list(ticks))
    low, high = np.log(ax.get_xlim())
    where = [
        (np.log(tick) - low) / (high - low) for tick, text in zip(ticks, said, strict=True) if text
    ]
    assert said[0]
    assert all(np.diff(where) > 0.05)


@given(st.integers(1, 12))
def test_marks_beside_each_other_are_centred(count: int) -> None:
    places = figures.centre_marks(count)
    assert places.sum() == pytest.approx(0)
    assert np.diff(places) == pytest.approx(1)


def test_ids_in_the_figures_of_several_groups_differ() -> None:
    shown = plates(found(1))[:2]
    drawn = "".join(plate.html(anchor) for anchor in ("s1-u1", "s1-u2") for plate in shown)
    ids = re.findall(r'\bid="([^"]+)"', drawn)
    assert len(ids) == len(set(ids)) > 0
