"""`labapp plan` as a whole, on a study of one question, and what it refuses."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labapp.base.errors import ExportExists, UsageError
from labapp.cli import main as cli
from labapp.models.representations.package import load_package
from labapp.record.journal.read import payloads, read_rows
from labapp.session.planning import phrases, power, slopes, thresholds
from labapp.session.planning import plan as planned
from labapp.session.planning import thresholds as planned_people
from labapp.session.planning.files import create_folder
from labapp.session.planning.plan import Plan, check_plannable, default_participants, plan
from labapp.session.planning.thresholds import BEST, fold, out_of_reach, pairs_of, targets_of
from labapp.session.simulation.simulation_job import (
    SimulatedSession,
    SimulationJob,
    Workers,
    simulate_study,
)
from labapp.study import conditions
from labapp.study.loading import load
from labapp.study.overview import prior_of, space_of
from labapp.study.plan import to_rows as plan_rows
from labapp.study.planner import realise
from tests.helpers import repairers
from tests.helpers.beside import put_beside
from tests.helpers.clusters import local_cluster
from tests.helpers.pages import problems

STUDY = """
id: small
title: Small
version: 1
unnamed_texts: shipped
seed: 8
flow:
  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/vae]
      trials: 1
      skip: always
      target_alignment: 0.5
"""
SHARES = "understanding=0.6,random=0.4"
TABLES = (
    "alignments", "completion", "lengths", "mixtures", "needs", "power", "questions", "stages",
    "thresholds", "waiting",
)  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "small.yaml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def few() -> Iterator[None]:
    """Draws enough to see that all is there."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("DRAWS", 50), ("POOLS", 5), ("POOL_DRAWS", 10)):
            patch.setattr(power, name, value)
        patch.setattr(slopes, "SIZES", (8,))
        patch.setattr(slopes, "REPLICATIONS", 4)
        patch.setattr(slopes, "LEAST_OUTCOMES", 3)
        patch.setattr(power, "SCENARIO_DRAWS", 20)
        patch.setattr(planned, "LEAST", 2)
        yield


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with local_cluster(tmp_path_factory.mktemp("dask")) as found:
        yield found


@pytest.fixture
def labapp(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["labapp", "plan", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return run


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_page_asks_for_phrases_that_there_are() -> None:
    template = Path(phrases.__file__).parent / "templates/plan.html"
    asked = set(re.findall(r"\bphrases\.(\w+)", template.read_text("utf-8")))
    assert asked
    assert [name for name in sorted(asked) if not hasattr(phrases, name)] == []


def test_a_plan_from_the_command_line(
    labapp: Any, study: Path, few: None, cluster: Any, tmp_path: Path
) -> None:
    out = tmp_path / "plan"
    arguments = (str(study), "--participants", "3", "--strategies", SHARES, "--out", str(out))
    dask = ("--dask", cluster.scheduler_address)
    status, said, err = labapp(*arguments, *dask, "--keep")
    assert (status, said.splitlines()[-1]) == (0, f"plan: {out / 'plan.html'}"), err
    for word in ("Threshold", "Time to skip", "Participants needed", "mixture", "simulated people"):
        assert word in said
    files = {path.name for path in out.iterdir()}
    assert files == {"plan.html", "figures", "sessions", *(f"{name}.csv" for name in TABLES)}
    drawn = {"alignments", "distances", "durations", "power"}
    assert {path.name for path in (out / "figures").iterdir()} == {
        f"{name}.{ending}" for name in drawn for ending in ("svg", "png", "pdf")
    }
    page = (out / "plan.html").read_text("utf-8")
    assert page.count("<figure>") == 4
    assert not problems(page)
    kept = sorted(path.parent.parent.name for path in out.glob("sessions/*/small/sub-*"))
    assert kept == ["random"] * 3 + ["understanding"] * 3
    asked = rows(out / "questions.csv")
    assert len(asked) == 12
    for row in asked:
        solved = float(row[BEST]) >= 0.5 - 0.001
        assert solved == (row["outcome"] == "solved"), "until the target ends it"
    reached = [row for row in rows(out / "alignments.csv") if row["what"] == "best reached"]
    assert len(reached) == 8, "two of each strategy, two models"
    assert {row["counts"] for row in rows(out / "needs.csv")} == {"participants"}
    before = (out / "plan.html").stat().st_mtime_ns
    status, _, err = labapp(*arguments, *dask)
    assert status == 3
    assert "exists already" in err
    assert (out / "plan.html").stat().st_mtime_ns == before


@pytest.mark.parametrize("keep", [False, True], ids=["", "keep"])
def test_a_plan_that_is_stopped_goes_on_where_it_was(
    study: Path, few: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, keep: bool
) -> None:
    monkeypatch.setenv("LABAPP_CACHE", str(tmp_path / "cache"))
    simulated: list[str] = []
    in_order = planned_people.in_order

    def counting(pool: Workers, jobs: Iterable[SimulationJob]) -> Iterator[SimulatedSession]:
        for session in in_order(pool, jobs):
            simulated.append(session.name)
            # JSON has no infinite number, and a plan may have one.
            rows = [{**row, "time_to_solve_s": math.inf} for row in session.folded["trials"]]
            yield replace(session, folded={**session.folded, "trials": rows})

    monkeypatch.setattr(planned_people, "in_order", counting)

    def stops(_: float, what: str) -> None:
        if what.startswith("simulated 5 of"):
            raise KeyboardInterrupt

    shares = {"understanding": 0.6, "random": 0.4}
    asked: dict[str, Any] = {"shares": shares, "participants": 3, "number": 1}
    out = tmp_path / "out"
    kept = {"sessions_folder": out / "sessions"} if keep else {}
    with pytest.raises(KeyboardInterrupt), create_folder(out):
        plan(str(study), **asked, **kept, progress=stops)
    before = len(simulated)
    assert before == 5
    if keep:
        with pytest.raises(ExportExists, match="exists already"), create_folder(out):
            pass
        with pytest.raises(ExportExists, match="sessions of another plan"):
            plan(str(study), **{**asked, "seed": 8}, **kept)
        assert len(simulated) == before
    with create_folder(out, kept=["sessions"]):
        resumed = plan(str(study), **asked, **kept)
    assert len(list(out.glob("sessions/*/small/sub-*"))) == 6 * keep
    assert len(simulated) == 10, "6 as the study is and 4 with a target out of reach, each once"
    assert not any((tmp_path / "cache" / "plans").glob("*")), "nothing stays of a plan that is made"
    simulated.clear()
    assert resumed.people.tables.trials.equals(plan(str(study), **asked).people.tables.trials)
    assert len(simulated) == 10


def test_one_json_value_with_the_same_numbers_each_time(
    labapp: Any, study: Path, few: None, cluster: Any
) -> None:
    arguments = (str(study), "--participants", "2", "--strategies", SHARES, "--seed", "5", "--json")
    told = [labapp(*arguments, "--dask", cluster.scheduler_address) for _ in range(2)]
    assert [status for status, _, _ in told] == [0, 0]
    assert told[0][1] == told[1][1]
    found = json.loads(told[0][1])
    assert (found["study"], found["seed"], found["participants_per_strategy"]) == ("small", 5, 2)
    assert found["shares"] == {"understanding": 0.6, "random": 0.4}
    assert {row["model"] for row in found["thresholds"]} == {"", "sinelines/gt", "sinelines/vae"}
    assert all(row["pairs"] for row in found["thresholds"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("unmasking-faces",), "quickstart"),
        (("gradcam-distinction",), "cannot be planned"),
        (("calibration",), "--calibration"),
        (("quickstart", "--strategies", "wizard"), "'wizard' is not a strategy"),
        (("quickstart", "--strategies", "explanation"), "'explanation' is not a strategy"),
        (("quickstart", "--strategies", "random,random"), "twice"),
        (("quickstart", "--strategies", "random=0.4"), "add up to"),
        (("quickstart", "--strategies", "random=0.4"), "understanding, partial, ascent, random."),
        (("quickstart", "--strategies", "explanation=1"), "'explanation' is none of the strat"),
        (("quickstart", "--participants", "1"), "--participants"),
        (("quickstart", "--keep"), "--out"),
        (("quickstart", "--calibration", "nobody"), "There is no session or bundle 'nobody'"),
    ],
)
def test_wrong_usage_ends_with_2(labapp: Any, arguments: tuple[str, ...], said: str) -> None:
    status, out, err = labapp(*arguments)
    assert (status, out) == (2, "")
    assert said in err


def test_strategies_that_can_do_a_study_of_both_kinds_are_named(
    labapp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dials = load("quickstart").path.read_text("utf-8")
    judged = "task: heatmap-distinction, stimuli: birds-gradcam, set: 1"
    judged += ", intro: a.md, description: a.md"
    study = f"  - stages: {{{judged}}}\n  - debrief"
    both = put_beside(tmp_path) / "both.yaml"
    both.write_text(dials.replace("  - debrief", study), "utf-8")
    (tmp_path / "a.md").write_text("Look.", "utf-8")
    status, out, err = labapp(str(both))
    assert (status, out) == (2, ""), err
    assert "--strategies understanding,random." in err


def test_a_plan_that_fails_leaves_no_folder(
    labapp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labapp.base.parallel.cluster.ANSWER_TIMEOUT_S", 0.3)
    monkeypatch.setattr(thresholds, "PAIRS", 2)
    out = tmp_path / "plan"
    status, _, err = labapp("quickstart", "--dask", "tcp://127.0.0.1:9", "--out", str(out))
    assert status == 1
    assert "No Dask scheduler answers" in err
    assert not out.exists()


def test_an_interrupted_plan_says_so_and_leaves_no_folder(
    labapp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*args: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(planned, "plan", interrupt)
    status, out, err = labapp("quickstart", "--out", str(tmp_path / "plan"))
    assert (status, out) == (130, "")
    assert "Interrupted." in err
    assert not (tmp_path / "plan").exists()


def test_calibrations_have_the_last_word(
    study: Path, few: None, cluster: Any, tmp_path: Path
) -> None:
    marks = tmp_path / "marks.yaml"
    marks.write_text(
        STUDY.replace("      target_alignment: 0.5\n", "      marks: true\n").replace(
            "id: small", "id: marks"
        )
    )
    sessions = simulate_study(str(marks), 2, "understanding", tmp_path / "marked", 3)
    more: dict[str, Any] = {
        "shares": {"understanding": 1.0},
        "participants": 2,
        "dask": cluster.scheduler_address,
    }
    found: Plan = plan(str(study), calibration=sessions, **more)
    assert {one.source for one in found.thresholds} == {"calibration"}
    assert [one.source for one in found.waiting] == ["calibration"]
    (said,) = found.calibrated
    assert said.separation is not None
    assert said.separation.low < found.thresholds[0].target <= said.separation.high
    ordinary = simulate_study(str(study), 1, "understanding", tmp_path / "ordinary", 3)
    with pytest.raises(UsageError, match="no calibration questions"):
        plan(str(study), calibration=ordinary, **more)
    with pytest.raises(UsageError, match="about sinelines, but dsprites-demo asks about") as told:
        plan("dsprites-demo", calibration=sessions, **more)
    assert told.value.safe == "Nothing was simulated."


def test_which_studies_can_be_planned(study: Path) -> None:
    for known in ("quickstart", "dsprites-demo", "mnist-crowd", "synthetic-crowd", str(study)):
        check_plannable(load(known))
    assert default_participants(load("quickstart")) == planned.PARTICIPANTS
    crowd = default_participants(load("mnist-crowd"))
    assert crowd == max(planned.PARTICIPANTS, 7 * planned.PER_CELL)


def test_the_nearest_that_a_question_came_is_kept(study: Path, tmp_path: Path) -> None:
    (session,) = simulate_study(str(study), 1, "random", tmp_path / "out", 2)
    seen: dict[str, float] = {}
    for row in read_rows(session):
        event = row.event()
        if event.kind in ("trial.started", "picture.decoded") and event.part_id is not None:
            seen[event.part_id] = max(seen.get(event.part_id, 0.0), event.payload["alignment"])
    rows = fold(list(payloads(read_rows(session))), session.name)
    found = {row["stage"]: row[BEST] for row in rows["trials"]}
    assert found == seen
    assert set(found) == {"stage-1", "stage-2"}


def test_a_target_out_of_reach_is_the_only_change() -> None:
    loaded = load("synthetic-crowd")
    changed = out_of_reach(loaded)
    before, after = (targets_of(one, space_of, prior_of) for one in (loaded, changed))
    assert before
    assert after == {m: replace(target, alignment=1.0) for m, target in before.items()}
    for number, drawn in conditions.variants(loaded.study.assignment):
        label = loaded.study.participants.label(number)
        former, later = (
            plan_rows(realise(one, label, space_of=space_of, prior_of=prior_of, drawn=drawn).parts)
            for one in (loaded, changed)
        )
        for row, other in zip(former, later, strict=True):
            differs = {name for name in row if row[name] != other[name]}
            stage = row["part"] == "reconstruction" and row["role"] == "stage"
            texts = {"values"} & row.keys()  # an introduction says the target
            assert differs == {"target_alignment"} if stage else differs <= texts


def test_pairs_are_drawn_as_the_study_draws_them(study: Path) -> None:
    targets = targets_of(load(study), space_of, prior_of)
    decoder = load_package("sinelines/gt", "cpu", threads=1)
    target = targets["sinelines/gt"]
    assert target.sampling == "prior"
    found = pairs_of(target, decoder, 1, 400)
    assert (found.dataset, found.target_alignment) == ("sinelines", 0.5)
    assert found.skip_after_s is None, "it lets people skip at any time"
    waits = replace(target, skip_after_s=45.0)
    assert pairs_of(waits, decoder, 1, 4).skip_after_s == 45.0
    assert found.alignments.shape == (400,)
    assert 0.05 < found.alignments.mean() < 0.35
    np.testing.assert_array_equal(found.alignments, pairs_of(target, decoder, 1, 400).alignments)
    assert (found.alignments != pairs_of(target, decoder, 2, 400).alignments).any()


def test_a_study_in_which_concepts_are_set_is_planned_with_strategies_of_its_own(
    labapp: Any, few: None, tmp_path: Path
) -> None:
    leaks = {"pure": 1.0, "middle": 4.0, "impure": 7.0}
    repairers.study(tmp_path / "study", repairers.sets(tmp_path / "sets", leaks))
    out = tmp_path / "plan"
    asked = (str(tmp_path / "study" / "repaired.yaml"), "--participants", "2", "--workers", "1")
    status, said, err = labapp(*asked, "--out", str(out))
    assert status == 0, err
    assert "Participants needed" in said
    assert "careful 40 %" in said
    assert "move sliders" not in said
    needs = rows(out / "needs.csv")
    measured = {"success_rate", "gain", "harm_rate", "foretold_rate"}
    assert measured <= {row["metric"] for row in needs}
    assert {row["strategy"] for row in rows(out / "stages.csv")} == {
        "careful",
        "learner",
        "stubborn",
        "misled",
    }
    assert "Power where models are drawn anew" in said
    over_models = rows(out / "slopes.csv")
    assert {row["test"].split(": ")[1] for row in over_models} == {
        "a harm by OIS (H1)",
        "a surprise after a setting by OIS (H1)",
        "an answer forecast wrongly by OIS (H1)",
    }
    drawn = [row for row in over_models if row["power"]]
    assert {(row["n_participants"], row["n_models"]) for row in drawn} == {("8", "3"), ("8", "6")}
    assert all(row["why"] for row in over_models if not row["power"])
    page = (out / "plan.html").read_text("utf-8")
    assert "Studies were drawn from it" in page
    assert not problems(page)
    status, _, err = labapp(*asked, "--strategies", "understanding")
    assert status != 0
    assert "'understanding' is not a strategy" in err
    assert "careful, learner, stubborn, misled" in err
