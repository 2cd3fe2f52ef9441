"""The window in which a codebook is made by clicking: codes are added, renamed, merged, coloured,
given keys, retired and deleted. It opens from the coding window and from the *Coding* page.

What is changed is kept in the window until it is saved, as the next version of the same file that
commands read and write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor
from PySide6.QtWidgets import QLineEdit

from labapp.base.errors import LabappError
from labapp.coding.annotations.codebook import (
    COLOURS,
    Code,
    codebooks_of,
    differences,
    withhold_words,
)
from labapp.coding.annotations.codebook_edit import CodebookDraft, count_uses, make_blank
from labapp.coding.annotations.simulated import leave_codebooks, read_shipped_codebooks
from labapp.coding.exchange import incoming
from labapp.ui.language import N_, N_all, counted, tr, translate_message
from labapp.ui.moderator import bits
from labapp.ui.moderator.bits import Combo
from labapp.ui.moderator.forms import TableForm
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button

LONGEST = 2000
COMBO_PX = 240
KINDS = N_all("codebook.kind", "one", "several", "spans")
"""What codes of a new group are given to."""
COLOUR_NAMES = N_all(
    "codebook.colour",
    *("blue", "vermilion", "green", "pink", "orange", "light_blue"),
    *("wine", "dark_green", "indigo", "purple", "olive", "teal"),
)
"""What the colours of codebooks are called, in the order of `COLOURS`."""
BLANK, OTHER = "", "file"
"""In the choice of what a new codebook begins with, beside the shipped ones."""


class CodebookEditor(TableForm):
    """A codebook of a study, to be changed.

    Parameters
    ----------
    study : the folder of the study's sessions.
    wanted : the id of the codebook; empty for the first one, or for a new one where none is there.

    Signals
    -------
    saved(Codebook) : a next version is in the file.
    """

    saved = Signal(object)

    def __init__(self, palette: Palette, study: Path, wanted: str = "") -> None:
        columns = (
            N_("codebook.column.group"),
            N_("codebook.column.code"),
            N_("codebook.column.key"),
            N_("codebook.column.uses"),
        )
        title = tr("codebook.title", study=study.name)
        super().__init__(palette, title, tr("codebook.about"), columns, (1,))
        self._study, self._wanted = study, wanted
        self.draft: CodebookDraft | None = None
        self._uses: Counter[str] | None = None
        self._filling = self._leaving = False
        self.go.setText(tr("codebook.save"))
        self.go.show()
        self._make_fields(palette)
        self._connect()
        self._open()
        self.look()

    def _make_fields(self, palette: Palette) -> None:
        self.begin = Combo(palette, tr("codebook.begin_with"))
        shipped = [(book.title, book.id) for book in read_shipped_codebooks()]
        first = [(tr("codebook.blank"), BLANK), (tr("codebook.of_file"), OTHER)]
        self.begin.set_choices([*shipped, *first], shipped[0][1])
        self.start = Button(tr("codebook.start"), "compact")
        self.new_name = bits.line_edit(tr("codebook.new_code"), tr("codebook.new_code"), LONGEST)
        self.group = Combo(palette, tr("codebook.column.group"))
        self.add_code = Button(tr("codebook.add"), "compact")
        self.new_group = bits.line_edit(tr("codebook.new_group"), tr("codebook.new_group"), LONGEST)
        self.kind = Combo(palette, tr("codebook.kind"))
        self.kind.set_choices([(tr(text), name) for name, text in KINDS.items()], "one")
        for combo in (self.group, self.kind):
            combo.setMinimumWidth(COMBO_PX)
        self.name, self.when, self.not_ = (
            bits.line_edit(tr(text), longest=LONGEST)
            for text in ("codebook.name", "codebook.when", "codebook.not")
        )
        self.key = bits.line_edit(tr("codebook.column.key"), longest=1)
        self.key.setMaximumWidth(56)
        self.colour = Combo(palette, tr("codebook.colour"))
        self.into = Combo(palette, tr("codebook.merge_into"))
        self.merge = Button(tr("codebook.merge"), "compact")
        self.retire = Button(tr("codebook.retire"), "compact")
        self.delete = Button(tr("codebook.delete"), "compact")
        self.export = Button(tr("codebook.export"), "compact")
        self.withhold = Button(tr("codebook.withhold"), "compact")
        self.finish(self.buttons_line(self.begin, self.start))
        self.starting = self._fields[-1]
        self.add(tr("codebook.new_code"), self.new_name, self.group, self.add_code)
        self.add(tr("codebook.new_group"), self.new_group, self.kind)
        self.add(tr("codebook.name"), self.name)
        self.add(tr("codebook.key_colour"), self.key, self.colour)
        self.add(tr("codebook.when"), self.when)
        self.add(tr("codebook.not"), self.not_)
        self.add(tr("codebook.merge_into"), self.into, self.merge)
        self.add_wide(self.buttons_line(self.retire, self.delete, self.export, self.withhold))

    def _connect(self) -> None:
        self.start.clicked.connect(self._begin)
        self.add_code.clicked.connect(self._add)
        self.new_name.returnPressed.connect(self._add)
        for field, key in (
            (self.name, "name"),
            (self.key, "key"),
            (self.when, "when"),
            (self.not_, "not"),
        ):
            field.editingFinished.connect(lambda field=field, key=key: self._set(key, field))
        self.colour.activated.connect(
            lambda at: self._change(lambda d, c: d.set_field(c.id, "colour", COLOURS[at]))
        )
        self.merge.clicked.connect(self._ask_merge)
        self.retire.clicked.connect(self._retire)
        self.export.clicked.connect(self._export)
        self.withhold.clicked.connect(
            lambda: self.ask(
                tr("codebook.withhold_question"), tr("codebook.withhold"), self._withhold
            )
        )
        self.delete.clicked.connect(lambda: self._change(lambda draft, code: draft.remove(code.id)))

    # --- what there is ----------------------------------------------------------------------------

    def _open(self) -> None:
        try:
            books = codebooks_of(self._study)
            book = next((book for book in books if book.id == self._wanted), None)
            if book is None and books and not self._wanted:
                book = books[0]
            self.draft = None if book is None else CodebookDraft(self._study, book)
        except LabappError as error:
            self.show_error(error)
        if self.draft is None and not self.state.text():
            self.set_state(tr("codebook.none"))
        self._show()
        self.background.begin(lambda: count_uses(self._study), self._count, lambda error: None)

    def _count(self, uses: Counter[str]) -> None:
        self._uses = uses
        self._show()

    @property
    def codes(self) -> tuple[Code, ...]:
        return () if self.draft is None else self.draft.codebook.codes

    @property
    def code(self) -> Code | None:
        place = self.selected()
        return None if place is None or place >= len(self.codes) else self.codes[place]

    def _show(self) -> None:
        book = None if self.draft is None else self.draft.codebook
        self.starting.setVisible(book is None)
        rows = []
        for code in self.codes:
            tier = None if book is None else book.tier(code.tier)
            name = tr("codebook.retired", code=code.name) if code.retired else code.name
            uses = "…" if self._uses is None else str(self._uses[code.id])
            title = tier.title if tier else code.tier
            rows.append((title, name, code.key.upper(), uses, code.colour))
        self.set_rows(rows)
        if book is not None:
            choices = [(tier.title, tier.name) for tier in book.tiers]
            choices.append((tr("codebook.in_new_group"), ""))
            current = self.group.currentData()
            known = [name for _, name in choices]
            self.group.set_choices(choices, current if current in known else known[0])
        self.look()

    def look(self) -> None:
        code, draft = self.code, self.draft
        here = code is not None and not self._busy
        for widget in (self.name, self.key, self.colour, self.when, self.not_, self.retire):
            widget.setEnabled(here)
        for widget in (self.new_name, self.group, self.add_code, self.new_group, self.kind):
            widget.setEnabled(draft is not None)
        self.go.setEnabled(draft is not None and draft.changed)
        self.export.setEnabled(draft is not None)
        unused = code is not None and self._uses is not None and not self._uses[code.id]
        self.delete.setEnabled(here and unused and len(self.codes) > 1)
        self.delete.setToolTip("" if unused else tr("codebook.delete_tip"))
        others = [
            (other.name, other.id)
            for other in self.codes
            if code is not None
            and (other.tier, other.kind) == (code.tier, code.kind)
            and other.id != code.id
            and not other.retired
        ]
        current = self.into.currentData()
        known = [name for _, name in others]
        self.into.set_choices(others, current if current in known else next(iter(known), ""))
        for widget in (self.into, self.merge):
            widget.setEnabled(here and bool(others))
        self._fill(code)

    def _fill(self, code: Code | None) -> None:
        if code is None:
            return
        texts = ((self.name, code.name), (self.key, code.key.upper()),
                 (self.when, code.when), (self.not_, code.not_))  # fmt: skip
        self._filling = True
        for field, text in texts:
            if not (field.hasFocus() and field.isModified()):
                field.setText(text)
        colours = [(tr(name), c) for name, c in zip(COLOUR_NAMES.values(), COLOURS, strict=True)]
        if code.colour not in COLOURS:
            colours.append((code.colour, code.colour))
        self.colour.set_choices(colours, code.colour)
        for place, (_, colour) in enumerate(colours):
            self.colour.setItemData(place, QColor(colour), Qt.ItemDataRole.DecorationRole)
        asked = N_("codebook.use_again") if code.retired else N_("codebook.retire")
        self.retire.setText(tr(asked))
        self._filling = False

    # --- what is changed --------------------------------------------------------------------------

    def _change(self, change: Callable[[CodebookDraft, Code], object]) -> bool:
        """Change something of the code that is selected; says whether it was done."""
        draft, code = self.draft, self.code
        if draft is None or code is None or self._filling:
            return False
        try:
            change(draft, code)
        except LabappError as error:
            self.show_error(error)
            return False
        self.set_state(tr("codebook.unsaved"))
        self._show()
        return True

    def _set(self, key: str, field: QLineEdit) -> None:
        if not field.isModified() or self.code is None:
            return
        text = " ".join(field.text().split())
        field.setModified(False)
        text = text.casefold() if key == "key" else text
        if key == "name" and not text:
            self.set_state(tr("codebook.name_needed"), "warn")
            self._fill(self.code)
            return
        if not self._change(lambda draft, code: draft.set_field(code.id, key, text)):
            self._fill(self.code)

    def _add(self) -> None:
        draft, name = self.draft, " ".join(self.new_name.text().split())
        if draft is None:
            return
        if not name:
            self.set_state(tr("codebook.name_needed"), "warn")
            self.new_name.setFocus()
            return
        group, title = self.group.currentData(), " ".join(self.new_group.text().split())
        if not group and not title:
            self.set_state(tr("codebook.group_needed"), "warn")
            self.new_group.setFocus()
            return
        try:
            if not group:
                kind = self.kind.currentData()
                group = draft.add_tier(title, exclusive=kind == "one", spans=kind == "spans")
            draft.add_code(group, name)
        except LabappError as error:
            self.show_error(error)
            return
        self.new_name.clear()
        self.new_group.clear()
        self.set_state(tr("codebook.unsaved"))
        self._show()
        self.group.setCurrentIndex(max(0, self.group.findData(group)))
        self.table.selectRow(len(self.codes) - 1)
        self.new_name.setFocus()

    def _ask_merge(self) -> None:
        code, into = self.code, self.into.currentData()
        other = None if self.draft is None else self.draft.codebook.code(into)
        if code is None or other is None:
            return
        uses = 0 if self._uses is None else self._uses[code.id]
        question = tr("codebook.merge_question", code=code.name, into=other.name,
                      uses=counted(uses, "codebook.uses"))  # fmt: skip
        self.ask(question, tr("codebook.merge"),
                 lambda: self._change(lambda draft, c: draft.merge(c.id, other.id)))  # fmt: skip

    def _retire(self) -> None:
        why = tr("codebook.retired_why")
        self._change(
            lambda draft, code: draft.set_field(code.id, "retired", "" if code.retired else why)
        )

    def _export(self) -> None:
        draft = self.draft
        if draft is None:
            return
        name = f"{draft.before.id}.csv"
        path = bits.ask_new_path(self, tr("codebook.export_title"), name)
        if path is None:
            return
        kind = "qdc" if path.suffix.casefold() == ".qdc" else "csv"
        try:
            lost = incoming.CODEBOOK_FORMATS[kind](draft.before, path)
        except LabappError as error:
            self.show_error(error)
            return
        told = [tr("codebook.exported", path=path), *map(translate_message, lost)]
        self.set_state("\n".join(told), "good")

    def _withhold(self) -> None:
        try:
            changed = withhold_words(self._study)
        except LabappError as error:
            self.show_error(error)
            return
        self.set_state(counted(len(changed), "codebook.withheld"), "good")

    # --- beginning and saving ---------------------------------------------------------------------

    def _begin(self) -> None:
        wanted = self.begin.currentData()
        try:
            if wanted == OTHER:
                path = bits.ask_path(self, tr("codebook.file_title"), "REFI-QDA (*.qdc)")
                if not path:
                    return
                incoming.write_codebook(
                    self._study, incoming.read_codebook(Path(path), self._study)
                )
            elif wanted == BLANK:
                make_blank(self._study, tr("codebook.first_group"), tr("codebook.first_code"))
            else:
                leave_codebooks(self._study, (wanted,))
        except LabappError as error:
            self.show_error(error)
            return
        except OSError as error:
            self.set_state(tr("coding.unchanged", path=self._study, why=error.strerror), "alarm")
            return
        self.set_state("")
        self._open()
        if self.draft is not None:
            self.saved.emit(self.draft.codebook)
            self.set_state(tr("codebook.made", path=self._study), "good")

    def send(self) -> None:
        """Save what was changed, as the next version."""
        focused = self.focusWidget()
        if isinstance(focused, QLineEdit):
            focused.editingFinished.emit()
        draft = self.draft
        if draft is None or not draft.changed:
            return
        before = draft.before
        try:
            book = draft.save()
        except LabappError as error:
            self.show_error(error)
            return
        changes = counted(len(differences(before, book)), "codebook.changes")
        self.set_state(tr("codebook.saved", n=book.version, changes=changes), "good")
        self._show()
        self.saved.emit(book)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.draft is not None and self.draft.changed and not self._leaving:
            event.ignore()
            self.ask(tr("codebook.leave_question"), tr("codebook.leave"), self.close_without_asking)
            return
        super().closeEvent(event)

    def close_without_asking(self) -> None:
        """Close the window; what was not saved is gone."""
        self._leaving = True
        self.close()
