"""Windows of the *Coding* page: raters and locks, who speaks, what raters differ in, videos of a
session, and what is shown of coded stretches. Each does what a command of `labapp code` or
`labapp videos` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal

from labapp.base.reading.values import json_value
from labapp.coding.annotations.codebook import Codebook, versions_of
from labapp.coding.annotations.model import SPEAKERS, time_text
from labapp.coding.annotations.rounds import (
    StudyDisagreements,
    adjudicate_difference,
    settle,
    study_disagreements,
)
from labapp.coding.annotations.settlements import Disagreement
from labapp.coding.annotations.store import SessionProgress
from labapp.coding.annotations.video_files import PlacedVideo, videos_of
from labapp.coding.exchange.speakers import SpokenUnit, speakers_of
from labapp.coding.videos.reels import FILM, SOUND, Cut, write_list
from labapp.record.journal.opening import open_record
from labapp.session.replay.lanes import CodedStretch
from labapp.ui.language import N_, counted, number, tr, translate_message
from labapp.ui.moderator import bits
from labapp.ui.moderator.bits import Combo
from labapp.ui.moderator.forms import CommandForm, TableForm
from labapp.ui.moderator.wording import short_time
from labapp.ui.replay.coding_state import SPEAKER_NAMES, code_name
from labapp.ui.replay.retrieval import rater_name
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button

LONGEST = 1000


# --- raters: done and locked ----------------------------------------------------------------------


@dataclass(slots=True)
class RaterLine:
    """How far a rater is in a study: sessions by how far they are, and units without a code."""

    rater: str
    draft: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    locked: list[str] = field(default_factory=list)
    uncoded: int = 0
    program: bool = False


def lines_of_raters(sessions: Iterable[SessionProgress]) -> list[RaterLine]:
    """How far every rater of a study is with coding that counts; people first."""
    lines: dict[str, RaterLine] = {}
    for session in sessions:
        for rater in session.raters:
            if not rater.independent and not rater.program:
                continue
            line = lines.setdefault(rater.rater, RaterLine(rater.rater, program=rater.program))
            status = rater.independent or rater.status
            {"draft": line.draft, "done": line.done, "locked": line.locked}[status].append(
                session.session
            )
            line.uncoded += rater.uncoded if status == "draft" else 0
    return sorted(lines.values(), key=lambda line: (line.program, line.rater))


class RatersForm(TableForm):
    """What `labapp code done` and `labapp code lock` do. study: the folder of the sessions."""

    def __init__(self, palette: Palette, study: Path) -> None:
        columns = (
            N_("word.rater"),
            N_("raters.column.draft"),
            N_("raters.column.done"),
            N_("raters.column.locked"),
            N_("raters.column.missing"),
        )
        title = tr("raters.title", study=study.name)
        super().__init__(palette, title, tr("raters.about"), columns, (0, 4))
        self._study = study
        self.lines: list[RaterLine] = []
        self.done = Button(tr("coding.finish_ask"), "compact", pressed=self._ask_done)
        self.reopen = Button(tr("coding.go_on"), "compact")
        self.lock = Button(tr("raters.lock_ask"), "compact", pressed=self._ask_lock)
        self.reopen.clicked.connect(lambda: self._send("done", "--reopen"))
        self.finish(self.buttons_line(self.done, self.reopen, self.lock))
        self.look()

    def set_sessions(self, sessions: Sequence[SessionProgress]) -> None:
        """How far the sessions of the study are."""
        self.lines = lines_of_raters(sessions)
        self.set_rows([self._cells(line) for line in self.lines])
        if not self.lines:
            self.set_state(tr("raters.none"))

    def _cells(self, line: RaterLine) -> tuple[str, ...]:
        stands = (line.draft, line.done, line.locked)
        counts = (str(len(each)) if each and not line.program else "–" for each in stands)
        missing = tr("raters.program") if line.program else "–"
        if line.uncoded:
            missing = counted(line.uncoded, "raters.missing")
        return (rater_name(line.rater), *counts, missing)

    @property
    def line(self) -> RaterLine | None:
        place = self.selected()
        return None if place is None or place >= len(self.lines) else self.lines[place]

    def look(self) -> None:
        line = None if self._busy else self.line
        person = line is not None and not line.program
        self.done.setEnabled(person and bool(line.draft))  # type: ignore[union-attr]
        self.reopen.setEnabled(person and bool(line.done))  # type: ignore[union-attr]
        self.lock.setEnabled(person and bool(line.done))  # type: ignore[union-attr]

    def _send(self, command: str, *options: str) -> None:
        if (line := self.line) is not None:
            arguments = ["code", command, str(self._study), "--rater", line.rater]
            self.requested.emit([*arguments, *options, "--json"])

    def _ask_done(self) -> None:
        line = self.line
        if line is None or not line.uncoded:
            self._send("done")
            return
        missing = counted(line.uncoded, "raters.missing")
        question = tr("raters.done_question", rater=line.rater, missing=missing)
        self.ask(question, tr("coding.finish_ask"), lambda: self._send("done"))

    def _ask_lock(self) -> None:
        line = self.line
        if line is None:
            return
        if line.draft:
            names = ", ".join(line.draft)
            self.set_state(tr("raters.drafts_first", rater=line.rater, sessions=names), "warn")
            return
        question = tr("raters.lock_question", rater=line.rater, n=len(line.done))
        self.ask(question, tr("raters.lock_yes"), lambda: self._send("lock"))

    def describe(self, output: str) -> str:
        rows = json_value(output)
        return counted(len(rows), "raters.changed", marks=sum(row["marks"] for row in rows))


# --- who speaks -----------------------------------------------------------------------------------


class SpeakersForm(TableForm):
    """What `labapp code speakers` does. session: its folder; by: who says it."""

    def __init__(self, palette: Palette, session: Path, by: str) -> None:
        columns = (
            N_("find.time"),
            N_("speakers.column.who"),
            N_("speakers.column.suggested"),
            N_("word.words"),
        )
        title = tr("speakers.title", session=session.name)
        super().__init__(palette, title, tr("speakers.about"), columns, (3,))
        self._session, self._by = session, by
        self.units: list[SpokenUnit] = []
        self.who = {who: Button(tr(SPEAKER_NAMES[who]), "compact") for who in SPEAKERS}
        for who, button in self.who.items():
            button.clicked.connect(lambda _=False, who=who: self._set(who))
        self.take = Button(tr("speakers.take"), "compact")
        self.file = Button(tr("speakers.table"), "compact", pressed=self._ask_table)
        self.confirm = Button(tr("speakers.confirm"), "compact")
        self.take.clicked.connect(lambda: self._send("--suggested"))
        self.confirm.clicked.connect(lambda: self._send("--confirm"))
        self.finish(self.buttons_line(*self.who.values(), self.take, self.file, self.confirm))
        self.look()

    def refresh(self) -> None:
        self.background.begin(lambda: speakers_of(self._session), self._show, self.show_error)

    def _show(self, units: list[SpokenUnit]) -> None:
        self.units = units
        self.set_rows(
            [
                (
                    short_time(round(unit.t0_s * 1e9)),
                    tr(SPEAKER_NAMES[unit.speaker]),
                    tr(SPEAKER_NAMES[unit.suggested]) if unit.suggested else "",
                    unit.text,
                )
                for unit in units
            ]
        )
        if not units:
            self.set_state(tr("coding.no_units"))

    def look(self) -> None:
        place, can = self.selected(), not self._busy and bool(self.units)
        for who, button in self.who.items():
            known = place is not None and place < len(self.units)
            button.setEnabled(can and known and self.units[place].speaker != who)  # type: ignore[index]
        self.take.setEnabled(can and any(unit.suggested for unit in self.units))
        self.file.setEnabled(can)
        self.confirm.setEnabled(can)

    def _set(self, who: str) -> None:
        place = self.selected()
        if place is None:
            return
        unit = self.units[place]
        table = self.own_folder() / "speakers.csv"
        middle = time_text(round((unit.t0_s + unit.t1_s) / 2 * 1e9), 3)
        table.write_text(f"time,speaker\n{middle},{who}\n", "utf-8")
        self._send("--map", str(table))

    def _ask_table(self) -> None:
        if path := bits.ask_path(self, tr("speakers.table_title"), "CSV (*.csv *.tsv)"):
            self._send("--map", path)

    def _send(self, *options: str) -> None:
        arguments = ["code", "speakers", str(self._session), "--by", self._by, "--json"]
        self.requested.emit([*arguments, *options])

    def describe(self, output: str) -> str:
        made = json_value(output)
        told = [counted(made["changed"], "speakers.changed")]
        if made["proposed"]:
            told.append(counted(made["proposed"], "coding.changes_proposed") + ".")
        if made["confirmed"]:
            told.append(tr("speakers.confirmed"))
        return " ".join(told)


# --- what raters differ in ------------------------------------------------------------------------


class SettleForm(TableForm):
    """What `labapp code adjudicate` does. study: the folder of the sessions; by: who settles.

    Signals
    -------
    open_requested(str, int) : a session is to be opened at a session time, to hear it.
    """

    open_requested = Signal(str, object)

    def __init__(
        self, palette: Palette, study: Path, by: str, codebooks: Sequence[Codebook]
    ) -> None:
        columns = (
            N_("word.session"),
            N_("find.time"),
            N_("settle.column.tier"),
            N_("settle.column.codes"),
            N_("settle.column.holds"),
        )
        title = tr("settle.title", study=study.name)
        super().__init__(palette, title, tr("settle.about"), columns, (3,))
        self._study, self._by, self._books = study, by, tuple(codebooks)
        self.differences: tuple[Disagreement, ...] = ()
        self.left_out: tuple[tuple[str, str], ...] = ()
        self.hear = Button(tr("settle.hear"), "compact", pressed=self._hear)
        self.reason = bits.line_edit(tr("settle.reason"), tr("settle.reason_hint"), LONGEST)
        self.holds = Combo(palette, tr("settle.holds"))
        self.settle = Button(tr("settle.do"), "compact", pressed=self._settle)
        self.reason.returnPressed.connect(self._settle)
        self.finish(self.buttons_line(self.hear))
        self.add(tr("settle.holds"), self.holds)
        self.add(tr("settle.reason"), self.reason, self.settle)
        self.look()

    def refresh(self) -> None:
        self.set_busy(True)
        self.set_state(tr("find.reading"))
        self.background.begin(lambda: study_disagreements(self._study), self._show, self.show_error)

    def _show(self, report: StudyDisagreements) -> None:
        self.differences, self.left_out = report.differences, report.left_out
        self.set_rows([self._cells(each) for each in report.differences])
        self.set_busy(False)
        open_ = sum(each.settlement is None for each in report.differences)
        told = [counted(open_, "settle.open")] if report.differences else [tr("settle.none")]
        told += [
            tr("settle.left_out", session=name, why=translate_message(why))
            for name, why in report.left_out
        ]
        self.set_state("\n".join(told))

    def _name(self, code: str, value: int | None = None) -> str:
        book = next((book for book in self._books if book.code(code)), None)
        return code_name(book, code, value)

    def _given(self, marks: Iterable[Any]) -> str:
        names = ", ".join(self._name(mark.code, mark.value) for mark in marks)
        return names or tr("settle.nothing")

    def _cells(self, each: Disagreement) -> tuple[str, ...]:
        tier = next((t for book in self._books if (t := book.tier(each.tier))), None)
        codes = "; ".join(
            f"{rater_name(rater)}: {self._given(marks)}" for rater, marks in each.marks.items()
        )
        settled = each.settlement
        holds = "" if settled is None else f"{self._given(settled.marks)} ({settled.by})"
        title = each.tier if tier is None else tier.title
        return each.session, short_time(each.t0_ns), title, codes, holds

    @property
    def difference(self) -> Disagreement | None:
        place = self.selected()
        here = place is not None and place < len(self.differences)
        return self.differences[place] if here else None  # type: ignore[index]

    def look(self) -> None:
        each = self.difference
        for widget in (self.hear, self.holds, self.reason, self.settle):
            widget.setEnabled(each is not None and not self._busy)
        if each is None:
            return
        choices = [
            (f"{rater_name(rater)}: {self._given(marks)}", f"take {rater}")
            for rater, marks in each.marks.items()
        ]
        codes = [code for book in self._books for code in book.given(each.tier)]
        choices += [(code.name, f"code {code.id}") for code in codes]
        choices.append((tr("settle.nothing"), "nothing"))
        current = self.holds.currentData()
        known = [value for _, value in choices]
        self.holds.set_choices(choices, current if current in known else known[0])

    def _hear(self) -> None:
        if (each := self.difference) is not None:
            self.open_requested.emit(each.session, each.t0_ns)

    def _settle(self) -> None:
        each = self.difference
        if each is None or not self.settle.isEnabled():
            return
        how, _, what = str(self.holds.currentData()).partition(" ")
        reason = self.reason.text()

        def work() -> None:
            marks = each.marks[what] if how == "take" else ()
            if how == "code":
                marks = adjudicate_difference(each, [what], versions_of(self._study))
            settle(self._study, each, self._by, marks, reason)

        def settled(_: object) -> None:
            self.reason.clear()
            self.requested.emit([])  # what others show is read again
            self.refresh()

        if self.background.begin(work, settled, self.show_error):
            self.set_busy(True)


# --- videos ---------------------------------------------------------------------------------------


def _tell_left_out(sessions: Iterable[tuple[str, str]]) -> list[str]:
    """Sessions that a window passed over, each with the reason."""
    return [
        tr("settle.left_out", session=name, why=translate_message(why)) for name, why in sessions
    ]


class VideosForm(TableForm):
    """What `labapp videos` does. session: its folder; by: who does it."""

    def __init__(self, palette: Palette, session: Path, by: str) -> None:
        columns = (
            N_("videos.column.video"),
            N_("videos.column.begins"),
            N_("videos.column.ends"),
            N_("videos.column.placed"),
        )
        title = tr("videos.title", session=session.name)
        super().__init__(palette, title, tr("videos.about"), columns, (3,))
        self._stoppable = True
        self._session, self._by = session, by
        self.videos: tuple[PlacedVideo, ...] = ()
        self.begin = bits.line_edit(tr("videos.begin"), "12.5", LONGEST)
        self.drift = bits.line_edit(tr("videos.drift"), "0", LONGEST)
        self.new = Button(tr("videos.add"), "compact", pressed=self._ask_new)
        self.align = Button(tr("videos.align"), "compact")
        self.remove = Button(tr("videos.remove"), "compact", pressed=self._ask_remove)
        self.align.clicked.connect(lambda: self._send("align", self._chosen()))
        self.finish(self.buttons_line(self.new, self.align, self.remove))
        self.add(tr("videos.begin"), self.begin, hint=tr("videos.begin_hint"))
        self.add(tr("videos.drift"), self.drift, hint=tr("videos.drift_hint"))
        self.look()

    def refresh(self) -> None:
        self.background.begin(
            lambda: videos_of(open_record(self._session)), self._show, self.show_error
        )

    def _show(self, videos: tuple[PlacedVideo, ...]) -> None:
        self.videos = videos
        self.set_rows([self._cells(placed) for placed in videos])

    def _cells(self, placed: PlacedVideo) -> tuple[str, ...]:
        begins, ends = (short_time(t_ns) for t_ns in placed.stretch_ns)
        at = placed.alignment
        how = N_("videos.by_hand") if at.origin == "hand" else N_("videos.by_sound")
        text = tr(
            how,
            offset=number(f"{at.offset_s:.3f}"),
            ppm=number(f"{at.drift_ppm:+.1f}"),
            residual=number(f"{at.residual_ms:.1f}"),
        )
        return placed.video.id, begins, ends, text

    def look(self) -> None:
        place, can = self.selected(), not self._busy
        self.new.setEnabled(can)
        for button in (self.align, self.remove):
            button.setEnabled(can and place is not None and place < len(self.videos))

    def _chosen(self) -> str:
        place = self.selected()
        return "" if place is None else self.videos[place].video.id

    def _send(self, command: str, what: str) -> None:
        arguments = ["videos", command, str(self._session), what, "--by", self._by]
        if begin := self.begin.text().strip():
            arguments += ["--offset", begin]
            if drift := self.drift.text().strip():
                arguments += ["--drift", drift]
        self.requested.emit(arguments)

    def _ask_new(self) -> None:
        kinds = "*.mp4 *.mov *.mkv *.webm *.avi *.mpg *.mpeg *.ts *.wmv *.ogv *.flv"
        kinds = f"{tr('videos.files')} ({kinds});;* (*)"
        if path := bits.ask_path(self, tr("videos.add_title"), kinds):
            self._send("add", path)

    def _ask_remove(self) -> None:
        video = self._chosen()
        arguments = ["videos", "remove", str(self._session), video, "--by", self._by, "--yes"]
        question = tr("videos.remove_question", video=video)
        self.ask(question, tr("videos.remove"), lambda: self.requested.emit(arguments))


# --- clips, reels, quotes -------------------------------------------------------------------------


class ReelForm(CommandForm):
    """What `labapp code reel` and `labapp code quotes` do, of coded stretches.

    Parameters
    ----------
    study : the folder of the sessions.
    stretches : those that are shown, in their order.
    code, where : the code and the condition by which they were chosen; empty for all.
    """

    def __init__(
        self,
        palette: Palette,
        study: Path,
        stretches: Sequence[CodedStretch],
        codebook: Codebook | None,
        code: str = "",
        where: Mapping[str, str] | None = None,
    ) -> None:
        title = counted(len(stretches), "reel.title")
        super().__init__(palette, title, tr("reel.about"), tr("reel.make"), stoppable=True)
        self._study, self._code, self._where = study, code, dict(where or {})
        self._cuts = [
            Cut(s.session, s.t0_ns, max(s.t1_ns, s.t0_ns + 10**9), code_name(codebook, s.code))
            for s in stretches
        ]
        self.kind = Combo(palette, tr("reel.kind"))
        kinds = [
            (tr("reel.sound"), SOUND),
            (tr("reel.film"), FILM),
            (tr("reel.page"), ".html"),
            (tr("reel.text"), ".md"),
            (tr("reel.table"), ".csv"),
        ]
        self.kind.set_choices(kinds, SOUND)
        self.add(tr("reel.kind"), self.kind, hint=tr("reel.kind_hint"))

    def send(self) -> None:
        ending = self.kind.currentData()
        name = f"{self._study.name}-{self._code or 'reel'}{ending}"
        if path := bits.ask_new_path(self, tr("reel.file"), name):
            path = path if path.suffix.casefold() == ending else path.with_name(path.name + ending)
            self.requested.emit(self.arguments(path))

    def arguments(self, out: Path) -> list[str]:
        """The command that makes the file."""
        if out.suffix.casefold() not in (SOUND, FILM):
            made = ["code", "quotes", str(self._study), "--out", str(out), "--json"]
            made += ["--code", self._code] if self._code else []
            return made + [
                word for pair in self._where.items() for word in ("--where", "=".join(pair))
            ]
        table = self.own_folder() / "stretches.csv"
        write_list(table, self._cuts)
        return [
            *("code", "reel", str(self._study), "--list", str(table)),
            *("--out", str(out), "--json"),
        ]

    def describe(self, output: str) -> str:
        made = json_value(output)
        if "n_quotes" in made:
            told = [counted(made["n_quotes"], "reel.quoted", file=made["file"])]
            return "\n".join([*told, *made["left_out"]])
        seconds = number(f"{made['duration_s']:.1f}")
        told = [counted(made["stretches"], "reel.made", file=made["file"], seconds=seconds)]
        told += _tell_left_out((each["session"], each["why"]) for each in made["left_out"])
        return "\n".join(told)

    def refresh(self) -> None:
        """Nothing of it changes."""
