"""Processes that train and measure concept learners, the most urgent ones first, while another
process feeds a GPU."""

from __future__ import annotations

import heapq
import json
import multiprocessing
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, cast

import safetensors
import safetensors.numpy
import torch

from benchmarks.reproduction.concept_models import (
    THREADS,
    Training,
    answering,
    learner_of,
    loaded,
    measured,
    trained,
)
from benchmarks.reproduction.side_by_side import Done, Job

FULL = 15_000_000
"""Bytes of a file of weights, after which another one is begun."""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A learner to measure, whose weights are there, or to train on a CPU first. `extra`, `work`
    and `known` as in `concept_models.trained`."""

    job: Job
    extra: frozenset[str]
    work: Path
    done: Done | None = None
    known: dict[str, Any] | None = None


def carried_out(task: Task, packages: Path | None = None) -> dict[str, Any]:
    """The result of a learner, for the file of results; packages: see `concept_models.trained`."""
    job = task.job
    if task.done is None:
        return trained(
            job.asked, job.size, job.seed, task.extra, task.work, packages, known=task.known
        )
    torch.set_num_threads(THREADS)
    recipe = job.asked.recipe(job.size, job.seed)
    data = loaded(recipe)
    learner = learner_of(recipe, data)
    learner.networks.load_state_dict(
        {name: torch.from_numpy(value) for name, value in task.done.weights.items()}
    )
    model = answering(learner, data)
    return measured(job.asked, recipe, data, model, task.done.training, task.extra, task.known)


class Crew:
    """So many processes, which have all tasks that were loaded before (see `concept_models.loaded`)
    without drawing them again. To be made before a GPU is first used."""

    def __init__(self, size: int) -> None:
        processes = multiprocessing.get_context("fork")
        self._tasks: list[tuple[int, int, Task]] = []
        self._number = count()
        self._idle: list[Connection] = []
        self._busy: dict[Connection, Task] = {}
        self._failed: list[Task] = []
        for _ in range(size):
            ours, theirs = processes.Pipe()
            processes.Process(target=_serve, args=(theirs,), daemon=True).start()
            self._idle.append(ours)

    @property
    def empty(self) -> bool:
        return not self._tasks and not self._busy

    def add(self, urgency: int, task: Task) -> None:
        """urgency: tasks with a lower one are begun first."""
        heapq.heappush(self._tasks, (urgency, next(self._number), task))

    def results(self, timeout_s: float = 0.0) -> list[dict[str, Any]]:
        """Those that are there, at the latest after so many seconds; hands out tasks. What a task
        raised is printed, and its weights count as not measured."""
        while self._idle and self._tasks:
            connection, task = self._idle.pop(), heapq.heappop(self._tasks)[-1]
            connection.send(task)
            self._busy[connection] = task
        results = []
        for ready in wait(list(self._busy), timeout_s):
            connection = cast("Connection", ready)
            result = connection.recv()
            task = self._busy.pop(connection)
            self._idle.append(connection)
            if isinstance(result, str):
                print(f"{task.job.asked.name}, seed {task.job.seed}: {result}", flush=True)
                self._failed.append(task)
            else:
                results.append(result)
        return results

    def unmeasured(self) -> list[Done]:
        """Learners that are trained and not measured yet, the most urgent ones first."""
        waiting = (task for _, _, task in sorted(self._tasks, key=lambda entry: entry[:2]))
        tasks = [*self._busy.values(), *waiting, *self._failed]
        return [task.done for task in tasks if task.done is not None]


def _serve(connection: Connection) -> None:
    while True:
        task = connection.recv()
        try:
            connection.send(carried_out(task))
        except Exception:  # noqa: BLE001
            connection.send(traceback.format_exc())


def keep(every: Sequence[Done], folder: Path) -> None:
    """Writes weights into files of at most about `FULL` bytes each."""
    folder.mkdir(parents=True, exist_ok=True)
    files: list[list[Done]] = [[]]
    size = 0
    for done in every:
        bytes_of = sum(value.nbytes for value in done.weights.values())
        if files[-1] and size + bytes_of > FULL:
            files.append([])
            size = 0
        files[-1].append(done)
        size += bytes_of
    for number, dones in enumerate(files):
        about = {
            str(place): json.dumps(
                {
                    "digest": done.job.asked.recipe(done.job.size, done.job.seed).digest,
                    "seed": done.job.seed,
                    "training": asdict(done.training),
                }
            )
            for place, done in enumerate(dones)
        }
        weights = {
            f"{place}/{name}": value
            for place, done in enumerate(dones)
            for name, value in done.weights.items()
        }
        safetensors.numpy.save_file(weights, folder / f"{number}.safetensors", metadata=about)


def kept(job: Job, folder: Path) -> Done | None:
    """The learner of a job, where `keep` left its weights in a folder."""
    digest = job.asked.recipe(job.size, job.seed).digest
    for path in sorted(folder.glob("*.safetensors")):
        with safetensors.safe_open(path, framework="numpy") as opened:
            for place, text in (opened.metadata() or {}).items():
                about = json.loads(text)
                if (about["digest"], about["seed"]) == (digest, job.seed):
                    start = f"{place}/"
                    weights = {
                        name.removeprefix(start): opened.get_tensor(name)
                        for name in opened.keys()  # noqa: SIM118
                        if name.startswith(start)
                    }
                    return Done(job, weights, Training(**about["training"]))
    return None
