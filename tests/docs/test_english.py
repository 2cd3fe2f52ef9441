"""No page, screen or message has a phrase that readers have to decode.

Each phrase was found many times, and replaced by what a native speaker writes. Add one here when
you replace it everywhere, but never a single word that has a good use.
"""

from __future__ import annotations

import re

from tests.helpers.recipes import DOCS, ROOT

PHRASES = {
    r"\bstands? (?:beside|in for|behind|there|with its)\b": "is next to, replaces, follows, is",
    r"\b(?:is|are|be) told (?:of|by|in|with|what|the)\b": "is reported, shown or given",
    r"\btells? of\b": "shows, mentions",
    r"\bgo(?:es)? on (?:at|by itself|with it|where|to the next|from there)\b": "continue",
    r"\bset(?:s|ting)? right what\b": "correct what",
    r"\bsees? (?:it )?wrongly\b": "gets wrong",
    r"\bin earnest\b": "carefully",
    r"\bnot (?:read|shown|given|there) any more\b": "no longer",
    r"\bcomes? by itself\b": "appears",
    r"\b[Ss]omebody who\b": "someone who, people who",
    r"\breasons of\b": "reasons for",
    r"\btak(?:e|es|en) (?:it|them|the others) along\b": "include",
    r"\bone a (?:unit|line|session|photo|picture)\b": "one per",
    r"\b[Ww]hoever\b": "people who, you",
    r"\banew\b": "again",
    r"\bbeside(?: it| them| the| a| each| ours| yours| its)\b": "next to, with",
    r"\b[Ff]oret(?:old|ells?)\b": "forecast, predict",
}
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`|\{[^}\n]*\}", re.MULTILINE | re.DOTALL)


def readings() -> dict[str, str]:
    """What people read, by file, without code and names in braces."""
    pages = [
        *(path for folder in SHELVES for path in sorted((DOCS / folder).glob("*.md"))),
        *sorted((ROOT / "assets/texts/en").glob("*.md")),
    ]
    read = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in pages}
    words = (ROOT / "assets/words/en.po").read_text("utf-8")
    read["assets/words/en.po"] = re.sub(r"^msgid.*$", "", words, flags=re.MULTILINE)
    return {name: CODE.sub("", text) for name, text in read.items()}


SHELVES = ("guide", "tutorials", "explanation", "recipes")


def test_nothing_has_to_be_decoded() -> None:
    found = [
        f"{name}: “{match[0]}” (write: {better})"
        for name, text in readings().items()
        for phrase, better in PHRASES.items()
        for match in re.finditer(phrase, text)
    ]
    assert not found, "\n".join(found)


def test_the_phrases_are_recognised() -> None:
    for words in ("stands beside it", "whoever fails", "is told what to do", "one a unit"):
        assert any(re.search(phrase, words) for phrase in PHRASES), words
