"""The moderator's screens, for screenshots.py: the home in its states, the console mid-session."""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget

from labapp.base.clock import NS, FakeClock
from labapp.base.errors import DataFolderError, ModelError
from labapp.models.representations.decoding import Decoder
from labapp.models.representations.package import load_package
from labapp.models.representations.sheets import traversals
from labapp.record.audio.devices import Device
from labapp.record.audio.recorder import Level
from labapp.record.events import Source
from labapp.record.events.commands import (
    AddDeviation,
    AddFlag,
    AddNote,
    GiveConsent,
    GivePrompt,
    Next,
    Pause,
)
from labapp.record.events.lifecycle import AlarmRaised, ScreenChanged
from labapp.record.events.voice import AudioDeviceLost, AudioState
from labapp.record.journal.sessions import ListedState, SessionSummary
from labapp.study.loading import load
from labapp.study.planner import realise
from labapp.tasks.questionnaire.machine import Answer
from labapp.tasks.reconstruction.events import EditLabel, MoveDial
from labapp.ui.language import current_language, tr
from labapp.ui.moderator import checklist, console_header
from labapp.ui.moderator.checklist import (
    ChecklistRow,
    Computer,
    Interrupted,
    Microphone,
    ScreenChoice,
    StudyChoice,
    Warm,
)
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.moderator.home import HomeWindow
from labapp.ui.moderator.study_page import facts_of
from labapp.ui.participant.view import Bridge, QtScheduler
from tests.helpers.packages import ring_model
from tests.helpers.rooms import (
    FormulaDecoder,
    Room,
    SilentRecorder,
    decoder_of,
    make_runner,
)
from tests.helpers.skips import skip_question
from tests.helpers.studies import ring_decoder, write_study

Shot = tuple[str, QWidget]
MODERATOR = Source.MODERATOR
MIC = Device(0, "USB headset", "ALSA", 1, 48_000, True)
SCREENS = [
    ScreenChoice(1, "eDP-1", 1366, 768),
    ScreenChoice(2, "HDMI-1 (DELL U2720Q)", 3840, 2160, 2.0),
]
OWN_ITEMS = {
    "en": ["Door sign", "Tissue box", "Two glasses of water"],
    "de": ["Türschild", "Taschentücher", "Zwei Gläser Wasser"],
}
MODELS = ["circles/gt", "sinelines/gt", "sinelines/vae", "sinelines/ae"]


def shots(folder: Path, study: str = "quickstart") -> Iterator[Shot]:
    """study: quickstart, or the path of a translation."""
    yield from home(study)
    yield from console(folder / "quickstart", study)
    yield from pictures(folder / "mnist")


def summary(
    participant: str,
    state: ListedState,
    length_s: float,
    lost: float | None,
    exported: bool = False,
) -> SessionSummary:
    path = Path("/home/lab/sessions/quickstart") / f"sub-{participant}_ses-1_20260102T130200Z"
    bundle = ("bundle",) if exported else ()
    started = "2026-01-02T13:02:00Z"
    return SessionSummary(
        path.name, path, "quickstart", participant, "1", started, state, length_s,
        5000, lost is not None, lost or 0, bundle,
    )  # fmt: skip


def ready_home(study: str = "quickstart") -> HomeWindow:
    window = HomeWindow()
    view = window.view
    loaded = load(study)
    space = decoder_of("sinelines/gt").space
    plan = realise(loaded, "P07", space_of=lambda model: space, prior_of=lambda model: False)
    view.set_data(Path("/home/lab/sessions"), 212 * 10**9)
    view.session.set_studies([StudyChoice(study, loaded.study.title)], study)
    view.set_participants(loaded.study.participants, {f"P{i:02d}": ["1"] for i in range(1, 7)})
    view.set_plan(plan.parts)
    view.ready.set_audio("optional", [MIC], MIC.spec)
    view.ready.set_screens(SCREENS, SCREENS[1].name)
    peaks = tuple(abs(math.sin(i * 0.9) * math.sin(i * 0.21)) * 0.5 for i in range(60))
    view.ready.set_level(Level("heard", envelope=peaks))
    lines = [
        summary("P06", "complete", 3492, 0, exported=True),
        summary("P05", "interrupted", 1760, 0),
        summary("P04", "complete", 3303, 0.4),
        summary("P03", "complete", 3687, 0, exported=True),
        summary("P02", "ended_early", 620, None),
        summary("P01", "complete", 3510, 0, exported=True),
    ]
    view.set_sessions(lines)
    view.sessions_page.set_lines(lines)
    view.set_consent(tr("home.consent_text"), loaded.text("texts/{language}/consent.md"))
    view.set_checklist(
        [
            checklist.microphone_row("optional", Microphone("USB headset", True, "heard")),
            checklist.screen_row(SCREENS, SCREENS[1].name),
            checklist.decoder_row(MODELS, [Warm(model, "cpu", 1.4) for model in MODELS]),
            checklist.disk_row(212 * 10**9),
            checklist.consent_row("All of it."),
            *further_rows(Computer(83, held=frozenset({"sleep", "screen"})), waiting=0),
        ]
    )
    return window


def further_rows(computer: Computer, waiting: int, tone: str = "heard") -> list[ChecklistRow]:
    """The rows for which Start does not wait."""
    return [
        checklist.length_row(45, datetime(2026, 1, 2, 14, 35)),
        checklist.computer_row(computer),
        checklist.loudspeaker_row(tone),
        checklist.backup_row("/media/lab/backup", 5, waiting, there=not waiting),
    ]


def on_screen(window: QWidget) -> QWidget:
    """The window as large as the screen."""
    window.resize(window.screen().size())
    window.show()
    return window


def home(study: str = "quickstart") -> Iterator[Shot]:
    window = ready_home(study)
    view = window.view
    yield "m01-home-ready", on_screen(window)
    view.session.participant.setText("P03")
    view.session.participant.textEdited.emit("P03")
    view.set_checklist(
        [
            checklist.microphone_row("optional", Microphone("USB headset", state="zeros")),
            checklist.decoder_row(MODELS, [Warm(MODELS[0], "cpu", 1.0)]),
            checklist.disk_row(112 * 10**6),
            checklist.consent_row("by [your institution] and [name of the lab]"),
        ]
    )
    view.ready.set_level(Level("zeros"))
    yield "m02-home-not-ready", window
    view.ready.items.set_items(OWN_ITEMS.get(current_language(), OWN_ITEMS["en"]))
    view.ready.items.boxes[0].click()
    view.set_checklist(
        further_rows(Computer(31, plugged=False, held=frozenset(), restart=True), 3, "asked")
    )
    view.ready.show_loudspeaker("asked")
    view.ready.show_backup(chooses=True, able=True)
    QApplication.processEvents()  # so that it is known how high the list is
    view.ready.area.verticalScrollBar().setValue(10_000)
    yield "m02-home-further-rows", window
    view.ready.items.set_items(())
    view.ready.show_loudspeaker("heard")
    view.ready.area.verticalScrollBar().setValue(0)
    view.ready.set_audio("optional", [MIC], None)
    view.set_checklist([checklist.microphone_row("optional", Microphone(None))])
    view.interrupted.set_lines(
        [Interrupted(Path("/x"), "quickstart", "P05", "2026-01-02T14:32:00Z")] * 2
    )
    yield "m03-home-interrupted", window
    view.interrupted.set_lines([])
    error = DataFolderError(
        "The disk that holds the data folder /home/lab/sessions is full.",
        safe="Earlier sessions there are untouched, and no session was started.",
        todo="Free some space, or choose another data folder (--data).",
    )
    view.show_error(error)
    yield "m04-home-error", window
    view.error.hide()
    view.tabs[1].click()
    view.sessions_page.table.selectRow(1)
    yield "m05-home-sessions", window
    view.sessions_page.withdraw.click()
    yield "m05-home-withdraw", window
    view.sessions_page.asking.cancel.click()
    view.tabs[3].click()
    yield "m05-home-results", window
    view.tabs[0].click()
    view.ready.read.click()
    yield "m06-home-consent", window
    window.close()
    yield from studies(study)


def studies(study: str = "quickstart") -> Iterator[Shot]:
    """The study's page: charts, pictures, a discrete dial and ten others, and none while blind."""
    window = ready_home(study)
    view = window.view
    loaded = load(study)
    view.set_study(loaded.study)
    view.tabs[2].setFocus()
    view.tabs[2].click()
    yield "m07-study-loading", on_screen(window)
    for model in MODELS:
        decoder = load_package(model, "cpu")
        view.study.set_sheet(model, traversals(decoder), facts_of(decoder.card))
    yield "m08-study-charts", window
    view.study.ensureWidgetVisible(view.study.cards["circles/gt"])
    yield "m09-study-practice", window
    view.session.blind.setChecked(True)
    yield "m09-study-blind", window
    view.session.blind.setChecked(False)
    try:
        load_package("mnist/ae5")
    except ModelError as error:
        view.set_plan((), error.what)
        view.show_error(error)
    yield "m09-study-missing", window
    view.tabs[0].click()
    yield "m09-study-missing-home", window
    view.tabs[2].click()
    view.error.hide()
    for number, model in enumerate(("dsprites/vae", "mnist8k/ss5", "mnist8k/ss10")):
        decoder = ring_model(model, 10 if model.endswith("10") else 5, 10 * ("ss" in model))
        plan = realise(
            load(write_study(Path(tempfile.mkdtemp()), model)),
            "P01",
            space_of=lambda model, space=decoder.space: space,
            prior_of=lambda model: False,
        )
        view.set_plan(plan.parts)
        view.study.set_sheet(model, traversals(decoder), facts_of(decoder.card))
        window.repaint()
        yield f"m09-study-pictures-{number}", window
    window.close()


class Desk:
    """A console on a session whose time and voice are made up."""

    def __init__(self, room: Room, clock: FakeClock, *, blind: bool) -> None:
        self.room, self.clock, self.runner = room, clock, room.runner
        self.random = random.Random(3)
        self.level: Level | None = Level("heard", envelope=(0.1,) * 100, rate=48_000)
        bridge = Bridge(room.runner)
        session = room.session
        self.console = ConsoleWindow(
            bridge,
            room.loaded,
            "P07",
            lambda: self.level if session.recording else None,
            blind=blind,
        )
        session.begin()

    def talk(self, seconds: float) -> None:
        """Time passes, with sentences and pauses between them."""
        for _ in range(round(seconds * 10)):
            self.clock.advance(0.1)
            t = self.clock.now_ns() / NS
            loud = max(0.0, math.sin(t * 0.8) + 0.3 * math.sin(t * 5.1)) * (math.sin(t / 11) > -0.5)
            peaks = tuple(loud * self.random.random() ** 2 * 0.8 + 0.002 for _ in range(100))
            silent_s = 0.4 if loud > 0.1 else 3.0
            self.level = Level("heard", -20, -30, silent_s, rate=48_000, envelope=peaks)
            self.console.refresh()

    def solve(self, share: float = 1.0) -> None:
        """Turn the dials towards the target in small steps; share: how far."""
        trial = self.runner.state.part_state.trial
        for dial, target in enumerate(trial.z_target):
            for step in range(1, 13):
                value = trial.z[dial] + (target - trial.z[dial]) * share * step / 12
                self.runner.send(MoveDial(dial, value, "mouse"))
                self.talk(0.3)

    def go_to(self, part_id: str) -> None:
        """Go through the plan as a participant would, up to a part."""
        self.talk(40)
        self.runner.send(GiveConsent())
        while self.runner.part is not None and self.runner.part.id != part_id:
            part = self.runner.part
            if part.part == "reconstruction":
                self.solve(0.3 if self.runner.state.part_state.trial.number == 4 else 1.0)
                solved = self.runner.state.part_state.trial.solved
                self.runner.send(Next()) if solved else skip_question(self.runner)
            elif part.part == "questionnaire":
                self.talk(8)
                item = self.room.loaded.instruments[part.instrument].items[0].id
                self.runner.send(Answer(item, 5))
                self.runner.send(Next())
            else:
                self.talk(9)
                self.runner.send(Next())

    def settled(self) -> QWidget:
        self.console.refresh()
        return on_screen(self.console)


@contextmanager
def desk_of(
    folder: Path, study: str | Path, *, blind: bool = False, **decoders: Decoder
) -> Iterator[Desk]:
    console_header.ARMED_MS = 0  # a script may press a button as soon as it comes up
    clock = FakeClock()
    gt = decoder_of("sinelines/gt")
    known: dict[str, Decoder] = {
        m: FormulaDecoder(m, gt.space, gt.latents, gt.decode) for m in MODELS[2:]
    }
    known |= {decoder.id: decoder for decoder in decoders.values()}
    room = make_runner(
        folder,
        study,
        "P07",
        scheduler=QtScheduler,
        clock=clock,
        decoders=known,
        make_recorder=SilentRecorder,
    )
    desk = Desk(room, clock, blind=blind)
    try:
        yield desk
    finally:
        desk.console.shut()
        room.session.close("pictures taken")


def console(folder: Path, study: str = "quickstart") -> Iterator[Shot]:
    with desk_of(folder / "a", study) as desk:
        yield "m10-console-consent", desk.settled()
        desk.go_to("stage-2")
        runner, clock = desk.runner, desk.clock
        desk.talk(12)
        runner.send(AddNote("“aha, that one is the height”", clock.now_ns() - 6 * NS), MODERATOR)
        desk.talk(15)
        runner.send(AddFlag(1), MODERATOR)
        desk.talk(9)
        runner.send(GivePrompt("Please keep talking"), MODERATOR)
        desk.solve(0.6)
        text = "tries dial 5 both ways, sighs, then says it “looks like a wave on a lake”"
        runner.send(AddNote(text, clock.now_ns() - 3 * NS), MODERATOR)
        desk.talk(3)
        yield "m11-console", desk.settled()
        desk.console.timeline.view.zoom(5)
        yield "m11-console-zoomed", desk.settled()
        desk.console.timeline.view.show_all()
        desk.level = Level(
            "silent", -60, -70, 18.4, 48_000 * 400, 960, 48_000, envelope=(0.002,) * 100
        )
        runner.emit(AudioState("silent", clock.now_ns() - 15 * NS))
        clock.advance(1)
        yield "m12-console-silent", desk.settled()
        runner.emit(ScreenChanged("removed", "HDMI-1 (DELL U2720Q)", 1))
        runner.emit(AudioDeviceLost("USB headset", "unplugged"))
        clock.advance(1)
        yield "m13-console-alarms", desk.settled()
        header = desk.console.header
        desk.console.notes.tabs[1].click()
        runner.send(AddDeviation("somebody knocked", clock.now_ns() - 2 * NS), MODERATOR)
        yield "m13-console-deviations", desk.settled()
        header.press_pause()
        yield "m14-console-pause-why", desk.settled()
        runner.send(Pause("break"), MODERATOR)
        clock.advance(130)
        yield "m14-console-break", desk.settled()
        header.ask_end()
        yield "m14-console-end", desk.settled()
        header.questions.other.click()
        yield "m14-console-withdraws", desk.settled()
        header.questions.other.click()
        yield "m14-console-delete", desk.settled()
        header.questions.yes.click()
        clock.advance(1)
        yield "m14-console-withdrawn", desk.settled()
    with desk_of(folder / "b", study) as desk:
        desk.go_to("stage-1-seq")
        yield "m15-console-questionnaire", desk.settled()
    with desk_of(folder / "c", study) as desk:
        desk.go_to("tutorial")
        yield "m16-console-tutorial", desk.settled()
    with desk_of(folder / "d", study, blind=True) as desk:
        desk.go_to("stage-1")
        desk.runner.emit(AlarmRaised("program_error", "ValueError: sinelines/vae does not answer"))
        desk.clock.advance(1)
        yield "m17-console-blind", desk.settled()


def pictures(folder: Path) -> Iterator[Shot]:
    model = "mnist8k/ss10"
    study = write_study(folder, model, labels="editable", trials=7)
    prompts = '["Please keep talking", "What are you thinking?", "And now?", "Why?"]'
    words = study.read_text("utf-8").replace("flow:", f"recording:\n  prompts: {prompts}\nflow:")
    study.write_text(words, "utf-8")
    with desk_of(folder, study, digits=ring_decoder(model, 10, discrete=10)) as desk:
        desk.talk(9)
        desk.runner.send(Next())
        desk.runner.send(EditLabel(0, "number"))
        desk.runner.send(EditLabel(1, "how slanted it is"))
        desk.solve(0.5)
        desk.console.give_prompt(1)
        desk.talk(42)
        yield "m20-console-pictures", desk.settled()
        desk.level = Level("silent", -60, -70, 18.4, rate=48_000, envelope=(0.002,) * 100)
        desk.clock.advance(1)
        yield "m21-console-prompts", desk.settled()
