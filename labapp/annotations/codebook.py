"""Codebooks: which codes there are, when they are given, and by which key.

A codebook is a YAML file in the study's folder, `codebook.yaml` or `codebook-….yaml`. It is known
by the SHA-256 of its bytes: every mark says by which version it was given, and every version that
marks were given by is kept.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from labapp.annotations.places import codebook_versions
from labapp.errors import AnnotationError
from labapp.reading import files

LARGEST = 256 * 1024
"""Bytes of a codebook."""
PATTERNS = ("codebook.yaml", "codebook-*.yaml")
"""Names of codebooks in a study's folder."""

Kind = Literal["span", "point"]
"""Whether a code holds for a stretch or for a moment."""
KINDS: tuple[str, ...] = get_args(Kind)
Target = Literal["units", "spans"]
"""What codes of a tier are given to: units, or stretches of their own."""
TARGETS: tuple[str, ...] = get_args(Target)


@dataclass(frozen=True, slots=True)
class Tier:
    """A group of codes that are given together.

    Attributes
    ----------
    name : its id.
    title : its name for people.
    exclusive : whether only one code of it holds at a time.
    on : see `Target`.
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
    id : unique in its codebook.
    tier : the name of its tier.
    name : for people.
    key : a letter or digit; empty where it has none.
    colour : as `#RRGGBB`.
    kind : see `Kind`.
    when, not_ : when it is given, and when not.
    examples : words that it was given to.
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
    version : as its author counts.
    sha256 : of the file.
    title : for people.
    tiers : in their order.
    codes : in their order, those retired too.
    successors : what took the place of an earlier code, by its id: the code it was renamed to or
        merged into, or those it was split into.
    merged : ids of codes that earlier ones were merged into.
    identifying : whether its words tell who said something, where it says so.
    withheld : whether its words were taken out; it has the hash that it had with them.
    content : the file.
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
    from labapp.annotations.codebook_document import codebook_from

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
    paths = sorted({path for pattern in PATTERNS for path in study.glob(pattern)})
    by_id: dict[str, tuple[Path, Codebook]] = {}
    for path in paths:
        codebook = read(path)
        if codebook.id in by_id:
            raise AnnotationError(
                f"{by_id[codebook.id][0]} and {path} are both called {codebook.id!r}.",
                todo="Give one of them another id.",
            )
        by_id[codebook.id] = (path, codebook)
    return tuple(by_id[name][1] for name in sorted(by_id))


def store_version(study: Path, codebook: Codebook) -> Path:
    """Keep a version of a codebook that marks are given by. Raises AnnotationError."""
    from labapp import durable
    from labapp.journal import anchor

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
    from labapp.annotations.codebook_document import without_words
    from labapp.annotations.ledger import replace_file

    changed = []
    for sha256, codebook in versions_of(study).items():
        if not codebook.withheld:
            path = codebook_versions(study) / f"{sha256}.yaml"
            replace_file(path, without_words(codebook), "words withheld")
            changed.append(path)
    return changed


def quoting(study: Path, texts: Iterable[str]) -> list[str]:
    """Where codebooks of a study quote what was said: four words in a row, or a whole example.

    Parameters
    ----------
    study : the folder of its sessions.
    texts : what was said.

    Returns
    -------
    A file and the codes in it, for people; empty where nothing is quoted.
    """
    spoken = [_words_of(text) for text in texts]
    runs = {tuple(words[at : at + _RUN]) for words in spoken for at in range(len(words) - _RUN + 1)}
    whole = {tuple(words) for words in spoken if len(words) > 1}
    paths = [*(path for pattern in PATTERNS for path in study.glob(pattern))]
    quoted = []
    for path in [*sorted(set(paths)), *sorted(codebook_versions(study).glob("*.yaml"))]:
        try:
            book = read(path)
        except AnnotationError:
            continue  # its reader reports it
        codes = [code.id for code in book.codes if _quotes(code, runs, whole)]
        if not codes and any(_runs(_words_of(line)) & runs for line in _comments(book.content)):
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


def _comments(content: bytes) -> list[str]:
    lines = content.decode("utf-8", "replace").splitlines()
    return [line.partition("#")[2] for line in lines if "#" in line]


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
        codebook = read(path)
        codebook = as_named(codebook, path.stem)
        if codebook.sha256 != path.stem:
            raise AnnotationError(
                f"{path} was changed: its name is the SHA-256 of what it held.",
                safe="It was only read; nothing was changed.",
                todo="Put back a copy of it: marks were given by it.",
            )
        versions[codebook.sha256] = codebook
    return versions
