"""The studies that benchmarks write are still studies."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import long_session, replay_window, slider_path
from labapp.study.loading import load

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
    assert load(path).path == path
