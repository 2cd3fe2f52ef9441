"""The words of the participant's window, in the study's language: checked before a session begins.

The English file that comes with labapp, or with the package of a task, says which words there are
and which values each may name. A translation that lacks one, or names a value that does not exist,
is refused before a session begins and not when its screen comes up; where the study declares a
`fallback_language`, its words stand in for what is lacking. Only a session that was begun with an
older labapp may lack words: its copy of the study cannot be changed any more, so they are taken
from the shipped file of its language.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from labapp.base.documents import Located, parse_yaml
from labapp.base.errors import LabappError, StudyError
from labapp.base.reading import files
from labapp.study.flow import items_of_tasks
from labapp.study.instruments.items import USUAL
from labapp.study.loading import WORDS, LoadedStudy, asset, in_language, source, word_files
from labapp.study.plugins import registry
from labapp.study.schema import Study


def words_of(loaded: LoadedStudy, *, begun: bool = False) -> dict[str, str]:
    """The checked words of a study, by key. Raises StudyError with every mistake in them.

    begun: the study is the copy of a session that goes on; what screens have said since is filled
    in, and what none says any more is left out.
    """
    if errors := list(mistakes(loaded, begun=begun)):
        raise StudyError.together(errors)
    words: dict[str, str] = {}
    for template in word_files(loaded.study):
        needed = shown(loaded.study, template)
        english = shipped_words(template, USUAL)
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
        english = shipped_words(template, "en")
        todo = "Add them; the English file shows what each says."
        if begun:
            todo = "Resume the session with the version of labapp that it was begun with."
        needed = shown(loaded.study, template)
        yield from _wrong(words, english, needed, source(loaded, name), located, todo)


def shown(study: Study, template: str) -> list[str]:
    """The words of a file that the screens of a study can show, by key; template: its name with
    `{language}`. All of a file that a task brings; of that of all screens not those of tasks that
    the study does not have."""
    keys = shipped_words(template, USUAL)
    if template != WORDS:
        return list(keys)
    of_tasks = tuple(pattern for task in registry.task_types() for pattern in task.own_words)
    items = [
        (registry.task_type_of_item(item), item.task_stages() or item)
        for item in items_of_tasks(study.flow)
    ]
    return [
        key
        for key in keys
        if not _among(key, of_tasks)
        or any(_among(key, task.own_words) and task.shows_word(item, key) for task, item in items)
    ]


@cache
def _among(key: str, patterns: tuple[str, ...]) -> bool:
    """Asked for each word whenever a window opens, and always the same."""
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def shipped_words(template: str, language: str) -> dict[str, str]:
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
        shipped |= shipped_words(template, language)
    if not begun:
        return words
    # The screens of today show the study's own words where it has them and they still fit.
    english = shipped_words(template, "en")
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
        needed = shown(loaded.study, template)
        if name in loaded.files and (keys := tuple(key for key in needed if key not in own)):
            lacking[name] = keys
    return lacking


def _in(loaded: LoadedStudy, name: str) -> dict[str, str]:
    """The words of a file of the study; none where it is not there."""
    content = loaded.files.get(name)
    return {} if content is None else _words(source(loaded, name), content)


def _words(path: Path, content: bytes) -> dict[str, str]:
    located = parse_yaml(path, content)
    value = located.value
    wrong = [
        StudyError.at(
            path,
            located.line((key,)),
            str(key),
            f"holds {words!r} where words are needed",
            "Put the words in quotes.",
        )
        for key, words in value.items()
        if not isinstance(words, str) or not words.strip()
    ]
    if wrong:
        raise StudyError.together(wrong)
    words_by_key: dict[str, str] = value
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
                f"names the value {{{min(strange)}}}; allowed: {allowed}",
                "Use the values of the English file.",
            )


def fields_of(text: str) -> set[str]:
    """Names of the values in a text. Raises ValueError for braces that do not fit."""
    return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
