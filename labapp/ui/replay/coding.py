"""Coding a session: from a key to a mark that is saved and drawn.

The head of a coding: who codes, what is hidden, how far it is, and whether it is saved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from labapp.base.errors import LabappError
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import Code, Codebook, Outdated, Tier, find_outdated_marks
from labapp.coding.annotations.codebook_edit import with_code
from labapp.coding.annotations.ledger import new_id
from labapp.coding.annotations.model import Mark, Unit
from labapp.coding.annotations.texts import correct_text
from labapp.session.replay.lanes import Lane
from labapp.ui import theme, timers
from labapp.ui.language import N_all, counted, number, tr
from labapp.ui.moderator import bits
from labapp.ui.replay.coding_files import CodingFiles
from labapp.ui.replay.coding_state import (
    MS,
    OPEN_NS,
    CodingRequest,
    CodingState,
    MarkIndex,
    Segmenting,
    code_name,
)
from labapp.ui.replay.transport import Chip
from labapp.ui.widgets.controls import Button

if TYPE_CHECKING:
    from labapp.coding.annotations.reliability.results import SoFar


LOOK_MS = 1000
"""So often it is seen whether others wrote words or units."""
HEARD_NS = 300 * MS
"""A unit counts as heard when no more than this of it is left."""


class Coding(CodingState):
    """Gives codes and takes them back; the window asks it first for every key."""

    def __init__(
        self, files: CodingFiles, lanes: Iterable[Lane] = (), parent: QObject | None = None
    ) -> None:
        super().__init__(files, lanes, parent)
        self._last: list[str] = []
        self.segmenting = Segmenting(self)
        self.agreement = files.agreement()
        self._saved = timers.make_repeating_timer(self, self._look_saved, 100)
        self._look = timers.make_repeating_timer(self, self.look, LOOK_MS)
        self._look.start()
        self._told_of_words = False

    def press(self, character: str) -> bool:
        """A letter or digit: the code of the active tier, or else of the only tier that has it."""
        key = character.casefold()
        if key.isdigit() and self.active.values:
            return self._give_value(int(key))
        code = self.codebook.by_key(self.tier, key)
        if code is None:
            tiers = [tier.name for tier in self.codebook.tiers]
            codes = [code for code in (self.codebook.by_key(t, key) for t in tiers) if code]
            code = codes[0] if len(codes) == 1 else None
        if code is None:
            text = tr("coding.no_code_of_key", tier=self.active.title, key=key)
            self.said.emit(text)
            return False
        return self.give(code.id)

    def release(self, character: str) -> None:
        """A key is no longer held: a span that holds while it is ends."""
        code = self.codebook.by_key(self.tier, character.casefold())
        if self.settings.hold and code is not None and code.id in self.open_spans():
            self.give(code.id)

    # --- giving codes -----------------------------------------------------------------------------

    def give(self, code_id: str) -> bool:
        """Give a code to the current unit or at the playhead, end its span, or take it back."""
        code = self.codebook.code(code_id)
        if code is None or code.retired or not self._may_code():
            return False
        tier = self.codebook.tier(code.tier)
        assert tier is not None
        self.focused = code.id
        if tier.on == "spans":
            return self._give_span(code)
        return self._give_unit(code, tier)

    def _give_unit(self, code: Code, tier: Tier, value: int | None = None) -> bool:
        unit = self.current
        if unit is None or not self.files.frozen:
            self.said.emit(self._why_no_unit(unit))
            return False
        own = [mark for mark in self.marks.of_unit(unit.id) if mark.tier == tier.name]
        same = next((mark for mark in own if mark.code == code.id), None)
        current = same is not None and same.codebook == self.codebook.sha256
        if same is not None and current and value is None:
            return self._remove(same.id)
        replaced = same or (own[0] if own and tier.exclusive else None)
        mark = self._mark(code, unit.t0_ns, unit.t1_ns, unit.id, value)
        if replaced is not None:
            memo = replaced.memo if same is not None else ""
            mark = replace(mark, id=replaced.id, memo=memo)
        heard = self._reached_ns >= unit.t1_ns - HEARD_NS
        given = self._put(mark)
        if given and tier.exclusive and self.settings.advance and heard and self.mode == "code":
            self._advance()
        return given

    def _advance(self) -> None:
        """Go to the next unit of the participant."""
        units = [unit for unit in self.units if self._in_queue(unit)]
        here = next((i for i, unit in enumerate(units) if unit.id == self._current), -1)
        later = (unit for unit in units[here + 1 :] if unit.speaker == "participant")
        if (following := next(later, None)) is not None:
            self.go_to(following.id)
            self._advanced_to = following.id

    def _why_no_unit(self, unit: Unit | None) -> str:
        if not self.units:
            return tr("coding.no_units")
        if unit is None:
            return tr("coding.no_unit")
        return tr("coding.unfrozen")

    def _give_value(self, value: int) -> bool:
        tier = self.active
        if value not in tier.values:
            values = ", ".join(map(str, tier.values))
            self.said.emit(tr("coding.tier_takes", tier=tier.title, values=values))
            return False
        codes = self.codebook.given(tier.name)
        own = self.marks.of_unit(self._current or "")
        code_id = next((mark.code for mark in own[::-1] if mark.tier == tier.name), "")
        if not code_id and len(codes) == 1:
            code_id = codes[0].id
        code = self.codebook.code(code_id)
        if code is None or tier.on != "units":
            self.said.emit(tr("coding.code_before_value"))
            return False
        if not self._may_code():
            return False
        self.focused = code.id
        return self._give_unit(code, tier, value)

    def _give_span(self, code: Code) -> bool:
        now = max(0, self.now_ns())
        if code.kind == "point":
            return self._put(self._mark(code, now, now))
        begun = self.open_spans().get(code.id)
        if begun is None:
            tier = self.codebook.tier(code.tier)
            for other in list(self.open_spans().values()):
                if tier is not None and tier.exclusive and other.tier == code.tier:
                    self._end_span(other, now)
            return self._put(self._mark(code, now, now + OPEN_NS))
        return self._end_span(begun, now)

    def _end_span(self, begun: Mark, now: int) -> bool:
        t0, t1 = sorted((begun.t0_ns, now))
        if t1 - t0 <= OPEN_NS:
            return self._remove(begun.id)
        return self._put(replace(begun, t0_ns=t0, t1_ns=t1))

    def _mark(
        self, code: Code, t0_ns: int, t1_ns: int, unit: str | None = None, value: int | None = None
    ) -> Mark:
        return Mark(
            new_id(),
            self.request.rater,
            code.tier,
            code.id,
            t0_ns,
            t1_ns,
            unit,
            value,
            "",
            self.codebook.sha256,
            self.request.round,
            self.request.blind,
        )

    def _may_code(self) -> bool:
        if self.status == "draft":
            return True
        text = tr("coding.locked") if self.status == "locked" else tr("coding.done_already")
        self.said.emit(text)
        return False

    def _put(self, mark: Mark) -> bool:
        try:
            file = self.files.marks_file
            gone = bool(file.gone())
            stored = file.put(mark)
        except LabappError as error:
            self.problem.emit(error)
            return False
        self._last.append(mark.id)
        tier = self.codebook.tier(mark.tier)
        if gone or (tier is not None and tier.exclusive and tier.on == "spans"):
            touched = self.marks.become(self.files.own)  # others gave way to it
        else:
            touched = self.marks.put(stored)
        self.drawn("marks", touched)
        return True

    def _remove(self, mark_id: str) -> bool:
        if not self.attempt(lambda: self.files.marks_file.remove(mark_id)):
            return False
        self.drawn("marks", self.marks.remove(mark_id))
        return True

    def drawn(self, which: str, units: frozenset[str]) -> None:
        """Something was saved: what shows it is drawn anew."""
        if which == "units":
            self._set_units(self.files.units)
            self.units_changed.emit()
        elif units:
            self.rows_changed.emit(units)
        if which == "marks":
            self.marks_changed.emit()
        self.state_changed.emit()
        self._saved.start()

    def _look_saved(self) -> None:
        if self.files.problem:
            self.said.emit(tr("coding.unsaved", why=self.files.problem))
        if self.files.saved:
            self._saved.stop()
            self.agreement = self.files.agreement()
            self.attempt(self.files.rest)
            self.state_changed.emit()

    # --- what others write meanwhile --------------------------------------------------------------

    def look(self) -> None:
        """Show words and units that somebody else wrote since, as a recogniser at work does."""
        before, frozen = dict(self.files.texts), self.files.frozen
        try:
            if not self.files.look():
                return
        except LabappError as error:
            self.problem.emit(error)
            return
        if (self.files.units, self.files.frozen) != (self.units, frozen):
            self.refresh()
            self.said.emit(tr("coding.units_changed"))
        texts = self.files.texts
        units = {
            unit for unit in before.keys() | texts.keys() if before.get(unit) != texts.get(unit)
        }
        if not units:
            return
        self.rows_changed.emit(frozenset(units))
        if not self._told_of_words:
            self._told_of_words = True
            self.said.emit(tr("coding.words_coming"))

    def take_last(self) -> None:
        """Take back the code that was given last, of those that are still there."""
        if not self._may_code():
            return
        while self._last and self._last[-1] not in self.marks:
            self._last.pop()
        own = [mark.id for mark in self.marks.of_unit(self._current or "")]
        last = self._last.pop() if self._last else (own[-1] if own else "")
        if not last:
            self.said.emit(tr("coding.nothing_to_take"))
            return
        self._remove(last)

    # --- undo -------------------------------------------------------------------------------------

    def undo(self) -> None:
        """Take back what was done last, of marks, units and words, also in another window."""
        self._turn("undo")

    def redo(self) -> None:
        """Do again what was taken back last."""
        self._turn("redo")

    def _turn(self, how: Literal["undo", "redo"]) -> None:
        try:
            which, turned = self.files.turn(how)
        except LabappError as error:
            self.problem.emit(error)
            return
        self._saved.start()  # words that were looked at are let go again
        if which is None:
            self.said.emit(
                tr("coding.nothing_to_undo") if how == "undo" else tr("coding.nothing_to_redo")
            )
            return
        if which == "marks" and not self._may_code():
            return
        if not turned:
            self.said.emit(tr("coding.words_of_other"))
        units = frozenset(unit.id for unit in self.units) if which == "texts" else frozenset()
        if which == "marks":
            units = self.marks.become(self.files.own)
        self.drawn(which, units)

    # --- memos, status, others --------------------------------------------------------------------

    def memo_mark(self) -> Mark | None:
        """The mark that a memo is about: the one given last, where coding went on by itself since;
        else the last one of the current unit, or at all."""
        last = next((m for m in map(self.marks.get, self._last[::-1]) if m is not None), None)
        if last is not None and self._advanced_to == self._current:
            return last
        own = self.marks.of_unit(self._current or "")
        here = [mark for mark in own if mark.tier == self.tier] or own
        return here[-1] if here else last

    def set_memo(self, mark_id: str, text: str) -> bool:
        mark = self.marks.get(mark_id)
        return mark is not None and self._may_code() and self._put(replace(mark, memo=text))

    def memo_of(self, about: str) -> str:
        """The remark on `session`, or on a code: `code:ID`."""
        return self.files.memos.get(about, "")

    def set_memo_of(self, about: str, text: str) -> bool:
        """Write a remark on the session or on a code."""
        if not self._may_code():
            return False
        if not self.attempt(lambda: self.files.marks_file.put_memo(about, text)):
            return False
        self.drawn("marks", frozenset())
        return True

    def add_code(self, name: str) -> Code:
        """Add a code to the active tier; from here on codes are given by the new version of the
        codebook. Raises LabappError."""
        made, code_id = with_code(self.study, self.codebook, self.tier, name)
        self.use(made)
        code = made.code(code_id)
        assert code is not None
        self.focus(code.id)
        key = code.key.upper()
        self.said.emit(tr("coding.key_taken", code=code.name, key=key or "/"))
        return code

    @property
    def study(self) -> Path:
        """The folder of the session's study."""
        return self.files.session.absolute().parent

    def use(self, codebook: Codebook) -> None:
        """Go on by another version of the codebook; codes that were renamed or merged follow.
        Raises LabappError."""
        self.files.use(codebook)
        self.refresh()
        self.follow_codebook()

    def follow_codebook(self) -> None:
        """Let the own marks follow codes that were renamed or merged, while the coding is not
        done; the file says of each that it followed. One undo takes it back."""
        if self.files.marks is None or self.status != "draft":
            return
        book = self.codebook
        put, removed, names = [], [], {}
        for mark in self.marks.all:
            code = book.code(mark.code)
            following = book.following(mark.code)
            if (code is not None and not code.retired) or len(following) != 1:
                continue
            into = book.code(following[0])
            if into is None or into.tier != mark.tier:
                continue
            names[mark.code] = into.name
            own = self.marks.of_unit(mark.unit) if mark.unit is not None else ()
            if any(other.code == into.id for other in own):
                removed.append(mark.id)
            else:
                put.append(replace(mark, code=into.id))
        if not (put or removed):
            return
        if self.attempt(lambda: self.files.marks_file.follow(put, removed)):
            self.drawn("marks", self.marks.become(self.files.own))
            codes = ", ".join(f"{old} → {new}" for old, new in names.items())
            self.said.emit(counted(len(put) + len(removed), "coding.followed", codes=codes))

    def find_outdated(self) -> tuple[Outdated, ...]:
        """The own marks that were given under an older definition, or to units that are gone."""
        try:
            versions = codebooks.versions_of(self.study)
        except LabappError as error:
            self.problem.emit(error)
            return ()
        return find_outdated_marks(self.marks.all, self.codebook, versions, self.units)

    def disagreements(self) -> list[str]:
        """The ids of units that another rater who is done coded otherwise, in order of time."""
        tiers = {tier.name for tier in self.codebook.tiers if tier.on == "units"}

        def collect_codes(marks: Iterable[Mark]) -> set[tuple[str, str, int | None]]:
            return {(mark.tier, mark.code, mark.value) for mark in marks if mark.tier in tiers}

        differing = set()
        for rater in self.others.values():
            theirs = MarkIndex(rater.marks)
            for unit in self.units:
                codes = collect_codes(theirs.of_unit(unit.id))
                if codes and codes != collect_codes(self.marks.of_unit(unit.id)):
                    differing.add(unit.id)
        return [unit.id for unit in self.units if unit.id in differing]

    def set_text(self, unit: str, words: str) -> bool:
        """Correct the words of a unit; those that stay as they are were read by a person."""
        self.look()  # a recogniser may have written them since
        before = self.text(unit)
        if words == ("" if before is None else before.text):
            if before is None or before.reviewed:
                return True
            text = replace(before, reviewed=True)
        else:
            text = correct_text(before, unit, words, self.request.rater)
        if not self.attempt(lambda: self.files.put_texts(text)):
            return False
        self.drawn("texts", frozenset({unit}))
        return True

    def missing(self) -> str:
        """What is not coded yet, in words; empty if nothing is."""
        spans = self.open_spans()
        tiers = [t for t in self.codebook.tiers if t.on == "units" and not t.optional]
        own = self.to_code()
        parts = []
        for tier in tiers:
            without = sum(not self.marks.coded(unit.id, tier.name) for unit in own)
            if without:
                parts.append(counted(without, "coding.units_uncoded", tier=tier.title))
        if spans:
            names = ", ".join(code_name(self.codebook, code) for code in spans)
            parts.append(tr("coding.still_open", codes=names))
        return " ".join(parts)

    def set_done(self, done: bool) -> bool:
        """Say that the own coding is finished, or go on with it."""
        if self.status == "locked":
            return self._may_code()
        if not self.attempt(lambda: self.files.marks_file.set_status("done" if done else "draft")):
            return False
        self._show_others()
        self.rows_changed.emit(frozenset(unit.id for unit in self.units))
        self.marks_changed.emit()
        self.state_changed.emit()
        return True

    def redact(self, t0_ns: int, t1_ns: int) -> bool:
        """Let neither sound nor words of a stretch leave the lab; says whether it is done."""
        try:
            report = self.files.redact(t0_ns, t1_ns)
        except LabappError as error:
            self.problem.emit(error)
            return False
        finally:
            self.refresh()
        self.redacted.emit(report)
        return True

    def leave_segmenting(self) -> None:
        """Let keys give codes again."""
        self.segmenting.leave()
        self.mode = "code"
        self.refresh()

    def close(self) -> None:
        """Save everything and let others open the files."""
        self._saved.stop()
        self._look.stop()
        self.attempt(self.files.close)


def open_coding(session: Path, request: CodingRequest, lanes: Iterable[Lane] = ()) -> Coding:
    """Open a session's annotations for a rater. Raises LabappError."""
    return Coding(CodingFiles.open(session, request), lanes)


ROUND_NAMES = N_all("coding.round", "training", "independent", "reconciled")
BLINDING_NAMES = N_all("coding.hides", "names", "outcomes", "future", "screen")


class CodingBar(QWidget):
    """Signals
    -------
    done_pressed() : the rater wants to be done, or to go on.
    find_pressed() : something is to be searched for.
    exchange_pressed() : something is to go out to other tools, or to come in.
    codebook_pressed() : the codebook is to be changed.
    """

    done_pressed = Signal()
    find_pressed = Signal()
    exchange_pressed = Signal()
    codebook_pressed = Signal()

    def __init__(self, coding: Coding) -> None:
        super().__init__()
        self._coding = coding
        self.rater, self.hidden, self.progress, self.mode, self.agreement = (
            Chip("") for _ in range(5)
        )
        self.codebook = Button("", "chip", pressed=self.codebook_pressed)
        self.saved = bits.label(role="caption")
        self.search = Button(tr("button.find"), "chip", pressed=self.find_pressed)
        self.exchange = Button(tr("button.exchange"), "chip", pressed=self.exchange_pressed)
        self.done = Button(tr("coding.finish_ask"), "compact", pressed=self.done_pressed)
        row = bits.row(self, theme.SPACE_S)
        chips = (self.rater, self.mode, self.hidden, self.progress, self.agreement)
        for chip in chips:
            row.addWidget(chip)
        row.addWidget(self.done)  # not in the corner, where the window is closed
        row.addSpacing(theme.SPACE_M)
        row.addStretch(1)
        for widget in (self.saved, self.search, self.codebook, self.exchange):
            row.addWidget(widget)
        self.setFixedHeight(theme.TARGET_HEIGHT)
        coding.state_changed.connect(self.show_state)
        coding.units_changed.connect(self.show_state)
        self.show_state()

    def set_narrow(self, narrow: bool) -> None:
        """Leave out what can be done without where there is little room."""
        self.search.setVisible(not narrow)

    def show_state(self) -> None:
        coding = self._coding
        request = coding.request
        self.rater.set_full(f"{request.rater} · {tr(ROUND_NAMES[request.round])}")
        self.hidden.set_full(hidden_text(coding.blind))
        names = [tr(text) for name, text in BLINDING_NAMES.items() if name in coding.blind]
        self.hidden.setToolTip(tr("coding.hidden", what=", ".join(names)) if names else "")
        bits.set_text(self.codebook, tr("coding.codebook_button", n=coding.codebook.version))
        self.codebook.setToolTip(f"{coding.codebook.title} · {coding.codebook.sha256[:12]}")
        coded, of = coding.progress()
        self.progress.set_full(tr("coding.units_of", n=coded, of=of))
        self.mode.set_full(self._mode())
        self.mode.setVisible(bool(self.mode.full()))
        self._show_agreement()
        bits.set_text(self.saved, self._describe_saved())
        bits.set_property(self.saved, "tone", "alarm" if coding.files.problem else "")
        draft = coding.status == "draft"
        self.done.setText(tr("coding.finish_ask") if draft else tr("coding.go_on"))
        self.done.setVisible(coding.status != "locked" and coding.files.marks is not None)

    def _mode(self) -> str:
        coding = self._coding
        if coding.mode == "segment":
            begun = coding.segmenting.begun_ns is not None
            return tr("coding.unit_begun") if begun else tr("coding.segmenting")
        if coding.queue is not None and not coding.recoding:
            return tr("coding.assigned_alone")
        if coding.queue is not None:
            return counted(len(coding.queue), "coding.units_to_recode")
        if n := len(coding.files.segmentation.proposals):
            return counted(n, "coding.changes_proposed")
        return ""

    def _show_agreement(self) -> None:
        """Of the active tier; of every tier beside it."""
        coding = self._coding
        here = next((each for each in coding.agreement if each.tier.name == coding.tier), None)
        self.agreement.setVisible(here is not None)
        if here is not None:
            self.agreement.set_full(tr("coding.agreement", value=_value(here)))
        lines = [tr("coding.training_note")]
        lines += [
            tr(
                "coding.agreement_tip",
                tier=each.tier.title,
                measure=each.result.measure,
                value=_value(each),
                n=each.result.n_comparable,
                raters=", ".join(each.raters),
            )
            + (f" ({each.result.reason})" if each.result.reason else "")
            for each in coding.agreement
        ]
        self.agreement.setToolTip("\n".join(lines))

    def _describe_saved(self) -> str:
        coding = self._coding
        if coding.files.problem:
            return tr("coding.state.unsaved")
        state = {"draft": "", "done": tr("outcome.done"), "locked": tr("coding.state.locked")}[
            coding.status
        ]
        saved = tr("coding.state.saved") if coding.files.saved else tr("coding.state.saving")
        return " · ".join(filter(None, (state, saved)))


def hidden_text(blind: frozenset[str]) -> str:
    """What a rater is not shown, as a chip: the screen itself may tell the condition, so that it is
    not called blind before the screen is hidden, too."""
    if not blind:
        return tr("coding.blind.nothing")
    if "screen" in blind:
        return tr("coding.blind.screen")
    return tr("coding.blind.names") if "names" in blind else tr("coding.blind.partly")


def _value(agreement: SoFar) -> str:
    value = agreement.result.value
    return "–" if value is None else number(f"{value:.2f}")
