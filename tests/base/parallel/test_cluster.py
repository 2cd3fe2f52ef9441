"""A Dask cluster that cannot be used is told: no answer, no worker, other versions, lost ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labapp.base.errors import SetupError
from labapp.base.parallel import cluster
from tests.helpers.clusters import local_cluster
from tests.helpers.installed import on_path, write_package


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Any]:
    with local_cluster(tmp_path) as made:
        yield made


def test_without_dask_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(SetupError, match="Dask is not installed here") as told,
        cluster.cluster("tcp://127.0.0.1:9"),
    ):
        pass
    assert "labapp extras add cluster" in told.value.todo


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_nothing_answers(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWER_TIMEOUT_S", 0.3)
    with (
        pytest.raises(SetupError, match=f"No Dask scheduler answers at '{address}'") as told,
        cluster.cluster(address),
    ):
        pass
    assert "dask scheduler" in told.value.todo


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1", "http://127.0.0.1:8786", ""])
def test_no_client_is_made_for_what_is_no_address(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One would wait for itself for twice the time when it ends, and print a traceback."""
    import distributed

    def client(*_: object, **__: object) -> None:
        pytest.fail("a client was made")

    monkeypatch.setattr(distributed, "Client", client)
    with pytest.raises(SetupError, match="No Dask scheduler answers"), cluster.cluster(address):
        pass


def test_it_computes_on_its_threads(local: Any) -> None:
    with cluster.cluster(local.scheduler_address) as (client, threads):
        assert threads == 1
        assert client.submit(divmod, 17, 5, pure=False).result() == (3, 2)


@pytest.mark.parametrize("faulty", [True, False])
def test_where_the_profiler_can_stop_python_no_worker_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faulty: bool
) -> None:
    monkeypatch.setattr(cluster, "FAULTY", faulty)
    with local_cluster(tmp_path, profiled=True) as made:
        (before,) = made.workers.values()
        profile = before.periodic_callbacks["profile"]
        assert profile.is_running()
        with cluster.cluster(made.scheduler_address) as (client, _):
            assert client.submit(divmod, 17, 5, pure=False).result() == (3, 2)
            assert profile.is_running() != faulty
            made.scale(2)
            client.wait_for_workers(2)
            running = [
                one.periodic_callbacks["profile"].is_running()
                for one in made.workers.values()
                if "profile" in one.periodic_callbacks
            ]
            assert running == ([] if faulty else [True, True])
        with cluster.cluster(made.scheduler_address) as (client, _):
            assert client.submit(divmod, 17, 5, pure=False).result() == (3, 2)


def test_a_cluster_without_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWER_TIMEOUT_S", 0.3)
    with (
        local_cluster(tmp_path, workers=0) as empty,
        pytest.raises(SetupError, match="has no workers"),
        cluster.cluster(empty.scheduler_address),
    ):
        pass


@pytest.mark.parametrize(
    ("here", "there", "said"),
    [
        ({}, {"labapp": "0.0.1"}, r"runs labapp 0\.0\.1; this machine runs labapp"),
        ({"a-task": "1"}, {"a-task": "2"}, "runs a-task 2; this machine runs .*a-task 1"),
        ({"a-task": "1"}, {}, "runs no a-task; this machine runs .*a-task 1"),
        ({}, {"a-task": "2"}, "runs a-task 2; this machine runs .*no a-task"),
    ],
)
def test_another_version_on_a_worker_is_refused(
    local: Any,
    monkeypatch: pytest.MonkeyPatch,
    here: dict[str, str],
    there: dict[str, str],
    said: str,
) -> None:
    ours = cluster.versions()
    asked: list[None] = []

    def versions() -> dict[str, str]:
        asked.append(None)  # here first; the worker has a copy of its own
        return ours | (here if len(asked) == 1 else there)

    monkeypatch.setattr(cluster, "versions", versions)
    with (
        pytest.raises(SetupError, match=said) as told,
        cluster.cluster(local.scheduler_address),
    ):
        pass
    assert "same versions" in told.value.todo


def test_packages_that_add_to_labapp_are_compared(tmp_path: Path) -> None:
    code = "from labapp.tasks.pages.task import Pages\n\nclass Own(Pages):\n"
    code += "    name, parts, items, stages = 'own', (), (), ()\n\nTASK = Own()\n"
    with on_path(write_package(tmp_path / "site", "a-task", code)):
        assert cluster.versions()["a-task"] == "0.1"
    assert "a-task" not in cluster.versions()


def test_lost_workers_are_told_with_what_is_safe(local: Any) -> None:
    from distributed import KilledWorker

    worker = next(iter(local.scheduler.workers.values()))
    with (
        pytest.raises(SetupError, match="lost its workers") as told,
        cluster.cluster(local.scheduler_address, safe="Nothing was changed."),
    ):
        raise KilledWorker("task", worker, 3)
    assert told.value.safe == "Nothing was changed."


def test_nobody_waits_for_ever_for_a_worker(
    local: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cluster, "WORKER_TIMEOUT_S", 0.3)
    monkeypatch.setattr(cluster, "POLL_S", 0.1)
    address = local.scheduler_address

    def lost() -> None:
        with cluster.cluster(address, safe="Nothing was changed.") as (client, _):
            assert client.submit(divmod, 17, 5, pure=False).result() == (3, 2)
            local.scale(0)
            client.submit(divmod, 17, 5, pure=False).result()

    with pytest.raises(SetupError, match="lost its workers") as told:
        lost()
    assert "waiting 0 s for another" in caplog.text
    assert (told.value.safe, f"dask worker {address}" in told.value.todo) == (
        "Nothing was changed.",
        True,
    )


def test_a_scheduler_that_is_gone_is_told_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def cut_off() -> None:
        with (
            local_cluster(tmp_path) as made,
            cluster.cluster(made.scheduler_address) as (client, _),
        ):
            waiting = client.submit(divmod, 17, 5, pure=False, workers=["tcp://127.0.0.1:9"])
            made.close()
            waiting.result()

    with pytest.raises(SetupError, match=r"The connection to the Dask scheduler at .* was lost"):
        cut_off()
    assert "Traceback" not in capsys.readouterr().err
