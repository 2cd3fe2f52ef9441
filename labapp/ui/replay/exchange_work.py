"""What the card for exchange asks for: done in a thread, so that what plays goes on.

A file that comes in is only looked at first. What it would change is told, and done after a click,
if it is still the same then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Qt, Signal

from labapp.annotations.model import Round
from labapp.errors import AnnotationError, LabappError
from labapp.exchange import incoming
from labapp.exchange.coming_in import bring_in, plan_import
from labapp.exchange.formats import ON_TRANSCRIPT, format_named
from labapp.exchange.going_out import Exported, export_coding
from labapp.exchange.plan import Plan, Step
from labapp.journal.opening import open_record
from labapp.messages import Message
from labapp.ui.language import N_, counted, in_words, tr, translate_message
from labapp.ui.replay.controller import shown_time
from labapp.ui.replay.exchange_panel import ExchangePanel, ExportWanted, ImportWanted, Line
from labapp.ui.replay.segmenting import SPEAKER_NAMES

if TYPE_CHECKING:
    from labapp.ui.replay.coding import Coding

WHATS = {
    "mark added": N_("code added"),
    "mark moved": N_("code moved"),
    "mark recoded": N_("other code"),
    "mark changed": N_("code changed"),
    "mark removed": N_("code removed"),
    "mark cut": N_("code cut"),
    "unit made": N_("unit made"),
    "unit changed": N_("unit changed"),
    "unit removed": N_("unit removed"),
    "unit proposed": N_("unit proposed"),
    "text written": N_("words written"),
}
"""What a step of a plan is called, by `labapp.exchange.plan.What`."""


@dataclass(frozen=True)
class Bench:
    """Whose coding of what.

    Attributes
    ----------
    session : its folder.
    rater : whose marks go out, or come in.
    codebook : its id; empty for the only one.
    round : see `labapp.annotations.model.Round`; None for the one that the rater is in.
    """

    session: Path
    rater: str
    codebook: str = ""
    round: Round | None = None


class Taker(Protocol):
    """Does what a plan says, in the window's thread."""

    def __call__(self, plan: Plan) -> None:
        """Raises LabappError."""


class ExchangeWork(QObject):
    """Does what the card asks for.

    Signals
    -------
    changed() : a file was brought in.
    """

    changed = Signal()
    _done = Signal(object, object)

    def __init__(
        self,
        panel: ExchangePanel,
        bench: Callable[[], Bench | None],
        take: Taker | None = None,
        parent: QObject | None = None,
    ) -> None:
        """bench: what is worked on, None for nothing; take: what does a plan, without it the files
        of annotations are opened for it."""
        super().__init__(parent)
        self.panel, self._bench = panel, bench
        self._take: Taker = take or self._take_in
        self._pool: ThreadPoolExecutor | None = None
        self._wanted: ImportWanted | None = None
        self._plan: Plan | None = None
        self._done.connect(self._take_result, Qt.ConnectionType.QueuedConnection)
        panel.export_requested.connect(self.export)
        panel.import_requested.connect(self.look)
        panel.accepted.connect(self.bring_in)

    @property
    def busy(self) -> bool:
        """Whether something is being read or written."""
        return self._pool is not None

    def show(self) -> None:
        """Show the card for what is worked on now."""
        bench = self._bench()
        if bench is None:
            return
        self._plan = self._wanted = None
        self.panel.set_busy(self.busy)
        self.panel.set_name(f"{bench.session.name}_{bench.rater}")
        try:
            audio = open_record(bench.session).audio
        except LabappError as error:
            self.panel.set_lines((), in_words(error), "alarm")
        else:
            self.panel.set_sounds([PurePosixPath(sound.file).name for sound in audio])
            self.panel.set_lines((), "")
        self.panel.show()
        self.panel.raise_()

    def close(self) -> None:
        """Wait for what was begun, and end the thread."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    # --- going out --------------------------------------------------------------------------------

    def export(self, wanted: ExportWanted) -> None:
        """Write a coding for another tool."""
        bench = self._bench()
        if bench is not None:
            self._begin(lambda: _export(bench, wanted), self._exported, tr("It is being written …"))

    def _exported(self, exported: Exported) -> None:
        lines = [Line(tr("not in it"), "", translate_message(w), warns=True) for w in exported.lost]
        lines += [Line(tr("file"), "", str(path)) for path in exported.files]
        marks = counted(exported.marks, "{n} code", "{n} codes")
        units = counted(exported.units, "{n} unit", "{n} units")
        self.panel.set_lines(lines, tr("Written: {marks}, {units}.", marks=marks, units=units))

    # --- coming in --------------------------------------------------------------------------------

    def look(self, wanted: ImportWanted) -> None:
        """Tell what a file would change; nothing is changed."""
        self._wanted, self._plan = wanted, None
        self._read(self._show_plan)

    def bring_in(self) -> None:
        """Do what was told, if it is still what the file would change."""
        if self._plan is not None:
            self._read(self._take_plan)

    def _read(self, then: Callable[[Plan], None]) -> None:
        bench, wanted = self._bench(), self._wanted
        if bench is not None and wanted is not None:
            self._begin(lambda: _plan(bench, wanted), then, tr("The file is being read …"))

    def _show_plan(self, plan: Plan) -> None:
        self._plan = plan
        told = [*(translate_message(why) for why in plan.times)]
        if plan.new_codebook:
            codes = ", ".join(code.id for code in plan.codebook.codes)
            told.append(
                tr("The study has no codebook: one is made of the codes {codes}.", codes=codes)
            )
        if plan.freeze:
            told.append(tr("The units are frozen: codes are given to them."))
        same = counted(
            plan.unchanged, "{n} code is as it is here", "{n} codes are as they are here"
        )
        if plan.empty:
            told.append(tr("{file} changes nothing; {same}.", file=plan.file, same=same))
        else:
            many = counted(len(plan.steps), "{n} change", "{n} changes")
            told.append(
                tr(
                    "{file} would make {changes}; {same}. Nothing is changed yet.",
                    file=plan.file,
                    changes=many,
                    same=same,
                )
            )
        lost = (
            Line(tr("not brought over"), "", translate_message(why), warns=True)
            for why in plan.lost
        )
        lines = [*map(_line, plan.steps), *lost]
        self.panel.set_lines(lines, " ".join(told), can_accept=not plan.empty)

    def _take_plan(self, plan: Plan) -> None:
        before = self._plan
        if before is None or _told(before) != _told(plan):
            self._show_plan(plan)
            self.panel.set_state(
                tr("Something was changed here since: look at what the file would do now."), "warn"
            )
            return
        try:
            self._take(plan)
        except LabappError as error:
            self.panel.set_state(in_words(error), "alarm")
            return
        self._plan = None
        done = counted(len(plan.steps), "{n} change was made", "{n} changes were made")
        lost = [
            Line(tr("not brought over"), "", translate_message(why), warns=True)
            for why in plan.lost
        ]
        self.panel.set_lines(lost, tr("Brought in from {file}: {done}.", file=plan.file, done=done))
        self.changed.emit()

    def _take_in(self, plan: Plan) -> None:
        bench = self._bench()
        if bench is not None:
            bring_in(plan, bench.session, open_record(bench.session))

    # --- the thread -------------------------------------------------------------------------------

    def _begin(self, work: Callable[[], Any], then: Callable[[Any], None], doing: str) -> None:
        if self._pool is not None:
            return
        self.panel.set_busy(True)
        self.panel.set_state(doing)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="exchange")
        future = self._pool.submit(work)
        # The signal is emitted in the thread and received in the window's.
        future.add_done_callback(
            lambda done: None if done.cancelled() else self._done.emit(done, then)
        )

    def _take_result(self, done: Future[Any], then: Callable[[Any], None]) -> None:
        if self._pool is None:
            return  # the window is closed
        self.close()
        self.panel.set_busy(False)
        try:
            result = done.result()
        except LabappError as error:
            self._plan = None
            self.panel.set_lines((), in_words(error), "alarm")
            return
        then(result)


def taker_of(coding: Coding) -> Taker:
    """Brings plans into the files that a window has open; each file's change is one to undo."""

    def take(plan: Plan) -> None:
        if coding.status != "draft" and (plan.put or plan.removed):
            raise AnnotationError(
                tr("This coding is done: go on with it before you change it."),
                todo=tr("Press Go on coding first."),
            )
        if plan.codebook.sha256 != coding.codebook.sha256 and plan.put:
            raise AnnotationError(
                tr("The codebook was changed since this window was opened."),
                todo=tr("Close the window and open it again."),
            )
        for which in coding.files.bring_in(plan):
            coding.drawn(which, frozenset())
        coding.refresh()

    return take


def _export(bench: Bench, wanted: ExportWanted) -> Exported:
    base = {"joined": "joined", "none": "session"}.get(wanted.sound, "files")
    return export_coding(
        open_record(bench.session),
        bench.rater,
        ON_TRANSCRIPT if wanted.on_transcript else format_named(wanted.format),
        wanted.out,
        base=base,  # type: ignore[arg-type]
        codebook=bench.codebook,
        with_sound=wanted.sound == "copied",
    )


def _plan(bench: Bench, wanted: ImportWanted) -> Plan:
    names = None if wanted.names is None else incoming.read_translation(wanted.names)
    return plan_import(
        open_record(bench.session),
        bench.rater,
        incoming.read(wanted.file),
        translation=names,
        codebook=bench.codebook,
        time=wanted.time,
        words_only=wanted.words_only,
        round=bench.round,
    )


def _told(plan: Plan) -> Sequence[object]:
    """What was told of a plan: its ids are others each time."""
    steps = [(s.what, s.t0_ns, s.t1_ns, s.about, s.before) for s in plan.steps]
    return [steps, plan.lost, plan.freeze, plan.unchanged, plan.sha256]


def _line(step: Step) -> Line:
    when = shown_time(step.t0_ns, 1)
    if step.t1_ns > step.t0_ns:
        when += f"–{shown_time(step.t1_ns, 1)}"
    was = translate_message(step.before) if isinstance(step.before, Message) else step.before
    before = f" ({tr('was {before}', before=was)})" if step.before else ""
    about = tr(SPEAKER_NAMES[step.about]) if step.what.startswith("unit") else step.about
    return Line(tr(WHATS.get(step.what, step.what)), when, f"{about}{before}", step.t0_ns)
