"""REFI-QDA projects that come in: our own that were worked on, and those of other tools.

Codes count where they have a time: on sound and video, on a transcript between two of its times,
and on the words that went out from here, where a code is one of the unit that it stands on. What
has no time, as a code on any other text, is told. Things are known by their ids, else by names and
places: some tools give everything new ids.
"""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET
import zipfile
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import IO, Any

from labapp.exchange.files import LARGEST, decoded, unreadable
from labapp.exchange.model import Arrival, Stamp
from labapp.exchange.qdpx import INTERNAL, PROJECT, SOURCES, SPACE
from labapp.exchange.qdpx_sounds import Code, Noted, SoundIn, tag
from labapp.exchange.refi import ORIGIN, guid, known_guid, line, read_codes, tier_and_code
from labapp.exchange.xml import parsed
from labapp.messages import Message
from labapp.reading import archives, files
from labapp.reading.values import Budget, json_value

_OTHER = {
    "PictureSource": Message("project_picture"),
    "PDFSource": Message("project_pdf"),
    "TextSource": Message("project_text"),
}
LARGEST_PROJECT = LARGEST
"""Bytes of a project's own file: ten thousand codes on units of theirs have ten million."""
_LEFT = ("Cases", "Variables", "Links", "Sets", "Graphs")
_ATLAS = "atlas"


def read(content: bytes, name: str) -> tuple[Arrival, ...]:
    """Read a project; see `labapp.exchange.model.Read`."""
    return _read(io.BytesIO(content), name)


def read_file(path: Path) -> tuple[Arrival, ...]:
    """Read a project where it lies, without its sound. Raises ExchangeError, OSError."""
    with files.open_file(path) as stream:
        return _read(stream, path.name)


def _read(stream: IO[bytes], name: str) -> tuple[Arrival, ...]:
    try:
        with archives.archive(stream) as opened:
            archives.take_backslashes(opened)
            archives.refuse_entries(opened)
            archive = _Archive(opened, name)
            project = archive.project()
            return _Reader(parsed(project, name, tag("Project")), archive, name).arrivals()
    except (OSError, ValueError) as error:
        raise unreadable(name, str(error)) from error


class _Archive:
    """What of an archive is no sound: at most `LARGEST` bytes in all."""

    def __init__(self, opened: zipfile.ZipFile, name: str) -> None:
        self._opened, self._name, self._left = opened, name, LARGEST
        self._names = {entry.casefold(): entry for entry in opened.namelist()}

    def project(self) -> bytes:
        """The project's own file. Raises ExchangeError, OSError, ValueError."""
        tops = [entry for entry in self._names.values() if PurePosixPath(entry).name == entry]
        known = [entry for entry in tops if entry.casefold().endswith(".qde")]
        if PROJECT in known:
            known = [PROJECT]
        if len(known) != 1:
            why = f"it has {len(known)} files .qde" if known else f"there is no {PROJECT} in it"
            raise unreadable(self._name, why)
        return self._content(known[0], LARGEST_PROJECT)

    def text(self, path: str) -> str | None:
        """A text within the project, by what the project calls it; None where there is none."""
        if not path.startswith(INTERNAL):
            return None
        name = path.removeprefix(INTERNAL).lstrip("/").casefold()
        entry = self._names.get(f"{SOURCES}/{name}", self._names.get(name))
        if entry is None:
            return None
        return decoded(self._content(entry), f"{self._name}, {entry}")

    def _content(self, entry: str, largest: int = LARGEST) -> bytes:
        with archives.member(self._opened, entry) as stream:
            content = files.within(stream, min(largest, self._left))
        self._left -= len(content)
        return content


@dataclass
class _Own:
    """What went out from here, as the project's note says.

    Attributes
    ----------
    stamps : a sheet each.
    by_guid, by_name : Tier, code and value of the codes.
    names : what they were called, by their ids.
    words : the words that went out with a sheet.
    notes : in how many notes it was.
    """

    stamps: list[Stamp] = field(default_factory=list)
    by_guid: dict[str, Code] = field(default_factory=dict)
    by_name: dict[str, Code] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    words: dict[Stamp, Noted] = field(default_factory=dict)
    notes: int = 0

    def take(self, text: str) -> None:
        """Take in a note; another one changes nothing."""
        try:
            noted = json_value(text)
        except ValueError:
            return
        if not isinstance(noted, dict) or noted.get(ORIGIN) != 1:
            return
        self.notes += 1
        stamps, codes, words = (_list(noted.get(name)) for name in ("sheets", "codes", "words"))
        for fields, told in zip_longest(stamps, words[: len(stamps)]):
            if (stamp := Stamp.from_json(json.dumps(fields))) is not None:
                self.stamps.append(stamp)
                if (own := Noted.of(told)) is not None:
                    self.words[stamp] = own
        for row in codes:
            if _is_code(row):
                own, name, tier, code, value = row
                self.by_guid[own] = self.by_name[name] = tier, code, value
                self.names[own] = name


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_code(row: Any) -> bool:
    if not isinstance(row, list) or len(row) != 5 or isinstance(row[4], bool):
        return False
    return all(isinstance(x, str) for x in row[:4]) and isinstance(row[4], int | None)


class _Reader:
    """Reads a project's file."""

    def __init__(self, root: ET.Element, archive: _Archive, name: str) -> None:
        self._root, self._archive, self._name = root, archive, name
        self._atlas = _ATLAS in root.get("origin", "").casefold()
        self._own = _Own()
        self._lost: list[Message] = []
        for note in root.iterfind(f"{tag('Notes')}/{tag('Note')}"):
            if (text := self._text(note)) is not None:
                self._own.take(text)
        codes = self._root.find(f"{tag('CodeBook')}/{tag('Codes')}")
        self._book = read_codes(codes, SPACE)
        self._codes = self._named_codes()

    def _text(self, element: ET.Element) -> str | None:
        """The plain text of a source, transcript or note; None where it is not in the project."""
        content = element.findtext(tag("PlainTextContent"))
        text = content or self._archive.text(element.get("plainTextPath", ""))
        if text is not None and self._atlas:
            text = text.replace("\r\n", "\n")  # which its positions count once
        return content if text is None else text

    def _named_codes(self) -> dict[str, Code]:
        """Tier, code and value by the ids that the file has."""
        codes = self._book
        names = Counter(code.name for code in codes if code.codable)
        known: dict[str, Code] = {}
        for code in codes:
            own = self._own.by_guid.get(code.guid)
            if own is not None and self._own.names[code.guid] != code.name:
                before = self._own.names[code.guid]
                self._lost.append(
                    Message("project_renamed", before=repr(before), name=repr(code.name))
                )
            own = own or self._own.by_name.get(code.name)
            known[code.guid] = own or tier_and_code(code, names)
        return known

    def arrivals(self) -> tuple[Arrival, ...]:
        """An arrival a sound. Raises ExchangeError."""
        sources = self._root.find(tag("Sources"))
        every = list(sources) if sources is not None else []
        coders: set[str] = set()
        read: list[Arrival] = []
        free = list(self._own.stamps)
        others = [source for source in every if source.tag not in _SOUNDS]
        budget = Budget()
        for source in every:
            if source.tag not in _SOUNDS:
                continue
            budget.compare(10 * len(free) + len(others))
            budget.entry(source.get("name") or "")
            stamp = next((stamp for stamp in free if _is_of(source, stamp)), None)
            words = None
            if stamp is not None:
                free.remove(stamp)
                words = next((text for text in others if _is_words(text, stamp)), None)
            if words is not None:
                others.remove(words)
            sound = SoundIn(source, stamp, self._codes, self._text, coders, budget)
            read.append(sound.arrival(words, self._own.words.get(stamp) if stamp else None))
        if not read:
            raise unreadable(
                self._name,
                "it has no sound or video, and so no code in it has a time",
                "Add the session's sound to the project, and give the codes to that.",
            )
        self._tell(others, free, coders)
        first = replace(
            read[0],
            lost=(*self._lost, *read[0].lost),
            codes=() if self._own.stamps else tuple(self._book),
        )
        return (first, *read[1:])

    def _tell(
        self, others: Sequence[ET.Element], gone: Sequence[Stamp], coders: Collection[str]
    ) -> None:
        """Say what has no place here."""
        for stamp in gone:
            what = stamp.sound or stamp.session
            self._lost.append(Message("project_gone", sound=what))
        if len(coders) > 1:
            users = self._root.iterfind(f"{tag('Users')}/{tag('User')}")
            names = {known_guid(user.get("guid")): user.get("name", "") for user in users}
            who = ", ".join(sorted(names.get(coder) or "?" for coder in coders))
            self._lost.append(Message("project_coders", who=who))
        for source in others:
            codes = sum(1 for _ in source.iter(tag("CodeRef")))
            if not codes and self._own.stamps:
                continue  # a copy of the transcript, as some tools make
            kind = source.tag.rpartition("}")[2]
            what = _OTHER.get(kind, Message("project_unknown"))
            name = source.get("name") or Message("project_unnamed")
            self._lost.append(Message("project_other", what=what, name=name, n=codes))
        for name in _LEFT:
            element = self._root.find(tag(name))
            if element is not None and len(element) and not self._own.stamps:
                self._lost.append(Message(f"project_{name.casefold()}", n=len(element)))
        notes = len(self._root.findall(f"{tag('Notes')}/{tag('Note')}")) - self._own.notes
        if notes > 0:
            self._lost.append(Message("project_notes", n=notes))


_SOUNDS = (tag("AudioSource"), tag("VideoSource"))


def _called(stamp: Stamp) -> str:
    stem = PurePosixPath(stamp.sound).stem
    return line(f"{stamp.session}_{stem}" if stem else stamp.session)


def _is_of(source: ET.Element, stamp: Stamp) -> bool:
    """Whether a sound is the one that a stamp is of, by its id or its name."""
    if known_guid(source.get("guid")) == guid("sound", stamp.session, stamp.sound):
        return True
    transcript = source.find(tag("Transcript"))
    if not source.get("name") and transcript is not None:
        return transcript.get("name") == f"{_called(stamp)} transcript.txt"
    return source.get("name") == f"{_called(stamp)}.wav"


def _is_words(source: ET.Element, stamp: Stamp) -> bool:
    """The same of the words beside."""
    if source.tag != tag("TextSource"):
        return False
    own = guid("words", stamp.session, stamp.sound)
    name = f"{_called(stamp)} words"
    return known_guid(source.get("guid")) == own or source.get("name") == name
