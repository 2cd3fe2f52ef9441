"""What newcomers type leads to the page that answers it, in the window with the documentation.

`scripts/docs.sh` asks the same of the search of the built pages.
"""

from __future__ import annotations

import pytest
import yaml
from pytestqt.qtbot import QtBot

from labapp.base import resources
from labapp.base.documentation import DocumentationSearch
from scripts.docs_search import FIRST, QUESTIONS
from tests.helpers.recipes import DOCS

ASKED = pytest.mark.parametrize(("words", "page"), QUESTIONS, ids=lambda value: str(value))


@pytest.fixture(scope="module")
def texts() -> DocumentationSearch:
    return DocumentationSearch(resources.documentation_texts())


@ASKED
def test_the_window_finds_the_page(texts: DocumentationSearch, words: str, page: str) -> None:
    assert f"{page}.md" in [found.page for found in texts.find(words)[:FIRST]]


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
    window.page.anchorClicked.emit(QUrl("../reference/README.md#study-files"))
    assert window.page.textCursor().block().text() == "Study files"
    window.page.anchorClicked.emit(QUrl("study.md"))
    assert "make docs" in window.says.text()
    window.back.click()
    window.back.click()
    assert window.page.path.stem == "troubleshooting"
    window.resize(700, 600)
    qtbot.waitUntil(lambda: window.page._drawn_for == window.page.width())
