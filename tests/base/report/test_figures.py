"""Figures: how they look, what is drawn, their widths, and many values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from labapp.analysis import Tables
from labapp.analysis.analyze import report
from labapp.analysis.task_report import Findings, reports
from labapp.base.errors import UsageError
from labapp.base.figure_style import (
    LEAST_PT,
    PALETTES,
    USUAL_LOOK,
    FigureLook,
    looking,
    panels_across,
    points_of,
    style,
)
from labapp.base.report import drawing, kit
from labapp.base.report.drawing import (
    INTERVAL,
    LONGEST_NAMES,
    ReportFigure,
    add_heading,
    finish,
    shorten_names,
)
from labapp.base.report.listing import FOLDED_FROM, SHOWN_ROWS, format_first_rows, records
from labapp.base.report.page import UNITS, look_of
from labapp.papers.interactive_reconstruction.figures import plates as compared_plates
from labapp.tasks.concept_repair.report.contents import REPORT as CONCEPT_REPAIR
from labapp.tasks.concept_repair.report.figures import plates as concept_plates
from labapp.tasks.reconstruction.report.labels import figures as labels
from labapp.tasks.reconstruction.report.labels.sheet import find
from labapp.tasks.unmasking.report.figures import plates as unmasking_plates
from tests.helpers import repairers, unmasked
from tests.helpers.cohort import cohort
from tests.helpers.compared import SEVEN, found_of, group_of
from tests.tasks.reconstruction_report.labels import cohort as named
from tests.tasks.reconstruction_report.labels.test_tables import faint


def test_nothing_asked_is_the_usual_look() -> None:
    assert look_of() == USUAL_LOOK


@given(st.floats(3, 10), st.sampled_from(list(UNITS)))
def test_a_width_is_the_same_in_every_unit(inches: float, unit: str) -> None:
    assert look_of(f"{inches / UNITS[unit]:.6f}{unit}").width_in == pytest.approx(inches, abs=1e-5)


def test_text_is_smaller_in_a_column_and_never_unreadable() -> None:
    with looking(FigureLook(width_in=3.33)):
        assert points_of(9) == 8
        assert points_of(7.5) == points_of(7) == 7
        assert (panels_across(4), panels_across(2), panels_across(7)) == (1, 1, 2)
    with looking(look_of("7in", size="6pt")):
        assert points_of(9) == pytest.approx(6)
    assert points_of(7.5) == 7.5


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"width": "3.33"}, "this is not a length"),
        ({"width": "wide"}, "this is not a length"),
        ({"width": "3.33 feet"}, "in, cm, mm, pt"),
        ({"width": "1mm"}, "between 2.5 and 20 in"),
        ({"size": "2pt"}, "between 4 and 24 pt"),
        ({"palette": "rainbow"}, "labapp, okabe-ito, greys"),
        ({"font": "No Such Font"}, "DejaVu Sans"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(asked: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        look_of(**asked)


def test_a_font_is_found_however_it_is_written() -> None:
    assert look_of(font="dejavu serif").font == "DejaVu Serif"


def test_there_is_a_palette_for_the_colour_blind_and_one_without_colour() -> None:
    assert "okabe-ito" in PALETTES
    assert all(len({c[1:3], c[3:5], c[5:7]}) == 1 for c in PALETTES["greys"].cycle)


WORDS = st.text("ab-", min_size=1, max_size=120)


@given(st.lists(WORDS, unique=True, min_size=1, max_size=12))
def test_names_are_short_and_stay_apart(names: list[str]) -> None:
    short = shorten_names(names)
    assert len(set(short)) == len(names)
    assert all(len(name) <= max(LONGEST_NAMES) for name in short)
    assert all(new == old for new, old in zip(short, names, strict=True) if "…" not in new)


def test_nothing_of_a_name_says_which_model_it_is() -> None:
    assert shorten_names(["a/vae", "a/ae"]) == ["a/vae", "a/ae"]
    assert shorten_names(["a/vae", "b/vae", "alone"]) == ["a/vae", "b/vae", "alone"]
    middle = shorten_names(["x" * 50 + "1" + "y" * 50, "x" * 50 + "2" + "y" * 50])
    assert [name[-3:] for name in middle] == ["… 1", "… 2"]


def test_nothing_is_burnt_into_a_figure_that_belongs_into_its_caption(tmp_path: Path) -> None:
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot([1, 2])
    add_heading(figure, "Metrics by model", "a-study", 8, 8)
    plate = ReportFigure("one", figure, "Metrics by model", "A point is a participant.")
    paths = plate.save(tmp_path)
    assert [path.suffix for path in paths] == [".svg", ".png", ".pdf"]
    assert "a-study" not in paths[0].read_text("utf-8")
    assert plate.told == (
        "**Metrics by model · a-study: 8 participants, all simulated.** A point is a participant."
    )


def test_points_and_lines_end_where_they_cannot_be_told_apart() -> None:
    def marks(n: int) -> tuple[int, int]:
        ax = Figure().subplots()
        kit.strips(ax, np.random.default_rng(1).normal(size=(n, 2)), joined=True)
        most = max(len(np.atleast_1d(line.get_xdata())) for line in ax.lines)
        return most, len(ax.collections)

    few, some, many = marks(8), marks(kit.POINTS_UP_TO), marks(800)
    assert few[0] == 8
    assert some[0] == kit.POINTS_UP_TO
    assert many[0] < 10, "the box alone"
    assert few[1] == some[1] + 1 == many[1] + 1, "the lines of participants"


@pytest.mark.parametrize("width", [3.33, 10.0])
@pytest.mark.parametrize("count", [2, 6, 12, 30])
def test_names_leave_room_for_what_is_drawn(count: int, width: float) -> None:
    """A figure without room warns, and warnings are errors here."""
    models = [f"concepts/shapes-graded-logits-of-a-lab-16-8-{number}" for number in range(count)]
    values = np.random.default_rng(0).uniform(0, 100, (5, count))
    panels = [kit.StripPanel(name, "0–100", values, (0.0, 100.0)) for name in "ab"]
    with looking(FigureLook(width_in=width)):
        drawing = kit.strip_panels(panels, models, "names", "Workload by model", 2)
    assert drawing.svg.count("<g id=") > 2 * count


def _heads(figure: Figure) -> list[tuple[str, float, float]]:
    """The arrowheads at the edges."""
    (ax,) = figure.axes
    heads = []
    for line in ax.lines:
        if line.get_label() == INTERVAL and line.get_marker() in tuple("<>^v"):
            x, y = (float(np.ravel(of)[0]) for of in line.get_data())
            heads.append((str(line.get_marker()), x, y))
    return heads


@pytest.mark.parametrize("upside_down", [False, True])
def test_an_interval_that_is_cut_at_the_axis_ends_in_an_arrowhead(upside_down: bool) -> None:
    figure = Figure()
    ax = figure.subplots()
    kit.vertical_interval(ax, [1, 2, 3], [-5, 20, 30], [40, 110, 60])
    kit.horizontal_interval(ax, (-20, 50), 50)
    ax.errorbar(8, 95, yerr=30)
    ax.set(xlim=(0, 10), ylim=(100, 0) if upside_down else (0, 100))
    finish(figure)
    finish(figure)
    below, above = ("^", "v") if upside_down else ("v", "^")
    assert sorted(_heads(figure)) == sorted(
        [(below, 1, 0), (above, 2, 100), ("<", 0, 50), (">", 10, 50), (above, 8, 100)]
    )


def test_an_interval_within_the_axis_has_none() -> None:
    figure = Figure()
    ax = figure.subplots()
    kit.vertical_interval(ax, [1, 2], [0, np.nan], [100, 120])
    ax.set(xlim=(0, 10), ylim=(0, 100))
    finish(figure)
    assert not _heads(figure)


@pytest.mark.parametrize("lying", [False, True])
def test_many_people_on_few_values_are_a_point_a_value(lying: bool) -> None:
    ax = Figure().subplots()
    values = np.repeat([0.0, 20.0, 40.0, 60.0, 80.0, 100.0], [2, 8, 40, 60, 50, 40])
    kit.cloud(ax, 1.0, values, 0.1, lying=lying)
    along = [np.ravel(line.get_xdata() if lying else line.get_ydata()) for line in ax.lines]
    assert [float(value[0]) for value in along] == [0, 20, 40, 60, 80, 100]
    sizes = [line.get_markersize() for line in ax.lines]
    assert sizes.index(max(sizes)) == 3
    assert sizes[1] / sizes[0] == pytest.approx(2), "the area counts people"
    few, none = Figure().subplots(), Figure().subplots()
    kit.cloud(few, 1.0, values[: kit.POINTS_UP_TO], 0.1)
    assert sum(np.size(line.get_xdata()) for line in few.lines) == kit.POINTS_UP_TO
    kit.cloud(none, 1.0, np.linspace(0, 100, 200), 0.1)
    assert not none.lines, "200 points beside each other say nothing"


def test_long_lists_are_folded_away() -> None:
    def listed(n: int) -> str:
        return str(
            format_first_rows(("Participant", "Answer"), [(f"P{i}", "yes") for i in range(n)])
        )

    assert "<details>" not in listed(FOLDED_FROM - 1)
    assert f"<summary>The list of {FOLDED_FROM} entries</summary>" in listed(FOLDED_FROM)
    long = listed(SHOWN_ROWS + 7)
    assert "7 more rows are in the tables next to this page." in long
    assert long.index("<details>") < long.index("7 more rows")


def test_rows_of_a_table_are_plain_values_and_none() -> None:
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None], "Int64"),
            "share": [0.5, np.nan],
            "yes": pd.array([None, True], "boolean"),
            "any": pd.Series([np.float64(2), [1, 2]], dtype=object),
            3: ["a", None],
        }
    )
    rows = records(frame)
    assert rows == [
        {"n": 1, "share": 0.5, "yes": None, "any": 2.0, "3": "a"},
        {"n": None, "share": None, "yes": True, "any": [1, 2], "3": None},
    ]
    kinds = [type(value) for value in rows[0].values()]
    assert kinds == [int, float, type(None), float, str]
    assert records(frame[:0]) == []


COLUMN = FigureLook(width_in=3.33)

NAMES = {"mnist8k/tc5": named.TC5, "mnist8k/tc10": named.TC10}


def of_labels() -> list[ReportFigure]:
    return labels.plates(find(named.tables(named.cohort(NAMES)), measured=faint(3)))


def of_concepts() -> list[ReportFigure]:
    with TemporaryDirectory() as folder:
        tables = repairers.cohort(Path(folder), ["learner", "stubborn", "misled"])
        (results,) = CONCEPT_REPAIR.findings(tables.included(), ())
    return concept_plates(results)


SOURCES: dict[str, Callable[[], list[ReportFigure]]] = {
    "unmasking": lambda: unmasking_plates(unmasked.found()),
    "compared": lambda: compared_plates([found_of(group_of(rated=True))]),
    "seven": lambda: compared_plates([found_of(group_of(SEVEN, rated=True))]),
    "labels": of_labels,
    "concepts": of_concepts,
}


def undrawn(axes: list[Axes]) -> set[Text]:
    """The labels of ticks beyond the axes."""
    every, shown = set[Text](), set[Text]()
    for axis in (axis for ax in axes for axis in (ax.xaxis, ax.yaxis)):
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        every.update(label for tick in ticks for label in (tick.label1, tick.label2))
        if axis.get_visible() and axis.axes.get_visible() and axis.axes.axison:
            drawn = axis._update_ticks()  # type: ignore[attr-defined]
            shown.update(label for tick in drawn for label in (tick.label1, tick.label2))
    return every - shown


def boxes(figure: Figure) -> Iterator[tuple[Text, Bbox]]:
    """What is written, and where, in pixels."""
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    figure.draw_without_rendering()
    hidden = undrawn(figure.findobj(Axes))
    for text in figure.findobj(Text):
        unseen = text in hidden or not text.get_visible() or not text.get_text().strip()
        if not unseen and (text.axes is None or text.axes.get_visible()):
            box = text.get_window_extent(renderer)
            if box.width > 1 and box.height > 1:
                yield text, box


def faults(figure: Figure) -> list[str]:
    """What cannot be read."""
    written = list(boxes(figure))
    told = []
    for (one, a), (two, b) in combinations(written, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        down = min(a.y1, b.y1) - max(a.y0, b.y0)
        if across > 1 and down > 2:
            told.append(f"{one.get_text()!r} lies on {two.get_text()!r}")
    whole = figure.bbox
    for text, box in written:
        if min(box.x0, box.y0) < -1 or box.x1 > whole.width + 1 or box.y1 > whole.height + 1:
            told.append(f"{text.get_text()!r} is beyond the figure")
        if text.get_fontsize() < LEAST_PT:
            told.append(f"{text.get_text()!r} has {text.get_fontsize():.1f} pt")
    return told


@pytest.mark.parametrize("source", SOURCES)
def test_labels_do_not_lie_on_each_other_in_a_column(source: str) -> None:
    with looking(COLUMN), mpl.rc_context(style()):
        plates = SOURCES[source]()
        assert plates
        for plate in plates:
            finish(plate.figure)
            assert plate.figure.get_figwidth() == pytest.approx(3.33)
            assert not faults(plate.figure), plate.name


@pytest.mark.parametrize("tables", [lambda: cohort(4), lambda: named.tables(named.cohort(NAMES))])
def test_the_figures_of_a_page_fit_too(
    tables: Callable[[], Tables], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    text_of = drawing.svg_text
    monkeypatch.setattr(drawing, "svg_text", lambda figure: drawn.append(figure) or text_of(figure))
    given = tables()
    with looking(COLUMN), mpl.rc_context(style()):
        findings = Findings.find(given.included())
        report(given, findings=findings)
        assert drawn
        for each, results in findings.of.items():
            for plate in each.plates(findings.counted, results):
                finish(plate.figure)
                drawn.append(plate.figure)
        for figure in dict.fromkeys(drawn):
            assert figure.get_figwidth() == pytest.approx(3.33)
            assert not faults(figure)


def test_files_have_the_width_the_font_and_the_palette(tmp_path: Path) -> None:
    look = FigureLook(width_in=3.33, size_pt=7.5, font="STIXGeneral", palette="greys")
    with looking(look):
        plate = SOURCES["compared"]()[0]
        vector, _, printed = plate.save(tmp_path)
    svg = vector.read_text("utf-8")
    width = re.search(r'<svg [^>]*?width="([\d.]+)pt"', svg)
    assert width is not None
    assert float(width[1]) == pytest.approx(3.33 * 72, abs=0.01)
    assert "STIXGeneral" in svg
    sizes = {float(size) for size in re.findall(r"font-size: ([\d.]+)px", svg)}
    assert min(sizes) >= 7, "of a figure in px, which are points here"
    colours = {colour.lower() for colour in re.findall(r"#[0-9a-fA-F]{6}", svg)}
    assert all(len({c[1:3], c[3:5], c[5:7]}) == 1 or c == "#edf0f3" for c in colours)
    content = printed.read_bytes()
    assert b"/FontFile2" in content
    assert b"STIXGeneral" in content
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", content)
    assert box is not None
    assert float(box[1]) == pytest.approx(3.33 * 72, abs=0.01)


@pytest.mark.parametrize("palette", PALETTES)
def test_colours_of_lines_differ_in_grey_or_by_their_mark(palette: str) -> None:
    assert len(set(PALETTES[palette].cycle)) == 8


def test_every_report_is_covered() -> None:
    """A new task's figures belong into the tests above."""
    known = {type(each).__module__.split(".")[2] for each in reports()}
    assert known <= {
        "design", "judging", "reconstruction", "single_dimension", "unmasking",
        "interactive_reconstruction", "concept_repair",
    }  # fmt: skip
