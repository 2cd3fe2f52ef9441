"""The moderator's windows in other languages: every word can be translated, and is in German."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml
from babel.messages.catalog import Catalog
from PySide6.QtWidgets import QWidget

import labapp.ui
from labapp.base import messages
from labapp.base.errors import SetupError
from labapp.base.messages import Message, encode_message
from labapp.models import catalog as models_catalog
from labapp.record.events.lifecycle import AlarmRaised
from labapp.record.journal.decisions import Withdrawal
from labapp.session.withdrawal import WithdrawalReport
from labapp.study.loading import find
from labapp.tasks.judging.events import Judge, OpenDescription
from labapp.tasks.judging.plan import questions
from labapp.ui import language
from labapp.ui.language import (
    N_all,
    counted,
    number,
    phrases,
    speak,
    tr,
    translate_message,
    translate_phrase,
)
from labapp.ui.moderator import wording
from labapp.ui.moderator.console import ConsoleWindow
from labapp.ui.moderator.home import ErrorBanner, OwnItems
from labapp.ui.researcher.page import DATA_FORMATS
from labapp.ui.widgets.markdown import MarkdownView
from scripts import screens_moderator, screens_unmasking_console, words
from scripts.screens_single_dimension import answer
from tests.helpers.beside import put_beside
from tests.helpers.judging_studies import write_judging_study
from tests.helpers.languages import MARKED, mark, write_marked
from tests.helpers.rooms import skip_to
from tests.helpers.sample import EVERYTHING
from tests.helpers.single import write_single_study
from tests.ui.said import cut_in, said_in

UI = Path(labapp.ui.__file__).parent

Shots = Callable[[Path, str], Iterator[screens_moderator.Shot]]


def spoken_like(path: Path, study: str) -> Path:
    """A study with the language and the words of another one."""
    own, like = (yaml.safe_load(Path(each).read_text("utf-8")) for each in (path, study))
    own |= {key: like[key] for key in ("language", "title", "flags", "recording")}
    path.write_text(yaml.safe_dump(own, allow_unicode=True), "utf-8")
    words = Path(study).parent / "texts"
    if words.is_dir() and path.parent != words.parent:
        shutil.copytree(words, path.parent / "texts", dirs_exist_ok=True)
    return path


def single(folder: Path, study: str) -> Iterator[screens_moderator.Shot]:
    """The console in a single-dimension stage, in the language of the study."""
    path = spoken_like(write_single_study(Path(study).parent), study)
    with screens_moderator.desk_of(folder / "single", path) as desk:
        skip_to(desk.room, "stage-1")
        yield "question", desk.settled()
        answer(desk.room, right=False)
        yield "answer", desk.settled()


def judging(folder: Path, study: str) -> Iterator[screens_moderator.Shot]:
    """The console while explanations are judged, in the language of the study."""
    for name in ("heatmaps", "prototype-agreement", "prototype-distinction"):
        path = spoken_like(write_judging_study(Path(study).parent / name, name), study)
        with screens_moderator.desk_of(folder / name, path) as desk:
            skip_to(desk.room, "stage-1")
            yield f"{name} begun", desk.settled()
            part, photo = desk.runner.part, desk.runner.part.photos[0]
            for question in questions(part.task, photo):
                desk.runner.send(Judge(question.id, question.last, "mouse"))
            desk.runner.send(OpenDescription("method"))
            yield f"{name} answered", desk.settled()


def unmasking(folder: Path, study: str) -> Iterator[screens_moderator.Shot]:
    """The console and the home while pictures are unmasked, in the language of the study."""
    path = spoken_like(screens_unmasking_console.small(Path(study).parent / "unmasking"), study)
    yield from screens_unmasking_console.console(folder / "unmasking", path)
    yield from screens_unmasking_console.home(path, study)


WINDOWS: dict[str, Shots] = {
    "home": lambda folder, study: screens_moderator.home(study),
    "console": screens_moderator.console,
    "single": single,
    "judging": judging,
    "unmasking": unmasking,
}


ASKED = {"tr": 0, "N_": 0, "counted": 1}
"""Which argument of a function is the id of a sentence."""


@dataclass(frozen=True)
class Asked:
    """A sentence that the code asks for: by which function, with which values (None: the call does
    not tell), and where."""

    key: str
    name: str
    values: frozenset[str] | None
    where: str


@cache
def source(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def calls(path: Path) -> list[ast.Call]:
    """All calls in a module."""
    return [n for n in ast.walk(ast.parse(source(path))) if isinstance(n, ast.Call)]


def calling(folder: Path, *names: str) -> Iterator[tuple[Path, ast.Call]]:
    """The calls of functions with these names. A module that names none of them is not parsed: to
    parse all takes seconds."""
    named = re.compile(rf"\b({'|'.join(names)})\(")
    for path in sorted(folder.rglob("*.py")):
        for call in calls(path) if named.search(source(path)) else ():
            if getattr(call.func, "id", "") in names:
                yield path, call


def asked_together() -> Iterator[Asked]:
    """The sentences whose ids `N_all` makes of a group and names."""
    for folder in (UI, UI.parent / "tasks"):
        for path, call in calling(folder, "N_all"):
            given = (each for argument in call.args for each in ast.walk(argument))
            group, *names = (each.value for each in given if isinstance(each, ast.Constant))
            where = f"{path.relative_to(UI.parent)}, line {call.lineno}"
            for key in N_all(group, *names).values():
                yield Asked(key, "N_", None, where)


@cache
def asked() -> tuple[Asked, ...]:
    """All sentences that the windows' code names by their ids."""
    found = [*asked_together()]
    for path, call in (*calling(UI, *ASKED), *calling(UI.parent / "tasks", *ASKED)):
        name = call.func.id  # type: ignore[attr-defined]
        if len(call.args) > ASKED[name]:
            key = call.args[ASKED[name]]
            where = f"{path.relative_to(UI.parent)}, line {key.lineno}"
            assert not isinstance(key, ast.JoinedStr | ast.BinOp), f"{where}: not one id"
            given = [keyword.arg for keyword in call.keywords]
            values = None if name == "N_" or None in given else frozenset(given)
            if isinstance(key, ast.Constant):
                found.append(Asked(key.value, name, values, where))
    return tuple(found)


def english() -> Catalog:
    return words.read(words.WORDS / "en.po")


def german() -> dict[str, tuple[str, str]]:
    """Every sentence, each form of a plural by itself, in English and German."""
    texts = messages.catalogue("de").texts()
    own = messages.catalogue("en").texts()
    return {str(key): (text, texts[key]) for key, text in own.items()}


def test_every_id_that_is_named_has_a_sentence_with_these_values() -> None:
    catalogue = english()
    for one in asked():
        sentence = catalogue.get(one.key)
        assert sentence is not None, f"{one.where}: there is no sentence {one.key}"
        if one.name != "N_":
            assert sentence.pluralizable == (one.name == "counted"), f"{one.where}: {one.key}"
        if one.values is not None:
            fields = words.fields(words.forms(sentence)[-1])
            given = one.values | ({"n"} & fields if one.name == "counted" else set())
            assert given == fields, f"{one.where}: {one.key}"


def test_every_sentence_is_named_somewhere() -> None:
    named = {one.key for one in asked()}
    texts = said_elsewhere()
    for sentence in english():
        key = sentence.id[0] if sentence.pluralizable else sentence.id
        head, _, code = key.removesuffix(".window").partition(".")
        if key and key not in named:
            assert head == "message", f"nobody names {key}"
            assert code in texts or any(fits(code, text) for text in texts), key


def fits(code: str, text: str) -> bool:
    """Whether a code is made of a text in which 7 stands for a value: `decided_7`."""
    begin, seven, end = text.partition("7")
    return bool(seven and begin.endswith("_")) and code.startswith(begin) and code.endswith(end)


def test_every_message_that_is_named_has_a_sentence() -> None:
    """Found by their text, with no module parsed."""
    catalogue = english()
    named = re.compile(r'\bMessage\(\s*"(\w+)"')
    codes = {code for path in UI.parent.rglob("*.py") for code in named.findall(source(path))}
    assert len(codes) > 100
    assert [code for code in sorted(codes) if catalogue.get(f"message.{code}") is None] == []


OF_COMMANDS = {"coding.name_codebook", "message.marks_name_codebook"}
"""What is said only if a command gave the wrong codebook, or none."""


def test_a_window_names_buttons_instead_of_options() -> None:
    for spoken in messages.available():
        texts = {str(key): text for key, text in messages.catalogue(spoken).texts().items()}
        with_options = {key for key, text in texts.items() if re.search(r"(?<!\w)--\w", text)}
        assert with_options - OF_COMMANDS == {
            key for key in with_options if f"{key}.window" in texts
        }
        for key in (key for key in texts if key.endswith(".window")):
            assert words.fields(texts[key]) <= words.fields(texts[key.removesuffix(".window")])
    told = Message("time_say", known="session, a.wav")
    assert told == "Use --time to specify which times it has: session, a.wav."
    shown = "In the list of times, choose one of the following: session, a.wav."
    assert language.translate_message(told) == shown


def test_nobody_names_a_message_that_there_is_not() -> None:
    catalogue = english()
    for path, call in calling(UI.parent, "Message"):
        code = call.args[0] if call.args else None
        if isinstance(code, ast.Constant):
            where = f"{path.relative_to(UI.parent)}, line {code.lineno}"
            sentence = catalogue.get(f"message.{code.value}")
            assert sentence is not None, f"{where}: there is no message {code.value}"
            given = {keyword.arg for keyword in call.keywords}
            fields = words.fields(words.forms(sentence)[-1])
            assert None in given or given == fields, f"{where}: {code.value}"


SHOWN = {
    "label": [0], "ElidedLabel": [0], "card": [0], "Button": [0], "QCheckBox": [0], "Combo": [1],
    "setText": [0], "setToolTip": [0], "setAccessibleName": [0], "setPlaceholderText": [0],
    "setWindowTitle": [0], "set_full": [0], "set_text": [1], "Row": [2], "Hearing": [0, 1],
}  # fmt: skip
"""Which arguments of what a window is made of are words on the screen."""


def test_no_words_go_to_the_screen_untranslated() -> None:
    loose = set()
    tasks = sorted((UI.parent / "tasks").rglob("*.py"))
    for path in (*sorted((UI / "moderator").rglob("*.py")), *tasks):
        if not (EVERYTHING or re.search(r"\b(tr|N_|counted)\(", source(path))):
            continue  # to parse what says nothing else either is left to the night
        for node in calls(path):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            shown = [node.args[at] for at in SHOWN.get(name, []) if at < len(node.args)]
            for one in shown:
                parts = one.values if isinstance(one, ast.JoinedStr) else [one]
                texts = [part.value for part in parts if isinstance(part, ast.Constant)]
                loose |= {text for text in texts if re.search(r"[A-Za-z]{2}", str(text))}
    assert loose == {"labapp", "labapp · "}


class Marked(messages.Catalogue):
    """English between brackets, but for the signs of numbers."""

    def gettext(self, message: str) -> str:
        text = messages.catalogue("en").gettext(message)
        return text if text == message or message.startswith("number.") else mark(text)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        text = messages.catalogue("en").ngettext(msgid1, msgid2, n)
        return text if text == msgid1 else mark(text)


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A language in which every sentence stands in brackets."""
    languages = {MARKED: Marked(), "en": messages.catalogue("en")}
    monkeypatch.setattr(messages, "catalogue", languages.__getitem__)
    monkeypatch.setattr(language._Spoken, "language", MARKED)


def has_words(form: str) -> bool:
    """Whether a form is more than values and signs between them."""
    return bool(re.search(r"[A-Za-z]", re.sub(r"\{\w+\}", "", form)))


def test_german_says_everything_in_german() -> None:
    same = {text for text, own in german().values() if text == own and has_words(text)}
    assert same == {
        "Blind", "Code", "Codes", "Computer", "Frustration", "Indigo", "Interview", "LSL", "Median",
        "Name", "Orange", "Phase {phase}", "Text", "Video", "Videos",
    }  # fmt: skip


FOREIGN = re.compile(
    # How models, devices, tools, files and their kinds, people and birds are called, keys, units,
    # and an English study's words.
    r"/\S+|ELAN|Praat|BORIS|\(\.\w+\)|labapp|quickstart|Rings that every dial changes|"
    r"How.was.this.stage\?|USB headset|"
    r"ALSA|eDP-1|HDMI-1 \(DELL U2720Q\)|P\d\d|\w+/(gt|ae|vae|ss)\d*"
    r"|[kMG]B|kHz|CPU|ms|dial\d|unplugged|SEQ|Tiny|[A-Z]\w+'s \w+"
    r"|ValueError: a model does not answer"
)


def others(window: QWidget) -> set[str]:
    """What errors and notes say, texts of the study, and how models are called."""
    banners = window.findChildren(ErrorBanner)
    told = {label.text() for banner in banners for label in (banner.title, banner.text)}
    if isinstance(window, ConsoleWindow):
        told |= {note.text for note in window.state.notes if note.kind == "note"}
        told |= {one.detail for one in window.state.deviations.deviations if one.kind == "noted"}
    for items in window.findChildren(OwnItems):
        told |= {box.text() for box in items.boxes}
    read = {view.toPlainText() for view in window.findChildren(MarkdownView)}
    return (told | read | titles_of_models()) - {""}


@cache
def titles_of_models() -> frozenset[str]:
    """To read every card takes a tenth of a second."""
    return frozenset(str(row["title"]) for row in models_catalog.models())


def words_of(window: QWidget) -> set[str]:
    """The words for which the windows themselves are to answer."""
    found = said_in(window)
    if isinstance(window, ConsoleWindow):
        line = window.state.timeline
        found |= {mark.text for mark in line.marks}
        found |= {block.label for block in (*line.parts, *line.trials)}
        found |= {alarm.sentence for alarm in window.state.alarms.visible()}
    for foreign in sorted(others(window), key=len, reverse=True):
        found = {text.replace(foreign, "") for text in found}
    return {FOREIGN.sub("", text) for text in found}


def unmarked(text: str) -> str:
    """What is left of a text when its marked sentences are taken out."""
    before = ""
    while text != before:
        before, text = text, re.sub(r"⟦[^⟦⟧]*⟧", "", text)
    return text


OWN = {
    "Quick start: wavy lines": "Wellenlinien",
    "Please keep talking": "Bitte weitersprechen",
    "insight": "Einsicht",
    "prompt": "Nachfrage",
    "confusion": "Verwirrung",
    "technical": "Technik",
}
"""What the quickstart's own file says."""


def study_in(folder: Path, language_: str, translate: Callable[[str], str]) -> str:
    """The quickstart in another language, with what its own file says in it."""
    study = yaml.safe_load(find("quickstart").read_text("utf-8"))
    study |= {"language": language_, "title": translate(study["title"])}
    study["recording"]["prompts"] = [translate(one) for one in study["recording"]["prompts"]]
    study["flags"] = {number: translate(text) for number, text in study["flags"].items()}
    path = put_beside(folder) / "study.yaml"
    path.write_text(yaml.safe_dump(study, allow_unicode=True), "utf-8")
    return str(path)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.usefixtures("marked")
def test_every_word_can_be_translated(qapp, tmp_path: Path, window: str) -> None:
    write_marked(tmp_path)
    seen = set()
    for name, shown in WINDOWS[window](tmp_path, study_in(tmp_path, MARKED, mark)):
        qapp.processEvents()
        words = words_of(shown) - set(DATA_FORMATS.values())
        assert not {text for text in words if re.search(r"[A-Za-z]{2}", unmarked(text))}, name
        seen |= words
    assert len(seen) > 40


ENGLISH_WORDS = re.compile(
    r"\b(the|and|is|are|of|to|not|with|session|stage|dial|recorded|kept|sound|screen|free)\b", re.I
)


@pytest.mark.parametrize("window", WINDOWS)
def test_no_english_is_left_in_german_and_no_word_is_cut(
    qapp, tmp_path: Path, speaks, window: str
) -> None:
    """In the smallest window: German words are the longest."""
    speaks("de")
    others = {text for text, own in german().values() if text != own}
    others -= {"Pause"}  # which is also German, for a break
    for name, shown in WINDOWS[window](tmp_path, study_in(tmp_path, "de", OWN.__getitem__)):
        qapp.processEvents()
        words = words_of(shown) - set(DATA_FORMATS.values())
        assert not said_in(shown) & others, name
        assert not {text for text in words if ENGLISH_WORDS.search(text)}, name
        size = shown.size()
        shown.resize(shown.minimumSize())
        for _ in range(5):  # layouts within each other settle one after the other
            qapp.processEvents()
        assert not cut_in(shown), name
        shown.resize(size)


def test_all_that_an_exchange_leaves_out_can_be_told_in_german() -> None:
    """What windows list of it is a message, and no sentence that is made where it happens."""
    loose, many = [], 0
    for path in sorted((UI.parent / "coding" / "exchange").glob("*.py")):
        for node in calls(path):
            if not isinstance(node.func, ast.Attribute):
                continue
            name = getattr(node.func.value, "id", getattr(node.func.value, "attr", ""))
            if node.func.attr == "append" and name.lstrip("_") == "lost":
                many += 1
                if not ast.unparse(node.args[0]).startswith("Message("):
                    loose.append(f"{path.name}, line {node.lineno}")
    assert not loose
    assert many > 40


def test_german_numbers_and_counts(speaks) -> None:
    speaks("de")
    assert number("1,234.5") == "1.234,5"
    assert wording.size(2_400_000_000) == "2,4 GB"
    assert wording.plain_size(2_400_000_000) == "2.4 GB"
    assert wording.percent(0.632) == "63,2\N{NO-BREAK SPACE}%"
    assert counted(1, "study.values") == "1 Wert"
    assert counted(1200, "study.values") == "1.200 Werte"


def test_sentences_in_place_of_ids_are_shown_as_they_are(speaks) -> None:
    """Packages gave them until 0.1."""
    speaks("de")
    assert tr("Dots of {who}", who="P01") == "Dots of P01"
    assert counted(1, "{n} dot", "{n} dots") == "1 dot"
    assert counted(1200, "{n} dot", "{n} dots") == "1.200 dots"
    with pytest.raises(KeyError):
        tr("home.nothing_of_the_kind")


def test_phrases_of_the_plan_and_the_analysis_are_translated(speaks) -> None:
    english = ("Stage 3", "Before stage 12", "Stage 2, block 4", "Anything else", "Stage 3 again")
    assert [wording.part_title(title) for title in english] == list(english)
    speaks("de")
    assert wording.part_title("Stage 3") == "Abschnitt 3"
    assert wording.part_title("Before stage 12") == "Vor Abschnitt 12"
    assert wording.part_title("Anything else") == "Anything else"
    assert wording.part_title("Stage 3 again") == "Stage 3 again"
    forms = {"rating at rank {rank}": "quantity.rating_at_rank", "all photos": "value.all_photos"}
    known = phrases(forms, rank=(1, 2))
    assert set(known) == {"rating at rank 1", "rating at rank 2", "all photos"}
    assert translate_phrase("rating at rank 2", known) != "rating at rank 2"
    assert translate_phrase("rating at rank 3", known) == "rating at rank 3"


def test_messages_are_translated_from_their_code_and_values(speaks) -> None:
    free = Message("disk_free", size=2.4, unit="GB")
    assert free == "2.4 GB free"
    assert translate_message(free) == "2.4 GB free"
    speaks("de")
    assert translate_message(free) == "2,4 GB frei"
    # As a journal gives it back: with code and values, and as those of earlier versions do.
    stored = json.loads(
        json.dumps(AlarmRaised("disk_low", str(free), encode_message(free)).as_dict())
    )
    assert wording.detail_of(stored) == "2,4 GB frei"
    assert wording.detail_of({"code": "disk_low", "detail": "2.4 GB free"}) == "2.4 GB free"
    assert wording.detail_of(stored | {"detail": "[withheld]"}) == "[withheld]"


def test_reasons_of_pauses_are_told_as_they_were_given(speaks) -> None:
    assert wording.pause_reason(wording.PAUSED) == ""
    assert wording.pause_reason("technical problem") == "Technical problem"
    speaks("de")
    assert wording.pause_reason("technical problem") == "Technik"
    assert wording.pause_reason("consent not stored") == "Einwilligung nicht gespeichert"
    assert wording.pause_reason("fire drill") == "fire drill"


def test_what_is_wrong_with_the_microphone_is_told_with_its_reason(speaks) -> None:
    speaks("de")
    stalled = Message("microphone_stalled", seconds=1.5)
    lost = translate_message(Message("microphone_lost", reason=stalled))
    assert lost == "Mikrofon verloren: 1,5 s lang kam kein Ton an"


def test_a_name_that_is_a_word_of_the_windows_stays_as_it_is(speaks) -> None:
    speaks("de")
    lost = Message("mark_unknown", rater="solved", mark="'Coding'")
    assert translate_message(lost) == "solved hat keine Kodierung 'Coding' vergeben."
    ended = translate_message(Message("microphone_ended", source=Message("the_microphone")))
    assert "das Mikrofon" in ended


def test_what_a_withdrawal_did_is_told_in_german(speaks) -> None:
    left = Withdrawal("sub-P01_ses-1", "P01", "1", "2026-01-02T03:04:05Z", kept=False, cells=("a",))
    lost = (Message("exports_unreadable", file="/e", error="I/O"),)
    torn = (Message("exports_damaged", file="/e", number=3),)
    done = WithdrawalReport(
        left, 1, ("/a.zip",), ("sub-P01_ses-2",), ("/b.partial",), lost + torn, freed=("a",)
    ).lines()
    assert list(map(translate_message, done)) == done
    speaks("de")
    assert list(map(translate_message, done)) == [
        "sub-P01_ses-1: zurückgezogen. Die Daten wurden gelöscht.",
        "Die unterschriebene Einwilligung wurde gelöscht.",
        "Von einem abgebrochenen Programm hinterlassene Dateien wurden entfernt: /b.partial.",
        "Diese Bündel enthalten sie noch: /a.zip",
        "/e lässt sich nicht lesen (I/O); die Exporte sind nicht bekannt",
        "/e, Zeile 3: beschädigt; ein Export kann in der Liste fehlen",
        "Wieder frei: a.",
        (
            "Diese Ordner mit Sitzungen der Person wurden umbenannt und deshalb nicht verändert: "
            "sub-P01_ses-2. Geben Sie ihnen ihre alten Namen zurück und ziehen Sie die Sitzungen "
            "dann zurück."
        ),
    ]


BROKEN = re.compile(r'"\s*\n\s*f?"')
QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


@cache
def said_elsewhere() -> frozenset[str]:
    """The texts of a line in the code of the other layers, with a 7 for each value. Found by their
    quotes: to parse all modules takes seconds."""
    said = set[str]()
    for path in sorted(UI.parent.rglob("*.py")):
        if path.name not in ("wording.py", "language.py"):
            texts = QUOTED.findall(BROKEN.sub("", source(path)))
            said.update(re.sub(r"\{[^{}]*\}", "7", text) for text in texts)
    return frozenset(said)


def test_reports_are_known_by_the_sentences_that_other_layers_say() -> None:
    said = said_elsewhere()
    here = {language.ENDED, language.WITHDREW}
    for form in {*wording.PART_TITLES, *language.PLAIN} - here:
        parts = re.split(r"\{\w+\}", form)
        pattern = re.compile(".+".join(map(re.escape, parts)))
        assert any(pattern.fullmatch(text) for text in said), form


def test_every_sentence_with_values_of_an_alarm_is_a_message() -> None:
    """An alarm's or deviation's detail is no sentence that was put together in place: nothing but
    its code and values could be said in another language."""
    for path, call in calling(UI.parent, "AlarmRaised", "AudioOff", "AudioDeviceLost"):
        texts = [one for one in call.args if isinstance(one, ast.JoinedStr)]
        where = f"{path}, line {call.lineno}"
        assert not texts or "error.todo" in ast.unparse(texts[0]), where


def spoken_by(tmp_path: Path, **environment: str) -> str:
    """The language of an application that starts in this environment, and two of its words."""
    code = (
        "from labapp.ui.qtapp import make_app\n"
        "from labapp.ui import language\n"
        "app = make_app()\n"
        "cancel = app.translate('QPlatformTheme', 'Cancel')\n"
        "print(language.current_language(), language.tr('button.back'), cancel)"
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LANG", "LC_", "LABAPP_LA"))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=kept | {"QT_QPA_PLATFORM": "offscreen"} | environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


GERMANY = "de_DE.UTF-8"


@pytest.mark.parametrize(
    ("environment", "spoken"),
    [
        ({"LANG": GERMANY}, "de Zurück Abbrechen"),
        ({"LANG": GERMANY, "LABAPP_LANGUAGE": "en"}, "en Back Cancel"),
        ({"LANG": "C.UTF-8", "LABAPP_LANGUAGE": "de_AT"}, "de Zurück Abbrechen"),
        ({"LANG": "fr_FR.UTF-8"}, "en Back Cancel"),
        ({"LANG": GERMANY, "LABAPP_LANGUAGE": "xx"}, "en Back Cancel"),
    ],
)
def test_the_language_is_chosen_at_the_start(tmp_path: Path, environment, spoken: str) -> None:
    assert spoken_by(tmp_path, **environment) == spoken


def test_a_language_without_words_is_refused() -> None:
    with pytest.raises(SetupError) as caught:
        speak("xx")
    assert "LABAPP_LANGUAGE: en, de" in caught.value.todo
    assert language.current_language() == "en"
    assert tr("button.back") == "Back"
