"""Figures of a column's width: as wide as asked, in the font and size asked for, and no label lies
on another or beyond the figure. Over the figures of all tasks and profiles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from labapp.analysis import Tables
from labapp.analysis.analyze import report
from labapp.analysis.task_report import Findings, reports
from labapp.base.figure_style import LEAST_PT, PALETTES, Look, looking, style
from labapp.base.report import drawing
from labapp.base.report.drawing import ReportFigure, finish
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

COLUMN = Look(width_in=3.33)
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
    look = Look(width_in=3.33, size_pt=7.5, font="STIXGeneral", palette="greys")
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
