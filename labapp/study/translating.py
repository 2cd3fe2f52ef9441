"""What a language lacks of a study: its texts, the words of its screens, its questionnaires; and
files to begin a translation with."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from labapp.base import durable
from labapp.base.documents import LARGEST, parse_yaml
from labapp.base.errors import StudyError, UsageError
from labapp.base.reading import files as reading
from labapp.study.examining import UNTRANSLATED, examine
from labapp.study.instruments.items import USUAL
from labapp.study.loading import (
    LoadedStudy,
    in_language,
    package_root,
    shipped_name,
    source,
    word_files,
)
from labapp.study.loading import shipped as shipped_studies
from labapp.study.schema import Recording, Study
from labapp.study.words import shipped_words, shown


@dataclass(frozen=True)
class Lacking:
    """A file that a language lacks, or of which it lacks a part.

    Attributes
    ----------
    name : of the file, relative to the study.
    path : where it is to be written: beside the study.
    what : what is lacking, in words.
    content : to begin with; empty where the file is there.
    """

    name: str
    path: Path
    what: str
    content: str


def lacking(study: str | Path, language: str | None = None) -> tuple[LoadedStudy, list[Lacking]]:
    """What a study's language, or another one, lacks.

    Raises StudyError for a study that has other mistakes.
    """
    own = examine(study)
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
            rows += _words(loaded, name, words[name], path)
            continue
        what = "the text"
        if name.startswith("instruments/"):
            what = f"words in {loaded.study.language}, beside those in other languages"
        if name in loaded.shipped and package_root(loaded.path) is None:
            named = f"`{shipped_name(name)}`"
            what += f"; it does not come with labapp: name the file in place of {named}"
        text = loaded.files[name].decode("utf-8-sig")
        content = to_be_translated(name, text, loaded.study.language)
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
    shipped = _shipped_for_moderators()
    shipped_texts = {
        "recording.prompts": [text for text in study.recording.prompts if text in shipped],
        "flags": [text for text in study.flags.values() if text in shipped],
    }
    if what := "; ".join(
        f"{key}: {', '.join(texts)}" for key, texts in shipped_texts.items() if texts
    ):
        name = loaded.path.name
        yield Lacking(name, loaded.path, f"words in {study.language} for the moderator: {what}", "")


@cache
def _shipped_for_moderators() -> frozenset[str]:
    """The prompts and flags of the shipped studies, and those of a study that names none."""
    texts = {*Recording().prompts, *Study.model_fields["flags"].default.values()}
    for path in shipped_studies():
        value = parse_yaml(path, reading.content(path, LARGEST)).value
        texts.update(value.get("recording", {}).get("prompts", ()))
        texts.update(value.get("flags", {}).values())
    return frozenset(texts)


def _words(loaded: LoadedStudy, name: str, template: str, path: Path) -> list[Lacking]:
    """What a file of words lacks."""
    english = shipped_words(template, USUAL)
    there: dict[str, str] = {}
    if name not in loaded.fallbacks:
        there = parse_yaml(source(loaded, name), loaded.files[name]).value
    missing = [key for key in shown(loaded.study, template) if key not in there]
    if not missing:
        return []
    about = (
        f"The words of the participant's screens in {loaded.study.language}. Take away the # of a "
        "line once it is translated; values in braces stay as they are. Those that are lacking are "
        f"shown in English where the study says `fallback_language: {USUAL}`."
    )
    lines = textwrap.wrap(about, 92, initial_indent="# ", subsequent_indent="# ")
    lines += [f"# {key}: {_quoted(english[key])}" for key in missing]
    what = f"{len(missing)} words: {', '.join(missing)}"
    return [Lacking(name, path, what, "\n".join(lines) + "\n")]


def write(loaded: LoadedStudy, rows: list[Lacking]) -> list[Path]:
    """Write what is lacking beside the study, to be translated; what is there already stays as it
    is. Raises UsageError for a study that comes with the program."""
    if package_root(loaded.path) is not None:
        raise UsageError(
            f"{loaded.path.stem} comes with the program, and nothing is written there.",
            todo=f"Make a study of your own: `labapp studies new NAME --from {loaded.path.stem}`.",
        )
    written = []
    for row in rows:
        if not reading.exists(row.path):
            row.path.parent.mkdir(parents=True, exist_ok=True)
            durable.write(row.path, row.content.encode())
            written.append(row.path)
    return written


def _quoted(text: str) -> str:
    """A text as YAML, on one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
