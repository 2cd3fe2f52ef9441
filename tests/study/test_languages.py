"""Every language says all that English says; a study in any of them runs and says which it was."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from labapp.analysis.analyze import FILE as REPORT  # the English of both is in the code
from labapp.base import resources
from labapp.base.errors import CheckFailed, StudyError
from labapp.cli.main import app
from labapp.record.journal.read import check_journal
from labapp.session.resuming import is_finished, read_verified_events
from labapp.session.simulation.person import FAST
from labapp.session.simulation.simulation_job import simulate
from labapp.study.loading import WORDS, find, in_language, load
from labapp.study.overview import check
from labapp.study.plugins import texts
from labapp.ui.strings import strings_of
from tests.helpers.beside import put_beside
from tests.session.sessions import surroundings

TEXTS = resources.assets() / "texts"
LANGUAGES = sorted(folder.name for folder in TEXTS.iterdir())
OTHERS = [language for language in LANGUAGES if language != "en"]
PICTURE = re.compile(r"!\[\]\(\w+\)")
ENGLISH = sorted(path.name for path in (TEXTS / "en").glob("*.md"))


def study(folder: Path, language: str) -> Path:
    """All kinds of screens in a language: both tasks, tutorial, practice, a questionnaire."""
    path = folder / "mine.yaml"
    put_beside(folder)
    path.write_text(
        f"""\
id: mine
title: Eine Studie
version: 1
language: {language}
flow:
  - consent: texts/{{language}}/consent.md
  - tutorial: reconstruction
  - practice: circles
  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/ae]
      trials: 1
      skip: always
      after: [seq]
  - stages:
      task: single-dimension
      visualisation: exemplars
      models: [sinelines/gt, sinelines/ae]
      questions_per_dimension: 1
  - debrief: texts/{{language}}/debrief.md
"""
    )
    return path


def words_of(language: str) -> dict[str, str]:
    value = yaml.safe_load((TEXTS / language / "participant.yaml").read_text())
    assert isinstance(value, dict)
    return value


def values_in(words: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(words) if field is not None}


def wording_of(words: str) -> str:
    """What is left of a text without its values: letters, if there are any."""
    return "".join(letter for letter in re.sub(r"\{\w*\}", "", words) if letter.isalpha())


def test_english_and_german_are_shipped() -> None:
    assert {"en", "de"} <= set(LANGUAGES)


@pytest.mark.parametrize("language", OTHERS)
def test_no_file_is_missing_and_none_is_left_over(language: str) -> None:
    names = {path.name for path in (TEXTS / language).iterdir()} - {REPORT}
    assert names == {path.name for path in (TEXTS / "en").iterdir()}


@pytest.mark.parametrize("language", OTHERS)
def test_every_word_of_the_window_is_translated_with_its_values(language: str) -> None:
    english, words = words_of("en"), words_of(language)
    assert list(words) == list(english), "the same keys in the same order"
    for key, said in words.items():
        assert values_in(said) == values_in(english[key]), key
        assert said != english[key] or not wording_of(said), f"{key} is still in English"


@pytest.mark.parametrize("name", ENGLISH)
@pytest.mark.parametrize("language", OTHERS)
def test_a_text_has_the_pages_paragraphs_and_values_of_the_english_one(
    language: str, name: str
) -> None:
    read = [(TEXTS / one / name).read_text(encoding="utf-8") for one in ("en", language)]
    english, translated = (texts.pages(text) for text in read)
    assert len(translated) == len(english), "pages"
    for ours, theirs in zip(translated, english, strict=True):
        assert shape(ours) == shape(theirs)
        same = set(ours.splitlines()) & set(theirs.splitlines())
        assert not {line for line in same if wording_of(PICTURE.sub("", line))}, "still in English"
        assert texts.placeholders(ours) == texts.placeholders(theirs) == []


def shape(page: str) -> list[tuple[int, int, list[str]]]:
    """Of every paragraph: level of the heading, words in bold, values filled in."""
    return [
        (
            len(paragraph) - len(paragraph.lstrip("#")),
            len(re.findall(r"\*\*[^*]+\*\*", paragraph)),
            sorted(re.findall(r"\{(\w+)\}", paragraph)),
        )
        for paragraph in re.split(r"\n\s*\n", page)
    ]


def test_german_says_sie() -> None:
    for path in (TEXTS / "de").iterdir():
        familiar = re.findall(r"(?i)\b(?:du|dir|dich|dein\w*|euch|euer)\b", path.read_text())
        assert not familiar, path.name


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_study_in_a_language_runs_to_its_end_and_records_it(
    language: str, tmp_path: Path
) -> None:
    loaded = load(study(tmp_path, language))
    strings_of(loaded)
    path = simulate(
        loaded,
        "P01",
        surroundings(tmp_path),
        data=tmp_path / "data",
        strategy="knowing",
        pace=FAST,
    )
    assert not check_journal(path)
    events = read_verified_events(path)
    assert is_finished(events)
    planned = events[0].payload
    assert planned["language"] == language
    documents = [part["document"] for part in planned["plan"] if "document" in part]
    assert len(documents) == 8
    assert all(name.startswith(f"texts/{language}/") for name in documents)
    kept = {file.parent.name for file in (path / "study").glob("texts/*/*")}
    assert kept == {language}, "the texts that were shown, and no others"


def test_a_language_without_texts_is_refused_by_name(tmp_path: Path) -> None:
    path = study(tmp_path, "fr")
    with pytest.raises(StudyError) as refused:
        check(path)
    assert "line 4, language: there are no texts in 'fr'; there are: de, en\n" in refused.value.what
    assert f"{tmp_path}/texts/fr" in refused.value.todo
    said = CliRunner().invoke(app, ["studies", "check", str(path)])
    assert said.exit_code != 0


def test_a_lab_adds_a_language_beside_its_study(tmp_path: Path) -> None:
    path = study(tmp_path, "fr")
    own = tmp_path / "texts" / "fr"
    own.mkdir(parents=True, exist_ok=True)
    for file in (TEXTS / "en").iterdir():
        (own / file.name).write_text(file.read_text())
    seq = tmp_path / "instruments" / "seq.yaml"
    shipped = resources.assets() / "instruments" / "seq.yaml"
    seq.write_text(shipped.read_text().replace("de:", "fr:"))
    assert in_language(WORDS, "fr") in check(path).files


def test_a_translation_that_lacks_words_is_refused_by_the_check(tmp_path: Path) -> None:
    path = study(tmp_path, "de")
    own = tmp_path / in_language(WORDS, "de")
    own.parent.mkdir(parents=True, exist_ok=True)
    shipped = (TEXTS / "de" / "participant.yaml").read_text()
    own.write_text(re.sub(r"(?m)^skip:.*\n", "", shipped))
    said = CliRunner().invoke(app, ["studies", "check", str(path)])
    assert said.exit_code != 0
    assert isinstance(said.exception, CheckFailed)
    assert "texts/de/participant.yaml: lacks the words for skip" in said.exception.what


def test_a_german_study_prompts_and_flags_in_german(tmp_path: Path) -> None:
    text = find("dsprites-demo").read_text()
    path = tmp_path / "mine.yaml"
    kept = [line for line in text.splitlines() if not line.startswith(("flags", "recording"))]
    german = "\n".join(kept).replace("language: en", "language: de")
    put_beside(tmp_path)
    path.write_text(german + "\nrecording: {audio: required}\n")
    study = load(path).study
    assert study.recording.prompts == ("Bitte sprechen Sie weiter",)
    assert (study.recording.audio, study.flags[4]) == ("required", "Technik")
    path.write_text(german + "\nrecording: {prompt: Weiter}\nflags: {1: gut}\n")
    study = load(path).study
    assert (study.recording.prompts, study.flags) == (("Weiter",), {1: "gut"})
