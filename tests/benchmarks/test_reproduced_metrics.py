"""The published numbers of the metrics computed again: the tables that sum them up."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import stats

from benchmarks.reproduction import facts, ois_leaks, ranks
from benchmarks.reproduction.facts import FACTS, TABLE_1, Fact
from benchmarks.reproduction.printing import percent_as_plotted
from benchmarks.reproduction.ranks import Scored


def test_table_1_of_paper_002_has_an_example_for_every_metric_and_property() -> None:
    shown = [fact.shows for fact in FACTS if fact.shows]
    assert len(shown) == len(set(shown))
    assert set(shown) == {(name, number) for name in TABLE_1 for number in (1, 2)}


@pytest.mark.parametrize(("high", "low", "told"), [(0.95, 0.02, "kept"), (0.3, 0.98, "broken")])
def test_an_example_breaks_a_property_or_keeps_it(
    high: float, low: float, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has the characteristic must score high (Property 1), what lacks it low."""

    def score(fact: Fact) -> list[float]:
        assert fact.shows is not None
        return [high if fact.shows[1] == 1 else low] * 2

    made = [replace(fact, ours=partial(score, fact)) for fact in FACTS if fact.shows]
    monkeypatch.setattr(facts, "FACTS", made)
    text = facts.section()
    table = text[text.index("### Table 1") :]
    assert table.count(f"{told}: ") == 12
    assert "| MIG | yes |" in table
    assert "| SAP | no |" in table


def test_ranks_are_told_also_without_true_factors_and_for_each_data_set() -> None:
    """Two models of true factors are first by every metric and make the correlation."""
    first = {
        name: 1.0 if ranks.REGISTRY[name].better == "higher" else 0.0 for name in ranks.METRICS
    }
    models = {"a/gt": Scored(first, "a", True), "b/gt": Scored(first, "b", True)}
    for place in range(4):
        data = "a" if place < 3 else "b"
        scores = dict.fromkeys(ranks.METRICS, 0.5) | {
            "mig": 0.1 * place, "dcimig": -0.1 * place, "dci": 0.1 * place,
        }  # fmt: skip
        models[f"{data}/{place}"] = Scored(scores, data, False)
    groups = dict(ranks._groups(models))
    assert [len(group) for group in groups.values()] == [6, 4, 3, 1]
    told = [
        ranks.spearman(*(np.array([model.scores[name] for model in group]) for name in pair))
        for group in list(groups.values())[:3]
        for pair in [("mig", "dcimig")]
    ]
    assert told[0] > -0.1
    assert told[1:] == [-1, -1]
    assert np.isnan(ranks.spearman(np.array([0.0, 1.0]), np.array([0.0, 1.0])))


def test_error_bars_as_they_are_drawn_and_as_the_paper_says_they_are() -> None:
    values = [0.1, 0.3, 0.35, 0.2, 0.25]
    low, high = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    told = percent_as_plotted(values)
    assert told == f"24.00 ± {200 * np.std(values):.2f} ({100 * low:.1f} to {100 * high:.1f})"
    assert percent_as_plotted([0.5]) == "50.00 ± 0.00"


def test_what_ois_sees_of_a_leak_is_told_for_each_case(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = (ois_leaks.Case(rows=1_500), ois_leaks.Case(rows=1_500, coordinates="ranks"))
    monkeypatch.setattr(ois_leaks, "CASES", cases)
    monkeypatch.setattr(ois_leaks, "SEEDS", range(1))
    codes, _ = ois_leaks.telling_both(1_500, 0)
    assert len(np.unique(codes[:, 0])) == len(np.unique(codes[:, 1])) == 4
    lines = [line.split(" | ") for line in ois_leaks.section().splitlines() if "1,500" in line]
    purities = [float(line[3]) for line in lines]
    # What rises with the code alone is 0.75; the whole leak is 1.
    assert purities[0] < 0.9 < 0.97 < purities[1]
    assert [line[2] for line in lines] == ["as given", "ranks"]
