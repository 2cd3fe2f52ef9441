"""How many participants are simulated a second: by one process, by several, by a Dask cluster.

    python benchmarks/plan_scale.py [--study STUDY] [--participants 20] [--processes 2] [--json]
    python benchmarks/plan_scale.py --many 10000 [--processes 2] [--dask]
    python -m benchmarks.plan_scale --core [--study STUDY ...] [--against REF] [--rounds 3]
    python -m benchmarks.plan_scale --fold [--study STUDY ...]

Sessions a second without the start of the processes, CPU seconds a session, bytes on disk a
session, and the highest memory of the program and of a worker. A study may be a file. `--many`
simulates that many participants of the mixture as `labapp plan` does, which keeps their numbers
only, and tells how memory grows (`--dask`: on a local Dask cluster); of a study of one question
with each of three models, unless --study says otherwise. `--core` counts the CPU seconds of a
session of which only the numbers are kept: of sixteen simulated together, four of each strategy,
after one that is not counted, in a process for each study; with --against in turns with the tree of
a commit, which may simulate them one by one. `--fold` tells what an event of a simulated session
costs the analysis: the fold of its task, and all folds.
"""

from __future__ import annotations

import argparse
import json
import logging
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

SMALL = """
id: small
title: One question with each of three models
version: 1
unnamed_texts: shipped
seed: 8
participants: {pattern: "P{:05d}"}
flow:
  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/vae, sinelines/ae]
      order: counterbalanced
      trials: 1
      skip: always
"""


FIVE = (
    "gradcam-distinction",
    "unmasking-faces",
    "quickstart",
    "dsprites-demo",
    "mnist-think-aloud",
)
COUNTED = """
import sys, time
from collections import Counter
from functools import partial
from labapp.session.planning.thresholds import fold
from labapp.session.simulation.fitting import usual_shares
from labapp.session.simulation import simulation_job
from labapp.session.simulation.simulation_job import SimulationJob, run_job
from labapp.study import loading
from labapp.study.allocation import rule_of
loaded = loading.load(sys.argv[1])
rule, counts, jobs = rule_of(loaded.study), Counter(), []
strategies = list(usual_shares(loaded.study))
for number, strategy in enumerate((strategies[0], *strategies * 4), start=1):
    label, drawn = loaded.study.participants.label(number), ()
    if rule is not None:
        drawn = rule.endless().draw(counts, loaded.study.seed, loaded.study.id, label)
        counts.update(drawn)
    jobs.append(SimulationJob(loaded, label, drawn, strategy, None, fold=partial(fold, more=())))
first, *rest = jobs
run_job(first)
together = getattr(simulation_job, "run_jobs", lambda some: [run_job(job) for job in some])
began = time.process_time()
together(rest)
print((time.process_time() - began) / len(rest))
"""


def memory_mb() -> tuple[float, float]:
    """Highest so far: of this program, and of the largest process that it started and ended."""
    own, others = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own, others


def cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


@contextmanager
def cluster(processes: int) -> Iterator[str]:
    """A local Dask cluster of so many processes with one thread each; its address."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=processes,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.ERROR,
    ) as local:
        yield local.scheduler_address


def run(study: str, participants: int, how: str, processes: int, folder: Path) -> dict[str, Any]:
    """One way of simulating; the first sessions, during which workers load models, do not count
    for the rate."""
    from labapp.session.simulation.at_scale import simulate_at_scale

    moments: list[float] = []

    def progress(label: str) -> None:
        moments.append(time.perf_counter())

    out = folder / how
    cpu = cpu_s()

    def simulate(**more: Any) -> None:
        simulate_at_scale(study, participants, "mixture", out, 1, progress, **more)

    if how == "dask":
        with cluster(processes) as address:
            simulate(dask=address)
    else:
        simulate(number=1 if how == "one process" else processes)
    first = min(2 * processes, participants - 2)
    took = moments[-1] - moments[first]
    own, worker = memory_mb()
    return {
        "how": how,
        "participants": participants,
        "sessions_per_s": (participants - 1 - first) / took,
        "cpu_s_per_session": (cpu_s() - cpu) / participants,
        "disk_kb_per_session": folder_bytes(out) / participants / 1000,
        "program_mb": own,
        "worker_mb": worker,
    }


def many(study: str, participants: int, processes: int, *, dask: bool) -> dict[str, Any]:
    """As `labapp plan` simulates them; tells how far it is ten times."""
    from labapp.session.planning.thresholds import simulate_people
    from labapp.session.simulation.simulation_job import workers
    from labapp.session.simulation.strategies import SHARES
    from labapp.study import loading

    each = participants // len(SHARES)
    every = each * len(SHARES)
    done = 0
    began = time.perf_counter()

    def progress() -> None:
        nonlocal done
        done += 1
        if done % max(1, every // 10) == 0:
            took = time.perf_counter() - began
            print(
                f"{done:6d} sessions, {done / took:5.2f} a second, program {memory_mb()[0]:.0f} MB",
                flush=True,
            )

    with ExitStack() as stack:
        address = stack.enter_context(cluster(processes)) if dask else None
        pool = stack.enter_context(workers(processes, address))
        people = simulate_people(loading.load(study), SHARES, each, 1, pool, progress)
    took = time.perf_counter() - began
    own, worker = memory_mb()
    return {
        "how": f"numbers only, {processes} {'Dask workers' if dask else 'processes'}",
        "participants": len(people.strategies),
        "sessions_per_s": every / took,
        "cpu_s_per_session": cpu_s() / every,
        "disk_kb_per_session": 0.0,
        "program_mb": own,
        "worker_mb": worker,
    }


def folded(study: str, times: int = 31) -> dict[str, Any]:
    """CPU microseconds an event, medians, of a session that was simulated in memory."""
    from labapp.analysis.deviations import fold_totals
    from labapp.analysis.rows import SessionRecords
    from labapp.analysis.task_records import Parts, walk
    from labapp.session.simulation.fitting import usual_shares
    from labapp.session.simulation.simulation_job import SimulationJob, run_job
    from labapp.study import loading

    loaded = loading.load(study)
    label, strategy = loaded.study.participants.label(1), next(iter(usual_shares(loaded.study)))
    job = SimulationJob(loaded, label, (), strategy, None, fold=lambda events, _: list(events))
    events = run_job(job).folded
    parts = Parts.of(fold_totals(events).planned.plan)

    def median_us(fold: Callable[[], object]) -> float:
        taken = []
        for _ in range(times):
            began = time.process_time()
            fold()
            taken.append(time.process_time() - began)
        return statistics.median(taken) / len(events) * 1e6

    task = median_us(lambda: walk(events, parts))
    every = median_us(lambda: SessionRecords.of(events, "session"))
    print(f"{study:20} {len(events)} events: task {task:.2f}, all folds {every:.2f} us an event")
    return {"study": study, "events": len(events), "task_us": task, "all_us": every}


def per_core(studies: Sequence[str], against: str | None, rounds: int) -> list[dict[str, Any]]:
    """CPU seconds of a counted session in this tree and, in turns, in that of a commit; medians."""
    from benchmarks.ratchet import HERE, Tree, unpacked

    rows = []
    with ExitStack() as stack:
        roots = {"this tree": HERE}
        if against is not None:
            roots[against] = stack.enter_context(unpacked(against))
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        trees = [Tree(name, root, work) for name, root in roots.items()]
        for study in studies:
            seconds: dict[str, list[float]] = {tree.name: [] for tree in trees}
            for _ in range(rounds):
                for tree in trees:
                    seconds[tree.name].append(float(tree.run("-c", COUNTED, study)[0]))
            medians = {name: statistics.median(taken) for name, taken in seconds.items()}
            rows.append({"study": study, "cpu_s_per_session": medians})
            words = (
                f"{name} {taken:.3f} s, {1 / taken:.1f} a second" for name, taken in medians.items()
            )
            print(f"{study:20} {'; '.join(words)}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--study", nargs="*", default=[])
    parser.add_argument("--core", action="store_true")
    parser.add_argument("--fold", action="store_true")
    parser.add_argument("--against", metavar="REF")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--participants", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--many", type=int)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.core:
        rows = per_core(options.study or FIVE, options.against, options.rounds)
        if options.json:
            print(json.dumps(rows, indent=2))
        return
    if options.fold:
        rows = [folded(study) for study in options.study or ("quickstart", "dsprites-demo")]
        if options.json:
            print(json.dumps(rows, indent=2))
        return
    named = options.study[0] if options.study else None
    folder = Path(tempfile.mkdtemp(prefix="labapp-plan-scale-"))
    try:
        if options.many:
            small = folder / "small.yaml"
            small.write_text(SMALL, encoding="utf-8")
            study = named or str(small)
            rows = [many(study, options.many, options.processes, dask=options.dask)]
        else:
            rows = [
                run(
                    named or "quickstart",
                    options.participants,
                    how,
                    options.processes,
                    folder,
                )
                for how in ("one process", "processes", "dask")
            ]
    finally:
        shutil.rmtree(folder)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(
            f"{row['how']:28} {row['participants']:6d} participants: "
            f"{row['sessions_per_s']:.2f} a second, CPU {row['cpu_s_per_session']:.2f} s and "
            f"{row['disk_kb_per_session']:.0f} kB on disk each; program {row['program_mb']:.0f} "
            f"MB, largest worker {row['worker_mb']:.0f} MB"
        )


if __name__ == "__main__":
    main()
