"""The figures of models: they show the numbers they were given, stars only where they belong, and
fit few and many models with short and long names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_rgb
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle

from labapp.base.figure_style import PALETTES
from labapp.base.report import drawing
from labapp.base.report.drawing import ReportFigure, with_ids
from labapp.papers.interactive_reconstruction import figures
from labapp.papers.interactive_reconstruction.figures import (
    BOXES,
    CHANGES,
    DIMENSIONS,
    PAIRS,
    RATINGS,
    by_kind,
    changes,
    draw,
    levels,
    plates,
    shares,
)
from labapp.papers.interactive_reconstruction.results import GroupResults
from tests.helpers.compared import (
    DIALS,
    EXEMPLARS,
    LONG,
    SEVEN,
    THREE,
    TRAVERSALS,
    found_of,
    group_of,
    with_p,
    without,
)
from tests.helpers.sample import sample

TIME = ("response_time_s",)


@cache
def rated() -> GroupResults:
    """Eight participants; made once, where they are asked for."""
    return found_of(group_of(rated=True))


def drawn(kind: str, *found: GroupResults) -> ReportFigure:
    """One figure; of a study there are up to five."""
    made = draw(kind, found)
    assert made is not None
    return made


@cache
def eight(kind: str) -> ReportFigure:
    """Of `rated`, drawn once for the tests that only look at it."""
    return drawn(kind, rated())


def panel(plate: ReportFigure, title: str, block: int = 0) -> Axes:
    """The panel of a metric; block: of which data set."""
    found = [ax for ax in plate.figure.axes if ax.get_title(loc="left") == title]
    return found[block]


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def stars_in(ax: Axes) -> list[str]:
    return [text for text in words(ax) if text and set(text) == {"*"}]


def points(ax: Axes, marker: str) -> list[float]:
    return [
        float(y)
        for line in ax.lines
        if line.get_marker() == marker
        for y in np.atleast_1d(np.asarray(line.get_ydata(), np.float64))
    ]


def model_labels(ax: Axes) -> list[str]:
    """The names below an axis, whatever lines they are broken into, and in a last line their n."""
    labels = [label.get_text().replace("\u2009", "") for label in ax.get_xticklabels()]
    return ["\n".join(label.replace("\n", "").rsplit("n=", 1)) for label in labels]


def test_all_figures_of_a_study_are_there() -> None:
    tasks = sample((EXEMPLARS, TRAVERSALS), (EXEMPLARS,))
    asked = ("response_time_s", "mental_demand")
    found = [
        found_of(group_of(rated=True, only=asked)),
        *(found_of(group_of(task=task, only=TIME)) for task in tasks),
    ]
    names = [plate.name for plate in plates(found)]
    assert names == [
        *(f"made-up-reconstruction-{kind}" for kind in (BOXES, PAIRS, CHANGES, RATINGS)),
        *(
            f"made-up-{task}-{kind}"
            for task in tasks
            for kind in (BOXES, PAIRS, CHANGES, DIMENSIONS)
        ),
    ]
    assert by_kind([]) == {}


def test_boxes_show_every_value_the_median_and_the_mean() -> None:
    ax = panel(eight(BOXES), "Response time")
    values = rated().group.values
    assert sorted(points(ax, "o")) == pytest.approx(sorted(values["response_time_s"]))
    means = values.groupby("model")["response_time_s"].mean().reindex(list(THREE))
    assert points(ax, "D") == pytest.approx(means.to_list())
    medians = [
        float(segment[0][1])
        for lines in ax.collections
        if isinstance(lines, LineCollection)
        for segment in lines.get_segments()
        if len(segment) == 2 and segment[0][1] == segment[1][1]
    ]
    expected = values.groupby("model")["response_time_s"].median().reindex(list(THREE))
    assert medians == pytest.approx(expected.to_list())
    assert model_labels(ax) == [f"{model}\n8" for model in THREE]
    low, high = ax.get_ylim()
    assert low <= values["response_time_s"].min()
    assert values["response_time_s"].max() <= high


def test_participants_are_joined_only_where_they_met_several_models() -> None:
    def joined(plate: ReportFigure) -> int:
        ax = panel(plate, "Response time")
        segments = [
            segment
            for lines in ax.collections
            if isinstance(lines, LineCollection)
            for segment in lines.get_segments()
        ]
        return sum(len(segment) == len(THREE) for segment in segments)

    assert joined(eight(BOXES)) == 8
    between = drawn(BOXES, found_of(group_of(within=False, only=TIME)))
    assert joined(between) == 0
    assert "grey lines" in eight(BOXES).caption
    assert "grey lines" not in between.caption


@pytest.mark.parametrize(("n", "boxes"), [(4, 0), (5, 3)])
def test_boxes_and_stars_begin_at_five_values(n: int, boxes: int) -> None:
    plate = drawn(BOXES, found_of(group_of(n=n, only=TIME)))
    ax = panel(plate, "Response time")
    assert sum(isinstance(patch, PathPatch) for patch in ax.patches) == boxes
    assert bool(stars_in(ax)) == (n == 5)
    assert ("No stars" in plate.caption) == (n == 4)


def test_brackets_join_the_models_that_differ_and_no_others() -> None:
    found = found_of(group_of(only=("response_time_s", "seq")))
    found = with_p(found, "response_time_s", {("ae", "gt"): 0.0004, ("ae", "vae"): 0.02})
    found = with_p(found, "seq", {})
    plate = drawn(BOXES, found)
    ax = panel(plate, "Response time")
    assert sorted(stars_in(ax)) == ["*", "***"]
    middle = {t.get_text(): t.get_position()[0] for t in ax.texts if t.get_text() in ("*", "***")}
    assert middle == {"*": 0.5, "***": 1.0}
    assert stars_in(panel(plate, "Difficulty (SEQ)")) == []
    assert "not corrected" in plate.caption
    assert "* p < 0.05, ** p < 0.01, *** p < 0.001, **** p < 0.0001" in plate.caption


def test_no_bracket_lies_over_another_or_over_values() -> None:
    found = found_of(group_of(SEVEN, 15, within=False, only=TIME))
    pairs = next(one for one in found.compared if one.metric.column == "response_time_s").pairs
    brackets = levels(SEVEN, pairs)
    assert len(brackets) == 21
    for left, right, _, level in brackets:
        for start, end, _, other in brackets:
            if level == other and (left, right) != (start, end):
                assert right <= start or end <= left
    ax = panel(drawn(BOXES, found), "Response time")
    highest = (found.group.values["response_time_s"].max() - ax.get_ylim()[0]) / np.ptp(
        ax.get_ylim()
    )
    lowest = min(
        float(min(np.asarray(line.get_ydata(), np.float64)))
        for line in ax.lines
        if line.get_transform() == ax.get_xaxis_transform()
        and len(np.asarray(line.get_xdata())) == 4
    )
    assert highest < lowest


def test_values_that_are_missing_are_not_counted_nor_drawn() -> None:
    shown = ("response_time_s", "seq", "slide_distance")
    group = group_of(only=shown)
    group = without(group, {"seq": ["dsprites/ae"], "slide_distance": THREE})
    plate = drawn(BOXES, found_of(group))
    assert model_labels(panel(plate, "Difficulty (SEQ)"))[0] == "dsprites/ae\n0"
    counts = panel(plate, "Difficulty (SEQ)").texts
    assert sum(int(text.get_text()) for text in counts if text.get_text().isdecimal()) == 16
    assert "Slide distance" not in [ax.get_title(loc="left") for ax in plate.figure.axes]
    nothing = without(group, dict.fromkeys(shown, THREE))
    assert set(by_kind([found_of(nothing)])) <= {CHANGES}


def test_an_error_that_is_the_same_a_pixel_is_drawn_once() -> None:
    titles = [ax.get_title(loc="left") for ax in eight(BOXES).figure.axes]
    assert "Error AUC, sum" in titles
    assert "Error AUC, mean" not in titles


def test_heat_maps_are_row_minus_column_with_stars() -> None:
    found = with_p(found_of(group_of(only=TIME)), "response_time_s", {("ae", "gt"): 0.0004})
    ax = panel(drawn(PAIRS, found), "Response time")
    means = found.group.values.groupby("model")["response_time_s"].mean().reindex(list(THREE))
    (mesh,) = [one for one in ax.collections if isinstance(one, QuadMesh)]
    shown = np.ma.filled(mesh.get_array().reshape(3, 3), np.nan)
    expected = means.to_numpy()[:, None] - means.to_numpy()[None, :]
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_allclose(shown, expected)
    numbers = [text for text in words(ax) if text.startswith(("+", "−"))]
    assert len(numbers) == 6
    assert stars_in(ax) == ["***", "***"]
    places = {t.get_position() for t in ax.texts if t.get_text() == "***"}
    assert {(round(x), round(y)) for x, y in places} == {(2, 0), (0, 2)}
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first model is on top"


@pytest.mark.parametrize("palette", PALETTES)
def test_ends_of_the_colours_differ_in_grey(palette: str) -> None:
    colours = PALETTES[palette].differences[::2]
    luminance = [float(np.dot(to_rgb(colour), (0.2126, 0.7152, 0.0722))) for colour in colours]
    assert luminance[0] < 0.3 < 0.55 < luminance[2] < luminance[1]


def test_models_of_other_sizes_are_parted() -> None:
    assert figures.edges_of(SEVEN) == [5]
    assert figures.edges_of(THREE) == figures.edges_of(["m/a1", "m/a2", "m/a3"]) == []
    assert figures.edges_of(["m/a5", "m/a10", "m/b5"]) == []


def test_groups_of_one_data_set_that_nobody_met_both_stand_beside_each_other() -> None:
    five = found_of(group_of(("mnist/ae5", "mnist/ss5"), 6, only=TIME))
    ten = found_of(group_of(("mnist/ae10", "mnist/ss10"), 6, seed=2, only=TIME))
    boxes, pairs = (drawn(kind, five, ten) for kind in (BOXES, PAIRS))
    assert [label.split("\n")[0] for label in model_labels(boxes.figure.axes[0])] == [
        *("mnist/ae5", "mnist/ss5", "mnist/ae10", "mnist/ss10")
    ]
    ax = panel(pairs, "Response time")
    between = [
        t for t in ax.texts if round(t.get_position()[0]) == 2 and set(t.get_text()) == {"*"}
    ]
    assert all(round(t.get_position()[1]) == 3 for t in between), "no test between the groups"
    assert (
        "Models never shown to the same participant were not tested against each other."
        in pairs.caption
    )


def test_data_sets_have_panels_of_their_own() -> None:
    one, other = (
        found_of(group_of(models, only=TIME))
        for models in (THREE, ("sinelines/ae", "sinelines/gt"))
    )
    plate = drawn(BOXES, one, other)
    assert [part.get_suptitle() for part in plate.figure.subfigs] == ["dsprites", "sinelines"]
    assert len(model_labels(panel(plate, "Response time", 1))) == 2


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 0, 3, 1)])
def test_errors_of_several_data_sets_have_an_axis_each(order: Sequence[int]) -> None:
    """Their size depends on the pictures; all else is beside each other, in both figures."""
    every = ("dsprites/ae", "dsprites/vae", "sinelines/ae", "sinelines/gt")
    group = group_of(tuple(every[place] for place in order))
    group.values.loc[group.values["model"].str.startswith("sinelines"), "error_auc_mean"] *= 12
    found = found_of(replace(group, follows=False, simulated=3))
    for kind in (BOXES, CHANGES):
        plate = drawn(kind, found)
        titles = [ax.get_title(loc="left") for ax in plate.figure.axes if ax.get_visible()]
        assert titles.count("Error AUC, sum") == 2, kind
        assert titles.count("Response time") == 1
        assert len(model_labels(panel(plate, "Response time"))) == 4
        assert "3 simulated" in str(plate.figure.get_label())
        names = [part.get_suptitle() for part in plate.figure.subfigs][1:]
        for block, name in enumerate(names):
            own = [
                label.split("\n")[0]
                for label in model_labels(panel(plate, "Error AUC, sum", block))
            ]
            assert set(own) == {m for m in every if m.startswith(name)}
        assert sorted(names) == ["dsprites", "sinelines"]
    assert "an axis of its own" in drawn(BOXES, found).caption
    assert "The mean over the pixels looks the same" in drawn(BOXES, found).caption


@pytest.mark.parametrize("questions", [1, 2, 3, 5, 10])
def test_counts_stay_above_the_names_of_models(questions: int) -> None:
    """Of few questions shares are far apart, and their bars would be thick."""
    group = group_of(only=("completion_rate",))
    shares = 100 * (np.arange(len(group.values)) % (questions + 1)) / questions
    plate = drawn(
        BOXES, found_of(replace(group, values=group.values.assign(completion_rate=shares)))
    )
    ax = panel(plate, "Completion rate")
    bars = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
    low, high = ax.get_ylim()
    assert bars
    assert min(bar.get_y() for bar in bars) >= low
    assert max(bar.get_y() + bar.get_height() for bar in bars) <= high


def test_a_caption_says_that_means_look_the_same_only_where_they_do() -> None:
    errors = ("error_auc_sum", "error_auc_mean")
    group = group_of(only=errors)
    group.values.loc[group.values.index[0], "error_auc_mean"] *= 12
    plate = drawn(BOXES, found_of(group))
    assert "Error AUC, mean" in [ax.get_title(loc="left") for ax in plate.figure.axes]
    assert "looks the same" not in plate.caption
    unknown = group_of(only=errors)
    lost = found_of(without(unknown, {"error_auc_mean": THREE}))
    assert "looks the same" not in drawn(BOXES, lost).caption


def test_correctness_by_dial_with_its_error_and_chance() -> None:
    found = found_of(group_of(task=EXEMPLARS, n=10, only=TIME))
    ax = panel(drawn(DIMENSIONS, found), "dsprites/ae")
    own = found.group.trials[found.group.trials["model"] == "dsprites/ae"]
    share = own.groupby("dimension")["correct"].mean().to_numpy(dtype=float)
    size = own.groupby("dimension").size().to_numpy(dtype=float)
    (bars,) = [one for one in ax.containers if isinstance(one, ErrorbarContainer)]
    assert np.asarray(bars[0].get_xdata(), np.float64) == pytest.approx(100 * share)
    ends = np.array([segment[:, 0] for segment in bars[2][0].get_segments()])
    assert np.diff(ends, axis=1)[:, 0] / 2 == pytest.approx(
        100 * np.sqrt(share * (1 - share) / size)
    )
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"{name}, {number}" for number, name in enumerate(DIALS, start=1)
    ]
    chance = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert len(chance) == len(DIALS)
    assert {round(float(np.asarray(line.get_xdata())[0]), 2) for line in chance} == {33.33}


def test_a_discrete_dial_has_no_line_of_chance() -> None:
    group = group_of(task=EXEMPLARS, only=TIME)
    trials = group.trials.assign(
        regime=group.trials["regime"].where(group.trials["dimension"] > 1, None)
    )
    assert [one.thirds for one in shares(trials, THREE[0])] == [False, True, True]
    plate = drawn(DIMENSIONS, found_of(replace(group, trials=trials)))
    assert sum(line.get_linestyle() == "--" for line in panel(plate, "dsprites/ae").lines) == 2
    assert "A discrete dial" in plate.caption


def test_changes_have_means_and_standard_errors() -> None:
    ax = panel(eight(CHANGES), "Slide distance")
    metric = next(one.metric for one in rated().compared if one.metric.column == "slide_distance")
    found = changes(rated().group, metric).groupby("model")["change"].agg(["mean", "sem"])
    found = found.reindex(list(THREE))
    assert points(ax, "D") == pytest.approx(found["mean"].to_list())
    bars = [one for one in ax.containers if isinstance(one, ErrorbarContainer)]
    halves = [float(np.ptp(one[2][0].get_segments()[0][:, 1])) / 2 for one in bars]
    assert halves == pytest.approx(found["sem"].to_list())


def test_changes_are_the_last_less_the_first_questions() -> None:
    metrics = {one.metric.column: one.metric for one in rated().compared}
    # Every question takes a second less; 3 of 7 questions are first and 3 last, four apart.
    assert set(changes(rated().group, metrics["response_time_s"])["change"]) == {-4.0}
    # Solved, skipped, solved … skipped, solved: as many in the first as in the last three.
    assert set(changes(rated().group, metrics["completion_rate"])["change"]) == {0.0}
    assert changes(rated().group, metrics["seq"]).empty
    two = replace(rated().group, trials=rated().group.trials[rated().group.trials["trial"] < 3])
    assert changes(two, metrics["response_time_s"]).empty
    assert draw(CHANGES, [replace(rated(), group=two)]) is None


def test_ratings_have_means_and_standard_deviations() -> None:
    ax = panel(eight(RATINGS), "Mental demand")
    found = rated().group.values.groupby("model")["mental_demand"].agg(["mean", "std"])
    found = found.reindex(list(THREE))
    assert [bar.get_y() + bar.get_height() for bar in ax.patches] == pytest.approx(
        found["mean"].to_list()
    )
    bars = [one for one in ax.containers if isinstance(one, ErrorbarContainer)]
    halves = [float(np.ptp(one[2][0].get_segments()[0][:, 1])) / 2 for one in bars]
    assert halves == pytest.approx(found["std"].to_list())
    low, high = ax.get_ylim()
    assert low <= (found["mean"] - found["std"]).min()
    assert high >= (found["mean"] + found["std"]).max()
    four = group_of(n=4, rated=True, only=("mental_demand",))
    few = panel(drawn(RATINGS, found_of(four)), "Mental demand")
    assert not few.patches
    assert len(points(few, "o")) == 12


def test_a_figure_says_of_whom_it_is() -> None:
    found = found_of(group_of(only=TIME))
    (title, some, none) = (
        drawn(
            BOXES, replace(found, group=replace(found.group, simulated=simulated))
        ).figure.get_label()
        for simulated in (8, 3, 0)
    )
    assert title.endswith("made-up: 8 participants, all simulated")
    assert some.endswith("made-up: 8 participants, 3 simulated")
    assert none.endswith("made-up: 8 participants")


@pytest.mark.parametrize("models", [THREE[:2], SEVEN, (*SEVEN[:4], *LONG)])
def test_names_of_models_do_not_touch(models: Sequence[str]) -> None:
    same = [f"mnist/{model.partition('/')[2]}" for model in models]
    for plate in plates([found_of(group_of(same, 6))]):
        for ax in laid_out(plate.figure):
            boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
            for one, other in pairwise(boxes):
                assert one.x1 <= other.x0, plate.name
            rows = sorted(
                (label.get_window_extent() for label in ax.get_yticklabels()), key=lambda b: b.y0
            )
            for one, other in pairwise(rows):
                assert one.y1 <= other.y0 + 0.5, plate.name


def laid_out(figure: Figure) -> list[Axes]:
    FigureCanvasAgg(figure).draw()
    return [ax for ax in figure.axes if ax.get_visible()]


def test_long_names_are_broken_where_they_have_joints() -> None:
    assert drawing.wrap("beta-vae-annealed", 0.6) == "beta-vae-\nannealed"
    assert drawing.wrap("factorvae", 0.1) == "factorvae"
    assert "".join(drawing.wrap(LONG[1], 0.5).split("\n")) == LONG[1]
    assert drawing.names_of(["m/ae", "m/gt"], 0.5).upright is False
    turned = drawing.names_of(["m/a_long_name_in_a_narrow_place", "m/gt"], 0.3)
    assert turned.upright
    assert turned.lines <= 2


def test_the_same_numbers_give_the_same_file(tmp_path: Path) -> None:
    texts = []
    for run in ("one", "two"):
        folder = tmp_path / run
        folder.mkdir()
        plate = drawn(BOXES, found_of(group_of()))
        vector, picture, printed = plate.save(folder)
        texts.append(vector.read_text("utf-8"))
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert printed.read_bytes().startswith(b"%PDF")
        assert with_ids(plate.svg, f"s1-{plate.name}") in re.sub(
            r'\bid="|href="#|url\(#', r"\g<0>s1-made-up-reconstruction-metrics-", texts[0]
        )
        with pytest.raises(FileExistsError):
            plate.save(folder)
    assert texts[0] == texts[1]
    assert texts[0].startswith("<?xml")
    assert "<image" not in texts[0]
