"""The YAML of a codebook: its keys, what they may hold, and every mistake with its line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema

from labapp.base.documents import (
    SLUG,
    WORD,
    Located,
    Problem,
    Strict,
    dotted,
    parse_yaml,
    problems,
    refused,
)
from labapp.base.errors import AnnotationError
from labapp.base.reading.values import PROBLEMS
from labapp.coding.annotations.codebook import Code, Codebook, Kind, Target, Tier

WHAT = "codebook"
COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#117733",
    "#332288", "#AA4499", "#999933", "#44AA99",
)  # fmt: skip
"""Told apart with every kind of colour vision: those of Okabe and Ito (2008) without yellow and
black, then of Paul Tol's muted scheme (2021)."""


Key = Annotated[
    str,
    # A digit without quotes is a number in YAML.
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
]
Id = Annotated[str, Field(pattern=WORD)]
Text_ = Annotated[str, Field(min_length=1)]


class TierDocument(Strict):
    """A group of codes that are given together.

    Attributes
    ----------
    title : its name for people; default: the key.
    exclusive : only one code of it holds at a time.
    on : units, or spans: stretches and moments of their own.
    optional : a unit may be left without a code of it.
    values : whole numbers that may be given with a code, by the digits.
    """

    title: str = ""
    exclusive: bool = False
    on: Target = "units"
    optional: bool = False
    values: tuple[int, ...] = ()


class CodeDocument(Strict):
    """A code.

    Attributes
    ----------
    id : unique in the codebook; never used again for something else.
    tier : of those above.
    name : for people.
    key : a letter or digit, unique on the tier.
    colour : as #RRGGBB; default: of a scheme for every kind of colour vision.
    kind : span, for a stretch; point, for a moment.
    when : when it is given.
    not_ : when it is not, and what is given instead.
    examples : words that it was given to.
    parent : the code of the same tier that it is a kind of.
    retired : why it is not given any more.
    """

    id: Id
    tier: str
    name: Text_
    key: Key | None = None
    colour: str | None = None
    kind: Kind = "span"
    when: str = ""
    not_: str = Field(default="", alias="not")
    examples: tuple[str, ...] = ()
    parent: str | None = None
    retired: Text_ | None = None


class CodebookDocument(Strict):
    """A codebook: which codes there are, when they are given, and by which key.

    Attributes
    ----------
    codebook : its id, the same in all versions.
    version : counted up whenever a definition changes.
    title : for people.
    tiers : groups of codes that are given together, by their names.
    codes : in the order they are shown in.
    renamed : earlier codes, and what each is called now.
    merged : earlier codes, and the code that each is now a part of.
    split : earlier codes, and the codes that took the place of each.
    identifying : no, where none of its words tell who said something: then a de-identified bundle
        keeps examples and explanations. By default it leaves them out.
    withheld : its examples, explanations and comments were taken out by labapp; its name is still
        the hash of what it was.
    """

    codebook: Annotated[str, Field(pattern=SLUG)]
    version: int = Field(ge=1)
    title: str = ""
    tiers: dict[Id, TierDocument] = Field(min_length=1)
    codes: tuple[CodeDocument, ...] = Field(min_length=1)
    renamed: dict[str, str] = Field(default_factory=dict)
    merged: dict[str, str] = Field(default_factory=dict)
    split: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    identifying: bool | None = None
    withheld: bool = False


def without_words(codebook: Codebook) -> bytes:
    """A codebook without the words in it that may be somebody's: examples, when a code is given and
    when not, why it is not given any more, and comments."""
    content = yaml.safe_load(codebook.content)
    for code in content["codes"]:
        for key in ("examples", "when", "not"):
            code.pop(key, None)
        if code.get("retired"):
            code["retired"] = "withheld"
    text = yaml.safe_dump({**content, "withheld": True}, sort_keys=False, allow_unicode=True)
    return text.encode("utf-8")


def codebook_from(content: bytes, path: Path, sha256: str) -> Codebook:
    """The codebook in some bytes. Raises AnnotationError with every mistake."""
    located = parse_yaml(path, content, AnnotationError)
    try:
        document = CodebookDocument.model_validate(located.value)
    except ValidationError as invalid:
        errors = invalid.errors(include_url=False)
        raise refused(
            path, problems(located, errors, CodebookDocument), WHAT, AnnotationError
        ) from invalid
    if mistakes := list(islice(_mistakes(document, located), PROBLEMS)):
        raise refused(path, sorted(set(mistakes)), WHAT, AnnotationError)
    return _codebook(document, content, sha256)


def _codebook(document: CodebookDocument, content: bytes, sha256: str) -> Codebook:
    tiers = tuple(
        Tier(name, tier.title or name, tier.exclusive, tier.on, tier.optional, tier.values)
        for name, tier in document.tiers.items()
    )
    colours = _colours(document.codes)
    codes = tuple(
        Code(
            code.id,
            code.tier,
            code.name,
            (code.key or "").casefold(),
            colours[code.id],
            code.kind,
            code.when,
            code.not_,
            code.examples,
            code.parent,
            code.retired or "",
        )
        for code in document.codes
    )
    return Codebook(
        document.codebook,
        document.version,
        sha256,
        tiers,
        codes,
        document.title or document.codebook,
        _successors(document),
        frozenset(document.merged.values()),
        content,
        document.identifying,
        document.withheld,
    )


def _colours(codes: Sequence[CodeDocument]) -> dict[str, str]:
    """The colour of each code: its own, or the next that no other of its tier has."""
    out = {code.id: code.colour.upper() for code in codes if code.colour is not None}
    taken: dict[str, Counter[str]] = {}
    for code in codes:
        if code.id in out:
            taken.setdefault(code.tier, Counter())[out[code.id]] += 1
    for code in codes:
        if code.colour is None:
            own = taken.setdefault(code.tier, Counter())
            out[code.id] = min(COLOURS, key=own.__getitem__)
            own[out[code.id]] += 1
    return out


def _successors(document: CodebookDocument) -> dict[str, tuple[str, ...]]:
    single = {**document.renamed, **document.merged}
    return {**{old: (new,) for old, new in single.items()}, **document.split}


def _mistakes(document: CodebookDocument, located: Located) -> Iterator[Problem]:
    """What the types cannot say."""

    def problem(what: str, *place: str | int) -> Problem:
        return Problem(located.line(place), dotted(place), what)

    for name, tier in document.tiers.items():
        if any(not 0 <= value <= 9 for value in tier.values):
            yield problem(
                f"found {list(tier.values)}; allowed: whole numbers from 0 to 9, for each is "
                "given by its digit",
                "tiers", name, "values",
            )  # fmt: skip
        elif len(set(tier.values)) != len(tier.values):
            yield problem("a value is given twice; keep one of them", "tiers", name, "values")
    first: dict[str, int] = {}
    keys: dict[tuple[str, str], str] = {}
    for index, code in enumerate(document.codes):
        place = ("codes", index)
        if code.id in first:
            yield problem(
                f"there is a code {code.id!r} above, in line "
                f"{located.line(('codes', first[code.id], 'id'))}; allowed: an id of its own",
                *place, "id",
            )  # fmt: skip
        first.setdefault(code.id, index)
        if code.tier not in document.tiers:
            allowed = ", ".join(islice(document.tiers, PROBLEMS))
            yield problem(f"there is no tier {code.tier!r}; allowed: {allowed}", *place, "tier")
        if code.colour is not None and not COLOUR.fullmatch(code.colour):
            yield problem(
                f"found {code.colour!r}; allowed: a colour in quotes, as \"#0072B2\"",
                *place, "colour",
            )  # fmt: skip
        own_tier = document.tiers.get(code.tier)
        if what := _key_mistake(code, own_tier, keys):
            yield problem(what, *place, "key")
        if code.kind == "point" and own_tier is not None and own_tier.on == "units":
            yield problem(
                "found 'point'; allowed: span, for the tier is on units, and a unit is a "
                "stretch",
                *place, "kind",
            )  # fmt: skip
    by_id = {code.id: code for code in document.codes}
    yield from (problem(what, *place) for what, place in _parent_mistakes(document, by_id))
    yield from (problem(what, *place) for what, place in _map_mistakes(document, by_id))


def _key_mistake(
    code: CodeDocument, tier: TierDocument | None, keys: dict[tuple[str, str], str]
) -> str:
    """What is wrong with a code's key; empty where nothing is. keys: of the codes above."""
    if code.key is None or code.retired is not None:
        return ""
    key = code.key.casefold()
    if len(key) != 1 or not (key.isalpha() or key in "0123456789"):
        return f"found {code.key!r}; allowed: a letter or a digit"
    if key.isdigit() and tier is not None and tier.values:
        return (
            f"found {code.key!r}; allowed: a letter, for the digits give the values of the tier "
            f"{code.tier!r}"
        )
    other = keys.setdefault((code.tier, key), code.id)
    if other != code.id:
        return f"{code.key!r} is the key of {other!r} on this tier; allowed: a key of its own"
    return ""


_Mistake = tuple[str, tuple[str | int, ...]]


def _parent_mistakes(
    document: CodebookDocument, by_id: Mapping[str, CodeDocument]
) -> Iterator[_Mistake]:
    circles = _circles(
        {name: () if code.parent is None else (code.parent,) for name, code in by_id.items()}
    )
    for index, code in enumerate(document.codes):
        if code.parent is None:
            continue
        place = ("codes", index, "parent")
        parent = by_id.get(code.parent)
        if parent is None:
            yield f"there is no code {code.parent!r}", place
        elif parent.tier != code.tier:
            what = f"{code.parent!r} is of the tier {parent.tier!r}; allowed: a code of this tier"
            yield what, place
        elif circle := circles.get(code.id):
            yield f"a circle: {' → '.join(circle)}; a code is no kind of itself", place


def _map_mistakes(
    document: CodebookDocument, by_id: Mapping[str, CodeDocument]
) -> Iterator[_Mistake]:
    maps: dict[str, Mapping[str, tuple[str, ...]]] = {
        "renamed": {old: (new,) for old, new in document.renamed.items()},
        "merged": {old: (new,) for old, new in document.merged.items()},
        "split": document.split,
    }
    successors = _successors(document)
    count = Counter(chain.from_iterable(maps.values()))
    circles = _circles(successors)
    for name, entries in maps.items():
        for old, new in entries.items():
            place = (name, old)
            if count[old] > 1:
                yield f"{old!r} is in more than one of renamed, merged and split", place
            if old in by_id and by_id[old].retired is None:
                yield (
                    f"{old!r} is a code that is still given; allowed: one that is gone, or retired",
                    place,
                )
            if not new:
                yield "found no code; allowed: the codes that took its place", place
            for code in new:
                if code not in by_id and code not in successors:
                    yield f"there is no code {code!r}", place
            if circle := circles.get(old):
                yield f"a circle: {' → '.join(circle)}", place


def _circles(following: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The ways from a code back to itself, each by the first code of it; empty where none is.

    Each code is passed once, however many ways lead through it.
    """
    circles: dict[str, tuple[str, ...]] = {}
    done: set[str] = set()
    for start in following:
        way: dict[str, Iterator[str]] = {}
        name: str | None = start if start not in done else None
        while name is not None:
            way.setdefault(name, iter(following.get(name, ())))
            successor = next(way[name], None)
            if successor is None:
                done.add(name)
                del way[name]
                name = next(reversed(way), None)
            elif successor in way:
                names = list(way)
                circle = tuple(names[names.index(successor) :])
                circles.setdefault(circle[0], (*circle, circle[0]))
            elif successor not in done:
                name = successor
    return circles
