"""Codebooks: which codes there are, when they are given, and by which key; what differs between
two versions of one, and which marks that makes old.

A codebook is a YAML file in the study's folder, `codebook.yaml` or `codebook-….yaml`. It is known
by the SHA-256 of its bytes: every mark says by which version it was given, and every version that
marks were given by is kept.

The YAML of a codebook: its keys, what they may hold, and every mistake with its line.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema

from labapp.base.documents import (
    SLUG,
    WORD,
    Located,
    Problem,
    Strict,
    format_path,
    make_document_error,
    parse_yaml,
    problems,
)
from labapp.base.errors import AnnotationError
from labapp.base.reading import files
from labapp.base.reading.values import PROBLEMS
from labapp.coding.annotations.model import Mark, Unit, codebook_versions

LARGEST = 256 * 1024
"""Bytes of a codebook."""
PATTERNS = ("codebook.yaml", "codebook-*.yaml")
"""Names of codebooks in a study's folder."""

Kind = Literal["span", "point"]
"""Whether a code holds for a stretch or for a moment."""
KINDS: tuple[str, ...] = get_args(Kind)
Target = Literal["units", "spans"]
"""What codes of a tier are given to: units, or stretches of their own."""


@dataclass(frozen=True, slots=True)
class Tier:
    """A group of codes that are given together.

    Attributes
    ----------
    exclusive : whether only one code of it holds at a time.
    optional : whether a unit may be left without a code of it.
    values : what may be given with a code of it, by the digits; empty if nothing is.
    """

    name: str
    title: str = ""
    exclusive: bool = False
    on: Target = "units"
    optional: bool = False
    values: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Code:
    """A code, and when it is given.

    Attributes
    ----------
    key : a letter or digit; empty if it has none.
    colour : as `#RRGGBB`.
    when, not_ : when it is given, and when not.
    parent : the id of the code that it is a kind of.
    retired : why it is not given any more; empty while it is.
    """

    id: str
    tier: str
    name: str
    key: str = ""
    colour: str = "#000000"
    kind: Kind = "span"
    when: str = ""
    not_: str = ""
    examples: tuple[str, ...] = ()
    parent: str | None = None
    retired: str = ""


@dataclass(frozen=True)
class Codebook:
    """A version of a codebook.

    Attributes
    ----------
    id : the same in all versions.
    successors : what took the place of an earlier code, by its id: the code it was renamed to or
        merged into, or those it was split into.
    merged : ids of codes that earlier ones were merged into.
    identifying : whether its words tell who said something, if it says so.
    withheld : whether its words were taken out; it has the hash that it had with them.
    """

    id: str
    version: int
    sha256: str
    tiers: tuple[Tier, ...]
    codes: tuple[Code, ...]
    title: str = ""
    successors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    merged: frozenset[str] = frozenset()
    content: bytes = field(default=b"", repr=False)
    identifying: bool | None = None
    withheld: bool = False

    @cached_property
    def by_id(self) -> Mapping[str, Code]:
        """The codes by their ids."""
        return {code.id: code for code in self.codes}

    @cached_property
    def by_label(self) -> Mapping[tuple[str, str], tuple[Code, ...]]:
        """The codes by tier and by what they are called there: their ids, and their names in small
        letters. With an empty tier, of all tiers."""
        labels: dict[tuple[str, str], list[Code]] = {}
        for code in self.codes:
            for label in dict.fromkeys((code.id, code.name.casefold())):
                labels.setdefault((code.tier, label), []).append(code)
                labels.setdefault(("", label), []).append(code)
        return {key: tuple(codes) for key, codes in labels.items()}

    @cached_property
    def _tiers(self) -> Mapping[str, Tier]:
        return {tier.name: tier for tier in reversed(self.tiers)}

    def code(self, code_id: str) -> Code | None:
        """The code of that id; None if there is none."""
        return self.by_id.get(code_id)

    def tier(self, name: str) -> Tier | None:
        """The tier of that name; None if there is none."""
        return self._tiers.get(name)

    def given(self, tier: str) -> tuple[Code, ...]:
        """The codes of a tier that are given: those retired left out."""
        return tuple(code for code in self.codes if code.tier == tier and not code.retired)

    def by_key(self, tier: str, key: str) -> Code | None:
        """The code that a key gives on a tier; None if it gives none."""
        same = (code for code in self.given(tier) if code.key and code.key == key.casefold())
        return next(same, None)

    def following(self, code_id: str) -> tuple[str, ...]:
        """The codes that are given now in the place of an earlier one, over all renamings, merges
        and splits; empty if none is."""
        out: list[str] = []
        waiting = deque(self.successors.get(code_id, ()))
        seen: set[str] = set()
        while waiting:
            name = waiting.popleft()
            if name in seen:
                continue
            seen.add(name)
            code = self.by_id.get(name)
            if code is not None and not code.retired:
                out.append(name)
            else:
                waiting += self.successors.get(name, ())
        return tuple(dict.fromkeys(out))

    @property
    def needs_units(self) -> bool:
        """Whether codes of it are given to units."""
        return any(tier.on == "units" for tier in self.tiers)


def read(path: Path) -> Codebook:
    """The codebook in a file. Raises AnnotationError: it cannot be read, or is none: with every
    mistake, its line, what is allowed."""
    try:
        content = files.content(path, LARGEST)
    except OSError as error:
        raise AnnotationError(
            f"The codebook {path} cannot be read ({error.strerror or error}).",
            todo="Check that it exists and is the right file. A codebook is in the study's "
            "folder and is called codebook.yaml.",
        ) from error
    return parse(content, path)


def parse(content: bytes, path: Path) -> Codebook:
    """The codebook in some bytes; `path` names it in messages. Raises AnnotationError as `read`."""

    return codebook_from(content, path, hashlib.sha256(content).hexdigest())


def codebooks_of(study: Path) -> tuple[Codebook, ...]:
    """The codebooks of a study, by their ids. Raises AnnotationError: a codebook of it is wrong, or
    two have the same id.

    Parameters
    ----------
    study : the folder with its sessions.
    """
    by_id: dict[str, tuple[Path, Codebook]] = {}
    for path in _own_files(study):
        codebook = read(path)
        if codebook.id in by_id:
            raise AnnotationError(
                f"{by_id[codebook.id][0]} and {path} have the same name, {codebook.id!r}.",
                todo="Give one of them another id.",
            )
        by_id[codebook.id] = (path, codebook)
    return tuple(by_id[name][1] for name in sorted(by_id))


def _own_files(study: Path) -> list[Path]:
    return sorted({path for pattern in PATTERNS for path in study.glob(pattern)})


def store_version(study: Path, codebook: Codebook) -> Path:
    """Keep a version of a codebook that marks are given by. Raises AnnotationError."""
    from labapp.base import durable
    from labapp.record.journal import anchor

    path = codebook_versions(study) / f"{codebook.sha256}.yaml"
    if files.is_file(path):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two windows may keep the same version at once.
        draft = path.with_name(f".{path.stem}-{uuid.uuid4().hex[:8]}.draft")
        durable.write(draft, codebook.content)
        draft.replace(path)
        durable.sync_folder(path.parent)
        anchor.note_file(path)
    except OSError as error:
        raise AnnotationError(
            f"The codebook could not be saved in {path} ({error.strerror or error}).",
            todo="Free some space, or make sure that you may write there.",
        ) from error
    return path


def as_named(codebook: Codebook, sha256: str) -> Codebook:
    """A stored version by its name, which is the hash that it had with all its words."""
    return replace(codebook, sha256=sha256) if codebook.withheld else codebook


def withhold_words(study: Path) -> list[Path]:
    """Take examples, explanations and comments out of every stored version of a study's codebooks;
    those that were changed. Marks keep their codes. Raises AnnotationError."""
    from labapp.coding.annotations.ledger import replace_file

    changed = []
    for sha256, codebook in versions_of(study).items():
        if not codebook.withheld:
            path = codebook_versions(study) / f"{sha256}.yaml"
            replace_file(path, without_words(codebook), "words withheld")
            changed.append(path)
    return changed


def quoting(study: Path, texts: Iterable[str]) -> list[str]:
    """Where codebooks of a study quote what was said: four words in a row, or a whole example. Each
    is told as a file and the codes in it."""
    spoken = [_words_of(text) for text in texts]
    runs = {run for words in spoken for run in _runs(words)}
    whole = {tuple(words) for words in spoken if len(words) > 1}
    quoted = []
    for path in [*_own_files(study), *sorted(codebook_versions(study).glob("*.yaml"))]:
        try:
            book = read(path)
        except AnnotationError:
            continue  # its reader reports it
        codes = [code.id for code in book.codes if _quotes(code, runs, whole)]
        lines = book.content.decode("utf-8", "replace").splitlines()
        comments = (line.partition("#")[2] for line in lines)
        if not codes and any(_runs(_words_of(comment)) & runs for comment in comments):
            codes = ["a comment"]
        if codes:
            quoted.append(f"{path.relative_to(study)} ({', '.join(codes)})")
    return quoted


_RUN = 4
_Words = tuple[str, ...]


def _quotes(code: Code, runs: Collection[_Words], whole: Collection[_Words]) -> bool:
    free = [_words_of(text) for text in (*code.examples, code.when, code.not_, code.retired)]
    return any(tuple(words) in whole or _runs(words) & {*runs} for words in free if words)


def _runs(words: Sequence[str]) -> set[_Words]:
    return {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}


def _words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def versions_of(study: Path) -> dict[str, Codebook]:
    """Every version of a codebook that marks of a study were given by, by its SHA-256. Raises
    AnnotationError: one of them cannot be read, or was changed."""
    versions: dict[str, Codebook] = {}
    for path in sorted(codebook_versions(study).glob("*.yaml")):
        codebook = as_named(read(path), path.stem)
        if codebook.sha256 != path.stem:
            raise AnnotationError(
                f"{path} was changed: its name is the SHA-256 of its original content.",
                safe="It was only read; nothing was changed.",
                todo="Restore a copy of it, because marks were made with it.",
            )
        versions[codebook.sha256] = codebook
    return versions


CODE_DEFINITION = ("tier", "kind", "when", "not_", "parent")
"""What a code means: who coded by another one of these coded something else. Names, examples, keys
and colours do not matter."""
TIER_DEFINITION = ("exclusive", "on", "values")


@dataclass(frozen=True, slots=True)
class CodebookChange:
    """A difference between two versions of a codebook.

    Attributes
    ----------
    place : `code` or `tier`.
    what : `added`, `removed`, `retired`, `given again`, `renamed`, `merged`, `split` or `changed`.
    key : the key that changed; empty if it is not one key.
    definition : whether marks given before mean something else now.
    """

    place: str
    id: str
    what: str
    key: str = ""
    before: str = ""
    after: str = ""
    definition: bool = True

    def __str__(self) -> str:
        head = f"{self.place} {self.id}"
        if self.what == "changed":
            return f"{head}: {self.key} was {self.before!r}, and is now {self.after!r}"
        arrow = f" → {self.after}" if self.after else ""
        return f"{head}: {self.what}{arrow}"


def differences(old: Codebook, new: Codebook) -> tuple[CodebookChange, ...]:
    """What changed from one version to the other: tiers, then codes in their order."""
    return tuple(_differences(old, new))


def _differences(old: Codebook, new: Codebook) -> Iterator[CodebookChange]:
    for tier in old.tiers:
        other = new.tier(tier.name)
        if other is None:
            yield CodebookChange("tier", tier.name, "removed")
        else:
            yield from _compare_fields("tier", tier.name, tier, other, TIER_DEFINITION)
    for tier in new.tiers:
        if old.tier(tier.name) is None:
            yield CodebookChange("tier", tier.name, "added", definition=False)
    for code in old.codes:
        now = new.code(code.id)
        if (now is None or now.retired) and not code.retired:
            yield _ending(code, now, new)
        elif now is not None:
            if code.retired and not now.retired:
                yield CodebookChange("code", code.id, "given again")
            yield from _compare_fields("code", code.id, code, now, CODE_DEFINITION)
        elif code.retired:
            yield CodebookChange("code", code.id, "removed", definition=False)
    for code in new.codes:
        if old.code(code.id) is None:
            yield CodebookChange("code", code.id, "added", definition=False)


def _ending(code: Code, other: Code | None, new: Codebook) -> CodebookChange:
    """What became of a code that is not given any more."""
    successors = new.successors.get(code.id, ())
    after = ", ".join(successors)
    if len(successors) > 1:
        return CodebookChange("code", code.id, "split", after=after)
    if successors:
        merged = sum(successors == others for others in new.successors.values()) > 1
        what = "merged" if merged or successors[0] in new.merged else "renamed"
        return CodebookChange("code", code.id, what, after=after)
    if other is not None:
        return CodebookChange("code", code.id, "retired", after=other.retired)
    return CodebookChange("code", code.id, "removed")


def _compare_fields(
    place: str, name: str, old: Code | Tier, new: Code | Tier, definition: Iterable[str]
) -> Iterator[CodebookChange]:
    after = asdict(new)
    for key, value in asdict(old).items():
        if key not in ("retired", "id") and value != after[key]:
            texts = _text(value), _text(after[key])
            yield CodebookChange(place, name, "changed", key.rstrip("_"), *texts, key in definition)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Outdated:
    """A mark that was given by an older definition of its code, or to a unit that is gone.

    Attributes
    ----------
    units : ids of the units that are to be looked at: its own, or those in the place of its own.
    why : what is different now, in words.
    suggestions : ids of the codes that may hold now: the same one if its definition changed,
        those that took its place; empty if nothing did.
    """

    mark: Mark
    units: tuple[str, ...]
    why: str
    suggestions: tuple[str, ...] = ()


def find_outdated_marks(
    marks: Iterable[Mark],
    codebook: Codebook,
    versions: Mapping[str, Codebook],
    units: Sequence[Unit],
) -> tuple[Outdated, ...]:
    """The marks that must be reviewed under a newer codebook, in their order.

    Parameters
    ----------
    marks : of any versions of this codebook; marks of other codebooks are passed over.
    versions : every version that marks were given by, by its SHA-256.
    """
    reasons: dict[tuple[str, str], tuple[str, tuple[str, ...]] | None] = {}
    known = {unit.id for unit in units}
    result: list[Outdated] = []
    for mark in marks:
        old = versions.get(mark.codebook)
        if old is not None and old.id != codebook.id:
            continue
        if mark.unit is not None and mark.unit not in known:
            instead = tuple(u.id for u in units if u.t0_ns < mark.t1_ns and mark.t0_ns < u.t1_ns)
            why = "its unit was split or merged" if instead else "its unit is gone"
            result.append(Outdated(mark, instead, why, _now(mark.code, codebook)))
            continue
        if mark.codebook == codebook.sha256:
            continue
        key = (mark.codebook, mark.code)
        if key not in reasons:
            reasons[key] = _why_outdated(mark.code, old, codebook)
        if (reason := reasons[key]) is not None:
            own = () if mark.unit is None else (mark.unit,)
            result.append(Outdated(mark, own, *reason))
    return tuple(result)


def _why_outdated(
    code_id: str, old: Codebook | None, new: Codebook
) -> tuple[str, tuple[str, ...]] | None:
    if old is None:
        return "the version of the codebook with which it was coded is missing", _now(code_id, new)
    before, now = old.code(code_id), new.code(code_id)
    if now is None or now.retired:
        successors = new.following(code_id)
        if len(successors) > 1:
            return f"it was split into {', '.join(successors)}", successors
        if successors:
            return f"it is {successors[0]} now", successors
        return "the code is no longer used", ()
    if before is None:
        return "the version with which it was coded has no such code", (code_id,)
    changes = [*_compare_fields("code", code_id, before, now, CODE_DEFINITION)]
    old_tier, new_tier = old.tier(before.tier), new.tier(now.tier)
    if old_tier is not None and new_tier is not None and old_tier.name == new_tier.name:
        changes += _compare_fields("tier", old_tier.name, old_tier, new_tier, TIER_DEFINITION)
    meant = [f"{change.key} changed" for change in changes if change.definition]
    return ("; ".join(meant), (code_id,)) if meant else None


def _now(code_id: str, new: Codebook) -> tuple[str, ...]:
    code = new.code(code_id)
    return (code_id,) if code is not None and not code.retired else new.following(code_id)


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
    identifying : no, if none of its words tell who said something: then a de-identified bundle
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
        raise make_document_error(
            path, problems(located, errors, CodebookDocument), WHAT, AnnotationError
        ) from invalid
    if mistakes := list(islice(_mistakes(document, located), PROBLEMS)):
        raise make_document_error(path, sorted(set(mistakes)), WHAT, AnnotationError)
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
        return Problem(located.line(place), format_path(place), what)

    for name, tier in document.tiers.items():
        if any(not 0 <= value <= 9 for value in tier.values):
            yield problem(
                f"found {list(tier.values)}; allowed: whole numbers from 0 to 9, because each "
                "is entered with its digit",
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
                f"{located.line(('codes', first[code.id], 'id'))}; allowed: a different id",
                *place, "id",
            )  # fmt: skip
        first.setdefault(code.id, index)
        if code.tier not in document.tiers:
            allowed = ", ".join(islice(document.tiers, PROBLEMS))
            yield problem(f"there is no tier {code.tier!r}; allowed: {allowed}", *place, "tier")
        if code.colour is not None and not COLOUR.fullmatch(code.colour):
            yield problem(
                f"found {code.colour!r}; allowed: a colour in quotes, such as \"#0072B2\"",
                *place, "colour",
            )  # fmt: skip
        own_tier = document.tiers.get(code.tier)
        if what := _key_mistake(code, own_tier, keys):
            yield problem(what, *place, "key")
        if code.kind == "point" and own_tier is not None and own_tier.on == "units":
            yield problem(
                "found 'point'; allowed: span, because the tier applies to units, and a unit "
                "is a stretch of time",
                *place, "kind",
            )  # fmt: skip
    by_id = {code.id: code for code in document.codes}
    yield from (problem(what, *place) for what, place in _parent_mistakes(document, by_id))
    yield from (problem(what, *place) for what, place in _map_mistakes(document, by_id))


def _key_mistake(
    code: CodeDocument, tier: TierDocument | None, keys: dict[tuple[str, str], str]
) -> str:
    """What is wrong with a code's key; empty if nothing is. keys: of the codes above."""
    if code.key is None or code.retired is not None:
        return ""
    key = code.key.casefold()
    if len(key) != 1 or not (key.isalpha() or key in "0123456789"):
        return f"found {code.key!r}; allowed: a letter or a digit"
    if key.isdigit() and tier is not None and tier.values:
        return (
            f"found {code.key!r}; allowed: a letter, because digits enter the values of the "
            f"tier {code.tier!r}"
        )
    other = keys.setdefault((code.tier, key), code.id)
    if other != code.id:
        return (
            f"{code.key!r} is already the key of {other!r} on this tier; allowed: a different key"
        )
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
            what = (
                f"{code.parent!r} belongs to the tier {parent.tier!r}; allowed: a code of this tier"
            )
            yield what, place
        elif circle := circles.get(code.id):
            yield f"a circle: {' → '.join(circle)}; a code cannot be below itself", place


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
                    (
                        f"{old!r} is a code that is still in use; allowed: one that was removed or "
                        "retired"
                    ),
                    place,
                )
            if not new:
                yield "found no code; allowed: the codes that replaced it", place
            for code in new:
                if code not in by_id and code not in successors:
                    yield f"there is no code {code!r}", place
            if circle := circles.get(old):
                yield f"a circle: {' → '.join(circle)}", place


def _circles(following: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The ways from a code back to itself, each by the first code of it; empty if none is.

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
