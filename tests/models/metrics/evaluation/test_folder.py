"""Evaluations: the folder, its files, figures and what the terminal says."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.figure import Figure
from rich.console import Console

from labapp.base.errors import MetricError
from labapp.base.reading import files as outside
from labapp.models.metrics.evaluation import figures, scores
from labapp.models.metrics.evaluation.scores import (
    MetricOutcome,
    _console,
    compute_all,
    show_progress,
)
from labapp.models.metrics.inputs import Score
from labapp.models.metrics.registry import METRICS

NAMES = ("c1", "c2"), ("z1", "z2")


def outcomes() -> list[MetricOutcome]:
    parts = {"importance": np.eye(2), "r2_test": np.array([0.5, np.nan])}
    return [
        MetricOutcome(METRICS["dci"], Score("dci", 0.5, parts, {"seed": 0})),
        MetricOutcome(METRICS["ois"], reason="no classes"),
    ]


def broken_off(path: Path) -> None:
    path.write_text("{}")
    raise FileNotFoundError


def test_every_outcome_is_kept_and_what_is_undefined_is_null(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "scores"
    with scores.new_folder(out):
        written = scores.write(outcomes(), *NAMES, out)
    assert sorted(written) == sorted(out.iterdir())
    whole = json.loads((out / "scores.json").read_text(encoding="utf-8"))
    assert whole["scores"][0]["parts"]["r2_test"] == [0.5, None]
    assert whole["scores"][1] == {"metric": "ois", "score": None, "reason": "no classes"}
    lines = (out / "scores.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("dci,")
    assert ",0.5,higher," in lines[1]
    assert lines[2] == "ois,Oracle impurity score,,lower,no classes"


def test_without_a_score_there_is_no_figure(tmp_path: Path) -> None:
    with scores.new_folder(tmp_path / "scores"):
        scores.write(outcomes()[1:], *NAMES, tmp_path / "scores")
    assert {path.name for path in (tmp_path / "scores").iterdir()} == {"scores.json", "scores.csv"}


def test_a_folder_that_came_to_nothing_is_taken_away_again(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), scores.new_folder(tmp_path / "scores"):
        raise KeyboardInterrupt
    assert not (tmp_path / "scores").exists()
    with pytest.raises(FileNotFoundError), scores.new_folder(tmp_path / "kept"):
        broken_off(tmp_path / "kept/scores.json")
    assert (tmp_path / "kept" / "scores.json").is_file()


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match="exists"), scores.new_folder(tmp_path):
        pytest.fail("the folder was taken for a new one")
    (tmp_path / "scores.json").write_text("mine")
    with pytest.raises(MetricError, match="could not be written"):
        scores.write(outcomes(), *NAMES, tmp_path)
    assert (tmp_path / "scores.json").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(MetricError, match="could not be created"),
        scores.new_folder(tmp_path / "file/in"),
    ):
        pytest.fail("there is no such folder")


VALUES = np.array([[0.5, -1.0], [2.0, 1e-3], [3.25, 7.0]])


def test_an_array_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    np.save(tmp_path / "codes.npy", VALUES)
    found = scores.read(tmp_path / "codes.npy", "c")
    assert np.array_equal(found.values, VALUES)
    assert found.names == ("c1", "c2")


def test_codes_of_several_numbers_are_named_by_code(tmp_path: Path) -> None:
    np.save(tmp_path / "codes.npy", np.zeros((4, 3, 7), np.float32))
    found = scores.read(tmp_path / "codes.npy", "c")
    assert (found.values.shape, found.names) == ((4, 3, 7), ("c1", "c2", "c3"))


@given(arrays(np.float64, (3, 2), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_csv_keeps_every_digit(values: np.ndarray) -> None:
    lines = [",".join(repr(float(value)) for value in row) for row in values]
    path = Path("values.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            outside, "content", lambda *_: "\n".join(["x position,  ", *lines, ""]).encode()
        )
        found = scores.read(path, "z")
    assert np.array_equal(found.values, values)
    assert found.names == ("x position", "z2")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0.5,-1\n2,0.001\n3.25,7\n", ("z1", "z2")),
        ("scale,x\n0.5,-1\n\n2,0.001\n3.25,7", ("scale", "x")),
        ('\ufeff"scale","x, y"\r\n0.5,-1\r\n2,0.001\r\n3.25,7\r\n', ("scale", "x, y")),
    ],
)
def test_csv_with_and_without_names(tmp_path: Path, text: str, names: tuple[str, ...]) -> None:
    path = tmp_path / "factors.CSV"
    path.write_bytes(text.encode())
    found = scores.read(path, "z")
    assert np.array_equal(found.values, VALUES)
    assert found.names == names


def test_what_is_not_a_number_in_a_csv_is_named(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("a,b\n1,2\n3,many\n", encoding="utf-8")
    with pytest.raises(MetricError, match="line 3 contains 'many'"):
        scores.read(path, "c")
    path.write_text("1,2\n3,4,5\n", encoding="utf-8")
    with pytest.raises(MetricError, match="line 2 has 3 cells, and line 1 has 2"):
        scores.read(path, "c")
    path.write_text("", encoding="utf-8")
    with pytest.raises(MetricError, match="empty"):
        scores.read(path, "c")
    path.write_bytes(b"a,b\n\xff\xfe,1\n")
    with pytest.raises(MetricError, match="line 2 contains 'ÿþ'"):
        scores.read(path, "c")


def test_files_that_hold_no_array_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match="no such file"):
        scores.read(tmp_path / "none.npy", "c")
    with pytest.raises(MetricError, match=r"neither \.npy nor \.csv"):
        scores.read(tmp_path / "codes.xlsx", "c")
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(MetricError, match="cannot be read"):
        scores.read(tmp_path / "folder.npy", "c")
    for content in (b"", b"hello", b"\x93NUMPY\x01\x00"):
        (tmp_path / "torn.npy").write_bytes(content)
        with pytest.raises(MetricError, match="not contain a plain array"):
            scores.read(tmp_path / "torn.npy", "c")
    np.savez(tmp_path / "two.npz", a=VALUES, b=VALUES)
    (tmp_path / "two.npz").rename(tmp_path / "two.npy")
    with pytest.raises(MetricError, match="several arrays"):
        scores.read(tmp_path / "two.npy", "c")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "codes.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(MetricError, match="not contain a plain array"):
        scores.read(tmp_path / "codes.npy", "c")


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


def shown(terminal: bool) -> str:
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100, color_system=None)
    with show_progress(console) as say:
        say("dci", None)
        console.print("seen")
        say("r4", None)
        say("r4", 0.25)
        console.print("seen")
    return text.getvalue()


def test_a_terminal_shows_the_metric_and_how_far_it_is() -> None:
    text = shown(terminal=True)
    assert "computing DCI" in text
    assert "computing R4" in text
    assert "25%" in text


def test_nothing_is_written_where_nobody_watches() -> None:
    assert shown(terminal=False) == "seen\nseen\n"


def test_what_is_printed_into_a_file_is_a_hundred_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert _console().width == 100
