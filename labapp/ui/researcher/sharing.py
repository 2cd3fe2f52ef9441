"""Windows for what is rarely done with a study: a deposit for a repository, and answers of the
lab's own survey tool that are merged.

Each is a form whose fields are the options of a command, `labapp deposit` and `labapp participants
merge`. It stays open until it is closed, so that what was typed can be corrected and tried again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QLineEdit, QPlainTextEdit

from labapp.ui.language import N_, tr
from labapp.ui.moderator import bits
from labapp.ui.moderator.bits import Combo
from labapp.ui.moderator.forms import CommandForm
from labapp.ui.theme import Palette
from labapp.ui.widgets.controls import Button

CREATORS_PX = 72
LONGEST = 1000
LICENSES = (
    *("CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0"),
    *("ODC-By-1.0", "ODbL-1.0", "PDDL-1.0"),
)
"""What `labapp deposit` takes; its module loads what an export needs."""
LEFT_OUT = {
    "unknown": N_("sharing.leave_unknown"),
    "twice": N_("sharing.leave_twice"),
    "without-id": N_("sharing.leave_without_id"),
    "withdrawn": N_("sharing.leave_withdrawn"),
}
"""Rows that may be left out, by what `--leave-out` calls them."""


class DepositForm(CommandForm):
    """What `labapp deposit` asks for. sessions: the sessions of the deposit; study: their study."""

    def __init__(self, palette: Palette, sessions: Sequence[Path], study: str) -> None:
        title = tr("sharing.deposit_title", study=study)
        super().__init__(palette, title, tr("sharing.deposit_about"), tr("sharing.deposit_action"))
        self._sessions, self._study = tuple(sessions), study
        self.license = Combo(palette, tr("sharing.license"))
        none = tr("sharing.license_none")
        self.license.set_choices([(none, ""), *((name, name) for name in LICENSES)], "")
        self.creators = QPlainTextEdit()
        bits.limit(self.creators, LONGEST)
        self.creators.setTabChangesFocus(True)
        self.creators.setFixedHeight(CREATORS_PX)
        self.creators.setPlaceholderText(tr("sharing.creators_example"))
        self.title, self.keywords, self.doi = (
            bits.line_edit(tr(text), longest=LONGEST)
            for text in ("sharing.dataset_title", "sharing.keywords", "sharing.doi")
        )
        self.bundle = QCheckBox(tr("sharing.with_bids"))
        self.voices = QCheckBox(tr("sharing.with_voices"))
        self.voices.setEnabled(False)
        self.bundle.toggled.connect(self._with_bundle)
        self.add(tr("sharing.license"), self.license)
        self.add(tr("sharing.creators"), self.creators, hint=tr("sharing.creators_hint"))
        self.add(tr("sharing.dataset_title"), self.title)
        self.add(tr("sharing.keywords"), self.keywords)
        self.add(tr("sharing.doi"), self.doi)
        self.add_boxes(tr("sharing.also"), (self.bundle, self.voices))

    def _with_bundle(self, on: bool) -> None:
        self.voices.setEnabled(on)
        self.voices.setChecked(self.voices.isChecked() and on)

    def send(self) -> None:
        lacking = (
            (self.license, self.license.currentData(), N_("sharing.no_license")),
            (self.creators, self.creators.toPlainText().strip(), N_("sharing.no_creators")),
        )
        if self.asks_for(lacking):
            return
        title, name = tr("sharing.deposit_folder"), f"{self._study}-deposit"
        if path := bits.ask_new_path(self, title, name):
            self.requested.emit(self.arguments(path))

    def arguments(self, out: Path) -> list[str]:
        """The command that makes the deposit in a folder."""
        made = ["deposit", *map(str, self._sessions), "--out", str(out)]
        if license_ := self.license.currentData():
            made += ["--license", license_]
        for line in filter(str.strip, self.creators.toPlainText().splitlines()):
            made += ["--creator", line.strip()]
        for option, field in (("--title", self.title), ("--doi", self.doi)):
            if text := field.text().strip():
                made += [option, text]
        made += _each("--keyword", self.keywords)
        made += [
            option
            for option, box in (("--bundle", self.bundle), ("--with-audio", self.voices))
            if box.isChecked()
        ]
        return made


class MergeForm(CommandForm):
    """What `labapp participants merge` asks for. folder: of the study's sessions."""

    def __init__(self, palette: Palette, folder: Path) -> None:
        title = tr("sharing.merge_title", study=folder.name)
        super().__init__(palette, title, tr("sharing.merge_about"), tr("sharing.merge_action"))
        self._folder = folder
        self.file, self.by, self.survey, self.session, self.missing, self.share = (
            bits.line_edit(tr(text), longest=LONGEST)
            for text in (
                *("sharing.file", "sharing.by", "sharing.survey", "sharing.session"),
                *("sharing.missing", "sharing.shared"),
            )
        )
        self.choose = Button(tr("button.choose"), "compact", pressed=self._ask_file)
        self.survey.setText("survey")
        self.left_out = {name: QCheckBox(tr(text)) for name, text in LEFT_OUT.items()}
        self.replace_ = QCheckBox(tr("sharing.replace"))
        self.add(tr("sharing.file"), self.file, self.choose)
        self.add(tr("sharing.by"), self.by, hint=tr("sharing.by_hint"))
        self.add(tr("sharing.survey"), self.survey, hint=tr("sharing.survey_hint"))
        self.add(tr("sharing.session"), self.session, hint=tr("sharing.session_hint"))
        self.add(tr("sharing.missing"), self.missing, hint=tr("sharing.several_hint"))
        self.add(tr("sharing.shared"), self.share, hint=tr("sharing.shared_hint"))
        self.add_boxes(tr("sharing.leave_out"), tuple(self.left_out.values()))
        self.add_boxes("", (self.replace_,))

    def _ask_file(self) -> None:
        kinds = f"{tr('sharing.file_kinds')} (*.csv *.tsv *.txt *.xlsx *.sav)"
        if path := bits.ask_path(self, tr("sharing.file"), kinds):
            self.file.setText(path)

    def send(self) -> None:
        lacking = (
            (self.file, self.file.text().strip(), N_("sharing.no_file")),
            (self.by, self.by.text().strip(), N_("sharing.no_column")),
        )
        if not self.asks_for(lacking):
            self.requested.emit(self.arguments())

    def arguments(self) -> list[str]:
        """The command that merges the file."""
        made = ["participants", "merge", self.file.text().strip(), "--by", self.by.text().strip()]
        made += ["--study", str(self._folder), "--data", str(self._folder.parent)]
        for option, field in (("--survey", self.survey), ("--session", self.session)):
            if text := field.text().strip():
                made += [option, text]
        made += _each("--missing", self.missing) + _each("--share", self.share)
        for name, box in self.left_out.items():
            made += ["--leave-out", name] if box.isChecked() else []
        return [*made, *(["--replace"] if self.replace_.isChecked() else []), "--json"]


def _each(option: str, field: QLineEdit) -> list[str]:
    """An option for each of the texts that commas separate."""
    texts = filter(None, map(str.strip, field.text().split(",")))
    return [word for text in texts for word in (option, text)]
