"""Which stages are compared, and what stands in for each participant."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import pytest

from labapp.analysis import Tables
from labapp.analysis.columns import table_columns
from labapp.analysis.tables import typed
from labapp.papers.interactive_reconstruction import sections
from labapp.papers.interactive_reconstruction.profile import PROFILE, findings
from labapp.papers.interactive_reconstruction.results import Group, comparisons, groups_of
from tests.papers.interactive_reconstruction.conftest import MODELS, Analysed

WHO = {"study": "s", "session": "1"}


def tables(
    stages: list[dict[str, Any]],
    scores: list[dict[str, Any]] | None = None,
    *,
    paper: str | None = "000",
) -> Tables:
    """Tables of stages of reconstruction, everything else empty. paper: whose study is repeated."""
    repeats = {"replicates_paper": paper, "replicates_study": paper and "mnist-crowd"}

    common = {**WHO, "task": "reconstruction", "included": True}
    people = dict.fromkeys((row.get("study", "s"), row["participant"]) for row in stages)
    rows = {
        "stages": [common | row for row in stages],
        "participants": [
            {
                **WHO,
                "study": study,
                "participant": one,
                "included": True,
                "simulated": False,
                "study_version": 1,
            }
            | repeats
            for study, one in people
        ],
        "scores": [WHO | row for row in scores or []],
    }
    columns = table_columns()
    frames = empty() | {name: typed(some, columns[name]) for name, some in rows.items()}
    return Tables.of(frames, frames["snapshots"])


@cache
def empty() -> dict[str, pd.DataFrame]:
    frames = {name: typed([], columns) for name, columns in table_columns().items()}
    return frames | {"trials": frames["trials"].astype({"excluded": bool})}


def stage(participant: str, model: str, value: float = 1.0, **more: Any) -> dict[str, Any]:
    number = more.pop("stage_number", 1)
    return {
        "participant": participant,
        "model": model,
        "stage": f"stage-{number}-{model}",
        "stage_number": number,
        "response_time_s": value,
    } | more


def names(groups: list[Group]) -> list[tuple[str, tuple[str, ...], bool]]:
    return [(group.name, group.models, group.within) for group in groups]


def test_what_nobody_meets_together_is_apart() -> None:
    """5 and 10 dimensions of the think-aloud study."""
    met = {"P01": ("ss5", "ae5", "tc5"), "P02": ("ae10", "ss10", "tc10"), "P03": ("ae5", "ss5")}
    groups = groups_of(
        tables([stage(who, f"mnist8k/{one}") for who, some in met.items() for one in some])
    )
    assert names(groups) == [
        (
            f"reconstruction, mnist (ae{n}, tc{n}, ss{n})",
            tuple(f"mnist8k/{one}{n}" for one in ("ae", "tc", "ss")),
            True,
        )
        for n in (5, 10)
    ]
    assert [group.participants for group in groups] == [2, 1]


def test_one_model_each_is_one_group_between_participants() -> None:
    some = ("ss10", "ae5", "ig5", "ss5")
    rows = [stage(f"P{n}", f"mnist8k/{one}") for n, one in enumerate([*some, *some])]
    (group,) = groups_of(tables(rows))
    assert names([group]) == [
        (
            "reconstruction, mnist",
            ("mnist8k/ae5", "mnist8k/ig5", "mnist8k/ss5", "mnist8k/ss10"),
            False,
        )
    ]
    assert group.participants == 8


def test_who_took_part_twice_counts_with_the_first_model_where_each_meets_one() -> None:
    some = ("ae5", "vae5", "ss5")
    rows = [stage(f"P{n}", f"mnist8k/{one}", float(n)) for n, one in enumerate(some * 3)]
    rows.append(stage("P0", "mnist8k/ss5", 99.0, session="2"))
    known = tables(rows)
    met = [("P0", "1", "mnist8k/ae5"), ("P0", "2", "mnist8k/ss5"), ("P2", "1", "mnist8k/ss5")]
    questions: list[dict[str, Any]] = [
        {**WHO, "participant": who, "session": session, "model": model, "role": "stage"}
        | {"task": "reconstruction", "excluded": False}
        for who, session, model in met
    ]
    known = replace(known, trials=typed(questions, table_columns()["trials"]))
    (group,) = groups_of(known)
    assert (len(group.models), group.within, group.participants, group.first_only) == (
        *(3, False, 9),
        1,
    )
    assert group.values["response_time_s"].to_list() == list(range(9))
    assert group.trials["session"].to_list() == ["1", "1"]
    said = " ".join(sections.of_task("reconstruction", findings(known)))
    assert "9 participants, 3 models between participants." in said
    assert "1 participant met another model too: the first counts." in said


def test_models_that_are_met_together_are_within_beside_others_that_are_not() -> None:
    rows = [stage(f"P{n}", f"x/{one}") for n in range(3) for one in "ab"]
    rows += [stage(f"P{n}", f"x/{one}") for n, one in enumerate("cdcd", start=3)]
    assert names(groups_of(tables(rows))) == [
        ("reconstruction, unknown data set (x/a, x/b)", ("x/a", "x/b"), True),
        ("reconstruction, unknown data set (x/c, x/d)", ("x/c", "x/d"), False),
    ]


def test_studies_tasks_and_data_sets_are_apart_and_other_tasks_are_none() -> None:
    rows = [
        stage("P01", "dsprites/ae"),
        stage("P01", "sinelines/gt"),
        stage("P01", "sinelines/gt", task="single-dimension-exemplars"),
        stage("P01", "sinelines/gt", task="calibration"),
        stage("P01", "sinelines/gt", study="other"),
    ]
    found = [(one.study, one.task, one.dataset) for one in groups_of(tables(rows))]
    assert found == [
        ("other", "reconstruction", "sinelines"),
        ("s", "reconstruction", "dsprites"),
        ("s", "reconstruction", "sinelines"),
        ("s", "single-dimension-exemplars", "sinelines"),
    ]
    assert groups_of(tables([stage("P01", "x/y", task="unmasking")])) == []


def test_without_the_papers_analysis_models_of_one_task_are_one_comparison() -> None:
    """Three models of two data sets that participants met together, with values and no tests."""
    met = ("sinelines/gt", "dsprites/ae", "mnist8k/ae5")
    known = tables([stage(f"P{n}", model) for n in range(6) for model in met], paper=None)
    (result,) = findings(known)
    assert names([result.group]) == [("reconstruction", result.group.models, True)]
    assert set(result.group.models) == set(met)
    assert (result.group.follows, result.n_tests) == (False, 0)
    (compared,) = result.compared
    assert (compared.omnibus, compared.pairs, len(compared.rows)) == (None, [], 3)
    assert PROFILE.compared(known) == [], "such a study is planned by its design"


def test_a_model_in_two_stages_has_their_mean() -> None:
    rows = [stage("P01", "x/a", 2.0), stage("P01", "x/a", 5.0, stage_number=2)]
    (group,) = groups_of(tables(rows))
    assert group.values[["response_time_s", "stage"]].to_numpy().tolist() == [
        [3.5, "stage-1-x/a;stage-2-x/a"]
    ]
    assert not group.within


EASY = {"instrument": "synthetic-end", "score": "stage_easy"}


def test_values_are_in_the_unit_of_their_metric_and_of_questionnaires_too() -> None:
    rows = [stage("P01", "x/a", completion_rate=0.4), stage("P01", "x/b", stage_number=2)]
    asked = {"participant": "P01", "instrument": "nasa-tlx", "score": "effort"}
    scores = [
        asked | {"about": "stage-1-x/a", "value": 35.0},
        asked | {"about": None, "value": 90.0},
        asked | {"about": "stage-2-x/b", "value": 2.0} | EASY,
        asked | EASY | {"about": None, "score": "frustrating", "value": 5.0},
    ]
    (group,) = groups_of(tables(rows, scores))
    own = group.values.set_index("model")
    assert own["completion_rate"].tolist()[0] == pytest.approx(40)
    assert own["effort"].dropna().to_dict() == {"x/a": 35.0}
    assert own["post_quiz_difficulty"].dropna().to_dict() == {"x/b": 4.0}
    assert "seq" not in own, "it was not asked"


def test_a_group_of_one_model_or_one_participant_has_values_without_tests() -> None:
    (group,) = groups_of(tables([stage("P01", "x/a"), stage("P02", "x/a", 3.0)]))
    (one,) = comparisons(group)
    assert (one.values("x/a").mean, one.omnibus, one.pairs) == (2.0, None, [])
    alone = tables([stage("P01", "x/a"), stage("P01", "x/b", 3.0)])
    (found,) = findings(alone)
    (compared,) = found.compared
    assert compared.omnibus is not None
    assert compared.omnibus.why == "there are too few values"
    assert compared.pairs[0].why == "there are too few values"
    assert (found.n_tests, found.threshold) == (0, 0.05)


def test_nobody_at_all() -> None:
    assert findings(tables([])) == ()


def test_simulated_sessions_have_their_groups(whole: Analysed) -> None:
    groups = [one.group for one in whole.groups]
    assert [(g.study, g.task, g.within, g.participants, g.simulated) for g in groups] == [
        ("small-between", "reconstruction", False, 8, 8),
        ("small-within", "reconstruction", True, 5, 5),
        ("small-within", "single-dimension-exemplars", True, 5, 5),
    ]
    assert all(group.models == MODELS for group in groups)
    assert [len(group.trials) for group in groups] == [8, 5 * 3, 5 * 3 * 5]
    repeats = {one.metric.column for one in whole.groups[1].compared if one.repeats}
    assert repeats == {"error_auc_mean"}
