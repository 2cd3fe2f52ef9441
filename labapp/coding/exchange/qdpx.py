"""REFI-QDA projects (.qdpx): NVivo, MAXQDA, ATLAS.ti, QualCoder and others.

A zip with `project.qde` and, in `sources`, sound and texts. Each sound file is a source: its codes
are selections of it in milliseconds, and its transcript has the boundaries of the units as times in
the text. The same words are a text of their own, on which the codes of units stand a second time,
by characters: not on the transcript, where some tools read them one character late and others would
count them once more. Where no sound goes out, a silent one stands for it, for without a sound codes
have no times. The participant is a case with its conditions. A note says what went out.

What some tools demand is always there: dates and users on everything, names that no other source
has, and the end `.wav`. Nothing has length 0: a moment lasts one millisecond.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import struct
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from labapp.base.messages import Message
from labapp.base.reading import files
from labapp.coding.exchange.files import ms, new_file, plain
from labapp.coding.exchange.model import Annotation, Media, Sheet, label_of, losses
from labapp.coding.exchange.refi import ORIGIN, CodesOut, guid, line

SPACE = "urn:QDA-XML:project:1.0"
PROJECT, SOURCES = "project.qde", "sources"
NOTE = "labapp: what went out (keep this)"
INTERNAL = "internal://"
LARGEST_SOURCE = 2**31 - 1
"""Bytes that a source within a project may have, by the standard."""
SILENT_RATE = 8000
_DATE = (1980, 1, 1, 0, 0, 0)


def write(sheets: Sequence[Sheet], path: Path, *, on_transcript: bool = False) -> tuple[str, ...]:
    """Write sheets as a project; see `labapp.coding.exchange.model.Write`. on_transcript: with the
    codes of units on the transcript, and no words beside."""
    writer = _Writer(sheets, on_transcript=on_transcript)
    project = writer.content()
    with new_file(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        _put(archive, PROJECT, project)
        for name, text in writer.texts.items():
            _put(archive, f"{SOURCES}/{name}", text.encode())
        for name, (media, length_ns) in writer.sounds.items():
            _put_sound(archive, f"{SOURCES}/{name}", media, length_ns)
    return tuple(writer.lost)


def _entry(name: str, *, packed: bool) -> zipfile.ZipInfo:
    """A file of the archive, the same whenever it is written."""
    entry = zipfile.ZipInfo(name, _DATE)
    entry.create_system, entry.external_attr = 3, 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    return entry


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(_entry(name, packed=True), content)


def _put_sound(archive: zipfile.ZipFile, name: str, media: Media | None, length_ns: int) -> None:
    if media is None or media.path is None:
        frames = -(-length_ns * SILENT_RATE // 1_000_000_000)
        # Longer silence that is packed would look as archives do that burst.
        entry = _entry(name, packed=frames <= 48 * files.MIB)
        entry.file_size = frames
        with archive.open(entry, "w") as out:
            _silence(out, frames)
        return
    entry = _entry(name, packed=False)
    with files.open_file(media.path) as stream:
        entry.file_size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        with archive.open(entry, "w") as out:
            shutil.copyfileobj(stream, out, files.MIB)


def _silence(out: IO[bytes], frames: int) -> None:
    """A WAV in which nothing is heard: 8 bits, one channel."""
    rate = SILENT_RATE
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate, 1, 8)
    padded = frames + frames % 2
    out.write(struct.pack("<4sI4s", b"RIFF", 4 + len(form) + 8 + padded, b"WAVE") + form)
    out.write(struct.pack("<4sI", b"data", frames))
    while padded > 0:
        out.write(b"\x80" * min(padded, files.MIB))
        padded -= files.MIB


@dataclass(frozen=True, slots=True)
class _Words:
    """What was said on a sheet, as one text. text: a line a unit, behind who speaks; places: where
    the words of each unit begin and end in it, in characters."""

    text: str
    places: tuple[tuple[int, int], ...]


def words_of(sheet: Sheet) -> _Words:
    """The words of a sheet as one text."""
    parts, places, at = [], [], 0
    for utterance in sheet.utterances:
        before, words = f"{utterance.speaker}: ", plain(utterance.text)
        places.append((at + len(before), at + len(before) + len(words)))
        parts.append(f"{before}{words}\n")
        at += len(parts[-1])
    return _Words("".join(parts), tuple(places))


def checksum(text: str) -> str:
    """By which it is seen whether words are as they went out."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _record_word_places(sheet: Sheet) -> dict[str, object]:
    """Where the words of each unit stand, and when they were said: not every tool keeps this."""
    words = words_of(sheet)
    rows = [
        [*place, ms(utterance.t0_ns), ms(utterance.t1_ns)]
        for utterance, place in zip(sheet.utterances, words.places, strict=True)
    ]
    return {"sha256": checksum(words.text), "units": rows}


class _Writer:
    """Makes a project.

    Attributes
    ----------
    texts : files of words by their names in `sources`.
    sounds : the same of sounds; the second is how long they are, in nanoseconds.
    """

    def __init__(self, sheets: Sequence[Sheet], *, on_transcript: bool = False) -> None:
        """on_transcript: whether codes of units are there, and not on words beside."""
        self._sheets, self._first, self._on_transcript = sheets, sheets[0], on_transcript
        self._user = guid("rater", self._first.rater)
        self._by = {"creatingUser": self._user, "creationDateTime": _date(self._first.begun_utc)}
        self._codes = CodesOut(
            self._first.codebook, [a for sheet in sheets for a in sheet.annotations]
        )
        self._sources: list[str] = []
        self.texts: dict[str, str] = {}
        self.sounds: dict[str, tuple[Media | None, int]] = {}
        self.lost: list[str] = []

    def content(self) -> bytes:
        """The file `project.qde`."""
        first = self._first
        root = ET.Element(
            "Project",
            {
                "xmlns": SPACE,
                "name": line(first.session),
                "origin": ORIGIN,
                "creatingUserGUID": self._user,
                "creationDateTime": _date(first.begun_utc),
            },
        )
        users = ET.SubElement(root, "Users")
        ET.SubElement(users, "User", guid=self._user, name=line(first.rater))
        if self._codes.tree:
            ET.SubElement(root, "CodeBook").append(self._codes.element())
        variables = {name: guid("variable", name) for name in first.facts}
        if variables:
            own = ET.SubElement(root, "Variables")
            for name, variable in variables.items():
                fields = {"guid": variable, "name": line(name), "typeOfVariable": "Text"}
                ET.SubElement(own, "Variable", fields)
        cases = ET.SubElement(root, "Cases")
        sources = ET.SubElement(root, "Sources")
        for sheet in self._sheets:
            self._sheet(sources, sheet)
        self._case(cases, variables)
        self._note(ET.SubElement(root, "Notes"))
        self.lost += losses({"lost_word_times": sum(sheet.timed for sheet in self._sheets)})
        return bytes(ET.tostring(root, encoding="UTF-8", xml_declaration=True))

    def _case(self, cases: ET.Element, variables: Mapping[str, str]) -> None:
        first = self._first
        case = ET.SubElement(
            cases, "Case", guid=guid("case", first.participant), name=line(first.participant)
        )
        for name, variable in variables.items():
            value = ET.SubElement(case, "VariableValue")
            ET.SubElement(value, "VariableRef", targetGUID=variable)
            ET.SubElement(value, "TextValue").text = plain(first.facts[name])
        for source in self._sources:
            ET.SubElement(case, "SourceRef", targetGUID=source)

    def _note(self, notes: ET.Element) -> None:
        """By which the project is known when it comes back."""
        codes = [[n.guid, n.name, n.tier, n.code, n.value] for n in self._codes.by_label.values()]
        stamps = [asdict(sheet.stamp) for sheet in self._sheets]
        own = guid("note", self._first.session, self._first.rater)
        words = [_record_word_places(sheet) for sheet in self._sheets]
        noted = {ORIGIN: 1, "sheets": stamps, "codes": codes, "words": words}
        text = json.dumps(noted, ensure_ascii=True)
        self._text(notes, "Note", own, f"{NOTE} {self._first.session}", text)

    def _text(self, parent: ET.Element, tag: str, own: str, name: str, text: str) -> ET.Element:
        """A text that lies in a file of its own."""
        self.texts[f"{own}.txt"] = text
        fields = {"guid": own, "name": name, "plainTextPath": f"{INTERNAL}{own}.txt", **self._by}
        return ET.SubElement(parent, tag, fields)

    def _sheet(self, sources: ET.Element, sheet: Sheet) -> None:
        session, sound = sheet.session, sheet.stamp.sound
        name = line(f"{session}_{PurePosixPath(sound).stem}" if sound else session)
        own = guid("sound", session, sound)
        fields = {"guid": own, "name": f"{name}.wav", "path": f"{INTERNAL}{own}.wav", **self._by}
        source = ET.SubElement(sources, "AudioSource", fields)
        self._sources.append(own)
        self.sounds[f"{own}.wav"] = sheet.media, sheet.length_ns
        if sheet.media is None or sheet.media.path is None:
            self.lost.append(Message("project_silent"))
        elif 2 * sheet.media.frames > LARGEST_SOURCE:
            self.lost.append(Message("project_large", file=f"{name}.wav"))
        words = words_of(sheet)
        if sheet.utterances:
            self._transcript(source, sheet, words, f"{name} transcript.txt")
        for number, annotation in enumerate(sheet.annotations):
            begin, mark = ms(annotation.t0_ns), annotation.id or f"{sound} {number}"
            selection = ET.SubElement(
                source,
                "AudioSelection",
                {
                    "guid": guid("mark", session, mark),
                    "begin": str(begin),
                    "end": str(max(ms(annotation.t1_ns), begin + 1)),
                    **self._by,
                },
            )
            self._coding(selection, annotation, guid("coding", session, mark))
        if not self._on_transcript and any(plain(u.text) for u in sheet.utterances):
            self._words(sources, sheet, words, f"{name} words")

    def _transcript(self, source: ET.Element, sheet: Sheet, words: _Words, name: str) -> None:
        own = guid("transcript", sheet.session, sheet.stamp.sound)
        transcript = self._text(source, "Transcript", own, name, words.text)
        for number, (utterance, place) in enumerate(
            zip(sheet.utterances, words.places, strict=True)
        ):
            unit = utterance.id or f"{sheet.stamp.sound} {number}"
            times = ms(utterance.t0_ns), ms(utterance.t1_ns)
            for end, at_ms, position in zip(("begin", "end"), times, place, strict=True):
                fields = {"guid": guid(f"unit {end}", sheet.session, unit)}
                fields |= {"timeStamp": str(at_ms), "position": str(position)}
                ET.SubElement(transcript, "SyncPoint", fields)
        if self._on_transcript:
            units = {utterance.id: utterance for utterance in sheet.utterances}
            for annotation in sheet.annotations:
                if annotation.id and annotation.unit in units and plain(annotation.text):
                    fields = {"guid": guid("quote", sheet.session, annotation.id), **self._by}
                    for key, end in (("fromSyncPoint", "begin"), ("toSyncPoint", "end")):
                        fields[key] = guid(f"unit {end}", sheet.session, annotation.unit or "")
                    selection = ET.SubElement(transcript, "TranscriptSelection", fields)
                    own = guid("quote's coding", sheet.session, annotation.id)
                    self._coding(selection, annotation, own)

    def _words(self, sources: ET.Element, sheet: Sheet, words: _Words, name: str) -> None:
        own = guid("words", sheet.session, sheet.stamp.sound)
        source = self._text(sources, "TextSource", own, name, words.text)
        self._sources.append(own)
        places = dict(zip((u.id for u in sheet.utterances), words.places, strict=True))
        for number, annotation in enumerate(sheet.annotations):
            begin, end = places.get(annotation.unit, (0, 0)) if annotation.unit else (0, 0)
            if begin == end:
                continue
            mark = annotation.id or f"{sheet.stamp.sound} {number}"
            selection = ET.SubElement(
                source,
                "PlainTextSelection",
                {
                    "guid": guid("quote", sheet.session, mark),
                    "startPosition": str(begin),
                    "endPosition": str(end),
                    **self._by,
                },
            )
            self._coding(selection, annotation, guid("quote's coding", sheet.session, mark))

    def _coding(self, selection: ET.Element, given: Annotation, own: str) -> None:
        if given.memo.strip():
            ET.SubElement(selection, "Description").text = plain(given.memo)
        node = self._codes.by_label[given.tier, label_of(given)]
        coding = ET.SubElement(selection, "Coding", {"guid": own, **self._by})
        ET.SubElement(coding, "CodeRef", targetGUID=node.guid)


def _date(utc: str) -> str:
    return f"{utc[:19]}Z"
