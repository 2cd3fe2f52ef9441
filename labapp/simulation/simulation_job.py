"""One simulated session as a job for another process, perhaps on another machine."""

from __future__ import annotations

import io
import re
import shutil
import tarfile
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from labapp import access, leftovers
from labapp.session import private
from labapp.session.private import Consent
from labapp.simulation.decoders import Decoders
from labapp.simulation.headless import simulate
from labapp.simulation.jobs import included
from labapp.study.loading import LoadedStudy

Keep = Literal["folder", "packed", "nothing"]
_UNPACKED = re.compile(r"\.unpacked-\w+")


@dataclass(frozen=True)
class SimulationJob:
    """All that a process needs to simulate one session.

    Attributes
    ----------
    drawn
        The participant's cells.
    session
        Its label; by default the first.
    models
        SHA-256 of the cards of the models that are wanted, by name; empty for any.
    scratch
        Where the session is made; by default the worker's own temporary folder.
    keep
        What stays of the session: its folder in `scratch`, all its files as bytes, or nothing.
    fold
        Called in the worker with the session's folder; what it returns comes back.
    """

    loaded: LoadedStudy
    label: str
    drawn: tuple[str, ...]
    strategy: str
    seed: int | None
    careless: bool = False
    thinks_aloud: bool = False
    session: str | None = None
    models: Mapping[str, str] | None = None
    scratch: Path | None = None
    keep: Keep = "nothing"
    fold: Callable[[Path], Any] | None = None


@dataclass(frozen=True)
class SimulatedSession:
    """What a job gives back of the session it simulated.

    Attributes
    ----------
    included
        Whether the session counts by the study's rules.
    consents
        The names that were typed, which are stored apart from the session.
    path
        The session's folder, where the job keeps it.
    packed
        The session's files as a tar archive, where the job packs them.
    folded
        What the job's `fold` returned.
    """

    job: SimulationJob
    name: str
    included: bool
    consents: tuple[Consent, ...]
    path: Path | None = None
    packed: bytes | None = None
    folded: Any = None

    def move(self, folder: Path) -> Path:
        """Put what was kept into the folder of the study's sessions; returns the new path.

        It comes there whole, at one moment. Raises FileExistsError where there is a session of that
        name.
        """
        target = folder / self.name
        if target.exists():
            raise FileExistsError(target)
        if self.packed is not None:
            leftovers.clear(folder.parent, _UNPACKED)
            with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=folder.parent) as beside:
                # A folder deeper than the sessions of a study: nobody takes half of it for one.
                unpacked = Path(beside) / "whole" / self.name
                access.own_folder(unpacked, exist_ok=False)
                with tarfile.open(fileobj=io.BytesIO(self.packed)) as archive:
                    archive.extractall(unpacked, filter=access.as_ours)
                unpacked.rename(target)
        elif self.path is not None:
            self.path.rename(target)
            shutil.rmtree(self.path.parents[1])
        return target

    def discard(self) -> None:
        """Let go of what was kept."""
        if self.path is not None:
            shutil.rmtree(self.path.parents[1], ignore_errors=True)


_HERE = threading.local()


def run_job(job: SimulationJob) -> SimulatedSession:
    """Simulate it. Raises as `simulate`; nothing is left of a session that failed."""
    scratch = Path(tempfile.mkdtemp(prefix="labapp-", dir=job.scratch))
    stays = False
    try:
        secret = scratch / "private"
        dependencies = _decoders(job.models).dependencies(
            job.loaded, job.label, job.drawn, job.seed, secret, job.session
        )
        path = simulate(
            job.loaded,
            job.label,
            dependencies,
            session=job.session,
            data=scratch,
            strategy=job.strategy,
            seed=job.seed,
            careless=job.careless,
            thinks_aloud=job.thinks_aloud,
            cells=job.drawn,
        )
        stays = job.keep == "folder"
        return SimulatedSession(
            job,
            path.name,
            included(path),
            tuple(private.consents(secret, job.loaded.study.id)),
            path if stays else None,
            _packed(path) if job.keep == "packed" else None,
            None if job.fold is None else job.fold(path),
        )
    except BaseException:
        stays = False
        raise
    finally:
        if not stays:
            shutil.rmtree(scratch, ignore_errors=True)


def _decoders(models: Mapping[str, str] | None) -> Decoders:
    """Those of this thread."""
    wanted = dict(models or {})
    known: tuple[dict[str, str], Decoders] | None = getattr(_HERE, "decoders", None)
    if known is None or known[0] != wanted:
        known = _HERE.decoders = (wanted, Decoders(wanted))
    return known[1]


def _packed(path: Path) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
        archive.add(path, ".")
    return stream.getvalue()
