"""A study in several languages: what it lacks is said, each participant reads one of them, and all
are analysed together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labapp.analysis.analyze import choose_language
from labapp.analysis.tables import load as load_tables
from labapp.base.errors import StudyError, UsageError, faults_of
from labapp.record.journal.opening import open_record
from labapp.session.gate import gate, look_at
from labapp.session.overview import overview
from labapp.session.resuming import load_recorded_study
from labapp.session.simulation.at_scale import simulate_at_scale
from labapp.session.simulation.simulation_job import simulate_study
from labapp.study import words
from labapp.study.examining import UNTRANSLATED
from labapp.study.loading import asset, in_language_of, load
from labapp.ui.strings import strings_of
from tests.helpers.beside import put_beside

STUDY = """\
id: two
title: Two languages
version: 1
languages: [en, de]
recording: {audio: "off", prompts: {en: [Go on], de: [Weiter]}}
flow:
  - consent: texts/{language}/consent.md
  - stages:
      task: reconstruction
      models: [sinelines/gt]
      trials: 1
      skip: always
      after: [ease]
  - debrief: texts/{language}/debrief.md
"""
EASE = """\
id: ease
version: 1
source: ours
title: {en: Ease, de: Leichtigkeit}
items:
  - {id: easy, text: {en: "How easy?", de: "Wie leicht?"}, points: 5,
     low: {en: not, de: nicht}, high: {en: very, de: sehr}}
"""


def write(folder: Path, study: str = STUDY, ease: str = EASE) -> Path:
    put_beside(folder)
    (folder / "instruments" / "ease.yaml").write_text(ease)
    path = folder / "two.yaml"
    path.write_text(study)
    return path


def complaints(path: Path) -> list[tuple[str, int, str]]:
    return [
        (Path(fault.file).name, fault.line, f"{fault.key}: {fault.what}")
        for error in look_at(path).errors
        for fault in faults_of(error)
    ]


def test_every_language_has_the_same_hash_and_its_own_words(tmp_path: Path) -> None:
    english = gate(write(tmp_path))
    german = in_language_of(english, "de")
    assert english.sha256 == german.sha256
    assert (english.study.language, german.study.language) == ("en", "de")
    assert english.study.own_language == german.study.own_language == "en"
    assert german.study.recording.prompts == ("Weiter",)
    assert english.study.flags == german.study.flags
    assert german.instruments["ease"].title == "Leichtigkeit"
    assert strings_of(english) != strings_of(german)
    with pytest.raises(UsageError, match="not in 'fr'; it is in: en, de"):
        in_language_of(english, "fr")


def test_what_a_translation_lacks_is_said_of_each_language(tmp_path: Path) -> None:
    path = write(tmp_path, ease=EASE.replace(', de: "Wie leicht?"', ""))
    (tmp_path / "texts" / "de" / "debrief.md").unlink()
    (tmp_path / "texts" / "de" / "consent.md").write_text("# Zustimmung\n\n{stage}\n")
    assert complaints(path) == [
        ("two.yaml", 14, ": the file 'texts/de/debrief.md' does not exist"),
        (
            "ease.yaml",
            6,
            "items[0].text: allowed: a text in the study's language 'de'; there is: en",
        ),
        (
            "consent.md",
            3,
            "{stage}: nothing is filled in for it in the part 'consent': " + words.AS_IT_STANDS,
        ),
    ]


def test_missing_texts_of_all_languages_are_listed(tmp_path: Path) -> None:
    path = write(tmp_path)
    for name in ("de/debrief.md", "de/stage-first.md"):
        (tmp_path / "texts" / name).unlink()
    _, rows = words.lacking(path)
    assert [row.name for row in rows] == ["texts/de/debrief.md", "texts/de/stage-first.md"]


def test_missing_texts_are_those_of_labapp_where_it_has_them_in_the_language(
    tmp_path: Path,
) -> None:
    path = write(tmp_path)
    own = tmp_path / "texts"
    shipped = asset("texts/en/debrief.md").parents[1]
    for name in ("en/stage-first.md", "de/stage-first.md", "de/debrief.md", "de/consent.md"):
        (own / name).unlink()
    (own / "en" / "debrief.md").write_bytes((shipped / "en" / "debrief.md").read_bytes())
    (own / "en" / "consent.md").write_text("# Our own\n\nYou can stop at any time.\n")
    loaded, rows = words.lacking(path)
    written = words.write(loaded, rows)
    assert {file.relative_to(own).as_posix() for file in written} == {
        *("en/stage-first.md", "de/stage-first.md", "de/debrief.md", "de/consent.md")
    }
    for name in ("en/stage-first.md", "de/stage-first.md", "de/debrief.md"):
        assert (own / name).read_bytes() == (shipped / name).read_bytes(), name
    consent = (own / "de" / "consent.md").read_text("utf-8")
    assert consent.startswith(f"{UNTRANSLATED}\n# Our own"), "the shipped one would not say this"
    (row,) = words.lacking(path)[1]
    assert (row.name, "may not say the same as yours" in row.what) == ("texts/de/consent.md", True)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("[en, de]", "[en]", 4, "at least two languages"),
        ("[en, de]", "[en, de, en]", 4, "found 'en' again"),
        ("version: 1", "version: 1\nlanguage: de", 4, "line 5 has `languages`"),
        ("[en, de]", "[en, de, fr]", 5, "has no prompts in 'fr'"),
        ("de: [Weiter]", "fr: [Suite]", 5, "has no prompts in 'de'"),
    ],
)
def test_what_cannot_be_meant(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    told = complaints(write(tmp_path, STUDY.replace(old, new)))
    assert any(at == line and said in what for _, at, what in told), told


def test_simulated_participants_read_each_language_in_turn(tmp_path: Path) -> None:
    path = write(tmp_path / "study")
    data = tmp_path / "data"
    folders = simulate_study(str(path), 3, "knowing", data)
    assert [open_record(folder).planned.language for folder in folders] == ["en", "de", "en"]
    planned = open_record(folders[1]).planned
    assert load_recorded_study(folders[1], planned).study.language == "de"
    tables = load_tables(data)
    assert list(tables.participants["language"]) == ["en", "de", "en"]
    assert set(tables.items["language"]) == {"en", "de"}
    assert list(tables.worded["text"]) == ["How easy?"]
    assert choose_language(tables, None) == (None, "")
    shown = overview(str(path), 2, data)
    assert "By language: en 2, de 1." in shown.lines()
    assert json.dumps(shown.to_json()["languages"]) == '{"en": 2, "de": 1}'
    chosen = simulate_at_scale(str(path), 2, "knowing", tmp_path / "other", language="de")
    assert {open_record(folder).planned.language for folder in chosen} == {"de"}


def test_a_report_is_in_the_study_s_own_language(tmp_path: Path) -> None:
    study = STUDY.replace("[en, de]", "[de, en]")
    simulate_study(str(write(tmp_path / "study", study)), 2, "knowing", tmp_path / "data")
    tables = load_tables(tmp_path / "data")
    translation, remark = choose_language(tables, None)
    assert (translation and translation.language, remark) == ("de", "")
    assert list(tables.worded["text"]) == ["Wie leicht?"]


def test_a_language_that_is_none_of_the_study_s_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in 'fr'"):
        simulate_study(str(write(tmp_path)), 1, "knowing", tmp_path / "data", language="fr")
    with pytest.raises(StudyError):
        load(write(tmp_path), "fr")
