"""Codebooks: which codes there are, when they are given, and by which key; what differs between
two versions of one, and which marks that makes old.

A codebook is a YAML file in the study's folder, `codebook.yaml` or `codebook-….yaml`. It is known
by the SHA-256 of its bytes: every mark says by which version it was given, and every version that
marks were given by is kept.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from labapp.base.errors import AnnotationError
from labapp.base.reading import files
from labapp.coding.annotations.model import Mark, Unit
from labapp.coding.annotations.places import codebook_versions

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
    values : what may be given with a code of it, by the digits; empty where nothing is.
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
    key : a letter or digit; empty where it has none.
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
    identifying : whether its words tell who said something, where it says so.
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
        """The code of that id; None where there is none."""
        return self.by_id.get(code_id)

    def tier(self, name: str) -> Tier | None:
        """The tier of that name; None where there is none."""
        return self._tiers.get(name)

    def given(self, tier: str) -> tuple[Code, ...]:
        """The codes of a tier that are given: those retired left out."""
        return tuple(code for code in self.codes if code.tier == tier and not code.retired)

    def by_key(self, tier: str, key: str) -> Code | None:
        """The code that a key gives on a tier; None where it gives none."""
        same = (code for code in self.given(tier) if code.key and code.key == key.casefold())
        return next(same, None)

    def following(self, code_id: str) -> tuple[str, ...]:
        """The codes that are given now in the place of an earlier one, over all renamings, merges
        and splits; empty where none is."""
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
    """The codebook in a file.

    Raises
    ------
    AnnotationError : it cannot be read, or is none: with every mistake, its line, what is allowed.
    """
    try:
        content = files.content(path, LARGEST)
    except OSError as error:
        raise AnnotationError(
            f"The codebook {path} cannot be read ({error.strerror or error}).",
            todo="Check that it is there and the right file. A codebook lies in the study's "
            "folder and is called codebook.yaml.",
        ) from error
    return parse(content, path)


def parse(content: bytes, path: Path) -> Codebook:
    """The codebook in some bytes; `path` names it in messages. Raises AnnotationError as `read`."""
    from labapp.coding.annotations.codebook_document import codebook_from

    return codebook_from(content, path, hashlib.sha256(content).hexdigest())


def codebooks_of(study: Path) -> tuple[Codebook, ...]:
    """The codebooks of a study, by their ids.

    Parameters
    ----------
    study : the folder with its sessions.

    Raises
    ------
    AnnotationError : a codebook of it is wrong, or two have the same id.
    """
    by_id: dict[str, tuple[Path, Codebook]] = {}
    for path in _own_files(study):
        codebook = read(path)
        if codebook.id in by_id:
            raise AnnotationError(
                f"{by_id[codebook.id][0]} and {path} are both called {codebook.id!r}.",
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
            f"The codebook could not be kept in {path} ({error.strerror or error}).",
            todo="Make room, or see that you may write there.",
        ) from error
    return path


def as_named(codebook: Codebook, sha256: str) -> Codebook:
    """A stored version by its name, which is the hash that it had with all its words."""
    return replace(codebook, sha256=sha256) if codebook.withheld else codebook


def withhold_words(study: Path) -> list[Path]:
    """Take examples, explanations and comments out of every stored version of a study's codebooks;
    those that were changed. Marks keep their codes. Raises AnnotationError."""
    from labapp.coding.annotations.codebook_document import without_words
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
    """Every version of a codebook that marks of a study were given by, by its SHA-256.

    Raises
    ------
    AnnotationError : one of them cannot be read, or was changed.
    """
    versions: dict[str, Codebook] = {}
    for path in sorted(codebook_versions(study).glob("*.yaml")):
        codebook = as_named(read(path), path.stem)
        if codebook.sha256 != path.stem:
            raise AnnotationError(
                f"{path} was changed: its name is the SHA-256 of what it held.",
                safe="It was only read; nothing was changed.",
                todo="Put back a copy of it: marks were given by it.",
            )
        versions[codebook.sha256] = codebook
    return versions


CODE_DEFINITION = ("tier", "kind", "when", "not_", "parent")
"""What a code means: who coded by another one of these coded something else. Names, examples, keys
and colours do not matter."""
TIER_DEFINITION = ("exclusive", "on", "values")


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between two versions of a codebook.

    Attributes
    ----------
    place : `code` or `tier`.
    what : `added`, `removed`, `retired`, `given again`, `renamed`, `merged`, `split` or `changed`.
    key : the key that changed; empty where it is not one key.
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
            return f"{head}: {self.key} was {self.before!r}, and is {self.after!r}"
        arrow = f" → {self.after}" if self.after else ""
        return f"{head}: {self.what}{arrow}"


def differences(old: Codebook, new: Codebook) -> tuple[Change, ...]:
    """What changed from one version to the other: tiers, then codes in their order."""
    return tuple(_differences(old, new))


def _differences(old: Codebook, new: Codebook) -> Iterator[Change]:
    for tier in old.tiers:
        other = new.tier(tier.name)
        if other is None:
            yield Change("tier", tier.name, "removed")
        else:
            yield from _changed("tier", tier.name, tier, other, TIER_DEFINITION)
    for tier in new.tiers:
        if old.tier(tier.name) is None:
            yield Change("tier", tier.name, "added", definition=False)
    for code in old.codes:
        now = new.code(code.id)
        if (now is None or now.retired) and not code.retired:
            yield _ending(code, now, new)
        elif now is not None:
            if code.retired and not now.retired:
                yield Change("code", code.id, "given again")
            yield from _changed("code", code.id, code, now, CODE_DEFINITION)
        elif code.retired:
            yield Change("code", code.id, "removed", definition=False)
    for code in new.codes:
        if old.code(code.id) is None:
            yield Change("code", code.id, "added", definition=False)


def _ending(code: Code, other: Code | None, new: Codebook) -> Change:
    """What became of a code that is not given any more."""
    successors = new.successors.get(code.id, ())
    after = ", ".join(successors)
    if len(successors) > 1:
        return Change("code", code.id, "split", after=after)
    if successors:
        merged = sum(successors == others for others in new.successors.values()) > 1
        what = "merged" if merged or successors[0] in new.merged else "renamed"
        return Change("code", code.id, what, after=after)
    if other is not None:
        return Change("code", code.id, "retired", after=other.retired)
    return Change("code", code.id, "removed")


def _changed(
    place: str, name: str, old: Code | Tier, new: Code | Tier, definition: Iterable[str]
) -> Iterator[Change]:
    after = asdict(new)
    for key, value in asdict(old).items():
        if key not in ("retired", "id") and value != after[key]:
            texts = _text(value), _text(after[key])
            yield Change(place, name, "changed", key.rstrip("_"), *texts, key in definition)


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
    suggestions : ids of the codes that may hold now: the same one where its definition changed,
        those that took its place; empty where nothing did.
    """

    mark: Mark
    units: tuple[str, ...]
    why: str
    suggestions: tuple[str, ...] = ()


def outdated_marks(
    marks: Iterable[Mark],
    codebook: Codebook,
    versions: Mapping[str, Codebook],
    units: Sequence[Unit],
) -> tuple[Outdated, ...]:
    """The marks that have to be looked at again by a codebook, in their order.

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
        return "the version of the codebook that it was given by is not there", _now(code_id, new)
    before, now = old.code(code_id), new.code(code_id)
    if now is None or now.retired:
        successors = new.following(code_id)
        if len(successors) > 1:
            return f"it was split into {', '.join(successors)}", successors
        if successors:
            return f"it is {successors[0]} now", successors
        return "the code is not given any more", ()
    if before is None:
        return "the version that it was given by has no such code", (code_id,)
    changes = [*_changed("code", code_id, before, now, CODE_DEFINITION)]
    old_tier, new_tier = old.tier(before.tier), new.tier(now.tier)
    if old_tier is not None and new_tier is not None and old_tier.name == new_tier.name:
        changes += _changed("tier", old_tier.name, old_tier, new_tier, TIER_DEFINITION)
    meant = [f"{change.key} changed" for change in changes if change.definition]
    return ("; ".join(meant), (code_id,)) if meant else None


def _now(code_id: str, new: Codebook) -> tuple[str, ...]:
    code = new.code(code_id)
    return (code_id,) if code is not None and not code.retired else new.following(code_id)
