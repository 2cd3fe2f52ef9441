"""Opening a session: new, or again after an interruption.

Also the LSL streams that each run of a session opens.
"""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from labapp import __version__
from labapp.analysis.rows import SessionRecords
from labapp.base import resources
from labapp.base.clock import Clock, SessionClock, utc_text
from labapp.base.errors import AudioError, LabappError, LslError, SessionError
from labapp.base.messages import Message, encode_message
from labapp.models.representations.decoding import Decoder
from labapp.models.stimuli.library import StimulusSet
from labapp.record.events import Event, Payload, Source, UnstampedEvent
from labapp.record.events.commands import EndSession, GiveConsent
from labapp.record.events.lifecycle import (
    Agreement,
    AlarmCleared,
    AlarmRaised,
    BlindingSet,
    DecoderWarmed,
    EnvironmentRecorded,
    LslOff,
    LslOpened,
    QuotaCounted,
    SegmentStarted,
    SessionPlanned,
    StimuliStored,
)
from labapp.record.events.registry import frequent_kinds, kinds_of, registered_kinds
from labapp.record.events.voice import AudioBlock, AudioOff, AudioStarted
from labapp.record.journal.read import payloads, read_rows
from labapp.record.journal.write import Journal
from labapp.session import (
    condition_assignment,
    environment,
    folder,
    gate,
    pictures,
    private,
    resuming,
    stimuli,
)
from labapp.session.environment import network_drive, network_warning
from labapp.session.folder import SessionFolder
from labapp.session.heartbeat import Heartbeat
from labapp.session.pictures import SLOW_MS
from labapp.session.resuming import read_verified_events
from labapp.session.runner import Runner, Scheduler, machine_of
from labapp.session.withdrawal import withdraw
from labapp.study import media, plan, planner
from labapp.study.loading import LoadedStudy
from labapp.study.plan import models_of as models_of
from labapp.study.schema import Study
from labapp.study.stimulus_stages import PredictMasked

if TYPE_CHECKING:
    from labapp.record.audio.devices import Device
    from labapp.record.audio.recorder import Overhear, Recorder
    from labapp.record.lsl import SessionStreams


MakeStreams = Callable[[str, Clock, Callable[[Payload], None]], "SessionStreams"]
"""Opens streams of a source id, on the session's clock; with what stores events of their own."""


def open_streams(
    runner: Runner, past: Sequence[Event], make: MakeStreams | None, reason: str, *, required: bool
) -> list[Payload]:
    """Send the events of a run from the first on; what the journal says of it. Raises LslError:
    they cannot be opened, and are required.

    Parameters
    ----------
    past : of the runs before, which keep their source id.
    make : opens the streams; None if none are sent.
    reason : why none are sent although they were asked for; else empty.
    required : whether the session is refused where the streams cannot be opened.
    """
    sources = [str(event.payload["source_id"]) for event in past if event.kind == LslOpened.kind]
    if make is None:
        if not reason and sources:
            reason = Message("lsl_not_again")
        return [LslOff(str(reason), encode_message(reason))] if reason else []
    try:
        streams = make(sources[-1] if sources else secrets.token_hex(8), runner.clock, runner.emit)
    except LslError as error:
        if required:
            raise
        return [LslOff(str(error.what), encode_message(error.what))]
    runner.streams = streams
    runner.journal.subscribe(streams.take)
    return [streams.opened]


EmitBody = Callable[[Payload], None]
MakeRecorder = Callable[[SessionFolder, int, EmitBody, Clock], "Recorder"]


LATE_S = 12.0
"""How long a session waits at its end for a microphone that is being opened."""
NOT_AGREED = "the participant did not agree to a sound recording"


@dataclass(frozen=True)
class SessionDependencies:
    """What a session needs from outside.

    Attributes
    ----------
    decoders : by model id, warmed up.
    warmed : what the warm-up measured.
    make_recorder : None for no sound, with the reason in no_sound.
    extra : what else environment.json is to say (screens).
    decode_at_once : never in the worker (a virtual clock does not wait for it).
    stimuli_of : a stimulus set by id or folder.
    predict_masked : asks the explained model about masked pictures.
    keeps_pictures : of photos to judge and masked ones, for there are windows.
    fsync_on_commit : of the journal, see `Journal.create`.
    blind : whether a console hides the representations from the moderator; None if there is no
        console. A resumed session stays as its journal says; where that says nothing, this holds
        from here on.
    pilot : whether a new session is a trial run; a resumed one stays what it is.
    make_streams, no_streams, streams_required : of what is sent, see `streaming.open_streams`.
    make_late : gives what makes the recorder of a microphone that comes late, or in the place of
        one that is gone; None if nobody wants sound.
    make_heartbeat : of what notices that the program stands still; None if no real time passes.
    """

    decoders: Mapping[str, Decoder]
    warmed: Sequence[DecoderWarmed]
    make_scheduler: Callable[[Clock], Scheduler]
    make_recorder: MakeRecorder | None = None
    no_sound: str = "the study records no sound"
    private: Path = field(default_factory=resources.private_root)
    extra: Mapping[str, Any] = field(default_factory=dict)
    commit_timeout_s: float = 0.05
    decode_at_once: bool = False
    stimuli_of: stimuli.StimuliOf = stimuli.stimuli_of
    predict_masked: PredictMasked = gate.predict_masked
    keeps_pictures: bool = True
    fsync_on_commit: bool = True
    blind: bool | None = None
    pilot: bool = False
    make_streams: MakeStreams | None = None
    no_streams: str = ""
    streams_required: bool = False
    make_late: Callable[[Device], MakeRecorder] | None = None
    make_heartbeat: Callable[[Clock], Heartbeat] | None = None


@dataclass
class OpenSession:
    """A session that this process holds. blind: whether its console opens without naming models."""

    folder: SessionFolder
    loaded: LoadedStudy
    planned: SessionPlanned
    runner: Runner
    past: Sequence[Event]
    no_sound: str
    _opening: Sequence[Payload]
    _lock: FileLock
    _private: Path
    blind: bool = False
    recording: bool = False
    """Whether sound is being recorded (or tried to, where the device is lost)."""
    _withdrawn: bool = False
    _next_recorder: Recorder | None = None
    _make_late: Callable[[Device], MakeRecorder] | None = None
    _late: threading.Thread | None = None
    _opened: Recorder | None = None
    _failed: bool = False
    _overhear: Overhear | None = None
    remote_failed: bool = False
    """Whether the alarm stands that other computers were cut off."""

    def __post_init__(self) -> None:
        # Before any window listens, so that the one change shows consent and recording together.
        self.runner.listen(self._record)

    def begin(self) -> None:
        """Store the opening events, show the first screen, and record once there is consent."""
        self.runner.open(self._opening)
        self._record()
        self.runner.go()

    def overhear(self, listener: Overhear | None) -> None:
        """Give a listener all sound as it is recorded, of later recorders too; None: nobody."""
        self._overhear = listener
        for recorder in (self.runner.recorder, self._next_recorder):
            if recorder is not None:
                recorder.overhear = listener

    def stop_sound(self) -> None:
        """Record no more, for the session is over. One that is reopened goes on in another file.

        Raises AudioError when the file could not be closed in time.
        """
        recorder = self.runner.recorder
        if recorder is None or not self.recording:
            return
        self.recording, self.runner.recorder = False, None
        try:
            recorder.stop()
        finally:  # not before: until it stops it may begin another file itself
            self._next_recorder = recorder.again()

    def _record(self) -> None:
        """Start the recorder as soon as nobody has to agree to it any more; never where the
        participant was asked and did not agree to a recording.

        A microphone that does not open is an alarm; the session goes on without sound where that
        is optional, and is ended where the study requires it.
        """
        if self.runner.closed:
            return  # told late
        rests = self.runner.state.pauses.paused
        if self.loaded.study.recording.in_breaks == "stop" and rests and not self.runner.finished:
            self.stop_sound()  # a pause of the recorder: no silence is written in its place
            return
        if self.runner.finished or self.recording or not self._has_consent():
            return
        if self._next_recorder is not None:
            self.runner.recorder, self._next_recorder = self._next_recorder, None
        recorder = self.runner.recorder
        if recorder is None:
            return
        if not self.runner.state.agreed.get("audio", True):
            self.runner.recorder = None
            self.no_sound = NOT_AGREED
            self.runner.emit(AudioOff(NOT_AGREED, planned=True))
            return
        self.recording = True
        recorder.overhear = self._overhear
        try:
            recorder.start()
            if self.runner.heartbeat is not None:
                self.runner.heartbeat.rest()  # to open a microphone takes a moment
        except AudioError as error:
            self.recording = False
            self.runner.recorder = None
            self._microphone_failed(error)
            if self.loaded.study.recording.audio == "required":
                self._next_recorder = recorder.again()  # where the end is taken back
                self.runner.send(EndSession("the microphone could not be opened"), Source.SYSTEM)

    def _microphone_failed(self, error: LabappError) -> None:
        self.no_sound, self._failed = error.what, True
        message = encode_message(error.what)
        self.runner.emit(AudioOff(str(error.what), message=message))
        self.runner.emit(AlarmRaised("microphone_failed", str(error.what), message))

    @property
    def wants_microphone(self) -> bool:
        """Whether a microphone that is there now may record: everybody agreed, and none records."""
        if self._make_late is None or self._late is not None or self.runner.finished:
            return False
        if not self._has_consent() or not self.runner.state.agreed.get("audio", True):
            return False
        recorder = self.runner.recorder
        return recorder is None or (self.recording and recorder.level().state == "lost")

    def record_with(self, device: Device) -> None:
        """Record from now on with a microphone that came late, into a file of its own. It is opened
        in a thread: that takes a moment, in which the participant goes on."""
        if self._make_late is None or not self.wants_microphone:
            return
        make, before = self._make_late(device), self.runner.recorder
        self._late = threading.Thread(
            target=self._open_late, args=(make, before), name="labapp-late-microphone", daemon=True
        )
        self._late.start()

    def _open_late(self, make: MakeRecorder, before: Recorder | None) -> None:
        runner = self.runner
        try:
            if before is not None:
                before.stop()
            recorder = make(self.folder, runner.journal.segment, runner.emit, runner.clock)
            recorder.overhear = self._overhear
            recorder.start()
        except LabappError as error:
            failed = error
            runner.scheduler.post(lambda: self._attach_late_recorder(None, failed))
        else:
            self._opened = recorder
            runner.scheduler.post(lambda: self._attach_late_recorder(recorder, None))

    def _attach_late_recorder(self, recorder: Recorder | None, error: LabappError | None) -> None:
        self._late = self._opened = None
        self.recording, self.runner.recorder = recorder is not None, recorder
        if error is not None:
            self._microphone_failed(error)
        elif self.runner.finished:
            self.stop_sound()
        else:
            self.no_sound = ""
            if self._failed:
                self._failed = False
                self.runner.emit(AlarmCleared("microphone_failed"))
        self.runner.tell()

    def _has_consent(self) -> bool:
        """Whether the plan's consent, if it has one, was given."""
        records = zip(self.runner.machine.parts, self.runner.state.records, strict=True)
        return all(record.outcome == "completed" for part, record in records if part.consents)

    def give_consent(
        self, name: str = "", drawing: str = "", uses: Mapping[str, bool] | None = None
    ) -> None:
        """Store the name or the drawn signature apart, then let the session go on.

        uses: whether the participant agrees to each use that the form asks one by one; None: to
        all. A form that is signed by a click stores nothing but the event. Raises DataFolderError.
        """
        part = self.runner.part
        state, given = self.runner.state, GiveConsent(uses)
        if part is None or not part.consents:
            return
        if not self.runner.machine.decide(state, given, self.runner.clock.now_ns()):
            return
        if (document_sha256 := part.signed_document()) is not None:
            record = private.Consent(
                self.planned.participant,
                self.planned.session,
                " ".join(name.split()),
                utc_text(self.runner.clock.utc()),
                document_sha256,
                drawing,
            )
            private.store_consent(self._private, private.book_of_planned(self.planned), record)
        self.runner.send(given)

    def close(self, reason: str) -> None:
        """End this run in an orderly way; the lock is let go whatever happens.

        The data of a participant who withdrew are then kept or deleted, as was said.
        """
        if self._late is not None:
            self._late.join(LATE_S)
            self.runner.recorder = self._opened or self.runner.recorder
        try:
            self.runner.close(reason)
        finally:
            self.recording = False
            self._lock.release()
            if not self.past and self.runner.journal.committed_seq <= 1:
                # It never began: a folder with nothing but a plan must not take the name.
                folder.discard(self.folder.path)
            elif (wish := self.runner.state.withdrawal) and not self._withdrawn:
                withdraw(self.folder.path, self._private, delete=wish == "delete")
                self._withdrawn = True
            _give_memory_back()


def _give_memory_back() -> None:
    """Give back to the system what the threads of a session had. The C library of Linux keeps it
    otherwise: some 5 MB a session, in a program that runs one after another."""
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def create(
    loaded: LoadedStudy,
    participant: str,
    dependencies: SessionDependencies,
    *,
    data: Path,
    session: str | None = None,
    seed: int | None = None,
    prepared: Sequence[str] | None = None,
    cells: Sequence[str] | None = None,
    make_clock: Callable[[int], Clock] = SessionClock,
) -> OpenSession:
    """A new session: plan it, make its folder and journal. Nothing is shown or recorded yet.

    session: its label, by default the study's first. prepared: the drawn cells that `dependencies`
    was made for; where another session took them meanwhile, ConditionTaken is raised and nothing
    was made. cells: those that are not drawn here, for somebody assigns them to many sessions at
    once (see `simulation.at_scale`).
    """
    # Told now, and not when the participant has typed a name.
    private.table_of(dependencies.private, loaded.study.id)
    folder.clear(data, loaded.study.id)
    session = loaded.study.first_session if session is None else session
    with condition_assignment.open_ledger(data, loaded) as ledger:
        drawn = ledger.draw(participant, seed) if cells is None else tuple(cells)
        if prepared is not None and drawn != tuple(prepared):
            raise condition_assignment.ConditionTaken(
                f"Another session of {loaded.study.id} has taken the condition that was "
                f"intended for {participant}.",
                todo="Start again. Another condition will then be drawn.",
            )
        opened = _create(loaded, participant, dependencies, data, session, seed, make_clock, drawn)
        with ExitStack() as undo:
            undo.callback(opened.close, "could not be entered")
            ledger.enter(opened.folder.path.name, drawn)
            undo.pop_all()
    return opened


def _create(
    loaded: LoadedStudy,
    participant: str,
    dependencies: SessionDependencies,
    data: Path,
    session: str,
    seed: int | None,
    make_clock: Callable[[int], Clock],
    drawn: Sequence[str],
) -> OpenSession:
    sets: dict[str, StimulusSet] = {}

    def stimuli_of(reference: str) -> StimulusSet:
        stimulus_set = dependencies.stimuli_of(reference)
        return sets.setdefault(stimulus_set.sha256, stimulus_set)

    study_plan = planner.realise(
        loaded,
        participant,
        session,
        space_of=lambda m: dependencies.decoders[m].space,
        prior_of=lambda m: dependencies.decoders[m].from_prior,
        tasks_of=lambda m: pictures.tasks_of_loaded(m, dependencies.decoders[m]),
        stimuli_of=stimuli_of,
        predict_masked=dependencies.predict_masked,
        drawn=drawn,
        seed=seed,
    )
    if any(part.consents for part in study_plan.parts):
        book = private.book_of(loaded.study.id, pilot=dependencies.pilot)
        private.check_private(dependencies.private, book)
    clock = make_clock(0)
    planned = make_planned_event(loaded, study_plan, dependencies)
    with ExitStack() as undo:
        # Nothing is recorded yet: what cannot be opened leaves no folder that takes the name.
        new = folder.create(data, loaded, participant, session, clock)
        undo.callback(new.discard)
        stimuli.copy_manifests(new.home, sets.values())
        shows = dependencies.keeps_pictures
        stored = stimuli.keep(new.home, study_plan.parts, tuple(sets.values())) if shows else ()
        lasting = dependencies.fsync_on_commit
        with Journal.create(new.home.journal, clock, fsync_on_commit=lasting) as first:
            first.append(UnstampedEvent(planned), Source.SYSTEM)
        new.publish()
        journal = Journal.reopen(new.home.journal, lambda last: clock, fsync_on_commit=lasting)
        undo.callback(journal.close)
        study = loaded.study
        counts = condition_assignment.count_quotas(
            condition_assignment.people_of(data, study) if study.quotas else (), study
        )
        opened = _assemble(
            loaded, planned, new.home, journal, clock, (), dependencies, new.lock, stored,
            counted=[
                QuotaCounted(name, counts[name], limit)
                for name, limit in study.quota_limits.items()
            ],
        )  # fmt: skip
        undo.pop_all()
    return opened


def make_planned_event(
    loaded: LoadedStudy, made: plan.Plan, dependencies: SessionDependencies
) -> SessionPlanned:
    """The first event of a session with this plan."""
    study = loaded.study
    return SessionPlanned(
        study.id,
        study.version,
        loaded.sha256,
        made.participant,
        made.session,
        made.seed,
        made.assignment,
        study.presentation,
        study.language,
        "on" if dependencies.make_recorder else "off",
        plan.to_rows(made.parts),
        study.replicates.model_dump() if study.replicates else {},
        study.declared,
        dependencies.pilot,
        study.phase or "",
    )


def resume(
    path: Path,
    dependencies_of: Callable[[LoadedStudy, Sequence[str]], SessionDependencies],
    *,
    speed: float = 1.0,
    accept_version: bool = False,
) -> OpenSession:
    """Go on with an interrupted session at the last event, in a new segment.

    dependencies_of: gives the dependencies for the study and its models. Recover the session first
    (see session.recovery). Raises SessionError when it was finished, when its study forbids it,
    when its study folder was changed, or (unless accept_version) when another version of labapp, or
    other models, began it. A session that began without sound goes on without.
    """
    home = SessionFolder(path)
    home.require_journal()
    with ExitStack() as undo:
        lock = home.lock()
        undo.callback(lock.release)
        past = read_verified_events(path)
        planned, loaded = resuming.study_of(home, past)
        if loaded.study.when_interrupted == "block":
            raise resuming.make_blocked_error(home.path, planned.study)
        resuming.check_version(past, accept_version)
        media.require_players(loaded.files)
        parts = plan.parts_of(planned)
        with resuming.missing_packages_named(past):
            dependencies = dependencies_of(loaded, models_of(parts))
        private.table_of(dependencies.private, loaded.study.id)
        given = any(event.kind in kinds_of(Agreement) for event in past)
        if not given and any(part.consents for part in parts):
            private.check_private(dependencies.private, private.book_of_planned(planned))
        resuming.check_models(past, dependencies.warmed, accept_version)
        stored: tuple[StimuliStored, ...] = ()
        if dependencies.keeps_pictures:
            stored = stimuli.store_missing(home, parts, loaded.study, past, dependencies.stimuli_of)
        recorded = any(event.kind == AudioStarted.kind for event in past)
        if planned.audio == "off" and not recorded:
            # Even with a microphone now: the participant may have declined the recording.
            dependencies = replace(
                dependencies,
                make_recorder=None,
                make_late=None,
                no_sound="the session began without sound",
            )
        continued = resuming.continue_clock(past, speed)
        journal = Journal.reopen(home.journal, lambda last: continued.clock)
        undo.callback(journal.close)
        tails = resuming.tails(path, past)
        opened = _assemble(
            loaded, planned, home, journal, continued, past, dependencies, lock, stored, tails
        )
        undo.pop_all()
    return opened


def _assemble(
    loaded: LoadedStudy,
    planned: SessionPlanned,
    home: SessionFolder,
    journal: Journal,
    clock: Clock | resuming.Continued,
    past: Sequence[Event],
    dependencies: SessionDependencies,
    lock: FileLock,
    stored: Sequence[StimuliStored],
    tails: Sequence[AudioBlock] = (),
    counted: Sequence[QuotaCounted] = (),
) -> OpenSession:
    machine = machine_of(loaded, planned, dependencies.decoders)
    state = machine.fold(past)
    gap_by, changed = "", None
    if isinstance(clock, resuming.Continued):
        clock, gap_by, changed = clock
    if dependencies.blind and state.blind is False:
        raise SessionError(
            f"{home.path.name} can no longer be blind, because its console has already shown "
            "which representations are used.",
            safe="It is untouched.",
            todo="Continue it without --blind.",
        )
    runner = Runner(
        journal=journal,
        clock=clock,
        machine=machine,
        state=state,
        decoders=dependencies.decoders,
        scheduler=dependencies.make_scheduler(clock),
        slow=frozenset(
            w.model
            for w in dependencies.warmed
            if w.p99_ms > SLOW_MS and not dependencies.decode_at_once
        ),
        commit_timeout_s=dependencies.commit_timeout_s,
        gallery=stimuli.gallery_of(home, [*stimuli.find_stored_payloads(past), *stored]),
        failed_rules=make_inclusion_check(loaded.study, home.path),
    )
    if dependencies.make_heartbeat is not None:
        runner.heartbeat = dependencies.make_heartbeat(clock)
    if dependencies.make_recorder is not None:
        runner.recorder = dependencies.make_recorder(home, journal.segment, runner.emit, clock)
    record = environment.describe({**dependencies.extra, "microphone": _microphone(runner)})
    folder.write_environment(home, {"segment": journal.segment, **record})
    opening: list[Payload] = [
        SegmentStarted(
            journal.segment,
            utc_text(clock.utc()),
            environment.boot_id(),
            __version__,
            loaded.sha256,
            past[-1].t_ns if past else None,
            clock.boot_zero_ns() if isinstance(clock, SessionClock) else None,
            gap_by,
        )
    ]
    if changed is not None:
        opening.append(changed)
    if dependencies.blind is not None and state.blind is None:
        opening.append(BlindingSet(dependencies.blind))
    opening += [EnvironmentRecorded(record), *dependencies.warmed, *stored, *tails, *counted]
    if kind := network_drive(home.path):
        warning = network_warning(kind)
        opening.append(AlarmRaised("network_drive", str(warning), encode_message(warning)))
    if runner.recorder is None:
        why = dependencies.no_sound
        opening.append(
            AudioOff(str(why), loaded.study.recording.audio == "off", encode_message(why))
        )
    opening += open_streams(
        runner,
        past,
        dependencies.make_streams,
        dependencies.no_streams,
        required=dependencies.streams_required,
    )
    return OpenSession(
        home,
        loaded,
        planned,
        runner,
        past,
        dependencies.no_sound,
        opening,
        lock,
        dependencies.private,
        blind=bool(dependencies.blind if state.blind is None else state.blind),
        _make_late=dependencies.make_late,
    )


def _microphone(runner: Runner) -> dict[str, Any] | None:
    """The chosen microphone for environment.json; None if no sound is recorded."""
    if runner.recorder is None:
        return None
    device = runner.recorder.device
    return {"name": device.label, "host_api": device.host_api, "rate_hz": device.default_rate}


def read_failed_rules(session: Path) -> tuple[str, ...]:
    """The names of the rules that a session fails by what its journal holds; session: its folder.

    The moves of dials are not read: no rule asks for them, and they are most of a journal. Raises
    RecordError where it cannot be read.
    """
    kinds = sorted(registered_kinds().keys() - frequent_kinds())
    return evaluate_rules(list(payloads(read_rows(session, kinds))))


def evaluate_rules(events: Sequence[tuple[Event, Payload]]) -> tuple[str, ...]:
    """The names of the rules that a session fails, from its events."""
    return SessionRecords.of(events, "").failed_rules()


def make_inclusion_check(study: Study, session: Path) -> Callable[[], Sequence[str]]:
    """The check of the study's own exclusion rules that runs as a session ends; a study without
    such rules reads nothing then."""
    return partial(read_failed_rules, session) if study.exclude else tuple
