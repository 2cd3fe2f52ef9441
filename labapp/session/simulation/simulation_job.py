"""Simulated sessions without windows: on a virtual clock, as fast as the machine can.

One session is a job for another process, perhaps on another machine: several processes of this one
simulate, or a Dask cluster. `labapp simulate` simulates a study's first participants into a folder
of their own. The decoders that sessions need are each loaded once, for the first who needs it.

A preview shows a study as simulated participants go through it, moment by moment. One of them does
as it is told (`names.ORACLE`), the other guesses and gives up, so that both what is said to
somebody who was right and to somebody who was not comes up.
"""

from __future__ import annotations

import gc
import io
import re
import shutil
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any, Literal

from threadpoolctl import ThreadpoolController

from labapp import __version__
from labapp.base import access, leftovers, resources
from labapp.base.clock import Clock, FakeClock, utc_label, utc_text
from labapp.base.errors import (
    ExportExists,
    LabappError,
    ModelError,
    SessionError,
    StudyFull,
    UsageError,
)
from labapp.base.parallel.cluster import cluster
from labapp.base.parallel.processes import cores, gc_paused, processes
from labapp.models.representations.package import tasks_of
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import Logits, Photo
from labapp.models.stimuli.masked_pictures import Masking, find_recorded_outputs
from labapp.record.events import Event, Payload, Source, UnstampedEvent, payload_of
from labapp.record.events.commands import GiveConsent
from labapp.record.events.lifecycle import (
    EnvironmentRecorded,
    InclusionDecided,
    PartStarted,
    SegmentStarted,
    SessionPaused,
    SessionPlanned,
)
from labapp.record.events.registry import Pauses
from labapp.record.events.voice import AudioOff
from labapp.record.journal.layout import FolderName
from labapp.record.journal.opening import open_record
from labapp.record.journal.read import read_rows
from labapp.record.journal.write import MemoryJournal
from labapp.session import condition_assignment, environment, opening, private
from labapp.session.gate import gate, predict_masked
from labapp.session.machine import PartRecord, SessionMachine, SessionState
from labapp.session.opening import OpenSession, SessionDependencies, models_of
from labapp.session.pictures import WarmDecoders, load_warm
from labapp.session.private import Consent
from labapp.session.runner import Runner, VirtualScheduler, machine_of
from labapp.session.simulation.driver import Driver
from labapp.session.simulation.fitting import check_fits, usual_strategy
from labapp.session.simulation.names import ORACLE
from labapp.session.simulation.person import HUMAN, Pace
from labapp.session.simulation.together import TogetherDecoding
from labapp.session.stimuli import stimuli_of
from labapp.study import loading, overview, planner
from labapp.study.allocation import rule_of, sessions_of
from labapp.study.conditions import generator
from labapp.study.loading import LoadedStudy
from labapp.study.people import Visits
from labapp.study.plan import Plan
from labapp.study.plugins.simulated import NO_OPTIONS, Options
from labapp.study.stimulus_stages import PredictMasked

Keep = Literal["folder", "packed", "nothing"]
NO_SOUND = "simulated on a virtual clock"


@dataclass(frozen=True)
class SimulationJob:
    """All that a process needs to simulate one session.

    Attributes
    ----------
    drawn : the participant's cells.
    session : its label; by default the first.
    models : SHA-256 of the cards of the models that are wanted, by name; empty for any.
    scratch : where the session is made; by default the worker's own temporary folder.
    keep : what stays of it: its folder in `scratch`, all its files as bytes, or nothing.
    fold : called in the worker with the session's events and its name; what it returns comes back.
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
    fold: Callable[[Sequence[tuple[Event, Payload]], str], Any] | None = None


@dataclass(frozen=True)
class SimulatedSession:
    """What a job gives back of the session it simulated.

    Attributes
    ----------
    included : whether the session counts by the study's rules.
    consents : the names that were typed, which are stored apart from the session.
    path : the session's folder, where the job keeps it.
    packed : its files as a tar archive, where the job packs them.
    folded : what the job's `fold` returned.
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

        It comes there whole, at one moment. Raises FileExistsError if there is a session of that
        name.
        """
        target = folder / self.name
        if target.exists():
            raise FileExistsError(target)
        if self.packed is not None:
            leftovers.clear(folder.parent, re.compile(r"\.unpacked-\w+"))
            with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=folder.parent) as beside:
                # A folder deeper than the sessions of a study: nobody takes half of it for one.
                unpacked = Path(beside) / "whole" / self.name
                access.own_folder(unpacked, exist_ok=False)
                with tarfile.open(fileobj=io.BytesIO(self.packed)) as archive:
                    access.unpack(archive, unpacked)
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


@cache
def _blas() -> ThreadpoolController:
    """The linear algebra that numpy has loaded."""
    return ThreadpoolController()


def run_job(job: SimulationJob) -> SimulatedSession:
    """Simulate it. Raises as `simulate`; nothing is left of a session that failed."""
    (simulated,) = run_jobs([job])
    return simulated


def run_jobs(jobs: Sequence[SimulationJob]) -> list[SimulatedSession]:
    """Simulate several at once, all with the same models. Raises as `run_job`."""
    decoders = _decoders(jobs[0].models)
    # The matrices of a memory are small: several threads only wait for each other, and where each
    # core has a session already, one that learns takes twice as long.
    with _blas().limit(limits=1, user_api="blas"):
        simulated: list[SimulatedSession] = []
        while some := jobs[len(simulated) :]:
            # Where no model is decoded for several, one at a time keeps fewer events in memory.
            if not decoders.together.shares:
                some = some[:1]
            with gc_paused():
                simulated += decoders.together.run([partial(_run, job, decoders) for job in some])
            gc.collect(0)  # A session is a reference cycle that keeps its events alive.
        return simulated


def _run(job: SimulationJob, decoders: Decoders) -> SimulatedSession:
    if job.keep == "nothing":
        return _simulate_in_memory(job, decoders)
    scratch = Path(tempfile.mkdtemp(prefix="labapp-", dir=job.scratch))
    stays = False
    try:
        secret = scratch / "private"
        dependencies = decoders.dependencies(
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
        events = [] if job.fold is None else list(open_record(path).payloads())
        stays = job.keep == "folder"
        return SimulatedSession(
            job,
            path.name,
            is_included(path),
            tuple(private.consents(secret, job.loaded.study.id)),
            path if stays else None,
            _pack_folder(path) if job.keep == "packed" else None,
            None if job.fold is None else job.fold(events, path.name),
        )
    except BaseException:
        stays = False
        raise
    finally:
        if not stays:
            shutil.rmtree(scratch, ignore_errors=True)


def _simulate_in_memory(job: SimulationJob, decoders: Decoders) -> SimulatedSession:
    """Simulate without a folder, when only the result of `fold` is needed."""
    loaded = job.loaded
    who = (job.label, job.drawn, job.seed, job.session)
    made = decoders.plan(loaded, *who, predict_masked=decoders.predict_masked)
    dependencies = decoders.of(made, resources.private_root())
    planned = opening.make_planned_event(loaded, made, dependencies)
    journal = rehearse(
        loaded,
        planned,
        dependencies,
        strategy=job.strategy,
        careless=job.careless,
        thinks_aloud=job.thinks_aloud,
    )
    events = journal.payloads()
    began = utc_label(_clock(loaded, made.session).utc())
    name = str(FolderName(made.participant, made.session, began))
    decided = [payload.included for _, payload in events if isinstance(payload, InclusionDecided)]
    folded = None if job.fold is None else job.fold(events, name)
    return SimulatedSession(job, name, bool(decided) and decided[-1], (), folded=folded)


def _decoders(models: Mapping[str, str] | None) -> Decoders:
    """Those of this thread."""
    wanted = dict(models or {})
    known: tuple[dict[str, str], Decoders] | None = getattr(_HERE, "decoders", None)
    if known is None or known[0] != wanted:
        known = _HERE.decoders = (wanted, Decoders(wanted))
    return known[1]


def _pack_folder(path: Path) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
        archive.add(path, ".")
    return stream.getvalue()


@dataclass(frozen=True)
class Workers:
    """slots: how many sessions are simulated at once. scratch: where they are made on this machine,
    a folder that goes with the workers; None on others, which have their own and send what is
    kept."""

    executor: Executor
    slots: int
    scratch: Path | None

    @property
    def here(self) -> bool:
        return self.scratch is not None


@contextmanager
def workers(
    number: int | None = None, dask: str | None = None, *, safe: str = ""
) -> Iterator[Workers]:
    """Workers until the block ends; see `computing.processes` for what then becomes of their work.

    number: of local processes, by default one a core; dask: address of a scheduler, whose workers
    are asked instead; safe: what a reader of an error is told is safe. Raises SetupError when the
    cluster cannot be used, or workers are lost.
    """
    if dask is not None:
        with cluster(dask, safe=safe) as (client, threads):
            yield Workers(client.get_executor(pure=False), threads, None)
        return
    slots = number or cores()
    with (
        # Not the workers': they may be killed, and would leave it behind.
        tempfile.TemporaryDirectory(prefix=leftovers.prefix("sessions")) as scratch,
        processes(slots, safe=safe) as pool,
    ):
        yield Workers(pool, slots, Path(scratch))


IN_VAIN = 100
"""A study does not fill when so many participants in a row are excluded."""


def simulate_study(
    study: str,
    participants: int | None,
    strategy: str,
    out: Path,
    seed: int | None = None,
    progress: Callable[[str], None] = lambda participant: None,
    *,
    careless: float = 0.0,
    thinks_aloud: bool = False,
    options: Options = NO_OPTIONS,
    language: str | None = None,
) -> list[Path]:
    """All sessions of the first participants under `out`, which must not exist; their folders.

    strategy: a name, or shares of several (see `mixtures`). participants: how many; fewer where
    the study is full before, None for until it is full. careless: share of participants who do not
    try (see `Driver`), drawn by seed and label. thinks_aloud, options: see `Driver`. language: see
    `loading.spoken_by`.
    """
    loaded = check_job(study, participants, strategy, out)
    spoken_by = loading.spoken_by(loaded, language)
    decoders = Decoders()
    folders: list[Path] = []
    in_vain = 0
    for number in count(1):
        if number - 1 == participants:
            break
        loaded = spoken_by(number)
        label = loaded.study.participants.label(number)
        try:
            drawn = condition_assignment.preview(out, loaded, label, seed)
        except StudyFull:
            break
        lot = generator(loaded.study.seed if seed is None else seed, label, "careless")
        tries_not = bool(lot.random() < careless)
        counting = 0
        for session in sessions_of(loaded.study):
            dependencies = decoders.dependencies(
                loaded, label, drawn, seed, out / "private", session
            )
            path = simulate(
                loaded,
                label,
                dependencies,
                session=session,
                data=out,
                strategy=strategy,
                seed=seed,
                careless=tries_not,
                thinks_aloud=thinks_aloud,
                options=options,
            )
            folders.append(path)
            counting += is_included(path)
        progress(label)
        in_vain = 0 if counting >= Visits.of(loaded.study.design).needed else in_vain + 1
        if participants is None and in_vain == IN_VAIN:
            raise does_not_fill()
    return folders


def check_job(study: str, participants: int | None, strategy: str | None, out: Path) -> LoadedStudy:
    """The study, where so many participants of a strategy (None: the usual one) can be simulated
    into `out`. Raises ExportExists or UsageError, and as `gate`."""
    if out.exists():
        raise ExportExists(
            f"{out} exists already.",
            safe="Nothing in it was changed.",
            todo="Choose a new folder with --out.",
        )
    loaded = gate(study)
    check_fits(strategy or usual_strategy(loaded.study), loaded.study)
    if participants is None and not fills(loaded):
        raise UsageError(
            f"The study {loaded.study.id!r} is never full, because it sets no number of "
            "participants.",
            todo="Give the number: --participants N.",
        )
    return loaded


def does_not_fill() -> SessionError:
    """What is told when nobody is included any more."""
    return SessionError(
        f"None of the last {IN_VAIN} participants was included, so the study would never be full.",
        safe="The sessions so far are in the folder.",
        todo="Simulate fewer careless participants, or check the rules of inclusion.",
    )


def fills(loaded: LoadedStudy) -> bool:
    """Whether the study is full one day."""
    rule = rule_of(loaded.study)
    return rule is not None and rule.sizes is not None


def is_included(path: Path) -> bool:
    """Whether a finished session counts."""
    rows = read_rows(path, ("inclusion.decided",))
    return bool(rows) and bool(rows[-1].event().payload["included"])


@dataclass(frozen=True)
class SimulatedMoment:
    """A session at a moment at which the participant sees something.

    Attributes
    ----------
    state : of the session.
    t_ns : session time.
    after : the kind of event that led to it.
    page, trial : the page, from 0, and the number of the trial, from 1; 0 if there is none.
    begins : whether it is how a trial comes up, and not what came of something that was done.
    """

    state: SessionState
    t_ns: int
    after: str
    page: int = 0
    trial: int = 0
    begins: bool = False


Kind = tuple[int, str, tuple[bool, ...]]
"""A part, a kind of event, and what such an event said yes or no to."""


class Course:
    """What simulated participants came to.

    Attributes
    ----------
    places : how each page of each part comes up, by their numbers from 0.
    pause, end : the first screen in a pause, and the end; None if nobody got so far.
    problem : why nobody got to the end.
    """

    def __init__(self, machine: SessionMachine) -> None:
        self.machine = machine
        self.places: dict[tuple[int, int], SimulatedMoment] = {}
        self.pause: SimulatedMoment | None = None
        self.end: SimulatedMoment | None = None
        self.problem: LabappError | None = None
        self._before: dict[int, SessionState] = {}
        self._trials: dict[tuple[int, int], SimulatedMoment | None] = {}
        self._after: dict[Kind, SimulatedMoment | None] = {}

    @property
    def moments(self) -> list[SimulatedMoment]:
        """What comes up inside of the parts, by part, page, trial and time: each trial, and once a
        part what each kind of event led to."""
        seen = (*self._trials.values(), *self._after.values())
        moments = [moment for moment in seen if moment is not None]
        return sorted(moments, key=lambda moment: (*_place(moment), moment.t_ns))

    def take(self, events: Sequence[Event]) -> None:
        """Take in what happened in a session. What lasts no time is not seen, unless it is a skip
        that could be taken back."""
        state, known, led = self.machine.initial(), frozenset(self._after), events[0]
        for event, following in zip(events, (*events[1:], None), strict=True):
            payload = payload_of(event)
            if isinstance(payload, PartStarted):
                self._before.setdefault(payload.index, state)
            state = self.machine.apply(state, event, payload)
            led = event if event.part_id is not None else led
            lasts = following is None or following.t_ns > event.t_ns
            if state.running and (lasts or state.pending is not None):
                self._see(state, led, known)
            elif state.ended is not None and self.end is None:
                self.end = SimulatedMoment(state, event.t_ns, event.kind)

    def _see(self, state: SessionState, event: Event, known: frozenset[Kind]) -> None:
        """Keep what was not seen yet. Of what happens often, such as an answer, it is the last time
        of the first page and trial. known: the kinds of another session."""
        index, task = state.index, self.machine.tasks[state.index]
        trial, page = task.trial(state.part_state), task.page(state.part_state)
        moment = SimulatedMoment(
            state, event.t_ns, event.kind, page, 0 if trial is None else trial[0]
        )
        kind = (index, event.kind, tuple(yes_or_no(event.payload)))
        waits = task.due_ns(state.part_state) is not None or state.pending is not None
        if not waits and (index, page) not in self.places:
            self.places[index, page] = moment
            self._trials.setdefault((index, moment.trial))
            self._after.setdefault(kind)
        elif not waits and (index, moment.trial) not in self._trials:
            self._trials[index, moment.trial] = replace(moment, begins=True)
            self._after.setdefault(kind)
        elif kind not in self._after:
            self._after[kind] = moment
        elif kind not in known and (before := self._after[kind]) is not None:
            self._after[kind] = moment if _place(before) == _place(moment) else before
        if self.pause is None and self.places:
            pauses = Pauses(0, event.t_ns, frozenset({"pause"}))
            self.pause = SimulatedMoment(
                replace(state, pauses=pauses), event.t_ns, SessionPaused.kind
            )

    def before(self, index: int) -> SessionState:
        """The session as a part is about to begin, with what came of those before it; of what
        nobody did, it is as though it had been done."""
        initial = self.machine.initial()
        reached = max((at for at in self._before if at <= index), default=None)
        state = initial if reached is None else self._before[reached]
        done = PartRecord(0, 0, "completed")
        records = [record if record.outcome else done for record in state.records[:index]]
        return replace(
            state,
            segment=1,
            index=index - 1,
            part_state=None,
            pauses=Pauses(),
            records=(*records, *initial.records[index:]),
        )


def _place(moment: SimulatedMoment) -> tuple[int, int, int]:
    return moment.state.index, moment.page, moment.trial


def yes_or_no(payload: Mapping[str, Any]) -> Iterator[bool]:
    """What an event says yes or no to, each of its fields once."""
    for value in payload.values():
        if isinstance(value, bool):
            yield value
        elif isinstance(value, Mapping) and value:
            told = [each for each in value.values() if isinstance(each, bool)]
            yield from [all(told)] if told else []


def course_of(
    machine: SessionMachine,
    loaded: LoadedStudy,
    planned: SessionPlanned,
    dependencies: SessionDependencies,
) -> Course:
    """Let simulated participants go through a plan. machine: of it."""
    course = Course(machine)
    for careless in (False, True):
        journal = MemoryJournal(_clock(loaded, planned.session))
        try:
            rehearse(loaded, planned, dependencies, journal, strategy=ORACLE, careless=careless)
        except LabappError as error:
            course.problem = error
        course.take(journal.events)
    return course


def _clock(loaded: LoadedStudy, session: str) -> FakeClock:
    """Of a session: people come again on another day."""
    labels = sessions_of(loaded.study)
    later = timedelta(days=labels.index(session) if session in labels else len(labels))
    return FakeClock(utc=FakeClock().utc() + later)


def rehearse(
    loaded: LoadedStudy,
    planned: SessionPlanned,
    dependencies: SessionDependencies,
    journal: MemoryJournal | None = None,
    *,
    strategy: str,
    careless: bool = False,
    thinks_aloud: bool = False,
) -> MemoryJournal:
    """A simulated session that is kept nowhere but in the journal: with the same plan the events
    are those of `simulate`. Raises SessionError when the session stands still."""
    if journal is None:
        journal = MemoryJournal(_clock(loaded, planned.session))
    clock = journal.clock
    assert isinstance(clock, FakeClock)
    journal.append(UnstampedEvent(planned), Source.SYSTEM)
    machine = machine_of(loaded, planned, dependencies.decoders)
    scheduler = VirtualScheduler(clock)
    runner = Runner(
        journal=journal,
        clock=clock,
        machine=machine,
        state=machine.initial(),
        decoders=dependencies.decoders,
        scheduler=scheduler,
        failed_rules=lambda: (
            opening.evaluate_rules(journal.payloads()) if loaded.study.exclude else ()
        ),
    )
    opened = [
        SegmentStarted(
            journal.segment,
            utc_text(clock.utc()),
            environment.boot_id(),
            __version__,
            loaded.sha256,
        ),
        EnvironmentRecorded(environment.describe({"microphone": None})),
        *dependencies.warmed,
        AudioOff(NO_SOUND, planned=loaded.study.recording.audio == "off"),
    ]

    try:
        done = _through(
            loaded,
            planned,
            runner,
            lambda name: runner.send(GiveConsent()),
            lambda: runner.start(opened),
            scheduler,
            lambda: runner.finished,
            strategy=strategy,
            careless=careless,
            thinks_aloud=thinks_aloud,
        )
    finally:
        runner.close("simulated")
    if not done:
        raise _make_stall_error(planned.participant, "Nothing was stored.")
    return journal


def _through(
    loaded: LoadedStudy,
    planned: SessionPlanned,
    runner: Runner,
    consent: Callable[[str], None],
    begin: Callable[[], None],
    scheduler: VirtualScheduler,
    until: Callable[[], bool],
    *,
    strategy: str,
    pace: Pace = HUMAN,
    careless: bool,
    options: Options = NO_OPTIONS,
    thinks_aloud: bool,
) -> bool:
    """Go through a session as a simulated participant does; whether `until` holds then."""
    participant, label = planned.participant, planned.session
    driver = Driver(
        runner,
        consent,
        strategy,
        planned.seed,
        participant if label == loaded.study.first_session else f"{participant}/{label}",
        pace,
        careless=careless,
        paints=True,
        options=options,
        language=planned.language,
        thinks_aloud=thinks_aloud,
    )
    begin()
    driver.start()
    scheduler.run(until)
    driver.stop()
    return until()


def _make_stall_error(participant: str, safe: str) -> SessionError:
    return SessionError(
        f"The simulated session of {participant} made no progress.",
        safe=safe,
        todo="Report this, and send the study with your report.",
    )


def simulate(
    loaded: LoadedStudy,
    participant: str,
    dependencies: SessionDependencies,
    *,
    session: str | None = None,
    data: Path,
    strategy: str,
    seed: int | None = None,
    pace: Pace = HUMAN,
    careless: bool = False,
    options: Options = NO_OPTIONS,
    cells: Sequence[str] | None = None,
    thinks_aloud: bool = False,
    until: Callable[[OpenSession], bool] = lambda session: session.runner.finished,
) -> Path:
    """One simulated session, recorded like a real one; returns its folder.

    careless, options, thinks_aloud: see `Driver`; cells: see `opening.create`;
    dependencies.make_scheduler is replaced by the virtual one.

    Raises SessionError when the session stands still before `until` holds.
    """
    label = loaded.study.first_session if session is None else session
    clock = _clock(loaded, label)
    scheduler = VirtualScheduler(clock)

    def make_scheduler(_: Clock) -> VirtualScheduler:
        return scheduler

    opened = opening.create(
        loaded,
        participant,
        replace(
            dependencies,
            make_scheduler=make_scheduler,
            make_recorder=None,
            commit_timeout_s=5.0,
            decode_at_once=True,
            keeps_pictures=False,
            fsync_on_commit=False,
            no_sound=NO_SOUND,
        ),
        data=data,
        session=label,
        seed=seed,
        cells=cells,
        make_clock=lambda start: clock,
    )
    try:
        done = _through(
            loaded,
            opened.planned,
            opened.runner,
            opened.give_consent,
            opened.begin,
            scheduler,
            lambda: until(opened),
            strategy=strategy,
            pace=pace,
            careless=careless,
            options=options,
            thinks_aloud=thinks_aloud,
        )
    except BaseException:
        opened.close("interrupted")
        raise
    if not done:
        opened.close("stood still")
        folder = f"Everything up to then is in {opened.folder.path}."
        raise _make_stall_error(participant, folder)
    opened.close("simulated")
    return opened.folder.path


class Decoders:
    """Of one process, or of one thread: a decoder is not made for two at a time. What the sessions
    of a process have in common is read and computed once.

    wanted: SHA-256 of the cards by model id that the models must have; by default any.
    """

    def __init__(self, wanted: Mapping[str, str] | None = None) -> None:
        self._wanted = wanted or {}
        self._warm = WarmDecoders({}, [])
        self.together = TogetherDecoding()
        # Reading a card takes longer than simulating many a stage.
        self._space_of = cache(overview.space_of)
        self._prior_of = cache(overview.prior_of)
        self._tasks_of = cache(tasks_of)
        self._stimuli_of = cache(stimuli_of)
        self._predicted: dict[tuple[str, Masking, str, str], Sequence[Logits]] = {}

    def plan(
        self,
        loaded: LoadedStudy,
        label: str,
        drawn: Sequence[str],
        seed: int | None,
        session: str | None = None,
        predict_masked: PredictMasked = find_recorded_outputs,
    ) -> Plan:
        """The plan of a participant. drawn: the participant's cells."""
        return planner.realise(
            loaded,
            label,
            session,
            space_of=self._space_of,
            prior_of=self._prior_of,
            tasks_of=self._tasks_of,
            stimuli_of=self._stimuli_of,
            predict_masked=predict_masked,
            drawn=drawn,
            seed=seed,
        )

    def predict_masked(
        self, stimulus_set: StimulusSet, masking: Masking, photo: Photo, method: str
    ) -> Sequence[Logits]:
        """As `predict_masked`; the model is asked once about each picture."""
        key = (stimulus_set.sha256, masking, photo.id, method)
        if key not in self._predicted:
            asked = predict_masked(stimulus_set, masking, photo, method)
            self._predicted[key] = asked
        return self._predicted[key]

    def of(self, made: Plan, private: Path) -> SessionDependencies:
        """What a session with a plan needs.

        Raises ModelError if a model is missing or is not the one that is wanted.
        """
        models = models_of(made.parts)
        self._load([model for model in models if model not in self._warm.decoders])
        return SessionDependencies(
            {model: self._warm.decoders[model] for model in models},
            [times for times in self._warm.warmed if times.model in models],
            _no_scheduler,
            private=private,
            stimuli_of=self._stimuli_of,
            predict_masked=self.predict_masked,
        )

    def dependencies(
        self,
        loaded: LoadedStudy,
        label: str,
        drawn: Sequence[str],
        seed: int | None,
        private: Path,
        session: str | None = None,
    ) -> SessionDependencies:
        """As `of` with `plan`."""
        return self.of(self.plan(loaded, label, drawn, seed, session), private)

    def _load(self, models: Sequence[str]) -> None:
        fresh = load_warm(models, "cpu")
        for times in fresh.warmed:
            wanted = self._wanted.get(times.model, times.card_sha256)
            if wanted != times.card_sha256:
                raise ModelError(
                    f"The model {times.model} on this machine differs from the one on the "
                    "machine where this was started.",
                    safe="No session was simulated with it.",
                    todo="Install the same models on every machine that runs simulations.",
                )
        shared = {model: self.together.share(each) for model, each in fresh.decoders.items()}
        self._warm = self._warm.with_others(replace(fresh, decoders=shared))


def _no_scheduler(clock: Clock) -> VirtualScheduler:
    """Replaced by the one of the session's virtual clock."""
    return VirtualScheduler(FakeClock(clock.now_ns()))
