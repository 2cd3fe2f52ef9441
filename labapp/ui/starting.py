"""Opening a session with everything the windows give it: decoders, microphone, screens.

The application must have been made (see qtapp): its screens go into the session's environment.

What the command line opens: the home, or one session at once.

Also `labapp demo`, which does the main job end to end, through the real windows.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from labapp.base import resources
from labapp.base.clock import utc_label
from labapp.base.console import say
from labapp.base.errors import (
    BundleError,
    DataFolderError,
    ExportExists,
    LabelRefused,
    LslError,
    NoMicrophone,
    UsageError,
)
from labapp.base.parallel.processes import gc_paused, processes
from labapp.record.journal.layout import LEAVING
from labapp.session.simulation.names import ORACLE
from labapp.ui import mistakes
from labapp.ui.language import N_, tr
from labapp.ui.qtapp import make_app

if TYPE_CHECKING:
    from labapp.base.clock import Clock
    from labapp.record.audio.devices import Device
    from labapp.record.audio.recorder import Recorder
    from labapp.session.folder import SessionFolder
    from labapp.session.opening import (
        EmitBody,
        MakeRecorder,
        MakeStreams,
        OpenSession,
        SessionDependencies,
    )
    from labapp.session.pictures import WarmDecoders
    from labapp.study.loading import LoadedStudy
    from labapp.ui.home import HomeController


MB = 1024 * 1024
SIMULATED_BYTES = 50 * MB
"""A simulated session is short; a person's must have room for an hour of sound."""


READING = N_("starting.reading")
LOADING = N_("starting.models")
PAINTING = N_("starting.pictures")
SHOWING = N_("starting.windows")
"""Ids of the sentences for what takes seconds while a session is opened."""
Step = Callable[[str], None]
"""Is told what begins, one of these sentences."""


@dataclass(frozen=True)
class RunOptions:
    """What `labapp run` and `labapp sessions resume` can be told.

    blind: None for what the tasks of the study ask for. listen: an address of this computer at
    which others may join from the beginning on; language: the participant's, None for the study's
    own.
    """

    data: Path | None = None
    private: Path | None = None
    screen: str | None = None
    windowed: bool = False
    audio: str | None = None
    simulate: str | None = None
    seed: int | None = None
    speed: float = 1.0
    accept_version: bool = False
    careless: bool = False
    blind: bool | None = None
    pilot: bool = False
    lsl: bool | None = None
    listen: str | None = None
    language: str | None = None


def session_dependencies(
    models: Sequence[str],
    loaded: LoadedStudy,
    options: RunOptions,
    warm: WarmDecoders | None = None,
) -> SessionDependencies:
    """Warm decoders, the microphone and the screens, for a session of this study. warm: decoders
    that are warm already (the home's); the others are loaded now."""
    from labapp.session.heartbeat import Heartbeat
    from labapp.session.opening import SessionDependencies
    from labapp.ui.participant.view import QtScheduler

    ready = _ready(models, warm)
    make_recorder, no_sound = _sound(loaded, options)
    recording = loaded.study.recording
    # There is sound as soon as there is a microphone.
    sound = recording.audio != "off" and options.speed == 1.0 and options.audio != "off"
    late = partial(recorder_for, silent_after_s=recording.silence_prompt_s)
    make_streams, no_streams, streams_required = _streams(loaded, options)
    return SessionDependencies(
        decoders=ready.decoders,
        warmed=[times for times in ready.warmed if times.model in models],
        make_scheduler=QtScheduler,
        make_recorder=make_recorder,
        no_sound=no_sound,
        private=resources.private_root(options.private),
        extra={"screens": screens()},
        blind=bool(options.blind),
        pilot=options.pilot,
        make_streams=make_streams,
        no_streams=no_streams,
        streams_required=streams_required,
        make_heartbeat=Heartbeat,
        make_late=late if sound else None,
    )


def _ready(models: Sequence[str], warm: WarmDecoders | None) -> WarmDecoders:
    """Decoders that are warm already, and those of the models that were not, or whose files are
    others by now."""
    from labapp.session.pictures import WarmDecoders, load_warm

    known = (warm or WarmDecoders({}, [])).unchanged()
    return known.with_others(load_warm([model for model in models if model not in known.decoders]))


def screens() -> list[dict[str, Any]]:
    """The screens as environment.json keeps them; sizes in device-independent pixels."""
    from PySide6.QtGui import QGuiApplication

    return [
        {
            "name": screen.name(),
            "width": screen.size().width(),
            "height": screen.size().height(),
            "device_pixel_ratio": screen.devicePixelRatio(),
            "refresh_hz": screen.refreshRate(),
        }
        for screen in QGuiApplication.screens()
    ]


def _sound(loaded: LoadedStudy, options: RunOptions) -> tuple[Any, str]:
    """How to make the recorder, or None and why there is no sound."""
    wanted = loaded.study.recording.audio
    if wanted == "off":
        return None, "the study records no sound"
    if options.speed != 1.0:
        return None, "the session clock does not run at the speed of sound (--speed)"
    if options.audio == "off":
        if wanted == "required" and options.simulate is None:
            raise UsageError(
                f"The study {loaded.study.id!r} requires sound, so --audio off is not possible.",
                todo="Leave --audio out, or simulate the participant (--simulate).",
            )
        return None, "switched off (--audio off)"
    from labapp.record.audio import devices

    try:
        device = devices.choose(options.audio or devices.DEFAULT)
    except NoMicrophone as error:
        if wanted == "required" and options.simulate is None:
            raise NoMicrophone(
                f"{error.what} The study {loaded.study.id!r} requires sound.",
                safe="No session was started.",
                todo="Plug in a microphone and allow access to it. `labapp doctor` lists the "
                "microphones.",
            ) from error
        if options.audio is not None:
            raise
        return None, error.what
    return recorder_for(device, loaded.study.recording.silence_prompt_s), ""


def _streams(loaded: LoadedStudy, options: RunOptions) -> tuple[MakeStreams | None, str, bool]:
    """How to open the LSL streams, or None and why there are none; and whether there must be."""
    wanted = loaded.study.recording.lsl
    required = wanted == "required" and options.simulate is None
    if options.lsl is False and required:
        raise UsageError(
            f"The study {loaded.study.id!r} requires LSL, so --no-lsl is not possible.",
            todo="Leave --no-lsl out, or simulate the participant (--simulate).",
        )
    if options.lsl is False or (wanted == "off" and not options.lsl):
        return None, "", False
    from labapp.record import lsl as streams
    from labapp.record.lsl import SessionStreams

    required |= options.lsl is True
    try:
        streams.load()
    except LslError as error:
        if required:
            raise LslError(error.what, safe="No session was started.", todo=error.todo) from error
        return None, error.what, False
    return SessionStreams, "", required


def recorder_for(device: Device, silent_after_s: float) -> MakeRecorder:
    """A function that makes the recorder of a segment, once the session's clock is there."""
    from labapp.record.audio.recorder import Recorder, next_take

    def make(folder: SessionFolder, segment: int, emit: EmitBody, clock: Clock) -> Recorder:
        return Recorder(
            folder.path,
            segment,
            device,
            emit=emit,
            from_perf_ns=clock.from_perf_ns,
            silent_after_s=silent_after_s,
            take=next_take(folder.path, segment),
        )

    return make


def open_new(
    study: str,
    participant: str,
    session: str | None,
    options: RunOptions,
    warm: WarmDecoders | None = None,
    painted: Callable[[int, int], None] | None = None,
    step: Step = lambda text: None,
) -> OpenSession:
    """Plan and open a new session with everything it needs; nothing is shown yet.

    participant: of a pilot it may be empty, for the next free label. painted: is told how many of
    the study's pictures are painted, of how many; step: what begins.
    """
    from labapp.base.clock import SessionClock
    from labapp.models.stimuli import gallery
    from labapp.session import condition_assignment, folder, opening
    from labapp.session.gate import gate
    from labapp.session.simulation.fitting import check_fits
    from labapp.session.stimuli import stimuli_of
    from labapp.study import planner
    from labapp.study.flow import blinds
    from labapp.study.loading import in_language_of
    from labapp.study.overview import prior_of, space_of
    from labapp.study.plan import pictures_of
    from labapp.ui.strings import strings_of

    loaded = gate(study)
    if options.language is not None:
        loaded = in_language_of(loaded, options.language)
    if options.blind is None:
        options = replace(options, blind=blinds(loaded.study.flow))
    if options.simulate is not None:
        check_fits(options.simulate, loaded.study)
    strings_of(loaded)  # refused now, not when the first screen comes up
    session = loaded.study.first_session if session is None else session
    data = resources.data_root(options.data)
    if options.pilot:
        participant = participant or folder.next_pilot(data, loaded.study)
        data = resources.pilot_root(data)
    elif loaded.study.participants.own_number(participant) is None:
        example = loaded.study.participants.label(1)
        raise LabelRefused(
            f"{participant!r} is not a participant of this study, whose participants have "
            f"labels like {example}.",
            todo=f"Use a label like {example} (the study file's participants.pattern).",
        )
    _check_room(data, folder.check_data_root(data), options)
    _check_screen(options.screen)
    folder.refuse_taken(data, loaded, participant, session)
    while True:
        drawn = condition_assignment.preview(data, loaded, participant, options.seed)
        made = planner.realise(
            loaded,
            participant,
            session,
            space_of=space_of,
            prior_of=prior_of,
            stimuli_of=stimuli_of,
            drawn=drawn,
            seed=options.seed,
        )
        step(PAINTING)
        gallery.warm(pictures_of(made.parts), painted)
        step(LOADING)
        models = opening.models_of(made.parts)
        warm = _ready(models, warm)
        try:
            return opening.create(
                loaded,
                participant,
                session_dependencies(models, loaded, options, warm),
                data=data,
                session=session,
                seed=options.seed,
                prepared=drawn,
                make_clock=lambda start_ns: SessionClock(start_ns, options.speed),
            )
        except condition_assignment.ConditionTaken:
            continue  # another session began while the models of this one were loaded


def open_again(
    path: Path,
    options: RunOptions,
    warm: WarmDecoders | None = None,
    step: Step = lambda text: None,
) -> OpenSession:
    """Recover an interrupted session and open it at its last event; nothing is shown yet."""
    from labapp.session import opening
    from labapp.session.resuming import recover
    from labapp.session.simulation.fitting import check_fits
    from labapp.ui.strings import strings_of

    def dependencies(loaded: LoadedStudy, models: Sequence[str]) -> SessionDependencies:
        if options.simulate is not None:
            check_fits(options.simulate, loaded.study)
        strings_of(loaded, begun=True)  # refused now, not when the session is open
        step(LOADING)
        return session_dependencies(models, loaded, options, warm)

    step(READING)
    recover(path)
    _check_screen(options.screen)
    accepts = options.accept_version
    return opening.resume(path, dependencies, speed=options.speed, accept_version=accepts)


def _check_room(data: Path, free: int, options: RunOptions) -> None:
    """Refuse to begin what the disk cannot hold: with a participant there it would be too late."""
    from labapp.session.folder import LOW_DISK_BYTES

    least = LOW_DISK_BYTES if options.simulate is None else SIMULATED_BYTES
    if free < least:
        raise DataFolderError(
            f"Only {free / MB:.0f} MB are free in the data folder {data}; "
            f"a session needs {least / MB:.0f} MB.",
            safe="No session was started, and earlier recordings are untouched.",
            todo="Free some space, or choose another data folder (--data).",
        )


def _check_screen(name: str | None) -> None:
    from PySide6.QtGui import QGuiApplication

    from labapp.ui.keyboard import name_of

    known = QGuiApplication.screens()
    if name is not None and all(name not in (screen.name(), name_of(screen)) for screen in known):
        names = ", ".join(map(name_of, known))
        raise UsageError(f"There is no screen {name!r}.", todo=f"Screens here: {names}.")


def open_home(data: Path | None, private: Path | None) -> int:
    """The moderator window; returns when it is closed."""
    app = make_app()
    home = show_home(resources.data_root(data), resources.private_root(private))
    # The home's timers call Python often enough for its signal handlers to run; a session has
    # handlers of its own for as long as it lasts.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: home.window.close())
    return app.exec()


def show_home(data: Path, private: Path) -> HomeController:
    """The moderator window with its first study, to be painted next.

    Hundreds of modules are loaded for it, none of them garbage: the collector waits.
    """
    with gc_paused():
        from labapp.ui.home import HomeController

        home = HomeController(data, private)
        home.show()
    return home


def run_session(study: str, participant: str, session: str | None, options: RunOptions) -> int:
    """`labapp run`: 0 when the debrief is done, 1 when the session was ended early."""
    make_app()
    whose = (study, participant, session)
    with _wrap_opening_errors():
        opened = open_new(*whose, options, painted=_tell_painted, step=_tell_step)
        return drive(opened, options)


def _tell_painted(done: int, of: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == of else ""
        print(f"\rPainting pictures: {done} of {of}", end=end, file=sys.stderr, flush=True)


def _tell_step(step: str) -> None:
    if sys.stderr.isatty():
        say(tr(step), err=True)


def resume_session(path: Path, options: RunOptions) -> int:
    """`labapp sessions resume`: like `run_session`, from the last event on."""
    make_app()
    with _wrap_opening_errors():
        return drive(open_again(path, options, step=_tell_step), options)


def _wrap_opening_errors() -> AbstractContextManager[None]:
    """For a mistake of labapp while a session is opened or shown; it is closed by then."""
    return mistakes.wrap_errors(
        "The session could not be opened.",
        "It was closed again. What was recorded is untouched.",
        "Continue with `labapp sessions resume`; `labapp sessions list` shows the sessions.",
    )


def drive(opened: OpenSession, options: RunOptions) -> int:
    """Show console and participant's window until the session is over."""
    from labapp.ui.controller import SessionController

    app = make_app()
    controller = SessionController(opened, options)
    controller.failed.connect(lambda error: say(error, err=True))
    controller.closed.connect(app.exit)
    controller.start()
    say(controller.watcher.where)
    status = app.exec()
    ended = opened.runner.state.ended
    if ended not in (None, "completed"):
        done = what_became(opened.folder.path)
        say(f"The session ended early: {ended}. {done}", err=True)
    return status


def what_became(folder: Path) -> str:
    """Where the data of a session are that was ended early, in a sentence."""
    if folder.is_dir():
        return f"What was recorded is kept in {folder}."
    if folder.with_name(f"{LEAVING}{folder.name}").is_dir():
        return (
            "Not everything has been deleted yet. Continue with: labapp sessions withdraw "
            f"{folder} --delete"
        )
    return "What was recorded was deleted, as the participant wished."


STUDY = "quickstart"
STRATEGY = ORACLE
"""So that it is over soon, and shows solved questions."""
PARTICIPANTS = 6
"""Another seed shows another participant's order of stages."""


def run_demo(out: Path | None, seed: int, say: Callable[[str], None]) -> int:
    """A whole session with a simulated participant, then export, verify and report.

    out : folder to write, which must not exist; by default a new one under `out/` of a checkout,
        else in the current folder.
    """
    started = time.monotonic()
    folder = (out or _default_folder()).absolute()
    if folder.exists():
        raise ExportExists(
            f"{folder} exists already.",
            safe="Nothing in it was changed.",
            todo="Choose a new folder with --out.",
        )
    make_app()
    from labapp.ui.qtapp import choose

    shown = choose()
    options = RunOptions(
        data=folder / "sessions",
        private=folder / "private",
        windowed=True,
        simulate=STRATEGY,
        seed=seed or None,
    )
    # While the session runs, another process gets ready for what comes after it.
    with processes(1, _get_ready, safe="What was recorded is kept.") as afterwards:
        opened = open_new(STUDY, f"P{seed % PARTICIPANTS + 1:02d}", "1", options)
        say(f"A session of the study {STUDY!r} with a simulated participant.")
        say("windows: " + ("on the screen" if shown.visible else f"drawn offscreen ({shown.why})"))
        recorder = opened.runner.recorder
        if recorder is None:
            say(f"sound: recorded without sound ({opened.no_sound})")
        else:
            say(f"sound: recorded from {recorder.device.label}")
        status = drive(opened, options)
        session = opened.folder.path
        say(f"session: {session}")
        if status != 0:
            say("The session was ended early; what was recorded is kept. No bundle was made.")
            return status
        bundle = afterwards.submit(_export, session, folder / "bundle").result()
        analysis = afterwards.submit(_analyze, bundle, folder / "results")
        _verify(session, bundle)  # meanwhile
        say("verified: the session and its bundle are complete")
        report = analysis.result()
    say(f"done in {time.monotonic() - started:.0f} s")
    say(f"bundle: {bundle}")
    say(f"report: {report}")
    return 0


def _get_ready() -> None:
    """Import what comes after the session and what each task brings for the report, and draw an
    empty figure: the first one loads fonts."""
    import jinja2.sandbox  # noqa: F401 - for the report
    from matplotlib.figure import Figure

    from labapp.analysis import analyze, columns, tables, task_report  # noqa: F401 - for `_analyze`
    from labapp.base.report.drawing import ReportFigure
    from labapp.session.bids import export  # noqa: F401 - for `_export`

    tables.frames(dict.fromkeys(columns.table_columns(), ()))
    task_report.reports()
    with TemporaryDirectory(prefix="labapp-") as folder:
        figure = Figure()
        figure.subplots().set_title("The first figure")
        ReportFigure("first", figure, "", "").save(Path(folder))
    gc.freeze()  # all of it is kept: not to be walked again and again


def _export(session: Path, out: Path) -> Path:
    from labapp.session.bids.export import export

    return export([session], out)


def _analyze(bundle: Path, out: Path) -> Path:
    from labapp.analysis.analyze import analyze

    return analyze([bundle], out)


def _verify(session: Path, bundle: Path) -> None:
    from labapp.session.bids.verify import verify

    for path in (session, bundle):
        report = verify(path)
        if not report.ok:
            raise BundleError(
                f"{path} does not verify:\n" + "\n".join(report.lines()),
                safe="The session folder is kept as it is.",
                todo="Report this, and send the folder with your report.",
            )


def _default_folder() -> Path:
    name = f"demo-{utc_label(datetime.now(UTC))}"
    if resources.in_checkout():
        return resources.assets().parent / "out" / name
    return Path.cwd() / f"labapp-{name}"
