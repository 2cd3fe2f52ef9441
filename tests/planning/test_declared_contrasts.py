"""The declared contrasts are planned for the smallest effects, as statsmodels has the power."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from labapp.cli.main import main
from labapp.planning.declared_contrasts import equivalence_power, power, scale_of
from labapp.study.design import Contrast, Design

STUDY = """
id: own
title: Own
version: 1
participants: {{pattern: "P{{:02d}}"}}
recording: {{audio: "off"}}
design:
  between: {{hint: ["with", "without"]}}
  within: [model]
  assign: number
analysis:
  outcomes: {{primary: [completion_rate]}}
  contrasts:
    - {{name: models, model: {{sinelines/ae: 1, sinelines/gt: -1}}}}
{smallest}
flow:
  - stages: {{task: reconstruction, models: [sinelines/gt, sinelines/ae], trials: 2, skip: always}}
"""


def study_file(folder: Path, effect: str) -> Path:
    smallest = f"  smallest_effect: {{completion_rate: {{contrast: models, {effect}}}}}"
    path = folder / "own.yaml"
    path.write_text(STUDY.format(smallest=smallest if effect else ""), encoding="utf-8")
    return path


@pytest.mark.parametrize("effect", [0.2, 0.5, 1.1])
def test_within_participants_it_is_the_power_of_a_paired_t(effect: float) -> None:
    sizes = (5, 12, 40)
    ours = power(effect, sizes, 1, 1.0, 0.05, one_sided=False)
    expected = [TTestPower().power(effect, n, 0.05) for n in sizes]
    assert ours == pytest.approx(expected, rel=1e-6)
    ours = power(effect, sizes, 1, 1.0, 0.01, one_sided=True)
    expected = [TTestPower().power(effect, n, 0.01, alternative="larger") for n in sizes]
    assert ours == pytest.approx(expected, rel=1e-6)


def test_between_participants_it_is_that_of_two_samples() -> None:
    design = Design.model_validate({"between": {"hint": ["a", "b"]}})
    contrast = Contrast.model_validate({"name": "hint", "hint": {"a": 1, "b": -1}})
    scale, groups = scale_of(contrast, design)
    assert groups == 2
    ours = power(0.6, (10, 40, 80), groups, scale, 0.05, one_sided=False)
    expected = [TTestIndPower().power(0.6, n / 2, 0.05) for n in (10, 40, 80)]
    assert ours == pytest.approx(expected, rel=1e-6)


def test_the_power_of_equivalence_is_what_simulated_studies_have() -> None:
    rng = np.random.default_rng(1)
    n, effect = 40, 0.5
    values = rng.normal(size=(4000, n))
    t_low = (values.mean(axis=1) + effect) / (values.std(axis=1, ddof=1) / np.sqrt(n))
    t_high = (values.mean(axis=1) - effect) / (values.std(axis=1, ddof=1) / np.sqrt(n))
    critical = stats.t.ppf(0.95, n - 1)
    share = np.mean((t_low > critical) & (t_high < -critical))
    assert equivalence_power(effect, (n,), 1, 1.0)[0] == pytest.approx(share, abs=0.03)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit status of `labapp plan`."""
    monkeypatch.setattr("sys.argv", ["labapp", "plan", *arguments])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_the_command_plans_an_effect_in_standard_deviations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study_file(tmp_path, "standardised: 0.5")
    out = tmp_path / "plan"
    assert run(monkeypatch, str(path), "--contrasts", "--out", str(out)) == 0
    told = capsys.readouterr().out
    # 34 differences (TTestPower), and as many in each of two groups, with one mean more.
    assert "power of 80%: 34 participants" in told
    assert {p.name for p in out.iterdir()} >= {
        "contrasts.csv", "power.csv", "power.svg", "power.png",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("effect", "what"), [("", "declares no smallest effect"), ("raw: 0.2", "is not known")]
)
def test_what_is_missing_is_said(
    effect: str,
    what: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run(monkeypatch, str(study_file(tmp_path, effect)), "--contrasts") != 0
    told = " ".join(capsys.readouterr().err.split())
    assert what in told
