"""What newcomers type leads to the page that answers it, in both searches of the documentation."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from PySide6.QtCore import QCoreApplication
from PySide6.QtQml import QJSEngine
from pytestqt.qtbot import QtBot

from labapp.base import resources
from labapp.base.documentation import DocumentationSearch
from tests.helpers.recipes import DOCS, ROOT

FIRST = 3
QUESTIONS = (
    ("installation", "guide/installing"),
    ("install on windows", "guide/installing"),
    ("install without admin rights", "guide/installing"),
    ("proxy", "guide/installing"),
    ("GPU", "guide/installing"),
    ("uninstall", "guide/installing"),
    ("no sound", "guide/troubleshooting"),
    ("microphone not working", "guide/troubleshooting"),
    ("second monitor", "guide/troubleshooting"),
    ("wayland", "guide/troubleshooting"),
    ("doctor", "guide/troubleshooting"),
    ("how do I withdraw a participant", "explanation/privacy"),
    ("delete a session", "explanation/privacy"),
    ("rename a participant", "guide/faq"),
    ("excel", "guide/analysis"),
    ("SPSS", "guide/analysis"),
    ("report", "guide/analysis"),
    ("consent", "guide/studies"),
    ("German", "guide/studies"),
    ("counterbalancing", "guide/studies"),
    ("attention check", "guide/studies"),
    ("pilot", "guide/studies"),
    ("cite", "guide/cite"),
    ("backup", "guide/upgrade"),
    ("upgrade", "guide/upgrade"),
    ("where are my data", "guide/upgrade"),
    ("own decoder", "tutorials/own-decoder"),
    ("own questionnaire", "tutorials/own-questionnaire"),
    ("create a study", "tutorials/own-study"),
    ("power analysis", "guide/simulation"),
    ("how many participants", "guide/simulation"),
    ("kappa", "guide/agreement"),
    ("inter-rater", "guide/agreement"),
    ("transcription", "guide/transcripts"),
    ("resume after crash", "explanation/resume"),
    ("GDPR", "guide/it-and-ethics"),
    ("IRB", "guide/it-and-ethics"),
    ("share data OSF", "guide/sharing"),
    ("eeg", "guide/lsl"),
    ("python", "guide/python"),
    ("checklist", "guide/cards"),
    ("keyboard shortcuts", "guide/cards"),
    ("which study", "guide/gallery"),
    ("NVivo", "guide/exchange"),
    ("which statistical test", "explanation/statistics"),
)
"""What is typed, and the page that is among the first three."""
ASKED = pytest.mark.parametrize(("words", "page"), QUESTIONS, ids=lambda value: str(value))
WORKER = """
var self = this, listeners = [], answers = [];
function addEventListener(kind, listener) { listeners.push(listener); }
function postMessage(message) { answers.push(message); }
"""
"""What a worker of a browser has, as far as the search asks for it."""
HAN, CJK = r"\\p{sc=Han}+", r"[\\u4e00-\\u9fff]+"
"""Qt's JavaScript knows no names of scripts; no page has Chinese in it."""


class SiteSearch:
    """The search of the built pages: its own script and index, run by Qt's JavaScript."""

    def __init__(self, site: Path) -> None:
        (script,) = site.glob("assets/javascripts/workers/search.*.js")
        self._engine = QJSEngine()
        self._engine.installExtensions(QJSEngine.Extension.ConsoleExtension)
        index = (site / "search" / "search_index.js").read_text("utf-8")
        code = script.read_text("utf-8")
        assert HAN in code
        for part in (WORKER, code.replace(HAN, CJK), index):
            result = self._engine.evaluate(part)
            assert not result.isError(), result.toString()
        self._send("{type: 0, data: Object.assign(__index, {options: {suggest: false}})}")

    def find(self, words: str) -> list[str]:
        """The pages that are found, the best first."""
        (answer,) = self._send(json.dumps({"type": 2, "data": words}))
        pages = [entries[0]["location"] for entries in answer["data"]["items"]]
        return [page.partition("#")[0].removesuffix(".html") for page in pages]

    def _send(self, message: str) -> Any:
        result = self._engine.evaluate(f"answers = []; listeners[0]({{data: {message}}})")
        assert not result.isError(), result.toString()
        for _ in range(1000):  # until its promises are kept
            QCoreApplication.processEvents()
            if answers := json.loads(self._engine.evaluate("JSON.stringify(answers)").toString()):
                return answers
        raise AssertionError("the search did not answer")


@pytest.fixture(scope="module")
def texts() -> DocumentationSearch:
    return DocumentationSearch(resources.documentation_texts())


@pytest.fixture(scope="module")
def site(qapp: QCoreApplication) -> SiteSearch:
    """Of the pages, which `make test` builds first; built here where they are older than a text."""
    index = ROOT / "build" / "docs" / "search" / "search_index.js"
    written = [*DOCS.rglob("*.md"), DOCS / "keywords.yaml", ROOT / "mkdocs.yml"]
    newest = max(path.stat().st_mtime for path in written)
    if not index.is_file() or index.stat().st_mtime < newest:
        subprocess.run([ROOT / "scripts" / "docs.sh"], check=True, timeout=600)
    return SiteSearch(index.parents[1])


@ASKED
def test_the_window_finds_the_page(texts: DocumentationSearch, words: str, page: str) -> None:
    assert f"{page}.md" in [found.page for found in texts.find(words)[:FIRST]]


@pytest.mark.timeout(600)
@ASKED
def test_the_built_pages_find_the_page(site: SiteSearch, words: str, page: str) -> None:
    assert page in site.find(words)[:FIRST]


def test_a_question_without_a_word_that_says_something_finds_nothing(
    texts: DocumentationSearch,
) -> None:
    assert texts.find("how do I") == []
    assert texts.find('backup" * OR (')[0].page == "guide/upgrade.md"


def test_keywords_are_of_pages_that_are_there() -> None:
    from scripts.docs_reference import PAGES

    pages = yaml.safe_load((DOCS / "keywords.yaml").read_text("utf-8"))
    assert [page for page in pages if not (DOCS / page).is_file() and page not in PAGES] == []
    assert all(word == word.lower() for words in pages.values() for word in words)


def test_the_window_shows_pages_and_finds_them(qtbot: QtBot) -> None:
    from PySide6.QtCore import QUrl

    from labapp.base.documentation import first_text
    from labapp.ui.documentation import DocumentationWindow

    window = DocumentationWindow(first_text())
    qtbot.addWidget(window)
    window.show()
    window.words.setText("no sound")
    assert window.results.item(0).text() == "Troubleshooting"
    qtbot.keyClick(window.words, "\r")
    assert "labapp doctor" in window.page.toPlainText()
    window.page.anchorClicked.emit(QUrl("installing.md#with-torch-or-without"))
    assert window.page.textCursor().block().text() == "With torch or without"
    window.page.anchorClicked.emit(QUrl("../reference/study.md"))
    assert "make docs" in window.says.text()
    window.back.click()
    assert window.page.path.stem == "troubleshooting"
    window.resize(700, 600)
    qtbot.waitUntil(lambda: window.page._drawn_for == window.page.width())
