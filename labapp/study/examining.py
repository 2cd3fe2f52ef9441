"""Reading a study file and everything it names, and finding every mistake in them at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PureWindowsPath

from labapp.base.documents import (
    LARGEST,
    Located,
    Path_,
    format_path,
    make_document_error,
    parse_yaml,
    read_yaml,
)
from labapp.base.errors import LabappError, StudyError
from labapp.base.reading import files as reading
from labapp.base.reading.values import STEERING, steering_in
from labapp.study import checks, conditions, media
from labapp.study.checks import asking_faults, part_faults
from labapp.study.flow import items_of, walk_items
from labapp.study.instruments import Instrument
from labapp.study.instruments.instrument import QUESTIONNAIRES
from labapp.study.loading import (
    SHIPPED,
    WORDS,
    LoadedStudy,
    asset,
    asset_roots,
    belongs,
    decode_text,
    files_digest,
    find,
    find_misnamed,
    in_cloud,
    in_language,
    key_at,
    name_shipped_file,
    package_root,
    plain_name,
    with_plain_names,
    word_files,
)
from labapp.study.partial import read_partly
from labapp.study.plugins import texts
from labapp.study.plugins.item import Item
from labapp.study.plugins.texts import pages
from labapp.study.schema import Study


@dataclass(frozen=True)
class Examined:
    """A study as far as it can be read.

    Attributes
    ----------
    path : its file.
    loaded : None if too little of it can be read.
    errors : what is wrong with it and with the files that it names; empty if all is in order.
    located : its document, as far as that can be read.
    left_out : whether a part of it had to be left out.
    in_others : the study as it is read in each of its other languages.
    factors_known : whether all that says which factors and variables there are could be read.
    """

    path: Path
    loaded: LoadedStudy | None
    errors: tuple[LabappError, ...]
    located: Located
    left_out: bool
    factors_known: bool = True
    in_others: tuple[LoadedStudy, ...] = ()


def examine(
    study: str | Path,
    language: str | None = None,
    fallback: str | None = None,
    *,
    recorded: bool = False,
) -> Examined:
    """Read a study by id or path, with its texts and instruments, and find every mistake in them.
    Raises StudyError if there is no such study, or its file cannot be opened.

    language: instead of its own `language`; fallback: instead of its own `fallback_language`, for a
    study that is to be translated: what is not there in its language is no mistake then; recorded:
    it is the copy in a session's folder, which holds every file itself.
    """
    path = find(study)
    try:
        content = reading.content(path, LARGEST)
    except OSError as error:
        raise StudyError(
            f"The study file {path} cannot be read ({error.strerror}).", todo="Check the file."
        ) from error
    located, errors = read_yaml(path, content)
    if located is None:
        return Examined(path, None, tuple(errors), Located(None), True)
    if isinstance(located.value, dict):
        errors += _choose_language(path, located, language)
    if fallback is not None and isinstance(located.value, dict):
        located.value["fallback_language"] = fallback
    as_written = located
    located, shipped = with_plain_names(located)
    partial = read_partly(Study, located, STAND_INS)
    if partial.problems:
        errors.append(make_document_error(path, partial.problems, "study"))
    if partial.model is None:
        if not errors:
            errors.append(StudyError(f"{path} cannot be read.", todo="Correct it."))
        return Examined(path, None, tuple(errors), located, True)
    factors_known = checks.factors_known(partial)
    reader = _Reader(
        path,
        partial.model,
        located,
        errors,
        {path.name: content},
        factors_known,
        shipped,
        recorded=recorded,
        translating=fallback is not None,
    )
    reader.language()
    errors.extend(checks.mistakes(path, partial, located))
    named = _find_named_files(located, partial.left_out)
    reader.read(*named)
    others = [
        reader.in_another(other)
        for other in partial.model.languages
        if other != partial.model.language
    ]
    for other in others:
        other.language()
        other.read(*named)
    if not partial.problems:
        reader.check_shipped_names(as_written)
    if factors_known and not partial.left_out:
        asked = {
            name: (instrument, reader.places[file], reader.files[file])
            for name, instrument in reader.parsed.items()
            for file in (f"instruments/{name}.yaml",)
        }
        errors.extend(asking_faults(path, located, partial.model, asked))
        errors.extend(part_faults(path, located, partial.model, asked))
    loaded = LoadedStudy(
        partial.model,
        path,
        reader.files,
        reader.parsed,
        files_digest(reader.files),
        reader.fallbacks,
        partial.origin if partial.problems else {},
        reader.places,
        frozenset(reader.from_package),
    )
    in_others = tuple(
        replace(loaded, study=other.study, instruments=other.parsed) for other in others
    )
    told = tuple({str(error): error for error in errors}.values())
    left_out = bool(partial.left_out)
    return Examined(path, loaded, told, located, left_out, factors_known, in_others)


def _choose_language(path: Path, located: Located, language: str | None) -> Iterator[StudyError]:
    """Make `language` of a document the one in which it is to be read. A study in several languages
    that is to be read in none of them is one that is being translated."""
    several = located.value.get("languages")
    if several is not None and "language" in located.value:
        line = located.line(("language",))
        what = (
            f"line {located.line(('languages',))} has `languages`, and the first of these is used"
        )
        yield StudyError.at(path, line, "language", what, "Leave out `language`.")
        del located.value["language"]
    if language is not None:
        located.value["language"] = language
        if not isinstance(several, list) or language not in several:
            located.value.pop("languages", None)


UNTRANSLATED = "<!-- to be translated -->"
"""How a text begins that is not translated yet: the fallback stands in for it."""
STAND_INS = {"id": "unnamed", "title": "-", "version": 1}
"""For what a study must say, where it says it wrongly: so that the rest can be looked at."""


def _find_named_files(located: Located, left_out: Collection[Path_]) -> tuple[set[str], set[str]]:
    """The texts and questionnaires that are named where the document could not be read."""
    texts: set[str] = set()
    instruments: set[str] = set()

    def look(value: object, key: object) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                look(inner, name)
        elif isinstance(value, list):
            for inner in value:
                look(inner, key)
        elif isinstance(value, str) and key in ("after", "questionnaire"):
            instruments.add(value)
        elif isinstance(value, str) and value.endswith(".md"):
            texts.add(value)

    for place in left_out:
        value = located.value
        for step in place:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                value = None
        look(value, key_at(place))
    known = {name for name in texts if not conditions.VARIABLE.search(in_language(name, "en"))}
    return known, instruments


@dataclass
class _Reader:
    """Reads the files that a study names; what is wrong with them is added to `errors`.

    Attributes
    ----------
    shipped : by plain name of what the study takes as shipped the line that says so.
    recorded, translating : see `examine`.
    fallbacks : by a text that is not translated into the study's language the one in the fallback
        language that stands for it.
    places : by name the file on disk that was read.
    from_package : names of the files that are those of labapp or of an installed package.
    """

    path: Path
    study: Study
    located: Located
    errors: list[LabappError]
    files: dict[str, bytes]
    factors_known: bool
    shipped: dict[str, int]
    recorded: bool
    translating: bool
    parsed: dict[str, Instrument] = field(default_factory=dict)
    fallbacks: dict[str, str] = field(default_factory=dict)
    places: dict[str, Path] = field(default_factory=dict)
    from_package: set[str] = field(default_factory=set)
    has_words: bool = True

    def __post_init__(self) -> None:
        self.packaged = not self.recorded and package_root(self.path) is not None
        self.words = word_files(self.study)
        if self.study.unnamed_texts == "shipped":
            line = self.located.line(("unnamed_texts",))
            shown = (name for item in items_of(self.study.flow) for name in item.texts())
            unnamed = (name for name in shown if self.located.line_of_text(name) is None)
            self.shipped |= dict.fromkeys(unnamed, line)

    def in_another(self, language: str) -> _Reader:
        """A reader of the same files in another language of the study."""
        study = self.study.model_copy(update={"language": language})
        return replace(self, study=study, parsed={}, has_words=True)

    def read(self, texts: Collection[str], instruments: Collection[str]) -> None:
        """Every file that participants read in the language. texts, instruments: those that are
        named where the study could not be read."""
        self.texts(texts)
        self.instruments(instruments)
        self.pictures()

    def _place(self, name: str, written: str) -> Path:
        """The file on disk of a text or a questionnaire. written: how the study names it."""
        beside = self.path.parent / name
        if self.recorded:
            return beside
        if written in self.words:
            own = beside if written in self.study.words else belongs(self.path, name)
            return own if written in self.study.words or reading.exists(own) else asset(name)
        return asset(name) if written in self.shipped else belongs(self.path, name)

    def _fault(self, line: int | None, what: str, todo: str, key: str = "") -> None:
        self.errors.append(StudyError.at(self.path, line, key, what, todo))

    def language(self) -> None:
        """A language without words: names it, and the languages there are."""
        language = self.study.language
        if (
            self.study.fallback_language is not None
            or WORDS in self.study.words
            or reading.is_file(self._place(in_language(WORDS, language), WORDS))
        ):
            return
        self.has_words = False
        roots = (self.path.parent, *asset_roots())
        words = in_language(WORDS, "*")
        languages = {file.parent.name for root in roots for file in root.glob(words)}
        key = "languages" if self.study.languages else "language"
        self._fault(
            self.located.line((key,)),
            f"there are no texts in {language!r}; there are: {', '.join(sorted(languages))}",
            f"Use one of these, or translate the shipped texts: `{_scaffold(self.path)} "
            f"--language {language}` writes what is missing to "
            f"{self.path.parent / 'texts' / language}.",
            key=key,
        )

    def texts(self, more: Collection[str]) -> None:
        """Every text of the study. more: those that are named where it could not be read."""
        named = {name: name for name in (*word_files(self.study), *more)}
        if self.study.incentive is not None:
            named[self.study.incentive.text] = self.study.incentive.text
        for item, scope in checks.every_item(self.study):
            for name in item.texts():
                try:
                    named[conditions.fill(name, {"language": "{language}", **scope})] = name
                except KeyError as error:
                    if not self.factors_known:
                        continue
                    self.errors.append(
                        checks.unknown_variable(self.path, self.located, name, error, scope)
                    )
        for index, name in enumerate(self.study.words):
            if name not in self.words:
                what = f"found {name!r}; allowed: {', '.join(self.words)}"
                self._fault(self.located.line(("words", index)), what, "Correct it.", key="words")
        words = in_language(WORDS, self.study.language)
        for template, name in sorted(named.items()):
            if template in self.words and not self._has_words(template):
                continue
            if template != WORDS or self.has_words or reading.exists(self._place(words, WORDS)):
                self._text(template, name)

    def _has_words(self, template: str) -> bool:
        """Whether a file of words is to be read; tells where it is not clear which."""
        name = in_language(template, self.study.language)
        beside = self.path.parent / name
        if self.recorded:
            # A session that was begun before screens had these words goes on with the shipped ones.
            return reading.exists(beside)
        if self.packaged or template in self.study.words:
            return True
        if near := find_misnamed(self.path.parent, name):
            self.errors.append(StudyError.at(near[0], None, "", *_suggest_renaming(*near)))
        elif reading.exists(beside) and reading.exists(asset(name)):
            after = self.located.line(("language",) if "language" in self.located.value else ())
            self._fault(
                after,
                f"{name} is in the study's folder, but the study does not say that it uses its "
                "own words on the screens",
                f'Add the line `words: ["{template}"]`, or delete the file. Participants '
                "then see the words that come with labapp.",
            )
        return True

    def _text(self, template: str, written: str) -> None:
        """One text. written: how the study names it."""
        name = in_language(template, self.study.language)
        fallback = self.study.fallback_language
        instead = name if fallback is None else in_language(template, fallback)
        place = self._place(name, written)
        missing, untranslated = not reading.exists(place), self._is_untranslated(place)
        falls_back = untranslated or (missing and self.translating)
        if missing and self.translating and self._is_ready(template, name, instead):
            self.places[name], self.fallbacks[name] = asset(name), name
            content: bytes | None = reading.content(asset(name), LARGEST)
        elif falls_back and instead != name and reading.exists(self._place(instead, written)):
            self.fallbacks[name] = instead
            content = self._read(instead, written)
            self.places[name] = self.places.pop(instead, place)
            if instead in self.from_package:
                self.from_package.add(name)
        else:
            content = self._read(name, written)
            if instead != name and template.endswith(".yaml") and not missing:
                # For the words that the language lacks.
                self.files[instead] = self._read(instead, written) or b""
            elif content is not None and untranslated:
                self.errors.append(
                    StudyError.at(
                        place,
                        1,
                        "",
                        "it is not translated yet",
                        f"Translate it and delete the first line, {UNTRANSLATED!r}; or declare "
                        "`fallback_language: en` in the study.",
                    )
                )
        self.files[name] = content or b""
        if content is not None and (steering := steering_in(decode_text(content))):
            line, character = steering
            what = f"the character {character} is not allowed"
            todo = "Delete it."
            if not content.strip(b"\0"):
                what, todo = "it contains only zero bytes", "Have it synchronised again."
            self.errors.append(StudyError.at(self.places[name], line, "", what, todo))
        if content is not None and not pages(decode_text(content)):
            what = f"the text {name!r} is empty"
            self._fault(self._line(written), what, "Write it, or delete its line.")

    def _is_ready(self, template: str, name: str, instead: str) -> bool:
        """Whether labapp has a text in the study's language and the study did not change what it
        has of it in the fallback language. name, instead: the text in these languages."""
        own = self.path.parent / instead
        if template in (*self.words, *self.shipped) or not reading.exists(asset(name)):
            return False
        if find_misnamed(self.path.parent, name):  # it is there, but still in the cloud
            return False
        if not reading.exists(own):
            return True
        known = asset(instead)
        return reading.exists(known) and same_text(known, own)

    def _is_untranslated(self, path: Path) -> bool:
        """Whether a text is one that is still to be translated."""
        try:
            content = reading.content(path, LARGEST)
        except OSError:
            return False
        if path.suffix == ".yaml":
            return all(line.startswith(b"#") for line in content.splitlines() if line.strip())
        return content.startswith(UNTRANSLATED.encode())

    def instruments(self, more: Collection[str]) -> None:
        """Every questionnaire of the study. more: those that are named where it could not be
        read."""
        asked = {name for item in items_of(self.study.flow) for name in item.instruments()}
        for instrument in sorted(asked | set(more)):
            name = f"instruments/{instrument}.yaml"
            if (content := self._read(name, instrument)) is None:
                continue
            self.files[name] = content
            fell_back: list[str] = []
            try:
                self.parsed[instrument] = Instrument.parse(
                    self.places[name],
                    content,
                    self.study.language,
                    self.study.fallback_language,
                    fell_back,
                )
                if (called := self.parsed[instrument].id) != instrument:
                    path = self.places[name]
                    self.errors.append(
                        StudyError.at(
                            path,
                            parse_yaml(path, content).line(("id",)),
                            "id",
                            f"found {called!r}, but the file is called {instrument!r}",
                            f"Write `id: {instrument}`, or rename the file to {called}.yaml and "
                            "use that name in the study.",
                        )
                    )
                if fell_back:
                    self.fallbacks[name] = name
            except StudyError as error:
                if name not in self.from_package:
                    self.errors.append(error)
                    continue
                # Of one that is shipped, a copy of the study's own is to be translated.
                self._fault(
                    self.located.line_of_text(instrument),
                    f"the questionnaire {instrument!r} has no words in {self.study.language!r}",
                    f"`{_scaffold(self.path)}` writes a copy next to the study for you to "
                    "translate.",
                )

    def pictures(self) -> None:
        """Every picture that texts and questionnaires show, once each."""
        for name, content in list(self.files.items()):
            if name.endswith(".md"):
                text = decode_text(content)
                for picture in texts.picture_names(text):
                    line = texts.line_of(text, f"({picture}")
                    if not (media.is_file(picture) or media.is_sound(picture)):
                        continue
                    self._picture(picture, self.places[name], line, f"![]({picture})")
        for name, instrument in self.parsed.items():
            file = f"instruments/{name}.yaml"
            for place, shown in media.media_of(instrument):
                located = parse_yaml(self.places[file], self.files[file])
                at = located.line(place), format_path(place)
                self._picture(shown.file, self.places[file], *at)

    def _picture(self, name: str, shown_in: Path, line: int | None, key: str) -> None:
        """A picture, sound or video of the study. shown_in: the file that shows it, in a line and
        under a key."""
        if name in self.files:
            return
        noun, named = media.noun_of(name)

        def fault(what: str, todo: str) -> None:
            self.errors.append(StudyError.at(shown_in, line, key, what, todo))

        if Path(name).is_absolute() or PureWindowsPath(name).drive or ".." in Path(name).parts:
            todo = "Put it into the study's folder, and name it relative to the study file."
            fault(f"the {noun} {name!r} is outside the study's folder", todo)
        elif "\\" in name:
            fault(f"{name!r} is a path with a backslash", "Write / instead, even on Windows.")
        else:
            path = self.places[name] = self._place(name, name)
            folder = path.parents[len(Path(name).parts) - 1]
            if not self.recorded and (near := find_misnamed(folder, name)):
                fault(f"the {noun} {name!r} does not exist", _suggest_renaming(*near)[1])
                return
            try:
                content = reading.content(path, media.LARGEST)
            except FileNotFoundError:
                fault(f"the {noun} {name!r} does not exist", f"Put {named} at {path}.")
                return
            except OSError as error:
                todo = f"Put {named} of at most 20 MB at {path}."
                fault(f"the {noun} {name!r} cannot be read ({error.strerror})", todo)
                return
            if (wrong := media.find_fault(name, content, shown=not self.recorded)) is not None:
                fault(*wrong)
                return
            self.files[name] = content
            if self.packaged:
                self.from_package.add(name)

    def _read(self, name: str, written: str) -> bytes | None:
        """A file of the study, or a shipped one where it says so; None if it cannot be read."""
        line = self._line(written)

        def fault(what: str, todo: str) -> None:
            self._fault(line, what, todo)

        if STEERING.search(name):
            return None  # told where the document was read
        if Path(name).is_absolute() or PureWindowsPath(name).drive or ".." in Path(name).parts:
            fault(
                f"{name!r} points outside the study's folder",
                "Give texts and instruments relative to the study file, without '..'.",
            )
            return None
        if re.search(r"[\\\n\r\t]", name):
            fault(f"{written!r} is a path with a backslash", "Write / instead, even on Windows.")
            return None
        if texts.near_names(name):
            fault(
                f"a brace is missing in {written!r}, or the text between the braces is not a name",
                "Correct it.",
            )
            return None
        path = self.places[name] = self._place(name, written)
        if self.packaged or path != self.path.parent / name or written in self.shipped:
            self.from_package.add(name)
        elif not self.recorded and (near := find_misnamed(self.path.parent, name)):
            fault(f"the file {name!r} does not exist", _suggest_renaming(*near)[1])
            return None
        try:
            content = reading.content(path, LARGEST)
            decode_text(content)
        except UnicodeDecodeError:
            fault(f"the file {name!r} is not UTF-8 text", f"Save {path} as UTF-8.")
            return None
        except FileNotFoundError:
            fault(f"the file {name!r} does not exist", self._missing(name, written))
            return None
        except OSError as error:
            fault(
                f"the file {name!r} cannot be read ({error.strerror})",
                f"Put a readable file at {path}.",
            )
            return None
        return content

    def _line(self, written: str) -> int | None:
        """The line that names a text or a questionnaire; of what a study gets without naming it,
        the line of the item that shows it."""
        if (line := self.located.line_of_text(written)) is not None:
            return line
        item = next(self._showing(written), None)
        return None if item is None else self.located.line(item[0])

    def _showing(self, written: str) -> Iterator[tuple[Path_, Item]]:
        """The items that show a text, with where they stand."""
        for place, item in walk_items(self.study.flow):
            if written in item.texts():
                yield (*place, item.key), item

    def _missing(self, name: str, written: str) -> str:
        """What to do about a file that is not there."""
        if self.recorded:
            return f"Put the original back at {self.path.parent / name}."
        if self.packaged or written in self.shipped:
            return _nearest(self.path, name, shipped=not self.packaged)
        fallback = self.study.fallback_language
        if name.startswith("texts/") and fallback not in (None, self.study.language):
            return (
                f"`{_scaffold(self.path)}` writes it for you to translate; until then, "
                f"participants read it in {fallback!r}."
            )
        shipped = name_shipped_file(written if name.startswith("texts/") else name)
        if not shipped or not reading.exists(asset(name)):
            return _nearest(self.path, name)
        put_back = f"Put it back (UTF-8), at {self.path.parent / name}."
        line = self.located.line_of_text(written)
        place, item = next(self._showing(written), ((), None))
        if item is not None and (empty := unfilled_in(item, reading.content(asset(name), LARGEST))):
            names = ", ".join(f"{{{each}}}" for each in sorted(empty))
            return (
                f"Write it, at {self.path.parent / name}; or write another text, and name it "
                f"under `{key_of_text(item, written)}` of `{item.key}` in line "
                f"{self.located.line(place)}. In these stages nothing is filled in for {names}, so "
                "the text that comes with labapp cannot be used."
            )
        if line is not None or item is None:
            instead = f"write `{shipped}` in place of `{written}` in line {line}"
        else:
            line = self.located.line(place)
            key = key_of_text(item, written)
            instead = f"add `{key}: {shipped}` to `{item.key}` in line {line}"
            instead += (
                ", or the line `unnamed_texts: shipped` for all texts that are not given anywhere"
            )
        return f"{put_back} To use the one that comes with labapp instead, {instead}."

    def check_shipped_names(self, as_written: Located) -> None:
        """What is named as shipped and is no text and no questionnaire, or is named as the study's
        own, too, or has a file of its name in the study's folder."""
        texts = {name for item in items_of(self.study.flow) for name in item.texts()}
        texts |= {self.study.incentive.text} if self.study.incentive is not None else set()
        asked = {name for item in items_of(self.study.flow) for name in item.instruments()}

        own = {}
        for place, text in as_written.within(("flow",)):
            if text in self.shipped and plain_name(key_at(place), "-").endswith(".md") == (
                text in texts
            ):
                own[text] = as_written.line(place)
        for name, line in self.shipped.items():
            if name not in texts | asked:
                what = f"`{SHIPPED}` is neither a text nor a questionnaire here"
                self._fault(
                    line, what, f"Only texts and questionnaires can begin with `{SHIPPED}`."
                )
            elif name in own:
                self._fault(
                    line,
                    f"this line uses {name!r} as shipped, but line {own[name]} uses the study's "
                    "own",
                    f"Rename the study's own file, or write `{SHIPPED}…` in both lines.",
                )
            if self.recorded or self.packaged:
                continue
            file = f"instruments/{name}.yaml" if name in asked else name
            file = in_language(file, self.study.language)
            if file in self.files and reading.exists(self.path.parent / file):
                written = name if name in texts else Path(file).stem
                todo = f"Write `{written}` in line {line} to use that file, or delete the file."
                if self.located.line_of_text(name) is None:
                    todo = "Delete the line to use that file, or delete the file."
                what = f"it uses a shipped file, so {file} in the study's folder is not used"
                self._fault(line, what, todo)


def key_of_text(item: Item, written: str) -> str:
    """The key under which an item of the flow, or its stages, names a text."""
    owner = item.task_stages() or item
    fields = type(owner).model_fields
    return next((key for key in fields if getattr(owner, key) == written), "intro")


def unfilled_in(item: Item, content: bytes) -> frozenset[str]:
    """The names in a text that nothing is filled in for in the stages of an item."""
    stages = item.task_stages()
    return frozenset() if stages is None else stages.unfilled & {*texts.names(decode_text(content))}


def same_text(text: Path, other: Path) -> bool:
    """Whether two texts differ in nothing but how their lines end."""
    first, second = (reading.content(path, LARGEST).splitlines() for path in (text, other))
    return first == second


def _suggest_renaming(present: Path, wanted: Path) -> tuple[str, str]:
    """What is wrong with a file that has nearly the right name, and what to do."""
    if in_cloud(present):
        todo = f"It is still in the cloud ({present.name}): download it, then check again."
        return "it is not on this computer", todo
    what = "its name differs slightly from the one given"
    return what, f"Rename {present} to {wanted.name}."


def _nearest(study_path: Path, name: str, *, shipped: bool = False) -> str:
    """What to do about a missing file; names files that may have been meant."""
    roots = asset_roots() if shipped else (study_path.parent, *asset_roots())
    beside = {
        str(Path(name).with_name(file.name))
        for root in roots
        for file in (root / name).parent.glob(f"*{Path(name).suffix}")
    }
    if shipped:
        names = {name_shipped_file(other) for other in beside} - {""}
        near = difflib.get_close_matches(name_shipped_file(name), sorted(names), 1, 0.8)
        hint = f"Did you mean `{near[0]}`? " if near else ""
        return f"{hint}There are: {', '.join(sorted(names)) or 'none'}."
    near = difflib.get_close_matches(name, sorted(beside - {name}), 1, 0.8)
    hint = f"Did you mean {near[0]!r}? If not, put" if near else "Put"
    ids = ", ".join(QUESTIONNAIRES)
    known = f" Installed questionnaires: {ids}." if name.startswith("instruments/") else ""
    if package_root(study_path) is not None:
        # Nothing is put into the program's own folder.
        return (
            f"Make a study of your own first: `labapp studies new NAME --from {study_path.stem}`."
            f"{known}"
        )
    return f"{hint} it (UTF-8) into the study's folder, at {study_path.parent / name}.{known}"


def _scaffold(study_path: Path) -> str:
    """The command that writes what a language lacks."""
    return f"labapp studies texts {study_path} --missing --write"
