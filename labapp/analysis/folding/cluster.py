"""A Dask cluster as the place where sessions are folded."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from labapp import __version__
from labapp.errors import SetupError

TIMEOUT_S = 10.0
"""How long the scheduler may take to answer."""


def versions() -> dict[str, str]:
    """What has to be the same on every machine for the same numbers and for them to be read."""
    packages = {name: version(name) for name in ("distributed", "pyarrow")}
    python = ".".join(platform.python_version_tuple()[:2])
    return {"labapp": __version__, "Python": python, **packages}


@contextmanager
def cluster(address: str) -> Iterator[tuple[Callable[..., Any], int]]:
    """A function that has a call done by the cluster (`submit(function, *arguments)` returns what
    has a `result`), and the number of its threads.

    Raises SetupError when nothing answers at the address, the cluster has no worker, or one of
    them runs other versions.
    """
    import distributed
    from distributed.comm.core import CommClosedError

    try:
        client: Any = distributed.Client(  # type: ignore[no-untyped-call]
            address, timeout=TIMEOUT_S, set_as_default=False
        )
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise SetupError(
            f"No Dask scheduler can be used at {address} ({_first_line(error)}).",
            safe="Nothing was read or written.",
            todo="Give the address that `dask scheduler` prints, for example "
            "tcp://192.168.1.5:8786, and check that this machine reaches it.",
        ) from error
    try:
        with client:
            threads = _checked(client, address)

            def submit(function: Callable[..., Any], *arguments: Any) -> Any:
                return client.submit(function, *arguments, pure=False)

            try:
                yield submit, threads
            except (distributed.client.FutureCancelledError, distributed.KilledWorker) as error:
                raise SetupError(
                    f"The Dask cluster at {address} lost its workers ({_first_line(error)}).",
                    safe="The sessions were only read.",
                    todo="Look at the logs of the workers, and try again.",
                ) from error
    except CommClosedError as error:
        raise SetupError(
            f"The Dask scheduler at {address} went away ({_first_line(error)}).",
            safe="The sessions were only read.",
            todo="Look at its log, and try again.",
        ) from error


def _checked(client: Any, address: str) -> int:
    """The number of the cluster's threads. Raises SetupError when it cannot be used."""
    threads = client.nthreads()
    if not threads:
        raise SetupError(
            f"The Dask cluster at {address} has no worker.",
            safe="Nothing was read or written.",
            todo=f"Start one: dask worker {address}",
        )
    ours = versions()
    try:
        found = client.run(versions)
    except ImportError as error:
        raise SetupError(
            f"A worker of the Dask cluster at {address} cannot load labapp ({_first_line(error)}).",
            safe="Nothing was read or written.",
            todo=f"Install labapp {__version__} where `dask worker` is started.",
        ) from error
    for worker, theirs in found.items():
        other = [f"{name} {theirs[name]}" for name in ours if theirs[name] != ours[name]]
        if other:
            raise SetupError(
                f"The Dask worker {worker} runs {', '.join(other)}; here it is "
                f"{', '.join(f'{name} {said}' for name, said in ours.items())}.",
                safe="Nothing was read or written.",
                todo="Install the same versions there: the numbers could differ.",
            )
    return sum(threads.values())


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
