"""XML from outside: without entities, not deep, and of the right kind."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from xml.parsers import expat

from labapp.exchange.files import unreadable

DEEPEST = 100
MOST = 2_000_000
"""Elements in a file."""
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def plain(text: str) -> str:
    """A text as XML can hold it: without control characters, and with lines ended by one."""
    return _UNFIT.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


class _Builder:
    """Builds a tree, and refuses what only attacks have."""

    def __init__(self) -> None:
        self.tree = ET.TreeBuilder()
        self.depth = self.count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} deep")
        self.count += 1
        if self.count > MOST:
            raise ValueError(f"it has more than {MOST} elements")
        self.tree.start(tag, attributes)

    def end(self, tag: str) -> None:
        self.depth -= 1
        self.tree.end(tag)


def parsed(content: bytes, name: str, root: str) -> ET.Element:
    """The tree of an XML file, namespaces of tags as `{namespace}tag`.

    Parameters
    ----------
    content : bytes
        The file.
    name : str
        Its name, for messages.
    root : str
        The tag that it has to begin with.

    Raises
    ------
    ExchangeError
        It is no XML, defines entities, or begins with something else.
    """
    builder = _Builder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = lambda tag, fields: builder.start(
        _tag(tag), {_tag(key): value for key, value in fields.items()}
    )
    parser.EndElementHandler = lambda tag: builder.end(_tag(tag))
    parser.CharacterDataHandler = builder.tree.data
    parser.EntityDeclHandler = _refuse
    parser.buffer_text = True
    try:
        parser.Parse(content, True)
        tree = builder.tree.close()
    except (expat.ExpatError, ValueError, LookupError, AssertionError) as error:
        raise unreadable(name, f"it is no sound XML ({error})") from error
    if tree.tag != root:
        raise unreadable(name, f"it begins with <{str(tree.tag)[:80]}>, not with <{root}>")
    return tree


def _tag(name: str) -> str:
    return f"{{{name}" if "}" in name else name


def _refuse(*_: object) -> None:
    raise ValueError("it defines entities, which no such file needs")
