"""What a study calls its outcomes, factors, levels and models where people read them.

Tables that are files keep the names; pages and figures have the labels in their place: a text that
is a name, parts of a text between commas, colons, brackets and signs that are names, and names
that no word of a sentence can be, such as `completion_rate` or `sinelines/ae`, anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_BORDERS = re.compile(
    r"(\s*[,:;×·→–/]\s+|\s+[×·→–/(]\s*|[()=\n]+|[.]$"
    r"|\b(?:by|minus|and|or|between|within|against)\s+|\s+(?=(?:by|minus|and|or|against)\b))"
)
"""Between names that are listed, crossed or set against each other."""
_NAME = re.compile(r"[/_.]")
"""Letters that make a name what no word is."""


class Labels:
    """Labels by the names that they stand for.

    labels: the study's. measures: those of labapp's own outcomes, by name, or by questionnaire and
    score with a dot between; they are shown only where an outcome is named.
    """

    def __init__(
        self, labels: Mapping[str, str], measures: Mapping[str, str] | None = None
    ) -> None:
        self._labels = dict(labels)
        self._measures = dict(measures or {})
        names = sorted((name for name in labels if _NAME.search(name)), key=len, reverse=True)
        joined = "|".join(map(re.escape, names))
        self._anywhere = re.compile(rf"(?<![\w/.])(?:{joined})(?![\w/])") if names else None
        self._known: dict[str, str] = {}

    def whole(self, text: str) -> str:
        """A text that is a name as its label; any other as it is."""
        return self._labels.get(text, text)

    def of_measure(self, name: str, group: str) -> str:
        """The label of an outcome of a task or questionnaire, or "" without one: the study's, else
        labapp's, which begins with a small letter where the language has one."""
        own = self._labels.get(name)
        score = f"{group}.{name.rpartition('.')[2]}"
        return own or self._measures.get(score) or self._measures.get(name, "")

    def put(self, text: str) -> str:
        """A text with labels in the place of names."""
        if text not in self._known:
            self._known[text] = self._put(text)
        return self._known[text]

    def _put(self, text: str) -> str:
        if (label := self._labels.get(text.strip())) is not None:
            return text.replace(text.strip(), label)
        parts = _BORDERS.split(text)
        made = "".join(self._labels.get(part, part) for part in parts)
        if self._anywhere is None:
            return made
        return self._anywhere.sub(lambda match: self._labels[match[0]], made)


_SHOWN: ContextVar[Labels | None] = ContextVar("labels of the report", default=None)


@contextmanager
def labelling(
    labels: Mapping[str, str], measures: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Show labels in the place of names in all pages and figures that are made inside; see
    `Labels`."""
    token = _SHOWN.set(Labels(labels, measures) if labels or measures else None)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def current_labels() -> Labels | None:
    """The labels that are shown; None where names are."""
    return _SHOWN.get()


def labelled(text: str) -> str:
    """A text with the labels that are shown in the place of names."""
    labels = current_labels()
    return text if labels is None else labels.put(text)


def label_measure(name: str, group: str) -> str:
    """An outcome of a task or questionnaire as a heading names it: the study's label as it is,
    labapp's with a capital; its name if it has none."""
    labels = current_labels()
    if labels is None:
        return name
    if (own := labels.whole(name)) != name:
        return own
    label = labels.of_measure(name, group)
    return label[:1].upper() + label[1:] or name
