"""The studies that benchmarks write are still studies."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import long_session, many_bundles, replay_window, simulated_studies, slider_path
from labapp.session.gate import gate

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
