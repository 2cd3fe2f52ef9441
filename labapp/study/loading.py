"""Reading a study file and everything it names, with errors a lab member can act on."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple

import yaml

from labapp.base import discovery, resources
from labapp.base.documents import LARGEST, Located, Path_, format_path, parse_yaml, read_yaml
from labapp.base.errors import LabappError, StudyError, StudyNotFound, UsageError
from labapp.base.reading import files as reading
from labapp.study.flow import items_of_tasks, walk_items
from labapp.study.instruments import Instrument
from labapp.study.instruments.instrument import QUESTIONNAIRES
from labapp.study.plugins import registry
from labapp.study.plugins.item import Item
from labapp.study.schema import Study

WORDS = "texts/{language}/participant.yaml"
"""The words of the participant's window; a language is known where they are."""
SHIPPED = "shipped:"
"""How a study names a text or a questionnaire that comes with labapp or an installed package, such
as `shipped:consent`. Every other name is that of a file in the study's own folder."""
_CLOUD = re.compile(r"\.?(.+?)\.(?:icloud|nextcloud|owncloud)", re.DOTALL)
"""Files that stand for one that is still in the cloud."""


@dataclass(frozen=True)
class LoadedStudy:
    """A checked study with the files it names.

    files: relative name -> content, the study file itself among them; sha256: hash over all of
    them, so that a changed consent text is another study; fallbacks: see `_Reader`; origin: of a
    study that could be read in part alone, see `partial.Partial`; places: by name the file on disk
    that each was read from; shipped: names of the files that the study takes from labapp or from
    an installed package.
    """

    study: Study
    path: Path
    files: Mapping[str, bytes]
    instruments: Mapping[str, Instrument]
    sha256: str
    fallbacks: Mapping[str, str] = field(default_factory=dict)
    origin: Mapping[Path_, Path_] = field(default_factory=dict)
    places: Mapping[str, Path] = field(default_factory=dict)
    shipped: frozenset[str] = frozenset()

    @cached_property
    def located(self) -> Located:
        """The study file, with its lines; shipped files by the names that they have in `files`."""
        located = read_yaml(self.path, self.files[self.path.name])[0]
        if located is None:
            return Located(None)
        lines = {at: located.lines.get(path, 1) for at, path in self.origin.items()}
        return replace(with_plain_names(located)[0], lines=lines | located.lines)

    def mistake(self, item: Item, error: LabappError) -> StudyError:
        """An error in what an item of the flow says, with file and line: those of what of it the
        error names, else of the item."""
        if any(fault.line for fault in error.faults):
            return StudyError(error.what, safe=error.safe, todo=error.todo, faults=error.faults)
        places = (place for place, other in walk_items(self.study.flow) if other is item)
        place = next(places, ())
        place = self.origin.get(place, place)
        named = [
            (error.what.index(text), path)
            for path, text in self.located.within(place)
            if len(text) > 1 and text in error.what
        ] or [
            # A text may fail for what the stages say that it tells of.
            (error.what.index(repr(text)), path)
            for path, text in self.located.within(("flow",))
            if repr(text) in error.what
        ]
        path = min(named)[1] if named else (*place, item.key)
        what = error.what.removeprefix(f"{self.path}: ").rstrip(".")
        return StudyError.at(
            self.path, self.located.line(path), format_path(path), what, error.todo
        )

    def text(self, name: str) -> str:
        """A text by its name in the study file; `{language}` is filled in.

        Raises StudyError for a text that no part of the study shows.
        """
        name = in_language(name, self.study.language)
        if name not in self.files:
            raise StudyError(
                f"{self.path}: the text {name} is shown, but the study does not refer to it.",
                todo="The task that shows it must give its name in the `texts` of its items or "
                "stages.",
            )
        return decode_text(self.files[name])

    @cached_property
    def words(self) -> dict[str, str]:
        """The words of the participant's window by key, as they are in their files."""
        words: dict[str, str] = {}
        languages = filter(None, (self.study.fallback_language, self.study.language))
        for language, template in product(languages, word_files(self.study)):
            name = in_language(template, language)
            if name in self.files:
                value = parse_yaml(self.path.parent / name, self.files[name]).value
                words |= value if isinstance(value, dict) else {}
        return words


def word_files(study: Study) -> tuple[str, ...]:
    """The files of words for the screens of a study, with `{language}` in their names: the one of
    all screens, and those of its tasks that bring one."""
    brought = (registry.task_type_of_item(item).words for item in items_of_tasks(study.flow))
    return (WORDS, *dict.fromkeys(filter(None, brought)))


def decode_text(content: bytes) -> str:
    """A text file as text; some editors put a byte order mark in front, which is no part of it."""
    return content.decode("utf-8-sig")


def in_language(name: str, language: str) -> str:
    """The name of a text with `{language}` filled in; other braces stay as they are."""
    return name.replace("{language}", language)


def key_at(place: Path_) -> str:
    """The key of a study under which a value stands."""
    return next((step for step in reversed(place) if isinstance(step, str)), "")


def plain_name(key: str, name: str) -> str:
    """What a study writes, under a key, for the shipped file of this name."""
    return name if key in ("after", "questionnaire") else f"texts/{{language}}/{name}.md"


def name_shipped_file(name: str) -> str:
    """How a study names a shipped file, given its name in `assets` (`{language}` filled in or
    not); empty for what cannot be named so."""
    stem = re.fullmatch(r"texts/[^/]+/([^/]+)\.md|instruments/([^/]+)\.yaml", name)
    return f"{SHIPPED}{stem[1] or stem[2]}" if stem else ""


def with_plain_names(located: Located) -> tuple[Located, dict[str, int]]:
    """A study file with plain names in place of those that begin with `shipped:`.

    Returns
    -------
    located : the document, changed.
    lines : by plain name of what is shipped the line that says so.
    """
    lines: dict[str, int] = {}

    def replace_names(value: object, path: Path_) -> object:
        if isinstance(value, dict):
            return {key: replace_names(inner, (*path, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [replace_names(inner, (*path, index)) for index, inner in enumerate(value)]
        if isinstance(value, str) and (named := re.fullmatch(rf"{SHIPPED}(\S+)", value)):
            plain = plain_name(key_at(path), named[1])
            lines.setdefault(plain, located.lines.get(path, 1))
            return plain
        return value

    if not isinstance(located.value, dict):
        return located, lines
    value = {
        key: replace_names(inner, (key,)) if isinstance(inner, dict | list) else inner
        for key, inner in located.value.items()
    }
    return replace(located, value=value, texts={**lines, **located.texts}), lines


def asset(name: str) -> Path:
    """A study, instrument or text by its name in `assets`: the shipped one or, where there is none,
    that of a package which adds to labapp. The file need not be there."""
    shipped = resources.assets() / name
    if reading.exists(shipped):
        return shipped
    folder, _, file = name.partition("/")
    if folder == "instruments" and (known := QUESTIONNAIRES.get(file.removesuffix(".yaml"))):
        return known.file
    brought = (root / name for root in discovery.asset_folders())
    return next((path for path in brought if reading.exists(path)), shipped)


def asset_roots() -> tuple[Path, ...]:
    """The folders in which `asset` looks."""
    return (resources.assets(), *discovery.asset_folders())


def list_shipped() -> list[Path]:
    """The study files that come with the program."""
    return sorted((resources.assets() / "studies").glob("*.yaml"))


def list_installed() -> list[Path]:
    """The studies that are known by their id: the shipped ones, and those of other packages."""
    paths = [path for root in asset_roots() for path in (root / "studies").glob("*.yaml")]
    by_id = {path.stem: path for path in reversed(paths)}
    return [by_id[stem] for stem in sorted(by_id)]


def find(study: str | Path) -> Path:
    """The file of a study given by id or path. Raises StudyError with the known ids."""
    path = Path(study)
    if path.suffix in (".yaml", ".yml"):
        if not reading.is_file(path):
            raise StudyNotFound(f"There is no study file {path}.", todo="Check the path.")
        return path
    named = asset(f"studies/{study}.yaml")
    if path.name != str(study) or not reading.is_file(named):
        names = ", ".join(p.stem for p in list_installed())
        if reading.exists(path):
            what, kind = f"{path} is not a study file: its name does not end in .yaml.", StudyError
        else:
            what, kind = f"There is no study {str(study)!r}.", StudyNotFound
        raise kind(what, todo=f"Give the path of a study file (.yaml), or one of: {names}.")
    return named


_HEADS = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Reads what a list of studies says of each: eight times as fast, where libyaml is there."""


class StudyHead(NamedTuple):
    """What a study file says at its top about itself. minutes: how long a session takes, as it is
    written; published: whether it repeats a published study."""

    title: str = ""
    phase: str = ""
    summary: str = ""
    minutes: str = ""
    published: bool = False


def title_of(path: Path) -> str:
    """The title in a study file, read without the rest of it: many are listed before one is used.

    Returns "" where there is none, or the file cannot be read so far.
    """
    return head_of(path, {"title"}).title


def head_of(
    path: Path, keys: Collection[str] = ("title", "phase", "summary", "minutes", "replicates")
) -> StudyHead:
    """What a study file says about itself, read only as far as these keys go, or to the flow once
    there is a title; empty if it does not say, or cannot be read so far."""
    top: dict[str, str] = {}
    depth, key = 0, ""
    try:
        for event in yaml.parse(reading.content(path, LARGEST), Loader=_HEADS):
            if depth == 1 and isinstance(event, yaml.ScalarEvent):
                if key:
                    top |= {key: str(event.value)} if key in keys else {}
                    key = ""
                else:
                    key = event.value
            elif isinstance(event, yaml.CollectionStartEvent):
                top |= {key: ""} if key == "replicates" else {}
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
                key = "" if depth == 1 else key
            if top.keys() >= set(keys) or (key == "flow" and "title" in top):
                break
    except (OSError, yaml.YAMLError, ValueError):
        pass
    words = {name: text for name, text in top.items() if name in StudyHead._fields}
    return StudyHead(**words, published="replicates" in top)


def load(study: str | Path, language: str | None = None, *, recorded: bool = False) -> LoadedStudy:
    """Load and check a study by id or path, with its texts and instruments.

    language: in which it is to be read, instead of its own; recorded: it is the copy in a session's
    folder, which holds every file itself. Raises StudyError with every mistake.
    """
    from labapp.study.examining import examine

    examined = examine(study, language, recorded=recorded)
    if examined.errors or examined.loaded is None:
        raise StudyError.together(examined.errors)
    return examined.loaded


def in_language_of(loaded: LoadedStudy, language: str) -> LoadedStudy:
    """The study as participants of one of its languages read it. Raises UsageError for another."""
    study = loaded.study
    if language == study.language:
        return loaded
    if language not in study.languages:
        there = study.languages or (study.language,)
        raise UsageError(
            f"The study {study.id!r} is not in {language!r}; it is in: {', '.join(there)}.",
            safe="Nothing was started.",
            todo="Use one of these, or translate the study and list all its languages: "
            f"`languages: [{', '.join((*there, language))}]`.",
        )
    return load(loaded.path, language)


def spoken_by(loaded: LoadedStudy, language: str | None = None) -> Callable[[int], LoadedStudy]:
    """Gives the study as a simulated participant of a number reads it: in a language that all of
    them have, or else in each of the study's in turn."""
    wanted = (language,) if language else loaded.study.languages or (loaded.study.language,)
    readings = [in_language_of(loaded, each) for each in wanted]
    return lambda number: readings[(number - 1) % len(readings)]


def files_digest(files: Mapping[str, bytes]) -> str:
    """The hash of a study: SHA-256 over the names, lengths and contents of its files, by name."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return digest.hexdigest()


def package_root(study_path: Path) -> Path | None:
    """The folder `assets` that a study comes with; None for a study of one's own."""
    folder = study_path.absolute().parent
    roots = (root for root in asset_roots() if folder == root.absolute() / "studies")
    return next(roots, None)


def belongs(study_path: Path, name: str) -> Path:
    """Where a file of a study belongs: in the study's own folder, or in that of the package which
    it comes with. It need not be there."""
    root = package_root(study_path)
    if root is None:
        return study_path.parent / name
    return asset(name) if root == resources.assets() else root / name


def find_misnamed(folder: Path, name: str) -> tuple[Path, Path] | None:
    """What has nearly the name that a file below `folder` should have: other capitals, letters that
    are composed in another way, a further `.txt`, or what stands for a file in the cloud.

    It is looked for by its exact name where the file system tells no capitals apart, too: on
    another computer the file would be missing. Returns what is there, and what it
    should be called; None if there is no such thing.
    """
    for part in Path(name).parts:
        try:
            there = [child.name for child in folder.iterdir()]
        except OSError:
            return None
        if part not in there:
            wanted = _alike(part)
            similar = next((child for child in there if _alike(child) == wanted), None)
            if similar is None:
                return None
            composed = unicodedata.normalize("NFC", similar) == unicodedata.normalize("NFC", part)
            if not (composed and reading.exists(folder / part)):  # some systems compose for us
                return folder / similar, folder / part
        folder = folder / part
    return None


def _alike(name: str) -> str:
    """A file's name without what two names of one file may differ in."""
    cloud = _CLOUD.fullmatch(name)
    bare = unicodedata.normalize("NFC", cloud[1] if cloud else name).casefold().strip()
    return re.sub(r"\.yml$", ".yaml", re.sub(r"(\.md|\.ya?ml)\.txt$", r"\1", bare))


def in_cloud(path: Path) -> bool:
    """Whether a file only stands for one that is still in the cloud."""
    return _CLOUD.fullmatch(path.name) is not None


def source(loaded: LoadedStudy, name: str) -> Path:
    """The file on disk from which a file of a study was read."""
    return loaded.places.get(name, loaded.path.parent / name)


def sources(loaded: LoadedStudy) -> list[Path]:
    """The files on disk from which a study was read."""
    return [source(loaded, name) for name in loaded.files]


def origin_of(loaded: LoadedStudy, name: str) -> str:
    """How people are told which file of a study this is, with the beginning of its SHA-256:
    `texts/en/consent.md (SHA-256 0123456789ab…)`."""
    name = in_language(name, loaded.study.language)
    digest = hashlib.sha256(loaded.files[name]).hexdigest()
    return f"{describe_file(loaded, name)} (SHA-256 {digest[:12]}…)"


def describe_file(loaded: LoadedStudy, name: str) -> str:
    """What people call a file of a study: as the study names it where it is a shipped one."""
    return (name_shipped_file(name) or f"{name} of labapp") if name in loaded.shipped else name


def files_named(loaded: LoadedStudy) -> Iterator[str]:
    """The files of a study that participants read, as people are told of them: those of its own
    folder first."""
    names = (name for name in loaded.files if name != loaded.path.name)
    for name in sorted(names, key=lambda name: (name in loaded.shipped, name)):
        yield origin_of(loaded, name)
