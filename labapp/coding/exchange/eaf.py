"""ELAN's files (EAF 3.0).

A tier of speech a speaker and tiers of codes as `labapp.coding.exchange.model` has them, with the
codes as controlled vocabularies. Remarks on codes are on a tier below theirs. The ids of
annotations are those of marks and units behind a letter, and a property says what went out.
Times are whole milliseconds, and nothing has length 0: a point lasts one millisecond.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from labapp.base.messages import Message
from labapp.base.reading.values import Budget, TooMuch
from labapp.coding.exchange import files, model
from labapp.coding.exchange.files import MS, ms, parse_xml, plain
from labapp.coding.exchange.model import (
    Annotation,
    Arrival,
    Sheet,
    Stamp,
    Utterance,
    losses,
    sort_by_time,
)

STAMP = "labapp"
"""The property that says what went out."""
SPEECH, MEMO = "speech", "memo"
"""Types of tiers."""
_MARK, _UNIT, _MEMO = "m", "u", "n"
_LANGUAGE = "und"
_CODES = " (codes)"
_TOGETHER = "Symbolic_Association"
"""Of tiers below others: an annotation has the whole time of what it is on."""
_ID = re.compile(r"[A-Za-z0-9_.-]{1,80}")


def write(sheets: Sequence[Sheet], path: Path) -> tuple[str, ...]:
    """Write a sheet as a file of ELAN; see `labapp.coding.exchange.model.Write`."""
    (sheet,) = sheets
    files.write_new(path, content_of(sheet, path.parent))
    return losses({"lost_word_times": sheet.timed})


def content_of(sheet: Sheet, folder: Path) -> bytes:
    """A sheet as the bytes of a file. folder: where it will lie, for the place of the sound."""
    return _Writer(sheet, folder).content()


class _Writer:
    def __init__(self, sheet: Sheet, folder: Path) -> None:
        self.sheet, self.folder = sheet, folder
        self.slots: list[tuple[int, int]] = []
        self.number = 0
        self.root = ET.Element(
            "ANNOTATION_DOCUMENT",
            {
                "AUTHOR": sheet.rater,
                "DATE": f"{sheet.begun_utc[:19]}+00:00",
                "FORMAT": "3.0",
                "VERSION": "3.0",
                "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
                "xsi:noNamespaceSchemaLocation": "http://www.mpi.nl/tools/elan/EAFv3.0.xsd",
            },
        )

    def content(self) -> bytes:
        sheet = self.sheet
        speech, codes = model.speech_tiers(sheet, MS), model.code_tiers(sheet, MS)
        self._header()
        order = ET.SubElement(self.root, "TIME_ORDER")
        for tier in speech:
            rows = [(_UNIT, u.id, u.t0_ns, u.t1_ns, u.text, "") for u in tier.utterances]
            self._tier(tier.name, SPEECH, tier.speaker, rows)
        for codes_tier in codes:
            rows = [
                (_MARK, a.id, a.t0_ns, a.t1_ns, model.label_of(a), a.memo)
                for a in codes_tier.annotations
            ]
            self._tier(codes_tier.name, _type_id(codes_tier.tier), "participant", rows)
        for at, number in sorted(self.slots):
            ET.SubElement(order, "TIME_SLOT", TIME_SLOT_ID=f"ts{number}", TIME_VALUE=str(at))
        self._types([tier.tier for tier in codes])
        ET.indent(self.root)
        return bytes(ET.tostring(self.root, encoding="UTF-8", xml_declaration=True))

    def _header(self) -> None:
        header = ET.SubElement(self.root, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
        media = self.sheet.media
        if media is not None and media.path is not None:
            ET.SubElement(
                header,
                "MEDIA_DESCRIPTOR",
                MEDIA_URL=f"file:///{media.path.absolute().as_posix().lstrip('/')}",
                MIME_TYPE="audio/x-wav",
                RELATIVE_MEDIA_URL=_relative(media.path, self.folder),
            )
        for name, value in (
            ("URN", f"urn:labapp:{quote(self.sheet.session)}:{quote(self.sheet.rater)}"),
            ("lastUsedAnnotationId", "0"),
            (STAMP, self.sheet.stamp.to_json()),
        ):
            ET.SubElement(header, "PROPERTY", NAME=name).text = value

    def _tier(
        self,
        name: str,
        kind: str,
        speaker: str,
        rows: Sequence[tuple[str, str | None, int, int, str, str]],
    ) -> None:
        person = self.sheet.participant if speaker == "participant" else speaker
        about = {"ANNOTATOR": self.sheet.rater, "PARTICIPANT": person}
        tier = ET.SubElement(
            self.root, "TIER", {"TIER_ID": name, "LINGUISTIC_TYPE_REF": kind, **about}
        )
        remarks = []
        for letter, own_id, t0_ns, t1_ns, value, memo in rows:
            self.number += 1
            annotation_id = f"{letter}{own_id}" if own_id else f"a{self.number}"
            begin, end = ms(t0_ns), ms(t1_ns)
            _annotation(
                tier,
                "ALIGNABLE_ANNOTATION",
                value,
                ANNOTATION_ID=annotation_id,
                TIME_SLOT_REF1=self._slot(begin),
                TIME_SLOT_REF2=self._slot(max(end, begin + 1)),
            )
            if memo:
                remarks.append((annotation_id, memo))
        if remarks:
            fields = {"TIER_ID": f"{name} memo", "LINGUISTIC_TYPE_REF": MEMO, "PARENT_REF": name}
            below = ET.SubElement(self.root, "TIER", fields | about)
            for annotation_id, memo in remarks:
                ids = {"ANNOTATION_ID": f"{_MEMO}{annotation_id}", "ANNOTATION_REF": annotation_id}
                _annotation(below, "REF_ANNOTATION", memo, **ids)

    def _slot(self, at_ms: int) -> str:
        """A time of its own for each end: what is moved in ELAN moves nothing else."""
        self.slots.append((at_ms, len(self.slots) + 1))
        return f"ts{len(self.slots)}"

    def _types(self, names: Sequence[str]) -> None:
        kinds = list(dict.fromkeys(names))
        for name in (SPEECH, *map(_type_id, kinds)):
            fields = {"LINGUISTIC_TYPE_ID": name, "TIME_ALIGNABLE": "true"}
            fields["GRAPHIC_REFERENCES"] = "false"
            if name != SPEECH:
                fields["CONTROLLED_VOCABULARY_REF"] = name
            ET.SubElement(self.root, "LINGUISTIC_TYPE", fields)
        ET.SubElement(
            self.root,
            "LINGUISTIC_TYPE",
            CONSTRAINTS=_TOGETHER,
            GRAPHIC_REFERENCES="false",
            LINGUISTIC_TYPE_ID=MEMO,
            TIME_ALIGNABLE="false",
        )
        # As ELAN has the language of its own vocabularies: a file that says other things of the
        # same id is not opened by ELAN 6.9.
        ET.SubElement(
            self.root,
            "LANGUAGE",
            LANG_ID=_LANGUAGE,
            LANG_DEF="http://cdb.iso.org/lg/CDB-00130975-001",
            LANG_LABEL="undetermined (und)",
        )
        ET.SubElement(
            self.root,
            "CONSTRAINT",
            DESCRIPTION="1-1 association with a parent annotation",
            STEREOTYPE=_TOGETHER,
        )
        for number, name in enumerate(kinds):
            vocabulary = ET.SubElement(self.root, "CONTROLLED_VOCABULARY", CV_ID=_type_id(name))
            tier = self.sheet.codebook.tier(name)
            description = ET.SubElement(vocabulary, "DESCRIPTION", LANG_REF=_LANGUAGE)
            description.text = plain(tier.title if tier else "")
            given = [a for a in self.sheet.annotations if a.tier == name]
            for place, label in enumerate(model.labels(self.sheet.codebook, name, given)):
                entry = ET.SubElement(vocabulary, "CV_ENTRY_ML", CVE_ID=f"cve_{number}_{place}")
                code = self.sheet.codebook.code(model.read_label(label)[0])
                about = plain(code.name if code else label)
                value = ET.SubElement(entry, "CVE_VALUE", DESCRIPTION=about, LANG_REF=_LANGUAGE)
                value.text = plain(label)


def _type_id(name: str) -> str:
    """A tier of the codebook as a type; two names are ours already."""
    return name + _CODES if name in (SPEECH, MEMO) else name


def _annotation(tier: ET.Element, tag: str, value: str, **fields: str) -> None:
    element = ET.SubElement(ET.SubElement(tier, "ANNOTATION"), tag, fields)
    ET.SubElement(element, "ANNOTATION_VALUE").text = plain(value)


def _relative(path: Path, folder: Path) -> str:
    """Where a sound lies from a folder. As ELAN writes it, and reads it: no letter of a path is
    written otherwise than it is, spaces and umlauts neither."""
    try:
        way = Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()
    except ValueError:  # another drive
        way = path.name
    return way if way.startswith("../") else f"./{way}"


# --- the way back -------------------------------------------------------------------------------


@dataclass
class _Row:
    """An annotation of a tier, with the ids of its time slots. parent: of a REF_ANNOTATION, what it
    is on; previous: of one of several on the same parent, the one before."""

    id: str
    slots: tuple[str, str]
    value: str
    parent: str = ""
    previous: str = ""


@dataclass
class _Tier:
    name: str
    type: str
    parent: str
    rows: list[_Row] = field(default_factory=list)


_Times = tuple[int, int]
"""The beginning and end of an annotation in milliseconds."""


def read(content: bytes, name: str) -> tuple[Arrival, ...]:
    """Read a file of ELAN; see `labapp.coding.exchange.model.Read`."""
    try:
        return (_read(content, name),)
    except TooMuch as error:
        raise files.unreadable(name, str(error), files.TOO_MUCH) from error


def _read(content: bytes, name: str) -> Arrival:
    root = parse_xml(content, name, "ANNOTATION_DOCUMENT")
    header = root.find("HEADER")
    if header is not None and header.get("TIME_UNITS", "milliseconds") != "milliseconds":
        raise files.unreadable(
            name,
            f"its times are {header.get('TIME_UNITS')}, not milliseconds",
            "Save it with times in milliseconds.",
        )
    stamp, media, origin_ns = _head(root, name)
    lost: list[Message] = []
    utterances: list[Utterance] = []
    annotations: list[Annotation] = []
    budget = Budget()
    own = list(_tiers(root, budget))
    remarks = (row for tier in own if tier.type == MEMO and tier.parent for row in tier.rows)
    memos = {row.parent: row.value for row in remarks}
    types = {kind.get("LINGUISTIC_TYPE_ID"): kind for kind in root.iterfind("LINGUISTIC_TYPE")}
    together = {name for name, kind in types.items() if kind.get("CONSTRAINTS") == _TOGETHER}
    times = _times(own, _slots(root, name), together)
    vocabularies = {name: kind.get("CONTROLLED_VOCABULARY_REF") for name, kind in types.items()}
    coded: set[str] = set()
    for tier in own:
        if tier.type == MEMO and tier.parent:
            continue
        place = Message("place_tier", tier=repr(tier.name))
        tier_name, code = model.read_tier(tier.name)
        if stamp is not None and vocabularies.get(tier.type) == tier.type:
            tier_name = tier.type.removesuffix(_CODES)  # whatever the tier is called by now
        if vocabularies.get(tier.type):
            coded.add(tier_name)
        speaks = model.speech_of(tier_name)
        for row in tier.rows:
            t0_ms, t1_ms = times.get(row.id, (None, None))
            if t0_ms is None or t1_ms is None or t1_ms < t0_ms:
                why = Message("row_no_times", text=repr(row.value[:60]))
                if t0_ms is not None and t1_ms is not None:
                    ends = {"begin": f"{t0_ms / 1e3:.3f}", "end": f"{t1_ms / 1e3:.3f}"}
                    why = Message("row_reversed", text=repr(row.value[:60]), **ends)
                lost.append(Message("left_what", what=place, why=why))
                continue
            begin, end = t0_ms * MS + origin_ns, t1_ms * MS + origin_ns
            if speaks is not None:
                spoken = Utterance(_own(row.id, _UNIT), begin, end, speaks[0], row.value)
                utterances.append(replace(spoken, place=place, voice=speaks[1]))
                continue
            label, value = model.read_label(row.value)
            if not label and not code:
                why = Message("row_empty", at=f"{t0_ms / 1e3:.3f}")
                lost.append(Message("left_what", what=place, why=why))
                continue
            memo = memos.get(row.id, "")
            budget.take(memo)  # which many rows of one id can share
            end = begin if end - begin <= MS else end
            given = Annotation(_own(row.id, _MARK), tier_name, label or code, begin, end)
            annotations.append(replace(given, value=value, memo=memo, place=place))
    both = sort_by_time(utterances), sort_by_time(annotations)
    return Arrival(*both, media, stamp, tuple(lost), coded=frozenset(coded))


def _head(root: ET.Element, name: str) -> tuple[Stamp | None, str, int]:
    """The stamp, the name of the sound, and at which of its nanoseconds the file's time begins:
    where other media were laid beside it in ELAN, that need not be its first."""
    stamp = None
    for element in root.iterfind("HEADER/PROPERTY"):
        if element.get("NAME") == STAMP and element.text:
            stamp = Stamp.from_json(element.text)
    linked = [(_media_name(one), one) for one in root.iterfind("HEADER/MEDIA_DESCRIPTOR")]
    own = Path(stamp.sound).name if stamp is not None else ""
    heard = [one for one in linked if one[1].get("MIME_TYPE", "").startswith("audio/")]
    same = [one for one in linked if own and (one[0] == own or one[0].endswith(f"_{own}"))]
    if not linked:
        return stamp, "", 0
    media, descriptor = (same or heard or linked)[0]
    if stamp is not None and not same:
        return stamp, media, 0  # its times are as they went out, whatever is played beside them
    origin = descriptor.get("TIME_ORIGIN", "0")
    try:
        origin_ms = _whole(origin.removeprefix("-"))
    except ValueError as error:
        raise files.unreadable(name, f"the beginning of {media} in it is {origin!r}") from error
    return stamp, media, (-origin_ms if origin.startswith("-") else origin_ms) * MS


def _media_name(descriptor: ET.Element) -> str:
    url = descriptor.get("MEDIA_URL") or descriptor.get("RELATIVE_MEDIA_URL") or ""
    return unquote(PurePosixPath(url.replace("\\", "/")).name)


def _slots(root: ET.Element, name: str) -> dict[str, int | None]:
    """The times of all slots in milliseconds; None for one that lies between others."""
    slots: dict[str, int | None] = {}
    for slot in root.iterfind("TIME_ORDER/TIME_SLOT"):
        value = slot.get("TIME_VALUE")
        try:
            slots[slot.get("TIME_SLOT_ID", "")] = None if value is None else _whole(value)
        except ValueError as error:
            raise files.unreadable(name, f"a time in it is {value!r}") from error
    return slots


def _tiers(root: ET.Element, budget: Budget) -> Iterator[_Tier]:
    for element in root.iterfind("TIER"):
        tier = _Tier(
            element.get("TIER_ID", ""),
            element.get("LINGUISTIC_TYPE_REF", ""),
            element.get("PARENT_REF", ""),
        )
        # Some programs put one annotation into another.
        for row in element.iterfind(".//ANNOTATION/*"):
            if row.tag == "ANNOTATION":
                continue
            text = row.findtext("ANNOTATION_VALUE") or ""
            budget.entry(tier.name)  # each row that is left out names its tier
            tier.rows.append(
                _Row(
                    row.get("ANNOTATION_ID", ""),
                    (row.get("TIME_SLOT_REF1", ""), row.get("TIME_SLOT_REF2", "")),
                    text,
                    row.get("ANNOTATION_REF", ""),
                    row.get("PREVIOUS_ANNOTATION", ""),
                )
            )
        yield tier


def _times(
    own: Sequence[_Tier], slots: dict[str, int | None], together: Container[str | None]
) -> Mapping[str, _Times]:
    """When each annotation is, by its id: an annotation on another one has its time; several that
    divide it, and slots without a time, are evenly spaced.

    Parameters
    ----------
    slots : see `_slots`; those without a time get one.
    together : types of tiers whose annotations do not divide their parent's time.
    """
    below: dict[str, list[_Tier]] = {}
    names = {tier.name for tier in own}
    for tier in own:
        below.setdefault(tier.parent if tier.parent in names else "", []).append(tier)
    times: dict[str, _Times] = {}
    waiting = below.pop("", [])
    for tier in waiting:  # each behind the one that it is below
        waiting += below.pop(tier.name, [])
        on: dict[str, list[_Row]] = {}
        for row in tier.rows:
            if row.parent:
                on.setdefault(row.parent, []).append(row)
        _space(tier, slots)
        for row in tier.rows:
            begin, end = (slots.get(slot) for slot in row.slots)
            if begin is not None and end is not None:
                times[row.id] = begin, end
        for parent, rows in on.items():
            if parent not in times:
                continue
            whole = times[parent]
            for number, row in enumerate(_in_order(rows)):
                parts = (number, number + 1, len(rows))
                times[row.id] = whole if tier.type in together else _part(whole, *parts)
    return times


def _part(whole: _Times, first: int, last: int, parts: int) -> _Times:
    """From one to another of the even parts of a stretch."""
    begin, end = whole
    return begin + (end - begin) * first // parts, begin + (end - begin) * last // parts


def _in_order(rows: Sequence[_Row]) -> Sequence[_Row]:
    """Annotations that divide one, each behind the one that it names as the one before."""
    following = {row.previous: row for row in rows}
    ordered: list[_Row] = []
    while len(ordered) < len(rows):
        row = following.pop(ordered[-1].id if ordered else "", None)
        if row is None:
            return rows
        ordered.append(row)
    return ordered


def _space(tier: _Tier, slots: dict[str, int | None]) -> None:
    """Give times to the slots of a tier that have none and lie between two that have."""
    following = dict(row.slots for row in tier.rows if not row.parent)
    for start in list(following):
        begin, run, at = slots.get(start), list[str](), following.get(start, "")
        while begin is not None and at in slots and slots[at] is None and at in following:
            run.append(at)
            at = following.pop(at)
        end = slots.get(at)
        if begin is not None and end is not None:
            for number, slot in enumerate(run, start=1):
                slots[slot], _ = _part((begin, end), number, number, len(run) + 1)


def _whole(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**53:
        raise ValueError(text)
    return value


def _own(annotation_id: str, letter: str) -> str | None:
    """The id of a mark or unit in an annotation's; None if another tool gave it."""
    own = annotation_id.removeprefix(letter)
    return own if own != annotation_id and _ID.fullmatch(own) else None
