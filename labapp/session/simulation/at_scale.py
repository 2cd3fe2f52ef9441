"""Many simulated participants at once: the same sessions as one after another gives.

Each session is made by a worker in a folder of its own and put in its place in the order of the
participants. Where cells are drawn, a participant's cells depend on which earlier participants are
included. They are drawn as if everybody still being simulated will be included; a participant whose
cells turn out otherwise, because an earlier one was excluded, is simulated again.
"""

from __future__ import annotations

import shutil
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import product
from pathlib import Path

from labapp.base.errors import StudyFull
from labapp.base.parallel.processes import cores
from labapp.base.reading import files
from labapp.session import condition_assignment, folder, private
from labapp.session.opening import models_of
from labapp.session.pictures import card_path
from labapp.session.simulation import simulation_job
from labapp.session.simulation.simulation_job import (
    SimulatedSession,
    SimulationJob,
    Workers,
    run_job,
    run_jobs,
    workers,
)
from labapp.study import loading, overview, planner
from labapp.study.allocation import rule_of, sessions_of, variants
from labapp.study.conditions import generator
from labapp.study.loading import LoadedStudy
from labapp.study.people import Visits

FEW = 4
"""Sessions that one process simulates in the time another takes to start."""
AHEAD = 3
"""Sessions submitted per slot, so that no worker waits while finished ones are put in place."""
TOGETHER = 16
"""Sessions that one process simulates together: of more, their events fill the memory."""
SCRATCH = ".simulating"
"""Folder for sessions that are being made; it is gone at the end."""

Progress = Callable[[str], None]


def simulate_at_scale(
    study: str,
    participants: int | None,
    strategy: str,
    out: Path,
    seed: int | None = None,
    progress: Progress = lambda participant: None,
    *,
    careless: float = 0.0,
    thinks_aloud: bool = False,
    number: int | None = None,
    dask: str | None = None,
    language: str | None = None,
) -> list[Path]:
    """As `jobs.simulate_study`, by several processes or a Dask cluster; returns the folders.

    number, dask: see `workers`; a few participants are left to one process. The sessions are those
    of the serial run: their journals are equal except for what was measured on the machine (the
    warm-up of the decoders) and the environment. Raises as that, and as `workers`.
    """
    # Whether a quota is full depends on the sessions before.
    in_turn = bool(loading.load(study).study.quotas)
    if in_turn or (dask is None and _processes(number, participants) == 1):
        return simulation_job.simulate_study(
            study,
            participants,
            strategy,
            out,
            seed,
            progress,
            careless=careless,
            thinks_aloud=thinks_aloud,
            language=language,
        )
    loaded = simulation_job.check_job(study, participants, strategy, out)
    spoken_by = loading.spoken_by(loaded, language)
    scratch = out / SCRATCH
    folders: list[Path] = []
    sessions: Path | None = None
    try:
        safe = f"Sessions that were finished before are complete, in {out}."
        with workers(_processes(number, participants), dask, safe=safe) as pool:
            sessions = folder.study_folder(out, loaded.study.id)
            scratch.mkdir()
            job = partial(SimulationJob, strategy=strategy, seed=seed, thinks_aloud=thinks_aloud)
            queue = _JobQueue(spoken_by, participants, job, seed, careless, pool, scratch)
            with closing(queue.sessions()) as every:
                for simulated in every:
                    for consent in simulated.consents:  # first: no session is without its own
                        private.store_consent(out / "private", loaded.study.id, consent)
                    folders.append(simulated.move(sessions))
                    if simulated.job.session in (None, sessions_of(loaded.study)[-1]):
                        progress(simulated.job.label)
    finally:
        # Unfinished sessions are removed; where none was finished, so is `out`, which can be
        # named again then. The folder decides, not the list: a signal can come between the two.
        if sessions is not None:
            shutil.rmtree(scratch if any(sessions.iterdir()) else out, ignore_errors=True)
    if folders:
        with condition_assignment.open_ledger(out, loaded) as ledger:
            ledger.enter(folders[-1].name, simulated.job.drawn)
    return folders


def _processes(number: int | None, participants: int | None) -> int:
    if number is not None or participants is None:
        return number or cores()
    return max(1, min(cores(), participants // FEW))


def in_order(workers: Workers, sessions: Iterable[SimulationJob]) -> Iterator[SimulatedSession]:
    """Simulate jobs that do not depend on each other, all with the same models; as many parts of
    them at once as there are slots, and the sessions of a part together (`run_jobs`)."""
    jobs = list(sessions)
    each = max(1, min(TOGETHER, len(jobs) // (2 * workers.slots)))
    waiting: deque[Future[list[SimulatedSession]]] = deque()
    try:
        for at in range(0, len(jobs), each):
            waiting.append(workers.executor.submit(run_jobs, jobs[at : at + each]))
            if len(waiting) >= AHEAD * workers.slots:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def hash_needed_models(loaded: LoadedStudy) -> dict[str, str]:
    """SHA-256 of the cards of every model that a participant of the study may meet."""
    models: dict[str, None] = {}
    for (number, drawn), session in product(variants(loaded.study), sessions_of(loaded.study)):
        made = planner.realise(
            loaded,
            loaded.study.participants.label(number),
            session,
            space_of=overview.space_of,
            prior_of=overview.prior_of,
            drawn=drawn,
        )
        models.update(dict.fromkeys(models_of(made.parts)))
    return {model: sha256(files.content(card_path(model))).hexdigest() for model in models}


@dataclass(frozen=True)
class _Pending:
    """The sessions of one participant."""

    jobs: list[SimulationJob]
    futures: list[Future[SimulatedSession]]


class _JobQueue:
    """Participants in their order: those who are done, and those who are being simulated as if all
    before them were included."""

    def __init__(
        self,
        spoken_by: Callable[[int], LoadedStudy],
        participants: int | None,
        job: Callable[..., SimulationJob],
        seed: int | None,
        careless: float,
        workers: Workers,
        scratch: Path,
    ) -> None:
        self._spoken_by, loaded = spoken_by, spoken_by(1)
        self._participants = participants
        self._careless = careless
        self._seed = seed
        self._found = workers
        self._make = partial(
            job,
            models=None if workers.here else hash_needed_models(loaded),
            scratch=scratch if workers.here else None,
            keep="folder" if workers.here else "packed",
        )
        self._rule = rule_of(loaded.study)
        self._needed = Visits.of(loaded.study.design).needed
        self._counts: Counter[str] = Counter()
        self._done = 0
        self._pending: deque[_Pending] = deque()

    def sessions(self) -> Generator[SimulatedSession]:
        """Each session, in order. Raises SessionError if a study does not fill."""
        in_vain = 0
        try:
            while True:
                self._fill()
                if not self._pending:
                    return
                first = self._pending.popleft()
                simulated = [future.result() for future in first.futures]
                self._done += 1
                included = sum(each.included for each in simulated) >= self._needed
                if included:
                    self._counts.update(first.jobs[0].drawn)
                elif self._rule is not None:
                    self._assign_again()
                yield from simulated
                in_vain = 0 if included else in_vain + 1
                if self._participants is None and in_vain == simulation_job.IN_VAIN:
                    raise simulation_job.does_not_fill()
        finally:
            for person in self._pending:
                _drop(person)

    def _fill(self) -> None:
        """Ask for sessions until there is enough to do, or the study is full for now."""
        while len(self._pending) < AHEAD * self._found.slots:
            number = self._done + len(self._pending) + 1
            if self._participants is not None and number > self._participants:
                return
            jobs_of = self._jobs(number)
            if not jobs_of:
                return
            submit = self._found.executor.submit
            self._pending.append(_Pending(jobs_of, [submit(run_job, job) for job in jobs_of]))

    def _jobs(self, number: int) -> list[SimulationJob]:
        """The sessions of a participant as things stand; none if the study is full."""
        loaded = self._spoken_by(number)
        study = loaded.study
        label = study.participants.label(number)
        seed = study.seed if self._seed is None else self._seed
        drawn: tuple[str, ...] = ()
        if self._rule is not None:
            try:
                drawn = self._rule.draw(self._count_held(), seed, study.id, label)
            except StudyFull:
                return []
        lot = generator(seed, label, "careless")
        careless = bool(lot.random() < self._careless)
        return [
            self._make(loaded, label=label, drawn=drawn, careless=careless, session=session)
            for session in sessions_of(study)
        ]

    def _count_held(self) -> Counter[str]:
        return self._counts + Counter(
            cell for person in self._pending for cell in person.jobs[0].drawn
        )

    def _assign_again(self) -> None:
        """After an exclusion: participants whose cells are the same keep their sessions."""
        before, self._pending = self._pending, deque()
        for place, person in enumerate(before):
            if self._jobs(self._done + place + 1) != person.jobs:
                for stale in list(before)[place:]:
                    _drop(stale)
                return
            self._pending.append(person)


def _drop(person: _Pending) -> None:
    """Nobody waits for these sessions any more."""
    for future in person.futures:
        if not future.cancel():
            future.add_done_callback(_discard)


def _discard(future: Future[SimulatedSession]) -> None:
    if not future.cancelled() and future.exception() is None:
        future.result().discard()
