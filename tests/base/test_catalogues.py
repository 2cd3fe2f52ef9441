"""The catalogues of words: complete, in their usual form, and compiled when they are changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from labapp.base import messages
from labapp.base.messages import sentence
from scripts import words

LANGUAGES = messages.available()
ENGLISH = '"Language: en\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'


def test_english_is_a_language_like_others() -> None:
    assert LANGUAGES == ["en", "de"]
    assert sentence("home.start") == "Start session"
    assert sentence("home.start", language="de") == "Sitzung starten"
    for unknown in ("home.begin", ""):
        with pytest.raises(KeyError):
            sentence(unknown)


def test_a_plural_is_that_of_its_number() -> None:
    assert [sentence("researcher.sessions", n) for n in (0, 1, 2)] == [
        "{n} sessions",
        "{n} session",
        "{n} sessions",
    ]
    assert sentence("home.start", 2) == "Start session"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_there_with_its_fields_and_plurals(language: str) -> None:
    english, own = (words.read(words.WORDS / f"{name}.po") for name in ("en", language))
    assert [message.id for message in own] == [message.id for message in english]
    assert not [message.id for message in own if not all(words.forms(message))]
    assert not list(words.faults(own, english))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_is_as_babel_writes_it(language: str) -> None:
    path = words.WORDS / f"{language}.po"
    assert words.usual_form(words.read(path)) == path.read_text("utf-8")


def po(entries: str) -> str:
    return f'msgid ""\nmsgstr ""\n{ENGLISH}\n{entries}'


def entry(key: str, *forms: str) -> str:
    if len(forms) == 1:
        return f'msgid "{key}"\nmsgstr "{forms[0]}"\n\n'
    lines = [f'msgstr[{at}] "{form}"' for at, form in enumerate(forms)]
    return "\n".join([f'msgid "{key}"', f'msgid_plural "{key}"', *lines, "", ""])


GIVEN = entry("a.free", "{size} free") + entry("a.many", "one file", "{n} files")


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (entry("a.other", "anders"), "a.other: English has no such sentence"),
        (entry("a.many", "Dateien"), "a.many: English has no such sentence, or one with other"),
        (entry("a.many", "eine Datei", ""), "a.many: a form of its plural is missing"),
        (entry("a.free", "{room} frei"), "a.free: it must name these fields: size"),
        (entry("a.free", "{size frei"), "write a brace as {{ or }}"),
        (entry("a.many", "{n} Datei", "{m} Dateien"), "a.many: it must name these fields: n"),
        ('msgid "a.free\nmsgstr "frei"\n', "a.fre: English has no such sentence"),
        ("a.free: frei\n", "misformatted"),
    ],
)
def test_a_translation_with_a_fault_is_not_compiled(tmp_path: Path, entries: str, why: str) -> None:
    english, path = tmp_path / "en.po", tmp_path / "words.po"
    english.write_text(po(GIVEN), "utf-8")
    path.write_text(po(entries), "utf-8")
    wrong = words.compile_file(path, words.read(english))
    assert any(why in fault for fault in wrong), wrong
    assert not path.with_suffix(".mo").exists()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of words of a checkout in which nothing is compiled yet."""
    folder = tmp_path / "assets" / "words"
    folder.mkdir(parents=True)
    (tmp_path / "scripts").mkdir()
    shutil.copy(words.__file__, tmp_path / "scripts")
    (folder / "en.po").write_text(po(GIVEN), "utf-8")
    monkeypatch.setattr(messages.resources, "assets", lambda: folder.parent)
    messages.catalogue.cache_clear()
    yield folder
    messages.catalogue.cache_clear()


def change(path: Path, entries: str) -> None:
    """Write a file as if some time had passed."""
    before = path.with_suffix(".mo").stat().st_mtime if path.with_suffix(".mo").exists() else 0.0
    path.write_text(po(entries), "utf-8")
    os.utime(path, (before + 10, before + 10))
    messages.catalogue.cache_clear()


def test_a_checkout_compiles_what_was_changed(checkout: Path) -> None:
    assert sentence("a.free") == "{size} free"
    change(checkout / "en.po", entry("a.free", "{size} of room"))
    assert sentence("a.free") == "{size} of room"


def test_what_a_language_lacks_is_said_in_english(checkout: Path) -> None:
    empty = entry("a.free", "")
    change(checkout / "fr.po", entry("a.many", "un fichier", "{n} fichiers") + empty)
    assert messages.available() == ["en", "fr"]
    assert sentence("a.many", 3, language="fr") == "{n} fichiers"
    assert sentence("a.free", language="fr") == "{size} free"


def test_words_that_cannot_be_compiled_end_the_program_and_are_named(checkout: Path) -> None:
    change(checkout / "fr.po", entry("a.free", "{room} libre"))
    with pytest.raises(SystemExit, match=r"(?s)fr\.po.*a\.free: it must name these fields: size"):
        sentence("a.free", language="fr")
    assert sentence("a.free") == "{size} free"
