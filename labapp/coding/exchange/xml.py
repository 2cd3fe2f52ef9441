"""XML from outside: without entities, not deep, not larger in memory than its budget, and of the
right kind."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from xml.parsers import expat

from labapp.base.reading.values import Budget, TooMuch
from labapp.coding.exchange.files import TOO_MUCH, unreadable

DEEPEST = 100
MOST = 1_000_000
"""Elements in a file, and attributes."""
_ELEMENT, _ATTRIBUTES, _ATTRIBUTE = 80, 180, 60
"""Bytes of an element, of its first attribute, and of each, without their texts."""
_NVIVO = re.compile(r"(urn:QDA-XML:\w+):1:0\}")
"""The namespaces of REFI-QDA as NVivo writes them."""
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def plain(text: str) -> str:
    """A text as XML can hold it: without control characters, and with lines ended by one."""
    return _UNFIT.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


class _Builder:
    """Builds a tree, and refuses what only attacks have."""

    def __init__(self) -> None:
        self.tree = ET.TreeBuilder()
        self.depth = 0
        self._budget = Budget()
        self._tags: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} deep")
        # A tag is charged for each time, though it is kept once: the parser makes a new copy.
        memory = _ELEMENT + len(tag)
        if attributes:
            memory += _ATTRIBUTES + len(attributes) * _ATTRIBUTE
            self._budget.take(*attributes, *attributes.values())
            attributes = {self._tag(key): value for key, value in attributes.items()}
        self._budget.take(memory=memory)
        self.tree.start(self._tag(tag), attributes)

    def end(self, tag: str) -> None:
        self.depth -= 1
        self.tree.end(self._tag(tag))

    def data(self, text: str) -> None:
        self._budget.take(text)
        self.tree.data(text)

    def _tag(self, name: str) -> str:
        """A name with its namespace in braces."""
        if (tag := self._tags.get(name)) is None:
            tag = _NVIVO.sub(r"\1:1.0}", name)
            tag = self._tags[name] = f"{{{tag}" if "}" in tag else tag
        return tag


def parsed(content: bytes, name: str, root: str) -> ET.Element:
    """The tree of an XML file, namespaces of tags as `{namespace}tag`.

    Parameters
    ----------
    content : the file.
    name : its name, for messages.
    root : the tag that it has to begin with.

    Raises
    ------
    ExchangeError
        It is no XML, defines entities, is larger than its budget, or begins with something else.
    """
    builder = _Builder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = _refuse
    parser.buffer_text = True
    try:
        # Before the parser is asked, for it gives all attributes of an element at once.
        if max(content.count(b"<") // 2, content.count(b"=")) > MOST:
            raise TooMuch(f"it has more than {MOST:,} elements or attributes")
        parser.Parse(content, True)
        tree = builder.tree.close()
    except TooMuch as error:
        raise unreadable(name, str(error), TOO_MUCH) from error
    except (expat.ExpatError, ValueError, LookupError, AssertionError) as error:
        raise unreadable(name, f"it is no sound XML ({error})") from error
    if tree.tag != root:
        raise unreadable(name, f"it begins with <{str(tree.tag)[:80]}>, not with <{root}>")
    return tree


def _refuse(*_: object) -> None:
    raise ValueError("it defines entities, which no such file needs")
