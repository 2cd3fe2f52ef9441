"""What REFI-QDA's projects (.qdpx) and codebooks (.qdc) share: ids, and the tree of codes.

A tier is a code that nothing is coded with; its codes are below it, kinds of a code below that
code, and a code with a value, `sure = 4`, below the code. No name is there twice, for some tools
know codes by their names alone.

REFI-QDA codebooks (.qdc): the tree of codes alone, for NVivo, MAXQDA, ATLAS.ti and others.

What a codebook says of a tier beyond its title, and the keys of codes, have no place in it.

Ids for what other tools call by any text.
"""

from __future__ import annotations

import re
import unicodedata
import uuid
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from labapp.base.messages import Message
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import COLOUR, Codebook, Tier
from labapp.coding.exchange.files import TOO_MUCH, parse_xml, plain, unreadable, write_new
from labapp.coding.exchange.model import Annotation, FileCode, label_of, losses, read_label

ORIGIN = "labapp"
_SPACE = uuid.UUID("7c4f0c3e-52a1-5d0b-9b5e-3f1a0f6d2c77")
_NOT, _EXAMPLE = "Not: ", "Example: "


def guid(kind: str, *names: str) -> str:
    """An id by what a thing is and what it is called: the same whenever it goes out."""
    return str(uuid.uuid5(_SPACE, "\0".join((kind, *names))))


def line(text: str) -> str:
    """A text as a name: one line that XML can hold."""
    return " ".join(plain(text).split())


@dataclass
class CodeNode:
    """A code, or a tier, on its way out.

    Attributes
    ----------
    guid, name : the name is there once only.
    tier, code : of the codebook; the code of a tier is empty.
    colour : as `#RRGGBB`; empty for none.
    description : when it is given, when not, and examples.
    below : what is a kind of it.
    """

    guid: str
    name: str
    tier: str
    code: str = ""
    value: int | None = None
    colour: str = ""
    description: str = ""
    below: list[CodeNode] = field(default_factory=list)

    def element(self) -> ET.Element:
        """As XML."""
        fields = {"guid": self.guid, "name": self.name}
        fields["isCodable"] = "true" if self.code else "false"
        if self.colour:
            fields["color"] = self.colour
        element = ET.Element("Code", fields)
        if self.description.strip():
            ET.SubElement(element, "Description").text = plain(self.description)
        element.extend([node.element() for node in self.below])
        return element


class CodesOut:
    """A codebook as a tree.

    Attributes
    ----------
    tree : the tiers.
    by_label : by tier, and by code with its value as `labapp.coding.exchange.model.label_of` has
        it.
    """

    def __init__(self, book: Codebook, given: Iterable[Annotation] = ()) -> None:
        """given: codes that were given; of those that are retired or unknown, only these go out."""
        self._book = book
        self._taken: set[str] = set()
        self.tree: list[CodeNode] = []
        self.by_label: dict[tuple[str, str], CodeNode] = {}
        used: dict[tuple[str, str], dict[int, None]] = {}
        for annotation in given:
            values = used.setdefault((annotation.tier, annotation.code), {})
            if annotation.value is not None:
                values[annotation.value] = None
        tiers = {tier.name: tier for tier in book.tiers}
        tiers |= {tier: Tier(tier, tier) for tier, _ in used if tier not in tiers}
        for tier in tiers.values():
            name = self._name(tier.title or tier.name, tier.name)
            top = CodeNode(guid("tier", book.id, tier.name), name, tier.name)
            self.tree.append(top)
            self._codes(tier, top, used)

    def _codes(
        self, tier: Tier, top: CodeNode, used: dict[tuple[str, str], dict[int, None]]
    ) -> None:
        ids = [c.id for c in self._book.codes if c.tier == tier.name]
        ids = [c for c in ids if not self._book.by_id[c].retired or (tier.name, c) in used]
        ids += [code for own, code in used if own == tier.name and code not in ids]
        for code_id in ids:
            code = self._book.code(code_id)
            node = CodeNode(
                guid("code", self._book.id, tier.name, code_id),
                self._name(code.name if code else code_id, code_id),
                tier.name,
                code_id,
                colour=code.colour if code else "",
            )
            if code is not None:
                rows = [code.when] if code.when else []
                rows += [_NOT + code.not_] if code.not_ else []
                rows += [_EXAMPLE + words for words in code.examples]
                node.description = "\n".join(rows)
            self.by_label[tier.name, code_id] = node
            values = used.get((tier.name, code_id), {})
            for value in sorted({*tier.values, *values}):
                label = label_of(Annotation(None, tier.name, code_id, 0, 0, value=value))
                self.by_label[tier.name, label] = below = CodeNode(
                    guid("code", self._book.id, tier.name, code_id, str(value)),
                    self._name(f"{node.name} = {value}", label),
                    tier.name,
                    code_id,
                    value,
                    node.colour,
                )
                node.below.append(below)
        for code_id in ids:
            code = self._book.code(code_id)
            above = self.by_label.get((tier.name, code.parent or "")) if code else None
            (above or top).below.append(self.by_label[tier.name, code_id])

    def _name(self, name: str, own_id: str) -> str:
        """The name, or, if it is taken, the name with the id."""
        name, number = line(name) or own_id, 1
        free = name
        while free.casefold() in self._taken:
            free = f"{name} ({own_id})" if number == 1 else f"{name} ({own_id} {number})"
            number += 1
        self._taken.add(free.casefold())
        return free

    def element(self) -> ET.Element:
        """As XML."""
        codes = ET.Element("Codes")
        codes.extend([node.element() for node in self.tree])
        return codes


# --- the way back -------------------------------------------------------------------------------


def read_codes(codes: ET.Element | None, space: str) -> list[FileCode]:
    """The codes of a file, each behind what it is below. space: of the tags."""
    tag = f"{{{space}}}Code"
    read: list[FileCode] = []
    stack: list[tuple[ET.Element, tuple[str, ...]]] = []
    if codes is not None:
        stack += [(element, ()) for element in reversed(codes.findall(tag))]
    while stack:
        element, above = stack.pop()
        name = " ".join((element.get("name") or "").split())
        own = element.findall(tag)
        read.append(
            FileCode(
                normalise_guid(element.get("guid")),
                name,
                (element.findtext(f"{{{space}}}Description") or "").strip(),
                element.get("color") or "",
                element.get("isCodable") not in ("false", "0"),
                above,
                bool(own),
            )
        )
        stack += [(child, (*above, name)) for child in reversed(own)]
    return read


def normalise_guid(text: str | None) -> str:
    """An id in the form in which ids are compared: some tools write braces and capitals."""
    return (text or "").strip().strip("{}").casefold()


def tier_and_code(code: FileCode, names: Mapping[str, int]) -> tuple[str, str, int | None]:
    """What a code of another tool is: its tier is what is on top of it, empty if nothing is.
    names: how many codes have each; one that is there twice is taken with what it is below."""
    label, value = read_label(code.name)
    within = code.above[1:]
    if value is not None and within and within[-1] == label:
        within = within[:-1]
    name = label or code.name
    if within and names.get(code.name, 0) > 1:
        name = " / ".join((*within, name))
    return (code.above[0] if code.above else "", name, value)


def read_description(text: str) -> tuple[str, str, tuple[str, ...]]:
    """When a code is given, when not, and examples."""
    parts: dict[str, list[str]] = {"": [], _NOT: []}
    examples: list[list[str]] = []
    rows = parts[""]
    for row in text.splitlines():
        if row.startswith(_NOT):
            rows, row = parts[_NOT], row.removeprefix(_NOT)
        elif row.startswith(_EXAMPLE):
            rows, row = [], row.removeprefix(_EXAMPLE)
            examples.append(rows)
        rows.append(row)
    told = tuple("\n".join(example).strip() for example in examples)
    when, never = ("\n".join(parts[part]).strip() for part in ("", _NOT))
    return when, never, tuple(words for words in told if words)


SPACE = "urn:QDA-XML:codebook:1.0"
TOGETHER = "Codes"
"""The title of the tier of codes that are on top with nothing below."""
LARGEST = 16 * 1024 * 1024
"""Bytes of a codebook of another tool."""

MOST = 3_000
"""Codes of such a codebook: one of ours has no room for more."""


def write(codebook: Codebook, path: Path) -> tuple[str, ...]:
    """Write a codebook; returns what has no place, in words. Raises ExchangeError."""
    root = ET.Element("CodeBook", {"xmlns": SPACE, "origin": ORIGIN})
    root.append(CodesOut(codebook).element())
    write_new(path, bytes(ET.tostring(root, encoding="UTF-8", xml_declaration=True)))
    retired = sum(bool(code.retired) for code in codebook.codes)
    return (Message("lost_rules"), *losses({"lost_retired": retired}))


def read(content: bytes, path: Path, codebook_id: str = "imported") -> Codebook:
    """The codebook of another tool, as one of ours.

    What is on top becomes a tier, and what is below it its codes; codes on top with nothing below
    share a tier. Codes are given to stretches, for such a file does not say what to. Raises
    ExchangeError: it is no such file, or has no codes; AnnotationError: what it says makes no
    codebook.

    Parameters
    ----------
    content : the file.
    path : where the codebook will lie, for messages.
    codebook_id : the id that it gets.
    """
    root = parse_xml(content, path.name, f"{{{SPACE}}}CodeBook")
    codes = read_codes(root.find(f"{{{SPACE}}}Codes"), SPACE)
    if not any(code.codable for code in codes):
        raise unreadable(path.name, "it has no codes")
    refuse_many(len(codes), path.name)
    return build_codebook(document(codes, codebook_id), path)


def build_codebook(document: dict[str, Any], path: Path) -> Codebook:
    """Build a codebook from a document. Raises ExchangeError, AnnotationError."""
    refuse_many(len(document["codes"]), path.name)
    values = (value for code in document["codes"] for value in code.values())
    words = sum(len(value) for value in values if isinstance(value, str))
    if words > codebooks.LARGEST:  # said before YAML, which takes a second for each megabyte
        raise unreadable(path.name, f"its codes have {words:,} characters, which is too many")
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    content = text.encode("utf-8", "replace")
    if len(content) > codebooks.LARGEST:
        raise unreadable(path.name, f"its codebook has {len(content)} bytes, which is too large")
    return codebooks.parse(content, path)


def refuse_many(codes: int, name: str) -> None:
    """Raises ExchangeError for a codebook of more codes than are read."""
    if codes > MOST:
        raise unreadable(name, f"it has {codes:,} codes, and at most {MOST:,} are read", TOO_MUCH)


def document(
    codes: Sequence[FileCode], codebook_id: str, given: Iterable[Annotation] = ()
) -> dict[str, Any]:
    """Codes as the document of a codebook. given: codes of the file that were given: which are of
    moments, and with which values; one that is given both to moments and to stretches becomes two.
    """
    points: dict[tuple[str, str], set[bool]] = {}
    values: dict[str, set[int]] = {}
    for annotation in given:
        point = annotation.t0_ns == annotation.t1_ns
        points.setdefault((annotation.tier, annotation.code), set()).add(point)
        if annotation.value is not None and 0 <= annotation.value <= 9:
            values.setdefault(annotation.tier, set()).add(annotation.value)
    names = Counter(code.name for code in codes if code.codable)
    tiers: dict[str, dict[str, Any]] = {}
    titled: dict[str, str] = {}
    ids: dict[str, dict[str, Any]] = {}
    # By where a code stands: the tier, and the id of the code above, empty for what only groups.
    known: dict[tuple[str, ...], tuple[str, str]] = {}
    for code in codes:
        tier, parent = known.get(code.above, ("", ""))
        top, name, value = tier_and_code(code, names)
        if not tier:
            title = code.name if code.has_below else TOGETHER
            if title not in titled:
                titled[title] = id_of(title, "tier", tiers)
                tiers[titled[title]] = {"title": title, "on": "spans", "values": []}
            tier = titled[title]
        own_values = values.pop(top, set())
        if parent and value is not None and 0 <= value <= 9 and ids[parent]["name"] == name:
            own_values.add(value)
        tiers[tier]["values"] = sorted({*tiers[tier]["values"], *own_values})
        place = (*code.above, code.name)
        if not code.codable or (value is not None and value in own_values):
            known.setdefault(place, (tier, parent))
            continue
        own = id_of(code.name, "code", ids)
        fields = _fields(code, own, tier, name, parent)
        kinds = points.get((top, name), set())
        ids[own] = fields | ({"kind": "point"} if kinds == {True} else {})
        if kinds == {True, False}:
            moment = id_of(f"{code.name} at a moment", "code", ids)
            ids[moment] = {**fields, "id": moment, "kind": "point"}
        known.setdefault(place, (tier, own))
    return {"codebook": codebook_id, "version": 1, "tiers": tiers, "codes": list(ids.values())}


def _fields(code: FileCode, own: str, tier: str, name: str, parent: str) -> dict[str, Any]:
    """A code as its document has it."""
    when, never, examples = read_description(code.description)
    fields: dict[str, Any] = {"id": own, "tier": tier, "name": name or own}
    colour = code.colour
    if len(colour) == 4:  # a digit for two
        colour = f"#{''.join(2 * digit for digit in colour[1:])}"
    if COLOUR.fullmatch(colour):
        fields["colour"] = colour
    optional = {"when": when, "not": never, "examples": list(examples), "parent": parent}
    return fields | {key: value for key, value in optional.items() if value}


_LONGEST = 60
_ALPHABETS = {
    "äöüæœøþđłı": "ae oe ue ae oe o th d l i",
    "абвгдеёжзийклмнопрстуфхцчшщъыьэюя": (
        "a b v g d e yo zh z i y k l m n o p r s t u f kh ts ch sh shch - y - e yu ya"
    ),
    "αβγδεζηθικλμνξοπρσςτυφχψω": "a v g d e z i th i k l m n x o p r s s t y f ch ps o",
}
_LATIN = {
    letter: latin.strip("-")
    for letters, written in _ALPHABETS.items()
    for letter, latin in zip(letters, written.split(), strict=True)
}
_NAMED = re.compile(r"(?:LETTER|SYLLABLE) (?:SMALL |FINAL )?([A-Z]+)$")
"""Of characters that Unicode names by their sound, such as HIRAGANA LETTER KA."""


def id_of(text: str, otherwise: str, taken: Container[str]) -> str:
    """A text as an id, which a codebook writes in small Latin letters, digits and underscores.
    Other scripts are transliterated; a character without a sound of its own, as 感, becomes its
    number in Unicode.

    Parameters
    ----------
    text : what the other tool calls it.
    otherwise : what the id begins with if the text does not begin with a letter.
    taken : ids that others have.
    """
    letters = map(_latin, unicodedata.normalize("NFC", text.casefold()))
    word = re.sub(r"[^a-z0-9]+", "_", "".join(letters)).strip("_")
    if not word or not word[0].isalpha():
        word = f"{otherwise}_{word}".rstrip("_")
    number, own = 1, word[:_LONGEST]
    while own in taken:
        number += 1
        own = f"{word[:_LONGEST]}_{number}"
    return own


def _latin(letter: str) -> str:
    """A letter in Latin letters; anything else as it is."""
    if letter.isascii() or letter in _LATIN:
        return _LATIN.get(letter, letter)
    if named := _NAMED.search(unicodedata.name(letter, "")):
        return named[1].lower()
    plain = unicodedata.normalize("NFKD", letter)
    if plain != letter:
        return "".join(map(_latin, plain))
    if unicodedata.category(letter).startswith("M"):  # a mark on a letter
        return ""
    return f"u{ord(letter):x}" if letter.isalpha() else " "
