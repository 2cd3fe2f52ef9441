"""Heat maps: which matrices are drawn, and that what is written in them is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from labapp.models.metrics.evaluation import figures
from labapp.models.metrics.evaluation.scores import MetricOutcome, compute_all
from labapp.models.metrics.inputs import Score
from labapp.models.metrics.registry import METRICS

CODES, FACTORS = ("c1", "c2", "c3"), ("shape", "a $very$ long name of a factor")


def outcome(name: str, **parts: object) -> MetricOutcome:
    return MetricOutcome(METRICS[name], Score(name, 0.25, parts, {}))  # type: ignore[arg-type]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def test_a_matrix_that_metrics_share_is_drawn_once() -> None:
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(300, 2))
    codes = np.column_stack([factors, rng.normal(size=300)])
    found = compute_all(codes, factors, names=("mig", "dcimig", "modularity", "dci"))
    shown = figures.panels(found, 3, 2)
    names = {panel.name: [score.metric for score in panel.scores] for panel in shown}
    assert names["mutual_information"] == ["mig", "dcimig", "modularity"]
    assert names["importance"] == ["dci"]


def test_what_is_no_matrix_of_codes_and_factors_is_not_drawn() -> None:
    square = np.eye(2)
    found = [
        outcome("ois", purity=square, oracle=square, deviation=square, per_code=np.zeros(2)),
        MetricOutcome(METRICS["nis"], reason="none"),
    ]
    assert [panel.name for panel in figures.panels(found, 2, 2)] == ["purity"]
    assert figures.panels(found, 3, 2) == []


def test_cells_say_their_numbers_in_place() -> None:
    matrix = np.array([[0.0, 1.0], [0.25, np.nan], [0.5, -0.75]])
    (panel,) = figures.panels([outcome("mig", mutual_information=matrix)], 3, 2)
    figure = figures.draw([panel], CODES, FACTORS)
    assert texts(figure)[1:] == ["0.00", "1.00", "0.25", "–", "0.50", "-0.75"]
    assert texts(figure)[0] == "mutual information, nats"
    (ax,) = figure.axes
    assert ax.get_title(loc="left") == "MIG\u00a00.25\n"
    assert [label.get_text() for label in ax.get_yticklabels()] == list(CODES)
    across = [label.get_text() for label in ax.get_xticklabels()]
    assert across == ["shape", "a $very$ long…"]


@pytest.mark.parametrize(("least", "white"), [(0.52, 0.5), (0.5, 0.5), (0.46, 0.46)])
def test_areas_under_roc_curves_are_white_at_chance(least: float, white: float) -> None:
    matrix = np.array([[1.0, least], [least, 0.9]])
    (panel,) = figures.panels([outcome("ois", purity=matrix)], 2, 2)
    (ax,) = figures.draw([panel], CODES[:2], FACTORS).axes
    assert ax.collections[0].get_clim() == (white, 1.0)
    (panel,) = figures.panels([outcome("dci", importance=matrix)], 2, 2)
    (ax,) = figures.draw([panel], CODES[:2], FACTORS).axes
    assert ax.collections[0].get_clim() == (0.0, 1.0)


def test_large_matrices_have_a_scale_in_place_of_numbers() -> None:
    matrix = np.random.default_rng(0).random((30, 20))
    (panel,) = figures.panels([outcome("mig", mutual_information=matrix)], 30, 20)
    figure = figures.draw([panel], [f"c{at}" for at in range(30)], [f"z{at}" for at in range(20)])
    assert len(figure.axes) == 2
    assert texts(figure) == ["mutual information, nats"]


@pytest.mark.parametrize("rows", [1, 5, 40])
def test_what_numbers_are_stands_between_the_title_and_the_map(rows: int) -> None:
    matrix = np.random.default_rng(0).random((rows, 2))
    (panel,) = figures.panels([outcome("r4", r4=matrix)], rows, 2)
    figure = figures.draw([panel], [f"c{at}" for at in range(rows)], FACTORS)
    figure.draw_without_rendering()
    ax, point = figure.axes[0], figure.dpi / 72
    unit = ax.texts[0].get_window_extent()
    assert 0 < unit.y0 - ax.bbox.y1 < 6 * point
    # The title's last line is empty; it is as high as the others.
    title = ax._left_title.get_window_extent()  # type: ignore[attr-defined]
    assert title.y0 + title.height / 2 > unit.y1 - 2 * point


def test_a_large_matrix_of_zeros_is_white_on_a_plain_scale() -> None:
    (panel,) = figures.panels([outcome("r4", r4=np.zeros((30, 2)))], 30, 2)
    ax, _ = figures.draw([panel], [f"c{at}" for at in range(30)], FACTORS).axes
    assert ax.collections[0].get_clim() == (0.0, 1.0)


@pytest.mark.parametrize("value", [0.0, 0.3, -0.2, np.nan])
def test_a_matrix_of_one_value_is_drawn(value: float) -> None:
    panels = figures.panels([outcome("mig", mutual_information=np.full((3, 2), value))], 3, 2)
    assert len(texts(figures.draw(panels, CODES, FACTORS))) == 7


def test_figures_are_the_same_bytes_again_and_overwrite_nothing(tmp_path: Path) -> None:
    found = [outcome("mig", mutual_information=np.arange(6.0).reshape(3, 2))]
    shown = figures.panels(found, 3, 2)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        figures.save(figures.draw(shown, CODES, FACTORS), tmp_path / folder, "mig")
    for ending in ("svg", "png"):
        one, two = ((tmp_path / folder / f"mig.{ending}").read_bytes() for folder in ("one", "two"))
        assert one == two
    with pytest.raises(FileExistsError):
        figures.save(figures.draw(shown, CODES, FACTORS), tmp_path / "one", "mig")
