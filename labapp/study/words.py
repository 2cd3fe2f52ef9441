"""The words of the participant's window, in the study's language: checked before a session begins.

The English file that comes with labapp, or with the package of a task, says which words there are
and which values each may name. A translation that lacks one, or names a value that does not exist,
is refused before a session begins and not when its screen comes up; where the study declares a
`fallback_language`, its words stand in for what is lacking. Only a session that was begun with an
older labapp may lack words: its copy of the study cannot be changed any more, so they are taken
from the shipped file of its language.

What a language lacks of a study: its texts, the words of its screens, its questionnaires; and files
to begin a translation with.

What in the texts of a study would be read as it stands: names in braces that nothing fills in,
pictures that are not there, and HTML, which no screen reads.

The texts are Markdown files; the words of questionnaires, of stimulus sets and of the study file
itself are shown without any marks.
"""

from __future__ import annotations

import json
import re
import string
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

from labapp.base import durable
from labapp.base.documents import LARGEST, Located, Path_, format_path, parse_yaml
from labapp.base.errors import LabappError, StudyError, UsageError
from labapp.base.reading import files
from labapp.base.reading import files as reading
from labapp.models.stimuli import library
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import ClassWords, ConceptWords
from labapp.models.stimuli.sources import read as read_set
from labapp.study import loading, media
from labapp.study.examining import UNTRANSLATED, examine, key_of_text
from labapp.study.flow import items_of, items_of_tasks, walk_items
from labapp.study.instruments.items import PIPED, USUAL
from labapp.study.instruments.kinds import ITEM_KINDS, kind_of
from labapp.study.loading import (
    WORDS,
    LoadedStudy,
    asset,
    in_language,
    name_shipped_file,
    package_root,
    source,
    word_files,
)
from labapp.study.loading import list_shipped as shipped_studies
from labapp.study.measures import has_unread
from labapp.study.plan import Plan
from labapp.study.plugins import registry, texts
from labapp.study.plugins.item import Item
from labapp.study.plugins.part import PlannedPart
from labapp.study.schema import Recording, Study


def words_of(loaded: LoadedStudy, *, begun: bool = False) -> dict[str, str]:
    """The checked words of a study, by key. Raises StudyError with every mistake in them.

    begun: the study is the copy of a session that goes on; what screens have said since is filled
    in, and what none says any more is left out.
    """
    if errors := list(mistakes(loaded, begun=begun)):
        raise StudyError.together(errors)
    words: dict[str, str] = {}
    for template in word_files(loaded.study):
        needed = list_shown_words(loaded, template)
        english = read_shipped_words(template, USUAL)
        # Should a screen after all show a word that was not asked for, it has one.
        words |= {key: text for key, text in english.items() if key not in needed}
        words |= _every_word(template, loaded, begun=begun)
    return words


def mistakes(loaded: LoadedStudy, *, begun: bool = False) -> Iterator[LabappError]:
    """What is wrong with the words of a study, by file and line."""
    for template in word_files(loaded.study):
        name = in_language(template, loaded.study.language)
        if not loaded.files.get(name):
            continue  # told where it is read
        try:
            located = parse_yaml(source(loaded, name), loaded.files[name])
            words = _every_word(template, loaded, begun=begun)
        except StudyError as error:
            yield error
            continue
        english = read_shipped_words(template, "en")
        todo = "Add them. The English file contains all of them."
        if begun:
            todo = "Resume the session with the version of labapp with which it was begun."
        needed = list_shown_words(loaded, template)
        yield from _wrong(words, english, needed, source(loaded, name), located, todo)


def list_shown_words(loaded: LoadedStudy, template: str) -> list[str]:
    """The words of a file that the screens of a study can show, by key; template: its name with
    `{language}`. All of a file that a task brings; of that of all screens not those of tasks, and
    of kinds of questions, that the study does not have."""
    study = loaded.study
    keys = read_shipped_words(template, USUAL)
    if template != WORDS:
        return list(keys)
    of_tasks = tuple(pattern for task in registry.task_types() for pattern in task.own_words)
    items = [
        (registry.task_type_of_item(item), item.task_stages() or item)
        for item in items_of_tasks(study.flow)
    ]
    of_tasks_shown = [
        key
        for key in keys
        if not _among(key, of_tasks)
        or any(_among(key, task.own_words) and task.shows_word(item, key) for task, item in items)
    ]
    if has_unread(loaded):
        return of_tasks_shown
    asked = [item for sheet in loaded.instruments.values() for item in sheet.items]
    kinds = {kind_of(item) for item in asked}
    of_questions = [(kind.words, name in kinds) for name, kind in ITEM_KINDS.items() if kind.words]
    of_questions.append((("item_check_*",), any(item.comprehension for item in asked)))
    sounds = any(item.sounds for item in asked) or _has_sounds_in_texts(loaded)
    of_questions.append((("sound_*",), sounds))
    return [
        key
        for key in of_tasks_shown
        if not any(_among(key, patterns) for patterns, _ in of_questions)
        or any(shown and _among(key, patterns) for patterns, shown in of_questions)
    ]


def _has_sounds_in_texts(loaded: LoadedStudy) -> bool:
    """Whether a text of the study plays a sound."""
    documents = (name for name in loaded.files if name.endswith(".md"))
    named = (sound for name in documents for sound in texts.picture_names(loaded.text(name)))
    return any(map(media.is_sound, named))


@cache
def _among(key: str, patterns: tuple[str, ...]) -> bool:
    """Asked for each word whenever a window opens, and always the same."""
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def read_shipped_words(template: str, language: str) -> Mapping[str, str]:
    """The words that come with the program or a package; none in a language of the lab's own."""
    path = asset(in_language(template, language))
    return _words(path, files.content(path)) if path.is_file() else {}


def _every_word(template: str, loaded: LoadedStudy, *, begun: bool) -> dict[str, str]:
    """The words of one file, with those of the fallback. template: its name with `{language}`."""
    study = loaded.study
    words: dict[str, str] = {}
    shipped: dict[str, str] = {}
    for language in filter(None, (study.fallback_language, study.language)):
        words |= _in(loaded, in_language(template, language))
        shipped |= read_shipped_words(template, language)
    if not begun:
        return words
    # The screens of today show the study's own words where it has them and they still fit.
    english = read_shipped_words(template, "en")
    fit = {
        key: text
        for key, text in words.items()
        if key in english and fields_of(text) <= fields_of(english[key])
    }
    return shipped | fit


def in_fallback(loaded: LoadedStudy) -> dict[str, tuple[str, ...]]:
    """By file of words in the study's language the words that it lacks, and that participants read
    in the fallback language instead."""
    lacking = {}
    for template in word_files(loaded.study):
        name = in_language(template, loaded.study.language)
        own = _in(loaded, name)
        needed = list_shown_words(loaded, template)
        if name in loaded.files and (keys := tuple(key for key in needed if key not in own)):
            lacking[name] = keys
    return lacking


def _in(loaded: LoadedStudy, name: str) -> Mapping[str, str]:
    """The words of a file of the study; none if it is not there."""
    content = loaded.files.get(name)
    return {} if content is None else _words(source(loaded, name), content)


@lru_cache(32)
def _words(path: Path, content: bytes) -> Mapping[str, str]:
    """Checking a study asks several times for the same file."""
    located = parse_yaml(path, content)
    value = located.value
    wrong = [
        StudyError.at(
            path,
            located.line((key,)),
            str(key),
            f"contains {words!r} where words are needed",
            "Put the words in quotes.",
        )
        for key, words in value.items()
        if not isinstance(words, str) or not words.strip()
    ]
    if wrong:
        raise StudyError.together(wrong)
    words_by_key: Mapping[str, str] = MappingProxyType(value)
    return words_by_key


def _wrong(
    words: Mapping[str, str],
    english: Mapping[str, str],
    needed: Sequence[str],
    path: Path,
    located: Located,
    todo: str,
) -> Iterator[StudyError]:
    """What words lack, have too much, or name wrongly."""
    if missing := [key for key in needed if key not in words]:
        yield StudyError.at(path, 0, "", f"lacks the words for {', '.join(missing)}", todo)
    for key, text in words.items():
        if key not in english:
            yield StudyError.at(
                path,
                located.line((key,)),
                key,
                "has words that no screen uses",
                "Check its spelling against the English file.",
            )
            continue
        try:
            strange = fields_of(text) - fields_of(english[key])
        except ValueError as error:
            yield StudyError.at(
                path, located.line((key,)), key, str(error), "Write a brace as {{ or }}."
            )
            continue
        if strange:
            allowed = ", ".join(sorted(fields_of(english[key]))) or "none"
            yield StudyError.at(
                path,
                located.line((key,)),
                key,
                f"uses the value {{{min(strange)}}}; allowed: {allowed}",
                "Use the values of the English file.",
            )


def fields_of(text: str) -> set[str]:
    """Names of the values in a text. Raises ValueError for braces that do not fit."""
    return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}


@dataclass(frozen=True)
class Lacking:
    """A file that a language lacks, or of which it lacks a part.

    Attributes
    ----------
    name : of the file, relative to the study.
    path : where it is to be written: beside the study.
    what : what is lacking, in words.
    content : to begin with; empty if the file is there.
    """

    name: str
    path: Path
    what: str
    content: str


def lacking(study: str | Path, language: str | None = None) -> tuple[LoadedStudy, list[Lacking]]:
    """What a study's languages, or another one, lack.

    Raises StudyError for a study that has other mistakes.
    """
    own = examine(study)
    several = own.loaded.study.languages if own.loaded is not None and language is None else ()
    if several:
        readings = [lacking(study, each) for each in several]
        every = {(row.name, row.what): row for _, rows in readings for row in rows}
        return readings[0][0], list(every.values())
    usual = (own.loaded and own.loaded.study.fallback_language) or USUAL
    examined = examine(study, language, usual)
    loaded = examined.loaded
    if loaded is None or examined.errors:
        raise StudyError.together(examined.errors)
    rows: list[Lacking] = []
    words = {
        in_language(template, loaded.study.language): template
        for template in word_files(loaded.study)
    }
    for name in sorted({*loaded.fallbacks, *words}):
        path = loaded.path.parent / name
        if name in words:
            rows += _of_screens(loaded, name, words[name], path)
            continue
        what = "the text"
        if name.startswith("instruments/"):
            what = f"words in {loaded.study.language}, in addition to those in other languages"
        if name in loaded.shipped and package_root(loaded.path) is None:
            named = f"`{name_shipped_file(name)}`"
            what += f"; it does not come with labapp: name the file in place of {named}"
        text = loaded.files[name].decode("utf-8-sig")
        content = to_be_translated(name, text, loaded.study.language)
        if (ready := asset(name)) == loaded.places.get(name) != path:
            what, content = f"{what}, which comes with labapp", text
        elif name not in loaded.shipped and reading.exists(ready):
            what += f"; the one that comes with labapp may not say the same as yours: {ready}"
        rows.append(Lacking(name, path, what, content))
    return loaded, rows + list(_of_moderator(loaded))


def to_be_translated(name: str, text: str, language: str) -> str:
    """What to begin the translation of a text or a questionnaire with."""
    if name.startswith("instruments/"):
        return f"# Add {language}: … to the words in each pair of braces.\n{text}"
    return f"{UNTRANSLATED}\n{text}"


def _of_moderator(loaded: LoadedStudy) -> Iterator[Lacking]:
    """What the study file itself says in English to the moderator: prompts and flags as in the
    shipped studies, in a study of another language."""
    study = loaded.study
    if study.language.partition("-")[0] == USUAL:
        return
    shipped = _read_shipped_prompts()
    shipped_texts = {
        "recording.prompts": [text for text in study.recording.prompts if text in shipped],
        "flags": [text for text in study.flags.values() if text in shipped],
    }
    if study.own_language.partition("-")[0] == USUAL:
        del shipped_texts["flags"]  # they are the same in every language
    if what := "; ".join(
        f"{key}: {', '.join(texts)}" for key, texts in shipped_texts.items() if texts
    ):
        name = loaded.path.name
        yield Lacking(name, loaded.path, f"words in {study.language} for the moderator: {what}", "")


@cache
def _read_shipped_prompts() -> frozenset[str]:
    """The prompts and flags of the shipped studies, and those of a study that names none."""
    texts = {*Recording().prompts, *Study.model_fields["flags"].default.values()}
    for path in shipped_studies():
        value = parse_yaml(path, reading.content(path, LARGEST)).value
        texts.update(value.get("recording", {}).get("prompts", ()))
        texts.update(value.get("flags", {}).values())
    return frozenset(texts)


def _of_screens(loaded: LoadedStudy, name: str, template: str, path: Path) -> list[Lacking]:
    """What a file of words lacks."""
    english = read_shipped_words(template, USUAL)
    there: dict[str, str] = {}
    if name not in loaded.fallbacks:
        there = parse_yaml(source(loaded, name), loaded.files[name]).value
    missing = [key for key in list_shown_words(loaded, template) if key not in there]
    if not missing:
        return []
    about = (
        f"The words of the participant's screens in {loaded.study.language}. Remove the # of a "
        "line once it is translated, and keep values in braces unchanged. Missing words are "
        f"shown in English if the study has `fallback_language: {USUAL}`."
    )
    lines = textwrap.wrap(about, 92, initial_indent="# ", subsequent_indent="# ")
    lines += [f"# {key}: {_quote_yaml(english[key])}" for key in missing]
    what = f"{len(missing)} words: {', '.join(missing)}"
    return [Lacking(name, path, what, "\n".join(lines) + "\n")]


def write(loaded: LoadedStudy, rows: list[Lacking]) -> list[Path]:
    """Write what is lacking beside the study, to be translated; what is there already stays as it
    is. Raises UsageError for a study that comes with the program."""
    if package_root(loaded.path) is not None:
        raise UsageError(
            f"{loaded.path.stem} comes with labapp, so nothing can be written there.",
            todo=f"Make a study of your own: `labapp studies new NAME --from {loaded.path.stem}`.",
        )
    written = []
    for row in rows:
        if not reading.exists(row.path):
            row.path.parent.mkdir(parents=True, exist_ok=True)
            durable.write(row.path, row.content.encode())
            written.append(row.path)
    return written


def _quote_yaml(text: str) -> str:
    """A text as YAML, on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


AS_IT_STANDS = "participants see it unchanged"
NO_MARKS = "Leave it out, because these words are shown as plain text."


def text_faults(
    loaded: LoadedStudy, located: Located, plans: Sequence[Plan]
) -> Iterator[StudyError]:
    """All of a study and of the files that it names, by file and line; stimulus sets aside."""
    parts = [part for plan in plans for part in plan.parts]
    for part in parts:
        for document in part.documents():
            if document in loaded.files:
                yield from _document(loaded, document, part)
    todo = "Write Markdown (**bold**, *italic*, a blank line between paragraphs), or leave it out."
    for name in sorted(loaded.files):
        if name.endswith(".md"):
            text, file = loaded.text(name), loading.source(loaded, name)
            for tag in texts.tags(text):
                yield _html(file, texts.line_of(text, tag), tag, todo)
    for instrument in sorted(loaded.instruments):
        asked = [part for part in parts if getattr(part, "instrument", None) == instrument]
        yield from _instrument(loaded, f"instruments/{instrument}.yaml", asked)
    yield from _study(loaded, located)
    yield from _screens(loaded)


def _document(loaded: LoadedStudy, document: str, part: PlannedPart) -> Iterator[StudyError]:
    """Names and pictures of a text that a part shows."""
    names = {*part.filled(), *registry.task_type_of(part).fills_in}
    if loaded.origin:  # what could not be read may fill in what a task can
        names |= {name for task_type in registry.task_types() for name in task_type.placeholders}
    text, file = loaded.text(document), loading.source(loaded, document)
    for name, what, todo in _find_unfilled(text, names, f"in the part {part.id!r}"):
        if document in loaded.shipped:
            todo = _name_own_text(loaded, document) or todo
        yield StudyError.at(file, texts.line_of(text, name), name, what, todo)
    for picture in texts.picture_names(text):
        of_study = media.is_file(picture) or media.is_sound(picture)
        if picture not in part.text_pictures and not of_study:
            known = ", ".join(sorted(part.text_pictures)) or "none"
            yield StudyError.at(
                file,
                texts.line_of(text, f"({picture}"),
                f"![]({picture})",
                f"there is no such picture in the part {part.id!r}; there are: {known}",
                "Leave it out, or name a picture, sound or video in the study's folder.",
            )


def _name_own_text(loaded: LoadedStudy, document: str) -> str:
    """Which key of a study is to name another text than a shipped one; empty if none does."""
    for place, item in walk_items(loaded.study.flow):
        for written in item.texts():
            if in_language(written, loaded.study.language) == document:
                place = loaded.origin.get(place, place)
                key, line = key_of_text(item, written), loaded.located.line((*place, item.key))
                return (
                    f"Name a text of your own under `{key}` of `{item.key}` in line {line}, such "
                    f"as `texts/{{language}}/{key}.md`."
                )
    return ""


def _find_unfilled(text: str, names: Collection[str], where: str) -> Iterator[tuple[str, str, str]]:
    """What is in braces and is not filled in, each with what is wrong and what to do. where:
    for whom the names are."""
    known = f" Known there: {', '.join(sorted(names))}." if names else ""
    for name in texts.names(text):
        if name not in names and re.fullmatch(r"[^\W\d]\w*", name):
            what = f"nothing is filled in for it {where}: {AS_IT_STANDS}"
            yield f"{{{name}}}", what, f"Correct it, or leave it out.{known}"
    for written in texts.near_names(text):
        todo = f"Write only a name between the braces, or leave it out.{known}"
        lacking = "the matching brace is missing" if written[0] + written[-1] != "{}" else ""
        yield written, f"{lacking or 'it names nothing'}: {AS_IT_STANDS}", todo


def _html(file: Path, line: int, tag: str, todo: str) -> StudyError:
    return StudyError.at(file, line, tag, f"HTML is shown as text: {AS_IT_STANDS}", todo)


def _without_marks(
    file: Path, line: int, place: Path_, text: str, names: Collection[str]
) -> Iterator[StudyError]:
    """Braces and HTML in words that are shown as they stand."""
    for written, what, todo in _find_unfilled(text, names, "here"):
        yield StudyError.at(file, line, f"{format_path(place)}: {written}", what, todo)
    for tag in texts.tags(text, markdown=False):
        yield _html(file, line, f"{format_path(place)}: {tag}", NO_MARKS)


def _instrument(
    loaded: LoadedStudy, name: str, asked: Sequence[PlannedPart]
) -> Iterator[StudyError]:
    """The words of a questionnaire, in all languages. asked: the parts that show it."""
    file = loading.source(loaded, name)
    located = parse_yaml(file, loaded.files[name])
    for place, text in located.within(()):
        if place[0] == "source":
            continue  # it is not shown
        line = located.line(place)
        filled: list[tuple[Collection[str], str]] = [((), "here")]
        if place[0] == "instruction":
            filled = [(getattr(part, "values", ()), f"in the part {part.id!r}") for part in asked]
        elif place[0] == "items" and len(place) > 2 and place[2] in ("name", "text"):
            # See `Instrument.item`.
            repeats = located.value["items"][place[1]].get("repeat")
            filled = [(("stage",) if repeats else (), "here")]
        for names, where in filled:
            for written, what, todo in _find_unfilled(text, names, where):
                yield StudyError.at(file, line, f"{format_path(place)}: {written}", what, todo)
        in_item = place[0] == "items" and len(place) > 2 and place[2] in ("name", "text")
        for match in () if in_item else PIPED.finditer(text):
            what = f"an answer is filled in only in the name and text of an item: {AS_IT_STANDS}"
            key = f"{format_path(place)}: {match.group()}"
            yield StudyError.at(file, line, key, what, "Leave it out here.")
        for tag in texts.tags(text, markdown=False):
            yield _html(file, line, f"{format_path(place)}: {tag}", NO_MARKS)


def _study(loaded: LoadedStudy, located: Located) -> Iterator[StudyError]:
    """The words in the study file itself, in which nothing is filled in."""
    templates = {name for item in items_of(loaded.study.flow) for name in _templates(item)}
    known: set[str] = set()
    if loaded.origin:  # names of files in what could not be read
        known = {"language", *loaded.study.factor_levels}
        known |= {name for kind in registry.item_classes() for name in kind.fills_in}
    for key in ("title", "flags", "flow"):
        if not isinstance(located.value, dict) or key not in located.value:
            continue
        for place, text in located.within((key,)):
            if text in templates or "only_if" in place:
                continue
            yield from _without_marks(loaded.path, located.line(place), place, text, known)


def _screens(loaded: LoadedStudy) -> Iterator[StudyError]:
    """The words of the screens: marks that the English words do not have."""
    for template in loading.word_files(loaded.study):
        name = loading.in_language(template, loaded.study.language)
        if not loaded.files.get(name):
            continue
        file, english = loading.source(loaded, name), read_shipped_words(template, USUAL)
        try:
            located = parse_yaml(file, loaded.files[name])
        except StudyError:
            continue  # told by `words.mistakes`
        for place, text in located.within(()):
            marks = texts.tags(english.get(str(place[0]), ""), markdown=False)
            for tag in texts.tags(text, markdown=False):
                if tag not in marks:
                    yield _html(file, located.line(place), f"{format_path(place)}: {tag}", NO_MARKS)


def _templates(item: Item) -> Iterator[str]:
    """What an item names that may hold variables."""
    yield from item.texts()
    yield from item.stimulus_sets()
    yield from item.filled_in().values()
    if (stages := item.task_stages()) is not None:
        yield from (*stages.names(), *stages.texts(), *stages.stimulus_sets())


def set_faults(stimulus_set: StimulusSet) -> Iterator[StudyError]:
    """The words of a stimulus set that participants read, in which nothing is filled in."""
    manifest, source = stimulus_set.manifest, read_set(stimulus_set.folder)
    file = stimulus_set.folder / source.name
    content = files.content(file, library.LARGEST).decode("utf-8-sig")
    shown: list[tuple[Path_, str]] = [
        (("title",), manifest.title),
        (("method", "name"), manifest.method.name),
    ]
    for index, class_ in enumerate(manifest.classes):
        shown.append((("classes", index, "name"), class_.name))
        shown.append((("classes", index, "marks"), class_.marks))
        shown += _walk_translations(("classes", index), class_.translations)
    for index, concept in enumerate(manifest.concepts):
        for key in ("name", "off", "on"):
            shown.append((("concepts", index, key), getattr(concept, key)))
        shown += _walk_translations(("concepts", index), concept.translations)
    for place, text in shown:
        line = texts.line_of(content, json.dumps(text, ensure_ascii=False))
        yield from _without_marks(file, line, place, text, ())


def _walk_translations(
    place: Path_, translations: Mapping[str, ClassWords | ConceptWords]
) -> Iterator[tuple[Path_, str]]:
    """Each word in another language, and where it stands."""
    for language, translated in translations.items():
        for key, text in translated.model_dump(exclude_none=True).items():
            yield (*place, "translations", language, key), text
