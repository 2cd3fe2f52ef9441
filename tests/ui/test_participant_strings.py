"""The window's words: complete, checked before a session, and used from the screens only."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import labapp.ui
from labapp.base.errors import StudyError
from labapp.study.loading import LoadedStudy, load
from labapp.ui.strings import Strings, strings_of

NAME = "texts/en/participant.yaml"
COMPOSED = (
    "task_text",
    "consent_use_",
    *(f"judging_{what}_" for what in ("hot", "cold", "scale_text", "things", "rows")),
    "practice_feedback",
)
"""Beginnings of keys that are made of parts: by a screen, or by the planner for the texts."""


@pytest.fixture
def loaded() -> LoadedStudy:
    return load("quickstart")


def changed(loaded: LoadedStudy, old: str, new: str) -> LoadedStudy:
    content = loaded.files[NAME].decode()
    assert old in content
    return replace(loaded, files={**loaded.files, NAME: content.replace(old, new).encode()})


def test_words_with_values(loaded):
    words = strings_of(loaded)
    assert words("question_of", number=2, of=5) == "Question 2 of 5"
    assert words("target", number=2) == "Target"


def test_an_unknown_key_is_named():
    with pytest.raises(StudyError, match="'nonsense'"):
        Strings({})("nonsense")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("dial_help:", "dial_hepl:", "lacks the words for dial_help"),
        ("page_of:", "extra: more\npage_of:", "extra: has words that no screen uses"),
        ("{number} of {of}", "{numbr} of {of}", "{numbr}"),
        ("back: Back", "back: 3", "back: holds 3"),
        ("back: Back", "back: 'Back }'", "back: Single '}'"),
    ],
)
def test_a_wrong_translation_is_refused(loaded, old, new, says):
    with pytest.raises(StudyError, match=re.escape(says)):
        strings_of(changed(loaded, old, new))


def test_every_word_that_screens_ask_for_exists_and_is_used(loaded):
    words = strings_of(loaded)
    root = Path(labapp.ui.__file__).parent
    sources = [root / "strings.py", root / "consent_pdf.py"]
    sources += [*(root / "participant").glob("*.py"), *(root / "widgets").glob("*.py")]
    sources += (root.parent / "tasks").rglob("*.py")
    code = "\n".join(path.read_text() for path in sources)
    asked = set(re.findall(r"""words\(\s*["'](\w+)["']""", code))
    assert len(asked) > 30
    for key in asked:
        words(key)
    known = set(re.findall(r"^(\w+):", loaded.files[NAME].decode(), re.MULTILINE))
    named = set(re.findall(r"""["'](\w+)["']""", code))
    unused = {key for key in known - named if not key.startswith(COMPOSED)}
    assert not unused


def older(loaded: LoadedStudy, language: str = "en") -> LoadedStudy:
    """As a session's copy made by an older labapp: a word is missing, one is no longer used, one
    names a value that is no longer given, and one is the study's own."""
    content = changed(loaded, "back: Back", "gone: Gone\nback: Go back")
    content = changed(content, "finish: Finish\n", "")
    content = changed(content, 'page_of: "Page {number} of {of}"', 'page_of: "Page {index}"')
    name = NAME.replace("/en/", f"/{language}/")
    files = {**loaded.files, name: content.files[NAME]}
    study = loaded.study.model_copy(update={"language": language})
    return replace(loaded, study=study, files=files)


def test_a_session_begun_earlier_gets_the_words_that_screens_have_gained(loaded):
    with pytest.raises(StudyError, match="lacks the words for finish"):
        strings_of(older(loaded))
    words = strings_of(older(loaded), begun=True)
    assert words("finish") == "Finish"
    assert words("page_of", number=1, of=2) == "Page 1 of 2"
    assert words("back") == "Go back", "the study's own words stay"
    with pytest.raises(StudyError, match="no words for 'gone'"):
        words("gone")
    assert strings_of(older(loaded, "de"), begun=True)("finish") == "Fertig"


def test_words_of_a_language_that_is_not_shipped_are_not_made_up(loaded):
    with pytest.raises(StudyError, match="lacks the words for finish, page_of") as said:
        strings_of(older(loaded, "fr"), begun=True)
    assert "version of labapp that it was begun with" in said.value.todo
