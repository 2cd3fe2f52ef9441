"""REFI-QDA projects that come in: our own that were worked on, and those of other tools.

Codes count if they have a time: on sound and video, on a transcript between two of its times,
and on the words that went out from here, if a code is one of the unit that it stands on. What
has no time, as a code on any other text, is told. Things are known by their ids, else by names and
places: some tools give everything new ids.

Of a sound, its codes, its transcript and the words beside it are read. A code of a unit went out
twice, on the sound and on the words. What was changed in one of them was changed; if they
contradict each other the code stays, and that is told.
"""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
import zipfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest
from pathlib import Path, PurePosixPath
from typing import IO, Any

from labapp.base.messages import Message
from labapp.base.reading import archives, files
from labapp.base.reading.values import Budget, json_value
from labapp.coding.annotations.model import SPEAKERS, Speaker
from labapp.coding.exchange.files import LARGEST, MS, decode_text, parse_xml, unreadable
from labapp.coding.exchange.model import (
    Annotation,
    Arrival,
    Stamp,
    Utterance,
    digest_of_mark,
    label_of,
    sort_by_time,
)
from labapp.coding.exchange.qdpx import INTERNAL, PROJECT, SOURCES, SPACE, checksum
from labapp.coding.exchange.refi import (
    ORIGIN,
    guid,
    line,
    normalise_guid,
    read_codes,
    tier_and_code,
)

Code = tuple[str, str, int | None]
"""Tier, code and value."""
_SPEAKER = re.compile(rf"(?:^|\n)({'|'.join(SPEAKERS)}): \Z")
_SAID = re.compile(rf"({'|'.join(SPEAKERS)}): ")
_HOURS = 1000 * 3600 * 1000


def tag(name: str) -> str:
    """A tag of a project."""
    return f"{{{SPACE}}}{name}"


@dataclass(frozen=True, slots=True)
class _Coded:
    """A code that a selection has. begin, end: milliseconds, characters, or ids of times."""

    selection: str
    coding: str
    code: Code
    begin: str
    end: str
    memo: str


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A unit, and where its words stand in the text."""

    utterance: Utterance
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Noted:
    """Words that went out.

    Attributes
    ----------
    sha256 : see `labapp.coding.exchange.qdpx.checksum`.
    units : where the words of each unit stand, in characters, and when they were said, in
        milliseconds; in the order of the stamp.
    """

    sha256: str
    units: tuple[tuple[int, int, int, int], ...]

    @classmethod
    def of(cls, told: Any) -> Noted | None:
        """As a note has it; None if it is none."""
        if not isinstance(told, dict) or not isinstance(told.get("sha256"), str):
            return None
        rows = told.get("units")
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            return None
        numbers = [n for row in rows for n in row]
        if any(type(n) is not int or not 0 <= n < _HOURS for n in numbers):
            return None
        if any(len(row) != 4 or row[0] > row[1] or row[2] > row[3] for row in rows):
            return None
        return cls(told["sha256"], tuple((b, e, t0, t1) for b, e, t0, t1 in rows))


class SoundIn:
    """Reads one sound."""

    def __init__(
        self,
        source: ET.Element,
        stamp: Stamp | None,
        codes: Mapping[str, Code],
        text_of: Callable[[ET.Element], str | None],
        coders: set[str],
        budget: Budget,
    ) -> None:
        """stamp: if it went out from here. codes: by their ids. text_of: of a transcript or
        text. coders: ids of those who gave codes are added to it. budget: of the whole project."""
        self._budget = budget
        self._source, self._stamp, self._codes = source, stamp, codes
        self._text_of, self._coders = text_of, coders
        self._name = source.get("name") or Message("place_sound")
        self._given: list[Annotation] = []
        self._places: dict[str, int] = {}
        self._known: set[tuple[Code, int, int]] = set()
        self._spoken: list[_Spoken] = []
        self._transcript = ""
        session = stamp.session if stamp else ""
        self._marks = {guid("mark", session, m): m for m in stamp.marks} if stamp else {}
        self._codings = {guid("coding", session, m): m for m in stamp.marks} if stamp else {}
        self._quotes = {guid("quote", session, m): m for m in stamp.marks} if stamp else {}
        self.lost: list[Message] = []

    def arrival(self, words: ET.Element | None, noted: Noted | None = None) -> Arrival:
        """What it holds. words: the text that went out beside it. noted: its words by the note."""
        for kind in ("AudioSelection", "VideoSelection"):
            for coded in self._read_codes(self._source.iterfind(tag(kind)), "begin", "end"):
                self._on_sound(coded)
        transcripts = list(self._source.iterfind(tag("Transcript")))
        for transcript in transcripts:
            self._read_transcript(transcript)
        if words is not None:
            self._read_words(words, noted)
        if whole := len(self._source.findall(tag("Coding"))):
            self.lost.append(Message("sound_codes", n=whole, sound=self._name))
        stamp = self._stamp
        if stamp is not None and stamp.units and not self._spoken:
            stamp = replace(stamp, units=(), units_were=(), texts_were=())
            self._lose(self._name, Message("sound_no_units"))
        spoken = sort_by_time(spoken.utterance for spoken in self._spoken)
        return Arrival(spoken, sort_by_time(self._given), self._media(), stamp, tuple(self.lost))

    def _media(self) -> str:
        """The name of the sound file; some tools leave its end out."""
        transcript = self._source.find(tag("Transcript"))
        # ATLAS.ti names the transcript alone.
        named = transcript.get("name") if transcript is not None else None
        name = self._source.get("name") or named or ""
        if PurePosixPath(name).suffix:
            return name
        place = self._source.get("path") or self._source.get("currentPath") or ""
        return f"{name}{PurePosixPath(place).suffix}" if name else PurePosixPath(place).name

    def _lose(self, place: str, why: Message, code: str = "") -> None:
        """Tell what of a place, or a code in it, is not brought over."""
        if code:
            self.lost.append(Message("left_mark", place=place, what=code, why=why))
        else:
            self.lost.append(Message("left_what", what=place, why=why))

    # --- codes ------------------------------------------------------------------------------------

    def _read_codes(
        self, selections: Iterable[ET.Element], begin: str, end: str
    ) -> Iterator[_Coded]:
        """The codes of selections; begin, end: what their ends are called."""
        notes = unknown = bare = 0
        for selection in selections:
            memo = selection.findtext(tag("Description")) or ""
            notes += len(selection.findall(tag("NoteRef")))
            codings = selection.findall(tag("Coding"))
            bare += not codings
            for coding in codings:
                # Each code that is left out names its place, and the remark is compared each time.
                self._budget.entry(self._name, memo)
                reference = coding.find(tag("CodeRef"))
                own = normalise_guid(reference.get("targetGUID")) if reference is not None else ""
                if own not in self._codes:
                    unknown += 1
                    continue
                if by := coding.get("creatingUser") or selection.get("creatingUser"):
                    self._coders.add(normalise_guid(by))
                yield _Coded(
                    normalise_guid(selection.get("guid")),
                    normalise_guid(coding.get("guid")),
                    self._codes[own],
                    selection.get(begin, ""),
                    selection.get(end, ""),
                    memo,
                )
        for count, what in (
            (notes, "sound_notes"), (unknown, "sound_unknown"), (bare, "sound_bare")
        ):  # fmt: skip
            if count:
                self._lose(self._name, Message(what, n=count))

    def _on_sound(self, coded: _Coded) -> None:
        times = _number(coded.begin), _number(coded.end)
        if times[0] is None or times[1] is None or times[1] < times[0]:
            why = Message("sound_no_times", begin=repr(coded.begin), end=repr(coded.end))
            self._lose(self._name, why, repr(coded.code[1]))
            return
        own = self._codings.get(coded.coding) or self._marks.get(coded.selection)
        if own in self._places:
            own = None  # a second code on the same selection
        self._add(own, coded, times[0] * MS, times[1] * MS)

    def _add(self, own: str | None, coded: _Coded, begin: int, end: int) -> Annotation:
        tier, code, value = coded.code
        given = Annotation(
            own, tier, code, begin, begin if end - begin <= MS else end, None, "", value,
            coded.memo, self._name,
        )  # fmt: skip
        if own is not None:
            self._places[own] = len(self._given)
        self._known.add((coded.code, given.t0_ns, given.t1_ns))
        self._given.append(given)
        return given

    def _there(self, code: Code, begin: int, end: int) -> bool:
        """Whether a code is at these times already."""
        return (code, begin, end) in self._known

    # --- the transcript ---------------------------------------------------------------------------

    def _read_transcript(self, transcript: ET.Element) -> None:
        text = self._text_of(transcript)
        name = transcript.get("name") or Message("place_transcript", sound=self._name)
        if text is None:
            self.lost.append(Message("words_none", name=name))
            return
        points: dict[str, tuple[int, int]] = {}
        for element in transcript.iterfind(tag("SyncPoint")):
            at, position = _number(element.get("timeStamp")), _number(element.get("position"))
            if at is not None and position is not None:
                place = min(position, len(text))  # some tools count characters in halves
                points[normalise_guid(element.get("guid"))] = at * MS, place
        own = self._own_units(points, text)
        if own:
            self._spoken += own
            self._transcript = text
            if others := len(points) - 2 * len(own):
                self._lose(name, Message("words_times", n=others))
        else:
            for spoken in _between(points.values(), text, name):
                self._budget.entry(name, spoken.utterance.text)
                self._spoken.append(spoken)
        quoted: set[str] = set()
        for coded in self._read_codes(
            transcript.iterfind(tag("TranscriptSelection")), "fromSyncPoint", "toSyncPoint"
        ):
            begin, end = (points.get(normalise_guid(point)) for point in (coded.begin, coded.end))
            mark = self._quotes.get(coded.selection)
            if begin is None or end is None or end[0] < begin[0]:
                self._lose(name, Message("words_no_times"), repr(coded.code[1]))
            elif mark is not None and mark not in quoted:
                quoted.add(mark)
                self._on_quote(mark, coded, Utterance(None, begin[0], end[0]))
            elif not self._there(coded.code, begin[0], end[0]):
                self._add(None, coded, begin[0], end[0])
        self._report_unquoted(quoted, name)

    def _make_spoken(
        self, unit: str, begin: tuple[int, int], end: tuple[int, int], text: str
    ) -> _Spoken:
        """A unit by its ends: times, and places in the text."""
        (t0_ns, first), (t1_ns, last) = begin, end
        by = _SPEAKER.search(text, max(0, first - 20), first)
        speaker: Speaker = by[1] if by else "participant"  # type: ignore[assignment]
        place = Message("place_words", sound=self._name)
        words = text[first:last]
        self._budget.entry(place, words)
        own = Utterance(unit, t0_ns, t1_ns, speaker, words, place=place)
        return _Spoken(own, first, last)

    def _own_units(self, points: Mapping[str, tuple[int, int]], text: str) -> list[_Spoken]:
        """The units that went out, as they are by now."""
        units: list[_Spoken] = []
        if (stamp := self._stamp) is None:
            return units
        self._budget.compare(len(stamp.units))
        for unit in stamp.units:
            begin = points.get(guid("unit begin", stamp.session, unit))
            end = points.get(guid("unit end", stamp.session, unit))
            if begin is not None and end is not None:
                units.append(self._make_spoken(unit, begin, end, text))
        return units

    # --- the words beside -------------------------------------------------------------------------

    def _standing(self, text: str, noted: Noted | None) -> list[_Spoken] | None:
        """Where the words of units are in the text file; None if nothing says it."""
        stamp = self._stamp
        plain = text.replace("\r\n", "\n")
        if stamp is None or noted is None or checksum(plain) != noted.sha256:
            return list(self._spoken) if self._spoken and text == self._transcript else None
        if len(noted.units) != len(stamp.units):
            return None
        breaks = [at for at, letter in enumerate(plain) if letter == "\n"] if plain != text else []
        now = {spoken.utterance.id: spoken.utterance for spoken in self._spoken}
        standing = []
        for unit, (first, last, begin, end) in zip(stamp.units, noted.units, strict=True):
            own = self._make_spoken(unit, (begin * MS, first), (end * MS, last), plain).utterance
            if now and unit not in now:
                continue
            # Where lines end with two characters, both count.
            first, last = (at + bisect_left(breaks, at) for at in (first, last))
            standing.append(_Spoken(now.get(unit, own), first, last))
        return standing or None

    def _read_words(self, source: ET.Element, noted: Noted | None) -> None:
        """Codes on the words that went out: each is one of the units that it stands on."""
        name = source.get("name") or Message("place_words_beside")
        text = self._text_of(source)
        every = list(
            self._read_codes(
                source.iterfind(tag("PlainTextSelection")), "startPosition", "endPosition"
            )
        )
        standing = self._standing(text or "", noted)
        if standing is None:
            if text is not None and self._spoken:
                self._lose(name, Message("words_other"))
            if fresh := sum(coded.selection not in self._quotes for coded in every):
                self._lose(name, Message("words_when", n=fresh))
            return
        if not self._spoken:  # the other tool kept no times, and the words are as they were
            self._spoken = standing
        parts = 0
        quoted: set[str] = set()
        standing.sort(key=lambda spoken: spoken.begin)
        begins = [spoken.begin for spoken in standing]
        longest = max(spoken.end - spoken.begin for spoken in standing)
        for coded in every:
            begin, end = _number(coded.begin) or 0, _number(coded.end) or 0
            near = standing[bisect_left(begins, begin - longest) : bisect_left(begins, end)]
            self._budget.compare(len(near))
            units = [spoken for spoken in near if begin < spoken.end]
            mark = self._quotes.get(coded.selection)
            if not units:
                self._lose(name, Message("words_no_unit"), repr(coded.code[1]))
            elif mark is not None and mark not in quoted:
                quoted.add(mark)
                self._on_quote(mark, coded, units[0].utterance)
            else:
                parts += units[0].begin != begin or units[-1].end != end
                for unit in (spoken.utterance for spoken in units):
                    if not self._there(coded.code, unit.t0_ns, unit.t1_ns):
                        self._add(None, coded, unit.t0_ns, unit.t1_ns)
        if parts:
            self._lose(name, Message("words_parts", n=parts))
        self._report_unquoted(quoted, name)

    def _on_quote(self, mark: str, coded: _Coded, unit: Utterance) -> None:
        """Take in a code that went out on the sound, too."""
        number = self._places.get(mark)
        if number is None:
            given = self._add(mark, coded, unit.t0_ns, unit.t1_ns)
            self.lost.append(Message("words_stay", code=repr(given.code), at=_seconds(unit.t0_ns)))
            return
        given = self._given[number]
        tier, code, value = coded.code
        other = replace(given, tier=tier, code=code, value=value, memo=coded.memo)
        if digest_of_mark(other) == digest_of_mark(given):
            return
        assert self._stamp is not None
        were = dict(zip(self._stamp.marks, self._stamp.marks_were, strict=False))
        if digest_of_mark(given) == were.get(mark):
            self._given[number] = other
        elif digest_of_mark(replace(other, t0_ns=unit.t0_ns, t1_ns=unit.t1_ns)) != were.get(mark):
            self.lost.append(
                Message("words_changed", code=label_of(given), at=_seconds(unit.t0_ns))
            )

    def _report_unquoted(self, quoted: set[str], name: str) -> None:
        """Tell which codes are on the sound alone though both went out."""
        self._budget.compare(len(self._spoken) + len(self._given))
        times = {(s.utterance.t0_ns, s.utterance.t1_ns) for s in self._spoken if s.end > s.begin}
        alone = sum(
            a.id is not None and a.id not in quoted and (a.t0_ns, a.t1_ns) in times
            for a in self._given
        )
        if alone and quoted:  # else the other tool gave everything new ids
            self.lost.append(Message("words_taken", n=alone, name=name))


def _seconds(t_ns: int) -> str:
    return f"{t_ns / 1e9:.3f}"


def _between(points: Iterable[tuple[int, int]], text: str, place: str) -> Iterator[_Spoken]:
    """What stands between two times of a transcript, as units."""
    ordered = sorted(set(points), key=lambda point: (point[1], point[0]))
    for (begin, first), (end, last) in pairwise(ordered):
        words = text[first:last].strip()
        if end <= begin or not words:
            continue
        match = _SAID.match(words)
        speaker: Speaker = match[1] if match else "participant"  # type: ignore[assignment]
        words = words[match.end() :] if match else words
        yield _Spoken(Utterance(None, begin, end, speaker, words, place=place), first, last)


def _number(text: str | None) -> int | None:
    """A whole number that can be a time in milliseconds, or a place."""
    if text is None or not re.fullmatch(r"\s*\+?\d{1,12}\s*", text, re.ASCII):
        return None
    value = int(text)
    return value if value < _HOURS else None


_OTHER = {
    "PictureSource": "project_picture",
    "PDFSource": "project_pdf",
    "TextSource": "project_text",
}
_LEFT = ("Cases", "Variables", "Links", "Sets", "Graphs")


def read(content: bytes, name: str) -> tuple[Arrival, ...]:
    """Read a project; see `labapp.coding.exchange.model.Read`."""
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
            return _Reader(parse_xml(project, name, tag("Project")), archive, name).arrivals()
    except (OSError, ValueError) as error:
        raise unreadable(name, str(error)) from error


class _Archive:
    """What of an archive is no sound: at most `LARGEST` bytes in all. The file of a project with
    ten thousand codes on units has ten million."""

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
        return self._content(known[0])

    def text(self, path: str) -> str | None:
        """A text within the project, by what the project calls it; None if there is none."""
        if not path.startswith(INTERNAL):
            return None
        name = path.removeprefix(INTERNAL).lstrip("/").casefold()
        entry = self._names.get(f"{SOURCES}/{name}", self._names.get(name))
        if entry is None:
            return None
        return decode_text(self._content(entry), f"{self._name}, {entry}")

    def _content(self, entry: str) -> bytes:
        with archives.member(self._opened, entry) as stream:
            content = files.within(stream, self._left)
        self._left -= len(content)
        return content


@dataclass
class _Own:
    """What went out from here, as the project's note says.

    Attributes
    ----------
    by_guid, by_name : Tier, code and value of the codes.
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
            match row:
                case [str(own_id), str(name), str(tier), str(code), int() | None as value] if (
                    not isinstance(value, bool)
                ):
                    self.by_guid[own_id] = self.by_name[name] = tier, code, value
                    self.names[own_id] = name


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class _Reader:
    """Reads a project's file."""

    def __init__(self, root: ET.Element, archive: _Archive, name: str) -> None:
        self._root, self._archive, self._name = root, archive, name
        self._atlas = "atlas" in root.get("origin", "").casefold()
        self._own = _Own()
        self._lost: list[Message] = []
        for note in root.iterfind(f"{tag('Notes')}/{tag('Note')}"):
            if (text := self._text(note)) is not None:
                self._own.take(text)
        codes = self._root.find(f"{tag('CodeBook')}/{tag('Codes')}")
        self._book = read_codes(codes, SPACE)
        names = Counter(code.name for code in self._book if code.codable)
        self._codes: dict[str, Code] = {}
        """Tier, code and value by the ids that the file has."""
        for code in self._book:
            own = self._own.by_guid.get(code.guid)
            if own is not None and (before := self._own.names[code.guid]) != code.name:
                self._lost.append(
                    Message("project_renamed", before=repr(before), name=repr(code.name))
                )
            own = own or self._own.by_name.get(code.name)
            self._codes[code.guid] = own or tier_and_code(code, names)

    def _text(self, element: ET.Element) -> str | None:
        """The plain text of a source, transcript or note; None if it is not in the project."""
        content = element.findtext(tag("PlainTextContent"))
        text = content or self._archive.text(element.get("plainTextPath", ""))
        if text is not None and self._atlas:
            text = text.replace("\r\n", "\n")  # which its positions count once
        return content if text is None else text

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
                "it has no sound or video, so none of its codes has a time",
                "Add the session's sound to the project, and apply the codes to it.",
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
            names = {normalise_guid(user.get("guid")): user.get("name", "") for user in users}
            who = ", ".join(sorted(names.get(coder) or "?" for coder in coders))
            self._lost.append(Message("project_coders", who=who))
        for source in others:
            codes = sum(1 for _ in source.iter(tag("CodeRef")))
            if not codes and self._own.stamps:
                continue  # a copy of the transcript, as some tools make
            kind = source.tag.rpartition("}")[2]
            what = Message(_OTHER.get(kind, "project_unknown"))
            name = source.get("name") or Message("project_unnamed")
            if codes:
                self._lost.append(Message("project_other", n=codes, what=what, name=name))
            else:
                self._lost.append(Message("project_other_uncoded", what=what, name=name))
        for name in _LEFT:
            element = self._root.find(tag(name))
            if element is not None and len(element) and not self._own.stamps:
                self._lost.append(Message(f"project_{name.casefold()}", n=len(element)))
        notes = len(self._root.findall(f"{tag('Notes')}/{tag('Note')}")) - self._own.notes
        if notes > 0:
            self._lost.append(Message("project_notes", n=notes))


_SOUNDS = (tag("AudioSource"), tag("VideoSource"))


def _name_source(stamp: Stamp) -> str:
    stem = PurePosixPath(stamp.sound).stem
    return line(f"{stamp.session}_{stem}" if stem else stamp.session)


def _is_of(source: ET.Element, stamp: Stamp) -> bool:
    """Whether a sound is the one that a stamp is of, by its id or its name."""
    if normalise_guid(source.get("guid")) == guid("sound", stamp.session, stamp.sound):
        return True
    transcript = source.find(tag("Transcript"))
    if not source.get("name") and transcript is not None:
        return transcript.get("name") == f"{_name_source(stamp)} transcript.txt"
    return source.get("name") == f"{_name_source(stamp)}.wav"


def _is_words(source: ET.Element, stamp: Stamp) -> bool:
    """The same of the words beside."""
    if source.tag != tag("TextSource"):
        return False
    own = guid("words", stamp.session, stamp.sound)
    name = f"{_name_source(stamp)} words"
    return normalise_guid(source.get("guid")) == own or source.get("name") == name
