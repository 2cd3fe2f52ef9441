"""The search of the built documentation, asked what newcomers type: `scripts/docs.sh` runs it.

    python -m scripts.docs_search FOLDER [WORDS]     FOLDER: of the pages; WORDS: ask these alone

It runs the search's own script and index in Qt's JavaScript, and ends with 1 where a question does
not lead to its page among the first three results.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtQml import QJSEngine

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


def main() -> int:
    application = QCoreApplication.instance() or QCoreApplication([])
    search = SiteSearch(Path(sys.argv[1]))
    if asked := " ".join(sys.argv[2:]):
        print("\n".join(search.find(asked)[:10]))
        return 0
    missed = [(words, page) for words, page in QUESTIONS if page not in search.find(words)[:FIRST]]
    for words, page in missed:
        print(f"“{words}” does not find {page}, but {', '.join(search.find(words)[:FIRST])}")
    print(f"search: {len(QUESTIONS) - len(missed)} of {len(QUESTIONS)} questions find their page")
    del application
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
