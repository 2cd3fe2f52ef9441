"""Writing down what was said, from the page *Coding*, by `labapp transcribe`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from labapp.errors import LabappError
from labapp.reading.values import json_value
from labapp.transcription.models import ENGINES, WHICH, SpeechTools, model_at, speech_tools
from labapp.ui.language import counted, in_words, number, tr, translate_message
from labapp.ui.researcher.job import Ended, Job, Progress
from labapp.ui.researcher.speech_panel import SpeechPanel, SpeechWanted

STOPPED = 130
"""The exit status of a command that was asked to end."""


class SpeechWork(QObject):
    """Does what the line for it asks for.

    Signals
    -------
    changed() : something was written down.
    model_changed(str) : another model is to be remembered.
    """

    changed = Signal()
    model_changed = Signal(str)

    def __init__(
        self,
        panel: SpeechPanel,
        path_of: Callable[[str], Path | None],
        model: str = "",
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.panel, self._path_of, self._model = panel, path_of, model
        self._at = ""
        self._job = Job(self)
        self._job.ended.connect(self._ended)
        self._job.progressed.connect(self._progressed)
        panel.wanted.connect(self.begin)
        panel.model_chosen.connect(self.choose)
        panel.stop_requested.connect(self._ask_to_stop)

    @property
    def running(self) -> bool:
        """Whether something is being written down."""
        return self._job.running

    def look(self) -> None:
        """Say which models and engines are here, and what to get where none are."""
        if self._job.running:
            return
        tools = speech_tools()
        known = [str(model.path) for model in tools.models]
        if self._model and self._model not in known:
            known.append(self._model)
        if not self._model and tools.usable:
            self._model = str(tools.usable[0].path)
        self.panel.set_models(known, self._model)
        try:
            model = model_at(Path(self._model)) if self._model else None
        except LabappError as error:
            self.panel.set_state(in_words(error), "warn")
            return
        if model is None:
            self.panel.set_state(missing(tools), "warn")
        else:
            engine = f"{model.engine.package} {model.engine.version}"
            self.panel.set_state(
                tr(
                    "{model} by {engine}, on this computer: nothing is sent or fetched. Texts that "
                    "are there stay.",
                    model=model.name,
                    engine=engine,
                )
            )

    def choose(self, path: str) -> None:
        """Take a model from now on."""
        self._model = path
        self.model_changed.emit(path)
        self.look()

    def begin(self, wanted: SpeechWanted) -> None:
        """Write sessions down; units that have a text keep it."""
        paths = [str(path) for name in wanted.sessions if (path := self._path_of(name))]
        if self._job.running or not paths:
            return
        arguments = ["transcribe", *paths, "--model", wanted.model, "--json"]
        if wanted.language:
            arguments += ["--language", wanted.language]
        if wanted.words:
            arguments += ["--words", wanted.words]
        self._at = ""
        self.panel.set_working(True)
        self.panel.set_share(None)
        self.panel.set_state(tr("The speech model is being opened …"))
        self._job.start(arguments)

    def stop(self) -> None:
        """A session begins, or the program ends: what was written down is stored."""
        if self._job.running:
            self._job.stop()
            self.panel.set_working(False)
            self.panel.set_state(stopped(), "warn")

    def _ask_to_stop(self) -> None:
        self.panel.stop.setEnabled(False)
        self._job.ask_to_end()

    def _progressed(self, progress: Progress) -> None:
        self.panel.set_share(progress.share)
        if not progress.share:
            return
        percent = number(f"{100 * progress.share:.0f}")
        if progress.left_s is None:
            text = tr("{percent} % written down · {what}", percent=percent, what=progress.what)
        else:
            text = tr(
                "{percent} % written down · about {left} left · {what}",
                percent=percent,
                left=duration(progress.left_s),
                what=progress.what,
            )
        self.panel.set_state(text)
        session = progress.what.partition(",")[0]
        if session != self._at:
            self._at = session
            self.changed.emit()

    def _ended(self, ended: Ended) -> None:
        self.panel.set_working(False)
        if ended.status == STOPPED:
            self.panel.set_state(stopped(), "warn")
        else:
            told = [*summary(ended.output), *ended.error.strip().splitlines()]
            if ended.status is None:
                told.append(tr("It was ended from outside."))
            self.panel.set_state("\n".join(told), "" if ended.ok else "alarm")
        self.changed.emit()


def stopped() -> str:
    """What is told where the work was stopped."""
    return tr("Stopped. What was written down is stored; begun again, it goes on from there.")


def missing(tools: SpeechTools) -> str:
    """What to get so that something can be written down, in words."""
    sentences = []
    if not tools.models:
        sentences.append(
            tr("There is no speech model in {folder}: choose one below.", folder=tools.folder)
        )
        sentences += [
            tr(
                "{engine}: {model}; to be had as {get}.",
                engine=engine.package,
                model=translate_message(engine.model),
                get=translate_message(engine.get),
            )
            for engine in ENGINES.values()
        ]
        sentences.append(translate_message(WHICH))
    if (engine := tools.missing) is not None:
        sentences.append(
            tr("Install {engine}: {command}", engine=engine.package, command=engine.install)
        )
    return "\n".join(sentences)


def duration(seconds: float) -> str:
    """About how long, in words."""
    if seconds < 60:
        return counted(max(1, round(seconds)), "{n} second", "{n} seconds")
    if seconds < 5400:
        return counted(round(seconds / 60), "{n} minute", "{n} minutes")
    return tr("{n} hours", n=number(f"{seconds / 3600:.1f}"))


def summary(output: str) -> list[str]:
    """What came of it: a line of `labapp transcribe --json` for each session."""
    try:
        rows = json_value(output) if output.strip() else []
        return [_line(row) for row in rows]
    except (ValueError, TypeError, KeyError) as error:
        return [tr("What was written down cannot be told: {why}", why=error)]


def _line(row: dict[str, object]) -> str:
    counts = {name: value for name, value in row.items() if isinstance(value, int)}
    parts = [tr("{n} of {of} units written down", n=row["written"], of=row["units"])]
    if n := counts["doubtful"]:
        parts.append(tr("{n} perhaps invented", n=n))
    if n := counts["kept"] + counts["overtaken"]:
        parts.append(tr("{n} had text", n=n))
    if n := counts["silent"]:
        parts.append(tr("{n} without a voice", n=n))
    return f"{row['session']}: {', '.join(parts)}."
