"""What REFI-QDA's projects (.qdpx) and codebooks (.qdc) share: ids, and the tree of codes.

A tier is a code that nothing is coded with; its codes are below it, kinds of a code below that
code, and a code with a value, `sure = 4`, below the code. No name is there twice, for some tools
know codes by their names alone.
"""

from __future__ import annotations

import uuid
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from labapp.coding.annotations.codebook import Codebook, Tier
from labapp.coding.exchange.files import plain
from labapp.coding.exchange.model import Annotation, FileCode, label_of, read_label

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
        """The name, or, where it is taken, the name with the id."""
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
                known_guid(element.get("guid")),
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


def known_guid(text: str | None) -> str:
    """An id as it is compared: some tools write braces and capitals."""
    return (text or "").strip().strip("{}").casefold()


def tier_and_code(code: FileCode, names: Mapping[str, int]) -> tuple[str, str, int | None]:
    """What a code of another tool is: its tier is what is on top of it, empty where nothing is.
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
