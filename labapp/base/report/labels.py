"""What a study calls its outcomes, factors, levels and models where people read them.

Tables that are files keep the names; pages and figures have the labels in their place: a text that
is a name, parts of a text between commas, colons, brackets and signs that are names, and names
that no word of a sentence can be, such as `completion_rate` or `sinelines/ae`, anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

_BORDERS = re.compile(
    r"(\s*[,:;×·→–]\s+|\s+/\s+|\s+[×·→–(]\s*|[()=]+|(?<![-/_.])\n+|[.]$"
    r"|\b(?:by|minus|and|or|between|within|against)\s+|\s+(?=(?:by|minus|and|or|against)\b))"
)
"""Between names that are listed, crossed or set against each other."""
_NAME = re.compile(r"[/_.]")
"""Letters that make a name what no word is."""
_BREAK = re.compile(r"(?<=[-/_.])\n")
"""Where a name is broken into lines; see `labapp.base.report.drawing.wrap`."""
_OF_QUESTIONNAIRE = re.compile(r"[a-z][\w-]*[.]([a-z]\w*)")
"""What a questionnaire asks or scores, named with the questionnaire."""


@dataclass(frozen=True, slots=True)
class Worded:
    """An item of a questionnaire as participants read it, and its options by their ids."""

    text: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


class Labels:
    """Labels by the names that they stand for.

    labels: the study's. measures: those of labapp's own outcomes, by name, or by questionnaire and
    score with a dot between; they are shown only if an outcome is named. items: see `Worded`, by
    questionnaire and item with a dot between, and titles of questionnaires; they are shown only
    if an answer, or what it belongs to, is named. order:
    of models, as the study lists them.
    """

    def __init__(
        self,
        labels: Mapping[str, str],
        measures: Mapping[str, str] | None = None,
        items: Mapping[str, Worded] | None = None,
        order: Sequence[str] = (),
    ) -> None:
        self._places = {name: place for place, name in enumerate(order)}
        self._labels = dict(labels)
        self._measures = dict(measures or {})
        self._items = dict(items or {})
        names = sorted((name for name in labels if _NAME.search(name)), key=len, reverse=True)
        joined = "|".join(map(re.escape, names))
        self._anywhere = re.compile(rf"(?<![\w/.])(?:{joined})(?![\w/])") if names else None
        self._known: dict[str, str] = {}

    def whole(self, text: str) -> str:
        """A text that is a name as its label; any other as it is."""
        return self.label(text) or text

    def label(self, name: str) -> str:
        """The study's label of a name, "" without one. An item or score that is named with its
        questionnaire may have it by its own name, if no other one has an item of that name."""
        label, longer = self._labels.get(name), _OF_QUESTIONNAIRE.fullmatch(name)
        if label is not None or longer is None or longer[1] not in self._labels:
            return label or ""
        others = (each for each in self._items if each.endswith(f".{longer[1]}"))
        clear = all(each == name or each in self._labels for each in others)
        return self._labels[longer[1]] if clear else ""

    def of_measure(self, name: str, group: str) -> str:
        """The label of an outcome of a task or questionnaire, or "" without one: the study's, else
        labapp's, which begins with a small letter if the language has one."""
        score = f"{group}.{name.rpartition('.')[2]}"
        own = self.own_measure(name, group)
        return own or self._measures.get(score) or self._measures.get(name, "")

    def own_measure(self, name: str, group: str) -> str:
        """The study's label of an outcome of a task or questionnaire, "" without one."""
        return self._labels.get(f"{group}.{name.rpartition('.')[2]}") or self.label(name)

    def of_item(self, name: str) -> tuple[str, Worded]:
        """The label of an item, or of another variable, "" without one; and how it is worded."""
        own = name.rpartition(".")[2]
        known = (each for each in self._items if "." in each)
        called = [each for each in known if each == name or each.endswith(f".{name}")]
        worded = self._items[called[0]] if len(called) == 1 else Worded()
        whose = called if len(called) == 1 else ()  # of two questionnaires it is neither's
        names = (each for each in (name, *whose, own) if each in self._labels)
        label = self._labels.get(next(names, ""), "")
        return label, worded

    def rename(self, title: str) -> str:
        """The study's label of the outcome that labapp calls so; any other title as it is."""
        named = (name for name, words in self._measures.items() if words.lower() == title.lower())
        return next((self._labels[name] for name in named if name in self._labels), title)

    def of_group(self, name: str) -> str:
        """What a task or questionnaire is called: its label, else its title, else its name."""
        return self._labels.get(name) or self._items.get(name, Worded()).text or name

    def place(self, name: str) -> tuple[int, str]:
        """By which names are sorted: as the study lists them, others after these."""
        return self._places.get(name, len(self._places)), name

    def put(self, text: str) -> str:
        """A text in which names are replaced by labels."""
        if text not in self._known:
            self._known[text] = self._put(text)
        return self._known[text]

    def _put(self, text: str) -> str:
        if label := self.label(_BREAK.sub("", text.strip())):
            return text.replace(text.strip(), label)
        cell, sign, number = text.rpartition(" #")
        if number.isdecimal():  # of a slot of the cell
            return f"{self.put(cell)}{sign}{number}"
        parts = _BORDERS.split(text)
        made = "".join(map(self.whole, parts))
        if self._anywhere is None:
            return made
        return self._anywhere.sub(lambda match: self._labels[match[0]], made)


_SHOWN: ContextVar[Labels | None] = ContextVar("labels of the report", default=None)


@contextmanager
def labelling(
    labels: Mapping[str, str],
    measures: Mapping[str, str] | None = None,
    items: Mapping[str, Worded] | None = None,
    order: Sequence[str] = (),
) -> Iterator[None]:
    """Show labels in the place of names in all pages and figures that are made inside; see
    `Labels`."""
    shown = labels or measures or items or order
    token = _SHOWN.set(Labels(labels, measures, items, order) if shown else None)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def current_labels() -> Labels | None:
    """The labels that are shown; None if names are."""
    return _SHOWN.get()


def place_of(name: str) -> tuple[int, str]:
    """By which models are sorted where a report lists them; see `Labels.place`."""
    labels = current_labels()
    return (0, name) if labels is None else labels.place(name)


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
    if own := labels.own_measure(name, group):
        return own
    label = labels.of_measure(name, group)
    return label[:1].upper() + label[1:] or name
