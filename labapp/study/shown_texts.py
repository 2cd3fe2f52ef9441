"""What in the texts of a study would be read as it stands: names in braces that nothing fills in,
pictures that are not there, and HTML, which no screen reads.

The texts are Markdown files; the words of questionnaires, of stimulus sets and of the study file
itself are shown without any marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from labapp.base.documents import Located, Path_, dotted, parse_yaml
from labapp.base.errors import StudyError
from labapp.base.reading import files
from labapp.models.stimuli import library
from labapp.models.stimuli.library import StimulusSet
from labapp.models.stimuli.manifest import ClassWords, ConceptWords
from labapp.models.stimuli.sources import read as read_set
from labapp.study import loading, words
from labapp.study.flow import items_of
from labapp.study.instruments.items import USUAL
from labapp.study.loading import LoadedStudy
from labapp.study.plan import Plan
from labapp.study.plugins import registry, texts
from labapp.study.plugins.item import Item
from labapp.study.plugins.part import PlannedPart

AS_IT_STANDS = "participants read it as it stands"
NO_MARKS = "Leave it out: these words are shown without any marks."


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
    for name, what, todo in _unfilled(text, names, f"in the part {part.id!r}"):
        yield StudyError.at(file, texts.line_of(text, name), name, what, todo)
    for picture in texts.picture_names(text):
        if picture not in part.text_pictures:
            known = ", ".join(sorted(part.text_pictures)) or "none"
            yield StudyError.at(
                file,
                texts.line_of(text, f"({picture}"),
                f"![]({picture})",
                f"there is no such picture in the part {part.id!r}; there are: {known}",
                "Leave it out: a text shows the pictures of its task, and no files.",
            )


def _unfilled(text: str, names: Collection[str], where: str) -> Iterator[tuple[str, str, str]]:
    """What stands in braces and is not filled in, each with what is wrong and what to do. where:
    for whom the names are."""
    known = f" Known there: {', '.join(sorted(names))}." if names else ""
    for name in texts.names(text):
        if name not in names and re.fullmatch(r"[^\W\d]\w*", name):
            what = f"nothing is filled in for it {where}: {AS_IT_STANDS}"
            yield f"{{{name}}}", what, f"Correct it, or leave it out.{known}"
    for written in texts.near_names(text):
        todo = f"Write a name alone between the braces, or leave it out.{known}"
        lacking = "its other brace is missing" if written[0] + written[-1] != "{}" else ""
        yield written, f"{lacking or 'it names nothing'}: {AS_IT_STANDS}", todo


def _html(file: Path, line: int, tag: str, todo: str) -> StudyError:
    return StudyError.at(file, line, tag, f"HTML is shown as text: {AS_IT_STANDS}", todo)


def _without_marks(
    file: Path, line: int, place: Path_, text: str, names: Collection[str]
) -> Iterator[StudyError]:
    """Braces and HTML in words that are shown as they stand."""
    for written, what, todo in _unfilled(text, names, "here"):
        yield StudyError.at(file, line, f"{dotted(place)}: {written}", what, todo)
    for tag in texts.tags(text, markdown=False):
        yield _html(file, line, f"{dotted(place)}: {tag}", NO_MARKS)


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
            for written, what, todo in _unfilled(text, names, where):
                yield StudyError.at(file, line, f"{dotted(place)}: {written}", what, todo)
        for tag in texts.tags(text, markdown=False):
            yield _html(file, line, f"{dotted(place)}: {tag}", NO_MARKS)


def _study(loaded: LoadedStudy, located: Located) -> Iterator[StudyError]:
    """The words that stand in the study file itself, in which nothing is filled in."""
    templates = {name for item in items_of(loaded.study.flow) for name in _templates(item)}
    known: set[str] = set()
    if loaded.origin:  # names of files in what could not be read
        known = {"language", *loaded.study.factor_levels}
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
        file, english = loading.source(loaded, name), words.shipped_words(template, USUAL)
        try:
            located = parse_yaml(file, loaded.files[name])
        except StudyError:
            continue  # told by `words.mistakes`
        for place, text in located.within(()):
            marks = texts.tags(english.get(str(place[0]), ""), markdown=False)
            for tag in texts.tags(text, markdown=False):
                if tag not in marks:
                    yield _html(file, located.line(place), f"{dotted(place)}: {tag}", NO_MARKS)


def _templates(item: Item) -> Iterator[str]:
    """What an item names that may hold variables."""
    yield from item.texts()
    yield from item.stimulus_sets()
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
        shown += _translated(("classes", index), class_.translations)
    for index, concept in enumerate(manifest.concepts):
        for key in ("name", "off", "on"):
            shown.append((("concepts", index, key), getattr(concept, key)))
        shown += _translated(("concepts", index), concept.translations)
    for place, text in shown:
        line = texts.line_of(content, json.dumps(text, ensure_ascii=False))
        yield from _without_marks(file, line, place, text, ())


def _translated(
    place: Path_, translations: Mapping[str, ClassWords | ConceptWords]
) -> Iterator[tuple[Path_, str]]:
    """Each word in another language, and where it stands."""
    for language, translated in translations.items():
        for key, text in translated.model_dump(exclude_none=True).items():
            yield (*place, "translations", language, key), text
