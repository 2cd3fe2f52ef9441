"""Simulations by several processes and by a Dask cluster are those of one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labapp.base.errors import ModelError, SessionError
from labapp.cli import main as cli
from labapp.record.events import Event, Payload
from labapp.record.journal.read import check_journal, read_rows
from labapp.session import condition_assignment
from labapp.session.private import consents
from labapp.session.simulation import at_scale, simulation_job
from labapp.session.simulation.at_scale import hash_needed_models, in_order, simulate_at_scale
from labapp.session.simulation.simulation_job import (
    SimulatedSession,
    SimulationJob,
    Workers,
    is_included,
    run_job,
    simulate_study,
    workers,
)
from labapp.study.loading import load
from tests.helpers.clusters import local_cluster
from tests.helpers.drawn import drawn_study

RULES = "inclusion: {min_solved: 1, practice_correct: true}"


def told(session: Path) -> list[tuple[Any, ...]]:
    """A journal but for what was measured on the machine."""
    return [tuple(row[:11]) for row in read_rows(session) if row.kind != "decoder.warmed"]


def cells(data: Path, study: Path) -> dict[str, tuple[tuple[str, ...], str]]:
    return {
        row.folder: (row.cells, row.state)
        for row in condition_assignment.session_states(data / load(study).study.id)
    }


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with local_cluster(tmp_path_factory.mktemp("dask"), workers=2) as found:
        yield found


def test_processes_allot_and_simulate_as_one_does(tmp_path: Path) -> None:
    """Careless participants are excluded, so that cells depend on who was before."""
    study = drawn_study(tmp_path, cells="abc", draw=2, included=2, lines=RULES, consent=True).path
    one, several = tmp_path / "one", tmp_path / "several"
    names: list[str] = []
    serial = simulate_study(str(study), None, "understanding", one, 5, careless=0.6)
    made = simulate_at_scale(
        str(study), None, "understanding", several, 5, names.append, careless=0.6, number=2
    )
    assert [path.name for path in made] == [path.name for path in serial]
    assert [path.name.split("_")[0] for path in made] == [f"sub-{name}" for name in names]
    assert {is_included(path) for path in made} == {True, False}, "somebody was replaced"
    for before, now in zip(serial, made, strict=True):
        assert told(now) == told(before)
    assert cells(several, study) == cells(one, study)
    assert consents(several / "private", "drawn") == consents(one / "private", "drawn") != []
    assert sorted(path.name for path in several.iterdir()) == ["drawn", "private"]


def test_a_cluster_simulates_the_same(tmp_path: Path, cluster: Any) -> None:
    study = drawn_study(tmp_path, cells="ab", draw=1, included=2).path
    serial = simulate_study(str(study), None, "understanding", tmp_path / "one", 7)
    made = simulate_at_scale(
        str(study), None, "understanding", tmp_path / "out", 7, dask=cluster.scheduler_address
    )
    assert len(made) == 4
    assert [told(path) for path in made] == [told(path) for path in serial]
    assert cells(tmp_path / "out", study) == cells(tmp_path / "one", study)


def test_a_worker_with_another_model_is_refused(tmp_path: Path, cluster: Any) -> None:
    loaded = drawn_study(tmp_path, draw=1)
    wanted = hash_needed_models(loaded)
    assert set(wanted) == {"sinelines/gt", "sinelines/vae", "sinelines/ae"}
    job = SimulationJob(
        loaded, "P01", ("a",), "understanding", 1, models=dict.fromkeys(wanted, "0" * 64)
    )
    with (
        workers(dask=cluster.scheduler_address) as found,
        pytest.raises(ModelError, match="differs from the one"),
    ):
        list(in_order(found, [job]))


def test_results_come_in_order_and_nothing_stays(tmp_path: Path, cluster: Any) -> None:
    loaded = drawn_study(tmp_path, draw=1)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    every = [
        SimulationJob(loaded, f"P{n:02d}", ("a",), "understanding", 1, scratch=scratch, fold=_label)
        for n in range(1, 4)
    ]
    with workers(dask=cluster.scheduler_address) as found:
        assert [played.folded for played in in_order(found, every)] == ["P01", "P02", "P03"]
        broken = SimulationJob(loaded, "nobody", ("a",), "understanding", 1, scratch=scratch)
        with pytest.raises(SessionError, match="nobody"):
            list(in_order(found, [broken]))
    assert not list(scratch.iterdir())


def _label(events: Sequence[tuple[Event, Payload]], name: str) -> str:
    assert events
    return name.split("_")[0].removeprefix("sub-")


def test_a_few_are_left_to_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*args: object) -> Workers:
        raise AssertionError("no process is started")

    monkeypatch.setattr(at_scale, "workers", none)
    study = str(drawn_study(tmp_path).path)
    assert len(simulate_at_scale(study, 2, "understanding", tmp_path / "out")) == 2
    assert len(simulate_at_scale(study, 3, "understanding", tmp_path / "one", number=1)) == 3


def test_a_study_that_does_not_fill_is_given_up_at_scale(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = drawn_study(tmp_path, included=1, lines=RULES)
    monkeypatch.setattr(simulation_job, "IN_VAIN", 3)
    with pytest.raises(SessionError, match="None of the last 3"):
        simulate_at_scale(
            str(loaded.path),
            None,
            "understanding",
            tmp_path / "out",
            careless=1.0,
            dask=cluster.scheduler_address,
        )
    assert len(list((tmp_path / "out" / "drawn").glob("sub-*"))) == 3
    assert not (tmp_path / "out" / at_scale.SCRATCH).exists()


def test_the_command_takes_workers_and_a_cluster(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    study = str(drawn_study(tmp_path).path)
    command = ["labapp", "simulate", study, "--participants", "2", "--out"]
    for arguments, status in (
        ([str(tmp_path / "one"), "--workers", "1"], 0),
        ([str(tmp_path / "many"), "--dask", cluster.scheduler_address], 0),
        ([str(tmp_path / "none"), "--workers", "0"], 2),
    ):
        monkeypatch.setattr("sys.argv", [*command, *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == status, capsys.readouterr().err
    assert len(list((tmp_path / "many" / "drawn").glob("sub-*"))) == 2


def test_where_nothing_came_of_it_the_folder_can_be_named_again(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    study, out = str(drawn_study(tmp_path).path), tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(at_scale._JobQueue, "sessions", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulate_at_scale(study, 1, "knowing", out, dask=cluster.scheduler_address)
    assert not out.exists()
    assert simulate_at_scale(study, 1, "knowing", out, dask=cluster.scheduler_address)


def test_an_interruption_just_after_a_session_is_there_keeps_it_and_its_consent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move, out = SimulatedSession.move, tmp_path / "out"

    def interrupted(played: SimulatedSession, folder: Path) -> Path:
        move(played, folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(SimulatedSession, "move", interrupted)
    with pytest.raises(KeyboardInterrupt):
        simulate_at_scale(
            str(drawn_study(tmp_path, consent=True).path), 4, "knowing", out, number=2
        )
    assert sorted(path.name for path in out.iterdir()) == ["drawn", "private"]
    (session,) = (out / "drawn").iterdir()
    assert not check_journal(session)
    (consent,) = consents(out / "private", "drawn")
    assert session.name.startswith(f"sub-{consent.participant}_")


def test_a_session_comes_whole_or_not_at_all(tmp_path: Path) -> None:
    loaded = drawn_study(tmp_path, draw=1)
    played = run_job(SimulationJob(loaded, "P01", ("a",), "knowing", 1, keep="packed"))
    study = tmp_path / "data" / "drawn"
    study.mkdir(parents=True)
    assert played.packed is not None
    cut = replace(played, packed=played.packed[: len(played.packed) // 2])
    with pytest.raises(EOFError):
        cut.move(study)
    assert [path.name for path in study.parent.iterdir()] == ["drawn"]
    assert not list(study.iterdir())
    assert not check_journal(played.move(study))
    with pytest.raises(FileExistsError):
        played.move(study)


@pytest.mark.usefixtures("signals_of_a_terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_an_interruption_of_all_processes_is_told_once_and_leaves_whole_sessions(
    tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "labapp", "simulate", str(drawn_study(tmp_path).path)]
    command += ["--participants", "9999", "--workers", "2", "--out", str(out)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as a terminal's: all processes of it get the signal
    ) as begun:
        try:
            while begun.poll() is None and not list(out.glob("drawn/sub-*")):
                time.sleep(0.05)
            os.killpg(begun.pid, number)
            said, problem = begun.communicate(timeout=120)
        finally:
            begun.kill()
    assert (begun.returncode, said) == (130, "")
    what, safe, todo = problem.splitlines()
    assert (what, "kept" in safe, "again" in todo) == ("Interrupted.", True, True)
    assert {path.name for path in out.iterdir()} <= {"drawn", "private"}
    for session in out.glob("drawn/sub-*"):
        assert not check_journal(session)
