"""The alignment over time: what a panel shows, and what it leaves out."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from labapp.analysis import load
from labapp.base.figure_style import FULL_IN, PALETTES, USUAL_PALETTE
from labapp.tasks.reconstruction.report import figures_alignment as figures
from tests.helpers.journals import golden_session

DRAWN = True

Session = tuple[pd.DataFrame, pd.DataFrame]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    tables = load(golden_session(tmp_path_factory.mktemp("data")))
    return tables.trials[tables.trials["role"] == "stage"], tables.snapshots


def drawn(trials: pd.DataFrame, snapshots: pd.DataFrame) -> Figure:
    made: list[Figure] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(figures, "svg_of", lambda figure, name: made.append(figure) or "")
        figures.alignment(trials, snapshots, "q")
    return made[0]


def lines(figure: Figure, color: str) -> list[np.ndarray]:
    """What was drawn in a colour, in inches."""
    rgb = to_rgb(PALETTES[USUAL_PALETTE].cycle[int(color[1:])])
    return [
        line
        for one in figure.axes[0].collections
        if np.allclose(np.asarray(cast(LineCollection, one).get_color())[0, :3], rgb)
        for line in cast(LineCollection, one).get_segments()
    ]


def test_a_line_ends_where_question_and_alignment_do(session: Session) -> None:
    """Stages below each other; the time of a row is as long as its longest question."""
    trials, snapshots = session
    figure = drawn(trials, snapshots)
    series = lines(figure, figures.ACCENT)
    assert len(series) == len(trials) == 6
    width = (FULL_IN - figures.LEFT_IN - figures.BESIDE_IN - figures.GAP_IN) / 2
    tall = figures.ROW_IN - figures.BETWEEN_IN
    rows = trials.sort_values(["stage_number", "trial"]).to_dict("records")
    for number, (trial, line) in enumerate(zip(rows, series, strict=True)):
        left = figures.LEFT_IN + number % 2 * (width + figures.GAP_IN)
        row = figure.get_figheight() - figures.TITLE_IN - figures.ROW_IN * (number // 2)
        longest = max(one["duration_s"] for one in rows if one["stage"] == trial["stage"])
        assert line[0, 0] == pytest.approx(left)
        assert line[0, 1] == pytest.approx(row - tall * (1 - trial["alignment_start"]))
        assert line[-1, 0] == pytest.approx(left + width * trial["duration_s"] / longest)
        assert line[-1, 1] == pytest.approx(row - tall * (1 - trial["alignment_final"]))
        steps = np.diff(line, axis=0)
        assert (steps.prod(axis=1) == 0).all(), "each value is kept until the next"


def test_target_and_times_stand_where_they_belong(session: Session) -> None:
    trials, snapshots = session
    figure = drawn(trials, snapshots)
    width = (FULL_IN - figures.LEFT_IN - figures.BESIDE_IN - figures.GAP_IN) / 2
    tall, top = figures.ROW_IN - figures.BETWEEN_IN, figure.get_figheight() - figures.TITLE_IN
    wide = [line for line in lines(figure, figures.SECONDARY) if np.ptp(line[:, 1]) == 0]
    targets = [line[0, 1] for line in wide if np.ptp(line[:, 0]) == pytest.approx(width)]
    rows = trials.sort_values(["stage_number", "trial"])["target_alignment"]
    assert targets == pytest.approx(
        [top - figures.ROW_IN * (n // 2) - tall * (1 - one) for n, one in enumerate(rows)]
    )
    times = {text.get_text(): text.get_position() for text in figure.axes[0].texts[:4]}
    places = {said: (x - figures.LEFT_IN) / width for said, (x, _) in times.items()}
    assert places == pytest.approx({"0": 0.0, "3": 3 / 9, "6": 6 / 9, "9": 1.0})
    assert {y for _, y in times.values()} == {top - tall - figures.PAD_IN}


def test_the_end_says_what_became_of_the_question(session: Session) -> None:
    figure = drawn(*session)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert [one for one in said if one.startswith("Q")] == [
        *("Q1 solved, 6 s", "Q2 skipped, 9 s", "Q1 solved, 8 s", "Q2 solved, 7 s"),
        *("Q1 solved, 4 s", "Q2 solved, 1 s"),
    ]
    assert [one for one in said if "alignment" in one] == [
        f"{model}\nalignment, %" for model in ("sinelines/gt", "sinelines/vae", "mnist8k/ss2")
    ]
    ends = {one.get_marker(): len(one.get_xdata()) for one in figure.axes[0].lines}
    assert ends == {"o": 5, "X": 1}
    assert not [text for text in figure.axes[0].texts if text.get_window_extent().x0 < 0]


def test_a_question_that_was_never_seen_has_an_empty_panel(session: Session) -> None:
    trials, snapshots = session
    cut = trials.assign(duration_s=trials["duration_s"].where(trials["stage"] != "stage-3"))
    figure = drawn(cut, snapshots[snapshots["stage"] != "stage-2"])
    assert len(lines(figure, figures.ACCENT)) == 2
    said = [text.get_text() for text in figure.axes[0].texts]
    assert {"Q1 solved", "Q2 solved"} < set(said)


def test_a_long_line_keeps_its_shape_with_few_points() -> None:
    t = np.linspace(0, 100, 20_000)
    values = np.full(t.shape, 50.0)
    values[7_777], values[12_345] = 99.0, 1.0
    kept = figures._thin_line(t, values)
    assert len(kept) <= figures.POINTS + 2
    assert {0, 7_777, 12_345, 19_999} <= set(kept.tolist())
