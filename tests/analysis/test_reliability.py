"""Reliability of scales from the tables: occasions, versions, missing answers; equal to R."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.anova import AnovaRM

from labapp.analysis.analyze import write
from labapp.analysis.declared import declared_of
from labapp.analysis.design.contents import REPORT, SCRIPT
from labapp.analysis.reliability import TWO_DEFINITIONS, Reliability, reliability
from labapp.analysis.tables import Tables, typed
from labapp.analysis.task_report import Findings
from tests.analysis.design.studies import MODELS, study
from tests.analysis.design.test_equal_to_r import r_is_missing, r_lacks

ITEMS = ("rely", "trust", "wary", "good", "depend", "use")
REVERSED = "wary"


def asked(
    tables: Tables,
    versions: Sequence[int] = (1,),
    *,
    per_stage: bool = True,
    gaps: int = 0,
    rule: str = "mean",
    enough: int = 6,
) -> Tables:
    """The sheets of six items, one of them reversed, after each stage or once; gaps: so many people
    leave the first item out."""
    rng = np.random.default_rng(5)
    frames = tables.by_name()
    shared = {"study": "own", "instrument": "reliance"}
    people = frames["stages"].drop_duplicates(None if per_stage else "participant")
    answers, scores = [], []
    for at, stage in enumerate(people.to_dict("records")):
        person = int(stage["participant"][1:]) - 1
        version = versions[person % len(versions)]
        kept = ("participant", "session", "model", "position")
        who = {name: stage[name] for name in kept if name in stage} | {
            name: value for name, value in stage.items() if name.startswith("factor_")
        }
        who |= shared | {"stage": f"asked-{at}", "instrument_version": version}
        if not per_stage:
            who["model"] = None
        true = rng.normal()
        given = {
            item: int(np.clip(round(4 + weight * true + rng.normal()), 1, 7))
            for item, weight in zip(ITEMS, (1.4, 1.2, -1.0, 0.8, 1.1, 0.6), strict=True)
        }
        if person < gaps:
            del given[ITEMS[0]]
        answers += [
            who | {"item": item, "value": value, "kind": "rating", "submitted": True, "asked": True}
            for item, value in given.items()
        ]
        counts = [8 - value if item == REVERSED else value for item, value in given.items()]
        if len(counts) >= enough:
            value = np.mean(counts) * (6 if rule == "sum" else 1)
            scores.append(who | {"score": "reliance", "value": value, "meaning": "most"})
    scales = [
        shared | {
            "instrument_version": version, "score": "reliance", "rule": rule, "n_items": 6,
            "enough": enough, "listed": listed, "item": item, "reversed": item == REVERSED,
            "low": 1, "high": 7, "moved": 0, "times": 1,
        }
        for version in versions
        for listed, item in enumerate(ITEMS, start=1)
    ]  # fmt: skip
    columns = tables.columns
    made = {"answers": answers, "scores": scores, "scales": scales}
    frames |= {name: typed(rows, columns[name]) for name, rows in made.items()}
    return Tables.of(frames, frames["snapshots"])


def of(tables: Tables) -> list[Reliability]:
    return list(reliability(tables, declared_of(tables, "own")))


def matrix(tables: Tables, **where: Any) -> np.ndarray[Any, Any]:
    rows = tables.answers
    for name, value in where.items():
        rows = rows[rows[name] == value]
    wide = rows.pivot_table(index=["participant", "stage"], columns="item", values="value")
    wide[REVERSED] = 8 - wide[REVERSED]
    return wide[list(ITEMS)].dropna().to_numpy(dtype=float)


def by_hand(rows: np.ndarray[Any, Any]) -> float:
    own = rows.var(axis=0, ddof=1).sum() / rows.sum(axis=1).var(ddof=1)
    return float(6 / 5 * (1 - own))


def test_each_occasion_stands_by_itself() -> None:
    tables = asked(study(n=20))
    found = of(tables)
    assert [result.occasion for result in found] == sorted(MODELS)
    for result in found:
        assert (len(result.complete), result.cells) == (20, ("model",))
        assert result.alpha.value == pytest.approx(by_hand(matrix(tables, model=result.occasion)))
        assert result.omega.value is not None


def test_what_is_asked_once_is_one_occasion() -> None:
    (found,) = of(asked(study(n=20), per_stage=False))
    assert (found.occasion, found.cells, len(found.complete)) == ("", (), 20)


def test_the_same_asked_again_is_another_occasion() -> None:
    tables = asked(study(n=10, models=MODELS[:1]))
    again = tables.answers.assign(stage=tables.answers["stage"] + "-later")
    frames = tables.by_name() | {"answers": pd.concat([tables.answers, again], ignore_index=True)}
    found = of(Tables.of(frames, frames["snapshots"]))
    assert [result.occasion for result in found] == ["", "time 2"]
    assert {len(result.complete) for result in found} == {10}


def test_versions_are_never_pooled() -> None:
    found = of(asked(study(n=24), (1, 2), per_stage=False))
    assert [(r.about["instrument_version"], len(r.complete)) for r in found] == [(1, 12), (2, 12)]


def test_a_scale_that_is_declared_in_two_ways_has_no_number() -> None:
    tables = asked(study(n=20), per_stage=False)
    other = tables.scales.assign(reversed=False)
    frames = tables.by_name() | {"scales": pd.concat([tables.scales, other], ignore_index=True)}
    (found,) = of(Tables.of(frames, frames["snapshots"]))
    assert (found.alpha.value, found.alpha.why) == (None, TWO_DEFINITIONS)


def test_missing_answers_are_counted() -> None:
    tables = asked(study(n=20), per_stage=False, gaps=7)
    (found,) = of(tables)
    assert (len(found.complete), found.n_incomplete, found.n_unscored) == (13, 7, 7)
    (found,) = of(asked(study(n=20), per_stage=False, gaps=7, enough=5))
    assert (len(found.complete), found.n_incomplete, found.n_unscored) == (13, 7, 0)


def test_too_few_people_are_told() -> None:
    (found,) = of(asked(study(n=4), per_stage=False))
    assert found.alpha.value is None
    assert "fewer than 5 people" in found.alpha.why


def test_a_scale_is_an_outcome_of_the_declared_design() -> None:
    """Its analysis of variance is AnovaRM's on the scores made by hand from the answers."""
    declared = {
        "design": {"within": ["model"]},
        "analysis": {"outcomes": {"primary": ["reliance"]}},
    }
    tables = asked(study(declared, n=15))
    answers = tables.answers
    counts = answers["value"].where(answers["item"] != REVERSED, 8 - answers["value"])
    made = answers.assign(value=counts).groupby(["participant", "model"], as_index=False)["value"]
    theirs = AnovaRM(made.mean(), "value", "participant", within=["model"]).fit().anova_table
    findings = Findings.find(tables.included())
    rows = pd.DataFrame(REPORT.statistics(findings.of[REPORT]))
    ours = rows[(rows["quantity"] == "reliance") & (rows["test"] == "ANOVA F")].iloc[0]
    assert ours["statistic"] == pytest.approx(theirs["F Value"].iloc[0], abs=1e-8)
    assert ours["p"] == pytest.approx(theirs["Pr > F"].iloc[0], abs=1e-8)
    assert (rows["kind"] == "contrast").sum() == 3


@pytest.mark.r
@pytest.mark.parametrize(
    "more",
    [{}, {"per_stage": False, "versions": (1, 2), "rule": "sum", "gaps": 5, "enough": 5}],
    ids=["each model", "two versions of a sum with gaps"],
)
def test_r_has_the_same_numbers(more: Mapping[str, Any], tmp_path: Path) -> None:
    if why := r_is_missing():
        pytest.skip(why)
    tables = asked(study(n=60), **more)
    done = r_says(tables, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.search(r"(\d+) numbers compared, 0 off", done.stdout)
    assert told is not None
    compared = pd.read_csv(tmp_path / "analysis-R.csv")
    asked_for = compared[compared["quantity"].str.startswith("reliance reliance")]
    scales = len(of(tables))
    for what in ("alpha", "omega", "n", "scores missing"):
        assert (asked_for["what"] == what).sum() == scales, what
    # The script asks psych as well where R has it; our test machines do not always.
    by_psych = (asked_for["what"] == "alpha, by psych").sum()
    assert by_psych == (scales if r_lacks("psych") == [] else 0)
    assert asked_for["what"].str.match(r"score \d+").sum() == len(tables.scores)


@pytest.mark.r
@pytest.mark.parametrize("column", ["alpha", "omega"])
def test_r_finds_what_is_off(column: str, tmp_path: Path) -> None:
    if why := r_is_missing():
        pytest.skip(why)

    def spoil(folder: Path) -> None:
        path = folder / "reliability.csv"
        rows = pd.read_csv(path)
        rows.loc[rows["item"].isna(), column] += 1e-3
        rows.to_csv(path, index=False)

    done = r_says(asked(study(n=26), per_stage=False), tmp_path, spoil)
    assert done.returncode == 1
    assert re.search(r"[1-9]\d* off", done.stdout)


def r_says(tables: Tables, folder: Path, spoil: Any = None) -> subprocess.CompletedProcess[str]:
    findings = Findings.find(tables.included())
    write(tables, folder, findings)
    REPORT.write(findings.of[REPORT], folder)
    if spoil is not None:
        spoil(folder)
    command = ["Rscript", str(Path(folder.name) / SCRIPT)]
    return subprocess.run(
        command, cwd=folder.parent, capture_output=True, text=True, timeout=100, check=False
    )
