"""The declared contrasts are planned for the smallest effects, as statsmodels has the power."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from labapp.analysis.columns import table_columns
from labapp.analysis.tables import Tables, build_frame
from labapp.cli.main import main
from labapp.session.planning import declared_contrasts
from labapp.session.planning.declared_contrasts import (
    _sessions,
    equivalence_power,
    left_out,
    plan_contrasts,
    power,
    scale_of,
)
from labapp.study import loading
from labapp.study.design import Contrast, Design
from labapp.study.loading import LoadedStudy
from tests.analysis.design.studies import MODELS, cells, study
from tests.analysis.design.test_analyses import DESIGN
from tests.helpers.pages import problems
from tests.session.sessions import begin_session

STUDY = """
id: own
title: Own
version: 1
unnamed_texts: shipped
participants: {{pattern: "P{{:02d}}"}}
recording: {{audio: "off"}}
design:
  between: {{hint: ["with", "without"]}}
  by_moderator: [hint]
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
    assert equivalence_power(effect, (n,), 1, 1.0, 0.05)[0] == pytest.approx(share, abs=0.03)


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
    assert "power of 80 %: 34 participants" in told
    assert {p.name for p in out.iterdir()} >= {
        "contrasts.csv", "power.csv", "plan.html", "figures",
    }  # fmt: skip
    page = (out / "plan.html").read_text("utf-8")
    assert page.count("<figure>") == 1
    assert not problems(page)
    assert "Without a pilot study" in page, "nothing is known of who drops out"


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


OWN = """
id: own
title: Own
version: 1
unnamed_texts: shipped
recording: {{audio: "off"}}
design:
  {{between: {{hint: ["with", "without"]}}, by_moderator: [hint], within: [model], assign: number}}
analysis:
  outcomes: {{primary: [completion_rate], secondary: [response_time_s]}}
  transform: {{response_time_s: log}}
  contrasts: [{{name: first, model: {{{a}: 1, {b}: -0.5, {c}: -0.5}}}}]
  smallest_effect: {{response_time_s: {{contrast: first, raw: 4}}}}
flow:
  - stages: {{task: reconstruction, models: [{a}, {b}, {c}], trials: 5, skip: always}}
"""


@pytest.fixture
def own(tmp_path: Path) -> LoadedStudy:
    path = tmp_path / "own.yaml"
    path.write_text(OWN.format(**dict(zip("abc", MODELS, strict=True))), encoding="utf-8")
    return loading.load(str(path))


def test_a_pilot_with_people_left_out_and_gaps_gives_variance_and_who_to_recruit(
    own: LoadedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of 20 are excluded and three more lack a model: 15 are left, and their spread counts."""
    tables = study(DESIGN, n=20, gaps=3)
    away = tables.participants["participant"].isin(["P19", "P20"])
    frames = tables.small()
    for name, frame in frames.items():
        if "included" in frame and "participant" in frame:
            out = frame["participant"].isin(["P19", "P20"])
            frames[name] = frame.assign(included=frame["included"] & ~out)
    assert away.sum() == 2
    pilots = Tables.of(frames, build_frame([], table_columns()["snapshots"]))
    monkeypatch.setattr(declared_contrasts, "_sessions", lambda paths: pilots)
    (planned,) = plan_contrasts(own, [Path("pilot")])
    pilot = planned.pilot
    assert pilot is not None
    assert (pilot.recruited, pilot.counted, pilot.n, pilot.df) == (20, 18, 15, 13)
    wide = cells(pilots.included(), "response_time_s").astype(float).dropna()
    scores = wide[MODELS[0]] - wide[[MODELS[1], MODELS[2]]].mean(axis=1)
    groups = [int(name[1:]) % 2 for name in wide.index]
    parts = [scores[np.equal(groups, at)] for at in (0, 1)]
    within = sum((part - part.mean()).pow(2).sum() for part in parts)
    assert pilot.sd == pytest.approx(np.sqrt(within / 13)), "in seconds: nothing is transformed"
    low, high = 13 * pilot.sd**2 / stats.chi2.ppf([0.975, 0.025], 13)
    assert [pilot.sd_at(0.025), pilot.sd_at(0.975)] == pytest.approx(np.sqrt([low, high]))
    need = planned.needs[0.8]
    assert need.difference is not None
    assert need.careful is not None
    assert need.careful > need.difference
    recruit = planned.recruit(need.difference)
    assert recruit is not None
    assert recruit % 2 == 0, "as many with and without a hint"
    assert 0 <= recruit - need.difference / 0.75 < 2
    careful = planned.recruit(need.careful, careful=True)
    assert careful is not None
    assert careful / need.careful > 20 / 15, "the share is not known exactly either"
    interval = stats.binomtest(15, 20, alternative="greater").proportion_ci(0.8)
    assert pilot.usable_low == pytest.approx(interval.low)
    page = declared_contrasts.page(own, [planned], declared_contrasts.plate([planned]))
    told = [
        "20 participants recruited, 2 of them left out", "3 more without a value in some cell",
        f"recruit {recruit}", "95 % interval",
    ]  # fmt: skip
    assert [text for text in told if text not in page] == []
    (row, _) = declared_contrasts.summary([planned])
    assert (row["recruit"], row["n_pilot_recruited"], row["n_pilot"]) == (recruit, 20, 15)
    assert "imulated" not in page


@pytest.mark.parametrize("programs", [0, 5, 20])
def test_a_pilot_of_simulated_participants_says_so(
    own: LoadedStudy, monkeypatch: pytest.MonkeyPatch, programs: int
) -> None:
    frames = study(DESIGN, n=20).small()
    simulated = [at < programs for at in range(20)]
    frames["participants"] = frames["participants"].assign(simulated=simulated)
    pilots = Tables.of(frames, build_frame([], table_columns()["snapshots"]))
    monkeypatch.setattr(declared_contrasts, "_sessions", lambda paths: pilots)
    (planned,) = plan_contrasts(own, [Path("pilot")])
    page = declared_contrasts.page(own, [planned], declared_contrasts.plate([planned]))
    told = {0: "20 participants recruited", 5: "5 of them simulated", 20: "all of them simulated"}
    for text in (page, "\n".join(declared_contrasts.words([planned]))):
        assert [words in text for words in told.values()] == [n == programs for n in told]
    assert "Nothing was simulated" not in page
    assert declared_contrasts.summary([planned])[0]["n_pilot_simulated"] == programs


def test_trial_runs_are_a_pilot_study_and_so_are_ordinary_sessions(tmp_path: Path) -> None:
    for pilot in (True, False):
        session = begin_session(tmp_path / str(pilot), data=tmp_path / f"data-{pilot}", pilot=pilot)
        session.close("interrupted")
        tables = _sessions([session.folder.path])
        assert list(tables.participants["participant"]) == ["P01"]


def test_what_a_plan_of_contrasts_leaves_out_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study_file(tmp_path, "standardised: 0.5")
    more = "    - {name: opposite, model: {sinelines/ae: -1, sinelines/gt: 1}}\n  smallest_effect"
    text = path.read_text("utf-8").replace("  smallest_effect", more)
    text = text.replace("[completion_rate]", "[completion_rate, response_time_s]")
    path.write_text(text, "utf-8")
    assert run(monkeypatch, str(path), "--contrasts", "--out", str(tmp_path / "plan")) == 0
    told = capsys.readouterr().out
    for what in ("these contrasts is declared: opposite", "these outcomes is declared: response_"):
        assert what in told
        assert what in (tmp_path / "plan/plan.html").read_text("utf-8")
    assert run(monkeypatch, str(path), "--contrasts", "--json") == 0
    printed = capsys.readouterr()
    assert {row["contrast"] for row in json.loads(printed.out)} == {"models"}
    assert "opposite" in printed.err


def test_a_contrast_each_has_its_own_smallest_effect(tmp_path: Path) -> None:
    effects = "[{contrast: models, standardised: 0.5}, {contrast: hint, standardised: 0.8}]"
    smallest = f"  smallest_effect: {{completion_rate: {effects}}}"
    path = tmp_path / "own.yaml"
    hint = "    - {name: hint, hint: {with: 1, without: -1}}\n"
    path.write_text(STUDY.format(smallest=hint + smallest), encoding="utf-8")
    loaded = loading.load(str(path))
    powers = plan_contrasts(loaded, [])
    assert [(each.contrast, each.effect) for each in powers] == [("models", 0.5), ("hint", 0.8)]
    assert left_out(loaded) == []
