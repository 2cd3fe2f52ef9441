"""A study's texts: Markdown pages with values filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VALUE = re.compile(r"\{(\w+)\}")
_BRACES = re.compile(r"\{[^{}]*\}")
_ONE_BRACE = re.compile(r"\{\w+|\w+\}")
_NEARLY = re.compile(r"\{(?!\w+\})[ \w-]*\}")
PICTURE = re.compile(r"!\[((?:\\.|[^\[\]\\]|\[[^\[\]]*\])*)\]\(([^)\s]*)[^)]*\)")
"""A picture in Markdown: its words, which may have brackets, and its name."""
_BEGINS = r"your|name of|insert|ihre?[mnrs]?\b|name de[rs]\b|name ihre[rs]\b|bitte\b"
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)(?:\s[^<>]*)?/?>")
_AS_WRITTEN = re.compile(r"(?ms)^(```|~~~).*?^\1|(`+)(?!`).+?(?<!`)\2(?!`)|\\<")
"""Of Markdown: code, and < behind a backslash."""
_PLACEHOLDER = re.compile(rf"\[(?:{_BEGINS})[^\]\n]*\](?!\()", re.IGNORECASE)


def pages(text: str) -> list[str]:
    """The pages of a text, divided by lines of three dashes, without comments (`<!-- … -->`)."""
    read = _COMMENT.sub("", text)
    return [page.strip() for page in re.split(r"(?m)^---\s*$", read) if page.strip()]


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace each {name} in a text with its value; other braces are unchanged. A paragraph with an
    empty value is left out."""
    paragraphs = re.split(r"\n[ \t]*\n", text)
    filled = [p for p in paragraphs if all(values.get(n) != "" for n in _VALUE.findall(p))]
    return _VALUE.sub(lambda m: values.get(m.group(1), m.group(0)), "\n\n".join(filled))


def names(text: str) -> list[str]:
    """Every {name} of a text, once each, in the order of the text."""
    return list(dict.fromkeys(_VALUE.findall(text)))


def near_names(text: str) -> list[str]:
    """What was meant as a {name}, once each: with spaces, a hyphen or nothing between its braces,
    or with one brace alone."""
    alone = _ONE_BRACE.findall(_BRACES.sub(" ", text))
    return list(dict.fromkeys([*_NEARLY.findall(text), *alone]))


def picture_names(text: str) -> list[str]:
    """Every picture that a text names, as `![](name)`, once each."""
    return list(dict.fromkeys(name for _, name in PICTURE.findall(text)))


def tags(text: str, *, markdown: bool = True) -> list[str]:
    """Every kind of HTML tag of a text, as it is first written, such as `<b>`: screens show it like
    any other word. markdown: not in code and comments, nor behind a backslash."""
    if "<" not in text:
        return []
    if markdown:
        text = _AS_WRITTEN.sub("", _COMMENT.sub("", text))
    written: dict[str, str] = {}
    for tag in _TAG.finditer(text):
        written.setdefault(tag[1].lower(), tag[0])
    return list(written.values())


def line_of(text: str, part: str) -> int:
    """The line, from 1, on which a string first occurs in a text; 1 if it does not."""
    return text[: max(text.find(part), 0)].count("\n") + 1


def placeholders(text: str) -> list[str]:
    """Placeholders that the lab has to fill in, such as [your institution] or [Ihre Hochschule]."""
    return _PLACEHOLDER.findall(text)
