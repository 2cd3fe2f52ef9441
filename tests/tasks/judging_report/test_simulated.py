"""The nine published studies, simulated from their files, analysed together: what somebody who
knows the truth, or who follows the explanation, must come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from labapp.analysis.analyze import analyze
from labapp.session.simulation.simulation_job import simulate_study
from tests.analysis.test_report import Page
from tests.helpers import hive
from tests.helpers.statistics_table import of_task

EXPECTED = {
    # Study: right about the class, about the output, about the model, in percent.
    **{name: {"distinction": 100.0} for name in hive.STUDIES if "distinction" in name},
    **{name: {"agreement": 100.0} for name in hive.STUDIES if "agreement" in name},
    **{
        f"{method}-distinction{labels}": {"distinction": 100.0, "output prediction": 50.0}
        for method in ("gradcam", "bagnet")
        for labels in ("", "-labels")
    },
}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One participant of each study who knows the truth."""
    root = tmp_path_factory.mktemp("simulated")
    for name in hive.STUDIES:
        simulate_study(name, 1, "understanding", root / name, seed=5)
    analyze([root / name for name in hive.STUDIES], root / "analysis")
    return root / "analysis"


def test_who_knows_the_truth_is_right_about_all_but_the_output(out: Path) -> None:
    rows = of_task(out / "statistics.csv")
    accuracy = rows[(rows["item"] == 1) & (rows["test"] == "mean")]
    found = {
        study: dict(zip(some["quantity"], some["mean"], strict=True))
        for study, some in accuracy.groupby("study")
    }
    assert found == EXPECTED
    for name in hive.STUDIES:
        own = accuracy[accuracy["study"] == name]
        assert (own["design"] == name).all()
        assert own["published"].notna().all()


def test_every_item_of_the_list_is_there(out: Path) -> None:
    rows = of_task(out / "statistics.csv")
    # 11, the reasons, are listed in the report.
    assert set(rows["item"]) == {*range(1, 11), 12, 13}
    said = Page((out / "report.html").read_text()).text
    assert said.count("Judged explanations, all studies") == 2
    assert "reason" in said
    figures = [path.name for path in (out / "figures").iterdir()]
    assert len([name for name in figures if not name.startswith("flow")]) == 16


def test_who_follows_the_path_believes_every_prediction(tmp_path: Path) -> None:
    simulate_study("prototree-agreement", 2, "explanation", tmp_path / "out", seed=5)
    analyze([tmp_path / "out"], tmp_path / "analysis")
    rows = of_task(tmp_path / "analysis" / "statistics.csv").set_index(["quantity", "test"])
    assert rows.loc[("agreement", "mean"), "mean"].item() == 50.0
    belief = rows.loc[("belief, model wrong", "one-sample t")]
    assert (belief["mean"] >= 3).all()
    ratings = rows.loc[("similarity, others", "mean")]
    assert (ratings["n"] == 0).all()
