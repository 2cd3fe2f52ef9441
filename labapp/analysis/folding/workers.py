"""Folding many sessions: one after the other, in several processes, or on a Dask cluster.

However it is done, the sessions come back in the order in which they were given, so that the tables
are the same to the last bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from labapp.analysis.folding.folded import Folded, LeftOut, fold
from labapp.base.parallel.cluster import cluster
from labapp.base.parallel.processes import cores, processes
from labapp.record.journal.opening import SessionPlace

AHEAD = 4
"""Sessions a worker has waiting, so that it is never idle and few results lie about."""
WORTH_A_PROCESS = 12
"""Sessions that are read in the time a process takes to start."""
SAFE = "The sessions were only read."


class Waiting(Protocol):
    """Of something under way."""

    def result(self) -> Folded | LeftOut: ...


def fold_all(
    places: Sequence[SessionPlace],
    *,
    withdrawn: bool = False,
    workers: int | None = 1,
    dask: str | None = None,
) -> Generator[Folded | LeftOut, None, None]:
    """Every session folded, in the order given; to be closed, which ends the workers.

    workers: processes, 1 for this one alone, None for as many as are worth it on this machine.
    dask: address of a Dask scheduler, whose workers are taken instead; they need the same labapp
    and the sessions under the same paths. Raises RecordError as `fold`, of the first place that
    cannot be folded; SetupError when a worker is lost or the cluster cannot be used.
    """
    task = partial(fold, withdrawn=withdrawn)
    if dask is not None:
        # The workers have working directories of their own.
        there = [replace(place, path=place.path.absolute()) for place in places]
        with cluster(dask, safe=SAFE) as (client, n):
            submit = partial(client.submit, task, pure=False)
            yield from _in_order(there, submit, n * AHEAD)
        return
    n = fitting(len(places)) if workers is None else min(workers, len(places))
    if n <= 1:
        yield from map(task, places)
        return
    with processes(n, _one_thread, safe=SAFE) as pool:
        yield from _in_order(places, partial(pool.submit, task), n * AHEAD)


def fitting(sessions: int) -> int:
    """Processes that are worth it for so many sessions, at most one a core this process may use."""
    return max(1, min(cores(), sessions // WORTH_A_PROCESS))


def _in_order(
    places: Iterable[SessionPlace], submit: Callable[[SessionPlace], Waiting], ahead: int
) -> Iterator[Folded | LeftOut]:
    under_way: deque[Waiting] = deque()
    for place in places:
        under_way.append(submit(place))
        if len(under_way) > ahead:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()


def _one_thread() -> None:
    import pyarrow as pa

    pa.set_cpu_count(1)
