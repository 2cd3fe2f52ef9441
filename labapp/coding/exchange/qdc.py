"""REFI-QDA codebooks (.qdc): the tree of codes alone, for NVivo, MAXQDA, ATLAS.ti and others.

What a codebook says of a tier beyond its title, and the keys of codes, have no place in it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from labapp.base.messages import Message
from labapp.coding.annotations import codebook as codebooks
from labapp.coding.annotations.codebook import COLOUR, Codebook
from labapp.coding.exchange.files import TOO_MUCH, parsed, unreadable, write_new
from labapp.coding.exchange.model import Annotation, FileCode, losses
from labapp.coding.exchange.naming import id_of
from labapp.coding.exchange.refi import (
    ORIGIN,
    CodesOut,
    read_codes,
    read_description,
    tier_and_code,
)

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
    share a tier. Codes are given to stretches, for such a file does not say what to.

    Parameters
    ----------
    content : the file.
    path : where the codebook will lie, for messages.
    codebook_id : the id that it gets.

    Raises
    ------
    ExchangeError : it is no such file, or has no codes.
    AnnotationError : what it says makes no codebook.
    """
    root = parsed(content, path.name, f"{{{SPACE}}}CodeBook")
    codes = read_codes(root.find(f"{{{SPACE}}}Codes"), SPACE)
    if not any(code.codable for code in codes):
        raise unreadable(path.name, "it has no codes")
    refuse_many(len(codes), path.name)
    return made(document(codes, codebook_id), path)


def made(document: dict[str, Any], path: Path) -> Codebook:
    """A document as a codebook. Raises ExchangeError, AnnotationError."""
    refuse_many(len(document["codes"]), path.name)
    values = (value for code in document["codes"] for value in code.values())
    words = sum(len(value) for value in values if isinstance(value, str))
    if words > codebooks.LARGEST:  # said before YAML, which takes a second for each megabyte
        raise unreadable(path.name, f"its codes have {words:,} characters, which is too much")
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
