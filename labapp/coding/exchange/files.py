"""New files of the formats: written whole or not at all, never over another one.

XML from outside: without entities, not deep, not larger in memory than its budget, and of the right
kind.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO
from xml.parsers import expat

from labapp.base import access, durable, leftovers
from labapp.base.errors import ExchangeError
from labapp.base.messages import Message
from labapp.base.reading import tables
from labapp.base.reading.files import too_large
from labapp.base.reading.values import LINES, Budget, TooMuch
from labapp.record.journal.layout import refuse_inside

LARGEST = 32 * 1024 * 1024
"""Bytes of a file that is brought in; of one with sound in it, what is not sound."""
LARGEST_TEXT = 16 * 1024 * 1024
"""Bytes of a text: in memory it can take four times as much, and is copied."""
MS = 1_000_000


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet. Raises ExchangeError."""
    with new_file(path) as stream:
        stream.write(content)


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that is not there yet, to be written bit by bit. Raises ExchangeError."""
    refuse_existing(path)
    try:
        access.make_above(path)
        with leftovers.on_its_way(_sessions.get(), path) as (draft,):
            with draft.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            durable.take_name(draft, path)
    except FileExistsError as error:
        refuse_existing(path)
        raise unwritable(path, error) from error  # the folder is a file
    except durable.NotConfirmedError as error:
        raise ExchangeError(
            Message("file_not_confirmed", path=str(path), why=str(error.strerror)),
            safe=Message("file_whole"),
            todo=Message("make_room_or_other"),
        ) from error
    except OSError as error:
        raise unwritable(path, error) from error


_sessions: ContextVar[Sequence[Path]] = ContextVar("sessions", default=())


@contextmanager
def register_new_files(sessions: Sequence[Path]) -> Iterator[None]:
    """Within the block the studies of these session folders know of each new file before it has a
    byte, see `labapp.base.leftovers`."""
    token = _sessions.set(sessions)
    try:
        yield
    finally:
        _sessions.reset(token)


def refuse_existing(path: Path) -> None:
    """Raises ExchangeError if a file is there already, UsageError if it would lie in a
    session's folder."""
    refuse_inside(path)
    if path.exists() or path.is_symlink():
        raise ExchangeError(
            Message("file_there", path=str(path)),
            safe=Message("not_changed"),
            todo=Message("name_other"),
        )


def unwritable(path: Path, error: OSError) -> ExchangeError:
    """The error if a file cannot be written."""
    return ExchangeError(
        Message("file_unwritable", path=str(path), why=str(error.strerror or error)),
        todo=Message("make_room_or_other"),
    )


def unreadable(name: str, why: str, todo: str = "") -> ExchangeError:
    """The error if a file is not what its name says."""
    return ExchangeError(
        Message("file_unreadable", name=name, why=why),
        safe=Message("nothing_brought_in"),
        todo=todo or Message("save_anew"),
    )


TOO_MUCH = "Split the file, or leave out what is not needed here, such as tiers with single words."
"""What to do about a file that holds more than is read."""


def decode_text(content: bytes, name: str) -> str:
    """The text of a file in UTF-8 or UTF-16, without its byte order mark. Raises ExchangeError,
    also for one that is too long."""
    if len(content) > LARGEST_TEXT:
        raise unreadable(name, str(too_large(len(content), LARGEST_TEXT)), TOO_MUCH)
    if max(content.count(b"\n"), content.count(b"\r")) > LINES:
        raise unreadable(name, f"it has more than {LINES:,} lines", TOO_MUCH)
    encoding = "utf-8-sig"
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise unreadable(
            name, f"it is not text in UTF-8 or UTF-16 ({error.reason})", "Save it as UTF-8."
        ) from error


def table_rows(
    content: bytes,
    name: str,
    needed: Sequence[str],
    known: Sequence[str] = (),
    *,
    quotes: bool = True,
) -> tuple[list[tuple[int, dict[str, str]]], tuple[str, ...]]:
    """A table with a line of names: of each row its line and its cells by column, and the columns
    that nobody asked for. See `labapp.base.reading.tables`. Raises ExchangeError: it is no table,
    lacks a column of `needed`, or holds too much."""
    if len(content) > LARGEST_TEXT:
        raise unreadable(name, str(too_large(len(content), LARGEST_TEXT)), TOO_MUCH)
    try:
        table = tables.read(content, padded=True, quotes=quotes)
        places = table.columns(needed, known)
        rows = [
            (line, {column: cells[place] for column, place in places.items()})
            for line, cells in table.rows
        ]
    except tables.TableError as error:
        raise unreadable(name, error.what, f"{error.todo}.") from error
    return rows, tuple(column for column in places if column not in {*needed, *known})


def ms(t_ns: int) -> int:
    """A time in whole milliseconds."""
    return (t_ns + MS // 2) // MS


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


def parse_xml(content: bytes, name: str, root: str) -> ET.Element:
    """The tree of an XML file, namespaces of tags as `{namespace}tag`. Raises ExchangeError: it is
    no XML, defines entities, is larger than its budget, or begins with something else.

    Parameters
    ----------
    content : the file.
    name : its name, for messages.
    root : the tag that it has to begin with.
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
        raise unreadable(name, f"it is not valid XML ({error})") from error
    if tree.tag != root:
        raise unreadable(name, f"it begins with <{str(tree.tag)[:80]}>, not with <{root}>")
    return tree


def _refuse(*_: object) -> None:
    raise ValueError("it defines entities, which no such file needs")
