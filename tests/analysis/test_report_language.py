"""The report in German: nothing that it says is English, on the page and in figures."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pandas as pd
import pytest
import yaml

from labapp.analysis import Tables
from labapp.analysis import analyze as language
from labapp.analysis.analyze import analyze, report
from labapp.analysis.columns import table_columns
from labapp.analysis.participation import flow_figures
from labapp.analysis.tables import load
from labapp.analysis.task_report import Findings
from labapp.base import resources, translations
from labapp.base.documents import parse_yaml
from labapp.base.errors import SetupError
from labapp.base.report import listing
from labapp.base.report.labels import label_measure, labelling
from labapp.base.report.page import Translation, speaking
from labapp.session.simulation.simulation_job import simulate_study
from labapp.session.withdrawal import decide_by_hand, withdraw
from tests.analysis.design import test_reviewing
from tests.analysis.test_inclusion import ruled
from tests.helpers.journals import golden_session
from tests.tasks.reconstruction_report.labels import cohort as named

WRITTEN = (
    "The participant asked for water.", "hive-trade-off-species", "dial: Says what a slider does",
)  # fmt: skip
"""Notes of the golden session, the id of a questionnaire, and a code as its codebook calls it."""
ROOT = Path(__file__).parents[2]
SHIPPED = ("protopnet-agreement", "prototree-distinction", "unmasking-faces")
"""Studies whose tasks have sections of their own, beside those of the golden session."""
NAMES = {"mnist8k/tc5": named.TC5, "mnist8k/tc10": named.TC10}


def golden(folder: Path) -> Tables:
    return load([golden_session(folder)])


def of_names(_: Path) -> Tables:
    return named.tables(named.cohort(NAMES))


def excluded(folder: Path) -> Tables:
    """Some of whom are left out by rules of the study's own, and by hand."""
    data = folder / "data"
    simulate_study(str(ruled(folder / "study")), 6, "understanding=0.6,random=0.4", data)
    first, second, third, *_ = sorted((data / "ruled").glob("sub-*"))
    decide_by_hand(first, False, "Feueralarm")
    decide_by_hand(second, True, "")
    withdraw(third, folder / "private", delete=False)
    return load([data], withdrawn=True)


def shipped(folder: Path) -> Tables:
    for name in SHIPPED:
        simulate_study(name, 3, "understanding=0.6,random=0.4", folder / name)
    return load([folder / name for name in SHIPPED])


def reviewed(_: Path) -> Tables:
    return test_reviewing.tables()


DESIGNED = """
id: designed
title: Entworfen
version: 1
unnamed_texts: shipped
seed: 8
design: {within: [model]}
flow:
  - stages:
      task: reconstruction
      models: [sinelines/gt, sinelines/vae]
      trials: 1
      skip: always
      target_alignment: 0.5
analysis:
  outcomes: {primary: [completion_rate], secondary: [response_time_s]}
  transform: {response_time_s: log}
  contrasts:
    - {name: Wahrheit, weights: {model: {sinelines/gt: 1, sinelines/vae: -1}}}
  smallest_effect: {completion_rate: {contrast: Wahrheit, raw: 0.2}}
hypotheses:
  - {text: Mehr, outcome: completion_rate, contrast: Wahrheit, direction: greater}
"""


def designed(folder: Path) -> Tables:
    """With a declared design: tests, contrasts in a direction, equivalence, a log outcome."""
    path = folder / "designed.yaml"
    path.write_text(DESIGNED, "utf-8")
    simulate_study(str(path), 6, "understanding=0.6,random=0.4", folder / "data")
    return load([folder / "data"])


def aloud(folder: Path) -> Tables:
    """Whose participants say what they do, so that there is a section on what they said."""
    simulate_study("quickstart", 3, "understanding", folder / "data", thinks_aloud=True)
    return load([folder / "data"])


def german(tables: Tables) -> Translation:
    translation, told = language.choose_language(tables, "de")
    assert translation is not None
    assert not told
    return translation


def german_for_nobody() -> Translation:
    nobody = SimpleNamespace(participants=pd.DataFrame({"study": [], "language": []}))
    return german(cast(Tables, nobody))


def is_data(text: str) -> bool:
    """Ids, labels, formulas of models and what people wrote, not sentences of the report."""
    text = text.rstrip(",;")
    if text in WRITTEN or "⚑" in text or text.startswith("“"):
        return True
    words = [word for word in re.findall(r"[^\W\d_]{2,}", text) if word.islower()]
    ids = re.fullmatch(
        r"[\w/.+−×–:()|\[\]=*%<-]+([,;\s][\s\u2009]*[\w/.+−×–:()|\[\]=*%<-]+)*", text
    )
    return (ids is not None and len(words) <= 3) or ("/" in text and len(words) <= 8)


@pytest.mark.parametrize("tables", [golden, of_names, excluded, shipped, designed, aloud, reviewed])
def test_no_sentence_of_the_german_report_is_english(
    tables: Callable[[Path], Tables], tmp_path: Path
) -> None:
    given = tables(tmp_path)
    spoken = german(given)
    with speaking(spoken):
        findings = Findings.find(given.included())
        page = report(given, findings=findings)
        for each, results in findings.of.items():
            for plate in each.plates(findings.counted, results):
                assert plate.svg
                assert plate.told
        for plate in flow_figures(given.participants):
            assert plate.told
    assert '<html lang="de">' in page
    english = sorted(text for text in spoken.missing if not is_data(text))
    assert not english


SAYS = {"heading": 1, "paragraph": 0, "html": 0, "set_title": 0, "set_xlabel": 0, "set_ylabel": 0,
        "supxlabel": 0, "supylabel": 0}  # fmt: skip
"""The calls with which a section or a figure says something, with the place of the text."""
SHOWN = ("analysis", "papers", "tasks")
UNITS = {"min", "names"}
"""Texts of such calls that are no English: a unit, and the beginning of ids on the page."""


def written(source: str) -> Iterator[str]:
    """The texts without values that a module says on a page or in a figure."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        given = node.args[SAYS[called] :][:1] if called in SAYS else []
        captions = [keyword.value for keyword in node.keywords if keyword.arg == "caption"]
        for value in [*given, *captions]:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value


def test_what_sections_and_figures_say_is_in_the_german_table() -> None:
    spoken = german_for_nobody()
    texts: set[str] = set()
    for path in (path for wing in SHOWN for path in (ROOT / "labapp" / wing).rglob("*.py")):
        source = path.read_text("utf-8")
        if "labapp.base.report" in source:
            texts |= {*written(source)} - UNITS
    assert len(texts) > 80
    for text in texts:
        spoken.say(text)
    english = sorted(text for text in spoken.missing if len(text) > 1)  # a letter is a unit
    assert english == [], "add the German to assets/texts/de/report.yaml"


def measures() -> Iterator[tuple[str, str, str]]:
    """Groups, names and titles of what labapp's own tasks and questionnaires measure."""
    for column in table_columns()["stages"]:
        if column.kind == "number":
            yield "a task", column.name, column.meaning.split(";")[0]
    for path in sorted((ROOT / "assets/instruments").glob("*.yaml")):
        document = yaml.safe_load(path.read_text("utf-8"))
        scores = document.get("scores")
        for score in scores if isinstance(scores, dict) else ():
            yield document["id"], score, ""


@pytest.mark.parametrize("code", ["en", "de"])
def test_every_outcome_of_labapp_has_a_label_in_the_report(code: str) -> None:
    spoken = german_for_nobody() if code == "de" else None
    with speaking(spoken), labelling({"gain": "d′ gained"}, listing.measure_labels()):
        called = {(group, name): label_measure(name, group) for group, name, _ in measures()}
        assert label_measure("gain", "a task") == "d′ gained", "the study's, as it is"
        assert label_measure("effort", "a questionnaire of the lab") == "effort"
    assert len(called) > 40
    assert [of for of, label in called.items() if label == of[1]] == []
    if spoken is not None:
        assert called["nasa-tlx", "effort"] == "Anstrengung"
        for _, _, title in measures():
            spoken.say(title[:1].upper() + title[1:])
        assert sorted(spoken.missing - {""}) == [], "add the German to assets/texts/de/report.yaml"


def test_quotation_marks_are_those_of_the_language() -> None:
    assert listing.quoted("model") == "“model”"
    with speaking(german_for_nobody()):
        assert listing.quoted("model") == "„model“", "what people wrote is not translated"


@pytest.mark.parametrize(
    ("english", "own"),
    [
        (
            (
                "Average ranks, 1 is best: by people Guided backpropagation 1.74 [1.66, 1.81], "
                "LRP 2.02 [1.86, 2.17]; by the model LRP 2.06 [1.72, 2.40]."
            ),
            (
                "Mittlere Ränge (1 ist am besten): bei Menschen Guided backpropagation 1,74 "
                "[1,66; 1,81], LRP 2,02 [1,86; 2,17]; beim Modell LRP 2,06 [1,72; 2,40]."
            ),
        ),
        ("On 4 images the model is wrong.", "Bei 4 Bildern liegt das Modell falsch."),
        (
            "Analysed with labapp 0.1.0 (Python 3.11.7). [Zu ergänzen: Ethikvotum.]",
            "Ausgewertet mit labapp 0.1.0 (Python 3.11.7). [Zu ergänzen: Ethikvotum.]",
        ),
        ("Only one level of model has values.", "Nur eine Stufe von model hat Werte."),
        ("t(216) = 14.80, p < 0.001*", "t(216) = 14,80, p < 0,001*"),
    ],
)
def test_sentences_made_of_several_parts_are_german_in_all_of_them(english: str, own: str) -> None:
    assert german_for_nobody().say(english) == own


def test_a_report_is_in_the_language_of_its_study_and_says_so_once_where_it_cannot(
    tmp_path: Path,
) -> None:
    given = golden(tmp_path)
    assert language.choose_language(given, None) == (None, ""), "the golden study is English"
    given.participants["language"] = "de"
    translation, _ = language.choose_language(given, None)
    assert translation is not None
    assert translation.language == "de"
    translation, told = language.choose_language(given, "fr")
    assert translation is None
    assert "fr" in told
    assert "en, de" in told


def test_studies_in_several_languages_have_an_english_report(tmp_path: Path) -> None:
    given = of_names(tmp_path)
    given.participants["language"] = ["de", *["en"] * (len(given.participants) - 1)]
    translation, told = language.choose_language(given, None)
    assert translation is None
    assert "de, en" in told


def test_a_table_with_a_fault_names_the_sentence(tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    path.write_text('"{a} of {b}": "{a} von"\n', encoding="utf-8")
    with pytest.raises(SetupError, match="must contain these values: a, b"):
        translations.load(path, "the report", "Correct it.")


def test_every_table_has_numbers_of_its_language() -> None:
    for code in language.available()[1:]:
        path = resources.assets() / "texts" / code / language.FILE
        words = translations.load(path, "the report", "")
        assert {".", ","} <= words.keys()


FRENCH = """
"Methods": "Méthodes, selon les séances"
"Study {a:v}": "Étude {a}"
"{a} took part in {b}": "{a} ont participé à {b}"
".": ","
",": "\u202f"
"""


def test_a_language_of_ones_own_is_a_file_and_what_it_lacks_is_listed(tmp_path: Path) -> None:
    words = tmp_path / "report.fr.yaml"
    words.write_text(FRENCH, "utf-8")
    session = golden_session(tmp_path / "data")
    page = analyze([session], tmp_path / "one", language="fr", words=words).read_text("utf-8")
    assert '<html lang="fr">' in page
    assert "Méthodes, selon les séances" in page
    assert "Étude The golden session" in page
    lacking = tmp_path / "one" / language.MISSING
    listed = parse_yaml(lacking, lacking.read_bytes()).value
    assert "Deviations and data quality" in listed
    assert "Methods" not in listed
    filled = {text: f"«{text}»" for text in listed if not set("{}") & set(text)}
    more = "\n".join(f"{json.dumps(a)}: {json.dumps(b)}" for a, b in filled.items())
    words.write_text(f"{FRENCH}\n{more}\n", "utf-8")
    page = analyze([session], tmp_path / "two", language="fr", words=words).read_text("utf-8")
    assert "«Deviations and data quality»" in page
    assert not (tmp_path / "none").exists()


def test_a_file_of_ones_own_may_have_sentences_by_id(tmp_path: Path) -> None:
    given, words = of_names(tmp_path), tmp_path / "words.yaml"
    template = "{% if test.df %}{{ letter }}{% endif %} vaut {{ test.p|p }}"
    words.write_text(f'"design.test": "{template}"\n"Study {{a:v}}": "Étude {{a}}"\n', "utf-8")
    translation, _ = language.choose_language(given, "fr", words)
    assert translation is not None
    assert translation.templates == {"design.test": template}
    assert translation.say("Study A") == "Étude A"
    translation.missing.add("design.model")
    language.write_missing(translation, tmp_path)
    listed = (tmp_path / language.MISSING).read_text("utf-8")
    assert '"design.model": ""' in listed
    assert "# {{ name|say|capital }}, n = " in listed
    words.write_text('"design.test": "{{ tests }}"\n', "utf-8")
    with pytest.raises(SetupError, match="no value called tests"):
        language.choose_language(given, "fr", words)


@pytest.mark.parametrize(
    ("content", "asked", "why"),
    [
        (FRENCH, None, "--language"),
        ("- a\n", "fr", "lines"),
        ('"{a} of {b}": "{a}"\n', "fr", "must contain these values: a, b"),
        (None, "fr", "No such file"),
    ],
)
def test_words_that_cannot_be_used_are_refused_before_anything_is_written(
    content: str | None, asked: str | None, why: str, tmp_path: Path
) -> None:
    words = tmp_path / "words.yaml"
    if content is not None:
        words.write_text(content, "utf-8")
    with pytest.raises(SetupError) as refused:
        analyze([golden_session(tmp_path / "data")], tmp_path / "out", language=asked, words=words)
    assert why in f"{refused.value} {refused.value.todo}"
    assert not (tmp_path / "out").exists()
