"""What benchmarks write and compare."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import (
    long_session,
    many_bundles,
    ratchet,
    replay_window,
    simulated_studies,
    slider_path,
)
from benchmarks.ratchet import NotMeasured, Tree, Values, accepted, compared, in_turns
from benchmarks.simulated_studies import printed
from labapp.papers.interactive_reconstruction import results
from labapp.session.gate import gate

CPU = [1.0, 1.0, 1.0, 1.0, 1.2, 9.0, 0.5]


def runs(values: list[float], name: str = "cpu_s") -> list[Values]:
    return [{name: value, "wall_s": 2 * value} for value in values]


@pytest.mark.parametrize(("factor", "too_high"), [(1.0, False), (1.09, False), (1.11, True)])
def test_a_median_more_than_a_tenth_above_the_other_is_named(factor: float, too_high: bool) -> None:
    here = runs([factor * value for value in CPU])
    cpu, wall = compared("help", here, runs(CPU), {})
    assert (cpu.name, cpu.too_high) == ("help.cpu_s", too_high)
    assert wall.limit is None, "wall time is printed and does not decide"
    assert not wall.too_high


def test_pairs_are_compared_so_that_a_machine_that_slows_down_changes_nothing() -> None:
    slower_and_slower = [float(2**turn) for turn in range(7)]
    (row, _) = compared(
        "help", runs([1.2 * v for v in slower_and_slower]), runs(slower_and_slower), {}
    )
    assert row.quartiles == pytest.approx((1.2, 1.2, 1.2))
    assert row.too_high


def test_instructions_decide_where_they_can_be_counted() -> None:
    here = 2 * [{"cpu_s": 5.0, "instructions": 1e9}]
    there = 2 * [{"cpu_s": 1.0, "instructions": 1e9}]
    assert [row.too_high for row in compared("help", here, there, {})] == [False, False]


def test_a_limit_is_of_a_figure_or_of_one_of_its_values() -> None:
    here = 2 * [{"cpu_s": 1.3, "peak_mib": 130.0}]
    there = 2 * [{"cpu_s": 1.0, "peak_mib": 100.0}]
    assert [row.too_high for row in compared("home", here, there, {"home": 1.5})] == [False, False]
    limits = {"home": 1.5, "home.peak_mib": 1.2}
    assert [row.too_high for row in compared("home", here, there, limits)] == [False, True]


def test_an_exception_without_a_reason_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ratchet.toml"
    path.write_text('[[exception]]\nfigure = "help"\nlimit = 1.4\nreason = "a new command"\n')
    assert accepted(path) == {"help": 1.4}
    path.write_text('[[exception]]\nfigure = "help"\nlimit = 1.4\nreason = " "\n')
    with pytest.raises(ValueError, match="'help' has no reason"):
        accepted(path)
    accepted()  # those of the repository have one each


def test_trees_are_measured_in_turns_and_the_first_run_does_not_count(tmp_path: Path) -> None:
    order = []

    def measure(tree: Tree) -> Values:
        order.append(tree.name)
        return {"cpu_s": float(len(order))}

    trees = [Tree(name, tmp_path, tmp_path) for name in ("here", "there")]
    here, there = in_turns(measure, *trees, 7)
    assert len(here) == len(there) == 7
    assert order[:6] == ["there", "here", "here", "there", "there", "here"]
    assert here[0] == {"cpu_s": 3.0}


def test_a_process_is_measured_and_its_failure_is_told(tmp_path: Path) -> None:
    tree = Tree("here", ratchet.HERE, tmp_path)
    printed, values = tree.run("-c", "print(sum(range(3_000_000)))")
    assert printed.strip() == "4499998500000"
    assert 0 < values["cpu_s"] <= values["wall_s"] * 2
    assert values["peak_mib"] > 5
    with pytest.raises(NotMeasured, match="no such figure"):
        tree.run("-c", "raise SystemExit('no such figure')")


def test_each_figure_has_a_value_that_decides() -> None:
    assert set(ratchet.DECIDES) == set(ratchet.PROCESSES)
    assert all(ratchet.DECIDES.values())


@pytest.mark.parametrize(
    ("study", "model", "like"),
    [
        ("mnist-crowd", "mnist8k/ae5", ("mnist", "ae5")),
        ("synthetic-crowd", "sinelines/vae", ("sinelines", "vae")),
    ],
)
def test_a_shipped_model_has_the_number_of_the_model_like_it(
    study: str, model: str, like: tuple[str, str]
) -> None:
    rows = [
        row
        for row in results.rows()
        if (row.study, row.task, row.dataset, row.model) == (study, "reconstruction", *like)
        and (row.quantity, row.measure) == ("completion_rate", "mean")
        and row.source in results.TABLES
    ]
    assert printed(study, "reconstruction", model, "completion_rate").startswith(rows[0].printed)


STUDIES = {
    "long_session": long_session.STUDY.format(minutes=5),
    "replay_window": replay_window.STUDY.format(minutes=5),
    "slider_path": slider_path.STUDY.format(
        model="sinelines/gt", distance="dsprites", overlay="true"
    ),
}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_of_a_benchmark_is_in_order(name: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(STUDIES[name])
    gate(path)


def test_the_shortened_study_of_many_bundles_is_in_order(tmp_path: Path) -> None:
    gate(many_bundles.shorter(tmp_path))


@pytest.mark.parametrize("part", [simulated_studies.CROWDS[0], simulated_studies.CROWDS[1]])
def test_a_simulated_study_is_in_order(part: str, tmp_path: Path) -> None:
    gate(simulated_studies.study_of(part, tmp_path))
